"""The project as a whole: what imports what, what is installed, what is in the wheel, and that files which repeat each other agree."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from functools import cache
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parents[1]
PACKAGES = ("minigrad", "widgets")
FILES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
HEAVY = ("numpy", "numba", "IPython", "matplotlib", "ipywidgets", "pygraphviz", "widgets")
# distribution -> the name that is imported, where it differs; None: used as a program
IMPORT_NAMES = {"jupyterlab": None, "pillow": "PIL", "resvg-py": "resvg_py"}


def name_of(path):
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def short(path):
    return str(path.relative_to(ROOT))


# ---- imports run downwards: notebooks > widgets > minigrad.course > minigrad


@cache
def imports(path):
    """Everything that the file imports, also inside functions, relative imports made absolute."""
    package = name_of(path) if path.name == "__init__.py" else name_of(path).rpartition(".")[0]
    tree = ast.parse(path.read_text())
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                base = ".".join(
                    [*package.split(".")[: len(package.split(".")) - node.level + 1], *filter(None, [base])]
                )
            found += [f"{base}.{alias.name}" for alias in node.names]
    return found


def layer(module):
    """How high a module stands; it may import only from its own height and below."""
    if module.split(".")[0] in ("tests", "notebooks"):
        return 4
    if module.split(".")[0] == "tools":
        return 3
    if module.split(".")[0] == "widgets":
        return 2
    return 1 if f"{module}.".startswith("minigrad.course.") else 0


def test_imports_run_downwards():
    tools = sorted((ROOT / "tools").rglob("*.py"))
    upward = {
        (name_of(path), module)
        for path in [*FILES, *tools]
        for module in imports(path)
        if layer(module) > layer(name_of(path))
    }
    # %load_ext minigrad
    hook = {("minigrad", f"widgets.extension.{name}_ipython_extension") for name in ("load", "unload")}
    assert upward == hook


def test_engine_and_course_know_no_screen():
    screens = {"IPython", "ipywidgets", "anywidget", "matplotlib", "jupyterlab"}
    low = [path for path in FILES if layer(name_of(path)) < 2]
    assert not [(short(path), module) for path in low for module in imports(path) if module.split(".")[0] in screens]


def test_what_learners_use_knows_nothing_of_grading():
    """The instructor's half is the package grading and two commands; nothing that runs in a learner's kernel imports it, but for
    `check.hand_in`, which reads a notebook as the grader does and is imported when it is called. The command that copies the course
    finds answers in the same way when it updates a copy."""
    doors = {"minigrad.course.grade", "minigrad.course.nbgrader", "minigrad.course.hand_in", "minigrad.course.update"}
    learners = [path for path in FILES if layer(name_of(path)) == 1 and name_of(path) not in doors
                and not name_of(path).startswith("minigrad.course.grading")]  # fmt: skip
    assert len(learners) > 20
    inside = ("minigrad.course.grading", *doors)
    found = {(name_of(path), module) for path in learners for module in imports(path) if module.startswith(inside)}
    assert {name for name, _ in found} <= {"minigrad.course.checking", "minigrad.course.__main__"}
    assert all(module.startswith(("minigrad.course.hand_in", "minigrad.course.update")) for _, module in found)


def test_import_minigrad_is_light():
    code = f"import minigrad, sys; print(*[name for name in {HEAVY} if name in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.split() == []


def test_value_is_there_without_numpy():
    code = "import sys; sys.modules['numpy'] = None; from minigrad import Value; x = Value(3.0); (x**2).backward(); print(x.grad)"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0 and run.stdout == "6.0\n", run.stderr


# ---- files


def test_files_say_what_lives_there():
    silent = [
        short(path) for path in FILES if path.read_text().strip() and not ast.get_docstring(ast.parse(path.read_text()))
    ]
    assert not silent, "a file starts with a docstring: what lives here, and what does not"


def test_folders_are_packages():
    bare = [short(folder) for folder in {path.parent for path in FILES} if not (folder / "__init__.py").exists()]
    assert not bare, "without it neither the doctests nor mypy find what is inside"


def test_no_file_names_a_machine():
    """Nothing committed depends on where somebody's checkout lies."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a git checkout")
    pattern = re.compile(r"/(?:home|Users)/(?!ada\b)\w+/|/work/\w+/|/root/\w")
    for name in filter(None, listed.stdout.split("\0")):
        path = ROOT / name
        if path.suffix not in {".png", ".gif", ".npz", ".woff2"} and path.exists() and path != Path(__file__):
            assert not pattern.search(path.read_text(encoding="utf-8")), name


