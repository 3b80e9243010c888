"""Chapter 02, running your code builds the graph: its exercises."""

from __future__ import annotations

from ...words import plural
from .. import drivers
from ..exercise import Exercise, Fresh, Hints, Kind, Probe, Wrong, about, ask, but

EX_A = ask(
    "02.a",
    "The guilty line",
    Kind.PREDICT,
    points=0,
    minutes=2,
    level=1,
    text="The loss stops at 0.25, and w1 never moves. Which of the four numbered lines is to blame?",
    comment="The loss stops at 0.25, and w1 never moves. Which of the numbered lines is to blame?\n"
    "Replace None by its number.",
    answer=2,
    wrong=(
        ("the product", 1, "A product of w1 is exactly what it needs. What happens to the result afterwards?"),
        ("the difference", 3, "y arrives there. Is w1 still behind it?"),
        ("the square", 4, "A square passes gradients on, and w2 learns through it. Look further up."),
    ),
    hints=(
        "w2 learns and w1 does not. Which line treats the two differently?",
        "Each line makes a result of what stands in it. In one of them a result has lost all connection with where it came from.",
        "In `b = a * 3; c = int(b.data) + a` only the a of the sum would get a gradient through c.",
    ),
    reveal="float(h) is a plain Python number. It does not know that w1 had a part in it.",
    fresh=lambda r: (
        lambda k: Fresh(
            f"a requires a gradient, b = a * {k}, c = b + float(b). What is the gradient of c at a?",
            k,
            wrong=((2 * k, "float(b) is a constant."), (0, "b itself is still in the sum.")),
        )
    )(r.randint(12, 19)),
)

EX_A2 = ask(
    "02.a2",
    "How many nodes?",
    Kind.PREDICT,
    points=0,
    minutes=3,
    level=1,
    text="w and h are tensors with a graph. How many operations does each line record: 0, 1 or 2?",
    comment="w and h are tensors that require gradients. How many operations does each line record?\n"
    "Replace each None by 0, 1 or 2.",
    answer={"e = h": 0, "h = w * h": 1, "if h > 0: pass": 0, "y = h.data * w": 1, "y = w * h + w": 2, "y = math.sin(float(h))": 0},
    wrong=(
        ("a name is a node", {"e = h": 1}, "e = h computes nothing. It gives a second name to a tensor that is there already."),
        ("an old name", {"h = w * h": 0}, "The name is an old one, and the result is new: a product was computed."),
        ("a question is a node", {"if h > 0: pass": 1}, "The question is answered with yes or no, and no gradient goes through that."),
        ("data stops everything", {"y = h.data * w": 0}, "h.data has no graph, but w has, and the product is computed from w."),
        ("one line, one node", {"y = w * h + w": 1}, "Lines are not counted. Operations are, and here are a product and a sum."),
        ("math is recorded", {"y = math.sin(float(h))": 1}, "math.sin works on plain Python numbers. The engine never hears of it."),
    ),
    hints=(
        "Ask of each line what it computes, and whether a tensor with a graph is among what it computes from.",
        "Every operation on a tensor with a graph is one node. Names, questions and Python's own numbers are none.",
        "y = 3 * w records one node, and y = 3 * w.data none.",
    ),
    reveal="Each operation on a tensor with a graph is recorded, and nothing else is.",
    fresh=lambda r: (
        lambda n: Fresh(
            f"h = w; then {n} times h = w * h + w. How many operations are recorded?",
            2 * n,
            wrong=((n, "Each round has a product and a sum."), (2 * n + 1, "h = w is none.")),
        )
    )(r.randint(11, 19)),
)  # fmt: skip

