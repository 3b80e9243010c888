"""The course's notebooks as published, not a copy with answers in it.

They are read from the last commit of a checkout, or from the wheel, and checked to contain no answer. __main__.py copies them.
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
    """The notebooks in these files. Paths without a file are skipped."""
    return [Chapter(path.name, path.read_bytes()) for path in paths if path.is_file()]


def _committed() -> list[Chapter]:
    """The notebooks of the last commit; [] if git is not installed or cannot read the checkout."""
    # The checkout may be owned by another account: git then requires safe.directory.
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
