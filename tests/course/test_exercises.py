"""Every exercise proves itself: its solution passes, its stub is recognised, every wrong answer in its bank gets the promised hint.

All tests here are made from the definitions, so that a new exercise is tested by being written.
"""

import random
import re
import time
from pathlib import Path

import pytest

from minigrad.course import exercises
from minigrad.course.checking import Check
from minigrad.course.exercise import Kind
from minigrad.course.grading.replay import fresh_share, replayed
from minigrad.course.guard import run_probes
from minigrad.course.judge import compare, judge, wanted
from minigrad.course.plain import plain

from ..thorough import THOROUGH

ALL = list(exercises.values())
each_exercise = pytest.mark.parametrize("ex", ALL, ids=lambda ex: ex.id)
# Values are the same for everybody
each_code = pytest.mark.parametrize("ex", [ex for ex in ALL if not ex.is_value], ids=lambda ex: ex.id)


def leaves(x):
    if isinstance(x, dict):
        x = list(x.values())
    return [leaf for item in x for leaf in leaves(item)] if isinstance(x, list) else [x]


def numbers_in(text):
    text = re.sub(r"\d+ items? (is|are) needed, there are \d+", "", text)
    text = re.sub(r"\bin line \d+(, `[^`]*`)?", "", text)
    text = re.sub(r"\b(entry|item|row|column) \d+|\[\d+\]|\([\d, ]*,[\d, ]*\)", "", text)  # a place, a shape
    return re.findall(r"(?<![\w.])-?\d+(?:,\d{3})*(?:\.\d+)?(?:e-?\d+)?(?![\w²³·])", text)


def tells(text, value):
    """Whether a number in `text` is `value`, to the digits it is written with."""
    for token in numbers_in(text):
        number, digits = float(token.replace(",", "")), len(re.sub(r"e.*|\D", "", token).strip("0"))
        if number == value or (digits >= 3 and abs(number - value) <= 5e-4 * abs(value)):
            return token
    return ""


@each_exercise
def test_solution_passes(ex):
    result = Check()(ex.id, ex.load(ex.solution))
    assert result.passed and repr(result).startswith("✓"), result
    assert result.score == 1.0 and not result.hint


@each_exercise
def test_stub_runs_and_is_recognised(ex):
    result = Check()(ex.id, ex.load(ex.stub))
    assert not result.passed and result.score == 0
    assert repr(result).startswith(f"○ {ex.id} not tried yet: ") and "\n" not in repr(result)
    assert (ex.entry if ex.graded else "check.predict") in repr(result)


@each_exercise
def test_wrong_answers_get_the_promised_hint_in_time_and_no_failure_tells_the_answer(ex):
    for wrong in ex.bank:
        start = time.process_time()  # the machine that runs the tests may be busy with others
        result = Check()(ex.id, ex.load(ex.source_of(wrong)))
        took = time.process_time() - start
        assert not result.passed and repr(result).startswith("✗"), (wrong.name, result)
        assert result.hint == wrong.hint, f"{wrong.name} is recognised as {result.mistake!r}"
        assert 0 <= result.score < 1, wrong.name
        in_time(ex, wrong, took, repr([line.say for line in result.lines]))
        tells_nothing(ex, wrong, result)


def in_time(ex, wrong, took, said):
    allowed = max(0.2, ex.limits.seconds / 10) + (ex.limits.seconds if "stopped after" in said else 0)
    for _ in range(3):  # the other core is busy with other tests: a slow answer counts when it stays slow
        if took < allowed:
            break
        start = time.process_time()
        Check()(ex.id, ex.load(ex.source_of(wrong)))
        took = min(took, time.process_time() - start)
    assert took < allowed, f"{wrong.name}: {took:.3f} s"


