"""Will it fit? The memory that training a transformer takes, as one bar of four parts, beside what a graphics card has.

What lives here: `will_it_fit()` and the arithmetic of a transformer's parameters and saved tensors, which a test compares with a real one.
"""

from __future__ import annotations

from typing import NamedTuple

from ..show import Table
from .kit import Choice, Figure, Slider, Steps, Toggle, lesson
from .lesson import Judgement, label, svg, tag

ROOM = 24.0  # GB
PARTS = ("parameters", "gradients", "optimiser", "activations")
COLOURS = ("fwd", "bwd", "soft", "good")


class Transformer(NamedTuple):
    """The sizes of a transformer with learned places; `tied`: its last layer shares its matrix with the embedding."""

    layers: int
    d: int
    heads: int
    vocabulary: int
    length: int
    tied: bool = True

    def parameters(self) -> int:
        d = self.d
        block = 12 * d * d + 13 * d  # attention's four matrices, the two of the small network, two norms, all biases
        head = 0 if self.tied else (d + 1) * self.vocabulary
        return self.layers * block + self.vocabulary * d + self.length * d + 2 * d + head

    def block(self, batch: int) -> int:
        """How many numbers one block saves for the backward pass, by the rules of chapter 6."""
        rows, d = batch * self.length, self.d
        norms, attention = 2 * rows * (d + 2), rows * (5 * d) + batch * self.heads * self.length**2
        return norms + attention + rows * 9 * d  # the small network: its input, and twice four times as much

    def ends(self, batch: int) -> int:
        return batch * self.length * (2 * self.d + 2 + self.vocabulary)


def gigabytes(model: Transformer, batch: int, mixed: bool, checkpoints: bool, small_averages: bool) -> dict[str, float]:
    """The four parts in GB. Mixed precision keeps a float32 copy of the weights beside Adam's two averages."""
    p, number = model.parameters(), 2 if mixed else 4
    averages = 2 if small_averages else 8
    kept = (
        model.layers * batch * model.length * model.d + model.block(batch)
        if checkpoints
        else model.layers * model.block(batch)
    )
    sizes = (number * p, number * p, (averages + 4 * mixed) * p, number * (kept + model.ends(batch)))
    return {name: size / 1e9 for name, size in zip(PARTS, sizes, strict=True)}


@lesson
class will_it_fit(Figure):
    """The memory for training a transformer of about a billion parameters, and the 24 GB of a graphics card.

    precision, batch, length, layers, checkpoints, averages: the settings to begin with.
    """

    precision = Choice({"float32": False, "mixed": True}, "precision", True)
    batch = Steps([1, 2, 4, 8, 16], "batch", 8)
    length = Steps([512, 1024, 2048, 4096], "length", 1024)
    layers = Slider("layers", 24, 4, 48)
    checkpoints = Toggle("checkpoints", False)
    averages = Toggle("8-bit averages", False)

    def setup(self) -> None:
        self.model = Transformer(self.layers, 1920, 24, 50_257, self.length)
        self.parts = gigabytes(self.model, self.batch, self.precision, self.checkpoints, self.averages)

    def sentence(self) -> Judgement:
        total = sum(self.parts.values())
        fits = total <= ROOM
        fixed = total - self.parts["activations"]
        return Judgement(
            fits,
            f"{self.model.parameters() / 1e9:.2f} billion parameters need {total:.1f} GB, which {'fits' if fits else 'does not fit'} into "
            f"{ROOM:g}. {fixed:.1f} GB of it are there whatever the batch is.",
        )

    def table(self) -> Table:
        return Table(("part", "GB"), [(name, f"{size:.1f}") for name, size in self.parts.items()])

    def draw(self) -> str:
        total = sum(self.parts.values())
        scale = 780.0 / max(48.0, total * 1.05)
        out, x = "", 20.0
        for size, colour in zip(self.parts.values(), COLOURS, strict=True):
            out += tag(
                "rect", x=x, y=56, width=size * scale, height=44, style=f"fill:var(--{colour});fill-opacity:0.75"
            )
            x += size * scale
        edge = 20 + ROOM * scale
        out += tag("line", x1=edge, y1=40, x2=edge, y2=112, style="stroke:var(--ink);stroke-width:2")
        out += label(edge, 32, f"{ROOM:g} GB", "num t b", "middle")
        for k, ((name, size), colour) in enumerate(zip(self.parts.items(), COLOURS, strict=True)):
            left = 20 + 196.0 * k
            out += tag(
                "rect", x=left, y=134, width=14, height=14, rx=3, style=f"fill:var(--{colour});fill-opacity:0.75"
            )
            out += label(left + 22, 146, f"{name} {size:.1f}", "t")
        return svg(820, 168, out, str(self.sentence()))
