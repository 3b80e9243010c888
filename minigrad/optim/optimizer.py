"""Optimizer: what all optimisers share.

What lives here: parameter groups, per-parameter state, state_dict, zero_grad, closures and hooks around `step`. What does not: any update
rule (sgd.py, adam.py, ...) and the compiled arithmetic of the most used ones (kernels/optimizers.py).

An update rule is a method `rule(p, g, s, t, **options)`: the parameter, its gradient, a dict of the state's values, the number of the step,
and the group's options. It returns the new parameter and puts new values into `s`; it uses operators and rows of the derivatives table, so
the same rule runs on ndarrays and, with differentiable=True, on Tensors with a graph.
"""

import functools
import itertools
import warnings
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any

import numpy as np

from ..core import dispatch, errors
from ..core.facts import NoParameters, ParametersType, ResultOptimised
from ..core.grad_mode import enable_grad, set_grad_enabled
from ..core.node import RemovableHandle
from ..nn.module import reset_grad
from ..nn.parameter import typename
from ..tensors.tensor import Tensor


class _Required:
    def __repr__(self) -> str:
        return "<required parameter>"


_HOOKS = (
    "_step_pre_hooks", "_step_post_hooks", "_state_dict_pre_hooks", "_state_dict_post_hooks", "_load_state_dict_pre_hooks",
    "_load_state_dict_post_hooks",
)  # fmt: skip
# Options that PyTorch's optimisers have not always had, and their values for an old state_dict without them.
_LATER_OPTIONS: dict[str, Any] = {
    "maximize": False, "foreach": None, "differentiable": False, "fused": None, "capturable": False, "amsgrad": False, "nesterov": False,
    "decoupled_weight_decay": False, "momentum": 0, "centered": False,
}  # fmt: skip
required = _Required()  # as a default: every parameter group must give this option


