"""Sums of products with named dimensions: einsum, tensordot, inner, kron.

What lives here: no row of its own. Each product of two tensors becomes one batch of matrix products: the dimensions are sorted into those that
both keep (batch), those of one alone, and those that are summed.
"""

import math

from ..core import errors
from .linalg import bmm, mm
from .reduce import sum as sum_
from .shape import permute, reshape, unsafe_view, unsqueeze
from .views import diagonal


def _labels(term, ndim, dots):
    """The dimension names of one operand; "..." becomes names of their own, aligned at the right."""
    term = term.replace(" ", "")
    if "..." in term:
        before, _, after = term.partition("...")
        free = ndim - len(before) - len(after)
        if free < 0:
            raise errors.new(
                RuntimeError,
                f"einsum(): the number of subscripts in the equation ({len(before) + len(after)}) is more than the number of dimensions "
                f"({ndim}) for operand",
            )
        return [*before, *dots[len(dots) - free :], *after]
    return list(term)


def _parse(equation, operands):
    left, arrow, right = equation.partition("->")
    terms = left.split(",")
    if len(terms) > len(operands):
        raise errors.new(RuntimeError, "einsum(): fewer operands were provided than specified in the equation")
    if len(terms) < len(operands):
        raise errors.new(RuntimeError, "einsum(): more operands were provided than specified in the equation")
    widest = max(
        [
            x.ndim - len(t.replace(" ", "").replace("...", ""))
            for t, x in zip(terms, operands, strict=True)
            if "..." in t
        ],
        default=0,
    )
    dots = [f"...{i}" for i in range(widest)]
    names = []
    for number, (term, x) in enumerate(zip(terms, operands, strict=True)):
        labels = _labels(term, x.ndim, dots)
        if len(labels) != x.ndim:
            raise errors.new(
                RuntimeError,
                f"einsum(): the number of subscripts in the equation ({len(labels)}) does not match the number of dimensions ({x.ndim}) for operand "
                f"{number} and no ellipsis was given",
            )
        names.append(labels)
    if arrow:
        out = _labels(right, widest + len(right.replace(" ", "").replace("...", "")), dots)
        for n in out:
            if not any([n in labels for labels in names]):
                raise errors.new(
                    RuntimeError,
                    f"einsum(): output subscript {n} does not appear in the equation for any input operand",
                )
    else:  # all that occur once, in alphabetical order
        every = [n for labels in names for n in labels]
        out = [*dots, *sorted({n for n in every if len(n) == 1 and every.count(n) == 1})]
    return names, out


def _diagonals(x, names):
    """A name that occurs twice in one operand means the diagonal of both dimensions."""
    names = list(names)
    for n in list(names):
        while names.count(n) > 1:
            first = names.index(n)
            second = names.index(n, first + 1)
            if x.shape[first] != x.shape[second]:
                raise errors.new(
                    RuntimeError,
                    f"einsum(): subscript {n} is repeated for operand 0 but the sizes don't match, {x.shape[second]} != {x.shape[first]}",
                )
            x = diagonal(x, 0, first, second)
            names = [m for i, m in enumerate(names) if i not in (first, second)] + [n]
    return x, names


def _sum_out(x, names, keep):
    """Sum over the dimensions whose names no other operand and no output has."""
    gone = [i for i, n in enumerate(names) if n not in keep]
    if not gone:
        return x, names
    return sum_(x, gone), [n for n in names if n in keep]


def _arrange(x, names, order):
    dims = tuple([names.index(n) for n in order])
    return x if dims == tuple(range(len(dims))) else permute(x, dims)


def _product(x, xs, y, ys, keep, order):
    """The product of two operands, summed over the names that both have and nothing else needs."""
    x, xs = _sum_out(x, xs, {*ys, *keep})
    y, ys = _sum_out(y, ys, {*xs, *keep})
    size = dict(zip(xs, x.shape, strict=True))
    for n, m in zip(ys, y.shape, strict=True):
        size[n] = max(size.get(n, 1), m) if m else 0
    summed = [n for n in xs if n in ys and n not in keep]
    batch = [n for n in order if n in xs and n in ys and n not in summed]
    left, right = [n for n in order if n in xs and n not in ys], [n for n in order if n in ys and n not in xs]
    if not summed:
        names = [n for n in order if n in xs or n in ys]
        return _spread(x, xs, names) * _spread(y, ys, names), names
    x = _arrange(x, xs, [*batch, *left, *summed]).expand([size[n] for n in (*batch, *left, *summed)])
    y = _arrange(y, ys, [*batch, *summed, *right]).expand([size[n] for n in (*batch, *summed, *right)])
    count = {
        group: math.prod([size[n] for n in names])
        for group, names in (("b", batch), ("l", left), ("r", right), ("s", summed))
    }
    out = bmm(reshape(x, (count["b"], count["l"], count["s"])), reshape(y, (count["b"], count["s"], count["r"])))
    return reshape(out, [size[n] for n in (*batch, *left, *right)]), [*batch, *left, *right]


