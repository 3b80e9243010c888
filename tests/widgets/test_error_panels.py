"""Errors that teach: each is provoked by code as learners write it, in a real IPython, and judged by what stands on the screen."""

import re
import shutil
from pathlib import Path
from traceback import walk_tb

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config

import minigrad as torch
from minigrad.core import errors, provenance
from tools import golden
from widgets import explain
from widgets.error_panel import Panels
from widgets.explain.failure import Failure

ROOT = Path(__file__).parents[2]
TORCH = "import minigrad as torch\nfrom minigrad import nn"
FUNCTION = """
class Clamp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, low, high):
        return x.clamp(low, high)

    @staticmethod
    def backward(ctx, g):
        return g
"""
OWN_ENGINE = """
class Number:
    def __init__(self, data, parents=()):
        self.data, self.grad, self._prev = data, 0.0, parents

    def __mul__(self, other):
        other = other if isinstance(other, Number) else Number(other)
        return Number(self.data * other.data, (self, other))

    def backward(self):
        for parent in self._prev:
            parent.backward()
"""

# name: (cells of a learner, title of the panel, what the panel must say)
CASES = {
    "detach in the encoder": (
        ["w = torch.randn(3, requires_grad=True)\ncode = (w * 2).detach()", "loss = (code ** 2).sum()\nloss.backward()"],
        "The backward pass has nowhere to go", ["✂ code = (w * 2).detach()", "· loss = (code ** 2).sum()", "loss.requires_grad = True", "chapter 10"]),
    "inputs without requires_grad": (
        ["x = torch.tensor([1., 2.])\ny = (x * 2).sum()\ny.backward()"],
        "The backward pass has nowhere to go", ["✂ x = torch.tensor([1.0, 2.0])", "made without requires_grad=True", "x.requires_grad_()"]),
    "loss computed in no_grad": (
        ["w = torch.ones(2, requires_grad=True)\nwith torch.no_grad():\n    loss = (w ** 2).sum()\nloss.backward()"],
        "The backward pass has nowhere to go", ["is in a no_grad block", "Compute the loss outside no_grad"]),
    "cut inside a function": (
        ["def normalise(h):\n    return h / h.sum().item()\n\ndef score(h):\n    return (h - 1).detach().abs().sum()",
         "w = torch.ones(2, requires_grad=True)\nloss = score(normalise(w))\nloss.backward()"],
        "The backward pass has nowhere to go", ["in score, .detach()", "✂ loss = score(normalise(w))"]),
    "frozen model": (
        ["model = nn.Linear(2, 1)\nfor p in model.parameters():\n    p.requires_grad = False", "loss = model(torch.ones(4, 2)).sum()\nloss.backward()"],
        "The backward pass has nowhere to go", ["all parameters of model are frozen"]),
    "backward twice": (
        ["w = torch.tensor(2., requires_grad=True)\nloss = w ** 2\nloss.backward()", "loss.backward()"],
        "This graph has been used up", ["behind loss", "retain_graph=True everywhere", "compute the forward pass again in every round"]),
    "result of exp overwritten": (
        ["x = torch.tensor([1., 2.], requires_grad=True)\ny = x.exp()\ny += 1\ny.sum().backward()"],
        "A number that the backward pass needs was overwritten",
        ["y       version 0: ExpBackward0 saved it", "✂ y += 1", "finds version 1, needs version 0", ".clone() everywhere", "chapter 15"]),
    "input of a product overwritten": (
        ["w = torch.tensor([1., 2.], requires_grad=True)\nx = torch.tensor([3., 4.])\nloss = (w * x).sum()\nx[0] = 0\nloss.backward()"],
        "A number that the backward pass needs was overwritten", ["MulBackward0", "✂ x[0] = 0", "torch.where"]),
    "update without no_grad": (
        ["w = torch.tensor([1., 2.], requires_grad=True)\nloss = (w ** 2).sum()\nloss.backward()\nw -= 0.1 * w.grad"],
        "A leaf cannot be written to while recording", ["with torch.no_grad():\n          w -= 0.1 * w.grad", "w.data -= ..."]),
    "leaf changed in the forward pass": (
        ["x = torch.tensor([1., 2.], requires_grad=True)\nx.add_(1)"], "A leaf cannot be written to while recording", ["h = x + ..."]),
    "slice of a leaf": (
        ["w = torch.zeros(3, requires_grad=True)\nw[0] = 5."], "A piece of a leaf is the leaf", ["w[...]", "h = w.clone()"]),
    "one row of unbind": (
        ["x = torch.ones(3, requires_grad=True) * 2\na, b, c = x.unbind()\na += 1"], "One of several views cannot be written to", ["a = a + 1"]),
    "expanded": (["a = torch.ones(1, 3).expand(2, 3)\na += 1"], "These entries are one and the same number", ["x.clone()"]),
    "whole numbers divided in place": (["a = torch.tensor([1, 2])\na /= 2"], "These numbers do not fit in place", ["Float", "x = x / 2"]),
    "in place and bigger": (["a = torch.ones(1, 3)\na += torch.ones(2, 3)"], "A write cannot make a tensor bigger", ["[1, 3]", "[2, 3]"]),
    "loss for each sample": (
        ["w = torch.ones(2, requires_grad=True)\nloss = (w * torch.ones(5, 2)).sum(1)\nloss.backward()"],
        "backward() needs a single number", ["loss has shape (5,): 5 numbers", ".mean().backward()", "n times smaller", "chapter 08"]),
    "wrong seed": (
        ["w = torch.ones(2, requires_grad=True)\ny = w * 2\ny.backward(torch.ones(3))"],
        "The starting gradient has the wrong shape", ["output          [2]", "[3] ✗", "torch.ones_like(y)"]),
    "seed as a number": (["w = torch.ones(2, requires_grad=True)\n(w * 2).sum().backward(1.0)"], "The starting gradient must be a tensor", ["a plain float"]),
    "gradient by an unused tensor": (
        ["a = torch.tensor(1., requires_grad=True)\nb = torch.tensor(1., requires_grad=True)\ny = a * a", "torch.autograd.grad(y, (a, b))"],
        "The result does not depend on this tensor", ["b      no ✗", "a      yes", "materialize_grads=True"]),
    "gradient by a constant": (
        ["a = torch.tensor(1.)\nb = torch.tensor(1., requires_grad=True)\ntorch.autograd.grad(a * b, a)"],
        "A gradient was asked for a constant", ["switching the flag on now"]),
    "flag of a result": (
        ["w = torch.ones(2, requires_grad=True)\nh = w * 2\nh.requires_grad = False"], "The flag of a result is not yours to set", ["h = h.detach()"]),
    "retain_grad of a constant": (
        ["h = torch.ones(2) * 2\nh.retain_grad()"], "No gradient will ever arrive here", ["✂ h = torch.ones(2) * 2", "retain_graph=True"]),
    "deepcopy of a result": (
        ["import copy\nw = torch.ones(2, requires_grad=True)\ncopy.deepcopy(w * 2)"], "A result cannot be copied with its history", ["x.detach().clone()"]),
    "inference tensor in training": (
        ["w = torch.tensor(2., requires_grad=True)\nwith torch.inference_mode():\n    h = w * 2\nloss = w * h"],
        "A tensor from inference_mode cannot join a graph", ["torch.no_grad()", "h.clone()"]),
    "reassigned leaf": (
        ["w = torch.tensor(1., requires_grad=True)\nfor step in range(3):\n    loss = (w - 3) ** 2\n    loss.backward()\n    w = w - 0.1 * w.grad"],
        "The name now belongs to another tensor", ["✂ w = w - 0.1 * w.grad", "w -= lr * w.grad", "retain_grad()", "is_leaf        False"]),
    "grad of a result": (
        ["x = torch.tensor(1., requires_grad=True)\nh = x * 2\nloss = h * h\nloss.backward()\nprint(h.grad.item())"],
        "Only leaves keep their gradient", ["h.retain_grad()", "grad_fn        MulBackward0"]),
    "step before backward": (
        ["w = torch.tensor(1., requires_grad=True)\nloss = w * w\nwith torch.no_grad():\n    w -= 0.1 * w.grad"],
        "There is no gradient yet", ["None means never computed, 0 means computed and zero", "Call loss.backward() before this line"]),
    "grad of a constant": (
        ["b = torch.tensor(1.)\nb.grad.zero_()"], "This gradient was never asked for", ["requires_grad  False"]),
    "item in the loss": (
        ["x = torch.tensor(2., requires_grad=True)\nloss = (x * x).item()\nloss.backward()"],
        "A plain number has no graph", ["✂ loss = (x * x).item()", "torch.tensor(loss, requires_grad=True)"]),
    "data of a Value": (
        ["from minigrad import Value\nx = Value(2.0)\ny = (x * x).data\ny.backward()"], "A plain number has no graph", ["✂ y = (x * x).data"]),
    "numpy in the model": (
        ["import numpy as np\nw = torch.ones(2, requires_grad=True)\ny = np.sin(w)"], "numpy would lose the graph", ["torch.sin, not np.sin", "detach() inside the model"]),
    "condition on a tensor": (
        ["x = torch.tensor([1., -1.])\nif x > 0:\n    print('positive')"], "A condition needs one answer", ["torch.where(x > 0, a, b)", "(2,)"]),
    "item of a vector": (["losses = torch.ones(3)\nprint(losses.item())"], "Several numbers are not one number", ["has 3 entries", "losses  (3,)"]),
    "whole numbers with gradients": (
        ["x = torch.tensor([1, 2, 3], requires_grad=True)"], "Whole numbers have no small changes", ["torch.tensor([1., 2.])"]),
    "two dtypes": (
        ["import numpy as np\nx = torch.from_numpy(np.ones((2, 2)))\nw = torch.ones(2, 2)\nx @ w"], "Two kinds of numbers in one product", ["torch.float64", "torch.float32"]),
    "Value of a list": (["from minigrad import Value\nx = Value([1, 2])"], "A Value holds a single number", ["[Value(v) for v in data]"]),
    "Value and tensor": (["from minigrad import Value\nx = Value(1.0) + torch.ones(2)"], "A Value holds a single number", ["Stay with one engine"]),
    "list for a tensor": (["torch.exp([1., 2.])"], "A tensor is needed here", ["given a list"]),
    "no return": (
        ["def loss_fn(x):\n    x * x", "x = torch.tensor(1., requires_grad=True)\nloss = loss_fn(x)\nloss.backward()"],
        "The function returned None", ["loss_fn has no return"]),
    "result of backward": (
        ["x = torch.tensor(1., requires_grad=True)\ng = (x * x).backward()\nprint(g.item())"], "backward() returns nothing", ["it updates nothing"]),
    "missing __rmul__": (
        [OWN_ENGINE, "x = Number(2.0)\ny = 3 * x"], "The class has no __rmul__", ["def __rmul__(self, other):", "sum(values)"]),
    "recursive backward": (
        [OWN_ENGINE, "x = Number(1.0)\nfor i in range(5000):\n    x = x * 1.0\nx.backward()"],
        "The graph is deeper than Python's stack", ["sys.setrecursionlimit", "stack = [root]"]),
    "cycle": (
        ["from minigrad.tracing.trace import trace\na, b = Number(1.0), Number(2.0)\na._prev, b._prev = (b,), (a,)\na._op = b._op = '*'\ntrace(a)"],
        "A graph must not bite its own tail", ["its own ancestor"]),
    "a size of one fits": (
        ["a, b = torch.ones(4, 1), torch.ones(2, 3)\na + b"], "These shapes do not fit together", ["a 4 ✗ 1 b 2 ✗ 3"]),
    "rows on both sides": (
        ["a, b = torch.ones(2, 3), torch.ones(2, 4)\na @ b"], "The inner sizes of the product differ", ["wrong way round: a.T @ b"]),
    "rows against columns": (
        ["x = torch.ones(3, 4)\nrow_sums = x.sum(1)\ny = x / row_sums"], "These shapes do not fit together",
        ["x         3   4 ✗", "row_sums      3 ✗", "row_sums[:, None]", "reshape until it runs"]),
    "product of two alike": (
        ["x = torch.ones(3, 4)\nw = torch.ones(3, 4)\nh = x @ w"], "The inner sizes of the product differ", ["x @ w.T", "* instead of @"]),
    "layer of another width": (
        ["layer = nn.Linear(3, 2)\nlayer(torch.ones(5, 4))"], "The layer was made for another width", ["in_features=4", "takes 3 features"]),
    "impossible reshape": (["x = torch.arange(6)\nx.reshape(4, 2)"], "The new shape has another number of places", ["4 × 2 = 8", "6 numbers"]),
    "view of a transpose": (["x = torch.ones(2, 3).t()\nx.view(6)"], "This tensor is not contiguous in memory", ["strides  (1, 3)", "reshape(...)"]),
    "cat": (["a = torch.ones(2, 3)\nb = torch.ones(2, 2)\ntorch.cat([a, b])"], "The pieces do not line up", ["dimension 0", "(2, 3)", "(2, 2)"]),
    "stack": (["a = torch.ones(2)\nb = torch.ones(3)\ntorch.stack([a, b])"], "Only equal shapes can be stacked", ["(2,)", "(3,)"]),
    "one too far": (["x = torch.ones(3)\nfor i in range(4):\n    print(x[i])"], "There is no such entry", ["Counting starts at 0"]),
    "too many indices": (["x = torch.ones(3)\nx[0, 1]"], "The tensor has fewer dimensions than the key", ["x  (3,)", "keepdim=True"]),
    "len of a loss": (["loss = torch.tensor(1.)\nlen(loss)"], "A 0-d tensor is a single number", ["x.item()"]),
    "one gradient for three inputs": (
        [FUNCTION, "x = torch.ones(2, requires_grad=True)\nClamp.apply(x, 0, 1).sum().backward()"],
        "backward answers for every input of forward", ["low               missing ✗", "return grad_x, None, None", "chapter 13"]),
    "gradient of the wrong shape": (
        [FUNCTION.replace("x.clamp(low, high)", "x.sum()").replace("return g\n", "return torch.ones(5), None, None\n"),
         "x = torch.ones(2, requires_grad=True)\nClamp.apply(x, 0, 1).backward()"],
        "A gradient has the shape of its tensor", ["[5] ✗", "input 1, which has shape [2]"]),
    "number saved": (
        [FUNCTION.replace("        return x.clamp", "        ctx.save_for_backward(x, low)\n        return x.clamp"),
         "Clamp.apply(torch.ones(2, requires_grad=True), 0.0, 1.0)"], "Only tensors are saved this way", ["Argument 2 is a float", "ctx.k = k"]),
    "Function called": ([FUNCTION, "Clamp()(torch.ones(2), 0, 1)"], "A Function is not called, it is applied", ["MyFunction.apply(x)"]),
    "once differentiable": (
        ["class Square(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        ctx.save_for_backward(x)\n"
         "        return x * x\n    @staticmethod\n    @torch.autograd.function.once_differentiable\n    def backward(ctx, g):\n"
         "        return g * 2 * ctx.saved_tensors[0]",
         "x = torch.ones(2, requires_grad=True)\ny, = torch.autograd.grad((Square.apply(x) ** 2).sum(), x, create_graph=True)\ny.sum().backward()"],
        "This rule has no derivative of its own", ["removing the decorator alone"]),
    "nan from sqrt": (
        ["x = torch.tensor(0., requires_grad=True)\nwith torch.autograd.detect_anomaly():\n    (x.sqrt() * 0).backward()"],
        "The first gradient that is no number comes from sqrt", ["the slope of sqrt at 0 is infinite", "torch.where on the result"]),
    "nan from log": (
        ["x = torch.tensor(0., requires_grad=True)\nwith torch.autograd.detect_anomaly():\n    (x.log() * 0).backward()"],
        "The first gradient that is no number comes from log", ["−inf times 0 is not a number", "F.log_softmax", "take both in one piece"]),
    "gradcheck in float32": (
        ["x = torch.rand(2, requires_grad=True)\ntorch.autograd.gradcheck(lambda x: x * x * x, x)"], "The check itself is too coarse", ["dtype=torch.float64"]),
    "empty optimiser": (
        ["class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.layers = [nn.Linear(2, 2)]",
         "optimizer = torch.optim.SGD(Net().parameters(), lr=0.1)"], "The model has no parameters to learn", ["nn.ModuleList"]),
    "optimiser of a result": (
        ["w = torch.randn(3, requires_grad=True) * 0.1\noptimizer = torch.optim.SGD([w], lr=0.1)"], "Only leaves can be learned", ["result of Mul ✗"]),
    "optimiser of the model": (["model = nn.Linear(2, 1)\noptimizer = torch.optim.SGD(model, lr=0.1)"], "The optimiser wants parameters", ["model.parameters()"]),
    "no super().__init__": (
        ["class Net(nn.Module):\n    def __init__(self):\n        self.layer = nn.Linear(1, 1)", "Net()"], "Module is not ready yet", ["super().__init__()"]),
    "batches of different size": (
        ["logits, target = torch.ones(3, 2), torch.tensor([0, 1])\nnn.functional.cross_entropy(logits, target)"],
        "Predictions and targets are not as many", ["3 samples", "targets for 2"]),
    "float classes": (
        ["nn.functional.cross_entropy(torch.ones(3, 2), torch.tensor([0., 1., 1.]))"], "A class is a whole number", ["target.long()"]),
    "class 5 of 2": (
        ["nn.functional.cross_entropy(torch.ones(3, 2), torch.tensor([0, 1, 5]))"], "There is no such class or row", ["0 to 1"]),
    "another model's file": (
        ["saved = {'weight': torch.ones(3, 3)}\nnn.Linear(2, 1).load_state_dict(saved)"], "These parameters are another model's", ["bias", "[3, 3]", "strict=False"]),
    "hook of another shape": (
        ["x = torch.ones(3, requires_grad=True)\nh = x * 2\nh.register_hook(lambda g: g[:2])", "h.sum().backward()"],
        "What this means", ["returned one of shape (2,)", "g * mask"]),
    "func.grad of a vector": (["torch.func.grad(lambda x: x * 2)(torch.ones(3))"], "What this means", ["shape (3,)", "jacrev(f)"]),
    "grey images": (
        ["images = torch.ones(1, 3, 5, 5)\nnn.functional.conv2d(images, torch.ones(2, 1, 3, 3))"], "The convolution was made for other channels", ["in_channels=3"]),
}  # fmt: skip


