"""Compiled kernels against their numpy twins: equal to the last digits, at every edge that a row can meet; where sums keep their order, to
the last bit. What the twins compute is held by the reference cases.
"""

import platform
import subprocess
import sys

import numpy as np
import pytest

from minigrad import kernels
from minigrad.kernels import loading, neural, scatter, windows
from minigrad.ops import convolution, pooling

pytest.importorskip("numba")

SHAPES = [(3, 700), (1, 2500), (2, 3, 400), (700, 3), (4096,)]
EDGES = [0.0, -0.0, 1e-40, -1e-40, 1e-30, -80.0, 88.0, -104.0, 200.0, -1e30, np.inf, -np.inf, np.nan]


@pytest.fixture(scope="module", autouse=True)
def loaded():
    assert all([module.warm() for module in (neural, scatter, windows)])


@pytest.fixture
def both(monkeypatch):
    """Runs a function with the kernels and without."""

    def run(module, function):
        kernels = module.compiled.kernels
        assert kernels is not None
        fast = function()
        with monkeypatch.context() as patch:
            patch.setattr(module.compiled, "kernels", None)
            patch.setattr(module.compiled, "_loading", True)
            return fast, function()

    return run


def floats(shape, seed=0, edges=False):
    x = np.random.RandomState(seed).standard_normal(shape).astype(np.float32) * 3
    if edges:
        x.reshape(-1)[: 7 * len(EDGES) : 7] = EDGES
    return x


def same(fast, plain, digits=3e-6):
    for a, b in zip(fast, plain, strict=True) if isinstance(fast, tuple) else [(fast, plain)]:
        assert a.dtype == b.dtype and a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=digits, atol=digits)


@pytest.mark.parametrize("edges", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_rows_of_numbers(both, shape, edges):
    x, g, dim = floats(shape, edges=edges), floats(shape, 1), len(shape) - 1
    y, log_y = neural.softmax(x, dim), neural.log_softmax(x, dim)
    for function in (
        lambda: neural.softmax(x, dim),
        lambda: neural.log_softmax(x, dim),
        lambda: neural.softmax_slope(g, y, dim),
        lambda: neural.log_softmax_slope(g, log_y, dim),
        lambda: neural.gelu(x),
        lambda: neural.gelu_slope(g, x),
    ):
        with np.errstate(all="ignore"):
            same(*both(neural, function))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("last", [1, 2])
def test_layer_norm(both, shape, last):
    last = min(last, len(shape))
    affine, axes = shape[-last:], tuple(range(len(shape) - last, len(shape)))
    x, g, weight, bias = floats(shape) + 5, floats(shape, 1), floats(affine, 2), floats(affine, 3)
    same(*both(neural, lambda: neural.normalize(x, weight, bias, shape, axes, affine, 1e-5)), 2e-5)
    same(*both(neural, lambda: neural.normalize_backward(g, x, weight, shape, axes, affine, 1e-5)), 2e-4)


def test_layer_norm_of_long_rows_is_right_to_the_last_digits():
    n = 1 << 22
    x = np.random.RandomState(0).random_sample((1, n)).astype(np.float32)
    out, _, _ = neural.normalize(x, np.ones(n, np.float32), np.zeros(n, np.float32), (1, n), (1,), (n,), 1e-5)
    exact = x.astype(float)
    exact = (exact - exact.mean()) / np.sqrt(exact.var() + 1e-5)
    np.testing.assert_allclose(out, exact, rtol=1e-6, atol=1e-6)


def test_masked_softmax_is_zero_where_masked():
    x = np.full((4, 1024), -np.inf, np.float32)
    x[:, :3] = 1.0
    y = neural.softmax(x, 1)
    assert (y[:, 3:] == 0).all() and np.allclose(y[:, :3], 1 / 3)


@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(50,), (50, 7), (50, 2, 3)])
def test_adding_where_an_index_says(both, shape, kind):
    index = np.random.RandomState(0).randint(-50, 50, (40, 30))
    values = floats((*index.shape, *shape[1:])).astype(kind)

    def add():
        out = np.zeros(shape, kind)
        scatter.add_at(out, (index,), values)
        return out

    fast, plain = both(scatter, add)
    assert np.array_equal(fast, plain)


