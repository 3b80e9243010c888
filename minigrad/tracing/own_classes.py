"""How an object of any scalar class is read: where it keeps its number, gradient, operands and rule, and what its operations compute.

What lives here: `layout_of`, which finds the attributes by looking at one object, and `Reader`, which asks an operation for its derivatives
and runs it again on other numbers. What does not: the recorded graph (scalar_trace.py). Nothing of the learner's is changed: gradients that
a rule writes are put back, and an operation runs again on fresh objects.
"""

from __future__ import annotations

import contextlib
import copy
import inspect
import io
import math
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from types import FunctionType
from typing import Any, NamedTuple

from ..core.errors import a_kind
from ..scalar import Value, checked_number
from .formulas import exponent, rule_for

VALUE = ("data", "value", "val", "v", "num", "number", "x", "scalar")
GRAD = ("grad", "gradient", "derivative", "deriv", "adjoint", "adj", "dv", "d", "g")
OPERANDS = ("prev", "parents", "inputs", "operands", "args", "sources", "srcs", "deps", "ins", "children")
LEFT = (("left", "right"), ("lhs", "rhs"), ("a", "b"), ("first", "second"), ("x", "y"))
OPERATION = ("op", "operation", "opname", "op_name", "operator", "kind", "symbol")
SLOPES = (
    "local_grads",
    "local_grad",
    "locals",
    "local",
    "local_derivatives",
    "partials",
    "slopes",
    "derivatives",
    "grads",
    "jacobian",
)
RULE = (
    "backward",
    "backward_fn",
    "backwards",
    "backward_rule",
    "grad_fn",
    "grad_fns",
    "vjp",
    "vjps",
    "pullback",
    "bw",
    "rule",
)
USERS = ("users", "consumers", "outputs", "next", "out", "outs")  # results, not operands
NO_OBJECT = "it is no object of a scalar class"


class Layout(NamedTuple):
    """Names of attributes; "" for what the class does not have."""

    value: str
    grad: str = ""
    operands: tuple[str, ...] = ()  # one container, or one attribute for each operand
    pairs: int = -1  # place of the operand in each element of the container; -1 if the elements are the operands
    op: str = ""
    slopes: str = ""
    rule: str = ""


def plain_name(name: str) -> str:
    """`_prev`, `__prev` (kept as `_Value__prev`) and `prev` are one name."""
    return re.sub(r"^_\w+?__(?=\w)", "", name).strip("_").lower()


def _attributes(obj: Any) -> dict[str, Any]:
    """What an object keeps, its __dict__ and its slots, and then the properties of its class under known names."""
    results = dict(getattr(obj, "__dict__", None) or {})
    for kind in type(obj).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for slot in (slots,) if isinstance(slots, str) else slots:
            name = f"_{kind.__name__.lstrip('_')}{slot}" if slot.startswith("__") and not slot.endswith("__") else slot
            with contextlib.suppress(AttributeError):
                results.setdefault(name, getattr(obj, name))
        names = {*VALUE, *GRAD, *OPERANDS, *OPERATION, *SLOPES}
        for name, thing in kind.__dict__.items():
            if isinstance(thing, property) and plain_name(name) in names:
                with contextlib.suppress(Exception):
                    results.setdefault(name, getattr(obj, name))
    return {name: thing for name, thing in results.items() if not name.endswith("__")}


def is_array(thing: object) -> bool:
    """A numpy array, or a tensor: more than one number."""
    return bool(getattr(thing, "ndim", 0)) and hasattr(thing, "shape")


def as_number(thing: object) -> float | None:
    if type(thing) is float or type(thing) is int:
        return float(thing)
    if isinstance(thing, (bool, str, Value)) or thing is None or is_array(thing):
        return None
    try:
        return checked_number(thing.item() if getattr(thing, "ndim", None) == 0 and hasattr(thing, "item") else thing)
    except (TypeError, ValueError):
        return None


def _known(attributes: dict[str, Any], names: Sequence[str], fits: Callable[[Any], bool]) -> str:
    plain: dict[str, str] = {}
    for name, thing in attributes.items():
        if fits(thing):
            plain.setdefault(plain_name(name), name)
    return next((plain[name] for name in names if name in plain), "")