@pytest.mark.parametrize("cells, says, not_", [
    (["w = torch.ones(2, requires_grad=True)\ncode = (w * 2).detach()", "loss = (code ** 2).sum()\nloss.backward()"],
     ["The graph behind loss was cut: .detach()", "✂ code = (w * 2).detach()", "· loss = (code ** 2).sum()"], ""),
    (["h = torch.ones(2, requires_grad=True) * 2\ndef hidden():\n    global h\n    h = h.detach()\n\nhidden()", "loss = h.sum()\nloss.backward()"],
     ["The graph behind loss was cut: .detach()", "✂ h = h.detach()", "· loss = h.sum()"], "none of the tensors"),
    (["w = torch.ones(2, requires_grad=True)\nif w.sum() < 0:\n    h = w.detach()\nelse:\n    with torch.no_grad(): h = w * 2", "h.sum().backward()", ],
     ["As the code reads", "probably"], "The graph behind"),
    (["w = torch.ones(2, requires_grad=True)\nfor _ in range(2):\n    (w * w).sum().backward()\n    w = w - 0.1 * w.grad"],
     ["✂ w = w - 0.1 * w.grad a new tensor takes over the name w"], "probably"),
])  # fmt: skip
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_what_the_engine_noted_is_a_fact_and_what_the_source_tells_a_guess(shell, cells, says, not_):
    provenance.record_lines(True)
    try:
        text, _ = provoke(shell, cells)
    finally:
        provenance.record_lines(False)
    panel = " ".join(text.split())
    assert all(say in panel for say in says) and (not not_ or not_ not in panel), text


