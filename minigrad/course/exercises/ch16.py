"""Chapter 16, memory and checkpointing: its exercises."""

from __future__ import annotations

import math

from .. import drivers
from ..exercise import Exercise, Fresh, Hints, Kind, Probe, Wrong, ask

EX_A = ask(
    "16.a",
    "Peak memory",
    Kind.PREDICT,
    minutes=5,
    level=2,
    text="A chain of L = 100 layers; each saves one activation. How many are alive at the peak, without checkpoints and with one "
    "checkpoint every 10 layers?",
    comment="A chain of L = 100 layers; each saves one activation. How many are alive at the peak of backward?\n"
    "With checkpoints, 10 segments of 10 layers keep their inputs, and one segment at a time is recomputed.",
    answer={"without checkpoints": 100, "with 10 checkpoints": 20},
    wrong=(
        ("half", {"with 10 checkpoints": 50}, "Count the segments' inputs AND the one segment that is recomputed."),
        (
            "segments only",
            {"with 10 checkpoints": 10},
            "The inputs of the segments are alive, and so is the segment that is being recomputed.",
        ),
        (
            "one recomputed",
            {"with 10 checkpoints": 11},
            "The segment that is recomputed has 10 layers, and backward needs all of them.",
        ),
        (
            "as measured",
            {"with 10 checkpoints": 19},
            "The widget leaves out the batch, which is the first segment's input. Here it counts.",
        ),
        ("product", {"with 10 checkpoints": 100}, "Only one segment is recomputed at a time; it is dropped before the next."),
        (
            "freed as it goes",
            {"without checkpoints": 1},
            "The forward pass must keep every activation until backward comes to its layer.",
        ),
        (
            "checkpoints added to everything",
            {"with 10 checkpoints": 110},
            "The point of checkpoints is that the other activations are not kept in the forward pass.",
        ),
        ("with the batch", {"without checkpoints": 101}, "Count activations that the layers save: one for each layer."),
    ),
    hints=(
        "What is alive when the recomputation of one segment has just ended?",
        "With k segments of L/k layers: k inputs and L/k recomputed activations. The best k is about √L.",
        "L = 36 in 4 segments of 9: 4 inputs and 9 recomputed activations are 13.",
    ),
    reveal="100 without; 10 inputs and 10 recomputed ones with checkpoints: about 2√L.",
    fresh=lambda r: (
        lambda k: Fresh(
            f"L = {k * k} layers in {k} segments. How many activations are alive at the peak?",
            2 * k,
            wrong=((k, "The recomputed segment as well."),),
        )
    )(r.randint(5, 9)),
)

STUB_B = '''\
def checkpointed_chain(layers, x, g):
    """Forward and backward through a chain without keeping every activation.

    Each layer has layer.forward(x) and layer.backward(x, g), which needs the layer's INPUT x. Keep at most about
    2√n activations in lists (n = len(layers), a square number). Returns (output, gradient at x).
    """
    inputs = []                       # this keeps all n of them
    for layer in layers:
        inputs.append(x)
        x = layer.forward(x)
    out = x
    for layer in reversed(layers):
        g = layer.backward(inputs.pop(), g)
    return out, g
'''

SOLUTION_B = """\
def checkpointed_chain(layers, x, g):
    size = round(len(layers) ** 0.5)
    starts = []
    for i, layer in enumerate(layers):
        if i % size == 0:
            starts.append(x)
        x = layer.forward(x)
    out = x
    for first in reversed(range(0, len(layers), size)):
        segment, x, inputs = layers[first:first + size], starts.pop(), []
        for layer in segment:
            inputs.append(x)
            x = layer.forward(x)
        for layer in reversed(segment):
            g = layer.backward(inputs.pop(), g)
    return out, g
"""


