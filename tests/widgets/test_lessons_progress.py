"""The progress bar: it counts, tells a note, ends full, and its saved text has no time in it."""

from widgets.lessons import progress


def test_it_hands_on_every_item_and_ends_full(capsys):
    bar = progress(range(5), "five")
    seen = []
    for k in bar:
        assert bar.done == k
        bar.note = f"loss {k}"
        seen.append(k)
    assert seen == [0, 1, 2, 3, 4] and bar.bar.value == bar.bar.max == len(bar) == 5
    assert "five: 5 of 5" in bar.words.value and "loss 4" in bar.words.value
    assert bar.lesson.text() == "five: 5 in all"


def test_generators_and_nothing(capsys):
    assert list(progress(c for c in "abc")) == ["a", "b", "c"] and list(progress([])) == []
