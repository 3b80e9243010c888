"""torch.accelerator, for `torch.accelerator.current_accelerator().type if torch.accelerator.is_available() else "cpu"`."""

from typing import Any

from .core import errors


def is_available() -> bool:
    """False: minigrad computes on the CPU, which is no accelerator."""
    return False


def device_count() -> int:
    return 0


def current_accelerator(check_available: bool = False) -> None:
    """None: there is no accelerator."""


def synchronize(device: Any = None) -> None:
    """Nothing: there is nothing to wait for."""


__all__ = ["current_accelerator", "device_count", "is_available", "synchronize"]
__getattr__ = errors.unknown_in("minigrad.accelerator", lambda: __all__)
