"""The named tuples that operations with several results return: PyTorch's torch.return_types."""

from collections import namedtuple

_named: dict[str, type] = {}


def named(name, *fields):
    """The named tuple type that PyTorch calls torch.return_types.<name>."""
    if name not in _named:
        _named[name] = namedtuple(name, fields)
        _named[name].__repr__ = lambda self: (
            f"torch.return_types.{name}(\n" + ",\n".join(f"{f}={getattr(self, f)!r}" for f in fields) + ")"
        )
    return _named[name]
