"""The graph view of Tensors in a real JupyterLab: cards and edges, stepping, sliders, stale badges, stop signs, both themes."""

import re

import pytest
from playwright.sync_api import expect

from .test_graph_view import CONTRAST

SETUP = "%load_ext minigrad\nimport minigrad as torch\ntorch.manual_seed(0);"
LAYER = """x = torch.linspace(-1, 1, 12).reshape(4, 3)
w = torch.tensor([[0.5, -1.], [1., 0.25], [-0.75, 2.]], requires_grad=True)
b = torch.tensor([0.1, -0.2], requires_grad=True)
h = torch.relu(x @ w + b)
loss = (h ** 2).mean()"""


class View:
    def __init__(self, nb, at=-1):
        self.nb = nb
        self.root = nb.page.locator(".mg-root").nth(at) if at >= 0 else nb.page.locator(".mg-root").last
        self.root.wait_for()
        nb.page.wait_for_function("e => e.dataset.ready === '1'", arg=self.root.element_handle())

    def cards(self):
        """The operations of a program that opens as a figure."""
        self.root.get_by_role("button", name="every operation as a card").click()
        expect(self.root.locator(".mg-card").first).to_be_visible()
        return self

    def card(self, name):
        return self.root.locator(".mg-card").filter(
            has=self.nb.page.locator("text.mg-name", has_text=re.compile(f"^{re.escape(name)}$"))
        )

    def step(self):
        return int(self.root.get_attribute("data-step"))

    def press(self, key):
        self.root.focus()
        self.nb.page.keyboard.press(key)


def test_a_layer_with_a_broadcast_bias(open_notebook):
    nb = open_notebook([SETUP, LAYER, "%graph loss"]).run_all()
    assert nb.cell_errors() == []
    view = View(nb).cards()
    nb.page.set_viewport_size({"width": 2300, "height": 1000})  # room for heat maps
    nb.page.wait_for_timeout(700)
    nb.shot("tensor-layer-forward", view.root)
    w = view.card("w")
    assert w.locator(".mg-fm-pos, .mg-fm-neg").count() and not w.locator(".mg-fm-gpos, .mg-fm-gneg").count()

    def room():
        """Where the heat map is on its card."""
        card, heat = w.bounding_box(), w.locator(".mg-heat").bounding_box()
        return {**heat, "x": heat["x"] - card["x"], "y": heat["y"] - card["y"]}

    before = room()
    view.press("End")
    assert w.locator(".mg-fm-gpos, .mg-fm-gneg").count() and not w.locator(".mg-fm-pos, .mg-fm-neg").count()
    assert room() == pytest.approx(before, abs=1), "the gradient has the room of the value"
    assert w.get_by_text(re.compile(r"^norm \d")).count() == 1
    assert view.card("x").locator(".mg-fm-pos, .mg-fm-neg").count(), "what needs no gradient keeps its value"
    stop = view.root.locator(".mg-stop title")
    assert stop.count() == 1 and "x does not require gradients" in stop.text_content()
    pills = view.root.locator(".mg-pill text").all_text_contents()
    assert "Σ over dim 0" in pills and "(4, 2)" in pills
    assert "backward() puts it into w.grad" in view.root.locator(".mg-say").inner_text()
    view.card("w").focus()
    nb.page.keyboard.press("Enter")
    pane = view.root.locator(".mg-pane:visible")
    assert "mean" in pane.inner_text() and "(3, 2)" in pane.inner_text() and pane.locator(".mg-scale").count() == 2
    for theme in nb.themes():
        nb.shot(f"tensor-layer-{theme}", view.root)
    view.root.get_by_role("tab", name="Ledger").click()
    row = view.root.locator("tr", has_text="→ b").first
    expect(row).to_contain_text("Σ over 0")
    nb.shot("tensor-layer-ledger", view.root)


