"""PyTorch's own samples of its operations (OpInfo, in its wheel), answered by minigrad and by PyTorch: what agrees, and what does not.

    python -m tests.engine.opinfo                    # every operation that exists here, in a line each, then the sums   (needs torch 2.13)
    python -m tests.engine.opinfo matmul linalg      # the operations whose names begin so, with every difference in full
    python -m tests.engine.opinfo --store [names]    # keep a small sample of each, with PyTorch's answers, for test_opinfo.py

Compared are the results, the gradients under a fixed random cotangent, the gradients' own, and forward mode; for whole numbers and bools
the results. The environment is that of reference/make.py, with `expecttest` beside torch.
"""

import json
import math
import sys
import warnings
from collections import Counter
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

STORED = Path(__file__).parent / "reference" / "opinfo.json"
PER_DTYPE = 8  # samples of each operation
RANDOM = (
    "rand", "dropout", "bernoulli", "multinomial", "normal", "resize_", "zero_", "exponential", "geometric", "cauchy", "uniform", "empty",
    "rrelu", "gumbel", "fractional",
)  # fmt: skip
TIES = ("sort", "argsort", "msort", "topk", "kthvalue", "mode")  # which of several equal elements is named is not said
FLOATS, WHOLE = ("float64",), ("int64", "bool")


def ours(name: str) -> Any:
    """minigrad's function of that name, or the method as a function; None where there is neither."""
    import minigrad

    if name in ("bool", "byte", "char", "double", "float", "half", "int", "long", "short"):  # dtypes, and methods
        return _method(minigrad.Tensor, name)
    found = minigrad
    for part in name.split("."):
        found = getattr(found, part, None)
    return found if found is not None or "." in name else _method(minigrad.Tensor, name)


def _method(cls: Any, name: str) -> Any:
    return next((vars(c)[name] for c in cls.__mro__ if callable(vars(c).get(name))), None)


class Kind(str):
    """The name of a dtype."""


@dataclass
class Call:
    """A sample without PyTorch's types: arrays for tensors."""

    input: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def plain(x: Any, torch: Any) -> Any:
    if isinstance(x, torch.Tensor):
        return np.array(x.detach().resolve_conj().resolve_neg().numpy(), order="K")
    if isinstance(x, torch.dtype):
        return Kind(str(x).removeprefix("torch."))
    return tuple(x) if isinstance(x, torch.Size) else x


class Side:
    """One of the two libraries: how a sample's arguments enter it, and how its results are read."""

    def __init__(self, torch: Any):
        self.torch = torch

    def enter(self, x: Any, leaves: list[Any] | None) -> Any:
        """The argument in this library; floating-point tensors are put into `leaves` (None: they need no gradient)."""
        if isinstance(x, np.ndarray):
            made = self.torch.from_numpy(x.copy(order="K"))
            if leaves is not None and made.dtype.is_floating_point:
                leaves.append(made.requires_grad_())
            return made
        if isinstance(x, Kind):
            return getattr(self.torch, x)
        if isinstance(x, (list, tuple)) and not hasattr(x, "_fields"):
            return type(x)(self.enter(v, leaves) for v in x)
        if isinstance(x, dict):
            return {k: self.enter(v, leaves) for k, v in x.items()}
        return x

    def call(self, function: Any, sample: Any, leaves: list[Any] | None) -> list[Any]:
        out = function(
            self.enter(sample.input, leaves), *self.enter(sample.args, leaves), **self.enter(sample.kwargs, leaves)
        )
        return list(_flat(out))

    def weights(self, y: Any, seed: int) -> Any:
        drawn = np.random.RandomState(seed).uniform(0.5, 1.5, tuple(y.shape))
        return self.torch.from_numpy(np.asarray(drawn, str(y.dtype).removeprefix("torch.")))

    def answers(self, function: Any, sample: Any, floating: bool) -> dict[str, Any]:
        """{part: its numbers, or the error's type}"""
        leaves: list[Any] | None = [] if floating else None
        try:
            outs = self.call(function, sample, leaves)
            found: dict[str, Any] = {"out": [self.read(y) for y in outs]}
        except Exception as e:
            return {"out": _error(e)}
        roots = [y for y in outs if isinstance(y, self.torch.Tensor) and y.requires_grad]
        if leaves and roots:
            us = [self.weights(y, i) for i, y in enumerate(roots)]
            try:
                first = self.torch.autograd.grad(roots, leaves, us, create_graph=True, allow_unused=True)
                found["grad"] = [self.read(g) for g in first]
                seconds = [(g * self.weights(g, 9)).sum() for g in first if g is not None and g.requires_grad]
                again = (
                    self.torch.autograd.grad(seconds, leaves, allow_unused=True) if seconds else [None] * len(leaves)
                )
                found["second"] = [self.read(g) for g in again]
            except Exception as e:
                found["second" if "grad" in found else "grad"] = _error(e)
            found["forward"] = self.forward(function, sample)
        return found

    def forward(self, function: Any, sample: Any) -> Any:
        fwd = self.torch.autograd.forward_ad
        try:
            with fwd.dual_level():
                count = iter(range(1000))

                def dual(x: Any) -> Any:
                    return fwd.make_dual(x, self.weights(x, 20 + next(count))) if _is_float(x, self.torch) else x

                args = _mapped(dual, [self.enter(a, None) for a in (sample.input, tuple(sample.args), sample.kwargs)])
                outs = list(_flat(function(args[0], *args[1], **args[2])))
                return [self.read(fwd.unpack_dual(y).tangent) if _is_float(y, self.torch) else None for y in outs]
        except Exception as e:
            return _error(e)

    def read(self, x: Any) -> Any:
        if not isinstance(x, self.torch.Tensor):
            return None if x is None else str(x).removeprefix("torch.") if not isinstance(x, (bool, int, float)) else x
        if "bfloat16" in str(x.dtype) or x.is_complex():
            raise TypeError("numpy has no bfloat16, and minigrad no complex numbers")
        return str(x.dtype).removeprefix("torch."), np.array(x.detach().clone().numpy())


