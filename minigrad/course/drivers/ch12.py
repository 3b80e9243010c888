"""Drivers of chapter 12: dual numbers, Jacobians by rows and columns, clipped gradients."""

from __future__ import annotations

from typing import Any

from .calls import import_torch


def dual(cls: Any, expression: str, x: float) -> Any:
    """Value and derivative of an expression over the learner's dual numbers."""
    out = eval(expression, {"__builtins__": {}, "sin": lambda d: d.sin(), "exp": lambda d: d.exp()}, {"x": cls(x, 1.0)})
    return [out.value, out.derivative]


def dual_loop(cls: Any, x: float, steps: int) -> Any:
    """The same for a program with a loop and an `if` in it."""
    x = y = cls(x, 1.0)
    for _ in range(steps):
        y = y / 3 - 1 if y > 2 else y**2 + x if y < 1 else 3 - x * y
    return [y.value, y.derivative]


def dual_side(cls: Any, x: float, y: float) -> Any:
    """A comparison of two dual numbers, whose derivatives say the opposite."""
    a, b = cls(x, -x), cls(y, -y)
    return [bool(a < b), bool(a > b), bool(b < a), bool(b > a)]


def _knobs(torch: Any, x: Any) -> Any:
    return torch.cat([x[0] * torch.sin(x[1:2] + torch.arange(0.0, 6.0, dtype=x.dtype)), x[2:]])


JACOBIANS = {
    "three to seven": _knobs,
    "four to two": lambda torch, x: torch.stack([x[0] * x[1] + x[3], x[2] ** 2 * x[0]]),
    "five to one": lambda torch, x: (x**3).sum().reshape(1),
    "two to two": lambda torch, x: torch.stack([x[0] * x[1], x[0] ** 2]),
    "two to three": lambda torch, x: torch.stack([x[0] * x[1], x[0] ** 2, 3 * x[1]]),
}


def jacobian_by(entry: Any, name: str, x: list[float]) -> Any:
    """The learner's Jacobian, and which mode it took. The library's own Jacobians are switched off meanwhile."""
    torch = import_torch()
    modes = []

    def watched(x: Any) -> Any:
        modes.append("reverse" if x.requires_grad else "forward")
        return JACOBIANS[name](torch, x)

    def off(*args: Any, **more: Any) -> Any:
        raise RuntimeError("here the Jacobian is built from jvp, vjp and vmap")

    library = {key: getattr(torch.func, key) for key in ("jacrev", "jacfwd")}
    try:
        for key in library:
            setattr(torch.func, key, off)
        J = entry(watched, torch.tensor(x, dtype=torch.float64))
    finally:
        for key, function in library.items():
            setattr(torch.func, key, function)
    return {"J": J.tolist(), "mode": modes[-1]}


def clipped(entry: Any, inputs: list, targets: list, most: float) -> Any:
    """The learner's sum of clipped gradients, for a small network with fixed weights."""
    torch = import_torch()
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 2)).double()
    with torch.no_grad():
        for k, p in enumerate(model.parameters()):
            p.copy_((torch.arange(p.numel(), dtype=p.dtype) * 0.7 + k).sin().reshape(p.shape))
    f64 = {"dtype": torch.float64}
    out = entry(model, torch.tensor(inputs, **f64), torch.tensor(targets, **f64), most)
    return {name: out[name].tolist() for name, _ in model.named_parameters()}
