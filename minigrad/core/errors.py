"""What minigrad says when something goes wrong.

What lives here: the form of every error, and the errors that several files need. An error's message is PyTorch's own sentence, character
for character, so that `str(error)` is that and no more; what you did, why it cannot work, what to write instead and the chapter are a note
(BaseException.add_note), which tracebacks show below the message.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from . import facts as about
from .absent import TABLE as LEFT_OUT

if TYPE_CHECKING:
    import numpy as np

E = TypeVar("E", bound=Exception)
_ENGINE = os.path.join(os.path.dirname(os.path.dirname(__file__)), "")


@dataclass(frozen=True)
class Explanation:
    """The parts of minigrad's explanation of an error, beside PyTorch's sentence: `error.minigrad`. `facts`: its fields (facts.py)."""

    did: str = ""
    why: str = ""
    instead: str = ""
    chapter: str = ""
    facts: object = None


def explanation(did: str = "", why: str = "", instead: str = "", chapter: str = "") -> str:
    """The text below the sentence; empty parts are left out.

    >>> print(explanation(why="The graph would lose its start.", instead="Write y = x + 1."))
    The graph would lose its start.
    Instead: Write y = x + 1.
    """
    lines = [did, why, "Instead: " + instead if instead else "", "Read: " + chapter if chapter else ""]
    return "\n".join([line for line in lines if line])


def new(
    kind: type[E], sentence: str, did: str = "", why: str = "", instead: str = "", chapter: str = "", facts: object = None
) -> E:  # fmt: skip
    """An exception with PyTorch's sentence, and as a note the explanation passed in, or the stored one (explanations.py).

    `facts`: what the error is about, as fields. All of it is `error.minigrad`, so that nothing has to be read out of the sentences.
    """
    if not (did or why or instead or chapter):
        from .explanations import look_up

        why, instead, chapter = look_up(sentence) or ("", "", "")
    error = kind(sentence)
    error.minigrad = Explanation(did, why, instead, chapter, facts)  # type: ignore[attr-defined]
    if text := explanation(did, why, instead, chapter):
        error.add_note("\n" + text)
    return error


def warn(sentence: str) -> None:
    """Warn at the line that called minigrad, through however many of its own functions."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith((_ENGINE, "<minigrad")):
        level, frame = level + 1, frame.f_back
    warnings.warn(sentence, stacklevel=level)


def reworded(error: Exception, sentence: str) -> Exception:
    """The error with another sentence and the same notes."""
    other = type(error)(sentence)
    for note in getattr(error, "__notes__", ()):
        other.add_note(note)
    if hasattr(error, "minigrad"):
        other.minigrad = error.minigrad  # type: ignore[attr-defined]
    return other


def a_kind(thing: object) -> str:
    """The type of a value, with its article.

    >>> a_kind(3), a_kind("x")
    ('an int', 'a str')
    """
    name = type(thing).__name__
    return f"{'an' if name[0] in 'aeioAEIO' else 'a'} {name}"


def type_name(thing: object) -> str:
    """The type of a value as PyTorch writes it in a message: 'int', 'numpy.ndarray'."""
    kind = type(thing)
    return f"numpy.{kind.__name__}" if kind.__module__ == "numpy" else kind.__name__


def no_kernel(kernel: str, dtype: np.dtype) -> NotImplementedError:
    """PyTorch's error for a dtype that a function is not defined for. `dtype` is numpy's."""
    kind = TYPE_NAMES[dtype.name].removesuffix("Tensor")
    instead = (
        "convert the tensor first: x.long() or x.float()." if kind == "Bool" else "convert the tensor first: x.float()."
    )
    return new(NotImplementedError, f"\"{kernel}\" not implemented for '{kind}'", instead=instead)


def numpy_of_recorded() -> RuntimeError:
    """The error for a tensor that requires gradients and meets numpy."""
    return new(
        RuntimeError,
        "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.",
        why="What numpy computes is not recorded, so no gradient could come back.",
        chapter="chapter 10, Controlling the graph",
        facts=about.ConvertedToNumpy(),
    )


