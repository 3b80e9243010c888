"""Dimensions and sizes as arguments: checked, and counted from the front. No rows, so that every file of rows can use these."""

import builtins

import numpy as np

from ..core import errors
from ..core.facts import SizeMismatch
from ..core.variable import Size


def wrap_dim(dim, ndim, scalar=True):
    """`dim` counted from the front. Raises PyTorch's IndexError if there is no such dimension.

    scalar  a 0-d tensor counts as one with a single dimension; the rows then get an axis that the array does not have (`dims_of`: none)
    """
    if not ndim and not scalar:
        raise errors.new(IndexError, f"Dimension specified as {dim} but tensor has no dimensions")
    size = ndim or 1
    if type(dim) is not int and not hasattr(dim, "__index__"):
        raise errors.new(TypeError, f"argument 'dim' must be int, not {errors.type_name(dim)}")
    if not -size <= dim < size:
        raise errors.new(
            IndexError,
            f"Dimension out of range (expected to be in range of [{-size}, {size - 1}], but got {dim})",
            f"The tensor has {ndim} dimension{'s' * (ndim != 1)}.",
            instead=f"use a dimension from 0 to {size - 1}, or -1 for the last.",
        )
    return dim % size


def sizes_of(function, name, shape):
    """`shape` as whole numbers. Raises PyTorch's error for anything else."""
    if not isinstance(shape, (tuple, list)):
        raise errors.new(
            TypeError,
            f"{function}(): argument '{name}' (position 2) must be tuple of ints, not {errors.type_name(shape)}",
        )
    try:
        return tuple([n if type(n) is int else n.__index__() for n in shape])
    except (AttributeError, TypeError):
        at, wrong = next((i, n) for i, n in enumerate(shape) if not hasattr(n, "__index__"))
        complaint = f"found element of type {errors.type_name(wrong)} at pos {at}"
        raise errors.new(TypeError, f"{function}(): argument '{name}' must be tuple of ints, but {complaint}") from None


def resolved_shape(x_shape, shape):
    """`shape` with its one -1 filled in. Raises PyTorch's error if the numbers do not fit."""
    total = 1
    for n in x_shape:
        total *= n
    product, free = 1, None
    for i, n in enumerate(shape):
        if n == -1 and free is None:
            free = i
        elif n == -1:
            raise errors.new(RuntimeError, "only one dimension can be inferred")
        elif n < 0:
            raise errors.new(RuntimeError, f"invalid shape dimension {n} at index {i} of shape {list(shape)}")
        else:
            product *= n
    if free is not None and not total and not product:
        raise errors.new(
            RuntimeError,
            f"cannot reshape tensor of 0 elements into shape {list(shape)} because the unspecified dimension size -1 can be any value and is ambiguous",
        )
    if free is not None and product and total % product == 0:
        return shape[:free] + (total // product,) + shape[free + 1 :]
    if free is None and product == total:
        return shape
    raise errors.new(
        RuntimeError,
        f"shape '{list(shape)}' is invalid for input of size {total}",
        f"The tensor of shape {tuple(x_shape)} holds {total} numbers, the new shape {shape} would hold {product}{' times something' * (free is not None)}.",
        "A reshape keeps every number.",
        "make the product of the sizes equal; one size may be -1, it is then computed.",
        "chapter 09, Tensors",
        SizeMismatch(total, tuple(shape)),
    )


def dims_of(dim, ndim):
    """A dim argument (None, an int or several) as a tuple counted from the front; for a 0-d tensor (). Raises on repetition."""
    if dim is None:
        return tuple(range(ndim))
    if isinstance(dim, builtins.bool):
        raise errors.new(
            TypeError,
            "argument 'dim' must be int or tuple of ints, not bool",
            instead="keepdim=True has a name of its own.",
        )
    if isinstance(dim, (int, np.integer)):
        dim = wrap_dim(int(dim), ndim)
        return (dim,) if ndim else ()
    if not isinstance(dim, (tuple, list)) or any([isinstance(d, (str, float)) for d in dim]):
        raise errors.new(
            TypeError,
            f"argument 'dim' must be int or tuple of ints, not {errors.type_name(dim)}",
            instead="x.sum(dim=0), x.sum((0, 1)).",
        )
    dims = tuple([wrap_dim(int(d), ndim) for d in dim])
    if len(builtins.set(dims)) != len(dims):
        repeated = next(d for d in dims if dims.count(d) > 1)
        raise errors.new(RuntimeError, f"dim {repeated} appears multiple times in the list of dims")
    return dims if ndim else ()


def broadcast_shapes(*shapes):
    """The shape that tensors of these shapes are broadcast to. Raises RuntimeError if they do not fit, ValueError for negative sizes."""
    for s in shapes:
        if not isinstance(s, (int, tuple, list)):
            raise errors.new(
                RuntimeError, f"Input shapes should be of type ints, a tuple of ints, or a list of ints, got {s}"
            )
        if any([n < 0 for n in ((s,) if isinstance(s, int) else s)]):
            raise errors.new(ValueError, "Attempting to broadcast a dimension with negative length!")
    return Size(np.broadcast_shapes(*[(s,) if isinstance(s, int) else tuple(s) for s in shapes]))
