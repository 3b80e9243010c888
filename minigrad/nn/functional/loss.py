"""Losses: how far a prediction is from its target, as one number (or with reduction="none" one per element or sample).

What does not live here: the rows with their derivatives (ops/losses.py) and the modules (nn/loss.py).
"""

import math
import warnings
from typing import Any

import numpy as np

from ...core import dtypes, errors, facts
from ...core.dtypes import get_default_dtype
from ...ops import losses, neural
from ...ops.joins import cat, stack
from ...ops.shape import expand
from ...tensors.tensor import Tensor
from ._arguments import (
    broadcast_shape,
    check_floating,
    check_mean,
    check_reduction,
    check_result,
    constant,
    kind_of,
    promoted,
    reduce,
)
from .activation import logsigmoid
from .distance import pairwise_distance


def _pair(input: Tensor, target: Tensor) -> list[Tensor]:
    """Prediction and target in one dtype and one shape. Warns if they have to be broadcast: that is nearly always a mistake."""
    if input.shape != target.shape:
        warnings.warn(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}). This will likely lead to "
            "incorrect results due to broadcasting. Please ensure they have the same size.",
            stacklevel=4,
        )
        shape = broadcast_shape(input, target)
        input, target = (x if x.shape == shape else expand(x, shape) for x in (input, target))
    return promoted(input, target)


def _weighted(values: Tensor, weight: Tensor | None, reduction: str) -> Tensor:
    """Values times weights, reduced; the mean is over the sum of the weights."""
    if weight is None:
        return reduce(values, reduction)
    if weight.shape != values.shape:
        raise ValueError("Weights and input must have the same size.")
    values = values * weight
    return values.sum() / weight.sum() if reduction == "mean" else reduce(values, reduction)


def mse_loss(
    input: Tensor, target: Tensor, size_average=None, reduce=None, reduction: str = "mean", weight: Tensor | None = None
) -> Tensor:
    """The squared differences."""
    check_reduction(reduction)
    input, target = _pair(input, target)
    check_floating(input, "mse_cpu")
    if weight is not None:
        return _weighted(losses.mse_loss_(input, target, "none"), weight, reduction)
    return losses.mse_loss_(input, target, reduction)


def l1_loss(
    input: Tensor, target: Tensor, size_average=None, reduce=None, reduction: str = "mean", weight: Tensor | None = None
) -> Tensor:
    """The absolute differences."""
    check_reduction(reduction)
    if "b" in (input.array.dtype.kind, target.array.dtype.kind):
        input - target  # raises
    input, target = _pair(input, target)
    return _weighted((input - target).abs(), weight, reduction)


def smooth_l1_loss(
    input: Tensor, target: Tensor, size_average=None, reduce=None, reduction: str = "mean", beta: float = 1.0
) -> Tensor:
    """Squared differences where they are below beta, absolute ones beyond, joined smoothly. Raises RuntimeError for a negative beta."""
    check_reduction(reduction)
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    input, target = _pair(input, target)
    if beta == 0:
        return l1_loss(input, target, reduction=reduction)
    check_floating(input, "smooth_l1_cpu")
    return losses.smooth_l1_loss_(input, target, reduction, beta)


def huber_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0, weight: Tensor | None = None
) -> Tensor:
    """As smooth_l1_loss times delta: half the squared difference up to delta, a straight line beyond.
    Raises RuntimeError unless delta > 0."""
    check_reduction(reduction)
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    kind = input.dtype
    input, target = _pair(input, target)
    if input.dtype is not kind:
        check_result(input.dtype, kind)
        return huber_loss(input, target, reduction, delta, weight).to(kind)
    check_floating(input, "huber_cpu")
    if weight is not None:
        # Not by the weights
        return _reduce(_weighted(losses.huber_loss_(input, target, "none", delta), weight, "none"), reduction)
    return losses.huber_loss_(input, target, reduction, delta)


