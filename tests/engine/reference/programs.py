"""Random programs as plain data: up to hundreds of operations with reuse, views, in-place writes, slices and no_grad regions.

`build` turns lists of numbers, one per step, into a program: whatever the numbers are, a program comes out, so that hypothesis can draw and
shrink them freely. `run` carries it out in a library (real torch, or minigrad under that name) and returns plain data to compare.

A program is {"inputs": [[shape, requires_grad], ...], "steps": [[operation, operands, parameters, in no_grad], ...]}. Operands are
positions in the list of values: the inputs, then one result per step; in-place steps give the tensor that they wrote to. `build` follows
shapes and the sizes of numbers, so that programs are valid and their numbers moderate, and mostly avoids what autograd forbids
(overwriting what was saved, leaves, several views); now and then it does not, and then both libraries must refuse at the same step.
"""

import warnings
from collections.abc import Callable, Iterator
from math import prod
from typing import Any

import numpy as np

Program = dict[str, Any]
Shape = tuple[int, ...]

SAVES_INPUT, SAVES_OUTPUT, SAVES_BOTH, SAVES_NOTHING = "input", "output", "both", "nothing"
ELEMENTWISE: dict[str, tuple[Callable, Callable, str]] = {  # run, the bound of the result from the operand's, what is saved
    "tanh": (lambda t, a: t.tanh(a), lambda m: 1, SAVES_OUTPUT),
    "sin": (lambda t, a: a.sin(), lambda m: 1, SAVES_INPUT),
    "sigmoid": (lambda t, a: t.sigmoid(a), lambda m: 1, SAVES_OUTPUT),
    "exp of tanh": (lambda t, a: a.tanh().exp(), lambda m: 3, SAVES_NOTHING),
    "relu": (lambda t, a: t.relu(a), lambda m: m, SAVES_OUTPUT),
    "abs": (lambda t, a: abs(a), lambda m: m, SAVES_INPUT),
    "neg": (lambda t, a: -a, lambda m: m, SAVES_NOTHING),
    "square": (lambda t, a: a**2, lambda m: m * m, SAVES_INPUT),
    "log": (lambda t, a: t.log(a.abs() + 1.5), lambda m: m + 1, SAVES_INPUT),
    "rsqrt": (lambda t, a: t.rsqrt(a * a + 1), lambda m: 1, SAVES_INPUT),
    "power": (lambda t, a: (a.abs() + 0.5) ** 1.5, lambda m: (m + 1) ** 1.5, SAVES_INPUT),
    "clamp": (lambda t, a: a.clamp(-0.5, 0.7), lambda m: 1, SAVES_INPUT),
    "half": (lambda t, a: a * 0.5, lambda m: m / 2, SAVES_NOTHING),
    "minus": (lambda t, a: 1.5 - a, lambda m: m + 2, SAVES_NOTHING),
    "reciprocal": (lambda t, a: 2 / (a * a + 2), lambda m: 1, SAVES_INPUT),
    "masked_fill": (lambda t, a: a.masked_fill(a > 0.3, -0.25), lambda m: m, SAVES_NOTHING),
    "mask": (lambda t, a: a * (a > 0), lambda m: m, SAVES_INPUT),
    "clone": (lambda t, a: a.clone(), lambda m: m, SAVES_NOTHING),
    "tril": (lambda t, a: t.tril(a) if a.dim() > 1 else a + 0, lambda m: m, SAVES_NOTHING),
    "flip": (lambda t, a: a.flip(0) if a.dim() else a + 0, lambda m: m, SAVES_NOTHING),
    "roll": (lambda t, a: a.roll(1), lambda m: m, SAVES_NOTHING),
    "contiguous times 1": (lambda t, a: a.contiguous() * 1, lambda m: m, SAVES_NOTHING),
}
BINARY: dict[str, tuple[Callable, Callable, str]] = {
    "add": (lambda t, a, b: a + b, lambda m, n: m + n, SAVES_NOTHING),
    "sub": (lambda t, a, b: t.sub(a, b, alpha=0.5), lambda m, n: m + n, SAVES_NOTHING),
    "mul": (lambda t, a, b: a * b, lambda m, n: m * n, SAVES_INPUT),
    "div": (lambda t, a, b: a / (b.abs() + 1), lambda m, n: m, SAVES_INPUT),
    "maximum": (lambda t, a, b: t.maximum(a, b), max, SAVES_INPUT),
    "minimum": (lambda t, a, b: t.minimum(a, b), max, SAVES_INPUT),
    "where": (lambda t, a, b: t.where(a > b, a, b * 0.5), max, SAVES_NOTHING),
    "lerp": (lambda t, a, b: t.lerp(a, b, 0.25), max, SAVES_NOTHING),
    "atan2": (lambda t, a, b: t.atan2(a, b + 3), lambda m, n: 4, SAVES_INPUT),
}
REDUCE: dict[str, tuple[Callable, Callable, str]] = {  # over one dimension of n elements
    "sum": (lambda t, a, d, k: a.sum(d, keepdim=k), lambda m, n: m * n, SAVES_NOTHING),
    "mean": (lambda t, a, d, k: t.mean(a, dim=d, keepdim=k), lambda m, n: m, SAVES_NOTHING),
    "amax": (lambda t, a, d, k: a.amax(d, keepdim=k), lambda m, n: m, SAVES_BOTH),
    "max": (lambda t, a, d, k: a.max(d, keepdim=k).values, lambda m, n: m, SAVES_NOTHING),
    "min": (lambda t, a, d, k: t.min(a, dim=d, keepdim=k)[0], lambda m, n: m, SAVES_NOTHING),
    "logsumexp": (lambda t, a, d, k: t.logsumexp(a, d, keepdim=k), lambda m, n: m + 2, SAVES_BOTH),
    "prod": (lambda t, a, d, k: t.prod(a, d, keepdim=k), lambda m, n: max(1, m) ** n, SAVES_BOTH),
    "var": (lambda t, a, d, k: a.var(d, correction=0, keepdim=k), lambda m, n: 4 * m * m, SAVES_INPUT),
}
ALONG: dict[str, tuple[Callable, Callable, str]] = {  # along one dimension, the shape stays
    "softmax": (lambda t, a, d: t.softmax(a, d), lambda m, n: 1, SAVES_OUTPUT),
    "log_softmax": (lambda t, a, d: a.log_softmax(d), lambda m, n: 2 * m + 3, SAVES_OUTPUT),
    "cumsum": (lambda t, a, d: a.cumsum(d), lambda m, n: n * m, SAVES_NOTHING),
    "sort": (lambda t, a, d: t.sort(a, dim=d, stable=True).values, lambda m, n: m, SAVES_NOTHING),
}
SHAPES: dict[str, Callable] = {  # run(torch, operand, *parameters); views but for cat and the like
    "reshape": lambda t, a, shape: a.reshape(shape),
    "transpose": lambda t, a, i, j: a.transpose(i, j),
    "permute": lambda t, a, dims: a.permute(*dims),
    "unsqueeze": lambda t, a, d: a.unsqueeze(d),
    "squeeze": lambda t, a: a.squeeze(),
    "expand": lambda t, a, shape: a.expand(*shape),
    "index": lambda t, a, parts: a[_index(t, parts)],
    "diagonal": lambda t, a: a.diagonal(),
    "chunk": lambda t, a, n, d, k: a.chunk(n, d)[k],
    "unbind": lambda t, a, d, k: a.unbind(d)[k],
    "detach": lambda t, a: a.detach(),
    "repeat": lambda t, a, times: a.repeat(*times),
    "index_select": lambda t, a, d, i: t.index_select(a, d, _whole(t, i)),
    "gather": lambda t, a, d, i: t.gather(a, d, _whole(t, i)),
    "argsort": lambda t, a, d: t.take_along_dim(a, t.argsort(a.detach(), dim=d, stable=True), d),
}
SEVERAL: dict[str, Callable] = {
    "cat": lambda t, a, b, d: t.cat([a, b], d),
    "stack": lambda t, a, b, d: t.stack([a, b], d),
    "matmul": lambda t, a, b: a @ b * 0.5,
    "outer": lambda t, a, b: t.outer(a, b),
    "einsum": lambda t, a, b: t.einsum("ij,kj->ik", a, b),
    "index_add": lambda t, a, b, i: t.index_add(a, 0, _whole(t, i), b),
    "scatter_add": lambda t, a, b, i: t.scatter_add(a, 0, _whole(t, i), b),
}
WRITES: dict[str, tuple[Callable, Callable]] = {  # run(torch, target, source or None, parts of an index), bound(target's, source's)
    "add_": (lambda t, a, b, _: a.add_(b), lambda m, n: m + n),
    "sub_": (lambda t, a, b, _: a.sub_(b, alpha=2), lambda m, n: m + 2 * n),
    "mul_": (lambda t, a, b, _: a.mul_(b), lambda m, n: m * n),
    "copy_": (lambda t, a, b, _: a.copy_(b), lambda m, n: n),
    "write slice": (lambda t, a, b, parts: _write(t, a, parts, b), max),
    "add to slice": (lambda t, a, b, parts: _write(t, a, parts, b, add=True), lambda m, n: m + n),
    "write mask": (lambda t, a, b, _: _write_mask(t, a), lambda m, n: m + 1),
    "mul_ number": (lambda t, a, b, _: a.mul_(0.75), lambda m, n: m),
    "add_ number": (lambda t, a, b, _: a.add_(0.1), lambda m, n: m + 1),
    "tanh_": (lambda t, a, b, _: a.tanh_(), lambda m, n: 1),
    "sigmoid_": (lambda t, a, b, _: a.sigmoid_(), lambda m, n: 1),
    "relu_": (lambda t, a, b, _: a.relu_(), lambda m, n: m),
    "clamp_": (lambda t, a, b, _: a.clamp_(-0.6, 0.8), lambda m, n: 1),
    "zero_": (lambda t, a, b, _: a.zero_(), lambda m, n: 0),
    "square in place": (lambda t, a, b, _: a.pow_(2), lambda m, n: m * m),
}
TAKES_SOURCE = {"add_", "sub_", "mul_", "copy_", "write slice", "add to slice"}
SAVING_WRITES = {"mul_", "tanh_", "sigmoid_", "relu_", "clamp_", "square in place"}
OVERSAVED = {
    "gather",
    "argsort",
    "index_add",
    "prod",
    "amax",
    "logsumexp",
}  # PyTorch keeps tensors for these of which minigrad needs the shape
LIMIT = 50.0  # numbers stay below this


