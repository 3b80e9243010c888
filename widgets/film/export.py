"""A film as a file: one HTML page that plays without Python, a GIF, a poster."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Sequence
from html import escape
from pathlib import Path

from minigrad.film import Film

from ..export import png
from ..front_end import built
from .picture import svg, text

FRAMES = 40  # of a GIF
MOST = 115_000  # weights of all frames in a page, so that it stays below 500 kB
DELAY, LAST = 90, 2200  # milliseconds of a frame, and of the last one
SCALE = 0.8  # of the pictures in a GIF


def page(films: Sequence[dict], title: str, words: str) -> str:
    """The page: the films as JSON, and the script and the style sheet of a film alone. words: what a page without scripts shows."""
    data = json.dumps(films, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")
    parts = {
        "TITLE": escape(title),
        "CSS": built("film.css"),
        "MODULE": built("film.js"),
        "DATA": data,
        "WORDS": escape(words),
    }
    return re.sub("%(TITLE|CSS|MODULE|DATA|WORDS)%", lambda place: parts[place[1]], PAGE)


PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>%TITLE%</title>
<style>
body { margin: 20px auto; max-width: 1240px; padding: 0 16px; font-family: system-ui, sans-serif; }
@media (max-width: 700px) { body { margin: 8px auto; padding: 0 8px; } }
%CSS%
</style>
<main><section id="film"></section></main>
<noscript><p>%WORDS%</p></noscript>
<script type="application/json" id="films">%DATA%</script>
<script>
%MODULE%
</script>
</html>
"""


def gif(film: Film, dark: bool = False) -> bytes:
    """The run as a GIF, with more frames at the beginning, where most is learnt."""
    from PIL import Image

    last = len(film.frames)
    moments = sorted({round(last * (i / FRAMES) ** 1.5) for i in range(FRAMES + 1)})
    drawn = [Image.open(io.BytesIO(png(svg(film, k), SCALE, dark))).convert("RGBA") for k in moments]
    # A GIF is not half transparent
    ground = Image.new("RGBA", drawn[0].size, drawn[0].getpixel((drawn[0].width // 2, 3)))
    images = [Image.alpha_composite(ground, image).convert("RGB") for image in drawn]
    palette = images[-1].quantize(96, dither=Image.Dither.NONE)
    first, *rest = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images]
    out = io.BytesIO()
    first.save(
        out, "GIF", save_all=True, append_images=rest, duration=[DELAY] * len(rest) + [LAST], loop=0, optimize=True
    )
    return out.getvalue()


def save(film: Film, films: Sequence[dict], path: str | Path, dark: bool = False) -> Path:
    """Write a film in the format of the suffix: .html, .gif, .png (the picture after the last step) or .svg."""
    path = Path(path)
    kind = path.suffix.lower()
    if kind == ".html":
        path.write_text(page(films, str(films[0]["name"]), text(film)), encoding="utf-8")
    elif kind == ".gif":
        path.write_bytes(gif(film, dark))
    elif kind == ".png":
        path.write_bytes(png(svg(film), 2.0, dark))
    elif kind == ".svg":
        path.write_text(svg(film), encoding="utf-8")
    else:
        raise ValueError(f"a film is saved as .html, .gif, .png or .svg, and {path.name!r} ends otherwise")
    return path
