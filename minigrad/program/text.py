"""From recorded lines to Python text, and from the text to a function.

What lives here: which lines are needed, what everything is called, one statement for each line. What does not: the recording (recorder.py).

The program computes with arrays, in the order in which the step did, and so needs no rule about what may be moved across a write. Its
arithmetic is that of the rows of the derivatives table: `a * b` where that is the row's function, else a call of it.
"""

import itertools
import keyword
import linecache
import operator
import re
from sys import getrefcount
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.dispatch import state
from ..core.op import Op
from ..core.ownership import ALONE
from ..core.variable import Variable, wrap
from ..ops.shape import reshape_alias, view
from ..ops.shape import t as transpose
from ..optim.optimizer import Optimizer
from .formulas import CALLS
from .loops import HELD, Loop, connect, fold, given_to, joined, planned, text_of
from .pictured import Spots
from .recorder import Line, Recorder, Val, all_vals
from .rows import looked_up, text_of_check
from .surroundings import Surroundings, Unfit, same

INFIX = {
    operator.add: "{} + {}",
    operator.sub: "{} - {}",
    operator.mul: "{} * {}",
    np.true_divide: "{} / {}",
    operator.neg: "-{}",
}
_numbers = itertools.count()
LARGE = 4096  # bytes: smaller values live until the program returns, without a `del` to read
MISS = object()


SAME = {transpose, view, reshape_alias}  # views that, where shape and strides are the same, are of the same numbers
NUMPYS = (np.exp, np.log, np.sin, np.cos, np.tanh, np.sqrt)  # loops call functions of these names, too


def missed(*args, **named):
    """What a program gives whose guards do not hold."""
    return MISS


def kind_of(a):
    """What a compiled loop has to know of an array: its dtype, dimensions, order in memory, and whether it may only be read."""
    return (
        a.dtype.name,
        a.ndim,
        "C" if a.flags.c_contiguous else "F" if a.flags.f_contiguous else "A",
        not a.flags.writeable,
    )


def empty(a) -> str:
    """The text that makes memory like an array's."""
    return f"empty({a.shape}, {a.dtype.name}{'' if a.flags.c_contiguous else ', ' + repr('F')})"


def update(optimizer):
    """One step of an optimiser, as its own `step` does it."""
    before, state.grad = state.grad, False
    try:
        Optimizer.step.__wrapped__(optimizer)  # type: ignore[attr-defined]
    finally:
        state.grad = before


def with_loops(lines: list[Line], returned: list[Val], written: set[int]) -> list[Line]:
    """The lines, with loops for runs of elementwise ones."""
    lines = joined(fold(lines, written), written)
    connect(lines, returned, written)
    lines = needed(lines, returned)
    connect(lines, returned, written)
    return lines


def views_of_the_same(lines: list[Line]) -> dict[int, Val]:
    """{view: what it shows} of the views that change nothing: the transpose of a transpose, and those that keep the shape."""
    found: dict[int, Val] = {}
    for line in lines:
        if line.kind == "op" and line.what.view and line.what.single and len(line.ins) == 1:
            source, out = line.ins[0], line.outs[0]
            if line.what is transpose and source.line is not None and source.line.what is transpose:
                source = source.line.ins[0]
            a, b = source.array, out.array
            if (
                out.base is source.base
                and (a.shape, a.strides, a.dtype) == (b.shape, b.strides, b.dtype)
                and line.what in SAME
            ):
                found[id(out)] = source
    return found


def needed(lines: list[Line], results: list[Val]) -> list[Line]:
    """The lines whose results are read later, or that change something outside."""
    live: set[int] = set()

    def need(values):
        for v in values:
            if isinstance(v, Val):
                live.update((id(v), id(v.base)))
            elif isinstance(v, (tuple, list)):
                need(v)

    need(results)
    kept = []
    for line in reversed(lines):
        if line.kind in ("write", "add"):
            base = line.ins[0].base
            wanted = id(base) in live or (base.line is None and base.name != "constant")
        else:
            wanted = line.kind in ("grad", "update", "schedule", "check", "follow") or any(
                [id(v) in live for v in line.outs]
            )
        if wanted:
            kept.append(line)
            need(line.ins)
            need(line.params)
    return kept[::-1]


