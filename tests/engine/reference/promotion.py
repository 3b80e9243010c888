"""Which dtype every function of two tensors gives for every pair of dtypes, and what it refuses.

Imports neither torch nor minigrad. `python -m tests.engine.reference.promotion` (with torch) stores PyTorch's answers in
promotion.json: for each expression and each kind of pair a text with one character for each pair of dtypes, row by row, and
"!" where PyTorch refuses.
"""

import functools
import json
import warnings
from pathlib import Path
from typing import Any

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"]
CODES = dict(zip(DTYPES, "?ubsilhfd", strict=True))
STORED = Path(__file__).with_suffix(".json")

# Expressions in x and y, two tensors of one shape or one of them with no dimension.
BINARY = """
    x + y;x - y;x * y;x / y;x // y;x % y;x ** y;x & y;x | y;x ^ y;x << y;x >> y;x == y;x != y;x < y;x <= y;x > y
    x >= y;torch.add(x, y, alpha=2);torch.sub(x, y, alpha=2);torch.rsub(x, y);torch.div(x, y, rounding_mode="floor")
    torch.div(x, y, rounding_mode="trunc");torch.fmod(x, y);torch.remainder(x, y);torch.pow(x, y)
    torch.float_power(x, y);torch.atan2(x, y);torch.hypot(x, y);torch.logaddexp(x, y);torch.logaddexp2(x, y)
    torch.xlogy(x, y);torch.copysign(x, y);torch.nextafter(x, y);torch.maximum(x, y);torch.minimum(x, y)
    torch.fmax(x, y);torch.fmin(x, y);torch.max(x, y);torch.min(x, y);torch.logical_and(x, y);torch.logical_or(x, y)
    torch.logical_xor(x, y);torch.gcd(x, y);torch.lcm(x, y);torch.ldexp(x, y);torch.heaviside(x, y)
    torch.isclose(x, y);torch.where(c, x, y);torch.lerp(x, y, 0.5);torch.lerp(x, x, y);torch.addcmul(x, y, y)
    torch.addcmul(x, x, y);torch.addcdiv(x, y, y);torch.clamp(x, y);torch.clamp(x, y, y);torch.clamp(x, max=y)
    torch.clamp_min(x, y);torch.true_divide(x, y);torch.floor_divide(x, y);torch.dist(x, y);torch.isin(x, y)
    torch.bucketize(x, y);torch.searchsorted(x, y);F.mse_loss(x, y);F.l1_loss(x, y);F.smooth_l1_loss(x, y)
    F.huber_loss(x, y);F.soft_margin_loss(x, y);F.kl_div(x, y);F.poisson_nll_loss(x, y);F.hinge_embedding_loss(x, y)
    F.binary_cross_entropy_with_logits(x, y);F.margin_ranking_loss(x, x, y);F.gaussian_nll_loss(x, y, abs(x))
    F.cosine_similarity(x, y, 0);F.pairwise_distance(x, y);F.triplet_margin_loss(x, y, x);F.cross_entropy(x, y)
    F.binary_cross_entropy_with_logits(x, x, weight=y);F.binary_cross_entropy_with_logits(x, x, pos_weight=y)
    F.mse_loss(x, y, reduction="none");F.prelu(x, y);F.huber_loss(x, y, reduction="none")
    F.smooth_l1_loss(x, y, reduction="none")"""
# Expressions that need dimensions in both.
JOINING = """
    torch.cat([x, y]);torch.stack([x, y]);torch.hstack([x, y]);torch.vstack([x, y]);torch.dstack([x, y])
    torch.column_stack([x, y]);torch.block_diag(x, y);torch.cartesian_prod(x, y);torch.outer(x, y);torch.dot(x, y)
    torch.vdot(x, y);torch.inner(x, y);torch.kron(x, y);torch.cross(x, y, dim=0);torch.matmul(x, y)
    torch.einsum("i,j->ij", x, y);torch.tensordot(x, y, dims=1);torch.outer(x, x).mm(torch.outer(y, y))
    torch.mv(torch.outer(x, x), y);torch.addr(torch.outer(x, x), y, y)
    torch.addmm(torch.outer(x, x), torch.outer(y, y), torch.outer(y, y));torch.addmv(x, torch.outer(y, y), y)
    F.linear(x, torch.outer(y, y));torch.trapezoid(x, y);torch.cdist(x[None], y[None]);x.index_add(0, i, y)
    x.index_copy(0, i, y);x.scatter(0, i, y);x.scatter_add(0, i, y);x.scatter_reduce(0, i, y, "sum")
    x.index_put((i,), y);x.masked_scatter(c, y);torch.meshgrid(x, y, indexing="ij")[0];torch.cov(x, aweights=y)
    torch.atleast_2d(x) * torch.atleast_2d(y);torch.linalg.multi_dot([x, torch.outer(y, y)])
    torch.combinations(x) * y[0];x.copy_(y);x.masked_fill(c, y[0]);torch.logsumexp(torch.stack([x, y]), 0)"""
