"""RAdam: Adam that trusts the mean square of the gradients only once it has seen enough of them."""

from typing import Any

from ..ops.elementwise import sqrt
from .optimizer import Optimizer, check_adam, lerp, options_of


class RAdam(Optimizer):
    """Adam with a rectified variance: the first steps are those of momentum alone, which replaces a warm-up.

    Liu et al., On the variance of the adaptive learning rate and beyond, 2019, https://arxiv.org/abs/1908.03265
    """

    buffers = ("exp_avg", "exp_avg_sq")

    def __init__(
        self, params, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0,
        decoupled_weight_decay: bool = False, *, foreach: bool | None = None, maximize: bool = False, capturable: bool = False,
        differentiable: bool = False,
    ):  # fmt: skip
        options = options_of(locals())
        check_adam(lr, betas, eps, weight_decay)
        super().__init__(params, options)

    def rule(self, p: Any, g: Any, s: dict[str, Any], t: float, *, lr, betas, eps, **_) -> Any:  # type: ignore[override]
        s["exp_avg"] = lerp(s["exp_avg"], g, 1 - betas[0])
        s["exp_avg_sq"] = s["exp_avg_sq"] * betas[1] + g * g * (1 - betas[1])
        correction = 1 - betas[1] ** t
        step = s["exp_avg"] / (1 - betas[0] ** t) * lr
        longest = 2 / (1 - betas[1]) - 1
        length = longest - 2 * t * betas[1] ** t / correction  # of the average of squares, so far
        if length > 5.0:
            rectified = ((length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)) ** 0.5
            step = step * (correction**0.5 / (sqrt(s["exp_avg_sq"]) + eps)) * rectified
        return p - step
