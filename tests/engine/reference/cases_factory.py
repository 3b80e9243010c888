"""Making tensors: factories, dtypes, *_like and new_*, random numbers from a seed."""

# ruff: noqa: E501  (a case is one line)
from .case import A, Case, I, N

LIST = [
    "torch.tensor([1, 2])", "torch.tensor([1., 2])", "torch.tensor([[1, 2], [3, 4]])", "torch.tensor(3)", "torch.tensor(3.5)", "torch.tensor(True)", "torch.tensor([True, 2])",
    "torch.tensor([True, 2.5])", "torch.tensor([])", "torch.tensor([[]])", "torch.tensor((1, 2.5))", "torch.tensor([1, 2], dtype=torch.float32)", "torch.tensor([1.7, -1.7], dtype=torch.int64)",
    "torch.tensor([0, 1, 2], dtype=torch.bool)", "torch.tensor(np.array([1, 2], dtype=np.int32))", "torch.tensor(np.array([1.5]))", "torch.tensor(np.float32(1.5))", "torch.tensor([np.float64(1.5)])",
    "torch.tensor(range(3))", "torch.tensor([1.5], requires_grad=True)", "torch.tensor([1, 2], dtype=float)", "torch.tensor([torch.tensor(1), torch.tensor(2)])", "torch.tensor([torch.tensor(1.5), 2])",
    "torch.tensor([1e400, float('nan')])", "torch.tensor(2**40)", "torch.tensor([2**62])", "torch.tensor([1, 2], dtype=torch.int8)", "torch.tensor([[1.0, 2], [3, 4]], dtype=torch.float16)",
    "torch.tensor(np.arange(6).reshape(2, 3))", "torch.tensor(data=[1])", "torch.tensor([[1], [2]]).shape",
    "torch.as_tensor([1, 2])", "torch.as_tensor(np.array([1., 2.]))", "torch.as_tensor(2.5)", "torch.as_tensor([1, 2], dtype=torch.float32)", "torch.asarray([1., 2.])",
    "torch.from_numpy(np.array([1., 2.]))", "torch.from_numpy(np.array([1, 2], dtype=np.int16))", "torch.from_numpy(np.array([True]))",
    "a = np.zeros(2); t = torch.from_numpy(a); a[0] = 5; t", "a = np.zeros(2); t = torch.tensor(a); a[0] = 5; t", "a = np.zeros(2); t = torch.as_tensor(a); t[0] = 5; float(a[0])",
    "t = torch.zeros(2); t.numpy()[0] = 5; t", "torch.Tensor([1, 2])", "torch.Tensor(2, 3).shape", "torch.FloatTensor([1, 2])", "torch.LongTensor([1, 2])", "torch.scalar_tensor(2.5)",
    "torch.zeros(2, 3)", "torch.zeros((2, 3))", "torch.zeros([2])", "torch.zeros(())", "torch.zeros(2, dtype=torch.int64)", "torch.zeros(0)", "torch.zeros(2, 3, requires_grad=True)", "torch.zeros(size=(2,))",
    "torch.ones(2, 3)", "torch.ones(2, dtype=torch.bool)", "torch.ones((), dtype=torch.float64)", "torch.full((2, 2), 7)", "torch.full((2,), 7.5)", "torch.full((2,), True)", "torch.full((2,), 7, dtype=torch.float32)",
    "torch.full((), 3)", "torch.full([2], fill_value=1.0)", "torch.empty(2, 3).shape", "torch.empty(2, dtype=torch.int32).dtype", "torch.empty(0, 3)",
    "torch.eye(3)", "torch.eye(2, 3)", "torch.eye(2, dtype=torch.int64)", "torch.eye(0)",
    "torch.arange(5)", "torch.range(1, 4)", "torch.range(1, 4, 0.5)", "torch.range(4, 1, -1.5)", "torch.range(0, 3, dtype=torch.int64)", "torch.arange(1, 5)", "torch.arange(1, 10, 3)", "torch.arange(5.)", "torch.arange(0, 1, 0.25)", "torch.arange(5, 0, -2)", "torch.arange(3, dtype=torch.float32)", "torch.arange(0)",
    "torch.arange(1, 2.5, 0.5)", "torch.arange(start=2, end=4)", "torch.arange(0, 1, 0.1)", "torch.arange(-1, 1, 0.5, dtype=torch.float64)", "torch.arange(5, requires_grad=False)", "torch.arange(3., requires_grad=True)",
    "torch.linspace(0, 1, 5)", "torch.linspace(-1, 1, 4, dtype=torch.float64)", "torch.linspace(0, 10, 1)", "torch.linspace(0, 1, steps=3)", "torch.linspace(3, -3, 7)", "torch.linspace(0, 9, 4, dtype=torch.int64)",
    "torch.linspace(0, 1, 0)", "torch.logspace(0, 2, 3)", "torch.tril_indices(3, 3)", "torch.triu_indices(3, 3, 1)", "torch.vander(torch.tensor([1., 2., 3.]))", "torch.cartesian_prod(torch.tensor([1, 2]), torch.tensor([3, 4]))",
    "torch.get_default_dtype()", "[str(d) for d in (torch.float, torch.double, torch.half, torch.long, torch.int, torch.short, torch.bool, torch.uint8)]", "[torch.float is torch.float32, torch.long is torch.int64]",
    "torch.pi", "[torch.inf, torch.e]", "repr(torch.nan)", "torch.is_tensor(torch.zeros(1))", "torch.float32.itemsize", "torch.zeros(1).dtype == torch.float32", "torch.zeros(1).dtype is torch.float32",
    "torch.finfo(torch.float32).eps", "torch.iinfo(torch.int8).max", "torch.promote_types(torch.int32, torch.float16)", "torch.result_type(torch.tensor([1]), 2.5)", "torch.can_cast(torch.float32, torch.int64)",
    "torch.set_default_dtype(torch.float64); t = torch.tensor([1.5]); u = torch.zeros(1); torch.set_default_dtype(torch.float32); [t, u]",
    "isinstance(torch.zeros(1), torch.Tensor)", "torch.zeros(2).data", "torch.zeros(1).device", "torch.device('cpu')", "torch.zeros(2, device='cpu')", "torch.zeros(2, device=torch.device('cpu')).device.type",
    "torch.seed() >= 0", "torch.is_grad_enabled()", "torch.__version__[0] in '0123456789'", "torch.combinations(torch.tensor([1, 2, 3]))", "torch.block_diag(torch.ones(1, 2), torch.ones(2, 1))",
]  # fmt: skip
LIKE = ["torch.zeros_like(x)", "torch.ones_like(x)", "torch.full_like(x, 3)", "torch.full_like(x, 2.5)", "torch.empty_like(x).shape", "torch.zeros_like(x, dtype=torch.int32)", "torch.ones_like(x, requires_grad=True)",
        "torch.rand_like(x).shape", "torch.randn_like(x).dtype", "torch.randint_like(x, 5).dtype", "x.new_zeros(2)", "x.new_ones((2, 1))", "x.new_full((2,), 3)", "x.new_tensor([1, 2])", "x.new_empty(2).dtype",
        "torch.zeros_like(x.t()).stride()"]  # fmt: skip
