"""Every command in README.md and in the pages of docs/ is executed as it is printed, and all links lead somewhere.

What lives here: the table EXECUTED (which command, by which test, and what stands in for what this machine does not have), those tests,
a test that these pages have no command beyond the table, and one that all relative links lead somewhere. What does not: what the
commands do in every case (their own tests), and the pages for instructors and developers (docs/teach, docs/dev), and the
lists of names in docs/compatibility.md.

Tests marked `slow` fetch packages or take minutes. `make commands` runs them too; `make test` skips them.
"""

import contextlib
import html
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
import time
import urllib.request
import venv
from pathlib import Path

import nbformat
import pytest

from tools import lab
from tools.benchmarks import run
from tools.benchmarks.run import as_measured
from widgets.stored import picture_of

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
TYPED = [
    ROOT / "README.md",
    *(ROOT / f"docs/{name}.md" for name in ("benchmarks", "comparison", "course", "deploy", "install")),
]
PAGES = "\n\n".join(page.read_text(encoding="utf-8") for page in TYPED)
START = min(path.name for path in (ROOT / "notebooks").glob("*.ipynb"))

EXECUTED = {
    "make lab": ("test_make_lab_opens_the_course", "a stand-in notes the address that a browser is asked to open"),
    "make lab PORT=9000 HOST=0.0.0.0 BROWSER=no": (
        "test_make_lab_starts_elsewhere",
        "on a port of its own, and for this machine alone",
    ),
    "make test": ("test_make_test", "with ARGS that choose one test; .ci/run is the whole"),
    "make thorough": ("test_make_thorough", "what it would run; the whole is slow"),
    "make commands": ("test_make_commands", "with ARGS that choose one test"),
    "python -m pip install .": ("test_block", "the block as it stands; see environment()"),
    "python -m minigrad.course my-course": ("test_block", "the same block"),
    "python -m minigrad.course my-course --update": (
        "test_update",
        "right after a copy, so there is nothing to update",
    ),
    "jupyter lab my-course": ("test_block", "the same block"),
    "conda env create --file environment.yml": (
        "test_block",
        "conda itself is a stand-in: its channel is not asked; see CONDA",
    ),
    "conda activate minigrad": ("test_block", "the same stand-in, which activates the environment"),
    "python -m pip install --no-deps --editable .": ("test_block", "the block as it stands, after conda's stand-in"),
    "jupyter lab notebooks": ("test_block", "the same block"),
    'python -m pip install --editable ".[instructors]"': ("test_block", "the block as it stands, with one submission"),
    "python -m minigrad.course.grade submissions/ -o grades/": ("test_block", "the same block"),
    "python -m minigrad.course.grade submissions/ -o grades/ --reveal": ("test_block", "the same block"),
    "%load_ext minigrad": ("test_the_lines_of_a_notebook", "in a kernel, after the first program of the page"),
    "%graph y": ("test_the_lines_of_a_notebook", "the same"),
    "from widgets import graph": ("test_the_lines_of_a_notebook", "the same"),
    'graph(y).save("stepping.gif")': ("test_the_lines_of_a_notebook", "the same"),
    '.save("graph.html")': ("test_the_lines_of_a_notebook", "the same, of graph(y)"),
    "import minigrad as torch": ("test_the_lines_of_a_notebook", "the same, and in the first program"),
    "make binder": ("test_make_binder", "slow"),
    "make book": ("test_make_book", "slow; one chapter"),
    "make book-check": ("test_make_book", "slow; the same"),
    "make pyodide": ("test_make_book", "slow; the same, from npm and the package index"),
    "make book PYODIDE=build/pyodide": ("test_make_book", "slow; the same"),
    "python -m tools.book.costs": ("test_make_book", "slow; only the book that it measures is built"),
    "make bench": ("test_make_bench", "slow; one short round, without the peer that is large (torch)"),
    "make bench ARGS=--write": ("test_benchmarks_into_the_page", "one row; the whole command is slow: test_make_bench"),
    "python -m tools.benchmarks view": ("test_make_bench", "slow; make bench runs it as it stands"),
}
PROGRAMS = (
    "make",
    "python",
    "pip",
    "conda",
    "mamba",
    "jupyter",
    "git",
    "docker",
    "npx",
    "npm",
    "uv",
    "nbgrader",
    "from",
    "import",
)

