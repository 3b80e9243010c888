"""The stored picture of a figure as one SVG without scripts. The live picture is front/src/forms/canvas.js.

Both draw what figures.py says, in the same places. Equal figures give equal bytes.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import numpy

from minigrad.tracing.trace import Trace, fmt

from ..heat import cells
from ..heat import digit as number
from ..layout import PAGE_WIDTH
from ..network_picture import short as two
from ..palette import DARK, LIGHT, themed
from .figures import Figure, Sheet, Sign
from .plan import Figured, FormPlan
from .stages import Stage, stops

HEAD = 46.0
SIDES = 36  # pixels beside a figure

# The rules of `.mg-fm-` in front/src/graph.css, under other names.
FORMS = """
text{font:12px system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif}
.t{font-weight:600;font-size:15px}.q{font-size:13.5px}.s,.cell{font-size:11px}.cell{text-anchor:middle}
.t,.m,.cell{font-family:ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace}.b{font-weight:600}
.wr,.fr,.ax,.hx,.hm,.ri,.li{fill:none}.wr{stroke-width:1.6}.bk{stroke-dasharray:5 4;stroke-width:2}
.th{stroke-width:7;stroke-dasharray:none;opacity:.4}.hx,.hm{stroke-width:1.4}.fr{stroke-width:1.2}.cd{stroke-width:1.3}
.wt{stroke-dasharray:3 3}.gr,.pt{stroke-width:1.8;stroke-dasharray:5 3}.pt{stroke-dasharray:2 3}.dt{stroke-dasharray:2 4}
.cu{stroke-width:1.8;stroke-dasharray:none;fill:none}.ri,.do{stroke-width:2}.li{stroke-width:1.6}.ba{fill-opacity:.55}
"""
COLOURS = """
.g{fill:$bg;stroke:$line}text{fill:$ink}.q,.s{fill:$soft}.v{fill:$fwd}.d{fill:$bwd}.dk{fill:$bg}
.hp{fill:$pos}.hn{fill:$neg}.hgp,.no{fill:$grad-pos}.hgn{fill:$grad-neg}.hr{fill:$fwd}.h0{fill:$zero}.hx{stroke:$faint}.hm{stroke:$bg}.e{fill:$bg}
.gh{fill:$zero;stroke:$idle}.cd,.pl{fill:$card}.pl,.ax,.nn{stroke:$line}.wr,.wt{stroke:$idle}.on,.md{stroke:$fwd}.gv{stroke:$faint}
.bk,.gr,.pt,.li,.do{stroke:$bwd}.do{fill:$bg}.ba{fill:$ink}.ri{stroke:$ink}
"""
STYLE = (FORMS + themed(COLOURS, LIGHT, DARK)).replace("\n", "")

CURVES: dict[str, Callable[[float], float]] = {
    "tanh": math.tanh, "relu": lambda v: max(0.0, v) / 2.6, "leaky_relu": lambda v: (v if v > 0 else 0.15 * v) / 2.6,
    "gelu": lambda v: 0.5 * v * (1 + math.tanh(0.79788 * (v + 0.044715 * v**3))) / 2.6, "silu": lambda v: v / (1 + math.exp(-v)) / 2.6,
    "elu": lambda v: (v if v > 0 else math.exp(v) - 1) / 2.6, "softplus": lambda v: math.log(1 + math.exp(v)) / 2.6,
    "sigmoid": lambda v: 2 / (1 + math.exp(-v)) - 1, "exp": lambda v: min(1.1, math.exp(v) / 8), "neg": lambda v: -v / 2.6,
}  # fmt: skip


class Moment:
    """What is known after a step. The browser's version is front/src/forms/data.js."""

    def __init__(self, plan: FormPlan, numbers: bytes, step: int):
        self.plan, self.nodes, self.step, self.K = plan, plan["nodes"], step, len(plan["stages"])
        self.flat = numpy.frombuffer(numbers, "<f8" if plan["double"] else "<f4")

    def array(self, i: int) -> numpy.ndarray | None:
        return None if i < 0 else self.flat[self.plan["starts"][i] : self.plan["starts"][i + 1]]

    def value(self, i: int) -> numpy.ndarray | None:
        node = self.nodes[i]
        if "base" not in node:
            return self.array(node["array"])
        base, places = node["base"]
        below, at = self.value(base), self.array(places)
        return below if at is None or below is None else below[at.astype(int)]

    def known(self, i: int) -> bool:
        return self.nodes[i].get("seen", self.nodes[i]["stage"]) < self.step

    def gone(self, stage: int) -> bool:
        return self.step > self.K and stage >= 2 * self.K + 1 - self.step

    def sent(self, i: int) -> bool:
        return self.nodes[i]["stage"] >= 0 and self.gone(self.nodes[i]["stage"])

    def gradient(self, i: int) -> tuple[numpy.ndarray | None, bool]:
        """The gradient so far, and whether more is to come."""
        grads = self.nodes[i]["grads"]
        done = 0
        while self.step > self.K and done < len(grads) and self.gone(grads[done][0]):
            done += 1
        return (self.array(grads[done - 1][1]), done < len(grads)) if done else (None, False)

    def side(self, i: int) -> tuple[str, numpy.ndarray | None]:
        """ "gradient", "part" of one, "value" or "", and the numbers."""
        grad, partly = self.gradient(i)
        if grad is not None:
            return "part" if partly else "gradient", grad
        return ("value", self.value(i)) if self.known(i) else ("", None)

    def top(self, i: int, kind: str, alike: Sequence[Sequence[int]]) -> float:
        """The largest magnitude of what has one scale of colours with a node."""
        group = next((some for some in alike if i in some), [i])
        if kind == "value":
            arrays = [self.value(k) for k in group]
        elif len(group) == 1:
            arrays = [self.side(i)[1]]
        else:
            arrays = [self.array(g[-1][1]) for k in group if (g := self.nodes[k]["grads"])]
        finite = [float(abs(b).max()) for a in arrays if a is not None and (b := a[numpy.isfinite(a)]).size]
        return max(finite, default=0.0)

    def state(self, i: int, loss: bool = False) -> str:
        """The class of a frame that is not a sheet's."""
        if i >= 0 and self.step > self.K and (loss or self.sent(i)):
            return "gr"
        return "md" if i < 0 or self.known(i) else "wt"


