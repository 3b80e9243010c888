"""What the sentences of chapter 12 state and no cell of it shows. Runs after its last cell, in the same kernel."""
def _claims():
    with forward_ad.dual_level():                                # recall 1
        a, b = (forward_ad.make_dual(torch.tensor(v), torch.tensor(d)) for v, d in ((2.0, 3.0), (5.0, 1.0)))
        assert tuple(t.item() for t in forward_ad.unpack_dual(a * b)) == (10, 17)
    assert min(4, 500) == 4 and 1_000 * 1_000 == 1_000_000       # recall 2 and 5

    vocabulary, context, width, layers = 50_257, 1_024, 768, 12  # GPT-2, the small one
    assert vocabulary * width + context * width + layers * (12 * width**2 + 13 * width) + 2 * width == 124_439_808

    every = tuple(range(5))                                      # both modes, in matrix products
    passes = (lambda: torch.func.jvp(network, weights, weights), lambda: torch.func.grad(network, argnums=every)(*weights))
    assert {products(run) / products(lambda: network(*weights)) for run in passes} == {14 / 5} == {2.8}

    def raised(b):
        return curve(torch.tensor([1.0, b, -2.0], dtype=torch.float64))

    moved, column = raised(0.5 + 1e-6) - raised(0.5), by_rows[:, 1]          # what the pictures say of b
    assert torch.allclose(moved / 1e-6, column, atol=1e-4) and column[0] > 0 > column[-1]
    assert (raised(0.8) - raised(0.5))[0] > 0 > (raised(0.8) - raised(0.5))[-1]
    assert by_rows[-1].abs().argmax() == 2 or by_rows[:, 2].argmax() == 999  # c moves the right end most

_claims()
