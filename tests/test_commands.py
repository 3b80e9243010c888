"""The commands and the lines of code that README.md promises do what it says."""
import contextlib
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from .browser.lab import stop

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
INSTRUCTORS = (ROOT / "INSTRUCTORS.md").read_text(encoding="utf-8")


def test_readme_code_prints_what_it_says():
    (code,) = re.findall(r"```python\n(.*?)```", README, re.S)
    said = re.search(r"print\(.*\)  # (.*)", code).group(1)
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert run.stdout.strip() == said, run.stderr


def test_readme_names_only_targets_and_files_that_exist():
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.M))
    assert {"lab", "test"} <= set(re.findall(r"\bmake ([\w-]+)", README)) <= targets
    for link in re.findall(r"\]\((?!https?:)([^)#]+)", README):
        assert (ROOT / link).exists(), link


def test_the_binder_link_opens_the_start_chapter():
    """One address, in one place; only the account in it is left to whoever hosts the repository."""
    (account, path) = re.findall(r"^\[binder\]: https://mybinder\.org/v2/gh/(\w+)/minigrad/HEAD\?urlpath=lab/tree/(\S+)$", README, re.M)[0]
    assert README.count("mybinder.org") == 1 and f"`{account}`" in README
    assert ROOT / path == min((ROOT / "notebooks").glob("*.ipynb"))
    assert os.access(ROOT / "postBuild", os.X_OK)


def commands(text):
    """The lines of the fences that have no language."""
    fences = re.findall(r"^```(\w*)\n(.*?)^```", text, re.S | re.M)
    return [line.split("#")[0].strip() for language, fence in fences if not language for line in fence.splitlines()]


@pytest.mark.skipif(sys.platform == "win32", reason="grading needs processes that can be limited")
def test_the_readmes_grading_commands_grade(tmp_path):
    """As they stand there, in a folder with one submission; installing is what made this environment."""
    said = [line for line in commands(README) if not line.startswith("make ")]
    assert said[0].startswith("python -m pip install") and said == [line for line in commands(INSTRUCTORS) if "nbgrader" not in line]
    (tmp_path / "submissions/ada").mkdir(parents=True)
    shutil.copy(ROOT / "notebooks/07_accumulation.ipynb", tmp_path / "submissions/ada")
    for line in said[1:]:
        program, *arguments = line.split()
        assert program == "python"
        env = dict(os.environ, PYTHONPATH=str(ROOT))
        run = subprocess.run([sys.executable, *arguments], cwd=tmp_path, env=env, capture_output=True, text=True)
        assert run.returncode == 0, run.stdout + run.stderr
    assert "ada" in (tmp_path / "grades/wide.csv").read_text("utf-8") and (tmp_path / "grades/feedback/ada.html").exists()


@pytest.mark.skipif(Path(sys.prefix) != ROOT / ".venv" or not shutil.which("make"), reason="only where `make test` made the environment")
def test_make_lab_serves_the_course_without_installing_again(tmp_path):
    env = dict(os.environ, **{f"JUPYTER_{kind}_DIR": str(tmp_path / kind) for kind in ("CONFIG", "DATA", "RUNTIME")})
    log = tmp_path / "log"
    started = time.monotonic()
    with open(log, "wb") as out:
        make = subprocess.Popen(["make", "lab", "BROWSER=no", "PORT=18888", "HOST=127.0.0.1"], cwd=ROOT, env=env, stdout=out,
                                stderr=subprocess.STDOUT, start_new_session=True)
    try:
        while not (address := re.search(r"http://127\.0\.0\.1:\d+/lab/tree/(\S+\.ipynb)\?token=\w+", log.read_text())):
            assert make.poll() is None and time.monotonic() < started + 60, log.read_text()
            time.sleep(0.1)
        assert urllib.request.urlopen(address[0], timeout=30).status == 200
        assert address[1] == min(path.name for path in (ROOT / "notebooks").glob("*.ipynb"))
        assert "minigrad: starting JupyterLab" in log.read_text() and "pip install" not in log.read_text()
    finally:
        with contextlib.suppress(ProcessLookupError):
            stop(make)


def test_the_reference_pages_of_make_api(tmp_path):
    made = (ROOT / "Makefile").read_text()
    modules = re.search(r"^API := ((?:.*\\\n)*.*)$", made, re.M)[1].replace("\\\n", " ").split()
    assert {"minigrad.scalar", "minigrad.api", "widgets"} <= set(modules)
    for module in modules:
        __import__(module)
    run = subprocess.run([sys.executable, "-m", "pdoc", "--no-show-source", "--output-directory", tmp_path, "minigrad.scalar", "widgets"],
                         cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    text = re.sub("<.*?>", "", (tmp_path / "minigrad/scalar.html").read_text("utf-8"))
    assert "backward_order" in text and "Raises TypeError if" in text
    assert "GraphView" in (tmp_path / "widgets.html").read_text("utf-8")


def test_the_readmes_pictures_are_of_the_readmes_program():
    from PIL import Image

    from . import pictures

    view = pictures.view()
    (code,) = re.findall(r"```python\n(.*?)```", README, re.S)
    assert "x = Value(1.0)\ny = (3 * x + 2) ** 2\ny.backward()" in code
    for name in re.findall(r'(?:srcset|src)="([^"]+)"', README):
        with Image.open(ROOT / name) as image:
            assert getattr(image, "n_frames", 1) == (view.total + 1 if name.endswith(".gif") else 1)
    alt = re.search(r'alt="([^"]+)"', README)[1]
    assert "Forward: 1, 3, 5, 25. Backward: 1, 10, 10, 30." in alt
    grads = {n["label"]: n["grad"] for n in view.trace["nodes"] if n["kind"] != "constant"}
    assert sorted(grads.values()) == [1, 10, 10, 30]
    view.close()
