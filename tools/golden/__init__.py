"""Golden files: texts and pictures of all lessons, graphs and error panels, for a person to review.

    make golden        writes these files again, and a page that shows old beside new: build/golden.html

A file has sections, `== name ==` each. Pictures stand in them as lines of text (`scene`), one for each element, without the style sheet
and with long curves and rows thinned; `picture` makes an SVG of them again. A test calls `check`, which compares, or writes under
`make golden`. `looks/` has small screenshots of the main views, for `look`.
"""

from __future__ import annotations

import difflib
import io
import os
import re
import xml.etree.ElementTree as ET
import zlib
from html import escape, unescape
from itertools import groupby
from pathlib import Path

import numpy as np
from PIL import Image

HERE = Path(__file__).parents[2] / "tests/golden"
WRITE = os.environ.get("MINIGRAD_GOLDEN") == "write"
LONG = 24  # points of a curve, or equal elements in a row; of more than this some are written down, with the checksum of all


def check(file: str, section: str, text: str) -> None:
    """Compare a text with its golden file, or write the file."""
    text = "\n".join(line.rstrip() for line in text.strip().split("\n"))
    assert not re.search(r"^== .* ==$", text, re.M)
    path = HERE / file
    known = read(path.read_text("utf-8")) if path.exists() else {}
    if WRITE:
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join(f"== {k} ==\n{v}\n" for k, v in sorted({**known, section: text}.items())), "utf-8")
        return
    assert section in known, f"{file} has no section {section!r}: run `make golden`, and look at what it shows"
    if known[section] != text:
        change = "\n".join(
            difflib.unified_diff(known[section].split("\n"), text.split("\n"), "as it was", "now", lineterm="", n=1)
        )
        raise AssertionError(
            f"{file}, {section}: if this is meant, run `make golden` and look at build/golden.html\n{change}"
        )


def look(name: str, png: bytes) -> None:
    """Compare a screenshot with its small golden one, or write it. Each machine has its own fonts, so the comparison is of
    the mean colour of cells, eight pixels of the small picture wide and high."""
    path = HERE / "looks" / f"{name}.png"
    now = Image.open(io.BytesIO(png)).convert("RGB")
    if WRITE:
        path.parent.mkdir(exist_ok=True)
        now.resize((320, round(320 * now.height / now.width)), Image.Resampling.BOX).quantize(256).save(
            path, optimize=True
        )
        return
    old = Image.open(path).convert("RGB")
    assert abs(now.height / now.width * old.width / old.height - 1) < 0.06, (
        f"{name} has another form than before: see {path}"
    )
    cells = (old.width // 8, old.height // 8)
    then, here = (np.asarray(x.resize(cells, Image.Resampling.BOX), float) for x in (old, now))
    differs = np.abs(then - here).max(2)
    worst, mean = differs.max(), differs.mean()
    assert worst < 36 and mean < 4, (
        f"{name}: a cell differs by {worst:.0f} of 255, all by {mean:.1f}: if this is meant, run `make golden`"
    )


def read(text: str) -> dict[str, str]:
    """The sections of a file."""
    parts = re.split(r"^== (.*) ==$", text, flags=re.M)[1:]
    return {name: body.strip() for name, body in zip(parts[::2], parts[1::2], strict=True)}


def scene(svg: str) -> str:
    """A picture as text. Each element is a line: tag.class.class key=value … | its text, and its children are indented below."""
    out: list[str] = []
    if svg:
        _lines(ET.fromstring(svg), 0, out)
    return "\n".join(out)


def _lines(e: ET.Element, depth: int, out: list[str]) -> None:
    tag = e.tag.rpartition("}")[2]
    if tag in ("style", "title", "defs", "desc"):
        return
    text = " ".join((e.get("aria-label", "") if tag == "svg" else e.text or "").split())
    head = ".".join([tag, *e.get("class", "").split()])
    said = ("class", "aria-label", "role", "style") if tag == "svg" else ("class",)
    attributes = [_attribute(k.rpartition("}")[2], v) for k, v in e.items() if k not in said]
    out.append(" " * depth + " ".join([head, *attributes]) + (f" | {escape(text, quote=False)}" if text else ""))
    inside: list[list[str]] = []
    for child in e:
        _lines(child, depth + 1, inside_child := [])
        if (child.tail or "").strip():
            inside_child.append(f"{' ' * (depth + 1)}~ {escape(child.tail.strip(), quote=False)}")
        inside.append(inside_child)
    for wordless, row in groupby(inside, lambda lines: len(lines) == 1 and " | " not in lines[0]):
        rows = list(row)
        all_ = [line for lines in rows for line in lines]
        if wordless and len(rows) > LONG:
            some = [line for lines in rows[:: len(rows) // 8] for line in lines]
            all_ = [*some, f"{' ' * (depth + 1)}… {len(rows)} of these #{zlib.crc32(chr(10).join(all_).encode()):08x}"]
        out += all_


def _attribute(key: str, value: str) -> str:
    if key in ("d", "points", "data-points"):
        value = _thin(value)
    return f"{key}={value}" if re.fullmatch(r'[^\s"=|]+', value) else f'{key}="{escape(value)}"'


def _thin(path: str) -> str:
    """A long curve of straight pieces by some of its points, a long row of shapes by some of them."""
    straight = not re.search(r"[^ML\d\s.,e-]", path)
    points = re.findall(r"[ML]?\s*-?[\d.]+[ ,]-?[\d.]+" if straight else r"M[^M]+", path)
    if len(points) <= LONG:
        return path
    some = points[:: len(points) // LONG]
    return f"{' '.join(p.strip() for p in [*some, points[-1]])} #{zlib.crc32(path.encode()):08x}"


def picture(scene: str, style: str = "") -> str:
    """The picture of a scene, nearly as it was: style and arrowheads (`<defs>`) are the caller's to give."""
    out, closing = [], []
    for line in scene.split("\n"):
        depth = len(line) - len(line.lstrip())
        while len(closing) > depth:
            out.append(closing.pop())
        head, _, text = line.strip().partition(" | ")
        if head.startswith("…"):
            continue
        if head.startswith("~"):
            out.append(line.strip()[2:])
            continue
        tag, *classes = head.split(" ")[0].split(".")
        given = "".join(
            f' {k}="{v.strip(chr(34)).split(" #")[0]}"' for k, v in re.findall(r'([\w-]+)=("[^"]*"|\S+)', head)
        )
        space = ' xmlns="http://www.w3.org/2000/svg"' if tag == "svg" else ""
        out.append(f'<{tag}{space} class="{" ".join(classes)}"{given}>{style if tag == "svg" else text}')
        closing.append(f"</{tag}>")
    return "".join(out + closing[::-1])


def words(scene: str) -> list[str]:
    """All texts of a scene, in their order."""
    return [unescape(m[1]) for m in re.finditer(r"^ .* \| (.*)$", scene, re.M)]
