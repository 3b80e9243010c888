"""The film of a training run: the weights, gradients and loss of each step, and the program that computes the loss.

What lives here: `Film`, which records while a loop runs; what it measures (the learning rate); how it is written for a page (`data`).
What does not: reading the program out of a graph (program/samples.py, program/tensor_samples.py), pictures and widgets (widgets/film/).
"""

from __future__ import annotations

import base64
import contextlib
import math
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .program.samples import Data, SampleProgram, UnclearError
from .program.tensor_samples import TensorProgram
from .scalar import Value
from .tensors.tensor import Tensor
from .tracing.naming import walk
from .tracing.own_classes import Layout, as_number, layout_of
from .words import plural

MOST_CLASSES = 10
MOST_WEIGHTS = 20_000  # of a model with more weights only CHOSEN of them are kept
CHOSEN = 2000
MOST_LISTED = 4000  # coordinates that are written as digits

CLEARED = "Every gradient is 0, but the loss depends on the weights: backward was not called, or film.step came after the gradients were cleared. Put film.step(loss) between backward and the line that clears them."  # noqa: E501
NOT_FOUND = "watch found no weights in {}: give it an object with parameters(), or an object, list or dict that holds the weights, or a list of them."  # noqa: E501


class Frame(NamedTuple):
    step: int  # from 1
    weights: Any  # before the step
    grads: Any
    loss: float
    rows: Sequence[int] | None  # which points the loss was computed from; None for all, or if that is not known


