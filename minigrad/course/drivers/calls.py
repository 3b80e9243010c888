"""How a probe's inputs become a call of the learner's code: what drivers of all chapters share.

`load_engine` and `modes` prepare the engine, `by_hand` switches its derivatives off, and the drivers here hand over an answer as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from typing import Any

from ..plain import MISSING, odd, plain


def import_torch() -> Any:
    """The Tensor engine, loaded when a driver needs it."""
    import minigrad

    return minigrad


@cache
def load_engine() -> None:
    """Import the engine and use it once, which imports the rest of it: no answer pays for that."""
    if not find_spec("numpy"):  # a page in a browser that cannot fetch it: exercises about single numbers answer there
        return
    torch = import_torch()
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (torch.sin(torch.exp(x) @ x) + (x**2).mean() + (x * 2).sum()).backward()
    x.grad.tolist()


def modes() -> dict[str, Any]:
    """The engine's modes in this thread, such as whether it records, as a dict that can be written to."""
    from minigrad.core.dispatch import state

    return vars(state)


class ByHand(Exception):
    """The answer calls an engine function that the exercise wants written by hand."""


@contextmanager
def by_hand(*, tensors: bool = False) -> Iterator[None]:
    """While it lasts nothing differentiates: `backward` of a Value, any operation on Tensors (with `tensors` they compute, without a
    backward pass), and the optimizers raise ByHand.
    """
    from minigrad import scalar
    from minigrad.core.dispatch import Handler

    def refuse(*_: Any, **__: Any) -> Any:
        raise ByHand(
            f"this is written by hand: {'backward and torch.optim' if tensors else 'Tensors and backward'} are switched off here"
        )

    class Off(Handler):
        def __call__(self, op: Any, inputs: Any, params: Any) -> Any:
            return op(*inputs, *params) if tensors else refuse()

        def updates(self, optimizer: Any, begins: bool) -> None:
            refuse()

    replaced = [(scalar.Value, "backward")]
    if tensors:
        torch = import_torch()
        replaced += [
            (torch.nn.utils, "clip_grad_norm_"),
            (torch.nn.utils, "clip_grad_value_"),
            (torch.Tensor, "backward"),
        ]
    before = [(of, name, getattr(of, name)) for of, name in replaced]
    try:
        for of, name in replaced:
            setattr(of, name, refuse)
        with Off():
            yield
    finally:
        for of, name, function in before:
            setattr(of, name, function)


class Mutated:
    """A driver's way to report that the answer changed its inputs."""

    def __init__(self, out: Any):
        self.out = out


def value(entry: Any) -> Any:
    """The answer is a value: hand it over as it is."""
    return entry


def call(entry: Any, *args: Any) -> Any:
    """The answer is a function: call it."""
    return entry(*args)


def letters(entry: Any) -> Any:
    """An order given as "ABC", "a, b, c" or ["A", "B", "C"]."""
    text = "".join(entry) if isinstance(entry, (list, tuple)) else entry
    return "".join(ch for ch in text.upper() if ch.isalnum()) if isinstance(text, str) else text


def answer(entry: Any) -> Any:
    """The answer is a value or a dict of values; texts count whatever their case and the blanks around them."""
    data = plain(entry)
    if isinstance(data, dict) and "!" not in data:
        return {k: tidy(v) for k, v in data.items()}
    return tidy(data)


def call_by_hand(entry: Any, *args: Any) -> Any:
    """The same, while nothing differentiates for the answer."""
    with by_hand():
        return entry(*args)


def entry(answer: Any, key: str, none_counts: bool = False) -> Any:
    """One entry of an answer that is a dict. Where None can be right, it counts as "none" once another entry is filled in."""
    data = plain(answer)
    if not isinstance(data, dict) or "!" in data:
        return odd("a dict is needed, with an entry for each question")
    if key not in data:
        return odd(MISSING)
    if data[key] is None and none_counts and any(v is not None for v in data.values()):
        return "none"
    return tidy(data[key])


def tidy(x: Any) -> Any:
    """A text without blanks around it, the dot and the parentheses of a method, and capitals."""
    return x.strip().strip(".").removesuffix("()").lower() if isinstance(x, str) else x


def leaf64(numbers: Any) -> Any:
    torch = import_torch()

    return torch.tensor(numbers, dtype=torch.float64, requires_grad=True)
