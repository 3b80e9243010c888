"""Drivers of chapter 09: arrays."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from ..plain import plain
from .calls import Mutated, by_hand, import_torch
from .ch05 import users_first


def call_arrays(entry: Any, *args: Any) -> Any:
    """Call with every list as a numpy array, and notice when one of them is changed."""
    import numpy as np

    arrays = [np.array(a, dtype=float) if isinstance(a, (list, tuple)) else a for a in args]
    before = [a.copy() if isinstance(a, np.ndarray) else a for a in arrays]
    with by_hand():
        out = plain(entry(*arrays))
    changed = any(
        isinstance(a, np.ndarray) and not np.array_equal(a, b, equal_nan=True)
        for a, b in zip(arrays, before, strict=True)
    )
    return Mutated(out) if changed else out


def ramp(n: int) -> float:
    """Numbers that are all different, for gradients in a probe."""
    return float((7 * n) % 31 - 11)


def unbroadcast_ramp(entry: Any, big: tuple, small: tuple) -> Any:
    """Hand a gradient of shape `big` to the learner's unbroadcast. A result of another shape is shown as its shape."""
    import numpy as np

    g = np.array([ramp(n) for n in range(int(np.prod(big)))]).reshape(big)
    out = entry(g, tuple(small))
    return out


# ---- a tensor engine of the learner's -----------------------------------------------------------------------------------------------


class Numbers:
    """What the frame of a Tensor class is put on here: nothing that it could inherit a rule from."""


def new_tensor_class() -> Any:
    from ..growing import frame

    return frame(Numbers)


OPERATIONS: dict[str, Callable] = {
    "__add__": lambda a, b: a + b,
    "__mul__": lambda a, b: a * b,
    "__matmul__": lambda a, b: a @ b,
    "__pow__": lambda a, n: a**n,
    "relu": lambda a: a.relu(),
    "exp": lambda a: a.exp(),
    "log": lambda a: a.log(),
    "sum": lambda a, axis=None: a.sum() if axis is None else a.sum(axis, keepdim=True),
    "T": lambda a: a.T,
}


def by_autograd(Tensor: Any, name: str, compute: Callable) -> Callable:
    """An operation for such a class whose rule is the library's: `compute` works on the library's tensors."""
    torch = import_torch()

    def operation(*args: Any, **named: Any) -> Any:
        takes_two = name in ("__add__", "__mul__", "__matmul__")
        inputs = tuple(
            a if isinstance(a, Tensor) else Tensor(a)
            for k, a in enumerate(args)
            if isinstance(a, Tensor) or (k and takes_two)
        )
        rest = args[len(inputs) :]
        leaves = [torch.tensor(a.data, requires_grad=True) for a in inputs]
        result = compute(*leaves, *rest, **named)
        out = Tensor(result.detach().numpy(), inputs, name)

        def _backward() -> None:
            result.backward(torch.tensor(out.grad), retain_graph=True)
            for a, leaf in zip(inputs, leaves, strict=True):
                if leaf.grad is not None:
                    a.grad += leaf.grad.numpy()
                    leaf.grad = None

        out._backward = _backward  # type: ignore[method-assign]
        return out

    return operation


def library_rules(Tensor: Any) -> None:
    """Attach to a Tensor class all operations of 09.e, with the library's derivatives."""
    for name, compute in OPERATIONS.items():
        operation = by_autograd(Tensor, name, compute)
        setattr(Tensor, name, property(operation) if name == "T" else operation)


def library_tensor() -> Any:
    Tensor = new_tensor_class()
    library_rules(Tensor)
    return Tensor


def library_backward(root: Any) -> None:
    root.grad = root.grad * 0 + 1.0
    for node in users_first(root):
        node._backward()


def lend(entry: Any, **names: Any) -> None:
    """Give an answer the functions of earlier exercises that it calls, unless its notebook has defined them."""
    space = getattr(entry, "__globals__", {})
    space |= {name: what for name, what in names.items() if not isinstance(space.get(name), (FunctionType, type))}


def summed_to(g: Any, shape: tuple) -> Any:
    """A gradient in the shape of an operand that was broadcast: each number goes to the entry that it was copied from."""
    import numpy as np

    if not shape:
        return np.asarray(g.sum())
    places = np.indices(g.shape)[g.ndim - len(shape) :]
    out = np.zeros(shape)
    np.add.at(out, tuple(place % n for place, n in zip(places, shape, strict=True)), g)
    return out


