# The two commands for everyone:
#   make lab    install into .venv and open the course in JupyterLab    (PORT=8888  HOST=localhost  BROWSER=no)
#               It opens the copy in my-course/, so the notebooks in notebooks/ stay as they were published.
#   make test   install into .venv and run every test                   (ARGS="-k scalar" is handed to pytest)
# Each works alone on a machine with Python 3.11 or newer, venv and make. The second time they start at once.
# And for people who change minigrad:
#   make quick        what finds most mistakes, in two minutes
#   make thorough     every test, and whole what `make test` runs a part of: random programs, mutants, hostile classes (an hour)
#   make op           add an operation: row, names, cases, lists, and all tests that guard it  (NAME=i0  OP="--domain N")
#   make lint         ruff, mypy, and where node is: the front end's types, style and bundle
#   make golden       write down what learners see, and show old beside new in build/golden.html
#   make mutants      small breaks made on purpose: which do the tests notice?  (ARGS="heat kit")
#   make store        run the notebooks and store their outputs         (NOTEBOOKS="notebooks/01_three_ways.ipynb")
#   make bench        time minigrad beside its peers                     (PEERS="torch==2.13.0 micrograd"  ARGS="T1 --write")
#   make api          the reference pages, from the docstrings, into build/api
#   make book         the course as pages that run, in build/book  (ARGS="00 05"; without a network: PYODIDE=build/pyodide, and DISK=yes
#                     where pages are opened from a disk)
#   make pyodide      Python for such pages, into build/pyodide
#   make book-check   opens those pages in a Chromium, moves every picture, and runs every cell
#   make grade-soak   grade 200 made-up students, kill the grader ten times and compare every byte
#   make soak         an hour of random clicking in a real JupyterLab  (ARGS="--minutes 10")
#   make constraints  choose the exact versions in constraints.txt again
#   make test-lowest  the tests on the lowest versions that pyproject.toml promises
#   make test-newest  the tests on the newest versions there are
#   make audit        known vulnerabilities of the packages in constraints.txt (asks a server)
#   make dist         the wheel and the source distribution, checked, into build/dist
#   make binder       what Binder would do: which files it builds from, postBuild, a session's start and memory
#   make commands     every command of README.md and docs/, also those that fetch packages or take minutes
#   make clean        remove what these commands made

