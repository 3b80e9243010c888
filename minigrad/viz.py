"""torchviz's make_dot: the graph behind a tensor, drawn by Graphviz.

What lives here: the drawing. What does not: the graph view of the course (widgets/), which is live. The object is a `graphviz.Digraph`,
so that its source, `render`, `view` and notebooks work as usual; pygraphviz draws, in a process of its own, and needs no `dot` program.
"""

import os
import subprocess
import sys
from collections import namedtuple

import graphviz

from .core.errors import a_kind
from .core.node import FREED, AccumulateGrad
from .core.variable import Variable

Node = namedtuple("Node", ("name", "inputs", "attr", "op"))  # torchviz exports this name


# Graphviz has crashed while it freed a picture: it may not take the notebook's kernel along.
# The library crashes now and then while it frees a graph: the process ends without freeing it.
DRAWS = """
import os
import sys
import pygraphviz
graph = pygraphviz.AGraph(string=sys.stdin.buffer.read().decode())
sys.stdout.buffer.write(graph.draw(format=sys.argv[1], prog=sys.argv[2]))
sys.stdout.flush()
os._exit(0)
"""


class Digraph(graphviz.Digraph):
    """A graphviz.Digraph that draws itself without the `dot` program."""

    def pipe(
        self, format=None, renderer=None, formatter=None, neato_no_op=None, quiet=False, *, engine=None, encoding=None
    ):
        data = _draw(self.source, format or self.format, engine or self.engine)
        return data.decode(encoding) if encoding else data

    def _repr_image_svg_xml(self):
        return self.pipe(format="svg", encoding="utf-8")

    def _repr_mimebundle_(self, include=None, exclude=None, **_):
        return {"image/svg+xml": self._repr_image_svg_xml(), "text/plain": repr(self)}

    def render(
        self, filename=None, directory=None, view=False, cleanup=False, format=None, renderer=None, formatter=None, neato_no_op=None,
        quiet=False,
        quiet_view=False, *, outfile=None, engine=None, raise_if_result_exists=False, overwrite_source=False,
    ):  # fmt: skip
        """Save the source and, beside it, the picture (PDF unless `format` says otherwise). Returns the picture's path."""
        if outfile is not None:
            outfile = os.fspath(outfile)
            kind = format or os.path.splitext(outfile)[1].lstrip(".") or self.format
            source, picture = os.path.splitext(outfile)[0] + ".gv", outfile
        else:
            kind = format or self.format
            source = self.save(filename, directory)
            picture = f"{source}.{kind}"
        if outfile is not None:
            self.save(source)
        with open(picture, "wb") as file:
            file.write(self.pipe(format=kind, engine=engine))
        if cleanup:
            os.remove(source)
        if view:
            self._view(picture, format=kind, quiet=quiet_view)
        return picture


def _draw(source, kind, engine):
    try:
        import pygraphviz  # noqa: F401
    except ImportError:
        raise RuntimeError(
            "Drawing needs pygraphviz, which brings Graphviz along: pip install 'pygraphviz>=2'. `.source` is the graph as text without it."
        ) from None
    for _ in range(2):
        command = [sys.executable, "-c", DRAWS, kind, engine]
        ran = subprocess.run(command, input=source.encode(), capture_output=True)
        if ran.returncode >= 0:  # else a signal has ended it
            break
    if ran.returncode:
        why = ran.stderr.decode(errors="replace").strip().split("\n")[-1] or "it crashed."
        raise RuntimeError(f"Graphviz could not draw this graph: {why}")
    return ran.stdout


def _saved(node):
    """{name: value} of what a node saved, each under PyTorch's name where it has one."""
    if node.op is None:
        return {"saved_tensors": node.saved_tensors} if hasattr(node, "saved_tensors") else {}
    torch_name = {own_name: name for name, own_name in node.op.saved_as.items()}
    slots = [s for s in type(node).__slots__ if not s.endswith(("_version", "_counter"))]
    return {torch_name.get(s, s): getattr(node, f"_saved_{s}") for s in slots if hasattr(type(node), f"_saved_{s}")}


