"""Every layer and loss against real PyTorch: equal weights in, equal outputs, gradients and twenty training steps out."""

import json

import pytest

import minigrad

from .reference import cases, programs, record
from .reference.make import FILES, stored

LAYERS, LOSSES, PROGRAMS = stored("layers"), stored("losses"), stored("programs")


def agree(mine, theirs, tolerance):
    found = record.differences(json.loads(json.dumps(mine)), theirs, tolerance)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("case", cases.LAYERS, ids=lambda case: case.name)
def test_layer(case):
    agree(record.layer(minigrad, case), LAYERS[case.name], 1e-9)


@pytest.mark.parametrize("case", cases.LOSSES, ids=lambda case: case.name)
def test_loss(case):
    agree(record.layer(minigrad, case), LOSSES[case.name], 1e-9)


@pytest.mark.parametrize("name", programs.PROGRAMS)
def test_program(name):
    agree(record.program(minigrad, programs.PROGRAMS[name]), PROGRAMS[name], 1e-5 if "float32" in name else 1e-9)


def test_the_stored_answers_are_those_of_the_cases():
    assert LAYERS.keys() == {case.name for case in cases.LAYERS} and len(LAYERS) == len(cases.LAYERS)
    assert PROGRAMS.keys() == programs.PROGRAMS.keys()
    assert LOSSES.keys() == {case.name for case in cases.LOSSES} and len(LOSSES) == len(cases.LOSSES)


def test_answers_of_live_torch():
    torch = pytest.importorskip("torch")
    found = json.loads(json.dumps(record.answers(torch)))
    for name in FILES:
        agree(found[name], stored(name), 1e-9)


def test_differences_finds_differences():
    one = {"out": ["float64", [2], [1.0, 2.0]], "repr": "x"}
    assert not record.differences(one, one, 1e-9)
    assert record.differences({**one, "repr": "y"}, one, 1e-9)
    assert record.differences({**one, "out": ["float64", [2], [1.0, 2.0 + 1e-6]]}, one, 1e-9)
    assert record.differences({**one, "out": ["float32", [2], [1.0, 2.0]]}, one, 1e-9)
    assert record.differences({"out": one["out"]}, one, 1e-9)
    assert record.differences([1.0, 2.0], [1.0, 2.1], 1e-9)
