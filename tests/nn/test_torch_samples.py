"""PyTorch's own samples of every module and optimiser that exists here: ModuleInfo and OptimizerInfo from its wheel, run beside it.

Needs torch 2.13 (tests/engine/reference/make.py says how to get it); everyday tests use the stored answers of reference/ instead.
"""

import itertools

import numpy as np
import pytest

import minigrad
from minigrad import nn

torch = pytest.importorskip("torch")
common_modules = pytest.importorskip("torch.testing._internal.common_modules")
common_optimizers = pytest.importorskip("torch.testing._internal.common_optimizers")

# In training
RANDOM = {
    "Dropout",
    "Dropout1d",
    "Dropout2d",
    "Dropout3d",
    "AlphaDropout",
    "FeatureAlphaDropout",
    "RReLU",
}
NOT_HERE = {"LinearCrossEntropyLoss"}  # docs/compatibility.md
MODULES = [
    m for m in common_modules.module_db if "Lazy" not in m.module_cls.__name__ and m.module_cls.__name__ not in NOT_HERE
]
OPTIMIZERS = [o for o in common_optimizers.optim_db if o.optim_cls.__name__ != "SparseAdam"]


def ours(x):
    """The same thing in minigrad: tensors, modules, dtypes, functions of torch.nn.functional, and containers of them."""
    if isinstance(x, torch.Tensor):
        t = minigrad.tensor(np.array(x.detach()))
        return t.requires_grad_(x.requires_grad) if x.is_floating_point() else t
    if isinstance(x, (torch.nn.TransformerEncoderLayer, torch.nn.TransformerDecoderLayer)):
        sizes = (
            x.self_attn.embed_dim,
            x.self_attn.num_heads,
            x.linear1.out_features,
            x.dropout.p,
            ours(x.activation),
            x.norm1.eps,
        )
        return same_state(
            getattr(nn, type(x).__name__)(*sizes, x.self_attn.batch_first, x.norm_first, x.linear1.bias is not None), x
        )
    if isinstance(x, torch.nn.LayerNorm):
        return same_state(nn.LayerNorm(x.normalized_shape, x.eps), x)
    if isinstance(x, torch.dtype):
        return getattr(minigrad, str(x).removeprefix("torch."))
    if isinstance(x, (torch.device, torch.Size)):
        return "cpu" if isinstance(x, torch.device) else tuple(x)
    if isinstance(x, (list, tuple)):
        return [ours(v) for v in x] if isinstance(x, list) or hasattr(x, "_fields") else tuple([ours(v) for v in x])
    if isinstance(x, dict):
        return {k: ours(v) for k, v in x.items()}
    return getattr(nn.functional, getattr(x, "__name__", ""), x) if callable(x) and "torch" in str(x.__module__) else x


def same_state(mine, theirs):
    mine.double().train(theirs.training).load_state_dict(ours(theirs.state_dict()))
    return mine


def tensors(x):
    if hasattr(x, "detach") and hasattr(x, "shape"):
        return [x]
    parts = x.values() if isinstance(x, dict) else x if isinstance(x, (list, tuple)) else ()
    return [t for part in parts for t in tensors(part)]


def leaves(x):
    """The samples' inputs are often results: cut off, so that each has a gradient."""
    if isinstance(x, torch.Tensor):
        return x.detach().clone().requires_grad_(x.requires_grad)
    return (
        {k: leaves(v) for k, v in x.items()}
        if isinstance(x, dict)
        else type(x)(map(leaves, x))
        if isinstance(x, (list, tuple))
        else x
    )


def agree(what, mine, theirs, tolerance=1e-8):
    assert (mine is None) == (theirs is None), what
    if theirs is not None:
        a, b = np.array(mine.detach()), np.array(theirs.detach())
        assert a.dtype == b.dtype and a.shape == b.shape, what
        np.testing.assert_allclose(a, b, tolerance * 100, tolerance, err_msg=what)


