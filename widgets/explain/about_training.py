"""Errors of training programs: optimisers, losses, modules, look-up tables."""

from __future__ import annotations

import ast
import re

from minigrad.tracing.trace import is_tensor

from ..show import Chain, Link, Table
from .answers import Answer, Row, row, shape
from .moment import Moment

ROWS: list[Row] = []


@row(ValueError, r"^optimizer got an empty parameter list")
def no_parameters(m: Moment, _) -> Answer:
    return Answer("The model has no parameters to learn", "Only layers and parameters that are attributes of a Module are found; a plain list of layers hides them.",
                  "Keep layers in `nn.ModuleList([...])` or `nn.Sequential(...)`, and tensors of your own in `nn.Parameter(...)`. A generator is empty after one use: "
                  "call `model.parameters()` again.", chapter=17)  # fmt: skip


@row(ValueError, r"^can't optimize a non-leaf Tensor")
def optimise_result(m: Moment, _) -> Answer:
    given = (
        next((n.args[0] for n in ast.walk(m.tree) if isinstance(n, ast.Call) and n.args), None)
        if m.tree is not None
        else None
    )
    named = []
    for item in given.elts if isinstance(given, (ast.List, ast.Tuple)) else []:
        t = m.value(item)
        known = is_tensor(t) and t.is_leaf
        made_by = f" of {type(t.grad_fn).__name__.removesuffix('Backward0')}" if is_tensor(t) and not known else ""
        named.append([ast.unparse(item), "leaf" if known else "result" + (made_by or " of an operation")])
    bad = {(i, 1) for i, r in enumerate(named) if r[1] != "leaf"}
    return Answer("Only leaves can be learned", "This tensor is the result of an operation: the next forward pass would make it again and forget every update.",
                  "Give the optimiser the leaf. To scale at the start: `w = (torch.randn(3) * 0.1).requires_grad_()`.",
                  ("`retain_grad()`", "the gradient is there then, and the update still changes a passing result"),
                  [Table(["", "what it is"], named, bad=bad)] if named else [], 17)  # fmt: skip


@row(TypeError, r"^(?:'(\w+)' object is not iterable|params argument given to the optimizer should be an iterable)")
def model_itself(m: Moment, found) -> Answer | None:
    if "optim" not in m.line and not m.in_engine:
        return None
    if not re.search(r"optim|SGD|Adam|RMSprop|Adagrad|LBFGS", m.line):
        return None
    return Answer("The optimiser wants parameters", "It was given something that is not a list of tensors (the model itself?).",
                  "`torch.optim.SGD(model.parameters(), lr=0.1)`", chapter=17)  # fmt: skip


@row(AttributeError, r"^cannot assign (\w+) before Module.__init__\(\) call")
def no_super(m: Moment, found) -> Answer:
    return Answer("Module is not ready yet", f"A {found[1]} was assigned before `Module.__init__` had made the lists that hold it.",
                  "The first line of `__init__` is `super().__init__()`.",
                  chapter=17, code="def __init__(self):\n    super().__init__()\n    ...")  # fmt: skip


@row(ValueError, r"^Expected input batch_size \((\d+)\) to match target batch_size \((\d+)\)")
def batch_sizes(m: Moment, found) -> Answer:
    named = [[text, shape(t)] for text, t in m.tensors()]
    return Answer("Predictions and targets are not as many", f"There are predictions for {found[1]} samples and targets for {found[2]}.",
                  "Cut both from the data with the same indices. Sequences: flatten both, `logits.reshape(-1, classes)` and `targets.reshape(-1)`.",
                  ("`targets[:n]`", "it runs, and compares each sample with another's target"), [Table(["", "shape"], named)] if named else [], 17)  # fmt: skip


@row(
    (RuntimeError,),
    r"^expected target dtype to be Long or Byte, but got (\w+)|^Expected tensor for argument #1 'indices' .* but got torch\.(\w+)Tensor",
)
def whole_targets(m: Moment, found) -> Answer:
    return Answer("A class is a whole number", f"Numbers of classes and of rows are whole; these are {found[1] or found[2]}.",
                  "`target.long()`, or make them whole where they are made: `torch.tensor([0, 2, 1])`. For numbers to be approached use `nn.MSELoss`.", chapter=17)  # fmt: skip


@row(IndexError, r"^Target (-?\d+) is out of bounds|^index out of range in self")
def class_outside(m: Moment, found) -> Answer:
    said = " ".join(part for part in (m.explanation.did, m.explanation.why) if part) if m.explanation else ""
    return Answer("There is no such class or row", said or "The table has fewer rows than that.", "Classes are counted from 0: ten classes are 0 to 9. Check the width of the last layer, or `num_embeddings`.",
                  ("`target - 1` without a look", "if some targets are 0 already, they become −1"), chapter=17)  # fmt: skip


@row(RuntimeError, r"^Error\(s\) in loading state_dict for (\w+)")
def other_model(m: Moment, found) -> Answer:
    missing = re.findall(r"Missing key\(s\) in state_dict: (.+?)\.\s*$", str(m.error), re.M)
    extra = re.findall(r"Unexpected key\(s\) in state_dict: (.+?)\.\s*$", str(m.error), re.M)
    sizes = re.findall(
        r"size mismatch for (\S+): copying a param with shape torch.Size\((\[.*?\])\) from checkpoint, the shape in current model is torch.Size\((\[.*?\])\)",
        str(m.error),
    )
    rows = [[n.strip(' "'), "not in the file", "there"] for group in missing for n in group.split(",")]
    rows += [[n.strip(' "'), "there", "not in the model"] for group in extra for n in group.split(",")]
    rows += [[n, a, b] for n, a, b in sizes]
    return Answer("These parameters are another model's", f"Names or shapes in the file are not those of this {found[1]}.",
                  "Make the model as it was when it was saved: same layers, same sizes, same names.",
                  ("`strict=False`", "what does not match keeps its random start, without a word"),
                  [Table(["parameter", "in the file", "in the model"], rows)] if rows else [], 17)  # fmt: skip


@row(
    RuntimeError,
    r"^Given groups=\d+, weight of size (\[.*?\]), expected input(\[.*?\]) to have (\d+) channels, but got (\d+) channels",
)
def channels(m: Moment, found) -> Answer:
    return Answer("The convolution was made for other channels", f"It takes {found[3]}, the image has {found[4]}. Channels are dimension 1 of a batch (N, C, H, W).",
                  f"`in_channels={found[4]}`, or move the channels if they come last: `x.permute(0, 3, 1, 2)`.",
                  ("`x.view(...)` to swap dimensions", "it mixes the pixels; `permute` moves whole dimensions"),
                  [Chain(Link(found[2], "N, C, H, W"), Link(found[1], f"takes C = {found[3]}", "bad"))], 17)  # fmt: skip
