"""The magics of the kernel extension, one file per group. `MAGICS` are the classes that extension.py registers.

What lives here: the list. A mistake in a magic's line gets a sentence or two
(reading.py), never a traceback; the learner's own exceptions pass through untouched.
"""

from .course import CourseMagics
from .explore import ExploreMagics
from .film import FilmMagics
from .graphs import GraphMagics
from .instruments import InstrumentMagics
from .memory import MemoryMagics
from .namespace import NamespaceMagics
from .rule import RuleMagics

MAGICS = (
    GraphMagics,
    ExploreMagics,
    FilmMagics,
    NamespaceMagics,
    RuleMagics,
    MemoryMagics,
    InstrumentMagics,
    CourseMagics,
)
