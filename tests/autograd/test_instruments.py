"""Checkpoints, memory, mixed precision, profiles, pictures, anomalies: what PyTorch's stored answers cannot say."""

import gc
import json
import warnings
import weakref

import graphviz
import numpy as np
import pytest

import minigrad as torch
import minigrad.nn as nn
from minigrad.autograd.graph import save_on_cpu, saved_bytes, saved_rows
from minigrad.utils.checkpoint import CheckpointError, checkpoint, checkpoint_sequential
from minigrad.viz import make_dot


@pytest.fixture(scope="module")
def deep():
    torch.manual_seed(0)
    return [nn.Sequential(nn.Linear(16, 16), nn.Tanh(), nn.Dropout(0.5)) for _ in range(8)]


def _run(deep, wrap):
    torch.manual_seed(1)
    x = torch.ones(32, 16, requires_grad=True)
    h = x
    for layer in deep:
        layer.zero_grad()
        h = wrap(layer, h)
    held = saved_bytes(h)
    h.sum().backward()
    return held, x.grad, [p.grad for layer in deep for p in layer.parameters()]


@pytest.mark.parametrize("reentrant", [False, True])
def test_checkpoint_gives_the_same_and_holds_less(deep, reentrant):
    plain = _run(deep, lambda layer, h: layer(h))
    again = _run(deep, lambda layer, h: checkpoint(layer, h, use_reentrant=reentrant))
    assert torch.equal(plain[1], again[1])
    assert all(torch.equal(a, b) for a, b in zip(plain[2], again[2], strict=True))
    assert again[0] == 7 * 32 * 16 * 4  # the inputs of all layers but the first, whose input is a leaf
    assert plain[0] > 3 * again[0]


def test_checkpoint_sequential(deep):
    torch.manual_seed(1)
    x = torch.ones(32, 16, requires_grad=True)
    y = checkpoint_sequential(deep, 4, x, use_reentrant=False)
    assert saved_bytes(y) < _run(deep, lambda layer, h: layer(h))[0] / 2
    y.sum().backward()
    assert torch.equal(x.grad, _run(deep, lambda layer, h: layer(h))[1])


def test_checkpoint_second_order_and_twice():
    x = torch.randn(3, requires_grad=True)
    f = lambda t: t.sin().exp()  # noqa: E731
    (g,) = torch.autograd.grad(checkpoint(f, x, use_reentrant=False).sum(), x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x)
    assert torch.allclose(h, torch.exp(x.sin()) * (x.cos() ** 2 - x.sin()))
    y = checkpoint(f, x, use_reentrant=False).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert torch.allclose(x.grad, 2 * g)


def test_checkpoint_says_when_the_second_run_differs():
    x, calls = torch.randn(3, requires_grad=True), []

    def shorter(t):
        calls.append(1)
        return t.sin().exp() if len(calls) == 1 else t.exp()

    with pytest.raises(CheckpointError, match="A different number of tensors was saved"):
        checkpoint(shorter, x, use_reentrant=False).sum().backward()

    def longer(t):
        calls.append(1)
        return t.sin() if len(calls) % 2 else torch.cat([t, t]).sin()

    calls.clear()
    with pytest.raises(CheckpointError, match="different metadata than during the forward pass"):
        checkpoint(longer, x, use_reentrant=False).sum().backward()


def test_checkpoint_warnings_and_limits():
    x = torch.ones(2, requires_grad=True)
    with pytest.warns(UserWarning, match="use_reentrant parameter should be passed explicitly"):
        checkpoint(torch.sin, x)
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True"):
        checkpoint(torch.sin, torch.ones(2), use_reentrant=True)
    with pytest.raises(RuntimeError, match=r"incompatible with .grad\(\)"):
        torch.autograd.grad(checkpoint(torch.sin, x, use_reentrant=True).sum(), x)
    with torch.no_grad():
        assert not checkpoint(torch.sin, x, use_reentrant=False).requires_grad


