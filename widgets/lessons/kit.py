"""The framework in which lessons are declared: fields become controls, and `draw`, `sentence` and `table` the output.

    @lesson
    class double(Figure):
        '''Two times a number.  (The docstring of the function `double`.)'''

        n = Slider("n", 3, 0, 10)

        def sentence(self): return f"2 × {self.n} = {2 * self.n}"
        def draw(self): return svg(200, 60, label(20, 35, self.sentence()), self.sentence())

`lesson` turns the class into the function that learners call, with the fields as its arguments. From the declaration come the controls and
their wiring, the picture and the words of a page without a kernel, the table for screen readers, a sentence instead of a traceback, and the
frames of a page that has no Python. What does not live here: any lesson, the parts of figures (lesson.py), how controls look (front/).
"""

from __future__ import annotations

import copy
import functools
import inspect
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

import ipywidgets
import traitlets

from .. import cells
from ..front_end import Fronted
from ..show import Table
from .lesson import STYLE, Judgement, number, plainly

_MISSING: Any = object()


MOODS = {True: "good", False: "bad", None: ""}  # of a Verdict, and of any other sentence


class Field:
    """An argument of the lesson without a control, such as a function or data."""

    kind = ""
    name = ""

    def __init__(self, default: Any = _MISSING):
        self.default = default

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    if TYPE_CHECKING:  # a figure's field is its value; the class holds the declaration

        def __get__(self, figure: Any, owner: type) -> Any: ...

        def __set__(self, figure: Any, value: Any) -> None: ...

    def named(self, name: str) -> Field:
        """The same field under a name, for fields that are made as the lesson goes (Figure.fields)."""
        self.name = name
        return self

    def accept(self, value: Any) -> Any:
        """The value as the figure uses it. Raises ValueError or TypeError with a sentence."""
        return value

    def get(self, figure: Figure) -> Any:
        return getattr(figure, self.name)

    def put(self, figure: Figure, value: Any) -> None:
        """Raises ValueError or TypeError with a sentence."""
        setattr(figure, self.name, self.accept(value))

    def expand(self, figure: Figure) -> dict[str, Field]:
        """The fields, by name, that replace this one in a figure."""
        return {self.name: self}


Given = Field


class Control(Field):
    """A field that the learner can change. `label` is shown beside its control."""

    def __init__(self, label: str, default: Any = _MISSING, hint: str = ""):
        super().__init__(default)
        self.label, self.hint = label, hint

    def shown(self, figure: Figure) -> bool:
        """Does the figure have this control now?"""
        return True

    def spec(self, value: Any) -> dict[str, Any]:
        """The control as the browser draws it, at this value."""
        return {"kind": self.kind, "name": self.name, "label": self.label, "value": value, "hint": self.hint}

    def read(self, sent: Any, value: Any) -> Any:
        """What the browser sent, as a value of the field, which is `value` now. Raises ValueError."""
        return sent

    def _one_of(self, places: Sequence[Any], sent: Any) -> Any:
        if type(sent) is not int or not 0 <= sent < len(places):
            raise ValueError(f"{self.label} has {len(places)} places.")
        return places[sent]