def _rect(x: float, y: float, w: float, h: float, kind: str, rx: float = 2) -> str:
    return f'<rect class="{kind}" x="{number(x)}" y="{number(y)}" width="{number(w)}" height="{number(h)}" rx="{number(rx)}"/>'


def _text(x: float, y: float, text: str, kind: str = "", anchor: str = "") -> str:
    classes = f' class="{kind}"' if kind else ""
    at = f' text-anchor="{anchor}"' if anchor and anchor != "start" else ""
    return f'<text{classes} x="{number(x)}" y="{number(y)}"{at}>{escape(text)}</text>'


def _cells(sheet: Sheet, numbers: numpy.ndarray, at: Callable[[int, int], int], kind: str, top: float) -> list[str]:
    box = sheet["x"], sheet["y"], sheet["cw"], sheet["ch"]
    return cells(box, sheet["r"], sheet["c"], lambda i, j: float(numbers[at(i, j)]), kind, top, two)


def _sheet(sheet: Sheet, now: Moment, alike: Sequence[Sequence[int]]) -> list[str]:
    n = sheet["n"][0] if isinstance(sheet["n"], list) else sheet["n"]
    kind, numbers = now.side(n)
    x, y, cw, ch, r, c = sheet["x"], sheet["y"], sheet["cw"], sheet["ch"], sheet["r"], sheet["c"]
    w, h = c * cw, r * ch
    lift = 4 if cw > 8 else 3
    out = [_rect(x + k * lift, y - k * lift, w, h, "gh") for k in range(sheet.get("ghosts", 0), 0, -1)]
    off, turn = sheet["off"], sheet.get("turn", False)

    def at(i: int, j: int) -> int:
        return off + (j * r + i if turn else i * c + j)

    prob = sheet.get("prob")
    out.append(_rect(x, y, w, h, "e" if numbers is not None else "h0"))
    if prob:
        logp, targets = now.value(n), now.value(prob[0])
        if kind in ("gradient", "part") and numbers is not None:
            out += _cells(sheet, numbers, at, "gradient", now.top(n, kind, alike))
        elif now.known(n) and logp is not None:
            out += _cells(sheet, numpy.exp(logp), at, "prob", 1.0)
        for k in range(1 if prob[1] < 0 else r) if targets is not None else ():
            assert targets is not None
            t = int(targets[k])
            if not 0 <= t < (r if prob[1] < 0 else c):  # ignored
                continue
            i, j = (t, 0) if prob[1] < 0 else (k, t)
            out.append(_rect(x + j * cw + 1.5, y + i * ch + 1.5, max(2, cw - 3), max(2, ch - 3), "ri", min(cw, ch) / 3))
    elif numbers is not None:
        out += _cells(sheet, numbers, at, now.nodes[n].get("whole", kind), now.top(n, kind, alike))
    given = "md" if now.nodes[n]["kind"] == "operation" else "gv"
    out.append(
        _rect(x - 1, y - 1, w + 2, h + 2, "fr " + {"": "wt", "value": given, "gradient": "gr", "part": "pt"}[kind], 3)
    )
    if "label" in sheet:
        lx, ly, anchor, text = sheet["label"]
        back = kind in ("gradient", "part")
        text = "log p" if back and prob else text  # it is recorded as the logarithm
        out.append(
            _text(lx, ly, f"{'∂ ' if back and not sheet.get('plain') else ''}{text}", "m d" if back else "m", anchor)
        )
    return out


