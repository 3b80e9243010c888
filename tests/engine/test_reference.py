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


@pytest.mark.parametrize("key", CASES)
def test_case(key):
    """PyTorch's answers by name: `pytest tests/engine/test_reference.py -k tanh`."""
    case = CASES[key]
    try:
        found = differences(record(minigrad, case), STORED[key], case)
    except Exception as error:
        error.add_note(f"in {case!r}")
        raise
    listed = NOT_YET.get(key, set()) | DIFFERS.get(key, set())
    wrong = "".join(f"\n  {part}: {what}" for part, what in found.items() if part not in listed)
    assert not wrong, f"{case!r}{wrong}"
    agrees = ", ".join(sorted(listed - found.keys()))
    assert not agrees, f"{key}: {agrees} now agrees with PyTorch: run python -m tests.engine.reference.make --not-yet"