def binary_cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None = None, size_average=None, reduce=None, reduction: str = "mean"
) -> Tensor:
    """-(t log p + (1 - t) log(1 - p)) for probabilities p. Logarithms are at least -100. Better: binary_cross_entropy_with_logits.
    Raises ValueError for different shapes, RuntimeError for different dtypes or p outside [0, 1]."""
    check_reduction(reduction)
    if target.shape != input.shape:
        raise ValueError(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}) is deprecated. "
            "Please ensure they have the same size."
        )
    if input.array.dtype is not target.array.dtype:
        raise RuntimeError(f"Found dtype {kind_of(target)} but expected {kind_of(input)}")
    check_floating(input, "binary_cross_entropy")
    if not ((input.array >= 0) & (input.array <= 1)).all():
        raise errors.new(
            RuntimeError,
            "all elements of input should be between 0 and 1",
            why="The loss takes the logarithm of probabilities.",
            instead="put a sigmoid before it, or use binary_cross_entropy_with_logits, which takes any numbers.",
        )
    return _apply(losses.bce_, input, target, weight, reduction)


def binary_cross_entropy_with_logits(
    input: Tensor, target: Tensor, weight: Tensor | None = None, size_average=None, reduce=None, reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """binary_cross_entropy of sigmoid(input), computed without overflow. `pos_weight` counts the positive targets more.
    Raises ValueError for different shapes, RuntimeError for targets that are whole numbers."""
    check_reduction(reduction)
    if target.shape != input.shape:
        raise ValueError(f"Target size ({target.shape}) must be the same as input size ({input.shape})")
    # PyTorch computes in place in the dtype of the target: that is the dtype of the loss, and whole numbers are refused.
    kind = target.dtype
    if kind is dtypes.bool_:
        raise errors.no_bools("sub", False)
    check_result(dtypes.result_type(input, target) if input.is_floating_point() else dtypes.get_default_dtype(), kind)
    check_floating(input, "log_sigmoid_cpu")
    input, target = promoted(input, target)
    if pos_weight is not None and pos_weight.array.dtype.kind == "b":
        raise errors.no_bools("sub", False)
    factor = None if pos_weight is None else pos_weight.array.astype(input.array.dtype, copy=False)
    weight = None if weight is None else weight.to(input.dtype)
    for factors in (pos_weight, weight):
        if factors is not None and (shape := broadcast_shape(input, factors)) != tuple(input.shape):
            raise _too_small(input, shape)
    return _apply(losses.bce_logits_, input, target, weight, reduction, factor).to(kind)


def _too_small(input: Tensor, shape: tuple[int, ...]) -> RuntimeError:
    """The error of PyTorch's losses that are computed in place in `input`, for a result of another shape."""
    return errors.new(
        RuntimeError,
        f"output with shape {list(input.shape)} doesn't match the broadcast shape {list(shape)}",
        facts=facts.ShapeWritten(tuple(input.shape), tuple(shape)),
    )


def _apply(row: Any, input: Tensor, target: Tensor, weight: Tensor | None, reduction: str, *options: Any) -> Tensor:
    if weight is None:
        return row(input, target, reduction, *options)
    return reduce(row(input, target, "none", *options) * weight, reduction)


_CLASS_NUMBERS = {np.dtype(np.int64), np.dtype(np.uint8)}


def _check_classes(input: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int) -> None:
    """Raise PyTorch's errors about targets that are not class numbers of `input`."""
    x, a = input.array, target.array
    if a.dtype not in _CLASS_NUMBERS:
        raise errors.new(
            RuntimeError,
            f"expected target dtype to be Long or Byte, but got {kind_of(target)}",
            why="The target of each sample is the number of its class.",
            instead="target.long().",
            facts=facts.ClassType(kind_of(target)),
        )
    batch = a.shape[0] if a.ndim else 0
    if x.ndim > 1 and x.shape[0] != batch:
        raise errors.new(
            ValueError,
            f"Expected input batch_size ({x.shape[0]}) to match target batch_size ({batch}).",
            facts=facts.BatchMismatch(x.shape[0], batch),
        )
    if x.ndim <= 2 and a.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if x.ndim > 2 and (a.ndim != x.ndim - 1 or x.shape[2:] != a.shape[1:]):
        raise RuntimeError(f"Expected target size {[x.shape[0], *x.shape[2:]]}, got {list(a.shape)}")
    classes = x.shape[1] if x.ndim > 1 else x.shape[0]
    if weight is not None and tuple(weight.shape) != (classes,):
        raise RuntimeError(
            f"weight tensor should be defined either for all {classes} classes or no classes but got weight tensor of shape: "
            f"{list(weight.shape)}"
        )
    # Below zero is very large
    if a.dtype.itemsize == 8 and a.size and np.maximum.reduce(a.view(np.uint64), axis=None) < classes:
        return
    wrong = (a != ignore_index) & ((a < 0) | (a >= classes))
    if wrong.any():
        raise errors.new(
            IndexError,
            f"Target {int(a[wrong].ravel()[0])} is out of bounds.",
            f"The input has {classes} classes, numbered 0 to {classes - 1}.",
            instead="check the number of outputs of the last layer, and whether classes are counted from 0.",
            facts=facts.ClassOutOfRange(),
        )


def _one_target(target: Tensor) -> Tensor:
    """The class number of a single sample, given as a vector with one element."""
    if target.numel() != 1:
        raise ValueError(f"For 1D input, 1D target must have size 1, but got target size: {target.numel()}")
    return target.reshape(())


def nll_loss(
    input: Tensor, target: Tensor, weight: Tensor | None = None, size_average=None, ignore_index: int = -100, reduce=None,
    reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """Minus the log-probability of the right class.

    input   log-probabilities (N, C), (C,) or (N, C, d1, ...)
    target  class numbers (N,), () or (N, d1, ...)
    weight  (C,): how much each class counts; the mean is over the weights
    Samples of class ignore_index do not count.
    """
    check_reduction(reduction)
    if input.ndim == target.ndim == 1:
        target = _one_target(target)
    _check_classes(input, target, weight, ignore_index)
    check_floating(input, "nll_loss_out_frame")
    return _nll_loss(input, target, weight, ignore_index, reduction)


def _nll_loss(input: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int, reduction: str) -> Tensor:
    row = losses.nll_ if input.ndim <= 2 else losses.nll_2d
    return row(input, target, None if weight is None else weight.array, reduction, ignore_index)


def cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None = None, size_average=None, ignore_index: int = -100, reduce=None,
    reduction: str = "mean", label_smoothing: float = 0.0,
) -> Tensor:  # fmt: skip
    """nll_loss of log_softmax(input): the loss of classification.

    target           class numbers, or probabilities of input's shape
    label_smoothing  mix the target with equal probabilities for all classes
    Raises RuntimeError for a label_smoothing outside [0, 1], and for an ignore_index with probabilities.

    >>> import minigrad as torch
    >>> torch.nn.functional.cross_entropy(torch.zeros(1, 4), torch.tensor([2]))  # log(4)
    tensor(1.3863)
    """
    check_reduction(reduction)
    if not 0.0 <= label_smoothing <= 1.0:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing:g}")
    axis = 1 if input.ndim > 1 else 0
    if input.ndim == target.ndim == 1 and not target.is_floating_point():
        target = _one_target(target)
    if target.array.shape == input.array.shape and target.is_floating_point():
        if ignore_index >= 0:
            raise RuntimeError("ignore_index is not supported for floating point target")
        return _soft_cross_entropy(neural.log_softmax(input, axis), target, weight, reduction, label_smoothing, axis)
    _check_classes(input, target, weight, ignore_index)
    check_floating(input, "log_softmax_lastdim_kernel_impl")
    log_p = neural.log_softmax(input, axis)
    loss = _nll_loss(log_p, target, weight, ignore_index, reduction)
    if label_smoothing == 0:
        return loss
    # The smoothed part: minus the mean log-probability over the classes, weighted as the classes are.
    classes = input.shape[axis]
    saved = target.array != ignore_index
    smooth = -(log_p if weight is None else log_p * weight.reshape(_along(axis, input.ndim))).sum(axis)
    smooth = smooth.masked_fill(constant(~saved), 0.0) if not saved.all() else smooth
    if reduction == "mean":
        factors = (
            saved.sum() if weight is None else np.where(saved, weight.array[np.where(saved, target.array, 0)], 0).sum()
        )
        smooth = smooth.sum() / factors.item()
    elif reduction == "sum":
        smooth = smooth.sum()
    return loss * (1 - label_smoothing) + smooth * (label_smoothing / classes)