def tells_nothing(ex, wrong, result):
    for probe, line in zip(ex.probes, result.lines, strict=True):
        # A busy machine; the number is the time limit. Or the engine's own words about an argument.
        if probe.raises or probe.accept or line.say.startswith(("stopped after", "RuntimeError in line")):
            continue
        for want in leaves(wanted(ex, probe, probe.args)):
            if isinstance(want, str):
                assert len(want) < 3 or want not in line.say, (wrong.name, line)
            elif type(want) in (int, float) and "Error" not in line.say and abs(want) > 1:
                assert not tells(line.say, want), (wrong.name, line, want)


@each_exercise
def test_no_hint_tells_the_answer(ex):
    texts = [ex.hints.nudge, ex.hints.rule, *(w.hint for w in ex.bank)] + ([ex.hints.twin] if ex.is_value else [])
    for probe in ex.probes:
        if probe.raises or probe.accept:
            continue
        for want in leaves(wanted(ex, probe, probe.args)):
            if (
                type(want) not in (int, float)
                or abs(want) <= 1
                or (not ex.is_value and want == int(want) and abs(want) < 10)
            ):
                continue  # 0 and 1 are in every rule, and small numbers in the formulas of code exercises
            for text in texts:
                assert not tells(text, want), (text, want)
    if not ex.is_value:
        body = [line.strip() for line in ex.solution.splitlines() if len(line.strip()) > 25 and line not in ex.stub]
        assert not [line for line in body for text in texts if line in text]


@each_exercise
def test_definition_is_complete(ex):
    assert re.fullmatch(r"\d\d\.[a-z]\d?", ex.id) and isinstance(ex.kind, Kind) and ex.difficulty in (1, 2, 3)
    assert 0 <= ex.points <= 10 and 1 <= ex.minutes <= 60
    assert ex.graded or ex.kind is Kind.PREDICT, "only a prediction earns no points"
    assert ex.title and ex.question.endswith((".", "?", ":")) and ex.reveal
    assert ex.stub.endswith("\n") and ex.solution.endswith("\n") and ex.stub != ex.solution
    assert all(len(line) <= 120 for line in ex.stub.splitlines()), "a stub must fit a notebook cell"
    assert len({p.name for p in ex.probes}) == len(ex.probes) and len({w.name for w in ex.bank}) == len(ex.bank)
    assert len(ex.bank) >= 2, "at least two wrong answers that learners give"
    for wrong in ex.bank:
        assert set(wrong.on) <= {p.name for p in ex.probes}
    for text in (*(t for _, t in ex.hints), ex.reveal, *(w.hint for w in ex.bank)):
        assert 15 <= len(text) <= 420 and text[-1] in ".?!)", text


@each_exercise
def test_written_expectations_agree_with_the_solution(ex):
    """`want` is written by hand or as a closed form: two independent ways to the same numbers."""
    outcomes = run_probes(ex, ex.load(ex.solution))
    for probe in ex.probes:
        if not probe.raises and not probe.accept:
            level, say, _ = compare(outcomes[probe.name]["got"], wanted(ex, probe, probe.args), probe.rtol, probe.atol)
            assert level != "off", (probe.name, say)


@each_code
def test_drawn_inputs_are_solved_by_the_solution(ex):
    for seed in range(5 if THOROUGH else 2):
        rng = random.Random(seed)
        inputs = {p.name: p.draw(rng) for p in ex.probes if p.draw}
        verdict = judge(ex, run_probes(ex, ex.load(ex.solution), inputs), inputs)
        assert verdict.passed, (seed, verdict)


@each_code
def test_wrong_answers_are_caught_and_recognised_on_drawn_inputs(ex):
    for seed in range(2 if THOROUGH else 1):
        for wrong in ex.bank:
            rng = random.Random(seed)
            inputs = {p.name: p.draw(rng) for p in ex.probes if p.draw}
            verdict = judge(ex, run_probes(ex, ex.load(ex.source_of(wrong)), inputs), inputs)
            assert not verdict.passed and verdict.score < 1 and verdict.hint == wrong.hint, (
                wrong.name,
                seed,
                verdict.mistake,
            )


