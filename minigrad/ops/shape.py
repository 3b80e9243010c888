"""Rows: the same numbers in another arrangement. Views (they share their input's storage), copies and joins.

The rules of these rows use each other, so the rows are one table. The functions that check arguments and choose a row are in views.py
and joins.py. A view row's forward must return a numpy view, never a copy.
"""

import builtins

import numpy as np
from numpy import asarray, ndarray

from ..core import dtypes, errors
from ..core.op import GENERAL, LINEAR, Op
from ..core.storage import copy_of
from .dims import resolved_shape, sizes_of
from .elementwise import nothing


def _array(x):
    return x if type(x) is ndarray else asarray(x)


def _expand(x, shape):
    """np.broadcast_to in a tenth of its time, for contiguous and other arrays."""
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


def reshape(input, shape):
    """The numbers of `input` in another shape: a view where the strides allow it, otherwise a copy."""
    if not hasattr(input, "array"):
        return asarray(input).reshape(shape)
    shape = resolved_shape(input.array.shape, sizes_of("reshape", "shape", shape))
    try:
        return (view if input.array.flags.c_contiguous else reshape_alias)(input, shape)
    except ValueError:
        return unsafe_view(clone(input, "C"), shape)
