"""What "The same in PyTorch" says is true: each note runs with minigrad in torch's place, with real torch where it is installed, and prints
what its comments promise."""

import contextlib
import importlib
import io
import re
import sys
from importlib.util import find_spec

import nbformat
import pytest

from .store import all_notebooks


def notes():
    for path in all_notebooks():
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type == "markdown" and "The same in PyTorch" in cell.source:
                for code in re.findall(r"```python\n(.*?)```", cell.source, flags=re.S):
                    yield pytest.param(code, id=path.stem)


def promised(code):
    """What the comments behind the prints say, line by line."""
    return [line.split("#", 1)[1].strip() for line in code.splitlines() if line.startswith("print") and "#" in line]


@pytest.mark.parametrize("engine", ["minigrad", *(["torch"] if find_spec("torch") else [])])
@pytest.mark.parametrize("code", list(notes()))
def test_the_note_is_true(code, engine, monkeypatch):
    if engine == "minigrad":
        monkeypatch.setitem(sys.modules, "torch", importlib.import_module("minigrad"))
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(code, "<note>", "exec"), {})
    assert promised(code) and said.getvalue().splitlines() == promised(code)


def test_there_are_notes():
    assert list(notes())
