"""The kinds of number a tensor can hold, under PyTorch's names, and what happens when two kinds meet.

What lives here: `dtype` and its instances, the correspondence with numpy, promotion (`promote_types`, `result_type`,
`can_cast`), the default dtype, `finfo` and `iinfo`. What does not: converting data (tensor.py) and operations (ops/).

Promotion is not numpy's: in PyTorch an integer tensor plus a float tensor takes the float tensor's dtype, and a Python number
or a 0-d tensor changes the dtype only if it is of a higher category (bool < integer < floating point).
"""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from . import errors


class dtype:
    """One kind of number. The instances are `float32`, `int64`, `bool`, ...; there is one of each, so compare with `is`.

    >>> float32, float, half
    (torch.float32, torch.float32, torch.float16)
    >>> int64.itemsize, int64.is_floating_point, uint8.is_signed
    (8, False, False)
    """

    __slots__ = ("__weakref__", "is_floating_point", "is_signed", "itemsize", "name", "numpy")
    name: str
    numpy: np.dtype  # how numpy stores it
    itemsize: builtins.int  # bytes per element
    is_floating_point: builtins.bool
    is_signed: builtins.bool
    is_complex = False

    def __new__(cls, *args: Any, **kwargs: Any) -> dtype:
        raise TypeError("cannot create 'torch.dtype' instances")

    def __repr__(self) -> str:
        return "torch." + self.name

    def __reduce__(self) -> str:  # pickle and deepcopy give back the one instance
        return self.name

    def __getattr__(self, attribute: str) -> None:
        # Reached only where no slot answers, so the check costs the other dtypes nothing.
        if attribute == "numpy":
            raise TypeError(
                f"{self!r} is known by name only: numpy, which stores minigrad's numbers, has no such type. "
                "Use torch.float32 (the same range, more digits) or torch.float16 (the same size)."
            )
        raise AttributeError(f"'torch.dtype' object has no attribute '{attribute}'")


def _make(name: str, storage: str | None = None, itemsize: builtins.int = 0) -> dtype:
    d = object.__new__(dtype)
    d.name = name
    d.itemsize = itemsize
    if storage:
        d.numpy = np.dtype(storage)
        d.itemsize = d.numpy.itemsize
    d.is_floating_point = "float" in name
    d.is_signed = not name.startswith(("uint", "bool"))
    return d


float64 = _make("float64", "float64")
float32 = _make("float32", "float32")
float16 = _make("float16", "float16")
bfloat16 = _make("bfloat16", itemsize=2)
uint8 = _make("uint8", "uint8")
int8 = _make("int8", "int8")
int16 = _make("int16", "int16")
int32 = _make("int32", "int32")
int64 = _make("int64", "int64")
bool_ = _make("bool", "bool")

ALL = (float64, float32, float16, bfloat16, uint8, int8, int16, int32, int64, bool_)
FROM_NUMPY = {d.numpy: d for d in ALL if d is not bfloat16}
_FROM_PYTHON = {builtins.float: float64, builtins.int: int64, builtins.bool: bool_}
_default = float32


def from_numpy_dtype(numpy_dtype: np.dtype) -> dtype:
    """The dtype of an ndarray's numbers. Raises TypeError for types that no tensor holds (objects, strings, complex)."""
    try:
        return FROM_NUMPY[numpy_dtype]
    except KeyError:
        swapped = FROM_NUMPY.get(numpy_dtype.newbyteorder("="))
        if swapped is not None:
            raise ValueError(
                "given numpy array has byte order different from the native byte order. "
                f"Conversion between byte orders is currently not supported. Write array.astype('{swapped.name}') first."
            ) from None
        raise TypeError(
            f"can't convert np.ndarray of type {numpy_dtype.type.__module__}.{numpy_dtype.type.__name__}. "
            f"The only supported types are: {', '.join(d.name for d in FROM_NUMPY.values())}."
        ) from None


def native(array: np.ndarray) -> np.ndarray:
    """The same numbers with numpy's one dtype object of their kind: the engine compares them with `is`, and unpickled arrays bring others.

    Raises as `from_numpy_dtype`.
    """
    native_dtype = from_numpy_dtype(array.dtype).numpy
    return array if array.dtype is native_dtype else array.view(native_dtype)


def as_dtype(d: Any, function: str = "tensor", argument: str = "dtype") -> dtype:
    """What a caller passed as `dtype=`: a dtype, or Python's float, int or bool, which mean float64, int64 and bool.

    Raises TypeError, naming `function` and `argument`, for anything else.
    """
    if type(d) is dtype:
        return d
    try:
        return _FROM_PYTHON[d]
    except (KeyError, TypeError):
        raise errors.new(
            TypeError, f"{function}(): argument '{argument}' must be torch.dtype, not {type(d).__name__}"
        ) from None


# Promotion -----------------------------------------------------------------------------------------------------------


