"""The dtype of every function of several tensors, for every pair of dtypes, against PyTorch's answers (reference/promotion.json)."""

import json

import pytest

import minigrad

from .reference import promotion

STORED = json.loads(promotion.STORED.read_text())
QUESTIONS = promotion.questions()

TOLERANCE = {"float16": 4e-3, "torch.float16": 4e-3}
# Expressions that answer otherwise on purpose, or that nobody writes: how, and why. A line that is no longer true fails.
DIFFERS = {
    "torch.lerp(x, x, y)": "a weight without dimensions is refused for whole numbers; PyTorch takes it and returns the dtype of the weight",
    "torch.cdist(x[None], y[None])": "distances of float16 are computed; PyTorch has no kernel for them",
    "F.margin_ranking_loss(x, x, y)": "whole numbers have no mean; PyTorch adds the default margin as a float first",
}


def test_the_stored_answers_are_those_of_the_questions():
    assert STORED.keys() == QUESTIONS.keys(), "run python -m tests.engine.reference.promotion (with torch)"


def by_expression():
    found = {}
    for key in STORED:
        found.setdefault(key.rpartition(" |")[0], []).append(key)
    return found


@pytest.mark.parametrize("expression", by_expression())
def test_the_dtype_of_a_result_is_pytorch_s(expression):
    wrong = []
    for key in by_expression()[expression]:
        text, inputs = QUESTIONS[key]
        for given, result, theirs in zip(inputs, promotion.results(minigrad, key), STORED[key], strict=True):
            if (ours := promotion.code(result)) != theirs:
                wrong.append((key, given, f"{ours} for PyTorch's {theirs}: {result!r}"))
    assert bool(wrong) == (expression in DIFFERS), wrong[:5]


@pytest.mark.parametrize(
    "expression", [e for e in by_expression() if e not in DIFFERS and not e.startswith(("F.", "torch.trapezoid"))]
)
def test_a_result_is_that_of_the_operands_in_its_dtype(expression):
    """Promotion is the only thing that different dtypes change. (But differences of bytes wrap: trapezoid is left out, as are losses.)"""
    for key in by_expression()[expression]:
        if not key.endswith("11"):
            continue
        text, questions = QUESTIONS[key]
        for given, result in zip(questions, promotion.results(minigrad, key), strict=True):
            if not hasattr(result, "dtype") or not result.dtype.is_floating_point:
                continue
            inputs = {
                k: promotion.made(minigrad, promotion.NUMBERS_OF[k], *how).to(result.dtype) for k, how in given.items()
            }
            alike = promotion.answer(minigrad, text, **inputs)
            if hasattr(alike, "dtype") and alike.dtype is result.dtype and alike.shape == result.shape:
                tolerance = max(
                    [TOLERANCE.get(kind, 0) for kind in (str(result.dtype), *[how[0] for how in given.values()])]
                    + [1e-5]
                )
                assert minigrad.allclose(result, alike, rtol=tolerance, atol=tolerance, equal_nan=True), (
                    key,
                    given,
                    result,
                    alike,
                )
