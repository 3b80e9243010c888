"""Chapter 10, controlling the graph: its exercises."""

from __future__ import annotations

from functools import partial

from .. import drivers
from ..exercise import Exercise, Fresh, Hints, Kind, Probe, Wrong, ask, but

EX_A = ask(
    "10.a",
    "Two losses from one graph",
    Kind.PREDICT,
    minutes=4,
    level=2,
    text="x = 2, y = x², first = 3y, second = y. first.backward(retain_graph=True), then second.backward(). What is x.grad after each?",
    answer={"after the first": 12, "after the second": 16},
    wrong=(
        ("replaced", {"after the second": 4}, "It accumulates: the second pass adds its share to what the first one left."),
        (
            "an error",
            {"after the second": "error"},
            "There would be an error if you forgot retain_graph on the first backward. Here it is there.",
        ),
        ("nothing added", {"after the second": 12}, "The second loss has a share of its own, and it is added."),
        ("y's factor only", {"after the first": 3}, "That is the gradient of y. One more step back, through x²."),
        ("counted twice", {"after the second": 28}, "The second loss has its own share, without the factor 3."),
        (
            "first step back only",
            {"after the first": 6},
            "after the first: y has slope 6 in that, or x has. The chain has two steps, 3y and x²: multiply both slopes.",
        ),
        (
            "first step added",
            {"after the second": 10},
            "after the second: add the gradient of y = x² at x = 2 to what the first pass left.",
        ),
        ("doubled", {"after the second": 24}, "after the second: the second loss is y, not 3y, so it adds less than the first did."),
    ),
    hints=(
        "What does each loss, alone, put into x.grad?",
        "retain_graph keeps the saved values for another pass; .grad adds up over passes.",
        "t = 5, u = 2t, a = u, b = 10u: a leaves 2 in t.grad, then b adds 20: 22.",
    ),
    reveal="3 · 2x = 12, then 2x = 4 more.",
    fresh=lambda r: (
        lambda k, x: Fresh(
            f"x = {x}, y = x²; ({k}y).backward(retain_graph=True); y.backward(). What is x.grad?",
            (k + 1) * 2 * x,
            wrong=((2 * x, "It accumulates."),),
        )
    )(r.randint(4, 9), r.randint(3, 6)),
)

EX_B = ask(
    "10.b",
    "autograd.grad",
    Kind.PREDICT,
    minutes=3,
    level=1,
    text='x = 4, y = x². What does autograd.grad(y, x)[0] give, and what is x.grad afterwards ("None" or a number)?',
    answer={"autograd.grad(y, x)[0]": 8, "x.grad": "none"},
    also={"x.grad": (None,)},
    wrong=(
        ("also in x.grad", {"x.grad": 8}, "autograd.grad hands the gradient over and leaves every .grad alone."),
        ("zero", {"x.grad": 0}, "Nothing was ever accumulated there: that is not the same as zero."),
        ("the value", {"autograd.grad(y, x)[0]": 16}, "That is y, the value itself."),
        ("a number in quotes", {"x.grad": "8"}, "x.grad: autograd.grad hands the gradient over and leaves every .grad alone."),
    ),
    hints=(
        "Which of the two calls has a result, backward or autograd.grad?",
        "backward fills .grad of the leaves and returns nothing; autograd.grad returns gradients and fills nothing.",
        "For t = 10 and u = 3t: autograd.grad(u, t)[0] is 3, and t.grad is what it was before.",
    ),
    reveal="2x = 8 is returned; x.grad stays None.",
    fresh=lambda r: (
        lambda x: Fresh(f"x = {x}, y = x³. What does autograd.grad(y, x)[0] give?", 3 * x * x, wrong=((x**3, "That is y, the value."),))
    )(r.randint(2, 6)),
)

STUB_C = '''\
import minigrad as torch


def loss_of(encoder, decoder, x, target):
    """The squared error of decoder(encoder(x)). After backward the encoder has no gradient: find out why."""
    code = (x * encoder).tanh()
    seen = code.detach()
    out = seen * decoder
    return ((out - target) ** 2).sum()
'''