def _loss(sign: Sign, state: str, now: Moment) -> list[str]:
    x, y, w, t = sign["x"], sign["y"], sign["w"], sign["t"]
    value = now.value(sign["n"])
    one = value is not None and value.size == 1
    said = (
        "·"
        if state == "wt"
        else fmt(float(value[0]), 4)
        if one and value is not None
        else " × ".join(map(str, now.nodes[sign["n"]]["shape"]))
    )
    out = [
        _rect(x, y, w, sign["h"], f"cd {state}", 8),
        _text(x + 10, y + 19, t if len(t) <= (w - 46) / 7.3 else t[: int((w - 54) / 7.3)] + "…", "m b"),
        _text(x + 10, y + 39, said, "m v"),
    ]
    return [*out, _text(x + w - 8, y + 19, "∂ 1", "m d", "end")] if state == "gr" else out


def _curve(sign: Sign, state: str, now: Moment) -> list[str]:
    x, y, f = sign["x"], sign["y"], CURVES.get(sign["t"])
    if f is None:
        return [_text(x, y + 4, sign["t"], "s", "middle")]
    points = "L".join(
        f"{number(x + i - 20)} {number(y - max(-1.1, min(1.1, f((i - 20) / 20 * 3))) * 14)}" for i in range(41)
    )
    axes = f'<path class="ax" d="M{number(x - 20)} {number(y)}h40M{number(x)} {number(y - 16)}v32"/>'
    return [_rect(x - 24, y - 20, 48, 40, "pl", 6), axes, f'<path class="cu {state}" d="M{points}"/>']


def _bars(sign: Sign, state: str, now: Moment) -> list[str]:
    target, count, classes, _ = map(int, sign["rows"])
    logp, targets = now.value(sign["n"]), now.value(target)
    if state == "wt" or logp is None or targets is None:
        return []
    known = [0 <= int(targets[i]) < classes for i in range(count)]  # the others are ignored
    misses = [-float(logp[i * classes + int(targets[i])]) if known[i] else 0.0 for i in range(count)]
    top, c = max(*misses, 1e-9), sign["h"]
    return [
        _rect(sign["x"], sign["y"] + i * c + c * 0.2, v / top * sign["w"], c * 0.6, "ba") for i, v in enumerate(misses)
    ]


def _size(a: numpy.ndarray | None) -> float:
    return math.nan if a is None else float(numpy.sqrt((a.astype(float) ** 2).sum()))


