"""Rprop: the sign of the gradient, and a step size for every number."""

from typing import Any

from ..ops.elementwise import sign, where
from ..tensors.create import full_like
from ..tensors.tensor import Tensor
from .optimizer import Optimizer, check_learning_rate, options_of


class Rprop(Optimizer):
    """p = p - sign(g) * size, where each size grows by etas[1] while the sign stays, and shrinks by etas[0] when it changes (then that
    number is not moved). For full batches.

    Riedmiller and Braun, A direct adaptive method for faster backpropagation learning, 1993
    Raises ValueError unless 0 < etas[0] < 1 < etas[1].
    """

    def __init__(
        self, params, lr: float = 1e-2, etas: tuple[float, float] = (0.5, 1.2), step_sizes: tuple[float, float] = (1e-6, 50), *,
        capturable: bool = False, foreach: bool | None = None, maximize: bool = False, differentiable: bool = False,
    ):  # fmt: skip
        options = options_of(locals())
        check_learning_rate(lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        super().__init__(params, options)

    def _start(self, p: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        super()._start(p, state, group)
        state |= {"prev": p.detach() * 0, "step_size": full_like(p.detach(), float(group["lr"]))}

    def rule(self, p: Any, g: Any, s: dict[str, Any], t: float, *, etas, step_sizes, **_) -> Any:  # type: ignore[override]
        turned = g * s["prev"]
        size = s["step_size"] * where(turned > 0, etas[1], where(turned < 0, etas[0], 1.0))
        s["step_size"] = size.clip(*step_sizes)
        s["prev"] = where(turned < 0, 0.0, g)
        return p - sign(s["prev"]) * s["step_size"]
