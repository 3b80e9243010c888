"""S9, memory: which activations are alive while a chain of layers runs forward and backward, with and without checkpoints.

What lives here: `memory(model)`, every moment of one training step as a film, and `memory_depth()`, the peak for chains of 1 to 100 layers.
Nothing is modelled: the step runs on the engine with minigrad.utils.checkpoint, and weak references to the arrays that its operations made
say which of them still exist. What does not: checkpointing (minigrad.utils.checkpoint), the player (frames.py).
"""

from __future__ import annotations

import asyncio
import math
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import Any

import minigrad as torch
from minigrad import nn
from minigrad.core.dispatch import Handler
from minigrad.utils.checkpoint import checkpoint

from ..show import Table
from .frames import SLOT, Frames
from .kit import Control, Field, Figure, Given, Moments, Slider, Steps, action, lesson
from .lesson import label, number, svg, tag
from .pick_v import in_bytes

MOST = 100  # layers
WIDTH, BATCH = 16, 64  # of the canned chain: an activation is 64 × 16 numbers of 4 bytes


class Layer(nn.Module):
    """tanh of a linear map: its rule needs its own output, so each layer keeps one activation."""

    def __init__(self, width: int = WIDTH):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x: Any) -> Any:
        return torch.tanh(self.linear(x))


def canned(depth: int) -> list[nn.Module]:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return [Layer() for _ in range(depth)]


def canned_input() -> Any:
    with torch.random.fork_rng():
        torch.manual_seed(1)
        return torch.randn(BATCH, WIDTH)


@dataclass(frozen=True)
class MemoryState:
    """After one event: its kind ("forward", "recompute", "backward"), its layer, and the bytes alive of each layer's two runs."""

    kind: str
    layer: int
    first: tuple[int, ...]
    second: tuple[int, ...]

    @property
    def total(self) -> int:
        return sum(self.first) + sum(self.second)


def _storage(array: Any) -> Any:
    """The array that owns the numbers."""
    while getattr(array, "base", None) is not None and hasattr(array.base, "nbytes"):
        array = array.base
    return array


@dataclass
class _Made:
    """A storage that an operation made: held weakly, so that looking keeps nothing alive."""

    ref: weakref.ref
    size: int
    layer: int
    again: bool


class _Watch(Handler):
    """Notes the storage of each result, once, for the layer that made it."""

    def __init__(self, result: dict[int, _Made], layer: int, again: bool):
        self.found, self.layer, self.again = result, layer, again

    def __call__(self, op: Any, inputs: Sequence, params: Sequence) -> Any:
        out = op(*inputs, *params)
        for t in out if isinstance(out, tuple) else (out,):
            if isinstance(t, torch.Tensor):
                base = _storage(t.array)
                before = self.found.get(id(base))
                if before is None or before.ref() is not base:
                    self.found[id(base)] = _Made(weakref.ref(base), base.nbytes, self.layer, self.again)
        return out


def measure(layers: Sequence[Callable], x: Any, every: int = 0) -> list[MemoryState]:
    """One step forward and backward; every: layers in a checkpointed segment, 0 for no checkpoints.

    Storages of parameters and of x do not count: they are there all the time. Gradients do not count either.
    """
    n = len(layers)
    storages = {id(_storage(x.array))}
    for layer in layers:
        if isinstance(layer, nn.Module):
            storages |= {id(_storage(p.array)) for p in [*layer.parameters(), *layer.buffers()]}
    results: dict[int, _Made] = {}
    calls = [0] * n
    moments: list[MemoryState] = []

    def note(kind: str, layer: int) -> None:
        alive = [0] * n, [0] * n
        for key, result in list(results.items()):
            if result.ref() is None:
                del results[key]
            elif key not in storages:
                alive[result.again][result.layer] += result.size
        moments.append(MemoryState(kind, layer, tuple(alive[0]), tuple(alive[1])))

    def call(i: int, h: Any) -> Any:
        again = calls[i] > 0
        calls[i] += 1
        try:
            with _Watch(results, i, again):
                h = layers[i](h)
        finally:
            note("recompute" if again else "forward", i)
        if not isinstance(h, torch.Tensor):
            raise TypeError(f"layer {i + 1} must return a tensor, but it returned {type(h).__name__}.")
        if not again and h.requires_grad:
            h.register_hook(lambda g, i=i: note("backward", i))
        return h

    def segment(first: int, last: int) -> Callable:
        def run(h: Any) -> Any:
            for i in range(first, last):
                h = call(i, h)
            return h

        return run

    h = x
    for first in range(0, n, every or n):
        part = segment(first, min(first + (every or n), n))
        h = checkpoint(part, h, use_reentrant=False) if every else part(h)
    if not h.requires_grad:
        raise ValueError("no layer has a parameter that requires a gradient: there is nothing to differentiate.")
    loss = h.sum()
    del h, x
    loss.backward()
    del loss
    note("end", 0)
    return moments


