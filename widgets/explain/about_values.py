"""Errors about what a number, a tensor and None are: leaving the graph by .item(), conditions, whole numbers, gradients that are None."""

from __future__ import annotations

import ast
import re
from typing import Any

import numpy as np

from minigrad.core import facts
from minigrad.scalar import Value
from minigrad.tracing.trace import is_tensor

from ..show import Chain, Link, Table
from . import history
from .about_python import UNCALLED, made_by, returned_none, uncalled
from .answers import Answer, Explainer, row, shape
from .failure import Failure

ROWS: list[Explainer] = []

NO_FLOAT = (
    "`torch.tensor(loss, requires_grad=True).backward()`",
    "it is a new leaf with the right value; no gradient gets beyond it",
)


NUMBERS = (bool, int, float, np.ndarray, np.floating)
OF_TENSORS = ("backward", "grad", "requires_grad", "detach", "item", "retain_grad")


@row(AttributeError)
def plain_number(m: Failure, error: AttributeError) -> Answer | None:
    number, attribute = error.obj, error.name
    if not isinstance(number, NUMBERS) or attribute not in OF_TENSORS:
        return None
    owner = _owner(m, attribute)
    steps = history.chain(m, owner)
    cut = next((s.cut for s in steps if s.cut), None)
    if cut is None and attribute != "backward":  # lr.grad: a number that never was a tensor
        return None
    name = ast.unparse(owner) if owner is not None else "it"
    kind = ("numpy " if isinstance(number, (np.ndarray, np.generic)) else "Python ") + type(number).__name__
    links = [Link(s.code, s.cut.why if s.cut else "", "bad" if s.cut else "off") for s in steps]
    became = f" As the code reads, it became one here: {cut.why}." if cut else ""
    return Answer("A plain number has no graph", f"`{name}` is a {kind}, not a tensor or Value.{became}",
                  "Keep the tensor for `backward()`, and take `.item()` (or `.data`) only of what you print or store.",
                  NO_FLOAT, [Chain(*links)] if links else [], 15)  # fmt: skip


def _owner(m: Failure, attribute: str) -> ast.expr | None:
    """The expression before `.attribute` in the line at fault, preferably in a call."""
    nodes = (n for n in ast.walk(m.tree) if isinstance(n, ast.Attribute)) if m.tree is not None else ()
    return m.calls(attribute) or next((n.value for n in nodes if n.attr == attribute), None)


@row(TypeError, r"NoneType")
@row(AttributeError)
def gradient_is_none(m: Failure, error: BaseException) -> Answer | None:
    if isinstance(error, AttributeError) and (error.obj is not None or error.name is None):
        return None
    owner = (
        next((n.value for n in ast.walk(m.tree) if isinstance(n, ast.Attribute) and n.attr == "grad"), None)
        if m.tree
        else None
    )
    if owner is None:
        return None
    thing, name = m.value(owner), m.owner(owner)
    if not (is_tensor(thing) or isinstance(thing, Value)) and thing is not None:
        return None
    facts = [["value", "None"]]
    if is_tensor(thing):
        facts = [["grad", "None (not 0: it was never computed)"], ["is_leaf", str(thing.is_leaf)], ["requires_grad", str(thing.requires_grad)],
                 ["grad_fn", "None" if thing.edge is None else type(thing.edge[0]).__name__]]  # fmt: skip
        again, certain = history.reassigned(m, name, thing) if isinstance(owner, ast.Name) else (None, False)
        if thing.edge is not None or (again is not None and ".grad" in again.code):
            return reassigned_leaf(m, name, thing, facts, again, certain)
        if not thing.requires_grad:
            return Answer("This gradient was never asked for", f"`{name}` does not require gradients, so `{name}.grad` stays None.",
                          f"Make it with `requires_grad=True` before the forward pass. If it was a result of `{name} - lr * {name}.grad` under "
                          "`no_grad`: update in place, `-=`.",
                          ("`if w.grad is not None`", "the error goes away, and nothing learns"), [Table(["", name], facts)], 15)  # fmt: skip
    return Answer("There is no gradient yet", f"`{name}.grad` is None: no backward pass has reached `{name}` since it was made (or since `zero_grad()`, which sets it "
                  "to None).", "Call `loss.backward()` before this line, on a loss that was computed from this very tensor.",
                  ("`if w.grad is not None`", "the error goes away, and nothing learns; None means never computed, 0 means computed and zero"),
                  [Table(["", name], facts)], 2)  # fmt: skip


