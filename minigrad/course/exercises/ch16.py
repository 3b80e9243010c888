"""Chapter 16, memory and checkpointing: its exercises."""

from __future__ import annotations

import math
import random
from functools import partial

from .. import drivers
from ..exercise import Exercise, Fresh, Hints, Kind, Probe, Wrong, about, ask, but

EX_A = ask(
    "16.a",
    "Peak memory",
    Kind.PREDICT,
    points=0,
    minutes=4,
    level=2,
    text="100 layers and the rules above. How many inputs are in memory at the peak, for each of these plans?",
    comment="100 layers and the rules above.\nHow many inputs are in memory at the peak, for each of these plans?",
    answer={"keep all 100": 100, "keep only the batch": 100, "keep every 10th": 19},
    wrong=(
        (
            "freed as it goes",
            {"keep all 100": 1},
            "Keep all: when the forward pass ends, backward has not begun, so nothing is free.",
        ),
        ("with the output", {"keep all 100": 101}, "Keep all: count inputs only, one for each layer."),
        (
            "one at a time",
            {"keep only the batch": 1},
            "Only the batch: to get the input of the last layer you run all the others, and everything on the way is needed again.",
        ),
        (
            "one and the batch",
            {"keep only the batch": 2},
            "Only the batch: to get the input of the last layer you run all the others, and by the rules each result stays.",
        ),
        (
            "batch not counted",
            {"keep only the batch": 99},
            "Only the batch: you recompute 99 inputs, and the batch is in memory as well.",
        ),
        (
            "output counted",
            {"keep only the batch": 101},
            "Only the batch: count inputs only. The output of the last layer is none.",
        ),
        (
            "half",
            {"keep every 10th": 50},
            "Every 10th: count the kept inputs and the one stretch of layers that is being recomputed.",
        ),
        (
            "kept only",
            {"keep every 10th": 10},
            "Every 10th: those are the kept ones. The stretch that is recomputed is in memory, too.",
        ),
        (
            "one recomputed",
            {"keep every 10th": 11},
            "Every 10th: the stretch has 10 layers, and backward needs all of their inputs.",
        ),
        (
            "kept twice",
            {"keep every 10th": 20},
            "Every 10th: nearly. The first input of a stretch is a kept one, so count it once.",
        ),
        (
            "output as well",
            {"keep every 10th": 21},
            "Every 10th: the first input of a stretch is a kept one, and the output is no input.",
        ),
        (
            "product",
            {"keep every 10th": 100},
            "Every 10th: only one stretch is recomputed at a time. It is freed before the next.",
        ),
        (
            "added to everything",
            {"keep every 10th": 110},
            "Every 10th: in the forward pass the other inputs are not kept at all.",
        ),
    ),
    hints=(
        "What is in memory at the moment when the backward pass reaches the last layer and has everything that it needs?",
        "Count what was kept, and then what has to be computed between the last kept input and the layer that is next.",
        "36 layers, and every 9th is kept: 4 kept inputs, and 8 more in the last stretch, are 12.",
    ),
    reveal="100 if you keep everything, and 100 again if you keep only the batch, because all of it is recomputed at once. "
    "With every 10th: 10 kept inputs, and 9 more in the stretch that is being recomputed.",
    fresh=lambda r: (
        lambda k: Fresh(
            f"{k * k} layers, and the input of every {k}th is kept. How many inputs are in memory at the peak?",
            2 * k - 1,
            wrong=(
                (k, "The stretch that is recomputed as well."),
                (2 * k, "The first input of a stretch is a kept one."),
            ),
        )
    )(r.randint(5, 9)),
)

