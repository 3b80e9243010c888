"""S4, the ledger: every cell against central differences and closed forms; wrong cells explained; the learner's own programs; nonsense."""

import math
import re

import pytest

from minigrad import Value
from widgets.lessons import ledger, recap
from widgets.lessons.ledger import Book, Key, close, read

CANNED = "a = x*3; b = a + 1; c = b**2"


def book(f=CANNED, **inputs):
    return Book(f, inputs or {"x": 2.0})


def keys(b, kind):
    return [key for key in b.cells if key.kind == kind]


def said(b, kind, row, got):
    return b.answer(keys(b, kind)[row], got)


def fill(lesson, kind, row, text):
    """Type into a cell, as the browser does; returns the sentence."""
    book = lesson.figure.book
    lesson._on_message(
        None, {"number": 1, "set": "cells", "value": [book.cells.index(keys(book, kind)[row]), text]}, []
    )
    return lesson.scene["say"]


def sheet(lesson):
    """The cells that can be typed in, in their order."""
    rows = lesson.scene["controls"][0]["cells"]
    return [cell for row in rows for cell in row if not isinstance(cell, str)]


def move(lesson, name, value):
    lesson._on_message(None, {"number": 1, "set": name, "value": value}, [])


def test_the_canned_start():
    b = book()
    assert b.value(b.root) == 49
    assert [b.expected(k) for k in keys(b, "local")] == [14, 1, 3]
    assert [b.expected(k) for k in keys(b, "sends")] == [14, 14, 42]
    assert [b.expected(k) for k in keys(b, "arrives")] == [14, 14, 42]  # at b, a and x; c has the seed
    assert ledger().figure.book.value(ledger().figure.book.root) == 49


@pytest.mark.parametrize("f, python, inputs", [
    (CANNED, lambda x: (3 * x + 1) ** 2, {"x": 2.0}),
    ("a = x**2; b = 5*x; c = a + b", lambda x: x * x + 5 * x, {"x": 3.0}),
    ("y = x*x; a = y + 1; b = 2*y; c = a + b", lambda x: 3 * x * x + 1, {"x": 2.0}),
    ("p = w*x; s = p + b; L = s**2", lambda w, x, b: (w * x + b) ** 2, {"w": 3.0, "x": 2.0, "b": -4.0}),
    ("u = x**2; v = exp(u); sin(v) - x/w", lambda x, w: math.sin(math.exp(x * x)) - x / w, {"x": 0.5, "w": 1.7}),
])  # fmt: skip
def test_inputs_against_central_differences(f, python, inputs):
    b, h = Book(f, inputs), 1e-5
    assert b.value(b.root) == pytest.approx(python(**inputs), rel=1e-14)
    assert {b.name(n) for n in b.leaves} == set(inputs)
    for n in b.leaves:
        up, down = ({**inputs, b.name(n): inputs[b.name(n)] + s * h} for s in (1, -1))
        slope = (python(**up) - python(**down)) / (2 * h)
        assert b.expected(Key("arrives", n)) == pytest.approx(slope, rel=1e-7)


def test_every_right_number_is_accepted_and_confirmed():
    b = book("y = x*x; a = y + 1; b = 2*y; c = a + b", x=2.0)
    for key in b.cells:
        assert b.answer(key, b.expected(key)).startswith("✓")
    assert not b.open and b.summary() == "The ledger is complete. At x = 2: dc/dx = 12. All of it is yours."


@pytest.mark.parametrize("kind, row, got, words", [
    ("local", 0, 7, "7 is the value of b"),
    ("local", 0, 49, "49 is the value of c"),
    ("local", 0, 2, "2 is the exponent alone"),
    ("local", 0, 0, "does not change when"),
    ("local", 0, -14, "wrong sign"),
    ("local", 2, 42, "42 is multiplied already"),
    ("local", 2, 14, "14 is the upstream gradient of a"),
    ("local", 1, 3, "3 is the local derivative da/dx"),
    ("sends", 2, 14, "14 is the upstream gradient of a, not multiplied by da/dx yet"),
    ("sends", 2, 3, "3 is the local derivative alone"),
    ("sends", 2, 17, "17 is the sum of the two"),
    ("sends", 2, 84, "84 would be 14 × 6: the upstream gradient of a × the value of a"),
    ("sends", 2, 1000, "not made from the numbers of this row"),
    ("arrives", 1, 42, "42 is what a passes on to x: one step too far"),
    ("arrives", 2, 14, "14 is the upstream gradient of a, which passes it on multiplied by da/dx"),
    ("arrives", 2, 2, "2 is the value of x. This cell asks for its gradient"),
])  # fmt: skip
def test_a_wrong_number_is_named(kind, row, got, words):
    b = book()
    sentence = said(b, kind, row, got)
    assert sentence.startswith("✗") and words in sentence
    assert len(b.open) == 9


