"""Figures of programs of Tensors in a browser: each form is stepped, swept, pointed at, opened, resized and used by keyboard.

They are shown in exported pages: the same script and the same state as in JupyterLab, without a server."""

import linecache
import re

import pytest
from playwright.sync_api import expect

from minigrad.core import provenance
from tests.engine.form_programs import HEAD, SEEN, UNSEEN
from tools.twenty import PROGRAMS as TWENTY
from widgets import graph

PROGRAMS = {name: code for name, _, code in SEEN + UNSEEN}
# A program of each form; a sheet of it, one of whose numbers is a sum of so many products; a part that opens.
FORMS = {
    "attention": ("attention, mask added", "scores", 4, ""),
    "layers": ("a Module with fc1 and fc2, relu in forward", "net.fc1", 4, ""),
    "recurrence": ("LSTM by hand", "h", 0, ""),
    "lane": ("lane: nn.TransformerEncoder, norm first", "m.layers[0].linear1", 8, "link0"),
    "planes": ("LeNet", "net[0]", 9, ""),
}
PLACES = 'all => all.map((e) => ["x", "y", "width", "height"].map((name) => e.getAttribute(name)).join())'
LEGIBLE = """() => {
  const svg = document.querySelector(".mg-fm-figure svg"), stage = document.querySelector(".mg-stage").getBoundingClientRect();
  const all = [...svg.querySelectorAll("text")].filter((e) => e.textContent.trim());
  const out = all.filter((e) => parseFloat(getComputedStyle(e).fontSize) < 11).map((e) => `small: ${e.textContent}`);
  const boxes = all.filter((e) => !e.matches(".mg-fm-cell")).map((e) => [e.textContent, e.getBoundingClientRect()]);
  for (const [text, b] of boxes) if (b.left < stage.left - 1 || b.right > stage.right + 1) out.push(`outside: ${text}`);
  boxes.forEach(([one, a], i) => boxes.slice(i + 1).forEach(([other, b]) => {
    const [x, y] = [Math.min(a.right, b.right) - Math.max(a.left, b.left), Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top)];
    if (x > 2 && y > 4) out.push(`${one} over ${other}`);
  }));
  return out;
}"""


@pytest.fixture
def figure(browser_context, tmp_path):
    """Show a program in a page of its own."""
    provenance.record_lines(True)
    page = browser_context.new_page()
    page.set_default_timeout(8000)
    page.emulate_media(reduced_motion="reduce")  # a sheet that turns over is narrow for a moment
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))

    def show(code, width=1280):
        space = {"__name__": "program"}
        linecache.cache["program.py"] = (len(code), None, (HEAD + code).splitlines(keepends=True), "program.py")
        exec(compile(HEAD + code, "program.py", "exec"), space)
        view = graph(space["loss"], names={k: v for k, v in space.items() if not k.startswith("_")})
        page.set_viewport_size({"width": width, "height": 1000})
        page.goto(view.save(tmp_path / "page.html").as_uri())
        expect(page.locator(".mg-stage svg").first).to_be_visible()
        return page

    yield show
    provenance.record_lines(False)
    page.close()
    assert errors == []


def sheet(page, name):
    return page.locator(f'.mg-fm-figure .mg-fm-sheet[aria-label^="{name},"]').first


def state(page):
    return page.locator(".mg-root").get_attribute("data-phase"), page.locator(".mg-clock").inner_text()


@pytest.mark.parametrize("form", FORMS)
def test_it_steps_and_its_gradients_take_the_place_of_its_values(figure, form):
    program, name, _, _ = FORMS[form]
    page = figure(PROGRAMS[program])
    root = page.locator(".mg-root")
    root.focus()
    page.keyboard.press("Home")
    waiting = page.locator(".mg-fm-figure .mg-fm-is-wait").count()
    assert waiting > 1
    one = page.locator(".mg-fm-figure rect.mg-fm-frame").evaluate_all(PLACES)
    while state(page)[0] == "forward":
        before = state(page)
        page.keyboard.press("ArrowRight")
        expect(page.locator(".mg-clock")).not_to_have_text(before[1])
    assert page.locator(".mg-fm-figure .mg-fm-is-wait").count() == 0
    assert page.locator(".mg-fm-figure .mg-fm-gpos, .mg-fm-figure .mg-fm-gneg").count() == 0
    page.keyboard.press("End")
    expect(page.locator(".mg-fm-figure .mg-fm-gpos").first).to_be_visible()
    after = page.locator(".mg-fm-figure rect.mg-fm-frame").evaluate_all(PLACES)
    assert after == one
    page.keyboard.press("ArrowLeft")
    expect(root).to_have_attribute("data-phase", "backward")