STUB_B = '''\
def checkpointed_chain(layers, x, g):
    """Forward and backward through a chain without keeping every activation.

    Each layer has layer.forward(x) and layer.backward(x, g), which needs the layer's INPUT x.
    Keep at most about 2√n activations in lists (n = len(layers), a square number).
    Return (output, gradient at x).
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
            [(1 - y * y) * (row[0] * jacobian[0][j] + row[1] * jacobian[1][j]) for j in (0, 1)]
            for y, row in zip(x, w, strict=True)
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
    return (
        None
        if got["order"] == list(range(n))[::-1]
        else "backward must go through the layers from the last to the first, each once"
    )


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

AGAIN_FOR_EACH = (
    but(
        STUBBORN,
        "    start = x\n    for layer in layers:\n",
        "    size = round(len(layers) ** 0.5)\n    starts = []\n    for i, layer in enumerate(layers):\n        if i % size == 0:\n"
        "            starts.append(x)\n",
    )
    .replace("x = start\n", "x = starts[i // size]\n")
    .replace("layers[:i]", "layers[i // size * size : i]")
)

PAIRS = (100, [0.7, -0.2], [1.0, 0.5])

EX_B = Exercise(
    id="16.b",
    title="Write checkpointing",
    kind=Kind.BUILD,
    points=4,
    minutes=15,
    difficulty=3,
    question="The chain works and keeps every activation. Make it keep about 2√n, computing each layer at most twice.",
    entry="checkpointed_chain",
    stub=STUB_B,
    solution=SOLUTION_B,
    ideas={"the right gradient": 0.5, "little memory and little work": 0.5},  # either of the two last alone is easy
    probes=(
        *about(
            "the right gradient",
            *(
                Probe(
                    f"{n} layers",
                    (n, x, g),
                    _chain,
                    drivers.checkpoint_result,
                    rtol=1e-9,
                    atol=0.0,
                    draw=_draw_chain(n),
                    parts=("the output", "the gradient at x"),
                )
                for n, x, g in ((16, [0.7, -0.2], [1.0, 0.5]), (100, [-0.4, 0.3], [2.0, 1.0]))
            ),
            Probe(
                "order of the layers", PAIRS, driver=drivers.checkpoint_alive, accept=_backwards, draw=_draw_chain(25)
            ),
        ),
        *about(
            "little memory and little work",
            Probe("alive at once", PAIRS, driver=drivers.checkpoint_alive, accept=_alive, draw=_draw_chain(100)),
            Probe("work", PAIRS, driver=drivers.checkpoint_alive, accept=_work, draw=_draw_chain(100)),
        ),
    ),
    bank=(
        Wrong(
            "keeps everything",
            STUB_B.replace("    out = x\n", "    out = tuple(x)\n"),
            "At one moment all activations are alive. Keep the inputs of segments, and recompute a segment only when backward comes to it.",
            when=lambda seen: seen.value("alive at once")["alive"] >= 100,
        ),
        Wrong(
            "recomputes from the start",
            STUBBORN,
            "Almost nothing is kept, and each layer is recomputed again and again, n²/2 times. Keep the inputs of √n segments.",
            when=lambda seen: seen.value("work")["forwards"] > 2000,
        ),
        Wrong(
            "a segment again for each layer",
            AGAIN_FOR_EACH,
            "Each segment runs again once for every layer in it. Run it once, and keep its inputs until you have gone back through it.",
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
            "Your segments go from the first to the last. g is the gradient at the output, so the last segment must come first.",
            when=lambda seen: _first(seen)[:3] in ([9, 8, 7], [4, 3, 2]),
        ),
        Wrong(
            "first layer of a segment first",
            SOLUTION_B.replace("in reversed(segment)", "in segment").replace(
                "backward(inputs.pop(), g)", "backward(inputs.pop(0), g)"
            ),
            "Inside a segment your layers go from the first to the last. The gradient comes from the other end.",
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
            "kept one layer late",
            SOLUTION_B.replace(
                "        if i % size == 0:\n            starts.append(x)\n        x = layer.forward(x)\n",
                "        x = layer.forward(x)\n        if i % size == 0:\n            starts.append(x)\n",
            ),
            "You keep what comes out of a segment's first layer. Keep what goes into it, before the layer runs.",
            on=("16 layers",),
        ),
        Wrong(
            "segments of two",
            SOLUTION_B.replace("round(len(layers) ** 0.5)", "2"),
            "The numbers are right, but short segments need many inputs: half of all activations are kept. √n of each is best.",
            when=lambda seen: 40 <= seen.value("alive at once")["alive"] <= 60,
        ),
        Wrong(
            "only the gradient",
            SOLUTION_B.replace("return out, g", "return g"),
            "Only the gradient at x comes back. The output of the chain is asked for, too: return out, g.",
            on=("16 layers", "100 layers"),
        ),
        Wrong(
            "recomputed x returned",
            SOLUTION_B.replace("return out, g", "return x, g"),
            "x was recomputed in the backward pass, so it is no longer the output of the chain. Keep the output in a variable of its own.",
            on=("16 layers", "100 layers"),
        ),
    ),
    hints=Hints(
        "If you keep only the input of a segment, how do you get the inputs of its layers back?",
        "Forward: keep x at the start of each segment of √n layers. Backward, last segment first: run it again from its start, "
        "keeping its inputs, then go back through it.",
        "Six layers in segments of three: keep the inputs of layers 0 and 3. Backward: from input 3 compute inputs 4 and 5, go "
        "backward through 5, 4, 3; from input 0 compute inputs 1 and 2, go backward through 2, 1, 0.",
    ),
    reveal="√n starts and √n recomputed inputs; each layer runs forward twice.",
    fresh=lambda r: (
        lambda k: Fresh(
            f"{k * k} layers, {k} segments. How many times is layer.forward called in all?",
            2 * k * k,
            wrong=((k * k, "The recomputation counts as well."),),
        )
    )(r.randint(5, 9)),
)

# ---- 16.c: halving ---------------------------------------------------------------------------------------------------------------

STUB_C = '''\
def halving_chain(layers, x, g):
    """The gradient at x of a chain of layers, where g is the gradient at its output.

    layer.forward(x) and layer.backward(x, g) are as in 16.b. For n layers, a power of 2, store at
    most log2(n) + 2 activations at any moment, and run each layer forward at most about log2(n) times.
    """
    ...
