"""The programs of fuzz.py: those of the stored seeds against PyTorch's stored answers; where torch can be imported, more beside it."""

import json

import numpy as np
import pytest

import minigrad

from . import fuzz

ANSWERS = json.loads(fuzz.STORED.read_text())


@pytest.mark.parametrize("seed", ANSWERS)
def test_stored(seed):
    lines = fuzz.program(int(seed))
    exact, numbers = fuzz.digest(fuzz.run(minigrad, lines))
    same = exact == ANSWERS[seed][0] and np.allclose(numbers, ANSWERS[seed][1], 1e-4, 1e-7, equal_nan=True)
    assert same, "\n".join([*lines, f"where they differ: python -m tests.autograd.fuzz --live 1 --from {seed}"])


def test_the_stored_programs_are_worth_running():
    lines = [line for seed in ANSWERS for line in fuzz.program(int(seed))]
    for table in (fuzz.MATHS, fuzz.VIEWS, fuzz.WRITES, fuzz.MARKS, fuzz.COPIES, fuzz.PASSES, fuzz.FORWARD):
        assert sum(any(_start(made.code) in line for made in table) for line in lines) > 50
    answers = [fuzz.run(minigrad, fuzz.program(seed)) for seed in range(100)]
    refused = [what for answer in answers for key, what in answer.items() if key.startswith("line") and what]
    assert 0.05 < len(refused) / sum(key.startswith("line") for answer in answers for key in answer) < 0.4
    with_gradients = [
        a for a in answers if any(key[0] == "v" and type(what) is list and what[6] for key, what in a.items())
    ]
    assert len(with_gradients) > 40


def _start(code):
    return max(code.replace("{", "}").split("}")[::2], key=len)


def test_a_difference_is_found_and_shrunk():
    lines = fuzz.program(3)

    def fails(shorter):
        return any("v1" in line for line in shorter)

    assert len(fuzz.shrink(lines, fails)) == 1
    mine, theirs = fuzz.run(minigrad, lines), fuzz.run(minigrad, lines)
    assert fuzz.difference(mine, theirs) is None
    theirs["v0"][6] = [1.0, 17.0]
    assert "v0" in fuzz.difference(mine, theirs)


@pytest.mark.parametrize("seed", range(100_000, 100_100))
def test_live(seed):
    torch = pytest.importorskip("torch")
    lines = fuzz.program(seed)
    assert fuzz.difference(fuzz.run(minigrad, lines), fuzz.run(torch, lines)) is None, "\n".join(lines)