SOLUTION_C = '''\
import minigrad as torch


def loss_of(encoder, decoder, x, target):
    """The squared error of decoder(encoder(x))."""
    code = (x * encoder).tanh()
    out = code * decoder
    return ((out - target) ** 2).sum()
'''

X, TARGET = [0.5, -1.0, 2.0], [1.0, 0.0, -0.5]


def _loss_of(encoder, decoder):
    import math

    loss = de = dd = 0.0
    for x, t in zip(X, TARGET, strict=True):
        c = math.tanh(x * encoder)
        miss = c * decoder - t
        loss += miss**2
        dd += 2 * miss * c
        de += 2 * miss * decoder * (1 - c * c) * x
    return {"loss": loss, "encoder.grad": de, "decoder.grad": dd}


_c = partial(but, SOLUTION_C)


EX_C = Exercise(
    id="10.c",
    title="The encoder does not learn",
    kind=Kind.DEBUG,
    points=2,
    minutes=6,
    difficulty=2,
    question="After loss.backward() the decoder has a gradient and the encoder has none. Find the line and repair it.",
    entry="loss_of",
    stub=STUB_C,
    solution=SOLUTION_C,
    probes=(
        Probe(
            "loss and both gradients",
            (0.8, 1.5),
            _loss_of,
            drivers.encoder_decoder,
            2,
            rtol=1e-9,
            draw=lambda r: (round(r.uniform(0.3, 1.5), 2), round(r.uniform(0.5, 2), 2)),
        ),
        Probe(
            "other weights",
            (-0.4, 0.7),
            _loss_of,
            drivers.encoder_decoder,
            rtol=1e-9,
            draw=lambda r: (-round(r.uniform(0.3, 1.5), 2), round(r.uniform(0.5, 2), 2)),
        ),
    ),
    bank=(
        Wrong(
            "makes the loss require a gradient",
            STUB_C.replace(
                "    return ((out - target) ** 2).sum()",
                "    loss = ((out - target) ** 2).sum().detach()\n    loss.requires_grad = True\n    return loss",
            ),
            "loss.requires_grad = True makes the loss a leaf: the error falls silent, and nothing is learned. Silence is not a cure.",
            when=lambda seen: _both_missing(seen),
        ),
        Wrong(
            "detach on both",
            STUB_C.replace("out = seen * decoder", "out = seen * decoder.detach()").replace(".sum()", ".sum().requires_grad_(True)"),
            "loss.requires_grad = True makes the loss a leaf: the error falls silent, and nothing is learned. Silence is not a cure.",
            when=lambda seen: _both_missing(seen),
        ),
        Wrong(
            "makes the code a leaf",
            STUB_C.replace("code.detach()", "code.detach().requires_grad_(True)"),
            "A detached tensor that requires a gradient is a new leaf: the gradient stops there, and the encoder still gets none.",
            when=lambda seen: _missing(seen, "encoder.grad") and not _missing(seen, "decoder.grad"),
        ),
        Wrong(
            "detach moved to the decoder",
            _c("code * decoder", "code * decoder.detach()"),
            "Now the encoder learns and the decoder does not. Neither may be cut off here.",
            when=lambda seen: _missing(seen, "decoder.grad") and not _missing(seen, "encoder.grad"),
        ),
        Wrong(
            "no tanh any more",
            _c(".tanh()", ""),
            "The gradient flows again, but through another function: leave the tanh in place.",
            on=("loss and both gradients",),
        ),
    ),
    hints=Hints(
        "Follow the graph from the loss to the encoder. Where does grad_fn end?",
        "detach gives the same numbers without a history: no gradient passes it. Use the tensor itself where it must.",
        "log = [loss.detach()] is right: a record needs no graph. features = body(x).detach() in front of a head trains the head alone.",
    ),
    reveal="The line with detach. It is right for targets and logs, wrong between two parts that learn together.",
    fresh=lambda r: (
        lambda a: Fresh(f"a = {a}; y = a · a.detach(). What is a.grad after y.backward()?", a, wrong=((2 * a, "One factor is cut off."),))
    )(r.randint(3, 9)),
)


