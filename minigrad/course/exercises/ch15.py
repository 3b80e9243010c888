"""Chapter 15, the bug clinic: one prediction, and a ward round. Each patient is a program to repair and a diagnosis to make."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .. import drivers
from ..exercise import Exercise, Fresh, Hints, Kind, Limits, Probe, Wrong, ask, but

EX_A = ask(
    "15.a",
    "Four writes",
    Kind.PREDICT,
    points=0,
    minutes=4,
    level=2,
    text="After y is computed, y.mul_(2) and y.sum().backward() follow. Which of the four programs fail?",
    comment='After y is computed, y.mul_(2) and y.sum().backward() follow.\nReplace each None by "works" or "fails".',
    answer={"y = x.sin()": "works", "y = x.tanh()": "fails", "y = x + 1": "works", "y = x.relu()": "fails"},
    wrong=(
        ("in-place always fails", {"y = x.sin()": "fails", "y = x + 1": "fails"},
         "Writing in place fails only if the backward pass needs what was overwritten. Here it does not."),
        ("sin", {"y = x.sin()": "fails"}, "sin: its rule is cos(x), so it saves its input, and y may change."),
        ("plus", {"y = x + 1": "fails"}, "x + 1: its rule needs no number at all, so nothing is saved."),
        ("tanh", {"y = x.tanh()": "works"}, "tanh: its rule is 1 − y², so it saves its output, and that was overwritten."),
        ("relu", {"y = x.relu()": "works"}, "relu: its rule asks where the output was positive, and the output was overwritten."),
    ),
    hints=(
        "What does each backward rule need: its input, its output, or nothing?",
        "A write is an error exactly if the rule needs the numbers that were there before.",
        "exp saves its output, so y = x.exp() fails. x * 3 saves only the 3, so it works.",
    ),
    reveal="sin saved its input and x + 1 saved nothing. tanh and relu saved their output, which was overwritten.",
    fresh=lambda r: (
        lambda pair: Fresh(
            f"y = {pair[0]}; y.add_(1); y.sum().backward(). Does it work or fail?",
            pair[1],
            wrong=(("fails" if pair[1] == "works" else "works", "What does the rule need?"),),
        )
    )(r.choice([("x.exp()", "fails"), ("x.cos()", "works"), ("x * 3", "works"), ("x.sigmoid()", "fails")])),
)  # fmt: skip


# A remark on the repaired program of a patient
AFTER = {
    "15.b": "With the bug, every output was compared with every target. The answer that costs least is then the same for all "
    "points, the mean of the targets, which is about one half, and 0.5² is 0.25. The habit that would have found it: assert "
    "output.shape == wanted.shape.",
    "15.c": "After the first repair, the loss was lower because the steps were four times as long, which happened to help. A number "
    "that gets better proves nothing. Here the proof is that one batch and four micro-batches agree.",
    "15.d": "None is not 0. A parameter whose gradient is None is skipped by every optimizer. A gradient of 0 is an ordinary "
    "gradient, and Adam, or SGD with momentum or weight decay, makes a step with it.",
    "15.e": "no_grad and eval are different things. no_grad records no graph, and eval switches dropout off and lets batch norm use "
    "its stored statistics. An evaluation usually needs both. And a name is not a copy: state_dict() hands out the "
    "network's own tensors, so the next step changes what was “remembered”.",
}


def diagnosis(id, patient, answer, wrong, hints, reveal, fresh, also=None, kind=Kind.DEBUG):
    """The diagnosis of a patient. `wrong` holds (entry, value, hint)."""
    two = len(answer) > 2
    text = (
        "Two lines are wrong, from the top to the bottom. Which ones, and what is the cause of each?"
        if two
        else ("Which line is wrong, and what is the cause?")
    )
    return ask(
        id, f"{patient}, diagnosis", kind, minutes=3, level=2, points=1, text=text, answer=answer, also=also,
        comment=f"{text}\nA letter for a line, and a word of the list for a cause.",
        wrong=tuple((f"{entry}: {value}", {entry: value}, f"{entry}: {hint}") for entry, value, hint in wrong),
        hints=hints, reveal=reveal,
        fresh=lambda r: (lambda q, a, w: Fresh(q, a, wrong=((w, "Go back to the list of causes."),)))(*r.choice(fresh)),
    )  # fmt: skip


def repair(id, patient, stub, changes, probes, bank, hints, reveal, fresh, kind=Kind.DEBUG, level=2, losses=False):
    """The patient's program. `changes` are (old, new) that make it right; `bank` holds (name, changes from the stub, hint, probes)."""
    if id in AFTER:  # what stands on the page would tell the diagnosis
        probes = (replace(probes[0], note=lambda *_: AFTER[id]), *probes[1:])
    return Exercise(
        id=id, title=patient, kind=kind, points=1, minutes=5, difficulty=level,
        question=f"{patient} runs without an error and is broken. Repair it.",
        entry=patient.lower().replace(" ", "_"), stub=stub, solution=changed(stub, changes), probes=probes,
        limits=Limits(seconds=5.0), losses=losses,
        bank=tuple(Wrong(name, changed(stub, edits), hint, **(rule if isinstance(rule, dict) else {"on": rule}))
                   for name, edits, hint, rule in bank),
        hints=Hints(*hints), reveal=reveal,
        fresh=lambda r: (lambda q, a, w: Fresh(q, a, wrong=((w, "Think of what was wrong with this program."),)))(*r.choice(fresh)),
    )  # fmt: skip


def changed(source, changes):
    for old, new in changes:
        source = but(source, old, new)
    return source


def seeds(*more):
    return lambda r: (*more, r.randint(1, 9999))


CLOSE: Any = {"rtol": 1e-3, "atol": 1e-6}  # float32, and the same sum may be taken in another order

# ---- patient 1: (200, 1) minus (200,) ---------------------------------------------------------------------------------------------

STUB_1 = '''\
import minigrad as torch
from minigrad import nn


def patient_1(seed=3, steps=200):
    """A network learns to tell whether the two numbers of a point have the same sign. Returns the loss of each step."""
    torch.manual_seed(seed)
    x = torch.randn(200, 2)                                                           # a
    wanted = (x[:, 0] * x[:, 1] > 0).float()                                          # b
    net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1), nn.Sigmoid())  # c
    optimizer = torch.optim.Adam(net.parameters(), lr=0.05)                           # d
    losses = []                                                                       # e
    for _ in range(steps):                                                            # f
        optimizer.zero_grad()                                                         # g
        output = net(x)                                                               # h
        error = output - wanted                                                       # i
        loss = (error**2).mean()                                                      # j
        loss.backward()                                                               # k
        optimizer.step()                                                              # l
        losses.append(loss.item())                                                    # m
    return losses
'''
ERROR_1 = "error = output - wanted "
RUN_1 = "twelve steps"


