"""The recap picture of chapter 15, the bug clinic, made from runs of the programs that it shows.

What lives here: `bug_clinic`, listed in recap.py. What does not: anything to operate (versions.py).
"""

from __future__ import annotations

from .lesson import label, svg, tag
from .versions import LOOK, PATIENTS, Run

ADVICE = (
    (
        "an error about an in-place write",
        "which tensor was saved, and who wrote to it?",
        "write to a new tensor: y = y + 1",
    ),
    (
        "“does not require grad”",
        "where was the graph left? item, numpy, no_grad, detach",
        "stay in tensors up to the loss",
    ),
    (".grad is None", "is it still a leaf? does the loss use it?", "update in place, under no_grad"),
    ("no error, wrong numbers", "what hides from the counters? .data, numpy", "compare with differences"),
)


def bug_clinic() -> tuple[str, str]:
    out, message = LOOK, []
    for k, name in enumerate(("exp, then add_", "times 2, then add_", "behind its back")):
        run = Run(PATIENTS[name], [0.0, 1.0, -2.0])
        last = run.moments[-1]
        left = 14 + 291.0 * k
        out += tag("rect", "panel", x=left, y=14, width=279, height=158, rx=9)
        for i, line in enumerate(run.lines):
            out += label(left + 16, 40 + 22 * i, line, "num t b")
        stale = [saved for _, all_kept, _ in last.nodes for saved in all_kept if saved.stale]
        if last.error:
            verdict = ("✗ error: saved at v " + str(stale[0].then), f"now at v {stale[0].now}: overwritten", "bad")
        elif run.agree:
            verdict = ("✓ right gradient", "what was written was not saved", "good")
        else:
            verdict = ("✗ no error, wrong gradient", ".data moves no counter", "bad")
        box = "over" if verdict[2] == "bad" else "pill idle"
        out += tag("rect", box, x=left + 10, y=110, width=259, height=52, rx=7)
        out += label(left + 20, 131, verdict[0], f"t b {verdict[2]}") + label(left + 20, 151, verdict[1], "t")
        message.append(f"{'; '.join(run.lines)}: {verdict[0]}, {verdict[1]}.")
    for k, (sign, ask, cure) in enumerate(ADVICE):
        y = 204.0 + 30 * k
        out += label(24, y, sign, "t b") + label(272, y, ask, "t") + label(640, y, cure, "t good b")
        if k:
            out += tag("line", "grid", x1=20, x2=870, y1=y - 20, y2=y - 20)
    words = " ".join(message) + " " + " ".join(f"{sign}: {ask} {cure}." for sign, ask, cure in ADVICE)
    return svg(886, 314, out, words), words
