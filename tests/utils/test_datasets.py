"""The small data sets: shapes, balance, seeds, and that they can be learnt (and not too easily)."""
import numpy as np
import pytest

import minigrad as torch
from minigrad import datasets, nn, optim

PLANE = [datasets.moons, datasets.circles, datasets.spirals]


@pytest.mark.parametrize("make", PLANE)
def test_points(make):
    for n in (1, 7, 150):
        points, labels = make(n)
        assert points.shape == (n, 2) and points.dtype == torch.float32 and labels.shape == (n,) and labels.dtype == torch.int64
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
    assert np.allclose((x**2 + y**2)[inside], 1, atol=1e-6) and np.allclose(((x - 1) ** 2 + (y - 0.5) ** 2)[~inside], 1, atol=1e-6)


def test_numbers_are_the_same_everywhere():
    """numpy keeps the streams of default_rng for these draws; if that changes, stored outputs of notebooks change, too."""
    points, labels = datasets.moons(4)
    numbers = [1.01257, -0.01321, -0.05357, 0.53616, -0.93596, 0.01049, 2.1304, 0.59471]
    assert points.array.ravel() == pytest.approx(numbers, abs=1e-5) and labels.tolist() == [0, 1, 0, 1]
    images, labels = datasets.digits(3)
    assert images.array.sum((1, 2, 3)).tolist() == [275, 315, 358] and labels.tolist() == [8, 6, 5]


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


def test_digits():
    images, labels = datasets.digits(600)
    assert images.shape == (600, 1, 8, 8) and images.dtype == torch.float32 and labels.dtype == torch.int64
    assert images.array.min() == 0 and images.array.max() == 16 and np.array_equal(images.array, images.array.round())
    assert np.bincount(labels.array, minlength=10).min() > 30
    assert torch.equal(images, datasets.digits(600)[0])
    flat = np.c_[images.array.reshape(600, -1), np.ones(600)]
    weights = np.linalg.lstsq(flat[:400], np.eye(10)[labels.array[:400]], rcond=None)[0]
    right = ((flat[400:] @ weights).argmax(1) == labels.array[400:]).mean()
    assert 0.85 < right < 0.995  # a linear model does well, not perfectly


def test_shifted_digits_are_the_same_ones_moved_and_a_linear_model_fails_on_them():
    still, labels = datasets.digits(600)
    moved, same = datasets.digits(600, shift=1)
    assert torch.equal(labels, same) and moved.shape == still.shape and moved.dtype == still.dtype
    places = set()
    for a, b in zip(still.array[:, 0], moved.array[:, 0], strict=True):
        wide = np.pad(a, 1)
        fits = {(y, x) for y in range(3) for x in range(3) if np.array_equal(wide[y : y + 8, x : x + 8], b)}
        assert fits, "moved by at most one pixel"
        places |= fits
    assert len(places) == 9
    flat = np.c_[moved.array.reshape(600, -1), np.ones(600)]
    weights = np.linalg.lstsq(flat[:400], np.eye(10)[labels.array[:400]], rcond=None)[0]
    assert ((flat[400:] @ weights).argmax(1) == labels.array[400:]).mean() < 0.75
    assert not torch.equal(moved, datasets.digits(600, shift=2)[0])
    with pytest.raises(ValueError, match="shift must be a whole number of pixels from 0 to 7, not -1"):
        datasets.digits(3, shift=-1)


def test_sonnets():
    text = datasets.sonnets()
    sonnets = text.strip().split("\n\n")
    assert len(sonnets) == 37 and all(len(s.split("\n")) == 14 for s in sonnets)
    assert 20_000 < len(text) < 30_000 and len(set(text)) == 59 and text.isascii()
    assert "Shall I compare thee to a summer's day?" in text