'''

SOLUTION_C = """\
def halving_chain(layers, x, g):
    if len(layers) == 1:
        return layers[0].backward(x, g)
    half = len(layers) // 2
    middle = x
    for layer in layers[:half]:
        middle = layer.forward(middle)
    g = halving_chain(layers[half:], middle, g)
    return halving_chain(layers[:half], x, g)
"""

KEEPS_HALF = """\
def halving_chain(layers, x, g):
    if len(layers) == 1:
        return layers[0].backward(x, g)
    half = len(layers) // 2
    middle = x
    for layer in layers[:half]:
        middle = layer.forward(middle)
    inputs = []
    for layer in layers[half:]:
        inputs.append(middle)
        middle = layer.forward(middle)
    for layer in reversed(layers[half:]):
        g = layer.backward(inputs.pop(), g)
    return halving_chain(layers[:half], x, g)
"""

THOUSAND = (1024, [0.7, -0.2], [1.0, 0.5])
SMALL, ORDER, STORED, RUNS = "16 layers", "order of the layers", "stored for 1,024 layers", "runs of 1,024 layers"


def _few_stored(got, n, x, g):
    """Two more than the log2(n) + 2 that are stored: the one that is being computed, and the one that it is computed from."""
    return None if got["alive"] <= math.log2(n) + 4 else f"{got['alive']} activations are alive at once"


def _few_runs(got, n, x, g):
    return None if got["forwards"] <= n * (math.log2(n) + 1) else f"the layers run forward {got['forwards']:,} times"


def _stored(seen):
    return (seen.value(STORED) or {}).get("alive", 0)


_c = partial(but, SOLUTION_C)
HALVES = "    g = halving_chain(layers[half:], middle, g)\n    return halving_chain(layers[:half], x, g)\n"


def _as_halving(source):
    """An answer to 16.b as one to 16.c, which returns the gradient alone."""
    return but(but(source, "checkpointed_chain", "halving_chain"), "return out, g", "return g")


EX_C = Exercise(
    id="16.c",
    title="Halve, and halve again",
    kind=Kind.OPTIONAL,
    points=3,
    minutes=12,
    difficulty=3,
    question="Backward through 1,024 layers with at most 12 stored activations, and no layer run more than about ten times.",
    entry="halving_chain",
    stub=STUB_C,
    solution=SOLUTION_C,
    probes=(
        Probe(SMALL, (16, [0.7, -0.2], [1.0, 0.5]), lambda n, x, g: _chain(n, x, g)[1], drivers.checkpoint_result, rtol=1e-9, atol=0.0,
              draw=_draw_chain(16)),
        Probe(ORDER, (32, [0.7, -0.2], [1.0, 0.5]), driver=drivers.checkpoint_alive, accept=_backwards, draw=_draw_chain(32)),
        Probe(STORED, THOUSAND, driver=drivers.checkpoint_alive, accept=_few_stored, weight=2, draw=_draw_chain(1024)),
        Probe(RUNS, THOUSAND, driver=drivers.checkpoint_alive, accept=_few_runs, draw=_draw_chain(1024)),
    ),
    bank=(
        Wrong("keeps everything", _as_halving(STUB_B),
              "The gradient is right, and all activations are stored at once. Store the input of the second half, and forget the rest.",
              when=lambda seen: _stored(seen) >= 1000),
        Wrong("keeps one half", KEEPS_HALF,
              "The second half stores the inputs of all its layers. Treat it as the whole chain is treated: halve it again.",
              when=lambda seen: 200 < _stored(seen) < 1000),
        Wrong("segments of √n", _as_halving(SOLUTION_B),
              "That is the chain of 16.b, which stores about 64 activations here. Halve the chain, and then each half in the same way.",
              when=lambda seen: 40 < _stored(seen) <= 200),
        Wrong("recomputes from the start", _as_halving(STUBBORN),
              "Almost nothing is stored, and the layers run n²/2 times. Store the input of the second half while you work on it.",
              when=lambda seen: seen.error(RUNS) == "RuntimeError"),
        Wrong("first half first",
              _c(HALVES, "    g = halving_chain(layers[:half], x, g)\n    return halving_chain(layers[half:], middle, g)\n"),
              "The first half goes backward first. g is the gradient at the output, so the second half must come before it.",
              when=lambda seen: (seen.value(ORDER) or {}).get("order", [])[:1] == [0]),
        Wrong("second half starts from x", _c("halving_chain(layers[half:], middle, g)", "halving_chain(layers[half:], x, g)"),
              "The second half got x, which is the input of the first. Its own input is what the first half computes.", on=(SMALL,)),
        Wrong("gradient in the middle is lost", _c("    g = halving_chain(", "    halving_chain("),
              "The first half got the gradient at the output. It needs the gradient in the middle, which the second half returns.",
              on=(SMALL,)),
        Wrong("second half only", _c(HALVES, "    return halving_chain(layers[half:], middle, g)\n"),
              "Only the second half goes backward. What it returns is the gradient in the middle, which the first half needs.",
              when=lambda seen: len((seen.value(ORDER) or {}).get("order", [0] * 9)) == 1),
        Wrong("stops at two layers", _c("len(layers) == 1", "len(layers) <= 2"),
              "A piece of two layers calls backward only once. Stop halving when a single layer is left.", on=(SMALL,)),
        Wrong("one layer short", _c("for layer in layers[:half]", "for layer in layers[:half - 1]"),
              "The middle is one layer too early: it is what comes out after all layers of the first half.", on=(SMALL,)),
    ),
    hints=Hints(
        "Suppose you could already go backward through a chain of half the length, given its input and the gradient at its output.",
        "One layer: call its backward. More: run the first half to get the input of the second, call yourself for the second half, which "
        "returns the gradient in the middle, and then call yourself for the first half with that gradient.",
        "Four layers: from x compute input 2, then from it input 3. Backward through 3, then through 2. From x compute input 1. Backward "
        "through 1, then through 0.",
    ),
    reveal="At every moment there is one stored input for each level of halving, and there are log₂ n levels. Each level runs half of the "
    "layers again.",
    fresh=lambda r: (
        lambda k: Fresh(
            f"Halving a chain of {2**k} layers runs half of the layers again on each level. How many runs are that in all?",
            k * 2 ** (k - 1),
            wrong=((2**k, "That is two levels' work."), (k * 2**k, "Each level runs only the first half of every piece.")),
        )
    )(r.choice([5, 6, 7, 9])),
)  # fmt: skip

# ---- 16.c2: a budget -----------------------------------------------------------------------------------------------------------------

STUB_C2 = '''\
def budget(parameters, block, layers, weight=4, gradient=4, state=8, number=4, checkpoint=0):
    """The bytes that training takes at its peak.

    weight, gradient and state are the bytes for each parameter: its value, its gradient, and what the optimizer keeps.
    block: how many numbers a layer saves for the backward pass, each of `number` bytes.
    checkpoint: 0, or how many numbers the input of a layer has. Then each layer keeps only its input, and one layer
    at a time is rebuilt, so one layer's numbers are there in addition.
    """
    ...
