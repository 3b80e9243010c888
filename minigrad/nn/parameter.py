"""Parameter and Buffer: the tensors that a module owns.

What lives here: the two tensor types that `Module.__setattr__` recognises. What does not: how a module registers them (module.py).
"""

from typing import Any

from ..tensors.create import empty
from ..tensors.tensor import Tensor


def typename(x: Any) -> str:
    """What PyTorch calls the type of `x` in messages: `torch.FloatTensor`, `list`, `package.module.Class`."""
    if isinstance(x, Tensor):
        return x.type()
    cls = type(x)
    return cls.__qualname__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__qualname__}"


class Parameter(Tensor):
    """A tensor that a module trains: assigned to a module's attribute it joins `module.parameters()`.

    data           the start values; the parameter shares their storage
    requires_grad  False freezes the parameter

    Recorded even when made inside `no_grad`.

    >>> import minigrad as torch
    >>> torch.nn.Parameter(torch.ones(2))
    Parameter containing:
    tensor([1., 1.], requires_grad=True)
    """

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True):
        if data is None:
            data = empty(0)
        if not isinstance(data, Tensor):
            raise TypeError(f"Parameter(): argument 'data' (position 1) must be Tensor, not {type(data).__name__}")
        self = _alias(cls, data)
        if requires_grad:
            self.requires_grad = True
        return self

    def __init__(self, data: Tensor | None = None, requires_grad: bool = True):
        pass  # Tensor's own constructor must not run: __new__ has made everything

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()

    def __deepcopy__(self, memo: dict) -> "Parameter":
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.detach().clone(), self.requires_grad)
        return memo[id(self)]

    def __reduce_ex__(self, protocol):
        return (type(self), (self.detach(), self.requires_grad))


class Buffer(Tensor):
    """A tensor that a module keeps but does not train; `persistent=False` leaves it out of `state_dict()`."""

    persistent: bool

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True):
        if data is None:
            data = empty(0)
        self = _alias(cls, data)
        self.persistent = persistent
        return self

    def __init__(self, data: Tensor | None = None, *, persistent: bool = True):
        pass


def _alias(cls, data: Tensor):
    """A leaf of type `cls` on the storage and version counter of `data`."""
    self = object.__new__(cls)
    self.array, self.version = data.array, data.version
    self._grad = self.edge = self.meta = self.view_meta = None
    self.requires = False
    return self
