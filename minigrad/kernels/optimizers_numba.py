"""One optimiser step for one parameter, in one pass over its numbers: the compiled versions of kernels/optimizers.py.

What lives here: SGD and Adam. What does not: the decision which of the two runs (kernels/optimizers.py). Importing this file imports numba.
The operations and their order are those of the numpy version, and the scalars come as an array of the parameter's dtype, so the results are
equal to the last bit: training does not depend on when the kernels are ready.

Adam, one core: 6 parameters with 51,000 numbers in one call 27 µs (numpy 166, torch 2.13 173), with 670,000 numbers 211 µs (numpy 945,
torch 931).
"""

from numba import carray, njit, types
from numba.extending import intrinsic
from numpy import float32, sqrt

jit = njit(cache=True, error_model="numpy")


@jit
def sgd(p, g, buffer, numbers, nesterov):
    """`buffer` is empty without momentum; kept = 1 - dampening; sign -1 maximises. All arrays are flat."""
    lr, momentum, kept, weight_decay, sign = numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]
    for i in range(p.size):
        d = sign * g[i]
        if weight_decay != 0:
            d = d + weight_decay * p[i]
        if buffer.size:
            b = buffer[i] * momentum + kept * d
            buffer[i] = b
            d = d + momentum * b if nesterov else b
        p[i] = p[i] - lr * d


@jit
def adam(p, g, m, v, largest, numbers):
    """m and v are the averages; `largest` is empty without amsgrad. new1 = 1 - beta1 (old1 = 1 - new1), new2 = 1 - beta2, size = lr over
    the first correction, root the square root of the second; shrink = 1 - lr * weight_decay for AdamW, else 1."""
    beta2, new1, old1, new2, root = numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]
    size, eps, weight_decay, shrink, sign = numbers[5], numbers[6], numbers[7], numbers[8], numbers[9]
    if not largest.size:  # a loop of its own: the choice, made for every number, would take half as long again
        for i in range(p.size):
            x = p[i] * shrink
            a, s = averages(m[i], v[i], sign * g[i], weight_decay, x, beta2, new1, old1, new2)
            m[i], v[i] = a, s
            p[i] = x - size * a / (sqrt(s) / root + eps)
        return
    for i in range(p.size):
        x = p[i] * shrink
        a, s = averages(m[i], v[i], sign * g[i], weight_decay, x, beta2, new1, old1, new2)
        m[i], v[i] = a, s
        if not (s >= largest[i] or s != s):  # as numpy, nan wins
            s = largest[i]
        largest[i] = s
        p[i] = x - size * a / (sqrt(s) / root + eps)


@jit
def averages(m, v, d, weight_decay, x, beta2, new1, old1, new2):
    """The averages of one number after a step, of the gradient and of its square."""
    if weight_decay != 0:
        d = d + weight_decay * x
    a = m + new1 * (d - m) if new1 < 0.5 else d - (d - m) * old1
    return a, v * beta2 + new2 * d * d


@intrinsic
def memory(_typing, address):
    """The memory at an address."""

    def text(context, builder, _signature, given):
        return builder.inttoptr(given[0], context.get_value_type(types.voidptr))

    return types.voidptr(address), text


@jit
def write_address(table, row, column, a):
    """Where the numbers of a flat array are. numpy's own attribute takes eight times as long."""
    table[row, column] = a.ctypes.data


@jit
def adam_together(table, count, none, numbers):
    """Adam for many parameters. table: for each how many numbers it has, and the addresses of its gradient, of itself, of both averages
    and of its step count; none: an empty array. False, and nothing is done, unless all counts are one below `count`."""
    for k in range(table.shape[0]):
        if carray(memory(table[k, 5]), 1, float32)[0] + 1 != count:  # type: ignore[call-arg]  # numba passes _typing
            return False
    for k in range(table.shape[0]):
        n = table[k, 0]
        carray(memory(table[k, 5]), 1, float32)[0] = count  # type: ignore[call-arg]
        g, p = carray(memory(table[k, 1]), n, numbers.dtype), carray(memory(table[k, 2]), n, numbers.dtype)
        m, v = carray(memory(table[k, 3]), n, numbers.dtype), carray(memory(table[k, 4]), n, numbers.dtype)
        adam(p, g, m, v, none, numbers)
    return True
