"""Random programs of views, writes, hooks, copies, higher orders, forward mode and vmap, in minigrad and in PyTorch.

    python -m tests.autograd.fuzz --live N [--from SEED]   # N programs beside torch: every difference, shrunk to the lines it needs
    python -m tests.autograd.fuzz --store                  # ask torch for the answers that test_fuzz.py compares

A program is a list of Python lines made from a seed. A line that raises does not end it: both libraries must refuse the same lines with
the same sentence, and at the end every variable must have the same numbers, gradient, tangent and flags (requires_grad, is_leaf,
_is_view, _version). What differs for a reason is named in DIFFERS.
"""

import copy
import hashlib
import io
import json
import random
import re
import sys
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

STORED = Path(__file__).parent / "fuzz.json"
SEEDS = 300
# What PyTorch answers: why minigrad answers otherwise. Further, programs are built so that these cannot occur:
# - a source that lies partly where a write through strides goes (PyTorch: chance; minigrad: as if it had been copied);
# - forward mode of v.mul_(v), v a view (PyTorch writes the tangent before it has read all of it; minigrad's is right);
# - forward mode inside func.jvp, and duals of expanded tensors (PyTorch refuses both; minigrad computes);
# - backward(inputs=[x]) of an x whose node was freed (PyTorch runs that node, minigrad does not need it);
# - whether results of torch.func require gradients: of what depends only on views made under no_grad PyTorch's do, and pass none on;
# - register_hook of a view made under no_grad (PyTorch crashes);
# - whether tangents and gradients of zeros require gradients, and the memory layout of gradients and tangents.
# These can occur; 11 to 20 of 10,000 programs do it, and no other difference was left:
# - PyTorch refuses and minigrad computes: backward through v.copy_(v) of an expanded v, and through a fill of it (or minigrad finds first
#   that what a node saved was overwritten); a source whose strides differ only where the size is 1, as a Function's view has them;
#   a leaf's view after detach_() or requires_grad_(False) and a write; a second derivative that is zero;
# - minigrad refuses and PyTorch computes: requires_grad of a view made under no_grad after its base was written to; v * v.detach() after
#   v.detach_(); a second backward through a product of views made under no_grad, which passes nothing on;
# - tangents: of what a Function hands on as it is under no_grad, after its input was written to (minigrad's is the one before); of
#   unpack_dual's primal, after what it is a view of was written to (minigrad's has one);
# - both refuse with another sentence: a second pass through an in-place operation whose first pass was refused midway (in minigrad the
#   write was already freed); what was saved has several faults, of which one is told; a tangent that was first asked for under no_grad;
# - PyTorch's own: a view made before its base came to require gradients by a write is called a leaf until something asks for its grad_fn,
#   and a write into it is refused; gradients of stacked numbers share one place, so that accumulating into one changes the other;
#   a leaf that was detached in place and then written to "has been moved into the graph interior", where minigrad goes on;
# - saved values after a write through .data or detach() that nothing counts; hooks of a root that leads to no input; the version of
#   copy.copy(parameter).
DIFFERS = {
    "RuntimeError: can't retain_grad on Tensor that has requires_grad=False": "backward(inputs=...) of a view made under no_grad: "
    "minigrad's pass runs, and gives it no gradient",
}


class Made(NamedTuple):
    """A way to write a line: `code` with {a}, {b} for operands and {new} for the result, and the result's shape (None: no result)."""

    code: str
    shape: Any = None  # a function of the operand's shape, returning None where the line does not fit


def _same(s):
    return s


def _drop_first(s):
    return s[1:] if s else None


def _at_least(n, shape):
    return lambda s: shape(s) if len(s) >= n else None


