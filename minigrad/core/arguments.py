"""What happens to an argument that a function does not know: PyTorch's second names for it, or one sentence.

What lives here: `forgiving`, a decorator, and `recover`, which it and the rows (op.py) use. A call that is right pays nothing: Python's own
TypeError is what starts the second look.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import dtypes, errors
from .dispatch import state
from .facts import ArgumentType
from .variable import Variable

if TYPE_CHECKING:
    from ..tensors.tensor import Tensor

# numpy's names, as PyTorch has them
ALIASES = {
    "axis": "dim",
    "keepdims": "keepdim",
    "x": "input",
    "a": "input",
    "x1": "input",
    "x2": "other",
    "axis0": "dim0",
    "axis1": "dim1",
    "sections": "indices_or_sections",
    "indices": "indices_or_sections",
    "tensor_indices_or_sections": "indices_or_sections",
    "split_size": "split_size_or_sections",
    "split_sizes": "split_size",
}
# Names that mean this in one function only.
OF_ONE = {
    ("max", "other"): "dim", ("min", "other"): "dim", ("searchsorted", "input"): "values", ("isin", "element"): "elements",
    ("isin", "test_element"): "test_elements", ("copy_", "other"): "src",
}  # fmt: skip
_UNKNOWN = re.compile(r"got an unexpected keyword argument '(\w+)'")


def forgiving(function: Callable[..., Any], name: Any = None) -> Callable[..., Any]:
    """Decorator: `function` (publicly called `name`) takes numpy's names for its arguments too (axis, keepdims).

    If a name is neither, the error says what the function takes.
    """

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except AttributeError as error:
            raise _no_tensor(error, function, name or function.__name__, args, kwargs) from None
        except TypeError as error:
            own_name, public = function.__name__, name or function.__name__
            if own_name != public and str(error).startswith(own_name + "()"):
                error = TypeError(str(error).replace(own_name, public, 1))
            return recover(error, function, public, inspect.signature(function).parameters, args, kwargs)

    return call


_TENSORS = frozenset(
    """input other tensor tensor1 tensor2 end mat1 mat2 vec vec1 vec2 exponent condition values source src index self x A B
    elements test_elements boundaries mask batch1 batch2 weights""".split()
)


def _no_tensor(
    error: Any, function: Callable[..., Any], name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> BaseException:
    """The error to raise for an AttributeError: PyTorch's TypeError, if it was about an argument that is no tensor."""
    arguments = dict(zip(inspect.signature(function).parameters, args, strict=False)) | kwargs
    for position, (parameter, value) in enumerate(arguments.items(), 1):
        if value is error.obj and parameter in _TENSORS and not isinstance(value, Variable):
            place = "" if parameter in kwargs else f" (position {position})"
            sentence = f"{name}(): argument '{parameter}'{place} must be Tensor, not {errors.type_name(value)}"
            return errors.new(
                TypeError,
                sentence,
                instead="minigrad.tensor(...) makes a tensor of numbers, lists and numpy arrays.",
                facts=ArgumentType(name, position, type(value).__name__),
            )
    return error


def _written(name: str, result: Any, out: Any, args: Any) -> Any:
    """`out` (a tensor, or as many as there are results) with the result written into it."""
    if out is None:
        return result
    if isinstance(result, tuple):
        parts = [_written(name, r, o, args) for r, o in zip(result, out, strict=True)]
        return tuple(parts) if type(result) is tuple else type(result)(*parts)
    if state.grad and any([getattr(x, "requires", False) for x in (out, *args)]):
        raise errors.new(
            RuntimeError,
            f"{name}(): functions with out=... arguments don't support automatic differentiation, but one of the arguments requires grad.",
        )
    if any([h.tangent(x) is not None for h in state.handlers for x in (out, *args)]):
        raise errors.new(
            NotImplementedError,
            f"Trying to use forward AD with {name}_out that does not support it because it is an out= function",
            instead="write the result without out=: y = torch.add(a, b).",
        )
    if not dtypes.can_cast(result.dtype, out.dtype):
        raise errors.new(
            RuntimeError,
            f"result type {errors.TYPE_NAMES[result.array.dtype.name].removesuffix('Tensor')} can't be cast to the desired output type "
            f"{errors.TYPE_NAMES[out.array.dtype.name].removesuffix('Tensor')}",
        )
    if out.array.shape != result.array.shape:
        out.set_(result.to(out.dtype))
        return out
    return out.copy_(result)


_INTS = frozenset(
    "chunks diagonal dim0 dim1 k length n num_samples offset repeats row col split_size_or_sections start steps".split()
)


def _no_int(
    error: BaseException, parameters: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> BaseException:
    """The error to raise for a TypeError: about a text in the place of a number, if there is one."""
    for parameter, value in (dict(zip(parameters, args, strict=False)) | kwargs).items():
        if isinstance(value, str) and parameter in _INTS:
            return errors.new(
                TypeError, f"{name}(): argument '{parameter}' must be int, not str", facts=ArgumentType(name, 0, "str")
            )
    return error


def recover(
    error: BaseException,
    function: Callable[..., Any],
    name: str,
    parameters: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Tensor | tuple[Tensor, ...]:
    """Call again if `error` was about an argument that has another name here; otherwise raise it, explained."""
    match = _UNKNOWN.search(str(error))
    if not match or match[1] not in kwargs:
        raise _no_int(error, parameters, name, args, kwargs) from None
    unknown = match[1]
    new_name = OF_ONE.get((name, unknown)) or ALIASES.get(unknown)
    # torch.linalg.det(input=...), whose parameter is A
    if unknown == "input" and not args and (name, unknown) not in OF_ONE:
        new_name = next(iter(parameters))
    if new_name is not None and new_name in parameters and new_name not in kwargs:
        return forgiving(function)(*args, **{new_name if k == unknown else k: v for k, v in kwargs.items()})
    if unknown == "size" and not args:  # zeros(size=(2, 3))
        return forgiving(function)(kwargs["size"], **{k: v for k, v in kwargs.items() if k != "size"})
    if unknown == "out":
        out = kwargs.pop("out")
        return _written(name, forgiving(function)(*args, **kwargs), out, args)
    import difflib

    takes = [p for p in parameters if p != "self"]
    near = [n for n in difflib.get_close_matches(unknown, takes, 2, 0.5) if n != unknown]
    raise errors.new(
        TypeError,
        f"{name}() got an unexpected keyword argument '{unknown}'",
        f"minigrad's {name}() takes {', '.join(takes)}{f'; the nearest is {near[0]!r}' if near else ''}.",
    ) from None
