"""gradcheck and gradgradcheck: is a derivative right? Held against differences (f(x + eps) - f(x - eps)) / (2 eps).

What lives here: the check and its messages, which say which input, which output, which entry, what came out and what should have. What
does not: tests of minigrad's own rows (tests/engine/test_rows.py).
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import errors
from ..core.constants import zeros_like
from ..core.facts import JacobianMismatch
from ..core.grad_mode import enable_grad
from ..core.variable import Size, Variable, wrap
from . import forward_ad
from .backward import grad
from .function import Function

if TYPE_CHECKING:
    from ..tensors.tensor import Tensor


class GradcheckError(RuntimeError):
    """Raised by gradcheck and gradgradcheck."""


def _as_tuple(x: Any) -> tuple[Tensor, ...]:
    return tuple(x) if isinstance(x, (list, tuple)) else (x,)


def _checked(x: Tensor) -> bool:
    return isinstance(x, Variable) and x.requires_grad


def gradcheck(
    func: Callable[..., Any],
    inputs: Tensor | tuple[Tensor, ...],
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """True if the gradients of `func` (tensors in, tensor or tuple of tensors out) are right at `inputs`; else raises GradcheckError.

    inputs                float64 tensors; those with requires_grad=True are checked. float32 is not precise enough, and warned about.
    eps, atol, rtol       size of the difference, and how far both may be apart (|a - n| <= atol + rtol * |n|)
    raise_exception       False: return False instead of raising
    nondet_tol            how far two backward passes on the same numbers may be apart
    check_undefined_grad  backward must cope with outputs that no gradient arrives at
    check_forward_ad      check forward mode, too
    check_batched_grad    run backward under vmap, too: it must give the same
    fast_mode             instead of every entry check one random sum of them for each input and output: a few passes in all

    >>> import minigrad as torch
    >>> x = torch.randn(3, dtype=torch.float64, requires_grad=True)
    >>> torch.autograd.gradcheck(torch.sin, x)
    True
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    if check_batched_grad and not check_backward_ad:
        raise AssertionError("Setting check_batched_grad=True requires check_backward_ad to be True")
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError("Setting check_batched_forward_grad=True requires check_forward_ad to be True")
    try:
        return _gradcheck(func, inputs, eps, atol, rtol, nondet_tol, check_undefined_grad, check_grad_dtypes, check_batched_grad,
        check_forward_ad,
                          check_backward_ad, fast_mode)  # fmt: skip
    except GradcheckError:
        if raise_exception:
            raise
        return False


def _gradcheck(
    func: Callable[..., Any],
    inputs: Tensor | tuple[Tensor, ...],
    eps: float,
    atol: float,
    rtol: float,
    nondet_tol: float,
    check_undefined_grad: bool,
    check_grad_dtypes: bool,
    check_batched_grad: bool,
    check_forward_ad: bool,
    check_backward_ad: bool,
    fast_mode: bool,
) -> bool:
    inputs = _as_tuple(inputs)
    _check_inputs(inputs)
    outputs = _differentiable(func(*inputs))
    diff = [i for i, x in enumerate(inputs) if _checked(x)]
    if not outputs:
        for row in _numerical(func, inputs, diff, eps, False, fast_mode):
            if any((block != 0).any() for block in row):
                raise errors.new(
                    GradcheckError,
                    "Numerical gradient for function expected to be zero",
                    "The function's result changes with its input, but does not require gradients.",
                    instead="look for detach(), no_grad, item() or numpy() in the function.",
                )
        return True
    try:
        _check_jacobians(func, inputs, outputs, diff, eps, atol, rtol, nondet_tol, check_grad_dtypes, check_batched_grad, check_forward_ad,
                         check_backward_ad, fast_mode)  # fmt: skip
    except GradcheckError:
        if fast_mode:  # every entry, for the error that names the wrong ones
            _check_jacobians(func, inputs, outputs, diff, eps, atol, rtol, nondet_tol, check_grad_dtypes, check_batched_grad,
                             check_forward_ad, check_backward_ad, False)  # fmt: skip
        raise
    if check_backward_ad and check_undefined_grad:
        _check_undefined(func, inputs, diff)
    return True


