"""What the sentences of chapter 12 state and no cell of it shows. Runs after its last cell, in the same kernel."""
def _claims():
    from minigrad.autograd import forward_ad, functional

    with forward_ad.dual_level():                                # recall 1
        a, b = (forward_ad.make_dual(torch.tensor(v), torch.tensor(d)) for v, d in ((2.0, 3.0), (5.0, 1.0)))
        assert tuple(t.item() for t in forward_ad.unpack_dual(a * b)) == (10, 17)

    assert min(1, 117_000_000) == 1 and 117_000_000 == 117 * 10**6           # GPT-2: passes back, parameters
    assert min(4, 500) == 4                                      # recall 2

    x, y = torch.arange(1.0, 5.0), torch.arange(5.0, 9.0)        # the older name of jvp
    moves = torch.full_like(x, 0.1), torch.full_like(y, 0.2)
    assert abs(functional.jvp(lambda x, y: x.dot(y).sin(), (x, y), moves)[1].item() - 2.9133) < 1e-4

_claims()
