"""Adam and AdamW: steps scaled by running averages of the gradient and of its square."""

from operator import itemgetter
from typing import Any

import numpy as np

from ..kernels import optimizers as kernels
from ..tensors.tensor import Tensor
from .optimizer import Optimizer, check_at_least_zero, count_step, new_counter, zeros_like

_options = itemgetter("lr", "betas", "eps", "weight_decay", "decoupled_weight_decay", "maximize")


class Adam(Optimizer):
    """p = p - lr * m / (sqrt(v) + eps), where m and v are running averages of g and g*g, both divided by 1 - beta**t.

    betas         how slowly m and v forget
    amsgrad       use the largest v so far
    weight_decay  add weight_decay * p to g, or with decoupled_weight_decay shrink p by 1 - lr * weight_decay first (AdamW)
    Raises ValueError for negative options and betas outside [0, 1).

    Kingma and Ba, Adam: a method for stochastic optimization, 2014, https://arxiv.org/abs/1412.6980
    """

    def __init__(
        self, params, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0,
        amsgrad: bool = False, *, foreach: bool | None = None, maximize: bool = False, capturable: bool = False,
        differentiable: bool = False, fused: bool | None = None, decoupled_weight_decay: bool = False,
    ):  # fmt: skip
        check_at_least_zero(learning__rate=lr, epsilon__value=eps)
        for i in (0, 1):
            if not 0.0 <= betas[i] < 1.0:
                raise ValueError(f"Invalid beta parameter at index {i}: {betas[i]}")
        check_at_least_zero(weight_decay__value=weight_decay)
        if not all(isinstance(beta, float) for beta in betas):
            raise ValueError("betas must be either both floats or both Tensors")
        defaults = {
            "lr": lr, "betas": tuple(betas), "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad, "maximize": maximize,
            "foreach": foreach, "capturable": capturable, "differentiable": differentiable, "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }  # fmt: skip
        super().__init__(params, defaults)

    def update(self, p: Tensor, g: np.ndarray, state: dict[str, Any], group: dict[str, Any]) -> None:
        if not state:
            state["step"] = new_counter()
            state["exp_avg"], state["exp_avg_sq"] = zeros_like(p), zeros_like(p)
            if group["amsgrad"]:
                state["max_exp_avg_sq"] = zeros_like(p)
        largest = state["max_exp_avg_sq"].array if group["amsgrad"] else None
        averages = state["exp_avg"].array, state["exp_avg_sq"].array, largest
        lr, betas, *options = _options(group)
        kernels.adam(p.array, g, *averages, count_step(state), float(lr), *betas, *options)


class AdamW(Adam):
    """Adam whose weight decay shrinks the parameter directly instead of passing through the averages.

    Loshchilov and Hutter, Decoupled weight decay regularization, 2017, https://arxiv.org/abs/1711.05101
    """

    def __init__(
        self, params, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 1e-2,
        amsgrad: bool = False, *, maximize: bool = False, foreach: bool | None = None, capturable: bool = False,
        differentiable: bool = False, fused: bool | None = None,
    ):  # fmt: skip
        super().__init__(
            params, lr, betas, eps, weight_decay, amsgrad, foreach=foreach, maximize=maximize, capturable=capturable,
            differentiable=differentiable, fused=fused, decoupled_weight_decay=True,
        )  # fmt: skip

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True  # also when loading what an Adam has saved
