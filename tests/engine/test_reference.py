"""Every case of tests/engine/reference, answered by minigrad under the name of torch, against what real PyTorch answered.

A part that minigrad does not answer as PyTorch does is listed in reference/not_yet.txt (work to do) or in reference/differs.txt (on
purpose, with the reason). Both ways are checked: a part that is not listed must agree, and a listed part that agrees must be struck off.
"""

import pytest

import minigrad

from .reference.case import all_cases
from .reference.make import differs, not_yet, stored
from .reference.record import differences, record

CASES, STORED, DIFFERS = all_cases(), stored(), differs()
NOT_YET = {key: parts for key, parts in not_yet().items() if not key.startswith("rows/")}  # those: test_rows


def test_the_stored_answers_are_those_of_the_cases():
    assert CASES.keys() == STORED.keys(), "run python -m tests.engine.reference.make (with torch)"
    assert not (NOT_YET.keys() | DIFFERS.keys()) - CASES.keys()
    assert not {key for key in NOT_YET if NOT_YET[key] & DIFFERS.get(key, set())}


FAMILIES = sorted({key.split("/")[0] for key in CASES})


@pytest.mark.parametrize("family", FAMILIES)
def test_cases(family):
    """One test for a family of cases: what it says of each that is wrong is what there is to know."""
    said = []
    for key in (key for key in CASES if key.split("/")[0] == family):
        try:
            found = differences(record(minigrad, CASES[key]), STORED[key], CASES[key])
        except Exception as error:
            error.add_note(f"in {CASES[key]!r}")
            raise
        listed = NOT_YET.get(key, set()) | DIFFERS.get(key, set())
        new = "".join(f"\n  {part}: {what}" for part, what in found.items() if part not in listed)
        said += [f"{CASES[key]!r}{new}"] if new else []
        if mended := listed - found.keys():
            said.append(
                f"{key}: {', '.join(sorted(mended))} now agrees with PyTorch: run python -m tests.engine.reference.make --not-yet"
            )
    assert not said, "\n".join(said)
