"""Pictures for narrower stages: all cards whole and apart, wires from card to card, in one direction; layers and cuts on them."""

import linecache
import random
import re

import pytest

import minigrad as torch
from minigrad import Value, nn, scalar
from minigrad.core import provenance
from minigrad.core.call_log import VALUES
from widgets import graph
from widgets.layout import layout
from widgets.rows import narrower
from widgets.static import svg


def cards(*what, **how):
    """The view of a graph as operations, also where there is a figure of it."""
    view = graph(*what, **how)
    if view.forms:
        view.fold("operations")
    return view


@pytest.fixture
def noted():
    """Lines, constants and parameters are noted, as in a notebook."""
    provenance.record_lines(True, 20_000)
    yield
    provenance.record_lines(False)


def chain(seed):
    """A graph with long wires: some operands are old ones."""
    rng = random.Random(seed)
    values = [Value(0.5), Value(-1.5)]
    for _ in range(22):
        a, b = values[-1], rng.choice(values)
        values.append((a * b).tanh() if rng.random() < 0.3 else a + b)
    return cards(values[-1])


def classifier():
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 3))
    X, t = torch.randn(6, 2), torch.tensor([0, 1, 2, 0, 1, 2])
    L = nn.functional.cross_entropy(model(X), t)
    return model, L, cards(L, names={"model": model, "X": X, "t": t, "L": L})


def points(d):
    """Points along a path, five for each cubic."""
    n = [float(x) for x in re.findall(r"-?[\d.]+", d)]
    at = list(zip(n[::2], n[1::2], strict=True))
    for k in range(0, len(at) - 1, 3):
        for t in (0, 0.25, 0.5, 0.75, 1):
            weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
            yield tuple(sum(w * p[i] for w, p in zip(weights, at[k : k + 4], strict=True)) for i in (0, 1))


def recurrent(steps=6):
    """Every step uses the same weight and the same input."""
    x, w = Value(0.5), Value(0.9)
    hs = [x]
    for _ in range(steps):
        hs.append((hs[-1] * w + x).tanh())
    return cards(hs[-1], names={"x": x, "w": w, "hs": hs})


BUILDS = [
    *(pytest.param(lambda s=s: chain(s), id=f"chain {s}") for s in range(4)),
    lambda: classifier()[2],
    lambda: recurrent(12),
]


@pytest.mark.parametrize("prog", ["dot", "plain"])
@pytest.mark.parametrize("build", BUILDS)
def test_in_each_direction_everything_is_there_and_apart(noted, build, prog, monkeypatch):
    if prog == "plain":
        monkeypatch.setattr("widgets.layout._pygraphviz", lambda: None)
    view = build()
    whole = layout(view.trace, view._frames())
    pictures = list(narrower(view.trace, whole, view._frames()))
    tensors = "arrays" in view.trace
    columns = [p.get("column", False) for p in pictures]
    sheets = [any(c.get("sheet") for c in p["cards"]) for p in pictures]
    pills = [sum(w["pw"] > 0 for w in p["wires"]) for p in (whole, *pictures)]
    few = len(whole["cards"]) <= 12
    if tensors:
        assert columns == [False, True, False, True, True, True] and sheets == [True] * 2 + [False] * 4
    else:
        assert columns == [False, *[False, True] * (1 + few), True, True]
        assert pills == [pills[0]] * (4 if few else 2) + [0] * 4, "a narrow one of a few numbers keeps its pills"
    for k, picture in enumerate(pictures):
        cards = {c["id"]: c for c in picture["cards"]}
        down = columns[k] and k < len(pictures) - 2
        assert len(cards) == len(whole["cards"]) and (picture["w"] < whole["w"] or picture["h"] < whole["h"])
        boxes = [(c["x"], c["y"], c["x"] + c["w"], c["y"] + c["h"]) for c in cards.values()]
        for n, (left, top, right, low) in enumerate(boxes):
            assert 0 <= left and 0 <= top and right <= picture["w"] and low <= picture["h"]
            assert all(right <= a or c <= left or low <= b or d <= top for a, b, c, d in boxes[:n])
        for wire in picture["wires"] if k < len(pictures) - 2 else ():
            edge, line = view.trace["edges"][wire["id"]], list(points(wire["d"]))
            source, target = cards[edge["source"]], cards[edge["target"]]
            if down:
                assert line[0][1] == pytest.approx(source["y"] + source["h"], abs=0.2)
                assert line[-1][1] == pytest.approx(target["y"], abs=0.2) and source["y"] < target["y"]
                n = [float(x) for x in re.findall(r"-?[\d.]+", wire["d"])]
                assert n[0] == n[2] and n[3] > n[1] and n[-2] == n[-4] and n[-3] < n[-1], "heads point down"
                assert (
                    source["x"] <= n[0] <= source["x"] + source["w"]
                    and target["x"] <= n[-2] <= target["x"] + target["w"]
                )
            else:
                begins = wire.get("tag", source)
                assert line[0][0] == pytest.approx(begins["x"] + begins["w"], abs=0.2)
                assert line[-1][0] == pytest.approx(target["x"], abs=0.2)
            assert all(-1 <= x <= picture["w"] + 1 and -1 <= y <= picture["h"] + 1 for x, y in line)


