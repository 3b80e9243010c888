"""The exercises of the course, by id. One file per chapter holds the definitions; each is read on first use."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping

from ..exercise import Exercise


class Exercises(Mapping[str, Exercise]):
    """All exercises: `exercises["05.b"]`, `exercises.chapter("05")`, `for id in exercises`."""

    def __init__(self) -> None:
        self._chapters: dict[str, dict[str, Exercise]] = {}
        self._numbers: list[str] = []

    def chapters(self) -> list[str]:
        """The chapters that have exercises: ["01", "05", ...]."""
        if not self._numbers:
            self._numbers = sorted(m.name[2:] for m in pkgutil.iter_modules(__path__) if m.name.startswith("ch"))
        return list(self._numbers)

    def chapter(self, number: str | int) -> dict[str, Exercise]:
        """The exercises of one chapter, by id. Raises KeyError for a chapter without exercises."""
        key = f"{int(number):02d}"
        if key not in self._chapters:
            if key not in self.chapters():
                raise KeyError(
                    f"Chapter {key} has no exercises. Chapters that have some: {', '.join(self.chapters())}."
                )
            module = importlib.import_module(f"{__name__}.ch{key}")
            self._chapters[key] = {e.id: e for e in module.EXERCISES}
        return self._chapters[key]

    def __getitem__(self, id: str) -> Exercise:
        if not isinstance(id, str):
            raise KeyError(f'An exercise is named by a text such as "05.b"; this is {type(id).__name__}.')
        number = id.partition(".")[0]
        known = self.chapter(number) if number.isdigit() and f"{int(number):02d}" in self.chapters() else {}
        if id not in known:
            near = (
                f"Chapter {number} has {', '.join(known)}."
                if known
                else f"Chapters with exercises: {', '.join(self.chapters())}."
            )
            raise KeyError(f"There is no exercise {id[:20]!r}. {near}")
        return known[id]

    def __iter__(self) -> Iterator[str]:
        for number in self.chapters():
            yield from self.chapter(number)

    def __len__(self) -> int:
        return sum(len(self.chapter(number)) for number in self.chapters())


exercises = Exercises()