EX_A3 = ask(
    "02.a3",
    "Before backward",
    Kind.PREDICT,
    points=0,
    minutes=2,
    level=1,
    text="x requires a gradient and y = x ** 2 was computed; backward has not run. What does x.grad hold?",
    comment="x requires a gradient, y = x ** 2 was computed, backward has not run.\nWhat does x.grad hold?\n"
    '  "a"  0.0        "b"  None        "c"  2 * x        "d"  reading it raises an error\nReplace None by the letter, in quotes.',
    answer="b",
    wrong=(
        ("zero", "a", "0 would say that a gradient was computed and is zero. Has anything been computed yet?"),
        ("already there", "c", "The forward pass only records. Gradients are computed when backward runs."),
        ("an error", "d", "Reading is allowed; there is just nothing there yet."),
    ),
    hints=(
        "What would you want to see if a parameter was forgotten and never got a gradient?",
        "Nothing is computed before backward runs, and a gradient that was never computed is not a number.",
        "A leaf that the loss does not depend on: after backward its gradient was never computed either, so it looks the same.",
    ),
    reveal="None: the gradient was never computed. It stays None if backward runs and y does not depend on x.",
    fresh=lambda r: Fresh(
        'After y.backward(), z is a leaf that y does not use. Does z.grad hold "0" or "None"? Answer with the text.',
        "None",
        wrong=(("0", "Nothing was computed for z."),),
    ),
)

# ---- 02.b: build to order ---------------------------------------------------------------------------------------------------------

# The parents of each node; two leaves, five operations, the last one is the result.
SHAPE: tuple[list[int], ...] = ([], [], [0, 1], [2], [2, 0], [4, 2], [5, 3])


def _looks(parents, kinds):
    """What a graph looks like when its nodes have no names: the same for two graphs of this size only if they have the same shape."""
    children = [[c for c, of in enumerate(parents) for p in of if p == n] for n in range(len(parents))]
    colours = [kind for kind in kinds]
    for _ in parents:
        around = [
            (sorted(str(colours[p]) for p in parents[n]), sorted(str(colours[c]) for c in children[n]))
            for n in range(len(parents))
        ]
        colours = [hash((str(colours[n]), str(around[n]))) for n in range(len(parents))]
    return sorted(colours)


def _the_shape(got, *_):
    """None when the graph has the drawn shape; otherwise the first difference that a person would notice."""
    if not isinstance(got, dict) or "parents" not in got:
        return "a value that was computed from p and q is needed"
    parents, kinds = got["parents"], got["kinds"]
    constants, leaves, operations = (kinds.count(kind) for kind in ("constant", "leaf", "operation"))
    if constants:
        return f"{constants} of its nodes hold{'s' * (constants == 1)} a plain number; the drawing has none"
    if leaves != 2:
        return "one of the two leaves is not in it" if leaves else "neither p nor q is in it"
    edges = sum(map(len, parents))
    if (operations, edges) != (5, 9):
        return f"it has {plural(operations, 'operation')} and {plural(edges, 'edge')}"
    wanted = ["leaf" if not of else "operation" for of in SHAPE]
    return (
        None
        if _looks(parents, kinds) == _looks(SHAPE, wanted)
        else "as many nodes and edges as the drawing, but joined in another way"
    )


def _count(kind):
    return lambda seen: (
        isinstance(seen.value("the shape"), dict) and seen.value("the shape").get("kinds", []).count(kind)
    )


STUB_B = '''\
def built(p, q):
    """A value whose graph has the drawn shape. p and q are Values; use any of + - * .sin() .exp() .tanh()"""
    return p * q
'''

SOLUTION_B = '''\
def built(p, q):
    """A value whose graph has the drawn shape. p and q are Values; use any of + - * .sin() .exp() .tanh()"""
    often = p * q
    wave = often.sin()
    left = often * p
    right = left * often
    return right * wave
'''


