"""What `check` writes beside a verdict in the notebook for the grader: the exercise, the score, a hash of the program, and a code.

What lives here: making such a claim and reading it. The code is a keyed hash whose key is in this file. It finds a claim that was damaged
or altered by hand, and proves nothing about a person who has minigrad and wants to forge one.
"""

from __future__ import annotations

import ast
import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

KEY = b"minigrad: what check said, version 1"
NAME = "minigrad"  # of the entry in an output's metadata


@dataclass(frozen=True)
class Claim:
    """A verdict stored in the notebook's outputs: the score between 0 and 1, and the fingerprint of the program, or ""."""

    exercise: str
    score: float
    program: str = ""

    @property
    def metadata(self) -> dict[str, dict[str, Any]]:
        """For the metadata of the output that shows the verdict."""
        data = {"exercise": self.exercise, "score": float(self.score), "program": self.program}
        return {NAME: {**data, "code": _code(data)}}


def _code(data: Mapping[str, Any]) -> str:
    return hmac.new(KEY, json.dumps(data, sort_keys=True).encode(), hashlib.sha256).hexdigest()[:32]


def read_claim(metadata: Any) -> Claim | None:
    """The claim in an output's metadata, or None where there is none, or one whose code does not fit."""
    result = metadata.get(NAME) if isinstance(metadata, dict) else None
    if not isinstance(result, dict):
        return None
    data: dict[str, Any] = {name: result.get(name) for name in ("exercise", "score", "program")}
    right = isinstance(data["score"], (int, float)) and 0 <= data["score"] <= 1
    if not right or not all(isinstance(data[name], str) for name in ("exercise", "program")):
        return None
    data["score"] = float(data["score"])  # JupyterLab saves 1.0 as 1
    if not hmac.compare_digest(_code(data), str(result.get("code", "")).encode("ascii", "replace").decode()):
        return None
    return Claim(**data)


def fingerprint(source: str) -> str:
    """A hash of a cell's program that comments, layout, magics and calls such as `check(...)` do not change; "" where it does not parse."""
    try:
        body = ast.parse(source).body
        remaining = [
            s
            for s in body
            if not isinstance(s, ast.Pass) and not (isinstance(s, ast.Expr) and not isinstance(s.value, ast.Constant))
        ]
        return hashlib.sha256(ast.unparse(ast.Module(remaining, [])).encode("utf-8", "replace")).hexdigest()[:32]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""


__all__ = ["Claim", "fingerprint", "read_claim"]
