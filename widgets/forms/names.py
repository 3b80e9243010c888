"""What the parts of a figure are called.

The learner's variable; else the role in the form (q, scores, weights); else the module; else the names on the left of a chunk or split;
else the expression in these names. A made-up name such as "v14" is never shown.
"""

from __future__ import annotations

import re

from minigrad.tracing.forms import Attention, Finder, Forms, Lane, Layer, Layers, Recurrence
from minigrad.tracing.schema import Node

SUBSCRIPT = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
MADE_UP = re.compile(r"\b((?:[0-9][0-9.]*)?)v[0-9]+(?![0-9A-Za-z_])(\[[0-9]+\])?")  # also in v1² and 0.5v1
USUAL = {"addmm": "linear", "mm": "product", "bmm": "product", "convolution": "conv", "convolution_bias": "conv",
         "native_layer_norm": "norm", "native_batch_norm": "norm", "rms_norm": "norm"}  # fmt: skip
LONGEST = 26  # characters of an expression in place of a name
NESTED = 6  # names put into names


def counted(name: str, k: int) -> str:
    """h with its number in time: h₃."""
    return re.sub("[₀-₉]+$", "", name) + str(k).translate(SUBSCRIPT)


def short(text: str, room: int = 16) -> str:
    """The end of a path that is longer than there is room.

    >>> short("gpt.blocks[0].attn.qkv.weightᵀ"), short("weights")
    ('…qkv.weightᵀ', 'weights')
    """
    parts = text.split(".")
    return "…" + ".".join(parts[-2:]) if len(text) > room and len(parts) > 1 and not re.search("[ (]", text) else text


def module_of(node: Node) -> str:
    """The innermost module call that a node was made in, without the number of the call; "" if nothing leads to the module."""
    name = re.sub(r" \(call \d+\)$", "", (node.get("inside") or [""])[-1])
    return "" if " " in name else name


def branch_name(lane: Lane, k: int) -> str:
    """The name of a residual branch: its module; else its block, if that has one branch; else its operation."""
    link = lane.links[k]
    if link.name != link.block:
        return link.name
    alone = sum(x.block == link.block for x in lane.links) == 1
    return (link.block if alone else "") or {Attention: "attention", Layers: "layers"}.get(type(link.form), "branch")