@pytest.fixture(scope="module")
def ipython():
    yield InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
    InteractiveShell.clear_instance()


@pytest.fixture
def shell(ipython):
    ipython.reset()
    ipython.colors = "nocolor"
    panels = Panels(ipython)
    panels.install()
    yield ipython
    panels.remove()
    import minigrad

    minigrad.autograd.set_detect_anomaly(False)


def provoke(shell, cells):
    """Run the cells; the last one fails. Returns what stands on the screen, and the exception."""
    torch.manual_seed(0)
    for cell in [TORCH, *cells[:-1]]:
        assert shell.run_cell(cell, store_history=True).success
    with capture_output(display=False) as screen:
        result = shell.run_cell(cells[-1], store_history=True)
    assert result.error_in_exec is not None
    return screen.stdout, result.error_in_exec


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", CASES)
def test_panel(shell, name):
    cells, title, says = CASES[name]
    if name == "cycle":
        cells = [OWN_ENGINE, *cells]
    text, error = provoke(shell, cells)
    sentence = str(error).split("\n\n")[0]
    assert f"{type(error).__name__}: {sentence}" in text, "PyTorch's own sentence comes first"
    assert text.index(sentence) < text.index(title)
    panel = " ".join(text[text.index(title) :].split())
    for say in says:
        assert " ".join(say.split()) in panel, text
    assert "How to fix it: " in text and "Read: chapter" in text and "%tb" in text
    assert "minigrad/" not in text.split(title)[1], "no file of the engine in the panel"
    seen = text[text.rindex(f"\n{title}\n") :]
    # Each Python has its own
    golden.check("panels.txt", name, re.sub(r"(?m)^Line \d+ (in \w+ \(copy\.py\))", r"Line ... \1", seen))


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_twenty_distinct_and_most_name_a_way_that_will_not_help(shell):
    assert len({title for _, title, _ in CASES.values()}) >= 50
    panels = [str(provoke(shell, [OWN_ENGINE, *cells])[0]) for cells, _, _ in list(CASES.values())[:30]]
    assert sum("Will not help: " in panel for panel in panels) >= 22


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_html_is_the_same_on_every_run_and_escaped(shell):
    def card():
        error = provoke(
            shell,
            [
                "w = torch.ones(2, requires_grad=True)\nname = '<script>'\nloss = (w * len('<b>')).sum(0, keepdim=True).expand(2)\nloss.backward()"
            ],
        )[1]
        return explain.explain(error, error.__traceback__, shell)._repr_html_()

    first = card()
    assert first == card() and "0x" not in first and "In [" not in first
    error = provoke(
        shell, ["x = torch.tensor(2., requires_grad=True)\nloss = (x * len('<script>')).item()\nloss.backward()"]
    )[1]
    html = explain.explain(error, error.__traceback__, shell)._repr_html_()
    assert "<script>" not in html and "&lt;script&gt;" in html


