"""A page of the book: lessons and graph views that move without Python, opened from a disk. Each says what the engine says."""

import json
from functools import partial
from html import escape

import pytest
from playwright.sync_api import expect

import minigrad as torch
from minigrad import Value, nn
from tests.front.test_front import network_view
from tools import golden
from tools.book import check, record
from widgets import graph, lessons
from widgets.front_end import built

PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>book</title><link rel="stylesheet" href="book.css">
<body>{figures}<script defer src="page.js"></script></html>"""


@pytest.fixture(scope="module")
def page(browser_context, tmp_path_factory):
    """A function: recordings, or what makes one in a folder -> the page that shows them. It must report no error and ask for nothing but
    its own files."""
    said = []

    def open_(*held):
        folder = tmp_path_factory.mktemp("book")
        figures = []
        for one in held:
            key = record.write(one(folder) if callable(one) else one, folder)
            figures.append(f'<figure data-live="{escape(key)}" data-from="."><p>still</p></figure>')
        (folder / "page.js").write_text(built("page.js"), encoding="utf-8")
        (folder / "book.css").write_text(built("views.css"), encoding="utf-8")
        (folder / "index.html").write_text(PAGE.format(figures="".join(figures)), encoding="utf-8")
        found = browser_context.new_page()
        found.on("console", lambda message: said.append(message.text) if message.type in ("error", "warning") else None)
        found.on("pageerror", lambda error: said.append(str(error)))
        found.on(
            "request", lambda request: said.append(request.url) if not request.url.startswith(folder.as_uri()) else None
        )
        found.goto((folder / "index.html").as_uri())
        expect(found.locator("[data-open=yes]")).to_have_count(len(held))
        return found

    yield open_
    assert not said


def test_a_slider_moves_the_lesson_as_python_does(page):
    view, other = lessons.fit_line(), lessons.fit_line()
    shown = page(record.lesson(view))
    slider = shown.locator("input[type=range]")
    for _ in range(3):
        slider.press("ArrowRight")
    control = other.figure.controls()[0]
    at = control.get(other.figure)
    other.set(**{control.name: control.read(control.spec(at)["value"] + 3 * control.spec(at)["step"])})
    expect(shown.locator(".mg-words")).to_have_text(other.text().split("\n")[0])
    assert (
        view.figure is not other.figure and view.text() == lessons.fit_line().text()
    )  # the recorded lesson stands where it stood


def test_buttons_and_what_a_lesson_remembers(page):
    other = lessons.order_game()
    shown = page(record.lesson(lessons.order_game()))
    for _ in range(3):
        name = next(name for name, button in other.figure.actions() if button["when"](other.figure))
        label = next(b["label"] for b in other.scene["buttons"] if b["name"] == name)
        other.press(name)
        shown.get_by_role("button", name=label, exact=True).click()
        expect(shown.locator(".mg-words")).to_have_text(other.scene["say"])


def test_a_graph_steps_to_its_end(page):
    x = Value(1.0)
    y = (3 * x + 2) ** 2
    shown = page(partial(record.graph, graph(y)))  # before backward, so it opens after the forward pass
    y.backward()
    grad = shown.locator('.mg-card[aria-label^="x"] .mg-grad')
    expect(grad).to_have_text("·")
    shown.locator(".mg-end").click()
    expect(grad).to_have_text(f"▴ {x.grad:g}")


def layers():
    """A graph of five layers and a loss, which opens folded."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2), nn.Tanh(), nn.Linear(2, 2))
    loss = nn.functional.mse_loss(net(torch.randn(5, 3)), torch.zeros(5, 2))
    return graph(loss, names={"net": net, "loss": loss}, limit=3), loss


def same_picture(shown, view):
    """Has the page the cards that the view has in the notebook, and at its end the engine's gradients?"""
    cards = [view.trace["nodes"][card["id"]]["label"] for card in view.picture["cards"]]
    expect(shown.locator(".mg-card")).to_have_count(len(cards))
    assert [label for label, _ in shown.locator("figure").evaluate(check.CARDS)] == cards
    assert check.stepped(shown.locator("figure"), view.trace) == []