PORT    ?= 8888
BROWSER ?= yes
HOST    ?= localhost
PYTHON  ?= $(shell for p in python3 python3.15 python3.14 python3.13 python3.12 python3.11 python; do \
             $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
BIN     := .venv/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
PY      := $(BIN)/python
# A wheel brings the kernel "Python 3 (minigrad)" and the side panel along; an editable install does not.
PANEL   := .venv/share/jupyter/labextensions/minigrad-course
KERNEL  := mkdir -p $(PANEL)/static && cp widgets/labextension/package.json $(PANEL) && cp widgets/front/dist/panel.js $(PANEL)/static && \
    $(PY) -W ignore -m jupyter_client.kernelspecapp install --sys-prefix --name minigrad widgets/kernelspec --log-level=WARN
# JupyterLab shows the stored pictures of a notebook only if it trusts it.
TRUST   := $(PY) -W ignore -m nbformat.sign notebooks/*.ipynb --log-level=ERROR >/dev/null
INSTALL := $(PY) -m pip install --disable-pip-version-check --constraint constraints.txt
LOCK    := $(PY) -m uv pip compile pyproject.toml --quiet --no-annotate --custom-compile-command "make constraints"

PEERS   ?= torch==2.13.0 jax micrograd

.NOTPARALLEL:
.PHONY: lab test quick thorough op lint golden mutants store api bench constraints test-lowest test-newest audit binder commands clean grade-soak soak dist book book-check pyodide

lab: .venv/lab
	@$(PY) tools/start.py lab $(PORT) $(HOST) "$(BROWSER)"

test: .venv/test .venv/warm
	$(PY) -m pytest -n 2 --dist loadfile $(ARGS)

# What finds most mistakes in two minutes: style, types of imports, the engine with PyTorch's answers, one picture of each kind, the judge.
SLOW    := $(patsubst %,--ignore=tests/engine/test_%.py,program film kernels core_lifetime fusion row_source new_row)
quick: .venv/test .venv/warm
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m pytest -n 2 --dist loadfile -q tests/test_rooms.py tests/engine tests/autograd tests/nn tests/optim $(SLOW) \
	    tests/widgets/test_graph.py tests/widgets/test_static.py tests/widgets/test_units.py tests/course/test_judge.py $(ARGS)

thorough: .venv/test .venv/warm
	MINIGRAD_THOROUGH=1 $(PY) -m pytest -n 2 --dist loadfile $(ARGS)
	$(PY) -m tools.mutants

op: .venv/test
	$(PY) -m tools.op $(NAME) $(OP)

lint: .venv/test
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	@if command -v npm >/dev/null; then cd widgets/front && npm ci --ignore-scripts --silent && npm run types && npm run lint && npm run build; \
	 else echo "minigrad: no node here, so the front end was neither checked nor built"; fi

golden: .venv/test
	$(PY) -m tools.golden

mutants: .venv/test
	$(PY) -m tools.mutants $(ARGS)

store: .venv/test .venv/warm
	$(PY) -m tools.store $(NOTEBOOKS)

# The public surface: what people call. Everything else is read in its file.
API := minigrad.scalar minigrad.tape minigrad.api minigrad.tensors.tensor minigrad.autograd minigrad.func minigrad.linalg minigrad.nn minigrad.optim \
    minigrad.amp minigrad.profiler minigrad.utils minigrad.datasets minigrad.viz minigrad.course.checking widgets widgets.lessons

api: .venv/test
	$(PY) -m pdoc --no-show-source --output-directory build/api $(API)
	@echo "minigrad: open build/api/index.html"

bench: build/peers/made .venv/test .venv/warm
	build/peers/$(notdir $(BIN))/python -m tools.benchmarks $(ARGS)
	build/peers/$(notdir $(BIN))/python -m tools.benchmarks.extension
	$(PY) -m tools.benchmarks view

constraints: .venv/test
	$(LOCK) --all-extras --universal --fork-strategy fewest --python-version 3.11 --upgrade --output-file constraints.txt

test-lowest: .venv/test
	mkdir -p build
	$(LOCK) --extra dev --extra instructors --resolution lowest-direct --output-file build/lowest.txt
	$(PY) -m uv venv --quiet --clear --seed --python $(PY) build/lowest
	$(PY) -m uv pip install --quiet --python build/lowest --requirement build/lowest.txt --editable .
	build/lowest/$(notdir $(BIN))/python -m pytest -n 2 --dist loadfile $(ARGS)

test-newest: .venv/made
	mkdir -p build
	$(PYTHON) -m venv --clear build/newest
	build/newest/$(notdir $(BIN))/python -m pip install --disable-pip-version-check --quiet --upgrade setuptools --editable ".[dev,instructors]"
	build/newest/$(notdir $(BIN))/python -m pytest -n 2 --dist loadfile $(ARGS)

audit: .venv/made constraints.txt
	@mkdir -p build
	$(PYTHON) -m venv --clear build/audit
	build/audit/$(notdir $(BIN))/python -m pip install --disable-pip-version-check --quiet pip-audit
	build/audit/$(notdir $(BIN))/python -m pip_audit --strict --requirement constraints.txt --no-deps --disable-pip

dist:
	@mkdir -p build
	$(PYTHON) -m venv --clear build/dist-venv
	build/dist-venv/$(notdir $(BIN))/python -m pip install --disable-pip-version-check --quiet build twine
	@rm -rf build/dist
	build/dist-venv/$(notdir $(BIN))/python -m build --outdir build/dist
	build/dist-venv/$(notdir $(BIN))/python -m twine check --strict build/dist/*

binder: .venv/test
	$(PY) -m tools.binder $(ARGS)

commands: .venv/test .venv/warm
	MINIGRAD_COMMANDS=all $(PY) -m pytest -rs tests/test_commands.py $(ARGS)

book: build/book-venv/made .venv/warm
	$(PY) -m tools.book --sphinx build/book-venv/$(notdir $(BIN))/python $(if $(PYODIDE),--pyodide "$(PYODIDE)") $(if $(DISK),--disk) $(ARGS)

# Python for pages: npm's package pyodide, and numpy and matplotlib from the Python package index, checked against Pyodide's own hashes.
pyodide: .venv/test
	$(PY) -m tools.book.pyodide build/pyodide

book-check: .venv/test
	$(PY) -m tools.book.check

grade-soak: .venv/test
	$(PY) -m tests.course.classroom

soak: .venv/test .venv/warm
	$(PY) -m tools.soak $(ARGS)

clean:
	rm -rf .venv build dist widgets/front/node_modules *.egg-info .pytest_cache .hypothesis .mypy_cache .ruff_cache tests/browser/screenshots
	find minigrad widgets tests tools -name __pycache__ -prune -exec rm -rf {} +

# ---- what the commands stand on: a file in .venv says that a step is done, until what it was made from changes

.venv/made:
	@test -n "$(PYTHON)" || { echo "minigrad needs Python 3.11 or newer, and none of python3, python3.11 to python3.15, python is." \
	    "Install one (https://www.python.org/downloads), or say which: make PYTHON=/path/to/python3"; exit 1; }
	@$(PYTHON) tools/start.py step build/venv.log "making a virtual environment in .venv (half a minute)" $(PYTHON) -m venv .venv || { echo "minigrad: $(PYTHON) cannot make virtual environments." \
	    "On Debian and Ubuntu: sudo apt install python3-venv"; exit 1; }
	@touch $@

.venv/lab: .venv/made pyproject.toml constraints.txt
	@$(PY) tools/start.py step build/install.log "installing minigrad and JupyterLab (one to three minutes, only this once)" \
	    $(INSTALL) --editable .
	@$(KERNEL)
	@touch $@

.venv/test: .venv/made pyproject.toml constraints.txt
	@echo "minigrad: installing minigrad, JupyterLab and the test tools into .venv (one to three minutes, only this once)"
	$(INSTALL) --editable ".[dev,instructors]"
	@$(KERNEL)
	@$(TRUST)
	@touch $@ .venv/lab

# Sphinx needs nothing of ours: what the pages show was recorded before.
build/book-venv/made: .venv/test pyproject.toml constraints.txt
	@echo "minigrad: installing Sphinx into build/book-venv"
	@mkdir -p build
	@$(PYTHON) -m venv --clear build/book-venv
	build/book-venv/$(notdir $(BIN))/python -m pip install --disable-pip-version-check --quiet --constraint constraints.txt furo latex2mathml myst-nb sphinx
	@touch $@

.venv/warm: .venv/made pyproject.toml constraints.txt $(wildcard minigrad/kernels/*.py)
	@echo "minigrad: preparing what is slow the first time"
	@$(PY) -m widgets.warm
	@touch $@

# The peers live apart: nothing that minigrad is compared with is ever needed to run it.
build/peers/made: .venv/made pyproject.toml constraints.txt
	@echo "minigrad: installing the engines to compare with into build/peers"
	@mkdir -p build
	@$(PYTHON) -m venv build/peers
	build/peers/$(notdir $(BIN))/python -m pip install --disable-pip-version-check --constraint constraints.txt --editable .
	build/peers/$(notdir $(BIN))/python -m pip install --disable-pip-version-check $(PEERS) || echo "minigrad: a peer could not be installed; its rows will be left out"
	@touch $@