EVERYTHING = bool(os.environ.get("MINIGRAD_COMMANDS"))
POSIX = sys.platform != "win32"
slow = pytest.mark.skipif(not EVERYTHING, reason="slow: make commands runs it")
posix = pytest.mark.skipif(not POSIX, reason="a shell's commands, and processes that can be limited")
made_here = pytest.mark.skipif(
    Path(sys.prefix) != ROOT / ".venv" or not shutil.which("make"), reason="only where `make test` made the environment"
)


# ---- which commands there are


def blocks(text):
    """The fences that have no language: what is typed into a shell. Their lines, without remarks."""
    fences = re.findall(r"^```(\w*)\n(.*?)^```", text, re.S | re.M)
    return [[line.split("#")[0].strip() for line in fence.splitlines()] for language, fence in fences if not language]


def commands(text):
    """The lines of those blocks, and what in the sentences is a command of a shell or of a notebook."""
    sentences = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
    inline = [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", sentences)]
    shell = [span for span in inline if " " in span and span.split()[0] in PROGRAMS]
    typed = [*shell, *(span for span in inline if span.startswith("%") or re.search(r"\w\(.+\)$", span))]
    return {line for block in blocks(text) for line in block} | set(typed)


def test_every_command_of_the_pages_is_in_the_table_and_the_other_way_round():
    assert commands(PAGES) == set(EXECUTED)
    for command, (test, _) in EXECUTED.items():
        assert callable(globals().get(test)), f"{command}: there is no {test}"


def test_instructors_and_readme_say_the_same_three_commands():
    said = [block for block in blocks(README) if any("grade" in line for line in block)]
    assert said == blocks((ROOT / "INSTRUCTORS.md").read_text(encoding="utf-8"))[:1]


# ---- a shell, as a stranger has it


def stranger(home):
    """The variables of somebody who has just cloned: nothing of the tests', of make's or of an environment's; a browser that only notes
    what it is asked to open, and (for a machine where everybody is root) leave to serve."""
    ours = ("JUPYTER", "IPYTHON", "PYTHON", "PYTEST", "MINIGRAD", "MAKE", "MFLAGS", "VIRTUAL_ENV")
    env = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    (home / "config").mkdir(parents=True, exist_ok=True)
    (home / "config/jupyter_server_config.json").write_text('{"ServerApp": {"allow_root": true}}')
    browser = home / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > "{home}/part" && mv "{home}/part" "{home}/opened"\n')
    browser.chmod(0o755)
    return env | {
        "HOME": str(home),
        "BROWSER": str(browser),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "JUPYTER_DATA_DIR": str(home / "data"),
    }


def wait_for(what, process, log, seconds=90):
    """Ask `what` until it answers something."""
    until = time.monotonic() + seconds
    while not (answer := what()):
        assert process.poll() is None and time.monotonic() < until, log.read_text()
        time.sleep(0.1)
    return answer


@contextlib.contextmanager
def running(command, home, **where):
    """A command that serves until it is stopped, in a session of its own, and the file with what it says."""
    log = home / "log"
    with open(log, "wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, start_new_session=True, **where)
    try:
        yield process, log
    finally:
        with contextlib.suppress(ProcessLookupError):
            lab.stop(process)


def opened(home):
    """The address that the browser was asked for: Jupyter hands it a small page that leads there."""
    file = home / "opened"
    if not file.exists():
        return None
    address = file.read_text().strip().removeprefix("file://")
    return (
        html.unescape(re.search(r'href="(http[^"]+)"', Path(address).read_text())[1])
        if address.startswith("/")
        else address
    )


def ask(address, path, data=None):
    """The server's answer to somebody who has the token of `address`."""
    base, token = re.match(r"(http://[^/]+)/.*token=(\w+)", address).groups()
    request = urllib.request.Request(
        f"{base}/{path}", data and json.dumps(data).encode(), headers={"Authorization": f"token {token}"}
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.read()


def serves_the_course(address, home):
    """The page opens, the course lies in front, and a kernel imports minigrad: the file that it came from."""
    from jupyter_client.blocking import BlockingKernelClient

    assert urllib.request.urlopen(address, timeout=60).status == 200
    assert START in [file["name"] for file in json.loads(ask(address, "api/contents"))["content"]]
    # Beside the notebook, as Lab does
    kernel = json.loads(ask(address, "api/kernels", {"name": "python3", "path": START}))["id"]
    client = BlockingKernelClient(connection_file=str(home / f"runtime/kernel-{kernel}.json"))
    client.load_connection_file()
    client.start_channels(iopub=False, stdin=False, hb=False, control=False)
    try:
        client.kernel_info(reply=True, timeout=60)
        reply = client.execute(
            "import minigrad, widgets", user_expressions={"file": "minigrad.__file__"}, reply=True, timeout=60
        )
        assert reply["content"]["status"] == "ok", reply["content"]
        return Path(reply["content"]["user_expressions"]["file"]["data"]["text/plain"].strip("'"))
    finally:
        client.stop_channels()


# ---- make


def make(*arguments, home):
    run = subprocess.run(["make", *arguments], cwd=ROOT, env=stranger(home), capture_output=True, text=True)
    return run.returncode, run.stdout + run.stderr


@made_here
@posix
def test_make_lab_opens_the_course(tmp_path):
    """As it stands; the second time, so nothing is installed again."""
    with running(["make", "lab"], tmp_path, cwd=ROOT, env=stranger(tmp_path)) as (process, log):
        address = wait_for(lambda: opened(tmp_path), process, log)
        assert f"/lab/tree/{START}?" in address
        assert serves_the_course(address, tmp_path) == ROOT / "minigrad/__init__.py"
        said = log.read_text()
        assert "minigrad: open this address:" in said and "installing" not in said
        assert len(said.splitlines()) < 25 and "Traceback" not in said


def test_update(tmp_path):
    for arguments, said in ((), "notebooks copied"), (("--update",), "Nothing to update"):
        command = [sys.executable, "-m", "minigrad.course", "my-course", *arguments]
        run = subprocess.run(
            command, cwd=tmp_path, env=stranger(tmp_path) | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True
        )
        assert said in run.stdout, run.stderr


@made_here
def test_make_lab_starts_elsewhere(tmp_path):
    (line,) = [command for command in EXECUTED if "PORT=" in command]
    _, said = make("--dry-run", *line.split()[1:], home=tmp_path)
    assert 'tools/start.py lab 9000 0.0.0.0 "no"' in said, said
    line = line.replace("9000", "18888").replace("0.0.0.0", "127.0.0.1")
    with running(line.split(), tmp_path, cwd=ROOT, env=stranger(tmp_path)) as (process, log):
        find = re.compile(r"http://127\.0\.0\.1:\d+/lab/tree/(\S+\.ipynb)\?token=\w+")
        address = wait_for(lambda: find.search(log.read_text()), process, log)
        assert urllib.request.urlopen(address[0], timeout=30).status == 200 and address[1] == START
    assert not (tmp_path / "opened").exists()


@made_here
def test_make_test(tmp_path):
    code, said = make("test", "ARGS=tests/test_commands.py -k readme_code", home=tmp_path)
    assert code == 0 and "1 passed" in said and "-m pytest -n 2 --dist loadfile" in said, said
    assert (ROOT / ".ci/run").read_text().rstrip().endswith("make test")


@made_here
def test_make_thorough(tmp_path):
    """It is `make test` with one variable, and the mutants."""
    _, said = make("--dry-run", "thorough", home=tmp_path)
    _, plain = make("--dry-run", "test", home=tmp_path)
    whole, mutants = map(str.strip, said.strip().splitlines()[-2:])
    assert whole == f"MINIGRAD_THOROUGH=1 {plain.strip().splitlines()[-1]}" and mutants.endswith("-m tools.mutants")
    run = "from tests.thorough import part; print(len(part(range(100), 7, [3])))"
    for value, count in (("", "8"), ("1", "100")):
        env = os.environ | {"MINIGRAD_THOROUGH": value}
        assert (
            subprocess.run(
                [sys.executable, "-c", run], cwd=ROOT, env=env, capture_output=True, text=True
            ).stdout.strip()
            == count
        )


@made_here
def test_make_commands(tmp_path):
    code, said = make("commands", "ARGS=-k readme_code", home=tmp_path)
    assert code == 0 and "1 passed" in said, said
    code, said = make("commands", "ARGS=--collect-only -q", home=tmp_path)
    assert code == 0 and "test_make_binder" in said, said


@pytest.mark.skipif(not shutil.which("make"), reason="there is no make")
def test_make_knows_the_slow_ones(tmp_path):
    for line in {command for command in EXECUTED if command.startswith("make ")}:
        code, said = make("--dry-run", *line.split()[1:], home=tmp_path)
        assert code == 0, said


# ---- the blocks

# conda's channel may be out of reach: the environment is made by other means, under the name that environment.yml says.
CONDA = """conda() {
    case "$*" in
        "env create --file environment.yml") grep -qx "name: minigrad" environment.yml ;;
        "activate minigrad") . "$ENVIRONMENT/bin/activate" ;;
        *) echo "conda: $*?"; return 1 ;;
    esac
}
"""


def environment(folder, whole, conda):
    """A new environment. Not `whole`: it borrows the packages of the environment that the tests run in, and pip finds only those, so
    it still resolves everything that is asked for, builds and installs. `whole`: empty, and pip fetches what it needs; what conda would
    install comes from the Python package index, under the same names and bounds."""
    if whole:
        from tools.binder import requirements

        venv.create(folder, with_pip=True)
        if conda:
            subprocess.run([folder / "bin/python", "-m", "pip", "install", "--quiet", *requirements()], check=True)
        return {}
    venv.create(folder, with_pip=False)
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "borrowed.pth").write_text("\n".join(path for path in sys.path if path.endswith("site-packages")))
    for script in Path(sys.executable).parent.glob("jupyter*"):
        text = script.read_text()
        (folder / "bin" / script.name).write_text(re.sub(r"^#!.*", f"#!{folder}/bin/python", text))
        (folder / "bin" / script.name).chmod(0o755)
    (folder / "share/jupyter").mkdir(parents=True)
    for name in ("lab", "labextensions"):
        (folder / "share/jupyter" / name).symlink_to(Path(sys.prefix) / "share/jupyter" / name)
    return {"PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0"}  # pip reads 0 here as: no isolation


@pytest.fixture
def checkout(tmp_path):
    """A copy of the checkout as somebody clones it."""
    made = (".venv", ".git", "build", "*.egg-info", "__pycache__", ".*_cache", ".hypothesis", ".ipynb_checkpoints", "screenshots",
            "node_modules")  # fmt: skip
    return shutil.copytree(ROOT, tmp_path / "checkout", ignore=shutil.ignore_patterns(*made))


@posix
@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=slow)], ids=["borrowed", "fetched"])
@pytest.mark.parametrize(
    "block", [block for block in blocks(PAGES) if "make lab" not in block], ids=lambda block: block[-1]
)
def test_block(block, whole, checkout, tmp_path):
    """As it stands, line after line in one shell, in a new environment."""
    home, place = tmp_path / "home", tmp_path / "environment"
    env = stranger(home) | environment(place, whole, block[0].startswith("conda")) | {"ENVIRONMENT": str(place)}
    begin = CONDA if block[0].startswith("conda") else '. "$ENVIRONMENT/bin/activate"\n'
    (checkout / "submissions/ada").mkdir(parents=True)
    shutil.copy(ROOT / "notebooks/07_accumulation.ipynb", checkout / "submissions/ada")
    shell = ["bash", "-euc", begin + "\n".join(block)]
    if not block[-1].startswith("jupyter"):
        run = subprocess.run(shell, cwd=checkout, env=env, capture_output=True, text=True)
        assert run.returncode == 0, run.stdout + run.stderr
        assert (
            "ada" in (checkout / "grades/wide.csv").read_text("utf-8")
            and (checkout / "grades/feedback/ada.html").exists()
        )
        return
    with running(shell, home, cwd=checkout, env=env) as (process, log):
        address = wait_for(lambda: opened(home), process, log, seconds=900 if whole else 120)
        (installed,) = place.glob("lib/python*/site-packages")
        expected = (checkout if "--editable" in " ".join(block) else installed) / "minigrad/__init__.py"
        assert serves_the_course(address, home) == expected


