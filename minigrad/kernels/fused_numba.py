"""Functions of one number for fused kernels (minigrad/compiler.py), and how such a kernel is made from its source.

What lives here: exp, log, tanh and the like, for float32 as polynomials, which become vector code, and for float64 as calls.
What does not: tracing and the text of kernels (minigrad/compiler.py). Importing this file imports numba.
"""

import ast
import hashlib
import importlib.util
import math
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba import from_dtype, njit, types
from numpy import float32, float64, int32

from .neural_numba import HALF, MANTISSA, ONE, cdf, exp, gelu_derivative, in_order

# log: Cephes, logf. tanh: Eigen's ratio of polynomials in x * x.
L = [float32(c) for c in (7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1,
                          2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1)]  # fmt: skip
L0, L1, L2, L3, L4, L5, L6, L7, L8 = L
T0, T1, T2 = float32(-2.76076847742355e-16), float32(2.00018790482477e-13), float32(-8.60467152213735e-11)
T3, T4, T5 = float32(5.12229709037114e-08), float32(1.48572235717979e-05), float32(6.37261928875436e-04)
T6 = float32(4.89352455891786e-03)
U0, U1, U2 = float32(1.19825839466702e-06), float32(1.18534705686654e-04), float32(2.26843463243900e-03)
U3, FAR, NEAR = float32(4.89352518554385e-03), float32(7.90531110763549805), float32(4e-4)
ZERO, ROOT_HALF = float32(0), float32(math.sqrt(0.5))
LN2_HIGH, LN2_LOW = float32(0.693359375), float32(-2.12194440e-4)
LEAST, SCALE, INF, NAN = float32(1.17549435e-38), float32(2.0**25), float32(math.inf), float32(math.nan)
FRACTION, HALF_BITS, SHIFTED = int32(0x007FFFFF), int32(0x3F000000), float32(25)


@in_order
def bits_of(x):
    return float32(x).view(int32)


@in_order
def log_32(x):
    tiny = x < LEAST
    z = x * SCALE if tiny else x
    bits = bits_of(z)
    e = float32(int32(bits >> MANTISSA) - int32(126))
    e = e - SHIFTED if tiny else e
    m = int32((bits & FRACTION) | HALF_BITS).view(float32)
    low = m < ROOT_HALF
    e = e - ONE if low else e
    m = m + m - ONE if low else m - ONE
    s = m * m
    p = (((((((L0 * m + L1) * m + L2) * m + L3) * m + L4) * m + L5) * m + L6) * m + L7) * m + L8
    y = p * m * s + e * LN2_LOW - HALF * s
    y = (m + y) + e * LN2_HIGH
    y = -INF if x == ZERO else y
    y = NAN if x < ZERO else y
    return x if x != x or x == INF else y


@in_order
def tanh_32(x):
    c = -FAR if x < -FAR else x
    c = FAR if c > FAR else c
    s = c * c
    p = ((((((T0 * s + T1) * s + T2) * s + T3) * s + T4) * s + T5) * s + T6) * c
    q = ((U0 * s + U1) * s + U2) * s + U3
    y = ONE if x > FAR else p / q
    y = -ONE if x < -FAR else y
    return x if abs(x) < NEAR else y


@in_order
def sigmoid_32(x):
    return ONE / (ONE + exp(-x))


@in_order
def sqrt_32(x):
    return float32(math.sqrt(x))


FLOAT32 = {"T": float32, "exp": exp, "log": log_32, "tanh": tanh_32, "sigmoid": sigmoid_32, "cdf": cdf, "gelu_derivative": gelu_derivative,
           "sqrt": sqrt_32}  # fmt: skip


@in_order
def exp_64(x):
    return math.exp(x)


@in_order
def log_64(x):
    return math.log(x)


@in_order
def tanh_64(x):
    return math.tanh(x)


@in_order
def sigmoid_64(x):
    return 1.0 / (1.0 + math.exp(-x))


@in_order
def sqrt_64(x):
    return math.sqrt(x)


@in_order
def cdf_64(x):
    return (math.erf(x * math.sqrt(0.5)) + 1.0) * 0.5


@in_order
def gelu_derivative_64(x):
    return cdf_64(x) + x * math.exp(x * x * -0.5) * (1.0 / math.sqrt(2.0 * math.pi))


FLOAT64 = {"T": float64, "exp": exp_64, "log": log_64, "tanh": tanh_64, "sigmoid": sigmoid_64, "cdf": cdf_64,
           "gelu_derivative": gelu_derivative_64, "sqrt": sqrt_64}  # fmt: skip


