"""Rows: the same numbers in another arrangement. Views (they share their input's storage), copies and joins.

What does not live here: picking elements (index.py). A view row's forward must return a numpy view, never a copy.
"""

import builtins
import functools
import itertools

import numpy as np
from numpy import asarray, ndarray

from ..core import dtypes, errors
from ..core.facts import CatMismatch, NotContiguous, SizeMismatch, StackMismatch
from ..core.op import GENERAL, LINEAR, Op
from ..core.storage import copy_of
from ..core.variable import Size, wrap
from .elementwise import nothing


def wrap_dim(dim, ndim, scalar=True):
    """`dim` counted from the front. Raises PyTorch's IndexError if there is no such dimension.

    scalar  a 0-d tensor counts as one with a single dimension; the rows then get an axis that the array does not have (`dims_of`: none)
    """
    if not ndim and not scalar:
        raise errors.new(IndexError, f"Dimension specified as {dim} but tensor has no dimensions")
    size = ndim or 1
    if type(dim) is not int and not hasattr(dim, "__index__"):
        raise errors.new(TypeError, f"argument 'dim' must be int, not {errors.type_name(dim)}")
    if not -size <= dim < size:
        raise errors.new(
            IndexError,
            f"Dimension out of range (expected to be in range of [{-size}, {size - 1}], but got {dim})",
            f"The tensor has {ndim} dimension{'s' * (ndim != 1)}.",
            instead=f"use a dimension from 0 to {size - 1}, or -1 for the last.",
        )
    return dim % size


def _array(x):
    return x if type(x) is ndarray else asarray(x)


def _expand(x, shape):
    """np.broadcast_to at a tenth of its price, for contiguous numbers and the rest alike."""
    x = x if type(x) is ndarray else asarray(x)
    if not x.ndim:
        return ndarray(shape, x.dtype, x, 0, (0,) * len(shape))
    extra = len(shape) - x.ndim
    strides = [0] * extra + [0 if n == 1 != m else s for n, m, s in zip(x.shape, shape[extra:], x.strides, strict=True)]
    if extra and 1 in shape[:extra]:  # a new dimension of size 1 has the stride that unsqueeze gives it
        for d in range(extra - 1, -1, -1):
            if shape[d] == 1:
                strides[d] = shape[d + 1] * strides[d + 1] if d + 1 < len(shape) else x.itemsize
    if x.flags.c_contiguous:
        return ndarray(shape, x.dtype, x, 0, strides)
    return np.lib.stride_tricks.as_strided(x, shape, strides)


def _slice(x, dim, start, stop, step):
    return x[(slice(None),) * dim + (slice(start, stop, step),)]


# fmt: off
# name        forward                                                  kind              rule
alias       = Op("alias",       lambda x: x.view(),                               LINEAR, view=True, x=lambda g: g, batch="same")
view        = Op("view",        lambda x, shape: _view(x, shape),                 LINEAR, view=True, x=lambda g, x_shape: reshape(g, x_shape))
reshape_alias = Op("_reshape_alias", lambda x, shape: _view(x, shape),            LINEAR, view=True, x=lambda g, x_shape: reshape(g, x_shape), node="ReshapeAliasBackward0")
unsafe_view = Op("_unsafe_view", lambda x, shape: x.reshape(shape),               LINEAR, node="UnsafeViewBackward0", x=lambda g, x_shape: reshape(g, x_shape))
transpose   = Op("transpose",   lambda x, dim0, dim1: x.swapaxes(dim0, dim1) if x.ndim else x.view(), LINEAR, view=True, x=lambda g, dim0, dim1: transpose(g, dim0, dim1),
                 words={"x": "g with the same two dimensions swapped back"}, batch="dims")
t           = Op("t",           lambda x: x.T,                                    LINEAR, view=True, x=lambda g: t(g), formula="x.T")
permute     = Op("permute",     lambda x, dims: x.transpose(dims),                LINEAR, view=True, x=lambda g, dims: permute(g, tuple(np.argsort(dims))),
                 words={"x": "g with its dimensions put back in order"})
expand      = Op("expand",      _expand,                                          LINEAR, view=True, x=lambda g: g)  # the engine sums
unsqueeze   = Op("unsqueeze",   lambda x, dim: np.expand_dims(x, dim),            LINEAR, view=True, x=lambda g, dim: squeeze_dims(g, (dim,)),
                 words={"x": "g without the added dimension"})
