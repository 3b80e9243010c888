"""The questions about dtypes, put to real torch and to minigrad.core.dtypes alike; torch's answers are in dtypes.json."""

from collections.abc import Callable
from itertools import product
from typing import Any

NAMES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"]
NUMBERS = [True, 3, 2.5]


def answers(torch: Any, tensor: Callable[[str, int], Any]) -> dict[str, Any]:
    """`tensor(dtype name, number of dimensions)` makes an operand."""
    dtypes = {name: getattr(torch, name) for name in NAMES}

    def short(d: Any) -> str:
        return repr(d).removeprefix("torch.")

    found: dict[str, Any] = {
        "promote_types": {a: [short(torch.promote_types(dtypes[a], dtypes[b])) for b in NAMES] for a in NAMES},
        "can_cast": {a: "".join("01"[torch.can_cast(dtypes[a], dtypes[b])] for b in NAMES) for a in NAMES},
        "properties": {
            a: [repr(d), d.itemsize, d.is_floating_point, d.is_signed, d.is_complex] for a, d in dtypes.items()
        },
        "aliases": {a: short(getattr(torch, a)) for a in ("double", "float", "half", "short", "int", "long")},
        "finfo": {},
        "iinfo": {},
    }
    for a, d in dtypes.items():
        if d.is_floating_point:
            f = torch.finfo(d)
            found["finfo"][a] = [repr(f), f.bits, f.eps, f.max, f.min, f.tiny, f.smallest_normal, f.resolution, f.dtype]
        elif a != "bool":
            i = torch.iinfo(d)
            found["iinfo"][a] = [repr(i), i.bits, i.max, i.min, i.dtype]
    kinds = [*product(NAMES, (0, 2)), *NUMBERS]
    before = torch.get_default_dtype()
    try:
        for default in ("float32", "float64"):
            torch.set_default_dtype(dtypes[default])
            operands = [tensor(*kind) if isinstance(kind, tuple) else kind for kind in kinds]
            found[f"result_type, default {default}"] = {
                f"{name}": [short(torch.result_type(x, y)) for y in operands]
                for name, x in zip(kinds, operands, strict=True)
            }
    finally:
        torch.set_default_dtype(before)
    return found
