"""Modules that hold modules or parameters: Sequential, ModuleList, ModuleDict, ParameterList, ParameterDict."""

import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, Self

from ..tensors.tensor import Tensor
from .module import Module, indent
from .parameter import Parameter, typename


def _position(i: Any, length: int) -> int:
    """`i` counted from the front. Raises IndexError as a list does."""
    i = operator.index(i)
    if not -length <= i < length:
        raise IndexError(f"index {i} is out of range")
    return i % length


class _InOrder(Module):
    """What Sequential and ModuleList share: modules that are found by their position."""

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def _name(self, i: Any) -> str:
        return list(self._modules)[_position(i, len(self))]

    def __setitem__(self, i: int, module: Module) -> None:
        setattr(self, self._name(i), module)

    def __delitem__(self, i: Any) -> None:
        names = list(self._modules)[i] if isinstance(i, slice) else [self._name(i)]
        for name in names:
            delattr(self, name)
        self._renumber(self)

    def _renumber(self, modules: Iterable[Module]) -> None:
        self.__dict__["_modules"] = {str(k): m for k, m in enumerate(modules)}

    def append(self, module: Module) -> Self:
        """Add a module at the end; returns the container."""
        self.add_module(str(len(self)), module)
        return self

    def pop(self, key: int) -> Module:
        """Remove the module at a position and return it."""
        module = self[key]  # type: ignore[index]
        del self[key]
        return module