@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize(
    "stride, padding, dilation",
    [((1, 1), (0, 0), (1, 1)), ((2, 1), (1, 2), (1, 1)), ((1, 3), (0, 1), (2, 2)), ((1, 1), (3, 3), (1, 1))],
)
def test_windows(both, kind, stride, padding, dilation):
    x, kernel = floats((2, 3, 21, 37)).astype(kind), (3, 2)
    x[0, 0, 0, 0] = np.nan
    fast, plain = both(windows, lambda: convolution.unfold(x, kernel, stride, padding, dilation, 1))
    assert np.array_equal(fast, plain, equal_nan=True)
    columns = floats(fast.shape, 1).astype(kind)
    same(*both(windows, lambda: convolution.fold(columns, 3, (21, 37), kernel, stride, padding, dilation)))
    half = tuple(min(p, k // 2) for p, k in zip(padding, kernel, strict=True))
    x[1] = np.random.RandomState(2).choice([*EDGES, -np.nan], x[1].shape)  # two zeros, two nan, denormals
    for ceil_mode in (False, True):
        (values, index), (twin_values, twin_index) = both(
            windows, lambda mode=ceil_mode: pooling._max_pool(x, kernel, stride, half, dilation, mode)
        )
        assert np.array_equal(values, twin_values, equal_nan=True) and np.array_equal(index, twin_index)
        same(*both(windows, lambda v=values, i=index: pooling._put(np.nan_to_num(v), i, (21, 37))))


@pytest.mark.parametrize("size, kernel, stride, padding, dilation", [
    ((1, 1), (2, 2), (1, 1), (1, 1), (2, 2)), ((1, 4), (2, 3), (2, 1), (1, 1), (2, 3)), ((5, 2), (3, 2), (1, 2), (1, 1), (3, 2)),
    ((4, 5), (3, 2), (1, 1), (1, 1), (1, 1)),
])  # fmt: skip
def test_windows_in_the_padding(both, size, kernel, stride, padding, dilation):
    """A window of nothing but padding has no winner, and where all in the image is -inf, the first cell there wins."""
    x = np.where(floats((2, 3, *size)) < 0, -np.inf, floats((2, 3, *size), 1))
    out = convolution.out_size(size, kernel, stride, padding, dilation)
    values, index = np.full((2, 3, *out), -np.inf), np.full((2, 3, *out), -1)
    for at in np.ndindex(values.shape):
        for cell in np.ndindex(kernel):
            row, column = [
                o * s - p + i * d for o, s, p, i, d in zip(at[2:], stride, padding, cell, dilation, strict=True)
            ]
            inside = 0 <= row < size[0] and 0 <= column < size[1]
            if inside and (index[at] < 0 or x[(*at[:2], row, column)] > values[at]):
                values[at], index[at] = x[(*at[:2], row, column)], row * size[1] + column
    for found in both(windows, lambda: pooling._max_pool(x, kernel, stride, padding, dilation, False)):
        assert np.array_equal(found[0], values) and np.array_equal(found[1], index)
    g, wanted = floats(values.shape, 2), np.zeros((2, 3, size[0] * size[1]))
    for at in np.ndindex(values.shape):
        if index[at] >= 0:
            wanted[(*at[:2], index[at])] += g[at]
    for found in both(windows, lambda: pooling._put(g, index, size)):
        assert np.allclose(found, wanted.reshape(found.shape))


def test_one_dimension(both):
    x = floats((2, 3, 50))
    fast, plain = both(windows, lambda: convolution.unfold(x, (5,), (2,), (3,), (2,), 1))
    assert np.array_equal(fast, plain)
    same(*both(windows, lambda: convolution.fold(plain, 3, (50,), (5,), (2,), (3,), (2,))))


@pytest.mark.parametrize("module", kernels.WITH_KERNELS)
def test_kernels_load_while_a_notebook_changes_the_builtins(module):
    """numba walks through Python's builtins once, and IPython puts `_` there after each cell: that must not end on a learner's stderr."""
    code = (
        "from importlib import import_module; import numba.core.base as base; real, calls = base._load_global_helpers, []\n"
        "def helpers():\n    calls.append(1)\n    if len(calls) == 1:\n"
        "        raise RuntimeError('dictionary changed size during iteration')\n    return real()\n"
        f"base._load_global_helpers = helpers\nprint(import_module({module!r}).warm(), len(calls) > 1)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("True True\n", "")


@pytest.mark.parametrize("module", kernels.WITH_KERNELS)
def test_without_a_place_for_the_cache_the_numpy_twins_answer(module, tmp_path):
    """And nothing is said: a traceback from beside the program would stand in a learner's cell."""
    code = (
        "from numba.core import caching; caching.CacheImpl._locator_classes = caching.CompileResultCacheImpl._locator_classes = []\n"
        f"from importlib import import_module; print(import_module({module!r}).warm())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("False\n", "")


FAULTS = """
import resource
import numpy as np
from minigrad.kernels import warm

def faults(rounds):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(rounds):
        [np.ones(600_000, "float32") for _ in range(4)]
    return (resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) // rounds

warm(), faults(20)
print(faults(20))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="asks for it of glibc alone")
def test_memory_that_a_step_frees_is_there_for_the_next():
    assert int(subprocess.run([sys.executable, "-c", FAULTS], capture_output=True, text=True, check=True).stdout) < 10


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc's threshold")
def test_of_a_small_machine_s_memory_a_sixteenth_is_kept(tmp_path):
    limits = []
    for name, text in (("version 2", f"{2 << 30}\n"), ("version 1", f"{4 << 30}\n"), ("open", "max\n")):
        (tmp_path / name).write_text(text)
        limits.append(str(tmp_path / name))
    assert loading.kept((limits[2], str(tmp_path / "none"))) == loading.kept(()) <= 1 << 28
    assert loading.kept((limits[1], limits[0])) == loading.kept((limits[0],)) == 128 << 20
