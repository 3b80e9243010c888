"""Half-done work: the hint is about what fails first, and not about what is still to be written. From a learner's first sitting."""

import pytest

from minigrad.course import exercises
from minigrad.course.checking import Check

from .test_changed import judged, own_progress  # noqa: F401  (a fixture)

HEAD = exercises["05.a"].solution.split("    def __mul__")[0]
MUL, POW, RELU = (
    "    def __" + name + exercises["05.a"].solution.split("    def __" + name)[1].split("\n\n    def ")[0] + "\n\n"
    if name != "relu"
    else "    def relu" + exercises["05.a"].solution.split("    def relu")[1].split("\n\n    def ")[0] + "\n\n"
    for name in ("mul", "pow", "relu")
)
BARE = HEAD.split("    def __repr__")[0] + "    def __add__" + HEAD.split("    def __add__")[1]
STEPS = "def descend(loss, ws, lr, steps, h=1e-6):\n    for step in range(steps):\n        slopes = []\n        for i in range(len(ws)):\n"
WALKS = "        ws = [w - lr * s for w, s in zip(ws, slopes)]\n"

CASES = {
    "sum and product": ("05.a", HEAD + MUL, "__pow__", ""),
    "without the repr that was given": ("05.a", BARE, "__mul__", ""),
    "a wrong power, relu still missing": ("05.a", HEAD + MUL + POW.replace("(n - 1)", "n"), "", "exponent one smaller"),
    "a wrong relu, all forms missing": ("05.a", HEAD + MUL + POW + RELU.replace("(1.0 if self.data > 0", "(1.0 if self.data >= 0"), "",
                                        "and not >="),
    "a tuple without a comma": ("05.a", HEAD + MUL + POW.replace("(self,)", "(self)"), "", "has a comma"),
    "a product without a return": ("05.a", HEAD + MUL.replace("        return out\n", "", 1), "__pow__", "must end with return out"),
    "relu is still missing": ("05.a", HEAD + MUL + POW, "relu", ""),
    "a product that overwrites": ("05.a", HEAD + MUL.replace("+=", "="), "", "second one replaces the first"),
    "no form yet": ("05.a", HEAD + MUL + POW + RELU, "", "Value.__rmul__. Define it"),
    "it stops, and there is no return either": (
        "01.b", STEPS + "            slopes.append((loss(ws[i] + h) - loss(ws)) / h)\n" + WALKS, "", "of the type float came where a list"),
    "twice and too deep": ("02.c", "def walk(y):\n    names = []\n    def visit(node):\n        if node is not None:\n"
        "            names.append(node.name())\n            for parent, _ in node.next_functions:\n                visit(parent)\n"
        "    visit(y.grad_fn)\n    return names\n", "", "not for “a value used twice”"),
    "a power without an exponent": ("05.a", HEAD + MUL + POW.replace("self.data ** (n - 1)", "self.data") + RELU, "", "no exponent"),
    "one operation of nine": ("09.e", "import numpy as np\n\n\ndef teach_tensors(Tensor):\n    def add(self, other):\n"
        "        other = other if isinstance(other, Tensor) else Tensor(other)\n"
        "        return Tensor(self.data + other.data, (self, other), '+')\n\n    def multiply(self, other):\n        ...\n\n"
        "    Tensor.__add__, Tensor.__mul__ = add, multiply\n", "", "returns nothing yet"),
    "a Value for a Tensor": ("09.e", exercises["09.e"].solution.replace("Tensor(np.exp(self.data)", "Other(np.exp(self.data)").replace(
        "def teach_tensors", "class Other:\n    def __init__(self, *parts):\n        self.data = parts[0]\n\n\ndef teach_tensors"),
        "", "Every operation returns a Tensor"),
    "two names for one list": (
        "01.b", STEPS + "            nudged = ws\n            nudged[i] += h\n            slopes.append((loss(nudged) - loss(ws)) / h)\n"
        + WALKS + "    return ws\n", "", "list(ws) makes a copy"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_what_fails_first_is_explained(name):
    id, source, following, words = CASES[name]
    result = judged(id, source, name)
    assert result.state == "failed" and following in result.next and bool(following) == bool(result.next)
    assert words in result.hint and bool(words) == bool(result.hint), result.hint


def test_a_program_that_needs_every_form_says_nothing_about_half_an_engine():
    check = Check()
    check.where = lambda answer: "3 * x stops"
    half = HEAD + MUL + POW.replace("n * self.data ** (n - 1)", "n + self.data") + RELU
    assert "3 * x stops" not in repr(check("05.a", exercises["05.a"].load(half)))
    whole = exercises["05.a"].solution.replace("n * self.data ** (n - 1)", "n + self.data")
    assert "3 * x stops" in repr(check("05.a", exercises["05.a"].load(whole)))