def _along(axis: int, ndim: int) -> tuple[int, ...]:
    return tuple([-1 if i == axis else 1 for i in range(ndim)])


def _soft_cross_entropy(
    log_p: Tensor, target: Tensor, weight: Tensor | None, reduction: str, smoothing: float, axis: int
) -> Tensor:
    if smoothing:
        target = target * (1 - smoothing) + smoothing / log_p.shape[axis]
    products = log_p * target
    if weight is not None:
        products = products * weight.reshape(_along(axis, log_p.ndim))
    if reduction == "none":
        return -products.sum(axis)
    total = -products.sum()
    return losses.over(total, log_p.numel() // max(log_p.shape[axis], 1)) if reduction == "mean" else total


def kl_div(
    input: Tensor, target: Tensor, size_average=None, reduce=None, reduction: str = "mean", log_target: bool = False
) -> Tensor:
    """The Kullback-Leibler divergence of target probabilities from input log-probabilities: target * (log(target) - input).

    reduction="batchmean" divides the sum by the number of samples, which is the mathematical definition.
    Raises RuntimeError for integers.
    """
    if reduction == "mean":
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size.'batchmean' divides only by the batch "
            "size, and aligns with the KL div math definition.'mean' will be changed to behave the same as 'batchmean' in the next major "
            "release.",
            stacklevel=3,
        )
    if not (input.is_floating_point() and target.is_floating_point()):
        raise RuntimeError("kl_div: Integral inputs not supported.")
    if log_target:
        values = target.exp() * (target - input)
    else:
        values = losses.xlogy(target, target) - target * input
    if reduction == "batchmean":
        return values.sum() / input.shape[0] if input.ndim else values.sum()
    return _reduce(values, reduction)


