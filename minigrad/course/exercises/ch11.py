"""Chapter 11, derivatives of derivatives: its exercises."""

from __future__ import annotations

from collections.abc import Callable

from .. import drivers
from ..exercise import Exercise, Fresh, Hints, Kind, Probe, Seen, Wrong, about, ask, but
from . import _truths

# ---- 11.a: twice --------------------------------------------------------------------------------------------------------------------

FIRST, SECOND, PLAIN = "the first derivative", "the second derivative", "the first, without create_graph"

EX_A = ask(
    "11.a",
    "Twice",
    Kind.PREDICT,
    points=0,
    minutes=3,
    level=1,
    text="y = x³ at x = 2. What are the first and the second derivative? And what does autograd.grad return for the first one when it "
    "is called without create_graph=True?",
    comment="y = x³ at x = 2. What are the first and the second derivative?\n"
    "And what does autograd.grad return for the first one\nwhen it is called without create_graph=True?\n"
    'Replace each None by a number, or by "error".',
    answer={FIRST: 12, SECOND: 12, PLAIN: 12},
    wrong=(
        ("the value", {FIRST: 8}, "That is y, the value."),
        ("the second of the square", {SECOND: 6}, "The second derivative is 6x, and x is not 1."),
        ("the third", {SECOND: 24}, "The derivative of 3x² is 6x, not 6x². The factor x appears only once."),
        ("a constant", {SECOND: 2}, "Differentiate 3x² once more: it still depends on x."),
        ("no second derivative", {SECOND: 0}, "3x² still depends on x, so it has a derivative that is not 0."),
        ("an error at once", {PLAIN: "error"}, "The first gradient is computed as always. What is missing is its graph, which only the "
         "next derivative needs."),
        ("None without it", {PLAIN: "None"}, "autograd.grad returns the gradient in any case. It is x.grad "
         "that stays None."),
        ("nothing without it", {PLAIN: 0}, "The number is the same with and without create_graph. Only its graph is missing."),
    ),
    hints=(
        "Write the first derivative as a formula, and differentiate it again.",
        "The second derivative is the derivative of the first one as a function of x, before any number is put in. create_graph changes "
        "what is recorded, and no number.",
        "y = x⁴ at x = 10: 4x³ gives 4,000, and differentiating it once more gives 1,200.",
    ),
    reveal="3x² = 12 and 6x = 12, which are equal only at x = 2. Without create_graph the first number is the same, but it has no graph.",
    fresh=lambda r: (
        lambda x: Fresh(f"y = x³ at x = {x}. What is the second derivative?", 6 * x, wrong=((3 * x * x, "That is the first."),))
    )(r.randint(3, 9)),
)  # fmt: skip

# ---- 11.b: Hessian times vector -----------------------------------------------------------------------------------------------------

STUB_B = '''\
import minigrad as torch


def hvp(f, x, v):
    """H v, for the Hessian H of f at x, by autograd and without H.

    f(x) is one number, x a leaf that requires gradients, v a tensor of its shape.
    Leave x and x.grad as they are.
    """
    ...


def hvp_nudged(grad, x, v, h=1e-4):
    """The same without a second backward pass, from two calls of grad: grad(x) is the gradient of f at x.

    x and v are numpy arrays of the same shape; so is the result.
    """
    ...
'''

SOLUTION_B = """\
import minigrad as torch


def hvp(f, x, v):
    (g,) = torch.autograd.grad(f(x), x, create_graph=True)
    (product,) = torch.autograd.grad(g, x, grad_outputs=v)
    return product


def hvp_nudged(grad, x, v, h=1e-4):
    return (grad(x + h * v) - grad(x - h * v)) / (2 * h)
"""

_b = lambda old, new: but(SOLUTION_B, old, new)  # noqa: E731


def _two(new):
    return but(SOLUTION_B, "    (product,) = torch.autograd.grad(g, x, grad_outputs=v)\n    return product\n", new)


THREE, FORTY, WORK = "hvp: three parameters", "hvp: forty parameters", "hvp: the work for many parameters"
NUDGED, NUDGED_MORE = "hvp_nudged: three parameters", "hvp_nudged: 200 parameters"


def _by_autograd(name: str, n: int) -> Probe:
    def want(n: int, seed: int) -> dict:
        return {"H v": _truths.hvp_truth(n, seed), "x is as it was": True, "x.grad": None}

    return Probe(name, (n, 1), want, drivers.hvp_autograd, rtol=1e-9, draw=lambda r: (n, r.randint(3, 99)))