def test_sliders_of_numbers_move_heat_maps_and_leave_the_learners_tensor(open_notebook):
    cells = [
        SETUP,
        "a = torch.tensor(2., requires_grad=True)\nx = torch.linspace(-1, 1, 6)\nl = ((a * x - 1) ** 2).mean()",
        "%graph l",
    ]
    nb = open_notebook([*cells, "print(a.item(), a.grad)"]).run_all()
    view = View(nb)
    view.press("End")
    before = view.card("l").text_content()
    slider = view.root.locator("input[type=range]").first
    slider.focus()
    for _ in range(5):
        nb.page.keyboard.press("ArrowRight")
    assert view.card("l").text_content() != before
    value = float(view.root.locator(".mg-input output").inner_text())
    x = [-1 + 0.4 * i for i in range(6)]
    assert value > 2
    loss = sum((value * v - 1) ** 2 for v in x) / 6
    assert float(view.card("l").locator(".mg-value").text_content()) == pytest.approx(loss, rel=1e-5)
    nb.shot("tensor-slider", view.root)
    assert nb.cell(3).inner_text().strip().endswith("2.0 None")  # printed before
    nb.cell(3).click()
    nb.command("notebook:run-cell")
    nb.wait_idle()
    expect(nb.cell(3)).to_contain_text("2.0 None")


PICTURES = {
    "stale": """x = torch.linspace(-1, 1, 5).requires_grad_()
y = torch.exp(x)
v = y[1:3]
y.add_(1)
s = (y * 2).sum() + v.sum()
%graph s --end""",
    "crossentropy": """logits = torch.randn(5, 3, requires_grad=True)
p = torch.softmax(logits, 1)
target = torch.tensor([0, 2, 1, 1, 0])
loss = -torch.log(p[torch.arange(5), target]).mean()
%graph loss --end""",
    "batchnorm": """x = torch.randn(8, 4, requires_grad=True)
gamma = torch.ones(4, requires_grad=True)
beta = torch.zeros(4, requires_grad=True)
mean = x.mean(0)
var = ((x - mean) ** 2).mean(0)
out = gamma * (x - mean) / (var + 1e-5).sqrt() + beta
loss = (out ** 3).sum()
%graph loss --end""",
    "second": """x = torch.tensor(2., requires_grad=True)
y = 3 * x**3 + x
%graph y --second""",
}


def test_pictures(open_notebook):
    nb = open_notebook([SETUP, *PICTURES.values()]).run_all()
    assert nb.cell_errors() == []
    for k, name in enumerate(PICTURES):
        a_picture(nb, name, View(nb, k))


def a_picture(nb, name, view):
    for theme in nb.themes():
        nb.shot(f"tensor-{name}-{theme}", view.root)
    if name == "stale":
        assert "⚠" in "".join(view.card("y₁").locator(".mg-expr, .mg-mark").all_text_contents())
        assert "The backward pass stops at" in view.root.locator(".mg-say").inner_text()
        assert "view of" in view.root.text_content()
    if name == "second":
        view.press("End")
        assert view.root.locator(".mg-layer").count() >= 3
        view.root.locator(".mg-makes").first.dispatch_event("click")
        assert view.root.locator(".mg-layer.mg-hit").count() >= 1
        nb.shot("tensor-second-hit", view.root)


DUEL = """class MyTanh(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.tanh()
        ctx.save_for_backward(y)
        return y
    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * (1 - y)
x = torch.tensor([0.5, -1.], requires_grad=True)
from widgets import duel
duel((torch.tanh(x * 2) * 3).sum(), (MyTanh.apply(x * 2) * 3).sum())"""


def test_a_duel_has_one_step_and_names_the_difference(open_notebook):
    nb = open_notebook([SETUP, DUEL]).run_all()
    assert nb.cell_errors() == []
    left, right = View(nb, 0), View(nb, 1)
    assert left.step() == right.step() > 0
    expect(nb.page.get_by_role("status").filter(has_text="They part in the backward pass at")).to_be_visible()
    for view, ours, theirs in (
        (left, "[1.25992, 0.211952]", "[0.715217, 5.89208]"),
        (right, "[0.715217, 5.89208]", "[1.25992, 0.211952]"),
    ):
        card = view.root.locator(".mg-card:has(.mg-differ)")
        said = f"≠ passes to 2x {ours}, there {theirs}"
        assert card.locator(".mg-differ text").all_text_contents() == ["≠ passes to 2x", ours, "there", theirs]
        assert card.get_attribute("aria-label").endswith(said)
        view.root.locator("[data-tab=ledger]").click()
        expect(view.root.locator(".mg-pane tr.mg-now .mg-differ")).to_have_text(said)
        view.root.locator("[data-tab=values]").click()
        expect(view.root.locator(".mg-pane:visible tr .mg-differ")).to_have_text(said)
    for theme in ("light", "dark"):
        nb.theme(theme)
        nb.page.wait_for_timeout(400)
        assert [what for what, ratio in left.root.evaluate(CONTRAST) if ratio < 4.5] == []
        nb.shot(f"tensor-duel-{theme}")
    nb.theme("light")
    left.root.focus()
    nb.page.keyboard.press("Home")
    nb.page.wait_for_function("e => e.dataset.step === '0'", arg=right.root.element_handle())
    for view in (left, right):  # nothing has been sent yet
        expect(view.root.locator(".mg-card .mg-differ")).to_be_hidden()
        assert "≠" not in view.root.locator(".mg-card:has(.mg-differ)").get_attribute("aria-label")


