"""The judge against odd outcomes, borrowed and forged answers, and right answers that are written in another way."""

import math
import random
import sys

import pytest

from minigrad.course import exercises, symptoms
from minigrad.course.bank import SOLUTION, STUB, outcome_of
from minigrad.course.checking import Check
from minigrad.course.exercise import Kind, ask
from minigrad.course.exercises import ch19
from minigrad.course.exercises.ch15 import AFTER
from minigrad.course.grading.answers import AnswerServer, grade_answer, kit
from minigrad.course.guard import run_probes
from minigrad.course.judge import OFF, judge

from ..thorough import THOROUGH, part

ALL = list(exercises.values())
CODE = [ex for ex in ALL if not ex.is_value]
NAN, INF = math.nan, math.inf

ODD = [
    None, True, False, 0, -0.0, 77, 1.5, NAN, INF, -INF, 1e308, 10**300, "", "a", "0", "nan", "None", "\x00", "x" * 2000,
    [], [None], [None, "a", 3], [[]], [1, "a"], [[1, 2], [3]], [NAN] * 3, [INF], ["a", "b"], [True, False], [[None]], [{}], [[[1.0]]],
    {}, {"!": "..."}, {"!": "an odd object"}, {"a": None}, {"a": 1}, {"": []}, {"x": {"y": NAN}}, {"calls": None}, {"calls": "many"},
    {"numbers": "all", "alive": [], "forwards": {}, "order": 3, "nodes": None, "noticed": None, "keeps": 0},
]  # fmt: skip
SOME = part(ODD, 6, always=[None, 77])


def outcome(got, error=None):
    return {
        "got": got,
        "error": error,
        "late": False,
        "idle": False,
        "printed": "",
        "mutated": False,
        "raised_limit": False,
    }


def ran(ex, which):
    """The outcomes of the solution or of a wrong answer in its bank, as the judge itself remembers them."""
    outcomes = {}
    for probe in ex.probes:
        outcomes[probe.name] = outcome_of(ex, which, probe, probe.args)
        if outcomes[probe.name]["late"]:
            break
    return outcomes


def odd_outcomes_never_stop_the_judge_and_never_pass(ex, right):
    for got in SOME:
        if ex.is_value and type(got) is not bool and got == right[ex.probes[0].name]["got"]:
            continue  # one of them is the answer
        verdict = judge(ex, {p.name: outcome(got) for p in ex.probes})
        assert 0 <= verdict.score < 1 and verdict.hint, f"odd: {got!r}"
        if not ex.is_value:
            assert 0 <= judge(ex, right | {ex.probes[-1].name: outcome(got)}).score <= 1, (
                f"odd in the last probe: {got!r}"
            )
    for error in ("TypeError", "E" * 60, ""):
        verdict = judge(
            ex, {p.name: outcome(None, {"type": error, "mro": [], "message": "", "where": None}) for p in ex.probes}
        )
        assert verdict.score < 1 and verdict.hint, f"odd error: {error!r}"


def with_nan(x):
    if isinstance(x, (list, dict)):
        return {k: with_nan(v) for k, v in x.items()} if isinstance(x, dict) else [with_nan(v) for v in x]
    return NAN if type(x) in (int, float) else x


def nan_never_scores(ex, right):
    for probe in ex.probes:
        forged = with_nan(right[probe.name]["got"])
        if repr(forged) != repr(right[probe.name]["got"]):
            verdict = judge(ex, right | {probe.name: outcome(forged)})
            level = next(line for line in verdict.lines if line.probe == probe.name).level
            assert not verdict.passed and level == OFF, f"nan: {probe.name}"