@pytest.mark.parametrize("form", FORMS)
def test_the_backward_pass_in_one_go(figure, form):
    page = figure(PROGRAMS[FORMS[form][0]])
    page.emulate_media(reduced_motion="no-preference")
    page.locator(".mg-sweep").click()
    end = page.locator(".mg-clock").inner_text().split(" / ")[1]
    expect(page.locator(".mg-clock")).to_have_text(f"{end} / {end}", timeout=12_000)
    assert page.locator(".mg-fm-figure .mg-fm-is-gradient").count() > 2


@pytest.mark.parametrize("form", [form for form in FORMS if FORMS[form][2]])
def test_a_number_shows_what_it_is_made_of_and_opens_to_the_end(figure, form):
    program, name, terms, part = FORMS[form]
    page = figure(PROGRAMS[program])
    if part:
        page.locator('[data-part="link1"]').click(position={"x": 12, "y": 12})
    one = page.locator(f'.mg-fm-sheet[aria-label^="{name},"]').first
    box = one.bounding_box()
    page.mouse.move(box["x"] + box["width"] - 6, box["y"] + box["height"] - 6)
    expect(page.locator(".mg-fm-read")).to_contain_text(" × ")
    assert page.locator(".mg-fm-lit").count() >= 2
    page.mouse.click(box["x"] + box["width"] - 6, box["y"] + box["height"] - 6)
    expect(page.locator(".mg-fm-drawer")).to_have_count(2 if part else 1)
    chips = page.locator(".mg-fm-term[data-term]")
    assert chips.count() in (terms, terms + 1)  # with a bias
    said = page.locator(".mg-fm-sum").inner_text()
    sums = [float(t.replace("−", "-").split("sum ")[-1]) for t in chips.locator("small").all_inner_texts()]
    factor = 0.5 if "scores" in name else 1  # the scores are scaled
    assert sums[-1] * factor == pytest.approx(float(said.replace("−", "-")), rel=0.02, abs=2e-3)
    chips.nth(1).hover()
    expect(page.locator(".mg-fm-lit").first).to_be_visible()
    crumbs = page.locator(".mg-fm-way").inner_text()
    assert crumbs.count("›") == (3 if part else 2) and crumbs.rstrip().endswith("]")
    page.keyboard.press("Escape")
    expect(page.locator(".mg-fm-drawer")).to_have_count(1 if part else 0)


def test_a_gradient_shows_the_products_it_is_made_of(figure):
    page = figure(PROGRAMS["attention, mask added"])
    page.locator(".mg-root").focus()
    page.keyboard.press("End")
    box = sheet(page, "q").bounding_box()
    page.mouse.move(box["x"] + 8, box["y"] + 8)
    expect(page.locator(".mg-fm-read")).to_contain_text("∂loss/∂q[0, 0]")
    assert page.locator(".mg-fm-lit-b").count() >= 1 and page.locator(".mg-fm-lit:not(.mg-fm-lit-b)").count() >= 1


def test_going_back_an_opened_operation_gives_its_gradient_to_its_operands(figure):
    page = figure(PROGRAMS["LSTM by hand"])
    root, drawer = page.locator(".mg-root"), page.locator(".mg-fm-drawer").last
    signs = drawer.locator("text")
    sheet(page, "h₂").click()
    drawer.locator('.mg-fm-sheet[aria-label^="c₂,"]').click()
    assert {"+", "="} <= set(signs.all_text_contents())
    expect(page.locator(".mg-fm-gives")).to_have_text("")
    root.focus()
    page.keyboard.press("End")
    expect(page.locator(".mg-fm-gives")).to_contain_text("← ∂ c₂")  # a sum copies its gradient
    assert not {"+", "="} & set(signs.all_text_contents()) and "←" in signs.all_text_contents()
    page.keyboard.press("Escape")  # the list of the step
    said = [text for text in signs.all_text_contents() if text[:1] in "=←"]
    assert "← ∂ h₂ × sigmoid(o)" in said and not [text for text in said if text.startswith("=")]
    page.keyboard.press("Home")
    assert "= sigmoid(o) × tanh(c₂)" in signs.all_text_contents()