def nearest(name: str, known: list[str], prefix: str = "") -> str:
    """What exists and is spelled nearly like `name`, as a hint: a slip of the pen, not another meaning (absent.py has those)."""
    import difflib

    known = [k for k in known if len(k) > 2]
    near = difflib.get_close_matches(name, [k for k in known if not k.startswith("_")], 1, 0.8)
    inside = [k for k in known if name.startswith(k + "_")]  # unique_consecutive: unique
    if near or inside:
        return f"the nearest name that exists is '{prefix}{near[0] if near else max(inside, key=len)}'."
    return f"dir({prefix.rstrip('.') or 'minigrad'}) lists what exists."


def left_out(kind: type[E], sentence: str, path: str) -> E:
    """The error for a name that is left out, e.g. "nn.utils.prune": why, and what to use instead (absent.py)."""
    absent = LEFT_OUT[path]
    return new(kind, sentence, f"minigrad leaves torch.{path} out: {absent.why}", instead=absent.instead)


def refuse_import(fullname: str) -> None:
    """Raise ModuleNotFoundError, with the reason, for the import of a module that is left out ("minigrad.fft")."""
    path = fullname.partition(".")[2]
    if path in LEFT_OUT:
        raise left_out(ModuleNotFoundError, f"No module named '{fullname}'", path)


def unknown_in(module: str, names: Callable[..., Any]) -> Callable[..., Any]:
    """A `__getattr__` for a module of the public surface: an AttributeError for unknown names, with the most similar name."""

    def lookup(name: str) -> None:
        short = module.replace("minigrad", "torch", 1)
        if name.startswith("__"):
            raise AttributeError(name)
        path = f"{module.partition('.')[2]}.{name}"
        if path in LEFT_OUT or name in LEFT_OUT:
            raise left_out(
                AttributeError, f"module '{short}' has no attribute '{name}'", path if path in LEFT_OUT else name
            )
        raise new(
            AttributeError,
            f"module '{short}' has no attribute '{name}'",
            f"minigrad does not support '{short}.{name}'.",
            instead=nearest(name, names(), short + "."),
        )

    return lookup


TYPE_NAMES = {
    "float32": "FloatTensor", "float64": "DoubleTensor", "float16": "HalfTensor", "uint8": "ByteTensor", "int8": "CharTensor",
    "int16": "ShortTensor", "int32": "IntTensor", "int64": "LongTensor", "bool": "BoolTensor",
}  # fmt: skip
SCALAR_NAMES = {
    "float32": "float", "float64": "double", "float16": "c10::Half", "uint8": "unsigned char", "int8": "signed char",
    "int16": "short", "int32": "int", "int64": "long int", "bool": "bool",
}  # fmt: skip


def described(array: np.ndarray) -> str:
    """PyTorch's short name of a tensor in messages: `torch.FloatTensor [3, 4]`, but `CPUBoolType [3]`."""
    kind = "CPUBoolType" if array.dtype.name == "bool" else f"torch.{TYPE_NAMES.get(array.dtype.name, 'Tensor')}"
    return f"{kind} [{', '.join(map(str, array.shape))}]"


def modified(name: str, slot: str, array: np.ndarray, version: int, expected: int, origin: str) -> RuntimeError:
    """A tensor that the node called `name` saved was written to before the backward pass could use it."""
    which = f", which is output {origin}," if origin else ""
    return new(
        RuntimeError,
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[{described(array)}]{which} is at version {version}; expected version {expected} instead. Hint: enable anomaly detection to "
        "find the operation that failed to compute its gradient, with torch.autograd.set_detect_anomaly(True, check_nan=False).",
        f"{name} saved a tensor of shape {tuple(array.shape)} (as '{slot}') in the forward pass, when its version was {expected}; since "
        f"then it was written to {version - expected} time(s).",
        "Its backward rule needs the old numbers, which are gone.",
        "write the changed values to a new tensor (y = y + 1, not y += 1), or clone() before changing.",
        "chapter 15, Bug clinic",
        about.SavedOverwritten(name, slot, array.shape, version, expected),
    )


def freed() -> RuntimeError:
    return new(
        RuntimeError,
        "Trying to backward through the graph a second time (or directly access saved tensors after they have already been freed). "
        "Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if "
        "you need to backward through the graph a second time or if you need to access saved tensors after calling backward.",
        "A backward pass has already gone through this part of the graph.",
        "It gave back the memory of the values that the rules need.",
        "call the first backward with retain_graph=True, or run the forward pass again; in a training loop, detach() what you carry over.",
        "chapter 10, Controlling the graph",
        about.GraphFreed(),
    )