def _error(e: Exception) -> str:
    return f"{type(e).__name__}: {str(e).splitlines()[0] if str(e) else ''}"


def _is_float(x: Any, torch: Any) -> bool:
    return isinstance(x, torch.Tensor) and x.dtype.is_floating_point


def _mapped(f: Any, x: Any) -> Any:
    if isinstance(x, (list, tuple)) and not hasattr(x, "_fields"):
        return type(x)(_mapped(f, v) for v in x)
    return {k: _mapped(f, v) for k, v in x.items()} if isinstance(x, dict) else f(x)


def _flat(x: Any) -> Any:
    if isinstance(x, (list, tuple)):
        for v in x:
            yield from _flat(v)
    else:
        yield x


def difference(mine: Any, theirs: Any, zero_is_none: bool = False) -> str | None:
    if isinstance(mine, str) or isinstance(theirs, str):
        return None if mine == theirs else f"{_short(mine)}; PyTorch: {_short(theirs)}"
    if len(mine) != len(theirs):
        return f"{len(mine)} results; PyTorch: {len(theirs)}"
    for i, (a, b) in enumerate(zip(mine, theirs, strict=True)):
        if a is None or b is None:
            some = a if b is None else b
            if a is not b and not (zero_is_none and isinstance(some, tuple) and not np.any(some[1])):
                return f"result {i}: {_short(a)}; PyTorch: {_short(b)}"
        elif isinstance(a, tuple) and isinstance(b, tuple):
            if a[0] != b[0] or a[1].shape != b[1].shape:
                return f"result {i}: {a[0]}{list(a[1].shape)}; PyTorch: {b[0]}{list(b[1].shape)}"
            tolerance = {"float64": 1e-7, "float32": 1e-4}.get(a[0], 1e-2)
            finite = np.abs(b[1][np.isfinite(b[1])]) if b[1].dtype.kind == "f" else np.array([])
            if not np.allclose(
                a[1], b[1], tolerance, tolerance * max(1.0, float(finite.max(initial=0))), equal_nan=True
            ):
                return f"result {i}: {_short(a)}; PyTorch: {_short(b)}"
        elif a != b and not (isinstance(a, float) and isinstance(b, float) and math.isclose(a, b)):
            return f"result {i}: {_short(a)}; PyTorch: {_short(b)}"
    return None


def _short(x: Any) -> str:
    if isinstance(x, tuple):
        x = f"{x[0]}{list(x[1].shape)} {np.array2string(x[1].reshape(-1)[:6], precision=5)}"
    return str(x)[:160]


def _arguments(sample: Any) -> str:
    shapes = _mapped(
        lambda x: list(x.shape) if hasattr(x, "shape") else x, [sample.input, list(sample.args), dict(sample.kwargs)]
    )
    return str(shapes)[:200]


def compare(mine: dict[str, Any], theirs: dict[str, Any]) -> dict[str, str]:
    """part: what is different. An error of PyTorch's is no answer to compare with, except that minigrad's must not be a result."""
    found = {}
    if isinstance(mine["out"], str) and not isinstance(theirs["out"], str):
        return {"out": mine["out"]}
    for part, answer in theirs.items():
        if isinstance(answer, str):
            if part == "out" and not isinstance(mine["out"], str):
                found[part] = f"a result; PyTorch: {answer}"
        elif (problem := difference(mine.get(part, "nothing"), answer, part != "out")) is not None:
            found[part] = problem
    return found


