"""`x[key]` and `x[key] = value`: takes a key apart as PyTorch does.

What lives here: the reading of keys. Integers, slices, None and ... become views, one operation each, left to right; tensors, lists and
masks then pick elements, all at once (a copy). What does not: the rows that do the work (ops/shape.py, ops/index.py).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..autograd import inplace
from ..core import errors
from ..core.constants import as_tensor_like
from ..core.dispatch import state
from ..core.facts import IndexOutOfBounds, TooManyIndices
from ..ops.dims import wrap_dim
from ..ops.index import Positions, index_, index_put, require_mask
from ..ops.shape import alias, cast, fill_tensor, select, slice_, unsqueeze

if TYPE_CHECKING:
    from ..tensors.tensor import Tensor as Variable  # its only direct subclass, with all the methods
    from .tensor import Tensor
else:
    from ..core.variable import Variable

_SEQUENCES = (list, tuple, range)
INT64 = np.dtype(np.int64)


def _tuple(key: Any) -> tuple[Any, ...]:
    if type(key) is tuple:
        return key
    if isinstance(key, list) and any(isinstance(k, (slice, Variable, list, tuple, type(None), type(...))) for k in key):
        return tuple(key)  # as PyTorch: a list of sequences is one index per dimension
    return (key,)


_MASKS = (np.dtype(bool), np.dtype(np.uint8))


def _dims_used(k: Any) -> int:
    if isinstance(k, (Variable, np.ndarray)):
        a = k.array if isinstance(k, Variable) else k
        return a.ndim if a.dtype in _MASKS else 1
    return 0 if k is None or k is ... or isinstance(k, (bool, np.bool_)) else 1


def _as_indices(k: Any) -> np.ndarray:
    """The ndarray behind a tensor, list, mask or bool used as an index."""
    a = k.array if isinstance(k, Variable) else np.asarray(k)
    if isinstance(k, _SEQUENCES) and not a.size:
        a = a.astype(np.int64)
    if a.dtype == np.uint8 and not isinstance(k, _SEQUENCES):
        warnings.warn(
            "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.", stacklevel=5
        )
        a = a.astype(bool)
    if a.dtype.kind not in "iub" or (isinstance(k, Variable) and a.ndim and a.dtype.kind != "b" and a.itemsize < 4):
        raise errors.new(
            IndexError,
            "tensors used as indices must be long, int, byte or bool tensors",
            f"The index has dtype {a.dtype}.",
            instead="convert it with .long(), or compare it (x > 0) to make a mask.",
        )
    return a


def _take_apart(x: Tensor, key: Any, value: Any = None) -> tuple[Any, ...]:
    """The view that the basic parts of the key give, and the positions for the rest: None, or a tuple for index_.

    x, value  what is indexed, and what is written there: if one of them is recorded, the tensors of the key are saved
    """
    saved = state.grad and (x.requires or (value is not None and value.requires))
    if isinstance(key, Variable) and key.array.dtype is INT64 and key.array.ndim and x.array.ndim:
        # One tensor of positions, which is usual: as below, in a third of the time.
        check_bounds(key.array, 0, x.array.shape[0])
        return x, Positions((key.array,), (key,), saved)
    key = _tuple(key)
    used = sum(map(_dims_used, key))
    if used and not x.array.ndim and isinstance(key[0], slice):
        raise errors.new(IndexError, "slice() cannot be applied to a 0-dim tensor.")
    if used > x.array.ndim:
        raise errors.new(
            IndexError,
            f"too many indices for tensor of dimension {x.array.ndim}",
            f"The key names {used} dimensions, the tensor has shape {tuple(x.array.shape)}.",
            instead="use fewer indices.",
            facts=TooManyIndices(x.array.ndim),
        )
    dim = position = 0  # of the view so far, and of the tensor that was indexed
    positions = {}
    sources = []
    for k in key:
        if isinstance(k, (Variable, np.ndarray)) and k.ndim == 0 and np.asarray(getattr(k, "array", k)).dtype in _MASKS:
            k = bool(_as_indices(k))
        if isinstance(k, (bool, np.bool_)):
            x = unsqueeze(x, dim)
            positions[dim] = np.zeros(int(k), np.int64)
            dim += 1
        elif isinstance(k, (int, np.integer)):
            x = _select(x, dim, int(k), position)
            position += 1
        elif isinstance(k, slice):
            x = _slice(x, dim, k)
            dim, position = dim + 1, position + 1
        elif k is None:
            x = unsqueeze(x, dim)
            dim += 1
        elif k is ...:
            after = x.array.ndim - sum(map(_dims_used, _after_ellipsis(key)))
            dim, position = after, position + after - dim
        elif isinstance(k, (Variable, np.ndarray, *_SEQUENCES)):
            a = _as_indices(k)
            if isinstance(k, Variable) and a.ndim:
                sources.append(k)
            if a.ndim == 0 and a.dtype.kind in "iu":
                x = _select(x, dim, int(a), position)
                position += 1
            elif a.dtype == bool:
                _check_mask(a, x.array.shape, dim)
                for offset, index in enumerate(a.nonzero() if a.ndim else (np.zeros(int(a), np.int64),)):
                    positions[dim + offset] = index
                dim, position = dim + a.ndim, position + a.ndim
            else:
                positions[dim] = a
                dim, position = dim + 1, position + 1
        elif isinstance(k, str):
            raise errors.new(
                TypeError,
                "new(): invalid data type 'str'",
                why="A tensor's dimensions are counted, not named.",
                instead="use an integer or a slice.",
            )
        else:
            raise errors.new(
                IndexError,
                "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices "
                f"(got {type(k).__name__})",
            )
    if not positions:
        return x, None
    for d, a in positions.items():
        check_bounds(a, d, x.array.shape[d])
    if len(positions) > 1:
        try:
            np.broadcast_shapes(*[a.shape for a in positions.values()])
        except ValueError:
            shapes = ", ".join(str(list(a.shape)) for a in positions.values())
            raise errors.new(
                IndexError,
                f"shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}",
                why="Indices side by side name one element each: (row, column) pairs.",
                instead="give them the same length; rows[:, None] and columns together name a block.",
            ) from None
    return x, Positions([positions.get(d, slice(None)) for d in range(max(positions) + 1)], sources, saved)


def check_bounds(a: np.ndarray, d: int, size: int) -> None:
    """Raise IndexError if one of the positions `a` is not in dimension `d`."""
    # Negative ones are huge: one pass, not two
    if a.dtype == np.int64 and a.size and np.maximum.reduce(a.view(np.uint64), None) < size:
        return
    if a.size and (a.max() >= size or a.min() < -size):
        if not size:
            raise errors.new(IndexError, "index is out of bounds for dimension with size 0")
        bad = a[(a >= size) | (a < -size)].flat[0]
        raise errors.new(
            IndexError,
            f"index {bad} is out of bounds for dimension {d} with size {size}",
            facts=IndexOutOfBounds(int(bad), d, size),
        )


def _after_ellipsis(key: tuple[Any, ...]) -> tuple[Any, ...]:
    return key[next(i for i, k in enumerate(key) if k is ...) + 1 :]


def _select(x: Tensor, dim: int, i: int, position: int = 0) -> Tensor:
    shape = x.array.shape
    if not shape:
        raise errors.new(
            IndexError,
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a 0-dim tensor to a "
            "number",
        )
    size = shape[dim]
    if not -size <= i < size:
        raise errors.new(
            IndexError,
            f"index {i} is out of bounds for dimension {position} with size {size}",
            instead=f"use an index from {-size} to {size - 1}.",
            facts=IndexOutOfBounds(int(i), position, size),
        )
    return select(x, dim, i % size)


def _slice(x: Tensor, dim: int, k: slice) -> Tensor:
    if k.start is None and k.stop is None and k.step is None:
        return x
    bounds = [None if v is None else v.item() if isinstance(v, Variable) else v for v in (k.start, k.stop, k.step)]
    if bounds[2] is not None and bounds[2] <= 0:
        raise errors.new(
            ValueError,
            "step must be greater than zero" if bounds[2] else "slice step cannot be zero",
            instead="flip(x, dims) reverses a tensor; PyTorch has no negative steps.",
        )
    start, stop, step = slice(*bounds).indices(x.array.shape[dim])
    return slice_(x, dim, start, max(stop, start), step)


def _check_mask(a: np.ndarray, shape: tuple[int, ...], dim: int) -> None:
    for offset, n in enumerate(a.shape):
        if n != shape[dim + offset]:
            raise errors.new(
                IndexError,
                f"The shape of the mask {list(a.shape)} at index {offset} does not match the shape of the indexed tensor {list(shape)} "
                f"at index {dim + offset}",
                why="A mask says yes or no for each element.",
                instead="make the mask from the tensor that you index.",
            )


def getitem(x: Tensor, key: Any) -> Tensor:
    """x[key]: a view for integers, slices, None and ...; a copy where tensors, lists or masks pick."""
    if type(key) is int:
        return _select(x, 0, key)
    view, positions = _take_apart(x, key)
    if positions is not None:
        return index_(view, positions)
    if view is not x:
        return view
    return _whole(x) if type(key) is slice else alias(x)


def _whole(x: Tensor) -> Tensor:
    return slice_(x, 0, 0, x.array.shape[0], 1)


def setitem(x: Tensor, key: Any, value: Any) -> None:
    """x[key] = value; `value` is a number or a tensor, broadcast to the place and cast to x's dtype."""
    if value is None or isinstance(value, str):
        raise errors.new(TypeError, f"can't assign a {type(value).__name__} to a {x.type()}")
    value = as_tensor_like(value, x)
    view, positions = _take_apart(x, key, value)
    if (
        positions is not None
        and value.array.size == 1
        and isinstance(key, Variable)
        and key.array.dtype in _MASKS[: 1 + (key.ndim > 0)]
    ):
        require_mask(key)
        value = value.to(x.dtype)  # one number for all that the mask chooses: it fills
    extra = value.array.ndim - (view.array.ndim if positions is None else len(_place(view, positions)))
    if extra > 0 and value.array.shape[:extra] == (1,) * extra:
        value = value.reshape(value.shape[extra:])
    if positions is None:
        if not value.array.ndim and not view.batched and not value.batched:
            inplace.write(
                view, fill_tensor, value if value.array.dtype is x.array.dtype else cast(value, x.array.dtype)
            )
        else:
            inplace.copy_(view, value, "assignment")
    else:
        index_put_(view, positions, value)


