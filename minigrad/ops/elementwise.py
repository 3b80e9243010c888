"""Rows: each output element depends on one element of each input. Arithmetic, functions of one number, comparisons.

What does not live here: how rows work (op.py). Sorted simple to hard; in rules `g` is the gradient of the output, `out` the output.
"""

import builtins
import math
import operator
from typing import TYPE_CHECKING

import numpy as np

from ..core import dtypes, errors
from ..core.op import DISCRETE, ELEMENTWISE, Op
from ..kernels import special

if TYPE_CHECKING:
    from ..tensors.tensor import Tensor as Variable  # its only direct subclass, with all the methods
else:
    from ..core.variable import Variable

# For numpy half the work of a Python number
_ONE = {np.dtype(kind): np.ones((), kind) for kind in ("float32", "float64")}
LN2, LN10, TWO_OVER_SQRT_PI, NAN = math.log(2), math.log(10), 2 / math.sqrt(math.pi), math.nan
INF = math.inf

# fmt: off
# name              forward           kind                        rules
add         = Op("add",     operator.add,     ELEMENTWISE,              x=lambda g: g,                 y=lambda g: g, formula="x + y")
sub         = Op("sub",     operator.sub,     ELEMENTWISE, bools=False, x=lambda g: g,                 y=lambda g: -g, formula="x - y")
rsub        = Op("rsub",    lambda x, y: y - x, ELEMENTWISE, bools=False, x=lambda g: -g,              y=lambda g: g,  node="RsubBackward1", formula="y - x")
rsub_tensor = Op("rsub",    rsub.forward,     ELEMENTWISE, bools=False, x=lambda g: -g,                y=lambda g: g,  node="RsubBackward0", formula="y - x")
mul         = Op("mul",     operator.mul,     ELEMENTWISE,              x=lambda g, y: g * y,          y=lambda g, x: g * x, formula="x * y")
div         = Op("div",     np.true_divide,   ELEMENTWISE, floats=True, x=lambda g, y: g / y,          y=lambda g, x, y: -g * ((x / y) / y), formula="x / y", fused=("x / y", "g / y", "-g * (out / y)"))
neg         = Op("neg",     operator.neg,     ELEMENTWISE,              x=lambda g: -g, formula="-x")
reciprocal  = Op("reciprocal", lambda x: 1 / x, ELEMENTWISE, floats=True, x=lambda g, out: -g * out * out, fused=("1 / x", "-g * out * out"))

exp         = Op("exp",     np.exp,           ELEMENTWISE, floats=True, x=lambda g, out: g * out, formula="exp(x)")
log         = Op("log",     np.log,           ELEMENTWISE, floats=True, x=lambda g, x: g / x, formula="log(x)")
sqrt        = Op("sqrt",    np.sqrt,          ELEMENTWISE, floats=True, x=lambda g, out: g / (2 * out), formula="sqrt(x)")
sin         = Op("sin",     np.sin,           ELEMENTWISE, floats=True, x=lambda g, x: g * cos(x), formula="sin(x)")
cos         = Op("cos",     np.cos,           ELEMENTWISE, floats=True, x=lambda g, x: -g * sin(x), formula="cos(x)")
tanh        = Op("tanh",    np.tanh,          ELEMENTWISE, floats=True, x=lambda g, out: tanh_slope(g, out), formula="tanh(x)")
sigmoid     = Op("sigmoid", lambda x: _sigmoid(x), ELEMENTWISE, floats=True, x=lambda g, out: sigmoid_slope(g, out), formula="sigmoid(x)")

exp2        = Op("exp2",    np.exp2,          ELEMENTWISE, floats=True, x=lambda g, out: g * out * LN2)
expm1       = Op("expm1",   np.expm1,         ELEMENTWISE, floats=True, x=lambda g, out: g * (out + 1))
log1p       = Op("log1p",   np.log1p,         ELEMENTWISE, floats=True, x=lambda g, x: g / (x + 1), node="Log1PBackward0")
log2        = Op("log2",    np.log2,          ELEMENTWISE, floats=True, x=lambda g, x: g / (x * LN2))
log10       = Op("log10",   np.log10,         ELEMENTWISE, floats=True, x=lambda g, x: g / (x * LN10))
rsqrt       = Op("rsqrt",   lambda x: 1 / np.sqrt(x), ELEMENTWISE, floats=True, x=lambda g, out: -0.5 * g * out * out * out, fused=("1 / sqrt(x)", "-0.5 * g * out * out * out"))
tan         = Op("tan",     np.tan,           ELEMENTWISE, floats=True, x=lambda g, out: g * (1 + out * out))
asin        = Op("asin",    np.arcsin,        ELEMENTWISE, floats=True, x=lambda g, x: g * rsqrt(1 - x * x))
acos        = Op("acos",    np.arccos,        ELEMENTWISE, floats=True, x=lambda g, x: -g * rsqrt(1 - x * x))
atan        = Op("atan",    np.arctan,        ELEMENTWISE, floats=True, x=lambda g, x: g / (x * x + 1))
sinh        = Op("sinh",    np.sinh,          ELEMENTWISE, floats=True, x=lambda g, x: g * cosh(x))
cosh        = Op("cosh",    np.cosh,          ELEMENTWISE, floats=True, x=lambda g, x: g * sinh(x))
asinh       = Op("asinh",   np.arcsinh,       ELEMENTWISE, floats=True, x=lambda g, x: g * rsqrt(x * x + 1))
acosh       = Op("acosh",   np.arccosh,       ELEMENTWISE, floats=True, x=lambda g, x: g * rsqrt(x * x - 1))
atanh       = Op("atanh",   np.arctanh,       ELEMENTWISE, floats=True, x=lambda g, x: g / (1 - x * x))
erf         = Op("erf",     lambda x: special.erf(_floating(x)),      ELEMENTWISE, floats=True, x=lambda g, x: g * TWO_OVER_SQRT_PI * exp(-(x * x)))
logit_      = Op("logit",   lambda x: np.log(x / (1 - x)), ELEMENTWISE, floats=True, x=lambda g, x: where((x < 0) | (x > 1), NAN, where((x == 0) | (x == 1), g * INF, g / (x * (1 - x)))))
logit_eps   = Op("logit",   lambda x, eps: _logit_eps(x, eps), ELEMENTWISE, floats=True, x=lambda g, x, eps: where((x < eps) | (x > 1 - eps), 0, g / (x * (1 - x))))
atan2       = Op("atan2",   np.arctan2,       ELEMENTWISE, tensors_only=True, floats=True, x=lambda g, x, y: g * y * over_square(x, y), y=lambda g, x, y: -g * x * over_square(x, y),
                 words={"x": "g × {y} / ({x}² + {y}²)", "y": "−g × {x} / ({x}² + {y}²)"})

