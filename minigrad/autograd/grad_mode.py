"""torch.autograd.grad_mode: PyTorch's place for the modes of core/grad_mode.py."""

from ..core.grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled, set_multithreading_enabled

__all__ = ["enable_grad", "inference_mode", "no_grad", "set_grad_enabled", "set_multithreading_enabled"]
