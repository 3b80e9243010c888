"""The glossary and the contents: every link leads somewhere, every chapter can be reached, every name of PyTorch exists."""

import re
from operator import attrgetter

import nbformat
import pytest

import minigrad
from tools.store import NOTEBOOKS, all_notebooks
from widgets.chapters import CHAPTERS

LINK = re.compile(r"\[[^\]\n]+\]\(([^)\s]+)\)")
GLOSSARY = NOTEBOOKS / "glossary.ipynb"
WHAT_WHEN = "What to use when"
CHAPTER_FILES = [chapter.notebook for chapter in CHAPTERS.values()]


def prose(path):
    return "\n\n".join(cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "markdown")


def terms():
    """Each term of the glossary with its text."""
    return dict(re.findall(r"^### (.+)\n((?:(?!^##).*\n?)*)", prose(GLOSSARY), re.M))


def anchor(term):
    """What JupyterLab and GitHub make of a heading of a notebook."""
    return term.replace(" ", "-")


def test_terms_are_in_order_and_explained():
    found = list(terms())
    assert len(found) > 50 and found == sorted(found, key=str.lower)
    for term, text in terms().items():
        assert len(text.split()) > 5 and re.search(r"Chapters? \[\d+\]\(", text), term


def test_words_lead_to_words():
    anchors = {anchor(term) for term in terms()}
    linked = {target[1:] for target in LINK.findall(prose(GLOSSARY)) if target.startswith("#")}
    assert linked == anchors | {anchor(WHAT_WHEN)}, "the list at the top names each term, and no link leads nowhere"


def test_one_page_says_what_to_use_when():
    """Eighteen rows with a link each; what stands in the second column exists."""
    page = prose(GLOSSARY).split(f"## {WHAT_WHEN}\n")[1]
    rows = [
        [part.strip() for part in line.strip("|").split(" | ")] for line in page.splitlines() if line.startswith("| ")
    ][1:]
    assert 12 <= len(rows) <= 20 and {len(row) for row in rows} == {4}
    names = {
        name for _, use, _, _ in rows for name in re.findall(r"`((?:func|nn|utils|autograd|torch|F)\.[\w.]+)", use)
    }
    assert len(names) >= 8
    for name in names:
        attrgetter(name.removeprefix("torch.").replace("F.", "nn.functional."))(minigrad)
    assert {"10", "11", "12"} <= {n for *_, chapters in rows for n in re.findall(r"\[(\d+)\]", chapters)}


def test_names_of_pytorch_exist():
    lines = [line for text in terms().values() for line in re.findall(r"^PyTorch: (.*)$", text, re.M)]
    names = {name for line in lines for name in re.findall(r"`([^`]+)`", line)}
    assert len(names) > 40
    for name in names:
        attrgetter(name)(minigrad)


@pytest.mark.parametrize("path", all_notebooks(), ids=lambda path: path.stem)
def test_links_to_notebooks_lead_somewhere(path):
    for target in LINK.findall(prose(path)):
        notebook, _, place = target.partition("#")
        if notebook.endswith(".ipynb"):
            assert (NOTEBOOKS / notebook).exists(), f"{path.name} links to {notebook}, which does not exist"
            if notebook == "glossary.ipynb" and place:
                assert place in {anchor(term) for term in terms()}


@pytest.mark.parametrize("notebook", CHAPTER_FILES)
def test_the_glossary_is_one_click_away(notebook):
    last = nbformat.read(NOTEBOOKS / notebook, as_version=4).cells[-1].source
    assert "](glossary.ipynb)" in last, "the last cell of a chapter links to the glossary"


def test_the_contents_link_every_chapter_in_order():
    text = prose(NOTEBOOKS / "00_start_here.ipynb")
    rows = re.findall(r"^\| \[(\d+) · [^\]]+\]\(([^)]+)\) \| \S", text, re.M)
    assert [notebook for _, notebook in rows] == CHAPTER_FILES[1:]
    assert all(CHAPTERS[int(number)].notebook == notebook for number, notebook in rows) and "](glossary.ipynb)" in text


def test_each_chapter_of_the_glossary_teaches_something():
    named = {int(n) for text in terms().values() for n in re.findall(r"\[(\d+)\]\(\d\d_", text)}
    assert named == set(CHAPTERS) - {0}, "every chapter has at least one word in the glossary"
