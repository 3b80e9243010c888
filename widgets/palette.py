"""The colours of pictures and controls, each in a light and a dark version: palette.json, and the files generated from it.

`fwd` is the forward pass, `bwd` the backward pass and its gradients, `pos` and `neg` are the signs of numbers; `pos`, `neg`, `good` and
`bad` always come with a sign or a word. Every accent has a contrast of at least 4.5:1 on `bg`.

Python reads LIGHT and DARK. The style sheets have blocks that `write()` makes (`python -m widgets.palette`), because a style sheet also
travels inside of saved pictures. tests/widgets/test_palette.py holds the blocks equal to palette.json and forbids other colours.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

_PAIRS = json.loads((Path(__file__).parent / "palette.json").read_text(encoding="utf-8"))
LIGHT: dict[str, str] = {name: light for name, (light, _) in _PAIRS.items()}
DARK: dict[str, str] = {name: dark for name, (_, dark) in _PAIRS.items()}

FRONT = Path(__file__).parent / "front"
BLOCK = re.compile(r"/\* palette: .*?\*/\n(.*?)/\* end of the palette \*/", re.S)
LESSONS = (
    "bg",
    "panel",
    "ink",
    "soft",
    "line",
    "fwd",
    "fwd-soft",
    "bwd",
    "bwd-soft",
    "bad",
    "bad-soft",
    "good",
    "pos",
    "neg",
)
NOTES = {"s": "soft", "l": "line", "p": "panel", "f": "fwd", "w": "bwd"}  # the short names of note.css
NOT_IN_VIEWS = ("bg", "ink", "panel", "card", "now")  # of these a view takes JupyterLab's, or mixes its own

PAGES = {"on": "bg", "bad": "bad", "good": "good", "code-keyword": "neg", "code-string": "bad", "code-number": "fwd",
         "code-comment": "soft", "code-name": "fwd", "code-operator": "soft"}  # of a page of the book that runs  # fmt: skip


def variables(theme: Mapping[str, str], names: Iterable[str] | Mapping[str, str], prefix: str = "") -> str:
    """CSS declarations of some of a theme's colours; a mapping gives each another name."""
    pairs = names.items() if isinstance(names, Mapping) else ((name, name) for name in names)
    return ";".join(f"--{prefix}{short}:{theme[name]}" for short, name in pairs)


def themed(css: str, light: Mapping[str, str], dark: Mapping[str, str]) -> str:
    """A style sheet with $names of colours, followed by the same for a dark system."""
    names = re.compile(r"\$([a-z-]+)")
    both = (names.sub(lambda m: theme[m[1]], css) for theme in (light, dark))  # noqa: B023
    return "{}@media (prefers-color-scheme:dark){{{}}}".format(*both)


def blocks() -> dict[str, str]:
    """The generated block of each style sheet, by its path in front/."""
    lessons = [variables(theme, LESSONS) for theme in (LIGHT, DARK)]
    notes = [variables(theme, NOTES) for theme in (LIGHT, DARK)]
    dark_page = "body[data-jp-theme-light='false'] {0},body.vscode-dark {0},[data-theme='dark'] {0}"
    views = [n for n in LIGHT if n not in NOT_IN_VIEWS]
    both = ["".join(f"  --mg-{name}: {theme[name]};\n" for name in views) for theme in (LIGHT, DARK)]
    pages = "".join(f"  --mgb-{short}: light-dark({LIGHT[name]}, {DARK[name]});\n" for short, name in PAGES.items())
    return {
        "src/book/bar.css": f"body {{\n{pages}}}\n",
        "lessons.css": f".mgl{{{lessons[0]}}}\n"
        f"@media (prefers-color-scheme:dark){{svg.mgl:root{{{lessons[1]}}}}}\n"
        f"{dark_page.format('.mgl')}{{{lessons[1]}}}\n",
        "note.css": f".mg-note{{{notes[0]}}}\n"
        f"body[data-jp-theme-light=false] .mg-note,body.vscode-dark .mg-note{{{notes[1]}}}\n"
        "@media(prefers-color-scheme:dark){body:not([data-jp-theme-light]):not(.vscode-light) .mg-note{"
        + notes[1]
        + "}}\n",
        "src/instrument.css": f'.mg-instrument {{\n{both[0]}}}\n.mg-instrument[data-mg-theme="dark"] {{\n{both[1]}}}\n',
        "src/graph.css": "".join(
            f"{where}::highlight(minigrad-source) {{\n  background-color: {theme['now']};\n  color: {theme['ink']};\n"
            f"  text-decoration: underline solid {theme['bwd']} 2px;\n{more}}}\n"
            for where, theme, more in (
                ("", LIGHT, "  text-underline-offset: 3px;\n"),
                ('[data-jp-theme-light="false"] ', DARK, ""),
            )
        ),
    }


def write() -> None:
    """Write the blocks into the style sheets."""
    for name, block in blocks().items():
        path = FRONT / name
        text = path.read_text(encoding="utf-8")
        (old,) = BLOCK.findall(text)
        path.write_text(text.replace(old, block), encoding="utf-8")


if __name__ == "__main__":
    write()
