"""torch.utils.data: datasets, and loaders that make batches of them.

What lives here: map-style and iterable datasets, samplers, collation, DataLoader, random_split. Loading happens in this process: options
about worker processes and pinned memory are accepted and have no effect. With the same seeds the order is PyTorch's.
"""

import itertools
import math
import warnings
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..core.dtypes import float64
from ..ops.joins import stack
from ..random import Generator, default_generator
from ..tensors.create import as_tensor, randint, randperm, tensor
from ..tensors.tensor import Tensor

# Datasets ----------------------------------------------------------------------------------------------------------------


class Dataset:
    """Base class: define `__getitem__(index)`, which returns one sample, and `__len__`."""

    def __getitem__(self, index: Any) -> Any:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: "Dataset") -> "ConcatDataset":
        return ConcatDataset([self, other])


class IterableDataset(Dataset):
    """A dataset that is only run through: define `__iter__`."""

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError("Subclasses of IterableDataset should implement __iter__.")


class TensorDataset(Dataset):
    """Sample i is the tuple of the tensors' i-th rows.

    Raises AssertionError for different numbers of rows.

    >>> import minigrad as torch
    >>> data = TensorDataset(torch.tensor([1., 2.]), torch.tensor([0, 1]))
    >>> data[1]
    (tensor(2.), tensor(1))
    """

    def __init__(self, *tensors: Tensor):
        if not all(tensors[0].size(0) == t.size(0) for t in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple([t[index] for t in self.tensors])

    def __len__(self) -> int:
        return self.tensors[0].size(0)


class ConcatDataset(Dataset):
    """Several datasets, one after the other. Raises AssertionError without any."""

    def __init__(self, datasets: Iterable[Dataset]):
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        self.cumulative_sizes = list(itertools.accumulate(len(d) for d in self.datasets))  # type: ignore[arg-type]

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> Any:
        if index < 0:
            if -index > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            index += len(self)
        which = bisect_right(self.cumulative_sizes, index)
        return self.datasets[which][index - (self.cumulative_sizes[which - 1] if which else 0)]


class Subset(Dataset):
    """The samples of a dataset at some indices."""

    def __init__(self, dataset: Dataset, indices: Sequence[int]):
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, list):
            return self.dataset[[self.indices[i] for i in index]]
        return self.dataset[self.indices[index]]

    def __len__(self) -> int:
        return len(self.indices)


def random_split(dataset: Dataset, lengths: Sequence[float], generator: Generator = default_generator) -> list[Subset]:
    """Disjoint random subsets of these lengths, or of these fractions (which add up to 1). Raises ValueError if they do not fit.

    >>> import minigrad as torch
    >>> train, test = random_split(range(10), [0.8, 0.2], generator=torch.Generator().manual_seed(42))
    >>> len(train), test.indices
    (8, [3, 7])
    """
    size = len(dataset)  # type: ignore[arg-type]
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        counts = []
        for i, fraction in enumerate(lengths):
            if fraction < 0 or fraction > 1:
                raise ValueError(f"Fraction at index {i} is not between 0 and 1")
            counts.append(math.floor(size * fraction))
        for i in range(size - sum(counts)):  # what rounding has left over
            counts[i % len(counts)] += 1
        for i, n in enumerate(counts):
            if n == 0:
                warnings.warn(
                    f"Length of split at index {i} is 0. This might result in an empty dataset.", stacklevel=2
                )
    else:
        counts = [int(n) for n in lengths]
    if sum(counts) != size:
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    indices = randperm(size, generator=generator).tolist()
    return [
        Subset(dataset, indices[end - n : end]) for end, n in zip(itertools.accumulate(counts), counts, strict=True)
    ]


# Samplers: in which order ------------------------------------------------------------------------------------------------


class Sampler:
    """Base class: define `__iter__`, which yields indices (or lists of them)."""

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError


class SequentialSampler(Sampler):
    def __init__(self, data_source: Any):
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


def _seed(generator: Generator | None) -> int:
    return int((generator or default_generator).long_words(1)[0] % np.uint64(2**63))


