"""Adafactor: Adam's scaling from one average per row and one per column."""

from typing import Any

import numpy as np

from ..tensors.tensor import Tensor
from .optimizer import Optimizer, check_learning_rate, lerp, options_of, zeros_like


class Adafactor(Optimizer):
    """For matrices the mean squares of g are kept as a column of row means and a row of column means, far less memory than Adam needs.

    lr            the most that a step may be, relative to the parameter's size; also the factor of weight decay
    beta2_decay   the averages forget with 1 - t ** beta2_decay
    eps           the least mean square (None: the dtype's eps), and the least size of a parameter
    d             updates are clipped to this root mean square
    Shazeer and Stern, Adafactor: adaptive learning rates with sublinear memory cost, 2018, https://arxiv.org/abs/1804.04235
    Raises ValueError for a beta2_decay above 0, a d below 1 and negative options.
    """

    def __init__(
        self, params, lr: float = 1e-2, beta2_decay: float = -0.8, eps: tuple[float | None, float] = (None, 1e-3), d: float = 1.0,
        weight_decay: float = 0.0, *, foreach: bool | None = None, maximize: bool = False,
    ):  # fmt: skip
        options = options_of(locals())
        check_learning_rate(lr, "Learning rate should be >= 0 but is: ")
        if not beta2_decay <= 0.0:
            raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        for name, value in (("epsilon1", 0 if eps[0] is None else eps[0]), ("epsilon2", eps[1])):
            if not value >= 0.0:
                raise ValueError(f"{name} should be >= 0 but is: {value}")
        if not d >= 1.0:
            raise ValueError(f"Clipping threshold d should be >= 1 but is: {d}")
        if not weight_decay >= 0.0:
            raise ValueError(f"weight_decay should be >= 0 but is: {weight_decay}")
        super().__init__(params, options)

    def _start(self, p: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        super()._start(p, state, group)
        if p.ndim > 1:
            state["row_var"], state["col_var"] = zeros_like(p.detach()[..., :1]), zeros_like(p.detach()[..., :1, :])
        else:
            state["variance"] = zeros_like(p)

    def _apply_rule(self, p: Any, g: Any, values: dict[str, Any], t: float, options: dict[str, Any]) -> Any:
        options["size"] = max(options["eps"][1], float(np.sqrt(np.mean(p * p))))  # before weight decay
        options["decoupled_weight_decay"] = True
        return super()._apply_rule(p, g, values, t, options)

    def rule(self, p: Any, g: Any, s: dict[str, Any], t: float, *, lr, beta2_decay, eps, d, size, **_) -> Any:  # type: ignore[override]
        least, new = np.finfo(p.dtype).eps if eps[0] is None else eps[0], t**beta2_decay
        squares = g * g
        if g.ndim > 1:
            s["row_var"] = lerp(s["row_var"], squares.mean(-1, keepdims=True), new)
            s["col_var"] = lerp(s["col_var"], squares.mean(-2, keepdims=True), new)
            variance = np.matmul(s["row_var"], s["col_var"]) / s["row_var"].mean(-2, keepdims=True).clip(least)
        else:
            variance = s["variance"] = lerp(s["variance"], squares, new)
        update = g / np.sqrt(np.maximum(variance, least * least))
        clipped = max(1.0, float(np.sqrt(np.mean(update * update))) / d)
        return p - update * (size * min(lr, 1 / t**0.5) / clipped)
