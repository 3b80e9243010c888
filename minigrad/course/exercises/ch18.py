"""Chapter 18, instruments: its exercises."""

from __future__ import annotations

import math
from functools import partial

from .. import drivers
from ..exercise import Exercise, Fresh, Hints, Kind, Probe, Wrong, ask, but

EX_A = ask(
    "18.a",
    "The first nan",
    Kind.PREDICT,
    minutes=3,
    level=2,
    points=0,
    text="x = 0: a = log(x), b = a * x, c = b + 1, loss = c * 2. Which of the four is the first to hold a nan?",
    comment="x = 0: a = log(x), b = a * x, c = b + 1, loss = c * 2.\nWhich is the first to hold a nan? Replace None by its name, "
    "in quotes.",
    answer="b",
    wrong=(
        ("the log", "a", "log(0) is minus infinity, which is a legal floating-point value, and no nan yet."),
        ("the loss", "loss", "The loss is nan as well, but it was made from something that was nan before."),
        ("the sum", "c", "c is made from one number that is nan already: nan + 1 is nan."),
        ("the input", "x", "x is 0, an ordinary number. Compute the four in order."),
    ),
    hints=(
        "Compute the four by hand, in order. What is log(0)?",
        "inf is no nan. inf − inf, 0 · inf and 0 / 0 make one.",
        "p = exp(800) is inf; q = p − p is the first nan; q + 1 only passes it on.",
    ),
    reveal="a is −inf; b = −inf · 0 is nan.",
    fresh=lambda r: Fresh(
        "p = exp(1000.) (a tensor), q = 1 / p, r = p * q. Which one is the first nan?",
        "r",
        wrong=(("p", "That is inf."), ("q", "1 / inf is 0.")),
    ),
)

# ---- 18.b: watch the layers ---------------------------------------------------------------------------------------------------------

FLAT = '''\
import minigrad as torch
from minigrad import nn


def flat(layer, y):
    """The fraction of the outputs y at which a ReLU or tanh hardly reacts to its input; 0 for other layers."""
    if isinstance(layer, nn.ReLU):
        return (y == 0).float().mean().item()
    if isinstance(layer, nn.Tanh):
        return (y.abs() > 0.97).float().mean().item()
    return 0.0


'''

STUB_B = (
    FLAT
    + '''\
class watch:
    """`with watch(model) as seen:` notes, every time a layer runs, (mean, std, flat) of its output, as plain numbers.

    seen is a dict: the name of each layer, as in model.named_modules(), and a list with one entry for each run.
    A layer is a module without children. After the block none of your hooks is left, even if an error ended it.
    """

    def __init__(self, model):
        ...

    def __enter__(self):
        ...                            # what this returns is what follows "as"

    def __exit__(self, *error):
        ...                            # runs when the block ends, with or without an error
'''
)

SOLUTION_B = (
    FLAT
    + '''\
class watch:
    """`with watch(model) as seen:` notes, every time a layer runs, (mean, std, flat) of its output, as plain numbers."""

    def __init__(self, model):
        self.model, self.seen, self.handles = model, {}, []

    def listener(self, name):
        rows = self.seen[name] = []

        def hook(layer, inputs, y):
            rows.append((y.mean().item(), y.std().item(), flat(layer, y)))

        return hook

    def __enter__(self):
        for name, layer in self.model.named_modules():
            if not list(layer.children()):
                self.handles.append(layer.register_forward_hook(self.listener(name)))
        return self.seen

    def __exit__(self, *error):
        for handle in self.handles:
            handle.remove()
'''
)

_b = partial(but, SOLUTION_B)
LISTENER = SOLUTION_B[SOLUTION_B.index("    def listener") : SOLUTION_B.index("    def __enter__")]
LATE = (
    "                self.seen[name] = []\n"
    "                self.handles.append(layer.register_forward_hook(\n"
    "                    lambda layer, inputs, y: self.seen[name].append((y.mean().item(), y.std().item(), flat(layer, y)))))\n"
)
LAYERS = ("0", "1", "2.0", "2.1")