def choices(n: int) -> list[int]:
    """Lengths of segments worth comparing: 0 is no checkpoints; always with the one nearest to √n."""
    some = {1, 2, 5, 10, 20, 50, round(math.sqrt(n))}
    return [0, *sorted(k for k in some if 1 <= k <= n)]


class _Memory:
    """Runs of all lengths of segments, and their films: `work` makes one after the other, so that others can have a turn in between."""

    X0, X1, TOP, BASE = 64.0, 776.0, 214.0, 366.0

    def __init__(self, layers: Sequence[Callable], x: Any):
        self.layers, self.n, self.x = list(layers), len(layers), x
        if not 1 <= self.n <= MOST:
            raise ValueError(f"there is room for 1 to {MOST} layers, not for {self.n}.")
        self.every = choices(self.n)
        self.runs: dict[int, list[MemoryState]] = {}
        self.takes: list[dict] = []

    def work(self) -> Iterator[str]:
        """Measure and draw; after each piece, a word on how far it is."""
        for k in self.every:
            self.runs[k] = measure(self.layers, self.x, k)
            for layer in self.layers:
                if isinstance(layer, nn.Module):
                    layer.zero_grad()
            yield f"{len(self.runs)} of {len(self.every)} runs measured"
        self.most = max(m.total for run in self.runs.values() for m in run)
        if not self.most:
            raise ValueError("these layers make no new tensors.")
        for k in self.every:
            self.takes.append(self.take(k))
            yield f"{len(self.takes)} of {len(self.every)} runs drawn"

    def done(self) -> _Memory:
        """All of it now."""
        for _ in self.work():
            pass
        return self

    def peak(self, k: int) -> int:
        return max(m.total for m in self.runs[k])

    def name(self, k: int) -> str:
        return "no checkpoints" if not k else f"every {k} layer{'s' * (k > 1)}"

    def ground(self) -> str:
        out = label(24, 32, f"{self.n} layer{'s' * (self.n > 1)}, one training step", "h")
        size = (self.X1 - self.X0) / self.n
        for i in range(self.n):
            out += tag(
                "rect", "grid", x=self.X0 + i * size, y=62, width=size - min(2.0, size * 0.2), height=46, fill="none"
            )
        out += label(self.X0, 178, "layer 1", "t soft") + label(self.X1, 178, f"layer {self.n}", "t soft", "end")
        for amount in ticks(self.most):
            y = self._y(amount)
            out += tag("line", "grid", x1=self.X0, x2=self.X1, y1=y, y2=y)
            out += label(self.X0 - 6, y + 4, in_bytes(amount) if amount else "0", "t soft", "end")
        out += label(self.X0, self.TOP - 8, "bytes alive, moment by moment", "t")
        return svg(800, 412, out + SLOT, f"Memory of a chain of {self.n} layers during one training step")

    def _y(self, total: float) -> float:
        return self.BASE - total / self.most * (self.BASE - self.TOP)

    def take(self, k: int) -> dict:
        run = self.runs[k]
        size = (self.X1 - self.X0) / self.n
        gap = min(2.0, size * 0.2)
        biggest = max(max((*m.first, *m.second)) for m in run) or 1
        first, second = (list(zip(*(getattr(m, which) for m in run), strict=True)) for which in ("first", "second"))
        out = ""
        for i in range(self.n):
            x = self.X0 + i * size
            for columns, which, colour, top in ((first, "first", "fwd", 62.0), (second, "second", "bwd", 114.0)):
                spans: dict[int, list[str]] = {}
                at = 0
                for amount, group in groupby(columns[i]):
                    length = len(list(group))
                    if amount:
                        spans.setdefault(amount, []).append(f"{at}-{at + length - 1}")
                    at += length
                for amount, where in spans.items():
                    high = max(46 * amount / biggest, 3.0)
                    style = f"fill:var(--{colour})"
                    if which == "second":
                        style = f"fill:var(--{colour}-soft);stroke:var(--{colour});stroke-width:1.6"
                    out += tag(
                        "rect",
                        x=x,
                        y=top + 46 - high,
                        width=size - gap,
                        height=high,
                        style=style,
                        data_on=" ".join(where),
                    )
        out += label(24, 100, "kept", "t fwd") + label(24, 142, "again", "t bwd")
        places = [self.X0 + (m.layer + 0.5) * size for m in run]
        arrow = tag("path", d="M-5 -9h10l-5 8z", style="fill:var(--ink)")
        out += tag("g", "", arrow, data_move=" ".join(f"{x:.1f},58" for x in places))
        # the curve: faint for the future, strong for the past
        span = max(len(run) - 1, 1)
        points = [f"{self.X0 + j / span * (self.X1 - self.X0):.1f},{self._y(m.total):.1f}" for j, m in enumerate(run)]
        out += tag(
            "polyline",
            points=" ".join(points),
            style="fill:none;stroke:var(--soft);stroke-width:1.2;stroke-dasharray:2 3",
        )
        out += tag("polyline", "curve central", data_points=" ".join(points))
        out += tag("g", "", tag("circle", "central dot", r=5.5), data_move=" ".join(points))
        turn = next((j for j, m in enumerate(run) if m.kind != "forward"), len(run))
        x = self.X0 + (turn - 0.5) / span * (self.X1 - self.X0)
        out += tag("line", "now", x1=x, x2=x, y1=self.TOP, y2=self.BASE)
        out += label(x - 6, self.BASE + 18, "forward", "t fwd", "end") + label(
            x + 6, self.BASE + 18, "backward", "t bwd"
        )
        peak = self.peak(k)
        out += tag("line", "forward curve", x1=self.X0, x2=self.X1, y1=self._y(peak), y2=self._y(peak))
        out += label(self.X1, self._y(peak) - 5, f"peak {in_bytes(peak)}", "num t b bwd halo", "end")
        facts = f"{self.name(k)} · {sum(m.kind == 'recompute' for m in run)} layers computed again"
        out += label(self.X1, 32, facts, "t b", "end")
        return {"body": out, "says": [self._says(k, j) for j in range(len(run))]}

    def _says(self, k: int, j: int) -> str:
        m = self.runs[k][j]
        does = {
            "forward": f"forward: layer {m.layer + 1} has run",
            "recompute": f"layer {m.layer + 1} is computed again",
            "backward": f"backward: the gradient reaches layer {m.layer + 1}",
            "end": "the step is over",
        }[m.kind]
        held = sum(1 for amount in (*m.first, *m.second) if amount)
        layers = "1 layer holds" if held == 1 else f"{held} layers hold"
        return f"{self.name(k)}, {does}: {layers} {in_bytes(m.total)}; the peak is {in_bytes(self.peak(k))}."

    def again(self, k: int) -> int:
        """How many layers are computed again."""
        return sum(m.kind == "recompute" for m in self.runs[k])

    def text(self) -> str:
        rows = [f"{'checkpoints':<18}{'peak':>10}{'computed again':>18}"]
        rows += [f"{self.name(k):<18}{in_bytes(self.peak(k)):>10}{f'{self.again(k)} layers':>18}" for k in self.every]
        return "\n".join(rows)


