"""The journal of a run: each record is on the disk before the next submission starts, and survives a power cut."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

FORMAT = 3  # of the journal's lines


class Journal:
    """An append-only file of records, one line each, with a checksum. A line that a power cut left unfinished is cut off on opening."""

    def __init__(self, path: Path):
        self.path = path
        self.records: dict[str, dict[str, Any]] = {}
        self.begun: dict[
            str, tuple[str, int]
        ] = {}  # by student: a fingerprint, and how often it was begun and not finished

    def __enter__(self) -> Journal:
        self._file = open(self.path, "a+b")
        self._now: set[str] = set()
        try:
            import fcntl

            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:
            pass
        except OSError:
            self._file.close()
            where = self.path.parent.name
            raise SystemExit(
                f"Another run is grading into {where}: wait for it, or choose another folder with -o."
            ) from None
        self._file.seek(0)
        good = 0
        for line in self._file:
            record = self._record(line)
            if record is None:
                break
            self._take(record)
            good += len(line)
        self._file.truncate(good)
        self._file.seek(good)
        return self

    def __exit__(self, kind: type | None, *_: object) -> None:
        if kind is not None:  # stopped by a person or an error, not killed by a submission
            for student, (fingerprint, _times) in list(self.begun.items()):
                if student in self._now:
                    self._write({"student": student, "fingerprint": fingerprint, "begun": -1})
        self._file.close()

    @staticmethod
    def _record(line: bytes) -> dict[str, Any] | None:
        check, _, text = line.partition(b" ")
        if not line.endswith(b"\n") or hashlib.sha256(text).hexdigest()[:16].encode() != check:
            return None
        record = json.loads(text)
        return record if record.get("format") == FORMAT else None

    def _take(self, record: dict[str, Any]) -> None:
        student, fingerprint = record["student"], record.get("fingerprint", "")
        if change := record.get("begun"):
            before = self.begun.get(student, ("", 0))
            self.begun[student] = (fingerprint, max(0, (before[1] if before[0] == fingerprint else 0) + change))
        else:
            self.records[student] = record
            self.begun.pop(student, None)

    def begin(self, student: str, fingerprint: str) -> None:
        """Write that a submission is about to be run: if the run is killed then, the next one knows which submissions it was."""
        self._now.add(student)
        self._write({"student": student, "fingerprint": fingerprint, "begun": 1})

    def unfinished(self, student: str, fingerprint: str) -> int:
        """How many runs were killed while this submission was being graded."""
        before = self.begun.get(student, ("", 0))
        return before[1] if before[0] == fingerprint else 0

    def add(self, record: dict[str, Any]) -> None:
        """Write one record and wait until it is on the disk."""
        self._now.discard(record["student"])
        self._write(record)

    def _write(self, record: dict[str, Any]) -> None:
        record = {**record, "format": FORMAT}
        text = json.dumps(record, ensure_ascii=False, sort_keys=True).encode("utf-8", "replace") + b"\n"
        self._file.write(hashlib.sha256(text).hexdigest()[:16].encode() + b" " + text)
        self._file.flush()
        os.fsync(self._file.fileno())
        self._take(json.loads(text))