LAYERS = """X, t = torch.randn(6, 2), torch.tensor([0, 1, 2, 0, 1, 2])
model = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3))
L = torch.nn.functional.cross_entropy(model(X), t)"""
FITTED = """svg => {
  const [picture, stage] = [svg.getBoundingClientRect(), svg.parentElement.getBoundingClientRect()];
  return [picture.width / svg.viewBox.baseVal.width, picture.left - stage.left, stage.right - picture.right, picture.top - stage.top,
          stage.bottom - picture.bottom];
}"""


def test_a_network_of_tensors_is_whole_and_legible_at_each_width(open_notebook):
    nb = open_notebook([SETUP, LAYERS, "%graph L"]).run_all()
    assert nb.cell_errors() == []
    view = View(nb).cards()
    assert view.root.locator(".mg-card text.mg-name").all_text_contents() == [
        "X",
        *(f"model[{k}]" for k in range(5)),
        "t",
        "L",
    ]
    for width in (1600, 1280, 640):
        nb.page.set_viewport_size({"width": width, "height": 1300})
        nb.page.wait_for_timeout(600)
        zoom, *room = view.root.locator(".mg-stage > svg").evaluate(FITTED)
        assert zoom >= 0.999 and min(room[:2]) > -1, (width, zoom, room)
        nb.shot(f"tensor-layers-{width}", view.root)
    nb.page.set_viewport_size({"width": 2300, "height": 1300})
    nb.page.wait_for_timeout(600)
    view.press("End")
    assert view.card("model[0]").locator(".mg-heat").count() == 1


def test_a_detach_is_a_cut_wire_over_which_nothing_comes_back(open_notebook):
    code = (
        "w = torch.tensor(2., requires_grad=True)\nh = (w * 0.5).tanh()\ntarget = h.detach() + 0.2\nd = (h - target)**2"
    )
    nb = open_notebook([SETUP, code, "%graph d"]).run_all()
    view = View(nb)
    cut = view.root.locator(".mg-cut")
    assert cut.locator("text").all_text_contents() == ["h.detach()"]
    assert "no gradient goes back to h" in cut.locator("title").text_content()
    nb.page.set_viewport_size({"width": 1600, "height": 1000})
    nb.page.wait_for_timeout(600)
    assert view.root.locator(".mg-stage > svg").evaluate(FITTED)[0] > 0.9, "no small print, on a wide page as well"
    view.press("End")
    assert cut.locator("text").all_text_contents() == ["0 comes back"]
    nb.shot("tensor-cut", view.root)


CUTS = """a = torch.tensor([1., 2., 3., 4.], requires_grad=True)
b = a * 2
c = b.view(2, 2)
c[0] *= 3
with torch.no_grad():
    k = a.sum() * 2
g = (b * k).sum()"""
SEEN = """root => {
  const stage = root.querySelector('.mg-stage').getBoundingClientRect();
  const now = root.querySelector('.mg-card.mg-now .mg-face').getBoundingClientRect();
  const sizes = [...root.querySelectorAll('.mg-stage svg text')].filter(t => t.getBoundingClientRect().width)
    .map(t => parseFloat(getComputedStyle(t).fontSize) * root.querySelector('.mg-stage > svg').getScreenCTM().a);
  return [stage.height <= 1324, now.top >= stage.top - 1 && now.bottom <= stage.bottom + 1, Math.min(...sizes)];
}"""


