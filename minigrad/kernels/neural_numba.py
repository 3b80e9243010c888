"""Softmax, layer normalisation and gelu on rows of float32: the compiled twins of kernels/neural.py.

What lives here: one pass over a row while it is in the cache, instead of one pass over memory per numpy call. What does not: the decision
which of the two runs (kernels/neural.py). Importing this file imports numba and compiles.

exp is a polynomial, because numba's own is a call per number (262,144 numbers: 633 µs, numpy 79, this 40). Loops that add up may be
reordered by the compiler ("reassoc"), exp may not: its two-part subtraction would be folded into one. The largest number of a row is found
on its bits as integers, which the compiler can vectorise and comparisons of floats (nan!) it cannot: 7 µs, numpy's maximum 26.
(256, 1024), one core, forward / backward: softmax 51 / 30 µs (numpy 230 / 170), log_softmax 55 / 60, layer_norm 30 / 72 (numpy 260 / 620),
gelu 44 / 55 (numpy 800 / 900).
"""

import math

from numba import njit
from numpy import float32, int32

ONE, HALF = float32(1), float32(0.5)
LOG2E, LN2_HIGH, LN2_LOW = float32(1.44269504), float32(0.693359375), float32(-2.12194440e-4)
LOWEST, HIGHEST = float32(-104), float32(88.8)  # beyond these exp is 0 or inf
SMALL = float32(-88)  # exp is below half the smallest normal number, and the bits of 2 ** n are those of 0
ROUND, ROUND_BITS = float32(1.5 * 2**23), int32(0x4B400000)
E0, E1, E2 = float32(1.9875691500e-4), float32(1.3981999507e-3), float32(8.3334519073e-3)  # Cephes, expf
E3, E4, E5 = float32(4.1665795894e-2), float32(1.6666665459e-1), float32(5.0000001201e-1)
SMALLEST, MAGNITUDE, BIAS, MANTISSA, FIRST = int32(-(2**31)), int32(2**31 - 1), int32(127), int32(23), int32(1)

# erf(a) / a as a ratio of polynomials in a * a on [-4, 4]: those of kernels/special.py.
A0, A1, A2 = float32(1.98691072e-06), float32(0.000284548389), float32(0.00388257021)
A3, A4, A5 = float32(0.053099319), float32(0.193527016), float32(1.12837914)
B0, B1, B2 = float32(3.7420611e-05), float32(0.00118538426), float32(0.0152056874)
B3, B4 = float32(0.115342507), float32(0.504841411)
ROOT_HALF, FOUR = float32(math.sqrt(0.5)), float32(4)

# (gelu'(x) - 1/2) / x likewise in x * x on [-5.5, 5.5]: 5.4e-8 off, 2.9e-7 after rounding. Beyond, the derivative is 0 or 1.
C0, C1, C2 = float32(4.7088653e-08), float32(3.31633327e-05), float32(-3.89199008e-05)
C3, C4, C5 = float32(0.0142378047), float32(-0.0349032353), float32(0.797884951)
D0, D1, D2 = float32(-1.561175e-08), float32(7.04483825e-06), float32(0.000172487479)
D3, D4, D5 = float32(0.00326982557), float32(0.0393651021), float32(0.28959279)
EDGE = float32(5.5)

in_order = njit(error_model="numpy", fastmath={"contract"})


def summing(signature):
    return njit(signature, cache=True, error_model="numpy", fastmath={"contract", "reassoc"})


@in_order
def exp(x):
    """Within 1.3 units of the last place; 0, inf and nan as exp has them. 2 ** n in two factors, so that small results are denormal.

    ROUND + n has n in its lowest bits, so neither rounding nor conversion is an instruction.
    """
    c = LOWEST if x < LOWEST else x
    c = HIGHEST if c > HIGHEST else c
    t = float32(c * LOG2E + ROUND)
    whole = int32(t.view(int32) - ROUND_BITS)
    half = int32(whole >> FIRST)
    first = int32((half + BIAS) << MANTISSA).view(float32)
    second = int32((whole - half + BIAS) << MANTISSA).view(float32)
    return fraction(c, t - ROUND) * first * second


@in_order
def fraction(c, n):
    """exp(c) / 2 ** n for the whole number n nearest to c / log(2)."""
    r = (c - n * LN2_HIGH) - n * LN2_LOW
    p = ((((E0 * r + E1) * r + E2) * r + E3) * r + E4) * r + E5
    return p * (r * r) + (r + ONE)


@in_order
def exp_below_one(x):
    """exp of x <= 0, for rows from which their largest number was taken: one factor 2 ** n is enough, as it is 0 from SMALL on."""
    c = SMALL if x < SMALL else x
    t = float32(c * LOG2E + ROUND)
    return fraction(c, t - ROUND) * int32((t.view(int32) + BIAS) << MANTISSA).view(float32)


