"""Module: registration, names, state, hooks, modes, and what it says when something is wrong."""

# ruff: noqa: E501  (a case is one line)
import copy
import gc
import pickle
import weakref

import pytest

import minigrad as torch
from minigrad import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.second = nn.Sequential(nn.ReLU(), nn.Linear(4, 2))
        self.scale = nn.Parameter(torch.ones(2))
        self.register_buffer("seen", torch.zeros(()))
        self.register_buffer("scratch", torch.zeros(2), persistent=False)

    def forward(self, x):
        return self.second(self.first(x)) * self.scale


NAMES = ["scale", "first.weight", "first.bias", "second.1.weight", "second.1.bias"]


def test_names_and_walks():
    net = Net()
    assert [n for n, _ in net.named_parameters()] == NAMES
    assert [n for n, _ in net.named_parameters(recurse=False)] == ["scale"]
    assert [n for n, _ in net.named_parameters(prefix="net")][1] == "net.first.weight"
    assert [n for n, _ in net.named_buffers()] == ["seen", "scratch"]
    assert [n for n, _ in net.named_modules()] == ["", "first", "second", "second.0", "second.1"]
    assert [n for n, _ in net.named_children()] == ["first", "second"]
    assert len(list(net.modules())) == 5 and next(net.modules()) is net
    assert net.get_submodule("second.1") is net.second[1] and net.get_submodule("") is net
    assert net.get_parameter("second.1.bias") is net.second[1].bias
    assert net.get_buffer("seen") is net.seen
    assert {"first", "scale", "seen", "forward"} <= set(dir(net))


def test_a_shared_part_comes_once():
    net = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
    net.append(net[0])
    assert [n for n, _ in net.named_parameters()] == ["0.weight", "0.bias"]
    assert [n for n, _ in net.named_parameters(remove_duplicate=False)] == ["0.weight", "0.bias", "2.weight", "2.bias"]
    assert list(net.state_dict()) == ["0.weight", "0.bias", "2.weight", "2.bias"]


def test_assignment_moves_a_name_between_kinds():
    m = nn.Module()
    m.x = 3
    m.x = nn.Parameter(torch.ones(1))
    assert "x" not in m.__dict__ and list(m._parameters) == ["x"]
    del m.x
    assert not hasattr(m, "x")
    m.x = nn.Linear(1, 1)
    m.x = None
    assert m.x is None and list(m._modules) == ["x"]
    m.y = nn.Buffer(torch.ones(1), persistent=False)
    assert list(m._buffers) == ["y"] and not m.state_dict()
    m.y = torch.zeros(2)
    assert m.y.shape == (2,) and not m.state_dict()


@pytest.mark.parametrize(
    ("do", "error", "message"),
    [
        (lambda m: setattr(m, "scale", torch.ones(2)), TypeError, "cannot assign 'torch.FloatTensor' as parameter 'scale' (torch.nn.Parameter or None expected)"),
        (lambda m: setattr(m, "first", 3), TypeError, "cannot assign 'int' as child module 'first' (torch.nn.Module or None expected)"),
        (lambda m: setattr(m, "seen", 3), TypeError, "cannot assign 'int' as buffer 'seen' (torch.nn.Buffer, torch.Tensor or None expected)"),
        (lambda m: m.nosuch, AttributeError, "'Net' object has no attribute 'nosuch'"),
        (lambda m: m.register_parameter("a.b", None), KeyError, "parameter name can't contain \".\""),
        (lambda m: m.register_parameter("", None), KeyError, 'parameter name can\'t be empty string ""'),
        (lambda m: m.register_parameter("forward", None), KeyError, "attribute 'forward' already exists"),
        (lambda m: m.register_parameter("w", torch.ones(1)), TypeError, "cannot assign 'torch.FloatTensor' object to parameter 'w' (torch.nn.Parameter or None required)"),
        (lambda m: m.register_buffer(1, None), TypeError, "buffer name should be a string. Got int"),
        (lambda m: m.add_module("m", 3), TypeError, "int is not a Module subclass"),
        (lambda m: m.add_module("a.b", None), KeyError, "module name can't contain \".\", got: a.b"),
        (lambda m: m.get_submodule("first.nosuch"), AttributeError, "Linear has no attribute `nosuch`"),
        (lambda m: m.get_parameter("second"), AttributeError, "`second` is not an nn.Parameter"),
        (lambda m: m.train("yes"), ValueError, "training mode is expected to be boolean"),
        (lambda m: m.to(torch.int64), TypeError, "nn.Module.to only accepts floating point or complex dtypes, but got desired dtype=torch.int64"),
        (lambda m: m.load_state_dict([]), TypeError, "Expected state_dict to be dict-like, got <class 'list'>."),
        (lambda m: nn.Module()(1), NotImplementedError, 'Module [Module] is missing the required "forward" function'),
        (lambda m: nn.Module(1), TypeError, "Module.__init__() takes 1 positional argument but 2 were given"),
    ],
)  # fmt: skip
def test_errors_are_pytorchs(do, error, message):
    with pytest.raises(error) as e:
        do(Net())
    assert e.value.args[0] == message


