"""The film of a training run: it moves while the kernel trains, and afterwards all of it works, with a kernel and as one file."""

import re

import pytest
from playwright.sync_api import expect

from minigrad.course.exercises import ch05
from tools.book import record
from widgets.film import FilmView
from widgets.front_end import built

MODEL = "\n".join((ch05.SOLUTION_A, ch05.SOLUTION_B, ch05.SOLUTION_C))
DATA = """\
import random
from minigrad import datasets
from widgets import watch
points, labels = datasets.moons(100, seed=1)
points, labels = [tuple(p) for p in points.tolist()], [1 if v == 1 else -1 for v in labels.tolist()]"""
LOOP = """\
random.seed(3)
model = MLP()
film = watch(model, points, labels)
for _ in range({steps}):
    loss = Value(0.0)
    for i in random.sample(range(100), 30):
        loss = loss + (1 - labels[i] * model(*points[i])).relu()
    for p in model.parameters():
        p.grad = 0.0
    loss = loss * (1 / 30)
    backward(loss)
    film.step(loss)
    for p in model.parameters():
        p.data -= {rate} * p.grad"""


class View:
    """A film in a page, by what is written in it."""

    def __init__(self, page, root):
        self.page, self.root = page, root
        self.strip = root.get_by_role("slider", name="step of training")
        self.say = root.get_by_role("status")
        self.phase = root.locator(".mf-phase")

    def button(self, name):
        return self.root.get_by_role("button", name=name, exact=True)

    def press(self, *keys):
        self.root.locator(".mf-stage").focus()
        for key in keys:
            self.page.keyboard.press(key)

    def step(self) -> int:
        return int(self.strip.get_attribute("aria-valuenow"))

    def numbers(self):
        """What the rule of a selected weight says: new weight, weight, rate, gradient."""
        words = self.root.locator(".mf-rule").inner_text().replace("−", "-")
        return [float(x) for x in re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", re.sub(r"- (?=\d)", " ", words))]


def visit(view: View, motion: bool) -> None:
    """Play, scrub, sweep, open a unit and a weight, branch."""
    root = view.root
    view.press("Home")
    assert view.step() == 1
    view.button("play").click()
    expect(view.strip).not_to_have_attribute("aria-valuenow", "1")
    view.button("pause").click()
    at = view.step()
    assert at > 1
    view.strip.scroll_into_view_if_needed()
    box = view.strip.bounding_box()
    view.page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + 100)
    view.page.mouse.down()
    view.page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 100, steps=4)
    view.page.mouse.up()
    scrubbed = view.step()
    assert scrubbed > 3
    view.press("ArrowLeft")
    assert view.step() == scrubbed - 1
    view.press("Home", "s")
    expect(view.say).to_contain_text("a spike")
    view.press("b")
    expect(view.phase).to_contain_text("backward pass")
    expect(view.say).to_contain_text("The backward pass begins at the loss")
    if motion:
        expect(view.say).to_contain_text("Every weight moves by", timeout=20_000)
    else:
        view.press("ArrowRight")
        expect(view.say).to_contain_text("The weights of the output have their gradients")
        view.press("ArrowRight")
        expect(view.say).to_contain_text("Each ReLU passes its gradient on only where its output is above 0")
        view.press("ArrowRight")
        expect(view.say).to_contain_text("Every weight moves by")
    view.press("Escape")
    view.press("ArrowDown")
    expect(root.locator(".mf-low h3 code")).to_have_text("units[0]")
    rows = root.locator(".mf-low .mf-parts tbody tr")
    assert rows.count() == 4 and rows.last.inner_text().startswith("relu(sum)")
    root.locator(".mf-low .mf-link").first.click()
    expect(root.locator(".mf-low h3 code")).to_have_text("units[0][0]")
    new, old, rate, gradient = view.numbers()
    assert new == pytest.approx(old - rate * gradient, abs=2e-3 * abs(rate * gradient) + 1e-3)
    view.press("Escape", "h")
    expect(view.say).to_contain_text("What if: lr", timeout=30_000)
    expect(view.button("branch")).to_have_attribute("aria-pressed", "true")
    view.press("Escape")
    expect(view.button("branch")).to_have_count(0)


