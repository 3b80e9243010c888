"""torch.optim: optimisers and learning-rate schedulers. One update rule per file; what they share is in optimizer.py."""

from . import lr_scheduler
from .adagrad import Adagrad
from .adam import Adam, AdamW
from .lbfgs import LBFGS
from .optimizer import Optimizer
from .rmsprop import RMSprop
from .sgd import SGD

__all__ = ["SGD", "Adagrad", "Adam", "AdamW", "LBFGS", "Optimizer", "RMSprop", "lr_scheduler"]

from ..core import errors as _errors  # noqa: E402

__getattr__ = _errors.unknown_in("minigrad.optim", lambda: list(globals()))