def _whole(torch: Any, numbers: list[Any]) -> Any:
    return torch.tensor(numbers, dtype=torch.int64)  # also where there are none


PARTS: dict[str, Callable] = {
    "s": lambda torch, start, stop, step: slice(start, stop, step),
    "i": lambda torch, number: number,
    "n": lambda torch: None,
    "e": lambda torch: ...,
    "l": lambda torch, numbers: torch.tensor(numbers),
}


def _index(torch: Any, parts: list[Any]) -> Any:
    """[["s", 1, None, 2], ["i", 2], ["n"], ["e"], ["l", [0, 2]]] as the index [1::2, 2, None, ..., tensor([0, 2])]"""
    return tuple(PARTS[kind](torch, *rest) for kind, *rest in parts)


def _write(torch: Any, a: Any, parts: list[Any], b: Any, add: bool = False) -> Any:
    index = _index(torch, parts)
    if add:
        a[index] += b
    else:
        a[index] = b
    return a


def _write_mask(torch: Any, a: Any) -> Any:
    a[a < 0] = 0.25
    return a


# Running -------------------------------------------------------------------------------------------------------------


def numbers_of(position: int, shape: Shape) -> np.ndarray:
    """An input's numbers: no two alike in a program."""
    rng = np.random.RandomState(1000 + position)
    return rng.uniform(-1, 1, shape)