def poisson_nll_loss(
    input: Tensor, target: Tensor, log_input: bool = True, full: bool = False, size_average=None, eps: float = 1e-8, reduce=None,
    reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """-log of the Poisson probability of the counts `target`: exp(x) - t * x (or x - t * log(x)); `full` adds Stirling's term."""
    loss = input.exp() - target * input if log_input else input - target * (input + eps).log()
    if full:
        stirling = target * target.log() - target + (target * (2 * math.pi)).log() * 0.5
        loss = loss + stirling.masked_fill(target <= 1, 0)
    return _reduce(loss, reduction)


def gaussian_nll_loss(
    input: Tensor, target: Tensor, var: Any, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Tensor:
    """-log of the normal density of `target` with mean `input` and variance `var` (at least eps; the clamp has no gradient).
    Raises ValueError for another shape of `var` or a negative one, RuntimeError for integers."""
    if not input.is_floating_point():
        raise errors.new(
            RuntimeError,
            "result type Float can't be cast to the desired output type long int",
            facts=facts.CastWritten("Float", "long int"),
        )
    if not isinstance(var, Tensor):
        var = constant(np.full(input.shape, var, input.array.dtype))
    if var.shape != input.shape:
        if tuple(input.shape[:-1]) == tuple(var.shape):
            var = var.unsqueeze(-1)
        elif input.ndim != var.ndim or sum(v for m, v in zip(input.shape, var.shape, strict=True) if m != v) != 1:
            raise ValueError("var is of incorrect size")
    if (var.array < 0).any():
        raise ValueError("var has negative entry/entries")
    check_reduction(reduction)
    low = constant(np.maximum(eps - var.array, 0))  # added, not clamped: the gradient passes unchanged
    var = var + low
    loss = (var.log() + (input - target) ** 2 / var) * 0.5
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return _reduce(loss, reduction)


def hinge_embedding_loss(
    input: Tensor, target: Tensor, margin: float = 1.0, size_average=None, reduce=None, reduction: str = "mean"
) -> Tensor:
    """x where the target is 1, max(0, margin - x) where it is -1."""
    check_mean(input)
    far = (margin - input).clamp(min=0)
    zero = constant(np.zeros((), input.array.dtype))
    return _reduce(zero.where(target == 1, far) + zero.where(target == -1, input), reduction)


def soft_margin_loss(input: Tensor, target: Tensor, size_average=None, reduce=None, reduction: str = "mean") -> Tensor:
    """log(1 + exp(-target * x)) for targets 1 and -1. Raises RuntimeError for a target that is larger."""
    shape = broadcast_shape(input, target)
    if shape != tuple(input.shape):
        raise _too_small(input, shape)
    check_result(dtypes.result_type(input, target), input.dtype)
    return _reduce(-logsigmoid(input * target), reduction).to(input.dtype)


def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average=None,
    reduce=None,
    reduction: str = "mean",
) -> Tensor:
    """max(0, -target * (x1 - x2) + margin). Raises RuntimeError for different numbers of dimensions."""
    if not input1.ndim == input2.ndim == target.ndim:
        raise RuntimeError(
            f"margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: {input1.size()}, input2: "
            f"{input2.size()}, target: {target.size()} "
        )
    return _reduce((-target * (input1 - input2) + margin).clamp(min=0), reduction)


def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average=None,
    reduce=None,
    reduction: str = "mean",
) -> Tensor:
    """1 - cos for pairs with target 1, max(0, cos - margin) for those with -1.
    input1, input2 (N, D) or (D,), target (N,) or (). Raises RuntimeError for other shapes."""
    if target.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if not input1.ndim == input2.ndim == target.ndim + 1:
        raise RuntimeError(
            f"{target.ndim}D target tensor expects {target.ndim + 1}D input tensors, but found inputs with sizes {list(input1.shape)} and "
            f"{list(input2.shape)}."
        )
    if input1.array.dtype.kind != "f" or input2.array.dtype.kind != "f":  # squares of small whole numbers do not fit
        input1, input2 = (x if x.array.dtype.kind == "f" else x.to(get_default_dtype()) for x in (input1, input2))
    squares = ((input1 * input1).sum(-1) + 1e-12) * ((input2 * input2).sum(-1) + 1e-12)
    cos = (input1 * input2).sum(-1) / squares.sqrt()
    zero = constant(np.zeros((), cos.array.dtype))
    return _reduce(
        (1 - cos).where(target == 1, zero) + (cos - margin).clamp(min=0).where(target == -1, zero), reduction
    )