class Slider(Control):
    """Numbers from `low` to `high`. Integers stay integers if `default` and `step` are. `log`: the slider moves the power of ten.

    stretch: a start outside moves the end of the scale there."""

    kind = "slider"

    def __init__(self, label: str, default: float, low: float, high: float, step: float = 1, *, log: bool = False, hint: str = "",
                 show: Callable[[Any], str] = number, stretch: bool = False):  # fmt: skip
        super().__init__(label, default, hint)
        self.low, self.high, self.step, self.log, self.show, self.stretch = low, high, step, log, show, stretch
        self.whole = not log and all(isinstance(x, int) for x in (default, step))

    def accept(self, value: Any) -> Any:
        if isinstance(value, bool) or not math.isfinite(x := float(value)):
            raise ValueError(f"{self.label} needs a number, not {value!r}.")
        if self.whole and x != int(x):
            raise ValueError(f"{self.label} needs a whole number, not {number(x)}.")
        if not self.low <= x <= self.high:
            raise ValueError(
                f"{self.label} may be {self.show(self.low)} to {self.show(self.high)}, and {self.show(x)} is outside."
            )
        return int(x) if self.whole else x

    def put(self, figure: Figure, value: Any) -> None:
        if self.stretch and self.name not in figure.reach and math.isfinite(start := float(value)):
            figure.reach[self.name] = start
        setattr(figure, self.name, self._stretched(figure).accept(value))

    def expand(self, figure: Figure) -> dict[str, Field]:
        return {self.name: self._stretched(figure)}

    def _stretched(self, figure: Figure) -> Slider:
        if (start := figure.reach.get(self.name)) is None or self.low <= start <= self.high:
            return self
        bound = copy.copy(self)
        bound.low, bound.high = min(self.low, start), max(self.high, start)
        return bound

    def spec(self, value: Any) -> dict[str, Any]:
        at = math.log10(value) if self.log else value
        low, high = (math.log10(self.low), math.log10(self.high)) if self.log else (self.low, self.high)
        return {**super().spec(at), "min": low, "max": high, "step": self.step, "text": self.show(value)}

    def read(self, sent: Any, value: Any = None) -> Any:
        if isinstance(sent, bool) or not isinstance(sent, (int, float)) or not math.isfinite(sent):
            raise ValueError(f"{self.label} needs a number.")
        return 10.0 ** min(max(sent, -300), 300) if self.log else round(sent) if self.whole else float(sent)

    def places(self, value: Any) -> list[Any]:
        """Every value that the slider can show."""
        low, high = (math.log10(self.low), math.log10(self.high)) if self.log else (self.low, self.high)
        count = round((high - low) / self.step)
        return [self.read(low + k * self.step) for k in range(count + 1)]


class Steps(Control):
    """One of these values, in this order, on a slider. Another value that the learner gives is put among them if `between` allows it."""

    kind = "slider"

    def __init__(self, values: Sequence[Any], label: str, default: Any, *, between: bool = False, show: Callable[[Any], str] = number,
                 hint: str = ""):  # fmt: skip
        super().__init__(label, default, hint)
        self.values, self.between, self.show = list(values), between, show

    def accept(self, value: Any) -> Any:
        if self.between:
            if isinstance(value, bool) or not math.isfinite(x := float(value)) or x != int(x):
                raise ValueError(f"{self.label} needs a whole number, not {value!r}.")
            if not self.values[0] <= x <= self.values[-1]:
                raise ValueError(f"{self.label} may be {self.show(self.values[0])} to {self.show(self.values[-1])}.")
            return int(x)
        if not any(type(v) is type(value) and v == value for v in self.values):
            raise ValueError(
                f"{self.label} may be {', '.join(map(self.show, self.values))}, and {value!r} is none of these."
            )
        return value

    def places(self, value: Any) -> list[Any]:
        return sorted({*self.values, value}) if self.between else self.values

    def spec(self, value: Any) -> dict[str, Any]:
        places = self.places(value)
        return {**super().spec(places.index(value)), "min": 0, "max": len(places) - 1, "step": 1, "text": self.show(value),
                "texts": [self.show(v) for v in places]}  # fmt: skip

    def read(self, sent: Any, value: Any) -> Any:
        return self._one_of(self.places(value), sent)


class Choice(Control):
    """One of several values: a row of buttons, or a list if there are more than five. `options`: {label: value}, or the values."""

    kind = "choice"

    def __init__(self, options: dict[str, Any] | Sequence[str], label: str, default: Any, hint: str = ""):
        super().__init__(label, default, hint)
        self.options = options if isinstance(options, dict) else {str(v): v for v in options}

    def accept(self, value: Any) -> Any:
        if not any(type(v) is type(value) and v == value for v in self.options.values()):
            raise ValueError(f"{self.name} is one of {', '.join(map(repr, self.options.values()))}, not {value!r}.")
        return value

    def places(self, value: Any) -> list[Any]:
        return list(self.options.values())

    def spec(self, value: Any) -> dict[str, Any]:
        return {**super().spec(self.places(value).index(value)), "texts": list(self.options)}

    def read(self, sent: Any, value: Any) -> Any:
        return self._one_of(self.places(value), sent)


class Toggle(Control):
    """On or off."""

    kind = "toggle"

    def accept(self, value: Any) -> bool:
        if not isinstance(value, bool):
            raise ValueError(f"{self.label} is True or False, not {value!r}.")
        return value

    def places(self, value: Any) -> list[Any]:
        return [False, True]


