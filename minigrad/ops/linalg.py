"""Rows: matrix products.

What does not live here: sums of elementwise products that need no row of their own (outer). matmul() chooses the row by rank, as PyTorch does.
"""

import math
from typing import Any

import numpy as np

from ..core import errors
from ..core.facts import ProductMismatch
from ..core.op import GENERAL, LINEAR, MULTILINEAR, Op
from ..core.return_types import named
from ..core.slow_path import wrong_type
from ..core.variable import wrap
from .dims import wrap_dim
from .elementwise import mul, where
from .joins import cat
from .reduce import _norm, _norm_rule, sum_dim
from .shape import copy, diag_embed_, diagonal_back, expand, reshape, squeeze_row, t, transpose, tril_, triu_, unsqueeze


def mT(x):
    """The last two dimensions exchanged."""
    return transpose(x, -2, -1)


# The sentences for inputs of several dtypes
_MM = {"x y": "expected m1 and m2 to have the same dtype, but got: {x_c} != {y_c}"}
_MV = {"x y": "addmv input tensors must have the same dtype, but got {y}, {x}, and {y}"}
_BMM = {"x y": "expected scalar type {x} but found {y}"}
_DOT = {"x y": "dot : expected both vectors to have same dtype, but found {x} and {y}"}
_ADDMM = {
    "x b": "self and mat2 must have the same dtype, but got {x} and {b}",
    "a b": "mat1 and mat2 must have the same dtype, but got {a} and {b}",
}
_ADDMV = dict.fromkeys(["x b", "a b"], "addmv input tensors must have the same dtype, but got {x}, {a}, and {b}")
_BADDBMM = {"a b": "expected scalar type {a} but found {b}", "x b": "expected scalar type {b} but found {x}"}

# fmt: off
# name    forward             kind         rules
dot_  = Op("dot",    np.dot,    MULTILINEAR, refuses=("?", "dot"), x=lambda g, y: g * y,              y=lambda g, x: g * x,           args="input tensor", one_dtype=_DOT)
mv_   = Op("mv",     np.matmul, MULTILINEAR, refuses=("?", "addmv_impl_cpu"), x=lambda g, y: outer(g, y),        y=lambda g, x: mv_(t(x), g),    args="input vec", one_dtype=_MV, formula="x @ y")
mm_   = Op("mm",     np.matmul, MULTILINEAR, refuses=("?", "addmm_impl_cpu_"), x=lambda g, y: mm_(g, t(y)),       y=lambda g, x: mm_(t(x), g),    args="input mat2", one_dtype=_MM, formula="x @ y")
bmm_  = Op("bmm",    np.matmul, MULTILINEAR, refuses=("?", "bmm"), x=lambda g, y: bmm_(g, mT(y)),     y=lambda g, x: bmm_(mT(x), g),  args="input mat2", one_dtype=_BMM, formula="x @ y")
bmm_n = Op("matmul", np.matmul, MULTILINEAR, refuses=("?", "bmm"), x=lambda g, y: bmm_n(g, mT(y)),    y=lambda g, x: bmm_n(mT(x), g), node="UnsafeViewBackward0", one_dtype=_BMM, formula="x @ y")
vdot_ = Op("vdot",   np.dot,    MULTILINEAR, refuses=("?", "dot"), x=lambda g, y: g * y,              y=lambda g, x: g * x,           one_dtype=_DOT)
cross_ = Op("linalg_cross", lambda x, y, dim: np.cross(x, y, axis=dim), MULTILINEAR, x=lambda g, y, dim: cross_(y, g, dim), y=lambda g, x, dim: cross_(g, x, dim), batch="full dims")
trace_ = Op("trace", lambda x: np.trace(x, dtype=None if x.dtype.kind == "f" else np.int64), LINEAR, refuses=("?", "trace"),                 x=lambda g, x_shape: diagonal_back(expand(g, (min(x_shape),)), x_shape, 0, 0, 1),
            words={"x": "g on the diagonal of zeros"})

# A product added to something: PyTorch runs these as one operation.
addmm_   = Op("addmm",   lambda x, a, b, beta, alpha: _times(beta, x) + _times(alpha, a @ b), GENERAL, refuses=("?", "addmm_impl_cpu_"), args="input mat1 mat2", one_dtype=_ADDMM,
              x=lambda g, beta: _times(beta, g), a=lambda g, b, alpha: _times(alpha, mm_(g, t(b))), b=lambda g, a, alpha: _times(alpha, mm_(t(a), g)),
              words={"x": "beta × g", "a": "alpha × g @ {b}ᵀ", "b": "alpha × {a}ᵀ @ g"})