def make_dot(var, params=None, show_attrs=False, show_saved=False, max_attr_chars=50):
    """The graph that made `var` (a tensor or a tuple of them), as a Digraph.

    params      {name: tensor}, as dict(model.named_parameters()), to write names on leaves
    show_attrs  write on each node what it saved: numbers, shapes, flags
    show_saved  draw the saved tensors, too

    Blue: leaves. Grey: operations. Green: results. Orange: saved tensors. Darker green: a result that has a base, of which it is a view.
    Raises AssertionError for a parameter that is no tensor.

    >>> import minigrad as torch
    >>> w = torch.ones(2, requires_grad=True)
    >>> print("w" in make_dot((w * 2).sum(), params={"w": w}).source)
    True
    """
    names = {id(p): name for name, p in dict(params or {}).items() if isinstance(p, Variable)}
    for name, p in dict(params or {}).items():
        if not isinstance(p, Variable):
            raise AssertionError(f"params must map names to tensors; '{name}' is {a_kind(p)}")
    style = {
        "style": "filled",
        "shape": "box",
        "align": "left",
        "fontsize": "10",
        "ranksep": "0.1",
        "height": "0.2",
        "fontname": "monospace",
    }
    dot = Digraph(node_attr=style, graph_attr={"size": "12,12"})
    seen = set()

    def label(x, name=None):
        name = name or names.get(id(x), "")
        return f"{name}\n ({', '.join(map(str, x.array.shape))})"

    def draw_saved(node, key):
        if node.status == FREED:
            return
        for name, value in _saved(node).items():
            for i, x in enumerate(value if isinstance(value, (list, tuple)) else (value,)):
                if isinstance(x, Variable):
                    title = name + (f"[{i}]" if isinstance(value, (list, tuple)) else "")
                    dot.node(f"{key} {title}", label(x, title), fillcolor="orange")
                    dot.edge(f"{key} {title}", key, dir="none")

    def text(node):
        name = node.name().removeprefix("torch::autograd::")
        if not show_attrs or node.status == FREED:
            return name
        rows = {
            k: "[saved tensor]" if isinstance(v, Variable) else str(v)[:max_attr_chars] for k, v in _saved(node).items()
        }
        if not rows:
            return name
        width = max(len(k) for k in rows)
        lines = [f"{k.rjust(width)}: {v}" for k, v in rows.items()]
        return "\n".join([name, "-" * max(map(len, [name, *lines])), *lines])

    keys: dict = {}  # node: its key; numbered in the order of drawing, so that the same graph gives the same source

    def draw(root):
        """The part of the graph below `root` that is not drawn yet. Returns the key of `root`."""
        stack = [root]
        keys.setdefault(root, f"n{len(keys)}")
        while stack:
            node = stack.pop()
            if node in seen:
                continue
            seen.add(node)
            key = keys[node]
            dot.node(key, text(node), fillcolor="lightgrey")
            if isinstance(node, AccumulateGrad):
                leaf = f"leaf {key}"
                dot.node(leaf, label(node.variable), fillcolor="lightblue")
                dot.edge(leaf, key)
                continue
            if show_saved:
                draw_saved(node, key)
            for edge in node.edges:
                if edge is not None:
                    keys.setdefault(edge[0], f"n{len(keys)}")
                    dot.edge(keys[edge[0]], key)
                    stack.append(edge[0])
        return keys[root]

    def draw_result(x, number):
        key = f"result {number}"
        if x.grad_fn is None:
            dot.node(key, label(x), fillcolor="lightblue" if x.requires_grad else "lightgrey")
            return
        dot.node(key, label(x), fillcolor="darkolivegreen1")
        dot.edge(draw(x.grad_fn), key)
        if x._is_view():
            base = x._base
            dot.node(f"base {number}", label(base), fillcolor="darkolivegreen3")
            dot.edge(f"base {number}", key, style="dotted")
            if base.grad_fn is not None:
                dot.edge(draw(base.grad_fn), f"base {number}")

    for number, x in enumerate(var if isinstance(var, (tuple, list)) else (var,)):
        draw_result(x, number)
    size = max(12.0, len(dot.body) * 0.15)
    dot.graph_attr.update(size=f"{size:g},{size:g}")
    return dot
