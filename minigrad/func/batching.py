"""vmap: one run of a function on a whole batch.

`Batched` is a tensor with the shape of one sample and the numbers of all; `BatchLevel` is the handler that runs each operation on all
samples at once; the batching rules follow. The arguments of `vmap` are in transforms.py.

Inside a vmapped function a Batched tensor has the shape of one sample. Its `array` is a Sample, which has a shape and a dtype but raises
if its numbers are read; its `value` is the tensor with the batch dimension in front. An operation then happens twice. It is computed on the
values, where a graph, tangents or another vmap outside see it. And it is recorded once more, without computing, for transforms inside of
vmap: `grad` differentiates the function of one sample.

A row has a batching rule where one is known to be right: elementwise rows align their operands, others move their dimensions on by one. A
row without a rule runs sample by sample, and the results are stacked. A function that reads the numbers themselves (as an index, say) runs
as a whole sample by sample.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy import ndarray

from ..core import dtypes
from ..core.constants import constant
from ..core.dispatch import Handler, state
from ..core.op import DISCRETE, ELEMENTWISE, TABLE
from ..core.storage import SHAPE_ONLY, place_of
from ..core.variable import Variable, wrap
from ..ops import (
    convolution,
    elementwise,
    index,
    joins,
    linalg,
    lookup,
    losses,
    normalization,  # noqa: F401
    pooling,
    reduce,
    resample,  # noqa: F401
    scan,  # noqa: F401
    shape,
    strided,
    views,
)  # noqa: F401
from ..ops.dims import wrap_dim
from ..tensors.tensor import Tensor

if TYPE_CHECKING:
    from ..core.op import Op


class NumbersNeeded(Exception):
    """Inside vmap something wants to read the numbers of one sample: the function must run sample by sample."""


_VIEWS = {
    np.broadcast_to,
    np.expand_dims,
    np.moveaxis,
    np.swapaxes,
    np.transpose,
    np.reshape,
    np.squeeze,
    np.split,
    np.diagonal,
}


def _refuse(*_: Any, **__: Any) -> None:
    raise NumbersNeeded


class Sample(ndarray):
    """The array of a Batched tensor: it has a shape, a dtype, strides and views, but its numbers must not be used."""

    __array_ufunc__ = _refuse
    if not TYPE_CHECKING:  # to a type checker this is an ndarray
        __bool__ = __int__ = __float__ = __index__ = __iter__ = __contains__ = _refuse
        item = tolist = tobytes = astype = __setitem__ = take = _refuse

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function in SHAPE_ONLY:
            plain = [a.view(ndarray) if isinstance(a, Sample) else a for a in args]
            return function(*plain, **{k: v.view(ndarray) if isinstance(v, Sample) else v for k, v in kwargs.items()})
        if function in _VIEWS:
            out = function(*[a.view(ndarray) if isinstance(a, Sample) else a for a in args], **kwargs)
            return [o.view(Sample) for o in out] if isinstance(out, list) else out.view(Sample)
        raise NumbersNeeded

    def nonzero(self) -> Any:
        raise RuntimeError(
            "vmap: We do not support batching operators that can support dynamic shape. Attempting to batch over indexing with a boolean "
            "mask."
        )

    def __repr__(self) -> str:
        return f"Sample(shape={self.shape}, dtype={self.dtype})"


def _sample(array: np.ndarray) -> Sample:
    """One sample of an array with the batch dimension in front, to be looked at from outside only."""
    one = ndarray.__getitem__(array, (0, ...)) if array.shape[0] else np.empty(array.shape[1:], array.dtype)
    return one.view(Sample)


_ITEM = (
    "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling .item() on a Tensor, please try to rewrite "
    "what you're doing with other operations. If error is occurring somewhere inside PyTorch internals, please file a bug report."
)
_BOOL = (
    "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. We don't support that yet, please file an "
    "issue at https://github.com/pytorch/pytorch/issues ."
)


class Batched(Tensor):
    """A tensor inside vmap: the shape of one sample, the numbers of all."""

    __slots__ = ("level", "value")
    level: BatchLevel
    value: Tensor  # the numbers of all samples, the batch dimension first
    batched = True

    @classmethod
    def _wrap(cls, array: Any) -> Tensor:
        return wrap(array)

    def shell(self) -> Tensor:
        """The same numbers without a place in the graph."""
        return _make(self.level, self.value)

    def like(self, function: Callable[..., Any], *args: Any, requires_grad: bool = False, **kwargs: Any) -> Tensor:
        """zeros_like and similar factories: made for all samples, so that in-place operations may write different numbers into them."""
        with self.level.below():
            out = _make(self.level, function(self.value, *args, **kwargs))
        out.requires_grad = requires_grad
        return out

    def _new(self, name: str, size: tuple[Any, ...], *args: Any, **kwargs: Any) -> Tensor:
        size = tuple(size[0]) if len(size) == 1 and not isinstance(size[0], int) else size
        with self.level.below():
            return _make(self.level, getattr(self.value, name)((self.level.size, *size), *args, **kwargs))

    def new_zeros(self, *size: Any, **kwargs: Any) -> Tensor:
        """new_empty and similar factories: made for all samples, as `like`."""
        return self._new("new_zeros", size, **kwargs)

    def new_ones(self, *size: Any, **kwargs: Any) -> Tensor:
        return self._new("new_ones", size, **kwargs)

    def new_empty(self, *size: Any, **kwargs: Any) -> Tensor:
        return self._new("new_empty", size, **kwargs)

    def new_full(self, size: int | Sequence[int], fill_value: float, **kwargs: Any) -> Tensor:
        return self._new("new_full", (size,), fill_value, **kwargs)

    def new_empty_strided(
        self, size: Any, stride: Any, *, dtype: Any = None, device: Any = None, requires_grad: Any = False
    ) -> Tensor:
        """Batched new_empty_strided: the batch dimension is outermost in memory."""
        cells = 1 + sum([(n - 1) * s for n, s in zip(size, stride, strict=True)]) if 0 not in size else 0
        with self.level.below():
            out = self.value.new_empty_strided((self.level.size, *size), (cells, *stride), dtype=dtype)
        return _make(self.level, out.requires_grad_(requires_grad) if requires_grad else out)

    @staticmethod
    def store(x: Any, out: Any) -> None:
        """In-place: put the numbers of `out` into `x`, for all samples."""
        if not x.batched or (out.batched and out.level is not x.level and out.level.number > x.level.number):
            raise RuntimeError(
                "vmap: inplace arithmetic(self, *extra_args) is not possible because there exists a Tensor `other` in extra_args that has "
                "more elements than `self`. This happened due to `other` being vmapped over but `self` not being vmapped over in a vmap. "
                "Please try to use out-of-place operators instead of inplace arithmetic. If said operator is being called inside the "
                "PyTorch framework, please file a bug report instead."
            )
        with x.level.below():
            x.value.copy_(x.level.aligned(out, x.array.ndim))

    def unshare(self) -> None:
        """Numbers of its own from now on."""
        with self.level.below():
            self.value = self.value.clone()
        self.array = _sample(self.value.array)

    def detach(self) -> Tensor:
        out = _make(self.level, self.value.detach())
        out.version = self.version
        return out

    @property  # type: ignore[misc]  # read only: there is no one array to set
    def data(self) -> Any:
        return _make(self.level, self.value.data)

    def item(self) -> Any:
        raise RuntimeError(_ITEM)

    _scalar = __float__ = __int__ = __index__ = item

    def __bool__(self) -> Any:
        raise RuntimeError(_BOOL)

    def numpy(self, *, force: Any = False) -> Any:
        raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")

    tolist = numpy

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.numpy()

    def is_contiguous(self, memory_format: Any = None) -> bool:
        return self.value.is_contiguous()

    def __repr__(self) -> str:
        lines = repr(self.value).replace("\n", "\n    ")
        return f"BatchedTensor(lvl={self.level.number}, bdim=0, value=\n    {lines}\n)"


def _make(level: BatchLevel, value: Tensor, like: Tensor | None = None) -> Tensor:
    """A Batched tensor around `value`; with `like`, at the place in the graph of that tensor."""
    out = object.__new__(Batched)
    out.array, out.level, out.value = _sample(value.array), level, value
    out._grad = out.meta = None
    if like is None:
        out.edge, out.requires, out.view_meta, out.version = None, False, None, [0]
    else:
        out.edge, out.requires, out.view_meta, out.version = like.edge, like.requires, like.view_meta, like.version
    return out


class BatchLevel(Handler):
    """The handler of one vmap."""

    needs_tensors = True  # a backward pass inside must run on Tensors

    def __init__(self, size: int, randomness: str) -> None:
        self.size, self.randomness, self.looping, self.outer = size, randomness, False, state.vmap
        self.before = []  # a level may be entered again, by the backward pass of a custom Function
        self.number = 1 + (self.outer.number if self.outer else 0)

    def __enter__(self) -> Self:
        self.before.append((state.handlers, state.vmap, state.transforms))
        state.handlers, state.vmap, state.transforms = (*state.handlers, self), self, state.transforms + 1
        return self

    def __exit__(self, *exc: Any) -> None:
        state.handlers, state.vmap, state.transforms = self.before.pop()

    @contextlib.contextmanager
    def below(self) -> Iterator[Any]:
        """Context manager: as outside of this level, for work on values."""
        outer = state.handlers, state.vmap
        state.handlers = outer[0][: outer[0].index(self)] if self in outer[0] else outer[0]
        state.vmap = self.outer
        try:
            yield
        finally:
            state.handlers, state.vmap = outer

    def wrap(self, value: Any, dim: int) -> Tensor:
        """The Batched tensor for `value` with the batch at `dim`. Call it outside of the level."""
        return _make(self, value.movedim(dim, 0) if dim else value)

    def unwrap(self, out: Tensor, dim: int) -> Tensor:
        """The tensor with all samples, the batch at `dim`. Call it outside of the level."""
        if isinstance(out, Batched) and out.level is self:
            dim = wrap_dim(dim, out.value.array.ndim)
            return out.value.movedim(0, dim) if dim else out.value
        if type(out.array) is Sample and not out.batched:
            raise NumbersNeeded
        dim = wrap_dim(dim, out.ndim + 1)
        return out.unsqueeze(dim).expand(*out.shape[:dim], self.size, *out.shape[dim:])

    def holds(self, x: Any) -> bool:
        return isinstance(x, Batched) and x.level is self

    def __call__(self, op: Any, inputs: tuple[Any, ...], params: tuple[Any, ...]) -> Any:
        flat = inputs[0] if op.tensor_list else inputs
        _check_readable(flat, params)
        if not any([self.holds(x) for x in flat]):
            return op(*inputs, *params)
        flat = [wrap(np.asarray(x)) if isinstance(x, (ndarray, np.generic)) else x for x in flat]
        rule = batching_rule(op)
        out = rule(self, op, flat, params)
        tensors = [x if isinstance(x, Variable) else _constant(x, flat) for x in flat]
        return self.recorded(op, tensors, params, out)

    def recorded(
        self, op: Op, tensors: list[Any], params: tuple[Any, ...], out: Tensor | tuple[Tensor, ...]
    ) -> Tensor | tuple[Tensor, ...]:
        """`out`, the values of the results, as Batched tensors, with the operation recorded for one sample."""
        values = out if isinstance(out, tuple) else (out,)
        samples = [_sample(v.array).view(ndarray) for v in values]
        outputs = (samples[0] if op.single else tuple(samples), *([tensors] if op.tensor_list else tensors), *params)
        plain = op.record(*outputs)
        several = isinstance(plain, tuple)
        outs = tuple([_make(self, v, p) for v, p in zip(values, plain if several else (plain,), strict=True)])
        edge = next((o.edge for o in outs if o.edge is not None), None)
        if edge is not None and op.outputs is not ...:
            for name in edge[0].saves:
                if name in op.outputs:
                    setattr(edge[0], name, outs[op.outputs.index(name)].shell())
        return outs if several else outs[0]

    # What rules need ----------------------------------------------------------------------------------------------------

    def aligned(self, x: Any, ndim: int) -> Any:
        """`x` with the batch in front and one sample's shape filled up to `ndim` dimensions, or as it is if it has no batch."""
        if not self.holds(x):
            return x
        missing = ndim - x.array.ndim
        return x.value if missing <= 0 else shape.reshape(x.value, (self.size, *(1,) * missing, *x.array.shape))

    def full(self, x: Any) -> Tensor:
        """`x` with the batch in front, repeated if it has none."""
        if self.holds(x):
            return x.value
        x = x if isinstance(x, Variable) else wrap(np.asarray(x))
        return shape.expand(shape.unsqueeze(x, 0), (self.size, *x.array.shape))

    def at(self, x: Any, i: Any) -> Tensor | int | tuple[int, ...]:
        return shape.select(x.value, 0, i) if self.holds(x) else x

    # Random numbers -----------------------------------------------------------------------------------------------------

    def check_random(self, *arguments: Any) -> None:
        """Raise PyTorch's errors where random numbers cannot be drawn here, with these arguments."""
        if self.randomness == "error":
            raise RuntimeError(
                "vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' randomness "
                "flags on vmap or perform the randomness operation out of vmap"
            )
        if self.randomness == "same" and any([self.holds(x) for x in arguments]):
            raise RuntimeError(
                "Vmap does not currently support same randomness with a batched tensor input. Please file an issue with functorch"
            )

    def random(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, bool | dtypes.dtype | None]
    ) -> Tensor:
        """A random factory called inside this level."""
        self.check_random(*args, *kwargs.values())
        with self.below():
            if self.looping or self.randomness == "same":
                return function(*args, **kwargs)
            return _make(self, _drawn(function, self, args, kwargs))


