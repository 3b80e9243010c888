"""The stored picture: the graph view as one SVG without scripts, for GitHub, nbviewer, printing and slides.

It is a deterministic drawing of a trace at one step, at the positions of the live view. The file also writes the page that `save` makes.
No element has an id and every number is rounded, so equal traces give equal bytes.
"""

from __future__ import annotations

import json
import math
import re
import textwrap
from base64 import b64encode
from collections import Counter
from html import escape
from typing import Any

from minigrad.tracing.trace import Node, Trace, fmt, replay_steps
from minigrad.words import fit

from . import heat
from .front_end import built
from .layout import (
    BAND,
    BECAME,
    CARD_PAD,
    LINE,
    PAGE_WIDTH,
    SHEET,
    SLIM_PAD,
    SLIM_SHEET,
    STACK,
    STALE,
    Card,
    CutWire,
    Picture,
    Wire,
    shorten,
    stale,
)
from .palette import DARK, LIGHT, themed

HEAD = 46  # room above the graph for the title
FOOT = 34  # and below it for the sentence

# Shown as an <img>, an SVG sees no theme of the page around it, only the system's: so it brings its own ground, in two versions.
FORMS = """
.c{stroke-width:1.3}.k{fill:none;stroke-dasharray:4 3}.now{stroke-width:2.6}
text{font:13.5px system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif}
.t,.e,.p,.v,.d{font-family:ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace}
.t{font-weight:600;font-size:15px}.n{font-weight:600}.e{font-size:11.5px;text-anchor:end}.l{font-size:11px}.v,.d{font-weight:600;text-anchor:end}
.w,.u{fill:none}.w{stroke-width:1.5}.f{stroke-width:1.8}.b{stroke-width:2.2;stroke-dasharray:6 3}.hx,.hm{fill:none;stroke-width:1.4}
.z{stroke-width:1.5}.s{stroke-width:1.6}.x{font-size:11px;font-weight:600}.m{text-anchor:middle}
.p{font-size:11.5px;text-anchor:middle}.pb{font-weight:600}
"""
COLOURS = """
.g{fill:$bg;stroke:$line}.c{fill:$card;stroke:$idle}.leaf{stroke:$fwd}.k{fill:none}.now{stroke:$bwd}text{fill:$ink}
.e,.p,.q{fill:$soft}.l{fill:$faint}.v{fill:$fwd}.d,.pb,.x{fill:$bwd}.w,.u{stroke:$idle}.f{stroke:$fwd}.b,.s{stroke:$bwd}
.h{fill:$idle}.hf{fill:$fwd}.hb{fill:$bwd}.h0{fill:$zero}.hp{fill:$pos}.hn{fill:$neg}.hgp{fill:$grad-pos}.hgn{fill:$grad-neg}.hx{stroke:$faint}.hm{stroke:$bg}
.z{fill:$neg-soft;stroke:$neg}.s,.r{fill:$bg}.r{stroke:$idle}.rb{stroke:$bwd}.o{fill:$fwd-soft}
"""
STYLE = (FORMS + themed(COLOURS, LIGHT, DARK)).replace("\n", "")


def number(x: float | str | None) -> float:
    """A number of the trace as a float; nan where there is none."""
    return math.nan if x is None else float(x)


class TraceState:
    """The numbers of a trace after its first `step` events. The browser's version is front/src/model/moment.js."""

    def __init__(self, trace: Trace, step: int):
        self.known = {n["id"] for n in trace["nodes"] if n["kind"] == "constant"}
        self.sums: dict[int, float] = {}
        self.sent: set[int] = set()
        self.missing: Counter[int] = Counter()  # contributions to a gradient that are still to come
        self.arrays: dict[int, int] = {}  # of a tensor: node -> the array that is its gradient so far
        self.acting = -1
        self.step = step
        self.back = False  # is it the backward pass?
        self.sentence = "nothing has run yet"
        rows = replay_steps(trace)
        for row in rows[step:]:
            if row["kind"] == "send":
                self.missing[row["to"] if row["to"] is not None else row["node"]] += 1
        for row in rows[:step]:
            self.acting, self.back, self.sentence = (
                row["node"],
                row["phase"] != "forward",
                row["sentence"].replace("**", ""),
            )
            if row["phase"] == "forward":
                self.known.add(row["node"])
            else:
                to = row["node"] if row["to"] is None else row["to"]
                self.sums[to] = number(row["after"])
                if row["edge"] is not None:
                    self.sent.add(row["edge"])
                if (after := trace["steps"][row["step"] - 1].get("after")) is not None:
                    self.arrays[to] = after
        for n in trace["nodes"]:
            if n.get("layer") and (set(n.get("made_by", ())) & self.sent or step == len(trace["steps"])):
                self.known.add(n["id"])


