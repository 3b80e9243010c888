"""The view as a file for slides and papers: PNG of a step, GIF or APNG of the whole run, Graphviz source.

What lives here: a small painter for the static twin's own SVG (static.py; no other SVG), and what is made of its pictures. What does not:
drawing the picture (static.py), the page that still steps (static.page). The painter is matplotlib's Agg with its own fonts, so a picture
needs no browser and is the same on every machine.
"""
from __future__ import annotations

import io
import math
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from functools import cache, partial
from typing import Any

from minigrad.tracing.trace import Trace, fmt

from . import static
from .heat import shape_text
from .layout import Picture, computes

FRAMES = 240  # a run with more events than this shows every second, third, ... of them
SECONDS, LAST = 0.8, 3.0  # how long a frame stands, and the last one
WIDEST = 8000  # pixels


# --- the painter --------------------------------------------------------------------------------------------------------------------


@cache
def _sheet(sheet: str, dark: bool) -> list[tuple[list[str], dict[str, str]]]:
    """A picture's style sheet: (selectors, properties) in order; the dark rules last."""
    light, _, night = sheet.partition("@media (prefers-color-scheme:dark){")
    found = re.findall(r"([^{}]+)\{([^{}]*)\}", light + (night if dark else ""))
    return [(names.split(","), dict(p.split(":", 1) for p in body.split(";") if p)) for names, body in found]


@cache
def _style(tag: str, classes: str, own: str, dark: bool, sheet: str = static.STYLE) -> dict[str, str]:
    """What a browser's cascade gives to an element of this class list; `own` is its style attribute."""
    out: dict[str, str] = {}
    for by_class in (False, True):
        for names, body in _sheet(sheet, dark):
            if any((name[1:] in classes.split()) if name[0] == "." else (name == tag) for name in names) and (
                any(name[0] == "." for name in names) == by_class
            ):
                out |= body
                if "font" in body:
                    size, family = re.match(r"([\d.]+px) (.*)", body["font"]).groups()  # type: ignore[union-attr]
                    out |= {"font-size": size, "font-family": family}
    return out | dict(p.split(":", 1) for p in own.split(";") if p)


def _path(d: str) -> tuple[list[tuple[float, float]], list[int]]:
    """SVG path data as matplotlib's vertices and codes; only the commands that the static twin writes."""
    points: list[tuple[float, float]] = []
    codes: list[int] = []
    x = y = 0.0
    for command, rest in re.findall(r"([MClhvHz])([^MClhvHz]*)", d):
        n = [float(t) for t in re.findall(r"-?[\d.]+(?:e-?\d+)?", rest)]
        if command == "C":
            for k in range(0, len(n), 2):
                points.append((n[k], n[k + 1]))
                codes.append(4)
            x, y = points[-1]
        elif command == "z":
            points.append((x, y))
            codes.append(79)
        else:
            step = {"M": lambda n, x, y: (n[0], n[1]), "l": lambda n, x, y: (x + n[0], y + n[1]), "h": lambda n, x, y: (x + n[0], y),
                    "v": lambda n, x, y: (x, y + n[0]), "H": lambda n, x, y: (n[0], y)}[command]  # fmt: skip
            x, y = step(n, x, y)
            points.append((x, y))
            codes.append(1 if command == "M" else 2)
    return points, codes


def _rounded(x: float, y: float, w: float, h: float, r: float) -> str:
    k = 0.4477 * r  # how far a circle's control points stand from the corner
    return (f"M{x + r} {y}H{x + w - r}C{x + w - k} {y} {x + w} {y + k} {x + w} {y + r}v{h - 2 * r}"
            f"C{x + w} {y + h - k} {x + w - k} {y + h} {x + w - r} {y + h}H{x + r}C{x + k} {y + h} {x} {y + h - k} {x} {y + h - r}"
            f"v{2 * r - h}C{x} {y + k} {x + k} {y} {x + r} {y}z")  # fmt: skip


