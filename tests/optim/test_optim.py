"""Optimizers and schedulers beyond the numbers: groups, state, closures, hooks, versions, errors and warnings."""

# ruff: noqa: E501  (a case is one line)
import copy
import math
import warnings

import pytest

import minigrad as torch
from minigrad import nn, optim
from minigrad.optim import lr_scheduler


def weights(n=2):
    return [torch.ones(2, requires_grad=True) for _ in range(n)]


def set_grads(params, value=1.0):
    for p in params:
        p.grad = torch.full_like(p, value)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: optim.SGD(torch.ones(1, requires_grad=True)), TypeError, "params argument given to the optimizer should be an iterable of Tensors or dicts, but got torch.FloatTensor"),
        (lambda: optim.SGD([]), ValueError, "optimizer got an empty parameter list"),
        (lambda: optim.SGD([3]), TypeError, "optimizer can only optimize Tensors, but one of the params is int"),
        (lambda: optim.SGD([torch.ones(1, requires_grad=True) * 2]), ValueError, "can't optimize a non-leaf Tensor"),
        (lambda: optim.SGD(weights(), lr=-1.0), ValueError, "Invalid learning rate: -1.0"),
        (lambda: optim.SGD(weights(), momentum=-0.5), ValueError, "Invalid momentum value: -0.5"),
        (lambda: optim.SGD(weights(), weight_decay=-1), ValueError, "Invalid weight_decay value: -1"),
        (lambda: optim.SGD(weights(), nesterov=True), ValueError, "Nesterov momentum requires a momentum and zero dampening"),
        (lambda: optim.Adam(weights(), betas=(0.9, 1.0)), ValueError, "Invalid beta parameter at index 1: 1.0"),
        (lambda: optim.Adam(weights(), eps=-1.0), ValueError, "Invalid epsilon value: -1.0"),
        (lambda: optim.RMSprop(weights(), alpha=-1.0), ValueError, "Invalid alpha value: -1.0"),
        (lambda: optim.Adagrad(weights(), lr_decay=-1.0), ValueError, "Invalid lr_decay value: -1.0"),
        (lambda: optim.LBFGS([{"params": weights(1)}, {"params": weights(1)}]), ValueError, "LBFGS doesn't support per-parameter options (parameter groups)"),
        (lambda: optim.SGD(weights()).add_param_group([1]), TypeError, "param_group must be a dict, but got <class 'list'>"),
        (lambda: optim.SGD([{"params": set(weights())}]), TypeError, "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets will change between runs. Please use a list instead."),
    ],
)  # fmt: skip
def test_errors_are_pytorchs(make, error, message):
    with pytest.raises(error) as e:
        make()
    assert str(e.value) == message


def test_groups():
    a, b = weights()
    o = optim.SGD([{"params": a, "lr": 0.5}], lr=0.1, momentum=0.9)
    o.add_param_group({"params": [b]})
    assert [g["lr"] for g in o.param_groups] == [0.5, 0.1] and o.param_groups[0]["params"] == [a]
    with pytest.raises(ValueError, match="some parameters appear in more than one parameter group"):
        o.add_param_group({"params": [a]})
    with pytest.warns(UserWarning, match="optimizer contains a parameter group with duplicate parameters"):
        optim.SGD([a, a])
    named = optim.SGD(nn.Linear(1, 1).named_parameters())
    assert named.param_groups[0]["param_names"] == ["weight", "bias"]
    with pytest.raises(
        ValueError,
        match="all optimizer param groups should be with/without names. cannot add param group without names",
    ):
        named.add_param_group({"params": [a]})


def test_zero_grad_and_missing_gradients():
    a, b = weights()
    o = optim.SGD([a, b], lr=1.0)
    a.grad = torch.ones(2)
    o.step()
    assert a.tolist() == [0, 0] and b.tolist() == [1, 1]  # b had no gradient: untouched
    o.zero_grad(set_to_none=False)
    assert a.grad.tolist() == [0, 0] and b.grad is None
    o.zero_grad()
    assert a.grad is None


def test_a_step_counts_as_a_write():
    w = torch.ones(2, requires_grad=True)
    loss = (w * w).sum()
    w.grad = torch.ones(2)
    before = w._version
    optim.SGD([w], lr=0.1).step()
    assert w._version == before + 1 and w.is_leaf and w.requires_grad
    with pytest.raises(RuntimeError, match="has been modified by an inplace operation"):
        loss.backward()


def test_the_gradient_is_not_written_to():
    for make in (optim.SGD, optim.Adam, optim.AdamW, optim.RMSprop, optim.Adagrad):
        w = torch.ones(2, requires_grad=True)
        w.grad = torch.full((2,), 3.0)
        o = make([w], lr=0.1, weight_decay=0.5, maximize=True)
        o.step()
        o.step()
        assert w.grad.tolist() == [3, 3], make


