"""The notebooks run as they are stored, again and again; and the check that says so can fail.

The strict run itself is not here: pytest collects notebooks/ with nbval (see pyproject.toml), one test for each cell.
"""

import os
import re
import subprocess
import sys

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from tools.store import ROOT, all_notebooks, clean_home, store

from ..thorough import THOROUGH


def nbval(*paths):
    """What pytest says about these notebooks, with the options of pyproject.toml, in a process of its own."""
    assert paths, "without a notebook, pytest would run every test there is, this one included"
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "-c",
        "pyproject.toml",
        *map(str, paths),
    ]
    # `clean_home` says all; a conftest.py that lies beside a temporary folder is not ours
    command.append("--noconftest")
    with clean_home():
        env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
        return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)


def test_notebooks_pass_a_second_time():
    """The ordinary run was the first: nothing that a notebook leaves behind changes what it shows next time.

    17 trains for half a minute and keeps nothing. Of the others, two here and all in `make thorough`."""
    again = [path for path in all_notebooks() if (path.stem[:2] != "17" if THOROUGH else path.stem[:2] in ("05", "15"))]
    run = nbval(*again)
    assert run.returncode == 0, run.stdout


def change_a_digit(text):
    """`text` with one digit changed, where a reader would see it: between tags for SVG, else anywhere."""
    found = re.search(r">[^<]*?(\d)[^<]*</text>", text) if text.lstrip().startswith("<") else re.search(r"(\d)", text)
    if not found:
        return None
    at = found.start(1)
    return text[:at] + str((int(text[at]) + 1) % 10) + text[at + 1 :]


def changed_copies(nb):
    """For each kind of output that a reader sees: the notebook with one digit of it changed, and the cell's number among code cells."""
    done = set()
    for number, cell in enumerate(cell for cell in nb.cells if cell.cell_type == "code"):
        for output in cell.outputs:
            holder = output.get("data", output)
            for kind in {"image/svg+xml", "text/plain", "text/html", "text"} & holder.keys() - done:
                before = holder[kind]
                if changed := change_a_digit(before):
                    holder[kind] = changed
                    yield kind, number, nbformat.from_dict(nb)
                    holder[kind] = before
                    done.add(kind)


def check_that_changes_are_caught(path, tmp_path):
    """Put each changed digit into a copy: of the notebook and its copies, nbval must fail at those cells and at no other."""
    kinds, cells = {}, []
    for kind, number, nb in changed_copies(nbformat.read(path, as_version=4)):
        copy = tmp_path / f"{path.stem}-{re.sub(r'[^a-z]', '-', kind)}.ipynb"
        nbformat.write(nb, copy)
        kinds[copy] = kind
        cells.append(str(number))
    run = nbval(path, *kinds)
    assert sorted(re.findall(r"^FAILED .*::Cell (\d+)", run.stdout, re.M)) == sorted(cells), run.stdout
    return list(kinds.values())


def test_a_changed_digit_fails(tmp_path):
    path = tmp_path / "small.ipynb"
    picture = "from IPython.display import SVG\nSVG('<svg xmlns=\"http://www.w3.org/2000/svg\"><title>t</title><text>25.0</text></svg>')"
    nbformat.write(new_notebook(cells=[new_code_cell(source) for source in ("6 * 7", picture, "print(0.5)")]), path)
    store(path)
    assert sorted(check_that_changes_are_caught(path, tmp_path)) == ["image/svg+xml", "text", "text/plain"]


@pytest.mark.parametrize("path", all_notebooks()[:1], ids=lambda path: path.stem)
def test_a_changed_digit_in_the_first_chapter_fails(path, tmp_path):
    caught = check_that_changes_are_caught(path, tmp_path)
    assert "text/html" in caught
