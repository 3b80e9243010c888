"""Programs of Tensors, and the form that each has: "" if it has none, or only looks like one. `loss` is the result.

The rules of minigrad/tracing/forms.py were made on `SEEN`. `UNSEEN` was written when they were finished.
"""

HEAD = """
import minigrad as torch
import minigrad.nn as nn
import minigrad.nn.functional as F
torch.manual_seed(0)
"""

SEEN = [
    (
        "attention, no mask",
        "attention",
        """
x = torch.randn(5, 8)
W = [torch.randn(8, 4, requires_grad=True) for _ in range(3)]
q, k, v = (x @ w for w in W)
loss = (F.softmax(q @ k.T, dim=-1) @ v).sum()
""",
    ),
    (
        "attention, mask added",
        "attention",
        """
x = torch.randn(5, 8)
W = [torch.randn(8, 4, requires_grad=True) for _ in range(3)]
q, k, v = (x @ w for w in W)
m = torch.triu(torch.ones(5, 5) * -1000000000.0, 1)
loss = (F.softmax(q @ k.T * 0.5 + m, dim=-1) @ v).sum()
""",
    ),
    (
        "attention, torch.where",
        "attention",
        """
x = torch.randn(5, 8)
W = [torch.randn(8, 4, requires_grad=True) for _ in range(3)]
q, k, v = (x @ w for w in W)
m = torch.tril(torch.ones(5, 5)) > 0
s = q @ k.T
loss = (F.softmax(torch.where(m, s, torch.tensor(-1000000000.0)), dim=-1) @ v).sum()
""",
    ),
    (
        "attention, dropout on the weights",
        "attention",
        """
x = torch.randn(5, 8)
W = [torch.randn(8, 4, requires_grad=True) for _ in range(3)]
q, k, v = (x @ w for w in W)
loss = (F.dropout(F.softmax(q @ k.T, dim=-1), 0.2) @ v).sum()
""",
    ),
    (
        "attention, batched, bmm",
        "attention",
        """
x = torch.randn(2, 5, 8)
l = nn.Linear(8, 24)
q, k, v = l(x).chunk(3, -1)
loss = (F.softmax(torch.bmm(q, k.transpose(1, 2)), -1) @ v).sum()
""",
    ),
    (
        "attention, softmax by hand",
        "attention",
        """
x = torch.randn(5, 8)
W = [torch.randn(8, 4, requires_grad=True) for _ in range(3)]
q, k, v = (x @ w for w in W)
e = (q @ k.T / 2).exp()
loss = (e / e.sum(-1, keepdim=True) @ v).sum()
""",
    ),
    (
        "attention, einsum",
        "attention",
        """
x = torch.randn(5, 8)
W = [torch.randn(8, 4, requires_grad=True) for _ in range(3)]
q, k, v = (x @ w for w in W)
s = torch.einsum('qd,kd->qk', q, k)
loss = torch.einsum('qk,kd->qd', F.softmax(s, -1), v).sum()
""",
    ),
    (
        "attention, F.scaled_dot_product_attention",
        "attention",
        """
x = torch.randn(5, 8)
W = [torch.randn(8, 4, requires_grad=True) for _ in range(3)]
q, k, v = (x @ w for w in W)
loss = F.scaled_dot_product_attention(q[None], k[None], v[None]).sum()
""",
    ),
    (
        "nn.MultiheadAttention",
        "attention",
        """
m = nn.MultiheadAttention(8, 2, batch_first=True)
x = torch.randn(2, 5, 8)
loss = m(x, x, x, need_weights=True)[0].sum()
""",
    ),
    (
        "attention across two sequences",
        "attention",
        """
a, b = (torch.randn(3, 8), torch.randn(6, 8))
W = [torch.randn(8, 4, requires_grad=True) for _ in range(3)]
loss = (F.softmax(a @ W[0] @ (b @ W[1]).T, -1) @ (b @ W[2])).sum()
""",
    ),
    (
        "not attention: softmax, then one product with a parameter",
        "",
        """
x = torch.randn(5, 8)
w, u = (torch.randn(8, 4, requires_grad=True), torch.randn(4, 2, requires_grad=True))
loss = (F.softmax(x @ w, -1) @ u).sum()
""",
    ),
    (
        "not attention: gate by softmax, times elementwise",
        "",
        """
x = torch.randn(5, 8)
w, u = (torch.randn(8, 4, requires_grad=True), torch.randn(8, 4, requires_grad=True))
loss = (F.softmax(x @ w, -1) * (x @ u)).sum()
""",
    ),
    (
        "not attention: weights used twice",
        "",
        """
x = torch.randn(5, 8)
W = [torch.randn(8, 4, requires_grad=True) for _ in range(3)]
q, k, v = (x @ w for w in W)
w = F.softmax(q @ k.T, dim=-1)
loss = (w @ v).sum() + (w * w.log()).sum()
""",
    ),
    (
        "RNN, nn.RNNCell in a loop",
        "recurrence",
        """
c = nn.RNNCell(3, 4)
h = torch.zeros(2, 4)
xs = torch.randn(6, 2, 3)
for x in xs:
    h = c(x, h)
loss = h.sum()
""",
    ),
    (
        "RNN, module with Linear on cat",
        "recurrence",
        """
class R(nn.Module):

    def __init__(s):
        super().__init__()
        s.i2h = nn.Linear(7, 4)

    def forward(s, x, h):
        return torch.tanh(s.i2h(torch.cat([x, h], 1)))
r = R()
h = torch.zeros(1, 4)
for t in range(6):
    h = r(torch.randn(1, 3), h)
loss = h.sum()
""",
    ),
    (
        "RNN, nn.RNN",
        "recurrence",
        """
r = nn.RNN(3, 4)
out, h = r(torch.randn(6, 2, 3))
loss = h.sum()
""",
    ),
    (
        "RNN with a loss at every step",
        "recurrence",
        """
W, U = (torch.randn(3, 4, requires_grad=True), torch.randn(4, 4, requires_grad=True))
h = torch.zeros(1, 4)
loss = 0
for t in range(6):
    h = torch.tanh(torch.randn(1, 3) @ W + h @ U)
    loss = loss + h.sum()
""",
    ),
    (
        "LSTM by hand",
        "recurrence",
        """
W = torch.randn(7, 16, requires_grad=True)
h, c = (torch.zeros(1, 4), torch.zeros(1, 4))
for t in range(5):
    i, f, o, g = (torch.cat([torch.randn(1, 3), h], 1) @ W).chunk(4, 1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    h = o.sigmoid() * c.tanh()
loss = h.sum()
""",
    ),
    (
        "h = w * h, scalars",
        "recurrence",
        """
w = torch.tensor(0.9, requires_grad=True)
h = torch.tensor(1.0)
for t in range(6):
    h = w * h
loss = h
""",
    ),
    (
        "not recurrence: three equal layers, weights of their own",
        "layers",
        """
W = [torch.randn(4, 4, requires_grad=True) for _ in range(4)]
h = torch.randn(2, 4)
for w in W:
    h = torch.tanh(h @ w)
loss = h.sum()
""",
    ),
    (
        "not recurrence: one layer on five samples",
        "",
        """
w = torch.randn(4, 4, requires_grad=True)
loss = sum((torch.tanh(torch.randn(1, 4) @ w).sum() for _ in range(5)))
""",
    ),
    (
        "lane: nn.TransformerEncoder, norm first",
        "lane",
        """
m = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True, norm_first=True), 2)
loss = m(torch.randn(2, 5, 8, requires_grad=True)).sum()
""",
    ),
    (
        "lane: residual MLP, three blocks by hand",
        "lane",
        """
W = [torch.randn(4, 4, requires_grad=True) for _ in range(3)]
x = torch.randn(2, 4, requires_grad=True)
for w in W:
    x = x + torch.relu(x @ w)
loss = x.sum()
""",
    ),
    (
        "lane: nn.TransformerEncoder, norm after the sum",
        "lane",
        """
m = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True), 2)
loss = m(torch.randn(2, 5, 8, requires_grad=True)).sum()
""",
    ),
    (
        "layers by hand, x @ W + b",
        "layers",
        """
x = torch.randn(6, 3)
W, b = (torch.randn(3, 5, requires_grad=True), torch.zeros(5, requires_grad=True))
V = torch.randn(5, 2, requires_grad=True)
loss = F.cross_entropy(torch.relu(x @ W + b) @ V, torch.tensor([0, 1, 0, 1, 0, 1]))
""",
    ),
    (
        "layers, a parameter used twice (tied)",
        "layers",
        """
x = torch.randn(6, 4)
W = torch.randn(4, 4, requires_grad=True)
loss = (torch.tanh(torch.tanh(x @ W) @ W.T) - x).pow(2).mean()
""",
    ),
    (
        "not a lane: the branch is used elsewhere, too",
        "",
        """
W = [torch.randn(4, 4, requires_grad=True) for _ in range(2)]
x = torch.randn(2, 4, requires_grad=True)
a = torch.relu(x @ W[0])
y = x + a
b = torch.relu(y @ W[1])
z = y + b
loss = (z * a).sum()
""",
    ),
    (
        "two heads side by side, joined by cat",
        "attention",
        """
def head(x):
    q, k, v = (x @ torch.randn(8, 4, requires_grad=True) for _ in range(3))
    return F.softmax(q @ k.T, -1) @ v
x = torch.randn(5, 8)
loss = torch.cat([head(x), head(x)], 1).sum()
""",
    ),
    (
        "anything else",
        "",
        """
x = torch.randn(5, 3)
w1 = torch.randn(3, 4, requires_grad=True)
g1 = torch.randn(3, 4, requires_grad=True)
s = torch.tensor(0.5, requires_grad=True)
gate = torch.sigmoid(x @ g1)
a = torch.tanh(x @ w1)
mix = gate * a + (1 - gate) * s
norm = (mix ** 2).sum(1, keepdim=True).sqrt()
u = mix / norm
far = torch.exp(-(u @ u.T)).sum()
loss = far + 0.1 * (w1 ** 2).sum()
""",
    ),
    (
        "GRU by hand",
        "recurrence",
        """
Wz, Wr, Wh = [torch.randn(7, 4, requires_grad=True) for _ in range(3)]
h = torch.zeros(1, 4)
for t in range(5):
    x = torch.randn(1, 3)
    xh = torch.cat([x, h], 1)
    z = torch.sigmoid(xh @ Wz)
    r = torch.sigmoid(xh @ Wr)
    n = torch.tanh(torch.cat([x, r * h], 1) @ Wh)
    h = (1 - z) * h + z * n
loss = h.pow(2).sum()
""",
    ),
    (
        "nn.LSTM",
        "recurrence",
        """
r = nn.LSTM(3, 4, batch_first=True)
out, (h, c) = r(torch.randn(2, 6, 3))
loss = out.pow(2).mean()
""",
    ),
    (
        "nn.GRU, last output",
        "recurrence",
        """
r = nn.GRU(3, 4)
out, h = r(torch.randn(6, 2, 3))
loss = h.sum()
""",
    ),
    (
        "char RNN, cross-entropy at every step",
        "recurrence",
        """
E = nn.Embedding(5, 3)
i2h = nn.Linear(3, 4)
h2h = nn.Linear(4, 4)
out = nn.Linear(4, 5)
ids = [0, 1, 2, 3, 4, 0, 1]
h = torch.zeros(1, 4)
losses = []
for a, b in zip(ids, ids[1:]):
    h = torch.tanh(i2h(E(torch.tensor([a]))) + h2h(h))
    losses.append(F.cross_entropy(out(h), torch.tensor([b])))
loss = torch.stack(losses).mean()
""",
    ),
    (
        "two-layer RNN, stacked cells",
        "recurrence",
        """
a, b = (nn.RNNCell(3, 4), nn.RNNCell(4, 4))
h = g = torch.zeros(1, 4)
for t in range(5):
    h = a(torch.randn(1, 3), h)
    g = b(h, g)
loss = g.sum()
""",
    ),
    (
        "a Head module with a buffer for the mask",
        "attention",
        """
class Head(nn.Module):

    def __init__(s):
        super().__init__()
        s.key, s.query, s.value = [nn.Linear(8, 4, bias=False) for _ in range(3)]
        s.register_buffer('tril', torch.tril(torch.ones(6, 6)))

    def forward(s, x):
        B, T, C = x.shape
        k, q = (s.key(x), s.query(x))
        wei = q @ k.transpose(-2, -1) * C ** (-0.5)
        wei = wei.masked_fill(s.tril[:T, :T] == 0, float('-inf'))
        wei = F.softmax(wei, dim=-1)
        return wei @ s.value(x)
loss = Head()(torch.randn(2, 6, 8)).pow(2).mean()
""",
    ),
    (
        "three heads in a ModuleList, cat",
        "attention",
        """
class Head(nn.Module):

    def __init__(s):
        super().__init__()
        s.k, s.q, s.v = [nn.Linear(8, 4) for _ in range(3)]

    def forward(s, x):
        return F.softmax(s.q(x) @ s.k(x).transpose(-2, -1), -1) @ s.v(x)
hs = nn.ModuleList([Head() for _ in range(3)])
x = torch.randn(1, 5, 8)
loss = torch.cat([h(x) for h in hs], -1).pow(2).mean()
""",
    ),
    (
        "attention pooling with a learned query",
        "attention",
        """
x = torch.randn(6, 8)
qry = torch.randn(1, 4, requires_grad=True)
Wk, Wv = (torch.randn(8, 4, requires_grad=True), torch.randn(8, 4, requires_grad=True))
w = F.softmax(qry @ (x @ Wk).T, -1)
loss = (w @ (x @ Wv)).sum()
""",
    ),
    (
        "attention, keys first: k @ q.T, softmax over dim 0",
        "",
        """
x = torch.randn(6, 8)
W = [torch.randn(8, 4, requires_grad=True) for _ in range(3)]
q, k, v = (x @ w for w in W)
w = F.softmax(k @ q.T, 0)
loss = (w.T @ v).sum()
""",
    ),
    (
        "nanoGPT blocks as functions, three",
        "lane",
        """
ps = [[torch.randn(4, 8, requires_grad=True) * 0.3, torch.randn(8, 4, requires_grad=True) * 0.3] for _ in range(3)]
x = torch.randn(5, 4, requires_grad=True)

def mlp(x, a, b):
    return F.gelu(F.layer_norm(x, (4,)) @ a) @ b
for a, b in ps:
    x = x + mlp(x, a, b)
loss = x.pow(2).mean()
""",
    ),
    (
        "ResNet, two conv blocks",
        "lane",
        """
class B(nn.Module):

    def __init__(s):
        super().__init__()
        s.a, s.b = (nn.Conv2d(3, 3, 3, padding=1), nn.Conv2d(3, 3, 3, padding=1))

    def forward(s, x):
        return torch.relu(x + s.b(torch.relu(s.a(x))))
net = nn.Sequential(B(), B())
loss = net(torch.randn(1, 3, 6, 6, requires_grad=True)).pow(2).mean()
""",
    ),
    (
        "autoencoder, mean square",
        "layers",
        """
x = torch.randn(6, 5)
net = nn.Sequential(nn.Linear(5, 2), nn.Tanh(), nn.Linear(2, 5))
loss = F.mse_loss(net(x), x)
""",
    ),
    (
        "MLP with dropout and batch norm",
        "layers",
        """
x = torch.randn(6, 5)
net = nn.Sequential(nn.Linear(5, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Dropout(0.3), nn.Linear(4, 3))
loss = F.cross_entropy(net(x), torch.tensor([0, 1, 2, 0, 1, 2]))
""",
    ),
    (
        "bigram: embedding as logits",
        "",
        """
E = nn.Embedding(5, 5)
loss = F.cross_entropy(E(torch.tensor([0, 1, 2])), torch.tensor([1, 2, 3]))
""",
    ),
    (
        "makemore MLP: embedding, view, two layers",
        "layers",
        """
C = torch.randn(5, 2, requires_grad=True)
W1, b1 = (torch.randn(6, 8, requires_grad=True), torch.randn(8, requires_grad=True))
W2, b2 = (torch.randn(8, 5, requires_grad=True), torch.randn(5, requires_grad=True))
X = torch.tensor([[0, 1, 2], [1, 2, 3]])
emb = C[X]
h = torch.tanh(emb.view(-1, 6) @ W1 + b1)
loss = F.cross_entropy(h @ W2 + b2, torch.tensor([3, 4]))
""",
    ),
    (
        "VAE, reparametrised",
        "",
        """
x = torch.randn(4, 5)
m, s, d = (nn.Linear(5, 2), nn.Linear(5, 2), nn.Linear(2, 5))
mu, lv = (m(x), s(x))
z = mu + torch.exp(lv / 2) * torch.randn(4, 2)
loss = F.mse_loss(d(z), x) + (mu ** 2 + lv.exp() - lv).mean()
""",
    ),
    (
        "siamese, one net twice",
        "",
        """
n = nn.Linear(5, 3)
a, b = (n(torch.randn(2, 5)), n(torch.randn(2, 5)))
loss = (a - b).pow(2).sum()
""",
    ),
    (
        "mixture of two experts",
        "",
        """
x = torch.randn(4, 5)
g, a, b = (nn.Linear(5, 2), nn.Linear(5, 3), nn.Linear(5, 3))
w = F.softmax(g(x), -1)
loss = (w[:, :1] * a(x) + w[:, 1:] * b(x)).sum()
""",
    ),
    (
        "polynomial by hand",
        "",
        """
x = torch.linspace(-1, 1, 7)
a, b, c = [torch.tensor(1.0, requires_grad=True) for _ in range(3)]
loss = ((a * x ** 2 + b * x + c - x.sin()) ** 2).mean()
""",
    ),
    (
        "gradient-descent unrolled, 5 steps",
        "recurrence",
        """
A = torch.randn(4, 4)
lr = torch.tensor(0.1, requires_grad=True)
w = torch.randn(4, 1)
for t in range(5):
    w = w - lr * (A @ w)
loss = w.pow(2).sum()
""",
    ),
    (
        "peephole RNN with relu and residual h = h + ...",
        "recurrence",
        """
U, V = (torch.randn(4, 4, requires_grad=True), torch.randn(3, 4, requires_grad=True))
h = torch.zeros(2, 4)
for t in range(7):
    h = h + 0.1 * torch.tanh(torch.randn(2, 3) @ V + h @ U)
loss = h.pow(2).mean()
""",
    ),
    (
        "decoder step: cross attention with nn.Linear and a causal mask from triu",
        "attention",
        """
l = [nn.Linear(8, 4) for _ in range(3)]
x = torch.randn(2, 5, 8)
m = torch.triu(torch.full((5, 5), float('-inf')), diagonal=1)
s = l[0](x) @ l[1](x).mT / 2 + m
p = torch.softmax(s, dim=-1)
loss = torch.matmul(p, l[2](x)).mean()
""",
    ),
    (
        "ViT: patches by conv, flatten, one encoder layer",
        "lane",
        """
c = nn.Conv2d(1, 8, 2, stride=2)
e = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True, norm_first=True)
x = c(torch.randn(1, 1, 6, 6)).flatten(2).transpose(1, 2)
loss = e(x).mean()
""",
    ),
    (
        "LeNet",
        "layers",
        """
net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.MaxPool2d(2),
                    nn.Conv2d(2, 4, 3), nn.ReLU(), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(4, 3))
loss = F.cross_entropy(net(torch.randn(2, 1, 10, 10)), torch.tensor([0, 2]))
""",
    ),
    (
        "logistic regression, its loss by hand: p is used twice",
        "",
        """
x, y = (torch.randn(8, 3), torch.tensor([0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0]))
w, b = (torch.randn(3, 1, requires_grad=True), torch.zeros(1, requires_grad=True))
p = torch.sigmoid(x @ w + b).squeeze(1)
loss = -(y * p.log() + (1 - y) * (1 - p).log()).mean()
""",
    ),
    (
        "linear regression by @",
        "layers",
        """
x, y = (torch.randn(8, 3), torch.randn(8, 1))
w = torch.randn(3, 1, requires_grad=True)
loss = ((x @ w - y) ** 2).mean()
""",
    ),
    (
        "MLP with a skip over one layer",
        "",
        """
x = torch.randn(4, 5)
a, b, c = (nn.Linear(5, 6), nn.Linear(6, 6), nn.Linear(6, 2))
h = torch.relu(a(x))
h2 = torch.relu(b(h)) + h
loss = c(h2).pow(2).mean()
""",
    ),
    (
        "DenseNet: concatenated features",
        "",
        """
x = torch.randn(4, 3)
a, b = (nn.Linear(3, 3), nn.Linear(6, 3))
h = torch.relu(a(x))
loss = b(torch.cat([x * 1.0, h], 1)).pow(2).mean()
""",
    ),
    (
        "GAN generator step",
        "layers",
        """
G = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 3))
D = nn.Sequential(nn.Linear(3, 4), nn.LeakyReLU(0.2), nn.Linear(4, 1))
for p in D.parameters():
    p.requires_grad_(False)
loss = F.softplus(-D(G(torch.randn(5, 2)))).mean()
""",
    ),
    (
        "power iteration",
        "recurrence",
        """
A = torch.randn(4, 4, requires_grad=True)
v = torch.ones(4, 1)
for _ in range(6):
    v = A @ v
    v = v / v.norm()
loss = (v.T @ A @ v).sum()
""",
    ),
]