def test_checkpoint_leaves_nothing_behind(deep):
    gc.collect()
    gc.disable()
    try:
        x = torch.ones(32, 16, requires_grad=True)
        y = checkpoint(deep[0], x * 2, use_reentrant=False)
        alive = weakref.ref(y)
        y.sum().backward()
        del y
        assert alive() is None
    finally:
        gc.enable()


def test_memory_counts_each_storage_once():
    x = torch.ones(100, requires_grad=True)
    h = x * 1.5
    y = h.exp()
    rows = saved_rows((y * y.sin()).sum())
    # Exp and sin(y); y is exp's own output
    assert sum(r.bytes for r in rows if r.counted and r.shape == (100,)) == 100 * 4 * 2
    assert {r.why for r in rows if not r.counted} == {"shared"}
    w = torch.ones(100, requires_grad=True)
    assert [r.why for r in saved_rows((w * x).sum()) if r.shape == (100,)] == ["leaf", "leaf"]
    assert saved_bytes((w * x).sum()) == 0
    wide = torch.ones(1, 100, requires_grad=True).sin().expand(50, 100)
    assert saved_bytes(wide.cos()) == 100 * 4  # an expanded view holds its storage, not its shape
    z = (x * 1.5).exp()
    z.sum().backward()
    assert saved_bytes(z) == 0


def test_save_on_cpu_and_packing():
    x = torch.ones(4, requires_grad=True)
    with save_on_cpu():
        y = x * 2
        z = y * y
    y.detach().zero_()  # what the node saved is a copy: nothing is lost
    z.sum().backward()
    assert x.grad.tolist() == [8.0] * 4
    order = []
    with torch.autograd.graph.saved_tensors_hooks(
        lambda t: order.append("pack") or t.half(), lambda t: order.append("unpack") or t.float()
    ):
        z = (x * x).sum()
    z.backward()
    assert order == ["pack", "pack", "unpack", "unpack"]


def test_every_kind_of_hook_in_order():
    seen = []
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    y.register_hook(lambda g: seen.append("tensor") or g * 2)
    y.grad_fn.register_prehook(lambda gs: seen.append("pre"))
    y.grad_fn.register_hook(lambda gi, go: seen.append("post"))
    x.register_hook(lambda g: seen.append("leaf"))
    x.register_post_accumulate_grad_hook(lambda p: seen.append("after"))
    y.sum().backward()
    assert seen == ["tensor", "pre", "post", "leaf", "after"]
    assert x.grad.tolist() == [6.0, 6.0]


# Mixed precision --------------------------------------------------------------------------------------------------------


def test_small_gradients_need_the_scale():
    w = torch.tensor([1e-4], requires_grad=True)

    def loss():
        with torch.autocast("cpu", dtype=torch.float16):
            return ((w.half() * 1e-4) * torch.tensor([0.1]).half()).float().sum() * 1e-3

    loss().backward()
    assert w.grad.item() == 0.0  # 1e-8 does not exist in float16
    w.grad = None
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**20)
    optimizer = torch.optim.SGD([w], lr=1.0)
    scaler.scale(loss()).backward()
    scaler.unscale_(optimizer)
    assert w.grad.item() == pytest.approx(1e-8, rel=1e-2)


def test_scaler_skips_and_adapts():
    w = torch.tensor([1.0], requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=1.0)
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0, growth_interval=2)
    scaler.scale(w.sum())
    w.grad = torch.tensor([float("inf")])
    assert scaler.step(optimizer) is None
    scaler.update()
    assert w.item() == 1.0
    assert scaler.get_scale() == 4.0
    for _ in range(2):
        w.grad = torch.tensor([4.0])
        scaler.step(optimizer)
        scaler.update()
    assert w.item() == -1.0
    assert scaler.get_scale() == 8.0
    scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match="already been called on this optimizer since the last update"):
        scaler.unscale_(optimizer)
    scaler.step(optimizer)
    with pytest.raises(RuntimeError, match=r"step\(\) has already been called"):
        scaler.step(optimizer)
    other = torch.amp.GradScaler("cpu")
    other.load_state_dict(scaler.state_dict())
    assert other.state_dict() == scaler.state_dict()