def _promote(a: dtype, b: dtype) -> dtype:
    if a is b or b is bool_:
        return a
    if a is bool_:
        return b
    if a.is_floating_point != b.is_floating_point:  # an integer never widens a float
        return a if a.is_floating_point else b
    if a.itemsize == b.itemsize:  # neither holds the other's numbers: the next size does
        return float32 if a.is_floating_point else int16
    return a if a.itemsize > b.itemsize else b


PROMOTE = {(a, b): _promote(a, b) for a in ALL for b in ALL}


def promote_types(type1: dtype, type2: dtype) -> dtype:
    """The smallest dtype of the higher category that holds both. Raises TypeError for other types.

    >>> promote_types(int64, float16), promote_types(uint8, int8)
    (torch.float16, torch.int16)
    """
    try:
        return PROMOTE[type1, type2]
    except (KeyError, TypeError):
        for position, d in enumerate((type1, type2), 1):
            if not isinstance(d, dtype):
                raise TypeError(
                    f"promote_types(): argument 'type{position}' (position {position}) must be torch.dtype, not {type(d).__name__}"
                ) from None
        raise


def scalar_dtype(number: builtins.bool | builtins.float) -> dtype:
    """The dtype a Python number would have as a tensor: bool, int64, or the default dtype. Raises TypeError for others."""
    if isinstance(number, (builtins.bool, np.bool_)):
        return bool_
    if isinstance(number, (builtins.int, np.integer)):
        return int64
    if isinstance(number, (builtins.float, np.floating)):
        return _default
    raise TypeError(f"expected a tensor or a number (int, float, bool), not {type(number).__name__}")


_C_NAMES = {
    "uint8": "uint8_t", "int8": "int8_t", "int16": "int16_t", "int32": "int", "int64": "int64_t",
    "float32": "float", "float16": "c10::Half",
}  # fmt: skip


def wrapped(number: Any, d: dtype) -> np.ndarray:
    """A Python number as an operand. One that is too large for an integer dtype loses its upper bits, as in PyTorch.
    Raises OverflowError beyond 64 bits."""
    try:
        return np.array(number, d.numpy)
    except OverflowError:
        if not isinstance(number, builtins.int) or not -(2**63) <= number < 2**64:
            raise errors.new(OverflowError, "int too big to convert") from None
        return np.array(number % 2**64, np.uint64).astype(d.numpy)


def fitting(number: Any, d: dtype, name: str = "") -> Any:
    """A Python number that is to be stored in `d` (fill_, clamp, an assignment). Raises RuntimeError if it does not fit.

    As in PyTorch, unsigned dtypes take -1 as their largest number. `name` is what the message calls the dtype.
    """
    kind = d.numpy.kind
    fits = True
    if kind in "iu" and not isinstance(number, (builtins.bool, np.bool_)):
        limits = np.iinfo(d.numpy)
        is_integer = isinstance(number, (builtins.int, np.integer))
        lowest = -builtins.int(limits.max) if kind == "u" and is_integer else builtins.int(limits.min)
        fits = number == number and lowest <= number <= builtins.int(limits.max)
    elif kind == "f" and d is not float64:
        fits = number != number or abs(number) in (np.inf,) or abs(number) <= builtins.float(np.finfo(d.numpy).max)
    if not fits:
        raise errors.new(
            RuntimeError,
            f"value cannot be converted to type {name or _C_NAMES[d.name]} without overflow",
            why="Whole numbers have no inf and no nan."
            if number != number or abs(number) == np.inf
            else f"{d!r} has no number {number}.",
            instead="x.float() first." if kind in "iu" else "use a wider dtype.",
        )
    if kind in "iu" and isinstance(number, (builtins.float, np.floating)):
        number = builtins.int(number)
    return wrapped(number, d)[()]


def combine(dimensioned: dtype | None, zero_dim: dtype | None, number: dtype | None) -> dtype | None:
    """The result dtype from the promoted dtypes of three ranks of operand (None: no such operand).

    Tensors with dimensions decide; a 0-d tensor, and below it a Python number, is heard only if its category is higher.
    """
    result = None
    for higher in (number, zero_dim, dimensioned):
        if result is None:
            result = higher
        elif higher is not None:
            if higher is bool_ or (result.is_floating_point and not higher.is_floating_point):
                result = PROMOTE[higher, result]
            else:
                result = higher
    return result


def result_type(*operands: Any) -> dtype:
    """The dtype of an arithmetic operation on `operands`: tensors, ndarrays or Python numbers, as many as there are.
    Raises TypeError without operands.

    >>> result_type(np.ones(3, "int32"), 2), result_type(np.ones(3, "int32"), 2.0), result_type(np.ones(3, "float16"), 2.0)
    (torch.int32, torch.float32, torch.float16)
    >>> result_type(np.ones(3, "float32"), np.array(2.0, "float64"))  # 0-d: the same category, so not heard
    torch.float32
    """
    dimensioned = zero_dim = number = None
    for x in operands:
        d = None if isinstance(x, np.generic) else getattr(x, "dtype", None)
        if d is None:
            d = scalar_dtype(x)
            number = d if number is None else PROMOTE[number, d]
            continue
        if type(d) is not dtype:
            d = from_numpy_dtype(d)
        if x.ndim:
            dimensioned = d if dimensioned is None else PROMOTE[dimensioned, d]
        else:
            zero_dim = d if zero_dim is None else PROMOTE[zero_dim, d]
    result = combine(dimensioned, zero_dim, number)
    if result is None:
        raise TypeError("result_type() needs at least one tensor or number")
    return result


