"""What Colab and VS Code ask of a view, checked on what is sent to them: nothing from outside, a ground of its own, small.

What lives here: rules that can be read off the module, the style sheet and the state. What does not: JupyterLab and Notebook 7, which are
driven in a browser (tests/browser/).
"""

import gzip
import json
import re
from pathlib import Path

from minigrad import Value
from widgets import graph
from widgets.front_end import built, packed

FRONT = Path(__file__).parents[2] / "widgets" / "front"
MODULE, LOADER = built("views.js"), built("loader.js")
CSS = "".join((FRONT / "src" / f"{name}.css").read_text("utf-8") for name in ("instrument", "graph", "lesson"))
SOURCE = "".join(path.read_text("utf-8") for path in sorted((FRONT / "src").rglob("*.js")) if path.name != "lesson.js")
LANGUAGES = ("http://www.w3.org/2000/svg", "http://www.w3.org/1998/Math/MathML")  # names of languages, not addresses


def test_nothing_comes_from_outside():
    for text in (MODULE, LOADER):
        for name in LANGUAGES:
            text = text.replace(name, "")
        assert not re.search(
            r"https?:|//cdn|fetch\(|XMLHttpRequest|WebSocket|importScripts|document\.cookie|localStorage", text
        )
        assert not re.search(r"^\s*import\s", text, flags=re.M), "a module of one piece"
    assert not re.search(r"@import|url\(|@font-face", CSS)


def test_the_module_travels_packed():
    assert gzip.decompress(packed("views.js")).decode() == MODULE
    assert packed("views.js") == packed.__wrapped__("views.js"), "the same bytes every time"


def test_it_brings_its_own_ground_and_colours():
    """VS Code shows outputs on white whatever its theme; Colab has no variables at all: every variable has a fallback."""
    ground = re.search(r"--mg-bg: ([^;]+);", CSS)[1]
    assert "--jp-" in ground and "--vscode-" in ground and ground.rstrip(")").endswith("Canvas")
    assert re.search(r"\.mg-instrument \{[^}]*background: var\(--mg-bg\);\s*color: var\(--mg-ink\)", CSS)
    for use in re.findall(r"var\((--(?:jp|vscode)[\w-]+)([,)])", CSS):
        assert use[1] == ",", f"{use[0]} has no fallback"
    own = set(re.findall(r"(--mg-[\w-]+):", CSS)) | {
        "--at",
        "--names",
        "--mg-foot",
    }  # the last is the book's bar at the foot
    assert set(re.findall(r"var\((--mg-[\w-]+)", CSS)) <= own


def test_styles_stay_inside_the_view():
    plain = re.sub(r"/\*.*?\*/", "", CSS, flags=re.S)
    for selector in re.findall(r"(?:^|[}{;])\s*([^{}@;]+)\{", plain):
        for one in re.sub(r"\([^()]*\)", "", selector).split(","):
            ours = ".mg-" in one or "::highlight" in one or ":has(.mg-" in selector  # an output that holds a view
            assert not one.strip() or ours, f"{one.strip()!r} would style the host's page"
    # The one mark in the notebook's own cells, which is ours
    assert {*re.findall(r"::highlight\((.*?)\)", plain)} == {"minigrad-source"}


def test_the_state_is_what_every_host_can_carry():
    x = Value(1.0)
    view = graph((3 * x + 2) ** 2, names={"x": x})
    state = view.get_state()
    binary = {k for k, v in state.items() if isinstance(v, (bytes, memoryview))}
    assert binary == {"trace", "picture"}
    json.dumps({k: v for k, v in state.items() if k not in binary | {"sweeps"}}, allow_nan=False)
    assert json.loads(state["trace"])["nodes"] and state["front"].startswith("IPY_MODEL_")
    for sweep in state["sweeps"]:
        assert isinstance(sweep["table"], bytes)
    assert not {"log", "comm", "keys", "tabbable", "tooltip"} & {
        name for name in view.traits(sync=True) if name in vars(type(view))
    }


def test_no_button_or_key_of_the_view_is_without_a_name():
    assert SOURCE.count('"aria-label"') > 12 and "data-lm-suppress-shortcuts" in SOURCE
    made = re.findall(r'h\(\s*"(?:input|select)", (\{(?:[^{}]|\{[^}]*\})*\}|\w+)', SOURCE)
    assert len(made) >= 5
    for what in made:  # the attributes, or the name of the constant that holds them
        assert "aria-label" in (what if what[0] == "{" else re.search(rf"const {what} = ([^;]*);", SOURCE)[1]), what
