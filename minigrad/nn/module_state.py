"""A module's numbers as a flat dictionary, and back.

What lives here: `state_dict` and `load_state_dict` with PyTorch's key names and errors. What does not: files (serialization.py).
"""

from collections import OrderedDict, namedtuple
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ..core import errors
from ..core.facts import StateMismatch
from ..core.grad_mode import no_grad
from ..tensors.tensor import Tensor
from .parameter import Parameter

EXTRA = "_extra_state"


class _IncompatibleKeys(namedtuple("_IncompatibleKeys", ["missing_keys", "unexpected_keys"])):  # noqa: PYI024
    """What `load_state_dict` returns: the keys that did not match."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


class WithModule(NamedTuple):
    """A hook that is called with its module first. It does not hold the module, which would keep it alive."""

    hook: Callable


def state_dict(module: Any, destination: dict | None, prefix: str, keep_vars: bool) -> dict:
    if destination is None:
        destination = OrderedDict()
        destination._metadata = OrderedDict()  # type: ignore[attr-defined]
    metadata = {"version": module._version}
    if hasattr(destination, "_metadata"):
        destination._metadata[prefix[:-1]] = metadata
    for hook in [*module._state_dict_pre_hooks.values()]:
        hook(module, prefix, keep_vars)
    module._save_to_state_dict(destination, prefix, keep_vars)
    for name, child in module._modules.items():
        if child is not None:
            child.state_dict(destination=destination, prefix=prefix + name + ".", keep_vars=keep_vars)
    for hook in [*module._state_dict_hooks.values()]:
        changed = hook(module, destination, prefix, metadata)
        if changed is None:
            continue
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError("state_dict post-hook must return None")
        destination = changed
    return destination


def own_state(module: Any) -> dict[str, Tensor]:
    """The module's own parameters and persistent buffers by name."""
    entries = {
        **module._parameters,
        **{k: b for k, b in module._buffers.items() if k not in module._non_persistent_buffers_set},
    }
    return {name: tensor for name, tensor in entries.items() if tensor is not None}


def save(module: Any, destination: dict, prefix: str, keep_vars: bool) -> None:
    for name, tensor in own_state(module).items():
        destination[prefix + name] = tensor if keep_vars else tensor.detach()
    if _overrides(module, get_extra_state):
        destination[prefix + EXTRA] = module.get_extra_state()


def get_extra_state(self: Any) -> Any:
    """Override together with `set_extra_state` to put more than tensors into the state dictionary. Raises RuntimeError until then."""
    raise RuntimeError("get_extra_state() was called, but this module does not define it.")


def set_extra_state(self: Any, state: Any) -> None:
    """Take what `get_extra_state` returned. Raises RuntimeError until it is overridden."""
    raise RuntimeError("set_extra_state() was called, but this module does not define it.")


def _overrides(module: Any, method: Callable) -> bool:
    return getattr(type(module), method.__name__) is not method


class SizeMessage(str):
    """A line of the error of `load_state_dict` for a tensor of another shape. Hooks see the lines as text, as in PyTorch."""

    sizes: tuple[str, tuple[int, ...], tuple[int, ...]]  # name, shape in the dictionary, shape in the model


def load_state_dict(module: Any, state: Mapping[str, Any], strict: bool, assign: bool) -> _IncompatibleKeys:
    if not isinstance(state, Mapping):
        raise TypeError(f"Expected state_dict to be dict-like, got {type(state)}.")
    missing: list[str] = []
    unexpected: list[str] = []
    messages: list[str] = []

    metadata = getattr(state, "_metadata", None)
    state = OrderedDict(state)  # hooks may change it
    if metadata is not None:
        state._metadata = metadata  # type: ignore[attr-defined]

    _load_tree(module, state, "", metadata, assign, missing, unexpected, messages)
    if strict:
        for keys, what in ((unexpected, "Unexpected"), (missing, "Missing")):
            if keys:
                quoted = ", ".join(f'"{k}"' for k in keys)
                messages.insert(0, f"{what} key(s) in state_dict: {quoted}. ")
    if messages:
        name = type(module).__name__
        sizes = tuple([message.sizes for message in messages if isinstance(message, SizeMessage)])
        raise errors.new(
            RuntimeError,
            f"Error(s) in loading state_dict for {name}:\n\t" + "\n\t".join(messages),
            facts=StateMismatch(name, tuple(missing), tuple(unexpected), sizes),
        )
    return _IncompatibleKeys(missing, unexpected)


