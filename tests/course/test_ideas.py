"""Points by idea: a wrong answer loses what the idea that it misses is worth, and the check and the feedback page name that idea."""

import pytest

from minigrad.course import exercises
from minigrad.course.checking import Check
from minigrad.course.guard import run_probes
from minigrad.course.judge import judge

WITH_IDEAS = [ex for ex in exercises.values() if ex.ideas]


def judged(id, name):
    ex = exercises[id]
    wrong = next(w for w in ex.bank if w.name == name)
    return judge(ex, run_probes(ex, ex.load(ex.source_of(wrong))))


@pytest.mark.parametrize("ex", WITH_IDEAS, ids=lambda ex: ex.id)
def test_every_probe_tests_an_idea_and_the_ideas_are_worth_all_points(ex):
    assert {p.idea for p in ex.probes} == set(ex.ideas)
    assert sum(ex.ideas.values()) == pytest.approx(1) and min(ex.ideas.values()) > 0


def test_a_probe_without_ideas_is_scored_by_its_weight():
    ex = exercises["01.b"]
    assert not ex.ideas and not any(p.idea for p in ex.probes)
    assert sum(worth for _, worth, _ in ex.parts) == pytest.approx(1)


@pytest.mark.parametrize("id, name, missing, most", [
    ("05.a", "overwrites in the sum", ["sum", "together"], 0.8),
    ("05.a", "power overwrites", ["power"], 0.9),
    ("05.a", "relu overwrites", ["relu", "together"], 0.8),
    ("05.b", "depth first from the root", ["order"], 0.5),
    ("05.b", "the largest number first", ["order"], 0.5),
    ("05.b", "values that are equal count as one", ["each value once", "order"], 0.4),
    ("05.b", "remembers the first call", ["leaves others alone"], 0.85),
    ("04.c", "seed forgotten", ["seed"], 0.8),
    ("04.c", "max passes to both", ["max"], 0.85),
    ("04.c", "overwrites", ["accumulation"], 0.7),
    ("06.c", "lets nan pass", ["nan"], 0.85),
    ("06.c", "two uses with g = 1", ["upstream gradient"], 0.85),
    ("02.d", "every second visit is a cycle", ["honest graphs"], 0.6),
    ("02.d", "only direct cycles", ["longer cycles"], 0.5),
    ("16.b", "recomputes from the start", ["little memory and little work"], 0.5),
    ("11.c", "column by column", ["few products"], 0.5),
])  # fmt: skip
def test_a_known_mistake_loses_its_idea_and_no_other(id, name, missing, most):
    verdict = judged(id, name)
    assert sorted(idea for idea, there in verdict.ideas if not there) == sorted(missing)
    assert 0 < verdict.score <= most + 1e-9


def test_the_check_names_what_is_there_and_what_is_not():
    ex = exercises["05.b"]
    wrong = next(w for w in ex.bank if w.name == "depth first from the root")
    result = Check()("05.b", ex.load(ex.source_of(wrong)))
    line = "seed ✓ · order ✗ · each value once ✓ · leaves others alone ✓"
    assert line in repr(result) and line in result._repr_html_()
    assert "✗" not in repr(Check()("05.b", ex.load(ex.solution)))


@pytest.mark.parametrize("part", ["stub", "solution"])
@pytest.mark.parametrize("walked", ["values_of(root)", "reversed(values_of(root))"])
def test_no_earlier_chapter_prints_the_order_that_05b_asks_for(part, walked):
    given = getattr(exercises["02.d"], part)
    source = given + f"\n\ndef backward(root):\n    root.grad = 1.0\n    for v in {walked}:\n        v._backward()\n"
    verdict = judge(exercises["05.b"], run_probes(exercises["05.b"], exercises["05.b"].load(source)))
    assert ("order", False) in verdict.ideas and verdict.score <= 0.5
