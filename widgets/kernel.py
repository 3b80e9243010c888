"""What the extension brings into one IPython: the magics, their completion, the error panels, the switches, the recording of lines.

What lives here: putting all of it in and taking all of it out again, so that loading twice, unloading and reloading leave no trace. What
is in is noted on the shell itself, not in this module: %autoreload may run this file again.
"""

from __future__ import annotations

import re
import sys
from typing import Any

from minigrad import scalar
from minigrad.core.call_log import VALUES

from .error_panel import Panels

NOTED = "_minigrad_extension"


class Loaded:
    """The parts that are in one IPython."""

    def __init__(self, shell: Any) -> None:
        from .magics import MAGICS
        from .rich import Minigrad

        self.shell = shell
        self.magics = [magics(shell) for magics in MAGICS]
        for magics in self.magics:
            shell.register_magics(magics)
        self.offers = []
        for pattern, offer in completions(shell).items():
            shell.set_hook("complete_command", offer, re_key=pattern)
            self.offers.append(re.compile(pattern))
        self.switches = Minigrad(shell)
        shell.configurables.append(self.switches)
        self.panels = Panels(shell)
        self.panels.install()
        shown = shell.display_formatter.ipython_display_formatter
        shown.for_type_by_name("minigrad.course.result", "Comparison", _with_ticks)
        record_lines(True)
        # These very functions: %autoreload may make others of their names.
        self.listeners = {"pre_run_cell": self._before_a_cell, "post_run_cell": _after_a_cell}
        for event, run in self.listeners.items():
            shell.events.register(event, run)
        self.switches.observe(self._panels, names=["panels"])

    def _before_a_cell(self, _info: Any) -> None:
        record_lines(True)
        if checking := sys.modules.get("minigrad.course.checking"):
            checking.check.where, checking.check.cells = _fault_in_words, self._cells
            sys.modules["minigrad.course.drivers.ch05"].watcher = _film  # type: ignore[attr-defined]

    def _cells(self) -> list[str]:
        """The text of every cell that was run, also of those that did not compile, with its magics turned into Python."""
        return self.shell.history_manager.input_hist_parsed

    def _panels(self, change: Any) -> None:
        if change["new"]:
            self.panels.install()
        else:
            self.panels.remove()

    def remove(self) -> None:
        for event, run in self.listeners.items():
            self.shell.events.unregister(event, run)
        record_lines(False)
        for magics in self.magics:
            for kind, names in magics.magics.items():
                for name in names:
                    self.shell.magics_manager.magics[kind].pop(name, None)
            self.shell.magics_manager.registry.pop(type(magics).__name__, None)
        dispatcher = self.shell.strdispatchers.get("complete_command")
        for pattern in self.offers:
            if dispatcher is not None:
                dispatcher.regexs.pop(pattern, None)
        self.switches.remove()
        self.shell.configurables[:] = [c for c in self.shell.configurables if c is not self.switches]
        self.panels.remove()
        shown = self.shell.display_formatter.ipython_display_formatter
        shown.deferred_printers.pop(("minigrad.course.result", "Comparison"), None)
        if comparison := getattr(sys.modules.get("minigrad.course.result"), "Comparison", None):
            shown.type_printers.pop(comparison, None)
        if checking := sys.modules.get("minigrad.course.checking"):
            checking.check.where = checking.check.cells = None
            sys.modules["minigrad.course.drivers.ch05"].watcher = None  # type: ignore[attr-defined]


def record_lines(on: bool) -> None:
    """Lines are kept for the first few thousand nodes of a cell (and after each backward), so that big graphs cost nothing."""
    if on:
        scalar.record_lines(True, VALUES)
    else:
        scalar.record_lines(False)
    if provenance := sys.modules.get("minigrad.core.provenance"):  # else minigrad.api switches it on, once it is loaded
        provenance.record_lines(on)


def _film(model: Any, points: Any, labels: Any) -> Any:
    from .film.view import shown  # not before a network learns

    return shown(model, points, labels)


def _with_ticks(comparison: Any) -> None:
    from .ticks import show  # not before an explanation is compared

    show(comparison)


def _fault_in_words(answer: Any) -> str:
    from .lessons.own_engine import fault_in_words  # not before a check needs it

    return fault_in_words(answer)


def _after_a_cell(_result: Any) -> None:
    scalar.release_frames()


def completions(shell: Any) -> dict:
    """What the tab key offers after each magic: {pattern of the line: function}."""
    from .magics.namespace import COLUMNS
    from .magics.reading import offered
    from .magics.rule import operations

    return {
        r"^\s*%?(graph|step|memory)\s": lambda _shell, _event: offered(shell),
        r"^\s*%?(reset_grads)\s": lambda _shell, _event: ["--zero", *offered(shell)],
        r"^\s*%%(gradcheck)\s": lambda _shell, _event: offered(shell),
        r"^\s*%%(explore)\s": lambda _shell, _event: ["--tensor"],
        r"^\s*%?(grads)\s": lambda _shell, _event: ["--sort", *COLUMNS[:-1]],
        r"^\s*%?(rule)\s": lambda _shell, _event: operations(),
        r"^\s*%%(predict)\s": lambda _shell, _event: [*_exercises(), "--show"],
        r"^\s*%?(lesson)\s": lambda _shell, _event: [str(n) for n in range(20)],
    }


def _exercises() -> list[str]:
    from minigrad.course import exercises  # a late import, because it loads the exercises

    return list(exercises)


def load(shell: Any) -> None:
    """Bring everything in; what an earlier load brought is taken out first, so the newest code counts."""
    unload(shell)
    setattr(shell, NOTED, Loaded(shell))


def unload(shell: Any) -> None:
    loaded = getattr(shell, NOTED, None)
    if loaded is not None:
        loaded.remove()
        delattr(shell, NOTED)
