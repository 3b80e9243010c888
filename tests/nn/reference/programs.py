"""Programs whose answers real PyTorch gives (record.py: `program`). One entry adds a test; then run make.py."""
# ruff: noqa: E501  (a call is one line)

def _errors(*calls: str) -> str:
    return "o = torch.ones\n" + "\n".join(f"attempt(lambda: {call})" if call[:2] != "! " else call[2:] for call in calls)


PROGRAMS = {
    "errors of unfold": _errors(
        "F.unfold(o(1,1,2,2),3)",
        "F.unfold(o(1,1,3,3),2,dilation=0)",
        "F.unfold(o(0,1,4,4),2).shape",
        "F.unfold(o(1,1,3,3),2,stride=0)",
        "F.unfold(o(1,1,3,3),0)",
        "F.unfold(o(1,1,3,3),2,padding=-1)",
        "F.unfold(o(3),2)",
        "F.unfold(o(1,1,0,3),2)",
        "F.unfold(o(1,0,3,3),2)",
    ),
    "errors of fold": _errors(
        "F.fold(o(1,12,9),(4,6),(2,3))",
        "F.fold(o(1,11,9),(4,5),(2,3))",
        "F.fold(o(12),(4,5),(2,3))",
        "F.fold(o(1,12,9),(4,5),(2,3),dilation=0)",
        "F.fold(o(1,12,0),(4,5),(2,3))",
        "F.fold(o(1,12,9),(1,1),(2,3))",
        "F.fold(o(1,12,9),(4,5),(2,3),stride=0)",
        "F.fold(o(1,12,9),(4,5),(2,3),padding=-1)",
        "F.fold(o(0,12,12),(4,5),(2,3)).shape",
    ),
    "errors of distances": _errors(
        "F.cosine_embedding_loss(o(3,2),o(3,2),o(2))",
        "F.cosine_embedding_loss(o(3,2),o(4,2),o(3))",
        "F.cosine_embedding_loss(o(3,2),o(3,2),o(3,1))",
        "F.cosine_embedding_loss(o(2),o(2),o(1))",
        "F.cosine_embedding_loss(o(2),o(2),o(()))",
        "F.cosine_embedding_loss(o(2,3,4),o(2,3,4),o(2))",
        "F.cosine_similarity(o(3,2),o(4,2))",
        "F.pairwise_distance(o(3,2),o(4,2))",
        "F.triplet_margin_loss(o(3,2),o(4,2),o(3,2))",
        "F.triplet_margin_loss(o(3,2),o(3,2),o(2))",
    ),
    "errors of norms, cells, clipping": _errors(
        "nn.GroupNorm(4,4)(o(1,4))",
        "nn.GroupNorm(2,4)(o(1,4))",
        "nn.GroupNorm(4,4)(o(2,4))",
        "F.group_norm(o(4),2)",
        "F.group_norm(o(1,3),2)",
        "F.group_norm(o(2,4,2),2,o(3))",
        "nn.LSTMCell(3,0)(o(2,3))",
        "nn.LSTM(3,0)",
        "nn.LSTM(0,3)(o(2,0))[0].shape",
        "! p=o(2,requires_grad=True); p.grad=o(2)*0",
        "nn.utils.clip_grad_norm_([p],1,0)",
        "! p.grad=torch.tensor([0.,3.])",
        "(nn.utils.clip_grad_norm_([p],.5,0),p.grad)",
        "nn.utils.clip_grad_norm_([p],.5,-float('inf'))",
        "nn.utils.clip_grad_norm_([p],.5,-1)",
    ),
    "errors of convolutions": _errors(
        "F.conv2d(o(1,2,3,3),o(3,2,2,2),stride=0)",
        "F.conv2d(o(1,2,3,3),o(3,2,2,2),padding=-1)",
        "F.conv2d(o(1,2,3,3),o(3,2,2,2),dilation=0)",
        "F.conv2d(o(1,2,3,3),o(3,2,2))",
        "F.conv2d(o(1,2,3,3),o(3,2,2,2),groups=0)",
        "F.conv2d(o(1,4,3,3),o(3,2,2,2),groups=2)",
        "F.conv2d(o(1,2,3,3),o(3,2,2,2),stride=(1,2,3))",
        "F.conv2d(o(1,2,3,3),o(3,2,2,2),stride=(1,)).shape",
        "F.conv2d(o(0,2,3,3),o(3,2,2,2)).shape",
        "F.conv2d(o(1,2,3,3),o(0,2,2,2)).shape",
        "F.conv_transpose2d(o(1,2,3,3),o(3,2,2,2))",
        "F.conv_transpose2d(o(1,2,3,3),o(2,2,2,2),padding=5)",
        "F.conv_transpose2d(o(1,2,3,3),o(2,2,2,2),o(3))",
    ),
    "errors of pooling": _errors(
        "F.max_pool2d(o(1,2,3,3),(1,2,3))",
        "F.max_pool2d(o(1,2,3,3),2,stride=(1,2,3))",
        "F.max_pool2d(o(1,2,3,3),2,stride=0)",
        "F.max_pool2d(o(1,2,3,3),0)",
        "F.max_pool2d(o(1,2,3,3),2,dilation=0)",
        "F.max_pool2d(o(1,2,3,3),2,padding=-1)",
        "F.max_pool2d(o(3,3),2)",
        "F.avg_pool2d(o(3,3),2)",
        "F.avg_pool2d(o(1,2,3,3),2,stride=())",
        "F.avg_pool2d(o(1,2,3,3),(1,2,3))",
        "F.avg_pool2d(o(1,2,3,3),2,stride=0)",
        "F.avg_pool2d(o(1,2,3,3),4)",
        "F.max_pool2d(o(1,2,3,3),4)",
        "F.max_pool1d(o(1,2,3),4)",
        "F.max_pool1d(o(3),4)",
        "F.max_pool1d(o(1,2,3),2,stride=0)",
        "F.max_pool1d(o(1,2,3),2,padding=2)",
        "F.avg_pool1d(o(3),4)",
        "F.max_pool2d(o(1,0,3,3),2).shape",
        "F.max_pool2d(o(1,1,0,3),2).shape",
        "F.max_pool2d(o(0,1,3,3),2).shape",
        "F.max_pool3d(o(3,3),2)",
        "F.avg_pool3d(o(3,3),2)",
        "F.max_pool2d(o(1,2,3,3),2,padding=2)",
        "F.avg_pool2d(o(1,2,3,3),2,padding=2)",
        "F.adaptive_avg_pool2d(o(3,3),2)",
        "F.adaptive_avg_pool2d(o(1,1,3,3),(1,2,3))",
        "F.adaptive_max_pool2d(o(3,3),2)",
        "F.adaptive_avg_pool1d(o(3),2)",
        "F.adaptive_max_pool2d(o(1,1,3,3),(1,2,3))",
        "F.adaptive_max_pool1d(o(3),2)",
        "F.adaptive_avg_pool2d(o(1,2,0,3),2)",
    ),
    "version of a parameter after _apply": """
m = nn.Linear(2, 2); before = m.weight._version
m._apply(lambda t: t.add_(1))
show(m.weight._version - before)
m.weight.grad = torch.ones(2, 2); g = m.weight.grad
m.double(); show(m.weight.grad is g, m.weight.grad.dtype)
""",
    "state of BatchNorm of version 1": """
s = nn.BatchNorm1d(2).state_dict(); del s["num_batches_tracked"]; s._metadata[""]["version"] = 1
m = nn.BatchNorm1d(2); show(m.load_state_dict(s), m.num_batches_tracked)
s = nn.Sequential(nn.BatchNorm1d(2)).state_dict(); del s["0.num_batches_tracked"]
attempt(lambda: nn.Sequential(nn.BatchNorm1d(2)).load_state_dict(s))
show(nn.Sequential(nn.BatchNorm1d(2)).load_state_dict({k: v for k, v in s.items()}))
""",
    "conv_transpose2d with output_padding beyond the stride": """
x, w, b = seeded(1, 2, 4, 5).requires_grad_(), seeded(2, 1, 3, 2).requires_grad_(), seeded(1).requires_grad_()
y = F.conv_transpose2d(x, w, b, stride=(3, 2), padding=1, output_padding=(2, 3), dilation=4)
show(y); y.backward(seeded(*y.shape)); show(x.grad, w.grad, b.grad)
""",
    "empty batches": """
w = seeded(3, 2, 2, 2).requires_grad_()
x = torch.ones(0, 2, 3, 3, dtype=torch.float64, requires_grad=True)
y = F.conv2d(x, w); show(y); y.sum().backward(); show(w.grad, x.grad)
y = F.conv_transpose2d(torch.ones(0, 3, 2, 2, dtype=torch.float64), w); show(y)
""",
    "step replaced after the scheduler": """
o = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
s = torch.optim.lr_scheduler.StepLR(o, 1)
old = o.step
o.step = lambda closure=None: old()
o.step(); s.step(); s.step()
""",
    "state_dict hooks": """
m = nn.Sequential(nn.Linear(1, 1), nn.ReLU())
a = m.register_state_dict_pre_hook(lambda module, prefix, keep_vars: show("pre", prefix, keep_vars))
m[0].register_state_dict_post_hook(lambda module, d, prefix, meta: (show("post", list(d), prefix, meta), None)[1])
m.register_state_dict_post_hook(lambda module, d, prefix, meta: d.__setitem__("more", 1))
show(list(m.state_dict())); a.remove(); show(list(m.state_dict(prefix="x.")))
m.register_state_dict_post_hook(lambda *a: 1); attempt(m.state_dict)
m._register_state_dict_hook(lambda module, d, prefix, meta: {"own": 1})
m = nn.Sequential(nn.Linear(1, 1)); m._register_state_dict_hook(lambda module, d, prefix, meta: {"own": 1}); show(m.state_dict())
""",
    "load_state_dict hooks": """
m = nn.Sequential(nn.Linear(1, 1))
def rename(module, d, prefix, meta, strict, missing, unexpected, errors):
    show(type(module).__name__, prefix, strict)
    d[prefix + "weight"] = d.pop(prefix + "w")
m[0].register_load_state_dict_pre_hook(rename)
m.register_load_state_dict_post_hook(lambda module, keys: keys.missing_keys.clear())
show(m.load_state_dict({"0.w": torch.ones(1, 1)}, strict=False), m[0].weight)
m[0].register_load_state_dict_post_hook(lambda module, keys: 1)
attempt(lambda: m.load_state_dict({"0.w": torch.ones(1, 1)}, strict=False))
""",
    "hooks of every module": """
R = nn.modules.module
seen = []
handles = [
    R.register_module_forward_pre_hook(lambda m, x: seen.append(("pre", type(m).__name__))),
    R.register_module_forward_hook(lambda m, x, y: y * 2 if isinstance(m, nn.ReLU) else None),
    R.register_module_forward_hook(lambda m, x, k, y: seen.append(("kwargs", k)), with_kwargs=True),
    R.register_module_full_backward_pre_hook(lambda m, go: seen.append(("backward pre", type(m).__name__))),
    R.register_module_full_backward_hook(lambda m, gi, go: seen.append(("backward", type(m).__name__, [tuple(g.shape) for g in gi]))),
]
m = nn.Sequential(nn.ReLU(), nn.Tanh()).double()
m.register_forward_pre_hook(lambda m, x: seen.append("own"))
x = seeded(3).requires_grad_()
m(x).sum().backward(); show(seen, x.grad)
attempt(lambda: R.register_module_backward_hook(lambda *a: None))
for h in handles: h.remove()
n = len(seen); m(x); show(len(seen) - n)
h = R.register_module_parameter_registration_hook(lambda m, name, p: nn.Parameter(p.detach(), requires_grad=False) if name == "bias" else None)
l = nn.Linear(2, 2); show(l.bias.requires_grad, l.weight.requires_grad); h.remove()
names = []
hs = [R.register_module_buffer_registration_hook(lambda m, name, b: names.append(name)),
      R.register_module_module_registration_hook(lambda m, name, c: names.append(name))]
nn.Sequential(nn.BatchNorm1d(1)); show(names)
for h in hs: h.remove()
""",
}
