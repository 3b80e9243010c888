"""What a chapter shows, in every state that its controls can reach, so that a page can show it without Python.

`install(folder)` runs in the kernel before a chapter does. What a cell shows then carries one more representation, text/html, which names a
file in `folder`. What lives here: moving the real lesson by its own controls and noting what it shows. What does not: playing that back
(widgets/front/src/page.js). No lesson knows of the book.
"""

from __future__ import annotations

import base64
import itertools
import json
import math
import re
import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2b
from pathlib import Path
from typing import Any

import ipywidgets

from widgets.contract import sent
from widgets.graph import GraphView
from widgets.lessons.kit import LessonView, Moments, Slider
from widgets.view.files import STATE

STATES, SECONDS = 1200, 15.0  # of one lesson; its sliders are thinned to the finest grid with no more states
GRIDS = (201, 101, 61, 41, 31, 21, 15, 11, 9, 7, 5, 3)
EXACT = 41  # a slider with so few places is never thinned


def install(folder: str) -> None:
    """From now on, what a cell shows is written to `folder` too, and its output names the file."""
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    ipywidgets.Widget.send_state = lambda *args, **kwargs: None  # nobody listens

    def add(cls, record):
        shown = cls._repr_mimebundle_

        def bundle(self, **kwargs):
            found = shown(self, **kwargs)
            data, more = found if isinstance(found, tuple) else (found or {}, {})
            key = ""
            with ThreadPoolExecutor(1) as apart:  # where an event loop runs, lessons put their work off
                held = apart.submit(record, self).result()
            if held is not None:
                key = write(held, target)
            return {**data, "text/html": key}, more

        cls._repr_mimebundle_ = bundle

    add(LessonView, lesson)
    add(GraphView, graph)


def write(held: dict[str, Any], folder: Path) -> str:
    """Write a recording as a script. Returns the name under which a page asks for it."""
    raw = json.dumps(_plain(held), ensure_ascii=False, separators=(",", ":")).encode()
    key = blake2b(raw, digest_size=6).hexdigest()
    (folder / f"{key}.js").write_text(f'mgBook("{key}","{base64.b64encode(zlib.compress(raw, 9)).decode()}")')
    return key


def graph(view: GraphView) -> dict[str, Any]:
    return {"part": "graph", "state": _state(view)}


def _state(view: GraphView) -> dict[str, Any]:
    return {name: getattr(view, name) for name in STATE} | {"trace": sent(view.trace), "standalone": True}


def lesson(view: LessonView) -> dict[str, Any] | None:
    """The table of a lesson (see page.js); None if nothing in it can be moved."""
    if not view.figure.controls() and not any(True for _ in view.figure.actions()) and not view.children:
        return None
    table = Table(view)
    table.fill()
    return {"part": "lesson", "kind": "mg-" + type(view.figure).__name__.replace("_", "-"), "table": table.packed()}


