"""A cell that runs again puts away what it showed before, also from IPython's memory of results."""

import gc
import sys
import weakref

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from minigrad import Value
from widgets import cells, graph


@pytest.fixture
def shell(monkeypatch):
    """An IPython whose cells have names, as in a notebook; `shell.run(cell)` runs it as Jupyter does."""
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])  # a shell puts its own there
    shell = InteractiveShell(config=Config({"HistoryManager": {"enabled": False}}))
    runs = iter(range(100))

    def run(cell, code):
        at = (cell, str(next(runs)))
        monkeypatch.setattr(cells, "running", lambda: at)
        monkeypatch.setattr(cells, "ipython", lambda: shell)
        assert shell.run_cell(code, store_history=True).success

    shell.user_ns |= {"graph": graph, "y": Value(2.0) * Value(3.0)}
    shell.run = run
    yield shell
    shell.reset(new_session=False)


def test_out_lets_go_of_a_view_whose_cell_ran_again(shell):
    shell.run("a", "graph(y)")
    old = weakref.ref(shell.user_ns["Out"][1])
    for _ in range(4):  # `_`, `__` and `___` keep the last three
        shell.run("a", "graph(y)")
    gc.collect()
    assert old() is None
    assert [*shell.user_ns["Out"]] == [5] and "_1" not in shell.user_ns and "_5" in shell.user_ns
    # Newer versions keep results as text, too, under the number of their run. (Displayed outputs under 0: a kernel keeps none of them.)
    assert {*getattr(shell.history_manager, "outputs", {})} <= {0, 5}


def test_a_view_with_a_name_stays(shell):
    shell.run("a", "v = graph(y); v")
    for _ in range(4):
        shell.run("a", "graph(y)")
    shell.run("b", "v")
    assert shell.user_ns["Out"][6] is shell.user_ns["v"]


def test_a_view_that_another_cell_shows_too_stays_open(shell):
    shell.run("a", "v = graph(y); v")
    shell.run("b", "v")
    shell.run("a", "graph(y)")
    assert shell.user_ns["v"].comm is not None, "cell b still shows it"
    shell.run("b", "0; graph(y)")
    assert shell.user_ns["v"].comm is None
