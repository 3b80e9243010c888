"""The progress bar: it counts, tells a note, ends full, and its saved text has no time in it."""

import re

from widgets.lessons import progress
from widgets.lessons.progress import POINTS


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


def test_curves_are_drawn_as_they_grow_and_reach_as_far_as_the_bar(capsys):
    bar = progress(range(10), "curves")
    bar.curves = {"training": (training := []), "validation": (validation := [])}
    for k in bar:
        training.append(4.0 / (k + 1))
        if k % 5 == 4:
            validation += [1.0 + k, float("nan")]
    one, two = re.findall(r'points="([^"]+)"', bar.draw())
    xs, ys = zip(*(map(float, point.split(",")) for point in one.split()), strict=True)
    assert len(xs) == 10 and xs[-1] == 800 and list(ys) == sorted(ys)  # it falls: y grows downwards
    assert len(two.split()) == 2 and "validation from 5 to 10" in bar.draw()  # a nan has no place
    assert "polyline" in bar.view.scene["svg"] and capsys.readouterr().out == "curves: 10 in all\n"
    training *= 500
    assert len(re.findall(r'points="([^"]+)"', bar.draw())[0].split()) < 2 * POINTS