def test_paths_are_added_and_factors_swapped():
    b = book("a = x**2; b = 5*x; c = a + b", x=3.0)
    assert "6 is what a passes to x. b passes something to x, too: add" in said(b, "arrives", 2, 6)
    assert "5 is what b passes to x. a passes something to x, too: add" in said(b, "arrives", 2, 5)
    assert "30 is the product of the contributions" in said(b, "arrives", 2, 30)
    assert said(b, "arrives", 2, 11).startswith("✓") and "6 = 11" in said(b, "arrives", 2, 11)
    b = book("y = w*x", w=3.0, x=2.0)
    assert "3 is the derivative with respect to x. This row goes to w" in said(b, "local", 0, 3)
    assert "3 is what y passes to x" in said(book("y = w*x", w=3.0, x=2.0), "sends", 0, 3)
    b = book("y = x*x", x=3.0)
    assert "x is used 2 times in y" in said(b, "arrives", 0, 3)


def test_a_right_consequence_of_a_wrong_number():
    b = book()
    said(b, "local", 0, 7)
    assert "7 follows from your 7 (the local derivative)" in said(b, "sends", 0, 7)
    assert "7 follows from your 7 (what is passed on)" in said(b, "arrives", 0, 7)
    assert said(b, "local", 0, 14).startswith("✓") and said(b, "sends", 0, 14).startswith("✓")


def test_every_wrong_number_gets_a_sentence():
    """Whatever small number is typed in whatever cell: one sentence, which names it, and never a crash."""
    twice = "y = x*x; a = y + 1; b = 2*y; c = a + b"
    for f, inputs in ((CANNED, {"x": 2.0}), (twice, {"x": 2.0}), ("p = w*x; log(p) - w", {"w": 3.0, "x": 2.0})):
        for got in [n / 2 for n in range(-40, 101)]:
            b = Book(f, inputs)
            for key in b.cells:
                sentence = b.explain(key, got)
                assert sentence.endswith(".") and len(sentence) < 200 and "None" not in sentence


@pytest.mark.parametrize("text, number", [
    ("14", 14), (" 14.0 ", 14), ("2b", 14), ("2*b", 14), ("2 b", 14), ("2·b", 14), ("b²", 49), ("b^2", 49), ("−3", -3), ("-1/4", -0.25),
    ("0,5", 0.5), ("1e-3", 0.001), ("cos(0)", 1), ("2(b+1)", 16), ("1e3", 1000),
])  # fmt: skip
def test_what_can_be_typed(text, number):
    assert read(text, {"b": 7.0}) == pytest.approx(number, rel=1e-15)


@pytest.mark.parametrize("text", [
    "", "b b", "q", "__import__('os')", "1/0", "9**9**9", "(-2)**0.5", "1e999", "x.y", "[1]", "14 14", "True", "(" * 500,
])  # fmt: skip
def test_what_cannot_be_typed_gets_a_sentence(text):
    with pytest.raises(ValueError) as error:
        read(text, {"b": 7.0})
    assert str(error.value).endswith(".") and len(str(error.value)) < 160


def test_three_digits_are_enough_only_where_there_are_more():
    assert close(0.633, math.cos(70)) and close(0.3632, 0.36319477) and not close(0.3570, 0.36319477)
    assert not close(1001, 1000) and not close(41.9, 42) and close(42.0, 42)


def test_typing_in_the_widget():
    lesson = ledger()
    assert "7 is the value of b" in fill(lesson, "local", 0, "7") and lesson.scene["mood"] == "bad"
    assert sheet(lesson)[0]["mood"] == "wrong" and lesson.scene["controls"][0]["value"] == 1
    fill(lesson, "local", 0, "6")
    assert lesson.scene["controls"][0]["value"] == 2, "wrong again, so it shakes again"
    assert "2b = 14 at b = 7" in fill(lesson, "local", 0, "2b") and lesson.scene["mood"] == "good"
    assert (sheet(lesson)[0]["mood"], sheet(lesson)[0]["value"]) == ("right", "2b") and "× 14" in lesson.scene["svg"]
    assert "not a number" in fill(lesson, "sends", 0, "fourteen") and sheet(lesson)[1]["mood"] == "wrong"
    assert fill(lesson, "sends", 0, "").startswith("At x = 2: c = 49") and sheet(lesson)[1]["mood"] == ""
    for k, key in enumerate(lesson.figure.book.cells):
        move(lesson, "cells", [k, f"{lesson.figure.book.expected(key):g}"])
    assert "dc/dx = 42. All of it is yours." in lesson.scene["say"] and not lesson.scene["buttons"][0]["enabled"]