class Film:
    """A recorded training run. `step(loss)` in the loop adds a frame, anywhere between backward and the next clearing of the gradients.

    model: an object with `parameters()`, or whatever holds the weights. points, labels: what it learns from. every: record each step, or
    each second, third, ... keep: above so many frames every second one is dropped.

    >>> from minigrad import Value
    >>> w = Value(2.0)
    >>> film = Film([w])
    >>> for _ in range(3):
    ...     loss = (w - 1) ** 2
    ...     w.grad = 0.0
    ...     loss.backward()
    ...     film.step(loss)
    ...     w.data -= 0.25 * w.grad
    >>> len(film), film[1].weights, film[1].grads, film[1].loss
    (3, [1.5], [1.0], 0.25)
    >>> film.rates()
    [0.25, 0.25, 0.25]
    """

    def __init__(self, model: Any, points: Any = None, labels: Any = None, every: int = 1, keep: int = 500):
        if every < 1 or keep < 2:
            raise ValueError("every is at least 1, and keep at least 2")
        self.model, self.every, self.keep = model, every, keep
        self.parameters = _parameters(model)
        if not self.parameters:
            raise ValueError(NOT_FOUND.format(type(model).__name__))
        self.tensors = isinstance(self.parameters[0], Tensor)
        self.names = _names(model, self.parameters)
        self.weights = len(self.names)  # of the model
        self._chosen: Any = slice(None)
        if self.weights > MOST_WEIGHTS:
            self._chosen = np.linspace(0, self.weights - 1, CHOSEN).astype(int)
            self.names = [self.names[i] for i in self._chosen]
        self.data_of = None if points is None or labels is None else Data.of(_plain(points), _plain(labels))
        self._value, self._grad = "data", "grad"
        if not self.tensors and isinstance(found := layout_of(self.parameters[0]), Layout):
            self._value, self._grad = found.value, found.grad
        self.frames: list[Frame] = []
        self.program: SampleProgram | TensorProgram | None = None
        self.note = ""  # why there is no program, as a sentence
        self.late: bool | None = None  # is step called after the update?
        self.seen = 0  # steps
        self.listener: Callable[[], None] | None = None  # told after each new frame
        self._rates: dict[int, float | None] = {}  # by step
        self._rate: float | None = None  # the last one that was measured
        self._before: np.ndarray = self._read(self._value)  # the weights at the last call
        self._last: Frame | None = None  # whose learning rate is not measured yet
        self._replaced = False  # does the loop make new weights at each step?

    # Recording

    def _read(self, field: str) -> Any:
        if not self.tensors:
            return np.array([getattr(p, field) or 0.0 for p in self.parameters], float)[self._chosen]
        arrays = [p.detach() if field == "data" else p.grad for p in self.parameters]
        of = zip(arrays, self.parameters, strict=True)
        return np.concatenate(
            [np.zeros(p.numel()) if a is None else np.asarray(a, dtype=float).ravel() for a, p in of]
        )[self._chosen]

    def step(self, loss: Any, weights: Sequence[Any] | None = None, rows: Any = None) -> None:
        """Record this step. loss: what backward was called on. weights: for a loop that makes new weights at each step. rows: the points
        that a loss of Tensors was computed from, if these are not all."""
        if weights is not None:
            self.parameters, self._replaced = list(weights), True
        self.seen += 1
        now = self._read(self._value)
        if self.late is None:
            self._begin(loss, now, rows)
        if not self.late:
            self._measure(now)
        if (self.seen - 1) % self.every == 0:
            before = self._before if self.late else now
            frame = Frame(
                self.seen, before, self._read(self._grad), _number(loss, self._value), self._batch(loss, rows)
            )
            self.frames.append(frame)
            self._last = frame
            if self.late:
                self._measure(now)
            if len(self.frames) > self.keep:
                self.frames = self.frames[::2]
                self.every *= 2
        self._before = now
        if self.listener is not None:
            self.listener()

    def _begin(self, loss: Any, now: Sequence[float], rows: Any) -> None:
        """The first step: is the update done already, and which program is this?"""
        self.late = not self._replaced and not np.array_equal(now, self._before)
        grads = self._read(self._grad)
        zero = not any(grads)
        if self.data_of is None:
            self.note = (
                "The film was made without points and labels, so it has no map over the plane." if not zero else ""
            )
        try:
            if len(self.names) < self.weights:
                self.note = f"The film keeps {len(self.names):,} of the {self.weights:,} weights, and shows no network."
            elif self.data_of is not None:
                self._find_program(loss, grads, now, rows)
        except UnclearError as error:
            self.note = f"The film shows no network, because {error}."
        except Exception as error:  # a class that cannot be read: the curve and the weights remain
            self.note = (
                f"The film shows no network: {str(error).splitlines()[0] if str(error) else type(error).__name__}"
            )
        expected = getattr(self.program, "gradients", None)
        cleared = any(expected) if expected else self.tensors and all(p.grad is None for p in self.parameters)
        if zero and cleared:
            raise ValueError(CLEARED)

    def _find_program(self, loss: Any, grads: Sequence[float], now: Sequence[float], rows) -> None:
        assert self.data_of is not None
        if not self.tensors:
            self.program = SampleProgram(loss, self.parameters, self.names, self.data_of)
            if not self.program.units:
                self.note = "The film shows no network, because its operations are not those of layers of units."
            return
        program = TensorProgram(self.model, self.parameters, self.names, self.data_of)
        at = np.asarray(self._before if self.late else now)
        used = [*(self._batch(loss, rows) or range(len(self.data_of.points)))]
        if not program.with_loss(_number(loss, self._value), np.asarray(grads), at, used):
            self.note = (
                "The loss is not one that the page can compute, so there is no branch and no curve along a step."
            )
        self.program = program

    def _batch(self, loss: Any, rows: Any) -> Sequence[int] | None:
        program = self.program
        if rows is not None:
            return [int(i) for i in (rows.tolist() if hasattr(rows, "tolist") else rows)]
        if not isinstance(program, SampleProgram) or program.all_points:
            return None
        if self.seen == 1:
            return program.rows
        try:
            return program.batch(loss, self.parameters)
        except Exception as error:
            self.program = None
            self.note = f"The film shows no network, because {error}."
            return None

    def _measure(self, now: np.ndarray) -> None:
        """The learning rate of the frame before: the number c of Δw = −c × gradient, if there is one."""
        if self._last is None:
            return
        frame, self._last = self._last, None
        before, grads = frame.weights, frame.grads
        with np.errstate(all="ignore"):
            moved, square = now - before, float(grads @ grads)
            if not square:  # no gradient tells no rate: it is still that of the step before
                self._rates[frame.step] = self._rate if not moved.any() else None
                return
            tiny = 4 * (1.2e-7 if self.tensors else 4e-16) * float(np.abs(before).max())
            # Nothing but rounding, as of dead units
            if max(np.abs(moved).max(), np.abs(grads).max() * (self._rate or 1.0)) <= tiny:
                self._rates[frame.step] = self._rate
                return
            rate = -float(moved @ grads) / square
            # float32 weights are rounded when they are written, each by up to 6e-8 of its size
            near = 1e-6 * np.abs(moved).max() + (1.2e-7 if self.tensors else 4e-16) * np.abs(before).max()
            fits = bool(np.abs(moved + rate * grads).max() <= near)
        self._rate = self._rates[frame.step] = float(f"{rate:.{5 if self.tensors else 9}g}") if fits else None

    # What was recorded

    def __len__(self) -> int:
        return len(self.frames)

    def __getitem__(self, k: int) -> Frame:
        """Weights before a step, its gradients and its loss. k counts the recorded steps from 0."""
        frame = self.frames[k]
        return frame._replace(weights=frame.weights.tolist(), grads=frame.grads.tolist())

    def rates(self, ended: bool = True) -> list[float | None]:
        """The learning rate of each recorded step; None where the step was not −rate × gradient. ended: the last update is done."""
        if ended and not self.late:
            self._measure(self._read(self._value))
        return [self._rates.get(frame.step) for frame in self.frames]

    def last(self) -> Sequence[float]:
        """The weights as they are now: those after the last step, when the loop has ended."""
        return self._read(self._value)

    @property
    def title(self) -> str:
        """ "2-8-1" for a network of these columns."""
        if not self.program or not self.program.units:
            return plural(len(self.names), "weight")
        layers = [unit["layer"] for unit in self.program.units]
        assert self.data_of is not None
        return "-".join(map(str, [self.data_of.points.shape[1], *(layers.count(k) for k in range(1, max(layers) + 1))]))

    def about(self) -> dict[str, Any]:
        """What a page has to know before the first frame."""
        program, data = self.program, self.data_of
        found: dict[str, Any] = {"title": self.title, "names": self.names, "note": self.note, "engine": self._engine()}
        if data is not None:
            found |= {"points": _table(data.points), "labels": data.labels.tolist(), "classes": self.classes}
        if program is not None:
            found |= {"tape": program.tape, "coefficient": program.coefficient, "rest": program.rest, "units": program.units,
                      "boundary": self.boundary, "margins": program.tape[-1][0] == "relu" and len(self.outputs) == 1,
                      "whole": isinstance(program, SampleProgram) or not self.note}  # fmt: skip
        return found

    @property
    def classes(self) -> list[float]:
        """The labels, if they are those of a few kinds of points, else []."""
        if self.data_of is None:
            return []
        kinds = np.unique(self.data_of.labels)
        few = len(kinds) == 2 or len(kinds) <= MOST_CLASSES and bool((kinds == kinds.round()).all())
        return kinds.tolist() if few else []

    @property
    def outputs(self) -> list[dict[str, Any]]:
        """The units of the last layer."""
        units = self.program.units if self.program else []
        return [u for u in units if u["layer"] == units[-1]["layer"]]

    @property
    def boundary(self) -> float:
        """The sum of a single output at which it decides: 0, or for a squared error the middle between both labels."""
        kinds, outputs = self.classes, self.outputs
        if self.program is None or len(outputs) != 1 or len(kinds) != 2 or outputs[0]["act"] != "linear":
            return 0.0
        squared = self.program.tape[-1][0] in ("power", "*")
        return sum(kinds) / 2 if squared else 0.0

    def _engine(self) -> str:
        if self.tensors:
            return "Tensors"
        kind = type(self.parameters[0])
        return "minigrad.Value" if kind is Value else f"{kind.__name__} of your own"

    def data(self, most: int | None = None) -> dict[str, Any]:
        """The film for a page: the first weights as float32, then as float16 what is added to the weights as they will be read, so that
        errors do not add up, and the gradients. Each array parameter by parameter, low bytes first, deflated, in base64. most: how many
        weights all frames may have together; of a longer film every second, third, ... frame is left out."""
        stride = 1 if most is None else max(1, math.ceil(len(self.frames) * len(self.names) / most))
        frames, rates = self.frames[::stride], self.rates()[::stride]
        table = np.array([[*f.weights] for f in frames] + [[*self.last()]], float) if frames else np.zeros((1, 0))
        grads = np.array([[*f.grads] for f in frames], float) if frames else np.zeros((0, table.shape[1]))
        first, moves, move_scale = deltas(table)
        halves, grad_scale = halved(grads)
        known = {r for r in rates if r is not None}
        found = self.about() | {
            "steps": [f.step for f in frames], "every": self.every * stride, "count": len(self.names), "seen": self.seen,
            "losses": [_rounded(f.loss, 7) for f in frames],
            "rates": next(iter(known)) if len(known) == 1 and None not in rates else rates if known else None,
            "first": packed(first), "moves": packed(moves), "grads": packed(halves),
            "scales": [_sparse(move_scale), _sparse(grad_scale)],
        }  # fmt: skip
        if any(f.rows is not None for f in frames):
            sizes = [len(f.rows or ()) for f in frames]
            flat = np.array([i for f in frames for i in f.rows or ()], np.uint16)
            found["batches"] = {"sizes": sizes[0] if len(set(sizes)) == 1 else sizes, "rows": packed(flat)}
        return found