PROGRAMS: dict[str, Callable] = {
    "a + b": lambda a, b: a + b,
    "a * b": lambda a, b: a * b,
    "a * b + a": lambda a, b: a * b + a,
    "a * b + b": lambda a, b: a * b + b,
    "2 * a + 1": lambda a: 2 * a + 1,
    "a @ b": lambda a, b: a @ b,
    "a @ a": lambda a: a @ a,
    "a.T": lambda a: a.T,
    "relu(a)": lambda a: a.relu(),
    "exp(a)": lambda a: a.exp(),
    "log(a)": lambda a: a.log(),
    "a**3": lambda a: a**3,
    "a**-1": lambda a: a**-1,
    "the sum of a": lambda a: a.sum(),
    "the sums of the rows of a": lambda a: a.sum(1),
    "the sums of the columns of a": lambda a: a.sum(axis=0),
}


def run_tensors(Tensor: Any, compute: Callable, inputs: dict[str, list], weights: float, uses: int = 2) -> Any:
    """Value and gradients of a program that is computed `uses` times on the same tensors, which are themselves results."""
    import numpy as np

    sources = {name: Tensor(numbers) for name, numbers in inputs.items()}
    operands = []
    for source in sources.values():
        operand = Tensor(source.data, (source,), "copy")

        def pass_on(source: Any = source, operand: Any = operand) -> None:
            source.grad += operand.grad

        operand._backward = pass_on
        operands.append(operand)
    outs = [compute(*operands) for _ in range(uses)]
    total = Tensor(0.0, tuple(outs), "weighted")

    def _backward() -> None:
        for k, out in enumerate(outs):
            n = np.arange(1, out.data.size + 1).reshape(out.data.shape)
            g = weights * n * (-1.0) ** n / (k + 1)
            out.grad = out.grad + g

    total._backward = _backward
    library_backward(total)
    return {
        "value": outs[0].data.tolist(),
        **{f"gradient at {name}": source.grad.tolist() for name, source in sources.items()},
    }


def returns_tensors(Tensor: Any) -> None:
    """Let each operation of a class raise a TypeError where it returns something else, with which the next one could not compute."""

    def checked(operation: Callable) -> Callable:
        def run(*args: Any, **named: Any) -> Any:
            out = operation(*args, **named)
            if not isinstance(out, Tensor):
                came = "None" if out is None else f"a {type(out).__name__}"
                raise TypeError(f"{came} came back, and a Tensor is needed")
            return out

        return run

    for name in OPERATIONS:
        operation = vars(Tensor).get(name)
        if isinstance(operation, property) and operation.fget:
            setattr(Tensor, name, property(checked(operation.fget)))
        elif isinstance(operation, FunctionType):
            setattr(Tensor, name, checked(operation))


def tensor_rules(entry: Any, program: str, inputs: dict[str, list], weights: float) -> Any:
    """The same with the learner's rules, while nothing else differentiates."""
    lend(entry, unbroadcast=summed_to)
    Tensor = new_tensor_class()
    with by_hand():
        entry(Tensor)
        returns_tensors(Tensor)
        return run_tensors(Tensor, PROGRAMS[program], inputs, weights)


def tensor_truth(program: str, inputs: dict[str, list], weights: float) -> Any:
    """The same with the library's rules."""
    return run_tensors(library_tensor(), PROGRAMS[program], inputs, weights)


# ---- and a network on it ------------------------------------------------------------------------------------------------------------


def _trainer(entry: Any) -> tuple[Any, Any, Any, list[Any]]:
    """The Tensor class, Network and fit of an answer, and a list in which each loss is put that it hands to backward."""
    Tensor, losses = library_tensor(), []  # type: ignore[var-annotated]

    def backward(root: Any) -> None:
        losses.append(root)
        library_backward(root)

    network, fit = entry(Tensor, backward)
    return Tensor, network, fit, losses


def squared_error(scores: Any, wanted: Any) -> Any:
    """The squared distance to 1 at the right class and 0 at the others, its mean over the samples."""
    import numpy as np

    aim = np.eye(scores.shape[1])[wanted]
    return ((scores - aim) ** 2).sum() / len(wanted)