def test_forgotten_super_init():
    class Forgot(nn.Module):
        def __init__(self, value):
            self.part = value

    for value, what in ((nn.Parameter(torch.ones(1)), "parameters"), (nn.Linear(1, 1), "module")):
        with pytest.raises(AttributeError, match=rf"cannot assign {what} before Module.__init__\(\) call"):
            Forgot(value)


def test_non_leaf_parameter():
    net = Net()
    computed = nn.Parameter(torch.ones(2))
    computed.edge = (net.scale * 2).edge  # what a Parameter made by hand from a graph would be
    with pytest.raises(
        ValueError, match="Cannot assign non-leaf Tensor to parameter 'w'. Model parameters must be created explicitly"
    ):
        net.w = computed


def test_state_dict_round_trip_and_sharing():
    a, b = Net(), Net()
    state = a.state_dict()
    assert list(state) == ["scale", "seen", *NAMES[1:]] and not state["scale"].requires_grad
    assert repr(b.load_state_dict(state)) == "<All keys matched successfully>"
    for (_, p), (_, q) in zip(a.named_parameters(), b.named_parameters(), strict=True):
        assert torch.equal(p, q) and p.array is not q.array
    with torch.no_grad():
        a.scale.fill_(5)
    assert state["scale"].tolist() == [5, 5]  # it shares the storage
    assert a.state_dict(keep_vars=True)["scale"] is a.scale
    assert list(a.second.state_dict(prefix="p.")) == ["p.1.weight", "p.1.bias"]


def test_load_state_dict_says_everything_that_is_wrong():
    net = Net()
    state = net.state_dict()
    del state["seen"]
    state["extra"] = torch.ones(1)
    state["first.weight"] = torch.ones(2, 2)
    state["first.bias"] = "text"
    with pytest.raises(RuntimeError) as e:
        net.load_state_dict(state)
    assert str(e.value) == (
        "Error(s) in loading state_dict for Net:\n"
        '\tMissing key(s) in state_dict: "seen". \n'
        '\tUnexpected key(s) in state_dict: "extra". \n'
        "\tsize mismatch for first.weight: copying a param with shape torch.Size([2, 2]) from checkpoint, the shape in current model is "
        "torch.Size([4, 3]).\n"
        '\tWhile copying the parameter named "first.bias", expected torch.Tensor or Tensor-like object from checkpoint but received '
        "<class 'str'>"
    )
    state = net.state_dict()
    del state["seen"]
    state["extra"] = torch.ones(1)
    keys = net.load_state_dict(state, strict=False)
    assert keys.missing_keys == ["seen"] and keys.unexpected_keys == ["extra"]
    assert repr(keys) == "_IncompatibleKeys(missing_keys=['seen'], unexpected_keys=['extra'])"


def test_load_by_assignment_and_extra_state():
    class Extra(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.zeros(2))
            self.note = "old"

        def get_extra_state(self):
            return {"note": self.note}

        def set_extra_state(self, state):
            self.note = state["note"]

    a, b = Extra(), Extra()
    a.note = "new"
    state = a.state_dict()
    assert list(state) == ["w", "_extra_state"]
    b.load_state_dict(state, assign=True)
    assert b.note == "new" and b.w.array is a.w.array and isinstance(b.w, nn.Parameter)
    with pytest.raises(RuntimeError, match='Missing key.*"_extra_state"'):
        b.load_state_dict({"w": torch.ones(2)})


