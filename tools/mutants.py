"""`make mutants`: small breaks made on purpose, each in a copy of the project. Do the tests of its area notice?

    python -m tools.mutants             all of them; ends with how many were caught, and fails below the goal
    python -m tools.mutants heat kit    those whose file or change has one of these words

A break is one line that a tired person could have written. When the line it changes is rewritten, choose another one like it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
COPY = ROOT / "build" / f"mutants-{os.getpid()}"
GOAL = 26 / 30  # of them are caught
SECONDS = 240  # for the tests of one; an endless loop is caught, too

GOLDEN = "tests/widgets/test_golden.py"
FRONT = "tests/front/test_front.py::test_front"
PANELS = "tests/widgets/test_error_panels.py"
MAGICS = "tests/widgets/test_magics.py"


class Mutant(NamedTuple):
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


# ruff: noqa: E501
def _all() -> list[Mutant]:
    js, lessons, explain = "widgets/front/src", "widgets/lessons", "widgets/explain"
    scenes, still, picture = (
        f"{FRONT}[view.test.mjs]",
        (GOLDEN, "tests/widgets/test_static.py"),
        f"{FRONT}[picture.test.mjs]",
    )
    model = f"{FRONT}[model.test.mjs]"
    rows = [
        # the stored picture
        ("widgets/heat.py", "math.ceil(abs(v) / top * LEVELS)", "1 + math.floor(abs(v) / top * LEVELS)", *still),
        ("widgets/heat.py", "'n' if v < 0 else 'p'", "'p' if v < 0 else 'n'", *still),
        ("widgets/static.py", '"▴ " if g > 0 else "▾ "', '"▾ " if g > 0 else "▴ "', *still),
        ("widgets/static.py", 'return f"view of {shorten(', 'return f"copy of {shorten(', *still),
        ("widgets/static.py", 'edge["source"] in now.known and edge["target"] in now.known', 'edge["source"] in now.known', *still),
        ("widgets/static.py", 'f"∂{name}/∂{n[\'label\']}"', 'f"∂{n[\'label\']}/∂{name}"', *still),
        # the view in Python
        ("widgets/view/sweeps.py", 'return others and inputs[str(sweep["node"])] in points_of(sweep)', "return others",
         "tests/widgets/test_graph.py"),
        ("widgets/view/messages.py", "min(max(step, 0), total)", "max(step, 0)", "tests/widgets/test_graph.py", "tests/widgets/test_faults.py"),
        ("widgets/cells.py", "if not old.cells:", "if True:", "tests/widgets/test_cells.py"),
        ("widgets/fold.py", "todo.sort(key=lambda f: (len", "todo.sort(key=lambda f: (-len",
         "tests/widgets/test_graph_fold.py"),
        # magics and error panels
        ("widgets/magics/namespace.py", "else -r[at][1])", "else r[at][1])", MAGICS),
        ("widgets/magics/memory.py", "key=lambda item: -sum(item[1])", "key=lambda item: sum(item[1])", MAGICS),
        (f"{explain}/about_shapes.py", "if len(s) > d} - {1}", "if len(s) > d}", PANELS),
        (f"{explain}/about_shapes.py", "n == p and k != q", "n != p and k != q", PANELS),
        (f"{explain}/history.py", "return list(reversed(_behind(", "return list((_behind(", PANELS),
        # lessons
        (f"{lessons}/kit.py", "round(sent) if self.whole", "int(sent) if self.whole", "tests/widgets/test_lesson_kit.py"),
        (f"{lessons}/kit.py", "math.log10(self.high)) if self.log else (self.low, self.high)\n        return",
         "math.log10(self.low)) if self.log else (self.low, self.high)\n        return", "tests/widgets/test_lesson_kit.py"),
        (f"{lessons}/passes.py", '(("forward", self.n, "fwd"), ("reverse", self.m, "bwd"))', '(("forward", self.m, "fwd"), ("reverse", self.n, "bwd"))',
         f"{GOLDEN}::test_lesson_golden[passes]"),
        (f"{lessons}/passes.py", 'max(self.n, self.m) / min(self.n, self.m)', 'max(self.n, self.m) / max(1, self.n)', f"{GOLDEN}::test_lesson_golden[passes]"),
        (f"{lessons}/step_size.py", 'if kind == "forward":', 'if kind != "forward":', f"{GOLDEN}::test_lesson_golden[step_size]"),
        (f"{lessons}/hvp_cost.py", "self.steps[name], 1)) / most", "self.steps[name], 1)) / 2 / most", f"{GOLDEN}::test_lesson_golden[hvp_cost]"),
        (f"{lessons}/frames.py", "int(a) <= k <= int(b)", "int(a) <= k < int(b)", f"{FRONT}[frames.test.mjs]",
         "tests/widgets/test_lessons_race.py"),
        # the front end
        (f"{js}/model/judge.js", "(short ? 1e-9 : 5e-3)", "(short ? 1e-9 : 5e-2)", scenes, model),
        (f"{js}/model/numbers.js", "1.5 + 2.5 * (Math.log1p((9 * a) / most) / Math.log(10))", "1.5 + (2.5 * a) / most", model),
        (f"{js}/model/moment.js", "back: step - 1, next: step + 1", "back: step + 1, next: step - 1", model),
        (f"{js}/model/moment.js", "before: sums[to], after: sums[to] + sends", "before: sums[to], after: sends", model),
        (f"{js}/model/graph.js", "found.add(up ? e.source : e.target)", "found.add(up ? e.target : e.source)", scenes),
        (f"{js}/model/sweep.js", "Math.abs(xs[high] - x) < Math.abs(xs[low] - x) ? high : low", "low", model),
        (f"{js}/model/arrays.js", '`${v < 0 ? "n" : "p"}', '`${v < 0 ? "p" : "n"}', picture),
        (f"{js}/picture/cards.js", 'sum > 0 ? "▴ " : sum < 0 ? "▾ " : ""', 'sum > 0 ? "▾ " : sum < 0 ? "▴ " : ""', scenes),
        (f"{js}/picture/cards.js", "value, grad] = card.flat", "grad, value] = card.flat", scenes),
        (f"{js}/picture/wires.js", 'sent ? "b" : ready ? "f" : "idle"', 'ready ? "f" : sent ? "b" : "idle"', picture),
        (f"{js}/panes/ledger.js", "const [, , incoming, sends, sum]", "const [, , sends, incoming, sum]", scenes),
        (f"{js}/panes/values.js", "!got ? \"\" : trace.arrays", "!known ? \"\" : trace.arrays", scenes),
        (f"{js}/transport.js", '"click", () => move(what)', '"click", () => move("next")', scenes),
        (f"{js}/words.js", "now.got === now.need", "now.got <= now.need", scenes),
        (f"{js}/lesson.js", "if (answered && !this.#next.length) made.update(c);", "made.update(c);", f"{FRONT}[lesson.test.mjs]"),
        (f"{js}/frames.js", "return a <= k && k <= b;", "return a <= k && k < b;", f"{FRONT}[frames.test.mjs]"),
        # the engine
        ("minigrad/autograd/engine.py", "elif number < number_of_leaf:", "elif number > number_of_leaf:", "tests/engine/test_core_engine.py"),
        ("minigrad/autograd/engine.py", "if node.frees and not keep_graph:", "if node.frees:", "tests/engine/test_core_engine.py"),
        ("minigrad/autograd/engine.py", "sums[number] = g if sums[number] is None else sums[number] + g", "sums[number] = g",
         "tests/engine/test_core_engine.py", "tests/engine/test_reference.py"),
        ("minigrad/autograd/accumulate.py", "(g.base is None or _is_whole(g))", "True", "tests/engine/test_core_engine.py"),
        ("minigrad/autograd/accumulate.py", "        old.version[0] += 1", "        pass", "tests/engine/test_core_engine.py", "tests/engine/test_core_writes.py"),
        ("minigrad/autograd/inplace.py", "if not packs and holders(old):", "if packs and holders(old):", "tests/engine/test_core_writes.py"),
        ("minigrad/autograd/inplace.py", "reach += stride * (n - 1)", "reach += stride * n", "tests/engine/test_core_writes.py", "tests/autograd/test_views.py"),
        ("minigrad/core/node.py", "del old[0].hooks.retain[old[1]]", "pass", "tests/engine/test_core_writes.py", "tests/autograd"),
        ("minigrad/ops/reduce.py", "return (x - mean_dim(x, dim, True)) * (2 / n if n > 0", "return (x - mean_dim(x, dim, True)) * (2 / (n + correction) if n > 0",
         "tests/engine/test_rows.py"),
        ("minigrad/ops/reduce.py", "before(cumprod_(x, dim), dim, 1) * backwards(", "cumprod_(x, dim) * backwards(", "tests/engine/test_rows.py"),
        ("minigrad/ops/losses.py", "return (t + 1 - y) * sigmoid(x) - t", "return (t + y) * sigmoid(x) - t", "tests/nn/test_reference.py", "tests/nn/test_functional.py"),
        ("minigrad/ops/losses.py", "counted = y != ignore_index", "counted = y >= 0", "tests/nn/test_functional.py", "tests/nn/test_reference.py"),
        ("minigrad/tensors/indexing.py", "return select(x, dim, i % size)", "return select(x, dim, abs(i))", "tests/engine/test_methods.py", "tests/engine/test_core_engine.py"),
        ("minigrad/optim/adam.py", "(lr / (1 - betas[0] ** t))", "(lr / (1 - betas[1] ** t))", "tests/optim"),
        ("minigrad/optim/lr_scheduler.py", "is None else epoch\n        with self._stepping():\n            closed", "is None else 0\n        with self._stepping():\n            closed", "tests/optim"),
        ("minigrad/nn/module_state.py", "if k not in module._non_persistent_buffers_set", "", "tests/nn"),
        ("minigrad/func/batching.py", "cells = 1 + sum(", "cells = sum(", "tests/autograd"),
        ("minigrad/tape.py", "grads[:, self._silent] = np.nan", "pass", "tests/engine/test_tape.py"),
        ("minigrad/tape.py", "for i, kind in enumerate(graph.kinds) if kind == \"leaf\"", "for i, kind in enumerate(graph.kinds) if kind != \"op\"",
         "tests/engine/test_tape.py"),
        ("minigrad/tracing/naming.py", "last = len(raw[:end].decode(errors=\"ignore\")) - indent", "last = end - indent", "tests/engine/test_trace.py", "tests/engine/test_trace_tensor.py"),
        # compiled steps
        ("minigrad/program/surroundings.py", "fixed(then) and repr(now) == repr(then)", "fixed(then) and now == then", "tests/engine/test_fusion.py"),
        ("minigrad/program/surroundings.py", "self.attributes_read & OF_MEMORY", "set()", "tests/engine/test_fusion.py"),
        ("minigrad/program/surroundings.py", 'self.guard(f"({place} is {expected} or same({place}, {expected}))")', "pass", "tests/engine/test_program.py"),
        # marks
        ("minigrad/course/judge.py", "score = 0.0  # no points", "pass  # no points", "tests/course/test_judge.py", "tests/course/test_exercises.py"),
        ("minigrad/course/judge.py", "for p in ex.probes if p.name in right) /", "for p in ex.probes if p.name not in right) /", "tests/course/test_judge.py"),
        ("minigrad/course/comparing.py", "if (g < 0) != (w < 0):", "if (g < 0) == (w < 0):", "tests/course/test_judge.py", "tests/course/test_check.py"),
        ("minigrad/course/comparing.py", "difference <= atol + rtol * abs(w)", "difference <= atol + rtol", "tests/course/test_judge.py", "tests/course/test_exercises.py"),
        ("minigrad/course/symptoms.py", "k not in (0.0, 1.0) and math.isfinite(k)", "k not in (0.0, 1.0)", "tests/course/test_judge.py"),
        ("minigrad/course/guard.py", "left = limits.seconds - (spent() - began)", "left = 0", "tests/course/test_check.py"),
        ("minigrad/course/grading/roll.py", "if mark.points is None:\n                row", "if mark.points == 0:\n                row", "tests/course/test_grade.py"),
        # words that both use
        ("minigrad/words.py", "rounding=ROUND_HALF_UP", "rounding=ROUND_UP", "tests/test_doctests.py", model),
        ("minigrad/autograd/gradcheck.py", "{analytic / true:.4g}", "{true / analytic:.4g}", "tests/autograd/test_instruments.py"),
        ("minigrad/values/real.py", "return None if high < low else 0.5", "return None if high > low else 0.5", "tests/engine/test_scalar.py", "tests/engine/test_trace.py"),
    ]  # fmt: skip
    return [Mutant(file, old, new, tuple(tests)) for file, old, new, *tests in rows]


MUTANTS = _all()


def stale() -> list[Mutant]:
    """Those whose line is not there any more, or there more than once."""
    return [m for m in MUTANTS if (ROOT / m.file).read_text("utf-8").count(m.old) != 1]


def _copy() -> None:
    """The project beside itself, whole: a test that fails because a file is missing has caught nothing."""
    shutil.rmtree(COPY, ignore_errors=True)
    listed = subprocess.run(
        ["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).exists():
            (COPY / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, COPY / name)


def _run(tests: tuple[str, ...], *more: str) -> str:
    """ "caught", "survived", or what else became of the tests."""
    env = {**os.environ, "PYTHONPATH": str(COPY)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:rerunfailures", *more, *tests]
    try:
        done = subprocess.run(command, cwd=COPY, capture_output=True, text=True, timeout=SECONDS, env=env)
    except subprocess.TimeoutExpired:
        return "caught"
    return {0: "survived", 1: "caught"}.get(done.returncode, f"did not run: {(done.stdout + done.stderr)[-300:]}")


def main(words: list[str]) -> int:
    chosen = [m for m in MUTANTS if m not in stale() and (not words or any(w in m.file + m.old + m.new for w in words))]
    _copy()
    caught = 0
    for m in chosen:
        started = time.perf_counter()
        path = COPY / m.file
        path.unlink()
        path.write_text((ROOT / m.file).read_text("utf-8").replace(m.old, m.new), "utf-8")
        outcome = _run(m.tests, "-x")
        path.unlink()
        shutil.copy2(ROOT / m.file, path)
        caught += outcome == "caught"
        change = f"{m.old}  →  {m.new}".replace("\n", " ")
        print(f"{outcome:9} {time.perf_counter() - started:4.0f} s  {m.file}: {change}", flush=True)
    print(f"minigrad: {caught} of {len(chosen)} small breaks were caught; {len(stale())} have to be written again")
    for m in stale():
        print(f"  {m.file}: {m.old}")
    shutil.rmtree(COPY, ignore_errors=True)
    return 0 if caught >= GOAL * len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