def _check_jacobians(
    func: Callable[..., Any],
    inputs: tuple[Tensor, ...],
    outputs: list[Tensor],
    diff: list[int],
    eps: float,
    atol: float,
    rtol: float,
    nondet_tol: float,
    check_grad_dtypes: bool,
    check_batched_grad: bool,
    check_forward_ad: bool,
    check_backward_ad: bool,
    fast: bool,
) -> None:
    numerical = _numerical(func, inputs, diff, eps, True, fast)
    # How many entries each number sums
    scales = [[_sum(inputs[i], fast) * _sum(o, fast, 1) for o in outputs] for i in diff]
    tolerances = [[(atol * scale, rtol) for scale in row] for row in scales]
    if check_backward_ad:
        _check_backward(
            func, inputs, outputs, diff, numerical, tolerances, nondet_tol, check_grad_dtypes, check_batched_grad, fast
        )
    if check_forward_ad:
        places = [j for j, o in enumerate(_as_tuple(func(*inputs))) if _checked(o)]
        _compare(_forward(func, inputs, outputs, diff, places, fast), numerical, diff, tolerances, forward=True)


def _check_backward(
    func: Callable[..., Any],
    inputs: tuple[Tensor, ...],
    outputs: list[Tensor],
    diff: list[int],
    numerical: list[Any],
    tolerances: list[Any],
    nondet_tol: float,
    check_grad_dtypes: bool,
    check_batched_grad: bool,
    fast: bool,
) -> None:
    analytical = _analytical(outputs, inputs, diff, check_grad_dtypes, fast)
    _compare(analytical, numerical, diff, tolerances)
    again = _analytical(outputs, inputs, diff, check_grad_dtypes, fast)
    for a, b in zip(itertools.chain(*analytical), itertools.chain(*again), strict=True):
        if a.size and np.abs(a - b).max() > nondet_tol:
            raise errors.new(
                GradcheckError,
                "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives different "
                f"values, although analytical gradient matches numerical gradient.The tolerance for nondeterminism was {nondet_tol}.",
                "Both backward passes ran on the same numbers, so something in backward is random, or it changes what forward saved.",
                instead="make backward deterministic, or pass nondet_tol if a small difference is intended.",
            )
    if check_batched_grad:
        _check_batched(outputs, inputs, diff, analytical, fast)
    _check_zero(func, inputs, diff)


def _check_inputs(inputs: tuple[Tensor, ...]) -> None:
    if not any(_checked(x) for x in inputs):
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True."
        )
    for i, x in enumerate(inputs):
        if not _checked(x):
            continue
        if x.array.dtype != np.float64:
            warnings.warn(
                f"Input #{i} requires gradient and is not a double precision floating point or complex. This check will likely fail if "
                "all the inputs are not of double precision floating point or complex. ",
                UserWarning,
                stacklevel=4,
            )
        if x.array.size and any(s == 0 and n > 1 for s, n in zip(x.array.strides, x.array.shape, strict=True)):
            raise RuntimeError(
                f"The {i}th input has a dimension with stride 0. gradcheck only supports inputs that are non-overlapping to be able to "
                "compute the numerical gradients correctly. You should call .contiguous on the input before passing it to gradcheck."
            )


def _differentiable(result: Tensor | tuple[Tensor, ...]) -> list[Tensor]:
    return [o for o in _as_tuple(result) if _checked(o)]


def _directions(x: Tensor, fast: bool, seed: int = 0) -> list[Any]:
    """Vectors in the shape of x as (place, value): each unit vector, or with `fast` one random vector of length 1."""
    if not fast:
        return [(index, 1.0) for index in np.ndindex(x.array.shape)]
    vector = np.random.RandomState(seed).uniform(size=x.array.shape)
    return [(..., vector / (np.linalg.norm(vector) or 1))]


def _along(x: Tensor, direction: tuple[Any, ...]) -> np.ndarray:
    """The direction as an array like x."""
    place, value = direction
    vector = np.zeros(x.array.shape, x.array.dtype)
    vector[place] = value
    return vector


def _sum(x: Tensor, fast: bool, seed: int = 0) -> float:
    return float(_directions(x, True, seed)[0][1].sum()) if fast else 1.0


