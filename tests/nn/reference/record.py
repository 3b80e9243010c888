"""Puts a case to a library (real torch, or minigrad under that name) and writes down, as plain data, everything that must agree.

of a layer or loss:  repr, state (names and shapes), out, the gradients of inputs and parameters, the buffers afterwards, out in evaluation,
                     and the losses and parameters of twenty steps of SGD
of an optimiser:     repr, the parameters after 1, 2 and 20 steps, the layout and numbers of its state_dict
of a program:        what it shows
of a scheduler:      the learning rates (and momenta) of every step, its state_dict's names
"""

import warnings
from collections import OrderedDict
from typing import Any
from zlib import crc32

import numpy as np

from . import cases, programs

DIGITS = {"float64": 12, "float32": 9}


def seeded(name: str, shape: Any) -> np.ndarray:
    return np.array(np.random.RandomState(crc32(name.encode())).randn(*shape))


def tensor(torch: Any, array: np.ndarray, dtype: Any = None) -> Any:
    return torch.tensor(array.tolist(), dtype=dtype or getattr(torch, array.dtype.name)).reshape(array.shape)


def numbers(x: Any) -> Any:
    """[dtype, shape, values] of a tensor, None of None."""
    if x is None:
        return None
    dtype = str(x.dtype).removeprefix("torch.")
    values = x.detach().reshape(-1).tolist()
    return [dtype, list(x.shape), [float(f"{v:.{DIGITS[dtype]}g}") for v in values] if dtype in DIGITS else values]


# Layers and losses -----------------------------------------------------------------------------------------------------------


def set_weights(torch: Any, module: Any, name: str) -> None:
    """The same seeded parameters in both libraries."""
    with torch.no_grad():
        for key, p in module.named_parameters():
            p.copy_(tensor(torch, 0.3 * seeded(f"{name} {key}", p.shape)))


def layer(torch: Any, case: cases.Layer) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _layer(torch, case)


def _layer(torch: Any, case: cases.Layer) -> dict[str, Any]:
    scope = {"torch": torch, "nn": torch.nn, "OrderedDict": OrderedDict}
    m = eval(case.make, scope).double()
    set_weights(torch, m, case.name)
    inputs = {}
    for name, spec in case.inputs.items():
        x = tensor(torch, spec.array(f"{case.name} {name}"))
        inputs[name] = x.requires_grad_() if spec.grad else x

    def run() -> Any:
        return eval(case.call, {**scope, "m": m, **inputs})

    found: dict[str, Any] = {"repr": repr(m), "state": {k: list(v.shape) for k, v in m.state_dict().items()}}
    out = run()
    found["out"] = numbers(out)
    wanted = {**{k: x for k, x in inputs.items() if x.requires_grad}, **dict(m.named_parameters())}
    if not out.requires_grad:
        return found
    cotangent = tensor(torch, seeded(f"{case.name} cotangent", out.shape))
    gradients = torch.autograd.grad(out, list(wanted.values()), cotangent, allow_unused=True)
    found["grad"] = {name: numbers(g) for name, g in zip(wanted, gradients, strict=True)}
    found["buffers"] = {k: numbers(b) for k, b in m.named_buffers()}
    if case.steps:
        found["steps"] = _train(torch, case, m, inputs, run)
    m.eval()
    found["evaluation"] = numbers(run())
    return found


def _train(torch: Any, case: cases.Layer, m: Any, inputs: dict[str, Any], run: Any) -> dict[str, Any]:
    """Twenty steps towards a random target; a loss without parameters trains its inputs."""
    parameters = dict(m.named_parameters()) or {k: x for k, x in inputs.items() if x.requires_grad}
    optimizer = torch.optim.SGD(list(parameters.values()), lr=0.02, momentum=0.5)
    target = None
    losses = []
    for _ in range(20):
        optimizer.zero_grad()
        out = run()
        if target is None:
            target = tensor(torch, seeded(f"{case.name} target", out.shape))
        loss = out if out.ndim == 0 else ((out - target) ** 2).mean()
        loss.backward()
        optimizer.step()
        losses.append(float(f"{loss.item():.12g}"))
    return {"losses": losses, "parameters": {k: numbers(p) for k, p in parameters.items()}}


