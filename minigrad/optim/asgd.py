"""ASGD: stochastic gradient descent, and the average of the parameters it passed through."""

from typing import Any

from ..tensors.create import full
from ..tensors.tensor import Tensor
from .optimizer import Optimizer, check_at_least_zero, check_learning_rate, options_of


class ASGD(Optimizer):
    """p = p * (1 - lambd * eta) - eta * g with a falling eta; state["ax"] is the average of p after t0 steps.

    Polyak and Juditsky, Acceleration of stochastic approximation by averaging, 1992, https://doi.org/10.1137/0330046
    """

    def __init__(
        self, params, lr: float = 1e-2, lambd: float = 1e-4, alpha: float = 0.75, t0: float = 1e6, weight_decay: float = 0,
        foreach: bool | None = None, maximize: bool = False, differentiable: bool = False, capturable: bool = False,
    ):  # fmt: skip
        options = options_of(locals())
        check_learning_rate(lr)
        check_at_least_zero(weight_decay__value=weight_decay)
        super().__init__(params, options)

    def _start(self, p: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        super()._start(p, state, group)
        state |= {"eta": full((), float(group["lr"])), "mu": full((), 1.0), "ax": p.detach() * 0}

    def rule(self, p: Any, g: Any, s: dict[str, Any], t: float, *, lr, lambd, alpha, t0, **_) -> Any:  # type: ignore[override]
        eta, mu = s["eta"].item(), s["mu"].item()
        p = p * (1 - lambd * eta) - g * eta
        s["ax"] = p if mu == 1 else s["ax"] + (p - s["ax"]) * mu
        s["eta"] = s["eta"] * 0 + lr / (1 + lambd * lr * t) ** alpha
        s["mu"] = s["mu"] * 0 + 1 / max(1, t - t0)
        return p
