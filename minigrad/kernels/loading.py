"""When compiled kernels are loaded.

What lives here: `load`, and `Compiled`, one file of kernels that alone imports numba, loaded beside the program once enough work has come
by to pay for it. What does not: kernels, and which inputs they take. Until a file is loaded the numpy functions run, so no call waits for
numba or for a compiler; without numba, or where its cache cannot be written, they answer for ever.
"""

import os
import sys
import threading
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

WORTH = 2_000_000  # numbers that pass through a family of kernels before it is loaded: some milliseconds of numpy
A_CALL = 4_000  # a call counts as that many, however little it computes
TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # glibc's malloc.h
# Of a container's memory, version 2 and 1
LIMITS = (
    "/sys/fs/cgroup/memory.max",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes",
)


def load(module: str) -> Any:
    """The file of kernels; None without numba, or where its cache cannot be written."""
    if find_spec("numba"):
        reuse_memory()
        for _ in range(3):
            try:
                return import_module(module)
            except (
                RuntimeError
            ):  # the cache is not writable; or numba iterated over builtins while IPython set `_` there, so try again
                pass
    return None


def reuse_memory() -> None:
    """Let the process keep some of the memory that it has freed. By default glibc returns the end of its heap after each training step, and
    in the next step every page of it costs a fault: a sixth of the time with arrays of some megabytes, four fifths with 240 MB of them."""
    import ctypes  # numba loads it anyway, and nothing before it does

    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt:
        # glibc's own upper limit: it stops adapting the value once one of the two is set
        mallopt(MMAP_THRESHOLD, 1 << 25)
        mallopt(TRIM_THRESHOLD, kept())


def kept(limits: tuple[str, ...] = LIMITS) -> int:
    """How many bytes: 256 MB, or the sixteenth part of what the process may have, for it is often not alone (Binder gives 2 GB to all
    notebooks that are open)."""
    memory = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for place in limits:
        with suppress(OSError, ValueError):  # no such file, or "max"
            memory.append(int(Path(place).read_text(encoding="ascii")))
    return min(1 << 28, min(memory) // 16)


class Compiled:
    """One file of kernels. Its functions have explicit signatures, so that importing it compiles them (or finds them in numba's cache)."""

    def __init__(self, module: str):
        self.name = module
        self.kernels: Any = None  # the file, once it is loaded
        self._work = 0
        self._loading = False

    def get(self, size: int) -> Any:
        """The kernels if they are loaded, else None; `size` numbers are about to be computed without them."""
        if self.kernels is None and not self._loading:
            self._work += size + A_CALL
            if self._work > WORTH:
                self._loading = True
                if find_spec("numba"):
                    threading.Thread(target=self.load, name=f"load {self.name}", daemon=True).start()
        return self.kernels

    def load(self) -> bool:
        """Load them now (seconds after an installation, else a fraction of one). False if that is not possible here."""
        self._loading = True
        if self.kernels is None:
            self.kernels = load(self.name)
        return self.kernels is not None
