"""One tensor in another arrangement: functions that check their arguments and choose a row of shape.py.

A name with `_checked` is PyTorch's function of that name, where the row itself has the name.
"""

import builtins

import numpy as np

from ..core import dtypes, errors
from ..core.facts import NotContiguous
from ..core.variable import wrap
from .dims import dims_of, resolved_shape, sizes_of, wrap_dim
from .shape import (
    alias,
    clone,
    diag_embed_,
    diagonal_,
    diagonal_copy,
    expand,
    flip_,
    permute,
    repeat_,
    reshape,
    roll_,
    rot90_,
    select,
    slice_,
    split_,
    split_sizes,
    squeeze,
    squeeze_dim,
    squeeze_dims,
    t,
    transpose,
    tril_,
    triu_,
    unbind_,
    unfold_,
    unsqueeze,
    view,
)


def _view_dtype(input, dtype):
    """Tensor.view(dtype): the same bytes read as other numbers, outside of every graph, but writes are counted with those of `input`."""
    array, size, other = input.array, input.array.itemsize, dtype.numpy.itemsize
    if array.dtype is dtype.numpy:
        return alias(input)
    if size != other:
        ratio, steps = builtins.max(size, other) // builtins.min(size, other), input.stride()
        kinds = [errors.TYPE_NAMES[kind.name].removesuffix("Tensor") for kind in (array.dtype, dtype.numpy)]
        start = f"to view {kinds[0]} as {kinds[1]} (different element sizes)"
        if not array.ndim:
            raise errors.new(RuntimeError, f"self.dim() cannot be 0 {start}")
        start += ", but got"
        if steps[-1] != 1:
            raise errors.new(RuntimeError, f"self.stride(-1) must be 1 {start} {steps[-1]}")
        if other > size:
            if array.shape[-1] % ratio:
                raise errors.new(RuntimeError, f"self.size(-1) must be divisible by {ratio} {start} {array.shape[-1]}")
            if input.storage_offset() % ratio:
                raise errors.new(
                    RuntimeError, f"self.storage_offset() must be divisible by {ratio} {start} {input.storage_offset()}"
                )
            for d, step in enumerate(steps[:-1]):
                if step % ratio:
                    raise errors.new(RuntimeError, f"self.stride({d}) must be divisible by {ratio} {start} {step}")
    out = wrap(array.view(dtype.numpy))
    out.version = input.version
    return out


def view_as_shape(input, size):
    """Tensor.view: as reshape, but never a copy. Raises RuntimeError where the strides do not allow it."""
    if isinstance(size, dtypes.dtype):
        return _view_dtype(input, size)
    shape = resolved_shape(input.array.shape, sizes_of("view", "size", size))
    try:
        return view(input, shape)
    except ValueError:
        raise errors.new(
            RuntimeError,
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two contiguous "
            "subspaces). Use .reshape(...) instead.",
            f"The tensor of shape {tuple(input.array.shape)} has strides {input.stride()}; no strides over the same storage give {shape}.",
            "A view never copies.",
            "reshape(...), which copies where it must, or contiguous().view(...).",
            "chapter 15, Bug clinic",
            NotContiguous(tuple(input.array.shape), tuple(input.stride())),
        ) from None


def unbind(input, dim=0) -> tuple:
    """The slices of `input` along `dim`, as a tuple of views."""
    dim = wrap_dim(dim, input.ndim)
    return unbind_(input, wrap_dim(dim, input.ndim, scalar=False))


def flatten(input, start_dim=0, end_dim=-1):
    """The dimensions from start_dim to end_dim as one. Raises RuntimeError if start_dim comes after end_dim."""
    start, end = wrap_dim(start_dim, input.ndim), wrap_dim(end_dim, input.ndim)
    if input.ndim == 0:
        return reshape(input, (1,))
    if start > end:
        raise errors.new(RuntimeError, "flatten() has invalid args: start_dim cannot come after end_dim")
    if start == end:
        return input
    sizes = input.array.shape
    return reshape(input, (*sizes[:start], int(np.prod(sizes[start : end + 1])), *sizes[end + 1 :]))


def ravel(input):
    """All elements in one dimension: a view of `input`, or of its contiguous copy."""
    return view(input if input.array.flags.c_contiguous else clone(input, "C"), (input.array.size,))


