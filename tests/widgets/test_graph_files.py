"""What the view saves: every kind of file is what its name says, shows the step and the numbers that are shown, and needs no browser."""

import io
import sys

import numpy as np
import pytest
from PIL import Image

import minigrad as torch
from minigrad import Value
from minigrad.core import provenance
from widgets import graph
from widgets.view import files


def neuron():
    x, w, b = Value(0.5), Value(-1.5), Value(0.25)
    y = (x * w + b).tanh()
    return graph(y, names={"x": x, "w": w, "b": b, "y": y}), y


def test_a_run_has_a_frame_for_every_event(tmp_path):
    view, _ = neuron()
    for kind in ("gif", "apng"):
        image = Image.open(view.save(tmp_path / f"run.{kind}"))
        assert image.n_frames == view.total + 1
        sizes, pictures = set(), set()
        for k in range(image.n_frames):
            image.seek(k)
            sizes.add(image.size)
            pictures.add(image.convert("RGB").tobytes())
        assert len(sizes) == 1 and len(pictures) == view.total + 1, "one size, and each event changes the picture"


@pytest.mark.parametrize("dark", [False, True])
def test_the_corners_of_a_gif_are_not_white_on_a_dark_page(tmp_path, dark):
    view, _ = neuron()
    image = Image.open(view.save(tmp_path / "run.gif", dark=dark)).convert("RGB")
    ground = image.getpixel((image.width // 2, 6))
    assert image.getpixel((0, 0)) == ground and (sum(ground) < 150) == dark


def test_a_png_is_the_shown_step_in_the_wanted_colours(tmp_path):
    view, _ = neuron()
    light, dark = (
        np.asarray(Image.open(view.save(tmp_path / "a.png", dark=d)).convert("RGB")).mean() for d in (False, True)
    )
    assert light > 200 and dark < 90
    files = [view.save(tmp_path / f"{k}.png", step=k).read_bytes() for k in (0, 3, view.total)]
    assert len(set(files)) == 3
    view.step = 3
    assert view.save(tmp_path / "now.png").read_bytes() == files[1]


def test_a_saved_picture_has_the_numbers_that_are_shown(tmp_path):
    view, y = neuron()
    leaf = next(n["id"] for n in view.trace["nodes"] if n["label"] == "x")
    view.inputs = {**view.inputs, str(leaf): 1.0}
    now = view.shown_now()
    shown = now["nodes"][now["root"]]["value"]
    assert shown != y.data and f">{shown:.3f}".replace("-", "−")[:7] in view.save(
        tmp_path / "a.svg", step=view.total
    ).read_text("utf-8")
    assert f"value {shown:.6f}".replace("-", "−") in view.save(tmp_path / "a.dot").read_text("utf-8")


def test_dot_source_is_read_by_graphviz(tmp_path):
    pygraphviz = pytest.importorskip("pygraphviz")
    x = Value(2.0, label='a "quoted" \\ name')
    source = graph(x * x + 1).save(tmp_path / "a.dot").read_text("utf-8")
    again = pygraphviz.AGraph(string=source)
    assert len(again.nodes()) == 4 and len(again.edges()) == 4


def test_tensors_and_folds_are_painted():
    provenance.record_lines(True)
    net = torch.nn.Sequential(*[torch.nn.Linear(4, 4) for _ in range(60)])
    y = net(torch.randn(3, 4)).sum()
    provenance.record_lines(False)
    view = graph(y, names={"net": net, "y": y})
    picture = Image.open(io.BytesIO(files.content(view, "png")))
    assert picture.size[0] > 300 and len(picture.getcolors(1 << 24)) > 20


def test_where_pixels_cannot_be_made_the_error_names_the_svg(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    view, _ = neuron()
    with pytest.raises(RuntimeError, match="graph.svg"):
        view.save(tmp_path / "a.png")


def test_a_page_without_a_kernel_has_the_pictures_that_a_kernel_sends_when_asked():
    x = Value(1.0)
    view = graph((3 * x + 2) ** 2)
    assert "wraps" not in view.picture
    wraps = files.alone(view)["picture"]["wraps"]
    assert wraps and min(p["w"] for p in wraps) < 0.5 * view.picture["w"]
