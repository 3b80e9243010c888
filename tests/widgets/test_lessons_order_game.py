"""The order game and the recap pictures: numbers against values worked out by hand."""

import itertools
import math
import re
import xml.etree.ElementTree as ET

import pytest

from widgets.lessons import order_game, recap


def play(game, order):
    game.press("start again")
    for name in order:
        press(game, name)
    return {n.label: n.grad for n in game.figure.duel.r.nodes}


def press(game, label):
    game.press(next(b["name"] for b in game.scene["buttons"] if b["label"] == label))


def enabled(game, label):
    return next(b["enabled"] for b in game.scene["buttons"] if b["label"] == label)


def expected(order):
    """The diamond at a = 2, b = 3, by hand: local derivatives 1 1 | b a | 1 1 | d c."""
    local = {
        "y": {"e": 1, "f": 1},
        "e": {"c": 1, "d": 1},
        "f": {"c": 6, "d": 5},
        "d": {"a": 3, "b": 2},
        "c": {"a": 1, "b": 1},
    }
    grad = dict.fromkeys("abcdef", 0) | {"y": 1}
    for node in order:
        for parent, slope in local[node].items():
            grad[parent] += slope * grad[node]
    return grad


def test_every_order_gives_what_it_gives_by_hand():
    game = order_game()
    for order in itertools.permutations("yfedc"):
        got = play(game, order)
        assert got == expected(order), order
        right = (got["a"], got["b"]) == (25, 19)
        assert game.text().startswith("✓" if right else "✗"), order
        complete = all(order.index(n) < order.index(m) for n, m in ("ye", "yf", "ec", "ed", "fc", "fd"))
        assert right == complete, order


def test_the_buttons_from_left_to_right_do_not_solve_it():
    game = order_game()
    names = [b["label"] for b in game.scene["buttons"]][:5]
    assert sorted(names) == ["c", "d", "e", "f", "y"]
    for order in (names, names[::-1]):
        play(game, order)
        assert game.text().startswith("✗")


def test_nothing_shows_what_plain_recursion_gives():
    """Chapter 05 asks for it after the game."""
    assert [b["label"] for b in order_game().scene["buttons"]][5:] == ["undo", "start again"]


def test_moves_can_be_taken_back():
    game = order_game()
    first = game.picture()
    press(game, "y")
    assert not enabled(game, "y") and "So far: y. Which" in game.text() and game.picture() != first
    game.press("undo")
    assert enabled(game, "y") and game.picture() == first
    assert "✓" not in first and "✗" not in first  # nothing is judged before the end


@pytest.mark.parametrize("f, inputs, said", [
    (5, {}, "needs a function"),
    (lambda x: x, {}, "cannot be played"),
    (lambda x: x.nothing(), {}, "cannot be played"),
    (lambda x: x * x, {"q": 1}, "no input q"),
    (lambda x: sum([x] * 20), {}, "at most 14"),
])  # fmt: skip
def test_nonsense_gets_a_sentence(f, inputs, said):
    assert said in order_game(f, **inputs).text()


def test_own_program():
    game = order_game(lambda x: x * x + x, x=3)
    for i in reversed(game.figure.senders):
        game.press(f"send{i}")
    assert "x.grad = 7" in game.text()


def test_recaps_are_computed_and_stable():
    one, five = recap(1), recap(5)
    assert "48.00000000" in one.picture() and "forward 2, 6, 8, 64, back 1, 16, 16, 48" in one.text()
    assert "a 25, b 19" in five.text() and "y f e d c" in five.text()
    assert one.picture() == recap(1).picture() and five.picture() == recap(5).picture()
    assert "none for 99" in recap(99).text()


def test_the_recap_of_memory_halves_as_the_chapter_does():
    def again(n):  # layers that run again below a stored input
        return 0 if n == 1 else n // 2 + again(n // 2) + again(n - n // 2)

    assert f"halved again and again {1 + math.ceil(math.log2(36))}, and {again(36)} run again" in recap(16).text()


def test_the_turns_stand_beside_what_the_cards_say():
    """In the picture of chapter 5 they lay over the gradients: a 5 where a 7 belongs."""
    drawing = ET.fromstring(recap(5).figure.picture)
    circles = [c for c in drawing.iter() if c.get("class") == "badge"]
    texts = []  # right end, height, words: those of a card are placed in its group
    for card in drawing.iter():
        if card.tag.endswith("}g") and (at := re.match(r"translate[(]([\d.]+),([\d.]+)", card.get("transform", ""))):
            texts += [(float(t.get("x")) + float(at[1]), float(t.get("y")) + float(at[2]), "".join(t.itertext()))
                      for t in card if t.get("text-anchor") == "end"]  # fmt: skip
    assert len(circles) == 5 and len(texts) >= 21
    for c in circles:
        x, y, r = (float(c.get(key)) for key in ("cx", "cy", "r"))
        assert not [t for tx, ty, t in texts if abs(tx - x) < r and y - r < ty < y + r + 9]