# ---- the lines of a notebook


def test_the_lines_of_a_notebook(tmp_path):
    from nbclient import NotebookClient

    (program,) = re.findall(r"```python\n(.*?)```", README, re.S)
    lines = [line for line, (test, _) in EXECUTED.items() if test == "test_the_lines_of_a_notebook"]
    lines = [f"graph(y){line}" if line.startswith(".") else line for line in lines]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in [program, *lines]])
    NotebookClient(book, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert "".join(output.text for output in book.cells[0].outputs).splitlines() == printed(program)
    shown = dict(zip(lines, book.cells[1:], strict=True))
    assert "<svg" in picture_of(shown["%graph y"].outputs[0].data["text/html"])
    assert (tmp_path / "stepping.gif").read_bytes()[:4] == b"GIF8" and "<html" in (tmp_path / "graph.html").read_text(
        "utf-8"
    )


# ---- benchmarks, Binder, the book


def test_benchmarks_into_the_page(tmp_path):
    page, readme = (
        Path(shutil.copy(ROOT / "docs/benchmarks.md", tmp_path)),
        Path(shutil.copy(ROOT / "README.md", tmp_path)),
    )
    code = (
        f"import sys; sys.argv[1:] = ['T8', '--rounds', '1', '--budget', '0.01', '--write']; from pathlib import Path; "
        f"from tools.benchmarks import run; run.PAGE, run.README = Path({str(page)!r}), Path({str(readme)!r}); run.main()"
    )
    env = as_measured(os.environ)  # else it would start again, and write into the real pages
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    begin, end = run.BENCHMARKS
    before, _, rest = (ROOT / "docs/benchmarks.md").read_text(encoding="utf-8").partition(begin)
    text = page.read_text("utf-8")
    assert text.startswith(before + begin) and text.endswith(rest.partition(end)[2])
    table = text.partition(begin)[2].partition(end)[0]
    assert "| workload | against |" in table and "import: numpy" in table and "S1" not in table
    assert readme.read_text("utf-8") == README, "README's figures need all of their rows"


def test_the_figures_of_the_readme_are_those_of_the_page(tmp_path):
    measured = (
        (ROOT / "docs/benchmarks.md")
        .read_text(encoding="utf-8")
        .partition(run.BENCHMARKS[0])[2]
        .partition(run.BENCHMARKS[1])[0]
    )
    copy = Path(shutil.copy(ROOT / "README.md", tmp_path))
    run.put(copy, run.FIGURES, run.figures(measured))
    assert copy.read_text("utf-8") == README
    run.put(copy, run.FIGURES, run.figures(measured.replace("**11.7**", "**11.8**")))
    assert "| micrograd | 11.8 |" in copy.read_text("utf-8")


@slow
@made_here
def test_make_bench(tmp_path):
    code, said = make("bench", "PEERS=micrograd", "ARGS=S1 --rounds 1 --budget 0.02", home=tmp_path)
    assert code == 0 and "| S1 |" in said and "slider frame p50 / p95" in said, said[-3000:]


@slow
@made_here
def test_make_binder(tmp_path):
    code, said = make("binder", home=tmp_path)
    assert code == 0 and "repo2docker builds with: CondaBuildPack 3.12 postBuild" in said, said[-3000:]
    assert float(re.search(r"^most: (\d+) MB", said, re.M)[1]) < 2000 and "failed" not in said


@slow
@made_here
def test_make_book(tmp_path):
    code, said = make("pyodide", home=tmp_path)
    assert code == 0, said[-3000:]
    for more in [], ["PYODIDE=build/pyodide"]:
        code, said = make("book", "ARGS=00", *more, home=tmp_path)
        assert code == 0, said[-3000:]
    code, said = make("book-check", home=tmp_path)
    assert code == 0 and "✓ 00_start_here.html" in said and "4 of 4 cells show what is stored" in said, said[-3000:]


# ---- what else README promises


def printed(program):
    """What a program prints, as the remarks beside its lines say."""
    return re.findall(r"^print\(.*\) +# (.*)$", program, re.M)


def test_readme_code_prints_what_it_says():
    (code,) = re.findall(r"```python\n(.*?)```", README, re.S)
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert run.stdout.splitlines() == printed(code) and code.count("print(") == len(printed(code)) > 1, run.stderr


def example(page):
    """The Python example of a page."""
    (code,) = re.findall(r"^ *```python\n(.*?)^ *```", (ROOT / page).read_text(encoding="utf-8"), re.S | re.M)
    return textwrap.dedent(code)


def test_the_lesson_in_the_documents_is_one():
    scope = {"__name__": "widgets.lessons.double", "__package__": "widgets.lessons"}
    exec(example("docs/dev/lesson.md"), scope)
    shown = scope["double"](n=4)
    assert "n = 4, and its double is 8." in shown._repr_mimebundle_()["image/svg+xml"]
    shown.close()


def test_the_row_in_the_documents_is_one():
    code = "import numpy as np, minigrad as torch; from minigrad import cos, sin; from minigrad.core.op import ELEMENTWISE, Op\n"
    code += (
        example("docs/dev/operation.md")
        + "x, y = (torch.tensor([n], dtype=torch.float64, requires_grad=True) for n in (0.5, 2.0))\n"
    )
    code += "print(torch.autograd.gradcheck(wave, (x, y)), wave(x, y).item() == 2 * np.sin(0.5))"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert run.stdout == "True True\n", run.stderr


def test_the_pages_name_only_targets_that_exist():
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.M))
    assert {"lab", "test"} <= set(re.findall(r"\bmake ([\w-]+)", " ".join(commands(PAGES)))) <= targets
    for page in MARKDOWN:
        typed = re.findall(r"(?:^|`)make ([a-z-]+)", page.read_text(encoding="utf-8"), re.M)
        assert set(typed) <= targets, page