def _kin(thing: object, obj: object) -> bool:
    """Is it an object of the same family of classes?"""
    return isinstance(thing, type(obj)) or (type(thing) in type(obj).__mro__[:-1])


def _place(element: object, obj: object) -> int | None:
    """Where in an element of a container an operand stands: -1 for the element itself, None if there is none."""
    if _kin(element, obj):
        return -1
    if isinstance(element, (tuple, list)) and len(element) == 2:
        return next((k for k in (0, 1) if _kin(element[k], obj) and not _kin(element[1 - k], obj)), None)
    return None


def _elements(held: object) -> list:
    return list(held) if isinstance(held, (list, tuple, set, frozenset)) else []


def _operands(attributes: dict[str, Any], obj: object) -> tuple[tuple[str, ...], int]:
    """The attribute, or attributes, that hold operands; and where in an element each stands."""

    def holds(thing: object) -> bool:
        return any(_place(e, obj) is not None for e in _elements(thing))

    name = _known(attributes, OPERANDS, holds)
    if not name:
        name = next((n for n, thing in attributes.items() if holds(thing) and plain_name(n) not in USERS), "")
    if name:
        return (name,), next(k for e in _elements(attributes[name]) if (k := _place(e, obj)) is not None)
    plain = {plain_name(n): n for n in attributes}
    for pair in LEFT:
        names = [plain[n] for n in pair if n in plain]
        if (
            names
            and any(_kin(attributes[n], obj) for n in names)
            and all(attributes[n] is None or _kin(attributes[n], obj) for n in names)
        ):
            return tuple(names), -1
    name = _known(
        attributes, OPERANDS, lambda thing: thing is None or not _elements(thing) and hasattr(thing, "__len__")
    )
    return ((name,) if name else ()), -1


def layout_of(obj: Any) -> Layout | str:
    """The attributes that hold an object's number, gradient, operands and rule; or a sentence, starting with "it", about a missing one."""
    attributes = _attributes(obj)
    if not attributes:
        return "it has no attributes"
    operands, pairs = _operands(attributes, obj)
    rest = {n: thing for n, thing in attributes.items() if n not in operands}
    value = _known(rest, VALUE, lambda thing: as_number(thing) is not None)
    numbers = [
        n
        for n, thing in rest.items()
        if as_number(thing) is not None and "grad" not in n.lower() and plain_name(n) not in GRAD
    ]
    if not value and operands and numbers:
        value = numbers[0] if len(numbers) == 1 else _probed(obj, numbers)
    if not value:
        name = _known(attributes, VALUE, lambda thing: not callable(thing))
        held = attributes.get(name)
        if is_array(held) and operands:
            shape = "×".join(map(str, held.shape))  # type: ignore[union-attr]
            return (f"its `{name}` is an array of shape {shape}, and this picture draws one number for each node. For arrays use "
                    "minigrad's Tensor (`import minigrad as torch`), which the same picture draws")  # fmt: skip
        if name and _kin(held, obj):
            op = _first_without_number(
                obj, name, operands, _known(rest, OPERATION, lambda thing: isinstance(thing, str))
            )
            return f"{op} `{name}` is itself {a_kind(held)}, not a number: compute with `.{name}` of the operands"
        if name:
            return f"its `{name}` is not a number: {_why(held)}"
        return "no attribute holds its number (`data`, `value`, ...)"
    grad = _known(rest, GRAD, lambda thing: thing is None or as_number(thing) is not None)
    if grad == value or not grad:
        grad = next(
            (n for n, thing in rest.items() if "grad" in n.lower() and n != value and as_number(thing) is not None), ""
        )
    if not operands:
        has = f"it has a number (`{value}`)" + (f" and a gradient (`{grad}`)" if grad else "")
        return (
            has
            + ", but no attribute holds the objects that it was computed from (`_prev`, `_children`, `parents`, `inputs`, ...)"
        )
    count = len(
        [
            x
            for n in operands
            for x in (_elements(attributes[n]) if len(operands) == 1 else [attributes[n]])
            if x is not None
        ]
    )
    op = _known(rest, OPERATION, lambda thing: isinstance(thing, str))

    def slopes_of(thing: object) -> bool:
        return isinstance(thing, (list, tuple)) and len(thing) == count and all(as_number(x) is not None for x in thing)

    slopes = _known(rest, SLOPES, slopes_of)
    if not slopes and count:
        slopes = next((n for n, thing in rest.items() if slopes_of(thing) and n not in operands), "")
    instance = getattr(obj, "__dict__", {})
    functions = {
        n: thing
        for n, thing in rest.items()
        if callable(thing) and not isinstance(thing, type) and not _kin(thing, obj)
    }
    rule = (
        _known(functions, RULE, callable) or next((n for n in functions if n in instance), "")
        if not slopes and pairs < 0
        else ""
    )
    if not (op or slopes or rule or grad or pairs >= 0):
        return (f"it has a number (`{value}`) and operands (`{operands[0]}`), but no gradient (`grad`), no name of its operation (`_op`), "
                "no rule (`_backward`) and no derivatives (`_local_grads`)")  # fmt: skip
    return Layout(value, grad, operands, pairs, op, slopes, rule)


