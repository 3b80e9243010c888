"""The browser's half as it was built from widgets/front/src (see CONTRIBUTING): module and style sheet, and how they reach a page."""

from __future__ import annotations

import gzip
from functools import cache
from hashlib import blake2b
from pathlib import Path

DIST = Path(__file__).parent / "front" / "dist"

# Browsers keep every imported module for the life of the page, and anywidget imports one per widget. `_esm` is therefore a small loader
# that imports the real module once per page.
# JupyterLab leaks closed models. Null the heavy traits on close, twice, because Backbone keeps previousAttributes.
LOADER = """
const loaded = (globalThis.minigradViews ??= new Map());
const heavy = ["code", "_css", "trace", "picture", "sweeps", "ground", "takes"];
function initialize({ model }) {
  return () => setTimeout(() => { for (const key of [...heavy, "code"]) model.set(key, null); });
}
async function render(context) {
  const code = context.model.get("code"), key = context.model.get("code_key");
  if (!loaded.has(key)) loaded.set(key, load(code));
  return (await loaded.get(key)).default.render(context);
}
async function load(code) {
  const unpack = () => new Response(new Blob([code]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  const address = URL.createObjectURL(new Blob([await unpack()], { type: "text/javascript" }));
  return import(address).finally(() => URL.revokeObjectURL(address));
}
export default { initialize, render };
"""


@cache
def built(name: str) -> str:
    """A file of the bundle: "graph.js", "graph.css", "film.js", "film.css", or "page.js" (an exported page's script)."""
    return (DIST / name).read_text(encoding="utf-8")


@cache
def packed(name: str) -> bytes:
    """The same as it travels: a third of its length."""
    return gzip.compress(built(name).encode(), 9, mtime=0)


def key(name: str) -> str:
    """What tells one version of a file from another."""
    return blake2b(packed(name), digest_size=8).hexdigest()
