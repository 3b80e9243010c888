"""Sweeps: where a slider can stand, and everything that the computation is at each of these points, packed for the browser."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy

from minigrad.tracing.schema import Trace

from ..contract import Sections, Sweep, array_widths

FIRST = 6  # sliders shown at once; others are computed when someone looks for them
SECONDS = 0.3  # what computing the tables of a Tensor graph's first sliders may take
SPIKE, FAR = 1000, 12  # times the usual result: the curve has a spike; and how much of it is still shown
FEW = 5  # points on each side that are kept in any case
BYTES = 3_000_000  # what all tables together may weigh; fewer points for bigger graphs


def slider_points(recorded: float, now: float, room: int = 121) -> list[float]:
    """The points of a slider: a round range around the recorded value in round steps, and always the recorded and the present value.

    >>> points = slider_points(1.0, 1.0)
    >>> points[0], points[1], points[-1], 1.0 in points
    (-3.0, -2.95, 3.0, True)
    """
    want = 2.5 * abs(recorded) if 1e-100 < abs(recorded) < 1e100 else 1.0
    if abs(recorded) >= 1e100:
        return sorted({abs(recorded) * k / 20 for k in range(-20, 21)} | {recorded, now})
    power = math.floor(math.log10(want))
    mantissa, steps = next(
        (m, k) for m, k in ((1, 50), (2, 40), (3, 60), (5, 50), (10, 50)) if want <= m * 10.0**power * (1 + 1e-12)
    )
    while 2 * steps + 1 > max(room, 11) and steps % 2 == 0:
        steps //= 2
    scale = 10.0 ** abs(power)
    points = {
        mantissa * k * scale / steps if power >= 0 else mantissa * k / (steps * scale) for k in range(-steps, steps + 1)
    }
    return sorted(points | {recorded, now})


def in_sight(results: numpy.ndarray, recorded: int, now: int) -> slice:
    """Which points a slider keeps: all; but where the result grows so much that its curve would be a flat line and a spike, those
    around the recorded and the present point at which it does not.

    >>> x = numpy.linspace(-3, 3, 121)
    >>> in_sight(x**4, 80, 80), in_sight(x**60, 80, 80)
    (slice(0, 121, None), slice(40, 86, None))
    """
    with numpy.errstate(all="ignore"):
        far = numpy.abs(results - results[now])
    finite = far[numpy.isfinite(far)]
    usual = max(
        abs(float(results[now])),
        abs(float(results[recorded])),
        float(numpy.quantile(finite, 0.25)) if len(finite) else 0.0,
    )
    if not len(finite) or not usual > 0 or not float(finite.max()) > SPIKE * usual:
        return slice(0, len(results))
    start, end = sorted((recorded, now))
    while start > 0 and not far[start - 1] > FAR * usual:
        start -= 1
    while end < len(results) - 1 and not far[end + 1] > FAR * usual:
        end += 1
    return slice(max(0, min(start, recorded - FEW, now - FEW)), max(end, recorded + FEW, now + FEW) + 1)


def sections(trace: Trace) -> Sections:
    nodes = len(trace["nodes"])
    return Sections(values=nodes, grads=nodes, locals=len(trace["edges"]), arrays=sum(array_widths(trace)))


def room(trace: Trace, sliders: int, seconds: float | None) -> int:
    """How many points a slider may have. seconds: what one point takes, where that matters."""
    points = BYTES // (FIRST * 8 * sum(sections(trace).values()))  # type: ignore[arg-type]
    return points if seconds is None else min(points, int(SECONDS / min(FIRST, sliders) / seconds))


def too_slow(sliders: int, seconds: float) -> bool:
    """Would even coarse sliders keep a learner waiting?"""
    return SECONDS / min(FIRST, sliders) < 11 * seconds


def pack(node: int, base: Mapping[str, float], trace: Trace, points: list[float], rows: numpy.ndarray) -> Sweep:
    """The table of one slider: `rows` has a row for each point."""
    rows = numpy.ascontiguousarray(rows, "<f8")
    bits = rows.view("<i8")  # nan is equal to nan, and -0 is not 0
    table = [numpy.ascontiguousarray(points, "<f8").tobytes()]
    place = {table[0]: 0}
    columns = numpy.full(rows.shape[1], -1, "<i4")
    for k in numpy.flatnonzero((bits != bits[0]).any(axis=0)):
        column = rows[:, k].tobytes()
        if column not in place:
            place[column] = len(table)
            table.append(column)
        columns[k] = place[column]
    return Sweep(
        node=node, base=dict(base), sections=sections(trace), still=rows[0].tobytes(), columns=columns.tobytes(), table=b"".join(table)
    )  # fmt: skip


def points_of(sweep: Sweep) -> numpy.ndarray:
    """Where the slider can stand."""
    table = numpy.frombuffer(sweep["table"], "<f8")
    columns = numpy.frombuffer(sweep["columns"], "<i4")
    return table[: len(table) // (int(columns.max(initial=0)) + 1)]


def unpack(sweep: Sweep) -> tuple[numpy.ndarray, numpy.ndarray]:
    """The points and the rows that `pack` was given."""
    xs, columns = points_of(sweep), numpy.frombuffer(sweep["columns"], "<i4")
    table = numpy.frombuffer(sweep["table"], "<f8").reshape(-1, len(xs))
    rows = numpy.tile(numpy.frombuffer(sweep["still"], "<f8"), (len(xs), 1))
    moving = columns >= 0
    rows[:, moving] = table[columns[moving]].T
    return xs, rows


def holds(sweep: Sweep, inputs: Mapping[str, float]) -> bool:
    """Do all other inputs stand where this table was computed, and is this one on one of its points?"""
    others = all(sweep["base"][key] == value for key, value in inputs.items() if int(key) != sweep["node"])
    return others and inputs[str(sweep["node"])] in points_of(sweep)
