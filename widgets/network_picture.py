"""The stored picture of a network as one SVG without scripts. The live picture is front/src/network/.

It is laid out for a width and drawn at one step for one sample. network.py finds the network, network_steps.py has its steps. Equal
networks give equal bytes.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Mapping
from html import escape
from typing import Any, NamedTuple

from minigrad.tracing.trace import Trace, fmt

from .layout import PAGE_WIDTH
from .network import Plan
from .network_steps import Numbers, parts
from .palette import DARK, LIGHT, themed

TOP, FOOT = 44.0, 36.0
LAST = 0.72  # error and loss stand closer together than columns
PITCH = 72.0, 92.0  # pixels between cells at most, narrow and wide
LABELS = 60.0  # a pitch from which there is room for gradients below the circles
STRIP = 14.0  # a pitch below this: the layer is a strip of cells
WIRES, DENSE, LEVELS = 600, 100, 16
COLUMNS = 10  # of more columns than these the middle ones are one box
CLOSEST = 40.0, 48.0  # pixels between columns at least, narrow and wide; of fewer pixels there is a box as well
NAMED = 12  # inputs; of more no names are written
BOXED = 19.0  # half the width of such a box
CLOSE = 31.5  # pixels of a box of error or loss: narrower ones stand so close that their names are smaller
ABOVE = 23.0  # pixels above such a box of the error that its name stands, so that it does not meet the name of the loss
HEAD = 46.0

# The rules of `.mg-net-svg` in front/src/graph.css, under other names; tests/front/picture.test.mjs compares the two.
FORMS = """
text{font:11px system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif;text-anchor:middle}
.t{font-weight:600;font-size:15px;text-anchor:start}.q{font-size:13.5px;text-anchor:start}
.n{font-size:12.5px;font-weight:600}.i{font-size:12px;font-weight:600;text-anchor:end}
.t,.v,.m,.d{font-family:ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace}
.w,.r{fill:none;stroke-linecap:round}.b{stroke-dasharray:7 4;stroke-linecap:butt}
.c{stroke-width:1.5}.k{stroke-dasharray:3 3}.x{stroke-width:1.6}.u{stroke-width:2.2}.o,.y{fill:none}.y{stroke-width:2.4}.z{stroke-width:1.5}
"""
COLOURS = """
.g{fill:$bg;stroke:$line}text{fill:$ink}.q,.l{fill:$soft}.v{fill:$fwd}.d{fill:$bwd;paint-order:stroke;stroke:$bg;stroke-width:3px}
.p{stroke:$pos}.e{stroke:$neg}.f{stroke:$fwd}.b{stroke:$bwd}.r{stroke:$bg}.c{fill:$card}.k{fill:$bg;stroke:$faint}.s{fill:$card;stroke:$line}
.x{fill:$card}.u,.o{stroke:$bwd}.a{fill:$bwd}.hp{fill:$pos}.hn{fill:$neg}.y{stroke:$neg}.z{fill:$neg-soft;stroke:$neg}
"""
STYLE = (FORMS + themed(COLOURS, LIGHT, DARK)).replace("\n", "")


class Geometry(NamedTuple):
    """The places of all parts. The browser's version is `geometry` in front/src/network/geometry.js."""

    w: float
    h: float
    x: list[float]  # of the columns, then of error and loss
    y: list[float]  # of the cells
    r: float
    gap: float
    tall: list[float]  # height of a cell of a strip, or 0
    box: tuple[float, float]  # half the width and height of error and loss
    mid: float
    labels: bool  # is there room for gradients below the circles?
    boxes: list[tuple[int, int, float]]  # first and last column of a box, and its x

    def hidden(self, c: int) -> bool:
        return any(first <= c <= last for first, last, _ in self.boxes)


