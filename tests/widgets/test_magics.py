"""The magics in a real IPython: what they show, what they say to mistakes, what they leave alone."""

import gc
import re
import sys
import threading
import weakref

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config

from widgets import kernel
from widgets.chapters import CHAPTERS
from widgets.magics import MAGICS

SETUP = """
import minigrad as torch
from minigrad import Value
x, w = Value(2.0), Value(-1.0)
y = (x * w).tanh()
a = torch.tensor([[1., 2.], [3., 4.]], requires_grad=True)
b = torch.zeros(2, requires_grad=True)
loss = ((a * 2 + b) ** 2).mean()
"""


@pytest.fixture(scope="module")
def ipython():
    yield InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
    InteractiveShell.clear_instance()


@pytest.fixture
def shell(ipython, monkeypatch, tmp_path):
    monkeypatch.setenv("MINIGRAD_PROGRESS", str(tmp_path / "progress.json"))
    ipython.reset()
    ipython.colors = "nocolor"
    ipython.run_line_magic("load_ext", "minigrad")
    ipython.run_cell(SETUP)
    yield ipython
    ipython.run_line_magic("unload_ext", "minigrad")


def run(shell, code):
    with capture_output(display=False) as screen:
        result = shell.run_cell(code, store_history=True)
    assert result.success, screen.stdout
    return result.result


def said(shell, code):
    """What a line that gets a sentence prints."""
    with capture_output() as screen:
        result = shell.run_cell(code)
    assert result.success and result.result is None and screen.stderr == ""
    return screen.stdout.strip()


def rows(card):
    return {line.split()[0]: line for line in repr(card).splitlines()[2:] if line.strip()}


# ---- %grads, %reset_grads


def test_grads_tells_none_from_zero_and_who_holds_whom(shell):
    before = rows(run(shell, "%grads"))
    assert " None " in before["a"] and re.search(r"x\s+2\s+0\s+yes", before["x"]) and before["a"].endswith("loss")
    assert "MeanBackward0" in before["loss"] and before["x"].endswith("y")
    run(shell, "loss.backward()\nb.grad *= 0\nwith torch.no_grad(): a.add_(0)")
    after = rows(run(shell, "%grads"))
    assert "[0, 0]" in after["b"] and "None" not in after["a"] and re.search(r"\b1\s+loss$", after["a"])


def test_grads_sorts(shell):
    names = [line.split()[0] for line in repr(run(shell, "%grads --sort value")).splitlines()[2:]]
    values = {"x": 2, "w": -1, "y": -0.96, "a": 4, "b": 0, "loss": 30}
    assert sorted(names, key=lambda n: -values[n]) == names
    html = run(shell, "%grads")._repr_html_()
    assert html.count("<button") == 7 and 'data-v="2.0"' in html and 'scope="row">x<' in html


def test_html_is_the_same_on_every_run(shell):
    for code in ("%grads", "%memory loss", "%memory y", "%rule softmax", "%lesson", "%%gradcheck a\n(a * a).sum()"):
        first, second = run(shell, code)._repr_html_(), run(shell, code)._repr_html_()
        assert first == second and "0x" not in first and re.search(r"\bid=", first) is None


def test_names_are_escaped(shell):
    run(shell, "d = {'<img src=x>': Value(1.0)}")
    assert "<img" not in run(shell, "%grads")._repr_html_()


def test_reset_grads(shell):
    run(shell, "y.backward(); loss.backward()")
    assert said(shell, "%reset_grads a").endswith("set to None: a.")
    assert shell.user_ns["a"].grad is None and shell.user_ns["b"].grad is not None
    assert said(shell, "%reset_grads --zero") == "set to 0: x, w, y; set to zeros: b."
    assert shell.user_ns["x"].grad == 0.0 and shell.user_ns["b"].grad.tolist() == [0.0, 0.0]


# ---- %rule


