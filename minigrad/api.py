"""The public surface: what `import minigrad as torch` offers.

What lives here: names only. Each family of names has its section, sorted as the files they come from.
"""

# ruff: noqa: F401, I001, A004
import builtins
import functools
from types import FunctionType

from . import autograd, linalg, nn  # noqa: F401
from .core import dtypes, errors, return_types  # noqa: F401
from .core.arguments import forgiving
from math import e, inf, nan, pi

from .tensors.create import (
    BoolTensor, ByteTensor, CharTensor, DoubleTensor, FloatTensor, Generator, HalfTensor, IntTensor, LongTensor, ShortTensor, arange, as_tensor, asarray, bartlett_window, bernoulli, blackman_window, default_generator, empty, empty_like, empty_strided, eye, from_numpy, frombuffer, full, full_like, get_rng_state, hamming_window, hann_window, initial_seed,
    kaiser_window, linspace, logspace, manual_seed, multinomial, normal, ones, ones_like, rand, rand_like, randint, randint_like, randn, randn_like, randperm, range_ as range,
    scalar_tensor, set_rng_state, tensor, tril_indices, triu_indices, zeros, zeros_like,
)  # fmt: skip
from .core.devices import (
    STRIDED as strided,
    backends,
    contiguous_format,
    device,
    layout,
    memory_format,
    preserve_format,
)
from .core.dtypes import (
    bfloat16, bool, can_cast, double, dtype, finfo, float, float16, float32, float64, get_default_dtype, half, iinfo, int, int8, int16, int32, int64,
    long, promote_types, result_type, set_default_dtype, short, uint8,
)  # fmt: skip
from .amp import autocast, get_autocast_dtype, is_autocast_enabled
from .autograd.anomaly import is_anomaly_check_nan_enabled, is_anomaly_enabled
from .func import vmap
from .core.permissions import strict
from .core.grad_mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)

# ops/elementwise.py
from .ops.elementwise import (
    abs, abs as absolute, acos, acos as arccos, acosh, acosh as arccosh, add_times as add, addcdiv, addcmul, allclose, asin, asin as arcsin, asinh, asinh as arcsinh,
    atan, atan as arctan, atan2, atan2 as arctan2, atanh, atanh as arctanh, bitwise_and, bitwise_left_shift, bitwise_not, bitwise_or, bitwise_right_shift, bitwise_xor, ceil, choose as where, clamp, clamp as clip, clamp_max, clamp_min,
    copysign, cos, cosh, deg2rad, divide as div, divide, divide as true_divide, eq, equal, erf, erfc, lgamma, digamma, polygamma, exp, exp2, expm1, float_power, floor, floor_divide, fmax, fmin, fmod, frac, gcd, ge, ge as greater_equal, gt, gt as greater, heaviside, hypot, isclose, isfinite, isinf,
    isnan, isneginf, isposinf, lcm, ldexp, le, le as less_equal, lerp, log, log10, log1p, log2, logaddexp, logaddexp2, logical_and, logical_not, logical_or, logical_xor, logit, lt, lt as less, maximum, minimum, mul, mul as multiply, nan_to_num, ne,
    ne as not_equal, neg, neg as negative, nextafter, positive, pow, rad2deg, reciprocal, relu, remainder, round, rsqrt, rsub_times as rsub, sigmoid, sgn, sign, signbit, sin, sinc, sinh, sqrt, square, sub_times as sub, sub_times as subtract, tan, tanh,
    trunc, trunc as fix, xlogy,
)  # fmt: skip

# ops/index.py
from .ops.index import (
    gather, index_add, index_copy, index_fill, index_select, masked_fill, masked_scatter, masked_select, put, repeat_interleave, scatter, scatter_add, scatter_reduce, take, take_along_dim, unravel_index,
)  # fmt: skip

