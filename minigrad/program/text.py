"""From recorded lines to Python text, and from the text to a function.

`Writer` names every value and writes one or more statements for each line; `Program` holds the text and the function made of it. Which
lines are needed is decided in plan.py, which of them share a loop in loops.py, and what must hold for a call in guards.py.

The program computes with arrays in the order in which the step did, so no rule is needed about what may be moved across a write. Its
arithmetic is that of the rows of the derivatives table: `a * b` where that is the row's function, else a call of it.
"""

import itertools
import keyword
import linecache
import operator
import re
from collections.abc import Callable, Iterator
from sys import getrefcount
from typing import Any, NamedTuple

import numpy as np

from ..core import dtypes
from ..core.dispatch import state
from ..core.op import Op
from ..core.ownership import ALONE
from ..core.variable import Variable, wrap
from ..optim.optimizer import Optimizer
from .formulas import CALLS
from .guards import conditions, guarded
from .loops import HELD, Loop, arrays_of, planned, text_of
from .pictured import pictured
from .plan import escaping, identity_views, last_reads, needed, omitted_copies, with_loops
from .recorder import Line, Recorder, Val, all_vals
from .rows import looked_up, text_of_check
from .statements import Allocation, Deletion, Statement, Wrap
from .surroundings import Surroundings, same

INFIX: dict[Any, str] = {
    operator.add: "{} + {}",
    operator.sub: "{} - {}",
    operator.mul: "{} * {}",
    np.true_divide: "{} / {}",
    operator.neg: "-{}",
}
NUMPYS = (np.exp, np.log, np.sin, np.cos, np.tanh, np.sqrt)  # compiled loops call functions of these names, too
MISS = object()  # returned by a program whose guards do not hold
_numbers = itertools.count()


def missed(*args: Any, **named: Any) -> object:
    return MISS


def kind_of(a: np.ndarray) -> tuple[str, int, str, bool]:
    """What a compiled loop is specialised to: an array's dtype, number of dimensions, memory order, and whether it is read-only."""
    order = "C" if a.flags.c_contiguous else "F" if a.flags.f_contiguous else "A"
    return a.dtype.name, a.ndim, order, not a.flags.writeable


def empty(a: np.ndarray) -> str:
    """The expression that allocates memory like an array's."""
    return f"empty({a.shape}, {a.dtype.name}{'' if a.flags.c_contiguous else ', ' + repr('F')})"


def update(optimizer: Any) -> None:
    """One step of an optimiser, as its own `step` does it."""
    before, state.grad = state.grad, False
    try:
        Optimizer.step.__wrapped__(optimizer)  # type: ignore[attr-defined]
    finally:
        state.grad = before


class RecordedCall(NamedTuple):
    """One recorded call of a step.

    out         what the step returned
    names       what its arguments are called
    positional  are all its parameters positional, without defaults, and all given?
    """

    step: str
    recorder: Recorder
    out: Any
    around: Surroundings
    names: list[str]
    args: tuple
    positional: bool


class Program:
    """A compiled step.

    run       the function: the step's result, or what `otherwise` returns where the guards do not hold
    source    the text to read
    text      the source and its constants: two recordings with the same text are the same program
    loops     {name: (text, dtype, kinds of its arrays)}; `run` may be called once `scope` has a function under each name
    pictured  the recorded call as a graph, and what became of its operations (pictured.py)
    ready     `run` will not be exchanged for another function
    """

    ready = True

    def __init__(self, call: RecordedCall, loops: bool = False) -> None:
        writer = Writer(call, loops)
        self.name_of_step, self.scope, self.loops = writer.step, writer.scope, writer.loops
        self.source = writer.source()
        self.run = self._function(writer.text_of_run())
        self.text = self.source + writer.constants()
        self.pictured = pictured(call.recorder, dict(call.around.tensors.values()), writer.all_statements)

    def hand_on(self, otherwise: Callable[..., Any]) -> None:
        """Where the guards do not hold, `run` returns what this function returns for the same arguments."""
        self.scope["otherwise"] = otherwise

    def _function(self, text: str) -> Callable[..., Any]:
        """The function of a text. It is not in its own scope: a step that is called `update` would replace the function of that name."""
        local: dict[str, Any] = {}
        title = f"<minigrad program run {next(_numbers)}>"
        linecache.cache[title] = (len(text), None, text.splitlines(True), title)
        exec(compile(text, title, "exec"), self.scope, local)  # noqa: S102
        return local["run"]