def _first_without_number(obj: Any, name: str, operands: tuple[str, ...], op: str) -> str:
    """Of results whose number is an object, the one that was computed first: where the mistake is."""
    for _ in range(10_000):
        held = [p for n in operands for p in _elements(getattr(obj, n, None))]
        before = next((p for p in held if _kin(p, obj) and _kin(getattr(p, name, None), p)), None)
        if before is None:
            break
        obj = before
    text = str(getattr(obj, op, "")) if op else ""
    return f"it has an operation {text!r} whose" if text else "its"


def _why(held: object) -> str:
    try:
        checked_number(held)
    except TypeError as error:
        return str(error).rstrip(".")
    return f"it is {a_kind(held)}"


def _probed(obj: object, names: list[str]) -> str:
    """Of several attributes with numbers, the one into which the constructor puts its number."""
    try:
        result = type(obj)(0.8125)  # type: ignore[call-arg]
    except Exception:
        return ""
    return next((n for n in names if as_number(getattr(result, n, None)) == 0.8125), "")


class Call(NamedTuple):
    """An operation that can run again: which function, and its arguments, each the place of an operand or a number."""

    function: Callable
    arguments: tuple[tuple[bool, float], ...]  # (is it an operand?, its place or the number)
    solved: bool = False  # was a number found from the result and an input, which may have moved since?


GIVEN = [tuple((True, float(k)) for k in range(n)) for n in range(3)]
METHODS = {
    "+": "__add__",
    "-": "__sub__",
    "*": "__mul__",
    "/": "__truediv__",
    "**": "__pow__",
    "neg": "__neg__",
    "abs": "__abs__",
}
UNNAMED = (
    "+",
    "*",
    "neg",
    "exp",
    "log",
    "relu",
    "tanh",
    "sigmoid",
    "sin",
    "cos",
    "sqrt",
    "abs",
    "-",
    "/",
    "**",
    "max",
    "min",
)


