"""Rows: numbers shifted and scaled to mean 0 and variance 1 over some of their dimensions.

What lives here: one computation under three names, for they differ only in what is averaged. What does not: PyTorch's arguments and running
statistics (nn/functional.py).

`arranged` is the shape of x for averaging over `axes`; weight and bias are arranged as `affine`, which broadcasts against x.
"""
# ruff: noqa: E501  (a row is one line)
import numpy as np
from numpy import ndarray

from ..op import GENERAL, Op
from .elementwise import sqrt
from .reduce import mean_dim, sum_dim
from .shape import reshape


def _normalize(x, weight, bias, arranged, axes, affine, eps):
    v = x.reshape(arranged)
    n = 1
    for axis in axes:
        n *= v.shape[axis]
    mean = np.add.reduce(v, axis=axes, keepdims=True) / v.dtype.type(n)
    d = v - mean
    rstd = 1 / np.sqrt(np.add.reduce(d * d, axis=axes, keepdims=True) / v.dtype.type(n) + v.dtype.type(eps))
    d *= rstd
    out = d.reshape(x.shape)
    out *= weight.reshape(affine)
    out += bias.reshape(affine)
    return out, mean, rstd


def _parts(g, x, mean, rstd, arranged, axes, eps):
    """The normalised numbers and 1 / standard deviation. Recomputed from x when the backward pass is itself recorded."""
    v = reshape(x, arranged)
    if type(g) is not ndarray:
        mean = mean_dim(v, axes, True)
        rstd = 1 / sqrt(mean_dim((v - mean) * (v - mean), axes, True) + eps)
    return (v - mean) * rstd, rstd


def _x_rule(g, x, weight, mean, rstd, arranged, axes, affine, eps):
    """With ĝ = g * weight: (ĝ - mean(ĝ) - x̂ * mean(ĝ * x̂)) / σ, because every x moves the mean and the deviation, too."""
    x_hat, rstd = _parts(g, x, mean, rstd, arranged, axes, eps)
    g_hat = reshape(g * reshape(weight, affine), arranged)
    return reshape((g_hat - mean_dim(g_hat, axes, True) - x_hat * mean_dim(g_hat * x_hat, axes, True)) * rstd, x.shape)


def _weight_rule(g, x, weight_shape, mean, rstd, arranged, axes, affine, eps):
    x_hat, _ = _parts(g, x, mean, rstd, arranged, axes, eps)
    return _bias_rule(g * reshape(x_hat, x.shape), weight_shape, affine)


def _bias_rule(g, weight_shape, affine):
    """Sum over every dimension in which the weight is repeated."""
    affine = (1,) * (g.ndim - len(affine)) + tuple(affine)
    return reshape(sum_dim(g, tuple([i for i, n in enumerate(affine) if n == 1 and g.shape[i] != 1]), True), weight_shape)


def _jvp(ts, x, weight, arranged, axes, affine, eps):
    tx, tw, tb = ts
    v = reshape(x, arranged)
    mean = mean_dim(v, axes, True)
    rstd = 1 / sqrt(mean_dim((v - mean) * (v - mean), axes, True) + eps)
    x_hat = (v - mean) * rstd
    out = 0
    if tx is not None:
        t = reshape(tx, arranged)
        t = (t - mean_dim(t, axes, True) - x_hat * mean_dim(t * x_hat, axes, True)) * rstd
        out = reshape(t, x.shape) * reshape(weight, affine)
    if tw is not None:
        out = reshape(x_hat, x.shape) * reshape(tw, affine) + out
    return out if tb is None else reshape(tb, affine) + out


def _row(name, node):
    return Op(
        name, _normalize, GENERAL, node=node, args="input weight bias", outputs=("out", "mean", "rstd"), saved_as={"x": "input", "mean": "result1", "rstd": "result2"},
        x=_x_rule, weight=_weight_rule, bias=lambda g, weight_shape, affine: _bias_rule(g, weight_shape, affine), jvp=_jvp,
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
    bias=lambda g, weight_shape, affine: _bias_rule(g, weight_shape, affine), mean=None, variance=None, jvp=_scaled_jvp)
# fmt: on
