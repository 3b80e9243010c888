"""Datasets and loaders: what comes out, in PyTorch's order, and the errors."""

# ruff: noqa: E501  (a case is one line)
import collections

import numpy as np
import pytest

import minigrad as torch
from minigrad.utils import data

TEN = data.TensorDataset(torch.arange(10))

# What torch 2.13 gives for the same seeds.
SHUFFLED = [[[6, 2, 0, 1], [8, 3, 5, 4], [7, 9]], [[3, 4, 0, 9], [6, 7, 1, 2], [5, 8]]]
SHUFFLED_OWN_GENERATOR = [[[7, 4, 8], [1, 2, 3], [6, 5, 9]], [[2, 1, 6], [3, 5, 9], [4, 7, 8]]]
SPLIT = [[2, 6, 1, 8, 4, 5, 0], [9, 3, 7]]
SPLIT_FRACTIONS = [[2, 6, 1, 8, 4, 5], [0, 9], [3, 7]]
REPLACED = [[5, 9, 4, 8, 3], [3, 1, 1, 9, 2], [8, 9]]


def batches(loader):
    return [batch[0].tolist() for batch in loader]


def seeded(seed):
    return torch.Generator().manual_seed(seed)


def test_shuffling_is_pytorchs():
    torch.manual_seed(3)
    assert [batches(data.DataLoader(TEN, batch_size=4, shuffle=True)) for _ in range(2)] == SHUFFLED
    # As many numbers were drawn, too
    assert torch.rand(2).tolist() == pytest.approx([0.5944212079048157, 0.887856662273407])
    torch.manual_seed(3)
    next(iter(data.DataLoader(TEN, batch_size=4)))
    assert torch.rand(2).tolist() == pytest.approx([0.2858424782752991, 0.026954829692840576])
    loader = data.DataLoader(TEN, batch_size=3, shuffle=True, generator=seeded(5), drop_last=True)
    assert [batches(loader) for _ in range(2)] == SHUFFLED_OWN_GENERATOR
    sampler = data.RandomSampler(TEN, replacement=True, num_samples=12, generator=seeded(1))
    assert batches(data.DataLoader(TEN, batch_size=5, sampler=sampler)) == REPLACED


def test_random_split_is_pytorchs():
    assert [part.indices for part in data.random_split(TEN, [7, 3], seeded(42))] == SPLIT
    assert [part.indices for part in data.random_split(TEN, [0.5, 0.25, 0.25], seeded(42))] == SPLIT_FRACTIONS
    with pytest.raises(ValueError, match="Sum of input lengths does not equal the length of the input dataset!"):
        data.random_split(TEN, [7, 2])
    with pytest.raises(ValueError, match="Fraction at index 1 is not between 0 and 1"):
        data.random_split(TEN, [0.5, -0.5, 1.0])
    with pytest.warns(UserWarning, match="Length of split at index 1 is 0"):
        data.random_split([1], [0.9, 0.1])


def test_every_sample_once():
    loader = data.DataLoader(TEN, batch_size=3, shuffle=True)
    assert sorted(sum(batches(loader), [])) == list(range(10))
    assert len(loader) == 4 and [len(b) for b in batches(loader)] == [3, 3, 3, 1]
    assert len(data.DataLoader(TEN, batch_size=3, drop_last=True)) == 3
    assert len(data.DataLoader(TEN, batch_size=None)) == 10


def test_datasets():
    pair = data.TensorDataset(torch.tensor([1.0, 2.0]), torch.tensor([3, 4]))
    assert len(pair) == 2 and [v.item() for v in pair[1]] == [2, 4]
    with pytest.raises(AssertionError, match="Size mismatch between tensors"):
        data.TensorDataset(torch.ones(2), torch.ones(3))
    both = TEN + data.Subset(TEN, [5, 7])
    assert len(both) == 12 and both[11][0].item() == 7 and both[-1][0].item() == 7 and both[3][0].item() == 3
    with pytest.raises(ValueError, match="absolute value of index should not exceed dataset length"):
        both[-13]
    with pytest.raises(NotImplementedError):
        data.Dataset()[0]


def test_iterable_dataset():
    class Numbers(data.IterableDataset):
        def __iter__(self):
            return iter(range(5))

    assert [b.tolist() for b in data.DataLoader(Numbers(), batch_size=2)] == [[0, 1], [2, 3], [4]]
    assert [b.tolist() for b in data.DataLoader(Numbers(), batch_size=2, drop_last=True)] == [[0, 1], [2, 3]]
    assert list(data.DataLoader(Numbers(), batch_size=None)) == [0, 1, 2, 3, 4]
    with pytest.raises(
        ValueError, match="DataLoader with IterableDataset: expected unspecified shuffle option, but got shuffle=True"
    ):
        data.DataLoader(Numbers(), shuffle=True)


def test_collate():
    Point = collections.namedtuple("Point", "x y")
    collate = data.default_collate
    assert collate([torch.ones(2), torch.zeros(2)]).shape == (2, 2)
    assert collate([1.5, 2.5]).dtype == torch.float64 and collate([1, 2]).dtype == torch.int64
    assert collate([np.float32(1), np.float32(2)]).dtype == torch.float32
    assert collate([np.ones(3), np.zeros(3)]).shape == (2, 3)
    assert collate(["a", "b"]) == ["a", "b"]
    found = collate([{"x": 1, "y": torch.ones(2)}, {"x": 2, "y": torch.zeros(2)}])
    assert found["x"].tolist() == [1, 2] and found["y"].shape == (2, 2)
    assert collate([Point(1, 2.0), Point(3, 4.0)]).x.tolist() == [1, 3]
    assert [part.tolist() for part in collate([(1, 2), (3, 4)])] == [[1, 3], [2, 4]]
    with pytest.raises(RuntimeError, match="each element in list of batch should be of equal size"):
        collate([[1], [1, 2]])
    with pytest.raises(
        TypeError,
        match="default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found <class 'object'>",
    ):
        collate([object()])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batch_size": 0}, "batch_size should be a positive integer value, but got batch_size=0"),
        ({"shuffle": True, "sampler": [0]}, "sampler option is mutually exclusive with shuffle"),
        (
            {"batch_sampler": [[0]], "shuffle": True},
            "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last",
        ),
        (
            {"batch_size": None, "drop_last": True},
            "batch_size=None option disables auto-batching and is mutually exclusive with drop_last",
        ),
        (
            {"num_workers": -1},
            "num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.",
        ),
    ],
)
def test_errors_are_pytorchs(options, message):
    with pytest.raises(ValueError) as e:
        data.DataLoader(TEN, **options)
    assert str(e.value) == message


def test_own_order_and_own_batches():
    assert batches(data.DataLoader(TEN, batch_size=2, sampler=[3, 1, 2])) == [[3, 1], [2]]
    assert batches(data.DataLoader(TEN, batch_sampler=[[0], [1, 2]])) == [[0], [1, 2]]
    assert list(data.DataLoader([1, 2, 3], batch_size=2, collate_fn=sum)) == [3, 3]
    assert list(data.DataLoader(TEN, batch_size=5, num_workers=2, pin_memory=True))[1][0].tolist() == [5, 6, 7, 8, 9]
