"""MultiheadAttention: several attentions side by side, each on its own part of the features."""

import math
from typing import Any

import numpy as np

from ..ops.joins import cat
from ..ops.linalg import matmul
from ..ops.neural import safe_softmax
from ..tensors.create import empty
from ..tensors.tensor import Tensor
from . import functional as F
from . import init
from .linear import Linear
from .module import Module
from .parameter import Parameter


class NonDynamicallyQuantizableLinear(Linear):
    """Linear under the name that PyTorch prints for the output projection."""


class MultiheadAttention(Module):
    """query (L, N, embed_dim), key (S, N, kdim), value (S, N, vdim); with batch_first (N, L, embed_dim), ...; or all without N.
    Returns the output, of the query's shape, and with need_weights the attention weights (N, L, S), averaged over the heads
    (average_attn_weights=False: (N, num_heads, L, S)).

    kdim, vdim     features of key and value (default: embed_dim; then in_proj_weight (3 * embed_dim, embed_dim) holds all three matrices)
    add_bias_kv    a learnt key and value at the end of the sequence; add_zero_attn: one of zeros
    In forward, True in a mask means: *not* looked at. key_padding_mask (N, S), attn_mask (L, S) or (N * num_heads, L, S); numbers are added
    to the scores. is_causal is a hint: it needs attn_mask. A query that may look nowhere gets zeros before the last layer with
    need_weights=False, and nan with True, as in PyTorch.

    Vaswani et al. 2017, https://arxiv.org/abs/1706.03762
    Raises ValueError for sizes below 1, RuntimeError for is_causal without attn_mask, and AssertionError for heads that do not divide
    embed_dim and for shapes that do not go together.
    """

    def __init__(
        self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True, add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None, vdim: int | None = None, batch_first: bool = False, device: Any = None, dtype: Any = None,
    ):  # fmt: skip
        super().__init__()
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and num_heads={num_heads} instead"
            )
        self.embed_dim, self.kdim, self.vdim = embed_dim, kdim or embed_dim, vdim or embed_dim
        self._qkv_same_embed_dim = self.kdim == embed_dim == self.vdim
        self.num_heads, self.dropout, self.batch_first, self.head_dim = (
            num_heads,
            dropout,
            batch_first,
            embed_dim // num_heads,
        )
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError("embed_dim must be divisible by num_heads")
        joint = self._qkv_same_embed_dim
        shapes = {
            "in_proj_weight": (3 * embed_dim, embed_dim) if joint else None,
            "q_proj_weight": None if joint else (embed_dim, embed_dim),
            "k_proj_weight": None if joint else (embed_dim, self.kdim),
            "v_proj_weight": None if joint else (embed_dim, self.vdim),
            "in_proj_bias": (3 * embed_dim,) if bias else None,
        }
        for name, shape in shapes.items():
            self.register_parameter(
                name, None if shape is None else Parameter(empty(*shape, device=device, dtype=dtype))
            )
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, device=device, dtype=dtype)
        self.bias_k = Parameter(empty(1, 1, embed_dim, device=device, dtype=dtype)) if add_bias_kv else None
        self.bias_v = Parameter(empty(1, 1, embed_dim, device=device, dtype=dtype)) if add_bias_kv else None
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        for name in ("in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight"):
            if getattr(self, name) is not None:
                init.xavier_uniform_(getattr(self, name))
        if self.in_proj_bias is not None:
            init.constant_(self.in_proj_bias, 0.0)
            init.constant_(self.out_proj.bias, 0.0)
        for extra in (self.bias_k, self.bias_v):
            if extra is not None:
                init.xavier_normal_(extra)

    def _check(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None,
        attn_mask: Tensor | None,
        is_causal: bool,
    ) -> None:
        if query.ndim not in (2, 3):
            raise AssertionError(
                f"query should be unbatched 2D or batched 3D tensor but received {query.ndim}-D query tensor"
            )
        if not query.ndim == key.ndim == value.ndim:
            dims, kind = (
                f"found {key.ndim}-D and {value.ndim}-D tensors respectively",
                "batched" if query.ndim == 3 else "unbatched",
            )
            raise AssertionError(
                f"For {kind} ({query.ndim}-D) `query`, expected `key` and `value` to be {query.ndim}-D but {dims}"
            )
        expected = f"For {'batched' if query.ndim == 3 else 'unbatched'} ({query.ndim}-D) `query`, expected"
        if key_padding_mask is not None and key_padding_mask.ndim != query.ndim - 1:
            raise AssertionError(
                f"{expected} `key_padding_mask` to be `None` or {query.ndim - 1}-D but found {key_padding_mask.ndim}-D tensor instead"
            )
        if attn_mask is not None and attn_mask.ndim not in (2, 3):
            raise AssertionError(
                f"{expected} `attn_mask` to be `None`, 2-D or 3-D but found {attn_mask.ndim}-D tensor instead"
            )
        if attn_mask is not None and query.ndim == 2 and attn_mask.ndim == 3:
            shape = (self.num_heads, query.shape[0], key.shape[0])
            if attn_mask.shape != shape:
                raise AssertionError(f"Expected `attn_mask` shape to be {shape} but got {attn_mask.shape}")
        if is_causal and attn_mask is None:
            raise RuntimeError(
                "Need attn_mask if specifying the is_causal hint. You may use the Transformer module method "
                "`generate_square_subsequent_mask` to create this mask."
            )

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, key_padding_mask: Tensor | None = None, need_weights: bool = True,
        attn_mask: Tensor | None = None, average_attn_weights: bool = True, is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:  # fmt: skip
        self._check(query, key, value, key_padding_mask, attn_mask, is_causal)
        same = query is key is value  # self-attention: one matrix product for all three
        batched = query.ndim == 3
        if not batched:
            query, key, value = (x.unsqueeze(1) for x in (query, key, value))
            key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
        elif self.batch_first:
            query, key, value = (x.transpose(0, 1) for x in (query, key, value))
        if query.shape[-1] != self.embed_dim:
            raise AssertionError(f"was expecting embedding dimension of {self.embed_dim}, but got {query.shape[-1]}")
        if self._qkv_same_embed_dim and key.shape != value.shape:
            raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")
        if key.shape[0] != value.shape[0] or key.shape[1] != value.shape[1]:
            raise AssertionError(
                f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}"
            )
        length, n, _ = query.shape
        q, k, v = self._project(query, key, value, same)
        if self.bias_k is not None and self.bias_v is not None:
            k, v = cat([k, self.bias_k.repeat(1, n, 1)]), cat([v, self.bias_v.repeat(1, n, 1)])
        q, k, v = (x.reshape(x.shape[0], n * self.num_heads, self.head_dim).transpose(0, 1) for x in (q, k, v))
        if self.add_zero_attn:
            empty_row = Tensor._wrap(np.zeros((n * self.num_heads, 1, self.head_dim), k.array.dtype))
            k, v = cat([k, empty_row], 1), cat([v, empty_row], 1)
        mask = self._mask(attn_mask, key_padding_mask, n, length, k.shape[1], q)

        scores = matmul(q * math.sqrt(1.0 / self.head_dim), k.transpose(-2, -1))
        if mask is None:
            weights = F.softmax(scores, dim=-1)
        else:  # as in PyTorch, a query that may look nowhere gets zeros, but nan where its weights are asked for
            weights = F.softmax(scores + mask, dim=-1) if need_weights else safe_softmax(scores + mask, -1)
        if self.dropout and self.training:
            weights = F.dropout(weights, self.dropout)
        out = matmul(weights, v).transpose(0, 1).reshape(length * n, self.embed_dim)
        out = self.out_proj(out).view(length, n, self.embed_dim)
        if not need_weights:
            weights = None  # type: ignore[assignment]
        else:
            weights = weights.view(n, self.num_heads, length, k.shape[1])
            weights = weights.mean(1) if average_attn_weights else weights
        if not batched:
            return out.squeeze(1), None if weights is None else weights.squeeze(0)
        return (out.transpose(0, 1) if self.batch_first else out), weights

    def _project(self, query: Tensor, key: Tensor, value: Tensor, same: bool) -> tuple[Tensor, Tensor, Tensor]:
        b = [None] * 3 if self.in_proj_bias is None else list(self.in_proj_bias.chunk(3))
        if self._qkv_same_embed_dim:
            if same:
                return F.linear(query, self.in_proj_weight, self.in_proj_bias).chunk(3, -1)
            w = list(self.in_proj_weight.chunk(3))
        else:
            w = [self.q_proj_weight, self.k_proj_weight, self.v_proj_weight]
        return F.linear(query, w[0], b[0]), F.linear(key, w[1], b[1]), F.linear(value, w[2], b[2])

    def _mask(self, attn_mask, key_padding_mask, n: int, length: int, keys: int, like: Tensor) -> Tensor | None:
        """Both masks as numbers to add, (L, S) or (N * heads, L, S). Keys that were added at the end are never masked."""
        parts = []
        if attn_mask is not None:
            source = keys - self.add_zero_attn - (self.bias_k is not None)
            allowed = [(length, source)] if attn_mask.ndim == 2 else [(n * self.num_heads, length, source)]
            if tuple(attn_mask.shape) != allowed[0]:
                raise RuntimeError(
                    f"The shape of the {attn_mask.ndim}D attn_mask is {attn_mask.shape}, but should be {allowed[0]}."
                )
            parts.append(_as_numbers(attn_mask, like))
        if key_padding_mask is not None:
            for axis, size in enumerate((n, keys - self.add_zero_attn - (self.bias_k is not None))):
                if key_padding_mask.shape[axis] != size:
                    raise AssertionError(
                        f"Expected key_padded_mask.shape[{axis}] to be {size}, but got {key_padding_mask.shape[axis]}"
                    )
            numbers = _as_numbers(key_padding_mask, like)
            parts.append(
                numbers.view(n, 1, 1, -1).expand(-1, self.num_heads, -1, -1).reshape(n * self.num_heads, 1, -1)
            )
        if not parts:
            return None
        mask = parts[0] if len(parts) == 1 else parts[0] + parts[1]
        more = keys - mask.shape[-1]
        return F.pad(mask, (0, more)) if more else mask


def _as_numbers(mask: Tensor, like: Tensor) -> Tensor:
    if mask.array.dtype.kind == "b":
        return Tensor._wrap(np.where(mask.array, -np.inf, 0).astype(like.array.dtype))
    if mask.array.dtype.kind != "f":
        raise AssertionError("only bool and floating types of attn_mask are supported")
    return mask
