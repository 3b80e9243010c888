"""Pages that hold other people's words, an exported view and what the grader writes about students: HTML in them is text and runs nothing.

What lives here: those files, opened in a browser that has dialogs and network counted. What does not: names in a live notebook
(test_graph_view.py), forged messages (tests/widgets/test_faults.py), what students' programs do while they run (tests/course).
"""

import json
import subprocess
import sys

import nbformat
import pytest

from minigrad import Value
from minigrad.course import exercises
from widgets import graph

from ..course.classroom import chapter_notebook

HOSTILE = [
    "<img src=q onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    "<!--<script>",  # in a script element this hides the element's own end
    "--></title></style></textarea><svg onload=alert(1)>",
    "'\"><a href=javascript:alert(1) autofocus onfocus=alert(1)>x</a>",
    "%STATE%%MODULE%%CSS%",
    "&lt;b&gt;&amp;",
    "\u2028\u202e\0]]>",
]


@pytest.fixture
def opened(browser_context):
    """Open a file: its page. When the test ends, nothing may have been executed, reported or fetched."""
    said, pages = [], []

    def open_(file):
        page = browser_context.new_page()
        page.on("dialog", lambda dialog: (said.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
        page.on("request", lambda request: said.append(request.url) if request.url != file.as_uri() else None)
        page.goto(file.as_uri())
        pages.append(page)
        return page

    yield open_
    for page in pages:
        assert (
            page.evaluate(
                "() => [...document.querySelectorAll('*')].filter(e => e.localName === 'a' && /^javascript/i.test(e.href)"
                " || [...e.attributes].some(a => /^on/i.test(a.name))).map(e => e.outerHTML)"
            )
            == []
        )
        page.close()
    assert said == []


@pytest.mark.parametrize("name", HOSTILE)
def test_an_exported_page(opened, tmp_path, name):
    x = Value(1.0, label=name)
    y = (3 * x + 2) ** 2
    page = opened(graph(y, names={name: x, f"{name}y": y}).save(tmp_path / "graph.html"))
    page.wait_for_selector(".mg-root[data-ready='1']")
    page.locator(".mg-root").press("End")
    shown = page.locator(".mg-root").inner_text()
    assert "▴ 30" in shown and name.strip("\0\u2028\u202e")[:6] in shown
    assert page.locator(".mg-root img, .mg-root script").count() == 0


def everywhere(evil):
    """A student's notebook with `evil` in every place that a student can write to."""
    notebook = chapter_notebook("05", {id: ex.solution for id, ex in exercises.chapter("05").items()})
    quoted = repr(evil)
    crimes = {
        "05.a": "class Value:\n    def __init__(self, *args):\n"
        f"        raise type({quoted.replace(chr(0), '')}.replace(chr(0), ''), (Exception,), {{}})({quoted})",
        "05.b": f"def backward(root):\n    print({quoted})\n    return {quoted}",
        "05.c": f"# {evil}\nthis is no Python: {evil}",
    }
    for cell in notebook["cells"]:
        if id := cell["metadata"].get("minigrad", {}).get("exercise"):
            cell["source"] = crimes.get(id, cell["source"]) + f"\n# {evil}\n"
            cell["outputs"] = [
                {"output_type": "display_data", "metadata": {}, "data": {"text/html": evil, "text/plain": evil}}
            ]
        cell["metadata"]["tags"] = [evil]
    notebook["cells"].insert(0, nbformat.v4.new_markdown_cell(evil))
    notebook["metadata"]["title"] = notebook["metadata"]["kernelspec"] = evil
    return notebook


def test_feedback_and_summary(opened, tmp_path):
    for number, evil in enumerate(HOSTILE):
        name = "".join(letter for letter in evil if letter not in "/\0")
        folder = tmp_path / "class" / f"{number}{name}"
        folder.mkdir(parents=True)
        (folder / f"05{name}.ipynb").write_text(json.dumps(everywhere(evil)), encoding="utf-8")
    broken = tmp_path / "class" / "<b>broken"
    broken.mkdir()
    (broken / "<i>05.ipynb").write_text('{"cells": <img src=q onerror=alert(1)>', encoding="utf-8")
    command = [sys.executable, "-m", "minigrad.course.grade", "class", "-o", "grades", "-e", "05", "--reveal"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    pages = [tmp_path / "grades/summary.html", *sorted((tmp_path / "grades/feedback").glob("*.html"))]
    assert len(pages) == len(HOSTILE) + 2
    for file in pages:
        page = opened(file)
        assert page.locator("script, img, a[onfocus], i, b").count() == 0, file.name
        assert page.locator("h1").count() == 1
    text = opened(
        next(file for file in pages if "onerror" in file.read_text("utf-8") and file.name != "summary.html")
    ).inner_text("body")
    assert "<img src=q onerror=alert(1)> in line 3" in text  # the student's program ran, and its error is told