def encoded(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        numbers = [float(f"{v:.9g}") if x.dtype.kind == "f" else v for v in x.ravel().tolist()]
        return {"array": x.dtype.name, "shape": list(x.shape), "numbers": numbers}
    if isinstance(x, Kind):
        return {"dtype": str(x)}
    if isinstance(x, tuple):
        return {"tuple": [encoded(v) for v in x]}
    if isinstance(x, list):
        return [encoded(v) for v in x]
    return {"dict": {k: encoded(v) for k, v in x.items()}} if isinstance(x, dict) else x


def decoded(x: Any) -> Any:
    if isinstance(x, list):
        return [decoded(v) for v in x]
    if not isinstance(x, dict):
        return x
    if "array" in x:
        return np.array(x["numbers"], x["array"]).reshape(x["shape"])
    if "tuple" in x:
        return tuple([decoded(v) for v in x["tuple"]])
    return Kind(x["dtype"]) if "dtype" in x else {k: decoded(v) for k, v in x["dict"].items()}


def _counts(seen: Counter[str]) -> str:
    parts = ", ".join(f"{n} {part}" for part, n in seen.items() if part not in ("samples", "agree"))
    return f"{seen['agree']} of {seen['samples']} samples agree; differences: {parts}"


def samples(op: Any, torch: Any, count: int = PER_DTYPE) -> Any:
    """(dtype, sample) of the operation, `count` for each dtype; samples that ask for complex numbers or another layout are left out."""
    for dtype in (*FLOATS, *WHOLE):
        kind = getattr(torch, dtype)
        if op.supports_dtype(kind, "cpu"):
            with torch.random.fork_rng():
                torch.manual_seed(0)
                try:
                    for sample in islice(op.sample_inputs("cpu", kind, requires_grad=False), count):
                        text = repr((sample.args, sample.kwargs))
                        if "complex" not in text and "bfloat16" not in text and "dropout_p" not in text:
                            parts = [
                                _mapped(lambda x: plain(x, torch), x)
                                for x in (sample.input, tuple(sample.args), dict(sample.kwargs))
                            ]
                            yield dtype, Call(*parts)
                except Exception as e:
                    print(f"{op.name}: no samples for {dtype}: {_error(e)}")


def main(wanted: list[str]) -> int:
    import torch
    from torch.testing._internal.common_methods_invocations import op_db

    import minigrad

    store, wanted = "--store" in wanted, [word for word in wanted if word != "--store"]
    kept: dict[str, Any] = {}
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    sides, sums, missing = (Side(minigrad), Side(torch)), Counter(), []
    for op in op_db:
        if (wanted and not op.name.startswith(tuple(wanted))) or any(word in op.name for word in RANDOM):
            continue
        function = ours(op.name)
        if function is None:
            missing.append(op.name)
            continue
        seen: Counter[str] = Counter()
        first: dict[str, str] = {}
        for number, (dtype, sample) in enumerate(samples(op, torch, 3 if store else PER_DTYPE)):
            # The sample has the operand first that is differentiated
            if op.name in (
                "einsum",
                "where",
                "nn.functional.embedding",
            ):
                rest = sample.input if op.name == "einsum" else (sample.input, *sample.args[1:])
                sample.input, sample.args = sample.args[0], tuple(rest)
                theirs_is = {"einsum": torch.einsum, "where": torch.where}.get(op.name, torch.nn.functional.embedding)
            else:
                theirs_is = op.op
            both = [*zip(sides, (function, theirs_is), strict=True)]
            with torch.random.fork_rng():
                mine, theirs = (side.answers(f, sample, dtype in FLOATS) for side, f in both)
                if "is not differentiable with respect to argument" in str(theirs["out"]):
                    mine, theirs = (side.answers(f, sample, False) for side, f in both)
            if op.name in TIES and dtype in WHOLE:  # equal numbers, in any order
                mine["out"], theirs["out"] = mine["out"][:1], theirs["out"][:1]
            found = compare(mine, theirs)
            seen["samples"] += 1
            seen["agree"] += not found
            key = f"{op.name} {op.variant_test_name} {'whole' if dtype in WHOLE else 'float'}".replace("  ", " ")
            if store and not found and key not in kept and not isinstance(theirs["out"], str):
                call = encoded([sample.input, sample.args, sample.kwargs])
                text = json.dumps({"name": op.name, "call": call, "answers": encoded(theirs)}, default=repr)
                if len(text) < 2000 and "torch." not in text:  # a memory format, a layout
                    kept[key] = text
            for part, what in found.items():
                seen[part] += 1
                line = f"    {part} of sample {number} ({dtype}): {_arguments(sample)} {what}"
                if wanted:
                    print(line[:700])
                first.setdefault(part, line[:400])
        sums.update(seen)
        name = f"{op.name}{'.' + op.variant_test_name if op.variant_test_name else ''}"
        if seen["samples"] != seen["agree"]:
            print(f"{name}: {_counts(seen)}", *first.values(), sep="\n", flush=True)
    print(_counts(sums))
    if store:
        if wanted:
            kept = {**{key: json.dumps(entry) for key, entry in json.loads(STORED.read_text()).items()}, **kept}
        STORED.write_text("{\n" + ",\n".join(f"{json.dumps(key)}: {text}" for key, text in kept.items()) + "\n}\n")
        print(f"{len(kept)} samples kept")
    print(f"{len(missing)} operations do not exist here: {' '.join(dict.fromkeys(missing))}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
