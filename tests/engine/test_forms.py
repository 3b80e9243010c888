"""The structures that are found in a recorded computation: see form_programs.py for the programs."""

import linecache

import pytest

from minigrad.core import provenance
from minigrad.tracing import forms
from minigrad.tracing.trace import trace

from .form_programs import HEAD, SEEN, UNSEEN


@pytest.fixture(autouse=True)
def notes():
    provenance.record_lines(True)
    yield
    provenance.record_lines(False)


def found(code, lines=True):
    space = {"__name__": "program"}
    name = "program.py"
    linecache.cache[name] = (len(code), None, (HEAD + code).splitlines(keepends=True), name)
    exec(compile(HEAD + code, name, "exec"), space)
    recorded = trace(space["loss"], space)
    assert any(node["source"] for node in recorded["nodes"])
    for node in recorded["nodes"] if not lines else ():
        node["source"] = None
    return forms.find(recorded)


def in_a_function(code):
    """The same program with local variables."""
    body = "\n".join("    " + line for line in code.strip().splitlines())
    return f"def program():\n{body}\n    return loss\nloss = program()\n"


@pytest.mark.parametrize("name, kind, code", SEEN, ids=[name for name, *_ in SEEN])
def test_the_form_of_a_program(name, kind, code):
    result = found(code)
    # A program without a form may still be a chain of layers: that says nothing that is not so.
    assert (result.kind if result else "") in ([kind] if kind else ["", "layers"])


@pytest.mark.parametrize("name, kind, code", SEEN, ids=[name for name, *_ in SEEN])
def test_the_form_is_the_same_inside_a_function_and_without_lines(name, kind, code):
    for result in (found(in_a_function(code)), found(code, lines=False)):
        assert (result.kind if result else "") in ([kind] if kind else ["", "layers"])


@pytest.mark.parametrize("name, kind, code", UNSEEN, ids=[name for name, *_ in UNSEEN])
def test_the_form_of_a_program_that_the_rules_were_not_made_on(name, kind, code):
    result = found(code)
    assert (result.kind if result else "") in ([kind] if kind else ["", "layers"])
