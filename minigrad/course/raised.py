"""A sentence and a hint about an exception that an answer raised.

Exceptions are caught in guard.py. There is no traceback here; the learner's own cell shows one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .exercise import Exercise

RAISED = (  # (type, what the message contains, name, hint)
    ("", "NoneType", "uses None", "A None is used as if it were a value: which of your functions can end without a return?"),
    ("", "shape", "shapes do not fit", "Write the shapes beside each other, also the one that is needed: which have to fit together?"),
    ("", "matrix product", "shapes do not fit", "Write the shapes of both factors beside each other: the inner two must be equal."),
    ("", "gufunc", "shapes do not fit", "Write the shapes of both factors beside each other: the inner two must be equal."),
    ("", "dimension", "shapes do not fit", "Print the shapes before that line: has the array as many dimensions as you think?"),
    ("", "broadcast", "shapes do not fit", "Write the two shapes below each other, aligned on the right: which sizes differ?"),
    ("", "size of tensor", "shapes do not fit", "Write the two shapes below each other, aligned on the right: which sizes differ?"),
    ("", "input size", "shapes do not fit", "Write the two shapes below each other: they have to be equal, not only as many numbers."),
    ("ValueError", "zip()", "lengths differ", "Two lists of different lengths are walked together: print both. (+ joins lists, and adds "
     "arrays.)"),
    ("", "ambiguous", "many truth values", "A whole array stands where one True or False is needed: which of .all() and .any() is meant?"),
    ("RuntimeError", "boolean mask", "a mask of numbers", "A mask has to be boolean: a comparison such as > 0, or .bool()."),
    ("RuntimeError", "between 0 and 1", "outside the domain", "A probability left the range from 0 to 1: are the steps too large, or in "
     "the "
     "wrong direction?"),
    ("RuntimeError", "does not require grad", "no graph", "The graph does not reach back: look for a detach, a no_grad, .item(), or a "
     "tensor made "
     "from numbers."),
    ("RuntimeError", "second time", "a graph used twice", "A graph can be used once. Compute it again in every round, and detach what "
     "is carried over."),
    ("RuntimeError", "inplace operation", "overwritten", "Something that the backward pass needs was written to: make a new tensor "
     "instead."),
    ("RuntimeError", "in-place operation", "a leaf is written to", "A parameter may be changed only where nothing is recorded: under "
     "no_grad."),
    ("RuntimeError", "not have been used", "not in the graph", "One of the inputs takes no part in the result: is the name bound to "
     "another tensor?"),
    ("RuntimeError", "scalar outputs", "not one number", "backward() alone needs one number: a sum, a mean, or the upstream gradient as "
     "an argument."),
    ("LinAlgError", "", "singular", "This matrix has no inverse. What should happen then?"),
    ("ZeroDivisionError", "", "divides by zero", "Something is divided by 0, or 0 gets a negative exponent: which inputs lead there?"),
    ("OverflowError", "", "overflows", "A number became too large: which step makes it grow, and does it have to?"),
    ("IndexError", "", "an index out of range", "An index points beyond the end. They start at 0: which is the last one that is used?"),
    ("KeyError", "", "a missing key", "A dict is asked for a key that it does not have (yet): is it put in before, for each input?"),
    ("UnboundLocalError", "", "used before it is set", "A variable is used before this function gives it a value: where does it start?"),
    ("NameError", "", "an unknown name", "A name is not known there: is it spelled as where it was defined, and was that cell run?"),
    ("AttributeError", "", "another kind of object", "That object has no such attribute: print its type. Is it the object you mean, or "
     "something that holds it?"),
    ("TypeError", "must be real number, not", "math on an object", "The functions of math take plain numbers only. Use the object's own "
     "method, as in a.sin()."),
    ("TypeError", "argument", "other arguments", "A function is called with other arguments than it takes: compare the call and its def."),
    ("TypeError", "not callable", "not a function", "Parentheses follow something that is no function: what does the name before hold?"),
    ("TypeError", "'numpy.ndarray' and 'Tensor'", "an array for a tensor", "A numpy array does not know your Tensor: "
     "make a Tensor of the array first."),
    ("TypeError", "", "kinds that do not fit", "Two kinds of objects do not go together there: print the type of each."),
    ("ValueError", "unpack", "another number of parts", "There are more, or fewer, parts than names on the left: print the right side."),
    ("ValueError", "domain", "outside the domain", "The function is not defined there: a logarithm or a root of a negative number?"),
    ("AssertionError", "", "an assertion fails", "One of your own assertions fails: print what it compares."),
)  # fmt: skip

NAMED = (  # (what the message says, name, hint), where the message itself names what the hint needs
    (
        r"not 'method'|'method' and|and 'method'",
        "a method not called",
        "A method came where a number is needed: are its parentheses missing, as in x.sin()?",
    ),
    (
        r"^None came back, and a (\w+) is needed",
        "returns nothing",
        "That operation returns nothing yet: write it, or its return.",
    ),
    (
        r"^an? (\w+) came back, and a (\w+) is needed",
        "{0} for {1}",
        "A {0} came back, with which nothing further can be computed. Every operation returns a {1}.",
    ),
    (
        r"^'(?!NoneType)(\w+)' object has no attribute '(\w+)'",
        "no .{1}",
        "A value of the type {0} came where something with .{1} is expected: is it the object that you mean, or something that holds it, "
        "or a plain number?",
    ),
    (
        r"operand type\(s\) for ([^:]+): '(?!NoneType)(\w+)' and '(?!NoneType)(\w+)'",
        "{1} {0} {2}",
        "There is no rule for {1} {0} {2}. Python asks the left one's class, then the right one's for the method with an r in front: "
        "which of the two should know the other?",
    ),
    (
        r"'(\S+)' not supported between instances of '(?!NoneType)(\w+)' and '(?!NoneType)(\w+)'",
        "{1} {0} {2}",
        "There is no rule for {1} {0} {2}: compare numbers, or write the method that {0} asks for.",
    ),
    (
        r"'(?!NoneType)(\w+)' object is not (subscriptable|iterable)",
        "{0} is not {1}",
        "A value of the type {0} came where a list or an array is expected: it has no parts. Where was it computed?",
    ),
)


def raised(ex: Exercise, error: Mapping[str, Any]) -> tuple[str, str]:
    """(hint, name) for an exception: what to look for where the line above says it happened."""
    message = str(error["message"])
    of_the_check = error["type"] in ("Foreign", "LookupError")
    if of_the_check and not error.get("where"):
        return f"{message[:1].upper()}{message[1:]}.", "another object"
    for pattern, name, hint in NAMED:
        if match := re.search(pattern, message):
            return hint.format(*match.groups()), name.format(*match.groups())
    for type_, part, name, hint in RAISED:
        if part == "zip()" and "zip" not in ((error.get("where") or {}).get("text") or "zip"):
            continue  # the learner's own line walks no lists
        if type_ in ("", error["type"]) and part in message:
            return hint, name
    return (
        f"It ends in {error['type']}, for the reason above. Call {ex.entry} yourself in a cell to see every step to it.",
        "raises",
    )


def error_sentence(error: Mapping[str, Any]) -> str:
    """The exception and its line in one sentence, without a traceback, which the learner's own cell shows."""
    if error["type"] in ("Borrowed", "ByHand"):
        return str(error["message"])
    where = error.get("where")
    at = ""
    if where:
        at = f" in line {where['line']}" + (f", `{where['text']}`" if where["text"] else "")
    if error["type"] == "RecursionError":
        return f"RecursionError{at}: a function called itself too deeply"
    if error["type"] in ("SystemExit", "GeneratorExit"):
        return f"{error['type']}{at}: an answer must not end the program"
    message = str(error["message"])
    message = message.partition(" Hint: ")[0]  # the engine's advice is about the whole program, and long
    if "gufunc" in message:  # numpy's own words for a matrix product of the wrong shapes
        message = "these two shapes do not fit into a matrix product"
    return f"{error['type']}{at}" + (f": {message}" if message else "")
