"""Figures of programs of Tensors: their stages, their numbers, where things stand, and their stored pictures."""

import json
import linecache
import re

import numpy
import pytest
from PIL import Image

from minigrad.core import provenance
from minigrad.tracing.tensor_trace import TensorRecording
from minigrad.tracing.trace import to_text
from tests.engine.form_programs import HEAD, SEEN, UNSEEN
from tools.twenty import view as program
from widgets import contract, duel, graph
from widgets.forms import picture, plan
from widgets.forms.figures import Figure
from widgets.forms.picture import Moment, fitting

PROGRAMS = {name: code for name, kind, code in SEEN + UNSEEN if kind}
FEW = [
    "attention, mask added",
    "LSTM by hand",
    "nanoGPT blocks as functions, three",
    "LeNet",
    "three heads in a ModuleList, cat",
]
FEW += ["a Module with fc1 and fc2, relu in forward", "nanoGPT with F.scaled_dot_product_attention", "RNN, nn.RNN"]


@pytest.fixture(autouse=True)
def notes():
    provenance.record_lines(True)
    yield
    provenance.record_lines(False)


def run(code):
    space = {"__name__": "program"}
    name = "program.py"
    linecache.cache[name] = (len(code), None, (HEAD + code).splitlines(keepends=True), name)
    exec(compile(HEAD + code, name, "exec"), space)
    return space


def figured(name):
    space = run(PROGRAMS[name])
    recording = TensorRecording(space["loss"], space)
    trace = recording.trace()
    return plan.find(recording, trace), trace, space


