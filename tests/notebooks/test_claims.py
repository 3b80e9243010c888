"""Numbers in the chapters' sentences come from cells, or from the chapter's file in claims/, which asserts them.

What lives here: that the numbers occur there. That the asserts hold is for test_solutions.py, which runs them after the notebook's cells.
"""

import re

import nbformat
import pytest

from tools.opened import claims, stored
from tools.store import NOTEBOOKS
from widgets.chapters import CHAPTERS

NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?")
NOT_A_CLAIM = re.compile(  # code, targets of links, times and limits, chapters, years and numbers of papers
    r"```.*?```|`[^`\n]*`|\[\d+\]\(\d\d_\w+\.ipynb\)|\]\([^)]*\)|\d+ minutes|"
    r"at most \d+|[Cc]hapters? \d+(?:(?:, | and | to )\d+)*|\(\d\d(?:, \d\d)*\)|"
    r"\b(?:1[89]|20)\d\d\b|arXiv:\S+|#\d+|\*[^*\n]*\*",
    re.S,
)
CHAPTER_FILES = [chapter.notebook for number, chapter in CHAPTERS.items() if number]


def numbers(text):
    return {re.sub(r"\.0+$", "", n.replace(",", "")) for n in NUMBER.findall(re.sub(r"(?<=\d)_(?=\d)", "", text))}


def claimed(nb):
    """The numbers of two and more characters that sentences, tables and folded answers state."""
    text = "\n".join(NOT_A_CLAIM.sub(" ", cell.source) for cell in nb.cells if cell.cell_type == "markdown")
    return {n for n in numbers(text) if len(n) > 1}


def computed(nb):
    """The numbers that occur in code, or in what it shows."""
    texts = []
    for cell in nb.cells:
        if cell.cell_type == "code":
            texts.append(cell.source)
            for output in cell.outputs:
                texts += [
                    output.get("text", ""),
                    output.get("evalue", ""),
                    output.get("data", {}).get("text/plain", ""),
                ]
    return numbers("\n".join(texts))


@pytest.mark.parametrize("notebook", CHAPTER_FILES)
def test_numbers_in_sentences_come_from_cells(notebook):
    path = NOTEBOOKS / notebook
    nb = nbformat.read(path, as_version=4)
    opened = "\n".join(line for lines in stored(path).values() for line in lines)
    assert not claimed(nb) - computed(nb) - numbers(claims(path)) - numbers(opened), (
        "compute them in a cell, or assert them in claims/"
    )


@pytest.mark.parametrize("notebook", CHAPTER_FILES)
def test_claims_are_not_on_the_page(notebook):
    assert not [
        c for c in nbformat.read(NOTEBOOKS / notebook, as_version=4).cells if "claims" in c.metadata.get("tags", [])
    ]
    assert not claims(NOTEBOOKS / notebook) or "assert " in claims(NOTEBOOKS / notebook)


def test_a_number_out_of_nowhere_is_seen():
    v4 = nbformat.v4
    nb = v4.new_notebook(
        cells=[v4.new_markdown_cell("At 0.5 it is 1,234, in chapter 12, after 20 minutes."), v4.new_code_cell("f(0.5)")]
    )
    assert claimed(nb) - computed(nb) == {"1234"}
