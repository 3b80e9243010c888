"""Tensors in nested tuples, lists and dicts, flat and back again.

What lives here: `flatten`, `unflatten`, `broadcast_to`. What does not: what is done with the leaves.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    pass


class Spec(NamedTuple):
    """The structure: `kind` is the container's type (None: a leaf), `context` a dict's keys or a named tuple's class."""

    kind: Any
    context: Any
    children: tuple[Spec, ...]

    def __str__(self) -> str:
        return self._text(0)

    def _text(self, indent: int) -> str:
        """As PyTorch prints it: the first child on the same line, the others below each other."""
        if self.kind is None:
            return "*"
        start = f"TreeSpec({self.kind.__name__}, {self.context}, ["
        parts = [child._text(indent + 2) for child in self.children]
        return start + (",\n" + " " * (indent + 2)).join(parts) + "])"

    def __repr__(self) -> str:
        return str(self)


LEAF = Spec(None, None, ())


def flatten(tree: Any) -> tuple[list[Any], Spec]:
    """The leaves in order, and the structure to put others in their places."""
    leaves: list[Any] = []
    return leaves, _flatten(tree, leaves)


def _flatten(tree: Any, leaves: list[Any]) -> Spec:
    kind = type(tree)
    if kind in (tuple, list):
        return Spec(kind, None, tuple([_flatten(t, leaves) for t in tree]))
    if kind in (dict, OrderedDict):
        return Spec(kind, list(tree), tuple([_flatten(t, leaves) for t in tree.values()]))
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return Spec(tuple, kind, tuple([_flatten(t, leaves) for t in tree]))
    leaves.append(tree)
    return LEAF


def unflatten(leaves: Any, spec: Spec) -> Any:
    """A tree of the given structure with these leaves."""
    return _unflatten(iter(leaves), spec)


def _unflatten(leaves: Any, spec: Spec) -> Any:
    if spec.kind is None:
        return next(leaves)
    children = [_unflatten(leaves, child) for child in spec.children]
    if spec.kind in (dict, OrderedDict):
        return spec.kind(zip(spec.context, children, strict=True))
    return spec.context(*children) if spec.context is not None else spec.kind(children)


def map_tree(function: Callable[..., Any], tree: Any) -> Any:
    """The same structure with function(leaf) for each leaf."""
    leaves, spec = flatten(tree)
    return unflatten([function(leaf) for leaf in leaves], spec)


def broadcast_to(tree: int | tuple[int | None, ...] | None, spec: Spec) -> Any:
    """One leaf of `tree` for each leaf of `spec`: a leaf of `tree` may be given for a whole subtree. None if the structures do not fit."""
    if spec.kind is None or not isinstance(tree, (tuple, list, dict)):
        return [tree] * _count(spec) if not isinstance(tree, (tuple, list, dict)) else None
    children = list(tree.values()) if isinstance(tree, dict) else list(tree)
    fits = type(tree) is spec.kind or (isinstance(tree, tuple) and spec.kind is tuple)
    if not fits or len(children) != len(spec.children) or (isinstance(tree, dict) and list(tree) != spec.context):
        return None
    result = []
    for child, sub in zip(children, spec.children, strict=True):
        leaves = broadcast_to(child, sub)
        if leaves is None:
            return None
        result += leaves
    return result


def _count(spec: Spec) -> int:
    return 1 if spec.kind is None else sum(map(_count, spec.children))
