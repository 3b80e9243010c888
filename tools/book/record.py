"""What a chapter shows, in every state that its controls can reach, so that a page can show it without Python.

`install(folder)` runs in the kernel before a chapter does. What a cell shows then carries one more representation, MIME, which names a file
in `folder` and says how much of the lesson is in it. What lives here: moving the real lesson by its own controls and noting what it shows.
What does not: playing that back (widgets/front/src/page.js). No lesson knows of the book.
"""

from __future__ import annotations

import base64
import itertools
import json
import math
import re
import zlib
from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2b
from pathlib import Path
from typing import Any

import ipywidgets

from widgets.film import FilmView
from widgets.film.export import MOST
from widgets.graph import GraphView
from widgets.lessons.kit import LessonView, Moments, Slider
from widgets.static import plain
from widgets.view.files import alone

from . import opened

MIME = "application/vnd.minigrad.book+json"
STATES = 600  # of one lesson; its sliders are thinned to the finest grid with no more states
# Lessons whose states take more time than others, or less
ROOM = {
    "jacobian_heat": 240,
    "jacobian_size": 1200,
    "memory": 300,
}
GRIDS = (201, 101, 61, 41, 31, 21, 15, 11, 9, 7, 5, 3)
# playground trains one network, which its states share: a table would mix them up. draw has a state for every curve.
STILL = {"draw", "playground"}
TRIES = 3  # moves for each state
EXACT = 41  # a slider with so few places is thinned only if it must be


def install(folder: str) -> None:
    """From now on, what a cell shows is written to `folder` too, and its output names the file."""
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    room = opened.ROOM
    ipywidgets.Widget.send_state = lambda *args, **kwargs: None  # nobody listens

    def add(cls, record):
        shown = cls._repr_mimebundle_

        def bundle(self, **kwargs):
            found = shown(self, **kwargs)
            data, more = found if isinstance(found, tuple) else (found or {}, {})
            with ThreadPoolExecutor(1) as apart:  # where an event loop runs, lessons put their work off
                held = apart.submit(record, self).result()
            if held is None:
                return data, more
            about = held.pop("about", {})
            return {**data, MIME: {"key": write(held, target) if held else "", **about}}, more

        cls._repr_mimebundle_ = bundle

    def graphs(view: GraphView) -> dict[str, Any]:
        nonlocal room
        held = graph(view, target, room)
        room -= held.get("about", {}).get("bytes", 0)
        return held

    add(LessonView, lesson)
    add(GraphView, graphs)
    add(FilmView, film)


def write(held: dict[str, Any], folder: Path) -> str:
    """Write a recording as a script. Returns the name by which a page requests it."""
    raw = json.dumps(plain(held), ensure_ascii=False, separators=(",", ":")).encode()
    key = blake2b(raw, digest_size=6).hexdigest()
    (folder / f"{key}.js").write_text(f'mgBook("{key}","{base64.b64encode(zlib.compress(raw, 9)).decode()}")')
    return key


def graph(view: GraphView, folder: Path, room: int = opened.ROOM) -> dict[str, Any]:
    """A graph; where it has folds or neurons, `folder` then has the pictures of them open, in at most about `room` bytes."""
    held = {"part": "graph", "state": {**alone(view), "can_fold": view.can_fold}}
    if not (view.can_fold or view.network) or view._mark:
        return held

    def picture(state: dict[str, Any]) -> tuple[str, int]:
        key = write(state, folder)
        return key, (folder / f"{key}.js").stat().st_size

    found = opened.Opened(view, picture, room)
    about = {"graph": view.trace["title"], "pictures": len(found.states), "cut": found.cut, "bytes": room - found.left}
    return {**held, "opens": found.found(), "about": about}


def film(view: FilmView) -> dict[str, Any] | None:
    """A film has every frame, and needs no kernel; None before its first step."""
    return {"part": "film", "films": view.data(MOST)} if view.of[0].frames else None