def _rests(losses):
    """Does a training of twelve steps end where one answer for all points leaves it: at 0.25, and still there in the last steps?"""
    return (
        isinstance(losses, list)
        and len(losses) == 12
        and all(type(x) is float for x in losses)
        and all(abs(x - 0.25) < 0.03 for x in losses[-3:])
    )


EX_B = repair(
    "15.b", "Patient 1", STUB_1,
    [(ERROR_1, "error = output - wanted[:, None] ")],
    (Probe(RUN_1, (3, 12), driver=drivers.call, draw=lambda r: (r.randint(1, 9999), 12), **CLOSE),),
    (
        ("a smaller learning rate", [("lr=0.05", "lr=0.005")],
         "It now ends at the same wrong place, only later. The step size is not the problem: look at what the loss compares.", (RUN_1,)),
        ("sum for mean", [(".mean()", ".sum()")],
         "The loss became larger, and the network still gives the same answer everywhere. Look at what the loss compares.", (RUN_1,)),
        ("the outputs of one row", [(ERROR_1, "error = output[0] - wanted ")],
         "Now only the first output is compared with everything. Compare each output with its own target.", (RUN_1,)),
        ("summed before the comparison", [(ERROR_1, "error = output.mean() - wanted ")],
         "One number is compared with every target. Compare each output with its own target.", (RUN_1,)),
        ("more steps", [("range(steps)", "range(2 * steps)")],
         "More of the same does not help. The loss of a step must change, not the number of steps.",
         {"when": lambda seen: isinstance(seen.value(RUN_1), list) and len(seen.value(RUN_1)) > 12}),
        ("still the same answer everywhere", [("nn.Linear(2, 16)", "nn.Linear(2, 8)"), ("nn.Linear(16, 1)", "nn.Linear(8, 1)")],
         "The loss still comes to rest near 0.25: the fault is there, and something else was changed. Print the shapes of output, wanted "
         "and error.",
         {"when": lambda seen: _rests(seen.value(RUN_1))}),
    ),
    ("Print the shape of everything in the line of the loss.",
     "Two tensors that are compared entry by entry need the same shape. unsqueeze(1) adds an axis at the end, squeeze(1) takes one away.",
     "a has the shape (5, 1), b has (5,): a - b has (5, 5). a.squeeze(1) - b has (5,)."),
    "The error had 40,000 entries, every output against every target. The best answer to that is the mean of all targets.",
    [("a has the shape (30, 1), b has (30,). How many entries does a - b have?", 900, 30),
     ("a has the shape (20, 1), b has (20,). How many entries does a - b have?", 400, 20)], losses=True,
)  # fmt: skip

EX_B2 = diagnosis(
    "15.b2", "Patient 1", {"line": "i", "cause": "broadcast"},
    (
        ("line", "j", "the mean is taken of the right thing, if the errors are right."),
        ("line", "d", "with another optimizer the loss stops at the same value."),
        ("line", "c", "this network can learn the task: it has a hidden layer and one output for each point."),
        ("line", "l", "the step does what it should: the gradient itself belongs to another loss."),
        ("cause", "scale", "dividing by another number would change the speed, not the place where it stops."),
        ("cause", "unregistered", "all four parameters are listed by net.parameters(), and all of them move."),
        ("cause", "detached", "every parameter gets a gradient."),
    ),
    ("The loss stops at about 0.25. Which answer, the same for every point, would cost that?",
     "Follow the shapes from line b and line h to the place where they meet.",
     "(3, 1) and (3,) meet in an addition: the result is (3, 3), and every entry of the one has met every entry of the other."),
    "In line i, (200, 1) minus (200,) is broadcast to (200, 200).",
    [("predicted.shape is (8, 1), target.shape is (8,). Which cause?", "broadcast", "scale")],
    also={"line": ("b", "h")},
)  # fmt: skip

# ---- patient 2: zero_grad inside, and no division ---------------------------------------------------------------------------------

STUB_2 = '''\
import minigrad as torch
from minigrad import nn


def patient_2(parts, seed=12, steps=20):
    """In each step all 64 samples are used, in `parts` micro-batches. Returns the loss over all samples at the end."""
    torch.manual_seed(seed)
    x = torch.randn(64, 3)                                             # a
    wanted = torch.sin(x.sum(dim=1, keepdim=True))                     # b
    net = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))   # c
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)             # d
    for _ in range(steps):                                             # e
        for rows in torch.arange(64).chunk(parts):                     # f
            optimizer.zero_grad()                                      # g
            loss = nn.functional.mse_loss(net(x[rows]), wanted[rows])  # h
            loss.backward()                                            # i
        optimizer.step()                                               # j
    return nn.functional.mse_loss(net(x), wanted).item()               # k
'''
FOR_2, CLEAR_2 = "        for rows in torch.arange(64).chunk(parts): ", "            optimizer.zero_grad() "
LINE_F, LINE_G = FOR_2 + " " * 20 + "# f\n", CLEAR_2 + " " * 37 + "# g\n"
INSIDE, OUTSIDE = LINE_F + LINE_G, LINE_G[4:] + LINE_F
LOSS_2 = "wanted[rows])  # h"
ONE, FOUR, EIGHT = "one batch", "four micro-batches", "eight micro-batches"

AT_ONCE = "the rows at once"


def _in_parts(got, *_):
    return (
        None
        if got["rows"] is None or got["rows"] <= 16
        else f"{got['rows']} rows went through the network at once, and not 16"
    )