def _missing(seen, key):
    got = seen.value("loss and both gradients")
    return isinstance(got, dict) and got.get(key) is None


def _both_missing(seen):
    return _missing(seen, "encoder.grad") and _missing(seen, "decoder.grad")


EX_D = ask(
    "10.d",
    "Which tool?",
    Kind.EXPLAIN,
    minutes=6,
    level=2,
    points=2,
    text="Match each situation with the tool.",
    comment="Which tool fits? Each may be used more than once. Replace each None by a letter, in quotes.\n"
    '  "a" no_grad     "b" inference_mode     "c" detach     "d" requires_grad_(False)     "e" create_graph=True     "f" item()',
    answer={
        "serving a model, results never enter a graph": "b",
        "a target network's output inside a loss": "c",
        "generator's images while the discriminator trains": "c",
        "gradient penalty of a WGAN": "e",
        "printing the loss": "f",
        "updating parameters by hand": "a",
        "validation loss, then back to training": "a",
        "a frozen layer inside a model that trains": "d",
    },
    also={
        "a target network's output inside a loss": ("a",),
        "generator's images while the discriminator trains": ("a",),
        "validation loss, then back to training": ("b",),
    },
    wrong=(
        (
            "penalty without create_graph",
            {"gradient penalty of a WGAN": "a"},
            "WGAN: the penalty is itself differentiated, so the first gradient needs a graph of its own.",
        ),
        (
            "no_grad around a frozen layer",
            {"a frozen layer inside a model that trains": "a"},
            "Frozen layer: no_grad would also cut off the layers below it. Only the layer's own parameters should rest.",
        ),
        (
            "no_grad for a target",
            {"a target network's output inside a loss": "d"},
            "Target network: what must not carry a gradient is its output, here, in this loss.",
        ),
        (
            "inference for updates",
            {"updating parameters by hand": "b"},
            "Update by hand: the parameters must be usable in a graph afterwards.",
        ),
        (
            "no_grad for serving",
            {"serving a model, results never enter a graph": "a"},
            "Serving: that would work. One of the six goes further, and is made for a model that only serves.",
        ),
        (
            "detach for an update",
            {"updating parameters by hand": "c"},
            "Update by hand: what shall not be recorded is the line that moves the parameter, a stretch of code.",
        ),
        (
            "detach for a frozen layer",
            {"a frozen layer inside a model that trains": "c"},
            "Frozen layer: a cut would also keep the gradient from the layers below it. Only the layer's own parameters should rest.",
        ),
        ("detach for printing", {"printing the loss": "c"}, "Printing: a plain number is wanted, not a tensor."),
        (
            "freeze the generator",
            {"generator's images while the discriminator trains": "d"},
            "Generator: it trains in the next step. Only these images must carry no gradient.",
        ),
        (
            "serving: c",
            {"serving a model, results never enter a graph": "c"},
            "Serving: the whole computation needs no graph, now or later. Which tool is made for a stretch of code like that?",
        ),
        (
            "serving: d",
            {"serving a model, results never enter a graph": "d"},
            "Serving: the whole computation needs no graph, now or later. Which tool is made for a stretch of code like that?",
        ),
        (
            "serving: f",
            {"serving a model, results never enter a graph": "f"},
            "Serving: the whole computation needs no graph, now or later. Which tool is made for a stretch of code like that?",
        ),
        (
            "target in inference mode: b",
            {"a target network's output inside a loss": "b"},
            "Target network: its output enters a loss that is differentiated, and a tensor made in that mode cannot.",
        ),
        (
            "target: e",
            {"a target network's output inside a loss": "e"},
            "Target network: the output is needed as a tensor, without its history.",
        ),
        (
            "target: f",
            {"a target network's output inside a loss": "f"},
            "Target network: the output is needed as a tensor, without its history.",
        ),
        (
            "images in inference mode: b",
            {"generator's images while the discriminator trains": "b"},
            "Generator: the discriminator must save these images for its backward pass, which that mode forbids.",
        ),
        (
            "images: e",
            {"generator's images while the discriminator trains": "e"},
            "Generator: the images are needed as tensors, and nothing of the generator's graph.",
        ),
        (
            "images: f",
            {"generator's images while the discriminator trains": "f"},
            "Generator: the images are needed as tensors, and nothing of the generator's graph.",
        ),
        (
            "penalty: c",
            {"gradient penalty of a WGAN": "c"},
            "WGAN: all these tools leave graph out. The penalty needs more of it, because a gradient is differentiated.",
        ),
        (
            "penalty: d",
            {"gradient penalty of a WGAN": "d"},
            "WGAN: all these tools leave graph out. The penalty needs more of it, because a gradient is differentiated.",
        ),
        (
            "penalty: b",
            {"gradient penalty of a WGAN": "b"},
            "WGAN: all these tools leave graph out. The penalty needs more of it, because a gradient is differentiated.",
        ),
        (
            "penalty: f",
            {"gradient penalty of a WGAN": "f"},
            "WGAN: all these tools leave graph out. The penalty needs more of it, because a gradient is differentiated.",
        ),
        ("printing: a", {"printing the loss": "a"}, "Printing: the question is about one tensor, of which only its number is wanted."),
        ("printing: b", {"printing the loss": "b"}, "Printing: the question is about one tensor, of which only its number is wanted."),
        ("printing: d", {"printing the loss": "d"}, "Printing: the question is about one tensor, of which only its number is wanted."),
        ("printing: e", {"printing the loss": "e"}, "Printing: the question is about one tensor, of which only its number is wanted."),
        (
            "update: d",
            {"updating parameters by hand": "d"},
            "Update by hand: only the line that moves the parameter must not be recorded; in the next step it needs a gradient again.",
        ),
        (
            "update: e",
            {"updating parameters by hand": "e"},
            "Update by hand: only the line that moves the parameter must not be recorded; in the next step it needs a gradient again.",
        ),
        (
            "update: f",
            {"updating parameters by hand": "f"},
            "Update by hand: only the line that moves the parameter must not be recorded; in the next step it needs a gradient again.",
        ),
        (
            "validation: c",
            {"validation loss, then back to training": "c"},
            "Validation: a stretch of code needs no graph, and training goes on with the same parameters afterwards.",
        ),
        (
            "validation: d",
            {"validation loss, then back to training": "d"},
            "Validation: a stretch of code needs no graph, and training goes on with the same parameters afterwards.",
        ),
        (
            "validation: e",
            {"validation loss, then back to training": "e"},
            "Validation: a stretch of code needs no graph, and training goes on with the same parameters afterwards.",
        ),
        (
            "validation: f",
            {"validation loss, then back to training": "f"},
            "Validation: a stretch of code needs no graph, and training goes on with the same parameters afterwards.",
        ),
        (
            "frozen layer: b",
            {"a frozen layer inside a model that trains": "b"},
            "Frozen layer: the gradient has to pass through the layer to those below it. Only its own parameters should get none.",
        ),
        (
            "frozen layer: e",
            {"a frozen layer inside a model that trains": "e"},
            "Frozen layer: the gradient has to pass through the layer to those below it. Only its own parameters should get none.",
        ),
        (
            "frozen layer: f",
            {"a frozen layer inside a model that trains": "f"},
            "Frozen layer: the gradient has to pass through the layer to those below it. Only its own parameters should get none.",
        ),
    ),
    hints=(
        "Ask each time: is the graph unwanted for a stretch of code, for one tensor, for some parameters, or is more graph wanted?",
        "A stretch of code: no_grad (or inference_mode, if nothing ever returns). One tensor: detach. Parameters: "
        "requires_grad_(False). A number: item().",
        "Style transfer: the picture's pixels learn and the network's weights rest: freeze the weights, do not switch recording off.",
    ),
    reveal="Serving b; target and generator c (or a); penalty e; printing f; update a; validation a (or b); freezing d.",
    fresh=lambda r: Fresh(
        "An exponential moving average of the weights is updated after each step. Which letter fits best?",
        "a",
        wrong=(("c", "A whole stretch of code needs no graph."),),
    ),
)

EXERCISES = (EX_A, EX_B, EX_C, EX_D)
