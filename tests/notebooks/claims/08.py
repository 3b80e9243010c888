"""What the sentences of chapter 08 state and no cell of it shows. Runs after its last cell, in the same kernel."""
def _claims():
    def slope_of_sum(samples):
        inputs = torch.tensor([1.0, 2.0, 3.0, 2.0] * (samples // 4))
        w = torch.tensor(0.0, requires_grad=True)
        ((w * inputs - 2 * inputs)**2).backward(torch.ones(samples))
        return w.grad.item()

    assert slope_of_sum(20) == 5 * slope_of_sum(4)
    assert 26 / 16 == 1.625 and 10 / 16 == 0.625

_claims()
