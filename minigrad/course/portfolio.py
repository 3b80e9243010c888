"""One HTML file with the results of the learner's own code: no script, no request, in light and dark.

A card appears only where the learner's own code has passed. Its numbers and pictures are computed when the page is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

STYLE = """
:root{color-scheme:light dark;--page:#eef1f5;--card:#fff;--ink:#15191f;--soft:#525b65;--one:#0b5cd0;--two:#ad4300}
@media(prefers-color-scheme:dark){:root{--page:#0d1117;--card:#161c24;--ink:#e8edf3;--soft:#a9b3bf;--one:#79b8ff;--two:#ffab66}}
body{margin:0;padding:24px;background:var(--page);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
main{max-width:760px;margin:auto;display:grid;gap:18px}section{background:var(--card);border-radius:12px;padding:18px 22px}
h1{font-size:26px;margin:0}h2{font-size:18px;margin:0 0 6px}p{margin:6px 0}figure{margin:0;display:flex;flex-wrap:wrap;gap:12px}
svg{max-width:100%;height:auto}small{color:var(--soft)}
"""


def digit(pixels: Any, caption: str) -> str:
    """An 8 × 8 image as squares, with a caption."""
    cells = "".join(
        f'<rect x="{8 * j}" y="{8 * i}" width="8" height="8" fill="var(--ink)" fill-opacity="{v:.2f}"/>'
        for i, row in enumerate(np.reshape(pixels, (8, 8)))
        for j, v in enumerate(row)
        if v > 0
    )
    words = f'<text x="32" y="80" text-anchor="middle" font-size="11" fill="var(--soft)">{escape(caption)}</text>'
    return f'<svg viewBox="0 0 64 86" width="76" role="img" aria-label="{escape(caption)}">{cells}{words}</svg>'


def curves(x: Sequence[float], lines: dict[str, list[float]]) -> str:
    """Lines over the same x, with their names."""
    values = [v for line in lines.values() for v in line]
    low, high = min(values), max(values)
    left, wide = min(x), (max(x) - min(x)) or 1

    def at(a: float, v: float) -> str:
        return f"{20 + 640 * (a - left) / wide:.1f},{190 - 170 * (v - low) / ((high - low) or 1):.1f}"

    out = ""
    for k, (name, line) in enumerate(lines.items()):
        colour = ("var(--soft)", "var(--one)", "var(--two)")[k % 3]
        points = " ".join(at(a, v) for a, v in zip(x, line, strict=True))
        out += f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>'
        out += f'<text x="{24 + 200 * k}" y="212" font-size="13" fill="{colour}">{escape(name)}</text>'
    return f'<svg viewBox="0 0 680 220" width="680" role="img" aria-label="{escape(", ".join(lines))}">{out}</svg>'


def card(title: str, text: str, picture: str = "") -> str:
    return f"<section><h2>{escape(title)}</h2><p>{escape(text)}</p><figure>{picture}</figure></section>"


def reading(Tensor: Any, backward: Any, trainer: Any) -> str:
    """The learner's tensors learn to read: how many digits, and six that were misread."""
    from ..datasets import digits
    from .drivers import squared_error

    network, fit = trainer(Tensor, backward)
    images, labels = digits(seed=0)
    x, y = images.numpy().reshape(-1, 64) / 16, labels.numpy()
    rng = np.random.default_rng(0)
    model = network(64, 32, 10, rng)
    fit(model, x[:1297], y[:1297], squared_error, rng)
    read = model(x[1297:]).data.argmax(axis=1)
    wrong = np.flatnonzero(read != y[1297:])
    pictures = "".join(digit(x[1297 + k], f"{y[1297 + k]}, read {read[k]}") for k in wrong[:6])
    said = (
        f"A network on my own tensors reads {len(read) - len(wrong)} of 500 handwritten digits that it has never seen. "
    )
    said += "Here are some that it did not."
    return card("It reads", said, pictures)


def write(pieces: dict[str, tuple[Any, str]], folder: Path) -> tuple[Path, int]:
    """Write the page from {exercise: (answer, whose it is)}; returns its path and the number of cards."""
    from .growing import frame
    from .trainings import Engine, trained

    mine = {id for id, (_, where) in pieces.items() if where.startswith("yours")}
    got = {id: answer for id, (answer, _) in pieces.items()}
    cards = []
    if {"05.a", "05.b"} <= mine:
        a, b = got["05.a"](2.0), got["05.a"](3.0)
        got["05.b"]((a + b + a * b) + (a + b) * (a * b))
        cards.append(
            card(
                "An engine",
                "I have written an engine that differentiates programs. Of a + b + ab + (a + b)ab at a = 2 and b = 3 "
                f"it says {a.grad:g} and {b.grad:g}.",
            )
        )
    Tensor = frame(got["05.a"])
    got["09.e"](Tensor)
    if {"09.e", "09.f"} <= mine:
        cards.append(reading(Tensor, got["05.b"], got["09.f"]))
    if "19.b" in mine:
        name, operation = got["19.b"](got["05.a"])
        run = trained(name, operation, Engine(got["05.a"], Tensor, got["05.b"], got["17.b"]))
        cards.append(card(f"An operation of my own: {name}", f"{run.question} {run.says}", curves(run.x, run.lines)))
    path = folder / "portfolio.html"
    head = '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    head += "<title>My engine</title>"
    foot = "<small>Written with the answers of a course on automatic differentiation, and computed when this page was made.</small>"
    path.write_text(
        f"{head}<style>{STYLE}</style><main><h1>My engine</h1>{''.join(cards)}{foot}</main></html>", encoding="utf-8"
    )
    return path, len(cards)
