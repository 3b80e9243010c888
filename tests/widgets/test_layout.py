"""Where everything stands: cards apart, wires from card to card, the same picture every time, with Graphviz and without."""

import random
import re
import subprocess
import sys

import pytest

from minigrad import Value
from minigrad.tracing.trace import trace
from widgets.layout import Framed, card_text, fitted, layout, shorter_names

PROGS = ["dot", "plain"]


def square():
    x = Value(1.0)
    return trace((3 * x + 2) ** 2, {"x": x})


def tangle(n, seed):
    rng = random.Random(seed)
    values = [Value(rng.uniform(-1, 1)) for _ in range(4)]
    for _ in range(n):
        a, b = rng.choices(values[-9:], k=2)
        values.append(rng.choice([lambda: a * b, lambda: a + b, lambda: (a - b).tanh(), lambda: a * 0.5])())  # noqa: B023
    return trace(sum(values[4:], Value(0.0)), {"values": values})


def ends(wire):
    numbers = [float(x) for x in re.findall(r"-?[\d.]+", wire["d"])]
    return numbers[:2], numbers[-2:]


@pytest.mark.parametrize("prog", PROGS)
@pytest.mark.parametrize(
    "t", [square(), tangle(30, 1), tangle(60, 2), trace(Value(2.0))], ids=["square", "tangle", "bigger", "leaf"]
)
def test_cards_stand_apart_and_wires_join_them(t, prog):
    picture = layout(t, prog=prog)
    cards = {c["id"]: c for c in picture["cards"]}
    assert sorted(cards) == [n["id"] for n in t["nodes"]]
    for a in cards.values():
        assert (
            a["x"] >= 0
            and a["y"] >= 0
            and a["x"] + a["w"] <= picture["w"] + 0.1
            and a["y"] + a["h"] <= picture["h"] + 0.1
        )
        for b in cards.values():
            if a["id"] < b["id"]:
                apart = (
                    a["x"] + a["w"] <= b["x"]
                    or b["x"] + b["w"] <= a["x"]
                    or a["y"] + a["h"] <= b["y"]
                    or b["y"] + b["h"] <= a["y"]
                )
                assert apart, (a, b)
    assert [w["id"] for w in picture["wires"]] == [e["id"] for e in t["edges"]]
    for wire, edge in zip(picture["wires"], t["edges"], strict=True):
        (x0, y0), (x1, y1) = ends(wire)
        source, target = cards[edge["source"]], cards[edge["target"]]
        if tag := wire.get("tag"):
            assert abs(x0 - (tag["x"] + tag["w"])) < 0.2 and y0 == tag["y"]
        else:
            assert abs(x0 - (source["x"] + source["w"])) < 0.2 and source["y"] <= y0 <= source["y"] + source["h"]
        assert abs(x1 - target["x"]) < 0.2 and target["y"] <= y1 <= target["y"] + target["h"]
        assert (wire["pw"] > 0) == edge["carries_grad"]


@pytest.mark.parametrize("prog", PROGS)
def test_pills_keep_clear_of_cards_and_of_each_other(prog):
    picture = layout(tangle(30, 3), prog=prog)
    boxes = [
        (w["px"] - w["pw"] / 2, w["py"] - 10, w["px"] + w["pw"] / 2, w["py"] + 10) for w in picture["wires"] if w["pw"]
    ]
    boxes += [(c["x"], c["y"], c["x"] + c["w"], c["y"] + c["h"]) for c in picture["cards"]]
    tags = [w["tag"] for w in picture["wires"] if "tag" in w]
    boxes += [(tag["x"], tag["y"] - 9, tag["x"] + tag["w"], tag["y"] + 9) for tag in tags]
    assert tags
    for i, a in enumerate(boxes):
        for b in boxes[:i]:
            assert a[2] <= b[0] + 0.2 or b[2] <= a[0] + 0.2 or a[3] <= b[1] + 0.2 or b[3] <= a[1] + 0.2, (a, b)


def unrolled(steps):
    """A recurrent network: every step uses the same weight and the same input."""
    x, weight = Value(0.5), Value(0.9)
    h = x
    for _ in range(steps):
        h = (h * weight + x).tanh()
    return trace(h, {"x": x, "weight": weight, "h": h})


@pytest.mark.parametrize("prog", PROGS)
def test_what_every_step_uses_is_named_beside_it(prog):
    t = unrolled(12)
    picture = layout(t, prog=prog)
    cards = {c["id"]: c for c in picture["cards"]}
    label = {n["id"]: n["label"] for n in t["nodes"]}
    tagged = [(t["edges"][w["id"]], w) for w in picture["wires"] if "tag" in w]
    used = {name: sum(label[edge["source"]] == name for edge in t["edges"]) for name in ("x", "weight")}
    assert used == {"x": 13, "weight": 12}
    for name, count in used.items():
        mine = [(edge, wire) for edge, wire in tagged if label[edge["source"]] == name]
        card = next(c for c in cards.values() if label[c["id"]] == name)
        assert card["tags"] == len(mine) and count - 3 <= len(mine) < count, "the first wires lead to their card"
        for edge, wire in mine:
            target = cards[edge["target"]]
            assert wire["tag"]["name"] == name and 0 < target["x"] - (wire["tag"]["x"] + wire["tag"]["w"]) < 200
            assert (
                wire["tag"]["x"] + wire["tag"]["w"]
                < wire["px"] - wire["pw"] / 2
                < wire["px"] + wire["pw"] / 2
                < target["x"]
            )
    assert {label[edge["source"]] for edge, _ in tagged} == {"x", "weight"}
    assert all("tags" not in c for c in cards.values() if label[c["id"]] not in used)


