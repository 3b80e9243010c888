"""Stacked graphs and the cost of H v: derivatives by hand, the nodes a rule makes, steps that do not grow."""

import math

import pytest

import minigrad as torch
from widgets.lessons import hvp_cost, recap, stacked
from widgets.lessons.hvp_cost import SIZES, direction, hessian, point, product


def test_first_and_second_derivatives_are_those_of_school():
    state = stacked("y = x**3", x=2.0).figure.state
    assert state.slopes == {"x": 12} and state.bends == {"x": 12}
    state = stacked("q = x*y; z = sin(q)", x=2, y=4).figure.state
    q = 8.0
    assert state.slopes == pytest.approx({"x": 4 * math.cos(q), "y": 2 * math.cos(q)}, rel=1e-12)
    assert state.bends == pytest.approx({"x": -16 * math.sin(q), "y": -4 * math.sin(q)}, rel=1e-12)
    state = stacked(x=0.7).figure.state
    assert state.slopes["x"] == pytest.approx(math.cos(0.7) * 0.7 + math.sin(0.7), rel=1e-12)
    assert state.bends["x"] == pytest.approx(2 * math.cos(0.7) - 0.7 * math.sin(0.7), rel=1e-12)


def test_each_edge_shows_what_its_rule_made():
    lesson = stacked()
    made = []
    for k in range(3):
        lesson.set(edge=k + 1)
        state = lesson.figure.state
        made.append({state.nodes[i]["expr"] for i in state.made})
        assert f"makes {len(made[-1])} node" in lesson.scene["say"]
    assert made == [{"cos(x)", "1 × x × cos(x)"}, {"1 × x"}, {"1 × a"}]
    assert not set.intersection(*made) and all(i in state.second for i in state.made)


def test_the_second_graph_computes_the_gradient():
    state = stacked(x=0.7).figure.state
    slope = next(n for n in state.nodes if n["label"] == "dy/dx")
    assert slope["id"] in state.second and slope["value"] == pytest.approx(state.slopes["x"], rel=1e-12)


def test_without_create_graph_there_is_no_second_graph():
    lesson = stacked("y = x**3")
    lesson.set(create_graph=False)
    assert (
        "does not require grad and does not have a grad_fn" in lesson.scene["say"]
        and "no second graph" in lesson.picture()
    )
    lesson.set(create_graph=True)
    assert "the backward pass, recorded" in lesson.picture() and "makes 3 nodes" in lesson.scene["say"]


def bent(w, x):
    h = torch.tanh(w * x)
    return h**2


def test_own_functions():
    state = stacked(bent, w=0.5, x=1.0).figure.state
    t = math.tanh(0.5)
    assert state.slopes["w"] == pytest.approx(2 * t * (1 - t * t), rel=1e-12)
    assert state.bends["w"] == pytest.approx(2 * (1 - t * t) ** 2 - 4 * t * t * (1 - t * t), rel=1e-10)
    line = stacked("y = 3*x")
    assert line.figure.state.bends == {"x": 0} and "depends on no input" in line.text()


@pytest.mark.parametrize("args, more, said", [
    ((3,), {}, "needs a function"), (("y = x",), {"q": 1}, "no input q"), (("y = (",), {}, "cannot read"), ((), {"edge": 9}, "no edge 9"),
    (("y = x**3",), {"x": "two"}, "cannot draw this"), ((lambda x: 5,), {}, "must end with a Tensor"),
    ((lambda x: x.detach(),), {}, "no graph"), (("; ".join(["a = x*x", *(f"a{k} = a*x*x" for k in range(20)), "y = a19*a"]),), {}, ""),
])  # fmt: skip
def test_nonsense_gets_a_sentence(args, more, said):
    text = stacked(*args, **more).text()
    assert said in text and "Traceback" not in text


@pytest.mark.parametrize("n", [1, 3, 20])
def test_the_product_is_that_of_the_table_and_of_the_formula(n):
    def f(x):
        return (x**4).sum() / 12 + x.sum() ** 2 / 2

    x, v = point(n), direction(n)
    xs, vs = x.tolist(), v.tolist()
    wanted = [a * a * b + sum(vs) for a, b in zip(xs, vs, strict=True)]
    assert product(f, x, v).tolist() == pytest.approx(wanted, rel=1e-10, abs=1e-12)
    assert (hessian(f, x) @ v).tolist() == pytest.approx(wanted, rel=1e-10, abs=1e-12)


def test_steps_of_the_product_do_not_grow_and_those_of_the_table_do():
    lesson = hvp_cost(n=1)
    seen = {}
    for n in SIZES:
        lesson.set(n=n)
        cost = lesson.figure.cost
        seen[n] = dict(cost.steps)
        assert cost.agree and f"H has {n * n:,} number" in lesson.scene["say"]
    assert len({steps["H v"] for steps in seen.values()}) == 1 == len({steps["gradient"] for steps in seen.values()})
    rows = [(seen[n]["the whole H"] - seen[1]["the whole H"]) / (n - 1) for n in SIZES[1:]]
    assert len(set(rows)) == 1 and rows[0] > 1


@pytest.mark.parametrize("args, said", [
    ((3,), "needs a function"), ((None, 7), "7 is none of these"), ((lambda x: x,), "one number"),
    ((lambda x: x.sum().item(),), "one number"),
    ((lambda x: x.sum(),), "the function stops"), ((lambda x: x.nope(),), "the function stops"),
])  # fmt: skip
def test_cost_of_nonsense_gets_a_sentence(args, said):
    assert said in hvp_cost(*args).text()


def test_a_function_that_fails_for_other_sizes_says_so():
    lesson = hvp_cost(lambda x: (x[4] * x).sum(), n=5)
    before = lesson.picture()
    lesson._on_message(None, {"set": "n", "value": SIZES.index(2), "number": 1}, [])
    assert "With 2 parameters the function stops" in lesson.scene["say"] and lesson.picture() == before


def test_static_twins_are_the_same_twice():
    for make in (stacked, hvp_cost, lambda: recap(11)):
        one, two = make()._repr_mimebundle_(), make()._repr_mimebundle_()
        assert (
            all(one[kind] == two[kind] for kind in ("image/svg+xml", "text/plain"))
            and "<title>" in one["image/svg+xml"]
        )


def test_recap():
    assert "the derivatives 75, 30, 6" in recap(11).text() and "40,000 numbers" in recap(11).text()
