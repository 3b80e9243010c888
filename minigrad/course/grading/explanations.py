"""explanations.html: what the class wrote in its own words, chapter by chapter, to be read. No text earns or costs a point.

What does not live here: the questions (../explain.py), and finding the texts (notebooks.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from ..explain import QUESTIONS
from .pages import code, many, page
from .tables import Class


def explanations_page(c: Class, links: Mapping[str, str]) -> str:
    """The page: for each chapter the question, a good answer, and the texts of the class."""
    parts = [
        "<h1>In their own words</h1>",
        "<p>Nothing here is graded. A line of <code>marks.csv</code> adds a remark to a student's feedback, or points that you give "
        'yourself. Back to <a href="summary.html">the class</a>.</p>',
    ]
    for chapter, asked in QUESTIONS.items():
        texts = [(row.student, row.explained[chapter]) for row in c.rows if chapter in row.explained]
        if not texts:
            continue
        parts.append(f"<h2>{chapter} {code(asked.question)}</h2>")
        parts.append(f"<p class=soft>{many(len(texts), 'text')} · {code('; '.join(asked.ideas))}</p>")
        parts.append(f"<details><summary>A good answer</summary><p>{code(asked.good)}</p></details>")
        for student, text in texts:
            name = f'<a href="{escape(links[student])}">{escape(student)}</a>' if student in links else escape(student)
            parts.append(f"<section><h3>{name}</h3><p style='white-space:pre-line'>{escape(text)}</p></section>")
    if len(parts) == 2:
        parts.append("<p>Nobody has explained anything yet.</p>")
    return page(f"{c.name}: in their own words", "\n".join(parts))
