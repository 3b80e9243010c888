"""torch.nn.utils.parametrize: a parameter or buffer that is computed from others each time it is read.

The tensor moves to `module.parametrizations.<name>.original` (or original0, original1, ...), and its name becomes a property of a class
made for this module, which runs the parametrizations. Assigning to the name runs their `right_inverse` and sets the original.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

from ...core.grad_mode import no_grad
from ...tensors.tensor import Tensor
from ..containers import ModuleDict, ModuleList
from ..module import Module
from ..parameter import Parameter

_depth = 0
_cache: dict[tuple[int, str], Tensor] = {}


@contextmanager
def cached() -> Iterator[None]:
    """Inside, each parametrized tensor is computed once."""
    global _depth
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1
        if not _depth:
            _cache.clear()


def _register(module: Module, name: str, tensor: Tensor) -> None:
    (module.register_parameter if isinstance(tensor, Parameter) else module.register_buffer)(name, tensor)  # type: ignore[arg-type]


def _fits(new: Any, old: Tensor, doing: str, names: tuple[str, str]) -> None:
    if not isinstance(new, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(new).__name__}.")
    for what in ("dtype", "shape"):
        if getattr(new, what) != getattr(old, what):
            before, after = (f"{n} {what}" if " " not in n and "." not in n else f"{n}.{what}" for n in names)
            raise ValueError(
                f"Registering a parametrization may not change the {what} of the tensor, unless {doing} flag is enabled.\n"
                f"{before}: {getattr(old, what)}\n{after}: {getattr(new, what)}"
            )


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, and the tensors that they are computed from.

    Raises ValueError without modules, and for a right_inverse that returns other objects or another dtype.
    """

    def __init__(self, modules: Sequence[Module], original: Tensor, unsafe: bool = False):
        if not modules:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        before = original.detach().clone()
        new: Any = original
        with no_grad():
            for module in reversed([*self]):
                if hasattr(module, "right_inverse"):
                    try:
                        new = module.right_inverse(new)
                    except NotImplementedError:
                        pass  # then the original is kept as it is
        if not isinstance(new, (Tensor, Sequence)):
            raise ValueError(
                f"'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got {type(new).__name__}"
            )
        self.is_tensor = isinstance(new, Tensor)
        self.ntensors = 1 if isinstance(new, Tensor) else len(new)
        if isinstance(new, Tensor):
            if original.dtype != new.dtype:
                raise ValueError(
                    "When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                    f"original.dtype: {original.dtype}\nright_inverse(original).dtype: {new.dtype}"
                )
            original.data = new.detach()
            _register(self, "original", original)
        else:
            for i, part in enumerate(new):
                if not isinstance(part, Tensor):
                    raise ValueError(
                        "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got element "
                        f"{i} of the sequence with type {type(part).__name__}."
                    )
                if isinstance(original, Parameter):
                    part = Parameter(part.detach(), original.requires_grad)
                _register(self, f"original{i}", part)
        if not unsafe:
            _fits(self(), before, "`unsafe`", ("unparametrized", "parametrized"))

    def right_inverse(self, value: Tensor) -> None:
        """Set the originals so that the parametrizations give `value`.

        Raises RuntimeError where one has no right_inverse, ValueError for another dtype.
        """
        with no_grad():
            for module in reversed([*self]):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
                value = module.right_inverse(value)
        originals = [self.original] if self.is_tensor else [getattr(self, f"original{i}") for i in range(self.ntensors)]
        for original, new in zip(originals, [value] if self.is_tensor else value, strict=True):
            if new.dtype != original.dtype:
                raise ValueError(
                    f"The tensor returned by `right_inverse` has dtype {new.dtype} while `original` has dtype {original.dtype}"
                )
            original.data = new.detach()

    def forward(self) -> Tensor:
        first, *rest = self
        x = (
            first(self.original)
            if self.is_tensor
            else first(*[getattr(self, f"original{i}") for i in range(self.ntensors)])
        )
        for module in rest:
            x = module(x)
        return x


def _getstate(self: Module) -> Any:
    raise RuntimeError(
        "Serialization of parametrized modules is only supported through state_dict(). See:\n"
        "https://pytorch.org/tutorials/beginner/saving_loading_models.html"
        "#saving-loading-a-general-checkpoint-for-inference-and-or-resuming-training"
    )


