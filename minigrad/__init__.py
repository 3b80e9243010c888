"""minigrad: automatic differentiation that you can read, step through and question.

    from minigrad import Value          # the scalar engine: one file, needs only math
    import minigrad as torch            # the Tensor engine, with PyTorch's names

What lives here: the names of the public surface and nothing else. `Value` is ready at once; every other name is looked up
in `minigrad.api` on first use, so that `import minigrad` loads neither numpy nor numba nor IPython nor matplotlib.
"""
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from .scalar import Value

if TYPE_CHECKING:  # editors and type checkers see every name
    from .api import *  # noqa: F403

__version__ = "0.1.0"


def __getattr__(name: str):
    if name.startswith("__"):  # __path__, __wrapped__, ...: questions of the import system and of inspect
        raise AttributeError(name)
    if find_spec(f"{__name__}.{name}"):
        return import_module(f".{name}", __name__)
    api = import_module(".api", __name__)
    try:
        value = getattr(api, name)
    except AttributeError:
        raise api.unknown_name(name) from None
    globals()[name] = value
    return value


def __dir__():
    from . import api

    return sorted({*globals(), *api.__all__})


def load_ipython_extension(ipython):
    """What `%load_ext minigrad` calls: the one hook from the engine up to the screen."""
    from widgets.extension import load_ipython_extension as load

    load(ipython)


def unload_ipython_extension(ipython):
    """What `%unload_ext minigrad` calls."""
    from widgets.extension import unload_ipython_extension as unload

    unload(ipython)