def more_right_is_never_fewer_points(ex, right):
    """Whatever the other probes give: what the untouched stub gives, or a known mistake, or nonsense."""
    rng = random.Random(ex.id)
    others = [*ex.bank, *({p.name: outcome(got) for p in ex.probes} for got in (None, 77, [1, 2], "a"))]
    for _ in range(30 if THOROUGH else 2):
        wrong, order = rng.choice(others), rng.sample([p.name for p in ex.probes], len(ex.probes))
        wrong = wrong if isinstance(wrong, dict) else ran(ex, wrong)
        scores = [judge(ex, {p.name: (right if p.name in order[:n] else wrong).get(p.name, outcome(None)) for p in ex.probes}).score
                  for n in range(len(order) + 1)]  # fmt: skip
        assert scores == sorted(scores) and scores[-1] == 1.0, f"partial credit: {order}, {scores}"


def the_untouched_stub_earns_nothing(ex):
    """Not in the probes either that it happens to pass."""
    verdict = judge(ex, ran(ex, STUB))
    assert verdict.score == 0 and not verdict.passed, verdict.lines


@pytest.mark.parametrize("ex", ALL, ids=lambda ex: ex.id)
def test_scores_of_odd_forged_and_half_right_outcomes(ex):
    """One test for each exercise, because the judge runs the same slips of its solution for each of them."""
    right = ran(ex, SOLUTION)
    assert judge(ex, right).passed
    odd_outcomes_never_stop_the_judge_and_never_pass(ex, right)
    if not ex.is_value:
        nan_never_scores(ex, right)
        the_untouched_stub_earns_nothing(ex)
    more_right_is_never_fewer_points(ex, right)


def test_a_result_that_is_too_large_to_divide_is_no_multiple_of_the_right_one():
    probe = exercises["01.c"].probes[0]
    twice, huge, infinite = (
        symptoms._Case(probe, (), got, want) for got, want in ((4.0, 2.0), (1e308, 1e-10), (INF, 2.0))
    )
    assert twice.ratio() == 2.0 and huge.ratio() is infinite.ratio() is None


NAN_CAPSTONE = """\
def capstone(Value):
    def gelu(x):
        out = Value(float("nan"), (x,), "gelu")

        def _backward():
            x.grad = float("nan")

        out._backward = _backward
        return out

    return "gelu", gelu
"""


def test_nan_earns_nothing_in_the_capstone():
    result = Check()("19.b", exercises["19.b"].load(NAN_CAPSTONE))
    assert result.score < 0.2 and "nan" in repr(result)  # its graph alone has the right form


# ---- partial credit ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("id", [ex.id for ex in ALL if ex.by_entry])
def test_each_entry_of_an_answer_earns_its_points_and_gets_its_own_line_and_hint(id):
    ex = exercises[id]
    answer, nonsense = ex.load(ex.solution), 12345
    entries = [p.name for p in ex.probes]
    for n in range(1, len(entries)):
        result = Check()(id, answer | dict.fromkeys(entries[:n], nonsense))
        assert result.score == pytest.approx(1 - n / len(entries))
        assert [line.probe for line in result.lines if line.level == OFF] == entries[:n]
        assert len(result.hint.split("\n")) == n and repr(result).count("Hint: ") == n
    assert Check()(id, dict.fromkeys(entries, "a")).score <= 0.6  # one letter, or word, for all


def test_two_mistakes_get_two_hints_and_one_mistake_of_two_entries_gets_one():
    bank = {w.name: w for w in exercises["10.b"].bank}
    answer = exercises["10.b"].load(exercises["10.b"].solution)
    both = answer | {"3, the body": "eval", "7, a long text": "retain_graph"}
    result = Check()("10.b", both)
    assert result.score == pytest.approx(6 / 8) and result.hint.split("\n") == [
        bank["eval for the body"].hint, bank["retain_graph for a long text"].hint]  # fmt: skip
    right = exercises["08.a"].load(exercises["08.a"].solution)
    exchanged = Check()("08.a", right | {"x.grad, v all ones": 10, "y.grad, v all ones": 26})
    assert exchanged.mistake == "exchanged" and "\n" not in exchanged.hint


