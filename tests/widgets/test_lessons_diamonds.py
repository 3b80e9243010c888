"""diamonds: paths double, edges do not, and both counts are those of the program."""

import re

from minigrad import Value
from widgets.lessons import diamonds

MERGED = "add up at each node"


def test_the_counts_are_those_of_the_program():
    """Paths of x = x + x all have slope 1, so the derivative counts them; edges are counted in the graph."""
    for n in (1, 3, 12):
        x = y = Value(1.0)
        edges = 0
        for _ in range(n):
            y = y + y
            edges += len(y.operands)
        y.backward()
        assert f"n = {n}: {x.grad:,.0f} paths lead from x to y." in diamonds(n).text()
        assert f"the graph has only {edges} edges" in diamonds(n, MERGED).text()


def test_a_billion_paths_sixty_edges():
    assert "1,073,741,824 paths" in diamonds(30).text() and "32,212,254,720 multiplications" in diamonds(30).text()
    assert "9 hours" in diamonds(30).text() and "60 microseconds" in diamonds(30, MERGED).text()


def test_the_start_does_not_give_the_merging_away():
    shown = diamonds()
    assert "edges." not in shown.text() and "adds up" not in shown.text() + shown.picture()


def test_what_is_added_up_stands_below_each_result():
    found = re.findall(r'class="num t b bwd halo"[^>]*>([\d,]+)<', diamonds(4, MERGED).picture())
    assert found == ["16", "8", "4", "2", "1"]


def test_as_many_lines_as_paths_while_they_can_be_drawn():
    path = re.search(r'<path d="([^"]+)"', diamonds(4).picture())[1]
    assert (
        path.count("M") == 2 + 4 + 8 + 16
        and "too many" not in diamonds(7).picture()
        and "too many" in diamonds(8).picture()
    )