def test_the_ordinary_traceback_stays_available(shell):
    text, _ = provoke(shell, ["torch.ones(3, 4) + torch.ones(3)"])
    assert "in Tensor.__add__" not in text
    with capture_output() as screen:
        shell.run_line_magic("tb", "")
    assert "Traceback (most recent call last)" in screen.stdout and "__add__" in screen.stdout


@pytest.mark.parametrize("cells", [
    CASES["recursive backward"][0], ["def up(n):\n    return down(n + 1)\n\ndef down(n):\n    return up(n - 2)", "up(1)"]])  # fmt: skip
def test_an_endless_recursion_is_told_once(shell, cells):
    """IPython looks for the source of each frame: five seconds for a thousand of them."""
    text, error = provoke(shell, cells)
    frames = [frame.f_code.co_name for frame, _ in walk_tb(error.__traceback__)]
    (note,) = error.__notes__
    assert 4 < len(frames) < 20 and frames.count("<module>") == 1
    assert int(re.search(r"\d+", note)[0]) + len(frames) > 900 and "frames that repeat" in note
    with capture_output() as screen:
        shell.run_line_magic("tb", "")
    assert note in text and note in screen.stdout and error.__notes__ == [note], "nothing is left out twice"


@pytest.mark.parametrize("code", ["1/0", "raise KeyError('w')", "int('a')", "[][3]", "raise RuntimeError('my own')",
                                  "raise KeyboardInterrupt", "None.anything", "(1).backward_pass"])  # fmt: skip
