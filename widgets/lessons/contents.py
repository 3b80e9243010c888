"""`contents()`: the chapters of the course with their minutes, prerequisites, and the exercises that have passed.

It is drawn from the local progress file (minigrad.course.progress) and the table of chapters (widgets.chapters). Links to the notebooks are
in Markdown, where they work everywhere.
"""

from __future__ import annotations

from typing import NamedTuple

from minigrad.course import progress
from minigrad.course.exercise import Kind
from minigrad.course.exercises import exercises
from widgets.chapters import CHAPTERS, Chapter

from .kit import Figure, action, lesson
from .lesson import label, svg, tag

PARTS = {
    "See it": (1, 2, 3, 4, 5), "Use it": (6, 7, 8, 9, 10), "Bend it": (11, 12, 13, 14, 15), "Live with it": (16, 17, 18, 19),
}  # fmt: skip
WIDE, HIGH, LEFT = 152.0, 112.0, 18.0


class State(NamedTuple):
    """How far a chapter is."""

    chapter: Chapter
    passed: int
    of: int
    tried: bool

    @property
    def mark(self) -> str:
        return "✓" if self.of and self.passed == self.of else "…" if self.tried else "○"

    @property
    def word(self) -> str:
        return {"✓": "done", "…": "started", "○": "open"}[self.mark]


def states() -> tuple[dict[int, State], str]:
    """Every chapter from 1 on with its state, and a sentence when something was wrong with the progress file."""
    entries, complaint = progress.load()
    out = {}
    for n, chapter in CHAPTERS.items():
        if n == 0:
            continue
        results = exercises.chapter(n).values() if f"{n:02d}" in exercises.chapters() else []
        ids = [e.id for e in results if e.kind is not Kind.OPTIONAL]  # a chapter is done without them
        passed = sum(bool(entries.get(id, {}).get("passed")) for id in ids)
        out[n] = State(chapter, passed, len(ids), any(id in entries for id in ids))
    return out, complaint


def following(result: dict[int, State]) -> State | None:
    """Where to go on: the first chapter that was begun, else the first whose needs are met; None if all is done."""
    left = [s for s in result.values() if s.mark != "✓"]
    ready = [s for s in left if all(result[k].mark == "✓" for k in s.chapter.needs)]
    return next(iter([s for s in left if s.mark == "…"] or ready or left), None)


def _needs(chapter: Chapter) -> str:
    """The needed chapters in few characters: "needs 1–5", "needs 4, 7".

    >>> _needs(CHAPTERS[7]), _needs(CHAPTERS[8]), _needs(CHAPTERS[1])
    ('needs 1–5', 'needs 5, 7', 'needs nothing')
    """
    n = chapter.needs
    if not n:
        return "needs nothing"
    if len(n) > 2 and list(n) == list(range(n[0], n[-1] + 1)):
        return f"needs {n[0]}–{n[-1]}"
    return "needs " + ", ".join(map(str, n))


def _lines(title: str, room: int = 19) -> list[str]:
    out = [""]
    for word in title.split():
        if out[-1] and len(out[-1]) + 1 + len(word) > room:
            out.append(word)
        else:
            out[-1] = f"{out[-1]} {word}".strip()
    return out[:3]


@lesson
class contents(Figure):
    """The course at a glance: each chapter, its minutes, its prerequisites, and the exercises that have passed on this machine."""

    def setup(self) -> None:
        self.states, self.complaint = states()

    @action("look again", "read the progress on this machine once more")
    def again(self) -> None:
        self.setup()

    def sentence(self) -> str:
        done = sum(s.mark == "✓" for s in self.states.values())
        passed, of = sum(s.passed for s in self.states.values()), sum(s.of for s in self.states.values())
        go = following(self.states)
        if go is None:
            return f"All {of} exercises of all {done} chapters have passed."
        far = (
            f"{done} of {len(self.states)} chapters done, {passed} of {of} exercises passed."
            if passed
            else "Nothing has passed yet."
        )
        word = "Go on with" if go.mark == "…" else "Next:"
        return f"{far} {word} chapter {go.chapter.number}, {go.chapter.title} ({go.chapter.minutes} minutes)." + (
            f" {self.complaint}" if self.complaint else ""
        )

    def text(self) -> str:
        rows = [("", "chapter", "minutes", "builds on", "passed", "state")]
        for n, s in self.states.items():
            needs = _needs(s.chapter).removeprefix("needs ").replace("nothing", "–")
            rows.append(
                (str(n), s.chapter.title, str(s.chapter.minutes), needs, f"{s.passed} of {s.of}", f"{s.mark} {s.word}")
            )
        wide = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
        return "\n".join(
            ["  ".join(cell.ljust(w) for cell, w in zip(row, wide, strict=True)).rstrip() for row in rows]
            + [self.sentence()]
        )

    def draw(self) -> str:
        go = following(self.states)
        out = ""
        for row, (part, numbers) in enumerate(PARTS.items()):
            top = 20 + row * (HIGH + 34)
            out += label(LEFT, top + 10, part, "h")
            for column, n in enumerate(numbers):
                out += self._card(
                    self.states[n], LEFT + column * (WIDE + 8), top + 20, go is not None and n == go.chapter.number
                )
        return svg(LEFT * 2 + 5 * (WIDE + 8) - 8, 20 + len(PARTS) * (HIGH + 34), out, self.sentence())

    def _card(self, s: State, x: float, y: float, here: bool) -> str:
        style = {"style": "stroke:var(--bwd);stroke-width:2.6"} if here else {}
        if s.mark == "✓":
            style = {"style": "fill:var(--fwd-soft);stroke:var(--fwd)"}
        out = tag("rect", "panel", x=x, y=y, width=WIDE, height=HIGH, rx=9, **style)
        out += label(x + 10, y + 20, str(s.chapter.number), "num v b") + label(
            x + WIDE - 10, y + 20, f"{s.mark} {s.word}", "t b", "end"
        )
        for k, line in enumerate(_lines(s.chapter.title)):
            out += label(x + 10, y + 38 + 15 * k, line, "t b")
        step = min(14.0, (WIDE - 64) / max(s.of, 1))  # many boxes are narrower, because the minutes are beside them
        for k in range(s.of):  # one box for each exercise
            fill = "fill:var(--fwd);stroke:var(--fwd)" if k < s.passed else "fill:none;stroke:var(--soft)"
            out += tag("rect", x=x + 10 + step * k, y=y + 80, width=step * 10 / 14, height=7, rx=2, style=fill)
        out += label(x + WIDE - 10, y + 88, f"{s.chapter.minutes} min", "t soft", "end")
        return out + label(x + 10, y + 105, _needs(s.chapter), "t soft")