addmv_   = Op("addmv",   lambda x, a, b, beta, alpha: _times(beta, x) + _times(alpha, a @ b), GENERAL, refuses=("?", "addmv_impl_cpu"), args="input mat vec", one_dtype=_ADDMV,
              x=lambda g, beta: _times(beta, g), a=lambda g, b, alpha: _times(alpha, outer(g, b)), b=lambda g, a, alpha: _times(alpha, mv_(t(a), g)),
              words={"x": "beta × g", "a": "alpha × outer(g, {b})", "b": "alpha × {a}ᵀ @ g"})
baddbmm_ = Op("baddbmm", lambda x, a, b, beta, alpha: _times(beta, x) + _times(alpha, a @ b), GENERAL, refuses=("?", "baddbmm"), args="input batch1 batch2", one_dtype=_BADDBMM,
              x=lambda g, beta: _times(beta, g), a=lambda g, b, alpha: _times(alpha, bmm_(g, mT(b))), b=lambda g, a, alpha: _times(alpha, bmm_(mT(a), g)),
              words={"x": "beta × g", "a": "alpha × g @ {b}ᵀ", "b": "alpha × {a}ᵀ @ g"})
addbmm_  = Op("addbmm",  lambda x, a, b, beta, alpha: _times(beta, x) + _times(alpha, (a @ b).sum(0)), GENERAL, refuses=("?", "bmm"), args="input batch1 batch2", one_dtype=_ADDMM,
              x=lambda g, beta: _times(beta, g), a=lambda g, b, alpha: _times(alpha, bmm_n(g, mT(b))), b=lambda g, a, alpha: _times(alpha, bmm_n(mT(a), g)),
              words={"x": "beta × g", "a": "alpha × g @ {b}ᵀ", "b": "alpha × {a}ᵀ @ g"})

# Square matrices, also in batches. Derivations: Giles, Collected matrix derivative results for forward and reverse mode (2008).
inv_     = Op("linalg_inv_ex", np.linalg.inv, GENERAL, args="A",      x=lambda g, out: -(mT(out) @ g @ mT(out)), batch="full")
solve_   = Op("linalg_solve_ex", lambda A, B: _solve(A, B), GENERAL, args="A B",
              A=lambda g, A, out: _solve_rule(g, A, out),     B=lambda g, A: solve_(mT(A), g))
det_     = Op("linalg_det", lambda A: np.linalg.det(A), GENERAL, args="A", A=lambda g, A: _wide(g) * cofactors(A),
              words={"A": "g × the cofactors of {A}"}, batch="full")
cofactors = Op("cofactors", lambda A: _cofactors(A), GENERAL, args="A", A=lambda g, A: _cofactor_rule(g, A),
               words={"A": "g through the cofactors of {A}"}, batch="full")  # d det / d A, also of singular matrices
slogdet_ = Op("linalg_slogdet", lambda A: tuple(np.linalg.slogdet(A)), GENERAL, outputs=("sign", "logabsdet"), args="A",
              A=lambda gs, A: _wide(gs[1]) * mT(inv_(A)) if gs[1] is not None else None,
              words={"A": "g times the inverse of {A}, transposed"}, batch="full")
cholesky_ = Op("linalg_cholesky_ex", np.linalg.cholesky, GENERAL, x=lambda g, out: _cholesky_rule(g, out),
               words={"x": "g through the triangular factor {out}, made symmetric"}, batch="full")
eigh_    = Op("linalg_eigh", lambda A, UPLO: tuple(np.linalg.eigh(A, UPLO)), GENERAL, outputs=("eigenvalues", "eigenvectors"), args="A",
              A=lambda gs, eigenvalues, eigenvectors: _eigh_rule(gs, eigenvalues, eigenvectors), batch="full")
svd_     = Op("linalg_svd", lambda A, full: tuple(np.linalg.svd(A, full)), GENERAL, outputs=("U", "S", "Vh"), args="A",
              A=lambda gs, U, S, Vh: _svd_rule(gs, U, S, Vh), batch="full")
qr_      = Op("linalg_qr", lambda A, mode: tuple(np.linalg.qr(A, mode)), GENERAL, outputs=("Q", "R"), args="A", A=lambda gs, Q, R: _qr_rule(gs, Q, R), batch="full")
cdist_   = Op("cdist", lambda x, y, p: _norm(x[..., :, None, :] - y[..., None, :, :], p, (-1,), False), GENERAL, args="x1 x2",  # distances of all pairs
              x=lambda g, x, y, out, p: sum_dim(_pull(g, x, y, out, p), (g.ndim - 1,)),     y=lambda g, x, y, out, p: -sum_dim(_pull(g, x, y, out, p), (g.ndim - 2,)),
              words={"x": "g × the directions from {y} to {x}, summed", "y": "g × the directions from {x} to {y}, summed"})
# fmt: on


def _pull(g, x, y, distance, p):
    """The gradient of each distance by the difference of its two points."""
    last = (g.ndim,)
    if p == 0:  # a count
        return unsqueeze(g, g.ndim) * 0 * (unsqueeze(x, x.ndim - 1) - unsqueeze(y, y.ndim - 2))
    return _norm_rule(
        unsqueeze(g, g.ndim), unsqueeze(x, x.ndim - 1) - unsqueeze(y, y.ndim - 2), unsqueeze(distance, g.ndim), p, last
    )