@each_exercise
def test_fresh_variants(ex):
    for seed in range(5):
        fresh = ex.fresh(random.Random(seed))
        answer = plain(fresh.answer)
        assert fresh.question and compare(answer, answer, fresh.rtol, 1e-12)[0] == "exact"
        for value, hint in fresh.wrong:
            if compare(plain(value), answer, fresh.rtol, 1e-12)[0] == "off":
                assert hint and (type(answer) not in (int, float) or abs(answer) <= 1 or not tells(hint, answer)), seed


def test_check_of_fresh_variants():
    check = Check()
    assert "fresh numbers" in repr(check.reveal("01.a", even_so=True))
    fresh = check._current(exercises["01.a"])
    assert repr(check("01.a+", None)).startswith("○ 01.a+ not tried yet: ")
    assert check("01.a+", fresh.answer).passed
    wrong, hint = fresh.wrong[0]
    result = check("01.a+", wrong)
    assert not result.passed and result.hint == hint and str(fresh.answer) not in repr(result)


@pytest.mark.parametrize(
    "name, grads",
    [
        ("plain recursion", (29, 22)),
        ("depth first from the root", (4, 3)),
        ("leaves before the root", (0, 0)),
    ],
)
def test_fingerprints_of_the_diamond(name, grads):
    """The numbers by which a teacher recognises these three mistakes."""
    ex = exercises["05.b"]
    wrong = next(w for w in ex.bank if w.name == name)
    got = run_probes(ex, ex.load(ex.source_of(wrong)))["diamond"]["got"]
    assert (got["a"], got["b"]) == grads
    diamond = next(p for p in ex.probes if p.name == "diamond")
    assert wanted(ex, diamond, diamond.args) == {"y": 1, "f": 1, "e": 1, "d": 6, "c": 7, "b": 19, "a": 25}


def test_instructors_says_which_part_of_the_points_rests_on_fresh_inputs():
    """Of the exercises in the last column of the table of chapters, which are code but for two; a tenth at most from what is measured."""
    root = Path(__file__).parents[2]
    text = "\n".join(
        page.read_text(encoding="utf-8") for page in (root / "INSTRUCTORS.md", root / "docs/teach/chapters.md")
    )
    graded = [
        exercises[id]
        for row in re.findall(r"^\| \d+ \|.*\|([^|]*)\|$", text, re.M)
        for id in re.findall(r"\d\d\.[a-z]", row)
    ]
    whole, rest = sum(ex.points for ex in graded), sum(ex.points * fresh_share(ex) for ex in graded)
    said = re.search(
        r"About (\d+) % of their points rest on results that are right only for inputs", " ".join(text.split())
    )
    assert all(ex.graded for ex in graded) and said and abs(100 * rest / whole - int(said[1])) < 5, 100 * rest / whole


@pytest.mark.parametrize(
    "id, probes", [("01.c", None), ("05.c", None), ("06.c", None), ("17.e", None), ("08.c", ["backward passes"])]
)
def test_a_property_that_a_program_could_claim_is_not_counted_as_fresh(id, probes):
    ex = exercises[id]
    names = [probe.name for probe in ex.probes if probe.draw and replayed(ex, probe)]
    assert names == (probes or [probe.name for probe in ex.probes if probe.draw])
    assert fresh_share(ex) == pytest.approx(
        1 - sum(p.weight for p in ex.probes if p.name in names) / sum(p.weight for p in ex.probes)
    )


@pytest.mark.parametrize("ex", [ex for ex in exercises.values() if ex.working], ids=lambda ex: ex.id)
def test_the_working_leads_to_the_answer(ex):
    """An independent way to the numbers, in which symptoms.py looks for slips."""
    namespace = {}
    exec(ex.working, namespace)
    found, answer = namespace["working"](), ex.load(ex.solution)
    assert found == pytest.approx({key: answer[key] for key in found} if ex.by_entry else answer)