class Optimizer:
    """Base class of the optimisers, and of your own: define `rule`, or like PyTorch's override the whole of `step`.

    params    an iterable of parameters, of (name, parameter) pairs, or of dicts {"params": ..., option: value, ...}, the parameter groups
    defaults  the options and their values for groups that do not give them
    Raises TypeError for a single tensor, ValueError without parameters, RuntimeError for `fused` beside `foreach` or `differentiable`, and
    NotImplementedError without a `rule`.
    """

    buffers: tuple[str, ...] = ()  # state that starts as zeros of the parameter's shape
    counts = True  # whether the state has a step count
    decoupled = False  # whether weight decay shrinks the parameter (else it is added to the gradient)

    def __init__(self, params: Iterable[Any], defaults: dict[str, Any]):
        self.defaults = defaults
        for name in _HOOKS:
            self.__dict__[name] = OrderedDict()
        if isinstance(params, Tensor):
            raise errors.new(
                TypeError,
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                + typename(params),
                facts=ParametersType(),
            )
        self.state: defaultdict[Any, Any] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        try:
            groups = list(params)
        except TypeError as error:
            raise errors.new(TypeError, str(error), facts=ParametersType()) from None
        if not groups:
            raise errors.new(ValueError, "optimizer got an empty parameter list", facts=NoParameters())
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)
        if defaults.get("fused"):
            if defaults.get("differentiable"):
                raise RuntimeError("`fused` does not support `differentiable`")
            if defaults.get("foreach"):
                raise RuntimeError("`fused` and `foreach` cannot be `True` together.")

    def __init_subclass__(cls, **kwargs: Any):
        super().__init_subclass__(**kwargs)
        if "step" in cls.__dict__:
            cls.step = _with_hooks(cls.step)  # type: ignore[method-assign]

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for name in _HOOKS:
            self.__dict__.setdefault(name, OrderedDict())
        for group in self.param_groups:
            for name in self.defaults.keys() & _LATER_OPTIONS.keys():
                group.setdefault(name, _LATER_OPTIONS[name])
        for stored in self.state.values():
            for name in ("step", "eta", "mu", "mu_product"):
                if self.counts and isinstance(stored, dict) and isinstance(stored.get(name), (int, float)):
                    stored[name] = Tensor._wrap(np.array(stored[name], np.float32))  # once plain numbers

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for i, group in enumerate(self.param_groups):
            lines += ["", f"Parameter Group {i}"] if i else [f"Parameter Group {i}"]
            lines += [f"    {key}: {group[key]}" for key in sorted(group) if key != "params"]
        return "\n".join(lines) + "\n)"

    # Groups ------------------------------------------------------------------------------------------------------------

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Train further parameters, with their own options.

        Raises TypeError for other objects and for sets, ValueError for non-leaf tensors and for parameters it already has.
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets will change between "
                "runs. Please use a list instead."
            )
        params = [params] if isinstance(params, Tensor) else list(params)
        names = [p[0] for p in params if isinstance(p, tuple)]
        params = [p[1] if isinstance(p, tuple) else p for p in params]
        if names and len(names) != len(params):
            raise ValueError("all optimizer params should be with/without names. Some param names are missing")
        param_group["params"] = params
        if names:
            param_group["param_names"] = names
        for p in params:
            if not isinstance(p, Tensor):
                raise TypeError("optimizer can only optimize Tensors, but one of the params is " + typename(p))
            if not (self.defaults.get("differentiable") or p.is_leaf or p.retains_grad):
                raise errors.new(ValueError, "can't optimize a non-leaf Tensor", facts=ResultOptimised())
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            param_group.setdefault(name, default)
        if len(params) != len(set(params)):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this will cause an error; see "
                "github.com/pytorch/pytorch/issues/40967 for more information",
                stacklevel=3,
            )
        for group in self.param_groups:
            if ("param_names" in group) != ("param_names" in param_group):
                which = "with names" if "param_names" in param_group else "without names"
                raise ValueError(
                    f"all optimizer param groups should be with/without names. cannot add param group {which} to the optimizer"
                )
            if not set(params).isdisjoint(group["params"]):
                raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(param_group)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters, or with set_to_none=False fill them with zeros."""
        for group in self.param_groups:
            for p in group["params"]:
                reset_grad(p, set_to_none)

    # Stepping ----------------------------------------------------------------------------------------------------------

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update every parameter that has a gradient. `closure`, if given, recomputes the loss first; its value is returned.

        Raises AssertionError for capturable=True.
        """
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        for handler in dispatch.state.handlers:
            handler.updates(self, True)
        for group in self.param_groups:
            if group.get("capturable"):
                raise AssertionError(
                    "If capturable=True, params and state_steps must be on supported devices: ['cuda', 'xpu', 'hpu', 'privateuseone', "
                    "'xla']."
                )
            if group.get("differentiable"):
                self._recorded_step(group)
                continue
            self.update_group(group)
        for handler in dispatch.state.handlers:
            handler.updates(self, False)
        return loss

    def update_group(self, group: dict[str, Any]) -> None:
        """Update the parameters of a group one after the other."""
        for p in group["params"]:
            if p._grad is not None:
                entry = self.state.get(p)
                state = {} if entry is None else entry
                self.update(p, p._grad.array, state, group)
                p.version[0] += 1
                if entry is None and state:  # plain SGD keeps none
                    self.state[p] = state

    def update(self, p: Tensor, g: np.ndarray, state: dict[str, Any], group: dict[str, Any]) -> None:
        """Change `p.array` in place. `g` is its gradient, `state` what this optimiser keeps for it, `group` the options."""
        if not state:
            self._start(p, state, group)
        t = count_step(state) if self.counts else 0.0
        values = {k: v.array for k, v in state.items() if k != "step"}
        options = {k: float(v) if isinstance(v, Tensor) else v for k, v in group.items() if k != "params"}
        p.array[...] = self._apply_rule(p.array, g, values, t, options)
        for k, v in values.items():
            if k not in state:
                state[k] = Tensor._wrap(np.array(v))
            elif v is not state[k].array:
                state[k].array[...] = v

    def _recorded_step(self, group: dict[str, Any]) -> None:
        """A step on Tensors, with a graph: the new parameters depend on the old ones, on the gradients and on the options."""
        for p in group["params"]:
            if p.grad is None:
                continue
            state = self.state[p]
            if not state:
                self._start(p, state, group)
            t = count_step(state) if self.counts else 0.0
            values = {k: v for k, v in state.items() if k != "step"}
            p.copy_(self._apply_rule(p.clone(), p.grad, values, t, {k: v for k, v in group.items() if k != "params"}))
            state.update(values)

    def _apply_rule(self, p: Any, g: Any, values: dict[str, Any], t: float, options: dict[str, Any]) -> Any:
        """What nearly all rules begin with, and the rule."""
        if options.get("maximize"):
            g = -g
        decay = options.get("weight_decay")
        if decay and options.get("decoupled_weight_decay", self.decoupled):
            p = p * (1 - options["lr"] * decay)
        elif decay:
            g = g + p * decay
        return self.rule(p, g, values, t, **options)

    def _start(self, p: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        """Fill the empty state of a parameter before its first step."""
        if self.counts:
            state["step"] = new_counter()
        for name in self.buffers:
            state[name] = zeros_like(p)

    def rule(self, p: Any, g: Any, s: dict[str, Any], t: float, **options: Any) -> Any:
        """The new parameter. See the top of this file."""
        raise NotImplementedError

    def _add_hook(self, name: str, hook: Callable, prepend: bool = False) -> RemovableHandle:
        hooks, key = self.__dict__[name], next(_hook_numbers)
        hooks[key] = hook
        if prepend:
            hooks.move_to_end(key, last=False)
        return RemovableHandle(hooks, key)

    def register_step_pre_hook(self, hook: Callable) -> RemovableHandle:
        """`hook(optimizer, args, kwargs)` runs before each step; it may return new (args, kwargs)."""
        return self._add_hook("_step_pre_hooks", hook)

    def register_step_post_hook(self, hook: Callable) -> RemovableHandle:
        """`hook(optimizer, args, kwargs)` runs after each step."""
        return self._add_hook("_step_post_hooks", hook)

    def register_state_dict_pre_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """`hook(optimizer)` runs before `state_dict()` collects anything."""
        return self._add_hook("_state_dict_pre_hooks", hook, prepend)

    def register_state_dict_post_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """`hook(optimizer, state_dict)` may change what `state_dict()` returns, or return another."""
        return self._add_hook("_state_dict_post_hooks", hook, prepend)

    def register_load_state_dict_pre_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """`hook(optimizer, state_dict)` gets a shallow copy of the state to load; it may return another."""
        return self._add_hook("_load_state_dict_pre_hooks", hook, prepend)

    def register_load_state_dict_post_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """`hook(optimizer)` runs after `load_state_dict`."""
        return self._add_hook("_load_state_dict_post_hooks", hook, prepend)

    # State -------------------------------------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """{"state": {number of parameter: ...}, "param_groups": [...]}; parameters are numbered in order. Tensors are shared."""
        for hook in [*self._state_dict_pre_hooks.values()]:  # type: ignore[attr-defined]
            hook(self)
        numbers: dict[int, int] = {}
        groups = []
        start = 0
        for group in self.param_groups:
            for i, p in enumerate(group["params"], start):
                numbers.setdefault(id(p), i)
            start += len(group["params"])
            packed = {k: v for k, v in group.items() if k != "params"}
            groups.append({**packed, "params": [numbers[id(p)] for p in group["params"]]})
        state = {numbers[id(k)] if isinstance(k, Tensor) else k: v for k, v in self.state.items()}
        entries: dict[str, Any] = {"state": state, "param_groups": groups}
        for hook in [*self._state_dict_post_hooks.values()]:  # type: ignore[attr-defined]
            changed = hook(self, entries)
            entries = entries if changed is None else changed
        return entries

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over options and state; parameters are matched by their order. Raises ValueError if the groups' sizes differ."""
        state_dict = {**state_dict}
        for hook in [*self._load_state_dict_pre_hooks.values()]:  # type: ignore[attr-defined]
            changed = hook(self, state_dict)
            state_dict = state_dict if changed is None else changed
        saved = deepcopy(state_dict["param_groups"])
        if len(saved) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(g["params"]) != len(s["params"]) for g, s in zip(self.param_groups, saved, strict=True)):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
            )
        own_ids = itertools.chain.from_iterable(g["params"] for g in self.param_groups)
        stored_ids = itertools.chain.from_iterable(g["params"] for g in saved)
        by_number = dict(zip(stored_ids, own_ids, strict=True))
        state: defaultdict[Any, Any] = defaultdict(dict)
        for key, value in state_dict["state"].items():
            if key in by_number:
                state[by_number[key]] = _fit(by_number[key], value)
            else:
                state[key] = value
        for group, new in zip(self.param_groups, saved, strict=True):
            new["params"] = group["params"]
            if "param_names" in group:
                new.setdefault("param_names", group["param_names"])
        self.__setstate__({"state": state, "param_groups": saved})
        for hook in [*self._load_state_dict_post_hooks.values()]:  # type: ignore[attr-defined]
            hook(self)


