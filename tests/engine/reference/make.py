"""Asks real PyTorch and stores its answers, or checks the stored ones.

    python -m tests.engine.reference.make             # rewrite the stored answers           (needs torch 2.13)
    python -m tests.engine.reference.make --new       # answer only the cases that have no answer yet (needs torch 2.13)
    python -m tests.engine.reference.make --check     # are they still what torch answers?   (needs torch 2.13)
    python -m tests.engine.reference.make --not-yet   # strike from not_yet.txt what minigrad now does (needs no torch)
    python -m tests.engine.reference.make --report index/sort   # how minigrad differs in the cases so named (needs no torch)

torch is no dependency of minigrad: give it an environment of its own (`python -m venv torch-env`, `torch-env/bin/pip install torch==2.13.0
numpy numba pytest hypothesis`), and run this, and the tests, from the repository's root with its Python. Answers are one line per case,
in one file per family; git shows what changed.
"""

import json
import sys
from pathlib import Path
from typing import Any

from . import cases_dtypes, cases_printing
from .case import FAMILIES, Case, all_cases
from .record import differences, record

HERE = Path(__file__).parent
VERSION = "2.13"


def stored() -> dict[str, dict[str, Any]]:
    """family/name: torch's record"""
    found = {}
    for family in FAMILIES:
        for name, answer in json.loads((HERE / f"{family}.json").read_text()).items():
            found[f"{family}/{name}"] = answer
    return found


def _listed(path: Path) -> dict[str, set[str]]:
    listed = {}
    for line in path.read_text().splitlines():
        if line and not line.startswith("#"):
            key, parts = line.split("  # ")[0].rsplit(": ", 1)
            listed[key] = set(parts.split())
    return listed


def not_yet() -> dict[str, set[str]]:
    """family/name: the parts that minigrad does not answer as PyTorch does, so far"""
    return _listed(HERE / "not_yet.txt")


def differs() -> dict[str, set[str]]:
    """family/name: the parts that minigrad answers otherwise on purpose; each line ends with the reason"""
    return _listed(HERE / "differs.txt")


HEADER = """# What minigrad does not answer as PyTorch does, so far: "family/case: parts". test_reference.py fails where a line is missing
# and where one is no longer true, so the list hides no regression; `python -m tests.engine.reference.make --not-yet` only shortens it.
"""


def write_not_yet(failing: dict[str, set[str]]) -> None:
    lines = [f"{key}: {' '.join(sorted(parts))}\n" for key, parts in sorted(failing.items()) if parts]
    (HERE / "not_yet.txt").write_text(HEADER + "".join(lines))


def _lines(entries: dict[str, Any]) -> str:
    return (
        "{\n"
        + ",\n".join(f"{json.dumps(k)}: {json.dumps(v, separators=(',', ':'))}" for k, v in entries.items())
        + "\n}\n"
    )


def answers(torch: Any) -> dict[str, str]:
    """file: its text"""
    files: dict[str, dict[str, Any]] = {family: {} for family in FAMILIES}
    for case in all_cases().values():
        files[case.family][case.name] = record(torch, case)
    files["dtypes"] = cases_dtypes.answers(
        torch, lambda name, ndim: torch.ones((2,) * ndim, dtype=getattr(torch, name))
    )
    files["printing"] = {}
    for name, (array, dtype, facts, options) in cases_printing.cases().items():
        torch.set_printoptions(profile="default")
        torch.set_printoptions(**options)
        files["printing"][name] = cases_printing.torch_text(torch, array, dtype, facts)
    torch.set_printoptions(profile="default")
    return {f"{name}.json": _lines(entries) for name, entries in files.items()}


def answer_new(torch: Any) -> int:
    """Store the answers to new cases, and drop those of cases that are gone. All others stay as they are, also on a processor whose last
    digits differ."""
    cases, before = all_cases(), stored()
    files: dict[str, dict[str, Any]] = {family: {} for family in FAMILIES}
    for key, case in cases.items():
        files[case.family][case.name] = before[key] if key in before else record(torch, case)
    for name, entries in files.items():
        if entries != json.loads((HERE / f"{name}.json").read_text()):
            (HERE / f"{name}.json").write_text(_lines(entries))
    print(f"{len(cases.keys() - before.keys())} new answers, {len(before.keys() - cases.keys())} dropped")
    return 0


def _report(case: Case, found: dict[str, str]) -> bool:
    for part, what in found.items():
        print(f"{case!r}\n    {part}: {what}")
    return bool(found)


def main(arguments: list[str]) -> int:
    if arguments == ["--not-yet"]:
        import minigrad

        cases, answers_, listed = all_cases(), stored(), not_yet()
        left = {
            key: parts & set(differences(record(minigrad, cases[key]), answers_[key], cases[key]))
            for key, parts in listed.items()
            if key in cases
        }
        for key, parts in listed.items():
            if key.startswith("rows/"):  # test_rows.py says which of these have become true: strike them by hand
                left[key] = parts
        write_not_yet(left)
        print(f"{sum(map(len, listed.values()))} parts were listed, {sum(map(len, left.values()))} are left")
        return 0

    if arguments[:1] == ["--report"]:
        import minigrad

        cases, answers_ = all_cases(), stored()
        chosen = [key for key in cases if any(wanted in key for wanted in arguments[1:] or [""])]
        different = [
            _report(cases[key], differences(record(minigrad, cases[key]), answers_[key], cases[key])) for key in chosen
        ]
        print(f"{sum(different)} of {len(chosen)} cases differ")
        return 0

    import torch

    if not torch.__version__.startswith(VERSION):
        print(f"The stored answers are those of torch {VERSION}; this is {torch.__version__}.")
        return 2
    torch.set_num_threads(1)
    if arguments == ["--new"]:
        return answer_new(torch)
    new = answers(torch)
    if not arguments:
        for name, text in new.items():
            (HERE / name).write_text(text)
        print(f"{len(all_cases())} cases, {sum(map(len, new.values())) / 1e6:.2f} MB in {len(new)} files")
        return 0
    if arguments == ["--check"]:
        bad = 0
        cases, before = all_cases(), stored()
        for family in FAMILIES:
            for name, answer in json.loads(new[f"{family}.json"]).items():
                case = cases[f"{family}/{name}"]
                found = differences(answer, before.pop(f"{family}/{name}", {"error": ["nothing is stored", ""]}), case)
                bad += _report(case, found)
        for name in ("dtypes.json", "printing.json"):
            if json.loads(new[name]) != json.loads((HERE / name).read_text()):
                bad += 1
                print(f"{name} differs")
        for key in before:
            bad += 1
            print(f"{key}: stored, but there is no such case")
        print(f"{len(cases)} cases checked against torch {torch.__version__}: {bad} differ")
        return int(bad > 0)
    print(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
