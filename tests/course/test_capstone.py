"""The capstone's six operations: each reference passes, and each of its mutants loses points before a random graph is drawn."""

import random
from dataclasses import replace

import pytest

import minigrad as torch
from minigrad.course import exercises
from minigrad.course.checking import Check
from minigrad.course.exercises import _capstone, ch19
from minigrad.course.guard import run_probes
from minigrad.course.judge import judge
from minigrad.course.mutants import mutants

EX = exercises["19.b"]
QUICK = replace(EX, probes=tuple(p for p in EX.probes if p.name != ch19.GRAPHS))
HARMLESS = {"batch_norm": {"x.data - mean -> mean - x.data"}}  # it is squared
each = pytest.mark.parametrize("name", ch19.REFERENCES)


TORCH = {  # the same definitions in the library
    "logsumexp": lambda t: [torch.logsumexp(t, dim=0)],
    "gelu": lambda t: [torch.nn.functional.gelu(t[0])],
    "conv1d": lambda t: torch.nn.functional.conv1d(t[None, None, :5], t[None, None, 5:])[0, 0],
    "batch_norm": lambda t: torch.nn.functional.batch_norm(t[:, None], None, None, training=True, eps=0.1)[:, 0],
}


@pytest.mark.parametrize("name", TORCH)
def test_the_judge_defines_what_the_library_defines(name):
    xs = _capstone.inputs("ordinary", 3)[name]
    assert _capstone.OPERATIONS[name].values(xs) == pytest.approx(
        [v.item() for v in TORCH[name](torch.tensor(xs, dtype=torch.float64))]
    )


def test_the_judges_lstm_cell_is_the_librarys():
    """With weights that pass each gate its own input: rows i, f, g, o."""
    xs = _capstone.inputs("ordinary", 3)["lstm_cell"]
    c, f, i, g, o = torch.tensor(xs, dtype=torch.float64)
    cell = torch.nn.LSTMCell(4, 1).double()
    with torch.no_grad():
        cell.weight_ih.copy_(torch.eye(4))
        for other in (cell.weight_hh, cell.bias_ih, cell.bias_hh):
            other.zero_()
    h, new = cell(torch.stack([i, f, g, o])[None], (torch.zeros(1, 1, dtype=torch.float64), c.reshape(1, 1)))
    assert _capstone.OPERATIONS["lstm_cell"].values(xs) == pytest.approx([new.item(), h.item()])


def verdict(source, ex=EX, inputs=None):
    return judge(ex, run_probes(ex, ex.load(source), inputs), inputs)


@each
def test_every_reference_passes_on_drawn_inputs_too(name):
    assert verdict(ch19.REFERENCES[name]).passed
    for seed in (1, 2):
        rng = random.Random(seed)
        assert verdict(ch19.REFERENCES[name], inputs={p.name: p.draw(rng) for p in EX.probes}).passed


@each
def test_every_mutant_loses_points(name):
    survivors = set()
    for what, source, _ in mutants(ch19.REFERENCES[name]):
        try:
            QUICK.load(source)
        except Exception:
            continue
        if verdict(source, QUICK).passed:
            survivors.add(what)
    assert survivors == HARMLESS.get(name, set())


def test_random_graphs_see_a_slope_that_is_one_percent_off():
    lines = verdict(ch19.REFERENCES["gelu"].replace("density) *", "density) * 1.01 *")).lines
    said = next(line.say for line in lines if line.probe == ch19.GRAPHS)
    assert int(said.split()[1]) > 150  # in 150 and more of the 200 graphs


@pytest.mark.parametrize("source, said", [
    (EX.stub.replace('"logsumexp"  #', '"softsign"  #'), "none of logsumexp, gelu"),
    (EX.stub.replace("return name, operation", "return operation"), "the name of the operation and the function"),
    (EX.stub.replace("...  #", "return 1.0  #"), "must return a Value"),
    (ch19.REFERENCES["conv1d"].replace("range(len(x) - len(k) + 1)", "range(len(x) - len(k))"), "has 3 results, and yours 2"),
    (ch19.REFERENCES["gelu"].replace("(x,)", "()"), "not every input is among the parents"),
])  # fmt: skip
def test_another_form_gets_a_sentence(source, said):
    found = verdict(source)
    assert not found.passed and any(said in line.say for line in found.lines), [line.say for line in found.lines]


@pytest.mark.parametrize("shift", ["0.0", "min(x.data for x in xs)", "sum(x.data for x in xs) / len(xs)", "xs[1].data"])
def test_any_shift_but_the_maximum_overflows(shift):
    source = ch19.REFERENCES["logsumexp"].replace("max(x.data for x in xs)", shift)
    result = Check()("19.b", exercises["19.b"].load(source))
    assert result.score < 0.9 and result.mistake == "overflows"


def test_nan_is_never_right():
    for rule in (" * out.grad", " * state.grad"):
        source = ch19.REFERENCES["lstm_cell"].replace(rule, f'{rule} * float("nan")')
        assert not verdict(source, QUICK).passed
