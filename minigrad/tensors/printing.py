"""How a tensor prints: PyTorch's text, character for character.

What lives here: `tensor_str`, a pure function from numbers and facts to text, and the options that `set_printoptions` changes.
What does not: which facts a tensor has (tensor.py asks for them) and f-string formats (a 0-d tensor formats as its number).

The rules, in the order they are applied: more than `threshold` elements are summarised to `edgeitems` at either end of each
dimension; one number format is chosen for all the elements that will be shown; rows are filled up to `linewidth`; the
facts that the text does not show (dtype, size, grad_fn, requires_grad) follow, on a new line where the last is full.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any

import numpy as np

from ..core import dtypes
from ..kernels.positions import picked


@dataclass
class PrintOptions:
    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None  # None: chosen by the numbers


OPTIONS = PrintOptions()
PROFILES = {
    "default": PrintOptions(),
    "short": PrintOptions(precision=2, edgeitems=2),
    "full": PrintOptions(threshold=float("inf")),
}


def set_printoptions(
    precision: int | None = None, threshold: float | None = None, edgeitems: int | None = None, linewidth: int | None = None,
    profile: str | None = None, sci_mode: bool | None = None,
) -> None:  # fmt: skip
    """Change how tensors print. Arguments of None change nothing, except `sci_mode`, which is reset to None (chosen by the numbers).

    precision: digits after the point (4); threshold: more elements than this are summarised (1000); edgeitems: elements shown
    at either end of a summarised dimension (3); linewidth: characters per line (80); profile: "default", "short" or "full", which
    the other arguments then modify; sci_mode: True or False for always or never scientific. Raises ValueError for a
    negative precision or an unknown profile.

    >>> set_printoptions(precision=2)
    >>> print(tensor_str(np.array([1.12345, 3]), dtypes.float32))
    tensor([1.12, 3.00])
    >>> set_printoptions(profile="default")
    """
    if profile is not None:
        if profile not in PROFILES:
            raise ValueError(
                f"set_printoptions(): unknown profile {profile!r}; there are {', '.join(map(repr, PROFILES))}"
            )
        vars(OPTIONS).update(vars(PROFILES[profile]))
    if precision is not None:
        if not isinstance(precision, int) or precision < 0:
            raise ValueError(f"set_printoptions(): precision is a number of digits, 0 or more, not {precision!r}")
        OPTIONS.precision = precision
    if threshold is not None:
        OPTIONS.threshold = threshold
    if edgeitems is not None:
        OPTIONS.edgeitems = edgeitems
    if linewidth is not None:
        OPTIONS.linewidth = linewidth
    OPTIONS.sci_mode = sci_mode


def get_printoptions() -> dict[str, Any]:
    """The options in force, as `set_printoptions(**options)` takes them."""
    return asdict(OPTIONS)


@contextmanager
def printoptions(**options: Any) -> Iterator[None]:
    """`set_printoptions` for the length of a `with` block."""
    before = get_printoptions()
    try:
        set_printoptions(**options)
        yield
    finally:
        set_printoptions(**before)


def meta_str(shape: tuple[int, ...], dtype: dtypes.dtype, requires_grad: bool, grad_fn: str | None) -> str:
    """The text of a tensor on the device "meta"."""
    facts = ["...", "device='meta'", f"size={shape}"]
    if dtype not in (dtypes.get_default_dtype(), dtypes.int64, dtypes.bool_):
        facts.append(f"dtype={dtype}")
    if grad_fn is not None:
        facts.append(f"grad_fn=<{grad_fn}>")
    elif requires_grad:
        facts.append("requires_grad=True")
    return f"tensor({', '.join(facts)})"


def tensor_str(
    data: np.ndarray, dtype: dtypes.dtype, *, requires_grad: bool = False, grad_fn: str | None = None, tangent: str | None = None,
    prefix: str = "tensor(",
) -> str:  # fmt: skip
    """The text of a tensor with the numbers `data` of kind `dtype`.

    grad_fn: the node's name, such as "MulBackward0"; it takes the place of `requires_grad=True`. tangent: the text of a dual
    tensor's tangent. prefix: the class's name and a bracket.

    >>> print(tensor_str(np.array([[1, 2.5], [-0.0, np.nan]]), dtypes.float64, requires_grad=True))
    tensor([[1.0000, 2.5000],
            [-0.0000,    nan]], dtype=torch.float64, requires_grad=True)
    >>> print(tensor_str(np.array(12.0), dtypes.float32, grad_fn="MulBackward0"))
    tensor(12., grad_fn=<MulBackward0>)
    >>> print(tensor_str(np.empty((0, 3)), dtypes.float32))
    tensor([], size=(0, 3))
    """
    facts = []
    if data.size == 0:
        body = "[]"
        if data.ndim != 1:
            facts.append(f"size={data.shape}")
        shows_dtype = dtype is dtypes.get_default_dtype()  # no element shows what kind it is
    else:
        body = _body(data, dtype, len(prefix))
        if not OPTIONS.edgeitems:
            facts.append(f"size={data.shape}")
        shows_dtype = dtype in (dtypes.get_default_dtype(), dtypes.int64, dtypes.bool_)
    if not shows_dtype:
        facts.append(f"dtype={dtype}")
    if grad_fn is not None:
        facts.append(f"grad_fn=<{grad_fn}>")
    elif requires_grad:
        facts.append("requires_grad=True")
    if tangent is not None:
        facts.append(f"tangent={tangent}")

    text = prefix + body
    # PyTorch's count, one or two more than the true one; line breaks depend on it
    column = len(text) - text.rfind("\n") + 1
    for fact in facts:
        if column + len(fact) + 2 > OPTIONS.linewidth:
            text += ",\n" + " " * len(prefix) + fact
            column = len(prefix) + len(fact)
        else:
            text += ", " + fact
            column += len(fact) + 2
    return text + ")"


class _Number:
    """The format common to all elements, chosen by the `shown` ones that are neither zero nor infinite nor NaN."""

    def __init__(self, numbers_shown: np.ndarray, dtype: dtypes.dtype) -> None:
        self.width = 1
        self.point = ""
        if not dtype.is_floating_point:
            self.spec = ""
            numbers = numbers_shown.ravel().tolist()
        else:
            numbers_shown = numbers_shown.astype(np.float64).ravel()
            numbers_shown = numbers_shown[np.isfinite(numbers_shown) & (numbers_shown != 0)]
            numbers = numbers_shown.tolist()
            scientific, integral = False, True
            if numbers:
                size = np.abs(numbers_shown)
                smallest, largest = size.min().item(), size.max().item()
                integral = bool((numbers_shown == np.ceil(numbers_shown)).all())
                scientific = largest / smallest > 1000.0 or largest > 1e8 or smallest < 1e-4
                if OPTIONS.sci_mode is not None:
                    scientific = OPTIONS.sci_mode
            if scientific:
                self.spec = f".{OPTIONS.precision}e"
            elif integral:
                self.spec, self.point = ".0f", "."
            else:
                self.spec = f".{OPTIONS.precision}f"
        self.width = max([1, *(len(self(number)) for number in numbers)])

    def __call__(self, number: Any) -> str:
        text = format(number, self.spec) if self.spec else str(number)
        if self.point and isfinite(number):
            text += self.point
        return text.rjust(self.width)


def _body(data: np.ndarray, dtype: dtypes.dtype, indent: int) -> str:
    summarise = data.size > OPTIONS.threshold
    number = _Number(_ends(data) if summarise else data, dtype)
    return _nested(data, indent, summarise, number)


def _ends(data: np.ndarray) -> np.ndarray:
    """The elements that a summary shows."""
    edge = OPTIONS.edgeitems
    if not edge:  # nothing is shown; PyTorch takes a row's format from all of it, and a matrix's from none
        return data if data.ndim < 2 else data[:0]
    for axis, size in enumerate(data.shape):
        if size > 2 * edge:
            data = picked(data, [*range(edge), *range(size - edge, size)], axis)
    return data


def _nested(data: np.ndarray, indent: int, summarise: bool, number: _Number) -> str:
    if data.ndim == 0:
        return number(data.item())
    edge = OPTIONS.edgeitems
    cut = summarise and len(data) > 2 * edge
    if data.ndim == 1:
        if summarise and not edge:
            texts = ["..."]
        elif cut:
            texts = [*map(number, data[:edge].tolist()), " ...", *map(number, data[-edge:].tolist())]
        else:
            texts = [*map(number, data.tolist())]
        per_line = max(1, int((OPTIONS.linewidth - indent) // (number.width + 2)))
        rows = [", ".join(texts[i : i + per_line]) for i in range(0, len(texts), per_line)]
        return "[" + (",\n" + " " * (indent + 1)).join(rows) + "]"
    displayed = [*data[:edge], None, *data[len(data) - edge :]] if cut else data
    parts = ["..." if part is None else _nested(part, indent + 1, summarise, number) for part in displayed]
    return "[" + ("," + "\n" * (data.ndim - 1) + " " * (indent + 1)).join(parts) + "]"
