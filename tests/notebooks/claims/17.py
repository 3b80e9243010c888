"""What the sentences of chapter 17 state and no cell of it shows. Runs after its last cell, in the same kernel."""
def _claims():
    # Measured, too long for here: with STEPS = 2,500 a training loss of 0.59 (0.6) and a validation loss of 3.86 (3.9); of 800 characters that this model
    # wrote, 42 % were in passages of at least 20 characters from the training text, and the longest of these had 62
    # characters, from sonnet 94.
    from widgets.four_runs import runs

    results = {}
    for name in ("linear", "a hidden layer"):
        for images in (still, moved):
            torch.manual_seed(0)
            model = makers[name]().double()
            training, _ = fit(model, images, 400, name)
            results[name, images is moved] = right(model, images), sum(training[-50:]) / 50
    assert all(488 <= results[name, False][0] for name in ("linear", "a hidden layer"))  # 98 percent, with and without
    assert results["linear", True][0] < 350 and results["linear", True][1] > 0.8         # underfits: its training loss stays high
    assert 450 < results["a hidden layer", True][0] < 485 and results["a hidden layer", True][1] < 0.1
    torch.manual_seed(0)
    convolutions = makers["convolutions"]().double()
    fit(convolutions, moved, 400, "convolutions")
    assert right(convolutions, moved) > results["a hidden layer", True][0]               # the best of the three
    assert sum(p.numel() for p in convolutions.parameters()) == 2514
    assert sum(p.numel() for p in makers["a hidden layer"]().parameters()) == 4810

    assert round(0.1 / 0.001**0.5, 2) == 3.16                    # the first step without the corrections
    w = torch.tensor(0.0, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.Adam([w], lr=0.01)
    (1000 * w).backward()
    optimizer.step()
    assert abs(abs(w.item()) - 0.01) < 1e-6                      # recall 2

    w = torch.zeros(2, requires_grad=True)
    w.grad = torch.tensor([6.0, 8.0])
    nn.utils.clip_grad_norm_([w], 5.0)
    assert torch.allclose(w.grad, torch.tensor([3.0, 4.0]))      # recall 3

    assert sum(p.numel() for p in poet.parameters()) > 10 * cut  # "ten times as many parameters as characters"
    assert len(text.strip().split("\n\n")) == 37
    assert "Who, moving others, are themselves as stone,\nUnmoved, cold" in known
    assert known.count("\n\n") == 33                             # its 33 sonnets, and the beginning of another
    turn = at[validation.index(lowest)]
    assert 300 <= turn <= 600 and 1.9 < lowest < 2.1 < bigram    # it turns, near 2.0, and is better than the bigram model there
    assert validation[-1] > lowest + 0.15 and training[-1] < 1.4 # and it goes on memorising

    A, B, C, D = (runs()[name] for name in "ABCD")               # what exercise 17.d calls their faults can be seen
    assert B.validation[-1] < 0.3 < 1 < B.new                    # a leak: validation far better than new digits
    assert C.train[-1] < 0.05 and C.validation[-1] > min(C.validation) + 0.5
    assert max(A.train[-50:]) > 2.5 > 1 > min(A.train[-50:])     # a saw, and no progress
    assert min(A.validation[-50:]) > 2 and min(D.validation[-50:]) > 2

_claims()
