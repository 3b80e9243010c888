"""The tape: a recorded `Value` graph as flat arrays, to be run again and again.

What lives here: `Tape`, which flattens a graph, replays it from its leaves' present numbers, and sweeps one leaf over many numbers at
once. What does not: the loops themselves (kernels/tape.py in numpy, kernels/tape_numba.py compiled), training, widgets.
A tape holds what was recorded: an `if` in the program has been decided, and the tape keeps to the branch that was taken.
"""

from __future__ import annotations

import threading
import weakref
from array import array
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal

from .kernels.loading import load
from .scalar import checked_number
from .tracing.formulas import exponent
from .tracing.scalar_trace import ScalarRecording, record

if TYPE_CHECKING:
    import numpy as np

_compiled = None  # kernels/tape_numba.py, once it is loaded and compiled
_loading: threading.Thread | None = None


def warm() -> bool:
    """Load the compiled loops now (seconds after an installation, else a fraction of one). False if that is not possible here."""
    global _compiled
    if _compiled is None and (tape_numba := load("minigrad.kernels.tape_numba")):
        import numpy as np

        index, numbers = np.zeros(1, np.uint32), np.zeros(1)
        code, edge, table = np.zeros(1, np.int8), np.zeros(1, np.int64), np.zeros((1, 1))
        tape_numba.replay(code, index, index, numbers, numbers.copy(), numbers.copy(), 0)
        tape_numba.sweep(
            code, index, index, numbers, edge, numbers, 0, numbers, 0, table.copy(), table.copy(), table.copy()
        )
        _compiled = tape_numba
    return _compiled is not None


def _warm_soon() -> None:
    """Load the compiled loops in a thread; until they are ready the numpy version runs."""
    global _loading
    if _loading is None and _compiled is None and find_spec("numba"):
        _loading = threading.Thread(target=warm, name="minigrad tape kernels")
        _loading.start()