def _chain(n, x, g):
    """Output and gᵀJ, with the Jacobian of the whole chain multiplied together from the first layer to the last."""
    jacobian = [[1.0, 0.0], [0.0, 1.0]]
    for i in range(n):
        w = drivers.layer_weights(i)
        x = [math.tanh(row[0] * x[0] + row[1] * x[1]) for row in w]
        jacobian = [
            [(1 - y * y) * (row[0] * jacobian[0][j] + row[1] * jacobian[1][j]) for j in (0, 1)] for y, row in zip(x, w, strict=True)
        ]
    return [x, [g[0] * jacobian[0][j] + g[1] * jacobian[1][j] for j in (0, 1)]]


def _alive(got, n, x, g):
    return None if got["alive"] <= 2 * math.isqrt(n) + 3 else "too many activations are alive at once"


def _first(seen):
    """The order in which the layers ran backward."""
    return seen.value("order of the layers")["order"]


def _draw_chain(n):
    def pair(r, low, high):
        return [round(r.uniform(low, high), 2) for _ in range(2)]

    return lambda r: (n, pair(r, 0.3, 1), pair(r, 1, 3))


def _work(got, n, x, g):
    return "layers are recomputed more often than once" if got["forwards"] > 2 * n else None


def _backwards(got, n, x, g):
    """None when backward went through the layers from the last to the first, each once."""
    return None if got["order"] == list(range(n))[::-1] else "backward must go through the layers from the last to the first, each once"


STUBBORN = """\
def checkpointed_chain(layers, x, g):
    start = x
    for layer in layers:
        x = layer.forward(x)
    out = x
    for i in reversed(range(len(layers))):
        x = start
        for layer in layers[:i]:
            x = layer.forward(x)
        g = layers[i].backward(x, g)
    return out, g
"""

PAIRS = (100, [0.7, -0.2], [1.0, 0.5])

EX_B = Exercise(
    id="16.b",
    title="Write checkpointing",
    kind=Kind.FILL_IN,
    points=4,
    minutes=15,
    difficulty=3,
    question="The chain works and keeps every activation. Make it keep about 2√n, computing each layer at most twice.",
    entry="checkpointed_chain",
    stub=STUB_B,
    solution=SOLUTION_B,
    probes=(
        Probe("16 layers", (16, [0.7, -0.2], [1.0, 0.5]), _chain, drivers.checkpoint_result, rtol=1e-9, atol=0.0, draw=_draw_chain(16)),
        Probe("100 layers", (100, [-0.4, 0.3], [2.0, 1.0]), _chain, drivers.checkpoint_result, rtol=1e-9, atol=0.0, draw=_draw_chain(100)),
        Probe("order of the layers", PAIRS, driver=drivers.checkpoint_alive, accept=_backwards, draw=_draw_chain(25)),
        Probe("alive at once", PAIRS, driver=drivers.checkpoint_alive, accept=_alive, weight=2, draw=_draw_chain(100)),
        Probe("work", PAIRS, driver=drivers.checkpoint_alive, accept=_work, draw=_draw_chain(100)),
    ),
    bank=(
        Wrong(
            "keeps everything",
            STUB_B.replace("    out = x\n", "    out = tuple(x)\n"),
            "Every activation is still kept. Keep the inputs of segments, and recompute inside a segment when backward comes to it.",
            when=lambda seen: seen.value("alive at once")["alive"] >= 100,
        ),
        Wrong(
            "recomputes from the start",
            STUBBORN,
            "Almost nothing is kept, and each layer is recomputed again and again, n²/2 times. Keep the inputs of √n segments.",
            when=lambda seen: seen.value("work")["forwards"] > 300,
        ),
        Wrong(
            "inputs of the wrong segment",
            SOLUTION_B.replace("starts.pop()", "starts.pop(0)"),
            "A segment is recomputed from another segment's input: take the one that was kept last.",
            on=("16 layers",),
        ),
        Wrong(
            "segments from the first to the last",
            SOLUTION_B.replace("in reversed(range(0, len(layers), size))", "in range(0, len(layers), size)").replace(
                "pop(), []", "pop(0), []"
            ),
            "The segments are walked from the first to the last. g is the gradient at the output, so the last segment must come first.",
            when=lambda seen: _first(seen)[:3] in ([9, 8, 7], [4, 3, 2]),
        ),
        Wrong(
            "first layer of a segment first",
            SOLUTION_B.replace("in reversed(segment)", "in segment").replace("backward(inputs.pop(), g)", "backward(inputs.pop(0), g)"),
            "Inside a segment the layers are walked from the first to the last. The gradient comes from the other end.",
            when=lambda seen: _first(seen)[:3] in ([90, 91, 92], [20, 21, 22]),
        ),
        Wrong(
            "backward at the output",
            SOLUTION_B.replace(
                "            inputs.append(x)\n            x = layer.forward(x)",
                "            x = layer.forward(x)\n            inputs.append(x)",
            ),
            "layer.backward needs the layer's input; you kept its output.",
            on=("16 layers",),
        ),
        Wrong(
            "segments of two",
            SOLUTION_B.replace("round(len(layers) ** 0.5)", "2"),
            "The numbers are right, but short segments need many inputs: half of all activations are kept. √n of each is best.",
            when=lambda seen: 40 <= seen.value("alive at once")["alive"] <= 60,
        ),
        Wrong(
            "recomputed x returned",
            SOLUTION_B.replace("return out, g", "return x, g"),
            "x was recomputed on the way back, so it is no longer the output of the chain. Keep the output in a variable of its own.",
            on=("16 layers", "100 layers"),
        ),
    ),
    hints=Hints(
        "If you keep only the input of a segment, how do you get the inputs of its layers back?",
        "Forward: keep x at the start of each segment of √n layers. Backward, last segment first: run it again from its start, "
        "keeping its inputs, then go back through it.",
        "Reading a book backwards with a bookmark every 10 pages: go to the last mark, read its 10 pages into memory, walk them "
        "back, then the mark before.",
    ),
    reveal="√n starts and √n recomputed inputs; each layer runs forward twice.",
    fresh=lambda r: (
        lambda k: Fresh(
            f"{k * k} layers, {k} segments. How often is layer.forward called in all?",
            2 * k * k,
            wrong=((k * k, "The recomputation counts as well."),),
        )
    )(r.randint(5, 9)),
)

