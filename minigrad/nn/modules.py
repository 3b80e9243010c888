"""torch.nn.modules: PyTorch's second path to the layers, and the hooks of every module at once (torch.nn.modules.module)."""

import sys

from . import (
    activation,
    containers,
    conv,
    dropout,
    embedding,
    flatten,
    linear,
    loss,
    module,
    module_state,
    norm,
    pooling,
    recurrent,
    transformer,
)
from .activation import *  # noqa: F403
from .attention import *  # noqa: F403
from .containers import *  # noqa: F403
from .conv import *  # noqa: F403
from .dropout import *  # noqa: F403
from .embedding import *  # noqa: F403
from .flatten import *  # noqa: F403
from .linear import *  # noqa: F403
from .loss import *  # noqa: F403
from .module import Module  # noqa: F401
from .norm import *  # noqa: F403
from .pooling import *  # noqa: F403
from .recurrent import *  # noqa: F403
from .transformer import *  # noqa: F403

# PyTorch's file of each layer is a module that can be imported, too: torch.nn.modules.batchnorm
_FILES = {
    "activation": activation, "batchnorm": norm, "channelshuffle": flatten, "container": containers, "conv": conv, "distance": loss,
    "dropout": dropout, "flatten": flatten, "fold": conv, "instancenorm": norm, "linear": linear, "loss": loss, "module": module,
    "normalization": norm, "padding": flatten, "pixelshuffle": flatten, "pooling": pooling, "rnn": recurrent, "sparse": embedding,
    "transformer": transformer, "upsampling": flatten, "utils": module_state,
}  # fmt: skip
globals().update(_FILES)
sys.modules.update({f"{__name__}.{_name}": _file for _name, _file in _FILES.items()})
