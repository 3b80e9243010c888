"""torch.cuda, for `device = "cuda" if torch.cuda.is_available() else "cpu"`: there is no such device."""

from ..core import errors
from . import amp


def is_available() -> bool:
    return False


def device_count() -> int:
    return 0


def manual_seed(seed: int) -> None:
    """Nothing: there is no such device."""


manual_seed_all = manual_seed


def synchronize(device: object = None) -> None:
    """Nothing: there is nothing to wait for."""


def empty_cache() -> None:
    """Nothing: there is no such memory."""


__all__ = ["amp", "device_count", "empty_cache", "is_available", "manual_seed", "manual_seed_all", "synchronize"]
__getattr__ = errors.unknown_in("minigrad.cuda", lambda: __all__)
