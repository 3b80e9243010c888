"""Where is it used? Mark every use of one entry, name its factor, and watch the contributions add up to its gradient.

What lives here: `uses(of)`, for a matrix product, a bias and a convolution. The numbers that it compares with come from a backward pass.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import minigrad as torch
from minigrad.tensors.create import tensor

from .kit import Figure, Given, lesson
from .lesson import Judgement, label, number, svg, tag

X, W, G = [[1.0, 2.0], [3.0, -1.0]], [[2.0, 0.5], [-1.0, 1.0]], [[1.0, -2.0], [4.0, 0.5]]
SMALL = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
LINE, TERM = 34.0, 86.0


def named(letter: str, *places: int) -> str:
    """x₁₂, counted from 1 as in formulas."""
    return letter + "".join(str(place + 1).translate(SMALL) for place in places)


@dataclass(frozen=True)
class Term:
    """A product of an entry and its factor, in one output."""

    entry: str
    factor: str
    value: float


@dataclass(frozen=True)
class Task:
    """The outputs as sums of terms with the gradient at each, the entries to look for, and what they add up to."""

    outputs: list[tuple[str, str, float, list[Term]]]  # the output's name, the name and the value of its gradient
    targets: list[str]
    truth: dict[str, float]
    rule: str


def _product() -> Task:
    w = tensor(W, dtype=torch.float64, requires_grad=True)
    (tensor(X, dtype=torch.float64) @ w.T).backward(tensor(G, dtype=torch.float64))
    outputs = [
        (
            named("y", s, k),
            named("g", s, k),
            G[s][k],
            [Term(named("w", k, j), named("x", s, j), X[s][j]) for j in (0, 1)],
        )
        for s in (0, 1)
        for k in (0, 1)
    ]
    truth = {named("w", k, j): w.grad[k, j].item() for k in (0, 1) for j in (0, 1)}
    return Task(outputs, [named("w", 0, 0), named("w", 0, 1)], truth, "")


def _bias() -> Task:
    b, g = tensor([0.5], dtype=torch.float64, requires_grad=True), [1.0, -2.0, 4.0]
    (torch.zeros(3, 1, dtype=torch.float64) + b).backward(tensor(g, dtype=torch.float64).unsqueeze(1))
    outputs = [
        (named("y", s), named("g", s), g[s], [Term("w", named("x", s), float(s + 1)), Term("b", "1", 1.0)])
        for s in range(3)
    ]
    return Task(
        outputs,
        ["b"],
        {"b": b.grad.item()},
        "There is one b, and each row has its copy. So the gradient of a broadcast is a sum",
    )


def _convolution() -> Task:
    x, g = [1.0, 2.0, -1.0, 3.0], [1.0, -2.0, 4.0]
    k = tensor([0.5, 1.0], dtype=torch.float64, requires_grad=True)
    torch.nn.functional.conv1d(tensor(x, dtype=torch.float64)[None, None], k[None, None]).backward(
        tensor(g, dtype=torch.float64)[None, None]
    )
    outputs = [
        (named("y", i), named("g", i), g[i], [Term(named("k", j), named("x", i + j), x[i + j]) for j in (0, 1)])
        for i in range(3)
    ]
    truth = {named("k", j): k.grad[j].item() for j in (0, 1)}
    return Task(
        outputs,
        [named("k", 0)],
        truth,
        "The kernel is used in every place, each time beside another number of the signal",
    )


TASKS = {"product": _product, "bias": _bias, "convolution": _convolution}


def _times(a: list[list[float]], b: list[list[float]]) -> list[list[float]]:
    return [[sum(x * y for x, y in zip(row, column, strict=True)) for column in zip(*b, strict=True)] for row in a]


def _turned(a: list[list[float]]) -> list[list[float]]:
    return [list(row) for row in zip(*a, strict=True)]


NAMES = {
    "gᵀ x": _times(_turned(G), X),
    "g xᵀ": _times(G, _turned(X)),
    "g x": _times(G, X),
    "xᵀ g": _times(_turned(X), G),
}


@lesson
class uses(Figure):
    """Find a gradient by collecting uses: press every term that uses an entry, then the factor beside it.

    of: "product" for y = x Wᵀ with two samples, "bias", or "convolution".
    """

    of = Given("product")
    marked: tuple[int, ...] = ()
    asked = -1  # the output whose factor is asked for
    found = 0  # how many entries are complete
    name = ""
    message: Any = ""

    def setup(self) -> None:
        if not isinstance(self.of, str) or self.of not in TASKS:
            raise ValueError(f"of is one of {', '.join(map(repr, TASKS))}, not {self.of!r}.")
        self.task = TASKS[self.of]()
        self.message = f"Press every term that uses {self.target}."

    @property
    def target(self) -> str:
        return self.task.targets[min(self.found, len(self.task.targets) - 1)]

    @property
    def places(self) -> list[int]:
        """The outputs that use the entry."""
        return [o for o, (*_, terms) in enumerate(self.task.outputs) if any(t.entry == self.target for t in terms)]

    @property
    def complete(self) -> bool:
        return self.found == len(self.task.targets)

    def _factor(self, o: int) -> Term:
        return next(t for t in self.task.outputs[o][3] if t.entry == self.target)

    def actions(self) -> Iterator[tuple[str, dict[str, Any]]]:
        options: list[tuple[str, str, Any]] = []
        if self.complete and self.of == "product" and not self.name:
            options = [(name, f"the gradient at W is {name}", lambda f, n=name: f._call(n)) for name in NAMES]
        elif self.asked >= 0:
            factors = dict.fromkeys(t.factor for *_, terms in self.task.outputs for t in terms if t.factor != "1")
            options = [
                (x, f"{self.target} is multiplied by {x} there", lambda f, x=x: f._name_factor(x)) for x in factors
            ]
        elif not self.complete:
            for o, (y, *_, terms) in enumerate(self.task.outputs):
                for t in terms:
                    options.append(
                        (f"{y}: {_written(t)}", f"the term {_written(t)} of {y}", lambda f, o=o, t=t: f._mark(o, t))
                    )
        options.append(("start again", "forget all marks", lambda f: f._again()))
        for k, (text, hint, run) in enumerate(options):
            yield f"press{k}", {"label": text, "hint": hint, "when": lambda f: True, "run": run}

    def _again(self) -> None:
        self.marked, self.asked, self.found, self.name = (), -1, 0, ""
        self.setup()

    def _mark(self, o: int, term: Term) -> None:
        y = self.task.outputs[o][0]
        if term.entry != self.target:
            left = len(self.places) - len(self.marked)
            self.message = Judgement(
                False, f"This term belongs to {term.entry}. {self.target} is used {left} more time{'s' * (left != 1)}."
            )
        elif o in self.marked:
            self.message = Judgement(False, f"This use is marked already. Look at the other outputs for {self.target}.")
        else:
            self.marked = (*self.marked, o)
            self.asked = o if term.factor != "1" else -1
            self.message = (
                Judgement(True, f"{y} uses {self.target}.")
                if self.asked < 0
                else f"{y} uses {self.target}. What is it multiplied by there?"
            )
            self._finish()

    def _name_factor(self, x: str) -> None:
        if x != self._factor(self.asked).factor:
            self.message = Judgement(
                False, f"Not {x}: read the marked term of {self.task.outputs[self.asked][0]} again."
            )
            return
        self.message = Judgement(
            True, f"So this use contributes {self.task.outputs[self.asked][1]} · {x}. Where else is {self.target} used?"
        )
        self.asked = -1
        self._finish()

    def _finish(self) -> None:
        if self.asked >= 0 or len(self.marked) < len(self.places):
            return
        last, self.found = self.target, self.found + 1
        message = f"The contributions add up to {number(self.task.truth[last])}, the gradient at {last}."
        if not self.complete:
            self.marked = ()
            message += f" Now {self.target}."
        elif self.of == "product":
            message += " Both entries are a column of g times a column of x. Which matrix is that?"
        else:
            message += f" {self.task.rule}."
        self.message = Judgement(True, message)

    def _call(self, name: str) -> None:
        matrix = NAMES[name]
        wrong = next(
            ((k, j) for k in (0, 1) for j in (0, 1) if matrix[k][j] != self.task.truth[named("w", k, j)]), None
        )
        if wrong is None:
            self.name = name
            self.message = Judgement(
                True, f"The gradient at W is {name}. It has the shape of W, and a backward pass gives the same numbers."
            )
        else:
            entry, has = named("w", *wrong), number(matrix[wrong[0]][wrong[1]])
            self.message = Judgement(
                False,
                f"{name} has the right shape, as every product of square matrices has. But at {entry} it has {has}, and the uses of "
                f"{entry} add up to {number(self.task.truth[entry])}.",
            )

    def sentence(self) -> Any:
        return self.message

    def draw(self) -> str:
        out = ""
        for o, (y, g, value, terms) in enumerate(self.task.outputs):
            top = 40.0 + LINE * o
            out += label(20, top, f"{y} =", "num v b")
            for k, t in enumerate(terms):
                left = 66.0 + (TERM + 22) * k
                hit = t.entry == self.target and o in self.marked
                style = f"fill:var(--{'bwd' if o == self.asked else 'fwd'});fill-opacity:{0.22 if hit else 0.0}"
                out += tag("rect", x=left, y=top - 21, width=TERM, height=30, rx=6, style=style)
                out += tag("rect", "grid", x=left, y=top - 21, width=TERM, height=30, rx=6, fill="none")
                out += label(left + TERM / 2, top, _written(t), "num v b" if hit else "num v", "middle")
                out += label(left + TERM + 11, top, "+", "t soft", "middle") if k + 1 < len(terms) else ""
            out += label(290, top, f"{g} = {number(value)}", "num v bwd")
        out += label(410, 40, "factors", "t soft")
        shown = dict.fromkeys((t.factor, t.value) for *_, terms in self.task.outputs for t in terms if t.factor != "1")
        for k, (factor, value) in enumerate(shown):
            out += label(410 + 92 * (k % 2), 66.0 + 26 * (k // 2), f"{factor} = {number(value)}", "num v")
        left, top = 620.0, 40.0
        out += label(left, top, "gradient", "t soft")
        for k, entry in enumerate(self.task.truth):
            got = self.name or entry in self.task.targets[: self.found]
            text = f"{entry}: {number(self.task.truth[entry]) if got else '?'}"
            out += label(left + 92 * (k % 2), 66.0 + 26 * (k // 2), text, f"num v b{' bwd' if got else ''}")
        high = 50.0 + LINE * len(self.task.outputs)
        parts = [
            f"{self.task.outputs[o][1]} · {'?' if o == self.asked else self._factor(o).factor}" for o in self.marked
        ]
        out += tag("rect", "panel", x=14, y=high - 16, width=792, height=40, rx=8)
        out += label(28, high + 10, f"gradient at {self.target} = {' + '.join(parts) or '…'}", "num v b bwd")
        return svg(820, high + 38, out, str(self.message))


def _written(term: Term) -> str:
    return term.entry if term.factor == "1" else f"{term.factor} · {term.entry}"
