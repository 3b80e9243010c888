"""torch.utils: data loading, checkpointing."""

import importlib
from typing import Any

from ..core import errors


def __getattr__(name: str) -> Any:
    if name in ("checkpoint", "data"):  # loaded when asked for
        return importlib.import_module(f"{__name__}.{name}")
    return _unknown(name)


_unknown = errors.unknown_in("minigrad.utils", lambda: ["checkpoint", "data"])