def heat_maps():
    w = torch.tensor([[0.5, -1.0], [1.0, 0.25], [-0.75, 2.0]], requires_grad=True)
    return graph((torch.relu(torch.linspace(-1, 1, 12).reshape(4, 3) @ w) ** 2).mean(), names={"w": w})


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_looks(page, theme):
    """The main views as tests/golden/looks/ has them. They are the same modules as in JupyterLab."""
    views = {
        "square": graph((3 * Value(1.0) + 2) ** 2),
        "folds": layers()[0],
        "heat": heat_maps(),
        "network": network_view(),
    }
    shown = page(*(partial(record.graph, view) for view in views.values()), record.lesson(lessons.step_size()))
    shown.emulate_media(reduced_motion="reduce")
    shown.evaluate("theme => { document.documentElement.style.colorScheme = theme }", theme)
    for name, figure in zip([*views, "lesson"], shown.locator("figure").all(), strict=True):
        if name in views:
            figure.locator(".mg-end").first.click()
            expect(figure.locator(".mg-root").first).to_have_attribute("data-mg-theme", theme)
        figure.evaluate("e => Promise.all(e.getAnimations({subtree: true}).map((a) => a.finished))")
        golden.look(f"{name}-{theme}", figure.locator(".mg-instrument").first.screenshot())


def test_a_folded_card_opens_and_closes_as_in_the_notebook(page):
    view, _loss = layers()
    before = view.picture, view.step
    shown = page(partial(record.graph, view))
    assert (view.picture, view.step) == before  # the recorded view stands where it stood
    folds = [node for node in view.trace["nodes"] if "fold" in node]
    assert folds
    same_picture(shown, view)
    for k, node in enumerate(folds):
        card = shown.locator(f'.mg-fold[aria-label^="{node["label"]},"]')
        if k % 2:
            card.click()
        else:
            card.focus()
            card.press("Enter")
        view.fold(node["fold"])
        same_picture(shown, view)
    for frame in view.picture["frames"][::-1]:  # inner ones are closed first
        shown.get_by_role("button", name=f"close the fold {frame['name']}", exact=True).press("Enter")
        view.fold(frame["fold"])
        same_picture(shown, view)
    for button, what in (("open all folds", "none"), ("close all folds", "all")):
        shown.get_by_role("button", name=button).click()
        view.fold(what)
        same_picture(shown, view)


def test_a_graph_s_sliders_say_what_the_engine_says(page):
    """At both ends of the slider: the result there, and its derivative."""
    x = Value(1.0)
    y = (3 * x + 2) ** 2
    view = graph(y, names={"x": x, "y": y})
    shown = page(partial(record.graph, view))
    slider, card = shown.get_by_role("slider", name="x", exact=True), shown.locator(".mg-card")
    shown.locator(".mg-end").click()
    for key in ("Home", "End"):
        slider.press(key)
        at = float(slider.get_attribute("aria-valuetext").removeprefix("x = ").replace("−", "-"))
        there = Value(at)
        result = (3 * there + 2) ** 2
        result.backward()
        assert at != x.data
        for name, part, expected in (("y", ".mg-value", result.data), ("x", ".mg-grad", there.grad)):
            said = card.and_(shown.locator(f'[aria-label^="{name} "], [aria-label^="{name},"]')).locator(part)
            expect(said).to_contain_text(f"{expected:g}".replace("-", "−"))
    shown.get_by_role("button", name="reset").click()
    expect(slider).to_have_attribute("aria-valuetext", "x = 1")


