"""What is stepped in a figure: runs of the engine's own events, forward and then backward, with a sentence for each.

A stage has the operations that one step forward makes known, and one step back passes gradients through. Stages with the same `group` are
inside one part of the figure: while that part is closed, the browser takes them in one step.
"""

from __future__ import annotations

import math
from typing import Any, TypedDict

import numpy

from minigrad.tracing.forms import PRODUCTS, Attention, Finder, Forms, Lane, Layer, Layers, Recurrence
from minigrad.tracing.schema import Trace
from minigrad.tracing.text import json_number
from minigrad.tracing.trace import fmt
from minigrad.words import plural

from .names import Names, branch_name, counted, short


class Stage(TypedDict):
    nodes: list[int]  # the operations
    main: int  # whose result it is
    group: str  # "", "link0" of a lane, "turn3" of a recurrence, "before" or "after" the figure
    role: str
    say: str
    back: str
    whole: str  # the sentence of the whole group, at its last stage
    wholeback: str  # the same going back, at its first one


class Stages:
    """The stages of the figures that were found in a trace."""

    def __init__(self, trace: Trace, forms: Forms, finder: Finder, names: Names, values: list[Any]):
        self.trace, self.forms, self.finder, self.names, self.values = trace, forms, finder, names, values
        self.taken: set[int] = set()
        self.wider: dict[int, int] = {}  # of what a layer makes, the shape in which it is drawn
        self.list: list[Stage] = []
        self._of_figure(forms.figure)
        if forms.tail:
            self._layers(forms.tail.layers, "")
        if forms.loss:
            self._add([forms.loss.logp], forms.loss.logp, "logp")
            self._add([forms.loss.loss], forms.loss.loss, "loss")
        first = self._first()
        for i in finder.operations:
            if i not in self.taken and not finder.free(i):
                self._add([i], i, "rest", "before" if i < first else "after")
        self.list.sort(key=lambda s: max(s["nodes"]))
        for i in finder.operations:  # views go with what reads them
            if i not in self.taken:
                at = next(
                    (s for s in self.list if any(x > i and finder.depends(x, i) for x in s["nodes"])), self.list[-1]
                )
                at["nodes"].append(i)
        self.of = {i: k for k, s in enumerate(self.list) for i in s["nodes"]}
        groups = ["", *(stage["group"] for stage in self.list), ""]
        for k, stage in enumerate(self.list):
            self._say(stage)
            if groups[k + 2] == stage["group"]:  # of a run, the sentence about all of it is at the end, on either way
                stage["whole"] = ""
            if groups[k] == stage["group"]:
                stage["wholeback"] = ""

    def _first(self) -> int:
        figure = self.forms.figure
        if isinstance(figure, Lane):
            return figure.start + 1
        return min(self.taken, default=0)

    def _add(self, nodes: list[int], main: int, role: str, group: str = "") -> None:
        new = [i for i in nodes if i >= 0 and self.finder.operation(i) and i not in self.taken]
        self.taken.update(new)
        if new:
            self.list.append(
                Stage(nodes=new, main=main, group=group, role=role, say="", back="", whole="", wholeback="")
            )

    def _of_figure(self, figure: Attention | Recurrence | Lane | Layers) -> None:
        finder = self.finder
        if isinstance(figure, Attention):
            self._attention(figure, "")
        elif isinstance(figure, Layers):
            self._layers(figure.layers, "")
        elif isinstance(figure, Recurrence):
            for t, turn in enumerate(figure.turns):
                for i in turn.operations:
                    if not finder.free(i):
                        self._add([i], i, "state" if i == turn.state else "turn", f"turn{t}")
        else:
            for k, link in enumerate(figure.links):
                group = f"link{k}"
                if finder.operation(link.x) and k:
                    self._add([link.x], link.x, "residual")
                self._add([link.norm], link.norm, "norm", group)
                if isinstance(link.form, Attention):
                    self._attention(link.form, group)
                elif link.form:
                    self._layers(link.form.layers, group)
                for i in link.operations:
                    if not finder.free(i):
                        self._add([i], i, "rest", group)
                self._add([link.add], link.add, "residual")

    def _layers(self, layers: list[Layer], group: str) -> None:
        for layer in layers:
            self.wider[layer.op] = self.finder.wider(layer)
            self._add([*layer.inner, layer.op], layer.op, layer.kind, group)

    def _attention(self, a: Attention, group: str) -> None:
        heads = [a, *a.heads]

        def add(role: str, each: Any) -> None:  # all heads in one step
            nodes = [i for head in heads for i in each(head)]
            if nodes:
                self._add(nodes, nodes[0], role, group)

        for role in ("q", "k", "v"):
            add("linear", lambda head, role=role: [head.made_by[role]] if role in head.made_by else [])
        first = next((n for n, i in enumerate(a.between) if i in a.masking), len(a.between))
        before = [
            n for n, i in enumerate(a.between) if i < a.weights and self.finder.functions[i] not in ("exp", "sum")
        ]
        scale, mask = [n for n in before if n < first], [n for n in before if n >= first]
        add(
            "scores", lambda head: [*(head.between[n] for n in reversed(scale)), head.scores]
        )  # what is drawn in one step
        add("mask", lambda head: [head.between[n] for n in reversed(mask)])
        add("softmax", lambda head: [head.weights, *(i for i in head.between if i < head.weights)])
        for n, i in enumerate(a.between):
            if i > a.weights:
                add("scale", lambda head, n=n: [head.between[n]])
        add("out", lambda head: [head.out])
        self._add([a.joined], a.joined, "rest", group)
        self._layers(a.then, group)

    # Sentences

    def _shape(self, i: int) -> str:
        return " × ".join(map(str, self.finder.shape(i)))

    def name(self, i: int) -> str:
        return short(self.names.all[i])

    def _back_name(self, i: int) -> str:
        """Of probabilities what is recorded is the logarithm: the gradient is its gradient."""
        return "log p" if self.forms.loss and self.finder.peel(i) == self.forms.loss.logp else self.name(i)

    def _becomes(self, i: int) -> str:
        shape = self._shape(self.wider.get(i, i))
        what = (
            f"{shape} numbers"
            if shape
            else fmt(json_number(float(self.values[i].ravel()[0])))
            if self.values[i] is not None
            else "one number"
        )
        said = self.names.expression(i)
        return f"**{self.name(i)}** becomes {what}{': ' + said if said and said != self.names.all[i] and len(said) < 70 else ''}."

    def _forward(self, stage: Stage) -> str:
        i, role, finder = stage["main"], stage["role"], self.finder
        function, name, shape = finder.functions[i], self.name(i), self._shape(self.wider.get(i, i))
        if role == "residual" and function == "add":
            return "**The sum goes on along the lane:** what was there, plus what the branch has computed."
        if role == "mask" and self.values[i] is not None:
            hidden = int(numpy.isneginf(self.values[i]).sum())
            where = (
                f"−∞ where the mask is set, {hidden} of {self.values[i].size} scores"
                if hidden
                else "the mask is put into the scores"
            )
            return f"**{name}:** {where}. Softmax makes weight 0 of −∞."
        if role == "scores" and function not in PRODUCTS:
            a, b = finder.parents[next(k for k in stage["nodes"] if finder.functions[k] in PRODUCTS)][-2:]
            row = f"a row of {self.name(a)} times a column of {self.name(b)}"
            return f"**{name} = {self.names.expression(i)}**, {shape}: {row} is a sum of {plural(finder.shape(a)[-1], 'product')}."
        if role == "softmax":
            return f"**{name}:** each row becomes weights that add up to 1."
        if role == "logp":
            return "**Softmax turns each row into probabilities p.** The ring marks the target: the darker its cell, the better."
        if role == "loss":
            return f"**{name} is {fmt(json_number(float(self.values[i].ravel()[0])))}:** {self._of_loss()}."
        if role in ("linear", "scores", "out") or function in PRODUCTS:
            a, b = finder.parents[i][-2:]
            terms = self.finder.shape(a)[-1:] or [1]
            return (f"**{name}**, {shape}: each number is a sum of {plural(terms[0], 'product')}, a row of {self.name(a)} times a "
                    f"column of {self.name(b)}.")  # fmt: skip
        if role == "conv":
            return f"**{name}**, {shape}: the kernel moves over the planes; each number is its window times the kernel."
        if role == "pool":
            return f"**{name}**, {shape}: one number for each window."
        return self._becomes(i)

    def _of_loss(self) -> str:
        """What the loss is made of, and which of it the figure draws."""
        loss, figure = self.forms.loss, self.forms.figure
        assert loss
        rows = math.prod(self.finder.shape(loss.logp)[:-1])
        if rows == 1:
            return "−log p of the target"
        how = "the sum" if "reduction=sum" in self.finder.nodes[loss.loss]["expr"] else "the mean"
        if isinstance(figure, Recurrence):
            return f"{how} of −log p of the {rows} targets"
        x = figure.start if isinstance(figure, Lane) else figure.x if isinstance(figure, Layers) else loss.logp
        planes = isinstance(figure, Layers) and any(layer.kind == "conv" for layer in figure.layers)
        shape = self.finder.shape(self.finder.peel(x))
        drawn = rows if planes or len(shape) < 3 else shape[-2]
        return f"{how} of −log p of {'the' if drawn == rows else 'all'} {rows} targets" + (
            ", the bars" if drawn >= rows else "; the bars are those of one sample"
        )

    def _backward(self, stage: Stage) -> str:
        i, finder = stage["main"], self.finder
        if stage["role"] == "residual" and finder.functions[i] == "add":
            there = [k for k in finder.parents[i] if finder.live[k]]
            if len(there) < 2:
                x = next(self.name(k) for k in finder.parents[i] if not finder.live[k])
                return f"**The sum passes its gradient on, unchanged, into the branch.** {x}, where the lane begins, needs none."
            return "**The sum passes its gradient on twice, unchanged:** along the lane, and into the branch."
        to = []
        for e in self.trace["edges"]:
            if (
                e["target"] in stage["nodes"]
                and e["carries_grad"]
                and finder.peel(e["source"]) not in stage["nodes"]
                and not finder.free(e["target"])
            ):
                if self._back_name(e["source"]) not in to:
                    to.append(self._back_name(e["source"]))
        if not to:
            return f"**{self.name(i)}** has its gradient. Nothing that it was made of needs one."
        return (
            f"**{self._back_name(i)} passes its gradient back** to {', '.join(to[:3])}{', …' if len(to) > 3 else ''}."
        )

    def _say(self, stage: Stage) -> None:
        stage["say"], stage["back"] = self._forward(stage), self._backward(stage)
        group, figure = stage["group"], self.forms.figure
        mine = [s for s in self.list if s["group"] == group]
        count = sum(1 for s in mine for i in s["nodes"] if not self.finder.free(i))
        if group.startswith("link") and isinstance(figure, Lane):
            name = short(branch_name(figure, int(group[4:])))
            name = "the branch" if name in ("layers", "branch") else name
            begin = name.replace("the b", "The b")
            stage["whole"] = (
                f"**{begin} reads the lane and computes what is added to it:** {plural(count, 'operation')}."
            )
            x = figure.links[int(group[4:])].x
            out = (
                "and what comes out is added to the lane."
                if self.finder.live[x]
                else f"and {self.name(x)} needs none: nothing comes out."
            )
            stage["wholeback"] = f"**The gradient has gone through {name}:** its parameters have theirs, {out}"
        elif group.startswith("turn") and isinstance(figure, Recurrence):
            t = int(group[4:])
            h = self.name(figure.turns[-1].state)
            turn = figure.turns[t]
            states = (
                [h]
                if figure.stacked
                else [h, *(self.name(row[-1]) for row in figure.lanes if len(row) == len(figure.turns))]
            )
            starts = [figure.start, *figure.starts]
            before = [counted(name, t) for name in states]
            read = [*([self.names.input_of(figure, t)] if turn.x >= 0 else []), *before]
            made = [counted(name, t + 1) for name in states]
            stage["whole"] = (f"**Step {t + 1}:** {_and(made)} {'is' if len(made) == 1 else 'are'} made from {_and(read)}, with the same "
                              f"{plural(len(figure.parameters), 'parameter')} as every step.")  # fmt: skip
            share = "the weights' gradient grows by this step's share"
            stage["wholeback"] = f"**Back through step {t + 1}:** the gradient of {_and(before)} is there, and {share}."
            if not t and not any(i >= 0 and self.finder.live[i] for i in starts):
                none = (
                    f" {_and(before)} {'needs' if len(before) == 1 else 'need'} no gradient."
                    if figure.start >= 0
                    else ""
                )
                stage["wholeback"] = f"**Back through step 1:** {share}.{none}"
        elif group and len(mine) > 1:
            last = self._becomes(mine[-1]["main"])
            stage["whole"] = (
                last
                if group == "after"
                else f"**{plural(count, 'operation')} before the figure:** {last.replace('**', '')}"
            )
            stage["wholeback"] = (
                f"**The gradient has gone through the {plural(count, 'operation')} {group} the figure.**"
            )


def _and(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def stops(stages: list[Stage]) -> list[int]:
    """The steps at which one stops while nothing is open. The browser's version is `stops` in front/src/forms/data.js."""
    last = len(stages)
    groups = [stage["group"] for stage in stages]

    def together(a: int, b: int) -> bool:
        return 0 <= min(a, b) and max(a, b) < last and groups[a] != "" and groups[a] == groups[b]

    there = [step for step in range(1, last + 1) if not together(step - 1, step)]
    back = [last + 1 + k for k in range(1, last + 1) if not together(last - k, last - k - 1)]
    return [0, *there, last + 1, *back]


def steps_of(stages: list[Stage], root: str) -> list[Any]:
    """The events of a trace whose nodes are the stages."""
    steps: list[Any] = [
        dict(phase="forward", kind="compute", node=k, edge=None, say=s["say"]) for k, s in enumerate(stages)
    ]
    seed = f"**The backward pass starts at {root} with 1.** A gradient takes the place of the value, in orange."
    steps.append(dict(phase="backward", kind="seed", node=len(stages) - 1, edge=None, say=seed))
    for k in reversed(range(len(stages))):
        steps.append(dict(phase="backward", kind="accumulate", node=k, edge=None, say=stages[k]["back"]))
    return steps
