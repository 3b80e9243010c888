"""The keywords of a row beside its rules, in three groups: how it checks arguments, how it is recorded, and facts for other rooms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class ArgumentOptions:
    """The arguments that an operation accepts, and PyTorch's errors for all others.

    args          the names that callers may use for the inputs; PyTorch's `input`, `other` by default
    floats        True: integer inputs become the default float dtype first (sin, div)
    bools         False: True and False are refused, as in PyTorch, where numpy would compute
    refuses       (characters of numpy's dtypes, PyTorch's name of the kernel): dtypes that numpy has and PyTorch's kernel does not
    one_dtype     the inputs are not promoted but must share a dtype: {"x y": PyTorch's sentence if the dtypes of x and y differ}, with
                  {x} for Float and {x_c} for float
    tensors_only  True: PyTorch takes no number in the place of a tensor; minigrad does, and warns (permissions.py)
    tensor_list   True: the one input is a sequence of tensors (cat); its rule returns as many gradients; `x_shape` is a tuple of shapes
    """

    __slots__ = ()
    args: Any = None
    floats: bool = False
    bools: bool = True
    refuses: tuple[str, str] | None = None
    one_dtype: dict[str, str] | None = None
    tensors_only: bool = False
    tensor_list: bool = False


class GraphOptions:
    """How an operation is recorded and differentiated.

    node           the name of its grad_fn, if that is not NameBackward0
    view           True: forward returns a numpy view, and the result is a view in PyTorch's sense
    outputs        their names; with more than one, forward returns a tuple and a rule's `g` is the gradient of the first. A rule whose
                   first parameter is `gs` gets the list of all gradients (None where there is none). `outputs=...`: as many as forward
                   returns, rules get `gs`
    jvp            forward mode, where the kind does not define it: jvp(t, <saves>), `t` the tangent of the one input, or `ts` the list of
                   tangents (None for constants); returns the tangent of the (first) output
    joint_rule     one rule that returns the gradients of all inputs as a tuple. It is used if every input needs its gradient, where the
                   rules would repeat the same work. It saves nothing that the rules do not save
    tensor_params  parameters that hold tensors (the indices of index): freed after the backward pass like all saved values
    saved_as       PyTorch's names for `_saved_*` where they differ: {"x": "self"} is understood
    """

    __slots__ = ()
    node: str | None = None
    view: bool = False
    outputs: Any = ("out",)
    jvp: Callable[..., Any] | None = None
    joint_rule: Callable[..., Any] | None = None
    tensor_params: tuple[str, ...] = ()
    saved_as: dict[str, str] | None = None


class TextOptions:
    """Facts about an operation for other rooms, so that none of them lists operations by name.

    formula  how it is written, as Python source over its inputs: "x * y". Pictures, `minigrad.compile` and `Value` read it
    words    {input: what its rule does to g, in words} for rules that are no short formula: {"x": "g where {x} > 0, else 0"}
    fused    the source of the compiled loop (compiler.py) where formula and rules are not it: (result, gradient of each input)
    batch    the batching rule (func/batching.py) if vmap should not run the samples one by one; elementwise rows need none
    doc      the docstring, if that of the function on ndarrays does not do
    """

    __slots__ = ()
    formula: str | None = None
    words: Any = None
    fused: tuple[str, ...] | None = None
    batch: Any = None
    doc: str | None = None


OPTIONS = frozenset([name for group in (ArgumentOptions, GraphOptions, TextOptions) for name in group.__annotations__])