class Painter:
    """One SVG of the static twin on a canvas of pixels."""

    def __init__(self, svg: str, scale: float = 2.0, dark: bool = False):
        from matplotlib.backends.backend_agg import RendererAgg
        from matplotlib.transforms import Affine2D

        root = ElementTree.fromstring(svg)
        self.width, self.height = (float(root.get(key, "0")) for key in ("width", "height"))
        self.scale = scale = min(scale, WIDEST / max(self.width, self.height))
        self.dark = dark
        self.sheet = next((e.text or "" for e in root if e.tag.endswith("style")), static.STYLE)
        self.canvas: Any = RendererAgg(math.ceil(self.width * scale), math.ceil(self.height * scale), 72 * scale)
        self.flip = Affine2D().scale(scale, -scale).translate(0, math.ceil(self.height * scale))
        self._draw(root, 0.0, 0.0)

    def image(self):
        """The picture as a Pillow image."""
        from PIL import Image

        return Image.frombuffer("RGBA", self.canvas.buffer_rgba().shape[1::-1], bytes(self.canvas.buffer_rgba()), "raw", "RGBA", 0, 1)

    def _draw(self, element, dx: float, dy: float) -> None:
        for e in element:
            tag = e.tag.split("}")[-1]
            if tag == "g":
                x, y = (float(t) for t in re.findall(r"-?[\d.]+", e.get("transform", "translate(0,0)")))
                self._draw(e, dx + x, dy + y)
            elif tag == "rect":
                x, y, w, h, r = (float(e.get(key, "0")) for key in ("x", "y", "width", "height", "rx"))
                self._shape(e, tag, _rounded(x + dx, y + dy, w, h, min(r, w / 2, h / 2)), 0, 0)
            elif tag == "circle":
                r = float(e.get("r", "0"))
                self._shape(e, tag, _rounded(dx - r, dy - r, 2 * r, 2 * r, r), 0, 0)
            elif tag == "path":
                self._shape(e, tag, e.get("d", ""), dx, dy)
            elif tag == "text" and e.text:
                self._text(e, dx, dy)

    def _shape(self, e, tag: str, d: str, dx: float, dy: float) -> None:
        from matplotlib.colors import to_rgba
        from matplotlib.path import Path
        from matplotlib.transforms import Affine2D

        points, codes = _path(d)
        style = _style(tag, e.get("class", ""), e.get("style", ""), self.dark, self.sheet)
        if not points:
            return
        gc = self.canvas.new_gc()
        stroke = style.get("stroke", "none")
        seen = None if stroke == "none" else float(e.get("stroke-opacity", "1"))
        gc.set_foreground(to_rgba("none" if stroke == "none" else stroke, seen), isRGBA=True)
        wide = style.get("stroke-width") or e.get("stroke-width", "1")
        gc.set_linewidth(float(wide.removesuffix("px")) if stroke != "none" else 0)
        dashes = e.get("stroke-dasharray") or style.get("stroke-dasharray", "none")
        if dashes != "none":
            gc.set_dashes(0, [float(t) for t in dashes.split()])
        fill = style.get("fill", "#000")
        face = None if fill == "none" else to_rgba(fill, float(e.get("fill-opacity", "1")))
        self.canvas.draw_path(gc, Path(points, codes), Affine2D().translate(dx, dy) + self.flip, face)
        gc.restore()

    def _text(self, e, dx: float, dy: float) -> None:
        from matplotlib.colors import to_rgba
        from matplotlib.font_manager import FontProperties

        style = _style("text", e.get("class", ""), e.get("style", ""), self.dark, self.sheet)
        family = "DejaVu Sans Mono" if "monospace" in style.get("font-family", "") else "DejaVu Sans"
        weight = "bold" if int(style.get("font-weight", "400")) >= 600 else "normal"
        prop = FontProperties(family=family, weight=weight, size=float(style["font-size"].removesuffix("px")))
        width, _, _ = self.canvas.get_text_width_height_descent(e.text, prop, False)
        x, y = (float(e.get("x", "0")) + dx) * self.scale, (float(e.get("y", "0")) + dy) * self.scale
        x -= {"end": width, "middle": width / 2}.get(style.get("text-anchor", "start"), 0.0)
        gc = self.canvas.new_gc()
        gc.set_foreground(to_rgba(style.get("fill", "#000")), isRGBA=True)
        self.canvas.draw_text(gc, round(x), round(y), e.text, prop, 0)
        gc.restore()


