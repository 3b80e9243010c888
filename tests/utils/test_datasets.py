"""The small data sets: shapes, balance, seeds, and that they can be learnt (and not too easily)."""

import difflib
import hashlib
import itertools
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import minigrad as torch
from minigrad import datasets, nn, optim

ROOT = Path(__file__).parents[2]
PLANE = [datasets.moons, datasets.circles, datasets.spirals]


@pytest.mark.parametrize("make", PLANE)
def test_points(make):
    for n in (1, 7, 150):
        points, labels = make(n)
        assert (
            points.shape == (n, 2)
            and points.dtype == torch.float32
            and labels.shape == (n,)
            and labels.dtype == torch.int64
        )
    counts = np.bincount(labels.array)
    assert counts.max() - counts.min() <= 1
    again, other = make(150), make(150, seed=1)
    assert torch.equal(points, again[0]) and torch.equal(labels, again[1]) and not torch.equal(points, other[0])
    assert np.abs(labels.array[:-1] - labels.array[1:]).any() and len(set(labels.tolist()[:20])) > 1  # shuffled
    with pytest.raises(ValueError, match="must be a positive whole number, not 0"):
        make(0)


def test_without_noise_the_points_lie_on_their_curves():
    points, labels = datasets.circles(40, noise=0, factor=0.3)
    radius = np.sqrt((points.array**2).sum(1))
    assert np.allclose(radius, np.where(labels.array == 0, 1, 0.3), atol=1e-6)
    points, labels = datasets.moons(40, noise=0)
    x, y = points.array.T
    inside = labels.array == 0
    assert np.allclose((x**2 + y**2)[inside], 1, atol=1e-6) and np.allclose(
        ((x - 1) ** 2 + (y - 0.5) ** 2)[~inside], 1, atol=1e-6
    )


def test_numbers_are_the_same_everywhere():
    """numpy keeps the streams of default_rng for these draws; if that changes, stored outputs of notebooks change, too."""
    points, labels = datasets.moons(4)
    numbers = [1.01257, -0.01321, -0.05357, 0.53616, -0.93596, 0.01049, 2.1304, 0.59471]
    assert points.array.ravel() == pytest.approx(numbers, abs=1e-5) and labels.tolist() == [0, 1, 0, 1]
    assert datasets.digits(8)[1].tolist() == [6, 6, 6, 2, 5, 6, 6, 2]


def test_a_small_network_learns_the_moons():
    torch.manual_seed(0)
    points, labels = datasets.moons(200)
    model = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))
    optimizer = optim.Adam(model.parameters(), lr=0.05)
    for _ in range(100):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(points), labels).backward()
        optimizer.step()
    assert (model(points).array.argmax(1) == labels.array).mean() > 0.97


SCIKIT_LEARNS = "68aea062d35a127749050fa0e52dca09d6569ac08092c925610e0954e172dde2"  # 1,797 rows of 65 bytes
# Where data/digits.txt says that they begin
FORMS = [
    0,
    130,
    256,
    386,
    516,
    646,
    776,
    915,
    1029,
    1157,
    1287,
    1415,
    1545,
    1667,
]


def test_digits_are_those_of_the_source():
    images, labels = datasets.digits(seed=None)
    assert images.shape == (1797, 1, 8, 8) and images.dtype == torch.float32 and labels.dtype == torch.int64
    # Counts that UCI prints
    assert np.bincount(labels.array).tolist() == [
        178,
        182,
        177,
        183,
        181,
        182,
        181,
        179,
        174,
        180,
    ]
    numbers = np.c_[images.array.reshape(1797, 64), labels.array].astype(np.uint8)
    assert hashlib.sha256(numbers.tobytes()).hexdigest() == SCIKIT_LEARNS
    first = [0, 0, 5, 13, 9, 1, 0, 0, 0, 0, 13, 15, 10, 15, 5, 0]
    assert images[0].flatten()[:16].tolist() == first and labels[:12].tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1]


