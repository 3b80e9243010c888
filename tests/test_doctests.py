"""Every example in a docstring of minigrad and widgets is run, and shows what it says."""

import ast
import doctest
import importlib
import inspect
import pkgutil
import re
import textwrap

import pytest

import minigrad
import widgets


def modules():
    """The names of all modules of both packages, and of the packages."""
    found = [package.__name__ for package in (minigrad, widgets)]
    for package in (minigrad, widgets):
        found += [module.name for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")]
    return [name for name in found if not name.endswith(".__main__")]


@pytest.mark.parametrize("name", modules())
def test_examples(name):
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert result.failed == 0, f"{result.failed} of {result.attempted} examples; see the captured output"


def test_a_wrong_example_would_be_seen():
    def wrong():
        """
        >>> 1 + 1
        3
        """

    finder = doctest.DocTestFinder().find(wrong, globs={})
    runner = doctest.DocTestRunner(verbose=False)
    assert runner.run(finder[0], out=lambda text: None).failed == 1


PUBLIC = """
    minigrad.scalar minigrad.tape minigrad.api minigrad.autograd minigrad.autograd.functional minigrad.autograd.graph
    minigrad.autograd.forward_ad minigrad.func minigrad.linalg minigrad.nn minigrad.nn.functional minigrad.nn.init minigrad.nn.utils
    minigrad.nn.utils.parametrizations minigrad.nn.utils.parametrize minigrad.nn.utils.rnn minigrad.optim minigrad.optim.lr_scheduler
    minigrad.optim.swa_utils minigrad.amp minigrad.profiler minigrad.utils.data minigrad.utils.checkpoint minigrad.datasets
    minigrad.viz""".split()


def public(name):
    """The functions of a module that people call, by name. Rows of the derivatives table say what they do, and check in one place."""
    module = importlib.import_module(name)
    names = getattr(module, "__all__", [n for n, f in vars(module).items() if getattr(f, "__module__", "") == name])
    found = {n: getattr(module, n) for n in names if not n.startswith("_")}
    return {n: f for n, f in found.items() if callable(f) and not isinstance(f, type)}


def raised_by(function):
    """The built-in exceptions that the lines of a function raise themselves."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    raised = [ast.unparse(node.exc) for node in ast.walk(tree) if isinstance(node, ast.Raise) and node.exc is not None]
    return {name for text in raised for name in re.findall(r"^(?:errors\.new\()?([A-Z]\w*(?:Error|Exception))\b", text)}


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_function_says_what_it_does_and_what_it_raises(name):
    """Named by its docstring: what its own lines raise. What it calls may raise more."""
    assert [n for n, f in public(name).items() if not inspect.getdoc(f)] == []
    functions = {n: inspect.unwrap(f) for n, f in public(name).items() if inspect.isfunction(inspect.unwrap(f))}
    missing = {n: {error for error in raised_by(f) if error not in inspect.getdoc(f)} for n, f in functions.items()}
    assert {n: errors for n, errors in missing.items() if errors} == {}


def methods(name):
    """(class, method, docstrings) of the classes in a module and of minigrad's classes that they are made of."""
    found = [
        thing
        for n, thing in vars(importlib.import_module(name)).items()
        if isinstance(thing, type) and not n.startswith("_")
    ]
    for c in {base for thing in found for base in thing.__mro__ if base.__module__.startswith("minigrad")}:
        for n, f in vars(c).items():
            f = inspect.unwrap(getattr(f, "fget", None) or getattr(f, "__func__", f))
            if (
                inspect.isfunction(f)
                and (f.__module__ or "").startswith("minigrad")
                and (n == "__init__" or not n.startswith("_"))
            ):
                yield c.__name__, f, f"{inspect.getdoc(c)} {inspect.getdoc(getattr(c, n)) if n != '__init__' else ''}"


@pytest.mark.parametrize("name", [*PUBLIC, "minigrad.tensors.tensor"])
def test_every_public_class_says_what_it_raises(name):
    """Its constructor and its methods, in the docstring of either."""
    missing = {
        f"{c}.{f.__name__}": {error for error in raised_by(f) if error not in doc} for c, f, doc in methods(name)
    }
    assert {n: errors for n, errors in missing.items() if errors} == {}


def test_an_exception_that_is_not_named_is_found():
    def f(x):
        if x:
            raise ValueError("no")
        raise errors.new(TypeError, "no")  # noqa: F821

    assert raised_by(f) == {"ValueError", "TypeError"}
