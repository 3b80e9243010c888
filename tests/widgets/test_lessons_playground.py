"""The playground: its steps against the same loop written out, its film against the model's own weights, and pausing, errors, wishes."""

import asyncio
import importlib

import pytest

import minigrad as torch
from minigrad import nn
from minigrad.nn import functional as F
from widgets.lessons import playground
from widgets.lessons.playground import DATA, LIMIT, POINTS, default_model


def linear(outputs=2):
    torch.manual_seed(3)
    return nn.Linear(2, outputs)


def label(lesson):
    return lesson.scene["buttons"][0]["label"]


def test_steps_are_those_of_the_loop_written_out():
    lesson = playground(steps=0, batch=POINTS, lr=0.02, optimizer="Adam")
    twin = default_model(2)
    x, y = DATA["moons"][0](0)
    optimizer = torch.optim.Adam(twin.parameters(), lr=0.02)
    for _ in range(7):
        optimizer.zero_grad()
        loss = F.cross_entropy(twin(x.double()), y)
        loss.backward()
        optimizer.step()
    lesson.figure.run.steps(7)
    for mine, wanted in zip(lesson.figure.run.model.parameters(), twin.parameters(), strict=True):
        # the batch is shuffled: sums differ in the last digits
        assert mine.detach().array == pytest.approx(wanted.detach().array, rel=1e-9, abs=1e-12)
    assert lesson.figure.run.losses[-1] == pytest.approx(loss.item(), rel=1e-9)


@pytest.mark.parametrize(
    "data, optimizer, steps, lr",
    [("moons", "Adam", 250, 0.03), ("circles", "momentum", 300, 0.1), ("spirals", "Adam", 500, 0.03)],
)
def test_it_learns(data, optimizer, steps, lr):
    state = playground(data=data, optimizer=optimizer, steps=steps, lr=lr).figure.run
    assert state.right > 0.9 * POINTS and state.new_right > 0.9 * POINTS
    assert len(state.losses) == steps and state.losses[0] > 3 * state.losses[-1]


def test_what_it_says_is_what_the_model_answers():
    model = linear()
    lesson = playground(model, torch.optim.SGD(model.parameters(), lr=0.5), steps=20)
    state = lesson.figure.run
    with torch.no_grad():
        right = (model(state.x).argmax(1) == state.y).sum().item()
    assert f"{right} of {POINTS} points right" in lesson.text() and "your optimizer" in lesson.text()
    film = state.film
    assert len(film) == 20 and [frame.loss for frame in film.frames] == pytest.approx(state.losses)
    assert film.last() == pytest.approx([n for p in model.parameters() for n in p.reshape(-1).tolist()])
    assert film.rates() == pytest.approx([0.5] * 20, rel=1e-4)  # measured from weights and gradients


def test_before_the_first_step_the_film_shows_the_network():
    lesson = playground(batch=8)
    state = lesson.figure.run
    (frame,) = state.film.frames
    assert frame.weights == pytest.approx(state.film.last()) and state.film.title == "2-8-8-2"
    assert [p.grad for p in state.model.parameters()] == [None] * 6
    assert frame.loss == pytest.approx(state.one_batch()[0].item()) and len(frame.rows) == 8
    view = lesson.figure.film_view
    lesson.press("once")  # this step begins another film, in the same view
    assert lesson.figure.film_view is view and view.of[0] is state.film and state.film[0].rows == frame.rows
    assert view.films[0]["seen"] == 1 and view.films[0]["name"] == "playground"
    lesson.press("reset")
    assert view.of[0] is state.film and state.film[0].loss == pytest.approx(frame.loss)


