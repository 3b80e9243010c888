"""What an error is about, as fields: `error.minigrad.facts`. The sentence is PyTorch's; whoever explains an error reads these instead."""

from dataclasses import dataclass

Shape = tuple[int, ...]


@dataclass(frozen=True)
class SavedOverwritten:
    """A tensor that a node saved was written to since."""

    node: str
    slot: str  # what the node calls it: "out" is its own result
    shape: Shape
    version: int
    expected: int


@dataclass(frozen=True)
class FirstNan:
    """A gradient that is not finite, and all before it were. `code`: the forward line, where anomaly mode kept it."""

    node: str
    output: int
    code: str = ""


@dataclass(frozen=True)
class UnusedInputs:
    """Of the inputs that gradients were asked for, which had a part in the result."""

    inputs: tuple
    used: tuple[bool, ...]


@dataclass(frozen=True)
class ShapesDiffer:
    """Shapes that do not broadcast. `sizes`: the two that clash."""

    shapes: tuple[Shape, ...]
    sizes: tuple[int, int]


@dataclass(frozen=True)
class ProductMismatch:
    """A matrix product whose inner sizes differ. A vector has one size."""

    left: Shape
    right: Shape


@dataclass(frozen=True)
class LayerWidth:
    """An input with another number of features than the layer takes."""

    features: int
    shape: Shape


@dataclass(frozen=True)
class NotContiguous:
    """A view whose shape the strides do not allow."""

    shape: Shape
    strides: Shape


@dataclass(frozen=True)
class SeedShape:
    """A starting gradient of another shape than the output."""

    output: Shape
    given: Shape


@dataclass(frozen=True)
class GradientCount:
    """A custom backward that returned too few or too many gradients."""

    function: str
    expected: int
    got: int


@dataclass(frozen=True)
class GradientShape:
    """A custom backward that returned a gradient of another shape than its input."""

    function: str
    index: int
    got: Shape
    expected: Shape


@dataclass(frozen=True)
class JacobianMismatch:
    """gradcheck's finding; the entry that differs most, and what both ways give there."""

    output: int
    input: int
    where: str
    analytic: float
    numeric: float
