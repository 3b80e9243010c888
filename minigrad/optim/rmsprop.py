"""RMSprop: steps scaled by a running average of the squared gradient."""

from typing import Any

import numpy as np

from ..kernels import optimizers as kernels
from ..tensors.tensor import Tensor
from .optimizer import Optimizer, check_at_least_zero, count_step, new_counter, zeros_like


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
        check_at_least_zero(
            learning__rate=lr, epsilon__value=eps, momentum__value=momentum, weight_decay__value=weight_decay, alpha__value=alpha
        )
        defaults = {
            "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered, "weight_decay": weight_decay,
            "capturable": capturable, "foreach": foreach, "maximize": maximize, "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def update(self, p: Tensor, g: np.ndarray, state: dict[str, Any], group: dict[str, Any]) -> None:
        if not state:
            state["step"] = new_counter()
            state["square_avg"] = zeros_like(p)
            if group["momentum"] > 0:
                state["momentum_buffer"] = zeros_like(p)
            if group["centered"]:
                state["grad_avg"] = zeros_like(p)
        count_step(state)
        g = kernels.direction(p.array, g, group["weight_decay"], group["maximize"])
        average = state["grad_avg"].array if group["centered"] else None
        buffer = state["momentum_buffer"].array if group["momentum"] > 0 else None
        lr, alpha, eps, momentum = float(group["lr"]), group["alpha"], group["eps"], group["momentum"]
        kernels.rmsprop(p.array, g, state["square_avg"].array, average, buffer, lr, alpha, eps, momentum)
