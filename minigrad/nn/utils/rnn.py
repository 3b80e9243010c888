"""torch.nn.utils.rnn: sequences of different lengths as one tensor. Packed sequences are not here: pad, and mask the loss."""

from collections.abc import Iterable
from typing import Any

from ...ops.shape import stack
from ...tensors.tensor import Tensor
from .. import functional as F


def pad_sequence(sequences: Any, batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right") -> Tensor:
    """Sequences (L_i, ...) as (longest, N, ...), or with batch_first (N, longest, ...), filled up with padding_value.
    Raises RuntimeError for none, and for another side."""
    if not isinstance(sequences, (Iterable, Tensor)):
        raise RuntimeError(f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}")
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    parts = list(sequences)
    if not parts:
        raise RuntimeError("Expected sequences to be a non-empty list of tensors")
    longest = max([part.shape[0] for part in parts])
    padded = []
    for part in parts:
        more = longest - part.shape[0]
        padded.append(F.pad(part, [0, 0] * (part.ndim - 1) + ([more, 0] if padding_side == "left" else [0, more]), value=padding_value))
    return stack(padded, 0 if batch_first else 1)


def unpad_sequence(padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False) -> list[Tensor]:
    """The sequences again, each with its own length."""
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    return [row[:length] for row, length in zip(padded_sequences, lengths.tolist(), strict=True)]


__all__ = ["pad_sequence", "unpad_sequence"]