def test_the_backward_pass_can_be_filled_in(page):
    x = Value(3.0)
    y = x * x + 2 * x
    shown = page(partial(record.graph, graph(y, names={"x": x, "y": y})))
    shown.get_by_role("tab", name="Ledger").click()
    shown.get_by_role("button", name="fill it in yourself").click()
    row, verdict = shown.locator(".mg-pane:visible tbody tr").first, shown.locator(".mg-verdict")
    for k, typed in enumerate(("2", "1", "1", "1", "1")):  # the first one is wrong
        row.locator(".mg-blank").nth(max(0, k - 1)).fill(typed)
        shown.keyboard.press("Enter")
        expect(verdict).to_contain_text("✗" if k == 0 else "✓")
    expect(row.locator(".mg-blank")).to_have_count(0)
    shown.locator(".mg-end").click()
    expect(shown.locator('.mg-card[aria-label^="x,"] .mg-grad')).to_have_text("▴ 8")


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_nothing_flies_where_the_reader_wants_no_motion(page, motion):
    x = Value(1.0)
    view = graph((3 * x + 2) ** 2)
    shown = page(partial(record.graph, view))
    shown.emulate_media(reduced_motion=motion)
    root = shown.locator(".mg-root")
    root.evaluate("""root => { window.flown = 0; new MutationObserver((all) => { for (const one of all)
        window.flown += [...one.addedNodes].filter((node) => node.classList?.contains("mg-packet")).length;
        }).observe(root, { childList: true, subtree: true }); }""")
    root.locator(".mg-start").click()
    for step in range(1, view.total):
        root.locator(".mg-next").click()
        expect(root).to_have_attribute("data-step", str(step))
    assert (shown.evaluate("window.flown") == 0) == (motion == "reduce")


def test_a_search_finds_what_is_folded_and_opens_it(page):
    view, _loss = layers()
    shown = page(partial(record.graph, view))
    field = shown.get_by_role("searchbox", name="find a node by name or operation")
    field.fill("tanh")
    found = view.find("tanh")
    expect(shown.locator(".mg-head [role=status]")).to_have_text(f"{found['total']} found")
    assert view.trace["nodes"][found["nodes"][0]]["kind"] == "fold"
    field.press("Enter")
    view.show(found["hits"][0])
    same_picture(shown, view)


def test_a_combination_for_which_there_is_no_room_says_so(page):
    """Each card opens by itself; where not even that was recorded, it says where it opens."""
    view, _loss = layers()
    first, second = [node for node in view.trace["nodes"] if node["label"] in ("net[0]", "net[2]")]

    def few(folder, room):
        held = record.graph(view, folder, room)
        for state in held["opens"]["states"][1:]:
            state["moves"] = {}
        return held

    shown = page(partial(few, room=10**6), partial(record.graph, view, room=0))
    whole, none = shown.locator("figure").all()
    for node in (first, second):
        whole.locator(f'.mg-fold[aria-label^="{node["label"]},"]').click()
    expect(whole.locator(".mg-notice")).to_contain_text("In JupyterLab all stay open.")
    expect(whole.get_by_role("button", name=f"close the fold {second['label']}")).to_be_visible()
    expect(whole.locator(f'.mg-fold[aria-label^="{first["label"]},"]')).to_be_visible()
    whole.get_by_role("button", name=f"close the fold {second['label']}").press("Enter")
    expect(whole.locator(f'.mg-fold[aria-label^="{second["label"]},"]')).to_be_visible()
    none.locator(f'.mg-fold[aria-label^="{first["label"]},"]').click()
    expect(none.locator(".mg-notice")).to_contain_text("the card opens in JupyterLab.")
    expect(none.locator(f'.mg-fold[aria-label^="{first["label"]},"]')).to_be_visible()


