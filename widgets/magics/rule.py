"""%rule: the rule card of one operation.

What lives here: the magic and the names it knows. What does not: the card (rule_card.py, one folder up), loaded when it is first used.
"""

from __future__ import annotations

from typing import Any

from IPython.core.magic import Magics, line_magic, magics_class

from minigrad.tracing.formulas import RULES, rule_for

from .reading import Sorry, in_a_sentence


@magics_class
class RuleMagics(Magics):
    """%rule."""

    shell: Any

    @line_magic
    @in_a_sentence
    def rule(self, line: str) -> Any:
        """The rule card of one operation: its formula, its derivative, a curve with a movable tangent, and the saved values.

        %rule tanh             at x = 1; the slider moves it
        %rule tanh 0.5         at x = 0.5
        %rule * 2 3            two inputs
        %rule **3              a fixed power
        %rule softmax          operations on tensors, from the table of derivatives
        """
        from ..rule_card import SECOND, RuleCard, card, table_row

        name, *numbers = line.replace("** ", "**").split()[:3] if line.strip() else ("",)
        if not name:
            raise Sorry(
                f"%rule needs an operation, for example: %rule tanh. For numbers there are {', '.join(RULES)}; tensors have more "
                f"(press tab)."
            )
        try:
            given = [float(n) for n in numbers]
        except ValueError:
            raise Sorry(
                f"After the operation, %rule takes numbers, not {' '.join(numbers)!r}. For example: %rule {name} 0.5"
            ) from None
        rule = rule_for(name, 2) or rule_for(name, 1)
        op = table_row(name)
        if rule is None and op is None:
            import difflib

            near = difflib.get_close_matches(name, operations(), 3, 0.5)
            raise Sorry(
                f"There is no operation {name!r}. "
                + (f"Near: {', '.join(near)}." if near else "Press tab after %rule for a list.")
            )
        if rule is None:
            return card(name, None, op, [])
        count = len(rule.locals)
        if len(given) > count:
            raise Sorry(
                f"{name} has {'one input' if count == 1 else 'two inputs'}, but {len(given)} numbers were given."
            )
        inputs = (given + [1.0, SECOND][len(given) :])[:count]
        return RuleCard(name, rule, op, inputs)


def operations() -> list[str]:
    """Names to offer: those of numbers first, then the table's."""
    import minigrad.api  # noqa: F401
    from minigrad.core.op import TABLE

    return [
        *RULES,
        *sorted(name for name in TABLE if name not in RULES and not name.startswith("_") and "Backward" not in name),
    ]
