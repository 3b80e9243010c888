"""The forwarding methods of Tensor: what editors are told about them, documented keywords, hints."""

import inspect
import math
import subprocess
import sys

import numpy as np
import pytest

import minigrad as torch
from minigrad.tensors import methods
from tools import stub


def test_the_stub_is_what_the_table_gives():
    assert stub.PATH.read_text() == stub.text(), "run python -m tools.stub"


def test_every_parameter_of_a_method_has_a_type():
    assert stub.unknown() == [], "name the type in TYPES or OF_METHOD of tools/stub.py"


def test_every_forwarding_method_says_what_it_does_and_takes():
    for name, method in vars(methods.Methods).items():
        if callable(method) and not name.startswith("__"):
            assert inspect.getdoc(method), name
            assert next(iter(inspect.signature(method).parameters)) in ("self", "input", "tensor", "x", "A"), name


def test_a_type_checker_knows_the_methods(tmp_path):
    """In a process of its own: mypy raises the recursion limit and leaves a million objects."""
    pytest.importorskip("mypy")
    program = tmp_path / "program.py"
    program.write_text(
        "from minigrad.tensors.tensor import Tensor\n"
        "def f(x: Tensor) -> bool:\n    return x.sum(dim=0).exp_().allclose(x + 1)\n"
        "def g(x: Tensor) -> Tensor:\n    return x.sum(dimension=0)\n"
        "def h(x: Tensor) -> Tensor:\n    return x.lerp(1.0, weight=None) + x.cumsum('rows')\n"
    )
    command = [sys.executable, "-m", "mypy", str(program), "--no-incremental", "--follow-imports=silent"]
    said = subprocess.run(command, capture_output=True, text=True).stdout
    assert 'program.py:5: error: Unexpected keyword argument "dimension" for "sum" of "Methods"' in said
    assert 'program.py:7: error: Argument "weight" to "lerp" of "Methods" has incompatible type "None"' in said
    assert (
        'program.py:7: error: Argument 1 to "cumsum" of "Methods" has incompatible type "str"; expected "int"' in said
    )
    assert said.count("error") == 4  # the last one is mypy's own count


X = torch.arange(6.0).reshape(2, 3)
KEYWORDS = {
    "flip": lambda: X.flip(dims=[0]), "torch.flip": lambda: torch.flip(X, dims=[0]), "permute": lambda: X.permute(dims=(1, 0)),
    "repeat": lambda: X.repeat(repeats=(1, 2)), "tile": lambda: X.tile(dims=(2,)), "expand": lambda: X.expand(size=(2, 2, 3)),
    "view": lambda: X.view(size=(3, 2)), "reshape": lambda: X.reshape(shape=(3, 2)), "view -1": lambda: X.view(size=[-1]),
    "torch.permute": lambda: torch.permute(input=X, dims=(1, 0)), "broadcast_to": lambda: X.broadcast_to(size=(2, 2, 3)),
}  # fmt: skip
POSITIONS = {
    "flip": lambda: X.flip(0), "torch.flip": lambda: torch.flip(X, [0]), "permute": lambda: X.permute(1, 0),
    "repeat": lambda: X.repeat(1, 2), "tile": lambda: X.tile(2), "expand": lambda: X.expand(2, 2, 3),
    "view": lambda: X.view(3, 2), "reshape": lambda: X.reshape(3, 2),
    "view -1": lambda: X.view(-1), "torch.permute": lambda: torch.permute(X, (1, 0)), "broadcast_to": lambda: X.broadcast_to((2, 2, 3)),
}  # fmt: skip


@pytest.mark.parametrize("name", KEYWORDS)
def test_documented_keywords(name):
    assert torch.equal(KEYWORDS[name](), POSITIONS[name]())


WRONG = [lambda: X.view(shape=(6,)), lambda: X.view(6, size=(6,)), lambda: X.sum(dims=0), lambda: torch.flip(X, dim=0)]


@pytest.mark.parametrize("call", WRONG)
def test_a_wrong_keyword_is_refused_and_never_proposed(call):
    with pytest.raises(TypeError) as error:
        call()
    wrong = str(error.value).split("'")[1]
    assert f"the nearest is '{wrong}'" not in str(error.value)


@pytest.mark.parametrize("call, sentence", [
    (lambda x: x.reshape("a"), "reshape(): argument 'shape' (position 1) must be tuple of ints, not str"),
    (lambda x: x.reshape(2.5), "reshape(): argument 'shape' (position 1) must be tuple of ints, not float"),
    (lambda x: x.reshape(3, 2.0), "reshape(): argument 'shape' must be tuple of ints, but found element of type float at pos 1"),
    (lambda x: x.view("a"), "view(): argument 'size' (position 1) must be tuple of ints, not str"),
    (lambda x: x.expand(None), "expand(): argument 'size' (position 1) must be tuple of ints, not NoneType"),
    (lambda x: x.repeat(2, "a"), "repeat(): argument 'repeats' must be tuple of ints, but found element of type str at pos 1"),
    (lambda x: torch.reshape(x, "a"), "reshape(): argument 'shape' (position 2) must be tuple of ints, not str"),
    (lambda x: torch.roll(x, "a"), "roll(): argument 'shifts' (position 2) must be tuple of ints, not str")])  # fmt: skip
def test_sizes_that_are_no_whole_numbers(call, sentence):
    with pytest.raises(TypeError) as error:
        call(torch.ones(2, 3))
    assert str(error.value).split("\n")[0] == sentence


@pytest.mark.parametrize("at", [0.0, 1e-9, 1e-3, -0.1, 0.159, 0.16, 0.7, -2.5])
def test_derivatives_of_sinc_of_any_order(at):
    """sinc is the integral of cos(pi x t) over t from 0 to 1, and so are its derivatives those of cos(pi x t)."""
    x = torch.tensor(at, dtype=torch.float64, requires_grad=True)
    points, weights = np.polynomial.legendre.leggauss(40)
    t, y = (points + 1) / 2, torch.sinc(x)
    for order in range(1, 5):
        (y,) = torch.autograd.grad(y, x, create_graph=True)
        exact = (weights / 2 * (math.pi * t) ** order * np.cos(math.pi * at * t + order * math.pi / 2)).sum()
        assert y.item() == pytest.approx(exact, rel=1e-9, abs=1e-9), order
