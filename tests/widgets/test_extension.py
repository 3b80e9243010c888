"""%load_ext minigrad and %graph in a real IPython, without a browser."""

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from minigrad import scalar


@pytest.fixture(scope="module")
def ipython():
    yield InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
    InteractiveShell.clear_instance()


@pytest.fixture
def shell(ipython):
    ipython.reset()
    yield ipython
    ipython.run_line_magic("unload_ext", "minigrad")
    scalar.record_lines(False)


def run(shell, code):
    result = shell.run_cell(code)
    assert result.success, result
    return result.result


def test_graph_of_a_name_and_of_an_expression(shell):
    run(shell, "%load_ext minigrad")
    run(shell, "from minigrad import Value\nx = Value(1.0)\ny = (3*x + 2)**2")
    view = run(shell, "%graph y")
    assert view.trace["title"] == "y = (3*x + 2)**2" and view.step == 4
    assert {n["label"] for n in view.trace["nodes"]} >= {"x", "y"}
    assert run(shell, "%graph (x + 1) * y --end").step > 4
    assert run(shell, "%graph y --start").step == 0
    view.close()


def test_the_package_of_the_views_is_the_same_extension(shell):
    run(shell, "%load_ext widgets")
    run(shell, "from minigrad import Value\nx = Value(-1.0)\ny = 2 * x.log()")
    view = run(shell, "%graph y")
    assert view.trace["title"] == "y = 2 * x.log()" and "nan" in str(view.trace["nodes"][-1]["value"])
    assert view.notice == "", "the live sentence says what is not finite, while it is"
    view.close()
    shell.run_line_magic("unload_ext", "widgets")


def test_lines_are_recorded_with_their_cell(shell):
    run(shell, "%load_ext minigrad")
    run(shell, "from minigrad import Value\nx = Value(1.0)\n\nu = x * 2")
    view = run(shell, "%graph u")
    source = {n["label"]: n["source"] for n in view.trace["nodes"]}["u"]
    assert (source["line"], source["text"]) == (4, "u = x * 2") and source["cell"].startswith("In [")


def test_what_a_variable_held_before_has_its_name_and_a_number(shell):
    run(shell, "%load_ext minigrad\nfrom minigrad import Value\nimport minigrad as torch")
    run(shell, "def power(w, h):\n    for _ in range(2): h = w * h\n    return h")
    run(shell, "w, h = Value(2.0), Value(1.0)\nfor _ in range(3):\n    h = w * h + 1")
    labels = [n["label"] for n in run(shell, "%graph h").trace["nodes"] if n["kind"] != "constant"]
    assert labels == ["w", "h₁", "w × h₁", "h₂", "w × h₂", "h₃", "w × h₃", "h"]
    run(shell, "k = power(w, h)")  # its h is another variable
    assert "h₄" not in [n["label"] for n in run(shell, "%graph k").trace["nodes"]]
    run(shell, "v = torch.ones(2, requires_grad=True)\nx = v * 2\nx = x.tanh()\nx += v")
    view = run(shell, "%graph x")
    assert [n["label"] for n in view.trace["nodes"]] == ["v", "2", "x₁", "x₂", "x"]
    shell.run_line_magic("unload_ext", "minigrad")


@pytest.mark.parametrize(
    "line, says",
    [
        ("", "%graph y"),
        ("z", "There is no variable 'z' yet"),
        ("X", "Did you mean 'x'?"),
        ("3 +", "cannot read '3 +'"),
        ("[x, x]", "list of Values"),
        ("3", "plain number"),
        ("len", "function"),
        ("1/0", "ZeroDivisionError"),
        ("x.nothing", "AttributeError"),
        ("Value", "class"),
    ],
)
def test_mistakes_get_a_sentence(shell, capsys, line, says):
    run(shell, "%load_ext minigrad")
    run(shell, "from minigrad import Value\nx = Value(1.0)")
    capsys.readouterr()
    assert run(shell, f"%graph {line}") is None
    out, err = capsys.readouterr()
    assert says in out and "Traceback" not in out + err and err == "" and out.count("\n") == 1


def test_help_and_completion(shell):
    run(shell, "%load_ext minigrad")
    run(shell, "from minigrad import Value\nloss = Value(1.0)\nother = 3")
    assert "step through" in shell.find_line_magic("graph").__doc__
    assert "loss" in shell.complete(None, "%graph lo", 9)[1]


def test_loading_twice_and_unloading(shell, capsys):
    run(shell, "%load_ext minigrad")
    run(shell, "%reload_ext minigrad")
    first = shell.find_line_magic("graph")
    run(shell, "%load_ext minigrad")
    assert shell.find_line_magic("graph") == first and scalar._recording
    run(shell, "%unload_ext minigrad")
    assert shell.find_line_magic("graph") is None and not scalar._recording
    run(shell, "%load_ext minigrad")
    assert shell.find_line_magic("graph") is not None
