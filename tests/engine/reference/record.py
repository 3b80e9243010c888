"""Runs a case in a library (real torch, or minigrad under that name) and writes down, as plain data, everything that must agree.

    out      dtype, shape and numbers of each result; or the error's type and first line
    grad_fn  the name of each result's node
    repr     the text of the result
    view     for families of views: whether each result is one, its strides and offset
    grad     the gradient of every input under a fixed random cotangent
    second   the gradient of sum(gradient * w)
    again    what a second backward pass through the same graph does: "runs", or the error's type
    jvp      forward mode along a fixed random tangent
    dtypes   the results' dtypes, or the error's type, with the floating-point inputs cast to each of CAST

`differences` compares two records part by part.
"""

import ast
import pickle
import re
import warnings
from typing import Any

import numpy as np

from .case import Case

# PyTorch has no kernel for this dtype: nothing to imitate, nothing to compare
UNBUILT, UNBUILT_TEXT = (
    "not built",
    "not implemented for '",
)
CAST = ["float32", "int64", "bool"]
VIEW_FAMILIES = {"shape", "index"}
Record = dict[str, Any]


def _cotangent(name: str, shape: tuple[int, ...]) -> np.ndarray:
    from zlib import crc32

    return np.random.RandomState(crc32(name.encode())).uniform(0.5, 1.5, shape)  # away from 0: nothing is hidden


def _function(code: str) -> Any:
    """The code as a function of its names: what its last expression gives."""
    tree = ast.parse(code)
    last = tree.body.pop().value if isinstance(tree.body[-1], ast.Expr) else ast.Constant(None, lineno=0, col_offset=0)
    before, result = compile(tree, "case", "exec"), compile(ast.Expression(last), "case", "eval")

    def run(names: dict[str, Any]) -> Any:
        exec(before, names)
        return eval(result, names)

    return run


class Run:
    def __init__(self, torch: Any, case: Case):
        self.torch, self.case = torch, case
        self.function = _function(case.code)
        self.arrays = case.arrays()

    def tensor(self, array: np.ndarray, dtype: str) -> Any:
        # With a dtype object of its own
        return self.torch.from_numpy(pickle.loads(pickle.dumps(array.astype(dtype, order="C"))))

    def inputs(self, cast: str | None = None) -> dict[str, Any]:
        made = {}
        for name, spec in self.case.inputs.items():
            changes = cast and spec.dtype.startswith("float")
            x = self.tensor(
                self.arrays[name].astype(cast) if changes else self.arrays[name], cast if changes else spec.dtype
            )
            made[name] = x.requires_grad_() if spec.grad and (not changes or cast.startswith("float")) else x
        return made

    def call(self, inputs: dict[str, Any]) -> list[Any]:
        result = self.function({"torch": self.torch, "np": np, **inputs})
        self.result = result
        return list(result) if isinstance(result, (tuple, list)) and any(map(self.is_tensor, result)) else [result]

    def is_tensor(self, x: Any) -> bool:
        return isinstance(x, self.torch.Tensor)

    def numbers(self, x: Any) -> Any:
        if x is None:
            return None
        if not self.is_tensor(x):
            return {"python": _plain(x)}
        dtype = str(x.dtype).removeprefix("torch.")
        digits = {"float64": 13, "float32": 9, "float16": 6, "bfloat16": 5}.get(dtype)
        flat = x.detach().clone().reshape(-1).tolist()  # clone: some zeros of torch's have no storage to read
        return [dtype, list(x.shape), [float(f"{v:.{digits}g}") for v in flat] if digits else [int(v) for v in flat]]


def _plain(x: Any) -> Any:
    if isinstance(x, (list, tuple)):
        return [_plain(v) for v in x]
    if isinstance(x, dict):
        return {str(k): _plain(v) for k, v in x.items()}
    if x is None or isinstance(x, (bool, int, float, str)):
        return x
    return repr(x) if type(x).__repr__ is not object.__repr__ and " at 0x" not in repr(x) else type(x).__name__


def _error(e: BaseException) -> list[str]:
    return [type(e).__name__, str(e).strip().split("\n")[0].strip()]