def _rows_by_hand(rows):
    """What watch should note for drivers.watched_model on these rows, in plain Python."""

    def linear(weight, bias, xs):
        return [
            [sum(w * x for w, x in zip(row, x_s, strict=True)) + b for row, b in zip(weight, bias, strict=True)]
            for x_s in xs
        ]

    def noted(ys, is_flat):
        flat = [y for row in ys for y in row]
        mean = sum(flat) / len(flat)
        return [
            mean,
            math.sqrt(sum((y - mean) ** 2 for y in flat) / (len(flat) - 1)),
            sum(map(is_flat, flat)) / len(flat),
        ]

    (w1, b1), (w2, b2) = drivers.WATCHED_WEIGHTS
    z1 = linear(w1, b1, rows)
    h = [[max(z, 0.0) for z in row] for row in z1]
    z2 = linear(w2, b2, h)
    y = [[math.tanh(z) for z in row] for row in z2]
    never = lambda y: False  # noqa: E731
    return dict(
        zip(
            LAYERS,
            (noted(z1, never), noted(h, lambda y: y == 0), noted(z2, never), noted(y, lambda y: abs(y) > 0.97)),
            strict=True,
        )
    )


def _draw_rows(r):
    return ([[round(r.uniform(-2, 2), 1), round(r.uniform(-2, 2), 1)] for _ in range(5)],)


ROWS = [[1.5, -0.5], [-1.0, 2.0], [0.5, 0.5], [-2.0, -1.0], [1.0, 1.5]]