hypot       = Op("hypot",   np.hypot,         ELEMENTWISE, tensors_only=True, refuses=("?bBhilq", "hypot_cpu"),              x=lambda g, x, out: g * (x / out), y=lambda g, y, out: g * (y / out))
logaddexp   = Op("logaddexp", np.logaddexp,   ELEMENTWISE, tensors_only=True, refuses=("?bBhilq", "logaddexp_cpu"), x=lambda g, x, y: g / (1 + exp(y - x)), y=lambda g, x, y: g / (1 + exp(x - y)))
logaddexp2  = Op("logaddexp2", np.logaddexp2, ELEMENTWISE, tensors_only=True, refuses=("?bBhilq", "logaddexp2_cpu"), x=lambda g, x, y: g / (1 + exp2(y - x)), y=lambda g, x, y: g / (1 + exp2(x - y)))
xlogy       = Op("xlogy",   lambda x, y: _xlogy(x, y), ELEMENTWISE, floats=True, x=lambda g, x, y: g * where((x == 0) & (y <= 0), 0, log(y)), y=lambda g, x, y: g * (x / y))
erfc        = Op("erfc",    lambda x: 1 - erf.forward(x), ELEMENTWISE, floats=True, x=lambda g, x: -g * TWO_OVER_SQRT_PI * exp(-(x * x)))
lgamma      = Op("lgamma",  lambda x: special.lgamma(_floating(x)),  ELEMENTWISE, floats=True, x=lambda g, x: g * digamma(x))
digamma     = Op("digamma", lambda x: special.digamma(_floating(x)), ELEMENTWISE, floats=True, x=lambda g, x: g * polygamma_(x, 1))
polygamma_  = Op("polygamma", lambda x, n: special.polygamma(_floating(x), n), ELEMENTWISE, floats=True, x=lambda g, x, n: g * polygamma_(x, n + 1))
sinc        = Op("sinc",    np.sinc,          ELEMENTWISE, floats=True, x=lambda g, x: g * _sinc_slope(x))
deg2rad     = Op("deg2rad", np.deg2rad,       ELEMENTWISE, floats=True, x=lambda g: g * (math.pi / 180), node="Deg2RadBackward0")
rad2deg     = Op("rad2deg", np.rad2deg,       ELEMENTWISE, floats=True, x=lambda g: g * (180 / math.pi), node="Rad2DegBackward0")
copysign    = Op("copysign", np.copysign,     ELEMENTWISE, floats=True, x=lambda g, x, out: g * where(x == 0, 0, out / x), y=lambda g: nothing(g))
add_scaled  = Op("add",     lambda x, y, alpha: x + y * y.dtype.type(alpha), ELEMENTWISE, x=lambda g: g, y=lambda g, alpha: g * alpha, formula="x + alpha * y")
sub_scaled  = Op("sub",     lambda x, y, alpha: x - y * y.dtype.type(alpha), ELEMENTWISE, x=lambda g: g, y=lambda g, alpha: g * -alpha, formula="x - alpha * y")

# Steps: the derivative is 0 wherever there is one.
floor       = Op("floor",   np.floor,         ELEMENTWISE, refuses=("?", "floor_vml_cpu"),              x=lambda g: nothing(g))
ceil        = Op("ceil",    np.ceil,          ELEMENTWISE, refuses=("?", "ceil_vml_cpu"),              x=lambda g: nothing(g))
trunc       = Op("trunc",   np.trunc,         ELEMENTWISE, refuses=("?", "trunc_vml_cpu"),              x=lambda g: nothing(g))
frac        = Op("frac",    lambda x: x - np.trunc(x), ELEMENTWISE, refuses=("?bBhilq", "frac_cpu"),     x=lambda g: g)
round_      = Op("round",   lambda x: np.rint(x) if x.dtype.kind == "f" else x.copy(), ELEMENTWISE, refuses=("?", "round_vml_cpu"),              x=lambda g: nothing(g))
round_to    = Op("round",   lambda x, decimals: np.round(x, decimals), ELEMENTWISE, x=lambda g: nothing(g), node="RoundBackward1")
div_floor   = Op("div",     lambda x, y: np.floor_divide(x, _divisor(x, y)),  ELEMENTWISE, refuses=("?", "div_floor_cpu"),              x=lambda g: nothing(g),             y=lambda g: nothing(g), node="DivBackward2")
div_trunc   = Op("div",     lambda x, y: _div_trunc(x, y), ELEMENTWISE, refuses=("?", "div_trunc_cpu"), x=lambda g: nothing(g),             y=lambda g: nothing(g), node="DivBackward2")
remainder_  = Op("remainder", lambda x, y: _remainder(x, y), ELEMENTWISE, refuses=("?", "remainder_cpu"),              x=lambda g: g,                 y=lambda g, x, y: -g * div_floor(x, y), node="RemainderBackward1")
remainder_number = Op("remainder", lambda x, number: _remainder(x, x.dtype.type(number)), ELEMENTWISE, x=lambda g: g)
fmod_number = Op("fmod",    lambda x, number: np.fmod(x, x.dtype.type(number)), ELEMENTWISE, x=lambda g: g)
floor_div_  = Op("floor_divide", lambda x, y: np.floor_divide(x, _divisor(x, y)), ELEMENTWISE, refuses=("?", "div_floor_cpu"),          x=lambda g: missing("floor_divide"), y=lambda g: missing("floor_divide"), node="NotImplemented",
                 words={"x": "none: floor division has steps, not a slope", "y": "none: floor division has steps, not a slope"})
