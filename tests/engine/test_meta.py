"""The device "meta": shapes and dtypes are those of the same program with numbers, and what needs numbers says so."""

import copy

import numpy as np
import pytest

import minigrad as torch
from minigrad import nn
from minigrad.nn import functional as F

PROGRAMS = {
    "x + y": lambda t: t(2, 3) + t(3),
    "x @ y": lambda t: t(4, 2, 3) @ t(3, 5),
    "x * 2 - 1": lambda t: 1 - t(2, 3) * 2,
    "view": lambda t: t(2, 3).view(3, 2).T.reshape(-1),
    "permute": lambda t: t(2, 3, 4).permute(2, 0, 1).contiguous(),
    "slices": lambda t: t(5, 3)[1:, 0],
    "rows": lambda t: t(5, 3)[torch.tensor([0, 4, 4])],
    "split": lambda t: t(4, 3).split(3),
    "cat": lambda t: torch.cat([t(2, 3), t(1, 3)]),
    "stack": lambda t: torch.stack([t(2), t(2)], 1),
    "einsum": lambda t: torch.einsum("ij,jk->ik", t(2, 3), t(3, 4)),
    "max": lambda t: tuple(t(2, 3).max(1)),
    "sums": lambda t: (t(2, 3).sum(), t(2, 3).mean(1, keepdim=True), t(2, 3).var(0)),
    "dtypes": lambda t: (t(2).double(), t(2).long(), t(2) > 0, t(2).argmax()),
    "where": lambda t: torch.where(t(2, 1) > 0, t(2, 1), t(3)),
    "softmax": lambda t: F.softmax(t(2, 3), 1),
    "cross_entropy": lambda t: F.cross_entropy(t(2, 3), torch.tensor([0, 2])),
    "conv2d": lambda t: F.conv2d(t(1, 3, 8, 8), t(4, 3, 3, 3), padding=1, stride=2),
    "max_pool2d": lambda t: F.max_pool2d(t(1, 3, 8, 8), 2),
    "layer_norm": lambda t: F.layer_norm(t(2, 3), (3,)),
    "embedding": lambda t: F.embedding(torch.tensor([[0, 1]]), t(5, 3)),
    "attention": lambda t: F.scaled_dot_product_attention(t(1, 2, 5, 4), t(1, 2, 5, 4), t(1, 2, 5, 4), is_causal=True),
    "in place": lambda t: t(2, 3).add_(1).mul_(t(3)).fill_(2).normal_(),
    "like": lambda t: (torch.zeros_like(t(2, 3)), torch.empty_like(t(2)), torch.randn_like(t(2))),
}


def many(result):
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("name", PROGRAMS)
def test_shapes_are_those_of_the_program_with_numbers(name):
    real = many(PROGRAMS[name](lambda *size: torch.ones(*size)))
    meta = many(PROGRAMS[name](lambda *size: torch.ones(*size, device="meta")))
    assert [(x.shape, x.dtype) for x in meta] == [(x.shape, x.dtype) for x in real]
    assert {str(x.device) for x in meta} == {"meta"} and all(x.is_meta and not x.is_cpu for x in meta)
    assert not any(isinstance(x.array, np.ndarray) for x in meta)


MODULES = {
    "Linear": (lambda **on: nn.Linear(3, 4, **on), (2, 3)),
    "LSTM": (lambda **on: nn.LSTM(3, 4, **on), (5, 2, 3)),
    "encoder": (lambda **on: nn.TransformerEncoderLayer(8, 2, 16, **on), (5, 2, 8)),
    "BatchNorm1d": (lambda **on: nn.BatchNorm1d(3, **on), (4, 3)),
}


