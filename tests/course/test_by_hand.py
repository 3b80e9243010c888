"""Exercises that ask for a derivative by hand: an answer that lets the engine differentiate earns nothing, and is told so.

What lives here: one answer to each that calls the library. What does not: right and wrong answers by hand (the exercises' own banks).
"""

import pytest

import minigrad as torch
from minigrad import Value
from minigrad.course import exercises
from minigrad.course.checking import Check

BY_THE_ENGINE = {
    "03.b": """\
import minigrad

def slope(graph, root, leaf):
    at = {name: None for name in graph}
    for name, inputs in graph.items():
        at[name] = sum((local * at[source] for source, local in inputs), minigrad.Value(0.0)) if inputs else minigrad.Value(1.0)
    at[root].backward()
    return at[leaf].grad
""",
    "09.d": """\
import minigrad as torch

def conv1d_backward(g, x, k):
    x, k = torch.tensor(x, requires_grad=True), torch.tensor(k, requires_grad=True)
    torch.nn.functional.conv1d(x[None, None], k[None, None]).backward(torch.tensor(g)[None, None])
    return x.grad.numpy(), k.grad.numpy()
""",
    "11.d": """\
import minigrad as torch

def derivatives(v, w, b, x):
    v, w, b, x = (torch.tensor(n, dtype=torch.float64, requires_grad=True) for n in (v, w, b, x))
    s, = torch.autograd.grad(v * torch.relu(w * x + b), x, create_graph=True)
    first = torch.autograd.grad(s, (x, w, v), retain_graph=True, allow_unused=True)
    last, = torch.autograd.grad((s - 1) ** 2, w)
    return [0.0 if g is None else g.item() for g in (*first, last)]
""",
    "14.b2": """\
import minigrad as torch

def cross_entropy_rows(z, targets, smoothing=0.0):
    a = torch.tensor(z, requires_grad=True)
    loss = torch.nn.functional.cross_entropy(a, torch.tensor(targets), label_smoothing=smoothing)
    loss.backward()
    return loss.item(), a.grad.numpy()
""",
    "17.b": """\
import minigrad as torch

def step(params, state, lr=0.01, max_norm=1.0, b1=0.9, b2=0.999, eps=1e-8, decay=0.01):
    torch.nn.utils.clip_grad_norm_(params, max_norm)
    if "optimizer" not in state:
        state["optimizer"] = torch.optim.AdamW(params, lr=lr, betas=(b1, b2), eps=eps, weight_decay=decay)
    state["optimizer"].step()
""",
}  # fmt: skip
BY_THE_ENGINE["09.e"] = "import minigrad as torch\n\n" + exercises["09.e"].solution.replace(
    "out.grad", "(torch.tensor(out.grad) * 1).numpy()"
)
for id in ("14.c", "14.d"):  # whatever it computes: a Tensor is refused
    entry = exercises[id].entry
    BY_THE_ENGINE[id] = (
        f"import minigrad as torch\n\ndef {entry}(*args):\n    return [torch.tensor(a) * 1 for a in args]\n"
    )


@pytest.mark.parametrize("id", sorted(BY_THE_ENGINE))
def test_an_answer_that_lets_the_engine_differentiate_earns_nothing(id):
    ex = exercises[id]
    result = Check()(id, ex.load(BY_THE_ENGINE[id]))
    assert not result.passed and result.score == 0
    assert "written by hand" in repr(result) and "nothing differentiates for you" in result.hint


def test_afterwards_everything_differentiates_again():
    ex = exercises["17.b"]
    Check()(ex.id, ex.load(BY_THE_ENGINE["17.b"]))
    x = Value(3.0)
    (x * x).backward()
    w = torch.tensor([2.0], requires_grad=True)
    (w * w).sum().backward()
    torch.nn.utils.clip_grad_norm_([w], 100.0)
    torch.optim.AdamW([w], lr=0.1).step()
    assert x.grad == 6.0 and w.grad.item() == 4.0 and w.item() < 2.0