def unflatten(input, dim, sizes):
    """One dimension as several; one of the sizes may be -1. Raises RuntimeError if they do not multiply up."""
    dim = wrap_dim(dim, input.ndim)
    shape = input.array.shape
    try:
        parts = resolved_shape((shape[dim],), sizes)
    except RuntimeError:
        raise errors.new(
            RuntimeError,
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {dim} ({shape[dim]}) in the input tensor",
        ) from None
    return view_as_shape(input, (*shape[:dim], *parts, *shape[dim + 1 :]))


def movedim(input, source, destination):
    """The dimensions `source` at the places `destination`, the others in order (a view).
    Raises RuntimeError for different numbers of dimensions."""
    source, destination = dims_of(source, input.ndim), dims_of(destination, input.ndim)
    if len(source) != len(destination):
        raise errors.new(
            RuntimeError,
            f"movedim: Invalid source or destination dims: source ({list(source)} dims) should contain the same number of dims as "
            f"destination ({list(destination)} dims)",
        )
    if not input.ndim:
        return alias(input)
    order = [d for d in range(input.ndim) if d not in source]
    for place, d in sorted(zip(destination, source, strict=True)):
        order.insert(place, d)
    return permute(input, tuple(order))


def swapaxes(input, axis0, axis1):
    """Two dimensions exchanged (a view)."""
    return transpose_checked(input, axis0, axis1)


def swapdims(input, dim0, dim1):
    """Two dimensions exchanged (a view)."""
    return transpose_checked(input, dim0, dim1)


def split(tensor, split_size_or_sections, dim=0) -> tuple:
    """The tensor in pieces of one size (the last may be smaller), or of the given sizes: a tuple of views.
    Raises RuntimeError for a 0-d tensor, and for sizes that do not add up."""
    if not tensor.ndim:
        raise errors.new(RuntimeError, "split expects at least a 1-dimensional tensor")
    dim = wrap_dim(dim, tensor.ndim)
    total = tensor.array.shape[dim]
    if isinstance(split_size_or_sections, (int, np.integer)):
        size = int(split_size_or_sections)
        if size < 0:
            raise errors.new(RuntimeError, f"split expects split_size be non-negative, but got split_size={size}")
        if size == 0:
            raise errors.new(
                RuntimeError, f"split_size can only be 0 if dimension size is 0, but got dimension size of {total}"
            )
        sizes = [builtins.min(size, total - start) for start in range(0, total, size)] or [0]
        return split_(tensor, sizes, dim)
    sizes = list(split_size_or_sections)
    if builtins.sum(sizes) != total:
        raise errors.new(
            RuntimeError,
            f"split_with_sizes expects split_sizes to sum exactly to {total} (input tensor's size at dimension {dim}), but got split_sizes={sizes}",
        )
    return split_sizes(tensor, sizes, dim)