def _times(number, x):
    return x if number == 1 else x * number


def _wide(g):
    """One number for each matrix, ready to be multiplied with the matrices."""
    return reshape(g, (*g.shape, 1, 1))


def are_vectors(A, B):
    """Is B one vector, or one for each matrix in the batch A? Otherwise its last two dimensions are matrices."""
    return B.ndim == 1 or (B.ndim == A.ndim - 1 and B.shape == A.shape[:-1])


def _solve(A, B):
    return np.linalg.solve(A, B[..., None])[..., 0] if are_vectors(A, B) else np.linalg.solve(A, B)


def _solve_rule(g, A, out):
    """-(A^-T g) out^T; a vector is a matrix with one column."""
    x = solve_(mT(A), g)
    if are_vectors(A, out):
        x, out = unsqueeze(x, x.ndim), unsqueeze(out, out.ndim)
    return -(x @ mT(out))


def _cofactors(A):
    """With A = U S V: det(U) det(V) times U, the products of all singular values but one, and V. No division, so A may be singular."""
    u, s, v = np.linalg.svd(A)
    n = s.shape[-1]
    if not n:
        return A.copy()
    others = np.stack([np.delete(s, i, -1).prod(-1) for i in range(n)], -1)
    return (np.linalg.det(u) * np.linalg.det(v))[..., None, None] * ((u * others[..., None, :]) @ v)


def _cofactor_rule(g, A):
    """C = det(A) W with W the transposed inverse: dC = det(A) (<W, dA> W - W dA' W)."""
    w = mT(inv_(A))
    return _wide(det_(A)) * (_wide(sum_dim(g * w, (A.ndim - 2, A.ndim - 1))) * w - w @ mT(g) @ w)


def _cholesky_rule(g, L):
    half = tril_(mT(L) @ g, 0)
    half = half - 0.5 * tril_(triu_(half, 0), 0)
    s = mT(solve_(mT(L), mT(solve_(mT(L), half))))
    return 0.5 * (s + mT(s))


def _differences(s):
    """1 / (s[j] - s[i]), and 0 on the diagonal."""
    d = unsqueeze(s, s.ndim - 1) - unsqueeze(s, s.ndim)
    return where(d == 0, 0, 1 / where(d == 0, 1, d))


def _diagonals(s):
    return diag_embed_(s, 0, s.ndim - 1, s.ndim)


def _eigh_rule(gs, w, V):
    """V (diag(gw) + F * skew(V^T gV)) V^T with F the inverse differences of the eigenvalues.

    A step along V times a symmetric matrix would leave the orthogonal matrices: only the skew part counts, and the gradient is symmetric.
    """
    gw, gV = gs
    inner = 0
    if gw is not None:
        inner = _diagonals(gw)
    if gV is not None:
        along = mT(V) @ gV
        inner = inner + _differences(w) * (along - mT(along)) * 0.5
    return V @ inner @ mT(V)


def _svd_rule(gs, U, S, Vh):
    """Townsend, Differentiating the singular value decomposition (2016)."""
    gU, gS, gVh = gs
    k = S.shape[-1]
    if U.shape[-1] != k or Vh.shape[-2] != k:
        U, Vh = U[..., :, :k], Vh[..., :k, :]
    s = unsqueeze(S, S.ndim - 1)
    E = _differences(S * S)
    inner = 0 if gS is None else _diagonals(gS)
    out = 0
    if gU is not None:
        gU = gU[..., :, :k] if gU.shape[-1] != k else gU
        a = E * (mT(U) @ gU)
        inner = inner + (a + mT(a)) * s
        out = out + (gU / s - U @ (mT(U) @ gU / s)) @ Vh if U.shape[-2] > k else out
    if gVh is not None:
        gVh = gVh[..., :k, :] if gVh.shape[-2] != k else gVh
        a = E * (Vh @ mT(gVh))
        inner = inner + mT(s) * (a + mT(a))
        out = out + U @ ((gVh - gVh @ mT(Vh) @ Vh) / mT(s)) if Vh.shape[-1] > k else out
    return U @ inner @ Vh + out


def _qr_rule(gs, Q, R):
    """Walter and Lehmann, Walk through automatic differentiation for QR (2018), for matrices at least as high as wide."""
    gQ, gR = gs
    if Q.shape[-1] != R.shape[-1]:
        raise errors.new(
            RuntimeError, "The QR decomposition is not differentiable when mode='complete' and nrows > ncols"
        )
    m = gR @ mT(R) if gR is not None else 0
    m = m if gQ is None else m - mT(Q) @ gQ
    inner = Q @ (triu_(m, 0) + mT(triu_(m, 1)))
    inner = inner if gQ is None else inner + gQ
    return mT(solve_(R, mT(inner)))