class RandomSampler(Sampler):
    """A new random order each time, or with `replacement` num_samples independent draws.

    Raises TypeError if replacement is not a bool, ValueError for num_samples below 1.
    """

    def __init__(
        self,
        data_source: Any,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Generator | None = None,
    ):
        self.data_source, self.replacement, self._num_samples, self.generator = (
            data_source,
            replacement,
            num_samples,
            generator,
        )
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement should be a boolean value, but got replacement={replacement}")
        if not isinstance(self.num_samples, int) or self.num_samples <= 0:
            raise ValueError(f"num_samples should be a positive integer value, but got num_samples={self.num_samples}")

    @property
    def num_samples(self) -> int:
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        n = len(self.data_source)
        generator = self.generator or Generator().manual_seed(_seed(None))
        count = self.num_samples
        if self.replacement:
            for size in (*[32] * (count // 32), count % 32):  # in blocks of 32, as PyTorch draws them
                yield from randint(0, n, (size,), generator=generator).tolist()
            return
        for size in (*[n] * (count // n), count % n):  # the last may be empty, but is drawn
            yield from randperm(n, generator=generator).tolist()[:size]

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler):
    """These indices in random order."""

    def __init__(self, indices: Sequence[int], generator: Generator | None = None):
        self.indices, self.generator = indices, generator

    def __iter__(self) -> Iterator[int]:
        for i in randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[i]

    def __len__(self) -> int:
        return len(self.indices)


class BatchSampler(Sampler):
    """The indices of another sampler in lists of batch_size; the last may be shorter, or is dropped.

    Raises ValueError for a batch_size below 1 and a drop_last that is not a bool.
    """

    def __init__(self, sampler: Iterable[int], batch_size: int, drop_last: bool):
        if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size <= 0:
            raise ValueError(f"batch_size should be a positive integer value, but got batch_size={batch_size}")
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self) -> Iterator[list[int]]:
        batches = iter(self.sampler)
        while batch := list(itertools.islice(batches, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self) -> int:
        full, rest = divmod(len(self.sampler), self.batch_size)  # type: ignore[arg-type]
        return full + (rest > 0 and not self.drop_last)


# Batches -----------------------------------------------------------------------------------------------------------------


def default_collate(batch: Sequence[Any]) -> Any:
    """One batch from a list of samples: tensors and arrays are stacked, numbers become a tensor, dicts and tuples are gone through.

    Raises TypeError for other types, RuntimeError for sequences of different lengths.
    """
    first = batch[0]
    if isinstance(first, Tensor):
        return stack(list(batch), 0)
    if isinstance(first, np.ndarray):
        if first.dtype.kind in "SUO":
            raise TypeError(_cannot_collate(first.dtype))
        return stack([as_tensor(a) for a in batch], 0)
    if isinstance(first, np.generic):
        return as_tensor(np.array(batch))
    if isinstance(first, float):
        return tensor(list(batch), dtype=float64)
    if isinstance(first, int):
        return tensor(list(batch))
    if isinstance(first, (str, bytes)):
        return list(batch)
    if isinstance(first, Mapping):
        collated = {key: default_collate([sample[key] for sample in batch]) for key in first}
        return collated if type(first) is dict else type(first)(collated)  # type: ignore[call-arg]
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*[default_collate(part) for part in zip(*batch, strict=True)])
    if isinstance(first, Sequence):
        if any(len(sample) != len(first) for sample in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        return [default_collate(part) for part in zip(*batch, strict=True)]
    raise TypeError(_cannot_collate(type(first)))


def _cannot_collate(kind: Any) -> str:
    return f"default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {kind}"


class DataLoader:
    """Iterating gives batches; each `for` starts from the beginning, with shuffle in a new order.

    dataset        anything with `__getitem__` and `__len__`, or an IterableDataset
    batch_size     None: samples as they are
    shuffle        a random order each time, from `generator` or the default one
    sampler        the order instead, as an iterable of indices; batch_sampler: of lists of indices
    collate_fn     makes a batch from a list of samples (default: default_collate)
    drop_last      leave out the last batch if it is smaller
    Raises ValueError for options that exclude each other.

    >>> import minigrad as torch
    >>> data = TensorDataset(torch.arange(5))
    >>> [batch for batch, in DataLoader(data, batch_size=2)]
    [tensor([0, 1]), tensor([2, 3]), tensor([4])]
    """

    def __init__(
        self, dataset: Any, batch_size: int | None = 1, shuffle: bool | None = None, sampler: Iterable[int] | None = None,
        batch_sampler: Iterable[list[int]] | None = None, num_workers: int = 0, collate_fn: Callable[[list], Any] | None = None,
        pin_memory: bool = False, drop_last: bool = False, timeout: float = 0, worker_init_fn: Any = None,
        multiprocessing_context: Any = None, generator: Generator | None = None, *, prefetch_factor: int | None = None,
        persistent_workers: bool = False, pin_memory_device: str = "", in_order: bool = True,
    ):  # fmt: skip
        if num_workers < 0:
            raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
        if isinstance(dataset, IterableDataset):
            for name, value in (("shuffle", shuffle), ("sampler", sampler), ("batch_sampler", batch_sampler)):
                if value not in (None, False):
                    raise ValueError(
                        f"DataLoader with IterableDataset: expected unspecified {name} option, but got {name}={value}"
                    )
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None and (batch_size != 1 or shuffle or sampler is not None or drop_last):
            raise ValueError(
                "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last"
            )
        if batch_size is None and drop_last:
            raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")
        self.dataset, self.num_workers, self.pin_memory, self.generator = dataset, num_workers, pin_memory, generator
        self.batch_size, self.drop_last = None if batch_sampler is not None else batch_size, drop_last
        if sampler is None and not isinstance(dataset, IterableDataset):
            sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        self.sampler = sampler
        if batch_sampler is None and batch_size is not None and not isinstance(dataset, IterableDataset):
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)  # type: ignore[arg-type]
        elif isinstance(dataset, IterableDataset) and batch_size is not None:
            BatchSampler([], batch_size, drop_last)  # for its checks
        self.batch_sampler = batch_sampler
        if collate_fn is None:
            batched = batch_sampler is not None or batch_size is not None
            collate_fn = default_collate if batched else _as_tensors
        self.collate_fn = collate_fn

    def __len__(self) -> int:
        """The number of batches (without batches, of samples)."""
        if self.batch_sampler is not None:
            return len(self.batch_sampler)  # type: ignore[arg-type]
        if isinstance(self.dataset, IterableDataset):
            count = len(self.dataset)  # type: ignore[arg-type]
            if self.batch_size is None:
                return count
            return count // self.batch_size if self.drop_last else math.ceil(count / self.batch_size)
        return len(self.sampler)  # type: ignore[arg-type]

    def __iter__(self) -> Iterator[Any]:
        # PyTorch draws a seed for its worker processes here: the numbers that follow are to be the same
        _seed(self.generator)
        return self._batches()

    def _batches(self) -> Iterator[Any]:
        if isinstance(self.dataset, IterableDataset):
            samples = iter(self.dataset)
            if self.batch_size is None:
                yield from map(self.collate_fn, samples)
                return
            while batch := list(itertools.islice(samples, self.batch_size)):
                if len(batch) == self.batch_size or not self.drop_last:
                    yield self.collate_fn(batch)
        elif self.batch_sampler is not None:
            for indices in self.batch_sampler:
                yield self.collate_fn(self._fetch(indices))
        else:
            for index in self.sampler:  # type: ignore[union-attr]
                yield self.collate_fn(self.dataset[index])

    def _fetch(self, indices: list[int]) -> list[Any]:
        several = getattr(self.dataset, "__getitems__", None)
        return several(indices) if several is not None else [self.dataset[i] for i in indices]


def _as_tensors(sample: Any) -> Any:
    """Without batches only ndarrays change: they become tensors."""
    if isinstance(sample, (np.ndarray, np.generic)):
        return as_tensor(np.asarray(sample))
    if isinstance(sample, Mapping):
        return {key: _as_tensors(value) for key, value in sample.items()}
    if isinstance(sample, (list, tuple)) and not hasattr(sample, "_fields"):
        return type(sample)([_as_tensors(value) for value in sample])
    return sample


from ..core import errors as _errors  # noqa: E402

__getattr__ = _errors.unknown_in("minigrad.utils.data", lambda: list(globals()))
