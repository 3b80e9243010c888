"""The order of hooks and captures, what hooks may return, what nodes save and hand out, and the arguments of backward and grad."""

# ruff: noqa: E501  (a case is one line)
from .case import A, Case

X = {"x": A([1.0, 2.0])}
S = {"x": A(2.0)}
WATCHED = (  # every kind of hook on the leaf x, writing its name to seen
    "seen = []; acc = x.view_as(x).grad_fn.next_functions[0][0]; acc.register_prehook(lambda g: seen.append('pre')); "
    "acc.register_hook(lambda i, o: seen.append(('post', i, o))); x.register_hook(lambda g: seen.append('tensor') or g * 5); "
    "x.register_post_accumulate_grad_hook(lambda t: seen.append('accumulated')); "
)
PRE = "z = x * 2; z.grad_fn.register_prehook({}); z.sum().backward(); x.grad"
POST = "z = x * 2; z.grad_fn.register_hook({}); z.sum().backward(); x.grad"
BOTH = "a, b = (x * 1).unbind(); seen = []; "
CLASS = """class G(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): ctx.save_for_backward(x); return x * 2
    @staticmethod
    def backward(ctx, g): {}; return g * 2
"""

UNDEFINED = """class U(torch.autograd.Function):
    @staticmethod
    def forward(ctx, t): return t.clone()
    @staticmethod
    def backward(ctx, g): return None
"""
CHECKPOINT = "import sys; utils = sys.modules[torch.nn.Module.__module__.split('.')[0]].utils; n = []\n"