def reassigned_leaf(
    m: Failure, name: str, thing: Any, facts: list[list[str]], again: history.Statement | None, certain: bool
) -> Answer:
    code = again.code if again is not None else ""
    update = ".grad" in code
    what = f"`{name}` is the result of an operation, not the leaf that you made. Only leaves keep their gradient after `backward()`."
    links = [
        Link(name, "the leaf you made: has the gradient"),
        Link(code, f"{'a' if certain else 'probably here a'} new tensor takes over the name {name}", "bad"),
        Link(f"{name}.grad", "None", "off"),
    ]
    if update:
        return Answer("The name now belongs to another tensor", what, "Change the leaf in place, where nothing is recorded:",
                      ("`retain_grad()`", f"it fills `.grad` of this result, and the graph grows by one update each round, back to the first {name}"),
                      [Chain(*links), Table(["", name], facts)], 15, f"with torch.no_grad():\n    {name} -= lr * {name}.grad")  # fmt: skip
    return Answer("Only leaves keep their gradient", what, f"For a look at this result's gradient call `{name}.retain_grad()` before `backward()`.",
                  ("`requires_grad_()` on the result", "it is on already; keeping the gradient is another thing"),
                  [Chain(*links) if again is not None else Table(["", name], facts)], 2)  # fmt: skip


@row(AttributeError)
def forgot_return(m: Failure, error: AttributeError) -> Answer | None:
    if error.obj is not None or error.name not in ("backward", "data", "grad_fn", "item", "shape"):
        return None
    owner = _owner(m, error.name)
    if owner is None:
        return None
    call = made_by(m, owner)
    if call is not None and isinstance(call.func, ast.Attribute) and call.func.attr == "backward":
        return Answer("backward() returns nothing", "It fills the `.grad` of the leaves; it has no result, and it updates nothing.",
                      "Call `loss.backward()` alone on its line, then read `w.grad`.", chapter=17)  # fmt: skip
    return returned_none(m, owner)


@row(facts.ConvertedToNumpy)
def to_numpy(m: Failure, _: facts.ConvertedToNumpy) -> Answer:
    owner = m.calls("numpy")
    direct = owner is not None
    name = ast.unparse(owner) if owner is not None else next((text for text, t in m.tensors() if t.requires_grad), "x")
    what = (
        f"`{name}` is part of a graph; numpy records nothing, so no gradient could come back through what it computes."
    )
    fix = f"To print or plot: `{m.owner(owner) if owner is not None else name}.detach().numpy()`."
    if not direct:
        fix += " To compute a part of the model: use the torch function of the same name (`torch.sin`, not `np.sin`)."
    return Answer("numpy would lose the graph", what, fix,
                  ("`detach()` inside the model", "the error goes away, and with it the gradient of everything before this line"),
                  [Chain(Link(name, "requires grad"), Link("numpy", "records nothing", "bad"), Link("loss", "no gradient comes back", "off"))], 10)  # fmt: skip


@row(facts.AmbiguousTruth)
def truth(m: Failure, _: facts.AmbiguousTruth) -> Answer:
    named = [[text, shape(t)] for text, t in m.tensors()]
    return Answer("A condition needs one answer", "The tensor gives an answer for every entry, `if` and `while` need a single one.",
                  "One answer for all: `(x > 0).all()` or `.any()`. A choice for every entry: `torch.where(x > 0, a, b)`.",
                  ("looping over the entries with `if`", "it works, a thousand times slower than `torch.where`"),
                  [Table(["", "shape"], named)] if named else [], 2)  # fmt: skip


@row(facts.NotOneNumber)
def not_one_number(m: Failure, about: facts.NotOneNumber) -> Answer:
    named = [[text, shape(t)] for text, t in m.tensors()]
    return Answer("Several numbers are not one number", f"This tensor has {about.size} entries, and a Python number was asked for.",
                  "Reduce first (`x.mean().item()`), pick one (`x[0].item()`), or take them all (`x.tolist()`).",
                  ("`x.item()` on the loss of a batch with `reduction='none'`", "the loss itself should be reduced: that decides the gradients, too"),
                  [Table(["", "shape"], named)] if named else [], 8)  # fmt: skip