squeeze     = Op("squeeze",     lambda x: x.squeeze(),                            LINEAR, view=True, x=lambda g, x_shape: reshape(g, x_shape))
squeeze_dim = Op("squeeze",     lambda x, dim: x.squeeze(dim),                    LINEAR, view=True, x=lambda g, x_shape: reshape(g, x_shape), node="SqueezeBackward1", batch="dims")
squeeze_dims = Op("squeeze",    lambda x, dim: x.squeeze(dim),                    LINEAR, view=True, x=lambda g, x_shape: reshape(g, x_shape), node="SqueezeBackward2", batch="dims")
squeeze_row = Op("squeeze",     lambda x, dim: x.squeeze(dim),                    LINEAR, view=True, x=lambda g, x_shape: reshape(g, x_shape), node="SqueezeBackward4", batch="dims")
select      = Op("select",      lambda x, dim, index: x[(slice(None),) * dim + (index, ...)], LINEAR, view=True,
                 x=lambda g, x_shape, dim, index: embed(g, x_shape, (slice(None),) * dim + (index,)), batch="dims")
slice_      = Op("slice",       _slice,                                           LINEAR, view=True,
                 x=lambda g, x_shape, dim, start, stop, step: embed(g, x_shape, (slice(None),) * dim + (slice(start, stop, step),)), batch="dims")
unbind_     = Op("unbind",      lambda x, dim: _unbind(x, dim),                  LINEAR, view=True, outputs=..., x=lambda gs, x_shape, dim: _unbind_rule(gs, x_shape, dim),
                 words={"x": "the gradients of the slices, stacked"}, batch="dims")

flip_       = Op("flip",        lambda x, dims: np.flip(x, dims).copy(),          LINEAR, x=lambda g, dims: flip_(g, dims),
                 words={"x": "g flipped back"}, batch="dims")
diagonal_   = Op("diagonal",    lambda x, offset, dim1, dim2: _diagonal(x, offset, dim1, dim2), LINEAR, view=True,
                 x=lambda g, x_shape, offset, dim1, dim2: diagonal_back(g, x_shape, offset, dim1, dim2),
                 words={"x": "g put back on the diagonal of zeros"}, batch="dims")
unfold_     = Op("unfold",      lambda x, dim, size, step: _unfold(x, dim, size, step), LINEAR, view=True,
                 x=lambda g, x_shape, dim, size, step: unfold_back(g, x_shape, dim, size, step),
                 words={"x": "g added back window by window"}, batch="dims")
split_      = Op("split",       lambda x, sizes, dim: tuple(np.split(x, np.cumsum(sizes[:-1]), dim)), LINEAR, view=True, outputs=...,
                 x=lambda gs, x_shape, sizes, dim: _split_rule(gs, x_shape, sizes, dim),
                 words={"x": "the gradients of the pieces, joined"}, batch="dims")
split_sizes = Op("split_with_sizes", split_.forward,                              LINEAR, view=True, outputs=...,
                 x=lambda gs, x_shape, sizes, dim: _split_rule(gs, x_shape, sizes, dim),
                 words={"x": "the gradients of the pieces, joined"}, batch="dims")

diagonal_back = Op("diagonal_backward", lambda x, shape, offset, dim1, dim2: _diagonal_back(x, shape, offset, dim1, dim2), LINEAR, node="DiagonalBackwardBackward0",
                 x=lambda g, offset, dim1, dim2: diagonal_(g, offset, dim1, dim2))
unfold_back = Op("unfold_backward", lambda x, shape, dim, size, step: _unfold_back(x, shape, dim, size, step), LINEAR, node="UnfoldBackwardBackward0",
                 x=lambda g, dim, size, step: unfold_(g, dim, size, step))
diag_embed_ = Op("diag_embed",  lambda x, offset, dim1, dim2: _diag_embed(x, offset, dim1, dim2), LINEAR, x=lambda g, offset, dim1, dim2: diagonal_(g, offset, dim1, dim2))
diagonal_copy = Op("diagonal_copy", lambda x, offset, dim1, dim2: np.array(np.diagonal(x, offset, dim1, dim2)), LINEAR, node="DiagonalBackward0_copy",
                 x=lambda g, x_shape, offset, dim1, dim2: diagonal_back(g, x_shape, offset, dim1, dim2),
                   words={"x": "g put back on the diagonal of zeros"}, batch="dims")
