"""Every snippet of cases/*.txt, answered by minigrad, against what real PyTorch answered."""

import pytest

import minigrad

from .reference import difference, run, snippets, stored

SNIPPETS, STORED = snippets(), stored()


def test_the_stored_answers_are_those_of_the_snippets():
    assert SNIPPETS.keys() == STORED.keys(), "run python -m tests.autograd.reference (with torch)"


# Those: tests/engine/test_reference_texts.py
@pytest.mark.parametrize("key", [key for key in SNIPPETS if not key.startswith("texts/")])
def test_snippet(key):
    found = difference(run(minigrad, SNIPPETS[key]), STORED[key])
    assert not found, f"{SNIPPETS[key]}\n{found}"