DETACHED = """torch.manual_seed(0)
x, w, b = torch.randn(4, 3), torch.randn(3, 3, requires_grad=True), torch.zeros(3, requires_grad=True)
h = torch.tanh(x @ w + b)
target = h.detach() * 0.9 + 0.1
k = h * 2
c = k.view(2, 6)
c[0] *= 3
with torch.no_grad():
    scale = w.sum() * 2
u = ((k - target)**2).mean(1)
loss = (u * scale).sum() + (w**2).sum() * 0.01"""
TURNS = "from minigrad import Value\nw, h = Value(0.9), Value(1.0)\nfor t in range(12):\n    h = (w * h + 0.1).tanh()"
WHOLE = """root => {
  const [stage, svg] = [root.querySelector('.mg-stage'), root.querySelector('.mg-stage svg')];
  const sizes = [...svg.querySelectorAll('text')].filter(t => t.getBoundingClientRect().width)
    .map(t => parseFloat(getComputedStyle(t).fontSize) * svg.getScreenCTM().a);
  return [Math.min(...sizes), stage.scrollWidth - stage.clientWidth, stage.scrollHeight - stage.clientHeight];
}"""


@pytest.mark.parametrize(
    ("code", "result"), [(DETACHED, "loss"), (TURNS, "h"), (LAYERS, "L")], ids=["detach", "loop", "Sequential"]
)
def test_what_opens_is_as_wide_as_its_stage_and_legible_on_small_screens(open_notebook, code, result):
    nb = open_notebook([SETUP, code, f"%graph {result}"])
    nb.command("application:toggle-left-area")
    for width, height in ((640, 1000), (853, 667), (1280, 800)):  # the second is 1280 × 1000 at 150 %
        nb.page.set_viewport_size({"width": width, "height": height})
        nb.run_all()
        view = View(nb)
        shown = view.root.element_handle()
        nb.page.wait_for_function(f"root => {{ const [size, wide] = ({WHOLE})(root); return size >= 10.9 && wide <= 1; }}",
                                  arg=shown, timeout=10_000)  # fmt: skip
        view.press("End")
        nb.page.wait_for_timeout(300)
        size, wide, _ = view.root.evaluate(WHOLE)  # what runs down is scrolled
        assert size >= 10.9 and wide <= 1, (width, size, wide)
        nb.shot(f"tensor-whole-{result}-{width}", view.root)
    nb.command("application:toggle-left-area")


def test_on_a_small_screen_the_step_is_in_sight_and_its_words_can_be_read(open_notebook):
    nb = open_notebook([SETUP, CUTS, "%graph g"]).run_all()
    nb.page.set_viewport_size({"width": 853, "height": 667})
    view = View(nb)
    nb.page.wait_for_timeout(700)
    assert view.root.locator(".mg-stage").evaluate("e => e.scrollTop") == 0, "nothing opens scrolled to its end"
    for width, height in ((640, 1000), (853, 667), (1280, 700)):
        nb.page.set_viewport_size({"width": width, "height": height})
        nb.page.wait_for_timeout(700)
        view.press("Home")
        for _ in range(12):
            view.press("ArrowRight")
            nb.page.wait_for_function(
                f"root => ({SEEN})(root)[1]", arg=view.root.element_handle(), timeout=5000
            )  # the step is seen
            low, _, size = view.root.evaluate(SEEN)
            assert low and size >= 10.9, (width, view.step(), low, size)
        nb.shot(f"tensor-small-{width}", view.root)


def test_what_was_opened_leads_back(open_notebook):
    nb = open_notebook([SETUP, LAYERS, "%graph L"]).run_all()
    view = View(nb).cards()
    crumbs = view.root.locator(".mg-crumbs")
    expect(crumbs).to_have_text("figure › operations")
    view.card("model[2]").focus()
    nb.page.keyboard.press("Enter")
    expect(crumbs).to_have_text("figure › operations › model › [2]")
    expect(crumbs.locator("b")).to_have_attribute("aria-current", "location")
    assert view.card("X").count() == 1 and view.card("weight").count() == 1, "the rest stays in view"
    assert view.root.locator(".mg-frame:focus").count() == 1
    nb.shot("tensor-opened", view.root)
    nb.page.keyboard.press("Escape")
    expect(view.card("model[2]")).to_be_focused()
    expect(crumbs).to_have_text("figure › operations")
    view.card("model[0]").click()
    expect(crumbs).to_contain_text("[0]")
    crumbs.get_by_role("button", name="back to operations").click()
    expect(crumbs).to_have_text("figure › operations")
    assert view.card("model[0]").count() == 1 and view.card("model[0].weight").count() == 0
