"""`python -m minigrad.course FOLDER`: what it copies, what it leaves alone, and what it says when it cannot.

What lives here: the command in this checkout. What does not: the command from the wheel alone (tests/test_project.py).
"""

import errno
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.sign import NotebookNotary

from minigrad.course import __main__ as course
from minigrad.course import exercises, published, update
from minigrad.course.checking import Check

CONTENTS = course.chapters()
CHAPTERS = [chapter.name for chapter in CONTENTS]


@pytest.fixture
def command(monkeypatch, tmp_path, capsys):
    """Give the command in an empty folder: what it printed, or what it said when it ended with an error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["python -m minigrad.course", *map(str, arguments)])
        try:
            course.main()
        except SystemExit as end:
            assert capsys.readouterr().out == ""
            return str(end)
        return capsys.readouterr().out

    return run


def names(folder):
    return sorted(path.name for path in folder.iterdir() if path.name != update.RECORD)


def test_the_notebooks_arrive_and_the_next_command_is_one_command(command, tmp_path):
    said = command("my course/here")
    assert f"{len(CHAPTERS)} notebooks copied" in said and names(tmp_path / "my course/here") == CHAPTERS
    if sys.platform != "win32":
        program, *arguments = shlex.split(said.splitlines()[-1].removeprefix("Next: "))
        assert program == "jupyter" and arguments[0] == "lab" and os.path.isfile(arguments[1]) and len(arguments) == 2


def test_the_copies_are_trusted_so_that_their_pictures_show(command, tmp_path):
    command("course")
    notary = NotebookNotary(data_dir=str(tmp_path / "data"))
    copies = [nbformat.read(tmp_path / "course" / name, as_version=4) for name in CHAPTERS]
    assert all(map(notary.check_signature, copies))
    copies[0].cells[-1].source += "# mine"
    assert not notary.check_signature(copies[0])


def test_nothing_that_is_there_is_touched(command, tmp_path):
    folder = tmp_path / "course"
    folder.mkdir()
    (folder / CHAPTERS[3]).write_text("my work")
    if sys.platform != "win32":  # making links is a right of its own there
        (folder / CHAPTERS[4]).symlink_to("elsewhere.ipynb")
    kept = len(names(folder))
    assert (
        f"{len(CHAPTERS) - kept} notebooks copied to course; {kept} were there already and stay as they are."
        in command("course")
    )
    assert (folder / CHAPTERS[3]).read_text() == "my work" and names(folder) == CHAPTERS
    assert kept == 1 or os.readlink(folder / CHAPTERS[4]) == "elsewhere.ipynb"


@pytest.mark.parametrize("folder", ["notes.txt", "notes.txt/course"])
def test_a_file_is_no_folder(command, tmp_path, folder):
    (tmp_path / "notes.txt").write_text("mine")
    assert command(folder) == (
        "minigrad: the notebooks were not copied.\n\n"
        "notes.txt is there already and is not a folder. It stays as it is.\n"
        "Instead: choose a name that is free, for example: python -m minigrad.course notes-notebooks"
    )
    assert names(tmp_path) == ["notes.txt"] and (tmp_path / "notes.txt").read_text() == "mine"


@pytest.mark.skipif(sys.platform == "win32", reason="who may write is said otherwise there")
@pytest.mark.parametrize("folder", ["locked", "locked/course"])
def test_a_folder_where_one_may_not_write(command, tmp_path, monkeypatch, folder):
    (tmp_path / "locked").mkdir()
    (tmp_path / "locked").chmod(0o555)
    found, me = course.chapters(), os.geteuid()
    monkeypatch.setattr(course, "chapters", lambda: found)  # another account may not even see the checkout
    if me == 0:  # root may write everywhere
        os.seteuid(65534)
    try:
        said = command(folder)
    finally:
        os.seteuid(me)
    assert said.startswith(
        f"minigrad: the notebooks were not copied.\n\nInto {folder} this account may not write (Permission denied).\n"
    )
    assert (
        "Instead: choose a folder of your own, for example: python -m minigrad.course " in said
        and "minigrad-course" in said
    )
    assert names(tmp_path / "locked") == []


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device here is always full")
def test_a_full_disk_leaves_no_half_notebook_and_the_same_command_goes_on(command, tmp_path):
    folder = tmp_path / "course"
    folder.mkdir()
    (folder / f".{CHAPTERS[5]}.part").symlink_to("/dev/full")  # the sixth notebook finds no room
    said = command("course")
    assert "not all notebooks were copied" in said and "no more room for course (No space left on device)" in said
    assert f"5 notebooks are there, each of them whole; {len(CHAPTERS) - 5} are missing." in said
    assert "MB free and give the same command" in said
    assert names(folder) == CHAPTERS[:5]
    assert command("course").startswith(f"{len(CHAPTERS) - 5} notebooks copied to course; 5 were there already")
    assert all(update.edition((folder / name).read_bytes()) == update.edition(content) for name, content in CONTENTS)


def test_any_other_fault_is_named(command, monkeypatch, tmp_path):
    said = command("x" * 5000)
    assert "the notebooks were not copied" in said and "Instead: try another folder" in said and "Errno" not in said
    monkeypatch.setattr(
        course.os, "replace", lambda *paths: (_ for _ in ()).throw(OSError(errno.EIO, "Input/output error"))
    )
    assert "course: Input/output error." in command("course") and names(tmp_path / "course") == []


@pytest.fixture
def worked(tmp_path, monkeypatch):
    """A checkout whose notebooks are committed, and in which somebody has solved 05.a and begun a notebook of their own."""
    root = tmp_path / "checkout"
    (root / "notebooks").mkdir(parents=True)
    monkeypatch.setattr(published, "ROOT", root)
    for chapter in CONTENTS:
        (root / "notebooks" / chapter.name).write_bytes(chapter.content)
    git = ["git", "-C", str(root), "-c", "user.name=a", "-c", "user.email=a@b.c"]

    def commit():
        for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "published"]):
            subprocess.run([*git, *arguments], check=True)

    def work():
        (path,) = (root / "notebooks").glob("05_*.ipynb")
        notebook = nbformat.read(path, as_version=4)
        (cell,) = (c for c in notebook.cells if c.metadata.get("minigrad", {}).get("exercise") == "05.a")
        cell.source = exercises["05.a"].solution.strip()
        nbformat.write(notebook, path)
        nbformat.write(nbformat.v4.new_notebook(), root / "notebooks/Untitled.ipynb")

    return commit, work


@pytest.mark.parametrize("arguments", [["course"], ["course", "--exam"]])
def test_a_worked_checkout_gives_the_published_notebooks(command, tmp_path, worked, arguments):
    commit, work = worked
    commit()
    work()
    assert "notebooks copied to course" in command(*arguments)
    copied = names(tmp_path / "course")
    assert "Untitled.ipynb" not in copied and set(copied) <= set(CHAPTERS)
    (chapter,) = (tmp_path / "course").glob("05_*.ipynb")
    sources = ["".join(cell["source"]) for cell in json.loads(chapter.read_text(encoding="utf-8"))["cells"]]
    assert exercises["05.a"].stub.strip() in sources and exercises["05.a"].solution.strip() not in sources


@pytest.mark.parametrize("committed", [True, False], ids=["answers committed", "no git"])
def test_notebooks_with_answers_are_not_handed_out(command, tmp_path, worked, committed):
    commit, work = worked
    work()
    if committed:
        commit()
    said = command("exam", "--exam")
    assert (
        "were not copied" in said
        and "holds an answer to 05.a" in said
        and "git checkout origin/main -- notebooks" in said
    )
    assert not (tmp_path / "exam").exists()


def test_an_installation_without_notebooks_says_so(command, monkeypatch, tmp_path):
    monkeypatch.setattr(course, "chapters", lambda: [])
    assert "has no notebooks" in command("course") and names(tmp_path) == []


def test_a_copy_for_an_exam_offers_neither_hints_nor_solutions(command, tmp_path):
    said = command("exam", "--exam")
    assert os.path.isfile(shlex.split(said.splitlines()[-1])[-1]), "the file that is opened first is there"
    asked = [source for source in course.chapters() if source.name[:2] in exercises.chapters()]
    assert sorted(p.name for p in (tmp_path / "exam").iterdir()) == [source.name for source in asked]
    for source in asked:
        copied = json.loads((tmp_path / "exam" / source.name).read_text(encoding="utf-8"))
        text = "".join("".join(cell["source"]) + "\n" for cell in copied["cells"])
        assert "check.reveal" not in text and "check.hint" not in text and "check.exam()" in text, source.name
        prose = "".join("".join(cell["source"]) for cell in copied["cells"] if cell["cell_type"] == "markdown")
        assert not re.search(
            r"\bhints?\b|\breveal|\bsolutions? (?:is|are) shown|\bshows? (?:a|the) solution", prose, re.I
        ), source.name
        assert len(copied["cells"]) == len(json.loads(source.content)["cells"]) + 1
    check = Check()
    check.exam()
    assert "exam" in repr(check.hint("05.b")) and exercises["05.b"].solution not in repr(
        check.reveal("05.b", even_so=True)
    )


def test_nothing_in_a_copy_says_that_it_has_run(command, tmp_path):
    command("course")
    for name in CHAPTERS:
        cells = json.loads((tmp_path / "course" / name).read_text("utf-8"))["cells"]
        assert {cell.get("execution_count") for cell in cells} == {None}
        outputs = [output for cell in cells for output in cell.get("outputs", ())]
        assert {output.get("execution_count") for output in outputs} <= {None}


# ---- --update

MOONS = "05_build_the_engine.ipynb"


@pytest.fixture
def older(command, tmp_path, monkeypatch):
    """A folder with an older edition of three chapters, and a function that edits a notebook in it."""

    def before(chapter):
        nb = json.loads(chapter.content)
        nb["cells"][0]["source"] = "# An older title"
        nb["cells"].pop(2)
        return published.Chapter(chapter.name, json.dumps(nb).encode())

    three = [chapter for chapter in CONTENTS if chapter.name[:2] in ("02", "05", "07")]
    monkeypatch.setattr(course, "chapters", lambda: [before(chapter) for chapter in three])
    command("course")
    monkeypatch.setattr(course, "chapters", lambda: three)

    def edit(name, change):
        path = tmp_path / "course" / name
        nb = json.loads(path.read_text("utf-8"))
        change(nb["cells"])
        path.write_text(json.dumps(nb), "utf-8")

    return edit


def answer(id, text):
    def change(cells):
        next(cell for cell in cells if cell["metadata"].get("minigrad", {}).get("exercise") == id)["source"] = text

    return change


def test_an_update_replaces_what_nobody_changed(command, older, tmp_path):
    said = command("course")
    assert (
        f"There is a new edition of 02_the_graph.ipynb, {MOONS}, 07_accumulation.ipynb" in said and "--update" in said
    )
    line = next(line for line in said.splitlines() if "--update" in line)
    started = shlex.split(line.partition("answers in it: ")[2])[
        0
    ]  # what is to be typed runs this Python, not another one
    assert (
        shutil.which(started) and Path(shutil.which(started)).parent.resolve() == Path(sys.executable).parent.resolve()
    )
    said = command("course", "--update").splitlines()
    assert [line.split(": ")[1] for line in said] == ["the new edition (you had not changed it)"] * 3
    for name in names(tmp_path / "course"):
        (newest,) = [content for there, content in CONTENTS if there == name]
        assert update.edition((tmp_path / "course" / name).read_bytes()) == update.edition(newest)
    assert "Nothing to update" in command("course", "--update")


def test_an_update_carries_the_answers_over_and_keeps_the_old_file(command, older, tmp_path):
    engine = exercises["05.a"].solution.replace("class Value", "import os  # mine\n\n\nclass Value", 1)
    older(MOONS, answer("05.a", engine))
    older(MOONS, lambda cells: cells.append({"cell_type": "markdown", "metadata": {}, "source": "my notes"}))
    mine = (tmp_path / "course" / MOONS).read_bytes()
    said = command("course", "--update")
    assert f"{MOONS}: the new edition, with your answers to 05.a; your file is now before-update/{MOONS}" in said
    cells = json.loads((tmp_path / "course" / MOONS).read_text("utf-8"))["cells"]
    sources = {cell["metadata"].get("minigrad", {}).get("exercise"): "".join(cell["source"]) for cell in cells}
    assert sources["05.a"] == engine.strip() and sources["05.b"].strip() == exercises["05.b"].stub.strip()
    assert "older title" not in "".join(cells[0]["source"])
    assert (tmp_path / "course" / "before-update" / MOONS).read_bytes() == mine
    assert "Nothing to update" in command("course", "--update")


def test_an_answer_in_another_cell_with_a_helper_and_a_magic_is_carried_over(command, older, tmp_path):
    walk = exercises["02.c"].solution.strip() + "\n\n\n%time walk\nopened = doubled(2)"

    def change(cells):
        cells.append(
            {"cell_type": "code", "metadata": {}, "outputs": [], "source": "def doubled(x):\n    return 2 * x"}
        )
        cells.append({"cell_type": "code", "metadata": {}, "outputs": [], "source": walk})

    older("02_the_graph.ipynb", change)
    assert "with your answers to 02.c;" in command("course", "--update")
    cells = json.loads((tmp_path / "course" / "02_the_graph.ipynb").read_text("utf-8"))["cells"]
    (source,) = ["".join(c["source"]) for c in cells if c["metadata"].get("minigrad", {}).get("exercise") == "02.c"]
    assert source == f"def doubled(x):\n    return 2 * x\n\n\n{walk}"


def test_predictions_and_explanations_are_carried_over_with_what_the_course_said(command, older, tmp_path):
    heard = [{"output_type": "stream", "name": "stdout", "text": "passed"}]

    def change(cells):
        for cell in cells:
            text = "".join(cell["source"])
            for stub, mine in (
                ('("02.a", None)', '("02.a", 4)'),
                ('"e = h": None', '"e = h": 1'),
                ('"""\n\n"""', '"""Größe."""'),
            ):
                text = text.replace(stub, mine) if "check." in text else text
            cell["source"] = text
            if cell["cell_type"] == "code" and cell["id"] != "c02-count":  # which was not run
                cell.update(outputs=heard, execution_count=1)
            if '("02.a", 4)' in cell["source"]:
                cell["source"] = 'check.predict("02.a",4)  # I counted them'

    older("02_the_graph.ipynb", change)
    said = command("course", "--update")
    assert "with your answers to 02.a and 02.a2 and your explanation; your file is now before-update/" in said
    cells = json.loads((tmp_path / "course" / "02_the_graph.ipynb").read_text("utf-8"))["cells"]
    text = {cell["id"]: "".join(cell["source"]) for cell in cells}
    assert text["c02-a"].endswith('# Replace None by its number.\ncheck.predict("02.a", 4)')
    assert '"e = h": 1,\n    "h = w * h": None' in text["c02-a2n"] and text["c02-a3"].endswith('("02.a3", None)')
    assert text["x02-explain"] == 'check.explain("02", """Größe.""")'
    heard_by = {cell["id"] for cell in cells if cell.get("outputs") == heard}
    assert {"c02-a", "c02-02a-open", "c02-02b-check", "x02-explain"} <= heard_by
    assert "c02-view" in heard_by and "c02-count" not in heard_by


def test_inserted_cells_stay_behind_the_cell_that_they_followed(command, older, tmp_path):
    long, short = "0b8a6c1e-3f7d-4d2a-9c55-1e2f3a4b5c6d", "9f31c2aa"  # as JupyterLab and VS Code make them

    def change(cells):
        at = next(k for k, cell in enumerate(cells) if cell["id"] == "c02-a") + 1
        cells[at:at] = [
            {"cell_type": "markdown", "id": long, "metadata": {}, "source": "my note"},
            {"cell_type": "code", "id": short, "metadata": {}, "outputs": [], "execution_count": 3, "source": "40 + 2"},
            {
                "cell_type": "code",
                "id": "5d5d5d5d",
                "metadata": {},
                "outputs": [],
                "execution_count": None,
                "source": "",
            },
        ]
        cells.append(
            {"cell_type": "code", "id": "c02-old", "metadata": {}, "outputs": [], "source": "# ours, and gone"}
        )

    older("02_the_graph.ipynb", change)
    said = command("course", "--update")
    assert "the new edition, with the 2 cells that you had inserted; your file" in said
    cells = json.loads((tmp_path / "course" / "02_the_graph.ipynb").read_text("utf-8"))["cells"]
    ids = [cell["id"] for cell in cells]
    assert ids[ids.index("c02-a") :][:3] == ["c02-a", long, short] and "5d5d5d5d" not in ids and "c02-old" not in ids


def test_an_answer_that_uses_another_answer_comes_along_alone(command, older, tmp_path):
    engine = exercises["05.a"].solution.replace("class Value", "import os  # mine\n\n\nclass Value", 1)
    fit = exercises["05.c"].solution.replace("def fit", "# mine\ndef fit", 1)
    older(MOONS, answer("05.a", engine))
    older(MOONS, answer("05.b", exercises["05.b"].solution))
    older(MOONS, answer("05.c", fit))
    kept = {"cell_type": "code", "id": "0b8a6c1e-3f7d-4d2a-9c55-1e2f3a4b5c6d", "metadata": {}, "outputs": [], "execution_count": 4,
            "source": 'check.keep("05.b")'}  # fmt: skip
    older(MOONS, lambda cells: cells.append(kept))
    assert "with your answers to 05.a, 05.b and 05.c and the 1 cell that you had inserted" in command(
        "course", "--update"
    )
    cells = json.loads((tmp_path / "course" / MOONS).read_text("utf-8"))["cells"]
    sources = {cell["metadata"].get("minigrad", {}).get("exercise"): "".join(cell["source"]) for cell in cells}
    assert (
        sources["05.a"] == engine.strip() and sources["05.c"] == fit.strip() and cells[-1]["source"] == kept["source"]
    )


def test_a_chapter_without_a_new_edition_is_left_alone(command, tmp_path):
    command("course")
    path = tmp_path / "course" / MOONS
    path.write_text(path.read_text("utf-8").replace("Goal", "My goal"), "utf-8")
    mine = path.read_bytes()
    assert "Nothing to update" in command("course", "--update") and path.read_bytes() == mine


def test_a_damaged_notebook_and_a_lost_record_lose_nothing(command, older, tmp_path):
    (tmp_path / "course" / MOONS).write_text("{", "utf-8")
    (tmp_path / "course" / update.RECORD).unlink()
    said = command("course", "--update")
    assert f"{MOONS}: the new edition, which has none of your answers" in said
    assert (tmp_path / "course/before-update" / MOONS).read_text("utf-8") == "{"


def test_update_needs_a_folder_with_the_course(command):
    assert command("nowhere", "--update") == "2"  # argparse has said why