class Reader:
    """Reads the objects of one graph. `layout` is that of its result."""

    def __init__(self, root: Any):
        result = layout_of(root)
        if isinstance(result, str):
            raise TypeError(f"this {type(root).__name__} has no graph that can be drawn: {result}.")
        self.layout = result
        self.undefined = False
        self._named: dict[tuple[type, str, int], list[tuple[FunctionType, bool | None]]] = {}
        self.indirect: set[Callable] = set()  # operators that are made of others
        # float32 and less
        self.coarse = getattr(getattr(self.number_of(root, result), "dtype", None), "itemsize", 8) < 8
        self._layouts: dict[type, Layout | None] = {type(root): result}
        self._origins: dict[Any, FunctionType | None] = {}
        self._parameters: dict[FunctionType, list[tuple[str, Any]] | None] = {}
        self._makers: dict[type, Callable[[float], Any] | None] = {}

    # The parts of an object

    def layout_for(self, obj: Any) -> Layout | None:
        kind = type(obj)
        if kind not in self._layouts:  # asked a dozen times for each object: no call in the usual case
            layout = self.layout
            if hasattr(obj, layout.value) and all(hasattr(obj, n) for n in layout.operands):
                self._layouts[kind] = layout
            else:
                result = layout_of(obj)
                self._layouts[kind] = result if isinstance(result, Layout) else None
        return self._layouts[kind]

    def operands(self, obj: Any) -> list:
        layout = self.layout_for(obj)
        if layout is None or isinstance(obj, Value):
            return []
        if len(layout.operands) > 1:
            return [x for n in layout.operands if (x := getattr(obj, n, None)) is not None]
        elements = _elements(getattr(obj, layout.operands[0], None))
        return elements if layout.pairs < 0 else [e[layout.pairs] for e in elements]

    def in_a_set(self, obj: Any) -> bool:
        layout = self.layout_for(obj)
        return (
            layout is not None
            and not isinstance(obj, Value)
            and isinstance(getattr(obj, layout.operands[0], None), (set, frozenset))
        )

    @staticmethod
    def number_of(obj: Any, layout: Layout) -> Any:
        return getattr(obj, layout.value, None)

    def number(self, obj: Any) -> Any:
        """What stands where the number should be."""
        if isinstance(obj, Value):
            return obj.data
        layout = self.layout_for(obj)
        return self.number_of(obj, layout) if layout else None

    def same(self, a: float, b: float) -> bool:
        """Are they one number, but for rounding?"""
        if a == b or (a != a and b != b):
            return True
        near = 2e-6 if self.coarse else 1e-9
        return math.isclose(a, b, rel_tol=near, abs_tol=near * 1e-3)

    def grad(self, obj: Any) -> float | None:
        layout = self.layout_for(obj)
        return as_number(getattr(obj, layout.grad, None)) if layout and layout.grad else None

    def op(self, obj: Any) -> str:
        layout = self.layout_for(obj)
        return str(getattr(obj, layout.op, "") or "") if layout and layout.op else ""

    def _rule(self, obj: Any) -> Any:
        """The function, or one for each operand, that passes its gradient on; None if it has none."""
        layout = self.layout_for(obj)
        if layout is None or layout.slopes or layout.pairs >= 0:
            return None
        if layout.rule:
            return getattr(obj, layout.rule, None)
        instance = getattr(obj, "__dict__", {})
        return next((thing for name, thing in instance.items() if plain_name(name) in RULE and callable(thing)), None)

    def said(self) -> str:
        """Where the parts of these objects were found, if not under the names of micrograd."""
        one = self.layout
        parts = [] if one.value == "data" else [f"numbers from {one.value}"]
        if one.operands != ("_prev",):
            parts.append(f"parents from {' and '.join(one.operands)}")
        if one.slopes or one.pairs >= 0:
            parts.append(f"slopes from {one.slopes or one.operands[0]}")
        elif one.rule and one.rule != "_backward":
            parts.append(f"slopes from {one.rule}")
        if not parts:
            return ""
        return f"Read from these objects: {', '.join(parts)}" + ("." if one.op else "; their operations have no names.")

    # The derivatives that an object tells

    def slopes(self, obj: Any, operands: Sequence[Any], before: float = -0.0) -> tuple[float, ...] | None:
        """What an operation says its derivatives are; None if it says nothing. before: what the operands' gradients are before its rule is
        called; −0.0 tells an operand to which it adds nothing."""
        layout = self.layout_for(obj)
        if layout is None or isinstance(obj, Value):
            return None
        if layout.pairs >= 0:
            elements = _elements(getattr(obj, layout.operands[0]))
            reports = {id(e[layout.pairs]): e[1 - layout.pairs] for e in elements} if self.in_a_set(obj) else None
            held = [reports.get(id(p)) for p in operands] if reports else [e[1 - layout.pairs] for e in elements]
            if len(held) != len(operands):
                return None
            return _numbers([s(1.0) if callable(s) else s for s in held])
        if layout.slopes:
            saved = getattr(obj, layout.slopes, None)
            return (
                _numbers(saved)
                if isinstance(saved, (list, tuple)) and len(saved) == len(operands) and not self.in_a_set(obj)
                else None
            )
        rule = self._rule(obj)
        if isinstance(rule, (list, tuple)) and len(rule) == len(operands) and all(map(callable, rule)):
            return _numbers([f(1.0) for f in rule])
        return self._called(rule, obj, operands, before) if callable(rule) else None

    def _called(self, rule: Callable, obj: Any, operands: Sequence[Any], before: float) -> tuple[float, ...] | None:
        name = self.layout_for(obj).grad  # type: ignore[union-attr]
        takes = _takes(rule)
        if takes is None or not name:
            return None
        saved = [(value, getattr(value, name, None)) for value in (obj, *operands)]
        try:
            for value in operands:
                setattr(value, name, before)  # adding 0.0 makes −0.0 0.0
            setattr(obj, name, 1.0)
            report = rule(1.0) if takes else rule()
            if (
                isinstance(report, (tuple, list))
                and len(report) == len(operands)
                and (returned := _numbers(report)) is not None
            ):
                return returned
            if takes and len(operands) == 1 and (one := as_number(report)) is not None:
                return (one,)
            grads = [as_number(getattr(operand, name)) for operand in operands]
            if None in grads:
                return None
            sign = math.copysign(1.0, before)
            if all([g == before and math.copysign(1.0, g) == sign for g in grads]):  # type: ignore[arg-type]
                return None  # an empty rule is none
            if len({id(operand) for operand in operands}) < len(operands):  # each use has an equal part of the sum
                grads = [g / sum([x is operand for x in operands]) for g, operand in zip(grads, operands, strict=True)]  # type: ignore[operator]
            return tuple([g + 0.0 for g in grads])  # type: ignore[operator]
        except Exception:  # the learner's rule fails: the pass itself will say why, and the picture shows the rest
            return None
        finally:
            for value, grad in saved:
                setattr(value, name, grad)

    def overwrites(self, obj: Any, operands: Sequence[Any]) -> bool:
        """Does its rule write `=` where `+=` is right?"""
        layout = self.layout_for(obj)
        rule = self._rule(obj)
        if not callable(rule) or layout is None or not layout.grad:
            return False
        distinct = list({id(p): p for p in operands}.values())
        once, more = self._sums(rule, obj, distinct, 0.0), self._sums(rule, obj, distinct, 1.0)
        return bool(once and more) and any(b == a and a != 0 for a, b in zip(once, more, strict=True))  # type: ignore[arg-type]

    def _sums(self, rule: Callable, obj: Any, operands: list, before: float) -> list[float] | None:
        name = self.layout_for(obj).grad  # type: ignore[union-attr]
        remaining = [(value, getattr(value, name, None)) for value in (obj, *operands)]
        try:
            for value in operands:
                setattr(value, name, before)
            setattr(obj, name, 1.0)
            rule(1.0) if _takes(rule) else rule()
            grads = [as_number(getattr(value, name)) for value in operands]
            return None if None in grads else grads  # type: ignore[return-value]
        except Exception:
            return None
        finally:
            for value, grad in remaining:
                setattr(value, name, grad)

    # The operation again, on fresh objects

    def call_behind(self, obj: Any, operands: list) -> tuple[Call, list] | None:
        """The function in which an object was made, as its rule tells: a function inside the operation remembers the operation's own
        variables. Also the operands in the order of its parameters, for a container that has lost it."""
        rule = self._rule(obj)
        code = getattr(rule, "__code__", None)
        if code is None or (made_in := self._origin(type(obj), rule)) is None:
            return None
        if made_in not in self._parameters:
            self._parameters[made_in] = _parameters(made_in)
        takes = self._parameters[made_in]
        if takes is None:
            return None
        held: dict[str, Any] = {}
        defaults = rule.__defaults__ or ()  # type: ignore[union-attr]
        held.update(zip(code.co_varnames[code.co_argcount - len(defaults) : code.co_argcount], defaults, strict=False))
        for name, cell in zip(code.co_freevars, rule.__closure__ or (), strict=True):  # type: ignore[union-attr]
            try:
                held[name] = cell.cell_contents
            except ValueError:  # an empty cell
                continue
        ordered = self.in_a_set(obj)
        left = list(range(len(operands)))
        slots: list = []
        arguments: list[tuple[bool, float] | None] = []
        for name, default in takes:
            thing = held.get(name, default)
            places = [k for k in left if operands[k] is thing]
            if not places and ordered:  # a set holds one of the two of a + a
                places = [k for k in range(len(operands)) if operands[k] is thing]
            place = places[0] if places else None
            if place is not None:
                if place in left:
                    left.remove(place)
                slots.append(operands[place])
                arguments.append((True, len(slots) - 1 if ordered else place))
            elif (x := as_number(thing)) is not None:
                arguments.append((False, x))
            elif (
                thing is not _NOTHING
                and thing is not None
                and self.layout_for(thing) is not None
                and not self.operands(thing)
            ):
                if (x := as_number(self.number(thing))) is None:
                    return None
                arguments.append((False, x))  # a number that was wrapped and is not kept as an operand
            else:
                arguments.append(None)
        unknown = [k for k, a in enumerate(arguments) if a is None]
        if len(unknown) == 1 and not left:  # a plain number that the rule did not need: the 3 of x + 3
            at, operands_ = unknown[0], slots if ordered else operands
            c = self._solved(
                obj, operands_, lambda c: Call(made_in, tuple((False, c) if a is None else a for a in arguments))
            )
            if c is None:
                return None
            arguments[at] = (False, c)
            return Call(made_in, tuple(arguments), any(not self.operands(p) for p in operands_)), operands_  # type: ignore[arg-type]
        if len(unknown) > 1 or len(unknown) != len(left):
            return None
        if unknown:  # the one parameter that the rule does not use is the one operand that is left
            slots.insert(unknown[0], operands[left[0]])
            if ordered:
                return None if any(a and not a[0] for a in arguments) else (
                    Call(made_in, tuple((True, k) for k in range(len(slots)))), slots)  # fmt: skip
            arguments[unknown[0]] = (True, left[0])
        return Call(made_in, tuple(arguments)), (slots if ordered else operands)  # type: ignore[arg-type]

    def _solved(self, obj: Any, operands: list, call: Callable[[float], Call]) -> float | None:
        """The plain number with which an operation gives the number that its object has."""
        at, out = [as_number(self.number(p)) for p in operands], as_number(self.number(obj))
        if None in at or out is None:
            return None

        def off(c: float) -> float | None:
            result = self.value(call(c), at, obj)  # type: ignore[arg-type]
            return None if result is None else result - out

        for c in (2.0, 3.0, -1.0, 0.5, 1.0, 4.0, -2.0, 0.0):
            if (miss := off(c)) is not None and self.same(miss + out, out):
                return c
        a, b = 1.5, 2.5
        for _ in range(30):
            fa, fb = off(a), off(b)
            if fa is None or fb is None or fa == fb:
                return None
            a, b = b, b - fb * (b - a) / (fb - fa)
            if (miss := off(b)) is not None and self.same(miss + out, out):
                short = round(b, 6)
                miss = off(short)
                return short if miss is not None and self.same(miss + out, out) else b
        return None

    def _origin(self, kind: type, rule: Any) -> FunctionType | None:
        code = rule.__code__
        if code not in self._origins:
            candidates = [f for one in kind.__mro__[:-1] for f in one.__dict__.values()]
            candidates.append(getattr(rule, "__globals__", {}).get(rule.__qualname__.split(".")[0]))
            self._origins[code] = None
            for thing in candidates:
                function = getattr(thing, "__func__", thing)
                inner = inspect.unwrap(function) if isinstance(function, FunctionType) else None
                if (
                    isinstance(inner, FunctionType)
                    and code in inner.__code__.co_consts
                    and inner.__name__ not in ("__init__", "__new__")
                ):
                    self._origins[code] = inner
                    break
        return self._origins[code]

    def calls_named(self, obj: Any, count: int) -> Iterator[Call]:
        """Operators and methods of its class that could have made it, by the name of its operation; if it has none, all common ones."""
        op, key = self.op(obj), (type(obj), self.op(obj), count)
        if key not in self._named:
            self._named[key] = [*self._functions_named(*key)]
        operands = GIVEN[count] if count < len(GIVEN) else tuple((True, float(k)) for k in range(count))
        for function, power in self._named[key]:
            if function in self.indirect:
                continue
            if power is None and op:
                yield Call(function, (*operands, (False, exponent(op))))
            elif power is None:
                if (n := self._power(obj)) is not None:
                    yield Call(function, (*operands, (False, n)))
            else:
                yield Call(function, operands)

    def _functions_named(self, kind: type, op: str, count: int) -> Iterator[tuple[FunctionType, bool | None]]:
        """Functions, and None for those that take an exponent beside their operand."""
        rule = rule_for(op, count) if op else None
        for name in [rule.name] if rule else [op] if op else UNNAMED:
            for text in (METHODS.get(name, name), op, op.lower(), f"__{op.lower()}__"):
                function = getattr(kind, text, None) if text else None
                if not isinstance(function, FunctionType) or (takes := _parameters(function)) is None:
                    continue
                if len(takes) == count:
                    yield function, False
                elif name == "**" and count == 1 and len(takes) == 2 and (rule or not op):
                    yield function, None
                break

    def _power(self, obj: Any) -> float | None:
        """The n of x ** n, from its number and its derivative n x ** (n - 1). Tried last, because x may have moved since."""
        (x,) = self.operands(obj)
        base, out, slopes = as_number(self.number(x)), as_number(self.number(obj)), self.slopes(obj, [x])
        if not slopes or not slopes[0] or not out:
            return None
        for n in (2.0, 3.0, -1.0, 0.5, 4.0, -2.0, 1.5, -0.5, 5.0, 6.0):
            was = n * out / slopes[0]
            with contextlib.suppress(ValueError, OverflowError, ZeroDivisionError):
                if self.same(math.pow(was, n), out):
                    return n
        n = slopes[0] * base / out if base else 1.0
        return None if n == 1.0 else n  # an exponent of 1 is more likely the relu of a positive number

    def run(self, call: Call, numbers: Sequence[float], obj: Any) -> tuple[Any, list] | None:
        """A fresh result of the same operation on these numbers, and its operands; None if it fails or gives no such object. Afterwards
        `undefined` tells whether the operation is not defined there (a negative number has no logarithm)."""
        self.undefined = False
        make = self._maker(obj)
        if make is None:
            return None
        try:
            results = [make(x) for x in numbers]
            out = call.function(*(results[int(x)] if is_operand else _tidy(x) for is_operand, x in call.arguments))
            if self.layout_for(out) is None or as_number(self.number(out)) is None:
                self.undefined = isinstance(self.number(out), complex)
                return None
            return out, results
        except (ArithmeticError, ValueError):
            self.undefined = True
        except Exception:
            return None
        return None

    def value(self, call: Call, numbers: Sequence[float], obj: Any) -> float | None:
        result = self.run(call, numbers, obj)
        return None if result is None else as_number(self.number(result[0]))

    def _maker(self, obj: Any) -> Callable[[float], Any] | None:
        kind = type(obj)
        if kind not in self._makers:
            layout = self.layout_for(obj)
            self._makers[kind] = None

            def made(x: float) -> Any:
                return kind(x)

            def copied(x: float) -> Any:
                one = copy.copy(obj)
                setattr(one, layout.value, x)  # type: ignore[union-attr]
                for name in layout.operands:  # type: ignore[union-attr]
                    held = getattr(obj, name)
                    setattr(one, name, type(held)() if isinstance(held, (list, tuple, set, frozenset)) else None)
                return one

            for make in (made, copied):
                try:
                    one = make(0.8125)
                    if as_number(self.number(one)) == 0.8125 and not self.operands(one):
                        self._makers[kind] = make
                        break
                except Exception:
                    continue
        return self._makers[kind]


