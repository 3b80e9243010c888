"""nn.utils.weight_norm and nn.utils.spectral_norm: the older form of parametrizations.py, a hook before forward that sets the weight."""

import warnings
from typing import Any

from ...core.grad_mode import no_grad
from ...tensors.tensor import Tensor
from ..module import Module
from ..parameter import Parameter
from . import parametrizations as new


class WeightNorm:
    """The hook: `weight` is computed from `weight_g` (lengths) and `weight_v` (directions)."""

    def __init__(self, module: Module, name: str, dim: int | None):
        self.name, self.dim = name, -1 if dim is None else dim
        weight = getattr(module, name)
        del module._parameters[name]
        module.register_parameter(name + "_g", Parameter(new.norm_except_dim(weight, self.dim).detach()))
        module.register_parameter(name + "_v", Parameter(weight.detach()))
        setattr(module, name, self.compute_weight(module))

    def compute_weight(self, module: Module) -> Tensor:
        g, v = getattr(module, self.name + "_g"), getattr(module, self.name + "_v")
        return v * (g / new.norm_except_dim(v, self.dim))

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))

    def remove(self, module: Module) -> None:
        weight = self.compute_weight(module)
        delattr(module, self.name)
        del module._parameters[self.name + "_g"], module._parameters[self.name + "_v"]
        setattr(module, self.name, Parameter(weight.detach()))


class SpectralNorm:
    """The hook: `weight` is `weight_orig` divided by its largest singular value; `weight_u` and `weight_v` are the singular vectors."""

    def __init__(self, module: Module, name: str, n_power_iterations: int, eps: float, dim: int):
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.name, self.n_power_iterations, self.eps, self.dim = name, n_power_iterations, eps, dim
        weight = module._parameters[name]
        if weight is None:
            raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
        matrix = new.as_matrix(weight, dim)
        delattr(module, name)
        module.register_parameter(name + "_orig", weight)
        setattr(module, name, weight.data)
        module.register_buffer(name + "_u", new.unit(matrix.shape[0], eps, weight))
        module.register_buffer(name + "_v", new.unit(matrix.shape[1], eps, weight))

    def compute_weight(self, module: Module, do_power_iteration: bool) -> Tensor:
        weight, u, v = (getattr(module, self.name + end) for end in ("_orig", "_u", "_v"))
        matrix = new.as_matrix(weight, self.dim)
        if do_power_iteration:
            new.power_method(matrix.t(), v, u, self.n_power_iterations, self.eps)
            u, v = u.clone(), v.clone()
        return weight / u.dot(matrix.mv(v))

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, module.training))

    def remove(self, module: Module) -> None:
        with no_grad():
            weight = self.compute_weight(module, False)
        for end in ("", "_u", "_v", "_orig"):
            delattr(module, self.name + end)
        module.register_parameter(self.name, Parameter(weight.detach()))


def _find(module: Module, kind: type, name: str) -> int | None:
    hooks = module._forward_pre_hooks.items()
    return next((key for key, hook in hooks if isinstance(hook, kind) and getattr(hook, "name", None) == name), None)


def _remove(module: Module, kind: type, what: str, name: str) -> Module:
    key = _find(module, kind, name)
    if key is None:
        raise ValueError(f"{what} of '{name}' not found in {module}")
    module._forward_pre_hooks.pop(key).remove(module)
    return module


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """See parametrizations.weight_norm, which replaces it. Raises RuntimeError the second time."""
    warnings.warn(
        "`torch.nn.utils.weight_norm` is deprecated in favor of `torch.nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
        stacklevel=2,
    )
    if _find(module, WeightNorm, name) is not None:
        raise RuntimeError(f"Cannot register two weight_norm hooks on the same parameter {name}")
    module.register_forward_pre_hook(WeightNorm(module, name, dim))
    return module


def remove_weight_norm(module: Module, name: str = "weight") -> Module:
    """A plain parameter again."""
    return _remove(module, WeightNorm, "weight_norm", name)


def spectral_norm(
    module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Module:
    """See parametrizations.spectral_norm, which replaces it. Raises RuntimeError the second time."""
    if _find(module, SpectralNorm, name) is not None:
        raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
    hook = SpectralNorm(module, name, n_power_iterations, eps, new.default_dim(module) if dim is None else dim)
    module.register_forward_pre_hook(hook)
    return module


def remove_spectral_norm(module: Module, name: str = "weight") -> Module:
    """A plain parameter again."""
    return _remove(module, SpectralNorm, "spectral_norm", name)