def svg(trace: Trace, picture: Picture, step: int | None = None, description: str = "", least: int = 0, lines: int = 1,
        width: float = PAGE_WIDTH, result: str = "") -> str:  # fmt: skip
    """The graph after `step` events (by default all) as an SVG document, at least `least` pixels wide, with room for at least `lines` lines
    of words below it. width: of the page it is for; words make the document no wider than that. result: its name, where it is in
    a fold."""
    total = len(trace["steps"])
    step = total if step is None else min(max(step, 0), total)
    now = TraceState(trace, step)
    root = trace["nodes"][trace["root"]]
    title = trace["title"]
    if title == root["label"] and root["kind"] != "fold" and root["expr"] not in ("", title):  # no source line is known
        title = f"{title} = {root['expr']}"
    if step == total:
        leaves = [n for n in trace["nodes"] if n["kind"] == "leaf" and n["grad"] is not None]
        name = result if result and root["kind"] == "fold" else root["label"]
        facts = [_fact(name, root["value"])]
        facts += [_fact(f"∂{name}/∂{n['label']}", n["grad"]) for n in leaves[:4]]
        foot = " · ".join(facts) + (" …" if len(leaves) > 4 else "")
    else:
        forward = sum(event["phase"] == "forward" for event in trace["steps"])
        at = (
            f"backward, step {step - forward} of {total - forward}"
            if step > forward
            else f"forward, step {step} of {forward}"
        )
        foot = f"{at}: {now.sentence}"
    width = max(least, picture["w"], min(width, max(36 + 8.2 * min(len(foot), 90), 36 + 9.1 * len(title))))
    words = textwrap.wrap(foot, int((width - 36) / 7.7)) or [""]
    height = picture["h"] + HEAD + FOOT + 20 * (max(lines, len(words)) - 1)
    wide, high = round(width), round(height)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high}" viewBox="0 0 {wide} {high}" role="img">',
        f"<title>{escape('computation graph of ' + title)}</title><desc>{escape(description or foot)}</desc><style>{STYLE}</style>",
        f'<rect class="g" x=".5" y=".5" width="{wide - 1}" height="{high - 1}" rx="12"/>',
        f'<text class="t" x="18" y="28">{escape(shorten(title, int((width - 36) / 9.1)))}</text>',
        f'<g transform="translate({(width - picture["w"]) / 2:.1f},{HEAD})">',
    ]
    for frame in picture.get("frames", ()):
        box = f'x="{frame["x"]:.1f}" y="{frame["y"]:.1f}" width="{frame["w"]:.1f}" height="{frame["h"]:.1f}" rx="12"'
        x, y = frame["x"], frame["y"]
        out.append(f'<rect class="u" {box}/><path class="h" d="M{x + 12:.1f} {y + 10:.1f}h8l-4 6z"/>')
        out.append(f'<text class="l" x="{x + 26:.1f}" y="{y + 16.5:.1f}">{escape(frame["name"])}</text>')
    out += [_wire(trace, wire, now) for wire in picture["wires"]]
    out += [_cut(cut, now) for cut in picture.get("cuts", ())]
    out += [_card(trace, card, now, step < total) for card in picture["cards"]]
    top = picture["h"] + HEAD + FOOT - 15
    out += [
        "</g>",
        *(f'<text class="q" x="18" y="{top + 20 * k:.0f}">{escape(line)}</text>' for k, line in enumerate(words)),
        "</svg>",
    ]
    return "".join(out)


def _fact(name: str, value: float | str | None) -> str:
    """A number, or the shape and dtype that the trace gives for a tensor."""
    try:
        return f"{name} = {fmt(number(value))}"
    except ValueError:
        return f"{name}: {value}"