def test_autocast_lists():
    a = torch.randn(2, 2)
    with torch.autocast("cpu", dtype=torch.float16):
        low = a @ a
        assert low.dtype == nn.functional.linear(a, a).dtype == torch.exp(low).dtype == torch.float16
        assert nn.functional.mse_loss(low, a).dtype == (low + a).dtype == torch.cat([low, a]).dtype == torch.float32
        assert (a.double() @ a.double()).dtype == torch.float64
        with torch.autocast("cpu", enabled=False):
            assert (a @ a).dtype == torch.float32
    assert (a @ a).dtype == torch.float32
    w = torch.randn(2, 2, requires_grad=True)
    with torch.autocast("cpu", dtype=torch.float16):
        (a @ w).float().sum().backward()
    assert w.grad.dtype == torch.float32
    assert torch.autocast("cpu", dtype=torch.float16)(lambda: (a @ a).dtype)() == torch.float16
    with pytest.raises(RuntimeError, match="Invalid device string: 'gpu'"):
        torch.autocast("gpu")


def _heads(x):
    return nn.functional.scaled_dot_product_attention(x[None, None], x[None, None].half(), x[None, None])


@pytest.mark.parametrize(
    "call",
    [
        lambda a: nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 2))(a),
        lambda a: torch.mm(torch.mm(a, a), a),
        lambda a: torch.addmm(a, a.half(), a),
        lambda a: nn.functional.linear(a.half(), a, a[0]),
        lambda a: nn.functional.conv1d(a[None].half(), a[:, :, None], a[0]),
        _heads,
    ],
)
def test_autocast_casts_before_the_dtypes_are_compared(call):
    a = torch.ones(2, 2, requires_grad=True)
    with torch.autocast("cpu", dtype=torch.float16):
        out = call(a)
    assert out.dtype == torch.float16
    out.float().sum().backward()
    with torch.autocast("cpu", dtype=torch.float16), pytest.raises(RuntimeError, match="Half and Double"):
        nn.functional.linear(a, a.double(), a[0].double())


def test_autocast_to_bfloat16_keeps_its_range():
    a = torch.full((2, 2), 300.0)
    with pytest.warns(UserWarning, match=r"no bfloat16.*uses float32"), torch.autocast("cpu", dtype=torch.bfloat16):
        assert (a @ a).tolist() == [[180_000.0] * 2] * 2  # inf in float16


# Profiles and pictures -----------------------------------------------------------------------------------------------------


def test_profile_adds_up(tmp_path):
    x = torch.randn(50, 50, requires_grad=True)
    with torch.profiler.profile(record_shapes=True, profile_memory=True) as prof:
        with torch.profiler.record_function("block"):
            for _ in range(3):
                y = (x @ x).sum()
        (g,) = torch.autograd.grad(y, x, create_graph=True)
    rows = {e.key: e for e in prof.key_averages()}
    assert rows["aten::mm"].count == 5  # three forward, two in the recorded backward pass
    block = rows["block"]
    assert block.cpu_time_total >= block.self_cpu_time_total >= 0
    inside = [e for e in prof.events() if e.cpu_parent is not None and e.cpu_parent.key == "block"]
    assert block.cpu_time_total == pytest.approx(block.self_cpu_time_total + sum(e.cpu_time_total for e in inside))
    assert rows["MmBackward0"].cpu_time_total > rows["MmBackward0"].self_cpu_time_total
    assert "[[50, 50], [50, 50]]" in prof.key_averages(group_by_input_shape=True).table()
    assert rows["aten::mm"].self_cpu_memory_usage == 5 * 50 * 50 * 4
    prof.export_chrome_trace(tmp_path / "trace.json")
    assert len(json.loads((tmp_path / "trace.json").read_text())) == len(prof.events())
    top = prof.key_averages().table(sort_by="count", row_limit=1)
    assert "aten::mm" in top
    assert "block" not in top


