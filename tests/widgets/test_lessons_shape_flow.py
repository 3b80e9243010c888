"""Shape flow: what it shows of shapes and of every gradient, held against sums and products done by hand with numpy."""

import numpy as np
import pytest

import minigrad as torch
from widgets.lessons.shape_flow import CANNED, shape_flow, summed_axes


def events(lesson, back):
    return [event for event in lesson.figure.flow.events if event.back is back]


def test_the_linear_layer():
    lesson = shape_flow()
    assert [(e.name, e.result.shape) for e in events(lesson, False)] == [("y", (4, 2)), ("z", (4, 2)), ("L", ())]
    of_sum, of_add, of_matmul = events(lesson, True)
    assert of_sum.result.rows == [[1.0]] and of_sum.shares[0].raw.shape == (4, 2)
    to_y, to_b = of_add.shares
    assert (
        to_y.axes == ()
        and (to_b.raw.shape, to_b.axes, to_b.fits.shape) == ((4, 2), (0,), (2,))
        and to_b.fits.rows == [[4.0, 4.0]]
    )
    W, x = (np.array(CANNED[name]) for name in "Wx")
    g = np.ones((4, 2))
    shares = {share.to: share.fits.rows for share in of_matmul.shares}
    assert shares == {"x": (g @ W.T).tolist(), "W": (x.T @ g).tolist()}


def test_entries_of_four_digits_are_written_out():
    assert ">1710<" in shape_flow("y = x * 2; L = y", x=855).picture()


@pytest.mark.parametrize("small", [(2, 3), (3,), (2, 1), (1, 3), (), (1, 1), (4, 1, 3), (4, 2, 1)])
def test_a_broadcast_is_undone_by_a_sum(small):
    """The oracle goes entry by entry: every place in the result sends its share to the one entry that it came from."""
    rng = np.random.default_rng(0)
    big = rng.normal(size=(4, 2, 3))
    lesson = shape_flow(lambda a, w: (a + w * 1.0).pow(2).sum(), a=np.zeros(small).tolist(), w=big.tolist())
    share = next(s for e in events(lesson, True) for s in e.shares if s.to == "a")
    want = np.zeros(small)
    for index in np.ndindex(*big.shape):
        tail = index[len(index) - len(small) :]
        want[tuple(0 if size == 1 else i for i, size in zip(tail, small, strict=True))] += 2 * big[index]
    assert share.fits.shape == small and np.allclose(np.array(share.fits.rows).reshape(small), want, rtol=1e-12)
    assert share.axes == summed_axes((4, 2, 3), small) and ("summed over" in lesson.text()) == bool(share.axes)


def test_steps():
    lesson = shape_flow()
    assert lesson.scene["say"].count("Forward, y = x @ W: x (4, 3) and W (3, 2) make (4, 2).") == 1
    lesson.set(step=min(lesson.figure.step + 1, lesson.figure.last))
    assert "b is stretched to (4, 2)" in lesson.scene["say"]
    lesson.set(step=4)
    assert "b gets g, (4, 2), summed over axis 0 to (2,)" in lesson.scene["say"] and lesson.figure.flow.shapes()[
        -1
    ] == ("L", "()", "()")
    for _ in range(9):
        lesson.set(step=min(lesson.figure.step + 1, lesson.figure.last))
    assert lesson.figure.step == lesson.figure.last == 5 and all(
        shape == grad != "" for _, shape, grad in lesson.figure.flow.shapes()
    )
    for _ in range(9):
        lesson.set(step=max(lesson.figure.step - 1, 0))
    assert lesson.figure.step == 0 and not any(grad for _, _, grad in lesson.figure.flow.shapes())


def test_own_tensors_and_large_ones():
    lesson = shape_flow(lambda W: (W @ W).mean(), step=-1, W=torch.ones(40, 40))
    assert "… and more" in lesson.picture() and lesson.figure.flow.grads[0].shape == (40, 40)


@pytest.mark.parametrize("given, said", [
    ({"f": 3}, "needs a function"), ({"f": lambda x: x * 2, "x": [1, 2]}, "reduce it to one"),
    ({"f": lambda x: 5}, "must end with a Tensor"),
    ({"f": lambda a, b: (a @ b).sum(), "a": [[1, 2]], "b": [[1, 2]]}, "cannot be multiplied"),
    ({"step": "middle"}, "'start', 'end' or a number"),
    ({"q": 1}, "no input q"),
])  # fmt: skip
def test_nonsense_gets_a_sentence(given, said):
    lesson = shape_flow(**given)
    assert said in lesson.text() and "image/svg+xml" not in lesson._repr_mimebundle_()


def test_static_twin_is_the_same_twice():
    one, two = shape_flow(step=4)._repr_mimebundle_(), shape_flow(step=4)._repr_mimebundle_()
    assert all(one[kind] == two[kind] for kind in ("image/svg+xml", "text/plain")) and "<title>" in one["image/svg+xml"]
