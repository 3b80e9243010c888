"""Any bytes may be handed in: reading them names what is wrong or gives a notebook, and never anything else.

What lives here: random JSON, mutilated notebooks, random text in cells, random zip files. What does not: the layouts and the oddities that
are known (test_grade.py).
"""

import ast
import io
import json
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minigrad.course import exercises
from minigrad.course.grading.notebooks import Notebook, find_answer, helpers, read_notebook, without_magics
from minigrad.course.grading.submissions import collect, expand

from .classroom import chapter_notebook

EX = exercises["05.b"]
SOLVED = chapter_notebook("05", {id: ex.solution for id, ex in exercises.chapter("05").items()})
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda x: st.lists(x, max_size=4) | st.dictionaries(st.text(max_size=8), x, max_size=4),
    max_leaves=12,
)
KEYS = st.sampled_from(
    ["cells", "worksheets", "source", "input", "metadata", "cell_type", "nbformat", "outputs", "minigrad", "nbgrader"]
)
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=30)
QUICK = settings(max_examples=60, deadline=None)


def read(data: bytes):
    """The notebook, or the sentence that names what is wrong."""
    try:
        nb = read_notebook(data)
    except ValueError as error:
        assert str(error) and "\n" not in str(error)
        return str(error)
    assert isinstance(nb, Notebook)
    return nb


def look(nb) -> None:
    """Do with it what the grader does."""
    if isinstance(nb, str):
        return
    answer = find_answer(EX, nb)
    for at in range(len(nb.cells)):
        helpers(nb, at)
    assert answer is None or isinstance(answer.source, str)


@given(st.binary(max_size=300))
@QUICK
def test_random_bytes(data):
    look(read(data))


@given(JSON | st.dictionaries(KEYS, JSON | st.lists(st.dictionaries(KEYS, JSON, max_size=5), max_size=4), max_size=5))
@QUICK
def test_random_json(thing):
    look(read(json.dumps(thing).encode()))


def places(thing, path=()):
    """Every place in a JSON tree."""
    yield path
    for key, value in thing.items() if isinstance(thing, dict) else enumerate(thing) if isinstance(thing, list) else ():
        yield from places(value, (*path, key))


@given(st.data())
@QUICK
def test_a_solved_notebook_with_one_place_changed(data):
    nb = json.loads(json.dumps(SOLVED))
    path = data.draw(st.sampled_from(list(places(nb))[1:]))
    inner = nb
    for key in path[:-1]:
        inner = inner[key]
    if data.draw(st.booleans()):
        del inner[path[-1]]
    else:
        inner[path[-1]] = data.draw(JSON)
    look(read(json.dumps(nb).encode()))


@given(st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_a_solved_notebook_cut_off(at):
    whole = json.dumps(SOLVED).encode()
    assert isinstance(read(whole[: at % len(whole)]), str)  # a cut notebook is named, never graded as a whole one


@given(st.text(alphabet="%!?abx =()\n\t'\"\\:#[]{}.é", max_size=120))
@QUICK
def test_random_cells(text):
    plain = without_magics(text)
    # Lines keep their numbers; "": a cell in another language
    assert plain == "" or plain.count("\n") == text.count("\n")
    look(read(json.dumps(chapter_notebook("05", {"05.b": text})).encode()))
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        return
    assert plain == text or any(
        line.lstrip()[:1] in tuple("%!?") or line.rstrip()[-1:] == "?" for line in text.split("\n")
    )


@given(st.dictionaries(NAMES, st.binary(max_size=60), max_size=4), st.integers(0, 400))
@settings(max_examples=60, deadline=None)
def test_random_zip_files(tmp_path_factory, files, cut):
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as file:
        for name, content in files.items():
            file.writestr(name, content)
    folder = tmp_path_factory.mktemp("zips")
    (folder / "class.zip").write_bytes(raw.getvalue()[: len(raw.getvalue()) - cut] if cut < 200 else raw.getvalue())
    for submission in collect(folder):
        assert isinstance(submission.student, str)
        for part in (part for source in submission.sources for part in expand(source)[0]):
            try:
                read(part[2]())
            except ValueError as error:  # a damaged member, in words
                assert "cannot be read" in str(error)
    assert sorted(path.name for path in folder.iterdir()) == ["class.zip"]  # nothing was unpacked beside it


def test_a_notebook_as_deep_as_json_goes():
    deep = b'{"cells": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    assert isinstance(read(deep), str) or read(deep).cells == []


@pytest.mark.parametrize("data", [b"\xff\xfe{}", "{}".encode("utf-16"), b"\xef\xbb\xbf{}", b"", b"null", b"[]", b"3"])
def test_encodings_and_nothing(data):
    look(read(data))
