"""Making tensors: from data, filled, counted, random.

What lives here: the factories under PyTorch's names. What does not: the random generator (random.py).
"""

from __future__ import annotations

import builtins
import functools
import math
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import dtypes, errors
from ..core.devices import META, row_by_row
from ..core.devices import device as make_device
from ..core.dispatch import state
from ..core.facts import NotDifferentiable
from ..core.grad_mode import no_grad
from ..core.meta import MetaArray
from ..core.storage import like
from ..core.variable import wrap
from ..random import Generator, default_generator, get_rng_state, initial_seed, manual_seed, set_rng_state  # noqa: F401

if TYPE_CHECKING:
    from ..core.devices import DeviceLike, memory_format
    from ..tensors.tensor import Tensor as Variable  # its only direct subclass, with all the methods
    from .tensor import Tensor
else:
    from ..core.variable import Variable


def _is_meta(device: DeviceLike) -> bool:
    """Is this the device "meta"? Raises the device's error for one that does not exist."""
    return device is not None and make_device(device) == META


def _finish(array: np.ndarray, requires_grad: bool, device: DeviceLike = None) -> Tensor:
    if _is_meta(device):
        t = wrap(MetaArray(array.shape, array.dtype))
    else:
        t = wrap(array)
    if requires_grad is False:
        return t
    if requires_grad is not True:
        factory, kind = sys._getframe(1).f_code.co_name, errors.type_name(requires_grad)
        raise errors.new(
            TypeError, f"{factory}(): argument 'requires_grad' must be bool, not {kind}", instead="requires_grad=True."
        )
    if array.dtype.kind != "f":
        raise errors.new(
            RuntimeError,
            "Only Tensors of floating point and complex dtype can require gradients",
            f"The tensor holds {t.dtype}.",
            "A derivative asks what a small change does; whole numbers have no small changes.",
            "write the numbers with decimal points (torch.tensor([1., 2.])) or pass dtype=torch.float32.",
            "chapter 09, Tensors",
            NotDifferentiable(str(t.dtype)),
        )
    t.requires_grad = True
    return t


def _made(make: Callable[..., np.ndarray], shape: tuple[int, ...], dtype: np.dtype, device: DeviceLike) -> np.ndarray:
    """make(shape, dtype); for a meta tensor, which keeps only both, an array that takes no memory."""
    if _is_meta(device):
        return np.broadcast_to(np.zeros((), dtype), shape)
    return make(shape, dtype)


def _dtype(dtype: Any, default: dtypes.dtype | None = None, factory: str = "tensor") -> np.dtype:
    return (
        (dtypes.get_default_dtype() if default is None else default).numpy
        if dtype is None
        else dtypes.as_dtype(dtype, factory).numpy
    )


def _shape(size: Any, factory: str = "empty") -> tuple[int, ...]:
    if not size:
        raise errors.new(
            TypeError,
            f'{factory}() missing 1 required positional arguments: "size"',
            instead=f"{factory}(()) makes a single number.",
        )
    size = size[0] if len(size) == 1 and isinstance(size[0], (tuple, list)) else size
    for n in size:
        if not isinstance(n, (int, np.integer, Variable)):
            raise errors.new(
                TypeError, f"{factory}(): argument 'size' (position 1) must be tuple of ints, not {type(n).__name__}"
            )
    shape = tuple([int(n) for n in size])
    for n in shape:
        if n < 0:
            sentence = f"Trying to create tensor with negative dimension {n}: {list(shape)}"
            raise errors.new(
                RuntimeError, "zeros: Dimension size must be non-negative." if factory == "zeros" else sentence
            )
    return shape


def _plain(data: Any) -> Any:
    """Nested lists with Tensors in them as nested lists of numbers."""
    if isinstance(data, Variable):
        return data.tolist()
    if isinstance(data, (list, tuple)):
        return [_plain(d) for d in data]
    return data