heaviside_  = Op("heaviside", lambda x, y: np.where(x == 0, y, x > 0).astype(x.dtype), ELEMENTWISE,     x=lambda g: missing("heaviside"),    y=lambda g: missing("heaviside"),    node="NotImplemented",
                 words={"x": "none: a step has no slope", "y": "none: a step has no slope"})
nextafter   = Op("nextafter", lambda x, y: _nextafter(x, y), ELEMENTWISE, tensors_only=True, x=lambda g, x, y: where(x == y, 0, g), y=lambda g: nothing(g))
fmod_       = Op("fmod",    lambda x, y: np.fmod(x, _divisor(x, y)),          ELEMENTWISE, refuses=("?", "fmod_cpu"),              x=lambda g: g,                 y=lambda g, x, y: -g * div_trunc(x, y), node="FmodBackward1")

# Three inputs at once.
lerp_number = Op("lerp",    lambda x, y, weight: in_float32(_lerp, x, y, x.dtype.type(weight)), ELEMENTWISE, x=lambda g, weight: g * (1 - weight), y=lambda g, weight: g * weight,
                                                                        args="input end")
lerp_tensor = Op("lerp",    lambda x, y, w: in_float32(_lerp, x, y, w), ELEMENTWISE, x=lambda g, w: g * (1 - w),  y=lambda g, w: g * w, w=lambda g, x, y: g * (y - x),
                                                                        args="input end weight", node="LerpBackward1")
addcmul_    = Op("addcmul", lambda x, a, b, value: in_float32(_addcmul, x, a, b, x.dtype.type(value)), ELEMENTWISE, refuses=("?", "addcmul_cpu_out"), x=lambda g: g, a=lambda g, b, value: g * (b * value), b=lambda g, a, value: g * (a * value),
                                                                        args="input tensor1 tensor2")
addcdiv_    = Op("addcdiv", lambda x, a, b, value: in_float32(_addcdiv, x, a, b, x.dtype.type(value)), ELEMENTWISE, x=lambda g: g, a=lambda g, b, value: g * (value / b),
                 b=lambda g, a, b, value: -g * (value * a / (b * b)), args="input tensor1 tensor2")

# The backward of an operation that saves its output, as a row of its own: fewer nodes under create_graph, and PyTorch's names.
tanh_slope    = Op("tanh_backward",    lambda x, y: x * (_ONE.get(y.dtype, 1) - y * y), ELEMENTWISE, node="TanhBackwardBackward0",
                   x=lambda g, y: tanh_slope(g, y),    y=lambda g, x, y: g * x * y * -2, formula="x * (1 - y**2)")
sigmoid_slope = Op("sigmoid_backward", lambda x, y: x * (1 - y) * y, ELEMENTWISE, node="SigmoidBackwardBackward0",
                   x=lambda g, y: sigmoid_slope(g, y), y=lambda g, x, y: g * x * (1 - 2 * y), formula="x * y * (1 - y)")

# Kinks: at the corner PyTorch's subgradient.
abs         = Op("abs",     np.abs,           ELEMENTWISE, refuses=("?", "abs_cpu"),              x=lambda g, x: g * sign(x), formula="abs(x)", fused=("abs(x)", "g * (1 if x > 0 else (-1 if x < 0 else 0))"))
sign        = Op("sign",    lambda x: _sign(x),  ELEMENTWISE,              x=lambda g: nothing(g), fused=("1 if x > 0 else (-1 if x < 0 else 0)",))
relu        = Op("relu",    lambda x: _relu(x), ELEMENTWISE, bools=False, x=lambda g, out: relu_slope(g, out), formula="relu(x)", fused=("0 if x < 0 else x", "g if out != 0 else 0"))
sgn         = Op("sgn",     sign.forward,     ELEMENTWISE,              x=lambda g: nothing(g))
relu_slope  = Op("threshold_backward", lambda x, y: _where_open(x, y), ELEMENTWISE, x=lambda g, y: relu_slope(g, y), y=lambda g: nothing(g), node="ThresholdBackwardBackward0", fused=("x if y != 0 else 0",))
maximum     = Op("maximum", np.maximum,       ELEMENTWISE, tensors_only=True,              x=lambda g, x, y: share(g, x < y, x == y), y=lambda g, x, y: share(g, y < x, x == y),
                  words={"x": "g where {x} > {y}, g / 2 where they are equal, else 0",
                         "y": "g where {y} > {x}, g / 2 where they are equal, else 0"}, formula="max(x, y)",
                 fused=("x if x > y or x != x else y", "g * 0.5 if x == y else (0 if x < y else g)", "g * 0.5 if x == y else (0 if y < x else g)"))
minimum     = Op("minimum", np.minimum,       ELEMENTWISE, tensors_only=True,              x=lambda g, x, y: share(g, x > y, x == y), y=lambda g, x, y: share(g, y > x, x == y),
                  words={"x": "g where {x} < {y}, g / 2 where they are equal, else 0",
                         "y": "g where {y} < {x}, g / 2 where they are equal, else 0"}, formula="min(x, y)",
                 fused=("x if x < y or x != x else y", "g * 0.5 if x == y else (0 if x > y else g)", "g * 0.5 if x == y else (0 if y > x else g)"))
