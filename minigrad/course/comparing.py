"""Compare plain data with the expected data: exact, close or off, and the place of the first difference.

No sentence that is made here contains the expected value.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from .plain import MISSING, describe, is_odd, shape_of

EXACT, APPROX, OFF, SKIPPED = "exact", "approx", "off", "skipped"
EXACT_RTOL = 1e-12
Path = tuple[Any, ...]  # keys of dicts and places in lists


def compare(
    got: Any, want: Any, rtol: float, atol: float, coy: bool = False, parts: tuple[str, ...] = ()
) -> tuple[str, str, dict[str, str] | None]:
    """(level, sentence, where it is off). With `coy` the size of the difference is not told: it would give a single number away.

    `parts` names the places of the outermost list.
    """
    mismatch = structure(got, want)
    if mismatch:
        return OFF, mismatch, None
    level, worst, worst_at, first = EXACT, -1.0, (), None
    for where, g, w in pairs(got, want):
        if isinstance(w, (str, bool)) or w is None or type(g) not in (int, float):
            if type(g) is not type(w) or g != w:
                wrong = (
                    "not the right answer"
                    if type(w) not in (int, float)
                    else f"one number is needed here, this is {_what(g)}"
                )
                path = place(where, parts)
                return OFF, f"{path + ': ' if path else ''}{wrong}", {"node": path, "say": wrong}
            continue
        step, difference = level_of(float(g), float(w), rtol, atol)
        if step == OFF and first is None:
            first = {"node": place(where, parts), "say": _direction(float(g), float(w))}
        if step != EXACT and (difference > worst or difference != difference):
            worst, worst_at = difference, where
        level = max(level, step, key=(EXACT, APPROX, OFF).index)
    if level == EXACT:
        return level, "", None
    at = f" (at {place(worst_at, parts)})" if worst_at else ""
    if level == APPROX:
        return level, f"within the tolerance, largest difference {about(worst)}{at}", None
    assert first is not None
    say = f"{first['node'] + ' is ' if first['node'] else ''}{first['say']}"
    numbers = [abs(w) for _, _, w in pairs(got, want) if type(w) in (int, float)]
    telling = coy or not math.isfinite(worst) or about(worst) in map(about, numbers)
    return OFF, say if telling else f"{say}; largest difference about {about(worst)}{at}", first


def about(x: float) -> str:
    """A size to one digit: enough to see how far off an answer is, too little to correct it by subtraction."""
    rounded = float(f"{x:.0e}")
    return (
        f"{rounded:g}"
        if 1e-3 <= rounded < 1e6 or rounded == 0
        else f"{rounded:.0e}".replace("e-0", "e-").replace("e+0", "e").replace("e+", "e")
    )


def level_of(g: float, w: float, rtol: float, atol: float) -> tuple[str, float]:
    if g == w or (g != g and w != w):
        return EXACT, 0.0
    if not (math.isfinite(g) and math.isfinite(w)):
        return OFF, math.inf
    difference = abs(g - w)
    if difference <= EXACT_RTOL * max(abs(w), abs(g)):
        return EXACT, difference
    return (APPROX if difference <= atol + rtol * abs(w) else OFF), difference


def _direction(g: float, w: float) -> str:
    if g != g:
        return "nan (not a number)"
    if math.isinf(g):
        return "infinite"
    if g == 0:
        return "zero, and should not be"
    if w == 0:
        return "not zero, and should be"
    if (g < 0) != (w < 0):
        return "of the wrong sign"
    return "too large" if abs(g) > abs(w) else "too small"


def structure(got: Any, want: Any) -> str:
    """A sentence about a difference in form, or ""."""
    if is_odd(got):
        return (
            "not filled in yet (...)"
            if got["!"] == "..."
            else got["!"]
            if got["!"] == MISSING
            else f"{describe(want)} is needed, this is {describe(got)}"
        )
    if got is None and want is not None:
        return "nothing came back (None)"
    if isinstance(want, dict):
        if not isinstance(got, dict):
            return f"{describe(want)} is needed, this is {describe(got)}"
        missing = [k for k in want if k not in got]
        if missing:
            return f"the entry {missing[0]!r} is missing"
        nested = ((k, structure(got[k], w)) for k, w in want.items() if isinstance(w, (list, dict)))
        return next((f"{k}: {complaint}" for k, complaint in nested if complaint), "")
    if isinstance(want, list):
        if not isinstance(got, list):
            return f"{describe(want)} is needed, this is {describe(got)}"
        sg, sw = shape_of(got), shape_of(want)
        if sw is not None and sg is not None and sg != sw:
            return f"the shape is {sg}, it must be {sw}"
        if len(got) != len(want):
            return f"{len(want)} items are needed, there are {len(got)}"
        return next(
            (
                m
                for g, w in zip(got, want, strict=True)
                if (m := structure(g, w) if isinstance(w, (list, dict)) else "")
            ),
            "",
        )
    if isinstance(got, (list, dict)) or (type(want) in (int, float) and isinstance(got, (str, bool))):
        quotes = ": write the number without quotes" if isinstance(got, str) else ""
        return f"{describe(want) if type(want) in (int, float) else 'something else'} is needed, this is {describe(got)}{quotes}"
    if isinstance(want, str) and not isinstance(got, str):
        return f"a text is needed, this is {describe(got)}"
    return ""


def _what(g: Any) -> str:
    return "still None" if g is None else describe(g)


def pairs(got: Any, want: Any, path: Path = ()) -> Iterator[tuple[Path, Any, Any]]:
    """(place, actual, expected) for every number or text of two structures of the same form."""
    if isinstance(want, dict):
        for k, w in want.items():
            yield from pairs(got[k], w, (*path, k))
    elif isinstance(want, list):
        for i, w in enumerate(want):
            yield from pairs(got[i], w, (*path, i))
    else:
        yield path, got, want


def place(path: Path, parts: tuple[str, ...] = ()) -> str:
    """The text of a place: ("a",) is "a", (2,) is "entry 2", (0, 1) is "row 0, column 1"."""
    keys = list(path)
    words = [parts[keys.pop(0)]] if parts and keys and isinstance(keys[0], int) and keys[0] < len(parts) else []
    while keys and isinstance(keys[0], str):
        words.append(keys.pop(0))
    names = (["item"] * len(keys) + ["row", "column"])[-len(keys) :] if len(keys) > 1 else ["entry"] * len(keys)
    return ", ".join([*words, *(f"{name} {key}" for name, key in zip(names, keys, strict=True))])


def has_nan(x: Any) -> bool:
    if isinstance(x, (list, dict)):
        return any(has_nan(item) for item in (x.values() if isinstance(x, dict) else x))
    return isinstance(x, float) and x != x