def test_other_errors_are_none_of_our_business(shell, code):
    def on_screen():
        with capture_output() as screen:
            shell.run_cell(code)
        return re.sub(r"In\[\d+\]|input-\d+", "", screen.stdout)

    with_panels = on_screen()
    Panels(shell)  # another one, not installed
    shell.showtraceback.panels.remove()
    assert with_panels == on_screen() and "How to fix it" not in with_panels


FIRST_DAY = {
    "math.tanh": (["import math\nfrom minigrad import Value\nx = Value(2.0)", "math.tanh(x * 2)"], "(x * 2).tanh()"),
    "grad()": (["from minigrad import Value\nx = Value(2.0)", "x.grad()"], "Leave the parentheses away: x.grad"),
    "grad() before backward": (
        ["t = torch.ones(2, requires_grad=True)", "t.grad()"],
        "Leave the parentheses away: t.grad",
    ),
    "a function in sum": (["def f(x):\n    return x", "sum([f for x in [1.0]])"], "Call it: f(...)"),
    "a function beside a Value": (
        ["from minigrad import Value\nx = Value(2.0)\ndef f(x):\n    return x", "x + f"],
        "Call it: f(...)",
    ),
    "a function beside a Tensor": (["def f(x):\n    return x", "torch.ones(2) * f"], "Call it: f(...)"),
    "a generator": (["from minigrad import Value\nx = Value(2.0)", "x * (v for v in [x])"], "sum(… for … in …)"),
    "no return": (["def f(x):\n    x * 2", "f(1.0) + 1"], "f has no return"),
    "no return, kept": (["def f(x):\n    x * 2\ny = f(1.0)", "2 * y"], "f has no return"),
    "an unknown name": (["undefined = 1", "qwertz + 1"], "Run the cell that defines qwertz"),
    "check": (["a = 1", 'check("01.a", 30)'], "from minigrad.course import check"),
    "a picture of the course": (
        ["a = 1", "fit_line()"],
        "Run the first cell of the notebook, or this line: from widgets.lessons import fit_line",
    ),
    "a picture, misspelt": (["a = 1", "fti_line()"], "If you meant fit_line, correct the name."),
}