EX_B = Exercise(
    id="02.b",
    title="Build to order",
    kind=Kind.PUZZLE,
    points=2,
    minutes=8,
    difficulty=2,
    question="Write a program whose graph has the drawn shape. Which operations you choose does not matter; how they are joined does.",
    entry="built",
    stub=STUB_B,
    solution=SOLUTION_B,
    probes=(
        Probe(
            "the shape",
            (0.5, 0.7),
            None,
            drivers.shape_of,
            accept=_the_shape,
            draw=lambda r: (round(r.uniform(0.2, 0.9), 2), round(r.uniform(0.2, 0.9), 2)),
        ),
    ),
    bank=(
        Wrong(
            "the same thing computed again",
            but(SOLUTION_B, "often.sin()", "(p * q).sin()"),
            "There are too many operations. Each one that you write makes a node of its own, even when it computes the same number again: "
            "count those of the drawing, and give a name to a value that is used more than once.",
            when=lambda seen: _count("operation")(seen) > 5,
        ),
        Wrong(
            "nothing that was computed",
            but(SOLUTION_B, "    return right * wave", "    right * wave"),
            "Return one value, the last circle of the drawing. Everything else is in its graph already.",
            when=lambda seen: "parents" not in (seen.value("the shape") or ()) and not seen.error("the shape"),
        ),
        Wrong(
            "a leaf is missing",
            but(SOLUTION_B, "often = p * q", "often = p.sin()"),
            "p or q has no part in the result. Two arrows lead into the first operation.",
            when=lambda seen: _count("leaf")(seen) == 1,
        ),
        Wrong(
            "a plain number",
            but(SOLUTION_B, "often.sin()", "often * 2"),
            "A plain number becomes a node, too. Where the drawing has one arrow into an operation, use .sin(), .exp() or .tanh().",
            when=lambda seen: _count("constant")(seen) > 0,
        ),
        Wrong(
            "a new name is no operation",
            but(SOLUTION_B, "wave = often.sin()", "wave = often"),
            "There are too few operations. Only those that the result was made from are in its graph, and `b = a` makes no node: it only "
            "gives a second name to one that is there.",
            when=lambda seen: 0 < _count("operation")(seen) < 5 and _count("leaf")(seen) == 2,
        ),
        Wrong(
            "joined in another way",
            but(SOLUTION_B, "left = often * p", "left = often * q").replace("right = left * often", "right = left * p"),
            "The number of operations is right. Count the arrows that leave each node of the drawing: one of them is used three times.",
            when=lambda seen: _count("operation")(seen) == 5 and not _count("constant")(seen),
        ),
    ),
    hints=Hints(
        nudge="Start at the left and give every node of the drawing a name. Each node is one line of your program.",
        rule="An operation with two arrows into it takes two values, one with a single arrow is a method such as .sin(). "
        "A node with three arrows out of it is a name that three later lines use.",
        twin="Two leaves, one product, and a sum that uses the product twice: a = p * q, then return a + a.",
    ),
    reveal="One line for each operation, and a name wherever an arrow leaves. The graph is your program with the names left out.",
    fresh=lambda r: (
        lambda n: Fresh(
            f"a = p * q, and then a is added to itself {n} times: b = a + a, c = b + a, and so on. How many edges leave the node a?",
            n + 1,
            wrong=((n, "The first sum uses a twice."), (1, "Each use is an edge of its own.")),
        )
    )(r.randint(3, 8)),
)

# ---- 02.c: walk -------------------------------------------------------------------------------------------------------------------

STUB_C = '''\
def walk(y):
    """The names of all nodes of y's graph, as a list of texts, the root's first.

    node = y.grad_fn; node.name() is "MulBackward0" or the like; node.next_functions is a tuple of pairs (node, number).
    A node can be None: nothing is recorded there. List it under no name.
    """
    ...
'''

SOLUTION_C = """\
def walk(y):
    names, todo, seen = [], [y.grad_fn], set()
    while todo:
        node = todo.pop(0)
        if node is None or node in seen:
            continue
        seen.add(node)
        names.append(node.name())
        todo.extend(parent for parent, _ in node.next_functions)
    return names
"""


