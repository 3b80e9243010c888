"""Errors about shapes and positions: broadcasting, products, reshaping, joining, indexing. Shapes are drawn."""

from __future__ import annotations

import math

from minigrad.core import facts

from ..show import Chain, Link, Table
from .answers import Answer, Explainer, row
from .failure import Failure

ROWS: list[Explainer] = []


def aligned(named: list[tuple[str, tuple[int, ...]]], bad: set[int]) -> Table:
    """Shapes under each other, set right as broadcasting compares them. `bad`: dimensions from the right that do not fit."""
    width = max((len(s) for _, s in named), default=0)
    head = ["", *(str(i - width) for i in range(width))]
    rows = [[name, *[""] * (width - len(s)), *map(str, s)] for name, s in named]
    marked = {(r, width - d) for r, row in enumerate(rows) for d in bad if row[width - d]}
    return Table(head, rows, caption="the shapes, compared from the right", bad=marked)


def clash(shapes: list[tuple[int, ...]]) -> set[int]:
    """The dimensions, counted from the right and from 0, that do not broadcast."""
    bad = set()
    for d in range(max(map(len, shapes), default=0)):
        sizes = {s[-1 - d] for s in shapes if len(s) > d} - {1}
        if len(sizes) > 1:
            bad.add(d)
    return bad


@row(facts.ShapesDiffer)
def broadcast(m: Failure, about: facts.ShapesDiffer) -> Answer:
    # the operands, by name where the line names tensors of just these shapes
    left = [(text, tuple(t.shape)) for text, t in m.tensors()]
    named = [next((n for n in left if n[1] == s), (f"operand {k + 1}", s)) for k, s in enumerate(about.shapes)]
    bad = clash([s for _, s in named])
    fix = "Add the missing dimension where it belongs: `x.unsqueeze(1)` or `x[:, None]`. Then say in words what each dimension is."
    if len(named) == 2 and len(named[0][1]) == 2 and len(named[1][1]) == 1 and named[0][1][0] == named[1][1][0]:
        fix = f"`{named[1][0]}` has one number for each row of `{named[0][0]}`: write `{named[1][0]}[:, None]`, which has shape ({named[1][1][0]}, 1)."
    return Answer("These shapes do not fit together",
                  f"{about.sizes[0]} against {about.sizes[1]}: shapes are compared from the right, and two sizes fit if they are equal or one of them is 1.", fix,
                  ("`reshape` until it runs", "it keeps the order of the numbers, so rows and columns may get mixed without an error"),
                  [aligned(named, bad)], 9)  # fmt: skip


@row(facts.LayerWidth)
def layer_width(m: Failure, about: facts.LayerWidth) -> Answer:
    takes, has = about.features, about.shape[-1]
    fix = f"A layer with `in_features={has}`; or bring the {takes} features to the last dimension (images: `x.flatten(1)` first)."
    return Answer("The layer was made for another width", f"The layer takes {takes} features, the input has {has} in its last dimension.", fix,
                  ("transposing the input", "then the samples are taken for features"),
                  [aligned([("input", about.shape), ("takes", (takes,))], {0})], 17)  # fmt: skip


@row(facts.ProductMismatch)
def product(m: Failure, about: facts.ProductMismatch) -> Answer:
    (n, k), p = about.left, about.right[0]
    q = about.right[1] if len(about.right) > 1 else None
    names = [text for text, t in m.tensors() if tuple(t.shape) in (about.left, about.right)]
    a, b = (names + ["a", "b"])[:2] if len(names) > 1 else ("a", "b")
    rows = [[a, str(n), str(k)], [b, str(p), "" if q is None else str(q)]]
    picture = [Table(["", "rows", "columns"], rows, bad={(0, 2), (1, 1)}, caption="inner sizes must agree")]
    fix = (
        f"Transpose the one that is the wrong way round: `{a} @ {b}.T`"
        if k == q
        else "Check which dimension holds the features"
    )
    if q is not None and n == p and k != q:
        fix = f"Transpose the one that is the wrong way round: `{a}.T @ {b}`"
    return Answer("The inner sizes of the product differ", f"{a} has {k} columns, {b} has {p} rows. Each row of {a} is multiplied with a column of {b}.",
                  fix + ".", ("`*` instead of `@`", "it multiplies entry by entry, which is another computation and often broadcasts without an error"), picture, 9)  # fmt: skip


