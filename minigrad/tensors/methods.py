"""The methods of Tensor that only hand on: each is the function of its family with the tensor first.

What lives here: the table of their names, and how a name becomes a method. What does not: what they compute (ops/), and the methods that
do something of their own (tensor.py). methods.pyi is written from here by `python -m tools.stub`, for editors and type checkers.
"""

from __future__ import annotations

import functools
import inspect
import linecache
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..autograd import inplace
from ..core import dtypes, errors, permissions
from ..core.arguments import forgiving
from ..core.constants import constant, numbers
from ..core.devices import row_by_row
from ..core.dispatch import state
from ..core.op import DISCRETE, Op
from ..core.variable import Variable, wrap
from ..ops import einsum, elementwise, index, linalg, neural, order, reduce, scan, shape, statistics, strided, views
from . import indexing

if TYPE_CHECKING:
    from .tensor import Tensor

# The methods of each module; `method=function` where the names differ.
FAMILIES = {
    elementwise: """
        div=divide pow neg exp log sqrt square reciprocal sin cos tanh sigmoid relu abs sign maximum minimum clamp exp2 expm1
        log1p log2 log10 rsqrt tan asin acos atan sinh cosh asinh acosh atanh erf floor ceil trunc round logit atan2 floor_divide
        remainder fmod lerp addcmul addcdiv clamp_min clamp_max nan_to_num float_power fmax fmin signbit positive sgn clip=clamp
        absolute=abs negative=neg fix=trunc arctan2=atan2 arcsin=asin arccos=acos arctan=atan arcsinh=asinh arccosh=acosh arctanh=atanh
        divide true_divide=divide eq ne lt le gt ge greater=gt greater_equal=ge less=lt less_equal=le not_equal=ne logical_and
        logical_or logical_xor logical_not bitwise_and bitwise_or bitwise_xor bitwise_not __invert__=bitwise_not __neg__=neg
        __pos__=positive __abs__=abs isinf isnan isfinite isclose allclose equal hypot logaddexp logaddexp2 xlogy erfc
        lgamma digamma sinc deg2rad rad2deg copysign frac isposinf isneginf bitwise_left_shift bitwise_right_shift ldexp gcd lcm heaviside
        nextafter""",
    reduce: """
        sum mean max min amax amin prod var std median aminmax nansum any all argmax argmin count_nonzero norm logsumexp""",
    scan: "cumsum cumprod cummax cummin logcumsumexp",
    statistics: """
        nanmean nanmedian quantile nanquantile cov corrcoef diff histc histogram mode renorm dist unique_consecutive msort""",
    neural: "softmax log_softmax",
    linalg: """
        matmul mm mv dot bmm outer ger=outer addmm addbmm addmv baddbmm vdot slogdet matrix_power inverse=inv det logdet trace cross
        addr pinverse=pinv cholesky_solve cholesky_inverse""",
    einsum: "inner kron",
    views: """
        transpose=transpose_checked swapaxes swapdims t=t_checked squeeze=squeeze_checked unsqueeze=unsqueeze_checked unbind
        flatten ravel unflatten movedim moveaxis=movedim broadcast_to=expand_checked split chunk fliplr flipud roll rot90 tril triu
        diagonal diag diag_embed narrow unfold diagflat split_with_sizes unsafe_split unsafe_split_with_sizes
        unsafe_chunk tensor_split hsplit vsplit dsplit
        select_scatter slice_scatter diagonal_scatter""",
    index: """
        repeat_interleave gather take_along_dim take scatter scatter_add index_select index_add index_copy index_fill masked_fill
        masked_select masked_scatter scatter_reduce put""",
    order: "sort argsort topk kthvalue nonzero argwhere bincount unique",
    strided: "as_strided=as_strided_",
    indexing: "select=select_",
}
# Their one argument may be given as several integers: x.view(2, 3). `method=function:keyword`
SPREAD = {
    shape: "reshape:shape",
    views: """
        view=view_as_shape:size permute=permute_checked:dims expand=expand_checked:size repeat:repeats tile:dims flip:dims
        sum_to_size:size""",
}
# Operators of which the other side may be a number.
OPERATORS = """
    __add__=add __radd__=add __mul__=mul __rmul__=mul __truediv__=div __eq__=eq __ne__=ne __lt__=lt __le__=le __gt__=gt
    __ge__=ge"""
