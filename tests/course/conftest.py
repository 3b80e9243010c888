"""Course tests never touch the progress of the person who runs them, and may be tried three times.

They run programs under limits of seconds, which a busy machine can use up by itself; pytest's last line counts the repetitions.
"""
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items):
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.flaky(reruns=2))


@pytest.fixture(autouse=True)
def no_real_progress(monkeypatch):
    monkeypatch.setenv("MINIGRAD_PROGRESS", "off")