def test_hooks_before_a_commit_fetch_nothing():
    text = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    assert set(re.findall(r"repo: (\S+)", text)) == {"local"}
    assert set(re.findall(r"language: (\S+)", text)) == {"system", "pygrep"}  # no environment is made for them
    for program in re.findall(r"entry: \.venv/bin/python -m (\w+)", text):
        assert subprocess.run([sys.executable, "-m", program, "--version"], capture_output=True).returncode == 0, (
            program
        )
    scripts = json.loads((ROOT / "widgets/front/package.json").read_text(encoding="utf-8"))["scripts"]
    assert set(re.findall(r"entry: npm .* (\w+)$", text, re.M)) <= scripts.keys()


def test_the_hook_for_notebooks_finds_widget_state():
    pattern = re.search(
        r"entry: '(.*)'\n +language: pygrep", (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    )[1]
    for kind in ("state", "view"):
        assert re.search(pattern, json.dumps({f"application/vnd.jupyter.widget-{kind}+json": {}}))
    assert not [
        path.name
        for path in (ROOT / "notebooks").glob("*.ipynb")
        if re.search(pattern, path.read_text(encoding="utf-8"))
    ]


# ---- dependencies


def requirements(*extras):
    """name -> Requirement of the project's dependencies, with the extras named."""
    lines = [*PROJECT["dependencies"], *(line for extra in extras for line in PROJECT["optional-dependencies"][extra])]
    return {Requirement(line).name: Requirement(line) for line in lines}


def outside(files):
    """The third-party packages that these files import."""
    found = {module.split(".")[0] for path in files for module in imports(path)}
    return found - set(sys.stdlib_module_names) - {*PACKAGES, "tests", "tools", ""}


def test_what_is_imported_is_declared():
    declared = {IMPORT_NAMES.get(name, name) for name in requirements("instructors")}  # grading says what is missing
    comes_with_jupyterlab = {
        "IPython",
        "ipykernel",
        "traitlets",
        "nbformat",
        "nbconvert",
        "nbclient",
        "jupyter_client",
        "comm",
    }
    assert outside(FILES) - declared - comes_with_jupyterlab == set()


def test_each_dependency_has_its_reason():
    """The table in docs/dev/dependencies.md names every declared package, and no other."""
    text = (ROOT / "docs/dev/dependencies.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|]+) \|", text, re.M)[1:]  # the first is the header
    named = {name for row in rows for name in re.sub(r"\(.*?\)", "", row).replace(" ", "").split(",")}
    groups = [PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()]
    assert named == {Requirement(line).name for group in groups for line in group}


def test_what_is_declared_is_imported():
    used = outside(FILES)
    for name in requirements():
        if IMPORT_NAMES.get(name, name):
            assert IMPORT_NAMES.get(name, name) in used, f"{name} is a dependency, and nothing imports it"


def test_what_the_extras_declare_is_used():
    """By an import in the project or its tests, as a program that a test starts, or by name in the Makefile or a setting."""
    by_name = {"pytest-xdist": "-n 2", "pytest-rerunfailures": "mark.flaky(", "nbval": "--nbval", "notebook": "Notebook 7",
               "mypy": "-m mypy", "ruff": "-m ruff", "pdoc": "-m pdoc", "pytest": "-m pytest", "uv": "-m uv",
               "furo": '= "furo"', "myst-nb": '"myst_nb"'}  # fmt: skip
    tests = sorted(
        path for folder in ("tests", "tools") for path in (ROOT / folder).rglob("*.py") if path != Path(__file__)
    )
    imported = outside([*FILES, *tests])
    text = "".join(path.read_text("utf-8") for path in [ROOT / "Makefile", ROOT / "pyproject.toml", *tests])
    for name in requirements(*PROJECT["optional-dependencies"]).keys() - requirements().keys():
        module = name.replace("-", "_")
        used = (
            by_name[name] in text
            if name in by_name
            else module in imported or re.search(rf'("-m",\s+|importorskip\()"{module}\b', text)
        )
        assert used, f"{name} is in an extra, and nothing uses it"


def conda_environment():
    """The conda and the pip lines of environment.yml, without a YAML parser: they are "- name" lines, the pip ones indented deeper."""
    lines = (ROOT / "environment.yml").read_text().split("\ndependencies:\n")[1].splitlines()
    conda = [line[4:] for line in lines if re.match(r"  - (?!pip:?$)", line)]
    pip = [line.strip()[2:] for line in lines if line.startswith("      - ")]
    return conda, pip


def test_environment_yml_is_pyproject():
    conda_name = {"graphviz": "python-graphviz", "matplotlib": "matplotlib-base"}
    conda, pip = conda_environment()
    expected = {"python=3.12"}  # one version, or Binder's builder starts from its own, which is older than we need
    assert SpecifierSet(PROJECT["requires-python"]).contains("3.12")
    for name, requirement in requirements().items():
        if name not in ("pygraphviz", "resvg-py"):
            expected.add(f"{conda_name.get(name, name)}{requirement.specifier}")
    assert set(conda) == expected
    assert [Requirement(line) for line in pip] == [requirements()["pygraphviz"], requirements()["resvg-py"]]


def test_constraints_fit_pyproject():
    """constraints.txt has one exact version of everything that pyproject.toml names, within its bounds."""
    pinned = {}
    for line in (ROOT / "constraints.txt").read_text().splitlines():
        if line and not line.lstrip().startswith("#"):
            pinned[Requirement(line).name] = Requirement(line)
    for name, requirement in requirements(*PROJECT["optional-dependencies"]).items():
        (exact,) = pinned[name].specifier
        assert exact.operator == "==" and requirement.specifier.contains(exact.version), (
            f"{name}: run `make constraints`"
        )


# ---- the wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The project's wheel, built from a copy so that nothing is left behind."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for package in PACKAGES:
        shutil.copytree(ROOT / package, source / package, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    shutil.copytree(ROOT / "notebooks", source / "notebooks", ignore=shutil.ignore_patterns(".ipynb_checkpoints"))
    (source / "tests").mkdir()
    (source / "tests/__init__.py").touch()
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--wheel-dir",
        out,
        source,
    ]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    (file,) = out.iterdir()
    return file


def test_wheel_holds_the_packages_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as archive:
        inside = {name for name in archive.namelist() if ".dist-info/" not in name}
        licence = [name for name in archive.namelist() if name.endswith("LICENSE")]
    front = {
        path
        for pattern in ("*.js", "*.css", "dist/*")
        for path in (ROOT / "widgets/front").glob(pattern)
        if path.is_file()
    }
    data = {ROOT / package / "py.typed" for package in PACKAGES} | {
        *(ROOT / "minigrad/data").glob("*"),
        ROOT / "widgets/palette.json",
    }
    data |= {*(ROOT / "minigrad").rglob("*.pyi")}
    kernelspec = {name for name in inside if name.endswith(".data/data/share/jupyter/kernels/minigrad/kernel.json")}
    assert len(kernelspec) == 1  # and its source lies in the package
    kernelspec.add("widgets/kernelspec/kernel.json")
    panel = {name for name in inside if ".data/data/share/jupyter/labextensions/minigrad-course/" in name}
    assert {Path(name).name for name in panel} == {"package.json", "panel.js"}
    panel.add("widgets/labextension/package.json")
    notebooks = {name for name in inside if ".data/data/share/minigrad/notebooks/" in name}
    assert {Path(name).name for name in notebooks} == {path.name for path in (ROOT / "notebooks").glob("*.ipynb")}
    assert front and inside - kernelspec - panel - notebooks == {
        path.relative_to(ROOT).as_posix() for path in {*FILES, *front, *data}
    }
    assert licence


def test_wheel_works_without_the_checkout(wheel, tmp_path):
    install = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        "--target",
        tmp_path / "site",
        wheel,
    ]
    subprocess.run(install, check=True, capture_output=True)
    code = f"""if True:
        import sys; sys.path[:0] = [{str(tmp_path / "site")!r}]
        import minigrad, widgets
        assert all(module.__file__.startswith(sys.path[0]) for module in (minigrad, widgets)), minigrad.__file__
        x = minigrad.Value(1.0); y = (3 * x + 2) ** 2
        picture = widgets.graph(y)
        print(y.data, "image/svg+xml" in picture._repr_mimebundle_()[0])
    """
    run = subprocess.run([sys.executable, "-I", "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert run.stdout.split() == ["25.0", "True"], run.stderr


def test_another_package_of_the_same_name_is_noticed(wheel, tmp_path):
    """The package index has a `minigrad` by somebody else: a compiled engine, an nn.py and one line in __init__.py."""
    site = tmp_path / "site"
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", site, wheel]
    subprocess.run(install, check=True, capture_output=True)

    def said(module):
        code = f"import sys; sys.path.insert(0, {str(site)!r}); import {module}"
        return subprocess.run([sys.executable, "-I", "-c", code], cwd=tmp_path, capture_output=True, text=True).stderr

    assert said("minigrad") == said("widgets") == ""
    for name, summary in [("minigrad-0.1.0", PROJECT["description"]), ("minigrad-0.0.6", "Another autograd engine")]:
        (site / f"{name}.dist-info").mkdir()
        (site / f"{name}.dist-info/METADATA").write_text(f"Metadata-Version: 2.4\nName: minigrad\nSummary: {summary}\n")
        theirs = "Another" in summary
        assert (
            "Two packages called minigrad" in said("minigrad")
        ) == theirs  # ours, installed under its older name, is no stranger
    (site / "minigrad/__init__.py").write_text("class Value: pass")
    assert "is another project of the same name" in said("widgets") and "ImportError" in said("widgets")
    # Without it pip finds the distribution there, and leaves the other one's files
    assert "--force-reinstall" in said("widgets")


def test_wheel_brings_everything_that_is_used(wheel, tmp_path):
    """In an environment that borrows only the dependencies, from an empty folder: front ends, kernelspec and the course's commands."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "env"], check=True, capture_output=True)
    env = tmp_path / "env"
    python = env / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    install = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index", wheel]
    # Else pip finds the checkout installed already
    clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    subprocess.run(install, check=True, capture_output=True, cwd=tmp_path, env=clean)
    assert (env / "share/jupyter/kernels/minigrad/kernel.json").is_file()
    others = [path for path in sys.path if path.endswith("site-packages")]
    (tmp_path / "empty").mkdir()

    # After the environment's own packages, the tests', without their .pth files: without this checkout
    def run(
        *command,
    ):
        start = f"runpy.run_module({command[0]!r}, run_name='__main__')"
        code = f"import runpy, sys; sys.path += {others!r}; sys.argv = {list(command)!r}; {start}"
        return subprocess.run([python, "-I", "-c", code], cwd=tmp_path / "empty", capture_output=True, text=True)

    assert "usage" in run("minigrad.course.grade", "--help").stdout
    assert "notebooks copied to course." in run("minigrad.course", "course").stdout
    mine = tmp_path / "empty/course/00_start_here.ipynb"
    mine.write_text("my work", encoding="utf-8")
    again = run("minigrad.course", "course").stdout
    assert (
        again.startswith("0 notebooks copied")
        and "stay as they are" in again
        and mine.read_text(encoding="utf-8") == "my work"
    )
    assert len([*mine.parent.glob("*.ipynb")]) == len([*(ROOT / "notebooks").glob("*.ipynb")])
    shutil.rmtree(mine.parent)
    (tmp_path / "empty/use.py").write_text("""if True:
        import pathlib, minigrad, widgets, widgets.lessons
        from minigrad.course import check, exercises
        here = pathlib.Path(widgets.__file__).parent
        t = minigrad.tensor([1.0, 2.0], requires_grad=True); (t * t).sum().backward()
        front = sorted(path.suffix for path in (here / "front").rglob("*") if path.suffix in (".js", ".css"))
        print(t.grad.tolist(), len(front) > 5, "env" in here.parts, len(exercises.chapters()) > 15)
        print(sorted(path.name for path in pathlib.Path().iterdir()))
    """)
    command = [python, "-I", "-c", f"import sys; sys.path += {others!r}; exec(open('use.py').read())"]
    done = subprocess.run(command, cwd=tmp_path / "empty", capture_output=True, text=True)
    assert done.stdout.splitlines() == ["[2.0, 4.0] True True True", "['use.py']"], done.stderr
