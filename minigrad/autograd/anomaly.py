"""Anomaly mode: each node remembers the line that made it, and the backward pass stops at the first NaN."""

from __future__ import annotations

import sys
import traceback
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..core import errors
from ..core.dispatch import Handler, Mode, handling, state
from ..core.facts import FirstNan

if TYPE_CHECKING:
    from ..core.node import Node
    from ..core.op import Op
    from ..tensors.tensor import Tensor

WARNING = (
    "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for debugging."
)


@handling
def _remember(op: Op, inputs: tuple[Tensor, ...], params: tuple[int, ...]) -> Tensor:
    """Note the forward lines on the node."""
    out = op(*inputs, *params)
    first = out[0] if isinstance(out, tuple) and out else out
    edge = getattr(first, "edge", None)
    if edge is not None:
        edge[0].metadata.setdefault("traceback_", _lines())
    return out


def _lines() -> list[str]:
    """The stack without minigrad's own frames."""
    frames = traceback.extract_stack()
    package = __file__.rsplit("autograd", 1)[0]
    return traceback.format_list([f for f in frames if not f.filename.startswith((package, "<minigrad"))])


class set_detect_anomaly(Mode):
    """Switch anomaly mode on or off; as a context manager it is undone at the end. check_inf: stop at inf, too (not in PyTorch)."""

    def __init__(self, mode: bool, check_nan: bool = True, check_inf: bool = False) -> None:
        self.mode, self.check_nan, self.check_inf = mode, check_nan, check_inf
        self.before = state.anomaly, state.handlers
        state.anomaly = ("inf too" if check_inf else True if check_nan else "no check") if mode else False
        handlers = tuple([h for h in state.handlers if h is not _remember])
        state.handlers = (*handlers, _remember) if mode else handlers

    def __enter__(self) -> Any:
        return None

    def __exit__(self, *exc: Any) -> None:
        state.anomaly, state.handlers = self.before

    def clone(self) -> Any:
        return set_detect_anomaly(self.mode, self.check_nan, self.check_inf)


class detect_anomaly(Mode):
    """Context manager: forward passes inside remember their lines, backward passes inside stop at NaN (unless check_nan=False).

    As in PyTorch, inf passes; check_inf=True (minigrad's own) stops at inf, too. `first_nan` finds where a forward pass went wrong.

    >>> import minigrad as torch
    >>> x = torch.tensor([0.], requires_grad=True)
    >>> with torch.autograd.detect_anomaly():  # doctest: +IGNORE_EXCEPTION_DETAIL
    ...     (x.sqrt() * 0).sum().backward()
    Traceback (most recent call last):
    RuntimeError: Function 'SqrtBackward0' returned nan values in its 0th output.
    """

    def __init__(self, check_nan: bool = True, check_inf: bool = False) -> None:
        self.check_nan, self.check_inf = check_nan, check_inf
        warnings.warn(WARNING, UserWarning, stacklevel=2)

    def __enter__(self) -> None:
        self.inner = set_detect_anomaly(True, self.check_nan, self.check_inf)

    def __exit__(self, *exc: Any) -> None:
        self.inner.__exit__(*exc)

    def clone(self) -> Any:
        return detect_anomaly(self.check_nan, self.check_inf)


def is_anomaly_enabled() -> bool:
    """Is anomaly mode on in this thread?"""
    return bool(state.anomaly)


def is_anomaly_check_nan_enabled() -> bool:
    """Does anomaly mode stop a backward pass at NaN in this thread?"""
    return state.anomaly != "no check"


class Origin(NamedTuple):
    """Where the first NaN (or inf) of a forward pass arose."""

    op: str  # the operation
    bad: str  # "nan" or "inf"
    index: tuple  # type: ignore[assignment]  # hides tuple.index; the first such element of its result
    inputs: tuple  # the operands' elements there, if their shapes allow it; otherwise their shapes
    filename: str
    line: int
    code: str

    def __str__(self) -> str:
        return f"{self.op} made the first {self.bad}, at {self.index} from {self.inputs}, in {self.filename}:{self.line}: {self.code}"


