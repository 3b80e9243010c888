"""What the notes "The same in PyTorch" promise is what happens: their code runs, and prints what the comments beside each print say.

With PyTorch installed it is PyTorch that runs them, else minigrad under its name: `import torch` is then `import minigrad as torch`.
"""

import contextlib
import importlib.util
import io
import re

import nbformat
import pytest

from tools.store import all_notebooks

PROMISE = re.compile(r"^\s*print\(.*\)\s+#\s(.*)$", re.M)


def notes():
    """(chapter, code) of every block of Python in a note."""
    for path in all_notebooks():
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type == "markdown" and "The same in PyTorch" in cell.source:
                for code in re.findall(r"```python\n(.*?)```", cell.source, re.S):
                    yield pytest.param(code, id=path.stem)


def printed(code):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "note", "exec"), {"__name__": "note"})
    return out.getvalue().splitlines()


@pytest.mark.parametrize("code", list(notes()))
def test_note(code):
    if importlib.util.find_spec("torch") is None:
        # Not by an alias in sys.modules: `from torch.autograd import ...` would then load a second copy of each file.
        code = re.sub(r"^from torch\b", "from minigrad", code, flags=re.M)
        code = re.sub(r"^import torch$", "import minigrad as torch", code, flags=re.M)
        assert not re.search(r"^import torch\b", code, re.M), "write `import torch`, or `from torch.part import name`"
    promised = PROMISE.findall(code)
    assert promised, "a note shows what its code prints"
    assert printed(code) == promised


def test_a_wrong_promise_is_seen():
    code = "print(1 + 1)    # 3\n"
    assert PROMISE.findall(code) == ["3"] != printed(code)
