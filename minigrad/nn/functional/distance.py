"""Lengths, distances and angles between vectors."""

import numpy as np

from ...core.arguments import forgiving
from ...core.dtypes import promote_types
from ...tensors.tensor import Tensor
from ._arguments import broadcast_shape, constant


@forgiving
def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Tensor:
    """Each vector along `dim` divided by its length (at least eps)."""
    return input / input.norm(p, dim, True).clamp(min=eps).expand(*input.shape)


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine of the angle between vectors along `dim`; lengths below eps count as eps."""
    common = promote_types(x1.dtype, x2.dtype)
    x1, x2 = x1.to(common), x2.to(common)
    shape = broadcast_shape(x1, x2)
    x1, x2 = x1.expand(*shape), x2.expand(*shape)
    if x1.array.dtype == np.float16:  # squares of a few hundred are beyond float16
        return cosine_similarity(x1.float(), x2.float(), dim, eps).half()
    one, two = (x / x.norm(2, dim, True).clamp(min=eps) for x in (x1, x2))
    return (one * two).sum(dim)


def pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Tensor:
    """The p-norm of x1 - x2 + eps along the last dimension."""
    return (x1 - x2 + eps).norm(p, -1, keepdim)


def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """The distances of all pairs of rows, (0, 1), (0, 2), ..., as a vector. Raises RuntimeError unless it is a matrix and p >= 0."""
    if input.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input.ndim}D")
    if p < 0:
        raise RuntimeError("pdist only supports non-negative p values")
    first, second = (constant(i) for i in np.triu_indices(input.shape[0], 1))
    return (input[first] - input[second]).norm(p, -1)


__all__ = ["cosine_similarity", "normalize", "pairwise_distance", "pdist"]