def test_it_learns_before_ones_eyes_and_can_be_visited(open_notebook, tmp_path):
    loop = LOOP.replace("film", "moons_film")
    nb = open_notebook([MODEL, DATA, loop.format(steps=150, rate=1.0), "6 * 7"])
    page = nb.page
    page.evaluate(
        "() => { window.jupyterapp.commands.execute('notebook:run-all-cells'); }"
    )  # and do not wait for its end
    root = page.locator(".mf-root")
    view = View(page, root)
    expect(view.phase).to_contain_text("training", timeout=60_000)
    seen = set()
    while "training" in (words := view.phase.inner_text()) and len(seen) < 4:
        seen.add(words)
        page.wait_for_timeout(50)
    assert len(seen) == 4, seen
    nb.shot("film-live")
    view.press("ArrowLeft", "ArrowLeft")  # lets go of the newest step, and the training goes on
    expect(view.button("● follow")).to_have_attribute("aria-pressed", "false")
    nb.wait_idle(120_000)
    expect(view.button("● follow")).to_have_count(0)
    expect(root.locator(".mf-title")).to_have_text("moons_film")
    expect(root.locator(".mf-key")).to_contain_text("gets the recorded gradients")
    visit(view, motion=True)
    for theme in nb.themes():
        nb.shot(f"film-{theme}", root)
    with page.expect_download() as info:
        view.button("one HTML file").click()
    saved = tmp_path / "film.html"
    info.value.save_as(saved)
    assert saved.stat().st_size < 500_000
    with page.expect_download() as info:
        view.button("GIF").click()
    assert info.value.suggested_filename == "moons_film.gif"
    nb.restart()
    visit(view, motion=True)  # the kernel is another one, and knows nothing of the film


def test_the_check_of_a_network_shows_it_learning(open_notebook):
    nb = open_notebook(["%load_ext minigrad\nfrom minigrad.course import check", MODEL, 'check("05.c", fit)', "6 * 7"])
    page = nb.page
    page.evaluate("() => { window.jupyterapp.commands.execute('notebook:run-all-cells'); }")
    view = View(page, page.locator(".mf-root"))
    expect(view.phase).to_contain_text("training", timeout=60_000)
    nb.shot("film-check")
    nb.wait_idle(120_000)
    expect(view.phase).to_have_text("after the last step")
    expect(page.locator(".jp-OutputArea").nth(2)).to_contain_text("passed")


def test_an_interrupted_run_is_a_film_and_the_next_run_takes_its_place(open_notebook):
    nb = open_notebook([MODEL, DATA, LOOP.format(steps=3000, rate=0.5)])
    page = nb.page
    page.evaluate("() => { window.jupyterapp.commands.execute('notebook:run-all-cells'); }")
    view = View(page, page.locator(".mf-root"))
    expect(view.phase).to_contain_text("training", timeout=60_000)
    page.wait_for_timeout(600)
    page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.interrupt()")
    expect(view.phase).to_have_text("after the last step", timeout=60_000)
    view.press("Home")
    expect(view.say).to_contain_text("Step 1 of")
    nb.cell(2).locator(".cm-content").click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("1 + 1")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".mf-root")).to_have_count(0)


def test_where_a_run_with_a_large_rate_goes_wrong(open_notebook):
    nb = open_notebook([MODEL, DATA, LOOP.format(steps=40, rate=6.0)])
    nb.run_all()
    view = View(nb.page, nb.page.locator(".mf-root"))
    view.press("Home", "s")
    before = re.compile(
        r"a spike: the (step|\d+ steps) before it had [\d.]+( on average)?; the update of step \d+ led here"
    )
    expect(view.say).to_contain_text(before)
    view.press("ArrowLeft")
    expect(view.root.locator(".mf-low")).to_contain_text("it goes past the valley")
    expect(view.root.locator(".mf-title")).to_have_text("film")
    for theme in nb.themes():
        nb.shot(f"film-broken-{theme}", view.root)