# Written in the manner of tutorials after the rules were finished, and run once: all 20 were right at first sight.
UNSEEN = [
    (
        "regression with a hidden layer, F.mse_loss",
        "layers",
        """
x = torch.linspace(-3, 3, 20).unsqueeze(1)
y = x.sin()
model = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
loss = F.mse_loss(model(x), y)
""",
    ),
    (
        "a Module with fc1 and fc2, relu in forward",
        "layers",
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(4, 10)
        self.fc2 = nn.Linear(10, 3)
    def forward(self, x):
        x = F.relu(self.fc1(x))
        return self.fc2(x)
net = Net()
loss = nn.CrossEntropyLoss()(net(torch.randn(6, 4)), torch.tensor([0, 1, 2, 0, 1, 2]))
""",
    ),
    (
        "a CNN with view(-1, ...) in forward",
        "layers",
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 4, 3)
        self.conv2 = nn.Conv2d(4, 6, 3)
        self.fc = nn.Linear(6 * 2 * 2, 5)
    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.fc(x.view(x.size(0), -1))
loss = F.cross_entropy(Net()(torch.randn(2, 1, 14, 14)), torch.tensor([1, 4]))
""",
    ),
    (
        "char RNN with nn.RNN and a Linear on all outputs",
        "recurrence",
        """
rnn, fc = nn.RNN(5, 8, batch_first=True), nn.Linear(8, 5)
out, h = rnn(torch.randn(2, 7, 5))
loss = F.cross_entropy(fc(out).reshape(-1, 5), torch.randint(0, 5, (14,)))
""",
    ),
    (
        "the names RNN: i2h and i2o on cat(input, hidden)",
        "recurrence",
        """
class RNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.i2h = nn.Linear(6 + 8, 8)
        self.i2o = nn.Linear(6 + 8, 3)
    def forward(self, x, hidden):
        combined = torch.cat((x, hidden), 1)
        hidden = self.i2h(combined)
        return self.i2o(combined), hidden
rnn, hidden = RNN(), torch.zeros(1, 8)
for t in range(5):
    output, hidden = rnn(torch.randn(1, 6), hidden)
loss = F.cross_entropy(output, torch.tensor([2]))
""",
    ),
    (
        "LSTM classifier on the last hidden state",
        "recurrence",
        """
emb, lstm, fc = nn.Embedding(9, 4), nn.LSTM(4, 6, batch_first=True), nn.Linear(6, 2)
out, (h, c) = lstm(emb(torch.randint(0, 9, (2, 6))))
loss = F.cross_entropy(fc(h[-1]), torch.tensor([0, 1]))
""",
    ),
    (
        "micro GPT head: key, query, value, tril",
        "attention",
        """
B, T, C, head_size = 2, 5, 8, 4
x = torch.randn(B, T, C)
key, query, value = (nn.Linear(C, head_size, bias=False) for _ in range(3))
k, q = key(x), query(x)
wei = q @ k.transpose(-2, -1)
tril = torch.tril(torch.ones(T, T))
wei = wei.masked_fill(tril == 0, float('-inf'))
wei = F.softmax(wei, dim=-1)
out = wei @ value(x)
loss = out.pow(2).mean()
""",
    ),
    (
        "nanoGPT with F.scaled_dot_product_attention",
        "lane",
        """
class Block(nn.Module):
    def __init__(self, C, H):
        super().__init__()
        self.H = H
        self.ln_1, self.ln_2 = nn.LayerNorm(C), nn.LayerNorm(C)
        self.c_attn, self.c_proj = nn.Linear(C, 3 * C), nn.Linear(C, C)
        self.fc, self.proj = nn.Linear(C, 4 * C), nn.Linear(4 * C, C)
    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.c_attn(self.ln_1(x)).split(C, dim=2)
        q, k, v = (t.view(B, T, self.H, C // self.H).transpose(1, 2) for t in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.c_proj(y.transpose(1, 2).contiguous().view(B, T, C))
        return x + self.proj(F.gelu(self.fc(self.ln_2(x))))
wte, wpe = nn.Embedding(7, 8), nn.Embedding(6, 8)
h = nn.ModuleList([Block(8, 2) for _ in range(2)])
idx = torch.randint(0, 7, (2, 6))
x = wte(idx) + wpe(torch.arange(6))
for block in h:
    x = block(x)
logits = nn.LayerNorm(8)(x) @ wte.weight.t()
loss = F.cross_entropy(logits.view(-1, 7), idx.view(-1))
""",
    ),
    (
        "multi-head attention of a list of heads, projected",
        "attention",
        """
class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.key, self.query, self.value = (nn.Linear(8, 4, bias=False) for _ in range(3))
    def forward(self, x):
        wei = self.query(x) @ self.key(x).transpose(-2, -1) * 4 ** -0.5
        wei = F.softmax(wei.masked_fill(torch.tril(torch.ones(5, 5)) == 0, float('-inf')), dim=-1)
        return wei @ self.value(x)
class MultiHead(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleList([Head() for _ in range(2)])
        self.proj = nn.Linear(8, 8)
    def forward(self, x):
        return self.proj(torch.cat([h(x) for h in self.heads], dim=-1))
loss = MultiHead()(torch.randn(2, 5, 8)).pow(2).mean()
""",
    ),
    (
        "additive attention: a tanh of a sum, softmax, weighted sum",
        "",
        """
h, s = torch.randn(6, 8), torch.randn(1, 8)
W, U, v = torch.randn(8, 5, requires_grad=True), torch.randn(8, 5, requires_grad=True), torch.randn(5, 1, requires_grad=True)
e = torch.tanh(h @ W + s @ U) @ v
a = F.softmax(e, dim=0)
loss = (a.T @ h).pow(2).sum()
""",
    ),
    (
        "softmax regression from scratch, p[range(n), y].log()",
        "",
        """
X, y = torch.randn(5, 4), torch.tensor([0, 2, 1, 1, 0])
W, b = torch.randn(4, 3, requires_grad=True), torch.zeros(3, requires_grad=True)
logits = X @ W + b
counts = logits.exp()
p = counts / counts.sum(1, keepdim=True)
loss = -p[torch.arange(5), y].log().mean()
""",
    ),
    (
        "makemore bigram with one-hot rows",
        "",
        """
xenc = F.one_hot(torch.tensor([0, 5, 3]), num_classes=7).float()
W = torch.randn(7, 7, requires_grad=True)
logits = xenc @ W
counts = logits.exp()
probs = counts / counts.sum(1, keepdims=True)
loss = -probs[torch.arange(3), torch.tensor([5, 3, 0])].log().mean() + 0.01 * (W ** 2).mean()
""",
    ),
    (
        "an MLP with weight decay in the loss",
        "",
        """
x, y = torch.randn(6, 3), torch.randn(6, 1)
net = nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 1))
loss = F.mse_loss(net(x), y) + 0.01 * sum(p.pow(2).sum() for p in net.parameters())
""",
    ),
    (
        "a residual network of convolutions with batch norm",
        "lane",
        """
class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(c, c, 3, padding=1), nn.BatchNorm2d(c)
        self.conv2, self.bn2 = nn.Conv2d(c, c, 3, padding=1), nn.BatchNorm2d(c)
    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)))
        return F.relu(self.bn2(self.conv2(out)) + x)
net = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), Block(4), Block(4), nn.Flatten(), nn.Linear(4 * 36, 3))
loss = F.cross_entropy(net(torch.randn(2, 1, 6, 6)), torch.tensor([0, 2]))
""",
    ),
    (
        "a GRU cell in a loop over words",
        "recurrence",
        """
cell, E = nn.GRUCell(3, 5), nn.Embedding(10, 3)
h = torch.zeros(1, 5)
for w in [1, 4, 2, 8]:
    h = cell(E(torch.tensor([w])), h)
loss = h.sum()
""",
    ),
    (
        "two towers: a dot product of two encoders",
        "",
        """
a, b = nn.Linear(6, 4), nn.Linear(5, 4)
u, v = F.relu(a(torch.randn(3, 6))), F.relu(b(torch.randn(3, 5)))
loss = F.cross_entropy(u @ v.T, torch.arange(3))
""",
    ),
    (
        "matrix factorisation: the dot of two embeddings",
        "",
        """
U, V = nn.Embedding(6, 4), nn.Embedding(7, 4)
score = (U(torch.tensor([0, 1, 2])) * V(torch.tensor([3, 4, 5]))).sum(1)
loss = (score - torch.tensor([1.0, 0.0, 1.0])).pow(2).mean()
""",
    ),
    (
        "an encoder layer on images cut into patches, mean pooled",
        "lane",
        """
patches = torch.randn(2, 4, 12)
proj = nn.Linear(12, 8)
pos = torch.randn(1, 4, 8, requires_grad=True)
enc = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
x = enc(proj(patches) + pos).mean(dim=1)
loss = F.cross_entropy(nn.Linear(8, 3)(x), torch.tensor([0, 2]))
""",
    ),
    (
        "a normalising flow: a chain of scalings and shifts",
        "",
        """
z = torch.randn(5, 2)
s, t = [[torch.randn(2, requires_grad=True) for _ in range(3)] for _ in range(2)]
logdet = 0
for k in range(3):
    z = z * s[k].exp() + t[k]
    logdet = logdet + s[k].sum()
loss = z.pow(2).sum(1).mean() / 2 - logdet
""",
    ),
    (
        "one hidden state with a skip to the output, twice",
        "",
        """
W = torch.randn(4, 4, requires_grad=True)
x = torch.randn(3, 4)
h = torch.tanh(x @ W)
y = torch.tanh(h @ W) + x @ W
loss = y.pow(2).mean()
""",
    ),
    (
        "attention of given q, k and v",
        "attention",
        """
q, k, v = (torch.randn(5, 4, requires_grad=True) for _ in range(3))
loss = (F.softmax(q @ k.T / 2, dim=-1) @ v).sum()
""",
    ),
    (
        "softmax as the activation between two weights",
        "",
        """
x = torch.randn(5, 4)
a, b = torch.randn(6, 4, requires_grad=True), torch.randn(6, 3, requires_grad=True)
loss = (F.softmax(x @ a.T, dim=-1) @ b).sum()
""",
    ),
    (
        "RNN by hand, states and inputs without a batch",
        "recurrence",
        """
Wx, Wh, b = torch.randn(3, 5), torch.randn(5, 5), torch.zeros(5)
for p in (Wx, Wh, b):
    p.requires_grad_()
xs, h = torch.randn(8, 3), torch.zeros(5)
for t in range(8):
    h = torch.tanh(xs[t] @ Wx + h @ Wh + b)
loss = (h ** 2).sum()
""",
    ),
    (
        "a block with two heads in a list",
        "lane",
        """
class Head(nn.Module):
    def __init__(self, d, size):
        super().__init__()
        self.key, self.query, self.value = (nn.Linear(d, size, bias=False) for _ in range(3))
    def forward(self, x):
        k, q, v = self.key(x), self.query(x), self.value(x)
        wei = q @ k.transpose(-2, -1) * k.shape[-1] ** -0.5
        wei = wei.masked_fill(torch.tril(torch.ones(6, 6)) == 0, float("-inf"))
        return F.softmax(wei, dim=-1) @ v
class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.heads = nn.ModuleList([Head(d, d // 2) for _ in range(2)])
        self.proj, self.ln1, self.ln2 = nn.Linear(d, d), nn.LayerNorm(d), nn.LayerNorm(d)
        self.ffwd = nn.Sequential(nn.Linear(d, 2 * d), nn.ReLU(), nn.Linear(2 * d, d))
    def forward(self, x):
        y = self.ln1(x)
        x = x + self.proj(torch.cat([h(y) for h in self.heads], dim=-1))
        return x + self.ffwd(self.ln2(x))
block = Block(8)
loss = (block(torch.randn(1, 6, 8)) ** 2).mean()
""",
    ),
    (
        "makemore: embeddings, batch norm in plain operations, tanh",
        "layers",
        """
C, W1 = torch.randn(7, 3, requires_grad=True), torch.randn(6, 8, requires_grad=True)
g, b = torch.ones(1, 8, requires_grad=True), torch.zeros(1, 8, requires_grad=True)
W2, b2 = torch.randn(8, 7, requires_grad=True), torch.randn(7, requires_grad=True)
emb = C[torch.randint(0, 7, (5, 2))]
hpre = emb.view(emb.shape[0], -1) @ W1
mean, var = hpre.mean(0, keepdim=True), hpre.var(0, keepdim=True)
h = torch.tanh(g * (hpre - mean) / torch.sqrt(var + 0.00001) + b)
loss = F.cross_entropy(h @ W2 + b2, torch.randint(0, 7, (5,)))
""",
    ),
    (
        "a deviation from the mean that is used twice",
        "",
        """
W = torch.randn(4, 6, requires_grad=True)
h = torch.randn(5, 4) @ W
d = h - h.mean(0, keepdim=True)
loss = (d / d.std(0, keepdim=True)).sum() + torch.relu(d).sum()
""",
    ),
    (
        "bigram: one-hot rows, softmax in plain operations",
        "layers",
        """
W = torch.randn(7, 7, requires_grad=True)
xenc = F.one_hot(torch.tensor([0, 3, 2, 1]), num_classes=7).float()
counts = (xenc @ W).exp()
probs = counts / counts.sum(1, keepdim=True)
loss = -probs[torch.arange(4), torch.tensor([3, 2, 1, 0])].log().mean()
""",
    ),
]