MATHS = [
    Made(code, _same)
    for code in (
        "{a}.sin()",
        "{a} * 2",
        "{a}.tanh()",
        "{a}.sigmoid()",
        "{a}.clone()",
        "{a} * 0.5",
        "{a}.relu()",
        "{a}.abs()",
        "-{a}",
        "{a} + 1",
        "{a}.clamp(-0.5, 0.7)",
        "torch.softmax({a}.reshape(-1), 0).reshape({a}.shape)",
        "{a} * {b}",
        "{a} + {b}",
        "{a} - {b}",
        "torch.maximum({a}, {b})",
        "{a} / ({b}.abs() + 1)",
        "torch.where({a} > {b}, {a}, {b} * 0.5)",
        "{a} * {a}",
        "{a} * {b}.detach()",
        "Times.apply({a})",
        "Saves.apply({a}, {b})",
        "{a}.exp()",
        "{a} ** 2",
        "torch.log({a}.abs() + 1.5)",
        "torch.rsqrt({a} * {a} + 1)",
        "({a}.abs() + 0.5) ** 1.5",
        "1.5 - {a}",
        "2 / ({a} * {a} + 2)",
        "{a}.masked_fill({a} > 0.3, -0.25)",
        "{a} * ({a} > 0)",
        "{a}.roll(1)",
        "{a}.contiguous() * 1",
        "torch.sub({a}, {b}, alpha=0.5)",
        "torch.minimum({a}, {b})",
        "torch.lerp({a}, {b}, 0.25)",
        "torch.atan2({a}, {b} + 3)",
    )
] + [
    Made("{a}.sum()", lambda s: ()),
    Made("{a}.mean()", lambda s: ()),
    Made("{a}.sum(0)", _drop_first),
    Made("{a}.amax(-1)", lambda s: s[:-1] if s else None),
    Made("torch.cat([{a}, {b}], 0)", _at_least(1, lambda s: (2 * s[0], *s[1:]))),
    Made("torch.stack([{a}, {b}])", lambda s: (2, *s)),
    Made("{a}.cumsum(0)", _at_least(1, _same)),
    Made("{a}.flip(0)", _at_least(1, _same)),
    Made("torch.tril({a})", _at_least(2, _same)),
    Made("{a}.log_softmax(-1)", _at_least(1, _same)),
    Made("torch.sort({a}, dim=0, stable=True).values", _at_least(1, _same)),
    Made("torch.logsumexp({a}, 0)", _drop_first),
    Made("{a}.prod(0) * 1", _drop_first),
    Made("{a}.var(0, correction=0)", _drop_first),
    Made("{a}.max(0).values", _drop_first),
    Made("torch.index_select({a}, 0, torch.tensor([0, 0]))", _at_least(1, lambda s: (2, *s[1:]))),
    Made("{a}[torch.tensor([0, -1])]", _at_least(1, lambda s: (2, *s[1:]))),
    Made("{a}[{a} > 0].sum()", lambda s: ()),
    Made("{a} @ {b}.t()", lambda s: (s[0], s[0]) if len(s) == 2 else None),
    Made('torch.einsum("ij,kj->ik", {a}, {b})', lambda s: (s[0], s[0]) if len(s) == 2 else None),
    Made("torch.outer({a}, {b})", lambda s: (*s, *s) if len(s) == 1 else None),
    Made("torch.index_add({a}, 0, torch.tensor([0]), {b}[:1].clone())", _at_least(1, _same)),
    Made("{a}.repeat(2, *[1] * ({a}.dim() - 1))", _at_least(1, lambda s: (2 * s[0], *s[1:]))),
]
VIEWS = [
    Made("{a}[1:]", lambda s: (s[0] - 1, *s[1:]) if s and s[0] > 1 else None),
    Made("{a}[0]", _drop_first),
    Made("{a}.view(-1)", lambda s: (_size(s),)),
    Made("{a}.reshape(-1)", lambda s: (_size(s),)),
    Made("{a}.transpose(0, -1)", _at_least(1, lambda s: (s[-1], *s[1:-1], s[0]) if len(s) > 1 else s)),
    Made("{a}.unsqueeze(0)", lambda s: (1, *s) if len(s) < 3 else None),
    Made("{a}.detach()", _same),
    Made("{a}.view_as({a})", _same),
    Made("{a}[:]", _at_least(1, _same)),
    Made("{a}.expand(2, *{a}.shape)", lambda s: (2, *s) if len(s) < 3 else None),
    Made("{a}[..., ::2]", _at_least(1, lambda s: (*s[:-1], (s[-1] + 1) // 2))),
    Made("{a}.unbind(0)[-1]", _drop_first),
    Made("{a}.chunk(2)[0]", _at_least(1, lambda s: ((s[0] + 1) // 2, *s[1:]))),
    Made("{a}.split(1)[0]", _at_least(1, lambda s: (1, *s[1:]))),
    Made("{a}.diagonal()", lambda s: (min(s),) if len(s) == 2 else None),
    Made("{a}.data", _same),
    Made("View.apply({a})", _same),
    Made("Same.apply({a})", _same),
    Made("{a}.narrow(0, 0, 1)", _at_least(1, lambda s: (1, *s[1:]))),
    Made("{a}.squeeze()", lambda s: tuple(n for n in s if n > 1)),
]
WRITES = [
    Made(code)
    for code in (
        "{a}.mul_(2)",
        "{a}.add_({b})",
        "{a}.mul_({b})",
        "{a}.copy_({b})",
        "{a}.zero_()",
        "{a}.sin_()",
        "{a}.tanh_()",
        "{a}.sub_(0.25)",
        "{a}.fill_(0.5)",
        "{a} += {b}",
        "{a} *= 0.5",
        "{a}.add_(1)",
        "Doubles.apply({a})",
        "{a}.relu_()",
        "{a}.sigmoid_()",
        "{a}.masked_fill_({a} > 0.2, 0.1)",
    )
] + [
    Made("{a}[0] = 0.5", _at_least(1, _same)),
    Made("{a}[0] = {a}.sum().detach()", _at_least(1, _same)),
    Made("{a}[1:] *= 2", _at_least(1, _same)),
    Made("{a}[..., :1] = {b}[..., 1:2].clone()", lambda s: s if s and s[-1] > 1 else None),
    Made("{a}[-1] += {b}[0].clone()", _at_least(1, _same)),
]
MARKS = [
    Made(code)
    for code in (
        "{a}.requires_grad_()",
        "{a}.requires_grad_(False)",
        "{a}.retain_grad()",
        "owned({a}).register_hook(lambda g: g * 2)",
        "owned({a}).register_hook(log)",
        "{a}.detach_()",
        "{a}.grad = None",
        "{a}.grad_fn.register_hook(lambda gi, go: None)",
        "{a}.register_post_accumulate_grad_hook(lambda p: log(p.grad))",
        "{a}.requires_grad",
    )
]
COPIES = [
    Made(f"{way}({{a}})", _same)
    for way in ("copy.copy", "copy.deepcopy", "saved", "torch.nn.Parameter", "torch.Tensor.clone")
] + [
    Made("copy.deepcopy([{a}, {b}])[1]", _same),
    Made("saved([{a}, {b}])[0]", _same),
]
PASSES = [
    Made("{a}.sum().backward()"),
    Made("({a} * {b}).sum().backward()"),
    Made("{a}.sum().backward(retain_graph=True)"),
    Made("({a} * {a}).sum().backward(create_graph=True)"),
    Made("fresh(torch.autograd.grad({a}.sum(), {b}, allow_unused=True)[0])", _same),
    Made("fresh(torch.autograd.grad(({a} * {a}).sum(), {b}, create_graph=True, allow_unused=True)[0])", _same),
    Made("({a} * {b}).sum().backward(inputs=[{b}] if {b}.is_leaf else None)"),
    Made("fresh(torch.autograd.grad({a}, {b}, torch.ones_like({a}), materialize_grads=True)[0])", _same),
]
FUNCTIONS = ("(x * x).sin()", "x.clone().mul_(x).cos()", "one(x)", "(x * {b}).tanh()", "x.view_as(x) * 2", "part(x)")
FUNCTIONAL = (
    [
        Made(f"fresh({code.replace('F(x)', f)}).detach()", shape)
        for f in FUNCTIONS
        for code, shape in (
            ("func.grad(lambda x: (F(x)).sum())(owned({a}))", _same),
            ("func.jvp(lambda x: F(x), (fresh({a}),), (torch.ones_like({a}),))[1]", _same),
            ("func.vjp(lambda x: F(x), owned({a}))[1](torch.ones_like({a}))[0]", _same),
            ("func.grad(lambda y: func.grad(lambda x: (F(x)).sum())(y).sum())(owned({a}))", _same),
            (
                "func.jvp(lambda y: func.grad(lambda x: (F(x)).sum())(y), (fresh({a}),), (torch.ones_like({a}),))[1]",
                _same,
            ),
        )
    ]
    + [
        Made(f"fresh(func.vmap({t})(owned({{a}}))).detach()", _at_least(1, _same))
        for t in (
            "lambda x: (x * x).sin()",
            "func.grad(lambda x: (x * x).sin().sum())",
            "lambda x: x.clone().mul_(x.sum())",
            "lambda x: func.jvp(torch.sin, (x,), (x,))[1]",
            "lambda x: x.tanh() + 1",
        )
    ]
    + [
        Made("fresh(func.vmap(lambda x, y: x * y.sum())(owned({a}), {b})).detach()", _at_least(1, _same)),
        Made("fresh(func.jacrev(lambda x: (x * x).sum())(owned({a}))).detach()", _same),
        Made("fresh(func.jacfwd(lambda x: x.sin().sum())(fresh({a}))).detach()", _same),
    ]
)
FORWARD = [
    Made("dual({a}, torch.ones_like({a}))", _same),
    Made("dual({a}, {b}.detach() * 2)", _same),
    Made("fw.unpack_dual({a}).primal", _same),
    Made("fresh(fw.unpack_dual({a}).tangent).detach()", _same),
]
WEIGHTS = ((MATHS, 24), (VIEWS, 26), (WRITES, 22), (MARKS, 10), (COPIES, 3), (PASSES, 8))


def _size(shape):
    return int(np.prod(shape, dtype=int))


def program(seed: int) -> list[str]:
    """The lines of a seed's program."""
    draw = random.Random(seed)
    forward = draw.random() < 0.3
    lines: list[str] = []
    shapes: dict[str, tuple] = {}
    for i in range(draw.randint(1, 3)):
        shape = draw.choice([(), (3,), (4,), (2, 3), (3, 3), (2, 1, 2)])
        numbers = [round(draw.uniform(-1, 1), 3) for _ in range(_size(shape))]
        numbers = np.array(numbers).reshape(shape).tolist()
        leaf = draw.choice(["", ".requires_grad_()", ".requires_grad_()", "[:].requires_grad_()"])
        lines.append(f"v{i} = torch.tensor({numbers}, dtype=torch.float64){leaf}")
        shapes[f"v{i}"] = shape
    tables, weights = zip(*WEIGHTS, (FORWARD, 12) if forward else (FUNCTIONAL, 4), strict=True)
    for _ in range(draw.randint(3, 14)):
        made = draw.choice(draw.choices(tables, weights)[0])
        a = draw.choice(list(shapes)[-6:])
        b = draw.choice([name for name, shape in shapes.items() if shape == shapes[a]])
        shape = made.shape and made.shape(shapes[a])
        if made.shape and shape is None:
            continue
        code = made.code.format(a=a, b=b)
        if forward and "mul_(v" in code:  # PyTorch loses part of the tangent of x.view_as(x).mul_(x), see DIFFERS
            code = code.replace(")", ".clone())")
        if made.shape and not re.match(r"v\d+\[.*\] [-+*]?= ", code):
            new = f"v{len(shapes)}"
            shapes[new] = shape
            code = f"{new} = {code}"
        lines.append(f"with torch.no_grad(): {code}" if draw.random() < 0.12 else code)
    for name in list(shapes)[-3:]:
        lines.append(f"({name} * {name}).sum().backward(retain_graph=True)")
    return ["level.__enter__()", *lines] if forward else lines


def run(torch: Any, lines: list[str]) -> dict[str, Any]:
    """What a library answers: {line or variable: what}."""
    names = _names(torch)
    found: dict[str, Any] = {}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for i, line in enumerate(lines):
            found[f"line {i}"] = _tried(lambda line=line: exec(line, names))
        for name in [n for n in names if re.fullmatch(r"v\d+", n)]:
            found[name] = _state(torch, names[name], names)
        found["log"] = names["logged"]
        _tried(lambda: exec("level.__exit__(None, None, None)", names))
    torch.set_grad_enabled(True)
    return found


def _names(torch):
    package = torch.__name__
    logged: list[Any] = []

    class Base(torch.autograd.Function):
        @staticmethod
        def setup_context(ctx, inputs, output): ...

        @staticmethod
        def backward(ctx, g):
            return g * 3

        @staticmethod
        def jvp(ctx, t):
            return t * 3

    class Times(Base):
        @staticmethod
        def forward(x):
            return x * 3

    class View(Base):
        @staticmethod
        def forward(x):
            return x.view_as(x)

        @staticmethod
        def jvp(ctx, t):
            return t.view_as(t)

    class Same(View):
        @staticmethod
        def forward(x):
            return x

    class Doubles(Base):
        @staticmethod
        def forward(x):
            return x.mul_(2)

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.mark_dirty(inputs[0])

        @staticmethod
        def jvp(ctx, t):
            return t.mul_(2)

    class Saves(torch.autograd.Function):
        @staticmethod
        def forward(x, y):
            return x * y

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            return g * y, g * x

        @staticmethod
        def jvp(ctx, t, u):
            x, y = ctx.saved_tensors
            return t * y + u * x

    def saved(x):
        file = io.BytesIO()
        torch.save(x, file)
        file.seek(0)
        return torch.load(file, weights_only=False)

    def fresh(x):
        if x is None:
            raise ValueError("nothing")
        return x.reshape(-1).clone().reshape(x.shape) * 1  # whose numbers, not whose memory

    def owned(x):
        return x.clone() if x.requires_grad and x.is_leaf and x._is_view() else x

    def dual(x, tangent):
        return fw.make_dual(x if x.is_contiguous() else x.contiguous(), tangent)

    def log(g):
        logged.append(_numbers(g))

    def one(x):
        x = x * 1
        x.view(-1)[:1].mul_(3)
        return x

    def part(x):
        y = torch.zeros_like(x)
        y.view(-1)[:1] = x.reshape(-1)[:1] * 2
        return y + x

    fw = import_module(f"{package}.autograd.forward_ad")
    given = {
        "torch": torch,
        "func": import_module(f"{package}.func"),
        "fw": fw,
        "copy": copy,
        "level": fw.dual_level(),
        "logged": logged,
    }
    return given | {
        f.__name__: f for f in (Times, View, Same, Doubles, Saves, saved, fresh, owned, dual, log, one, part)
    }


def _tried(function):
    try:
        return function()
    except Exception as e:
        sentence = re.split(r"\. |\n|: \[", str(e).strip())[0].strip().rstrip(".")
        sentence = re.sub("of (torch::autograd::Identity|Alias)", "of View", sentence)  # of make_dual and unpack_dual
        return f"{type(e).__name__}: {re.sub(r'0x[0-9a-f]+', '0x', sentence)[:160]}"


def _numbers(x):
    """A few numbers that tell whether two tensors are the same."""
    if x is None:
        return None
    flat = np.array(x.detach().clone().tolist(), float).reshape(-1)
    return [*x.shape, float(f"{(np.cos(np.arange(flat.size)) * flat).sum():.6g}"), float(f"{np.abs(flat).sum():.6g}")]


def _state(torch, x, names):
    if not isinstance(x, torch.Tensor):
        return repr(x)
    numbers = _numbers(x)
    zeros = numbers[-1] == 0  # a gradient of zeros may be attached or not
    return [
        None if zeros else _tried(lambda: x.requires_grad),
        None if zeros else _tried(lambda: x.is_leaf),
        x._is_view(),
        _tried(lambda: x._version),
        type(x).__name__,
        numbers,
        _tried(lambda: _numbers(x.grad)),
        _tried(lambda: _numbers(names["fw"].unpack_dual(x).tangent)),
    ]


def difference(mine: dict[str, Any], theirs: dict[str, Any]) -> str | None:
    """The first difference between two answers, in words."""
    for key in theirs:
        if not _close(mine.get(key), theirs[key]) and (isinstance(theirs[key], list) or theirs[key] not in DIFFERS):
            return f"{key}: {mine.get(key)}\n      PyTorch: {theirs[key]}"
    return None


def _close(a, b):
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(_close(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, float) and isinstance(b, float):
        return bool(np.isclose(a, b, 1e-4, 1e-7, equal_nan=True))
    return type(a) is type(b) and a == b


def shrink(lines: list[str], fails: Any) -> list[str]:
    """The program without every line that is not needed to fail."""
    again = True
    while again:
        again = False
        for i in reversed(range(len(lines))):
            shorter = lines[:i] + lines[i + 1 :]
            if fails(shorter):
                lines, again = shorter, True
    return lines


def digest(answer: dict[str, Any]) -> list[Any]:
    """An answer to store: a hash of all that is exact, and the numbers."""
    numbers: list[float] = []

    def exact(x):
        if isinstance(x, list):
            return [exact(v) for v in x]
        if isinstance(x, float):
            numbers.append(x)
            return "#"
        return x

    text = json.dumps({k: exact(v) for k, v in answer.items()})
    return [hashlib.sha256(text.encode()).hexdigest()[:12], numbers]


def live(first: int, count: int) -> int:
    """Compare beside torch; prints each kind of difference once, shrunk."""
    minigrad, torch = import_module("minigrad"), import_module("torch")
    torch.set_num_threads(1)
    kinds: dict[str, int] = {}
    found = 0
    for seed in range(first, first + count):
        lines = program(seed)
        what = difference(run(minigrad, lines), run(torch, lines))
        if what is None:
            continue
        found += 1

        def fails(shorter):
            return difference(run(minigrad, shorter), run(torch, shorter)) is not None

        small = shrink(lines, fails)
        what = difference(run(minigrad, small), run(torch, small))
        kind = re.sub(r"v\d+|\d[\d.e+-]*", "", "\n".join(small[-2:]) + (what or ""))
        kinds[kind] = kinds.get(kind, 0) + 1
        if kinds[kind] == 1:
            print(f"# seed {seed}\n" + "\n".join(small) + f"\n   -> {what}\n", flush=True)
    print(f"{found} of {count} programs differ")
    return found


def main() -> int:
    arguments = dict(zip(sys.argv[1::2], sys.argv[2::2], strict=False))
    if "--live" in arguments:
        return min(live(int(arguments.get("--from", SEEDS)), int(arguments["--live"])), 1)
    torch = import_module("torch")
    answers: dict[int, Any] = {}
    seed = 0
    while len(answers) < SEEDS:
        theirs = run(torch, program(seed))
        if not any(what in DIFFERS for what in theirs.values() if isinstance(what, str)):
            answers[seed] = digest(theirs)
        seed += 1
    STORED.write_text(
        "{\n" + ",\n".join(f'"{seed}": {json.dumps(answer)}' for seed, answer in answers.items()) + "\n}\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
