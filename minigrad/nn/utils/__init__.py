"""torch.nn.utils: gradients clipped, parameters as one vector, weights that are computed from others (parametrize.py)."""

from collections.abc import Iterable
from inspect import signature
from typing import Any

import numpy as np

from ...ops.joins import cat
from ...random import default_generator
from ...tensors.tensor import Tensor
from ..module import Module
from . import parametrizations, parametrize, rnn
from .old_norms import remove_spectral_norm, remove_weight_norm, spectral_norm, weight_norm


def _gradients(parameters: Any) -> list[Tensor]:
    parameters = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    return [p.grad for p in parameters if p.grad is not None]


def get_total_norm(
    tensors: Iterable[Tensor], norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: bool | None = None
) -> Tensor:
    """The norm of all tensors together, as if they were one vector. Raises RuntimeError if it is not finite and that is an error."""
    arrays = [t.array for t in ([tensors] if isinstance(tensors, Tensor) else tensors)]
    norm_type = float(norm_type)
    if not arrays:
        return Tensor._wrap(np.zeros((), np.float32))
    norms = np.array([_norm(a, norm_type) for a in arrays], arrays[0].dtype)
    total = np.asarray(_norm(norms, norm_type), arrays[0].dtype)
    if error_if_nonfinite and not np.isfinite(total):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it cannot be clipped. To disable this "
            "error and scale the gradients by the non-finite norm anyway, set `error_if_nonfinite=False`"
        )
    return Tensor._wrap(total)


def _norm(a: np.ndarray, p: float) -> np.ndarray:
    a = np.abs(a).ravel()
    if p == np.inf:
        return a.max(initial=0)
    if p == -np.inf:
        return a.min() if a.size else np.zeros((), a.dtype)
    if p == 0:
        return np.asarray(np.count_nonzero(a), a.dtype)
    if p == 2:
        return np.sqrt(a.dot(a))
    with np.errstate(divide="ignore"):  # 0 ** -1 is inf, and the norm of a negative order then 0
        return a.sum() if p == 1 else (a**p).sum() ** (1 / p)


def clip_grads_with_norm_(parameters: Any, max_norm: float, total_norm: Tensor, foreach: bool | None = None) -> None:
    """Multiply all gradients by max_norm / total_norm if that is below 1."""
    factor = (
        min(max_norm / (total_norm.item() + 1e-6), 1.0)
        if np.isfinite(total_norm.array)
        else float(max_norm / total_norm.array)
    )
    for g in _gradients(parameters):
        g.array *= g.array.dtype.type(factor)
        g.version[0] += 1


def clip_grad_norm_(
    parameters: Any,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Shrink the gradients, all by one factor, so that their norm together is at most max_norm. Returns the norm before.

    >>> import minigrad as torch
    >>> w = torch.tensor([0.0, 0.0], requires_grad=True)
    >>> w.grad = torch.tensor([3.0, 4.0])
    >>> torch.nn.utils.clip_grad_norm_([w], max_norm=1.0), w.grad
    (tensor(5.), tensor([0.6000, 0.8000]))
    """
    parameters = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    total = get_total_norm(_gradients(parameters), norm_type, error_if_nonfinite)
    clip_grads_with_norm_(parameters, float(max_norm), total)
    return total


def clip_grad_value_(parameters: Any, clip_value: float, foreach: bool | None = None) -> None:
    """Limit every element of the gradients to [-clip_value, clip_value]."""
    clip_value = float(clip_value)
    for g in _gradients(parameters):
        np.clip(g.array, -clip_value, clip_value, out=g.array)
        g.version[0] += 1


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """All parameters, one after the other, as one vector (part of the graph)."""
    return cat([p.view(-1) for p in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Set the parameters to consecutive parts of the vector. Raises TypeError if it is no tensor."""
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {type(vec).__module__}.{type(vec).__qualname__}")
    start = 0
    for p in parameters:
        p.data = vec[start : start + p.numel()].view_as(p).data
        start += p.numel()


def skip_init(module_cls: type, *args: Any, **kwargs: Any) -> Any:
    """A module whose parameters hold anything. No random numbers are drawn for them: a seeded program continues as in PyTorch.

    Raises RuntimeError for a class that is no Module or takes no `device`.
    """
    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    state = default_generator.get_state()
    module = module_cls(*args, **kwargs)
    default_generator.set_state(state)
    return module.to_empty(device=None)


__all__ = [
    "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm", "parameters_to_vector", "parametrizations",
    "parametrize", "remove_spectral_norm", "remove_weight_norm", "rnn", "skip_init", "spectral_norm", "vector_to_parameters", "weight_norm",
]  # fmt: skip


from ...core import errors as _errors  # noqa: E402

__getattr__ = _errors.unknown_in("minigrad.nn.utils", lambda: list(globals()))
