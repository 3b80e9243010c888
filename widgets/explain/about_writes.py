"""Errors about writing into tensors: saved values that changed, leaves, views; and what a write cannot do."""

from __future__ import annotations

import ast
from typing import Any

from minigrad.core import facts
from minigrad.tracing.trace import is_tensor

from ..show import Chain, Link
from . import history
from .answers import Answer, Explainer, row
from .failure import Failure

ROWS: list[Explainer] = []


@row(facts.SavedOverwritten)
def saved_then_written(m: Failure, about: facts.SavedOverwritten) -> Answer:
    now, then, saver, slot = about.version, about.expected, about.node, about.slot

    def fits(x: Any) -> bool:
        return is_tensor(x) and tuple(x.shape) == about.shape and x.version[0] == now

    name = m.name_of(fits)
    written = history.writes(m, name) if name else []
    label = name or "the saved tensor"
    links = [Link(label, f"version {then}: {saver} saved it" + (" (its own result)" if slot == "out" else ""))]
    wrote = "wrote into it" if len(written) == now else "probably wrote into it"  # its counter began at 0
    links += [Link(s.code, wrote, "bad") for s in written[-3:]] or [Link("an in-place write", "changed it", "bad")]
    links += [Link("backward", f"finds version {now}, needs version {then}", "off")]
    times = "" if now - then == 1 else f" {now - then} times"
    what = f"The gradient needs `{label}` with the numbers it had when {saver} saved it. It was written to{times} since, so they are gone."
    line = f" for `{written[-1].code}`" if written else ""
    fix = f"Write the changed values to a new tensor{line}: `y = y + 1` instead of `y += 1`, `torch.where` instead of `y[mask] = 0`."
    if slot == "out":
        fix += f" Or `clone()` the result of {saver.removesuffix('Backward0').lower()} before this one write."
    return Answer("A number that the backward pass needs was overwritten", what, fix,
                  ("`.clone()` everywhere", "only a tensor that a node saved has to survive; adding and scaling by constants save nothing, "
                   "and each clone costs its memory. `.data` hides the write from the check, and the gradient is silently wrong"),
                  [Chain(*links)], 15)  # fmt: skip


NO_DATA = (
    "`w.data -= ...`",
    "it works without a word even where a graph needs the old numbers, and then the gradient is silently wrong",
)


def _update(m: Failure) -> bool:
    return ".grad" in m.line


@row(facts.LeafWritten)
def leaf_written(m: Failure, _: facts.LeafWritten) -> Answer:
    name = _target(m) or "w"
    if _update(m):
        what = f"The update of `{name}` would be recorded as a part of the computation, and the leaf, where the graph starts, cannot have a history."
        code = f"with torch.no_grad():\n    {m.line}"
        say = "An update is not part of the model: run it where nothing is recorded."
    else:
        what = f"`{name}` is a leaf that requires gradients: its gradient belongs to the value it was made with. This line would change that value."
        code, say = "", f"Make a new tensor, `h = {name} + ...`, or set the numbers before gradients are asked for."
    return Answer("A leaf cannot be written to while recording", what, say, NO_DATA if _update(m) else
                  ("`.clone()` after the write", "the write itself is what cannot be recorded"),
                  [Chain(Link(name, "leaf, requires grad", "bad"), Link("the model"), Link("loss"))], 15, code)  # fmt: skip


def _target(m: Failure) -> str:
    for node in ast.walk(m.tree) if m.tree is not None else ():
        if isinstance(node, ast.AugAssign):
            return ast.unparse(node.target).split("[")[0]
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
            return ast.unparse(node.targets[0].value)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr.endswith("_"):
            return ast.unparse(node.func.value)
    return ""


@row(facts.LeafViewWritten)
def view_of_leaf_written(m: Failure, _: facts.LeafViewWritten) -> Answer:
    name = _target(m) or "w"
    return Answer("A piece of a leaf is the leaf",
                  f"A slice of `{name}` shares its numbers, so writing into the slice writes into the leaf, which requires gradients.",
                  f"To initialise: write inside `with torch.no_grad():`. As part of the model: `h = {name}.clone()`, then write into `h`.",
                  NO_DATA, [Chain(Link(name, "leaf, requires grad"), Link(f"{name}[...]", "a view: the same numbers", "bad"))], 15)  # fmt: skip


@row(facts.MultipleViewWritten)
def one_of_many_views(m: Failure, _: facts.MultipleViewWritten) -> Answer:
    return Answer("One of several views cannot be written to",
                  "unbind, split and chunk return views of one tensor. A write into one would rebuild the history of all the others.",
                  "Write a new tensor (`a = a + 1`), or index the whole tensor (`x[0] += 1` on a result).", chapter=15)  # fmt: skip


@row(facts.OverlapWritten)
def expanded_written(m: Failure, _: facts.OverlapWritten) -> Answer:
    return Answer("These entries are one and the same number",
                  "An expanded tensor repeats its numbers without storing them again, so writing to one entry would change all its twins.",
                  "`x.clone()` gives every entry a place of its own; then write.",
                  ("`contiguous()` on the small tensor before `expand`", "the repetition comes afterwards"), chapter=9)  # fmt: skip


@row(facts.CastWritten)
def cast_written(m: Failure, about: facts.CastWritten) -> Answer:
    return Answer("These numbers do not fit in place", f"The result is {about.result}, the tensor that is written to holds {about.tensor}: the fractions would be lost.",
                  "Make a new tensor (`x = x / 2`), or convert first (`x = x.float()`).", chapter=9)  # fmt: skip


@row(facts.ShapeWritten)
def shape_written(m: Failure, about: facts.ShapeWritten) -> Answer:
    return Answer("A write cannot make a tensor bigger", f"The tensor has shape {list(about.tensor)}, the result has {list(about.result)}. In place there is no room for it.",
                  "Make a new tensor: `x = x + y` instead of `x += y`.", chapter=9)  # fmt: skip
