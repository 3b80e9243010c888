"""What the sentences of chapter 16 state and no cell of it shows. Runs after its last cell, in the same kernel."""
def _claims():
    def half(number):
        return torch.tensor(number, dtype=torch.float64).to(torch.float16).item()

    assert half(2.9e-8) == 0 < half(3.1e-8)                      # "below about 3·10⁻⁸ a number becomes 0"
    assert min(range(1, 101), key=lambda k: 100 / k + k) == 10   # "least for k = √n"

    runs = 0                                                     # (200 GB, 15 GB and 2,048 tokens are quoted, not ours)

    def segment(x):
        nonlocal runs
        for _ in range(8):
            runs += 1
            x = x.sin()
        return x

    h = torch.ones(1, requires_grad=True)
    for _ in range(8):
        h = checkpoint(segment, h, use_reentrant=False)
    h.sum().backward()
    assert runs == 128                                           # recall 2

_claims()