def _wire(trace: Trace, wire: Wire, now: TraceState) -> str:
    edge = trace["edges"][wire["id"]]
    back, ready = edge["id"] in now.sent, edge["source"] in now.known and edge["target"] in now.known
    kind = "b" if back else "f" if ready else ""
    line, head = arrow(wire["d"], back)
    out = f'<path class="w {kind}" d="{line}"/><path class="h {"h" + kind if kind else ""}" d="{head}"/>'
    if "tag" in wire:
        tag = wire["tag"]
        look = {"b": "r rb", "f": "c leaf"}.get(kind, "c")
        out += f'<path class="{look}" d="{flag(tag["x"], tag["y"], tag["w"])}"/>'
        out += f'<text class="p n" x="{tag["x"] + tag["w"] / 2 - 3:.1f}" y="{tag["y"] + 4:.1f}">{escape(tag["name"])}</text>'
    message, wide = wire.get("text"), wire["pw"]
    # A slope is shown once the gradient has gone over it: "× 3" on an arrow says multiply
    if wide and (back or message and ready):
        if message:
            text = message[back]
        else:  # the number may need more room than its formula
            room = max(5, int((wide - 18) / 6.9) - 2)
            # A rule that is no factor
            text = "× ?" if edge["local"] is None else "× " + fit(number(edge["local"]), room)
            wide = max(wide, 15 + 6.9 * len(text))
        box = f'x="{wire["px"] - wide / 2:.1f}" y="{wire["py"] - 10:.1f}" width="{wide:.1f}" height="20" rx="10"'
        out += f'<rect class="r {"rb" if back else ""}" {box}/>'
        if "broadcast" in edge:  # a second outline: one tensor becomes many
            out += f'<rect class="r {"rb" if back else ""}" x="{wire["px"] - wire["pw"] / 2 + 3:.1f}" y="{wire["py"] - 7:.1f}" '
            out += f'width="{wire["pw"] - 6:.1f}" height="14" rx="7"/>'
        out += f'<text class="p {"pb" if back else ""}" x="{wire["px"]:.1f}" y="{wire["py"] + 4:.1f}">{text}</text>'
    if "stops" in trace["nodes"][edge["source"]]:
        x0, y0, x1, y1 = [float(x) for x in re.findall(r"-?[\d.]+", wire["d"])][:4]
        right, low = (0, 14) if x0 == x1 and y1 > y0 else (14, 0)
        out += (
            f'<g transform="translate({x0 + right:.1f},{y0 + low:.1f})"><title>{escape(edge.get("stops", ""))}</title>'
        )
        out += '<circle class="s" r="7"/><path class="s" d="M-4 0h8"/></g>'
    return out


def arrow(d: str, back: bool) -> tuple[str, str]:
    """The line of a wire, which ends where its head begins, and the head."""
    n = [float(x) for x in re.findall(r"-?[\d.]+", d)]
    if n[2] == n[0] and n[3] > n[1]:  # it runs down
        (x, y) = n[:2] if back else n[-2:]
        n[1 if back else -1] += 7 if back else -7
        return f"M{n[0]:.1f} {n[1]:.1f}C" + " ".join(
            f"{c:.1f}" for c in n[2:]
        ), f"M{x:.1f} {y:.1f}l-5 {10 if back else -10}h10z"
    out_left = n[6] < n[0]  # of a row
    (x, y) = n[:2] if back else n[-2:]
    n[0 if back else -2] += 7 if back and not out_left else -7
    way = 10 if back and not out_left else -10
    return f"M{n[0]:.1f} {n[1]:.1f}C" + " ".join(f"{c:.1f}" for c in n[2:]), f"M{x:.1f} {y:.1f}l{way}-5v10z"


def flag(x: float, y: float, wide: float) -> str:
    """The outline of a tag, from its left side and its middle."""
    return f"M{x:.1f} {y - 9:.1f}h{wide - 7:.1f}l7 9-7 9h{7 - wide:.1f}z"