# ops/linalg.py, ops/einsum.py
from .ops.einsum import einsum, inner, kron, tensordot
from .ops.linalg import (
    addbmm, addmm, addmv, addr, baddbmm, bmm, cdist, cholesky, cholesky_inverse, cholesky_solve, cross, det, dot, inv as inverse, logdet, matmul, matrix_power, mm, mv, outer, outer as ger, pinv as pinverse, slogdet, trace, vdot,
)  # fmt: skip

# ops/neural.py
from .ops.neural import log_softmax, softmax

# ops/order.py
from .ops.order import argsort, argwhere, bincount, kthvalue, nonzero, sort, topk, unique

# ops/reduce.py
from .ops.reduce import (
    all, amax, amin, aminmax, any, argmax, argmin, count_nonzero, logsumexp, max, mean, median, min, nansum, norm, prod, std, std_mean, sum, var, var_mean,
)  # fmt: skip

# ops/strided.py
from .ops.strided import as_strided_ as as_strided

# ops/scan.py
from .ops.scan import cummax, cummin, cumprod, cumsum, cumulative_trapezoid, logcumsumexp

# ops/statistics.py
from .ops.statistics import (
    bucketize, corrcoef, cov, diff, dist, gradient, histc, histogram, isin, mode, msort, nanmean, nanmedian, nanquantile, quantile, renorm, searchsorted, trapezoid, trapezoid as trapz, unique_consecutive,
)  # fmt: skip

# ops/shape.py, views.py, joins.py, dims.py
from .ops.dims import broadcast_shapes
from .ops.joins import (
    atleast_1d, atleast_2d, atleast_3d, block_diag, broadcast_tensors, cartesian_prod, cat, cat as concat, cat as concatenate, column_stack, combinations, dstack, hstack, meshgrid, stack, vander, vstack, vstack as row_stack,
)  # fmt: skip
from .ops.shape import clone, reshape
from .ops.views import (
    chunk, diag, diag_embed, diagflat, diagonal, diagonal_scatter, dsplit, flatten, flip, fliplr, flipud, hsplit,
    movedim, movedim as moveaxis, narrow, ravel, roll, rot90, select_scatter, slice_scatter, split,
    split_with_sizes, swapaxes, tensor_split, swapdims, tile, tril, triu, unbind, unflatten, unsafe_chunk,
    unsafe_split, unsafe_split_with_sizes, vsplit, expand_checked as broadcast_to, permute_checked as permute,
    squeeze_checked as squeeze, t_checked as t, transpose_checked as transpose, unsqueeze_checked as unsqueeze,
    view_as_shape,
)  # fmt: skip
from .tensors.indexing import select_ as select
from .tensors.tensor import Tensor
from .tensors.printing import get_printoptions, set_printoptions
from .core.variable import Size


# Functions that are methods with the tensor first
def index_put(input, indices, values, accumulate=False):
    """A copy of `input` with `values` written (or added) at the positions that a tuple of tensors names."""
    return input.index_put(indices, values, accumulate)


def adjoint(input):
    """The last two dimensions exchanged (a view)."""
    return input.adjoint()


def conj(input):
    """The tensor itself: its numbers are real."""
    return input


real = resolve_conj = resolve_neg = conj


def imag(input):
    """Raises RuntimeError: there are no complex numbers."""
    return input.imag


def is_floating_point(input):
    """Is the dtype of the tensor a floating-point one?"""
    return input.is_floating_point()


def is_tensor(obj):
    """Is the object a Tensor (of minigrad)?"""
    return isinstance(obj, Tensor)


def numel(input):
    """The number of elements of the tensor, an int."""
    return input.numel()


def save(obj, f, pickle_module=None, pickle_protocol=2):
    """Write tensors and plain data to a file, in a format that cannot run code when it is loaded (serialization.py).

    Nothing is pickled: `pickle_module` and `pickle_protocol` change nothing.
    """
    from .serialization import save

    save(obj, f)


def load(f, map_location=None, pickle_module=None, *, weights_only=True, mmap=None):
    """What `save` wrote to a path or a binary file (serialization.py). Raises RuntimeError for a `map_location` that is not the CPU.

    The format is safe in any case: `weights_only=False` reads the same. The file is read whole, also with `mmap`.
    """
    from .serialization import load

    return load(f, map_location)


