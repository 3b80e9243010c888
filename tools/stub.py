"""Writes minigrad/tensors/methods.pyi: the forwarding methods of Tensor for editors and type checkers. `python -m tools.stub`"""

import inspect
from pathlib import Path

import minigrad
from minigrad.tensors import methods

PATH = Path(methods.__file__).with_suffix(".pyi")
HEAD = '''"""Written by `python -m tools.stub` from methods.py; test_methods.py compares."""

# fmt: off
# ruff: noqa: E501, I001, B006
from typing import Any

from ..core.variable import Variable
from .tensor import Tensor

def number_first(op: Any, x: Any, other: Any) -> Any: ...
def with_array(function: Any, x: Any, array: Any) -> Any: ...

class Methods(Variable):
'''


def _line(name: str, method: object) -> str:
    """`    def name(self, ...) -> Tensor: "the first line of its docstring"`"""
    signature = inspect.signature(method)  # type: ignore[arg-type]
    first, *rest = signature.parameters.values()
    result = signature.return_annotation
    result = "Tensor" if result is inspect.Signature.empty else getattr(result, "__name__", str(result))
    own = first.replace(name="self", kind=first.POSITIONAL_OR_KEYWORD)
    shown = signature.replace(parameters=[own, *rest], return_annotation=signature.empty)
    doc = (inspect.getdoc(method) or "").splitlines()
    body = f'"""{doc[0]}"""' if doc else "..."
    return f"    def {name}{shown} -> {result}: {body}{'  # type: ignore[override]' * (name in ('__eq__', '__ne__'))}\n"


def text() -> str:
    own = {name: m for name, m in vars(methods.Methods).items() if callable(m)}
    late = [name for name in own if name in ("float", "int", "bool")]  # below what is annotated with these names
    return HEAD + "".join(_line(name, own[name]) for name in [*[n for n in own if n not in late], *late])


if __name__ == "__main__":
    assert minigrad.Tensor
    PATH.write_text(text())
    print(f"{PATH.name}: {len(text().splitlines())} lines")