# The same for functions and for rows of whole numbers, which take the number as it is.
OTHER_OPERATORS = """
    __and__=bitwise_and __rand__=bitwise_and __or__=bitwise_or __ror__=bitwise_or __xor__=bitwise_xor __rxor__=bitwise_xor
    __floordiv__=floor_divide __mod__=remainder __lshift__=bitwise_left_shift __rshift__=bitwise_right_shift __pow__=pow"""
# Reflected operators: the number or the array comes first.
REFLECTED = """
    __rfloordiv__=floor_divide __rmod__=remainder __rlshift__=bitwise_left_shift __rrshift__=bitwise_right_shift __rpow__=pow"""
# Operators that write into the tensor. An ndarray is left to the operator that makes a new tensor, as in PyTorch.
WRITING_OPERATORS = """
    __iadd__=add_ __isub__=sub_ __imul__=mul_ __itruediv__=div_ __ifloordiv__=floor_divide_ __imod__=remainder_ __ipow__=pow_
    __iand__=bitwise_and_ __ior__=bitwise_or_ __ixor__=bitwise_xor_ __ilshift__=bitwise_left_shift_ __irshift__=bitwise_right_shift_"""
# A method with one of these arguments takes their second names, too (core/arguments.py).
SECOND_NAMES = {"dim", "keepdim", "indices_or_sections"}
LOOKED_AT = SECOND_NAMES | {"other", "end", "tensor1", "values", "mat2", "vec", "vec2", "source", "index", "mask"}
# Other dtypes.
CONVERSIONS = (
    "float=float32 double=float64 half=float16 long=int64 int=int32 short=int16 char=int8 byte=uint8 bool=bool_"
)
# Methods whose name with an underscore writes the result into the tensor.
IN_PLACE = """
    neg div pow exp log sqrt sin cos tanh sigmoid relu abs clamp clamp_min clamp_max clip sign exp2 expm1 log1p log2 log10 rsqrt
    reciprocal square tan asin acos atan sinh cosh asinh acosh atanh erf floor ceil trunc remainder fmod floor_divide atan2 round lerp
    addcmul addcdiv divide true_divide masked_fill masked_scatter scatter scatter_add index_add index_copy index_fill tril triu cumsum
    cumprod hypot xlogy erfc sinc deg2rad rad2deg copysign frac negative absolute arcsin arccos arctan arctan2 arcsinh arccosh
    arctanh fix logit nan_to_num float_power renorm scatter_reduce addbmm addmm addmv addr baddbmm sgn eq ne lt le gt ge greater
    greater_equal less less_equal not_equal logical_and logical_or logical_xor logical_not bitwise_and bitwise_or bitwise_xor
    bitwise_not bitwise_left_shift bitwise_right_shift ldexp put lgamma digamma gcd lcm heaviside nextafter""".split()


def number_first(op: Op, x: Tensor, other: Any) -> Any:
    """op(x, other) where `other` is no Tensor. NotImplemented unless it is a number or ndarray: then Python names the two types."""
    tensors = numbers.get(type(other))
    if tensors is not None:
        tensor = tensors.get((other, x.array.dtype.char))
        if tensor is not None and other and x.array.dtype.kind == "f":
            return op.call(x, tensor)
    if isinstance(other, (int, float, np.generic)):
        return op.call(x, constant(other, dtypes.FROM_NUMPY[x.array.dtype]) if x.array.dtype.kind == "f" else other)
    return with_array(op, x, other) if isinstance(other, np.ndarray) else NotImplemented