def _cut(cut: CutWire, now: TraceState) -> str:
    """A dotted wire with two strokes across it, and the call that detached; in the backward pass, that no gradient passes."""
    x, y, half = cut["px"], cut["py"], cut["pw"] / 2
    text = cut["text"][now.back]
    out = f'<path class="w {"f" if cut["source"] in now.known else ""}" style="stroke-dasharray:2 5" d="{cut["d"]}"/>'
    out += (
        f'<rect class="r" style="stroke:none" x="{x - half:.1f}" y="{y - 10:.1f}" width="{2 * half:.1f}" height="20"/>'
    )
    out += f'<path class="s" d="M{x - half + 3:.1f} {y + 7:.1f}l5-14M{x - half + 11:.1f} {y + 7:.1f}l5-14"/>'
    return out + f'<text class="p pb" x="{x + 8:.1f}" y="{y + 4:.1f}">{escape(text)}</text>'


def _card(trace: Trace, card: Card, now: TraceState, partway: bool) -> str:
    out = [f'<g transform="translate({card["x"]:.1f},{card["y"]:.1f})">']
    node = trace["nodes"][card["id"]]
    kind = {"leaf": "leaf", "constant": "k"}.get(node["kind"], "")
    own = ""
    if card["id"] == now.acting and partway:
        kind += " now" if now.back else " f"
        own = "" if now.back else ' style="stroke-width:2.6"'
    less = STACK if node["kind"] == "fold" else 0.0  # the edges of the cards beneath
    box = f'width="{card["w"] - less:.0f}" height="{card["h"] - less:.0f}" rx="9"'
    out += [f'<rect class="c" x="{d:.0f}" y="{d:.0f}" {box}/>' for d in (STACK, STACK / 2)] if less else []
    out.append(f'<rect class="c {kind}" {box}{own}/>')
    right = f"{card['w'] - 12 - less:.0f}"
    out.append(f'<text class="n" x="{SLIM_PAD if card.get("slim") else 12:g}" y="21">{escape(card["name"])}</text>')
    out += [f'<text class="e" x="{right}" y="21">{escape(card["expr"])}</text>'] if card["expr"] else []
    if "sheet" in card:
        out.append(_sheet(trace, card, node, now))
    elif card.get("flat") or card.get("slim"):
        out.append(_row(trace, card, node, now))
    elif node["kind"] == "fold" and (node["outs"] != 1 or not _numbers(node, now)):
        out.append(_results(trace, card, node, now))
    else:
        room = int((card["w"] - 62 - less) / 8.2)
        y = 38 if node["kind"] == "constant" else 42
        # Of an operation with several results
        missing = "several" if node["kind"] == "operation" and "shape" not in node else "not kept"
        value = (
            "·"
            if node["id"] not in now.known
            else missing
            if node["value"] == "not kept"
            else fit(number(node["value"]), room)
        )
        out.append(f'<text class="l" x="12" y="{y}">value</text><text class="v" x="{right}" y="{y}">{value}</text>')
        if node["kind"] != "constant":
            g = now.sums.get(node["id"])
            sign = "" if g is None or not g else "▴ " if g > 0 else "▾ "
            more = " +…" if g is not None and now.missing[node["id"]] else ""
            grad = "·" if g is None else sign + fit(g, room - (4 if more else 2)) + more
            out.append(f'<text class="l" x="12" y="60">grad</text><text class="d" x="{right}" y="60">{grad}</text>')
    if "within" in card:
        low = card["h"] - less - 9 - (BECAME if "became" in card else 0)
        out.append(f'<path class="s" d="M13 {low + 2:.0f}l4-11M18 {low + 2:.0f}l4-11"/>')
        out.append(f'<text class="x" x="27" y="{low:.0f}">{escape(card["within"])}</text>')
    if "became" in card:
        low = card["h"] - less
        wide = card["w"] - less
        if re.search(r"\bloop\d", " ".join(card["became"])):
            out.append(f'<path class="o" d="M1 {low - BECAME:.0f}H{wide - 1:.0f}V{low - 9:.0f}q0 8-8 8H9q-8 0-8-8z"/>')
        for at, style, text in zip(
            ("12", right), ('v" style="text-anchor:start;', 'd" style="'), card["became"], strict=True
        ):
            out.append(f'<text class="{style}font-size:11px" x="{at}" y="{low - 8:.0f}">{escape(text)}</text>')
    if "tags" in card:
        text = "1 tag" if card["tags"] == 1 else f"{card['tags']} tags"
        wide = 14 + 6.9 * len(text)
        x = card["w"] - less - 10 - wide
        out.append(
            f'<path class="r" d="{flag(x, -4, wide)}"/><text class="p" x="{x + wide / 2 - 3:.1f}" y="0">{text}</text>'
        )
    rows = card.get("rows", []) if now.step >= card.get("at", 0) else []
    if rows:  # where it differs from another picture's: as in cards.js
        low = card["h"] - LINE * len(rows) - BAND
        out.append(f'<path class="z" d="M1.5 {low:.1f}h{card["w"] - less - 3:.1f}v{LINE * len(rows) - 0.5:.1f}'
                   f'q0 7-7 7H8.5q-7 0-7-7z"/>')  # fmt: skip
        for k, (caption, text) in enumerate(rows):
            at = f"{low + 15 + LINE * k:.0f}"
            out.append(f'<text class="n" style="font-size:11.5px" x="12" y="{at}">{escape(caption)}</text>')
            out.append(f'<text class="v hx" x="{right}" y="{at}">{escape(text)}</text>')
    out.append("</g>")
    return "".join(out)


