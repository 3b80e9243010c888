"""What belongs to the whole process is listed in docs/dev/process-state.md, and what two threads reach at once holds."""

import ast
import re
import threading
from pathlib import Path

import numpy as np

import minigrad as torch
from minigrad.core.op import ELEMENTWISE, TABLE, Op

ROOT = Path(__file__).parents[2]
CHANGES = {"append", "add", "update", "pop", "clear", "setdefault", "extend", "remove", "discard", "insert", "popitem"}


def changed_in(path):
    """Names at the top of a file that functions change: by `global`, an item, an attribute, or a method of dicts, lists and sets."""
    tree, found = ast.parse(path.read_text()), set()
    tops = {t.id for n in tree.body if isinstance(n, ast.Assign) for t in n.targets if isinstance(t, ast.Name)}
    tops |= {n.target.id for n in tree.body if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)}
    for function in ast.walk(tree):
        if not isinstance(function, (ast.FunctionDef, ast.Lambda)):
            continue
        hidden = {a.arg for a in ast.walk(function) if isinstance(a, ast.arg)}
        hidden |= {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        for n in ast.walk(function):
            if isinstance(n, ast.Global):
                found |= set(n.names)
            target = None
            if isinstance(n, (ast.Subscript, ast.Attribute)) and isinstance(n.ctx, (ast.Store, ast.Del)):
                target = n.value
            elif isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr in CHANGES:
                target = n.func.value
            if isinstance(target, ast.Name) and target.id in tops - hidden:
                found.add(target.id)
    return found


def listed():
    text = (ROOT / "docs/dev/process-state.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([\w/.]+): ([\w, ]+)` \|", text, re.M)
    return {(path, name) for path, names in rows for name in names.split(", ")}


def test_the_list_is_complete_and_nothing_on_it_is_gone():
    found = set()
    for path in (ROOT / "minigrad").rglob("*.py"):
        where = path.relative_to(ROOT / "minigrad").as_posix()
        if not where.startswith("course/"):
            found |= {(where, name) for name in changed_in(path)}
    found -= {("core/dispatch.py", "state")} | {(where, "state") for where, _ in found}  # each thread has its own
    found -= {("autograd/forward_ad.py", "_levels")}  # the same
    assert found - listed() == set(), "list it in docs/dev/process-state.md, with who guards it"
    for where, name in listed():
        assert re.search(rf"^(def |\w+ = )?{name}\b", (ROOT / "minigrad" / where).read_text(), re.M), (where, name)


def test_a_change_is_found(tmp_path):
    (tmp_path / "a.py").write_text(
        "seen = {}\nhere = []\ndef f(x, here):\n    global on\n    on = seen[x] = 1\n    here.append(x)\n"
    )
    assert changed_in(tmp_path / "a.py") == {"on", "seen"}


def together(count, function):
    barrier, results = threading.Barrier(count), []

    def run():
        barrier.wait()
        results.append(function())

    threads = [threading.Thread(target=run) for _ in range(count)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    return results


def test_threads_that_use_a_row_first_at_once_get_one_class_of_nodes():
    x = torch.ones(2, requires_grad=True)
    for _ in range(5):
        op = Op("raced", lambda x: np.sin(x) * 2, ELEMENTWISE, x=lambda g, x: g * 2)
        try:
            assert {type(out.grad_fn) for out in together(8, lambda op=op: op(x))} == {op.node_class}
        finally:
            del TABLE["raced"]


def test_each_thread_has_its_own_dual_level():
    def slope():
        with torch.autograd.forward_ad.dual_level():
            dual = torch.autograd.forward_ad.make_dual(torch.tensor(3.0), torch.tensor(1.0))
            return torch.autograd.forward_ad.unpack_dual(dual * dual).tangent.item()

    assert together(8, slope) == [6.0] * 8
