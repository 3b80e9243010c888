"""What the sentences of chapter 07 state and no cell of it shows. Runs after its last cell, in the same kernel."""
def _claims():
    x = Value(-1.0)
    backward(x**2)
    assert x.grad == -2.0                       # below zero, a pass takes out

    # the equal pushes of momentum 0.9 add up to ten
    assert abs(sum(0.9**k for k in range(400)) - 10) < 1e-9

    # repaired, the loop of "find the bug" halves the distance to 2 in every step
    w, path = Value(0.0), []
    for _ in range(3):
        w.grad = 0.0
        backward((w - 2)**2)
        w.data -= 0.25 * w.grad
        path.append(2 - w.data)
    assert path == [1.0, 0.5, 0.25]

    # the curves: what their text alternative says
    at = sum(x * y for x, y in pairs) / sum(x * x for x, _ in pairs)
    best = sum((at * x - y)**2 for x, y in pairs)
    fast, slow = ({mu: losses(lr, mu) for mu in (0.0, 0.9, 1.0)} for lr in (0.01, 0.001))
    assert fast[0.0][20] < best + 0.001 and fast[0.9][20] > best + 0.1 and fast[0.9][60] < best + 0.001
    assert max(fast[1.0][40:]) > 20 and max(slow[1.0][40:]) > 20 and slow[0.0][60] > 2 and max(slow[0.9][30:]) < slow[0.0][30]

    # nothing lies between an input and its only operation, so nothing is left over there
    y = Value(1.0)
    z = y * 1.0
    backward(z)
    y.grad = 0.0
    backward(z)
    assert y.grad == 1.0

_claims()
