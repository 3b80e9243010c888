"""S8: the learner's class beside the engine. Values against closed forms, and the first place of every known mistake."""

import re

import pytest

import minigrad
from minigrad.course import exercises
from widgets.lessons import own_engine
from widgets.lessons.cards import ROOM
from widgets.lessons.listen import listen
from widgets.lessons.programs import PROGRAMS, diamond, neuron, square_line, two_layers

SOLUTION = exercises["05.a"].load(exercises["05.a"].solution)
BACKWARD = exercises["05.b"].load(exercises["05.b"].solution)
DIAMOND = {"a": 2.0, "b": 3.0}


def wrong(id, name):
    ex = exercises[id]
    return ex.load(next(w.answer for w in ex.bank if w.name == name))


def grads(recording):
    return {n.label: n.grad for n in recording.nodes}


def rights(recording):
    return {n.label: n.right_grad for n in recording.nodes}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize(
    "make", [lambda: (SOLUTION, BACKWARD), lambda: (minigrad.Value, None)], ids=["the learner's", "the engine's own"]
)
def test_a_right_engine_agrees_everywhere(name, make):
    cls, backward = make()
    program, inputs = PROGRAMS[name]
    recording = listen(cls, program, inputs, backward)
    assert recording.good and recording.phase == "done" and recording.wrong_node is None
    assert all(n.right_value is not None for n in recording.nodes if not n.constant and n.label not in ("t14", "−1"))


def test_the_numbers_of_the_course():
    """Against values worked out by hand, for the learner's class and for the engine beside it."""
    for side in (grads, rights):
        got = side(listen(SOLUTION, diamond, DIAMOND, BACKWARD))
        assert {n: got[n] for n in "abcdefy"} == {"a": 25, "b": 19, "c": 7, "d": 6, "e": 1, "f": 1, "y": 1}
        assert side(listen(SOLUTION, square_line, {"x": 1.0}, BACKWARD))["x"] == 30
        got = side(listen(SOLUTION, neuron, PROGRAMS["neuron"][1], BACKWARD))
        assert (got["w1"], got["w2"]) == (2, 3)
        got = side(listen(SOLUTION, two_layers, PROGRAMS["two-layer net"][1], BACKWARD))
        assert [got[n] for n in ("w1", "w2", "w3")] == pytest.approx([-4.968, 6.624, -0.276], abs=1e-12)
    values = {n.label: n.value for n in listen(SOLUTION, two_layers, PROGRAMS["two-layer net"][1], BACKWARD).nodes}
    assert (values["out"], values["loss"]) == pytest.approx((-0.38, 1.9044), abs=1e-12)


@pytest.mark.parametrize("name, a, b, node, said", [
    ("plain recursion", 29, 22, "c", "c runs too early: its gradient is only 1 before f has contributed. The complete gradient is 7."),
    ("depth first from the root", 4, 3, "c", "c runs too early"),
    ("leaves before the root", 0, 0, "c", "its own gradient is still 0"),
    ("no seed", 0, 0, "y", "must start with y.grad = 1"),
    ("seed is the root's value", 25 * 41, 19 * 41, "y", "must start with y.grad = 1"),
    ("only the root's rule", 0, 0, "d", "Nothing was ever added to d.grad"),
    ("clears each parent first", None, None, "c", "set back to 0"),
])  # fmt: skip
def test_the_first_wrong_place_of_a_backward_pass(name, a, b, node, said):
    recording = listen(SOLUTION, diamond, DIAMOND, wrong("05.b", name))
    assert not recording.good and said in recording.verdict
    assert recording.nodes[recording.wrong_node].label == node
    if a is not None:
        assert (grads(recording)["a"], grads(recording)["b"]) == (a, b)
    assert (rights(recording)["a"], rights(recording)["b"]) == (25, 19)


def test_a_short_and_a_long_way_unmask_breadth_first():
    lucky = listen(SOLUTION, diamond, DIAMOND, wrong("05.b", "breadth first"))
    unlucky = listen(SOLUTION, *PROGRAMS["a short and a long way"], wrong("05.b", "breadth first"))
    assert lucky.good and not unlucky.good and "p runs too early" in unlucky.verdict


@pytest.mark.parametrize("name, program, said", [
    ("overwrites everywhere", "diamond", "c already had 6, and e replaced it by 1"),
    ("product's factors exchanged", "diamond", "f passes 5 back to c, and 6 is right"),
    ("product ignores the upstream gradient", "diamond", "d passes 3 back to a, and 18 is right"),
    ("sum ignores the upstream gradient", "diamond", "c passes 1 back to a, and 7 is right"),
    ("power keeps its exponent", "y = (3x + 2)²", "y passes 50 back to u, and 10 is right"),
    ("relu passes data instead of gradient", "neuron", "out passes 0.2 back to n, and 1 is right"),
    ("no reflected product", "y = (3x + 2)²", "Python asks the number first (int.__mul__), then Value.__rmul__, which is not there yet"),
    ("plain numbers not wrapped", "y = (3x + 2)²", "'int' object has no attribute 'data'"),
    ("rule never attached", "diamond", "Nothing was ever added to f.grad"),
    ("forgets to return the result", "diamond", "c = a + b   gives None"),
    ("parents forgotten", "diamond", "d remembers no parents"),
    ("rule called instead of kept", "diamond", "'NoneType' object is not callable"),
])  # fmt: skip
def test_the_first_wrong_place_of_a_class(name, program, said):
    recording = listen(wrong("05.a", name), *PROGRAMS[program], BACKWARD)
    assert not recording.good and said in recording.verdict


