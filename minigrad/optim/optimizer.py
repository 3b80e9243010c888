"""Optimizer: what all optimisers share.

What lives here: parameter groups, per-parameter state, state_dict, zero_grad, closures and hooks around `step`. What does not: any update
rule (sgd.py, adam.py, ...) and its arithmetic (kernels/optimizers.py).
"""

import functools
import itertools
import warnings
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any

import numpy as np

from ..core.grad_mode import enable_grad, no_grad
from ..core.node import RemovableHandle
from ..nn.module import reset_grad
from ..nn.parameter import typename
from ..tensors.tensor import Tensor


class _Required:
    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()  # as a default: every parameter group must give this option


class Optimizer:
    """Base class of the optimisers, and of your own: override `update`, or like PyTorch's the whole of `step`.

    params    an iterable of parameters, of (name, parameter) pairs, or of dicts {"params": ..., option: value, ...}, the parameter groups
    defaults  the options and their values for groups that do not give them
    """

    def __init__(self, params: Iterable[Any], defaults: dict[str, Any]):
        self.defaults = defaults
        self._step_pre_hooks: OrderedDict[int, Callable] = OrderedDict()
        self._step_post_hooks: OrderedDict[int, Callable] = OrderedDict()
        if isinstance(params, Tensor):
            raise TypeError("params argument given to the optimizer should be an iterable of Tensors or dicts, but got " + typename(params))
        if defaults.get("differentiable"):
            raise NotImplementedError(
                f"{type(self).__name__}(differentiable=True) is not supported: steps are never recorded. Write the update yourself with "
                "autograd.grad(..., create_graph=True) and ordinary tensor arithmetic."
            )
        self.state: defaultdict[Any, Any] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def __init_subclass__(cls, **kwargs: Any):
        super().__init_subclass__(**kwargs)
        if "step" in cls.__dict__:
            cls.step = _with_hooks(cls.step)  # type: ignore[method-assign]

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__dict__.setdefault("_step_pre_hooks", OrderedDict())
        self.__dict__.setdefault("_step_post_hooks", OrderedDict())

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for i, group in enumerate(self.param_groups):
            lines += ["", f"Parameter Group {i}"] if i else [f"Parameter Group {i}"]
            lines += [f"    {key}: {group[key]}" for key in sorted(group) if key != "params"]
        return "\n".join(lines) + "\n)"

    # Groups ------------------------------------------------------------------------------------------------------------

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Train further parameters, with their own options. Raises ValueError for non-leaf tensors and for parameters it already has."""
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
            if not (p.is_leaf or p.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
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
        """Update every parameter that has a gradient. `closure`, if given, recomputes the loss first; its value is returned."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        for group in self.param_groups:
            for p in group["params"]:
                if p._grad is not None:
                    known = self.state.get(p)
                    state = {} if known is None else known
                    self.update(p, p._grad.array, state, group)
                    p.version[0] += 1
                    if known is None and state:  # plain SGD keeps none
                        self.state[p] = state
        return loss

    def update(self, p: Tensor, g: np.ndarray, state: dict[str, Any], group: dict[str, Any]) -> None:
        """Change `p.array` in place. `g` is its gradient, `state` what this optimiser keeps for it, `group` the options."""
        raise NotImplementedError

    def register_step_pre_hook(self, hook: Callable) -> RemovableHandle:
        """`hook(optimizer, args, kwargs)` runs before each step; it may return new (args, kwargs)."""
        key = next(_hook_numbers)
        self._step_pre_hooks[key] = hook
        return RemovableHandle(self._step_pre_hooks, key)

    def register_step_post_hook(self, hook: Callable) -> RemovableHandle:
        """`hook(optimizer, args, kwargs)` runs after each step."""
        key = next(_hook_numbers)
        self._step_post_hooks[key] = hook
        return RemovableHandle(self._step_post_hooks, key)

    # State -------------------------------------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """{"state": {number of parameter: ...}, "param_groups": [...]}; parameters are numbered in order. Tensors are shared."""
        numbers: dict[int, int] = {}
        groups = []
        start = 0
        for group in self.param_groups:
            for i, p in enumerate(group["params"], start):
                numbers.setdefault(id(p), i)
            start += len(group["params"])
            packed = {k: v for k, v in group.items() if k != "params"}
            groups.append({**packed, "params": [numbers[id(p)] for p in group["params"]]})
        return {"state": {numbers[id(k)] if isinstance(k, Tensor) else k: v for k, v in self.state.items()}, "param_groups": groups}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over options and state; parameters are matched by their order. Raises ValueError if the groups' sizes differ."""
        saved = deepcopy(state_dict["param_groups"])
        if len(saved) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(g["params"]) != len(s["params"]) for g, s in zip(self.param_groups, saved, strict=True)):
            raise ValueError("loaded state dict contains a parameter group that doesn't match the size of optimizer's group")
        ours = itertools.chain.from_iterable(g["params"] for g in self.param_groups)
        theirs = itertools.chain.from_iterable(g["params"] for g in saved)
        by_number = dict(zip(theirs, ours, strict=True))
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


def _with_hooks(step: Callable) -> Callable:
    """`step` without recording, between the hooks; and remembered, for the schedulers' warning about the order of calls."""

    @functools.wraps(step)
    def wrapped(self, *args: Any, **kwargs: Any) -> Any:
        for hook in [*self._step_pre_hooks.values()]:
            changed = hook(self, args, kwargs)
            if changed is not None:
                if not (isinstance(changed, tuple) and len(changed) == 2):
                    raise RuntimeError(f"{step} must return None or a tuple of (new_args, new_kwargs), but got {changed}.")
                args, kwargs = changed
        with no_grad():
            result = step(self, *args, **kwargs)
        self._opt_called = True
        for hook in [*self._step_post_hooks.values()]:
            hook(self, args, kwargs)
        return result

    return wrapped


Optimizer.step = _with_hooks(Optimizer.step)  # type: ignore[method-assign]


def _fit(p: Tensor, value: Any, key: Any = None) -> Any:
    """A copy of saved state in the parameter's dtype (the step count keeps its own)."""
    if isinstance(value, Tensor):
        return Tensor._wrap(np.array(value.array, p.array.dtype if key != "step" and p.array.dtype.kind == "f" else None))
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


def check_at_least_zero(**values: Any) -> None:
    """Raise PyTorch's ValueError for negative (or nan) options; underscores in the names stand for spaces."""
    for name, value in values.items():
        if not value >= 0:
            raise ValueError(f"Invalid {name.replace('__', ' ')}: {value}")


_hook_numbers = itertools.count()
