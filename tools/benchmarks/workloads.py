"""The programs that are timed. Each is written once and runs on every engine.

What lives here: for each workload a function that takes an engine (`torch`: PyTorch or minigrad; `Value`: a class of scalars) and returns a
function that does one step and returns a number to look at. What does not: clocks, goals and peers (run.py).
"""

import random

# Scalars ---------------------------------------------------------------------------------------------------------------------


def readme_expression(Value):
    """S1: the expression of micrograd's README, forward and backward; 39 nodes."""

    def step():
        a, b = Value(-4.0), Value(2.0)
        c = a + b
        d = a * b + b**3
        c += c + 1
        c += 1 + c + (-a)
        d += d * 2 + (b + a).relu()
        d += 3 * d + (b - a).relu()
        e = c - d
        f = e**2
        g = f / 2.0
        g += 10.0 / f
        g.backward()
        return a.grad

    return step


def expression_of_tensors(torch):
    """S1 on 0-d tensors, out of place: its result and two gradients."""
    a, b = torch.tensor(-4.0, requires_grad=True), torch.tensor(2.0, requires_grad=True)

    def step():
        a.grad = b.grad = None
        c = a + b
        d = a * b + b**3
        c = c + c + 1
        c = c + 1 + c - a
        d = d + d * 2 + (b + a).relu()
        d = d + 3 * d + (b - a).relu()
        f = (c - d) ** 2
        g = f / 2.0 + 10.0 / f
        g.backward()
        return g.detach()

    return step


def moons_loss(Value, samples=100):
    """S2: micrograd's demo. A network 2-16-16-1 on two moons, hinge loss and L2: (parameters, a function that records the loss)."""
    rng = random.Random(1)
    sizes = [2, 16, 16, 1]
    layers = [
        [([Value(rng.uniform(-1, 1)) for _ in range(n)], Value(0.0)) for _ in range(m)]
        for n, m in zip(sizes, sizes[1:], strict=False)
    ]
    data = []
    for i in range(samples):
        angle, upper = rng.uniform(0, 3.14159), i % 2 == 0
        x, y = _cos_sin(angle)
        data.append(([x, y] if upper else [1 - x, 0.5 - y], 1.0 if upper else -1.0))
    parameters = [p for layer in layers for w, b in layer for p in [*w, b]]

    def record():
        losses = []
        for inputs, label in data:
            h = [Value(v) for v in inputs]
            for number, layer in enumerate(layers):
                h = [sum((wi * xi for wi, xi in zip(w, h, strict=True)), b) for w, b in layer]
                if number < len(layers) - 1:
                    h = [v.relu() for v in h]
            losses.append((1 + -label * h[0]).relu())
        return sum(losses) * (1.0 / len(losses)) + 1e-4 * sum(p * p for p in parameters)

    return parameters, record


def _cos_sin(angle):
    import math

    return math.cos(angle), math.sin(angle)


def moons_step(Value):
    parameters, record = moons_loss(Value)

    def step():
        loss = record()
        for p in parameters:
            p.grad = 0.0
        loss.backward()
        for p in parameters:
            p.data -= 0.01 * p.grad
        return loss.data

    return step


def moons_on_tape(Value):
    """The same step, recorded once and replayed."""
    from minigrad.tape import Tape, warm

    warm()
    parameters, record = moons_loss(Value)
    loss = record()
    tape = Tape(loss)

    def step():
        tape.replay()
        for p in parameters:
            p.data -= 0.01 * p.grad
        return loss.data

    return step