fmax        = Op("fmax",    np.fmax,          ELEMENTWISE, tensors_only=True,              x=lambda g, x, y: where((x >= y) | isnan(y), g, 0), y=lambda g, x, y: where((x >= y) | isnan(y), 0, g))
fmin        = Op("fmin",    np.fmin,          ELEMENTWISE, tensors_only=True,              x=lambda g, x, y: where((x <= y) | isnan(y), g, 0), y=lambda g, x, y: where((x <= y) | isnan(y), 0, g))
where       = Op("where",   np.where,         ELEMENTWISE,  fused=("x if condition else y",),              condition=None, x=lambda g, condition: where(condition, g, 0),
                                                                        y=lambda g, condition: where(condition, 0, g), args="condition input other")

eq          = Op("eq", operator.eq, DISCRETE, x=None, y=None, fused=("x == y",))
ne          = Op("ne", operator.ne, DISCRETE, x=None, y=None, fused=("x != y",))
lt          = Op("lt", operator.lt, DISCRETE, x=None, y=None, fused=("x < y",))
le          = Op("le", operator.le, DISCRETE, x=None, y=None, fused=("x <= y",))
gt          = Op("gt", operator.gt, DISCRETE, x=None, y=None, fused=("x > y",))
ge          = Op("ge", operator.ge, DISCRETE, x=None, y=None, fused=("x >= y",))
logical_not = Op("logical_not", np.logical_not, DISCRETE, x=None)
logical_and = Op("logical_and", np.logical_and, DISCRETE, tensors_only=True, x=None, y=None)
logical_or  = Op("logical_or",  np.logical_or,  DISCRETE, tensors_only=True, x=None, y=None)
bitwise_not = Op("bitwise_not", lambda x: _invert(x), DISCRETE, x=None)
bitwise_and = Op("bitwise_and", np.bitwise_and, DISCRETE, x=None, y=None)
bitwise_or  = Op("bitwise_or",  np.bitwise_or,  DISCRETE, x=None, y=None)
bitwise_xor = Op("bitwise_xor", np.bitwise_xor, DISCRETE, x=None, y=None)
bitwise_left_shift  = Op("bitwise_left_shift",  lambda x, n: _shifted(np.left_shift, "lshift_cpu", x, n), DISCRETE, x=None, n=None)
bitwise_right_shift = Op("bitwise_right_shift", lambda x, n: _shifted(np.right_shift, "rshift_cpu", x, n), DISCRETE, x=None, n=None)
logical_xor = Op("logical_xor", np.logical_xor, DISCRETE, tensors_only=True, x=None, y=None)
isnan       = Op("isnan",    np.isnan,    DISCRETE, x=None)
isinf       = Op("isinf",    np.isinf,    DISCRETE, x=None)
isfinite    = Op("isfinite", np.isfinite, DISCRETE, x=None)
isposinf    = Op("isposinf", lambda x: np.isinf(x) & (x > 0), DISCRETE, x=None)
isneginf    = Op("isneginf", lambda x: np.isinf(x) & (x < 0), DISCRETE, x=None)
gcd         = Op("gcd", np.gcd, DISCRETE, tensors_only=True, x=None, y=None)
lcm         = Op("lcm", np.lcm, DISCRETE, tensors_only=True, x=None, y=None)
# fmt: on

_DOCS = """
neg: Minus the number.
reciprocal: 1 / x.
exp: e to the power of each number.
exp2: 2 to the power of each number.
expm1: exp(x) - 1, exact also near 0.
log: The natural logarithm.
log2: The logarithm to base 2.
log10: The logarithm to base 10.
log1p: log(1 + x), exact also near 0.
sqrt: The square root.
rsqrt: 1 / sqrt(x).
sin: The sine, of radians.
cos: The cosine, of radians.
tan: The tangent, of radians.
asin: The arc sine, in radians.
acos: The arc cosine, in radians.
atan: The arc tangent, in radians.
atan2: The angle of the point (other, input), in radians.
sinh: The hyperbolic sine.
cosh: The hyperbolic cosine.
tanh: The hyperbolic tangent.
asinh: The inverse of sinh.
acosh: The inverse of cosh.
atanh: The inverse of tanh.
sigmoid: 1 / (1 + exp(-x)).
erf: The error function.
relu: The number, or 0 where it is negative.
abs: The absolute value.
sign: 1, 0 or -1.
sgn: 1, 0 or -1.
floor: Rounded down.
ceil: Rounded up.
trunc: Rounded towards 0.
maximum: The larger of two numbers; nan if one of them is.
minimum: The smaller of two numbers; nan if one of them is.
fmax: The larger of two numbers; a nan does not count.
fmin: The smaller of two numbers; a nan does not count.
mul: input * other.
where: Elements of `input` where `condition` is True, of `other` elsewhere.
eq: input == other, element by element.
ne: input != other, element by element.
lt: input < other, element by element.
le: input <= other, element by element.
gt: input > other, element by element.
ge: input >= other, element by element.
logical_and: Are both not 0?
logical_or: Is one of them not 0?
logical_xor: Is exactly one of them not 0?
logical_not: Is it 0?
bitwise_and: The bits that are 1 in both.
bitwise_or: The bits that are 1 in one of them.
bitwise_xor: The bits that differ.
bitwise_not: Every bit the other way.
bitwise_left_shift: The bits moved up by `other` places: input * 2 ** other.
bitwise_right_shift: The bits moved down by `other` places: input // 2 ** other.
hypot: sqrt(input ** 2 + other ** 2): the length of a hypotenuse.
logaddexp: log(exp(input) + exp(other)), without overflow.
logaddexp2: log2(2 ** input + 2 ** other), without overflow.
xlogy: input * log(other), and 0 where input is 0.
erfc: 1 - erf(x).
lgamma: The logarithm of |gamma(x)|.
digamma: The derivative of lgamma.
sinc: sin(pi x) / (pi x), and 1 at 0.
deg2rad: Degrees as radians.
rad2deg: Radians as degrees.
copysign: The size of `input` with the sign of `other`.
nextafter: The number next to `input` on the way to `other`.
frac: What follows the point: x - trunc(x).
isposinf: Is it inf?
isneginf: Is it -inf?
gcd: The greatest common divisor of whole numbers.
lcm: The least common multiple of whole numbers.
isnan: Is it nan?
isinf: Is it infinite?
isfinite: Is it neither infinite nor nan?
"""
for _line in _DOCS.strip().splitlines():
    globals()[_line.partition(":")[0]].__doc__ = _line.partition(": ")[2]