@in_order
def cdf(x):
    """The normal distribution function."""
    a = x * ROOT_HALF
    a = FOUR if a > FOUR else a
    a = -FOUR if a < -FOUR else a
    s = a * a
    p = ((((A0 * s + A1) * s + A2) * s + A3) * s + A4) * s + A5
    q = ((((B0 * s + B1) * s + B2) * s + B3) * s + B4) * s + ONE
    e = a * p / q
    e = ONE if e > ONE else e
    e = -ONE if e < -ONE else e
    return (e + ONE) * HALF


@in_order
def gelu_derivative(x):
    s = x * x
    p = ((((C0 * s + C1) * s + C2) * s + C3) * s + C4) * s + C5
    q = (((((D0 * s + D1) * s + D2) * s + D3) * s + D4) * s + D5) * s + ONE
    d = HALF + x * p / q
    d = ONE if x > EDGE else d
    d = float32(0) if x < -EDGE else d
    return d + (x - x)  # as in PyTorch nan at infinity


@njit(error_model="numpy")
def largest(bits, i):
    """The largest number of row i, from its bits: negative floats in reverse order as integers. A nan is the largest, or is none."""
    m = SMALLEST
    for j in range(bits.shape[1]):
        b = bits[i, j]
        key = int32(b ^ ((b >> int32(31)) & MAGNITUDE))
        m = key if key > m else m
    return int32(m ^ ((m >> int32(31)) & MAGNITUDE)).view(float32)


@summing("(float32[:, ::1], float32[:, ::1])")
def softmax(x, out):
    bits = x.view(int32)
    for i in range(x.shape[0]):
        m = largest(bits, i)
        total = float32(0)
        for j in range(x.shape[1]):
            e = exp_below_one(x[i, j] - m)
            out[i, j] = e
            total += e
        scale = ONE / total
        for j in range(x.shape[1]):
            out[i, j] *= scale


@summing("(float32[:, ::1], float32[:, ::1], float32[:, ::1])")
def softmax_slope(g, y, out):
    for i in range(g.shape[0]):
        total = float32(0)
        for j in range(g.shape[1]):
            total += g[i, j] * y[i, j]
        for j in range(g.shape[1]):
            out[i, j] = y[i, j] * (g[i, j] - total)


@summing("(float32[:, ::1], float32[:, ::1])")
def log_softmax(x, out):
    bits = x.view(int32)
    for i in range(x.shape[0]):
        m = largest(bits, i)
        total = float32(0)
        for j in range(x.shape[1]):
            total += exp_below_one(x[i, j] - m)
        log_total = float32(math.log(total))
        for j in range(x.shape[1]):
            out[i, j] = (x[i, j] - m) - log_total


@summing("(float32[:, ::1], float32[:, ::1], float32[:, ::1])")
def log_softmax_slope(g, y, out):
    for i in range(g.shape[0]):
        total = float32(0)
        for j in range(g.shape[1]):
            total += g[i, j]
        for j in range(g.shape[1]):
            out[i, j] = g[i, j] - exp_below_one(y[i, j]) * total


@njit(error_model="numpy", fastmath={"contract", "reassoc"})
def mean(x, i):
    total = float32(0)
    for j in range(x.shape[1]):
        total += x[i, j]
    return total / float32(x.shape[1])


@summing("(float32[:, ::1], float32[::1], float32[::1], float32, float32[:, ::1], float32[::1], float32[::1])")
def layer_norm(x, weight, bias, eps, out, means, rstd):
    count = float32(x.shape[1])
    for i in range(x.shape[0]):
        m = mean(x, i)
        squares = float32(0)
        for j in range(x.shape[1]):
            d = x[i, j] - m
            squares += d * d
        r = ONE / float32(math.sqrt(squares / count + eps))
        means[i], rstd[i] = m, r
        for j in range(x.shape[1]):
            out[i, j] = (x[i, j] - m) * r * weight[j] + bias[j]


@summing("(float32[:, ::1], float32[:, ::1], float32[::1], float32, float32[:, ::1], float32[::1], float32[::1])")
def layer_norm_backward(g, x, weight, eps, out, by_weight, by_bias):
    count = float32(x.shape[1])
    by_weight[:] = float32(0)
    by_bias[:] = float32(0)
    for i in range(x.shape[0]):
        m = mean(x, i)
        squares = total = products = float32(0)
        # One pass for all sums: 1 / deviation, a factor of the last one, is known only after it
        for j in range(x.shape[1]):
            d = x[i, j] - m
            g_hat = g[i, j] * weight[j]
            squares += d * d
            total += g_hat
            products += g_hat * d
        r = ONE / float32(math.sqrt(squares / count + eps))
        total, products = total / count, products * r * r / count
        for j in range(x.shape[1]):
            d = x[i, j] - m
            by_weight[j] += g[i, j] * (d * r)
            by_bias[j] += g[i, j]
            out[i, j] = (g[i, j] * weight[j] - total - d * products) * r


@summing("(float32[::1], float32[::1])")
def gelu(x, out):
    for i in range(x.size):
        out[i] = x[i] * cdf(x[i])


@summing("(float32[::1], float32[::1], float32[::1])")
def gelu_slope(g, x, out):
    for i in range(x.size):
        out[i] = g[i] * gelu_derivative(x[i])