def _summed(block: np.ndarray, outputs: Tensor, fast: bool) -> np.ndarray:
    """Rows of an output's numbers; with `fast` one sum of them, along the output's direction."""
    return block @ _directions(outputs, True, 1)[0][1].reshape(-1, 1) if fast else block


def _numerical(
    func: Callable[..., Any],
    inputs: tuple[Tensor, ...],
    diff: list[int],
    eps: float,
    only_differentiable: bool,
    fast: bool,
) -> list[Any]:
    """numerical[i][j]: the Jacobian of output j by checked input i, (input numbers, output numbers), by central differences.
    With `fast` one number: the Jacobian between the directions of both.

    The inputs themselves are moved, number by number, and moved back: the function may also reach them by other ways, and may record.
    """
    first = _as_tuple(func(*inputs))
    places = [j for j, o in enumerate(first) if isinstance(o, Variable) and (_checked(o) or not only_differentiable)]
    shapes, kinds = [first[j].array.shape for j in places], [first[j].dtype for j in places]

    def run(index: Any) -> list[np.ndarray]:
        outs = [_as_tuple(func(*inputs))[j] for j in places]
        for out, shape, kind in zip(outs, shapes, kinds, strict=True):
            if out.dtype != kind:
                raise AssertionError(
                    f"Expected `func` to return outputs with the same dtype when inputs are perturbed on index {index} by {eps}, but got: "
                    f"dtypes {kind} and {out.dtype}."
                )
            if out.array.shape != shape:
                raise AssertionError(
                    f"Expected `func` to return outputs with the same shape when inputs are perturbed on index {index} by {eps}, but got: "
                    f"shapes {Size(shape)} and {out.shape}."
                )
        return [np.array(out.array, np.float64).reshape(-1) for out in outs]

    rows = []
    for i in diff:
        array = inputs[i].array
        columns = []
        for index, step in _directions(inputs[i], fast):
            before, sides = np.array(array[index]), []
            try:
                for sign in (1, -1):
                    array[index] = before + sign * eps * step
                    sides.append(run(index))
            finally:
                array[index] = before
            columns.append([(up - down) / (2 * eps) for up, down in zip(*sides, strict=True)])
        blocks = [np.array([c[j] for c in columns]).reshape(len(columns), math.prod(n)) for j, n in enumerate(shapes)]
        rows.append([_summed(block, first[j], fast) for j, block in zip(places, blocks, strict=True)])
    return rows


def _analytical(
    outputs: list[Tensor], inputs: tuple[Tensor, ...], diff: list[int], check_dtypes: bool, fast: bool
) -> list[Any]:
    """analytical[i][j] by one backward pass per output number."""
    xs = [inputs[i] for i in diff]
    rows = [[np.zeros((1, 1) if fast else (x.numel(), o.numel())) for o in outputs] for x in xs]
    for j, out in enumerate(outputs):
        for k, direction in enumerate(_directions(out, fast, 1)):
            for i, g in enumerate(grad(out, xs, wrap(_along(out, direction)), retain_graph=True, allow_unused=True)):
                if g is None:
                    continue
                if check_dtypes and g.dtype != xs[i].dtype:
                    raise GradcheckError("Gradient has dtype mismatch")
                rows[i][j][:, k] = (g.array * _directions(xs[i], True)[0][1]).sum() if fast else g.array.reshape(-1)
    return rows


def _forward(
    func: Callable[..., Any],
    inputs: tuple[Tensor, ...],
    outputs: list[Tensor],
    diff: list[int],
    places: list[int],
    fast: bool,
) -> list[Any]:
    """The same by forward mode, one pass per input number; the other checked inputs have tangents of zeros."""
    rows = []
    for i in diff:
        x = inputs[i]
        columns = []
        for direction in _directions(x, fast):
            with forward_ad.dual_level():
                duals = [
                    forward_ad.make_dual(v.detach(), wrap(np.zeros_like(v.array))) if _checked(v) else v for v in inputs
                ]
                duals[i] = forward_ad.make_dual(x.detach(), wrap(_along(x, direction)))
                outs = [_as_tuple(func(*duals))[j] for j in places]
                pushed = [forward_ad.unpack_dual(o).tangent for o in outs]
                columns.append(
                    [
                        np.zeros(o.numel()) if t is None else np.array(t.array, np.float64).reshape(-1)
                        for o, t in zip(outs, pushed, strict=True)
                    ]
                )
        blocks = [np.array([c[j] for c in columns]).reshape(len(columns), o.numel()) for j, o in enumerate(outputs)]
        rows.append([_summed(block, o, fast) for block, o in zip(blocks, outputs, strict=True)])
    return rows