@pytest.mark.parametrize("name", MODULES)
def test_modules_are_made_and_called_without_numbers(name):
    make, size = MODULES[name]
    real, meta = make(), make(device="meta")
    assert [(n, p.shape) for n, p in meta.named_parameters()] == [(n, p.shape) for n, p in real.named_parameters()]
    assert all(p.is_meta and p.requires_grad for p in meta.parameters())
    first = lambda result: result[0] if isinstance(result, tuple) else result  # noqa: E731
    assert first(meta(torch.ones(*size, device="meta"))).shape == first(real(torch.ones(*size))).shape
    moved = copy.deepcopy(real).to("meta")
    assert all(p.is_meta for p in moved.parameters()) and not any(p.is_meta for p in real.parameters())


def test_a_module_gets_numbers_again():
    meta, real = nn.Linear(3, 4, device="meta"), nn.Linear(3, 4)
    meta.to_empty(device="cpu").load_state_dict(real.state_dict())
    x = torch.ones(2, 3)
    assert torch.equal(meta(x), real(x))


def test_an_ensemble_as_in_the_tutorial():
    """PyTorch, "Model ensembling": a copy on the device meta is the frame into which each model's numbers are put."""
    models = [nn.Sequential(nn.Flatten(), nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2)) for _ in range(3)]
    params, buffers = torch.func.stack_module_state(models)
    frame, x = copy.deepcopy(models[0]).to("meta"), torch.randn(5, 2, 2)
    out = torch.vmap(lambda p, b: torch.func.functional_call(frame, (p, b), (x,)))(params, buffers)
    assert out.shape == (3, 5, 2)
    assert all(torch.allclose(out[k], model(x), atol=1e-6) for k, model in enumerate(models))


def test_it_holds_no_memory():
    assert torch.empty(10**6, 10**6, device="meta").numel() == 10**12


def test_it_prints_what_it_is():
    x = torch.empty(2, 3, device="meta")
    assert repr(x) == "tensor(..., device='meta', size=(2, 3))"
    w = torch.empty(2, device="meta", dtype=torch.float64, requires_grad=True)
    assert repr(w * 2) == "tensor(..., device='meta', size=(2,), dtype=torch.float64, grad_fn=<MulBackward0>)"


ASK = {
    "item": lambda x: x.sum().item(), "tolist": lambda x: x.tolist(), "numpy": lambda x: x.numpy(), "cpu": lambda x: x.cpu(),
    "to": lambda x: x.to("cpu"), "bool": lambda x: bool(x.sum()), "float": lambda x: float(x.sum()), "format": lambda x: f"{x.sum()}",
    "equal": lambda x: torch.equal(x, x), "allclose": lambda x: torch.allclose(x, x), "nonzero": lambda x: x.nonzero(),
    "mask": lambda x: x[x > 0], "masked_select": lambda x: x.masked_select(x > 0), "unique": lambda x: x.unique(),
    "copied": lambda x: torch.ones(2).copy_(x), "assigned": lambda x: torch.ones(2, 2).__setitem__(0, x), "in": lambda x: 1 in x,
    "backward": lambda x: (x.requires_grad_() * 2).sum().backward(), "multinomial": lambda x: torch.multinomial(x, 1),
    "grad": lambda x: torch.autograd.grad((x.requires_grad_() * 2).sum(), x), "array": lambda x: np.asarray(x),
    "saved": lambda x: torch.save(x, "x.pt"),
}  # fmt: skip


@pytest.mark.parametrize("name", ASK)
def test_what_needs_numbers_says_so(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NotImplementedError, match="Cannot copy out of meta tensor; no data!") as raised:
        ASK[name](torch.empty(2, device="meta"))
    assert (
        "has a shape and a dtype only" in "".join(raised.value.__notes__)
        and raised.type.__name__ == "NotImplementedError"
    )
    assert list(tmp_path.iterdir()) == []


def test_shapes_that_do_not_fit_are_refused_as_ever():
    x = torch.empty(2, 3, device="meta")
    with pytest.raises(RuntimeError, match="must match the size"):
        x + torch.empty(2, 4, device="meta")
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        x @ torch.empty(2, 3, device="meta")
    with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
        x.add_(torch.empty(4, 2, 3, device="meta"))