@cache
def _canned(depth: int) -> _Memory:
    """The example's chain of this depth, measured once."""
    return _Memory(canned(depth), canned_input()).done()


def _layers_of(model: Any) -> list[Callable]:
    if isinstance(model, nn.Module) and not isinstance(model, (nn.Sequential, nn.ModuleList)):
        raise TypeError(f"its layers must stand in a row: an nn.Sequential, not {type(model).__name__}.")
    layers = list(model)
    for layer in layers:
        if not callable(layer):
            raise TypeError(f"{type(layer).__name__} is no layer: it cannot be called.")
    return layers


class _Depth(Slider):
    """Of the course's own chain only."""

    def shown(self, figure: Any) -> bool:
        return figure.model is None


@lesson
class memory(Frames):
    """See which activations are alive at each moment of a training step, with checkpoints every k layers and without.

    model: your nn.Sequential (or a list of layers), with x, an input for it; without it a chain of `depth` equal layers, 1 to 100, that a
    slider changes. every: layers in a segment, to start with (0: no checkpoints; by default the length nearest to √depth). Returns a
    widget, or one sentence that says what is wrong.

    >>> print(memory(depth=4).text())
    checkpoints             peak    computed again
    no checkpoints       16.4 kB          0 layers
    every 1 layer        16.4 kB          4 layers
    every 2 layers       12.3 kB          4 layers
    """

    model = Given(None)
    x = Given(None)
    every = Given(None)
    depth = _Depth("layers", 36, 1, MOST)
    moment = Moments("moment")
    take = "every"
    chain: _Memory | None = None
    task: asyncio.Task | None = None  # a measurement that is under way
    progress = ""

    def fields(self) -> dict[str, Field]:
        result = super().fields()
        if self.chain is not None:
            result["every"] = Steps(self.chain.every, "checkpoints", 0, show=self.chain.name).named("every")
        return result

    def controls(self) -> list[Control]:
        results = {control.name: control for control in super().controls()}
        return [results[name] for name in ("moment", "every", "depth") if name in results]

    def setup(self) -> None:
        if self.model is not None and not isinstance(self.x, torch.Tensor):
            raise TypeError("give it the model and an input: memory(model, x), x a tensor.")
        self._take_over(
            _canned(self.depth) if self.model is None else _Memory(_layers_of(self.model), self.x).done(), self.every
        )

    def _take_over(self, chain: _Memory, every: int | None) -> None:
        """Another chain, at its fullest moment."""
        self.chain = chain
        self.every = round(math.sqrt(chain.n)) if every is None else int(every)
        if self.every not in chain.every:
            lengths = ", ".join(map(str, chain.every))
            raise ValueError(f"for {chain.n} layers every may be {lengths} (0: no checkpoints), not {self.every}.")
        self.roll(chain.ground(), dict(zip(chain.every, chain.takes, strict=True)))
        run = chain.runs[self.every]
        self.moment = max(range(len(run)), key=lambda j: run[j].total)

    def moved(self, name: str) -> None:
        """Another depth is measured in turns with the kernel's other work, where there is an event loop."""
        if name != "depth":
            return
        self._rest()
        assert self.chain is not None
        if self.depth == self.chain.n:
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self._take_over(_canned(self.depth), None if self.every else 0)
            return
        chain = _Memory(canned(self.depth), canned_input())
        self.task, self.busy = loop.create_task(self._measure(chain)), True

    async def _measure(self, chain: _Memory) -> None:
        view = self.view
        assert view is not None
        for word in chain.work():
            view.figure.progress = f"{chain.n} layers: {word}"
            view.refresh()
            await asyncio.sleep(0)
        figure = view.figure  # a copy of this one: something else may have been moved meanwhile
        figure.task = None
        figure._rest()
        figure._take_over(chain, None if figure.every else 0)
        view.refresh()

    @action("stop", "keep the picture that is shown", when=lambda figure: figure.busy)
    def stop(self) -> None:
        self._rest()
        assert self.chain is not None
        self.depth = self.chain.n

    def actions(self) -> Iterator[tuple[str, dict[str, Any]]]:
        return super().actions() if self.busy else iter(())

    def _rest(self) -> None:
        if self.task is not None:
            self.task.cancel()
        self.task, self.busy, self.progress = None, False, ""

    def close(self) -> None:
        self._rest()

    def caption(self) -> str:
        return self.progress or self.sentence()

    def table(self) -> Table:
        chain = self.chain
        assert chain is not None
        rows = [
            (chain.name(k), (in_bytes(chain.peak(k)), chain.peak(k)), (str(chain.again(k)), chain.again(k)))
            for k in chain.every
        ]
        return Table(["checkpoints", "peak", "layers computed again"], rows)

    def text(self) -> str:
        assert self.chain is not None
        return self.chain.text()


