"""Which node was made inside which module's call: what a picture needs to fold a graph by module.

What lives here: the logs, one entry for each call. Nodes have numbers in the order of their creation, so a call is a range of numbers, and
no node carries anything for it. What does not: modules (nn/module.py and micro.py, which write the entries), names and folds (naming.py,
tensor_trace.py).
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Iterable
from typing import Any

KEPT = 2_000  # calls; a training loop forgets its oldest ones

# (first number, last number, weak reference to the module), inner calls first
LOG: deque[tuple[int, int, Any]] = deque(maxlen=KEPT)
# Of a layer of Values: (number of its first neuron's result, of its last one's, weak reference to the layer). Neurons and whole networks
# write nothing, for a scalar network's calls are short: the neurons of a layer do equally much one after the other, so where one begins
# follows from where it ends, and a network's call is its layers' calls one after the other.
VALUES: deque[tuple[int, int, Any]] = deque(maxlen=KEPT)


def of_values(networks: Iterable[Any]) -> list[tuple[int, int, Any, int | None]]:
    """The calls of these networks, and of all layers and their neurons, outer ones first.

    Each as (first number, number after the last, module, place): a neuron's module is its layer and its place the one in it; else None.
    """
    layers: list[tuple[int, int, Any]] = []
    neurons: list[tuple[int, int, Any, int | None]] = []
    for first, last, reference in VALUES:
        if (layer := reference()) is not None and layer.neurons:
            count, one = len(layer.neurons), layer.neurons[0]
            block = (
                (last - first) // (count - 1)
                if count > 1
                else 2 * len(getattr(one, "w", ())) + bool(getattr(one, "nonlin", ""))
            )
            layers.append((first - block + 1, last + 1, layer))
            neurons += [(first + (k - 1) * block + 1, first + k * block + 1, layer, k) for k in range(count)]
    out: list[tuple[int, int, Any, int | None]] = []
    for network in networks:
        want = [id(layer) for layer in network.layers]
        for at, (first, _, layer) in enumerate(layers):
            run = layers[at : at + len(want)] if id(layer) == want[0] else []
            if [id(call[2]) for call in run] == want:
                out.append((first, run[-1][1], network, None))
    return [*out, *((*call, None) for call in layers), *neurons]


def around(numbers: Iterable[int], log: Iterable[tuple] = LOG) -> dict[int, list[tuple]]:
    """For each of these node numbers the calls that it was made in, outermost first. Numbers made in no call are left out."""
    entries = sorted(log, key=lambda call: (call[0], -call[1]))
    starts = [call[0] for call in entries]
    out: dict[int, list[tuple]] = {}
    parent: list[int] = []  # of each entry the entry that it lies in, or -1
    stack: list[int] = []
    for i, call in enumerate(entries):
        while stack and entries[stack[-1]][1] < call[0]:
            stack.pop()
        parent.append(stack[-1] if stack else -1)
        stack.append(i)
    for number in numbers:
        i, result = bisect_right(starts, number) - 1, []
        while i >= 0:
            if entries[i][1] > number:
                result.append(entries[i])
            i = parent[i]
        if result:
            out[number] = result[::-1]
    return out