def test_closure_runs_with_recording_and_its_loss_is_returned():
    w = torch.tensor(3.0, requires_grad=True)
    o = optim.SGD([w], lr=0.1)

    def closure():
        o.zero_grad()
        loss = w * w
        loss.backward()
        return loss

    with torch.no_grad():
        assert o.step(closure).item() == 9
    assert w.item() == pytest.approx(2.4)


@pytest.mark.parametrize(
    "make",
    [
        lambda p: optim.SGD(p, lr=0.1, momentum=0.9),
        lambda p: optim.Adam(p, amsgrad=True),
        lambda p: optim.RMSprop(p, momentum=0.5),
        optim.Adagrad,
    ],
)
def test_state_survives_saving(make):
    a, b = weights(1), weights(1)
    first, second = make(a), make(b)
    for _ in range(3):
        set_grads(a, 0.3)
        first.step()
    with torch.no_grad():
        b[0].copy_(a[0])
    second.load_state_dict(copy.deepcopy(first.state_dict()))
    for o, p in ((first, a), (second, b)):
        set_grads(p, -0.2)
        o.step()
    assert torch.equal(a[0], b[0])
    state = next(iter(second.state.values()))
    assert all(v.array is not w.array for v, w in zip(state.values(), first.state[a[0]].values(), strict=True))


def test_load_state_dict_errors_and_casting():
    o = optim.Adam(weights())
    with pytest.raises(ValueError, match="loaded state dict has a different number of parameter groups"):
        o.load_state_dict({"state": {}, "param_groups": []})
    with pytest.raises(
        ValueError,
        match="loaded state dict contains a parameter group that doesn't match the size of optimizer's group",
    ):
        o.load_state_dict(optim.Adam(weights(1)).state_dict())
    p = weights(1)
    set_grads(p)
    o = optim.Adam(p)
    o.step()
    double = optim.Adam([torch.ones(2, dtype=torch.float64, requires_grad=True)])
    double.load_state_dict(o.state_dict())
    state = next(iter(double.state.values()))
    assert state["exp_avg"].dtype == torch.float64 and state["step"].dtype == torch.float32


def test_own_optimizers_in_both_ways():
    class Sign(optim.Optimizer):
        """Overrides update."""

        def __init__(self, params, lr):
            super().__init__(params, {"lr": lr})

        def update(self, p, g, state, group):
            p.array[...] -= group["lr"] * (g > 0)

    class Plain(optim.Optimizer):
        """Overrides step, as code for PyTorch does."""

        def __init__(self, params, lr):
            super().__init__(params, dict(lr=lr))

        def step(self, closure=None):
            for group in self.param_groups:
                for p in group["params"]:
                    p.sub_(p.grad * group["lr"])  # recording is off here

    for make in (Sign, Plain):
        p = weights(1)
        set_grads(p)
        o = make(p, lr=0.25)
        calls = []
        o.register_step_pre_hook(lambda o, args, kwargs: calls.append("pre"))  # noqa: B023
        o.register_step_post_hook(lambda o, args, kwargs: calls.append("post"))  # noqa: B023
        o.step()
        assert p[0].tolist() == [0.75, 0.75] and calls == ["pre", "post"]


def test_lbfgs_finds_the_minimum():
    x = torch.tensor([3.0, -2.0], dtype=torch.float64, requires_grad=True)
    o = optim.LBFGS([x], line_search_fn="strong_wolfe")

    def closure():
        o.zero_grad()
        loss = (x[0] - 1) ** 4 + (x[1] + x[0]) ** 2
        loss.backward()
        return loss

    for _ in range(20):
        o.step(closure)
    assert closure().item() < 1e-8  # it was 17; a quartic minimum is flat
    with torch.no_grad():
        x.fill_(3)
    with pytest.raises(RuntimeError, match="only 'strong_wolfe' is supported"):
        optim.LBFGS([x], line_search_fn="golden").step(closure)


# Schedulers ---------------------------------------------------------------------------------------------------------------


def stepped(scheduler, n):
    rates = []
    for _ in range(n):
        scheduler.optimizer.step()
        scheduler.step()
        rates.append(scheduler.get_last_lr()[0])
    return rates


def test_closed_forms():
    lr = 0.7
    o = optim.SGD(weights(1), lr=lr)
    rates = stepped(lr_scheduler.CosineAnnealingLR(o, T_max=10, eta_min=0.1), 10)
    assert rates == pytest.approx([0.1 + 0.6 * (1 + math.cos(math.pi * t / 10)) / 2 for t in range(1, 11)])
    o = optim.SGD(weights(1), lr=lr)
    assert stepped(lr_scheduler.StepLR(o, 2, 0.1), 4) == pytest.approx([0.7, 0.07, 0.07, 0.007])