def broadcast(arrays: Sequence[np.ndarray], fallback: Any) -> Exception:
    """The error for shapes that do not fit together; `fallback` if that was not the reason."""
    shapes = [a.shape for a in arrays]
    result: list[int] = []  # the sizes so far, from the right
    for shape in shapes:
        for i in range(1, len(shape) + 1):
            if i > len(result):
                result.append(shape[-i])
            else:
                a, b = result[i - 1], shape[-i]
                if a != b and a != 1 and b != 1:
                    ndim = max(map(len, shapes))
                    return new(
                        RuntimeError,
                        f"The size of tensor a ({a}) must match the size of tensor b ({b}) at non-singleton dimension {ndim - i}",
                        f"You combined tensors of shapes {' and '.join(str(tuple(s)) for s in shapes)}.",
                        "Shapes are compared from the right; two sizes fit if they are equal or one of them is 1.",
                        "add or move a dimension with unsqueeze, reshape or transpose so that the sizes line up.",
                        "chapter 09, Tensors",
                        about.ShapesDiffer(tuple(map(tuple, shapes)), (a, b)),
                    )
                result[i - 1] = b if a == 1 else a
    return fallback


def broadcast_to(source: tuple[int, ...], target: tuple[int, ...], sentence: str | None = None) -> RuntimeError:
    """A tensor of shape `source` was written where only shapes that broadcast to `target` fit; `sentence` for x[key] = value."""
    extra = len(source) - len(target)
    facts = None
    if extra > 0:
        facts = about.ShapeWritten(tuple(target), tuple(source))
        sentence = f"output with shape {list(target)} doesn't match the broadcast shape {list(source)}"
    else:
        dim = max(i for i, n in enumerate(source) if n not in (1, target[i - extra]))
        a, b = target[dim - extra], source[dim]
        if sentence is not None:
            sentence = (
                f"The expanded size of the tensor ({a}) must match the existing size ({b}) at non-singleton dimension {dim - extra}.  "
                f"Target sizes: {list(target)}.  Tensor sizes: {list(source)}"
            )
        else:
            sentence = f"The size of tensor a ({a}) must match the size of tensor b ({b}) at non-singleton dimension {dim - extra}"
    return new(
        RuntimeError,
        sentence,
        f"You wrote numbers of shape {tuple(source)} into a place of shape {tuple(target)}.",
        "What is written may be broadcast, the place keeps its shape.",
        "reshape what you write.",
        "chapter 09, Tensors",
        facts,
    )


def dtypes_differ(sentence: str, kinds: dict[str, str]) -> RuntimeError:
    """A product of tensors of several dtypes: `sentence` with {x} for the Float and {x_c} for the float of each."""
    names = {name: TYPE_NAMES[kind].removesuffix("Tensor") for name, kind in kinds.items()}
    names.update({name + "_c": SCALAR_NAMES[kind] for name, kind in kinds.items()})
    first, second, *_ = dict.fromkeys([SCALAR_NAMES[kind].removeprefix("c10::") for kind in kinds.values()])
    return new(
        RuntimeError,
        sentence.format(**names),
        f"You combined {' and '.join(dict.fromkeys(kinds.values()))}.",
        "Products do not promote dtypes.",
        "convert one of them: b.to(a.dtype), the input (x.float()) or the layer (layer.double()).",
        facts=about.DtypesDiffer(first, second),
    )


def no_bools(name: str, both: bool) -> Exception:
    """An operation that has no meaning for True and False."""
    invert = "If you are trying to invert a mask, use the `~` or `logical_not()` operator instead."
    if name == "neg":
        return new(RuntimeError, f"Negation, the `-` operator, on a bool tensor is not supported. {invert}")
    if name == "relu":
        return new(
            RuntimeError, "Boolean inputs not supported for relu", instead="convert the mask first: mask.float()."
        )
    if name in ("sub", "rsub"):
        if both:
            return new(
                RuntimeError,
                "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator instead.",
            )
        return new(RuntimeError, f"Subtraction, the `-` operator, with a bool tensor is not supported. {invert}")
    return new(
        RuntimeError,
        f"\"{name}\" not implemented for 'Bool'",
        instead="convert the tensor first, for example with .float().",
    )


class LinAlgError(RuntimeError):
    """A matrix that a decomposition cannot take: singular, or not positive definite."""


LinAlgError.__module__, LinAlgError.__name__ = "torch._C", "_LinAlgError"
