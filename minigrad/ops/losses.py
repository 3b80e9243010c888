"""Rows: losses that compare a prediction `x` with a target `y` of its shape, and the negative log likelihood of classes.

What does not live here: the losses that are compositions, and PyTorch's arguments (nn/functional.py). `reduction` is "none", "mean" or "sum".
"""

# ruff: noqa: E501  (a row is one line)
import inspect
import math

import numpy as np

from ..core.op import ELEMENTWISE, GENERAL, LINEAR, Op
from .activations import logsigmoid_
from .elementwise import abs, log, sigmoid, sign, where
from .reduce import mean_all


def reduced(values, reduction):
    """All values, their mean or their sum."""
    if reduction == "none":
        return values
    if reduction == "mean":
        return mean_all.forward(values)
    return np.add.reduce(values, axis=None)


def each(g, x, reduction):
    """The gradient of each value (broadcasts against `x`), from that of `reduced`."""
    return g / math.prod(x.shape) if reduction == "mean" else g


def _signature(function, names):
    """`function`, which takes *args, as if its parameters had these names: a row is read by the names of its functions' parameters."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    function.__signature__ = inspect.Signature([inspect.Parameter(name, kind) for name in names])
    return function


def pairwise(name, value, slope, *, params="", target_slope=None, node=None, words=None):
    """The row of a loss: `value(x, y, *params)` per element, reduced. `slope` is its derivative by x; that by y is minus that unless given."""
    by_x, by_y = slope, target_slope or (lambda x, y, *more: -slope(x, y, *more))
    names = ["x", "y", "reduction", *params.split()]

    def forward(x, y, reduction, *more):
        return reduced(value(x, y, *more), reduction)

    def x_rule(g, x, y, reduction, *more):
        return each(g, x, reduction) * by_x(x, y, *more)

    def y_rule(g, x, y, reduction, *more):
        return each(g, x, reduction) * by_y(x, y, *more)

    def jvp(ts, x, y, reduction, *more):
        parts = [t * d(x, y, *more) for t, d in zip(ts, (by_x, by_y), strict=True) if t is not None]
        total = parts[0] if len(parts) == 1 else parts[0] + parts[1]
        return total if reduction == "none" else getattr(total, reduction)()

    return Op(
        name, _signature(forward, names), GENERAL, node=node, x=_signature(x_rule, ["g", *names]), y=_signature(y_rule, ["g", *names]),
        jvp=_signature(jvp, ["ts", *names]), args="input target", saved_as={"y": "target"}, words=words,
    )  # fmt: skip


def beside(x, array):
    """`array` as an operand for `x`: a Tensor where x is one (when the backward pass is recorded)."""
    return array if isinstance(x, np.ndarray) else type(x)._wrap(array)


def _smooth_l1(x, y, beta):
    d = np.abs(x - y)
    return np.where(d < beta, 0.5 * d * d / beta, d - 0.5 * beta)


def _huber(x, y, delta):
    d = np.abs(x - y)
    return np.where(d <= delta, 0.5 * d * d, delta * (d - 0.5 * delta))


def _huber_slope(x, y, delta):
    d = x - y
    return where(abs(d) <= delta, d, sign(d) * delta)


_SMALLEST = float(np.float32(1e-12))  # PyTorch takes this constant in float32 for every dtype


def _bce(x, y):
    return -(y * np.maximum(np.log(x), -100) + (1 - y) * np.maximum(np.log1p(-x), -100))


def _bce_slope(x, y):
    variance = x * (1 - x)
    return (x - y) / where(variance > _SMALLEST, variance, _SMALLEST)


def _bce_logits(x, y, pos_weight):
    tail = np.log1p(np.exp(-np.abs(x))) + np.maximum(-x, 0)
    return (1 - y) * x + (tail if pos_weight is None else ((pos_weight - 1) * y + 1) * tail)


def _bce_logits_slope(x, y, pos_weight):
    if pos_weight is None:
        return sigmoid(x) - y
    t = y * beside(x, pos_weight)
    return (t + 1 - y) * sigmoid(x) - t


def _bce_logits_target_slope(x, y, pos_weight):
    return -x if pos_weight is None else logsigmoid_(-x) - beside(x, pos_weight) * logsigmoid_(x)


mse_loss_ = pairwise("mse_loss", lambda x, y: np.square(x - y), lambda x, y: (x - y) * 2,
                     words={"x": "g × 2 × ({x} − {y}), divided by the count for the mean",
                            "y": "−g × 2 × ({x} − {y}), divided by the count for the mean"})  # fmt: skip
smooth_l1_loss_ = pairwise("smooth_l1_loss", _smooth_l1, lambda x, y, beta: where(abs(x - y) < beta, (x - y) / beta, sign(x - y)), params="beta", node="SmoothL1LossBackward0",
                           words={"x": "g × ({x} − {y}) / beta near 0, else g × sign({x} − {y})",
                                  "y": "−g × ({x} − {y}) / beta near 0, else −g × sign({x} − {y})"})  # fmt: skip
huber_loss_ = pairwise("huber_loss", _huber, _huber_slope, params="delta",
                       words={"x": "g × ({x} − {y}) near 0, else g × delta × sign({x} − {y})",
                              "y": "−g × ({x} − {y}) near 0, else −g × delta × sign({x} − {y})"})  # fmt: skip
bce_ = pairwise("binary_cross_entropy", _bce, _bce_slope, target_slope=lambda x, y: log(1 - x) - log(x),
                words={"x": "g × ({x} − {y}) / ({x} × (1 − {x}))", "y": "g × log((1 − {x}) / {x})"})  # fmt: skip
bce_logits_ = pairwise("binary_cross_entropy_with_logits", _bce_logits, _bce_logits_slope, params="pos_weight", target_slope=_bce_logits_target_slope,
                       words={"x": "g × (sigmoid({x}) − {y})", "y": "−g × {x}"})  # fmt: skip


# fmt: off
xlogy = Op("xlogy", lambda x, y: np.where((x == 0) & ~np.isnan(y), 0, x * np.log(y)), ELEMENTWISE, floats=True,
           x=lambda g, x, y: where((x == 0) & (y <= 0), 0, g * log(y)), y=lambda g, x, y: g * x / y)
over  = Op("div", lambda x, count: x / x.dtype.type(count), LINEAR, node="DivBackward1", x=lambda g, count: g / count, batch="same")  # by a count, not a tensor
# fmt: on


# Classes. `x` is (N, C, ...) or (C,), `y` the class numbers (N, ...) or (); `weight` (C,) an ndarray or None.


def _factors(y, weight, ignore_index, dtype):
    """What each sample counts: its class's weight, 0 if its class is to be ignored."""
    counted = y != ignore_index
    return (
        counted.astype(dtype) if weight is None else np.where(counted, weight[np.where(counted, y, 0)], 0).astype(dtype)
    )


