"""A step of a film as an SVG that needs no program: the network with its maps, the plane, and the strip below.

What lives here: the still picture and its text alternative. What does not: pixels (widgets/export.py), the live view. Maps are small PNGs
inside the SVG, transparent where a map is 0, so that they fit a light page and a dark one.
"""

from __future__ import annotations

import base64
import math
import re
import struct
import zlib
from html import escape
from typing import Any

import numpy as np

from minigrad.film import Film
from minigrad.kernels import positions
from minigrad.words import number, plural

from ..contours import contour
from ..palette import DARK, LIGHT, themed
from .maps import HIGH, WIDE, box, computed, grid, right

WIDTH = 840
TOP, HEAD, FOOT = 64, 16, 26
STRIP = 190
KINDS = ("pos", "neg", "fwd")

COLOURS = """
.g{fill:$bg;stroke:$line}.c{fill:$card}text{fill:$ink}.q{fill:$soft}.n{fill:$fwd}.r{stroke:$soft;fill:none}.l{stroke:$line;fill:none}
.p{stroke:$pos}.m{stroke:$neg}.b{stroke:$bg}.i{stroke:$ink;fill:none}.k{stroke:$fwd;fill:none}.d{fill:$fwd;stroke:$bg}.s{fill:$bwd}.x{stroke:$soft}
.k0{fill:$pos}.k1{fill:$neg}.k2{fill:$fwd}.o{stroke:$bg;stroke-width:1.1}.h{fill:$panel;stroke:$line}
"""
FORMS = """
text{font:12px system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif}.t{font-weight:600;font-size:15px}.w{font-weight:600}
.z{text-anchor:middle}.e{text-anchor:end}.p,.m,.b{fill:none}.k{stroke-width:1.8}.i{stroke-width:2}
.x{fill:none;stroke-width:1.6;stroke-dasharray:6 4}
"""
STYLE = (FORMS + themed(COLOURS, LIGHT, DARK)).replace("\n", "")


def text(film: Film) -> str:
    """The film as text, for terminals and screen readers."""
    frames = film.frames
    if not frames:
        return "The film has no step yet: film.step(loss) in the loop adds one."
    losses = [f.loss for f in frames]
    known = [v for v in losses if math.isfinite(v)]
    size = plural(len(film.names), "weight")
    lines = [
        f"Film of {film.title}: {size}, {plural(film.seen, 'step')}."
        if film.title != size
        else f"Film of {size}: {plural(film.seen, 'step')}."
    ]
    if known:
        low = losses.index(min(known))
        lines.append(
            f"The loss begins at {number(losses[0], 3)}, is lowest at step {frames[low].step} ({number(losses[low], 3)}), "
            f"and ends at {number(losses[-1], 3)}."
        )
    if sides := right(film, film.last()):
        lines.append(f"At the end {sides[0]} of {sides[1]} points are on the right side.")
    broken = next((f.step for f in frames if not math.isfinite(f.loss)), None)
    if broken is not None:
        lines.append(f"At step {broken} the loss is not a number.")
    if film.note:
        lines.append(film.note)
    return "\n".join(lines)


def svg(film: Film, k: int | None = None, width: int = WIDTH, other: tuple[str, Film] | None = None) -> str:
    """The picture before frame k, by default after the last step. other: a second film and its name, which is drawn dashed."""
    at = len(film.frames) if k is None else k
    return _Drawing(film, at, width, other).document()


def png_of(rgba: np.ndarray) -> str:
    """An array (rows, columns, 4) of bytes as the address of a PNG."""
    high, wide, _ = rgba.shape
    rows = b"".join(b"\0" + row.tobytes() for row in np.ascontiguousarray(rgba, np.uint8))

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", wide, high, 8, 6, 0, 0, 0)
    data = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")
    return "data:image/png;base64," + base64.b64encode(data).decode()


def _rgb(name: str) -> np.ndarray:
    return np.array([int(LIGHT[name][i : i + 2], 16) for i in (1, 3, 5)])


def _signed(table: np.ndarray, deep: float) -> np.ndarray:
    """Numbers between −1 and 1 as colours, in 12 levels, which pack well."""
    t = np.round(np.clip(np.nan_to_num(table), -1, 1) * 12) / 12
    out = np.zeros((*table.shape, 4), np.uint8)
    out[..., :3] = np.where((t < 0)[..., None], _rgb("neg"), _rgb("pos"))
    out[..., 3] = np.round(np.abs(t) * deep * 255)
    return out


def _text(x: float, y: float, words: str, kind: str = "") -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{escape(words)}</text>'


