"""The statements of a program's text. Each carries the recorded line that it belongs to, so no code has to parse the text.

A plain `Statement` is a line of Python. The subclasses are those that take another form, or are left out, when the tensors and the
memory of the last call are used again (text.py, `with_spares`).
"""

from dataclasses import dataclass
from typing import Any


@dataclass
class Statement:
    """text    one line of Python
    line    the recorded line that it computes; None for a comment, a `del` and what every program does
    calls   the function that gives its value: the name of a loop, of a row's function, or "" for an expression
    """

    text: str
    line: Any = None
    calls: str = ""

    def with_spare(self, spare: set[str]) -> str | None:
        """Its text in a program that has the arrays `spare` from its last call, each with a tensor around it. None: it is left out."""
        return self.text


@dataclass
class Allocation(Statement):
    """`name = empty(...)`: memory that a loop fills."""

    name: str = ""

    def with_spare(self, spare: set[str]) -> str | None:
        return None if self.name in spare else self.text


@dataclass
class Wrap(Statement):
    """`leaf._grad = tensor = wrap(array)`, or the same without a leaf: a tensor that leaves the program."""

    tensor: str = ""
    array: str = ""
    leaf: str | None = None

    def with_spare(self, spare: set[str]) -> str | None:
        if self.array not in spare:
            return self.text
        return f"{self.leaf}._grad = {self.tensor}" if self.leaf else None


@dataclass
class Deletion(Statement):
    """`del a, b`: values that no statement after it reads."""

    names: tuple[str, ...] = ()

    def with_spare(self, spare: set[str]) -> str | None:
        names = [name for name in self.names if name not in spare]
        return "del " + ", ".join(names) if names else None
