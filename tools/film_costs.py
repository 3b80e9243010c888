"""Measure what a film costs, and write the table of docs/film.md: `python -m tools.film_costs`.

CPU time, the median of the steps, so that other work on the machine counts little. The live overhead is measured in a kernel, which sends
the frames: the CPU time of a loop with a film beside the same loop without one.
"""

from __future__ import annotations

import json
import random
import re
import statistics
import textwrap
import time
from pathlib import Path
from typing import Any

from minigrad.course.exercises import ch05
from minigrad.film import Film

PAGE = Path(__file__).parents[1] / "docs/film.md"
BEGIN, END = "<!-- film costs: written by python -m tools.film_costs -->\n", "\n<!-- end of film costs -->"
LIMIT = 20.0  # seconds for a row

COMMON = """
import random
import minigrad
from minigrad import datasets
points, labels = datasets.moons(100, seed=1)
points, labels = [tuple(p) for p in points.tolist()], [1 if v == 1 else -1 for v in labels.tolist()]

class Network:
    def __init__(self, Value, sizes):
        u = random.Random(1).uniform
        self.layers = [[[Value(u(-1, 1)) for _ in range(a)] + [Value(0.0)] for _ in range(b)] for a, b in zip(sizes, sizes[1:])]
    def parameters(self):
        return [p for layer in self.layers for unit in layer for p in unit]
    def __call__(self, *x):
        for layer in self.layers:
            out = [sum((w * v for w, v in zip(unit, x)), unit[-1]) for unit in layer]
            x = out if layer is self.layers[-1] else [z.relu() for z in out]
        return x[0]

def scalars(Value, backward, sizes, count):
    model = Network(Value, sizes)
    parameters = model.parameters()
    def forward():
        rows = random.sample(range(100), count) if count < 100 else range(100)
        loss = Value(0.0)
        for i in rows:
            loss = loss + (1 - labels[i] * model(*points[i])).relu()
        for p in parameters:
            p.grad = 0.0
        loss = loss * (1 / count)
        backward(loss)
        return loss
    def update():
        for p in parameters:
            p.data -= 0.1 * p.grad
    return model, labels, forward, update

def replayed(sizes):
    from minigrad.tape import Tape, warm
    warm()
    model, labels, forward, update = scalars(minigrad.Value, minigrad.Value.backward, sizes, 100)
    loss = sum((1 - y * model(*p)).relu() for p, y in zip(points, labels)) * 0.01
    tape = Tape(loss)
    def replay():
        tape.replay()
        return loss
    return model, labels, replay, update

def tensors(sizes):
    import minigrad as torch
    from minigrad import nn
    from minigrad.nn import functional as F
    torch.manual_seed(0)
    layers = []
    for a, b in zip(sizes, sizes[1:]):
        layers += [nn.Linear(a, b), nn.ReLU()]
    model = nn.Sequential(*layers[:-1])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x, y = torch.tensor(points), torch.tensor([[float(v)] for v in labels])
    def forward():
        model.zero_grad()
        loss = F.relu(1 - y * model(x)).mean()
        loss.backward()
        return loss
    return model, labels, forward, optimizer.step
"""
ENGINE = "\n".join((ch05.SOLUTION_A, ch05.SOLUTION_B))
SMALL, LARGE = (2, 8, 1), (2, 16, 16, 1)
ROWS = [
    ("2-8-1, an engine of 05.a, 30 points drawn", f"scalars(Value, backward, {SMALL}, 30)", 300),
    ("2-8-1, the same, all 100 points", f"scalars(Value, backward, {SMALL}, 100)", 300),
    ("2-8-1, `minigrad.Value`, 100 points", f"scalars(minigrad.Value, minigrad.Value.backward, {SMALL}, 100)", 300),
    ("2-8-1, the same on a tape", f"replayed({SMALL})", 300),
    ("2-8-1, Tensors", f"tensors({SMALL})", 300),
    ("2-16-16-1, an engine of 05.a, 30 points drawn", f"scalars(Value, backward, {LARGE}, 30)", 300),
    ("2-16-16-1, `minigrad.Value`, 100 points", f"scalars(minigrad.Value, minigrad.Value.backward, {LARGE}, 100)", 300),
    ("2-16-16-1, the same on a tape", f"replayed({LARGE})", 300),
    ("2-16-16-1, Tensors", f"tensors({LARGE})", 300),
]
LIVE = [
    ("2-8-1, an engine of 05.a, 30 points drawn", f"scalars(Value, backward, {SMALL}, 30)", 200),
    ("2-8-1, `minigrad.Value`, 100 points", f"scalars(minigrad.Value, minigrad.Value.backward, {SMALL}, 100)", 200),
    ("2-16-16-1, `minigrad.Value`, 100 points", f"scalars(minigrad.Value, minigrad.Value.backward, {LARGE}, 100)", 40),
    ("2-16-16-1, Tensors", f"tensors({LARGE})", 6000),
]


