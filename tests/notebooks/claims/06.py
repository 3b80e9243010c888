"""What the sentences of chapter 06 state and no cell of it shows. Runs after its last cell, in the same kernel."""
def _claims():
    # a slider's step from a quarter of a turn, the sine hardly changes
    assert all(abs(math.cos(x)) < 0.03 for x in (1.55, -1.55, 1.6))

    # four operations and one rule: the same gradient
    x = Value(0.5)
    backward(1 / (1 + (-x).exp()))
    composed, x.grad = x.grad, 0.0
    backward(x.sigmoid())
    assert math.isclose(composed, x.grad, rel_tol=1e-12)

    # the logistic regression of these twenty students, from Wikipedia: 1.5046 and -4.0777
    assert abs(w.data - 1.5046) < 0.06 and abs(b.data + 4.0777) < 0.15 and abs(probability(3.0) - 0.61) < 0.005

    # the sigmoid that never fails
    def stable(x):
        return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))
    assert stable(-800.0) == 0.0 and stable(800.0) == 1.0 and abs(stable(-2.0) - 1 / (1 + math.exp(2.0))) < 1e-15

    # y + 1 makes a new tensor, and everything is well
    x = torch.tensor([0.0, 1.0], requires_grad=True)
    y = x.sigmoid()
    y = y + 1
    y.sum().backward()
    assert abs(x.grad[0].item() - 0.25) < 1e-6

    # the same error, beside a large number and beside itself
    assert 0.001 / 1_000_000 < 1e-8 and 0.001 / 0.001 == 1.0

    # what relu's two sides and its middle are
    assert (max(1e-6, 0.0) - max(-1e-6, 0.0)) / 2e-6 == 0.5

_claims()
