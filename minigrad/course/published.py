"""The course's notebooks as they were published: never a copy in which somebody has worked.

What lives here: where they come from (the last commit of a checkout, or the files of the wheel) and the check that none holds
an answer. What does not: copying them (__main__.py).
"""

from __future__ import annotations

import importlib.metadata
import io
import json
import subprocess
import tarfile
from pathlib import Path
from typing import NamedTuple

from . import exercises

ROOT = Path(__file__).parents[2]


class Chapter(NamedTuple):
    """A notebook: the name of its file, and its bytes."""

    name: str
    content: bytes


def chapters() -> list[Chapter]:
    """The notebooks, in the order of the course; [] for an installation that has none.

    In a checkout people work in the files themselves, so the last commit is read; without git, the files. Otherwise those of the wheel.
    """
    if (ROOT / "notebooks").is_dir():
        committed = _committed() if (ROOT / ".git").exists() else []
        return committed or read(sorted((ROOT / "notebooks").glob("*.ipynb")))
    try:
        files = importlib.metadata.files("minigrad-course") or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    return read(
        sorted(
            Path(str(f.locate())) for f in files if f.parts[-3:-1] == ("minigrad", "notebooks") and f.suffix == ".ipynb"
        )
    )


def read(paths: list[Path]) -> list[Chapter]:
    """The notebooks in these files; what is no file is left out."""
    return [Chapter(path.name, path.read_bytes()) for path in paths if path.is_file()]


def _committed() -> list[Chapter]:
    """The notebooks of the last commit; [] if git is not installed or cannot read the checkout."""
    # The checkout may belong to another account: git then reads it only if it is told that this is meant.
    git = ["git", "-c", f"safe.directory={ROOT}", "-C", str(ROOT)]
    command = [*git, "archive", "--format=tar", "HEAD", "notebooks"]
    try:
        packed = subprocess.run(command, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return []
    with tarfile.open(fileobj=io.BytesIO(packed)) as tar:
        files = {m.name.rpartition("/")[2]: tar.extractfile(m) for m in tar if m.name.endswith(".ipynb")}
        return [Chapter(name, file.read()) for name, file in sorted(files.items()) if file]


def answered(chapter: Chapter) -> list[str]:
    """The ids of the exercises whose cell is not the one that was published."""
    cells = json.loads(chapter.content)["cells"]
    marked = [(cell["metadata"].get("minigrad", {}).get("exercise"), "".join(cell["source"])) for cell in cells]
    return [id for id, source in marked if id in exercises and source.strip() != exercises[id].stub.strip()]