def test_a_neuron_opens_and_the_way_back_closes_it(page):
    view = network_view()
    shown = page(partial(record.graph, view))
    plan = json.loads(view.network["plan"])
    cell = plan["columns"][1]["cells"][0]
    shown.locator(f'.mg-net-svg [data-cell="{cell}"]').click()
    view.look(cell)
    root = shown.locator(".mg-root")
    crumbs = shown.locator(".mg-crumbs")
    expect(crumbs).to_contain_text(plan["cells"][cell]["short"])
    expect(shown.locator(".mg-bar")).to_contain_text(f"/ {view.total}")
    shown.locator(".mg-end").click()
    expect(root).to_have_attribute("data-step", str(view.total))  # with the steps inside the neuron
    shown.get_by_role("button", name="next sample").click()
    view.look(cell, 1)
    crumbs.get_by_role("button").click()
    view.look(-1)
    expect(shown.locator(".mg-bar")).to_contain_text(f"/ {view.total}")
    shown.locator(".mg-end").click()
    expect(root).to_have_attribute("data-step", str(view.total))
    crumbs.get_by_role("button", name="every operation").click()
    view.fold("operations")
    same_picture(shown, view)
    crumbs.get_by_role("button", name="back to the network").click()
    expect(shown.locator(".mg-net-svg")).to_be_visible()


def test_what_is_not_recorded_is_said(page):
    shown = page(record.lesson(lessons.grow("y = x ** 2", x=2)))
    field = shown.locator("input[type=text]").first
    field.fill("z = y + x")
    field.press("Enter")
    expect(shown.locator(".mg-words")).to_contain_text("Run the cell, and Python answers")


def test_the_check_moves_every_control_and_reads_what_is_said(page):
    """Two menus and no slider; and one recorded sentence that the page shows is not the one that Python said."""
    held = record.lesson(lessons.hook_tap())
    shown = page(held)
    table = json.loads(json.dumps(held["table"]))
    found, end = check.played(shown.locator("figure"), table)
    assert found == [] and end != table["start"]
    for scene in table["scenes"]:
        scene["say"] += " Or does it?"
    shown.reload()
    found, _ = check.played(shown.locator("[data-open=yes]"), table)
    assert [one.partition(" says ")[0] for one in found] == ["tap edge = 4", "and = 3"]


def test_the_check_hears_what_a_screen_reader_would_miss(page):
    y = Value(1.0) * 3
    shown = page(partial(record.graph, graph(y)))
    assert check.heard(shown) == ["headings do not begin with the one title", "there are 0 main parts"]
    wrong = "<main><h1>a</h1><h3>b</h3><button></button></main>"
    shown.evaluate("wrong => document.body.insertAdjacentHTML('beforeend', wrong)", wrong)
    shown.locator("[aria-live]").evaluate("e => e.replaceWith(e.cloneNode(true))")  # the page writes into the old one
    assert check.heard(shown) == [
        "a button has no name",
        "a heading skips a level",
        "a graph does not announce its steps",
    ]


def test_a_picture_that_is_wider_than_its_place_can_be_scrolled_by_key(page):
    shown = page(record.lesson(lessons.hook_tap()))
    expect(shown.locator(".mg-figure")).not_to_have_attribute("tabindex", "0")
    shown.set_viewport_size({"width": 320, "height": 700})
    expect(shown.locator(".mg-figure")).to_have_attribute("tabindex", "0")


def test_each_state_can_be_reached_and_is_what_the_lesson_shows():
    """Follow the table as the page does, and the lesson beside it."""
    view = lessons.scissors()
    table = json.loads(json.dumps(record.lesson(view)["table"]))
    assert len(table["at"]) == len(table["scenes"]) > 20
    for key, at in list(table["at"].items())[:: len(table["at"]) // 10]:
        fresh = lessons.scissors()
        for control, place in zip(fresh.figure.controls(), json.loads(key.partition("\n")[0]), strict=True):
            fresh.set(**{control.name: control.read(place, control.get(fresh.figure))})
        assert fresh.scene["say"] == table["scenes"][at]["say"]
        svg = "".join(table["pieces"][k] for k in picture(table["pictures"], table["scenes"][at]["svg"]))
        assert svg == fresh.scene["svg"]


def picture(rows, n):
    row = rows[n]
    if row[0] >= 0:
        return row
    whole = list(picture(rows, n + row[0]))
    for k in range(1, len(row), 2):
        whole[row[k]] = row[k + 1]
    return whole