def compile(model=None, **options):
    """A training step, or an elementwise function, as one program.

    A step, that is a function that goes back through its graph itself (backward(), autograd.grad, an optimiser's step, no_grad), is recorded
    while it runs, and from its fourth call on runs as one straight program without graph and bookkeeping (program/): `print(step.source)`
    shows it. Results, gradients and parameters are those of the step itself within rounding; a result comes without the graph that the step
    has used up. Elementwise lines share loops, which numba, where it is installed, compiles beside the program after a hundred calls.

    An elementwise function that others go back through becomes one loop forward and one backward, compiled in a second or two (compiler.py).

    What cannot be compiled runs as it is, and a warning (and the attribute `why`) says in one sentence why, and what to change.

    >>> import minigrad as torch
    >>> w = torch.tensor([1., 2.], requires_grad=True)
    >>> @torch.compile
    ... def step(x):
    ...     w.grad = None
    ...     loss = (w * x).sum()
    ...     loss.backward()
    ...     return w.grad
    >>> for _ in "four":
    ...     g = step(torch.tensor([3., 4.]))
    >>> g, step.why
    (tensor([3., 4.]), None)
    >>> "x_tensor.array" in step.source
    True
    """
    from .compiler import compile

    return compile(model, **options)


def fill(input, value):
    """A copy of `input` with a number (or 0-d tensor) everywhere."""
    return input.clone().fill_(value)


def index_put_(input, indices, values, accumulate=False):
    """Write (or add) `values` at the positions that a tuple of tensors names. Returns `input`."""
    return input.index_put_(indices, values, accumulate)


def constant_pad_nd(input, pad, value=0):
    """Padded with a number: nn.functional.pad."""
    return nn.functional.pad(input, pad, "constant", value)


def is_inference(input):
    """Was the tensor made in inference mode?"""
    return input.is_inference()


def is_complex(input):
    """False: there are no complex tensors."""
    return False


def angle(input):
    """pi for negative numbers, 0 for others (nan stays): the angle of a number on the real line. Its gradient is 0."""
    pis = where(lt(input, 0), full((), pi, dtype=input.dtype if input.is_floating_point() else None), 0.0)
    return where(isnan(input), input, pis) + input * 0 if input.is_floating_point() else pis


def isreal(input):
    """True everywhere: there are no complex numbers."""
    return ones_like(input, dtype=bool)


def is_conj(input):
    """False: there are no complex numbers."""
    return False


is_neg = is_conj


def detach(input):
    """The tensor cut off from the graph."""
    return input.detach()


def svd(input, some=True, compute_uv=True):
    """As linalg.svd, but of V, where that has its transpose; with some=False whole squares."""
    result = return_types.named("svd", "U", "S", "V")
    u, s, vh = linalg.svd(input, not (some and compute_uv))
    return result(u, s, vh.mT) if compute_uv else result(zeros_like(u), s, zeros_like(vh.mT))


def qr(input, some=True):
    """As linalg.qr; with some=False Q is a whole square."""
    return return_types.named("qr", "Q", "R")(*linalg.qr(input, "reduced" if some else "complete"))


def chain_matmul(*matrices):
    """The product of several matrices: linalg.multi_dot."""
    return linalg.multi_dot(matrices)


def get_default_device():
    """The CPU."""
    return device("cpu")


def typename(obj):
    """The name of a tensor's type, or of the class of another object, with its module."""
    if is_tensor(obj):
        return obj.type()
    cls = obj if hasattr(obj, "__qualname__") else type(obj)
    return cls.__qualname__ if cls.__module__ in ("builtins", "") else f"{cls.__module__}.{cls.__qualname__}"


newaxis = None


def is_nonzero(input):
    """Is the one number not 0?"""
    return input.bool().item() if input.numel() == 1 else builtins.bool(input)


def use_deterministic_algorithms(mode, *, warn_only=False):  # noqa: F811
    """Nothing: every operation is deterministic."""


_precision = ["highest"]


