"""The film of a training run: networks typed in many ways, gradients, learning rates, and what a page reads back."""

import math
import random

import numpy as np
import pytest

import minigrad as torch
from minigrad import Value, datasets, micro, nn
from minigrad.course.exercises import ch05
from minigrad.film import Film, deltas, tables
from minigrad.nn import functional as F
from minigrad.program.tensor_samples import run


def engine():
    """What a learner has after chapter 05: its own solutions, run as they are there."""
    space: dict = {}
    for text in (ch05.SOLUTION_A, ch05.SOLUTION_B, ch05.SOLUTION_C):
        exec(text, space)
    return space


SPACE = engine()
V, backward = SPACE["Value"], SPACE["backward"]


def moons(count=100):
    points, labels = datasets.moons(count, seed=1)
    return [tuple(p) for p in points.tolist()], [1 if v == 1 else -1 for v in labels.tolist()]


POINTS, LABELS = moons()


def method(loss):
    loss.backward()


def hinge(m, rows):
    return sum((1 - LABELS[i] * m(*POINTS[i])).relu() for i in rows) * (1 / len(rows))


def divided(m, rows):
    return sum(((1 - LABELS[i] * m(*POINTS[i])).relu() for i in rows), V(0.0)) / len(rows)


def squared(m, rows):
    return sum((m(*POINTS[i]) - LABELS[i]) ** 2 for i in rows)


def decayed(m, rows):
    total = sum((1 + -LABELS[i] * m(*POINTS[i])).relu() for i in rows) * (1 / len(rows))
    return total + 1e-4 * sum(p * p for p in m.parameters())


class Dicts:
    """No parameters(), no output bias."""

    def __init__(self, rng):
        u = rng.uniform
        self.hidden = [{"w": [V(u(-1, 1)), V(u(-1, 1))], "b": V(0.1)} for _ in range(5)]
        self.out = [V(u(-1, 1)) for _ in range(5)]

    def __call__(self, a, b):
        h = [(unit["w"][0] * a + unit["w"][1] * b + unit["b"]).relu() for unit in self.hidden]
        return sum(v * x for v, x in zip(self.out, h, strict=True))


class Wrapped:
    """Inputs become Values once; input × weight."""

    def __init__(self, rng):
        self.p = [[V(rng.uniform(-1, 1)) for _ in range(3)] for _ in range(4)]
        self.p += [[V(rng.uniform(-1, 1)) for _ in range(5)]]

    def __call__(self, a, b):
        a, b, o = V(a), V(b), self.p[4]
        h = [(a * w + b * v + c).relu() for w, v, c in self.p[:4]]
        return h[0] * o[0] + h[1] * o[1] + h[2] * o[2] + h[3] * o[3] + o[4]


class Lecture:
    def __init__(self, rng):
        u, sizes = rng.uniform, ((2, 4), (4, 4), (4, 1))
        self.l = [[([Value(u(-1, 1)) for _ in range(a)], Value(u(-1, 1))) for _ in range(b)] for a, b in sizes]

    def act(self, z):
        return z.tanh()

    def __call__(self, *x):
        for layer in self.l:
            x = [self.act(sum((wi * xi for wi, xi in zip(w, x, strict=True)), b)) for w, b in layer]
        return x[0]


class Sigmoid(Lecture):
    def act(self, z):
        return 1 / (1 + (-z).exp())


class Skip(Lecture):
    def __call__(self, *x):
        def layer(k, x):
            return [sum((wi * xi for wi, xi in zip(w, x, strict=True)), b) for w, b in self.l[k]]

        h = [z.tanh() for z in layer(0, x)]
        return layer(2, [z.tanh() + a for z, a in zip(layer(1, h), h, strict=True)])[0]


class Neuron:
    def __init__(self, rng):
        self.w = [V(0.2), V(-0.3), V(0.1)]

    def __call__(self, a, b):
        return self.w[0] * a + self.w[1] * b + self.w[2]


class Holds:
    def __init__(self, net, wrap=lambda x: x):
        self.net, self.wrap = net, wrap

    def parameters(self):
        return self.net.parameters()

    def __call__(self, *x):
        return self.net([self.wrap(v) for v in x])


def learners_own(rng):
    random.seed(rng.random())
    return SPACE["MLP"]()


