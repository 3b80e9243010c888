"""Several tensors made one, or brought to one shape: cat, stack and the functions that use them."""

import builtins
import functools
import itertools

import numpy as np

from ..core import dtypes, errors
from ..core.facts import CatMismatch, StackMismatch
from ..core.variable import wrap
from .dims import wrap_dim
from .shape import cat_, embed, reshape, stack_, unsqueeze


def cartesian_prod(*tensors):
    """All combinations of one number of each vector, as rows."""
    if len(tensors) == 1:
        return tensors[0]
    return stack([reshape(x, (-1,)) for x in meshgrid(*tensors, indexing="ij")], 1)


def combinations(input, r=2, with_replacement=False):
    """All combinations of r elements of a vector, as rows, in order."""
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    places = np.array(list(choose(range(input.numel()), r)), np.int64).reshape(-1, r)
    return input[wrap(places)]


def block_diag(*tensors):
    """The matrices along the diagonal of a larger one, zeros elsewhere."""
    blocks = [atleast_2d(x) for x in tensors]
    width, at, rows = builtins.sum([b.shape[1] for b in blocks]), 0, []
    for b in blocks:
        rows.append(embed(b, (b.shape[0], width), (slice(None), slice(at, at + b.shape[1]))))
        at += b.shape[1]
    return cat(rows, 0)


def vander(x, N=None, increasing=False):
    """The powers of each number of a vector as a row: from N - 1 (default: as many as numbers) down to 0, or up from 0."""
    n = x.numel() if N is None else N
    powers = range(n) if increasing else range(n - 1, -1, -1)
    return stack([x**k for k in powers], 1)


def cat(tensors, dim=0):
    """The tensors joined along an existing dimension; all other sizes must agree.
    Raises ValueError for no tensors, RuntimeError for shapes that do not fit.

    >>> import minigrad as torch
    >>> torch.cat([torch.ones(2), torch.zeros(1)])
    tensor([1., 1., 0.])
    """
    tensors = _listed(tensors, "cat")
    if not tensors:
        raise errors.new(
            ValueError,
            "torch.cat(): expected a non-empty list of Tensors",
            instead="join at least one tensor; torch.empty(0) joins anything.",
        )
    first = next((x for x in tensors if x.shape != (0,)), tensors[0])
    for position, x in enumerate(tensors):
        if x.ndim == 0:
            raise errors.new(RuntimeError, f"zero-dimensional tensor (at position {position}) cannot be concatenated")
    dim = wrap_dim(dim, first.ndim)
    for position, x in enumerate(tensors):
        if x.ndim != first.ndim and x.shape != (0,):
            raise errors.new(
                RuntimeError, f"Tensors must have same number of dimensions: got {first.ndim} and {x.ndim}"
            )
        for d, (n, m) in enumerate(zip(first.shape, x.shape, strict=False)):
            if d != dim and n != m and x.shape != (0,):
                raise errors.new(
                    RuntimeError,
                    f"Sizes of tensors must match except in dimension {dim}. Expected size {n} but got size {m} for tensor number {position} in the list.",
                    facts=CatMismatch(dim),
                )
    common = result_type(*tensors)
    # An empty vector joins anything, and gets a gradient as empty as it is
    nothing = (
        *first.shape[:dim],
        0,
        *first.shape[dim + 1 :],
    )
    alike = [
        x if x.ndim == first.ndim else x.reshape(nothing) for x in tensors if x.ndim == first.ndim or x.requires_grad
    ]
    return cat_([x.to(common) for x in alike], dim)


def _listed(tensors, name):
    """The tensors to join as a list. Raises TypeError if they are not a list or tuple of tensors."""
    if hasattr(tensors, "array") or not isinstance(tensors, (list, tuple)):
        raise errors.new(
            TypeError,
            f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not {type(tensors).__name__}",
            instead=f"put the tensors into a list: {name}([x, y]).",
        )
    for position, x in enumerate(tensors):
        if not hasattr(x, "array"):
            raise errors.new(
                TypeError, f"expected Tensor as element {position} in argument 0, but got {type(x).__name__}"
            )
    return list(tensors)


