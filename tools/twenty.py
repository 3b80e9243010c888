"""Twenty programs that people write when they learn this, each drawn at five widths, light and dark, to be looked at and scored.

What lives here: the programs, and their pictures: `python -m tools.twenty FOLDER [name ...]` runs each one, saves its view as a page
(the script and the state of JupyterLab, laid out for the width as JupyterLab asks for it), and photographs it after the forward and after
the backward pass. sheet_WIDTH_THEME_PHASE.png shows all of them at once. What does not: the tests (tests/browser/test_figures.py).
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw
from playwright.sync_api import Browser, sync_playwright

from widgets import graph
from widgets.kernel import record_lines

from .lab import CHROMIUM_FLAGS, find_chromium

WIDTHS = (390, 640, 831, 1280, 1600)
HEIGHT = 900
TENSORS = (
    "import minigrad as torch\nimport minigrad.nn as nn\nimport minigrad.nn.functional as F\ntorch.manual_seed(0)\n"
)
VALUES = "import random\nfrom minigrad import Value\nrandom.seed(1)\n"
MLP = """
class Neuron:
    def __init__(self, nin):
        self.w = [Value(random.uniform(-1, 1)) for _ in range(nin)]
        self.b = Value(random.uniform(-1, 1))
    def __call__(self, x):
        act = sum((wi * xi for wi, xi in zip(self.w, x)), self.b)
        out = act.tanh()
        return out

class Layer:
    def __init__(self, nin, nout):
        self.neurons = [Neuron(nin) for _ in range(nout)]
    def __call__(self, x):
        outs = [n(x) for n in self.neurons]
        return outs[0] if len(outs) == 1 else outs

class MLP:
    def __init__(self, nin, nouts):
        sizes = [nin] + nouts
        self.layers = [Layer(sizes[i], sizes[i + 1]) for i in range(len(nouts))]
    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
"""
HEAD = """
class Head(nn.Module):
    def __init__(self, d, size):
        super().__init__()
        self.key = nn.Linear(d, size, bias=False)
        self.query = nn.Linear(d, size, bias=False)
        self.value = nn.Linear(d, size, bias=False)
    def forward(self, x):
        k, q, v = self.key(x), self.query(x), self.value(x)
        wei = q @ k.transpose(-2, -1) * k.shape[-1] ** -0.5
        wei = wei.masked_fill(torch.tril(torch.ones(x.shape[-2], x.shape[-2])) == 0, float("-inf"))
        wei = F.softmax(wei, dim=-1)
        return wei @ v
"""
BLOCK = """
class Attention(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.qkv, self.proj, self.heads = nn.Linear(d, 3 * d), nn.Linear(d, d), heads
    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).split(C, dim=2)
        q = q.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        k = k.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        v = v.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        att = (q @ k.transpose(-2, -1)) / (C // self.heads) ** 0.5
        att = att.masked_fill(torch.tril(torch.ones(T, T)) == 0, float("-inf"))
        att = F.softmax(att, dim=-1)
        y = (att @ v).transpose(1, 2).contiguous().view(B, T, C)
        return self.proj(y)

class Block(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.ln1, self.attn = nn.LayerNorm(d), Attention(d, heads)
        self.ln2, self.mlp = nn.LayerNorm(d), nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, d))
    def forward(self, x):
        x = x + self.attn(self.ln1(x))
        x = x + self.mlp(self.ln2(x))
        return x
"""
PROGRAMS = {
    "01_square": VALUES + "x = Value(2.0)\ny = (3 * x + 2) ** 2\nresult = y\n",
    "02_typed_mlp": VALUES + MLP + """
xs = [[2.0, 3.0, -1.0], [3.0, -1.0, 0.5], [0.5, 1.0, 1.0], [1.0, 1.0, -1.0]]
ys = [1.0, -1.0, -1.0, 1.0]
net = MLP(3, [4, 4, 1])
ypred = [net(x) for x in xs]
loss = sum((yout - ygt) ** 2 for ygt, yout in zip(ys, ypred))
loss.backward()
result = loss
""",
    "03_mlp_100": VALUES + MLP + """
xs = [[random.uniform(-1, 1) for _ in range(3)] for _ in range(100)]
ys = [1.0 if x[0] * x[1] > 0 else -1.0 for x in xs]
net = MLP(3, [4, 4, 1])
ypred = [net(x) for x in xs]
loss = sum((yout - ygt) ** 2 for ygt, yout in zip(ys, ypred))
result = loss
""",
    "04_moons": VALUES + "import math\n" + MLP.replace("tanh", "relu") + """
xs, ys = [], []
for i in range(100):
    t = math.pi * random.random()
    up = i % 2
    xs.append([math.cos(t) if up else 1 - math.cos(t), math.sin(t) if up else 0.5 - math.sin(t)])
    ys.append(1 if up else -1)
model = MLP(2, [16, 16, 1])
scores = [model(x) for x in xs]
loss = sum((1 - yi * si).relu() for yi, si in zip(ys, scores)) * (1.0 / len(ys))
result = loss
""",
    "05_backward_twice": VALUES + """