def _by_nudges(name: str, n: int) -> Probe:
    def want(n: int, seed: int) -> dict:
        return {"H v": _truths.hvp_truth(n, seed), "calls of grad": 2, "x and v are as they were": True}

    return Probe(name, (n, 2), want, drivers.hvp_nudged, rtol=1e-5, atol=1e-5, draw=lambda r: (n, r.randint(3, 99)))


def _little(got: object, *_: object) -> str | None:
    if not isinstance(got, dict) or not isinstance(got.get("passes"), int) or not isinstance(got.get("rows"), int):
        return "a product must be returned"
    if got["passes"] > 2:
        return "there are more than two backward passes, and more of them the longer x is"
    return (
        "a whole matrix was in memory" if got["rows"] > 100 else None if got["passes"] else "f was never differentiated"
    )


def _passes(seen: Seen) -> int:
    got = seen.value(WORK)
    return got.get("passes", 0) if isinstance(got, dict) else 0


def _calls(seen: Seen) -> int:
    got = seen.value(NUDGED)
    return got.get("calls of grad", 0) if isinstance(got, dict) else 0


EX_B = Exercise(
    id="11.b",
    title="Hessian times vector, two ways",
    kind=Kind.BUILD,
    points=3,
    minutes=10,
    difficulty=3,
    question="Multiply the Hessian by a vector without building it: once by differentiating a gradient, and once from two gradients.",
    entry="hvp",
    stub=STUB_B,
    solution=SOLUTION_B,
    probes=(
        _by_autograd(THREE, 3),
        _by_autograd(FORTY, 40),
        Probe(WORK, (100, 1), driver=drivers.hvp_work, accept=_little, draw=lambda r: (r.randint(90, 110), 1)),
        _by_nudges(NUDGED, 3),
        _by_nudges(NUDGED_MORE, 200),
    ),
    bank=(
        Wrong("builds the Hessian", _two(
            "    rows = [torch.autograd.grad(gi, x, retain_graph=True)[0] for gi in g]\n    return torch.stack(rows) @ v\n"),
            "The numbers are right, but every row of the Hessian was computed, with a backward pass for each. Only its product with v is "
            "needed: what does `grad_outputs` do?", when=lambda seen: _passes(seen) > 10),
        Wrong("no graph for the gradient", _b(", create_graph=True", ""),
              "The gradient has no graph, so it cannot be differentiated. How do you ask for one?",
              when=lambda seen: seen.error(THREE) == "RuntimeError" and "does not require grad" in seen.message(THREE)),
        Wrong("v times g, entry by entry", _b("(g, x, grad_outputs=v)", "(g * v, x)"),
              "g * v has as many entries as x, and only a single number can be differentiated. Add the entries up.",
              when=lambda seen: seen.error(THREE) == "RuntimeError" and "scalar outputs" in seen.message(THREE)),
        Wrong("the gradient times v", _two("    return g.detach() * v\n"),
              "That is the gradient, entry by entry times v. H v says how the gradient changes along v.", on=(THREE, FORTY)),
        Wrong("v left out", _b("grad_outputs=v", "grad_outputs=torch.ones_like(v)"),
              "That is H times a vector of ones. v has to weight the entries of the gradient.", on=(THREE, FORTY)),
        Wrong("rows added up first", _two("    return torch.autograd.grad(g.sum(), x)[0] * v\n"),
              "That adds up each row of H, and multiplies by v when it is too late. v has to weight the entries of the gradient before "
              "they are added up and differentiated.", on=(THREE, FORTY)),
        Wrong("v normalised", _b("    (g,)", "    v = v / v.norm()\n    (g,)"),
              "v was scaled to length one. The product is linear in v, so the length of v belongs to the result.", on=(THREE, FORTY)),
        Wrong("times v again", _b("return product", "return product * v"),
              "That is H v, multiplied by v once more, entry by entry. The product with H is the whole result.", on=(THREE, FORTY)),
        Wrong("through backward", _b("    (product,) = torch.autograd.grad(g, x, grad_outputs=v)\n    return product\n",
              "    (g @ v).backward()\n    return x.grad\n"),
              "backward() adds to x.grad, and whoever uses x next finds it there. Let autograd.grad return the result instead.",
              when=lambda seen: (seen.value(THREE) or {}).get("x.grad") is not None),
        Wrong("a number", _two("    return (g @ v).detach()\n"),
              "That is v · g, a single number. It still has to be differentiated with respect to x.", on=(THREE, FORTY)),
        Wrong("one-sided", _b("(grad(x + h * v) - grad(x - h * v)) / (2 * h)", "(grad(x + h * v) - grad(x)) / h"),
              "hvp_nudged: a one-sided difference has an error proportional to h. Step to both sides.", on=(NUDGED_MORE,), rtol=1e-3),
        Wrong("not divided by two", _b("(2 * h)", "h"), "hvp_nudged: twice too large. How far apart are the two points?",
              on=(NUDGED, NUDGED_MORE), rtol=1e-3),
        Wrong("a whole step", _b("(grad(x + h * v) - grad(x - h * v)) / (2 * h)", "(grad(x + v) - grad(x - v)) / 2"),
              "hvp_nudged: a step of all of v is too long, because the gradient bends on the way. Step by h · v.", on=(NUDGED_MORE,),
              rtol=1e-3),
        Wrong("the wrong way round", _b("grad(x + h * v) - grad(x - h * v)", "grad(x - h * v) - grad(x + h * v)"),
              "hvp_nudged: the sign is reversed. Subtract the gradient behind from the gradient in front.", on=(NUDGED, NUDGED_MORE),
              rtol=1e-3),
        Wrong("every parameter by the same step", _b("grad(x + h * v) - grad(x - h * v)", "grad(x + h) - grad(x - h)"),
              "hvp_nudged: every parameter moves by the same step. Move along v.", on=(NUDGED, NUDGED_MORE), rtol=1e-3),
        Wrong("every parameter by the same step, then times v",
              _b("(grad(x + h * v) - grad(x - h * v)) / (2 * h)", "(grad(x + h) - grad(x - h)) / (2 * h) * v"),
              "hvp_nudged: every parameter moves by the same step, and v comes too late. Move along v: from x to x + h · v.",
              on=(NUDGED,), rtol=1e-2),
        Wrong("v normalised in the nudges", _b("    return (grad(x + h", "    v = v / (v @ v) ** 0.5\n    return (grad(x + h"),
              "hvp_nudged: v was scaled to length one, and its length belongs to the result.", on=(NUDGED, NUDGED_MORE), rtol=1e-3),
        Wrong("times v again in the nudges", _b("/ (2 * h)", "/ (2 * h) * v"),
              "hvp_nudged: the difference of the gradients is H v already. Do not multiply it by v again.", on=(NUDGED, NUDGED_MORE),
              rtol=1e-3),
        Wrong("x is moved", _b("    return (grad(x + h * v) - grad(x - h * v)) / (2 * h)",
              "    x += h * v\n    up = grad(x)\n    x -= 2 * h * v\n    return (up - grad(x)) / (2 * h)"),
              "hvp_nudged: x itself was moved, and is not brought back. Compute x + h * v as a new array.",
              when=lambda seen: (seen.value(NUDGED) or {}).get("x and v are as they were") is False),
        Wrong("only the first function", _b("    return (grad(x + h * v) - grad(x - h * v)) / (2 * h)", "    ..."),
              "hvp is done. hvp_nudged, in the same cell, still returns nothing.",
              when=lambda seen: (seen.value(NUDGED) or {"H v": 0})["H v"] is None and _calls(seen) == 0),
        Wrong("column by column", _b("    return (grad(x + h * v) - grad(x - h * v)) / (2 * h)",
              "    import numpy as np\n\n    H = np.array([(grad(x + h * e) - grad(x - h * e)) / (2 * h) for e in np.eye(len(x))])\n"
              "    return H @ v"),
              "hvp_nudged: every column of the Hessian was computed. Two gradients are enough, along v itself.",
              when=lambda seen: _calls(seen) > 2),
        Wrong("one gradient", _b("(grad(x + h * v) - grad(x - h * v)) / (2 * h)", "grad(x) * v"),
              "hvp_nudged: a gradient at a single point does not say how it changes. Take the gradient at two points.",
              when=lambda seen: _calls(seen) == 1),
    ),
    hints=Hints(
        "The Hessian is the Jacobian of the gradient. What does one backward pass with a v compute from a Jacobian?",
        "First the gradient, with a graph; then one pass through that graph which starts with v. By nudges: how does the gradient change "
        "between two points on either side of x, a little along v?",
        "f = x0²·x1 at [1, 2]: the gradient is [2·x0·x1, x0²], so with v = [1, 0] the product is the first column of H, [4, 2].",
    ),
    reveal="The gradient's own graph, walked backward once with v. The second way costs two gradients and has the error of any difference.",
    fresh=lambda r: (
        lambda n: Fresh(f"A model has {n} parameters. How many numbers are in its Hessian?", n * n, wrong=((n, "That is the gradient."),))
    )(r.choice([30, 50, 1000])),
)  # fmt: skip

