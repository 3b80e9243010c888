"""Errors about custom Functions, gradient checks, and gradients that are nan."""

from __future__ import annotations

from minigrad.core import facts
from minigrad.words import number

from ..show import Chain, Link, Table
from .answers import Answer, Explainer, row
from .failure import Failure

ROWS: list[Explainer] = []


@row(facts.GradientCount)
def gradient_count(m: Failure, about: facts.GradientCount) -> Answer:
    name, expected, got = about.function, about.expected, about.got
    function = m.names.get(name)
    inputs = [f"input {i + 1}" for i in range(expected)]
    code = getattr(getattr(function, "forward", None), "__code__", None)
    if code is not None and code.co_argcount in (expected, expected + 1):
        inputs = list(code.co_varnames[code.co_argcount - expected : code.co_argcount])
    rows = [[n, "its gradient, or None" if i < got else "missing"] for i, n in enumerate(inputs)]
    return Answer("backward answers for every input of forward", f"`{name}.forward` takes {expected} inputs besides ctx, and `backward` returned {got}.",
                  f"Return {expected} values, in the order of the inputs: None for a number, a flag, a shape.",
                  ("zeros instead of None", "for a tensor they say that it has no influence, and for anything else only None is accepted"),
                  [Table(["input of forward", "backward returns"], rows, bad={(i, 1) for i in range(got, expected)})],
                  13, "return " + ", ".join(["grad_" + inputs[0]] + ["None"] * (expected - 1)))  # fmt: skip


@row(facts.GradientShape)
def gradient_shape(m: Failure, about: facts.GradientShape) -> Answer:
    got, expected = list(about.got), list(about.expected)
    return Answer("A gradient has the shape of its tensor", f"`{about.function}.backward` returned {got} for input {about.index + 1}, which has shape {expected}.",
                  "If forward summed, backward spreads (`g.expand(...)`, `g * torch.ones_like(x)`). If forward was a product, a transpose is missing. If it broadcast, sum.",
                  ("`reshape` to the right shape", "the entries then belong to other places"),
                  [Table(["", "shape"], [["input", str(expected)], ["gradient", str(got)]], bad={(1, 1)})], 13)  # fmt: skip


@row(facts.SavedType)
def saved_number(m: Failure, about: facts.SavedType) -> Answer:
    return Answer("Only tensors are saved this way", f"Argument {about.index + 1} is a {about.type}. `save_for_backward` watches versions, which only tensors have.",
                  "Keep numbers, flags and shapes as attributes: `ctx.k = k`.",
                  ("tensors as attributes, `ctx.x = x`", "it works, but an in-place write goes unnoticed, and a result kept so is a reference cycle"), chapter=13)  # fmt: skip


@row(facts.FunctionCalled)
def legacy(m: Failure, _: facts.FunctionCalled) -> Answer:
    return Answer("A Function is not called, it is applied", "`forward` and `backward` are static methods; the class is never made into an object.",
                  "Write `MyFunction.apply(x)`, and `@staticmethod` above both methods.",
                  ("calling `MyFunction.forward(ctx, x)`", "it computes, and records nothing"),
                  [], 13, "y = MyFunction.apply(x)")  # fmt: skip


@row(facts.OnceDifferentiable)
def only_once(m: Failure, _: facts.OnceDifferentiable) -> Answer:
    return Answer("This rule has no derivative of its own", "`backward` was marked with `@once_differentiable`: it computes outside of the graph (in numpy, say), so its "
                  "result does not depend on anything that could be differentiated again.",
                  "Write `backward` in operations of tensors, and leave the decorator away; or ask for first derivatives only, without `create_graph=True`.",
                  ("removing the decorator alone", "the numpy in the rule is still a constant, and the second derivative is wrong without an error"),
                  [], 13)  # fmt: skip


@row(facts.FirstNan)
def first_nan(m: Failure, about: facts.FirstNan) -> Answer:
    name = about.node.removesuffix("Backward0").lower()
    reason = {"sqrt": "the slope of sqrt at 0 is infinite, and infinity times 0 is not a number", "log": "log(0) is −inf, and −inf times 0 is not a number",
             "div": "0/0, or a denominator that became 0", "pow": "a negative base with a fractional exponent, or 0 to a negative power",
             "linalgvectornorm": "the norm of a zero vector has no direction"}.get(name, "typical are 0/0, inf − inf, and 0 times inf")  # fmt: skip
    recorded = f" The line that computed it: `{about.code}`." if about.code else ""
    fix = f"Keep the input of {name} away from the edge: `(x + 1e-12)`, `x.clamp(min=1e-12)`, or `torch.where` on the input."
    # Nearly always of a sigmoid or a softmax, where a small number inside hides the nan and stops the gradient
    if name == "log":
        fix = ("If it is the log of a sigmoid or a softmax, take both in one piece: `F.logsigmoid`, `F.log_softmax`, or a loss for logits. "
               "Otherwise keep its input away from 0: `x.clamp(min=1e-12)`, which passes no gradient there, or `torch.where` on the input.")  # fmt: skip
    return Answer(f"The first gradient that is no number comes from {name}", f"The backward rule of {name} gave nan: {reason}.{recorded}",
                  fix,
                  ("`torch.where` on the result", "the side that was not chosen still runs backward: 0 times inf is nan again; and `nan_to_num` on the gradient only hides the problem"),
                  [Chain(Link(f"gradient into {name}", "0 or inf"), Link(f"{name}'s rule", "nan", "bad"), Link("everything before", "nan", "off"))], 18)  # fmt: skip


@row(facts.JacobianMismatch)
def mismatch(m: Failure, about: facts.JacobianMismatch) -> Answer:
    picture = [
        Table(
            ["", "value"],
            [["your rule", number(about.analytic)], ["differences", number(about.numeric)]],
            caption=about.where,
        )
    ]
    inputs = [t for _, t in m.tensors() if str(t.dtype) == "torch.float32"]
    if inputs:
        return Answer("The check itself is too coarse", "The inputs are float32: differences of numbers with seven digits are wrong in the third. The rule may well be right.",
                      "Check in double: `x = torch.rand(3, dtype=torch.float64, requires_grad=True)`.",
                      ("a larger `atol`", "then real mistakes pass, too"), picture, 18)  # fmt: skip
    return Answer("Rule and differences disagree", f"The derivative of output {about.output} by input {about.input} that your rule gives is not what small changes of the input show.",
                  "Differentiate by hand for the one entry above and compare with what backward returns. A constant factor points to a forgotten number, a sign to a minus.",
                  ("a larger tolerance", "a right rule agrees to nine digits in float64"), picture, 18)  # fmt: skip
