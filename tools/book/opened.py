"""The pictures of a graph view with its cards opened and closed, so that a page can open them without Python.

What lives here: opening cards of the real view, as a page asks for it, and noting what it then shows; each picture is a file of its own,
which a page fetches when somebody opens the card. What does not: playing that back (widgets/front/src/opened.js).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from widgets.graph import GraphView
from widgets.view.files import alone

ROOM = 1_500_000  # bytes of such pictures for one page; a combination of open cards beyond it opens in JupyterLab only

Key = tuple[str, Any, frozenset[int]]


class Opened:
    """The states that clicks on a view's cards lead to: first each card opened alone, then combinations, those of fewer clicks first."""

    def __init__(self, view: GraphView, write: Callable[[dict[str, Any]], tuple[str, int]], room: int = ROOM):
        self.view, self.write, self.left = view, write, room
        self.cut = False  # are there pictures for which there was no room?
        self.states: list[dict[str, Any]] = []
        self.at: dict[Key, int | None] = {}  # None: no room
        self.alone: dict[
            int, list[int | None]
        ] = {}  # fold: the state in which only it and its ancestors are open, and the one in which it is closed again
        self.home, self.operations, step = self._key(), frozenset(view._open), view.step
        try:
            self._fill()
        finally:
            self._go(self.home)
            view._present(step)

    def _key(self) -> Key:
        view = self.view
        network = view._level == "network"
        return view._level, view._looked if network else None, frozenset() if network else frozenset(view._open)

    def _go(self, key: Key) -> None:
        """Put the view into a state, without drawing it."""
        view = self.view
        view._level, view._looked = key[:2]
        view._open = set(key[2] if view._level == "operations" else self.operations)

    def _fill(self) -> None:
        self._note()
        folds = self.view._folds if self.home[0] == "operations" else None
        for fold in [fold for fold in folds.folds if fold is not folds.root] if folds else ():
            if fold.key in self.home[2]:
                closed = self._after(self.home, lambda key=fold.key: self.view.fold(key))
                self.alone[fold.key] = [0, closed]
            else:
                self.alone[fold.key] = [
                    self._after(self.home, lambda key=key: self._open(key)) for key in (fold.key, fold.parent)
                ]
        queue = [*self.at]
        for key in queue:  # grows
            if (n := self.at[key]) is None:
                continue
            known = len(self.at)
            for word, message in self._moves(key):
                to = self._after(key, lambda message=message: self.view._on_message(None, message, None))
                if to is not None:
                    self.states[n]["moves"][word] = to
            queue += [*self.at][known:]

    def _open(self, key: int) -> None:
        """Open a fold and its ancestors in the initial view."""
        folds = self.view._folds
        if key in folds.by_key and folds.by_key[key] is not folds.root:
            self.view._open |= {key, *folds.outside(folds.by_key[key])}

    def _after(self, key: Key, do: Callable[[], Any]) -> int | None:
        """The number of the state to which something leads from another one; None if there was no room for it."""
        self._go(key)
        self.view._present = lambda *_: None  # where it leads is drawn later, unless it is known
        try:
            do()
        finally:
            del self.view._present
        return self._note()

    def _note(self) -> int | None:
        key = self._key()
        if key not in self.at:
            self.at[key] = None
            if self.left > 0 or not self.states:
                file = self._written()
                self.at[key] = len(self.states)
                self.states.append({"file": file, "moves": {}, "cards": self._cards()})
            else:
                self.cut = True
        return self.at[key]

    def _written(self) -> str:
        """Write the present state, as its difference from the initial one. Returns the name of the file."""
        self.view._present(0)
        held = {**alone(self.view), "can_fold": self.view.can_fold}
        if not self.states:
            self.first = held
            return ""
        before = self.first["network"]
        network = {k: v for k, v in held["network"].items() if k == "level" or before.get(k) != v}
        file, size = self.write({k: v for k, v in {**held, "network": network}.items() if self.first[k] != v})
        self.left -= size
        return file

    def _cards(self) -> list[int]:
        """The card on which each node is."""
        view = self.view
        return [view._part.new[i] for i in range(len(view.whole["nodes"]))] if view._level == "operations" else []

    def _moves(self, key: Key) -> list[tuple[str, dict[str, Any]]]:
        """The requests that a page can make in a state: the key of the answer, and the message."""
        self._go(key)
        self.view._present(0)
        view = self.view
        if view._level == "network":
            plan = view._subject.network.plan
            first = len(plan["columns"][0]["cells"])
            looks = [(cell, sample) for sample in range(plan["samples"]) for cell in range(first, len(plan["cells"]))]
            found = [(f"look {c} {s}", {"type": "look", "cell": c, "sample": s}) for c, s in looks]
            found += [("look", {"type": "look", "cell": -1})] if view._looked else []
            return [*found, ("fold operations", {"type": "fold", "what": "operations"})]
        keys = [node["fold"] for node in view.trace["nodes"] if "fold" in node]
        keys += [frame["fold"] for frame in view.picture.get("frames", ())]
        what = [
            *dict.fromkeys(keys),
            *(["all", "none"] if view.can_fold else []),
            *(["network"] if view._subject.network else []),
        ]
        return [(f"fold {w}", {"type": "fold", "what": w}) for w in what]

    def found(self) -> dict[str, Any]:
        """All of it, as a page needs it: with what a search looks at, and the fold that each node is in."""
        folds = self.view._folds
        nodes = self.view.whole["nodes"] if folds else []
        keys = "label", "op", "function", "expr", "scope"  # as in GraphView.find
        names = [
            "\n".join(str(n.get(key, "")) for key in keys).lower() if n["kind"] != "constant" else "" for n in nodes
        ]
        return {
            "states": self.states,
            "alone": self.alone,
            "names": names,
            "homes": [folds.home.get(n["id"], -1) for n in nodes],
        }