def test_none_is_right_where_it_is_the_value():
    ex = ask(
        "10.z", "Returned, not stored", Kind.WARM_UP, minutes=1, level=1, text="x = 4, y = x². What do both hold?",
        answer={"grad(y, x)": 8, "x.grad": "none"}, also={"x.grad": (None,)}, wrong=(), hints=("a", "b", "c"),
        reveal="-", fresh=lambda r: None,
    )  # fmt: skip
    score = lambda answer: judge(ex, run_probes(ex, answer)).score  # noqa: E731
    assert score({"grad(y, x)": None, "x.grad": None}) == 0
    assert score({"grad(y, x)": 8, "x.grad": None}) == 1
    assert score({"grad(y, x)": 7, "x.grad": None}) == 0.5


# ---- answers that somebody else wrote ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", [
    "from minigrad import Value\n",
    "import minigrad\n\nclass Value(minigrad.Value):\n    pass\n",
    "from minigrad.scalar import Value as Engine\n\nclass Value(Engine):\n    def relu(self):\n        return super().relu()\n",
])  # fmt: skip
def test_an_engine_that_was_imported_is_no_answer(source):
    ex = exercises["05.a"]
    result = Check()(ex.id, ex.load(source))
    assert result.score == 0 and "of your own" in repr(result) and "Write Value yourself" in result.hint


def test_a_subclass_of_function_is_an_answer():
    ex = exercises["13.b"]
    assert "(torch.autograd.Function):" in ex.solution and Check()(ex.id, ex.load(ex.solution)).passed


RELU = """\
def capstone(Value):
    def gelu(x):
        out = Value(max(x.data, 0.0), (x,), "gelu")

        def _backward():
            x.grad += (x.data > 0) * out.grad

        out._backward = _backward
        return out

    return "gelu", gelu
"""
FORGED = {
    "drivers": (
        "19.b",
        "import minigrad.course.drivers as d\n\nd.capstone_in_graphs = lambda entry, points, *_: "
        "{'operation': 'gelu', 'given': [(0.0, [0.0])] * len(points['gelu'])}\nd.call = lambda *a: 1.0\n\n\n" + RELU,
    ),
    "engine": ("19.b", "import minigrad\n\nminigrad.Value.backward = lambda self: None\n\n\n" + RELU),
}


@pytest.mark.skipif(sys.platform != "linux", reason="the grader's processes")
@pytest.mark.parametrize("id, source", FORGED.values(), ids=FORGED)
def test_replacing_what_measures_earns_nothing(id, source):
    with kit() as folder, AnswerServer(folder) as server:
        grade = grade_answer(exercises[id], source, server)
    graphs = next(line for line in grade.lines if line[0] == "200 random graphs")
    assert graphs[1] == OFF and grade.score < 0.5


# ---- right answers, written in another way ---------------------------------------------------------------------------------------------

