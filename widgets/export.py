"""The view as a file for slides and papers: PNG of a step, GIF or APNG of the whole run, Graphviz source.

What lives here: how an SVG becomes pixels, and what is made of such pictures. What does not: drawing the picture (static.py), the page that
still steps (static.page). resvg renders, with the fonts that matplotlib brings, so a picture needs no browser and is the same on every
machine.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from minigrad.tracing.trace import Trace, fmt

from . import static
from .heat import shape_text
from .layout import Picture, computes

if TYPE_CHECKING:
    from PIL.Image import Image

FRAMES = 240  # a run with more events than this shows every second, third, ... of them
SECONDS, LAST = 0.8, 3.0  # how long a frame stands, and the last one
WIDEST = 8000  # pixels
NIGHT = "@media (prefers-color-scheme:dark){"


@cache
def _fonts() -> list[str]:
    """The four fonts of the pictures. Only they are loaded: a machine's own would make its pictures unlike all others."""
    from matplotlib import get_data_path

    names = ("DejaVuSans", "DejaVuSans-Bold", "DejaVuSansMono", "DejaVuSansMono-Bold")
    return [str(Path(get_data_path(), "fonts", "ttf", f"{name}.ttf")) for name in names]


def _themed(svg: str, dark: bool) -> str:
    """The picture in one theme. resvg ignores media queries, so the rules for dark mode are removed, or made unconditional."""
    before, _, rest = svg.partition(NIGHT)
    night, close, after = rest.partition("}</style>")
    return before + (night if dark else "") + close.removeprefix("}") + after


def png(svg: str, scale: float = 2.0, dark: bool = False) -> bytes:
    """One picture, for print by default at twice the size of the screen's."""
    try:
        from resvg_py import svg_to_bytes
    except ImportError as error:  # in a browser's Python
        raise RuntimeError("The package that turns drawings into pixels (resvg-py) does not exist for this Python, so PNG, GIF and APNG "
                           "cannot be written here. Save the drawing itself: view.save('graph.svg').") from error  # fmt: skip
    size = re.match(r'<svg [^>]*?width="([\d.]+)" height="([\d.]+)"', svg)
    longest = max(map(float, size.groups())) if size else WIDEST / scale
    return bytes(svg_to_bytes(_themed(svg, dark), zoom=min(scale, WIDEST / longest), skip_system_fonts=True, font_files=_fonts(),
                              font_family="DejaVu Sans", sans_serif_family="DejaVu Sans", monospace_family="DejaVu Sans Mono"))  # fmt: skip


def _image(svg: str, scale: float, dark: bool) -> Image:
    from PIL import Image

    return Image.open(io.BytesIO(png(svg, scale, dark))).convert("RGBA")


# The picture after some events; `least`: pixels wide at least, `lines`: of words below it, at least
Draw = Callable[..., str]


def drawing(trace: Trace, picture: Picture, result: str, width: float, visible: Trace) -> Draw:
    """How the graph of a trace is drawn after some events of `shown`, which may have more cards, and so more events. result: its name."""

    def draw(step: int | None = None, **options: Any) -> str:
        at = step if step is None or trace is visible else _same_moment(visible, trace, step)
        return static.svg(trace, picture, at, width=width, result=result, **options)

    return draw


def _same_moment(visible: Trace, trace: Trace, step: int) -> int:
    """The event of a trace that is as far through its forward or backward pass."""
    (forward, total), (ahead, end) = (
        (sum(e["phase"] == "forward" for e in t["steps"]), len(t["steps"])) for t in (visible, trace)
    )
    if step <= forward:
        return round(ahead * step / max(1, forward))
    return ahead + math.ceil((end - ahead) * (min(step, total) - forward) / (total - forward))


def animation(draw: Draw, steps: Sequence[int], kind: str, dark: bool = False, scale: float = 1.0) -> bytes:
    """The whole run, from nothing known to every gradient, as "gif" or "apng". steps: after how many events there may be a picture."""
    stride = max(1, math.ceil((len(steps) - 1) / FRAMES))
    steps = sorted({*steps[:-1:stride], steps[-1]})
    drawn = [draw(k) for k in steps]
    widest = max(int(re.search(r'width="(\d+)"', text)[1]) for text in drawn)  # type: ignore[index]
    lines = max(draw(k, least=widest).count('class="q"') for k in steps)
    images = [_image(draw(k, least=widest, lines=lines), scale, dark) for k in steps]
    times = [round(1000 * SECONDS)] * (len(images) - 1) + [round(1000 * LAST)]
    out = io.BytesIO()
    if kind == "gif":
        from PIL import Image

        # A GIF is not half transparent: the rounded corners stand on the card's colour, which is that of the top edge's middle.
        ground = images[0].getpixel((images[0].width // 2, 3))
        full = [Image.alpha_composite(Image.new("RGBA", image.size, ground), image) for image in images]
        first, *rest = [image.convert("RGB").quantize(128, dither=Image.Dither.NONE) for image in full]
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
        elif (
            n["kind"] != "fold" and n["value"] != "not kept" and not (isinstance(n["value"], str) and "(" in n["value"])
        ):
            text += f"\nvalue {fmt(n['value'])}" + ("" if n["grad"] is None else f"\ngrad {fmt(n['grad'])}")
        extra = (
            ', style="rounded,dashed"' if n["kind"] == "constant" else ", peripheries=2" if n["kind"] == "fold" else ""
        )
        lines.append(f"  n{n['id']} [label={quoted(text)}{extra}];")
    for e in trace["edges"]:
        kind = "" if e["carries_grad"] else ", style=dashed"
        text = f"× {fmt(e['local'])}" if e["local"] is not None and e["carries_grad"] and not e.get("amount") else ""
        lines.append(f"  n{e['source']} -> n{e['target']} [label={quoted(text)}{kind}];")
    return "\n".join([*lines, "}", ""])