def in_float32(function, *arrays):
    """A function of several steps, for float16 computed in float32 and rounded once, as PyTorch does."""
    if arrays[0].dtype.char != "e":
        return function(*arrays)
    return function(*[a.astype(np.float32) for a in arrays]).astype(np.float16)


def _sigmoid(x):
    if x.dtype.char == "e":
        return in_float32(_sigmoid, x)
    return 1 / (1 + np.exp(-x))


def _addcmul(x, a, b, value):
    return x + value * a * b


def _addcdiv(x, a, b, value):
    return x + value * (a / b)


def _bound(x, value):
    """A number as a bound for the elements of `x`. Raises RuntimeError if it does not fit into their dtype."""
    return None if value is None else dtypes.fitting(value, dtypes.FROM_NUMPY[x.dtype])


def _floating(x):
    return x if x.dtype.kind == "f" else x.astype(dtypes.get_default_dtype().numpy)


def _xlogy(x, y):
    return np.where((x == 0) & ~np.isnan(y), 0, x * np.log(y)).astype(np.result_type(x, y, np.float16), copy=False)


def _sinc_slope(x):
    """(pi x cos(pi x) - sin(pi x)) / (pi x^2). Near 0, where that is 0 / 0, its series, whose own derivatives are finite."""
    a = x * math.pi
    near = abs(a) < 0.5
    inner, outer = where(near, a, 0), where(near, 1, a)
    square, series = inner * inner, 0
    for k in range(8, 0, -1):
        series = series * square + (-1) ** k * 2 * k / math.factorial(2 * k + 1)
    return where(near, series * inner, (cos(outer) * outer - sin(outer)) / (outer * outer)) * math.pi


def _invert(x):
    if x.dtype.kind == "f":
        raise errors.new(
            TypeError,
            "~ (operator.invert) is only implemented on integer and Boolean-type tensors",
            instead="compare first: ~(x > 0).",
        )
    return np.invert(x)


def _shifted(shift, kernel, x, n):
    if x.dtype.kind not in "iu":
        raise errors.new(
            NotImplementedError,
            f"\"{kernel}\" not implemented for '{errors.TYPE_NAMES[x.dtype.name].removesuffix('Tensor')}'",
        )
    return shift(x, n)


def _nextafter(x, y):
    if x.dtype.kind != "f":
        raise errors.new(
            NotImplementedError,
            f"\"nextafter_cpu\" not implemented for '{errors.TYPE_NAMES[x.dtype.name].removesuffix('Tensor')}'",
        )
    return np.nextafter(x, y)


def heaviside(input, values):
    """0 for negative numbers and nan, 1 for positive ones, and `values` at 0. Raises RuntimeError for two dtypes, TypeError for a number."""
    if not hasattr(values, "array"):
        raise errors.new(
            TypeError, f"heaviside(): argument 'values' (position 2) must be Tensor, not {type(values).__name__}"
        )
    if input.array.dtype is not values.array.dtype:
        raise errors.new(RuntimeError, "heaviside is not yet implemented for tensors with different dtypes.")
    return heaviside_(input, values)


def ldexp(input, other):
    """input * 2 ** other"""
    if other.array.dtype.kind == "b" and input.array.dtype.kind == "f":
        raise errors.no_kernel("ldexp_cpu_exp", other.array.dtype)
    common = dtypes.result_type(input, other) if other.array.dtype.kind == "f" else input.dtype
    if not common.is_floating_point:
        common = dtypes.get_default_dtype()
    return mul(input.to(common), pow(2.0, other.to(common)))


def missing(name):
    """The rule of an operation for which PyTorch has none either."""
    raise errors.new(RuntimeError, f"derivative for aten::{name} is not implemented")


def _logit_eps(x, eps):
    x = np.clip(x, eps, 1 - eps)
    return np.log(x / (1 - x))


def over_square(x, y):
    """1 / (x*x + y*y), and 0 at the origin: PyTorch's choice for atan2."""
    square = x * x + y * y
    return where(square == 0, 0, 1 / square)


def _div_trunc(x, y):
    q = np.true_divide(x, _divisor(x, y))
    return np.trunc(q).astype(np.result_type(x, y), copy=False)


def _lerp(x, y, weight):
    return np.where(np.abs(weight) < 0.5, x + weight * (y - x), y - (y - x) * (1 - weight))


def share(g, less, tie):
    """All of `g`, but half where both are equal and none where the other side wins: PyTorch's choice for max and min."""
    return where(tie, g * 0.5, where(less, 0, g))


def _sign(x):
    return (
        x.copy()
        if x.dtype.kind == "b"
        else np.where(np.isnan(x), 0, np.sign(x)).astype(x.dtype, copy=False)
        if x.dtype.kind == "f"
        else np.sign(x)
    )


def _divisor(x, y):
    """`y`, unless whole numbers would be divided by 0, which has no result at all."""
    if x.dtype.kind != "f" and y.dtype.kind != "f" and not np.all(y):
        raise errors.new(RuntimeError, "ZeroDivisionError")
    return y


def _remainder(x, y):
    """The remainder with the sign of y; 0 keeps the sign of x."""
    m = np.fmod(x, _divisor(x, y))
    return np.where((m != 0) & ((m < 0) != (y < 0)), m + y, m)


# Powers. PyTorch distinguishes a number as exponent, whose derivative needs no logarithm.