def _compare(
    analytical: list[Any], numerical: list[Any], diff: list[int], tolerances: list[Any], forward: bool = False
) -> None:
    for i, (row_a, row_n) in enumerate(zip(analytical, numerical, strict=True)):
        for j, (a, n) in enumerate(zip(row_a, row_n, strict=True)):
            atol, rtol = tolerances[i][j]
            if not np.isclose(a, n, rtol, atol, equal_nan=True).all():
                raise _mismatch(a, n, j, diff[i], atol, rtol, forward)


def _mismatch(
    a: np.ndarray, n: np.ndarray, output: int, position: int, atol: float, rtol: float, forward: bool
) -> BaseException:
    """PyTorch's error with both Jacobians; its note names the entry that differs most."""
    off = ~np.isclose(a, n, rtol, atol, equal_nan=True)
    worst = np.unravel_index(int(np.nan_to_num(np.abs(a - n), nan=np.inf).argmax()), a.shape)
    analytic, true = a[worst], n[worst]
    hint = ""
    if true and np.isfinite(analytic) and np.allclose(a, -n, rtol, atol):
        hint = "The whole gradient has the wrong sign."
    elif not a.any():
        hint = "The gradient is zero everywhere: a factor of grad_output is missing, or the graph is cut."
    elif a.shape[0] == a.shape[1] and np.allclose(a, n.T, rtol, atol):
        hint = "It is the transpose of what it should be."
    elif true and np.isfinite(analytic / true) and np.allclose(a, n * (analytic / true), rtol, atol):
        hint = f"The whole gradient is {analytic / true:.4g} times what it should be."
    return errors.new(
        GradcheckError,
        f"Jacobian {'computed with forward mode ' if forward else ''}mismatch for output {output} with respect to input {position},\n"
        f"numerical:{wrap(n)!r}\nanalytical:{wrap(a)!r}\n",
        f"{int(off.sum())} of {a.size} entries differ. The worst: input {position}, entry {int(worst[0])}, against output {output}, entry "
        f"{int(worst[1])}: your rule gives {analytic:.6g}, differences give {true:.6g}.",
        hint,
        "differentiate forward by hand for that one entry and compare with what backward returns.",
        "chapter 18, Instruments",
        JacobianMismatch(
            output,
            position,
            f"input {position}, entry {int(worst[0])}, against output {output}, entry {int(worst[1])}",
            analytic,
            true,
        ),
    )


def _check_batched(
    outputs: list[Tensor], inputs: tuple[Tensor, ...], diff: list[int], analytical: list[Any], fast: bool
) -> None:
    xs = [inputs[i] for i in diff]
    for j, out in enumerate(outputs):
        directions = _directions(out, fast, 1)
        units = np.array([_along(out, direction) for direction in directions]).reshape(
            len(directions), *out.array.shape
        )
        for i, g in enumerate(grad(out, xs, wrap(units), retain_graph=True, allow_unused=True, is_grads_batched=True)):
            block = np.zeros((len(units), xs[i].numel())) if g is None else g.array.reshape(len(units), xs[i].numel())
            if fast:
                block = block @ _directions(xs[i], True)[0][1].reshape(-1, 1)
            if not np.allclose(block.T, analytical[i][j]):
                raise GradcheckError(
                    f"For output {j} and input {diff[i]}: backward under vmap gives other numbers than one pass for each gradient."
                )


