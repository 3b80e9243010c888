"""The small breaks of `make mutants` still belong to the code. The command itself takes minutes and is no part of the tests."""

from tools import mutants


def test_the_breaks_change_lines_that_exist():
    assert len(mutants.MUTANTS) >= 30
    assert len(mutants.stale()) <= 5, "choose others like them in tools/mutants.py"
    assert all(m.old != m.new and m.tests for m in mutants.MUTANTS)