@pytest.mark.parametrize(
    ("program", "name", "said"),
    [
        ("LeNet", "net[0]", ["∂ net[0].weight ← input convolved with ∂ net[0]"]),
        ("attention, mask added", "out", ["∂ weights ← ∂ out @ vᵀ", "∂ v ← weightsᵀ @ ∂ out"]),
    ],
)
def test_each_operand_has_the_rule_of_its_gradient(figure, program, name, said):
    page = figure(PROGRAMS[program])
    sheet(page, name).click()
    page.locator(".mg-root").focus()
    page.keyboard.press("End")
    for line in said:
        expect(page.locator(".mg-fm-gives")).to_contain_text(line)
    assert "=" not in page.locator(".mg-fm-drawer text").all_text_contents()


def test_a_number_is_called_by_its_index_in_what_is_open_or_by_the_name_of_its_tensor(figure):
    page = figure(PROGRAMS["attention, mask added"])
    way, read = page.locator(".mg-fm-way b"), page.locator(".mg-fm-read b")
    for name, end in (("kᵀ", r"^\[3, 0\]$"), ("x", r"^x\[0, 3\]$")):
        one = sheet(page, name)
        box, columns = one.bounding_box(), int(re.search(r" by (\d+)", one.get_attribute("aria-label"))[1])
        page.mouse.click(box["x"] + box["width"] * 3.5 / columns, box["y"] + 4)
        expect(way).to_have_text(re.compile(end))
        page.keyboard.press("Escape")
    assert read.inner_text().startswith("x[0, 3] = ")


def test_on_a_narrow_stage_the_reading_line_has_whole_lines(figure):
    page = figure(PROGRAMS["a Module with fc1 and fc2, relu in forward"], 390)
    sheet(page, "net.fc1").hover(position={"x": 4, "y": 4})
    read = page.locator(".mg-fm-read")
    expect(read).to_contain_text(" × ")
    assert read.evaluate("e => e.scrollHeight > e.clientHeight"), "its text is longer than the two lines"
    assert read.evaluate("e => parseFloat(getComputedStyle(e).paddingBottom)") == 0


def test_a_step_that_is_not_drawn_is_named_in_the_gap(figure):
    code = (
        "w, b, h = torch.tensor(0.9, requires_grad=True), torch.tensor(0.01, requires_grad=True), torch.tensor(1.0)\n"
    )
    page = figure(code + "for t in range(100):\n    h = torch.tanh(w * h + b)\nloss = h ** 2\n")
    gap = page.locator(".mg-fm-figure text", has_text=re.compile(r"^(at h|\d+ steps)"))
    page.locator(".mg-root").focus()
    for key in ("Home", "End"):
        page.keyboard.press(key)
        expect(gap).to_have_text(re.compile(r"^\d+ steps$"))
    said = set()
    for _ in range(30):
        page.keyboard.press("ArrowLeft")
        page.wait_for_timeout(40)
        said.add(gap.text_content())
    assert len({text for text in said if text.startswith("at h")}) > 8


def test_a_step_of_a_recurrence_opens_as_its_operations(figure):
    page = figure(PROGRAMS["LSTM by hand"])
    total = page.locator(".mg-clock").inner_text()
    sheet(page, "h₂").click()
    expect(page.locator(".mg-fm-drawer .mg-fm-sheet")).to_have_count(18)  # with i, f, o and g
    assert page.locator(".mg-clock").inner_text() != total, "its operations are stepped one by one now"
    page.locator(".mg-fm-close").click()
    expect(page.locator(".mg-clock")).to_have_text(total)


@pytest.mark.parametrize("form", FORMS)
def test_it_is_legible_at_each_width_and_the_same_again(figure, form):
    page = figure(PROGRAMS[FORMS[form][0]])
    drawn = page.locator(".mg-fm-figure svg").evaluate("e => e.outerHTML")
    for width in (390, 640, 831, 1600, 1280):
        page.set_viewport_size({"width": width, "height": 1000})
        page.wait_for_function(
            "() => document.querySelector('.mg-fm-figure svg').getBoundingClientRect().right <= innerWidth"
        )
        for key in ("End", "Home"):
            page.locator(".mg-root").focus()
            page.keyboard.press(key)
            assert page.evaluate(LEGIBLE) == [], width
    page.wait_for_function(
        "w => document.querySelector('.mg-fm-figure svg').getAttribute('width') === w",
        arg=re.search(r'width="(\d+)"', drawn)[1],
    )