EX_C = repair(
    "15.c", "Patient 2", STUB_2,
    [(INSIDE, OUTSIDE), (LOSS_2, "wanted[rows]) / parts  # h")],
    (
        Probe(ONE, (1, 12), draw=seeds(1), weight=0.5, **CLOSE),
        Probe(FOUR, (4, 12), draw=seeds(4), **CLOSE),
        Probe(EIGHT, (8, 12), draw=seeds(8), **CLOSE),
        Probe(AT_ONCE, (4, 12), driver=drivers.rows_at_once, accept=_in_parts, draw=seeds(4), weight=0.5),
    ),
    (
        ("only the clearing", [(INSIDE, OUTSIDE)],
         "One mistake is gone. The loss is lower now, but it is not the loss of one batch: four means add up to four times the gradient, "
         "so the steps are too long.", (FOUR, EIGHT)),
        ("only the division", [(LOSS_2, "wanted[rows]) / parts  # h")],
         "The size is right now, but of the micro-batches only the last one counts. What happens to the gradients of the others?",
         (FOUR, EIGHT)),
        ("divided by the size of a part", [(INSIDE, OUTSIDE), (LOSS_2, "wanted[rows]) / len(rows)  # h")],
         "The mean over a micro-batch has divided by its size already. What is left to divide by?", (FOUR,)),
        ("divided by four", [(INSIDE, OUTSIDE), (LOSS_2, "wanted[rows]) / 4  # h")],
         "With four micro-batches it is right, with another number of them it is not.", (ONE, EIGHT)),
        ("a step for each part", [("        optimizer.step() ", "            optimizer.step() ")],
         "Now every micro-batch makes a step of its own. That is ordinary mini-batch training, and not one step with all samples.",
         (FOUR, EIGHT)),
        ("cleared after the loop", [(INSIDE, OUTSIDE.replace("optimizer.zero_grad()", "pass                 ")),
                                    ("        optimizer.step() ", "        optimizer.zero_grad()\n        optimizer.step() ")],
         "The gradients are cleared just before the step, so the step has nothing to use.", (ONE, FOUR)),
    ),
    ("Compare with `patient_2(1)`, which is right. What must be the same, whatever the number of parts?",
     "The gradient of a mean over 64 samples is the mean of the gradients of equal parts: clear once for each step, and give every part "
     "its weight.",
     "Two parts of 5 and 5: the mean of all ten is (mean of the first + mean of the second) / 2."),
    "zero_grad belongs before the inner loop. The mean of a part must be divided by the number of parts, or the step is that many times "
    "too long. That the loss was lower with a longer step was luck.",
    [("Three equal micro-batches, each with the loss 6 as its mean, are added without a division. What should be 6 is then?", 18, 6)],
    level=3,
)  # fmt: skip

EX_C2 = diagnosis(
    "15.c2", "Patient 2",
    {"first line": "g", "first cause": "cleared", "second line": "h", "second cause": "scale"},
    (
        ("first line", "f", "chunk cuts the 64 rows into equal parts, and all of them are used."),
        ("first line", "d", "with another learning rate one batch and four parts would still differ."),
        ("first cause", "not cleared", "the gradients are cleared, and even too often."),
        ("first cause", "scale", "that is the cause of the other one."),
        ("second line", "j", "one step for all parts is what was meant."),
        ("second line", "k", "that line only measures."),
        ("second cause", "cleared", "that is the cause of the first one. The other shows when the first is repaired."),
        ("second cause", "not cleared", "in the repaired loop the gradients are cleared once for each step, as they should be."),
    ),
    ("Which samples contribute to the gradient that line j uses?",
     "Repair the first mistake, and compare the gradients of one batch and of four parts. What is the ratio?",
     "Two parts of a batch, each with the mean as its loss: added up, the gradient is twice that of the batch."),
    "g clears the gradients of all parts but the last (cleared). Without it the means of the parts add up (scale), in h or i.",
    [("zero_grad() is called between backward() and step(). Which cause?", "cleared", "not cleared"),
     ("Four losses are added where their mean is meant. Which cause?", "scale", "not cleared")],
    also={"second line": ("i",)},
)  # fmt: skip

# ---- patient 3: Adam remembers ------------------------------------------------------------------------------------------------------

STUB_3 = '''\
import minigrad as torch
from minigrad import nn


def patient_3(seed=3):
    """Trains a body and a head together for 15 steps, then freezes the body and trains the head alone for five.

    Returns the loss of each step, and the largest change of a weight of the body in the last five.
    """
    torch.manual_seed(seed)
    x = torch.randn(50, 4)                                                            # a
    wanted = torch.tanh(x.sum(dim=1, keepdim=True))                                   # b
    body, head = nn.Linear(4, 8), nn.Linear(8, 1)                                     # c
    optimizer = torch.optim.Adam([*body.parameters(), *head.parameters()], lr=0.05)   # d
    losses = []                                                                       # e
    for step in range(20):                                                            # f
        if step == 15:                                                                # g
            frozen = body.weight.detach().clone()                                     # h
        optimizer.zero_grad()                                                         # i
        loss = nn.functional.mse_loss(head(torch.tanh(body(x))), wanted)              # j
        loss.backward()                                                               # k
        for p in body.parameters() if step >= 15 else []:                             # l
            p.grad.zero_()                                                            # m
        optimizer.step()                                                              # n
        losses.append(loss.item())                                                    # o
    return losses, (body.weight - frozen).abs().max().item()
'''
ZERO_3 = "p.grad.zero_()"
FIRST_3, MOVED_3, HEAD_3 = "the first 15 steps", "what the body moved", "the head goes on learning"


def _learns(got, *_):
    return None if got["after"] != got["before"] else "in the last five steps the loss stays where it is"


