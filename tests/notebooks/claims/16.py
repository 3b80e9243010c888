"""What the sentences of chapter 16 state and no cell of it shows. Runs after its last cell, in the same kernel."""
def _claims():
    def half(number):
        return torch.tensor(number, dtype=torch.float64).to(torch.float16).item()

    assert half(2.9e-8) == 0 < half(3.1e-8)                      # "below about 3·10⁻⁸ a number becomes 0"
    assert min(range(1, 101), key=lambda k: 100 / k + k) == 10   # "least for k = √n"

    assert play([0, 3], layers=6) == {"kept": 2, "peak": 4, "run again": 4}
    assert play(range(0, 100, 5)) == {"kept": 20, "peak": 24, "run again": 80}
    assert play([0, 25, 49, 72, *range(79, 100)]) == {"kept": 25, "peak": 25, "run again": 75}
    stretches = [0, 14, 27, 39, 50, 60, 69, 77, 84, 90, 95, 99]  # 14, 13, 12 layers and so on
    assert play(stretches)["peak"] == 14 and [b - a for a, b in zip(stretches, stretches[1:], strict=False)][:3] == [14, 13, 12]
    assert sum(range(1, 14)) < 100 <= sum(range(1, 15))          # with room for p, the stretches are at most p, p - 1, ... long

    parameters, activations = 175e9 * 2 / 1e9, 200               # GB; 15 GB, 33 % and 2,048 tokens are quoted, not ours
    assert parameters == 350 > activations and activations / 5 == 40
    assert round(100 * 1 / (1 + 2)) == 33                        # a forward pass, of one that costs 1 and a backward pass of 2

    assert halving(1024) == (11, 5120) and 5120 / 1024 == 5      # "eleven stored inputs ... five more times"
    for k in range(1, 11):
        assert halving(2**k) == (k + 1, 2**k * k // 2)           # "log₂ n + 1 stored inputs and ½ n log₂ n runs"

    runs = 0

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

    from widgets.lessons.will_it_fit import Transformer, gigabytes

    model = Transformer(24, 1_920, 24, 50_257, 1_024)            # the one of 16.c3, 8 texts at a time
    assert round(model.parameters() / 1e9, 2) == 1.16
    parts = gigabytes(model, 8, True, False, False)
    assert round(sum(parts.values()), 1) == 41.2 and round(sum(parts.values()) - parts["activations"], 1) == 18.6
    assert 4 + 4 + 8 == 2 + 2 + 4 + 8 == 16
    long = model._replace(length=4_096)
    assert long.heads * long.length**2 > 0.5 * long.block(1)     # attention's weights are the largest part there

_claims()
