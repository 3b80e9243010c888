"""numpy calls that take whole numbers as counts or positions, and cast them "safely" to numpy's own index type.

That type has 32 bits where memory addresses have (Python in a browser), and an int64 is then refused: "Cannot cast array data from
dtype('int64') to dtype('int32') according to the rule 'safe'". What lives here: those calls, with the cast made first. A test forbids them
elsewhere. What needs none: take_along_axis and indexing, which cast by themselves (take does so from numpy 2.3 on).
"""

import numpy as np

INDEX = np.intp


def bincount(x, weights=None, minlength=0):
    """np.bincount."""
    return np.bincount(x.astype(INDEX, copy=False), weights, minlength)


def repeat(x, counts, axis=None):
    """np.repeat."""
    return np.repeat(x, np.asarray(counts).astype(INDEX, copy=False), axis)


def picked(x, places, axis):
    """np.take."""
    return np.take(x, np.asarray(places).astype(INDEX, copy=False), axis)


def sums_from(x, starts):
    """The sums of the parts of `x` that begin at `starts`: np.add.reduceat."""
    return np.add.reduceat(x, starts.astype(INDEX, copy=False))