x = Value(3.0)
y = x * x + x
y.backward()
y.backward()
result = y
""",
    "06_sequential": TENSORS + """
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
x, y = torch.randn(6, 4), torch.randint(0, 3, (6,))
loss = F.cross_entropy(net(x), y)
loss.backward()
result = loss
""",
    "07_cnn": TENSORS + """
class CNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 4, 3, padding=1), nn.Conv2d(4, 8, 3, padding=1)
        self.fc = nn.Linear(8 * 3 * 3, 4)
    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.fc(x.flatten(1))
cnn = CNN()
images, labels = torch.randn(2, 1, 12, 12), torch.randint(0, 4, (2,))
loss = F.cross_entropy(cnn(images), labels)
result = loss
""",
    "08_rnn_by_hand": TENSORS + """
Wx, Wh = torch.randn(3, 5) * 0.5, torch.randn(5, 5) * 0.5
b = torch.zeros(5)
for p in (Wx, Wh, b):
    p.requires_grad_()
xs = torch.randn(8, 3)
h = torch.zeros(5)
for t in range(8):
    h = torch.tanh(xs[t] @ Wx + h @ Wh + b)
loss = (h ** 2).sum()
result = loss
""",
    "09_rnn_module": TENSORS + """
class RNN(nn.Module):
    def __init__(self, n_in, n_hidden, n_out):
        super().__init__()
        self.i2h = nn.Linear(n_in + n_hidden, n_hidden)
        self.h2o = nn.Linear(n_hidden, n_out)
    def forward(self, line):
        hidden = torch.zeros(1, 6)
        for letter in line:
            hidden = torch.tanh(self.i2h(torch.cat((letter, hidden), 1)))
        return self.h2o(hidden)
rnn = RNN(4, 6, 3)
line = torch.randn(8, 1, 4)
loss = F.cross_entropy(rnn(line), torch.tensor([1]))
loss.backward()
result = loss
""",
    "10_lstm": TENSORS + """
