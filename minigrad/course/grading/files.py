"""Writing a file that is whole or not there at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def replace(path: Path, content: str | bytes, private: bool = False) -> None:
    """Write a file so that a reader, or a power cut, finds the old one or the new one and nothing between."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content.encode("utf-8", "replace") if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o600 if private else 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