def lesson(view: LessonView) -> dict[str, Any] | None:
    """The table of a lesson (see page.js), and how much of it; None if there is nothing to move."""
    if not view.figure.controls() and not any(True for _ in view.figure.actions()) and not view.children:
        return None
    name = type(view.figure).__name__
    if name in STILL:
        return {"about": {"lesson": name, "states": 0, "cut": False, "thin": False}}
    table = Table(view)
    table.fill()
    about = {"lesson": name, "states": len(table.at), "cut": table.cut, "thin": table.thin}
    if len(table.at) == 1 and not view.film and not view.children:
        return {"about": about}
    return {"about": about, "part": "lesson", "kind": "mg-" + name.replace("_", "-"), "table": table.packed()}


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
        self.cut = self.thin = False  # are states missing? and places of sliders?
        self.tried = 0
        self.exact = EXACT
        # A graph view below the picture makes each state several times as heavy.
        self.room = ROOM.get(type(view.figure).__name__, STATES) // (5 if view.children else 1)

    def fill(self) -> None:
        before = self.view.figure
        try:
            self.start, grid = self._note(before), self._grid()
            self.thin = False
            queue = [self.start]
            for key in queue:  # grows
                known = len(self.at)
                self._moves_from(key, grid)
                queue += list(self.at)[known:]
        finally:
            self.view.figure = before
            before.view = self.view

    def _moves_from(self, key: str, grid: int) -> None:
        figure, places = self.figures[key], json.loads(key.partition("\n")[0])
        remembers = any(True for _ in figure.actions())  # then the same controls may show different pictures
        for i, control in enumerate(figure.controls()):
            for place in self._places(control, figure, grid):
                here = json.dumps([*places[:i], place, *places[i + 1 :]])
                if place != places[i] and (remembers or here not in self.at):
                    if self._full():
                        return
                    self._move(key, figure, control.name, place, {"set": control.name, "value": place}, here)
        for name in [*(name for name, button in figure.actions() if button["when"](figure)), *figure.presets]:
            if self._full():
                return
            self._move(key, figure, name, 0, {"press": name}, None)

    def _full(self) -> bool:
        self.cut = self.cut or len(self.at) >= self.room or self.tried >= TRIES * self.room
        return self.cut

    def _move(
        self, key: str, figure: Any, name: str, place: Any, message: dict[str, Any], expected: str | None
    ) -> None:
        """Record where a move leads, explicitly if not to the state that is `expected`."""
        self.tried += 1
        self.view.figure = figure
        self.view._on_message(None, message, None)
        if self.view.scene["mood"] == "bad" and self.view.figure is figure:  # refused
            return
        if (to := self._note(self.view.figure)) != expected:
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
                state = alone(child)
                child_name = blake2b(json.dumps(plain(state)).encode(), digest_size=6).hexdigest()
                self.children[child_name] = state
                below.append(child_name)
        self.at[key] = len(self.scenes)
        self.scenes.append({**scene, "svg": self.svgs.setdefault(scene["svg"], len(self.svgs)), "below": below})
        self.figures[key] = figure
        return key

    def _places(self, control: Any, figure: Any, grid: int) -> list[Any]:
        """What the browser would send for the places of a control that the book has."""
        now = control.get(figure)
        # A film brings all its moments
        if not hasattr(control, "places") or (figure.film and isinstance(control, Moments)):
            return []
        spec = control.spec(now)
        if control.kind == "toggle":
            return [False, True]
        if control.kind == "choice":
            return list(range(len(spec["texts"])))
        count = round((spec["max"] - spec["min"]) / spec["step"])
        stride = 1 if count < self.exact or not isinstance(control, Slider) else max(1, math.ceil(count / (grid - 1)))
        self.thin = self.thin or stride > 1
        begin = round((spec["value"] - spec["min"]) / spec["step"]) % stride
        kept = sorted({*range(begin, count + 1, stride), 0, count})
        return [rounded(spec["min"] + k * spec["step"]) for k in kept]

    def _grid(self) -> int:
        """The finest grid for the sliders with which there are not too many states."""
        figure = self.view.figure
        for self.exact, grid in itertools.product((EXACT, 0), GRIDS):
            if (
                math.prod(max(1, len(self._places(control, figure, grid))) for control in figure.controls())
                <= self.room
            ):
                break
        return grid

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
    return rounded(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value


def rounded(x: float) -> float:
    """Equal in the browser, which counts in doubles of its own."""
    return int(x) if x == int(x) else float(f"{x:.9g}")