def chunk(input, chunks, dim=0) -> tuple:
    """The tensor in (at most) `chunks` pieces of equal size, the last may be smaller: a tuple of views.
    Raises RuntimeError for a 0-d tensor, and for chunks < 1."""
    if chunks <= 0:
        raise errors.new(RuntimeError, f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    if not input.ndim:
        raise errors.new(RuntimeError, "chunk expects at least a 1-dimensional tensor")
    dim = wrap_dim(dim, input.ndim)
    return split(input, builtins.max(-(-input.array.shape[dim] // chunks), 1), dim)


def repeat(input, repeats):
    """Copies of `input` side by side, repeats[d] times along each dimension; more of them than dimensions add dimensions in front.

    Raises RuntimeError for fewer of them.
    """
    repeats = sizes_of("repeat", "repeats", repeats)
    if len(repeats) < input.ndim:
        raise errors.new(
            RuntimeError, "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor"
        )
    return repeat_(input, tuple(repeats))


def tile(input, dims):
    """As repeat, but missing sizes in front count as 1."""
    return repeat(input, (1,) * (input.ndim - len(dims)) + tuple(dims))


def flip(input, dims):
    """The order of the elements reversed along `dims` (a copy: numpy's negative strides do not exist in PyTorch)."""
    return flip_(input, dims_of(dims, input.ndim))


def fliplr(input):
    """The columns in reverse order. Raises RuntimeError for fewer than two dimensions."""
    if input.ndim < 2:
        raise errors.new(RuntimeError, "Input must be >= 2-d.")
    return flip(input, 1)


def flipud(input):
    """The rows in reverse order. Raises RuntimeError for a 0-d tensor."""
    if input.ndim < 1:
        raise errors.new(RuntimeError, "Input must be >= 1-d.")
    return flip(input, 0)


def roll(input, shifts, dims=None):
    """The elements moved on by `shifts` places along `dims`, those beyond the end are put in at the front.
    Raises RuntimeError for different numbers of shifts and dims."""
    shifts = sizes_of("roll", "shifts", (shifts,) if isinstance(shifts, int) else shifts)
    if dims is None:
        return roll_(input, shifts[0], None)
    dims = (dims,) if isinstance(dims, int) else dims
    if len(shifts) != len(dims):
        raise errors.new(RuntimeError, f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}")
    return roll_(input, shifts, tuple([wrap_dim(d, input.ndim, scalar=False) for d in dims]))


def rot90(input, k=1, dims=(0, 1)):
    """Turned by k times 90 degrees in the plane of two dimensions. Raises RuntimeError for fewer than two dimensions."""
    if input.ndim < 2:
        raise errors.new(RuntimeError, f"expected total dims >= 2, but got total dims = {input.ndim}")
    return rot90_(input, k, dims_of(dims, input.ndim))


def _matrix(input, name):
    if input.ndim < 2:
        raise errors.new(RuntimeError, f"{name}: input tensor must have at least 2 dimensions")


def tril(input, diagonal=0):
    """The lower triangle of the last two dimensions, zeros above `diagonal`."""
    _matrix(input, "tril")
    return tril_(input, diagonal)


def triu(input, diagonal=0):
    """The upper triangle of the last two dimensions, zeros below `diagonal`."""
    _matrix(input, "triu")
    return triu_(input, diagonal)


def diagonal(input, offset=0, dim1=0, dim2=1):
    """The diagonal of two dimensions, as the last dimension (a view). Raises RuntimeError for twice the same."""
    one, other = wrap_dim(dim1, input.ndim), wrap_dim(dim2, input.ndim)
    if one == other:
        raise errors.new(RuntimeError, f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return diagonal_(input, offset, one, other)


def diag(input, diagonal=0):
    """A vector: the matrix with it on the diagonal. A matrix: its diagonal (a copy). Raises RuntimeError for more dimensions."""
    if input.ndim == 1:
        return diag_embed(input, diagonal)
    if input.ndim != 2:
        raise errors.new(RuntimeError, f"diag(): Supports 1D or 2D tensors. Got {input.ndim}D")
    return diagonal_copy(input, diagonal, 0, 1)


def diag_embed(input, offset=0, dim1=-2, dim2=-1):
    """The last dimension as the diagonal of two new ones. Raises RuntimeError if they are the same."""
    n = input.ndim + 1
    first, second = wrap_dim(dim1, n), wrap_dim(dim2, n)
    if first == second:
        raise errors.new(RuntimeError, f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return diag_embed_(input, offset, first, second)


def narrow(input, dim, start, length):
    """`length` elements from `start` on along `dim` (a view).
    Raises IndexError if `start` is out of range, RuntimeError for a 0-d tensor, a negative `length` and if the end is out of range."""
    if not input.ndim:
        raise errors.new(RuntimeError, "narrow() cannot be applied to a 0-dim tensor.")
    if length < 0:
        raise errors.new(RuntimeError, "narrow(): length must be non-negative.")
    if hasattr(start, "array"):
        if start.array.ndim or start.array.dtype.kind not in "iu":
            raise errors.new(RuntimeError, "start must be an 0-dim integral Tensor.")
        start = start.item()
    dim = wrap_dim(dim, input.ndim)
    n = input.array.shape[dim]
    if not -n <= start <= n:
        raise errors.new(IndexError, f"start out of range (expected to be in range of [{-n}, {n}], but got {start})")
    start %= n or 1
    if start + length > n:
        raise errors.new(RuntimeError, f"start ({start}) + length ({length}) exceeds dimension size ({n}).")
    return slice_(input, dim, start, start + length, 1)


def unfold(input, dimension, size, step):
    """All windows of `size` elements along a dimension, `step` apart; the window is a new last dimension (a view).

    Raises RuntimeError for a size beyond the dimension and a step below 1.
    """
    dim = wrap_dim(dimension, input.ndim)
    n = input.array.shape[dim] if input.ndim else 1
    if size > n:
        raise errors.new(RuntimeError, f"maximum size for tensor at dimension {dim} is {n} but size is {size}")
    if step < 1:
        raise errors.new(RuntimeError, f"step is {step} but must be > 0")
    return unfold_(input, dim, size, step)


def diagflat(input, offset=0):
    """The matrix with all elements on a diagonal, in order."""
    return diag_embed(reshape(input, (-1,)), offset)


def split_with_sizes(input, split_sizes, dim=0) -> tuple:
    """The tensor in pieces of the given sizes: a tuple of views."""
    return split(input, list(split_sizes), dim)


def unsafe_split(tensor, split_size, dim=0) -> tuple:
    """As split, in pieces that may be written to one by one."""
    return tuple([clone(part) for part in split(tensor, split_size, dim)])


unsafe_split_with_sizes = unsafe_split


def unsafe_chunk(input, chunks, dim=0) -> tuple:
    """As chunk, in pieces that may be written to one by one."""
    return tuple([clone(part) for part in chunk(input, chunks, dim)])


def tensor_split(input, indices_or_sections, dim=0) -> tuple:
    """The tensor in as many pieces as asked for, the first ones larger by one, or cut at the given positions: a tuple of views.
    Raises RuntimeError for a 0-d tensor, and for less than one piece."""
    if not input.ndim:
        raise errors.new(
            RuntimeError, "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims"
        )
    dim = wrap_dim(dim, input.ndim)
    n = input.array.shape[dim]
    if hasattr(indices_or_sections, "array"):
        array = indices_or_sections.array
        if array.dtype != np.int64:
            kind = errors.TYPE_NAMES[array.dtype.name].removesuffix("Tensor")
            raise errors.new(
                RuntimeError, f"tensor_split expected tensor_indices_or_sections to have dtype of long, but got {kind}"
            )
        if array.ndim > 1:
            raise errors.new(
                RuntimeError,
                "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional tensor, but got a tensor "
                f"with {array.ndim} dims",
            )
        indices_or_sections = array.tolist()
    if isinstance(indices_or_sections, int):
        if indices_or_sections <= 0:
            raise errors.new(RuntimeError, f"number of sections must be larger than 0, got {indices_or_sections}")
        size, larger = divmod(n, indices_or_sections)
        cuts = [i * size + builtins.min(i, larger) for i in range(1, indices_or_sections)]
    else:
        cuts = list(indices_or_sections)
    bounds = [slice(a, b).indices(n) for a, b in zip([None, *cuts], [*cuts, None], strict=True)]
    return tuple([slice_(input, dim, start, builtins.max(start, stop), 1) for start, stop, _ in bounds])


def _split_along(name, input, indices_or_sections, dim, least):
    if input.ndim < least:
        raise errors.new(
            RuntimeError,
            f"torch.{name} requires a tensor with at least {least} dimension{'s' * (least > 1)}, but got a tensor with {input.ndim} dimensions!",
        )
    n = input.array.shape[dim]
    if isinstance(indices_or_sections, int) and (indices_or_sections <= 0 or n % indices_or_sections):
        raise errors.new(
            RuntimeError,
            f"torch.{name} attempted to split along dimension {dim}, but the size of the dimension {n} is not divisible by the split_size {indices_or_sections}!",
        )
    return tensor_split(input, indices_or_sections, dim)


def hsplit(input, indices_or_sections) -> tuple:
    """Pieces side by side: along dim 1, of a vector along dim 0."""
    return _split_along("hsplit", input, indices_or_sections, builtins.min(input.ndim - 1, 1), 1)


def vsplit(input, indices_or_sections) -> tuple:
    """Pieces on top of each other: along dim 0."""
    return _split_along("vsplit", input, indices_or_sections, 0, 2)


def dsplit(input, indices_or_sections) -> tuple:
    """Pieces along dim 2."""
    return _split_along("dsplit", input, indices_or_sections, 2, 3)


def select_scatter(input, src, dim, index):
    """A copy of `input` with `src` written at one position along `dim`."""
    dim = wrap_dim(dim, input.ndim)
    return _written(input, src, lambda x: select(x, dim, index % x.shape[dim]))


def slice_scatter(input, src, dim=0, start=None, end=None, step=1):
    """A copy of `input` with `src` written into a slice along `dim`."""
    dim = wrap_dim(dim, input.ndim)
    start, stop, step = slice(start, end, step).indices(input.array.shape[dim])
    return _written(input, src, lambda x: slice_(x, dim, start, builtins.max(start, stop), step))


def diagonal_scatter(input, src, offset=0, dim1=0, dim2=1):
    """A copy of `input` with `src` written into a diagonal."""
    return _written(input, src, lambda x: diagonal(x, offset, dim1, dim2))


def _written(input, src, view):
    """A copy of `input` whose part `view(copy)` is `src`."""
    out = (
        src.new_empty(input.shape, dtype=input.dtype).copy_(input)
        if src.batched and not input.batched
        else clone(input)
    )
    part = view(out)
    if part.array.shape != src.array.shape:
        raise errors.new(
            RuntimeError,
            "expected src to have a size equal to the slice of self. src size = "
            f"{list(src.array.shape)}, slice size = {list(part.array.shape)}",
        )
    part.copy_(src)
    return out


def sum_to_size(input, size):
    """The sum over the dimensions that broadcasting from `size` to the shape of `input` would add or expand.

    Raises RuntimeError where broadcasting would not.
    """
    shape, size = input.array.shape, tuple(size)
    extra = len(shape) - len(size)
    if extra < 0 or builtins.any([n not in (1, m) for n, m in zip(size, shape[extra:], strict=True)]):
        raise errors.new(RuntimeError, f"size {{{list(size)}}} is not expandable to size {{{list(shape)}}}.")
    if not size:
        return input.sum()
    dims = [*range(extra), *[i + extra for i, n in enumerate(size) if n == 1 != shape[i + extra]]]
    return input if not dims else reshape(input.sum(dims, True), size) if extra else input.sum(dims, True)


def expand_checked(input, size):
    """`input` repeated along dimensions of size 1 (-1: as it is), without copying. Raises RuntimeError where the size is not 1."""
    old, size = input.array.shape, sizes_of("expand", "size", size)
    extra = len(size) - len(old)
    if extra < 0:
        raise errors.new(
            RuntimeError,
            f"expand({input.type()}{{{list(old)}}}, size={list(size)}): the number of sizes provided ({len(size)}) must be greater or "
            "equal to "
            f"the number of dimensions in the tensor ({len(old)})",
        )
    new = []
    for i, n in enumerate(size):
        m = old[i - extra] if i >= extra else 1
        if n == -1 and i < extra:
            raise errors.new(
                RuntimeError,
                f"The expanded size of the tensor ({n}) isn't allowed in a leading, non-existing dimension {i}",
            )
        if n not in (-1, m) and m != 1:
            raise errors.new(
                RuntimeError,
                f"The expanded size of the tensor ({n}) must match the existing size ({m}) at non-singleton dimension {i}.  "
                f"Target sizes: {list(size)}.  Tensor sizes: {list(old)}",
            )
        new.append(m if n == -1 else int(n))
    return expand(input, tuple(new))


def squeeze_checked(input, dim=None):
    """`input` without its dimensions of size 1, or without those of `dim` that have size 1."""
    if dim is None:
        return squeeze(input)
    dims = tuple([d for d in dims_of(dim, input.array.ndim) if input.array.ndim and input.array.shape[d] == 1])
    return (squeeze_dim if isinstance(dim, int) else squeeze_dims)(input, dims)


def unsqueeze_checked(input, dim):
    """A dimension of size 1 put in at `dim` (a view)."""
    return unsqueeze(input, wrap_dim(dim, input.array.ndim + 1))


def transpose_checked(input, dim0, dim1):
    """Two dimensions exchanged (a view)."""
    n = input.array.ndim
    return transpose(input, wrap_dim(dim0, n), wrap_dim(dim1, n))


def t_checked(input):
    """A matrix with rows and columns exchanged (a view); a vector stays as it is. Raises RuntimeError for more dimensions."""
    if input.array.ndim > 2:
        raise errors.new(RuntimeError, f"t() expects a tensor with <= 2 dimensions, but self is {input.array.ndim}D")
    return t(input)


def permute_checked(input, dims):
    """The dimensions in another order (a view). Raises RuntimeError unless each dimension is named once."""
    if len(dims) != input.array.ndim:
        raise errors.new(
            RuntimeError,
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired ordering of dimensions "
            f"i.e. input.dim() = {input.array.ndim} is not equal to len(dims) = {len(dims)}",
        )
    wrapped = [wrap_dim(d, input.array.ndim) for d in dims]
    if len({*wrapped}) != len(wrapped):
        raise errors.new(
            RuntimeError,
            "permute(): duplicate dims are not allowed.",
            f"You asked for {tuple(dims)}.",
            instead="name each dimension once.",
        )
    return permute(input, tuple(wrapped))