def _space() -> dict[str, Any]:
    space: dict[str, Any] = {}
    exec(ENGINE + COMMON, space)
    return space


def row(name: str, make: str, steps: int) -> str:
    """One row of the table: a step, film.step, the first film.step, bytes of a frame in the page, the page."""
    from widgets.film import export

    space = _space()
    random.seed(3)
    model, labels, forward, update = eval(make, space)
    film = Film(model, space["points"], labels)
    own, recording = [], []
    begin = time.process_time()
    for _ in range(steps):
        t = [time.process_time()]
        loss = forward()
        t.append(time.process_time())
        film.step(loss)
        t.append(time.process_time())
        update()
        t.append(time.process_time())
        own.append(t[1] - t[0] + t[3] - t[2])
        recording.append(t[2] - t[1])
        if t[3] - begin > LIMIT:
            break
    step, cost = statistics.median(own[1:]), statistics.median(recording[1:])
    data = film.data()
    frame = sum(len(data[k]) for k in ("moves", "grads")) / len(film)
    whole = len(export.page([data | {"name": "film"}], "film", "").encode())
    share = f"{100 * cost / step:.2g} %"
    return (
        f"| {name} ({len(film)} steps) | {1e3 * step:.3g} ms | {1e6 * cost:.0f} µs, {share} | {1e3 * recording[0]:.3g} ms "
        f"| {frame:.0f} B | {whole / 1e3:.0f} kB |"
    )


def live(name: str, make: str, steps: int) -> str:
    """The CPU time of a loop in a kernel, without and with a film that a page shows. Both run seven times in turn; the shortest ones count,
    because other work on the machine can only make a loop longer."""
    import nbformat
    from nbclient import NotebookClient

    run = f"""
    import time, json
    from widgets import watch
    def loop(watched):
        random.seed(3)
        model, labels, forward, update = {make}
        film = watch(model, points, labels) if watched else None
        film and film.step(forward())  # the first step reads the program, once
        begin = time.process_time()
        for _ in range({steps}):
            loss = forward()
            if film: film.step(loss)
            update()
        return time.process_time() - begin
    times = [[loop(False), loop(True)] for _ in range(7)]
    print(json.dumps(times))
    """
    nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(ENGINE + COMMON + textwrap.dedent(run))])
    NotebookClient(nb, timeout=600).execute()
    words = next(o.text for o in nb.cells[0].outputs if o.output_type == "stream")
    plain, watched = (min(t) for t in zip(*json.loads(words.splitlines()[-1]), strict=True))
    return f"| {name} ({steps} steps) | {plain:.3g} s | {watched:.3g} s | {100 * (watched / plain - 1):.1f} % |"


def written() -> str:
    lines = [
        "| 100 moons | one step | `film.step` | the first one | a frame in the page | the page |",
        "|---|--:|--:|--:|--:|--:|",
        *(row(*of) for of in ROWS),
        "",
        "| while it is shown | without | with a film | overhead |",
        "|---|--:|--:|--:|",
        *(live(*of) for of in LIVE),
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    page = PAGE.read_text(encoding="utf-8")
    text = written()
    print(text)
    PAGE.write_text(
        re.sub(f"{re.escape(BEGIN)}.*?{re.escape(END)}", lambda _: BEGIN + text + END, page, flags=re.S),
        encoding="utf-8",
    )