def chain(leaf, length=100_000):
    """S3: one long chain of scalar operations; `leaf` makes its start."""

    def step():
        x = leaf(0.5)
        y = x
        for _ in range(length // 4):  # y stays bounded: x is 1/2
            y = y * x
            y = y + x
            y = y * x
            y = y - x
        y.backward()
        return x.grad

    return step


# Tensors ---------------------------------------------------------------------------------------------------------------------


def small_elementwise(torch):
    """T1: twenty elementwise operations on 4 floats."""
    torch.manual_seed(0)
    x = torch.randn(4, requires_grad=True)
    w = torch.randn(4, requires_grad=True)

    def step():
        y = x
        for _ in range(4):
            y = (y * w + x).tanh()
            y = y * 0.5 - w
        x.grad = w.grad = None
        y.sum().backward()
        return x.grad

    return step


def _mlp(torch, sizes, batch, adam):
    torch.manual_seed(0)
    nn = torch.nn
    layers = []
    for n, m in zip(sizes, sizes[1:], strict=False):
        layers += [nn.Linear(n, m), nn.ReLU()]
    model = nn.Sequential(*layers[:-1])
    x, y = torch.randn(batch, sizes[0]), torch.randint(0, sizes[-1], (batch,))
    optimizer = adam(torch, model.parameters())
    loss_function = nn.CrossEntropyLoss()

    def step():
        optimizer.zero_grad()
        loss = loss_function(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return step


def plain_adam(torch, parameters):
    return torch.optim.Adam(parameters, lr=1e-3)


def fused_adam(torch, parameters):
    """PyTorch's one-kernel Adam; minigrad has one Adam."""
    try:
        return torch.optim.Adam(parameters, lr=1e-3, fused=True)
    except TypeError:
        return plain_adam(torch, parameters)


def small_mlp(torch, adam=plain_adam):
    """T2: MLP 64-256-128-10, batch 32, cross-entropy, Adam."""
    return _mlp(torch, [64, 256, 128, 10], 32, adam)


def small_mlp_fused(torch):
    return small_mlp(torch, fused_adam)


def large_mlp(torch):
    """T3: MLP 784-512-512-10, batch 256."""
    return _mlp(torch, [784, 512, 512, 10], 256, plain_adam)


def transformer(torch, batch=16):
    """T4: two transformer blocks (d 64, 4 heads, T 64, batch 16, vocabulary 65), AdamW."""
    torch.manual_seed(0)
    nn, F = torch.nn, torch.nn.functional
    d, heads, length, vocabulary = 64, 4, 64, 65

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(d), nn.LayerNorm(d)
            self.qkv, self.proj = nn.Linear(d, 3 * d), nn.Linear(d, d)
            self.up, self.down = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

        def forward(self, x):
            b, t, _ = x.shape
            q, k, v = [z.view(b, t, heads, d // heads).transpose(1, 2) for z in self.qkv(self.norm1(x)).chunk(3, -1)]
            scores = (q @ k.transpose(-2, -1)) * (d // heads) ** -0.5
            scores = scores.masked_fill(mask, float("-inf"))
            x = x + self.proj((F.softmax(scores, -1) @ v).transpose(1, 2).reshape(b, t, d))
            return x + self.down(F.gelu(self.up(self.norm2(x))))

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens, self.places = nn.Embedding(vocabulary, d), nn.Embedding(length, d)
            self.blocks = nn.Sequential(Block(), Block())
            self.norm, self.head = nn.LayerNorm(d), nn.Linear(d, vocabulary)

        def forward(self, tokens):
            return self.head(self.norm(self.blocks(self.tokens(tokens) + self.places(positions))))

    mask = torch.ones(length, length, dtype=torch.bool).triu(1)
    positions = torch.arange(length)
    model = Model()
    x, y = torch.randint(0, vocabulary, (batch, length)), torch.randint(0, vocabulary, (batch * length,))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

    def step():
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x).view(-1, vocabulary), y)
        loss.backward()
        optimizer.step()
        return loss

    return step


def lenet(torch):
    """T5: LeNet on 28x28 images, batch 32, SGD."""
    torch.manual_seed(0)
    nn = torch.nn
    model = nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10),
    )  # fmt: skip
    x, y = torch.randn(32, 1, 28, 28), torch.randint(0, 10, (32,))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def step():
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return step


def _function(torch, f):
    torch.manual_seed(0)
    x = torch.randn(256, 1024, requires_grad=True)
    g = torch.randn(256, 1024)

    def step():
        x.grad = None
        y = f(x)
        y.backward(g if y.dim() else None)
        return x.grad

    return step


def softmax(torch):
    """T6: (256, 1024) float32, forward and backward."""
    return _function(torch, lambda x: torch.softmax(x, -1))


def layer_norm(torch):
    w, b = torch.ones(1024, requires_grad=True), torch.zeros(1024, requires_grad=True)
    return _function(torch, lambda x: torch.nn.functional.layer_norm(x, (1024,), w, b))


def cross_entropy(torch):
    y = torch.randint(0, 1024, (256,))
    return _function(torch, lambda x: torch.nn.functional.cross_entropy(x, y))


def gelu(torch):
    return _function(torch, lambda x: torch.nn.functional.gelu(x))


def _scatter(torch, rows, index, shape):
    torch.manual_seed(0)
    w = torch.randn(rows, *shape, requires_grad=True)
    g = torch.randn(index.shape[0], *shape)

    def step():
        w.grad = None
        w[index].backward(g)
        return w.grad

    return step


def embedding(torch):
    """T7: the gradient of picking 8192 rows of 64 out of 1000."""
    torch.manual_seed(0)
    w = torch.randn(1000, 64, requires_grad=True)
    index, g = torch.randint(0, 1000, (8192,)), torch.randn(8192, 64)

    def step():
        w.grad = None
        torch.nn.functional.embedding(index, w).backward(g)
        return w.grad

    return step


def index_flat(torch):
    """T7: of picking 100,000 elements out of 10,000."""
    return _scatter(torch, 10_000, torch.randint(0, 10_000, (100_000,)), ())


def index_small(torch):
    """T7: of picking 96 rows out of 27 rows of 10."""
    return _scatter(torch, 27, torch.randint(0, 27, (96,)), (10,))


def _tanh_mlp(torch):
    """Weights, a direction for each, and the loss of T8."""
    torch.manual_seed(0)
    ws = [torch.randn(n, m) * n**-0.5 for n, m in ((32, 64), (64, 64), (64, 1))]
    vs = [torch.randn(*w.shape) for w in ws]
    x = torch.randn(64, 32)

    def loss(ws):
        h = x
        for w in ws[:-1]:
            h = (h @ w).tanh()
        return ((h @ ws[-1]) ** 2).mean()

    return ws, vs, loss


def hessian_vector_product(torch):
    """T8: Hessian-vector product of a 3-layer tanh MLP."""
    ws, vs, loss = _tanh_mlp(torch)
    ws = [w.requires_grad_() for w in ws]

    def step():
        gs = torch.autograd.grad(loss(ws), ws, create_graph=True)
        return torch.autograd.grad(gs, ws, vs)[0]

    return step


def hessian_vector_product_by_jvp(torch):
    """T8 for torch.compile, which cannot go back through its own backward pass."""
    ws, vs, loss = _tanh_mlp(torch)
    return lambda: torch.func.jvp(torch.func.grad(loss), (ws,), (vs,))[1][0]


def _chain_of(torch, size):
    """F: a chain of fourteen elementwise operations, forward and backward; minigrad's is one compiled loop."""
    torch.manual_seed(0)

    def f(x, y):
        h = torch.tanh(x * y + x)
        s = torch.sigmoid(h * 2.0 - y)
        return (h * s + torch.exp(-x * x) * 0.5 - y) * torch.relu(x + y) + 1.0

    # PyTorch's own compiler needs twenty seconds and a C++ compiler: the goal is against its eager mode
    if torch.__name__ == "minigrad":
        f = torch.compile(f)
    x, y = torch.randn(size, requires_grad=True), torch.randn(size, requires_grad=True)
    g = torch.randn(size)

    def step():
        x.grad = y.grad = None
        out = f(x, y)
        out.backward(g)
        return out

    return step


def fused_small(torch):
    return _chain_of(torch, 4096)


def fused_large(torch):
    return _chain_of(torch, 1_000_000)


def compiled(make):
    """The same step as minigrad's one program, its loops compiled."""

    def of(torch):
        step = torch.compile(make(torch))
        for _ in range(5):
            step()
        step.warm()
        return step

    return of


# Not against a peer --------------------------------------------------------------------------------------------------------------


def sweep():
    """101 points of a graph of 1,000 nodes, for one leaf: a function that sweeps, and how many nodes there are."""
    from minigrad import Value
    from minigrad.tape import Tape, warm

    warm()
    x = Value(0.5)
    y, nodes = x, 1
    while nodes < 1000:
        y = (y * x + x).tanh() * x
        nodes += 4
    tape = Tape(y)
    points = [i / 50 - 1 for i in range(101)]
    return lambda: tape.sweep(x, points), nodes