def _row(trace: Trace, card: Card, node: Node, now: TraceState) -> str:
    """The second line of a card in a column: value and gradient, or their ranges."""
    if node["kind"] == "constant":
        return ""
    fold = node["kind"] == "fold"
    if fold and node["outs"] != 1:
        return f'<text class="l" x="12" y="38">{node["outs"]} results</text>'
    width, slim = card["w"] - (STACK if fold else 0.0), card.get("slim", False)
    room = int((width - 2 * SLIM_PAD) / 6.7) if slim else int((width - 34) / 16.4)
    reached, g = node["id"] in now.known, now.sums.get(node["id"])
    more = " +…" if now.missing[node["id"]] else ""
    if heat.tall(node) or fold and not _numbers(node, now):
        arrays = (
            heat.array_of(trace, node.get("array") if reached else None),
            heat.array_of(trace, now.arrays.get(node["id"])),
        )
        value, grad = (
            heat.between(a, r) if a else "·" for a, r in zip(arrays, (room, room - 2 * bool(more)), strict=True)
        )
        grad += more if arrays[1] else ""
    else:
        value, grad = (
            ("not kept" if node["value"] == "not kept" else fit(number(node["value"]), room)) if reached else "·",
            "·" if g is None else fit(g, room - len(more)) + more,
        )
    if "stops" in node or not node["requires_grad"]:
        grad = "none"
    if slim:
        both = (("v", 38, value), ("d", 54, grad))
        look = f'style="text-anchor:start;font-size:11px" x="{SLIM_PAD:g}"'
        return "".join(f'<text class="{kind}" {look} y="{y}">{escape(text)}</text>' for kind, y, text in both)
    texts = f'<text class="v" style="text-anchor:start" x="12" y="38">{escape(value)}</text>'
    return texts + f'<text class="d" x="{width - 12:.0f}" y="38">{escape(grad)}</text>'


def _sheet(trace: Trace, card: Card, node: Node, now: TraceState) -> str:
    """The lower part of a tensor's card: shape, mark, and one heat map: of its value with its range, once a gradient has come back of that
    with its norm."""
    width, high = card["w"] - (STACK if node["kind"] == "fold" else 0.0), card["sheet"]
    side, top = (SLIM_PAD, SLIM_SHEET) if card.get("slim") else (CARD_PAD, SHEET)
    out = []
    if not card.get("slim"):
        caption, mark = _captions(trace, node, width)
        kind = "x" if stale(node) else "l"
        out.append(f'<text class="l" x="{side:g}" y="38">{escape(caption)}</text>')
        if mark:
            out.append(
                f'<text class="{kind}" style="text-anchor:end" x="{width - side:.0f}" y="38">{escape(mark)}</text>'
            )
    at, room = f'x="{width / 2:.1f}" y="{top + high + (15 if high else 9):.1f}"', int((width - 2 * side) / 6.7)
    if (a := heat.array_of(trace, now.arrays.get(node["id"]))) is not None:
        out += [heat.svg(a, side, top, width - 2 * side, high, kind="gradient")] if high else []
        kind, text = "d", "norm " + heat.short(heat.norm(a)) + (" +…" if now.missing[node["id"]] else "")
    elif (a := heat.array_of(trace, node.get("array") if node["id"] in now.known else None)) is not None:
        out += [heat.svg(a, side, top, width - 2 * side, high)] if high else []
        kind, text = "v", heat.between(a, room)
    else:
        box = f'x="{side:g}" y="{top:g}" width="{width - 2 * side:.1f}" height="{high:.1f}" rx="3"'
        out += [f'<rect class="u" {box} stroke-dasharray="3 3"/>'] if high else []
        kind, text = "l", "not kept" if node["id"] in now.known else "·"
    out.append(f'<text class="{kind} m" style="text-anchor:middle;font-size:11px" {at}>{escape(text)}</text>')
    return "".join(out)