@pytest.mark.parametrize("cell, heading", [
    ('print("05.a", Value)', "Exercise 05.a: Values that remember"),  # it is the learner's own here, not minigrad's
    ("backward_by_recursion(1.0)", "4. The shortest backward pass"),
    ("scatter(1)", "6. One neuron"),
])  # fmt: skip
def test_a_name_of_this_chapter_is_found_by_its_heading(shell, tmp_path, monkeypatch, cell, heading):
    """Day two of chapter 5: nothing of the first sitting has run."""
    shutil.copy(ROOT / "notebooks" / "05_build_the_engine.ipynb", tmp_path)
    monkeypatch.chdir(tmp_path)
    text, _ = provoke(shell, ["a = 1", cell])
    assert f"below the heading “{heading}”" in " ".join(text.split()) and "from minigrad import Value" not in text, text


def test_a_cell_magic_does_not_show_the_call_that_ipython_makes_of_it(shell):
    shell.run_line_magic("load_ext", "minigrad")
    shell.run_cell('from minigrad.course import check; check.predict("02.a2", skip=True)')
    text, _ = provoke(shell, ["a = 1", "%%predict 02.a2\na + 1\nqwertz(2)"])
    assert "run_cell_magic" not in text and "another cell" not in text and "Line 3" in text, text


@pytest.mark.parametrize("cells, says", FIRST_DAY.values(), ids=FIRST_DAY)
def test_a_mistake_of_the_first_day_gets_a_panel(shell, cells, says):
    text, _ = provoke(shell, cells)
    assert says in " ".join(text.split()) and text.count("How to fix it") == 1, text


@pytest.mark.parametrize("cell, says", [
    ("def f(x)\n    return x", "ends with a colon"), ("if True:\nx = 1", "four blanks to the right"), ("print((1)", "never closed"),
    ("x = 1\n  y = 2", "begin it in the same column"), ("x = = 1", "at the marked place or just before it"),
    ("if x = 1:\n    pass", "== compares"), ("return 3", "inside a function"), ("print('a)", "quotation mark"),
])  # fmt: skip
def test_a_cell_that_python_cannot_read_gets_a_panel(shell, cell, says):
    with capture_output(display=False) as screen:
        assert not shell.run_cell(cell).success
    text = screen.stdout
    assert "Error: " in text and says in " ".join(text.split()) and text.count("None of its lines has run") == 1
    shell.showtraceback.panels.remove()
    with capture_output(display=False) as screen:
        shell.run_cell(cell)
    assert "None of its lines" not in screen.stdout