def record(torch: Any, case: Case) -> Record:
    """Everything that a library answers to a case."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return _record(torch, case)
        finally:  # what a case that failed half-way may have left behind
            torch.set_default_dtype(torch.float32)
            torch.set_grad_enabled(True)


def _record(torch: Any, case: Case) -> Record:
    run = Run(torch, case)
    found: Record = {}
    inputs = run.inputs()
    try:
        outs = run.call(inputs)
        found["out"] = [run.numbers(y) for y in outs]
        nodes = [y.grad_fn if run.is_tensor(y) else None for y in outs]  # asking a spoiled view for its node raises
    except Exception as e:
        return {"error": _error(e)}
    if any(map(run.is_tensor, outs)) and not case.composed:
        found["grad_fn"] = [type(node).__name__ if node is not None else None for node in nodes]
        found["repr"] = repr(run.result)
    if case.family in VIEW_FAMILIES:
        found["view"] = [
            [y._is_view(), list(y.stride()), y.storage_offset()] if run.is_tensor(y) and y._is_view() else None
            for y in outs
        ]

    wrt = {name: x for name, x in inputs.items() if x.requires_grad}
    roots = [y for y in outs if run.is_tensor(y) and y.requires_grad]
    if wrt and roots:
        found.update(_gradients(run, inputs, wrt, roots))
        if not case.composed:
            found["again"] = _again(run)
        if case.jvp:
            found["jvp"] = _jvp(run)
    if case.dtypes and any(spec.dtype.startswith("float") for spec in case.inputs.values()):
        found["dtypes"] = {cast: _dtypes(run, cast) for cast in CAST}
    return found


def _gradients(run: Run, inputs: dict[str, Any], wrt: dict[str, Any], roots: list[Any]) -> Record:
    grad = run.torch.autograd.grad

    def dtype(x: Any) -> str:
        return str(x.dtype).removeprefix("torch.")

    cotangents = [run.tensor(_cotangent(f"cotangent {i}", tuple(y.shape)), dtype(y)) for i, y in enumerate(roots)]
    found: Record = {}
    try:
        first = grad(roots, list(wrt.values()), cotangents, allow_unused=True, retain_graph=True)
        found["grad"] = {name: run.numbers(g) for name, g in zip(wrt, first, strict=True)}
    except Exception as e:
        return {"grad": _error(e)}
    if run.case.second:
        try:
            first = grad(roots, list(wrt.values()), cotangents, allow_unused=True, create_graph=True)
            parts = [
                (g * run.tensor(_cotangent(f"second {name}", tuple(g.shape)), dtype(g))).sum()
                for name, g in zip(wrt, first, strict=True)
                if g is not None and g.requires_grad
            ]
            second = grad(parts, list(wrt.values()), allow_unused=True) if parts else [None] * len(wrt)
            found["second"] = {name: run.numbers(g) for name, g in zip(wrt, second, strict=True)}
        except Exception as e:
            found["second"] = _error(e)
    return found


def _again(run: Run) -> str:
    inputs = run.inputs()
    try:
        roots = [y for y in run.call(inputs) if run.is_tensor(y) and y.requires_grad]
        for _ in range(2):
            run.torch.autograd.backward(roots, [run.torch.ones_like(y) for y in roots])
    except Exception as e:
        return type(e).__name__
    return "runs"


def _jvp(run: Run) -> Any:
    try:
        forward = run.torch.autograd.forward_ad
        with forward.dual_level():
            inputs = run.inputs()
            for name, x in inputs.items():
                if run.case.inputs[name].grad:
                    tangent = run.tensor(_cotangent(f"tangent {name}", tuple(x.shape)), run.case.inputs[name].dtype)
                    inputs[name] = forward.make_dual(x.detach(), tangent)
            return [run.numbers(forward.unpack_dual(y).tangent) if run.is_tensor(y) else None for y in run.call(inputs)]
    except Exception as e:
        return _error(e)


def _dtypes(run: Run, cast: str) -> Any:
    try:
        return [
            str(y.dtype).removeprefix("torch.") if run.is_tensor(y) else type(y).__name__
            for y in run.call(run.inputs(cast))
        ]
    except Exception as e:
        return UNBUILT if UNBUILT_TEXT in str(e) else type(e).__name__


# Comparing -----------------------------------------------------------------------------------------------------------

# Relative; a hundredth of it absolute. What is computed from float32 inputs is compared as float32 even where its dtype is float64.
TOLERANCE = {"float64": 1e-9, "float32": 2e-5, "float16": 4e-3, "bfloat16": 2e-2}


# Sentences that speak of C++, of CPython's argument parsing, or of hardware: the exception's type is enough.
NOT_IMITATED = [
    "invalid combination of arguments", "INTERNAL ASSERT", "positional argument", "takes no arguments", "has no attribute",
    "is not writable", "can't convert np.ndarray", "Expected one of cpu", "compiled with CUDA", "is not iterable",
    "cannot be interpreted", "accelerator", "Could this error message be improved",
]  # fmt: skip


def differences(mine: Record, theirs: Record, case: Case) -> dict[str, str]:
    """part: what is different about it. When the results differ, nothing further is compared."""
    if "error" in theirs and UNBUILT_TEXT in theirs["error"][1]:
        return {}
    if "error" in theirs or "error" in mine:
        if "error" not in mine:
            return {"out": f"no error; PyTorch raises {theirs['error']}"}
        if "error" not in theirs:
            return {"out": f"raises {mine['error']}; PyTorch gives {theirs['out']}"}
        problem = _error_difference(mine["error"], theirs["error"], case)
        return {"out": problem} if problem else {}
    coarsest = max([TOLERANCE.get(spec.dtype, 0) for spec in case.inputs.values()], default=0)
    problem = _list_difference(mine["out"], theirs["out"], coarsest, signed="kinks" in case.name)
    if problem:
        return {"out": problem}
    found = {}
    for part in ("grad_fn", "view", "again"):
        if mine.get(part) != theirs.get(part):
            found[part] = f"{mine.get(part)!r}; PyTorch: {theirs.get(part)!r}"
    # The text has the node's name in it
    if "grad_fn" not in found and not _same_text(mine.get("repr", ""), theirs.get("repr", "")):
        found["repr"] = f"{mine.get('repr')}; PyTorch: {theirs.get('repr')}"
    wrong = {}
    for cast, got in mine.get("dtypes", {}).items():
        expected = theirs["dtypes"][cast]
        if expected not in (got, UNBUILT) and not (got == UNBUILT and isinstance(expected, str)):
            wrong[cast] = got
    if wrong:
        found["dtypes"] = f"{wrong}; PyTorch: { {cast: theirs['dtypes'][cast] for cast in wrong} }"
    for part in ("grad", "second"):
        a, b = mine.get(part), theirs.get(part)
        if isinstance(a, list) or isinstance(b, list):
            problem = (
                _error_difference(a, b, case) if isinstance(a, list) and isinstance(b, list) else f"{a}; PyTorch: {b}"
            )
        elif a is None or b is None:
            problem = None if a == b else f"{a}; PyTorch: {b}"
        else:
            problems = [
                f"{name}: {p}"
                for name in b
                if (p := _difference(a.get(name), b[name], coarsest, zero_is_none=part == "second"))
            ]
            problem = "; ".join(problems)
        if problem:
            found[part] = problem
    # PyTorch has no forward mode for a few
    if "jvp" in theirs and not (theirs["jvp"] and isinstance(theirs["jvp"][0], str)):
        problem = _list_difference(mine.get("jvp", []), theirs["jvp"], coarsest, zero_is_none=True)
        if problem:
            found["jvp"] = problem
    return found


def _error_difference(mine: list[str], theirs: list[str], case: Case) -> str | None:
    if mine[0] != theirs[0]:
        return f"raises {mine}; PyTorch raises {theirs}"
    if not case.text or any(words in theirs[1] for words in NOT_IMITATED):
        return None
    return (
        None
        if " ".join(theirs[1].split()) in " ".join(mine[1].split())
        else f"says {mine[1]!r}; PyTorch says {theirs[1]!r}"
    )


def _list_difference(mine: list[Any], theirs: list[Any], coarsest: float, **how: bool) -> str | None:
    if len(mine) != len(theirs) or (mine and isinstance(mine[0], str)):
        return f"{mine}; PyTorch: {theirs}"
    problems = [
        f"result {i}: {p}"
        for i, (a, b) in enumerate(zip(mine, theirs, strict=True))
        if (p := _difference(a, b, coarsest, **how))
    ]
    return "; ".join(problems) or None


def _difference(
    mine: Any, theirs: Any, coarsest: float, signed: bool = False, zero_is_none: bool = False
) -> str | None:
    def nothing(x: Any) -> bool:
        return x is None or (isinstance(x, list) and not np.any(x[2]))

    if zero_is_none and nothing(mine) and nothing(theirs):
        return None
    if not isinstance(mine, list) or not isinstance(theirs, list):
        return None if _same_plain(mine, theirs) else f"{mine}; PyTorch: {theirs}"
    for what, a, b in zip(("dtype", "shape"), mine, theirs, strict=False):
        if a != b:
            return f"{what} {a}; PyTorch: {b}"
    a, b = np.array(mine[2]), np.array(theirs[2])
    if theirs[0] not in TOLERANCE:
        return None if np.array_equal(a, b) else f"{mine[2]}; PyTorch: {theirs[2]}"
    tolerance = max(TOLERANCE[theirs[0]], coarsest)
    finite = np.abs(b[np.isfinite(b)])
    near = np.isclose(a, b, rtol=tolerance, atol=0.01 * tolerance * max(1.0, finite.max(initial=0)), equal_nan=True)
    if signed:
        near &= (a != 0) | (b != 0) | (np.signbit(a) == np.signbit(b))
    if near.all():
        return None
    i = int(np.argmin(near))
    return f"at {tuple(map(int, np.unravel_index(i, theirs[1])))}: {a[i]!r}; PyTorch: {b[i]!r} ({(~near).sum()} of {near.size} differ)"


def _same_text(a: str, b: str) -> bool:
    """Equal but for a number that fell on the other side of a rounding: a last digit of a last place."""
    if a == b:
        return True
    number = r"(?<![\w.])-?\d+\.\d*(?:e[+-]\d+)?"
    if re.sub(r"\d", "0", a) != re.sub(r"\d", "0", b):
        return False
    pairs = zip(re.findall(number, a), re.findall(number, b), strict=True)
    return re.sub(number, "", a) == re.sub(number, "", b) and all(
        abs(float(x) - float(y)) <= 1.01e-4 * max(1, abs(float(y))) for x, y in pairs
    )


def _same_plain(a: Any, b: Any) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return bool(np.isclose(a, b, rtol=1e-9, atol=1e-12, equal_nan=True))
    if isinstance(a, (list, dict)) and type(a) is type(b) and len(a) == len(b):
        pairs = zip(a, b, strict=True) if isinstance(a, list) else ((a[k], b.get(k)) for k in a)
        return all(_same_plain(x, y) for x, y in pairs)
    return type(a) is type(b) and a == b