# ---- 11.c: the largest stable learning rate -----------------------------------------------------------------------------------------

STUB_C = '''\
import minigrad as torch


def largest_lr(loss, w, hvp):
    """The learning rate at which gradient descent on loss, near w, stops being stable.

    loss(w) is one number, w a vector that requires gradients.
    hvp(loss, w, v) is the product of the Hessian with v.
    """
    ...
'''

SOLUTION_C = """\
import minigrad as torch


def largest_lr(loss, w, hvp):
    v = torch.randn(len(w), dtype=w.dtype)
    for _ in range(60):
        v = v / v.norm()
        Hv = hvp(loss, w, v)
        curvature = v @ Hv
        v = Hv
    return 2 / curvature.item()
"""

_c = lambda old, new: but(SOLUTION_C, old, new)  # noqa: E731
SMALL, CLOSE, FLAT, MANY = (
    "three directions",
    "two directions of nearly equal curvature",
    "a flat valley",
    "200 directions",
)


def _stable(got: object, eigenvalues: list[float], seed: int) -> str | None:
    """None if 0.95 of the learning rate converges on this bowl and 1.05 of it diverges."""
    if not isinstance(got, dict) or type(got.get("lr")) not in (int, float):
        return "one number is needed"
    if not got.get("products"):
        return "hvp was never called"
    share = got["lr"] * max(eigenvalues) / 2
    if not share > 1 / 1.05:
        return "the learning rate is too small: with 1.05 of it gradient descent still converges"
    if not share < 1 / 0.95:
        return "the learning rate is too large: with 0.95 of it gradient descent diverges"
    return "all of H was computed, column by column" if got["columns"] > 100 else None


