"""Writes minigrad/tensors/methods.pyi: the forwarding methods of Tensor for editors and type checkers. `python -m tools.stub`

The type of a parameter comes from the row if the method calls one (an input is a tensor, and where dtypes are promoted also a number), else
from `OF_METHOD`, else by its name from `TYPES`. A name without a type fails a test.
"""

import inspect
from pathlib import Path

import minigrad
from minigrad.core.op import Op
from minigrad.tensors import methods

PATH = Path(methods.__file__).with_suffix(".pyi")
HEAD = '''"""Written by `python -m tools.stub` from methods.py; test_methods.py compares."""

# fmt: off
# ruff: noqa: E501, I001, B006
from collections.abc import Sequence
from typing import Any

from ..core.devices import memory_format as MemoryFormat
from ..core.dtypes import dtype as Dtype
from ..core.variable import Variable
from .tensor import Tensor

# Tensor has methods called int, float and bool, which would hide the types of these names inside the class.
Bool = bool
Int = int
Number = float
Ints = int | Sequence[int]

def number_first(op: Any, x: Any, other: Any) -> Any: ...
def with_array(function: Any, x: Any, array: Any) -> Any: ...

class Methods(Variable):
'''
# Take several dimensions
SEVERAL = set("sum mean amax amin var std nansum any all count_nonzero norm logsumexp squeeze".split())
EITHER = "Tensor | Number"
TYPES = {
    "Tensor": """batch1 batch2 mat mat1 mat2 vec vec1 vec2 tensor tensor1 tensor2 input2 mask index indices src source values weight
        weights aweights fweights prepend append""",
    EITHER: "other exponent min max end value alpha beta q",
    "Number": "atol rtol rcond eps maxnorm nan posinf neginf",
    "Int": """axis0 axis1 dim dim0 dim1 dim2 dimension start_dim end_dim chunks decimals diagonal k length minlength n offset output_size
        step storage_offset correction start""",
    "Ints": "dims destination repeats shifts shape size sizes split_size split_size_or_sections split_sizes indices_or_sections stride",
    "Bool": """accumulate as_tuple density descending equal_nan hermitian include_self keepdim largest return_counts return_inverse sorted
        sparse_grad stable unbiased upper""",
    "str": "interpolation reduce rounding_mode",
    "Dtype": "dtype",
    "MemoryFormat": "memory_format",
    "Sequence[Number]": "range",
    "Tensor | Ints": "bins",
    "Number | str": "p",
}
OF_NAME = {name: kind for kind, names in TYPES.items() for name in names.split()}
OF_METHOD = {  # where the name means something else
    **{(name, "dim"): "Ints" for name in SEVERAL},
    ("slice_scatter", "end"): "Int",
    ("narrow", "start"): "Tensor | Int",
    ("scatter", "src"): EITHER,
    ("scatter", "value"): "Number",
    ("take_along_dim", "indices"): "Tensor",
    ("lerp", "weight"): EITHER,
    ("tensor_split", "indices_or_sections"): "Tensor | Ints",
    ("repeat_interleave", "repeats"): "Tensor | Int",
    ("movedim", "source"): "Ints",
    ("moveaxis", "source"): "Ints",
    ("select", "index"): "Int",
    ("max", "dim"): "Tensor | Int",
    ("min", "dim"): "Tensor | Int",
    ("histc", "bins"): "Int",
    ("histc", "min"): "Number",
    ("histc", "max"): "Number",
    ("index_add", "alpha"): "Number",
    ("view", "size"): "Int | Sequence[Int] | Dtype",
}


def type_of(name: str, parameter: inspect.Parameter, origin: object) -> str | None:
    """The type of one parameter of the method `name`; None if nothing is known about it."""
    plain = name.removesuffix("_") if not name.startswith("__") else name
    if isinstance(origin, Op) and parameter.name in origin.args:
        row_input = origin.inputs[origin.args.index(parameter.name)]
        return EITHER if row_input in origin.promoted and not origin.tensors_only else "Tensor"
    kind = OF_METHOD.get((plain, parameter.name)) or OF_NAME.get(parameter.name)
    if kind is None or parameter.default is not None:
        return kind
    return f"{kind} | None"


def _line(name: str, method: object, origin: object) -> str:
    """`    def name(self, ...) -> Tensor: "the first line of its docstring"`"""
    signature = inspect.signature(method)  # type: ignore[arg-type]
    first, *rest = signature.parameters.values()
    result = signature.return_annotation
    result = "Tensor" if result is inspect.Signature.empty else getattr(result, "__name__", str(result))
    own = first.replace(name="self", kind=first.POSITIONAL_OR_KEYWORD, annotation=first.empty)
    typed = [p.replace(annotation=_Text(type_of(name, p, origin) or "Any")) for p in rest]
    shown = signature.replace(parameters=[own, *typed], return_annotation=signature.empty)
    result = {"bool": "Bool", "float": "Number", "int": "Int"}.get(result, result)
    doc = (inspect.getdoc(method) or "").splitlines()
    body = f'"""{doc[0]}"""' if doc else "..."
    return f"    def {name}{shown} -> {result}: {body}{'  # type: ignore[override]' * (name in ('__eq__', '__ne__'))}\n"


class _Text(str):
    """An annotation that prints as it is, without quotes."""

    def __repr__(self) -> str:
        return str(self)


def _origins() -> dict[str, object]:
    """{method: the row or function that it calls}."""
    return {
        name: getattr(module, function)
        for table in (methods.FAMILIES, methods.SPREAD)
        for module, words in table.items()
        for name, function, _ in methods._entries(words)
    }


def unknown() -> list[str]:
    """Parameters without a type, as "method(parameter)"."""
    origins = _origins()
    return [
        f"{name}({p.name})"
        for name, method in vars(methods.Methods).items()
        if callable(method)
        for p in [*inspect.signature(method).parameters.values()][1:]
        if type_of(name, p, origins.get(name.removesuffix("_"))) is None
    ]


def text() -> str:
    own = {name: m for name, m in vars(methods.Methods).items() if callable(m)}
    origins = _origins()
    late = [name for name in own if name in ("float", "int", "bool")]  # after the annotations with these names
    names = [*[n for n in own if n not in late], *late]
    return HEAD + "".join(_line(name, own[name], origins.get(name.removesuffix("_"))) for name in names)


if __name__ == "__main__":
    assert minigrad.Tensor
    PATH.write_text(text())
    print(f"{PATH.name}: {len(text().splitlines())} lines")