_NOTHING = object()


def _tidy(x: float) -> float:
    """A whole number as an int, because some classes refuse x ** 2.0."""
    return int(x) if x == x and abs(x) < 1e15 and x == int(x) else x


def _numbers(held: Sequence[Any]) -> tuple[float, ...] | None:
    results = [as_number(x) for x in held]
    return None if None in results else tuple(results)  # type: ignore[arg-type]


def _takes(function: Callable) -> int | None:
    """How many arguments a rule must be given: none or one; None for more."""
    code = getattr(function, "__code__", None)
    if code is not None and not hasattr(function, "__wrapped__"):
        bound = 1 if inspect.ismethod(function) else 0
        count = code.co_argcount - bound - len(function.__defaults__ or ())  # type: ignore[attr-defined]
    else:
        try:
            parameters = inspect.signature(function).parameters.values()
        except (TypeError, ValueError):
            return None
        count = sum(p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)
    return count if count in (0, 1) else None


def _parameters(function: FunctionType) -> list[tuple[str, Any]] | None:
    """Names and defaults of positional parameters; None if there are others that must be given."""
    code = function.__code__
    if code.co_flags & inspect.CO_VARARGS or set(code.co_varnames[code.co_argcount :][: code.co_kwonlyargcount]) - {
        *(function.__kwdefaults__ or ())
    }:
        return None
    names, defaults = code.co_varnames[: code.co_argcount], function.__defaults__ or ()
    return [*zip(names, [_NOTHING] * (len(names) - len(defaults)) + [*defaults], strict=True)]