class Sequential(_InOrder):
    """Modules called one after the other, each with the output of the one before.

    >>> from minigrad import nn
    >>> nn.Sequential(nn.Linear(2, 3), nn.ReLU())
    Sequential(
      (0): Linear(in_features=2, out_features=3, bias=True)
      (1): ReLU()
    )
    """

    def __init__(self, *args: Any):
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            for i, module in enumerate(args):
                self.add_module(str(i), module)

    def forward(self, input: Any) -> Any:
        for module in self._modules.values():
            input = module(input)
        return input

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return type(self)(OrderedDict(list(self._modules.items())[i]))
        return self._modules[self._name(i)]

    def __add__(self, other: "Sequential") -> "Sequential":
        if not isinstance(other, Sequential):
            raise ValueError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")
        return Sequential(*self, *other)

    def __iadd__(self, other: "Sequential") -> "Sequential":
        if not isinstance(other, Sequential):
            raise ValueError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")
        return self.extend(list(other))

    def _repeated(self, count: Any) -> list[Module]:
        if not isinstance(count, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(count)}")
        if count <= 0:
            raise ValueError(f"Non-positive multiplication factor {count} for {type(self)}")
        return [*self] * count

    def __mul__(self, other: int) -> "Sequential":
        return Sequential(*self._repeated(other))

    __rmul__ = __mul__

    def __imul__(self, other: int) -> "Sequential":
        return self.extend(self._repeated(other)[len(self) :])

    def insert(self, index: int, module: Module) -> "Sequential":
        """Put a module before the one at `index`. Raises AssertionError for other objects, IndexError beyond the ends."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        if not -len(self) <= index <= len(self):
            raise IndexError(f"Index out of range: {index}")
        modules = list(self)
        modules.insert(index, module)
        self._renumber(modules)
        return self

    def extend(self, sequential: Iterable[Module]) -> "Sequential":
        for module in sequential:
            self.append(module)
        return self


class ModuleList(_InOrder):
    """A list of modules whose parameters are registered. It has no forward."""

    def __init__(self, modules: Iterable[Module] | None = None):
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return type(self)(list(self)[i])
        return self._modules[self._name(i)]

    def __iadd__(self, modules: Iterable[Module]) -> "ModuleList":
        return self.extend(modules)

    def __add__(self, other: Iterable[Module]) -> "ModuleList":
        return ModuleList(chain(self, other))

    def insert(self, index: int, module: Module) -> None:
        modules = list(self)
        modules.insert(index, module)
        self._renumber(modules)

    def extend(self, modules: Iterable[Module]) -> "ModuleList":
        """Append all of several modules. Raises TypeError if they cannot be iterated over."""
        if not isinstance(modules, Iterable):
            raise TypeError(f"ModuleList.extend should be called with an iterable, but got {type(modules).__name__}")
        for module in modules:
            self.append(module)
        return self

    def __repr__(self) -> str:
        """Equal neighbours are written once, with their number."""
        texts = [repr(module) for module in self]
        if not texts:
            return self._get_name() + "()"
        runs: list[list[int]] = []
        for i, text in enumerate(texts):
            if runs and text == texts[runs[-1][0]]:
                runs[-1][1] = i
            else:
                runs.append([i, i])
        lines = [f"({a}): {texts[a]}" if a == b else f"({a}-{b}): {b - a + 1} x {texts[a]}" for a, b in runs]
        return f"{self._get_name()}(\n  " + "\n  ".join(map(indent, lines)) + "\n)"


class ModuleDict(Module):
    """A dict of modules whose parameters are registered. It has no forward."""

    def __init__(self, modules: Any = None):
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Module:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def clear(self) -> None:
        self._modules.clear()

    def pop(self, key: str) -> Module:
        return self._modules.pop(key)

    def keys(self):
        return self._modules.keys()

    def items(self):
        return self._modules.items()

    def values(self):
        return self._modules.values()

    def update(self, modules: Any) -> None:
        for key, module in _pairs("ModuleDict", modules):
            self[key] = module


def _pairs(name: str, given: Any) -> Iterable[tuple[str, Any]]:
    if not isinstance(given, Iterable):
        raise TypeError(
            f"{name}.update should be called with an iterable of key/value pairs, but got {type(given).__name__}"
        )
    if isinstance(given, (Mapping, ModuleDict, ParameterDict)):
        return given.items()
    pairs = list(given)
    for j, pair in enumerate(pairs):
        if not isinstance(pair, Iterable):
            raise TypeError(f"{name} update sequence element #{j} should be Iterable; is{type(pair).__name__}")
        if len(pair) != 2:  # type: ignore[arg-type]
            raise ValueError(f"{name} update sequence element #{j} has length {len(pair)}; 2 is required")  # type: ignore[arg-type]
    return pairs


def _as_parameter(x: Any) -> Any:
    return Parameter(x) if isinstance(x, Tensor) and not isinstance(x, Parameter) else x


def _describe(name: str, value: Any, what: Any) -> str:
    if isinstance(value, Tensor):
        kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
        return f"({name}): {kind} containing: [{what} of size {'x'.join(map(str, value.shape))}]"
    return f"({name}): Object of type: {type(value).__name__}"


class ParameterList(Module):
    """A list of parameters that are registered; tensors become parameters."""

    def __init__(self, values: Iterable[Any] | None = None):
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return type(self)(list(self)[i])
        return getattr(self, str(_position(i, len(self))))

    def __setitem__(self, i: int, value: Any) -> None:
        setattr(self, str(_position(i, len(self))), _as_parameter(value))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return iter(self[i] for i in range(len(self)))

    def __iadd__(self, values: Iterable[Any]) -> "ParameterList":
        return self.extend(values)

    def append(self, value: Any) -> "ParameterList":
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values: Iterable[Any]) -> "ParameterList":
        """Append all of several tensors. Raises TypeError if they cannot be iterated over, and for one tensor."""
        if not isinstance(values, Iterable) or isinstance(values, Tensor):
            raise TypeError(f"ParameterList.extend should be called with an iterable, but got {type(values).__name__}")
        for value in list(values):
            self.append(value)
        return self

    def extra_repr(self) -> str:
        return "\n".join("  " + _describe(str(i), value, getattr(value, "dtype", None)) for i, value in enumerate(self))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("ParameterList should not be called.")


class ParameterDict(Module):
    """A dict of parameters that are registered; tensors become parameters."""

    def __init__(self, parameters: Any = None):
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key: str) -> Any:
        if key not in self._keys:
            raise KeyError(key)
        return getattr(self, key)

    def __setitem__(self, key: str, value: Any) -> None:
        if not isinstance(key, str):
            raise TypeError(
                f"Index given to ParameterDict cannot be used as a key as it is not a string (type is '{type(key).__name__}')."
            )
        self._keys[key] = None
        setattr(self, key, _as_parameter(value))

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def keys(self):
        return self._keys.keys()

    def items(self):
        return [(key, self[key]) for key in self._keys]

    def values(self):
        return [self[key] for key in self._keys]

    def pop(self, key: str) -> Any:
        value = self[key]
        del self[key]
        return value

    def get(self, key: str, default: Any = None) -> Any:
        return self[key] if key in self else default

    def setdefault(self, key: str, default: Any = None) -> Any:
        if key not in self:
            self[key] = default
        return self[key]

    def popitem(self) -> tuple[str, Any]:
        """The key that came last, and its parameter."""
        key = next(reversed(self._keys))
        return key, self.pop(key)

    def clear(self) -> None:
        for key in list(self._keys):
            del self[key]

    def copy(self) -> "ParameterDict":
        return ParameterDict(OrderedDict(self.items()))

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> "ParameterDict":
        return ParameterDict(OrderedDict((key, default) for key in keys))

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._keys)

    def __or__(self, other: "ParameterDict") -> "ParameterDict":
        copy = self.copy()
        copy.update(OrderedDict(other.items()))
        return copy

    def __ior__(self, other: "ParameterDict") -> "ParameterDict":
        self.update(OrderedDict(other.items()))
        return self

    def update(self, parameters: Any) -> None:
        pairs = _pairs("ParameterDict", parameters)
        if isinstance(parameters, Mapping) and not isinstance(parameters, OrderedDict):
            pairs = sorted(pairs)  # as PyTorch does: a plain dict is taken in the order of its keys
        for key, value in pairs:
            self[key] = value

    def extra_repr(self) -> str:
        return "\n".join("  " + _describe(key, value, typename(value)) for key, value in self.items())

    def __call__(self, input: Any) -> Any:
        raise RuntimeError("ParameterDict should not be called.")
