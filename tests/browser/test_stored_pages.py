"""A stored page in a small window, before any cell is run: its pictures are there, and none is wider than its column."""

import pytest

from tools.lab import TOKEN

from ..thorough import part

IMAGES = """() => [...document.querySelectorAll('.mg-stored img')].map(image => {
    const [own, column] = [image, image.closest('.jp-OutputArea-output')].map(e => e.getBoundingClientRect());
    return {drawn: image.complete && image.naturalWidth > 0, wide: own.width, over: own.right - column.right}; })"""

GRAPHS = """() => [...document.querySelectorAll('.mg-stored picture img')].map(image => ({
    natural: image.naturalWidth, wide: image.getBoundingClientRect().width}))"""


@pytest.mark.parametrize(
    "notebook", part(["02_the_graph.ipynb", "05_build_the_engine.ipynb"], 0, always=["05_build_the_engine.ipynb"])
)
def test_stored_pictures_fit_the_column(open_notebook, notebook):
    nb = open_notebook(notebook)
    trust = "path => fetch(path, {method: 'POST'}).then(answer => answer.ok)"  # copies of `python -m minigrad.course` are trusted
    assert nb.page.evaluate(trust, f"/api/contents/{nb.path}/trust?token={TOKEN}")
    nb.page.set_viewport_size({"width": 1000, "height": 900})
    nb.open()
    nb.page.wait_for_selector(".mg-stored img")
    images = nb.page.evaluate(IMAGES)
    assert len(images) > 5 and all(image["drawn"] and image["wide"] > 300 for image in images)
    assert max(image["over"] for image in images) < 1
    narrow = nb.page.evaluate(GRAPHS)
    nb.page.set_viewport_size({"width": 1280, "height": 800})
    nb.page.wait_for_function(f"narrow => JSON.stringify(({GRAPHS})()) !== JSON.stringify(narrow)", arg=narrow)
    for before, now in zip(narrow, nb.page.evaluate(GRAPHS), strict=True):  # more of the graph, and words of 9 pixels
        assert before["natural"] < now["natural"] and now["wide"] >= 0.8 * now["natural"], (before, now)
    for theme in nb.themes():
        nb.shot(f"stored-{notebook[:2]}-{theme}")
