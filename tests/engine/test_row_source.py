"""What rows are written out as is Python that a type checker accepts, and notes are lines of it, not patches."""

import importlib
import pkgutil
import re
import subprocess
import sys
import textwrap

import pytest

import minigrad.nn  # noqa: F401
import minigrad.ops
from minigrad.core import provenance, row_source
from minigrad.core.op import TABLE, _write_out
from minigrad.ops.elementwise import mul

for module in pkgutil.iter_modules(minigrad.ops.__path__):
    importlib.import_module(f"minigrad.ops.{module.name}")

HEAD = """
from collections.abc import Callable
from typing import Any, TypeVar
from numpy import asarray, ndarray
from minigrad.core.dispatch import state
from minigrad.core.node import LIVE, Node, next_number
from minigrad.core.op import Op
from minigrad.core.saved import as_floats, check_output, check_saved, drop_packed, open_saved, output_of, record_several, view_of
from minigrad.core.slow_path import failed, general, on_ndarrays
from minigrad.core.variable import edge_of, leaf_edge, refresh
from minigrad.tensors.tensor import Tensor
T = TypeVar("T")
def new(kind: type[T]) -> T:
    return kind.__new__(kind)
def leave_note(*given: Any) -> Any: ...
def constants(*given: Any) -> Any: ...
def leave_cut(*given: Any) -> None: ...
INFERENCE: Any
"""
ROW = """
def row_{number}(op: Op, forward: Callable[..., Any], _defaults: dict[str, Any], {rules}) -> None:
    class NodeClass(Node):
        {slots}
"""


def checked(path, rows, change=lambda source: source):
    """What mypy says about the text of these rows, each in a function that has what a row's text may use as its parameters."""
    text = [HEAD]
    for number, op in enumerate(rows):
        saved = row_source.saved_by(op)
        names = [*(f"rule_{i}" for i in op.inputs), "joint_rule"]
        rules = ", ".join(f"{name}{kind}: Any" for name in names for kind in ("", "_on_arrays"))
        slots = "\n        ".join(f"{slot}: Any" for slot in row_source.slots_of(saved)) or "pass"
        text.append(ROW.format(number=number, rules=rules, slots=slots))
        noting = re.sub(r"\bdef (call|record)\b", r"def \1_with_notes", row_source.calls_source(op, saved, noting=True))
        text.append(textwrap.indent(change(op.source + "\n" + noting), "    "))
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--check-untyped-defs",
        "--follow-imports=silent",
        "--no-error-summary",
        "--config-file=",
    ]
    (path / "rows.py").write_text("\n".join(text))
    done = subprocess.run([*command, path / "rows.py"], capture_output=True, text=True, check=False)
    return [line for line in done.stdout.splitlines() if ": error:" in line] + done.stderr.splitlines()


def test_the_text_of_every_row_passes_the_type_checker(tmp_path):
    rows = list(TABLE.values())
    for op in rows:
        if not hasattr(op, "source"):
            _write_out(op)
    assert len(rows) > 250 and checked(tmp_path, rows) == []


@pytest.mark.parametrize(
    ("right", "wrong"), [("node.x_version =", "node.x_versoin ="), ("out.detached_by", "out.detach_by")]
)
def test_a_slip_in_the_text_is_found(tmp_path, right, wrong):
    assert any(
        wrong.split(".")[1].rstrip(" =") in line
        for line in checked(tmp_path, [mul], lambda source: source.replace(right, wrong))
    )


def test_notes_are_written_once_for_a_row_and_switched_on_and_off():
    one, two = minigrad.tensor(2.0, requires_grad=True), minigrad.tensor(3.0, requires_grad=True)
    plain = mul(one, two) and mul.call
    provenance.record_lines(True)
    try:
        noting = mul.call
        assert provenance.read(mul(one, two).grad_fn).code is sys._getframe().f_code
        provenance.record_lines(False)
        assert mul.call is plain and provenance.read(mul(one, two).grad_fn) is None
        provenance.record_lines(True)
        assert mul.call is noting
    finally:
        provenance.record_lines(False)