EX_D = repair(
    "15.d", "Patient 3", STUB_3,
    [(ZERO_3, "p.grad = None")],
    (
        Probe(FIRST_3, (3,), driver=drivers.first_losses, draw=seeds(), **CLOSE),
        Probe(MOVED_3, (3,), want=lambda *_: 0.0, driver=drivers.moved_in_the_end, weight=2, draw=seeds()),
        Probe(HEAD_3, (3,), driver=drivers.last_losses, accept=_learns, draw=seeds()),
    ),
    (
        *((name, [(old, f"{freeze}\n{old}")],
           "The body is frozen now, so zero_grad leaves None in its .grad, and None cannot be set to zero. That None is what Adam needs. "
           "If the body is frozen before the forward pass of step 15, lines l and m have nothing left to do.",
           {"when": lambda seen: seen.error(MOVED_3) == "AttributeError"})
          for name, old, freeze in (
              ("frozen, and the loop kept", "            frozen = body", "            body.requires_grad_(False)"),
              ("frozen too late", "        optimizer.step() ", "        body.requires_grad_(step < 15)"))),
        ("another optimizer", [("torch.optim.Adam(", "torch.optim.SGD(")],
         "SGD remembers nothing, so a gradient of 0 moves nothing. But the first 15 steps are different now, too. Keep Adam, and find out "
         "which parameters it skips.", (FIRST_3,)),
        ("a smaller learning rate", [("lr=0.05", "lr=0.0005")],
         "The body moves less, because everything does. A frozen weight must not move at all.", (FIRST_3,)),
        ("never trained", [("if step >= 15 else []", ""), (ZERO_3, "p.grad = None")],
         "Now the body is frozen from the beginning. It should be trained for the first 15 steps.", (FIRST_3,)),
        ("no step at all", [("        optimizer.step() ", "        if step < 15: optimizer.step() ")],
         "Nothing is trained any more in the last five steps. The head should go on learning.",
         {"when": lambda seen: seen.value(MOVED_3) == 0 and seen.value(HEAD_3)["after"] == seen.value(HEAD_3)["before"]}),
        ("another optimizer's clearing", [("optimizer.zero_grad()", "optimizer.zero_grad(set_to_none=False)")],
         "The body still moves. For Adam a gradient of zero is a gradient like any other, and it makes a step by what it remembers. "
         "Which parameters does it leave alone?", (MOVED_3,)),
        ("a gradient of zero again", [(ZERO_3, "p.grad = 0 * p.grad")],
         "The body still moves. For Adam a gradient of zero is a gradient like any other, and it makes a step by what it remembers. "
         "Which parameters does it leave alone?", (MOVED_3,)),
        ("the body still moves", [("if step >= 15 else []", "if step >= 16 else []"), (ZERO_3, "p.grad = None ")],
         "The body still moves in the last five steps. Adam moves every parameter that holds a gradient in line n, whatever it is: what "
         "does p.grad hold there, in each of the five?",
         {"when": lambda seen: type(seen.value(MOVED_3)) in (int, float) and seen.value(MOVED_3) > 0}),
    ),
    ("Plain SGD would not move the body. What does Adam have that SGD does not?",
     "Adam steps by a moving average of past gradients. It skips only parameters that have no gradient at all.",
     "A sum with memory: m = 0.9 * m + g. With g = 0 from now on, m is 0.9, 0.81, 0.73 of what it was, and the steps go on."),
    "With p.grad = None, Adam skips the parameter. requires_grad_(False) before the forward pass does the same, because zero_grad sets it "
    "to None. A new optimizer for the head alone is the clearest solution.",
    [("m = 0.9 * m + g, with m = 10 and g = 0. What is m after two steps?", 8.1, 10)],
    level=3, losses=True,
)  # fmt: skip

EX_D2 = diagnosis(
    "15.d2", "Patient 3", {"line": "m", "cause": "momentum"},
    (
        ("line", "h", "it makes a copy, as it should: detach alone would share the memory."),
        ("line", "k", "backward also computes gradients for the body, which costs time but moves nothing."),
        ("line", "i", "the gradients are cleared before each backward pass, as they should be."),
        ("cause", "not cleared", "no gradient of an earlier step is left in .grad when the step is made."),
        ("cause", "alias", "the weight before was copied: clone makes new memory."),
        ("cause", "cleared", "throwing the body's gradients away is what was meant. It was not enough."),
        ("cause", "detached", "nothing is cut here: the body has gradients, and they are set to 0."),
    ),
    ("The gradient of the body is exactly 0 in line n. What makes it move?",
     "Ask what the optimizer keeps from step to step.",
     "SGD with momentum 0.9 and a gradient of 1, 0, 0: the steps are 1, 0.9 and 0.81 times lr."),
    "m sets the gradients to 0, and Adam still has its moving averages (momentum). Only None makes it skip a parameter.",
    [("SGD with momentum 0.9 has made one step of 1, then the gradient is 0. Which cause moves the parameter?", "momentum", "not cleared")],
    also={"line": ("d", "n")},
)  # fmt: skip

# ---- patient 4: dropout in the evaluation, and an alias ---------------------------------------------------------------------------

STUB_4 = """\
import minigrad as torch
from minigrad import nn


def patient_4(seed=4, steps=25):
    \"""Trains with dropout, remembers the network that was best on held-out points, and restores it in the end.

    Returns its held-out loss when it was remembered, and after it was restored.
    \"""
    torch.manual_seed(seed)
    x = torch.randn(160, 2)                                                              # a
    labels = (x[:, 0] * x[:, 1] > 0).long()                                              # b
    net = nn.Sequential(nn.Linear(2, 24), nn.ReLU(), nn.Dropout(0.4), nn.Linear(24, 2))  # c
    optimizer = torch.optim.Adam(net.parameters(), lr=0.2)                               # d

    def held_out():                                                                      # e
        with torch.no_grad():                                                            # f
            return nn.functional.cross_entropy(net(x[100:]), labels[100:]).item()        # g

    best = float("inf")                                                                  # h
    for _ in range(steps):                                                               # i
        optimizer.zero_grad()                                                            # j
        nn.functional.cross_entropy(net(x[:100]), labels[:100]).backward()               # k
        optimizer.step()                                                                 # l
        score = held_out()                                                               # m
        if score < best:                                                                 # n
            best, remembered = score, net.state_dict()                                   # o
    net.load_state_dict(remembered)                                                      # p
    return best, held_out()                                                              # q
"""
EVAL = [("        with torch.no_grad():", "        net.eval()\n        with torch.no_grad():"),
        ("        optimizer.zero_grad()", "        net.train()\n        optimizer.zero_grad()")]  # fmt: skip
COPY = [("score, net.state_dict()", "score, {name: value.clone() for name, value in net.state_dict().items()}")]
LONG_4, SHORT_4, RESTORED = "25 steps", "ten steps", drivers.remembered_and_restored
SEEDS_4 = {25: [2, 4, 5, 6, 8, 9, 14, 15, 16, 17], 10: [5, 7, 9, 12, 15, 18, 22, 24]}  # where each bug by itself shows

