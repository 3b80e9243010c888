"""Adagrad: steps scaled by the sum of all squared gradients so far."""

from typing import Any

from ..ops.elementwise import sqrt
from ..tensors.create import full_like
from ..tensors.tensor import Tensor
from .optimizer import Optimizer, check_at_least_zero, check_learning_rate, options_of


class Adagrad(Optimizer):
    """p = p - lr / (1 + (t - 1) * lr_decay) * g / (sqrt(s) + eps), where s is the sum of g*g. Raises ValueError for negative options.

    Duchi, Hazan and Singer, Adaptive subgradient methods, 2011, https://jmlr.org/papers/v12/duchi11a.html
    """

    def __init__(
        self, params, lr: float = 1e-2, lr_decay: float = 0, weight_decay: float = 0, initial_accumulator_value: float = 0,
        eps: float = 1e-10, foreach: bool | None = None, *, maximize: bool = False, differentiable: bool = False,
        fused: bool | None = None,
    ):  # fmt: skip
        options = options_of(locals())
        check_learning_rate(lr)
        check_at_least_zero(
            lr_decay__value=lr_decay, weight_decay__value=weight_decay,
            initial_accumulator_value__value=initial_accumulator_value, epsilon__value=eps,
        )  # fmt: skip
        super().__init__(params, options)
        for group in self.param_groups:  # PyTorch makes this state at once, so that it can be shared between processes
            for p in group["params"]:
                self._start(p, self.state[p], group)

    def _start(self, p: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        super()._start(p, state, group)
        state["sum"] = full_like(p.detach(), group["initial_accumulator_value"])

    def rule(self, p: Any, g: Any, s: dict[str, Any], t: float, *, lr, lr_decay, eps, **_) -> Any:  # type: ignore[override]
        s["sum"] = s["sum"] + g * g
        return p - g / (sqrt(s["sum"]) + eps) * (lr / (1 + (t - 1) * lr_decay))
