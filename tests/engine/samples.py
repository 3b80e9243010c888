"""Inputs for every row of the derivatives table, taken from use: the calls that the reference cases make of it.

A case in tests/engine/reference is thus also the sample of each row that it runs, with the operation's own domain and parameters; a row
that no case runs has no sample, and test_rows.py says so. Floating-point numbers are moved a little, off ties and kinks.
"""

import importlib
import inspect
import pkgutil
import warnings
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import minigrad
from minigrad import ops
from minigrad.core.dispatch import handling, state
from minigrad.core.op import DISCRETE, TABLE
from minigrad.core.variable import Variable

from .reference.case import all_cases
from .reference.record import Run

for _module in pkgutil.iter_modules(ops.__path__, ops.__name__ + "."):
    importlib.import_module(_module.name)  # every row is read
importlib.import_module("minigrad.nn")  # has one of its own, for module hooks

SKIPPED = (
    "kinks",
    "ties",
    "nan",
    "empty",
    "zero",
    "large",
    "float16",
    "inf",
    "equal numbers",
    "of one",
    "singular",
    "padding_idx",
)
PER_ROW = 4


@dataclass
class Sample:
    """One call of a row: its inputs as arrays (or whatever else was passed), its parameters, and the case it comes from."""

    row: str
    inputs: list[Any]
    params: tuple[Any, ...]
    origin: str

    @property
    def op(self) -> Any:
        return TABLE[self.row]

    def differentiable(self) -> list[int]:
        """The positions of the inputs that have a rule and hold floating-point numbers."""
        rules = list(self.op.rules.values())
        return [
            i
            for i, x in enumerate(self.inputs)
            if rules[0 if self.op.tensor_list else i] is not None and isinstance(x, np.ndarray) and x.dtype.kind == "f"
        ]

    def call(self, arrays: list[np.ndarray], wrap: Any) -> list[Any]:
        """The row's outputs with `arrays` in the differentiable places, each made into what the row gets by `wrap`."""
        inputs = [minigrad.tensor(x) if isinstance(x, np.ndarray) else x for x in self.inputs]
        for i, a in zip(self.differentiable(), arrays, strict=True):
            inputs[i] = wrap(a)
        out = self.op(inputs, *self.params) if self.op.tensor_list else self.op(*inputs, *self.params)
        outs = list(out) if isinstance(out, tuple) else [out]
        firsts = [next(iter(inspect.signature(rule).parameters)) for rule in self.op.rules.values() if rule]
        # The others are byproducts, without gradient
        return outs if self.op.outputs is ... or "gs" in firsts else outs[:1]

    def arrays(self, dtype: str = "float64") -> list[np.ndarray]:
        return [self.inputs[i].astype(dtype) for i in self.differentiable()]


def _kept(x: Any) -> Any:
    if isinstance(x, Variable):
        x = x.array
    if isinstance(x, (np.ndarray, np.generic)):
        x = np.array(x)
        return x.astype(np.float64) if x.dtype.kind == "f" else x
    return x


def _moved(x: Any, seed: int) -> Any:
    """Off every tie and kink, by less than anything that matters to the operation's domain."""
    if not isinstance(x, np.ndarray) or x.dtype.kind != "f":
        return x
    return np.array(x + np.random.RandomState(seed).uniform(0.001, 0.009, x.shape))


@cache
def samples() -> dict[str, list[Sample]]:
    """row's key: its samples"""
    keys = {id(op): key for key, op in TABLE.items()}
    found: dict[str, list[Sample]] = {key: [] for key in TABLE}
    seen: set[tuple[Any, ...]] = set()
    origin, plain = "", True

    def listen(op: Any, inputs: Any, params: Any) -> Any:
        key = keys.get(id(op))
        kept = [_kept(x) for x in (inputs[0] if op.tensor_list else inputs)]
        kind = (key, str(params), tuple(x.ndim if isinstance(x, np.ndarray) else type(x) for x in kept))
        if (
            key is not None
            and kind not in seen
            and len(found[key]) < PER_ROW
            and not any(isinstance(p, Variable) for p in params)
        ):
            numbers = [x for x in kept if isinstance(x, np.ndarray) and x.dtype.kind == "f"]
            good = plain and all(np.isfinite(x).all() and x.size and abs(x).max() < 100 for x in numbers)
            if good or op.kind == DISCRETE:
                seen.add(kind)
                moved = [_moved(x, i) for i, x in enumerate(kept)]
                found[key].append(Sample(key, moved, tuple(params), origin))
        with minigrad.enable_grad() if state.grad else minigrad.no_grad():
            return op(*inputs, *params)

    listener = handling(listen)
    listener.needs_tensors = True
    for key, case in all_cases().items():
        if case.family == "errors":
            continue
        plain = not any(f" {word}" in key for word in SKIPPED)
        origin = key
        run = Run(minigrad, case)
        before, state.handlers = state.handlers, (listener,)
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                inputs = run.inputs()
                roots = [y for y in run.call(inputs) if run.is_tensor(y) and y.requires_grad]
                wrt = [x for x in inputs.values() if x.requires_grad]
                if roots and wrt:
                    gs = [
                        minigrad.tensor(np.linspace(0.5, 1.5, y.numel()).reshape(tuple(y.shape)), dtype=y.dtype)
                        for y in roots
                    ]
                    # So that the rows of the backward pass have their own rules run
                    wrt += [g.requires_grad_() for g in gs]
                    first = minigrad.autograd.grad(roots, wrt, gs, create_graph=True, allow_unused=True)
                    again = [(g * g).sum() for g in first if g is not None and g.requires_grad]
                    if again:
                        minigrad.autograd.grad(again, wrt, allow_unused=True)
        except Exception:  # whether it works is the business of test_reference.py
            pass
        finally:
            state.handlers = before
            minigrad.set_default_dtype(minigrad.float32)
            minigrad.set_grad_enabled(True)
    return found