def triplet_margin_loss(
    anchor: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0, p: float = 2, eps: float = 1e-6, swap: bool = False,
    size_average=None, reduce=None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """max(0, d(anchor, positive) - d(anchor, negative) + margin). Raises RuntimeError for different numbers of dimensions."""
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: anchor "
            f"{anchor.ndim}D, positive {positive.ndim}D, and negative {negative.ndim}D inputs"
        )
    near, far = pairwise_distance(anchor, positive, p, eps), pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = far.minimum(pairwise_distance(positive, negative, p, eps))
    return _reduce((near - far + margin).clamp(min=0), reduction)


def triplet_margin_with_distance_loss(
    anchor: Tensor, positive: Tensor, negative: Tensor, *, distance_function: Any = None, margin: float = 1.0, swap: bool = False,
    reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """triplet_margin_loss with a distance of your own (default: pairwise_distance). Raises ValueError unless margin > 0."""
    distance = pairwise_distance if distance_function is None else distance_function
    check_reduction(reduction)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = far.minimum(distance(positive, negative))
    return _reduce((near - far + margin).clamp(min=0), reduction)


def multi_margin_loss(
    input: Tensor, target: Tensor, p: int = 1, margin: float = 1.0, weight: Tensor | None = None, size_average=None, reduce=None,
    reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """The mean over all wrong classes i of max(0, margin - x[y] + x[i]) ** p, times the weight of the right class y.
    input (N, C) or (C,), target (N,) or (). Raises ValueError for another p, RuntimeError for other shapes, weights or classes."""
    check_reduction(reduction)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if input.ndim > 2 or 0 in input.shape[input.ndim - 1 :]:
        raise RuntimeError(
            f"Expected non-empty vector or matrix with optional 0-dim batch size, but got: {list(input.shape)}"
        )
    samples = input.shape[0] if input.ndim == 2 else 1
    if target.ndim > 1 or target.numel() != samples:
        raise RuntimeError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input samples (batch size). Expected target "
            f"size [{samples}], but got {list(target.shape)}. Input has shape {list(input.shape)}."
        )
    rows, classes = (input, target) if input.ndim == 2 else (input.reshape(1, -1), target.reshape(1))
    if classes.numel() and not (0 <= classes.array.min() and classes.array.max() < rows.shape[1]):
        raise RuntimeError("target out of range")
    if weight is not None and tuple(weight.shape) != (rows.shape[1],):
        raise RuntimeError(f"inconsistent weight size, expected {rows.shape[1]} but got {list(weight.shape)}")
    index = classes.reshape(-1, 1)
    away = (margin - rows.gather(1, index) + rows).relu()
    away = away if p == 1 else away * away
    if weight is not None:
        away = away * weight[classes.reshape(-1)].unsqueeze(1)
    is_target = np.arange(rows.shape[1]) == index.array
    values = away.masked_fill(constant(is_target), 0.0).sum(1) / rows.shape[1]
    return _reduce(values if target.ndim else values.squeeze(0), reduction)


def multilabel_margin_loss(
    input: Tensor, target: Tensor, size_average=None, reduce=None, reduction: str = "mean"
) -> Tensor:
    """The sum over right classes y and wrong ones i of max(0, 1 - x[y] + x[i]), divided by the number of classes. target: class numbers,
    the first -1 ends them. Raises RuntimeError for different shapes and for other classes."""
    check_reduction(reduction)
    if input.ndim > 2 or 0 in input.shape[input.ndim - 1 :]:
        raise RuntimeError(
            f"Expected non-empty vector or matrix with optional 0-dim batch size, but got: {list(input.shape)}"
        )
    if tuple(input.shape) != tuple(target.shape):
        raise RuntimeError(f"inconsistent target size: {list(target.shape)} for input of size: {list(input.shape)}")
    x, y = (
        input.reshape(-1, input.shape[-1] if input.ndim else 1),
        target.array.reshape(-1, input.shape[-1] if input.ndim else 1),
    )
    if y.size and not (-1 <= y.min() and y.max() < x.shape[1]):
        raise RuntimeError("argument #2 'target' is out of range")
    is_label = np.cumprod(y >= 0, 1).astype(bool)
    right = np.zeros(y.shape, bool)
    rows, _ = np.nonzero(is_label)
    right[rows, y[is_label]] = True
    chosen = x.gather(1, constant(np.where(is_label, y, 0)))
    away = (1 - chosen.unsqueeze(2) + x.unsqueeze(1)).relu()
    values = away.masked_fill(constant(~(is_label[:, :, None] & ~right[:, None, :])), 0.0).sum((1, 2)) / x.shape[1]
    return _reduce(values if input.ndim == 2 else values.squeeze(0), reduction)


def multilabel_soft_margin_loss(
    input: Tensor, target: Tensor, weight: Tensor | None = None, size_average=None, reduce=None, reduction: str = "mean"
) -> Tensor:
    """The mean over classes of the binary cross-entropy of sigmoid(input)."""
    check_reduction(reduction)
    values = -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input))
    values = values if weight is None else values * weight
    return _reduce(values.sum(input.ndim - 1) / input.shape[-1], reduction)


