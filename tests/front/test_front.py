"""The front end's modules: every *.test.mjs in this folder runs in the Chromium of the browser tests, on the source, without a build.

They are given real traces and sweeps of the engine, so that the browser's arithmetic is held against minigrad's. Types, style and the
bundle are checked where node is.
"""

import json
import os
import random
import re
import shutil
import subprocess
from base64 import b64encode
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest

import minigrad as torch
from minigrad import Value, scalar, words
from minigrad.core.call_log import VALUES
from minigrad.tracing.trace import array_text, replay_steps, trace
from tests.widgets.test_golden import GRAPHS
from tests.widgets.test_narrower import recurrent
from tests.widgets.test_network import XS, YS, Neuron, lecture, lecture_of
from tools import lab
from widgets import contract, duel, export, graph, heat, layout, network_picture, page, static
from widgets.contract import sent
from widgets.lessons.frames import SLOT, Frames
from widgets.lessons.kit import Choice, Figure, Moments, Slider, Steps, Text, Toggle, action, lesson
from widgets.lessons.lesson import svg
from widgets.show import Table
from widgets.view import files
from widgets.view.sweeps import unpack

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
FRONT = ROOT / "widgets" / "front"
NODE = shutil.which("node")


def plain(x):
    """JSON has no nan and no infinity."""
    return x if np.isfinite(x) else str(float(x))


def programs():
    x = Value(1.0)
    yield "(3x + 2)²", (3 * x + 2) ** 2, {"x": x}
    a, b = Value(2.0), Value(3.0)
    c, d = a + b, a * b
    yield "diamond", (c + d) + c * d, {"a": a, "b": b, "c": c, "d": d}
    x, w, b = Value(0.5), Value(-3.0), Value(1.25)
    yield "neuron", (x * w + b + x).tanh() + (x.exp() / (w - b)).sigmoid(), {"x": x, "w": w, "b": b}
    x = Value(3.0)
    yield "twice the same", x + x * x + x, {"x": x}
    x = Value(-2.0)
    yield "a shut gate", x.relu() * 1e308 * 1e10 + x.abs(), {"x": x}


def rules() -> list[tuple[str, list]]:
    """What the rows of the derivatives table say about each input."""
    import minigrad.nn  # noqa: F401
    from minigrad.core.op import TABLE
    from minigrad.tracing.formulas import RULES, Text
    from minigrad.tracing.tensor_formulas import flow_formula

    found = []
    for op in TABLE.values():
        for name in () if op.tensor_list else op.inputs:
            if (rule := op.rules[name]) is not None:
                outputs = () if op.outputs is ... else op.outputs
                labels = {k: Text(k) for k in (*op.inputs, *outputs)}
                found.append(flow_formula(op, rule, labels, {k: (2, 3) for k in op.inputs}, None))
    local = [rule.write(t, Text("a"), Text("b"), out=Text("y")) for rule in RULES.values() for t in rule.locals]
    return [(formula.text, formula.tree) for formula in [*filter(None, found), *local]]


def sweep_case(view) -> dict:
    """A view's tables as a browser gets them, and what they hold."""
    packed = [
        {k: {"$bytes": b64encode(v).decode()} if isinstance(v, bytes) else v for k, v in s.items()} for s in view.sweeps
    ]
    holds = [[x.tolist() for x in unpack(s)] for s in view.sweeps]
    holds = [[xs, [[plain(v) for v in row] for row in rows]] for xs, rows in holds]
    return {"trace": sent(view.trace), "sweeps": packed, "holds": holds, "inputs": view.inputs}


def view_case(view) -> dict:
    """A view's whole state, as an exported page has it."""
    html = files.content(view, "html").decode()
    return json.loads(re.search(r'<script type="application/json" id="state">(.*?)</script>', html)[1])


def state_case(state) -> dict:
    """What a stored picture knows of a trace at one step."""
    sums = [(node, plain(value), state.missing[node]) for node, value in state.sums.items()]
    return {"known": sorted(state.known), "sums": sums, "sent": sorted(state.sent)}


def array_case(a) -> dict:
    return {"numbers": a, "text": array_text(a), "between": [heat.between(a, room) for room in (6, 9, 13, 20)]}


@lesson
class twice(Figure):
    """A lesson with a control of each kind."""

    n = Slider("n", 3, 0, 10)
    k = Choice(["one", "two"], "k", "two")
    big = Toggle("big", True)
    t = Text("letters", "a")
    presets = {"seven": {"n": 7}}

    def sentence(self):
        return f"2 × {self.n} = {2 * self.n}"

    def draw(self):
        return svg(100, 40, "", self.sentence())

    def table(self):
        return Table(["n"], [[str(self.n)]])

    @action("Back", when=lambda self: self.n > 3)
    def back(self):
        self.n -= 1


def lesson_case() -> dict:
    return twice().scene