# ---- the peak against the depth ------------------------------------------------------------------------------------------------

DEPTHS = (1, 4, 9, 16, 25, 36, 49, 64, 81, 100)


def peaks() -> dict[str, list[int]]:
    """Peaks in bytes at DEPTHS: without checkpoints, every 10 layers, and every √depth layers."""
    x = canned_input()
    out: dict[str, list[int]] = {"no checkpoints": [], "every 10 layers": [], "every √n layers": []}
    for depth in DEPTHS:
        for name, every in zip(out, (0, min(10, depth), round(math.sqrt(depth))), strict=True):
            out[name].append(max(m.total for m in measure(canned(depth), x, every)))
    return out


@lesson
class memory_depth(Figure):
    """The measured peak for chains of 1 to 100 layers: without checkpoints it grows like n, with a good length of segments like √n."""

    layers = Steps(DEPTHS, "layers", DEPTHS[-1])

    def setup(self) -> None:
        self.found = peaks()

    def draw(self) -> str:
        return _chart(self.found, self.layers, self.sentence())

    def sentence(self) -> str:
        one, facts = 4 * WIDTH * BATCH, []
        for name, values in self.found.items():
            facts.append(
                f"{name} " + ", ".join(f"{d}: {number(v / one, 3)}" for d, v in zip(DEPTHS, values, strict=True))
            )
        return f"Activations of {in_bytes(one)} each, alive at the peak, by number of layers. " + "; ".join(facts) + "."

    def caption(self) -> str:
        k = DEPTHS.index(self.layers)
        facts = ", ".join(f"{name} {in_bytes(values[k])}" for name, values in self.found.items())
        return f"{self.layers} layer{'s' * (self.layers > 1)}, peak of one step: {facts}."

    def table(self) -> Table:
        rows = [
            [str(d), *((in_bytes(v), float(v)) for v in values)]
            for d, *values in zip(DEPTHS, *self.found.values(), strict=True)
        ]
        return Table(["layers", *self.found], rows)

    def text(self) -> str:
        return self.sentence()


