"""Every example in a docstring of minigrad and widgets is run, and shows what it says."""
import doctest
import importlib
import pkgutil

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


@pytest.mark.parametrize("name", ["minigrad.api", "minigrad.autograd", "minigrad.func", "minigrad.linalg"])
def test_every_public_function_says_what_it_does(name):
    module = importlib.import_module(name)
    found = [getattr(module, n) for n in getattr(module, "__all__", dir(module)) if not n.startswith("_")]
    functions = [f for f in found if callable(f) and not isinstance(f, type)]
    assert functions and [f.__name__ for f in functions if not (f.__doc__ or "").strip()] == []
