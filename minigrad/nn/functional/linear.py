"""Linear maps and look-ups in tables."""

import numpy as np

from ...core import errors
from ...core.facts import ClassOutOfRange, ClassType, LayerWidth
from ...core.variable import wrap
from ...kernels.positions import bincount
from ...ops import linalg, lookup
from ...ops.shape import reshape, t, unsqueeze
from ...tensors.create import zeros
from ...tensors.tensor import Tensor
from ._arguments import constant


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """input @ weight.T + bias.

    input (*, in_features), weight (out_features, in_features), bias (out_features,); result (*, out_features).
    Raises RuntimeError if the sizes or dtypes do not fit.
    """
    x, w = input.array, weight.array
    if x.ndim == 2 == w.ndim and bias is not None and x.shape[1] == w.shape[1]:
        return lookup.addmm_(bias, input, t(weight))
    if w.ndim == 1:
        return linalg.matmul(input, weight) if bias is None else linalg.matmul(input, weight) + bias
    if x.ndim == 0:
        raise RuntimeError("both arguments to linear need to be at least 1D, but they are 0D and 2D")
    if x.shape[-1] != w.shape[1]:
        raise _mismatch(input, weight)
    if bias is None:
        if x.ndim == 1:
            return linalg.mm(unsqueeze(input, 0), t(weight)).squeeze(0)
        return linalg.matmul(input, t(weight))
    # PyTorch adds such a bias in a separate operation, in its own dtype
    if x.ndim > 2 and bias.array.dtype != w.dtype and not x.flags.c_contiguous:
        return linalg.matmul(input, t(weight)).add_(bias)
    rows = reshape(input, (-1, w.shape[1])) if x.size else reshape(input, (int(np.prod(x.shape[:-1])), w.shape[1]))
    return lookup.addmm_(bias, rows, t(weight)).view(*x.shape[:-1], w.shape[0])


def _mismatch(input: Tensor, weight: Tensor) -> RuntimeError:
    """The error for an input with another number of features than the layer takes."""
    x, w = input.array, weight.array
    rows = x.size // x.shape[-1] if x.shape[-1] else 0
    return errors.new(
        RuntimeError,
        f"mat1 and mat2 shapes cannot be multiplied ({rows}x{x.shape[-1]} and {w.shape[1]}x{w.shape[0]})",
        f"The layer takes {w.shape[1]} features, the last dimension of the input of shape {tuple(x.shape)} has {x.shape[-1]}.",
        instead=f"a layer with in_features={x.shape[-1]}, or an input whose last dimension is {w.shape[1]} (flatten it first?).",
        facts=LayerWidth(w.shape[1], tuple(x.shape)),
    )


def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """y_k = input1 @ weight_k @ input2 + bias_k. weight (out, in1, in2). Raises RuntimeError for shapes that do not fit."""
    if input1.ndim != input2.ndim:
        raise RuntimeError(f"bilinear(): input dimensions do not match: got {input1.ndim} and {input2.ndim}")
    if input1.shape[:-1] != input2.shape[:-1]:
        raise RuntimeError(
            f"bilinear(): input batch dimensions do not match: got {list(input1.shape)} and {list(input2.shape)}"
        )
    for number, (x, size) in enumerate(zip((input1, input2), weight.shape[1:], strict=True), 1):
        if x.shape[-1] != size:
            raise RuntimeError(
                f"bilinear(): input{number} size does not match weight size: got {x.shape[-1]} but expected {size}"
            )
    out, in1, in2 = weight.shape
    one, two = input1.reshape(-1, in1), input2.reshape(-1, in2)
    rows = one @ weight.permute(1, 0, 2).reshape(in1, out * in2)  # (n, out * in2)
    products = rows.reshape(-1, out, in2) @ two.unsqueeze(-1)
    result = products.view(*input1.shape[:-1], out)
    return result if bias is None else result + bias


