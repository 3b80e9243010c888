"""One optimiser step for one parameter, in place, on ndarrays.

What lives here: the arithmetic of SGD and Adam in PyTorch's order of operations, so that the results agree to the last
digits; and `ready`, which loads the compiled twins of SGD and Adam (optimizers_numba.py) once a program trains in earnest. What does not:
groups, state and options (optim/).

`p` is the parameter, `g` its gradient (never written to); the other arrays are the optimiser's state.
"""
import threading
from functools import lru_cache
from importlib.util import find_spec

import numpy as np

from .loading import load

_compiled = None  # kernels/optimizers_numba.py, once it is loaded and compiled
_loading: threading.Thread | None = None
_calls = 0
PATIENCE = 500  # parameters updated before numba is loaded: short programs never wait for it
_EMPTY = {dtype: np.empty(0, dtype) for dtype in (np.dtype("float32"), np.dtype("float64"))}


def warm() -> bool:
    """Load the compiled kernels now (seconds after an installation, else a fraction of one). False if that is not possible here."""
    global _compiled
    if _compiled is None and (loaded := load("minigrad.kernels.optimizers_numba")):
        for dtype, none in _EMPTY.items():
            a = np.ones(1, dtype)
            loaded.sgd(a, a.copy(), none, np.ones(5, dtype), False)
            loaded.adam(a, a.copy(), a.copy(), a.copy(), none, np.ones(10, dtype))
        _compiled = loaded
    return _compiled is not None


def _fast(p, *others):
    """The compiled kernels, if they are ready and every array is as they want it. Starts loading them beside a long training."""
    global _loading, _calls
    if _compiled is None:
        _calls += 1
        if _calls > PATIENCE and _loading is None and find_spec("numba"):
            _loading = threading.Thread(target=warm, name="minigrad optimiser kernels", daemon=True)
            _loading.start()
        return None
    kind = p.dtype
    if kind not in _EMPTY or not p.flags.c_contiguous:
        return None
    shape = p.shape
    for a in others:  # the kernels go by p's size: an array of another shape would be read and written beyond its end
        if a is not None and (a.shape != shape or a.dtype is not kind or not a.flags.c_contiguous):
            return None
    return _compiled


def _flat(a, p):
    return _EMPTY[p.dtype] if a is None else a.ravel()


@lru_cache(4)
def _adam_numbers(dtype, step, lr, beta1, beta2, eps, weight_decay, decoupled, maximize):
    """What the kernel multiplies by, as an array; those of one step are the same for most parameters."""
    root, size = _corrections(step, lr, beta1, beta2)
    decay, shrink = (0, 1 - lr * weight_decay) if decoupled else (weight_decay, 1)
    return np.array((beta2, 1 - beta1, 1 - (1 - beta1), 1 - beta2, root, size, eps, decay, shrink, -1 if maximize else 1), dtype)


def _corrections(step, lr, beta1, beta2):
    """Adam's averages start at 0: the root of what the squares reach by now, and the learning rate for what the gradients do."""
    return (1 - beta2**step) ** 0.5, lr / (1 - beta1**step)


@lru_cache(4)
def _sgd_numbers(dtype, lr, momentum, dampening, weight_decay, maximize):
    return np.array((lr, momentum, 1 - dampening, weight_decay, -1 if maximize else 1), dtype)


def direction(p, g, weight_decay, maximize):
    """The gradient as the rules see it: turned round to maximise, and with weight decay added."""
    if maximize:
        g = -g
    if weight_decay:
        g = g + weight_decay * p
    return g


def _lerp(a, b, weight):
    """a moves towards b; the form with the smaller rounding error, as PyTorch chooses."""
    if weight < 0.5:
        a += weight * (b - a)
    else:
        a[...] = b - (b - a) * (1 - weight)


def sgd(p, g, buffer, lr, momentum, dampening, weight_decay, nesterov, maximize):
    """`buffer` is None without momentum."""
    fast = _fast(p, g, buffer)
    if fast is not None:
        numbers = _sgd_numbers(p.dtype, lr, momentum, dampening, weight_decay, maximize)
        fast.sgd(p.ravel(), g.ravel(), _flat(buffer, p), numbers, bool(nesterov))
        return
    g = direction(p, g, weight_decay, maximize)
    if buffer is not None:
        buffer *= momentum
        buffer += (1 - dampening) * g
        g = g + momentum * buffer if nesterov else buffer
    p -= lr * g


def adam(p, g, exp_avg, exp_avg_sq, max_exp_avg_sq, step, lr, beta1, beta2, eps, weight_decay, decoupled, maximize):
    """`max_exp_avg_sq` is None without amsgrad; `step` counts from 1; `decoupled` weight decay is AdamW's."""
    fast = _fast(p, g, exp_avg, exp_avg_sq, max_exp_avg_sq)
    if fast is not None:
        numbers = _adam_numbers(p.dtype, step, lr, beta1, beta2, eps, weight_decay, decoupled, maximize)
        fast.adam(p.ravel(), g.ravel(), exp_avg.ravel(), exp_avg_sq.ravel(), _flat(max_exp_avg_sq, p), numbers)
        return
    root, size = _corrections(step, lr, beta1, beta2)
    if weight_decay and decoupled:
        p *= 1 - lr * weight_decay
    g = direction(p, g, 0 if decoupled else weight_decay, maximize)
    _lerp(exp_avg, g, 1 - beta1)
    exp_avg_sq *= beta2
    exp_avg_sq += (1 - beta2) * g * g
    if max_exp_avg_sq is not None:
        exp_avg_sq = np.maximum(max_exp_avg_sq, exp_avg_sq, out=max_exp_avg_sq)
    denominator = np.sqrt(exp_avg_sq)
    denominator /= root
    denominator += eps
    p -= size * exp_avg / denominator