'''

SOLUTION_C2 = but(
    STUB_C2,
    "    ...\n",
    "    kept = layers * checkpoint + block if checkpoint else layers * block\n"
    "    return parameters * (weight + gradient + state) + number * kept\n",
)
_c2 = lambda old, new: but(SOLUTION_C2, old, new)  # noqa: E731


def _bytes(parameters, block, layers, settings):
    """The same, counted part by part."""
    s = {"weight": 4, "gradient": 4, "state": 8, "number": 4, "checkpoint": 0} | settings
    total = sum(parameters * s[each] for each in ("weight", "gradient", "state"))
    for layer in range(layers):
        whole = not s["checkpoint"] or layer == 0
        total += s["number"] * (block * whole + s["checkpoint"])
    return total


def _budget(idea, name, fixed=False, checkpoint=0, **settings):
    def of(r):
        s = dict(settings)
        if fixed:
            return r.randint(10**6, 10**9), 0, r.randint(3, 60), s
        block = r.randint(10**5, 10**8)
        if checkpoint:
            s["checkpoint"] = block // checkpoint
        # One byte for each parameter: what is missing elsewhere in their sum does not show, and adding it does
        return r.randint(10**6, 10**9), block, r.randint(3, 60), s | {"weight": 1, "gradient": 0, "state": 0}

    return Probe(name, of(random.Random(name)), _bytes, drivers.budget_of, draw=of, idea=idea)


FIXED, ACTIVE, KEPT = "fixed bytes", "activations", "checkpoints"
EX_C2 = Exercise(
    id="16.c2",
    title="A budget",
    kind=Kind.BUILD,
    points=3,
    minutes=8,
    difficulty=2,
    question="How many bytes does a training take? Parameters, gradients, the optimizer's averages and the activations, with and without "
    "checkpoints.",
    entry="budget",
    stub=STUB_C2,
    solution=SOLUTION_C2,
    ideas={FIXED: 1 / 3, ACTIVE: 1 / 3, KEPT: 1 / 3},
    probes=(
        _budget(FIXED, "Adam in float32", fixed=True),
        _budget(FIXED, "mixed precision", fixed=True, weight=2, gradient=2, state=12),
        _budget(ACTIVE, "every layer keeps its numbers"),
        _budget(ACTIVE, "two bytes each", number=2),
        _budget(KEPT, "inputs only", checkpoint=20),
        _budget(KEPT, "inputs of two bytes", checkpoint=7, number=2),
    ),
    bank=(
        Wrong("optimizer forgotten", _c2("(weight + gradient + state)", "(weight + gradient)"),
              "The optimizer keeps something for each parameter, too, and with Adam it is the largest of the three.",
              on=("Adam in float32",)),
        Wrong("gradients forgotten", _c2("(weight + gradient + state)", "(weight + state)"),
              "Each parameter has a gradient, which needs room as well.", on=("mixed precision",)),
        Wrong("one average of two", _c2("gradient + state", "gradient + state / 2"),
              "`state` is all that the optimizer keeps for a parameter. It is not halved.", on=("mixed precision",)),
        Wrong("a single layer", _c2("else layers * block", "else block"),
              "Every layer keeps its numbers until the backward pass reaches it, so at the peak all of them are there.",
              on=("every layer keeps its numbers",)),
        Wrong("numbers for bytes", _c2("number * kept", "kept"), "These are numbers, and the budget is in bytes.",
              on=("every layer keeps its numbers",)),
        Wrong("nothing is rebuilt", _c2("layers * checkpoint + block if", "layers * checkpoint if"),
              "During the backward pass one layer at a time is rebuilt, and all of its numbers are there then.", on=("inputs only",)),
        Wrong("everything is kept as well", _c2("layers * checkpoint + block if", "layers * checkpoint + layers * block if"),
              "With checkpoints a layer keeps only its input. Only the one that is being rebuilt is there in full.", on=("inputs only",)),
    ),
    hints=Hints(
        "Two sums: what belongs to the parameters, and what belongs to the batch.",
        "Bytes for each parameter: value, gradient, averages. Numbers of the layers: all blocks, or all inputs and one block.",
        "10 parameters with SGD (no state) in float32 take 80 bytes. 3 layers that save 5 numbers each add 60.",
    ),
    reveal="The first sum does not depend on the batch, and no checkpoint makes it smaller. The second one is what checkpoints reduce.",
    fresh=lambda r: (
        lambda n: Fresh(
            f"A model has {n} million parameters, trained with Adam in float32. How many million bytes are there before the first batch?",
            16 * n,
            wrong=((4 * n, "Gradients and averages need room, too."), (8 * n, "Adam keeps two averages for each parameter.")),
        )
    )(r.randint(11, 90)),
)  # fmt: skip

EX_C3 = ask(
    "16.c3",
    "Which change makes it fit?",
    Kind.PREDICT,
    points=0,
    minutes=2,
    level=2,
    text="A transformer of a billion parameters needs 41.2 GB, of which 18.6 are parameters, gradients and averages. Which change makes "
    "it fit into 24 GB?",
    choices=("batch", "length", "averages", "checkpoints"),
    comment="It needs 41.2 GB, of which 18.6 belong to the parameters. Which single change makes it fit into 24 GB?\n"
    '  "batch"        4 texts at a time in place of 8       "length"       texts of half the length\n'
    '  "averages"     Adam\'s averages in 8 bits each       "checkpoints"  each layer keeps only its input\n'
    "Replace None by a name, in quotes.",
    answer="checkpoints",
    wrong=(
        ("half the batch", "batch", "Half of the activations are left then, on top of the 18.6."),
        (
            "half the length",
            "length",
            "It takes a little more than half of the activations away, and that is not enough.",
        ),
        ("small averages", "averages", "The averages are a part of the 18.6 GB, and the activations stay."),
    ),
    hints=(
        "Which part would have to shrink, and to how much?",
        "18.6 GB are there whatever the batch is. So of what is left, little more than five may stay.",
        "Of a layer's numbers, its input is about a twentieth.",
    ),
    reveal="Only checkpoints make the activations several times smaller.",
    fresh=lambda r: (
        lambda n: Fresh(
            f"{n} layers keep 20 numbers each, or 1 with a checkpoint. How many are there at the peak with checkpoints?",
            n + 20,
            wrong=((n, "One layer is rebuilt."), (20 * n, "That is without checkpoints.")),
        )
    )(r.randint(30, 60)),
)

# ---- 16.d: loss scaling ---------------------------------------------------------------------------------------------------------

STUB_D = '''\
import numpy as np