def index_put_(x: Tensor, positions: tuple[np.ndarray | slice, ...], value: Tensor, accumulate: bool = False) -> Tensor:
    """Write `value` at the positions (a tuple of ndarrays and slices), or add it there. Returns x."""
    if sum([p is not None for p in positions]) > x.array.ndim:
        raise errors.new(
            IndexError,
            f"too many indices for tensor of dimension {x.array.ndim} (got {len(positions)})",
            facts=TooManyIndices(x.array.ndim),
        )
    check_fits(x, positions, value)
    check_written(x, value)
    return inplace.write(x, index_put, value, positions, accumulate)


def _place(x: Tensor, positions: tuple[np.ndarray | slice, ...]) -> tuple[int, ...]:
    """The shape of what `positions` choose of `x`."""
    return np.empty(x.array.shape, np.bool_)[positions].shape


def check_fits(x: Tensor, positions: tuple[np.ndarray | slice, ...], value: Tensor) -> None:
    """Raise PyTorch's error if `value` cannot be broadcast to what `positions` choose of `x`."""
    place = _place(x, positions)
    try:
        np.broadcast_to(value.array, place)
    except ValueError:
        raise errors.new(
            RuntimeError,
            f"shape mismatch: value tensor of shape {list(value.array.shape)} cannot be broadcast to indexing result of shape "
            f"{list(place)}",
        ) from None