def _with_hooks(step: Callable) -> Callable:
    """`step` between the hooks, recorded only with differentiable=True; and remembered, for the schedulers' warning about the order."""

    @functools.wraps(step)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        self = args[0]  # the hooks see it among the arguments, as PyTorch's do
        for hook in [*_every_step_before.values(), *self._step_pre_hooks.values()]:
            changed = hook(self, args, kwargs)
            if changed is not None:
                if not (isinstance(changed, tuple) and len(changed) == 2):
                    raise RuntimeError(
                        f"{step} must return None or a tuple of (new_args, new_kwargs), but got {changed}."
                    )
                args, kwargs = changed
        with set_grad_enabled(bool(self.defaults.get("differentiable"))):
            result = step(*args, **kwargs)
        self._opt_called = True
        for hook in [*self._step_post_hooks.values(), *_every_step_after.values()]:
            hook(self, args, kwargs)
        return result

    return wrapped


Optimizer.step = _with_hooks(Optimizer.step)  # type: ignore[method-assign]


def _fit(p: Tensor, value: Any, key: Any = None) -> Any:
    """A copy of saved state in the parameter's dtype (the step count keeps its own)."""
    if isinstance(value, Tensor):
        return Tensor._wrap(
            np.array(value.array, p.array.dtype if key != "step" and p.array.dtype.kind == "f" else None)
        )
    if isinstance(value, dict):
        return {k: _fit(p, v, k) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_fit(p, v) for v in value)
    return value


