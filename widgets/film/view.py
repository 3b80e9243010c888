"""The widget of a film: it shows a training run while it is recorded, and keeps a still picture in the notebook.

What lives here: `watch`, the film that shows itself, and what is sent to the page and when. What does not: recording (minigrad/film.py),
drawing (front/src/film/, picture.py). A busy kernel hears nothing, so the page has every frame and needs no answer.
"""

from __future__ import annotations

import json
import time
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import traitlets
from IPython.display import publish_display_data

from minigrad.film import Film, each_backward, model_among

from .. import cells
from ..front_end import Fronted
from ..stored import WIDGET, still
from . import export, picture

FIRST, SOON, AGAIN, FULL = 3.0, 0.5, 5.0, 1_000_000  # seconds, seconds, seconds, bytes: see FilmView._starts_anew
PAUSE, LONG_PAUSE = 0.1, 0.25  # seconds between two messages at least; of a film with many weights
MANY = 2000  # weights


def _json(value: Any, _widget: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


class FilmView(Fronted):
    """The view of one film, or of one beside others of the same network. Make one with `watch`."""

    bundle = ("film-view.js", "film.css")
    films: Any = traitlets.List().tag(sync=True, to_json=_json)  # see Film.data; the first one is shown

    def __init__(self, films: Sequence[Film], names: Sequence[str] = ()):
        self.of, self.names = list(films), list(names)
        self.cells: set[str] = set()
        self._sent, self._every, self._when = 0, films[0].every, 0.0
        self._still = ""  # the id of the still picture's output
        super().__init__(part="film", films=self.data())
        self.on_msg(self._on_message)

    def data(self, most: int | None = None) -> list[dict[str, Any]]:
        """The films as a page reads them; most: how many numbers they may have together."""
        found = [film.data(most and most // len(self.of)) for film in self.of]
        return [of | {"name": name} for of, name in zip(found, self._titles(), strict=True)]

    def _titles(self) -> list[str]:
        """What the films are called in the notebook."""
        shell = cells.ipython()
        space = shell.user_ns if shell else {}
        known = {
            id(thing): name
            for name, thing in reversed([*space.items()])
            if isinstance(thing, Film) and not name.startswith("_")
        }
        return [
            name or known.get(id(film), "film")
            for film, name in zip(self.of, [*self.names, *[""] * len(self.of)], strict=False)
        ]

    # While it trains

    def advance(self) -> None:
        """Send the new frames, all since the last message together, if that was long enough ago."""
        now = time.monotonic()
        if self.comm is None or now - self._when < (LONG_PAUSE if len(self.of[0].names) > MANY else PAUSE):
            return
        self._send_frames()
        self._when = now

    def _starts_anew(self) -> bool:
        """Whether the next message has all frames: twice a second at first, because a page that loads its code misses messages, and every
        five seconds after that, for a page that is opened later. Long films are sent in full only once."""
        now = time.monotonic()
        self._began = self._began or now
        size = 8 * len(self.of[0].frames) * len(self.of[0].names)
        pause = SOON if now - self._began < FIRST else AGAIN
        if self._sent and (size > FULL or now - self._whole < pause):
            return False
        self._whole = now
        return True

    def _send_frames(self) -> None:
        film = self.of[0]
        if film.every != self._every:  # frames were dropped: every second one, once or several times
            self._sent = sum((f.step - 1) % film.every == 0 for f in film.frames if f.step <= self._newest)
        if not film.frames[self._sent :]:
            return
        first = 0 if self._starts_anew() else self._sent
        new = film.frames[first:]
        rates = film.rates(ended=False)[max(0, first - 1) :]  # the newest is not known before its update is done
        content: dict[str, Any] = {
            "type": "frames", "from": first, "every": film.every, "seen": film.seen, "steps": [f.step for f in new],
            "losses": [f.loss if np.isfinite(f.loss) else None for f in new],
            "before": rates[0], "rates": rates[-len(new) :],
            "rows": [None if f.rows is None else [*f.rows] for f in new],
        }  # fmt: skip
        if first == 0:
            content["about"] = film.about() | {"name": self._titles()[0]}
        tables = [np.array([[*getattr(f, what)] for f in new], np.float32).tobytes() for what in ("weights", "grads")]
        self.send(content, tables)
        self._sent, self._every, self._newest = len(film.frames), film.every, new[-1].step

    _newest, _began, _whole = 0, 0.0, 0.0

    def turn_to(self, film: Film) -> None:
        """Show this film instead."""
        self.of, self._sent, self._newest, self._every = [film], len(film.frames), film.frames[-1].step, film.every
        self.films = self.data()

    def finish(self) -> None:
        """The cell has ended: everything that the film has, and the still picture."""
        if self.comm is None or not self.of[0].frames:
            return
        self._send_frames()
        self.films = self.data()
        if self._still:
            publish_display_data(self._stored(), transient={"display_id": self._still}, update=True)

    # In the notebook

    def _stored(self) -> dict[str, Any]:
        """What remains when the widget is gone; what else the view is shown as (tools/book), too."""
        bundle = self._repr_mimebundle_()
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        film = self.of[0]
        words = data["text/plain"]
        other = (self._titles()[1], self.of[1]) if len(self.of) > 1 else None
        html = still(picture.svg(film, other=other) if film.frames else None, words)
        return {mime: value for mime, value in data.items() if mime != WIDGET} | {"text/html": html}

    def _ipython_display_(self) -> None:
        self.reopen()
        cells.shown(self)
        self._still = f"film-{self.model_id}"
        publish_display_data(self._stored(), transient={"display_id": self._still})
        bundle = self._repr_mimebundle_()
        publish_display_data({WIDGET: (bundle[0] if isinstance(bundle, tuple) else bundle)[WIDGET]})

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        found: Any = super()._repr_mimebundle_(**kwargs)
        data, metadata = found if isinstance(found, tuple) else (found, {})
        titles = self._titles() if len(self.of) > 1 else [""]
        words = [
            f"{title}: {picture.text(film)}" if title else picture.text(film)
            for title, film in zip(titles, self.of, strict=True)
        ]
        return {**data, "text/plain": "\n".join(words)}, metadata

    def close(self) -> None:
        self.films = []
        super().close()
        self.__dict__.pop("_repr_mimebundle_", None)  # ipywidgets hides it on a closed widget

    def _on_message(self, _widget: Any, content: Any, _buffers: Any) -> None:
        if isinstance(content, Mapping) and content.get("type") == "html":
            name = self._titles()[0]
            text = export.page(self.data(export.MOST), name, picture.text(self.of[0]))
            self.send({"type": "file", "name": f"{name}.html", "mime": "text/html"}, [text.encode()])


class ShownFilm(Film):
    """A film that a notebook shows. Make one with `watch`."""

    view: FilmView | None = None

    def save(self, path: str | Path, dark: bool = False) -> Path:
        """Write the film to a file: .html (one page that plays without Python), .gif, .png or .svg."""
        films = (self.view or FilmView([self])).data(export.MOST)
        return export.save(self, films, path, dark)

    def _ipython_display_(self) -> None:
        if self.view is None:
            self.view = FilmView([self])
            self.listener = self.view.advance
            _finish_after_cells(self.view)
        self.view._ipython_display_()

    def __repr__(self) -> str:
        return picture.text(self)


_views: weakref.WeakSet[FilmView] = weakref.WeakSet()


def _finish_after_cells(view: FilmView) -> None:
    """Let the view know when a cell has ended, which is when a loop has."""
    shell = cells.ipython()
    if shell is None:
        return
    if not _views:
        shell.events.register("post_run_cell", _after_cell)
    _views.add(view)


def _after_cell(*_: Any) -> None:
    for view in list(_views):
        view.finish()


def watch(model: Any, points: Any = None, labels: Any = None, every: int = 1, keep: int = 500) -> Any:
    """Record the training of a network, and show it while it runs.

    film = watch(model, points, labels) goes before the loop, and film.step(loss) into it, between backward and the line that clears the
    gradients. model: an object with parameters(), or whatever holds the weights: numbers of your own class, Values or Tensors. points,
    labels: what it learns from. every: record each step, or each second, third, ... keep: above so many frames every second is dropped.
    A function that trains can be watched, too: watch(fit, points, labels) calls fit(points, labels), and each backward(loss) in it is a
    step. film.save("moons.html") writes a page that plays without Python; .gif and .png are pictures. film[49] is one step. With two films,
    watch(one, other) shows the first beside the second.

    >>> from minigrad import Value
    >>> w = Value(2.0)
    >>> film = watch([w])
    >>> for _ in range(3):
    ...     loss = (w - 1) ** 2
    ...     w.grad = 0.0
    ...     loss.backward()
    ...     film.step(loss)
    ...     w.data -= 0.25 * w.grad
    >>> film
    Film of 1 weight: 3 steps.
    The loss begins at 1, is lowest at step 3 (0.0625), and ends at 0.0625.
    The film was made without points and labels, so it has no map over the plane.
    """
    if isinstance(model, Film):
        others = [film for film in (points, labels) if isinstance(film, Film)]
        return FilmView([model, *others])
    if isinstance(model, FunctionType):
        return _of_function(model, points, labels, every, keep)
    return shown(model, points, labels, every, keep)


def shown(model: Any, points: Any = None, labels: Any = None, every: int = 1, keep: int = 500) -> ShownFilm:
    """A film that the running cell shows already."""
    film = ShownFilm(model, points, labels, every, keep)
    if cells.ipython() is not None:
        film._ipython_display_()
    return film


def _of_function(function: FunctionType, points: Any, labels: Any, every: int, keep: int) -> ShownFilm:
    """The film of a function that trains, when it has returned."""
    films: list[ShownFilm] = []

    def step(loss: Any, variables: Mapping[str, Any]) -> None:
        if not films:
            films.append(shown(model_among(variables), points, labels, every, keep))
        films[0].step(loss)

    with each_backward(function, step):
        function(points, labels)
    if not films:
        raise ValueError(
            f"{function.__name__} has returned without a call of backward(loss), so there is no step to show"
        )
    return films[0]