def micrograds(rng):
    engine_of = pytest.importorskip("micrograd.engine")
    from micrograd import nn as nets

    return Holds(nets.MLP(2, [16, 16, 1]), engine_of.Value)


# name: model, backward, loss, points in a step, units by layer, activations
STYLES = {
    "05.c, hinge, 30 points": (learners_own, backward, hinge, 30, [8, 1], {"relu", "linear"}),
    "05.c, squared error": (learners_own, backward, squared, 30, [8, 1], {"relu", "linear"}),
    "05.c, / n": (learners_own, backward, divided, 30, [8, 1], {"relu", "linear"}),
    "dicts, no output bias": (Dicts, backward, hinge, 30, [5, 1], {"relu", "linear"}),
    "inputs wrapped once": (Wrapped, backward, hinge, 30, [4, 1], {"relu", "linear"}),
    "one neuron": (Neuron, backward, hinge, 100, [1], {"linear"}),
    "minigrad.micro.MLP": (
        lambda rng: Holds(micro.MLP(2, [4, 4, 1])),
        method,
        hinge,
        30,
        [4, 4, 1],
        {"relu", "linear"},
    ),
    "tanh everywhere": (Lecture, method, squared, 100, [4, 4, 1], {"tanh"}),
    "sigmoid written out": (Sigmoid, method, squared, 100, [4, 4, 1], {"sigmoid"}),
    "tanh(...) + h": (Skip, method, squared, 100, [4, 4, 1], {"tanh", "linear"}),
    "micrograd, 100 points": (micrograds, method, decayed, 100, [16, 16, 1], {"relu", "linear"}),
    "micrograd, 30 points": (micrograds, method, hinge, 30, [16, 16, 1], {"relu", "linear"}),
}


def parameters(model):
    return Film(model).parameters


def trained(model, back, loss_of, count, steps=3, lr=0.05, late=False, every=1, keep=500, seed=0):
    """A film of some steps, and for each step its points and its gradients."""
    rng = random.Random(seed)
    film = Film(model, POINTS, LABELS, every, keep)
    history = []
    for _ in range(steps):
        rows = rng.sample(range(100), count) if count < 100 else list(range(100))
        for p in film.parameters:
            p.grad = 0.0
        loss = loss_of(model, rows)
        back(loss)
        history.append((rows, [p.data for p in film.parameters], [p.grad for p in film.parameters], loss.data))
        if not late:
            film.step(loss)
        for p in film.parameters:
            p.data -= lr * p.grad
        if late:
            film.step(loss)
    return film, history


@pytest.mark.parametrize("late", [False, True], ids=["before the update", "after the update"])
@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES)
def test_units_points_and_gradients_of_each_style(style, late):
    make, back, loss_of, count, layers, activations = style
    if late and "micrograd" in str(make) and count == 100:
        pytest.skip("the same class with fewer points is tried")
    model = make(random.Random(4))
    film, history = trained(model, back, loss_of, count, late=late, steps=2 if len(layers) > 2 else 3)
    program = film.program
    assert film.note == ""
    assert [sum(u["layer"] == k + 1 for u in program.units) for k in range(len(layers))] == layers
    assert {u["act"] for u in program.units} == activations
    for frame, (rows, weights, grads, loss) in zip(film.frames, history, strict=True):
        assert sorted(frame.rows or range(100)) == sorted(rows)
        assert list(frame.weights) == weights and list(frame.grads) == grads and frame.loss == pytest.approx(loss)
        value, again = run(program, np.array(weights), sorted(rows))
        assert value == pytest.approx(loss, rel=1e-9)
        assert again == pytest.approx(np.array(grads), rel=1e-9, abs=1e-12)
    assert film.rates() == [0.05] * len(history)


def test_the_units_have_the_learners_names_and_the_order_of_the_sum():
    film, _ = trained(learners_own(random.Random(1)), backward, hinge, 30, steps=1)
    first, last = film.program.units[0], film.program.units[-1]
    assert (first["name"], last["name"]) == ("units[0]", "output")
    assert [film.names[w] for _, _, w in first["inputs"]] == ["units[0][0]", "units[0][1]"]
    assert film.names[first["bias"]] == "units[0][2]" and first["after"] == 2 and last["after"] == 0
    assert [(c, s) for c, s, _ in first["inputs"]] == [(0, -1), (1, -1)]
    assert [s for _, s, _ in last["inputs"]] == list(range(8))


