"""`%load_ext minigrad`: what IPython calls to bring everything in and to take it out again.

What lives here: the two doors. What does not: what is behind them (kernel.py).
"""

from typing import Any

from . import kernel


def load_ipython_extension(ipython: Any) -> None:
    """Bring in the magics, their completion, the error panels, and the recording of source lines. Loading twice changes nothing."""
    kernel.load(ipython)


def unload_ipython_extension(ipython: Any) -> None:
    """Take all of it out again."""
    kernel.unload(ipython)
