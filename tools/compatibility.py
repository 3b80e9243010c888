"""Write the generated parts of docs/compatibility.md: `python -m tools.compatibility`.

They are made from the tables in minigrad/core/permissions.py and minigrad/core/absent.py, and from the names of PyTorch that are stored in
tests/engine/reference/surface.json. tests/engine/test_permissions.py holds the page equal to them.
"""

import re
import textwrap
from pathlib import Path

from minigrad.core import absent, permissions
from tools.surface import missing

PAGE = Path(__file__).parents[1] / "docs/compatibility.md"


def names_as_text() -> str:
    """The missing functions of torch and methods of Tensor, as items of a list."""
    paths = {"torch": "**Functions of torch**", "Tensor": "**Methods of Tensor**"}
    items = [f"- {title}: {', '.join(f'`{name}`' for name in missing()[path])}." for path, title in paths.items()]
    wrapped = [textwrap.wrap(item, 120, subsequent_indent="  ", break_on_hyphens=False) for item in items]
    return "\n".join(line for item in wrapped for line in item)


PARTS = {
    "minigrad/core/permissions.py": permissions.as_text,
    "minigrad/core/absent.py": absent.as_text,
    "tests/engine/reference/surface.json": names_as_text,
}


def written(page: str) -> str:
    """The page with its generated parts made again."""
    for path, text in PARTS.items():
        begin, end = f"<!-- from {path} -->\n", f"\n<!-- end of {path.rpartition('/')[2]} -->"
        pattern = f"{re.escape(begin)}.*?{re.escape(end)}"
        assert len(re.findall(pattern, page, re.S)) == 1, f"{begin.strip()} and {end.strip()} are not in the page"
        part = begin + text() + end
        page = re.sub(pattern, lambda _: part, page, flags=re.S)  # noqa: B023  (called at once)
    return page


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
