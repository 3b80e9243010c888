"""Rows: activation functions. Each output element depends on one element of the input.

What does not live here: relu, sigmoid, tanh (elementwise.py), softmax (neural.py), and the functions with PyTorch's arguments (nn/functional.py).
At kinks the rules take PyTorch's side.
"""

# ruff: noqa: E501  (a row is one line)
import math

import numpy as np

from ..core.op import ELEMENTWISE, GENERAL, Op
from ..kernels import neural as kernels
from .elementwise import exp, in_float32, sigmoid, tanh, where
from .joins import cat
from .shape import slice_

_INV_SQRT_2PI = 1 / math.sqrt(2 * math.pi)
_SIXTH = float(np.float32(1 / 6))  # PyTorch takes this constant in float32 for every dtype
_SQRT_2_OVER_PI = math.sqrt(2 / math.pi)


def _elu(x, alpha, scale, input_scale):
    return np.where(x > 0, x * scale, np.expm1(np.where(x > 0, 0, x) * input_scale) * (alpha * scale))


def _elu_rule(g, x, alpha, scale, input_scale):
    return where(x <= 0, g * (exp(where(x > 0, 0, x) * input_scale) * (input_scale * alpha * scale)), g * scale)


def _softplus(x, beta, threshold):
    if x.dtype.char == "e":
        return in_float32(_softplus, x, np.float32(beta), np.float32(threshold))
    scaled = x * beta
    return np.where(scaled > threshold, x, np.log1p(np.exp(np.minimum(scaled, threshold))) / x.dtype.type(beta))


def _gelu_tanh(x):
    if x.dtype.char == "e":
        return in_float32(_gelu_tanh, x)
    return 0.5 * x * (1 + np.tanh(_SQRT_2_OVER_PI * (x + 0.044715 * x * x * x)))


def _gelu_tanh_rule(g, x):
    t = tanh((x + x * x * x * 0.044715) * _SQRT_2_OVER_PI)
    return g * ((t + 1) * 0.5 + x * (1 - t * t) * ((x * x * (3 * 0.044715) + 1) * (0.5 * _SQRT_2_OVER_PI)))


def _hardswish(x):
    return x * np.clip(x + 3, 0, 6) / 6


def _silu(x):
    return in_float32(_silu, x) if x.dtype.char == "e" else x * sigmoid(x)


def _mish(x):
    return x * np.tanh(_softplus(x, 1.0, 20.0))


def _mish_rule(g, x):
    t = tanh(softplus_(x, 1.0, 20.0))
    return g * (t + x * sigmoid(x) * (1 - t * t))


def _log_sigmoid(x):
    return np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x)))


def _halves(x, dim):
    n = x.shape[dim] // 2
    return slice_(x, dim, 0, n, 1), slice_(x, dim, n, 2 * n, 1)


def _glu(x, dim):
    a, b = np.split(x, 2, dim)
    return a * sigmoid(b)


def _glu_rule(g, x, dim):
    a, b = _halves(x, dim)
    s = sigmoid(b)
    parts = [g * s, g * a * s * (1 - s)]
    return np.concatenate(parts, dim) if isinstance(parts[0], np.ndarray) else cat(parts, dim)


# fmt: off
# name         forward                                                                          kind         rule
leaky_relu_ = Op("leaky_relu", lambda x, negative_slope: np.where(x > 0, x, x * negative_slope), ELEMENTWISE, x=lambda g, x, negative_slope: where(x > 0, g, g * negative_slope),
                 words={"x": "g where {x} > 0, else g × negative_slope"})
