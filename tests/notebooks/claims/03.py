"""What the sentences of chapter 03 state and no cell of it shows. Runs after its last cell, in the same kernel."""
def _claims():
    from math import cos, tanh

    assert round(cos(1.284), 3) == 0.283
    x, slope = 0.5, 1.0
    for _ in range(50):
        x = tanh(x)
        slope *= 1 - x**2
    assert min((0.9, 0.5, 0.03), key=lambda guess: abs(guess - slope)) == 0.03

    product = Value(1.0)
    result = product
    for _ in range(10):
        result = result * 2
    result.backward()
    assert product.grad == 1024

_claims()