def calls(kind):
    """What kernels may call besides: one call of the C library per number."""

    def of(function):
        @in_order
        def number(x):
            return kind(function(x))

        return number

    @in_order
    def power(x, n):
        return kind(math.pow(x, n))

    return {"sin": of(math.sin), "cos": of(math.cos), "power": power}


@njit(error_model="numpy", fastmath={"contract", "reassoc"})
def plus(total, x):
    return total + x


class _Typed(ast.NodeTransformer):
    """Names for the numbers of a loop. (As literals they would be float64, and the arithmetic around them, too.) And `total += x` may be
    reordered, so that the compiler can add up several numbers at once."""

    def __init__(self, kind):
        self.kind, self.found = kind, {}

    def visit_Constant(self, node):
        if type(node.value) in (int, float):
            name = f"number_{len(self.found)}"
            self.found[name] = self.kind(node.value)
            return ast.copy_location(ast.Name(name, ast.Load()), node)
        return node

    def visit_Subscript(self, node):
        return node

    def visit_AugAssign(self, node):
        node.value = self.visit(node.value)
        if not isinstance(node.target, ast.Name) or not isinstance(node.op, ast.Add):
            return node
        return ast.Assign(
            [node.target],
            ast.Call(ast.Name("plus", ast.Load()), [ast.Name(node.target.id, ast.Load()), node.value], []),
        )

    def visit_For(self, node):
        node.body = [self.visit(line) for line in node.body]
        return node


OPTIONS: dict[str, Any] = {"error_model": "numpy", "fastmath": {"contract"}}


def scope_of(kind):
    """What the text of a kernel finds around it."""
    table: dict[str, Any] = FLOAT32 if kind == "float32" else FLOAT64
    return {**table, **calls(table["T"]), "plus": plus, "inf": table["T"](math.inf), "nan": table["T"](math.nan)}


def typed(source, kind):
    """(tree, numbers) of a source."""
    found = _Typed((FLOAT32 if kind == "float32" else FLOAT64)["T"])
    return ast.fix_missing_locations(found.visit(ast.parse(source))), found.found


def build(source, kind):
    """Compile the functions of a kernel's source for arrays of one dtype. They are compiled for the arrays of their first call."""
    tree, numbers = typed(source, kind)
    scope = scope_of(kind) | numbers
    exec(compile(tree, "<minigrad fused kernel>", "exec"), scope)  # noqa: S102
    return [njit(**OPTIONS)(scope[line.name]) for line in tree.body]


MANY = 500  # files in it; then it is emptied


def build_loop(source, kind, arrays):
    """The compiled function of a loop over arrays of these (dtype, dimensions, order, only read)."""
    kinds = tuple(
        [types.Array(from_dtype(np.dtype(dtype)), ndim, layout, readonly) for dtype, ndim, layout, readonly in arrays]
    )
    try:
        loop = njit(cache=True, **OPTIONS)(_from_file(source, kind))
        loop.compile(kinds)
    except (
        OSError,
        RuntimeError,
        ImportError,
    ):  # the file or numba's cache cannot be written, or cannot be read
        (loop,) = build(source, kind)
        loop.compile(kinds)
    return loop


def _folder():
    """Where loops are kept: not beside the package's own files, which people count and pack."""
    place = (
        os.environ.get("NUMBA_CACHE_DIR")
        or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "minigrad"
    )
    return Path(place) / "loops"


def _from_file(source, kind):
    """The loop as a function of a file, because numba caches compiled functions by file. The file's name has
    all that the machine code depends on."""
    tree, numbers = typed(source, kind)
    lines = ["from minigrad.kernels.fused_numba import scope_of", f"globals().update(scope_of({kind!r}))"]
    lines += [f"{name} = T({float(number)!r})" for name, number in numbers.items()]
    text = "\n".join([*lines, ast.unparse(tree), ""])
    called = [
        Path(__file__).with_name(name).read_text(encoding="utf-8") for name in ("fused_numba.py", "neural_numba.py")
    ]
    title = hashlib.sha256("".join([text, numba.__version__, *called]).encode()).hexdigest()[:24]
    folder = _folder()
    path = folder / f"loop_{title}.py"
    if not path.exists():
        if folder.exists() and len(list(folder.glob("loop_*.py"))) > MANY:
            shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True, exist_ok=True)
        new = path.with_suffix(f".{os.getpid()}")
        new.write_text(text, encoding="utf-8")
        new.replace(path)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = sys.modules[path.stem] = importlib.util.module_from_spec(spec)  # where numba looks for it
    spec.loader.exec_module(module)
    return getattr(module, tree.body[0].name)