@pytest.mark.parametrize("line, says", [
    ("tanh 0.5", ["1 − tanh(x)²", "0.786448", "g × (1 − out²)"]), ("* 2 3", ["d out / d x  y        3", "d out / d y  x        2"]),
    ("**3 2", ["3x²      12"]), ("relu -1", ["shut: nothing flows"]), ("softmax", ["SoftmaxBackward0", "out, dim"]),
    ("matmul", ["g @ yᵀ", "xᵀ @ g"]), ("exp", ["out = exp(x); at x = 1 out is 2.71828"])])  # fmt: skip
def test_rule(shell, line, says):
    card = repr(run(shell, f"%rule {line}"))
    for say in says:
        assert say in card, card


def test_rule_slides(shell):
    card = run(shell, "%rule sin 0")
    assert "0          1" in " ".join(repr(card).split("at x = 0 ")[-1].split()) or "cos(x)" in repr(card)
    before = card.text.value
    card.sliders[0].value = 1.5
    assert "0.0707372" in repr(card) and card.text.value != before and "<circle" in card.text.value
    data = card._repr_mimebundle_()
    assert "text/html" in data and "text/plain" in data


def test_every_rule_of_numbers_has_a_card(shell):
    from minigrad.tracing.formulas import RULES

    for name in RULES:
        card = run(shell, f"%rule {name}")
        assert "<path" in card.text.value and "nan" not in re.sub(r"<title>.*?</title>", "", card.text.value), name


# ---- %memory


def test_memory_counts_each_storage_once(shell):
    run(shell, "h = a.exp()\nz = (h * h).sum()")  # exp saves its result, mul the same numbers
    text = repr(run(shell, "%memory z"))
    assert "2×2 (already at ExpBackward0)" in text and "hold 16 bytes" in text
    run(shell, "z.backward()")
    assert "freed" in repr(run(shell, "%memory z"))
    card = run(shell, "%memory y")
    sizes = [float(v) for v in re.findall(r'data-v="([\d.]+)"', card._repr_html_())][1::2]
    assert "4 Values hold" in repr(card) and sizes == sorted(sizes, reverse=True) and len({*sizes}) > 1, (
        "the largest first"
    )


def test_memory_counts_arrays_that_are_no_tensors(shell):
    run(shell, "picked = a[torch.tensor([0, 1, 1])].sum()")
    text = repr(run(shell, "%memory picked"))
    assert "indices[0]: 3" in text and "hold 24 bytes" in text


# ---- %step, %%graph


def test_inputs_of_other_cells_are_no_part_of_this_program(shell):
    """A notebook has many small programs. Named are inputs that a cell makes together with something of this graph."""
    run(shell, "del a, b\nu = torch.ones(2, requires_grad=True)\nr = (u * 2).sum()")
    run(shell, "p, spare = (torch.ones(2, requires_grad=True) for _ in 'ab')")
    run(shell, "out = (p * 3).sum()")
    assert run(shell, "%graph out").notice == "spare is not part of out, so no gradient reaches it."
    assert run(shell, "%graph r").notice == ""
    run(shell, "net, idle = torch.nn.Linear(2, 1), torch.ones(1, requires_grad=True)")
    assert "idle is not part of s," in run(shell, "s = net(torch.ones(2)).sum()\n%graph s").notice


def test_step_starts_at_the_seed(shell):
    view = run(shell, "%step y")
    event = view.trace["steps"][view.step - 1]
    assert (event["phase"], event["kind"]) == ("backward", "seed")
    assert shell.user_ns["x"].grad == 0.0


def test_a_result_without_a_variable_is_called_as_it_was_written(shell):
    run(shell, "p = torch.tensor([1., 2.], requires_grad=True)\n(p * 3).sum().backward()\nlosses = [x * x, x + 3]")
    for line, label in (
        ("%graph p.grad", "p.grad"),
        ("%graph losses[-1] --start", "losses[-1]"),
        ("%step losses[0]", "losses[0]"),
    ):
        view = run(shell, line)
        assert view.trace["nodes"][view.trace["root"]]["label"] == label and label in repr(view)


@pytest.mark.parametrize(
    "made, title", [("S = (p * 3).sum(); S.backward()", "S = (p * 3).sum()"), ("k = x * x; m = k + 1", "m = k + 1")]
)
def test_the_title_is_the_statement_of_the_result(shell, made, title):
    run(shell, f"p = torch.tensor([1., 2.], requires_grad=True)\n{made}")
    assert run(shell, f"%graph {title[0]}").trace["title"] == title