def embedding(
    input: Tensor, weight: Tensor, padding_idx: int | None = None, max_norm: float | None = None, norm_type: float = 2.0,
    scale_grad_by_freq: bool = False, sparse: bool = False,
) -> Tensor:  # fmt: skip
    """Row input[i] of `weight` for each index. input (*) whole numbers, weight (count, features); result (*, features).

    padding_idx         this row gets no gradient
    max_norm            rows that are looked up are first shortened, in place, to this norm
    scale_grad_by_freq  divide a row's gradient by how often it was looked up
    Raises IndexError for an index outside the table, RuntimeError for indices that are no integers, AssertionError for such a padding_idx.
    """
    if input.array.dtype.name not in ("int64", "int32"):
        raise _wrong_indices(input, "embedding")
    if weight.ndim != 2:
        raise RuntimeError("'weight' must be 2-D")
    count = weight.shape[0]
    if padding_idx is not None:
        if not -count <= padding_idx < count:
            raise AssertionError("Padding_idx must be within num_embeddings")
        padding_idx %= count
    check_rows(input, count)
    if max_norm is not None:
        rows = np.unique(input.array)
        norms = np.linalg.norm(weight.array[rows], norm_type, axis=1)
        long = norms > max_norm
        weight.array[rows[long]] *= (max_norm / (norms[long] + 1e-7))[:, None]
        weight.version[0] += 1
    return lookup.embedding_(weight, input, padding_idx, scale_grad_by_freq)


def embedding_bag(
    input: Tensor, weight: Tensor, offsets: Tensor | None = None, max_norm: float | None = None, norm_type: float = 2,
    scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False, per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False, padding_idx: int | None = None,
) -> Tensor:  # fmt: skip
    """The sum, mean or maximum of the rows of `weight` in each bag; zeros for an empty one. Result (bags, features).

    input               (bags, n) whole numbers, or all bags in a row, which start at the `offsets`
    per_sample_weights  of the shape of `input`: each row counts so often (mode "sum")
    include_last_offset `offsets` end with the length of `input`
    padding_idx         this row counts in no bag
    Raises ValueError or RuntimeError for what does not fit, NotImplementedError for sparse gradients, and for weights in other modes.
    """
    flat, starts = _bags(input, weight, offsets, per_sample_weights, include_last_offset)
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and scale_grad_by_freq:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if sparse:
        raise NotImplementedError(
            "embedding_bag(sparse=True) is not supported: there are no sparse tensors. Leave it out."
        )
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' "
            f"(got mode='{mode}'). Please open a feature request on GitHub."
        )
    count = weight.shape[0]
    if padding_idx is not None and not -count <= padding_idx < count:
        raise RuntimeError(
            f"padding_idx must be within the number of embeddings, {-count} through {count - 1}, but got {padding_idx}"
        )
    for index in flat.array[(flat.array < 0) | (flat.array >= count)][:1]:
        raise RuntimeError(f"embedding_bag: Expected idx >= 0 && idx < num_embeddings but found idx to be {index}")
    if padding_idx is not None:
        padding_idx %= count
    if per_sample_weights is not None and per_sample_weights.dtype != weight.dtype:
        raise RuntimeError(
            "Expected tensor for argument #1 'weight' to have the same type as tensor for argument #1 'per_sample_weights'; but type "
            f"{weight.type()} does not equal {per_sample_weights.type()} (while checking arguments for embedding_bag)"
        )
    if not len(starts):
        flat = flat[:0]
    rows = embedding(flat, weight, padding_idx, max_norm, norm_type, scale_grad_by_freq)
    bag = np.searchsorted(starts, np.arange(flat.numel()), side="right") - 1
    counted = np.ones(len(bag), bool) if padding_idx is None else flat.array != padding_idx
    if mode == "max":
        return _largest(rows, bag, counted, len(starts))
    rows = rows * wrap(counted[:, None].astype(weight.array.dtype))
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.reshape(-1).unsqueeze(1)
    sums = zeros(len(starts), weight.shape[1], dtype=weight.dtype).index_add(0, wrap(bag), rows)
    if mode == "sum":
        return sums
    sizes = bincount(bag[counted], minlength=len(starts)).clip(1)
    return sums / wrap(sizes[:, None].astype(weight.array.dtype))


