"""Windows of images on ndarrays: as columns and back, and the largest number of each.

What lives here: for images with one or two dimensions the compiled loops (windows_numba.py), if they are loaded and take the arrays; each
function returns None where they do not, and its numpy twin in ops/convolution.py or ops/pooling.py answers. What does not: the twins, which
work in any number of dimensions, and recording.
"""

import numpy as np

from .loading import Compiled

compiled = Compiled("minigrad.kernels.windows_numba")
FLOATS = (np.dtype(np.float32), np.dtype(np.float64))


def warm() -> bool:
    return compiled.load()


def _kernels(a, dims):
    """The compiled loops, if they take images like `a` with `dims` dimensions."""
    if dims > 2 or not a.size or a.dtype not in FLOATS or not a.flags.carray:
        return None
    return compiled.get(a.size)


def _two(x, *options):
    """Images with one dimension as images of one row, and the options to match, as one flat tuple."""
    numbers: list[int] = []
    for option, missing in zip(options, (1, 1, 0, 1), strict=True):  # kernel, stride, padding, dilation
        numbers += option if len(option) == 2 else (missing, option[0])
    return numbers


def unfold(x, kernel, stride, padding, dilation, out):
    """The windows (N, C, *kernel, *out), zeros where they stick out; `out` is the spatial size of the result."""
    if (kernels := _kernels(x, len(out))) is None or min(out) < 1:
        return None
    options = _two(x, kernel, stride, padding, dilation)
    columns = np.empty((*x.shape[:2], *kernel, *out), x.dtype)
    image = x.reshape(*x.shape[:2], -1, x.shape[-1])
    kernels.unfold(image, *options, columns.reshape(*x.shape[:2], *options[:2], -1, out[-1]))
    return columns


def fold(columns, size, kernel, stride, padding, dilation):
    """Columns (N, C, *kernel, *out) added up where their cells lie in (N, C, *size)."""
    if (kernels := _kernels(columns, len(size))) is None:
        return None
    options = _two(columns, kernel, stride, padding, dilation)
    x = np.empty((*columns.shape[:2], *size), columns.dtype)
    image = x.reshape(*x.shape[:2], -1, x.shape[-1])
    kernels.fold(columns.reshape(*x.shape[:2], *options[:2], -1, columns.shape[-1]), *options, image)
    return x


def max_pool(x, kernel, stride, padding, dilation, out):
    """The largest number of each window, and its place in the flattened image."""
    if (kernels := _kernels(x, len(out))) is None or len(out) != 2:
        return None
    values, index = np.empty((*x.shape[:2], *out), x.dtype), np.empty((*x.shape[:2], *out), np.int64)
    bits = x.view(f"i{x.itemsize}")
    least, infinity = np.iinfo(bits.dtype).min, np.array(np.inf, x.dtype).view(bits.dtype)[()]
    keys = np.empty(x.shape[2] * x.shape[3], np.int64)
    kernels.max_pool(x, bits, least, infinity, keys, *_two(x, kernel, stride, padding, dilation), values, index)
    return values, index


def put(g, index, size):
    """Zeros (N, C, *size) with g added at the places in the flattened image."""
    if (
        (kernels := _kernels(g, 1)) is None
        or index.dtype != np.int64
        or not index.flags.carray
        or index.shape != g.shape
    ):
        return None
    cells = 1
    for n in size:
        cells *= n
    out = np.empty((*g.shape[:2], *size), g.dtype)
    channels = g.shape[0] * g.shape[1]
    kernels.put(g.reshape(channels, -1), index.reshape(channels, -1), out.reshape(channels, cells))
    return out
