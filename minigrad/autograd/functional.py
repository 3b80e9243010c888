"""torch.autograd.functional: Jacobians and Hessians, whole or times a vector, of a function at a point.

What lives here: the arguments and the checks of `strict`. What does not: torch.func (func/transforms.py), which does the same with
functions that return functions, and composes.

All of it is made of `autograd.grad`. J v in reverse mode needs two passes: v'J is linear in v, and the transpose of that map is J v.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.constants import zeros_like
from ..core.dispatch import state
from ..core.grad_mode import enable_grad, set_grad_enabled
from ..core.variable import alias as again
from ..core.variable import wrap
from ..func import jacfwd
from ..ops.joins import stack
from ..ops.shape import alias
from .backward import grad

if TYPE_CHECKING:
    from ..tensors.tensor import Tensor
    from ..tensors.tensor import Tensor as Variable  # its only direct subclass, with all the methods
else:
    from ..core.variable import Variable

_STRICT = " This is not allowed in strict mode."


def _as_tuple(values: Any, argument: str, function: str) -> tuple[Any, ...]:
    """(was it a tuple?, the tuple). Raises TypeError for anything but tensors."""
    several = isinstance(values, tuple)
    values = values if several else (values,)
    for i, x in enumerate(values):
        if not isinstance(x, Variable):
            which = f"value at index {i}" if several else f"given {argument}"
            raise TypeError(
                f"The {argument} given to {function} must be either a Tensor or a tuple of Tensors but the {which} has type {type(x)}."
            )
    return several, values


def _untuple(values: Any, *several: Any) -> Tensor | tuple[Any, ...]:
    """Undo _as_tuple for the outer level and, with a second flag, for the inner one."""
    if len(several) == 2 and not several[1]:
        values = tuple([v[0] for v in values])
    return values if several[0] else values[0]


def _fresh(tensors: Any, create_graph: bool, requires: bool = True) -> tuple[Tensor, ...]:
    """New tensors, so that the function's arguments are not confused with the same tensors captured by it; attached only if asked for."""
    new = [alias(x) if create_graph and x.requires_grad else x.detach() for x in tensors]
    if requires:  # a transform around this would take the results for constants: then requires_grad_() refuses
        new = [x if x.requires_grad else x.requires_grad_() for x in new]
    return tuple(new)


def _detached(x: Any) -> Any:
    x = x.detach()
    x.requires_grad = True  # not requires_grad_(): that is refused inside of the transforms that `vectorize` uses
    return x


def _finished(values: Any, create_graph: bool) -> Any:
    """Results without history, unless it was asked for."""
    if create_graph:
        return values
    return tuple([v.detach() if isinstance(v, Variable) else _finished(v, False) for v in values])


def _check_v(v: tuple[Tensor, ...], others: tuple[Tensor, ...], several: bool) -> None:
    if len(v) != len(others):
        if several:
            raise RuntimeError(f"v is a tuple of invalid length: should be {len(others)} but got {len(v)}.")
        raise RuntimeError("The given v should contain a single Tensor.")
    for i, (x, other) in enumerate(zip(v, others, strict=True)):
        if x.shape != other.shape:
            raise RuntimeError(
                f"{f'Entry {i} in ' if several else ''}v has invalid size: should be {other.shape} but got {x.shape}."
            )


def _vector(
    v: Tensor | tuple[Tensor, ...] | None,
    others: tuple[Tensor, ...],
    several: bool,
    function: str,
    create_graph: bool,
    sentence: str,
) -> tuple[Tensor | None, ...]:
    """The vector as a tuple that fits `others`; None is allowed where there is one number only."""
    if v is None:
        if len(others) != 1 or others[0].numel() != 1:
            raise RuntimeError(sentence)
        return (None,)
    _, v = _as_tuple(v, "v", function)
    v = _fresh(v, create_graph, False)
    _check_v(v, others, several)
    return v


