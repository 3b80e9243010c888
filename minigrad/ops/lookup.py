"""Rows: what layers without structure do: matrix product plus bias, and the rows of a table by number (embedding).

What does not live here: indexing with brackets (index.py).
"""

from ..core.op import GENERAL, LINEAR, Op
from ..kernels import scatter
from ..kernels.positions import bincount, picked
from .elementwise import nothing
from .linalg import mm_
from .shape import t


def _backward(g, indices, count, padding_idx, by_frequency):
    if by_frequency:  # a row that was looked up n times gets the mean, not the sum
        g = g / bincount(indices.ravel(), minlength=count)[indices][..., None].astype(g.dtype)
    out = scatter.rows(indices, g, count)
    if padding_idx is not None:
        out[padding_idx] = 0
    return out


def _backward_rule(g, indices, padding_idx, by_frequency, count):
    out = embedding_(g, indices, None, False)
    if padding_idx is not None:
        out = out * (indices != padding_idx)[..., None]
    if by_frequency:
        array = getattr(indices, "array", indices)
        out = out / bincount(array.ravel(), minlength=count)[array][..., None].astype("float32")
    return out


# fmt: off
embedding_ = Op("embedding", lambda weight, indices, padding_idx, by_frequency: picked(weight, indices, 0), LINEAR, args="weight indices",
                weight=lambda g, weight_shape, indices, padding_idx, by_frequency:
                embedding_backward(g, indices, weight_shape[0], padding_idx, by_frequency), indices=None,
                words={"weight": "g added to the rows that were looked up"})
embedding_backward = Op("embedding_dense_backward", _backward, LINEAR, args="grad_output indices", g_out=_backward_rule, indices=None,
                        words={"g_out": "g read at the rows that were looked up"})
# fmt: on


def _addmm_jvp(ts, x, y):
    tb, tx, ty = ts
    parts = [] if tx is None else [mm_(tx, y)]
    parts += [] if ty is None else [mm_(x, ty)]
    out = parts[0] + parts[1] if len(parts) == 2 else parts[0] if parts else nothing(mm_(x, y))
    return out if tb is None else out + tb


def _addmm(b, x, y):
    out = x @ y
    out += b
    return out


# fmt: off
addmm_ = Op("addmm", _addmm, GENERAL, args="input mat1 mat2", saved_as={"x": "mat1", "y": "mat2"}, jvp=_addmm_jvp,
            one_dtype={"b y": "self and mat2 must have the same dtype, but got {b} and {y}",
                       "x y": "mat1 and mat2 must have the same dtype, but got {x} and {y}"},
            b=lambda g: g, x=lambda g, y: mm_(g, t(y)),
            y=lambda g, x: t(mm_(t(g), x)),
            words={"x": "beta × g", "b": "alpha × {a}ᵀ @ g"})  # not x.T g: so it is contiguous for the weight whose transpose y is
# fmt: on
