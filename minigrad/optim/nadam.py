"""NAdam: Adam with Nesterov momentum."""

from typing import Any

from ..ops.elementwise import sqrt
from ..tensors.create import ones
from ..tensors.tensor import Tensor
from .optimizer import Optimizer, check_adam, check_at_least_zero, lerp, options_of


class NAdam(Optimizer):
    """Adam whose step looks ahead along the momentum; beta1 is warmed up as beta1 * (1 - 0.5 * 0.96 ** (t * momentum_decay)).

    Dozat, Incorporating Nesterov momentum into Adam, 2016, https://openreview.net/forum?id=OM0jvwB8jIp57ZJjtNEZ
    """

    def __init__(
        self, params, lr: float = 2e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0,
        momentum_decay: float = 4e-3, decoupled_weight_decay: bool = False, *, foreach: bool | None = None, maximize: bool = False,
        capturable: bool = False, differentiable: bool = False,
    ):  # fmt: skip
        options = options_of(locals())
        check_adam(lr, betas, eps, weight_decay)
        check_at_least_zero(momentum_decay__value=momentum_decay)
        super().__init__(params, options)

    def _start(self, p: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        super()._start(p, state, group)
        state |= {"mu_product": ones(()), "exp_avg": p.detach() * 0, "exp_avg_sq": p.detach() * 0}

    def rule(self, p: Any, g: Any, s: dict[str, Any], t: float, *, lr, betas, eps, momentum_decay, **_) -> Any:  # type: ignore[override]
        mu, mu_next = (betas[0] * (1 - 0.5 * 0.96 ** (n * momentum_decay)) for n in (t, t + 1))
        s["mu_product"] = s["mu_product"] * mu
        product = s["mu_product"] if isinstance(p, Tensor) else s["mu_product"].item()
        s["exp_avg"] = lerp(s["exp_avg"], g, 1 - betas[0])
        s["exp_avg_sq"] = s["exp_avg_sq"] * betas[1] + g * g * (1 - betas[1])
        root = sqrt(s["exp_avg_sq"] / (1 - betas[1] ** t)) + eps
        p = p - g / root * (lr * (1 - mu) / (1 - product))
        return p - s["exp_avg"] / root * (lr * mu_next / (1 - product * mu_next))