def _norms(sign: Sign, state: str, now: Moment) -> list[str]:
    """Sizes of the gradients at each step in time, on a logarithmic scale."""
    x, y, w, h, xs = sign["x"], sign["y"], sign["w"], sign["h"], sign["xs"]
    last = [now.nodes[i]["grads"][-1][1] if now.nodes[i]["grads"] else -1 for row in sign["nodes"] for i in row]
    some = [v for v in (_size(now.array(i)) for i in last) if v > 0 and math.isfinite(v)]
    if not some:
        return []
    cw, written = sign["rows"]
    out = [_text(x, y - 18, sign["t"], "s")]
    none = [
        f'<path class="nn" stroke-width="3" d="M{number(at_x - cw / 2)} {number(y + h)}h{number(cw)}"/>' for at_x in xs
    ]
    if now.step <= now.K:
        out.append(_text(x + w / 2, y + h / 2 + 4, "comes with the backward pass", "s", "middle"))
        return [*out, f'<path class="ax" d="M{number(x)} {number(y + h)}h{number(w)}"/>', *none]
    high, low = math.ceil(math.log10(max(some)) + 1e-9), math.floor(math.log10(min(some)) - 0.2)
    high += high == low

    def place(v: float) -> float:
        return y + (high - max(low, math.log10(v))) / (high - low) * h

    for e in range(low, high + 1, math.ceil((high - low) / 4)):  # the foot has its number, too
        at = y + (high - e) / (high - low) * h
        out.append(f'<path class="ax{" dt" if e > low else ""}" d="M{number(x)} {number(at)}h{number(w)}"/>')
        power = "1" if e == 0 else "10" + str(e).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
        out.append(_text(x - 8, at + 4, power, "s", "end"))
    for k, (at_x, i) in enumerate(zip(xs, sign["nodes"][0], strict=True)):
        v = _size(now.gradient(i)[0])
        if math.isnan(v):
            out.append(none[k])
            continue
        top = place(v) if v > 0 else y + h
        out.append(_rect(at_x - cw / 2, top, cw, max(1, y + h - top), "no"))
        out += [_text(at_x, top - 4, fmt(v, 2, v < 0.01), "s", "middle")] if written else []
    for row in sign["nodes"][1:]:
        points = [
            (at_x, place(v))
            for at_x, v in ((at_x, _size(now.gradient(i)[0])) for at_x, i in zip(xs, row, strict=True))
            if v > 0
        ]
        if points:
            out.append('<path class="li" d="M' + "L".join(f"{number(a)} {number(b)}" for a, b in points) + '"/>')
        out += [f'<circle class="do" cx="{number(a)}" cy="{number(b)}" r="4"/>' for a, b in points]
    return out


def _sign(sign: Sign, now: Moment) -> list[str]:
    x, y, w, h = sign["x"], sign["y"], sign.get("w", 0.0), sign.get("h", 0.0)
    state = now.state(sign["n"], sign["kind"] == "loss")
    drawn = {"loss": _loss, "curve": _curve, "bars": _bars, "norms": _norms}.get(sign["kind"])
    if drawn:
        return drawn(sign, state, now)
    if sign["kind"] == "row":  # the first sample is drawn
        return [_text(x, y + h / 2 + 4, "▸", "m")]
    if sign["kind"] == "ground":
        return [_rect(x, y, w, h, "e", 4)]
    if sign["kind"] == "span":
        return [f'<path class="ax" d="M{number(x)} {number(y)}v4h{number(w)}v-4"/>']
    if sign["kind"] == "plus":
        ring = f'<circle class="cd {state}" cx="{number(x)}" cy="{number(y)}" r="7.5"/>'
        return [
            ring,
            f'<path class="fr {state}" d="M{number(x - 3.5)} {number(y)}h7M{number(x)} {number(y - 3.5)}v7"/>',
        ]
    return [_rect(x, y, w, h, f"cd {state}", 9), _text(x + w / 2, y + 17, sign["t"], "m", "middle")]


def _wires(figure: Figure, now: Moment) -> list[str]:
    out = []
    for wire in figure["wires"]:
        a, b = wire["a"], wire["b"]
        back = now.step > now.K and now.sent(b) and now.nodes[a]["grads"]
        kind = " bk" if back else " on" if now.known(a) and now.known(b) else ""
        out.append(f'<path class="wr{kind}{" th" if wire.get("thick") else ""}" d="{wire["d"]}"/>')
    return out


def _added(figure: Figure, now: Moment) -> list[str]:
    out = []
    for words in figure["words"]:
        text = words["t"]
        if "added" in words:
            sides = [
                (sum(1 for g in now.nodes[i]["grads"] if now.gone(g[0])), len(now.nodes[i]["grads"]))
                for i in words["added"]
            ]
            done, of = max((s for s in sides if s[0]), key=lambda s: s[1], default=(0, 0))
            text = (
                (f"gradient: {done} of {of} steps added" if words.get("room") else f"{done} of {of} added")
                if done
                else ""
            )
        if text:
            out.append(_text(words["x"], words["y"], text, words.get("c", ""), words.get("a", "")))
    return out


def _said(stages: Sequence[Stage], step: int, trace: Trace) -> str:
    """The sentence of a step: of a part of the figure, which is closed here, the one about all of it."""
    last = len(stages)
    if not step or step == last + 1:
        return trace["steps"][last]["say"] if step else "The inputs and the parameters are there."
    stage = stages[step - 1 if step <= last else 2 * last + 1 - step]
    return stage["whole"] or stage["say"] if step <= last else stage["wholeback"] or stage["back"]


