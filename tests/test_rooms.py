"""The engine's rooms: imports run downwards, no circle of files, and an import inside a function has one of a few reasons."""

import ast
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ENGINE = sorted(path for path in (ROOT / "minigrad").rglob("*.py") if "course" not in path.relative_to(ROOT).parts)
# each imports only from its own set and from those to its left
ROOMS = [
    {"kernels"},
    {"core", "values"},
    {"ops"},
    {"autograd"},
    {"tensors", "tracing"},
    {"func", "nn", "utils"},
    {"optim"},
    {"program"},
]
UPWARD = {("minigrad.autograd.functional", "minigrad.func")}  # functions of Jacobians, given to torch.autograd by name

LATE = {  # an import inside a function: (file, what it imports): why
    ("minigrad", "minigrad.api"): "import minigrad loads no numpy",
    ("minigrad.api", "minigrad.serialization"): "the function of that name hides it",
    ("minigrad.api", "minigrad.compiler"): "the function of that name hides it",
    ("minigrad.api", "minigrad.random"): "the function of that name hides it",
    ("minigrad.api", "minigrad.scalar"): "only where a notebook records lines",
    ("minigrad.api", "minigrad.core.provenance"): "only where a notebook records lines",
    ("minigrad.compiler", "minigrad.kernels.fused_numba"): "loads numba",
    ("minigrad.program.step", "minigrad.kernels.fused_numba"): "loads numba",
    ("minigrad.core.errors", "minigrad.core.explanations"): "read only once something went wrong",
    ("minigrad.values.node", "minigrad.core.errors"): "read only once something went wrong",
    ("minigrad.values.node", "minigrad.core.facts"): "read only once something went wrong",
    ("minigrad.tape", "minigrad.kernels.tape"): "loads numpy",
    ("minigrad.tape", "minigrad.core.on_values"): "loads numpy",
    ("minigrad.tracing.trace", "minigrad.tracing.tensor_trace"): "loads numpy",
}


def name_of(path):
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


FILES = {name_of(path): path for path in ENGINE}


@cache
def imports(name):
    """{module of the engine that the file imports: is it inside a function}. Blocks for type checkers do not count."""
    path, found = FILES[name], {}
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]

    def add(module, late):
        while module and module not in FILES:
            module = module.rpartition(".")[0]
        if module and module != name:
            found[module] = found.get(module, True) and late
            inside = module.split(".")
            for k in range(2, len(inside)):  # importing a.b.c runs the face of a.b
                face = ".".join(inside[:k])
                if face in FILES and not f"{name}.".startswith(face + "."):
                    found.setdefault(face, late)

    def visit(node, late):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            return
        if isinstance(node, ast.ImportFrom):
            parts = package.split(".")
            base = (
                ".".join([*parts[: len(parts) - node.level + 1], *filter(None, [node.module])])
                if node.level
                else node.module
            )
            for alias in node.names:
                add(f"{base}.{alias.name}", late)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                add(alias.name, late)
        inner = late or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        for child in ast.iter_child_nodes(node):
            visit(child, inner)

    visit(ast.parse(path.read_text()), False)
    found.pop("minigrad", None)  # the top face loads nothing until a name is asked for
    return found


def circles(graph):
    """The strongly connected components of more than one file (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        for w in graph[v]:
            if w not in index:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in stack:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            component = stack[stack.index(v) :]
            del stack[stack.index(v) :]
            if len(component) > 1:
                found.append(sorted(component))

    for v in graph:
        if v not in index:
            visit(v)
    return found


def room(name):
    parts = name.split(".")
    return next((height for height, rooms in enumerate(ROOMS) if len(parts) > 1 and parts[1] in rooms), None)


def test_no_circle_of_files():
    """Imports inside functions count. A face that loads a part on first use (autograd.functional, by name) is no import of it."""
    assert circles({name: list(imports(name)) for name in FILES if name != "minigrad"}) == []


def test_a_circle_is_found():
    assert circles({"a": ["b"], "b": ["c"], "c": ["a"], "d": ["a"]}) == [["a", "b", "c"]]


@pytest.mark.parametrize("name", [name for name in FILES if room(name) is not None])
def test_rooms_import_downwards(name):
    for target in imports(name):
        if room(target) is not None and (name, ".".join(target.split(".")[:2])) not in UPWARD:
            assert room(target) <= room(name), f"{name} imports {target}, which stands above it"
            if "tensors" in target.split(".")[1:2]:
                assert name.split(".")[1] != "tracing", (
                    f"{name}: what the pictures read must work without the tensors' methods"
                )


def test_a_late_import_has_its_reason():
    late = {
        (name, module)
        for name in FILES
        for module, inside in imports(name).items()
        if inside and FILES[module].name != "__init__.py"
    }
    assert late - set(LATE) == set(), "import it at the top, or write its reason here"
    assert set(LATE) - late == set(), "these reasons are no longer needed"


def test_every_room_says_what_it_holds():
    for folder in {path.parent for path in ENGINE}:
        assert ast.get_docstring(ast.parse((folder / "__init__.py").read_text())), folder


MOST = 56  # statements of one function; formatting does not change their number
LONG = {  # functions that have more: why they are not split
    (
        "minigrad.autograd.function",
        "_apply",
    ): "one sequence, with thirty local values that each half would have to hand to the other",
    (
        "minigrad.optim.lbfgs",
        "strong_wolfe",
    ): "PyTorch's line search, bracket and zoom over the same ten values; kept beside the original",
    ("widgets.forms.figures", "down"): "one column: the place of each part follows from the one above it",
    ("minigrad.optim.lbfgs", "step"): "PyTorch's loop, which leaves it at eight places",
    (
        "minigrad.tensors.indexing",
        "_take_apart",
    ): "one branch for each kind of index, all on the same position in the key",
    ("minigrad.viz", "make_dot"): "torchviz's function: nested helpers that share its options",
    ("widgets.static", "_card"): "one card from top to bottom: each part begins where the last one ended",
}


def test_long_functions_say_why():
    found, everything = set(), [path for room in ("minigrad", "widgets") for path in (ROOT / room).rglob("*.py")]
    for name, path in zip(map(name_of, everything), everything, strict=True):
        for function in ast.walk(ast.parse(path.read_text())):
            if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
                if sum(isinstance(part, ast.stmt) for part in ast.walk(function)) - 1 > MOST:
                    found.add((name, function.name))
    assert found - set(LONG) == set(), "split it, or say here why not"
    assert set(LONG) - found == set(), "these are shorter now"