def _bowl(name: str, eigenvalues: list[float], draw) -> Probe:
    return Probe(
        name, (eigenvalues, 5), driver=drivers.largest_step, accept=_stable, draw=lambda r: (draw(r), r.randint(3, 99))
    )


def _many(top: float) -> list[float]:
    """200 curvatures. Thirty of three quarters of the largest: a v that has turned too little does not show the largest within 5 %."""
    return [k / 100 for k in range(169)] + [0.75 * top] * 30 + [top]


def _lr(seen: Seen, name: str) -> float:
    got = seen.value(name)
    lr = got.get("lr") if isinstance(got, dict) else None
    return lr if isinstance(lr, float) else -1.0


def _share(seen: Seen, name: str) -> float:
    """The answer in units of the largest stable learning rate."""
    got = seen.value(name)
    share = got.get("of the largest") if isinstance(got, dict) else None
    return share if isinstance(share, float) else -1.0


def _is(seen: Seen, slip: Callable[[float], float]) -> bool:
    """Whether the answers are what `slip` makes of the largest curvature, which is not nearly 2 over it."""
    steepest = {name: 2 * _share(seen, name) / _lr(seen, name) for name in (SMALL, FLAT)}
    return all(abs(_lr(seen, name) / slip(steepest[name]) - 1) < 0.05 for name in (SMALL, FLAT))


