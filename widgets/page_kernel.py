"""The kernel of a page: IPython without Jupyter, in a browser's worker.

What lives here: running a cell, what it shows, the comms of its widgets, one namespace per chapter, the learner's files, and which cells
a cell needs. What does not: drawing (front/src/book/outputs.js), fetching and starting Python (front/src/book/worker.js). `prepare()` is
everything that a memory snapshot may hold: it touches neither JavaScript nor numpy, so this file is imported without the package around it.
"""

from __future__ import annotations

import ast
import builtins
import gc
import hashlib
import importlib
import json
import logging
import os
import re
import sys
import time
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

HOME = "/reader/book"  # where notebooks would lie: my_engine.py is written here
PROGRESS = "/reader/progress.json"
LONGEST = 200_000  # characters of one stream of one cell
# The last ones are Python's own, which numpy and the course import
SLOW = "ipywidgets anywidget minigrad decimal difflib gzip html platform secrets".split()
BIGGEST = 2_000_000  # bytes of a file that is kept
OFTEN = 0.1  # seconds between two messages with what was printed: a loop that prints must not bury the page under them

post: Callable[[str, str, Any], None] | None = None  # set by worker.js
shell: Any = None
manager: Any = None
spaces: dict[str, types.ModuleType] = {}
_cell = ""
_known: dict[str, bytes] = {}  # path: digest of what the page has stored


def prepare() -> None:
    """Import what takes long and is the same for everybody."""
    global shell, manager
    os.makedirs(HOME, exist_ok=True)
    os.chdir(HOME)
    os.environ.update(HOME="/reader", MPLBACKEND="agg", MINIGRAD_PROGRESS=PROGRESS)
    _leave_out()
    import comm
    from comm.base_comm import BaseComm, CommManager
    from IPython.core import pylabtools
    from IPython.core.displayhook import DisplayHook
    from IPython.core.displaypub import DisplayPublisher
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    class PageComm(BaseComm):
        def publish_msg(
            self, msg_type: str, data: Any = None, metadata: Any = None, buffers: Any = None, **keys: Any
        ) -> None:
            _send(msg_type, buffers, comm_id=self.comm_id, data=data or {}, **{k: v for k, v in keys.items() if v})

    manager = CommManager()
    comm.create_comm = lambda *args, **kwargs: PageComm(*args, **kwargs)  # type: ignore[assignment]
    comm.get_comm_manager = lambda: manager

    class Publisher(DisplayPublisher):
        def publish(self, data, metadata=None, source=None, *, transient=None, update=False, **more):  # type: ignore[no-untyped-def]
            kind = "update_display_data" if update else "display_data"
            _send(kind, data=data, metadata=metadata or {}, transient=transient or {})

        def clear_output(self, wait: bool = False) -> None:
            _send("clear_output", wait=wait)

    class Hook(DisplayHook):
        def start_displayhook(self) -> None:
            pass

        def write_output_prompt(self) -> None:
            pass

        def write_format_data(self, format_dict: Any, md_dict: Any = None) -> None:
            _send("execute_result", data=format_dict, metadata=md_dict or {})

        def finish_displayhook(self) -> None:
            pass

    class Shell(InteractiveShell):
        def _showtraceback(self, etype: type, evalue: object, stb: list[str]) -> None:
            _send("error", ename=etype.__name__, evalue=str(evalue), traceback=stb)

    quiet = Config()
    quiet.HistoryManager.enabled = False
    shell = Shell.instance(display_pub_class=Publisher, displayhook_class=Hook, colors="nocolor", config=quiet)
    shell.Completer.use_jedi = False
    if not hasattr(pylabtools, "backend2gui"):
        pylabtools.backend2gui = {}  # type: ignore[attr-defined]  # matplotlib 3.8 asks IPython 9 for it
    for name in SLOW:
        importlib.import_module(name)
    importlib.invalidate_caches()
    gc.collect()


def _leave_out() -> None:
    """Stand-ins for what IPython imports and a page never uses: the terminal (prompt_toolkit, wcwidth) and the history's data base."""
    terminal, embed, sqlite3 = (types.ModuleType(n) for n in ("IPython.terminal", "IPython.terminal.embed", "sqlite3"))
    terminal.__path__ = []
    error = type("DatabaseError", (Exception,), {})
    embed.__dict__.update(embed=None)
    sqlite3.__dict__.update(
        DatabaseError=error,
        OperationalError=error,
        Connection=object,
        connect=None,
        register_converter=lambda *args: None,
    )
    sys.modules.update({module.__name__: module for module in (terminal, embed, sqlite3)})