def _power(x, exponent):
    """PyTorch computes roots as roots: (-inf) ** 0.5 is nan."""
    if exponent == 0.5:
        return np.sqrt(x)
    return 1 / np.sqrt(x) if exponent == -0.5 else x**exponent


def nothing(g):
    """Zeros like `g`, also where g is infinite or nan: no gradient flows, whatever arrives. Their own derivative is 0 for every g."""
    return where(g > np.inf, g, 0)


_BLOCK = 16_384
_ZEROS = {kind: np.zeros(_BLOCK, kind) for kind in (np.dtype("float32"), np.dtype("float64"))}


def _relu(x):
    """max(0, x). Two arrays take numpy a quarter of the time of a number and an array, so the zeros are an array, for one block after another."""
    zeros = _ZEROS.get(x.dtype)
    if zeros is None or x.size < 1024 or not x.flags.c_contiguous:
        return np.maximum(0, x)
    flat = x.reshape(-1)
    if flat.size <= _BLOCK:
        return np.maximum(zeros[: flat.size], flat).reshape(x.shape)
    out = np.empty(flat.size, x.dtype)
    for start in range(0, flat.size, _BLOCK):
        part = flat[start : start + _BLOCK]
        np.maximum(zeros[: part.size], part, out=out[start : start + _BLOCK])
    return out.reshape(x.shape)


_BITS = {np.dtype("float16"): np.int16, np.dtype("float32"): np.int32, np.dtype("float64"): np.int64}


def _where_open(g, y):
    """`g` where y is not zero, else 0, for infinite and nan gradients too: the bits of g times 0 or 1, a tenth of the time of np.where."""
    kind = _BITS.get(g.dtype)
    return np.where(y != 0, g, 0) if kind is None else (g.view(kind) * (y != 0)).view(g.dtype)


def _power_tensor(x, y):
    if x.dtype.kind == "f" or y.dtype.kind == "f" or (y >= 0).all():
        return np.power(x, y)
    ones = np.where(np.abs(x) == 1, np.power(x, np.abs(y)), 0)  # whole numbers: 1 / x ** |y| rounded towards 0
    return np.where(y >= 0, np.power(x, np.maximum(y, 0)), ones)


def _power_rule(g, x, exponent):
    return nothing(g) if exponent == 0 else g * (exponent * pow_number(x, exponent - 1))


def _power_base_rule(g, x, out, base):
    if base == 0:
        return g * where(x >= 0, 0, out * -INF)
    return g * (out * (math.log(base) if base > 0 else NAN))


# fmt: off
pow_number  = Op("pow", _power, ELEMENTWISE, x=_power_rule,
                 words={"x": "g × exponent × {x}^(exponent − 1)"})
pow_tensor  = Op("pow", lambda x, y: _power_tensor(x, y), ELEMENTWISE, refuses=("?", "pow"), node="PowBackward1", saved_as={"y": "exponent"},
                 x=lambda g, x, y: g * where(y == 0, 0, y * x ** (y - 1)), y=lambda g, x, y, out: g * where((x == 0) & (y >= 0), 0, out * log(x)),
                 words={"x": "g × exponent × {x}^(exponent − 1)"})
pow_base    = Op("pow", lambda x, base: np.power(x.dtype.type(base), x), ELEMENTWISE, floats=True, node="PowBackward2", x=_power_base_rule,
                 words={"x": "g × exponent × {x}^(exponent − 1)"})
# fmt: on


def pow(input, exponent):
    """`input` to the power `exponent`; either may be a number.
    Raises RuntimeError for integers to a negative power, TypeError for two numbers.

    >>> import minigrad as torch
    >>> torch.pow(torch.tensor([1., 2., 3.]), 2)
    tensor([1., 4., 9.])
    """
    if isinstance(exponent, (bool, int, float, np.generic)):
        exponent = exponent.item() if isinstance(exponent, np.generic) else exponent
        if isinstance(exponent, float) and input.array.dtype.kind != "f":
            input = input.to(dtypes.get_default_dtype())
        elif input.array.dtype.kind == "b":
            if isinstance(exponent, bool):
                return pow(input.to(dtypes.int64), int(exponent)).to(dtypes.bool_)
            input = input.to(dtypes.int64)
        try:
            return pow_number(input, exponent)
        except ValueError as error:  # integers to negative powers
            raise errors.new(RuntimeError, str(error)) from None
    if isinstance(input, (bool, int, float, np.generic)):
        if not isinstance(exponent, Variable):
            raise errors.new(
                TypeError, "pow(): argument 'exponent' (position 2) must be Tensor, not " + errors.type_name(exponent)
            )
        if exponent.array.dtype.kind != "f":
            return pow_tensor(input, exponent.to(dtypes.result_type(input, exponent)))
        return pow_base(exponent, input)
    return pow_tensor(input, exponent)


def square(input):
    """The square of each number."""
    return pow(input, 2)


def float_power(input, exponent):
    """The power in float64."""
    input, exponent = (x if isinstance(x, (int, float)) else x.to(dtypes.float64) for x in (input, exponent))
    return pow(input, exponent)


# Clamping: clamp() picks the row.
# fmt: off
clamp_numbers = Op("clamp", lambda x, min, max: np.clip(x, _bound(x, min), _bound(x, max)), ELEMENTWISE, refuses=("?", "clamp_cpu"), node="ClampBackward1", x=lambda g, x, min, max: where(inside(x, min, max), g, 0),
                   words={"x": "g where {x} was within its bounds, else 0"})
