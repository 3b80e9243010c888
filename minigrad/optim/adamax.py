"""Adamax: Adam with the largest gradient of the past in place of the root of the mean square."""

from typing import Any

from ..ops.elementwise import abs, maximum
from .optimizer import Optimizer, check_adam, lerp, options_of


class Adamax(Optimizer):
    """p = p - lr / (1 - beta1**t) * m / u, where m is a running average of g and u = max(beta2 * u, abs(g) + eps).

    Kingma and Ba, Adam: a method for stochastic optimization, 2014, section 7, https://arxiv.org/abs/1412.6980
    """

    buffers = ("exp_avg", "exp_inf")

    def __init__(
        self, params, lr: float = 2e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0,
        foreach: bool | None = None, *, maximize: bool = False, differentiable: bool = False, capturable: bool = False,
    ):  # fmt: skip
        options = options_of(locals())
        check_adam(lr, betas, eps, weight_decay)
        super().__init__(params, options)

    def rule(self, p: Any, g: Any, s: dict[str, Any], t: float, *, lr, betas, eps, **_) -> Any:  # type: ignore[override]
        s["exp_avg"] = lerp(s["exp_avg"], g, 1 - betas[0])
        s["exp_inf"] = maximum(s["exp_inf"] * betas[1], abs(g) + eps)
        return p - s["exp_avg"] / s["exp_inf"] * (lr / (1 - betas[0] ** t))