def test_a_low_graph_runs_down_with_all_that_it_has():
    x, w = Value(2.0), Value(-3.0)
    view = cards((x * w + 1.0).tanh(), names={"x": x, "w": w})
    down = next(p for p in narrower(view.trace, view.picture) if p.get("column"))
    assert [(c["name"], c["expr"]) for c in down["cards"]] == [(c["name"], c["expr"]) for c in view.picture["cards"]]
    assert [bool(w["pw"]) for w in down["wires"]] == [bool(w["pw"]) for w in view.picture["wires"]]
    assert down["w"] < 390 < view.picture["w"] and down["h"] < 700


def deep():
    torch.manual_seed(1)
    layers = nn.Sequential(*[module for _ in range(12) for module in (nn.Linear(8, 8), nn.Tanh())])
    L = (layers(torch.randn(6, 8)) ** 2).mean()
    return cards(L, names={"layers": layers, "L": L})


def stage(view):
    """The front end of the view says that its stage is narrower than the picture."""
    view._on_message(view, {"type": "narrow"}, [])


def seen(view, width):
    """Has one of its pictures words of 11 pixels on a stage of this width? What runs down may be scrolled."""
    pictures = view.picture, *view.picture["wraps"]
    return any(width - 22 >= p["w"] and (p.get("column") or p["h"] <= 748) for p in pictures)


def detached():
    """Written in place, cut off and used again: thirty nodes."""
    torch.manual_seed(0)
    x, w, b = torch.randn(4, 3), torch.randn(3, 3, requires_grad=True), torch.zeros(3, requires_grad=True)
    h = torch.tanh(x @ w + b)
    target = h.detach() * 0.9 + 0.1
    k = h * 2
    c = k.view(2, 6)
    c[0] *= 3
    with torch.no_grad():
        scale = w.sum() * 2
    u = ((k - target) ** 2).mean(1)
    loss = (u * scale).sum() + (w**2).sum() * 0.01
    return cards(loss, names=dict(x=x, w=w, b=b, h=h, target=target, k=k, c=c, scale=scale, u=u, loss=loss))


def turns():
    w, h = Value(0.9), Value(1.0)
    for _ in range(12):
        h = (w * h + 0.1).tanh()
    return cards(h, names={"w": w, "h": h})


@pytest.mark.parametrize("width", [350, 522, 671, 1098])
@pytest.mark.parametrize("build", [detached, turns, lambda: classifier()[2], lambda: cut_graph("detach"), deep])
def test_on_a_small_stage_no_word_is_smaller_than_eleven_pixels(noted, build, width):
    scalar.record_lines(True, VALUES)
    try:
        view = build()
    finally:
        scalar.record_lines(False)
    count, before = len(view.whole["nodes"]), [n["label"] for n in view.trace["nodes"]]
    stage(view)
    assert seen(view, width)
    shown = [n["label"] for n in view.trace["nodes"]]
    assert shown == before, "a narrow stage shows as much as any other"
    assert len(shown) >= 4 and (f"{count} nodes on {len(shown)} cards" in view.notice or len(shown) == count)


def test_what_was_folded_stays_folded_in_another_run(noted):
    scalar.record_lines(True, VALUES)
    try:
        w = Value(0.9)

        def run():
            h = Value(1.0)
            for _ in range(30):
                h = (w * h + 0.1).tanh()
            return h

        h = run()
        view = cards(h, names={"w": w, "h": h})
        view.fold("all")
        shown = [n["label"] for n in view.trace["nodes"]]
        assert len(shown) < 20 < len(view.whole["nodes"])
        h = run()
        view.retrace(h, {"w": w, "h": h})
        assert [n["label"] for n in view.trace["nodes"]] == shown
    finally:
        scalar.record_lines(False)


def test_a_network_of_tensors_opens_as_its_layers(noted):
    model, L, view = classifier()
    nodes = {n["label"]: n for n in view.trace["nodes"]}
    assert list(nodes) == ["X", *(f"model[{k}]" for k in range(5)), "t", "L"]
    assert [nodes[f"model[{k}]"]["function"] for k in (0, 1)] == ["Linear", "Tanh"] and nodes["L"][
        "function"
    ] == "cross_entropy"
    assert nodes["L"]["value"] == pytest.approx(L.item(), rel=1e-6)
    L.backward()
    shown = svg(view.trace, view.picture)
    forward = sum(s["phase"] == "forward" for s in view.trace["steps"])
    sheets = sum("sheet" in card for card in view.picture["cards"])
    assert sheets > 5 and svg(view.trace, view.picture, forward).count("norm ") == 0
    assert shown.count("norm ") == sum(n["requires_grad"] for n in view.trace["nodes"]) - 1, (
        "of each layer, not of the loss"
    )