prelu_      = Op("prelu", lambda x, y: np.where(x > 0, x, x * y),                                ELEMENTWISE, x=lambda g, x, y: where(x > 0, g, g * y), y=lambda g, x: where(x > 0, 0, g * x), node="PreluKernelBackward0", saved_as={"y": "weight"})
threshold_  = Op("threshold", lambda x, threshold, value: np.where(x <= threshold, x.dtype.type(value), x), ELEMENTWISE, x=lambda g, x, threshold: where(x <= threshold, 0, g))
hardtanh_   = Op("hardtanh", lambda x, min_val, max_val: np.clip(x, x.dtype.type(min_val), x.dtype.type(max_val)), ELEMENTWISE, x=lambda g, x, min_val, max_val: where((x <= min_val) | (x >= max_val), 0, g))
hardsigmoid_ = Op("hardsigmoid", lambda x: np.clip(x + 3, 0, 6) / 6,                             ELEMENTWISE, x=lambda g, x: where((x > -3) & (x < 3), g * _SIXTH, 0))
hardswish_  = Op("hardswish", lambda x: in_float32(_hardswish, x),                               ELEMENTWISE, x=lambda g, x: where(x <= -3, 0, where(x < 3, g * (x / 3 + 0.5), g)))
softshrink_ = Op("softshrink", lambda x, lambd: np.where(x > lambd, x - lambd, np.where(x < -lambd, x + lambd, np.where(np.isnan(x), x, 0))), ELEMENTWISE, x=lambda g, x, lambd: where((x >= -lambd) & (x <= lambd), 0, g))
hardshrink_ = Op("hardshrink", lambda x, lambd: np.where((x >= -lambd) & (x <= lambd), 0, x),    ELEMENTWISE, x=lambda g, x, lambd: where((x >= -lambd) & (x <= lambd), 0, g))

elu_        = Op("elu", _elu,                                                                    ELEMENTWISE, x=_elu_rule,
                 words={"x": "g where {x} > 0, else g × alpha × exp({x})"})
celu_       = Op("celu", lambda x, alpha: _elu(x, alpha, 1.0, 1.0 / alpha),                      ELEMENTWISE, x=lambda g, x, alpha: _elu_rule(g, x, alpha, 1.0, 1.0 / alpha),
                 words={"x": "g where {x} > 0, else g × exp({x} / alpha)"})
softplus_   = Op("softplus", _softplus,                                                          ELEMENTWISE, x=lambda g, x, beta, threshold: where(x * beta > threshold, g, g * sigmoid(x * beta)))
logsigmoid_ = Op("log_sigmoid", _log_sigmoid,                                                    ELEMENTWISE, x=lambda g, x: g * sigmoid(-x))
silu_       = Op("silu", lambda x: _silu(x),                                               ELEMENTWISE, x=lambda g, x: g * (sigmoid(x) * (x * (1 - sigmoid(x)) + 1)), fused=("x * sigmoid(x)", "g * (sigmoid(x) * (x * (1 - sigmoid(x)) + 1))"))
mish_       = Op("mish", lambda x: in_float32(_mish, x),                         ELEMENTWISE, x=_mish_rule,
                 words={"x": "g × (tanh(softplus({x})) + {x} × sigmoid({x}) × (1 − tanh(softplus({x}))²))"})
gelu_       = Op("gelu", lambda x: in_float32(kernels.gelu, x),                                   ELEMENTWISE, x=lambda g, x: gelu_slope(g, x),
                 words={"x": "g × (Φ({x}) + {x} × φ({x}))"}, fused=("x * cdf(x)", "g * gelu_derivative(x)"))
gelu_slope  = Op("gelu_backward", kernels.gelu_slope,                                            ELEMENTWISE, node="GeluBackwardBackward0", args="grad_output input", saved_as={"x": "grad_output", "y": "self"},
                 x=lambda g, y: gelu_slope(g, y), y=lambda g, x, y: g * x * exp(y * y * -0.5) * (2 - y * y) * _INV_SQRT_2PI, formula="x * (normal_cdf(y) + y * exp(y * y * -0.5) * _INV_SQRT_2PI)")
gelu_tanh   = Op("gelu", _gelu_tanh,                                                             ELEMENTWISE, x=_gelu_tanh_rule,
                 words={"x": "g × (Φ({x}) + {x} × φ({x}))"})
glu_        = Op("glu", _glu,                                                                    GENERAL,     x=_glu_rule,
                 words={"x": "g through both halves of {x}: one is the value, the other its gate"}, batch="dims")
# fmt: on