def _at(y, ignore_index, axis):
    """`y` as an index into x along `axis`, ignored classes replaced by 0."""
    return np.expand_dims(np.where(y == ignore_index, 0, y), axis)


def _plain(y, shape, weight, ignore_index):
    """A matrix of which every row counts once: what most programs have, and a few calls instead of twenty."""
    return weight is None and len(shape) == 2 and not np.count_nonzero(y == ignore_index)


def _nll(x, y, weight, reduction, ignore_index):
    if _plain(y, x.shape, weight, ignore_index):
        return reduced(-x[np.arange(x.shape[0]), y], reduction)
    axis = 1 if x.ndim > 1 else 0
    picked = np.take_along_axis(x, _at(y, ignore_index, axis), axis).squeeze(axis)
    factors = _factors(y, weight, ignore_index, x.dtype)
    values = np.where(y == ignore_index, 0, -picked * factors)
    if reduction == "none":
        return values.astype(x.dtype, copy=False)
    total = values.sum()
    return total / factors.sum() if reduction == "mean" else total


def _nll_backward(g, y, shape, weight, reduction, ignore_index):
    if _plain(y, shape, weight, ignore_index):
        out = np.zeros(shape, g.dtype)
        out[np.arange(shape[0]), y] = -g / g.dtype.type(shape[0]) if reduction == "mean" else -g
        return out
    axis = 1 if len(shape) > 1 else 0
    factors = _factors(y, weight, ignore_index, g.dtype)
    values = -g * factors
    if reduction == "mean":
        # All weights 0: nan, as the loss
        values = np.where(y == ignore_index, 0, values / factors.sum()).astype(g.dtype, copy=False)
    out = np.zeros(shape, g.dtype)
    np.put_along_axis(out, _at(y, ignore_index, axis), np.expand_dims(values, axis), axis)
    return out


# fmt: off
nll_ = Op("nll_loss", _nll, LINEAR, args="input target", saved_as={"y": "target"},
          x=lambda g, y, x_shape, weight, reduction, ignore_index: nll_backward(g, y, x_shape, weight, reduction, ignore_index), y=None,
          words={"x": "−g × weight at each target's place, else 0"})
nll_2d = Op("nll_loss", _nll, LINEAR, args="input target", saved_as={"y": "target"}, node="NllLoss2DBackward0",
          x=lambda g, y, x_shape, weight, reduction, ignore_index: nll_backward(g, y, x_shape, weight, reduction, ignore_index), y=None,
            words={"x": "−g × weight at each target's place, else 0"})
nll_backward = Op("nll_loss_backward", _nll_backward, LINEAR, args="grad_output target",
          x=lambda g, y, weight, reduction, ignore_index: nll_(g, y, weight, reduction, ignore_index), y=None,
                  words={"x": "−g at each target's place"})
# fmt: on
