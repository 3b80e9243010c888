"""One palette: what is drawn live, stored, in lessons, in cards and in notebooks has the colours of palette.json, and no others.

What lives here: the style sheets' generated blocks, a search for other colours, and their contrast. What does not: who uses which colour.
"""

import json
import re
from pathlib import Path

import pytest

from widgets import palette

ROOT = Path(__file__).parents[2]
WIDGETS = ROOT / "widgets"
SOURCES = sorted(
    p for end in ("py", "css", "js") for p in WIDGETS.rglob(f"*.{end}") if not {"dist", "node_modules"} & {*p.parts}
)
HEX = re.compile(r"#[0-9a-fA-F]{3,8}\b")
IN_SCRIPT = re.compile(r"""["'`:]\s*(#[0-9a-fA-F]{3,8})\b""")  # elsewhere it is the name of a private field
MATPLOTLIBS = WIDGETS / "plots.py"  # names matplotlib's own colours, which it replaces
JUPYTERS = {"#2e7d32", "#b26a00", "#1976d2"}  # of a check's card, where JupyterLab's variables are not defined


def colours_in(path):
    text = path.read_text(encoding="utf-8")
    return (IN_SCRIPT if path.suffix == ".js" else HEX).findall(palette.BLOCK.sub("", text))


def test_the_style_sheets_have_the_palettes_blocks():
    """After a change in palette.json: `python -m widgets.palette`, `npm run build` in widgets/front, `make store`, `make golden`."""
    for name, block in palette.blocks().items():
        assert palette.BLOCK.findall((palette.FRONT / name).read_text(encoding="utf-8")) == [block], name


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(WIDGETS)))
def test_no_other_colour_is_written(path):
    assert path == MATPLOTLIBS or colours_in(path) == []


def test_the_search_sees_a_colour(tmp_path):
    for name, text in (("a.py", 'FILL = "#ad4301"'), ("a.css", ".a{fill:#fff}"), ("a.js", 'const c = "#ad4300";')):
        (tmp_path / name).write_text(text)
        assert len(colours_in(tmp_path / name)) == 1
    (tmp_path / "b.js").write_text("  #face = null;\n  this.#face = 1;")
    assert colours_in(tmp_path / "b.js") == []


def test_stored_pictures_have_no_other_colours():
    allowed = {*palette.LIGHT.values(), *palette.DARK.values(), *JUPYTERS}
    found = {}
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            for output in cell.get("outputs", ()):
                html = "".join(output.get("data", {}).get("text/html", ""))
                for colour in re.findall(r"(?:#|%23)([0-9a-f]{6})\b", html):
                    found.setdefault("#" + colour, path.name)
    assert palette.LIGHT["bwd"] in found
    assert {colour: where for colour, where in found.items() if colour not in allowed} == {}


def luminance(colour):
    """Relative luminance, as in WCAG 2.2."""
    parts = (int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5))
    r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


@pytest.mark.parametrize("theme", ["LIGHT", "DARK"])
@pytest.mark.parametrize("name", ["ink", "soft", "faint", "fwd", "bwd", "bad", "good", "pos", "neg"])
def test_words_can_be_read_on_every_ground(theme, name):
    colours = getattr(palette, theme)
    for ground in ("bg", "card", "panel"):
        light, dark = sorted((luminance(colours[name]), luminance(colours[ground])), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, ground
