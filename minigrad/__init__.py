"""minigrad: automatic differentiation that you can read, step through and question.

    from minigrad import Value          # the scalar engine: one file, needs only math
    import minigrad as torch            # the Tensor engine, with PyTorch's names

What lives here: the names of the public surface and nothing else. `Value` is ready at once; every other name is looked up
in `minigrad.api` on first use, so that `import minigrad` loads neither numpy nor numba nor IPython nor matplotlib.
"""

import os
import sys
import warnings
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
    if _exists(name):
        return import_module(f".{name}", __name__)
    api = import_module(".api", __name__)
    try:
        value = getattr(api, name)
    except AttributeError:
        raise api.unknown_name(name) from None
    globals()[name] = value
    return value


def _exists(module: str) -> bool:
    try:
        return find_spec(f"{__name__}.{module}") is not None
    except ModuleNotFoundError:  # one that is left out
        return False


class _LeftOut:
    """The last finder of imports: says why minigrad.fft and its kind are left out (core/absent.py)."""

    @staticmethod
    def find_spec(fullname, path=None, target=None):
        if fullname.startswith(__name__ + "."):
            import_module(".core.errors", __name__).refuse_import(fullname)


if _LeftOut.__name__ not in [getattr(finder, "__name__", "") for finder in sys.meta_path]:
    sys.meta_path.append(_LeftOut)


def __dir__():
    from . import api

    return sorted({*globals(), *api.__all__})


def _warn_of_another_minigrad():
    """Is the package index's other `minigrad` installed in the same place? Then each overwrites files of the other."""
    here = os.path.dirname(os.path.dirname(__file__))
    try:
        found = [name for name in os.listdir(here) if name.startswith("minigrad-") and name.endswith(".dist-info")]
        for name in found:
            with open(os.path.join(here, name, "METADATA"), encoding="utf-8") as file:
                # Else an older install of ours
                if "Summary: Automatic differentiation that you can read" not in file.read(2000):
                    warnings.warn(
                        "Two packages called minigrad are installed in one place, and they overwrite each other's files: this one "
                        "(minigrad-course) and another project's (minigrad). To keep this one: pip uninstall minigrad, then "
                        "install minigrad-course again as you did before, with --force-reinstall --no-deps.",
                        stacklevel=3,
                    )
    except OSError:  # in a zip file, or not readable: then nothing is known
        pass


_warn_of_another_minigrad()


def load_ipython_extension(ipython):
    """What `%load_ext minigrad` calls: the one hook from the engine up to the screen."""
    from widgets.extension import load_ipython_extension as load

    load(ipython)


def unload_ipython_extension(ipython):
    """What `%unload_ext minigrad` calls."""
    from widgets.extension import unload_ipython_extension as unload

    unload(ipython)