def fitting(figures: Sequence[Figure], width: float) -> Figure:
    return next((f for f in reversed(figures) if f["w"] <= width), figures[0])


def svg(
    figured: Figured,
    step: int | None = None,
    description: str = "",
    w: float = PAGE_WIDTH,
    least: float = 0,
    lines: int = 1,
) -> str:
    """The figure after `step` events (by default all), for a page of this width, at least `least` pixels wide, with room for at least
    `lines` lines of words below it."""
    plan, trace = figured.plan, figured.trace
    total = len(trace["steps"])
    step = total if step is None else min(max(step, 0), total)
    now = Moment(plan, figured.numbers, step)
    figure = fitting(plan["figures"], max(w, least) - SIDES)
    w = max(figure["w"] + SIDES, least)
    say = _said(plan["stages"], step, trace)
    counted = stops(plan["stages"])
    at, forward = (sum(k <= of for k in counted) - 1 for of in (step, now.K))
    where = (
        f"backward, step {at - forward} of {len(counted) - 1 - forward}"
        if step > now.K
        else f"forward, step {at} of {forward}"
    )
    value = now.value(plan["root"])
    one = f" = {fmt(float(value[0]))}" if value is not None and value.size == 1 else ""
    words = f"{plan['nodes'][plan['root']]['name']}{one}" if step == total else f"{where}: {re.sub('[*][*]', '', say)}"
    message = textwrap.wrap(words, int((w - 36) / 7.2))
    height = HEAD + figure["h"] + 22 + 20 * max(lines, len(message))
    body = _wires(figure, now)
    ground = [s for s in figure["signs"] if s["kind"] in ("ground", "span", "branch")]
    for sign in ground:
        body += _sign(sign, now)
    for sign in figure["signs"]:
        body += _sign(sign, now) if sign not in ground else ()
    for sheet in figure["sheets"]:
        body += _sheet(sheet, now, figure.get("alike", []))
    body += _added(figure, now)
    title = trace["title"]
    foot = [_text(18, HEAD + figure["h"] + 26 + 20 * k, line, "q") for k, line in enumerate(message)]
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{w:.0f}" height="{height:.0f}" viewBox="0 0 {w:.0f} {height:.0f}" role="img">',
        f"<title>{escape('figure of ' + title)}</title><desc>{escape(description or words)}</desc><style>{STYLE}</style>",
        f'<rect class="g" x=".5" y=".5" width="{w - 1:.0f}" height="{height - 1:.0f}" rx="12"/>',
        f'<text class="t" x="18" y="28">{escape(textwrap.shorten(title, max(8, int((w - 36) / 9.1)), placeholder=" …"))}</text>',
        f'<g transform="translate({number((w - figure["w"]) / 2)},{HEAD:.0f})">',
    ]
    return "".join([*head, *body, "</g>", *foot, "</svg>"])


def text(figured: Figured) -> str:
    """The figure as plain text: what a terminal or a screen reader gets in place of the picture."""
    plan = figured.plan
    now = Moment(plan, figured.numbers, len(figured.trace["steps"]))
    root = plan["nodes"][plan["root"]]["name"]
    table = [["", "shape", "numbers", f"size of ∂{root}/∂"]]
    seen: set[int] = set()
    for sheet in plan["figures"][-1]["sheets"]:
        for n in sheet["n"] if isinstance(sheet["n"], list) else [sheet["n"]]:
            if n in seen:
                continue
            seen.add(n)
            table.append(_row(now, n))
    table.append(_row(now, plan["root"]))
    widths = [max(len(row[k]) for row in table) for k in range(4)]
    rows = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in table]
    kind = {"lane": "residual lane", "layers": "layers", "attention": "attention", "recurrence": "recurrence"}[
        plan["kind"]
    ]
    return "\n".join([figured.title, "", f"{kind}, {len(plan['nodes'])} nodes", "", *rows])


def _row(now: Moment, n: int) -> list[Any]:
    node = now.nodes[n]
    value = now.value(n)
    value = value if value is None or "log" not in node else numpy.exp(value)
    some = "" if value is None else ", ".join(fmt(float(v), 3) for v in value[:4]) + (", …" if value.size > 4 else "")
    grad = _size(now.gradient(n)[0])
    shape = " × ".join(map(str, node.get("full", node["shape"]))) or "one number"
    return [node["name"], shape, some, "none" if math.isnan(grad) else fmt(grad, 3)]