RANDOM = [
    "torch.rand(3)", "torch.rand(2, 3)", "torch.rand((2, 2))", "torch.rand(3, dtype=torch.float64)", "torch.rand(())", "torch.rand(20)", "torch.randn(3)", "torch.randn(2, 3)", "torch.randn(16)", "torch.randn(4, 5)",
    "torch.randn(17)", "torch.randn(3, dtype=torch.float64)", "torch.randn(20, dtype=torch.float64)", "torch.randn(())", "torch.randint(10, (5,))", "torch.randint(-3, 4, (2, 3))", "torch.randint(0, 2, (8,))",
    "torch.randint(5, (3,), dtype=torch.int32)", "torch.randint(0, 2**40, (3,))", "torch.randperm(5)", "torch.randperm(10)", "torch.randperm(1)", "torch.bernoulli(torch.full((8,), 0.3))", "torch.bernoulli(torch.zeros(8), 0.5)",
    "torch.rand(2), torch.rand(2)", "torch.randn(2), torch.rand(2)", "torch.randn(1), torch.randn(2)", "torch.normal(0.0, 1.0, (3,))", "torch.normal(torch.zeros(3), torch.ones(3))", "torch.normal(2.0, 3.0, size=(4,))",
    "torch.zeros(3).uniform_(-1, 1)", "torch.zeros(3).normal_()", "torch.zeros(20).normal_(1.0, 2.0)", "torch.zeros(3, dtype=torch.float64).uniform_()", "torch.zeros(4).bernoulli_(0.5)", "torch.zeros(4).exponential_()",
    "torch.zeros(3).random_(10)", "torch.zeros(3, dtype=torch.float16).random_()", "torch.zeros(3).random_()", "torch.zeros(3, dtype=torch.int8).random_()", "torch.zeros(3, dtype=torch.bool).random_()", "torch.zeros(3, dtype=torch.int64).random_()",
    "torch.zeros(20).cauchy_(1.0, 2.0)", "torch.zeros(20).log_normal_(0.5, 0.2)", "torch.zeros(20).geometric_(0.3)", "torch.zeros(20).bernoulli_(torch.full((20,), 0.3))", "torch.rand_like(torch.zeros(3))", "torch.randn_like(torch.zeros(3))", "torch.randint_like(torch.zeros(3), 7)", "torch.multinomial(torch.tensor([0.1, 0.2, 0.7]), 2)",
    "torch.multinomial(torch.tensor([0.1, 0.2, 0.7]), 6, replacement=True)", "torch.nn.functional.dropout(torch.ones(8), 0.5)", "torch.rand(2, generator=torch.Generator().manual_seed(3))",
    "g = torch.Generator(); g.manual_seed(7); torch.randn(3, generator=g), torch.rand(2)", "g = torch.Generator().manual_seed(1); torch.randperm(4, generator=g)", "torch.initial_seed()", "torch.Generator().manual_seed(5).initial_seed()",
    "s = torch.get_rng_state(); a = torch.rand(2); torch.set_rng_state(s); torch.equal(a, torch.rand(2))", "torch.rand(3, requires_grad=True)", "torch.randn(2, 2, requires_grad=True)", "torch.rand(0)",
    "torch.nn.Linear(2, 3).weight", "torch.nn.init.kaiming_uniform_(torch.empty(2, 3))", "torch.nn.init.xavier_normal_(torch.empty(4, 5))", "torch.nn.init.normal_(torch.empty(3), 0.0, 0.02)",
]  # fmt: skip