clamp_min_number = Op("clamp_min", lambda x, min: np.maximum(x, _bound(x, min)), ELEMENTWISE, refuses=("?", "clamp_min_scalar_cpu"), x=lambda g, x, min: where(x >= min, g, 0))
clamp_max_number = Op("clamp_max", lambda x, max: np.minimum(x, _bound(x, max)), ELEMENTWISE, refuses=("?", "clamp_max_scalar_cpu"), x=lambda g, x, max: where(x <= max, g, 0))
clamp_both  = Op("clamp", lambda x, a, b: np.minimum(np.maximum(x, a), b), ELEMENTWISE, refuses=("?", "clamp_cpu"), args="input min max", x=lambda g, x, a, b: where((x >= a) & (x <= b), g, 0),
                 a=lambda g, x, a, b: where((a < b) & (x < a), g, 0), b=lambda g, x, a, b: where((x > b) | (b < a), g, 0),
                 words={"x": "g where {x} was within its bounds, else 0"})
clamp_low   = Op("clamp", np.maximum, ELEMENTWISE, args="input min", x=lambda g, x, a: where(x >= a, g, 0), a=lambda g, x, a: where(x < a, g, 0), node="ClampBackward0",
                 words={"x": "g where {x} was within its bounds, else 0"})
clamp_high  = Op("clamp", np.minimum, ELEMENTWISE, args="input max", x=lambda g, x, b: where(x <= b, g, 0), b=lambda g, x, b: where(x > b, g, 0), node="ClampBackward0",
                 words={"x": "g where {x} was within its bounds, else 0"})
nan_to_num_ = Op("nan_to_num", lambda x, nan, posinf, neginf: np.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf), ELEMENTWISE, x=lambda g, x: where(isfinite(x), g, 0),
                 words={"x": "g where {x} is finite, else 0"})
signbit     = Op("signbit", np.signbit, DISCRETE, x=None)
# fmt: on


def inside(x, min, max):
    """Where x is within the bounds (None: no bound), which are included."""
    if min is None or max is None:
        return x <= max if min is None else x >= min
    return (x >= min) & (x <= max)


def _beside(input, *numbers):
    """`input` in the dtype that it has together with Python numbers (None: no number)."""
    if input.array.dtype.kind == "f":
        return input
    return input.to(dtypes.result_type(input, *[n for n in numbers if n is not None]))


def clamp(input, min=None, max=None):
    """`input` limited to [min, max], numbers or tensors; one of them may be missing. Raises RuntimeError if both are missing.

    >>> import minigrad as torch
    >>> torch.clamp(torch.tensor([-2., 0.5, 3.]), min=-1, max=1)
    tensor([-1.0000,  0.5000,  1.0000])
    """
    if min is None and max is None:
        raise errors.new(RuntimeError, "torch.clamp: At least one of 'min' or 'max' must not be None")
    if isinstance(min, (int, float, type(None))) and isinstance(max, (int, float, type(None))):
        return clamp_numbers(_beside(input, min, max), min, max)
    if min is None:
        return clamp_high(input, max)
    return clamp_low(input, min) if max is None else clamp_both(input, min, max)


def clamp_min(input, min):
    """`input`, or `min` where that is larger."""
    return clamp_min_number(_beside(input, min), min) if isinstance(min, (int, float)) else clamp_low(input, min)


def clamp_max(input, max):
    """`input`, or `max` where that is smaller."""
    return clamp_max_number(_beside(input, max), max) if isinstance(max, (int, float)) else clamp_high(input, max)


def nan_to_num(input, nan=0.0, posinf=None, neginf=None):
    """nan and the infinities replaced by numbers (default: 0 and the largest and smallest of the dtype)."""
    return nan_to_num_(input, nan, posinf, neginf)


def remainder(input, other):
    """The remainder of a division rounded down: it has the sign of `other`."""
    return remainder_number(input, other) if _number_for(input, other) else remainder_(input, other)


def fmod(input, other):
    """The remainder of a division rounded towards 0: it has the sign of `input`."""
    return fmod_number(input, other) if _number_for(input, other) else fmod_(input, other)


def _number_for(input, other):
    return isinstance(other, (bool, int, float)) and hasattr(input, "array") and input.array.dtype.kind == "f"


def times(alpha, input, other):
    """alpha * other, as add and sub scale their second operand: integers stay integers."""
    if alpha == 1:
        return other
    common = dtypes.result_type(input, other)
    if isinstance(alpha, float) and not common.is_floating_point:
        raise errors.new(
            RuntimeError, "For integral input tensors, argument alpha must not be a floating point number."
        )
    if common is dtypes.bool_ and alpha:
        return other & (input == input)
    if hasattr(other, "array") and other.array.dtype.kind == "b":
        other = other.to(common)  # alpha has the dtype of the result
    return other * alpha


def _recorded(*inputs):
    """Is one of them a tensor that requires gradients? Then an operation with a factor is one node, which saves nothing."""
    return builtins.any([getattr(x, "requires", False) for x in inputs])


def add_times(input, other, *, alpha=1):
    """input + alpha * other"""
    if alpha == 1 or not _recorded(input, other):
        return add(input, times(alpha, input, other))
    times(alpha, input, other)  # raises for a factor that does not fit
    return add_scaled(input, other, alpha)


def sub_times(input, other, *, alpha=1):
    """input - alpha * other. Raises RuntimeError for booleans."""
    bools = [hasattr(x, "array") and x.array.dtype.kind == "b" for x in (input, other)]
    if builtins.any(bools):
        raise errors.no_bools("sub", builtins.all(bools))
    if alpha == 1 or not _recorded(input, other):
        return sub(input, times(alpha, input, other))
    return sub_scaled(input, other, alpha)


def rsub_times(input, other, *, alpha=1):
    """other - alpha * input"""
    return (rsub_tensor if hasattr(other, "array") else rsub)(times(alpha, other, input), other)


