"""What every unit of grading needs to know. Plain data: it travels to other processes and machines."""

from __future__ import annotations

from dataclasses import dataclass

from .submissions import Source


@dataclass(frozen=True)
class Setting:
    key: bytes
    round: str
    ids: tuple[str, ...]
    hidden: tuple[str, ...] = ()  # folders that no submission may read
    container: tuple[str, ...] = ()  # a command that starts the fork server, "{kit}" standing for its folder


@dataclass(frozen=True)
class Task:
    student: str
    fingerprint: str
    sources: tuple[Source, ...]
    problems: tuple[str, ...]
    lms: tuple[tuple[str, str], ...]