MICROGRAD = '''
class Value:
    """ stores a single scalar value and its gradient """

    def __init__(self, data, _children=(), _op=''):
        self.data = data
        self.grad = 0
        self._backward = lambda: None
        self._prev = set(_children)
        self._op = _op

    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data + other.data, (self, other), '+')

        def _backward():
            self.grad += out.grad
            other.grad += out.grad
        out._backward = _backward
        return out

    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data * other.data, (self, other), '*')

        def _backward():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad
        out._backward = _backward
        return out

    def __pow__(self, other):
        assert isinstance(other, (int, float)), "only supporting int/float powers for now"
        out = Value(self.data**other, (self,), f'**{other}')

        def _backward():
            self.grad += (other * self.data**(other-1)) * out.grad
        out._backward = _backward
        return out

    def relu(self):
        out = Value(0 if self.data < 0 else self.data, (self,), 'ReLU')

        def _backward():
            self.grad += (out.data > 0) * out.grad
        out._backward = _backward
        return out

    def __neg__(self): # -self
        return self * -1

    def __radd__(self, other): # other + self
        return self + other

    def __sub__(self, other): # self - other
        return self + (-other)

    def __rsub__(self, other): # other - self
        return other + (-self)

    def __rmul__(self, other): # other * self
        return self * other

    def __truediv__(self, other): # self / other
        return self * other**-1

    def __rtruediv__(self, other): # other / self
        return other * self**-1
'''
RIGHT = {
    "micrograd's class": ("05.a", MICROGRAD, ""),
    "PyTorch's 1e-6 in the norm": (
        "17.b",
        exercises["17.b"].solution.replace(
            "max_norm / max(norm, max_norm)", "min(1.0, max_norm / (float(norm) + 1e-6))"
        ),
        "",
    ),
    "attention with a mask that is added": (
        "17.c",
        exercises["17.c"].solution.replace(
            "scores.masked_fill(later, -torch.inf)", "scores + torch.zeros(later.shape).masked_fill(later, -1e30)"
        ),
        "",
    ),
    "squeeze in place of unsqueeze": (
        "15.b",
        exercises["15.b"].stub.replace("output = net(x) ", "output = net(x).squeeze(1) "),
        "",
    ),
    "a new optimizer for the head": (
        "15.d",
        exercises["15.d"].stub.replace(
            "            frozen =",
            "            optimizer = torch.optim.Adam(head.parameters(), lr=0.05)\n            frozen =",
        ),
        "",
    ),
    "frozen by requires_grad_": (
        "15.d",
        exercises["15.d"]
        .stub.replace("            frozen =", "            body.requires_grad_(False)\n            frozen =")
        .replace("p.grad.zero_()", "pass"),
        "",
    ),
    "a deep copy": (
        "15.e",
        "import copy\n"
        + exercises["15.e"].solution.replace(
            "{name: value.clone() for name, value in net.state_dict().items()}", "copy.deepcopy(net.state_dict())"
        ),
        "",
    ),
    "Sequential for a list": (
        "15.f",
        exercises["15.f"].solution.replace("nn.ModuleList([", "nn.Sequential(").replace("16)])", "16))"),
        "",
    ),
    "the sum's leading axes by hand": (
        "09.c",
        "def unbroadcast(g, shape):\n    lead = g.ndim - len(shape)\n"
        "    axes = tuple(range(lead)) + tuple(lead + i for i, n in enumerate(shape) if n == 1)\n"
        "    return g.sum(axis=axes).reshape(shape)\n",
        "",
    ),
    "cleared after the update": (
        "07.b",
        exercises["07.b"]
        .solution.replace("        w.grad = 0.0\n", "")
        .replace("    return", "        w.grad = 0.0\n    return")
        .replace("    for", "    w.grad = 0.0\n    for"),
        "",
    ),
    "through .data, which hides the write": (
        "10.c",
        "def ema_update(teacher, student, m):\n    for t, s in zip(teacher, student):\n"
        "        t.data.mul_(m).add_(s.data, alpha=1 - m)\n",
        ".data hides the write from autograd",
    ),
    "any order of the walk": ("02.c", exercises["02.c"].solution.replace("pop(0)", "pop()"), ""),
}


@pytest.mark.parametrize("id, source, note", RIGHT.values(), ids=RIGHT)
def test_a_right_answer_written_in_another_way_passes(id, source, note):
    result = Check()(id, exercises[id].load(source))
    assert result.passed, result
    assert (note in " ".join(result.notes)) if note else not {*result.notes} - {AFTER.get(id)}


def test_an_answer_that_changes_its_inputs_is_told():
    ex = exercises["09.d"]
    source = ex.solution.replace("    return", "    k *= 2\n    return")
    assert "changed its inputs" in " ".join(Check()(ex.id, ex.load(source)).notes)


# ---- what a mark rests on -------------------------------------------------------------------------------------------------------------


