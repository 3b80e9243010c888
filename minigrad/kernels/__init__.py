"""Pure functions of ndarrays, the only place where speed decides how code looks.

What lives here: for each kernel its numpy twin and, in a file that alone imports numba, the compiled version where it was measured to win;
and `warm`, which compiles them all once after an installation. What does not: recording, Tensors and Values. Importing this package imports
no kernel, so that numba is loaded only when one is wanted.
"""

from importlib import import_module

WITH_KERNELS = (
    "minigrad.tape",
    *[f"minigrad.kernels.{name}" for name in ("optimizers", "neural", "scatter", "windows")],
)


def warm() -> None:
    """Compile all kernels into numba's cache, each with the `warm` function of its module."""
    for module in WITH_KERNELS:
        import_module(module).warm()