@pytest.mark.parametrize("form", FORMS)
def test_the_keyboard_reaches_every_sheet(figure, form):
    page = figure(PROGRAMS[FORMS[form][0]])
    page.locator(".mg-root").focus()
    page.keyboard.press("ArrowDown")
    seen = set()
    for _ in range(page.locator(".mg-fm-figure :is(.mg-fm-sheet, .mg-fm-branch)").count()):
        label = page.evaluate("document.activeElement.getAttribute('aria-label')")
        assert label and "Enter opens" in label
        seen.add(label)
        page.keyboard.press("ArrowDown")
    assert len(seen) > 3
    page.keyboard.press("Enter")
    expect(page.locator(".mg-fm-drawer").first).to_be_visible()
    for left in reversed(range(page.locator(".mg-fm-drawer").count())):
        page.keyboard.press("Escape")
        expect(page.locator(".mg-fm-drawer")).to_have_count(left)
    assert page.locator('.mg-fm-figure [tabindex="0"]').count() == 1


@pytest.mark.parametrize("form", FORMS)
def test_the_tab_key_finds_the_figure_after_each_step(figure, form):
    page = figure(PROGRAMS[FORMS[form][0]])
    page.locator(".mg-root").focus()
    for key in ("Home", "ArrowRight", "End"):
        page.keyboard.press(key)
        page.wait_for_timeout(60)
        assert page.locator('.mg-fm-figure [tabindex="0"]').count() == 1, key


def test_samples_and_heads_are_chosen(figure):
    page = figure(PROGRAMS["multi-head attention of a list of heads, projected"])
    cells = lambda: sheet(page, "weights").evaluate("e => e.innerHTML")  # noqa: E731
    first = cells()
    page.get_by_role("button", name="head 2 of 2").click()
    second = cells()
    assert first != second
    page.locator(".mg-root").focus()
    page.keyboard.press("]")
    expect(page.get_by_role("button", name="sample 2 of 2")).to_have_attribute("aria-pressed", "true")
    assert cells() != second


def test_the_table_has_a_row_for_each_sheet(figure):
    page = figure(PROGRAMS["attention, mask added"])
    page.get_by_text("the same as a table").click()
    rows = page.locator(".mg-fm-table tbody tr")
    expect(rows.first).to_be_visible()
    assert rows.count() >= 8 and "6 × 8" not in rows.first.inner_text()
    assert "weights" in page.locator(".mg-fm-table").inner_text()


@pytest.mark.parametrize("settings", ["", ", padding=1", ", stride=2, padding=1"])
def test_a_number_of_a_convolution_is_its_window_times_the_kernel(figure, settings):
    code = f"c = nn.Conv2d(1, 2, 3{settings})\nnet = nn.Sequential(c, nn.ReLU(), nn.Flatten())\n"
    code += "x = torch.randn(1, 1, 7, 7)\nloss = net(x).pow(2).mean()\n"
    page = figure(code)
    for place in ("first", "last"):  # a corner, where part of the window is padding, and the opposite one
        one = page.locator(
            '.mg-fm-figure .mg-fm-sheet[aria-label^="c,"], .mg-fm-figure .mg-fm-sheet[aria-label^="net[0],"]'
        ).first
        box = one.bounding_box()
        at = 4 if place == "first" else box["width"] - 5
        page.mouse.click(box["x"] + at, box["y"] + (4 if place == "first" else box["height"] - 5))
        sums = page.locator(".mg-fm-term[data-term] small")
        expect(sums.first).to_be_visible()
        last = float(sums.last.inner_text().replace("−", "-").split("sum ")[-1])
        assert last == pytest.approx(
            float(page.locator(".mg-fm-sum").inner_text().replace("−", "-")), rel=0.01, abs=1e-3
        )
        assert sums.count() == (5 if settings and place == "first" else 10 if not settings else sums.count())
        page.keyboard.press("Escape")
        expect(page.locator(".mg-fm-drawer")).to_have_count(0)


