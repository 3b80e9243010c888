"""Attention: each query takes a mixture of the values, weighted by how well it matches the keys."""

import math

import numpy as np

from ...ops.neural import safe_softmax, softmax
from ...tensors.tensor import Tensor
from ._arguments import constant
from .dropout import dropout


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, dropout_p: float = 0.0, is_causal: bool = False,
    scale: float | None = None, enable_gqa: bool = False,
) -> Tensor:  # fmt: skip
    """softmax(query @ key.T * scale + mask) @ value.

    query      (..., L, E), key (..., S, E), value (..., S, Ev); result (..., L, Ev)
    attn_mask  broadcasts to (..., L, S): True where a query may look, or numbers that are added to the scores; a query that may look
               nowhere gets zeros
    is_causal  query i looks at keys 0 to i only
    scale      default 1 / sqrt(E)
    enable_gqa each key and value serves several of the query's heads

    Vaswani et al. 2017, https://arxiv.org/abs/1706.03762
    Raises RuntimeError for a mask together with is_causal.
    """
    if is_causal and attn_mask is not None:
        raise RuntimeError("_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True")
    if enable_gqa:
        times = query.shape[-3] // key.shape[-3]
        key, value = key.repeat_interleave(times, -3), value.repeat_interleave(times, -3)
    # Half of it on each side: smaller numbers in between
    factor = math.sqrt(1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    scores = (query * factor) @ (key * factor).transpose(-2, -1)
    if is_causal:
        lengths = scores.shape[-2:]
        attn_mask = constant(np.tri(*lengths, dtype=bool))
    if attn_mask is not None:
        if attn_mask.array.dtype.kind == "b":
            scores = scores + constant(np.where(attn_mask.array, 0, -np.inf).astype(scores.array.dtype))
        else:
            scores = scores + attn_mask
    weights = softmax(scores, -1) if attn_mask is None else safe_softmax(scores, -1)
    return dropout(weights, dropout_p) @ value


__all__ = ["scaled_dot_product_attention"]
