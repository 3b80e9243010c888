"""The server that runs answers, and its children: the engine is imported once, and every answer gets a fresh, limited process.

What lives here: what happens inside the kit. What does not: finding answers, judging what they give (answers.py), what the operating
system is asked to refuse (sandbox.py). This file travels into the kit; nothing in it knows a solution or an expected value.
"""

from __future__ import annotations

import gc
import importlib
import json
import linecache
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from . import sandbox
from .server import END, MAX_RESULT, Box, fork, receive, serve


def main() -> None:
    """Import what answers need, give up what can be given up at once, then fork a child for every job that arrives on stdin.

    The first message names the folders that no answer may read. Nothing here keeps their names: a child would inherit them.
    """
    folder = tempfile.mkdtemp(prefix="minigrad-runs-")
    os.chmod(folder, 0o711)
    runs = os.path.join(folder, "runs")
    os.mkdir(runs, 0o711)
    offline, small_disk = sandbox.own_world(runs)
    _only_the_kit()
    _preload()
    secret = os.path.join(folder, "hidden")
    with open(secret, "w") as file:
        file.write("a file that no submission may read")
    rules, hidden = _rules(runs)
    setting = {
        "rules": rules,
        "who": sandbox.nobody(rules),
        "own_users": offline,
        "hidden": hidden,
        "small_disk": small_disk,
    }
    try:
        raw, _ = _run_apart({"measure": secret, "box": asdict(Box()) | {"memory": 1 << 30}}, setting, runs, 20)
        serve(json.loads(raw.split(b"\n")[0] or b"{}"), lambda job: _run_apart(job, setting, runs, job["box"]["wall"]))
    finally:
        if small_disk:
            sandbox.unmount(runs)
        shutil.rmtree(folder, ignore_errors=True)


def _rules(runs: str) -> tuple[int | None, frozenset[bytes]]:
    hidden = json.loads(receive(0, time.monotonic() + 60))
    return sandbox.file_rules([str(Path(__file__).resolve().parents[3])], runs, hidden), sandbox.hashes(hidden)


def _only_the_kit() -> None:
    """Forget where else minigrad is installed: an editable installation leaves the folder of its source in a finder or on the path."""
    kit = str(Path(__file__).resolve().parents[3])
    sys.meta_path[:] = [f for f in sys.meta_path if not getattr(f, "__module__", "").startswith("__editable__")]
    for name in [n for n in sys.modules if n.startswith("__editable__")]:
        del sys.modules[name]
    source = [
        p
        for p in sys.path
        if p != kit and not p.endswith("-packages") and os.path.isdir(os.path.join(p, "minigrad", "course"))
    ]
    sys.path[:] = [p for p in sys.path if p not in source and not p.startswith("__editable__")]
    sys.path_hooks[:] = [h for h in sys.path_hooks if not getattr(h, "__module__", "").startswith("__editable__")
                         and "__editable__" not in getattr(getattr(h, "__self__", h), "__module__", "")]  # fmt: skip
    sys.path_importer_cache.clear()


def _preload() -> None:
    """Import the engine here, so that no child has to."""
    for name in ("numpy", "minigrad.api", "minigrad.nn", "minigrad.optim", "minigrad.func", "minigrad.autograd", "minigrad.course.drivers",
                 "minigrad.course.guard", "dataclasses", "collections", "functools", "itertools", "heapq", "random"):  # fmt: skip
        try:
            importlib.import_module(name)
        except ImportError:
            pass  # it is imported where it is used, and the message appears there
    gc.collect()
    gc.freeze()


def _run_apart(job: Mapping[str, Any], setting: Mapping[str, Any], runs: str, wall: float) -> tuple[bytes, str]:
    """Run one job in a child with an empty folder. Returns its output, and "" or a sentence about how it ended."""
    empty = tempfile.mkdtemp(dir=runs)
    if setting["who"]:
        os.chown(empty, *setting["who"][:2])
    try:
        too_much = None if setting["small_disk"] else lambda: _too_much(empty)
        return fork(lambda put: _child(job, setting, put, empty), wall, MAX_RESULT, too_much)
    finally:
        if setting["who"]:
            os.chown(empty, 0, 0)
        _remove(empty)


def _remove(folder: str) -> None:
    """Delete a folder whatever rights its folders were made with."""
    for path, folders, _ in os.walk(folder):
        for name in folders:
            if not os.path.islink(inner := os.path.join(path, name)):
                os.chmod(inner, 0o700)
    shutil.rmtree(folder, ignore_errors=True)