def samples(info):
    for training in (True, False) if info.train_and_eval_differ else (True,):
        for sample in info.module_inputs_func(
            info, device="cpu", dtype=torch.float64, requires_grad=True, training=training
        ):
            yield training, sample


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("info", MODULES, ids=lambda info: info.module_cls.__name__)
def test_module(info):
    name = info.module_cls.__name__
    for training, sample in samples(info):
        make, given = sample.constructor_input, sample.forward_input
        theirs = info.module_cls(*make.args, **make.kwargs).double().train(training)
        mine = same_state(getattr(nn, name)(*ours(make.args), **ours(make.kwargs)), theirs)
        assert repr(mine) == repr(theirs) and list(mine.state_dict()) == list(theirs.state_dict())
        if name in RANDOM and training:
            continue
        args, kwargs = leaves(given.args), leaves(given.kwargs)
        my_args, my_kwargs = ours(args), ours(kwargs)
        try:
            out = tensors(theirs(*args, **kwargs))
        except Exception as error:  # some samples are wrong on purpose
            with pytest.raises(type(error)) as e:
                mine(*my_args, **my_kwargs)
            assert str(e.value).partition("\n\n")[0] == str(error)
            continue
        my_out = tensors(mine(*my_args, **my_kwargs))
        pairs = list(zip(my_out, out, strict=True))
        for a, b in pairs:
            agree(f"{sample.desc}: out", a, b)
            assert a.requires_grad == b.requires_grad
        pairs = [(a, b) for a, b in pairs if b.requires_grad]
        cotangents = [np.random.RandomState(i).randn(*b.shape) for i, (_, b) in enumerate(pairs)]
        if pairs:
            torch.autograd.backward([b for _, b in pairs], [torch.tensor(g, dtype=torch.float64) for g in cotangents])
            minigrad.autograd.backward(
                [a for a, _ in pairs], [minigrad.tensor(g, dtype=minigrad.float64) for g in cotangents]
            )
        inputs = [*zip(tensors(my_args) + tensors(my_kwargs), tensors(args) + tensors(kwargs), strict=True)]
        for a, b in [*inputs, *zip(mine.parameters(), theirs.parameters(), strict=True)]:
            agree(f"{sample.desc}: gradient", a.grad, b.grad)
        for a, b in zip(mine.buffers(), theirs.buffers(), strict=True):
            agree(f"{sample.desc}: buffer", a, b)


def after_steps(lib, make, options, shapes, dtype):
    """The parameters after each of five steps, and the state."""
    params = [
        lib.tensor(np.array(np.random.RandomState(i).randn(*s), dtype)).requires_grad_() for i, s in enumerate(shapes)
    ]
    optimizer = getattr(lib.optim, make)(params, **options)

    def closure():
        optimizer.zero_grad()
        loss = sum(((p - 1) ** 4).sum() for p in params)
        loss.backward()
        return loss

    for step in range(5):
        for i, p in enumerate(params):
            p.grad = lib.tensor(np.array(np.random.RandomState(10 * step + i).randn(*p.shape), dtype))
        optimizer.step(*[closure] if make == "LBFGS" else [])
        yield [np.array(p.detach()) for p in params]
    state = optimizer.state_dict()
    yield [
        repr(optimizer),
        [sorted(state["state"].get(i, {})) for i in range(len(params))],
        sorted(state["param_groups"][0]),
    ]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("info", OPTIMIZERS, ids=lambda info: info.optim_cls.__name__)
def test_optimizer(info, dtype):
    make = info.optim_cls.__name__
    shapes = [(3, 2), (4, 4)] if make == "Muon" else [(3, 2), (2,), ()]
    tolerance = 2e-2 if make == "Muon" else 2e-5 if dtype == "float32" else 1e-9
    for sample in info.optim_inputs_func(device="cpu"):
        mine = after_steps(minigrad, make, ours(sample.kwargs), shapes, dtype)
        theirs = after_steps(torch, make, sample.kwargs, shapes, dtype)
        for a, b in itertools.zip_longest(mine, theirs):
            if isinstance(b[0], str):
                assert a == b, sample.desc
            else:
                for x, y in zip(a, b, strict=True):
                    np.testing.assert_allclose(x, y, tolerance, tolerance, err_msg=sample.desc)
