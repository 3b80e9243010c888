"""Everything that the five texts behind the course do is possible in minigrad and gives what real PyTorch gives.

The snippets are tests/autograd/cases/texts.txt (our code; PyTorch's stored answers). Below is what has no answer to store: pictures,
profiles, error positions. Where a text is wrong, the snippet's name says so.
"""

import warnings

import pytest

import minigrad as torch
from minigrad.viz import make_dot
from tests.autograd.reference import difference, run, snippets, stored

SNIPPETS, STORED = snippets(), stored()


@pytest.mark.parametrize("key", [key for key in SNIPPETS if key.startswith("texts/")])
def test_text(key):
    found = difference(run(torch, SNIPPETS[key]), STORED[key])
    assert not found, f"{SNIPPETS[key]}\n{found}"


def test_profile_of_the_text():
    x, y = torch.randn(100, 100, requires_grad=True), torch.randn(100, 100, requires_grad=True)
    with torch.autograd.profiler.profile() as prof:
        (x @ y).sum().backward()
    table = prof.key_averages().table(sort_by="cpu_time_total")
    assert all(
        name in table for name in ("aten::mm", "MmBackward0", "SumBackward0", "Self CPU time total", "# of Calls")
    )
    with torch.profiler.profile(with_stack=True) as prof:
        (x @ y).sum().backward()
    assert "MmBackward0" in prof.key_averages().table(sort_by="cpu_time_total")


def test_picture_of_the_text(tmp_path):
    W, b = torch.randn(3, 3, requires_grad=True), torch.randn(3, requires_grad=True)
    dot = make_dot((W @ torch.ones(3) + b).sum(), params={"W": W, "b": b})
    assert open(dot.render(tmp_path / "computation_graph"), "rb").read(5) == b"%PDF-"
    assert "<svg" in dot._repr_mimebundle_()["image/svg+xml"]


def test_anomaly_mode_shows_the_forward_line():
    torch.autograd.set_detect_anomaly(True)
    try:
        x = torch.tensor([0.0], requires_grad=True)
        y = (x.sqrt() * 0).sum()
        with (
            warnings.catch_warnings(record=True) as caught,
            pytest.raises(RuntimeError, match="'SqrtBackward0' returned nan values in its 0th output"),
        ):
            warnings.simplefilter("always")
            y.backward()
        assert any("y = (x.sqrt() * 0).sum()" in str(w.message) for w in caught)
    finally:
        torch.autograd.set_detect_anomaly(False)
