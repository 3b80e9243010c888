"""Turning whatever an answer returns into plain data: None, bool, int, float, str, list, dict, or a description.

What lives here: the one place that touches a learner's objects after a run. It trusts no operator of theirs: numbers become builtin
floats, arrays become lists, and anything else becomes {"!": "what it is"}. What does not: comparing (judge.py).
"""

from __future__ import annotations

import itertools
import math
from typing import Any

MAX_ITEMS = 20_000
MAX_TEXT = 2_000
MISSING = "this entry is missing"  # a driver's report about a dict


def odd(what: str) -> dict[str, str]:
    return {"!": what}


def is_odd(x: Any) -> bool:
    return type(x) is dict and "!" in x


def plain(x: Any, depth: int = 0) -> Any:
    """`x` as plain data. Never raises for a reason of its own; a learner's `__float__` may raise, and the guard catches that."""
    t = type(x)
    if x is None or t is bool or t is float:
        return x
    if t is int:
        return (
            x
            if x.bit_length() <= 1000
            else odd(f"a whole number of about {int(x.bit_length() * math.log10(2)) + 1} digits")
        )
    if t is str:
        return x[:MAX_TEXT]
    if x is Ellipsis:
        return odd("...")
    if depth > 8:
        return odd("something nested too deeply")
    module = (t.__module__ or "").partition(".")[0]
    if module == "numpy":
        if hasattr(x, "dtype") and hasattr(x, "tolist"):
            if x.dtype.kind not in "biuf":
                return odd(f"a numpy {'array' if getattr(x, 'ndim', 0) else 'scalar'} of dtype {x.dtype}")
            if getattr(x, "size", 1) > MAX_ITEMS:
                return odd(f"an array of {x.size} numbers")
            return plain(x.tolist(), depth)
    if t is list or t is tuple or isinstance(x, (list, tuple)):
        if len(x) > MAX_ITEMS:
            return odd(f"a {t.__name__} of {len(x)} items")
        return [plain(item, depth + 1) for item in list(x)]
    if isinstance(x, dict):
        if len(x) > MAX_ITEMS:
            return odd(f"a dict of {len(x)} items")
        return {str(plain(k, depth + 1)): plain(v, depth + 1) for k, v in dict(x).items()}
    if isinstance(x, (set, frozenset)):
        return odd("a set")
    if t.__name__ in (
        "generator",
        "map",
        "filter",
        "zip",
        "range",
        "reversed",
        "enumerate",
        "dict_values",
        "dict_keys",
    ):
        return [plain(item, depth + 1) for item in itertools.islice(x, MAX_ITEMS)]
    if isinstance(x, type):
        return odd(f"the class {safe_name(x)}, not an object of it")
    if callable(x) and hasattr(x, "__code__"):
        return odd(f"the function {safe_name(x)}, not what it returns: call it")
    if isinstance(x, float):
        return float.__float__(x)
    if isinstance(x, int):
        return plain(int.__int__(x), depth)
    if hasattr(x, "detach") and hasattr(x, "tolist"):  # a Tensor, minigrad's or PyTorch's
        return plain(x.detach().tolist(), depth)
    if hasattr(t, "__float__"):
        number = float(x)
        return float.__float__(number)
    return odd(f"{'an' if safe_name(t)[:1].lower() in 'aeiou' else 'a'} {safe_name(t)} object")


def safe_name(x: Any) -> str:
    """The name of a class or function, as builtin text of a bearable length."""
    name = getattr(x, "__name__", "nameless")
    return str.__str__(name)[:60] if isinstance(name, str) else "nameless"


def describe(x: Any) -> str:
    """A description of plain data without its numbers."""
    if is_odd(x):
        return str(x["!"])
    if x is None:
        return "None"
    if type(x) is bool:
        return str(x)
    if type(x) in (int, float):
        if x != x:
            return "nan (not a number)"
        if x in (math.inf, -math.inf):
            return "an infinite number"
        return "one number"
    if type(x) is str:
        return f"the text {x[:30]!r}"
    if type(x) is dict:
        return f"a dict with {len(x)} {'entry' if len(x) == 1 else 'entries'}"
    shape = shape_of(x)
    if shape is not None and len(shape) > 1:
        return f"an array of shape {shape}"
    return f"a list of {len(x)}"


def shape_of(x: Any) -> tuple[int, ...] | None:
    """The shape of nested lists of numbers, () for one number, None when ragged or not numbers."""
    if type(x) in (int, float, bool):
        return ()
    if type(x) is not list:
        return None
    if not x:
        return (0,)
    inner = {shape_of(item) for item in x}
    if len(inner) != 1:
        return None
    first = inner.pop()
    return None if first is None else (len(x), *first)