def in_cards(build):
    """A graph as operations, also where there is a figure of it."""
    view = build()
    if view.forms:
        view.fold("operations")
    return view


def picture_case(build) -> dict:
    """A view, and its stored picture at every step."""
    view = in_cards(build)
    narrow = next(p for p in (view.picture, *view.narrower()) if p["w"] <= 1300)
    view.picture = {key: x for key, x in narrow.items() if key != "wraps"}
    draw = export.drawing(view.shown_now(), view.picture, "", view.picture["w"], view.shown_now())
    state = view_case(view)
    state["picture"].pop("wraps", None)  # whatever the stage's width
    return {"name": build.__name__, "state": state, "stored": {k: draw(k) for k in range(view.total + 1)}}


@lesson
class rolled(Frames):
    """Two takes of four moments, with each kind of change."""

    at = Moments("step", "start")
    which = Steps(["first", "second"], "take", "first", show=str)
    take = "which"

    def setup(self):
        body = ('<g><polyline data-points="1,1 2,2 3,3 4,4"/><circle data-move="1,1 2,2 3,3 4,4" data-on="0-1 3-3"/>'
                '<text data-text="a|b|c"></text></g>')  # fmt: skip
        self.roll(f'<svg xmlns="http://www.w3.org/2000/svg"><rect/>{SLOT}</svg>', {
            "first": {"body": body, "says": ["one", "two", "three", "four"]},
            "second": {"body": body.replace("a|b|c", "x|y"), "says": ["uno", "due", "tre", "quattro"]},
        })  # fmt: skip


def film_case() -> dict:
    view, moments = rolled(), []
    start = view.scene
    for k, which in enumerate(("first", "second")):
        for at in range(4):
            view.set(which=which, at=at)
            moments.append({"take": k, "at": at, "svg": view.picture(), "says": view.scene["say"]})
    return {"film": view.film, "scene": start, "moments": moments}


WIDTHS = [480, 640, 853, 1280, 1600]


def network_view():
    """The lecture's network on four samples, as in a notebook that notes calls."""
    scalar.record_lines(True, VALUES)
    try:
        names, _ = lecture()
        return graph(names["loss"], names=names)
    finally:
        scalar.record_lines(False)


class Wild(Neuron):
    """Its first input takes part without a weight as well."""

    def __call__(self, x):
        return sum((w * one for w, one in zip(self.w, x, strict=True)), self.b + x[0]).relu()


def fresh(*args, of=lecture, **kwargs):
    """A network whose calls are noted, as in a cell of its own."""
    scalar.record_lines(True, VALUES)
    return of(*args, **kwargs)


def networks():
    """Views of networks of every form, with the widths to draw them at."""
    deep = [3] * 13 + [1]
    for name, build, widths in (
        ("the lecture's", lambda: fresh(), (480, 640, 853, 1280)), ("one sample", lambda: fresh(1), (640,)),
        ("dense", lambda: fresh(40, sizes=(16, 16, 1)), (640, 1280)), ("many wires", lambda: fresh(1, sizes=(32, 32, 1)), (1280,)),
        ("strips, no loss", lambda: fresh((64, 10), of=lecture_of), (480, 1280)), ("boxed", lambda: fresh(2, sizes=deep), (480, 1280)),
        ("an input without a weight", lambda: fresh(2, Wild), (640, 1280)),
    ):  # fmt: skip
        found, _ = build()
        yield name, graph(found["loss"], names=found), widths
    names, outs = fresh()
    weights = [w for layer in names["net"].layers for neuron in layer.neurons for w in neuron.w]
    loss = sum((1 - out * y).relu() for out, y in zip(outs, YS, strict=True)) * 0.25 + (
        rest := 0.01 * sum(w * w for w in weights)
    )
    yield "regularised", graph(loss, names={**names, "loss": loss, "reg_loss": rest}), (480, 1280)
    yield "duel, first", duel(fresh()[0]["loss"], (one := fresh(seed=1)[0])["loss"], names=one).left, (480, 1280)
    names, outs = fresh()
    other = sum((out - y) ** 2 for out, y in zip(outs, [0.5, *YS[1:]], strict=True))
    yield "duel, loss", duel(names["loss"], other, names=names).left, (640,)
    names, _ = fresh(2, sizes=deep)
    two, _ = fresh(2, sizes=deep)
    two["net"].layers[7].neurons[1].w[0].data += 0.5  # they part in a layer that there is no room for
    scalar.record_lines(True, VALUES)
    loss = sum((two["net"](x) - y) ** 2 for x, y in zip(XS[:2], YS, strict=False))
    yield "duel, boxed", duel(names["loss"], loss, names=names).left, (480, 1280)