def _check_zero(func: Callable[..., Any], inputs: tuple[Tensor, ...], diff: list[int]) -> None:
    """A zero gradient in must give zero out: backward multiplies by grad_output."""
    outputs = _differentiable(func(*inputs))
    xs = [inputs[i] for i in diff]
    for g, x in zip(grad(outputs, xs, [zeros_like(o) for o in outputs], allow_unused=True), xs, strict=True):
        if g is None:
            continue
        if g.array.any():
            raise GradcheckError("backward not multiplied by grad_output")
        if g.dtype != x.dtype:
            raise GradcheckError("grad is incorrect type")
        if g.shape != x.shape:
            raise GradcheckError("grad is incorrect size")


def _undefined(tensors: list[Tensor]) -> Any:
    """Aliases of `tensors` through which no gradient arrives."""

    class UndefinedGrad(Function):
        @staticmethod
        def forward(ctx: Any, *ts: Any) -> tuple[Tensor, ...]:
            return tuple([t.clone() for t in ts])

        @staticmethod
        def backward(ctx: Any, *gs: Any) -> Any:
            return (None,) * len(gs)

    return UndefinedGrad.apply(*tensors)


def _check_undefined(func: Callable[..., Any], inputs: tuple[Tensor, ...], diff: list[int]) -> None:
    """Backward must cope with None for each output, and for all."""
    count = len(_differentiable(func(*inputs)))
    for hidden in [range(count), *([[j] for j in range(count)] if count > 1 else [])]:
        outs = _differentiable(func(*inputs))
        passed = [_undefined([o])[0] if j in hidden else o for j, o in enumerate(outs)]
        xs = [inputs[i] for i in diff]
        try:
            grads = grad(passed, xs, [zeros_like(o) for o in passed], allow_unused=True)
        except RuntimeError as error:
            warnings.warn(
                "Backwards compatibility: New undefined gradient support checking feature is enabled by default, but it may break existing "
                "callers of this function. If this is true for you, you can call this function with "
                '"check_undefined_grad=False" to disable the feature',
                stacklevel=5,
            )
            raise GradcheckError(
                'Expected backward function to handle undefined output grads. Please look at "Notes about undefined output gradients" in '
                '"tools/autograd/derivatives.yaml"'
            ) from error
        if any(g is not None and g.array.any() for g in grads):
            raise GradcheckError(
                'Expected all input grads to be undefined or zero when all output grads are undefined or zero. Please look at "Notes '
                "about undefined "
                'output gradients" in "tools/autograd/derivatives.yaml"'
            )


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Tensor | tuple[Tensor, ...],
    grad_outputs: Tensor | tuple[Tensor, ...] | None = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool | None = False,
) -> bool:
    """True if the second derivatives are right: gradcheck of the function (inputs, grad_outputs) -> gradients. Arguments as in
    gradcheck. Raises AssertionError if neither check is wanted."""
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    for name, vectors in (("check_undefined_grad", check_undefined_grad), ("check_batched_grad", check_batched_grad)):
        if vectors and not check_rev_over_rev:
            raise AssertionError(f"Setting {name}=True requires check_rev_over_rev to be True")
    inputs = _as_tuple(inputs)
    if grad_outputs is None:
        draw = np.random.default_rng(0).standard_normal
        grad_outputs = tuple(
            [wrap(np.asarray(draw(o.shape), o.array.dtype)).requires_grad_() for o in _differentiable(func(*inputs))]
        )
    else:
        grad_outputs = _as_tuple(grad_outputs)
    count = len(grad_outputs)

    def gradients(*args: Tensor) -> tuple[Tensor, ...]:
        xs = tuple(  # gradcheck detaches; here in place, because detach() would lose the tangents of forward mode
            [
                x if _checked(x) or not _checked(old) else x.requires_grad_()
                for x, old in zip(args[:-count], inputs, strict=True)
            ]
        )
        with enable_grad():
            outs = _differentiable(func(*xs))
            return tuple(
                [
                    g
                    for g in grad(
                        outs, [x for x in xs if _checked(x)], args[-count:], create_graph=True, allow_unused=True
                    )
                    if g is not None
                ]
            )

    return gradcheck(
        gradients, inputs + grad_outputs, eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception, nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad, check_grad_dtypes=check_grad_dtypes, check_batched_grad=check_batched_grad,
        check_forward_ad=check_fwd_over_rev, check_backward_ad=check_rev_over_rev, fast_mode=fast_mode,
    )  # fmt: skip
