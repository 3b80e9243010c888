"""torch.amp: mixed precision. `autocast` runs products in half precision, `GradScaler` keeps small gradients from becoming 0.

What lives here: which operation runs in which precision, and the scale. What does not: the dtypes themselves (dtypes.py). There is only a
CPU, and numpy computes float16 slowly: this is for seeing what mixed precision does to numbers, not for speed.

float16 holds nothing smaller than 6e-8 (and nothing larger than 65504): a gradient of 1e-8 is 0 in it. Multiplying the loss by 65536
multiplies every gradient by 65536 on its way, and the division happens in float32.
"""

import warnings
from typing import Any

import numpy as np

from .core import dtypes
from .core.devices import device
from .core.dispatch import Handler, Mode, state
from .core.grad_mode import no_grad
from .core.op import TABLE
from .core.variable import Variable, wrap
from .ops.shape import cast
from .tensors.tensor import Tensor

# PyTorch's lists for the CPU, as far as minigrad has the operations.
LOW = {
    "mm", "bmm", "matmul", "mv", "dot", "addmm", "baddbmm", "addbmm", "AddmmBackward0", "convolution", "convolution_bias",
    "conv_transpose",
}  # fmt: skip
FLOAT32 = {
    "prod", "ProdBackward1", "mse_loss", "smooth_l1_loss", "huber_loss", "nll_loss", "NllLoss2DBackward0", "binary_cross_entropy",
    "binary_cross_entropy_with_logits", "trace", "linalg_inv_ex", "linalg_solve_ex", "linalg_det", "linalg_slogdet", "linalg_cholesky_ex",
}  # fmt: skip
WIDEST = {"cat", "stack", "index_copy"}


def _precision(op):
    """ "low", "float32", "widest" or None, remembered on the row."""
    precision = op.__dict__.get("precision", 0)
    if precision == 0:
        key = next((k for k, row in TABLE.items() if row is op), op.name)
        precision = "low" if key in LOW else "float32" if key in FLOAT32 else "widest" if key in WIDEST else None
        op.precision = precision
    return precision


class autocast(Handler, Mode):
    """Context manager and decorator: inside, matrix products and convolutions compute in `dtype`, losses in float32.

    device_type  "cpu"; "cuda" does not exist here, which is warned about, and then nothing is cast
    dtype        torch.float16; torch.bfloat16, PyTorch's default on a CPU, does not exist in numpy: float32 is taken instead, which has
                 its range (65504 is the largest number of float16)
    Raises ValueError if `device_type` is not a string.

    >>> import minigrad as torch
    >>> with torch.autocast("cpu", dtype=torch.float16):
    ...     y = torch.ones(2, 2) @ torch.ones(2, 2)
    >>> y.dtype
    torch.float16
    """

    in_second_run = True

    def __init__(self, device_type="cpu", dtype=None, enabled=True, cache_enabled=None):
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        if device_type != "cuda":
            device(device_type)
        elif enabled:
            warnings.warn(
                "User provided device_type of 'cuda', but CUDA is not available. Disabling", UserWarning, stacklevel=2
            )
            enabled = False
        if dtype is not None and dtype not in (dtypes.float16, dtypes.bfloat16, dtypes.float32):
            warnings.warn(
                "In CPU autocast, but the target dtype is not supported. Disabling autocast.\nCPU Autocast only supports dtype of "
                "torch.bfloat16, "
                "torch.float16 currently.",
                UserWarning,
                stacklevel=2,
            )
            enabled = False
        if dtype in (None, dtypes.bfloat16) and enabled and device_type != "cuda":
            warnings.warn(
                "minigrad has no bfloat16 (numpy has none); autocast uses float32.", UserWarning, stacklevel=2
            )
        self.device, self.fast_dtype = device_type, dtypes.float32 if dtype in (None, dtypes.bfloat16) else dtype
        self._enabled = enabled

    def __enter__(self):
        super().__enter__()
        if not self._enabled:
            state.handlers = state.handlers[:-1]
        return self

    def replaces(self, other):
        return isinstance(other, autocast)

    def clone(self):
        return autocast(self.device, self.fast_dtype, self._enabled)

    def __call__(self, *args):
        """As a handler (op, inputs, params): run the operation in its precision. As a decorator: (function)."""
        if len(args) == 1:
            return Mode.__call__(self, args[0])
        op, inputs, params = args
        kind = _precision(op)
        if kind is None:
            return op(*inputs, *params)
        flat = inputs[0] if op.tensor_list else inputs
        kinds = [x.array.dtype if isinstance(x, Variable) and x.array.dtype.kind == "f" else None for x in flat]
        if kind == "widest":
            target = max(filter(None, kinds), key=lambda d: d.itemsize, default=None)
        else:  # float64 is not cast: it was chosen for its precision
            target = self.fast_dtype.numpy if kind == "low" else np.dtype("float32")
            kinds = [None if d == np.float64 else d for d in kinds]
        flat = [x if d is None or d == target else cast(x, target) for x, d in zip(flat, kinds, strict=True)]
        return op(flat, *params) if op.tensor_list else op(*flat, *params)


