"""The kit that lessons are declared with: what can be set, what is drawn, what is said. The rest follows from that.

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
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import traitlets

from .. import cells
from ..front_end import Fronted
from ..show import Table
from .lesson import Sentence, number, plainly

_MISSING: Any = object()


class Field:
    """An argument of the lesson. By itself it has no control: a function, data, a program given once."""

    kind = ""
    name = ""

    def __init__(self, default: Any = _MISSING):
        self.default = default

    def __set_name__(self, owner: type, name: str):
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


Given = Field


class Control(Field):
    """A field that the learner can change. `label` is what stands beside it."""

    def __init__(self, label: str, default: Any = _MISSING, hint: str = ""):
        super().__init__(default)
        self.label, self.hint = label, hint

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
    """Numbers from `low` to `high`. Integers stay integers if `default` and `step` are. `log`: the slider moves the power of ten."""

    kind = "slider"

    def __init__(self, label: str, default: float, low: float, high: float, step: float = 1, *, log: bool = False, hint: str = "",
                 show: Callable[[Any], str] = number):  # fmt: skip
        super().__init__(label, default, hint)
        self.low, self.high, self.step, self.log, self.show = low, high, step, log, show
        self.whole = not log and all(isinstance(x, int) for x in (default, step))

    def accept(self, value: Any) -> Any:
        if isinstance(value, bool) or not math.isfinite(x := float(value)):
            raise ValueError(f"{self.label} needs a number, not {value!r}.")
        if self.whole and x != int(x):
            raise ValueError(f"{self.label} needs a whole number, not {number(x)}.")
        if not self.low <= x <= self.high:
            raise ValueError(f"{self.label} may be {self.show(self.low)} to {self.show(self.high)}, and {self.show(x)} is outside.")
        return int(x) if self.whole else x

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
            raise ValueError(f"{self.label} may be {', '.join(map(self.show, self.values))}, and {value!r} is none of these.")
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
    """One of a few: a row of buttons, or a list where there are more than five. `options`: {what is shown: value} or the values."""

    kind = "choice"

    def __init__(self, options: dict[str, Any] | Sequence[str], label: str, default: Any, hint: str = ""):
        super().__init__(label, default, hint)
        self.options = options if isinstance(options, dict) else {str(v): v for v in options}

    def accept(self, value: Any) -> Any:
        if not any(type(v) is type(value) and v == value for v in self.options.values()):
            raise ValueError(f"{self.label} is one of {', '.join(map(repr, self.options.values()))}, not {value!r}.")
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
    """A line that the learner types: a formula, a program, a list of numbers. It is taken on Enter."""

    kind = "text"

    def __init__(self, label: str, default: Any = "", *, hint: str = "", show: Callable[[Any], str] = str):
        super().__init__(label, default, hint)
        self.show = show

    def spec(self, value: Any) -> dict[str, Any]:
        return super().spec(self.show(value))

    def read(self, sent: Any, value: Any) -> str:
        if not isinstance(sent, str) or len(sent) > 2000:
            raise ValueError(f"{self.label} needs a line of text.")
        return sent


def action(label: str, hint: str = "", when: Callable[[Any], bool] = lambda figure: True):
    """A method that runs when its button is pressed. `when(figure)`: may it be pressed now?"""

    def mark(method):
        method.button = {"label": label, "hint": hint, "when": when}
        return method

    return mark


class Figure:
    """The state of a lesson: its fields, what is drawn, what is said. Fields are checked when they are set."""

    presets: dict[str, dict[str, Any]] = {}  # buttons that set several fields at once

    def setup(self) -> None:
        """Compute what the picture needs. Raises ValueError with a sentence where that is impossible."""

    def moved(self, name: str) -> None:
        """A field has changed. By default everything is computed again."""
        self.setup()

    def draw(self) -> str:
        """The picture as a complete SVG (lesson.svg)."""
        raise NotImplementedError

    def sentence(self) -> str:
        """What the picture shows, in words; spoken when it changes. A first ✓ or ✗ colours it."""
        raise NotImplementedError

    def table(self) -> Table | None:
        """The numbers of the picture, for readers who do not see it."""
        return None

    def text(self) -> str:
        """All of it as plain text."""
        table = self.table()
        return self.sentence() + (f"\n\n{table.text()}" if table is not None else "")

    def fields(self) -> dict[str, Field]:
        """All fields by name. A lesson whose fields depend on what it was given adds its own here, or puts them over declared ones."""
        return {field.name: field for field in declared(type(self))}

    def put(self, **values: Any) -> None:
        """Set fields. Raises ValueError or TypeError with a sentence."""
        for name, value in values.items():
            setattr(self, name, self.fields()[name].accept(value))

    def controls(self) -> list[Control]:
        """The fields that can be changed now, in the order in which they are shown."""
        return [field for field in self.fields().values() if isinstance(field, Control)]

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

    def __init__(self, figure: Figure):
        self.figure, self._answered = figure, 0
        self.cells: set[str] = set()
        super().__init__(part="lesson", scene=self._scene(), _dom_classes=["mg-lesson", "mg-" + type(figure).__name__.replace("_", "-")])
        self.on_msg(self._on_message)

    def picture(self) -> str:
        return self.figure.draw()

    def text(self) -> str:
        return self.figure.text()

    def __repr__(self) -> str:
        return self.text()

    def set(self, **values: Any) -> None:
        """Change fields as a learner would. Raises what is wrong with them; the picture then stays as it was."""
        figure = copy.copy(self.figure)
        figure.put(**values)
        figure.moved(next(iter(values)) if len(values) == 1 else "")
        self._show(figure)

    def press(self, name: str) -> None:
        """Press the button of an action, or of a preset."""
        figure = self.figure
        if name in figure.presets:
            return self.set(**figure.presets[name])
        button = dict(figure.actions()).get(name)
        if button is None or not button["when"](figure):
            raise ValueError(f"{name!r} cannot be pressed now.")
        figure = copy.copy(figure)
        getattr(figure, name)()
        self._show(figure)

    def _show(self, figure: Figure, problem: str = "") -> None:
        before, self.figure = self.figure, figure
        try:
            scene = self._scene(problem)
        except Exception:
            self.figure = before
            raise
        self.scene = scene

    def _scene(self, problem: str = "") -> dict[str, Any]:
        figure = self.figure
        table = figure.table()
        sentence = plainly(problem) if problem else figure.sentence()
        return {
            "svg": figure.draw(),
            "say": sentence.removeprefix("✓ ").removeprefix("✗ ") if not problem else sentence,
            "mood": "bad" if problem or sentence[:1] == "✗" else "good" if sentence[:1] == "✓" else "",
            "table": None if table is None else table.html(),
            "controls": [control.spec(getattr(figure, control.name)) for control in figure.controls()],
            "buttons": [{"name": name, "label": b["label"], "hint": b["hint"], "enabled": bool(b["when"](figure))}
                        for name, b in figure.actions()],
            "presets": list(figure.presets),
            "answers": self._answered,
        }  # fmt: skip

    def _on_message(self, _, content: Any, buffers: Any) -> None:
        """A control was moved or a button pressed. What no honest page sends is refused like any other wrong value: with a sentence."""
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
                    self.set(**{name: control.read(content.get("value"), getattr(self.figure, name))})
            else:
                self.press(name)
        except Exception as error:  # the learner's own code may raise anything
            self._show(self.figure, f"{error} The picture still shows what it showed before.")

    def frames(self) -> dict[str, Any]:
        """What a page without Python needs to move the first control: a scene for each of its places. Empty if nothing can be moved."""
        moving = next((c for c in self.figure.controls() if hasattr(c, "places")), None)
        if moving is None:
            return {}
        made = {}
        for k, value in enumerate(moving.places(getattr(self.figure, moving.name))):
            figure = copy.copy(self.figure)
            figure.put(**{moving.name: value})
            figure.moved(moving.name)
            table = figure.table()
            made[k] = {"svg": figure.draw(), "say": figure.sentence(), "table": None if table is None else table.html()}
        return {"control": moving.name, "scenes": made}

    def close(self) -> None:
        """Take the lesson out of the browser and out of ipywidgets' books. Showing it again brings it back."""
        super().close()
        self.__dict__.pop("_repr_mimebundle_", None)  # ipywidgets hides it

    def _repr_mimebundle_(self, **kwargs):
        self.reopen()
        cells.shown(self)
        data, _ = super()._repr_mimebundle_(**kwargs)
        return {**data, "text/plain": self.text(), "image/svg+xml": self.picture()}


def lesson(cls: type[Figure]) -> Callable[..., LessonView | Sentence]:
    """The function that learners call: its arguments are the fields of the class, and what it cannot draw it says in a sentence."""
    arguments = declared(cls)
    positional = inspect.Parameter.POSITIONAL_OR_KEYWORD
    signature = inspect.Signature([
        inspect.Parameter(f.name, positional, default=inspect.Parameter.empty if f.default is _MISSING else f.default) for f in arguments
    ])  # fmt: skip

    @functools.wraps(cls, updated=())
    def show(*args, **kwargs):
        try:
            given = signature.bind(*args, **kwargs)
            given.apply_defaults()
            figure = cls()
            figure.put(**given.arguments)
            figure.setup()
            return LessonView(figure)
        except Exception as error:  # the learner's own code may raise anything: say it, show no traceback of ours
            return Sentence(f"{cls.__name__} cannot draw this: {error}")

    show.__signature__ = signature  # type: ignore[attr-defined]
    show.__annotations__ = {}
    show.figure = cls  # type: ignore[attr-defined]
    return show