def zeros_like(p: Tensor) -> Tensor:
    """State of the parameter's shape."""
    return Tensor._wrap(np.zeros_like(p.array))


def count_step(state: dict[str, Any]) -> float:
    """Add one to state["step"], a float32 tensor as in PyTorch, and return it."""
    counter = state["step"].array
    counter[()] = count = counter.item() + 1
    return count


def new_counter() -> Tensor:
    return Tensor._wrap(np.zeros((), np.float32))


def lerp(a: Any, b: Any, weight: float) -> Any:
    """From a towards b; the form with the smaller rounding error, as PyTorch chooses."""
    return a + (b - a) * weight if weight < 0.5 else b - (b - a) * (1 - weight)


def options_of(arguments: dict[str, Any]) -> dict[str, Any]:
    """The options among `locals()` at the start of a constructor, in their order."""
    return {k: v for k, v in arguments.items() if k not in ("self", "params", "__class__")}


def check_learning_rate(lr: Any, sentence: str = "Invalid learning rate: ") -> None:
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")
    if not lr >= 0:
        raise ValueError(f"{sentence}{lr}")


def check_betas(betas: Any) -> None:
    for i in (0, 1):
        if not 0.0 <= betas[i] < 1.0:
            raise ValueError(f"Invalid beta parameter at index {i}: {betas[i]}")


def check_adam(lr: Any, betas: Any, eps: Any, weight_decay: Any) -> None:
    """The checks that Adam and its descendants share, in PyTorch's order."""
    check_learning_rate(lr)
    check_at_least_zero(epsilon__value=eps)
    check_betas(betas)
    check_at_least_zero(weight_decay__value=weight_decay)


def check_at_least_zero(**values: Any) -> None:
    """Raise PyTorch's ValueError for negative (or nan) options; underscores in the names become spaces."""
    for name, value in values.items():
        if not value >= 0:
            raise ValueError(f"Invalid {name.replace('__', ' ')}: {value}")


def register_optimizer_step_pre_hook(hook: Callable) -> RemovableHandle:
    """`hook(optimizer, args, kwargs)` runs before each step of every optimizer."""
    key = next(_hook_numbers)
    _every_step_before[key] = hook
    return RemovableHandle(_every_step_before, key)


def register_optimizer_step_post_hook(hook: Callable) -> RemovableHandle:
    """`hook(optimizer, args, kwargs)` runs after each step of every optimizer."""
    key = next(_hook_numbers)
    _every_step_after[key] = hook
    return RemovableHandle(_every_step_after, key)


_every_step_before: OrderedDict[int, Callable] = OrderedDict()
_every_step_after: OrderedDict[int, Callable] = OrderedDict()
_hook_numbers = itertools.count()