def network_cases() -> list[dict]:
    """Each network with its stored pictures: width, step, sample, picture. All steps at the first width, some at the others."""
    out = []
    try:
        for name, view, widths in networks():
            assert view._level == "network", name
            plan, mark, total = json.loads(view.network["plan"]), view.network.get("mark"), view.total
            drawn = []
            for w in widths:
                for step in (
                    range(total + 1) if w == widths[0] else sorted({0, total // 3, total // 2 + 1, total - 2, total})
                ):
                    sample = mark["sample"] if mark else step % plan["samples"]
                    draw = view.drawing(w)
                    drawn.append([w, step, sample, draw(step) if mark else draw(step, sample=sample)])
            out.append({"name": name, "state": view_case(view), "drawn": drawn})
    finally:
        scalar.record_lines(False)
    return out


def choices() -> list[dict]:
    """Sets of pictures, of graphs and made up, and which of each a page of some width shows; the stage that shows the words as large."""
    rng, sets = random.Random(2), []
    for build in (*GRAPHS, recurrent):
        view = in_cards(build)
        scene = view.shown_now(), *view._framing
        sets.append(page.pictures(scene))
    for _ in range(60):
        sizes = [(rng.uniform(200, 2600), rng.uniform(100, 2600)) for _ in range(rng.randint(1, 4))]
        sets.append(
            [{"w": w, "h": h} for w, h in sizes]
            + [{"w": 284.0, "h": rng.uniform(200, 3000), "column": True}] * rng.randint(0, 1)
        )
    out = []
    for pictures in sets:
        for width in (300.0, 380.0, 640.0, 655.0, 657.0, 1000.0, 1600.0):
            stage = width * layout.ENOUGH + layout.PADDING, layout.TALL * layout.ENOUGH + layout.PADDING
            of = [{key: p[key] for key in ("w", "h", "column") if key in p} for p in pictures]
            out.append({"pictures": of, "stage": stage, "shown": page.choice(pictures, width)})
    return out


def compiled_view():
    """A step of which minigrad.compile has made a program."""
    w, x = torch.ones(3, requires_grad=True), torch.arange(6.0).reshape(2, 3)

    def step(x):
        w.grad = None
        loss = (torch.tanh(x @ w) - 1).abs().mean()
        loss.backward()
        return loss

    fast = torch.compile(step)
    for _ in range(4):
        fast(x)
    return graph(fast, names={"w": w})


def cases() -> dict:
    scores = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    hidden = scores.masked_fill(torch.tensor([[False, True], [False, False]]), float("-inf"))
    masked = trace(torch.softmax(hidden, 1)[:, 0].sum(), {"scores": scores, "hidden": hidden})
    a = torch.tensor([0.0, 2.0], requires_grad=True)  # the result is finite, the gradient of a is not
    trap = trace(torch.where(a > 0, a.log(), torch.zeros(2)).sum(), {"a": a})
    network = network_view()
    plan = json.loads(network.network["plan"])
    rng = random.Random(1)
    numbers = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        30.0,
        1 / 3,
        -2 / 3,
        1e-4,
        9.99999e-5,
        999999.5,
        1e6,
        123456.7,
        1e15,
        1e22,
        5e-324,
        float("nan"),
    ]
    numbers += [2.5, -2.5, 12.5, 0.125, 0.0625, 1.0625]  # exact ties, which both round away from zero
    numbers += [float("inf"), float("-inf")] + [rng.uniform(-1, 1) * 10 ** rng.randint(-12, 12) for _ in range(400)]
    traces = []
    for name, root, names in programs():
        t = trace(root, names)
        states = [state_case(static.TraceState(t, step)) for step in range(len(t["steps"]) + 1)]
        grads = [n["grad"] for n in t["nodes"]]
        traces.append({"name": name, "trace": t, "rows": replay_steps(t), "grads": grads, "states": states})
    x = Value(1.0)
    y = (3 * x + 2) ** 2
    square = graph(y, names={"x": x, "y": y})
    x, w = Value(1.0), Value(-0.5)
    view = graph((x * w).tanh() + x, names={"x": x, "w": w})
    a = torch.tensor([[1.0, -2.0], [0.5, 3.0]])
    t = torch.tensor(2.0, requires_grad=True)
    tensor = graph((a * t).tanh().sum(), names={"a": a, "t": t})
    compiled = compiled_view()
    p, q = Value(1.0), Value(2.0)
    fits = [(plain(x), room, words.fit(x, room)) for x in numbers for room in (1, 3, 5, 6, 7, 8, 9, 12)]
    return {
        "rules": rules(),
        "fits": fits,
        "traces": traces,
        "numbers": [
            (plain(x), d, p, words.number(x, d, p)) for x in numbers for d in (1, 2, 3, 4, 6) for p in (False, True)
        ],
        "undefined": {"trace": trace((p - q).log(), {"p": p, "q": q})},
        "masked": {"trace": masked},
        "trap": {"trace": trap},
        "sweep": sweep_case(view),
        "tensor": sweep_case(tensor),
        "views": {
            "square": view_case(square),
            "twice": view_case(view),
            "net": view_case(tensor),
            "network": view_case(network),
            "compiled": view_case(compiled),
            "undefined": view_case(graph((p - q).log() * q, names={"p": p, "q": q})),
        },
        "network": {
            "at": [network_picture.geometry(plan, w)._asdict() for w in WIDTHS],
            "widths": WIDTHS,
            "short": [(plain(x), network_picture.short(x)) for x in numbers],
            "columns": [
                (name, room, network_picture.shortest(name, room))
                for name in ("Layer 1 of 2", "Layer 12 of 12", "layers[10]", "encoder")
                for room in (1, 4, 7, 9, 14)
            ],
        },
        "arrays": [array_case(a) for a in tensor.trace["arrays"]],
        "lesson": lesson_case(),
        "film": film_case(),
        "pictures": [picture_case(build) for build in (*GRAPHS, recurrent)],
        "networks": network_cases(),
        "choices": choices(),
    }


@pytest.fixture(scope="session")
def tools():
    """The folder of the front end's own tools, which only who changes it needs. CI fetches them; elsewhere `npm ci` does."""
    npm = shutil.which("npm")
    found = FRONT / "node_modules" / ".bin"
    if not found.is_dir():
        if NODE is None or npm is None or not os.environ.get("CI"):
            pytest.skip(
                "node or its packages were not found (`npm ci` in widgets/front): the front end's source is not checked here"
            )
        subprocess.run([npm, "ci", "--ignore-scripts"], cwd=FRONT, check=True, timeout=300)
    return found


@pytest.fixture(scope="module")
def open_page():
    """A function: a new page of an address where the project's files are."""
    chromium = lab.find_chromium() or pytest.skip(lab.NO_CHROMIUM)
    made = json.dumps(cases(), allow_nan=False)

    def answer(route):
        path = ROOT / urlsplit(route.request.url).path.lstrip("/")
        if path.name in ("cases.json", "page.html"):
            route.fulfill(
                content_type=f"text/{path.suffix[1:]}", body=made if path.name == "cases.json" else "<!doctype html>"
            )
        else:
            route.fulfill(content_type="text/javascript", body=path.read_bytes())

    with lab.chromium(chromium, reduced_motion="reduce") as context:
        context.route("http://front.test/**", answer)

        def open_():
            page = context.new_page()
            page.goto("http://front.test/page.html")
            return page

        yield open_


@pytest.mark.parametrize("path", sorted(HERE.glob("*.test.mjs")), ids=lambda path: path.name)
def test_front(path, open_page):
    results = open_page().evaluate("path => import(path).then(() => runTests())", f"/{path.relative_to(ROOT)}")
    assert results and {name: error for name, error in results if error} == {}


@pytest.mark.parametrize("command", [["tsc", "-p", "."], ["biome", "ci", "."]], ids=lambda command: command[0])
def test_types_and_style(tools, command):
    run = subprocess.run([tools / command[0], *command[1:]], cwd=FRONT, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stdout + run.stderr


def test_the_bundle_is_built_from_the_source(tools, tmp_path):
    subprocess.run([NODE, FRONT / "build.mjs", f"--outdir={tmp_path}"], check=True, capture_output=True, timeout=120)
    built, kept = (
        {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.*")}
        for folder in (tmp_path, FRONT / "dist")
    )
    assert built == kept, "run `npm run build` in widgets/front"


@pytest.mark.parametrize("name", contract.GENERATED)
def test_the_types_are_generated_from_pythons(name):
    assert (FRONT / "src" / name).read_text("utf-8") == contract.GENERATED[name], (
        "run: from widgets import contract; contract.write()"
    )


def test_the_bundle_is_watched():
    """Nothing is shaped by this number; a dependency that slips in is."""
    assert all(path.stat().st_size < 200_000 for path in (FRONT / "dist").iterdir())


def test_no_circle_of_modules():
    """A module can be read with what it imports, and nothing that it imports needs it."""
    imports = re.compile(r'^(?:import|export)\b[^;"]*"(\.[^"]+)";', re.MULTILINE)
    imported = {
        path: {(path.parent / name).resolve() for name in imports.findall(path.read_text())}
        for path in (ROOT / "widgets/front/src").rglob("*.js")
    }
    assert len(imported) > 30 and sum(map(len, imported.values())) > 100
    while leaves := [path for path, others in imported.items() if not others & imported.keys()]:
        for path in leaves:
            del imported[path]
    assert not imported, f"in a circle, or above one: {sorted(path.name for path in imported)}"


def test_no_address_of_one_machine_is_in_the_lock_file():
    assert "resolved" not in (FRONT / "package-lock.json").read_text("utf-8")