def test_a_step_back_and_empty():
    lesson = ledger()
    fill(lesson, "local", 0, "5")
    lesson.press("back")
    assert "c passes 1 × 14 = 14 to b" in lesson.scene["say"]
    assert [(cell["value"], cell["mood"]) for cell in sheet(lesson)[:2]] == [("14", "helped")] * 2
    for _ in range(3):
        lesson.press("back")
    assert "dc/dx = 42" in lesson.scene["say"] and "yours" not in lesson.scene["say"]
    lesson.press("clear")
    assert [cell["value"] for cell in sheet(lesson)] == [""] * 9 and lesson.scene["buttons"][0]["enabled"]


@pytest.mark.parametrize(
    "sent", [None, 7, [1], [99, "1"], [-1, "1"], [True, "1"], [0, 7], ["0", "1"], [0, "1" * 201], [0, "1", 2]]
)
def test_forged_cells_are_refused(sent):
    lesson = ledger()
    before = sheet(lesson)
    move(lesson, "cells", sent)
    assert sheet(lesson) == before and lesson.scene["mood"] == "bad"


def test_inputs_and_programs():
    lesson = ledger()
    move(lesson, "x", "-1")
    assert (
        lesson.figure.book.value(lesson.figure.book.root) == 4
        and lesson.figure.book.expected(lesson.figure.book.cells[-1]) == -12
    )
    move(lesson, "f", "x*w")
    assert [c["name"] for c in lesson.scene["controls"]] == ["cells", "f", "x", "w"] and len(sheet(lesson)) == 6
    move(lesson, "f", "x +")
    assert "cannot read" in lesson.scene["say"] and len(sheet(lesson)) == 6
    lesson = ledger("log(x)", x=2)
    before = lesson.scene["svg"]
    move(lesson, "x", "-1")
    assert lesson.scene["svg"] == before and "finite" in lesson.scene["say"]


def test_a_learners_function():
    def own(x, w):
        n = w * x
        return n.tanh() + x

    b = ledger(own, x=0.5, w=2).figure.book
    slopes = {b.name(n): b.expected(Key("arrives", n)) for n in b.leaves}
    s = 1 - math.tanh(1.0) ** 2
    assert slopes == pytest.approx({"x": 2 * s + 1, "w": 0.5 * s}, rel=1e-14)

    def again(x):
        for _ in range(3):
            x = x * x
        return x

    b = ledger(again, x=1.1).figure.book
    assert b.expected(Key("arrives", b.leaves[0])) == pytest.approx(8 * 1.1**7, rel=1e-14)


@pytest.mark.parametrize("f, inputs, words", [
    (7, {}, "needs a program"),
    (lambda x: 3, {}, "returned int"),
    (lambda x: x, {}, "unchanged"),
    (lambda x: x * 2, {"z": 1}, "no input z"),
    (lambda x: 1 / 0, {}, "division by zero"),
    (lambda x: Value(2.0) * Value(3.0), {}, ""),
    ("log(x - 1)", {}, "no finite value"),
    ("sqrt(x)", {"x": 0}, "no derivative"),
    ("x*x", {"x": "one"}, "is no number"),
    ("x*x", {"filled": -1}, "number of rows"),
    ("x*x", {"filled": "some"}, "number of rows"),
    ("+".join(["x"] * 9), {}, "at most 12"),
])  # fmt: skip
def test_nonsense_gets_a_sentence(f, inputs, words):
    lesson = ledger(f, **inputs)
    assert words in lesson.text() and "Traceback" not in lesson.text()


def test_the_twin_gives_nothing_away_until_it_is_filled():
    empty, full = ledger()._repr_mimebundle_(), ledger(filled="all")._repr_mimebundle_()
    assert not re.search(r">[^<]*42</text>", empty["image/svg+xml"]) and "42" not in empty["text/plain"]
    assert "42" in full["text/plain"] and ">42</text>" in full["image/svg+xml"]
    assert empty["image/svg+xml"] == ledger()._repr_mimebundle_()["image/svg+xml"]
    assert ledger(filled=1).text().count("?") == empty["text/plain"].count("?") - 2


def test_recap():
    text = recap(4).text()
    w, x = 3.0, 1.0
    assert f"dy/dw = {2 * (w + 1) * x**2:g}, dy/dx = {2 * (w + 1) ** 2 * x:g}." in text