def other_first(function: Callable[..., Any], x: Tensor, other: Any) -> Any:
    """function(x, other) for an operator: number_first for functions that take numbers themselves."""
    if isinstance(other, (int, float, np.generic, Variable)):
        return function(x, other)
    return with_array(function, x, other) if isinstance(other, np.ndarray) else NotImplemented


def with_array(function: Callable[..., Any], x: Tensor, array: np.ndarray) -> Tensor:
    """function(x, array) for an operator between a tensor and an ndarray. As in PyTorch, the result is a new tensor of the dtype that numpy
    gives: float32 and int64 become float64."""
    if x.requires_grad and state.grad:
        permissions.allow("array and gradient", errors.numpy_of_recorded())
    array = dtypes.native(array)
    common = np.result_type(x.array.dtype, array.dtype)
    if function is elementwise.div and common.kind != "f":
        common = np.dtype(np.float64)
    return function(x.to(dtypes.FROM_NUMPY[common]), wrap(array.astype(common, copy=False)))


def _entries(text: Any) -> Iterator[Any]:
    """(method, function, keyword) of each word."""
    for word in text.split():
        word, _, keyword = word.partition(":")
        name, _, function = word.partition("=")
        yield name, function or name, keyword


def signature_of(function: Any) -> Any:
    """The function's signature as a method's: its first parameter is `self`."""
    if isinstance(function, Op):
        parameters = [
            inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD)
            for n in (*function.args[1:], *function.params)
        ]
    else:
        parameters = [*inspect.signature(function).parameters.values()][1:]
    return inspect.Signature([inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD), *parameters])


def _forwarding(name: Any, where: Any, function: Any) -> Any:
    """The text of a method that calls a row."""
    names = [*function.args[1:], *function.params]
    call = f"{where}({', '.join(['self', *names])})" if names else f"{where}.call(self)"
    return f"def {name}{signature_of(function)}:\n    return {call}\n"


def _operator(name: Any, where: Any) -> Any:
    """The text of an operator: of two tensors quick, of a tensor and something else by number_first."""
    return (
        f"def {name}(self, other):\n"
        f"    return {where}.call(self, other) if isinstance(other, Variable) else number_first({where}, self, other)\n"
    )


def _other_operator(name: Any, where: Any) -> Any:
    """The text of an operator of which the other side is a tensor, a number or an ndarray."""
    return (
        f"def {name}(self, other):\n"
        f"    return {where}(self, other) if isinstance(other, Variable) else other_first({where}, self, other)\n"
    )


def _reflected(name: Any, where: Any) -> Any:
    """The text of an operator whose left side is a number or an ndarray."""
    return f"def {name}(self, other):\n    return other_first(lambda x, y: {where}(y, x), self, other)\n"


def _writing_operator(name: Any, method: Any) -> Any:
    """The text of an operator that writes into the tensor."""
    return (
        f"def {name}(self, other):\n    return NotImplemented if isinstance(other, ndarray) else self.{method}(other)\n"
    )


def _in_place(name: Any, where: Any, function: Any) -> Any:
    """The text of a method that writes the function's result into the tensor."""
    parameters = [*signature_of(function).parameters.values()][1:]
    named = "".join([f", {p.name}={p.name}" for p in parameters if p.kind == p.KEYWORD_ONLY])
    if isinstance(function, Op) and function.kind == DISCRETE:  # no gradient flows to the overwritten numbers
        result = f"{where}({', '.join(['self', *[p.name for p in parameters]])})"
        if name.startswith("bitwise_") or name in ("gcd", "lcm"):  # numbers, not truth values: they must fit
            result = f"fitting(self, {result})"
        return f"def {name}_{signature_of(function)}:\n    return copy_(self, {result})\n"
    arguments = [
        f"partial({where}{named})" if named else where,
        *[p.name for p in parameters if p.kind != p.KEYWORD_ONLY],
    ]
    return f"def {name}_{signature_of(function)}:\n    return write(self, {', '.join(arguments)})\n"


