"""The progress bar: it counts, tells a note, ends full, and its saved text has no time in it."""

from widgets.lessons import progress


def test_it_hands_on_every_item_and_ends_full(capsys):
    bar = progress(range(5), "five")
    seen = []
    for k in bar:
        assert bar.done == k
        bar.note = f"loss {k}"
        seen.append(k)
    assert seen == [0, 1, 2, 3, 4] and bar.done == len(bar) == 5
    said = bar.view.scene["say"]
    assert "five: 5 of 5" in said and "loss 4" in said and not bar.view.scene["busy"]
    assert capsys.readouterr().out == "five: 5 in all\n" and "image/svg+xml" not in bar.view._repr_mimebundle_()


def test_generators_and_nothing(capsys):
    assert list(progress(c for c in "abc")) == ["a", "b", "c"] and list(progress([])) == []
