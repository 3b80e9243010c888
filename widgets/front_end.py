"""The browser's half, built from widgets/front/src (see docs/dev/front-end.md), and the hidden model that brings it to a page.

A page needs the code once, whatever number of views it shows. So one model per kernel carries it, every view refers to that model, and the
small module that each view does bring (loader.js) fetches it from there.
"""

from __future__ import annotations

import gzip
import os
import threading
import time
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import anywidget
import ipywidgets
import traitlets

from .stored import Stored

DIST = Path(__file__).parent / "front" / "dist"
WATCHED = os.environ.get("ANYWIDGET_HMR") == "1"  # hot reload for front-end development: anywidget's switch


@cache
def built(name: str) -> str:
    """A file of the bundle: "loader.js", "views.js", "views.css", or "page.js" (an exported page's script)."""
    return (DIST / name).read_text(encoding="utf-8")


@cache
def packed(name: str) -> bytes:
    """The same as it travels: a third of its length."""
    return gzip.compress(built(name).encode(), 9, mtime=0)


class Shared(ipywidgets.Layout):
    """The layout that all views share. It is not closed with a view."""

    shared = True


class FrontEnd(anywidget.AnyWidget):
    """A hidden model that holds the front end's code. Views refer to it, and it is never displayed.

    It is an AnyWidget, because ipywidgets' plain model loses its bytes when a notebook is saved with its widgets. No trait is called
    `style`, which ipywidgets would take for a model."""

    shared = True  # not closed with a view
    _esm = "export default { render() {} }"

    code = traitlets.Bytes().tag(sync=True)
    css = traitlets.Bytes().tag(sync=True)
    key = traitlets.Unicode().tag(sync=True)  # tells one version from another

    def __init__(self, bundle: tuple[str, str]) -> None:
        # Views share its layout: a model of its own for each would be one more message, and JupyterLab keeps every model.
        self.bundle = bundle
        super().__init__(layout=Shared(), **self._files())

    def _files(self) -> dict[str, bytes | str]:
        code, css = map(packed, self.bundle)
        return {"code": code, "css": css, "key": blake2b(code + css, digest_size=8).hexdigest()}

    def watch(self) -> None:
        """Hot reload: send each new build of the front end."""
        seen = self._stamp()
        while self.comm is not None:
            time.sleep(0.3)
            if (now := self._stamp()) != seen:
                seen = now
                self.renew()

    def renew(self) -> None:
        """Send the newest build. Open views redraw."""
        built.cache_clear()
        packed.cache_clear()
        with self.hold_sync():
            for name, value in self._files().items():
                setattr(self, name, value)

    def _stamp(self) -> tuple[float, ...]:
        """When the bundle was built."""
        return tuple((DIST / name).stat().st_mtime for name in self.bundle)


VIEWS = ("views.js", "views.css")
_here: dict[tuple[str, str], FrontEnd] = {}


def front_end(bundle: tuple[str, str] = VIEWS) -> FrontEnd:
    """This kernel's hidden model of a bundle; a new one if it was closed."""
    model = _here.get(bundle)
    if model is None or model.comm is None:
        model = _here[bundle] = FrontEnd(bundle)
        if WATCHED:
            threading.Thread(target=model.watch, name="minigrad front end", daemon=True).start()
    return model


class Fronted(Stored, anywidget.AnyWidget):
    """A widget whose front end is a part of the bundle."""

    _esm = built("loader.js")
    bundle = VIEWS
    part = traitlets.Unicode().tag(sync=True)
    front = traitlets.Instance(FrontEnd).tag(sync=True, **ipywidgets.widget_serialization)

    def __init__(self, **state: Any) -> None:
        front = front_end(self.bundle)
        super().__init__(front=front, layout=front.layout, **state)

    def reopen(self) -> None:
        """Bring back a widget that was closed."""
        if self.comm is None:
            self.front = front_end(self.bundle)
            self.open()
