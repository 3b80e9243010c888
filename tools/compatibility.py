"""Write the generated parts of docs/compatibility.md: `python -m tools.compatibility`.

The two parts are made from the tables in minigrad/core/permissions.py and minigrad/core/absent.py. tests/engine/test_permissions.py holds
the page equal to them.
"""

import re
from pathlib import Path

from minigrad.core import absent, permissions

PAGE = Path(__file__).parents[1] / "docs/compatibility.md"
PARTS = {"permissions.py": permissions.as_text, "absent.py": absent.as_text}


def written(page: str) -> str:
    """The page with its generated parts made again."""
    for name, text in PARTS.items():
        begin, end = f"<!-- from minigrad/core/{name} -->\n", f"\n<!-- end of {name} -->"
        page, count = re.subn(
            f"{re.escape(begin)}.*?{re.escape(end)}",
            lambda _: begin + text() + end,  # noqa: B023
            page,
            flags=re.S,  # noqa: B023
        )  # noqa: B023
        assert count == 1, f"{begin.strip()} and {end.strip()} are not in the page"
    return page


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
