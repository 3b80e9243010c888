"""The film in a notebook: what is sent while it trains, its still picture, its files."""

import io
import json
import random

import numpy as np
import pytest
from PIL import Image

from minigrad import Value
from minigrad.course.drivers import ch05 as ch05_driver
from minigrad.film import Film
from tests.engine.test_film import LABELS, POINTS, SPACE, backward, hinge, learners_own, trained
from widgets.film import FilmView, ShownFilm, watch
from widgets.film.picture import svg, text


def film_of(steps=12, lr=0.5, every=1, keep=500):
    found, _ = trained(learners_own(random.Random(3)), backward, hinge, 30, steps, lr, every=every, keep=keep)
    shown = ShownFilm.__new__(ShownFilm)
    shown.__dict__.update(found.__dict__)
    return shown


class Wire:
    """A view whose messages are kept."""

    def __init__(self, view, monkeypatch):
        self.sent = []
        monkeypatch.setattr(view, "send", lambda content, buffers=(): self.sent.append((content, [*buffers])))


def test_the_first_message_goes_out_at_once_and_later_ones_have_all_frames_since(monkeypatch):
    film = ShownFilm(w := [Value(2.0), Value(-1.0)])
    view = FilmView([film])
    wire, clock = Wire(view, monkeypatch), [10.0]
    monkeypatch.setattr("widgets.film.view.time.monotonic", lambda: clock[0])
    monkeypatch.setattr("widgets.film.view.FIRST", 0.0)
    film.listener = view.advance
    history = []
    for _ in range(30):
        loss = (w[0] - w[1]) ** 2
        for p in w:
            p.grad = 0.0
        loss.backward()
        history.append([p.data for p in w])
        film.step(loss)
        for p in w:
            p.data -= 0.01 * p.grad
        clock[0] += 0.04
    steps = [content["steps"] for content, _ in wire.sent]
    assert steps[0] == [1] and steps[1] == [2, 3, 4]
    assert "about" in wire.sent[0][0] and all("about" not in content for content, _ in wire.sent[1:])
    assert len(wire.sent) <= 1 + 30 * 0.04 / 0.1
    received = np.concatenate([np.frombuffer(buffers[0], np.float32).reshape(-1, 2) for _, buffers in wire.sent])
    assert received == pytest.approx(np.array(history[: len(received)]), rel=1e-6)
    assert wire.sent[1][0]["before"] == 0.01 and wire.sent[1][0]["rates"][-1] is None
    view.finish()
    assert sum(len(content["steps"]) for content, _ in wire.sent) == 30
    assert view.films[0]["rates"] == 0.01


def test_frames_that_were_dropped_are_not_sent_twice(monkeypatch):
    film = ShownFilm([w := Value(2.0)], keep=8)
    view = FilmView([film])
    wire = Wire(view, monkeypatch)
    film.listener = view.advance
    monkeypatch.setattr("widgets.film.view.PAUSE", 0)
    monkeypatch.setattr("widgets.film.view.FIRST", 0.0)
    frames = []
    for _ in range(40):
        loss = (w - 1) ** 2
        w.grad = 0.0
        loss.backward()
        film.step(loss)
        w.data -= 0.01 * w.grad
    for content, _ in wire.sent:  # what a page does with the messages
        if content["every"] > 1:
            frames = [s for s in frames if (s - 1) % content["every"] == 0]
        assert content["from"] == len(frames)
        frames += content["steps"]
    assert frames == [f.step for f in film.frames]


def test_the_still_picture_and_the_words_are_those_of_the_last_step():
    film = film_of()
    assert text(film).startswith("Film of 2-8-1: 33 weights, 12 steps.\nThe loss begins at ")
    picture = svg(film)
    assert picture.count("<circle") >= 9 + 9 and "12" in picture and "<script" not in picture
    assert svg(film) == picture != svg(film, 0)


def test_a_film_without_a_network_has_a_picture_too():
    film = ShownFilm([w := Value(2.0)])
    for k in range(4):
        loss = (w - 1) ** 2 if k < 3 else w * float("nan")
        w.grad = 0.0
        loss.backward()
        film.step(loss)
    assert "At step 4 the loss is not a number." in text(film)
    assert "polyline" in svg(film)


def test_files(tmp_path):
    film = film_of()
    page = film.save(tmp_path / "moons.html").read_text()
    data = json.loads(page.split('id="films">')[1].split("</script>")[0])
    assert data[0]["count"] == 33 and len(page) < 500_000
    with Image.open(film.save(tmp_path / "moons.gif")) as gif:
        assert gif.n_frames >= 10
    with Image.open(io.BytesIO(film.save(tmp_path / "moons.png").read_bytes())) as png:
        assert png.size[0] == 1680
    with pytest.raises(ValueError, match="saved as .html"):
        film.save(tmp_path / "moons.mp4")


def test_two_films_in_one_view():
    one, other = film_of(), film_of(lr=0.1)
    view = watch(one, other)
    assert [of["rates"] for of in view.films] == [0.5, 0.1]
    stored = view._stored()
    assert stored["text/plain"].count("Film of 2-8-1") == 2 and "dashed: film at this step" in stored["text/html"]


def test_a_page_that_is_closed_costs_nothing(monkeypatch):
    film = ShownFilm(learners_own(random.Random(1)), POINTS, LABELS)
    view = FilmView([film])
    view.close()
    wire = Wire(view, monkeypatch)
    view.advance()
    view.finish()
    assert wire.sent == []


def test_a_function_that_trains():
    film = watch(SPACE["fit"], POINTS, LABELS)
    assert len(film) == 300 and film.title == "2-8-1" and film.program.units[0]["name"] == "units[0]"
    assert SPACE["backward"] is backward

    def no_loop(points, labels):
        return None

    no_loop.__globals__["backward"] = backward
    with pytest.raises(ValueError, match="without a call of backward"):
        watch(no_loop, POINTS, LABELS)


def test_the_check_of_a_network_shows_the_film_of_its_training(monkeypatch):
    films = []

    def watcher(model, points, labels):
        films.append(Film(model, points, labels))
        return films[0]

    monkeypatch.setattr(ch05_driver, "watcher", watcher)
    plain = ch05_driver.two_moons(SPACE["fit"], 3)
    assert len(films) == 1 and len(films[0]) == 300 and films[0].note == ""
    monkeypatch.setattr(ch05_driver, "watcher", None)
    assert ch05_driver.two_moons(SPACE["fit"], 3) == plain

    def broken(*_):
        raise RuntimeError("no film")

    monkeypatch.setattr(ch05_driver, "watcher", broken)
    assert ch05_driver.two_moons(SPACE["fit"], 3) == plain


def test_a_page_that_loads_late_or_is_opened_later_gets_all_frames(monkeypatch):
    film = ShownFilm([w := Value(2.0)])
    view = FilmView([film])
    wire, clock = Wire(view, monkeypatch), [10.0]
    monkeypatch.setattr("widgets.film.view.time.monotonic", lambda: clock[0])
    film.listener = view.advance
    for _ in range(100):
        loss = (w - 1) ** 2
        w.grad = 0.0
        loss.backward()
        film.step(loss)
        w.data -= 0.01 * w.grad
        clock[0] += 0.125
    anew = [(content["from"] == 0, len(content["steps"])) for content, _ in wire.sent]
    assert anew[:2] == [(True, 1), (False, 1)] and anew[4] == (True, 5) and anew[30] == (False, 1)
    later = [k for k, (whole, _) in enumerate(anew) if whole and k > 25]
    assert 1 <= len(later) <= 3 and all(anew[k][1] == k + 1 for k in later)
