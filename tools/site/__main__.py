"""The course as a folder of static pages, with Python in the browser (JupyterLite): `make site`, or `python -m tools.site`.

What lives here: packing the learner's notebooks, the project's wheel and what it needs into build/site. What does not: anything that runs
in the browser. Pyodide (Python for the browser) comes from its usual host when a page is opened, or, with PYODIDE=folder-or-archive, from
the site itself, so that a classroom without a network can host all of it.

Nobody has to install anything in a notebook, because the page's Pyodide is given a lock file of its own: Pyodide's list of packages, to
which we add minigrad and what Pyodide does not have. numba and pygraphviz exist in no browser and are left out by their markers.
"""

from __future__ import annotations

import argparse
import email
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import urllib.request
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbformat
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name, parse_wheel_filename

ROOT = Path(__file__).parents[2]
EXTENSIONS = ("@jupyterlite/pyodide-kernel-extension", "@jupyter-widgets/jupyterlab-manager", "anywidget")
BROWSER = {
    "sys_platform": "emscripten",
    "platform_system": "Emscripten",
    "platform_machine": "wasm32",
    "os_name": "posix",
    "extra": "",
}
KERNEL = (
    "micropip",
    "piplite",
    "ipykernel",
    "comm",
    "pyodide-kernel",
    "jedi",
    "ipython",
)  # what the page's kernel would fetch one by one
COURSE = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["name"]
LOADED = [*KERNEL, COURSE]  # by the names of distributions, as Pyodide's list has them
ON_THE_PAGE = {
    "jupyterlab-widgets",
    "widgetsnbextension",
}  # needs of ipywidgets that are front ends only; EXTENSIONS has them
START = "00_start_here.ipynb"
LOCK = "static/pyodide-lock/pyodide-lock.json"


