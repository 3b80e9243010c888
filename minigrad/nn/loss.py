"""Losses as modules. The functions are in functional/loss.py."""

from typing import Any

from ..tensors.tensor import Tensor
from . import functional as F
from .functional._arguments import old_reduction
from .layer import Layer
from .module import Module


class _Loss(Layer):
    """reduction: "mean", "sum", or "none" for one value per element."""

    def __init__(self, size_average: Any = None, reduce: Any = None, reduction: str = "mean"):
        old = size_average is not None or reduce is not None
        super().__init__(reduction=old_reduction(size_average, reduce) if old else reduction)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:  # type: ignore[override]
        return self._run(input, target)

    def extra_repr(self) -> str:
        return ""


class _WeightedLoss(_Loss):
    """weight: a buffer, not a parameter; it is saved and moved with the module."""

    def __init__(
        self, weight: Tensor | None = None, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
    ):
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


class MSELoss(_Loss, function=F.mse_loss):
    """The squared differences.

    >>> import minigrad as torch
    >>> torch.nn.MSELoss()(torch.tensor([1., 2.]), torch.tensor([1., 4.]))
    tensor(2.)
    """


class L1Loss(_Loss, function=F.l1_loss):
    pass


class SmoothL1Loss(_Loss, function=F.smooth_l1_loss):
    def __init__(self, size_average: Any = None, reduce: Any = None, reduction: str = "mean", beta: float = 1.0):
        super().__init__(size_average, reduce, reduction)
        self.beta = beta


class HuberLoss(_Loss, function=F.huber_loss):
    def __init__(self, reduction: str = "mean", delta: float = 1.0):
        super().__init__(reduction=reduction)
        self.delta = delta


class BCELoss(_WeightedLoss, function=F.binary_cross_entropy):
    """Binary cross-entropy of probabilities. Better: BCEWithLogitsLoss, without the sigmoid before it."""


class BCEWithLogitsLoss(_Loss, function=F.binary_cross_entropy_with_logits):
    """Binary cross-entropy of sigmoid(input)."""

    def __init__(
        self, weight: Tensor | None = None, size_average: Any = None, reduce: Any = None, reduction: str = "mean",
        pos_weight: Tensor | None = None,
    ):  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.register_buffer("pos_weight", pos_weight)


class NLLLoss(_WeightedLoss, function=F.nll_loss):
    """Minus the log-probability of the right class; put LogSoftmax before it, or use CrossEntropyLoss."""

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: Any = None,
        ignore_index: int = -100,
        reduce: Any = None,
        reduction: str = "mean",
    ):
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index


class CrossEntropyLoss(_WeightedLoss, function=F.cross_entropy):
    """The loss of classification: takes any numbers (logits), (N, C) or (N, C, d1, ...), and class numbers or probabilities."""

    def __init__(
        self, weight: Tensor | None = None, size_average: Any = None, ignore_index: int = -100, reduce: Any = None, reduction: str = "mean",
        label_smoothing: float = 0.0,
    ):  # fmt: skip
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing


class KLDivLoss(_Loss, function=F.kl_div):
    """Takes log-probabilities, and probabilities (or with log_target their logarithms) as target. Use reduction="batchmean"."""

    def __init__(self, size_average: Any = None, reduce: Any = None, reduction: str = "mean", log_target: bool = False):
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target


class PoissonNLLLoss(_Loss):
    def __init__(
        self, log_input: bool = True, full: bool = False, size_average: Any = None, eps: float = 1e-8, reduce: Any = None,
        reduction: str = "mean",
    ):  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        self.log_input, self.full, self.eps = log_input, full, eps

    def forward(self, log_input: Tensor, target: Tensor) -> Tensor:  # type: ignore[override]
        return F.poisson_nll_loss(
            log_input, target, log_input=self.log_input, full=self.full, eps=self.eps, reduction=self.reduction
        )


class GaussianNLLLoss(_Loss, function=F.gaussian_nll_loss):
    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean"):
        super().__init__(reduction=reduction)
        self.full, self.eps = full, eps

    def forward(self, input: Tensor, target: Tensor, var: Any) -> Tensor:  # type: ignore[override]
        return self._run(input, target, var)


class HingeEmbeddingLoss(_Loss, function=F.hinge_embedding_loss):
    def __init__(self, margin: float = 1.0, size_average: Any = None, reduce: Any = None, reduction: str = "mean"):
        super().__init__(size_average, reduce, reduction)
        self.margin = margin


class SoftMarginLoss(_Loss, function=F.soft_margin_loss):
    pass


class _OfPairs(_Loss):
    def __init__(self, margin: float = 0.0, size_average: Any = None, reduce: Any = None, reduction: str = "mean"):
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:  # type: ignore[override]
        return self._run(input1, input2, target)


class MarginRankingLoss(_OfPairs, function=F.margin_ranking_loss):
    pass


class CosineEmbeddingLoss(_OfPairs, function=F.cosine_embedding_loss):
    pass


class TripletMarginLoss(_Loss, function=F.triplet_margin_loss):
    def __init__(
        self, margin: float = 1.0, p: float = 2.0, eps: float = 1e-6, swap: bool = False, size_average: Any = None, reduce: Any = None,
        reduction: str = "mean",
    ):  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        self.margin, self.p, self.eps, self.swap = margin, p, eps, swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:  # type: ignore[override]
        return self._run(anchor, positive, negative)


class TripletMarginWithDistanceLoss(_Loss, function=F.triplet_margin_with_distance_loss):
    def __init__(
        self, *, distance_function: Any = None, margin: float = 1.0, swap: bool = False, reduction: str = "mean"
    ):
        super().__init__(reduction=reduction)
        if margin <= 0:
            raise ValueError(
                f"TripletMarginWithDistanceLoss: expected margin to be greater than 0, got {margin} instead"
            )
        self.distance_function = F.pairwise_distance if distance_function is None else distance_function
        self.margin, self.swap = margin, swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:  # type: ignore[override]
        return self._run(anchor, positive, negative)


class MultiMarginLoss(_WeightedLoss, function=F.multi_margin_loss):
    def __init__(
        self, p: int = 1, margin: float = 1.0, weight: Tensor | None = None, size_average: Any = None, reduce: Any = None,
        reduction: str = "mean",
    ):  # fmt: skip
        super().__init__(weight, size_average, reduce, reduction)
        if p not in (1, 2):
            raise ValueError("only p == 1 and p == 2 supported")
        if weight is not None and weight.ndim != 1:
            raise ValueError(f"MultiMarginLoss: expected weight to be None or 1D tensor, got {weight.ndim}D instead")
        self.p, self.margin = p, margin


class MultiLabelMarginLoss(_Loss, function=F.multilabel_margin_loss):
    pass


class MultiLabelSoftMarginLoss(_WeightedLoss, function=F.multilabel_soft_margin_loss):
    pass


class CTCLoss(_Loss, function=F.ctc_loss):
    """Connectionist temporal classification; see F.ctc_loss."""

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False):
        super().__init__(reduction=reduction)
        self.blank, self.zero_infinity = blank, zero_infinity

    def forward(self, log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any) -> Tensor:  # type: ignore[override]
        return self._run(log_probs, targets, input_lengths, target_lengths)


class PairwiseDistance(Module):
    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False):
        super().__init__()
        self.norm, self.eps, self.keepdim = p, eps, keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)


class CosineSimilarity(Module):
    def __init__(self, dim: int = 1, eps: float = 1e-8):
        super().__init__()
        self.dim, self.eps = dim, eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.cosine_similarity(x1, x2, self.dim, self.eps)
