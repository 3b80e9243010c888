"""torch.nn.functional: layers, activations and losses as functions. One file per family; derivatives are rows in ops/."""
# ruff: noqa: I001  (names side by side)

from .activation import (
    celu, celu_, elu, elu_, gelu, glu, gumbel_softmax, hardshrink, hardsigmoid, hardswish, hardtanh, hardtanh_, leaky_relu, leaky_relu_,
    log_softmax, logsigmoid, mish, prelu, relu, relu6, relu_, rrelu, rrelu_, selu, selu_, sigmoid, silu, softmax, softmin, softplus,
    softshrink, softsign, tanh, tanhshrink, threshold, threshold_,
)  # fmt: skip
from .attention import scaled_dot_product_attention
from .conv import conv1d, conv2d, conv3d, conv_transpose1d, conv_transpose2d, conv_transpose3d, fold, pad, unfold
from .distance import cosine_similarity, normalize, pairwise_distance, pdist
from .dropout import alpha_dropout, dropout, dropout1d, dropout2d, dropout3d, feature_alpha_dropout
from .fractional import fractional_max_pool2d, fractional_max_pool3d
from .image import (
    affine_grid, channel_shuffle, grid_sample, interpolate, pixel_shuffle, pixel_unshuffle, upsample, upsample_bilinear, upsample_nearest,
)  # fmt: skip
from .linear import bilinear, embedding, embedding_bag, linear, one_hot
from .loss import (
    binary_cross_entropy, binary_cross_entropy_with_logits, cosine_embedding_loss, cross_entropy, ctc_loss, gaussian_nll_loss,
    hinge_embedding_loss, huber_loss, kl_div, l1_loss, margin_ranking_loss, mse_loss, multi_margin_loss, multilabel_margin_loss,
    multilabel_soft_margin_loss, nll_loss, poisson_nll_loss, smooth_l1_loss, soft_margin_loss, triplet_margin_loss,
    triplet_margin_with_distance_loss,
)  # fmt: skip
from .norm import batch_norm, group_norm, instance_norm, layer_norm, local_response_norm, rms_norm
from .pooling import (
    adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d, adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d,
    avg_pool1d, avg_pool2d, avg_pool3d, lp_pool1d, lp_pool2d, lp_pool3d, max_pool1d, max_pool1d_with_indices, max_pool2d,
    max_pool2d_with_indices, max_pool3d, max_pool3d_with_indices, max_unpool1d, max_unpool2d,
    max_unpool3d,
)  # fmt: skip

__all__ = [name for name in dir() if not name.startswith("_")]

from ...core import errors as _errors  # noqa: E402
from ._arguments import refusing_others as _refusing_others  # noqa: E402

for _name in __all__:
    if getattr(globals()[_name], "__module__", "").startswith(__name__):
        globals()[_name] = _refusing_others(globals()[_name])

__getattr__ = _errors.unknown_in("minigrad.nn.functional", lambda: list(globals()))