def test_what_a_page_reads_back_is_near_at_every_frame():
    film, history = trained(learners_own(random.Random(2)), backward, hinge, 30, steps=60, lr=0.5)
    weights, grads = tables(film.data())
    for k, (_, w, g, _) in enumerate(history):
        assert np.abs(weights[k] - w).max() <= 1e-4
        assert np.abs(grads[k] - g).max() <= 1e-3 * max(np.abs(g).max(), 1e-9)
    assert np.abs(weights[-1] - [p.data for p in film.parameters]).max() <= 1e-4


def test_weights_that_grow_without_bound_are_read_back():
    table = np.array([[1.0, -2.0], [3e5, 4.0], [-7e9, 5.0], [-7e9, 5.5], [math.nan, 1.0]])
    first, moves, scales = deltas(table)
    at = first.astype(float)
    for k, row in enumerate(table[1:]):
        at = at + moves[k].astype(float) * scales[k]
        largest = np.nanmax(np.abs(row - table[k]))
        assert at == pytest.approx(row, rel=1e-6, abs=1e-3 * largest, nan_ok=True)


def test_two_thousand_steps_are_thinned_and_the_rate_stays_exact():
    w = Value(3.0)
    film = Film([w], keep=100)
    for k in range(2000):
        loss = (w - 1) ** 2
        w.grad = 0.0
        loss.backward()
        film.step(loss)
        w.data -= (0.001 if k < 1000 else 0.0005) * w.grad
    assert 50 <= len(film) <= 100 and film.every == 32
    assert [f.step for f in film.frames] == [1 + 32 * k for k in range(len(film))]
    assert {*film.rates()} == {0.001, 0.0005}


def test_the_rate_after_the_update_stays_exact_when_frames_are_left_out():
    w = Value(3.0)
    film = Film([w], every=5)
    for _ in range(20):
        loss = (w - 1) ** 2
        w.grad = 0.0
        loss.backward()
        w.data -= 0.125 * w.grad
        film.step(loss)
    assert film.late and film.rates() == [0.125] * 4


def test_momentum_has_no_rate():
    w, v = Value(3.0), Value(1.0)
    film, m = Film([w, v]), [0.0, 0.0]
    for k in range(5):
        loss = (w - 1) ** 2 + (v + k) ** 4
        w.grad = v.grad = 0.0
        loss.backward()
        film.step(loss)
        for i, p in enumerate((w, v)):
            m[i] = 0.9 * m[i] + p.grad
            p.data -= 0.01 * m[i]
    rates = film.rates()
    assert rates[0] == pytest.approx(0.01) and rates[1:] == [None] * 4


def test_cleared_gradients_are_an_error_that_says_what_to_do():
    model = learners_own(random.Random(1))
    film = Film(model, POINTS, LABELS)
    loss = hinge(model, range(30))
    backward(loss)
    for p in film.parameters:
        p.grad = 0.0
    with pytest.raises(ValueError, match="after the gradients were cleared"):
        film.step(loss)


def test_a_true_zero_gradient_is_no_error():
    w = Value(1.0)
    film = Film([w])
    loss = (w - 1) ** 2
    loss.backward()
    film.step(loss)
    assert film[0].grads == [0.0]


def test_a_loss_that_is_no_number_is_kept_as_such():
    w = Value(1.0)
    film = Film([w])
    for x in (1.0, math.inf):
        loss = w * x - w * x
        w.grad = 0.0
        loss.backward()
        film.step(loss)
    data = film.data()
    assert data["losses"] == [0.0, None] and math.isnan(film[1].loss)


def test_new_weights_at_each_step():
    numbers = [0.5, -0.25]
    film = None
    for _ in range(3):
        weights = [V(x) for x in numbers]
        loss = (weights[0] * 2 + weights[1] - 3) ** 2
        backward(loss)
        film = film or Film(weights)
        film.step(loss, weights)
        numbers = [p.data - 0.05 * p.grad for p in weights]
    assert film.rates()[:2] == [0.05, 0.05]
    assert len({f.weights[0] for f in film.frames}) == 3


def test_a_graph_of_another_shape_keeps_the_steps_and_says_so():
    model = learners_own(random.Random(1))
    film = Film(model, POINTS, LABELS)
    for k in range(3):
        for p in film.parameters:
            p.grad = 0.0
        loss = hinge(model, range(10)) if k < 2 else squared(model, range(10))
        backward(loss)
        film.step(loss)
    assert len(film) == 3 and film.program is None and "not the same at every step" in film.note