def test_a_wrong_value_is_found_in_the_forward_pass():
    def program(a, b):
        c = a * b
        y = c + a
        return y

    broken = exercises["05.a"].load(
        exercises["05.a"].solution.replace("Value(self.data * other.data", "Value(self.data * other.data + 1")
    )
    recording = listen(broken, program, DIAMOND, BACKWARD)
    assert recording.phase == "forward" and recording.nodes[recording.wrong_node].label == "c"
    assert "c is 7 in your class, and 6 is right" in recording.verdict


def test_other_ways_to_write_an_engine_are_understood():
    """micrograd's set of parents; local derivatives instead of closures; gradients summed in a table of their own."""
    sets = exercises["05.a"].load(exercises["05.a"].solution.replace("self._prev = _prev", "self._prev = set(_prev)"))
    for program, inputs in PROGRAMS.values():
        assert listen(sets, program, inputs, BACKWARD).good

    def table(root):
        order, seen = [], set()

        def visit(v):
            if v not in seen:
                seen.add(v)
                for p in v._prev:
                    visit(p)
                order.append(v)

        visit(root)
        sums = {root: 1.0}
        for v in reversed(order):
            v.grad = sums.get(v, 0.0)
            for p, d in zip(v._prev, v._local, strict=True):
                sums[p] = sums.get(p, 0.0) + (d or 0.0) * v.grad

    assert listen(minigrad.Value, diamond, DIAMOND, table).good


def test_listening_leaves_the_class_as_it_was():
    before = dict(vars(minigrad.Value))
    listen(minigrad.Value, diamond, DIAMOND)
    listen(minigrad.Value, diamond, DIAMOND, wrong("05.b", "plain recursion"))
    assert dict(vars(minigrad.Value)) == before
    assert "grad" not in vars(SOLUTION)
    listen(SOLUTION, diamond, DIAMOND, BACKWARD)
    assert "grad" not in vars(SOLUTION)


def test_an_endless_pass_is_stopped():
    def endless(root):
        while True:
            for p in root._prev:
                p.grad += 1

    assert "does not come to an end" in listen(SOLUTION, diamond, DIAMOND, endless).verdict


def stub():
    return exercises["05.a"].load(exercises["05.a"].stub), exercises["05.b"].load(exercises["05.b"].stub)


class Nothing:
    pass


class NoGrad:
    def __init__(self, data):
        self.data = data


@pytest.mark.parametrize("args, said", [
    (lambda: stub(), "d = a * b   gives None: its operator has no return yet."),
    (lambda: (SOLUTION, stub()[1]), "changed no gradient"),
    (lambda: (SOLUTION,), "All 7 values are right. Value has no backward() yet."),
    (lambda: (Nothing,), "Nothing(2.0) does not work yet"),
    (lambda: (NoGrad,), "no .grad yet"),
    (lambda: (SOLUTION(1.0),), "needs your class itself"),
    (lambda: (SOLUTION, 5), "must be a function of the root"),
    (lambda: (SOLUTION, BACKWARD, lambda x: x.nothing()), "stops even with minigrad's Value"),
    (lambda: (SOLUTION, lambda root: 1 / 0), "ZeroDivisionError"),
])  # fmt: skip
def test_what_is_missing_is_said_in_a_sentence(args, said):
    assert said in own_engine(*args()).text()


def test_the_widget_steps_through_what_the_class_did():
    lesson = own_engine(SOLUTION, wrong("05.b", "plain recursion"))
    assert lesson.figure.program == "diamond" and lesson.figure.step == lesson.figure.last == 15
    assert (
        "29, not 25" in lesson.picture() and "22, not 19" in lesson.picture() and "✗ c runs too early" in lesson.text()
    )
    lesson.set(step=2)
    assert "not 25" not in lesson.picture() and "y passes its gradient back to e" in lesson.text()
    lesson.set(program="y = (3x + 2)²")
    assert "✓ All 6 values" in lesson.text()
    lesson.set(x=2.0)
    assert ">64<" in lesson.picture() and "48" in lesson.text()  # (3·2 + 2)² and 6 (3·2 + 2)


def test_the_learners_own_program():
    lesson = own_engine(SOLUTION, BACKWARD, lambda x: x * x * x, x=2)
    assert lesson.figure.program == "your program" and " 12 " in lesson.text()


def test_static_twin_is_the_same_twice():
    bundles = [own_engine(SOLUTION, BACKWARD)._repr_mimebundle_() for _ in range(2)]
    assert (
        bundles[0]["image/svg+xml"] == bundles[1]["image/svg+xml"]
        and bundles[0]["text/plain"] == bundles[1]["text/plain"]
    )
    assert "<title>" in bundles[0]["image/svg+xml"] and ">✓ 25<" in bundles[0]["image/svg+xml"]


def test_the_engine_is_about_sixty_lines():
    """What chapter 05 promises."""
    lines = [line for id in ("05.a", "05.b") for line in exercises[id].solution.splitlines() if line.strip()]
    assert 55 <= len(lines) <= 65


def test_cards_and_arrows_are_those_of_the_graph_view():
    """Value and gradient with their words, a head on every wire, and no wider than a notebook's narrow column allows."""
    drawn = own_engine().picture()
    wide = float(re.search(r'viewBox="0 0 ([\d.]+)', drawn)[1])
    assert wide <= ROOM and drawn.count('class="wire sent') == drawn.count('class="tip sent') == 10
    words = re.findall(r">([^<>]+)</text>", drawn)
    assert words.count("value") == words.count("grad") == 7 and "✓ 25" in words


def test_no_two_columns_of_the_table_have_one_name():
    head = own_engine().figure.table().head
    assert len({*head}) == len(head)