def ctc_loss(
    log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any, blank: int = 0, reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:  # fmt: skip
    """Connectionist temporal classification: -log of the probability of all alignments of a sequence of labels with a longer one.

    log_probs (T, N, C) or (T, C), targets (N, S) or all labels one after the other; the lengths say how much of each counts.
    blank          the class that means "no label"
    zero_infinity  targets that are longer than their input give 0, not inf
    "mean" divides each loss by the length of its target first.

    Graves et al., Connectionist temporal classification, 2006, https://www.cs.toronto.edu/~graves/icml_2006.pdf
    Raises RuntimeError for lengths, labels or shapes that do not fit.
    """
    check_reduction(reduction)
    batched = log_probs.ndim == 3
    if log_probs.ndim not in (2, 3):
        expected_ndim = log_probs.ndim + 1
        raise RuntimeError(
            f"Expected 3-dimensional tensor, but got {expected_ndim}-dimensional tensor for argument #1 'log_probs' {_CTC}"
        )
    for name, lengths_argument in (("input_lengths", input_lengths), ("target_lengths", target_lengths)):
        if isinstance(lengths_argument, Tensor) and lengths_argument.array.dtype.kind not in "iu":
            raise RuntimeError(f"{name} must be integral")
    x = log_probs if batched else log_probs.unsqueeze(1)
    steps, n, classes = x.shape
    times, lengths = (
        np.asarray(getattr(v, "array", v)).reshape(-1).astype(np.int64) for v in (input_lengths, target_lengths)
    )
    for name, result in (("input_lengths", times), ("target_lengths", lengths)):
        if len(result) != n:
            raise RuntimeError(f"{name} must be of size batch_size")
    if not 0 <= blank < classes:
        raise RuntimeError("blank must be in label range")
    for name, result in (("input_lengths", times), ("target_lengths", lengths)):
        if result.min(initial=0) < 0:
            raise RuntimeError(
                f"Expected {name} to have value at least 0, but got value {result[result < 0][0]} {_CTC}"
            )
    if times.max(initial=0) > steps:
        raise RuntimeError(f"Expected input_lengths to have value at most {steps}, but got value {times.max()} {_CTC}")
    _check_ctc_targets(targets, lengths)
    labels = _ctc_labels(targets.array, lengths, blank, n)
    probs = x.gather(2, constant(np.broadcast_to(labels, (steps, *labels.shape)).copy()))
    jump = np.zeros(labels.shape, bool)  # from two labels before, over a blank
    jump[:, 2:] = (labels[:, 2:] != blank) & (labels[:, 2:] != labels[:, :-2])
    never = constant(np.full(labels.shape, -1e30, x.array.dtype))  # -inf without 0 * inf in the gradients
    alpha = probs[0].where(constant(np.broadcast_to(np.arange(labels.shape[1]) < 2, labels.shape)), never)
    for t in range(1, steps):
        one, two = (cat([never[:, :k], alpha[:, :-k]], 1) for k in (1, 2))
        new = stack([alpha, one, two.where(constant(jump), never)]).logsumexp(0) + probs[t]
        alpha = new.where(constant(np.broadcast_to((t < times)[:, None], labels.shape)), alpha)
    last = np.stack([2 * lengths, np.maximum(2 * lengths - 1, 0)], 1)
    ends = alpha.gather(1, constant(last))
    ends = ends.where(constant(np.stack([np.ones(n, bool), lengths > 0], 1)), never[:, :2])
    loss = -ends.logsumexp(1)
    if not times.all():  # of no input at all only the empty target is possible
        loss = loss.masked_fill(constant((times == 0) & (lengths == 0)), 0.0).masked_fill(
            constant((times == 0) & (lengths > 0)), np.inf
        )
    impossible = loss.array > 1e29
    if zero_infinity:
        loss = loss.masked_fill(constant(impossible), 0.0)
    elif impossible.any():
        loss = loss * constant(np.where(impossible, np.inf, 1).astype(x.array.dtype))
    counted = (np.arange(steps)[:, None] < times) & ~(impossible & zero_infinity)
    total = (x.exp().sum(2) * constant(counted.astype(x.array.dtype))).sum(0)
    loss = loss + (total - total.detach())  # PyTorch's gradient is that of what log_softmax was given
    if reduction == "mean":
        return (loss / constant(np.maximum(lengths, 1).astype(x.array.dtype))).mean()
    return loss.sum() if reduction == "sum" else loss if batched else loss.squeeze(0)


_CTC = "(while checking arguments for ctc_loss_allocate_outputs)"


def _check_ctc_targets(targets: Tensor, lengths: np.ndarray) -> None:
    if targets.ndim not in (1, 2):
        raise RuntimeError(
            f"Expected 1 to 2 dimensions, but got {targets.ndim}-dimensional tensor for argument #2 'targets' {_CTC}"
        )
    expected, got = (int(lengths.sum()) if targets.ndim == 1 else len(lengths)), targets.shape[0]
    if expected != got:
        raise RuntimeError(
            f"Expected tensor to have size {expected} at dimension 0, but got size {got} for argument #2 'targets' {_CTC}"
        )
    longest = int(lengths.max(initial=0))
    if targets.ndim == 2 and targets.shape[1] < longest:
        what = f"Expected tensor to have size at least {longest} at dimension 1, but got size {targets.shape[1]}"
        raise RuntimeError(f"{what} for argument #2 'targets' {_CTC}")


def _ctc_labels(targets: np.ndarray, lengths: np.ndarray, blank: int, n: int) -> np.ndarray:
    """The labels of each sample with blanks between, before and after."""
    if targets.ndim == 1:
        ends = np.cumsum(lengths)
        parts = [targets[end - length : end] for end, length in zip(ends, lengths, strict=True)]
    else:
        parts = [row[:length] for row, length in zip(targets, lengths, strict=True)]
    labels = np.full((n, 2 * int(lengths.max(initial=0)) + 1), blank, np.int64)
    for row, part in zip(labels, parts, strict=True):
        row[1 : 2 * len(part) : 2] = part
    return labels


_reduce = reduce  # the functions above have a parameter of that name

__all__ = [
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "cosine_embedding_loss", "cross_entropy", "gaussian_nll_loss",
    "hinge_embedding_loss", "huber_loss", "kl_div", "l1_loss", "margin_ranking_loss", "mse_loss", "nll_loss", "poisson_nll_loss",
    "ctc_loss", "multi_margin_loss", "multilabel_margin_loss", "multilabel_soft_margin_loss", "smooth_l1_loss", "soft_margin_loss",
    "triplet_margin_loss", "triplet_margin_with_distance_loss",
]  # fmt: skip
