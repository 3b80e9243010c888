"""Running a learner's code so that nothing it does can spoil the kernel: limits on time and depth, captured prints, every exception caught.

What lives here: `run`, which turns one call into an outcome of plain data. What does not: judging the outcome (judge.py).

The limit counts processor time, in a notebook as in the grader, because on a busy machine the clock on the wall runs on while a right
answer waits for its turn. A far larger limit on the wall stops what waits for ever. Both use interval timers on the main thread of
systems that have them. Elsewhere (Windows, other threads) a second thread raises the exception; in a browser, which has neither, Python
is asked to look at the clock at each jump back. None of them can stop a single long call inside C code, such as 10 ** 10 ** 10, and the
last two wait for time.sleep to end: for those there is the kernel's own interrupt, and the grader's process limits.
"""

from __future__ import annotations

import _thread
import contextlib
import copy
import ctypes
import dis
import io
import linecache
import logging
import os
import pickle
import random
import signal
import sys
import sysconfig
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import cache, partial
from types import FrameType
from typing import Any, cast

from .drivers import Mutated, load_engine, modes
from .exercise import Exercise, Limits
from .plain import plain, safe_name

DEEPEST = 250_000  # frames, which Python leaves within two or three seconds; chains of 100,000 are real
LIBRARIES = ("minigrad", "torch", "micrograd", "tinygrad", "jax")
ENGINE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Whose lines are not told
NOT_THEIRS = (
    ENGINE,
    *{sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")},
)
# Instructions with which a handler begins and ends. An exception at one of them would leave another one behind as the one being handled.
HANDLING = {dis.opmap[name] for name in ("PUSH_EXC_INFO", "POP_EXCEPT", "COPY", "SWAP", "RERAISE")}
monitoring: Any = getattr(sys, "monitoring", None)  # from Python 3.12 on
TAKES_DOWN = (__file__, contextlib.__file__)  # whose frames take a time limit down
# What this thread has computed; a browser's Python does not count it
spent = getattr(time, "thread_time", time.monotonic)


class TimeUp(BaseException):
    """Not an Exception, so that `except Exception` in an answer does not swallow it."""


class Borrowed(Exception):
    """The answer was imported instead of written."""


class _Trimmed(io.TextIOBase):
    """A text stream that keeps the first characters and counts the rest, so that an endless print costs no memory."""

    def __init__(self, keep: int):
        self.keep, self.total = keep, 0
        self.kept: list[str] = []

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if self.total < self.keep:
            self.kept.append(text[: self.keep - self.total])
        self.total += len(text)
        return len(text)

    def text(self) -> str:
        return "".join(self.kept) + (" ..." if self.total > self.keep else "")


@contextmanager
def _front_end_unheard() -> Iterator[None]:
    """Without the warnings of the package `comm`, such as "No such comm" about a picture of an earlier kernel: the learner printed none."""
    log, silent = logging.getLogger("Comm"), logging.NullHandler()
    log.addHandler(silent)
    try:
        yield
    finally:
        log.removeHandler(silent)


@contextmanager
def deadline(limits: Limits) -> Iterator[None]:
    """Raise TimeUp in the body when it has used its seconds of processor time, or taken its seconds on the wall.

    Where Python cannot raise it (in a finalizer, in a callback of the collector) it is dropped without a word: the next one comes soon."""
    if sys.platform == "emscripten":
        limit = _lookout
    else:
        timer = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
        limit = _alarm if timer else _watchdog
    report = sys.unraisablehook
    sys.unraisablehook = lambda lost: None if lost.exc_type is TimeUp else report(lost)
    try:
        with limit(limits):
            yield
    finally:
        sys.unraisablehook = report


class _Monitored:
    """Raises `up` before each instruction of an answer. For Python 3.12 and newer."""

    def __init__(self, up: BaseException):
        self.up = up
        self.tool: int | None = None

    def start(self, frame):
        self.tool = (
            next((i for i in range(5, -1, -1) if monitoring.get_tool(i) is None), None)
            if self.tool is None
            else self.tool
        )
        if self.tool is not None and monitoring.get_tool(self.tool) is None:
            monitoring.use_tool_id(self.tool, "minigrad: time limit")
            monitoring.register_callback(self.tool, monitoring.events.INSTRUCTION, self.again)
            monitoring.set_events(self.tool, monitoring.events.INSTRUCTION)

    def again(self, code, offset):
        if _answers(code.co_filename) and code.co_code[offset] not in HANDLING:
            self.up.__traceback__ = None
            raise self.up

    def stop(self):
        if self.tool is not None:
            monitoring.set_events(self.tool, 0)
            monitoring.free_tool_id(self.tool)


class _Bell:
    """Its minus sets SIGALRM off for Python only, and is no call, after which Python would look for signals."""

    # Windows has no alarm
    __neg__ = staticmethod(partial(_thread.interrupt_main, getattr(signal, "SIGALRM", signal.SIGINT)))


class _Traced:
    """The same for Python 3.11, by a trace function.

    Python drops a trace function that raises. So it sets the alarm off first, whose handler calls `start` at the next call or jump."""

    bell = _Bell()

    def __init__(self, up: BaseException):
        self.up, self.before, self.armed = up, sys.gettrace(), True

    def start(self, frame):
        # Below one that is traced, all are: a very deep stack is climbed once
        while frame is not None and frame.f_trace != self.again:
            if _answers(frame.f_code.co_filename):
                frame.f_trace, frame.f_trace_opcodes = self.again, True
            frame = frame.f_back
        sys.settrace(self.again)

    def again(self, frame, event, arg):
        if not self.armed or not _answers(frame.f_code.co_filename):
            return None
        frame.f_trace_opcodes = True  # `while True: pass` on one line has no line events
        # At "exception", the handler has not begun
        if event == "opcode" and frame.f_code.co_code[frame.f_lasti] not in HANDLING:
            self.up.__traceback__ = None
            -self.bell  # noqa: B018  (it is no call on purpose)
            raise self.up
        return self.again

    def stop(self):
        self.armed = False
        sys.settrace(self.before)


@contextmanager
def _alarm(limits: Limits) -> Iterator[None]:
    """By the interval timers. The previous handlers, timers and trace function are restored afterwards.

    An answer may catch TimeUp, so from then on it is raised before each of the answer's instructions, the first ones of a handler, too.
    Nothing is raised in this file nor in contextlib, which take the limit down, and libraries see it once: their `with` runs to its end.
    """
    armed, began = True, spent()
    up = TimeUp()  # one for all: a new one would carry those before it, and Python goes through them each time
    insist = (_Monitored if monitoring else _Traced)(up)

    def ring(signum, frame):
        if not armed:
            return
        left = limits.seconds - (spent() - began)
        # The timer counts other threads, too: they compile kernels, for example
        if signum == signal.SIGPROF and left > 0:
            signal.setitimer(signal.ITIMER_PROF, max(left, 0.01), 0.05)
            return
        insist.start(frame)
        if frame.f_code.co_filename not in TAKES_DOWN:
            up.__traceback__ = None
            raise up

    timers = ((signal.SIGPROF, signal.ITIMER_PROF, limits.seconds), (signal.SIGALRM, signal.ITIMER_REAL, limits.wall))
    started, before = (
        time.monotonic(),
        [(signal.signal(bell, ring), signal.setitimer(clock, 0)) for bell, clock, _ in timers],
    )
    try:
        for _, clock, seconds in timers:
            signal.setitimer(clock, seconds, 0.05)
        yield
    finally:
        armed = False
        insist.stop()
        for (bell, clock, _), (handler, (left, interval)) in zip(timers, before, strict=True):
            signal.setitimer(clock, 0)
            signal.signal(bell, handler if handler is not None else signal.SIG_DFL)
            if left:
                signal.setitimer(clock, max(left - (time.monotonic() - started), 1e-3), interval)


@contextmanager
def _watchdog(limits: Limits) -> Iterator[None]:
    """By a second thread that raises TimeUp in this one, again and again until it is out."""
    raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc
    me, done, lock = ctypes.c_ulong(threading.get_ident()), threading.Event(), threading.Lock()
    used, started = _clock_of_this_thread(), time.monotonic()
    began = used()

    def watch():
        pause = min(limits.seconds / 10, 0.05)
        while not done.wait(pause):
            with lock:
                late = not done.is_set() and (
                    used() - began >= limits.seconds or time.monotonic() - started >= limits.wall
                )
                if late:
                    raise_in(me, ctypes.py_object(TimeUp))
            pause = 0.003 if late else pause

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        while True:
            try:
                with lock:
                    done.set()
                for _ in range(9):  # the last one may still be on its way: it arrives here, at a jump back
                    pass
                break
            except TimeUp:
                continue


def _clock_of_this_thread() -> Callable[[], float]:
    """A function, for any thread to call, that tells the processor time of this one; where no system call does, of the process."""
    if hasattr(time, "pthread_getcpuclockid"):
        clock = time.pthread_getcpuclockid(threading.get_ident())
        return lambda: time.clock_gettime(clock)
    return time.process_time


@contextmanager
def _lookout(limits: Limits) -> Iterator[None]:
    """By looking at the clock at each call and each jump back: where there are neither timers nor threads (Python 3.12 and newer)."""
    events, end = monitoring.events, time.monotonic() + limits.seconds

    def look(code, *_):
        if time.monotonic() > end and code.co_filename not in TAKES_DOWN:
            raise TimeUp

    monitoring.use_tool_id(monitoring.DEBUGGER_ID, "minigrad: time limit")
    for event in (events.PY_START, events.JUMP):
        monitoring.register_callback(monitoring.DEBUGGER_ID, event, look)
    monitoring.set_events(monitoring.DEBUGGER_ID, events.PY_START | events.JUMP)
    try:
        yield
    finally:
        monitoring.set_events(monitoring.DEBUGGER_ID, 0)
        monitoring.free_tool_id(monitoring.DEBUGGER_ID)


def _depth() -> int:
    depth, frame = 0, cast("FrameType | None", sys._getframe())
    while frame is not None:
        depth, frame = depth + 1, frame.f_back
    return depth


@contextmanager
def _modes_put_back() -> Iterator[None]:
    """Recording is on for the answer, whatever the notebook has left. What the answer leaves is undone: a plain set_grad_enabled(False), or
    the no_grad within which it was stopped, would make every later answer fail."""
    now = modes()
    before = dict(now)
    now["grad"] = True
    try:
        yield
    finally:
        now.update(before)


@contextmanager
def _settings_put_back() -> Iterator[None]:
    """Restore the kernel's global state: random generators, the working folder, NumPy's error handling, the default dtype."""
    places: list[tuple[Callable[[], Any], Callable[[Any], Any]]] = [
        (random.getstate, random.setstate),
        (_folder, _go_to),
    ]
    if (np := sys.modules.get("numpy")) is not None:
        places += [(np.geterr, lambda errors: np.seterr(**errors)), (np.random.get_state, np.random.set_state)]
    if (dtypes := sys.modules.get("minigrad.core.dtypes")) is not None:
        places.append((dtypes.get_default_dtype, dtypes.set_default_dtype))
    if (generator := sys.modules.get("minigrad.random")) is not None:
        places.append((generator.get_rng_state, generator.set_rng_state))
    before = [(put, get()) for get, put in places]
    try:
        yield
    finally:
        for put, value in before:
            put(value)


def _folder() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was deleted
        return ""


def _go_to(folder: str) -> None:
    if folder and folder != _folder():
        with contextlib.suppress(OSError):  # it was deleted meanwhile
            os.chdir(folder)


@contextmanager
def _recursion_capped() -> Iterator[None]:
    """An answer may raise the recursion limit to DEEPEST. Python takes minutes to leave ten million frames, and no interrupt reaches it."""
    set_limit = sys.setrecursionlimit

    def setrecursionlimit(limit: Any, /) -> None:
        set_limit(min(limit, DEEPEST) if isinstance(limit, int) else limit)

    sys.setrecursionlimit = setrecursionlimit
    try:
        yield
    finally:
        sys.setrecursionlimit = set_limit


def _copied(args: tuple) -> tuple:
    """A copy of the inputs, by pickling if possible, which is ten times as fast for thousands of small lists."""
    try:
        return cast("tuple", pickle.loads(pickle.dumps(args)))
    except (pickle.PicklingError, AttributeError, TypeError):  # a function without a name among them
        return copy.deepcopy(args)


def run(driver: Callable[..., Any], entry: Any, args: tuple, limits: Limits) -> dict[str, Any]:
    """Call `driver(entry, *copies of args)` under limits and return the outcome:

    got (plain data), error (None or type, mro, message, where), late, idle (late, and little processor time was used), printed,
    mutated, raised_limit. KeyboardInterrupt passes through: it is the learner's own wish.
    """
    outcome: dict[str, Any] = {"got": None, "error": None, "printed": ""}
    outcome |= dict.fromkeys(("late", "idle", "mutated", "raised_limit"), False)
    load_engine()  # before the clock starts: it takes longer than most answers
    inputs = _copied(args)
    stream = _Trimmed(limits.printed)
    began = spent()
    old_limit, new_limit = sys.getrecursionlimit(), _depth() + limits.recursion
    try:
        with (
            _settings_put_back(),
            _recursion_capped(),
            _modes_put_back(),
            redirect_stdout(stream),
            redirect_stderr(stream),
            _front_end_unheard(),
            warnings.catch_warnings(),
            deadline(limits),
        ):
            warnings.simplefilter("ignore")
            sys.setrecursionlimit(new_limit)
            try:
                if library := borrowed(entry):
                    raise Borrowed(f"{safe_name(entry)} comes from {library}; this exercise asks for one of your own")
                raw = driver(entry, *inputs)
                if isinstance(raw, Mutated):
                    raw, outcome["mutated"] = raw.out, True
                outcome["got"] = plain(raw)
                outcome["mutated"] |= repr(plain(inputs)) != repr(plain(args))
            finally:
                outcome["raised_limit"] = sys.getrecursionlimit() != new_limit
                sys.setrecursionlimit(old_limit)
    except KeyboardInterrupt:
        raise
    except TimeUp:
        outcome["late"], outcome["idle"] = True, spent() - began < limits.seconds / 2
    except BaseException as error:  # whatever it is, the kernel must go on
        outcome["error"] = _explain(error)
    finally:  # again: the time limit can expire in the `finally` above, for example while Python returns from a very deep call
        outcome["raised_limit"] |= sys.getrecursionlimit() not in (new_limit, old_limit)
        sys.setrecursionlimit(old_limit)
    outcome["printed"] = stream.text()
    return outcome


def borrowed(entry: Any) -> str:
    """The library that a function, or a class or one of its bases, was imported from, or "". A subclass of Function is an answer."""
    owners = type.mro(entry) if isinstance(entry, type) else [entry] if callable(entry) else []
    if any(safe_name(owner) == "Function" for owner in owners[1:]):
        owners = owners[:1]
    roots = (str(getattr(owner, "__module__", "")).partition(".")[0] for owner in owners)
    return next((root for root in roots if root in LIBRARIES), "")


def run_probes(ex: Exercise, entry: Any, inputs: Mapping[str, tuple] | None = None) -> dict[str, dict]:
    """Run every probe on an answer, in this process, until one exceeds the time limit."""
    outcomes: dict[str, dict] = {}
    for probe in ex.probes:
        outcomes[probe.name] = run(probe.driver, entry, (inputs or {}).get(probe.name, probe.args), ex.limits)
        if outcomes[probe.name]["late"]:
            break
    return outcomes


@cache
def _library(filename: str) -> bool:
    """Whether a file is the engine's or a library's."""
    return os.path.abspath(filename).startswith(NOT_THEIRS)


def _answers(filename: str) -> bool:
    """Whether TimeUp may be raised again in a file's frames."""
    return filename not in TAKES_DOWN and not _library(filename)


def _theirs(filename: str) -> bool:
    """Whether a line of this file is the learner's: not a driver's expression, nor the engine's, nor a library's."""
    return filename != "<string>" and not filename.startswith("<minigrad") and not _library(filename)


def _explain(error: BaseException) -> dict[str, Any]:
    try:
        message = " ".join(str(error).split())[:200]
    except BaseException:  # an exception whose own text fails
        message = ""
    where, tb = None, error.__traceback__
    while tb is not None:
        code = tb.tb_frame.f_code
        if _theirs(code.co_filename):
            line = linecache.getline(code.co_filename, tb.tb_lineno).strip()
            where = {"line": tb.tb_lineno, "text": line[:80], "function": code.co_name}
        tb = tb.tb_next
    return {
        "type": safe_name(type(error)),
        "mro": [safe_name(c) for c in type(error).__mro__],
        "message": message,
        "where": where,
    }