def test_graph_of_a_cell(shell):
    view = run(shell, "%%graph\nz = x * x\n\nq = z + 1")
    node = {n["label"]: n for n in view.trace["nodes"]}["q"]
    assert (
        node["source"]["line"] == 4
        and node["source"]["text"] == "q = z + 1"
        and node["source"]["cell"].startswith("In [")
    )
    assert shell.user_ns["q"].data == 5.0
    view = run(shell, "%%graph\nif x.data > 1:\n    r = x * 3\nelse:\n    r = x")
    assert view.trace["nodes"][view.trace["root"]]["label"] == "r"


def test_an_error_in_a_cell_is_the_learners(shell):
    for magic in ("%%graph", "%%gradcheck x", "%%profile", "%%explore v=1.0"):
        with capture_output() as screen:
            result = shell.run_cell(f"{magic}\nq = 1\n1/0")
        assert isinstance(result.error_in_exec, ZeroDivisionError)
        assert "----> 3 1/0" in screen.stdout and "reading.py" not in screen.stdout


# ---- %%explore


def test_explore_runs_the_cell_again_so_that_branches_change(shell):
    view = run(shell, "%%explore v=1.0 n=(1, 4)\nh = v\nfor i in range(n):\n    h = h.tanh() if h > 0 else h * 2\nh")
    v, n = (i.slider for i in view.inputs)
    assert "tanh" in {node["op"] for node in view.view.trace["nodes"]} and n.value == 2
    v.value = -1.0
    assert "tanh" not in {node["op"] for node in view.view.trace["nodes"]}
    operations = len(view.view.trace["nodes"])
    n.value = 4
    assert len(view.view.trace["nodes"]) > operations
    assert "v" not in shell.user_ns and "h" not in shell.user_ns
    assert "image/svg+xml" in view._repr_mimebundle_()


SCALAR = """
class {name}:
    def __init__(self, data, _prev=(), _op=""):
        self.data, self._prev, self._op, self.grad = data, _prev, _op, 0.0
    def __mul__(self, other):
        out = {name}(self.data * other.data, (self, other), "*")
        def back():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad
        out._backward = back
        return out
"""


@pytest.mark.parametrize("name, cell", [
    ("Number", "u * Number(3.0)"), ("Number", "u * weight"), ("Number", "twice = u * u\ntwice * weight"),
    ("Value", "product(u)")])  # fmt: skip
def test_explore_makes_objects_of_the_class_that_the_cell_computes_with(shell, name, cell):
    run(shell, SCALAR.format(name=name) + f"weight = {name}(3.0)\ndef product(x):\n    return x * weight")
    view = run(shell, f"%%explore u=2.0\n{cell}")
    power = 2 if "twice" in cell else 1
    for at in (2.0, -1.0):
        view.inputs[0].slider.value = at
        t = view.view.trace
        u = next(n for n in t["nodes"] if n["label"] == "u")
        assert (t["nodes"][t["root"]]["value"], u["grad"]) == (3 * at**power, 3 * power * at ** (power - 1))


def test_explore_says_why_it_cannot_make_such_an_object(shell, capsys):
    run(
        shell,
        SCALAR.format(name="Number").replace('data, _prev=(), _op=""', "data, _prev, _op")
        + "weight = Number(3.0, (), '')",
    )
    shell.run_cell("%%explore u=2.0\nu * weight")
    said = capsys.readouterr().out
    assert "%%explore makes u with Number(2), and that failed" in said and "takes one number" in said


def test_explore_says_errors_and_keeps_the_last_graph(shell):
    view = run(shell, "%%explore v=(-1.0, 2.0, 0.5)\nif v < 0:\n    raise ValueError('<too small>')\nv * v")
    good = view.view
    view.inputs[0].slider.value = -1.0
    assert view.view is good and "At v = −1: ValueError: <too small>" in view.sentence and "&lt;too" in view.says.value
    view.inputs[0].slider.value = 1.0
    assert view.sentence == "" and view.view is good
    assert good.trace["nodes"][good.trace["root"]]["value"] == 1.0, "the same view, with the new run in it"