def outer(input, vec2):
    """The matrix of all products of two vectors. Raises RuntimeError for other shapes."""
    if not hasattr(input, "array") and not hasattr(vec2, "array"):
        return np.multiply.outer(input, vec2)
    for name, x in (("self", input), ("vec2", vec2)):
        if x.ndim != 1:
            raise errors.new(
                RuntimeError,
                f"outer: Expected 1-D argument {name}, but got {x.ndim}-D",
                instead="x[:, None] * y multiplies other shapes.",
            )
    return mul(unsqueeze(input, 1), vec2)


def matmul(input, other):
    """The product by rank: vectors give a dot product, matrices the matrix product, more dimensions a batch of products (broadcast).
    Raises RuntimeError for shapes that do not fit, and for different dtypes.

    >>> import minigrad as torch
    >>> torch.matmul(torch.ones(2, 3), torch.ones(3))
    tensor([3., 3.])
    """
    try:
        a, b = input.array, other.array
    except AttributeError:
        position = 0 if not hasattr(input, "array") else 1
        raise wrong_type(bmm_n, position, (input, other)[position]) from None
    if not a.ndim or not b.ndim:
        raise errors.new(
            RuntimeError,
            f"both arguments to matmul need to be at least 1D, but they are {a.ndim}D and {b.ndim}D",
            instead="a number times a tensor is x * 2.",
        )
    if a.ndim == 2 and b.ndim == 2:
        return mm_(input, other) if a.shape[1] == b.shape[0] else mm(input, other)
    if a.ndim == 1 and b.ndim == 1:
        return dot(input, other)
    if a.ndim == 2 and b.ndim == 1:
        return mv(input, other)
    if a.ndim == 1:
        return squeeze_row(matmul(unsqueeze(input, 0), other), b.ndim - 2)
    if b.ndim == 1:
        return matmul(input, unsqueeze(other, 1)).squeeze(-1)
    if a.shape[-1] != b.shape[-2]:
        raise _mismatch("mat1 and mat2 shapes cannot be multiplied", input, other)
    try:
        return bmm_n(input, other)
    except ValueError as error:
        raise errors.broadcast([a[..., 0, 0], b[..., 0, 0]], error) from None  # the batches do not fit together


def _mismatch(sentence, a, b):
    (n, k), (m, p) = a.shape[-2:], b.shape[-2:]
    return errors.new(
        RuntimeError,
        f"{sentence} ({n}x{k} and {m}x{p})",
        f"You multiplied {tuple(a.shape)} by {tuple(b.shape)}.",
        f"The columns of the first ({k}) must be as many as the rows of the second ({m}).",
        "transpose one of them (x.T), or check which dimension holds the features.",
        "chapter 09, Tensors",
        ProductMismatch((n, k), (m, p)),
    )


def mm(input, mat2):
    """The product of two matrices, (n, k) and (k, m). Raises RuntimeError for other shapes."""
    if input.ndim != 2 or mat2.ndim != 2:
        which, x = ("self", input) if input.ndim != 2 else ("mat2", mat2)
        if input.batched or mat2.batched:
            raise errors.new(
                RuntimeError,
                f"Shape mismatch: Got incorrect dims for mm(a, b). a has dim {input.ndim}and b has dim {mat2.ndim}but expected them to have "
                "dim 2 and dim 2",
            )
        raise errors.new(RuntimeError, f"{which} must be a matrix")
    if input.shape[1] != mat2.shape[0]:
        raise _mismatch("mat1 and mat2 shapes cannot be multiplied", input, mat2)
    return mm_(input, mat2)


def mv(input, vec):
    """The product of a matrix (n, k) and a vector (k,). Raises RuntimeError for other shapes."""
    if input.ndim != 2 or vec.ndim != 1:
        raise errors.new(RuntimeError, f"vector + matrix @ vector expected, got 1, {input.ndim}, {vec.ndim}")
    if input.array.shape[1] != vec.array.shape[0]:
        raise errors.new(
            RuntimeError,
            f"size mismatch, got input ({input.shape[0]}), mat ({input.shape[0]}x{input.shape[1]}), vec ({vec.shape[0]})",
            facts=ProductMismatch(tuple(input.shape), tuple(vec.shape)),
        )
    return mv_(input, vec)


def dot(input, tensor):
    """The sum of products of two vectors of one length. Raises RuntimeError for other shapes, and for two dtypes."""
    _check_vectors(input, tensor)
    return dot_(input, tensor)


def _check_vectors(input, tensor):
    if input.ndim != 1 or tensor.ndim != 1:
        raise errors.new(RuntimeError, f"1D tensors expected, but got {input.ndim}D and {tensor.ndim}D tensors")
    if input.shape != tensor.shape:
        raise errors.new(
            RuntimeError,
            f"inconsistent tensor size, expected tensor [{input.shape[0]}] and src [{tensor.shape[0]}] to have the same number of elements, "
            f"but got {input.shape[0]} and {tensor.shape[0]} elements respectively",
        )