def test_batches_are_epochs():
    state = playground(batch=32).figure.run
    seen = []
    for _ in range(POINTS // 32):
        rows = state.next_batch()
        assert len(rows) == 32
        seen += rows
    assert len(set(seen)) == len(seen)


def test_reset_goes_back_to_the_first_step():
    model = linear()
    before = model.weight.tolist()
    lesson = playground(model, torch.optim.Adam(model.parameters(), lr=0.1), steps=5)
    first = list(lesson.figure.run.losses)
    assert model.weight.tolist() != before
    lesson.press("reset")
    assert model.weight.tolist() == before and lesson.figure.run.losses == []
    for _ in range(5):
        lesson.press("once")
    assert lesson.figure.run.losses == first  # the optimiser's averages and the shuffling are back, too
    assert "After 5 steps" in lesson.scene["say"]


def test_own_step_is_run():
    calls = []

    def lazy(model, optimizer, x, y):  # forgets optimizer.step()
        calls.append(len(x))
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        return loss

    state = playground(step=lazy, steps=6, batch=8).figure.run
    still = default_model(2).state_dict()
    assert calls == [8] * 6 and all(torch.equal(p, still[name]) for name, p in state.model.named_parameters())


def test_the_learners_random_numbers_are_left_alone():
    torch.manual_seed(7)
    wanted = torch.rand(3).tolist()
    torch.manual_seed(7)
    playground(steps=3)
    assert torch.rand(3).tolist() == wanted


def test_training_leaves_room_for_others_and_pauses():
    async def scene():
        one, two = playground(), playground(data="circles")
        one.set(pace=1)
        one.press("toggle")
        assert one.figure.running and label(one) == "pause" and one.scene["busy"]
        while len(one.figure.run.losses) < 3:  # another task runs between the slices
            await asyncio.sleep(0)
        one.set(pace=2)  # it goes on
        assert one.figure.running
        two.press("toggle")  # a second start pauses the first
        assert two.figure.running and not one.figure.running and label(one) == "start"
        count = len(one.figure.run.losses)
        while len(two.figure.run.losses) < 2:
            await asyncio.sleep(0)
        two.press("toggle")
        assert len(one.figure.run.losses) == count < LIMIT and not two.figure.running and not two.scene["busy"]

    asyncio.run(scene())


def test_put_away_it_stops():
    async def scene():
        lesson = playground()
        lesson.press("toggle")
        task = lesson.figure.task
        lesson.close()
        await asyncio.sleep(0)
        assert task.cancelled() and not lesson.figure.running

    asyncio.run(scene())


def test_a_run_ends_by_itself(monkeypatch):
    module = importlib.import_module("widgets.lessons.playground")
    monkeypatch.setattr(module, "LIMIT", 12)
    monkeypatch.setattr(module, "PAUSE", 0)

    async def scene():
        lesson = playground()
        lesson.press("toggle")
        await lesson.figure.task
        assert len(lesson.figure.run.losses) == 12 and not lesson.figure.running and label(lesson) == "start"

    asyncio.run(scene())
    lesson = playground()
    lesson.press("toggle")  # without an event loop: all of it now
    assert len(lesson.figure.run.losses) == 12


def test_controls():
    lesson = playground(steps=4)
    lesson.set(lr=0.1)
    assert {group["lr"] for group in lesson.figure.run.optimizer.param_groups} == {0.1} and len(
        lesson.figure.run.losses
    ) == 4
    lesson.set(batch=1)
    assert len(lesson.figure.run.next_batch()) == 1
    lesson.set(data="spirals")
    assert lesson.figure.run.classes == 3 and lesson.figure.run.losses == [] and "0 steps" in lesson.text()
    lesson.set(kind="momentum")
    assert (
        lesson.figure.run.optimizer.param_groups[0]["momentum"] == 0.9
        and lesson.figure.run.optimizer.param_groups[0]["lr"] == 0.1
    )


def test_the_graph_of_one_batch():
    lesson = playground(steps=2, batch=8)
    following = lesson.figure.run.one_batch()[0].item()
    lesson.press("show_graph")
    film, view = lesson.children
    rows = {row.split()[0]: row for row in repr(view).splitlines() if row.strip()}
    assert {"x", "Linear", "p0_weightᵀ", "loss"} <= rows.keys()  # a figure of the layers, in words
    assert float(rows["loss"].split()[3]) == pytest.approx(following, rel=1e-2)
    lesson.press("once")
    assert lesson.figure.run.losses[-1] == pytest.approx(following)  # it was really the next batch
    lesson.press("show_graph")
    assert lesson.children == [film]


def test_trouble_while_training_is_told():
    lesson = playground(step=lambda model, optimizer, x, y: model(x).sum() * float("inf"))
    lesson.press("once")
    assert "no finite number" in lesson.scene["say"] and lesson.scene["mood"] == "bad"
    lesson.press("reset")
    assert "After 0 steps" in lesson.scene["say"]
    lesson = playground(step=lambda model, optimizer, x, y: "done")
    lesson.press("once")
    assert "must return the loss, but it returned str" in lesson.scene["say"]


class Empty(nn.Module):
    def forward(self, x):
        return x


@pytest.mark.parametrize("nonsense, said", [
    ({"model": nn.Linear}, "make one with Linear()"), ({"model": 3}, "It was given int"),
    ({"data": "stars"}, "'moons', 'circles', 'spirals'"),
    ({"optimizer": "Adamant"}, "SGD, momentum, Adam"), ({"optimizer": 0.1}, "It was given float"),
    ({"model": nn.Linear(3, 2)}, "cannot draw this"), ({"model": nn.Linear(2, 1)}, "one number for each kind of point"),
    ({"model": nn.Linear(2, 2), "data": "spirals"}, "Linear(…, 3)"), ({"model": Empty()}, "no parameters"),
    ({"lr": -1}, "lr may be"), ({"lr": "fast"}, "is no number"), ({"step": 4}, "step must be"),
    ({"steps": 10**6}, "steps between 0 and"), ({"optimizer": torch.optim.SGD(nn.Linear(2, 2).parameters(), lr=1)}, "the model, too"),
])  # fmt: skip
def test_nonsense_gets_a_sentence(nonsense, said):
    lesson = playground(**nonsense)
    assert said in lesson.text() and "image/svg+xml" not in lesson._repr_mimebundle_()


def test_static_twin_is_the_same_twice():
    one, two = (playground(data="spirals", steps=30)._repr_mimebundle_() for _ in range(2))
    assert all(one[kind] == two[kind] for kind in ("image/svg+xml", "text/plain")) and "<title>" in one["image/svg+xml"]
