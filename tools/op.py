"""Add an operation on each element of a tensor: `make op NAME=i0`, or `python -m tools.op i0`.

It writes the row, the names, the cases and the generated files, each only where it is missing, asks PyTorch for its answers if there is
one, and runs every test that guards the operation. So it can be run again after each change; it ends with 0 when all of them pass.

    --forward "np.arctan(x)"         the function on ndarrays, over `x`; without it the row has `...` to fill in
    --rule "g / (1 + x * x)"         the gradient, over `g`, `x` and `out`
    --domain U                       the numbers of its cases: N (any), U (-1 to 1), POS (positive), P (0 to 1), ABOVE1
    --doc "The arc tangent."         the docstring
    --torch torch-env/bin/python     a Python that has PyTorch (make OP="--torch ..."); by default this one, if it has
"""

import argparse
import ast
import json
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROWS, API, METHODS = (
    ROOT / "minigrad/ops/elementwise.py",
    ROOT / "minigrad/api.py",
    ROOT / "minigrad/tensors/methods.py",
)
TENSOR, ABSENT = ROOT / "minigrad/tensors/tensor.py", ROOT / "minigrad/core/absent.py"
CASES, PAGE = ROOT / "tests/engine/reference/cases_elementwise.py", ROOT / "docs/compatibility.md"
# Tests with the operation's name in their own, and tests of what is generated or listed and of the text of every row.
NAMED = ["test_reference.py", "test_rows.py", "test_opinfo.py"]
GUARDS = [
    "test_methods.py",
    "test_surface.py",
    "test_permissions.py",
    "test_row_source.py",
    "test_rules_words.py",
    "test_names.py",
]


def change(path: Path, old: str, new: str) -> None:
    """Replace the one occurrence of `old`. Raises ValueError if there is none, or several."""
    text = path.read_text(encoding="utf-8")
    if text.count(old) != 1:
        raise ValueError(f"{path.relative_to(ROOT)} has {text.count(old)} places like {old!r}; this script expects one")
    path.write_text(text.replace(old, new), encoding="utf-8")


def add_row(name: str, forward: str, rule: str, doc: str) -> None:
    """The row, at the end of the table of elementwise operations."""
    if re.search(rf"^{name}\s*= Op\(", ROWS.read_text(encoding="utf-8"), re.M):
        return print(
            f"{name} has its row: --forward, --rule and --doc are not used. Edit it in {ROWS.relative_to(ROOT)}."
        )
    used = {node.id for node in ast.walk(ast.parse(rule, mode="eval")) if isinstance(node, ast.Name)}
    saved = "".join(f", {value}" for value in ("x", "out") if value in used)
    row = f'{name} = Op("{name}", lambda x: {forward}, ELEMENTWISE, floats=True, x=lambda g{saved}: {rule}, doc={json.dumps(doc)})'
    change(ROWS, "\n# fmt: on\n\n_DOCS", f"\n{row}\n# fmt: on\n\n_DOCS")


def add_names(name: str) -> None:
    """The function in api.py, the method in methods.py."""
    text = API.read_text(encoding="utf-8")
    (block,) = re.findall(r"^from \.ops\.elementwise import \((?:.|\n)*?^\)", text, re.M)
    if not re.search(rf"\b{name}\b", block):
        change(API, block, block[:-1] + f"    {name},\n)")
    text = METHODS.read_text(encoding="utf-8")
    (family,) = re.findall(r'^    elementwise: """(?:.|\n)*?"""', text, re.M)
    if not re.search(rf"\b{name}\b", family):
        change(METHODS, family, family[:-3] + f' {name}"""')


def strike_out(name: str) -> None:
    """Take the name out of the lists of what is missing."""
    text = ABSENT.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(text)):
        for key, value in zip(node.keys, node.values, strict=True) if isinstance(node, ast.Dict) else ():
            if isinstance(key, ast.Constant) and key.value == name:
                lines = text.splitlines(keepends=True)
                del lines[key.lineno - 1 : value.end_lineno]
                ABSENT.write_text("".join(lines), encoding="utf-8")
    text = TENSOR.read_text(encoding="utf-8")
    (listed,) = re.findall(r"^_UNSUPPORTED = frozenset\((?:.|\n)*?^\)", text, re.M)
    if re.search(rf"\b{name}\b", listed):
        change(TENSOR, listed, re.sub(rf" \b{name}\b", "", listed, count=1))
    prose, generated = PAGE.read_text(encoding="utf-8").split("<!-- from tests/engine/reference/surface.json -->")
    prose = re.sub(rf"`{name}`,\s", "", prose)
    PAGE.write_text(f"{prose}<!-- from tests/engine/reference/surface.json -->{generated}", encoding="utf-8")


def add_cases(name: str, domain: str) -> None:
    """A call of the function and of the method, and the function at its special values."""
    if f'Case("{name}"' in CASES.read_text(encoding="utf-8"):
        return print(f"{name} has its cases: --domain is not used. Edit them in {CASES.relative_to(ROOT)}.")
    cases = f"""
    Case("{name}", "torch.{name}(x)", x={domain}(2, 3)), Case("{name} method", "x.{name}()", x={domain}(2, 3), dtypes=False),
    Case("{name} kinks", "torch.{name}(x)", x=KINKS, second=False, dtypes=False),"""
    change(CASES, "\nCASES = [", f"\nCASES = [{cases}")


def ask_pytorch(python: str) -> None:
    """Store PyTorch's answers to the new cases."""
    if python == sys.executable and not find_spec("torch"):
        print(
            "No PyTorch here. Run this again with --torch torch-env/bin/python; tests/engine/reference/make.py says how to get one."
        )
        return
    subprocess.run([python, "-m", "tests.engine.reference.make", "--new"], cwd=ROOT, check=True)


def guarded(name: str) -> int:
    """Run the tests, those with its name first: the exit code of pytest."""
    for files, selection in (NAMED, ["-k", f"{name} or stored_answers"]), (GUARDS, []):
        paths = [f"tests/engine/{file}" for file in files]
        command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", *paths, *selection]
        if code := subprocess.run(command, cwd=ROOT, check=False).returncode:
            return code
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name")
    parser.add_argument("--forward", default="...")
    parser.add_argument("--rule", default="...")
    parser.add_argument("--domain", default="N", choices=["N", "U", "POS", "P", "ABOVE1"])
    parser.add_argument("--doc", default="")
    parser.add_argument("--torch", default=sys.executable)
    given = parser.parse_args()
    if not given.name.isidentifier():
        parser.error(f"{given.name} is no name of a function")
    add_row(given.name, given.forward, given.rule, given.doc or f"{given.name} of each number.")
    add_names(given.name)
    strike_out(given.name)
    add_cases(given.name, given.domain)
    ask_pytorch(given.torch)
    for module in ("tools.stub", "tools.compatibility"):
        subprocess.run([sys.executable, "-m", module], cwd=ROOT, check=True)
    return guarded(given.name)


if __name__ == "__main__":
    sys.exit(main())