def set_float32_matmul_precision(precision):
    """Kept, and without effect: products are computed in float32. A word that PyTorch does not know is ignored, as there."""
    if precision in ("highest", "high", "medium"):
        _precision[0] = precision


def get_float32_matmul_precision():
    """What set_float32_matmul_precision set."""
    return _precision[0]


def get_num_threads():
    """1: numpy may use more for matrix products, which an environment variable like OMP_NUM_THREADS says."""
    return 1


def set_num_threads(n):
    """Nothing: see get_num_threads."""


def _copy_of(function, name):
    """The operation without sharing: x_copy is x of the tensor, cloned."""

    @functools.wraps(function)
    def copied(*args, **kwargs):
        view = function(*args, **kwargs)
        return tuple([clone(x) for x in view]) if isinstance(view, tuple) else clone(view)

    copied.__name__ = name
    return copied


for (
    _name
) in "permute transpose t select unsqueeze squeeze diagonal split unbind as_strided narrow split_with_sizes".split():
    globals()[_name + "_copy"] = _copy_of(globals()[_name], _name + "_copy")
view_copy, expand_copy = _copy_of(view_as_shape, "view_copy"), _copy_of(broadcast_to, "expand_copy")
unfold_copy = _copy_of(Tensor.unfold, "unfold_copy")
alias_copy = detach_copy = conj_physical = _copy_of(conj, "alias_copy")
for _name in """
    abs acos acosh addmv arccos arccosh arcsin arcsinh arctan arctanh asin asinh atan atanh ceil clamp clamp_max clamp_min clip cos cosh deg2rad
    detach erf erfc exp exp2 expm1 fill fix floor frac gcd lcm ldexp log log10 log1p log2 logit nan_to_num neg negative rad2deg reciprocal relu
    resize_as round rsqrt sigmoid sin sinc sinh sqrt square tan tanh trunc xlogy zero""".split():
    globals()[_name + "_"] = getattr(Tensor, _name + "_")


from .nn.functional import (  # noqa: E402
    adaptive_avg_pool1d, avg_pool1d, bilinear, celu, channel_shuffle, conv1d, conv2d, conv3d, conv_transpose1d, conv_transpose2d,
    conv_transpose3d, cosine_similarity, hardshrink, pairwise_distance, pdist, pixel_shuffle, pixel_unshuffle, prelu, selu, threshold,
)  # fmt: skip


def seed():
    """Start the default generator from a seed that cannot be foreseen, and return it."""
    from .random import seed as start

    return start()


__all__ = [
    name
    for name in dict(globals())
    if not name.startswith("_")
    and name
    not in (
        "difflib",
        "builtins",
        "dtypes",
        "errors",
        "return_types",
        "forgiving",
        "functools",
        "FunctionType",
        "view_as_shape",
    )
]

# bfloat16 is an object whose use raises the error of its row.
_twice = errors.LEFT_OUT.keys() & set(__all__) - {"bfloat16"}
if _twice:
    raise TypeError(
        f"{', '.join(sorted(_twice))}: in minigrad/api.py, and in the table of missing names, core/absent.py."
    )

for _name in __all__:  # numpy's names for arguments (axis, keepdims), and a sentence for arguments that do not exist
    if type(globals()[_name]) is FunctionType:
        globals()[_name] = forgiving(globals()[_name], _name)


def unknown_name(name: str) -> AttributeError:
    """One sentence for a name that does not exist: why it is left out, or the nearest that exists."""
    if name in errors.LEFT_OUT:
        return errors.left_out(AttributeError, f"module 'torch' has no attribute '{name}'", name)
    return errors.new(
        AttributeError,
        f"module 'torch' has no attribute '{name}'",
        f"minigrad does not support '{name}'.",
        instead=errors.nearest(name, __all__),
    )


def _start_notes():
    """Lines are remembered from the first Tensor on, if they already are for Values (the notebook extension)."""
    from . import scalar

    if scalar.recording():
        from .core import provenance

        provenance.record_lines(True)


_start_notes()
