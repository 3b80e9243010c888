"""torch.linalg: names only, and norms of matrices.

What does not live here: the rows (ops/linalg.py, ops/reduce.py).
"""
# ruff: noqa: I001  (names side by side)

import math
from types import FunctionType

from .core import errors
from .core.arguments import forgiving
from .core.errors import LinAlgError
from .ops.linalg import (
    cholesky, cond, cross, det, eigh, eigvalsh, inv, inv_ex, matmul, matrix_power, matrix_rank, multi_dot, pinv, qr, slogdet, solve,
    solve_triangular, svd, svdvals, tensorinv, tensorsolve,
)  # fmt: skip
from .ops.reduce import amax, amin, vector_norm
from .ops.views import diagonal as _diagonal
from .ops.dims import dims_of
from .ops.joins import stack as _stack

__all__ = [
    "LinAlgError", "cholesky", "cond", "cross", "det", "diagonal", "eigh", "eigvalsh", "inv", "inv_ex", "matmul", "matrix_norm",
    "matrix_power", "matrix_rank", "multi_dot", "norm", "pinv", "qr", "slogdet", "solve", "solve_triangular", "svd", "svdvals", "tensorinv",
    "tensorsolve", "vander", "vecdot", "vector_norm",
]  # fmt: skip


def diagonal(A, *, offset=0, dim1=-2, dim2=-1):
    """The diagonal of the last two dimensions (a view)."""
    return _diagonal(A, offset, dim1, dim2)


def vander(x, *, N=None):
    """The powers 0 to N - 1 (default: as many as numbers) of each number, as a new last dimension; a 0-d tensor is a vector of one."""
    x = x if x.ndim else x.reshape(1)
    return _stack([x**k for k in range(x.shape[-1] if N is None else N)], -1)


def vecdot(x, y, *, dim=-1):
    """The dot products along one dimension."""
    return (x * y).sum(dim)


def norm(A, ord=None, dim=None, keepdim=False, *, dtype=None):
    """A vector norm, or for two dimensions and an `ord` a matrix norm; without `ord` the 2-norm of all elements."""
    if ord is not None and (
        isinstance(ord, str) or (A.ndim == 2 and dim is None) or (isinstance(dim, (tuple, list)) and len(dim) == 2)
    ):
        return matrix_norm(A, ord, (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
    return vector_norm(A, 2 if ord is None else ord, dim, keepdim, dtype=dtype)


def matrix_norm(A, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None):
    """The norm of matrices.

    ord  "fro": root of the sum of squares; "nuc": sum of the singular values; 2 and -2: the largest and the smallest of them; 1 and inf:
         the largest sum of absolute values of a column, of a row (-1, -inf: the smallest)
    Raises RuntimeError for another `ord`.
    """
    if dtype is not None:
        A = A.to(dtype)
    row, column = dims_of(dim, A.ndim)
    if ord == "fro":
        return vector_norm(A, 2, (row, column), keepdim)
    if ord in ("nuc", 2, -2):
        values = svdvals(A.movedim((row, column), (-2, -1)))
        out = (
            values.sum(-1)
            if ord == "nuc" or (ord == 2 and not values.shape[-1])
            else (amax if ord > 0 else amin)(values, -1)
        )
        return out.unsqueeze(min(row, column)).unsqueeze(max(row, column)) if keepdim else out
    if ord not in (1, -1, math.inf, -math.inf):
        instead = "use 'fro', 'nuc', 1, -1, 2, -2, inf or -inf."
        raise errors.new(RuntimeError, f"linalg.matrix_norm: Order {ord} not supported.", instead=instead)
    inner, outer = (row, column) if ord in (1, -1) else (column, row)
    sums = vector_norm(A, 1, inner, keepdim)
    if ord > 0 and not A.shape[outer]:  # the largest of no sums is 0
        return sums.sum(outer if keepdim or outer < inner else outer - 1, keepdim)
    return (amax if ord > 0 else amin)(sums, outer if keepdim or outer < inner else outer - 1, keepdim)


__getattr__ = errors.unknown_in("minigrad.linalg", lambda: __all__)


for _name in __all__:  # PyTorch calls the first argument `input`, its documentation calls it A or x; out=
    if type(globals()[_name]) is FunctionType:
        globals()[_name] = forgiving(globals()[_name], _name)
