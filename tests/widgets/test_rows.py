"""Pictures in one column, layers in the middle of many, the trail of what was opened, and what a small stage gets."""

import re

import pytest

import minigrad as torch
from minigrad import Value, nn
from minigrad.core import provenance
from tests.front.test_front import network_view
from tests.widgets.test_narrower import cards, chain, classifier, cut_graph, points
from widgets import graph
from widgets.graph import LAYERS
from widgets.layout import layout
from widgets.network_picture import geometry
from widgets.rows import narrower, rows
from widgets.static import svg


@pytest.fixture(autouse=True)
def noted():
    provenance.record_lines(True, 20_000)
    yield
    provenance.record_lines(False)


def deep(count=12):
    torch.manual_seed(1)
    model = nn.Sequential(*(nn.Sequential(nn.Linear(4, 4), nn.Tanh()) for _ in range(count)), nn.Linear(4, 3))
    L = nn.functional.cross_entropy(model(torch.randn(6, 4)), torch.tensor([0, 1, 2, 0, 1, 2]))
    return model, L, cards(L, names={"model": model, "L": L})


@pytest.mark.parametrize("build", [lambda: chain(1), lambda: chain(3), lambda: classifier()[2], lambda: cut_graph("detach"),
                                   lambda: deep()[2]])  # fmt: skip
def test_in_a_column_every_card_stands_below_what_it_is_made_of(build):
    view = build()
    picture = rows(view.trace, layout(view.trace, view._frames()))
    cards = {c["id"]: c for c in picture["cards"]}
    assert len(cards) == len(view.trace["nodes"]) and all(c["flat"] for c in cards.values())
    below = sorted(cards.values(), key=lambda c: c["y"])
    assert (
        all(a["y"] + a["h"] < b["y"] for a, b in zip(below, below[1:], strict=False))
        and below[-1]["y"] + below[-1]["h"] < picture["h"]
    )
    assert all(0 < c["x"] and c["x"] + c["w"] < picture["w"] for c in below)
    for wire in picture["wires"]:
        edge, line = view.trace["edges"][wire["id"]], list(points(wire["d"]))
        source, target = cards[edge["source"]], cards[edge["target"]]
        assert source["y"] < target["y"]
        assert line[0][0] == pytest.approx(source["x"], abs=0.2) and line[-1][0] == pytest.approx(target["x"], abs=0.2)
        for card, (_, y) in ((source, line[0]), (target, line[-1])):
            assert card["y"] < y < card["y"] + card["h"]
        assert all(-1 <= x <= card["x"] + 0.2 for x, _ in line), "wires run at the left of the cards"
    for cut in picture.get("cuts", ()):
        assert list(points(cut["d"]))[-1][1] == pytest.approx(cards[cut["target"]]["y"], abs=0.2)
        above = [c for c in below if c["y"] < cards[cut["target"]]["y"]]
        assert above[-1]["y"] + above[-1]["h"] < cut["py"] < cards[cut["target"]]["y"], (
            "its words have a line of their own"
        )
    for frame in picture.get("frames", ()):
        fold = view._folds.by_key[frame["fold"]]
        for member in {view._part.new[m] for m in fold.members}:
            assert frame["y"] < cards[member]["y"] and cards[member]["y"] + cards[member]["h"] < frame["y"] + frame["h"]


def test_the_row_of_a_fold_with_several_results_has_no_number_of_its_own():
    view = network_view()
    view.fold("operations")
    view.fold("all")
    drawn = svg(view.trace, rows(view.trace, layout(view.trace, view._frames())))
    many = [n for n in view.trace["nodes"] if n["kind"] == "fold" and n["outs"] != 1]
    assert many and len(re.findall(r">\d+ results<", drawn)) == len(many)