EX_C = ask(
    "16.c",
    "Find the slip",
    Kind.PREDICT,
    minutes=4,
    level=2,
    text="GPT-3 has 175 billion parameters. How many GB do they take at 2 bytes each, and how many GB of activations are left if "
    "checkpointing keeps a fifth of 200 GB?",
    answer={"parameters, GB": 350, "activations left, GB": 40},
    wrong=(
        ("the printed slip", {"parameters, GB": 15}, "Far too little. Multiply: 175e9 parameters, 2 bytes each."),
        ("four bytes", {"parameters, GB": 700}, "That is at 4 bytes each (float32); asked is fp16."),
        ("in bytes", {"parameters, GB": 350e9}, "That is in bytes. A GB has 10⁹ of them."),
        ("gibibytes", {"parameters, GB": 325.9629}, "That is in GiB, of 2³⁰ bytes. A GB has 10⁹ bytes."),
        ("one byte", {"parameters, GB": 175}, "Each parameter takes two bytes."),
        ("saved instead of left", {"activations left, GB": 160}, "That is what is saved. What is left?"),
        ("gibibytes, rounded", {"parameters, GB": 326}, "That is in GiB, of 2³⁰ bytes. A GB has 10⁹ bytes."),
    ),
    hints=("GB means 10⁹ bytes.", "Memory = count × bytes each. A fifth of the activations stays.", "7 billion parameters in fp16: 14 GB."),
    reveal="350 GB, far more than the activations' 200; 40 GB stay, for about a third more computing.",
    fresh=lambda r: (lambda n: Fresh(f"{n} billion parameters in float32: how many GB?", 4 * n, wrong=((2 * n, "float32 has 4 bytes."),)))(
        r.choice([7, 13, 70])
    ),
)

STUB_D = '''\
import numpy as np


def scaled_gradient(backward, scale):
    """backward(seed) computes in float16 and returns the gradient for that seed, which is lost when it is too small.

    Return the gradient for seed 1 as a Python float, computed with the seed `scale` so that nothing is lost.
    """
    return float(backward(np.float16(1.0)))      # loses gradients near 1e-8
'''

