"""Numbers as tensors: the constants that operations and writes make of Python numbers and arrays."""
import numpy as np

from .variable import Variable, wrap

scalars: dict = {}  # (number, dtype character or None): its 0-d Tensor


def constant(value, dtype=None):
    """A number as a 0-d Tensor of `dtype`. Cached, because `x * 0.5` in a loop should not make one each time; never hand it to a caller."""
    key = (value, None if dtype is None else dtype.numpy.char)
    found = scalars.get(key)
    if found is not None and value:  # 0.0 == -0.0, so zeros are not looked up
        return found
    t = wrap(np.asarray(value, None if dtype is None else dtype.numpy))
    t.version = [0]  # a normal tensor even in inference mode
    if len(scalars) > 1000:
        scalars.clear()
    scalars[key] = t
    return t


def as_tensor_like(value, x):
    """A value to write into `x`: as it is if a Tensor, else made one of x's dtype."""
    if isinstance(value, Variable):
        return value
    return wrap(np.asarray(value, dtype=x.array.dtype))


def zeros_like(x, requires_grad=False):
    """Zeros of the shape and dtype of `x`."""
    zeros = wrap(np.zeros_like(x.array))
    zeros.requires = requires_grad
    return zeros
