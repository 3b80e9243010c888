"""What every test shares, the notebooks' kernels included: whose code runs, and in which settings.

What lives here: the environment that the tests (and the kernels and servers that they start) run in, and their order. What does not:
fixtures; those lie in the folder of tests that uses them. It is at the root because pytest also collects notebooks/.
"""

import gc
import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent
HOME = Path(tempfile.mkdtemp(prefix="minigrad-tests-"))

# Kernels start in other folders: they import this checkout, even where the project is not installed.
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
# Neither the IPython profile nor the course's progress of whoever runs the tests may change what a notebook shows, or be changed by it.
os.environ["IPYTHONDIR"] = str(HOME / "ipython")
os.environ["MINIGRAD_PROGRESS"] = str(HOME / "progress.json")
# What is compiled is kept, whatever the environment says: else each of some hundred kernels and servers compiles the project again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# Two workers share the machine: a matrix product on one core each beats two that wait for each other on both. The results are the same.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


# What takes long comes first, so that two workers end together; the browser's files in one piece, because they share a browser.
FIRST = (
    "tests/browser/",
    "notebooks/",
    "tests/notebooks/",
    "tests/course/",
    "tests/test_book_pages.py",
    "tests/test_commands.py",
)


def pytest_configure(config):
    config.option.loadscopereorder = (
        False  # xdist's own order is by the number of tests in a file, which says nothing of their time
    )


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    items.sort(
        key=lambda item: next((place for place, start in enumerate(FIRST) if item.nodeid.startswith(start)), len(FIRST))
    )


def _keep_what_is_there():
    """What is alive now stays: no later collection of garbage looks at it again. IPython collects several times in each test of a magic,
    and after a thousand other tests there are two million objects to look at, which takes a second."""
    gc.collect()
    gc.freeze()


def pytest_collection_finish():
    _keep_what_is_there()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item, nextitem):
    if nextitem is not None and nextitem.path != item.path:
        _keep_what_is_there()


def pytest_unconfigure():
    shutil.rmtree(HOME, ignore_errors=True)