def places(n: int, most: int) -> list[tuple[int, int]]:
    """The columns from left to right, and one box for those there is no room for.

    >>> places(5, 4), places(14, 10)[4:7]
    ([(0, 0), (1, 1), (2, 3), (4, 4)], [(4, 4), (5, 9), (10, 10)])
    """
    columns = [(c, c) for c in range(n)]
    return (
        columns
        if n <= most
        else [*columns[: most // 2], (most // 2, n - (most + 1) // 2), *columns[n - (most - 1) // 2 :]]
    )


def geometry(plan: Plan, w: float) -> Geometry:
    wide = w >= 760
    sizes = [len(c["cells"]) for c in plan["columns"]]
    tails, big = ("error" in plan) + ("loss" in plan), max(sizes)
    h = float(
        math.floor(
            max(280 if wide else 250, min(560 if wide else 500, big * (30 if big > 8 else 84) + TOP + FOOT)) + 0.5
        )
    )
    left, right = (84.0, 70.0) if wide else (_named_left(plan), 40.0)
    most = max(4, min(COLUMNS, 1 + math.floor((w - left - right) / CLOSEST[wide] - tails * LAST)))
    row = places(len(sizes), most)
    gap = (w - left - right) / max(1, len(row) - 1 + tails * LAST)
    x = [left + k * gap for k, (first, last) in enumerate(row) for _ in range(first, last + 1)]
    boxes = [(first, last, x[first]) for first, last in row if last > first]
    for _ in range(tails):
        x.append(x[-1] + gap * LAST)
    room = h - TOP - FOOT
    pitch = [min(room / n, PITCH[wide]) for n in sizes]
    y = [0.0] * len(plan["cells"])
    for column, step in zip(plan["columns"], pitch, strict=True):
        for j, i in enumerate(column["cells"]):
            y[i] = TOP + room / 2 + (j - (len(column["cells"]) - 1) / 2) * step
    tall = [p if p < STRIP else 0.0 for p in pitch]
    least = min([92.0, *(p for p, t in zip(pitch, tall, strict=True) if not t)])
    r = max(5.0, min(25.0 if wide else 20.0, (least - 28) / 2 if least >= LABELS else least * 0.345, gap * 0.25))
    box = (min(46.0, right - 6, max(15.0, gap * 0.27)), 21.0 if r >= 16 else 16.0)
    return Geometry(w, h, x, y, r, gap, tall, box, TOP + room / 2, least >= 2 * r + 27, boxes)


def _named_left(plan: Plan) -> float:
    """Room for the names of the inputs at the left of a narrow stage, where they are few and short."""
    names = [len(plan["cells"][i]["short"]) for i in plan["columns"][0]["cells"]]
    return 40 + max(4.0, 7.2 * max(names)) if len(names) <= NAMED and max(names) <= 6 else 44.0


def short(v: float) -> str:
    """A number in a circle. The browser's version is `short` in front/src/network/numbers.js.

    >>> [short(x) for x in (0.125, -3.14159, 12.34, 123.4, 0.0001, 0.0)]
    ['0.13', '−3.14', '12.3', '123', '0.0001', '0']
    """
    if not math.isfinite(v):
        return fmt(v)
    size = abs(v)
    if size < 9999.5 and v == int(v):
        return fmt(v)
    if size >= 9999.5 or 0 < size < 0.005:
        head, power = f"{v:.0e}".split("e")
        return f"{head}e{int(power)}".replace("-", "−") if not 1e-4 <= size < 10 else fmt(float(f"{v:.0e}"))
    digits = 0 if size >= 99.5 else 1 if size >= 9.95 else 2
    scaled = math.floor(size * 10**digits + 0.5) / 10**digits  # half away from zero, as a browser rounds
    return f"{'−' if v < 0 else ''}{scaled:.{digits}f}"


def _grad(g: float) -> str:
    """A gradient, as on a card."""
    return f"{'▾' if g < 0 else '▴'} {short(g)}"


class _Progress:
    """What a step has made known."""

    def __init__(self, plan: Plan, trace: Trace, step: int):
        at = {name: k for k, name in enumerate(parts(plan))}
        self.known, self.arrived, self.sent = set[str](), set[str](), set[str]()
        names = list(at)
        self.back, self.say, self.active = False, "nothing has run yet", -1
        for event in trace["steps"][:step]:
            self.say = event["say"].replace("**", "")
            self.active = event["node"] if event["edge"] is None else trace["edges"][event["edge"]]["source"]
            if event["phase"] == "forward":
                self.known.add(names[event["node"]])
            else:
                self.back = True
                self.arrived.add(names[self.active])
                if event["edge"] is not None:
                    self.sent.add(names[event["node"]])


def svg(plan: Plan, numbers: Numbers, trace: Trace, step: int | None = None, description: str = "", sample: int = 0, w: float = PAGE_WIDTH,
        least: float = 0, lines: int = 1, mark: Mapping[str, Any] | None = None) -> str:  # fmt: skip
    """The network after `step` events (by default all), with the numbers of one sample, at least `least` pixels wide, with room for at
    least `lines` lines of words below it. mark: lines beside a cell, and from which event on."""
    w = max(w, least)
    total = len(trace["steps"])
    step = total if step is None else min(max(step, 0), total)
    at, now = geometry(plan, w), _Progress(plan, trace, step)
    result = trace["nodes"][trace["root"]]["label"]
    many = f" · the numbers are those of sample {sample + 1} of {plan['samples']}" if plan["samples"] > 1 else ""
    value = numbers.loss
    forward = sum(event["phase"] == "forward" for event in trace["steps"])
    where = (
        f"backward, step {step - forward} of {total - forward}"
        if step > forward
        else f"forward, step {step} of {forward}"
    )
    words = f"{result} = {fmt(value)}" if step == total else f"{where}: {now.say.replace('{value}', fmt(value))}"
    message = textwrap.wrap(words + many, int((w - 36) / 7.2))
    height = at.h + HEAD + 22 + 20 * max(lines, len(message))
    title = trace["title"]
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{w:.0f}" height="{height:.0f}" viewBox="0 0 {w:.0f} {height:.0f}" role="img">',
        f"<title>{escape('network of ' + title)}</title><desc>{escape(description or words)}</desc><style>{STYLE}</style>",
        f'<rect class="g" x=".5" y=".5" width="{w - 1:.0f}" height="{height - 1:.0f}" rx="12"/>',
        f'<text class="t" x="18" y="28">{escape(textwrap.shorten(title, int((w - 36) / 9.1), placeholder=" …"))}</text>',
        f'<g transform="translate(0,{HEAD:.0f})">',
    ]
    wires, notes = _wires(plan, numbers, sample, at, now)
    ways, tail = _tail(plan, numbers, sample, at, now)
    boxes, ranges = _boxes(plan, at, now)
    body = [*wires, *ways, *tail, *_cells(plan, numbers, sample, at, now), *boxes, *notes, *_names(plan, at), *ranges]
    body += _mark(plan, at, mark) if mark and step >= mark["at"] else ()
    foot = [
        f'<text class="q" x="18" y="{at.h + HEAD + 16 + 20 * k:.0f}">{escape(line)}</text>'
        for k, line in enumerate(message)
    ]
    return "".join([*head, *body, "</g>", *foot, "</svg>"])


def _half(at: Geometry, c: int) -> float:
    return BOXED if at.hidden(c) else 8.0 if at.tall[c] else at.r


def _curve(x1: float, y1: float, x2: float, y2: float) -> str:
    m = (x2 - x1) / 2
    return f"M{x1:.1f} {y1:.1f}C{x1 + m:.1f} {y1:.1f} {x2 - m:.1f} {y2:.1f} {x2:.1f} {y2:.1f}"


def _wire(d: str, v: float, most: float, *, back: bool, idle: bool, dense: bool = False, plain: bool = True) -> str:
    """Green and solid for positive, a violet rail for negative, dashed and orange going back; thick is large."""
    t = min(1.0, abs(v) / most) if most > 0 and math.isfinite(v) else 0.0
    wide = 1.6 if plain else 0.5 + 3.2 * t * t if dense else 0.8 + 4.2 * t
    rail = v < 0 and wide > 1.6
    strong = (0.9 if plain else 0.28 + 0.62 * t) * (0.2 + 0.8 * t * t if dense else 1) * (0.4 if idle else 1)
    kind = "b" if back else "f" if plain else "e" if v < 0 else "p"
    out = f'<path class="w {kind}" d="{d}" stroke-width="{wide + (1.2 if rail else 0):.2f}" stroke-opacity="{strong:.2f}"/>'
    return out + (f'<path class="r" d="{d}" stroke-width="{max(0.8, wide - 1.4):.2f}"/>' if rail else "")


def _wires(plan: Plan, numbers: Numbers, sample: int, at: Geometry, now: _Progress) -> tuple[list[str], list[str]]:
    """The wires, and sentences about those that are not drawn."""
    column = {i: c for c, of in enumerate(plan["columns"]) for i in of["cells"]}
    by: list[list[tuple[float, int, float, bool]]] = [[] for _ in plan["columns"]]
    for i, wire in enumerate(plan["wires"]):
        c = column[wire["target"]]
        v = math.nan if wire["parameter"] < 0 else float(numbers.parameters[wire["parameter"]])
        # a plain number is passed nothing
        passes = str(c) in now.sent and not math.isnan(numbers.grads[sample, wire["source"]])
        if passes:
            v *= float(numbers.deltas[sample, wire["target"]])
        by[c].append((abs(v) if math.isfinite(v) else 0.0, i, v, passes))
    out: list[str] = []
    notes = []
    for c, result in enumerate(by):
        mosts = [max((size for size, *_, way in result if way == passes), default=0.0) for passes in (False, True)]
        idle = str(c) not in now.known
        bundles: dict[tuple[float, bool, bool], list[str]] = {}  # of many wires, those that look alike are one path
        for size, i, v, passes in sorted(result)[-WIRES:]:
            most, wire = mosts[passes], plan["wires"][i]
            if at.hidden(c) and at.hidden(column[wire["source"]]):
                continue
            x1, x2 = at.x[column[wire["source"]]] + _half(at, column[wire["source"]]), at.x[c] - _half(at, c)
            plain = wire["parameter"] < 0 and not passes
            d = _curve(x1, at.y[wire["source"]], x2, at.y[wire["target"]])
            if len(result) > DENSE:
                level = math.floor(LEVELS * size / most + 0.5) if most > 0 else 0
                bundles.setdefault(((-level if v < 0 else level) / LEVELS, plain, passes), []).append(d)
            else:
                out.append(_wire(d, v, most, back=passes, idle=not passes if now.back else idle, plain=plain))
        out += [
            _wire("".join(ways), v, 1, back=passes, idle=not passes if now.back else idle, dense=True, plain=plain)
            for (v, plain, passes), ways in bundles.items()
        ]
        if len(result) > WIRES:
            words = f"the {WIRES} strongest of {len(result)} wires"
            notes.append(f'<text class="l" x="{at.x[c] - at.gap / 2:.1f}" y="{at.h - 4:.1f}">{words}</text>')
    return out, notes


def _tail(plan: Plan, numbers: Numbers, sample: int, at: Geometry, now: _Progress) -> tuple[list[str], list[str]]:
    """What follows the last layer: wires, and the boxes of error and loss."""
    n = len(plan["columns"])
    bw, bh = at.box
    start, ys = at.x[n - 1] + _half(at, n - 1), [at.y[i] for i in plan["columns"][-1]["cells"]]
    ways: list[str] = []
    out: list[str] = []
    k = n
    for part in ("error", "loss"):
        if part not in plan:
            continue
        x, back, idle = at.x[k], part in now.sent, part not in now.known
        k += 1
        ways += [_wire(_curve(start, y, x - bw, at.mid), 1, 1, back=back, idle=idle) for y in ys]
        if part == "loss" and "rest" in plan:
            y, to = min(at.h - 34, at.mid + bh + 74), at.x[k - 2]
            ways.append(_wire(_curve(to + bw, y, x - bw, at.mid + 8), 1, 1, back=back, idle=idle))
            out += _box(at, to, y, plan["rest"], "weights", numbers.rest, None, "rest" in now.known, 0)
        value = numbers.loss if part == "loss" else float(numbers.errors[sample])
        grad = 1.0 if part == "loss" else float(numbers.error_grads[sample])
        stack = min(2, plan["samples"] - 1) if part == "error" else 0
        out += _box(at, x, at.mid, plan[part], part, value, grad if part in now.arrived else None, not idle, stack)  # type: ignore[literal-required]
        start, ys = x + bw, [at.mid]
    return ways, out


def _box(
    at: Geometry, x: float, y: float, name: str, less: str, value: float, grad: float | None, known: bool, stack: int
) -> list[str]:
    bw, bh = at.box
    size = f'width="{2 * bw:.1f}" height="{2 * bh:.1f}" rx="8"'
    out = [f'<rect class="s" x="{x - bw + 4 * k:.1f}" y="{y - bh - 4 * k:.1f}" {size}/>' for k in range(stack, 0, -1)]
    kind = "u" if grad is not None else "f" if known else "k"
    out.append(f'<rect class="{kind} x" x="{x - bw:.1f}" y="{y - bh:.1f}" {size}/>')
    font = 13 if bw > 26 else 11
    out.append(
        f'<text class="v" style="font-size:{font}px" x="{x:.1f}" y="{y + 4.5:.1f}">{short(value) if known else "·"}</text>'
    )
    room = int((2 * bw + 30) / 7)
    text = name if len(name) <= room else less if less != "loss" else name[: room - 1] + "…"
    close = 2 * bw < CLOSE
    style, up = ' style="font-size:11px"' if close else "", ABOVE if close and less == "error" else 9 + 4 * stack
    out.append(f'<text class="n"{style} x="{x:.1f}" y="{y - bh - up:.1f}">{escape(text)}</text>')
    if grad is not None:
        out.append(f'<text class="d" x="{x:.1f}" y="{y + bh + 16:.1f}">{_grad(grad)}</text>')
    return out


def _cells(plan: Plan, numbers: Numbers, sample: int, at: Geometry, now: _Progress) -> list[str]:
    out: list[str] = []
    values, grads = numbers.values[sample], numbers.grads[sample]
    for c, column in enumerate(plan["columns"]):
        if at.hidden(c):
            continue
        known, arrived = str(c) in now.known, str(c) in now.arrived
        finite = [abs(float(values[i])) for i in column["cells"] if math.isfinite(values[i])]
        most = max([1.0, *finite])
        most_grad = max((abs(float(grads[i])) for i in column["cells"] if math.isfinite(grads[i])), default=0.0)
        for i in column["cells"]:
            v, g = float(values[i]), float(grads[i])
            t = min(1.0, abs(g) / most_grad) if most_grad > 0 and g == g else 0.0
            out += _cell(plan, at, c, i, v, g, known, arrived and g == g, most, t)
    return out


def _cell(
    plan: Plan, at: Geometry, c: int, i: int, v: float, g: float, known: bool, arrived: bool, most: float, t: float
) -> list[str]:
    x, y, r, many = at.x[c], at.y[i], at.r, len(plan["columns"][c]["cells"])
    share = math.floor(min(1.0, abs(v) / most) * 50 + 0.5) / 100 if known and math.isfinite(v) else 0
    sign = "e" if v < 0 else "p"
    tint = f'class="h{"n" if v < 0 else "p"}" fill-opacity="{share}"'
    if strip := at.tall[c]:
        size = f'x="{x - 8:.1f}" y="{y - strip / 2:.2f}" width="16" height="{max(1.0, strip - 0.6):.2f}"'
        out = [f'<rect class="c {sign if known else "k"}" style="stroke-width:.4px" {size}/>']
        out += [f"<rect {tint} {size}/>"] if share else []
        if arrived:
            high = max(1.0, strip - 0.6)
            out.append(
                f'<rect class="a" x="{x + 9:.1f}" y="{y - strip / 2:.2f}" width="{1 + 7 * t:.1f}" height="{high:.2f}"/>'
            )
        return out

    def circle(dx: float, dy: float, more: float, kind: str) -> str:
        return f'<g transform="translate({x + dx:.1f},{y + dy:.1f})"><circle {kind} r="{r + more:.1f}"/></g>'

    out = (
        [circle(2.6 * k, -2.6 * k, 0, 'class="s"') for k in range(min(2, plan["samples"] - 1), 0, -1)]
        if many <= 10
        else []
    )
    if arrived:
        out.append(circle(0, 0, 3 + 1.2 * t, f'class="o" style="stroke-width:{1 + 4 * t:.2f}"'))
    out.append(circle(0, 0, 0, f'class="c {sign if known else "k"}"'))
    if share:
        out.append(circle(0, 0, 0, tint))
    full = r >= 16
    text = "" if not known else short(v) if full else "−" if v < 0 else "+" if v > 0 else "0"
    font = min(12.5, max(11.0, r * 2.9 / max(4, len(text)))) if full else 11.0
    if text and r >= 7:
        out.append(f'<text class="m" style="font-size:{font:.1f}px" x="{x:.1f}" y="{y + 4:.1f}">{text}</text>')
    if arrived and full and at.labels:
        out.append(f'<text class="d" x="{x:.1f}" y="{y + r + 18:.1f}">{_grad(g)}</text>')
    name = plan["cells"][i]["short"]
    if c == 0 and many <= NAMED and len(name) <= (x - r - 12) / 7.2:
        out.append(f'<text class="i" x="{x - r - 8:.1f}" y="{y + 4:.1f}">{escape(name)}</text>')
    return out


def _boxes(plan: Plan, at: Geometry, now: _Progress) -> tuple[list[str], list[str]]:
    """The layers there is no room for, and above them which these are, or which of them the event is in."""
    out: list[str] = []
    ranges = []
    for first, last, x in at.boxes:
        ys = [at.y[i] for column in plan["columns"][first : last + 1] for i in column["cells"]]
        top, high = min(ys) - at.r - 6, max(ys) - min(ys) + 2 * at.r + 12
        here = now.active if first <= now.active <= last else -1
        seen = str(here if here >= 0 else last)
        kind = "u" if seen in now.arrived else "f" if seen in now.known else "k"
        for k in (2, 1, 0):
            place = (
                f'x="{x - BOXED + 3 * k:.1f}" y="{top - 3 * k:.1f}" width="{2 * BOXED:.0f}" height="{high:.1f}" rx="9"'
            )
            out.append(f'<rect class="{"s" if k else f"{kind} x"}" {place}/>')
        out.append(f'<text class="n" x="{x:.1f}" y="{at.mid - 2:.1f}">{last - first + 1}</text>')
        out.append(f'<text class="l" x="{x:.1f}" y="{at.mid + 12:.1f}">layers</text>')
        ends = [shortest(plan["columns"][c]["name"], 4) for c in ((here,) if here >= 0 else (first, last))]
        ranges.append(f'<text class="n" x="{x:.1f}" y="20">{escape("…".join(ends))}</text>')
    return out, ranges


def shortest(name: str, room: int) -> str:
    """A column's name in `room` characters: without the number of columns, else its number alone, else truncated. The browser's version
    is `shortest` in front/src/network/geometry.js.

    >>> [shortest("Layer 1 of 2", room) for room in (12, 9, 5)], shortest("layers[0]", 8), shortest("encoder", 5)
    (['Layer 1 of 2', 'Layer 1', '1'], '[0]', 'enco…')
    """
    plain = re.sub(r" of \d+$", "", name)
    number = re.search(r"(\[\w+\]|\d+)$", plain)
    for text in (name, plain, number[0] if number else name):
        if len(text) <= room:
            return text
    return name[: max(1, room - 1)] + "…"


def _names(plan: Plan, at: Geometry) -> list[str]:
    out, room = [], int(at.gap / 7.4)
    for c, column in enumerate(plan["columns"]):
        if at.hidden(c):
            continue
        name = shortest(column["name"], room)
        about = column["about"] if 6.4 * len(column["about"]) < at.gap else str(len(column["cells"]))
        x = max(at.x[c], 0 if c else 30)
        out.append(
            f'<text class="n" x="{x:.1f}" y="20">{escape(name)}</text><text class="l" x="{x:.1f}" y="{at.h - 8:.1f}">{about}</text>'
        )
    return out


def _mark(plan: Plan, at: Geometry, mark: Mapping[str, Any]) -> list[str]:
    """Lines beside a cell about its difference from the other view of a duel."""
    cell = mark["cell"]
    tail = len(plan["columns"]) + (mark["part"] == "loss" and "error" in plan)
    c = next((c for c, column in enumerate(plan["columns"]) if cell in column["cells"]), tail)
    x, y, far = at.x[c], at.mid if cell < 0 or at.hidden(c) else at.y[cell], at.box[1] if cell < 0 else _half(at, c)
    sentences = [word for row in mark["rows"] for word in row]
    w, h = 16 + 6.8 * max(map(len, sentences)), 10 + 16 * len(sentences)
    # Over the wires to the next column, where it hides no number
    if c < len(plan["columns"]) - 1 and w + 2 * far + 8 <= at.gap:
        left, top = x + far + 4, max(30.0, y - h / 2)
    else:
        sentences = [" ".join(row) for row in mark["rows"]]
        w, h = 16 + 6.8 * max(map(len, sentences)), 10 + 16 * len(sentences)
        above, below = y - far - 8 - h, y + far + 8
        # Above it there is no number
        first = c < len(plan["columns"]) and cell == plan["columns"][c]["cells"][0] and not at.hidden(c)
        left, top = (
            max(4.0, min(at.w - w - 4, x - w / 2)),
            above if (first and above >= 24) or below + h >= at.h - 18 else below,
        )
    out = [f'<circle class="y" cx="{x:.1f}" cy="{y:.1f}" r="{far + 4:.1f}"/>'] if cell >= 0 else []
    out.append(f'<rect class="z" x="{left:.1f}" y="{top:.1f}" width="{w:.1f}" height="{h}" rx="7"/>')
    return out + [f'<text class="m" style="text-anchor:start" x="{left + 8:.1f}" y="{top + 17 + 16 * k:.1f}">{escape(line)}</text>'
                  for k, line in enumerate(sentences)]  # fmt: skip