EX_B = Exercise(
    id="18.b",
    title="Watch every layer",
    kind=Kind.BUILD,
    points=3,
    minutes=10,
    difficulty=2,
    question="Write watch(model): inside the block it notes what every layer puts out, and afterwards no hook is left.",
    entry="watch",
    stub=STUB_B,
    solution=SOLUTION_B,
    probes=(
        Probe("one run", (ROWS,), _rows_by_hand, drivers.watched_once, 2.0, rtol=2e-4, draw=_draw_rows),
        Probe(
            "two runs",
            (ROWS,),
            {
                "names": list(LAYERS),
                "entries": [2, 2, 2, 2],
                "the second differs": True,
                "the last entry is the last run's": True,
            },
            drivers.watched_twice,
            draw=_draw_rows,
        ),
        Probe(
            "the model computes what it did before",
            (ROWS,),
            {"same output": True, "gradients arrive": True},
            drivers.watched_output,
            draw=_draw_rows,
        ),
        Probe("plain numbers", (ROWS,), {"all of them are floats": True}, drivers.watched_types, draw=_draw_rows),
        Probe(
            "after the block", (ROWS,), {"entries added": 0, "hooks left": 0}, drivers.watched_after, draw=_draw_rows
        ),
        Probe(
            "after an error in the block",
            (ROWS,),
            {"the error gets through": True, "hooks left": 0},
            drivers.watched_error,
            draw=_draw_rows,
        ),
    ),
    bank=(
        Wrong(
            "one name for all",
            but(
                _b(LISTENER, ""),
                "                self.handles.append(layer.register_forward_hook(self.listener(name)))\n",
                LATE,
            ),
            "All entries land under the last name. A function that is defined in a loop looks up `name` when it runs, and by then the loop "
            "is over. Make each hook in a function of its own that takes the name.",
            when=lambda seen: (
                isinstance(seen.value("one run"), dict)
                and [len(v) for v in seen.value("one run").values()] == [0, 0, 0, 4]
            ),
        ),
        Wrong(
            "containers as well",
            _b(
                "            if not list(layer.children()):\n                self",
                "            if True:\n                self",
            ),
            "The model itself and the Sequential inside it are modules as well. Only those without children are layers.",
            when=lambda seen: (
                isinstance(seen.value("two runs"), dict) and "" in (seen.value("two runs").get("names") or ())
            ),
        ),
        Wrong(
            "nothing removed",
            _b("            handle.remove()", "            pass"),
            "Your hooks are still there after the block, so the next run is noted again, and a second watch adds a second set. Keep "
            "every handle, and remove it at the end.",
            on=("after the block", "after an error in the block"),
        ),
        Wrong(
            "not removed after an error",
            _b(
                "        for handle in self.handles:", "        for handle in self.handles if error[0] is None else ():"
            ),
            "When the block ends with an error, your hooks stay. __exit__ runs in that case as well: remove them there, whatever its "
            "arguments are.",
            when=lambda seen: (
                not seen.error("after an error in the block")
                and isinstance(seen.value("after the block"), dict)
                and seen.value("after the block").get("hooks left") == 0
                and isinstance(seen.value("after an error in the block"), dict)
                and seen.value("after an error in the block").get("hooks left") != 0
            ),
        ),
        Wrong(
            "swallows the error",
            SOLUTION_B + "        return True\n",
            "An __exit__ that returns True swallows the error of the block: the program continues as if nothing had happened. Return "
            "nothing.",
            when=lambda seen: (
                isinstance(seen.value("after an error in the block"), dict)
                and seen.value("after an error in the block").get("the error gets through") is False
            ),
        ),
        Wrong(
            "tensors are kept",
            _b("(y.mean().item(), y.std().item(), flat(layer, y))", "(y.mean(), y.std(), flat(layer, y))"),
            "Your entries are tensors, and each of them keeps the graph of its run in memory: .item() makes plain numbers of them.",
            on=("plain numbers",),
        ),
        Wrong(
            "only the last run",
            _b(
                "            rows.append((y.mean().item(), y.std().item(), flat(layer, y)))",
                "            rows[:] = [(y.mean().item(), y.std().item(), flat(layer, y))]",
            ),
            "The second run has replaced the first. Every run adds an entry to the layer's list.",
            when=lambda seen: (
                isinstance(seen.value("two runs"), dict) and seen.value("two runs").get("entries") == [1, 1, 1, 1]
            ),
        ),
        Wrong(
            "the input",
            _b(
                "y.mean().item(), y.std().item(), flat(layer, y)",
                "inputs[0].mean().item(), inputs[0].std().item(), flat(layer, inputs[0])",
            ),
            "These are the numbers of what goes into each layer. What comes out is the hook's third argument.",
            on=("one run",),
        ),
        Wrong(
            "the output is replaced",
            _b("flat(layer, y)))\n", "flat(layer, y)))\n            return y * 0\n"),
            "What a forward hook returns takes the place of the layer's output. Let it return nothing.",
            when=lambda seen: (
                isinstance(seen.value("the model computes what it did before"), dict)
                and seen.value("the model computes what it did before").get("same output") is False
            ),
        ),
        Wrong(
            "the output is detached",
            _b("flat(layer, y)))\n", "flat(layer, y)))\n            return y.detach()\n"),
            "What a forward hook returns takes the place of the layer's output, and yours has no graph, so nothing can be trained through "
            "it. Let the hook return nothing.",
            when=lambda seen: seen.error("the model computes what it did before") == "RuntimeError",
        ),
        Wrong(
            "only the outermost layers",
            _b("self.model.named_modules()", "self.model.named_children()"),
            "named_children() lists one level only, and the layers inside a Sequential inside the model are missing. named_modules() goes "
            "all the way down.",
            when=lambda seen: (
                isinstance(seen.value("two runs"), dict)
                and bool(names := seen.value("two runs").get("names"))
                and not any("." in name for name in names)
                and "" not in names
            ),
        ),
        Wrong(
            "hooks are left",
            _b("        for handle in self.handles:\n            handle.remove()", "        self.handles[-1].remove()"),
            "Some of your hooks are left after the block. Every register_forward_hook gives a handle: keep all of them, remove each.",
            when=lambda seen: 0 < ((seen.value("after the block") or {}).get("hooks left") or 0),
        ),
    ),
    hints=Hints(
        "What does register_forward_hook give back, and where can __exit__ find it?",
        "In __enter__ go through model.named_modules(), register a hook on each module without children, and keep the handles. The hook "
        "for a name comes from a function that takes the name. In __exit__ remove every handle.",
        "For one layer only: handle = model[0].register_forward_hook(note), where note(layer, inputs, y) appends y.max().item() to a list; "
        "run the model; handle.remove().",
    ),
    reveal="One function makes the hook for one name, because a function made in the loop itself would see only the loop's last name. "
    "Plain numbers do not keep the graph in memory, and __exit__ runs in any case.",
    fresh=lambda r: (
        lambda n, k: Fresh(
            f"A model has {n} layers in one Sequential. It runs {k} times under `with watch(model) as seen`. How many entries has seen?",
            n * k,
            wrong=(
                ((n + 1) * k, "The Sequential has children, so it is not a layer."),
                (n, "Each run adds an entry to each list."),
            ),
        )
    )(r.randint(3, 6), r.randint(2, 5)),
)