@contextlib.contextmanager
def each_backward(function: Callable, tell: Callable[[Any, Mapping[str, Any]], None]) -> Iterator[None]:
    """While a function that trains runs: tell(loss, variables) after each backward(loss) in it. variables: those of the loop.

    Raises ValueError for a function whose module has no `backward`."""
    names = function.__globals__
    run = names.get("backward")
    if not callable(run):
        raise ValueError(f"{function.__name__} cannot be watched: its loop does not call a function backward(loss)")

    def told(loss: Any, *more: Any, **options: Any) -> Any:
        out = run(loss, *more, **options)
        tell(loss, sys._getframe(1).f_locals)
        return out

    names["backward"] = told
    try:
        yield
    finally:
        if names.get("backward") is told:
            names["backward"] = run


def model_among(variables: Mapping[str, Any]) -> Any:
    """The model that a loop with these variables trains: the first of them that has parameters()."""
    for thing in variables.values():
        if callable(getattr(thing, "parameters", None)) and not isinstance(thing, type):
            return thing
    raise ValueError("the loop has no variable with parameters(), so its weights are not known")


# Weights


def _is_weight(thing: Any) -> bool:
    if isinstance(thing, Tensor):
        return thing.requires_grad
    if isinstance(thing, Value):
        return not thing._prev
    if as_number(thing) is not None or isinstance(thing, (str, bytes, Mapping, list, tuple, set, type, np.ndarray)):
        return False
    if callable(thing) or not (hasattr(thing, "__dict__") or hasattr(type(thing), "__slots__")):
        return False
    found = layout_of(thing)
    return isinstance(found, Layout) and not getattr(thing, found.operands[0], None)


