"""torch.utils: data loading, checkpointing."""

import importlib
from typing import Any


def __getattr__(name: str) -> Any:
    if name in ("checkpoint", "data"):  # loaded when asked for
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