def test_modes_conversion_and_gradients():
    net = Net()
    assert net.training and net.eval() is net and not net.second[0].training
    net.train()
    net(torch.ones(2, 3)).sum().backward()
    before = net.first.weight
    net.double()
    assert net.first.weight is before and before.dtype == torch.float64 == before.grad.dtype == net.seen.dtype
    assert net.to(torch.float32).scale.dtype == torch.float32 and net.to("cpu") is net
    net.zero_grad(set_to_none=False)
    assert net.scale.grad.tolist() == [0, 0]
    net.zero_grad()
    assert all(p.grad is None for p in net.parameters())
    net.requires_grad_(False)
    assert not net(torch.ones(2, 3)).requires_grad
    with pytest.raises((RuntimeError, AssertionError)):  # what torch.device says
        net.to("cuda")


def test_apply_goes_depth_first():
    seen = []
    Net().apply(lambda m: seen.append(type(m).__name__))
    assert seen == ["Linear", "ReLU", "Linear", "Sequential", "Net"]


def test_copy_and_pickle():
    net = Net()
    for twin in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert list(twin.state_dict()) == list(net.state_dict())
        assert (
            isinstance(twin.scale, nn.Parameter)
            and twin.scale is not net.scale
            and twin.scale.array is not net.scale.array
        )
        assert torch.equal(twin(torch.ones(1, 3)), net(torch.ones(1, 3)))


def test_parameter():
    data = torch.ones(2)
    p = nn.Parameter(data)
    assert p.requires_grad and p.is_leaf and isinstance(p, torch.Tensor)
    with torch.no_grad():
        p.add_(1)
    assert data.tolist() == [2, 2]  # shares the storage
    assert repr(p) == "Parameter containing:\ntensor([2., 2.], requires_grad=True)"
    assert not nn.Parameter(data, requires_grad=False).requires_grad
    assert type(p + 1) is torch.Tensor
    assert nn.Parameter().shape == (0,) == nn.Buffer().shape
    with torch.no_grad():
        assert nn.Parameter(torch.ones(1)).requires_grad
    with pytest.raises(TypeError, match="must be Tensor, not list"):
        nn.Parameter([1.0])


# Hooks ------------------------------------------------------------------------------------------------------------------


def test_forward_hooks_run_in_order_and_may_replace():
    line, log = nn.Linear(2, 2), []
    with torch.no_grad():
        line.weight.copy_(torch.eye(2))
        line.bias.zero_()
    one = line.register_forward_pre_hook(lambda m, args: log.append("pre") or (args[0] + 1,))
    two = line.register_forward_hook(lambda m, args, out: log.append(args[0].tolist()) or out * 2)
    three = line.register_forward_hook(lambda m, args, out: log.append("first"), prepend=True)
    assert line(torch.zeros(2)).tolist() == [2, 2] and log == ["pre", "first", [1, 1]]
    for handle in (one, two, three):
        handle.remove()
    assert line(torch.zeros(2)).tolist() == [0, 0] and len(log) == 3


def test_hooks_with_keywords():
    class Scale(nn.Module):
        def forward(self, x, by=1):
            return x * by

    m = Scale()
    m.register_forward_pre_hook(lambda m, args, kwargs: (args, {"by": kwargs["by"] + 1}), with_kwargs=True)
    m.register_forward_hook(lambda m, args, kwargs, out: out + kwargs["by"], with_kwargs=True)
    assert m(torch.ones(1), by=2).item() == 6
    m.register_forward_pre_hook(lambda m, args, kwargs: 3, with_kwargs=True)
    with pytest.raises(RuntimeError, match="forward pre-hook must return None or a tuple of"):
        m(torch.ones(1), by=2)


def test_always_called_hook():
    class Fails(nn.Module):
        def forward(self, x):
            raise ValueError("inside")

    m, log = Fails(), []
    m.register_forward_hook(lambda m, args, out: log.append(out), always_call=True)
    m.register_forward_hook(lambda m, args, out: log.append("not me"))
    with pytest.raises(ValueError, match="inside"):
        m(1)
    assert log == [None]


def test_full_backward_hooks_see_and_change_gradients():
    line, log = nn.Linear(2, 1, bias=False), []
    with torch.no_grad():
        line.weight.copy_(torch.tensor([[2.0, 3.0]]))
    x = torch.ones(1, 2, requires_grad=True)
    line.register_full_backward_pre_hook(lambda m, out: (out[0] * 10,))
    line.register_full_backward_hook(
        lambda m, gin, gout: log.append((gin[0].tolist(), gout[0].tolist())) or (gin[0] + 1,)
    )
    y = line(x)
    assert y.grad_fn.name() == "BackwardHookFunctionBackward"
    y.backward()
    assert log == [([[20, 30]], [[10]])]
    assert x.grad.tolist() == [[21, 31]] and line.weight.grad.tolist() == [[10, 10]]