def scaled_step(w, backward, scale, lr):
    """One step of gradient descent with loss scaling. Returns the new weights and the next scale.

    w: the weights, a float32 array. backward(seed) computes in float16 and returns a float16 array,
    seed times the gradient. There a number that is too small becomes 0, one that is too large
    becomes inf, and inf - inf is nan. If any entry has overflowed, leave all weights as they are
    and halve the scale. Otherwise make the step, and keep the scale.
    """
    grad = backward(np.float16(1.0))
    return w - lr * grad, scale
'''

SOLUTION_D = """\
import numpy as np


def scaled_step(w, backward, scale, lr):
    grad = backward(np.float16(scale)).astype(np.float32)
    if not np.isfinite(grad).all():
        return w, scale / 2
    return w - lr * grad / scale, scale
"""


def _steps(w, terms, scale, lr, steps):
    """In double precision. float16 ends at 65,504, and from 65,520 on a number is rounded to inf."""
    path = []
    for _ in range(steps):
        if max(abs(scale * t) for pair in terms for t in (*pair, math.fsum(pair))) >= 65520:
            scale /= 2
        else:
            w = [wi - lr * math.fsum(pair) for wi, pair in zip(w, terms, strict=True)]
        path.append([w, scale])
    return path


def _of_size(r, size, n):
    return [[r.choice([-1, 1]) * round(r.uniform(2, 5), 1) * size, 0.0] for _ in range(n)]


def _half(name, args, draw):
    return Probe(name, args, _steps, drivers.half_precision_steps, rtol=3e-3, atol=1e-13, draw=draw)


_d = partial(but, SOLUTION_D)
TINY, ORDINARY, LARGE_G, NAN_G = "tiny gradients", "ordinary gradients", "one gradient overflows", "inf minus inf"
TEST = "    if not np.isfinite(grad).all():\n        return w, scale / 2\n"
IN_HALF = (
    "The gradient was divided while it was still float16, and became 0 again. Convert it to float32 first, then divide."
)
SKIPS = "After an overflow the scale is halved and the weights stay as they are. Test every entry before you touch a weight."

EX_D = Exercise(
    id="16.d",
    title="Loss scaling by hand",
    kind=Kind.OPTIONAL,
    points=1,
    minutes=8,
    difficulty=2,
    question="Scale the loss, undo it where there is room, and skip the step when something overflows.",
    entry="scaled_step",
    stub=STUB_D,
    solution=SOLUTION_D,
    probes=(
        _half(TINY, ([0.0, 0.0, 0.0], [[1e-8, 0.0], [-3e-8, 0.0], [2e-8, 0.0]], 32768.0, 1.0, 1),
              lambda r: ([0.0, 0.0, 0.0], _of_size(r, 1e-8, 3), 32768.0, 1.0, 1)),
        _half(ORDINARY, ([0.0, 0.0], [[0.3, 0.0], [-0.4, 0.0]], 1024.0, 0.1, 2),
              lambda r: ([0.0, 0.0], _of_size(r, 0.1, 2), 1024.0, 0.1, 2)),
        _half(LARGE_G, ([0.1, -0.05, 0.02], [[0.3, 0.0], [5.0, 0.0], [-0.1, 0.0]], 32768.0, 0.1, 4),
              lambda r: ([0.1, -0.05, 0.02], [*_of_size(r, 0.1, 2), [r.choice([-5.0, 3.0, 6.0]), 0.0]], 32768.0, 0.1, 4)),
        _half(NAN_G, ([0.1, -0.05], [[0.3, 0.0], [5.0, -6.0]], 32768.0, 0.1, 4),
              lambda r: ([0.1, -0.05], [*_of_size(r, 0.1, 1), r.choice([[5.0, -6.0], [6.0, -5.0]])], 32768.0, 0.1, 4)),
    ),
    bank=(
        Wrong("not scaled", but(_d("np.float16(scale)", "np.float16(1.0)"), " / scale, scale", ", scale"),
              "The seed is still 1, so the tiny gradients are 0 before you see them. Call backward with the scale.",
              on=(TINY, LARGE_G)),
        Wrong("not undone", _d(" / scale, scale", ", scale"),
              "The gradient is still multiplied by the scale. Divide by it before the step.", on=(ORDINARY,)),
        Wrong("seed made smaller", _d("np.float16(scale)", "np.float16(1 / scale)"),
              "A smaller seed makes the gradients smaller, and more of them are lost. Multiply by the scale.", on=(TINY, ORDINARY)),
        Wrong("scaled after the backward pass", _d("backward(np.float16(scale))", "(backward(np.float16(1.0)) * np.float16(scale))"),
              "The scale comes after the backward pass, which has already lost the small gradients. Give it to backward, as the seed.",
              on=(TINY, NAN_G)),
        Wrong("divided in float16",
              but(_d(".astype(np.float32)", " / np.float16(scale)"), "lr * grad / scale", "lr * grad.astype(np.float32)"),
              IN_HALF, on=(TINY,)),
        Wrong("looks for nan only", _d("not np.isfinite(grad).all()", "np.isnan(grad).any()"),
              "nan is found and inf is not. Look for entries that are not finite.", on=(NAN_G, LARGE_G)),
        Wrong("skips nothing", _d(TEST, ""), SKIPS, on=(LARGE_G, ORDINARY)),
        Wrong("halves and steps", _d("return w, scale / 2", "return w - lr * grad / scale, scale / 2"), SKIPS, on=(LARGE_G, ORDINARY)),
        Wrong("keeps the scale", _d("return w, scale / 2", "return w, scale"),
              "The step is skipped, but the scale stays, so the next one overflows as well. Halve it.", on=(LARGE_G, ORDINARY)),
        Wrong("skips single entries", _d("return w, scale / 2", "return w - lr * np.where(np.isfinite(grad), grad, 0) / scale, scale / 2"),
              "Only the entries that overflowed are skipped. A step with part of the gradient goes in another direction: skip all of it.",
              on=(LARGE_G, ORDINARY)),
        Wrong("looks for inf only", _d("not np.isfinite(grad).all()", "np.isinf(grad).any()"),
              "inf is found and nan is not. inf - inf is nan, so look for entries that are not finite.", on=(NAN_G, LARGE_G)),
        Wrong("doubles", _d("scale / 2", "scale * 2"), "Something was too large, so the scale has to become smaller.",
              on=(LARGE_G, ORDINARY)),
        Wrong("tries again at once",
              _d(TEST, "    while not np.isfinite(grad).all():\n        scale /= 2\n"
                       "        grad = backward(np.float16(scale)).astype(np.float32)\n"),
              "You run the backward pass again at once. Here an overflow costs one step: return, and the next tries the new scale.",
              on=(LARGE_G, ORDINARY)),
        Wrong("multiplied again", _d("grad / scale", "grad * scale"), "The seed was multiplied by the scale, so undo it by dividing.",
              on=(ORDINARY,)),
        Wrong("divided twice", _d("grad / scale", "grad / scale**2"), "The seed was multiplied by the scale once, so divide by it once.",
              on=(ORDINARY,)),
        Wrong("doubles after each step", _d("/ scale, scale\n", "/ scale, scale * 2\n"),
              "After a good step the scale stays as it is here. (GradScaler doubles it too, but only after 2,000 good steps.)",
              on=(ORDINARY,)),
        Wrong("uphill", _d("w - lr", "w + lr"), "The weights go uphill: subtract.", on=(ORDINARY,)),
    ),
    hints=Hints(
        "What does backward return for a seed of 256, and in which type must you divide it by 256?",
        "backward(np.float16(scale)), converted to float32. np.isfinite tells inf and nan from everything else. Decide before the step.",
        "scale 256 and the float16 gradients [0.5, 2.0]: the true ones are [0.00195, 0.00781]. With [0.5, inf] nothing moves, and the "
        "scale becomes 128.",
    ),
    reveal="Seed times scale, then float32, then the test, then the division. PyTorch's GradScaler does the same, and doubles the scale "
    "after 2,000 good steps.",
    fresh=lambda r: (
        lambda k: Fresh(
            f"The seed was {2**k}; the float16 gradient reads 0.5. What is the gradient for seed 1?",
            0.5 / 2**k,
            wrong=((0.5, "Undo the scale."),),
        )
    )(r.randint(3, 9)),
)  # fmt: skip

EXERCISES = (EX_A, EX_B, EX_C, EX_C2, EX_C3, EX_D)