def _too_much(folder: str) -> bool:
    """Whether an answer has written more than it may: asked again and again where there is no small disk to write on."""
    sizes = [os.lstat(os.path.join(path, name)).st_size for path, _, names in os.walk(folder) for name in names]
    return sum(sizes) > sandbox.DISK or len(sizes) > sandbox.FILES


# ---- the child's side -------------------------------------------------------------------------------------------------------------


def _child(job: Mapping[str, Any], setting: Mapping[str, Any], put: int, empty: str) -> None:
    """Run a job under limits and write one line of JSON for every probe to the pipe `put`. Does not return."""
    from .. import drivers
    from ..exercise import Limits
    from ..guard import run

    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    os.set_inheritable(put, False)
    os.chdir(empty)
    os.environ.update(HOME=empty, TMPDIR=empty)
    tempfile.tempdir = None
    rules = setting["rules"]
    top = 256 if rules is None else rules
    for fd in range(3, max(top, put) + 64):
        if fd not in (put, rules):
            try:
                os.close(fd)
            except OSError:
                pass
    sandbox.enter(job["box"], empty, rules, setting["who"], setting["own_users"])
    if "measure" in job:
        os.write(put, json.dumps(sandbox.measured(job["measure"], job["box"]["memory"])).encode() + END)
        os._exit(0)
    sandbox.watch(setting["hidden"])
    _same_chance()
    limits, write, dump = Limits(**job["limits"]), os.write, json.dumps

    def say(data: bytes) -> None:  # not write_all: an answer could replace that
        view = memoryview(data)
        while view:
            view = view[write(put, view) :]

    # Before the answer, which could replace them
    measures = [getattr(drivers, probe["driver"]) for probe in job["probes"]]
    put_back = [_snapshot(module) for name, module in [*sys.modules.items()] if name.startswith(drivers.__name__)]
    loaded = run(_load, (job["source"], job["entry"], job["helpers"], job["after"]), (), limits)
    if _entry and not loaded["late"]:
        loaded["error"] = None  # as in a notebook: names defined before the error exist
    for probe, driver in zip(job["probes"], measures, strict=True):
        outcome = loaded
        if not (loaded["error"] or loaded["late"]):
            for restore in put_back:
                restore()
            outcome = run(driver, _entry[0], tuple(probe["args"]), limits)
        say(dump({"probe": probe["name"], **outcome, "loading": outcome is loaded}).encode() + b"\n")
        if outcome["late"]:
            break
    say(END)
    os._exit(0)  # not the student's atexit handlers and threads


def _snapshot(module: ModuleType) -> Callable[[], None]:
    """A function that gives a module its names, and its functions their code, as they are now: an answer may have changed them.

    What an answer does while a driver calls it is not undone, so a property that a driver reports can still be claimed (replay.py).
    """
    names = dict(vars(module))
    owners = [names, *(vars(c) for c in names.values() if isinstance(c, type) and c.__module__ == module.__name__)]
    functions = [f for owner in owners for f in owner.values() if isinstance(f, FunctionType)]
    codes = [(f, f.__code__, f.__defaults__, f.__kwdefaults__) for f in functions]

    def put_back() -> None:
        vars(module).update(names)
        for f, code, defaults, named in codes:
            f.__code__, f.__defaults__, f.__kwdefaults__ = code, defaults, named

    return put_back


def _same_chance() -> None:
    """One seed for every generator that an answer may use: the same answer gets the same grade in every run."""
    random.seed(0)
    if (numpy := sys.modules.get("numpy")) is not None:
        numpy.random.seed(0)
    engine = sys.modules.get("minigrad")
    if hasattr(engine, "manual_seed"):
        engine.manual_seed(0)  # type: ignore[union-attr]


_entry: list[Any] = []


def _load(job: tuple[str, str, list[str], list[str]]) -> None:
    source, entry, helpers, after = job
    namespace: dict[str, Any] = {"__name__": "submission"}

    def run_parts(parts: list[str], name: str) -> None:
        for number, part in enumerate(parts):
            try:
                exec(compile(part, f"<{name} {number}>", "exec"), namespace)
            except Exception:  # a missing name is reported where it is used
                pass

    run_parts(helpers, "helper")
    namespace.pop(entry, None)
    linecache.cache["<submission>"] = (len(source), None, [line + "\n" for line in source.split("\n")], "<submission>")
    try:
        exec(compile(source, "<submission>", "exec"), namespace)
    finally:
        if entry in namespace:
            _entry[:] = [namespace[entry]]
    if not _entry:
        raise NameError(f"the answer defines no {entry}")
    run_parts(after, "after")
    _entry[:] = [namespace.get(entry, _entry[0])]