CASES = [
    *[Case(call, call) for call in ("torch.arange(0.0, -8.000001, -4.0, dtype=torch.int64)", "torch.arange(1.5, 4.5, dtype=torch.int64)", "torch.ones(2).double(memory_format=torch.preserve_format)", "torch.ones(2).long(memory_format=torch.contiguous_format)")],
    *[Case(call, call) for call in ("torch.ByteTensor([1, 2])", "torch.IntTensor([1])", "torch.BoolTensor([True])", "torch.DoubleTensor([1.5])", "torch.IntTensor(2).shape", "isinstance(torch.ones(1), torch.FloatTensor)", "isinstance(torch.ones(1), torch.LongTensor)",
        "torch.ones(1).new([1, 2])", "torch.ones(1).new(0, 3)", "torch.tensor([1]).new().shape", "torch.ones(1).type('torch.DoubleTensor')", "torch.ones(1).type(torch.LongTensor)", "torch.ones(1).layout is torch.strided", "str(torch.strided)",
        "x = torch.ones(3); [x.untyped_storage().data_ptr() == x[1:].untyped_storage().data_ptr(), x.untyped_storage().nbytes(), len(x.storage()), x.storage_offset()]", "x = torch.zeros(2); x.set_(torch.ones(3)); x", "p = torch.nn.Parameter(torch.ones(3))\nwith torch.no_grad(): p.set_(p[1:])\n(p * 2).sum().backward(); [p.grad, p._version, p._is_view()]", "x = torch.zeros(2); x.note = 5; x.note",
        "torch.unravel_index(torch.tensor([3, 5]), (2, 3))", "torch.is_inference(torch.ones(1))", "x = torch.ones(1, requires_grad=True)\nwith torch.no_grad(): y = x.numpy()\ny.tolist()", "torch.backends.cudnn.deterministic = True; torch.backends.cudnn.benchmark = False; torch.backends.cudnn.is_available()", "(torch.ones(1, requires_grad=True) // 1).grad_fn.name()")],
    *[Case(f"{f} of a tensor{' that is recorded' * grad}", f"torch.{f}, v)", v=N(grad=grad)) for f in ("full((3,)", "full_like(torch.zeros(2)") for grad in (True, False)],
    *[Case(code, code) for code in LIST],
    *[Case(code, code, x=N(2, 3), dtypes=False) for code in LIKE],
    *[Case(f"{code} of ints", code, x=I(2, 3)) for code in LIKE],
    *[Case(f"seed {seed}: {code}", f"torch.manual_seed({seed}); {code}") for code in RANDOM for seed in (0, 42)],
    Case("clone of a seed", "torch.manual_seed(2**33 + 5); torch.rand(2)"),
    Case("negative seed", "torch.manual_seed(-1); torch.rand(2)"),
    Case("tensor of a tensor", "torch.tensor(x)", x=A([1.5, 2.0], grad=False)),
    Case("as_tensor is the same", "[torch.as_tensor(x) is x, torch.as_tensor(x, dtype=torch.float32) is x]", x=N(2)),
    Case("tensor of numbers of tensors", "torch.tensor([x.sum().item(), 2.0])", x=A([1.5, 2.0])),
    Case("stack of 0-d", "torch.stack([v ** 2 for v in x])", x=N(3)),
    Case("linspace of a product", "x * torch.linspace(0, 1, 3, dtype=torch.float64)", x=N(3)),
    *[Case(f"{f} with a device", f"[(t.shape, t.dtype) for t in (torch.{f},)]", dtypes=False) for f in ("randn_like(torch.ones(2), device='cpu')", "rand_like(torch.ones(2), device='cpu')", "randint_like(torch.ones(2), 3, device='cpu')", "empty(2, 3, memory_format=torch.contiguous_format)")],
]  # fmt: skip