def result_type(*tensors):
    return functools.reduce(dtypes.promote_types, [x.dtype for x in tensors])


def stack(tensors, dim=0):
    """The tensors, all of one shape, joined along a new dimension. Raises RuntimeError for none, and for different shapes."""
    tensors = _listed(tensors, "stack")
    if not tensors:
        raise errors.new(RuntimeError, "stack expects a non-empty TensorList")
    first = tensors[0]
    for position, x in enumerate(tensors):
        if x.shape != first.shape:
            raise errors.new(
                RuntimeError,
                f"stack expects each tensor to be equal size, but got {list(first.shape)} at entry 0 and {list(x.shape)} at entry {position}",
                facts=StackMismatch(),
            )
    common = result_type(*tensors)
    return stack_([x.to(common) for x in tensors], wrap_dim(dim, first.ndim + 1))


def broadcast_tensors(*tensors):
    """The tensors, each expanded (a view) to the shape of all."""
    shape = np.broadcast_shapes(*[x.array.shape for x in tensors])
    return tuple([x.expand(*shape) for x in tensors])


def meshgrid(*tensors, indexing=None):
    """One grid for each vector: its numbers along its own dimension, the same along all others.
    Raises RuntimeError for matrices, and for another `indexing`."""
    if len(tensors) == 1 and not hasattr(tensors[0], "array"):
        tensors = tuple(tensors[0])
    if indexing is None:
        errors.warn("torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument.")
        indexing = "ij"
    if indexing not in ("ij", "xy"):
        raise errors.new(
            RuntimeError, f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}'
        )
    for x in tensors:
        if x.ndim > 1:
            text = str(x.detach()).removeprefix("tensor(").split("]")[0].lstrip("[")
            raise errors.new(
                RuntimeError,
                f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got:  {text.replace(',', '')}",
                f"One of the tensors has shape {tuple(x.shape)}.",
                instead="pass one vector for each dimension of the grid.",
            )
    if any([x.array.dtype is not tensors[0].array.dtype for x in tensors]):
        raise errors.new(
            RuntimeError, "meshgrid expects all tensors to have the same dtype", instead="convert them: x.to(y.dtype)."
        )
    places = list(range(len(tensors)))  # the dimension of the grid along which each vector runs
    if indexing == "xy" and len(tensors) > 1:
        places[:2] = 1, 0
    shape = tuple([tensors[places.index(i)].numel() for i in range(len(tensors))])
    return tuple(
        [
            reshape(x, tuple([-1 if i == d else 1 for i in range(len(shape))])).expand(*shape)
            for d, x in zip(places, tensors, strict=True)
        ]
    )


def hstack(tensors):
    """Joined side by side: along dim 1, vectors along dim 0."""
    tensors = atleast_1d(tensors)
    return cat(tensors, 0 if tensors[0].ndim == 1 else 1)


def vstack(tensors):
    """Joined on top of each other: vectors are rows."""
    return cat(atleast_2d(tensors), 0)


def dstack(tensors):
    """Joined along a third dimension."""
    return cat(atleast_3d(tensors), 2)


def column_stack(tensors):
    """Joined side by side; vectors are columns."""
    return hstack([reshape(x, (-1, 1)) if x.ndim <= 1 else x for x in tensors])


def _each(function):
    """Decorator: of one tensor the result, of several (or a sequence) a tuple of results."""

    @functools.wraps(function)
    def wrapped(*tensors):
        if len(tensors) == 1 and hasattr(tensors[0], "array"):
            return function(tensors[0])
        return tuple([function(x) for x in (tensors[0] if len(tensors) == 1 else tensors)])

    return wrapped


@_each
def atleast_1d(input):
    """With at least one dimension."""
    return reshape(input, (1,)) if input.ndim == 0 else input


@_each
def atleast_2d(input):
    """With at least two dimensions: a vector becomes a row."""
    return reshape(input, (1, 1)) if input.ndim == 0 else unsqueeze(input, 0) if input.ndim == 1 else input


@_each
def atleast_3d(input):
    """With at least three dimensions: a matrix gets a third one of size 1."""
    x = atleast_2d(input)
    return unsqueeze(x, 2) if x.ndim == 2 else x
