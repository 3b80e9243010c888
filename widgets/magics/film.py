"""%%film: the training loop of a cell as a film.

What lives here: the magic, which puts film.step behind each backward of the cell. What does not: the film (widgets/film/), loaded when the
magic is first used.
"""

from __future__ import annotations

import ast
from typing import Any

from IPython.core.magic import Magics, cell_magic, magics_class

from .reading import CellProgram, Sorry, evaluate, in_a_sentence

STEP = "_film_step"


@magics_class
class FilmMagics(Magics):
    """%%film."""

    shell: Any

    @cell_magic
    @in_a_sentence
    def film(self, line: str, cell: str) -> None:
        """The training loop of this cell as a film, without a change in the loop.

            %%film model, points, labels
            for _ in range(300):
                loss = ...
                backward(loss)
                ...

        Each backward(loss) and loss.backward() of the cell is a step. What stands behind %%film is what watch takes: the model, and
        the points and labels that it learns from. Afterwards the film is in the variable `film`. Other names of the cell are kept, too.
        """
        __tracebackhide__ = True
        from ..film.view import shown

        if not line.strip():
            raise Sorry(
                "%%film needs what is trained, for example: %%film model, points, labels. Type %%film? for help."
            )
        program = CellProgram(self.shell, cell, "%%film")
        steps = Steps()
        names = self.shell.user_ns
        source = self.shell.transform_cell(cell)
        code = compile(ast.fix_missing_locations(steps.visit(ast.parse("\n" + source))), program.filename, "exec")
        if not steps.count:
            raise Sorry("This cell has no backward(loss) and no loss.backward(), so it has no step to record.")

        def step(loss: Any) -> None:
            if "film" not in made:
                given = evaluate(self.shell, f"[{line}]", "%%film")
                names["film"] = made["film"] = shown(*given)
            made["film"].step(loss)

        made: dict[str, Any] = {}
        names[STEP] = step
        try:
            exec(code, names)
        finally:
            for name in (STEP, *steps.kept):
                names.pop(name, None)


class Steps(ast.NodeTransformer):
    """Adds a call of STEP behind each statement that is a call of backward."""

    def __init__(self) -> None:
        self.count = 0
        self.kept: list[str] = []  # names for losses that have none

    def visit_Expr(self, node: ast.Expr) -> Any:
        match node.value:
            case ast.Call(func=ast.Name(id="backward"), args=[loss, *_]):
                pass
            case ast.Call(func=ast.Attribute(value=loss, attr="backward")):
                pass
            case _:
                return node
        self.count += 1
        if not isinstance(loss, ast.Name):  # an expression is computed once
            name = f"_film_loss_{self.count}"
            self.kept.append(name)
            kept = ast.Assign([ast.Name(name, ast.Store())], loss)
            again = ast.Name(name, ast.Load())
            match node.value:
                case ast.Call(func=ast.Attribute() as method):
                    method.value = again
                case ast.Call(args=args):
                    args[0] = again
            loss = again
            new: list[ast.stmt] = [kept, node]
        else:
            new = [node]
        call = ast.Expr(ast.Call(ast.Name(STEP, ast.Load()), [loss], []))
        return [ast.copy_location(part, node) for part in (*new, call)]