@row(facts.SizeMismatch)
def reshaped(m: Failure, about: facts.SizeMismatch) -> Answer:
    sizes = [n for n in about.shape if n != -1]
    count = f"{' × '.join(map(str, sizes))} = {math.prod(sizes)}"
    return Answer("The new shape has another number of places", f"There are {about.count} numbers, and the shape asks for {count}"
                  f"{', times something' if -1 in about.shape else ''}.", "Let one size be computed: `x.reshape(len(x), -1)`. The product of the sizes must stay the same.",
                  ("`resize_` or cutting off the rest", "numbers are lost or made up, without an error"),
                  [Chain(Link(f"{about.count} numbers"), Link(str(list(about.shape)), count, "bad"))], 9)  # fmt: skip


@row(facts.NotContiguous)
def viewed(m: Failure, about: facts.NotContiguous) -> Answer:
    rows = [["shape", str(about.shape)], ["strides", str(about.strides)]]
    picture = [Table(["", ""], rows, caption="neighbours in a row are not neighbours in memory")]
    return Answer("This tensor is not contiguous in memory",
                  "`view` reads the same memory with another shape. After a transpose or permute, the entries are no longer in memory in the order of the axes.",
                  "Write `reshape(...)`, which copies when it has to, or `x.contiguous().view(...)`, which shows the copy.",
                  ("giving `view` the sizes in another order", "it may run, and mix rows with columns"), picture, 9)  # fmt: skip


def _shapes(m: Failure) -> list[Table]:
    named = [[text, str(tuple(t.shape))] for text, t in m.tensors()]
    return [Table(["", "shape"], named)] if named else []


@row(facts.CatMismatch)
def not_aligned(m: Failure, about: facts.CatMismatch) -> Answer:
    return Answer("The pieces do not line up", f"`cat` joins along dimension {about.dim}; in all other dimensions the pieces must be equal.",
                  f"Join along the dimension in which they differ (`dim=...`), or make the others equal first. This call used dim={about.dim}.",
                  picture=_shapes(m), chapter=9)  # fmt: skip


@row(facts.StackMismatch)
def not_stackable(m: Failure, _: facts.StackMismatch) -> Answer:
    return Answer("Only equal shapes can be stacked", "`stack` makes a new dimension, so all pieces must have the same shape.",
                  "`cat` joins along a dimension that is there; pieces of different lengths must be padded first.", picture=_shapes(m), chapter=9)  # fmt: skip


@row(facts.IndexOutOfBounds)
def outside(m: Failure, about: facts.IndexOutOfBounds) -> Answer:
    i, d, n = about.index, about.dim, about.size
    extra = " Counting starts at 0." if i == n else ""
    return Answer("There is no such entry", f"Dimension {d} has {n} entries, numbered 0 to {n - 1} (or −{n} to −1 from the end). Asked for: {i}.{extra}",
                  "`x[-1]` is the last one. In a loop, `range(len(x))` never goes too far.", chapter=9)  # fmt: skip


@row(facts.TooManyIndices)
def too_many(m: Failure, about: facts.TooManyIndices) -> Answer:
    return Answer("The tensor has fewer dimensions than the key", f"It has {about.ndim}, and the brackets name more.",
                  "Look at `x.shape`: an earlier step (`sum`, `x[0]`, `squeeze`) took a dimension away; `keepdim=True` keeps it.",
                  picture=_shapes(m), chapter=9)  # fmt: skip


@row(facts.NoDimension)
def no_dimension(m: Failure, about: facts.NoDimension) -> Answer:
    return Answer("A 0-d tensor is a single number", "It has no dimension to count or to walk along.",
                  "`x.item()` gives the number, `x.reshape(1)` a vector of one. If a list was expected: an earlier `sum` or `mean` has reduced it.", chapter=9)  # fmt: skip
