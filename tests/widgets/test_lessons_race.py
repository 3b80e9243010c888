"""The race: paths against update rules written out by hand, the slip's first step against arithmetic, and the film that shows them."""

import re

import pytest

import minigrad as torch
from widgets.lessons import race
from widgets.lessons.frames import SLOT, Frames, moment
from widgets.lessons.kit import Moments, lesson
from widgets.lessons.race import (
    BEST,
    HEIGHT,
    RACERS,
    RATES,
    STEPS,
    SURFACES,
    WIDTH,
    X0,
    Y0,
    Course,
    UncorrectedAdam,
    run,
)

VALLEY = SURFACES["valley"]


def slope(x, y):
    """Of x²/20 + y²."""
    return (x / 10, 2 * y)


def by_hand(kind, lr, steps):
    p, v, m, s = list(VALLEY.start), [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]
    points = [tuple(p)]
    for t in range(1, steps + 1):
        for i, g in enumerate(slope(*p)):
            if kind == "SGD":
                p[i] -= lr * g
            elif kind == "momentum 0.9":
                v[i] = 0.9 * v[i] + g
                p[i] -= lr * v[i]
            else:
                m[i], s[i] = 0.9 * m[i] + 0.1 * g, 0.999 * s[i] + 0.001 * g * g
                fix = (1 - 0.9**t, 1 - 0.999**t) if kind == "Adam" else (1, 1)
                p[i] -= lr * (m[i] / fix[0]) / ((s[i] / fix[1]) ** 0.5 + 1e-8)
        points.append(tuple(p))
    return points


@pytest.mark.parametrize("kind", RACERS)
@pytest.mark.parametrize("lr", [0.01, 0.3])
def test_paths_against_the_rules_by_hand(kind, lr):
    path = run(RACERS[kind], VALLEY, lr)
    for got, wanted in zip(path.points, by_hand(kind, lr, STEPS), strict=True):
        assert got == pytest.approx(wanted, rel=1e-9, abs=1e-12)
    assert path.heights == pytest.approx([x * x / 20 + y * y for x, y in path.points], rel=1e-12)


def test_the_slip_makes_the_first_step_too_long():
    for start in (0.004, 1000.0):
        w = torch.tensor(0.0, dtype=torch.float64, requires_grad=True)
        (start * w).backward()
        UncorrectedAdam([w], lr=0.1).step()
        assert w.item() == pytest.approx(-0.1 * 0.1 / 0.001**0.5, rel=1e-3)


def test_all_paths_are_sent_at_once():
    lesson = race(lr=0.1)
    step, lr = lesson.scene["controls"][:2]
    takes = lesson.film["takes"]
    assert (lesson.film["at"], lesson.film["take"]) == (step["name"], lr["name"]) and lesson.scene["svg"] == ""
    assert lr["texts"] == ["each its best", *(f"{rate:g}" for rate in RATES)]
    assert lr["text"] == "0.1" and step["value"] == step["max"] == STEPS
    assert all(len(take["says"]) == STEPS + 1 for take in takes)
    for take, rate in zip(takes, (BEST, *RATES), strict=True):
        trails = re.findall(r'data-points="([^"]*)"', take["body"])
        assert len(trails) == len(RACERS)
        assert [len(trail.split()) for trail in trails] == [len(p.points) for p in lesson.figure.paths[rate].values()]
    before = lesson.film
    lesson.set(lr=RATES[0])
    lesson.set(step=3)
    assert lesson.film is before, "moving asks for nothing new"
    assert "lr = 0.003, after 3 steps" in lesson.scene["say"] and "after 3 steps" in lesson.text()


@pytest.mark.parametrize("surface", SURFACES)
def test_each_runs_at_the_rate_that_takes_it_lowest_and_the_slip_at_adams(surface):
    figure = race(surface).figure
    assert figure.lr == BEST and figure.best["Adam, uncorrected"] == figure.best["Adam"]
    for name in ("SGD", "momentum 0.9", "Adam"):
        ends = {lr: run(RACERS[name], SURFACES[surface], lr).heights for lr in RATES}
        assert figure.paths[BEST][name].heights[-1] == min(h[-1] for h in ends.values() if len(h) > STEPS)


def test_it_opens_where_the_missing_correction_hurts():
    ends = {name: path.heights[-1] for name, path in race().figure.paths[BEST].items()}
    assert ends["Adam, uncorrected"] > 5 * max(ends["SGD"], ends["momentum 0.9"], ends["Adam"])


def test_what_flies_away_is_gone():
    lesson = race("banana", lr=0.9)
    assert "SGD gone" in lesson.scene["say"] and re.search(r"^SGD .* gone$", lesson.text(), re.M)