@pytest.mark.parametrize("prog", PROGS)
def test_what_a_later_step_alone_needs_stands_beside_it(prog):
    """x[5] * w could be computed at once, and waits for its step: the long wire is that of w, which all steps share."""
    w, u, h = Value(0.5), Value(0.9), Value(0.1)
    xs = [Value(0.1 * k) for k in range(8)]
    for x in xs:
        h = (x * w + h * u).tanh()
    t = trace(h, {"w": w, "u": u, "xs": xs, "h": h})
    picture = layout(t, prog=prog)
    label = {n["id"]: n["label"] for n in t["nodes"]}
    assert {label[t["edges"][wire["id"]]["source"]] for wire in picture["wires"] if "tag" in wire} == {"w", "u"}


@pytest.mark.parametrize("prog", PROGS)
def test_a_short_graph_has_no_tags(prog):
    assert not any("tag" in w for w in layout(unrolled(2), prog=prog)["wires"])


@pytest.mark.parametrize("prog", PROGS)
def test_both_arrows_of_a_plus_a(prog):
    a = Value(2.0)
    first, second = layout(trace(a + a, {"a": a}), prog=prog)["wires"]
    assert first["d"] != second["d"] and (first["px"], first["py"]) != (second["px"], second["py"])


@pytest.mark.parametrize("prog", PROGS)
def test_the_same_in_every_process(prog):
    code = (
        "import sys; sys.path.insert(0, '.'); from tests.widgets.test_layout import *; import json; "
        f"print(json.dumps(layout(tangle(40, 4), prog={prog!r})))"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": seed}
        ).stdout
        for seed in ("1", "2")
    }
    assert len(runs) == 1


def test_nothing_is_written_to_stderr():
    code = "from tests.widgets.test_layout import *; layout(square())"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stderr == "" and run.stdout == ""


def test_texts_fit_their_card():
    long = ("a_very_long_variable_name_indeed", "another_long_name × yet_another_one")
    for name, expr in [("x", ""), long, ("v1", "tanh(" * 9), ("n" * 60, "")]:
        width, shown, what = card_text(name, expr)
        assert len(shown) * 8.7 + len(what) * 7.0 + (14 if what else 0) <= width - 24 + 1e-9
        assert shown


def test_frames_go_around_their_cards_and_around_no_others():
    t = tangle(30, 4)
    operations = [n["id"] for n in t["nodes"] if n["kind"] == "operation"]
    frames = [Framed(7, "outer", operations[4:20], -1), Framed(8, "inner", operations[8:14], 0)]
    picture = layout(t, frames)
    cards = {c["id"]: c for c in picture["cards"]}
    for frame, drawn in zip(frames, picture["frames"], strict=True):
        assert (drawn["fold"], drawn["name"]) == (frame.fold, frame.name)
        for n, c in cards.items():
            inside = drawn["x"] < c["x"] and c["x"] + c["w"] < drawn["x"] + drawn["w"]
            inside = inside and drawn["y"] < c["y"] and c["y"] + c["h"] < drawn["y"] + drawn["h"]
            assert inside == (n in frame.nodes)
    outer, inner = picture["frames"]
    assert outer["x"] < inner["x"] and outer["y"] < inner["y"] and outer["x"] + outer["w"] > inner["x"] + inner["w"]


def test_a_custom_functions_rule_is_named_where_no_factor_is_known():
    import minigrad as torch

    class Halved(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * x

        @staticmethod
        def backward(ctx, g):
            return g / 2

    x = torch.tensor(1.5, requires_grad=True)
    t = trace(3 * Halved.apply(x), {"x": x})
    said = {edge["local_text"]: wire.get("text") for edge, wire in zip(t["edges"], layout(t)["wires"], strict=True)}
    assert said["Halved.backward(g)"] == ["Halved.backward"] * 2 and not said["3"]


def test_a_short_sign_leaves_its_room_to_the_name():
    """ "tiny.letter + tiny.place" was cut after twelve characters beside a lone "+"."""
    assert card_text("tiny.letter + tiny.place", "+")[1] == "tiny.letter + tiny…"
    assert card_text("a_name_of_no_small_length", "sum(another_name, dim=1)")[1] == "a_name_of_no…"


def test_names_in_an_open_fold_leave_out_what_is_on_its_frame():
    trace = {
        "nodes": [{"label": label} for label in ("net.block.first", "net.block[0]", "net.a + net.b", "other.first")]
    }
    frames = [Framed(1, "net", [0, 1, 2, 3], -1), Framed(2, "net.block", [0, 1], 0)]
    assert shorter_names(trace, frames) == {0: "first", 1: "block[0]"}


def test_a_name_has_the_room_before_the_number_of_its_operations():
    assert fitted("mixed, line 14", "6 operations", 192, "6 ops") == ("mixed, line 14", "6 ops")
    assert fitted("q, k, v, line 13", "10 operations", 192, "10 ops") == ("q, k, v, line 13", "")
    assert fitted("x, line 15", "2 operations", 192, "2 ops") == ("x, line 15", "2 operations")