EX_E = repair(
    "15.e", "Patient 4", STUB_4, [*EVAL, *COPY],
    (
        Probe(LONG_4, (4, 25), driver=RESTORED, draw=lambda r: (r.choice(SEEDS_4[25]), 25), **CLOSE),
        Probe(SHORT_4, (7, 10), driver=RESTORED, draw=lambda r: (r.choice(SEEDS_4[10]), 10), **CLOSE),
    ),
    (
        ("only eval", EVAL,
         "Evaluating twice gives the same number now. But what you restore is the last network, not the best: state_dict() hands out the "
         "parameters' own memory, and a copy of the dict alone still holds the same tensors.", (LONG_4,)),
        ("only the copy", COPY,
         "The best network really comes back now. But its loss is measured with half of its units switched off at random, so two "
         "measurements differ.", (LONG_4,)),
        ("never in training mode again", [EVAL[0], *COPY],
         "After the first evaluation dropout stays switched off, so the network is trained without it. Call train() before each step.",
         (LONG_4,)),
        *((name, [("nn.Dropout(0.4), ", ""), *copy],
           "The whole training runs without dropout now. It is wanted there: switch it off for the evaluation only.", (LONG_4,))
          for name, copy in (("dropout removed", COPY), ("only dropout removed", []))),
    ),
    ("Call held_out() twice in a row, without a step between. Then compare the network that you restored with the last one.",
     "no_grad stops the recording and nothing else: dropout is switched by train() and eval(). state_dict() returns the tensors "
     "themselves, so copy them.",
     "w = layer.weight.detach() shares the memory with the layer, so the next step changes w as well; w.clone() does not."),
    "eval() before each evaluation and train() before each step; copy.deepcopy(net.state_dict()) or a clone of every tensor.",
    [("saved = net.state_dict(); then 100 steps. Does saved hold the numbers from before or after the steps?", "after", "before"),
     ("Under torch.no_grad(), in training mode: is dropout active? yes or no?", "yes", "no")],
    level=3,
)  # fmt: skip

EX_E2 = diagnosis(
    "15.e2", "Patient 4",
    {"first line": "g", "first cause": "mode", "second line": "o", "second cause": "alias"},
    (
        ("first line", "c", "dropout is wanted, while the network trains."),
        ("first line", "d", "the large steps make the loss jump, which makes the mistakes visible, but they are not a mistake."),
        ("first cause", "detached", "no_grad is right there. Something else should be switched off as well."),
        ("first cause", "alias", "that is the cause of the other one."),
        ("second line", "p", "it restores exactly what was remembered. What was remembered?"),
        ("second line", "n", "a smaller loss is better, so the comparison is right."),
        ("second cause", "mode", "that is the cause of the first one. The other shows when the first is repaired."),
        ("second cause", "cleared", "the gradients are not the problem."),
    ),
    ("Two symptoms, two mistakes. One shows when you evaluate twice, the other when you compare what was restored with the last network.",
     "What does no_grad not switch off? What does state_dict() hand out?",
     "best = numbers is a second name for a list; best = list(numbers) is a copy. The same holds for the tensors of a state_dict."),
    "g evaluates in training mode, with dropout (mode). o keeps the network's own tensors instead of copies (alias).",
    [("Batch norm computes its statistics from the test batch. Which cause?", "mode", "alias"),
     ("before = w.detach(); after a step, before has changed as well. Which cause?", "alias", "detached")],
    also={"first line": ("e", "f", "m")},
)  # fmt: skip

# ---- patient 5: layers in a plain list (optional) -----------------------------------------------------------------------------------

STUB_5 = '''\
import minigrad as torch
from minigrad import nn


def patient_5(seed=5, steps=100):
    """Trains four layers. Returns the last loss, and how far each of the two layers in the middle has moved."""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()                                           # a
            self.first = nn.Linear(2, 16)                                # b
            self.hidden = [nn.Linear(16, 16), nn.Linear(16, 16)]         # c
            self.last = nn.Linear(16, 1)                                 # d

        def forward(self, x):
            x = torch.tanh(self.first(x))                                # e
            for layer in self.hidden:                                    # f
                x = torch.tanh(layer(x))                                 # g
            return self.last(x)                                          # h

    torch.manual_seed(seed)
    x = torch.randn(100, 2)                                              # i
    wanted = torch.sin(3 * x[:, :1]) * x[:, 1:]                          # j
    net = Net()                                                          # k
    before = [layer.weight.detach().clone() for layer in net.hidden]     # l
    optimizer = torch.optim.Adam(net.parameters(), lr=0.02)              # m
    for _ in range(steps):                                               # n
        optimizer.zero_grad()                                            # o
        loss = nn.functional.mse_loss(net(x), wanted)                    # p
        loss.backward()                                                  # q
        optimizer.step()                                                 # r
    return loss.item(), [(layer.weight - old).abs().max().item() for layer, old in zip(net.hidden, before)]
'''
LIST_5 = "[nn.Linear(16, 16), nn.Linear(16, 16)] "
RUN_5 = "eight steps"

EX_F = repair(
    "15.f", "Patient 5", STUB_5, [(LIST_5, "nn.ModuleList([nn.Linear(16, 16), nn.Linear(16, 16)]) ")],
    (Probe(RUN_5, (5, 8), draw=lambda r: (r.randint(1, 9999), 8), **CLOSE),),
    (
        ("requires_grad", [("        loss.backward() ", "        net.hidden[0].requires_grad_(True)\n        loss.backward() ")],
         "The two layers do not move. They require gradients and have some, but the optimizer was never given them: a module does not look "
         "for parameters in lists and tuples.", (RUN_5,)),
        ("an attribute each, and the list", [("self.hidden = [nn.Linear(16, 16), nn.Linear(16, 16)] ",
                                              "self.two = nn.Linear(16, 16)\n            self.hidden = [self.two, nn.Linear(16, 16)] ")],
         "One of the two moves now. The other one is known to the list alone.", (RUN_5,)),
        ("more steps", [("range(steps)", "range(2 * steps)")], "They do not move in more steps either. What moves a parameter?", (RUN_5,)),
    ),
    ("How many parameters does net.parameters() list? How many should it list?",
     "A module registers attributes that are parameters or modules. A plain list is neither: nn.ModuleList or nn.Sequential is.",
     "self.scale = torch.ones(3) is not registered either; self.scale = nn.Parameter(torch.ones(3)) is."),
    "nn.ModuleList registers its layers, so that parameters(), state_dict(), to() and train() find them.",
    [("A module has two Linear layers as attributes and three in a plain list. How many tensors does parameters() list?", 4, 10)],
    kind=Kind.OPTIONAL,
)  # fmt: skip