def test_only_the_points_whose_loss_is_not_zero():
    """`if margin < 1` leaves samples out, so that each step has another number of them."""
    model = learners_own(random.Random(1))
    film = Film(model, POINTS, LABELS)
    for k in range(2):
        for p in film.parameters:
            p.grad = 0.0
        rows = list(range(20 + 7 * k))
        loss = sum((1 - LABELS[i] * model(*POINTS[i])) ** 2 for i in rows) * 0.01
        backward(loss)
        film.step(loss)
    assert film.program is not None and [len(f.rows) for f in film.frames] == [20, 27]


def test_an_interrupted_step_leaves_whole_frames():
    w = Value(3.0)
    film = Film([w])

    def interrupt():
        raise KeyboardInterrupt

    for k in range(3):
        loss = (w - 1) ** 2
        w.grad = 0.0
        loss.backward()
        film.listener = interrupt if k == 1 else None
        try:
            film.step(loss)
        except KeyboardInterrupt:
            pass
        w.data -= 0.1 * w.grad
    assert len(film) == 3 and film.data()["steps"] == [1, 2, 3]


# Tensors


def sequential():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(2, 5), nn.ReLU(), nn.Linear(5, 1))


class ByHand:
    def __init__(self):
        torch.manual_seed(1)
        self.w1, self.b1 = torch.randn(2, 4, requires_grad=True), torch.zeros(4, requires_grad=True)
        self.w2, self.b2 = torch.randn(4, 1, requires_grad=True), torch.zeros(1, requires_grad=True)

    def __call__(self, x):
        return torch.tanh(x @ self.w1 + self.b1) @ self.w2 + self.b2


@pytest.mark.parametrize("make", [sequential, ByHand])
@pytest.mark.parametrize(
    "loss_of",
    [
        lambda s, y: F.relu(1 - y * s).mean(),
        lambda s, y: ((s - y) ** 2).mean(),
        lambda s, y: F.mse_loss(s, y, reduction="sum"),
    ],
    ids=["hinge", "squared", "sum of squares"],
)
def test_networks_of_tensors(make, loss_of):
    model = make()
    x, y = torch.tensor(POINTS), torch.tensor([[float(v)] for v in LABELS])
    film = Film(model, x, [float(v) for v in LABELS])
    for _ in range(3):
        for p in film.parameters:
            p.grad = None
        loss = loss_of(model(x), y)
        loss.backward()
        film.step(loss)
        with torch.no_grad():
            for p in film.parameters:
                p -= 0.001 * p.grad
    assert film.note == ""
    units = film.program.units
    assert [sum(u["layer"] == k for u in units) for k in (1, 2)] == [5 if make is sequential else 4, 1]
    assert film.rates() == pytest.approx([0.001] * 3, rel=1e-3)
    for frame in film.frames:
        value, grads = run(film.program, np.asarray(frame.weights), range(100))
        assert value == pytest.approx(frame.loss, rel=1e-4)
        assert grads == pytest.approx(frame.grads, rel=1e-3, abs=1e-4)


def test_three_classes_in_batches():
    torch.manual_seed(3)
    points, labels = datasets.spirals(60, 0.03, 0)
    model = nn.Sequential(nn.Linear(2, 6), nn.Tanh(), nn.Linear(6, 3))
    film = Film(model, points, labels)
    for k in range(3):
        rows = list(range(20 * k, 20 * k + 20))
        model.zero_grad()
        loss = F.cross_entropy(model(points[rows]), labels[rows])
        loss.backward()
        film.step(loss, rows=rows)
    assert film.note == "" and [f.rows for f in film.frames][1] == list(range(20, 40))
    assert film.title == "2-6-3"


def test_a_convolution_keeps_its_curve_and_says_so():
    model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten(), nn.Linear(72, 3))
    x, y = torch.randn(4, 1, 8, 8), torch.tensor([0, 1, 2, 0])
    film = Film(model, x, y)
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    film.step(loss)
    assert film.program is None and film.note.startswith("The film shows no network, because")
    assert film.data()["count"] == len(film.names) == 2 * 9 + 2 + 72 * 3 + 3