def test_an_unknown_exercise_shows_only_the_learners_line(shell):
    text, _ = provoke(shell, ["from minigrad.course import check", 'check("1.a", 30)'])
    assert "There is no exercise '1.a'" in text and "checking.py" not in text


@pytest.mark.parametrize(
    "cells",
    [["(torch.ones(3, requires_grad=True) * 2).backward()"], ["t = torch.ones(3)", "import math; math.tanh(t)"]],
)
def test_advice_is_printed_once(shell, cells):
    text, error = provoke(shell, cells)
    assert "How to fix it" in text and "Instead: " not in text
    assert text.count(f"{error.minigrad.chapter.partition(',')[0]}") <= 1


def test_a_panel_that_fails_hides_nothing(shell, monkeypatch):
    def broken(*_):
        raise ZeroDivisionError("inside the panel")

    monkeypatch.setattr(explain, "find", broken)
    text, _ = provoke(shell, ["torch.ones(3, 4) + torch.ones(3)"])
    assert "The size of tensor a (4) must match" in text and "Traceback" in text and "inside the panel" not in text


def test_writes_to_what_had_the_name_before_are_not_told(shell):
    cells = ["x = torch.ones(2, requires_grad=True)\ny = x * 2\ny += 5", "y = x.exp()\ny -= 1\ny.sum().backward()"]
    text, _ = provoke(shell, cells)
    assert "✂ y -= 1" in text and "y += 5" not in text


def test_an_expression_before_a_dot_keeps_its_parentheses(shell):
    text, _ = provoke(shell, ["x = torch.ones(2, requires_grad=True)\n(x**2).numpy()"])
    assert "(x ** 2).detach().numpy()" in text and "x ** 2.detach" not in text
    text, _ = provoke(shell, ["x = torch.ones(2, requires_grad=True)\nx.exp().numpy()"])
    assert "x.exp().detach().numpy()" in text and "(x.exp())" not in text


@pytest.mark.parametrize("call, yes, no", [
    ("torch.autograd.grad((2 * x).sum(), [x, unused])", ["x"], ["unused"]),
    ("torch.autograd.grad((2 * x.detach() + unused).sum(), (x, unused))", ["unused"], ["x"]),
    ("torch.autograd.grad(loss, [x, unused])", ["x"], ["unused"]),
    ("torch.autograd.grad(loss, both)", ["x"], ["unused"]),
    ("torch.autograd.grad(loss, unused)", [], ["unused"]),
])  # fmt: skip
def test_only_the_unused_input_is_called_unused(shell, call, yes, no):
    text, _ = provoke(shell, ["x = torch.ones(2, requires_grad=True)\nunused = torch.ones(2, requires_grad=True)\nboth = [x, unused]\n"
                              "loss = (2 * x).sum()", call])  # fmt: skip
    rows = dict(re.findall(r"^(\S+) +(yes|no)\b", text, re.M))
    assert rows == {**dict.fromkeys(yes, "yes"), **dict.fromkeys(no, "no")}, text
    assert f"{no[0]} has no part in the recorded computation" in " ".join(text.split())


def test_objects_that_cannot_be_looked_at(shell):
    cell = """
class Evil:
    def __getattribute__(self, name):
        raise RuntimeError('do not look')
    def __eq__(self, other):
        raise RuntimeError('do not compare')
    __hash__ = None
evil, a = Evil(), torch.ones(3, 4)
a + torch.ones(3)"""
    text, _ = provoke(shell, [cell])
    assert "The size of tensor a (4) must match" in text
    with capture_output() as screen:
        shell.run_cell(
            "class Bad(RuntimeError):\n    def __str__(self):\n        raise ValueError('no text')\nraise Bad()"
        )
    assert "Bad" in screen.stdout and "Traceback" in screen.stdout


def test_nothing_is_kept_alive(shell):
    import gc
    import weakref

    provoke(shell, ["class Big: pass\nbig = Big()\nseen = big", "torch.ones(3, 4) + torch.ones(3)"])
    ref = weakref.ref(shell.user_ns["big"])
    with capture_output():
        shell.run_cell("1/0")  # IPython itself keeps the last traceback
    shell.user_ns.pop("big"), shell.user_ns.pop("seen")
    import sys

    sys.last_traceback = sys.last_value = sys.last_exc = None
    shell.InteractiveTB.tb = None
    gc.collect()
    assert ref() is None


