"""`make golden`: write the golden files again, and show each change beside the committed version: build/golden.html."""

from __future__ import annotations

import difflib
import os
import re
import subprocess
import sys
from base64 import b64encode
from html import escape

from widgets.lessons.lesson import STYLE

from . import HERE, picture, read

ROOT = HERE.parents[1]
TESTS = ["tests/widgets/test_golden.py", "tests/widgets/test_error_panels.py", "tests/browser/test_book.py"]
PAGE = """<!doctype html><meta charset="utf-8"><title>What learners see: old beside new</title>
<style>body{font:14px system-ui;margin:24px}h2{margin:32px 0 4px}table{border-collapse:collapse;width:100%%}
td{width:50%%;vertical-align:top;padding:6px;border:1px solid #d0d7de}
svg{max-width:100%%;height:auto}pre{font:12px monospace;white-space:pre-wrap;margin:0}del{background:#ffe9ec}
ins{background:#dff5e3;text-decoration:none}</style><h1>%s</h1>%s"""


def main(arguments: list[str]) -> None:
    for path in HERE.rglob("*.txt"):
        path.unlink()  # sections that no test writes any more disappear
    command = [sys.executable, "-m", "pytest", "-q", "-k", "golden or panel or looks", *TESTS]
    subprocess.run(command, cwd=ROOT, env={**os.environ, "MINIGRAD_GOLDEN": "write"}, check=True)
    old, new = _committed(), {str(p.relative_to(HERE)): read(p.read_text("utf-8")) for p in sorted(HERE.rglob("*.txt"))}
    rows, count = [], 0
    for file in sorted({*old, *new}):
        for section in sorted({*old.get(file, {}), *new.get(file, {})}):
            before, after = old.get(file, {}).get(section, ""), new.get(file, {}).get(section, "")
            if before != after:
                count += 1
                rows.append(f"<h2>{escape(file)}: {escape(section)}</h2><table><tr>{_side(before, after)}</tr></table>")
    for path in sorted(HERE.glob("looks/*.png")):
        sides = [_git("show", f"HEAD:{path.relative_to(ROOT)}"), path.read_bytes()]
        if sides[0] != sides[1]:
            count += 1
            drawn = "".join(
                f'<td><img src="data:image/png;base64,{b64encode(side).decode()}" alt=""></td>' for side in sides
            )
            rows.append(f"<h2>{path.stem}</h2><table><tr>{drawn}</tr></table>")
    build = ROOT / "build"
    build.mkdir(exist_ok=True)
    (build / "golden.html").write_text(PAGE % (f"{count} changes since the last commit", "".join(rows)), "utf-8")
    print(
        f"minigrad: {count} of {sum(map(len, new.values()))} texts and pictures changed since the last commit: open build/golden.html"
    )


def _git(*command: str) -> bytes:
    return subprocess.run(["git", *command], cwd=ROOT, capture_output=True).stdout


def _committed() -> dict[str, dict[str, str]]:
    """The sections of all files as they are in the last commit."""
    folder = HERE.relative_to(ROOT)
    names = _git("ls-tree", "-r", "--name-only", "HEAD", str(folder)).decode()
    found = {}
    for name in re.findall(r".*\.txt", names):
        found[name.removeprefix(f"{folder}/")] = read(_git("show", f"HEAD:{name}").decode())
    return found


def _side(before: str, after: str) -> str:
    """Two cells: the pictures, and the lines that differ."""
    cells = []
    lines = [*difflib.ndiff(before.split("\n"), after.split("\n"))]
    for text, sign, mark in ((before, "- ", "del"), (after, "+ ", "ins")):
        drawn = "".join(picture(part, STYLE) for part in re.findall(r"^svg.*(?:\n .*)*", text, re.M))
        changed = "\n".join(f"<{mark}>{escape(line[2:])}</{mark}>" for line in lines if line.startswith(sign))
        cells.append(f"<td>{drawn}<pre>{changed or 'nothing'}</pre></td>")
    return "".join(cells)


main(sys.argv[1:])