EX_F2 = diagnosis(
    "15.f2", "Patient 5", {"line": "c", "cause": "unregistered"},
    (
        ("line", "g", "the layers are used, and they get gradients."),
        ("line", "l", "those are copies, made to be compared with."),
        ("cause", "detached", "all four layers get gradients. Look at what should use them."),
        ("cause", "stale", "the optimizer was made after the network, from the parameters that it lists."),
        ("cause", "alias", "before was copied: clone makes new memory."),
    ),
    ("Do the two layers get gradients? If so, what does not use them?", "Count what net.parameters() lists.",
     "A model of 3 Linear layers has 6 parameters. If 2 of its layers are missing, parameters() lists 2."),
    "c puts the layers into a plain list, where the module does not find them (unregistered).",
    [("net.state_dict() lacks a layer that forward uses. Which cause?", "unregistered", "stale")],
    also={"line": ("m",)}, kind=Kind.OPTIONAL,
)  # fmt: skip

# ---- patient 6: a rule that ignores its upstream gradient (optional) ----------------------------------------------------------------

STUB_6 = '''\
import minigrad as torch
from minigrad import nn


def patient_6(seed=6, steps=60):
    """Learns on which side of a line a point lies. Returns the loss of each step."""

    class Squash(torch.autograd.Function):
        @staticmethod
        def forward(ctx, z):
            p = 1 / (1 + torch.exp(-z))                            # a
            ctx.save_for_backward(p)                               # b
            return p                                               # c

        @staticmethod
        def backward(ctx, g):
            p, = ctx.saved_tensors                                 # d
            return p * (1 - p)                                     # e

    torch.manual_seed(seed)
    x = torch.randn(80, 2)                                         # f
    x = x - x.mean(dim=0)                                          # g
    wanted = (x[:, :1] > 0).float()                                # h
    w, losses = torch.zeros(2, 1, requires_grad=True), []          # i
    for _ in range(steps):                                         # j
        p = Squash.apply(x @ w)                                    # k
        loss = nn.functional.binary_cross_entropy(p, wanted)       # l
        loss.backward()                                            # m
        with torch.no_grad():                                      # n
            w -= w.grad                                            # o
        w.grad = None                                              # p
        losses.append(loss.item())                                 # q
    return losses
'''
RULE_6 = "return p * (1 - p) "
RUN_6 = "twenty steps"

EX_G = repair(
    "15.g", "Patient 6", STUB_6, [(RULE_6, "return g * p * (1 - p) ")],
    (Probe(RUN_6, (6, 20), draw=lambda r: (r.randint(1, 9999), 20), **CLOSE),),
    (
        ("the upstream gradient alone", [(RULE_6, "return g ")],
         "Now the local derivative is missing. The rule is upstream times local.", (RUN_6,)),
        ("added", [(RULE_6, "return g + p * (1 - p) ")], "The upstream gradient is multiplied in, not added.", (RUN_6,)),
        ("a minus", [(RULE_6, "return -p * (1 - p) ")],
         "The loss stays where it began. Does the rule's result depend on whether a point's target is 0 or 1?",
         {"when": lambda seen: isinstance(seen.value(RUN_6), list) and max(abs(v - 0.6931) for v in seen.value(RUN_6)) < 0.001}),
        ("a start elsewhere", [("torch.zeros(2, 1, requires_grad=True)", "torch.ones(2, 1, requires_grad=True)")],
         "The loss begins elsewhere and does not fall properly either. Test the rule of Squash by itself.", (RUN_6,)),
        ("one factor", [(RULE_6, "return g * (1 - p) ")], "One factor is missing: the sigmoid's derivative is p(1 − p).", (RUN_6,)),
    ),
    ("Does the gradient of w depend on the targets at all?", "A backward rule returns upstream × local. gradcheck would have seen it.",
     "A rule for exp that returns out is right for out.sum() alone. With g it is g * out."),
    "backward has to multiply by g. Without it, the gradient of w does not depend on the loss or the targets.",
    [("backward of a custom cube returns 3 * x**2. Its result is multiplied by 5. By which factor is x.grad wrong?", 5, 3)],
    kind=Kind.OPTIONAL, losses=True,
)  # fmt: skip

EX_G2 = diagnosis(
    "15.g2", "Patient 6", {"line": "e", "cause": "upstream"},
    (
        ("line", "o", "the step is right, if the gradient is."),
        ("line", "g", "it centres the points, which is good practice, and makes the symptom perfect."),
        ("line", "i", "zero is a good start for a single layer."),
        ("line", "l", "the loss is right: 0.6931 is what a probability of one half costs."),
        ("cause", "scale", "the local derivative is right, and so is the loss. Something is not multiplied in."),
        ("cause", "detached", "w has a gradient. It is only meaningless."),
        ("cause", "cleared", "the gradient is used first and cleared afterwards."),
    ),
    ("Exchange all targets. Does w.grad change?", "Follow the targets: loss, p, z, w. Where are they lost in the backward pass?",
     "A rule that returns 3 * x**2 gives the same gradient for y and for 100 y."),
    "e returns the local derivative without the upstream gradient (upstream), so no target ever reaches w.",
    [("A custom ReLU returns 1 where x > 0, and 0 elsewhere. Which cause?", "upstream", "scale")],
    kind=Kind.OPTIONAL,
)  # fmt: skip

# ---- patient 7: one detach too many (optional) --------------------------------------------------------------------------------------

STUB_7 = """\
import minigrad as torch
from minigrad import nn


def patient_7(seed=7, steps=150):
    \"""Squeezes six numbers into two and restores the six. Returns the last loss, and how far the encoder has moved.\"""
    torch.manual_seed(seed)
    x = torch.randn(100, 2) @ torch.randn(2, 6)                                            # a
    encoder, decoder = nn.Linear(6, 2), nn.Linear(2, 6)                                    # b
    optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=0.03)  # c
    before, log = encoder.weight.detach().clone(), []                                      # d
    for step in range(steps):                                                              # e
        optimizer.zero_grad()                                                              # f
        code = encoder(x).detach()                                                         # g
        if step % 10 == 0:                                                                 # h
            log.append(f"spread of the code: {code.std().item():.2f}")                     # i
        target = x.detach()                                                                # j
        loss = nn.functional.mse_loss(decoder(code), target)                               # k
        loss.backward()                                                                    # l
        optimizer.step()                                                                   # m
    return loss.item(), (encoder.weight - before).abs().max().item()
"""
RUN_7 = "ten steps"

