"""Right answers in unusual forms, and plausible wrong ones: each is a right one with one place changed. They were written from the stubs
alone, before their author saw the probes and the banks, in two lists. In the first, three of 35 right ones lack what the question asks for, and
none of the others was lost; of 176 wrong ones four were accepted, which the probes now refuse (a root that is a leaf, of 07.e, is still one).
In the second, written afterwards, none of 12 right ones was lost and none of 90 wrong ones accepted.

The third list has the exercises that the first two leave out. Of 20 right ones three were lost: one missed a broken engine of 06.d, one had not
read the table of chapter 19, and one took the rows of 09.f for a tensor, which the stub did not say and now does. Of 124 wrong ones four were
accepted, which the drivers of chapter 15 and the probes of 16.c2 now refuse, and three hints were false.

A row: the exercise, the right answer, and for each wrong one its name, the place and what stands there instead.
"""

# ruff: noqa: E501  a program is one string

ROWS: list[tuple] = []


def a(id, code, *changes):
    ROWS.append((id, code, changes))


a(
    "01.b",
    """
def descend(loss, ws, lr, steps, h=1e-6):
    point = tuple(float(w) for w in ws)
    for _ in range(steps):
        g = []
        for i in range(len(point)):
            def along(t):
                moved = list(point); moved[i] += t
                return loss(moved)
            g.append((along(h) - along(-h)) / (2*h))
        point = tuple(p - lr*d for p, d in zip(point, g))
    return list(point)
""",
    ("forward h used twice", "/ (2*h)", "/ h"),
    ("uphill", "p - lr*d", "p + lr*d"),
    ("steps+1", "range(steps)", "range(steps+1)"),
    ("one less", "range(len(point))", "range(len(point)-1)"),
    ("lr ignored", "p - lr*d", "p - 0.1*d"),
    ("int start", "float(w)", "int(w)"),
    ("abs grad", "p - lr*d", "p - lr*abs(d)"),
    ("sign only", "p - lr*d", "p - lr*(d>0) + lr*(d<0)"),
)
a(
    "01.b",
    """
import numpy as np
def descend(loss, ws, lr, steps, h=1e-6):
    w = np.array(ws, dtype=float)
    eye = np.eye(len(w))
    for k in range(steps):
        slopes = [(loss(list(w + h*e)) - loss(list(w))) / h for e in eye]
        w = w - lr * np.array(slopes)
    return [float(v) for v in w]
""",
    ("coordinatewise steps", "w = w - lr * np.array(slopes)", "w = w - lr * np.array(slopes) / len(w)"),
    ("normalised", "w = w - lr * np.array(slopes)", "w = w - lr * np.array(slopes) / (np.linalg.norm(slopes)+1e-12)"),
    ("stops early", "for k in range(steps):", "for k in range(min(steps, 10)):"),
    ("momentum", "w = w - lr * np.array(slopes)", "w = w - lr * np.array(slopes) * (1 + 0.01*k)"),
)
a(
    "02.c",
    """
def walk(y):
    stack, seen, names = [y.grad_fn], set(), []
    while stack:
        n = stack.pop()
        if n is None or id(n) in seen: continue
        seen.add(id(n)); names += [n.name()]
        stack.extend(m for m, _ in n.next_functions)
    return names
""",
    ("twice", "if n is None or id(n) in seen: continue", "if n is None: continue"),
    ("root last", "return names", "return names[::-1]"),
    ("by name", "id(n) in seen", "n.name() in seen"),
    ("no leaves", "names += [n.name()]", "names += [n.name()] if n.next_functions else []"),
    ("set", "return names", "return sorted(set(names))"),
    ("first only", "for m, _ in n.next_functions)", "for m, _ in n.next_functions[:1])"),
)
a(
    "02.c",
    """
def walk(y):
    order = {}
    def go(n):
        if n is not None and n not in order:
            order[n] = n.name()
            for pair in n.next_functions: go(pair[0])
    go(y.grad_fn)
    return list(order.values())
""",
    ("None named", "if n is not None and n not in order:", "if n not in order:"),
    ("class name", "n.name()", "type(n).__name__.lower()"),
)
a(
    "03.b",
    """
from functools import lru_cache
def slope(graph, root, leaf):
    import sys
    users = {}
    for out, ins in graph.items():
        for name, s in ins: users.setdefault(name, []).append((out, s))
    d = {root: 1.0}
    for name in reversed(list(graph)):
        if name != root:
            d[name] = sum(d[u]*s for u, s in users.get(name, []))
    return d[leaf]
""",
    (
        "last only",
        "sum(d[u]*s for u, s in users.get(name, []))",
        "([d[u]*s for u, s in users.get(name, [])] or [0.0])[-1]",
    ),
    ("plus", "d[u]*s", "d[u]+s"),
    ("max", "sum(d[u]*s for u, s in users.get(name, []))", "max([d[u]*s for u, s in users.get(name, [])] or [0.0])"),
    ("no seed", "{root: 1.0}", "{root: 0.5}"),
    ("dict merges", "append((out, s))", "append((out, s)) if (out, s) not in users.get(name, []) else None"),
)
a(
    "03.b",
    """
def slope(graph, root, leaf):
    forward = {}
    for name, ins in graph.items():
        forward[name] = 1.0 if name == leaf else sum(forward[i]*s for i, s in ins)
    return forward[root]
""",
    ("unrelated root wrong", "return forward[root]", "return forward[list(graph)[-1]]"),
    ("abs", "forward[i]*s", "forward[i]*abs(s)"),
    ("dict of pairs", "for i, s in ins)", "for i, s in dict(ins).items())"),
)
a(
    "04.c",
    """
def run_ledger(rows, seed=1.0):
    g = {}
    if rows: g[rows[0][0]] = seed
    for out, op, ins in rows:
        (n1, v1), (n2, v2) = ins
        up = g.setdefault(out, 0.0)
        d1, d2 = {"+": (1, 1), "-": (1, -1), "*": (v2, v1), "max": (float(v1 > v2) or .5*(v1 == v2), float(v2 > v1) or .5*(v1 == v2))}[op]
        g[n1] = g.get(n1, 0.0) + up*d1
        g[n2] = g.get(n2, 0.0) + up*d2
    return g
""",
    ("seed ignored", "= seed", "= 1.0"),
    ("swap", "(v2, v1)", "(v1, v2)"),
    ("minus both", "(1, -1)", "(1, 1)"),
    ("assign first", "g[n1] = g.get(n1, 0.0) + up*d1", "g[n1] = up*d1"),
    ("assign second", "g[n2] = g.get(n2, 0.0) + up*d2", "g[n2] = up*d2"),
    ("no upstream", "up*d2", "d2"),
    ("min", "float(v1 > v2)", "float(v1 < v2)"),
    ("no root", "return g", "g.pop(rows[0][0]); return g"),
)
a(
    "05.a",
    """
class Value:
    def __init__(self, data, _prev=(), _op=""):
        self.data, self.grad, self._prev, self._op = data, 0.0, tuple(_prev), _op
        self._backward = lambda: None
    def __repr__(self): return f"Value({self.data})"
    @staticmethod
    def _of(x): return x if isinstance(x, Value) else Value(x)
    def _two(self, other, data, da, db, op):
        out = Value(data, (self, other), op)
        def run():
            self.grad += da*out.grad
            other.grad += db*out.grad
        out._backward = run
        return out
    def __add__(self, o): o = Value._of(o); return self._two(o, self.data+o.data, 1, 1, "+")
    def __sub__(self, o): o = Value._of(o); return self._two(o, self.data-o.data, 1, -1, "-")
    def __mul__(self, o): o = Value._of(o); return self._two(o, self.data*o.data, o.data, self.data, "*")
    def __truediv__(self, o): o = Value._of(o); return self._two(o, self.data/o.data, 1/o.data, -self.data/o.data**2, "/")
    def __radd__(self, o): return Value._of(o) + self
    def __rsub__(self, o): return Value._of(o) - self
    def __rmul__(self, o): return Value._of(o) * self
    def __rtruediv__(self, o): return Value._of(o) / self
    def __neg__(self): return self * -1
    def _one(self, data, d, op):
        out = Value(data, (self,), op)
        def run(): self.grad += d*out.grad
        out._backward = run
        return out
    def __pow__(self, n): return self._one(self.data**n, n*self.data**(n-1) if n else 0.0, "**")
    def relu(self): return self._one(max(0.0, self.data), float(self.data > 0), "relu")
""",
    ("rsub", "return Value._of(o) - self", "return self - Value._of(o)"),
    ("rdiv", "return Value._of(o) / self", "return self / Value._of(o)"),
    ("pow n", "n*self.data**(n-1) if n else 0.0", "n*self.data**n if n else 0.0"),
    ("relu passes all", "float(self.data > 0)", "1.0"),
    ("relu value", "max(0.0, self.data)", "abs(self.data)"),
    ("div sign", "-self.data/o.data**2", "self.data/o.data**2"),
    ("div", "-self.data/o.data**2", "-1/o.data**2"),
    ("= for +=", "self.grad += da*out.grad", "self.grad = da*out.grad"),
    ("no upstream", "other.grad += db*out.grad", "other.grad += db"),
    ("prev list", "(self, other), op)", "(self,), op)"),
    ("mul wrong", 'o.data, self.data, "*"', 'self.data, o.data, "*"'),
    ("neg", "return self * -1", 'return Value(-self.data, (self,), "neg")'),
    ("one: overwritten", "self.grad += d*out.grad", "self.grad = d*out.grad"),
)
a(
    "05.b",
    """
def backward(root):
    import collections
    waiting = collections.Counter()
    stack, seen = [root], {id(root)}
    while stack:
        v = stack.pop()
        for p in v._prev:
            waiting[id(p)] += 1
            if id(p) not in seen:
                seen.add(id(p)); stack.append(p)
    root.grad = 1.0
    ready = [root]
    while ready:
        v = ready.pop()
        v._backward()
        for p in v._prev:
            waiting[id(p)] -= 1
            if waiting[id(p)] == 0: ready.append(p)
""",
    ("seed added twice", "root.grad = 1.0", "root.grad += 2.0"),
    ("no seed", "root.grad = 1.0", "pass"),
    ("not waiting", "if waiting[id(p)] == 0: ready.append(p)", "ready.append(p)"),
    (
        "first arrival",
        "if waiting[id(p)] == 0: ready.append(p)",
        "if waiting[id(p)] >= 0 and p not in ready: ready.append(p)",
    ),
    (
        "distinct parents",
        "for p in v._prev:\n            waiting[id(p)] += 1",
        "for p in {id(q): q for q in v._prev}.values():\n            waiting[id(p)] += 1",
    ),
    ("grads reset", "v._backward()\n", "v._backward()\n        v.grad = 0.0 if v._prev else v.grad\n"),
)
a(
    "05.b",
    """
def backward(root):
    order = []
    done = set()
    def visit(v):
        if id(v) in done: return
        done.add(id(v))
        [visit(p) for p in reversed(v._prev)]
        order.append(v)
    visit(root)
    root.grad = 1.0
    while order: order.pop()._backward()
""",
    (
        "preorder",
        "done.add(id(v))\n        [visit(p) for p in reversed(v._prev)]\n        order.append(v)",
        "done.add(id(v))\n        order.insert(0, v)\n        [visit(p) for p in reversed(v._prev)]",
    ),
    ("from leaves", "order.pop()", "order.pop(0)"),
    ("by equality of data", "id(v) in done", "v.data in done"),
)
a(
    "05.d",
    """
def backward_deep(root):
    count, todo, seen = {}, [root], {root}
    while todo:
        v = todo.pop()
        for p in v._prev:
            count[p] = count.get(p, 0) + 1
            if p not in seen: seen.add(p); todo.append(p)
    root.grad = 1.0
    todo = [root]
    while todo:
        v = todo.pop(); v._backward()
        for p in v._prev:
            count[p] -= 1
            if not count[p]: todo.append(p)
""",
    ("no order", "if not count[p]: todo.append(p)", "todo.append(p) if p._prev else None"),
    ("no seed", "root.grad = 1.0\n    todo", "todo"),
)
a(
    "06.c",
    """
def gradcheck(f, xs):
    wrong = []
    vs = [Value(float(x)) for x in xs]
    backward(f(*vs))
    for i, v in enumerate(vs):
        h = 1e-5 * max(1.0, abs(xs[i]))
        def at(d):
            ys = [float(x) for x in xs]; ys[i] += d
            return f(*[Value(y) for y in ys]).data
        number = (at(h) - at(-h)) / (2*h)
        if not abs(number - v.grad) <= 1e-3 * max(abs(number), abs(v.grad)) + 1e-7:
            wrong.append(i)
    return wrong
""",
    ("10 percent", "1e-3", "0.1"),
    ("first only", "for i, v in enumerate(vs):", "for i, v in enumerate(vs[:1]):"),
    (
        "nan passes",
        "if not abs(number - v.grad) <= 1e-3 * max(abs(number), abs(v.grad)) + 1e-7:",
        "if abs(number - v.grad) > 1e-3 * max(abs(number), abs(v.grad)) + 1e-7:",
    ),
    ("signless", "abs(number - v.grad)", "abs(abs(number) - abs(v.grad))"),
    ("absolute only", "1e-3 * max(abs(number), abs(v.grad)) + 1e-7", "0.01"),
    ("values not positions", "wrong.append(i)", "wrong.append(xs[i])"),
    (
        "accumulated",
        "vs = [Value(float(x)) for x in xs]\n    backward(f(*vs))",
        "vs = [Value(float(x)) for x in xs]\n    backward(f(*vs)); backward(f(*vs))",
    ),
)
a(
    "07.d",
    """
def accumulate(w, batches):
    batches = [list(b) for b in batches]
    total = sum(map(len, batches))
    w.grad = 0.0
    for b in batches:
        if b: backward(sum((w*x - y)**2 for x, y in b) * (1/total))
""",
    ("old kept", "w.grad = 0.0", "pass"),
    ("mean of means", "* (1/total)", "* (1/len(b)/len(batches))"),
    ("sum", "* (1/total)", "* 1"),
    ("zero inside", "for b in batches:", "for b in batches:\n        w.grad = 0.0"),
    ("mean each", "* (1/total)", "* (1/len(b))"),
)
a(
    "07.e",
    """
def backward_again(root):
    order, seen = [], set()
    def visit(v):
        if v in seen: return
        seen.add(v)
        for p in v._prev: visit(p)
        order.append(v)
    visit(root)
    for v in order:
        if v._prev: v.grad = 0.0
    root.grad = root.grad + 1.0 if not root._prev else 1.0
    for v in reversed(order): v._backward()
""",
    ("no clearing", "if v._prev: v.grad = 0.0", "pass"),
    ("all cleared", "if v._prev: v.grad = 0.0", "v.grad = 0.0"),
    (
        "seed adds",
        "root.grad = root.grad + 1.0 if not root._prev else 1.0",
        "root.grad += 1.0 if not root._prev else 2.0",
    ),
)
a(
    "07.b",
    """
def train(w, data, steps, lr):
    def gradient():
        w.grad = 0.0
        backward(sum((w * x - y) ** 2 for x, y in data))
        return w.grad
    first = gradient()
    for _ in range(steps):
        w.data -= lr * gradient()
    return first, w.data
""",
    ("kept", "        w.grad = 0.0\n", "        pass\n"),
    ("first missing", "first = gradient()", "first = 0.0"),
    ("one more", "range(steps)", "range(steps + 1)"),
)
a(
    "07.c",
    """
def with_momentum(w, data, steps, lr, mu):
    w.grad = 0.0
    for _ in range(steps):
        w.grad = mu * w.grad
        backward(sum((w * x - y) ** 2 for x, y in data))
        w.data = w.data - lr * w.grad
    return w.data
""",
    ("dampened", "lr * w.grad\n", "lr * (1 - mu) * w.grad\n"),
    ("1-mu", "mu * w.grad", "(1 - mu) * w.grad"),
)
a(
    "08.b",
    """
def find_v(J, wanted):
    (p, q), (r, s) = J
    a, b = wanted
    det = p*s - q*r
    if abs(det) > 1e-12:
        return [(a*s - b*r)/det, (b*p - a*q)/det]
    for v in ([1, 0], [0, 1]):
        row = [v[0]*p + v[1]*r, v[0]*q + v[1]*s]
        n = row[0]**2 + row[1]**2
        if n > 0:
            t = (a*row[0] + b*row[1])/n
            if abs(t*row[0]-a) < 1e-9 and abs(t*row[1]-b) < 1e-9: return [t*v[0], t*v[1]]
            return None
    return [0, 0] if a == b == 0 else None
""",
    ("transposed", "return [(a*s - b*r)/det, (b*p - a*q)/det]", "return [(a*s - b*q)/det, (b*p - a*r)/det]"),
    ("singular None", "for v in ([1, 0], [0, 1]):", "for v in ():"),
    ("det sign", "det = p*s - q*r", "det = p*s + q*r"),
    ("no None", "return None\n    return", "return [t*v[0], t*v[1]]\n    return"),
)
a(
    "08.c",
    """
def jacobian(f, xs, Value, backward):
    n = len(f([Value(x) for x in xs]))
    rows = []
    for i in range(n):
        vs = [Value(x) for x in xs]
        y = f(vs)[i]
        backward(y)
        rows.append([v.grad for v in vs])
    return rows
""",
    ("columns", "return rows", "return [list(c) for c in zip(*rows)]"),
    (
        "accumulated",
        "        vs = [Value(x) for x in xs]\n        y = f(vs)[i]",
        "        vs = vs if i else [Value(x) for x in xs]\n        y = f(vs)[i]",
    ),
    ("reversed", "range(n)", "reversed(range(n))"),
    ("grad of data", "v.grad for v in vs", "v.data for v in vs"),
)
a(
    "09.c",
    """
def unbroadcast(g, shape):
    import numpy as np
    pad = (1,)*(g.ndim - len(shape)) + tuple(shape)
    axes = tuple(i for i, n in enumerate(pad) if n == 1)
    return g.sum(axis=axes).reshape(shape)
""",
    ("mean", "g.sum(axis=axes)", "g.mean(axis=axes)"),
    (
        "first axis only",
        "axes = tuple(i for i, n in enumerate(pad) if n == 1)",
        "axes = tuple(i for i, n in enumerate(pad) if n == 1)[:1]",
    ),
    ("right pad", "(1,)*(g.ndim - len(shape)) + tuple(shape)", "tuple(shape) + (1,)*(g.ndim - len(shape))"),
    ("leading only", "if n == 1", "if n == 1 and i < g.ndim - len(shape)"),
    ("max", "g.sum(axis=axes)", "g.max(axis=axes)"),
)
a(
    "09.d",
    """
import numpy as np
def conv1d_backward(g, x, k):
    n, m = len(x), len(k)
    M = np.zeros((n - m + 1, n))
    for i in range(n - m + 1): M[i, i:i+m] = k
    W = np.array([x[i:i+m] for i in range(n - m + 1)]).reshape(-1, m)
    return M.T @ g, W.T @ g
""",
    ("flipped k", "M[i, i:i+m] = k", "M[i, i:i+m] = k[::-1]"),
    ("swapped", "return M.T @ g, W.T @ g", "return W.T @ g, M.T @ g"),
    ("flipped gk", "W.T @ g", "(W.T @ g)[::-1]"),
    ("no x", "W.T @ g", "np.full(m, g.sum())"),
    ("mean", "W.T @ g", "W.T @ g / len(g)"),
)
a(
    "10.c",
    """
import minigrad as torch
def ema_update(teacher, student, m):
    with torch.no_grad():
        for t, s in zip(teacher, student):
            t.copy_(m*t + (1-m)*s)
""",
    ("swapped m", "m*t + (1-m)*s", "(1-m)*t + m*s"),
    ("rebinds", "t.copy_(m*t + (1-m)*s)", "t = m*t + (1-m)*s"),
    ("student too", "t.copy_(m*t + (1-m)*s)", "t.copy_(m*t + (1-m)*s); s.copy_(t)"),
    ("first only", "zip(teacher, student)", "zip(teacher[:1], student)"),
)
a(
    "10.d",
    """
def truncated(step, h, xs, k):
    total, count = None, 0
    for x in xs:
        h, loss = step(h, x)
        total = loss if total is None else total + loss
        count += 1
        if count == k:
            total.backward(); h = h.detach(); total, count = None, 0
    if total is not None: total.backward()
    return h.detach()
""",
    ("last lost", "    if total is not None: total.backward()\n", ""),
    ("not detached", "h = h.detach(); ", ""),
    ("k+1", "if count == k", "if count == k + 1"),
    ("last loss only", "loss if total is None else total + loss", "loss"),
    ("graph kept", "return h.detach()", "return h"),
    ("mean", "total.backward(); h", "(total/k).backward(); h"),
)
a(
    "11.b",
    """
import minigrad as torch
def hvp(f, x, v):
    x = x.detach().clone().requires_grad_()
    g, = torch.autograd.grad(f(x), x, create_graph=True)
    out, = torch.autograd.grad((g*v).sum(), x)
    return out
def hvp_nudged(grad, x, v, h=1e-4):
    return (grad(x + h*v) - grad(x - h*v)) * (0.5/h)
""",
    ("half", "(0.5/h)", "(1/h)"),
    ("no h scale", "x - h*v", "x"),
    ("g not v", "(g*v).sum()", "(g*g).sum()/2"),
    ("diag", "(grad(x + h*v) - grad(x - h*v)) * (0.5/h)", "(grad(x + h) - grad(x - h)) * (0.5/h) * v"),
)
a(
    "11.d",
    """
def derivatives(v, w, b, x):
    on = 1.0 if w*x + b > 0 else 0.0
    s = v*w*on
    return [0.0, v*on, w*on, 2*(s-1)*v*on]
""",
    ("no off", "1.0 if w*x + b > 0 else 0.0", "1.0"),
    ("P forgets 2", "2*(s-1)", "(s-1)"),
    ("swapped", "v*on, w*on", "w*on, v*on"),
    ("x", "[0.0,", "[v*w*on,"),
    ("b ignored", "w*x + b > 0", "w*x > 0"),
)
a(
    "12.b",
    """
from math import cos, exp, sin
class Dual:
    def __init__(self, value, derivative=0.0): self.value, self.derivative = value, derivative
    def __repr__(self): return f"{self.value} + {self.derivative}e"
    def _d(x): return x if isinstance(x, Dual) else Dual(x)
    def __add__(self, o): o = Dual._d(o); return Dual(self.value+o.value, self.derivative+o.derivative)
    __radd__ = __add__
    def __neg__(self): return Dual(-self.value, -self.derivative)
    def __sub__(self, o): return self + (-Dual._d(o))
    def __rsub__(self, o): return Dual._d(o) + (-self)
    def __mul__(self, o): o = Dual._d(o); return Dual(self.value*o.value, self.derivative*o.value + self.value*o.derivative)
    __rmul__ = __mul__
    def __truediv__(self, o): o = Dual._d(o); q = self.value/o.value; return Dual(q, (self.derivative - q*o.derivative)/o.value)
    def __rtruediv__(self, o): return Dual._d(o) / self
    def __pow__(self, n): return Dual(self.value**n, 0.0 if n == 0 else n*self.value**(n-1)*self.derivative)
    def sin(self): return Dual(sin(self.value), cos(self.value)*self.derivative)
    def exp(self): e = exp(self.value); return Dual(e, e*self.derivative)
    def __lt__(self, o): return self.value < Dual._d(o).value
    def __gt__(self, o): return self.value > Dual._d(o).value
""",
    ("rsub", "return Dual._d(o) + (-self)", "return self - o"),
    ("mul", "self.derivative*o.value + self.value*o.derivative", "self.derivative*o.derivative"),
    ("quot", "(self.derivative - q*o.derivative)/o.value", "(self.derivative + q*o.derivative)/o.value"),
    ("pow", "n*self.value**(n-1)*self.derivative", "n*self.value**(n-1)"),
    ("sin", "cos(self.value)*self.derivative", "cos(self.value)"),
    ("lt deriv", "self.value < Dual._d(o).value", "self.derivative < Dual._d(o).derivative"),
    ("add", "self.derivative+o.derivative", "self.derivative"),
    ("rdiv", "return Dual._d(o) / self", "return self / o"),
    ("neg", "-self.value, -self.derivative", "-self.value, self.derivative"),
)
a(
    "16.b",
    """
def checkpointed_chain(layers, x, g):
    n = len(layers); s = max(1, round(n ** 0.5))
    saved = []
    for i, layer in enumerate(layers):
        if i % s == 0: saved.append(x)
        x = layer.forward(x)
    for start in range((n - 1)//s*s, -1, -s):
        xs = [saved.pop()]
        block = layers[start:start+s]
        for layer in block[:-1]: xs.append(layer.forward(xs[-1]))
        for layer, inp in zip(reversed(block), reversed(xs)): g = layer.backward(inp, g)
    return x, g
""",
    ("keeps all", "if i % s == 0:", "if True:"),
    ("out", "return x, g", "return g, x"),
    ("order", "zip(reversed(block), reversed(xs))", "zip(block, xs)"),
)
a(
    "16.d",
    """
import numpy as np
def scaled_step(w, backward, scale, lr):
    g = backward(np.float16(scale)).astype(np.float32)
    if not np.isfinite(g).all(): return w, scale / 2
    return w - np.float32(lr) * (g / np.float32(scale)), scale
""",
    ("no unscale", "(g / np.float32(scale))", "g"),
    ("any finite", "np.isfinite(g).all()", "np.isfinite(g).any()"),
    ("inf only", "not np.isfinite(g).all()", "np.isinf(g).any()"),
    ("step anyway", "return w, scale / 2", "return w - np.float32(lr)*np.nan_to_num(g/np.float32(scale)), scale / 2"),
    ("scale doubles", "lr) * (g / np.float32(scale)), scale", "lr) * (g / np.float32(scale)), scale * 2"),
    ("zero", "scale / 2", "scale - 1"),
)
a(
    "17.c",
    """
import minigrad as torch
def attention(q, k, v, causal):
    d = q.shape[-1]
    scores = torch.einsum("bhid,bhjd->bhij", q, k) * d ** -0.5
    if causal:
        n = q.shape[-2]
        scores = scores + torch.full((n, n), float("-inf")).triu(1)
    return scores.softmax(-1) @ v
""",
    ("no scale", "* d ** -0.5", "* 1.0"),
    ("dim 2", "scores.softmax(-1)", "scores.softmax(-2)"),
    ("strict mask", "triu(1)", "triu(0)*0 + torch.full((n,n), float('-inf')).triu(2)"),
    ("future", "triu(1)", "tril(-1)"),
    ("causal always", "if causal:", "if True:"),
    ("scale d", "d ** -0.5", "1/d"),
    ("k q swapped", '"bhid,bhjd->bhij", q, k', '"bhid,bhjd->bhij", k, q'),
)
a(
    "18.c",
    """
import math
def anomaly(root):
    order, seen = [], set()
    def visit(v):
        if id(v) not in seen:
            seen.add(id(v))
            for p in v._prev: visit(p)
            order.append(v)
    visit(root)
    root.grad = 1.0
    for v in reversed(order):
        before = [(p, p.grad) for p in v._prev]
        own = {}
        for p, g in {id(p): (p, p.grad) for p in v._prev}.values(): own[id(p)] = g; p.grad = 0.0
        v._backward()
        bad = any(math.isnan(p.grad) for p in v._prev)
        for p in {id(p): p for p in v._prev}.values(): p.grad = own[id(p)] + p.grad
        if bad: return v
    return None
""",
    ("reports inf", "math.isnan(p.grad)", "not math.isfinite(p.grad)"),
    ("parent", "if bad: return v", "if bad: return v._prev[0]"),
    ("goes on", "if bad: return v", "if bad: found = v"),
    (
        "sums too",
        "bad = any(math.isnan(p.grad) for p in v._prev)\n        for p in {id(p): p for p in v._prev}.values(): p.grad = own[id(p)] + p.grad",
        "for p in {id(p): p for p in v._prev}.values(): p.grad = own[id(p)] + p.grad\n        bad = any(math.isnan(p.grad) for p in v._prev)",
    ),
    ("no add", "own[id(p)] + p.grad", "p.grad"),
)
a(
    "13.b",
    """
import minigrad as torch
class MultiplyAdd(torch.autograd.Function):
    @staticmethod
    def forward(a, b, c): return torch.addcmul(c, a, b)
    @staticmethod
    def setup_context(ctx, inputs, output): ctx.save_for_backward(*inputs[:2])
    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return b*g, a*g, g.clone()
""",
    ("swap", "b*g, a*g", "a*g, b*g"),
    ("no g", "g.clone()", "torch.ones_like(g)"),
    ("neg", "g.clone()", "-g"),
    ("attr", "ctx.save_for_backward(*inputs[:2])", "ctx.save_for_backward(inputs[0], inputs[0])"),
    ("none", "g.clone()", "None"),
)
a(
    "12.c",
    """
import minigrad as torch
def jacobian(f, x):
    n, m = x.numel(), f(x).numel()
    if n < m:
        cols = torch.func.vmap(lambda t: torch.func.jvp(f, (x,), (t,))[1])(torch.eye(n, dtype=x.dtype))
        return cols.T
    y, pull = torch.func.vjp(f, x)
    return torch.func.vmap(lambda c: pull(c)[0])(torch.eye(m, dtype=x.dtype))
""",
    ("not transposed", "return cols.T", "return cols"),
    ("always reverse", "if n < m", "if False"),
    ("always forward", "if n < m", "if True"),
    ("forward on ties", "if n < m", "if n <= m"),
    ("wrong way", "if n < m", "if n > m"),
)
a(
    "12.d",
    """
import minigrad as torch
def clipped_gradient(model, inputs, targets, most):
    total = {name: torch.zeros_like(p) for name, p in model.named_parameters()}
    for x, y in zip(inputs, targets):
        loss = ((model(x) - y)**2).sum()
        gs = torch.autograd.grad(loss, list(model.parameters()))
        norm = sum((g**2).sum() for g in gs) ** 0.5
        factor = 1.0 if norm <= most else most / norm
        for (name, _), g in zip(model.named_parameters(), gs): total[name] = total[name] + factor*g
    return total
""",
    ("mean", "return total", "return {n: t/len(inputs) for n, t in total.items()}"),
    ("per tensor", "factor*g", "g * min(1.0, float(most/((g**2).sum()**0.5 + 1e-12)))"),
    ("up too", "1.0 if norm <= most else most / norm", "most / norm"),
    ("no clip", "1.0 if norm <= most else most / norm", "1.0"),
)
a(
    "17.b",
    """
import minigrad as torch
def step(params, state, lr=0.01, max_norm=1.0, b1=0.9, b2=0.999, eps=1e-8, decay=0.01):
    state.setdefault("t", 0); state["t"] += 1; t = state["t"]
    with torch.no_grad():
        norm = torch.sqrt(sum((p.grad**2).sum() for p in params))
        c = torch.clamp(max_norm / (norm + 1e-6), max=1.0)
        for i, p in enumerate(params):
            g = p.grad * c
            m, v = state.get(i, (torch.zeros_like(p), torch.zeros_like(p)))
            m = b1*m + (1-b1)*g
            v = b2*v + (1-b2)*g*g
            state[i] = m, v
            p *= 1 - lr*decay
            p -= lr * (m/(1-b1**t)) / (torch.sqrt(v/(1-b2**t)) + eps)
""",
    ("no bias m", "(m/(1-b1**t))", "m"),
    ("no bias v", "v/(1-b2**t)", "v"),
    ("eps inside", "(torch.sqrt(v/(1-b2**t)) + eps)", "torch.sqrt(v/(1-b2**t) + eps)"),
    ("decay no lr", "1 - lr*decay", "1 - decay"),
    ("L2", "p *= 1 - lr*decay", "p *= 1"),
    ("per tensor clip", "g = p.grad * c", "g = p.grad * torch.clamp(max_norm/((p.grad**2).sum()**0.5+1e-6), max=1.0)"),
    ("b2 for b1", "b1*m + (1-b1)*g", "b2*m + (1-b2)*g"),
    ("v unsquared", "(1-b2)*g*g", "(1-b2)*g.abs()"),
    ("always scaled", ", max=1.0)\n        for", ", max=1e9)\n        for"),
)
a(
    "16.c",
    """
def halving_chain(layers, x, g):
    if len(layers) == 1: return layers[0].backward(x, g)
    h = len(layers)//2
    y = x
    for layer in layers[:h]: y = layer.forward(y)
    g = halving_chain(layers[h:], y, g)
    return halving_chain(layers[:h], x, g)
""",
    (
        "first half first",
        "    g = halving_chain(layers[h:], y, g)\n    return halving_chain(layers[:h], x, g)",
        "    g = halving_chain(layers[:h], x, g)\n    return halving_chain(layers[h:], y, g)",
    ),
    ("x for y", "halving_chain(layers[h:], y, g)", "halving_chain(layers[h:], x, g)"),
)
a(
    "02.d",
    """
class GraphCycleError(Exception):
    pass
def values_of(root):
    state, order = {}, []
    stack = [(root, iter(root._prev))]
    state[id(root)] = "open"
    while stack:
        v, it = stack[-1]
        for p in it:
            s = state.get(id(p))
            if s == "open": raise GraphCycleError("cycle")
            if s is None:
                state[id(p)] = "open"
                stack.append((p, iter(p._prev)))
                break
        else:
            state[id(v)] = "done"; order.append(v); stack.pop()
    return order
""",
    ("diamond refused", 'if s == "open": raise', "if s: raise"),
    ("never raises", 'if s == "open": raise GraphCycleError("cycle")', "pass"),
    ("no root", "return order", "return order[:-1]"),
)

