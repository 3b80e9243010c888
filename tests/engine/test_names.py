"""Names of beginners' tutorials, against PyTorch's stored answers; and how missing names are answered."""

import importlib
import json
import math
import subprocess
import sys

import pytest

import minigrad as torch
from minigrad.core.absent import TABLE

from .reference import names

STORED, OURS = json.loads(names.STORED.read_text()), names.answers("minigrad")


def alike(ours, theirs):
    """Numbers to six digits, texts but for the digits of such numbers."""
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(alike, ours, theirs))
    if isinstance(ours, float) and isinstance(theirs, float):
        return (math.isnan(ours) and math.isnan(theirs)) or math.isclose(ours, theirs, rel_tol=2e-6, abs_tol=1e-7)
    return ours == theirs


@pytest.mark.parametrize("expression", names.EXPRESSIONS)
def test_the_answer_is_pytorch_s(expression):
    ours, theirs = (json.loads(json.dumps(found[expression])) for found in (OURS, STORED))
    # The constraint's name, and the numbers below it, are enough said
    if isinstance(theirs, str) and "Error: " in theirs:
        assert ours.split(", but found")[0] == theirs.split(", but found")[0]
    else:
        assert alike(ours, theirs)


def test_gradients_reach_the_parameters():
    loc, scale = torch.tensor([0.0, 1.0], requires_grad=True), torch.tensor([1.0, 2.0], requires_grad=True)
    normal = torch.distributions.Normal(loc, scale)
    normal.rsample((5,)).sum().backward()
    assert loc.grad.tolist() == [5, 5] and scale.grad.abs().sum() > 0
    logits = torch.zeros(3, requires_grad=True)
    torch.distributions.Categorical(logits=logits).log_prob(torch.tensor(1)).backward()
    assert torch.allclose(logits.grad, torch.tensor([-1 / 3, 2 / 3, -1 / 3]))


def test_a_lazy_layer_keeps_its_parameters():
    layer = torch.nn.LazyLinear(2)
    weight = layer.weight
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    layer(torch.ones(4, 3)).sum().backward()
    optimizer.step()
    assert layer.weight is weight and type(layer) is torch.nn.Linear and layer.weight.grad.shape == (2, 3)


@pytest.mark.parametrize("path", TABLE)
def test_a_name_that_is_left_out_says_why(path):
    module, _, name = path.rpartition(".")
    where = torch
    for part in filter(None, module.split(".")):
        where = getattr(where, part)
    owners = [where] if module else [torch, torch.ones(1)]
    heard = []
    for owner in owners:
        try:
            getattr(owner, name)
            heard.append("")
        except AttributeError as error:
            heard.append("".join(getattr(error, "__notes__", [])))
    assert any(TABLE[path].why in text for text in heard)


@pytest.mark.parametrize("line", [
    "import minigrad.fft", "from minigrad.special import expit", "import minigrad.jit as jit", "from minigrad import hub",
    "from minigrad.utils.tensorboard import SummaryWriter", "from minigrad.nn.utils import prune", "from minigrad.nn import LazyConv2d",
])  # fmt: skip
def test_an_import_of_what_is_left_out_says_why(line):
    with pytest.raises(ImportError) as error:
        exec(line)
    assert "minigrad leaves torch." in error.value.__notes__[0]


@pytest.mark.parametrize("line", [
    "from minigrad.distributions import Categorical, Normal", "from minigrad.cuda.amp import GradScaler, autocast",
    "import minigrad.accelerator", "from minigrad.testing import assert_close",
])  # fmt: skip
def test_the_modules_can_be_imported(line):
    exec(line)


def test_a_suggestion_by_spelling_is_a_slip_of_the_pen():
    for name, near in (("reluu", "relu"), ("zeros_lik", "zeros_like")):
        with pytest.raises(AttributeError) as error:
            getattr(torch, name)
        assert f"'{near}'" in error.value.__notes__[0]
    for name in ("matrix_exp", "spectrum", "accelerate"):
        with pytest.raises(AttributeError) as error:
            getattr(torch, name)
        assert "nearest name" not in error.value.__notes__[0]


def test_the_import_of_minigrad_still_loads_no_numpy():
    program = "import sys, minigrad; assert 'numpy' not in sys.modules and 'minigrad.core.absent' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_module_that_exists_is_found_as_before():
    assert importlib.import_module("minigrad.micro") and torch.profiler
