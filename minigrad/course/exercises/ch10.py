"""Chapter 10, controlling the graph: its exercises."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from .. import drivers
from ..exercise import Exercise, Fresh, Hints, Kind, Probe, Seen, Wrong, ask, but

# ---- 10.a: which edit ---------------------------------------------------------------------------------------------------------------

EX_A = ask(
    "10.a",
    "Which edit?",
    Kind.PREDICT,
    points=0,
    minutes=3,
    level=2,
    text="Which of the four edits lets the loop run, with six nodes behind the loss of each step?",
    choices=("retain_graph", "detach", "no_grad", "clone"),
    comment="Which edit lets the loop run, with six nodes behind the loss of every step?\n"
    '  "retain_graph"  loss.backward(retain_graph=True)\n'
    '  "detach"        h = h.detach(), after backward\n'
    '  "no_grad"       h, loss = read(h, 1.0) under torch.no_grad()\n'
    '  "clone"         h = h.clone(), after backward\n'
    "Replace None by a name, in quotes.",
    answer="detach",
    wrong=(
        ("the advice", "retain_graph", "The error is gone with it. But what is behind h in the third step?"),
        ("nothing recorded", "no_grad", "Then this step has no graph at all. Where would its own gradient come from?"),
        ("a copy", "clone", "A clone is computed from the original, so its history goes on through it."),
    ),
    hints=(
        "h has to keep its number. What else does it bring along into the next step?",
        "The graph of a step should end where the step began. Which edit leaves h without a past, and the step's own graph alone?",
        "In a game that is scored move by move, the board is needed for the next move, and the list of earlier moves is not.",
    ),
    reveal="detach gives the same number without its history. The others keep the history, or record nothing.",
    fresh=lambda r: (
        lambda k, m: Fresh(
            f"A step records {m} nodes, and h is detached after every {k} steps. How many nodes are behind a loss at most?",
            k * m,
            wrong=(
                (m, "The history goes back to the last detach."),
                (k * m + m, "At a detach the count begins again."),
            ),
        )
    )(r.randint(4, 9), r.randint(11, 19)),
)

# ---- 10.a2: a stray detach ----------------------------------------------------------------------------------------------------------

EX_A2 = ask(
    "10.a2",
    "One factor detached",
    Kind.PREDICT,
    points=0,
    minutes=3,
    level=2,
    text="x = 3 and y = x². (y * y).backward() leaves 108 in x.grad. What does (y * y.detach()).backward() leave in a fresh x.grad?",
    comment="x = 3 and y = x². (y * y).backward() leaves 108 in x.grad.\n"
    'What does (y * y.detach()).backward() leave in a fresh x.grad? A number, "None" or "error".',
    answer=54,
    wrong=(
        ("no difference", 108, "y.detach() has the same value as y, but backward treats it as a constant."),
        ("an error", "error", "The other factor still has its graph, so backward has somewhere to go."),
        (
            "nothing arrives",
            "None",
            "Only one of the two factors is detached. The gradient still reaches x through the other one.",
        ),
        (
            "the detached factor is lost",
            6,
            "The detached factor passes no gradient back, but it still multiplies the one that y gets.",
        ),
        ("the gradient at y", 9, "That is the gradient at y. One more step leads back to x, through x²."),
        ("zero", 0, "Only one of the two factors is detached. The gradient still reaches x through the other one."),
    ),
    hints=(
        "Write down what backward sees: one factor is a plain number. Which one, and how large is it?",
        "With c for the detached number, the program is c · x². Differentiate that, and only then put in c.",
        "x = 5 and y = 2x: y · y.detach() counts as 10 · 2x, so x.grad is 20, where y · y would give 40.",
    ),
    reveal="Backward sees 9 · x², whose derivative is 18x = 54. That is half of the true gradient, and nothing raises an error.",
    fresh=lambda r: (
        lambda a: Fresh(
            f"a = {a}; y = a · a.detach(); y.backward(). What is a.grad?",
            a,
            wrong=((2 * a, "One factor is a constant."),),
        )
    )(r.randint(3, 9)),
)

# ---- 10.b: which tool ---------------------------------------------------------------------------------------------------------------

PIECES = {  # what the learner names -> (tool, a word on any other tool)
    "1, the update": (
        "no_grad",
        "Piece 1: w has to be written to without being recorded. The tool is put in front of a stretch of code.",
    ),
    "2, the generator": (
        "detach",
        "Piece 2: fake is used twice, and one of the two uses must not send a gradient back.",
    ),
    "3, the body": (
        "freeze",
        "Piece 3: the parameters of body must stay as they are, but the gradient still has to get through body.",
    ),
    "4, two losses": (
        "retain_graph",
        "Piece 4: the second call needs what the first one would free. The tool is an argument of backward.",
    ),
    "5, the log": (
        "item",
        "Piece 5: only the number is printed. As long as total has a graph, every batch of the epoch stays in memory.",
    ),
    "6, validation": ("eval", "Piece 6: the score must not change from call to call. Which tool is about dropout?"),
    "7, a long text": ("detach", "Piece 7: the number in h is still needed, its history is not."),
    "8, the teacher": ("no_grad", "Piece 8: no line inside this block should be recorded."),
}
COMMENT_B = """\
Eight pieces of code, each with a gap ▢. Which tool belongs there? Use each as often as you like:
"no_grad", "detach", "freeze", "retain_graph", "item", "eval"

