"""torch.autograd: names only."""

import importlib
from typing import Any

from ..core.grad_mode import (
    enable_grad,
    inference_mode,
    is_multithreading_enabled,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)
from . import forward_ad, grad_mode, graph, profiler
from .anomaly import detect_anomaly, first_nan, set_detect_anomaly
from .backward import backward, grad
from .function import Function
from .gradcheck import GradcheckError, gradcheck, gradgradcheck
from .variable import Variable


def __getattr__(name: str) -> Any:
    if name == "functional":  # stands above torch.func, which stands on this package
        return importlib.import_module(f"{__name__}.functional")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