def _root_first_and_complete(got, leaves, steps):
    """None when `got` names every node of the program's graph once, the root first."""
    if not (isinstance(got, list) and all(isinstance(n, str) for n in got)):
        return "a list of texts is needed"
    wanted, todo, seen = [], [leaves + len(steps) - 1], set()
    while todo:
        node = todo.pop()
        if node not in seen:
            seen.add(node)
            op, *inputs = steps[node - leaves] if node >= leaves else ("AccumulateGrad",)
            wanted.append(
                {"times 3": "Mul", "plus 1": "Add"}.get(op, op.capitalize() if op != "AccumulateGrad" else op)
            )
            todo += inputs
    names = [n.rpartition("::")[2].removesuffix("Backward0") for n in got]
    if sorted(names) != sorted(wanted):
        count = f"{len(got)} names, and the graph has {len(wanted)} nodes"
        return count if set(names) <= set(wanted) else f"{count}; one of the names is of no node"
    return None if names[0] == wanted[0] else "the root must come first"


def _draw_program(shared):
    """A random program of five steps on two leaves, in which each step uses the one before it."""

    def draw(r):
        steps = []
        for n in range(2, 6):
            op = r.choice(["exp", "sin", "times 3", "plus 1", "add", "mul"]) if n > 2 else "mul"
            inputs = [n - 1, r.randrange(n) if n > 2 else 0] if op in ("add", "mul") else [n - 1]
            steps.append((op, *inputs))
        if shared:
            steps.append(("add", 5, r.randint(2, 4)))
        return 2, steps

    return draw