@row(facts.NotDifferentiable)
def whole_numbers(m: Failure, _: facts.NotDifferentiable) -> Answer:
    return Answer("Whole numbers have no small changes", "The tensor holds whole numbers (or True and False). A derivative asks what a small change does.",
                  "Write decimal points, `torch.tensor([1., 2.])`, or convert: `x.float()`.",
                  ("converting after the computation", "the part before stays without gradients"), [Chain(Link("int64", "1 → 2", "bad"), Link("float32", "1 → 1.0001"))], 9)  # fmt: skip


@row(facts.DtypesDiffer)
def two_dtypes(m: Failure, about: facts.DtypesDiffer) -> Answer:
    named = [[text, str(t.dtype)] for text, t in m.tensors()]
    return Answer("Two kinds of numbers in one product", f"One tensor holds {about.first}, the other {about.second}. Matrix products do not convert, as in PyTorch.",
                  "Convert the data once, where it is made: `torch.tensor(a, dtype=torch.float32)`. numpy's own numbers are float64.",
                  ("converting inside the training loop", "it works and copies the data each round"), [Table(["", "dtype"], named)] if named else [], 9)  # fmt: skip


@row(facts.NotANumber)
def not_a_value(m: Failure, about: facts.NotANumber) -> Answer | None:
    if about.type in UNCALLED:
        return uncalled(m, about.type)
    fix = about.advice
    if about.type == "Tensor":
        fix = "Stay with one engine: `Value` for single numbers, or tensors throughout. `t.item()` gives the number without its graph."
    return Answer("A Value holds a single number", f"It was given a {about.type}. `Value` is the scalar engine: one number, one node.",
                  fix, chapter=5)  # fmt: skip


@row(TypeError, r"^unsupported operand type\(s\) for (\S+): '(int|float)' and '(\w+)'")
def no_reflected(m: Failure, match: re.Match[str]) -> Answer | None:
    cls = m.names.get(match[3]) or next((type(v) for v in m.names.values() if type(v).__name__ == match[3]), None)
    if not isinstance(cls, type) or not all(hasattr(cls, name) for name in ("__init__",)) or match[3] == "NoneType":
        return None
    method = {"+": "add", "-": "sub", "*": "mul", "/": "truediv", "**": "pow", "**=": "pow"}.get(
        match[1].split(":")[0].replace("or", "").strip()
    )
    if method is None or hasattr(cls, f"__r{method}__") or not hasattr(cls, f"__{method}__"):
        return None
    body = {"add": "self + other", "mul": "self * other", "sub": "(-self) + other", "truediv": "other * self**-1"}.get(
        method, "..."
    )
    return Answer(f"The class has no __r{method}__", f"Python first asks the {match[2]} on the left, which does not know `{match[3]}`; then it asks for `__r{method}__` of the right "
                  "one, and there is none.", "Define the reflected operation:",
                  (f"writing `x {match[1]} 2` in the other order everywhere", "`sum(values)` starts with `0 + ...`, and that order is not yours to choose"),
                  [], 5, f"def __r{method}__(self, other):  # other {match[1]} self\n    return {body}")  # fmt: skip


@row(facts.ArgumentType)
def must_be_tensor(m: Failure, about: facts.ArgumentType) -> Answer | None:
    if about.type not in ("list", "tuple", "int", "float", "ndarray", "Value"):
        return None
    other = {"Value": f"`Value` has its own functions: `x.{about.function}()`, or `from minigrad.scalar import {about.function}`.",
             "ndarray": "`torch.from_numpy(a)` or `torch.tensor(a)` makes a tensor of it; its gradient needs `requires_grad=True`."}  # fmt: skip
    return Answer("A tensor is needed here", f"`{about.function}` was given a {about.type} as its argument {about.position}.",
                  other.get(about.type, "Wrap the numbers once, where they are made: `torch.tensor([1., 2.])`."), chapter=9)  # fmt: skip


@row(facts.NoCuda)
def no_gpu(m: Failure, _: facts.NoCuda) -> Answer:
    return Answer("minigrad computes on the CPU", "There is no GPU here, and no need of one: the course's programs are small.",
                  "`device = 'cuda' if torch.cuda.is_available() else 'cpu'` runs everywhere; or leave the device out.", chapter=19)  # fmt: skip