# ---- 18.c: anomaly mode for the learner's own engine -------------------------------------------------------------------------------

STUB_C = '''\
def anomaly(root):
    """Run the backward pass from root, and stop at the first rule that makes a nan.

    Returns the value whose _backward() added a nan to one of its parents, or None if no rule did. What runs before
    it must add up as usual. inf is not reported, and neither is a sum: inf from one rule and -inf from another.

    Each value has .grad (0.0 so far), ._prev and ._backward(), as in chapter 5.
    """
    ...  # begin with your own backward
'''

SOLUTION_C = """\
def anomaly(root):
    order, seen = [], set()

    def visit(v):
        if v not in seen:
            seen.add(v)
            for p in v._prev:
                visit(p)
            order.append(v)

    visit(root)
    root.grad = 1.0
    for v in reversed(order):
        before = {p: p.grad for p in v._prev}
        for p in before:
            p.grad = 0.0
        v._backward()
        if any(p.grad != p.grad for p in before):
            return v
        for p, g in before.items():
            p.grad += g
    return None
"""

_c = partial(but, SOLUTION_C)
_SET_ASIDE = "        before = {p: p.grad for p in v._prev}\n        for p in before:\n            p.grad = 0.0\n"
_ADD_BACK = "        for p, g in before.items():\n            p.grad += g\n"
INF = math.inf
ZERO_TIMES_INF = [["w", [], []], ["b", ["w"], [3.0]], ["a", ["b"], [INF]], ["y", ["a"], [0.0]]]
ONLY_INF = [["w", [], []], ["b", ["w"], [3.0]], ["a", ["b"], [INF]], ["y", ["a"], [2.0]]]
MEET_AT_LEAF = [["w", [], []], ["a", ["w"], [INF]], ["b", ["w"], [-INF]], ["y", ["a", "b"], [1.0, 1.0]]]
MEET = [["w", [], []], ["m", ["w"], [2.0]], ["a", ["m"], [INF]], ["b", ["m"], [-INF]], ["y", ["a", "b"], [1.0, 1.0]]]
TWO_NANS = [["w", [], []], ["c", ["w"], [INF]], ["b", ["c"], [0.0]], ["a", ["b"], [INF]], ["y", ["a"], [0.0]]]


def _diamond_of(p, q, r, s, t):
    return [["x", [], []], ["c", ["x"], [s]], ["d", ["x", "c"], [t, r]], ["y", ["c", "d"], [p, q]]]


def _product_of(k, a, b):
    return [["x", [], []], ["v", ["x", "x"], [a, b]], ["y", ["x", "v"], [5.0, k]]]