class Program:
    """source  the text to read; `run(*args)` gives the step's result, or MISS where the guards do not hold.

    pictured  the recorded call as a graph, and what became of its operations (pictured.py)
    ready     `run` will not be exchanged for another
    loops     {name: (text, dtype, what arrays it takes)}; `run` may be called once `scope` has a function under each name
    """

    ready = True

    def __init__(self, name: str, recorder: Recorder, out: Any, around: Surroundings, names: list[str], args: tuple, plain: bool,
                 loops: bool = False):  # fmt: skip
        self.name_of_step = name = name if name.isidentifier() else "step"
        self.around, self.outside, self.entry = around, recorder.outside, recorder.entry
        self.scope: dict[str, Any] = {
            "__name__": __name__, "np": np, "wrap": wrap, "asarray": np.asarray, "vars": vars, "copyto": np.copyto, "update": update,
            "inf": np.inf, "nan": np.nan, "array": np.array, "empty": np.empty, "slice": slice, "state": state, "same": same, "ids": {},
            "Variable": Variable, **dict.fromkeys([*CALLS, "free", "new", "in_lines", "args", "named"]),
            "otherwise": missed, "len": len, "dtypes": dtypes, "modes": None, "spare": [], "refs": getrefcount,
        }  # fmt: skip
        plain = plain and not self.scope.keys() & {*names}
        names = [f"{n}_" if n in self.scope else n for n in names]
        self.texts: dict[int, str] = {}  # of Vals, tensors and other things, by id
        for function in NUMPYS:
            self.texts[id(function)], self.scope[function.__name__] = function.__name__, function
        self.loops: dict[str, tuple[str, str, tuple]] = {}
        self.scalars: set[int] = set()  # Vals that are numpy's scalars, not arrays
        self.body: list[str] = []
        self.spots = Spots()
        self.kept = [recorder.kept, out]  # no id may be used twice
        template = recorder.results(out)
        self.found = set(recorder.known)
        returned = list(_vals(template))
        self.lines = needed(recorder.lines, returned)
        written = [line.ins[0].base for line in self.lines if line.kind in ("write", "add")]
        written += [v.base for line in self.lines if line.kind == "follow" for v in line.ins]
        self.written = {id(v) for v in written}
        if loops:
            self.lines = with_loops(self.lines, returned, self.written)
        given = [x for x in args if isinstance(x, Variable)]
        tensors = self.take(recorder, names, args)
        self.unwritten_copies(returned)
        for v in dict.fromkeys(written):
            if v.name == "constant":
                text = self.fresh_name("c")
                self.body.append(f"{text} = array({self.thing(recorder.start.get(id(v.array), v.array), 'start')})")
                self.texts[id(v)] = text
        self.with_loops, self.again = loops, views_of_the_same(self.lines) if loops else {}
        self.once: list[str] = []  # what is done when the program is made
        self.static = {id(recorder.val(t)): t.array for _, t in around.tensors.values()} if loops else {}
        for x in given:
            self.static.pop(id(recorder.val(x)), None)
        self.buffers = planned(self.lines, self.escaping(returned)) if loops else {}
        self.filled: dict[str, np.ndarray] = {}  # the arrays that are made and filled by loops, by name
        self.wrapped: dict[
            str, list[tuple[str, str | None]]
        ] = {}  # by an array's name: the tensor around it, whose gradient it is
        self.statements(returned, template)
        program = f"def {name}({', '.join(tensors)}):\n    " + "\n    ".join(self.body) + "\n"
        once = "".join([line + "\n" for line in self.once])
        self.source = "\n".join([*[text for text, *_ in self.loops.values()], *filter(None, [once]), program])
        body = self.with_spares(returned)
        self.run = self.function(
            "run", self.guarded(names if plain else None, tensors, self.guards(tensors, args), body)
        )
        self.text = self.source + self.constants()
        self.pictured = self.spots.pictured(recorder, dict(around.tensors.values()))
        del (
            self.kept,
            self.lines,
            self.outside,
            self.entry,
            self.texts,
            self.around,
            self.found,
        )  # the arrays of the recorded call
        del self.static, self.buffers, self.spots

    def take(self, recorder: Recorder, names: list[str], args: tuple) -> list[str]:
        """What the arguments are called; the tensors' own names are those of their arrays."""
        ending = "_tensor" if not {*names} & {f"{n}_tensor" for n in names} else "_tensor_"
        tensors = [f"{n}{ending}" if isinstance(x, Variable) else n for n, x in zip(names, args, strict=True)]
        for text, x, n in zip(tensors, args, names, strict=True):
            if isinstance(x, Variable):
                val = recorder.val(x)
                self.scope[text], self.scope[n] = None, None  # these names are taken
                self.texts[id(x)], self.texts[id(val)] = text, n
                self.kept.append(val)
                self.body.append(f"{n} = {text}.array")
        return tensors

    def hand_on(self, otherwise: Any) -> None:
        """Where its guards do not hold, `run` gives what this function gives for the same arguments."""
        self.scope["otherwise"] = otherwise

    def statements(self, returned: list[Val], template: tuple) -> None:
        """The body: one statement for each line."""
        self.place: Any = None
        self.checks = sum([line.kind == "check" for line in self.lines])
        last = self.last_lines(returned)
        for number, line in enumerate(self.lines):
            if line.kind != "loop":
                self.comment(line, self.body)
            self.spots.begin(line, self.body)
            getattr(self, "emit_" + line.kind)(line)
            if gone := list(
                dict.fromkeys([self.texts[id(v)] for v in last.get(number, ()) if id(v) not in self.static])
            ):
                self.body.append("del " + ", ".join(gone))
        self.spots.begin(None, self.body)
        self.body.append(f"return {self.returned(template)}")

    def with_spares(self, returned: list[Val]) -> list[str]:
        """The body as it runs: the tensors that leave it are those of the last call, unless they are still held or were changed."""
        entry = {id(v) for _, v in self.entry.values() if v is not None}
        read = [v for line in self.lines for v in all_vals([*line.ins, *line.params])]
        if any([id(v.base) in entry for v in [*read, *returned]]):
            return self.body  # old gradients are needed until the end
        ends = {leaf: tensor for found in self.wrapped.values() for tensor, leaf in found}
        names, made = [], set()
        fresh: list[str] = []
        last = self.fresh_name("last")
        for name, a in self.filled.items():
            (tensor, leaf), *more = self.wrapped.get(name, [("", None)])
            if not tensor or more or a.nbytes > HELD or (leaf is not None and ends[leaf] != tensor):
                continue
            made.add(name)
            own = self.fresh_name(tensor + "_attributes")
            names += [tensor, name, own]
            held = (
                f"refs({tensor}) != {ALONE + 2} or {leaf}._grad is not {tensor}"
                if leaf
                else f"refs({tensor}) != {ALONE + 1}"
            )
            fresh += [
                f"if ({held} or refs({name}) != {ALONE + 2} or {own} or {tensor}.array is not {name}",
                f"        or {tensor}.requires or {tensor}.meta is not None or {tensor}.version[0] or {tensor}._grad is not None):",
                f"    {name} = {empty(a)}", f"    {tensor} = wrap({name})", f"    {own} = vars({tensor})", "    new = True",
            ]  # fmt: skip
        if not made:
            return self.body
        all_names = ", ".join(names)
        lines = ["try:", f"    {last} = spare.pop()", "except IndexError:", f"    {last} = (None,) * {len(names)}"]
        lines += [f"{all_names} = {last}", "new = False", *fresh]
        for line in self.body:
            start, _, end = line.rpartition(" = ")
            if end.startswith("wrap(") and end[5:-1] in made:
                lines.append(start if " = " in start else "")
            elif line.startswith("del "):
                left = [name for name in line[4:].split(", ") if name not in made]
                lines.append("del " + ", ".join(left) if left else "")
            elif not (end.startswith("empty(") and start in made):
                lines.append(line)
        lines.insert(-1, f"spare.append(({all_names}) if new else {last})")
        return [line for line in lines if line]

    def guarded(self, names: list[str] | None, tensors: list[str], guards: list[str], body: list[str]) -> str:
        """The text of the function that runs: the program behind its guards. Whoever finds its buffers in use runs line by line.

        names  of the step's parameters, if Python itself may check and sort the arguments; it does so in less time than this text
        """
        if names is None:
            head, args = "*args, **named", "*args"
            lines = [f"if named or len(args) != {len(tensors)}:", "    return otherwise(*args, **named)"]
            lines += [f"{', '.join(tensors)}, = args"] if tensors else []
        else:
            head, args = ", ".join(names), ", ".join(tensors)
            lines = [f"{args} = {head}"] if names != tensors else []
        lines.append("modes = state.__dict__")
        lines += ["if not (" + "\n            and ".join(dict.fromkeys(guards)) + "):", f"    return otherwise({args})"]
        if self.buffers:
            self.scope["free"] = [True]  # as quick as a lock is not: who pops it has the buffers
            lines += ["try:", "    free.pop()", "except IndexError:", f"    return in_lines({args})", "try:"]
            lines += ["    " + line for line in body]
            lines += ["finally:", "    free.append(True)"]
        else:
            lines += body
        return f"def run({head}):\n    " + "\n    ".join([line for line in lines if line]) + "\n"

    def function(self, name: str, text: str) -> Any:
        """The function of a text. Its own name is not in its scope, where a learner's `update` would hide ours."""
        found: dict[str, Any] = {}
        title = f"<minigrad program {name} {next(_numbers)}>"
        linecache.cache[title] = (len(text), None, text.splitlines(True), title)
        exec(compile(text, title, "exec"), self.scope, found)  # noqa: S102
        return found[name]

    def escaping(self, returned: list[Val]) -> set[int]:
        """The memory that may still be referenced when the program has run."""
        kept = [*returned, *[v for line in self.lines if line.kind == "grad" for v in line.ins]]
        return {id(v.base) for v in kept} | {id(line.ins[0].base) for line in self.lines if id(line) in self.left_out}

    def last_lines(self, returned: list[Val]) -> dict[int, list[Val]]:
        """{line: the large values that are not read afterwards}: their memory is used again, as it is without a program."""
        last: dict[int, tuple[int, Val]] = {}
        copies = {id(line.outs[0]): line.ins[0] for line in self.lines if id(line) in self.left_out}
        names = {**self.again, **copies}  # two Vals, one name

        def named(v):
            while id(v) in names:
                v = names[id(v)]
            return v

        for number, line in enumerate(self.lines):
            for v in all_vals([*line.ins, *line.params, *[v for v in line.outs if v is not None]]):
                v = named(v)
                if v.line is not None and v.base.array.nbytes >= LARGE and id(v.base) not in self.buffers:
                    last[id(v)] = number, v
        for v in returned:
            last.pop(id(named(v)), None)
        ends: dict[int, list[Val]] = {}
        for number, v in last.values():
            ends.setdefault(number, []).append(v)
        return ends

    # Names --------------------------------------------------------------------------------------------------------------

    def fresh_name(self, base: str) -> str:
        base = re.sub(r"\W+", "_", base).strip("_") or "v"
        base = (
            base
            if not base[0].isdigit() and not keyword.iskeyword(base) and base not in ("array", "wrap", "update")
            else "v_" + base
        )
        name, n = base, 0
        while name in self.scope or (base in ("v", "c", "loop", "buffer") and n == 0):
            n += 1
            name = f"{base}{n}"
        self.scope[name] = None
        return name

    def thing(self, value: Any, base: str) -> str:
        """The name of something that the program holds."""
        if id(value) not in self.texts:
            self.texts[id(value)] = name = self.fresh_name(base)
            self.scope[name] = value
        return self.texts[id(value)]

    def tensor(self, t: Variable) -> str:
        return self.texts[id(t)] if id(t) in self.texts else self.thing(t, self.outside[id(t)][0] + "_tensor")

    def name(self, v: Any, scalar: bool = False) -> str:
        """The text for a value; with `scalar` a number may stand for an array of one."""
        if not isinstance(v, Val):
            return self.written_out(v)
        if id(v) not in self.texts:
            owner = next(((t, g) for t, g in self.entry.values() if g is v), None)
            if owner is not None:
                self.texts[id(v)] = self.fresh_name("grad")
                self.body.append(f"{self.texts[id(v)]} = {self.tensor(owner[0])}._grad.array")
            else:
                self.thing(v.array, "c" if v.name == "constant" else v.name)
                self.texts[id(v)] = self.texts[id(v.array)]
        text = self.texts[id(v)]
        if v.name == "constant" and scalar and v.array.ndim == 0 and id(v) not in self.written:
            number = str(v.array[()])  # of a float32 its own shortest digits
            return f"({number})" if number.startswith("-") else number
        if scalar and v.array.ndim == 0 and id(v) not in self.scalars:
            return f"{text}[()]"
        return f"asarray({text})" if not scalar and id(v) in self.scalars else text

    def written_out(self, p: Any) -> str:
        """A parameter of an operation."""
        if isinstance(p, Val):
            return self.name(p)
        if type(p) in (int, float, bool, str, type(None)):
            return repr(p)
        if isinstance(p, tuple) and type(p).__name__ not in ("Size",) and type(p) is tuple:
            return "(" + ", ".join([self.written_out(q) for q in p]) + ("," if len(p) == 1 else "") + ")"
        if type(p) is list:
            return f"[{', '.join([self.written_out(q) for q in p])}]"
        if isinstance(p, slice):
            plain = all(type(q) in (int, type(None)) for q in (p.start, p.stop, p.step))
            return f"slice({p.start!r}, {p.stop!r}, {p.step!r})" if plain else self.thing(p, "part")
        return self.thing(p, "k")

    def comment_in_loop(self, name: str) -> Any:
        def comment(line, body):
            self.comment(line, body)
            self.spots.begin(line, body, name)

        return comment

    def comment(self, line: Line, body: list[str]) -> None:
        if line.place is None or (line.place, line.back) == self.place:
            return
        self.place = line.place, line.back
        code, number = line.place
        text = linecache.getline(code.co_filename, number).strip()
        body.append(f"# line {number}{', going back' if line.back else ''}: {text}")

    # One statement for each line ------------------------------------------------------------------------------------------

    def buffer(self, v: Val) -> str:
        """The name of the memory that is planned for a value."""
        a = self.static[id(v)] = self.buffers[id(v)]
        if id(a) not in self.texts:
            self.scope[a.dtype.name] = a.dtype
            self.once.append(f"{self.thing(a, 'buffer')} = {empty(a)}")
        return self.texts[id(a)]

    def view_once(self, line: Line) -> bool:
        """A view of memory that stays where it is is made when the program is. Is this one?"""
        op, v = line.what, line.outs[0]
        given = self.static.get(id(line.ins[0])) if op.view and op.single and len(line.ins) == 1 else None
        if given is None or any(all_vals(line.params)):
            return False
        made = op.forward(given, *line.params)
        if not np.may_share_memory(made, given) or made.strides != v.array.strides:
            return False
        given_name = self.texts[id(given)] if id(given) in self.texts else self.name(line.ins[0])
        self.texts[id(v)] = self.texts[id(made)] = name = self.fresh_name("v")
        self.scope[name] = self.static[id(v)] = made
        given = ", ".join([given_name, *[self.written_out(p) for p in line.params]])
        self.once.append(f"{name} = {self.thing(op.forward, op.name)}({given})")
        return True

    def emit_op(self, line: Line) -> None:
        op: Op = line.what
        if id(line.outs[0]) in self.buffers:
            given = [*[self.name(v) for v in line.ins], self.buffer(line.outs[0])]
            self.texts[id(line.outs[0])] = self.fresh_name("v")
            self.body.append(
                f"{self.texts[id(line.outs[0])]} = {self.thing(op.forward, op.forward.__name__)}({', '.join(given)})"
            )
            return
        if (source := self.again.get(id(line.outs[0]))) is not None:  # one array, two names
            self.texts[id(line.outs[0])] = self.name(source)
            return
        if self.static and self.view_once(line):
            return
        outs = [self.texts.setdefault(id(v), self.fresh_name("v")) for v in line.outs]
        single = line.outs[0] if len(line.outs) == 1 and op.single else None
        form = INFIX.get(op.forward) if not isinstance(op.forward, np.ufunc) else None
        if form is None and isinstance(op.forward, np.ufunc) and not line.params:
            form = (
                INFIX.get(op.forward)
                or f"{self.thing(op.forward, op.forward.__name__)}({', '.join(['{}'] * len(line.ins))})"
            )
        if form is not None and single is not None:
            kind = {v.array.dtype for v in line.ins}
            loose = len(kind) == 1  # a number is of the other operand's dtype
            anchored = any([v.name != "constant" for v in line.ins])
            number = single.array.ndim == 0
            texts = []
            for v in line.ins:
                simple = v.name == "constant" and loose and anchored and v.array.ndim == 0
                simple = simple and v.array.dtype.kind in "fi" and np.isfinite(v.array)
                texts.append(self.name(v, scalar=simple or (number and v.name != "constant")))
            text = form.format(*texts)
            if number and id(single) not in self.written:
                self.scalars.add(id(single))
            elif number:
                text = f"asarray({text})"
            self.body.append(f"{outs[0]} = {text}")
            return
        given = [self.name(v) for v in line.ins]
        if op.tensor_list:
            given = ["[" + ", ".join(given) + "]"]
        text = f"{self.thing(op.forward, op.name)}({', '.join([*given, *[self.written_out(p) for p in line.params]])})"
        if single is not None and single.array.ndim == 0:
            text = f"asarray({text})"
        self.body.append(f"{', '.join(outs)}{',' if single is None and len(outs) == 1 else ''} = {text}")
        if single is None:
            self.body += [f"{o} = asarray({o})" for o, v in zip(outs, line.outs, strict=True) if v.array.ndim == 0]

    def emit_loop(self, loop: Loop) -> None:
        calls = {id(v): self.name(v) for v in loop.ins}
        self.place = None
        for line in loop.lines:
            for v in line.outs:
                if len(line.outs) == 1 or v in loop.outs:
                    self.texts[id(v)] = self.fresh_name("v")
        for v in loop.outs:
            a, name = v.array, self.texts[id(v)]
            if id(v) in self.buffers:
                calls[id(v)] = name
                self.body.append(f"{name} = {self.buffer(v)}")
                continue
            self.scope[a.dtype.name] = a.dtype
            self.body.append(f"{name} = {empty(a)}")
            calls[id(v)] = name
            if id(v) not in self.written and self.checks == 0:  # who raises has changed no gradient that is there
                self.filled[name] = a
        name = self.fresh_name("loop")
        arrays = given_to(loop, self.texts)
        text = text_of(loop, name, self.texts, self.written, self.comment_in_loop(name))
        self.loops[name] = text, loop.dtype, tuple([kind_of(v.array) for v in arrays])
        self.body.append(f"{name}({', '.join([calls[id(v)] for v in arrays])})")
        self.place = None

    def emit_rule(self, line: Line) -> None:
        title, function, joint = line.what
        outs = ["_" if v is None else self.texts.setdefault(id(v), self.fresh_name("v")) for v in line.outs]
        text = f"{self.thing(function, title)}({', '.join([self.written_out(p) for p in line.params])})"
        numbers = [o for o, v in zip(outs, line.outs, strict=True) if v is not None and v.array.ndim == 0]
        if joint:
            self.body += [
                f"{', '.join(outs)}{',' if len(outs) == 1 else ''} = {text}",
                *[f"{o} = asarray({o})" for o in numbers],
            ]
        else:
            self.body.append(f"{outs[0]} = asarray({text})" if numbers else f"{outs[0]} = {text}")

    def emit_cast(self, line: Line) -> None:
        (v,) = line.outs
        self.texts[id(v)] = name = self.fresh_name("v")
        self.body.append(f"{name} = {self.name(line.ins[0])}.astype({line.what.name!r})")

    def unwritten_copies(self, returned: list[Val]) -> None:
        """Find the copies that can be left out: of fresh memory that is kept nowhere else and never written to."""
        escapes = [id(v.base) for v in returned] + [
            id(v.base) for line in self.lines if line.kind == "grad" for v in line.ins
        ]
        sources = [id(line.ins[0].base) for line in self.lines if line.kind == "copy"]
        self.left_out: set[int] = set()
        for line in self.lines:
            if line.kind == "copy":
                v, out = line.ins[0], line.outs[0]
                base = v.base
                owner = base.array if base.array.base is None else base.array.base
                fresh = base.line is not None and base.line.kind in ("op", "rule") and owner.size == v.array.size and (
                    owner is base.array or type(owner) is np.ndarray and id(owner) not in self.found)  # fmt: skip
                if (
                    fresh
                    and not {id(base), id(out)} & self.written
                    and sources.count(id(base)) == 1
                    and id(base) not in escapes
                ):
                    self.left_out.add(id(line))

    def emit_copy(self, line: Line) -> None:
        (v,), source = line.outs, line.ins[0]
        text = self.name(source)
        if id(line) in self.left_out:  # one array, two names
            self.texts[id(v)] = self.texts[id(source)]
            self.scalars.update({id(v)} if id(source) in self.scalars else ())
        else:
            self.texts[id(v)] = self.fresh_name("v")
            self.body.append(f"{self.texts[id(v)]} = array({text})")

    def emit_write(self, line: Line) -> None:
        target, v = line.ins
        self.body.append(f"copyto({self.name(target)}, {self.name(v)})")
        owner = next((t for _, t in self.outside.values() if t.version is line.what.version), None)
        if owner is not None:
            self.body.append(f"{self.tensor(owner)}.version[0] += 1")

    def emit_add(self, line: Line) -> None:
        target, v = line.ins
        text = self.name(target)
        self.body.append(f"{text} += {self.name(v)}")
        owner = next((t for t, g in self.entry.values() if g is target), None)
        if owner is not None:
            self.body.append(f"{self.tensor(owner)}._grad.version[0] += 1")

    def emit_grad(self, line: Line) -> None:
        (grad,), leaf = line.params, self.tensor(line.what)
        if grad is None:
            self.body.append(f"{leaf}._grad = None")
        elif id(grad) in self.texts:
            self.body.append(f"{leaf}._grad = {self.texts[id(grad)]}")
        elif id(grad) in self.outside:
            self.body.append(f"{leaf}._grad = {self.tensor(grad)}")
        else:
            self.texts[id(grad)] = name = self.fresh_name(leaf.removesuffix("_tensor") + "_grad")
            text = self.name(line.ins[0])
            self.wrapped.setdefault(text, []).append((name, leaf))
            self.body.append(f"{leaf}._grad = {name} = wrap({text})")

    def emit_update(self, line: Line) -> None:
        self.body.append(f"update({self.thing(line.what, 'optimizer')})")

    def emit_schedule(self, line: Line) -> None:
        self.body.append(f"{self.thing(line.what, 'scheduler')}.step({self.arguments(line)})")

    def arguments(self, line: Line) -> str:
        """What a function is given that the program calls as the step did, with tensors around arrays."""
        return ", ".join([
            f"wrap({self.name(p[1])})" if isinstance(p, tuple) and p and p[0] == "tensor" else self.written_out(p) for p in line.params
        ])  # fmt: skip

    def emit_follow(self, line: Line) -> None:
        self.body.append(f"{self.thing(line.what, 'follow')}({self.arguments(line)})")

    def emit_check(self, line: Line) -> None:
        self.checks -= 1
        call = f"{self.thing(line.what, line.what.__name__.strip('_'))}({self.arguments(line)})"
        found = looked_up(line) if self.with_loops else None
        if (
            found is not None and found[0].array.dtype == np.int64 and found[0].array.ndim == 1
        ):  # a small loop asks whether it has to look
            v, size, none = found
            name, array = self.fresh_name("outside"), self.name(v)
            self.loops[name] = text_of_check(name, array, v.array.size, size, none), "float64", (kind_of(v.array),)
            call = f"if {name}({array}):\n    {call}"
        self.body += call.split("\n")

    def returned(self, template: tuple) -> str:
        kind, value, *more = template
        if kind == "tensor":
            tensor = more[0]
            if id(tensor) not in self.texts:
                text = self.name(value)
                text = (
                    f"array({text})" if value.base.name == "constant" and id(value.base) not in self.written else text
                )
                self.texts[id(tensor)] = name = self.fresh_name("result")
                self.wrapped.setdefault(text, []).append((name, None))
                self.body.append(f"{name} = wrap({text})")
            return self.texts[id(tensor)]
        if kind == "outside":
            return self.tensor(value)
        if kind == "fixed":
            return self.written_out(value)
        if kind == "dict":
            return "{" + ", ".join([f"{self.written_out(k)}: {self.returned(v)}" for k, v in value.items()]) + "}"
        inner = ", ".join([self.returned(v) for v in value])
        return f"[{inner}]" if kind == "list" else f"({inner}{',' if len(value) == 1 else ''})"

    def constants(self) -> str:
        """The numbers that stand in no text, for comparison."""
        return repr([(name, value.shape, value.tobytes()) for name, value in self.scope.items()
                     if isinstance(value, np.ndarray) and not any(value is t.array for _, t in self.outside.values())])  # fmt: skip

    # Guards -------------------------------------------------------------------------------------------------------------

    def guards(self, tensors: list[str], args: tuple) -> list[str]:
        """What must hold for the program to be the step, as expressions."""
        scope = self.scope
        default = self.thing(dtypes.get_default_dtype(), "default")
        tests = [f"not modes['handlers'] and modes['grad'] is {state.grad} and not modes['inference'] and not modes['anomaly']",
                 f"dtypes._default is {default}"]  # fmt: skip
        for text, x in zip(tensors, args, strict=True):
            if isinstance(x, Variable):
                a = x.array
                kind, layout = self.thing(type(x), "kind"), self.thing(a.dtype, "dtype")
                tests.append(
                    f"type({text}) is {kind} and {text}.array.shape == {tuple(a.shape)} and {text}.array.dtype is {layout}"
                )
                tests.append(
                    f"{text}.array.strides == {a.strides} and ({text}.view_meta is None) is {x.view_meta is None}"
                )
                tests.append(f"not vars({text})")
                tests.append(f"{text}.requires is {x.requires} and {text}.edge is None")
                tests.append(f"({text}.meta is None or {text}.meta.hooks is None)")
                if x.requires:
                    tests.append(f"id({text}) not in ids")
            else:
                tests.append(f"same({text}, {self.thing(x, 'value')})")
        given = [t for t, x in zip(tensors, args, strict=True) if isinstance(x, Variable)]
        tests += [f"{a}.array is not {b}.array" for i, a in enumerate(given) for b in given[:i]]
        scope["ids"].update({id(t): t for _, t in self.around.tensors.values()})
        for t, grad in self.entry.values():
            tests.append(f"{self.tensor(t)}._grad is {'None' if grad is None else 'not None'}")
            if grad is not None and id(grad) in self.texts:  # it is read
                tests.append(
                    f"not {self.tensor(t)}._grad.requires and {self.tensor(t)}._grad.array.strides == {grad.array.strides}"
                )
        names = {}
        for key, value in self.around.scope.items():
            names[key] = self.thing(value, key)
        tests += [re.sub(r"\b(k\d+|MISSING|same)\b", lambda m: names[m.group()], guard) for guard in self.around.guards]
        return tests


def _vals(template):
    kind, value, *_ = template
    if kind == "tensor":
        yield value
    elif kind in ("tuple", "list"):
        for v in value:
            yield from _vals(v)
    elif kind == "dict":
        for v in value.values():
            yield from _vals(v)


__all__ = ["MISS", "Program", "Unfit", "missed"]