def test_explore_skips_moves_that_come_too_fast(shell):
    import asyncio

    view = run(shell, "%%explore v=(0.0, 10.0, 1.0) --tensor\n(v * v).exp().log()")

    async def drag():
        for k in range(10):
            view.inputs[0].slider.value = float(k)
        await asyncio.sleep(0.1)

    runs = view.runs
    asyncio.run(drag())
    assert view.runs == runs + 1
    root = view.view.trace["nodes"][view.view.trace["root"]]
    assert float(root["value"]) == pytest.approx(81.0, rel=1e-4)


# ---- %%gradcheck, %%profile, %lesson


def test_gradcheck_right_and_wrong(shell):
    assert "is right: 6 entries" in repr(run(shell, "%%gradcheck\n((a * 2 + b) ** 2).mean()"))
    assert "is right: 2 entries" in repr(run(shell, "%%gradcheck x w\n(x * w).tanh() + x"))
    wrong = repr(run(shell, "%%gradcheck a\n(a.detach() * a).sum()"))
    assert "not what differences say" in wrong and "a, entry [" in wrong and "2 times too small" in wrong
    assert shell.user_ns["a"].grad is None


def test_profile(shell):
    card = run(shell, "%%profile\nfor i in range(3):\n    l = (a @ a).sum()\n    l.backward()")
    lines = rows(card)
    assert lines["mm"].split()[1] == "3" and lines["MmBackward0"].split()[1] == "3" and "everything" in lines
    assert shell.user_ns["i"] == 2


def test_lesson(shell):
    from minigrad.course import progress

    assert "Next: 01.a" in repr(run(shell, "%lesson"))
    progress.update("01.a", passed=True, tries=1)
    text = repr(run(shell, "%lesson"))
    assert "Next: 01.a2" in text and "1 of 4" in text and "… started" in text
    assert "✓ passed" in repr(run(shell, "%lesson 1"))


def test_a_cell_waits_for_the_prediction(shell, capsys):
    run(shell, "from minigrad.course import check")
    cell = "%%predict 01.a\nran = True\n30.0"
    assert "no prediction yet" in repr(run(shell, cell)) and "ran" not in shell.user_ns
    run(shell, "check.predict('01.a', 10)")
    text = repr(run(shell, cell))
    assert shell.user_ns["ran"] and "you predicted 10, the run gave 30" in text and "multiply by its derivative" in text
    run(shell, "check.predict('01.a', 30)")
    assert "They agree" in repr(run(shell, cell))


def test_a_cell_with_a_picture_waits_too(shell, capsys, monkeypatch):
    shown = []
    monkeypatch.setattr("widgets.magics.course.display", shown.append)
    run(shell, "from minigrad.course import check\ncheck._predictions.clear()")
    cell = "%%predict 01.a --show\nran = 'a picture'\nran"
    assert "no prediction yet" in repr(run(shell, cell)) and "ran" not in shell.user_ns
    run(shell, "check.predict('01.a', 10)")
    assert run(shell, cell) == "a picture"
    assert "you predicted 10, it is 30" in repr(shown[0])
    assert run(shell, "%%predict 01.a --show\nran = 3") is None and shell.user_ns["ran"] == 3
    assert len(shown) == 1, "a second picture does not repeat the verdict"
    run(shell, cell)
    assert len(shown) == 2, "the cell that said it says it again"
    run(shell, "check.predict('01.a', 30)")
    run(shell, "%%predict 01.a --show\nran = 3")
    assert "They agree" in repr(shown[2]), "a new guess has a verdict of its own"


def test_code_that_has_passed_is_shown_without_a_verdict(shell, capsys, monkeypatch):
    shown = []
    monkeypatch.setattr("widgets.magics.course.display", shown.append)
    run(shell, "from minigrad.course import check\ncheck.predict('01.b', skip=True)")
    assert run(shell, "%%predict 01.b --show\n'a picture'") == "a picture" and shown == []