MARKDOWN = sorted(
    path for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / ".github").glob("*.md")]
)


def anchors(page):
    """The headings of a page, as GitHub links to them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", MARKDOWN, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_relative_link_leads_somewhere(page):
    text = re.sub(r"^ *```.*?^ *```", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
    for link in [
        *re.findall(r"\]\((?!https?:)([^)]+)\)", text),
        *re.findall(r'(?:src|srcset)="(?!https?:)([^"]+)"', text),
    ]:
        name, _, heading = link.partition("#")
        target = page.parent / name if name else page
        assert target.exists(), link
        assert not heading or heading in anchors(target), link


@pytest.mark.parametrize("page", MARKDOWN, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_file_that_a_page_names_exists(page):
    """Paths from the top of the project, in back quotes; NN stands for a number, * for anything."""
    text = page.read_text(encoding="utf-8")
    for path in re.findall(r"[` ]((?:minigrad|widgets|tests|notebooks|docs|\.github)/[\w./*-]*)(?=[` ])", text):
        pattern = re.sub(r"NN(_name)?", "*", path.rstrip("/"))
        # By a command that the page explains
        made = subprocess.run(["git", "check-ignore", "-q", path], cwd=ROOT).returncode == 0
        assert made or list(ROOT.glob(pattern)), path


def test_readme_and_contributing_are_short():
    assert len(README.encode()) <= 8_000
    assert len((ROOT / "CONTRIBUTING.md").read_bytes()) <= 5_000


def test_the_binder_link_opens_the_start_chapter():
    """One address, in one place; only the account in it is left to whoever hosts the repository."""
    (account, path) = re.findall(
        r"^\[binder\]: https://mybinder\.org/v2/gh/(\w+)/minigrad/HEAD\?urlpath=lab/tree/(\S+)$", README, re.M
    )[0]
    assert PAGES.count("mybinder.org") == 1 and f"`{account}`" in (ROOT / "docs/deploy.md").read_text(encoding="utf-8")
    assert path == f"my-course/{START}" and "python -m minigrad.course my-course" in (ROOT / "postBuild").read_text()
    assert os.access(ROOT / "postBuild", os.X_OK)


def test_the_reference_pages_of_make_api(tmp_path):
    made = (ROOT / "Makefile").read_text()
    modules = re.search(r"^API := ((?:.*\\\n)*.*)$", made, re.M)[1].replace("\\\n", " ").split()
    assert {"minigrad.scalar", "minigrad.api", "widgets"} <= set(modules)
    for module in modules:
        __import__(module)
    run = subprocess.run(
        [
            sys.executable,
            "-m",
            "pdoc",
            "--no-show-source",
            "--output-directory",
            tmp_path,
            "minigrad.scalar",
            "widgets",
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    text = re.sub("<.*?>", "", (tmp_path / "minigrad/scalar.html").read_text("utf-8"))
    assert "backward_order" in text and "Raises TypeError if" in text
    assert "GraphView" in (tmp_path / "widgets.html").read_text("utf-8")


def test_the_readmes_pictures_are_of_the_readmes_program():
    from PIL import Image

    from tools import pictures
    from widgets.film.export import FRAMES

    view = pictures.view()
    (code,) = re.findall(r"```python\n(.*?)```", README, re.S)
    assert "x = Value(1.0)\ny = (3 * x + 2) ** 2\ny.backward()" in code
    for name in re.findall(r'(?:srcset|src)="([^"]+)"', README):
        assert (ROOT / name).stat().st_size < 1_000_000
        frames = view.total + 1 if "stepping" in name else FRAMES if name.endswith(".gif") else 1
        with Image.open(ROOT / name) as image:
            assert getattr(image, "n_frames", 1) in (frames, frames + ("film" in name))
    alt = re.search(r'alt="([^"]+)"', README)[1]
    assert "Forward: 1, 3, 5, 25. Backward: 1, 10, 10, 30." in alt
    grads = {n["label"]: n["grad"] for n in view.trace["nodes"] if n["kind"] != "constant"}
    assert sorted(grads.values()) == [1, 10, 10, 30]
    view.close()
