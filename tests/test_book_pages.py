"""A small book is built and opened in a Chromium, as `make book` and `make book-check` do with the whole one; the words around chapters.

Sphinx is in an environment of its own (build/book-venv). Where neither that one nor this one has it, the small book is skipped.
"""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output, writes

from minigrad.course import exercises
from tools import lab
from tools.book import __main__ as book
from tools.book import check, record, words
from tools.opened import answered
from widgets import lessons

ROOT = Path(__file__).parents[1]
OWN = ROOT / "build/book-venv" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
SPHINX = (
    sys.executable
    if all(map(importlib.util.find_spec, ("furo", "latex2mathml", "myst_nb")))
    else str(OWN)
    if OWN.exists()
    else ""
)


@pytest.mark.flaky(reruns=2)
@pytest.mark.skipif(not SPHINX, reason="Sphinx is not installed: make build/book-venv/made")
@pytest.mark.skipif(lab.find_chromium() is None, reason=lab.NO_CHROMIUM)
def test_a_small_book(tmp_path, capsys):
    """Under a folder whose name needs quoting, so that every address must be relative."""
    out = tmp_path / "a book" / "pages"
    command = [sys.executable, "-m", "tools.book", "--sphinx", SPHINX, "--out", out, "00", "01"]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert built.returncode == 0, built.stdout + built.stderr
    assert "01 step_size: 65 states" in built.stdout
    found = check.main(str(out))
    assert found == 0, capsys.readouterr().out
    page = (out / "01_three_ways.html").read_text(encoding="utf-8")
    assert "mystnb" not in page and 'href="_static/favicon.svg"' in page and (out / "_static/math-OFL.txt").exists()
    assert page.count("data-live=") == 3 and page.count('class="mg-guess"') == 3 and "you predicted" not in page
    (first, *_) = re.findall(r'data-live="(.+?)"', (out / "00_start_here.html").read_text(encoding="utf-8"))
    (out / f"_static/live/{first}.js").unlink()
    assert check.main(str(out), "00") == 1 and "a picture does not open" in capsys.readouterr().out
    assert f'data-away="{words.BINDER}"' in page and page.count("data-cell=") == page.count('<div data-cell="') > 20


def test_the_cheat_sheet_prints_what_it_says(capsys):
    code = "\n".join(
        re.findall(r"```python\n(.*?)```", (book.HERE / "cheat_sheet.md").read_text(encoding="utf-8"), re.S)
    )
    exec(code, {})
    assert capsys.readouterr().out.splitlines() == re.findall(r"^print\(.*\) +# (.*)$", code, re.M) != []


def test_words_of_the_glossary_lead_there_once():
    terms = words.Terms("05_build_the_engine", {"glossary"})
    text = ("# The chain rule\n\nThe **chain rule** and `leaf`, $leaf$, x.leaf and [a leaf](x). A leaf, a leaf-like thing.\n\n"
            "```python\ngraph leaf\n```\nA chain rule.")  # fmt: skip
    means = dict(re.findall(r'<small class="mg-margin"><b>(.*?)</b> (.*?)</small>', noted := terms.link(text)))
    assert means == {
        "chain rule": "Multiply the local derivatives along a path, and add where paths meet."
    }  # one for each paragraph
    linked = re.sub(r"<small.*?</small>", "", noted)
    assert linked == text.replace("**chain rule**", "**[chain rule](glossary.ipynb#chain-rule)**").replace(
        "A leaf,", "A [leaf](glossary.ipynb#leaf),"
    )
    assert words.Terms("05_build_the_engine", {"00_start_here"}).link(text) == text
    assert "<small" not in words.Terms("05_build_the_engine", {"glossary"}).link(
        "| a leaf | b |\n|--|--|\n| an edge | c |"
    )


def test_a_page_says_what_it_is_and_no_notebook():
    text = "Drag it. <!--lab-->Press Shift+Enter.<!--book:Press ▶.--> Run the next cell."
    text += "\n\nOpen the menu.<!--book:-->\n- A menu<!--book:A bar-->"
    assert words.for_pages(text) == "Drag it. Press ▶. Run the code below.\n\n\n- A bar"
    assert (
        words.for_pages("Set it to 0.2 and run the cell again. Run both cells.")
        == "Set it to 0.2 and press ▶ again. Run both."
    )


def test_scaffolding_is_folded_and_exercises_are_not():
    drawing = "fig, ax = plt.subplots()\nax.plot(x)\nax.set(title='t')\nfig.tight_layout()\nplot(fig, 'words')"
    assert words.folded(drawing) == "the code that draws this"
    assert words.folded("%load_ext minigrad\nfrom minigrad import (\n    Value,\n)") == "what this page imports"
    assert words.folded('check("05.a", Value)') == "the check"
    for code in ("y = x * x", "%graph y", "%load_ext minigrad\nfit_line()", "%%predict 01.a\n" + drawing):
        assert not words.folded(code)


def test_links_lead_to_pages_that_there_are():
    text = "[a](01_x.ipynb#AccumulateGrad) [b](02_y.ipynb) [c](../minigrad/x.py) [d](#Two)"
    assert words.links(text, {"01_x"}) == "[a](01_x.ipynb#accumulategrad) b c [d](#two)"
    assert (
        words.links('<a href="01_x.ipynb">e</a> <a href="02_y.ipynb">f</a>', {"01_x"}) == '<a href="01_x.html">e</a> f'
    )
    assert words.under_title("# Two\n```python\n# x\n```") == "## Two\n```python\n# x\n```"


