"""Nothing on a chapter's page gives away what the page asks: neither above the question nor below it, neither in text nor in outputs.

What lives here: those rules, for the chapters of the second edition; `NOT_YET` lists the others. What does not: that predictions open and
agree with the run (test_solutions.py).
"""

import ast
import re

import nbformat
import pytest

from minigrad.course.exercise import Exercise, Kind
from minigrad.course.plain import plain
from tools.opened import chapter_of, exercise_cells, reveals
from tools.store import all_notebooks, svg_of

# Rewritten
DONE = {
    "01",
    "02",
    "03",
    "04",
    "05",
    "06",
    "07",
    "08",
    "09",
    "10",
    "11",
    "12",
    "13",
    "14",
    "15",
    "16",
    "17",
    "18",
    "19",
}
NOT_YET = {f"{n:02d}" for n in range(20)} - DONE
FREE = {  # answers that occur on the page as something else: {exercise: {number: what it is there}}
    "11.a": {"12": "the next chapter, and minutes"},
}  # fmt: skip
CHAPTERS = [path for path in all_notebooks() if chapter_of(path)]
NEW = [path for path in CHAPTERS if path.stem[:2] not in NOT_YET]
each_new = pytest.mark.parametrize("path", NEW, ids=lambda path: path.stem)


def leaves(x):
    if isinstance(x, dict):
        x = list(x.values())
    return [leaf for item in x for leaf in leaves(item)] if isinstance(x, list) else [x]


def numbers_of(ex: Exercise) -> set[str]:
    """The numbers of an answer that say something where they stand: those of two and more digits, as they are printed."""
    if not ex.is_value:
        return set()
    found = {f"{n:.6g}" for n in leaves(plain(ex.load(ex.solution))) if type(n) in (int, float)}
    return {n for n in found if len(re.sub(r"\D", "", n).strip("0")) > 1} - set(FREE.get(ex.id, ()))


def lines_of(ex: Exercise) -> set[str]:
    """The lines of a program that carry its idea: those with an operator or a call in them, without blanks and comments."""
    if ex.is_value:
        return set()
    found = {squeezed(line) for line in ast.unparse(ast.parse(ex.solution)).splitlines()}
    known = {squeezed(line) for line in (*ast.unparse(ast.parse(ex.stub)).splitlines(), *ex.stub.splitlines())}
    telling = {line for line in found - known if len(line) >= 16 and re.search(r"[-+*/@]|\w\(", line)}
    return {
        line
        for line in telling
        if not re.match(r"def|class|import|from|for\w+inrange\(|withtorch\.no_grad\(\):$", line)
    }


def squeezed(line: str) -> str:
    return re.sub(r"\s+", "", re.sub(r"#.*", "", line)).replace("'", '"')


def texts(nb, without=()):
    """Everything that a reader sees: (cell number, text), sources and outputs, folded answers included."""
    for number, cell in enumerate(nb.cells):
        if any(cell is other for other in without):
            continue
        yield number, cell.source
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            yield number, output.get("text") or output.get("evalue") or data.get("text/plain", "")
            yield number, re.sub(r"<[^>]*>", " ", re.sub(r"<style.*?</style>", "", svg_of(output), flags=re.S))


def tells(text: str, number: str) -> bool:
    """Whether the number stands in the text, to three digits or to all that it has."""
    text = text.replace("−", "-").replace(",", "")
    pattern = re.escape(number if len(number) <= 5 else number[: max(5, number.find(".") + 4)])
    return bool(re.search(rf"(?<![\w.]){pattern}" + (r"(?!\d|\.\d*[1-9])" if len(number) <= 5 else ""), text))


@each_new
def test_no_number_of_an_answer_is_on_the_page(path):
    nb = nbformat.read(path, as_version=4)
    told = []
    for id, ex in chapter_of(path).items():
        told += [
            (id, number, cell, text[:60])
            for number in numbers_of(ex)
            for cell, text in texts(nb)
            if tells(text, number)
        ]
    assert not told, "an answer is on the page; change the numbers, or say in FREE what the number is there"


@each_new
def test_no_line_of_a_solution_is_on_the_page(path):
    nb = nbformat.read(path, as_version=4)
    page = {squeezed(line) for _, text in texts(nb) for line in text.splitlines()}
    for id, ex in chapter_of(path).items():
        assert not lines_of(ex) & page, f"{id} can be copied from the page"


@each_new
def test_every_prediction_is_asked_and_then_opened(path):
    nb = nbformat.read(path, as_version=4)
    where = {id: nb.cells.index(cell) for id, cell in exercise_cells(nb).items()}
    for id, ex in chapter_of(path).items():
        opened = [nb.cells.index(cell) for cell in reveals(nb, id)]
        assert all(number > where[id] for number in opened), f"{id} is opened before it is asked"
        if ex.kind is Kind.PREDICT:
            assert not ex.graded, f"{id}: a prediction earns no points (points=0)"
            assert opened, f"{id} is asked and never opened"


@each_new
def test_letters_are_in_the_order_of_the_page(path):
    ids = list(exercise_cells(nbformat.read(path, as_version=4)))
    assert ids == sorted(ids) == list(chapter_of(path))


@each_new
def test_a_question_to_guess_is_a_prediction(path):
    """Where the text says guess or predict, a cell notes the guess before anything else runs."""
    nb = nbformat.read(path, as_version=4)
    for number, cell in enumerate(nb.cells):
        if cell.cell_type == "markdown" and re.search(
            r"\b(guess|predict) (first|before|:)|\b(Guess|Predict)\b", cell.source
        ):
            after = next((c.source for c in nb.cells[number + 1 :] if c.cell_type == "code"), "")
            assert "check.predict(" in after, f"cell {number}: {cell.source[:60]!r}"


def test_the_list_of_old_chapters_names_chapters():
    assert NOT_YET <= {path.stem[:2] for path in all_notebooks()}


def test_tells():
    assert (
        tells("at 0.36316 it is", "0.363162")
        and tells("y = 25.0", "25")
        and tells("1,234 nodes", "1234")
        and tells("−29", "-29")
    )
    assert (
        not tells("125", "25") and not tells("25.5", "25") and not tells("0.3", "0.363162") and not tells("2500", "25")
    )