EX_H = repair(
    "15.h", "Patient 7", STUB_7, [("encoder(x).detach()", "encoder(x)")],
    (Probe(RUN_7, (7, 10), draw=lambda r: (r.randint(1, 9999), 10), **CLOSE),),
    (
        ("the other detach", [("target = x.detach()", "target = x")],
         "The encoder still gets no gradient. Something between the encoder and the loss cuts the graph. x is data and has no graph.",
         (RUN_7,)),
        ("a larger learning rate", [("lr=0.03", "lr=0.3")], "Only the decoder moves faster. The encoder has no gradient at all.", (RUN_7,)),
    ),
    ("Which parameters have a gradient of None after backward?",
     "Go from the loss back to the encoder, tensor by tensor. Where does the graph end? A log needs numbers only.",
     "h = layer(x).detach() and then loss(h): layer gets nothing. print(h.detach().mean()) beside it would have been fine."),
    "code must keep its graph. item() in the log needs no detach, and x.detach() changes nothing, because data has no graph.",
    [("h = f(x); a = h.detach(); loss = (h + a).sum(). Through which of the two does x get a gradient, h or a?", "h", "a")],
    kind=Kind.OPTIONAL, level=1,
)  # fmt: skip

EX_H2 = diagnosis(
    "15.h2", "Patient 7", {"line": "g", "cause": "detached"},
    (
        ("line", "j", "x is data: it has no graph that could be lost."),
        ("line", "d", "that is a copy to compare with."),
        ("line", "i", "item() takes a number out for the log, and code itself stays as it is."),
        ("line", "c", "both layers are in the optimizer's list."),
        ("cause", "unregistered", "the optimizer has all four parameters. Two of them have no gradient."),
        ("cause", "stale", "the optimizer has the parameters that are in use."),
        ("cause", "cleared", "the encoder has no gradient to begin with, so none could be cleared."),
    ),
    ("Which gradients are None after backward?", "Ask of each call of detach: does a gradient have to pass here?",
     "loss = (f(x) - y.detach()): no gradient has to reach y, so this one is harmless."),
    "g cuts the graph between the encoder and the loss (detached). The detach in j is harmless.",
    [("forward contains hidden = layer(x).data. Which cause?", "detached", "alias")],
    kind=Kind.OPTIONAL,
)  # fmt: skip

# ---- patient 8: an optimizer that was made too early (optional) ---------------------------------------------------------------------

STUB_8 = '''\
import minigrad as torch
from minigrad import nn


def patient_8(seed=8, steps=120):
    """A network with one output gets a new head for three classes, and is trained.

    Returns the loss of each step, how far the head has moved, and the norm of its gradient at the end.
    """
    torch.manual_seed(seed)
    x = torch.randn(150, 4)                                                   # a
    labels = (x[:, 0] > 0.5).long() + (x[:, 1] + x[:, 2] > 0).long()          # b
    net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))        # c
    optimizer = torch.optim.Adam(net.parameters(), lr=0.03)                   # d
    net[2] = nn.Linear(16, 3)                                                 # e
    before, losses = net[2].weight.detach().clone(), []                       # f
    for _ in range(steps):                                                    # g
        optimizer.zero_grad()                                                 # h
        loss = nn.functional.cross_entropy(net(x), labels)                    # i
        loss.backward()                                                       # j
        optimizer.step()                                                      # k
        losses.append(loss.item())                                            # l
    head = net[2].weight
    return losses, (head - before).abs().max().item(), head.grad.norm().item()
'''
MADE_8 = "    optimizer = torch.optim.Adam(net.parameters(), lr=0.03)                   # d\n"
HEAD_8 = "    net[2] = nn.Linear(16, 3)                                                 # e\n"
STEP_8 = "        optimizer.step()  "
RUN_8 = "ten steps with a new head"

EX_I = repair(
    "15.i", "Patient 8", STUB_8, [(MADE_8 + HEAD_8, HEAD_8 + MADE_8)],
    (Probe(RUN_8, (8, 10), draw=lambda r: (r.randint(1, 9999), 10), **CLOSE),),
    (
        ("all gradients cleared", [("        optimizer.zero_grad()", "        net.zero_grad()")],
         "The head's gradient does not grow any more, but the head still does not move. Which tensors does the optimizer have?", (RUN_8,)),
        ("a larger learning rate", [("lr=0.03", "lr=0.3")],
         "The first layer moves faster, and the head not at all. Which tensors does the optimizer have?", (RUN_8,)),
        ("the head alone", [(HEAD_8, HEAD_8 + MADE_8.replace("net.parameters()", "net[2].parameters()"))],
         "Now the head moves, and the first layer does not. Both should be trained.", (RUN_8,)),
        ("three outputs from the start", [("nn.Linear(16, 1))", "nn.Linear(16, 3))"), (HEAD_8, "")],
         "That is another network, with other random weights. Let the program replace the head, and look at what comes too early.",
         (RUN_8,)),
        ("the head by hand", [(STEP_8, STEP_8.rstrip() + "\n        net[2].weight.data -= 0.03 * net[2].weight.grad")],
         "The head moves now, by steps of your own that are not Adam's, and its bias still does not. Give its parameters to the optimizer.",
         (RUN_8,)),
    ),
    ("Does net[2].weight occur in optimizer.param_groups[0][\"params\"]?",
     "An optimizer holds the tensors that it was given. If a layer is replaced afterwards, the optimizer still has the old ones: make it "
     "after the change, or call add_param_group.",
     "names = list(team); team[0] = \"Ada\": names still has the old member, because it was made before the change."),
    "The optimizer must be made after the head was replaced. optimizer.add_param_group({\"params\": net[2].parameters()}) does the same. "
    "The head's gradient grew because zero_grad clears only what the optimizer holds.",
    [("An optimizer holds 6 tensors. A Linear layer of the network is replaced by a new one. How many of the 6 are still in use?", 4, 6)],
    kind=Kind.OPTIONAL, losses=True,
)  # fmt: skip