def _check_batches(input, mat2):
    if input.ndim != 3 or mat2.ndim != 3:
        raise errors.new(RuntimeError, f"batch{1 if input.ndim != 3 else 2} must be a 3D tensor")
    if input.shape[0] != mat2.shape[0] or input.shape[2] != mat2.shape[1]:
        b, _, k = input.shape
        raise errors.new(
            RuntimeError,
            f"Expected size for first two dimensions of batch2 tensor to be: [{b}, {k}] but got: [{mat2.shape[0]}, {mat2.shape[1]}].",
        )


def bmm(input, mat2):
    """The products of two batches of matrices, (b, n, k) and (b, k, m). Raises RuntimeError for other shapes."""
    _check_batches(input, mat2)
    return bmm_(input, mat2)


def vdot(input, other):
    """As dot, for two vectors. Raises RuntimeError for other shapes, and for two dtypes."""
    _check_vectors(input, other)
    return vdot_(input, other)


def cross(input, other, dim=-1):
    """The cross product of vectors of three numbers along `dim`. Raises RuntimeError for another size."""
    dim = wrap_dim(dim, input.ndim)
    if input.array.dtype is not other.array.dtype:
        raise errors.new(
            RuntimeError,
            "expected scalar type {} but found {}".format(
                *[errors.TYPE_NAMES[x.array.dtype.name].removesuffix("Tensor") for x in (input, other)]
            ),
            instead="other.to(input.dtype).",
        )
    if input.shape[dim] != 3 or other.shape[dim] != 3:
        raise errors.new(
            RuntimeError,
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {input.shape[dim]} and {other.shape[dim]}",
        )
    return cross_(input, other, dim)


def trace(input):
    """The sum of the diagonal of a matrix. Raises RuntimeError for another shape."""
    if input.ndim != 2:
        raise errors.new(RuntimeError, f"trace: expected a matrix, but got tensor with dim {input.ndim}")
    return trace_(input)


def _check_addmm(input, mat1, mat2):
    if mat1.ndim != 2 or mat2.ndim != 2:
        which, x = ("mat1", mat1) if mat1.ndim != 2 else ("mat2", mat2)
        raise errors.new(RuntimeError, f"{which} must be a matrix, got {x.ndim}-D tensor")
    if mat1.shape[1] != mat2.shape[0]:
        raise _mismatch("mat1 and mat2 shapes cannot be multiplied", mat1, mat2)


def addmm(input, mat1, mat2, *, beta=1, alpha=1):
    """beta * input + alpha * (mat1 @ mat2), for matrices (n, k) and (k, m); `input` is broadcast to (n, m)."""
    _check_addmm(input, mat1, mat2)
    _check_added(input, (mat1.shape[0], mat2.shape[1]))
    return addmm_(input, mat1, mat2, *_factors(input, beta, alpha))


def _check_added(input, shape):
    """Raise PyTorch's error if `input` cannot be broadcast to the shape of the product that it is added to."""
    if input.ndim > len(shape):
        raise errors.new(
            RuntimeError,
            f"expand(torch.{errors.TYPE_NAMES[input.array.dtype.name]}{{{list(input.shape)}}}, size={list(shape)}): the number of sizes provided "
            f"({len(shape)}) must be greater or equal to the number of dimensions in the tensor ({input.ndim})",
        )
    for d, (n, expected) in enumerate(zip(input.shape[::-1], shape[::-1], strict=False), 1):
        if n not in (1, expected):
            raise errors.new(
                RuntimeError,
                f"The expanded size of the tensor ({expected}) must match the existing size ({n}) at non-singleton dimension "
                f"{len(shape) - d}.  Target sizes: {list(shape)}.  Tensor sizes: {list(input.shape)}",
            )


def addmv(input, mat, vec, *, beta=1, alpha=1):
    """beta * input + alpha * (mat @ vec). Raises RuntimeError for another number of dimensions."""
    if (mat.ndim, vec.ndim) != (2, 1) or input.ndim > 1:
        raise errors.new(RuntimeError, f"vector + matrix @ vector expected, got {input.ndim}, {mat.ndim}, {vec.ndim}")
    return addmv_(input, mat, vec, *_factors(input, beta, alpha))


def addbmm(input, batch1, batch2, *, beta=1, alpha=1):
    """beta * input + alpha * the sum of the products of two batches of matrices. Raises RuntimeError for sizes that do not fit."""
    if batch1.ndim == batch2.ndim == 3 and batch1.shape[2] != batch2.shape[1]:
        sizes = " and ".join(["x".join(map(str, x.shape[1:])) for x in (batch1, batch2)])
        raise errors.new(
            RuntimeError, f"Incompatible matrix sizes for bmm ({sizes})", instead="transpose (x.mT) what does not fit."
        )
    return addbmm_(input, batch1, batch2, *_factors(input, beta, alpha))