# The second list
a(
    "13.c",
    """
import minigrad as torch
class Quantise(torch.autograd.Function):
    @staticmethod
    def forward(x, bits):
        top = 2**bits - 1
        return ((x.clamp(-1, 1) + 1) / 2 * top).round() / top * 2 - 1
    @staticmethod
    def setup_context(ctx, inputs, output):
        x, bits = inputs
        ctx.save_for_backward((x >= -1) & (x <= 1))
    @staticmethod
    def backward(ctx, g):
        inside, = ctx.saved_tensors
        return torch.where(inside, g, torch.zeros_like(g)), None
""",
    ("levels", "2**bits - 1", "2**bits"),
    ("floor", ".round()", ".floor()"),
    ("no clamp", "x.clamp(-1, 1)", "x"),
    ("strict", "(x >= -1) & (x <= 1)", "(x > -1) & (x < 1)"),
    ("passes all", "torch.where(inside, g, torch.zeros_like(g))", "g"),
    ("one", "torch.where(inside, g,", "torch.where(inside, torch.ones_like(g),"),
    ("inverted", "torch.where(inside, g, torch.zeros_like(g))", "torch.where(inside, torch.zeros_like(g), g)"),
    ("0..1", "/ top * 2 - 1", "/ top"),
    ("upper side only", "(x >= -1) & (x <= 1)", "x <= 1"),
)
a(
    "13.d",
    """
import minigrad as torch
def fixed_point(f, a):
    with torch.no_grad():
        x = torch.ones_like(a)
        for _ in range(1000):
            new = f(x, a)
            if torch.equal(new, x): break
            x = new
    x0 = x.detach().requires_grad_()
    with torch.enable_grad():
        y = f(x0, a)
    (slope,) = torch.autograd.grad(y, x0, retain_graph=True)
    return x + (y - y.detach()) / (1 - slope)
""",
    ("one step", "(y - y.detach()) / (1 - slope)", "(y - y.detach())"),
    ("plus", "(1 - slope)", "(1 + slope)"),
    ("10 its", "range(1000)", "range(10)"),
    ("start 0", "torch.ones_like(a)", "torch.zeros_like(a)"),
    ("no value", "x + (y - y.detach())", "y.detach() * 0 + (y - y.detach())"),
    ("inverse", "/ (1 - slope)", "* (1 - slope)"),
)
a(
    "14.b",
    """
import math
def cross_entropy(scores, target):
    m = max(s.data for s in scores)
    es = [math.exp(s.data - m) for s in scores]
    total = sum(es)
    out = Value(m + math.log(total) - scores[target].data, tuple(scores), "ce")
    def _backward():
        for i, s in enumerate(scores):
            s.grad += out.grad * (es[i]/total - (1.0 if i == target else 0.0))
    out._backward = _backward
    return out
""",
    ("no max", "m = max(s.data for s in scores)", "m = 0.0"),
    ("log base", "math.log(total)", "math.log2(total)"),
    ("sign", "- (1.0 if i == target", "+ (1.0 if i == target"),
    ("no upstream", "out.grad * (", "1.0 * ("),
    ("overwrites", "s.grad += ", "s.grad = "),
    ("only target", "for i, s in enumerate(scores):", "for i, s in [(target, scores[target])]:"),
    ("no m", "m + math.log(total)", "math.log(total)"),
    ("target 0", "scores[target].data", "scores[0].data"),
    ("not normalised", "es[i]/total", "es[i]"),
)
a(
    "14.b2",
    """
import numpy as np
def cross_entropy_rows(z, targets, smoothing=0.0):
    N, C = z.shape
    s = z - z.max(axis=1, keepdims=True)
    logp = s - np.log(np.exp(s).sum(axis=1, keepdims=True))
    t = np.full((N, C), smoothing / C)
    t[np.arange(N), targets] += 1 - smoothing
    return -(t * logp).sum() / N, (np.exp(logp) - t) / N
""",
    ("global max", "z.max(axis=1, keepdims=True)", "z.max()"),
    ("mean over all", "-(t * logp).sum() / N", "-(t * logp).mean()"),
    ("grad sum", "(np.exp(logp) - t) / N", "(np.exp(logp) - t)"),
    ("C-1", "smoothing / C", "smoothing / (C - 1)"),
    ("set", "+= 1 - smoothing", "= 1 - smoothing"),
    ("no smoothing grad", "(np.exp(logp) - t) / N", "(np.exp(logp) - np.eye(C)[targets]) / N"),
    ("axis 0", "np.exp(s).sum(axis=1, keepdims=True)", "np.exp(s).sum(axis=0, keepdims=True)"),
    ("sign", "(np.exp(logp) - t) / N", "(t - np.exp(logp)) / N"),
    ("loss sign", "-(t * logp).sum() / N", "(t * logp).sum() / N"),
)
a(
    "14.c",
    """
import numpy as np
def rms_norm_backward(g, x, gamma, eps=1e-5):
    r = np.sqrt((x*x).mean(-1, keepdims=True) + eps)
    n = x / r
    u = g * gamma
    return (u - n * (u*n).mean(-1, keepdims=True)) / r, (g * n).sum(0)
""",
    ("direct only", "(u - n * (u*n).mean(-1, keepdims=True)) / r", "u / r"),
    ("no gamma", "u = g * gamma", "u = g"),
    ("sum", "(u*n).mean(-1", "(u*n).sum(-1"),
    ("layer norm", "(u - n *", "(u - u.mean(-1, keepdims=True) - n *"),
    ("gamma mean", "(g * n).sum(0)", "(g * n).mean(0)"),
    ("gamma x", "(g * n).sum(0)", "(g * x).sum(0)"),
    ("eps out", "+ eps)", ") + eps"),
    ("u for g", "(g * n).sum(0)", "(u * n).sum(0)"),
    ("r2", "keepdims=True)) / r,", "keepdims=True)) / r**2,"),
    ("x for n", "u - n *", "u - x *"),
)
a(
    "06.b",
    """
import math
def teach(Value):
    def unary(name, compute, slope):
        def method(self):
            y = compute(self.data)
            out = Value(y, (self,), name)
            def _backward(): self.grad += slope(self.data, y) * out.grad
            out._backward = _backward
            return out
        setattr(Value, name, method)
    unary("exp", math.exp, lambda x, y: y)
    unary("log", math.log, lambda x, y: 1/x)
    unary("tanh", math.tanh, lambda x, y: 1 - y*y)
    def atan2(self, other):
        other = other if isinstance(other, Value) else Value(other)
        y, x = self.data, other.data
        d = x*x + y*y
        out = Value(math.atan2(y, x), (self, other), "atan2")
        def _backward():
            self.grad += x/d * out.grad
            other.grad -= y/d * out.grad
        out._backward = _backward
        return out
    Value.atan2 = atan2
""",
    ("exp x", "lambda x, y: y)", "lambda x, y: x)"),
    ("log", "lambda x, y: 1/x", "lambda x, y: x"),
    ("tanh", "1 - y*y", "1 - x*x"),
    ("atan2 args", "math.atan2(y, x)", "math.atan2(x, y)"),
    ("sign", "other.grad -=", "other.grad +="),
    ("swap", "self.grad += x/d", "self.grad += y/d"),
    ("no d", "x/d * out.grad", "x * out.grad"),
    ("sqrt d", "d = x*x + y*y", "d = (x*x + y*y)**0.5"),
    ("overwrite", "self.grad += slope", "self.grad = slope"),
    ("late", "slope(self.data, y) * out.grad", "slope(self.data, out.data)"),
)
a(
    "18.b",
    """
import minigrad as torch
from minigrad import nn
def flat(layer, y):
    if isinstance(layer, nn.ReLU): return (y == 0).float().mean().item()
    if isinstance(layer, nn.Tanh): return (y.abs() > 0.97).float().mean().item()
    return 0.0
class watch:
    def __init__(self, model): self.model = model
    def __enter__(self):
        self.seen, self.handles = {}, []
        for name, layer in self.model.named_modules():
            if next(layer.children(), None) is None:
                self.seen[name] = []
                def hook(module, args, y, name=name):
                    y = y.detach()
                    self.seen[name].append((y.mean().item(), y.std().item(), flat(module, y)))
                self.handles.append(layer.register_forward_hook(hook))
        return self.seen
    def __exit__(self, *error):
        for h in self.handles: h.remove()
""",
    ("hooks stay", "for h in self.handles: h.remove()", "pass"),
    ("late name", "y, name=name", "y"),
    ("all modules", "if next(layer.children(), None) is None:", "if True:"),
    ("swallows", "for h in self.handles: h.remove()", "for h in self.handles: h.remove()\n        return True"),
    ("var", "y.std()", "y.var()"),
    ("first removed", "for h in self.handles: h.remove()", "self.handles[0].remove()"),
    ("tensors", "y.mean().item()", "y.mean()"),
    ("abs mean", "y.mean().item()", "y.abs().mean().item()"),
    ("flat zero", "flat(module, y)", "0.0"),
    ("no return", "return self.seen", "return self"),
)
a(
    "09.e",
    """
import numpy as np
def teach_tensors(Tensor):
    def wrap(x): return x if isinstance(x, Tensor) else Tensor(x)
    def make(data, parents, rule, op):
        out = Tensor(data, parents, op)
        def run():
            for p, g in zip(parents, rule(out.grad)):
                p.grad = p.grad + g
        out._backward = run
        return out
    def add(self, other):
        other = wrap(other)
        return make(self.data + other.data, (self, other), lambda g: (unbroadcast(g, np.shape(self.data)), unbroadcast(g, np.shape(other.data))), "+")
    def multiply(self, other):
        other = wrap(other)
        return make(self.data * other.data, (self, other), lambda g: (unbroadcast(g*other.data, np.shape(self.data)), unbroadcast(g*self.data, np.shape(other.data))), "*")
    def matmul(self, other): return make(self.data @ other.data, (self, other), lambda g: (g @ other.data.T, self.data.T @ g), "@")
    def transpose(self): return make(self.data.T, (self,), lambda g: (g.T,), "T")
    def relu(self): return make(np.maximum(self.data, 0), (self,), lambda g: (g*(self.data > 0),), "relu")
    def exp(self):
        e = np.exp(self.data)
        return make(e, (self,), lambda g: (g*e,), "exp")
    def log(self): return make(np.log(self.data), (self,), lambda g: (g/self.data,), "log")
    def power(self, n): return make(self.data**n, (self,), lambda g: (g*n*self.data**(n-1),), "**")
    def sum(self, axis=None): return make(self.data.sum(axis=axis, keepdims=axis is not None), (self,), lambda g: (g*np.ones_like(self.data),), "sum")
    Tensor.__add__, Tensor.__mul__, Tensor.__matmul__, Tensor.T = add, multiply, matmul, property(transpose)
    Tensor.relu, Tensor.exp, Tensor.log, Tensor.__pow__, Tensor.sum = relu, exp, log, power, sum
""",
    (
        "no unbroadcast",
        "lambda g: (unbroadcast(g, np.shape(self.data)), unbroadcast(g, np.shape(other.data)))",
        "lambda g: (g, g)",
    ),
    ("mul swap", "unbroadcast(g*other.data, np.shape(self.data))", "unbroadcast(g*self.data, np.shape(self.data))"),
    ("matmul order", "self.data.T @ g", "g.T @ self.data"),
    ("matmul no T", "g @ other.data.T", "g @ other.data"),
    ("T", "lambda g: (g.T,)", "lambda g: (g,)"),
    ("relu", "g*(self.data > 0)", "g"),
    ("exp", "(g*e,)", "(g*self.data,)"),
    ("log", "(g/self.data,)", "(g*self.data,)"),
    ("pow", "g*n*self.data**(n-1)", "g*n*self.data**n"),
    ("overwrites", "p.grad = p.grad + g", "p.grad = g + 0*p.grad"),
    ("sum mean", "g*np.ones_like(self.data)", "g*np.ones_like(self.data)/self.data.size"),
    ("no keepdims", "keepdims=axis is not None", "keepdims=False"),
)
a(
    "14.d",
    """
import numpy as np
def network_gradients(chars, targets, C, W1, b1, gamma, beta, W2, b2):
    n = len(chars)
    emb = C[chars]; e = emb.reshape(n, -1)
    h = e @ W1.T + b1
    std = np.sqrt(h.var(axis=0) + 1e-5)
    h_hat = (h - h.mean(axis=0)) / std
    y = gamma * h_hat + beta
    a = np.tanh(y)
    z = a @ W2.T + b2
    G = {}
    p = np.exp(z - z.max(1, keepdims=True)); p /= p.sum(1, keepdims=True)
    p[np.arange(n), targets] -= 1
    G["z"] = p / n
    G["W2"], G["b2"], G["a"] = G["z"].T @ a, G["z"].sum(0), G["z"] @ W2
    G["y"] = G["a"] * (1 - a**2)
    G["gamma"], G["beta"] = (G["y"] * h_hat).sum(0), G["y"].sum(0)
    u = G["y"] * gamma
    G["h"] = (u - u.mean(0) - h_hat * (u * h_hat).mean(0)) / std
    G["W1"], G["b1"], G["e"] = G["h"].T @ e, G["h"].sum(0), G["h"] @ W1
    G["C"] = np.zeros_like(C)
    np.add.at(G["C"], chars, G["e"].reshape(emb.shape))
    return G
""",
    ("C last wins", 'np.add.at(G["C"], chars, G["e"].reshape(emb.shape))', 'G["C"][chars] = G["e"].reshape(emb.shape)'),
    ("C no dup", 'np.add.at(G["C"], chars, G["e"].reshape(emb.shape))', 'G["C"][chars] += G["e"].reshape(emb.shape)'),
    ("no n", "p / n", "p"),
    ("bn constant stats", "(u - u.mean(0) - h_hat * (u * h_hat).mean(0)) / std", "u / std"),
    ("bn no mean", "u - u.mean(0) - h_hat", "u - h_hat"),
    ("tanh y", "1 - a**2", "1 - y**2"),
    ("W2 T", 'G["z"].T @ a', '(G["z"].T @ a)[:, ::-1]'),
    ("gamma", '(G["y"] * h_hat).sum(0)', '(G["y"] * h).sum(0)'),
    ("beta mean", 'G["y"].sum(0)\n    u', 'G["y"].mean(0)\n    u'),
    ("h rows", "u.mean(0)", "u.mean(1, keepdims=True)"),
    ("var n-1", "h.var(axis=0)", "h.var(axis=0, ddof=1)"),
)
a(
    "01.c",
    """
def fooled(x):
    return (x * 1e5).sin()
""",
    ("smooth", "1e5", "1e1"),
)
a(
    "01.c",
    """
def fooled(x):
    return ((x * 2e6).cos() * 1e-3 + x) * 2
""",
    ("tiny", "1e-3", "1e-12"),
    ("cancel", "* 1e-3", "* 0"),
)