def test_a_module_that_is_opened_keeps_its_data_outside(noted):
    _, _, view = classifier()
    key = next(n["fold"] for n in view.trace["nodes"] if n["label"] == "model[0]")
    view.fold(key)
    labels = [n["label"] for n in view.trace["nodes"]]
    assert {"X", "model[0].weight", "model[0].bias", "model[1]"} <= set(labels) and "model[0]" not in labels
    view.fold(key)
    assert [n["label"] for n in view.trace["nodes"]][:2] == ["X", "model[0]"]


def cut_graph(name):
    names = {"torch": torch}
    code = {
        "detach": "w = torch.tensor(2.0, requires_grad=True)\nh = (w * 0.5).tanh()\ntarget = h.detach() + 0.2\nloss = (h - target) ** 2",
        "no_grad": "w = torch.tensor(2.0, requires_grad=True)\nwith torch.no_grad():\n    target = w * 3\nloss = w * target",
        "nobody": "w = torch.tensor(2.0, requires_grad=True)\nh = w * 5\nloss = h * (h * 1).detach()",
    }[name]
    linecache.cache["<cut>"] = (len(code), None, code.splitlines(True), "<cut>")
    exec(compile(code, "<cut>", "exec"), names)
    return cards(names["loss"], names={k: v for k, v in names.items() if k != "torch"})


def test_a_detach_is_a_cut_wire_at_its_place(noted):
    view = cut_graph("detach")
    nodes = {n["label"]: n for n in view.trace["nodes"]}
    assert nodes["target"]["cut"] == {"sources": [nodes["h"]["id"]], "how": "h.detach()"}
    assert (
        nodes["target"]["stops"] == "target was made of what h.detach() cut off in line 3: no gradient goes back to h."
    )
    (cut,) = view.picture["cuts"]
    cards = {c["id"]: c for c in view.picture["cards"]}
    assert cut["source"] == nodes["h"]["id"] and cards[cut["target"]]["x"] > cards[cut["source"]]["x"]
    forward = sum(s["phase"] == "forward" for s in view.trace["steps"])
    written = [re.findall(r">(h\.detach\(\)|0 comes back)</text>", view.svg(step)) for step in (forward, view.total)]
    assert written == [["h.detach()"], ["0 comes back"]]
    for narrow in view.picture["wraps"]:
        assert len(narrow["cuts"]) == 1


def test_what_no_grad_computed_is_cut_off_there(noted):
    view = cut_graph("no_grad")
    target = next(n for n in view.trace["nodes"] if n["label"] == "target")
    assert target["cut"] == {"sources": [0], "how": "no_grad()"} and "recording was off (no_grad)" in target["stops"]


def test_a_cut_from_a_result_that_nobody_holds_and_that_is_not_in_the_graph_has_no_wire(noted):
    view = cut_graph("nobody")
    cut = [n for n in view.trace["nodes"] if "cut" in n]
    assert [n["cut"]["sources"] for n in cut] == [[]] and "cuts" not in view.picture


def test_without_notes_nothing_is_kept_of_a_cut():
    w = torch.tensor(2.0, requires_grad=True)
    assert not hasattr((w * 3).detach(), "cut")


@pytest.mark.parametrize("build", [lambda: chain(1), lambda: classifier()[2], lambda: cut_graph("detach")])
def test_slim_cards_take_less_room_and_have_the_same_numbers(noted, build):
    """Narrow cards without formulas: for a stage on which nothing else can be read."""
    view = build()
    frames = view._frames()
    whole, slim = layout(view.trace, frames), layout(view.trace, frames, slim=True, pills=False)
    assert slim["w"] * slim["h"] < 0.7 * whole["w"] * whole["h"] and all(c["slim"] for c in slim["cards"])
    assert [w["pw"] for w in slim["wires"]] == [0] * len(whole["wires"]) and not any("text" in w for w in slim["wires"])
    assert [c["text"] for c in slim.get("cuts", ())] == [c["text"] for c in whole.get("cuts", ())], (
        "the words at a cut stay"
    )
    boxes = [(c["x"], c["y"], c["x"] + c["w"], c["y"] + c["h"]) for c in slim["cards"]]
    for k, (left, top, right, low) in enumerate(boxes):
        assert all(right <= a or c <= left or low <= b or d <= top for a, b, c, d in boxes[:k])
    drawn = svg(view.trace, slim)
    assert all(f">{c['name']}<" in drawn for c in slim["cards"])
    for card, other in zip(slim["cards"], whole["cards"], strict=True):
        assert ("sheet" in card) == ("sheet" in other) and 18 + 6.7 * 8 < card["w"] or card["h"] == 28


def test_many_tensors_are_shown_low_where_their_maps_have_no_room(noted):
    x = torch.tensor([1.0, -2.0, 0.5], requires_grad=True)
    h = x
    for k in range(6):
        h = (h * (k + 0.5)).tanh()
    view = cards((h - x).pow(2).sum() + h.sum())
    stage(view)
    high = {False: 648, True: 1278}
    whole = [p for p in (view.picture, *view.picture["wraps"]) if p["w"] <= 1144 and p["h"] <= high["column" in p]]
    assert (
        whole
        and whole[0] is not view.picture
        and {card.get("sheet", 0) for card in whole[0]["cards"]} == {0}
        and whole[0]["cards"][0]["slim"]
    )