EX_C = Exercise(
    id="02.c",
    title="Walk the graph",
    kind=Kind.BUILD,
    points=3,
    minutes=10,
    difficulty=2,
    question="Write walk(y): the names of all nodes of y's backward graph, the root's first. It has to survive 100,000 nodes.",
    entry="walk",
    stub=STUB_C,
    solution=SOLUTION_C,
    probes=(
        Probe(
            "z = sin(x · y)",
            (2, [("dot", 0, 1), ("sin", 2)]),
            driver=drivers.walk_names,
            accept=_root_first_and_complete,
            draw=_draw_program(False),
        ),
        Probe(
            "c = 3x² + 1",
            (1, [("pow", 0), ("times 3", 1), ("plus 1", 2)]),
            driver=drivers.walk_names,
            accept=_root_first_and_complete,
            draw=lambda r: (1, [("pow", 0), *r.sample([("times 3", 1), ("exp", 1), ("sin", 1)], 1), ("plus 1", 2)]),
        ),
        Probe(
            "a value used twice",
            (1, [("exp", 0), ("times 3", 1), ("add", 2, 1)]),
            driver=drivers.walk_names,
            accept=_root_first_and_complete,
            draw=_draw_program(True),
        ),
        Probe(
            "a chain of 100,000 nodes",
            (100_000,),
            lambda n: {"names": n, "first": "Add0", "last": f"Add{n - 1}"},
            drivers.walk_chain,
            draw=lambda r: (100_000 - r.randrange(999),),
        ),
    ),
    bank=(
        Wrong(
            "recursion",
            """\
def walk(y):
    names, seen = [], set()

    def visit(node):
        if node is None or node in seen:
            return
        seen.add(node)
        names.append(node.name())
        for parent, _ in node.next_functions:
            visit(parent)

    visit(y.grad_fn)
    return names
""",
            "Python allows about a thousand calls inside each other, and this chain is deeper: keep a list of the nodes that are still to "
            "be visited, and a loop.",
            when=lambda seen: (
                seen.error("a chain of 100,000 nodes") == "RecursionError" and not seen.error("c = 3x² + 1")
            ),
        ),
        Wrong(
            "leaves left out",
            SOLUTION_C.replace(
                "        names.append(node.name())\n",
                '        if "Accumulate" not in node.name():\n            names.append(node.name())\n',
            ),
            "Leaves have no grad_fn, but they do have a node: the AccumulateGrad that receives their gradient. It belongs on the list.",
            on=("z = sin(x · y)",),
        ),
        Wrong(
            "only the first parent",
            SOLUTION_C.replace(
                "parent for parent, _ in node.next_functions", "parent for parent, _ in node.next_functions[:1]"
            ),
            "A node is missing. Follow all pairs of next_functions, not only the first; and two nodes may have the same name, so "
            "remember the nodes that you have seen, not their names.",
            on=("z = sin(x · y)",),
        ),
        Wrong(
            "one path",
            "def walk(y):\n    names, node = [], y.grad_fn\n    while node is not None:\n        names.append(node.name())\n"
            "        node = node.next_functions[0][0]\n    return names\n",
            "You go on to the first input of each node. A leaf's node has none, so there is no [0]; others have two. Visit all of them.",
            when=lambda seen: "tuple index out of range" in seen.message("z = sin(x · y)"),
        ),
        Wrong(
            "nodes twice",
            SOLUTION_C.replace("node is None or node in seen", "node is None"),
            "A node that feeds two others is met twice. Remember which nodes you have listed.",
            on=("a value used twice", "z = sin(x · y)"),
        ),
        Wrong(
            "does not expect None",
            SOLUTION_C.replace("node is None or node in seen", "node in seen"),
            "Where a plain number went in, next_functions holds None: there is nothing to visit. Skip it.",
            when=lambda seen: "'NoneType'" in seen.message("c = 3x² + 1"),
        ),
        Wrong(
            "pairs in the place of nodes",
            SOLUTION_C.replace("(parent for parent, _ in node.next_functions)", "(node.next_functions)"),
            "next_functions holds pairs (node, number). Put only the node on your list.",
            when=lambda seen: "'tuple'" in seen.message("z = sin(x · y)"),
        ),
        Wrong(
            "starts at the tensor",
            SOLUTION_C.replace("[y.grad_fn]", "[y]"),
            "y is a tensor. The node that made it, where the graph begins, is y.grad_fn.",
            when=lambda seen: "'Tensor'" in seen.message("z = sin(x · y)"),
        ),
        Wrong(
            "nodes in the place of names",
            SOLUTION_C.replace("append(node.name())", "append(node)"),
            "The list holds nodes, or their methods. Call .name() on each.",
            when=lambda seen: any(isinstance(n, dict) for n in seen.value("c = 3x² + 1")),
        ),
        Wrong(
            "None gets a name",
            SOLUTION_C.replace("if node is None or node in seen", "if node in seen")
            .replace("node.name()", "node.name() if node else 'None'")
            .replace("node.next_functions)", "(node.next_functions if node else ()))"),
            "Where a plain number went in, next_functions holds None. Nothing is recorded there: list it under no name.",
            when=lambda seen: "None" in seen.value("c = 3x² + 1"),
        ),
        Wrong(
            "other names",
            SOLUTION_C.replace("node.name()", "str(node)"),
            "The name of a node is what node.name() gives, unchanged.",
            when=lambda seen: not any(name.endswith("Backward0") for name in seen.value("c = 3x² + 1")),
        ),
        Wrong(
            "the root left out",
            SOLUTION_C.replace("[y.grad_fn]", "[parent for parent, _ in y.grad_fn.next_functions]"),
            "The root itself, y.grad_fn, is missing: begin there, not at what it leads to.",
            on=("z = sin(x · y)",),
        ),
        Wrong(
            "only the root",
            "def walk(y):\n    return [y.grad_fn.name()]\n",
            "That is the root. Its next_functions lead to the rest of the graph.",
            on=("z = sin(x · y)",),
        ),
        Wrong(
            "root last",
            SOLUTION_C.replace("return names", "return names[::-1]"),
            "The backward direction starts at the root: its name comes first.",
            on=("z = sin(x · y)",),
        ),
    ),
    hints=Hints(
        "Start a to-do list with y.grad_fn. What must be added to it each time you take a node off?",
        "Take a node off the list; skip None and what you have seen; note its name; put the first halves of its next_functions "
        "on the list.",
        "All folders below a folder: todo = [top]; while todo: f = todo.pop(0); found.append(f); todo.extend(f.iterdir()).",
    ),
    reveal="A queue and a set. The AccumulateGrad nodes at the ends are where .grad of the leaves gets filled.",
    fresh=lambda r: (
        lambda n: Fresh(
            f"w = x * x * ... * x with {n} factors, from one leaf x. How many nodes has the graph, the leaf's own included?",
            n,
            wrong=(
                (n - 1, "The leaf has an AccumulateGrad node."),
                (n + 1, "n factors need one product fewer than n."),
            ),
        )
    )(r.randint(5, 9)),
    reused=True,
)