def test_a_saved_film_needs_no_kernel_and_no_network(browser_context, tmp_path):
    film = recorded(120, 1.0)
    path = film.save(tmp_path / "film.html")
    page = browser_context.new_page()
    errors, asked = [], []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.emulate_media(reduced_motion="reduce")
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-ready=yes]")
    view = View(page, page.locator(".mf-root"))
    visit(view, motion=False)
    with page.expect_download() as info:
        view.button("one HTML file").click()
    info.value.save_as(tmp_path / "again.html")
    page.goto((tmp_path / "again.html").as_uri())
    page.wait_for_selector("html[data-ready=yes]")
    with page.expect_download() as info:
        view.button("GIF").click()
    info.value.save_as(tmp_path / "film.gif")
    assert (tmp_path / "film.gif").read_bytes()[:6] == b"GIF89a"
    with page.expect_download() as info:
        view.button("poster (PNG)").click()
    assert info.value.suggested_filename == "film.png"
    assert not errors and [url for url in asked if not url.startswith(("file:", "blob:", "data:"))] == []
    page.close()


def recorded(steps, rate):
    space: dict = {}
    exec(MODEL + "\n" + DATA.replace("from widgets import watch", "from widgets.film import watch"), space)
    exec(LOOP.format(steps=steps, rate=rate), space)
    return space["film"]


def test_a_page_of_the_book_plays_a_film(browser_context, tmp_path):
    film = recorded(40, 1.0)
    (tmp_path / "live").mkdir()
    key = record.write(record.film(FilmView([film])), tmp_path / "live")
    for name in ("page.js", "film.js", "views.css"):
        (tmp_path / name).write_text(built(name), encoding="utf-8")
    (tmp_path / "index.html").write_text(
        '<!doctype html><meta charset="utf-8"><link rel="stylesheet" href="views.css">'
        f'<figure class="mg-live" data-live="{key}" data-from="live"></figure><script src="page.js"></script>',
        encoding="utf-8",
    )
    page = browser_context.new_page()
    page.emulate_media(reduced_motion="reduce")
    page.goto((tmp_path / "index.html").as_uri())
    expect(page.locator(".mf-phase")).to_contain_text("step 1 of 40")
    visit(View(page, page.locator(".mf-root")), motion=False)
    page.close()


FITS = """root => {
    const out = [];
    const box = root.getBoundingClientRect();
    for (const e of root.querySelectorAll('*')) {
        const own = [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
        const r = e.getBoundingClientRect();
        if (!own || !r.width || !r.height || e.closest('.mf-scroll')) continue;
        if (r.left < box.left - 1 || r.right > box.right + 1) out.push(['outside', e.textContent.slice(0, 40)]);
        if (parseFloat(getComputedStyle(e).fontSize) < 11) out.push(['small', e.textContent.slice(0, 40)]);
    }
    return out; }"""


@pytest.mark.parametrize("width", [390, 640, 831, 1280, 1600])
def test_nothing_is_cut_and_no_text_is_small(browser_context, tmp_path, width):
    path = recorded(30, 1.0).save(tmp_path / "film.html")
    page = browser_context.new_page()
    page.emulate_media(reduced_motion="reduce")
    page.set_viewport_size({"width": width, "height": 900})
    # what a canvas writes is looked at, too: the font of each text, and where it ends
    page.add_init_script(
        """window.written = [];
        const fill = CanvasRenderingContext2D.prototype.fillText;
        CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
            const px = parseFloat(/([\\d.]+)px/.exec(this.font)[1]);
            const w = this.measureText(text).width;
            const left = this.textAlign === 'center' ? x - w / 2 : this.textAlign === 'right' ? x - w : x;
            const room = this.canvas.clientWidth || this.canvas.width / devicePixelRatio;
            if (text && (px < 11 || left < -1 || left + w > room + 1)) window.written.push([text, px, left, left + w, room]);
            return fill.apply(this, arguments);
        };"""
    )
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-ready=yes]")
    view = View(page, page.locator(".mf-root"))
    for keys in ([], ["ArrowDown"], ["Escape", "s", "b", "ArrowRight"], ["Escape", "h"], ["End"]):
        view.press(*keys)
        page.wait_for_timeout(100)
        assert view.root.evaluate(FITS) == []
    assert page.evaluate("window.written") == []
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    page.close()