class Table:
    """The states of a lesson. A state is named by what the browser would send for each of its controls; a second one with the same
    controls and another picture, by a number behind that.

    Buttons, and moves that change other controls, too, lead where they lead: `moves` has what cannot be told from the name."""

    def __init__(self, view: LessonView):
        self.view = view
        self.scenes: list[dict[str, Any]] = []
        self.at: dict[str, int] = {}  # name of a state: its scene
        self.moves: dict[str, dict[str, list]] = {}  # state: {control or button: [[place, state], ...]}
        self.svgs: dict[str, int] = {}
        self.children: dict[str, dict[str, Any]] = {}
        self.figures: dict[str, Any] = {}
        self.seen: dict[str, dict[str, Any]] = {}

    def fill(self) -> None:
        before, self.begun = self.view.figure, time.process_time()
        try:
            self.start, grid = self._note(before), self._grid()
            queue = [self.start]
            for key in queue:  # grows
                if self._late():
                    break
                known = len(self.at)
                self._moves_from(key, grid)
                queue += list(self.at)[known:]
        finally:
            self.view.figure = before
            before.view = self.view

    def _late(self) -> bool:
        """Enough? A graph view below the picture makes each state ten times as heavy."""
        return len(self.at) >= STATES / (10 if self.children else 1) or time.process_time() - self.begun > SECONDS

    def _moves_from(self, key: str, grid: int) -> None:
        figure, places = self.figures[key], json.loads(key.partition("\n")[0])
        remembers = any(True for _ in figure.actions())  # then equal controls may show different things
        for i, control in enumerate(figure.controls()):
            for place in self._places(control, figure, grid):
                plain = json.dumps([*places[:i], place, *places[i + 1 :]])
                if place != places[i] and (remembers or plain not in self.at) and not self._late():
                    self._move(key, figure, control.name, place, {"set": control.name, "value": place}, plain)
        for name in [*(name for name, button in figure.actions() if button["when"](figure)), *figure.presets]:
            self._move(key, figure, name, 0, {"press": name}, None)

    def _move(self, key: str, figure: Any, name: str, place: Any, message: dict[str, Any], plain: str | None) -> None:
        self.view.figure = figure
        self.view._on_message(None, message, None)
        if self.view.scene["mood"] == "bad" and self.view.figure is figure:  # refused
            return
        if (to := self._note(self.view.figure)) != plain:
            self.moves.setdefault(key, {}).setdefault(name, []).append([place, to])

    def _note(self, figure: Any) -> str:
        self.view.figure = figure
        scene = {**self.view._scene(), "answers": 0}
        name = key = json.dumps([_placed(control, figure) for control in figure.controls()])
        for again in itertools.count(1):
            if key not in self.at:
                break
            if scene == self.seen[key]:
                return key
            key = f"{name}\n{again}"
        self.seen[key] = scene
        below = []
        for child in figure.below():
            if isinstance(child, GraphView):
                state = _state(child)
                child_name = blake2b(json.dumps(_plain(state)).encode(), digest_size=6).hexdigest()
                self.children[child_name] = state
                below.append(child_name)
        self.at[key] = len(self.scenes)
        self.scenes.append({**scene, "svg": self.svgs.setdefault(scene["svg"], len(self.svgs)), "below": below})
        self.figures[key] = figure
        return key

    def _places(self, control: Any, figure: Any, grid: int) -> list[Any]:
        """What the browser would send for the places of a control that the book has."""
        now = control.get(figure)
        if not hasattr(control, "places") or (figure.film and isinstance(control, Moments)):  # a film brings all its moments
            return []
        spec = control.spec(now)
        if control.kind == "toggle":
            return [False, True]
        if control.kind == "choice":
            return list(range(len(spec["texts"])))
        count = round((spec["max"] - spec["min"]) / spec["step"])
        stride = 1 if count < EXACT or not isinstance(control, Slider) else max(1, math.ceil(count / (grid - 1)))
        begin = round((spec["value"] - spec["min"]) / spec["step"]) % stride
        kept = sorted({*range(begin, count + 1, stride), 0, count})
        return [_round(spec["min"] + k * spec["step"]) for k in kept]

    def _grid(self) -> int:
        """The finest grid for the sliders with which there are not too many states."""
        figure = self.view.figure
        sizes = lambda grid: [max(1, len(self._places(control, figure, grid))) for control in figure.controls()]  # noqa: E731
        return next((grid for grid in GRIDS if math.prod(sizes(grid)) <= STATES), GRIDS[-1])

    def packed(self) -> dict[str, Any]:
        pieces: dict[str, int] = {}
        rows: list[list[int]] = []
        pictures = []
        for svg in self.svgs:
            row = best = [pieces.setdefault(piece, len(pieces)) for piece in re.findall(r"[^<]*<[^>]*>|[^<]+", svg)]
            for back, old in enumerate(rows[:-13:-1], 1):
                if len(old) == len(row):
                    changed = (x for k, (a, b) in enumerate(zip(old, row, strict=True)) if a != b for x in (k, b))
                    best = min(best, [-back, *changed], key=len)
            rows.append(row)
            pictures.append(best or [pieces.setdefault("", len(pieces))])
        return {"scenes": self.scenes, "at": self.at, "moves": self.moves, "start": self.start, "film": self.view.film,
                "pieces": list(pieces), "pictures": pictures, "children": self.children}  # fmt: skip


def _placed(control: Any, figure: Any) -> Any:
    value = control.spec(control.get(figure))["value"]
    return _round(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value


def _round(x: float) -> float:
    """Equal in the browser, which counts in doubles of its own."""
    return int(x) if x == int(x) else float(f"{x:.9g}")


def _plain(value: Any) -> Any:
    if isinstance(value, (bytes, memoryview)):
        return {"$bytes": base64.b64encode(bytes(value)).decode()}
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    return [_plain(v) for v in value] if isinstance(value, (list, tuple)) else value
