"""LBFGS: a quasi-Newton method, which builds an approximation of the inverse Hessian from the last steps.

What lives here: the two-loop recursion and the strong Wolfe line search, on one flat ndarray of all parameters. `step` needs a closure.
Nocedal and Wright, Numerical Optimization, algorithms 7.4, 3.5 and 3.6; the stopping rules and defaults are PyTorch's.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.grad_mode import enable_grad
from ..tensors.tensor import Tensor
from .optimizer import Optimizer, check_learning_rate


class LBFGS(Optimizer):
    """Up to max_iter quasi-Newton iterations in each `step(closure)`; the closure clears the gradients, computes the loss, calls backward
    and returns the loss.

    history_size    how many steps the approximation remembers
    line_search_fn  "strong_wolfe", or None: every step has length lr
    max_eval        stop after so many calls of the closure (default: max_iter * 5 // 4)
    There is only one parameter group. Raises ValueError for a negative lr or several groups.
    """

    def __init__(
        self, params, lr: float = 1, max_iter: int = 20, max_eval: int | None = None, tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9, history_size: int = 100, line_search_fn: str | None = None,
    ):  # fmt: skip
        check_learning_rate(lr)
        defaults = {
            "lr": lr, "max_iter": max_iter, "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad, "tolerance_change": tolerance_change, "history_size": history_size,
            "line_search_fn": line_search_fn,
        }  # fmt: skip
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")

    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]
        """Run the iterations; returns the first loss. Raises RuntimeError for another line search than 'strong_wolfe'."""
        group = self.param_groups[0]
        self._params = group["params"]
        lr, max_iter, max_eval = float(group["lr"]), group["max_iter"], group["max_eval"]
        smallest = group["tolerance_change"]

        def evaluate():
            with enable_grad():
                loss = closure()
            return loss, self._flat_grad()

        state = self.state[self._params[0]]  # all parameters share the first one's state, as in PyTorch
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first_loss, g = evaluate()
        loss = float(first_loss)
        evaluations = 1
        state["func_evals"] += 1
        if np.abs(g).max() <= group["tolerance_grad"]:
            return first_loss

        memory = _Memory(state, group["history_size"])
        iteration = 0
        while iteration < max_iter:
            iteration += 1
            state["n_iter"] += 1
            d = memory.direction(g, state["n_iter"] == 1)
            previous_loss = loss
            t = min(1.0, 1.0 / np.abs(g).sum()) * lr if state["n_iter"] == 1 else lr
            memory.t = t
            slope = g.dot(d)
            if slope > -smallest:  # hardly downhill
                break

            evaluated = 0
            if group["line_search_fn"] is not None:
                if group["line_search_fn"] != "strong_wolfe":
                    raise RuntimeError("only 'strong_wolfe' is supported")
                start = [p.array.copy() for p in self._params]

                def along(t, start=start, d=d):
                    self._move(t, d)
                    value, gradient = evaluate()
                    self._put_back(start)
                    return float(value), gradient

                loss, g, t, evaluated = strong_wolfe(
                    along, t, d, loss, g, slope, max_evaluations=max_eval - evaluations
                )
                memory.t = t
                self._move(t, d)
            else:
                self._move(t, d)
                if iteration != max_iter:
                    value, g = evaluate()
                    loss = float(value)
                    evaluated = 1
            flat = np.abs(g).max() <= group["tolerance_grad"]
            evaluations += evaluated
            state["func_evals"] += evaluated
            if iteration == max_iter or evaluations >= max_eval or flat:
                break
            if np.abs(d * t).max() <= smallest or abs(loss - previous_loss) < smallest:  # no more progress
                break

        memory.store(state, previous_loss)
        return first_loss

    def _flat_grad(self) -> np.ndarray:
        return np.concatenate(
            [
                np.zeros(p.array.size, p.array.dtype) if p._grad is None else p._grad.array.reshape(-1)
                for p in self._params
            ]
        )

    def _move(self, t: float, d: np.ndarray) -> None:
        start = 0
        for p in self._params:
            size = p.array.size
            p.array += t * d[start : start + size].reshape(p.array.shape)
            p.version[0] += 1
            start += size

    def _put_back(self, arrays: list[np.ndarray]) -> None:
        for p, a in zip(self._params, arrays, strict=True):
            p.array[...] = a
            p.version[0] += 1


class _Memory:
    """The last steps and how the gradient changed along them. Between calls it is stored, as tensors, in the optimiser's state."""

    def __init__(self, state: dict[str, Any], size: int):
        def arrays(name):
            return [x.array for x in state.get(name, [])]

        self.size = size
        self.dirs, self.stps, self.ro = (
            arrays("old_dirs"),
            arrays("old_stps"),
            [x.array[()] for x in state.get("ro", [])],
        )
        self.d = state["d"].array if "d" in state else None
        self.previous = state["prev_flat_grad"].array if "prev_flat_grad" in state else None
        self.al = [None] * size  # computed again each time: only PyTorch's layout
        scale = state.get("H_diag", 1)
        self.scale = scale.array[()] if isinstance(scale, Tensor) else scale
        t = state.get("t")
        self.t = t.array[()] if isinstance(t, Tensor) else t

    def store(self, state: dict[str, Any], previous_loss: float) -> None:
        def wrap(x):
            return Tensor._wrap(np.asarray(x)) if isinstance(x, (np.ndarray, np.generic)) else x

        state.update(
            d=wrap(self.d), t=wrap(self.t), old_dirs=[wrap(x) for x in self.dirs], old_stps=[wrap(x) for x in self.stps],
            ro=[wrap(x) for x in self.ro], H_diag=wrap(self.scale), prev_flat_grad=wrap(self.previous), prev_loss=previous_loss,
            al=[wrap(x) for x in self.al],
        )  # fmt: skip

    def direction(self, g: np.ndarray, first: bool) -> np.ndarray:
        """Minus the approximate inverse Hessian times the gradient; at first just minus the gradient."""
        if first:
            self.d = -g
        else:
            y, s = g - self.previous, self.d * self.t  # type: ignore[operator]
            ys = y.dot(s)
            if ys > 1e-10:  # positive curvature: worth remembering
                if len(self.dirs) == self.size:
                    for history in (self.dirs, self.stps, self.ro):
                        history.pop(0)
                self.dirs.append(y)
                self.stps.append(s)
                self.ro.append(1.0 / ys)
                self.scale = ys / y.dot(y)
            q = -g
            al = [0.0] * len(self.dirs)
            for i in reversed(range(len(self.dirs))):
                al[i] = self.stps[i].dot(q) * self.ro[i]
                q -= al[i] * self.dirs[i]
            d = q * self.scale
            for i in range(len(self.dirs)):
                d += (al[i] - self.dirs[i].dot(d) * self.ro[i]) * self.stps[i]
            self.d = d
            self.al[: len(al)] = al  # type: ignore[assignment]
        self.previous = g.copy()
        return self.d


def cubic_minimum(x1, f1, g1, x2, f2, g2, bounds=None):
    """Where the cubic through two points with these values and slopes is least, within the bounds (default: between the points)."""
    low, high = bounds if bounds is not None else (min(x1, x2), max(x1, x2))
    d1 = g1 + g2 - 3 * (f1 - f2) / (x1 - x2)
    square = d1**2 - g1 * g2
    if not square >= 0:
        return (low + high) / 2.0
    d2 = np.sqrt(square)
    if x1 <= x2:
        at = x2 - (x2 - x1) * ((g2 + d2 - d1) / (g2 - g1 + 2 * d2))
    else:
        at = x1 - (x1 - x2) * ((g1 + d2 - d1) / (g1 - g2 + 2 * d2))
    return min(max(at, low), high)


def strong_wolfe(along, t, d, f, g, slope, c1=1e-4, c2=0.9, smallest=1e-9, max_evaluations=25):
    """A step length t along d that satisfies the strong Wolfe conditions, or the best found: (value, gradient, t, evaluations).

    along(t) gives value and gradient there; f, g, slope are value, gradient and g·d at 0.
    """
    d_norm = np.abs(d).max()
    f_new, g_new = along(t)
    evaluations = 1
    slope_new = g_new.dot(d)
    t_prev, f_prev, g_prev, slope_prev = 0, f, g.copy(), slope
    done = False
    rounds = 0
    # First find an interval that holds a good point. A point is [t, value, gradient, slope].
    while rounds < max_evaluations:
        before, point = [t_prev, f_prev, g_prev, slope_prev], [t, f_new, g_new, slope_new]
        if f_new > f + c1 * t * slope or (rounds > 1 and f_new >= f_prev):
            bracket = [before, point]
            break
        if abs(slope_new) <= -c2 * slope:
            bracket = [point]
            done = True
            break
        if slope_new >= 0:
            bracket = [before, point]
            break
        step = cubic_minimum(t_prev, f_prev, slope_prev, t, f_new, slope_new, bounds=(t + 0.01 * (t - t_prev), t * 10))
        t_prev, f_prev, g_prev, slope_prev = t, f_new, g_new, slope_new
        t = step
        f_new, g_new = along(t)
        evaluations += 1
        slope_new = g_new.dot(d)
        rounds += 1
    if rounds == max_evaluations:
        bracket = [[0, f, g, slope], [t, f_new, g_new, slope_new]]
    # Then shrink it.
    low, high = (0, 1) if bracket[0][1] <= bracket[-1][1] else (1, 0)
    stuck = False
    while not done and rounds < max_evaluations:
        ends = bracket[0][0], bracket[1][0]
        if abs(ends[1] - ends[0]) * d_norm < smallest:
            break
        (x1, f1, _, s1), (x2, f2, _, s2) = bracket
        t = cubic_minimum(x1, f1, s1, x2, f2, s2)
        margin = 0.1 * (max(ends) - min(ends))
        if min(max(ends) - t, t - min(ends)) < margin:  # close to an end: the second time in a row, keep a distance
            if stuck or t >= max(ends) or t <= min(ends):
                t = max(ends) - margin if abs(t - max(ends)) < abs(t - min(ends)) else min(ends) + margin
                stuck = False
            else:
                stuck = True
        else:
            stuck = False
        f_new, g_new = along(t)
        evaluations += 1
        slope_new = g_new.dot(d)
        rounds += 1
        point = [t, f_new, g_new, slope_new]
        if f_new > f + c1 * t * slope or f_new >= bracket[low][1]:
            bracket[high] = point
            low, high = (0, 1) if bracket[0][1] <= bracket[1][1] else (1, 0)
        else:
            if abs(slope_new) <= -c2 * slope:
                done = True
            elif slope_new * (bracket[high][0] - bracket[low][0]) >= 0:
                bracket[high] = bracket[low]
            bracket[low] = point
    t, f_new, g_new, _ = bracket[low]
    return f_new, g_new, t, evaluations