# --- files --------------------------------------------------------------------------------------------------------------------------


def png(svg: str, scale: float = 2.0, dark: bool = False) -> bytes:
    """One picture, for print by default at twice the size of the screen's."""
    out = io.BytesIO()
    Painter(svg, scale, dark).image().save(out, "PNG")
    return out.getvalue()


Draw = Callable[..., str]  # the picture after some events; `least`: pixels wide at least, `lines`: of words below it, at least


def drawing(trace: Trace, picture: Picture) -> Draw:
    """How the graph of a trace is drawn after some events."""
    return partial(static.svg, trace, picture)


def animation(draw: Draw, total: int, kind: str, dark: bool = False, scale: float = 1.0) -> bytes:
    """The whole run, from nothing known to every gradient, as "gif" or "apng". total: how many events it has."""
    stride = max(1, math.ceil(total / FRAMES))
    steps = sorted({*range(0, total, stride), total})
    drawn = [draw(k) for k in steps]
    widest = max(int(re.search(r'width="(\d+)"', text)[1]) for text in drawn)  # type: ignore[index]
    lines = max(draw(k, least=widest).count('class="q"') for k in steps)
    images = [Painter(draw(k, least=widest, lines=lines), scale, dark).image() for k in steps]
    times = [round(1000 * SECONDS)] * (len(images) - 1) + [round(1000 * LAST)]
    out = io.BytesIO()
    if kind == "gif":
        from PIL import Image

        ground = _style("rect", "g", "", dark)["fill"]  # a GIF is not half transparent: the rounded corners stand on the card's colour
        whole = [Image.alpha_composite(Image.new("RGBA", image.size, ground), image) for image in images]
        first, *rest = [image.convert("RGB").quantize(128, dither=Image.Dither.NONE) for image in whole]
        first.save(out, "GIF", save_all=True, append_images=rest, duration=times, loop=0)
    else:
        images[0].save(out, "PNG", save_all=True, append_images=images[1:], duration=times, loop=0)
    return out.getvalue()


def dot(trace: Trace) -> str:
    """Graphviz source of the graph, with values and gradients: what `dot -Tpdf` draws."""

    def quoted(text: str) -> str:
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'

    lines = ["digraph computation {", "  rankdir=LR;", '  node [shape=box, style=rounded, fontname="Helvetica", fontsize=11];',
             '  edge [fontname="Helvetica", fontsize=9];', f"  label={quoted(trace['title'])};"]  # fmt: skip
    for n in trace["nodes"]:
        text = n["label"] if n["kind"] == "constant" else f"{n['label']}\n{computes(n)}"
        if "shape" in n and n["shape"]:
            text += f"\n{shape_text(n['shape'])}"
        elif n["kind"] != "fold" and n["value"] != "not kept" and not (isinstance(n["value"], str) and "(" in n["value"]):
            text += f"\nvalue {fmt(n['value'])}" + ("" if n["grad"] is None else f"\ngrad {fmt(n['grad'])}")
        extra = ', style="rounded,dashed"' if n["kind"] == "constant" else ", peripheries=2" if n["kind"] == "fold" else ""
        lines.append(f"  n{n['id']} [label={quoted(text)}{extra}];")
    for e in trace["edges"]:
        kind = "" if e["carries_grad"] else ", style=dashed"
        text = f"× {fmt(e['local'])}" if e["local"] is not None and e["carries_grad"] and not e.get("amount") else ""
        lines.append(f"  n{e['source']} -> n{e['target']} [label={quoted(text)}{kind}];")
    return "\n".join([*lines, "}", ""])
