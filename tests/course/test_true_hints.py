"""No hint names a mistake that is not there: wrong answers that general fingerprints once took for something else."""

import pytest

from minigrad.course import exercises
from minigrad.course.checking import Check

MOMENTUM = """\
def with_momentum(w, data, steps, lr, mu):
    v = 0.0
    for _ in range(steps):
        w.grad = 0.0
        backward(sum((w * x - y) ** 2 for x, y in data))
        UPDATE
    return w.data
"""
FACTOR = "wrong by one factor"


def changed(id, *changes):
    source = exercises[id].solution
    for old, new in changes:
        assert old in source, (id, old)
        source = source.replace(old, new)
    return source


CASES = [  # (exercise, answer, a word of a true hint or "", words of the false one)
    ("05.a", changed("05.a", ("if self.data > 0 else 0.0) * out.grad", "if self.data > 0 else 0.0) * self.grad")),
     "out.grad", "Its rule is written"),
    ("05.a", changed("05.a", ("    def __add__(self, other):\n        other = other if isinstance(other, Value) else Value(other)",
                              "    def __add__(self, other):\n        other = Value(other.data if isinstance(other, Value) else other)")),
     "Wrap plain numbers only", "use +="),
    ("05.a", changed("05.a", ("return self + (-other)",
                              "return Value(self.data - (other.data if isinstance(other, Value) else other), (self, other), '-')")),
     "without a rule", "-x makes"),
    ("05.b", changed("05.b", ("    root.grad = 1.0\n", ""), ("        v._backward()\n", "        v._backward()\n    root.grad = 1.0\n")),
     "before the first rule runs", "An earlier contribution was lost"),
    ("07.c", MOMENTUM.replace("UPDATE", "v = mu * lr * v + w.grad; w.data = w.data - lr * v"), "is wanted", FACTOR),
    ("07.c", MOMENTUM.replace("UPDATE", "v = mu * v + w.grad; w.data = w.data - lr * (w.grad + mu * v)"), "is wanted", FACTOR),
    ("07.d", changed("07.d", ("sum(len(batch) for batch in batches)", "max(map(len, batches)) * len(batches)")), "is wanted", "missing: w"),
    ("06.b", changed("06.b", ("math.atan2(self.data, other.data)", "math.atan(self.data / other.data)")),
     "math.atan2 takes both", "factor"),
    ("01.c", "import math\n\n\ndef fooled(x):\n    return math.sin(1e6 * x)\n", "makes a plain number", "kink"),
    ("01.b", changed("01.b", ("nudged[i] += h", "nudged[i] += h * nudged[i]")), "", "each round makes the next"),
    ("07.e", "def backward_again(root):\n    root.grad = 1.0\n    root._prev = ()\n    root._backward()\n", "", "zip"),
    ("08.a", {key: [value] * 4 for key, value in exercises["08.a"].load(exercises["08.a"].solution).items()},
     "without brackets", "recognise"),
    ("01.a", 31, "arithmetic", "off by one"),
    ("06.a2", 0, "look whether it counts", "Move the input"),
    ("14.c", changed("14.c", ("(x * x).mean(axis=1, keepdims=True)", "x.var(axis=1, keepdims=True)")), "takes the mean away", "recognise"),
    ("10.c", changed("10.c", ("t.mul_(m).add_(s, alpha=1 - m)", "t += (1 - m) * s\n            t *= m")), "after the sum", "recognise"),
    ("15.b", changed("15.b", ("error = output", "loss = nn.functional.binary_cross_entropy(output[:, 0], wanted)\n        error = output")),
     "", "rest near 0.25"),
]  # fmt: skip


@pytest.mark.parametrize("id, answer, true, false", CASES, ids=[f"{id}-{true[:12]}" for id, _, true, _ in CASES])
def test_a_hint_is_true(id, answer, true, false):
    ex = exercises[id]
    result = Check()(id, ex.load(answer) if isinstance(answer, str) else answer)
    assert true in result.hint and false not in result.hint, result.hint


@pytest.mark.parametrize("item", [".item()", "item()", "Item", " item. "])
def test_a_tool_may_be_written_as_a_method(item):
    right = exercises["10.b"].load(exercises["10.b"].solution)
    assert Check()("10.b", right | {"5, the log": item}).passed


def test_writing_to_data_passes_with_a_remark():
    source = changed("17.b", ("p *= 1", "p.data *= 1"), ("p -= lr", "p.data -= lr"))
    assert ".data hides the write" in repr(Check()("17.b", exercises["17.b"].load(source)))
    assert ".data" not in repr(Check()("17.b", exercises["17.b"].load(exercises["17.b"].solution)))
