"""Sphinx's settings for the book. All that its pages need lies beside them; nothing is fetched."""

import json
import re
from html import escape
from pathlib import Path

import latex2mathml.converter
from docutils.nodes import SkipNode

project = html_title = "minigrad"
language = "en"
extensions = ["myst_nb"]
nb_execution_mode = "off"  # tools/book has run them
nb_merge_streams = True
myst_enable_extensions, myst_heading_anchors = ["dollarmath", "amsmath", "html_image"], 3
html_theme, html_favicon = "furo", "favicon.svg"
pygments_style, pygments_dark_style = "default", "github-dark"
html_static_path = ["_static"]
# book.js lets it apply: the first paint needs only the text's own
html_css_files = [
    "book.css",
    ("views.css", {"media": "not all"}),
]
html_js_files = [("page.js", {"defer": "defer"}), ("book.js", {"defer": "defer"}), ("bar.js", {"defer": "defer"})]
html_use_index = html_show_sphinx = html_show_copyright = html_show_sourcelink = html_copy_source = False
html_theme_options = {
    f"{theme}_css_variables": {"color-brand-primary": ink, "color-brand-content": ink, "color-brand-visited": ink}
    for theme, ink in (("light", "#0b5cd0"), ("dark", "#79b8ff"))
}


def _math(self, node):
    inline = node.tagname == "math"
    text = node.astext().replace("{aligned}", "{align*}")  # the one of the two that latex2mathml knows
    text = re.sub(r"\\\\\[[\d.]+\w+\]", r"\\\\", text)  # it prints a row's extra space
    mathml = "".join(
        latex2mathml.converter.convert(part, display="inline" if inline else "block") for part in _parts(text, inline)
    )
    mathml = re.sub(r"<mo>(\w\w+)</mo>", r"<mi>\1</mi>", mathml)  # the name of a function, no sign between two
    self.body.append(mathml if inline else f'<div class="math" tabindex="0">{mathml}</div>')
    raise SkipNode


def _parts(text: str, inline: bool) -> list[str]:
    """A displayed formula, split at its wide spaces, so that its parts can wrap where the line is short."""
    return [text] if inline or "\\begin" in text else re.split(r"\s*(?:\\qquad\s*)+|(?<=,)\s*\\quad\s*", text)


def _page(app, pagename, templatename, context, doctree):
    """Without myst-nb's own style sheet: a fifth of all that stands before the first paint, for cells that book.css draws.

    The empty corner of a table is no header, which a screen reader would announce."""
    context["css_files"] = [file for file in context["css_files"] if "mystnb" not in file.filename]
    body = re.sub(r"<th[^>]*>(<p></p>)?</th>", "<td></td>", context.get("body") or "")
    ours = json.loads(Path(app.srcdir, "context.json").read_text(encoding="utf-8"))
    body = body.replace("%MEGABYTES%", str(ours["megabytes"]))
    notebook = Path(app.srcdir, f"{pagename}.ipynb")
    if notebook.exists():  # a cell of the page has the id of the notebook's
        ids = iter(
            [
                cell["id"]
                for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]
                if cell["cell_type"] == "code"
            ]
        )
        body = re.sub(r'<div class="cell ', lambda match: f'<div data-cell="{next(ids)}" class="cell ', body)
        if left := [*ids]:
            raise ValueError(f"{pagename}: no page shows the cells {left}")
    context["body"] = _folded(body)
    context["metatags"] = context.get("metatags", "") + _meta(pagename, context.get("title", ""), ours["about"])


def _folded(body: str) -> str:
    """The code of cells with a tag mg-fold-... behind a line that says what it is."""
    cell = r'(<div [^>]*class="cell [^"]*tag_mg-fold-([\w-]+)[^>]*>\s*)(<div class="cell_input.*?</pre></div>\s*</div>\s*</div>)'
    fold = r'{}<details class="mg-folded"><summary>Show {}</summary>{}</details>'
    return re.sub(cell, lambda m: fold.format(m[1], m[2].replace("-", " "), m[3]), body, flags=re.S)


def _meta(page: str, title: str, about: dict) -> str:
    """What a link to the page shows elsewhere: a title, a sentence, a picture."""
    says = {"description": about.get(page, about.get("index", "")), "twitter:card": "summary_large_image"}
    whole = "minigrad: watch your own code learn" if page == "index" else f"{title} · minigrad"
    og = {"title": whole, "description": says["description"], "type": "article", "image": f"{about.get('book')}_static/share.png",
          "url": f"{about.get('book')}{page}.html", "image:alt": "A small network learns to tell two moons apart."}  # fmt: skip
    tags = [f'<meta name="{name}" content="{escape(text)}">' for name, text in says.items()]
    return "".join([*tags, *(f'<meta property="og:{name}" content="{escape(text)}">' for name, text in og.items())])


def setup(app):
    app.connect("html-page-context", _page, priority=900)
    app.config.html_static_path = [f"{app.srcdir}/_static"]
    app.add_html_math_renderer("mathml", (_math, None), (_math, None))
    app.config.html_math_renderer = "mathml"
