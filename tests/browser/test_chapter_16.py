"""Chapter 16 in a real JupyterLab: a step's memory stepped and scrubbed, chains of other depths, loss scaling, both themes."""

import pytest
from playwright.sync_api import expect

NOTEBOOK = "16_memory.ipynb"


@pytest.fixture
def chapter(open_notebook):
    nb = open_notebook(NOTEBOOK, fresh=True).run_all()
    nb.errors[:] = [e for e in nb.errors if "A different number of tensors was saved" not in e]  # shown on purpose
    return nb


def test_memory_and_loss_scaling(chapter):
    assert len(chapter.cell_errors()) == 1 and "CheckpointError" in chapter.cell_errors()[0]
    box = chapter.page.locator(".mg-memory").first
    box.scroll_into_view_if_needed()
    words, moment = box.get_by_role("status"), box.get_by_role("slider", name="moment")
    expect(words).to_contain_text("no checkpoints, forward: layer 36 has run: 36 layers hold 147 kB")
    box.get_by_role("slider", name="checkpoints").focus()
    for label in ("every 1 layer", "every 2 layers", "every 5 layers", "every 6 layers"):
        chapter.page.keyboard.press("ArrowRight")
        expect(words).to_contain_text(f"{label}, ")
    chapter.wait_idle()
    moment.focus()
    chapter.page.keyboard.press("Home")
    expect(words).to_contain_text("every 6 layers, forward: layer 1 has run: 1 layer holds 4.1 kB; the peak is 45.1 kB")
    chapter.wait_idle()
    box.get_by_role("button", name="play (Space)", exact=True).click()
    expect(words).to_contain_text("the step is over: 0 layers hold 0 bytes")
    moment.focus()
    for said in ("backward: the gradient reaches layer 1:", "layer 6 is computed again:"):
        chapter.page.keyboard.press("ArrowLeft")
        if "again" in said:
            for _ in range(4):
                chapter.page.keyboard.press("ArrowLeft")
        expect(words).to_contain_text(said)
    box.get_by_role("slider", name="layers").focus()
    chapter.page.keyboard.press("ArrowRight")
    expect(box).to_contain_text("37 layers, one training step")
    for theme in chapter.themes():
        chapter.shot(f"chapter-16-memory-{theme}", box)
    scaling = chapter.page.locator(".mg-loss-scaling")
    scaling.scroll_into_view_if_needed()
    scaling.get_by_role("slider", name="doublings").focus()
    for k in (2, 4, 8):
        chapter.page.keyboard.press("ArrowRight")
        expect(scaling.get_by_role("status")).to_contain_text(f"Loss × {k}: of 576 gradients")
    chapter.page.keyboard.press("End")
    expect(scaling.get_by_role("status")).to_contain_text("74 become inf")
    for theme in chapter.themes():
        chapter.shot(f"chapter-16-scaling-{theme}", scaling)
