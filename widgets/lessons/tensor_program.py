"""A learner's program run on Tensors: typed as text or given as a function, with the names of everything it made.

What lives here: `run` and what it returns. What does not: how a typed program is read (stepper.py), what a lesson shows of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import minigrad as torch
from minigrad.tensors.create import tensor

from .programs import run_named
from .stepper import FUNCTIONS, ProgramError, inputs_of, parse

MOST = 400  # operations: more are no picture


def _function(name: str) -> Callable:
    apply = getattr(torch, name)
    return lambda v: apply(v if isinstance(v, torch.Tensor) else tensor(float(v)))


def operations(root: Any, most: int) -> int:
    """How many nodes the graph of a Tensor has, counted until there are more than `most`."""
    seen = {root.grad_fn} - {None}
    todo = list(seen)
    while todo and len(seen) <= most:
        for parent, _ in todo.pop().next_functions:
            if parent is not None and parent not in seen:
                seen.add(parent)
                todo.append(parent)
    return len(seen)


def run(program: str | Callable, inputs: Mapping[str, Any], dtype: Any = None) -> tuple[Any, dict[str, Any]]:
    """Run a program on fresh leaves: its result (one number that has a graph), and every named Tensor.

    inputs: a number or a list for each name; what is missing is 1. Raises ProgramError with one plain sentence.
    """
    expected = inputs_of(program)
    if unknown := [name for name in inputs if name not in expected]:
        raise ProgramError(f"the program has no input {unknown[0]}; it takes {', '.join(expected)}.")
    arguments = {
        name: thing.tolist() if isinstance(thing := inputs.get(name, 1.0), torch.Tensor) else thing for name in expected
    }
    leaves = {
        name: tensor(thing, dtype=dtype or torch.float32, requires_grad=True) for name, thing in arguments.items()
    }
    if isinstance(program, str):
        space: dict[str, Any] = {"__builtins__": {}, **{name: _function(name) for name in FUNCTIONS}, **leaves}
        lines = parse(program)[0]
        for name, formula in lines:
            space[name] = eval(formula, space)  # parsed above: only arithmetic is left
        root, named = space[lines[-1][0]], {**leaves, **{name: space[name] for name, _ in lines}}
    else:
        root, named = run_named(program, leaves)
    if not isinstance(root, torch.Tensor):
        raise ProgramError(
            f"the program must end with a Tensor made from its inputs, and not with {type(root).__name__}."
        )
    if root.numel() != 1:
        raise ProgramError(
            f"its result has {root.numel()} numbers: reduce it to one, for example with .sum() (chapter 8)."
        )
    if root.grad_fn is None:
        raise ProgramError("its result has no graph: it is an input itself, or was detached on the way (chapter 10).")
    if operations(root, MOST) > MOST:
        raise ProgramError(f"it runs more than {MOST} operations, too many to draw: take a smaller part.")
    named = {name: thing for name, thing in named.items() if isinstance(thing, torch.Tensor)}
    if not any(thing is root for thing in named.values()):
        named["y" if "y" not in named else "result"] = root
    return root, named