EX_I2 = diagnosis(
    "15.i2", "Patient 8", {"line": "d", "cause": "stale"},
    (
        ("line", "h", "zero_grad clears what the optimizer holds. That the head's gradient grows is a consequence."),
        ("line", "k", "step moves everything that the optimizer holds. What does it hold?"),
        ("line", "c", "the first head is replaced later, which is allowed."),
        ("cause", "unregistered", "net.parameters() lists the new head, if you ask it after line e."),
        ("cause", "not cleared", "the head's gradient is not cleared, but that is a consequence. It does not explain why the head stays."),
        ("cause", "detached", "the head has a gradient, and a large one."),
        ("cause", "momentum", "nothing moves that should stay. It is the other way round."),
    ),
    ("Two things are strange: the head does not move, and its gradient grows. Who would move it, and who would clear its gradient?",
     "Compare the tensors of net.parameters() at line d with those at line f.",
     "params = list(net.parameters()) is a list of tensors, not a view of the network: it does not follow later changes."),
    "d makes the optimizer with the parameters of the old head (stale). Line e comes too late for it.",
    [("The optimizer is made, then model = copy.deepcopy(model), then model is trained with it. Which cause?", "stale", "alias")],
    also={"line": ("e",)}, kind=Kind.OPTIONAL,
)  # fmt: skip

# ---- patient 9: the slope of a square root at 0 (optional) --------------------------------------------------------------------------

STUB_9 = '''\
import minigrad as torch


def patient_9(seed=1, steps=40):
    """Places ten points so that the distances between them are as wanted. Returns the loss of each step."""
    torch.manual_seed(seed)

    def distances(points):                                          # a
        differences = points[:, None] - points                      # b
        squares = (differences**2).sum(dim=2)                       # c
        return torch.sqrt(squares)                                  # d

    wanted = distances(torch.randn(10, 2))                          # e
    places = torch.randn(10, 2, requires_grad=True)                 # f
    optimizer = torch.optim.SGD([places], lr=0.02)                  # g
    losses = []                                                     # h
    for _ in range(steps):                                          # i
        optimizer.zero_grad()                                       # j
        loss = (distances(places) - wanted).pow(2).sum()            # k
        loss.backward()                                             # l
        optimizer.step()                                            # m
        losses.append(loss.item())                                  # n
    return losses
'''
ROOT_9 = "torch.sqrt(squares) "
BACK_9 = "        loss.backward()  "
RUN_9 = "eight steps"

EX_J = repair(
    "15.j", "Patient 9", STUB_9, [(ROOT_9, "torch.sqrt(squares + 1e-12) ")],
    (Probe(RUN_9, (1, 8), draw=lambda r: (r.randint(1, 9999), 8), **CLOSE),),
    (
        ("nan replaced by 0", [(BACK_9, BACK_9.rstrip() + "\n        places.grad = torch.nan_to_num(places.grad)")],
         "Every entry of the gradient was nan, so now all of them are 0 and nothing moves. Where does the first nan come from?", (RUN_9,)),
        ("still nan", [(ROOT_9, "torch.sqrt(squares) + 1e-12 ")],
         "The first gradient is still nan. The root is taken of 0, where its slope is infinite, and neither a smaller step nor anything "
         "done after the root (where, a tiny number) changes that. Make the input of the root safe.", (RUN_9,)),
        ("where after the root", [(ROOT_9, "torch.where(squares > 0, torch.sqrt(squares), torch.zeros_like(squares)) ")],
         "where chooses after both sides are computed, so the root of 0 still makes a nan in the backward pass, and after one step all "
         "places are nan. (The loss is not, because nan > 0 is false and every distance becomes 0.) Make the input of the root safe.",
         (RUN_9,)),
        ("a large number under the root", [(ROOT_9, "torch.sqrt(squares + 0.1) ")],
         "The nan is gone, but the distances are wrong now. A much smaller number is enough.", (RUN_9,)),
        ("squares compared", [(ROOT_9, "squares ")],
         "The nan is gone, but now squares are compared with squares, which is another task. Keep the root.", (RUN_9,)),
    ),
    ("Is places.grad nan after the first step? Which entries of squares are special?",
     "The derivative of √s is 1/(2√s), which is infinite at 0. Keep the input of the root away from 0, for example by adding 1e-12.",
     "For s = [4, 0], sqrt(s).sum() has the gradient [0.25, inf]. With sqrt(s + 1e-12) the second entry is large and finite."),
    "On the diagonal each point is compared with itself: squares is 0 there and the slope of the root is infinite. The upstream gradient "
    "is 0, and 0 · ∞ is nan. Adding 1e-12 under the root repairs it, and so does clamp(min=1e-12) or leaving out the diagonal, if that is "
    "done before the root.",
    [("s = 0.25: what is the derivative of √s?", 1, 0.5), ("s = 0.0625: what is the derivative of √s?", 2, 0.25)],
    kind=Kind.OPTIONAL, losses=True,
)  # fmt: skip

EX_J2 = diagnosis(
    "15.j2", "Patient 9", {"line": "d", "cause": "slope"},
    (
        ("line", "k", "the loss of the first step is right. Which backward rule makes the first nan?"),
        ("line", "g", "no learning rate helps, because the first gradient is nan already."),
        ("line", "b", "the shapes (10, 1, 2) and (10, 2) give all pairs, which is wanted here."),
        ("line", "m", "the step only passes on what the gradient says, and that is nan."),
        ("cause", "broadcast", "here all pairs are wanted, so the shapes are right."),
        ("cause", "scale", "another factor would give another number, and never nan."),
        ("cause", "not cleared", "the very first gradient is nan, so earlier steps have no part in it."),
    ),
    ("The first loss is right and the second is nan. What lies between them?",
     "Run one step under torch.autograd.detect_anomaly() and read which rule it names.",
     "torch.sqrt(x) at x = 0 is 0, and its gradient is inf. If the upstream gradient is 0, the product is nan."),
    "d takes the root of 0 for every pair of a point with itself, where its slope is infinite (slope).",
    [("loss = x.norm() at x = 0, by hand as torch.sqrt((x**2).sum()): the gradient is nan. Which cause?", "slope", "scale")],
    also={"line": ("c",)}, kind=Kind.OPTIONAL,
)  # fmt: skip

EXERCISES = (
    EX_A,
    EX_B,
    EX_B2,
    EX_C,
    EX_C2,
    EX_D,
    EX_D2,
    EX_E,
    EX_E2,
    EX_F,
    EX_F2,
    EX_G,
    EX_G2,
    EX_H,
    EX_H2,
    EX_I,
    EX_I2,
    EX_J,
    EX_J2,
)