EX_C = Exercise(
    id="11.c",
    title="The largest stable learning rate",
    kind=Kind.BUILD,
    points=4,
    minutes=12,
    difficulty=3,
    question="Find the learning rate at which gradient descent becomes unstable, from products of the Hessian with vectors.",
    entry="largest_lr",
    stub=STUB_C,
    solution=SOLUTION_C,
    ideas={"the largest curvature": 0.25, "two that are close": 0.25, "few products": 0.5},
    probes=(
        *about(
            "the largest curvature",
            _bowl(SMALL, [1.0, 4.0, 10.0], lambda r: [1.0, 4.0, float(r.randint(10, 20))]),
            _bowl(FLAT, [0.001, 0.02, 0.3], lambda r: [0.001, 0.02, r.choice([0.1, 0.2, 0.3, 0.4])]),
        ),
        *about(
            "two that are close",
            _bowl(CLOSE, [1.0, 9.3, 10.0], lambda r: (lambda top: [1.0, 0.93 * top, top])(float(r.randint(8, 30)))),
        ),
        *about("few products", _bowl(MANY, _many(12.0), lambda r: _many(float(r.randint(10, 15))))),
    ),
    bank=(
        Wrong("without products",
              _c("    for _", "    H = torch.func.hessian(loss)(w.detach())\n    for _").replace("hvp(loss, w, v)", "H @ v"),
              "hvp was never called. Products of H with vectors are enough here, and for a large model H itself does not fit into memory.",
              when=lambda seen: _lr(seen, SMALL) > 0 and not seen.value(SMALL)["products"]),
        Wrong("column by column",
              _c("    for _", "    H = torch.stack([hvp(loss, w, e) for e in torch.eye(len(w), dtype=w.dtype)])\n    for _")
              .replace("hvp(loss, w, v)", "H @ v"),
              "The number is right, but all of H was computed, one column for each product. What becomes of a single v that is multiplied "
              "by H again and again?", when=lambda seen: abs(_share(seen, SMALL) - 1) < 0.05 and seen.value(MANY)["columns"] > 100),
        Wrong("1 in place of 2", _c("return 2 /", "return 1 /"),
              "A step of one over the curvature lands exactly at the minimum in that direction. How much longer may it be before it lands "
              "further away than it began?", when=lambda seen: all(abs(_share(seen, name) - 0.5) < 0.04 for name in (SMALL, FLAT, MANY))),
        Wrong("the curvature itself", _c("return 2 / curvature.item()", "return curvature.item()"),
              "That is the largest curvature. A strong curvature allows only a small step. Which learning rate belongs to it?",
              when=lambda seen: _is(seen, lambda steepest: steepest)),
        Wrong("twice the curvature", _c("return 2 / curvature.item()", "return 2 * curvature.item()"),
              "The stronger the curvature, the smaller the largest step. Divide by it.",
              when=lambda seen: _is(seen, lambda steepest: 2 * steepest)),
        Wrong("1 over the step", _c("return 2 / curvature.item()", "return curvature.item() / 2"),
              "Upside down: the stronger the curvature, the smaller the learning rate.",
              when=lambda seen: _is(seen, lambda steepest: steepest / 2)),
        Wrong("the mean curvature", "import minigrad as torch\n\n\ndef largest_lr(loss, w, hvp):\n"
              "    e = torch.eye(len(w), dtype=w.dtype)\n    return 2 / (sum(hvp(loss, w, v) @ v for v in e) / len(w)).item()\n",
              "That is the mean of the curvatures. One strongly curved direction is enough to diverge, so the largest of them decides.",
              on=(SMALL, FLAT), rtol=1e-6),
        Wrong("the smallest curvature", _c("        v = Hv\n", "        v = 25 * v - Hv\n"),
              "A learning rate far too large comes out, because v has turned to the direction of the weakest curvature. The strongest one "
              "decides.",
              when=lambda seen: abs(_lr(seen, SMALL) - 2.0) < 0.1),  # the smallest curvature there is 1
        Wrong("v is never renewed", _c("        v = Hv\n", ""),
              "No round uses what came out of the round before, so v never turns. The next v has to be the product.",
              when=lambda seen: _turned(seen) and seen.value(SMALL)["products"] > 8),
        Wrong("too few rounds", _c("range(60)", "range(2)"),
              "v has not turned far enough yet: too large a learning rate comes out. Multiply by H more often, or until nothing changes.",
              when=lambda seen: _turned(seen) and seen.value(SMALL)["products"] <= 8),
        Wrong("never normalised", _c("        v = v / v.norm()\n", ""),
              "v grows (or shrinks) with every product, and v · Hv is the curvature only for a v of length 1. Normalise it every time.",
              when=lambda seen: not 1e-12 < _share(seen, SMALL) < 1e12 or not 1e-12 < _share(seen, FLAT) < 1e12
              or bool(seen.error(SMALL))),
        Wrong("the length of a product", _c("    for _ in range(60):\n        v = v / v.norm()\n        Hv = hvp(loss, w, v)\n"
                                             "        curvature = v @ Hv\n        v = Hv\n",
                                             "    tries = torch.randn(60, len(w), dtype=w.dtype)\n"
                                             "    curvature = max(hvp(loss, w, v).norm() for v in tries)\n"),
              "Your curvature is larger than any that this loss has. The length of Hv is a curvature only for a v of length 1.",
              when=lambda seen: all(0 < _share(seen, name) < 0.95 for name in (SMALL, FLAT, MANY))),
    ),
    hints=Hints(
        "Which direction decides, and how do you find it when all you can do is multiply by H?",
        "Multiply a random v by H again and again, and bring it to length 1 each time: it turns to the direction of the strongest "
        "curvature. There v · Hv is that curvature λ, and a step of lr multiplies the distance by 1 − lr·λ.",
        "For a single parameter and f = 5x², H is 10, and every step multiplies x by 1 − 10·lr. At lr = 0.3 that is −2: x explodes.",
    ),
    reveal="Power iteration finds the largest curvature, the sharpness. The step is stable as long as |1 − lr·λ| < 1.",
    fresh=lambda r: (
        lambda lam: Fresh(
            f"The curvatures are 1, 3 and {lam}. Above which learning rate does gradient descent diverge?",
            2 / lam,
            wrong=((1 / lam, "There it lands exactly at the minimum."), (2.0, "The largest curvature decides, not the smallest.")),
        )
    )(r.choice([8, 10, 16, 20, 25])),
)  # fmt: skip


