"""The journal of a run: what has been graded is on the disk before the next is begun, and survives a power cut."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

FORMAT = 2  # of the journal's lines


class Journal:
    """An append-only file of records, one line each, with a checksum. A line that a power cut left unfinished is cut off on opening."""

    def __init__(self, path: Path):
        self.path = path
        self.records: dict[str, dict[str, Any]] = {}

    def __enter__(self) -> Journal:
        self._file = open(self.path, "a+b")
        try:
            import fcntl

            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:
            pass
        except OSError:
            self._file.close()
            where = self.path.parent.name
            raise SystemExit(f"Another run is grading into {where}: wait for it, or choose another folder with -o.") from None
        self._file.seek(0)
        good = 0
        for line in self._file:
            record = self._record(line)
            if record is None:
                break
            self.records[record["student"]] = record
            good += len(line)
        self._file.truncate(good)
        self._file.seek(good)
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    @staticmethod
    def _record(line: bytes) -> dict[str, Any] | None:
        check, _, text = line.partition(b" ")
        if not line.endswith(b"\n") or hashlib.sha256(text).hexdigest()[:16].encode() != check:
            return None
        record = json.loads(text)
        return record if record.get("format") == FORMAT else None

    def add(self, record: dict[str, Any]) -> None:
        """Write one record and wait until it is on the disk."""
        record = {**record, "format": FORMAT}
        text = json.dumps(record, ensure_ascii=False, sort_keys=True).encode("utf-8", "replace") + b"\n"
        self._file.write(hashlib.sha256(text).hexdigest()[:16].encode() + b" " + text)
        self._file.flush()
        os.fsync(self._file.fileno())
        self.records[record["student"]] = json.loads(text)