class Text(Control):
    """A line that the learner types: a formula, a program, a list of numbers. It is taken on Enter; of several `rows`, on Shift+Enter."""

    kind = "text"

    def __init__(
        self, label: str, default: Any = "", *, rows: int = 1, hint: str = "", show: Callable[[Any], str] = str
    ):
        super().__init__(label, default, hint)
        self.rows, self.show = rows, show

    def spec(self, value: Any) -> dict[str, Any]:
        return {**super().spec(self.show(value)), "rows": self.rows}

    def read(self, sent: Any, value: Any) -> str:
        if not isinstance(sent, str) or len(sent) > 2000:
            raise ValueError(f"{self.label} needs a line of text.")
        return sent


class ProgramText(Text):
    """The learner's program: a line of text that can be edited, or a function, which has no control."""

    needs = "a program such as '(3*x + 2)**2', or a function"

    def __init__(self, default: Any, needs: str = needs, **text: Any):
        super().__init__("program", default, **text)
        self.needs = needs

    def accept(self, value: Any) -> Any:
        if not isinstance(value, str) and not callable(value):
            raise TypeError(f"it needs {self.needs}. It was given {type(value).__name__}.")
        return value

    def shown(self, figure: Figure) -> bool:
        return isinstance(self.get(figure), str)


class Number(Control):
    """A number that the learner types."""

    kind = "text"

    def accept(self, value: Any) -> Any:
        if isinstance(value, bool):
            raise ValueError(f"{self.label} needs a number, not {value!r}.")
        return float(value)

    def spec(self, value: Any) -> dict[str, Any]:
        return {**super().spec(f"{value:.12g}".replace("-", "−")), "rows": 1, "narrow": True}

    def read(self, sent: Any, value: Any) -> float:
        try:
            return float(sent.replace("−", "-").replace(",", "."))
        except (AttributeError, ValueError):
            raise ValueError(f"{self.label} needs a number, not {sent!r}.") from None


END = 10**9


class Moments(Control):
    """Where the figure stands, 0 to `figure.last`: buttons for one back and one on, one that plays, a slider. Nothing is computed again."""

    kind = "moments"
    last = END

    def __init__(self, label: str, default: int | str = "end", *, on: str = "step ▸", hint: str = ""):
        super().__init__(label, default, hint)
        self.on = on

    def accept(self, value: Any) -> int:
        at = {"start": 0, "end": END}.get(value, value) if isinstance(value, str) else value
        if not isinstance(at, int) or isinstance(at, bool):
            raise ValueError(f"{self.name} is 'start', 'end' or a number, and it was given {value!r}.")
        return min(max(at if at >= 0 else at + self.last + 1, 0), self.last)

    def expand(self, figure: Figure) -> dict[str, Field]:
        bound = copy.copy(self)
        bound.last = figure.last
        return {self.name: bound}

    def spec(self, value: int) -> dict[str, Any]:
        return {
            **super().spec(value),
            "min": 0,
            "max": self.last,
            "step": 1,
            "text": f"{value} of {self.last}",
            "on": self.on,
        }

    def read(self, sent: Any, value: Any) -> int:
        if type(sent) is not int or not 0 <= sent <= self.last:
            raise ValueError(f"{self.label} may be 0 to {self.last}.")
        return sent

    def places(self, value: Any) -> list[int]:
        return list(range(self.last + 1))


class Entry(Slider):
    """A slider for one entry of a field that holds several numbers, by name or by place."""

    def __init__(
        self, of: str, key: Any, label: str, value: float, least: float, step: float = 0.05, floor: float = -math.inf
    ):
        reach = max(least, abs(value))
        super().__init__(label, value, max(-reach, floor), reach, step)
        self.of, self.key, self.whole = of, key, False

    def get(self, figure: Figure) -> Any:
        return getattr(figure, self.of)[self.key]

    def put(self, figure: Figure, value: Any) -> None:
        held = copy.copy(getattr(figure, self.of))
        held[self.key] = self.accept(value)
        setattr(figure, self.of, held)


class TypedEntry(Number):
    """The same as a number to type."""

    def __init__(self, of: str, key: Any, label: str):
        super().__init__(label)
        self.of, self.key = of, key

    get, put = Entry.get, Entry.put  # type: ignore[assignment]