class Writer:
    """Writes the text of one call. It refers to the arrays of that call, so it is dropped once the program is made.

    texts       {id of a Val, a tensor or another object: its name}
    body        the statements of the program
    static      {id of a Val: its array}, of memory that is the same at each call
    allocated   {name: array}, of memory that a loop fills
    wrapped     {name of an array: (tensor around it, leaf whose gradient it is)}
    once        lines that run when the program is made
    """

    def __init__(self, call: RecordedCall, loops: bool) -> None:
        self.call, recorder = call, call.recorder
        self.step = step = call.step if call.step.isidentifier() else "step"
        self.around, self.outside, self.entry = call.around, recorder.outside, recorder.entry
        self.scope: dict[str, Any] = {
            "__name__": __name__, "np": np, "wrap": wrap, "asarray": np.asarray, "vars": vars, "copyto": np.copyto, "update": update,
            "inf": np.inf, "nan": np.nan, "array": np.array, "empty": np.empty, "slice": slice, "state": state, "same": same, "ids": {},
            "Variable": Variable, **dict.fromkeys([*CALLS, "free", "new", "in_lines", "args", "named"]),
            "otherwise": missed, "len": len, "dtypes": dtypes, "modes": None, "spare": [], "refs": getrefcount,
        }  # fmt: skip
        self.positional = call.positional and not self.scope.keys() & {*call.names}
        self.names = [f"{n}_" if n in self.scope else n for n in call.names]
        self.texts: dict[int, str] = {}
        for function in NUMPYS:
            self.texts[id(function)], self.scope[function.__name__] = function.__name__, function
        self.loops: dict[str, tuple[str, str, tuple]] = {}
        self.scalars: set[int] = set()  # Vals that are numpy scalars, not arrays
        self.body: list[Statement] = []
        self.of_loops: list[Statement] = []
        self.line: Line | None = None  # the line that is being written
        self.alive: list[Any] = []  # objects that are named by their id, which must not be reused
        self.once: list[str] = []
        self.static: dict[int, np.ndarray] = {}
        self.allocated: dict[str, np.ndarray] = {}
        self.wrapped: dict[str, list[tuple[str, str | None]]] = {}

        template = recorder.results(call.out)
        recorded = set(recorder.vals)
        self.returned = list(_vals(template))
        self.lines = needed(recorder.lines, self.returned)
        written = [line.ins[0].base for line in self.lines if line.kind in ("write", "add")]
        written += [v.base for line in self.lines if line.kind == "follow" for v in line.ins]
        self.written = {id(v) for v in written}
        if loops:
            self.lines = with_loops(self.lines, self.returned, self.written)
        self.tensors = self.take_arguments()
        self.omitted = omitted_copies(self.lines, self.returned, self.written, recorded)
        self.copy_constants(written)
        self.with_loops, self.identical = loops, identity_views(self.lines) if loops else {}
        self.buffers: dict[int, np.ndarray] = {}
        if loops:
            self.static = {id(recorder.val(t)): t.array for _, t in self.around.tensors.values()}
            for x in call.args:
                if isinstance(x, Variable):
                    self.static.pop(id(recorder.val(x)), None)
            self.buffers = planned(self.lines, escaping(self.lines, self.returned, self.omitted))
        self.write_lines(template)
        parameters = ", ".join(self.tensors)
        self.program = f"def {step}({parameters}):\n    " + "\n    ".join([s.text for s in self.body]) + "\n"

    def take_arguments(self) -> list[str]:
        """Name the arguments; the step's own names become those of their arrays. Returns the names of the parameters."""
        names, args = self.names, self.call.args
        ending = "_tensor" if not {*names} & {f"{n}_tensor" for n in names} else "_tensor_"
        tensors = [f"{n}{ending}" if isinstance(x, Variable) else n for n, x in zip(names, args, strict=True)]
        for text, x, n in zip(tensors, args, names, strict=True):
            if isinstance(x, Variable):
                val = self.call.recorder.val(x)
                self.scope[text], self.scope[n] = None, None  # reserves the names
                self.texts[id(x)], self.texts[id(val)] = text, n
                self.alive.append(val)
                self.add(f"{n} = {text}.array")
        return tensors

    def copy_constants(self, written: list[Val]) -> None:
        """A constant that the program writes to starts each call as it was in the recording."""
        start = self.call.recorder.start
        for v in dict.fromkeys(written):
            if v.name == "constant":
                text = self.fresh_name("c")
                self.add(f"{text} = array({self.thing(start.get(id(v.array), v.array), 'start')})")
                self.texts[id(v)] = text

    def write_lines(self, template: tuple) -> None:
        """The body: statements for each line, a `del` after the last use of large values, and the `return`."""
        self.place: Any = None
        self.checks = sum([line.kind == "check" for line in self.lines])
        copies = {id(line.outs[0]): line.ins[0] for line in self.lines if id(line) in self.omitted}
        last = last_reads(self.lines, self.returned, {**self.identical, **copies}, self.buffers)
        for number, line in enumerate(self.lines):
            if line.kind != "loop":
                self.body += self.comment(line)
            self.line = line
            getattr(self, "write_" + line.kind)(line)
            self.line = None
            names = dict.fromkeys([self.texts[id(v)] for v in last.get(number, ()) if id(v) not in self.static])
            if names:
                self.body.append(Deletion("del " + ", ".join(names), names=tuple(names)))
        self.add(f"return {self.result(template)}")

    @property
    def all_statements(self) -> list[Statement]:
        return [*self.of_loops, *self.body]

    def source(self) -> str:
        once = "".join([line + "\n" for line in self.once])
        return "\n".join([*[text for text, *_ in self.loops.values()], *filter(None, [once]), self.program])

    def constants(self) -> str:
        """The arrays that no text writes out, for comparison."""
        outside = [t.array for _, t in self.outside.values()]
        arrays = [(name, a) for name, a in self.scope.items() if isinstance(a, np.ndarray)]
        return repr([(name, a.shape, a.tobytes()) for name, a in arrays if not any(a is other for other in outside)])

    def text_of_run(self) -> str:
        """The text of the function that runs: guards, and the body with the tensors of the last call."""
        body = self.body_with_spares()
        tests = conditions(self, self.tensors, self.call.args)
        if self.buffers:
            # list.pop() is atomic and takes less time than a lock: the thread that pops the item has the buffers
            self.scope["free"] = [True]
        return guarded(self.names if self.positional else None, self.tensors, tests, body, bool(self.buffers))

    def body_with_spares(self) -> list[str]:
        """The body as it runs: results and gradients use the tensors of the last call again, unless these are still referenced or were
        changed."""
        body = [s.text for s in self.body]
        entry = {id(v) for _, v in self.entry.values() if v is not None}
        read = [v for line in self.lines for v in all_vals([*line.ins, *line.params])]
        if any([id(v.base) in entry for v in [*read, *self.returned]]):
            return body  # the gradients at entry are read during the whole program
        newest = {leaf: tensor for pairs in self.wrapped.values() for tensor, leaf in pairs}
        names: list[str] = []
        spare: set[str] = set()
        fresh: list[str] = []
        last = self.fresh_name("last")
        for name, a in self.allocated.items():
            (tensor, leaf), *more = self.wrapped.get(name, [("", None)])
            if not tensor or more or a.nbytes > HELD or (leaf is not None and newest[leaf] != tensor):
                continue
            spare.add(name)
            attributes = self.fresh_name(tensor + "_attributes")
            names += [tensor, name, attributes]
            in_use = f"refs({tensor}) != {ALONE + 1}"
            if leaf:
                in_use = f"refs({tensor}) != {ALONE + 2} or {leaf}._grad is not {tensor}"
            fresh += [
                f"if ({in_use} or refs({name}) != {ALONE + 2} or {attributes} or {tensor}.array is not {name}",
                f"        or {tensor}.requires or {tensor}.meta is not None or {tensor}.version[0] or {tensor}._grad is not None):",
                f"    {name} = {empty(a)}", f"    {tensor} = wrap({name})", f"    {attributes} = vars({tensor})", "    new = True",
            ]  # fmt: skip
        if not spare:
            return body
        all_names = ", ".join(names)
        return [
            "try:", f"    {last} = spare.pop()", "except IndexError:", f"    {last} = (None,) * {len(names)}",
            f"{all_names} = {last}", "new = False", *fresh,
            *[text for s in self.body[:-1] if (text := s.with_spare(spare)) is not None],
            f"spare.append(({all_names}) if new else {last})",
            self.body[-1].text,
        ]  # fmt: skip

    # Names --------------------------------------------------------------------------------------------------------------

    def add(self, text: str, calls: str = "") -> None:
        self.body.append(Statement(text, self.line, calls))

    def fresh_name(self, base: str) -> str:
        base = re.sub(r"\W+", "_", base).strip("_") or "v"
        if base[0].isdigit() or keyword.iskeyword(base) or base in ("array", "wrap", "update"):
            base = "v_" + base
        name, n = base, 0
        while name in self.scope or (base in ("v", "c", "loop", "buffer") and n == 0):
            n += 1
            name = f"{base}{n}"
        self.scope[name] = None
        return name

    def thing(self, value: Any, base: str) -> str:
        """The name of an object in the program's scope."""
        if id(value) not in self.texts:
            self.texts[id(value)] = name = self.fresh_name(base)
            self.scope[name] = value
        return self.texts[id(value)]

    def tensor(self, t: Variable) -> str:
        return self.texts[id(t)] if id(t) in self.texts else self.thing(t, self.outside[id(t)][0] + "_tensor")

    def name(self, v: Any, scalar: bool = False) -> str:
        """The expression for a value; with `scalar` a number may take the place of an array of one."""
        if not isinstance(v, Val):
            return self.literal(v)
        if id(v) not in self.texts:
            owner = next(((t, g) for t, g in self.entry.values() if g is v), None)
            if owner is not None:
                self.texts[id(v)] = self.fresh_name("grad")
                self.add(f"{self.texts[id(v)]} = {self.tensor(owner[0])}._grad.array")
            else:
                self.thing(v.array, "c" if v.name == "constant" else v.name or "v")
                self.texts[id(v)] = self.texts[id(v.array)]
        text = self.texts[id(v)]
        if v.name == "constant" and scalar and v.array.ndim == 0 and id(v) not in self.written:
            number = str(v.array[()])  # the shortest digits of its own dtype
            return f"({number})" if number.startswith("-") else number
        if scalar and v.array.ndim == 0 and id(v) not in self.scalars:
            return f"{text}[()]"
        return f"asarray({text})" if not scalar and id(v) in self.scalars else text

    def literal(self, p: Any) -> str:
        """A parameter of an operation, written out where that is possible."""
        if isinstance(p, Val):
            return self.name(p)
        if type(p) in (int, float, bool, str, type(None)):
            return repr(p)
        if type(p) is tuple:
            return "(" + ", ".join([self.literal(q) for q in p]) + ("," if len(p) == 1 else "") + ")"
        if type(p) is list:
            return f"[{', '.join([self.literal(q) for q in p])}]"
        if isinstance(p, slice):
            plain = all(type(q) in (int, type(None)) for q in (p.start, p.stop, p.step))
            return f"slice({p.start!r}, {p.stop!r}, {p.step!r})" if plain else self.thing(p, "part")
        return self.thing(p, "k")

    def new_names(self, outs: tuple) -> list[str]:
        return ["_" if v is None else self.texts.setdefault(id(v), self.fresh_name("v")) for v in outs]

    def comment(self, line: Line) -> list[Statement]:
        """The user's line of code, as a comment above its first statement."""
        if line.place is None or (line.place, line.back) == self.place:
            return []
        self.place = line.place, line.back
        code, number = line.place
        text = linecache.getline(code.co_filename, number).strip()
        return [Statement(f"# line {number}{', going back' if line.back else ''}: {text}")]

    # Statements of each kind of line ------------------------------------------------------------------------------------------

    def buffer(self, v: Val) -> str:
        """The name of the memory that is planned for a value."""
        a = self.static[id(v)] = self.buffers[id(v)]
        if id(a) not in self.texts:
            self.scope[a.dtype.name] = a.dtype
            self.once.append(f"{self.thing(a, 'buffer')} = {empty(a)}")
        return self.texts[id(a)]

    def view_once(self, line: Line) -> bool:
        """Make a view of memory that is the same at each call once, with the program. False if this line is no such view."""
        op, v = line.what, line.outs[0]
        base = self.static.get(id(line.ins[0])) if op.view and op.single and len(line.ins) == 1 else None
        if base is None or any(all_vals(line.params)):
            return False
        view = op.forward(base, *line.params)
        if not np.may_share_memory(view, base) or view.strides != v.array.strides:
            return False
        base_name = self.texts[id(base)] if id(base) in self.texts else self.name(line.ins[0])
        self.texts[id(v)] = self.texts[id(view)] = name = self.fresh_name("v")
        self.scope[name] = self.static[id(v)] = view
        arguments = ", ".join([base_name, *[self.literal(p) for p in line.params]])
        self.once.append(f"{name} = {self.thing(op.forward, op.name)}({arguments})")
        return True

    def write_op(self, line: Line) -> None:
        op: Op = line.what
        out = line.outs[0]
        if id(out) in self.buffers:
            arguments = [*[self.name(v) for v in line.ins], self.buffer(out)]
            self.texts[id(out)] = name = self.fresh_name("v")
            function = self.thing(op.forward, op.forward.__name__)
            self.add(f"{name} = {function}({', '.join(arguments)})", function)
        elif (source := self.identical.get(id(out))) is not None:
            self.texts[id(out)] = self.name(source)
        elif not (self.static and self.view_once(line)):
            names = self.new_names(line.outs)
            if not self.write_expression(line, names[0]):
                self.write_call(line, names)

    def write_expression(self, line: Line, name: str) -> bool:
        """`v = a * b` or `v = tanh(a)`, where numbers may take the place of arrays of one. False if the row's function is no such."""
        op: Op = line.what
        form, function = INFIX.get(op.forward), ""
        if form is None and isinstance(op.forward, np.ufunc) and not line.params:
            function = self.thing(op.forward, op.forward.__name__)
            form = f"{function}({', '.join(['{}'] * len(line.ins))})"
        elif isinstance(op.forward, np.ufunc) and line.params:
            form = None
        if form is None or len(line.outs) != 1 or not op.single:
            return False
        out = line.outs[0]
        one_dtype = len({v.array.dtype for v in line.ins}) == 1  # a Python number takes the other operand's dtype
        one_array = any([v.name != "constant" for v in line.ins])
        number = out.array.ndim == 0
        texts = []
        for v in line.ins:
            constant = v.name == "constant"
            literal = constant and one_dtype and one_array and v.array.ndim == 0
            literal = literal and v.array.dtype.kind in "fi" and bool(np.isfinite(v.array))
            texts.append(self.name(v, scalar=literal or (number and not constant)))
        text = form.format(*texts)
        if number and id(out) not in self.written:
            self.scalars.add(id(out))
        elif number:
            text = f"asarray({text})"
        self.add(f"{name} = {text}", function)
        return True

    def write_call(self, line: Line, names: list[str]) -> None:
        """`v1, v2 = function(a, b, parameters)`."""
        op: Op = line.what
        arguments = [self.name(v) for v in line.ins]
        if op.tensor_list:
            arguments = ["[" + ", ".join(arguments) + "]"]
        function = self.thing(op.forward, op.name)
        text = f"{function}({', '.join([*arguments, *[self.literal(p) for p in line.params]])})"
        if len(names) == 1 and op.single:
            text = f"asarray({text})" if line.outs[0].array.ndim == 0 else text
            self.add(f"{names[0]} = {text}", function)
        else:
            self.write_results(line, names, text, function)

    def write_results(self, line: Line, names: list[str], text: str, function: str) -> None:
        """Assign several results. Kernels may return numbers for arrays of one."""
        self.add(f"{', '.join(names)}{',' if len(names) == 1 else ''} = {text}", function)
        for name, v in zip(names, line.outs, strict=True):
            if v is not None and v.array.ndim == 0:
                self.add(f"{name} = asarray({name})")

    def write_loop(self, loop: Loop) -> None:
        arguments = {id(v): self.name(v) for v in loop.ins}
        self.place = None
        for line in loop.lines:
            for v in line.outs:
                if len(line.outs) == 1 or v in loop.outs:
                    self.texts[id(v)] = self.fresh_name("v")
        for v in loop.outs:
            a, name = v.array, self.texts[id(v)]
            arguments[id(v)] = name
            if id(v) in self.buffers:
                self.add(f"{name} = {self.buffer(v)}")
                continue
            self.scope[a.dtype.name] = a.dtype
            self.body.append(Allocation(f"{name} = {empty(a)}", self.line, name=name))
            # A check that raises must leave the last call's gradients intact
            if id(v) not in self.written and self.checks == 0:
                self.allocated[name] = a
        name = self.fresh_name("loop")
        arrays = arrays_of(loop, self.texts)
        text, statements = text_of(loop, name, self.texts, self.written, self.comment)
        self.of_loops += statements
        self.loops[name] = text, loop.dtype, tuple([kind_of(v.array) for v in arrays])
        self.add(f"{name}({', '.join([arguments[id(v)] for v in arrays])})")
        self.place = None

    def write_rule(self, line: Line) -> None:
        title, function, joint = line.what
        names = self.new_names(line.outs)
        function = self.thing(function, title)
        text = f"{function}({', '.join([self.literal(p) for p in line.params])})"
        if joint:
            self.write_results(line, names, text, function)
        else:
            number = line.outs[0] is not None and line.outs[0].array.ndim == 0
            self.add(f"{names[0]} = asarray({text})" if number else f"{names[0]} = {text}", function)

    def write_cast(self, line: Line) -> None:
        (v,) = line.outs
        self.texts[id(v)] = name = self.fresh_name("v")
        self.add(f"{name} = {self.name(line.ins[0])}.astype({line.what.name!r})")

    def write_copy(self, line: Line) -> None:
        (v,), source = line.outs, line.ins[0]
        text = self.name(source)
        if id(line) in self.omitted:  # a second name for the same array
            self.texts[id(v)] = self.texts[id(source)]
            self.scalars.update({id(v)} if id(source) in self.scalars else ())
        else:
            self.texts[id(v)] = self.fresh_name("v")
            self.add(f"{self.texts[id(v)]} = array({text})", "array")

    def write_write(self, line: Line) -> None:
        target, v = line.ins
        self.add(f"copyto({self.name(target)}, {self.name(v)})")
        owner = next((t for _, t in self.outside.values() if t.version is line.what.version), None)
        if owner is not None:
            self.add(f"{self.tensor(owner)}.version[0] += 1")

    def write_add(self, line: Line) -> None:
        target, v = line.ins
        text = self.name(target)
        self.add(f"{text} += {self.name(v)}")
        owner = next((t for t, g in self.entry.values() if g is target), None)
        if owner is not None:
            self.add(f"{self.tensor(owner)}._grad.version[0] += 1")

    def write_grad(self, line: Line) -> None:
        (grad,), leaf = line.params, self.tensor(line.what)
        if grad is None:
            self.add(f"{leaf}._grad = None")
        elif id(grad) in self.texts:
            self.add(f"{leaf}._grad = {self.texts[id(grad)]}")
        elif id(grad) in self.outside:
            self.add(f"{leaf}._grad = {self.tensor(grad)}")
        else:
            self.texts[id(grad)] = tensor = self.fresh_name(leaf.removesuffix("_tensor") + "_grad")
            self.wrap(tensor, self.name(line.ins[0]), leaf)

    def wrap(self, tensor: Any, array: str, leaf: str | None = None) -> None:
        self.wrapped.setdefault(array, []).append((tensor, leaf))
        target = f"{leaf}._grad = {tensor}" if leaf else tensor
        self.body.append(Wrap(f"{target} = wrap({array})", self.line, "wrap", tensor, array, leaf))

    def write_update(self, line: Line) -> None:
        self.add(f"update({self.thing(line.what, 'optimizer')})")

    def write_schedule(self, line: Line) -> None:
        self.add(f"{self.thing(line.what, 'scheduler')}.step({self.arguments(line)})")

    def arguments(self, line: Line) -> str:
        """The arguments of a function that the program calls as the step did, with tensors around arrays."""
        return ", ".join([
            f"wrap({self.name(p[1])})" if isinstance(p, tuple) and p and p[0] == "tensor" else self.literal(p) for p in line.params
        ])  # fmt: skip

    def write_follow(self, line: Line) -> None:
        self.add(f"{self.thing(line.what, 'follow')}({self.arguments(line)})")

    def write_check(self, line: Line) -> None:
        self.checks -= 1
        call = f"{self.thing(line.what, line.what.__name__.strip('_'))}({self.arguments(line)})"
        lookup = looked_up(line) if self.with_loops else None
        if lookup is not None and lookup[0].array.dtype == np.int64 and lookup[0].array.ndim == 1:
            v, size, ignored = lookup  # a small loop decides whether the function has to be called at all
            name, array = self.fresh_name("outside"), self.name(v)
            self.loops[name] = text_of_check(name, array, v.array.size, size, ignored), "float64", (kind_of(v.array),)
            self.add(f"if {name}({array}):")
            call = "    " + call
        self.add(call)

    def result(self, template: tuple) -> str:
        """The expression of what the step returns, as `Recorder.results` describes it."""
        kind, value, *more = template
        if kind == "tensor":
            tensor = more[0]
            if id(tensor) not in self.texts:
                text = self.name(value)
                if value.base.name == "constant" and id(value.base) not in self.written:
                    text = f"array({text})"
                self.texts[id(tensor)] = name = self.fresh_name("result")
                self.wrap(name, text)
            return self.texts[id(tensor)]
        if kind == "outside":
            return self.tensor(value)
        if kind == "fixed":
            return self.literal(value)
        if kind == "dict":
            return "{" + ", ".join([f"{self.literal(k)}: {self.result(v)}" for k, v in value.items()]) + "}"
        inner = ", ".join([self.result(v) for v in value])
        return f"[{inner}]" if kind == "list" else f"({inner}{',' if len(value) == 1 else ''})"


def _vals(template: tuple) -> Iterator[Val]:
    kind, value, *_ = template
    if kind == "tensor":
        yield value
    elif kind in ("tuple", "list"):
        for v in value:
            yield from _vals(v)
    elif kind == "dict":
        for v in value.values():
            yield from _vals(v)
