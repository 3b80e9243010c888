"""Adding a gradient to `.grad`: at the end of the graph, and at tensors that retain theirs."""
import numpy as np

from ..core.variable import wrap
from ..ops.shape import copied


def accumulate(leaf, g, mine, graph, create_graph):
    """Add `g` to `leaf.grad`. `mine`: nobody else holds the array, so it may be kept as it is."""
    old = leaf._grad
    if create_graph:
        leaf._grad = copied(g) if old is None else old + g
        return
    if graph:
        g = g.array
    if old is None:
        leaf._grad = wrap(g if mine else np.array(g))
    else:
        array = old.array
        array += g
        old.version[0] += 1
