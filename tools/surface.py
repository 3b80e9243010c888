"""Every public name of PyTorch's modules that minigrad has whole, and which of them exist here.

    python -m tools.surface            # the names that are missing now (no torch needed)
    python -m tools.surface --store    # ask torch 2.13 again for the names

A name is public if `__all__` has it, or else if it was made in that module, or is a method that a class of it documents.
"""

import inspect
import json
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

STORED = Path(__file__).parents[1] / "tests/engine/reference/surface.json"
MODULES = (  # beside torch itself
    "autograd", "autograd.function", "autograd.functional", "autograd.forward_ad", "autograd.grad_mode", "autograd.gradcheck",
    "autograd.graph", "func", "utils.checkpoint", "optim", "optim.lr_scheduler", "optim.optimizer", "optim.swa_utils",
    "nn", "nn.functional", "nn.init", "nn.utils", "nn.modules.module", "amp",
)  # fmt: skip
CLASSES = (
    "Tensor",
    "nn.Module",
    "optim.Optimizer",
    "optim.lr_scheduler.LRScheduler",
    "autograd.Function",
    "autograd.graph.Node",
)


def _names(module: Any) -> list[str]:
    listed = getattr(module, "__all__", None)
    if listed is None:
        made = [n for n, v in vars(module).items() if getattr(v, "__module__", None) == module.__name__ and callable(v)]
        listed = [n for n in made if not isinstance(vars(module)[n], type(sys))]
    return sorted(n for n in listed if not n.startswith("_"))


def _documented(torch: Any) -> list[str]:
    """The names of torch itself: those with documentation, and its functions in Python. (`__all__` has C++ classes, too.)"""
    documented = set(
        re.findall(r"add_docstr\(\s*torch\.(\w+),", Path(import_module("torch._torch_docs").__file__).read_text())
    )
    own = [n for n in torch.__all__ if inspect.isfunction(getattr(torch, n)) and inspect.getdoc(getattr(torch, n))]
    return sorted(n for n in {*documented, *own} if not n.startswith("_") and hasattr(torch, n))


def _methods(cls: Any) -> list[str]:
    return sorted(
        n for n in dir(cls) if not n.startswith("_") and (inspect.getdoc(getattr(cls, n, None)) or "").strip()
    )


def find(package: str, path: str) -> Any:
    """The module, or the attribute that the rest of the path names in it; None where there is neither."""
    try:
        return import_module(f"{package}.{path}")
    except ImportError:
        where, _, name = path.rpartition(".")
        return getattr(find(package, where) if where else import_module(package), name, None)


def public() -> dict[str, list[str]]:
    """{module or class: its public names} in torch."""
    whole = {"torch": _documented(import_module("torch"))}
    whole |= {name: _names(import_module(f"torch.{name}")) for name in MODULES}
    return whole | {name: _methods(find("torch", name)) for name in CLASSES}


def missing() -> dict[str, list[str]]:
    """The stored names that minigrad does not have."""
    found = {}
    for path, names in json.loads(STORED.read_text()).items():
        where = import_module("minigrad") if path == "torch" else find("minigrad", path)
        gone = [n for n in names if not _has(where, n)]
        if gone:
            found[path] = gone
    return found


def _has(where: Any, name: str) -> bool:
    if where is None:
        return False
    try:
        return hasattr(where, name)
    except Exception:  # a property that refuses
        return True


if __name__ == "__main__":
    if "--store" in sys.argv:
        STORED.write_text(json.dumps(public(), indent=None).replace("], ", "],\n") + "\n")
    for path, names in missing().items():
        print(f"{path}: {' '.join(names)}")