def _clean(nodes):
    """The gradient at the leaf: the sum over all paths of the product of their derivatives."""
    by_name = {name: (parents, slopes) for name, parents, slopes in nodes}
    leaf = nodes[0][0]

    def paths(name):
        if name == leaf:
            return 1.0
        parents, slopes = by_name[name]
        return sum(slope * paths(parent) for parent, slope in zip(parents, slopes, strict=True))

    return {"returned": "None", "at the leaf": paths(nodes[-1][0])}


def _named(node, *ran):
    return {"returned": node, "ran": sorted(ran)}


def _some(r, n):
    return [float(k) for k in r.sample([2, 3, 4, 5, 6, 7], n)]


def _with_slope(nodes, name):
    """The same graph, with another ordinary derivative at one node."""
    return lambda r: ([[n, ps, [float(r.randint(2, 9))] if n == name else ls] for n, ps, ls in nodes],)


_DIAMOND, _PRODUCT, _ZERO_INF = "a diamond without nan", "one parent twice, without nan", "0 times infinity"

EX_C = Exercise(
    id="18.c",
    title="Anomaly mode for your engine",
    kind=Kind.BUILD,
    points=3,
    minutes=10,
    difficulty=3,
    question="Write a backward pass that checks every rule and stops at the first one that makes a nan.",
    entry="anomaly",
    stub=STUB_C,
    solution=SOLUTION_C,
    probes=(
        Probe(
            _DIAMOND,
            (_diamond_of(2.0, 3.0, 4.0, 5.0, 6.0),),
            _clean,
            drivers.anomaly_clean,
            draw=lambda r: (_diamond_of(*_some(r, 5)),),
        ),
        Probe(
            _PRODUCT,
            (_product_of(2.0, 3.0, 4.0),),
            _clean,
            drivers.anomaly_clean,
            draw=lambda r: (_product_of(*_some(r, 3)),),
        ),
        Probe(
            _ZERO_INF,
            (ZERO_TIMES_INF,),
            _named("a", "y", "a"),
            drivers.anomaly_named,
            2.0,
            draw=_with_slope(ZERO_TIMES_INF, "b"),
        ),
        Probe("two rules make a nan", (TWO_NANS,), _named("a", "y", "a"), drivers.anomaly_named),
        Probe(
            "infinity only",
            (ONLY_INF,),
            _named("None", "y", "a", "b"),
            drivers.anomaly_named,
            draw=_with_slope(ONLY_INF, "b"),
        ),
        Probe(
            "inf and -inf meet at a leaf", (MEET_AT_LEAF,), _named("None", "y", "a", "b"), drivers.anomaly_named, 2.0
        ),
        Probe(
            "inf and -inf meet on the way",
            (MEET,),
            _named("m", "y", "a", "b", "m"),
            drivers.anomaly_named,
            draw=_with_slope(MEET, "m"),
        ),
    ),
    bank=(
        Wrong(
            "the sum is tested",
            _c(_SET_ASIDE, "").replace(_ADD_BACK, "").replace("for p in before", "for p in v._prev"),
            "You test what has added up in the parents. inf from one rule and −inf from another make a nan there, though both rules are "
            "fine. "
            "Look at what this one rule adds.",
            when=lambda seen: (
                isinstance(seen.value("inf and -inf meet at a leaf"), dict)
                and seen.value("inf and -inf meet at a leaf").get("returned") in ("a", "b")
                and (seen.value("infinity only") or {}).get("returned") == "None"
            ),
        ),
        Wrong(
            "inf is reported",
            _c("p.grad != p.grad", "p.grad - p.grad != 0"),
            "An infinite gradient is reported as well. inf is a legal value; only nan differs from itself.",
            on=("infinity only", _DIAMOND),
        ),
        Wrong(
            "the value's own gradient is tested",
            _c("any(p.grad != p.grad for p in before)", "v.grad != v.grad"),
            "That names the value that received the nan. The rule that made it belongs to the value that ran just before: test what a "
            "rule passes on, right after it has run, and return the value whose rule it is.",
            when=lambda seen: (seen.value(_ZERO_INF) or {}).get("returned") == "b",
        ),
        Wrong(
            "compared with nan",
            _c("p.grad != p.grad", 'p.grad == float("nan")'),
            "nan is equal to nothing, not even to itself, so a comparison with == nan is never true. Ask whether a number differs from "
            "itself.",
            when=lambda seen: (
                (seen.value(_ZERO_INF) or {}).get("returned") == "None"
                and (seen.value(_DIAMOND) or {}).get("returned") == "None"
            ),
        ),
        Wrong(
            "does not stop",
            _c("            return v\n", "            found.append(v)\n")
            .replace("    return None", "    return found[0] if found else None")
            .replace("    root.grad = 1.0\n", "    root.grad, found = 1.0, []\n"),
            "The right value is named, but another rule ran before you returned. Either the pass runs on after the first nan, or it does "
            "not take each value after everything that uses it.",
            when=lambda seen: (
                (seen.value(_ZERO_INF) or {}).get("returned") == "a"
                and "b" in (seen.value(_ZERO_INF) or {}).get("ran", ())
            ),
        ),
        Wrong(
            "earlier contributions are lost",
            _c(_ADD_BACK, ""),
            "You set the parents' gradients to 0 to see what one rule adds. What they held before has to be added again afterwards.",
            on=(_DIAMOND,),
        ),
        Wrong(
            "added back twice",
            _c("{p: p.grad for p in v._prev}", "[(p, p.grad) for p in v._prev]")
            .replace("for p in before:", "for p, _ in before:")
            .replace("for p in before)", "for p, _ in before)")
            .replace("before.items()", "before"),
            "For x·x both parents are the same value. What it held before may be added back only once.",
            on=(_PRODUCT,),
        ),
        Wrong(
            "no seed",
            _c("    root.grad = 1.0\n", ""),
            "The root's gradient is still 0, so nothing but zeros flows back: a backward pass starts with 1.",
            on=(_DIAMOND, _PRODUCT),
        ),
        Wrong(
            "the name is returned",
            _c("            return v\n", "            return v._op\n"),
            "That is the name of the operation. Return the value itself, so that its data and its parents can be looked at.",
            when=lambda seen: (seen.value(_ZERO_INF) or {}).get("returned") == "a text",
        ),
        Wrong(
            "something else is returned",
            _c("            return v\n", "            return True\n"),
            "What came back is not a value of the graph. Return v, the value itself whose rule has just run.",
            when=lambda seen: (seen.value(_ZERO_INF) or {}).get("returned") not in (None, "None", *"wbay"),
        ),
        Wrong(
            "a value although nothing is wrong",
            _c("    return None\n", "    return root\n"),
            "A value is returned although no rule made a nan. At the end of a clean pass the answer is None; and all() of nothing is True.",
            when=lambda seen: (seen.value(_DIAMOND) or {}).get("returned") not in (None, "None"),
        ),
    ),
    hints=Hints(
        "A rule adds to what is already there. How can you see what this one rule adds, and nothing else?",
        "Before a value's _backward() note each parent's gradient and set it to 0. Afterwards the parent holds what this rule made: "
        "test it, "
        "then add the noted number. If a value is a parent twice, as in x·x, note it only once.",
        "To see what f() adds to a list of counters: before = counters[:], then counters[:] = [0] * n, then f(). Now counters holds what "
        "f added. Add before to it again.",
    ),
    reveal="The gradients of the parents are set aside, so what is there after the rule has run was added by this rule alone. x != x is "
    "true for nan only. A dict holds each parent once, even if it is used twice.",
    fresh=lambda r: (
        lambda k: Fresh(
            f"y → a has slope {k}, a → b has slope inf, b → w has slope 0. Which value's rule makes the first nan: y, a or b?",
            "b",
            wrong=(("a", f"{k} times inf is inf, and inf is no nan."), ("w", "w receives it. Whose rule made it?")),
        )
    )(r.randint(2, 9)),
)

EXERCISES = (EX_A, EX_B, EX_C)
