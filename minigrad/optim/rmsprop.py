"""RMSprop: steps scaled by a running average of the squared gradient."""

from typing import Any

from ..ops.elementwise import sqrt
from ..tensors.tensor import Tensor
from .optimizer import Optimizer, check_at_least_zero, check_learning_rate, lerp, options_of, zeros_like


class RMSprop(Optimizer):
    """p = p - lr * g / (sqrt(v) + eps), where v is a running average of g*g.

    alpha     how slowly v forgets
    centered  subtract the square of g's running average from v: its variance
    momentum  as in SGD, on the scaled gradient
    Raises ValueError for negative options.
    """

    def __init__(
        self, params, lr: float = 1e-2, alpha: float = 0.99, eps: float = 1e-8, weight_decay: float = 0, momentum: float = 0,
        centered: bool = False, capturable: bool = False, foreach: bool | None = None, maximize: bool = False,
        differentiable: bool = False,
    ):  # fmt: skip
        options = options_of(locals())
        check_learning_rate(lr)
        check_at_least_zero(
            epsilon__value=eps, momentum__value=momentum, weight_decay__value=weight_decay, alpha__value=alpha
        )
        super().__init__(params, options)

    def _start(self, p: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        super()._start(p, state, group)
        needed = {"square_avg": True, "momentum_buffer": group["momentum"] > 0, "grad_avg": group["centered"]}
        state |= {name: zeros_like(p) for name, is_wanted in needed.items() if is_wanted}

    def rule(self, p: Any, g: Any, s: dict[str, Any], t: float, *, lr, alpha, eps, momentum, centered, **_) -> Any:  # type: ignore[override]
        square = s["square_avg"] = s["square_avg"] * alpha + g * g * (1 - alpha)
        if centered:
            s["grad_avg"] = lerp(s["grad_avg"], g, 1 - alpha)
            square = square - s["grad_avg"] * s["grad_avg"]
        root = sqrt(square) + eps
        if momentum > 0:
            s["momentum_buffer"] = s["momentum_buffer"] * momentum + g / root
            return p - s["momentum_buffer"] * lr
        return p - g / root * lr