def test_a_row_has_its_numbers_and_the_arrows_point_into_the_cards():
    x = Value(1.0)
    y = (3 * x + 2) ** 2
    view = cards(y, names={"x": x, "y": y})
    drawn = svg(view.trace, rows(view.trace, view.picture))
    for text in (">25<", ">30<", ">10<", ">(3x + 2)²<"):
        assert text in drawn
    heads = re.findall(r'class="h hb" d="M([\d.]+) [\d.]+l(-?\d+)', drawn)
    left = min(c["x"] for c in rows(view.trace, view.picture)["cards"])
    assert heads and all(float(at) == pytest.approx(left, abs=0.2) and way == "-10" for at, way in heads)


def test_a_small_stage_gets_a_column():
    view = chain(2)
    cards = len(view.trace["nodes"])
    view._on_message(view, {"type": "narrow"}, [])
    shown = view.picture["wraps"][-1]
    assert shown["w"] < 300 and len(shown["cards"]) == cards == len(view.whole["nodes"]), "what runs down is scrolled"
    view.fold("none")
    assert view.picture["wraps"], "what is opened later has one as well"
    one = graph(Value(1.0))
    assert [*narrower(one.trace, one.picture)] == [], "a single card needs no other picture"


def attention(q, k, v):
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    scores = scores.masked_fill(torch.ones(5, 5).triu(1) > 0, float("-inf"))
    return scores.softmax(-1) @ v


class Poet(nn.Module):
    """A transformer of one block."""

    def __init__(self):
        super().__init__()
        self.letter, self.place = nn.Embedding(8, 4), nn.Embedding(5, 4)
        self.norm1, self.norm2, self.norm = nn.LayerNorm(4), nn.LayerNorm(4), nn.LayerNorm(4)
        self.qkv, self.out, self.head = nn.Linear(4, 12), nn.Linear(4, 4), nn.Linear(4, 8)
        self.mlp = nn.Sequential(nn.Linear(4, 16), nn.GELU(), nn.Linear(16, 4))

    def forward(self, ids):
        x = self.letter(ids) + self.place(torch.arange(5))
        q, k, v = (z.reshape(1, 5, 1, 4).transpose(1, 2) for z in self.qkv(self.norm1(x)).chunk(3, -1))
        mixed = attention(q, k, v)
        x = x + self.out(mixed.transpose(1, 2).reshape(1, 5, 4))
        x = x + self.mlp(self.norm2(x))
        return self.head(self.norm(x))


def test_a_transformer_shows_its_attention_on_a_narrow_stage():
    torch.manual_seed(0)
    poet = Poet()
    loss = nn.functional.cross_entropy(
        poet(torch.tensor([[1, 2, 3, 0, 4]])).reshape(-1, 8), torch.tensor([2, 3, 0, 4, 5])
    )
    view = cards(loss, names={"poet": poet, "loss": loss})
    width = 522
    opened = [n["label"] for n in view.trace["nodes"]]
    view._on_message(view, {"type": "narrow"}, [])
    names = " ".join(n["label"] for n in view.trace["nodes"])
    assert "scores, line" in names and "softmax" in names and [n["label"] for n in view.trace["nodes"]] == opened
    assert view.picture["wraps"][-1]["w"] < width, "and all of it is legible where one scrolls down"


@pytest.mark.parametrize("count", [12, 40])
def test_of_many_layers_the_ends_are_shown_and_the_middle_is_one_card(count):
    _, _, view = deep(count)
    shown = [n["label"] for n in view.trace["nodes"] if n["label"].startswith("model")]
    first, last = f"model[{count - 3}]", f"model[{count - 1}]"
    middle = f"model[3] … model[{count - 4}]"
    assert middle in shown and first in " ".join(shown) and last in " ".join(shown) and f"model[{count}]" in shown
    assert len(view.trace["nodes"]) <= LAYERS
    key = next(n["fold"] for n in view.trace["nodes"] if n["label"] == middle)
    view.fold(key)
    assert middle in [f["name"] for f in view.picture["frames"]], "it opens in its place"
    after = " ".join(n["label"] for n in view.trace["nodes"])
    assert "model[0]" in after and f"model[{count}]" in after, "the rest stays"