def _digest(torch: Any, x: Any) -> list[Any]:
    flat = x.detach().clone().numpy().ravel()
    return [list(x.shape), float(f"{float((np.cos(np.arange(flat.size)) * flat).sum()):.9g}"), int(x.requires_grad)]


def run(torch: Any, program: Program) -> dict[str, Any]:
    """What each step gives (shape, a weighted sum, requires_grad), then the inputs' gradients and every value's version; or where it fails.

    Short programs without writes have their gradient differentiated again.
    """
    second = len(program["steps"]) <= 60 and not any(step[0] in WRITES for step in program["steps"])
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return _run(torch, program, second)


def _step(torch: Any, values: list[Any], step: list[Any]) -> Any:
    operation, operands, parameters, no_grad = step
    tensors = [values[i] for i in operands]
    with torch.set_grad_enabled(not no_grad):
        if operation in WRITES:
            return WRITES[operation][0](torch, tensors[0], tensors[1] if len(tensors) > 1 else None, parameters)
        for table in (ELEMENTWISE, BINARY, REDUCE, ALONG):
            if operation in table:
                return table[operation][0](torch, *tensors, *parameters)
        return {**SHAPES, **SEVERAL}[operation](torch, *tensors, *parameters)


def _run(torch: Any, program: Program, second: bool) -> dict[str, Any]:
    values = [
        torch.tensor(numbers_of(i, tuple(shape)), requires_grad=bool(requires_grad))
        for i, (shape, requires_grad) in enumerate(program["inputs"])
    ]
    leaves = list(values)
    digests: list[Any] = []
    for position, step in enumerate(program["steps"]):
        try:
            values.append(_step(torch, values, step))
            digests.append(_digest(torch, values[-1]))
        except Exception as e:
            return {"steps": digests, "error": [position, *_error(e)]}
    found: dict[str, Any] = {"steps": digests, "versions": [v._version for v in values]}
    wrt = [leaf for leaf in leaves if leaf.requires_grad and leaf.is_leaf]
    try:
        roots = [v for v in values[-4:] if v.requires_grad]
        if not roots or not wrt:
            return found
        loss = sum((v * torch.tensor(np.sin(1.0 + np.arange(v.numel())).reshape(tuple(v.shape)))).sum() for v in roots)
        gradients = torch.autograd.grad(loss, wrt, allow_unused=True, create_graph=second)
        found["grad"] = [None if g is None else _numbers(g) for g in gradients]
        if second:
            parts = [(g * (g * 0.1 + 1)).sum() for g in gradients if g is not None and g.requires_grad]
            if parts:
                found["second"] = [None if g is None else _numbers(g) for g in torch.autograd.grad(sum(parts), wrt, allow_unused=True)]
    except Exception as e:
        found["error"] = ["backward", *_error(e)]
    return found