def run(*command: str | Path, **where: Any) -> None:
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, **where)
    if done.returncode:
        sys.exit(
            f"minigrad: this went wrong: {' '.join(map(str, command))}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        )


def pip(*arguments: str | Path) -> None:
    run(sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", *arguments)


def download(what: str, python: str, folder: Path) -> Path:
    """Fetch a wheel of plain Python from the Python package index, as that version of Python would."""
    before = {*folder.glob("*.whl")}
    version = ".".join(python.split(".")[:2])
    pip(
        "download",
        "--no-deps",
        "--only-binary=:all:",
        "--platform=any",
        "--python-version",
        version,
        "--dest",
        folder,
        what,
    )
    (wheel,) = {*folder.glob("*.whl")} - before
    return wheel


# ---- wheels and the lock


def metadata(wheel: Path) -> email.message.Message:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [n for n in archive.namelist() if re.fullmatch(r"[^/]+\.dist-info/METADATA", n)]
        return email.message_from_string(archive.read(name).decode())


def imports(wheel: Path) -> list[str]:
    """The names that the wheel lets one import: what makes Pyodide load it when a cell imports one."""
    with zipfile.ZipFile(wheel) as archive:
        tops = {name.split("/")[0] for name in archive.namelist() if name.endswith(".py")}
    return sorted(top.removesuffix(".py") for top in tops if not re.search(r"\.(dist-info|data)$", top))


def needs(wheel: Path, python: str) -> list[Requirement]:
    """What the wheel requires in a browser."""
    found = [Requirement(line) for line in metadata(wheel).get_all("Requires-Dist") or []]
    here = {**BROWSER, "python_version": ".".join(python.split(".")[:2]), "python_full_version": python}
    wanted = [need for need in found if need.marker is None or need.marker.evaluate(here)]
    return [need for need in wanted if canonicalize_name(need.name) not in ON_THE_PAGE]


def pinned() -> dict[str, str]:
    lines = [line.split(";")[0].strip() for line in (ROOT / "constraints.txt").read_text().splitlines() if "==" in line]
    return {canonicalize_name(name): version for name, version in (line.split("==") for line in lines)}


def entry(wheel: Path, url: str, depends: Sequence[str]) -> dict[str, Any]:
    name, version, *_ = parse_wheel_filename(wheel.name)
    return {
        "name": name,
        "version": str(version),
        "file_name": url,
        "sha256": hashlib.sha256(wheel.read_bytes()).hexdigest(),
        "imports": imports(wheel),
        "depends": [*depends],
        "install_dir": "site",
        "package_type": "package",
        "unvendored_tests": False,
    }


def extend(lock: dict[str, Any], wheels: list[Path], folder: Path) -> None:
    """Add to Pyodide's lock the given wheels and, from the Python package index, what they need and Pyodide lacks, all in `folder`."""
    packages, python, exact = lock["packages"], lock["info"]["python"], pinned()
    ours = {canonicalize_name(parse_wheel_filename(wheel.name)[0]): wheel for wheel in wheels}
    todo = [*ours]
    while todo:
        name = todo.pop()
        wheel, depends = ours[name], []
        for need in needs(wheel, python):
            other = canonicalize_name(need.name)
            there = packages.get(other)
            if other not in ours and not (there and need.specifier.contains(there["version"], prereleases=True)):
                ours[other] = download(
                    f"{need.name}=={exact[other]}" if other in exact else f"{need.name}{need.specifier}", python, folder
                )
                todo.append(other)
            depends.append(other)
        packages[name] = entry(wheel, f"../../pypi/{wheel.name}", depends)


def whole(lock: dict[str, Any], pyodide: Path | None, host: str, names: list[str], folder: Path) -> list[str]:
    """Say for each of Pyodide's packages where it is: in the site's own copy, or on Pyodide's host.

    If `pyodide` is only its core, those of `names`, and what they need, that are plain Python come from the Python package index. Returns
    what then is still missing from the site.
    """
    packages, wanted = lock["packages"], {*names}
    while more := {need for name in wanted for need in map(canonicalize_name, packages[name]["depends"])} - wanted:
        wanted |= more
    missing = []
    for name, package in packages.items():
        if "/" in package["file_name"]:
            continue
        if pyodide and (pyodide / package["file_name"]).exists():
            package["file_name"] = f"../pyodide/{package['file_name']}"
        elif pyodide and name in wanted and package["file_name"].endswith("-none-any.whl"):
            wheel = download(f"{name}=={package['version']}", lock["info"]["python"], folder)
            package.update(file_name=f"../../pypi/{wheel.name}", sha256=hashlib.sha256(wheel.read_bytes()).hexdigest())
        else:
            package["file_name"] = host + package["file_name"]
            missing += [name] * (name in wanted)
    return missing


# ---- Pyodide


def get_pyodide(source: str, folder: Path) -> Path | None:
    """Unpack or copy PYODIDE, a folder or an archive (a path or an address), into `folder`. None if it is left to its host."""
    if not source:
        return None
    if re.match(r"https?://", source):
        archive = folder.parent / source.rsplit("/", 1)[-1]
        archive.parent.mkdir(parents=True, exist_ok=True)
        with urllib.request.urlopen(source) as answer, archive.open("wb") as file:
            shutil.copyfileobj(answer, file)
        source = str(archive)
    path = Path(source).expanduser()
    if not path.exists():
        sys.exit(
            f"minigrad: there is no {source}. PYODIDE is a folder that has pyodide.mjs, or the archive of a release of Pyodide."
        )
    if path.is_file():
        with tarfile.open(path) as archive_file:
            archive_file.extractall(folder.parent / "unpacked", filter="data")
        path = folder.parent / "unpacked"
    mains = sorted(path.rglob("pyodide.mjs"))
    if not mains:
        sys.exit(f"minigrad: {source} has no pyodide.mjs, so it is not a Pyodide (0.26 or newer).")
    leave = shutil.ignore_patterns("*.map", "*.html", "*-tests.tar", "*-tests.zip")
    return Path(shutil.copytree(mains[0].parent, folder, ignore=leave, dirs_exist_ok=True))


def get_lock(pyodide: Path | None) -> tuple[dict[str, Any], str]:
    """Pyodide's own list of its packages, and the address where its host has them."""
    from jupyterlite_pyodide_kernel.constants import PYODIDE_CDN_URL, PYODIDE_VERSION

    if pyodide:
        about = pyodide / "package.json"
        version = json.loads(about.read_text())["version"] if about.exists() else PYODIDE_VERSION
        return json.loads(
            (pyodide / "pyodide-lock.json").read_text()
        ), f"{PYODIDE_CDN_URL.replace(PYODIDE_VERSION, version)}/"
    try:
        with urllib.request.urlopen(f"{PYODIDE_CDN_URL}/pyodide-lock.json", timeout=60) as answer:
            return json.load(answer), f"{PYODIDE_CDN_URL}/"
    except OSError as error:
        sys.exit(
            f"minigrad: Pyodide's list of packages could not be fetched from {PYODIDE_CDN_URL} ({error}). Without a network,\n"
            "say where a copy of Pyodide is: make site PYODIDE=/path/to/pyodide.tar.bz2"
        )


# ---- the site


def configure(site: Path, local: bool) -> None:
    """Point the page at the lock, at the site's own Pyodide if it has one, and let the kernel start with the course in it."""
    path = site / "jupyter-lite.json"
    config = json.loads(path.read_text())
    data = config.setdefault("jupyter-config-data", {})
    settings = data.setdefault("litePluginSettings", {}).setdefault("@jupyterlite/pyodide-kernel-extension:kernel", {})
    settings["loadPyodideOptions"] = {
        "lockFileURL": f"./{LOCK}",
        "packages": LOADED,
        "env": {"HOME": "/home/pyodide", "MINIGRAD_PROGRESS": "/drive/progress.json"},
    }
    if local:
        settings["pyodideUrl"] = "./static/pyodide/pyodide.mjs"
    data.update(appName="minigrad", contentsStorageName="minigrad: notebooks", settingsStorageName="minigrad: settings")
    path.write_text(json.dumps(config, indent=2, sort_keys=True) + "\n")
    (site / "index.html").write_text(f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>minigrad</title>
<link rel="icon" href="lab/favicon.ico">
<script id="jupyter-config-data" type="application/json" data-jupyter-lite-root=".">{{}}</script>
<meta http-equiv="refresh" content="0; url=lab/index.html?path={START}">
</head>
<body>
<p><a href="lab/index.html?path={START}">Open the course</a>, or read the <a href="reference/index.html">reference</a>.</p>
</body>
</html>
""")


def for_the_page(path: Path) -> str:
    """A notebook as a Jupyter server would hand it to JupyterLab: each text in one piece, and our own stored pictures trusted."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.metadata.trusted = True  # else JupyterLab shows no SVG
    return json.dumps(notebook, ensure_ascii=False)


def extension(name: str) -> Path:
    for base in (sysconfig.get_path("data"), sys.prefix):
        if (found := Path(base) / "share/jupyter/labextensions" / name).exists():
            return found
    sys.exit(
        f"minigrad: the page needs the JupyterLab extension {name}, which is not installed. `make site` installs it."
    )


def build(site: Path, pyodide_source: str, api: Path | None) -> None:
    work = site.parent / f"{site.name}-parts"
    for folder in (site, work):
        shutil.rmtree(folder, ignore_errors=True)
    lite, wheels = work / "lite", work / "lite/pypi"
    wheels.mkdir(parents=True)
    pyodide = get_pyodide(pyodide_source, lite / "static/pyodide")
    source = work / "source"
    for package in ("minigrad", "widgets"):
        shutil.copytree(ROOT / package, source / package, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    pip("wheel", "--no-deps", "--wheel-dir", wheels, source)
    notebooks = work / "notebooks"
    notebooks.mkdir()
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        (notebooks / path.name).write_text(for_the_page(path), encoding="utf-8")
    kernel = extension(EXTENSIONS[0])
    for wheel in (kernel / "static/pypi").glob("*.whl"):
        if parse_wheel_filename(wheel.name)[0] in ("piplite", "ipykernel", "pyodide-kernel"):
            shutil.copy(wheel, wheels)
    lock, host = get_lock(pyodide)
    extend(lock, sorted(wheels.glob("*.whl")), wheels)
    missing = whole(lock, pyodide, host, LOADED, wheels)
    config = work / "jupyter_lite_config.json"
    config.write_text(
        json.dumps(
            {
                "LiteBuildConfig": {
                    "ignore_sys_prefix": ["federated_extensions"],
                    "federated_extensions": [str(extension(name)) for name in EXTENSIONS],
                    "apps": ["lab"],
                    "no_unused_shared_packages": True,
                    "no_sourcemaps": True,
                }
            }
        )
    )
    run(
        sys.executable,
        "-m",
        "jupyterlite_core",
        "build",
        "--config",
        config,
        "--lite-dir",
        lite,
        "--contents",
        notebooks,
        "--output-dir",
        site,
        cwd=work,
    )
    configure(site, local=pyodide is not None)
    (site / LOCK).parent.mkdir(parents=True, exist_ok=True)
    (site / LOCK).write_text(json.dumps(lock))
    if api and api.exists():
        shutil.copytree(api, site / "reference")  # api/ is JupyterLite's
    shutil.rmtree(work)
    size = sum(path.stat().st_size for path in site.rglob("*") if path.is_file()) / 1e6
    print(
        f"minigrad: the site is in {os.path.relpath(site)} ({size:.0f} MB). Any web server can show it, for example\n"
        f"    {Path(sys.executable).name} -m http.server --directory {os.path.relpath(site)} --bind localhost 8000"
    )
    if pyodide and missing:
        print(
            f"minigrad: PYODIDE is a part of Pyodide. When a page is opened, its host still sends {', '.join(sorted(missing))}"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        prog="python -m tools.site", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--pyodide", default="", help="a folder with pyodide.mjs, or a release's archive; default: Pyodide's host"
    )
    parser.add_argument("--api", type=Path, help="the reference pages, to be put beside the course")
    parser.add_argument("--output", type=Path, default=ROOT / "build/site")
    asked = parser.parse_args()
    build(asked.output.resolve(), asked.pyodide, asked.api)
