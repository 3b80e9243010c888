"""A made-up class, and how fast and how safely it is graded: `python -m tests.course.classroom`, or `make grade-soak`.

What lives here: notebooks of students who are right, wrong in known ways, or have not tried, and a grader that is killed at random moments
and started again. What does not: tests; they use the same functions with fewer students (test_grade.py).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from minigrad.course import exercises

ROOT = Path(__file__).resolve().parents[2]

# Takes the audit hook out: its code is replaced by one that does nothing, with as many free variables.
HOOK_OUT = """\
import gc, types
for o in gc.get_objects():
    if isinstance(o, types.FunctionType) and o.__name__ == 'hook':
        free = ', '.join(o.__code__.co_freevars)
        made = {}
        exec(f'def outer({free}):\\n    def inner(event, args):\\n        return None and ({free},)\\n    return inner', made)
        o.__code__ = made['outer'](*o.__code__.co_freevars).__code__
"""


def code(source, exercise="", **metadata):
    metadata = {"minigrad": {"exercise": exercise}, **metadata} if exercise else metadata
    return {"cell_type": "code", "source": source, "metadata": metadata, "outputs": [], "execution_count": None}


def notebook(cells):
    return {"cells": cells, "metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}


def chapter_notebook(chapter, answers):
    """A learner's notebook of one chapter: a setup cell, and for each exercise a text, the answer (or the stub), and the check."""
    cells = [code("%load_ext minigrad\nimport minigrad\nfrom minigrad.course import check")]
    for id, ex in exercises.chapter(chapter).items():
        cells.append(
            {"cell_type": "markdown", "source": f"### Exercise {id}: {ex.title}\n{ex.question}", "metadata": {}}
        )
        cells += [code(answers.get(id, ex.stub), id), code(f'check("{id}", {ex.entry})')]
    return notebook(cells)


def make_class(folder, students, chapters=None, seed=0):
    """`students` folders below `folder`, in nbgrader's layout. Returns {student: {id: "solution", "stub" or the mistake's name}}."""
    rng, truth = random.Random(seed), {}
    for number in range(students):
        name = f"student{number:03d}"
        truth[name] = {}
        for chapter in chapters or exercises.chapters():
            answers = {}
            for id, ex in exercises.chapter(chapter).items():
                luck = rng.random()
                wrong = rng.choice(ex.bank)
                truth[name][id] = "solution" if luck < 0.6 else "stub" if luck < 0.75 else wrong.name
                answers[id] = ex.solution if luck < 0.6 else ex.stub if luck < 0.75 else ex.source_of(wrong)
            path = folder / name / f"chapter{chapter}" / f"{chapter}_chapter.ipynb"
            path.parent.mkdir(parents=True)
            path.write_text(json.dumps(chapter_notebook(chapter, answers)), encoding="utf-8")
    return truth


def grader(submissions, out, *more):
    """The grader's command, running. It leads a group of processes, so that all of it can be killed."""
    command = [sys.executable, "-m", "minigrad.course.grade", str(submissions), "-o", str(out), "-j", "2", *more]
    return subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )


def finish(process):
    said = process.communicate(timeout=3600)[0]
    assert process.returncode == 0, said
    return said


def kill_after(process, seconds, everything):
    """Kill the grader after so many seconds, its helpers too or the main process alone. False when it had ended before."""
    try:
        process.wait(seconds)
        return False
    except subprocess.TimeoutExpired:
        (os.killpg if everything else os.kill)(process.pid, signal.SIGKILL)
        process.wait()
        return True
    finally:
        process.stdout.close()


def outputs(out):
    """Everything that was written for people, as hashes; the journal is in the order in which the work happened to finish."""
    files = sorted(
        p for p in out.rglob("*") if p.is_file() and p.name not in ("journal.jsonl", "key") and p.suffix != ".tmp"
    )
    return {p.relative_to(out).as_posix(): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


def graded_in(out):
    """The students in the journal, one for each line."""
    path = out / "journal.jsonl"
    lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    records = [json.loads(line.partition(b" ")[2]) for line in lines]
    return [record["student"] for record in records if "begun" not in record]


def grade_killed(submissions, out, key, kills, longest, seed=0):
    """Grade with so many kills at random moments, then to the end. Returns how many kills hit a grader at work."""
    rng, hit = random.Random(seed), 0
    for _ in range(kills):
        hit += kill_after(grader(submissions, out, "--key", str(key)), rng.uniform(0.2, longest), rng.random() < 0.5)
    finish(grader(submissions, out, "--key", str(key)))
    return hit


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--students", type=int, default=200)
    parser.add_argument("--kills", type=int, default=10)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        key = root / "key"
        key.write_bytes(b"0123456789abcdef0123456789abcdef")
        truth = make_class(root / "submitted", options.students)
        tried = sum(answer != "stub" for answers in truth.values() for answer in answers.values())
        start = time.monotonic()
        finish(grader(root / "submitted", root / "straight", "--key", str(key)))
        took = time.monotonic() - start
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        busy, load = used.ru_utime + used.ru_stime, os.getloadavg()[0]
        print(f"{options.students} submissions of {len(exercises)} exercises ({tried} answers to run): {took:.0f} s in two processes,"
              f" {options.students / took:.2f} submissions and {tried / took:.0f} answers a second;"
              f" {busy:.0f} s of processor time, the machine's load was {load:.1f}", flush=True)  # fmt: skip
        hit = grade_killed(root / "submitted", root / "killed", key, options.kills, took / (options.kills + 1) * 1.6)
        names = graded_in(root / "killed")
        same = outputs(root / "straight") == outputs(root / "killed")
        print(
            f"killed {hit} of {options.kills} times while at work and resumed: {'the same bytes' if same else 'DIFFERENT'} in"
            f" {len(outputs(root / 'killed'))} files, {len(names)} journal lines for {len(set(names))} students"
        )
        sys.exit(0 if same and len(names) == len(set(names)) == options.students else 1)


if __name__ == "__main__":
    main()
