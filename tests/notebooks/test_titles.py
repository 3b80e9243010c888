"""A chapter has one title, wherever it is named: in its notebook, the contents, docs/course.md, error panels, and stored panels."""

import re

import pytest

from tools.store import NOTEBOOKS
from widgets.chapters import CHAPTERS

from .test_glossary import prose

ROOT = NOTEBOOKS.parent
TITLES = {number: chapter.title for number, chapter in CHAPTERS.items()}


@pytest.mark.parametrize("number", CHAPTERS)
def test_the_notebook_has_the_title(number):
    heading = prose(NOTEBOOKS / CHAPTERS[number].notebook).split("\n")[0]
    assert heading == f"# {number} · {TITLES[number]}"


def test_the_contents_and_the_page_about_the_course_have_the_titles():
    contents = re.findall(r"^\| \[(\d+) · ([^\]]+)\]", prose(NOTEBOOKS / "00_start_here.ipynb"), re.M)
    course = re.findall(r"^\| \[(\d\d) ([^\]]+)\]", (ROOT / "docs/course.md").read_text("utf-8"), re.M)
    assert {int(n): title for n, title in contents} == {n: title for n, title in TITLES.items() if n}
    assert {int(n): title for n, title in course} == TITLES


@pytest.mark.parametrize("folder, pattern", [
    ("minigrad", r"""["']chapter (\d\d), (\w[^"']+)["']"""),
    ("notebooks", r"Read: chapter (\d\d), (.+?)\\n"),
    ("notebooks", r">chapter (\d\d), ([^<]+)</a>"),
    ("tests/golden", r"^Read: chapter (\d\d), (.+)$"),
])  # fmt: skip
def test_errors_and_what_is_stored_of_them_have_the_titles(folder, pattern):
    files = [path for path in sorted((ROOT / folder).rglob("*")) if path.suffix in (".py", ".ipynb", ".txt")]
    named = [
        (path.name, int(n), title) for path in files for n, title in re.findall(pattern, path.read_text("utf-8"), re.M)
    ]
    assert len(named) > 20
    assert [found for found in named if TITLES[found[1]] != found[2]] == []
