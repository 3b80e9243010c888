"""torch.cuda.amp: the old names of torch.amp. On this machine's CPU they cast nothing, as in PyTorch without a GPU."""

import warnings
from typing import Any

from .. import amp
from ..core import dtypes

_OLD = "`torch.cuda.amp.{0}(args...)` is deprecated. Please use `torch.amp.{0}('cuda', args...)` instead."


class autocast(amp.autocast):
    """torch.amp.autocast("cuda")."""

    def __init__(self, enabled: bool = True, dtype: Any = dtypes.float16, cache_enabled: bool = True):
        warnings.warn(_OLD.format("autocast"), FutureWarning, stacklevel=2)
        super().__init__("cuda", dtype, enabled, cache_enabled)

    def clone(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return type(self)(self._enabled, self.fast_dtype)


class GradScaler(amp.GradScaler):
    """torch.amp.GradScaler("cuda")."""

    def __init__(self, init_scale=2.0**16, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, enabled=True):
        warnings.warn(_OLD.format("GradScaler"), FutureWarning, stacklevel=2)
        super().__init__("cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled)


__all__ = ["GradScaler", "autocast"]