class Names:
    """The name of each node of a trace."""

    def __init__(self, finder: Finder, forms: Forms):
        self.finder, self.nodes = finder, finder.nodes
        self.role: dict[int, str] = {}
        self.parts: set[int] = set()  # i, f, o, g = x.chunk(4)
        self._depth = 0
        self.logp = forms.loss.logp if forms.loss else -1  # recorded as log p, drawn as p
        self.by_label = {n["label"]: n["id"] for n in self.nodes}
        self._unpacked()
        self._of_figure(forms.figure)
        if forms.tail:
            self._of_layers(forms.tail.layers)
        if forms.loss:
            if self.nodes[forms.loss.logp]["kind"] == "operation":
                self.role.setdefault(forms.loss.logp, "softmax")  # recorded as log p, drawn as p
            if self.nodes[forms.loss.target]["kind"] != "operation" and MADE_UP.fullmatch(
                self.nodes[forms.loss.target]["label"]
            ):
                self.role[forms.loss.target] = "targets"
        self.all = [self.of(i) for i in range(len(self.nodes))]

    def _give(self, i: int, role: str) -> None:
        if i >= 0 and not self.nodes[i]["named"] and self.nodes[i]["kind"] == "operation" and role:
            self.role.setdefault(i, role)

    def _unpacked(self) -> None:
        """i, f, o, g = x.chunk(4)"""
        for n in self.nodes:
            part = re.fullmatch(r"v\d+\[(\d+)\]", n["label"])
            line = n["source"]["text"] if n["source"] else ""
            if part and re.search("split|chunk|unbind", line) and (left := re.match(r"\s*([\w, ]+?)\s*=[^=]", line)):
                names = [x.strip() for x in left[1].split(",")]
                if len(names) > 1 and int(part[1]) < len(names):
                    self.role[n["id"]] = names[int(part[1])]
                    self.parts.add(n["id"])

    def _of_figure(self, figure: Attention | Recurrence | Lane | Layers) -> None:
        if isinstance(figure, Attention):
            for head in (figure, *figure.heads):
                self._of_attention(head)
            self._give(figure.joined, "joined heads")
        elif isinstance(figure, Layers):
            self._of_layers(figure.layers)
        elif isinstance(figure, Recurrence):
            for states, usual in ([turn.state for turn in figure.turns], "h"), *((row, "c") for row in figure.lanes):
                last = self.nodes[states[-1]]
                if figure.stacked:  # layers above each other
                    usual = module_of(last).split(".")[-1] or (usual if usual == "h" else "g")
                name = last["label"] if last["named"] and last["label"].isidentifier() else usual
                self._give(states[-1], name)
                for t, state in enumerate(states):
                    self._give(state, counted(name, t + 1))
            self._of_inputs(figure)
        elif isinstance(figure, Lane):
            functions = {self.finder.functions[self.finder.peel(p)] for p in self.finder.parents[figure.start]}
            if "embedding" in functions and len(functions) <= 2:
                self._give(figure.start, "tok + pos")
            for k, link in enumerate(figure.links):
                self._give(link.add, f"x after {branch_name(figure, k).split('.')[-1]}")
                if link.norm >= 0:
                    self._give(link.norm, module_of(self.nodes[link.norm]).split(".")[-1] or "norm")
                if isinstance(link.form, Attention):
                    for head in (link.form, *link.form.heads):
                        self._of_attention(head)
                    self._give(link.form.joined, "joined heads")
                elif link.form:
                    self._of_layers(link.form.layers)
                self._give(link.end, link.name)

    def input_of(self, figure: Recurrence, t: int) -> str:
        """What the input of a step is called, also where only its concatenation with the first state is recorded."""
        i = figure.turns[t].x
        return counted("x", t + 1) if MADE_UP.fullmatch(self.nodes[i]["label"]) else self.nodes[i]["label"]

    def _of_inputs(self, figure: Recurrence) -> None:
        """The inputs of the steps and the first states, where the program has no names for them."""
        rows = [([turn.state for turn in figure.turns], figure.start), *zip(figure.lanes, figure.starts, strict=False)]
        for states, start in rows:
            if start >= 0 and MADE_UP.fullmatch(self.nodes[start]["label"]):
                self.role[start] = counted(self.of(states[-1]), 0)
        for t, turn in enumerate(figure.turns):
            if turn.x >= 0 and MADE_UP.fullmatch(self.nodes[turn.x]["label"]):
                self.role[turn.x] = counted("x", t + 1)
        if figure.joined and figure.start in self.role:
            parts = ["x₁", counted(self.of(figure.turns[-1].state), 0)]
            self.role[figure.start] = f"cat({', '.join(parts if figure.joined[0] == 0 else parts[::-1])})"

    def _of_attention(self, a: Attention) -> None:
        give, nodes = self._give, self.nodes
        give(a.q, "q")
        give(a.k, "k")
        give(a.kt, (nodes[a.k]["label"] if nodes[a.k]["named"] else "k") + "ᵀ")
        give(a.v, "v")
        scaled = [
            i for i in a.between if i not in a.masking and i < a.weights and i not in self.finder.parents[a.weights][1:]
        ]
        if scaled and self.finder.functions[scaled[-1]] not in ("exp", "sum"):
            give(scaled[-1], "scores")
            give(a.scores, "q @ kᵀ")
        give(a.scores, "scores")
        give(a.masked[-1] if a.masked else -1, "masked")
        give(a.weights, "weights")
        give(a.out, "out")
        give(self.joined(a), "joined heads")
        if a.mask >= 0 and not nodes[a.mask]["named"]:
            self.role[a.mask] = "mask"
        made = set(a.made_by.values())
        for role, i in a.made_by.items():
            give(i, module_of(nodes[i]) if len(made) == 1 else role)
        self._of_layers(a.then)

    def joined(self, a: Attention) -> int:
        """The results of all heads beside each other, as the projection reads them; -1 if there is one head."""
        finder, i = self.finder, a.then[0].x if a.then else a.joined
        rows, wide = finder.shape(a.out)[-2], finder.shape(i)[-1] if i >= 0 else 0
        while i >= 0 and finder.free(i) and finder.shape(i)[-2:] != [rows, wide]:
            i = finder.parents[i][0]
        return i if i >= 0 and finder.shape(i)[-2:] == [rows, wide] and wide > finder.shape(a.out)[-1] else -1

    def _of_layers(self, layers: list[Layer]) -> None:
        words = [self._word(layer) for layer in layers]
        for k, (layer, word) in enumerate(zip(layers, words, strict=True)):
            several = f" {words[: k + 1].count(word)}" if words.count(word) > 1 else ""
            name = self._called(layer) or (word + several if word else module_of(self.nodes[layer.op]))
            self._give(layer.op, name)
            self._give(layer.out, name)

    def _called(self, layer: Layer) -> str:
        """The name that the numbers of a layer have already, in any of their shapes."""
        i, same = layer.out, [layer.out]
        while i != layer.op and self.finder.free(i):
            i = self.finder.parents[i][0]
            same.append(i)
        return next((self.nodes[k]["label"] for k in same if self.nodes[k]["named"]), self.role.get(layer.op, ""))

    @staticmethod
    def _word(layer: Layer) -> str:
        """What a layer without parameters is called."""
        pool = ("max" if "max" in layer.function else "mean") + " pool"
        return {"activation": layer.function, "pool": pool}.get(layer.kind, "")

    def _expression(self, text: str, own: int = -1) -> str:
        """An expression with the figure's names in place of the trace's. own: the node that it computes."""

        def name(match: re.Match[str]) -> str:
            i, factor = self.by_label.get(match[0], -1), ""
            if match[1] and (i not in self.role or i == own):  # a multiple: 0.5v1
                i, factor = self.by_label.get(match[0][len(match[1]) :], -1), match[1]
            if i < 0 or self._depth > NESTED:
                return match[0]
            self._depth += 1
            try:
                said = self.of(i) if i != self.logp else "log p"
            finally:
                self._depth -= 1
            tied = factor or text[match.end() :][:1] in "²³⁴^ᵀ"
            return factor + (f"({said})" if re.search(r" [^()]*$", said) and tied else said)

        def role(match: re.Match[str]) -> str:  # a name in time that has a role: loss₁ is the log softmax
            return self.role.get(self.by_label.get(match[0], -1), match[0])

        return re.sub(r"[^\W\d]\w*[₀-₉]+", role, MADE_UP.sub(name, text))

    def expression(self, i: int) -> str:
        """How a node was computed, in these names and without what nobody has written."""
        if i in self.parts:
            number = re.search(r"\[(\d+)\]$", self.nodes[i]["label"])
            return f"part {int(number[1]) + 1 if number else 1} of {self.of(self.finder.peel(i))}"
        if i == self.logp:
            return self._expression(self.nodes[i]["expr"].replace("log_softmax(", "softmax("))
        text = re.sub(r", (arranged|padding_idx|by_frequency|approximate)=[^,)]*", "", self.nodes[i]["expr"])
        text = re.sub(r"native_layer_norm\((.*?), .*\)", r"layer norm of \1", text)
        return self._expression(re.sub(r"\b(view|reshape|clone)\((\w+), (?:[^()]|\([^()]*\))*\)", r"\2", text), i)

    def of(self, i: int) -> str:
        node, finder = self.nodes[i], self.finder
        if i in self.role:
            return self.role[i]
        if node["named"] or node["kind"] != "operation":
            unknown = MADE_UP.fullmatch(node["label"])
            return ("parameter" if node["requires_grad"] else "input") if unknown else node["label"]
        if finder.functions[i] in ("t", "mT", "transpose", "permute"):
            below = self.of(finder.parents[i][0])
            if not MADE_UP.search(below):
                turned = (
                    finder.functions[i] in ("t", "mT")
                    or finder.shape(i)[-2:] == finder.shape(finder.parents[i][0])[-2:][::-1]
                )
                return below + "ᵀ" if turned and len(finder.shape(i)) == 2 else below
        if (base := finder.peel(i)) != i:
            return self.of(base)
        if not MADE_UP.search(node["label"]) and node["label"] != node["expr"]:
            return node["label"]
        said = self.expression(i) if node["expr"] and self._depth <= NESTED else ""
        if said and len(said) < LONGEST and not MADE_UP.search(said):
            return said
        return module_of(node) or USUAL.get(finder.functions[i], finder.functions[i]) or "…"
