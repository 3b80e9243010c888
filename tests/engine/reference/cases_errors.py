"""Wrong calls: the exception's type, and the first line of its message."""

# ruff: noqa: E501  (a case is one line)
from .case import A, Case, D, I, N

X = {"x": N(2, 3)}
ERRORS: dict[str, dict] = {
    # shapes
    "x + y": {"x": N(2, 3), "y": N(4)}, "x * y": {"x": N(2, 3), "y": N(3, 3)}, "torch.maximum(x, y)": {"x": N(2), "y": N(3)}, "torch.where(x > 0, x, y)": {"x": N(2, 3), "y": N(4)},
    "x @ y": {"x": N(2, 3), "y": N(2, 3)}, "x @ y ": {"x": N(3), "y": N(4)}, "x @ y  ": {"x": N(2, 3), "y": N(4)}, "x @ 2": X, "x @ y   ": {"x": N(2, 2, 3), "y": N(3, 3, 2)}, "torch.mm(x, y)": {"x": N(2, 3), "y": N(2, 3)},
    "torch.zeros(2, 3, 4).baddbmm(torch.ones(2, 3, 5), torch.ones(2, 4, 4))": {}, "torch.zeros(3, 4).addbmm(torch.ones(2, 3, 5), torch.ones(2, 4, 4))": {},
    "torch.mm(x, y) vector": {"x": N(2, 3), "y": N(3)}, "torch.bmm(x, y)": {"x": N(2, 3), "y": N(2, 3)}, "torch.bmm(x, y) sizes": {"x": N(2, 2, 3), "y": N(3, 3, 2)}, "torch.dot(x, y)": {"x": N(2), "y": N(3)},
    "torch.dot(x, x)": X, "torch.mv(x, y)": {"x": N(2, 3), "y": N(2)}, "torch.outer(x, x)": X, "torch.addmm(x, x, x)": X, "torch.einsum('ij,jk', x, x)": X, "torch.einsum('ij', x, x)": X, "torch.einsum('ijk', x)": X,
    "torch.linalg.inv(x)": X, "torch.linalg.inv(y)": {"y": A([[1.0, 2.0], [2.0, 4.0]])}, "torch.linalg.solve(y, z)": {"y": A([[1.0, 2.0], [2.0, 4.0]]), "z": N(2)}, "torch.det(x)": X, "torch.trace(y)": {"y": N(3)}, "x @ y.long()": {"x": N(2, 3), "y": N(3, 2)},
    "x.float() @ x.t()": X, "torch.matmul(x, torch.tensor(2.0))": X, "torch.nn.functional.linear(x, y)": {"x": N(2, 3), "y": N(4, 2)},
    "x.view(4)": X, "x.view(4, -1)": X, "x.view(-1, -1)": X, "x.view(2, -3)": X, "x.reshape(5)": X, "x.reshape(-1, 4)": X, "torch.zeros(0, 3).reshape(-1, 0)": {}, "x.t().view(-1)": X, "x.expand(4, 3)": X, "x.expand(3)": X, "x.expand(-1, 2, 3)": X,
    "x.repeat(2)": X, "x.permute(0)": X, "x.permute(0, 0)": X, "x.permute(0, 2)": X, "x.transpose(0, 2)": X, "y.t()": {"y": N(2, 3, 4)}, "x.squeeze(3)": X, "x.unsqueeze(4)": X, "x.flatten(1, 0)": X, "x.unflatten(1, (2, 2))": X,
    "torch.cat([])": {}, "torch.cat([x, y])": {"x": N(2, 3), "y": N(2, 2)}, "torch.cat([x, y]) dims": {"x": N(2, 3), "y": N(3)}, "torch.cat([x], 2)": X, "torch.cat(x)": X, "torch.stack([])": {}, "torch.stack([x, y])": {"x": N(2), "y": N(3)},
    "x.split(0)": X, "x.split([1, 2])": X, "x.chunk(0)": X, "a, b, c = x; a": X, "x.diag(5)": {"x": N(2, 3, 4)}, "x.movedim(0, 5)": X, "torch.flip(x, (2,))": X, "torch.tril(y)": {"y": N(3)}, "x.unbind(2)": X, "x.narrow(0, 1, 5)": X, "x.select(0, 5)": X,
    # dimensions of reductions
    "x.sum(2)": X, "x.sum(-3)": X, "x.sum((0, 0))": X, "x.mean(5)": X, "x.max(2)": X, "x.argmax(2)": X, "x.softmax(2)": X, "x.cumsum(2)": X, "torch.softmax(x)": X, "x.logsumexp(2)": X, "x.prod(3)": X, "x.sort(2)": X, "x.topk(5)": X, "x.var(2)": X,
    "x.cumsum()": X, "torch.zeros(0).max()": {}, "torch.zeros(0).argmax()": {}, "torch.zeros(0, 3).max(0)": {}, "torch.zeros(0).amax()": {},
    **{f"torch.nn.functional.max_unpool{n}d(torch.ones(1, 1, {s}), torch.full((1, 1, {s}), {i}), 2)": {} for n, s, i in ((1, "3", 6), (2, "2, 2", 16), (2, "2, 2", -1), (3, "1, 2, 2", 32))},
    # what PyTorch's own samples of wrong calls found
    **{f"torch.cov(y, {w})": {"y": N(5)} for w in ("fweights=torch.ones(5, 5, dtype=torch.int64)", "aweights=torch.ones(5, 5)", "fweights=torch.ones(5)", "aweights=torch.tensor([1, 1])", "fweights=torch.tensor([1])", "aweights=torch.ones(1)", "fweights=torch.tensor([-1, 1, 1, 1, 1])", "aweights=torch.tensor([-1., 1, 1, 1, 1])")},
    "torch.diff(x, -1)": X, "torch.diag_embed(x, dim1=1, dim2=1)": X, "torch.vdot(x, x)": X, "torch.vdot(y, y[:2])": {"y": N(3)}, "torch.vdot(y, y.float())": {"y": N(3)}, "torch.masked_scatter(x, x, x)": X, "torch.masked_scatter(x, x > 0, x.float())": X,
    "torch.arange(0, float('inf'), 2)": {}, "torch.arange(float('-inf'), 1, 2)": {}, "torch.nn.functional.adaptive_avg_pool1d(torch.ones(1, 1, 1), -1)": {}, "torch.nn.functional.adaptive_avg_pool2d(torch.ones(1, 1, 1, 1), (-1, 0))": {},
    "x.narrow(0, 0, -1)": X, "torch.renorm(y, 2, 0, 1.0)": {"y": N(3)}, "torch.nn.functional.prelu(x, x)": X,
    # dtypes
    "y.mean()": {"y": I(3)}, "y.softmax(0)": {"y": I(3)}, "y.std()": {"y": I(3)}, "torch.tensor([1, 2], requires_grad=True)": {}, "torch.zeros(2, dtype=torch.int64, requires_grad=True)": {}, "-(x > 0)": X, "(x > 0) - (x > 0)": X, "~x": X, "x & x": X,
    "y.norm()": {"y": I(3)}, "y ** -1": {"y": I(3)}, "torch.logsumexp(y, 0)": {"y": I(3)}, "y.requires_grad_()": {"y": I(3)}, "y // 0": {"y": A([1, 2])}, "y % 0": {"y": A([1, 2])}, "torch.bernoulli(y)": {"y": A([1, 0])}, "torch.eye(-1)": {},
    "x.long().exp_()": X, "torch.rand(2, dtype=torch.int64)": {}, "torch.randn(2, dtype=torch.int64)": {}, "torch.zeros(2, dtype='float32')": {}, "x.to('float32')": X, "torch.zeros(2, dtype=np.float32)": {}, "x.to(3)": X,
    # indices
    "x[2]": X, "x[-3]": X, "x[0, 3]": X, "x[0, 0, 0]": X, "x[..., ...]": X, "x['a']": X, "x[1.0]": X, "x[None, 0, 0, 0]": X, "y[0]": {"y": N()}, "x[[0, 5]]": X, "x[torch.tensor([-3])]": X, "x[torch.tensor([1.5])]": X, "x[[0, 1], [0, 1, 2]]": X,
    "x[torch.tensor([True, False, True])]": X, "x[:, torch.tensor([True, False])]": X, "x[::-1]": X, "x[::0]": X, "x[0:'a']": X, "torch.gather(x, 0, i)": {"x": N(2, 3), "i": A([0])}, "torch.gather(x, 1, j)": {"x": N(2, 3), "j": A([[5]])},
    "torch.gather(x, 1, y)": {"x": N(2, 3), "y": N(2, 1)}, "torch.gather(x, 2, j)": {"x": N(2, 3), "j": A([[0]])}, "x.scatter(1, j, 1.0)": {"x": N(2, 3), "j": A([[5]])}, "torch.index_select(x, 0, k)": {"x": N(2, 3), "k": A([4])},
    "torch.index_select(x, 0, m)": {"x": N(2, 3), "m": A([[0]])}, "x.masked_fill(x, 0)": X, "x.masked_select(torch.tensor([1]))": X, "x.masked_fill(torch.ones(4, dtype=torch.bool), 0)": X, "torch.take(x, k)": {"x": N(2, 3), "k": A([9])},
    "torch.take_along_dim(x, k, 0)": {"x": N(2, 3), "k": A([9])}, "x.index_add(0, k, y)": {"x": N(2, 3), "k": A([0]), "y": N(2, 3)}, "y = x * 1; y[0, 0, 0] = 1; y": X, "y = x * 1; y[[5]] = 1; y": X, "del x[0]; x": X,
    # values and calls
    "torch.tensor([[1, 2], [3]])": {}, "torch.tensor('a')": {}, "torch.tensor([1, 'a'])": {}, "torch.tensor(None)": {}, "torch.tensor([None])": {}, "torch.tensor({})": {}, "torch.tensor([1, [2]])": {}, "torch.tensor(2**70)": {}, "torch.tensor(object())": {},
    "torch.tensor()": {}, "torch.tensor(1, 2)": {}, "torch.from_numpy([1])": {}, "torch.from_numpy(np.array(['a']))": {}, "torch.zeros(-1)": {}, "torch.zeros(1.5)": {}, "torch.zeros('a')": {}, "torch.ones()": {}, "torch.arange(0, 1, 0)": {},
    "torch.arange(1, 0)": {}, "torch.arange(0, 1, -1)": {}, "torch.arange()": {}, "torch.linspace(0, 1)": {}, "torch.linspace(0, 1, -1)": {}, "torch.randint(0, (2,))": {}, "torch.randint(5, 2, (2,))": {}, "torch.full((2,))": {}, "torch.randperm(-1)": {},
    "torch.bernoulli(torch.tensor([2.0]))": {}, "torch.multinomial(torch.tensor([0.5, 0.5]), 3)": {}, "torch.multinomial(torch.tensor([-1.0, 2.0]), 1)": {}, "torch.normal(0.0, -1.0, (2,))": {},
    "torch.nosuchthing": {}, "x.nosuchthing": X, "torch.nosuchthing(x)": X, "torch.sin()": {}, "torch.sin(1.0)": {}, "torch.sin(x, x)": X, "torch.sin([1.0])": {}, "torch.nn.functional.linear([1.0], x)": X, "torch.nn.functional.linear(x, weight=3)": X, "torch.nn.Linear(2, 2)(3.0)": {}, "torch.roll(x, (1, 2), 0)": X, "torch.mv(x, x)": X, "x.diagonal(0, 1, 1)": X, "x.unfold(0, 1, 0)": X, "x[0] = None": X, "x[0] = 'a'": X, "torch.add(1, 2)": {}, "torch.add(x)": X, "x.add()": X, "x + 'a'": X, "x + None": X, "x + [1, 2, 3]": X,
    "'a' * x": X, "x.exp(1)": X, "torch.sum(x, nosuch=1)": X, "x.sum(nosuch=1)": X, "torch.relu(None)": {}, "torch.exp(None)": {}, "torch.cat(x, x)": X, "torch.stack([1, 2])": {}, "torch.where(x, x, x)": X, "torch.where([True], x, x)": X,
    "torch.clamp(x)": X, "x.pow()": X, "x ** None": X, "x < 'a'": X, "x @ [1, 2]": X, "torch.matmul(x, None)": X, "x.requires_grad = 1; x": X, "x.grad_fn = None; x": X, "x.shape = (3, 2); x": X, "x.is_leaf = True; x": X, "torch.lerp(x, x)": X,
    "torch.div(x, x, rounding_mode='up')": X, "torch.norm(x, p='nosuch')": X, "torch.linalg.norm(x, 'nosuch')": X, "torch.meshgrid(x)": X, "torch.topk(x, -1)": X, "torch.kthvalue(y, 5)": {"y": D(3)}, "x.cuda()": X, "x.to('cuda')": X, "torch.device('nosuch')": {},
    "torch.manual_seed('a')": {}, "torch.set_default_dtype(torch.int64)": {}, "torch.finfo(torch.int64)": {}, "torch.tensor([1.0]).backward(1)": {}, "torch.autograd.grad(1, x)": X, "torch.autograd.grad(x.sum(), 1)": X, "x.register_hook(1)": X,
    "torch.nn.functional.cross_entropy(x, y)": {"x": N(2, 3), "y": A([0, 5])}, "torch.nn.functional.cross_entropy(x, z)": {"x": N(2, 3), "z": A([0, 1, 2])}, "torch.nn.functional.nll_loss(x, w)": {"x": N(2, 3), "w": N(2, grad=False)},
    "torch.nn.functional.binary_cross_entropy(x, x.detach())": {"x": A([2.0])}, "torch.nn.functional.mse_loss(x, x, reduction='nosuch')": X, "torch.nn.functional.embedding(i, x)": {"x": N(2, 3), "i": A([5])}, "torch.nn.functional.dropout(x, 2.0)": X,
    "torch.nn.functional.layer_norm(x, (2,))": X, "torch.nn.functional.conv2d(x, y)": {"x": N(1, 2, 4, 4), "y": N(2, 3, 3, 3)}, "torch.nn.functional.max_pool2d(y, 5)": {"y": N(1, 1, 2, 2)}, "torch.nn.functional.batch_norm(y, None, None, training=True)": {"y": N(1, 3)},
    "torch.nn.functional.one_hot(i, 2)": {"i": A([0, 5])}, "torch.nn.functional.pad(x, (1, 1, 1))": X, "torch.nn.functional.glu(y)": {"y": N(3)}, "torch.nn.functional.softmax(x, dim=4)": X,
}  # fmt: skip
SUFFIXES = (" vector", " sizes", " dims")  # in the name only: the same code with other inputs


def _code(name: str) -> str:
    code = name.strip()
    for suffix in SUFFIXES:
        code = code.removesuffix(suffix)
    return code


CASES = [Case(name, _code(name), dtypes=False, second=False, jvp=False, **inputs) for name, inputs in ERRORS.items()]