class _Watch(Handler):
    """Note the first operation whose result is not finite although its operands are."""

    def __init__(self, check_inf: bool) -> None:
        self.check_inf = check_inf
        self.view_meta: Origin | None = None

    def bad(self, x: Tensor) -> str | None:
        array = getattr(x, "array", x)
        if getattr(array, "dtype", None) is None or array.dtype.kind != "f":
            return None
        return "nan" if np.isnan(array).any() else "inf" if self.check_inf and np.isinf(array).any() else None

    def __call__(self, op: Any, inputs: Any, params: Any) -> Tensor:
        out = op(*inputs, *params)
        if self.view_meta is None:
            operands = inputs[0] if op.tensor_list else inputs
            for t in out if isinstance(out, tuple) else (out,):
                bad = self.bad(t)
                if bad and not any(self.bad(x) == bad for x in operands):
                    self.view_meta = self.place(op, bad, t, operands)
                    break
        return out

    def place(self, op: Op, bad: str, out: Tensor, operands: Any) -> Origin:
        wrong = np.isnan(out.array) if bad == "nan" else np.isinf(out.array)
        index = tuple([int(i) for i in np.unravel_index(int(wrong.argmax()), wrong.shape)])
        arrays = [np.asarray(getattr(x, "array", x)) for x in operands]
        try:
            values = tuple([np.broadcast_to(a, wrong.shape)[index].item() for a in arrays])
        except ValueError:
            values = tuple([a.shape for a in arrays])
        package = __file__.rsplit("autograd", 1)[0]
        frames = [f for f in traceback.extract_stack() if not f.filename.startswith((package, "<minigrad"))]
        frame = frames[-1] if frames else traceback.FrameSummary("?", 0, "?", line="")
        return Origin(op.name, bad, index, values, frame.filename, frame.lineno or 0, frame.line or "")


def first_nan(function: Callable[..., Any], *args: Tensor, check_inf: bool = False, **kwargs: Any) -> Origin | None:
    """Run function(*args, **kwargs) and say where its first NaN arose: an Origin, or None if there was none. minigrad's own.

    check_inf  an inf counts, too; it is often what becomes NaN later

    >>> import minigrad as torch
    >>> origin = torch.autograd.first_nan(lambda x: torch.log(x - 1).sum(), torch.tensor([2., 0.5]))
    >>> origin.op, origin.bad, origin.index, origin.inputs
    ('log', 'nan', (1,), (-0.5,))
    """
    with _Watch(check_inf) as watch:
        function(*args, **kwargs)
    return watch.view_meta


def find_nan(node: Node, sent: tuple[Any, ...]) -> None:
    for position, g in enumerate(sent):
        array = getattr(g, "array", g)
        if g is None:
            continue
        bad = (
            "nan" if np.isnan(array).any() else "inf" if state.anomaly == "inf too" and np.isinf(array).any() else None
        )
        if bad:
            show_forward(node)
            raise errors.new(
                RuntimeError,
                f"Function '{node.name()}' returned {bad} values in its {position}th output.",
                f"The gradient for input {position} of {node.name()} is {'not a number' if bad == 'nan' else 'infinite'}.",
                "Typical origins: 0/0, inf - inf, log or sqrt at 0, 0 times inf.",
                "the warning above shows the forward line; clamp its input, or use torch.where on the input and not only on the result.",
                "chapter 18, Instruments",
                FirstNan(node.name(), position, _forward_line(node)),
            )


def _forward_line(node: Node) -> str:
    """The code of the line that made `node`, as far as anomaly mode kept it."""
    trace = (node.info or {}).get("traceback_")
    return trace[-1].strip().splitlines()[-1].strip() if trace else ""


def show_forward(node: Node) -> None:
    """Warn with the lines of the forward pass that made `node`, as far as anomaly mode kept them."""
    trace = (node.info or {}).get("traceback_")
    if trace:
        text = f"Error detected in {node.name()}. Traceback of forward call that caused the error:\n{''.join(trace)}"
    else:
        text = (
            f"Error detected in {node.name()}. No forward pass information available. Enable detect anomaly during forward pass for more "
            "information."
        )
    try:
        warnings.warn(text, UserWarning, stacklevel=2)
    except UserWarning:  # where warnings are errors, the error that is raised next comes first
        print(text, file=sys.stderr)
