"""Module: a function with parameters.

What lives here: registration by attribute assignment, the walks over parameters, buffers and sub-modules, train and eval, conversion,
registering hooks, repr. What does not: calling with hooks (module_hooks.py), state dictionaries (module_state.py), any particular layer.
"""

import functools
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from weakref import ref

from ..core import errors
from ..core.dtypes import dtype as Dtype
from ..core.facts import ModuleNotReady
from ..core.grad_mode import no_grad
from ..core.node import RemovableHandle, next_number
from ..tensors.create import empty_like
from ..tensors.tensor import Tensor, to_what
from ..tracing import module_calls
from . import module_hooks, module_state
from .module_hooks import (  # noqa: F401  (torch.nn.modules.module)
    every_module,
    register_module_backward_hook,
    register_module_buffer_registration_hook,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)
from .parameter import Buffer, Parameter, typename


class Module:
    """Base class of everything that has parameters. Subclasses call `super().__init__()`, assign parameters and sub-modules to
    attributes, and define `forward`; calling the module runs the hooks and `forward`.
    Raises TypeError for arguments, unless `call_super_init` is set, and NotImplementedError if `forward` is not defined.

    >>> import minigrad as torch
    >>> from minigrad import nn
    >>> class Line(nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.slope = nn.Parameter(torch.tensor(2.0))
    ...     def forward(self, x):
    ...         return self.slope * x
    >>> line = Line()
    >>> line(torch.tensor(3.0))
    tensor(6., grad_fn=<MulBackward0>)
    >>> [name for name, _ in line.named_parameters()]
    ['slope']
    """

    _version = 1
    call_super_init = False  # True: pass arguments on to the next class, for cooperative inheritance
    training: bool
    _is_full_backward_hook: bool | None  # None: no backward hooks yet

    def __init__(self, *args: Any, **kwargs: Any):
        if kwargs and not self.call_super_init:
            raise TypeError(
                f"{type(self).__name__}.__init__() got an unexpected keyword argument '{next(iter(kwargs))}'"
            )
        if args and not self.call_super_init:
            raise TypeError(
                f"{type(self).__name__}.__init__() takes 1 positional argument but {len(args) + 1} were given"
            )
        self.__dict__.update(  # not by assignment: __setattr__ looks these up
            training=True,
            _parameters={},
            _buffers={},
            _non_persistent_buffers_set=set(),
            _modules={},
            _forward_pre_hooks=OrderedDict(),
            _forward_pre_hooks_with_kwargs=set(),
            _forward_hooks=OrderedDict(),
            _forward_hooks_with_kwargs=set(),
            _forward_hooks_always_called=set(),
            _backward_pre_hooks=OrderedDict(),
            _backward_hooks=OrderedDict(),
            _is_full_backward_hook=None,
            _state_dict_pre_hooks=OrderedDict(),
            _state_dict_hooks=OrderedDict(),
            _load_state_dict_pre_hooks=OrderedDict(),
            _load_state_dict_post_hooks=OrderedDict(),
        )
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if (
            self._forward_pre_hooks
            or self._forward_hooks
            or self._backward_hooks
            or self._backward_pre_hooks
            or every_module
        ):
            return module_hooks.call(self, args, kwargs)
        start = next_number()
        out = self.forward(*args, **kwargs)
        module_calls.LOG.append((start, next_number(), ref(self)))  # so that a graph can be folded by module
        return out

    # Registration ------------------------------------------------------------------------------------------------------

    def __setattr__(self, name: str, value: Any) -> None:
        attributes = self.__dict__
        if isinstance(value, Parameter):
            if "_parameters" not in attributes:
                raise _not_ready("parameters")
            self._forget(name, attributes, self._buffers, self._modules)
            self.register_parameter(name, value)
        elif isinstance(value, Module):
            if "_modules" not in attributes:
                raise _not_ready("module")
            if name in self._parameters:
                raise TypeError(
                    f"cannot assign '{typename(value)}' as parameter '{name}' (torch.nn.Parameter or None expected)"
                )
            self._forget(name, attributes, self._buffers)
            self._modules[name] = module_hooks.registered("module", self, name, value)
        elif name in attributes.get("_parameters", ()):
            if value is not None:
                raise TypeError(
                    f"cannot assign '{typename(value)}' as parameter '{name}' (torch.nn.Parameter or None expected)"
                )
            self._parameters[name] = None
        elif name in attributes.get("_modules", ()):
            if value is not None:
                raise TypeError(
                    f"cannot assign '{typename(value)}' as child module '{name}' (torch.nn.Module or None expected)"
                )
            self._modules[name] = None
        elif isinstance(value, Buffer) or name in attributes.get("_buffers", ()):
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(
                    f"cannot assign '{typename(value)}' as buffer '{name}' (torch.nn.Buffer, torch.Tensor or None expected)"
                )
            saved = value.persistent if isinstance(value, Buffer) else name not in self._non_persistent_buffers_set
            # A subclass's own may not know of the third
            self.register_buffer(name, value, *(() if saved else (False,)))
        else:
            object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        attributes = self.__dict__
        for kind in ("_parameters", "_buffers", "_modules"):
            if name in attributes.get(kind, ()):
                return attributes[kind][name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __delattr__(self, name: str) -> None:
        for kind in (self._parameters, self._buffers, self._modules):
            if name in kind:
                del kind[name]
                self._non_persistent_buffers_set.discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        names = {*dir(type(self)), *self.__dict__, *self._parameters, *self._modules, *self._buffers}
        # Sequential's "0", "1", ... are no attributes to type
        return sorted(name for name in names if not name[0].isdigit())

    def _forget(self, name: str, *places: dict) -> None:
        for place in places:
            place.pop(name, None)
        self._non_persistent_buffers_set.discard(name)

    def _check_name(self, what: str, name: Any, place: dict) -> None:
        if not isinstance(name, str):
            raise TypeError(f"{what} name should be a string. Got {typename(name)}")
        if "." in name:
            raise KeyError(f'{what} name can\'t contain "."' + (f", got: {name}" if what == "module" else ""))
        if name == "":
            raise KeyError(f'{what} name can\'t be empty string ""')
        if hasattr(self, name) and name not in place:
            raise KeyError(f"attribute '{name}' already exists")

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter; None reserves the name (a layer made with bias=False).

        Raises AttributeError before Module.__init__, TypeError for other objects, ValueError for a tensor with a graph.
        """
        if "_parameters" not in self.__dict__:
            raise _not_ready("parameter")
        self._check_name("parameter", name, self._parameters)
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{typename(param)}' object to parameter '{name}' (torch.nn.Parameter or None required)"
            )
        if param is not None and param.grad_fn is not None:
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created explicitly. To express '{name}' as "
                "a function of another Tensor, compute the value in the forward() method."
            )
        self._parameters[name] = module_hooks.registered("parameter", self, name, param)

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that is not trained (a running mean); only persistent ones appear in `state_dict()`.

        Raises AttributeError before Module.__init__, TypeError for other objects.
        """
        if "_buffers" not in self.__dict__:
            raise _not_ready("buffer")
        self._check_name("buffer", name, self._buffers)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{typename(tensor)}' object to buffer '{name}' (torch Tensor or None required)"
            )
        self._buffers[name] = module_hooks.registered("buffer", self, name, tensor)
        (self._non_persistent_buffers_set.discard if persistent else self._non_persistent_buffers_set.add)(name)

    def add_module(self, name: str, module: "Module | None") -> None:
        """Add a sub-module under a name that need not be an identifier. Raises TypeError for other objects."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{typename(module)} is not a Module subclass")
        self._check_name("module", name, self._modules)
        self._modules[name] = module_hooks.registered("module", self, name, module)

    def register_module(self, name: str, module: "Module | None") -> None:
        """Another name of add_module."""
        self.add_module(name, module)

    # Looking up by dotted name -------------------------------------------------------------------------------------------

    def get_submodule(self, target: str) -> "Module":
        """The sub-module called `target`, such as "encoder.layers.0"; "" is the module itself. Raises AttributeError if there is none."""
        module = self
        for name in target.split(".") if target else ():
            if not hasattr(module, name):
                raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
            module = getattr(module, name)
            if not isinstance(module, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def set_submodule(self, target: str, module: "Module", strict: bool = False) -> None:
        """Replace the sub-module called `target`; with `strict` it must exist.

        Raises AttributeError if there is none, ValueError for an empty name and for other objects.
        """
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Module):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        parent_name, _, name = target.rpartition(".")
        parent = self.get_submodule(parent_name)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{parent._get_name()} has no attribute `{name}`")
        if hasattr(parent, name) and not isinstance(getattr(parent, name), Module):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Parameter:
        return self._get_member(target, "_parameters", "an nn.Parameter")

    def get_buffer(self, target: str) -> Tensor:
        return self._get_member(target, "_buffers", "a buffer")

    def _get_member(self, target: str, kind: str, what: str) -> Any:
        parent_name, _, name = target.rpartition(".")
        parent = self.get_submodule(parent_name)
        if not hasattr(parent, name):
            raise AttributeError(f"{parent._get_name()} has no attribute `{name}`")
        if parent.__dict__[kind].get(name) is None:
            raise AttributeError(f"`{name}` is not {what}")
        return parent.__dict__[kind][name]

    # Walking -------------------------------------------------------------------------------------------------------------

    def named_modules(
        self, memo: set["Module"] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, "Module"]]:
        """Every module of the tree, itself first, depth first; a module that is used twice comes once."""
        if memo is None:
            memo = set()
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, child in self._modules.items():
            if child is not None:
                yield from child.named_modules(memo, f"{prefix}.{name}" if prefix else name, remove_duplicate)

    def modules(self, remove_duplicate: bool = True) -> Iterator["Module"]:
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def named_children(self) -> Iterator[tuple[str, "Module"]]:
        """The direct sub-modules."""
        seen = set()
        for name, child in self._modules.items():
            if child is not None and child not in seen:
                seen.add(child)
                yield name, child

    def children(self) -> Iterator["Module"]:
        for _, child in self.named_children():
            yield child

    def _named_members(
        self, members: Callable, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        seen = set()
        modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
        for path, module in modules:
            for name, member in members(module):
                if member is None or member in seen:
                    continue
                if remove_duplicate:
                    seen.add(member)
                yield (f"{path}.{name}" if path else name), member

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Every parameter with its dotted name; a shared one comes once."""
        yield from self._named_members(lambda module: module._parameters.items(), prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """Every parameter: what an optimizer takes."""
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        yield from self._named_members(lambda module: module._buffers.items(), prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    # Changing everything at once -----------------------------------------------------------------------------------------

    def apply(self, fn: Callable[["Module"], None]):
        """Call `fn` on every sub-module, then on the module itself: the usual way to initialise weights."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    def train(self, mode: bool = True):
        """Training behaviour (dropout, batch statistics) on or off, in the whole tree. Raises ValueError if mode is not a bool."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for child in self.children():
            child.train(mode)
        return self

    def eval(self):
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True):
        """Freeze (False) or thaw every parameter."""
        for p in self.parameters():
            p.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients, or with set_to_none=False fill them with zeros. Only parameters: see Tensor.grad for the others."""
        for p in self.parameters():
            reset_grad(p, set_to_none)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True):
        if recurse:
            for child in self.children():
                child._apply(fn)
        for parameter in self._parameters.values():
            if parameter is not None:
                with no_grad():
                    parameter.data = fn(parameter)
                    if parameter._grad is not None:
                        parameter._grad.data = fn(parameter._grad)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(self, *args: Any, **kwargs: Any):
        """Convert the floating-point parameters and buffers in place: `to(dtype)`, `to(device)`, `to(tensor)`.

        Raises TypeError for a dtype of integers, RuntimeError for copy=True.
        """
        dtype_wanted, copy, _, device = to_what(args, kwargs)
        if copy:
            raise RuntimeError(".to() does not accept copy argument")
        if dtype_wanted is not None and not dtype_wanted.is_floating_point:
            raise TypeError(
                f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype_wanted}"
            )
        if device is not None:
            self._apply(lambda t: t.to(device))
        return self if dtype_wanted is None else self._convert(dtype_wanted)

    def _convert(self, dtype: Dtype):
        return self._apply(lambda t: t.to(dtype) if t.is_floating_point() else t)

    def float(self):
        return self._convert(_dtypes().float32)

    def double(self):
        return self._convert(_dtypes().float64)

    def half(self):
        return self._convert(_dtypes().float16)

    def type(self, dst_type: Dtype):
        return self._apply(lambda t: t.type(dst_type))

    def cpu(self):
        return self

    def to_empty(self, *, device: Any, recurse: bool = True):
        """Parameters and buffers with new, uninitialised memory."""
        return self._apply(lambda t: empty_like(t, device=device), recurse)

    def share_memory(self):
        """Does nothing: there is one process."""
        return self

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Does nothing: a module is called as it is."""

    # Hooks -----------------------------------------------------------------------------------------------------------------

    def register_forward_pre_hook(
        self, hook: Callable, *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """`hook(module, args)` runs before forward; a result replaces the arguments. `with_kwargs`: `hook(module, args, kwargs)`
        returns None or both."""
        return self._add_hook(
            self._forward_pre_hooks, hook, prepend, with_kwargs and self._forward_pre_hooks_with_kwargs
        )

    def register_forward_hook(
        self, hook: Callable, *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> RemovableHandle:
        """`hook(module, args, output)` runs after forward; a result replaces the output. `always_call`: also when forward raised."""
        handle = self._add_hook(self._forward_hooks, hook, prepend, with_kwargs and self._forward_hooks_with_kwargs)
        if always_call:
            self._forward_hooks_always_called.add(handle.id)
            handle.marks.append(self._forward_hooks_always_called)
        return handle

    def register_full_backward_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """`hook(module, grad_input, grad_output)` runs once the gradients of the inputs are known; a result replaces them."""
        self._one_kind_of_backward_hook(full=True)
        return self._add_hook(self._backward_hooks, hook, prepend)

    def register_full_backward_pre_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """`hook(module, grad_output)` runs before the module's backward; a result replaces grad_output."""
        return self._add_hook(self._backward_pre_hooks, hook, prepend)

    def register_backward_hook(self, hook: Callable) -> RemovableHandle:
        """The old form: sees only the gradients of the last operation in forward. Use register_full_backward_hook."""
        self._one_kind_of_backward_hook(full=False)
        return self._add_hook(self._backward_hooks, hook, False)

    def _one_kind_of_backward_hook(self, full: bool) -> None:
        if self._is_full_backward_hook is (not full):
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a single Module. Please use only one of them."
            )
        self._is_full_backward_hook = full

    def register_state_dict_pre_hook(self, hook: Callable) -> RemovableHandle:
        """`hook(module, prefix, keep_vars)` runs before the module's numbers are put into the state dictionary."""
        return self._add_hook(self._state_dict_pre_hooks, hook, False)

    def register_state_dict_post_hook(self, hook: Callable) -> RemovableHandle:
        """`hook(module, state_dict, prefix, local_metadata)` runs afterwards; it may change state_dict, and returns None."""
        hook._from_public_api = True  # type: ignore[attr-defined]
        return self._add_hook(self._state_dict_hooks, hook, False)

    def _register_state_dict_hook(
        self, hook: Callable
    ) -> RemovableHandle:  # as above; a result replaces the dictionary
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError(
                "Cannot register the same function as the state dict post hook that was previously registered via "
                "register_state_dict_post_hook"
            )
        return self._add_hook(self._state_dict_hooks, hook, False)

    def register_load_state_dict_pre_hook(self, hook: Callable) -> RemovableHandle:
        """`hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)` runs before the module
        takes its numbers out of state_dict."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def _register_load_state_dict_pre_hook(self, hook: Callable, with_module: bool = False) -> RemovableHandle:
        return self._add_hook(
            self._load_state_dict_pre_hooks, module_state.WithModule(hook) if with_module else hook, False
        )

    def register_load_state_dict_post_hook(self, hook: Callable) -> RemovableHandle:
        """`hook(module, incompatible_keys)` runs after the module and its sub-modules were loaded; it may change the lists of keys."""
        return self._add_hook(self._load_state_dict_post_hooks, hook, False)

    def _add_hook(self, hooks: OrderedDict, hook: Any, prepend: bool, with_kwargs: Any = False) -> RemovableHandle:
        key = next(_hook_numbers)
        hooks[key] = hook
        if prepend:
            hooks.move_to_end(key, last=False)
        handle = RemovableHandle(hooks, key)
        if with_kwargs is not False:
            with_kwargs.add(key)
            handle.marks.append(with_kwargs)
        return handle

    # State -----------------------------------------------------------------------------------------------------------------

    def state_dict(
        self, *, destination: dict | None = None, prefix: str = "", keep_vars: bool = False
    ) -> dict[str, Any]:
        """Parameters and persistent buffers by dotted name. The tensors share the module's storage: `clone` what must not change."""
        return module_state.state_dict(self, destination, prefix, keep_vars)

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> module_state._IncompatibleKeys:
        """Copy the numbers of `state_dict` into the parameters and buffers. `strict`: the keys must be exactly the module's.
        `assign`: take the given tensors themselves. Raises RuntimeError listing all keys and shapes that do not fit."""
        return module_state.load_state_dict(self, state_dict, strict, assign)

    def _save_to_state_dict(self, destination: dict, prefix: str, keep_vars: bool) -> None:
        module_state.save(self, destination, prefix, keep_vars)

    def _load_from_state_dict(
        self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
    ) -> None:  # PyTorch's name and arguments: layers override it
        module_state.load(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)

    get_extra_state, set_extra_state = module_state.get_extra_state, module_state.set_extra_state

    # Text ------------------------------------------------------------------------------------------------------------------

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """What stands between the brackets of the repr, before the sub-modules. Override it."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        own_lines = extra.split("\n") if extra else []
        children = [f"({name}): " + indent(repr(child)) for name, child in self._modules.items()]
        if not children and len(own_lines) <= 1:
            return f"{self._get_name()}({extra})"
        return f"{self._get_name()}(\n  " + "\n  ".join(own_lines + children) + "\n)"


def _not_ready(assigned: str) -> AttributeError:
    facts = ModuleNotReady(assigned)
    return errors.new(AttributeError, f"cannot assign {assigned} before Module.__init__() call", facts=facts)


def indent(text: str) -> str:
    """All lines but the first, two spaces to the right."""
    return text.replace("\n", "\n  ")


def reset_grad(p: Tensor, set_to_none: bool) -> None:
    """`p.grad` to None, or to zeros in place."""
    if p._grad is None:
        return
    if set_to_none:
        p._grad = None
        return
    if p._grad.grad_fn is not None:
        p._grad.detach_()
    else:
        p._grad.requires_grad_(False)
    p._grad.zero_()


@functools.cache
def _dtypes():
    from ..core import dtypes  # late, because Module has methods called float and type

    return dtypes


_hook_numbers = iter(range(1 << 62))
