"""Functions of one number that numpy lacks.

What lives here: erf and the gamma functions. What does not: their derivatives (ops/).
"""

import math

import numpy as np

# W. J. Cody, Rational Chebyshev approximations for the error function, Math. Comp. 23 (1969): full double precision in three pieces.
_SMALL = (
    (
        1.85777706184603153e-1,
        3.16112374387056560e00,
        1.13864154151050156e02,
        3.77485237685302021e02,
        3.20937758913846947e03,
    ),
    (1.0, 2.36012909523441209e01, 2.44024637934444173e02, 1.28261652607737228e03, 2.84423683343917062e03),
)
_MIDDLE = (
    (2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594e00, 6.61191906371416295e01, 2.98635138197400131e02,
     8.81952221241769090e02, 1.71204761263407058e03, 2.05107837782607147e03, 1.23033935479799725e03),
    (1.0, 1.57449261107098347e01, 1.17693950891312499e02, 5.37181101862009858e02, 1.62138957456669019e03, 3.29079923573345963e03,
     4.36261909014324716e03, 3.43936767414372164e03, 1.23033935480374942e03),
)  # fmt: skip
_LARGE = (
    (1.63153871373020978e-2, 3.05326634961232344e-1, 3.60344899949804439e-1, 1.25781726111229246e-1, 1.60837851487422766e-2,
     6.58749161529837803e-4),
    (1.0, 2.56852019228982242e00, 1.87295284992346047e00, 5.27905102951428412e-1, 6.05183413124413191e-2, 2.33520497626869185e-3),
)  # fmt: skip


# erf(x) / x as a ratio of polynomials in x * x on [-4, 4]: fitted here by reweighted least squares, 2.5e-8 off, 3.4e-7 after rounding.
_FLOAT32 = (
    (1.98691072e-06, 0.000284548389, 0.00388257021, 0.053099319, 0.193527016, 1.12837914),
    (3.7420611e-05, 0.00118538426, 0.0152056874, 0.115342507, 0.504841411, 1.0),
)


def _erf_float32(x):
    a = np.minimum(x, 4, dtype=np.float32)
    np.maximum(a, -4, out=a)
    s = a * a
    ratio = []
    for coefficients in _FLOAT32:
        value = s * np.float32(coefficients[0])
        for c in coefficients[1:-1]:
            value += np.float32(c)
            value *= s
        value += np.float32(coefficients[-1])
        ratio.append(value)
    out = np.divide(ratio[0], ratio[1], out=ratio[0])
    out *= a
    np.minimum(out, 1, out=out)
    return np.maximum(out, -1, out=out).astype(x.dtype, copy=False)


def _ratio(x, coefficients):
    return np.polyval(coefficients[0], x) / np.polyval(coefficients[1], x)


def erf(x):
    """2 / sqrt(pi) times the integral of exp(-t*t) from 0 to x."""
    if x.size < 8:  # not worth the pieces
        return np.array([math.erf(v) for v in x.ravel().tolist()], x.dtype).reshape(x.shape)
    if x.dtype.itemsize < 8:
        return _erf_float32(x)
    a = np.abs(x)
    out = np.empty_like(x)
    small, large = a <= 0.46875, a > 4
    middle = ~(small | large)  # nan goes here, and stays nan
    s = x[small]
    out[small] = s * _ratio(s * s, _SMALL)
    m = a[middle]
    out[middle] = 1 - np.exp(-m * m) * _ratio(m, _MIDDLE)
    b = a[large]
    z = 1 / (b * b)
    with np.errstate(all="ignore"):
        tail = np.exp(-b * b) * (1 / math.sqrt(math.pi) - z * _ratio(z, _LARGE)) / b
    out[large] = 1 - np.where(np.isinf(b), 0, tail)
    return np.where(small, out, np.copysign(out, x))


def lgamma(x):
    """The logarithm of |gamma(x)|; inf at 0 and the negative whole numbers."""
    finite = [
        np.inf if v <= 0 and v == math.floor(v) else math.lgamma(v)
        for v in np.where(np.isfinite(x), x, 1).ravel().tolist()
    ]
    return np.where(np.isfinite(x), np.array(finite).astype(x.dtype).reshape(x.shape), np.abs(x))


_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)  # B2, B4, ...


def digamma(x):
    """The slope of lgamma: nan at the negative whole numbers, and infinite at 0."""
    wide = x.astype(np.float64)
    with np.errstate(all="ignore"):
        negative = wide < 0
        part = wide - np.trunc(wide)
        reflected = np.where(negative, np.where(part == 0, np.nan, -np.pi / np.tan(np.pi * part)), 0)
        a = np.where(negative, 1 - wide, wide)
        total = np.zeros_like(a)
        for _ in range(10):  # digamma(a) = digamma(a + 1) - 1 / a, until the series below is exact
            small = a < 10
            total = np.where(small, total - 1 / a, total)
            a = np.where(small, a + 1, a)
        series = sum([b / (2 * (k + 1)) * a ** (-2.0 * (k + 1)) for k, b in enumerate(_BERNOULLI)])
        out = np.log(a) - 0.5 / a - series + total + reflected
    return np.where(wide == 0, np.copysign(np.inf, -wide), np.where(wide == -np.inf, np.nan, out)).astype(x.dtype)


def _zeta(s, q):
    """The sum of (q + k) ** -s for k from 0 on, for whole s > 1."""
    negative = q < 0
    if not negative.any():
        return _zeta_of_positive(s, q)
    # The first term that is not negative; those before it are -(1 - first), -(2 - first), ..., q
    first = q - np.floor(q)
    before = (-1) ** s * (_zeta_of_positive(s, np.ceil(q) - q) - _zeta_of_positive(s, np.where(negative, 1 - q, 1)))
    return _zeta_of_positive(s, np.where(negative, first, q)) + np.where(negative & (first > 0), before, 0)


def _zeta_of_positive(s, q):
    """Some terms, then Euler's and Maclaurin's formula for the rest."""
    total, a = np.zeros_like(q), q
    for _ in range(10):
        near = a <= 9
        total = np.where(near, total + a**-s, total)
        a = np.where(near, a + 1, a)
    total = total + a ** (1 - s) / (s - 1) + 0.5 * a**-s
    term = s * a ** (-s - 1)
    for k, b in enumerate(_BERNOULLI):
        total = total + term * b / math.factorial(2 * k + 2)
        term = term * (s + 2 * k + 1) * (s + 2 * k + 2) / (a * a)
    return np.where(np.isnan(q), np.nan, np.where(q == 0, np.inf, total))


def polygamma(x, n):
    """The n-th derivative of digamma."""
    if n == 0:
        return digamma(x)
    wide = x.astype(np.float64)
    with np.errstate(all="ignore"):
        if n == 1:  # by reflection, as PyTorch
            low = wide < 0.5
            out = _zeta(2.0, np.where(low, 1 - wide, wide))
            out = np.where(low, (np.pi / np.sin(np.pi * wide)) ** 2 - out, out)
            return np.where(wide == np.inf, 0, out).astype(x.dtype)
        out = (-1) ** (n + 1) * (math.factorial(n) if n <= 170 else np.inf) * _zeta(float(n + 1), wide)
        return np.where(wide == np.inf, np.nan, out).astype(x.dtype)