def _parameters(model: Any) -> list[Any]:
    """What training changes: model.parameters(), else every number without operands, or Tensor that requires gradients, in the model."""
    if callable(own := getattr(model, "parameters", None)):
        return list(own())
    weights: dict[int, bool] = {}

    def stop(key: int) -> bool:
        return weights.get(key, False)

    found: dict[int, Any] = {}
    for _, thing in walk({"model": model}, stop):
        if id(thing) not in weights:
            weights[id(thing)] = _is_weight(thing)
            if weights[id(thing)]:
                found[id(thing)] = thing
    return list(found.values())


def _names(model: Any, parameters: Sequence[Any]) -> list[str]:
    """A name for each number: "units[3][0]", or "0.weight[2][1]" for the numbers of a Tensor."""
    ids = {id(p) for p in parameters}
    found: dict[int, str] = {}
    for text, thing in walk({"model": model}, ids.__contains__):
        found.setdefault(id(thing), text.removeprefix("model").removeprefix("."))
    out: list[str] = []
    for k, p in enumerate(parameters):
        name = found.get(id(p)) or f"w{k}"
        if name.startswith("["):
            name = "model" + name
        if isinstance(p, Tensor):
            places = np.ndindex(*p.shape)
            out += [name + "".join(f"[{i}]" for i in place) for place in places]
        else:
            out.append(name)
    return out