def test_profile_names_custom_functions_and_schedules():
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = torch.ones(2, requires_grad=True)
    with torch.autograd.profiler.profile() as prof:
        Twice.apply(x).sum().backward()
    assert {"Twice", "TwiceBackward"} <= {e.key for e in prof.key_averages()}
    kept = []
    plan = torch.profiler.schedule(wait=1, warmup=1, active=2, repeat=1)
    with torch.profiler.profile(
        schedule=plan, on_trace_ready=lambda p: kept.append({e.key: e.count for e in p.key_averages()})
    ) as prof:
        for _ in range(6):
            x.detach() * 2
            prof.step()
    assert kept == [{"ProfilerStep#2": 1, "aten::mul": 2, "ProfilerStep#3": 1}]


def test_a_crash_of_graphviz_costs_no_kernel(monkeypatch):
    dot = make_dot(torch.ones(2, requires_grad=True).sum())
    for program, why in (
        ("import os; os.abort()", "crashed"),
        ("raise ValueError('no such format')", "no such format"),
    ):
        monkeypatch.setattr("minigrad.viz.DRAWS", program)
        with pytest.raises(RuntimeError, match=f"could not draw this graph: .*{why}"):
            dot.pipe("svg")


def test_picture(tmp_path):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    out = model(torch.ones(2, 3)).mean()
    dot = make_dot(out, params=dict(model.named_parameters()), show_attrs=True, show_saved=True)
    assert isinstance(dot, graphviz.Digraph)
    for text in (
        "0.weight",
        "2.bias",
        "TanhBackward0",
        "AddmmBackward0",
        "result: [saved tensor]",
        "orange",
        "darkolivegreen1",
        "lightblue",
    ):
        assert text in dot.source
    assert dot.source == make_dot(out, params=dict(model.named_parameters()), show_attrs=True, show_saved=True).source
    assert open(dot.render(tmp_path / "graph", format="png"), "rb").read(4) == b"\x89PNG"
    view = make_dot(torch.ones(4, requires_grad=True).exp().view(2, 2))
    assert "darkolivegreen3" in view.source
    out.backward()
    make_dot(out, show_attrs=True, show_saved=True)  # freed: nothing saved is shown, nothing raises


# Anomalies -------------------------------------------------------------------------------------------------------------------


def test_inf_only_on_request():
    x = torch.tensor([1.0], requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with torch.autograd.detect_anomaly():
            (1 / (x**2 - 1)).backward()
        with (
            pytest.raises(RuntimeError, match="'ReciprocalBackward0' returned inf values"),
            torch.autograd.detect_anomaly(check_inf=True),
        ):
            (1 / (x**2 - 1)).backward()


def test_first_nan_of_a_forward_pass():
    def model(x):
        h = torch.exp(x)
        ratio = h / (h - h)  # inf
        return (ratio - ratio).sum()  # nan

    x = torch.tensor([0.0, 1.0])
    with np.errstate(all="ignore"):
        origin = torch.autograd.first_nan(model, x)
        assert (origin.op, origin.bad, origin.index) == ("sub", "nan", (0,))
        assert origin.code == "return (ratio - ratio).sum()  # nan"
        earlier = torch.autograd.first_nan(model, x, check_inf=True)
        assert (earlier.op, earlier.bad, earlier.inputs) == ("div", "inf", (1.0, 0.0))
        assert "ratio = h / (h - h)" in str(earlier)
    assert torch.autograd.first_nan(torch.exp, x) is None


# gradcheck says what is wrong ------------------------------------------------------------------------------------------------


def _wrong(factor):
    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x, y)
            return x * y, x + y

        @staticmethod
        def backward(ctx, g, h):
            x, y = ctx.saved_tensors
            return g * y + h, factor(g * x + h)

    return Wrong.apply