def test_full_backward_hook_without_input_gradients_warns():
    line, log = nn.Linear(2, 1), []
    line.register_full_backward_hook(lambda m, gin, gout: log.append((gin, gout[0].shape)))
    with pytest.warns(
        UserWarning, match="Full backward hook is firing when gradients are computed with respect to module outputs"
    ):
        line(torch.ones(3, 2)).sum().backward()
    assert log == [((None,), torch.Size([3, 1]))]


def test_backward_hook_errors():
    line = nn.Linear(2, 1)
    line.register_full_backward_hook(lambda m, gin, gout: (gin[0], gin[0]))
    with pytest.raises(
        RuntimeError, match="Cannot use both regular backward hooks and full backward hooks on a single Module"
    ):
        line.register_backward_hook(lambda *a: None)
    with pytest.raises(
        RuntimeError, match="Backward hook returned an invalid number of grad_input, got 2, but expected 1"
    ):
        line(torch.ones(1, 2, requires_grad=True)).backward()


# Containers -------------------------------------------------------------------------------------------------------------


def test_sequential():
    s = nn.Sequential(nn.Linear(1, 2), nn.ReLU())
    s.append(nn.Linear(2, 3)).insert(1, nn.Tanh()).extend([nn.Sigmoid()])
    assert [type(m).__name__ for m in s] == ["Linear", "Tanh", "ReLU", "Linear", "Sigmoid"] and len(s) == 5
    assert list(s._modules) == list("01234")
    assert type(s[1:3]) is nn.Sequential and s[-1] is s[4]
    assert type(s.pop(1)).__name__ == "Tanh" and len(s) == 4
    del s[0]
    assert list(s._modules) == ["0", "1", "2"] and len(s + s) == 6
    s[0] = nn.Identity()
    assert isinstance(s[0], nn.Identity)
    with pytest.raises(IndexError, match="index 7 is out of range"):
        s[7]


def test_lists_and_dicts():
    layers = nn.ModuleList(nn.Linear(2, 2) for _ in range(3))
    assert repr(layers) == "ModuleList(\n  (0-2): 3 x Linear(in_features=2, out_features=2, bias=True)\n)"
    layers += [nn.ReLU()]
    layers.insert(0, nn.Tanh())
    assert len(layers) == 5 and isinstance(layers[0], nn.Tanh) and isinstance(layers[1:], nn.ModuleList)
    del layers[0]
    assert list(layers._modules) == ["0", "1", "2", "3"]
    with pytest.raises(TypeError, match="ModuleList.extend should be called with an iterable, but got int"):
        layers.extend(3)
    parts = nn.ModuleDict({"a": nn.ReLU()})
    parts.update([("b", nn.Tanh())])
    assert list(parts) == ["a", "b"] and "a" in parts and isinstance(parts.pop("a"), nn.ReLU) and len(parts) == 1
    weights = nn.ParameterList([torch.ones(2), nn.Parameter(torch.zeros(1))])
    assert all(isinstance(p, nn.Parameter) for p in weights) and [n for n, _ in weights.named_parameters()] == [
        "0",
        "1",
    ]
    weights += [torch.ones(1)]
    assert len(weights) == 3 and isinstance(weights[1:], nn.ParameterList)
    named = nn.ParameterDict({"w": torch.ones(1)})
    named["v"] = torch.zeros(2)
    assert set(named.keys()) == {"w", "v"} and len(list(named.parameters())) == 2 and named.get("u") is None


def test_sequentials_are_repeated():
    a, b = nn.ReLU(), nn.Tanh()
    s = nn.Sequential(a, b)
    assert [*(s * 2)] == [*(2 * s)] == [a, b, a, b] and len(s) == 2
    t = s
    s *= 2
    s += nn.Sequential(b)
    assert s is t and [*s] == [a, b, a, b, b]
    with pytest.raises(ValueError, match="Non-positive multiplication factor 0"):
        s * 0
    with pytest.raises(TypeError, match="unsupported operand type"):
        s * 1.5


