"""Layer: a module that calls one function of `functional` and has nothing to train."""

from collections.abc import Callable
from inspect import signature
from types import FunctionType
from typing import Any

from ..tensors.tensor import Tensor
from .module import Module


class Layer(Module):
    """Base of `class ReLU(Layer, function=F.relu)`. What both the constructor and the function take are the layer's options.

    Options are attributes. `forward` passes them on by name, as it does `training` where the function asks for it, and `print` shows them.
    """

    function: Callable[..., Any]
    options: tuple[str, ...] = ()
    passed: tuple[str, ...] = ()

    def __init__(self, **options: Any):
        super().__init__()
        for name, value in options.items():
            setattr(self, name, value)

    def __init_subclass__(cls, function: Callable[..., Any] | None = None, **more: Any):
        super().__init_subclass__(**more)
        if function is not None:
            parameters = signature(function).parameters
            cls.function = staticmethod(function)
            names = [name for name in signature(cls.__init__).parameters if name in parameters]
            cls.options = tuple(name for name in names if name not in ("size_average", "reduce"))
            cls.passed = (*cls.options, *(["training"] if "training" in parameters else []))
            cls.__doc__ = cls.__doc__ or function.__doc__
            if "forward" not in cls.__dict__:  # of its own, so that an error about its arguments names the class
                f: Any = cls.forward
                cls.forward = FunctionType(f.__code__, f.__globals__, f.__name__, f.__defaults__)  # type: ignore[method-assign]
                cls.forward.__qualname__, cls.forward.__annotations__ = f"{cls.__name__}.forward", f.__annotations__

    def _run(self, *inputs: Any, **more: Any) -> Any:
        return self.function(*inputs, **more, **{name: getattr(self, name) for name in self.passed})

    def forward(self, input: Tensor) -> Any:
        return self._run(input)

    def extra_repr(self) -> str:
        text = [f"{name}={getattr(self, name)!r}" for name in self.options if name != "inplace"]
        return ", ".join(text + ["inplace=True"] * bool(self.__dict__.get("inplace")))


def as_tuple(value: Any, n: int) -> tuple[Any, ...]:
    """A number for each of n dimensions."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value,) * n