def test_wrong_order_is_warned_about():
    scheduler = lr_scheduler.StepLR(optim.SGD(weights(1), lr=1.0), 1)
    with pytest.warns(UserWarning, match=r"Detected call of `lr_scheduler.step\(\)` before `optimizer.step\(\)`"):
        scheduler.step()
    scheduler = lr_scheduler.StepLR(optim.SGD(weights(1), lr=1.0), 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scheduler.optimizer.step()
        scheduler.step()
    with pytest.warns(UserWarning, match=r"please use `get_last_lr\(\)`"):
        scheduler.get_lr()
    with pytest.warns(UserWarning, match="The epoch parameter in `scheduler.step"):
        scheduler.step(3)
    assert scheduler.get_last_lr() == pytest.approx([1e-3])


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda o: lr_scheduler.StepLR(3, 1), TypeError, "int is not an Optimizer"),
        (lambda o: lr_scheduler.StepLR(o, 1, last_epoch=2), KeyError, "param 'initial_lr' is not specified in param_groups[0] when resuming"),
        (lambda o: lr_scheduler.LambdaLR(o, [lambda e: 1, lambda e: 1]), ValueError, "Expected 1 lr_lambdas, but got 2"),
        (lambda o: lr_scheduler.LinearLR(o, start_factor=0), ValueError, "Starting multiplicative factor expected to be greater than 0 and less or equal to 1."),
        (lambda o: lr_scheduler.OneCycleLR(o, 1.0), ValueError, "You must define either total_steps OR (epochs AND steps_per_epoch)"),
        (lambda o: lr_scheduler.OneCycleLR(o, 1.0, total_steps=0), ValueError, "Expected positive integer total_steps, but got 0"),
        (lambda o: lr_scheduler.OneCycleLR(o, 1.0, total_steps=5, anneal_strategy="x"), ValueError, "anneal_strategy must be one of 'cos' or 'linear', instead got x"),
        (lambda o: stepped(lr_scheduler.OneCycleLR(o, 1.0, total_steps=3), 4), ValueError, "Tried to step 4 times. The specified number of total steps is 3"),
        (lambda o: lr_scheduler.ReduceLROnPlateau(o, factor=1.5), ValueError, "Factor should be < 1.0."),
        (lambda o: lr_scheduler.ReduceLROnPlateau(o, "up"), ValueError, "mode up is unknown!"),
        (lambda o: lr_scheduler.SequentialLR(o, [lr_scheduler.StepLR(o, 1)], [3]), ValueError, "Sequential Schedulers expects number of schedulers provided to be one more"),
        (lambda o: lr_scheduler.SequentialLR(o, [], []), ValueError, "SequentialLR expects at least one scheduler, but got no scheduler."),
        (lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 0), ValueError, "Expected positive integer T_0, but got 0"),
    ],
)  # fmt: skip
def test_scheduler_errors_are_pytorchs(make, error, message):
    with pytest.raises(error) as e:
        make(optim.SGD(weights(1), lr=1.0, momentum=0.9))
    assert e.value.args[0].startswith(message)


def test_schedulers_resume():
    for make in (
        lambda o: lr_scheduler.ExponentialLR(o, 0.9),
        lambda o: lr_scheduler.ReduceLROnPlateau(o, patience=1),
        lambda o: lr_scheduler.SequentialLR(
            o, [lr_scheduler.ConstantLR(o, 0.1, 3), lr_scheduler.ExponentialLR(o, 0.5)], [3]
        ),
    ):
        one, two = (optim.SGD(weights(1), lr=1.0) for _ in range(2))
        a, b = make(one), make(two)

        def step(s):
            s.optimizer.step()
            s.step(1.0) if isinstance(s, lr_scheduler.ReduceLROnPlateau) else s.step()

        for _ in range(4):
            step(a)
        two.load_state_dict(one.state_dict())
        b.load_state_dict(copy.deepcopy(a.state_dict()))
        for _ in range(3):
            step(a)
            step(b)
            assert a.get_last_lr() == b.get_last_lr()