tril_       = Op("tril",        lambda x, diagonal: np.tril(x, diagonal),         LINEAR, x=lambda g, diagonal: tril_(g, diagonal), batch="same")
triu_       = Op("triu",        lambda x, diagonal: np.triu(x, diagonal),         LINEAR, x=lambda g, diagonal: triu_(g, diagonal), batch="same")
roll_       = Op("roll",        lambda x, shifts, dims: np.roll(x, shifts, dims), LINEAR, x=lambda g, shifts, dims: roll_(g, -shifts if dims is None else tuple([-n for n in shifts]), dims),
                 words={"x": "g rolled back"}, batch="dims")
rot90_      = Op("rot90",       lambda x, k, dims: np.ascontiguousarray(np.rot90(x, k, dims)), LINEAR, x=lambda g, k, dims: rot90_(g, -k, dims),
                 words={"x": "g turned back"}, batch="dims")
repeat_     = Op("repeat",      lambda x, repeats: np.tile(x, repeats),           LINEAR, x=lambda g, x_shape, repeats: _repeat_rule(g, x_shape, repeats),
                 words={"x": "g summed over the copies of {x}"})
clone       = Op("clone",       lambda x, order="K": copy_of(x, order),           LINEAR, x=lambda g: g, batch="same",
                 doc="A copy with numbers of its own. Gradients flow through it.")
copied      = Op("copy",        lambda x: np.array(x),                            LINEAR, x=lambda g: g, node="CopyBackwards", batch="same")
cast        = Op("to",          lambda x, dtype: copy_of(x, dtype=dtype),         LINEAR, x=lambda g: g, node="ToCopyBackward0", batch="same")  # the engine casts back
embed       = Op("embed",       lambda x, shape, key: _embed(x, shape, key),      LINEAR, x=lambda g, key: g[key])  # zeros with x at [key]
cat_        = Op("cat",         lambda xs, dim: np.concatenate(xs, dim),          LINEAR, tensor_list=True, x=lambda g, x_shape, dim: _cat_rule(g, x_shape, dim),
                 words={"x": "the piece of g that came from {x}"})
stack_      = Op("stack",       lambda xs, dim: np.stack(xs, dim),                LINEAR, tensor_list=True, x=lambda g, x_shape, dim: [select(g, dim, i) for i in range(len(x_shape))],
                 words={"x": "the slice of g that came from {x}"})
copy_slices = Op("copy_slices", lambda base, value, replay: _copy_slices(base, value, replay), LINEAR, node="CopySlices", args="base value", tensor_params=("replay",),
                 base=lambda g, replay: copy_slices(g, np.zeros((), "float32"), replay), value=lambda g, replay: replay(g),
                 words={"base": "g with zeros where {value} was written", "value": "the part of g where {value} was written"})
copy        = Op("copy",        lambda x, source: np.broadcast_to(source, x.shape), LINEAR, node="CopyBackwards", args="input source", x=lambda g: nothing(g), source=lambda g: g)
zero        = Op("zero",        lambda x: np.zeros(x.shape, x.dtype),              LINEAR, x=lambda g: nothing(g), batch="same")
fill        = Op("fill",        lambda x, value: np.full(x.shape, dtypes.fitting(value, dtypes.FROM_NUMPY[x.dtype]), x.dtype), GENERAL, x=lambda g: nothing(g), jvp=lambda t: nothing(t), node="FillBackward2", batch="same")
fill_tensor = Op("fill",        lambda x, value: np.broadcast_to(value, x.shape), LINEAR, x=lambda g: nothing(g), value=lambda g: g, args="input value", node="FillBackward3")
# fmt: on


def _diagonal_back(x, shape, offset, dim1, dim2):
    out = np.zeros(shape, x.dtype)
    np.einsum("...ii->...i", _square(out, offset, dim1, dim2))[...] = x
    return out


