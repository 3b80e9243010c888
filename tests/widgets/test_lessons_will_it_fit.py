"""Will it fit?: the arithmetic beside the bytes of a real transformer, and the settings that fit."""

import minigrad as torch
from minigrad import nn
from minigrad.autograd.graph import saved_bytes
from minigrad.nn import functional as F
from widgets.lessons import will_it_fit
from widgets.lessons.will_it_fit import Transformer


class Small(nn.Module):
    """One block of a transformer, with the heads written out."""

    def __init__(self, d, vocabulary, length):
        super().__init__()
        self.letter, self.place = nn.Embedding(vocabulary, d), nn.Embedding(length, d)
        self.one, self.two, self.last = nn.LayerNorm(d), nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.out, self.head = nn.Linear(d, 3 * d), nn.Linear(d, d), nn.Linear(d, vocabulary)
        self.up, self.down = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(self, ids, heads=4):
        n, t = ids.shape
        x = self.letter(ids) + self.place(torch.arange(t))
        q, k, v = (z.reshape(n, t, heads, -1).transpose(1, 2) for z in self.qkv(self.one(x)).chunk(3, -1))
        scores = (q @ k.transpose(-2, -1) / (x.shape[-1] // heads) ** 0.5).masked_fill(
            torch.ones(t, t).triu(1) > 0, -torch.inf
        )
        x = x + self.out((torch.softmax(scores, -1) @ v).transpose(1, 2).reshape(n, t, -1))
        return self.head(self.last(x + self.down(F.gelu(self.up(self.two(x))))))


def test_the_arithmetic_is_what_a_real_one_takes():
    d, vocabulary, length, batch = 64, 61, 48, 12
    torch.manual_seed(0)
    model, said = Small(d, vocabulary, length), Transformer(1, d, 4, vocabulary, length, tied=False)
    assert sum(p.numel() for p in model.parameters()) == said.parameters()
    rows = torch.randint(0, vocabulary, (batch, length + 1))
    loss = F.cross_entropy(model(rows[:, :-1]).reshape(-1, vocabulary), rows[:, 1:].reshape(-1))
    kept = 4 * (said.block(batch) + said.ends(batch))
    assert abs(saved_bytes(loss) / kept - 1) < 0.02


def test_what_fits():
    fits = lambda **settings: "fits into" in will_it_fit(**settings).text()  # noqa: E731
    assert "1.16 billion parameters need 41.2 GB" in will_it_fit().text() and not fits()
    assert not fits(batch=4) and not fits(length=512) and not fits(averages=True)
    assert fits(checkpoints=True) and not fits(precision=False, batch=1)
    assert "activations  2.5" in will_it_fit(checkpoints=True).text()