def test_the_run_s_own_guess_is_not_praised():
    """An answer stays, whoever guessed; what the reference solution printed about itself does not."""
    html = "<strong>✓ 02.a2: you predicted b, it is b</strong><div>They agree.</div>"
    note = new_output(
        "display_data", {"text/plain": "✓ 02.a2: you predicted b, it is b\nThey agree.", "text/html": html}
    )
    assert words.without_verdict(note).data == {
        "text/plain": "02.a2: it is b\n",
        "text/html": "<strong>02.a2: it is b</strong>",
    }
    entries = new_output(
        "display_data", {"text/plain": "✓ 02.a: 2 of 2 predictions agree\n✓ at x = 2: you predicted 4, the run gave 4"}
    )
    assert words.without_verdict(entries).data["text/plain"] == "\nat x = 2: the run gave 4"
    assert words.without_verdict(new_output("display_data", {"text/plain": "✓ 02.c: passed"})) is None
    assert words.without_verdict(new_output("stream", text="walk: yours, from this notebook.\n")) is None


def test_each_prediction_has_a_form():
    for ex in exercises.values():
        if not ex.graded:
            assert book.guess(ex.id).count("<input") >= 1 and f'data-for="{words.anchor(ex.id)}"' in book.guess(ex.id)


def test_a_state_that_is_missing_is_an_error_of_the_build(monkeypatch, tmp_path):
    """Except of lessons that are known to have more states than a page can carry, and then the page says so."""
    monkeypatch.setattr(record, "STATES", 10)
    whole, part = record.lesson(lessons.fit_line())["about"], record.lesson(lessons.order_game())["about"]
    assert (whole["cut"], whole["thin"], part["cut"]) == (False, True, True)
    output = new_output(
        "display_data", {"image/svg+xml": "<svg></svg>", "text/plain": "words", record.MIME: part | {"key": "0" * 12}}
    )
    assert "Some of its positions are recorded" in book.figure(output, output, tmp_path, found := []).data["text/html"]
    assert book.told({"chapter": "05", **found[0]}) == "✗ 05 order_game: 10 states, and there are more"
    monkeypatch.setattr(book, "PARTLY", {"order_game"})
    assert book.told({"chapter": "05", **found[0]}).startswith("  05 order_game: 10 states")


def test_a_picture_whose_numbers_differ_from_the_stored_ones_still_moves():
    """The run's own picture is shown then; and one that the run shows and the page would leave out is an error of the build."""
    about = {record.MIME: {"key": "0" * 12}}
    old, new = ({"image/svg+xml": f"<svg>{x}</svg>", "text/plain": f"loss = {x}"} for x in (1, 2))
    cell, done = (
        new_code_cell("graph(loss)", outputs=[new_output("display_data", data)]) for data in (old, new | about)
    )
    ((shown, ran),) = book.pairs(cell, done)
    assert shown is ran and ran.data["text/plain"] == "loss = 2"
    done.outputs.append(new_output("display_data", {**new, "text/plain": "loss = 3", **about}))
    with pytest.raises(ValueError, match="nothing is stored of what the run shows and moves: loss = 3"):
        book.pairs(cell, done)
    assert book.pairs(new_code_cell("own(loss)"), done) == []  # before an exercise is answered there is no picture


@pytest.mark.skipif(not SPHINX, reason="Sphinx is not installed: make build/book-venv/made")
def test_a_long_formula_is_cut_at_its_wide_spaces():
    text = r"m \leftarrow a,\quad v \leftarrow b \qquad\text{or}\qquad\qquad w"
    table = rf"\begin{{aligned}}{text}\end{{aligned}}"
    ask = f"import conf; print(conf._parts({text!r}, False), conf._parts({text!r}, True), conf._parts({table!r}, False), sep='\\n')"
    said = subprocess.run([SPHINX, "-c", ask], cwd=book.HERE, capture_output=True, text=True, check=True).stdout
    parts = [r"m \leftarrow a,", r"v \leftarrow b", r"\text{or}", "w"]
    assert said.splitlines() == [str(parts), str([text]), str([table])]


def test_a_lesson_that_cannot_be_recorded_says_so(tmp_path):
    about = record.lesson(lessons.playground())["about"]
    output = new_output(
        "display_data", {"image/svg+xml": "<svg></svg>", "text/plain": "words", record.MIME: about | {"key": ""}}
    )
    html = book.figure(output, output, tmp_path, []).data["text/html"]
    assert "data-live" not in html and "This picture is still; press ▶" in html


def test_an_error_in_a_chapter_stops_the_build(tmp_path):
    """And the startup text runs before its cells."""
    path = tmp_path / "99_wrong.ipynb"
    path.write_text(
        writes(new_notebook(cells=[new_markdown_cell("# Wrong"), new_code_cell("1 / given")])), encoding="utf-8"
    )
    with pytest.raises(Exception, match="ZeroDivisionError"):
        answered(path, tmp_path, "given = 0")