def test_each_form_asks_for_the_same_digits():
    _, labels = datasets.digits(seed=None)
    asked = labels.tolist()[:130]
    for start, end in itertools.pairwise([*FORMS, 1797]):
        same = difflib.SequenceMatcher(None, asked, labels.tolist()[start:end], autojunk=False).ratio()
        assert same > 0.93, (start, same)
    assert 1797 - FORMS[10] == 510  # "the last 510 digits are four forms"


def test_n_and_seed_choose_among_the_digits():
    images, labels = datasets.digits(600)
    again, other = datasets.digits(600), datasets.digits(600, seed=1)
    assert torch.equal(images, again[0]) and torch.equal(labels, again[1]) and not torch.equal(images, other[0])
    everything, their_labels = datasets.digits(seed=None)
    known = {(image.tobytes(), label) for image, label in zip(everything.array, their_labels.tolist(), strict=True)}
    drawn = {(image.tobytes(), label) for image, label in zip(images.array, labels.tolist(), strict=True)}
    assert len(known) == 1797 and len(drawn) == 600 and drawn < known  # no image twice, and each with its own label
    assert np.bincount(labels.array, minlength=10).min() > 40
    with pytest.raises(ValueError, match="there are 1797 digits, so n cannot be 1798"):
        datasets.digits(1798)


def of_500(images, labels):
    """How many of 500 digits a linear model (least squares on 1,297 others) reads."""
    flat = np.c_[images.array.reshape(1797, -1), np.ones(1797)]
    weights = np.linalg.lstsq(flat[:1297], np.eye(10)[labels.array[:1297]], rcond=None)[0]
    return ((flat[1297:] @ weights).argmax(1) == labels.array[1297:]).sum()


@pytest.mark.parametrize("seed", [0, None])
def test_shifted_digits_are_the_same_ones_moved_and_a_linear_model_fails_on_them(seed):
    still, labels = datasets.digits(seed=seed)
    moved, same = datasets.digits(seed=seed, shift=1)
    assert torch.equal(labels, same) and moved.shape == (1797, 1, 10, 10) and moved.dtype == still.dtype
    corners = []
    for a, b in zip(still.array[:, 0], moved.array[:, 0], strict=True):
        fits = [(y, x) for y in range(3) for x in range(3) if np.array_equal(np.pad(a, ((y, 2 - y), (x, 2 - x))), b)]
        assert fits, "moved by at most one pixel, and no ink is lost"
        corners.append(fits[0])
    assert min(Counter(corners).values()) > 100 and len(set(corners)) == 9  # each of the nine places
    assert torch.equal(moved, datasets.digits(seed=seed, shift=1)[0]) and datasets.digits(3, shift=2)[0].shape == (
        3,
        1,
        12,
        12,
    )
    assert of_500(still, labels) > 430 and of_500(moved, labels) < 375
    with pytest.raises(ValueError, match="shift must be a whole number of pixels from 0 to 7, not -1"):
        datasets.digits(3, shift=-1)


def test_the_digits_name_their_source_and_licence():
    source = "https://doi.org/10.24432/C50P49"
    for text in (
        datasets.digits.__doc__,
        (ROOT / "minigrad/data/digits.txt").read_text(),
        (ROOT / "LICENSE").read_text(),
    ):
        assert source in text and "CC BY 4.0" in text and "Alpaydin" in text


def test_sonnets():
    text = datasets.sonnets()
    sonnets = text.strip().split("\n\n")
    lines = [len(s.split("\n")) for s in sonnets]
    assert len(sonnets) == 154 and sorted(set(lines)) == [12, 14, 15] and lines.count(14) == 152, (
        "99 has 15 lines, 126 has 12"
    )
    assert 90_000 < len(text) < 100_000 and len(set(text)) == 61 and text.isascii()
    assert "public domain" in (ROOT / "minigrad/data/sonnets-source.txt").read_text()
    assert "Shall I compare thee to a summer's day?" in text
