"""What the sentences of chapter 15 state and no cell of it shows. Runs after its last cell, in the same kernel."""
def _claims():
    x = torch.tensor([1.0, 2.0], requires_grad=True)             # recall 1
    y = x * 2
    y.add_(1)
    y.sum().backward()
    assert x.grad.tolist() == [2, 2]

    w = torch.tensor(1.0, requires_grad=True)                    # recall 3: weight decay moves what has a gradient of 0
    optimizer = torch.optim.SGD([w], lr=0.1, weight_decay=0.5)
    for gradient, moves in ((torch.tensor(0.0), True), (None, False)):
        before, w.grad = w.item(), gradient
        optimizer.step()
        assert (w.item() != before) is moves

    net = nn.Sequential(nn.Dropout(0.5), nn.BatchNorm1d(3))      # recall 4
    x = torch.randn(8, 3)
    with torch.no_grad():
        assert not torch.equal(net(x), net(x))
        net.eval()
        assert torch.equal(net(x), net(x))

    assert (torch.zeros(5, 1) - torch.zeros(5)).shape == (5, 5)  # recall 5
    x = torch.zeros(2, 3)                                        # recall 6
    try:
        x.t().view(6)
    except RuntimeError:
        assert x.t().reshape(6).shape == (6,)
    else:
        raise AssertionError("view works")

    import minigrad.course.exercises as book                     # the symptoms that the text states, from the programs as they stand
    sick = {id: book[id].load(book[id].stub) for id in ("15.b", "15.c", "15.d", "15.e", "15.f", "15.g", "15.h", "15.i", "15.j")}
    assert all(abs(loss - 0.25) < 0.005 for loss in sick["15.b"]()[10:])
    half = book["15.c"].load(book["15.c"].source_of(book["15.c"].bank[0]))
    assert half(4) < sick["15.c"](1) < sick["15.c"](4)           # worse, and after one repair better
    losses, moved = sick["15.d"]()
    assert moved > 0.05 and losses[-1] < losses[15]
    remembered, restored = sick["15.e"]()
    assert restored > remembered + 0.05
    one, other = (book["15.e"].load(book["15.e"].source_of(book["15.e"].bank[k]))() for k in (0, 1))
    assert one[0] != one[1] and other[0] != other[1]             # "each of them alone would be enough"
    assert sick["15.f"]()[1] == [0.0, 0.0]
    assert all(abs(loss - 0.6931) < 0.0002 for loss in sick["15.g"]())
    assert sick["15.h"]()[1] == 0.0
    short, long = sick["15.i"](steps=20), sick["15.i"](steps=80)
    assert long[0][-1] < short[0][-1] < short[0][0] and short[1] == long[1] == 0.0 and long[2] > 2 * short[2] > 1
    losses = sick["15.j"]()
    assert sum(book[f"15.{letter}{step}"].minutes for letter in "fghij" for step in ("", "2")) == 40
    assert losses[0] == losses[0] and all(loss != loss for loss in losses[1:])

_claims()