def test_where_goes_to_the_first_wrong_node(shell, capsys):
    from minigrad.course import check, exercises

    check.last = None
    assert "Nothing was judged yet" in said(shell, "%where")
    for id, name, says in (("05.b", "plain recursion", "c runs too early"), ("05.a", "overwrites everywhere", "a")):
        ex = exercises[id]
        wrong = next(w for w in ex.bank if name in (w.name, None) and check(id, ex.load(ex.source_of(w))).first_wrong)
        result = check(id, ex.load(ex.source_of(wrong)))
        assert "%where" in repr(result)
        lesson = run(shell, "%where")
        assert not lesson.figure.duel.r.good and says in lesson.text()
        if lesson.figure.duel.r.wrong_write is not None:
            assert lesson.figure.duel.fault is not None and lesson.figure.step == lesson.figure.duel.r.wrong_write + 1
        lesson.close()
    check("04.a", {**exercises["04.a"].load(exercises["04.a"].solution), "x.grad": 14})
    assert "04.a, x.grad: the first wrong place is x.grad, it is too small" in said(shell, "%where")
    check("05.b", exercises["05.b"].load(exercises["05.b"].solution))
    assert "05.b is passed" in said(shell, "%where")


def test_a_check_says_what_where_says_of_a_mistake_that_no_bank_knows(shell):
    from minigrad.course import check, exercises

    ex = exercises["05.a"]
    odd = ex.solution.replace("other.data * out.grad", "1.5 * other.data * out.grad")
    bank = {wrong.name for wrong in ex.bank}
    run(shell, "check = __import__('minigrad.course').course.check")
    run(shell, "pass")
    result = check("05.a", ex.load(odd))
    assert (
        not result.passed and result.mistake not in bank and "Look at the local rule of the operator *." in result.hint
    )
    known = ex.bank[0]
    assert check("05.a", ex.load(ex.source_of(known))).hint == known.hint
    shell.extension_manager.unload_extension("minigrad")
    assert check.where is None and "local rule" not in check("05.a", ex.load(odd)).hint


def test_chapters_are_the_notebooks_that_exist():
    from pathlib import Path

    for path in (Path(__file__).parents[2] / "notebooks").glob("[0-9][0-9]_*.ipynb"):
        assert CHAPTERS[int(path.name[:2])].notebook == path.name, (
            "links in error panels lead to widgets/chapters.py's names"
        )


# ---- mistakes, help, completion


@pytest.mark.parametrize("line, says", [
    ("%grads q", "takes no names"),
    ("%grads --sort size", "There is no column 'size'"),
    ("%rule", "for example: %rule tanh"),
    ("%rule tahn", "Near: tan, tanh"),
    ("%rule tanh a", "takes numbers"),
    ("%rule tanh 1 2", "one input"),
    ("%memory", "for example: %memory loss"),
    ("%memory 3", "is an int."),
    ("%step q", "There is no variable 'q' yet"),
    ("%step X", "Did you mean 'x'?"),
    ("%step 3 +", "cannot read '3 +'"),
    ("%step [x]", "list of Values"),
    ("%step 1/0", "ZeroDivisionError"),
    ("%reset_grads shell_", "no variable"),
    ("%reset_grads SETUP", "no variable"),
    ("%reset_grads torch", "neither a Value nor a Tensor"),
    ("%lesson 99", "0 to 19"),
    ("%%graph y\nx", "takes nothing on its line"),
    ("%%graph\n# later", "empty"),
    ("%%graph\nq = 3", "plain number"),
    ("%%graph\nx +", "Line 2 of this cell is not Python yet"),
    ("%%explore\nx", "at least one slider"),
    ("%%explore v=\nx", "cannot read"),
    ("%%explore v='a'\nx", "needs a number"),
    ("%%explore v=(3, 1)\nx", "the first number must be the smaller"),
    ("%%explore v=(1, 3, 0)\nx", "larger than 0"),
    ("%%explore v=1 v=2\nx", "occurs twice"),
    ("%%explore v=1.0\n3", "plain number"),
    ("%%gradcheck q\nx", "no variable 'q'"),
    ("%%gradcheck torch\nx", "moves Values and Tensors"),
    ("%%gradcheck\n3", "reads no Value"),
    ("%%gradcheck x\n3", "not a Value or Tensor"),
    ("%%profile z\nx", "takes nothing"),
    ("%where now", "takes nothing on its line"),
    ("%%predict\n1", "for example: %%predict 01.a"),
    ("%%predict 77.z\n1", "not '77.z'"),
    ("%%predict 01.a --hide\n1", "takes one option, --show"),
])  # fmt: skip
def test_mistakes_get_a_sentence(shell, line, says):
    text = said(shell, line)
    assert says in text and "Traceback" not in text and len(text.splitlines()) <= 2


