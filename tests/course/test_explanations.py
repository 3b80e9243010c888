"""explanations.html: what a class wrote in its own words is there to be read, as text, and earns nothing."""

import csv
import json
import sys

import pytest

from minigrad.course import exercises
from minigrad.course.grade import grade

from .classroom import chapter_notebook, code

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="grading needs processes that can be limited")

TEXTS = {
    "ada": """check.explain("05", '''\nIts gradient is a sum over its uses.\nOtherwise a part is missing.\n''')""",
    "ben": """check.explain("05", "<script>alert(1)</script> \\x1b[31m")""",
    "cyd": """check.explain("05", '''\n\n''')\ncheck.explain("99", "no such chapter")\ncheck.explain(chapter, 5)""",
    "dan": "check.explain('05', 'early')\ncheck.explain('05', 'late')",
    "eve": f"check.explain('05', {'x' * 5000!r})",
}


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    root = tmp_path_factory.mktemp("explanations")
    for name, source in TEXTS.items():
        nb = chapter_notebook("05", {"05.b": exercises["05.b"].solution if name == "cyd" else exercises["05.b"].stub})
        nb["cells"].append(code(source))
        path = root / "in" / name / "05_x.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(nb), encoding="utf-8")
    grade(root / "in", root / "out", key=b"a key for tests, long enough", only=["05.b"], jobs=1, say=lambda text: None)
    return root / "out"


def test_the_page_has_each_text_below_its_question(out):
    page = (out / "explanations.html").read_text(encoding="utf-8")
    assert (
        "Why must a node wait" in page and "Its gradient is a sum over its uses.\nOtherwise a part is missing." in page
    )
    assert page.count("<section>") == 4 and "cyd" not in page and "early" not in page and ">late<" in page
    assert "<script>" not in page and "&lt;script&gt;" in page and "\x1b" not in page
    assert "x" * 2000 in page and "x" * 2001 not in page
    assert 'href="explanations.html"' in (out / "summary.html").read_text(encoding="utf-8")


def test_it_earns_and_costs_nothing(out):
    with (out / "wide.csv").open(encoding="utf-8", newline="") as file:
        points = {row["student"]: float(row["05.b"] or 0) for row in csv.DictReader(file)}
    assert points.pop("cyd") == exercises["05.b"].points and set(points.values()) == {0.0}