def _joined(d: str) -> str:
    """The pieces of a path joined, so that its dashes are continuous.

    >>> _joined("M0 0L1 0M2 5L1 0M2 5L3 5")
    'M0 0L1 0L2 5L3 5'
    """
    pieces = re.findall(r"M([^ML]+)L([^ML]+)", d)
    at: dict[str, list[int]] = {}  # the pieces that end at a point
    for k, ends in enumerate(pieces):
        for end in ends:
            at.setdefault(end, []).append(k)
    left = set(range(len(pieces)))

    def onward(point: str) -> list[str]:
        line: list[str] = []
        while (k := next((k for k in at[point] if k in left), None)) is not None:
            left.discard(k)
            a, b = pieces[k]
            point = b if point == a else a
            line.append(point)
        return line

    lines = []
    for k, (a, b) in enumerate(pieces):
        if k in left:
            left.discard(k)
            lines.append([*onward(a)[::-1], a, b, *onward(b)])
    return "".join("M" + "L".join(line) for line in lines)


class _Drawing:
    def __init__(self, film: Film, at: int, width: int, other: tuple[str, Film] | None = None):
        self.film, self.at, self.width = film, at, width
        fits = other is not None and other[1].frames and len(other[1].names) == len(film.names)
        self.other = other if fits else None
        self.weights = film.frames[at].weights if at < len(film.frames) else film.last()
        self.units = film.program.units if film.program else []
        points = film.data_of.points if film.data_of else np.zeros((0, 0))
        self.points = points
        self.plane = bool(self.units) and points.shape[1] == 2
        self.images = bool(self.units) and points.shape[1] >= 16 and math.isqrt(points.shape[1]) ** 2 == points.shape[1]
        self.high = (
            TOP
            + (400 if self.plane or self.images else 0)
            + (300 if self.units and not (self.plane or self.images) else 0)
        )
        if self.plane:
            self.grid, self.box = grid(points), box(points)
            self.sums, self.out = computed(film, self.weights, self.grid)

    def document(self) -> str:
        film, w = self.film, self.width
        parts = self._pictures() if self.images else self._network() if self.units else []
        parts += self._strip()
        high = self.high + STRIP
        frame = film.frames[self.at] if self.at < len(film.frames) else None
        state = (
            f"step {frame.step} of {film.seen} · loss {number(frame.loss, 3)}" if frame else f"after step {film.seen}"
        )
        head = _text(18, 26, "The film of a training run", "t") + _text(18, 46, f"{film.title} · {state}", "q")
        size = f'viewBox="0 0 {w} {high}" width="{w}" height="{high}"'
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{escape(text(film), quote=True)}">'
            f"<title>{escape(text(film))}</title><style>{STYLE}</style>"
            f'<rect class="g" x=".5" y=".5" width="{w - 1}" height="{high - 1}" rx="12"/>{head}{"".join(parts)}</svg>'
        )

    # The network

    def _network(self) -> list[str]:
        w, layers = self.width, [u["layer"] for u in self.units]
        depth = max(layers)
        right_edge = w * 0.56 if self.plane else w - 90
        left = 60
        gap = (right_edge - left) / depth
        room = self.high - TOP - FOOT - HEAD
        mid = TOP + HEAD + room / 2
        most = max(layers.count(k) for k in range(1, depth + 1))
        r = max(5.0, min(24.0, room / most * 0.45, gap * 0.34))
        place: list[tuple[float, float, float]] = []
        for k, layer in enumerate(layers):
            count = layers.count(layer)
            row = k - layers.index(layer)
            y = mid + (row - (count - 1) / 2) * min(room / count, 72)
            place.append((left + gap * layer, y, 16.0 if layer == depth and count == 1 else r))
        columns = self.points.shape[1]
        inputs = [
            (float(left), mid + (c - (columns - 1) / 2) * min(92, room / max(3, columns)), min(r, 18.0))
            for c in range(columns)
        ]
        parts = self._lens(place) if self.plane else []
        parts += self._wires(place, inputs) + self._circles(place, inputs)
        parts.append(_text(left, TOP + 4, "inputs", "w z"))
        for layer in range(1, depth + 1):
            count = layers.count(layer)
            name = "score" if layer == depth and count == 1 else plural(count, "unit")
            parts.append(_text(left + gap * layer, TOP + 4, name, "w z"))
            if layer < depth:
                parts.append(_text(left + gap * layer, self.high - 8, self.units[layers.index(layer)]["act"], "q z"))
        return parts + (self._plane() if self.plane else [])

    def _pictures(self) -> list[str]:
        """The weights of the first layer as pictures, at the beginning, half way and now."""
        units = [u for u in self.units if u["layer"] == 1]
        columns = math.ceil(math.sqrt(len(units)))
        moments = list(dict.fromkeys((0, self.at // 2, self.at)))
        room = (self.width - 36 - 28 * (len(moments) - 1)) / len(moments)
        pitch = min(room / columns, (self.high - TOP - 40) / math.ceil(len(units) / columns))
        parts = []
        for m, k in enumerate(moments):
            weights = self.film.frames[k].weights if k < len(self.film.frames) else self.film.last()
            x = 18 + m * (room + 28) + (room - columns * pitch) / 2
            name = f"step {self.film.frames[k].step}" if k < len(self.film.frames) else "after the last step"
            parts.append(_text(x + columns * pitch / 2, TOP + 6, name, "w z"))
            for i, unit in enumerate(units):
                at = x + (i % columns + 0.5) * pitch, TOP + 24 + (i // columns + 0.5) * pitch
                parts.append(self._weights(unit, *at, pitch * 0.46, weights))
        words = f"the weights of the {len(units)} units in the first layer: green is positive, violet negative"
        return [*parts, _text(self.width / 2, self.high - 10, words, "q z")]

    def _wires(self, place: list, inputs: list) -> list[str]:
        weights = np.asarray(self.weights)
        drawn: list[tuple[float, str]] = []
        for k, u in enumerate(self.units):
            tops = [abs(weights[p]) for v in self.units if v["layer"] == u["layer"] for _, _, p in v["inputs"]]
            top, dense = max([*tops, 0.5]), len(tops) > 100
            for column, unit, p in u["inputs"]:
                if unit < 0 and column >= len(inputs):
                    continue
                (x1, y1, r1), (x2, y2, r2) = place[unit] if unit >= 0 else inputs[column], place[k]
                t = min(1.0, abs(weights[p]) / top) if math.isfinite(weights[p]) else 0.0
                thick = 0.4 + 3.4 * t * t if dense else 0.8 + 5 * t
                strength = (0.25 + 0.65 * t) * ((0.2 + 0.8 * t * t) if dense else 1)
                middle = (x1 + r1 + x2 - r2) / 2
                d = f"M{x1 + r1:.1f} {y1:.1f}C{middle:.1f} {y1:.1f} {middle:.1f} {y2:.1f} {x2 - r2:.1f} {y2:.1f}"
                rail = weights[p] < 0 and thick > 1.6
                kind = "m" if weights[p] < 0 else "p"
                text_ = f'<path class="{kind}" d="{d}" stroke-width="{thick + 1.2 * rail:.1f}" stroke-opacity="{strength:.2f}"/>'
                if rail:
                    text_ += f'<path class="b" d="{d}" stroke-width="{max(0.8, thick - 1.4):.1f}"/>'
                drawn.append((t, text_))
        return [part for _, part in sorted(drawn, key=lambda of: of[0])]

    def _circles(self, place: list, inputs: list) -> list[str]:
        parts = []
        for c, (x, y, r) in enumerate(inputs):
            low, high = (self.box[:2] if c == 0 else self.box[2:]) if self.plane else (0.0, 1.0)
            table = (self.grid[:, c].reshape(HIGH, WIDE) - (low + high) / 2) / (high - low) * 2 if self.plane else None
            parts.append(self._circle(x, y, r, table, 0.5) + _text(x - r - 14, y + 4, f"x{'₁₂₃₄₅₆₇₈₉'[c % 9]}", "w z"))
        for k, (x, y, r) in enumerate(place):
            table = self._map(k) if self.plane else None
            parts.append(self._circle(x, y, r, table, 0.72))
        return parts

    def _map(self, k: int) -> np.ndarray:
        """The map of a unit, scaled by its own maximum, and faint if that is below a third of the layer's; a single output by its sign."""
        layer, shape = self.units[k]["layer"], (HIGH, WIDE)
        if len(self.film.outputs) == 1 and k == len(self.units) - 1:
            return np.tanh((self.sums[k] - self.film.boundary) * 0.9).reshape(shape)
        beside = max(float(np.abs(self.out[i]).max()) for i, v in enumerate(self.units) if v["layer"] == layer)
        top = max(float(np.abs(self.out[k]).max()), 1e-9)
        faint = min(1.0, 0.25 + 0.75 * top / (0.35 * beside or 1.0))
        return self.out[k].reshape(shape) / top * faint

    def _circle(self, x: float, y: float, r: float, table: np.ndarray | None, deep: float) -> str:
        base = f'<circle class="c" cx="{x:.1f}" cy="{y:.1f}" r="{r:.1f}"/>'
        ring = f'<circle class="r" cx="{x:.1f}" cy="{y:.1f}" r="{r:.1f}"/>'
        if table is None:
            return base + ring
        side = (WIDE - HIGH) // 2
        pixels = _signed(table[:, side : side + HIGH], deep)
        v, h = np.mgrid[0:HIGH, 0:HIGH]
        pixels[(v - HIGH / 2 + 0.5) ** 2 + (h - HIGH / 2 + 0.5) ** 2 > (HIGH / 2) ** 2] = 0
        return base + self._image(pixels, x - r, y - r, 2 * r, 2 * r) + ring

    def _weights(self, unit: dict[str, Any], x: float, y: float, r: float, weights: Any) -> str:
        side = math.isqrt(self.points.shape[1])
        table = np.zeros(side * side)
        for column, _, p in unit["inputs"]:
            table[column] = weights[p]
        top = max(float(np.abs(table).max()), 0.2)
        box_ = f'x="{x - r:.1f}" y="{y - r:.1f}" width="{2 * r:.1f}" height="{2 * r:.1f}" rx="3"'
        pixels = positions.repeat(positions.repeat(_signed(table.reshape(side, side) / top, 0.92), 4, 0), 4, 1)
        return (
            f'<rect class="c" {box_}/>' + self._image(pixels, x - r, y - r, 2 * r, 2 * r) + f'<rect class="r" {box_}/>'
        )

    def _image(self, pixels: np.ndarray, x: float, y: float, w: float, h: float) -> str:
        at = f'x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}"'
        return f'<image {at} preserveAspectRatio="none" href="{png_of(pixels)}"/>'

    # The plane

    def _where(self) -> tuple[float, float, float, float]:
        w = self.width * 0.345
        h = w * HIGH / WIDE
        return self.width - w - 16, TOP + (self.high - TOP - 30 - h) / 2, w, h

    def _lens(self, place: list) -> list[str]:
        x, y, w, h = self._where()
        count = len(self.film.outputs)
        (x1, y1, r1), (x2, y2, r2) = place[-count], place[-1]
        corners = [(x1 + r1 * 0.5, y1 - r1 * 0.86), (x + 3, y + 3), (x + 3, y + h - 3), (x2 + r2 * 0.5, y2 + r2 * 0.86)]
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in corners)
        return [f'<polygon class="h" points="{points}"/>']

    def _lines(self, sums: np.ndarray) -> list[np.ndarray]:
        scores = sums[-len(self.film.outputs) :]
        if len(scores) == 1:
            return [scores[0] - self.film.boundary]
        return [s - np.delete(scores, k, 0).max(0) for k, s in enumerate(scores)]

    def _ground(self, sums: np.ndarray, x: float, y: float, w: float, h: float) -> str:
        """The score over the plane, and its boundary."""
        lines = self._lines(sums)
        if len(lines) == 1:
            pixels = _signed(np.tanh(lines[0] * 0.9).reshape(HIGH, WIDE), 0.5)
        else:
            best = np.array(lines).argmax(0)
            strength = np.tanh(np.array(lines).max(0) * 0.6)
            pixels = np.zeros((HIGH, WIDE, 4), np.uint8)
            colours = np.array([_rgb(KINDS[k % 3]) for k in range(len(lines))])
            pixels[..., :3] = colours[best].reshape(HIGH, WIDE, 3)
            pixels[..., 3] = (np.round(strength * 12) / 12 * 0.5 * 255).reshape(HIGH, WIDE)

        frame = f'x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}" rx="{4 if w < 150 else 8}"'
        out = f'<rect class="c" {frame}/>'
        out += self._image(pixels, x, y, w, h)
        thin = ' style="stroke-width:1.1"' if w < 150 else ""
        for line in lines:
            if d := self._path(line, x, y, w, h):
                out += f'<path class="i" d="{d}"{thin}/>'
        return out + f'<rect class="l" {frame}/>'

    @staticmethod
    def _path(line: np.ndarray, x: float, y: float, w: float, h: float) -> str:
        """Where a map over the plane is 0."""

        def spot(c: float, r: float) -> tuple[float, float]:
            return x + (c + 0.5) / WIDE * w, y + (r + 0.5) / HIGH * h

        return _joined(contour(line.reshape(HIGH, WIDE).tolist(), 0.0, spot)) if np.isfinite(line).all() else ""

    def _plane(self) -> list[str]:
        x, y, w, h = self._where()
        parts = [self._ground(self.sums, x, y, w, h)]
        x0, x1, y0, y1 = self.box
        kinds = self.film.classes
        for (px, py), label in zip(self.points.tolist(), self.film.data_of.labels.tolist(), strict=True):  # type: ignore[union-attr]
            kind = kinds.index(label) if label in kinds else 0
            if len(self.film.outputs) == 1 and len(kinds) == 2:
                kind = 1 - kind
            parts.append(_mark(x + (px - x0) / (x1 - x0) * w, y + (y1 - py) / (y1 - y0) * h, kind))
        if self.other:
            name, second = self.other
            weights = second.frames[self.at].weights if self.at < len(second.frames) else second.last()
            for line in self._lines(computed(second, weights, self.grid)[0]):
                parts.append(f'<path class="x" d="{self._path(line, x, y, w, h)}"/>')
            parts.append(_text(x + w / 2, y + h + 38, f"dashed: {name} at this step", "q z"))
        if sides := right(self.film, self.weights):
            parts.append(_text(x + w / 2, y + h + 20, f"{sides[0]} of {sides[1]} points on the right side", "w z"))
        parts.append(_text(x + w / 2, y - 12, "the score over the plane", "q z"))
        return parts

    # The strip

    def _strip(self) -> list[str]:
        film, frames = self.film, self.film.frames
        losses = [f.loss for f in frames]
        known = [v for v in losses if math.isfinite(v)]
        x0, x1, y0, y1 = 62.0, self.width - 18.0, self.high + 64.0, self.high + STRIP - 30.0
        parts = [f'<path class="l" d="M0 {self.high}H{self.width}"/>']
        if not known:
            return [*parts, _text(x0, y1, "no step yet", "q")]
        top = min(max(known), 30 * known[0]) if known[0] > 0 else max(known)
        top = top or 1.0
        span = max(1, len(frames))

        def x(k: float) -> float:
            return x0 + k / span * (x1 - x0)

        def y(v: float) -> float:
            return y1 - min(max(v, 0.0), top) / (top * 1.04) * (y1 - y0)

        if self.plane:
            parts += self._small(x0, x1, span)
        base = 10.0 ** math.floor(math.log10(top))
        by = next((s * base for s in (0.2, 0.5, 1, 2, 5, 10) if top / (s * base) <= 3.2), top / 3)
        for i in range(int(top * 1.02 / by) + 1):
            v = i * by
            parts.append(f'<path class="l" d="M{x0} {y(v):.1f}H{x1}"/>' + _text(x0 - 7, y(v) + 4, number(v, 2), "q e"))
        if self.other:
            dashed = [(k, f.loss) for k, f in enumerate(self.other[1].frames) if math.isfinite(f.loss) and k <= span]
            parts.append(f'<polyline class="x" points="{" ".join(f"{x(k):.1f},{y(v):.1f}" for k, v in dashed)}"/>')
        pieces: list[list[str]] = [[]]
        for k, v in enumerate(losses):
            if math.isfinite(v):
                pieces[-1].append(f"{x(k):.1f},{y(v):.1f}")
            elif pieces[-1]:
                pieces.append([])
        parts += [f'<polyline class="k" points="{" ".join(p)}"/>' for p in pieces if p]
        parts += [f'<path class="k" d="M{x(self.at):.1f} {self.high + 6}V{y1 + 4:.1f}"/>']
        parts.append(_text(x0 - 7, y0 - 12, "loss", "w e") + _text(x0, y1 + 18, "step 1", "q"))
        parts.append(
            _text(x1, y1 + 18, str(film.seen), "q e") + _text((x0 + x1) / 2, y1 + 18, str((film.seen + 1) // 2), "q z")
        )
        return parts

    def _small(self, x0: float, x1: float, span: int) -> list[str]:
        w, h = 46 * WIDE / HIGH, 46.0
        count = int((x1 - x0 + 6) // (w + 6))
        step = (x1 - x0) / count
        parts = []
        for j in range(count):
            k = 0 if j == 0 else round((j + 0.5) / count * span)
            weights = self.film.frames[k].weights if k < len(self.film.frames) else self.film.last()
            sums, _ = computed(self.film, weights, self.grid)
            parts.append(self._ground(sums, x0 + step * (j + 0.5) - w / 2, self.high + 12, w, h))
        return parts


def _mark(x: float, y: float, kind: int) -> str:
    if kind == 0:
        return f'<circle class="k0 o" cx="{x:.1f}" cy="{y:.1f}" r="3.7"/>'
    if kind == 1:
        return f'<path class="k1 o" d="M{x:.1f} {y - 4.6:.1f}l4.3 8h-8.6z"/>'
    return f'<rect class="k{kind % 3} o" x="{x - 3.3:.1f}" y="{y - 3.3:.1f}" width="6.6" height="6.6"/>'
