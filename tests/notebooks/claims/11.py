"""What the sentences of chapter 11 state and no cell of it shows. Runs after its last cell, in the same kernel."""
def _claims():
    low, high = (descend(loss_of, start, lr, 200)[-1] for lr in (0.045, 0.050))
    assert low < 1e-20 and len(str(int(high))) == 16                       # sixteen digits

    limit = largest_lr(loss_of, start.clone().requires_grad_(), hvp)       # what 11.c demands of other losses
    assert descend(loss_of, start, 0.95 * limit, 200)[-1] < 1e-10 and descend(loss_of, start, 1.05 * limit, 200)[-1] > 1e10

    sizes = [abs(e - want) for e, want in zip(torch.linalg.eigvalsh(H).tolist(), (2, 7), strict=True)]
    assert max(sizes) < 1e-12                                              # of the matrix in the picture

    losses, sharpness = runs[2.0]                                          # the network at twice the border
    assert round(sharpness[0]) == 26 and round(min(sharpness)) == 9 and min(sharpness) == sharpness[1]
    limit = 1 / border                                                     # 2/lr for lr = 2 border
    crossed = next(k for k in range(2, 36) if sharpness[k] > limit)
    jump = next(k for k in range(100, 900) if losses[k] > 5 * losses[k - 50])
    assert sharpness[1:crossed] == sorted(sharpness[1:crossed]) and 25 * crossed < jump
    assert sharpness[jump // 25 + 1] < limit and losses[-1] < min(runs[1.0][0])
    assert all(later <= before for factor in (0.5, 1.0) for before, later in zip(runs[factor][0], runs[factor][0][1:], strict=False))

    for activation in (torch.nn.Tanh, torch.nn.ReLU):                      # the penalty trains both critics
        penalties = train_critic(activation)
        assert penalties[0] > 0.5 and penalties[-1] < 0.05

    assert "the gradient takes 15 steps of the engine, H v 36" in hvp_cost(n=200).text()

    for begin in (-3.0, 0.0, 1.0, 7.0):                                    # one step of the steep task, from anywhere
        at = torch.tensor(begin, dtype=torch.float64, requires_grad=True)
        (g,) = torch.autograd.grad((at - 2)**2 * (1 + 2**2), at)
        assert abs((at - 0.1 * g).item() - 2) < 1e-12

    assert 2 / 8 == 0.25                                                   # recall 3

_claims()