def test_help_and_completion(shell):
    for cls in MAGICS:
        for kind, names in cls.magics.items():
            for name in names:
                magic = shell.find_line_magic(name) if kind == "line" else shell.find_cell_magic(name)
                assert magic.__doc__ and f"%{name}" in magic.__doc__ and len(magic.__doc__.splitlines()) >= 3, name
    offers = (("%rule tan", "tanh"), ("%memory lo", "loss"), ("%step lo", "loss"), ("%grads --sort gra", "gradient"),
              ("%reset_grads lo", "loss"),
              ("%lesson 1", "12"), ("%%gradcheck lo", "loss"), ("%%explore --t", "--tensor"), ("%%predict 19", "19.a"))  # fmt: skip
    for line, offer in offers:
        assert offer in shell.complete(None, line, len(line))[1], line


# ---- being loaded and unloaded


def test_loading_twice_and_unloading_leave_no_trace(shell):
    def state():
        lines, cells = shell.magics_manager.magics["line"], shell.magics_manager.magics["cell"]
        hooks = shell.strdispatchers["complete_command"].regexs
        switches = sum(type(c).__name__ == "Minigrad" for c in shell.configurables)
        return sorted(lines), sorted(cells), len(hooks), switches, "showtraceback" in vars(shell)

    loaded = state()
    run(shell, "%load_ext minigrad")
    run(shell, "%reload_ext minigrad")
    kernel.load(shell)
    assert state() == loaded
    run(shell, "%unload_ext minigrad")
    bare = state()
    assert not {"step", "grads", "rule"} & set(bare[0]) and not {"explore", "graph"} & set(bare[1]) and not bare[4]
    assert said_nothing_of_panels(shell)
    run(shell, "%load_ext minigrad")
    assert state() == loaded


def said_nothing_of_panels(shell):
    with capture_output(display=False) as screen:
        shell.run_cell("torch.ones(3) + torch.ones(4)")
    return "How to fix it" not in screen.stdout and "size of tensor a (3)" in screen.stdout


def test_switches(shell):
    plain = shell.display_formatter.format(shell.user_ns["loss"])[0]
    assert plain.keys() == {"text/plain"} and "grad_fn=<MeanBackward0>" in plain["text/plain"]
    run(shell, "%config Minigrad.rich = True")
    for name, says in (("loss", "MeanBackward0"), ("x", "Value"), ("a", "<table>")):
        data = shell.display_formatter.format(shell.user_ns[name])[0]
        assert says in data["text/html"]
    assert shell.display_formatter.format(shell.user_ns["loss"])[0]["text/plain"] == plain["text/plain"]
    run(shell, "%config Minigrad.rich = False")
    assert shell.display_formatter.format(shell.user_ns["a"])[0].keys() == {"text/plain"}
    run(shell, "%config Minigrad.panels = False")
    assert said_nothing_of_panels(shell)
    run(shell, "%config Minigrad.panels = True")
    assert not said_nothing_of_panels(shell)


def test_autoreload_after_a_change_of_code(shell):
    import importlib

    run(shell, "%load_ext autoreload\n%autoreload 2")
    for name in (
        "widgets.show",
        "widgets.magics.namespace",
        "widgets.error_panel",
        "widgets.kernel",
        "widgets.extension",
    ):
        importlib.reload(sys.modules[name])
    run(shell, "%reload_ext minigrad")
    assert "a " in repr(run(shell, "%grads")) and not said_nothing_of_panels(shell)
    run(shell, "%autoreload 0")
    assert len([c for c in shell.configurables if type(c).__name__ == "Minigrad"]) == 1