def ticks(most: float) -> list[float]:
    """Round numbers from 0 to `most`, three to six of them.

    >>> ticks(147456), ticks(409600)
    ([0, 50000, 100000], [0, 100000, 200000, 300000, 400000])
    """
    unit = 10.0 ** math.floor(math.log10(most))
    step = next(unit * k for k in (0.2, 0.5, 1, 2) if most / (unit * k) < 6)
    return [round(k * step) for k in range(int(most / step) + 1)]


def _chart(result: dict[str, list[int]], layers: int, words: str) -> str:
    x0, x1, top, base = 84.0, 560.0, 40.0, 262.0
    most = max(max(values) for values in result.values())

    def at(depth: float, amount: float) -> tuple[float, float]:
        return x0 + depth / 100 * (x1 - x0), base - amount / most * (base - top)

    out = label(24, 26, "peak of one step", "t")
    for amount in ticks(most):
        y = at(0, amount)[1]
        out += tag("line", "grid", x1=x0, x2=x1, y1=y, y2=y) + label(
            x0 - 8, y + 4, in_bytes(amount) if amount else "0", "t soft", "end"
        )
    for k in (0, 25, 50, 75, 100):
        out += label(at(k, 0)[0], base + 20, str(k), "t soft", "middle")
    now = at(layers, 0)[0]
    out += tag("line", "now", x1=now, x2=now, y1=top, y2=base)
    out += label((x0 + x1) / 2, base + 40, "layers", "t", "middle")
    looks = {"no checkpoints": ("fwd", ""), "every 10 layers": ("good", "8 3"), "every √n layers": ("bwd", "3 3")}
    ends: list[float] = []
    for name, values in result.items():
        colour, dash = looks[name]
        spots = [at(d, v) for d, v in zip(DEPTHS, values, strict=True)]
        line = f"fill:none;stroke:var(--{colour});stroke-width:2.2"
        dashes = {"stroke_dasharray": dash} if dash else {}
        out += tag("polyline", points=" ".join(f"{x:.1f},{y:.1f}" for x, y in spots), style=line, **dashes)
        for x, y in spots:
            out += tag("circle", cx=x, cy=y, r=3.6, style=f"fill:var(--{colour})")
        place = DEPTHS.index(layers)
        y = spots[place][1]
        while any(abs(y - other) < 22 for other in ends):
            y -= 22
        ends.append(y)
        out += label(x1 + 14, y + 4, f"{name}: {in_bytes(values[place])} at {layers}", f"t b {colour}")
    return svg(820, 318, out, words)
