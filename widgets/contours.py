"""Lines of equal height through a table of numbers, as SVG paths.

What lives here: `contour` (marching squares with linear interpolation).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

Point = tuple[float, float]


def contour(table: Sequence[Sequence[float]], level: float, place: Callable[[float, float], Point]) -> str:
    """The path of the line where the table's values are `level`. place(column, row) says where a point lies in the picture.

    >>> contour([[0.0, 2.0], [0.0, 2.0]], 1.0, lambda x, y: (10 * x, 10 * y))
    'M5 0L5 10'
    """
    out = []
    for r in range(len(table) - 1):
        upper, lower = table[r], table[r + 1]
        for c in range(len(upper) - 1):
            corners = (upper[c], upper[c + 1], lower[c + 1], lower[c])
            if all(v > level for v in corners) or not any(v > level for v in corners):
                continue
            spots: tuple[Point, ...] = ((c, r), (c + 1, r), (c + 1, r + 1), (c, r + 1))
            crossings = []
            for i in range(4):
                a, b = corners[i], corners[(i + 1) % 4]
                if (a > level) != (b > level):
                    t = (level - a) / (b - a)
                    (x0, y0), (x1, y1) = spots[i], spots[(i + 1) % 4]
                    crossings.append(place(x0 + t * (x1 - x0), y0 + t * (y1 - y0)))
            for (x0, y0), (x1, y1) in zip(crossings[::2], crossings[1::2], strict=True):
                out.append(f"M{_short(x0)} {_short(y0)}L{_short(x1)} {_short(y1)}")
    return "".join(out)


def _short(x: float) -> str:
    return f"{x:.1f}".removesuffix(".0")
