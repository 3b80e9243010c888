"""torch.autograd.profiler: how long each operation takes, forward and backward.

What lives here: events, the profilers that collect them, and the tables. `minigrad.profiler` is the same under PyTorch's newer names.

A row of the table is an operation (`aten::mm`), a node of the backward pass (`MmBackward0`), a custom Function, or a block named with
`record_function`. CPU total includes what ran inside; self does not. What a node computes on plain arrays is its own time: no operations
are called there.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ..core.dispatch import Handler, Mode, state
from ..core.variable import Variable

if TYPE_CHECKING:
    from ..tensors.tensor import Tensor


class FunctionEvent:
    """One call: name, when it began and ended (microseconds), what ran inside."""

    def __init__(self, name: str, start: float, shapes: Any = (), thread: int = 0) -> None:
        self.name = self.key = name
        self.start, self.end, self.input_shapes, self.thread = start, start, list(shapes), thread
        self.cpu_children: list[Any] = []
        self.cpu_parent: Any = None
        self.bytes = 0
        self.count = 1

    @property
    def cpu_time_total(self) -> float:
        return self.end - self.start

    cpu_time = cpu_time_total

    @property
    def self_cpu_time_total(self) -> float:
        return self.cpu_time_total - sum(child.cpu_time_total for child in self.cpu_children)

    def __repr__(self) -> str:
        return f"<FunctionEvent name={self.name} cpu_time={_time(self.cpu_time_total)} self_cpu_time={_time(self.self_cpu_time_total)}>"


class FunctionEventAvg:
    """All calls of one name."""

    def __init__(self, key: str, shapes: Sequence[Any] = ()) -> None:
        self.key, self.input_shapes = key, list(shapes)
        self.count, self.cpu_time_total, self.self_cpu_time_total = 0, 0.0, 0.0
        self.cpu_memory_usage = self.self_cpu_memory_usage = 0

    def add(self, event: FunctionEvent) -> Self:
        self.count += 1
        # A block inside one of the same name is in that one's time already.
        parent = event.cpu_parent
        while parent is not None and parent.name != event.name:
            parent = parent.cpu_parent
        self.cpu_time_total += 0 if parent is not None else event.cpu_time_total
        self.self_cpu_time_total += event.self_cpu_time_total
        self.self_cpu_memory_usage += event.bytes
        self.cpu_memory_usage += 0 if parent is not None else _bytes_of(event)
        return self

    @property
    def cpu_time(self) -> Any:
        return self.cpu_time_total / self.count if self.count else 0.0

    def __repr__(self) -> str:
        return (
            f"<FunctionEventAvg key={self.key} self_cpu_time={_time(self.self_cpu_time_total)} cpu_time={_time(self.cpu_time)} "
            f"input_shapes={self.input_shapes or ''} cpu_memory_usage={self.cpu_memory_usage}>"
        )


def _bytes_of(event: FunctionEvent) -> int:
    return event.bytes + sum(map(_bytes_of, event.cpu_children))


def _time(us: float) -> str:
    return f"{us / 1e6:.3f}s" if us >= 1e6 else f"{us / 1e3:.3f}ms" if us >= 1e3 else f"{us:.3f}us"


def _memory(n: int) -> str:
    for unit, size in (("GB", 2**30), ("MB", 2**20), ("KB", 2**10)):
        if abs(n) >= size:
            return f"{n / size:.2f} {unit}"
    return f"{n} B"


class EventList(list):
    """A list of events, or of their averages, that prints as a table."""

    def __init__(self, events: Any = (), total: float = 0.0, shapes: bool = False, memory: bool = False) -> None:
        super().__init__(events)
        self.total, self.shapes, self.memory = total, shapes, memory

    @property
    def self_cpu_time_total(self) -> float:
        return sum(e.self_cpu_time_total for e in self)

    def total_average(self) -> Any:
        total = FunctionEventAvg("Total")
        for e in self:
            total.count += e.count
            total.self_cpu_time_total += e.self_cpu_time_total
            total.cpu_time_total = total.self_cpu_time_total
        return total

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int = 75,
        max_name_column_width: int = 55,
        max_shapes_column_width: int = 80,
        header: Any = None,
        top_level_events_only: bool = False,
        time_unit: Any = None,
    ) -> str:
        """The events as text. sort_by: "cpu_time_total", "self_cpu_time_total", "cpu_time", "count", "cpu_memory_usage", ... (largest "
        "first)."""
        events = list(self)
        if sort_by is not None:
            for e in events[:1]:
                getattr(e, sort_by)  # an unknown name raises AttributeError
            events.sort(key=lambda e: getattr(e, sort_by), reverse=True)
        if top_level_events_only:
            events = [e for e in events if getattr(e, "cpu_parent", None) is None]
        text = events[: None if row_limit < 0 else row_limit]
        total = self.self_cpu_time_total or 1e-9
        columns = ["Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg"]
        columns += ["CPU Mem", "Self CPU Mem"] if self.memory else []
        columns += ["# of Calls"] + (["Input Shapes"] if self.shapes else [])
        rows = []
        for e in text:
            name = e.key if len(e.key) <= max_name_column_width else e.key[: max_name_column_width - 3] + "..."
            row = [name, f"{100 * e.self_cpu_time_total / total:.2f}%", _time(e.self_cpu_time_total),
            f"{100 * e.cpu_time_total / total:.2f}%",
                   _time(e.cpu_time_total), _time(e.cpu_time_total / e.count)]  # fmt: skip
            row += (
                [_memory(getattr(e, "cpu_memory_usage", 0)), _memory(getattr(e, "self_cpu_memory_usage", 0))]
                if self.memory
                else []
            )
            rows.append(row + [str(e.count)] + ([str(e.input_shapes)[:max_shapes_column_width]] if self.shapes else []))
        widths = [
            max(12, *[len(r[i]) for r in [columns, *rows]])
            if i
            else max(len("Name"), *[len(r[0]) for r in [columns, *rows]])
            for i in range(len(columns))
        ]
        rule = "  ".join("-" * w for w in widths) + "  "
        lines = [rule] if header is None else [header, rule]
        lines += ["  ".join(c.rjust(w) for c, w in zip(columns, widths, strict=True)) + "  ", rule]
        lines += ["  ".join(c.rjust(w) for c, w in zip(r, widths, strict=True)) + "  " for r in rows]
        return "\n".join([*lines, rule, f"Self CPU time total: {_time(self.self_cpu_time_total)}", ""])

    def __str__(self) -> str:
        return self.table()

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> EventList:
        """One row per name (and input shapes)."""
        averages: dict = {}
        for e in self:
            key = (e.name, str(e.input_shapes) if group_by_input_shape else "")
            averages.setdefault(key, FunctionEventAvg(e.name, e.input_shapes if group_by_input_shape else ())).add(e)
        return EventList(averages.values(), self.total, group_by_input_shape, self.memory)

    def export_chrome_trace(self, path: Any) -> None:
        """The events as JSON for chrome://tracing or ui.perfetto.dev."""
        with open(path, "w") as file:
            json.dump(
                [
                    {
                        "name": e.name,
                        "ph": "X",
                        "ts": e.start,
                        "dur": e.cpu_time_total,
                        "tid": e.thread,
                        "pid": "CPU functions",
                        "args": {},
                    }
                    for e in self
                ],
                file,
            )


class _Recorder(Handler):
    """Times operations, and what the backward pass and custom Functions call."""

    def __init__(self, shapes: bool, memory: bool) -> None:
        self.shapes, self.memory = shapes, memory
        self.events: list[Any] = []
        self.open: list[Any] = []
        self.thread = threading.get_ident()

    def begin(self, name: str, shapes: Sequence[Any] = ()) -> FunctionEvent:
        event = FunctionEvent(name, time.perf_counter_ns() / 1e3, shapes, self.thread)
        event.cpu_parent = self.open[-1] if self.open else None
        if event.cpu_parent is not None:
            event.cpu_parent.cpu_children.append(event)
        self.events.append(event)
        self.open.append(event)
        return event

    def finish(self, event: FunctionEvent) -> None:
        event.end = time.perf_counter_ns() / 1e3
        while self.open and self.open.pop() is not event:
            pass

    def __call__(self, op: Any, inputs: tuple[Tensor, ...], params: tuple[Any, ...]) -> Tensor:
        flat = inputs[0] if op.tensor_list else inputs
        shapes = [list(x.array.shape) if isinstance(x, Variable) else [] for x in flat] if self.shapes else ()
        event = self.begin("aten::" + op.name.removeprefix("_"), shapes)
        try:
            out = op(*inputs, *params)
        finally:
            self.finish(event)
        if self.memory:
            for t in out if isinstance(out, tuple) else (out,):
                array = getattr(t, "array", None)
                if isinstance(array, np.ndarray) and array.base is None:
                    event.bytes += array.nbytes
        return out

    def backward(self, steps: Iterator[Any]) -> None:
        """Run a backward pass, one event for each node. The time between two nodes (sums of gradients, the order) counts for the second."""
        event = self.begin("autograd::engine")
        try:
            while True:
                step = next(steps, None)
                self.finish(event)
                if step is None:
                    self.forget(event)
                    return
                event.name = event.key = step[0].name()
                event = self.begin("autograd::engine")
        except BaseException:
            self.finish(event)
            raise

    def forget(self, event: FunctionEvent) -> None:
        """The time after the last node is no node's."""
        self.events.remove(event)
        if event.cpu_parent is not None:
            event.cpu_parent.cpu_children.remove(event)


class profile:
    """Context manager: times every operation and every node of the backward pass inside.

    record_shapes   remember the shapes of the inputs; key_averages(group_by_input_shape=True) tells them apart
    profile_memory  count the bytes of the results

    >>> import minigrad as torch
    >>> x = torch.randn(10, 10, requires_grad=True)
    >>> with torch.autograd.profiler.profile() as prof:
    ...     (x @ x).sum().backward()
    >>> sorted(e.key for e in prof.key_averages())
    ['MmBackward0', 'SumBackward0', 'aten::mm', 'aten::sum', 'torch::autograd::AccumulateGrad']
    """

    def __init__(
        self,
        enabled: bool = True,
        *,
        use_cuda: bool = False,
        use_device: Any = None,
        record_shapes: bool = False,
        with_flops: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_modules: bool = False,
        use_kineto: bool = False,
        use_cpu: bool = True,
        **more: Any,
    ) -> None:
        self.enabled, self.record_shapes, self.profile_memory = enabled, record_shapes, profile_memory
        self.function_events: EventList | None = None

    def __enter__(self) -> Self:
        if self.enabled:
            if state.profiler is not None:
                raise RuntimeError("Can't disable Kineto profiler when it's not running")
            self.recorder = _Recorder(self.record_shapes, self.profile_memory)
            state.profiler = self.recorder.__enter__()
        return self

    def __exit__(self, *exc: Any) -> None:
        if self.enabled:
            self.recorder.__exit__(*exc)
            state.profiler = None
            self.function_events = EventList(
                self.recorder.events, shapes=self.record_shapes, memory=self.profile_memory
            )

    def _events(self) -> EventList:
        if self.function_events is None:
            raise AssertionError("Profiler didn't finish running")
        return self.function_events

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> EventList:
        return self._events().key_averages(group_by_input_shape)

    def table(self, *args: Any, **kwargs: Any) -> Any:
        return self._events().table(*args, **kwargs)

    def total_average(self) -> Any:
        return self._events().total_average()

    def export_chrome_trace(self, path: Any) -> None:
        self._events().export_chrome_trace(path)

    @property
    def self_cpu_time_total(self) -> Any:
        return self._events().self_cpu_time_total

    def __str__(self) -> str:
        return "<unfinished torch.autograd.profile>" if self.function_events is None else str(self.function_events)

    __repr__ = __str__


class record_function(Mode):
    """Context manager and decorator: a block with a name of its own in the table."""

    def __init__(self, name: str, args: Any = None) -> None:
        self.name, self.args = name, args

    def __enter__(self) -> Any:
        self.recorder = state.profiler
        if self.recorder is not None:
            self.event = self.recorder.begin(self.name)
        return self

    def __exit__(self, *exc: Any) -> None:
        if self.recorder is not None:
            self.recorder.finish(self.event)

    def clone(self) -> Any:
        return record_function(self.name, self.args)


__all__ = ["EventList", "FunctionEvent", "FunctionEventAvg", "profile", "record_function"]
