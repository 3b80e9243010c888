"""Adam and AdamW: steps scaled by running averages of the gradient and of its square."""

from operator import itemgetter
from typing import Any

import numpy as np

from ..kernels import optimizers as kernels
from ..ops.elementwise import maximum, sqrt
from ..tensors.tensor import Tensor
from .optimizer import Optimizer, check_adam, count_step, lerp, options_of, zeros_like

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
        self, params, lr: float = 1e-3, betas: tuple[Any, Any] = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0,
        amsgrad: bool = False, *, foreach: bool | None = None, maximize: bool = False, capturable: bool = False,
        differentiable: bool = False, fused: bool | None = None, decoupled_weight_decay: bool = False,
    ):  # fmt: skip
        options = options_of(locals())
        if isinstance(lr, Tensor) and foreach and not capturable:
            raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")
        check_adam(lr, betas, eps, weight_decay)
        if not any(isinstance(betas[0], kind) and isinstance(betas[1], kind) for kind in (float, Tensor)):
            raise ValueError("betas must be either both floats or both Tensors")
        for i in (0, 1):
            if isinstance(betas[i], Tensor):
                if foreach and not capturable:
                    raise ValueError(f"betas[{i}] as a Tensor is not supported for capturable=False and foreach=True")
                if betas[i].numel() != 1:
                    raise ValueError(f"Tensor betas[{i}] must be 1-element")
        super().__init__(params, options | {"betas": tuple(betas)})

    buffers = ("exp_avg", "exp_avg_sq")

    def _start(self, p: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        super()._start(p, state, group)
        if group["amsgrad"]:
            state["max_exp_avg_sq"] = zeros_like(p)

    def rule(self, p: Any, g: Any, s: dict[str, Any], t: float, *, lr, betas, eps, amsgrad, **_) -> Any:  # type: ignore[override]
        s["exp_avg"] = lerp(s["exp_avg"], g, 1 - betas[0])
        largest = s["exp_avg_sq"] = s["exp_avg_sq"] * betas[1] + g * g * (1 - betas[1])
        if amsgrad:
            largest = s["max_exp_avg_sq"] = maximum(s["max_exp_avg_sq"], s["exp_avg_sq"])
        return p - s["exp_avg"] / (sqrt(largest) / (1 - betas[1] ** t) ** 0.5 + eps) * (lr / (1 - betas[0] ** t))

    def update_group(self, group: dict[str, Any]) -> None:
        """All parameters by one call, once the kernels are compiled and as long as only numbers change; else one after the other."""
        groups = self.__dict__.setdefault("_together", {})
        cached, parameters = groups.get(id(group)), [p for p in group["params"] if p._grad is not None]
        if (
            cached is None
            or group["amsgrad"]
            or not cached.fits(parameters, self.state)
            or not cached.step(*_options(group))
        ):
            super().update_group(group)
            plain = type(self).update is Adam.update and not group["amsgrad"]
            groups[id(group)] = kernels.Together.of(parameters, self.state) if plain else None

    def update(self, p: Tensor, g: np.ndarray, state: dict[str, Any], group: dict[str, Any]) -> None:
        if not state:
            self._start(p, state, group)
        largest = state["max_exp_avg_sq"].array if group["amsgrad"] else None
        averages = state["exp_avg"].array, state["exp_avg_sq"].array, largest
        lr, betas, *options = _options(group)
        kernels.adam(p.array, g, *averages, count_step(state), float(lr), float(betas[0]), float(betas[1]), *options)


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