# Optimisers ------------------------------------------------------------------------------------------------------------------

SHAPES = [(3, 2), (2,), ()]


def optimizer(torch: Any, make: str, dtype: str) -> dict[str, Any]:
    kind = getattr(torch, dtype)
    params = [tensor(torch, seeded(f"parameter {i}", s), kind).requires_grad_() for i, s in enumerate(SHAPES)]
    groups = [{"params": params[:1]}, {"params": params[1:], "lr": 0.02, "weight_decay": 0.1}]
    o = eval(f"torch.optim.{make}", {"torch": torch, "params": params, "groups": groups})
    found: dict[str, Any] = {"repr": repr(o)}
    for step in range(1, 21):
        for i, p in enumerate(params):
            none = (i, step) == (2, 2)  # one parameter has none, once
            p.grad = None if none else tensor(torch, seeded(f"gradient {i} {step}", SHAPES[i]), kind)
        o.step()
        if step in (1, 2, 20):
            found[f"after {step}"] = [numbers(p) for p in params]
    found["state_dict"] = plain(o.state_dict())
    return found


def lbfgs(torch: Any, make: str) -> dict[str, Any]:
    """Rosenbrock's function in three variables, held in two tensors."""
    a = tensor(torch, np.array([-1.2, 1.0])).requires_grad_()
    b = tensor(torch, np.array([0.5])).requires_grad_()
    o = eval(f"torch.optim.{make}", {"torch": torch, "params": [a, b]})
    calls = []

    def closure() -> Any:
        o.zero_grad()
        x, y, z = a[0], a[1], b[0]
        loss = 100 * (y - x**2) ** 2 + (1 - x) ** 2 + 100 * (z - y**2) ** 2 + (1 - y) ** 2
        loss.backward()
        calls.append(loss.item())
        return loss

    first = [float(f"{o.step(closure).item():.9g}") for _ in range(5)]
    state = next(iter(o.state_dict()["state"].values()))
    end = [numbers(a), numbers(b)]
    return {
        "repr": repr(o),
        "losses": first,
        "calls": len(calls),
        "end": end,
        "state": sorted(state),
        "n_iter": state["n_iter"],
    }


def plain(x: Any) -> Any:
    if hasattr(x, "detach"):
        return numbers(x)
    if isinstance(x, dict):
        return {str(k): plain(v) for k, v in x.items()}
    if isinstance(x, (list, tuple)):
        return [plain(v) for v in x]
    return x


# Schedulers ------------------------------------------------------------------------------------------------------------------


def scheduler(torch: Any, make: str) -> dict[str, Any]:
    params = [torch.zeros(1, requires_grad=True), torch.zeros(2, requires_grad=True)]
    optimizer = torch.optim.SGD([{"params": params[:1]}, {"params": params[1:], "lr": 0.1}], lr=0.5, momentum=0.9)
    kinds = torch.optim.lr_scheduler
    scope = {name: getattr(kinds, name) for name in dir(kinds) if name[0].isupper()} | {
        "SWALR": torch.optim.swa_utils.SWALR
    }
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        s = eval(make, {**scope, "optimizer": optimizer})
        rates = [[group["lr"] for group in optimizer.param_groups]]
        momenta = [optimizer.param_groups[0]["momentum"]]
        for metric in cases.METRICS:
            optimizer.step()
            s.step(metric) if make.startswith("Reduce") else s.step()
            rates.append([group["lr"] for group in optimizer.param_groups])
            momenta.append(optimizer.param_groups[0]["momentum"])
    return {
        "rates": rates, "momenta": momenta if "Cycl" in make else None, "last": s.get_last_lr(),
        "last_epoch": getattr(s, "last_epoch", None), "warnings": [str(w.message).split("\n")[0] for w in caught],
    }  # fmt: skip


# Programs and errors ---------------------------------------------------------------------------------------------------------