def is_autocast_available(device_type):
    """Is there autocast for this kind of device? Only for "cpu"."""
    return device_type == "cpu"


def is_autocast_enabled(device_type="cpu"):
    """Is a cast to lower precision on?"""
    return any(isinstance(h, autocast) for h in state.handlers)


def get_autocast_dtype(device_type="cpu"):
    """The dtype that autocast computes products in here; float32 outside of autocast."""
    return next((h.fast_dtype for h in reversed(state.handlers) if isinstance(h, autocast)), dtypes.float32)


class GradScaler:
    """Multiplies the loss, divides the gradients, and skips steps whose gradients overflowed.

    init_scale       the factor to start with
    growth_factor    it is multiplied by this after growth_interval steps without inf or nan
    backoff_factor   and by this after a step with one
    Raises AssertionError for a growth_factor up to 1 and a backoff_factor from 1 on.

    >>> import minigrad as torch
    >>> scaler = torch.amp.GradScaler("cpu", init_scale=1024.)
    >>> scaler.scale(torch.tensor(2.))
    tensor(2048.)
    """

    def __init__(
        self,
        device="cuda",
        init_scale=2.0**16,
        growth_factor=2.0,
        backoff_factor=0.5,
        growth_interval=2000,
        enabled=True,
    ):
        if device == "cuda" and enabled:
            warnings.warn(
                "torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.",
                UserWarning,
                stacklevel=2,
            )
            enabled = False
        if enabled and growth_factor <= 1.0:
            raise AssertionError("The growth factor must be > 1.0.")
        if enabled and backoff_factor >= 1.0:
            raise AssertionError("The backoff factor must be < 1.0.")
        self._device, self._enabled = device, enabled
        self._init_scale, self._growth_factor, self._backoff_factor, self._growth_interval = (
            init_scale,
            growth_factor,
            backoff_factor,
            growth_interval,
        )
        self._scale: Any = None  # a float from the first scale() on
        self._growth_tracker = 0
        self._stages = {}  # id of optimizer: ("unscaled" or "stepped", was there an inf or nan?)

    def scale(self, outputs):
        """`outputs` (a tensor, or nested lists and tuples of them) times the scale. Raises ValueError for anything else."""
        if not self._enabled:
            return outputs
        if self._scale is None:
            self._scale = float(np.float32(self._init_scale))
        if isinstance(outputs, Tensor):
            return outputs * wrap(np.array(self._scale, np.float32))
        if isinstance(outputs, (list, tuple)):
            return type(outputs)([self.scale(o) for o in outputs])
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def _check_started(self, name):
        if self._scale is None:
            raise AssertionError(
                f"Attempted {name} but _scale is None.  This may indicate your script did not use scaler.scale(loss or outputs) earlier "
                "in the iteration."
            )

    def unscale_(self, optimizer):
        """Divide the gradients of the optimizer's parameters by the scale: call it before clipping. `step` does it otherwise.

        Raises RuntimeError the second time, and after `step`, until `update`.
        """
        if not self._enabled:
            return
        self._check_started("unscale_")
        stage = self._stages.get(id(optimizer), ("ready", False))[0]
        if stage == "unscaled":
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        if stage == "stepped":
            raise RuntimeError("unscale_() is being called after step().")
        self._unscale(optimizer, False)

    def _unscale(self, optimizer, allow_half):
        overflow = False
        with no_grad():
            for group in optimizer.param_groups:
                for p in group["params"]:
                    g = p.grad
                    if g is None:
                        continue
                    if not allow_half and g.array.dtype == np.float16:
                        raise ValueError("Attempting to unscale FP16 gradients.")
                    g.mul_(1.0 / self._scale)
                    overflow = overflow or not np.isfinite(g.array).all()
        self._stages[id(optimizer)] = ("unscaled", overflow)

    def step(self, optimizer, *args, **kwargs):
        """optimizer.step(), unless a gradient is inf or nan; then nothing happens and None is returned.

        Raises RuntimeError for a closure, and the second time before `update`.
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._check_started("step")
        if self._stages.get(id(optimizer), ("ready", False))[0] == "stepped":
            raise RuntimeError("step() has already been called since the last update().")
        if id(optimizer) not in self._stages:
            self._unscale(optimizer, False)
        overflow = self._stages[id(optimizer)][1]
        self._stages[id(optimizer)] = ("stepped", overflow)
        return None if overflow else optimizer.step(*args, **kwargs)

    def update(self, new_scale=None):
        """Adapt the scale to what happened since the last call, or set it. Call it once per iteration, after the steps.

        Raises AssertionError if no step came before.
        """
        if not self._enabled:
            return
        self._check_started("update")
        if new_scale is not None:
            self._scale = float(new_scale)
        else:
            if not self._stages:
                raise AssertionError("No inf checks were recorded prior to update.")
            if any(result for _, result in self._stages.values()):
                self._scale, self._growth_tracker = self._scale * self._backoff_factor, 0
            else:
                self._growth_tracker += 1
                if self._growth_tracker == self._growth_interval:
                    grown = float(np.float32(self._scale * self._growth_factor))
                    self._scale, self._growth_tracker = grown if np.isfinite(grown) else self._scale, 0
        self._stages = {}

    def get_scale(self):
        return (self._init_scale if self._scale is None else self._scale) if self._enabled else 1.0

    def get_growth_factor(self):
        return self._growth_factor

    def set_growth_factor(self, new_factor):
        self._growth_factor = new_factor

    def get_backoff_factor(self):
        return self._backoff_factor

    def set_backoff_factor(self, new_factor):
        self._backoff_factor = new_factor

    def get_growth_interval(self):
        return self._growth_interval

    def set_growth_interval(self, new_interval):
        self._growth_interval = new_interval

    def is_enabled(self):
        return self._enabled

    def state_dict(self):
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(), "growth_factor": self._growth_factor, "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval, "_growth_tracker": self._growth_tracker,
        }  # fmt: skip

    def load_state_dict(self, state_dict):
        """What `state_dict` returned. Raises RuntimeError if it is empty."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler."
            )
        self._init_scale = self._scale = state_dict["scale"]
        self._growth_factor, self._backoff_factor = state_dict["growth_factor"], state_dict["backoff_factor"]
        self._growth_interval, self._growth_tracker = state_dict["growth_interval"], state_dict["_growth_tracker"]


__all__ = ["GradScaler", "autocast", "get_autocast_dtype", "is_autocast_available", "is_autocast_enabled"]
