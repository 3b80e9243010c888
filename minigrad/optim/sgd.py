"""SGD: stochastic gradient descent, with momentum."""

from typing import Any

import numpy as np

from ..kernels import optimizers as kernels
from ..tensors.tensor import Tensor
from .optimizer import Optimizer, check_at_least_zero, check_learning_rate, options_of


class SGD(Optimizer):
    """p = p - lr * g; with momentum p = p - lr * b, where b = momentum * b + (1 - dampening) * g starts as the first g.

    nesterov      step along g + momentum * b
    weight_decay  add weight_decay * p to g
    maximize      climb instead
    Raises ValueError for negative options, and for nesterov without momentum or with dampening.

    >>> import minigrad as torch
    >>> w = torch.tensor(1.0, requires_grad=True)
    >>> optimizer = torch.optim.SGD([w], lr=0.1)
    >>> (3 * w).backward()
    >>> optimizer.step()
    >>> w
    tensor(0.7000, requires_grad=True)
    """

    def __init__(
        self, params, lr: float = 1e-3, momentum: float = 0, dampening: float = 0, weight_decay: float = 0, nesterov: bool = False, *,
        maximize: bool = False, foreach: bool | None = None, differentiable: bool = False, fused: bool | None = None,
    ):  # fmt: skip
        options = options_of(locals())
        check_learning_rate(lr)
        check_at_least_zero(momentum__value=momentum, weight_decay__value=weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(params, options)

    counts = False

    def rule(  # type: ignore[override]
        self, p: Any, g: Any, s: dict[str, Any], t: float, *, lr, momentum, dampening, nesterov, **_
    ) -> Any:
        if momentum:
            old = s.get("momentum_buffer")
            # As PyTorch: no gradient passes through the first buffer
            first = g.detach().clone() if isinstance(g, Tensor) else g
            s["momentum_buffer"] = first if old is None else old * momentum + g * (1 - dampening)
            g = g + s["momentum_buffer"] * momentum if nesterov else s["momentum_buffer"]
        return p - g * lr

    def update(self, p: Tensor, g: np.ndarray, state: dict[str, Any], group: dict[str, Any]) -> None:
        lr, momentum, nesterov = float(group["lr"]), group["momentum"], group["nesterov"]
        decay, maximize = group["weight_decay"], group["maximize"]
        buffer = state.get("momentum_buffer") if momentum else None
        if momentum and buffer is None:  # the first step: the buffer starts as the gradient itself
            super().update(p, g, state, group)
        else:
            kernels.sgd(
                p.array,
                g,
                None if buffer is None else buffer.array,
                lr,
                momentum,
                group["dampening"],
                decay,
                nesterov,
                maximize,
            )
