"""After an error of the engine: its own sentence, the learner's lines, then a panel that explains, if there is one for it.

What lives here: getting in between IPython and the screen, and getting out of the way. An exception that is not the engine's, or whose
panel fails, is shown as IPython shows it; `%tb` shows the whole of it always. Only what an endless recursion repeats is left out: IPython
looks for the source of each of a thousand frames, which takes five seconds.
"""

from __future__ import annotations

import logging
import types
from collections import Counter
from contextlib import suppress
from traceback import walk_tb
from types import TracebackType
from typing import Any

from minigrad.core.errors import Explanation, explanation

_log = logging.getLogger(__name__)
BELOW = 12  # frames of the learner's own that are shown at most
REPEATED = 2  # how often a traceback shows a line of a recursion, before its last frames
END = 3  # the number of those


class Panels:
    """The error panels of one IPython. `install` and `remove` may be called twice."""

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        self._original: Any = None

    def install(self) -> None:
        if "showtraceback" in vars(self.shell) and getattr(self.shell.showtraceback, "panels", None) is not None:
            return
        self._original = self.shell.showtraceback

        def showtraceback(
            exc_tuple: Any = None,
            filename: str | None = None,
            tb_offset: Any = None,
            exception_only: Any = False,
            running_compiled_code: Any = False,
        ) -> None:
            with suppress(ValueError):  # nothing was raised yet
                leave_out_repetitions(self.shell._get_exc_info(exc_tuple)[1])
            if not (running_compiled_code and not exception_only and self._shown(exc_tuple)):
                self._original(exc_tuple, filename, tb_offset, exception_only, running_compiled_code)

        unread = self.shell.showsyntaxerror

        def showsyntaxerror(filename: str | None = None, running_compiled_code: Any = False) -> None:
            unread(filename, running_compiled_code)
            if not running_compiled_code:
                self._unreadable(filename)

        showtraceback.panels = self  # type: ignore[attr-defined]
        self.shell.showtraceback, self.shell.showsyntaxerror = showtraceback, showsyntaxerror

    def remove(self) -> None:
        installed = vars(self.shell).get("showtraceback")
        if getattr(installed, "panels", None) is self:
            del self.shell.showtraceback, self.shell.showsyntaxerror
        self._original = None

    def _shown(self, exc_tuple: Any) -> bool:
        """Show the error in its short form and the panel; False if there is nothing to explain or anything goes wrong on the way."""
        try:
            etype, error, tb = self.shell._get_exc_info(exc_tuple)
            from .explain import explain

            if not worth_a_look(error):
                return False
            card = explain(error, tb, self.shell)
            if card is None and not raised_by_us(tb):
                return False
            # all of it, before anything is on the screen
            bundle = {"text/plain": repr(card), "text/html": card._repr_html_()} if card is not None else None
            lines = short(self.shell, etype, error, tb, whole=card is None)
        except Exception:  # a broken explanation must not hide the error that it explains
            _log.info("no explanation of %r", error, exc_info=True)
            return False
        self.shell._showtraceback(etype, error, lines)
        if bundle is not None:
            self._publish(bundle)
        return True

    def _unreadable(self, filename: str | None) -> None:
        """The panel below a SyntaxError of a cell; none for one of a file."""
        try:
            error = self.shell._get_exc_info()[1]
            if not isinstance(error, SyntaxError) or not self.shell.compile._filename_map.get(
                error.filename or filename or ""
            ):
                return
            from .explain.about_python import unreadable

            card = unreadable(error)
            self._publish({"text/plain": repr(card), "text/html": card._repr_html_()})
        except Exception:
            _log.info("no explanation of a SyntaxError", exc_info=True)

    def _publish(self, bundle: dict[str, str]) -> None:
        with suppress(Exception):  # the error itself is on the screen already
            if self.shell.display_pub.__class__.__name__ == "CapturingDisplayPublisher" or hasattr(
                self.shell, "kernel"
            ):
                self.shell.display_pub.publish(data=bundle, metadata={})
            else:
                print(bundle["text/plain"])


_KINDS = (
    RuntimeError, TypeError, ValueError, AttributeError, LookupError, RecursionError, AssertionError, NameError, ModuleNotFoundError,
)  # fmt: skip


def worth_a_look(error: BaseException) -> bool:
    return isinstance(error, _KINDS) and getattr(error, "_render_traceback_", None) is None


def leave_out_repetitions(error: BaseException | None) -> None:
    """Take the frames that repeat out of the traceback of an endless recursion; its beginning and its end stay."""
    if not isinstance(error, RecursionError):
        return
    rest, tb = [], error.__traceback__
    while tb is not None:
        rest.append(tb)
        tb = tb.tb_next
    seen: Counter[tuple] = Counter()
    above, left_out = None, 0
    for number, tb in enumerate(rest, 1):
        where = tb.tb_frame.f_code, tb.tb_lineno
        seen[where] += 1
        if seen[where] > REPEATED and number <= len(rest) - END:
            left_out += 1
            continue
        if above is not None and above.tb_next is not tb:
            above.tb_next = tb
        above = tb
    if left_out:
        error.add_note(f"[{left_out} frames that repeat those above are left out]")


def raised_by_us(tb: TracebackType | None) -> bool:
    """Did minigrad or one of its pictures raise it, called by the learner? Then only the learner's lines are worth reading."""
    from .explain.failure import is_learners, is_ours

    files = [frame.f_code.co_filename for frame, _ in walk_tb(tb)]
    return bool(files) and is_ours(files[-1]) and any(map(is_learners, files))


def short(
    shell: Any, etype: type[BaseException], error: BaseException, tb: TracebackType | None, whole: bool = False
) -> list[str]:
    """PyTorch's sentence first (`whole`: all that the error says), then the learner's own lines."""
    from .explain.failure import learners_frames
    from .explain.failure import whole as whole_text

    sentence = whole_text(error) if whole else str(error).split("\n\n")[0]
    learners = None
    frames = learners_frames(tb)
    for t in reversed(frames[-BELOW:] if len(frames) > BELOW else frames):
        learners = types.TracebackType(learners, t.tb_frame, t.tb_lasti, t.tb_lineno)
    last = shell.InteractiveTB.structured_traceback(etype, Exception(sentence), learners, tb_offset=0)
    head = (
        f"\033[91m{etype.__name__}\033[0m: {sentence}"
        if shell.colors.lower() != "nocolor"
        else f"{etype.__name__}: {sentence}"
    )
    message = getattr(error, "minigrad", None)
    text = (
        explanation(message.did, message.why, message.instead, message.chapter)
        if isinstance(message, Explanation)
        else ""
    )
    # The panel says the same
    notes = [note for note in getattr(error, "__notes__", ()) if whole or note.strip() != text]
    return [head, *_lines_of(last), *notes, *["%tb shows the whole traceback."] * whole]


def _lines_of(structured: list[str]) -> list[str]:
    """The frames of a formatted traceback, without its first lines (a rule and a title) and its last (the sentence)."""
    body = [part for part in structured[:-1] if part.strip()]
    return body[2:] if len(body) > 2 and "Traceback" in body[1] else body
