"""Your engine as it grows: the table of pieces is that of the course, and an operation lights up only if its rule is right."""

import importlib

import pytest

from minigrad.course import checking, exercises
from tests.course.test_check import chapters_that_take, in_a_cell
from widgets.lessons import growth

module = importlib.import_module("widgets.lessons.growth")


@pytest.fixture
def check(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fresh = checking.Check()
    monkeypatch.setattr(module, "check", fresh)
    return fresh


def test_the_pieces_are_those_that_can_be_kept_and_their_chapters_those_that_take_them():
    assert [piece.id for piece in module.PIECES] == [ex.id for ex in exercises.values() if ex.reused]
    taken = chapters_that_take()
    for piece in module.PIECES:
        assert set(piece.used) == {n for n in taken.get(piece.id, ()) if n > piece.id[:2]}, piece.id


def test_what_is_kept_is_yours_and_what_is_wrong_does_not_light_up(check):
    assert "0 of 14 pieces are yours. 19 of 19 operations agree" in growth().text()
    source = exercises["09.e"].solution
    check("05.a", in_a_cell("05.a"))
    check._passed["09.e"] = exercises["09.e"].load(source.replace("out.data * out.grad", "self.data * out.grad"))
    checking.own.lend(check._passed["09.e"], unbroadcast=exercises["09.c"].load(exercises["09.c"].solution))
    assert "2 of 14 pieces are yours. 18 of 19 operations agree" in growth().text()
    assert module.agreeing("exp A") == 0 and module.agreeing("log A") == 10 and "✗ exp A" in growth().text()