def _load_tree(module, state, prefix, metadata, assign, missing, unexpected, messages) -> None:
    """Load the module and all below it. `given` has what begins with `prefix`."""
    local = {} if metadata is None else metadata.get(prefix[:-1], {})
    if assign:
        local["assign_to_params_buffers"] = True
    module._load_from_state_dict(state, prefix, local, True, missing, unexpected, messages)
    for name, child in module._modules.items():
        if child is not None:
            start = prefix + name + "."
            part = {k: v for k, v in state.items() if k.startswith(start)}
            _load_tree(child, part, start, metadata, assign, missing, unexpected, messages)
    incompatible = _IncompatibleKeys(missing, unexpected)
    for hook in [*module._load_state_dict_post_hooks.values()]:
        if hook(module, incompatible) is not None:
            raise AssertionError(
                "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return new values, if "
                "incompatible_keys need to be modified, it should be done inplace."
            )


def load(module, state, prefix, metadata, strict, missing, unexpected, messages) -> None:
    """Copy this module's own entries; collect missing and unexpected names and wrong sizes."""
    for hook in [*module._load_state_dict_pre_hooks.values()]:
        arguments = state, prefix, metadata, strict, missing, unexpected, messages
        if isinstance(hook, WithModule):
            hook.hook(module, *arguments)
        else:
            hook(*arguments)
    entries = own_state(module)
    for name, tensor in entries.items():
        key = prefix + name
        if key not in state:
            if strict:
                missing.append(key)
            continue
        new = state[key]
        if not isinstance(new, Tensor):
            messages.append(
                f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from checkpoint but '
                f"received {type(new)}"
            )
            continue
        if tensor.ndim == 0 and tuple(new.shape) == (1,):
            new = new[0]
        if new.shape != tensor.shape:
            message = SizeMessage(
                f"size mismatch for {key}: copying a param with shape {new.shape} from checkpoint, "
                f"the shape in current model is {tensor.shape}."
            )
            message.sizes = key, tuple(new.shape), tuple(tensor.shape)
            messages.append(message)
            continue
        try:
            with no_grad():
                if metadata.get("assign_to_params_buffers"):
                    if isinstance(tensor, Parameter):
                        if not isinstance(new, Parameter):
                            new = Parameter(new, requires_grad=tensor.requires_grad)
                        else:
                            new.requires_grad_(tensor.requires_grad)
                    setattr(module, name, new)
                else:
                    tensor.copy_(new)
        except Exception as e:
            messages.append(
                f'While copying the parameter named "{key}", whose dimensions in the model are {tensor.size()} and whose dimensions in the '
                f"checkpoint are {new.size()}, an exception occurred : {e.args}."
            )
    extra = prefix + EXTRA
    if _overrides(module, set_extra_state):
        if extra in state:
            module.set_extra_state(state[extra])
        elif strict:
            missing.append(extra)
    elif strict and extra in state:
        unexpected.append(extra)
    if strict:
        for key in state:
            if key.startswith(prefix) and key != extra:
                head, *rest = key[len(prefix) :].split(".", 1)
                if head not in (module._modules if rest else entries):
                    unexpected.append(key)


def consume_prefix_in_state_dict_if_present(state_dict: dict[str, Any], prefix: str) -> None:
    """Take the prefix off every key, and off the metadata's, in place: for a state saved of a module that was inside another."""
    for key in [k for k in state_dict if k.startswith(prefix)]:
        state_dict[key.removeprefix(prefix)] = state_dict.pop(key)
    metadata = getattr(state_dict, "_metadata", {})
    for key in [k for k in metadata if k and (k == prefix.rstrip(".") or k.startswith(prefix))]:
        metadata[key[len(prefix) :]] = metadata.pop(key)