1   ▢: w -= lr * w.grad
2   fake = G(z); loss_D = D(fake ▢) - D(real); loss_G = -D(fake)
3   body ▢; y = head(body(adapter(x)))      (adapter and head train, body must not change)
4   loss_1.backward(▢); loss_2.backward()    (both were computed from the same h)
5   for x, y in batches: total += loss(x, y) ▢    (total is printed after the epoch)
6   model ▢; score = accuracy(model, data)    (the model has dropout)
7   loss.backward(); h = h ▢                 (the next piece of the text continues from h)
8   ▢: target = teacher(x)                  (used in the student's loss)"""

EX_B = ask(
    "10.b",
    "Which tool?",
    Kind.WARM_UP,
    points=2,
    minutes=6,
    level=2,
    text="Eight pieces of code have a gap each. Which tool belongs there?",
    comment=COMMENT_B,
    answer={name: tool for name, (tool, _) in PIECES.items()},
    also={"5, the log": ("detach",)},
    wrong=(
        ("no_grad for the generator", {"2, the generator": "no_grad"},
         "Piece 2: under no_grad, fake would have no graph at all, and loss_G could not train the generator. Only one use may be cut off."),
        ("freezing for the generator", {"2, the generator": "freeze"},
         "Piece 2: a frozen generator could not learn from loss_G. Only this one use of fake must carry no gradient."),
        ("detach for the body", {"3, the body": "detach"},
         "Piece 3: what is detached passes no gradient on, so the adapter below would learn nothing. Stop only the updates of body."),
        ("no_grad for the body", {"3, the body": "no_grad"},
         "Piece 3: under no_grad no gradient would get through body, so the adapter below would learn nothing. Stop only its updates."),
        ("eval for the body", {"3, the body": "eval"},
         "Piece 3: eval changes what dropout and batch norm compute. The parameters of body would still be trained."),
        ("detach for the update", {"1, the update": "detach"},
         "Piece 1: autograd forbids writing to a leaf while it records. A whole line has to go unrecorded, not one tensor."),
        ("retain_graph for a long text", {"7, a long text": "retain_graph"},
         "Piece 7: that silences the error, and the graph grows with every piece of the text, as at the beginning of this chapter."),
        ("item for a long text", {"7, a long text": "item"},
         "Piece 7: the next piece computes with h, so it has to stay a tensor."),
        ("no_grad for validation", {"6, validation": "no_grad"},
         "Piece 6: no_grad saves memory here, but dropout stays active and the score would change from call to call."),
        ("detach for two losses", {"4, two losses": "detach"},
         "Piece 4: if h were detached, neither loss could train what computed it. Both need the same graph, one after the other."),
        ("eval for the teacher", {"8, the teacher": "eval"},
         "Piece 8: eval changes what dropout does, and records as before. Here nothing should be recorded."),
    ),
    hints=(
        "Ask each time what should have no graph: a stretch of code, one use of a tensor, or some parameters?",
        "no_grad is for a stretch of code, detach for one tensor, freezing for parameters whose layer still passes gradients on, "
        "retain_graph for a second pass, item for a number, eval for dropout and batch norm.",
        "history.append(loss ▢), and the list is plotted later: only numbers are needed, so item.",
    ),
    reveal="Updates and a teacher's output are not recorded (no_grad). One use of a tensor is cut with detach. A frozen layer still "
    "passes gradients on. Two passes need retain_graph, a log needs item, and dropout needs eval.",
    fresh=lambda r: Fresh(
        'A moving average of the weights is updated after each step. Which tool goes around that update? Answer with its name, in quotes.',
        "no_grad",
        wrong=(("detach", "A whole stretch of code should not be recorded."), ("freeze", "The averages do move, without any gradient.")),
    ),
)  # fmt: skip

_tools = {tool for tool, _ in PIECES.values()}


def _any_other(name: str) -> Wrong:
    """The general hint of a piece, for every tool that has no hint of its own there."""
    right, hint = PIECES[name]
    other = next(t for t in ("retain_graph", "item", "eval", "freeze") if t != right and (name, t) not in _named)
    answers: dict[str, str] = {n: tool for n, (tool, _) in PIECES.items()}
    return Wrong(
        f"another tool: {name}",
        {**answers, name: other},
        hint,
        on=(name,),
        when=lambda seen: seen.value(name) in _tools,
    )


_named = {(name, w.answer[name]) for w in EX_B.bank for name in w.on}
EX_B = replace(EX_B, bank=(*EX_B.bank, *map(_any_other, PIECES)))

# ---- 10.c: a teacher that follows ---------------------------------------------------------------------------------------------------

STUB_C = '''\
import minigrad as torch


def ema_update(teacher, student, m):
    """Move every tensor of the teacher towards the student's: m of the old value, 1 - m of the student's.

    teacher and student are lists of leaf tensors that require gradients, with equal shapes. Write into
    the teacher's tensors themselves, so that a model that holds them sees the change. Leave the student
    as it is.
    """
    ...
'''

SOLUTION_C = """\
import minigrad as torch


def ema_update(teacher, student, m):
    with torch.no_grad():
        for t, s in zip(teacher, student):
            t.mul_(m).add_(s, alpha=1 - m)
"""

_c = lambda new: but(SOLUTION_C, "t.mul_(m).add_(s, alpha=1 - m)", new)  # noqa: E731
NUMBERED = "        for i, (t, s) in enumerate(zip(teacher, student)):\n            teacher[i] = "
_listed = lambda new: SOLUTION_C.partition("        for t")[0] + NUMBERED + new + "\n"  # noqa: E731


def _ema(teacher, student, m, times):
    """What the moving average is when the student moves by 1 between two updates."""

    def mixed(t, s):
        if isinstance(t, list):
            return [mixed(a, b) for a, b in zip(t, s, strict=True)]
        for k in range(times):
            t = m * t + (1 - m) * (s + k)
        return t

    return mixed(teacher, student)


TEACHER, STUDENT = [[1.0, -2.0, 0.5], [[3.0, 1.0], [0.0, -1.0]]], [[2.0, 2.0, -1.5], [[1.0, 5.0], [4.0, 2.0]]]


def _weights(r):
    return [
        [round(r.uniform(-2, 2), 2) for _ in range(3)],
        [[round(r.uniform(-2, 2), 2) for _ in range(2)] for _ in range(2)],
    ]


def _averages(name, times, weight=1.0):
    def draw(r):
        return _weights(r), _weights(r), r.choice([0.7, 0.8, 0.9, 0.95]), times

    return Probe(name, (TEACHER, STUDENT, 0.9, times), _ema, drivers.ema_numbers, weight, draw=draw)


HIDDEN = (
    "Right, with a warning: .data hides the write from autograd. If a backward pass still needed the old numbers, it would compute wrong "
    "gradients without an error. Under torch.no_grad() autograd would notice."
)
STAYS = {
    "they are the same tensors": True,
    "they are leaves that require gradients": True,
    "they share memory with the student": False,
    "the student is as it was": True,
}

EX_C = Exercise(
    id="10.c",
    title="A teacher that follows slowly",
    kind=Kind.BUILD,
    points=2,
    minutes=8,
    difficulty=2,
    question="Update a teacher's weights as a moving average of the student's: in place, without a graph, without shared memory.",
    entry="ema_update",
    stub=STUB_C,
    solution=SOLUTION_C,
    probes=(
        _averages("one update", 1),
        _averages("three updates, while the student moves", 3),
        Probe("the teacher's tensors afterwards", (TEACHER, STUDENT, 0.9), STAYS,
              drivers.ema_tensors, draw=lambda r: (_weights(r), _weights(r), r.choice([0.7, 0.9])),
              note=lambda got, *_: "" if got["noticed"] else HIDDEN),
    ),
    bank=(
        Wrong("new tensors in the list", _listed("(m * t + (1 - m) * s).requires_grad_()"),
              "The numbers are right, but they are in new tensors: a model that holds the old ones does not see them. Write into t itself.",
              on=("the teacher's tensors afterwards", "one update")),
        Wrong("new tensors that are no leaves", _listed("m * t + (1 - m) * s"),
              "Now the list holds new tensors that need no gradients, and the teacher's own weights have not moved. Write into t itself.",
              on=("the teacher's tensors afterwards", "one update")),
        Wrong("the update is recorded",
              "def ema_update(teacher, student, m):\n    for i, (t, s) in enumerate(zip(teacher, student)):\n"
              "        teacher[i] = m * t + (1 - m) * s\n",
              "The average was recorded: each new teacher has all earlier ones in its graph, and the student too. It needs no graph.",
              when=lambda seen: _afterwards(seen, "they are leaves that require gradients") is False
              and _afterwards(seen, "noticed") == "recorded"),
        Wrong("added, then shrunk", _c("t.add_(s, alpha=1 - m).mul_(m)"),
              "The factor m comes after the sum, so it shrinks the student's part as well. Shrink the teacher first, then add.",
              on=("one update", "three updates, while the student moves")),
        Wrong("the student is moved", _c("s.mul_(1 - m).add_(t, alpha=m)"),
              "It is the teacher that moves. The student learns by gradients and must not be touched here.",
              when=lambda seen: _afterwards(seen, "the student is as it was") is False),
        Wrong("a name is moved, not a tensor", _c("t = m * t + (1 - m) * s"),
              "t = ... only gives the name t to a new tensor. The teacher's tensor stays as it was: write into it.",
              on=("one update", "three updates, while the student moves")),
        Wrong("returns the averages",
              "def ema_update(teacher, student, m):\n    return [m * t + (1 - m) * s for t, s in zip(teacher, student)]\n",
              "t = ... only gives the name t to a new tensor. The teacher's tensor stays as it was: write into it.", on=("one update",)),
        Wrong("m and 1 - m exchanged", _c("t.mul_(1 - m).add_(s, alpha=m)"),
              "m belongs to the teacher's old value. With m close to 1 the teacher moves slowly.", on=("one update",)),
        Wrong("away from the student", _c("t.add_(t - s, alpha=1 - m)"),
              "The teacher moves away from the student. The way from t to s is s - t.", on=("one update",)),
        Wrong("the student is added in full", _c("t.mul_(m).add_(s)"),
              "The two parts must add up to one: m of the old value leaves room for 1 - m of the student's.", on=("one update",)),
        Wrong("the old value stays in full", _c("t.add_(s, alpha=1 - m)"),
              "The old value has to shrink to m of itself before the student's part is added.", on=("one update",)),
        Wrong("the student's memory",
              "def ema_update(teacher, student, m):\n    for t, s in zip(teacher, student):\n        t.data = s.data\n",
              "Now teacher and student share one memory: whatever the student learns, the teacher has it at once.",
              when=lambda seen: _afterwards(seen, "they share memory with the student") is True),
        Wrong("a plain copy", _c("t.copy_(s)"),
              "That copies the student, which is right only for m = 0. The teacher keeps m of what it was.", on=("one update",)),
        Wrong("without no_grad", "def ema_update(teacher, student, m):\n    for t, s in zip(teacher, student):\n"
              "        t.mul_(m).add_(s, alpha=1 - m)\n",
              "Autograd refuses to record a write into a leaf. This write needs no record: where do you say so?",
              when=lambda seen: seen.error("one update") == "RuntimeError"),
    ),
    hints=Hints(
        "Which tensors have to change, and what must autograd not do while they change?",
        "Inside a no_grad block, in-place methods such as mul_, add_ or lerp_ change a leaf, and it stays the same leaf.",
        "To halve the weights of a model: with torch.no_grad(), p.mul_(0.5) for every p in model.parameters().",
    ),
    reveal="Two in-place methods under no_grad. The parameters stay the same objects, so the model that owns them uses the new numbers.",
    fresh=lambda r: (
        lambda t, s: Fresh(
            f"teacher {t}, student {s}, m = 0.75. What is the teacher after one update?",
            0.75 * t + 0.25 * s,
            wrong=((0.25 * t + 0.75 * s, "m belongs to the teacher's old value."), (t + 0.25 * s, "The old value shrinks to m of itself.")),
        )
    )(r.randint(1, 5) * 4, r.randint(6, 9) * 4),
)  # fmt: skip


def _afterwards(seen: Seen, key: str) -> object:
    got = seen.value("the teacher's tensors afterwards")
    return got.get(key) if isinstance(got, dict) else None


# ---- 10.c2: how long a window -------------------------------------------------------------------------------------------------------

EX_C2 = ask(
    "10.c2",
    "How long a window?",
    Kind.PREDICT,
    points=0,
    minutes=2,
    level=2,
    text="The network has to say what it read five steps ago. Which is the shortest of the windows 1, 4, 8 and 16 that is enough?",
    comment="The network has to say what it read five steps ago. With which windows can it learn that?\n"
    "Replace None by the shortest one that is enough: 1, 4, 8 or 16.",
    answer=8,
    wrong=(
        ("no window at all", 1, "Then no gradient ever leaves a step, and nothing can be learnt about an earlier one."),
        ("nearly five", 4, "The gradient would have to travel back over more steps than this window has."),
        ("as long as possible", 16, "It is long enough, but a shorter one is, too."),
    ),
    hints=(
        "A gradient goes back to the beginning of its window, and no further.",
        "The loss of step t has to reach step t − 5. In which windows are there pairs of steps that far apart?",
        "To say what came two steps ago, a window of two is too short, and one of three has a single pair.",
    ),
    reveal="Only a window of more than five steps contains a loss and the number that it is about.",
    fresh=lambda r: (
        lambda n, k: Fresh(
            f"Windows of {n + k} steps, and the answer is about what came {n} steps earlier. How many of a window reach it?",
            k,
            wrong=(
                (n, "Those are the losses that do not."),
                (n + k, "The first ones have their number in the window before."),
            ),
        )
    )(r.randint(11, 15), r.randint(20, 30)),
)

# ---- 10.d: truncated backpropagation ------------------------------------------------------------------------------------------------

STUB_D = '''\
def truncated(step, h, xs, k):
    """Run h, loss = step(h, x) for every x in xs, and call backward once for each window of k steps.

    Each backward starts at the sum of its window's losses; the last window may be shorter than k.
    No gradient goes from one window into the window before it. Return the last h, without a graph.
    """
    ...
'''

SOLUTION_D = """\
def truncated(step, h, xs, k):
    total = 0.0
    for t, x in enumerate(xs, start=1):
        h, loss = step(h, x)
        total = total + loss
        if t % k == 0 or t == len(xs):
            total.backward()
            h = h.detach()
            total = 0.0
    return h
"""

_d = lambda old, new: but(SOLUTION_D, old, new)  # noqa: E731


def _through_windows(w: float, u: float, xs: Sequence[float], k: int) -> dict:
    """The derivatives carried forward beside h, and set to zero where a window begins (an oracle without any backward pass)."""
    h, at_w, at_u, w_grad, u_grad = drivers.MEMORY, 0.0, 0.0, 0.0, 0.0
    for t, x in enumerate(xs):
        if t % k == 0:
            at_w = at_u = 0.0
        new = math.tanh(w * h + u * x)
        at_w, at_u = (1 - new * new) * (h + w * at_w), (1 - new * new) * (x + w * at_u)
        h = new
        w_grad += 2 * (h - 0.5 * x) * at_w
        u_grad += 2 * (h - 0.5 * x) * at_u
    return {"w.grad": w_grad, "u.grad": u_grad, "last h": h, "h has a graph": False}


def _signal(T: int, k: int) -> Callable:
    return lambda r: (
        r.choice([0.7, 0.8, 0.9]),
        r.choice([-0.6, 0.5, 0.6]),
        [round(r.uniform(-2, 2), 1) for _ in range(T)],
        k,
    )


NINE = [0.5, -1.0, 1.5, 0.2, -0.7, 1.1, -0.4, 0.9, -1.3]
THREES, TWOS, WHOLE, REST, WORK = (
    "nine steps, k = 3",
    "eight steps, k = 2",
    "k = T",
    "a shorter last window",
    "one pass for each window",
)


def _cut(name, T, k, weight=1.0, driver=drivers.truncated_result, want=_through_windows):
    return Probe(name, (0.8, 0.6, NINE[:T], k), want, driver, weight, rtol=1e-9, draw=_signal(T, k))


EX_D = Exercise(
    id="10.d",
    title="Truncated backpropagation",
    kind=Kind.BUILD,
    points=3,
    minutes=12,
    difficulty=3,
    question="A recurrent cell carries h from step to step. Let every backward pass reach back over at most k steps.",
    entry="truncated",
    stub=STUB_D,
    solution=SOLUTION_D,
    probes=(
        _cut(THREES, 9, 3),
        _cut(TWOS, 8, 2),
        _cut(WHOLE, 6, 6),
        _cut(REST, 8, 3),
        _cut(WORK, 8, 3, 1.0, drivers.truncated_work,
             lambda w, u, xs, k: {"backward passes": -(-len(xs) // k), "steps in the longest graph": min(k, len(xs))}),
    ),
    bank=(
        Wrong("the graph is carried along", _d("            h = h.detach()\n", ""),
              "backward runs into the window before, whose saved values are freed already. What still carries that history: h, or the sum?",
              when=lambda seen: seen.error(THREES) == "RuntimeError" and not seen.error(WHOLE)),
        Wrong("a backward at every step, and nothing retained",
              "def truncated(step, h, xs, k):\n    for t, x in enumerate(xs, start=1):\n        h, loss = step(h, x)\n"
              "        loss.backward()\n        if t % k == 0 or t == len(xs):\n            h = h.detach()\n    return h\n",
              "backward runs at every step, so it goes through steps of the same window that it has freed already. Add up the losses, "
              "and call it once, at the end of the window.",
              when=lambda seen: all("second time" in seen.message(name) for name in (THREES, WHOLE))),
        Wrong("retain_graph", _d("total.backward()\n            h = h.detach()", "total.backward(retain_graph=True)"),
              "With retain_graph=True every backward goes through all windows before it. That is the loop that gets slower: cut instead.",
              when=lambda seen: _longest(seen) > 4),  # 4 is a window that is one step too long
        Wrong("cut at every step", _d("total = total + loss\n", "total = total + loss\n        h = h.detach()\n"),
              "h is detached at every step, also inside a window. Then no gradient reaches back at all, whatever k is.",
              on=(THREES, WHOLE)),
        Wrong("the last window is lost", _d("t % k == 0 or t == len(xs)", "t % k == 0"),
              "When the number of steps is not a multiple of k, the last losses never see a backward pass.",
              when=lambda seen: _passes(seen) == 2 and _longest(seen) <= 3 and not seen.error(THREES) and not seen.error(REST)),
        Wrong("counted from 0", _d("enumerate(xs, start=1)", "enumerate(xs)").replace(" or t == len(xs)", " or t == len(xs) - 1"),
              "The first window has only one step: t starts at 0, and 0 is a multiple of every k. Count how many steps are done.",
              on=(THREES, TWOS)),
        Wrong("one step, and then windows", _d("enumerate(xs, start=1)", "enumerate(xs)").replace(" or t == len(xs)", ""),
              "Your first window has a single step, because 0 is divisible by k, and the steps after the last cut get no backward pass.",
              on=("nine steps, k = 3", "k = T")),
        Wrong("only the last loss of a window", _d("total = total + loss", "total = loss"),
              "backward starts at the last loss of the window only. The losses of the other steps count as well: add them up.",
              on=(THREES, TWOS)),
        Wrong("averaged", _d("total.backward()", "(total / k).backward()"),
              "Start backward at the sum of the window's losses, not at their mean.", on=(THREES, TWOS)),
        Wrong("the sum goes on", _d("            total = 0.0\n", ""),
              "backward runs into the window before, whose saved values are freed already. What still carries that history: h, or the sum?",
              when=lambda seen: seen.error(THREES) == "RuntimeError" and not seen.error(WHOLE)),
        Wrong("a backward at every step",
              "def truncated(step, h, xs, k):\n    for t, x in enumerate(xs, start=1):\n        h, loss = step(h, x)\n"
              "        loss.backward(retain_graph=t % k != 0)\n        if t % k == 0 or t == len(xs):\n            h = h.detach()\n"
              "    return h\n",
              "The numbers are right, but every step walks through its window again. Add up the losses, and call backward once per window.",
              when=lambda seen: _passes(seen) == 8),
        Wrong("h keeps its graph", _d("            h = h.detach()\n", "").replace("step(h, x)", "step(h.detach() if t % k == 1 else h, x)"),
              "The last h still has a graph, so the window that comes next would run into this one. Return it without its history.",
              on=(THREES, WHOLE)),
        Wrong("nothing is returned", _d("    return h\n", ""),
              "Nothing comes back. The next part of the sequence continues from the last h.",
              when=lambda seen: (seen.value(THREES) or {}).get("last h", 0) is None),
        Wrong("detached and then used", _d("total.backward()", "total.detach().requires_grad_().backward()"),
              "No gradient reaches the weights: the loss itself was detached. It is h that has to lose its history.",
              when=lambda seen: (seen.value(THREES) or {}).get("w.grad", 0) is None),
    ),
    hints=Hints(
        "What do you have to do after k steps, and what must the next step still know?",
        "Add up the losses of a window. At its end call backward on the sum, detach h, and begin a new sum. Mind the last window.",
        "For k = 1 each step is a window of its own: run the step, call backward on its loss, detach h, and go on.",
    ),
    reveal="The value of h goes on, its history does not. With k = T nothing is cut, and the gradient is the full one.",
    fresh=lambda r: (
        lambda T, k: Fresh(
            f"{T} steps, windows of {k}. How many backward passes run?",
            -(-T // k),
            wrong=((T // k, "The steps that are left over make a window, too."), (T, "One for each window, not one for each step.")),
        )
    )(r.randint(5, 9) * 10 + 3, r.choice([4, 5, 8])),
)  # fmt: skip


def _work(seen: Seen) -> dict:
    got = seen.value(WORK)
    return got if isinstance(got, dict) else {}


def _longest(seen: Seen) -> int:
    return _work(seen).get("steps in the longest graph", 0)


def _passes(seen: Seen) -> int:
    return _work(seen).get("backward passes", 0)


EXERCISES = (EX_A, EX_A2, EX_B, EX_C, EX_C2, EX_D)
