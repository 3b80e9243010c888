"""numpy's index type has 32 bits in a browser: no int64 reaches a call that casts "safely" to it."""

import ast
from pathlib import Path

import numpy as np
import pytest

import minigrad as torch
import minigrad.nn.functional as F
from minigrad.kernels import positions

ROOT = Path(__file__).parents[2]
# Found by giving each function of numpy that takes positions a uint64, which int64 holds as little as int32 holds an int64.
# (bincount takes it in new versions of numpy.)
SAFE_CASTS = {"bincount", "repeat", "take", "choose", "put", "reduceat", "insert"}


def calls_with_safe_casts(source):
    """(line, name) of each call of numpy's, or of a ufunc's, that would refuse an int64 in a browser."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name, where = node.func.attr, ast.unparse(node.func.value)
            if (
                name == "reduceat"
                or (name == "take" and where != "self")
                or (name in SAFE_CASTS and where in ("np", "numpy"))
            ):
                found.append((node.lineno, name))
            if name == "searchsorted" and any(k.arg == "sorter" for k in node.keywords) and where in ("np", "numpy"):
                found.append((node.lineno, name))
    return found


def test_only_one_file_has_such_calls():
    found = {}
    for path in [*(ROOT / "minigrad").rglob("*.py"), *(ROOT / "widgets").rglob("*.py")]:
        if (
            path != Path(positions.__file__)
            and "node_modules" not in path.parts
            and (calls := calls_with_safe_casts(path.read_text()))
        ):
            found[str(path.relative_to(ROOT))] = calls
    assert not found, "use minigrad.kernels.positions"


def test_such_a_call_is_found():
    assert calls_with_safe_casts("np.repeat(x, n)\nx.repeat(2)\nnp.add.reduceat(x, i)\nnp.searchsorted(a, b, sorter=c)") == [
        (1, "repeat"), (3, "reduceat"), (4, "searchsorted"),
    ]  # fmt: skip


WHOLE = torch.tensor([0, 1, 1, 3])
LINES = {
    "bincount": lambda: torch.bincount(WHOLE),
    "bincount with weights": lambda: torch.bincount(WHOLE, torch.ones(4)),
    "repeat_interleave": lambda: torch.repeat_interleave(torch.arange(4.0), WHOLE),
    "repeat_interleave of counts": lambda: torch.repeat_interleave(WHOLE),
    "repeat_interleave in a dimension": lambda: torch.repeat_interleave(torch.ones(4, 2), WHOLE, 0),
    "embedding by frequency": lambda: _gradient(lambda w: F.embedding(WHOLE, w, scale_grad_by_freq=True)),
    "embedding_bag": lambda: F.embedding_bag(WHOLE, torch.ones(4, 2), torch.tensor([0, 2])),
    "max_pool2d": lambda: _gradient(lambda w: F.max_pool2d(w[None, None], 2)),
    "max_pool2d in float16": lambda: (
        F.max_pool2d(torch.ones(1, 1, 4, 4, dtype=torch.float16, requires_grad=True), 2, 1).sum().backward()
    ),
    "as_strided": lambda: _gradient(lambda w: w.as_strided((3, 3), (1, 1))),
    "spirals": lambda: torch.datasets.spirals(20),
    "moons": lambda: torch.datasets.moons(20),
}


def _gradient(f):
    w = torch.ones(4, 4, requires_grad=True)
    return torch.autograd.grad(f(w).sum(), w)[0]


@pytest.mark.parametrize("line", LINES)
def test_where_addresses_have_32_bits_whole_numbers_are_cast_first(line, monkeypatch):
    expected = LINES[line]()

    def guarded(function, position):
        def call(*args, **kwargs):
            kind = np.asarray(args[position]).dtype
            if kind.itemsize > 4 and np.ndim(args[position]):
                raise TypeError(
                    f"Cannot cast array data from dtype('{kind}') to dtype('int32') according to the rule 'safe'"
                )
            return function(*args, **kwargs)

        return call

    monkeypatch.setattr(positions, "INDEX", np.int32)
    monkeypatch.setattr(np, "bincount", guarded(np.bincount, 0))
    monkeypatch.setattr(np, "repeat", guarded(np.repeat, 1))
    got = LINES[line]()
    if isinstance(got, torch.Tensor):
        assert torch.equal(got, expected)