SOLUTION_D = """\
import numpy as np


def scaled_gradient(backward, scale):
    return float(backward(np.float16(scale))) / scale
"""

EX_D = Exercise(
    id="16.d",
    title="Loss scaling",
    kind=Kind.FILL_IN,
    points=2,
    minutes=6,
    difficulty=2,
    question="A gradient of 1e-8 is 0 in float16. Scale the seed, and undo it where there is room.",
    entry="scaled_gradient",
    stub=STUB_D,
    solution=SOLUTION_D,
    probes=(
        Probe(
            "a tiny gradient",
            (1e-8, 32768.0),
            lambda grad, scale: grad,
            drivers.half_precision,
            2,
            rtol=2e-3,
            draw=lambda r: (round(r.uniform(1, 5), 1) * 1e-8, 32768.0),
        ),
        Probe(
            "an ordinary gradient",
            (0.5, 1024.0),
            lambda grad, scale: grad,
            drivers.half_precision,
            rtol=2e-3,
            draw=lambda r: (round(r.uniform(0.3, 1), 2), 1024.0),
        ),
        Probe(
            "a small scale",
            (2e-3, 8.0),
            lambda grad, scale: grad,
            drivers.half_precision,
            rtol=2e-3,
            draw=lambda r: (r.randint(2, 9) / 1000, 8.0),
        ),
    ),
    bank=(
        Wrong(
            "not undone",
            SOLUTION_D.replace(" / scale", ""),
            "The gradient is still multiplied by scale: undo it before anybody uses it.",
            on=("an ordinary gradient", "a small scale"),
        ),
        Wrong(
            "undone in float16",
            SOLUTION_D.replace("float(backward(np.float16(scale))) / scale", "float(backward(np.float16(scale)) / np.float16(scale))"),
            "The true, tiny number was once held in float16, and lost there: scale the seed before backward, and divide only "
            "after leaving float16.",
            on=("a tiny gradient", "an ordinary gradient"),
        ),
        Wrong(
            "scaled afterwards",
            SOLUTION_D.replace("float(backward(np.float16(scale))) / scale", "float(backward(np.float16(1.0))) * scale / scale"),
            "The true, tiny number was once held in float16, and lost there: scale the seed before backward, and divide only "
            "after leaving float16.",
            on=("a tiny gradient", "an ordinary gradient"),
        ),
        Wrong(
            "multiplied instead",
            SOLUTION_D.replace("/ scale", "* scale"),
            "The seed was multiplied; undoing means dividing.",
            on=("an ordinary gradient",),
        ),
        Wrong(
            "fixed scale",
            SOLUTION_D.replace("np.float16(scale)", "np.float16(8.0)").replace("/ scale", "/ 8.0"),
            "Use the scale that is given: 8 is too little for a gradient this small.",
            on=("a tiny gradient", "a small scale"),
        ),
        Wrong(
            "summed instead of scaled",
            SOLUTION_D.replace("float(backward(np.float16(scale))) / scale", "sum(float(backward(np.float16(1.0))) for _ in range(10))"),
            "Each of these gradients was lost in float16, and a sum of zeros is zero. Scale the seed before backward.",
            on=("a tiny gradient", "an ordinary gradient"),
        ),
    ),
    hints=Hints(
        "Backward is linear in its seed. What does a seed of 1000 do to the gradient?",
        "Seed × scale gives gradient × scale: keep it away from zero in float16, and divide in a wider type.",
        "To weigh a feather on a kitchen scale, weigh a thousand and divide.",
    ),
    reveal="backward(scale), to float, divided by scale.",
    fresh=lambda r: (
        lambda k: Fresh(
            f"The seed was {2**k}; the float16 gradient reads 0.5. What is the gradient for seed 1?",
            0.5 / 2**k,
            wrong=((0.5, "Undo the scale."),),
        )
    )(r.randint(3, 9)),
)

EXERCISES = (EX_A, EX_B, EX_C, EX_D)
