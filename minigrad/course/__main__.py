"""`python -m minigrad.course FOLDER`: the course's notebooks, copied to where a learner can write into them.

What lives here: that command, and what it says when it cannot. It never overwrites, and it never leaves half a notebook. What does not:
bringing a new edition into a folder with work in it (update.py), grading (grade.py), handing out with nbgrader (nbgrader.py).
"""

import argparse
import errno
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from ..core.errors import explanation
from . import update
from .published import Chapter, answered, chapters

NOT_OURS = (errno.EACCES, errno.EPERM, errno.EROFS)
NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


IN_A_SENTENCE = r"(?:`[^`\n]*`|[^.?!`\n]|[.?!](?!\s|$))*"  # a full stop inside code or a number ends nothing
HELP = re.compile(rf"(?:Stuck\? )?{IN_A_SENTENCE}`check\.(?:hint|reveal)\([^`\n]*`{IN_A_SENTENCE}[.?!]? ?", re.M)


KERNEL = {"display_name": "Python 3 (minigrad)", "language": "python", "name": "minigrad"}


def for_a_learner(content: bytes, exam: bool = False, kernel: bool = False) -> bytes:
    """A published notebook as learners get it: no execution counts, because nothing has run yet, and with `kernel` the kernel that loads
    the extension and a chapter's imports by itself. (The published ones keep both: nbval takes a cell without a count for one that was
    never run.)"""
    nb = json.loads(content)
    if kernel:
        nb["metadata"]["kernelspec"] = KERNEL
    for cell in nb["cells"]:
        for part in (cell, *cell.get("outputs", ())):
            if "execution_count" in part:
                part["execution_count"] = None
    if exam:
        _for_an_exam(nb)
    return (json.dumps(nb, ensure_ascii=False, indent=1) + "\n").encode()


def has_kernel() -> bool:
    """Whether the kernel "Python 3 (minigrad)" is installed. JupyterLab opens a dialog for a notebook whose kernel is missing."""
    try:
        from jupyter_client.kernelspec import find_kernel_specs
    except ImportError:
        return False
    return KERNEL["name"] in find_kernel_specs()


