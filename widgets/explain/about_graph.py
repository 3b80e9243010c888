"""Errors about the graph itself: there is none, it was used up, or the question put to it has no answer."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Sequence
from functools import partial
from typing import Any

from minigrad.core import facts

from ..show import Chain, Link, Table
from . import history
from .answers import Answer, Explainer, row
from .failure import Failure

ROWS: list[Explainer] = []


def _root(m: Failure) -> ast.expr | None:
    """What the backward pass was started from."""
    root = m.calls("backward")
    if (
        isinstance(root, ast.Attribute)
        and root.attr == "autograd"
        or isinstance(root, ast.Name)
        and root.id == "autograd"
    ):
        root = None
    if root is None:
        for node in ast.walk(m.tree) if m.tree is not None else ():
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in ("grad", "backward")
                and node.args
            ):
                return node.args[0]
    return root


def _chain(steps: Sequence[history.Statement]) -> list:
    """The way to the result as a picture: the step where the graph ends is marked, what comes after it is outside."""
    if not steps:
        return []
    links, cut = [], False
    for s in steps:
        if s.cut and not cut:
            links.append(Link(s.code, s.cut.why, "bad"))
            cut = True
        else:
            links.append(Link(s.code, "no graph from here on" if cut and s is steps[-1] else "", "off" if cut else ""))
    return [Chain(*links)]


NO_FLAG = (
    "`loss.requires_grad = True`",
    "it makes the loss a new leaf. The error is silent then, and every parameter's gradient stays None",
)


@row(facts.NoGraph)
def no_graph(m: Failure, _: facts.NoGraph) -> Answer:
    root = _root(m)
    thing, steps = m.value(root), history.chain(m, root)
    name = ast.unparse(root) if root is not None else "this tensor"
    cut, noted = next((s for s in steps if s.cut), None), history.recorded(thing)
    if noted is not None:  # what happened; of the source, only what agrees with it
        agrees = cut is not None and cut.line == noted.line
        steps = steps if agrees else [noted, *(s for s in steps[-1:] if s.line != noted.line)]
        cut = cut if agrees else noted
    elif cut is not None and getattr(
        m.names.get(cut.name), "requires_grad", False
    ):  # the source shows a cut, but the tensor still requires gradients
        steps, cut = [], None
    off = noted is None and getattr(thing, "detached_by", "") == "no_grad"
    reason = cut.cut if cut is not None else None
    if cut is None or reason is None:
        what = f"No graph leads to `{name}`: none of the tensors behind it requires gradients, or recording was off when it was computed."
        if off:
            what = f"No graph leads to `{name}`: recording was off when it was computed."
        fix = "Make the inputs with `requires_grad=True` before computing with them, and compute outside `no_grad`."
    elif reason.kind == "constant":
        what = f"No graph leads to `{name}`. As the code reads, its input `{cut.name}` was {reason.why}."
        fix = f"Make it with `requires_grad=True` (or call `{cut.name}.requires_grad_()`), then compute `{name}` again."
    else:
        what = f"The graph behind `{name}` was cut: {reason.why}."
        if noted is None and not (off and reason.kind == "no_grad"):
            what = f"No graph leads to `{name}`. As the code reads, it was probably cut here: {reason.why}."
        fix = {
            "frozen": "Leave at least the parameters that are to be trained with `requires_grad=True`.",
            "no_grad": "Compute the loss outside `no_grad`; the block is for updates and for evaluation.",
        }.get(
            reason.kind,
            "Remove the cut from the computation of the loss, and keep it only for what you print or store.",
        )
    return Answer("The backward pass has nowhere to go", what, fix, NO_FLAG, _chain(steps), 10)


@row(facts.GraphFreed)
def second_time(m: Failure, _: facts.GraphFreed) -> Answer:
    root = _root(m)
    name = ast.unparse(root) if root is not None else "the result"
    picture = [Chain(Link("forward", "the nodes save what their rules need"), Link("backward", "uses it and frees it"),
                     Link("backward again", "nothing is left to use", "bad"))]  # fmt: skip
    return Answer(
        "This graph has been used up",
        f"A backward pass has already gone through part of the graph behind `{name}` and freed what it had saved.",
        "In a loop: compute the forward pass again in every round, and `detach()` what you carry over from the last one. For two losses "
        "with a common part: add them and call `backward()` once.",
        ("`retain_graph=True` everywhere", "the old graphs stay in memory and grow with every round, and a state that was carried over is "
         "differentiated back to the first round"),
        picture, 10,
    )  # fmt: skip


@row(facts.SeedMissing)
def not_a_number(m: Failure, about: facts.SeedMissing) -> Answer:
    root = _root(m)
    name = ast.unparse(root) if root is not None else "the result"
    size = (
        f" has shape {about.shape}: {math.prod(about.shape)} numbers"
        if m.value(root) is not None
        else " is not a single number"
    )
    picture = [Table(["you write", "each entry counts", "the gradients are those of"],
                     [["`.sum().backward()`", "1", "the sum"], ["`.mean().backward()`", "1/n", "the mean: n times smaller"],
                      ["`.backward(v)`", "v", "the sum of v times the entries"]])]  # fmt: skip
    return Answer(
        "backward() needs a single number",
        f"`{name}`{size}. A gradient says how one number changes.",
        "Reduce it to one number first, or pass the weights `v` of the entries.",
        ("taking one entry with `[0]`", "the others then have no influence at all"), picture, 8,
    )  # fmt: skip


@row(facts.SeedShape)
def seed_shape(m: Failure, about: facts.SeedShape) -> Answer:
    output, seed = list(about.output), list(about.given)
    return Answer(
        "The starting gradient has the wrong shape",
        f"The output has shape {output}, the gradient that was handed to `backward` has {seed}. It holds one weight for each entry of the output.",
        "`y.backward(torch.ones_like(y))` has the right shape by construction.",
        ("reshaping the output", "the weights then belong to other entries"),
        [Table(["", "shape"], [["output", str(output)], ["gradient given", str(seed)]], bad={(1, 1)})], 8,
    )  # fmt: skip


@row(facts.SeedType)
def seed_type(m: Failure, about: facts.SeedType) -> Answer | None:
    if m.calls("backward") is None:
        return None
    return Answer("The starting gradient must be a tensor", f"`backward` was given a plain {about.type}. It takes one weight for each entry, as a tensor.",
                  "For a single number no argument is needed: `loss.backward()`. To scale the gradients write `(2 * loss).backward()`.", chapter=8)  # fmt: skip


@row(facts.UnusedInputs)
def unused(m: Failure, about: facts.UnusedInputs) -> Answer:
    picture = []
    call = (
        next((n for n in ast.walk(m.tree) if isinstance(n, ast.Call) and len(n.args) > 1), None)
        if m.tree is not None
        else None
    )
    name = "this input"
    tensors = about.inputs
    if call is not None:
        out, inputs = call.args[0], call.args[1]
        items = inputs.elts if isinstance(inputs, (ast.Tuple, ast.List)) else [inputs]
        if len(items) == len(tensors):
            texts = [ast.unparse(i) for i in items]
        else:  # a list made elsewhere
            texts = [m.name_of(partial(operator.is_, x)) or f"input {k}" for k, x in enumerate(tensors)]
        rows = [[text, "yes" if used else "no"] for text, used in zip(texts, about.used, strict=True)]
        missing = [r[0] for r in rows if r[1] == "no"]
        name = f"`{missing[0]}`" if missing else name
        picture = [
            Table(
                ["input", f"in the graph of {ast.unparse(out)}"],
                rows,
                bad={(k, 1) for k, r in enumerate(rows) if r[1] == "no"},
            )
        ]
    return Answer(
        "The result does not depend on this tensor",
        f"{name} has no part in the recorded computation: it was not used, or another tensor of the same name was (a name that was assigned again, a copy, a detach).",
        "Ask for the tensor that was really used. If no influence is right here: `materialize_grads=True` gives zeros.",
        ("`allow_unused=True` without a look at the result", "you get None, and the next line that computes with it fails"), picture, 10,
    )  # fmt: skip


@row(facts.InputWithoutGradient)
def asked_constant(m: Failure, _: facts.InputWithoutGradient) -> Answer:
    return Answer("A gradient was asked for a constant",
                  "One of the inputs given to `autograd.grad` does not require gradients, so nothing was recorded about it.",
                  "Make it with `requires_grad=True` before the forward pass, and run that again.",
                  ("switching the flag on now", "the graph that exists was recorded without this tensor"), chapter=10)  # fmt: skip


@row(facts.FlagOfResult)
def flag_of_result(m: Failure, _: facts.FlagOfResult) -> Answer:
    return Answer("The flag of a result is not yours to set",
                  "A result requires gradients because something it was computed from does. Only leaves, which no operation made, can be switched.",
                  "To go on without the graph: `h = h.detach()`. To freeze a layer: switch its parameters off before the forward pass.",
                  ("setting the flag before `backward` on every tensor", "gradients flow by the graph, and the graph is already there"), chapter=10)  # fmt: skip


@row(facts.NoGradientToObserve)
def nothing_to_retain(m: Failure, about: facts.NoGradientToObserve) -> Answer:
    what = "keep a gradient" if about.method == "retain_grad" else "listen to a gradient"
    return Answer("No gradient will ever arrive here",
                  f"You asked to {what} of a tensor that is in no graph: it does not require gradients.",
                  "Make it, or something it is computed from, with `requires_grad=True`, and outside `no_grad`.",
                  ("`retain_graph=True`", "it keeps what the nodes saved, which is another thing than a gradient"),
                  _chain(history.chain(m, m.calls("retain_grad") or m.calls("register_hook"))), 11)  # fmt: skip


@row(facts.ResultCopied)
def copied_result(m: Failure, _: facts.ResultCopied) -> Answer:
    return Answer("A result cannot be copied with its history", "`deepcopy` would have to copy the whole graph behind this tensor.",
                  "`x.detach().clone()` copies the numbers; deep-copy a model before its parameters are replaced by results.", chapter=10)  # fmt: skip


@row(facts.InferenceTensor)
def inference(m: Failure, _: facts.InferenceTensor) -> Answer:
    return Answer("A tensor from inference_mode cannot join a graph",
                  "Tensors made under `inference_mode` carry no version counter, which is what makes them cheap, so no node may save one.",
                  "Use `torch.no_grad()` where the result is used in training later, or make a copy: `h.clone()`.",
                  ("`enable_grad()` around the later line", "the tensor itself is marked for good"),
                  [Chain(Link("inference_mode", "no version counter"), Link("training", "a node wants to save it", "bad"))], 10)  # fmt: skip


@row(facts.GraphCycle)
def cycle(m: Failure, _: facts.GraphCycle) -> Answer:
    return Answer("A graph must not bite its own tail", "A node is, through its parents, its own ancestor. No order can compute such a graph.",
                  "A result's `_prev` holds the operands it was computed from, which existed before it. Look for a parent that is assigned later.",
                  ("a set of visited nodes", "it stops the walk, but the order that comes out is wrong"),
                  [Chain(Link("a"), Link("b", "made from a"), Link("a", "made from b?", "bad"))], 2)  # fmt: skip


@row(RecursionError)
def too_deep(m: Failure, _: Any) -> Answer | None:
    frames = {t.tb_frame.f_code.co_name: t for t in m.frames[-20:]}
    walks = [name for name, t in frames.items() if "_prev" in (*t.tb_frame.f_code.co_names,)
             or any(hasattr(v, "_prev") for v in t.tb_frame.f_locals.values())]  # fmt: skip
    if not walks:
        return None
    return Answer("The graph is deeper than Python's stack",
                  f"`{walks[-1]}` calls itself once for every node on the way down. A chain of a thousand operations is one too long for that.",
                  "Walk with a list of your own: put the root on it, take the last, put its parents on; then sort by creation, or finish a node "
                  "when all its parents are done.",
                  ("`sys.setrecursionlimit`", "it only moves the wall, and beyond it Python itself can crash"),
                  [], 5, "stack = [root]\nwhile stack:\n    node = stack.pop()\n    stack.extend(node._prev)")  # fmt: skip