def can_cast(from_: dtype, to: dtype) -> builtins.bool:
    """Whether a result of dtype `from_` may be written into a tensor of dtype `to`: never down a category.
    Raises TypeError for what is no dtype.

    >>> can_cast(float64, float16), can_cast(float32, int64), can_cast(int64, bool_)
    (True, False, False)
    """
    for position, (name, d) in enumerate((("from_", from_), ("to", to)), 1):
        if not isinstance(d, dtype):
            raise TypeError(
                f"can_cast(): argument '{name}' (position {position}) must be torch.dtype, not {type(d).__name__}"
            )
    return not (from_.is_floating_point and not to.is_floating_point) and not (to is bool_ and from_ is not bool_)


# The default dtype ---------------------------------------------------------------------------------------------------


def get_default_dtype() -> dtype:
    """What Python floats become, and what the factories make when not told: float32 unless set otherwise."""
    return _default


def set_default_dtype(d: dtype) -> None:
    """Make `d`, a floating-point dtype, the default. Raises TypeError for others."""
    global _default
    if not isinstance(d, dtype):
        raise TypeError("invalid dtype object: only floating-point types are supported as the default type")
    if not d.is_floating_point:
        raise errors.new(TypeError, "only floating-point types are supported as the default type")
    d.numpy  # bfloat16 explains itself here rather than at the next tensor  # noqa: B018
    _default = d


# Limits --------------------------------------------------------------------------------------------------------------


class finfo:
    """The limits of a floating-point dtype (default: the default dtype).

    `eps` is the step from 1 to the next number, `resolution` the decimal digits that survive, `tiny` the smallest normal number.
    Raises TypeError for a dtype that is not one.

    >>> finfo(float32).eps, finfo(float16).max
    (1.1920928955078125e-07, 65504.0)
    """

    def __init__(self, type: dtype | None = None) -> None:
        d = _default if type is None else type
        _expect_dtype("finfo", d)
        if not d.is_floating_point:
            raise errors.new(
                TypeError, "torch.finfo() requires a floating point input type. Use torch.iinfo to handle 'torch.finfo'"
            )
        self.dtype = d.name
        self.bits = 8 * d.itemsize
        if d is bfloat16:  # the first 16 bits of a float32: 8 of exponent, 7 of fraction
            self.eps, self.max, self.tiny, self.resolution = 2.0**-7, 2.0**127 * (2 - 2.0**-7), 2.0**-126, 0.01
        else:
            f = np.finfo(d.numpy)
            self.eps, self.max, self.tiny = builtins.float(f.eps), builtins.float(f.max), builtins.float(f.tiny)
            self.resolution = 10.0**-f.precision
        self.min = -self.max
        self.smallest_normal = self.tiny

    def __repr__(self) -> str:
        fields = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        return f"finfo({', '.join(f'{name}={getattr(self, name):g}' for name in fields)}, dtype={self.dtype})"

    def __eq__(self, other: object) -> builtins.bool:
        return type(other) is type(self) and other.dtype == self.dtype

    def __hash__(self) -> builtins.int:
        return hash(self.dtype)


class iinfo:
    """The limits of an integer dtype.

    Raises TypeError for floats and booleans.

    >>> iinfo(int8)
    iinfo(min=-128, max=127, dtype=int8)
    """

    def __init__(self, type: dtype) -> None:
        _expect_dtype("iinfo", type)
        if type.is_floating_point:
            raise TypeError("torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.iinfo'")
        if type is bool_:
            raise TypeError("torch.bool is not supported by torch.iinfo")
        i = np.iinfo(type.numpy)
        self.dtype, self.bits, self.min, self.max = type.name, i.bits, builtins.int(i.min), builtins.int(i.max)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"

    def __eq__(self, other: object) -> builtins.bool:
        return type(other) is type(self) and other.dtype == self.dtype

    def __hash__(self) -> builtins.int:
        return hash(self.dtype)


def _expect_dtype(function: str, d: Any) -> None:
    if not isinstance(d, dtype):
        raise TypeError(f"{function}(): argument 'type' (position 1) must be torch.dtype, not {type(d).__name__}")


# PyTorch's short names. Last, because three of them hide Python's own; above, those are written builtins.float and so on.
double = float64
float = float32
half = float16
short = int16
int = int32
long = int64
bool = bool_