def _for_an_exam(nb: dict) -> None:
    """Take out what invites to hints and solutions, and put in a cell after which `check` gives none."""
    for cell in nb["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = HELP.sub("", "".join(cell["source"]))
    start = next((i for i, cell in enumerate(nb["cells"]) if cell["cell_type"] == "code"), len(nb["cells"]) - 1) + 1
    exam: dict = {"cell_type": "code", "id": "exam", "metadata": {}, "execution_count": None, "outputs": [],
            "source": "from minigrad.course import check\n\ncheck.exam()"}  # fmt: skip
    nb["cells"].insert(start, exam)


def copy(folder: Path, exam: bool = False) -> tuple[list[Path], list[Path]]:
    """Copy the notebooks into `folder`. Returns the new files, and the existing ones, which are left unchanged."""
    folder.mkdir(parents=True, exist_ok=True)
    new, saved, kernel = [], [], has_kernel()
    for source in chapters():
        if exam and not re.match(r"(?!00)\d\d_", source.name):
            continue  # the start and the glossary have no exercises
        target = folder / source.name
        if os.path.lexists(target):  # a broken link is a file of the user, too
            saved.append(target)
            continue
        content = for_a_learner(source.content, exam, kernel)
        update.write(target, content)  # half a notebook would be "there already" the next time
        if not exam:
            update.record(folder, {source.name: update.edition(content)})
        new.append(target)
    return new, saved


def outdated(folder: Path, kept: list[Path]) -> list[str]:
    """The names of the copies that were made from an earlier edition than the one that is installed."""
    recorded_files, names = update.recorded(folder), {path.name for path in kept}
    return [
        name
        for name, content in chapters()
        if name in names and recorded_files.get(name) not in (None, update.edition(content))
    ]


def bring_up_to_date(folder: Path) -> None:
    """`--update`: bring new editions, and print a line for each changed file."""
    kernel = has_kernel()
    try:
        changes = update.update(
            folder, [Chapter(name, for_a_learner(content, kernel=kernel)) for name, content in chapters()]
        )
    except OSError as error:
        sys.exit(f"minigrad: {complaint(folder, error)}")
    trust([folder / line.split(":")[0] for line in changes])
    print("\n".join(changes) if changes else f"Nothing to update: every chapter in {folder} is the newest edition.")


def trust(notebooks: list[Path]) -> None:
    """Sign the copies, as `jupyter trust` does: JupyterLab shows no stored picture of a notebook that it does not trust."""
    try:
        import nbformat
        from nbformat.sign import NotebookNotary

        notary = NotebookNotary()
        for path in notebooks:
            notary.sign(nbformat.read(path, as_version=4))
    except (
        Exception
    ) as error:  # a page without Jupyter, a home that cannot be written to: the copies are there all the same
        print(f"minigrad: the copies could not be signed ({error}). JupyterLab shows their pictures once you run them.")


def python() -> str:
    """What to type for the Python that runs this: after `make lab` it is the one in .venv, which has no name of its own."""
    found = shutil.which("python")
    if found and os.path.realpath(os.path.dirname(found)) == os.path.realpath(os.path.dirname(sys.executable)):
        return "python"
    return quoted(Path(sys.executable))  # whole: the terminal may be in another folder


def in_the_way(folder: Path) -> Path | None:
    """The part of the path that exists and is not a folder. (os.path, because Path's methods raise PermissionError.)"""
    return next((path for path in (folder, *folder.parents) if os.path.lexists(path) and not os.path.isdir(path)), None)


def complaint(folder: Path, error: OSError) -> str:
    """What happened, why, and what to do instead."""
    command = "python -m minigrad.course"
    sentence = "the notebooks were not copied.\n\n"
    existing = [source for source in chapters() if os.path.isfile(folder / source.name)]
    if used := in_the_way(folder):
        other = used.with_name(f"{used.stem}-notebooks")
        return sentence + explanation(
            f"{used} is there already and is not a folder. It stays as it is.",
            instead=f"choose a name that is free, for example: {command} {quoted(other)}",
        )
    if error.errno in NOT_OURS:
        return sentence + explanation(
            f"Into {folder} this account may not write ({error.strerror}).",
            instead=f"choose a folder of your own, for example: {command} {quoted(Path.home() / 'minigrad-course')}",
        )
    if error.errno in NO_ROOM:
        missing = [source for source in chapters() if source not in existing]
        room = sum(len(source.content) for source in missing) / 1e6
        return "not all notebooks were copied.\n\n" + explanation(
            f"There is no more room for {folder} ({error.strerror}). "
            f"{len(existing)} notebooks are there, each of them whole; {len(missing)} are missing.",
            instead=f"make {room:.1f} MB free and give the same command again: it only brings what is missing.",
        )
    return sentence + explanation(
        f"{folder}: {error.strerror or error}.", instead=f"try another folder, for example: {command} my-course"
    )


def quoted(path: Path) -> str:
    """The path as one word of a command."""
    return subprocess.list2cmdline([str(path)]) if sys.platform == "win32" else shlex.quote(str(path))


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m minigrad.course", description="Copy the course's notebooks into a folder."
    )
    parser.add_argument(
        "folder", type=Path, help="where to; it is made if it does not exist, and nothing in it is overwritten"
    )
    parser.add_argument("--exam", action="store_true", help="without hints and solutions")
    parser.add_argument(
        "--update", action="store_true", help="bring new editions of the chapters; your answers and files are kept"
    )
    options = parser.parse_args()
    folder = options.folder
    if not chapters():
        sys.exit("minigrad: this installation has no notebooks. Install minigrad's wheel, or clone its repository.")
    worked = [(source.name, ids) for source in chapters() if (ids := answered(source))]
    if worked:
        name, ids = worked[0]
        sys.exit(
            "minigrad: the notebooks were not copied.\n\n"
            + explanation(
                f"notebooks/{name} holds an answer to {ids[0]}, so it is not the notebook that was published.",
                instead="bring the published notebooks back (git checkout origin/main -- notebooks), "
                "or install minigrad with pip and give the same command.",
            )
        )
    if options.update:
        if options.exam or not folder.is_dir():
            parser.error("--update needs a folder that has the course, and no --exam")
        return bring_up_to_date(folder)
    try:
        new, saved = copy(folder, options.exam)
    except OSError as error:
        sys.exit(f"minigrad: {complaint(folder, error)}")
    trust(new)
    print(
        f"{len(new)} notebooks copied to {folder}"
        + (f"; {len(saved)} were there already and stay as they are" if saved else "")
        + "."
    )
    if old := outdated(folder, saved):
        print(
            f"There is a new edition of {', '.join(old)}. To get it, with your answers in it: "
            f"{python()} -m minigrad.course {quoted(folder)} --update"
        )
    print(f"Next: jupyter lab {quoted(min((*new, *saved)))}")


if __name__ == "__main__":
    main()