def _bags(
    input: Tensor, weight: Tensor, offsets: Tensor | None, weights: Tensor | None, last: bool
) -> tuple[Tensor, np.ndarray]:
    """All indices in a row, and where each bag starts. Raises PyTorch's errors for other shapes."""
    if weights is not None and input.shape != weights.shape:
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({weights.shape}) is not None, then it must have the same shape as the input "
            f"({input.shape})"
        )
    if weight.ndim != 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.ndim}")
    if input.ndim == 2:
        if offsets is not None:
            raise ValueError(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length sequences. However, "
                f"found offsets of type {type(offsets)}"
            )
        starts = np.arange(0, input.numel(), input.shape[1] or 1)
    elif input.ndim == 1:
        if offsets is None:
            raise ValueError("offsets has to be a 1D Tensor but got None")
        if offsets.ndim != 1:
            raise ValueError("offsets has to be a 1D Tensor")
        starts = offsets.array
    else:
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.ndim}")
    for x in (input, wrap(starts)):
        if x.array.dtype.name not in ("int64", "int32"):
            raise _wrong_indices(x, "embedding_bag")
    n = input.numel()
    if last and not len(starts):
        raise RuntimeError("include_last_offset: number of offset should be at least 1")
    if len(starts) and starts[0] != 0:
        raise RuntimeError(
            "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. However, got "
            f"{starts[0]}"
        )
    if len(starts) and starts[-1] > n:
        raise RuntimeError(
            f"offsets[-1] can not be greater than input's length {n} but got offsets[-1] of {starts[-1]}"
        )
    if (np.diff(starts) < 0).any():
        raise RuntimeError("embedding_bag: offsets must not decrease")
    return input.reshape(-1), starts[:-1] if last else starts


def _largest(rows: Tensor, bag: np.ndarray, counted: np.ndarray, count: int) -> Tensor:
    """The largest number of each feature in each bag, of equal ones the first; zeros for an empty bag."""
    if not len(bag):
        return zeros(count, rows.shape[1], dtype=rows.dtype).index_add(0, wrap(bag), rows)
    place = np.full((count, rows.shape[1]), -1)
    for i in np.flatnonzero(counted):
        best = place[bag[i]]
        place[bag[i]] = np.where(
            (best < 0) | (rows.array[i] > np.take_along_axis(rows.array, best[None], 0)[0]), i, best
        )
    return rows.gather(0, wrap(place.clip(0))).masked_fill(wrap(place < 0), 0)


def check_rows(input: Tensor, count: int) -> None:
    """Raise IndexError if the input names a row that a table of `count` rows does not have."""
    indices = input.array
    if indices.size and not (0 <= indices.min() and indices.max() < count):
        raise errors.new(
            IndexError,
            "index out of range in self",
            f"The table has {count} rows, numbered 0 to {count - 1}; the input holds numbers from {indices.min()} to {indices.max()}.",
            instead=f"num_embeddings={indices.max() + 1} or more, or check how the tokens are numbered.",
            facts=ClassOutOfRange(),
        )


def _wrong_indices(indices: Tensor, function: str) -> RuntimeError:
    return errors.new(
        RuntimeError,
        "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
        f"{indices.type()} instead (while checking arguments for {function})",
        facts=ClassType(errors.TYPE_NAMES[indices.array.dtype.name].removesuffix("Tensor")),
    )


def one_hot(input: Tensor, num_classes: int = -1) -> Tensor:
    """A 1 at each class number among zeros: (*) becomes (*, num_classes); -1 counts up to the largest number.
    Raises RuntimeError unless the numbers are int64 and in [0, num_classes)."""
    classes = input.array
    if classes.dtype != np.int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    if not classes.size and num_classes <= 0:
        raise RuntimeError("Can not infer total number of classes from empty tensor.")
    if classes.size and classes.min() < 0:
        raise RuntimeError("Class values must be non-negative.")
    if num_classes == -1:
        num_classes = int(classes.max()) + 1
    if num_classes < 1:
        raise RuntimeError("num_classes should be positive")
    if classes.size and classes.max() >= num_classes:
        raise RuntimeError("Class values must be smaller than num_classes.")
    return constant((classes[..., None] == np.arange(num_classes)).astype(np.int64))


__all__ = ["bilinear", "embedding", "linear", "one_hot"]