def test_a_convolution_opens_at_the_plane_that_was_clicked_with_all_that_it_reads(figure):
    code = "net = nn.Sequential(nn.Conv2d(3, 5, 3), nn.ReLU(), nn.Flatten())\n"
    page = figure(code + "x = torch.randn(1, 3, 6, 6)\nloss = net(x).pow(2).mean()\n")
    box = page.locator('.mg-fm-figure .mg-fm-sheet[aria-label^="net[0],"]').nth(3).bounding_box()
    page.mouse.click(box["x"] + 6, box["y"] + 6)
    page.mouse.move(1, 1)
    drawer = page.locator(".mg-fm-drawer")
    expect(drawer).to_contain_text("plane 4 of 5")
    # three windows, the parts of the kernel that meet them, the bias and the number itself
    assert drawer.locator('.mg-fm-sheet[aria-label^="x,"]').count() == 3
    assert drawer.locator(".mg-fm-lit").count() == 3 + 3 + 1 + 1


def test_a_slider_moves_a_number_and_the_figure_follows(figure):
    page = figure(
        "w = torch.tensor([[0.5, -0.2], [0.1, 0.8]], requires_grad=True)\nloss = torch.tanh(torch.eye(2) @ w).pow(2).mean()\n"
    )
    page.locator(".mg-root").focus()
    page.keyboard.press("End")
    card = page.locator('.mg-fm-figure .mg-fm-branch[aria-label^="loss,"]')
    words, cells = card.get_attribute("aria-label"), sheet(page, "w").inner_html()
    slider = page.locator(".mg-fm-slide input")
    expect(page.locator(".mg-fm-slide")).to_contain_text("what backward() adds to w.grad[1, 1]")
    home = slider.input_value()
    slider.fill("1")
    expect(card).not_to_have_attribute("aria-label", words)
    assert sheet(page, "w").inner_html() != cells
    slider.fill(home)
    expect(card).to_have_attribute("aria-label", words)
    assert sheet(page, "w").inner_html() == cells


NETWORK = """
import random
from minigrad import Value
random.seed(1)
class Neuron:
    def __init__(self, n):
        self.w, self.b = [Value(random.uniform(-1, 1)) for _ in range(n)], Value(0.3)
    def __call__(self, x):
        return sum((w * a for w, a in zip(self.w, x)), self.b).tanh()
class MLP:
    def __init__(self):
        self.layers = [[Neuron(3) for _ in range(4)], [Neuron(4)]]
    def __call__(self, x):
        for layer in self.layers:
            x = [n(x) for n in layer]
        return x[0]
net = MLP()
loss = sum((net(x) - y) ** 2 for x, y in (([2.0, 3.0, -1.0], 1.0), ([0.5, 1.0, 1.0], -1.0)))
"""


@pytest.mark.parametrize("width", [390, 831, 1280])
def test_a_neuron_opens_to_one_multiplication(browser_context, tmp_path, width):
    page = browser_context.new_page()
    space = {"__name__": "program"}
    linecache.cache["program.py"] = (len(NETWORK), None, NETWORK.splitlines(keepends=True), "program.py")
    provenance.record_lines(True)
    exec(compile(NETWORK, "program.py", "exec"), space)
    view = graph(space["loss"], names={"net": space["net"], "loss": space["loss"]})
    provenance.record_lines(False)
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(view.save(tmp_path / "page.html").as_uri())
    root, way = page.locator(".mg-root"), page.locator(".mg-crumbs")
    root.focus()
    page.keyboard.press("End")
    page.locator("[data-cell='4']").focus()
    page.keyboard.press("Enter")
    product = page.locator("rect.mg-net-product")
    expect(product).to_have_count(3)
    product.nth(1).focus()
    page.keyboard.press("Enter")
    expect(way).to_contain_text("w[1] × x[1]")
    panel = page.locator(".mg-net-multiplication")
    expect(panel).to_have_count(1)
    w, x = space["net"].layers[0][1].w[1].data, 3.0
    said = " ".join(page.locator(".mg-net-svg text.mg-net-number").all_text_contents()).replace("−", "-")
    assert f"{w:.2f} × 3 = {w * x:.2f}" in said and "∂/∂w[1] = x[1] = 3" in said and f"∂/∂x[1] = w[1] = {w:.2f}" in said
    back = re.search(r"gradient (-?[\d.]+) comes back: \1 × 3 = (-?[\d.]+) to w\[1\]", said)
    assert back and float(back[2]) == pytest.approx(float(back[1]) * x, rel=0.01)
    box, texts = panel.bounding_box(), page.locator(".mg-net-svg text.mg-net-number.mg-net-left").all()
    inside = [b for t in texts if (b := t.bounding_box()) and b["y"] > box["y"] and b["y"] < box["y"] + box["height"]]
    assert len(inside) >= 6 and all(b["x"] + b["width"] <= box["x"] + box["width"] + 1 for b in inside)
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)
    expect(way).to_contain_text("neurons" if "neurons" in way.inner_text() else "1")
    product.first.click(force=True)
    expect(panel).to_have_count(1)
    way.get_by_role("button").last.click()
    expect(panel).to_have_count(0)
    page.close()