def _square(x, offset, dim1, dim2):
    """The square part of x whose main diagonal is the diagonal asked for, its two dimensions last."""
    x = np.moveaxis(x, (dim1, dim2), (-2, -1))
    x = x[..., builtins.max(-offset, 0) :, builtins.max(offset, 0) :]
    n = builtins.min(x.shape[-2:])
    return x[..., :n, :n]


def _diag_embed(x, offset, dim1, dim2):
    n = x.shape[-1] + builtins.abs(offset)
    shape = list(x.shape[:-1])
    for d in sorted((dim1, dim2)):
        shape.insert(d, n)
    return _diagonal_back(x, tuple(shape), offset, dim1, dim2)


def _unfold(x, dim, size, step):
    if not x.ndim:
        return x.reshape(1)[:size]
    windows = np.lib.stride_tricks.sliding_window_view(x, size, dim, writeable=True)
    return windows[(slice(None),) * dim + (slice(None, None, step),)]


def _unfold_back(x, shape, dim, size, step):
    if not shape:
        return x.sum(dtype=x.dtype)
    out = np.zeros(shape, x.dtype)
    windows = np.moveaxis(_unfold(out, dim, size, step), dim, 0)
    for window, g in zip(windows, np.moveaxis(x, dim, 0), strict=True):  # windows may overlap, so one after the other
        window += g
    return out


def _split_rule(gs, x_shape, sizes, dim):
    some = next(g for g in gs if g is not None)
    dtype = getattr(some, "array", some).dtype
    parts = [
        np.zeros(x_shape[:dim] + (n,) + x_shape[dim + 1 :], dtype) if g is None else g
        for g, n in zip(gs, sizes, strict=True)
    ]
    return cat_(parts, dim)


def _repeat_rule(g, x_shape, repeats):
    """Each dimension becomes (times, size); the sum over the times is the gradient."""
    x_shape = (1,) * (len(repeats) - len(x_shape)) + tuple(x_shape)
    pairs = tuple([n for pair in zip(repeats, x_shape, strict=True) for n in pair])
    return reshape(g, pairs).sum(tuple(range(0, len(pairs), 2)))  # the engine drops leading ones


def _view(x, shape):
    out = x.reshape(shape)
    if x.size and not np.may_share_memory(out, x):
        raise errors.new(ValueError, "no strides over the same storage give this shape")
    return out


def _embed(x, shape, key):
    out = np.zeros(shape, x.dtype)
    out[key] = x
    return out


def _copy_slices(base, value, replay):
    """`base` with `value` written where the view is: the history of a base after a write through one of its views."""
    out = replay.laid_out(base)
    replay(out)[...] = value
    return out


def cartesian_prod(*tensors):
    """All combinations of one number of each vector, as rows."""
    if len(tensors) == 1:
        return tensors[0]
    return stack([reshape(x, (-1,)) for x in meshgrid(*tensors, indexing="ij")], 1)


def combinations(input, r=2, with_replacement=False):
    """All combinations of r elements of a vector, as rows, in order."""
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    places = np.array(list(choose(range(input.numel()), r)), np.int64).reshape(-1, r)
    return input[wrap(places)]


def block_diag(*tensors):
    """The matrices along the diagonal of a larger one, zeros elsewhere."""
    blocks = [atleast_2d(x) for x in tensors]
    width, at, rows = builtins.sum([b.shape[1] for b in blocks]), 0, []
    for b in blocks:
        rows.append(embed(b, (b.shape[0], width), (slice(None), slice(at, at + b.shape[1]))))
        at += b.shape[1]
    return cat(rows, 0)


def vander(x, N=None, increasing=False):
    """The powers of each number of a vector as a row: from N - 1 (default: as many as numbers) down to 0, or up from 0."""
    n = x.numel() if N is None else N
    powers = range(n) if increasing else range(n - 1, -1, -1)
    return stack([x**k for k in powers], 1)


def _cat_rule(g, shapes, dim):
    parts, start = [], 0
    for shape in shapes:
        size = shape[dim] if len(shape) > 0 else 1
        parts.append(slice_(g, dim, start, start + size, 1))
        start += size
    return parts


def _unbind(x, dim):
    moved = np.moveaxis(x, dim, 0)
    return tuple([moved[i, ...] for i in range(len(moved))])  # with `...` an element is a 0-d view, not a number


