"""Does `pip install` with the pins find a wheel for every package, on each Python and system that README names?

Nothing is installed: uv resolves for another interpreter without having it (pip's own --python-version leaves the markers of the one
that runs). It asks the package index, so the test is skipped where there is none.
"""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

import pytest

from .thorough import part

ROOT = Path(__file__).parents[1]
PYTHONS = ("3.11", "3.12", "3.13", "3.14", "3.15")
SYSTEMS = ("x86_64-unknown-linux-gnu", "aarch64-apple-darwin", "x86_64-pc-windows-msvc")


def resolve(python, system):
    command = [sys.executable, "-m", "uv", "pip", "compile", "pyproject.toml", "--quiet", "--no-annotate", "--no-header",
               "--constraint", "constraints.txt", "--only-binary", ":all:", "--python-version", python,
               "--python-platform", system]  # fmt: skip
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def test_every_pin_has_a_wheel():
    cases = part(list(product(PYTHONS, SYSTEMS)), 0, always=list(product((PYTHONS[0], PYTHONS[-1]), SYSTEMS)))
    with ThreadPoolExecutor(6) as pool:  # they wait for the index
        runs = dict(zip(cases, pool.map(lambda case: resolve(*case), cases), strict=True))
    if any(sign in run.stderr for run in runs.values() for sign in ("error sending request", "Failed to fetch")):
        pytest.skip("the package index does not answer")
    assert {case: run.stderr for case, run in runs.items() if run.returncode} == {}
    for run in runs.values():
        resolved = {line.split("==")[0] for line in run.stdout.splitlines()}
        assert {"anywidget", "ipywidgets", "jupyterlab", "matplotlib", "numba", "numpy"} <= resolved
