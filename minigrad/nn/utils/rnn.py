"""torch.nn.utils.rnn: sequences of different lengths as one tensor, padded, or packed step by step for a recurrent layer."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ...core.variable import wrap
from ...ops.joins import cat, stack
from ...tensors.create import as_tensor
from ...tensors.tensor import Tensor
from .. import functional as F


class _Packed(NamedTuple):
    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None = None
    unsorted_indices: Tensor | None = None


class PackedSequence(_Packed):
    """Sequences without padding: `data` holds the first step of all, the longest sequence first, then the second of those that have one.

    batch_sizes       how many sequences have each step
    sorted_indices    which of the given sequences stands where, None: as given; unsorted_indices the way back
    Made by pack_sequence and pack_padded_sequence.
    """

    __slots__ = ()

    def __new__(cls, data, batch_sizes=None, sorted_indices=None, unsorted_indices=None):
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args, **kwargs):
        """With the data converted."""
        data = self.data.to(*args, **kwargs)
        return self if data is self.data else type(self)(data, *self[1:])

    def double(self):
        return self.to(self.data.double().dtype)

    def float(self):
        return self.to(self.data.float().dtype)

    def half(self):
        return self.to(self.data.half().dtype)

    def long(self):
        return self.to(self.data.long().dtype)

    def int(self):
        return self.to(self.data.int().dtype)

    def short(self):
        return self.to(self.data.short().dtype)

    def char(self):
        return self.to(self.data.char().dtype)

    def byte(self):
        return self.to(self.data.byte().dtype)

    def cpu(self, *args, **kwargs):
        return self

    @property
    def is_cuda(self):
        return False

    def is_pinned(self):
        return False


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The order that undoes an order."""
    return None if permutation is None else wrap(np.argsort(permutation.array))


def pack_padded_sequence(
    input: Tensor, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Padded sequences (longest, N, ...), or with batch_first (N, longest, ...), without their padding.

    enforce_sorted  raise unless the longest comes first; False: they are sorted here, and the layer's results put back into order
    Raises RuntimeError for lengths that do not fit.
    """
    lengths = as_tensor(lengths).array.astype(np.int64)
    steps = input.transpose(0, 1) if batch_first else input
    order = None
    if not enforce_sorted:
        order = wrap(np.argsort(-lengths, kind="stable"))
        lengths, steps = lengths[order.array], steps.index_select(1, order)
    if not len(lengths) or not input.numel():
        raise RuntimeError("Cannot pack empty tensors.")
    if len(lengths) != steps.shape[1]:
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(lengths)} (batch_size={steps.shape[1]})"
        )
    if (lengths <= 0).any():
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"
        )
    if (np.diff(lengths) > 0).any():
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass `enforce_sorted=False` to "
            "pack_padded_sequence and/or pack_sequence to sidestep this requirement if you do not need ONNX exportability."
        )
    if lengths[0] > steps.shape[0]:
        raise RuntimeError(
            f"Expected `lengths` to be at most the padded length, {steps.shape[0]}, but got {lengths[0]}"
        )
    sizes = (lengths[None] > np.arange(lengths[0])[:, None]).sum(1)
    data = cat([steps[t, :size] for t, size in enumerate(sizes.tolist())])
    return PackedSequence(data, wrap(sizes), order)


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Tensor, Tensor]:
    """The padded sequences again, at least `total_length` long, and their lengths. Raises ValueError for a smaller `total_length`."""
    sizes = sequence.batch_sizes.tolist()
    if total_length is not None and total_length < len(sizes):
        raise ValueError(
            "Expected total_length to be at least the length of the longest sequence in input, but got "
            f"total_length={total_length} and max sequence length being {len(sizes)}"
        )
    parts = sequence.data.split(sizes)
    rest = [0, 0] * (sequence.data.ndim - 1)
    steps = stack([F.pad(part, [*rest, 0, sizes[0] - len(part)], value=padding_value) for part in parts])
    if total_length is not None:
        steps = F.pad(steps, [0, 0, *rest, 0, total_length - len(sizes)], value=padding_value)
    lengths = wrap((np.array(sizes)[:, None] > np.arange(sizes[0])).sum(0))
    if sequence.unsorted_indices is not None:
        steps, lengths = steps.index_select(1, sequence.unsorted_indices), lengths[sequence.unsorted_indices]
    return steps.transpose(0, 1) if batch_first else steps, lengths


def pack_sequence(sequences: list[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Sequences (L_i, ...) packed."""
    lengths = wrap(np.array([len(sequence) for sequence in sequences]))
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The sequences again, each with its own length."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)


def pad_sequence(
    sequences: Any, batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Tensor:
    """Sequences (L_i, ...) as (longest, N, ...), or with batch_first (N, longest, ...), filled up with padding_value.
    Raises RuntimeError for none, and for another side."""
    if not isinstance(sequences, (Iterable, Tensor)):
        raise RuntimeError(
            f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}"
        )
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    parts = list(sequences)
    if not parts:
        raise RuntimeError("Expected sequences to be a non-empty list of tensors")
    longest = max([part.shape[0] for part in parts])
    padded = []
    for part in parts:
        more = longest - part.shape[0]
        padded.append(
            F.pad(
                part,
                [0, 0] * (part.ndim - 1) + ([more, 0] if padding_side == "left" else [0, more]),
                value=padding_value,
            )
        )
    return stack(padded, 0 if batch_first else 1)


def unpad_sequence(padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False) -> list[Tensor]:
    """The sequences again, each with its own length."""
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    return [row[:length] for row, length in zip(padded_sequences, lengths.tolist(), strict=True)]


__all__ = [
    "PackedSequence", "invert_permutation", "pack_padded_sequence", "pack_sequence", "pad_packed_sequence", "pad_sequence",
    "unpack_sequence", "unpad_sequence",
]  # fmt: skip