def confirmed(
    value: Callable[[Sequence[float]], float | None], at: Sequence[float], slot: Sequence[int], slope: float
) -> bool:
    """Is this the derivative with respect to the operands at `slot` (one number, moved together)? At a kink any slope between the left and
    the right one is."""
    for h in steps(at[slot[0]]):
        sides = _sides(value, at, slot, h)
        if sides is None:
            continue
        low, high = min(sides), max(sides)
        room = 1e-3 * (high - low) + 1e-5 * max(abs(low), abs(high)) + 1e-9
        if low - room <= slope <= high + room:
            return True
    return False


def measured(
    value: Callable[[Sequence[float]], float | None], at: Sequence[float], slot: Sequence[int]
) -> float | None:
    """The derivative as a difference of two values."""
    for h in steps(at[slot[0]]):
        sides = _sides(value, at, slot, h)
        if sides is not None and abs(sides[0] - sides[1]) <= 1e-2 * max(abs(sides[0]), abs(sides[1])) + 1e-6:
            return (sides[0] + sides[1]) / 2
    return None


def steps(x: float) -> list[float]:
    return [1e-5 * max(1.0, abs(x)), 1e-6 * (abs(x) or 1e-3), 1e-7 * max(1.0, abs(x))]


def _sides(value: Callable, at: Sequence[float], slot: Sequence[int], h: float) -> tuple[float, float] | None:
    def moved(by: float) -> float | None:
        return value([x + by if k in slot else x for k, x in enumerate(at)])

    below, centre, above = moved(-h), moved(0.0), moved(h)
    if below is None or centre is None or above is None or not all(map(math.isfinite, (below, centre, above))):
        return None
    return (centre - below) / h, (above - centre) / h


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """A learner's operation that prints, prints nothing while it is only looked at."""
    with contextlib.redirect_stdout(io.StringIO()):
        yield


def why_no_graph(thing: object) -> str:
    """Why an object of a learner's class has no graph, as a sentence that starts with "it"; "" if it has one."""
    if isinstance(thing, type) or isinstance(
        thing, (str, bytes, int, float, complex, list, tuple, set, frozenset, dict, FunctionType)
    ):
        return NO_OBJECT
    kind = type(thing)
    made_in_python = bool(kind.__flags__ & 1 << 9)  # a class statement made it
    if not made_in_python or kind.__module__.split(".")[0] in sys.stdlib_module_names - {"builtins"} or is_array(thing):
        return NO_OBJECT
    result = layout_of(thing)
    return result if isinstance(result, str) else ""