def _plain(table: Any) -> Any:
    return table.tolist() if hasattr(table, "tolist") else list(table)


def _number(loss: Any, value: str) -> float:
    """The number of a loss; value: the attribute that has it in a class of numbers."""
    if isinstance(loss, Tensor):
        return float(loss.item())
    try:
        return float(loss if isinstance(loss, (int, float)) else getattr(loss, value))
    except (AttributeError, TypeError):
        kind = type(loss).__name__
        raise TypeError(f"film.step needs the loss, the number that backward was called on, not {kind}") from None


# Writing


def _table(points: np.ndarray) -> Any:
    """Points as lists, or where there are many of them as float16."""
    if points.size <= MOST_LISTED:
        return np.round(points, 9).tolist()
    return {"packed": packed(points.astype(np.float16)), "columns": points.shape[1]}


def deltas(frames: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[float]]:
    """The first frame as float32, and float16 differences of each next one to the frames as they will be read; a factor for each frame."""
    with np.errstate(all="ignore"):
        first = frames[0].astype(np.float32)
        at = first.astype(float)
        out, scales = np.zeros((max(0, len(frames) - 1), frames.shape[1]), np.float16), list[float]()
        for k, frame in enumerate(frames[1:]):
            scale = _scale(frame - at)
            out[k] = ((frame - at) / scale).astype(np.float16)
            at = at + out[k].astype(float) * scale
            scales.append(scale)
    return first, out, scales


def halved(table: np.ndarray) -> tuple[np.ndarray, list[float]]:
    """A table as float16, with a factor for each of its rows."""
    scales = [_scale(row) for row in table]
    with np.errstate(all="ignore"):
        return (table / np.array(scales)[:, None]).astype(np.float16) if len(table) else table.astype(
            np.float16
        ), scales


def _scale(row: np.ndarray) -> float:
    """A power of two by which a row is divided so that float16 can hold it: 1 unless its largest number is very large or very small."""
    finite = np.abs(row[np.isfinite(row)])
    most = float(finite.max()) if finite.size else 0.0
    if most == 0 or 2.0**-6 < most < 2.0**14:
        return 1.0
    return 2.0 ** math.floor(math.log2(most)) if math.isfinite(most) else 1.0


def _sparse(scales: list[float]) -> list[list[float]]:
    return [[k, s] for k, s in enumerate(scales) if s != 1.0]


def packed(a: np.ndarray) -> str:
    """An array parameter by parameter, first all low bytes, then all next ones, deflated: neighbouring bytes then resemble each other."""
    b = np.ascontiguousarray(a.T)
    raw = b.view(np.uint8).reshape(-1, b.itemsize).T.tobytes() if b.size else b""
    z = zlib.compressobj(9, zlib.DEFLATED, -15)
    return base64.b64encode(z.compress(raw) + z.flush()).decode()


def unpacked(text: str, kind: Any, columns: int = 0) -> np.ndarray:
    """What `packed` has packed; columns: of a table."""
    raw = np.frombuffer(zlib.decompress(base64.b64decode(text), -15), np.uint8)
    size = np.dtype(kind).itemsize
    flat = np.ascontiguousarray(raw.reshape(size, -1).T).reshape(-1).view(kind)
    return flat.reshape(columns, -1).T if columns else flat


def _rounded(x: float, digits: int) -> float | None:
    return float(f"{x:.{digits}g}") if math.isfinite(x) else None


def tables(data: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """The weights before each frame, and after the last one, and the gradients, as a page reads them from `data`."""
    count, frames = data["count"], len(data["steps"])
    if not frames:
        return np.zeros((1, count)), np.zeros((0, count))
    weights, grads = np.zeros((frames + 1, count)), np.array(unpacked(data["grads"], np.float16, count), float)
    moves = np.array(unpacked(data["moves"], np.float16, count), float)
    for table, scales in zip((moves, grads), data["scales"], strict=True):
        for k, scale in scales:
            table[k] *= scale
    weights[0] = unpacked(data["first"], np.float32)
    with np.errstate(all="ignore"):
        for k in range(frames):
            weights[k + 1] = weights[k] + moves[k]
    return weights, grads
