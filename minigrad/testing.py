"""torch.testing: `assert_close`."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .core import dtypes, errors
from .tensors.create import as_tensor

if TYPE_CHECKING:
    from .tensors.tensor import Tensor as Variable  # its only direct subclass, with all the methods
else:
    from .core.variable import Variable

# (rtol, atol) of each dtype; 0 for the others
_TOLERANCES = {dtypes.float16: (1e-3, 1e-5), dtypes.float32: (1.3e-6, 1e-5), dtypes.float64: (1e-7, 1e-7)}


def assert_close(
    actual: Any, expected: Any, *, allow_subclasses: bool = True, rtol: float | None = None, atol: float | None = None,
    equal_nan: bool = False, check_device: bool = True, check_dtype: bool = True, check_layout: bool = True, check_stride: bool = False,
    msg: Any = None,
) -> None:  # fmt: skip
    """Raise AssertionError unless |actual - expected| <= atol + rtol * |expected| everywhere. Tensors, arrays, numbers, and sequences and
    mappings of these.

    rtol, atol   both or neither; by default those of the dtype (float32: 1.3e-6 and 1e-5, float64: 1e-7 and 1e-7, whole numbers: 0)
    equal_nan    nan equals nan
    check_dtype  the dtypes must agree; check_stride: the strides, too
    msg          what the error says, or a function of what it would say
    Raises ValueError for one of rtol and atol alone, TypeError for what cannot be compared.

    >>> import minigrad as torch
    >>> torch.testing.assert_close(torch.tensor([1., 2.]), torch.tensor([1., 2.0000001]))
    """
    if (rtol is None) != (atol is None):
        missing = "rtol" if rtol is None else "atol"
        raise ValueError(f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {missing}.")
    problem = _difference(actual, expected, rtol, atol, equal_nan, check_dtype, check_stride, "")
    if problem is not None:
        raise AssertionError(problem if msg is None else msg(problem) if callable(msg) else msg)


def _difference(actual, expected, rtol, atol, equal_nan, check_dtype, check_stride, item):
    """The difference, in PyTorch's words, or None. `item`: the place in the sequences and mappings."""
    where = f"\n\nThe failure occurred for item {item}" if item else ""
    options = rtol, atol, equal_nan, check_dtype, check_stride
    if isinstance(actual, Mapping) and isinstance(expected, Mapping):
        if actual.keys() != expected.keys():
            missing, more = sorted(expected.keys() - actual.keys()), sorted(actual.keys() - expected.keys())
            return (
                f"The keys of the mappings do not match:\nMissing keys in the actual mapping: {missing}\n"
                f"Additional keys in the actual mapping: {more}{where}"
            )
        result = (_difference(actual[k], expected[k], *options, f"{item}[{k!r}]") for k in actual)
        return next((problem for problem in result if problem is not None), None)
    if _is_sequence(actual) and _is_sequence(expected):
        if len(actual) != len(expected):
            return f"The length of the sequences mismatch: {len(actual)} != {len(expected)}{where}"
        result = (
            _difference(a, b, *options, f"{item}[{i}]") for i, (a, b) in enumerate(zip(actual, expected, strict=True))
        )
        return next((problem for problem in result if problem is not None), None)
    if actual is None or expected is None:
        return None if actual is expected else f"None mismatch: {actual} is not {expected}{where}"
    number = not isinstance(actual, Variable | np.ndarray) and not isinstance(expected, Variable | np.ndarray)
    if not number and isinstance(actual, Variable) != isinstance(expected, Variable):
        raise errors.new(
            TypeError, f"No comparison pair was able to handle inputs of type {type(actual)} and {type(expected)}."
        )
    a, b = (_tensor(x) for x in (actual, expected))
    for name, actual_part, expected_part in (
        ("shape", a.shape, b.shape),
        ("dtype", a.dtype, b.dtype),
        ("stride()", a.stride(), b.stride()),
    ):
        checked = not number and (
            name == "shape" or (name == "dtype" and check_dtype) or (name == "stride()" and check_stride)
        )
        if checked and actual_part != expected_part:
            return f"The values for attribute '{name}' do not match: {actual_part} != {expected_part}.{where}"
    problem = _numbers(a.array, b.array, rtol, atol, equal_nan, number, dtypes.promote_types(a.dtype, b.dtype))
    return None if problem is None else problem + where


def _tensor(x):
    if isinstance(x, Variable):
        return x.detach()
    try:
        return as_tensor(np.array(x))
    except TypeError:
        raise errors.new(TypeError, f"No comparison pair was able to handle inputs of type {type(x)}.") from None


def _is_sequence(x: Any) -> bool:
    return isinstance(x, Sequence) and not isinstance(x, str | bytes | np.ndarray | Variable)


def _numbers(a, b, rtol, atol, equal_nan, number, kind):
    if rtol is None:
        rtol, atol = _TOLERANCES.get(kind, (0.0, 0.0))
    exact = rtol == atol == 0
    wide = np.float64 if "f" in (a.dtype.kind, b.dtype.kind) else object  # whole numbers of 64 bits do not run over
    x, y = np.asarray(a).astype(wide), np.asarray(b).astype(wide)
    if wide is object:
        close = np.asarray(np.abs(x - y) <= atol + rtol * np.abs(y)).astype(bool)
    else:
        with np.errstate(all="ignore"):
            close = (x == y) | (np.isfinite(x) & np.isfinite(y) & (np.abs(x - y) <= atol + rtol * np.abs(y)))
        if equal_nan:
            close = close | (np.isnan(x) & np.isnan(y))
    if np.all(close):
        return None
    fine = np.float64 if kind is dtypes.float64 or number else np.float32
    with np.errstate(all="ignore"):
        away = np.where(close, 0, np.abs(np.asarray(x - y).astype(fine)))
        relative = np.where(close, 0, away / np.abs(np.asarray(y).astype(fine)))
    if not np.ndim(close):
        displayed = f"{int(away.item())}" if wide is object else f"{away.item()}"
        allowed = ("", "") if exact else (f" (up to {atol} allowed)", f" (up to {rtol} allowed)")
        head = f"Scalars are not {'equal' if exact else 'close'}!\n\nExpected {b.item()} but got {a.item()}.\n"
        return f"{head}Absolute difference: {displayed}{allowed[0]}\nRelative difference: {relative.item()}{allowed[1]}"
    wrong = int(np.size(close) - np.count_nonzero(close))
    lines = [f"Mismatched elements: {wrong} / {np.size(close)} ({wrong / np.size(close):.1%})"]
    for name, values, limit in (("absolute", away, atol), ("relative", relative, rtol)):
        place = int(np.argmax(np.where(np.isnan(values), math.inf, values)))
        index = tuple(int(i) for i in np.unravel_index(place, values.shape))
        greatest = values[index].item()
        text = str(int(greatest)) if wide is object and name == "absolute" else str(greatest)
        lines.append(f"Greatest {name} difference: {text}" + (f" at index {index}" if values.ndim else ""))
        lines[-1] += "" if exact else f" (up to {limit} allowed)"
    return f"Tensor-likes are not {'equal' if exact else 'close'}!\n\n" + "\n".join(lines)


__all__ = ["assert_close"]
__getattr__ = errors.unknown_in("minigrad.testing", lambda: __all__)