def check_written(x: Tensor, value: Tensor) -> None:
    """Raise PyTorch's error if index_put cannot write the numbers of `value` into `x` as they are."""
    if value.array.dtype is not x.array.dtype:
        to, source = (errors.TYPE_NAMES[t.array.dtype.name].removesuffix("Tensor") for t in (x, value))
        raise errors.new(
            RuntimeError,
            f"Index put requires the source and destination dtypes match, got {to} for the destination and {source} for the source.",
            instead="convert what you write: values.to(x.dtype).",
        )


def positions_of(indices: Sequence[Tensor]) -> tuple[np.ndarray, ...]:
    """The tensors of index_put as positions; None means every place of that dimension."""
    return Positions(
        [slice(None) if i is None else _as_indices(i) for i in indices], [i for i in indices if i is not None]
    )


def select_(input: Tensor, dim: int, index: int) -> Tensor:
    """Tensor.select: the slice at one position along `dim` (a view). Raises IndexError if it is out of range."""
    if not input.ndim:
        raise errors.new(IndexError, "select() cannot be applied to a 0-dim tensor.")
    dim = wrap_dim(dim, input.ndim)
    index = int(index)
    sizes = input.array.shape
    if not -sizes[dim] <= index < sizes[dim]:
        raise errors.new(
            IndexError, f"select(): index {index} out of range for tensor of size {list(sizes)} at dimension {dim}"
        )
    return _select(input, dim, index, dim)