def _deepcopy(self: Module, memo: dict) -> Module:
    replica = self.__new__(type(self))
    memo[id(self)] = replica
    replica.__dict__.update(deepcopy(self.__dict__, memo))
    return replica


def _property(name: str) -> property:
    def get(self: Module) -> Tensor:
        if not _depth:
            return self.parametrizations[name]()
        key = (id(self), name)
        if key not in _cache:
            _cache[key] = self.parametrizations[name]()
        return _cache[key]

    return property(get, lambda self, value: self.parametrizations[name].right_inverse(value))


def _check_inverse(parametrization: Module, new: Tensor, old: Tensor, name: str) -> None:
    """Raise ValueError if right_inverse, where there is one, does not reproduce `old` from its result."""
    try:
        result = parametrization.right_inverse(new) if hasattr(parametrization, "right_inverse") else old  # type: ignore[operator]
    except NotImplementedError:
        return
    if not isinstance(result, Tensor):
        raise ValueError(f"parametrization.right_inverse must return a tensor. Got: {type(result).__name__}")
    for what in ("dtype", "shape"):
        attribute, expected = getattr(result, what), getattr(old, what)
        if attribute != expected:
            raise ValueError(
                f"The tensor returned by parametrization.right_inverse must have the same {what} as {name}, unless the `unsafe` flag is "
                f"enabled.\n{name}.{what}: {expected}\nreturned {what}: {attribute}"
            )


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """From now on `module.<tensor_name>` is `parametrization(original)`; several are chained. With `unsafe` shapes are not checked.
    Raises ValueError if there is no such parameter or buffer."""
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        if not unsafe:
            old = getattr(module, tensor_name)
            new = parametrization(old)
            _fits(new, old, "the `unsafe`", (f"module.{tensor_name}", f"parametrization(module.{tensor_name})"))
            _check_inverse(parametrization, new, old, f"module.{tensor_name}")
        parametrizations = module.parametrizations[tensor_name]
        parametrizations.append(parametrization)
        parametrizations.unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        parametrizations = ParametrizationList([parametrization], getattr(module, tensor_name), unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            cls = type(module)
            module.__class__ = type(
                f"Parametrized{cls.__name__}", (cls,), {"__getstate__": _getstate, "__deepcopy__": _deepcopy}
            )
            module.parametrizations = ModuleDict()
        setattr(type(module), tensor_name, _property(tensor_name))
        module.parametrizations[tensor_name] = parametrizations
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name '{tensor_name}'"
        )
    return module


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether the module (or this tensor of it) has parametrizations."""
    result = module._modules.get("parametrizations")
    if not isinstance(result, ModuleDict):
        return False
    return len(result) > 0 if tensor_name is None else tensor_name in result


def remove_parametrizations(module: Module, tensor_name: str, leave_parametrized: bool = True) -> Module:
    """A plain parameter or buffer again: with its present value, or with leave_parametrized=False the original.
    Raises ValueError if it is not parametrized, or the original is several tensors."""
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    result = module.parametrizations[tensor_name]
    if result.is_tensor:
        original = result.original
        if leave_parametrized:
            with no_grad():
                original.data = getattr(module, tensor_name)
    elif leave_parametrized:
        value = getattr(module, tensor_name)
        original = Parameter(value.detach()) if value.requires_grad else value
    else:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a sequence of tensors."
        )
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _register(module, tensor_name, original)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module: Module) -> type:
    """The module's class, without the one that was made for it."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(
    from_module: Module, to_module: Module, tensor_name: str | None = None
) -> Module:
    """Give to_module the parametrizations of from_module, and the tensors they are computed from."""
    if is_parametrized(from_module):
        for name in [*from_module.parametrizations] if tensor_name is None else [tensor_name]:
            source = from_module.parametrizations[name]
            if not hasattr(to_module, name):
                setattr(to_module, name, Parameter(getattr(from_module, name).detach()))
            for parametrization in source:
                register_parametrization(to_module, name, parametrization)
            for i in range(source.ntensors):
                original = "original" if source.is_tensor else f"original{i}"
                setattr(to_module.parametrizations[name], original, getattr(source, original))
    return to_module


__all__ = [
    "ParametrizationList", "cached", "is_parametrized", "register_parametrization", "remove_parametrizations",
    "transfer_parametrizations_and_params", "type_before_parametrizations",
]  # fmt: skip