def _from_data(data: Any, dtype: Any) -> np.ndarray:
    """An ndarray (a copy) of the dtype that PyTorch infers. Raises ValueError for ragged lists."""
    if isinstance(data, (np.ndarray, np.generic)):
        kind = dtypes.from_numpy_dtype(data.dtype)
        return dtypes.native(np.array(data, dtype=_dtype(dtype, kind)))
    data = _plain(data)
    _check_nesting(data)
    _check_numbers(data)
    array = np.array(data)
    if (
        array.dtype.kind in "Ou"
        and not isinstance(data, np.generic)
        and (array.dtype.kind == "O" or array.size and array.max() >= 2**63)
    ):
        raise errors.new(
            ValueError,
            "Overflow when unpacking long long",
            why="Whole numbers have 64 bits.",
            instead="write it as a float.",
        )
    default = {"f": dtypes.get_default_dtype(), "i": dtypes.int64, "u": dtypes.int64, "b": dtypes.bool_}.get(
        array.dtype.kind
    )
    if default is None:
        raise TypeError("minigrad has no complex numbers; torch.tensor() takes bool, int and float.")
    if not array.size and isinstance(data, list):
        default = dtypes.get_default_dtype()
    if any(isinstance(d, (np.ndarray, np.generic)) for d in (data if isinstance(data, list) else ())) and len(data):
        default = dtypes.from_numpy_dtype(array.dtype)
    target = _dtype(dtype, default)
    if target.kind in "iu" and array.size and array.dtype != target and array.dtype.kind != "b":
        for extreme in (array.min(), array.max()):
            dtypes.fitting(extreme.item(), dtypes.FROM_NUMPY[target], target.name)
    return array.astype(target)


def _check_numbers(data: Any) -> None:
    """Raise PyTorch's error if something in the nested lists is no number."""
    if isinstance(data, (list, tuple, range)):
        for d in data:
            _check_numbers(d)
    elif isinstance(data, (str, bytes)):
        raise errors.new(TypeError, f"new(): invalid data type '{type(data).__name__}'")
    elif not isinstance(data, (bool, int, float, complex, np.generic, np.ndarray)) and not hasattr(data, "__array__"):
        raise errors.new(
            RuntimeError,
            f"Could not infer dtype of {type(data).__name__}",
            why="A tensor holds numbers: bool, int or float.",
            instead="pass a number or nested lists of numbers.",
        )


def _check_nesting(data: Any, depth: int = 0) -> None:
    if not isinstance(data, (list, tuple)) or not data:
        return
    if not isinstance(data[0], (list, tuple, np.ndarray)):
        for d in data[1:]:
            if isinstance(d, (list, tuple)):
                raise errors.new(
                    TypeError,
                    "'list' object cannot be interpreted as an integer",
                    why="A tensor is rectangular: a number cannot stand beside a list.",
                )
        return
    for d in data:
        if not hasattr(d, "__len__"):
            raise errors.new(
                TypeError, f"expected sequence of length {len(data[0])} at dim {depth + 1} (got {type(d).__name__})"
            )
        if len(d) != len(data[0]):
            raise errors.new(
                ValueError,
                f"expected sequence of length {len(data[0])} at dim {depth + 1} (got {len(d)})",
                why="A tensor is rectangular: all rows have the same length.",
                instead="fill the shorter rows up, or keep a list of tensors.",
            )
        _check_nesting(d, depth + 1)


