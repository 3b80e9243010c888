"""Where minigrad runs what PyTorch refuses: one table, and the switch that refuses it here, too.

What lives here: `TABLE`, `strict`, and `allow`, which is called at each of these places. docs/compatibility.md has the table as a list, and
a test holds the two equal. What would teach something false is always refused and has no row: whole numbers as targets of logits, an
ndarray in the place of a tensor, requires_grad="yes", an ndarray with negative strides, dtypes that PyTorch's kernels do not have.
"""

from typing import Any, NamedTuple

from . import errors


class Permission(NamedTuple):
    """What runs here and not in PyTorch."""

    what: str  # as the subject of a sentence
    why: str  # it is allowed
    warns: bool  # once, with PyTorch's sentence; False: no warning, and strict() does not change it


TABLE = {
    "array and gradient": Permission(
        "an operator between a tensor that requires gradients and an ndarray",
        "the gradient is right, and flows to the tensor alone",
        True,
    ),
    "number for a tensor": Permission(
        "a number in the place of a tensor (`torch.maximum(x, 0)`)",
        "it can only mean a tensor without dimensions",
        True,
    ),
    "array first": Permission(
        "an ndarray on the left of an operator, or compared with <, <=, > or >=",
        "with other versions of numpy PyTorch takes it, too",
        False,
    ),
    "late view": Permission(
        "a view written after its base came to require gradients", "the derivative is that of what ran", False
    ),
    "captured write": Permission(
        "a write into a captured tensor inside a transform of torch.func", "the derivative is that of what ran", False
    ),
    "data in vmap": Permission("`nonzero` and `.data` inside `vmap`", "the samples are run one by one", False),
    "negative slope": Permission(
        "`leaky_relu_` and `elu_` with a negative slope", "the derivative is that of what ran", False
    ),
    "half distances": Permission("`cdist` of float16", "numpy computes it", False),
}

_strict = False
_warned: set[str] = set()  # the rows whose warning was given


def strict(mode: bool = True) -> None:
    """Raise PyTorch's errors: each place where minigrad continues and warns "PyTorch refuses this" raises that error instead.

    After `torch.strict()`, `torch.maximum(x, 0)` is a TypeError.
    """
    global _strict
    _strict = mode


def is_strict() -> bool:
    """Was strict() called?"""
    return _strict


def allow(row: str, error: Any) -> None:
    """Go on where PyTorch raises `error`: warn, once for each row of the table. Raises it in strict mode."""
    if not TABLE[row].warns:
        return
    if _strict:
        raise error
    if row not in _warned:
        _warned.add(row)
        errors.warn(f"PyTorch refuses this: {error} (minigrad.strict() makes it an error here, too.)")


def as_text() -> str:
    """The table as a list in Markdown, for docs/compatibility.md."""
    lines = [f"- {p.what}: {p.why}{'; a warning says so once' if p.warns else ''}." for p in TABLE.values()]
    return "\n".join(lines)