@pytest.mark.parametrize(
    "make",
    [
        optim.SGD,
        optim.Adam,
        optim.AdamW,
        optim.RMSprop,
        optim.Adagrad,
        optim.NAdam,
        optim.RAdam,
        optim.ASGD,
        optim.Rprop,
    ],
)
def test_an_old_state_dict_without_later_options_and_with_plain_counts(make):
    p = weights(1)
    first = make(p, lr=0.1)
    set_grads(p)
    first.step()
    old = copy.deepcopy(first.state_dict())
    for name in (
        "maximize",
        "foreach",
        "differentiable",
        "fused",
        "capturable",
        "amsgrad",
        "nesterov",
        "decoupled_weight_decay",
    ):
        old["param_groups"][0].pop(name, None)
    for state in old["state"].values():
        state.update({k: v.item() for k, v in state.items() if isinstance(v, torch.Tensor) and not v.ndim})
    q = [w.detach().clone().requires_grad_() for w in p]
    second = make(q, lr=0.1)
    second.load_state_dict(old)
    for params, optimizer in ((p, first), (q, second)):
        set_grads(params, 0.5)
        optimizer.step()
    assert torch.equal(p[0], q[0])
    assert first.state_dict()["param_groups"][0].keys() == second.state_dict()["param_groups"][0].keys()


@pytest.mark.parametrize("betas", [False, True])
@pytest.mark.parametrize("make", [optim.Adam, optim.AdamW, optim.NAdam])
def test_a_differentiable_step_has_gradients_for_its_options(make, betas):
    if betas and make is optim.NAdam:
        pytest.skip("PyTorch's NAdam wants floats")

    def new_parameter(p, g, a, b):
        p = p.clone()
        p.grad = g
        optimizer = make([p], betas=(a, b) if betas else (0.9, 0.99), lr=0.5, differentiable=True)
        state = {"step": torch.tensor(3.0), "exp_avg": averages[0].clone(), "exp_avg_sq": averages[1].clone()}
        optimizer.state[p].update(state | ({"mu_product": b.clone()} if make is optim.NAdam else {}))
        optimizer.step()
        return p

    numbers = [torch.rand(3, dtype=torch.float64) + 0.5 for _ in range(4)] + [
        torch.tensor(v, dtype=torch.float64) for v in (0.8, 0.9)
    ]
    averages, numbers = numbers[:2], numbers[2:]
    inputs = [x.requires_grad_() for x in numbers]
    assert torch.autograd.gradcheck(new_parameter, inputs)
    if betas or make is optim.NAdam:
        assert torch.autograd.grad(new_parameter(*inputs).sum(), inputs[3])[0] != 0


def test_a_rate_that_is_a_tensor_stays_the_same_tensor():
    schedulers = [
        lambda o: lr_scheduler.ExponentialLR(o, 0.5), lambda o: lr_scheduler.ConstantLR(o, 0.5), lambda o: optim.swa_utils.SWALR(o, 0.01, 1),
        lambda o: lr_scheduler.CyclicLR(o, 0.1, 0.5, 2), lambda o: lr_scheduler.OneCycleLR(o, 0.5, 9),
        lambda o: lr_scheduler.SequentialLR(o, [lr_scheduler.ConstantLR(o, 0.5, 1), lr_scheduler.ExponentialLR(o, 0.5)], [2]),
    ]  # fmt: skip
    for make in schedulers:
        rates = []
        for lr in (0.1, torch.tensor(0.1, dtype=torch.float64)):
            o = optim.SGD(weights(1), lr=lr, momentum=0.9)
            s = make(o)
            rates.append([])
            for _ in range(4):
                o.step()
                s.step()
                rates[-1].append(float(o.param_groups[0]["lr"]))
                assert s.get_last_lr()[0] is not lr  # remembered, not shared
        assert o.param_groups[0]["lr"] is lr and rates[0] == pytest.approx(rates[1], rel=1e-9)
    o = optim.SGD(weights(1), lr=lr)
    s = lr_scheduler.LambdaLR(o, lambda epoch: 1.0)
    lr.mul_(0.1)
    assert s.base_lrs[0] == o.param_groups[0]["initial_lr"] != lr
    plateau = lr_scheduler.ReduceLROnPlateau(o, patience=0)
    for _ in range(2):
        plateau.step(1.0)
    assert o.param_groups[0]["lr"] is lr


def test_state_dicts_of_schedulers_have_pytorchs_names():
    o = optim.SGD(weights(1), lr=0.1, momentum=0.9)
    one, cyclic = (
        lr_scheduler.OneCycleLR(o, 0.5, 9).state_dict(),
        lr_scheduler.CyclicLR(o, 0.1, 0.5, mode="triangular2"),
    )
    assert one["_schedule_phases"][0]["start_lr"] == "initial_lr" and one["_anneal_func_type"] == "cos"
    assert "_scale_fn_ref" not in cyclic.state_dict() and cyclic._scale_fn_ref(3) == 0.25
    other = lr_scheduler.CyclicLR(o, 0.1, 0.5)
    other.load_state_dict(cyclic.state_dict())
    assert other.scale_fn(3) == 0.25
