"""The named tuples that operations with several results return: PyTorch's torch.return_types."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

_named: dict[str, type] = {}


def named(name: str, *fields: Any) -> type:
    """The named tuple type that PyTorch calls torch.return_types.<name>."""
    if name not in _named:
        make: Any = namedtuple  # to a type checker the name must be a literal
        kind: Any = make(name, fields)
        kind.__repr__ = lambda self: (
            f"torch.return_types.{name}(\n" + ",\n".join(f"{f}={getattr(self, f)!r}" for f in fields) + ")"
        )
        _named[name] = kind
    return _named[name]