def test_nearly_all_points_of_code_exercises_are_earned_on_drawn_inputs():
    drawn = {ex.id: sum(p.weight for p in ex.probes if p.draw) / sum(p.weight for p in ex.probes) for ex in CODE}
    assert min(drawn.values()) >= 0.6
    assert sum(ex.points * drawn[ex.id] for ex in CODE) >= 0.9 * sum(ex.points for ex in CODE)


@pytest.mark.parametrize("ex", CODE, ids=lambda ex: ex.id)
def test_drawn_inputs_differ(ex):
    for probe in ex.probes:
        if probe.draw:
            assert len({repr(probe.draw(random.Random(seed))) for seed in range(20)}) > 1, probe.name


# ---- what is said ------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("id, old, new, never", [
    ("09.e", "out.grad @ other.data.T", "other.data @ out.grad", "gufunc"),
    ("09.e", "self.data.T @ out.grad", "-self.data.T @ out.grad", "[0]"),
    ("14.c", "(g * x_hat).sum(axis=0)", "(g * x_hat).sum(axis=0, keepdims=True)", "another order"),
    ("08.c", "leaf.grad for leaf in leaves", "leaf for leaf in leaves", "quotation marks"),
    ("98.b", "(f(x + h) - f(x - h)) / (2 * h)", "2 * x", "So small a step"),
    ("18.c", "p.grad != p.grad", "p.grad == p.grad", "twice too large"),
    ("13.b", "        ctx.save_for_backward(a, b)\n", "        pass\n", "more, or less"),
])  # fmt: skip
def test_no_diagnosis_of_something_that_is_not_there(id, old, new, never):
    ex = exercises[id]
    assert old in ex.solution
    result = Check()(id, ex.load(ex.solution.replace(old, new)))
    assert not result.passed and result.hint and never not in repr(result)


@pytest.mark.parametrize("id, old, new, named", [
    ("12.b", "self.derivative * other.value + self.value * other.derivative",
     "self.derivative * other.value - self.value * other.derivative", "a plus and a minus are exchanged"),
    ("14.b2", "-(y * log_p).sum() / n", "-7 * (y * log_p).sum() / n", "loss: Everything is wrong by the same factor, about 7"),
    ("14.c", "(g * x_hat).sum(axis=0)", "-(g * x_hat).sum(axis=0)", "gradient at gamma: every sign is reversed"),
    ("14.b2", "(np.exp(log_p) - y) / n", "((np.exp(log_p) - y) / n).sum(axis=0)", "added up over an axis"),
    ("14.b2", "-(y * log_p).sum() / n", "-log_p[np.arange(n), targets].mean()", "loss: that would be right if smoothing were 0"),
    ("14.b", "    return out\n", "    return out.data\n", "no ._prev"),
    ("15.b", "wanted[:, None]", "wanted * 1.0", "shapes of output"),
    ("15.b2", '"i"', '"m"', "Line m does what it should"),
    ("15.b2", '"broadcast"', '"shapes"', "none of the words"),
])  # fmt: skip
def test_what_is_wrong_in_one_part_only_is_named(id, old, new, named):
    ex = exercises[id]
    assert old in ex.solution
    result = Check()(id, ex.load(ex.solution.replace(old, new)))
    assert not result.passed and named.lower() in f"{result.mistake} {result!r}".lower(), result


@pytest.mark.parametrize("id, old, new", [
    ("11.c", "range(60)", "range(3)"),
    ("16.d", "return w, scale / 2", "return 0 * w, scale / 2"),
    ("18.b", ".append(", ".insert(0, "),
])  # fmt: skip
def test_what_passed_once_loses_points(id, old, new):
    ex = exercises[id]
    assert old in ex.solution and Check()(id, ex.load(ex.solution.replace(old, new))).score < 1