def _require(tensors: Any, strict: bool, sentence: str) -> None:
    """In strict mode all values must depend on the inputs; `sentence` has a placeholder for the number of one that does not."""
    for i, x in enumerate(tensors if strict else ()):
        if x is None:
            raise RuntimeError(f"The output of the user-provided function is independent of input {i}." + _STRICT)
        if not x.requires_grad:
            raise RuntimeError(sentence.format(i))


_OUTPUTS = (
    "Output {} of the user-provided function does not require gradients. The outputs must be computed in a differentiable manner from the "
    "input when running in strict mode."
)
_GRAD_INPUTS = "The gradient with respect to input {} is independent of the inputs of the user-provided function. This is not allowed in strict mode."  # noqa: E501
_JACOBIAN = (
    "While computing the hessian, found that the jacobian of the user-provided function with respect to input {} is independent of the "
    "input. This is not allowed in strict mode. You should ensure that your function is twice differentiable and that the jacobian depends "
    "on the inputs (this would be violated by a linear function for example)."
)
_HESSIAN = (
    "The hessian of the user-provided function with respect to input {} is independent of the input. This is not allowed in strict mode. "
    "You should ensure that your function is thrice differentiable and that the hessian depends on the inputs."
)


def _grad(
    outputs: tuple[Tensor | None, ...],
    inputs: Any,
    vectors: Any = None,
    create_graph: bool = False,
    retain_graph: bool | None = None,
    batched: bool = False,
) -> tuple[Tensor | None, ...]:
    """autograd.grad that leaves out outputs without history; None where nothing arrives."""
    vectors = vectors or (None,) * len(outputs)
    pairs = [(o, v) for o, v in zip(outputs, vectors, strict=True) if o is not None and o.requires_grad]
    if not pairs:
        return (None,) * len(inputs)
    outs, vs = zip(*pairs, strict=True)
    return grad(outs, inputs, vs, retain_graph, create_graph, allow_unused=True, is_grads_batched=batched)


def _filled(
    grads: tuple[Tensor | None, ...],
    likes: Any,
    strict: bool,
    create_graph: bool,
    missing: str,
    detached: str,
) -> tuple[Tensor, ...]:
    """Zeros in the places of None. In strict mode raises instead: `missing` for None, `detached` for what carries no graph though asked
    to."""
    filled = []
    for i, (g, like) in enumerate(zip(grads, likes, strict=True)):
        if g is None:
            if strict:
                raise RuntimeError(missing.format(i))
            g = zeros_like(like)
        elif strict and create_graph and g is not None and not g.requires_grad:
            raise RuntimeError(detached.format(i))
        filled.append(g)
    return tuple(filled)


_NO_JACOBIAN = "The jacobian of the user-provided function is independent of input {}. This is not allowed in strict mode when create_graph=True."  # noqa: E501
_NO_HESSIAN = "The hessian of the user-provided function is independent of input {}. This is not allowed in strict mode when create_graph=True."  # noqa: E501
_TRICK = (
    "The gradient with respect to the input is independent of entry {} in the grad_outputs when using the double backward trick to compute "
    "forward mode gradients. This is not allowed in strict mode."
)
_DOUBLE_TRICK = (
    "The hessian of the user-provided function is independent of entry {} in the grad_jacobian. This is not allowed in strict mode as it "
    "prevents from using the double backward trick to replace forward mode AD."
)


