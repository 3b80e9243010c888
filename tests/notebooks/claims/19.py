"""What the sentences of chapter 19 state and no cell of it shows. Runs after its last cell, in the same kernel."""
def _claims():
    import math

    lines = answer_19a                                           # "three of the four rules never use their input"
    assert sum("self" not in line for line in lines) == 3 and len(lines) == 4

    x = torch.tensor([0.5, 2.0, 4.0], dtype=torch.float64, requires_grad=True)
    for f, line in ((torch.sqrt, lambda r: 1 / (2 * r)), (torch.reciprocal, lambda r: -(r * r)), (torch.exp, lambda r: r),
                    (torch.rsqrt, lambda r: -0.5 * r.pow(3))):   # the lines are right where only the result is known
        out = f(x)
        (grad,) = torch.autograd.grad(out.sum(), x)
        assert torch.allclose(grad, line(out.detach()))

    def reach(scale, residual, depth=30):                        # section 3, for other weights too
        found = []
        for seed in range(5):
            torch.manual_seed(seed)
            start = torch.ones(16, requires_grad=True)
            h = start
            for _ in range(depth):
                z = torch.tanh(h @ (scale * torch.randn(16, 16)))
                h = h + z if residual else z
            h.sum().backward()
            found.append(start.grad.norm().item())
        return sorted(found)[2]

    assert 0.25 == 1 / math.sqrt(16)
    assert reach(0.15, False) < 1e-5 < 1e-3 < reach(0.25, False)
    assert min(reach(0.15, True), reach(0.25, True)) > 1

    for at in (-1000.0, 1000.0):                                 # "exp never gets a positive number"
        leaf = Value(at)
        out = teach(Value)(leaf)
        backward(out)
        assert out.data == max(at, 0.0) and leaf.grad == float(at > 0)

    for a in (-0.9, 0.9):                                        # the table: cos(a · x) is a contraction there
        x = 1.0
        for _ in range(100):
            x = math.cos(a * x)
        assert abs(x - math.cos(a * x)) < 1e-14

    try:
        math.exp(1000)
    except OverflowError:
        pass
    else:
        raise AssertionError("exp(1000) is too large for any float")

    def right_abs(x):                                            # the answer to "find the bug"
        root = sqrt(x * x + 1)
        return root, x / root

    assert "200 of 200" in op_card(right_abs).text()
    a, b = measured([0.0, 0.0, -1.0])[1][:2]                     # "the first two inputs are equal there"
    assert a == b

_claims()
