"""Real PyTorch's answers to whole snippets (classes, transforms, checkpoints), stored, and replayed by minigrad under the name of torch.

    python -m tests.autograd.reference [family ...]   # ask torch 2.13 again and store its answers (needs torch)

A snippet begins with a line `### name` in cases/<family>.txt; its last expression is the answer, with what it prints. Bound
names: torch, np, nn, F, AF (autograd.functional), fw (forward_ad), those of torch.func, checkpoint(_sequential), once_differentiable,
and error(f), which calls f and gives the error's type and first line, so that a snippet goes on after it.
Compared: structure, dtypes, shapes, numbers, whether a graph is attached, printed text, or the error's type and first line.
"""

import ast
import contextlib
import io
import json
import re
import sys
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent / "cases"
TOLERANCE = {"float64": 1e-9, "float32": 3e-5, "float16": 4e-3}


def snippets() -> dict[str, str]:
    """family/name: code"""
    found = {}
    for path in sorted(HERE.glob("*.txt")):
        for block in path.read_text().split("\n### ")[1:]:
            name, _, code = block.partition("\n")
            key = f"{path.stem}/{name.strip()}"
            if key in found:
                raise ValueError(f"two snippets are called {key}")
            found[key] = code.strip()
    return found


def stored() -> dict[str, Any]:
    return {
        f"{path.stem}/{k}": v for path in sorted(HERE.glob("*.json")) for k, v in json.loads(path.read_text()).items()
    }


def names(torch: Any) -> dict[str, Any]:
    """What is bound in a snippet; `torch` is real torch or minigrad."""
    package = torch.__name__
    func = import_module(f"{package}.func")
    utils = import_module(f"{package}.utils.checkpoint")
    nn = import_module(f"{package}.nn")
    bound = {
        name: getattr(func, name)
        for name in (
            "grad",
            "grad_and_value",
            "hessian",
            "jacfwd",
            "jacrev",
            "jvp",
            "linearize",
            "stack_module_state",
            "vjp",
            "vmap",
            "functional_call",
        )
    }
    return bound | {
        "torch": torch,
        "np": np,
        "nn": nn,
        "F": import_module(f"{package}.nn.functional"),
        "AF": import_module(f"{package}.autograd.functional"),
        "fw": import_module(f"{package}.autograd.forward_ad"),
        "checkpoint": utils.checkpoint,
        "checkpoint_sequential": utils.checkpoint_sequential,
        "once_differentiable": import_module(f"{package}.autograd.function").once_differentiable,
        "warnings": warnings,
        "error": error,
    }


def error(function: Any) -> Any:
    """The error that a call raises, as its type and first line; else its result."""
    try:
        return function()
    except Exception as e:
        return [type(e).__name__, str(e).strip().split("\n")[0].strip()]


def run(torch: Any, code: str) -> Any:
    """Everything that a library answers to a snippet, as plain data."""
    tree = ast.parse(re.sub(r"(?m)^(from|import) torch\b", rf"\1 {torch.__name__}", code))
    last = tree.body.pop()
    space, printed = names(torch), io.StringIO()
    torch.manual_seed(0)
    with warnings.catch_warnings(), np.errstate(all="ignore"), contextlib.redirect_stdout(printed):
        warnings.simplefilter("ignore")
        try:
            exec(compile(tree, "snippet", "exec"), space)
            if isinstance(last, ast.Expr):
                answer = plain(eval(compile(ast.Expression(last.value), "snippet", "eval"), space), torch)
            else:
                exec(compile(ast.Module([last], []), "snippet", "exec"), space)
                answer = None
        except Exception as e:
            answer = {"error": [type(e).__name__, str(e).strip().split("\n")[0].strip()]}
        finally:
            torch.set_grad_enabled(True)
    return {"answer": answer, "printed": printed.getvalue()}


def plain(x: Any, torch: Any) -> Any:
    if isinstance(x, torch.Tensor):
        dtype = str(x.dtype).removeprefix("torch.")
        numbers = x.detach().clone().reshape(-1).tolist()
        return {
            "tensor": [
                dtype,
                list(x.shape),
                numbers if dtype.startswith(("int", "bool", "uint")) else [float(f"{v:.9g}") for v in numbers],
                bool(x.requires_grad),
            ]
        }
    if isinstance(x, dict):
        return {"dict": [[str(k), plain(v, torch)] for k, v in x.items()]}
    if isinstance(x, (tuple, list)):
        return [plain(v, torch) for v in x]
    return x if x is None or isinstance(x, (bool, int, float, str)) else re.sub(r"0x[0-9a-f]+", "0x", repr(x))


def difference(mine: Any, theirs: Any, where: str = "") -> str:
    """Empty if both are the same, else the first difference."""
    if isinstance(theirs, dict) and "tensor" in theirs and isinstance(mine, dict) and "tensor" in mine:
        (d, s, n, g), (dt, st, nt, gt) = mine["tensor"], theirs["tensor"]
        if (d, s, g) != (dt, st, gt):
            return f"{where}: dtype, shape, requires_grad {d, s, g}; PyTorch: {dt, st, gt}"
        a, b = np.array(n, float), np.array(nt, float)
        tolerance = TOLERANCE.get(dt, 0)
        scale = max(1.0, np.abs(b[np.isfinite(b)]).max(initial=0))
        return "" if np.allclose(a, b, tolerance, tolerance * scale, equal_nan=True) else f"{where}: {n}; PyTorch: {nt}"
    if isinstance(theirs, (dict, list)) and type(mine) is type(theirs) and len(mine) == len(theirs):
        pairs = (
            [(k, mine.get(k), theirs[k]) for k in theirs]
            if isinstance(theirs, dict)
            else [(i, a, b) for i, (a, b) in enumerate(zip(mine, theirs, strict=True))]
        )
        return next((found for k, a, b in pairs if (found := difference(a, b, f"{where}[{k}]"))), "")
    if isinstance(mine, float) and isinstance(theirs, float):
        return "" if np.isclose(mine, theirs, 1e-5, 1e-7, equal_nan=True) else f"{where}: {mine}; PyTorch: {theirs}"
    return "" if type(mine) is type(theirs) and mine == theirs else f"{where}: {mine!r}; PyTorch: {theirs!r}"


def main() -> None:
    import torch

    torch.set_num_threads(1)
    found: dict[str, dict[str, Any]] = {}
    for key, code in snippets().items():
        family, _, name = key.partition("/")
        if sys.argv[1:] and family not in sys.argv[1:]:
            continue
        answer = found.setdefault(family, {})[name] = run(torch, code)
        if "NameError" in json.dumps(answer):
            raise SystemExit(f"{key}: the snippet is wrong: {answer}")
    for family, answers in found.items():
        lines = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in answers.items())
        (HERE / f"{family}.json").write_text("{\n" + lines + "\n}\n")
    print(f"{sum(map(len, found.values()))} snippets, torch {torch.__version__}")


if __name__ == "__main__":
    sys.exit(main())