def tensor(
    data: Any,
    *,
    dtype: dtypes.dtype | None = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """A new tensor with the numbers of `data`: a number, nested lists, an ndarray. Always a copy, always a leaf.

    >>> import minigrad as torch
    >>> torch.tensor([[1, 2], [3, 4.5]])
    tensor([[1.0000, 2.0000],
            [3.0000, 4.5000]])
    """
    if isinstance(data, Variable):
        warnings.warn(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
            "sourceTensor.detach().clone().requires_grad_(True), rather than torch.tensor(sourceTensor).",
            UserWarning,
            stacklevel=2,
        )
        data = data.array
    elif isinstance(data, np.ndarray):
        _check_strides(data)
    return _finish(_from_data(data, dtype), requires_grad, device)


def as_tensor(data: Any, dtype: dtypes.dtype | None = None, device: DeviceLike = None) -> Tensor:
    """`data` as a tensor, without a copy where it is one already or an ndarray of that dtype."""
    if isinstance(data, Variable):
        return data.to(device=device, dtype=dtype)
    if _is_meta(device):
        return tensor(data, dtype=dtype, device=device)
    if isinstance(data, np.ndarray):
        kind = dtypes.from_numpy_dtype(data.dtype)
        _check_strides(data)
        return wrap(dtypes.native(np.asarray(data, _dtype(dtype, kind))))
    return tensor(data, dtype=dtype)


def _check_strides(array: np.ndarray) -> None:
    """Raise PyTorch's error for an ndarray that runs backwards through its memory."""
    if any([s < 0 for s, n in zip(array.strides, array.shape, strict=True) if n > 1]):
        raise errors.new(
            ValueError,
            "At least one stride in the given numpy array is negative, and tensors with negative strides are not currently supported. "
            "(You can probably work around this by making a copy of your array  with array.copy().) ",
        )


def from_numpy(ndarray: np.ndarray) -> Tensor:
    """A tensor that shares the storage of the ndarray. Raises TypeError for anything else."""
    if not isinstance(ndarray, np.ndarray):
        raise errors.new(TypeError, f"expected np.ndarray (got {type(ndarray).__name__})")
    _check_strides(ndarray)
    if not ndarray.flags.writeable:
        errors.warn(
            "The given NumPy array is not writable, and PyTorch does not support non-writable tensors. This means writing to this tensor "
            "will result in undefined behavior. You may want to copy the array to protect its data or make it writable before converting "
            "it to a tensor. This type of warning will be suppressed for the rest of this program."
        )
    return wrap(dtypes.native(ndarray))


def zeros(
    *size: Any,
    dtype: dtypes.dtype | None = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """Zeros of a shape, integers or one tuple, in `dtype` (default: the default dtype). Raises RuntimeError for a negative size."""
    return _finish(_made(np.zeros, _shape(size, "zeros"), _dtype(dtype, None, "zeros"), device), requires_grad, device)


def ones(
    *size: Any, dtype: dtypes.dtype | None = None, device: DeviceLike = None, requires_grad: bool = False
) -> Tensor:
    """Ones of a shape, integers or one tuple, in `dtype` (default: the default dtype). Raises RuntimeError for a negative size."""
    return _finish(_made(np.ones, _shape(size, "ones"), _dtype(dtype, None, "ones"), device), requires_grad, device)


def empty(
    *size: Any,
    dtype: dtypes.dtype | None = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
    memory_format: memory_format | None = None,
) -> Tensor:
    """A tensor whose numbers are not set (they may be anything)."""
    row_by_row(memory_format, "empty", "unsupported memory format Preserve")
    return _finish(_made(np.empty, _shape(size, "empty"), _dtype(dtype, None, "empty"), device), requires_grad, device)


def empty_strided(
    size: Sequence[int],
    stride: Sequence[int],
    *,
    dtype: dtypes.dtype | None = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor of that shape that steps so through its storage, in elements; its numbers are not set."""
    places = 1 + builtins.sum([(n - 1) * s for n, s in zip(size, stride, strict=True)]) if 0 not in size else 0
    storage = np.empty(places, _dtype(dtype, None, "empty_strided"))
    return _finish(
        np.lib.stride_tricks.as_strided(storage, size, [s * storage.itemsize for s in stride]), requires_grad, device
    )


def _number(value: Tensor | float, factory: str) -> float:
    """A number, also of a tensor: but its gradient would be lost."""
    if isinstance(value, Variable) and value.requires_grad:
        raise errors.new(TypeError, f"{factory}(): argument 'fill_value' (position 2) must be Number, not Tensor")
    return value.item() if isinstance(value, Variable) else value


def full(
    size: int | Sequence[int],
    fill_value: Tensor | float,
    *,
    dtype: dtypes.dtype | None = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor of shape `size` filled with one number; without `dtype` the number decides: bool, int64 or the default dtype."""
    fill_value = _number(fill_value, "full")
    kind = _dtype(dtype, dtypes.scalar_dtype(fill_value))
    value = dtypes.fitting(fill_value, dtypes.FROM_NUMPY[kind])
    return _finish(np.full(_shape((size,)), value, kind), requires_grad, device)


def _like(function: Any) -> Any:
    """Decorates the factories that take a tensor as their model: inside vmap the result is one of each sample, too."""

    @functools.wraps(function)
    def wrapped(input: Any, *args: Any, **kwargs: Any) -> Tensor:
        return (
            input.like(wrapped, *args, **kwargs)
            if getattr(input, "batched", False)
            else function(input, *args, **kwargs)
        )

    return wrapped


def _filled_like(input: Tensor, dtype: dtypes.dtype | None, value: float) -> Any:
    """An array as `like` says, with one number everywhere."""
    out: Any = like(input.array, _dtype(dtype, input.dtype))
    if isinstance(out, MetaArray):
        return out
    out[...] = dtypes.fitting(value, dtypes.FROM_NUMPY[out.dtype])
    return out


@_like
def zeros_like(
    input: Tensor, *, dtype: dtypes.dtype | None = None, device: DeviceLike = None, requires_grad: bool = False
) -> Tensor:
    """Zeros in the shape of `input`, and in its dtype unless `dtype` is given."""
    return _finish(_filled_like(input, dtype, 0), requires_grad, device)


@_like
def ones_like(
    input: Tensor, *, dtype: dtypes.dtype | None = None, device: DeviceLike = None, requires_grad: bool = False
) -> Tensor:
    """Ones in the shape of `input`, and in its dtype unless `dtype` is given."""
    return _finish(_filled_like(input, dtype, 1), requires_grad, device)


@_like
def empty_like(
    input: Tensor, *, dtype: dtypes.dtype | None = None, device: DeviceLike = None, requires_grad: bool = False
) -> Tensor:
    """A tensor in the shape and dtype of `input` whose numbers are not set; write to it before you read it."""
    # Of a meta tensor, too: there are numbers now, undefined ones
    if device is not None and not _is_meta(device):
        return _finish(np.empty(input.array.shape, _dtype(dtype, input.dtype)), requires_grad)
    return _finish(like(input.array, _dtype(dtype, input.dtype)), requires_grad, device)


@_like
def full_like(
    input: Tensor,
    fill_value: Tensor | float,
    *,
    dtype: dtypes.dtype | None = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """One number in the shape of `input`, and in its dtype unless `dtype` is given."""
    fill_value = _number(fill_value, "full_like")
    return _finish(_filled_like(input, dtype, fill_value), requires_grad, device)


def eye(
    n: int,
    m: int | None = None,
    *,
    dtype: dtypes.dtype | None = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """The unit matrix with n rows (and m columns). Raises RuntimeError for a negative n."""
    if n < 0:
        raise errors.new(RuntimeError, f"n must be greater or equal to 0, got {n}")
    return _finish(np.eye(n, m, dtype=_dtype(dtype)), requires_grad, device)


def arange(
    start: Any,
    end: float | None = None,
    step: float = 1,
    *,
    dtype: dtypes.dtype | None = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """start, start + step, ... below `end`; with one argument 0, 1, ... below it.
    Raises RuntimeError for step 0, a step away from `end`, or an end that is not finite.

    >>> import minigrad as torch
    >>> torch.arange(3), torch.arange(1, 2, 0.25)
    (tensor([0, 1, 2]), tensor([1.0000, 1.2500, 1.5000, 1.7500]))
    """
    if end is None:
        start, end = 0, start
    start, end, step = (v.item() if isinstance(v, Variable) else v for v in (start, end, step))
    if not (math.isfinite(start) and math.isfinite(end)):
        sentence = f"unsupported range: {start:g} -> {end:g}"
        raise errors.new(RuntimeError, sentence, instead="give a finite start and end: torch.arange(0, 10, 2).")
    if dtype is not None and not dtypes.as_dtype(dtype, "arange").is_floating_point:
        start, end, step = int(start), int(end), int(step)
    if step == 0:
        raise errors.new(RuntimeError, "step must be nonzero")
    if (end - start) * step < 0:
        raise errors.new(RuntimeError, "upper bound and lower bound inconsistent with step sign")
    integral = all(isinstance(v, (int, np.integer)) for v in (start, end, step))
    n = math.ceil((end - start) / step)
    array = start + np.arange(n) * step
    return _finish(array.astype(_dtype(dtype, dtypes.int64 if integral else None)), requires_grad, device)


def range_(
    start: float = 0,
    end: float | None = None,
    step: float = 1,
    *,
    dtype: dtypes.dtype | None = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """start, start + step, ... up to `end` itself: PyTorch's old form of arange.
    Raises RuntimeError as arange does, TypeError without `end`."""
    warnings.warn(
        "torch.range is deprecated and will be removed in a future release because its behavior is inconsistent with Python's range "
        "builtin. Instead, use torch.arange, which produces values in [start, end).",
        UserWarning,
        stacklevel=3,
    )
    if end is None:
        raise errors.new(TypeError, 'range() missing 1 required positional arguments: "end"')
    dtype = dtypes.get_default_dtype() if dtype is None else dtype
    arange(start, end, step, dtype=dtype)  # knows what is wrong
    n = math.floor((end - start) / step) + 1
    return _finish((start + np.arange(n) * step).astype(_dtype(dtype)), requires_grad, device)


def frombuffer(
    buffer: Any, *, dtype: dtypes.dtype, count: int = -1, offset: int = 0, requires_grad: bool = False
) -> Tensor:
    """The bytes of a buffer as a tensor that shares them."""
    return _finish(np.frombuffer(buffer, dtypes.as_dtype(dtype, "frombuffer").numpy, count, offset), requires_grad)


def _window(name: Any, values: Any) -> Any:
    """A function that makes a window: `values(n, *parameters)` of n points; a periodic one is the longer one's without its last."""

    def window(
        window_length: int,
        periodic: bool = True,
        *parameters: float,
        dtype: dtypes.dtype | None = None,
        layout: Any = None,
        device: DeviceLike = None,
        requires_grad: bool = False,
        **named: Any,
    ) -> Tensor:
        if window_length < 0:
            raise errors.new(
                RuntimeError, f"{name} requires non-negative window_length, got window_length={window_length}"
            )
        if window_length < 2:
            return _finish(np.ones(window_length, _dtype(dtype)), requires_grad, device)
        array = values(window_length + bool(periodic), *parameters, **named)[:window_length]
        return _finish(array.astype(_dtype(dtype)), requires_grad, device)

    window.__name__ = window.__qualname__ = name
    kind = name.split("_")[0].capitalize()
    window.__doc__ = f"""The {kind} window of `window_length` points; periodic for a transform, else symmetric.
    Raises RuntimeError for a negative length."""
    return window


def _hamming(n: int, alpha: float = 0.54, beta: float = 0.46) -> np.ndarray:
    return alpha - beta * np.cos(2 * np.pi * np.arange(n) / (n - 1))


bartlett_window, blackman_window = _window("bartlett_window", np.bartlett), _window("blackman_window", np.blackman)
hamming_window, hann_window = _window("hamming_window", _hamming), _window("hann_window", np.hanning)
kaiser_window = _window("kaiser_window", lambda n, beta=12.0: np.kaiser(n, beta))


def linspace(
    start: Tensor | float,
    end: Tensor | float,
    steps: int,
    *,
    dtype: dtypes.dtype | None = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """`steps` numbers from start to end, both included, at equal distances. Raises RuntimeError for negative `steps`."""
    if steps < 0:
        raise errors.new(RuntimeError, "number of steps must be non-negative")
    start, end = (v.item() if isinstance(v, Variable) else v for v in (start, end))
    return _finish(np.linspace(start, end, steps).astype(_dtype(dtype)), requires_grad, device)


def logspace(
    start: Tensor | float,
    end: Tensor | float,
    steps: int,
    base: float = 10.0,
    *,
    dtype: dtypes.dtype | None = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """base ** start to base ** end: the exponents are at equal distances."""
    return _finish(
        np.asarray(base ** linspace(start, end, steps, dtype=dtypes.float64).array).astype(_dtype(dtype)),
        requires_grad,
        device,
    )


def asarray(
    obj: Any,
    *,
    dtype: dtypes.dtype | None = None,
    device: DeviceLike = None,
    copy: bool | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """As as_tensor; with copy=True always a copy."""
    t = as_tensor(obj, dtype)
    return _finish(np.array(t.array) if copy else t.array, requires_grad, device)


def scalar_tensor(
    s: float, *, dtype: dtypes.dtype | None = None, device: DeviceLike = None, requires_grad: bool = False
) -> Tensor:
    """One number as a 0-d tensor of the default dtype."""
    return _finish(np.asarray(s, _dtype(dtype)), requires_grad, device)


def tril_indices(
    row: int, col: int, offset: int = 0, *, dtype: dtypes.dtype | None = None, device: DeviceLike = None
) -> Tensor:
    """The positions of the lower triangle of a matrix: a row of rows and a row of columns."""
    return _finish(np.array(np.tril_indices(row, offset, col), _dtype(dtype, dtypes.int64)), False, device)


def triu_indices(
    row: int, col: int, offset: int = 0, *, dtype: dtypes.dtype | None = None, device: DeviceLike = None
) -> Tensor:
    """The positions of the upper triangle of a matrix: a row of rows and a row of columns."""
    return _finish(np.array(np.triu_indices(row, offset, col), _dtype(dtype, dtypes.int64)), False, device)


class _OldType(type):
    dtype: dtypes.dtype
    """torch.FloatTensor and its kin: old names for a dtype, to make tensors and to ask for them with isinstance."""

    def __call__(cls, *args: Any) -> Tensor:
        if all(isinstance(a, int) for a in args):
            return empty(*(args or (0,)), dtype=cls.dtype)
        return tensor(args[0].array if isinstance(args[0], Variable) else args[0], dtype=cls.dtype)

    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, Variable) and x.dtype is cls.dtype


def _old(name: Any) -> Any:
    kind = getattr(dtypes, "bool_" if name == "bool" else name)
    doc = f"An old name for a tensor of dtype {kind}: sizes, or the numbers. Better: tensor(..., dtype={kind})."
    return _OldType(errors.TYPE_NAMES[name], (), {"dtype": kind, "__doc__": doc, "__module__": "torch"})


FloatTensor, DoubleTensor, HalfTensor, LongTensor = _old("float32"), _old("float64"), _old("float16"), _old("int64")
IntTensor, ShortTensor, CharTensor, ByteTensor, BoolTensor = (
    _old("int32"),
    _old("int16"),
    _old("int8"),
    _old("uint8"),
    _old("bool"),
)


# Random numbers ------------------------------------------------------------------------------------------------------------


def _random(function: Any) -> Any:
    """Decorates the factories of random numbers: inside vmap they follow its `randomness`."""

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Tensor:
        level = state.vmap
        return function(*args, **kwargs) if level is None else level.random(wrapped, args, kwargs)

    return wrapped


def _drawn(size: tuple[Any, ...], draw: Callable[..., Any], *args: Any, factory: str = "rand") -> np.ndarray:
    shape = _shape(size, factory)
    n = 1
    for m in shape:
        n *= m
    return np.asarray(draw(*(n if a is _N else a for a in args))).reshape(shape)


def _fractions(kernel: str, dtype: dtypes.dtype | None) -> None:
    """Raise PyTorch's error for an integer dtype, to which numbers between 0 and 1 would be rounded."""
    if dtype is not None and not dtypes.as_dtype(dtype).is_floating_point:
        raise errors.no_kernel(kernel, dtypes.as_dtype(dtype).numpy)


_N = object()  # where the number of elements goes


@_random
def rand(
    *size: Any,
    generator: Generator | None = None,
    dtype: dtypes.dtype | None = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """Numbers uniform in [0, 1). Raises NotImplementedError for a dtype of whole numbers."""
    _fractions("check_uniform_bounds", dtype)
    return _finish(_drawn(size, (generator or default_generator).uniform, _N, _dtype(dtype)), requires_grad, device)


@_random
def randn(
    *size: Any,
    generator: Generator | None = None,
    dtype: dtypes.dtype | None = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """Numbers from the normal distribution with mean 0 and variance 1. Raises NotImplementedError for a dtype of whole numbers."""
    _fractions("normal_kernel_cpu", dtype)
    return _finish(_drawn(size, (generator or default_generator).normal, _N, _dtype(dtype)), requires_grad, device)


@_random
def randint(
    low: Any = None,
    high: Any = None,
    size: Any = None,
    *,
    generator: Generator | None = None,
    dtype: dtypes.dtype | None = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """Whole numbers from low (default 0) to high - 1, all equally likely. randint(high, size) or randint(low, high, size).
    Raises RuntimeError unless low < high."""
    if size is None or low is None:
        low, high, size = (0, low, high) if size is None else (0, high, size)
    if low >= high:
        raise errors.new(RuntimeError, f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    drawn = _drawn((size,), (generator or default_generator).integers, low, high, _N)
    return _finish(drawn.astype(_dtype(dtype, dtypes.int64)), requires_grad, device)


@_random
def randperm(
    n: int,
    *,
    generator: Generator | None = None,
    dtype: dtypes.dtype | None = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """0 to n - 1 in random order."""
    _shape((n,))
    return _finish(
        (generator or default_generator).permutation(n).astype(_dtype(dtype, dtypes.int64)), requires_grad, device
    )


def rand_like(
    input: Tensor,
    *,
    generator: Generator | None = None,
    dtype: dtypes.dtype | None = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """Uniform random numbers from [0, 1) in the shape of `input`, and in its dtype unless `dtype` is given."""
    return rand(
        input.array.shape,
        generator=generator,
        dtype=dtype or input.dtype,
        device=device or input.device,
        requires_grad=requires_grad,
    )


def randn_like(
    input: Tensor,
    *,
    generator: Generator | None = None,
    dtype: dtypes.dtype | None = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """Normal random numbers with mean 0 and variance 1 in the shape of `input`, and in its dtype unless `dtype` is given."""
    return randn(
        input.array.shape,
        generator=generator,
        dtype=dtype or input.dtype,
        device=device or input.device,
        requires_grad=requires_grad,
    )


@_random
def bernoulli(input: Tensor, p: float | None = None, *, generator: Generator | None = None) -> Tensor:
    """1 with the probability that `input` holds at the place (or with the probability `p`), else 0.
    Raises RuntimeError for probabilities outside [0, 1], NotImplementedError for whole numbers."""
    if p is None and not input.is_floating_point():
        raise errors.no_kernel("bernoulli_tensor_cpu_p_", input.array.dtype)
    array = input.array
    if p is not None:
        drawn = (generator or default_generator).uniform(array.size, np.dtype("float64")).reshape(array.shape) < p
    else:
        if not ((array >= 0) & (array <= 1)).all():
            raise errors.new(
                RuntimeError,
                "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message be improved?  If so, please report "
                "an enhancement request to PyTorch.)",
            )
        drawn = (generator or default_generator).uniform(array.size, array.dtype).reshape(array.shape) < array
    return wrap(np.asarray(drawn).astype(array.dtype))


def randint_like(
    input: Tensor,
    low: int,
    high: int | None = None,
    *,
    generator: Generator | None = None,
    dtype: dtypes.dtype | None = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """Whole numbers below `low` (or from low to high - 1), with the shape and dtype of `input`."""
    low, high = (0, low) if high is None else (low, high)
    dtype = dtype or input.dtype
    return randint(
        low,
        high,
        input.array.shape,
        generator=generator,
        dtype=dtype,
        device=device or input.device,
        requires_grad=requires_grad,
    )


def normal(
    mean: Tensor | float,
    std: Tensor | float = 1.0,
    size: Sequence[int] | None = None,
    *,
    generator: Generator | None = None,
    dtype: dtypes.dtype | None = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """Normal numbers with a mean and a standard deviation: two numbers and a size, or tensors (one for each element).
    Raises RuntimeError for a negative standard deviation."""
    if not isinstance(std, Variable) and std < 0:
        raise errors.new(RuntimeError, f"normal expects std >= 0.0, but found std {std:g}")
    if isinstance(std, Variable) and not std.batched and (std.array < 0).any():
        raise errors.new(RuntimeError, "normal expects all elements of std >= 0.0")
    if size is None:
        shape = np.broadcast_shapes(*[x.array.shape for x in (mean, std) if isinstance(x, Variable)])
        dtype = dtype or next(x.dtype for x in (mean, std) if isinstance(x, Variable))
    else:
        shape = _shape((size,), "normal")
    if state.vmap is not None:
        state.vmap.check_random(mean, std)
    with no_grad():
        out = randn(shape, generator=generator, dtype=dtype) * std + mean
    return out if out.batched else _finish(out.array, requires_grad, device)


@_random
def exponential(
    size: Sequence[int], lambd: float = 1, *, generator: Generator | None = None, dtype: dtypes.dtype | None = None
) -> Tensor:
    """Numbers from the exponential distribution with the mean 1 / lambd."""
    drawn = _drawn((size,), (generator or default_generator).uniform, _N, np.dtype("float64"))
    return wrap(np.asarray(-np.log1p(-drawn) / lambd).astype(_dtype(dtype)))


@_random
def one_by_one(size: Sequence[int], *, generator: Generator | None = None) -> Tensor:
    """Normal numbers in float64, never in blocks: where PyTorch draws them for another distribution."""
    generator = generator or default_generator
    return _finish(_drawn((size,), lambda n: [generator._one_normal() for _ in range(n)], _N), False)


@_random
def multinomial(
    input: Tensor, num_samples: int, replacement: bool = False, *, generator: Generator | None = None
) -> Tensor:
    """Positions drawn with the probabilities (or weights) of a vector, or of each row of a matrix: int64, num_samples of them.
    Raises RuntimeError for negative, infinite or only zero weights, and for too many samples without replacement."""
    weights = input.array
    if not replacement and num_samples > weights.shape[-1]:
        raise errors.new(
            RuntimeError,
            "cannot sample n_sample > prob_dist.size(-1) samples without replacement",
            f"You asked for {num_samples} of {weights.shape[-1]}.",
            instead="ask for fewer, or pass replacement=True.",
        )
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise errors.new(RuntimeError, "probability tensor contains either `inf`, `nan` or element < 0")
    if not (weights.sum(-1) > 0).all():
        raise errors.new(RuntimeError, "invalid multinomial distribution (sum of probabilities <= 0)")
    # The first arrivals of a race: each waits for a time with the mean 1 / weight
    if not replacement or num_samples == 1:
        race = weights / exponential(weights.shape, dtype=input.dtype, generator=generator).array
        return wrap(np.argsort(-race, -1, kind="stable")[..., :num_samples])
    sums = np.cumsum(weights, -1, dtype=np.float64) / weights.sum(-1, keepdims=True, dtype=np.float64)
    drawn = _drawn(
        ((*weights.shape[:-1], num_samples),), (generator or default_generator).uniform, _N, np.dtype("float64")
    )
    rows = zip(sums.reshape(-1, sums.shape[-1]), drawn.reshape(-1, num_samples), strict=True)
    return wrap(np.array([np.searchsorted(row, u) for row, u in rows]).reshape(drawn.shape))
