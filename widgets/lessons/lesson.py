"""The parts of hand-drawn figures, numbers as people write them, and messages as one sentence."""

from __future__ import annotations

import html
import math
import re
from pathlib import Path

from minigrad import words as formats

_SHEET = (Path(__file__).parents[1] / "front" / "lessons.css").read_text(encoding="utf-8")
STYLE = "<style>" + re.sub(r"/\*.*?\*/|\n\s*", "", _SHEET, flags=re.S) + "</style>"


def esc(text: object) -> str:
    return html.escape(str(text), quote=True)


def tag(name: str, cls: str = "", text: str | None = None, **attributes: object) -> str:
    """One SVG element. Underscores in attribute names become hyphens; numbers are rounded to one digit; `text` is not escaped.

    >>> tag("rect", "card", x=1.25, width=10)
    '<rect class="card" x="1.2" width="10"/>'
    """
    parts = [f'class="{cls}"'] if cls else []
    for key, value in attributes.items():
        written = f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else esc(value)
        parts.append(f'{key.replace("_", "-")}="{written}"')
    head = " ".join([name, *parts])
    return f"<{head}/>" if text is None else f"<{head}>{text}</{name}>"


def label(x: float, y: float, text: str, cls: str = "t", anchor: str = "") -> str:
    """One line of text in a figure; `text` is escaped."""
    return tag("text", cls, esc(text), x=float(x), y=float(y), **({"text_anchor": anchor} if anchor else {}))


def svg(width: float, height: float, body: str, alt: str) -> str:
    """A complete SVG image that also works inline in a page: `alt` is what a screen reader says."""
    size = f'viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}"'
    return (
        f'<svg class="mgl" xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{esc(alt)}" style="max-width:100%;height:auto">'
        f'<title>{esc(alt)}</title>{STYLE}<rect class="bg" width="{width:g}" height="{height:g}" rx="8"/>{body}</svg>'
    )


def number(x: object, digits: int = 6, power: bool = False) -> str:
    """A number as people write it (minigrad.words), without digits that are rounding noise. None is "·"; other objects become text.

    >>> number(-2.2760000000001), number(25.0), number(1e-5), number(None)
    ('−2.276', '25', '1e−5', '·')
    """
    if x is None:
        return "·"
    if isinstance(x, bool) or not isinstance(x, (int, float)):
        return repr(x)
    return formats.number(x, digits, power)


def bracketed(x: float, digits: int = 6) -> str:
    """A number as a factor or a term: in parentheses if it is negative.

    >>> bracketed(2.0), bracketed(-0.5)
    ('2', '(−0.5)')
    """
    return f"({number(x, digits)})" if x < 0 else number(x, digits)


class Judgement(str):
    """A sentence that judges. As text it begins with ✓ or ✗; `plain` is the sentence without that sign."""

    good: bool
    plain: str

    def __new__(cls, good: bool, plain: str) -> Judgement:
        verdict = super().__new__(cls, f"{'✓' if good else '✗'} {plain}")
        verdict.good, verdict.plain = good, plain
        return verdict


def same(a: object, b: object, rel: float = 1e-9) -> bool:
    """Whether two numbers agree up to rounding. nan agrees with nan; any other object agrees with nothing."""
    if not isinstance(a, (int, float)) or not isinstance(b, (int, float)) or isinstance(a, bool):
        return False
    return (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=rel, abs_tol=1e-12)


PLAINLY = (
    (r"<function ((?:\w|<|>|\.)+) at 0x[0-9a-f]+>", r"\1"),
    (r"<(?:[\w.]*\.)?(\w+) object at 0x[0-9a-f]+>", r"a \1"),
    (r"(?:float|int)\(\) argument must be a string.*? real number, not '(\w+)'", r"a number is needed, not \1"),
    (r"could not convert string to float: ('.*')", r"\1 is no number"),
    (r"invalid literal for int\(\) with base 10: ('.*')", r"\1 is no whole number"),
    (r"cannot convert float NaN to integer", "nan is no whole number"),
    (r"cannot convert float infinity to integer", "inf is no whole number"),
    (r"'(\w+)' object is not iterable", r"several numbers are needed, not \1"),
)


def plainly(message: str) -> str:
    """A message as one sentence of bearable length: no addresses, no lines after a blank one, Python's words about numbers in plain ones.

    >>> plainly("cannot run this: could not convert string to float: 'two'")
    "cannot run this: 'two' is no number"
    """
    text = " ".join(message.strip().split("\n\n")[0].split())
    for pattern, words in PLAINLY:
        text = re.sub(pattern, words, text)
    return text if len(text) <= 400 else text[:399] + "…"