def _check_sizes(operands, names):
    size: dict = {}
    for number, (x, result) in enumerate(zip(operands, names, strict=True)):
        for n, m in zip(result, x.shape, strict=True):
            if m != 1 and size.get(n, 1) not in (1, m):
                raise errors.new(
                    RuntimeError,
                    f"einsum(): subscript {n} has size {m} for operand {number} which does not broadcast with previously seen size {size[n]}",
                    f"The operands have shapes {' and '.join(str(tuple(o.shape)) for o in operands)}.",
                    "A name has one size wherever it occurs.",
                    "give the two dimensions different names, or transpose one operand.",
                )
            size[n] = m if n not in size or size[n] == 1 else size[n]


def _spread(x, names, wanted):
    """`x` with a dimension (of size 1 where it has none) for each wanted name."""
    x = _arrange(x, names, [n for n in wanted if n in names])
    for i, n in enumerate(wanted):
        if n not in names:
            x = unsqueeze(x, i)
    return x


def _written_out(arguments):
    """einsum(x, [0, 1], y, [1, 2], [0, 2]) as an equation and its operands. Raises ValueError for numbers outside [0, 52)."""

    def names(places):
        if any([p is not Ellipsis and not 0 <= p < 52 for p in places]):
            raise ValueError("einsum(): expected subscripts to be within the range [0, 52)")
        return "".join(["..." if p is Ellipsis else _LETTERS[p] for p in places])

    out = arguments.pop() if len(arguments) % 2 else None
    equation = ",".join(map(names, arguments[1::2]))
    return equation if out is None else f"{equation}->{names(out)}", tuple(arguments[::2])


_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def einsum(equation, *operands):
    """Sums of products written with names for the dimensions: names that the result does not have are summed.

    >>> import minigrad as torch
    >>> torch.einsum("ij,j->i", torch.ones(2, 3), torch.arange(3.))
    tensor([3., 3.])
    """
    if not isinstance(equation, str):
        equation, operands = _written_out([equation, *operands])
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = tuple(operands[0])
    names, out = _parse(equation, operands)
    _check_sizes(operands, names)
    pairs = [_diagonals(x, result) for x, result in zip(operands, names, strict=True)]
    order = [*out, *dict.fromkeys([n for _, result in pairs for n in result if n not in out])]
    x, xs = pairs[0]
    for i, (y, ys) in enumerate(pairs[1:], 1):
        keep = {*out, *[n for _, later in pairs[i + 1 :] for n in later]}
        x, xs = _product(x, xs, y, ys, keep, order)
    if len(pairs) == 1:
        order = [n for n in order if n in xs]
        if len(out) == len(xs):
            return permute(x, tuple([xs.index(n) for n in out]))
        x, xs = _sum_out(x, xs, set(out))
    return _arrange(x, xs, out)


def tensordot(a, b, dims=2):
    """Products summed over the last `dims` dimensions of `a` and the first of `b`, or over two lists of dimensions.
    Raises RuntimeError if their sizes differ or dims < 0."""
    if isinstance(dims, int):
        if dims < 0:
            raise errors.new(RuntimeError, f"tensordot expects dims >= 0, but got dims={dims}")
        dims = (list(range(a.ndim - dims, a.ndim)), list(range(dims)))
    first, second = [[d] if isinstance(d, int) else list(d) for d in dims]
    first, second = [d % a.ndim for d in first], [d % b.ndim for d in second]
    for d, e in zip(first, second, strict=True):
        if b.shape[e] == 1 != a.shape[d]:  # broadcast: the other side's sum
            a = sum_(a, d, True)
        elif a.shape[d] == 1 != b.shape[e]:
            b = sum_(b, e, True)
        elif a.shape[d] != b.shape[e]:
            raise errors.new(
                RuntimeError,
                f"contracted dimensions need to match, but first has size {a.shape[d]} in dim {d} and second has size {b.shape[e]} in dim {e}",
            )
    left, right = [d for d in range(a.ndim) if d not in first], [d for d in range(b.ndim) if d not in second]
    inner_size = math.prod([a.shape[d] for d in first])
    x = reshape(permute(a, (*left, *first)), (-1 if inner_size else math.prod([a.shape[d] for d in left]), inner_size))
    y = reshape(permute(b, (*second, *right)), (inner_size, math.prod([b.shape[d] for d in right])))
    return reshape(mm(x, y), [a.shape[d] for d in left] + [b.shape[d] for d in right])


def inner(input, other):
    """Products summed over the last dimension of both. Raises RuntimeError if their sizes differ."""
    if input.ndim == 0 or other.ndim == 0:
        return input * other
    if input.shape[-1] != other.shape[-1]:
        raise errors.new(
            RuntimeError,
            f"inner() the last dimension must match on both input tensors but got shapes {list(input.shape)} and {list(other.shape)}",
        )
    return tensordot(input, other, ([-1], [-1]))


def kron(input, other):
    """Each element of `input` times the whole of `other`, in one large tensor."""
    n = max(input.ndim, other.ndim)
    a, b = [(1,) * (n - x.ndim) + tuple(x.shape) for x in (input, other)]
    x = reshape(input, [m for size in a for m in (size, 1)])
    y = reshape(other, [m for size in b for m in (1, size)])
    return unsafe_view(x * y, tuple([m * k for m, k in zip(a, b, strict=True)]))
