"""What a Hessian costs, and what its product with one vector: the engine's steps counted while it works.

What lives here: `hvp_cost(f, n)`. What does not: the Jacobian's memory (pick_v.py), both graphs of a gradient (stacked.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import minigrad as torch
from minigrad.tensors.create import tensor

from .kit import Figure, Given, Steps, lesson
from .lesson import label, number, svg, tag

SIZES = (1, 2, 3, 5, 10, 20, 50, 100, 200)


def canned(x: torch.Tensor) -> torch.Tensor:
    """A Hessian that is full: diag(x²) + 1 1ᵀ."""
    return (x**4).sum() / 12 + x.sum() ** 2 / 2


def point(n: int) -> torch.Tensor:
    return tensor([math.sin(1.0 + k) for k in range(n)], dtype=torch.float64, requires_grad=True)


def direction(n: int) -> torch.Tensor:
    return tensor([math.cos(2.0 + k) for k in range(n)], dtype=torch.float64)


def _steps(work: Callable) -> tuple[torch.Tensor, int]:
    """What the work returns, and how many operations and nodes the engine ran for it."""
    with torch.autograd.profiler.profile() as prof:
        result = work()
    return result, sum(event.count for event in prof.key_averages())


def gradient(f: Callable, x: torch.Tensor) -> torch.Tensor:
    return torch.autograd.grad(f(x), x)[0]


def product(f: Callable, x: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """H v in two passes: the gradient with a graph, and vᵀ back through that graph (H is symmetric)."""
    (g,) = torch.autograd.grad(f(x), x, create_graph=True)
    return torch.autograd.grad(g, x, grad_outputs=v)[0]


def hessian(f: Callable, x: torch.Tensor) -> torch.Tensor:
    """H row by row: the gradient with a graph, and one more pass for each of its entries."""
    (g,) = torch.autograd.grad(f(x), x, create_graph=True)
    rows = torch.eye(len(x), dtype=x.dtype)
    return torch.stack([torch.autograd.grad(g, x, grad_outputs=row, retain_graph=True)[0] for row in rows])


class Cost:
    def __init__(self, f: Callable, n: int):
        self.f = f
        self.change(n)

    def change(self, n: int) -> None:
        """Do the work for n parameters and count."""
        x, v = point(n), direction(n)
        value = self.f(x)
        if not isinstance(value, torch.Tensor) or value.numel() != 1 or not value.requires_grad:
            raise ValueError(
                "the function must make one number from a tensor of n parameters, for example (x**4).sum()."
            )
        _, first = _steps(lambda: gradient(self.f, x))
        short, second = _steps(lambda: product(self.f, x, v))
        table, full = _steps(lambda: hessian(self.f, x))
        self.n, self.steps = n, {"gradient": first, "H v": second, "the whole H": full}
        self.gap = float((table @ v - short).abs().max())
        self.scale = float(short.abs().max())

    @property
    def agree(self) -> bool:
        return self.gap <= 1e-9 * (1 + self.scale)

    def sentence(self) -> str:
        s = self.steps
        agree = "The two ways agree." if self.agree else f"✗ They differ by {number(self.gap)}."
        return (
            f"{self.n} parameter{'s' * (self.n > 1)}: the gradient takes {s['gradient']} steps of the engine, H v {s['H v']}, and all of H "
            f"{s['the whole H']:,}. H has {self.n**2:,} number{'s' * (self.n > 1)}, H v has {self.n}. {agree}"
        )

    def svg(self) -> str:
        x0, x1 = 150.0, 560.0
        most = max(4.0, math.log10(max(self.steps.values())))
        out = label(24, 30, f"n = {self.n} parameter{'s' * (self.n > 1)}", "h")
        for e in range(math.ceil(most) + 1):
            if (x := x0 + e / most * (x1 - x0)) <= x1 + 1:
                out += tag("line", "grid", x1=x, x2=x, y1=48, y2=196) + label(x, 214, f"{10**e:,}", "t soft", "middle")
        full = ("the whole H", self.n**2, f"{self.n + 1} passes", "fwd")
        rows = (("gradient", self.n, "1 pass", ""), ("H v", self.n, "2 passes", "bwd"), full)
        for k, (name, numbers, passes, colour) in enumerate(rows):
            y, style = (
                56.0 + 48 * k,
                f"fill:var(--{colour}-soft);stroke:var(--{colour});stroke-width:2" if colour else "fill:var(--line)",
            )
            out += label(x0 - 12, y + 23, name, f"t b {colour}".strip(), "end")
            wide = math.log10(max(self.steps[name], 1)) / most * (x1 - x0)
            dash = {"stroke_dasharray": "6 3"} if colour == "bwd" else {}
            out += tag("rect", x=x0, y=y, width=max(wide, 2.0), height=36, rx=4, style=style, **dash)
            out += label(x1 + 22, y + 15, f"{self.steps[name]:,} steps, {passes}", f"num v b {colour}".strip())
            out += label(x1 + 22, y + 32, f"{numbers:,} number{'s' * (numbers > 1)}", "t soft")
        out += label((x0 + x1) / 2, 236, "steps of the engine: operations and nodes that ran", "t soft", "middle")
        return svg(820, 250, out, self.sentence())


@lesson
class hvp_cost(Figure):
    """The steps that the engine takes for a gradient, for Hessian times vector, and for the whole Hessian, counted as it runs.

    f: a function of a tensor of n parameters that returns one number, yours or the course's; n: 1 to 200, changed by the slider.
    Returns a widget, or one sentence that says what is wrong.

    >>> "H has 400 numbers, H v has 20. The two ways agree." in hvp_cost().text()
    True
    """

    f = Given(None)
    n = Steps(SIZES, "n", 20)

    def setup(self) -> None:
        if self.f is not None and not callable(self.f):
            raise TypeError(
                f"it needs a function of one tensor, such as lambda x: (x**4).sum(), and not {type(self.f).__name__}."
            )
        try:
            self.cost = Cost(self.f or canned, self.n)
        except Exception as error:
            raise ValueError(f"With {self.n} parameters the function stops: {error}") from error

    def sentence(self) -> str:
        return self.cost.sentence()

    def draw(self) -> str:
        return self.cost.svg()