def test_gradcheck_names_input_output_and_entry():
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([3.0, 5.0], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(_wrong(lambda g: g), (x, y))
    with pytest.raises(torch.autograd.GradcheckError) as caught:
        torch.autograd.gradcheck(_wrong(lambda g: g * torch.tensor([1.0, 4.0], dtype=torch.float64)), (x, y))
    assert str(caught.value).startswith("Jacobian mismatch for output 0 with respect to input 1,\nnumerical:tensor(")
    (note,) = caught.value.__notes__
    assert "input 1, entry 1, against output 0, entry 1: your rule gives 8, differences give 2" in note
    with pytest.raises(torch.autograd.GradcheckError) as caught:
        torch.autograd.gradcheck(_wrong(lambda g: -g), (x, y))
    assert "The whole gradient has the wrong sign" in caught.value.__notes__[0]
    with pytest.raises(torch.autograd.GradcheckError) as caught:
        torch.autograd.gradcheck(_wrong(lambda g: g * 0), (x, y))
    assert "zero everywhere" in caught.value.__notes__[0]
    with pytest.raises(RuntimeError) as caught:
        torch.autograd.gradcheck(_wrong(lambda g: 3 * g), (x, y))
    assert "The whole gradient is 3 times what it should be" in caught.value.__notes__[0]
    assert not torch.autograd.gradcheck(_wrong(lambda g: -g), (x, y), raise_exception=False)
    with pytest.warns(UserWarning, match="Input #0 requires gradient and is not a double precision"):
        torch.autograd.gradcheck(torch.neg, torch.ones(1, requires_grad=True), eps=0.25, atol=1e-2)


def test_ctx_takes_any_attribute_even_one_that_the_node_has():
    class Mean(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.shape, ctx.number, ctx.made, ctx.info, ctx.status = x.shape, x.numel(), "here", {"a": 1}, "fine"
            return x.mean()

        @staticmethod
        def backward(ctx, g):
            assert (ctx.made, ctx.info, ctx.status) == ("here", {"a": 1}, "fine")
            return g.expand(ctx.shape) / ctx.number

    x = torch.tensor([1.0, 2.0, 4.0], requires_grad=True)
    (2 * Mean.apply(x)).backward()
    assert torch.allclose(x.grad, torch.full((3,), 2 / 3))
    (g,) = torch.autograd.grad(Mean.apply(x * x), x, create_graph=True)
    assert torch.allclose(g, 2 * x / 3)


class _Turned(torch.autograd.Function):
    """x @ w with the transpose of w's Jacobian in backward."""

    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(w)
        return x @ w

    @staticmethod
    def backward(ctx, g):
        return g @ ctx.saved_tensors[0], None


def test_fast_gradcheck_takes_a_few_passes_and_sees_what_is_wrong():
    calls = []

    def two(x, y):
        calls.append(1)
        return (x * y).sin(), (x @ y.T).sum(1)

    x, y = (torch.randn(30, 20, dtype=torch.float64, requires_grad=True) for _ in range(2))
    options = {"fast_mode": True, "check_forward_ad": True, "check_batched_grad": True}
    assert torch.autograd.gradcheck(two, (x, y), **options)
    assert len(calls) < 40  # entry by entry it would be thousands
    assert torch.autograd.gradgradcheck(lambda x: x**3, (x,), fast_mode=True)
    assert torch.autograd.gradcheck(torch.sin, (torch.tensor(0.5, dtype=torch.float64, requires_grad=True),), **options)
    for fast in (False, True):
        none = torch.randn(0, 3, dtype=torch.float64, requires_grad=True)
        assert torch.autograd.gradcheck(
            torch.sin, (none,), check_batched_grad=True, check_forward_ad=True, fast_mode=fast
        )
    w, small = torch.randn(3, 3, dtype=torch.float64), torch.randn(2, 3, dtype=torch.float64, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"(?s)Jacobian mismatch for output 0.*entries differ"):
        torch.autograd.gradcheck(lambda x: _Turned.apply(x, w), (small,), fast_mode=True)
    with pytest.raises(RuntimeError, match="Jacobian computed with forward mode mismatch"):
        torch.autograd.gradcheck(_WrongTangent.apply, (small,), fast_mode=True, check_forward_ad=True)


class _WrongTangent(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2

    @staticmethod
    def jvp(ctx, t):
        return t * 2.01
