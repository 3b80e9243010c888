"""Reference counts: may an array be kept or overwritten instead of copied?

CPython counts the references to an object, and how many of them a local variable and an argument add differs between its versions: up
to 3.13 each adds one, 3.14 lends a local variable to a call without counting. So the count that means "no other reference" is measured
here, in functions of the same shape as those that use it; a test runs both shapes.
"""

from __future__ import annotations

from sys import getrefcount
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from ..tensors.tensor import Tensor

_NO_OTHER = 0


def holders(x: Tensor | np.ndarray) -> int:
    """The number of references to `x` besides one local variable of the calling function."""
    return getrefcount(x) - _NO_OTHER


def _of_an_argument(x: Any) -> Any:
    return getrefcount(x)


def _of_a_local(count: Any) -> Any:
    x = object()
    return count(x)


_NO_OTHER = _of_a_local(holders)
# getrefcount() of an argument that the caller keeps in one local variable of its own
LENT = _of_a_local(_of_an_argument)
# getrefcount() of an object that only one local variable of the calling function refers to
ALONE = _of_a_local(getrefcount)