def test_cards_open_whole_a_click_keeps_the_time_and_fit_fits(figure):
    turns = "from minigrad import Value\ny = Value(1.1)\nfor k in range({}):\n    a = y * 0.5\n    b = y + 1\n    y = a * b\nloss = y\n"
    page = figure(turns.format(6))
    stage, root = page.locator(".mg-stage"), page.locator(".mg-root")
    scrolled = "e => [e.scrollWidth - e.clientWidth, e.scrollHeight - e.clientHeight].every((x) => x <= 0)"
    for width in (390, 640, 831):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_timeout(300)
        assert stage.evaluate(scrolled), width
    root.focus()
    page.keyboard.press("End")
    before = state(page)
    page.locator(".mg-card").first.click()
    assert state(page) == before and root.locator("[role=tab][aria-selected=true]").inner_text() == "Node"
    page = figure(turns.format(14))
    stage = page.locator(".mg-stage")
    assert not stage.evaluate(scrolled)
    page.get_by_role("button", name="fit the whole graph").click()
    assert stage.evaluate(scrolled)


@pytest.mark.parametrize("name", ["06_sequential", "07_cnn", "09_rnn_module", "12_two_blocks", "16_weight_tying"])
def test_probabilities_have_one_name_and_one_number_and_their_gradient_is_that_of_log_p(figure, name):
    page = figure(TWENTY[name].split("torch.manual_seed(0)\n", 1)[1])
    page.locator(".mg-root").press("End")
    there = sheet(page, "log p")
    expect(there).to_have_count(1)
    assert there.locator("[class^=mg-fm-gneg]").count() and not there.locator(".mg-fm-prob").count()
    expect(page.locator(".mg-fm-figure text", has_text="∂ log p")).to_have_count(1)
    point(page, there)
    expect(page.locator(".mg-fm-read")).to_contain_text("∂loss/∂log p[")
    forward(page)
    there = sheet(page, "softmax")
    assert there.locator(".mg-fm-prob").count()
    point(page, there)
    read = page.locator(".mg-fm-read")
    expect(read).to_contain_text("softmax[0, 0] = 0.")
    said = read.inner_text()
    box = there.bounding_box()
    page.mouse.click(box["x"] + 4, box["y"] + 4)
    expect(page.locator(".mg-fm-drawer .mg-fm-head b")).to_have_text(["softmax"])
    assert page.locator(".mg-fm-drawer .mg-fm-sum").inner_text()[:5] == said.split("= ")[1][:5]
    assert "log softmax" not in page.locator(".mg-root").inner_text()


def point(page, there):
    box = there.bounding_box()
    page.mouse.move(box["x"] + 4, box["y"] + 4)


def forward(page):
    """Back to the end of the forward pass."""
    page.locator(".mg-root").focus()
    for _ in range(200):
        if page.locator(".mg-root").get_attribute("data-phase") == "forward":
            break
        page.keyboard.press("ArrowLeft")


def test_the_row_of_the_chosen_sample_is_marked_and_the_colours_are_explained(figure):
    page = figure(TWENTY["07_cnn"].split("torch.manual_seed(0)\n", 1)[1])
    mark = page.locator(".mg-fm-figure text", has_text="▸")
    first = float(mark.get_attribute("y"))
    page.locator('[aria-label="sample 2 of 2"]').click()
    assert float(mark.get_attribute("y")) > first + 9
    assert page.locator(".mg-fm-key rect").count() == 5
    expect(page.locator(".mg-fm-key")).to_contain_text("probability")
    page = figure(TWENTY["10_lstm"].split("torch.manual_seed(0)\n", 1)[1])
    assert page.locator(".mg-fm-key rect").count() == 4
    expect(page.locator(".mg-fm-key")).to_contain_text("of a state, of all its steps")