def _diagonal(x, offset, dim1, dim2):
    view = np.diagonal(x, offset, dim1, dim2)
    view.flags.writeable = x.flags.writeable  # numpy hands it out read-only; PyTorch's may be written to
    return view


def _unbind_rule(gs, x_shape, dim):
    rest = x_shape[:dim] + x_shape[dim + 1 :]
    some = next(g for g in gs if g is not None)
    zero = np.zeros(rest, getattr(some, "array", some).dtype)
    return stack_([zero if g is None else g for g in gs], dim)


# Functions that check their arguments and choose a row ---------------------------------------------------------------------


def _sizes(function, name, shape):
    """`shape` as whole numbers. Raises PyTorch's error for anything else."""
    if not isinstance(shape, (tuple, list)):
        raise errors.new(
            TypeError,
            f"{function}(): argument '{name}' (position 2) must be tuple of ints, not {errors.type_name(shape)}",
        )
    try:
        return tuple([n if type(n) is int else n.__index__() for n in shape])
    except (AttributeError, TypeError):
        at, wrong = next((i, n) for i, n in enumerate(shape) if not hasattr(n, "__index__"))
        found = f"found element of type {errors.type_name(wrong)} at pos {at}"
        raise errors.new(TypeError, f"{function}(): argument '{name}' must be tuple of ints, but {found}") from None