def test_of_a_large_model_some_weights_are_kept():
    model = nn.Sequential(nn.Linear(200, 200), nn.ReLU(), nn.Linear(200, 2))
    film = Film(model, torch.randn(4, 200), torch.tensor([0, 1, 1, 0]))
    loss = model(torch.randn(4, 200)).sum()
    loss.backward()
    film.step(loss)
    assert len(film.names) == len(film[0].weights) == 2000 and film.names[-1] == "model[2].bias[1]"
    assert film.note == "The film keeps 2,000 of the 40,602 weights, and shows no network."


def test_a_film_for_a_page_has_at_most_so_many_numbers():
    film, history = trained(learners_own(random.Random(2)), backward, hinge, 30, steps=40)
    data = film.data(most=33 * 10)
    assert data["steps"] == [1 + 4 * k for k in range(10)] and data["every"] == 4 and data["seen"] == 40
    weights, _ = tables(data)
    assert np.abs(weights[3] - history[12][1]).max() < 1e-4


def test_images_are_given_to_the_model_in_their_shape():
    torch.manual_seed(0)
    images, labels = datasets.digits(30)
    model = nn.Sequential(nn.Flatten(), nn.Linear(64, 5), nn.ReLU(), nn.Linear(5, 10)).double()
    x = images.reshape(-1, 1, 8, 8).double() / 16
    film = Film(model, x, labels)
    loss = F.cross_entropy(model(x), labels)
    loss.backward()
    film.step(loss)
    assert film.note == "" and film.title == "64-5-10"


class Spike(torch.autograd.Function):
    """A unit that fires or does not, and a little tent in place of its derivative."""

    @staticmethod
    def forward(x):
        return (x > 0).double()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (1 - x.abs()).clamp(min=0)


class Flat(Spike):
    @staticmethod
    def backward(ctx, g):
        return 0 * g


@pytest.mark.parametrize("unit", [Spike, Flat])
def test_a_function_of_ones_own_is_known_by_what_it_computes(unit):
    torch.manual_seed(0)
    first, second = nn.Linear(2, 4).double(), nn.Linear(4, 1).double()

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = first, second

        def forward(self, x):
            return self.second(unit.apply(self.first(x)))

    x, y = torch.tensor(POINTS).double(), torch.tensor([[float(v)] for v in LABELS]).double()
    film = Film(model := Model(), x, [float(v) for v in LABELS])
    loss = F.relu(1 - y * model(x)).mean()
    loss.backward()
    film.step(loss)
    assert film.note == "" and {u["act"] for u in film.program.units} == {"step", "linear"}
    value, grads = run(film.program, film.frames[0].weights, range(100))
    assert value == pytest.approx(film.frames[0].loss)
    same = np.allclose(grads, film.frames[0].grads)
    assert same == (unit is Flat), "the page sees that the surrogate is not the derivative"


def test_gradients_of_nothing_but_rounding_measure_no_rate():
    """Where every unit is dead, the only gradient is that of the output's bias: a hundred times ±1/100, which is not exactly 0."""
    model = SPACE["MLP"]()
    film = Film(model, POINTS, LABELS)
    for step in range(8):
        if step == 3:
            for *_, bias in model.units:
                bias.data = -100.0
            model.output[-1].data = 0.3
        for p in model.parameters():
            p.grad = 0.0
        loss = hinge(model, range(100))
        backward(loss)
        film.step(loss)
        for p in model.parameters():
            p.data -= 0.1 * p.grad
    assert {r for r in film.rates() if r is not None} == {0.1}


def test_each_point_needs_one_label():
    with pytest.raises(ValueError, match="100 points and 99 labels"):
        Film(SPACE["MLP"](), POINTS, LABELS[:-1])


class Nameless:
    """A number as short as can be: no operation has a name."""

    def __init__(self, data, prev=()):
        self.data, self.grad, self._prev, self._backward = data, 0.0, prev, lambda: None

    def __mul__(self, other):
        other = other if isinstance(other, Nameless) else Nameless(other)
        out = Nameless(self.data * other.data, (self, other))

        def rule():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad

        out._backward = rule
        return out


def test_a_class_without_names_of_operations_says_what_is_missing():
    w = Nameless(0.5)
    film = Film([w], [[1.0], [2.0]], [1, -1])
    loss = w * 2.0
    loss.grad = 1.0
    loss._backward()
    film.step(loss)
    assert "give each result its sign, such as out._op = '+'" in film.note