def baddbmm(input, batch1, batch2, *, beta=1, alpha=1):
    """beta * input + alpha * the products of two batches of matrices."""
    _check_batches(batch1, batch2)
    _check_added(input, (*batch1.shape[:2], batch2.shape[2]))
    return baddbmm_(input, batch1, batch2, *_factors(input, beta, alpha))


def _factors(x, beta, alpha):
    """Tensors of whole numbers have whole factors."""
    return (beta, alpha) if x.array.dtype.kind == "f" else (int(beta), int(alpha))


def _square(A, name):
    _floats(A, name)
    if A.ndim < 2:
        raise errors.new(RuntimeError, f"{name}: The input tensor A must have at least 2 dimensions.")
    if A.shape[-1] != A.shape[-2]:
        raise errors.new(
            RuntimeError,
            f"{name}: A must be batches of square matrices, but they are {A.shape[-2]} by {A.shape[-1]} matrices",
        )


def _or_linalg_error(run, sentence, why, instead):
    """`run()`; where numpy finds the matrix unfit, PyTorch's error."""
    try:
        return run()
    except np.linalg.LinAlgError:
        raise errors.new(
            errors.LinAlgError, sentence() if callable(sentence) else sentence, why=why, instead=instead
        ) from None


_SINGULAR = (
    "A singular matrix maps different vectors to the same one, so there is no way back.",
    "add a small multiple of the unit matrix, or check det(A) first.",
)


def _zero_pivot(A):
    """Which diagonal element elimination with pivots finds to be 0 first, counted from 1."""
    a = np.array(A.reshape(-1, *A.shape[-2:])[np.argmin(np.abs(np.linalg.det(A)).ravel())], np.float64)
    for i in range(len(a)):
        best = i + int(np.abs(a[i:, i]).argmax())
        if a[best, i] == 0:
            return i + 1
        a[[i, best]] = a[[best, i]]
        a[i + 1 :] -= np.multiply.outer(a[i + 1 :, i] / a[i, i], a[i])
    return len(a)


def inv(A):
    """The inverse of a square matrix, or of each in a batch. Raises LinAlgError if there is none."""
    _square(A, "linalg.inv")
    return _or_linalg_error(
        lambda: inv_(A),
        lambda: (
            f"linalg.inv: The diagonal element {_zero_pivot(A.array)} is zero, the inversion could not be completed because the input matrix is singular."
        ),
        *_SINGULAR,
    )


def solve(A, B, *, left=True):
    """The X with A X = B (or X A = B with left=False); better and faster than inv(A) @ B.
    Raises RuntimeError for shapes that do not fit."""
    _square(A, "torch.linalg.solve")
    vectors = are_vectors(A, B)
    rows, columns = (B.shape[-1], 1) if vectors else B.shape[-2:]
    if (rows if left else columns) != A.shape[-1]:
        raise errors.new(
            RuntimeError,
            f"linalg.solve: Incompatible shapes of A and B for the equation {'AX' if left else 'XA'} = B "
            f"({A.shape[-2]}x{A.shape[-1]} and {rows}x{columns})",
        )
    if not left:
        return mT(solve(mT(A), mT(B)))
    return _or_linalg_error(
        lambda: solve_(A, B), "torch.linalg.solve: The solver failed because the input matrix is singular.", *_SINGULAR
    )


def inv_ex(A, *, check_errors=False) -> Any:
    """A named tuple (inverse, info): as inv, but a singular matrix gives info 1 and nan, no error."""
    try:
        return named("linalg_inv_ex", "inverse", "info")(inv(A), wrap(np.zeros(A.shape[:-2], np.int32)))
    except errors.LinAlgError:
        if check_errors:
            raise
        return named("linalg_inv_ex", "inverse", "info")(A * float("nan"), wrap(np.ones(A.shape[:-2], np.int32)))


def solve_triangular(A, B, *, upper, left=True, unitriangular=False):
    """The X with A X = B (or X A = B with left=False) for a triangular A, of which the other triangle is not read."""
    A = triu_(A, 0) if upper else tril_(A, 0)
    if unitriangular:
        one = wrap(np.eye(A.shape[-1], dtype=A.array.dtype))
        A = A * (1 - one) + one
    return mT(solve_(mT(A), mT(B))) if not left else solve_(A, B)


def cholesky_solve(input, input2, upper=False):
    """The X with L Lᵀ X = `input` for a Cholesky factor L, `input2`; upper: Lᵀ L X = `input`."""
    half = solve_triangular(mT(input2) if upper else input2, input, upper=False)
    return solve_triangular(input2 if upper else mT(input2), half, upper=True)


def cholesky_inverse(input, upper=False):
    """The inverse of L Lᵀ for a Cholesky factor L; upper: of Lᵀ L."""
    return cholesky_solve(
        wrap(np.broadcast_to(np.eye(input.shape[-1], dtype=input.array.dtype), input.shape)), input, upper
    )


