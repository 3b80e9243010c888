"""The lessons: one simulation in each file, one line to show it.

from widgets.lessons import stepper; stepper()
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # editors and type checkers see every name; Python loads a lesson when it is first named
    from .bars import bars
    from .bucket import bucket, micro_batches, two_loops
    from .chain import chain
    from .contents import contents
    from .diamonds import diamonds
    from .draw import draw
    from .dual import dual
    from .fit_line import fit_line
    from .grow import grow
    from .growth import growth
    from .heads import heads
    from .hook_tap import hook_tap
    from .hvp_cost import hvp_cost
    from .inspector import inspector
    from .jacobian_heat import jacobian_heat
    from .ledger import ledger
    from .loss_scaling import loss_scaling
    from .memory import memory, memory_depth
    from .nan_tracer import nan_tracer
    from .op_card import op_card
    from .order_game import order_game
    from .own_engine import own_engine
    from .passes import passes
    from .pick_v import jacobian_size, pick_u, pick_v
    from .playground import playground
    from .progress import progress
    from .race import race
    from .recap import recap
    from .rules import rules
    from .scissors import scissors
    from .stacked import stacked
    from .step_size import step_size
    from .stepper import stepper
    from .surrogate import surrogate
    from .uses import uses
    from .versions import versions
    from .will_it_fit import will_it_fit

__all__ = [
    "bars",
    "bucket",
    "chain",
    "contents",
    "diamonds",
    "draw",
    "dual",
    "fit_line",
    "grow",
    "growth",
    "heads",
    "hook_tap",
    "hvp_cost",
    "inspector",
    "jacobian_heat",
    "jacobian_size",
    "ledger",
    "loss_scaling",
    "memory",
    "memory_depth",
    "micro_batches",
    "nan_tracer",
    "op_card",
    "order_game",
    "own_engine",
    "passes",
    "pick_u",
    "pick_v",
    "playground",
    "progress",
    "race",
    "recap",
    "rules",
    "scissors",
    "stacked",
    "step_size",
    "stepper",
    "surrogate",
    "two_loops",
    "uses",
    "versions",
    "will_it_fit",
]

_FILES = {
    "jacobian_size": "pick_v",
    "memory_depth": "memory",
    "micro_batches": "bucket",
    "pick_u": "pick_v",
    "two_loops": "bucket",
}


class _Lessons(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name not in __all__:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        lesson = getattr(import_module(f".{_FILES.get(name, name)}", self.__name__), name)
        setattr(self, name, lesson)
        return lesson

    def __setattr__(self, name: str, value: Any) -> None:
        """Python binds a file that it has loaded under the file's name; here that is the name of the lesson in it."""
        own = isinstance(value, ModuleType) and name in __all__
        super().__setattr__(name, getattr(value, name) if own else value)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *__all__})


sys.modules[__name__].__class__ = _Lessons
