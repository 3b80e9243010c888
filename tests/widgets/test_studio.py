"""What the studios measure."""

import numpy as np
import pytest

from minigrad import Value
from widgets.studio import Picture, Sums


class Column:
    """A result like those of a learner's own tensors: numbers in .data, a row for each sample."""

    def __init__(self, data):
        self.data = np.asarray(data)[:, None]


def test_the_error_is_that_of_the_hidden_points(capsys):
    scene = Picture()
    x, y = scene.seen
    places = {tuple(p) for p in x}
    known = np.array([tuple(p) in places for p in scene.all])
    assert known.sum() == 800 == np.isfinite(scene.known).sum()
    assert np.array_equal(scene.known.ravel()[known], scene._bright[known]) and 0 <= y.min() and y.max() <= 1

    scene.measure(lambda p: np.where(known, 0.5, scene._bright), [])
    assert "error on the hidden points: 0.000" in capsys.readouterr().out, (
        "what it says of the known ones does not count"
    )
    scene.measure(lambda p: Column(np.where(known, scene._bright, scene._bright + 0.25)), [Column(np.ones(1001))])
    said = capsys.readouterr().out
    assert "0.250" in said and "so far: 0.000, 0.250" in said and "1,001, 1 more than the studio allows" in said


def test_a_single_grey_is_as_good_as_it_says(capsys):
    scene = Picture()
    hidden = np.isnan(scene.known).ravel()
    scene.measure(lambda p: [scene._bright[hidden].mean()] * len(p), [np.zeros((3, 4)), Value(1.0)])
    said = capsys.readouterr().out
    error, grey = (float(line.split(":")[-1].strip(" )\n")[:5]) for line in said.splitlines()[0].split("("))
    assert error == grey > 0.1 and "numbers in the network: 13" in said


def test_sums_are_counted_by_place_and_by_what_is_carried(capsys):
    sums = Sums(500)
    a, b = sums.seen
    hidden = set(zip(*sums._hidden, strict=True))
    assert len({*zip(a, b, strict=True)}) == 500 and len(hidden) == 1000 and not hidden & {*zip(a, b, strict=True)}

    sums.measure(lambda a, b: a + b)
    assert "right: 1,000 of 1,000" in capsys.readouterr().out
    sums.measure(lambda a, b: (a // 10 + b // 10) * 10 + (a + b) % 10)  # what the ones carry is forgotten
    said = capsys.readouterr().out
    assert (
        "the ones are right in 100 %" in said and "nothing is carried, 100 %" in said and "carried twice, 0 %" in said
    )
    assert "so far: 1000, " in said


@pytest.mark.parametrize(
    "answer, said",
    [
        (lambda a, b: a[:5], "1000 numbers, one for each row that it is given, and it returned the shape (5,)"),
        (lambda a, b: None, "NoneType"),
        (lambda a, b: ["x"] * len(a), "it returned list"),
    ],
)
def test_another_number_of_results_is_named(answer, said):
    with pytest.raises(ValueError, match="add has to return") as caught:
        Sums().measure(answer)
    assert said in str(caught.value)
    with pytest.raises(ValueError, match="from 1 to 9000, not 9001"):
        Sums(9001)