def tensorsolve(A, B, dims=None):
    """The X with tensordot(A, X, X.ndim) = B, for an A whose first B.ndim dimensions hold as many numbers as the others. RuntimeError if they do not."""
    if dims is not None:
        A = A.movedim(tuple(dims), tuple(range(A.ndim - len(dims), A.ndim)))
    rest = A.shape[B.ndim :]
    if math.prod(rest) != B.numel():
        raise errors.new(RuntimeError, "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), but got "
                         f"{math.prod(rest)} != {math.prod(A.shape[: B.ndim])}")  # fmt: skip
    return solve(A.reshape(-1, math.prod(rest)), B.reshape(-1)).reshape(rest)


def tensorinv(A, ind=2):
    """The inverse for tensordot(A, X, ind): of an A whose first `ind` dimensions hold as many numbers as the others. Else RuntimeError."""
    if ind <= 0:
        raise errors.new(RuntimeError, f"Expected a strictly positive integer for 'ind', but got {ind}")
    first, rest = A.shape[:ind], A.shape[ind:]
    if math.prod(first) != math.prod(rest):
        raise errors.new(RuntimeError, "Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got "
                         f"{math.prod(rest)} != {math.prod(first)}")  # fmt: skip
    return inv(A.reshape(math.prod(first), -1)).reshape((*rest, *first))


def _floats(A, name):
    if A.array.dtype.kind != "f":
        kind = errors.TYPE_NAMES[A.array.dtype.name].removesuffix("Tensor")
        raise errors.new(RuntimeError, f"{name}: Expected a floating point or complex tensor as input. Got {kind}")


def svd(A, full_matrices=True) -> Any:
    """A named tuple (U, S, Vh) with A = U @ diag(S) @ Vh: singular values in falling order."""
    _floats(A, "linalg.svd")
    return named("linalg_svd", "U", "S", "Vh")(*svd_(A, full_matrices))


def svdvals(A):
    """The singular values in falling order."""
    return svd(A, False).S


def eigh(A, UPLO="L") -> Any:
    """A named tuple (eigenvalues, eigenvectors) of a symmetric matrix, of which the lower ("L") or upper triangle is read."""
    _square(A, "linalg.eigh")
    return named("linalg_eigh", "eigenvalues", "eigenvectors")(*eigh_(A, UPLO))


def eigvalsh(A, UPLO="L"):
    """The eigenvalues of a symmetric matrix, in rising order."""
    return eigh(A, UPLO).eigenvalues


def qr(A, mode="reduced") -> Any:
    """A named tuple (Q, R) with A = Q @ R: Q has orthonormal columns, R is upper triangular. Raises RuntimeError for another `mode`."""
    _floats(A, "linalg.qr")
    if mode not in ("reduced", "complete", "r"):
        raise errors.new(
            RuntimeError,
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or 'complete'",
        )
    k = A.shape[-2]
    wide = k < A.shape[-1]
    Q, R = qr_(A[..., :k] if wide else A, "complete" if mode == "complete" else "reduced")
    if wide:  # A = [A1, A2]: Q is computed from the square A1 alone
        R = cat([R, mT(Q) @ A[..., k:]], -1)
    return named("linalg_qr", "Q", "R")(wrap(np.empty(0, A.array.dtype)) if mode == "r" else Q, R)


def pinv(A, rcond=None, *, rtol=None, hermitian=False):
    """The pseudo-inverse: the X nearest to A X = 1. `rtol`: singular values below that part of the largest count as 0."""
    _floats(A, "linalg.pinv")
    if hermitian:  # the upper triangle is not read; the gradient is that of all of A, as in PyTorch
        lower = tril_(A.detach(), 0)
        A = A + (lower + mT(tril_(lower, -1)) - A.detach())
    U, S, Vh = svd(A, False)
    rtol = (
        rtol
        if rtol is not None
        else rcond
        if rcond is not None
        else max(A.shape[-2:]) * float(np.finfo(A.array.dtype).eps)
    )
    big = S > rtol * S.amax(-1, True) if S.shape[-1] else S > 0
    return mT(Vh) @ (unsqueeze(where(big, 1 / where(big, S, 1), 0), S.ndim) * mT(U))


def matrix_rank(A, tol=None, *, atol=None, rtol=None, hermitian=False):
    """How many singular values are larger than `atol` and than the part `rtol` of the largest (default: rounding errors)."""
    S = svdvals(A.detach()).array
    atol, rtol = (x.array[..., None] if hasattr(x, "array") else x for x in (atol if tol is None else tol, rtol))
    if rtol is None:
        rtol = 0 if atol is not None and np.all(np.asarray(atol) > 0) else max(A.shape[-2:]) * np.finfo(S.dtype).eps
    limit = np.maximum(0 if atol is None else atol, rtol * S.max(-1, keepdims=True, initial=0))
    return wrap(np.asarray((S > limit).sum(-1)))


