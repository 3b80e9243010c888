"""torch.nn.utils.parametrizations: weights divided by their largest singular value, or split into length and direction."""

from typing import Any

from ...core.grad_mode import no_grad
from ...tensors.create import randn
from ...tensors.tensor import Tensor
from .. import functional as F
from ..conv import _ConvTranspose
from ..module import Module
from . import parametrize


def norm_except_dim(v: Tensor, dim: int) -> Tensor:
    """The length of each part along `dim`, in a shape that broadcasts; -1: of the whole."""
    if dim == -1:
        return v.norm()
    others = tuple([d for d in range(v.ndim) if d != dim % v.ndim])
    return v.norm(2, others, True) if others else v.abs()


class _WeightNorm(Module):
    def __init__(self, dim: int | None = 0):
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        return weight_v * (weight_g / norm_except_dim(weight_v, self.dim))

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        return norm_except_dim(weight, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """w = g * v / |v|: the lengths along `dim` (original0) and the directions (original1) are trained apart.

    Salimans and Kingma, Weight normalization, 2016, https://arxiv.org/abs/1602.07868
    """
    parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def old_names(state_dict: dict, prefix: str, *_: Any) -> None:
        for old, new in (("_g", "original0"), ("_v", "original1")):
            if f"{prefix}{name}{old}" in state_dict:
                state_dict[f"{prefix}parametrizations.{name}.{new}"] = state_dict.pop(f"{prefix}{name}{old}")

    module._register_load_state_dict_pre_hook(old_names)
    return module


def as_matrix(weight: Tensor, dim: int) -> Tensor:
    """The weight with `dim` as rows and everything else as columns."""
    return (weight.movedim(dim, 0) if dim else weight).flatten(1)


def power_method(matrix: Tensor, u: Tensor, v: Tensor, steps: int, eps: float) -> None:
    """Move u and v, in place, towards the first singular vectors."""
    with no_grad():
        for _ in range(steps):
            u.copy_(F.normalize(matrix.mv(v), dim=0, eps=eps))
            v.copy_(F.normalize(matrix.t().mv(u), dim=0, eps=eps))


def unit(n: int, eps: float, like: Tensor) -> Tensor:
    """A random direction."""
    return F.normalize(randn(n, dtype=like.dtype), dim=0, eps=eps)


class _SpectralNorm(Module):
    def __init__(self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12):
        super().__init__()
        n = weight.ndim
        if not -n <= dim < n:
            raise IndexError(f"Dimension out of range (expected to be in range of [-{n}, {n - 1}] but got {dim})")
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.dim, self.eps = dim % n, eps
        if n > 1:
            self.n_power_iterations = n_power_iterations
            matrix = as_matrix(weight, self.dim)
            self.register_buffer("_u", unit(matrix.shape[0], eps, weight))
            self.register_buffer("_v", unit(matrix.shape[1], eps, weight))
            power_method(matrix, self._u, self._v, 15, eps)

    def forward(self, weight: Tensor) -> Tensor:
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = as_matrix(weight, self.dim)
        if self.training:
            power_method(matrix, self._u, self._v, self.n_power_iterations, self.eps)
        u, v = self._u.clone(), self._v.clone()  # two forward passes may be differentiated together
        return weight / u.dot(matrix.mv(v))

    def right_inverse(self, value: Tensor) -> Tensor:
        return value


def default_dim(module: Module) -> int:
    return 1 if isinstance(module, _ConvTranspose) else 0


def spectral_norm(
    module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Module:
    """The weight divided by its largest singular value, which a step of the power method tracks in each forward of training.
    Raises ValueError if there is no such parameter.

    Miyato et al., Spectral normalization for generative adversarial networks, 2018, https://arxiv.org/abs/1802.05957
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    dim = default_dim(module) if dim is None else dim
    return parametrize.register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))


__all__ = ["spectral_norm", "weight_norm"]


from ...core import errors as _errors  # noqa: E402

__getattr__ = _errors.unknown_in("minigrad.nn.utils.parametrizations", lambda: list(globals()))