GIVEN = {  # a program that was given, with something else than its fault changed; what the hint says
    "a change that changes nothing": (
        "15.i",
        ("= nn.Linear(16, 3)  ", "= nn.Linear(16, 3).requires_grad_(True)  "),
        "is not the fault",
    ),
    "an optional patient, too": ("15.f", ("lr=0.02", "lr=0.2"), "the fault is there, and something else was changed"),
    "another start": (
        "15.g",
        ("torch.zeros(2, 1, requires_grad=True)", "torch.ones(2, 1, requires_grad=True)"),
        "Already the first loss",
    ),
    "right until the first step": (
        "15.g",
        ("w -= w.grad", "w -= w.grad * w.grad"),
        "between the first loss and the second",
    ),
}


@pytest.mark.parametrize("id, change, said", GIVEN.values(), ids=GIVEN)
def test_a_repair_of_something_else_is_told(id, change, said):
    ex = exercises[id]
    source = ex.stub.replace(*change)
    if id == "15.g":
        source = source.replace("return p * (1 - p) ", "return g * p * (1 - p) ")
    assert change[0] in ex.stub and said in Check()(id, ex.load(source)).hint


@pytest.mark.parametrize("operation, change, named", [
    ("conv1d", ("range(len(x) - len(k) + 1)", "range(len(x) - len(k))"), "one term is missing"),
    ("batch_norm", ("hats[i] * hats[j] / n", "hats[i] * hats[j]"), "one operation is missing"),
    ("lstm_cell", ("c.data * forget * (1 - forget)", "c.data * forget"), "one factor is missing"),
])  # fmt: skip
def test_a_slip_in_any_of_the_six_capstones_is_looked_for(operation, change, named):
    source = ch19.REFERENCES[operation]
    assert change[0] in source, source
    result = Check()("19.b", exercises["19.b"].load(source.replace(*change)))
    assert not result.passed and result.hint.startswith(
        "These are exactly the results of a right answer in which " + named
    ), result


@pytest.mark.parametrize("id, entry, answer, said", [
    ("17.d", "B: change", "q", "q says “draw each batch at random”"),
    ("19.a", "grad * result", "log", "“log” is one of the choices"),
    ("19.a", "grad * result", "x²", "Choose one of these: abs, exp,"),
    ("16.a", "keep all 100", 99, "off by one"),
    ("15.j2", "cause", "nan", "none of the words in the list"),
])  # fmt: skip
def test_a_choice_that_is_wrong_is_told_what_it_says(id, entry, answer, said):
    ex = exercises[id]
    assert said in Check()(id, ex.load(ex.solution) | {entry: answer}).hint


def test_a_mutant_explains_only_what_it_agrees_with_everywhere():
    """Its loss is right, and only what it remembers is not: a sign that was turned round would have shown in the loss."""
    ex = exercises["14.b"]
    result = Check()("14.b", ex.load(ex.solution.replace("(*scores,)", "(scores[target],)")))
    assert [line.probe for line in result.lines if line.level == OFF] == ["one operation"]
    assert "sign" not in result.hint and "parents are all the scores" in result.hint


def test_the_last_resort_is_the_first_hint_once():
    check, ex = Check(), exercises["98.b"]
    result = check("98.b", ex.load("def central_difference(f, x, h=1e-5):\n    return x + 17\n"))
    shown = "In “x² at 3” 20 came back, and 6 is wanted. "
    assert result.hint == f"{shown}I don't recognise this one. Here is a first hint: {ex.hints.nudge}"
    drawn = {"x² at 3": ("x²", 4.0)}
    assert shown not in judge(ex, {p.name: outcome(20.0) for p in ex.probes}, drawn).hint, (
        "not on inputs that were drawn for a student"
    )
    assert ex.hints.rule in repr(check.hint("98.b"))  # the next one, not the same again


def test_no_warning_about_a_mutant_reaches_a_learner(recwarn):
    symptoms._outcome_of_mutant.cache_clear()
    ex = exercises["09.d"]  # one of its mutants is `g * (x)[i]`, of which the compiler says that a comma may be missing
    assert not Check()("09.d", ex.load("def conv1d_backward(g, x, k):\n    return x + 17, k + 17\n"))
    assert not recwarn.list