def test_parameter_dicts_are_dicts():
    p = nn.ParameterDict({"a": torch.ones(1)})
    assert isinstance(p.setdefault("q", torch.ones(2)), nn.Parameter) and p.setdefault("a") is p["a"]
    assert (
        list(reversed(p)) == ["q", "a"]
        and p.popitem()[0] == "q"
        and list(p.fromkeys("xy", torch.ones(1))) == ["x", "y"]
    )
    both = p | nn.ParameterDict({"r": torch.ones(1)})
    assert list(both) == ["a", "r"] and both["a"] is p["a"] and list(p.copy()) == ["a"]
    p |= both
    assert list(p) == ["a", "r"]
    p.clear()
    assert len(p) == 0 and not list(p.parameters())


def test_modules_take_types_by_pytorchs_old_names():
    m = nn.Linear(1, 1).type(torch.DoubleTensor)
    assert m.weight.dtype is torch.float64 and m.type(torch.float32).weight.dtype is torch.float32


def test_a_hook_before_loading_does_not_keep_its_module_alive():
    gc.disable()
    try:
        layer = nn.Linear(2, 2)
        layer.register_load_state_dict_pre_hook(lambda module, *rest: None)
        reference = weakref.ref(layer)
        del layer
        assert reference() is None
    finally:
        gc.enable()


def test_a_hook_before_loading_of_a_copy_is_called_with_the_copy():
    seen = []
    layer = nn.Linear(2, 2)
    layer.register_load_state_dict_pre_hook(lambda module, state_dict, prefix, *rest: seen.append((module, prefix)))
    copied = copy.deepcopy(layer)
    nn.Sequential(copied).load_state_dict({"0.weight": torch.ones(2, 2), "0.bias": torch.ones(2)})
    assert seen == [(copied, "0.")]


def test_loading_leaves_no_reference_cycle():
    lstm = nn.LSTM(3, 3, bidirectional=True)
    state = copy.deepcopy(lstm).state_dict()
    gc.collect()
    gc.disable()
    try:
        lstm.load_state_dict(state)
        assert gc.collect() == 0
    finally:
        gc.enable()


@pytest.mark.parametrize(
    "query, masks, sentence",  # PyTorch's
    [
        (
            (3, 4),
            {"key_padding_mask": (2, 3)},
            "For unbatched (2-D) `query`, expected `key_padding_mask` to be `None` or 1-D but found 2-D tensor instead",
        ),
        (
            (3, 2, 4),
            {"key_padding_mask": (3,)},
            "For batched (3-D) `query`, expected `key_padding_mask` to be `None` or 2-D but found 1-D tensor instead",
        ),
        (
            (3, 2, 4),
            {"attn_mask": (3,)},
            "For batched (3-D) `query`, expected `attn_mask` to be `None`, 2-D or 3-D but found 1-D tensor instead",
        ),
        ((3, 4), {"attn_mask": (1, 3, 3)}, "Expected `attn_mask` shape to be (2, 3, 3) but got torch.Size([1, 3, 3])"),
    ],
)
def test_attention_says_which_shape_a_mask_must_have(query, masks, sentence):
    x = torch.ones(*query)
    with pytest.raises(AssertionError) as error:
        nn.MultiheadAttention(4, 2)(x, x, x, **{name: torch.zeros(*shape) for name, shape in masks.items()})
    assert str(error.value) == sentence


@pytest.mark.parametrize(
    "wrong, sentence",  # PyTorch's
    [
        (lambda x: (x, x), "parametrization.right_inverse must return a tensor. Got: tuple"),
        (
            lambda x: x.bool(),
            "The tensor returned by parametrization.right_inverse must have the same dtype as module.weight, unless the `unsafe` flag is enabled.\nmodule.weight.dtype: torch.float32\nreturned dtype: torch.bool",
        ),
        (
            lambda x: x[:-1],
            "The tensor returned by parametrization.right_inverse must have the same shape as module.weight, unless the `unsafe` flag is enabled.\nmodule.weight.shape: torch.Size([4, 3])\nreturned shape: torch.Size([3, 3])",
        ),
    ],
)
def test_a_second_parametrization_has_a_right_inverse_that_fits(wrong, sentence):
    class Same(nn.Module):
        def forward(self, x):
            return x

    class Wrong(Same):
        def right_inverse(self, x):
            return wrong(x)

    register, layer = nn.utils.parametrize.register_parametrization, nn.Linear(3, 4)
    register(layer, "weight", Same())
    with pytest.raises(ValueError) as error:
        register(layer, "weight", Wrong())
    assert str(error.value) == sentence and len(layer.parametrizations.weight) == 1
    register(layer, "weight", Wrong(), unsafe=True)
    assert len(layer.parametrizations.weight) == 2
