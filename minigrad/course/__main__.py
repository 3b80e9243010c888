"""`python -m minigrad.course FOLDER`: the course's notebooks, copied to where a learner can write into them.

What lives here: that command. It never overwrites. What does not: grading (grade.py), handing out with nbgrader (nbgrader.py).
"""

import argparse
import importlib.metadata
import shutil
import sys
from pathlib import Path


def chapters() -> list[Path]:
    """The notebooks: those of the checkout, or those that the wheel has brought."""
    checkout = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
    if checkout:
        return checkout
    try:
        files = importlib.metadata.files("minigrad") or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    return sorted(Path(str(file.locate())) for file in files if file.parts[-3:-1] == ("minigrad", "notebooks") and file.suffix == ".ipynb")


def copy(folder: Path) -> tuple[list[Path], list[Path]]:
    """Copy the notebooks into `folder`. Returns what is new there and what was there already and stays as it is.

    Raises FileNotFoundError if the installation has no notebooks.
    """
    found = chapters()
    if not found:
        raise FileNotFoundError("this installation of minigrad has no notebooks: install its wheel, or clone the repository.")
    folder.mkdir(parents=True, exist_ok=True)
    new, kept = [], []
    for source in found:
        target = folder / source.name
        if target.exists():
            kept.append(target)
        else:
            shutil.copyfile(source, target)
            new.append(target)
    return new, kept


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m minigrad.course", description="Copy the course's notebooks into a folder.")
    parser.add_argument("folder", type=Path, help="where to; it is made if it does not exist, and nothing in it is overwritten")
    folder = parser.parse_args().folder
    try:
        new, kept = copy(folder)
    except OSError as error:
        sys.exit(f"minigrad: {error}")
    print(f"{len(new)} notebooks copied to {folder}" + (f"; {len(kept)} were there already and stay as they are" if kept else "") + ".")
    print(f"Next: jupyter lab {folder / '00_start_here.ipynb'}")


if __name__ == "__main__":
    main()