W = (torch.randn(7, 16) * 0.5).requires_grad_()
b = torch.zeros(16, requires_grad=True)
xs = torch.randn(10, 1, 3)
h, c = torch.zeros(1, 4), torch.zeros(1, 4)
for x in xs:
    i, f, o, g = (torch.cat([x, h], 1) @ W + b).chunk(4, 1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    h = torch.sigmoid(o) * torch.tanh(c)
loss = (h ** 2).mean()
result = loss
""",
    "11_transformer_block": TENSORS + HEAD + """
class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.sa = nn.ModuleList([Head(d, d // 2) for _ in range(2)])
        self.proj = nn.Linear(d, d)
        self.ffwd = nn.Sequential(nn.Linear(d, 2 * d), nn.ReLU(), nn.Linear(2 * d, d))
        self.ln1, self.ln2 = nn.LayerNorm(d), nn.LayerNorm(d)
    def forward(self, x):
        y = self.ln1(x)
        x = x + self.proj(torch.cat([h(y) for h in self.sa], dim=-1))
        x = x + self.ffwd(self.ln2(x))
        return x
gpt = Block(8)
x = torch.randn(1, 6, 8)
out = gpt(x)
loss = (out ** 2).mean()
result = loss
""",
    "12_two_blocks": TENSORS + BLOCK + """
class GPT(nn.Module):
    def __init__(self, vocab, d, T):
        super().__init__()
        self.tok, self.pos = nn.Embedding(vocab, d), nn.Embedding(T, d)
        self.blocks = nn.Sequential(Block(d, 2), Block(d, 2))
        self.ln_f, self.head = nn.LayerNorm(d), nn.Linear(d, vocab)
    def forward(self, idx):
        x = self.tok(idx) + self.pos(torch.arange(idx.shape[1]))
        return self.head(self.ln_f(self.blocks(x)))
gpt = GPT(10, 8, 6)
idx = torch.randint(0, 10, (2, 6))
logits = gpt(idx)
loss = F.cross_entropy(logits.view(-1, 10), torch.randint(0, 10, (12,)))
result = loss
""",
    "13_attention_mask": TENSORS + HEAD + """
head = Head(8, 4)
x = torch.randn(6, 8)
out = head(x)
loss = (out ** 2).mean()
result = loss
""",
    "14_detach": TENSORS + """
w = torch.randn(3, 3, requires_grad=True)
x = torch.randn(2, 3)
hh = torch.tanh(x @ w)
buf = hh * 1.0
buf[0].mul_(2)
target = hh.detach() * 0.5
with torch.no_grad():
    scale = hh.abs().mean()
dl = ((buf - target) ** 2).sum() / scale
dl.backward()
result = dl
""",
    "15_residual": TENSORS + """
class Res(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(d, d), nn.Linear(d, d)
    def forward(self, x):
        return x + self.fc2(F.relu(self.fc1(x)))
net = nn.Sequential(Res(6), Res(6))
x = torch.randn(4, 6)
loss = (net(x) ** 2).mean()
result = loss
""",
    "16_weight_tying": TENSORS + """
emb = nn.Embedding(7, 5)
tokens, target = torch.tensor([1, 4, 2, 6]), torch.tensor([4, 2, 6, 0])
h = torch.tanh(emb(tokens))
logits = h @ emb.weight.T
loss = F.cross_entropy(logits, target)
result = loss
""",
    "17_six_diamonds": VALUES + "y = Value(1.1)\nfor k in range(6):\n    a = y * 0.5\n    b = y + 1\n    y = a * b\nresult = y\n",
    "18_loop_300": TENSORS + """
w, b = torch.tensor(0.9, requires_grad=True), torch.tensor(0.01, requires_grad=True)
h = torch.tensor(1.0)
for t in range(100):
    h = torch.tanh(w * h + b)
result = h ** 2
""",
    "19_second_order": TENSORS + """
x = torch.tensor(1.5, requires_grad=True)
y = x ** 2 * x.sin()
(dy,) = torch.autograd.grad(y, x, create_graph=True)
result = dy ** 2
""",
    "20_one_line": VALUES + """
a, b, c, d = Value(2.0), Value(-3.0), Value(0.5), Value(1.5)
L = ((a * b + c).tanh() * d + (a - d) ** 2) / (b * b + 1) + (c * d - a * c).exp() * 0.1
result = L
""",
}  # fmt: skip


def view(name: str, width: int) -> Any:
    """The view of a program, as JupyterLab has it laid out for a window of this width."""
    space: dict[str, Any] = {"__name__": "program"}
    code = PROGRAMS[name]
    linecache.cache["program.py"] = (len(code), None, code.splitlines(keepends=True), "program.py")
    record_lines(True)  # as the extension does it before each cell
    try:
        exec(compile(code, "program.py", "exec"), space)
        names = {k: v for k, v in space.items() if not k.startswith("_") and k != "result"}
        made = graph(space["result"], names=names)
    finally:
        record_lines(False)
    made.step = sum(event["phase"] == "forward" for event in made.trace["steps"])
    made._on_message(made, {"type": "narrow"}, [])
    return made


def draw(browser: Browser, folder: Path, name: str) -> None:
    """The pictures of one program."""
    for width in WIDTHS:
        page_ = view(name, width).save(folder / f"{name}_{width}.html")
        for theme in ("light", "dark"):
            context = browser.new_context(
                viewport={"width": width, "height": HEIGHT}, reduced_motion="reduce", color_scheme=theme
            )  # type: ignore[arg-type]
            page = context.new_page()
            page.goto(page_.as_uri())
            page.locator(".mg-stage svg").first.wait_for()
            # a picture of the whole page has no window for the player to stick to
            page.add_style_tag(content=".mg-player { position: static !important }")
            root = page.locator(".mg-root")
            for phase, key in (("forward", ""), ("backward", "End")):
                if key:
                    root.focus()
                    page.keyboard.press(key)
                page.mouse.move(1, 1)
                page.wait_for_timeout(150)
                page.screenshot(path=folder / f"{name}_{width}_{theme}_{phase}.png", full_page=True)
            context.close()


def sheets(folder: Path, names: Iterable[str]) -> None:
    """All programs of one width, theme and phase on one picture."""
    for width in WIDTHS:
        columns = {390: 7, 640: 5, 831: 4, 1280: 4, 1600: 4}[width]
        cell = 1960 // columns
        for theme in ("light", "dark"):
            for phase in ("forward", "backward"):
                found = [(n, f) for n in names if (f := folder / f"{n}_{width}_{theme}_{phase}.png").exists()]
                small = []
                for n, file in found:
                    image = Image.open(file).convert("RGB")
                    image = image.crop((0, 0, image.width, min(image.height, int(image.width * 1.6))))
                    small.append(
                        (
                            n,
                            image.resize(
                                (cell - 8, int(image.height * (cell - 8) / image.width)), Image.Resampling.LANCZOS
                            ),
                        )
                    )
                rows = [small[k : k + columns] for k in range(0, len(small), columns)]
                high = [max(i.height for _, i in row) + 22 for row in rows]
                sheet = Image.new("RGB", (cell * columns, sum(high)), "grey")
                pen, y = ImageDraw.Draw(sheet), 0
                for row, h in zip(rows, high, strict=True):
                    for k, (n, image) in enumerate(row):
                        pen.text((k * cell + 6, y + 4), n, fill="white")
                        sheet.paste(image, (k * cell + 4, y + 20))
                    y += h
                sheet.save(folder / f"sheet_{width}_{theme}_{phase}.png")


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    asked = [n for n in PROGRAMS if not sys.argv[2:] or any(word in n for word in sys.argv[2:])]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=CHROMIUM_FLAGS)
        for name in asked:
            draw(browser, folder, name)
            print(name, flush=True)
        browser.close()
    sheets(folder, PROGRAMS)


if __name__ == "__main__":
    main()