def test_threads_and_async_cells(shell):
    run(shell, "import asyncio\nz = x * 2\nawait asyncio.sleep(0)\nz.backward()")
    errors = []

    def work():
        try:
            shell.user_ns["torch"].ones(3) + shell.user_ns["torch"].ones(4)
        except RuntimeError as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert len(errors) == 1 and shell.user_ns["x"].grad == 2.0


def test_nothing_is_kept_alive(shell):
    ref = weakref.ref(shell.user_ns["loss"])
    run(shell, "None")
    for line in ("%grads", "%memory loss"):
        with capture_output():
            shell.run_cell(line, silent=True)
    run(shell, "None")
    shell.user_ns.pop("loss")
    shell.displayhook.flush()
    for name in [n for n in shell.user_ns if n.startswith("_")]:
        if name not in ("_ih", "_oh", "_dh", "_i", "_ii", "_iii"):
            shell.user_ns.pop(name)
    gc.collect()
    assert ref() is None


OWN = """
class V:
    def __init__(self, data, _prev=(), _op=""):
        self.data, self.grad, self._prev, self._op, self._backward = data, 0.0, _prev, _op, lambda: None
    def __mul__(self, other):
        other = other if isinstance(other, V) else V(other)
        out = V(self.data * other.data, (self, other), "*")
        def _backward():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad
        out._backward = _backward
        return out
    def backward(self):
        self.grad = 1.0
        self._backward()
"""


@pytest.mark.parametrize(
    "start", ["x = Value(2.0)", "x = V(2.0)", "import minigrad as torch; x = torch.tensor(2.0, requires_grad=True)"]
)
@pytest.mark.parametrize("end", [
    "loss.backward()", "loss.backward();", "print(float(x.grad or 0))", "loss.grad", "for p in [x]:\n    p.data - 1", "lr = 0.1", "loss;",
    "if True:\n    loss.backward()", "losses = []\nlosses.append(loss)",
])  # fmt: skip
def test_a_cell_may_end_in_the_backward_pass_in_a_loop_or_in_a_print(shell, start, end):
    shell.run_cell(OWN + start)
    with capture_output() as out:
        done = shell.run_cell(f"%%graph\nloss = x * 3\n{end}")
    view = done.result
    assert view is not None, out.stdout
    labels = [n["label"] for n in view.whole["nodes"]]
    assert view.whole["nodes"][view.whole["root"]]["value"] in (6.0, 6) and "loss" in labels


@pytest.mark.parametrize("line", ["%graph y;", "%graph y ;", "%step y;", "%graph x * 3;"])
def test_a_semicolon_at_the_end_is_no_mistake(shell, line):
    shell.run_cell("x = Value(2.0); y = x * 3")
    assert shell.run_cell(line).result is not None


def test_explore_takes_a_cell_that_ends_in_its_backward_pass(shell):
    view = shell.run_cell("%%explore x=1.0\ny = x * 3\ny.backward()").result
    assert view is not None and view.view is not None


def test_audit_is_one_line(shell):
    shell.run_cell(OWN + "x = V(2.0); y = x * 3; y.backward()")
    with capture_output() as out:
        shell.run_cell("%audit y")
    assert out.stdout == "✓ All 2 gradients behind y are right.\n"
    with capture_output() as out:
        shell.run_cell("x.grad = 1.0\n%audit y")
    assert out.stdout.startswith("✗ x.grad is 1, and right is 3. ") and out.stdout.count("\n") == 1
    with capture_output() as out:
        shell.run_cell("%audit 3")
    assert "no graph behind a plain number" in out.stdout


def test_instruments_know_own_classes(shell):
    shell.run_cell(OWN + "c = V(2.0); d = c * 3; d.backward()")
    table = rows(shell.run_cell("%grads").result)
    assert table["c"].split()[1:4] == ["2", "3", "yes"] and table["c"].endswith("d")
    assert table["d"].split()[1:5] == ["6", "1", "no", "*"]
    assert "is of a class of your own" in said(shell, "%memory c")
    assert said(shell, "%reset_grads c").strip() == "set to 0: c." and shell.user_ns["c"].grad == 0.0
    assert "✓ c.grad: set to 0 after the backward pass. All others are right." in said(shell, "%audit d")