def network_scores(entry: Any, weights: list[list], x: list[list[float]]) -> Any:
    """What the learner's network gives for rows, with given weights; how many parameters it names."""
    import numpy as np

    Tensor, network, _, _ = _trainer(entry)
    inputs, hidden, outputs = len(weights[0][0]), len(weights[0]), len(weights[2])
    model = network(inputs, hidden, outputs, np.random.default_rng(0))
    parameters = list(model.parameters())
    shapes = [list(p.shape) for p in parameters]
    for p, numbers in zip(parameters, weights, strict=False):
        p.data = np.array(numbers)
    scores = model(np.array(x))
    return {"shapes": shapes, "scores": scores.data.tolist() if isinstance(scores, Tensor) else scores}


class _Line:
    """A model with one weight, for a loss that only tells which rows it was given."""

    def __init__(self, Tensor: Any):
        self.w = Tensor([1.0])

    def parameters(self) -> list[Any]:
        return [self.w]

    def __call__(self, x: Any) -> Any:
        return self.w * x


def fit_rows(entry: Any, samples: int, size: int, epochs: int, seed: int) -> Any:
    """Which rows came together in each step, as the learner's fit asks for them: whether each epoch has all, and in which order."""
    import numpy as np

    Tensor, _, fit, _ = _trainer(entry)
    model, batches = _Line(Tensor), []

    def loss_of(out: Any, wanted: Any) -> Any:
        batches.append(list(zip(np.ravel(out.data).tolist(), np.ravel(wanted).tolist(), strict=True)))
        return (out * 0).sum()

    x = np.arange(samples, dtype=float)
    fit(model, x, 10 * x, loss_of, np.random.default_rng(seed), epochs=epochs, size=size, lr=0.1)
    per = -(-samples // size)
    rounds = [sum(batches[k : k + per], []) for k in range(0, len(batches), per)] or [[]]
    return {
        "steps": len(batches),
        "sizes of the first epoch": sorted(len(b) for b in batches[:per]),
        "each row once an epoch": [sorted(r for r, _ in rows) == x.tolist() for rows in rounds],
        "its own target": all(t == 10 * r for rows in rounds for r, t in rows),
        "not in the order of the file": rounds[0] != sorted(rounds[0]),
        "another order each epoch": len({tuple(rows) for rows in rounds}) == len(rounds),
    }


def fit_steps(entry: Any, start: float, slopes: list[float], lr: float) -> Any:
    """A weight whose loss has the slope slopes[k] in step k: where it goes, what is returned, and what a given update receives."""
    import numpy as np

    Tensor, _, fit, losses = _trainer(entry)
    model, path, said = _Line(Tensor), [], []  # type: ignore[var-annotated]
    model.w.data = np.array([start])

    def loss_of(out: Any, wanted: Any) -> Any:
        path.append(float(model.w.data[0]))
        return (out * slopes[len(path) - 1]).sum()

    x = np.ones(1)
    returned = fit(model, x, x, loss_of, np.random.default_rng(0), epochs=len(slopes), size=1, lr=lr)
    end, count = float(model.w.data[0]), len(losses)
    path.clear()

    def update(params: Any, rate: float) -> None:
        said.append((len(params), rate, float(params[0].grad[0])))
        params[0].grad = np.zeros(1)

    fit(model, x, x, loss_of, np.random.default_rng(0), epochs=len(slopes), size=1, lr=lr, update=update)
    return {
        "the weight afterwards": end,
        "losses": [float(v) for v in returned],
        "backward passes": count,
        "what another update receives": [list(one) for one in said],
    }


def digits_read(entry: Any, seed: int) -> Any:
    """Train 64-32-10 on 1,297 digits, and count how many of the 500 others are read."""
    import numpy as np

    from ...datasets import digits

    _, network, fit, losses = _trainer(entry)
    images, labels = digits(seed=seed)
    x, y = images.numpy().reshape(-1, 64) / 16.0, labels.numpy()
    rng = np.random.default_rng(seed)
    model = network(64, 32, 10, rng)
    fit(model, x[:1297], y[:1297], squared_error, rng, epochs=20, size=32, lr=0.1)
    return {"right": int((model(x[1297:]).data.argmax(axis=1) == y[1297:]).sum()), "backward passes": len(losses)}
