"""The portfolio: a card for what is the learner's own and nothing else, one file without scripts and requests."""

import re

from minigrad.course import exercises
from minigrad.course.checking import Check


def own(check, *ids):
    for id in ids:
        check._passed[id] = exercises[id].load(exercises[id].solution)
    check._lend(check._passed.get("09.e"), exercises["09.e"])


def test_only_what_is_ones_own_is_on_the_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    check = Check()
    assert repr(check.portfolio()).startswith("○ no page yet") and not list(tmp_path.iterdir())
    own(check, "05.a", "05.b")
    assert "It has 1 card," in repr(check.portfolio())
    own(check, "09.e", "09.f", "19.b")
    assert "It has 3 cards" in repr(check.portfolio())
    page = (tmp_path / "portfolio.html").read_text()
    assert "it says 25 and 19." in page and "logsumexp" in page and page.count("<section>") == 3
    assert int(re.search(r"reads (\d+) of 500", page)[1]) >= 460 and page.count("read ") >= 6
    assert not re.search(r"<script|https?://|src=|@import|url\(", page) and len(page) < 200_000
