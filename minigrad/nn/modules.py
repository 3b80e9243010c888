"""torch.nn.modules: PyTorch's second path to the layers, and the hooks of every module at once (torch.nn.modules.module)."""

from . import activation, conv, dropout, linear, loss, module, pooling, transformer  # noqa: F401
from . import norm as batchnorm  # noqa: F401
from . import recurrent as rnn  # noqa: F401
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