def test_a_refusal_names_what_is_missing(shell):
    shell.run_cell(
        OWN
        + """
import numpy as np
class Array:
    def __init__(self, data, parents=()):
        self.data, self.grad, self.parents = data, 0.0, parents
class Nothing:
    def __init__(self, data):
        self.data, self.grad = data, 0.0
class Listed:
    def __init__(self, value, children=()):
        self.value, self.children = value, children
a = Array(np.ones((2, 3)), (Array(np.ones(3)),))
n = Nothing(2.0)
t = Listed(1.0, [Listed(2.0)])
broken = V(V(2.0), (V(2.0),), "tanh") * 2
word = V("two", (V(2.0),), "tanh")
"""
    )
    assert "its `data` is an array of shape 2×3" in said(shell, "%graph a") and "minigrad's Tensor" in said(
        shell, "%graph a"
    )
    assert "a number (`data`) and a gradient (`grad`), but no attribute holds the objects that it was computed" in said(
        shell, "%graph n"
    )
    assert "no gradient (`grad`), no name of its operation (`_op`), no rule" in said(shell, "%graph t")
    assert "an operation 'tanh' whose `data` is itself a V, not a number" in said(shell, "%graph broken")
    assert "its `data` is not a number" in said(shell, "%graph word") and "Convert text first" in said(
        shell, "%graph word"
    )


def test_inputs_of_another_program_are_not_missed(shell):
    """A loop's last parameter, and the model of an earlier cell, have nothing to do with this graph."""
    shell.run_cell("from minigrad import Value\nfrom minigrad.micro import MLP")
    shell.run_cell("l = MLP(2, [2, 1])\nfor p in l.parameters():\n    p.data += 0.1")
    shell.run_cell("x = Value(1.0)\nunused = Value(2.0)")
    shell.run_cell("net = MLP(2, [2, 1])\nfor p in net.parameters():\n    pass\no = net([x, 1.0]) * 2")
    view = shell.run_cell("%graph o").result
    assert not [text for text in view._subject.words if re.search(r"\b(p|l)\b.* not part of", text)]
    assert not [n["label"] for n in view.whole["nodes"] if n["label"] == "p"]


LEARNS = """
from minigrad.course.exercises import ch05
import random
exec(ch05.SOLUTION_A); exec(ch05.SOLUTION_B); exec(ch05.SOLUTION_C)
points, labels = [(0.1 * i, 0.3 - 0.1 * i) for i in range(8)], [1, -1] * 4
model = MLP()
"""
LOOP = """%%film model, points, labels
for _ in range(3):
    for p in model.parameters():
        p.grad = 0.0
    total = sum((1 - y * model(*x)).relu() for x, y in zip(points, labels))
    {backward}
    for p in model.parameters():
        p.data -= 0.01 * p.grad
"""


@pytest.mark.parametrize("call", ["backward(total)", "backward(total * 0.125)"])
def test_film_records_each_backward_of_a_cell(shell, call):
    run(shell, LEARNS)
    with capture_output(display=False):
        run(shell, LOOP.format(backward=call))
    film = shell.user_ns["film"]
    assert len(film) == 3 and film.rates() == pytest.approx([0.01] * 3) and film.title == "2-8-1"
    assert not [name for name in shell.user_ns if name.startswith("_film")]


def test_film_of_a_method_and_of_a_function(shell):
    code = "{first}\nw = Value(2.0)\nfor _ in range(2):\n    w.grad = 0.0\n    ((w - 1) ** 2).backward()\n    w.data -= 0.1 * w.grad"
    run(shell, "w = Value(2.0)")
    with capture_output(display=False):
        run(shell, code.format(first="%%film [w]"))
    assert len(shell.user_ns["film"]) == 2


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("%%film\nbackward(loss)", "%%film needs what is trained"),
        ("%%film model\n1 + 1", "no backward(loss)"),
        ("%%film nothing\nloss.backward(retain_graph=True)", "There is no variable 'nothing' yet"),
    ],
)
def test_film_says_what_is_missing(shell, code, words):
    assert words in said(shell, code)