CASES = [
    # order
    Case("order at a leaf", WATCHED + "(x * 2).backward(); [seen, x.grad]", **S),
    Case("order at a captured leaf", WATCHED + "[torch.autograd.grad(x * 2, (x,)), seen]", **S),
    Case("order at a leaf among inputs", WATCHED + "(x * 2).backward(inputs=[x]); [seen, x.grad]", **S),
    Case(
        "capture before the pre-hooks",
        "z = x * 1; z.grad_fn.register_prehook(lambda g: (g[0] * 2,)); z.register_hook(lambda g: g * 3); (z * 1).backward(inputs=(z,)); z.grad",
        **S,
    ),
    Case(
        "grad runs no hook of the captured node",
        "z = x * 1; seen = []; z.grad_fn.register_prehook(lambda g: seen.append(1)); z.grad_fn.register_hook(lambda i, o: seen.append(2)); [torch.autograd.grad(z * 2, (z,)), seen]",
        **S,
    ),
    Case(
        "a captured node that leads on",
        "z = x * 1; seen = []; z.retain_grad(); z.grad_fn.register_prehook(lambda g: seen.append(1)); [torch.autograd.grad(z * 2, (x, z)), seen, z.grad]",
        **S,
    ),
    # what hooks return
    Case("tensor hook, dtype", "x.register_hook(lambda g: g.float()); (x * 2).sum().backward(); x.grad", **X),
    Case("tensor hook, number", "x.register_hook(lambda g: 3); (x * 2).sum().backward(); x.grad", **X),
    Case("tensor hook, size", "z = x * 2; z.register_hook(lambda g: g[:1]); z.sum().backward(); x.grad", **X),
    Case("pre-hook, dtype", PRE.format("lambda g: (g[0].float(),)"), **X),
    Case("pre-hook, no tuple", PRE.format("lambda g: g[0]"), **X),
    Case("pre-hook, too few", PRE.format("lambda g: ()"), **X),
    Case("pre-hook, number", PRE.format("lambda g: (3,)"), **X),
    Case("pre-hook, None", PRE.format("lambda g: (None,)"), **X),
    Case("post-hook, too few", POST.format("lambda i, o: ()"), **X),
    Case("post-hook, number", POST.format("lambda i, o: 3"), **X),
    Case("post-hook, no tuple", POST.format("lambda i, o: i[0] * 2"), **X),
    Case("post-hook replaces", POST.format("lambda i, o: (i[0] * 2, i[1])"), **X),
    Case(
        "hook of an output that nothing arrived at",
        BOTH
        + "a.register_hook(lambda g: seen.append(g)); b.register_hook(lambda g: seen.append(g)); (b * 2).backward(); seen",
        **X,
    ),
    Case(
        "and returns a gradient",
        BOTH + "a.register_hook(lambda g: torch.ones((), dtype=torch.float64)); (b * 2).backward(); x.grad",
        **X,
    ),
    Case("retain_grad of an output that nothing arrived at", BOTH + "a.retain_grad(); (b * 2).backward(); a.grad", **X),
    Case(
        "pre-hook of such a node",
        BOTH + "a.grad_fn.register_prehook(lambda g: seen.append(g)); (b * 2).backward(); seen",
        **X,
    ),
    # hooks and writes
    Case(
        "retain_grad of views, one written",
        "z = x.clone(); v, w = z[:], z[:]; v.retain_grad(); w.retain_grad(); v.mul_(2); (v + w).sum().backward(); [v.grad, w.grad]",
        **X,
    ),
    Case(
        "hooks of a view before and after a write",
        "seen = []; z = x.clone(); v = z[:]; v.register_hook(lambda g: seen.append(g)); v.mul_(2); v.register_hook(lambda g: seen.append(('after', g))); v.sum().backward(); seen",
        **X,
    ),
    Case(
        "hooks of a view before copy_",
        "seen = []; z = x.clone(); v = z[:]; v.register_hook(lambda g: seen.append(g)); v.copy_(x); v.sum().backward(); [seen, x.grad]",
        **X,
    ),
    Case(
        "hooks and retain_grad before and after a write",
        "seen = []; z = x.clone(); z.register_hook(lambda g: seen.append(g)); z.retain_grad(); z.mul_(2); z.register_hook(lambda g: seen.append(('after', g))); z.sum().backward(); [seen, z.grad]",
        **X,
    ),
    Case(
        "hooks and retain_grad of a base, its view written",
        "seen = []; z = x.clone(); z.register_hook(lambda g: seen.append(g)); z.retain_grad(); v = z[:1]; v.mul_(2); z.sum().backward(); [seen, z.grad]",
        **X,
    ),
    Case(
        "retain_grad of a view, its base written",
        "z = x.clone(); v = z[:1]; v.retain_grad(); z.mul_(2); (v * 3).sum().backward(); v.grad",
        **X,
    ),
    Case(
        "hook of a view, its base written",
        "seen = []; z = x.clone(); v = z[:1]; v.register_hook(lambda g: seen.append(g)); z.mul_(2); (v * 3).sum().backward(); seen",
        **X,
    ),
    Case(
        "retain_grad of a view written twice",
        "z = x.clone(); v = z[:]; v.retain_grad(); v.mul_(2); v.mul_(3); v.sum().backward(); [v.grad, v.retains_grad]",
        **X,
    ),
    Case(
        "retain_grad of a view written under no_grad",
        "z = x.clone(); v = z[:]; v.retain_grad()\nwith torch.no_grad(): v.mul_(2)\nv.sum().backward(); [v.grad, v.retains_grad]",
        **X,
    ),
    Case(
        "a view made under no_grad gets no gradient",
        "y = x * 1\nwith torch.no_grad(): v = y[:1]\n(v * 2).sum().backward(); [v.grad, x.grad, v.is_leaf, v.requires_grad]",
        **X,
    ),
    # arguments
    Case("grad without inputs", "torch.autograd.grad(x * 2, [])", **S),
    Case(
        "materialized zeros have a graph",
        "y = torch.ones((), requires_grad=True); a, b = torch.autograd.grad(x * x, (x, y), create_graph=True, materialize_grads=True); [b.requires_grad, torch.autograd.grad(b, y, materialize_grads=True)]",
        **S,
    ),
    Case("more gradients than outputs", "torch.autograd.backward([x * 2], [None, None]); x.grad", **S),
    Case("fewer gradients than outputs", "torch.autograd.backward([x * 2, x * 3], [None])", **S),
    Case(
        "grad_variables",
        "torch.autograd.backward([x * 2], grad_variables=[torch.ones(2, dtype=torch.float64)]); x.grad",
        **X,
    ),
    Case(
        "grad_variables and grad_tensors",
        "g = [torch.ones(2, dtype=torch.float64)]; torch.autograd.backward([x * 2], g, grad_variables=g)",
        **X,
    ),
    Case("only_inputs", "torch.autograd.grad((x * 2).sum(), x, only_inputs=False)", **X),
    Case("grad of itself", "x.grad = x", **X),
    # places in the graph
    Case(
        "edge as input",
        "z = x * 2; e = torch.autograd.graph.get_gradient_edge(z); torch.autograd.grad((z * 3).sum(), [e])",
        **X,
    ),
    Case(
        "edge of a leaf as input",
        "e = torch.autograd.graph.get_gradient_edge(x); (x * 2).sum().backward(inputs=[e]); x.grad",
        **X,
    ),
    Case(
        "edge as root",
        "e = torch.autograd.graph.get_gradient_edge((x * 2).sum()); torch.autograd.backward([e]); x.grad",
        **X,
    ),
    Case(
        "edge as root with a gradient",
        "e = torch.autograd.graph.get_gradient_edge(x * 2); torch.autograd.backward(e, torch.ones(2, dtype=torch.float64)); x.grad",
        **X,
    ),
    Case("edge as root without", "torch.autograd.backward(torch.autograd.graph.get_gradient_edge(x * 2))", **X),
    Case(
        "edge as root, wrong shape",
        "e = torch.autograd.graph.get_gradient_edge(x * 2); torch.autograd.grad(e, x, torch.ones(3, dtype=torch.float64))",
        **X,
    ),
    Case(
        "edge that was not used",
        "y = torch.ones(2, requires_grad=True); e = torch.autograd.graph.get_gradient_edge(y); torch.autograd.grad((x * 2).sum(), [e], allow_unused=True)",
        **X,
    ),
    Case(
        "edge and materialize_grads",
        "e = torch.autograd.graph.get_gradient_edge(x); torch.autograd.grad((x * 2).sum(), [e], materialize_grads=True)",
        **X,
    ),
    Case(
        "unused edge and materialize_grads",
        "y = torch.ones(2, requires_grad=True); e = torch.autograd.graph.get_gradient_edge(y); torch.autograd.grad((x * 2).sum(), [e], materialize_grads=True)",
        **X,
    ),
    Case(
        "edge, its fields",
        "e = torch.autograd.graph.get_gradient_edge(x * 2); [e._fields, e.output_nr, e.node.name()]",
        **X,
    ),
    # hooks on what is saved
    Case(
        "the innermost hooks on saved tensors",
        """seen = []
H = lambda s: torch.autograd.graph.saved_tensors_hooks(lambda t: seen.append('pack ' + s) or t, lambda t: seen.append('unpack ' + s) or t)
with H('outer'):
    with H('inner'): y = x.exp()
    z = x.exp()
y.sum().backward(); z.sum().backward(); [seen, x.grad]""",
        **X,
    ),
    Case(
        "pack hook that writes",
        "with torch.autograd.graph.saved_tensors_hooks(lambda t: t.mul_(2), lambda t: t): (x * 1).exp()",
        **X,
    ),
    Case(
        "pack hook that writes to an input",
        "with torch.autograd.graph.saved_tensors_hooks(lambda t: t.add_(2), lambda t: t): (x * 1).sin()",
        **X,
    ),
    Case(
        "unpack hook without tensor",
        "with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: 3): y = x.sin()\ny.sum().backward()",
        **X,
    ),
    Case(
        "hooks disabled",
        "g = torch.autograd.graph\nwith g.disable_saved_tensors_hooks('none here'):\n    with g.saved_tensors_hooks(lambda t: t, lambda t: t): x.exp()",
        **X,
    ),
    Case(
        "hooks disabled inside of hooks",
        "g = torch.autograd.graph\nwith g.saved_tensors_hooks(lambda t: t, lambda t: t):\n    with g.disable_saved_tensors_hooks('none here'): x.exp()",
        **X,
    ),
    Case(
        "hooks disabled twice",
        "g = torch.autograd.graph\nwith g.disable_saved_tensors_hooks('a'):\n    with g.disable_saved_tensors_hooks('b'): pass\n    with g.saved_tensors_hooks(lambda t: t, lambda t: t): x.exp()",
        **X,
    ),
    Case(
        "_raw_saved",
        "y = x.exp(); r = y.grad_fn._raw_saved_result; r.register_hooks(lambda t: t * 2, lambda t: t * 3); y.sum().backward(); x.grad",
        **X,
    ),
    Case(
        "_raw_saved of an input",
        "y = x.sin(); y.grad_fn._raw_saved_self.register_hooks(lambda t: t * 2, lambda t: t * 3); y.sum().backward(); x.grad",
        **X,
    ),
    Case(
        "_raw_saved twice",
        "y = x.exp(); r = y.grad_fn._raw_saved_result; r.register_hooks(lambda t: t, lambda t: t); r.register_hooks(lambda t: t, lambda t: t)",
        **X,
    ),
    Case(
        "_raw_saved when freed",
        "y = x.exp(); r = y.grad_fn._raw_saved_result; y.sum().backward(); r.register_hooks(lambda t: t, lambda t: t)",
        **X,
    ),
    Case("_raw_saved of nothing", "(x * 2).grad_fn._raw_saved_self.register_hooks(lambda t: t, lambda t: t)", **X),
    Case(
        "writes to what is saved",
        "with torch.autograd.graph.allow_mutation_on_saved_tensors():\n    b = x.clone(); out = (b ** 2).sum(); b.sin_(); out.backward()\nx.grad",
        **X,
    ),
    Case(
        "writes to saved results",
        "with torch.autograd.graph.allow_mutation_on_saved_tensors():\n    b = x.exp(); b.sin_(); b[0] = 5.0; b.sum().backward()\nx.grad",
        **X,
    ),
    Case(
        "writes to what is saved, backward outside",
        "with torch.autograd.graph.allow_mutation_on_saved_tensors():\n    b = x.clone(); out = (b ** 2).sum(); b.sin_()\nout.backward()",
        **X,
    ),
    Case(
        "writes to what is saved, cleared",
        "with torch.autograd.graph.allow_mutation_on_saved_tensors() as kept:\n    b = x.clone(); out = (b ** 2).sum(); kept.clear(); out.backward()",
        **X,
    ),
    Case(
        "writes to what is saved, nested",
        "g = torch.autograd.graph\nwith g.allow_mutation_on_saved_tensors():\n    with g.allow_mutation_on_saved_tensors(): pass",
    ),
    Case(
        "saved tensors of a checkpointed Function read twice",
        CLASS.format("ctx.saved_tensors; ctx.saved_tensors")
        + "import sys; utils = sys.modules[torch.nn.Module.__module__.split('.')[0]].utils\nutils.checkpoint.checkpoint(lambda t: G.apply(t), x, use_reentrant=False).sum().backward()",
        **X,
    ),
    Case(
        "runs of a checkpoint",
        "import sys; utils = sys.modules[torch.nn.Module.__module__.split('.')[0]].utils\nn = []; y = utils.checkpoint.checkpoint(lambda t: n.append(1) or t.exp(), x, use_reentrant=False); r = [len(n)]\nfor _ in range(2): y.grad_fn._saved_result; r.append(len(n))\ny.sum().backward(retain_graph=True); r.append(len(n)); y.sum().backward(); r.append(len(n)); [r, x.grad]",
        **X,
    ),
    Case(
        "early stop switched off",
        "import sys; utils = sys.modules[torch.nn.Module.__module__.split('.')[0]].utils\nn = []\ndef f(t):\n    y = t.sin(); n.append(1); z = y * 1.0; n.append(2); return z\nwith utils.checkpoint.set_checkpoint_early_stop(False): y = utils.checkpoint.checkpoint(f, x, use_reentrant=False)\ny.sum().backward(); n",
        **X,
    ),
    # hooks on several gradients
    Case(
        "hook on all gradients",
        "seen = []; y = torch.ones(2, dtype=torch.float64, requires_grad=True); h = torch.autograd.graph.register_multi_grad_hook([x, y], seen.append); (x * 2).sum().backward(); (x * y).sum().backward(); h.remove(); (x * y).sum().backward(); seen",
        **X,
    ),
    Case(
        "hook on any gradient",
        "seen = []; y = torch.ones(2, dtype=torch.float64, requires_grad=True); torch.autograd.graph.register_multi_grad_hook([x, y], seen.append, mode='any'); (x * 2 + y * 3).sum().backward(); len(seen)",
        **X,
    ),
    Case("hook on gradients, mode", "torch.autograd.graph.register_multi_grad_hook([x], print, mode='x')", **X),
    Case("hook on gradients of a constant", "torch.autograd.graph.register_multi_grad_hook([torch.ones(2)], print)"),
    # names
    Case(
        "Variable",
        "V = torch.autograd.Variable; a = torch.ones(2); v = V(a, requires_grad=True); [v is a, a.requires_grad, v.requires_grad, v._is_view(), isinstance(a, V), V(a).requires_grad]",
    ),
    Case("Variable of a list", "torch.autograd.Variable([1])"),
    Case(
        "set_multithreading_enabled",
        "with torch.autograd.set_multithreading_enabled(False): y = (x * 2).sum()\ny.backward(); x.grad",
        **X,
    ),
    Case(
        "is_anomaly_enabled",
        "r = [torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()]\nwith torch.autograd.set_detect_anomaly(True, check_nan=False): r += [torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()]\nr",
    ),
    Case(
        "a node's own words",
        "n = (x * 2).grad_fn; [n.requires_grad, isinstance(n, torch.autograd.graph.Node), len(n._input_metadata), n._input_metadata[0].shape, n.metadata]",
        **X,
    ),
    # one node
    Case("node called with too many", "(x * 2).grad_fn(x, x)", **X),
    Case("node called with too few", "(x * 2).grad_fn()", **X),
    Case("node with two outputs called with one", "x.unbind()[0].grad_fn(x)", **X),
    Case("node with two outputs called with None", "x.unbind()[0].grad_fn(torch.ones(()), None)", **X),
    Case("node called with None", "(x * 2).grad_fn(None)", **X),
    Case("node without derivative", "f = (x // 1).grad_fn; [f.name(), type(f).__name__]", **X),
    Case(
        "a saved mask that was written to",
        "m = torch.tensor([True, False]); y = torch.where(m, x, x * 2); m.fill_(True); y.sum().backward()",
        **X,
    ),
    Case(
        "a saved index that was written to",
        "m = torch.tensor([1, 0]); y = x.gather(0, m); m += 0; y.sum().backward()",
        **X,
    ),
    Case(
        "a class decorated with no_grad",
        "@torch.no_grad()\nclass K:\n    def __init__(self): self.on = torch.is_grad_enabled()\nK().on",
    ),
    # where no gradient arrives, hooks are called with None
    Case(
        "hooks that None arrives at",
        UNDEFINED
        + "seen = []; x.register_hook(lambda g: seen.append(('leaf', g))); x.register_post_accumulate_grad_hook(lambda g: seen.append('accumulated')); y = x * 2; y.retain_grad(); y.register_hook(lambda g: seen.append(('y', g))); y.grad_fn.register_prehook(lambda g: seen.append(('pre', g))); y.grad_fn.register_hook(lambda i, o: seen.append(('post', i, o))); U.apply(y.sin()).sum().backward(); [seen, x.grad, y.grad]",
        **X,
    ),
    Case(
        "hook of a captured leaf that None arrives at",
        UNDEFINED
        + "seen = []; y = torch.ones(2, requires_grad=True); y.register_hook(lambda g: seen.append('y')); x.register_hook(lambda g: seen.append(g)); [torch.autograd.grad(U.apply(x * y).sum(), (x,), allow_unused=True), seen]",
        **X,
    ),
    Case(
        "hook that makes a gradient of None",
        UNDEFINED + "y = x * 2; y.register_hook(lambda g: torch.ones(2)); U.apply(y).sum().backward()",
        **X,
    ),
    Case(
        "gradcheck of a hook that cannot do without a gradient",
        "def f(t):\n    y = t.clone(); y.register_hook(lambda g: g * 2 / 2); return y\nimport warnings; warnings.simplefilter('ignore'); torch.autograd.gradcheck(f, (x,))",
        **X,
    ),
    Case(
        "post-accumulate hook that returns something",
        "x.register_post_accumulate_grad_hook(lambda p: p.grad); x.sum().backward()",
        **X,
    ),
    # inference mode
    Case(
        "views of an inference tensor",
        "with torch.inference_mode(): c = torch.ones(2, 3, requires_grad=True); v = c.view(-1)\nw = c.view(-1); [t.requires_grad for t in (c, v, w)] + [w.is_inference()]",
    ),
    Case(
        "resize_ of an inference tensor",
        "with torch.inference_mode(): c = torch.ones(2, 3, requires_grad=True).resize_(1, 2)\n[c, c.requires_grad]",
    ),
    # Functions
    Case(
        "once_differentiable leads to leaves of its own",
        "F = torch.autograd.Function\nclass G(F):\n    @staticmethod\n    def forward(ctx, a, b): return a * b\n    @staticmethod\n    @torch.autograd.function.once_differentiable\n    def backward(ctx, g): return g, None\ny = torch.ones(2, dtype=torch.float64, requires_grad=True); g, = torch.autograd.grad(G.apply(x, y), x, y * 1, create_graph=True); [len(g.grad_fn.next_functions), g.grad_fn.next_functions[0][0].name(), torch.autograd.grad(g.sum(), y, allow_unused=True)]",
        **X,
    ),
    Case(
        "jvp sees what was saved for it only",
        "class G(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, t): ctx.save_for_backward(t); return t.clone()\n    @staticmethod\n    def jvp(ctx, g): n.append(len(ctx.saved_tensors)); return g\nn = []; fw = torch.autograd.forward_ad\nwith fw.dual_level(): G.apply(fw.make_dual(x, x.detach())); n.append(fw._current_level)\nn + [fw._current_level]",
        **X,
    ),
    Case(
        "saved-tensor hooks entered twice",
        "h = torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t)\nwith h:\n    with h: y = x.sin()\nz = x.exp(); z.grad_fn._raw_saved_result.register_hooks(lambda t: t, lambda t: t * 2); z.sum().backward(); x.grad",
        **X,
    ),
    Case(
        "an unpack hook that enters hooks",
        "h = torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: (h.__enter__(), t)[1])\nwith h: y = x.sin()\ny.sum().backward(); z = x.exp(); z.grad_fn._raw_saved_result.register_hooks(lambda t: t, lambda t: t * 2); z.sum().backward(); x.grad",
        **X,
    ),
    # checkpoints
    Case(
        "a checkpoint that saves more in its second run",
        CHECKPOINT
        + "def f(t):\n    n.append(1); y = t.sin().exp(); return y.sin() if len(n) > 1 else y\nwith utils.checkpoint.set_checkpoint_early_stop(False): y = utils.checkpoint.checkpoint(f, x, use_reentrant=False)\ntry: y.sum().backward()\nexcept RuntimeError as error: r = str(error).splitlines()[0]\nr",
        **X,
    ),
    Case(
        "a gradient inside of a checkpoint",
        CHECKPOINT
        + "def f(t): a = t.sin().exp().sin(); return t.cos() * torch.autograd.grad(a.sum(), t, create_graph=True)[0]\nwith utils.checkpoint.set_checkpoint_early_stop(False): y = utils.checkpoint.checkpoint(f, x, use_reentrant=False)\ny.sum().backward(); x.grad",
        **X,
    ),
    # transforms
    *[
        Case(
            f"saved-tensor hooks inside {f}",
            f"def g(t):\n    with torch.autograd.graph.save_on_cpu(): return t.sin().sum()\ntorch.func.{f}",
            dtypes=False,
            **X,
        )
        for f in (
            "grad(g)(x.detach())",
            "vjp(g, x.detach())",
            "jacrev(g)(x.detach())",
            "jvp(g, (x.detach(),), (x.detach(),))",
            "vmap(g)(torch.ones(2, 2))",
        )
    ],
    Case(
        "saved-tensor hooks around grad",
        "with torch.autograd.graph.save_on_cpu(): torch.func.grad(lambda t: t.sin().sum())(x.detach())",
        **X,
    ),
    *[
        Case(f"{f} of a function that returns None", f"torch.func.{f}", **X)
        for f in ("vjp(lambda t: None, x)", "jvp(lambda t: None, (x,), (x,))")
    ],
    *[
        Case(
            f"an input returned as it is and saved by {f}",
            f"class G(torch.autograd.Function):\n    @staticmethod\n    def forward(t): return t\n    @staticmethod\n    def setup_context(ctx, inputs, output): ctx.{f}\n    @staticmethod\n    def backward(ctx, g): return g\nG.apply(x * 1)",
            **X,
        )
        for f in ("save_for_backward(inputs[0])", "save_for_forward(output)")
    ],
    Case(
        "rates that are tensors are remembered as they were",
        "p = torch.nn.Parameter(torch.ones(1)); high = torch.tensor(0.9); o = torch.optim.SGD([p], lr=0.1, momentum=0.5); s = torch.optim.lr_scheduler.CyclicLR(o, 0.1, 0.2, max_momentum=high); high.mul_(0.5); o.step(); s.step(); [o.param_groups[0]['max_momentum'], s.max_momentums]",
    ),
]
