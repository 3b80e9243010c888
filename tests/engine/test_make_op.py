"""`make op` with an operation that does not exist yet, in a copy of the project: it ends with 0 only if the operation is right."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import minigrad

ROOT = Path(__file__).parents[2]
FUNCTION = """

def _erfinv(x):
    from statistics import NormalDist

    x = _floating(x)
    outside = {-1.0: -INF, 1.0: INF}
    numbers = [NormalDist().inv_cdf((v + 1) / 2) / math.sqrt(2) if -1 < v < 1 else outside.get(v, NAN) for v in x.ravel().tolist()]
    return np.copysign(np.array(numbers, x.dtype).reshape(x.shape), x)
"""
# PyTorch is no dependency, so minigrad answers in its place while the operation is right. The answers are compared with known numbers here.
STAND_IN = "import sys, minigrad\nminigrad.tensor\nminigrad.__version__ = '2.13.0'\nsys.modules['torch'] = minigrad\n"
OPERATION = [
    "erfinv",
    "--forward",
    "_erfinv(x)",
    "--rule",
    "g * 0.886226925452758 * exp(out * out)",
    "--domain",
    "U",
    "--doc",
    "The inverse of erf.",
]


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    assert not hasattr(minigrad, "erfinv"), "erfinv has been added: choose another operation for this test"
    root = tmp_path_factory.mktemp("project")
    for name in ("minigrad", "tools", "tests/engine", "docs"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__", "*.nbc", "*.nbi"))
    for name in ("pyproject.toml", "tests/__init__.py", "tests/thorough.py"):
        shutil.copy(ROOT / name, root / name)
    rows = root / "minigrad/ops/elementwise.py"
    rows.write_text(rows.read_text() + FUNCTION)
    (root / "torch.py").write_text(STAND_IN)
    return root


def make_op(root):
    """The exit code of `make op`, and what it printed."""
    command = [sys.executable, "-m", "tools.op", *OPERATION]
    done = subprocess.run(
        command, cwd=root, env={**os.environ, "PYTHONPATH": str(root)}, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


def break_(path, old, new):
    text = path.read_text()
    assert text.count(old) == 1, (path, old)
    path.write_text(text.replace(old, new))


def test_an_operation_that_is_right_ends_green(copy):
    code, printed = make_op(copy)
    assert code == 0, printed
    assert "3 new answers, 0 dropped" in printed
    answers = (copy / "tests/engine/reference/elementwise.json").read_text()
    assert (
        '"erfinv kinks": {"out":[["float64",[15],[NaN,NaN,NaN,NaN,-Infinity,-0.4769362762045,-0.0,0.0,0.4769362762045,Infinity'
        in answers
    )
    for name in ("api.py", "tensors/methods.py", "tensors/methods.pyi", "ops/elementwise.py"):
        assert "erfinv" in (copy / "minigrad" / name).read_text(), name
    for name in ("minigrad/core/absent.py", "minigrad/tensors/tensor.py"):
        assert "erfinv" not in (copy / name).read_text(), name
    assert "`erfinv`" not in (copy / "docs/compatibility.md").read_text()


BREAKS = {
    "a negative zero": ("ops/elementwise.py", "return np.copysign(np.array(numbers", "return (0 + np.array(numbers"),
    "a rule": ("ops/elementwise.py", "x=lambda g, out: g * 0.886", "x=lambda g, out: g * 0.887"),
    "a list": ("tensors/tensor.py", "angle apply_ bfloat16", "angle erfinv apply_ bfloat16"),
    "a table": ("core/absent.py", '    "matrix_exp": Absent(', '    "erfinv": _SPECIAL,\n    "matrix_exp": Absent('),
}
NOTICED = {
    "a negative zero": "erfinv kinks",
    "a rule": "test_adjoint_and_differences[erfinv]",
    "a list": "Tensor.erfinv exists, and _UNSUPPORTED says that it does not",
    "a table": "erfinv: in minigrad/api.py, and in the table of missing names",
}


@pytest.mark.parametrize("name", BREAKS)
def test_one_that_is_broken_does_not(copy, name):
    """The answers are stored, so each break on purpose is noticed, and by its name."""
    file, old, new = BREAKS[name]
    path = copy / "minigrad" / file
    before = path.read_text()
    break_(path, old, new)
    try:
        if file.startswith("ops"):
            code, printed = make_op(copy)
        else:  # `make op` would take the name out of the list again
            done = subprocess.run(
                [sys.executable, "-c", "import minigrad; minigrad.tensor"],
                cwd=copy,
                capture_output=True,
                text=True,
                check=False,
            )
            code, printed = done.returncode, done.stderr
    finally:
        path.write_text(before)
    assert code != 0 and NOTICED[name] in printed, printed