def choose(condition, input=None, other=None):
    """Elements of `input` where `condition` is True, of `other` elsewhere; with the condition alone the positions where it is True.
    Raises RuntimeError unless `condition` is boolean."""
    if input is None and other is None:
        if getattr(condition, "batched", False):
            raise errors.new(
                RuntimeError,
                "vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over aten::where. Please "
                "file an issue at https://github.com/pytorch/pytorch/issues if you need this feature.",
            )
        return condition.nonzero(as_tuple=True)
    if hasattr(condition, "array") and condition.array.dtype.kind != "b":
        kind = errors.TYPE_NAMES[condition.array.dtype.name].removesuffix("Tensor")
        raise errors.new(
            RuntimeError,
            f"where expected condition to be a boolean tensor, but got a tensor with dtype {kind}",
            instead="compare: torch.where(x > 0, a, b); condition.bool() is True where a number is not 0.",
        )
    if isinstance(input, Variable) != isinstance(other, Variable):  # a number is stored in the result, so it must fit
        tensor, number = (input, other) if isinstance(input, Variable) else (other, input)
        common = dtypes.result_type(tensor, number) if isinstance(number, int) else dtypes.float64
        if not common.is_floating_point:
            dtypes.fitting(number, common)
    return where(condition, input, other)


def polygamma(n, input):
    """The n-th derivative of digamma. Raises RuntimeError for a negative n."""
    if n < 0:
        raise errors.new(RuntimeError, "polygamma(n, x) does not support negative n.")
    return polygamma_(input, n)


def logit(input, eps=None):
    """log(x / (1 - x)); with `eps` the input is limited to [eps, 1 - eps] first."""
    return logit_(input) if eps is None else logit_eps(input, eps)


def round(input, *, decimals=0):
    """The nearest whole number, halves to the even one; `decimals` places after the point (before it, if negative)."""
    return round_(input) if decimals == 0 else round_to(input, decimals)


def floor_divide(input, other):
    """The quotient rounded down. It has no derivative: with gradients recorded, the backward pass raises."""
    return floor_div_(input, other)


def lerp(input, end, weight):
    """The point between `input` (weight 0) and `end` (weight 1); `weight` is a number or a tensor.
    Raises RuntimeError for different dtypes, NotImplementedError for whole numbers."""
    if input.array.dtype is not end.array.dtype:
        dtype, other_dtype = (errors.SCALAR_NAMES[x.array.dtype.name] for x in (input, end))
        raise errors.new(
            RuntimeError,
            f"expected dtype {dtype} for `end` but got dtype {other_dtype}",
            instead="end.to(input.dtype).",
        )
    number = isinstance(weight, (int, float))
    if not input.dtype.is_floating_point:
        kind = errors.TYPE_NAMES[input.array.dtype.name].removesuffix("Tensor")
        raise errors.new(
            NotImplementedError, f"\"lerp_kernel_{'scalar' if number else 'tensor'}\" not implemented for '{kind}'"
        )
    if isinstance(weight, Variable) and weight.array.dtype is not input.array.dtype:
        dtype, other_dtype = (errors.SCALAR_NAMES[x.array.dtype.name] for x in (input, weight))
        raise errors.new(
            RuntimeError,
            f"expected dtype {dtype} for `weight` but got dtype {other_dtype}",
            instead="weight.to(input.dtype).",
        )
    return lerp_number(input, end, weight) if number else lerp_tensor(input, end, weight)


def addcmul(input, tensor1, tensor2, *, value=1):
    """input + value * tensor1 * tensor2"""
    return addcmul_(input, tensor1, tensor2, value)


def addcdiv(input, tensor1, tensor2, *, value=1):
    """input + value * tensor1 / tensor2. Raises RuntimeError for integers."""
    if not dtypes.result_type(tensor1, tensor2).is_floating_point:
        raise errors.new(
            RuntimeError,
            "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will perform a true division of tensor1 and tensor2.",
            instead="convert the tensors with .float(), or write input + value * (tensor1 // tensor2).",
        )
    return addcdiv_(input, tensor1, tensor2, value)


def isclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Element by element: is |input - other| <= atol + rtol * |other|? Raises RuntimeError for different dtypes.

    A negative rtol or atol is a RuntimeError, too."""
    if input.array.dtype is not other.array.dtype:
        names = [errors.TYPE_NAMES[x.array.dtype.name].removesuffix("Tensor") for x in (input, other)]
        raise errors.new(
            RuntimeError, " did not match ".join(names), instead="convert one of them: other.to(input.dtype)."
        )
    for name, tolerance in (("rtol", rtol), ("atol", atol)):
        if tolerance < 0:
            raise errors.new(RuntimeError, f"{name} must be greater than or equal to zero, but got {tolerance:g}")
    close = input == other
    if equal_nan:
        close = close | (isnan(input) & isnan(other))
    if rtol == 0 == atol:
        return close
    x, y = input, other
    if not input.dtype.is_floating_point:  # a difference of whole numbers could run over
        x, y = (t.to(dtypes.get_default_dtype()) for t in (input, other))
    error = abs(x - y)
    return close | (isfinite(error) & (error <= atol + abs(rtol * y)))


def allclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False) -> builtins.bool:
    """Is every element of `input` close to that of `other`? A Python bool; see `isclose`."""
    return builtins.bool(isclose(input, other, rtol, atol, equal_nan).array.all())


def divide(input, other, *, rounding_mode=None):
    """The quotient; with rounding_mode "floor" rounded down, with "trunc" towards zero. Raises RuntimeError for another mode."""
    if rounding_mode is None:
        return div(input, other)
    if rounding_mode not in ("floor", "trunc"):
        raise errors.new(
            RuntimeError,
            f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'",
        )
    return (div_floor if rounding_mode == "floor" else div_trunc)(input, other)


def equal(input, other) -> builtins.bool:
    """Same shape and same numbers? A Python bool."""
    return input.array.shape == other.array.shape and builtins.bool((input.array == other.array).all())


def positive(input):
    """`input` itself. Raises RuntimeError for bools, as PyTorch."""
    if input.array.dtype.kind == "b":
        raise errors.new(RuntimeError, "The `+` operator, on a bool tensor is not supported.")
    return input