# The third list: the exercises that the first two leave out, written in the same way.
a(
    "05.c",
    """
import random

class MLP:
    def __init__(self, hidden=8):
        r = random.Random(1)
        def v(s=1.0):
            return Value(r.gauss(0.0, s))
        self.layer = [(v(), v(), v(0.1)) for _ in range(hidden)]
        self.out = [v() for _ in range(hidden)]
        self.c = Value(0.0)

    def parameters(self):
        return [p for unit in self.layer for p in unit] + self.out + [self.c]

    def __call__(self, x1, x2):
        total = self.c
        for (u, w, b), k in zip(self.layer, self.out):
            total = total + k * (u * x1 + w * x2 + b).relu()
        return total

def fit(points, labels, steps=300):
    model = MLP()
    r = random.Random(0)
    for s in range(steps):
        batch = r.sample(range(len(points)), 30)
        loss = Value(0.0)
        for i in batch:
            loss = loss + (1 - labels[i] * model(*points[i])).relu()
        loss = loss * (1 / len(batch))
        for p in model.parameters():
            p.grad = 0.0
        backward(loss)
        for p in model.parameters():
            p.data -= 0.4 * (1 - 0.8 * s / steps) * p.grad
    return model
""",
    ("uphill", "p.data -= 0.4", "p.data += 0.4"),
    ("never cleared", "p.grad = 0.0", "pass"),
    ("no backward", "backward(loss)", "pass"),
    ("relu on the score", "return total", "return total.relu()"),
    ("labels left out", "(1 - labels[i] * model(*points[i])).relu()", "(1 - model(*points[i])).relu()"),
    ("untrained", "for s in range(steps):", "for s in range(0):"),
    ("no relu in the units", "(u * x1 + w * x2 + b).relu()", "(u * x1 + w * x2 + b)"),
    ("x2 forgotten", "w * x2", "w * x1"),
    (
        "the output layer is not a parameter, nor the units",
        "[p for unit in self.layer for p in unit] + self.out + [self.c]",
        "[self.c]",
    ),
    ("a plain score", "return total", "return total.data"),
)
a(
    "06.d",
    """
import math

def accepts(Value, backward):
    def close(u, v):
        return abs(u - v) <= 1e-6 * (1 + abs(v))

    def grads(build, *numbers):
        leaves = [Value(n) for n in numbers]
        root = build(*leaves)
        backward(root)
        return root.data, [leaf.grad for leaf in leaves]

    def right(build, *numbers):
        data, got = grads(build, *numbers)
        if not close(data, build_plain(build, numbers)):
            return False
        for k in range(len(numbers)):
            up, down = list(numbers), list(numbers)
            up[k] += 1e-5
            down[k] -= 1e-5
            wanted = (build_plain(build, up) - build_plain(build, down)) / 2e-5
            if abs(got[k] - wanted) > 1e-4 * (1 + abs(wanted)):
                return False
        return True

    class Plain(float):
        def relu(self): return Plain(max(self, 0.0))
        def __add__(self, o): return Plain(float(self) + float(o))
        __radd__ = __add__
        def __mul__(self, o): return Plain(float(self) * float(o))
        __rmul__ = __mul__
        def __sub__(self, o): return Plain(float(self) - float(o))
        def __rsub__(self, o): return Plain(float(o) - float(self))
        def __truediv__(self, o): return Plain(float(self) / float(o))
        def __rtruediv__(self, o): return Plain(float(o) / float(self))
        def __pow__(self, n): return Plain(float(self) ** n)
        def __neg__(self): return Plain(-float(self))

    def build_plain(build, numbers):
        return float(build(*map(Plain, numbers)))

    programs = [
        (lambda a, b: a * b + a * a, 2.0, -3.0),
        (lambda a, b: (a + b) * (a + b) + a, 1.5, 0.25),
        (lambda a, b: a / b - b / a, 2.0, 3.0),
        (lambda a, b: (a - b) ** 3 + 2 * a, 2.5, 0.5),
        (lambda a, b: (a * b).relu() * b + (a - 5).relu(), 2.0, 3.0),
        (lambda a, b: 1 - a + 3 * b - (-a), 2.0, 3.0),
        (lambda a, b: 1 / a + b / 2 + 1 + (2 - b), 2.0, 3.0),
        (lambda a, b: a ** -2 + b ** 0.5 + b ** 2, 2.0, 3.0),
        (lambda a: a + a, 3.0),
        (lambda a: a * a * a, -2.0),
        (lambda a: (a.relu() + 1) * a, -2.0),
    ]
    def deep(a, b):
        x = a
        for _ in range(4):
            y = x * b
            x = y + y * x + x
        return x
    programs.append((deep, 0.3, 0.4))
    if not all(right(*p) for p in programs):
        return False
    x = Value(0.0)
    y = x.relu()
    backward(y)
    if x.grad != 0 or y.grad != 1:
        return False
    one = Value(2.0)
    two = 1 + one
    backward(two * 2)
    if not close(one.grad, 2.0):
        return False
    a, b = Value(2.0), Value(3.0)
    c = a * b
    d = c + a
    backward(d * c)
    if not (close(c.grad, 14.0) and close(d.grad, 6.0)):
        return False
    if (a.data, b.data, c.data) != (2.0, 3.0, 6.0):
        return False
    e = Value(1.0)
    e.grad = 10.0
    backward(e * 3)
    if not close(e.grad, 13.0):
        return False
    u, v = Value(2.0), Value(2.0)
    backward(u * 3 + v)
    return close(u.grad, 3.0) and close(v.grad, 1.0)
""",
    ("accepts everything", "    if not all(right(*p) for p in programs):\n        return False", "    return True"),
    ("rejects everything", "    if not all(right(*p) for p in programs):\n        return False", "    return False"),
    (
        "only the values",
        "            if abs(got[k] - wanted) > 1e-4 * (1 + abs(wanted)):\n                return False",
        "            pass",
    ),
    ("too strict", "abs(got[k] - wanted) > 1e-4 * (1 + abs(wanted))", "got[k] != wanted"),
    ("gradients of the sign", "abs(got[k] - wanted) > 1e-4 * (1 + abs(wanted))", "got[k] * wanted > 0"),
)
a(
    "11.c",
    """
import minigrad as torch

def largest_lr(loss, w, hvp):
    generator = torch.Generator().manual_seed(1)
    v = torch.randn(w.shape, generator=generator, dtype=w.dtype)
    v = v / v.norm()
    old = None
    for _ in range(5000):
        u = hvp(loss, w, v).detach()
        size = u.norm()
        value = (v * u).sum().item()
        v = u / size
        if old is not None and abs(value - old) < 1e-12 * abs(value):
            break
        old = value
    return 2 / value
""",
    ("1/λ", "return 2 / value", "return 1 / value"),
    ("λ itself", "return 2 / value", "return value"),
    ("one product", "range(5000)", "range(1)"),
    ("three products", "range(5000)", "range(3)"),
    ("never scaled", "v = u / size", "v = u"),
    ("v stays", "v = u / size", "pass"),
    ("λ/2", "return 2 / value", "return value / 2"),
    ("a constant", "return 2 / value", "return 0.1"),
    ("the sum of u", "value = (v * u).sum().item()", "value = u.sum().item()"),
    ("squared", "value = (v * u).sum().item()", "value = (u * u).sum().item()"),
)
a(
    "15.b",
    """
import minigrad as torch
from minigrad import nn

def patient_1(seed=3, steps=200):
    torch.manual_seed(seed)
    x = torch.randn(200, 2)
    wanted = (x[:, 0] * x[:, 1] > 0).float()
    net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1), nn.Sigmoid())
    optimizer = torch.optim.Adam(net.parameters(), lr=0.05)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        output = net(x)
        error = output.squeeze(1) - wanted
        loss = (error**2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
""",
    ("as it was", "output.squeeze(1) - wanted", "output - wanted"),
    ("summed", "(error**2).mean()", "(error**2).sum()"),
    ("turned the wrong way", "output.squeeze(1) - wanted", "output.T - wanted[:, None]"),
    ("another rate", "output.squeeze(1) - wanted", "output - wanted.reshape(1, -1)"),
    ("a loss that is small", "losses.append(loss.item())", "losses.append(loss.item() / 100)"),
    ("no steps", "optimizer.step()", "pass"),
    ("the mean taken first", "output.squeeze(1) - wanted", "output.mean() - wanted"),
)
a(
    "15.b",
    """
import minigrad as torch
from minigrad import nn

def patient_1(seed=3, steps=200):
    torch.manual_seed(seed)
    x = torch.randn(200, 2)
    wanted = (x[:, 0] * x[:, 1] > 0).float().unsqueeze(-1)
    net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1), nn.Sigmoid())
    optimizer = torch.optim.Adam(net.parameters(), lr=0.05)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(x), wanted)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
""",
    ("zeros", "losses.append(loss.item())", "losses.append(0.0)"),
    ("without seed", "torch.manual_seed(seed)", "pass"),
)
a(
    "15.c",
    """
import minigrad as torch
from minigrad import nn

def patient_2(parts, seed=12, steps=20):
    torch.manual_seed(seed)
    x = torch.randn(64, 3)
    wanted = torch.sin(x.sum(dim=1, keepdim=True))
    net = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    for _ in range(steps):
        optimizer.zero_grad()
        for rows in torch.arange(64).chunk(parts):
            share = len(rows) / 64
            loss = nn.functional.mse_loss(net(x[rows]), wanted[rows]) * share
            loss.backward()
        optimizer.step()
    return nn.functional.mse_loss(net(x), wanted).item()
""",
    ("not scaled", " * share", ""),
    (
        "a step for each",
        "            loss.backward()\n        optimizer.step()",
        "            loss.backward()\n            optimizer.step()",
    ),
    ("cleared never", "        optimizer.zero_grad()\n", ""),
    ("all at once", "torch.arange(64).chunk(parts)", "torch.arange(64).chunk(1)"),
    (
        "backward after the loop",
        "            loss.backward()\n        optimizer.step()",
        "        loss.backward()\n        optimizer.step()",
    ),
)
a(
    "15.d",
    """
import minigrad as torch
from minigrad import nn

def patient_3(seed=3):
    torch.manual_seed(seed)
    x = torch.randn(50, 4)
    wanted = torch.tanh(x.sum(dim=1, keepdim=True))
    body, head = nn.Linear(4, 8), nn.Linear(8, 1)
    optimizer = torch.optim.Adam([*body.parameters(), *head.parameters()], lr=0.05)
    losses = []
    for step in range(20):
        if step == 15:
            frozen = body.weight.detach().clone()
            body.requires_grad_(False)
        optimizer.zero_grad(set_to_none=True)
        loss = nn.functional.mse_loss(head(torch.tanh(body(x))), wanted)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, (body.weight - frozen).abs().max().item()
""",
    ("frozen, but zeros stay", "optimizer.zero_grad(set_to_none=True)", "optimizer.zero_grad(set_to_none=False)"),
    ("frozen from the start", "if step == 15:", "if step == 0:"),
    ("the head is frozen too", "body.requires_grad_(False)", "body.requires_grad_(False); head.requires_grad_(False)"),
    ("no freezing", "            body.requires_grad_(False)\n", ""),
)
a(
    "15.d",
    """
import minigrad as torch
from minigrad import nn

def patient_3(seed=3):
    torch.manual_seed(seed)
    x = torch.randn(50, 4)
    wanted = torch.tanh(x.sum(dim=1, keepdim=True))
    body, head = nn.Linear(4, 8), nn.Linear(8, 1)
    optimizer = torch.optim.Adam([*body.parameters(), *head.parameters()], lr=0.05)
    losses = []
    inside = None
    for step in range(20):
        optimizer.zero_grad()
        if step < 15:
            inside = torch.tanh(body(x))
        if step == 15:
            frozen = body.weight.detach().clone()
            inside = torch.tanh(body(x)).detach()
            optimizer = torch.optim.Adam(head.parameters(), lr=0.05)
        loss = nn.functional.mse_loss(head(inside), wanted)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, (body.weight - frozen).abs().max().item()
""",
    ("inside is old", "            inside = torch.tanh(body(x)).detach()\n", "            inside = inside.detach()\n"),
    (
        "the body's optimizer",
        "torch.optim.Adam(head.parameters(), lr=0.05)",
        "torch.optim.Adam(body.parameters(), lr=0.05)",
    ),
    ("with its graph", "torch.tanh(body(x)).detach()", "torch.tanh(body(x))"),
)
a(
    "15.e",
    """
import copy
import minigrad as torch
from minigrad import nn

def patient_4(seed=4, steps=25):
    torch.manual_seed(seed)
    x = torch.randn(160, 2)
    labels = (x[:, 0] * x[:, 1] > 0).long()
    net = nn.Sequential(nn.Linear(2, 24), nn.ReLU(), nn.Dropout(0.4), nn.Linear(24, 2))
    optimizer = torch.optim.Adam(net.parameters(), lr=0.2)

    def held_out():
        net.eval()
        with torch.no_grad():
            value = nn.functional.cross_entropy(net(x[100:]), labels[100:]).item()
        net.train()
        return value

    best = float("inf")
    for _ in range(steps):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x[:100]), labels[:100]).backward()
        optimizer.step()
        score = held_out()
        if score < best:
            best, remembered = score, copy.deepcopy(net.state_dict())
    net.load_state_dict(remembered)
    return best, held_out()
""",
    ("not copied", "copy.deepcopy(net.state_dict())", "net.state_dict()"),
    ("a shallow copy", "copy.deepcopy(net.state_dict())", "dict(net.state_dict())"),
    ("dropout on", "        net.eval()\n", ""),
    ("never trained again", "        net.train()\n", ""),
    (
        "not copied, and claimed",
        "copy.deepcopy(net.state_dict())\n    net.load_state_dict(remembered)\n    return best, held_out()",
        "net.state_dict()\n    net.load_state_dict(remembered)\n    return best, best",
    ),
    ("the worst", "if score < best:", "if score > best or best == float('inf'):"),
    ("the last", "if score < best:", "if True:"),
)
a(
    "15.f",
    """
import minigrad as torch
from minigrad import nn

def patient_5(seed=5, steps=100):
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Linear(2, 16)
            self.hidden = [nn.Linear(16, 16), nn.Linear(16, 16)]
            for k, layer in enumerate(self.hidden):
                self.add_module(f"hidden_{k}", layer)
            self.last = nn.Linear(16, 1)

        def forward(self, x):
            x = torch.tanh(self.first(x))
            for layer in self.hidden:
                x = torch.tanh(layer(x))
            return self.last(x)

    torch.manual_seed(seed)
    x = torch.randn(100, 2)
    wanted = torch.sin(3 * x[:, :1]) * x[:, 1:]
    net = Net()
    before = [layer.weight.detach().clone() for layer in net.hidden]
    optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(x), wanted)
        loss.backward()
        optimizer.step()
    return loss.item(), [(layer.weight - old).abs().max().item() for layer, old in zip(net.hidden, before)]
""",
    ("one of the two", "enumerate(self.hidden)", "enumerate(self.hidden[:1])"),
    (
        "a tuple",
        '            for k, layer in enumerate(self.hidden):\n                self.add_module(f"hidden_{k}", layer)\n',
        "            self.hidden = tuple(self.hidden)\n",
    ),
    ("not in the forward pass", "x = torch.tanh(layer(x))", "torch.tanh(layer(x))"),
    (
        "the moves are claimed",
        "[(layer.weight - old).abs().max().item() for layer, old in zip(net.hidden, before)]",
        "[0.1, 0.1]",
    ),
)
a(
    "15.g",
    """
import minigrad as torch
from minigrad import nn

def patient_6(seed=6, steps=60):
    class Squash(torch.autograd.Function):
        @staticmethod
        def forward(ctx, z):
            ctx.save_for_backward(z)
            return 1 / (1 + torch.exp(-z))

        @staticmethod
        def backward(ctx, g):
            (z,) = ctx.saved_tensors
            e = torch.exp(-z)
            return g * e / (1 + e) ** 2

    torch.manual_seed(seed)
    x = torch.randn(80, 2)
    x = x - x.mean(dim=0)
    wanted = (x[:, :1] > 0).float()
    w, losses = torch.zeros(2, 1, requires_grad=True), []
    for _ in range(steps):
        p = Squash.apply(x @ w)
        loss = nn.functional.binary_cross_entropy(p, wanted)
        loss.backward()
        with torch.no_grad():
            w -= w.grad
        w.grad = None
        losses.append(loss.item())
    return losses
""",
    ("no upstream", "return g * e / (1 + e) ** 2", "return e / (1 + e) ** 2"),
    ("only upstream", "return g * e / (1 + e) ** 2", "return g"),
    ("sign", "return g * e / (1 + e) ** 2", "return -g * e / (1 + e) ** 2"),
    ("not squared", "(1 + e) ** 2", "(1 + e)"),
    ("added", "return g * e / (1 + e) ** 2", "return g + e / (1 + e) ** 2"),
)
a(
    "15.h",
    """
import minigrad as torch
from minigrad import nn

def patient_7(seed=7, steps=150):
    torch.manual_seed(seed)
    x = torch.randn(100, 2) @ torch.randn(2, 6)
    encoder, decoder = nn.Linear(6, 2), nn.Linear(2, 6)
    optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=0.03)
    before, log = encoder.weight.detach().clone(), []
    for step in range(steps):
        optimizer.zero_grad()
        code = encoder(x)
        if step % 10 == 0:
            with torch.no_grad():
                log.append(f"spread of the code: {code.std().item():.2f}")
        loss = nn.functional.mse_loss(decoder(code), x)
        loss.backward()
        optimizer.step()
    return loss.item(), (encoder.weight - before).abs().max().item()
""",
    ("detached in the loss", "decoder(code)", "decoder(code.detach())"),
    ("everything detached", "code = encoder(x)", "code = encoder(x).detach().requires_grad_()"),
    ("without graph", "code = encoder(x)", "code = encoder(x).data"),
    ("no code", "decoder(code)", "decoder(x[:, :2])"),
)
a(
    "15.i",
    """
import minigrad as torch
from minigrad import nn

def patient_8(seed=8, steps=120):
    torch.manual_seed(seed)
    x = torch.randn(150, 4)
    labels = (x[:, 0] > 0.5).long() + (x[:, 1] + x[:, 2] > 0).long()
    net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
    net[2] = nn.Linear(16, 3)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.03)
    before, losses = net[2].weight.detach().clone(), []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    head = net[2].weight
    return losses, (head - before).abs().max().item(), head.grad.norm().item()
""",
    ("the body only", "torch.optim.Adam(net.parameters(), lr=0.03)", "torch.optim.Adam(net[0].parameters(), lr=0.03)"),
    ("the head only", "torch.optim.Adam(net.parameters(), lr=0.03)", "torch.optim.Adam(net[2].parameters(), lr=0.03)"),
    (
        "only the head's bias",
        "torch.optim.Adam(net.parameters(), lr=0.03)",
        "torch.optim.Adam([*net[0].parameters(), net[2].bias], lr=0.03)",
    ),
    ("gradients pile up", "        optimizer.zero_grad()\n", ""),
)
a(
    "15.i",
    """
import minigrad as torch
from minigrad import nn

def patient_8(seed=8, steps=120):
    torch.manual_seed(seed)
    x = torch.randn(150, 4)
    labels = (x[:, 0] > 0.5).long() + (x[:, 1] + x[:, 2] > 0).long()
    net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
    optimizer = torch.optim.Adam(net[0].parameters(), lr=0.03)
    net[2] = nn.Linear(16, 3)
    optimizer.add_param_group({"params": list(net[2].parameters())})
    before, losses = net[2].weight.detach().clone(), []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    head = net[2].weight
    return losses, (head - before).abs().max().item(), head.grad.norm().item()
""",
    (
        "with a rate of nothing",
        '{"params": list(net[2].parameters())}',
        '{"params": list(net[2].parameters()), "lr": 0.0}',
    ),
)
a(
    "15.j",
    """
import minigrad as torch

def patient_9(seed=1, steps=40):
    torch.manual_seed(seed)
    i, j = zip(*[(a, b) for a in range(10) for b in range(10) if a != b])
    i, j = torch.tensor(i), torch.tensor(j)

    def distances(points):
        return ((points[i] - points[j]) ** 2).sum(dim=1).sqrt()

    wanted = distances(torch.randn(10, 2))
    places = torch.randn(10, 2, requires_grad=True)
    optimizer = torch.optim.SGD([places], lr=0.02)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = (distances(places) - wanted).pow(2).sum()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
""",
    ("squares", ".sum(dim=1).sqrt()", ".sum(dim=1)"),
    ("half of the pairs", "if a != b", "if a < b"),
    ("the mean", ".pow(2).sum()", ".pow(2).mean()"),
    ("the other way", "loss.backward()", "(-loss).backward()"),
    ("pairs with themselves", " if a != b", ""),
)
a(
    "15.j",
    """
import minigrad as torch

def patient_9(seed=1, steps=40):
    torch.manual_seed(seed)

    def distances(points):
        differences = points[:, None] - points
        squares = (differences**2).sum(dim=2)
        safe = torch.where(squares > 0, squares, torch.ones_like(squares))
        return torch.where(squares > 0, torch.sqrt(safe), torch.zeros_like(squares))

    wanted = distances(torch.randn(10, 2))
    places = torch.randn(10, 2, requires_grad=True)
    optimizer = torch.optim.SGD([places], lr=0.02)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = (distances(places) - wanted).pow(2).sum()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
""",
    ("where too late", "torch.sqrt(safe)", "torch.sqrt(squares)"),
    ("all of them one", "torch.zeros_like(squares))", "torch.ones_like(squares)) * 2"),
    (
        "nan becomes nothing",
        "        loss.backward()\n",
        "        loss.backward(); places.grad = torch.zeros_like(places)\n",
    ),
)
a(
    "16.c2",
    """
def budget(parameters, block, layers, weight=4, gradient=4, state=8, number=4, checkpoint=0):
    total = parameters * weight
    total += parameters * gradient
    total += parameters * state
    kept = [block] * layers if checkpoint == 0 else [checkpoint] * layers + [block]
    return total + number * sum(kept)
""",
    ("state forgotten", "total += parameters * state", "pass"),
    ("gradient forgotten", "total += parameters * gradient", "pass"),
    ("nothing rebuilt", "[checkpoint] * layers + [block]", "[checkpoint] * layers"),
    ("all rebuilt", "[checkpoint] * layers + [block]", "[checkpoint + block] * layers"),
    ("one less", "[checkpoint] * layers + [block]", "[checkpoint] * (layers - 1) + [block]"),
    ("numbers, not bytes", "number * sum(kept)", "sum(kept)"),
    ("in weights' bytes", "number * sum(kept)", "weight * sum(kept)"),
    ("a layer's only", "[block] * layers if", "[block] if"),
    ("state by four", "parameters * state", "parameters * 8"),
    ("parameters once per layer", "total = parameters * weight", "total = parameters * weight * layers"),
)
a(
    "19.b",
    """
import math

def capstone(Value):
    name = "logsumexp"

    def operation(inputs):
        numbers = [v.data for v in inputs]
        top = max(numbers)
        powers = [math.exp(n - top) for n in numbers]
        total = math.fsum(powers)
        out = Value(top + math.log(total), tuple(inputs), name)

        def _backward():
            for v, p in zip(inputs, powers):
                v.grad += out.grad * p / total

        out._backward = _backward
        return out

    return name, operation
""",
    ("no upstream", "out.grad * p / total", "p / total"),
    ("assigned", "v.grad += ", "v.grad = "),
    ("not normalised", "out.grad * p / total", "out.grad * p"),
    ("top forgotten", "Value(top + math.log(total)", "Value(math.log(total)"),
    ("overflows", "top = max(numbers)", "top = 0.0"),
    ("the largest only", "out.grad * p / total", "out.grad * (p == 1.0)"),
    ("no rule", "out._backward = _backward", "pass"),
    ("no parents", "tuple(inputs), name)", "(), name)"),
    ("equal shares", "out.grad * p / total", "out.grad / len(inputs)"),
    ("the value's exp", "out.grad * p / total", "out.grad * p / math.exp(out.data - top) ** 2"),
    ("log2", "math.log(total)", "math.log2(total)"),
)
a(
    "19.b",
    """
from math import erf, exp, pi, sqrt

def capstone(Value):
    def gelu(x):
        x = x if isinstance(x, Value) else Value(x)
        d = x.data
        phi = 0.5 * (1 + erf(d / sqrt(2)))
        out = Value(d * phi, (x,), "gelu")

        def chain():
            x.grad = x.grad + (phi + d * exp(-d * d / 2) / sqrt(2 * pi)) * out.grad

        out._backward = chain
        return out

    return ("gelu", gelu)
""",
    ("only Φ", "(phi + d * exp(-d * d / 2) / sqrt(2 * pi))", "phi"),
    ("product rule halved", "d * exp(-d * d / 2)", "exp(-d * d / 2)"),
    ("no √2", "erf(d / sqrt(2))", "erf(d)"),
    ("variance", "exp(-d * d / 2)", "exp(-d * d)"),
    ("2π without the root", "sqrt(2 * pi)", "(2 * pi)"),
    ("minus", "phi + d", "phi - d"),
    ("relu instead", "Value(d * phi", "Value(max(d, 0.0)"),
    ("sigmoid form", "phi = 0.5 * (1 + erf(d / sqrt(2)))", "phi = 1 / (1 + exp(-1.702 * d))"),
)
a(
    "09.f",
    """
import numpy as np

def trainer(Tensor, backward):
    class Network:
        def __init__(self, inputs, hidden, outputs, rng):
            self.W1 = Tensor(rng.normal(0, (2 / inputs) ** 0.5, (hidden, inputs)))
            self.b1 = Tensor(np.zeros(hidden))
            self.W2 = Tensor(rng.normal(0, (1 / hidden) ** 0.5, (outputs, hidden)))
            self.b2 = Tensor(np.zeros(outputs))

        def parameters(self):
            return [self.W1, self.b1, self.W2, self.b2]

        def __call__(self, x):
            inside = Tensor(np.asarray(x)) @ self.W1.T + self.b1
            return inside.relu() @ self.W2.T + self.b2

    def fit(model, x, wanted, loss_of, rng, epochs=20, size=32, lr=0.1, update=None):
        history = []
        n = len(x)
        epoch = 0
        while epoch < epochs:
            order = list(rng.permutation(n))
            while order:
                rows, order = order[:size], order[size:]
                loss = loss_of(model(x[rows]), wanted[rows])
                backward(loss)
                history.append(float(loss.data))
                if update is not None:
                    update(model.parameters(), lr)
                    continue
                for p in model.parameters():
                    p.data = p.data - lr * p.grad
                    p.grad = np.zeros_like(p.data)
            epoch += 1
        return history

    return Network, fit
""",
    ("one epoch more", "while epoch < epochs", "while epoch <= epochs"),
    ("never cleared", "p.grad = np.zeros_like(p.data)", "pass"),
    ("uphill", "p.data - lr * p.grad", "p.data + lr * p.grad"),
    ("no relu", "inside.relu()", "inside"),
    ("one bias", "@ self.W2.T + self.b2", "@ self.W2.T"),
    ("the order of the file", "list(rng.permutation(n))", "list(range(n))"),
    ("wanted not shuffled", "wanted[rows]", "wanted[:len(rows)]"),
    ("the rest is dropped", "while order:", "while len(order) >= size:"),
    ("the loss of an epoch", "                history.append(float(loss.data))\n", ""),
    ("update ignored", "if update is not None:", "if False:"),
    ("lr fixed", "lr * p.grad", "0.1 * p.grad"),
    ("with replacement", "list(rng.permutation(n))", "list(rng.integers(0, n, n))"),
    ("one order for all", "order = list(rng.permutation(n))", "order = list(np.random.default_rng(0).permutation(n))"),
)
a(
    "14.c2",
    """
import numpy as np

def cross_entropy_rows(z, targets, smoothing=0.0):
    n, k = z.shape
    shifted = z - z.max(axis=1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    want = np.full((n, k), smoothing / k)
    want[np.arange(n), targets] += 1 - smoothing
    return -(want * log_p).sum() / n, (np.exp(log_p) - want) / n

def rms_norm_backward(g, x, gamma, eps=1e-5):
    r = np.sqrt((x * x).mean(axis=1, keepdims=True) + eps)
    h = g * gamma
    return h / r - x * (h * x).mean(axis=1, keepdims=True) / r**3, (g * x / r).sum(axis=0)

def dense_operations(Tensor):
    def cross_entropy(z, targets, smoothing=0.0):
        value, slope = cross_entropy_rows(z.data, np.asarray(targets), smoothing)
        out = Tensor(np.array(value), (z,), "cross_entropy")

        def _backward():
            z.grad = z.grad + out.grad * slope

        out._backward = _backward
        return out

    def rms_norm(x, gamma, eps=1e-5):
        size = (np.square(x.data).mean(1) + eps) ** 0.5
        out = Tensor(gamma.data * x.data / size[:, None], (x, gamma), "rms_norm")

        def _backward():
            dx, dgamma = rms_norm_backward(out.grad, x.data, gamma.data, eps)
            x.grad = x.grad + dx
            gamma.grad = gamma.grad + dgamma

        out._backward = _backward
        return out

    return cross_entropy, rms_norm
""",
    ("no upstream", "out.grad * slope", "slope"),
    ("smoothing forgotten", "np.asarray(targets), smoothing)", "np.asarray(targets))"),
    ("assigned", "z.grad = z.grad + ", "z.grad = "),
    ("gamma's gradient forgotten", "            gamma.grad = gamma.grad + dgamma\n", ""),
    ("eps forgotten", "gamma.data, eps)", "gamma.data)"),
    ("eps outside", "(np.square(x.data).mean(1) + eps) ** 0.5", "np.square(x.data).mean(1) ** 0.5 + eps"),
    ("parents forgotten", "(x, gamma), ", "(x,), "),
    ("gamma left out", "gamma.data * x.data / size", "x.data / size"),
    ("swapped", "return cross_entropy, rms_norm", "return rms_norm, cross_entropy"),
    ("over all", ".mean(1)", ".mean(1).mean().repeat(len(x.data))"),
)
