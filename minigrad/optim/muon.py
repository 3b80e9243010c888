"""Muon: momentum made orthogonal, for the matrices of hidden layers."""

import math
from typing import Any

import numpy as np

from .optimizer import Optimizer, check_learning_rate, lerp, options_of


class Muon(Optimizer):
    """p = p * (1 - lr * weight_decay) - lr * ratio * O, where O is the momentum with all singular values brought near 1.

    Only for matrices; give biases and embeddings to AdamW. The iteration that makes O runs in the parameter's dtype, PyTorch's in bfloat16,
    so the steps agree to about two digits.
    adjust_lr_fn  how the ratio follows the matrix's shape: "original" or "match_rms_adamw"

    Jordan, Muon: an optimizer for hidden layers in neural networks, 2024, https://kellerjordan.github.io/posts/muon/
    Raises ValueError for parameters that are not matrices, an unknown adjust_lr_fn and negative options.
    """

    counts, decoupled, buffers = False, True, ("momentum_buffer",)

    def __init__(
        self, params, lr: float = 1e-3, weight_decay: float = 0.1, momentum: float = 0.95, nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315), eps: float = 1e-7, ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ):  # fmt: skip
        options = options_of(locals())
        check_learning_rate(lr, "Learning rate should be >= 0 but is: ")
        for name, value in (("momentum", momentum), ("weight decay", weight_decay)):
            if not value >= 0.0:
                raise ValueError(f"{name} should be >= 0 but is: {value}")
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        super().__init__(params, options)
        for group in self.param_groups:
            for p in group["params"]:
                if p.ndim != 2:
                    raise ValueError(
                        f"Muon only supports 2D parameters whereas we found a parameter with size: {p.size()}"
                    )

    def rule(  # type: ignore[override]
        self, p: Any, g: Any, s: dict[str, Any], t: float, *, lr, momentum, nesterov, adjust_lr_fn, **options
    ) -> Any:
        s["momentum_buffer"] = lerp(s["momentum_buffer"], g, 1 - momentum)
        direction = lerp(g, s["momentum_buffer"], momentum) if nesterov else s["momentum_buffer"]
        rows, columns = p.shape
        ratio = (
            0.2 * math.sqrt(max(rows, columns))
            if adjust_lr_fn == "match_rms_adamw"
            else math.sqrt(max(1, rows / columns))
        )
        return p - orthogonal(direction, options["ns_coefficients"], options["ns_steps"], options["eps"]) * (lr * ratio)


def orthogonal(x: np.ndarray, coefficients: tuple[float, float, float], steps: int, eps: float) -> np.ndarray:
    """The matrix with its singular values near 1: a Newton-Schulz iteration."""
    if steps >= 100:
        raise ValueError("Number of steps must be less than 100 for computational efficiency")
    if len(coefficients) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values")
    a, b, c = coefficients
    y = x.T if x.shape[0] > x.shape[1] else x
    y = y / max(float(np.linalg.norm(y)), eps)
    for _ in range(steps):
        gram = y @ y.T
        y = a * y + (b * gram + c * gram @ gram) @ y
    return y.T if x.shape[0] > x.shape[1] else y