def _error(e: Exception) -> list[str]:
    return [type(e).__name__, str(e).split("\n")[0][:100]]


def _numbers(x: Any) -> list[Any]:
    return [list(x.shape), [float(f"{v:.9g}") for v in x.detach().clone().reshape(-1).tolist()]]


def difference(mine: dict[str, Any], theirs: dict[str, Any], program: Program) -> str | None:
    """The first difference between two runs, in words."""
    for i, (a, b) in enumerate(zip(mine["steps"], theirs["steps"], strict=False)):
        viewed = program["steps"][i][0] == "reshape" and program["steps"][i][3]  # in no_grad: a leaf if a view, a constant if a copy
        if a[0] != b[0] or (a[2] != b[2] and not viewed) or not _close(a[1], b[1]):
            return f"step {i} {program['steps'][i]}: {a}; PyTorch: {b} (shape, weighted sum, requires_grad)"
    if (
        theirs.get("error", [])[:2] == ["backward", "RuntimeError"]
        and "error" not in mine
        and any(s[0] in OVERSAVED for s in program["steps"])
    ):
        return None
    if mine.get("error", [])[:2] != theirs.get("error", [])[:2]:  # the sentence is there to be read
        return f"stops with {mine.get('error')}; PyTorch with {theirs.get('error')}"
    for part in ("grad", "second"):
        for i, (a, b) in enumerate(zip(mine.get(part, []), theirs.get(part, []), strict=True)):
            if part == "second" and not np.any((a or [0, 0])[1]) and not np.any((b or [0, 0])[1]):
                continue  # None or zeros: a matter of how the rule is written
            if (a is None) != (b is None) or (a and b and (a[0] != b[0] or not _close(a[1], b[1]))):
                return f"{part} of input {i}: {a}; PyTorch: {b}"
    if mine.get("versions") != theirs.get("versions") and all(step[0] != "reshape" for step in program["steps"]):  # a view or a copy
        return f"versions {mine.get('versions')}; PyTorch: {theirs.get('versions')}"
    return None