def test_the_trail_leads_back_to_where_one_was():
    _, _, view = classifier()
    at_first = [n["label"] for n in view.trace["nodes"]]
    assert "trail" not in view.picture
    key = next(n["fold"] for n in view.trace["nodes"] if n["label"] == "model[2]")
    view.fold(key)
    assert [name for _, name in view.picture["trail"]] == ["model", "model[2]"] and view.picture["trail"][-1][0] == key
    inside = [n["label"] for n in view.trace["nodes"]]
    assert "model[2].weight" in inside
    view._on_message(view, {"type": "back", "fold": view.picture["trail"][0][0]}, [])
    assert [n["label"] for n in view.trace["nodes"]] == at_first
    view.fold(key, next(n["fold"] for n in view.trace["nodes"] if n["label"] == "model[0]"))
    view._on_message(view, {"type": "back", "fold": -1}, [])
    assert [n["label"] for n in view.trace["nodes"]] == at_first and "trail" not in view.picture


def columns(count):
    sizes = [3] + [4] * count + [1]
    at, out = 0, []
    for k, n in enumerate(sizes):
        out.append({"name": f"layers[{k}]", "about": "", "cells": list(range(at, at + n))})
        at += n
    return {
        "columns": out,
        "cells": [{"name": "", "short": ""}] * at,
        "wires": [],
        "parameters": [],
        "error": "e",
        "loss": "l",
    }


@pytest.mark.parametrize("w", [300, 420, 846, 1166])
@pytest.mark.parametrize("count", [2, 7, 12, 30])
def test_columns_stand_apart_and_those_without_room_are_one_box(count, w):
    at = geometry(columns(count), w)
    places = sorted(set(at.x))
    gaps = [b - a for a, b in zip(places, places[1:], strict=False)]
    assert min(gaps[:-2]) >= 39 and len(places) - 2 <= 10
    shown = sum(not at.hidden(c) for c in range(count + 2))
    assert (
        shown + sum(last - first + 1 for first, last, _ in at.boxes) == count + 2
        and not at.hidden(0)
        and not at.hidden(count + 1)
    )
    assert not at.boxes or count + 2 > shown + 1


def test_a_closed_card_says_what_is_cut_off_and_written_inside_it():
    import linecache

    names = {"torch": torch, "nn": nn}
    code = """class Cut(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 4)
    def forward(self, x):
        h = self.a(x).tanh()
        keep = h.detach()
        with torch.no_grad():
            s = h.sum()
        y = h * keep * s
        y[0] *= 2
        return y.view(-1)
torch.manual_seed(0)
net = nn.Sequential(Cut(), nn.Linear(20, 6), nn.Tanh())
x = torch.randn(5, 2)
loss = (net(x) ** 2).mean()"""
    linecache.cache["<cuts>"] = (len(code), None, code.splitlines(True), "<cuts>")
    exec(compile(code, "<cuts>", "exec"), names)
    view = cards(names["loss"], names={k: names[k] for k in ("net", "x", "loss")})
    key = next(f.key for f in view._folds.folds if f.name == "net[0]")
    if key in view._open:
        view.fold(key)
    nodes = {n["label"]: n for n in view.trace["nodes"]}
    assert nodes["net[0]"]["within"] == [
        "detach() in line 7",
        "no_grad() in line 9",
        "written in place in line 11",
        "view in line 12",
    ]
    assert "within" not in nodes["net[1]"], "a view that minigrad's own module makes is no news"
    card = next(c for c in view.picture["cards"] if c["id"] == nodes["net[0]"]["id"])
    assert card["within"].startswith("detach() in line 7") and card["within"].endswith(" +2")
    for picture in (view.picture, rows(view.trace, view.picture)):
        assert "detach() in line 7" in svg(view.trace, picture)
    said = next(s["say"] for s in view.trace["steps"] if s["node"] == card["id"] and s["kind"] == "compute")
    assert "Inside: detach() in line 7, no_grad() in line 9" in said
    view.fold(key)
    assert all("within" not in n for n in view.trace["nodes"]) and len(view.picture["cuts"]) == 2, (
        "open, each is at its place"
    )