class Inputs(Field):
    """All further arguments: the inputs of the learner's program by name. A single number has a slider, or a field to type in."""

    def __init__(self, least: float = 3.0, step: float = 0.05, *, typed: bool = False, fixed: bool = False):
        super().__init__({})
        self.least, self.step, self.typed, self.fixed = least, step, typed, fixed

    def expand(self, figure: Figure) -> dict[str, Field]:
        used = {field.name for field in declared(type(figure))}
        results: dict[str, Field] = {self.name: self}
        if self.fixed:
            return results
        for name, value in getattr(figure, self.name).items():
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                key = name if name not in used else f"{name} = "
                # how far a slider reaches follows from where its input started
                reach = figure.reach.setdefault(
                    name, max(self.least, 2 * abs(value)) if math.isfinite(value) else self.least
                )
                entry = (
                    TypedEntry(self.name, name, name)
                    if self.typed
                    else Entry(self.name, name, name, value, reach, self.step)
                )
                results[key] = entry.named(key)
        return results


def action(label: str | Callable[[Any], str], hint: str = "", when: Callable[[Any], bool] = lambda figure: True) -> Any:
    """A method that runs when its button is pressed. `when(figure)`: may it be pressed now?"""

    def mark(method: Any) -> Any:
        method.button = {"label": label, "hint": hint, "when": when, "run": method}
        return method

    return mark


