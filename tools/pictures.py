"""The pictures in README.md, made from the code beside them: `python -m tools.pictures`.

What lives here: that one program, and its files in .github/images/. What does not: how pictures are drawn (widgets/export.py). They are
committed because a README cannot run code; a test holds that they still belong to the README's program.
"""

from pathlib import Path

from minigrad import Value
from widgets import graph

FOLDER = Path(__file__).parents[1] / ".github" / "images"


def view():
    """The README's program, run."""
    x = Value(1.0)
    y = (3 * x + 2) ** 2
    y.backward()
    return graph(y, names={"x": x, "y": y}, step="start")


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    shown = view()
    for theme in ("light", "dark"):
        shown.save(FOLDER / f"stepping-{theme}.gif", dark=theme == "dark", width=900)
        shown.save(FOLDER / f"still-{theme}.png", step=shown.total, dark=theme == "dark", width=900)
    shown.close()


if __name__ == "__main__":
    main()