def vjp(
    func: Callable[..., Any],
    inputs: Tensor | tuple[Tensor, ...],
    v: Tensor | tuple[Tensor, ...] | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """(func(*inputs), v'J): the vector-Jacobian product, of the shape of the inputs.

    v             like the outputs; None if there is one output number
    create_graph  the results can be differentiated again
    strict        raise RuntimeError where an output does not depend on an input (otherwise zeros)

    >>> import minigrad as torch
    >>> torch.autograd.functional.vjp(lambda x, y: x.dot(y).sin(), (torch.arange(1., 5.), torch.arange(5., 9.)))[1][0]
    tensor([3.1666, 3.7999, 4.4332, 5.0666])
    """
    with enable_grad():
        several_in, inputs = _as_tuple(inputs, "inputs", "vjp")
        inputs = _fresh(inputs, create_graph)
        several_out, outputs = _as_tuple(func(*inputs), "outputs of the user-provided function", "vjp")
        _require(outputs, strict, _OUTPUTS)
        sentence = (
            "The vector v can only be None if the user-provided function returns a single Tensor with a single element."
        )
        vector = _vector(v, outputs, several_out, "vjp", create_graph, sentence)
    with set_grad_enabled(create_graph or state.grad):
        gradients = _grad(outputs, inputs, vector, create_graph)
        missing = "The output of the user-provided function is independent of input {}." + _STRICT
        gradients = _filled(gradients, inputs, strict, create_graph, missing, _NO_JACOBIAN)
    return _untuple(_finished(outputs, create_graph), several_out), _untuple(
        _finished(gradients, create_graph), several_in
    )


_NO_INPUT_VECTOR = (
    "The vector v can only be None if the input to the user-provided function is a single Tensor with a single element."
)


def jvp(
    func: Callable[..., Any],
    inputs: Tensor | tuple[Tensor, ...],
    v: Tensor | tuple[Tensor, ...] | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """(func(*inputs), Jv): the Jacobian-vector product, of the shape of the outputs; by two reverse passes. torch.func.jvp needs one.

    v is like the inputs; create_graph and strict as in vjp.

    >>> import minigrad as torch
    >>> x, y = torch.arange(1., 5.), torch.arange(5., 9.)
    >>> torch.autograd.functional.jvp(lambda a, b: a.dot(b).sin(), (x, y), (torch.full_like(x, 0.1), torch.full_like(y, 0.2)))
    (tensor(0.7739), tensor(2.9133))
    """
    with enable_grad():
        several_in, inputs = _as_tuple(inputs, "inputs", "jvp")
        inputs = _fresh(inputs, create_graph)
        vector = _vector(v, inputs, several_in, "jvp", create_graph, _NO_INPUT_VECTOR)
        several_out, outputs = _as_tuple(func(*inputs), "outputs of the user-provided function", "jvp")
        _require(outputs, strict, _OUTPUTS)
        cotangents = tuple([zeros_like(o, requires_grad=True) for o in outputs])
        pulled = _grad(outputs, inputs, cotangents, create_graph=True)
        _require(pulled, strict, _GRAD_INPUTS)
    with set_grad_enabled(create_graph or state.grad):
        gradients = _grad(pulled, cotangents, vector, create_graph)
        gradients = _filled(gradients, outputs, strict, create_graph, _TRICK, _NO_JACOBIAN)
    return _untuple(_finished(outputs, create_graph), several_out), _untuple(
        _finished(gradients, create_graph), several_out
    )


def jacobian(
    func: Callable[..., Any],
    inputs: Tensor | tuple[Tensor, ...],
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Tensor | tuple[Any, ...]:
    """All derivatives: for each output and input a tensor of shape (*output shape, *input shape), nested in tuples where there are several.

    vectorize  one pass for all output numbers together (vmap) instead of one for each
    strategy   "reverse-mode" (a pass per output number) or "forward-mode" (a pass per input number; needs vectorize=True)
    Raises AssertionError for another strategy, NotImplementedError for forward mode with create_graph, RuntimeError for
    `strict` with `vectorize`.
    """
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function has more outputs than inputs, '
            '"forward-mode" tends '
            'to be more performant. Otherwise, prefer to use "reverse-mode".'
        )
    if strategy == "forward-mode":
        if create_graph:
            raise NotImplementedError(
                'torch.autograd.functional.jacobian: `create_graph=True` and `strategy="forward-mode"` are not supported together '
                "(yet). Please either "
                'set `create_graph=False` or `strategy="reverse-mode"`.'
            )
        return _forward_jacobian(func, inputs, strict, vectorize)
    with enable_grad():
        several_in, inputs = _as_tuple(inputs, "inputs", "jacobian")
        inputs = _fresh(inputs, create_graph)
        several_out, outputs = _as_tuple(func(*inputs), "outputs of the user-provided function", "jacobian")
        _require(outputs, strict, _OUTPUTS)
        if vectorize and strict:
            raise RuntimeError(
                "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported together. Please either set "
                "`strict=False` or `vectorize=False`."
            )
        rows = [_rows(i, out, inputs, create_graph, strict, vectorize) for i, out in enumerate(outputs)]
        return _untuple(_finished(tuple(rows), create_graph), several_out, several_in)


def _rows(
    number: int, out: Tensor, inputs: Any, create_graph: bool, strict: bool, vectorize: bool
) -> tuple[Tensor, ...]:
    """The Jacobian of one output by each input."""
    n = out.numel()
    eye = np.eye(n, dtype=out.array.dtype).reshape(n, *out.array.shape)
    if vectorize:
        columns = _grad((out,), inputs, (wrap(eye),), create_graph, True, batched=True)
        blocks = [zeros_like(x).expand(n, *x.shape) if c is None else c for c, x in zip(columns, inputs, strict=True)]
    else:
        saved: list[list[Tensor]] = [[] for _ in inputs]
        flat = out.reshape(-1)
        for j in range(n):
            gradients = _grad((flat[j],), inputs, None, create_graph, True)
            for i, (g, x) in enumerate(zip(gradients, inputs, strict=True)):
                if strict and g is None:
                    raise RuntimeError(
                        f"Output {number} of the user-provided function is independent of input {i}." + _STRICT
                    )
                if strict and create_graph and g is not None and not g.requires_grad:
                    raise RuntimeError(_NO_JACOBIAN.format(number))
                saved[i].append(zeros_like(x) if g is None else g)
        blocks = [
            stack(rows) if rows else zeros_like(x).expand(0, *x.shape) for rows, x in zip(saved, inputs, strict=True)
        ]
    return tuple([b.reshape(*out.shape, *x.shape) for b, x in zip(blocks, inputs, strict=True)])


def _forward_jacobian(
    func: Callable[..., Any], inputs: Tensor | tuple[Tensor, ...], strict: bool, vectorize: bool
) -> Tensor | tuple[Any, ...]:
    if strict:
        raise RuntimeError(
            'torch.autograd.functional.jacobian: `strict=True` and `strategy="forward-mode"` are not supported together (yet). Please '
            "either set "
            '`strict=False` or `strategy="reverse-mode"`.'
        )
    if not vectorize:
        raise NotImplementedError(
            "Computing Jacobian using forward-AD or forward-over-reverse Hessian isonly implemented for `vectorize=True`."
        )
    several_in, inputs = _as_tuple(inputs, "inputs", "jacobian")
    several_out = True

    def called(*xs: Tensor) -> tuple[Tensor, ...]:
        nonlocal several_out
        several_out, outputs = _as_tuple(func(*xs), "outputs of the user-provided function", "jacobian")
        return outputs

    jacobians = jacfwd(called, tuple(range(len(inputs))))(*inputs)
    return _untuple(_finished(jacobians, state.grad), several_out, several_in)


def hessian(
    func: Callable[..., Any],
    inputs: Tensor | tuple[Tensor, ...],
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Tensor | tuple[Any, ...]:
    """The second derivatives of a function with one output number: for inputs i, j a tensor of shape (*shape of i, *shape of j).
    Raises AssertionError for another strategy, RuntimeError for a result that is not one number."""
    several, inputs = _as_tuple(inputs, "inputs", "hessian")
    if outer_jacobian_strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')

    def one_number(*xs: Tensor) -> Tensor:
        out = func(*xs)
        was_tuple, outs = _as_tuple(out, "outputs of the user-provided function", "hessian")
        _require(outs, strict, _OUTPUTS)
        _check_number(was_tuple, outs, "hessian")
        return out.squeeze()

    def gradient(*xs: Tensor) -> Any:
        if outer_jacobian_strategy == "forward-mode":
            xs = tuple([x if x.requires_grad else _detached(alias(x)) if x.meta is None else _leaf(x) for x in xs])
        result = jacobian(one_number, xs, create_graph=True)
        _require(result, strict, _JACOBIAN)
        return result

    result = jacobian(gradient, inputs, create_graph, strict, vectorize, outer_jacobian_strategy)
    return _untuple(result, several, several)


def _leaf(x: Tensor) -> Tensor:
    """A leaf with the tangents of `x`."""
    out = again(x)
    out.view_meta = out.edge = None
    out.requires = True
    return out


def _check_number(was_tuple: bool, outs: tuple[Tensor, ...], function: str) -> None:
    if was_tuple:
        raise RuntimeError(f"The function given to {function} should return a single Tensor")
    if outs[0].numel() != 1:
        raise RuntimeError(f"The Tensor returned by the function given to {function} should contain a single element")


def _gradient(
    func: Callable[..., Any],
    inputs: Tensor | tuple[Tensor, ...],
    v: Any,
    create_graph: bool,
    strict: bool,
    function: str,
) -> tuple[Any, ...]:
    """What vhp and hvp begin with: inputs, vector, output and its recorded gradient."""
    several, inputs = _as_tuple(inputs, "inputs", function)
    inputs = _fresh(inputs, create_graph)
    v = _vector(v, inputs, several, function, create_graph, _NO_INPUT_VECTOR)
    was_tuple, outputs = _as_tuple(func(*inputs), "outputs of the user-provided function", function)
    _require(outputs, strict, _OUTPUTS)
    _check_number(was_tuple, outputs, function)
    gradients = _grad(outputs, inputs, create_graph=True)
    _require(gradients, strict, _JACOBIAN)
    return several, inputs, v, outputs, gradients


def vhp(
    func: Callable[..., Any],
    inputs: Tensor | tuple[Tensor, ...],
    v: Tensor | tuple[Tensor, ...] | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """(func(*inputs), v'H) for a function with one output number: the gradient of <gradient, v>."""
    with enable_grad():
        several, inputs, v, outputs, gradient = _gradient(func, inputs, v, create_graph, strict, "vhp")
    with set_grad_enabled(create_graph or state.grad):
        gradients = _grad(gradient, inputs, v, create_graph)
        missing = "The jacobian of the user-provided function is independent of input {}." + _STRICT
        gradients = _filled(gradients, inputs, strict, create_graph, missing, _NO_HESSIAN)
    return _finished(outputs, create_graph)[0], _untuple(_finished(gradients, create_graph), several)


def hvp(
    func: Callable[..., Any],
    inputs: Tensor | tuple[Tensor, ...],
    v: Tensor | tuple[Tensor, ...] | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """(func(*inputs), Hv). The Hessian is symmetric, so vhp gives the same for less; hvp is for checking that."""
    with enable_grad():
        several, inputs, v, outputs, gradient = _gradient(func, inputs, v, create_graph, strict, "hvp")
        cotangents = tuple([zeros_like(x, requires_grad=True) for x in inputs])
        pulled = _grad(gradient, inputs, cotangents, create_graph=True)
        _require(gradient, strict, _HESSIAN)
    with set_grad_enabled(create_graph or state.grad):
        gradients = _grad(pulled, cotangents, v, create_graph)
        gradients = _filled(gradients, inputs, strict, create_graph, _DOUBLE_TRICK, _NO_HESSIAN)
    return _finished(outputs, create_graph)[0], _untuple(_finished(gradients, create_graph), several)


__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]