def cond(A, p=None):
    """The condition number: how much solving with A magnifies errors. p: None or 2 by singular values, otherwise norm(A) * norm(inv(A)).
    Raises RuntimeError for another p."""
    if p in (None, 2, -2):
        S = svdvals(A)
        ends = S[..., 0], S[..., -1]
        return ends[1] / ends[0] if p == -2 else ends[0] / ends[1]
    raise errors.new(RuntimeError, f"linalg.cond: p={p} is not supported.", instead="use None, 2 or -2.")


def multi_dot(tensors, *, out=None):
    """The product of several matrices, multiplied in the order that costs least; the first and the last may be vectors.
    Raises RuntimeError for fewer than two."""
    if len(tensors) < 2:
        raise errors.new(RuntimeError, "multi_dot(): expected at least 2 tensors but got " + str(len(tensors)))
    shapes = [x.shape if x.ndim == 2 else (1, *x.shape) if i == 0 else (*x.shape, 1) for i, x in enumerate(tensors)]
    # (first, last): (multiplications, where to cut)
    best: dict[tuple[int, int], tuple[int, Any]] = {(i, i): (0, None) for i in range(len(shapes))}
    for length in range(1, len(shapes)):
        for i in range(len(shapes) - length):
            j = i + length
            best[i, j] = min(
                (best[i, k][0] + best[k + 1, j][0] + shapes[i][0] * shapes[k][1] * shapes[j][1], k) for k in range(i, j)
            )

    def product(i, j):
        return tensors[i] if i == j else matmul(product(i, best[i, j][1]), product(best[i, j][1] + 1, j))

    return product(0, len(shapes) - 1)


def addr(input, vec1, vec2, *, beta=1, alpha=1):
    """beta * input + alpha * the outer product of two vectors; of bools: input or (vec1 and vec2), where a number counts as a bool."""
    if input.array.dtype.kind == vec1.array.dtype.kind == vec2.array.dtype.kind == "b":
        product = outer(vec1, vec2) if alpha else outer(vec1, vec2) & False
        return input | product if beta else product.expand(*np.broadcast_shapes(input.shape, product.shape))
    product = outer(vec1, vec2)
    return (
        _times(beta, input) + _times(alpha, product)
        if beta
        else _times(alpha, product).expand(*np.broadcast_shapes(input.shape, product.shape))
    )


def det(A):
    """The determinant of a square matrix, or of each in a batch."""
    _square(A, "linalg.det")
    return det_(A)


def slogdet(A) -> Any:
    """A named tuple (sign, logabsdet): the determinant without overflow."""

    _square(A, "linalg.slogdet")
    return named("linalg_slogdet", "sign", "logabsdet")(*slogdet_(A))


def logdet(input):
    """The logarithm of the determinant; nan where it is negative."""
    sign, logabsdet = slogdet(input)
    return where(sign == -1, float("nan"), logabsdet)


def cholesky(A, *, upper=False):
    """The lower triangular L with L @ L.mT = A, for symmetric A with positive eigenvalues."""
    _square(A, "linalg.cholesky")
    L = _or_linalg_error(
        lambda: cholesky_(A),
        "linalg.cholesky: The factorization could not be completed because the input is not positive-definite.",
        "A product L @ L.mT has only positive eigenvalues.",
        "add a small multiple of the unit matrix.",
    )
    return mT(L) if upper else L


def cdist(x1, x2, p=2.0, compute_mode="use_mm_for_euclid_dist_if_necessary"):
    """The distance (p-norm) of every row of x1 (n, d) to every row of x2 (m, d): shape (n, m).
    Raises RuntimeError for other shapes, and for integers."""
    for name, x in (("X1", x1), ("X2", x2)):
        if x.ndim < 2:
            raise errors.new(RuntimeError, f"cdist only supports at least 2D tensors, {name} got: {x.ndim}D")
    if x1.shape[-1] != x2.shape[-1]:
        raise errors.new(
            RuntimeError, f"X1 and X2 must have the same number of columns. X1: {x1.shape[-1]} X2: {x2.shape[-1]}"
        )
    for name, x in (("X1", x1), ("X2", x2)):
        if x.array.dtype.kind != "f":
            raise errors.new(
                RuntimeError,
                f"cdist only supports floating-point dtypes, {name} got: {errors.SCALAR_NAMES[x.array.dtype.name]}",
            )
    return cdist_(x1, x2, p)


def matrix_power(A, n):
    """A @ A @ ... @ A, n times; a negative n inverts first."""
    if n < 0:
        return matrix_power(inv(A), -n)
    if n == 0:
        return copy(A, wrap(np.eye(A.shape[-1], dtype=A.array.dtype)))
    if n == 1:
        return A.clone()
    half = A @ A if n < 4 else matrix_power(A, n // 2)
    if n < 4:
        return half if n == 2 else half @ A
    half = half @ half
    return half @ A if n % 2 else half
