"""Numbers, sizes, counts and lists as people read them: one form of each, for every text that a learner sees."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Context, Decimal


def number(x: float | str | None, digits: int = 6, power: bool = False) -> str:
    """A number as people read it: up to `digits` significant digits, no trailing zeros, -0 as 0, a true minus sign; "?" if unknown.

    Below 1e-4, and where it has more than `digits` digits before the point, with a power of ten; `power`: always.
    `fmt` in widgets/front/src/model/numbers.js writes the same; a test compares the two.

    >>> [number(v) for v in (30.0, -0.0, 1 / 3, 1234567.0, -2.5e-7, "inf")]
    ['30', '0', '0.333333', '1.23457e6', '−2.5e−7', 'inf']
    """
    if x is None:
        return "?"
    x = float(x)
    if x != x or math.isinf(x):
        return str(x).replace("-", "−")
    if x == 0.0:
        return "0"
    # Ties as JavaScript's toPrecision has them
    rounded = Context(prec=digits, rounding=ROUND_HALF_UP).create_decimal(Decimal(x))
    if not power and 1e-4 <= abs(x) < 10.0**digits:
        text = f"{rounded:f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
    else:
        head, tail = f"{rounded:e}".split("e")
        text = (head.rstrip("0").rstrip(".") if "." in head else head) + "e" + str(int(tail))
    return text.replace("-", "−")


def fit(x: float, room: int) -> str:
    """The number in at most `room` characters, with as many digits as that allows, but never fewer than two: -1.5 is not -2.

    >>> [fit(x, 5) for x in (-1.5, -0.123456, 1234567.0, -2.0, 0.00125)], fit(-1.5, 1)
    (['−1.5', '−0.12', '1.2e6', '−2', '0.0013'], '−1.5')
    """
    if len(text := number(x)) <= room:
        return text
    for digits in range(6, 1, -1):
        for power in (False, True):
            if len(text := number(x, digits, power)) <= room:
                return text
    return min(number(x, 2), number(x, 2, power=True), key=len)


def listed(names: Sequence[str], most: int = 0, noun: str = "") -> str:
    """Names in a sentence; of more than `most` only how many they are.

    >>> listed(["x", "y", "z"]), listed(["x"]), listed(["x", "y", "z"], 2, "nodes")
    ('x, y and z', 'x', '3 nodes')
    """
    if most and len(names) > most:
        return f"{len(names)} {noun}"
    *others, last = names or [""]
    return f"{', '.join(others)} and {last}" if others else last


def plural(count: int, noun: str, nouns: str = "") -> str:
    """A count with its noun.

    >>> plural(1, "node"), plural(1200, "node"), plural(0, "entry", "entries")
    ('1 node', '1,200 nodes', '0 entries')
    """
    return f"{count:,} {noun if count == 1 else nouns or noun + 's'}"


def size(count: float) -> str:
    """Bytes, in powers of 1000 as memory is advertised and as PyTorch's documentation counts.

    >>> size(1), size(24), size(4096), size(3_000_000), size(350e9)
    ('1 byte', '24 bytes', '4.1 kB', '3 MB', '350 GB')
    """
    units = ("bytes", "kB", "MB", "GB", "TB", "PB", "EB")
    k = 0
    while count >= 999.5 and k < len(units) - 1:
        count, k = count / 1000, k + 1
    return "1 byte" if count == 1 and k == 0 else f"{number(count, 3)} {units[k]}"