def _constant(x: float, operands: list[Tensor | float]) -> Tensor:
    """A number or ndarray among the operands as a tensor, as the row records it."""
    return wrap(np.asarray(x)) if isinstance(x, (ndarray, np.generic)) else constant(x, dtypes.result_type(*operands))


def _drawn(
    function: Callable[..., Any],
    level: BatchLevel,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Tensor:
    """Different random numbers for each sample: PyTorch's order, all samples in one draw."""
    name, n = function.__name__, level.size
    if name in ("rand", "randn"):
        size: Any = args[0] if len(args) == 1 and not isinstance(args[0], (int, np.integer)) else args
        return function((n, *size), **kwargs)
    if name == "randint":
        bounds: Any = (
            (*args, *[kwargs.pop(k) for k in ("low", "high", "size")[len(args) :] if k in kwargs], None)[:3]
            if len(args) < 3
            else args
        )
        low, high, size = bounds
        if size is None:
            low, high, size = 0, low, high
        return function(low, high, (n, *size), **kwargs)
    if name in ("bernoulli", "multinomial"):
        return function(level.full(args[0]).clone(), *args[1:], **kwargs)
    return joins.stack([function(*[level.at(a, i) for a in args], **kwargs) for i in range(n)])


def _check_readable(inputs: Sequence[Any], params: tuple[Any, ...]) -> None:
    """Raise NumbersNeeded if the numbers of one sample got in as data."""
    for x in (*inputs, *params):
        if isinstance(x, Variable):
            if type(x.array) is Sample and not x.batched:
                raise NumbersNeeded
        elif type(x) is Sample or (type(x) is tuple and any([type(p) is Sample for p in x])):
            raise NumbersNeeded


# Batching rules: rule(level, op, inputs, params) -> the result's values, batch in front --------------------------------------


def _one_by_one(level: BatchLevel, op: Op, xs: list[Any], params: tuple[Any, ...]) -> Tensor | tuple[Tensor, ...]:
    """Any row: each sample in turn."""
    results = []
    for i in range(level.size):
        sample = [level.at(x, i) for x in xs]
        results.append(op(sample, *params) if op.tensor_list else op(*sample, *params))
    if not results:
        raise RuntimeError(f"vmap: {op.name} has no batching rule, and a batch of 0 samples leaves nothing to run.")
    if isinstance(results[0], tuple):
        return tuple([joins.stack(column) for column in zip(*results, strict=True)])
    return joins.stack(results)


def _elementwise(level: BatchLevel, op: Op, xs: Any, params: Any) -> Tensor:
    """Operands aligned from the right, in the dtype that one sample has (a number of each sample is still a number, not a vector)."""
    xs = [wrap(np.asarray(x)) if isinstance(x, (ndarray, np.generic)) else x for x in xs]
    ndim = max([x.array.ndim for x in xs if isinstance(x, Variable)])
    values = [level.aligned(x, ndim) for x in xs]
    if len(xs) > 1 and op.promoted:
        chosen = [i for i, name in enumerate(op.inputs) if name in op.promoted]
        common = dtypes.result_type(*[xs[i] for i in chosen])
        if op.floats and not common.is_floating_point:
            common = dtypes.get_default_dtype()
        for i in chosen:
            if isinstance(values[i], Variable) and values[i].array.dtype is not common.numpy:
                values[i] = shape.cast(values[i], common.numpy)
    return op(*values, *params)


_DIMS = ("dim", "dims", "dim0", "dim1", "dim2")


def _moved_on(level: BatchLevel, op: Op, xs: list[Any], params: tuple[Any, ...]) -> Tensor | tuple[Tensor, ...]:
    """One input, and all parameters that name dimensions mean the same ones, one further on."""
    x = xs[0]
    n = x.array.ndim
    dims = [p for name, p in zip(op.params, params, strict=False) if name in _DIMS]
    if any([p is None or (n == 0 and p != ()) for p in dims]):
        return _one_by_one(level, op, xs, params)
    return op(x.value, *[_plus_one(p, n) if name in _DIMS else p for name, p in zip(op.params, params, strict=False)])


def _plus_one(dim: Any, n: int) -> int | tuple[int, ...]:
    return tuple([d % n + 1 for d in dim]) if isinstance(dim, tuple) else dim % n + 1


def _same(level: BatchLevel, op: Op, xs: list[Any], params: tuple[Any, ...]) -> Tensor:
    """What the row does to one sample it does to many."""
    return op(xs[0].value, *params)


def _all_full(level: BatchLevel, op: Op, xs: list[Any], params: tuple[bool | str, ...]) -> Tensor | tuple[Tensor, ...]:
    """Rows that take any number of leading dimensions, equal in all inputs."""
    return op(*[level.full(x) for x in xs], *params)


def _full_moved_on(level: BatchLevel, op: Op, xs: list[Any], params: tuple[Any, ...]) -> Any:
    n = xs[0].array.ndim
    if n == 0:
        return _one_by_one(level, op, xs, params)
    return op(
        *[level.full(x) for x in xs],
        *[_plus_one(p, n) if name in _DIMS else p for name, p in zip(op.params, params, strict=False)],
    )


# What a row may name as its `batch`.
NAMED = {"dims": _moved_on, "same": _same, "full": _all_full, "full dims": _full_moved_on}


def batching_rule(op: Op) -> Callable[..., Any]:
    """How vmap runs the row: its own rule, one of those in NAMED, or by its kind."""
    if op.batch is not None:
        return NAMED[op.batch] if isinstance(op.batch, str) else op.batch
    return _elementwise if op.kind in (ELEMENTWISE, DISCRETE) else _one_by_one


def _rule(*ops: Any) -> Any:
    """Decorator: the batching rule of these rows, which are defined below this room and cannot name it themselves."""

    def register(function: Any) -> Any:
        for op in ops:
            op.batch = function
        return function

    return register


def _row(name: Any) -> Any:
    return TABLE[name]


@_rule(index.put_along_dim)
def _put_along_dim(level: BatchLevel, op: Op, xs: list[Any], params: tuple[Any, ...]) -> Any:
    dim, shape_ = params
    return (
        op(level.full(xs[0]), level.full(xs[1]), dim + 1, (level.size, *shape_))
        if len(shape_)
        else _one_by_one(level, op, xs, params)
    )


@_rule(shape.view, shape.unsafe_view)
def _reshape(level: BatchLevel, op: Op, xs: list[Any], params: tuple[Any, ...]) -> Tensor:
    return op(xs[0].value, (level.size, *params[0]))


@_rule(shape.t)
def _transpose(level: BatchLevel, op: Op, xs: list[Any], params: tuple[Any, ...]) -> Tensor:
    return shape.transpose(xs[0].value, 1, 2) if xs[0].array.ndim == 2 else shape.alias(xs[0].value)


@_rule(shape.expand)
def _expand(level: BatchLevel, op: Op, xs: list[Any], params: tuple[Any, ...]) -> Tensor:
    return shape.expand(level.aligned(xs[0], len(params[0])), (level.size, *params[0]))


@_rule(strided.strided)
def _strided(level: BatchLevel, op: Op, xs: list[Any], params: tuple[Any, ...]) -> Tensor:
    size, stride, start, _ = params
    _, offset, (step, *steps) = place_of(xs[0].value.array)
    reach, own_strides = [
        sum([(n - 1) * s for n, s in zip(*by, strict=True)]) for by in ((size, stride), (xs[0].array.shape, steps))
    ]
    if start < 0 or start + reach > own_strides:
        reached, owned = [[offset + start, offset + start + reach + 1], [offset, offset + own_strides + 1]]
        raise RuntimeError(
            f"result = tensor.as_strided({list(size)}, {list(stride)}, {offset + start}) can access memory outside of `tensor`. `result` "
            f"can access some memory in range {reached}, but `tensor` can only access some memory in range {owned}. This is not supported "
            "inside of vmap, please try to rewrite the `as_strided` call as a sequence of PyTorch view operations"
        )
    return op(xs[0].value, (level.size, *size), (step, *stride), start, (step, *steps))


@_rule(shape.permute)
def _permute(level: BatchLevel, op: Op, xs: list[Any], params: tuple[Any, ...]) -> Tensor:
    n = xs[0].array.ndim
    return op(xs[0].value, (0, *[d % n + 1 for d in params[0]]))


@_rule(shape.unsqueeze)
def _unsqueeze(level: BatchLevel, op: Op, xs: list[Any], params: tuple[int, ...]) -> Tensor:
    return op(xs[0].value, params[0] % (xs[0].array.ndim + 1) + 1)


@_rule(shape.squeeze)
def _squeeze(level: BatchLevel, op: Op, xs: list[Any], params: tuple[Any, ...]) -> Tensor:
    dims = tuple([d + 1 for d, n in enumerate(xs[0].array.shape) if n == 1])
    return shape.squeeze_dims(xs[0].value, dims) if dims else shape.alias(xs[0].value)


@_rule(linalg.solve_)
def _solve(level: BatchLevel, op: Op, xs: list[Any], params: Any) -> Tensor:
    A, B = xs
    vectors, n = linalg.are_vectors(A, B), max(A.ndim, B.ndim)
    if not vectors:
        return op(level.aligned(A, n), level.aligned(B, n))
    B = level.aligned(B, n - 1)
    X = op(level.aligned(A, n), shape.unsqueeze(B, B.ndim))
    return shape.squeeze_dim(X, X.ndim - 1)


@_rule(shape.diagonal_back, shape.unfold_back)
def _back(level: BatchLevel, op: Op, xs: list[Any], params: tuple[Any, ...]) -> Any:
    shape_, *rest = params
    if not shape_:
        return _one_by_one(level, op, xs, params)
    n = len(shape_)
    return op(
        xs[0].value,
        (level.size, *shape_),
        *[p % n + 1 if name in _DIMS else p for name, p in zip(list(op.params)[1:], rest, strict=True)],
    )


@_rule(shape.diag_embed_)
def _diag_embed(level: BatchLevel, op: Op, xs: list[Any], params: tuple[int, ...]) -> Tensor:
    offset, dim1, dim2 = params
    n = xs[0].array.ndim + 1
    return op(xs[0].value, offset, dim1 % n + 1, dim2 % n + 1)


@_rule(shape.repeat_)
def _repeat(level: BatchLevel, op: Op, xs: list[Any], params: tuple[Any, ...]) -> Tensor:
    return op(level.aligned(xs[0], len(params[0])), (1, *params[0]))


@_rule(shape.embed)
def _embed(level: BatchLevel, op: Op, xs: list[Any], params: tuple[Any, ...]) -> Tensor:
    shape_, key = params
    return op(xs[0].value, (level.size, *shape_), (slice(None), *key))


@_rule(shape.cat_, shape.stack_)
def _join(level: BatchLevel, op: Op, xs: list[Any], params: tuple[int, ...]) -> Tensor:
    return op([level.full(x) for x in xs], params[0] + 1)


@_rule(shape.copy, shape.fill_tensor)
def _copy(level: BatchLevel, op: Op, xs: list[Any], params: tuple[Any, ...]) -> Tensor:
    x, source = xs
    return op(level.full(x), level.aligned(source, x.array.ndim))


@_rule(reduce.sum_all, reduce.mean_all, reduce.max_all, reduce.min_all)
def _total(level: BatchLevel, op: Op, xs: list[Any], params: tuple[Any, ...]) -> Tensor:
    dims = tuple(range(1, xs[0].array.ndim + 1))
    if not dims:
        return shape.clone(xs[0].value)
    row = {
        reduce.sum_all: reduce.sum_dim,
        reduce.mean_all: reduce.mean_dim,
        reduce.max_all: reduce.amax_,
        reduce.min_all: reduce.amin_,
    }[op]
    return row(xs[0].value, dims, False)


@_rule(reduce.prod_all)
def _total_product(level: BatchLevel, op: Op, xs: list[Any], params: tuple[Any, ...]) -> Tensor:
    return reduce.prod_dim(shape.reshape(xs[0].value, (level.size, math.prod(xs[0].array.shape))), 1, False)


@_rule(linalg.dot_, linalg.vdot_)
def _dot(level: BatchLevel, op: Op, xs: list[Any], params: tuple[Any, ...]) -> Tensor:
    x, y = [level.aligned(x, 1) for x in xs]
    if level.holds(xs[0]) and level.holds(xs[1]):
        return reduce.sum_dim(elementwise.mul(x, y), (1,), False)
    return linalg.mv_(x, y) if level.holds(xs[0]) else linalg.mv_(y, x)


@_rule(linalg.mv_)
def _mv(level: BatchLevel, op: Op, xs: list[Any], params: tuple[Any, ...]) -> Tensor:
    x, y = xs
    if not level.holds(x):
        return linalg.mm_(y.value, shape.t(x))
    column = shape.unsqueeze(y.value if level.holds(y) else y, 1 + level.holds(y))
    return shape.squeeze_dim(linalg.bmm_n(x.value, column), 2)


@_rule(linalg.mm_, linalg.bmm_, linalg.bmm_n)
def _mm(level: BatchLevel, op: Op, xs: list[Any], params: Any) -> Tensor:
    ndim = max(x.array.ndim for x in xs)
    x, y = [level.aligned(x, ndim) for x in xs]
    if x.array.ndim == 3 and y.array.ndim == 2:  # one product of matrices
        b, n, k = x.array.shape
        return shape.reshape(linalg.mm_(shape.reshape(x, (b * n, k)), y), (b, n, y.array.shape[1]))
    return linalg.bmm_n(x, y)


@_rule(linalg.addmm_, linalg.addmv_, linalg.baddbmm_, lookup.addmm_)
def _add_product(level: BatchLevel, op: Op, xs: list[Any], params: Any) -> Tensor:
    x, a, b = xs
    beta, alpha = params or (1, 1)
    row = {
        linalg.addmm_: linalg.mm_,
        lookup.addmm_: linalg.mm_,
        linalg.addmv_: linalg.mv_,
        linalg.baddbmm_: linalg.bmm_,
    }[op]
    ndim = {linalg.addmm_: 2, lookup.addmm_: 2, linalg.addmv_: 1, linalg.baddbmm_: 3}[op]
    product = row.batch(level, row, [a, b], ()) if level.holds(a) or level.holds(b) else row(a, b)
    return _scaled(level.aligned(x, ndim), beta) + _scaled(product, alpha)


def _scaled(x: Any, number: float) -> Tensor:
    return x if number == 1 else x * number


@_rule(index.index_)
def _index(level: BatchLevel, op: Op, xs: list[Any], params: tuple[Any, ...]) -> Tensor:
    (indices,) = params
    out = op(xs[0].value, (slice(None), *indices))
    k = _separated(indices)
    return views.movedim(out, k, 0) if k else out


@_rule(index.index_backward)
def _index_backward(level: BatchLevel, op: Op, xs: list[Any], params: tuple[Any, ...]) -> Tensor:
    indices, shape_ = params
    k = _separated(indices)
    g = views.movedim(xs[0].value, 0, k) if k else xs[0].value
    return op(g, (slice(None), *indices), (level.size, *shape_))


@_rule(index.index_put)
def _index_put(level: BatchLevel, op: Op, xs: list[Any], params: tuple[Any, ...]) -> Tensor:
    indices, accumulate = params
    x, values = xs
    place = np.empty(x.array.shape, np.bool_)[indices].shape
    values = shape.expand(
        level.aligned(values, len(place)) if isinstance(values, Variable) else wrap(np.asarray(values)),
        (level.size, *place),
    )
    k = _separated(indices)
    return op(level.full(x), views.movedim(values, 0, k) if k else values, (slice(None), *indices), accumulate)


def _separated(indices: tuple[np.ndarray | slice, ...]) -> int:
    """numpy puts the picked dimensions in front where slices separate the indices: how many they are, else 0."""
    places = [i for i, k in enumerate(indices) if isinstance(k, ndarray)]
    if not places or places[-1] - places[0] + 1 == len(places):
        return 0
    masks = [k for k in indices if isinstance(k, ndarray)]
    return np.broadcast(*masks).ndim if len(masks) > 1 else masks[0].ndim


@_rule(index.masked_fill_number, index.masked_fill_tensor)
def _masked_fill(level: BatchLevel, op: Op, xs: list[Any], params: tuple[float, ...]) -> Tensor:
    ndim = max([x.array.ndim for x in xs])
    return op(*[level.aligned(x, ndim) for x in xs], *params)


@_rule(losses.mse_loss_, losses.smooth_l1_loss_, losses.huber_loss_, losses.bce_, losses.bce_logits_)
def _loss(level: BatchLevel, op: Op, xs: list[Any], params: tuple[Any, ...]) -> Tensor:
    reduction, *more = params
    ndim = max(x.array.ndim for x in xs)
    values = op(*[level.aligned(x, ndim) if level.holds(x) else x for x in xs], "none", *more)
    dims = tuple(range(1, values.array.ndim))
    if reduction == "none" or not dims:
        return values
    return (reduce.mean_dim if reduction == "mean" else reduce.sum_dim)(values, dims, False)


def _merged(x: Tensor) -> Tensor:
    """Batch and samples as one dimension."""
    b, n, *rest = x.array.shape
    return shape.reshape(x, (b * n, *rest))


def _split_again(out: Tensor | tuple[Tensor, ...], level: BatchLevel) -> Tensor | tuple[Tensor, ...]:
    outs = [
        shape.reshape(o, (level.size, o.array.shape[0] // level.size, *o.array.shape[1:]))
        for o in (out if isinstance(out, tuple) else (out,))
    ]
    return tuple(outs) if isinstance(out, tuple) else outs[0]


@_rule(convolution.convolution, convolution.convolution_bias, convolution.conv_transpose)
def _convolution(level: BatchLevel, op: Op, xs: list[Any], params: tuple[Any, ...]) -> Any:
    if any([level.holds(x) for x in xs[1:]]):
        return _one_by_one(level, op, xs, params)
    return _split_again(op(_merged(xs[0].value), *xs[1:], *params), level)


@_rule(*pooling.MAX_POOL.values(), *pooling.ADAPTIVE_MAX_POOL.values(), pooling.max_take, convolution.im2col)
def _samples_merged(level: BatchLevel, op: Op, xs: list[Any], params: tuple[Any, ...]) -> Tensor | tuple[Tensor, ...]:
    return _split_again(op(*[_merged(level.full(x)) for x in xs], *params), level)


@_rule(lookup.embedding_)
def _embedding(level: BatchLevel, op: Op, xs: list[Any], params: tuple[int | None, ...]) -> Any:
    weight, indices = xs
    return _one_by_one(level, op, xs, params) if level.holds(weight) else op(weight, indices.value, *params)


@_rule(_row("softmax_backward_data"), _row("log_softmax_backward_data"))
def _softmax_slope(level: BatchLevel, op: Op, xs: list[Any], params: tuple[int, ...]) -> Any:
    dim = params[0] % max(xs[1].array.ndim, 1)
    return op(*[level.full(x) for x in xs], dim + 1) if xs[1].array.ndim else _one_by_one(level, op, xs, params)


@_rule(_row("native_layer_norm"))
def _layer_norm(level: BatchLevel, op: Op, xs: list[Any], params: tuple[Any, ...]) -> Any:
    x, weight, bias = xs
    if level.holds(weight) or level.holds(bias):
        return _one_by_one(level, op, xs, params)
    arranged, axes, affine, eps = params
    return op(x.value, weight, bias, (level.size, *arranged), tuple([a + 1 for a in axes]), affine, eps)
