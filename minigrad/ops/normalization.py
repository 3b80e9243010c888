"""Rows: numbers shifted and scaled to mean 0 and variance 1 over some of their dimensions.

What lives here: one computation under three names, for they differ only in what is averaged. What does not: PyTorch's arguments and running
statistics (nn/functional.py).

`arranged` is the shape of x for averaging over `axes`; weight and bias are arranged as `affine`, which broadcasts against x.
"""

# ruff: noqa: E501  (a row is one line)
import numpy as np

from ..core.op import GENERAL, Op
from ..kernels import neural as kernels
from .elementwise import sqrt
from .reduce import mean_dim, sum_dim
from .shape import expand, reshape


def _parts(x, arranged, axes, eps):
    """The normalised numbers and 1 / standard deviation."""
    v = reshape(x, arranged)
    d = v - mean_dim(v, axes, True)
    rstd = 1 / sqrt(mean_dim(d * d, axes, True) + eps)
    return d * rstd, rstd


def _projected(v, x_hat, axes):
    """v without its mean and without what lies along x̂: how x̂ * σ moves when x moves along v."""
    return v - mean_dim(v, axes, True) - x_hat * mean_dim(v * x_hat, axes, True)


def _bias_rule(g, weight_shape, affine):
    """Sum over every dimension in which the weight is repeated."""
    affine = (1,) * (g.ndim - len(affine)) + tuple(affine)
    return reshape(
        sum_dim(g, tuple([i for i, n in enumerate(affine) if n == 1 and g.shape[i] != 1]), True), weight_shape
    )


def _jvp(ts, x, weight, arranged, axes, affine, eps):
    tx, tw, tb = ts
    x_hat, rstd = _parts(x, arranged, axes, eps)
    out = 0
    if tx is not None:
        out = reshape(_projected(reshape(tx, arranged), x_hat, axes) * rstd, x.shape) * reshape(weight, affine)
    if tw is not None:
        out = reshape(x_hat, x.shape) * reshape(tw, affine) + out
    return out if tb is None else reshape(tb, affine) + out


# The backward is a row of its own: the gradients of x, weight and bias in one pass. With ĝ = y * weight that of x is r P ĝ, where P is
# `_projected` and r = 1 / σ; and when x moves by δ, x̂ moves by r P δ and r by -r² mean(x̂ δ). From this its rules, for gs = (u, v, w).


def _backward_by_y(gs, x, weight, arranged, axes, affine, eps):
    u, v, w = gs
    x_hat, rstd = _parts(x, arranged, axes, eps)
    out = None
    if u is not None:
        out = reshape(_projected(reshape(u, arranged), x_hat, axes) * rstd, x.shape) * reshape(weight, affine)
    if v is not None:
        out = plus(out, reshape(x_hat, x.shape) * reshape(v, affine))
    return out if w is None else plus(out, expand(reshape(w, affine), x.shape))


def _backward_by_x(gs, y, x, weight, arranged, axes, affine, eps):
    u, v, _ = gs
    x_hat, rstd = _parts(x, arranged, axes, eps)
    out = None
    if u is not None:
        u, g_hat = reshape(u, arranged), reshape(y * reshape(weight, affine), arranged)
        back = _projected(g_hat, x_hat, axes)
        total = x_hat * mean_dim(u * back, axes, True) + _projected(u, x_hat, axes) * mean_dim(
            g_hat * x_hat, axes, True
        )
        out = reshape((total + back * mean_dim(u * x_hat, axes, True)) * (-rstd * rstd), x.shape)
    if v is None:
        return out
    return plus(out, reshape(_projected(reshape(y * reshape(v, affine), arranged), x_hat, axes) * rstd, x.shape))


def _backward_by_weight(gs, y, x, weight_shape, arranged, axes, affine, eps):
    if gs[0] is None:
        return None
    x_hat, rstd = _parts(x, arranged, axes, eps)
    return _bias_rule(
        y * reshape(_projected(reshape(gs[0], arranged), x_hat, axes) * rstd, x.shape), weight_shape, affine
    )


def plus(a, b):
    return b if a is None else a + b


def _row(name, node):
    backward = Op(
        name + "_backward", kernels.normalize_backward, GENERAL, args="grad_out input weight", outputs=("out", "out_weight", "out_bias"),
        saved_as={"x": "input", "y": "grad_out"}, y=_backward_by_y, x=_backward_by_x, weight=_backward_by_weight,
        words=dict.fromkeys(("x", "y", "weight"), f"g through the gradient of {name.split('_')[1]} norm, differentiated once more"),
    )  # fmt: skip
    return Op(
        name, kernels.normalize, GENERAL, node=node, args="input weight bias", outputs=("out", "mean", "rstd"), saved_as={"x": "input", "mean": "result1", "rstd": "result2"},
        x=lambda g, x, weight, arranged, axes, affine, eps: backward(g, x, weight, arranged, axes, affine, eps)[0],
        weight=lambda g, x, weight, arranged, axes, affine, eps: backward(g, x, weight, arranged, axes, affine, eps)[1],
        bias=lambda g, weight_shape, affine: _bias_rule(g, weight_shape, affine),
        joint_rule=lambda g, x, weight, arranged, axes, affine, eps: backward(g, x, weight, arranged, axes, affine, eps), jvp=_jvp,
        words={"x": "(g × weight without its mean, and without its part along the normalised {x}) / std",
               "weight": "g × the normalised {x}, summed", "bias": "g summed"},
    )  # fmt: skip


layer_norm_ = _row("native_layer_norm", "NativeLayerNormBackward0")
batch_norm_ = _row("native_batch_norm", "NativeBatchNormBackward0")
group_norm_ = _row("native_group_norm", "NativeGroupNormBackward0")

# In evaluation the statistics are given: `mean` and `variance`, arranged as `affine`.


def _scaled(x, weight, bias, mean, variance, affine, eps):
    return (x - mean) * (1 / np.sqrt(variance + x.dtype.type(eps)) * weight.reshape(affine)) + bias.reshape(affine)


def _scaled_jvp(ts, x, weight, mean, variance, affine, eps):
    tx, tw, tb, _, _ = ts
    scale = 1 / sqrt(variance + eps)
    out = 0 if tx is None else tx * scale * reshape(weight, affine)
    if tw is not None:
        out = (x - mean) * scale * reshape(tw, affine) + out
    return out if tb is None else reshape(tb, affine) + out


# fmt: off
batch_norm_eval = Op("native_batch_norm", _scaled, GENERAL, args="input weight bias running_mean running_var", node="NativeBatchNormBackward0",
    x=lambda g, weight, variance, affine, eps: g * (reshape(weight, affine) / sqrt(variance + eps)),
    weight=lambda g, x, weight_shape, mean, variance, affine, eps: _bias_rule(g * ((x - mean) / sqrt(variance + eps)), weight_shape, affine),
    bias=lambda g, weight_shape, affine: _bias_rule(g, weight_shape, affine), mean=None, variance=None, jvp=_scaled_jvp,
    words={"x": "g × weight / std", "weight": "g × the normalised {x}, summed", "bias": "g summed"})
# fmt: on