def _numbers(node: Node, now: TraceState) -> bool:
    """Has a fold a value and a gradient, not ranges of them?"""
    return node.get("array") is None or "shape" in node and not math.isnan(now.sums.get(node["id"], 0.0))


def _results(trace: Trace, card: Card, node: Node, now: TraceState) -> str:
    """The lower part of a fold's card where it has no single number: the range of its result and of its gradient."""
    right = f"{card['w'] - 12 - STACK:.0f}"
    if node["outs"] != 1:
        return f'<text class="l" x="12" y="42">{node["outs"]} results</text>'
    room = int((card["w"] - 62) / 8.2)
    results = (node["array"] if node["id"] in now.known else None), now.arrays.get(node["id"])
    texts = ["·" if i is None else heat.between(trace["arrays"][i], room) for i in results]
    return (f'<text class="l" x="12" y="42">value</text><text class="v" x="{right}" y="42">{escape(texts[0])}</text>'
            f'<text class="l" x="12" y="60">grad</text><text class="d" x="{right}" y="60">{escape(texts[1])}</text>')  # fmt: skip


def badge(trace: Trace, node: Node, room: int = 9, versions: bool = True) -> str:
    """A short remark on a tensor: a stale saved value, a view (`room`: characters for its base's name), a version."""
    if stale(node):
        return STALE
    if "view" in node:
        version = node["view"].get("version") if versions else None
        return f"view of {shorten(trace['nodes'][node['view']['base']]['label'], room)}" + (
            f", version {version}" if version else ""
        )
    return f"version {node['version']}" if node.get("version") and node["kind"] == "operation" else ""


def _captions(trace: Trace, node: Node, width: float) -> tuple[str, str]:
    """Shape, dtype and badge, as much as fits on a card of this width."""
    room, special, shape = int((width - 34) / 5.9), badge(trace, node), heat.shape_text(node["shape"])
    tried = ((f"{shape} {node['dtype']}", special), (shape, special), (shape, badge(trace, node, versions=False)),
             (shape, badge(trace, node, 4, versions=False)), (shape, special.split(" of ")[0]))  # fmt: skip
    for left, right in tried:
        if len(left) + len(right) <= room:
            return left, right
    return shape, special[:1]


def plain(value: Any) -> Any:
    """What a view holds, as JSON: bytes are an object that src/page.js turns into bytes again."""
    if isinstance(value, (bytes, memoryview)):
        return {"$bytes": b64encode(bytes(value)).decode()}
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    return [plain(v) for v in value] if isinstance(value, (list, tuple)) else value


def page(title: str, state: dict) -> str:
    """An HTML page with the live view: the same code, with a model of a dozen lines in place of a kernel (src/page.js)."""
    # No "<" at all: names are a learner's, and "<!--<script>" in one would hide the end of the page's own script from the browser.
    data = json.dumps(plain(state), ensure_ascii=False).replace("<", "\\u003c")
    parts = {"TITLE": escape(title), "CSS": built("views.css"), "MODULE": built("page.js"), "STATE": data}
    # In one go: a title may contain "%STATE%"
    return re.sub("%(TITLE|CSS|MODULE|STATE)%", lambda place: parts[place[1]], PAGE)


PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>%TITLE%</title>
<style>
body { margin: 24px auto; max-width: 1600px; padding: 0 16px; font-family: system-ui, sans-serif; }
%CSS%
</style>
<main id="view"></main>
<script type="application/json" id="state">%STATE%</script>
<script type="module">
%MODULE%
</script>
</html>
"""