STUB_D = '''\
class GraphCycleError(Exception):
    """A value was made from itself, by however long a way."""


def values_of(root):
    """All values that root was made from, and root itself, each once, in any order.

    Raises GraphCycleError if one of them was made from itself.
    """
    found, seen = [], set()

    def visit(v):
        if v in seen:
            return
        seen.add(v)
        found.append(v)
        for parent in v._prev:
            visit(parent)

    visit(root)
    return found
'''

SOLUTION_D = '''\
class GraphCycleError(Exception):
    """A value was made from itself, by however long a way."""


def values_of(root):
    found, seen, on_the_way = [], set(), set()

    def visit(v):
        if v in on_the_way:
            raise GraphCycleError("a value was made from itself")
        if v in seen:
            return
        seen.add(v)
        found.append(v)
        on_the_way.add(v)
        for parent in v._prev:
            visit(parent)
        on_the_way.remove(v)

    visit(root)
    return found
'''


def _draw_parents(r):
    """The parents of eight values, each made from one or two before it; the last one is made, step by step, from all of them."""
    return [[], *([n - 1] if r.random() < 0.4 else [n - 1, r.randrange(n)] for n in range(1, 8))]


def _draw_cycle(length):
    def draw(r):
        parents, end = _draw_parents(r), 7 if length else r.randint(2, 6)
        start = end if length == 1 else max(end - length + 1, 0) if length else 0
        parents[start] = [*parents[start], end]
        return (parents,)

    return draw


def _each_once(got, parents):
    """None when `got` is a list of all values, in any order."""
    there = isinstance(got, list) and all(type(n) is int for n in got) and sorted(got) == list(range(len(parents)))
    return None if there else "every value once is needed"


def _honest(name, parents):
    return Probe(name, (parents,), driver=drivers.values_found, accept=_each_once, draw=lambda r: (_draw_parents(r),))


def _cycle(name, parents):
    lengths = {"a value that is its own parent": 1, "a cycle of three": 3, "a cycle below the root": 0}
    return Probe(
        name, (parents,), driver=drivers.values_found, raises=("GraphCycleError",), draw=_draw_cycle(lengths[name])
    )