def inside(x, y, room=0.06):
    return X0 - room <= x <= X0 + WIDTH + room and Y0 - room <= y <= Y0 + HEIGHT + room


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("lr", [BEST, 0.9, 0.3])
def test_paths_are_drawn_where_they_went_and_nowhere_else(surface, lr):
    """Not along the frame: what lies outside is cut, at the place where the step crosses it."""
    figure = race(surface, lr=lr).figure
    body = figure.takes[figure.lr]["body"]
    assert re.match(r'<svg [^>]*overflow="hidden"', body), "the map hides what lies beside it"
    trails = [
        [tuple(map(float, p.split(","))) for p in text.split()] for text in re.findall(r'data-points="([^"]*)"', body)
    ]
    heads = [
        [tuple(map(float, p.split(","))) for p in text.split()] for text in re.findall(r'data-move="([^"]*)"', body)
    ]
    for trail, marks, path in zip(trails, heads, figure.paths[figure.lr].values(), strict=True):
        true = [figure._at(p) for p in path.points]
        for k, (drawn, where) in enumerate(zip(trail, true, strict=True)):
            if max(map(abs, true[k])) < 1e4 and all(max(map(abs, t)) < 1e4 for t in true[:k]):
                assert drawn == pytest.approx(where, abs=0.06), "a point is where it is, inside or outside"
            assert inside(*marks[k])
        course = Course(true)
        assert [bool(n) for n in course.left] == [not inside(*p, room=0) for p in true]
        for (x, y), _, first, _ in course.exits:
            a, b = true[first - 1], true[first]
            along = (x - a[0]) * (b[1] - a[1]) - (y - a[1]) * (b[0] - a[0])
            assert abs(along) <= 1e-6 * max(1, abs(b[0] - a[0]) + abs(b[1] - a[1])) * 500, "the arrow is on the step"
            assert min(abs(x - X0), abs(x - X0 - WIDTH), abs(y - Y0), abs(y - Y0 - HEIGHT)) < 1e-6, "and on the frame"


def test_what_leaves_the_map_is_said():
    lesson = race(lr=0.9)
    assert re.search(r"left the map at step [12]\b", lesson.scene["say"])
    body = lesson.figure.takes[0.9]["body"]
    assert "left the map at step" in body and "data-on" in body and "rotate(" in body


def test_own_surface_and_own_optimizer():
    lesson = race(lambda x, y: (x - 1) ** 2 + 3 * y**2, torch.optim.RMSprop, box=(-3, 3, -2, 2), start=(-2, 1.5))
    assert lesson.figure.on.formula == "f(x, y)" and len(lesson.figure.paths[0.1]) == 5
    assert lesson.figure.paths[0.1]["yours"].points[0] == (-2, 1.5) and "yours" in lesson.text()


def test_another_surface_from_the_menu():
    lesson = race()
    lesson.set(surface="saddle")
    assert "y⁴/16" in lesson.text() and lesson.film["ground"].count("lowest") == 2  # it has two lowest places
    assert lesson.figure.paths[0.1]["Adam"].heights[-1] == pytest.approx(-0.25, abs=0.01)


@pytest.mark.parametrize("nonsense, said", [
    ({"surface": "moon"}, "valley, banana, saddle"), ({"optimizer": 3}, "It was given int"), ({"surface": lambda x, y: 3}, "returned int"),
    ({"surface": lambda x, y: x + y, "box": (1, 0, 0, 1)}, "left < right"), ({"surface": lambda x, y: (x * y).log()}, "no finite height"),
    ({"lr": -1}, "race cannot draw this"), ({"optimizer": lambda p, lr: None}, "race cannot draw this"),
])  # fmt: skip
def test_nonsense_gets_a_sentence(nonsense, said):
    assert said in race(**nonsense).text()


def test_static_twin_is_the_same_twice():
    one, two = race()._repr_mimebundle_(), race()._repr_mimebundle_()
    assert all(one[kind] == two[kind] for kind in ("image/svg+xml", "text/plain"))
    assert "<title>" in one["image/svg+xml"] and not re.search("data-(points|move|text|on)", one["image/svg+xml"])


def test_a_moment_of_a_film():
    body = '<polyline data-points="0,0 1,1 2,2"/><g data-move="5,6 7,8"/><text data-text="a|b"></text><rect data-on="0-0 2-3"/>'
    ground = f"<svg>{SLOT}</svg>"
    assert moment(ground, body, 1) == (
        '<svg><polyline points="0,0 1,1"/><g transform="translate(7,8)"/><text>b</text><rect visibility="hidden"/></svg>'
    )
    assert 'points="0,0 1,1 2,2"/><g transform="translate(7,8)"/><text>b</text><rect/>' in moment(ground, body, 2)


@lesson
class three(Frames):
    at = Moments("at", 99)

    def setup(self):
        self.roll(
            f"<svg>{SLOT}</svg>", {None: {"body": '<g data-move="1,1 2,2 3,3"/>', "says": ["one", "two", "three"]}}
        )


def test_a_film_ends_at_its_last_moment():
    view = three()
    assert view.figure.at == 2 and view.scene["say"] == "three" and "translate(3,3)" in view.picture()
    view.set(at=-2)
    assert view.scene["say"] == "two" and "translate(2,2)" in view.picture()