WRITING = "+= -= *= /= //= %= **= &= |= ^=".split()
# Expressions in x and a Python number.
NUMBERS = [-1, 2, 300, 2.5, True]
WITH_NUMBER = """
    x + n;n + x;x - n;n - x;x * n;n * x;x / n;n / x;x // n;n // x;x % n;n % x;x ** n;n ** x;x & n;n & x;x == n
    x != n;x < n;x <= n;x > n;x >= n;torch.pow(n, x);torch.where(c, x, n);torch.where(c, n, x);torch.clamp(x, n)
    torch.clamp(x, max=n);torch.clamp_min(x, n);x.clamp_max(n);torch.add(x, n, alpha=2);torch.remainder(x, n)
    torch.remainder(n, x);torch.fmod(x, n);torch.float_power(x, n);torch.float_power(n, x);torch.xlogy(x, n)
    torch.xlogy(n, x);torch.rsub(x, n);torch.floor_divide(x, n);torch.true_divide(x, n)
    torch.ldexp(x, torch.tensor(n));torch.eq(x, n);torch.isin(x, n);x.masked_fill(c, n);x.scatter(0, i, n)
    x.index_fill(0, i, n);torch.full_like(x, n);x.fill_(n);x.add_(n);x.mul_(n);torch.logical_and(x, torch.tensor(n))
    x.sub_(n);x.pow_(n);x.div_(n);torch.bitwise_or(x, n);torch.bitwise_left_shift(x, n)"""
# Expressions in x alone.
ALONE = """
    x.sum();x.sum(0);x.sum(0, keepdim=True);x.nansum();x.nansum(0);x.mean();x.prod();x.prod(0);x.cumsum(0)
    x.cumprod(0);x.all();x.all(0);x.any();x.any(0);x.max();x.min();x.amax();x.amin(0);x.argmax();x.std();x.var()
    x.median();x.norm();x.logsumexp(0);x.nanmean();x.nanmedian();x.quantile(0.5);x.diff();x.abs();x.neg();x.sqrt()
    x.exp();x.sin();x.sigmoid();x.relu();x.round();x.floor();x.sign();x.square();x.reciprocal()
    torch.outer(x, x).trace();x.cumsum(0).sum();x.logcumsumexp(0);torch.trapezoid(x);x.softmax(0);x.log_softmax(0)
    x.cummax(0)[0];x.sort()[0];x.unique();x.count_nonzero();x.histc(3);x.bincount();x.float();x.erf();x.lgamma()
    x.logit();x.clamp(0, 1);F.softplus(x);F.gelu(x);F.silu(x);F.leaky_relu(x);F.elu(x);F.normalize(x, dim=0)
    x.dot(x);torch.var_mean(x)[1];x.aminmax()[0];x.rsqrt();x.frac();x.trunc();~x;x.logical_not();x.kthvalue(1)[0]
    x.topk(1)[0];x.mode()[0];x.diag();x.roll(1);x.repeat_interleave(2);x.flip(0)"""


def words(text: str) -> list[str]:
    return [word.strip() for line in text.strip().splitlines() for word in line.split(";")]


def made(torch: Any, numbers: list[int], dtype: str, dimensions: bool) -> Any:
    kind = getattr(torch, dtype)
    return torch.tensor(numbers, dtype=kind) if dimensions else torch.tensor(numbers[0], dtype=kind)


def scope(torch: Any) -> dict[str, Any]:
    i = torch.tensor([0, 1, 2])
    return {"torch": torch, "F": torch.nn.functional, "i": i, "c": torch.tensor([True, False, True])}


def answer(torch: Any, expression: str, **inputs: Any) -> Any:
    """The result as a tensor (a Python bool as it is), or the exception."""
    names = {**scope(torch), **inputs}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if expression.split()[1:2] and expression.split()[1] in WRITING:
                exec(expression, names)
                return names["x"]
            return eval(expression, names)
    except Exception as error:
        return error


def code(result: Any) -> str:
    if isinstance(result, Exception):
        return "!"
    return CODES[str(result.dtype).removeprefix("torch.")] if hasattr(result, "dtype") else "="


@functools.cache
def questions() -> dict[str, tuple[str, list[dict[str, Any]]]]:
    """key: (expression, what x, y or n are, in the order of the characters)"""
    found: dict[str, tuple[str, list[dict[str, Any]]]] = {}
    pairs = [(a, b) for a in DTYPES for b in DTYPES]
    for ranks in ("11", "10", "01", "00"):
        texts = words(BINARY) + [f"x {sign} y" for sign in WRITING]
        for text in texts if ranks != "11" else texts + words(JOINING):
            found[f"{text} | {ranks}"] = (
                text,
                [{"x": (a, ranks[0] == "1"), "y": (b, ranks[1] == "1")} for a, b in pairs],
            )
    for n in NUMBERS:
        for text in words(WITH_NUMBER):
            found[f"{text} | {n}"] = text, [{"x": (a, True), "n": n} for a in DTYPES]
            found[f"{text} | {n}, 0-d"] = text, [{"x": (a, False), "n": n} for a in DTYPES]
    for text in words(ALONE):
        found[f"{text} |"] = text, [{"x": (a, True)} for a in DTYPES]
    return found


NUMBERS_OF = {"x": [1, 3, 2], "y": [2, 1, 3]}


def results(torch: Any, key: str) -> list[Any]:
    text, inputs = questions()[key]
    return [_result(torch, text, given) for given in inputs]


def _result(torch: Any, text: str, given: dict[str, Any]) -> Any:
    return answer(torch, text, **{k: v if k == "n" else made(torch, NUMBERS_OF[k], *v) for k, v in given.items()})


def main() -> None:
    import torch

    found = {
        key: "".join([code(_result(torch, text, given)) for given in inputs])
        for key, (text, inputs) in questions().items()
    }
    STORED.write_text("{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in found.items()) + "\n}\n")


if __name__ == "__main__":
    main()