def _turned(seen: Seen) -> bool:
    """A learning rate that is too large, as from a v that has not turned to the strongest curvature."""
    return (
        any(_share(seen, name) > 1.05 for name in (SMALL, CLOSE, MANY))
        and _share(seen, SMALL) < 1e6
        and not seen.error(SMALL)
    )


# ---- 11.d: a critic with ReLU -------------------------------------------------------------------------------------------------------

STUB_D = '''\
def derivatives(v, w, b, x):
    """One unit of a critic is D = v * relu(w * x + b). Its slope is s = dD/dx.

    The penalty is P = (s - 1)**2.
    Return four numbers: ds/dx, ds/dw, ds/dv and dP/dw.
    """
    return [..., ..., ..., ...]
'''

SOLUTION_D = """\
def derivatives(v, w, b, x):
    on = 1.0 if w * x + b > 0 else 0.0
    return [0.0, v * on, w * on, 2 * (v * w - 1) * v * on]
"""

_d = lambda old, new: but(SOLUTION_D, old, new)  # noqa: E731
ACTIVE, LEFT, ASLEEP, STEEP, BACKWARDS = (
    "an active unit",
    "active in spite of b",
    "asleep",
    "asleep, w > 0",
    "asleep, w < 0",
)


def _by_hand(v: float, w: float, b: float, x: float) -> list[float]:
    """From differences of s, which is constant or linear in each of its arguments away from the kink."""

    def s(v: float, w: float, x: float) -> float:
        return v * w if w * x + b > 0 else 0.0

    e = 2.0**-20
    slope = (s(v, w + e, x) - s(v, w - e, x)) / (2 * e)
    return [0.0, slope, (s(v + e, w, x) - s(v - e, w, x)) / (2 * e), 2 * (s(v, w, x) - 1) * slope]


def _unit(name: str, args: tuple, sign: tuple) -> Probe:
    def draw(r):
        v = r.choice([-2.5, 1.7, 2.6, 3.5])  # never a size that w can have
        size = {"w": r.choice([2.0, 3.0]), "b": r.choice([0.5, 1.0]), "x": r.choice([1.0, 1.5])}
        w, b, x = (k * size[n] for k, n in zip(sign, "wbx", strict=True))
        return v, w, b, x

    return Probe(
        name,
        args,
        _by_hand,
        drivers.call_by_hand,
        rtol=1e-6,
        atol=1e-9,
        parts=("ds/dx", "ds/dw", "ds/dv", "dP/dw"),
        draw=draw,
    )


