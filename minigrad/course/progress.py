"""Which exercises have passed, in one small JSON file on this machine. Nothing leaves it.

What lives here: reading, merging and replacing that file, and surviving every way in which it can be broken. What does not: what a
learner sees of it (checking.py). MINIGRAD_PROGRESS names another file; MINIGRAD_PROGRESS=off keeps nothing.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

VERSION = 1
EDITION = 2  # of the course: 05.a asked something else in the first one, so what passed there says nothing here
REPLACED = ("guess",)  # the newest counts, not the largest


def location() -> Path | None:
    """Where progress is kept, or None when it is switched off."""
    chosen = os.environ.get("MINIGRAD_PROGRESS", "")
    if chosen.strip().lower() == "off":
        return None
    if chosen:
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        base = Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return base / "minigrad" / "progress.json"


def load() -> tuple[dict[str, dict[str, Any]], str]:
    """The entries of this edition by exercise id, and a sentence when something was wrong with the file ("" otherwise)."""
    entries, _, complaint = _read()
    return entries, complaint


def _read() -> tuple[dict[str, dict[str, Any]], dict[str, Any], str]:
    """The entries of this edition, those of the others by edition (which are kept as they are), and a sentence or ""."""
    path = location()
    if path is None:
        return {}, {}, ""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if not (isinstance(data, dict) and isinstance(data.get("exercises"), dict)):
            raise ValueError("not a progress file")
        others = data.get("other editions")
        editions = {**(others if isinstance(others, dict) else {}), str(data.get("edition", 1)): data["exercises"]}
        entries = editions.pop(str(EDITION), {})
        return {str(k): v for k, v in entries.items() if isinstance(v, dict)}, editions, ""
    except FileNotFoundError:
        return {}, {}, ""
    except OSError as error:
        return (
            {},
            {},
            f"Progress could not be read ({error.strerror or type(error).__name__}); checks work all the same.",
        )
    except (ValueError, RecursionError):
        aside = path.with_name(path.name + ".broken")
        try:
            os.replace(path, aside)
        except OSError:
            return {}, {}, "The progress file is damaged and could not be set aside; checks work all the same."
        return {}, {}, f"The progress file was damaged: it is kept as {aside.name}, and a new one is started."


def update(id: str, **changes: Any) -> str:
    """Merge `changes` into one entry and replace the file. Numbers keep the larger value, except a guess. Returns a sentence or ""."""
    path = location()
    if path is None:
        return ""
    entries, others, complaint = _read()
    entry = entries.setdefault(id, {})
    for key, new in changes.items():
        old = entry.get(key)
        if key == "tries":
            entry[key] = (old if isinstance(old, int) else 0) + new
        elif key not in REPLACED and isinstance(new, (bool, int, float)) and isinstance(old, (bool, int, float)):
            entry[key] = max(old, new)
        else:
            entry[key] = new
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".tmp")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                data = {
                    "version": VERSION,
                    "edition": EDITION,
                    "exercises": entries,
                    **({"other editions": others} if others else {}),
                }
                json.dump(data, file, ensure_ascii=False, indent=1, sort_keys=True)
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        return f"Progress was not saved ({error.strerror or type(error).__name__}); the check itself is valid."
    return complaint