class Figure:
    """The state of a lesson: its fields, its picture and its sentence. Fields are validated when they are set."""

    presets: dict[str, dict[str, Any]] = {}  # buttons that set several fields at once
    last = END  # the figure's last moment, where it has Moments
    space: dict[str, Any] | None = None  # the caller's variables, for a figure that starts with {}
    keeps = False  # is what its buttons show worth keeping in the notebook?
    busy = False  # true during an animation: screen readers then announce nothing
    view: LessonView | None = None  # where it is shown
    film: dict[str, Any] = {}  # frames.py

    def __init__(self) -> None:
        self.reach: dict[str, float] = {}
        for field in declared(type(self)):
            setattr(self, field.name, None if field.default is _MISSING else field.default)

    def setup(self) -> None:
        """Compute what the picture needs. Raises ValueError with a sentence where that is impossible."""

    def moved(self, name: str) -> None:
        """A field has changed, other than Moments. By default everything is computed again."""
        self.setup()

    def draw(self) -> str:
        """The picture as a complete SVG (lesson.svg)."""
        raise NotImplementedError

    def still(self) -> str:
        """The picture for a page without a kernel."""
        return self.draw()

    def wide(self) -> str | None:
        """The same for a wide window, if it is another picture there."""
        return None

    def sentence(self) -> str:
        """The text of the picture, announced by screen readers when it changes. A Verdict colours it."""
        raise NotImplementedError

    def caption(self) -> str:
        """The text below the picture; "" for none."""
        return self.sentence()

    def code(self) -> str:
        """A line of code that does the same, to copy; "" for none."""
        return ""

    def below(self) -> list[ipywidgets.Widget]:
        """Widgets below the picture, such as a graph view."""
        return []

    def close(self) -> None:
        """Stop animations; called when the lesson is closed."""

    def table(self) -> Table | None:
        """The numbers of the picture, for readers who do not see it."""
        return None

    def text(self) -> str:
        """All of it as plain text."""
        table = self.table()
        return self.sentence() + (f"\n\n{table.text()}" if table is not None else "")

    def fields(self) -> dict[str, Field]:
        """All fields by name. A lesson whose fields depend on its arguments adds them here, or replaces declared ones."""
        return {name: one for field in declared(type(self)) for name, one in field.expand(self).items()}

    def put(self, **values: Any) -> None:
        """Set fields. Raises ValueError or TypeError with a sentence."""
        for name, value in values.items():
            self.fields()[name].put(self, value)

    def settle(self) -> None:
        """Adjust fields after a new computation, which may have fewer moments."""
        for field in self.fields().values():
            if isinstance(field, Moments):
                field.put(self, field.get(self))

    def controls(self) -> list[Control]:
        """The fields that can be changed now, in the order in which they are shown."""
        return [field for field in self.fields().values() if isinstance(field, Control) and field.shown(self)]

    def actions(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """The buttons, in the order of the class body."""
        for cls in reversed(type(self).__mro__):
            for name, thing in vars(cls).items():
                if hasattr(thing, "button"):
                    yield name, thing.button


def declared(cls: type) -> list[Field]:
    return [thing for base in reversed(cls.__mro__) for thing in vars(base).values() if isinstance(thing, Field)]


class LessonView(Fronted):
    """A lesson on the screen: the figure's picture, its sentence, its controls. One message for each change."""

    scene = traitlets.Dict().tag(sync=True)
    film = traitlets.Dict().tag(sync=True)  # all moments of a film at once (frames.py)
    children = traitlets.List(traitlets.Instance(ipywidgets.Widget)).tag(sync=True, **ipywidgets.widget_serialization)

    def __init__(self, figure: Figure):
        self.figure: Any = figure
        self._answered = 0
        figure.view = self
        self.cells: set[str] = set()
        super().__init__(part="lesson", scene=self._scene(), film=figure.film, children=figure.below(),
                         _dom_classes=["mg-lesson", "mg-" + type(figure).__name__.replace("_", "-")])  # fmt: skip
        self.on_msg(self._on_message)

    def picture(self) -> str:
        return self.figure.still()

    def wide_picture(self) -> str | None:
        return self.figure.wide()

    def moves(self) -> bool:
        return bool(self.children or self.film) or any(self.scene[k] for k in ("controls", "buttons", "table", "code"))

    def text(self) -> str:
        return self.figure.text()

    def __repr__(self) -> str:
        return self.text()

    def set(self, **values: Any) -> None:
        """Change fields, as the controls do. Raises ValueError or TypeError for invalid values; the picture then stays unchanged."""
        figure = copy.copy(self.figure)
        figure.put(**values)
        if not all(isinstance(figure.fields().get(name), Moments) for name in values):
            figure.moved(next(iter(values)) if len(values) == 1 else "")
        self._show(figure)

    def refresh(self) -> None:
        """Redraw during an animation."""
        self._show(self.figure)

    def press(self, name: str) -> None:
        """Press the button of an action, or of a preset."""
        figure = self.figure
        if name in figure.presets:
            return self.set(**figure.presets[name])
        button = dict(figure.actions()).get(name)
        if button is None or not button["when"](figure):
            raise ValueError(f"{name!r} cannot be pressed now.")
        figure = copy.copy(figure)
        button["run"](figure)
        self._show(figure)
        if figure.keeps:
            self.store_again(self.picture(), self.text())

    def _show(self, figure: Figure, problem: str = "") -> None:
        before, self.figure = self.figure, figure
        try:
            scene = self._scene(problem)
            below = figure.below()
        except Exception:
            self.figure = before
            raise
        if self.film is not figure.film:
            self.film = figure.film
        if self.children != below:
            gone = [part for part in self.children if part not in below]
            self.children = below
            for part in gone:
                part.close()
        self.scene = scene

    def _scene(self, problem: str = "") -> dict[str, Any]:
        figure = self.figure
        figure.settle()
        table = figure.table()
        sentence = plainly(problem) if problem else figure.caption()
        return {
            "label": type(figure).__name__.replace("_", " "),
            "svg": "" if figure.film else figure.draw().replace(STYLE, ""),  # the page has the sheet
            "code": figure.code(),
            "busy": figure.busy,
            "say": getattr(sentence, "plain", sentence),
            "mood": "bad" if problem else MOODS[getattr(sentence, "good", None)],
            "table": None if table is None else table.html(),
            "controls": [control.spec(control.get(figure)) for control in figure.controls()],
            "buttons": [{"name": name, "label": b["label"](figure) if callable(b["label"]) else b["label"], "hint": b["hint"],
                         "enabled": bool(b["when"](figure))} for name, b in figure.actions()],
            "presets": list(figure.presets),
            "answers": self._answered,
        }  # fmt: skip

    def _on_message(self, _: Any, content: Any, buffers: Any) -> None:
        """Handle a control's new value, or a button. An invalid value becomes an error sentence."""
        if not isinstance(content, dict):
            return
        if content.get("type") == "save":  # the page cannot draw it
            return self.send({"type": "file", "mime": "image/svg+xml"}, [self.picture().encode()])
        number_ = content.get("number")
        self._answered = number_ if isinstance(number_, int) and not isinstance(number_, bool) else self._answered
        name = content.get("set", content.get("press"))
        if not isinstance(name, str):
            return
        try:
            if "set" in content:
                control = next((c for c in self.figure.controls() if c.name == name), None)
                if control is not None:
                    self.set(**{name: control.read(content.get("value"), control.get(self.figure))})
            else:
                self.press(name)
        except Exception as error:  # the learner's own code may raise anything
            told = str(error) or type(error).__name__
            stop = "" if told[-1] in ".!?" else "."
            self._show(self.figure, f"{told}{stop} The picture still shows what it showed before.")

    def frames(self) -> dict[str, Any]:
        """What a page without Python needs to move the first control: a scene for each of its places. Empty if nothing can be moved."""
        moving = next((c for c in self.figure.controls() if hasattr(c, "places")), None)
        if moving is None:
            return {}
        made = {}
        for k, value in enumerate(moving.places(moving.get(self.figure))):
            figure = copy.copy(self.figure)
            figure.put(**{moving.name: value})
            if not isinstance(moving, Moments):
                figure.moved(moving.name)
            figure.settle()
            table = figure.table()
            made[k] = {"svg": figure.draw(), "say": figure.sentence(), "table": None if table is None else table.html()}
        return {"control": moving.name, "scenes": made}

    def close(self) -> None:
        """Take the lesson out of the browser and out of ipywidgets' books. Showing it again brings it back."""
        self.figure.close()
        for part in self._inside():
            part.close()
        super().close()
        self.__dict__.pop("_repr_mimebundle_", None)  # ipywidgets hides it

    def reopen(self) -> None:
        if self.comm is None:
            for part in self._inside():
                part.reopen() if isinstance(part, Fronted) else part.open()
        super().reopen()

    def _inside(self) -> list[ipywidgets.Widget]:
        return [part for child in self.children for part in cells.parts(child)]

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        self.reopen()
        cells.shown(self)
        data, _ = cast(Any, super()._repr_mimebundle_(**kwargs))
        picture = self.picture()
        return {**data, "text/plain": self.text(), **({"image/svg+xml": picture} if picture else {})}


class _Said(Figure):
    """No picture, but why there is none."""

    message = ""

    def draw(self) -> str:
        return ""

    def sentence(self) -> str:
        return self.message

    def caption(self) -> str:
        return Judgement(False, self.message)


class Sentence(LessonView):
    """What a lesson shows when it cannot show its picture: one sentence that says why and what to do."""

    def __init__(self, message: str):
        figure = _Said()
        figure.message = plainly(message)
        super().__init__(figure)


def lesson(cls: type[Figure]) -> Callable[..., LessonView | Sentence]:
    """The function that learners call. Its arguments are the fields of the class; errors become a sentence."""
    fields = sorted(declared(cls), key=lambda field: isinstance(field, Inputs))
    needed = inspect.Parameter.empty
    signature = inspect.Signature([
        inspect.Parameter(f.name, inspect.Parameter.VAR_KEYWORD) if isinstance(f, Inputs) else
        inspect.Parameter(f.name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=needed if f.default is _MISSING else f.default)
        for f in fields
    ])  # fmt: skip

    def make(args: tuple, kwargs: dict[str, Any], caller: Any = None) -> Figure:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        figure = cls()
        if cls.space is not None and caller is not None:
            figure.space = {**caller.f_globals, **caller.f_locals}
        figure.put(**bound.arguments)
        figure.setup()
        figure.settle()
        return figure

    @functools.wraps(cls, updated=())
    def show(*args: Any, **kwargs: Any) -> Any:
        try:
            return LessonView(make(args, kwargs, sys._getframe(1)))
        except Exception as error:  # the learner's own code may raise anything: say it, show no traceback of ours
            return Sentence(f"{cls.__name__} cannot draw this: {str(error) or type(error).__name__}")

    show.__signature__ = signature  # type: ignore[attr-defined]
    show.__annotations__ = {}
    show.make = make  # type: ignore[attr-defined]
    return show


def made(lesson: Callable, *args: Any, **kwargs: Any) -> Any:
    """The figure of a lesson without its widget. Raises ValueError or TypeError for invalid arguments."""
    return lesson.make(args, kwargs)  # type: ignore[attr-defined]