def shown(name):
    space = run(PROGRAMS[name])
    return graph(space["loss"], names={k: v for k, v in space.items() if not k.startswith("_")}), space


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_operation_is_in_one_stage_and_the_end_is_every_gradient(name):
    figure, trace, space = figured(name)
    stages = [i for stage in figure.plan["stages"] for i in stage["nodes"]]
    assert sorted(stages) == [n["id"] for n in trace["nodes"] if n["kind"] == "operation"]
    end = Moment(figure.plan, figure.numbers, len(figure.trace["steps"]))
    recording = TensorRecording(space["loss"], space)
    for i, grad in enumerate(recording.ran.grads):
        if trace["nodes"][i]["kind"] == "leaf" and grad is not None and grad.size <= plan.MOST:
            got, more = end.gradient(i)
            assert not more and numpy.allclose(got, grad.ravel(), rtol=1e-6, atol=1e-9), trace["nodes"][i]["label"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_view_shows_the_numbers_of_its_base(name):
    figure, trace, space = figured(name)
    values = TensorRecording(space["loss"], space).values
    now = Moment(figure.plan, figure.numbers, 1)
    for i, node in enumerate(figure.plan["nodes"]):
        if values[i] is not None and "block" not in node and values[i].size:
            assert numpy.allclose(now.value(i), values[i].ravel(), equal_nan=True), trace["nodes"][i]["label"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_at_each_width_all_is_inside_and_no_made_up_name_is_shown(name):
    figure, *_ = figured(name)
    for drawn in (f for fs in (figure.plan["figures"], *figure.plan["parts"].values()) for f in fs):
        inside(drawn)
    words = [n["name"] for n in figure.plan["nodes"]] + [s["say"] + s["back"] for s in figure.plan["stages"]]
    assert not [w for w in words if re.search(r"\bv\d+\b", w) and "v1" not in PROGRAMS[name]]


def inside(drawn: Figure) -> None:
    for s in drawn["sheets"]:
        assert s["x"] >= 0 and s["y"] >= 0 and s["x"] + s["c"] * s["cw"] <= drawn["w"] + 1, s
        assert s["y"] + s["r"] * s["ch"] <= drawn["h"] + 1 and min(s["cw"], s["ch"]) >= 1
    for w in drawn["words"]:
        assert -1 <= w["x"] <= drawn["w"] and 0 <= w["y"] <= drawn["h"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_more_room_never_shows_less(name):
    figure, *_ = figured(name)
    sheets = [len(f["sheets"]) for f in figure.plan["figures"]]
    assert all(b >= a for a, b in zip(sheets, sheets[1:], strict=False)) or "planes" in name, sheets
    widths = [f["w"] for f in figure.plan["figures"]]
    assert widths == sorted(widths) and widths[0] <= 340
    assert all(fitting(figure.plan["figures"], w)["w"] <= max(w, widths[0]) for w in range(300, 1700, 50))


@pytest.mark.parametrize("name", FEW)
def test_the_stored_picture_is_drawn_at_each_step_and_is_always_the_same(name):
    view, _ = shown(name)
    assert view.forms["plan"]
    for step in {0, view.total // 3, view.total // 2 + 1, view.total}:
        for width in (360, 640, 1200):
            drawn = view.svg(step, width)
            assert drawn == view.svg(step, width) and " id=" not in drawn and "nan" not in re.sub(r">[^<]*<", "", drawn)
    assert "size of" in repr(view)


@pytest.mark.parametrize("name", FEW)
def test_what_travels_is_at_most_twice_a_trace(name):
    view, _ = shown(name)
    state = view.get_state()
    figure = len(state["forms"]["plan"]) + len(state["forms"]["numbers"]) + len(state["trace"])
    assert figure <= 2 * len(json.dumps(contract.sent(view.whole), separators=(",", ":")))


def test_all_operations_lead_back_to_the_figure():
    view, _ = shown("attention, mask added")
    total = view.total
    view.fold("operations")
    assert view.forms == {"level": "operations"} and len(view.trace["nodes"]) > 10
    view.fold("figure")
    assert view.forms["plan"] and view.total == total


def test_files_have_a_picture_for_each_stop(tmp_path):
    view, _ = shown("LSTM by hand")
    assert len(view.stops) == 1 + 6 + 1 + 6 and view.stops[-1] == view.total > 60
    assert Image.open(view.save(tmp_path / "run.gif")).n_frames == len(view.stops)
    assert "backward, step 1 of 7" in view.svg(view.stops[7]) and "Back through step 5" in view.svg(view.stops[9])
    assert view.save(tmp_path / "graph.dot").read_text().count("->") > 60
    assert view.save(tmp_path / "graph.png", width=400).stat().st_size > 5000


def test_two_programs_are_compared_and_a_view_shows_another_run():
    space = run("x, w = torch.randn(4, 3), torch.randn(3, 2, requires_grad=True)\nloss = torch.tanh(x @ w).mean()\n")
    x, w = space["x"], space["w"]
    same, other = (x @ w).tanh().mean(), (x @ w).relu().mean()
    both = duel(space["loss"], same)
    assert "They agree" in repr(both) and both.svg().startswith("<svg") and both.left.forms["plan"]
    apart = duel(space["loss"], other)
    assert "tanh" in repr(apart) and apart.left.forms == {"level": "operations"}
    view = graph(space["loss"], names={"x": x, "w": w})
    before = view.forms["numbers"]
    assert "tanh" in to_text(view.trace)
    view.retrace(other, {"x": x, "w": w})
    assert view.forms["plan"] and view.forms["numbers"] != before
    view.show(2)
    assert view.forms == {"level": "operations"} and view.find("relu")["total"]


def test_where_something_was_detached_there_is_no_figure():
    code = "x, w = torch.randn(4, 3), torch.randn(3, 3, requires_grad=True)\nh = torch.tanh(x @ w)\n"
    code += "loss = ((h - h.detach() * 2) ** 2).mean()\n"
    space = run(code)
    assert graph(space["loss"], names=space).forms == {}


def test_a_large_tensor_is_sent_in_blocks():
    code = "x = torch.randn(300, 70)\nw = torch.randn(70, 200, requires_grad=True)\nloss = torch.relu(x @ w).mean()\n"
    space = run(code)
    view = graph(space["loss"], names={"x": space["x"], "w": space["w"]})
    nodes = {n["name"]: n for n in json.loads(view.get_state()["forms"]["plan"])["nodes"]}
    assert nodes["x"]["shape"] == [60, 35] and nodes["x"]["block"] == [5, 2] and nodes["x"]["full"] == [300, 70]
    assert nodes["w"]["shape"] == [35, 50] and nodes["x @ w"]["shape"] == [60, 50], "rows and columns stay aligned"
    assert len(view.forms["numbers"]) < 300_000


ODD = {
    "a vector": "net = nn.Sequential(nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, 1))\nloss = net(torch.randn(5)).sum()",
    "wide layers": "net = nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10))\n"
    "loss = F.cross_entropy(net(torch.randn(32, 784)), torch.randint(0, 10, (32,)))",
    "fifty turns": "out, h = nn.RNN(3, 16)(torch.randn(50, 4, 3))\nloss = h.sum()",
    "batches of sequences": "net = nn.Sequential(nn.Linear(5, 6), nn.GELU(), nn.Linear(6, 3))\n"
    "loss = net(torch.randn(2, 7, 5)).pow(2).mean()",
    "eight heads": "x = torch.randn(4, 32, 64)\nloss = nn.MultiheadAttention(64, 8, batch_first=True)(x, x, x)[0].mean()",
    "no single result": "w = torch.randn(3, 2, requires_grad=True)\nloss = torch.tanh(torch.randn(4, 3) @ w)",
    "ignored targets": "w = torch.randn(3, 5, requires_grad=True)\n"
    "loss = F.cross_entropy(torch.relu(torch.randn(4, 3) @ w), torch.tensor([0, -100, 2, 3]))",
    "an empty batch": "w = torch.randn(3, 2, requires_grad=True)\nloss = torch.tanh(torch.randn(0, 3) @ w).sum()",
    "nan": "w = torch.full((3, 2), float('nan'), requires_grad=True)\nloss = torch.tanh(torch.randn(2, 3) @ w).sum()",
    "float64": "w = torch.randn(3, 2, dtype=torch.float64, requires_grad=True)\n"
    "loss = torch.tanh(torch.randn(4, 3, dtype=torch.float64) @ w).sum()",
    "twelve layers": "net = nn.Sequential(*[m for _ in range(12) for m in (nn.Linear(6, 6), nn.Tanh())])\n"
    "loss = net(torch.randn(5, 6)).mean()",
}


@pytest.mark.parametrize("name", ODD)
def test_a_figure_is_drawn_whatever_the_sizes_are(name):
    space = run(ODD[name])
    recording = TensorRecording(space["loss"], space)
    figure = plan.find(recording, recording.trace())
    assert figure and len(figure.numbers) <= 8 * plan.WEIGHT
    for drawn in (f for fs in (figure.plan["figures"], *figure.plan["parts"].values()) for f in fs):
        inside(drawn)
    for step in (0, 3, len(figure.trace["steps"])):
        assert picture.svg(figure, step, w=360) and picture.svg(figure, step, w=1200)
    assert picture.text(figure)


def test_a_convolution_that_is_no_picture_has_no_figure():
    space = run(
        "net = nn.Sequential(nn.Conv1d(2, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(24, 2))\nloss = net(torch.randn(3, 2, 8)).sum()"
    )
    assert graph(space["loss"], names={"net": space["net"]}).forms == {}


def test_a_figure_that_cannot_be_laid_out_fails_a_test_and_is_cards_for_a_learner(monkeypatch):
    def broken(*_):
        raise IndexError("no such sheet")

    monkeypatch.setattr("widgets.view.subject.find", broken)
    space = run(PROGRAMS["attention, mask added"])
    with pytest.raises(UserWarning, match="could not be laid out"):
        graph(space["loss"])
    with pytest.warns(UserWarning, match=r"laid out \(IndexError: no such sheet\), so it is shown as cards"):
        assert graph(space["loss"]).forms == {}


def test_a_branch_of_heads_shows_each_of_them_and_the_gradients_along_the_lane_are_bars():
    figure, *_ = figured("a block with two heads in a list")
    for drawn in figure.plan["figures"]:
        weights = {s["n"] for s in drawn["sheets"] if figure.plan["nodes"][s["n"]]["name"] == "weights"}
        assert len(weights) == 2
        (norms,) = [s for s in drawn["signs"] if s["kind"] == "norms"]
        assert len(norms["nodes"][0]) == len(norms["xs"]) == 2 and norms["y"] + norms["h"] <= drawn["h"]
    end = picture.svg(figure, len(figure.trace["steps"]), w=831)
    assert end.count('class="no"') == 2 and not picture.svg(figure, 1, w=831).count('class="no"')
    assert [s["t"] for s in figure.plan["figures"][-1]["signs"] if s["kind"] == "branch"] == ["attention", "ffwd"]


def test_rows_that_are_looked_up_stand_below_their_table_and_a_norm_below_what_it_scales_by():
    code = "emb = nn.Embedding(7, 5)\nnet = nn.Sequential(nn.Linear(5, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 3))\n"
    code += "x = emb(torch.tensor([1, 4, 2]))\nloss = F.cross_entropy(net(x), torch.tensor([0, 2, 1]))\n"
    space = run(code)
    recording = TensorRecording(space["loss"], space)
    figure = plan.find(recording, recording.trace())
    name = {i: n["name"] for i, n in enumerate(figure.plan["nodes"])}
    for drawn in figure.plan["figures"]:
        inside(drawn)
        assert "emb.weight" in [name[s["n"]] for s in drawn["sheets"]], drawn["w"]
    wide = {name[s["n"]]: s for s in figure.plan["figures"][-1]["sheets"]}
    table, rows = wide["emb.weight"], wide["x"]
    assert (table["x"], table["cw"], table["c"]) == (rows["x"], rows["cw"], rows["c"]) and table["y"] < rows["y"]
    assert {"net[1].weight", "net[1].bias"} <= set(wide) and wide["net[1].weight"]["x"] == wide["net[1]"]["x"]
    (way,) = [w for w in figure.plan["figures"][-1]["wires"] if name[w["a"]] == "emb.weight"]
    assert name[way["b"]] == "x"


@pytest.mark.parametrize("order", ["x, h", "h, x"])
def test_the_first_input_and_the_first_state_are_found_in_their_concatenation(order):
    """cat(x, h0) needs no gradient: only its result is recorded."""
    space = run(f"""
W, xs, h = torch.randn(7, 4, requires_grad=True), torch.randn(5, 2, 3), torch.full((2, 4), 0.5)
for x in xs:
    h = torch.tanh(torch.cat([{order}], 1) @ W)
loss = (h ** 2).mean()
""")
    recording = TensorRecording(space["loss"], space)
    figure = plan.find(recording, recording.trace())
    first = figure.forms.figure.turns[0].x
    now = Moment(figure.plan, figure.numbers, 1)
    for drawn in figure.plan["figures"]:
        sheets = [s for s in drawn["sheets"] if s["n"] == first]
        shown = [[now.value(first)[s["off"] + k] for k in range(s["r"])] for s in sheets]
        assert space["xs"][0, 0].tolist() in shown
        assert drawn["w"] < 560 or [0.5] * 4 in shown
        others = {turn.x for turn in figure.forms.figure.turns[1:]}
        if len([s for s in drawn["sheets"] if s["n"] in others]) == 4:  # each step that is shown has its input
            assert all(s["lead"][:2] == [7, 2] for s in sheets)


def test_inputs_that_are_multiplied_at_once_belong_to_no_step():
    """nn.RNN multiplies the inputs of all steps first. Its first step then reaches their weight, which is no input of its own."""
    space = run("rnn = torch.nn.RNN(3, 4)\nout, _ = rnn(torch.randn(5, 2, 3))\nloss = (out**2).mean()\n")
    recording = TensorRecording(space["loss"], space)
    figure = plan.find(recording, recording.trace())
    assert [turn.x for turn in figure.forms.figure.turns] == [-1] * 5


def test_the_colours_of_a_state_fall_with_its_gradient():
    """All steps have one scale: what has shrunk to a thousandth is pale."""
    space = run(
        "w, h = torch.tensor(0.2, requires_grad=True), torch.tensor(1.0)\nfor t in range(9):\n    h = torch.tanh(w * h)\nloss = h**2\n"
    )
    recording = TensorRecording(space["loss"], space)
    figure = plan.find(recording, recording.trace())
    (alike,) = figure.plan["figures"][-1]["alike"]
    now = Moment(figure.plan, figure.numbers, len(figure.trace["steps"]))
    tops = {now.top(i, "gradient", [alike]) for i in alike}
    assert len(alike) == 9 and len(tops) == 1 and tops == {abs(now.gradient(alike[-1])[0]).max()}
    assert now.top(alike[0], "gradient", []) < 1e-4 * tops.pop()


def test_the_box_of_a_branch_shows_what_the_branch_computes_at_every_width():
    figure, *_ = figured("a block with two heads in a list")
    attention, ffwd = figure.forms.figure.links
    for drawn in figure.plan["figures"]:
        boxes = [s for s in drawn["signs"] if s["kind"] == "branch"]
        for box, link in zip(boxes, (attention, ffwd), strict=True):
            shown = [
                s["n"]
                for s in drawn["sheets"]
                if box["x"] <= s["x"] <= s["x"] + s["c"] * s["cw"] <= box["x"] + box["w"]
                and box["y"] <= s["y"] <= s["y"] + s["r"] * s["ch"] <= box["y"] + box["h"]
            ]
            if link is attention:
                a = link.form
                assert {link.norm, a.q, a.k, a.v, a.weights, a.heads[0].weights, a.joined, link.end} == set(shown)
            else:
                assert {link.norm, link.end} < set(shown) and len(shown) == 4, drawn["w"]


def test_a_branch_without_a_module_of_its_own_has_the_name_of_its_block():
    code = "class Res(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    code += "        self.f, self.g = nn.Linear(6, 6), nn.Linear(6, 6)\n"
    code += "    def forward(self, x):\n        return x + self.g(torch.relu(self.f(x)))\n"
    code += "net = nn.Sequential(Res(), Res())\nloss = (net(torch.randn(4, 6)) ** 2).mean()\n"
    space = run(code)
    recording = TensorRecording(space["loss"], space)
    figure = plan.find(recording, recording.trace())
    for drawn in figure.plan["figures"]:
        assert [s["t"] for s in drawn["signs"] if s["kind"] == "branch"] == ["net[0]", "net[1]"]
        assert not [s for s in drawn["signs"] if s["kind"] == "span"], "it is written once"
    assert figure.plan["names"] == {"link0": "net[0]", "link1": "net[1]"}
    assert "**net[1] reads the lane" in "".join(s["whole"] for s in figure.plan["stages"])
    assert figure.plan["stages"][-1]["say"].endswith("mean((x after net[1])²).")


def test_the_chart_of_gradients_says_what_its_room_is_for():
    figure, *_ = figured("LSTM by hand")
    forward = picture.svg(figure, 3, w=640)
    assert "comes with the backward pass" in forward and "size of" in forward and 'class="no"' not in forward
    assert "comes with" not in picture.svg(figure, len(figure.trace["steps"]), w=640)


def drawn_of(code):
    space = run(code)
    recording = TensorRecording(space["loss"], space)
    figure = plan.find(recording, recording.trace())
    for drawn in figure.plan["figures"]:
        inside(drawn)
    return figure


LSTM = """
W, V, b = torch.randn(3, 16, requires_grad=True), torch.randn(4, 16, requires_grad=True), torch.zeros(16)
h, c = torch.full((2, 4), 0.25), torch.full((2, 4), 0.75)
for x in torch.randn(5, 2, 3):
    i, f, o, g = (x @ W + h @ V + b).chunk(4, 1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    h = torch.sigmoid(o) * torch.tanh(c)
loss = (h ** 2).mean()
"""


def test_the_first_state_and_the_first_cell_state_of_an_lstm_are_drawn():
    figure = drawn_of(LSTM)
    now = Moment(figure.plan, figure.numbers, 1)
    form = figure.forms.figure
    assert set(now.value(form.start)) == {0.25} and set(now.value(form.starts[0])) == {0.75}
    for drawn in figure.plan["figures"]:
        at = {s["n"]: s for s in drawn["sheets"]}
        assert at[form.start]["label"][3] == "h₀" and at[form.starts[0]]["label"][3] == "c₀"
        assert at[form.starts[0]]["y"] < at[form.start]["y"] and at[form.starts[0]]["x"] == at[form.start]["x"]


@pytest.mark.parametrize("size", ["5", "2, 5"])
def test_the_first_state_is_found_beside_an_input_of_the_same_shape(size):
    code = f"Wx, Wh, h = torch.randn(5, 5, requires_grad=True), torch.randn(5, 5, requires_grad=True), torch.full(({size},), 0.5)\n"
    for order in ("x @ Wx + h @ Wh", "h @ Wh + x @ Wx"):
        figure = drawn_of(code + f"for x in torch.randn(4, {size}):\n    h = torch.tanh({order})\nloss = h.sum()\n")
        form, now = figure.forms.figure, Moment(figure.plan, figure.numbers, 1)
        assert set(now.value(form.start)) == {0.5} and form.turns[0].x not in (-1, form.start), order


@pytest.mark.parametrize("turns", [10, 16, 22, 25, 40, 100])
def test_a_wider_stage_never_shows_fewer_steps_of_a_recurrence(turns):
    figure = drawn_of(
        "w, h = torch.tensor(0.9, requires_grad=True), torch.tensor(1.0)\n"
        f"for t in range({turns}):\n    h = torch.tanh(w * h)\nloss = h**2\n"
    )
    states = {turn.state for turn in figure.forms.figure.turns}
    shown = [sum(s["n"] in states for s in drawn["sheets"]) for drawn in figure.plan["figures"]]
    assert shown == sorted(shown) and shown[0] >= min(turns, 8), shown
    for drawn in figure.plan["figures"]:
        (chart,) = [s for s in drawn["signs"] if s["kind"] == "norms"]
        assert len(chart["nodes"][0]) == turns and chart["xs"] == sorted(chart["xs"]), (
            "a bar for each step, also for those not drawn"
        )


def test_on_a_narrow_stage_the_layer_that_reads_the_last_state_is_drawn_below():
    code = (
        "W, V = torch.randn(7, 4, requires_grad=True), torch.randn(4, 3, requires_grad=True)\nh = torch.zeros(1, 4)\n"
    )
    code += "for x in torch.randn(6, 1, 3):\n    h = torch.tanh(torch.cat([x, h], 1) @ W)\n"
    for several in ("", ".expand(2, -1)"):
        figure = drawn_of(
            code + f"loss = F.cross_entropy(h{several} @ V, torch.tensor([1, 2])[: {2 if several else 1}])\n"
        )
        cross = figure.forms.loss
        for drawn in figure.plan["figures"]:
            nodes = {s["n"] for s in drawn["sheets"]}
            assert {figure.forms.tail.layers[-1].factor, cross.logits} <= nodes, drawn["w"]
            assert (cross.logp in nodes) == (not several), "not of rows that are no state's"


def test_the_probabilities_after_a_recurrence_are_those_of_the_sample():
    code = (
        "W, V = torch.randn(7, 4, requires_grad=True), torch.randn(4, 3, requires_grad=True)\nh = torch.zeros(2, 4)\n"
    )
    code += "for x in torch.randn(6, 2, 3):\n    h = torch.tanh(torch.cat([x, h], 1) @ W)\n"
    figure = drawn_of(code + "loss = F.cross_entropy(h @ V, torch.tensor([1, 2]))\n")
    for drawn in figure.plan["figures"]:
        (sheet,) = [s for s in drawn["sheets"] if "prob" in s]
        assert sheet["lead"] == [3, 2, 0, 1] and {sheet["r"], sheet["c"]} == {1, 3}


def test_a_weight_that_is_used_twice_is_joined_by_a_line():
    code = "emb = nn.Embedding(7, 5)\nh = torch.tanh(emb(torch.tensor([1, 4, 2])))\n"
    figure = drawn_of(code + "loss = F.cross_entropy(h @ emb.weight.T, torch.tensor([4, 2, 6]))\n")
    for drawn in figure.plan["figures"]:
        (words,) = [w for w in drawn["words"] if w["t"] == "the same weights, transposed"]
        assert words["y"] > 10
        (line,) = [w for w in drawn["wires"] if figure.finder.parameter(w["a"]) and figure.finder.free(w["b"])]
        assert figure.plan["nodes"][line["b"]]["name"] == "emb.weightᵀ" and line["d"].count("M") == 3


def test_layers_without_parameters_have_words_for_names():
    code = "class CNN(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    code += "        self.a, self.b, self.fc = nn.Conv2d(1, 2, 3), nn.Conv2d(2, 3, 3), nn.Linear(12, 2)\n"
    code += "    def forward(self, x):\n        x = F.max_pool2d(F.relu(self.a(x)), 2)\n"
    code += "        return self.fc(F.relu(self.b(x)).flatten(1))\ncnn = CNN()\nloss = cnn(torch.randn(2, 1, 10, 10)).mean()\n"
    figure = drawn_of(code)
    names = [n["name"] for n in figure.plan["nodes"] if n["kind"] == "operation"]
    assert [x for x in names if "relu" in x or "pool" in x] == ["relu 1", "max pool", "relu 2", "relu 2"]
    kernels = [
        s for s in figure.plan["figures"][-1]["sheets"] if figure.plan["nodes"][s["n"]]["name"] == "cnn.b.weight"
    ]
    assert len(kernels) == 3 and all(s["ghosts"] == 1 for s in kernels), "one behind it for each plane that is read"


@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
def test_a_module_that_multiplies_all_inputs_at_once_shows_each_step_its_part(kind):
    figure = drawn_of(f"rnn = nn.{kind}(3, 4)\nout, _ = rnn(torch.randn(5, 2, 3))\nloss = (out[-1] ** 2).mean()\n")
    turns = figure.forms.figure.turns
    assert all(turn.x == -1 and turn.given >= 0 for turn in turns) and len({turn.given for turn in turns}) == 5
    assert {figure.finder.functions[figure.finder.peel(turn.given)] for turn in turns} == {"addmm"}
    for drawn in figure.plan["figures"]:
        assert {turn.given for turn in turns} <= {s["n"] for s in drawn["sheets"]}
        assert [w for w in drawn["words"] if w["t"] == "x @ W"]


def test_multi_head_attention_shows_what_q_is_made_of():
    """It scales q by a number, before the scores."""
    figure = drawn_of(
        "x = torch.randn(1, 6, 8)\nloss = nn.MultiheadAttention(8, 2, batch_first=True)(x, x, x)[0].pow(2).mean()\n"
    )
    attention = figure.forms.figure
    assert set(attention.made_by) == {"q", "k", "v"} and len(set(attention.made_by.values())) == 1
    for drawn in figure.plan["figures"]:
        names = {s["label"][3] for s in drawn["sheets"] if "label" in s}
        assert {"input", "Wqkv", "q", "kᵀ", "v", "scores", "weights"} <= names, names


def rows_of(view):
    kind = "<f8" if json.loads(view.get_state()["forms"]["plan"])["double"] else "<f4"
    moved = view.forms["moved"]
    points = numpy.frombuffer(moved["points"], "<f8")
    return points, numpy.frombuffer(moved["rows"], kind).reshape(len(points), -1), moved["number"]


@pytest.mark.parametrize("used_up", [False, True])
def test_a_number_of_a_weight_is_on_a_slider_and_everything_follows_it(used_up):
    code = "w, x = torch.randn(3, 2, requires_grad=True), torch.randn(4, 3)\n"
    space = run(code + "loss = torch.tanh(x @ w).pow(2).mean()\n" + ("loss.backward()\n" if used_up else ""))
    before = space["w"].tolist()
    view = graph(space["loss"], names={"w": space["w"], "x": space["x"]})
    points, rows, number = rows_of(view)
    plan_ = json.loads(view.get_state()["forms"]["plan"])
    starts, nodes = plan_["starts"], plan_["nodes"]
    w = next(n for n in nodes if n["name"] == "w")
    at = number - starts[w["array"]]
    for x, row in zip(points, rows, strict=True):
        moved = space["w"].detach().clone()
        moved.view(-1)[at] = float(x)
        moved.requires_grad_()
        loss = (space["x"] @ moved).tanh().pow(2).mean()
        loss.backward()
        assert row[starts[nodes[plan_["root"]]["array"]]] == pytest.approx(loss.item(), rel=1e-5, abs=1e-7)
        grads = row[starts[w["grads"][-1][1]] :][:6]
        assert numpy.allclose(grads, numpy.ravel(moved.grad.tolist()), rtol=1e-4, atol=1e-6)
    assert space["w"].tolist() == before and 9 <= len(points) <= 60
    view.slide(starts[nodes[[n["name"] for n in nodes].index("x")]["array"]] + 5)
    assert view.forms["moved"]["number"] != number
    view.slide(10**6)
    assert "moved" not in view.forms, "there is no such number"


def test_there_is_no_slider_where_it_would_be_heavy():
    space = run(
        "w, x = torch.randn(60, 60, requires_grad=True), torch.randn(64, 60)\nloss = torch.tanh(x @ w).pow(2).mean()\n"
    )
    view = graph(space["loss"])
    assert "moved" not in view.forms and view.forms["plan"]


def test_layers_above_each_other_are_rows_and_x_goes_into_the_first_one():
    code = "low, high = nn.RNNCell(3, 4), nn.RNNCell(4, 4)\na, b = torch.zeros(1, 4), torch.zeros(1, 4)\n"
    code += "for x in torch.randn(5, 1, 3):\n    a = low(x, a)\n    b = high(a, b)\nloss = b.pow(2).mean()\n"
    figure = drawn_of(code)
    form = figure.forms.figure
    assert form.stacked and figure.plan["nodes"][form.turns[2].state]["name"] == "b₃"
    for drawn in figure.plan["figures"]:
        at = {s["n"]: s for s in drawn["sheets"]}
        upper, lower, x = at[form.turns[3].state], at[form.lanes[0][3]], at[form.turns[3].x]
        assert upper["x"] == lower["x"] == x["x"] and upper["y"] < lower["y"] < x["y"]
        wires = {(w["a"], w["b"]) for w in drawn["wires"]}
        assert (form.turns[3].x, form.lanes[0][3]) in wires and (form.lanes[0][3], form.turns[3].state) in wires
        assert (form.turns[3].x, form.turns[3].state) not in wires and not any(w.get("thick") for w in drawn["wires"])
        (end,) = [w for w in drawn["wires"] if w["b"] == figure.finder.root]
        assert end["a"] == form.turns[-1].state


def test_a_branch_of_convolutions_shows_a_plane_of_each_and_channels_are_no_heads():
    code = "class Res(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    code += "        self.a, self.n, self.b = nn.Conv2d(3, 3, 3, padding=1), nn.BatchNorm2d(3), nn.Conv2d(3, 3, 3, padding=1)\n"
    code += "    def forward(self, x):\n        y = self.b(torch.relu(self.n(self.a(x))))\n        return x + GATE\n"
    code += "net = nn.Sequential(Res(), Res())\nloss = (net(torch.randn(2, 3, 8, 8)) ** 2).mean()\n"
    for gate, count in (("y", 4), ("torch.sigmoid(y) * y", 1)):
        figure = drawn_of(code.replace("GATE", gate))
        assert figure.plan["heads"] == 1 and figure.plan["samples"] == 2
        for drawn in figure.plan["figures"]:
            (box, _) = [s for s in drawn["signs"] if s["kind"] == "branch"]
            inner = [
                s
                for s in drawn["sheets"]
                if box["x"] < s["x"] < box["x"] + box["w"] and box["y"] < s["y"] < box["y"] + box["h"]
            ]
            assert len(inner) == count and {(s["r"], s["c"]) for s in inner} == {(8, 8)}


def twenty(name):
    """The plan of one of the twenty programs."""
    return json.loads(bytes(program(name, 1280).forms["plan"]))


def said(plan, key):
    return " ".join(stage[key] for stage in plan["stages"])


@pytest.mark.parametrize("name", ["08_rnn_by_hand", "09_rnn_module", "10_lstm"])
def test_a_first_state_that_needs_no_gradient_gets_none_and_inputs_have_the_name_of_the_picture(name):
    plan = twenty(name)
    assert "Back through step 1:** the weights' gradient" in said(plan, "wholeback") and "h₀" in said(plan, "wholeback")
    assert "the gradient of h₁" in said(plan, "wholeback") and "first state is there" not in said(plan, "wholeback")
    assert "from x₃" in said(plan, "whole") and not [n["name"] for n in plan["nodes"] if n["name"] == "input"]


def test_a_first_state_that_needs_a_gradient_gets_one():
    space = run("""
Wx, Wh, h0 = torch.randn(3, 5, requires_grad=True), torch.randn(5, 5, requires_grad=True), torch.zeros(5, requires_grad=True)
xs, h = torch.randn(4, 3), h0
for t in range(4):
    h = torch.tanh(xs[t] @ Wx + h @ Wh)
loss = (h ** 2).sum()
""")
    plan = json.loads(bytes(graph(space["loss"], names=space).forms["plan"]))
    assert "Back through step 1:** the gradient of h₀ is there" in said(plan, "wholeback")


def test_both_states_of_an_lstm_are_made_in_a_step():
    assert "h₃ and c₃ are made from x₃, h₂ and c₂" in said(twenty("10_lstm"), "whole")


@pytest.mark.parametrize("name", ["11_transformer_block", "15_residual"])
def test_nothing_comes_out_of_the_first_branch_if_x_needs_no_gradient(name):
    first, *_, last = [
        s["wholeback"] for s in twenty(name)["stages"] if s["group"].startswith("link") and s["wholeback"]
    ]
    assert "x needs none" in first and "added to the lane" in last
    sums = [s["back"] for s in twenty(name)["stages"] if s["role"] == "residual"]
    assert "twice" not in sums[0] and "twice" in sums[-1]


def test_the_sentence_of_a_loss_says_which_bars_are_drawn():
    say = {name: said(twenty(name), "say") for name in ("06_sequential", "09_rnn_module", "12_two_blocks")}
    assert "mean of −log p of the 6 targets, the bars." in say["06_sequential"]
    assert "−log p of the target." in say["09_rnn_module"] and "bars" not in say["09_rnn_module"]
    assert "all 12 targets; the bars are those of one sample" in say["12_two_blocks"]
    assert "**logits**, 2 × 6 × 10" in say["12_two_blocks"] and "gpt.head**" not in say["12_two_blocks"]


@pytest.mark.parametrize("name", ["11_transformer_block", "13_attention_mask"])
def test_a_multiple_is_said_in_the_names_of_the_sheets(name):
    plan = twenty(name)
    assert not [n for n in plan["nodes"] if re.search(r"v\d", n["name"] + n["expr"])]
    assert (
        "**scores = 0.5(q @ kᵀ)**" in said(plan, "say")
        and len([s for s in plan["stages"] if s["role"] == "scores"]) == 1
    )


def texts(figure):
    return [s["label"][3] for s in figure["sheets"] if "label" in s]


@pytest.mark.parametrize("name", ["11_transformer_block", "12_two_blocks"])
def test_the_projection_of_several_heads_reads_them_joined(name):
    plan = twenty(name)
    for figure in plan["parts"]["link0"]:
        at = {s["label"][3]: s for s in figure["sheets"] if "label" in s}
        joined = next(s for label, s in at.items() if label in ("joined heads", "joined"))
        assert at["out"]["x"] < joined["x"] and (joined["r"], joined["c"]) == (6, 8) and at["out"]["c"] == 4
        assert joined["c"] == at["proj"]["r"]
        inside(figure)
    assert "weights 1, 2" in texts(plan["figures"][-1])


def test_a_transposed_matrix_is_there_with_what_it_shows():
    nodes = twenty("13_attention_mask")["nodes"]
    known = {n["name"]: n.get("seen", n["stage"]) for n in nodes}
    assert known["kᵀ"] == known["k"] and known["head.key.weightᵀ"] == -1


def test_a_step_of_an_lstm_lists_its_gates_and_c_is_made_from_x_and_h():
    plan = twenty("10_lstm")
    names = [plan["nodes"][i]["name"] for i in plan["lists"]["turn2"]]
    assert [n for n in names if n in "ifog"] == ["i", "f", "o", "g"]
    assert [plan["nodes"][i]["expr"] for i in plan["lists"]["turn2"] if plan["nodes"][i]["name"] == "f"] == [
        "part 2 of add"
    ]
    name = {i: n["name"] for i, n in enumerate(plan["nodes"])}
    for figure in plan["figures"]:
        wires = {(name[w["a"]], name[w["b"]]) for w in figure["wires"]}
        assert {("x₃", "c₃"), ("h₂", "c₃"), ("c₂", "c₃")} <= wires


def test_a_chart_of_gradients_says_the_number_of_its_foot():
    view = program("08_rnn_by_hand", 1280)
    drawn = view.svg(view.total, 1200)
    foot = max(float(y) for y in re.findall(r'<path class="ax" d="M[\d.]+ ([\d.]+)h', drawn))
    numbers = [float(y) for y in re.findall(r'y="([\d.]+)"[^>]*>(?:10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+|1)<', drawn)]
    assert max(numbers) == pytest.approx(foot + 4, abs=0.2)


def test_names_on_a_narrow_stage_say_that_they_are_of_a_gradient():
    plan = twenty("07_cnn")
    for figure in plan["figures"]:
        assert not [w for w in figure["words"] if w["t"].startswith(("relu", "max pool", "conv"))]
        assert sum(label.startswith(("relu", "max pool", "conv")) for label in texts(figure)) == 6
    plain = [s["label"][3] for s in twenty("13_attention_mask")["figures"][-1]["sheets"] if s.get("plain")]
    assert not {"key", "query", "value"} & set(plain)


@pytest.mark.parametrize("name", ["06_sequential", "07_cnn", "09_rnn_module"])
def test_before_the_first_step_everything_that_is_only_another_view_of_a_leaf_is_there(name):
    view = program(name, 1280)
    plan = twenty(name)
    now = Moment(plan, bytes(view.forms["numbers"]), 0)
    drawn = [s["n"] for figure in plan["figures"] for s in figure["sheets"]]
    weights = [n for n in drawn if plan["nodes"][n]["name"].endswith("weightᵀ")]
    assert weights and all(now.side(n)[0] == "value" for n in weights)
    assert "" in {now.side(n)[0] for n in drawn}


@pytest.mark.parametrize("width", [1280, 1600])
def test_a_channel_leads_to_its_own_rows_of_the_weight_after_a_flatten(width):
    plan = twenty("07_cnn")
    figure = fitting(plan["figures"], width)
    fc = next(i for i, n in enumerate(plan["nodes"]) if n["name"].endswith("fc") and n["kind"] == "operation")
    weight = next(s for s in figure["sheets"] if s["n"] == plan["nodes"][fc]["parents"][2])
    ends = sorted(float(w["d"].split()[-1]) for w in figure["wires"] if w["b"] == fc and "C" in w["d"])
    rows = [int((y - weight["y"]) / weight["ch"]) for y in ends]
    assert [row // 9 for row in rows] == list(range(8))  # planes of 3 × 3


@pytest.mark.parametrize("width", [390, 640, 1280])
def test_a_wire_behind_a_weight_carries_the_gradient_of_the_weight_where_x_needs_none(width):
    plan = twenty("13_attention_mask")
    nodes = plan["nodes"]
    made = [i for i, n in enumerate(nodes) if n["name"] in ("q", "k", "v") and n["function"] == "mm"]
    for i in made:
        from_ = [w["a"] for w in fitting(plan["figures"], width)["wires"] if w["b"] == i]
        assert [nodes[a]["kind"] for a in from_] == ["input", "parameter"], nodes[i]["name"]


def test_the_bars_along_a_lane_say_that_they_are_of_all_samples():
    for name, several in (("12_two_blocks", True), ("11_transformer_block", False)):
        titles = [s["t"] for f in twenty(name)["figures"] for s in f["signs"] if s["kind"] == "norms"]
        assert titles and all(t.endswith(", of all samples") == several for t in titles)


@pytest.mark.parametrize("name", ["06_sequential", "12_two_blocks"])
def test_the_wire_of_a_loss_runs_beside_the_words_below_the_probabilities(name):
    plan = twenty(name)
    for figure in plan["figures"]:
        [ring] = [w for w in figure["words"] if w["t"].startswith("ring")]
        [wire] = [w["d"] for w in figure["wires"] if w["b"] == plan["root"]]
        x = float(wire.split()[1])
        assert not (ring["x"] - 2 < x < ring["x"] + 6.2 * len("ring: target")), (figure["w"], wire)


def test_planes_are_flattened_in_words_and_the_row_of_the_chosen_sample_is_marked():
    plan = twenty("07_cnn")
    for figure in plan["figures"]:
        assert [w["t"] for w in figure["words"]].count("flatten") == 1
        (row,) = [s for s in figure["signs"] if s["kind"] == "row"]
        (fc,) = [s for s in figure["sheets"] if s.get("label", [0, 0, 0, ""])[3] == "fc"]
        assert row["rows"] == [2] and row["y"] == fc["y"] and row["h"] == fc["ch"] and 0 <= row["x"] < fc["x"]
    assert "▸" in program("07_cnn", 1280).svg(None, 800) and "▸" not in program("06_sequential", 1280).svg(None, 800)
