"""`check` in a notebook: a cell that is no Python, the wall of a half-written answer, and what a passed one shows."""

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from minigrad.course import exercises
from minigrad.course.checking import Check
from minigrad.course.exercises import ch05


@pytest.fixture
def shell():
    shell = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
    shell.run_cell("%load_ext minigrad", store_history=True)
    shell.run_cell("from minigrad.course import check", store_history=True)
    yield shell
    shell.run_cell("%unload_ext minigrad")
    InteractiveShell.clear_instance()


DESCEND = exercises["01.b"].solution


@pytest.mark.parametrize("broken, words", [
    (DESCEND.replace("):\n", ")\n", 1), "SyntaxError in line"),
    (DESCEND.replace("return", "  return"), "Indent"),
    ("%matplotlib inline\n" + DESCEND.replace("(", "((", 1), "SyntaxError in line 2"),
])  # fmt: skip
def test_a_cell_that_is_no_python_is_said_to_be_so_and_the_version_before_it_is_not_judged(
    shell, capsys, broken, words
):
    cell = 'said = repr(check("01.b", descend))'
    shell.run_cell(DESCEND, store_history=True)
    shell.run_cell(cell, store_history=True)
    assert shell.user_ns["said"].startswith("✓")
    shell.run_cell(broken, store_history=True)
    shell.run_cell(cell, store_history=True)
    assert (
        "not judged: the newest text of descend did not run" in shell.user_ns["said"] and words in shell.user_ns["said"]
    )
    shell.run_cell("%time 1\n" + DESCEND, store_history=True)  # with a magic, and right again
    shell.run_cell(cell, store_history=True)
    assert shell.user_ns["said"].startswith("✓")
    capsys.readouterr()


def test_a_half_written_class_is_told_what_comes_next_and_one_failure():
    ex = exercises["05.a"]
    result = Check()("05.a", ex.load(ch05.HEAD + ch05.ADD))
    said, page = repr(result), result._repr_html_()
    assert "Next: `__mul__`" in said and "of 43 work" in said and said.count("\n  ✗ ") == 1
    assert said.index("Next:") < said.index("\n  ✗ ") and page.index("Next:") < page.index("<li>")
    assert page.count("<li>") == 43 and page.index("<details>") < page.index("<li>✓"), (
        "the others are folded away, and can be opened"
    )
    assert "r-method" not in said and "__rmul__" not in said, (
        "no advice about what only fails because __mul__ is missing"
    )
    assert "sum ✓ · product ✗" in said


def test_a_method_that_is_still_the_stubs_comes_next():
    ex = exercises["05.a"]
    started = ex.stub.replace(
        "...  # local derivative × out.grad, for self and for other", "self.grad += out.grad; other.grad += out.grad"
    )
    assert "Next: `__mul__`" in repr(Check()("05.a", ex.load(started)))


def test_a_passed_answer_folds_its_probes():
    ex = exercises["05.a"]
    result = Check()("05.a", ex.load(ex.solution))
    assert "all 43 probes" in repr(result) and "relu below zero" not in repr(result)
    assert "relu below zero" in result._repr_html_() and "Next:" not in repr(result)


@pytest.mark.parametrize("score, points, said", [
    (1.0, 4, "4 of 4"), (0.9999, 4, "3.9 of 4"), (0.8775, 4, "3.5 of 4"), (0.5, 4, "2 of 4"), (0.3 * 3, 1, "0.9 of 1"), (0.0, 2, "0 of 2"),
])  # fmt: skip
def test_points_have_one_decimal_and_are_never_rounded_up(score, points, said):
    from minigrad.course.result import Result

    assert f"({said} point" in repr(Result("05.a", "t", "failed", score, points))


@pytest.mark.parametrize(
    "id, call", [("01.a", 'check.predict("01.a", your_guess)'), ("01.b", 'check("01.b", descend)')]
)
def test_a_check_without_an_answer_says_which_call_is_meant(id, call):
    assert f"write `{call}`" in repr(Check()(id))


def test_where_is_offered_without_the_extension_only_with_the_line_that_loads_it():
    ex, loaded = exercises["05.b"], Check()
    loaded.where = lambda _: ""
    wrong = ex.load(ex.bank[0].answer)
    assert "after %load_ext minigrad: %where" in repr(Check()("05.b", wrong))
    assert "first wrong node: %where" in repr(loaded("05.b", wrong))