def _resolve(x_shape, shape):
    """`shape` with its one -1 filled in. Raises PyTorch's error if the numbers do not fit."""
    total = 1
    for n in x_shape:
        total *= n
    known, free = 1, None
    for i, n in enumerate(shape):
        if n == -1 and free is None:
            free = i
        elif n == -1:
            raise errors.new(RuntimeError, "only one dimension can be inferred")
        elif n < 0:
            raise errors.new(RuntimeError, f"invalid shape dimension {n} at index {i} of shape {list(shape)}")
        else:
            known *= n
    if free is not None and not total and not known:
        raise errors.new(
            RuntimeError,
            f"cannot reshape tensor of 0 elements into shape {list(shape)} because the unspecified dimension size -1 can be any value and is ambiguous",
        )
    if free is not None and known and total % known == 0:
        return shape[:free] + (total // known,) + shape[free + 1 :]
    if free is None and known == total:
        return shape
    raise errors.new(
        RuntimeError,
        f"shape '{list(shape)}' is invalid for input of size {total}",
        f"The tensor of shape {tuple(x_shape)} holds {total} numbers, the new shape {shape} would hold {known}{' times something' * (free is not None)}.",
        "A reshape keeps every number.",
        "make the product of the sizes equal; one size may be -1, it is then computed.",
        "chapter 09, Tensors",
        SizeMismatch(total, tuple(shape)),
    )


def reshape(input, shape):
    """The numbers of `input` in another shape: a view where the strides allow it, otherwise a copy."""
    if not hasattr(input, "array"):
        return asarray(input).reshape(shape)
    shape = _resolve(input.array.shape, _sizes("reshape", "shape", shape))
    try:
        return (view if input.array.flags.c_contiguous else reshape_alias)(input, shape)
    except ValueError:
        return unsafe_view(clone(input, "C"), shape)


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
    shape = _resolve(input.array.shape, _sizes("view", "size", size))
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


def cat(tensors, dim=0):
    """The tensors joined along an existing dimension; all other sizes must agree.
    Raises ValueError for no tensors, RuntimeError for shapes that do not fit.

    >>> import minigrad as torch
    >>> torch.cat([torch.ones(2), torch.zeros(1)])
    tensor([1., 1., 0.])
    """
    tensors = _listed(tensors, "cat")
    if not tensors:
        raise errors.new(
            ValueError,
            "torch.cat(): expected a non-empty list of Tensors",
            instead="join at least one tensor; torch.empty(0) joins anything.",
        )
    first = next((x for x in tensors if x.shape != (0,)), tensors[0])
    for position, x in enumerate(tensors):
        if x.ndim == 0:
            raise errors.new(RuntimeError, f"zero-dimensional tensor (at position {position}) cannot be concatenated")
    dim = wrap_dim(dim, first.ndim)
    for position, x in enumerate(tensors):
        if x.ndim != first.ndim and x.shape != (0,):
            raise errors.new(
                RuntimeError, f"Tensors must have same number of dimensions: got {first.ndim} and {x.ndim}"
            )
        for d, (n, m) in enumerate(zip(first.shape, x.shape, strict=False)):
            if d != dim and n != m and x.shape != (0,):
                raise errors.new(
                    RuntimeError,
                    f"Sizes of tensors must match except in dimension {dim}. Expected size {n} but got size {m} for tensor number {position} in the list.",
                    facts=CatMismatch(dim),
                )
    common = result_type(*tensors)
    nothing = (
        *first.shape[:dim],
        0,
        *first.shape[dim + 1 :],
    )  # an empty vector joins anything, and gets a gradient as empty as it is
    alike = [
        x if x.ndim == first.ndim else x.reshape(nothing) for x in tensors if x.ndim == first.ndim or x.requires_grad
    ]
    return cat_([x.to(common) for x in alike], dim)


def _listed(tensors, name):
    """The tensors to join as a list. Raises TypeError if they are not a list or tuple of tensors."""
    if hasattr(tensors, "array") or not isinstance(tensors, (list, tuple)):
        raise errors.new(
            TypeError,
            f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not {type(tensors).__name__}",
            instead=f"put the tensors into a list: {name}([x, y]).",
        )
    for position, x in enumerate(tensors):
        if not hasattr(x, "array"):
            raise errors.new(
                TypeError, f"expected Tensor as element {position} in argument 0, but got {type(x).__name__}"
            )
    return list(tensors)


def result_type(*tensors):
    return functools.reduce(dtypes.promote_types, [x.dtype for x in tensors])


def stack(tensors, dim=0):
    """The tensors, all of one shape, joined along a new dimension. Raises RuntimeError for none, and for different shapes."""
    tensors = _listed(tensors, "stack")
    if not tensors:
        raise errors.new(RuntimeError, "stack expects a non-empty TensorList")
    first = tensors[0]
    for position, x in enumerate(tensors):
        if x.shape != first.shape:
            raise errors.new(
                RuntimeError,
                f"stack expects each tensor to be equal size, but got {list(first.shape)} at entry 0 and {list(x.shape)} at entry {position}",
                facts=StackMismatch(),
            )
    common = result_type(*tensors)
    return stack_([x.to(common) for x in tensors], wrap_dim(dim, first.ndim + 1))


def unbind(input, dim=0) -> tuple:
    """The slices of `input` along `dim`, as a tuple of views."""
    dim = wrap_dim(dim, input.ndim)
    return unbind_(input, wrap_dim(dim, input.ndim, scalar=False))


def dims_of(dim, ndim):
    """A dim argument (None, an int or several) as a tuple counted from the front; for a 0-d tensor (). Raises on repetition."""
    if dim is None:
        return tuple(range(ndim))
    if isinstance(dim, builtins.bool):
        raise errors.new(
            TypeError,
            "argument 'dim' must be int or tuple of ints, not bool",
            instead="keepdim=True has a name of its own.",
        )
    if isinstance(dim, (int, np.integer)):
        dim = wrap_dim(int(dim), ndim)
        return (dim,) if ndim else ()
    if not isinstance(dim, (tuple, list)) or any([isinstance(d, (str, float)) for d in dim]):
        raise errors.new(
            TypeError,
            f"argument 'dim' must be int or tuple of ints, not {errors.type_name(dim)}",
            instead="x.sum(dim=0), x.sum((0, 1)).",
        )
    dims = tuple([wrap_dim(int(d), ndim) for d in dim])
    if len(builtins.set(dims)) != len(dims):
        repeated = next(d for d in dims if dims.count(d) > 1)
        raise errors.new(RuntimeError, f"dim {repeated} appears multiple times in the list of dims")
    return dims if ndim else ()


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
        parts = _resolve((shape[dim],), sizes)
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
    repeats = _sizes("repeat", "repeats", repeats)
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
    """The elements moved on by `shifts` places along `dims`, what falls off at the end comes in at the front.
    Raises RuntimeError for different numbers of shifts and dims."""
    shifts = _sizes("roll", "shifts", (shifts,) if isinstance(shifts, int) else shifts)
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


def broadcast_shapes(*shapes):
    """The shape that tensors of these shapes are broadcast to. Raises RuntimeError if they do not fit, ValueError for negative sizes."""
    for s in shapes:
        if not isinstance(s, (int, tuple, list)):
            raise errors.new(
                RuntimeError, f"Input shapes should be of type ints, a tuple of ints, or a list of ints, got {s}"
            )
        if any([n < 0 for n in ((s,) if isinstance(s, int) else s)]):
            raise errors.new(ValueError, "Attempting to broadcast a dimension with negative length!")
    return Size(np.broadcast_shapes(*[(s,) if isinstance(s, int) else tuple(s) for s in shapes]))


def broadcast_tensors(*tensors):
    """The tensors, each expanded (a view) to the shape of all."""
    shape = np.broadcast_shapes(*[x.array.shape for x in tensors])
    return tuple([x.expand(*shape) for x in tensors])


def meshgrid(*tensors, indexing=None):
    """One grid for each vector: its numbers along its own dimension, the same along all others.
    Raises RuntimeError for matrices, and for another `indexing`."""
    if len(tensors) == 1 and not hasattr(tensors[0], "array"):
        tensors = tuple(tensors[0])
    if indexing is None:
        errors.warn("torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument.")
        indexing = "ij"
    if indexing not in ("ij", "xy"):
        raise errors.new(
            RuntimeError, f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}'
        )
    for x in tensors:
        if x.ndim > 1:
            text = str(x.detach()).removeprefix("tensor(").split("]")[0].lstrip("[")
            raise errors.new(
                RuntimeError,
                f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got:  {text.replace(',', '')}",
                f"One of the tensors has shape {tuple(x.shape)}.",
                instead="pass one vector for each dimension of the grid.",
            )
    if any([x.array.dtype is not tensors[0].array.dtype for x in tensors]):
        raise errors.new(
            RuntimeError, "meshgrid expects all tensors to have the same dtype", instead="convert them: x.to(y.dtype)."
        )
    places = list(range(len(tensors)))  # the dimension of the grid along which each vector runs
    if indexing == "xy" and len(tensors) > 1:
        places[:2] = 1, 0
    shape = tuple([tensors[places.index(i)].numel() for i in range(len(tensors))])
    return tuple(
        [
            reshape(x, tuple([-1 if i == d else 1 for i in range(len(shape))])).expand(*shape)
            for d, x in zip(places, tensors, strict=True)
        ]
    )


