"""What an error is about, as fields: `error.minigrad.facts`.

The sentence of an error is PyTorch's and may change with PyTorch. Code that explains an error (widgets/explain) reads these fields instead.
A class without fields only says which error it is.
"""

from __future__ import annotations

from typing import Any, dataclass_transform

Shape = tuple[int, ...]


@dataclass_transform(frozen_default=True)
class Fact:
    """A record whose fields are the annotations of its class. Type checkers see a dataclass.

    It is none, because making fifty dataclasses takes 25 ms of every import of minigrad.
    """

    def __init__(self, *values: Any, **named: Any) -> None:
        vars(self).update(zip(type(self).__annotations__, values, strict=False), **named)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and vars(other) == vars(self)

    def __hash__(self) -> int:
        return hash((type(self), *vars(self).values()))


class SavedOverwritten(Fact):
    """A tensor that a node saved was written to since."""

    node: str
    slot: str  # what the node calls it: "out" is its own result
    shape: Shape
    version: int
    expected: int


class FirstNan(Fact):
    """A gradient that is not finite, and all before it were. `code`: the forward line, where anomaly mode kept it."""

    node: str
    output: int
    code: str = ""


class UnusedInputs(Fact):
    """Of the inputs that gradients were asked for, which had a part in the result."""

    inputs: tuple
    used: tuple[bool, ...]


class ShapesDiffer(Fact):
    """Shapes that do not broadcast. `sizes`: the two that clash."""

    shapes: tuple[Shape, ...]
    sizes: tuple[int, int]


class ProductMismatch(Fact):
    """A matrix product whose inner sizes differ. A vector has one size."""

    left: Shape
    right: Shape


class LayerWidth(Fact):
    """An input with another number of features than the layer takes."""

    features: int
    shape: Shape


class NotContiguous(Fact):
    """A view whose shape the strides do not allow."""

    shape: Shape
    strides: Shape


class SeedShape(Fact):
    """A starting gradient of another shape than the output."""

    output: Shape
    given: Shape


class GradientCount(Fact):
    """A custom backward that returned too few or too many gradients."""

    function: str
    expected: int
    got: int


class GradientShape(Fact):
    """A custom backward that returned a gradient of another shape than its input."""

    function: str
    index: int
    got: Shape
    expected: Shape


class JacobianMismatch(Fact):
    """gradcheck's finding; the entry that differs most, and what both ways give there."""

    output: int
    input: int
    where: str
    analytic: float
    numeric: float


# The graph


class NoGraph(Fact):
    """A backward pass was started from a tensor that has no graph."""


class GraphFreed(Fact):
    """A second backward pass through nodes that have freed their saved tensors."""


class SeedMissing(Fact):
    """A backward pass from several numbers without a starting gradient."""

    shape: Shape


class SeedType(Fact):
    """A starting gradient that is no tensor."""

    type: str


class InputWithoutGradient(Fact):
    """`autograd.grad` with respect to a tensor that does not require gradients."""


class FlagOfResult(Fact):
    """`requires_grad = False` for a tensor that an operation computed."""


class NoGradientToObserve(Fact):
    """retain_grad or a hook on a tensor that does not require gradients."""

    method: str  # "retain_grad" or "register_hook"


class ResultCopied(Fact):
    """deepcopy of a tensor that an operation computed."""


class InferenceTensor(Fact):
    """A tensor made in inference mode, used where autograd needs its version."""


class GraphCycle(Fact):
    """A node that is its own ancestor."""


# Numbers, kinds of numbers, conversions


class ConvertedToNumpy(Fact):
    """numpy() of a tensor that requires gradients."""


class AmbiguousTruth(Fact):
    """bool() of a tensor that does not hold exactly one number."""

    size: int


class NotOneNumber(Fact):
    """A Python number was requested from a tensor with another number of elements."""

    size: int


class NotDifferentiable(Fact):
    """requires_grad for a dtype that has no derivatives."""

    dtype: str


class DtypesDiffer(Fact):
    """A product of tensors with different dtypes: two of these, under their C++ names."""

    first: str
    second: str


class NotANumber(Fact):
    """A Value was made from something that is no single plain number. `advice`: what to write instead."""

    type: str
    advice: str


class ArgumentType(Fact):
    """An argument that must be a tensor and is none. `position` counts from 1."""

    function: str
    position: int
    type: str


class NoCuda(Fact):
    """A CUDA device was requested."""


# Writes


class LeafWritten(Fact):
    """A recorded write into a leaf that requires gradients."""


class LeafViewWritten(Fact):
    """A recorded write into a view of such a leaf."""


class MultipleViewWritten(Fact):
    """A recorded write into one of several views that one operation returned."""


class OverlapWritten(Fact):
    """A write into a tensor whose elements share memory, such as an expanded one."""


class CastWritten(Fact):
    """The result of an in-place operation has a dtype that its tensor cannot hold."""

    result: str
    tensor: str


class ShapeWritten(Fact):
    """The result of an in-place operation has another shape than its tensor."""

    tensor: Shape
    result: Shape


# Shapes and positions


class SizeMismatch(Fact):
    """A reshape to a shape with another number of elements. A size of -1 is the one to compute."""

    count: int
    shape: Shape


class CatMismatch(Fact):
    """cat of tensors that differ in another dimension than `dim`."""

    dim: int


class StackMismatch(Fact):
    """stack of tensors with different shapes."""


class IndexOutOfBounds(Fact):
    """A position that the dimension does not have."""

    index: int
    dim: int
    size: int


class TooManyIndices(Fact):
    """More indices than dimensions."""

    ndim: int


class NoDimension(Fact):
    """len() of a 0-d tensor, or iteration over one."""


# Functions, optimisers, modules


class SavedType(Fact):
    """save_for_backward with something that is no tensor. `index` counts from 0."""

    index: int
    type: str


class FunctionCalled(Fact):
    """An autograd Function was called instead of applied."""


class OnceDifferentiable(Fact):
    """A second derivative of a backward that is marked with @once_differentiable."""


class NoParameters(Fact):
    """An optimiser without parameters."""


class ResultOptimised(Fact):
    """An optimiser for a tensor that an operation computed."""


class ParametersType(Fact):
    """An optimiser for something that is no collection of tensors."""


class ModuleNotReady(Fact):
    """An attribute of a Module was assigned before Module.__init__ ran. `assigned`: "parameter", "buffer" or "module"."""

    assigned: str


class BatchMismatch(Fact):
    """A loss of predictions for one number of samples and targets for another."""

    predictions: int
    targets: int


class ClassType(Fact):
    """Class numbers, or rows of a table, that are not whole numbers."""

    dtype: str


class ClassOutOfRange(Fact):
    """A class, or a row of a table, that does not exist."""


class StateMismatch(Fact):
    """A state dictionary of another model. `sizes`: name, shape in the dictionary, shape in the model."""

    model: str
    missing: tuple[str, ...]
    unexpected: tuple[str, ...]
    sizes: tuple[tuple[str, Shape, Shape], ...]


class ChannelMismatch(Fact):
    """A convolution of an image with another number of channels than the kernel takes."""

    weight: Shape
    input: Shape
    channels: int
