"""Adadelta: steps in the units of the parameter, without a learning rate to choose."""

from typing import Any

from ..ops.elementwise import sqrt
from .optimizer import Optimizer, check_at_least_zero, check_learning_rate, options_of


class Adadelta(Optimizer):
    """p = p - lr * d, where d = g * sqrt(u + eps) / sqrt(v + eps), and v and u are running averages of g*g and d*d.

    Zeiler, ADADELTA: an adaptive learning rate method, 2012, https://arxiv.org/abs/1212.5701
    Raises ValueError for a rho outside [0, 1].
    """

    buffers = ("square_avg", "acc_delta")

    def __init__(
        self, params, lr: float = 1.0, rho: float = 0.9, eps: float = 1e-6, weight_decay: float = 0, foreach: bool | None = None, *,
        capturable: bool = False, maximize: bool = False, differentiable: bool = False,
    ):  # fmt: skip
        options = options_of(locals())
        check_learning_rate(lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        check_at_least_zero(epsilon__value=eps, weight_decay__value=weight_decay)
        super().__init__(params, options)

    def rule(self, p: Any, g: Any, s: dict[str, Any], t: float, *, lr, rho, eps, **_) -> Any:  # type: ignore[override]
        s["square_avg"] = s["square_avg"] * rho + g * g * (1 - rho)
        d = sqrt(s["acc_delta"] + eps) / sqrt(s["square_avg"] + eps) * g
        s["acc_delta"] = s["acc_delta"] * rho + d * d * (1 - rho)
        return p - d * lr
