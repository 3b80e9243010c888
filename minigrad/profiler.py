"""torch.profiler: the profiler of autograd/profiler.py under PyTorch's newer names, with steps and a schedule.

What lives here: `profile`, `schedule`, `ProfilerActivity`. What does not: events and tables.
"""

import enum
from typing import Any

from .autograd import profiler as _autograd
from .autograd.profiler import record_function  # noqa: F401


class ProfilerActivity(enum.Enum):
    CPU = 0
    CUDA = 2  # accepted; there is none


class ProfilerAction(enum.Enum):
    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


def schedule(*, wait, warmup, active, repeat=0, skip_first=0, skip_first_wait=0):
    """For profile(schedule=...): skip `skip_first` steps, then in turn wait, warm up, record `active` steps; `repeat` times (0: for
    ever). Raises AssertionError for negative numbers."""
    if wait < 0 or warmup < 0 or active < 1 or repeat < 0 or skip_first < 0:
        raise AssertionError("Invalid profiler schedule arguments")

    def action(step):
        if step < skip_first:
            return ProfilerAction.NONE
        step -= skip_first
        length = wait + warmup + active
        if repeat and step // length >= repeat:
            return ProfilerAction.NONE
        place = step % length
        if place < wait:
            return ProfilerAction.NONE
        if place < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if place < length - 1 else ProfilerAction.RECORD_AND_SAVE

    return action


class profile:
    """Context manager: times what runs inside; with a schedule only in its recording steps, see `step`.

    >>> import minigrad as torch
    >>> with torch.profiler.profile() as prof:
    ...     with torch.profiler.record_function("my block"):
    ...         y = torch.ones(3) * 2
    >>> [e.key for e in prof.key_averages()]
    ['my block', 'aten::mul']
    """

    def __init__(
        self, *, activities=None, schedule=None, on_trace_ready=None, record_shapes=False, profile_memory=False, with_stack=False,
        with_flops=False,
        with_modules=False, experimental_config=None, execution_trace_observer=None, acc_events=False, use_cuda=None,
    ):  # fmt: skip
        self.schedule = schedule or (lambda step: ProfilerAction.RECORD)
        self.on_trace_ready, self.step_num = on_trace_ready, 0
        self.options = {"record_shapes": record_shapes, "profile_memory": profile_memory}
        self.profiler: Any = None
        self.block: Any = None

    def start(self):
        self._begin()

    def stop(self):
        if self._running():
            self._end()
            if self.on_trace_ready is not None:
                self.on_trace_ready(self)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *exc):
        self.stop()

    def step(self):
        """The next step begins."""
        last = self.schedule(self.step_num)
        self.step_num += 1
        if last is ProfilerAction.RECORD_AND_SAVE and self._running():
            self._end()
            if self.on_trace_ready is not None:
                self.on_trace_ready(self)
        if not self._running():
            self._begin()
        elif self.block is not None:
            self._block()

    def _running(self):
        return self.profiler is not None and self.profiler.function_events is None

    def _begin(self):
        if self.schedule(self.step_num) in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE):
            self.profiler = _autograd.profile(**self.options)
            self.profiler.__enter__()
            if self.step_num:
                self._block()

    def _block(self):
        if self.block is not None:
            self.block.__exit__()
        self.block = record_function(f"ProfilerStep#{self.step_num}")
        self.block.__enter__()

    def _end(self):
        if self.block is not None:
            self.block.__exit__()
            self.block = None
        self.profiler.__exit__()

    def _finished(self):
        if self.profiler is None:
            raise AssertionError("Profiler must be initialized before getting events")
        return self.profiler

    def events(self):
        return self._finished()._events()

    def key_averages(self, group_by_input_shape=False, group_by_stack_n=0, group_by_overload_name=False):
        return self._finished().key_averages(group_by_input_shape)

    def export_chrome_trace(self, path):
        self._finished().export_chrome_trace(path)


def tensorboard_trace_handler(dir_name, worker_name=None, use_gzip=False):
    """For on_trace_ready: writes a Chrome trace into a folder."""
    import os

    def write(prof):
        os.makedirs(dir_name, exist_ok=True)
        prof.export_chrome_trace(os.path.join(dir_name, f"{worker_name or 'minigrad'}.{prof.step_num}.pt.trace.json"))

    return write


__all__ = ["ProfilerAction", "ProfilerActivity", "profile", "record_function", "schedule", "tensorboard_trace_handler"]
