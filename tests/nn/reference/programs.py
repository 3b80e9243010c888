"""Programs whose answers real PyTorch gives (record.py: `program`). One entry adds a test; then run make.py."""
# ruff: noqa: E501  (a call is one line)


def _errors(*calls: str) -> str:
    return "o = torch.ones\n" + "\n".join(
        f"attempt(lambda: {call})" if call[:2] != "! " else call[2:] for call in calls
    )


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
    "errors of losses and attention (float32)": _errors(
        "F.multi_margin_loss(o(5, 10), torch.zeros(1, 5).long())",
        "F.multi_margin_loss(o(10), torch.zeros(4).long())",
        "F.multi_margin_loss(o(5, 0), torch.zeros(5).long())",
        "F.multi_margin_loss(o(5, 2), torch.zeros(5).long() + 3)",
        "F.multi_margin_loss(o(5, 2), torch.zeros(5).long(), weight=o(3))",
        "F.multilabel_margin_loss(o(2, 3), o(3).long())",
        "F.multilabel_margin_loss(o(2, 3), o(2, 3).long() * 5)",
        "F.soft_margin_loss(o(5), o(5, 5))",
        *[
            f"F.ctc_loss(o(6, 2, 4), {targets}, {a}, {b})"
            for targets, a, b in [
                ("o(1, 2, 3).long()", (6, 6), (1, 1)),
                ("torch.tensor(1)", (6, 6), (1, 1)),
                ("o(3, 2).long()", (6, 6), (1, 1)),
                ("o(2, 1).long()", (6, 6), (2, 1)),
                ("o(5).long()", (6, 6), (2, 1)),
                ("o(2, 1).long()", (6, 6), (-1, 1)),
                ("o(2, 1).long()", (-6, 6), (1, 1)),
            ]
        ],
        "F.ctc_loss(o(1, 6, 2, 4), o(2, 1).long(), (6, 6), (1, 1))",
        "F.ctc_loss(o(6, 2, 4), o(2, 1).long(), (6, 6), (1, 1), blank=9)",
        "F.nll_loss(o(5, 4), torch.tensor(1))",
        "F.nll_loss(o(5, 4), o(1, 5).long())",
        "F.cross_entropy(o(2, 3), o(2, 1).long())",
        "nn.MultiheadAttention(4, 2)(o(3, 2, 4), o(3, 4), o(3, 4))",
        "nn.MultiheadAttention(4, 2)(o(3, 4), o(3, 4), o(3, 5))",
        "F.bilinear(o(2), o(()), o(1, 2, 1))",
        "F.pad(o(3, 4, 0), (1, 1), mode='replicate')",
        "nn.CircularPad1d(1)(o(4))",
        "F.conv_transpose1d(o(1, 2, 0), o(2, 1, 2))",
        "F.adaptive_avg_pool2d(o(0, 3, 5, 6), 2)",
        "F.adaptive_max_pool2d(o(0, 3, 5, 6), 2)[0]",
        "F.avg_pool2d(o(0, 3, 6, 6), 2)",
        "F.instance_norm(o(0, 3, 15))",
        "F.multilabel_soft_margin_loss(o(10), o(5, 10))",
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
    "steps that can be differentiated (corrections in float32)": """
lr = torch.tensor(0.1, dtype=torch.float64, requires_grad=True)
for make, rate in [("SGD", lr), ("SGD", 0.1), ("Adam", lr), ("AdamW", lr), ("RMSprop", 0.1), ("Adagrad", 0.1), ("Adadelta", 0.1),
                   ("Adamax", 0.1), ("NAdam", 0.1), ("RAdam", 0.1), ("ASGD", 0.1), ("Rprop", 0.1)]:
    options = {} if make == "Rprop" else {"weight_decay": 0.1}
    leaf, g = seeded(3).requires_grad_(), (seeded(3) * 2 + 1).requires_grad_()
    p = leaf.clone(); p.grad = g
    o = getattr(torch.optim, make)([p], lr=rate, differentiable=True, **options); o.step()
    wanted = [leaf, g] + ([lr] if rate is lr else [])
    show(make, p, torch.autograd.grad((p ** 3).sum(), wanted, allow_unused=True))
attempt(lambda: torch.optim.SGD([torch.ones(2, requires_grad=True).clone()]))
p = torch.ones(2, requires_grad=True); p.grad = torch.ones(2)
attempt(torch.optim.SGD([p], differentiable=True).step)
""",
    "flags of optimisers": """
def one(make, **options):
    p = torch.ones(2, requires_grad=True); p.grad = torch.ones(2)
    o = getattr(torch.optim, make)([p], **options); o.step(); return p
def refused(call):
    try: call()
    except AssertionError: return True
for make in ("SGD", "Adam", "AdamW", "Adagrad"):
    attempt(lambda: one(make, fused=True)); attempt(lambda: one(make, fused=True, foreach=True))
    attempt(lambda: one(make, fused=True, differentiable=True))
for make in ("Adam", "RMSprop", "Adadelta", "NAdam", "ASGD", "Rprop"):
    attempt(lambda: one(make, foreach=True)); show(refused(lambda: one(make, capturable=True)))
attempt(lambda: one("Adam", lr=torch.ones(2))); attempt(lambda: one("Adam", lr=torch.tensor(0.1), foreach=True))
attempt(lambda: one("Adam", betas=(0.9, torch.tensor(0.9)))); attempt(lambda: one("Adam", betas=(torch.tensor(0.9), torch.tensor(0.99))))
attempt(lambda: one("Muon")); attempt(lambda: one("Adafactor", d=0.5)); attempt(lambda: one("Rprop", etas=(1.5, 2))); attempt(lambda: one("NAdam", momentum_decay=-1))
""",
    "hooks of optimisers": """
p = torch.ones(2, requires_grad=True); p.grad = torch.ones(2)
o = torch.optim.SGD([p], lr=0.5, momentum=0.9)
from importlib import import_module
from_everywhere = import_module(torch.__name__ + ".optim.optimizer")
h = [from_everywhere.register_optimizer_step_pre_hook(lambda opt, a, k: show("every pre")),
     from_everywhere.register_optimizer_step_post_hook(lambda opt, a, k: show("every post"))]
o.register_step_pre_hook(lambda opt, a, k: show("pre", len(a), k)); o.register_step_post_hook(lambda opt, a, k: show("post"))
o.step(); [x.remove() for x in h]; o.step()
o.register_state_dict_pre_hook(lambda opt: show("state pre"))
o.register_state_dict_post_hook(lambda opt, d: d["state"].clear())
o.register_state_dict_post_hook(lambda opt, d: {**d, "first": True}, prepend=True)
d = o.state_dict(); show(d)
d.pop("first", None); d["state"] = {0: {"momentum_buffer": torch.ones(2) * 7}}
o.register_load_state_dict_pre_hook(lambda opt, d: {**d, "param_groups": [{**d["param_groups"][0], "lr": 0.25}]})
o.register_load_state_dict_post_hook(lambda opt: show("loaded"))
o.load_state_dict(d); show(o.param_groups[0]["lr"], o.state[p]["momentum_buffer"])
""",
    "averaged models (weights in float32)": """
from_swa = torch.optim.swa_utils
m = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)).double()
for i, p in enumerate(m.parameters()): p.data = seeded(*p.shape) + i
for make in (dict(), dict(use_buffers=True), dict(avg_fn=from_swa.get_ema_avg_fn(0.9)), dict(multi_avg_fn=from_swa.get_ema_multi_avg_fn(0.9)),
             dict(multi_avg_fn=from_swa.get_swa_multi_avg_fn()), dict(avg_fn=lambda a, c, n: a + n * c)):
    a = from_swa.AveragedModel(m, **make)
    saved = [p.data.clone() for p in m.parameters()]
    for step in range(3):
        for p in m.parameters(): p.data = p.data * 1.5 - step
        m(seeded(4, 2)); a.update_parameters(m)
    show(list(a.state_dict()), list(a.state_dict().values()))
    from_swa.update_bn([seeded(4, 2), [seeded(6, 2)]], a)
    show(a.module[1].running_mean, a.module[1].momentum, a(seeded(4, 2)))
    for p, s in zip(m.parameters(), saved): p.data = s
attempt(lambda: from_swa.AveragedModel(m, avg_fn=1, multi_avg_fn=2)); attempt(lambda: from_swa.get_ema_avg_fn(2.0))
""",
    "Muon, to two digits": """
p = seeded(3, 4).requires_grad_()
o = torch.optim.Muon([p], lr=0.1)
for step in range(3): p.grad = seeded(3, 4) * (step + 1); o.step()
show((p * 20).round(), list(o.state[p]))
attempt(lambda: torch.optim.Muon([torch.ones(2, requires_grad=True)]))
""",
    "ctc_loss": """
x = seeded(6, 2, 4).log_softmax(2).detach().requires_grad_()
for options in (dict(), dict(reduction="sum", blank=2), dict(reduction="none")):
    for lengths in ((3, 2), (1, 0)):
        loss = F.ctc_loss(x, torch.tensor([[1, 3, 3], [3, 1, 0]]), (6, 4), lengths, **options)
        show(loss, torch.autograd.grad(loss.sum(), x))
loss = F.ctc_loss(x[:, 0], torch.tensor([1, 3]), torch.tensor(6), torch.tensor(2), reduction="none"); show(loss)
show(F.ctc_loss(x[:2], torch.tensor([[1, 3, 3], [3, 1, 0]]), (2, 2), (3, 2)))
attempt(lambda: F.ctc_loss(x, torch.tensor([[1], [1]]), (7, 4), (1, 1)))
attempt(lambda: F.ctc_loss(x, torch.tensor([[1], [1]]), (6,), (1, 1)))
""",
    "grid_sample": """
for n in (2, 3):
    x = seeded(2, 2, *(3, 4, 2)[:n]).requires_grad_()
    g = (seeded(2, *(2, 3, 2)[:n], n) * 0.9).requires_grad_()
    for mode in ("bilinear", "nearest") + (("bicubic",) if n == 2 else ()):
        for pad in ("zeros", "border", "reflection"):
            for corners in (False, True):
                y = F.grid_sample(x, g, mode, pad, corners)
                grads = torch.autograd.grad(y, (x, g), seeded(*y.shape), allow_unused=True)
                show(y, grads[0], 0.0 if grads[1] is None else grads[1].abs().sum())
attempt(lambda: F.grid_sample(torch.ones(1, 1, 2, 2), torch.ones(2, 2, 2, 2), align_corners=False))
attempt(lambda: F.grid_sample(torch.ones(1, 1, 2, 2), torch.ones(1, 2, 2, 3), align_corners=False))
attempt(lambda: F.grid_sample(torch.ones(1, 2, 2), torch.ones(1, 2, 2), align_corners=False))
attempt(lambda: F.grid_sample(torch.ones(1, 1, 2, 2), torch.ones(1, 2, 2, 2), mode="cubic"))
""",
    "affine_grid": """
t = seeded(2, 2, 3).requires_grad_()
for corners in (False, True):
    y = F.affine_grid(t, (2, 1, 3, 4), align_corners=corners); show(y, torch.autograd.grad(y, t, seeded(*y.shape)))
show(F.affine_grid(seeded(1, 3, 4), (1, 1, 2, 1, 2), align_corners=False))
attempt(lambda: F.affine_grid(torch.ones(1, 3, 3), (1, 1, 2, 2), align_corners=False))
attempt(lambda: F.affine_grid(torch.ones(1, 2, 3), (1, 1, 2), align_corners=False))
attempt(lambda: F.affine_grid(torch.ones(1, 2, 3), (1, 1, 0, 2), align_corners=False))
""",
    "pdist and friends": """
x = seeded(4, 3).requires_grad_()
for p in (1.0, 2.0, 3.0, float("inf")):
    y = F.pdist(x, p); show(y, torch.autograd.grad(y.sum(), x))
attempt(lambda: F.pdist(torch.ones(2))); attempt(lambda: F.pdist(torch.ones(2, 2), -1))
for f in (F.leaky_relu_, F.elu_, F.selu_, F.celu_, F.hardtanh_, lambda t: F.threshold_(t, 0.1, 3.0), F.rrelu_):
    t = x.detach().clone(); show(f(t) is t, t)
show(F.channel_shuffle(seeded(1, 4, 2), 2)); attempt(lambda: F.channel_shuffle(torch.ones(1, 4, 2), 3)); attempt(lambda: F.channel_shuffle(torch.ones(4, 2), 2))
""",
    "parametrize": """
from importlib import import_module
P = import_module(torch.__name__ + ".nn.utils.parametrize")
class Symmetric(nn.Module):
    def forward(self, X): return X.triu() + X.triu(1).transpose(-1, -2)
    def right_inverse(self, A): return A.triu()
class Twice(nn.Module):
    def forward(self, X): return 2 * X
m = nn.Linear(3, 3, bias=False).double(); m.weight.data = seeded(3, 3)
P.register_parametrization(m, "weight", Symmetric()); show(m.weight, list(m.state_dict()), type(m).__name__, m)
m.weight = torch.ones(3, 3, dtype=torch.float64); show(m.parametrizations.weight.original)
m(seeded(2, 3)).sum().backward(); show(m.parametrizations.weight.original.grad)
P.register_parametrization(m, "weight", Twice()); show(m.weight, P.is_parametrized(m), P.is_parametrized(m, "bias"), P.type_before_parametrizations(m).__name__)
def assign(): m.weight = torch.ones(3, 3, dtype=torch.float64)
attempt(assign)
with P.cached(): show(m.weight is m.weight)
show(m.weight is m.weight)
other = nn.Linear(3, 3, bias=False).double(); P.transfer_parametrizations_and_params(m, other); show(other.weight)
P.remove_parametrizations(m, "weight"); show(m.weight, list(m.state_dict()), type(m).__name__, m.weight.is_leaf)
attempt(lambda: P.remove_parametrizations(m, "weight")); attempt(lambda: P.register_parametrization(m, "none", Twice()))
class Wider(nn.Module):
    def forward(self, X): return X[:1]
attempt(lambda: P.register_parametrization(m, "weight", Wider()))
""",
    "weight_norm and spectral_norm": """
U = nn.utils
Q = U.parametrizations
for dim in (0, 1, None):
    m = nn.Linear(3, 2).double(); m.weight.data = seeded(2, 3)
    Q.weight_norm(m, dim=dim); m(seeded(1, 3)).sum().backward()
    show(list(m.state_dict()), m.weight, m.parametrizations.weight.original0, [p.grad for p in m.parameters()])
    m = nn.Linear(3, 2).double(); m.weight.data = seeded(2, 3)
    U.weight_norm(m, dim=dim); m(seeded(1, 3)).sum().backward(); show(list(m.state_dict()), m.weight, [p.grad for p in m.parameters()])
    U.remove_weight_norm(m); show(list(m.state_dict()), m.weight); attempt(lambda: U.remove_weight_norm(m))
for make, x in ((lambda: nn.Linear(4, 3), seeded(2, 4)), (lambda: nn.ConvTranspose1d(3, 2, 2), seeded(2, 3, 4))):
    for norm in (Q.spectral_norm, U.spectral_norm):
        m = norm(make().double(), n_power_iterations=200)
        for p in m.parameters(): p.data = seeded(*p.shape)
        out = m(x); out.sum().backward(); show(list(m.state_dict()), out, [p.grad for p in m.parameters()]); m.eval(); show(m(x))
m = nn.Linear(2, 2); U.spectral_norm(m); attempt(lambda: U.spectral_norm(m)); U.remove_spectral_norm(m); attempt(lambda: U.remove_spectral_norm(m)); show(list(m.state_dict()))
attempt(lambda: Q.spectral_norm(nn.ReLU())); attempt(lambda: Q.spectral_norm(nn.Linear(2, 2), n_power_iterations=0)); attempt(lambda: Q.spectral_norm(nn.Linear(2, 2), dim=5))
""",
    "sequences of different lengths": """
R = nn.utils.rnn
parts = [seeded(3, 2), seeded(1, 2), seeded(2, 2)]
for first in (False, True):
    padded = R.pad_sequence(parts, first, 7.0); show(padded); show(R.unpad_sequence(padded.clone(), torch.tensor([3, 1, 2]), first))
show(R.pad_sequence(parts, padding_side="left"))
""",
    "SyncBatchNorm": """
m = nn.Sequential(nn.BatchNorm1d(2), nn.Sequential(nn.BatchNorm2d(3)))
s = nn.SyncBatchNorm.convert_sync_batchnorm(m); show(s, s[0].weight is m[0].weight, list(s.state_dict()))
""",
    "losses of ignored targets and empty batches": """
for f in (F.cross_entropy, F.nll_loss):
    x = torch.ones(2, 3, requires_grad=True); loss = f(x, torch.tensor([1, 1]), ignore_index=1); loss.backward(); show(loss, x.grad)
m = nn.BatchNorm1d(2, momentum=0.3); show(m(torch.ones(0, 2, 3)), m.running_mean, m.running_var)
show(F.prelu(torch.tensor(-2.0), torch.tensor([0.25])))
show(F.gaussian_nll_loss(seeded(4, 3), seeded(4, 3), torch.ones(1, 3)))
""",
    "fractional pooling": """
for d, s in ((2, torch.tensor([[[0.1, 0.9], [0.6, 0.4]]])), (3, torch.tensor([[[0.1, 0.9, 0.3], [0.6, 0.4, 0.7]]]))):
    f, layer, z = getattr(F, f"fractional_max_pool{d}d"), getattr(nn, f"FractionalMaxPool{d}d"), torch.ones(1, 2, *[7] * d)
    x = ((torch.arange(2. * 7 ** d) * 37) % 101).reshape(1, 2, *[7] * d).requires_grad_()
    for size in (3, 1, 0, (2, 4, 3)[:d]):
        out, where = f(x, 2, size, None, True, s)
        attempt(lambda: (out, where, torch.autograd.grad((out * out).sum(), x)[0]))
    attempt(lambda: f(x[0], 3, 2, _random_samples=s))
    attempt(lambda: f(x.new_zeros(0, 2, *[7] * d), 2, 3).shape)
    attempt(lambda: layer(2, output_ratio=0.5)(z).shape)
    attempt(lambda: layer(2, 2)(z * float("nan")))
    attempt(lambda: repr(layer(2, 2)))
    for wrong in ((), (1,), (1,) * (d + 1)):
        attempt(lambda: f(z, wrong, 3, _random_samples=s))
        attempt(lambda: f(z, 2, wrong, _random_samples=s))
    for i in range(d):
        attempt(lambda: f(z, 2, [9 if i == j else 3 for j in range(d)], _random_samples=s))
        attempt(lambda: f(z, 2, [6 if i == j else 3 for j in range(d)], _random_samples=s).shape)
    attempt(lambda: f(z, 2))
    attempt(lambda: layer(2))
    attempt(lambda: layer(2, 3, 0.5))
    attempt(lambda: layer(2, output_ratio=1.5))
    attempt(lambda: f(z, 2, -1, _random_samples=s))
    attempt(lambda: f(z[0, 0, 0], 2, 3, _random_samples=s))
    attempt(lambda: f(z[:, :0], 2, 3, _random_samples=s))
    for wrong in (s[:0], s[:, :1], s[:, :, :1], s[0], s.double()):
        attempt(lambda: f(z, 2, 3, _random_samples=wrong))
""",
    "adaptive pooling to impossible sizes": """
for d in (1, 2, 3):
    for f in (getattr(F, f"adaptive_avg_pool{d}d"), getattr(F, f"adaptive_max_pool{d}d")):
        x = torch.ones(1, 2, *[4] * d)
        attempt(lambda: f(x, 0).shape)
        attempt(lambda: f(x, -1))
        attempt(lambda: f(x, 2**62 - 1))
""",
    "pooling under its second name": """
for d in (1, 2, 3):
    x = ((torch.arange(6. ** d) * 37) % 101).reshape(1, 1, *[6] * d)
    attempt(lambda: getattr(F, f"max_pool{d}d_with_indices")(x, 2, stride=3))
    attempt(lambda: getattr(F, f"max_pool{d}d_with_indices")(x, 6, stride=2, dilation=2))
""",
    "gradients of convolutions": """
grads = torch.nn.grad
for d in (1, 2, 3):
    for stride, padding, dilation, groups in ((1, 0, 1, 1), (2, 1, 1, 2), (2, (1, 0, 2)[:d], 2, 1)):
        x = ((torch.arange(8. * 6 ** d) * 37) % 11).reshape(2, 4, *[6] * d)
        w = ((torch.arange(6. * (4 // groups) * 2 ** d) * 37) % 13).reshape(6, 4 // groups, *[2] * d)
        out = getattr(F, f"conv{d}d")(x, w, None, stride, padding, dilation, groups)
        g = (torch.arange(float(out.numel())) % 7).reshape(out.shape)
        attempt(lambda: getattr(grads, f"conv{d}d_input")(x.shape, w, g, stride, padding, dilation, groups))
        attempt(lambda: getattr(grads, f"conv{d}d_weight")(x, w.shape, g, stride, padding, dilation, groups))
""",
    "ctc_loss of samples without input": """
x = ((torch.arange(60.) * 37) % 11 / 5).reshape(5, 3, 4).log_softmax(2)
for reduction in ("none", "mean", "sum"):
    for zero in (False, True):
        for times, lengths in (([0, 0, 0], [0, 0, 0]), ([0, 5, 5], [0, 2, 3]), ([0, 0, 5], [2, 0, 3])):
            y = x.detach().clone().requires_grad_()
            labels = torch.tensor([1, 2, 3, 1, 2, 3])[:sum(lengths)]
            loss = F.ctc_loss(y, labels, torch.tensor(times), torch.tensor(lengths), 0, reduction, zero)
            loss.sum().backward()
            attempt(lambda: (loss, y.grad))
""",
    "losses and strides of nothing": """
for shape in ((5, 0), (0, 5), (5, 0, 2)):
    attempt(lambda: F.cross_entropy(torch.ones(shape), torch.ones(shape)))
    attempt(lambda: F.cross_entropy(torch.ones(shape), torch.ones(shape), reduction="sum"))
    x = torch.zeros(shape, dtype=torch.double, requires_grad=True)
    attempt(lambda: (x.stride(), torch.autograd.gradcheck(lambda x: x * 2, x)))
""",
}