def _spread(name: Any, function: Any, keyword: Any) -> Any:
    """A method for sizes or dimensions given one by one, as a sequence, or by keyword."""

    @functools.wraps(function)
    def method(self: Any, *arguments: Any, **named: Any) -> Tensor:
        if named:
            if name == "view" and [*named] == ["dtype"] and not arguments:
                named = {keyword: named["dtype"]}
            if arguments or [*named] != [keyword]:
                raise TypeError(
                    f"{name}() takes integers, or one argument '{keyword}', not {', '.join([*map(repr, arguments), *named])}"
                )
            arguments = (named[keyword],)
        if len(arguments) == 1 and isinstance(arguments[0], dtypes.dtype):
            arguments = arguments[0]  # x.view(torch.int32)
        elif len(arguments) == 1 and not hasattr(arguments[0], "__index__"):
            if isinstance(arguments[0], str) or not hasattr(arguments[0], "__iter__"):
                sentence = f"{name}(): argument '{keyword}' (position 1) must be tuple of ints, not {errors.type_name(arguments[0])}"
                raise errors.new(TypeError, sentence)
            arguments = tuple(arguments[0])
        return function(self, arguments)

    first, rest = (
        inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY),
        inspect.Parameter(keyword, inspect.Parameter.VAR_POSITIONAL),
    )
    method.__signature__ = inspect.Signature([first, rest])
    return method


def _table() -> Any:
    """The methods by name. Rows, operators and writes are written out as one text, which tracebacks show; functions are methods already."""
    methods, text, docs = {}, [], {}
    scope = {"Variable": Variable, "number_first": number_first, "dtypes": dtypes, "partial": functools.partial}
    scope.update(other_first=other_first, ndarray=np.ndarray, fitting=inplace.fitting)
    scope.update(write=inplace.write, copy_=inplace.copy_, row_by_row=row_by_row)
    for module, words in FAMILIES.items():
        family = "_" + module.__name__.rpartition(".")[2]  # no parameter has this name
        scope[family] = module
        for name, origin, _ in _entries(words):
            if name in docs:
                raise TypeError(f"the table of methods has '{name}' twice, the second time in {family[1:]}.")
            function = docs[name] = getattr(module, origin)
            if isinstance(function, Op):
                text.append(_forwarding(name, f"{family}.{origin}", function))
            else:  # some arguments have a second name, and some must be tensors
                methods[name] = (
                    forgiving(function, name) if LOOKED_AT & {*signature_of(function).parameters} else function
                )
            if name in IN_PLACE:
                text.append(_in_place(name, f"{family}.{origin}", function))
                docs[name + "_"] = function
    text += [_operator(name, f"_elementwise.{row}") for name, row, _ in _entries(OPERATORS)]
    text += [_other_operator(name, f"_elementwise.{function}") for name, function, _ in _entries(OTHER_OPERATORS)]
    text += [_reflected(name, f"_elementwise.{function}") for name, function, _ in _entries(REFLECTED)]
    text += [_writing_operator(name, method) for name, method, _ in _entries(WRITING_OPERATORS)]
    text += [
        f"def {name}(self, *, memory_format=None):\n    row_by_row(memory_format, {name!r})\n"
        f"    return self.to(dtypes.{kind}, memory_format=memory_format)\n"
        for name, kind, _ in _entries(CONVERSIONS)
    ]
    source = "\n".join(text)
    linecache.cache[FILENAME] = (len(source), None, source.splitlines(True), FILENAME)
    compiled = {}
    exec(compile(source, FILENAME, "exec"), scope, compiled)  # noqa: S102
    for name, function in compiled.items():
        function.__doc__ = docs[name].__doc__ if name in docs else None
    for name, kind, _ in _entries(CONVERSIONS):
        compiled[name].__doc__ = f"The numbers as {getattr(dtypes, kind)}."
    for module, words in SPREAD.items():
        methods.update(
            {name: _spread(name, getattr(module, function), keyword) for name, function, keyword in _entries(words)}
        )
    return {**methods, **compiled}


FILENAME = "<minigrad methods>"
Methods = type("Methods", (Variable,), {"__slots__": (), "__module__": __name__, **_table()})
