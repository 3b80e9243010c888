"""One optimiser step for one parameter, in place, on ndarrays.

What lives here: the arithmetic of SGD and Adam in PyTorch's order of operations, so that the results agree to the last
digits; and `ready`, which loads the compiled twins of SGD and Adam (optimizers_numba.py) once a program trains in earnest. What does not:
groups, state and options (optim/).

`p` is the parameter, `g` its gradient (never written to); the other arrays are the optimiser's state.
"""

import threading
import weakref
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

import numpy as np

from .loading import load

_compiled: Any = None  # kernels/optimizers_numba.py, once it is loaded and compiled
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
            loaded.write_address(np.empty((1, 6), np.int64), 0, 1, a)
            loaded.adam_together(np.empty((0, 6), np.int64), 1.0, none, np.ones(10, dtype))
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
    return np.array(
        (beta2, 1 - beta1, 1 - (1 - beta1), 1 - beta2, root, size, eps, decay, shrink, -1 if maximize else 1), dtype
    )


def _corrections(step, lr, beta1, beta2):
    """Adam's averages start at 0: the root of what the squares reach by now, and the learning rate for what the gradients do."""
    return (1 - beta2**step) ** 0.5, lr / (1 - beta1**step)


class Together:
    """Adam for all parameters of a group in one call: where their arrays are is written down once.

    Python's part of a step is longer than the arithmetic of a small parameter. Arrays are those of the last step, which `fits` asks, so
    that an address is never older than its array; gradients are not held, as their memory may be wanted for something else.
    """

    def __init__(self, parameters, states):
        names = "exp_avg", "exp_avg_sq", "step"
        self.known = [
            (p, s, p.array, *[s[name].array for name in names]) for p, s in zip(parameters, states, strict=True)
        ]
        self.dtype = self.known[0][2].dtype
        self.gradients = [_no_array] * len(self.known)
        self.table = np.array([[a.size, 0, 0, 0, 0, 0] for _, _, a, *_ in self.known])
        for k, (_, _, *arrays) in enumerate(self.known):
            for column, a in enumerate(arrays, 2):
                _compiled.write_address(self.table, k, column, a.ravel())

    @classmethod
    def of(cls, parameters, states):
        """None where one call is not possible (yet)."""
        if _compiled is None or not parameters or len({id(p) for p in parameters}) < len(parameters):
            return None
        found = [(p, states.get(p)) for p in parameters]
        for p, s in found:
            if not s or p.array.dtype is not found[0][0].array.dtype or s["step"].array.dtype != np.float32 or (
                    _fast(p.array, s["exp_avg"].array, s["exp_avg_sq"].array) is None):  # fmt: skip
                return None
        return cls(*zip(*found, strict=True))

    def fits(self, parameters, states) -> bool:
        """Are all arrays where they were, and is there a gradient of each?"""
        if len(parameters) != len(self.known):
            return False
        for k, (p, s, a, m, v, t) in enumerate(self.known):
            grad = p._grad
            if (grad is None or parameters[k] is not p or p.array is not a or states.get(p) is not s
                    or s["exp_avg"].array is not m or s["exp_avg_sq"].array is not v or s["step"].array is not t):  # fmt: skip
                return False
            g = grad.array
            if self.gradients[k]() is not g:
                if g.shape != a.shape or g.dtype is not a.dtype or not g.flags.c_contiguous:
                    return False
                _compiled.write_address(self.table, k, 1, g.ravel())
                self.gradients[k] = weakref.ref(g)
        return True

    def step(self, *options) -> bool:
        """False, and nothing is done, where the parameters are not at the same step."""
        lr, betas, *more = options
        count = self.known[0][5].item() + 1
        numbers = _adam_numbers(self.dtype, count, float(lr), float(betas[0]), float(betas[1]), *more)
        if not _compiled.adam_together(self.table, count, _EMPTY[self.dtype], numbers):
            return False
        for p, *_ in self.known:
            p.version[0] += 1
        return True


def _no_array():
    """The weak reference of a parameter without an array."""


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