def test_async_cells_and_functions(shell):
    text, _ = provoke(shell, ["import asyncio\nx = torch.ones(3, 4)\nawait asyncio.sleep(0)\nx @ x"])
    assert "The inner sizes of the product differ" in text and "x @ x" in text
    text, _ = provoke(
        shell, ["def model(x, w):\n    h = x @ w\n    return h", "model(torch.ones(2, 3), torch.ones(2, 3))"]
    )
    assert "Line 2 in model (another cell)" in text and "x @ w.T" in text


def test_a_moment_without_learners_code():
    try:
        import minigrad

        minigrad.ones(3) + minigrad.ones(4)
    except RuntimeError as error:
        moment = Failure(error, None)
        assert moment.here is None and explain.explain(error, None) is None


STRANGERS = ["raise IndexError('Target 4 is out of bounds of my archery field')", "raise RuntimeError('size mismatch, got your t-shirt')",
             "raise IndexError('index 4 is out of bounds for dimension 0 with size 3')",
             "raise AttributeError('cannot assign module before Module.__init__() call')",
             "raise RuntimeError('Trying to backward through the graph a second time: my own graph library')", "lr = 0.1; lr.grad",
             "raise TypeError(\"unsupported operand type(s) for *: 'int' and 'Number'\")"]  # fmt: skip


@pytest.mark.parametrize("code", STRANGERS)
def test_the_same_words_from_somebody_else_get_no_panel(shell, code):
    text, _ = provoke(shell, [OWN_ENGINE + "\nx = Number(1.0)", code])
    assert "How to fix it" not in text and "Traceback" in text


@pytest.mark.parametrize("cells, says", [
    (["import torch"], ["torch is not installed", "import minigrad as torch"]),
    (["from torchviz import make_dot"], ["Write this line instead: from minigrad.viz import make_dot"]),
    (["loss = torch.ones(1, requires_grad=True).sum()", "lss.backward()"], ["there is loss"]),
    (["model = torch.nn.Linear(2, 1)", "modle(torch.ones(2))"], ["there is model"]),
    (["loss = torch.ones(1, requires_grad=True).sum()", "loss.backwrad()"], ["it has .backward"]),
    (["a = torch.ones(2, requires_grad=True)", "torch.optim.SGD([a.view(-1)], lr=0.1)"], ["a.view(-1)  result of an operation ✗"]),
    (["h = torch.ones(2)\nh.requires_grad_()", "for k in range(3):\n    (h * 2).view(5)"], ["(h * 2).view(5)"]),
])  # fmt: skip
def test_names_and_what_was_given(shell, cells, says):
    text, _ = provoke(shell, cells)
    for say in says:
        assert say in " ".join(text.replace("  ", " ").split()) or say in text, text


def test_an_error_of_the_engine_without_a_panel_shows_only_the_learners_lines(shell):
    text, error = provoke(shell, ["def f(x):\n    return torch.func.grad(lambda x: x * 2)(x)", "f(torch.ones(2))"])
    assert (
        str(error) in text and "return torch.func.grad" in text and "f(torch.ones(2))" in text and "%tb shows" in text
    )
    assert "transforms.py" not in text


@pytest.mark.parametrize(
    "cell, says", [("graph(3.0)", "There is no graph behind a plain number"), ("duel(y, 5)", "There is no graph behind a plain number"),
                   ("graph(y).save('picture.xyz')", "the name 'picture.xyz' is none of them")])  # fmt: skip
def test_an_error_of_a_picture_shows_only_the_learners_lines(shell, cell, says):
    text, _ = provoke(shell, ["from minigrad import Value\nfrom widgets import duel, graph\ny = Value(2.0) * 3", cell])
    assert says in text and cell in text and "%tb shows" in text
    assert "graph.py" not in text and "files.py" not in text


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_panels_do_not_read_the_sentences_of_the_engine(shell, monkeypatch):
    """Every panel about an error of minigrad still comes, with the same text, when the engine words all its errors differently."""
    new = errors.new
    reworded = []

    def other_words(kind, sentence, *parts, **named):
        error = new(kind, sentence, *parts, **named)
        error.args = ("The engine says this in other words.",)
        reworded.append(error)
        return error

    def panel(cells, title):
        shell.reset()
        text, error = provoke(shell, cells)
        assert title in text, (title, error)
        return text[text.rindex(title) :], error

    for cells, title, _ in CASES.values():
        if title == "A graph must not bite its own tail":
            cells = [OWN_ENGINE, *cells]
        text, error = panel(cells, title)
        with monkeypatch.context() as patch:
            patch.setattr(errors, "new", other_words)
            again, other = panel(cells, title)
        assert again == text
        assert (
            str(other) == str(error)
            if explain.failure.Failure(error, error.__traceback__).by_python
            else other in reworded
        )


def test_only_sentences_of_python_are_read():
    with_pattern = [row.about for row in explain.ROWS if row.pattern is not None]
    assert set(with_pattern) <= {TypeError, AttributeError} and len(with_pattern) <= 8
    assert sum(not issubclass(row.about, BaseException) for row in explain.ROWS) >= 48
