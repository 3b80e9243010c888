"""torch.func: functions in, functions out."""

from .transforms import *  # noqa: F403
from .transforms import __all__