EX_D = Exercise(
    id="02.d",
    title="A value made from itself",
    kind=Kind.OPTIONAL,
    points=1,
    minutes=8,
    difficulty=2,
    question="values_of(root) silently accepts a cycle. Make it raise GraphCycleError, without refusing honest graphs.",
    entry="values_of",
    stub=STUB_D,
    solution=SOLUTION_D,
    ideas={"honest graphs": 0.4, "a direct cycle": 0.1, "longer cycles": 0.5},
    probes=(
        *about(
            "honest graphs",
            _honest("a chain", [[], [0], [1], [2]]),
            _honest("a value used twice is no cycle", [[], [], [0, 1], [0, 1], [2, 3]]),
        ),
        *about("a direct cycle", _cycle("a value that is its own parent", [[], [], [0, 1], [0, 1], [4, 2]])),
        *about(
            "longer cycles",
            _cycle("a cycle of three", [[4], [], [0, 1], [0, 1], [2, 3]]),
            _cycle("a cycle below the root", [[2], [], [0, 1], [0, 1], [2, 3]]),
        ),
    ),
    bank=(
        Wrong(
            "every second visit is a cycle",
            STUB_D.replace("            return\n", '            raise GraphCycleError("cycle")\n'),
            "A value that is used twice is met twice, and that is no cycle. A cycle is meeting a value whose own visit has not ended.",
            on=("a value used twice is no cycle",),
        ),
        Wrong(
            "only direct cycles",
            STUB_D.replace(
                "            visit(parent)",
                '            if parent is v:\n                raise GraphCycleError("cycle")\n            visit(parent)',
            ),
            "That finds a value among its own parents. A cycle can also be longer: remember every value that you are still inside of.",
            on=("a value that is its own parent", "a cycle of three"),
        ),
        Wrong(
            "only cycles through the root",
            STUB_D.replace(
                "            visit(parent)",
                '            if parent is root:\n                raise GraphCycleError("cycle")\n            visit(parent)',
            ),
            "A cycle need not pass through the root: remember every value that you are still inside of.",
            on=("a cycle of three", "a cycle below the root"),
        ),
        Wrong(
            "asks the wrong set first",
            SOLUTION_D.replace(
                """\
        if v in on_the_way:
            raise GraphCycleError("a value was made from itself")
        if v in seen:
            return
""",
                """\
        if v in seen:
            return
        if v in on_the_way:
            raise GraphCycleError("a value was made from itself")
""",
            ),
            "No cycle is noticed. When a cycle closes, the value has been seen already, so a return for seen values comes too early; and "
            "the error has to be raised, not returned.",
            when=lambda seen: (
                not any(
                    map(seen.error, ("a value that is its own parent", "a cycle of three", "a cycle below the root"))
                )
                and len(set(seen.value("a chain"))) == len(seen.value("a chain"))
            ),
        ),
        Wrong(
            "visits again",
            SOLUTION_D.replace("        if v in seen:\n            return\n", ""),
            "The cycles are found. A value that is used twice is in the list twice, though: return at once if it has been visited.",
            when=lambda seen: (
                len(set(seen.value("a value used twice is no cycle")))
                < len(seen.value("a value used twice is no cycle"))
                and seen.error("a cycle of three") == "GraphCycleError"
            ),
        ),
        Wrong(
            "no memory at all",
            STUB_D.replace("        seen.add(v)\n", ""),
            "Without a memory the walk goes round and round until Python's stack is full. Notice the cycle and say so.",
            when=lambda seen: seen.error("a cycle of three") == "RecursionError",
        ),
        Wrong(
            "another error",
            SOLUTION_D.replace("raise GraphCycleError(", "raise ValueError("),
            "The cycle is found. Raise GraphCycleError, so that callers can tell it from other mistakes.",
            when=lambda seen: seen.error("a cycle of three") not in ("", "GraphCycleError", "RecursionError"),
        ),
    ),
    hints=Hints(
        "When you meet a value again: has its visit ended, or are you still inside it?",
        "Keep two sets: values that were met, and values whose visit has begun and not ended. Meeting one of the second kind "
        "closes a cycle.",
        "Files that include each other: a.h includes b.h includes a.h. Keep the files that are open at the moment; opening one "
        "of them again is the cycle.",
    ),
    reveal='seen answers "was here before", on_the_way answers "am I still inside it". Only the second means a cycle.',
    fresh=lambda r: (
        lambda n: Fresh(
            f"A ring of {n} values, each made from the next. How many orders put every value after its parents?",
            0,
            wrong=((n, "Start anywhere: the first value needs one that comes later."),),
        )
    )(r.randint(3, 9)),
)

EXERCISES = (EX_A, EX_A2, EX_A3, EX_B, EX_C, EX_D)