def _close(a: Any, b: Any) -> bool:
    a, b = np.array(a), np.array(b)
    scale = max(1.0, np.abs(b[np.isfinite(b)]).max(initial=0))
    return bool(np.isclose(a, b, rtol=1e-6, atol=1e-7 * scale, equal_nan=True).all())


# Building ------------------------------------------------------------------------------------------------------------


class _Value:
    def __init__(self, shape: Shape, bound: float, group: int, *, grad: bool = False, overlaps: bool = False, fragile: bool = False):
        self.shape, self.bound, self.group, self.grad, self.overlaps, self.fragile = shape, bound, group, grad, overlaps, fragile


class _Numbers:
    """One step's numbers, taken one by one; past the end there are zeros."""

    def __init__(self, numbers: list[int]):
        self.left: Iterator[int] = iter(numbers)

    def below(self, n: int) -> int:
        return next(self.left, 0) % n

    def one_of(self, choices: list[Any]) -> Any:
        return choices[self.below(len(choices))]


KINDS = ["elementwise"] * 4 + ["binary"] * 5 + ["shape"] * 5 + ["reduce", "along"] + ["several"] * 3 + ["write"] * 5 + ["no_grad"]


class _Builder:
    def __init__(self) -> None:
        self.values: list[_Value] = []
        self.steps: list[list[Any]] = []
        self.inputs: list[list[Any]] = []
        self.groups = 0
        self.saved: set[int] = set()  # groups (storages) of which a backward rule may keep something
        self.leaves: set[int] = set()  # groups of inputs that require grad
        self.no_grad_left = 0

    def fresh(self) -> int:
        self.groups += 1
        return self.groups

    def input(self, shape: Shape, grad: bool) -> None:
        group = self.fresh()
        self.inputs.append([list(shape), int(grad)])
        self.values.append(_Value(shape, 1.0, group, grad=grad))
        if grad:
            self.leaves.add(group)

    def emit(self, operation: str, operands: list[int], parameters: list[Any], value: _Value, saves: str = SAVES_NOTHING) -> None:
        no_grad = self.no_grad_left > 0
        self.no_grad_left -= no_grad
        self.steps.append([operation, operands, parameters, int(no_grad)])
        self.values.append(value)
        value.fragile |= no_grad and value.group in {self.values[i].group for i in operands}  # a view made in no_grad
        if not no_grad:
            if saves in (SAVES_INPUT, SAVES_BOTH):
                self.saved.update(self.values[i].group for i in operands)
            if saves in (SAVES_OUTPUT, SAVES_BOTH):
                self.saved.add(value.group)

    def pick(self, n: _Numbers) -> int:
        """Mostly a recent value, sometimes any: reuse and fan-out."""
        k = n.below(12)
        return len(self.values) - 1 - k % min(len(self.values), 4) if k < 8 else n.below(len(self.values))

    def step(self, numbers: list[int]) -> None:
        n = _Numbers(numbers)
        for _ in range(4):  # what does not fit is tried again with the numbers that are left
            kind = n.one_of(KINDS)
            if kind == "no_grad":
                self.no_grad_left = 1 + n.below(3)
                kind = "binary"
            i = self.pick(n)
            if getattr(self, "_" + kind)(n, i, self.values[i]):
                return
        self.emit("tanh", [i], [], _Value(self.values[i].shape, 1, self.fresh()), SAVES_OUTPUT)

    def _elementwise(self, n: _Numbers, i: int, a: _Value) -> bool:
        name = n.one_of(list(ELEMENTWISE))
        _, bound, saves = ELEMENTWISE[name]
        if bound(a.bound) > LIMIT:
            return False
        self.emit(name, [i], [], _Value(a.shape, bound(a.bound), self.fresh()), saves)
        return True

    def _binary(self, n: _Numbers, i: int, a: _Value) -> bool:
        j = self.pick(n)
        b = self.values[j]
        name = n.one_of(list(BINARY))
        _, bound, saves = BINARY[name]
        try:
            shape = np.broadcast_shapes(a.shape, b.shape)
        except ValueError:
            return False
        if bound(a.bound, b.bound) > LIMIT or prod(shape) > 64:
            return False
        self.emit(name, [i, j], [], _Value(shape, bound(a.bound, b.bound), self.fresh()), saves)
        return True

    def _reduce(self, n: _Numbers, i: int, a: _Value) -> bool:
        if not a.shape:
            return False
        name, d, keep = n.one_of(list(REDUCE)), n.below(len(a.shape)), bool(n.below(2))
        _, bound, saves = REDUCE[name]
        if bound(a.bound, a.shape[d]) > LIMIT or a.shape[d] == 0:
            return False
        shape = (*a.shape[:d], *([1] if keep else []), *a.shape[d + 1 :])
        self.emit(name, [i], [d, keep], _Value(shape, bound(a.bound, a.shape[d]), self.fresh()), saves)
        return True

    def _along(self, n: _Numbers, i: int, a: _Value) -> bool:
        if not a.shape:
            return False
        name, d = n.one_of(list(ALONG)), n.below(len(a.shape))
        _, bound, saves = ALONG[name]
        if bound(a.bound, a.shape[d]) > LIMIT:
            return False
        self.emit(name, [i], [d], _Value(a.shape, bound(a.bound, a.shape[d]), self.fresh()), saves)
        return True

    def _parts(self, n: _Numbers, shape: Shape, lists: bool) -> tuple[list[Any], Shape, bool]:
        """An index of a tensor of `shape`: its parts, the shape of what it selects, and whether that is a view."""
        parts: list[Any] = []
        result: list[int] = []
        view = True
        used = 0
        for size in shape[: n.below(len(shape) + 1) + (1 if lists else 0)]:
            used += 1
            kind = n.below(8 if lists and view else 7)
            if kind == 0:
                parts.append(["n"])
                result.append(1)
            if kind in (1, 2) and size:
                parts.append(["i", n.below(2 * size) - size])
            elif kind == 7 and size and view:
                rows = [n.below(size) for _ in range(1 + n.below(3))]
                if any(part[0] == "i" for part in parts):  # a number beside a list would be part of the advanced index
                    parts.append(["s", 0, None, 1])
                    result.append(size)
                else:
                    parts.append(["l", rows])
                    result.append(len(rows))
                    view = False
            elif kind in (3, 4):
                start, step = n.below(size + 1), 1 + n.below(2)
                parts.append(["s", start, None, step])
                result.append(len(range(start, size, step)))
            else:
                parts.append(["s", None, None, None])
                result.append(size)
        if not view:  # nor a number after the list
            after = False
            for part in parts:
                if after and part[0] == "i":
                    return [["e"]], shape, True
                after |= part[0] == "l"
        if n.below(6) == 0:
            parts.append(["e"])
        return parts, (*result, *shape[used:]), view

    def _shape(self, n: _Numbers, i: int, a: _Value) -> bool:
        name = n.one_of([*SHAPES, "index", "index", "index"])
        rank, size = len(a.shape), prod(a.shape)
        view, overlaps, fragile, parameters = True, a.overlaps, a.fragile, []
        shape: Shape = a.shape
        match name:
            case "reshape":
                factors = [[size], [1, size], [size, 1]] + [[k, size // k] for k in (2, 3, 4, 6) if size and size % k == 0]
                shape = tuple(n.one_of(factors))
                parameters = [list(shape)]
                overlaps = fragile = True  # a view or a copy: not to be written to
            case "transpose" if rank > 1:
                p, q = n.below(rank), n.below(rank)
                dims = list(range(rank))
                dims[p], dims[q] = q, p
                shape, parameters = tuple(a.shape[d] for d in dims), [p, q]
            case "permute" if rank > 1:
                k = 1 + n.below(rank - 1)
                dims = [*range(k, rank), *range(k)]
                shape, parameters = tuple(a.shape[d] for d in dims), [dims]
            case "unsqueeze" if rank < 4:
                d = n.below(rank + 1)
                shape, parameters = (*a.shape[:d], 1, *a.shape[d:]), [d]
            case "squeeze":
                shape = tuple(s for s in a.shape if s != 1)
            case "expand" if rank < 4 and size <= 16:
                shape = (2, *(3 if s == 1 and n.below(2) else s for s in a.shape))
                parameters, overlaps = [list(shape)], True
            case "index":
                parts, shape, view = self._parts(n, a.shape, lists=True)
                parameters = [parts]
                if not parts:
                    return False
            case "diagonal" if rank > 1:
                shape = (*a.shape[2:], min(a.shape[:2]))
            case "chunk" if rank:
                d, count = n.below(rank), 2
                step = -(-a.shape[d] // count)
                if not a.shape[d]:
                    return False
                pieces = len(range(0, a.shape[d], step))
                k = n.below(pieces)
                length = min(step, a.shape[d] - k * step)
                shape, parameters, fragile = (*a.shape[:d], length, *a.shape[d + 1 :]), [count, d, k], True
            case "unbind" if rank and all(a.shape):
                d = n.below(rank)
                shape, parameters, fragile = (*a.shape[:d], *a.shape[d + 1 :]), [d, n.below(a.shape[d])], True
            case "detach":
                pass
            case "repeat" if rank and size <= 16:
                times = [1 + n.below(2) for _ in range(rank)]
                shape, parameters, view = tuple(s * t for s, t in zip(a.shape, times, strict=True)), [times], False
            case "index_select" if rank:
                d = n.below(rank)
                if not a.shape[d]:
                    return False
                rows = [n.below(a.shape[d]) for _ in range(1 + n.below(3))]
                shape, parameters, view = (*a.shape[:d], len(rows), *a.shape[d + 1 :]), [d, rows], False
            case "gather" if rank == 2 and all(a.shape):
                shape = (2, a.shape[1])
                parameters, view = [0, [[n.below(a.shape[0]) for _ in range(a.shape[1])] for _ in range(2)]], False
            case "argsort" if rank:
                parameters, view = [n.below(rank)], False
            case _:
                return False
        if len(shape) > 4 or prod(shape) > 64:
            return False
        group = a.group if view else self.fresh()
        saves = SAVES_INPUT if name in ("gather", "argsort") else SAVES_NOTHING  # PyTorch keeps all of it, for its shape
        self.emit(name, [i], parameters, _Value(shape, a.bound, group, overlaps=overlaps and view, fragile=fragile and view), saves)
        return True

    def _several(self, n: _Numbers, i: int, a: _Value) -> bool:
        name, j = n.one_of(list(SEVERAL)), self.pick(n)
        b = self.values[j]
        bound, shape, parameters, saves = max(a.bound, b.bound), a.shape, [], SAVES_NOTHING
        match name:
            case "cat" if a.shape and a.shape == b.shape:
                d = n.below(len(a.shape))
                shape, parameters = (*a.shape[:d], 2 * a.shape[d], *a.shape[d + 1 :]), [d]
            case "stack" if a.shape == b.shape and len(a.shape) < 4:
                d = n.below(len(a.shape) + 1)
                shape, parameters = (*a.shape[:d], 2, *a.shape[d:]), [d]
            case "matmul" if a.shape and b.shape and a.shape[-1] == b.shape[-min(2, len(b.shape))]:
                try:
                    shape = np.matmul(np.empty(a.shape), np.empty(b.shape)).shape
                except ValueError:
                    return False
                bound, saves = a.bound * b.bound * max(1, a.shape[-1]), SAVES_INPUT
            case "outer" if len(a.shape) == len(b.shape) == 1:
                shape, bound, saves = a.shape + b.shape, a.bound * b.bound, SAVES_INPUT
            case "einsum" if len(a.shape) == len(b.shape) == 2 and a.shape[1] == b.shape[1]:
                shape, bound, saves = (a.shape[0], b.shape[0]), a.bound * b.bound * max(1, a.shape[1]), SAVES_INPUT
            case "index_add" if a.shape and a.shape[0] and len(a.shape) == len(b.shape) and a.shape[1:] == b.shape[1:]:
                parameters, bound = [[n.below(a.shape[0]) for _ in range(b.shape[0])]], a.bound + b.bound * max(1, b.shape[0])
                saves = SAVES_INPUT  # PyTorch keeps the source, for its shape
            case "scatter_add" if len(a.shape) == 1 and a.shape[0] and len(b.shape) == 1:
                parameters, bound = [[n.below(a.shape[0]) for _ in range(b.shape[0])]], a.bound + b.bound * max(1, b.shape[0])
            case _:
                return False
        if bound > LIMIT or prod(shape) > 64:
            return False
        self.emit(name, [i, j], parameters, _Value(shape, bound, self.fresh()), saves)
        return True

    def _write(self, n: _Numbers, i: int, a: _Value) -> bool:
        name, j, reckless = n.one_of(list(WRITES)), self.pick(n), n.below(40) == 39
        b = self.values[j]
        no_grad = self.no_grad_left > 0
        forbidden = a.overlaps or a.fragile or a.group in self.saved or (a.group in self.leaves and not no_grad)
        if (forbidden and not reckless) or a.overlaps:  # PyTorch does not always notice overlaps
            return False
        operands, parameters, target = [i], [], a.shape
        source_bound = 1.0
        if name in ("write slice", "add to slice"):
            parameters, target, view = self._parts(n, a.shape, lists=name == "write slice")
            if not parameters or (not view and any(len(set(p[1])) < len(p[1]) for p in parameters if p[0] == "l")):
                return False  # which of two writes to one place wins is not defined
        if name in TAKES_SOURCE:
            if b.group == a.group:
                return False
            try:
                if np.broadcast_shapes(target, b.shape) != target:
                    return False
            except ValueError:
                return False
            operands, source_bound = [i, j], b.bound
        bound = WRITES[name][1](a.bound, source_bound)
        if bound > LIMIT:
            return False
        if name in SAVING_WRITES and not no_grad:
            self.saved.add(a.group)
            if name == "mul_":
                self.saved.add(b.group)
        for value in self.values:
            if value.group == a.group:
                value.bound = max(value.bound, bound)
        self.emit(name, operands, parameters, _Value(a.shape, max(a.bound, bound), a.group, overlaps=a.overlaps, fragile=a.fragile))
        return True


SHAPES_OF_INPUTS: list[Shape] = [(), (1,), (3,), (4,), (2, 3), (3, 1), (1, 4), (3, 3), (2, 1, 3), (2, 2, 2), (3, 4), (0, 3)]


def build(inputs: list[list[int]], steps: list[list[int]], writes: bool = True) -> Program:
    """The program that these numbers mean: two per input, up to sixteen per step. Without `writes` it has a second derivative."""
    builder = _Builder()
    if not writes:
        builder._write = lambda n, i, a: False
    for k, numbers in enumerate(inputs or [[]]):
        n = _Numbers(numbers)
        builder.input(n.one_of(SHAPES_OF_INPUTS), grad=k == 0 or n.below(3) > 0)
    for numbers in steps:
        builder.step(numbers)
    return {"inputs": builder.inputs, "steps": builder.steps}


def seeded(seed: int) -> Program:
    """A program from a seed: mostly 5 to 40 steps, some of 200."""
    rng = np.random.RandomState(seed)
    length = 200 if seed % 20 == 19 else int(rng.randint(5, 41))
    inputs = rng.randint(0, 2**16, (int(rng.randint(1, 5)), 2)).tolist()
    return build(inputs, rng.randint(0, 2**16, (length, 16)).tolist(), writes=seed % 3 > 0)


def shrink(program: Program, fails: Callable[[Program], bool]) -> Program:
    """The program with every step left out that is not needed for `fails`; for reading, not for speed."""
    steps = program["steps"]
    first = len(program["inputs"])
    again = True
    while again:
        again = False
        for k in reversed(range(len(steps))):
            at = first + k
            if any(at in operands for _, operands, _, _ in steps):
                continue
            shorter = [[o, [i - (i > at) for i in operands], p, g] for o, operands, p, g in steps[:k] + steps[k + 1 :]]
            if fails({**program, "steps": shorter}):
                steps, again = shorter, True
    return {**program, "steps": steps}