class Tape:
    """A recorded computation that can be run again without building it again.

    root: the `Value` that was computed, or an object of a learner's own class with micrograd's names. Nodes and edges are numbered as
    in `trace(root)`. Parents in a set have no order of their own, and names help to choose one: for such a class make one recording for
    both, `graph = record(root, names)`, then `trace(graph, names)` and `Tape(graph)`.
    The tape keeps no Value alive. A leaf that is gone keeps its last number.

    >>> from minigrad import Value
    >>> x = Value(1.0)
    >>> y = (3 * x + 2) ** 2
    >>> tape = Tape(y)
    >>> x.data = 2.0
    >>> tape.replay()
    >>> y.data, x.grad
    (64.0, 48.0)

    Raises TypeError for something without a graph, ValueError for an operation that it does not know.
    """

    def __init__(self, root: Any):
        import numpy as np

        from .kernels.tape import CODES, FIXED, ROW, batches

        graph = root if isinstance(root, ScalarRecording) else record(root)
        count = len(graph.objects)
        self.root = graph.root
        self._walk, self._shape = _shape(graph)
        self._code, self._n = np.zeros(count, np.int8), np.zeros(count)
        self._a, self._b = np.zeros(count, np.uint32), np.zeros(count, np.uint32)
        self._edge = np.zeros(count, np.int64)
        self._rows: list[Any] = []
        rows: dict[str, int] = {}
        edges = 0
        for i, (op, rule, parents) in enumerate(zip(graph.ops, graph.rules, graph.parents, strict=True)):
            self._edge[i] = edges
            edges += len(parents)
            if not parents:
                continue
            if rule is None:
                op_names = ", ".join(CODES)
                raise ValueError(
                    f"the tape cannot replay an operation called {op!r}: it knows {op_names}, and powers such as '**2'."
                )
            fixed = rule.name == "**" and len(parents) == 1
            if rule.row is not None and rule.name not in rows:
                rows[rule.name] = ROW + len(rows)
                self._rows.append(_row(rule.row))
            self._code[i] = FIXED if fixed else rows[rule.name] if rule.row is not None else CODES[rule.name]
            self._n[i] = exponent(op) if fixed else 0.0
            self._a[i], self._b[i] = parents[0], parents[-1]
        self.nodes, self.edges = count, edges
        self._leaves = np.array([i for i, kind in enumerate(graph.kinds) if kind == "leaf"], np.intp)
        self._value, self._grad = graph.value_name, graph.grad_name
        self._silent = ~np.array(graph.requires_grad)  # where the trace has no gradient
        self._plan = batches(self._code, self._a, self._b, self._n, self._edge)
        self._values, self._grads = np.array(graph.data), np.zeros(count)
        self._objects = [_weak(graph.objects[i]) for i in self._leaves]
        self._root_object = _weak(graph.objects[graph.root])

    def replay(self) -> None:
        """Run forward and backward from the leaves' present `data`.

        Afterwards each leaf's `grad` and the root's `data` and `grad` are true. A leaf's `grad` is set, not added to. The numbers of
        the operations in between stay as they were recorded.
        Raises TypeError if a leaf's `data` is no longer a plain number.
        """
        import numpy as np

        values, grads, leaves = self._values, self._grads, [ref() for ref in self._objects]
        saved = values[self._leaves].tolist()
        try:
            now = [
                last if leaf is None else getattr(leaf, self._value) for leaf, last in zip(leaves, saved, strict=True)
            ]
            values[self._leaves] = array("d", now)
        except TypeError:
            for leaf in leaves:
                if leaf is not None:
                    checked_number(getattr(leaf, self._value))  # says which and why
            raise
        if _compiled and not self._rows:
            _compiled.replay(self._code, self._a, self._b, self._n, values, grads, self.root)
        else:
            from .kernels.tape import run

            grads[:] = run(self._plan, values[:, np.newaxis], self.root, rows=self._rows)[:, 0]
            _warm_soon()
        for leaf, grad in zip(leaves, grads[self._leaves].tolist(), strict=True):
            if leaf is not None:
                setattr(leaf, self._grad, grad)
        root = self._root_object()
        if root is not None:
            setattr(root, self._value, float(values[self.root]))
            setattr(root, self._grad, float(grads[self.root]))

    def set(self, leaf: Any, value: float) -> None:
        """Set the number of `leaf` (a node's id in the trace, or the Value) for later sweeps. The Value itself is not changed."""
        self._values[self._id(leaf)] = checked_number(value)

    def sweep(
        self, leaf: Any, values: Sequence[float], kernel: Literal["numpy", "numba"] | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The whole computation for every number that one leaf is to take, the other leaves standing still.

        leaf: a node's id in the trace, or the Value. values: the numbers, P of them. Returns float64 arrays: the values (P, nodes), the
        gradients (P, nodes; nan where the trace has none) and the local derivatives (P, edges). Where a function is not defined (the
        logarithm of -1) they hold nan or inf. The learner's Values are not touched. kernel: by default numba's if it is loaded already
        (a slider never waits for a compiler), else numpy's.
        Raises TypeError or ValueError if `leaf` is not one of this tape's.
        """
        import numpy as np

        i = self._id(leaf)
        xs = np.asarray(values, np.float64).reshape(-1)
        if kernel == "numba" and not warm():
            raise ValueError(
                "kernel='numba' needs numba, which is not installed here; leave `kernel` out to use numpy."
            )
        if kernel == "numba" and self._rows:
            raise ValueError(
                "kernel='numba' cannot run rows of the derivatives table; leave `kernel` out to use numpy."
            )
        if _compiled and kernel != "numpy" and not self._rows:
            shape = (xs.size, self.nodes)
            rows, grads, slopes = np.empty(shape), np.empty(shape), np.empty((xs.size, self.edges))
            _compiled.sweep(
                self._code, self._a, self._b, self._n, self._edge, self._values, i, xs, self.root, rows, grads, slopes
            )  # fmt: skip
        else:
            from .kernels.tape import run

            columns = np.tile(self._values[:, np.newaxis], (1, xs.size))
            columns[i] = xs
            local = np.empty((self.edges, xs.size))
            grads = np.ascontiguousarray(run(self._plan, columns, self.root, local, self._rows).T)
            rows, slopes = np.ascontiguousarray(columns.T), np.ascontiguousarray(local.T)
        grads[:, self._silent] = np.nan
        return rows, grads, slopes

    def rebind(self, root: Any) -> None:
        """From now on read and write the leaves of `root`, another recording of the same program.

        Raises ValueError, naming the first difference, if the program took another course: then it needs a tape of its own.
        """
        graph = root if isinstance(root, ScalarRecording) else record(root)
        walk, shape = _shape(graph)
        if shape != self._shape:
            raise ValueError(_difference(self._shape, shape))
        old_nodes = dict(zip(self._walk, walk, strict=True))
        self._values[:] = [graph.data[old_nodes[i]] for i in range(self.nodes)]
        self._objects = [_weak(graph.objects[old_nodes[i]]) for i in self._leaves.tolist()]
        self._root_object = _weak(graph.objects[graph.root])

    def _id(self, leaf: Any) -> int:
        if isinstance(leaf, bool) or not hasattr(leaf, "__index__"):
            for i, ref in zip(self._leaves.tolist(), self._objects, strict=True):
                if ref() is leaf:
                    return i
            raise TypeError(
                "the leaf must be one of the Values that this tape's computation started from, or its id in the trace."
            )
        i = leaf.__index__()
        if i not in self._leaves:
            ids = ", ".join(map(str, self._leaves[:12])) + (", ..." if len(self._leaves) > 12 else "")
            raise ValueError(
                f"node {i} is not a leaf of this tape: only leaves can be given a number. The leaves are {ids}."
            )
        return i


def _row(op: Any) -> Any:
    """A row of the derivatives table as the tape's numpy loop runs it."""
    from .core.on_values import slopes_of
    from .kernels.tape import Row

    return Row(len(op.inputs), op.forward, lambda arrays, out: slopes_of(op, arrays, out))


def _weak(obj: Any) -> Callable[[], Any]:
    try:
        return weakref.ref(obj)
    except TypeError:  # a learner's class with __slots__
        return lambda: obj


def _shape(graph: ScalarRecording) -> tuple[list[int], list[tuple[str, str, tuple[int, ...]]]]:
    """What two recordings of one program have in common: everything but the numbers, and the order in which leaves were made.

    Returns the nodes as a walk from the root finds them, parents first, and for each its kind, operation and parents by place in the walk.
    """
    place: dict[int, int] = {}
    stack = [graph.root]
    while stack:
        i = stack[-1]
        waiting = [p for p in reversed(graph.parents[i]) if p not in place]
        if waiting:
            stack += waiting
        else:
            stack.pop()
            place.setdefault(i, len(place))
    walk = list(place)
    return walk, [(graph.kinds[i], graph.ops[i], tuple(place[p] for p in graph.parents[i])) for i in walk]


def _difference(old: list[tuple], new: list[tuple]) -> str:
    advice = "The tape replays one fixed course of the program. Record a tape of the new graph: Tape(root)."
    for before, after in zip(old, new, strict=False):
        if before != after:
            return (
                f"the graph has changed its shape: where {_says(before)} was computed, now {_says(after)} is. {advice}"
            )
    return f"the graph has changed its shape: it had {len(old)} nodes and now has {len(new)}. {advice}"


def _says(node: tuple) -> str:
    kind, op, parents = node
    return f"{op!r} of {' and '.join(f'number {p + 1}' for p in parents)}" if parents else f"a {kind}"