class Later(types.ModuleType):
    """matplotlib, before its files have come: `import matplotlib.pyplot as plt` costs nothing until something is drawn."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        for module in [m for m, held in sys.modules.items() if isinstance(held, Later)]:
            del sys.modules[module]
        return getattr(importlib.import_module(self.__name__), name)


def _no_input(prompt: object = "") -> str:
    raise RuntimeError("A page cannot ask for input while Python runs. Write the value into the cell instead.")


def begin() -> None:
    """After a start or a restored snapshot: what needs JavaScript or numpy."""
    os.makedirs(HOME, exist_ok=True)
    os.chdir(HOME)
    parent = {"metadata": {"cellId": ""}}
    shell.kernel = types.SimpleNamespace(get_parent=lambda *_: parent)  # error panels ask whether there is a page
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
    builtins.input = _no_input
    time.process_time = time.perf_counter  # the worker's own processor time does not advance
    if "matplotlib" not in sys.modules:
        pyplot, matplotlib = Later("matplotlib.pyplot"), Later("matplotlib")
        matplotlib.__path__ = []
        matplotlib.__dict__["pyplot"] = pyplot
        sys.modules.update({"matplotlib": matplotlib, "matplotlib.pyplot": pyplot})


def _send(kind: str, buffers: Iterable[Any] | None = (), **content: Any) -> None:
    if kind != "stream":
        _flush()
    if post is not None:
        post(kind, json.dumps(content, default=str), [memoryview(b).tobytes() for b in buffers or ()])


_said: list[tuple[str, str]] = []  # what was printed and not sent
_when = 0.0


def _flush() -> None:
    global _when
    while _said:
        name, texts = _said[0][0], []
        while _said and _said[0][0] == name:
            texts.append(_said.pop(0)[1])
        _send("stream", name=name, text="".join(texts))
    _when = time.monotonic()


class Stream:
    encoding = "utf-8"

    def __init__(self, name: str) -> None:
        self.name, self.said = name, 0

    def write(self, text: str) -> int:
        before, self.said = self.said, self.said + len(text)
        if before < LONGEST:
            more = "" if self.said < LONGEST else "\n... and so on: the page shows the first 200,000 characters.\n"
            _said.append((self.name, text[: LONGEST - before] + more))
            if time.monotonic() - _when > OFTEN:
                _flush()
        return len(text)

    def flush(self) -> None:
        pass

    def isatty(self) -> bool:
        return False


def enter(chapter: str) -> None:
    """Every chapter has a namespace of its own, as it has a kernel of its own in JupyterLab. Modules and files are shared."""
    module = spaces.get(chapter)
    fresh = module is None
    if module is None:
        module = spaces[chapter] = types.ModuleType("__main__")
        module.__dict__.setdefault("__builtins__", builtins)
    shell.user_module, shell.user_ns = module, module.__dict__
    sys.modules["__main__"] = module
    if fresh:
        shell.init_user_ns()
        shell.extension_manager.loaded.discard("minigrad")  # each chapter loads it, and none is told that it is there
    shell.Completer.namespace = shell.user_ns


def run(chapter: str, cell: str, code: str) -> bool:
    """Run a cell. True if it came to its end."""
    enter(chapter)
    shell.kernel.get_parent()["metadata"]["cellId"] = cell
    out, err = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = Stream("stdout"), Stream("stderr")  # type: ignore[assignment]
    try:
        return bool(shell.run_cell(code, store_history=True).success)
    finally:
        sys.stdout, sys.stderr = out, err
        _flush()
        keep_files()


def message(comm_id: str, content: str, buffers: Any) -> None:
    """What a view of the page says to its widget."""
    found = manager.comms.get(comm_id)
    if found is not None:
        views = [memoryview(b.to_bytes() if hasattr(b, "to_bytes") else b) for b in buffers]
        found.handle_msg({"content": {"data": json.loads(content)}, "buffers": views})
        keep_files()


def complete(chapter: str, code: str, at: int) -> str:
    enter(chapter)
    text, matches = shell.complete(None, code, at)
    return json.dumps([text, matches[:80]])


# ---- the learner's files


def _files() -> Iterator[str]:
    if os.path.exists(PROGRESS):
        yield PROGRESS
    for name in sorted(os.listdir(HOME)):
        if os.path.isfile(os.path.join(HOME, name)):
            yield os.path.join(HOME, name)


def _digest(held: bytes) -> bytes:
    return hashlib.blake2b(held, digest_size=8).digest()


def keep_files() -> None:
    """Hand to the page what has changed, so that it is there after a reload."""
    for path in _files():
        if os.path.getsize(path) > BIGGEST:
            continue
        with open(path, "rb") as file:
            held = file.read()
        if _known.get(path) != _digest(held):
            _known[path] = _digest(held)
            _send("file", [held], path=path)


def put_file(path: str, data: Any) -> None:
    held = bytes(data.to_py()) if hasattr(data, "to_py") else bytes(data)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(held)
    _known[path] = _digest(held)


# ---- which cells a cell needs

MAGIC = re.compile(r"^\s*%%?\w+.*$|^\s*!.*$", re.M)
# A call on them changes no name
MODULES = {
    "plt",
    "torch",
    "minigrad",
    "np",
    "numpy",
    "math",
    "random",
    "check",
    "warnings",
    "F",
    "nn",
}
SCOPES = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Lambda,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
)


def _names(source: str) -> tuple[set[str], set[str], bool] | None:
    """(names it reads, names it gives or changes, does it load an extension?). None where Python cannot read it."""
    words = " ".join(re.findall(r"^\s*%%?\w+(.*)$", source, re.M))
    try:
        tree = ast.parse(MAGIC.sub("", source))
    except SyntaxError:
        return None
    reads, gives = set(re.findall(r"[^\W\d]\w*", words)), set[str]()
    for node in tree.body:
        _scan(node, reads, gives)
    return reads, gives, "%load_ext" in source


def _scan(node: ast.AST, reads: set[str], gives: set[str]) -> None:
    """What a statement reads and gives at the level of the cell; "~x" is given where x is changed: y.backward(), net[0] = ..."""
    if isinstance(node, SCOPES):
        _scope(node, reads)
        gives |= {node.name} if hasattr(node, "name") else set()
        for decorator in getattr(node, "decorator_list", []):
            _scan(decorator, reads, gives)
        return
    if isinstance(node, ast.Name):
        (reads if isinstance(node.ctx, ast.Load) else gives).add(node.id)
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        gives |= {(name.asname or name.name).split(".")[0] for name in node.names}
    elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        reads.add(node.target.id)
    target = node.func if isinstance(node, ast.Call) else node
    if isinstance(target, (ast.Attribute, ast.Subscript)) and (
        isinstance(node, ast.Call) or isinstance(target.ctx, ast.Store)
    ):
        inner: ast.expr = target
        while isinstance(inner, (ast.Attribute, ast.Subscript)):
            inner = inner.value
        if isinstance(inner, ast.Name):
            gives.add("~" + inner.id)
    for part in ast.iter_child_nodes(node):
        _scan(part, reads, gives)


def _scope(node: ast.AST, reads: set[str]) -> None:
    """What a function, a class or a comprehension reads from outside."""
    own, inner = {part.arg for part in ast.walk(node) if isinstance(part, ast.arg)}, set[str]()
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            (inner if isinstance(part.ctx, ast.Load) else own).add(part.id)
        elif part is not node and isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            own.add(part.name)
        elif isinstance(part, (ast.Import, ast.ImportFrom)):
            own.update((name.asname or name.name).split(".")[0] for name in part.names)
    reads |= inner - own


def needed(sources: str, done: str, at: int) -> str:
    """The cells above `at` that have not run and that it needs, in order: for each name that is wanted the last cell that gives it, and
    the cells between that change it. Nothing where Python cannot read the cell: it runs as it is, and says what is missing."""
    ran = set(json.loads(done))
    about = [_names(source) for source in json.loads(sources)[: at + 1]]
    if about[at] is None:
        return json.dumps([])
    wanted, found = set(about[at][0]), []  # type: ignore[index]
    for k in range(at - 1, -1, -1):
        here = about[k]
        if here is None:
            continue
        reads, gives, loads = here
        bound = {name for name in gives if name[0] != "~"}
        changed = {name[1:] for name in gives if name[0] == "~"} - bound - MODULES
        if not ((bound | changed) & wanted or loads):
            continue
        wanted -= bound - reads  # whoever gave it before does not matter
        if k not in ran:
            found.append(k)
            wanted |= reads
    return json.dumps(found[::-1])