EX_D = Exercise(
    id="11.d",
    title="A penalty through ReLU",
    kind=Kind.PUZZLE,
    points=2,
    minutes=6,
    difficulty=2,
    question="The slope of a ReLU unit does not change with x, and yet a penalty on that slope trains the weights. By which derivative?",
    entry="derivatives",
    stub=STUB_D,
    solution=SOLUTION_D,
    probes=(
        _unit(ACTIVE, (3.0, 2.0, 1.0, 1.0), (1, 1, 1)),
        _unit(LEFT, (2.5, 2.0, -1.0, 1.5), (1, -1, 1)),
        _unit(ASLEEP, (3.0, 2.0, -4.0, 1.0), (0.25, -4, 1)),
        _unit(STEEP, (2.5, 3.0, 1.0, -1.0), (1, 1, -1)),
        _unit(BACKWARDS, (-2.0, -3.0, 1.0, 1.0), (-1, 1, 1)),
    ),
    bank=(
        Wrong("all zero", "def derivatives(v, w, b, x):\n    return [0.0, 0.0, 0.0, 0.0]\n",
              "ReLU has no curvature in x, that is right. But its slope, for an active unit, is v · w: does that depend on the weights?",
              on=(ACTIVE, LEFT)),
        Wrong("asleep or not", _d("1.0 if w * x + b > 0 else 0.0", "1.0"),
              "A unit whose input is negative has slope 0, and a small change of the weights does not wake it.", on=(ASLEEP, STEEP)),
        Wrong("asleep, but for dP/dw", _d("2 * (v * w - 1) * v * on", "2 * (v * w * on - 1) * v"),
              "dP/dw: for a unit that is asleep, s does not depend on w, so neither does P.", on=(ASLEEP, STEEP)),
        Wrong("active where x is", _d("w * x + b > 0", "x > 0"),
              "A unit is active when w · x + b is positive, whatever the sign of x.", on=(ASLEEP, BACKWARDS)),
        Wrong("w and v exchanged", _d("v * on, w * on", "w * on, v * on"),
              "s = v · w for an active unit: its derivative with respect to one factor is the other one.", on=(ACTIVE, LEFT)),
        Wrong("the derivatives of D", "def derivatives(v, w, b, x):\n    on = 1.0 if w * x + b > 0 else 0.0\n"
              "    return [v * w * on, v * x * on, (w * x + b) * on, 2 * (v * w * on - 1) * v * x * on]\n",
              "Those are the derivatives of D. The question is about those of its slope s, which has no x in it for an active unit.",
              on=(LEFT,)),
        Wrong("two derivatives of D", _d("v * on, w * on,", "v * x * on, (w * x + b) * on,"),
              "Those are dD/dw and dD/dv. The question is about the slope s = dD/dx, which has no x in it for an active unit.", on=(LEFT,)),
        Wrong("the slope in place of its derivative", _d("[0.0,", "[v * w * on,"),
              "The first entry is s itself. How does s change when x moves a little?", on=(ACTIVE, LEFT)),
        Wrong("the inner derivative of the penalty", _d("2 * (v * w - 1) * v * on", "2 * (v * w - 1)"),
              "dP/dw has two factors: dP/ds, and then ds/dw.", on=(ACTIVE, LEFT)),
        Wrong("the 2 is missing", _d("2 * (v * w - 1) * v * on", "(v * w - 1) * v * on"),
              "The derivative of a square brings a factor 2.", on=(ACTIVE, LEFT)),
        Wrong("without the target", _d("2 * (v * w - 1) * v * on", "2 * v * w * on * v * on"),
              "The penalty pulls s towards 1, not towards 0.", on=(ACTIVE, LEFT)),
        Wrong("the penalty itself", _d("2 * (v * w - 1) * v * on", "(v * w * on - 1) ** 2"),
              "The last entry is P. The question is how P changes with w.", on=(ACTIVE, LEFT)),
    ),
    hints=Hints(
        "Write s as a formula, once for a unit that is active and once for one that is asleep.",
        "An active unit has s = v · w, in which x does not appear. So ds/dx is 0, while the derivatives with respect to w and v are not. "
        "For P use the chain rule.",
        "For D = v · (w·x)² the slope is s = 2·v·w²·x, so ds/dw = 4·v·w·x: again a derivative by x first and by a weight second.",
    ),
    reveal="∂²D/∂x² is 0, but ∂²D/∂x∂w is v and ∂²D/∂x∂v is w for an active unit. The penalty trains the weights through these.",
    fresh=lambda r: (
        lambda v, w: Fresh(
            f"D = v · relu(w·x) with v = {v}, w = {w} and x = 1. What is the derivative of dD/dx with respect to w?",
            v,
            wrong=((0, "dD/dx is v · w here."), (w, "That is the derivative with respect to v."), (v * w, "That is the slope itself.")),
        )
    )(r.randint(2, 5), r.randint(6, 9)),
)  # fmt: skip

EXERCISES = (EX_A, EX_B, EX_C, EX_D)