def hstack(tensors):
    """Joined side by side: along dim 1, vectors along dim 0."""
    tensors = atleast_1d(tensors)
    return cat(tensors, 0 if tensors[0].ndim == 1 else 1)


def vstack(tensors):
    """Joined on top of each other: vectors are rows."""
    return cat(atleast_2d(tensors), 0)


def dstack(tensors):
    """Joined along a third dimension."""
    return cat(atleast_3d(tensors), 2)


def column_stack(tensors):
    """Joined side by side; vectors are columns."""
    return hstack([reshape(x, (-1, 1)) if x.ndim <= 1 else x for x in tensors])


def _each(function):
    """Decorator: of one tensor the result, of several (or a sequence) a tuple of results."""

    @functools.wraps(function)
    def wrapped(*tensors):
        if len(tensors) == 1 and hasattr(tensors[0], "array"):
            return function(tensors[0])
        return tuple([function(x) for x in (tensors[0] if len(tensors) == 1 else tensors)])

    return wrapped


@_each
def atleast_1d(input):
    """With at least one dimension."""
    return reshape(input, (1,)) if input.ndim == 0 else input


@_each
def atleast_2d(input):
    """With at least two dimensions: a vector becomes a row."""
    return reshape(input, (1, 1)) if input.ndim == 0 else unsqueeze(input, 0) if input.ndim == 1 else input


@_each
def atleast_3d(input):
    """With at least three dimensions: a matrix gets a third one of size 1."""
    x = atleast_2d(input)
    return unsqueeze(x, 2) if x.ndim == 2 else x


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
    """The sum over the dimensions that broadcasting would add or widen to come from `size` to the shape of `input`.

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


# PyTorch's functions where the row has their name


def expand_checked(input, size):
    """`input` repeated along dimensions of size 1 (-1: as it is), without copying. Raises RuntimeError where the size is not 1."""
    old, size = input.array.shape, _sizes("expand", "size", size)
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
