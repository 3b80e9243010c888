"""Stored pictures that move before any cell has run: the first ones of chapter 00.

The still picture of such an output is followed by the recording that the book uses and by the script that plays it, both packed, in
`<script>` elements. JupyterLab runs them in notebooks that it trusts; nbviewer and exported pages run them, too. GitHub and an untrusted
notebook drop them and show the still picture. When the cell runs, its new output takes the place of all this.
"""

from __future__ import annotations

import base64
import re
import tempfile
import zlib
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path

from nbformat import NotebookNode

from widgets.front_end import built

from .book.record import MIME

NOTEBOOKS = ("00_start_here.ipynb",)  # the code adds some 70 kB to each
START = "from tools.book import record; record.install({!r}); del record"
# The first output has the code, and unpacks it for all of them. JupyterLab runs a script while its output is not in the page yet.
PLAY = """(async () => {
const id = "%s", find = (part) => document.querySelector(`script[data-mg-${part}]`)?.textContent;
for (let i = 0; i < 200 && !document.querySelector(`script[data-mg-alive="${id}"]`); i++) await new Promise((r) => setTimeout(r, 25));
const data = document.querySelector(`script[data-mg-alive="${id}"]`), text = async (t) => new Response(new Blob([
Uint8Array.from(atob(t), (c) => c.charCodeAt(0))]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
window.mgAliveReady ??= find("code") && (async () => {
document.head.append(Object.assign(document.createElement("style"), {textContent: await text(find("css"))}));
new Function(await text(find("code")))(); })();
await window.mgAliveReady;
window.mgAlive?.(data.closest(".mg-stored"), data.textContent);
})();"""


def packed(text: str) -> str:
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def scripts(key: str, recording: str, with_code: bool) -> str:
    """The elements that make one stored output move. `recording` is packed."""
    code = [("code", packed(built("page.js"))), ("css", packed(built("views.css")))] if with_code else []
    held = [f"<script type='text/plain' data-mg-{part}>{text}</script>" for part, text in code]
    return "".join([*held, f"<script type='text/plain' data-mg-alive='{key}'>{recording}</script>",
                    f"<script class='mg-play'>{(PLAY % key).replace(chr(10), ' ')}</script>"])  # fmt: skip


def enliven(nb: NotebookNode, run: NotebookNode, folder: Path) -> int:
    """Put the recordings of `run`, whose files are in `folder`, into the outputs of `nb`. Returns how many move now."""
    count = 0
    for cell, recorded in zip(nb.cells, run.cells, strict=True):
        abouts = [output.data[MIME] for output in recorded.get("outputs", []) if MIME in output.get("data", {})]
        stills = [
            output for output in cell.get("outputs", []) if "mg-stored" in output.get("data", {}).get("text/html", "")
        ]
        for output, about in zip(stills, abouts, strict=False):
            if about.get("key"):
                script = (folder / f"{about['key']}.js").read_text(encoding="utf-8")
                recording = re.fullmatch(r'mgBook\("\w+","(.*)"\)', script)[1]  # type: ignore[index]
                html = output.data["text/html"]
                output.data["text/html"] = (
                    html.removesuffix("</div>") + scripts(about["key"], recording, not count) + "</div>"
                )
                count += 1
    return count


def record(nb: NotebookNode, execute: Callable[..., NotebookNode]) -> int:
    """Run a copy of `nb` with `execute`, and put its recordings into `nb`."""
    with tempfile.TemporaryDirectory() as folder:
        return enliven(nb, execute(deepcopy(nb), startup=START.format(folder)), Path(folder))
