"""The devices "cpu" and "meta", memory formats and layouts; every other device raises."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from . import errors
from .facts import NoCuda

if TYPE_CHECKING:
    pass


class device:
    """torch.device("cpu"), or "meta" for tensors without numbers (meta.py). Raises AssertionError for "cuda" and RuntimeError for other
    names: minigrad computes on the CPU."""

    __slots__ = ("index", "type")
    index: int | None
    type: str

    def __init__(self, name: Any, index: Any = None) -> None:
        if isinstance(name, device):
            name = name.type
        kind, _, number = str(name).partition(":")
        if kind not in ("cpu", "meta"):
            instead = "use torch.device('cpu'), or leave the device out: minigrad computes on the CPU only."
            if kind == "cuda":
                raise errors.new(
                    AssertionError, "Torch not compiled with CUDA enabled", instead=instead, facts=NoCuda()
                )
            raise errors.new(RuntimeError, f"Invalid device string: '{name}'", instead=instead)
        self.type, self.index = kind, int(number) if number else index

    def __repr__(self) -> str:
        return f"device(type='{self.type}')"

    def __str__(self) -> str:
        return self.type

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, device) and other.type == self.type

    def __hash__(self) -> int:
        return hash(self.type)


DeviceLike = device | str | int | None  # what the argument `device` may be
CPU, META = device("cpu"), device("meta")


class layout:
    """torch.layout: how a tensor lies in memory. There is one, `torch.strided`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "torch.strided"


STRIDED = layout()


class memory_format:
    """torch.memory_format: the order of the numbers in a copy."""

    __slots__ = ("name",)

    def __init__(self, name: Any) -> None:
        self.name = name

    def __repr__(self) -> str:
        return "torch." + self.name


contiguous_format, preserve_format = memory_format("contiguous_format"), memory_format("preserve_format")


def row_by_row(requested: Any, function: str, refusal: str | None = None) -> bool:
    """Is the argument `memory_format` of a function contiguous_format? Raises TypeError for other types, and
    RuntimeError with the sentence `refusal` where the function cannot preserve one."""
    if requested is None:
        return False
    if not isinstance(requested, memory_format):
        sentence = f"{function}(): argument 'memory_format' must be torch.memory_format, not {type(requested).__name__}"
        raise errors.new(TypeError, sentence, instead="write memory_format=torch.contiguous_format, or leave it out.")
    if refusal is not None and requested is preserve_format:
        raise RuntimeError(refusal)
    return requested is contiguous_format


class _Switches:
    """Switches that programs set: they are kept, and change nothing."""

    enabled = deterministic = benchmark = allow_tf32 = False

    @staticmethod
    def is_available() -> bool:
        return False

    is_built = is_available

    @contextmanager
    def flags(self, **switches: Any) -> Iterator[None]:
        before = dict(vars(self))
        vars(self).update(switches)
        try:
            yield
        finally:
            vars(self).clear()
            vars(self).update(before)


class backends:
    """torch.backends: questions that are answered with no, and switches that change nothing."""

    mps = _Switches()
    cudnn = _Switches()
    mkldnn = _Switches()
