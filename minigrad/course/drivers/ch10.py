"""Drivers of chapter 10: averages of weights, and truncated backpropagation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .calls import import_torch, leaf64


def ema_numbers(entry: Any, teacher: list, student: list, m: float, times: int) -> Any:
    """The teacher's tensors after some updates. Between two of them the student's numbers grow by 1."""
    ts, ss = [leaf64(t) for t in teacher], [leaf64(s) for s in student]
    teacher_list = list(ts)
    for k in range(times):
        for s in ss if k else ():
            s.detach().add_(1.0)
        entry(ts, ss, m)
    return [t.tolist() for t in teacher_list]


def ema_tensors(entry: Any, teacher: list, student: list, m: float) -> Any:
    """What became of the teacher's tensors in one update, and whether autograd could notice the writes."""
    import numpy as np

    ts, ss = [leaf64(t) for t in teacher], [leaf64(s) for s in student]
    teacher_list, before, versions = list(ts), [s.tolist() for s in ss], [t._version for t in ts]
    entry(ts, ss, m)
    recorded = any(t.grad_fn is not None for t in ts)
    return {
        "they are the same tensors": all(t is o for t, o in zip(ts, teacher_list, strict=True)),
        "they are leaves that require gradients": all(t.is_leaf and t.requires_grad for t in ts),
        "they share memory with the student": any(
            np.shares_memory(t.detach().numpy(), s.detach().numpy())
            for t, s in zip(ts, ss, strict=True)  # data_ptr needs ctypes
        ),
        "the student is as it was": [s.tolist() for s in ss] == before,
        "noticed": "recorded" if recorded else all(t._version > v for t, v in zip(teacher_list, versions, strict=True)),
    }


MEMORY = 0.3  # the h that a sequence begins with


def _cell(w: Any, u: Any) -> Callable:
    """A recurrent cell with two weights, as exercise 10.d receives it: (h, x) -> (next h, loss)."""

    def step(h: Any, x: float) -> Any:
        h = (w * h + u * x).tanh()
        return h, (h - 0.5 * x) ** 2

    return step


def truncated_result(entry: Any, w: float, u: float, xs: list[float], k: int) -> Any:
    """Both gradients after the learner's windows, and the h that is left."""
    leaves = leaf64(w), leaf64(u)
    h = entry(_cell(*leaves), leaf64(MEMORY).detach(), list(xs), k)
    is_tensor = isinstance(h, import_torch().Tensor)
    return {
        **{
            f"{name}.grad": None if leaf.grad is None else leaf.grad.item()
            for name, leaf in zip("wu", leaves, strict=True)
        },
        "last h": h.item() if is_tensor else None,
        "h has a graph": h.requires_grad if is_tensor else None,
    }


def truncated_work(entry: Any, w: float, u: float, xs: list[float], k: int) -> Any:
    """How often the learner calls backward, and over how many steps the longest graph reaches."""
    Tensor, steps = import_torch().Tensor, []
    backward = Tensor.backward

    def watched(self: Any, *args: Any, **named: Any) -> None:
        seen, todo = set(), [self.grad_fn]
        while todo:
            node = todo.pop()
            if node is not None and node not in seen:
                seen.add(node)
                todo += [parent for parent, _ in node.next_functions]
        steps.append(sum(node.name() == "TanhBackward0" for node in seen))
        backward(self, *args, **named)

    Tensor.backward = watched
    try:
        entry(_cell(leaf64(w), leaf64(u)), leaf64(MEMORY).detach(), list(xs), k)
    finally:
        Tensor.backward = backward
    return {"backward passes": len(steps), "steps in the longest graph": max(steps, default=0)}
