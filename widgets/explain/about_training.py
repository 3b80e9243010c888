"""Errors of training programs: optimisers, losses, modules, look-up tables."""

from __future__ import annotations

import ast

from minigrad.core import facts
from minigrad.tracing.trace import is_tensor

from ..show import Chain, Link, Table
from .answers import Answer, Explainer, row, shape
from .failure import Failure

ROWS: list[Explainer] = []


@row(facts.NoParameters)
def no_parameters(m: Failure, _: facts.NoParameters) -> Answer:
    return Answer("The model has no parameters to learn", "Only layers and parameters that are attributes of a Module are found; a plain list of layers hides them.",
                  "Keep layers in `nn.ModuleList([...])` or `nn.Sequential(...)`, and tensors of your own in `nn.Parameter(...)`. A generator is empty after one use: "
                  "call `model.parameters()` again.", chapter=17)  # fmt: skip


@row(facts.ResultOptimised)
def optimise_result(m: Failure, _: facts.ResultOptimised) -> Answer:
    argument = (
        next((n.args[0] for n in ast.walk(m.tree) if isinstance(n, ast.Call) and n.args), None)
        if m.tree is not None
        else None
    )
    named = []
    for item in argument.elts if isinstance(argument, (ast.List, ast.Tuple)) else []:
        t = m.value(item)
        is_leaf = is_tensor(t) and t.is_leaf
        made_by = f" of {type(t.grad_fn).__name__.removesuffix('Backward0')}" if is_tensor(t) and not is_leaf else ""
        named.append([ast.unparse(item), "leaf" if is_leaf else "result" + (made_by or " of an operation")])
    bad = {(i, 1) for i, r in enumerate(named) if r[1] != "leaf"}
    return Answer("Only leaves can be learned", "This tensor is the result of an operation: the next forward pass would make it again and forget every update.",
                  "Give the optimiser the leaf. To scale at the start: `w = (torch.randn(3) * 0.1).requires_grad_()`.",
                  ("`retain_grad()`", "the gradient is there then, and the update still changes a passing result"),
                  [Table(["", "what it is"], named, bad=bad)] if named else [], 17)  # fmt: skip


@row(facts.ParametersType)
def model_itself(m: Failure, _: facts.ParametersType) -> Answer:
    return Answer("The optimiser wants parameters", "It was given something that is not a list of tensors (the model itself?).",
                  "`torch.optim.SGD(model.parameters(), lr=0.1)`", chapter=17)  # fmt: skip


@row(facts.ModuleNotReady)
def no_super(m: Failure, about: facts.ModuleNotReady) -> Answer:
    return Answer("Module is not ready yet", f"A {about.assigned} was assigned before `Module.__init__` had made the lists that hold it.",
                  "The first line of `__init__` is `super().__init__()`.",
                  chapter=17, code="def __init__(self):\n    super().__init__()\n    ...")  # fmt: skip


@row(facts.BatchMismatch)
def batch_sizes(m: Failure, about: facts.BatchMismatch) -> Answer:
    named = [[text, shape(t)] for text, t in m.tensors()]
    return Answer("Predictions and targets are not as many", f"There are predictions for {about.predictions} samples and targets for {about.targets}.",
                  "Cut both from the data with the same indices. Sequences: flatten both, `logits.reshape(-1, classes)` and `targets.reshape(-1)`.",
                  ("`targets[:n]`", "it runs, and compares each sample with another's target"), [Table(["", "shape"], named)] if named else [], 17)  # fmt: skip


@row(facts.ClassType)
def whole_targets(m: Failure, about: facts.ClassType) -> Answer:
    return Answer("A class is a whole number", f"Numbers of classes and of rows are whole; these are {about.dtype}.",
                  "`target.long()`, or make them whole where they are made: `torch.tensor([0, 2, 1])`. For numbers to be approached use `nn.MSELoss`.", chapter=17)  # fmt: skip


@row(facts.ClassOutOfRange)
def class_outside(m: Failure, _: facts.ClassOutOfRange) -> Answer:
    explained = " ".join(part for part in (m.explanation.did, m.explanation.why) if part) if m.explanation else ""
    return Answer("There is no such class or row", explained or "The table has fewer rows than that.", "Classes are counted from 0: ten classes are 0 to 9. Check the width of the last layer, or `num_embeddings`.",
                  ("`target - 1` without a look", "if some targets are 0 already, they become −1"), chapter=17)  # fmt: skip


@row(facts.StateMismatch)
def other_model(m: Failure, about: facts.StateMismatch) -> Answer:
    rows = [[name, "not in the file", "there"] for name in about.missing]
    rows += [[name, "there", "not in the model"] for name in about.unexpected]
    rows += [[name, str(list(stored)), str(list(model))] for name, stored, model in about.sizes]
    return Answer("These parameters are another model's", f"Names or shapes in the file are not those of this {about.model}.",
                  "Make the model as it was when it was saved: same layers, same sizes, same names.",
                  ("`strict=False`", "what does not match keeps its random start, without a word"),
                  [Table(["parameter", "in the file", "in the model"], rows)] if rows else [], 17)  # fmt: skip


@row(facts.ChannelMismatch)
def other_channels(m: Failure, about: facts.ChannelMismatch) -> Answer:
    channels = about.input[1]
    return Answer("The convolution was made for other channels", f"It takes {about.channels}, the image has {channels}. Channels are dimension 1 of a batch (N, C, H, W).",
                  f"`in_channels={channels}`, or move the channels if they come last: `x.permute(0, 3, 1, 2)`.",
                  ("`x.view(...)` to swap dimensions", "it mixes the pixels; `permute` moves whole dimensions"),
                  [Chain(Link(str(list(about.input)), "N, C, H, W"), Link(str(list(about.weight)), f"takes C = {about.channels}", "bad"))], 17)  # fmt: skip
