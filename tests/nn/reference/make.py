"""Asks real PyTorch and stores its answers, or checks the stored ones (torch 2.13; see tests/engine/reference/make.py for its environment).

python -m tests.nn.reference.make             # rewrite the stored answers
python -m tests.nn.reference.make --check     # are they still what torch answers?
"""

import json
import sys
from pathlib import Path
from typing import Any

from .record import answers, differences

HERE = Path(__file__).parent
VERSION = "2.13"
FILES = ("layers", "losses", "optimizers", "schedulers", "programs")


def stored(name: str) -> dict[str, Any]:
    return json.loads((HERE / f"{name}.json").read_text())


def _lines(entries: dict[str, Any]) -> str:
    return (
        "{\n"
        + ",\n".join(f"{json.dumps(k)}: {json.dumps(v, separators=(',', ':'))}" for k, v in entries.items())
        + "\n}\n"
    )


def main(arguments: list[str]) -> int:
    import torch

    if not torch.__version__.startswith(VERSION):
        print(f"The stored answers are those of torch {VERSION}; this is {torch.__version__}.")
        return 2
    torch.set_num_threads(1)
    found = answers(torch)
    if arguments == ["--check"]:
        wrong = [
            d for name in FILES for d in differences(json.loads(json.dumps(found[name])), stored(name), 1e-9, name)
        ]
        print("\n".join([*wrong, f"{sum(map(len, found.values()))} cases checked: {len(wrong)} differences"]))
        return bool(wrong)
    if arguments:
        print(__doc__)
        return 2
    for name in FILES:
        (HERE / f"{name}.json").write_text(_lines(found[name]))
    print(
        f"{sum(map(len, found.values()))} cases, {sum((HERE / f'{name}.json').stat().st_size for name in FILES) / 1e6:.2f} MB"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