def program(torch: Any, source: str) -> list[Any]:
    """What a program shows: tensors as numbers, other things as text, the kind and first paragraph of an error, warnings."""
    found: list[Any] = []

    def show(*values: Any) -> None:
        found.extend(
            plain(v) if isinstance(v, (dict, list, tuple)) or hasattr(v, "detach") else repr(v) for v in values
        )

    def attempt(call: Any) -> None:
        try:
            value = call()
            show(value if hasattr(value, "detach") or value is None else type(value).__name__)
        except Exception as e:
            found.append(f"{type(e).__name__}: {str(e).partition(chr(10) + chr(10))[0]}")

    scope = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional, "np": np, "show": show, "attempt": attempt}
    scope |= {"seeded": lambda *shape: tensor(torch, seeded("program", shape)), "OrderedDict": OrderedDict}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"minigrad\.")  # as the package itself does
        exec(source, scope)
    return [*found, *[f"{w.category.__name__}: {str(w.message).partition(chr(10))[0]}" for w in caught]]


# Everything, and how answers are compared ------------------------------------------------------------------------------------


def answers(torch: Any) -> dict[str, dict[str, Any]]:
    """file: {case: its record}"""
    return {
        "layers": {case.name: layer(torch, case) for case in cases.LAYERS},
        "losses": {case.name: layer(torch, case) for case in cases.LOSSES},
        "optimizers": {
            f"{make} {dtype}": optimizer(torch, make, dtype)
            for make in cases.OPTIMIZERS
            for dtype in ("float32", "float64")
        }
        | {make: lbfgs(torch, make) for make in cases.LBFGS},
        "schedulers": {make: scheduler(torch, make) for make in cases.SCHEDULERS},
        "programs": {name: program(torch, source) for name, source in programs.PROGRAMS.items()},
    }


def differences(mine: Any, theirs: Any, tolerance: float, path: str = "") -> list[str]:
    """Where two records differ by more than `tolerance` (relative to the largest number beside it, or to 0.1), as sentences."""
    # A tensor
    if isinstance(theirs, list) and len(theirs) == 3 and isinstance(theirs[0], str) and isinstance(theirs[1], list):
        if not isinstance(mine, list) or mine[:2] != theirs[:2]:
            return [f"{path}: {mine if mine is None else mine[:2]}; PyTorch: {theirs[:2]}"]
        return _arrays(np.array(mine[2], float), np.array(theirs[2], float), tolerance, path)
    if isinstance(theirs, list) and theirs and all(isinstance(v, float) for v in theirs):
        same = isinstance(mine, list) and len(mine) == len(theirs) and all(isinstance(v, (int, float)) for v in mine)
        return (
            _arrays(np.array(mine), np.array(theirs), tolerance, path)
            if same
            else [f"{path}: {mine}; PyTorch: {theirs}"]
        )
    if isinstance(theirs, dict) and isinstance(mine, dict):
        if mine.keys() != theirs.keys():
            return [f"{path}: has {list(mine)}; PyTorch: {list(theirs)}"]
        return [d for k in theirs for d in differences(mine[k], theirs[k], tolerance, f"{path}/{k}")]
    if isinstance(theirs, list) and isinstance(mine, list) and len(mine) == len(theirs):
        return [
            d
            for i, (a, b) in enumerate(zip(mine, theirs, strict=True))
            for d in differences(a, b, tolerance, f"{path}[{i}]")
        ]
    if isinstance(theirs, float) and isinstance(mine, (int, float)):
        return _arrays(np.array([mine]), np.array([theirs]), tolerance, path)
    return [] if mine == theirs else [f"{path}: {mine!r}; PyTorch: {theirs!r}"]


def _arrays(a: np.ndarray, b: np.ndarray, tolerance: float, path: str) -> list[str]:
    scale = np.abs(b[np.isfinite(b)]).max(initial=0.1)
    near = np.isclose(a, b, rtol=tolerance, atol=tolerance * scale, equal_nan=True)
    if near.all():
        return []
    i = int(np.argmin(near))
    return [f"{path}: at {i} of {b.size}: {a.flat[i]!r}; PyTorch: {b.flat[i]!r} ({(~near).sum()} differ)"]
