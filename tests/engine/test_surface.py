"""Every name that PyTorch documents and minigrad does not have is in docs/compatibility.md.

Its lists of functions and methods are generated from the stored names (tools/compatibility.py), so that a name that goes or comes changes
the page; test_permissions.py holds the page equal to its sources.
"""

import re
from pathlib import Path

from tools.surface import missing

PAGE = (Path(__file__).parents[2] / "docs/compatibility.md").read_text(encoding="utf-8")
LIMITS = PAGE.split("## Every missing name")[1].split("\n## ")[0]


def test_every_missing_name_is_in_docs_compatibility():
    named = set(re.findall(r"`([A-Za-z_0-9.]+)`", LIMITS))
    unnamed = {path: [n for n in names if n not in named] for path, names in missing().items()}
    assert not {path: names for path, names in unnamed.items() if names}
