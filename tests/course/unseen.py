"""Wrong answers that were written from the questions alone, before their author saw the banks or symptoms.py: what a first measurement needs.

The chapters are those whose exercises outlive this list. Not every one is likely: some are there to see what is said of something strange.
"""

from __future__ import annotations

# ruff: noqa: E501  a program is one string

STEP = "import minigrad as torch\ndef step(params, state, lr=0.01, max_norm=1.0, b1=0.9, b2=0.999, eps=1e-8, decay=0.01):\n"
NORM = "    t = state['t'] = state.get('t', 0) + 1\n    norm = sum(float((p.grad**2).sum()) for p in params) ** 0.5\n    f = min(1, max_norm / (norm + 1e-6))\n"
REST = """\
    with torch.no_grad():
        for i, p in enumerate(params):
            g = p.grad * f
            state['m', i] = b1 * state.get(('m', i), 0) + (1 - b1) * g
            state['v', i] = b2 * state.get(('v', i), 0) + (1 - b2) * g * g
            p.mul_(1 - lr * decay)
            p.sub_(lr * (state['m', i] / (1 - b1**t)) / ((state['v', i] / (1 - b2**t)).sqrt() + eps))
"""
ATT = "import minigrad as torch\ndef attention(q, k, v, causal):\n"
MASKED = """\
    s = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if causal:
        n = q.shape[-2]
        s = s.masked_fill(torch.ones(n, n).triu(1).bool(), float('-inf'))
    return torch.softmax(s, -1) @ v
"""

HVP = """\
import numpy as np
import minigrad as torch
def hvp(f, x, v):
    (g,) = torch.autograd.grad(f(x), x, create_graph=True)
    return torch.autograd.grad(g, x, v)[0]
"""

LOGSUMEXP = [  # rules as (value, derivatives); `as_a_node` makes an operation of the learner's engine of each
    "from math import exp, log\ndef logsumexp(xs):\n    m = 0\n    es = [exp(x - m) for x in xs]\n    t = sum(es)\n    return m + log(t), [e / t for e in es]\n",
    "from math import exp, log\ndef logsumexp(xs):\n    m = max(xs)\n    es = [exp(x - m) for x in xs]\n    t = sum(es)\n    return log(t), [e / t for e in es]\n",
    "from math import exp, log\ndef logsumexp(xs):\n    m = max(xs)\n    es = [exp(x - m) for x in xs]\n    t = sum(es)\n    return m + log(t), es\n",
    "from math import exp, log\ndef logsumexp(xs):\n    m = min(xs)\n    es = [exp(x - m) for x in xs]\n    t = sum(es)\n    return m + log(t), [e / t for e in es]\n",
    "from math import exp, log\ndef logsumexp(xs):\n    m = max(xs)\n    es = [exp(x - m) for x in xs]\n    t = sum(es)\n    return m + log(t), 1.0\n",
    "from math import exp, log\ndef logsumexp(xs):\n    m = max(xs)\n    es = [exp(x - m) for x in xs]\n    t = sum(es)\n    return m + log(t), [log(e / t) for e in es]\n",
    "from math import exp, log\ndef logsumexp(xs):\n    m = max(xs)\n    es = [exp(x - m) for x in xs]\n    t = sum(es)\n    return m * log(t), [e / t for e in es]\n",
    "from math import exp, log\ndef logsumexp(xs):\n    m = max(xs)\n    es = [exp(x - m) for x in xs]\n    t = sum(es)\n    return m + log(t), [e / t * (1 - e / t) for e in es]\n",
    "from math import exp, log\ndef logsumexp(xs):\n    m = max(xs)\n    es = [exp(x - m) for x in xs]\n    t = sum(es)\n    return m + log(t)\n",
    "from math import exp, log\ndef logsumexp(xs):\n    m = max(xs)\n    es = [exp(x - m) for x in xs]\n    t = sum(es)\n    return log(t) - m, [e / t for e in es]\n",
    "from math import exp, log\ndef logsumexp(xs):\n    m = max(xs)\n    es = [exp(x - m) for x in xs]\n    t = sum(es)\n    return m + t, [e / t for e in es]\n",
    "from math import exp, log\ndef logsumexp(xs):\n    m = max(xs)\n    es = [exp(x - m) for x in xs]\n    t = sum(es)\n    return m + log(t), [e / m for e in es]\n",
    "from math import exp, log\ndef logsumexp(xs):\n    m = max(xs)\n    es = [exp(x - m) for x in xs]\n    t = sum(es)\n    return m + log(t), [exp(x) / t for x in xs]\n",
    "from math import exp, log\ndef logsumexp(xs):\n    m = max(xs)\n    es = [exp(x - m) for x in xs]\n    t = sum(es)\n    return m + log(t / len(xs)), [e / t for e in es]\n",
    "from math import exp, log\ndef logsumexp(xs):\n    m = max(xs)\n    es = [exp(x - m) for x in xs]\n    t = sum(es)\n    return m + log(t), [t / e for e in es]\n",
]
GELU = [
    "from math import erf, exp, pi, sqrt, tanh\ndef gelu(x):\n    p = (1 + erf(x / sqrt(2))) / 2\n    d = exp(-x * x / 2) / sqrt(2 * pi)\n    return x * p, p\n",
    "from math import erf, exp, pi, sqrt, tanh\ndef gelu(x):\n    p = (1 + erf(x / sqrt(2))) / 2\n    d = exp(-x * x / 2) / sqrt(2 * pi)\n    return x * p, d\n",
    "from math import erf, exp, pi, sqrt, tanh\ndef gelu(x):\n    p = (1 + erf(x / sqrt(2))) / 2\n    d = exp(-x * x / 2) / sqrt(2 * pi)\n    return x * p, x * d\n",
    "from math import erf, exp, pi, sqrt, tanh\ndef gelu(x):\n    p = 1 + erf(x / sqrt(2))\n    d = exp(-x * x / 2) / sqrt(2 * pi)\n    return x * p, p + x * d\n",
    "from math import erf, exp, pi, sqrt, tanh\ndef gelu(x):\n    p = (1 + erf(x)) / 2\n    d = exp(-x * x / 2) / sqrt(2 * pi)\n    return x * p, p + x * d\n",
    "from math import erf, exp, pi, sqrt, tanh\ndef gelu(x):\n    p = (1 + erf(x / sqrt(2))) / 2\n    d = exp(-x * x / 2)\n    return x * p, p + x * d\n",
    "from math import erf, exp, pi, sqrt, tanh\ndef gelu(x):\n    p = (1 + erf(x / sqrt(2))) / 2\n    d = exp(-x * x) / sqrt(2 * pi)\n    return x * p, p + x * d\n",
    "from math import erf, exp, pi, sqrt, tanh\ndef gelu(x):\n    p = (1 + erf(x / sqrt(2))) / 2\n    d = exp(x * x / 2) / sqrt(2 * pi)\n    return x * p, p + x * d\n",
    "from math import erf, exp, pi, sqrt, tanh\ndef gelu(x):\n    p = (1 + erf(x / sqrt(2))) / 2\n    d = exp(-x * x / 2) / sqrt(2 * pi)\n    return p, p + x * d\n",
    "from math import erf, exp, pi, sqrt, tanh\ndef gelu(x):\n    p = (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3))) / 2\n    d = exp(-x * x / 2) / sqrt(2 * pi)\n    return x * p, p + x * d\n",
    "from math import erf, exp, pi, sqrt, tanh\ndef gelu(x):\n    p = (1 + erf(x / sqrt(2))) / 2\n    d = exp(-x * x / 2) / sqrt(2 * pi)\n    return x * p, p - x * d\n",
    "from math import erf, exp, pi, sqrt, tanh\ndef gelu(x):\n    p = (1 + erf(x / sqrt(2))) / 2\n    d = exp(-x * x / 2) / sqrt(pi)\n    return x * p, p + x * d\n",
    "from math import erf, exp, pi, sqrt, tanh\ndef gelu(x):\n    p = (1 + erf(x / sqrt(2))) / 2\n    d = exp(-x * x / 2) / sqrt(2 * pi)\n    return x * p, p * d\n",
    "from math import erf, exp, pi, sqrt, tanh\ndef gelu(x):\n    p = (1 + erf(x / sqrt(2))) / 2\n    d = exp(-x * x / 2) / sqrt(2 * pi)\n    return x * p, p + d\n",
    "from math import erf, exp, pi, sqrt, tanh\ndef gelu(x):\n    p = (1 + erf(x / sqrt(2))) / 2\n    d = exp(-x * x / 2) / sqrt(2 * pi)\n    return x * d, p + x * d\n",
    "from math import erf, exp, pi, sqrt, tanh\ndef gelu(x):\n    p = (1 + erf(x / sqrt(2))) / 2\n    d = -x * exp(-x * x / 2) / sqrt(2 * pi)\n    return x * p, p + x * d\n",
    "from math import erf, exp, pi, sqrt, tanh\ndef gelu(x):\n    p = erf(x / sqrt(2)) / 2\n    d = exp(-x * x / 2) / sqrt(2 * pi)\n    return x * p, p + x * d\n",
]


def as_a_node(name):
    """What turns a rule on numbers into an operation on Values."""
    return f"""

def capstone(Value):
    def operation(xs):
        inputs = xs if isinstance(xs, list) else [xs]
        value, slopes = {name}([x.data for x in inputs] if isinstance(xs, list) else xs.data)
        out = Value(value, (*inputs,), "{name}")

        def _backward():
            for x, slope in zip(inputs, slopes if isinstance(xs, list) else [slopes]):
                x.grad += slope * out.grad

        out._backward = _backward
        return out

    return "{name}", operation
"""


SOURCES = {
    "06.b": [
        "import math\ndef teach(Value):\n    def exp(self):\n        out = Value(math.exp(self.data), (self,), 'exp')\n        def _backward():\n            self.grad += math.exp(out.data) * out.grad\n        out._backward = _backward\n        return out\n    def log(self):\n        out = Value(math.log(self.data), (self,), 'log')\n        def _backward():\n            self.grad += out.grad / self.data\n        out._backward = _backward\n        return out\n    def tanh(self):\n        out = Value(math.tanh(self.data), (self,), 'tanh')\n        def _backward():\n            self.grad += (1 - out.data ** 2) * out.grad\n        out._backward = _backward\n        return out\n    def atan2(self, other):\n        out = Value(math.atan2(self.data, other.data), (self, other), 'atan2')\n        def _backward():\n            d = self.data ** 2 + other.data ** 2; self.grad += other.data / d * out.grad; other.grad += -self.data / d * out.grad\n        out._backward = _backward\n        return out\n    Value.exp, Value.log, Value.tanh, Value.atan2 = exp, log, tanh, atan2\n",
        "import math\ndef teach(Value):\n    def exp(self):\n        out = Value(math.e ** self.data, (self,), 'exp')\n        def _backward():\n            self.grad += self.data * math.e ** (self.data - 1) * out.grad\n        out._backward = _backward\n        return out\n    def log(self):\n        out = Value(math.log(self.data), (self,), 'log')\n        def _backward():\n            self.grad += out.grad / self.data\n        out._backward = _backward\n        return out\n    def tanh(self):\n        out = Value(math.tanh(self.data), (self,), 'tanh')\n        def _backward():\n            self.grad += (1 - out.data ** 2) * out.grad\n        out._backward = _backward\n        return out\n    def atan2(self, other):\n        out = Value(math.atan2(self.data, other.data), (self, other), 'atan2')\n        def _backward():\n            d = self.data ** 2 + other.data ** 2; self.grad += other.data / d * out.grad; other.grad += -self.data / d * out.grad\n        out._backward = _backward\n        return out\n    Value.exp, Value.log, Value.tanh, Value.atan2 = exp, log, tanh, atan2\n",
        "import math\ndef teach(Value):\n    def exp(self):\n        out = Value(math.exp(self.data), (self,), 'exp')\n        def _backward():\n            self.grad += out.data * out.grad\n        out._backward = _backward\n        return out\n    def log(self):\n        out = Value(math.log(self.data), (self,), 'log')\n        def _backward():\n            self.grad += 1 / out.data * out.grad\n        out._backward = _backward\n        return out\n    def tanh(self):\n        out = Value(math.tanh(self.data), (self,), 'tanh')\n        def _backward():\n            self.grad += (1 - out.data ** 2) * out.grad\n        out._backward = _backward\n        return out\n    def atan2(self, other):\n        out = Value(math.atan2(self.data, other.data), (self, other), 'atan2')\n        def _backward():\n            d = self.data ** 2 + other.data ** 2; self.grad += other.data / d * out.grad; other.grad += -self.data / d * out.grad\n        out._backward = _backward\n        return out\n    Value.exp, Value.log, Value.tanh, Value.atan2 = exp, log, tanh, atan2\n",
        "import math\ndef teach(Value):\n    def exp(self):\n        out = Value(math.exp(self.data), (self,), 'exp')\n        def _backward():\n            self.grad += out.data * out.grad\n        out._backward = _backward\n        return out\n    def log(self):\n        out = Value(math.log10(self.data), (self,), 'log')\n        def _backward():\n            self.grad += out.grad / self.data\n        out._backward = _backward\n        return out\n    def tanh(self):\n        out = Value(math.tanh(self.data), (self,), 'tanh')\n        def _backward():\n            self.grad += (1 - out.data ** 2) * out.grad\n        out._backward = _backward\n        return out\n    def atan2(self, other):\n        out = Value(math.atan2(self.data, other.data), (self, other), 'atan2')\n        def _backward():\n            d = self.data ** 2 + other.data ** 2; self.grad += other.data / d * out.grad; other.grad += -self.data / d * out.grad\n        out._backward = _backward\n        return out\n    Value.exp, Value.log, Value.tanh, Value.atan2 = exp, log, tanh, atan2\n",
        "import math\ndef teach(Value):\n    def exp(self):\n        out = Value(math.exp(self.data), (self,), 'exp')\n        def _backward():\n            self.grad += out.data * out.grad\n        out._backward = _backward\n        return out\n    def log(self):\n        out = Value(math.log(self.data), (self,), 'log')\n        def _backward():\n            self.grad += -out.grad / self.data\n        out._backward = _backward\n        return out\n    def tanh(self):\n        out = Value(math.tanh(self.data), (self,), 'tanh')\n        def _backward():\n            self.grad += (1 - out.data ** 2) * out.grad\n        out._backward = _backward\n        return out\n    def atan2(self, other):\n        out = Value(math.atan2(self.data, other.data), (self, other), 'atan2')\n        def _backward():\n            d = self.data ** 2 + other.data ** 2; self.grad += other.data / d * out.grad; other.grad += -self.data / d * out.grad\n        out._backward = _backward\n        return out\n    Value.exp, Value.log, Value.tanh, Value.atan2 = exp, log, tanh, atan2\n",
        "import math\ndef teach(Value):\n    def exp(self):\n        out = Value(math.exp(self.data), (self,), 'exp')\n        def _backward():\n            self.grad += out.data * out.grad\n        out._backward = _backward\n        return out\n    def log(self):\n        out = Value(math.log(self.data), (self,), 'log')\n        def _backward():\n            self.grad += out.grad / self.data\n        out._backward = _backward\n        return out\n    def tanh(self):\n        out = Value(math.tanh(self.data), (self,), 'tanh')\n        def _backward():\n            self.grad += (1 - self.data ** 2) * out.grad\n        out._backward = _backward\n        return out\n    def atan2(self, other):\n        out = Value(math.atan2(self.data, other.data), (self, other), 'atan2')\n        def _backward():\n            d = self.data ** 2 + other.data ** 2; self.grad += other.data / d * out.grad; other.grad += -self.data / d * out.grad\n        out._backward = _backward\n        return out\n    Value.exp, Value.log, Value.tanh, Value.atan2 = exp, log, tanh, atan2\n",
        "import math\ndef teach(Value):\n    def exp(self):\n        out = Value(math.exp(self.data), (self,), 'exp')\n        def _backward():\n            self.grad += out.data * out.grad\n        out._backward = _backward\n        return out\n    def log(self):\n        out = Value(math.log(self.data), (self,), 'log')\n        def _backward():\n            self.grad += out.grad / self.data\n        out._backward = _backward\n        return out\n    def tanh(self):\n        out = Value(math.tanh(self.data), (self,), 'tanh')\n        def _backward():\n            self.grad += (1 + out.data ** 2) * out.grad\n        out._backward = _backward\n        return out\n    def atan2(self, other):\n        out = Value(math.atan2(self.data, other.data), (self, other), 'atan2')\n        def _backward():\n            d = self.data ** 2 + other.data ** 2; self.grad += other.data / d * out.grad; other.grad += -self.data / d * out.grad\n        out._backward = _backward\n        return out\n    Value.exp, Value.log, Value.tanh, Value.atan2 = exp, log, tanh, atan2\n",
        "import math\ndef teach(Value):\n    def exp(self):\n        out = Value(math.exp(self.data), (self,), 'exp')\n        def _backward():\n            self.grad += out.data * out.grad\n        out._backward = _backward\n        return out\n    def log(self):\n        out = Value(math.log(self.data), (self,), 'log')\n        def _backward():\n            self.grad += out.grad / self.data\n        out._backward = _backward\n        return out\n    def tanh(self):\n        out = Value(math.tanh(self.data), (self,), 'tanh')\n        def _backward():\n            self.grad += out.data * (1 - out.data) * out.grad\n        out._backward = _backward\n        return out\n    def atan2(self, other):\n        out = Value(math.atan2(self.data, other.data), (self, other), 'atan2')\n        def _backward():\n            d = self.data ** 2 + other.data ** 2; self.grad += other.data / d * out.grad; other.grad += -self.data / d * out.grad\n        out._backward = _backward\n        return out\n    Value.exp, Value.log, Value.tanh, Value.atan2 = exp, log, tanh, atan2\n",
        "import math\ndef teach(Value):\n    def exp(self):\n        out = Value(math.exp(self.data), (self,), 'exp')\n        def _backward():\n            self.grad += out.data * out.grad\n        out._backward = _backward\n        return out\n    def log(self):\n        out = Value(math.log(self.data), (self,), 'log')\n        def _backward():\n            self.grad += out.grad / self.data\n        out._backward = _backward\n        return out\n    def tanh(self):\n        out = Value(math.tan(self.data), (self,), 'tanh')\n        def _backward():\n            self.grad += (1 - out.data ** 2) * out.grad\n        out._backward = _backward\n        return out\n    def atan2(self, other):\n        out = Value(math.atan2(self.data, other.data), (self, other), 'atan2')\n        def _backward():\n            d = self.data ** 2 + other.data ** 2; self.grad += other.data / d * out.grad; other.grad += -self.data / d * out.grad\n        out._backward = _backward\n        return out\n    Value.exp, Value.log, Value.tanh, Value.atan2 = exp, log, tanh, atan2\n",
        "import math\ndef teach(Value):\n    def exp(self):\n        out = Value(math.exp(self.data), (self,), 'exp')\n        def _backward():\n            self.grad += out.data * out.grad\n        out._backward = _backward\n        return out\n    def log(self):\n        out = Value(math.log(self.data), (self,), 'log')\n        def _backward():\n            self.grad += out.grad / self.data\n        out._backward = _backward\n        return out\n    def tanh(self):\n        out = Value(math.tanh(self.data), (self,), 'tanh')\n        def _backward():\n            self.grad = (1 - out.data ** 2) * out.grad\n        out._backward = _backward\n        return out\n    def atan2(self, other):\n        out = Value(math.atan2(self.data, other.data), (self, other), 'atan2')\n        def _backward():\n            d = self.data ** 2 + other.data ** 2; self.grad += other.data / d * out.grad; other.grad += -self.data / d * out.grad\n        out._backward = _backward\n        return out\n    Value.exp, Value.log, Value.tanh, Value.atan2 = exp, log, tanh, atan2\n",
        "import math\ndef teach(Value):\n    def exp(self):\n        out = Value(math.exp(self.data), (self,), 'exp')\n        def _backward():\n            self.grad += out.data * out.grad\n        out._backward = _backward\n        return out\n    def log(self):\n        out = Value(math.log(self.data), (self,), 'log')\n        def _backward():\n            self.grad += out.grad / self.data\n        out._backward = _backward\n        return out\n    def tanh(self):\n        out = Value(math.tanh(self.data), (self,), 'tanh')\n        def _backward():\n            self.grad += (1 - out.data ** 2) * out.grad\n        out._backward = _backward\n        return out\n    def atan2(self, other):\n        out = Value(math.atan2(self.data, other.data), (self, other), 'atan2')\n        def _backward():\n            d = self.data ** 2 + other.data ** 2; self.grad += other.data / d * out.grad; other.grad += self.data / d * out.grad\n        out._backward = _backward\n        return out\n    Value.exp, Value.log, Value.tanh, Value.atan2 = exp, log, tanh, atan2\n",
        "import math\ndef teach(Value):\n    def exp(self):\n        out = Value(math.exp(self.data), (self,), 'exp')\n        def _backward():\n            self.grad += out.data * out.grad\n        out._backward = _backward\n        return out\n    def log(self):\n        out = Value(math.log(self.data), (self,), 'log')\n        def _backward():\n            self.grad += out.grad / self.data\n        out._backward = _backward\n        return out\n    def tanh(self):\n        out = Value(math.tanh(self.data), (self,), 'tanh')\n        def _backward():\n            self.grad += (1 - out.data ** 2) * out.grad\n        out._backward = _backward\n        return out\n    def atan2(self, other):\n        out = Value(math.atan2(self.data, other.data), (self, other), 'atan2')\n        def _backward():\n            d = self.data ** 2 + other.data ** 2; self.grad += -self.data / d * out.grad; other.grad += other.data / d * out.grad\n        out._backward = _backward\n        return out\n    Value.exp, Value.log, Value.tanh, Value.atan2 = exp, log, tanh, atan2\n",
        "import math\ndef teach(Value):\n    def exp(self):\n        out = Value(math.exp(self.data), (self,), 'exp')\n        def _backward():\n            self.grad += out.data * out.grad\n        out._backward = _backward\n        return out\n    def log(self):\n        out = Value(math.log(self.data), (self,), 'log')\n        def _backward():\n            self.grad += out.grad / self.data\n        out._backward = _backward\n        return out\n    def tanh(self):\n        out = Value(math.tanh(self.data), (self,), 'tanh')\n        def _backward():\n            self.grad += (1 - out.data ** 2) * out.grad\n        out._backward = _backward\n        return out\n    def atan2(self, other):\n        out = Value(math.atan2(self.data, other.data), (self, other), 'atan2')\n        def _backward():\n            self.grad += other.data * out.grad; other.grad += -self.data * out.grad\n        out._backward = _backward\n        return out\n    Value.exp, Value.log, Value.tanh, Value.atan2 = exp, log, tanh, atan2\n",
        "import math\ndef teach(Value):\n    def exp(self):\n        out = Value(math.exp(self.data), (self,), 'exp')\n        def _backward():\n            self.grad += out.data * out.grad\n        out._backward = _backward\n        return out\n    def log(self):\n        out = Value(math.log(self.data), (self,), 'log')\n        def _backward():\n            self.grad += out.grad / self.data\n        out._backward = _backward\n        return out\n    def tanh(self):\n        out = Value(math.tanh(self.data), (self,), 'tanh')\n        def _backward():\n            self.grad += (1 - out.data ** 2) * out.grad\n        out._backward = _backward\n        return out\n    def atan2(self, other):\n        out = Value(math.atan(self.data / other.data), (self, other), 'atan2')\n        def _backward():\n            d = 1 + (self.data / other.data) ** 2; self.grad += out.grad / d; other.grad += -out.grad / d\n        out._backward = _backward\n        return out\n    Value.exp, Value.log, Value.tanh, Value.atan2 = exp, log, tanh, atan2\n",
        "import math\ndef teach(Value):\n    def exp(self):\n        out = Value(math.exp(self.data), (self,), 'exp')\n        def _backward():\n            self.grad += out.grad\n        out._backward = _backward\n        return out\n    def log(self):\n        out = Value(math.log(self.data), (self,), 'log')\n        def _backward():\n            self.grad += out.grad / self.data\n        out._backward = _backward\n        return out\n    def tanh(self):\n        out = Value(math.tanh(self.data), (self,), 'tanh')\n        def _backward():\n            self.grad += (1 - out.data ** 2) * out.grad\n        out._backward = _backward\n        return out\n    def atan2(self, other):\n        out = Value(math.atan2(self.data, other.data), (self, other), 'atan2')\n        def _backward():\n            d = self.data ** 2 + other.data ** 2; self.grad += other.data / d * out.grad; other.grad += -self.data / d * out.grad\n        out._backward = _backward\n        return out\n    Value.exp, Value.log, Value.tanh, Value.atan2 = exp, log, tanh, atan2\n",
        "import math\ndef teach(Value):\n    def exp(self):\n        out = Value(math.exp(self.data), (self,), 'exp')\n        def _backward():\n            self.grad += out.data\n        out._backward = _backward\n        return out\n    def log(self):\n        out = Value(math.log(self.data), (self,), 'log')\n        def _backward():\n            self.grad += out.grad / self.data\n        out._backward = _backward\n        return out\n    def tanh(self):\n        out = Value(math.tanh(self.data), (self,), 'tanh')\n        def _backward():\n            self.grad += (1 - out.data ** 2) * out.grad\n        out._backward = _backward\n        return out\n    def atan2(self, other):\n        out = Value(math.atan2(self.data, other.data), (self, other), 'atan2')\n        def _backward():\n            d = self.data ** 2 + other.data ** 2; self.grad += other.data / d * out.grad; other.grad += -self.data / d * out.grad\n        out._backward = _backward\n        return out\n    Value.exp, Value.log, Value.tanh, Value.atan2 = exp, log, tanh, atan2\n",
    ],
    "06.c": [
        "def gradcheck(f, xs):\n    values = [Value(x) for x in xs]\n    backward(f(*values))\n    bad = []\n    for i in range(len(xs)):\n        h = (abs(xs[i]) or 1) * 1e-6\n        up, down = list(xs), list(xs)\n        up[i] += h\n        down[i] -= h\n        d = 1 * (f(*[Value(x) for x in up]).data - f(*[Value(x) for x in down]).data) / (2 * h)\n        if not abs(values[i].grad - d) <= 1e-3 * abs(d):\n            bad.append(i)\n    return bad\n",
        "def gradcheck(f, xs):\n    values = [Value(x) for x in xs]\n    backward(f(*values) * 2 + f(*values) * 3)\n    bad = []\n    for i in range(len(xs)):\n        h = 1e-5\n        up, down = list(xs), list(xs)\n        up[i] += h\n        down[i] -= h\n        d = 5 * (f(*[Value(x) for x in up]).data - f(*[Value(x) for x in down]).data) / (2 * h)\n        if not abs(values[i].grad - d) <= 1e-3 * abs(d):\n            bad.append(i)\n    return bad\n",
        "def gradcheck(f, xs):\n    values = [Value(x) for x in xs]\n    backward(f(*values) * 2 + f(*values) * 3)\n    bad = []\n    for i in range(len(xs)):\n        h = 1e-8\n        up, down = list(xs), list(xs)\n        up[i] += h\n        down[i] -= h\n        d = 5 * (f(*[Value(x) for x in up]).data - f(*[Value(x) for x in down]).data) / (2 * h)\n        if not abs(values[i].grad - d) <= 1e-3 * abs(d):\n            bad.append(i)\n    return bad\n",
        "def gradcheck(f, xs):\n    values = [Value(x) for x in xs]\n    backward(f(*values) * 2 + f(*values) * 3)\n    bad = []\n    for i in range(len(xs)):\n        h = (abs(xs[i]) or 1) * 1e-6\n        up, down = list(xs), list(xs)\n        up[i] += h\n        down[i] -= h\n        d = 5 * (f(*[Value(x) for x in up]).data - f(*[Value(x) for x in down]).data) / (2 * h)\n        if abs(values[i].grad - d) > 1e-3 * abs(d):\n            bad.append(i)\n    return bad\n",
        "def gradcheck(f, xs):\n    values = [Value(x) for x in xs]\n    backward(f(*values) * 2 + f(*values) * 3)\n    bad = []\n    for i in range(len(xs)):\n        h = (abs(xs[i]) or 1) * 1e-6\n        up, down = list(xs), list(xs)\n        up[i] += h\n        down[i] -= h\n        d = 5 * (f(*[Value(x) for x in up]).data - f(*[Value(x) for x in down]).data) / (2 * h)\n        if abs(values[i].grad - d) > 1e-6:\n            bad.append(i)\n    return bad\n",
        "def gradcheck(f, xs):\n    values = [Value(x) for x in xs]\n    backward(f(*values) * 2 + f(*values) * 3)\n    bad = []\n    for i in range(len(xs)):\n        h = (abs(xs[i]) or 1) * 1e-6\n        up, down = list(xs), list(xs)\n        up[i] += h\n        down[i] -= h\n        d = 5 * (f(*[Value(x) for x in up]).data - f(*[Value(x) for x in down]).data) / (2 * h)\n        if values[i].grad != d:\n            bad.append(i)\n    return bad\n",
        "def gradcheck(f, xs):\n    values = [Value(x) for x in xs]\n    backward(f(*values) * 5)\n    bad = []\n    for i in range(len(xs)):\n        h = (abs(xs[i]) or 1) * 1e-6\n        up, down = list(xs), list(xs)\n        up[i] += h\n        down[i] -= h\n        d = 5 * (f(*[Value(x) for x in up]).data - f(*[Value(x) for x in down]).data) / (2 * h)\n        if not abs(values[i].grad - d) <= 1e-3 * abs(d):\n            bad.append(i)\n    return bad\n",
        "def gradcheck(f, xs):\n    values = [Value(x) for x in xs]\n    backward(f(*values) * 2 + f(*values) * 3)\n    bad = []\n    for i in range(len(xs)):\n        h = (abs(xs[i]) or 1) * 1e-6\n        up, down = list(xs), list(xs)\n        up[i] += h\n        down[i] -= h\n        d = 1 * (f(*[Value(x) for x in up]).data - f(*[Value(x) for x in down]).data) / (2 * h)\n        if not abs(values[i].grad - d) <= 1e-3 * abs(d):\n            bad.append(i)\n    return bad\n",
        "def gradcheck(f, xs):\n    values = [Value(x) for x in xs]\n    backward(f(*values) * 2 + f(*values) * 3)\n    bad = []\n    for i in range(len(xs)):\n        h = xs[i] * 1e-6\n        up, down = list(xs), list(xs)\n        up[i] += h\n        down[i] -= h\n        d = 5 * (f(*[Value(x) for x in up]).data - f(*[Value(x) for x in down]).data) / (2 * h)\n        if not abs(values[i].grad - d) <= 1e-3 * abs(d):\n            bad.append(i)\n    return bad\n",
        "def gradcheck(f, xs):\n    values = [Value(x) for x in xs]\n    backward(f(*values) * 2 + f(*values) * 3)\n    bad = []\n    for i in range(len(xs)):\n        h = (abs(xs[i]) or 1) * 1e-6\n        up, down = list(xs), list(xs)\n        up[i] += h\n        down[i] -= h\n        d = 5 * (f(*[Value(x) for x in up]).data - f(*[Value(x) for x in down]).data) / (2 * h)\n        if round(values[i].grad, 4) != round(d, 4):\n            bad.append(i)\n    return bad\n",
        "def gradcheck(f, xs):\n    values = [Value(x) for x in xs]\n    backward(f(*values) * 2 + f(*values) * 3)\n    bad = []\n    for i in range(len(xs)):\n        h = (abs(xs[i]) or 1) * 1e-6\n        up, down = list(xs), list(xs)\n        up[i] += h\n        down[i] -= h\n        d = 5 * (f(*[Value(x) for x in up]).data - f(*[Value(x) for x in down]).data) / (2 * h)\n        if not abs(values[i].grad - d) <= 1e-3 * abs(d):\n            bad.append(i)\n    return len(bad) == 0\n",
        "def gradcheck(f, xs):\n    values = [Value(x) for x in xs]\n    backward(f(*values) * 2 + f(*values) * 3)\n    bad = []\n    for i in range(len(xs)):\n        h = (abs(xs[i]) or 1) * 1e-6\n        up, down = list(xs), list(xs)\n        up[i] += h\n        down[i] -= h\n        d = 5 * (f(*[Value(x) for x in up]).data - f(*[Value(x) for x in down]).data) / (2 * h)\n        if not abs(values[i].grad - d) <= 1e-3 * abs(d):\n            return False\n    return bad\n",
    ],
    "07.b": [
        "def train(w, data, steps, lr):\n    loss = sum((w * x - y) ** 2 for x, y in data)\n    backward(loss)\n    at_the_start = w.grad\n    for _ in range(steps):\n        loss = sum((w * x - y) ** 2 for x, y in data)\n        backward(loss)\n        w.data = w.data - lr * w.grad\n        w.grad = 0.0\n    return at_the_start, w.data\n",
        "def train(w, data, steps, lr):\n    loss = sum((w * x - y) ** 2 for x, y in data)\n    backward(loss)\n    at_the_start = w.grad\n    for _ in range(steps):\n        loss = sum((w * x - y) ** 2 for x, y in data)\n        backward(loss)\n        w.grad = 0.0\n        w.data = w.data - lr * w.grad\n    return at_the_start, w.data\n",
        "def train(w, data, steps, lr):\n    loss = sum((w * x - y) ** 2 for x, y in data)\n    backward(loss)\n    at_the_start = w.grad\n    w.grad = 0.0\n    for _ in range(steps):\n        loss = sum((w * x - y) ** 2 for x, y in data)\n        backward(loss)\n        w.data = w.data - lr * w.grad\n    return at_the_start, w.data\n",
        "def train(w, data, steps, lr):\n    loss = sum((w * x - y) ** 2 for x, y in data)\n    backward(loss)\n    at_the_start = w.grad\n    for _ in range(steps):\n        w.grad = None\n        loss = sum((w * x - y) ** 2 for x, y in data)\n        backward(loss)\n        w.data = w.data - lr * w.grad\n    return at_the_start, w.data\n",
        "def train(w, data, steps, lr):\n    loss = sum((w * x - y) ** 2 for x, y in data)\n    backward(loss)\n    at_the_start = w.grad\n    for _ in range(steps):\n        w.grad == 0.0\n        loss = sum((w * x - y) ** 2 for x, y in data)\n        backward(loss)\n        w.data = w.data - lr * w.grad\n    return at_the_start, w.data\n",
        "def train(w, data, steps, lr):\n    loss = sum((w * x - y) ** 2 for x, y in data)\n    backward(loss)\n    at_the_start = w.grad\n    for _ in range(steps):\n        w.grad = 0.0\n        loss = sum((w * x - y) ** 2 for x, y in data)\n        backward(loss)\n        w.data = w.data + lr * w.grad\n    return at_the_start, w.data\n",
        "def train(w, data, steps, lr):\n    loss = sum((w * x - y) ** 2 for x, y in data)\n    backward(loss)\n    at_the_start = w.grad\n    for _ in range(steps):\n        w.grad = 0.0\n        loss = sum((w * x - y) ** 2 for x, y in data)\n        backward(loss)\n        w.data = w.data - w.grad\n    return at_the_start, w.data\n",
        "def train(w, data, steps, lr):\n    loss = sum((w * x - y) ** 2 for x, y in data)\n    backward(loss)\n    at_the_start = w.grad\n    for _ in range(steps):\n        w.grad = 0.0\n        loss = sum((w * x - y) ** 2 for x, y in data)\n        backward(loss)\n        w.data = w.grad - lr * w.grad\n    return at_the_start, w.data\n",
        "def train(w, data, steps, lr):\n    loss = sum((w * x - y) ** 2 for x, y in data)\n    backward(loss)\n    at_the_start = w.grad\n    for _ in range(steps):\n        w.data = 0.0\n        loss = sum((w * x - y) ** 2 for x, y in data)\n        backward(loss)\n        w.data = w.data - lr * w.grad\n    return at_the_start, w.data\n",
        "def train(w, data, steps, lr):\n    loss = sum((w * x - y) ** 2 for x, y in data)\n    backward(loss)\n    at_the_start = w.grad\n    for _ in range(steps):\n        w.grad = 0.0\n        loss = sum((w * x - y) ** 2 for x, y in data)\n        backward(loss)\n        w.data = w.data - lr * w.grad\n    return w.data\n",
        "def train(w, data, steps, lr):\n    loss = sum((w * x - y) ** 2 for x, y in data)\n    backward(loss)\n    at_the_start = w.grad\n    for _ in range(steps):\n        w.grad = 0.0\n        loss = sum((w * x - y) ** 2 for x, y in data)\n        backward(loss)\n        w = w - lr * w.grad\n    return at_the_start, w.data\n",
        "def train(w, data, steps, lr):\n    loss = sum((w * x - y) ** 2 for x, y in data)\n    backward(loss)\n    at_the_start = w.grad\n    for _ in range(steps):\n        w.grad = 0.0\n        loss = sum((w * x - y) ** 2 for x, y in data)\n        backward(loss)\n        w.data = w.data - lr * w.grad\n    return at_the_start, w\n",
    ],
    "07.c": [
        "def with_momentum(w, data, steps, lr, mu):\n    for _ in range(steps):\n        backward(sum((w * x - y) ** 2 for x, y in data))\n        w.data = w.data - lr * w.grad\n    return w.data\n",
        "def with_momentum(w, data, steps, lr, mu):\n    for _ in range(steps):\n        backward(sum((w * x - y) ** 2 for x, y in data))\n        w.grad = mu * w.grad\n        w.data = w.data - lr * w.grad\n    return w.data\n",
        "def with_momentum(w, data, steps, lr, mu):\n    for _ in range(steps):\n        backward(sum((w * x - y) ** 2 for x, y in data))\n        w.data = w.data - lr * mu * w.grad\n    return w.data\n",
        "def with_momentum(w, data, steps, lr, mu):\n    for _ in range(steps):\n        w.grad = (1 - mu) * w.grad\n        backward(sum((w * x - y) ** 2 for x, y in data))\n        w.data = w.data - lr * w.grad\n    return w.data\n",
        "def with_momentum(w, data, steps, lr, mu):\n    for _ in range(steps):\n        w.grad = w.grad + mu\n        backward(sum((w * x - y) ** 2 for x, y in data))\n        w.data = w.data - lr * w.grad\n    return w.data\n",
        "def with_momentum(w, data, steps, lr, mu):\n    for _ in range(steps):\n        w.grad = mu\n        backward(sum((w * x - y) ** 2 for x, y in data))\n        w.data = w.data - lr * w.grad\n    return w.data\n",
        "def with_momentum(w, data, steps, lr, mu):\n    for _ in range(steps):\n        w.grad = w.grad - mu * w.grad\n        backward(sum((w * x - y) ** 2 for x, y in data))\n        w.data = w.data - lr * w.grad\n    return w.data\n",
        "def with_momentum(w, data, steps, lr, mu):\n    for _ in range(steps):\n        w.grad = lr * mu * w.grad\n        backward(sum((w * x - y) ** 2 for x, y in data))\n        w.data = w.data - lr * w.grad\n    return w.data\n",
        "def with_momentum(w, data, steps, lr, mu):\n    for _ in range(steps):\n        w.grad = 0.0\n        backward(sum((w * x - y) ** 2 for x, y in data))\n        w.data = w.data - lr * (w.grad + mu * w.grad)\n    return w.data\n",
        "def with_momentum(w, data, steps, lr, mu):\n    for _ in range(steps):\n        w.grad = -mu * w.grad\n        backward(sum((w * x - y) ** 2 for x, y in data))\n        w.data = w.data - lr * w.grad\n    return w.data\n",
    ],
    "07.d": [
        "def accumulate(w, batches):\n    n = sum(len(b) for b in batches)\n    w.grad = 0.0\n    for batch in batches:\n        backward(sum((w * x - y) ** 2 for x, y in batch) / len(batch))\n",
        "def accumulate(w, batches):\n    n = sum(len(b) for b in batches)\n    w.grad = 0.0\n    for batch in batches:\n        backward(sum((w * x - y) ** 2 for x, y in batch) / len(batch) / len(batches))\n",
        "def accumulate(w, batches):\n    n = sum(len(b) for b in batches)\n    w.grad = 0.0\n    for batch in batches:\n        backward(sum((w * x - y) ** 2 for x, y in batch))\n",
        "def accumulate(w, batches):\n    n = sum(len(b) for b in batches)\n    for batch in batches:\n        backward(sum((w * x - y) ** 2 for x, y in batch) / n)\n",
        "def accumulate(w, batches):\n    n = sum(len(b) for b in batches)\n    w.grad = 0.0\n    for batch in batches:\n        w.grad = 0.0\n        backward(sum((w * x - y) ** 2 for x, y in batch) / n)\n",
        "def accumulate(w, batches):\n    n = sum(len(b) for b in batches)\n    w.grad = 0.0\n    loss = 0\n    for batch in batches:\n        loss = loss + sum((w * x - y) ** 2 for x, y in batch) / n\n    backward(loss)\n",
        "def accumulate(w, batches):\n    n = sum(len(b) for b in batches)\n    w.grad = 0.0\n    for batch in batches:\n        backward(sum((w * x - y) ** 2 for x, y in batch) * n)\n",
        "def accumulate(w, batches):\n    n = sum(len(b) for b in batches)\n    w.grad = 0.0\n    for batch in batches:\n        backward(sum((w * x - y) ** 2 for x, y in batch))\n    w.grad = w.grad / len(batches)\n",
        "def accumulate(w, batches):\n    n = sum(len(b) for b in batches)\n    w.grad = 0.0\n    for batch in batches:\n        backward(sum(w * x - y for x, y in batch) / n)\n",
        "def accumulate(w, batches):\n    n = sum(len(b) for b in batches)\n    w.grad = 0.0\n    for batch in batches:\n        loss = sum((w * x - y) ** 2 for x, y in batch) / n\n",
    ],
    "10.c": [
        "import minigrad as torch\ndef ema_update(teacher, student, m):\n    for t, s in zip(teacher, student):\n        t = m * t + (1 - m) * s\n",
        "import minigrad as torch\ndef ema_update(teacher, student, m):\n    for t, s in zip(teacher, student):\n        t.data = (1 - m) * t.data + m * s.data\n",
        "import minigrad as torch\ndef ema_update(teacher, student, m):\n    for i in range(len(teacher)):\n        teacher[i] = m * teacher[i] + (1 - m) * student[i]\n",
        "import minigrad as torch\ndef ema_update(teacher, student, m):\n    for i in range(len(teacher)):\n        teacher[i] = (m * teacher[i] + (1 - m) * student[i]).detach()\n",
        "import minigrad as torch\ndef ema_update(teacher, student, m):\n    for t, s in zip(teacher, student):\n        t.data = s.data\n",
        "import minigrad as torch\ndef ema_update(teacher, student, m):\n    for t, s in zip(teacher, student):\n        t *= m\n        t += (1 - m) * s\n",
        "import minigrad as torch\ndef ema_update(teacher, student, m):\n    with torch.no_grad():\n        for t, s in zip(teacher, student):\n            t *= m\n            t += s\n",
        "import minigrad as torch\ndef ema_update(teacher, student, m):\n    with torch.no_grad():\n        for t, s in zip(teacher, student):\n            s.mul_(1 - m).add_(t, alpha=m)\n",
        "import minigrad as torch\ndef ema_update(teacher, student, m):\n    with torch.no_grad():\n        for t, s in zip(teacher, student):\n            t += (1 - m) * (t - s)\n",
        "import minigrad as torch\ndef ema_update(teacher, student, m):\n    return [m * t + (1 - m) * s for t, s in zip(teacher, student)]\n",
    ],
    "10.d": [
        "def truncated(step, h, xs, k):\n    loss = 0\n    for x in xs:\n        h, l = step(h, x)\n        loss = loss + l\n    loss.backward()\n    return h.detach()\n",
        "def truncated(step, h, xs, k):\n    for x in xs:\n        h, loss = step(h, x)\n        loss.backward()\n        h = h.detach()\n    return h\n",
        "def truncated(step, h, xs, k):\n    for i, x in enumerate(xs):\n        h, loss = step(h, x)\n        loss.backward(retain_graph=True)\n    return h.detach()\n",
        "def truncated(step, h, xs, k):\n    total = 0\n    for i, x in enumerate(xs):\n        h, loss = step(h, x)\n        total = total + loss\n        if (i + 1) % k == 0:\n            total.backward()\n            total = 0\n            h = h.detach()\n    return h\n",
        "def truncated(step, h, xs, k):\n    total = 0\n    for i, x in enumerate(xs):\n        h, loss = step(h, x)\n        total = total + loss\n        if i % k == 0:\n            total.backward()\n            total = 0\n            h = h.detach()\n    if total:\n        total.backward()\n    return h.detach()\n",
        "def truncated(step, h, xs, k):\n    for start in range(0, len(xs), k):\n        for x in xs[start:start + k]:\n            h, loss = step(h, x)\n        loss.backward()\n        h = h.detach()\n    return h\n",
        "def truncated(step, h, xs, k):\n    for start in range(0, len(xs), k):\n        total = 0\n        for x in xs[start:start + k]:\n            h, loss = step(h, x)\n            total = total + loss\n        total.backward()\n    return h\n",
        "def truncated(step, h, xs, k):\n    for start in range(0, len(xs), k):\n        total = 0\n        for x in xs[start:start + k]:\n            h, loss = step(h.detach(), x)\n            total = total + loss\n        total.backward()\n    return h.detach()\n",
        "def truncated(step, h, xs, k):\n    for start in range(0, len(xs), k):\n        total = 0\n        for x in xs[start:start + k]:\n            h, loss = step(h, x)\n            total = total + loss / k\n        total.backward()\n        h = h.detach()\n    return h\n",
    ],
    "11.b": [  # with the second function written as the only one was
        HVP + "def hvp_nudged(grad, x, v, h=1e-4):\n    return (grad(x + h * v) - grad(x - h * v)) / h\n",
        HVP + "def hvp_nudged(grad, x, v, h=1e-4):\n    return (grad(x + h) - grad(x - h)) / (2 * h)\n",
        HVP + "def hvp_nudged(grad, x, v, h=1e-4):\n    return (grad(x + h * v) - grad(x)) / h\n",
        HVP + "def hvp_nudged(grad, x, v, h=1e-4):\n    return grad(x) * v\n",
        HVP + "def hvp_nudged(grad, x, v, h=1e-4):\n    return (grad(x + h * v) - grad(x - h * v)) / (2 * h) * v\n",
        HVP + "def hvp_nudged(grad, x, v, h=1e-4):\n    return (grad(x - h * v) - grad(x + h * v)) / (2 * h)\n",
        HVP + "def hvp_nudged(grad, x, v, h=1e-4):\n    return v @ ((grad(x + h * v) - grad(x - h * v)) / (2 * h))\n",
        HVP + "def hvp_nudged(grad, x, v, h=1e-4):\n    return grad(h * v)\n",
        HVP + "def hvp_nudged(grad, x, v, h=1e-4):\n    return (grad(x + h * v) - grad(x)) / (2 * h)\n",
        HVP + "def hvp_nudged(grad, x, v, h=1e-4):\n    return grad(x + h * v) - grad(x - h * v)\n",
        HVP + "def hvp_nudged(grad, x, v, h=1e-4):\n    return (grad(x + v) - grad(x - v)) / 2\n",
        HVP + "def hvp_nudged(grad, x, v, h=1e-4):\n    g = grad(x)\n    return (g + h * v - g) / h\n",
        HVP + "def hvp_nudged(grad, x, v, h=1e-4):\n    return np.outer(grad(x), grad(x)) @ v\n",
    ],
    "16.b": [
        "from math import isqrt\ndef checkpointed_chain(layers, x, g):\n    n = len(layers); k = isqrt(n)\n    starts = []\n    for i in range(0, n, k):\n        starts.append(x)\n        for layer in layers[i:i + k]:\n            x = layer.forward(x)\n    out = x\n    for i in range(0, n, k):\n        inputs = [starts.pop(0)]\n        for layer in layers[i:i + k - 1]:\n            inputs.append(layer.forward(inputs[-1]))\n        for layer in reversed(layers[i:i + k]):\n            g = layer.backward(inputs.pop(), g)\n    return out, g\n",
        "from math import isqrt\ndef checkpointed_chain(layers, x, g):\n    n = len(layers); k = isqrt(n)\n    starts = []\n    for i in range(0, n, k):\n        starts.append(x)\n        for layer in layers[i:i + k]:\n            x = layer.forward(x)\n    out = x\n    for i in reversed(range(0, n, k)):\n        inputs = [starts.pop()]\n        for layer in layers[i:i + k - 1]:\n            inputs.append(layer.forward(inputs[-1]))\n        for layer in (layers[i:i + k]):\n            g = layer.backward(inputs.pop(), g)\n    return out, g\n",
        "from math import isqrt\ndef checkpointed_chain(layers, x, g):\n    n = len(layers); k = isqrt(n)\n    starts = []\n    for i in range(0, n, k):\n        starts.append(x)\n        for layer in layers[i:i + k]:\n            x = layer.forward(x)\n    out = x\n    for i in reversed(range(0, n, k)):\n        inputs = [starts.pop()]\n        for layer in layers[i:i + k - 1]:\n            inputs.append(layer.forward(inputs[-1]))\n        for layer in reversed(layers[i:i + k]):\n            g = layer.backward(inputs.pop(0), g)\n    return out, g\n",
        "from math import isqrt\ndef checkpointed_chain(layers, x, g):\n    n = len(layers); k = 1\n    starts = []\n    for i in range(0, n, k):\n        starts.append(x)\n        for layer in layers[i:i + k]:\n            x = layer.forward(x)\n    out = x\n    for i in reversed(range(0, n, k)):\n        inputs = [starts.pop()]\n        for layer in layers[i:i + k - 1]:\n            inputs.append(layer.forward(inputs[-1]))\n        for layer in reversed(layers[i:i + k]):\n            g = layer.backward(inputs.pop(), g)\n    return out, g\n",
        "from math import isqrt\ndef checkpointed_chain(layers, x, g):\n    n = len(layers); k = n\n    starts = []\n    for i in range(0, n, k):\n        starts.append(x)\n        for layer in layers[i:i + k]:\n            x = layer.forward(x)\n    out = x\n    for i in reversed(range(0, n, k)):\n        inputs = [starts.pop()]\n        for layer in layers[i:i + k - 1]:\n            inputs.append(layer.forward(inputs[-1]))\n        for layer in reversed(layers[i:i + k]):\n            g = layer.backward(inputs.pop(), g)\n    return out, g\n",
        "from math import isqrt\ndef checkpointed_chain(layers, x, g):\n    n = len(layers); k = isqrt(n)\n    starts = []\n    for i in range(0, n, k):\n        starts.append(x)\n        for layer in layers[i:i + k]:\n            x = layer.forward(x)\n    out = x\n    for i in reversed(range(0, n, k)):\n        inputs = [starts.pop()]\n        for layer in layers[i:i + k - 0]:\n            inputs.append(layer.forward(inputs[-1]))\n        for layer in reversed(layers[i:i + k]):\n            g = layer.backward(inputs.pop(), g)\n    return out, g\n",
        "from math import isqrt\ndef checkpointed_chain(layers, x, g):\n    n = len(layers); k = isqrt(n)\n    starts = []\n    for i in range(0, n, k):\n        starts.append(x)\n        for layer in layers[i:i + k]:\n            x = layer.forward(x)\n    out = x\n    for i in reversed(range(0, n, k)):\n        inputs = [starts.pop()]\n        for layer in layers[i:i + k - 1]:\n            inputs.append(layer.forward(inputs[-1]))\n        for layer in reversed(layers[i:i + k]):\n            g = layer.backward(inputs.pop(), g)\n    return g, out\n",
        "from math import isqrt\ndef checkpointed_chain(layers, x, g):\n    n = len(layers); k = isqrt(n)\n    starts = []\n    for i in range(0, n, k):\n        starts.append(x)\n        for layer in layers[i:i + k]:\n            x = layer.forward(x)\n    out = x\n    for i in reversed(range(0, n, k)):\n        inputs = [starts.pop()]\n        for layer in layers[i:i + k - 1]:\n            inputs.append(layer.forward(inputs[-1]))\n        for layer in reversed(layers[i:i + k]):\n            g = layer.backward(inputs.pop(), g)\n    return g\n",
        "from math import isqrt\ndef checkpointed_chain(layers, x, g):\n    n = len(layers); k = isqrt(n)\n    starts = []\n    for i in range(0, n, k):\n        starts.append(x)\n        for layer in layers[i:i + k]:\n            x = layer.forward(x)\n    out = x\n    for i in reversed(range(0, n, k)):\n        inputs = [starts[0]]\n        for layer in layers[i:i + k - 1]:\n            inputs.append(layer.forward(inputs[-1]))\n        for layer in reversed(layers[i:i + k]):\n            g = layer.backward(inputs.pop(), g)\n    return out, g\n",
        "from math import isqrt\ndef checkpointed_chain(layers, x, g):\n    n = len(layers); k = n // 2\n    starts = []\n    for i in range(0, n, k):\n        starts.append(x)\n        for layer in layers[i:i + k]:\n            x = layer.forward(x)\n    out = x\n    for i in reversed(range(0, n, k)):\n        inputs = [starts.pop()]\n        for layer in layers[i:i + k - 1]:\n            inputs.append(layer.forward(inputs[-1]))\n        for layer in reversed(layers[i:i + k]):\n            g = layer.backward(inputs.pop(), g)\n    return out, g\n",
        "from math import isqrt\ndef checkpointed_chain(layers, x, g):\n    n = len(layers); k = isqrt(n) + 1\n    starts = []\n    for i in range(0, n, k):\n        starts.append(x)\n        for layer in layers[i:i + k]:\n            x = layer.forward(x)\n    out = x\n    for i in reversed(range(0, n, k)):\n        inputs = [starts.pop()]\n        for layer in layers[i:i + k - 1]:\n            inputs.append(layer.forward(inputs[-1]))\n        for layer in reversed(layers[i:i + k]):\n            g = layer.backward(inputs.pop(), g)\n    return out, g\n",
        "from math import isqrt\ndef checkpointed_chain(layers, x, g):\n    n = len(layers); k = isqrt(n)\n    starts = []\n    for i in range(0, n, k):\n        starts.append(x)\n        for layer in layers[i:i + k]:\n            x = layer.forward(x)\n    out = x\n    for i in reversed(range(0, n, k)):\n        inputs = [x]\n        for layer in layers[i:i + k - 1]:\n            inputs.append(layer.forward(inputs[-1]))\n        for layer in reversed(layers[i:i + k]):\n            g = layer.backward(inputs.pop(), g)\n    return out, g\n",
        "from math import isqrt\ndef checkpointed_chain(layers, x, g):\n    n = len(layers); k = isqrt(n)\n    starts = []\n    for i in range(0, n, k):\n        starts.append(x)\n        for layer in layers[i:i + k]:\n            x = layer.forward(x)\n    out = x\n    for i in reversed(range(0, n, k)):\n        inputs = [starts.pop()]\n        for layer in layers[i:i + k - 1]:\n            inputs.append(layer.forward(inputs[-1]))\n        for layer in list(layers[i:i + k]):\n            g = layer.backward(inputs.pop(), g)\n    return out, g\n",
        "from math import isqrt\ndef checkpointed_chain(layers, x, g):\n    n = len(layers); k = isqrt(n)\n    starts = []\n    for i in range(0, n, k):\n        starts.append(x)\n        for layer in layers[i:i + k]:\n            x = layer.forward(x)\n    out = x\n    for i in reversed(range(0, n, k)):\n        inputs = [starts.pop()]\n        for layer in layers[i:i + k - 1]:\n            inputs.append(layer.forward(inputs[-1]))\n        for layer in reversed(layers[i:i + k]):\n            g = layer.backward(inputs.pop(), g)\n    return x, g\n",
        "from math import isqrt\ndef checkpointed_chain(layers, x, g):\n    n = len(layers); k = isqrt(n)\n    starts = []\n    for i in range(0, n, k):\n        starts.append(layers[i].forward(x))\n        for layer in layers[i:i + k]:\n            x = layer.forward(x)\n    out = x\n    for i in reversed(range(0, n, k)):\n        inputs = [starts.pop()]\n        for layer in layers[i:i + k - 1]:\n            inputs.append(layer.forward(inputs[-1]))\n        for layer in reversed(layers[i:i + k]):\n            g = layer.backward(inputs.pop(), g)\n    return out, g\n",
    ],
    "16.c": [
        "def halving_chain(layers, x, g):\n    inputs = []\n    for layer in layers:\n        inputs.append(x)\n        x = layer.forward(x)\n    for layer in reversed(layers):\n        g = layer.backward(inputs.pop(), g)\n    return g\n",
        "def halving_chain(layers, x, g):\n    if len(layers) == 1:\n        return layers[0].backward(x, g)\n    k = len(layers) // 2\n    m = x\n    for layer in layers[:len(layers) // 2]:\n        m = layer.forward(m)\n    return halving_chain(layers[:k], x, halving_chain(layers[k:], x, g))\n",
        "def halving_chain(layers, x, g):\n    if len(layers) == 1:\n        return layers[0].backward(x, g)\n    k = len(layers) // 2\n    m = x\n    for layer in layers[:len(layers) // 2]:\n        m = layer.forward(m)\n    return halving_chain(layers[k:], m, halving_chain(layers[:k], x, g))\n",
        "def halving_chain(layers, x, g):\n    if len(layers) == 1:\n        return layers[0].backward(x, g)\n    k = len(layers) // 2\n    m = x\n    for layer in layers[:len(layers) // 2]:\n        m = layer.forward(m)\n    halving_chain(layers[k:], m, g)\n    return halving_chain(layers[:k], x, g)\n",
        "def halving_chain(layers, x, g):\n    for i in reversed(range(len(layers))):\n        m = x\n        for layer in layers[:i]:\n            m = layer.forward(m)\n        g = layers[i].backward(m, g)\n    return g\n",
        "def halving_chain(layers, x, g):\n    if len(layers) == 1:\n        return layers[0].backward(x, g)\n    k = len(layers) // 2\n    for layer in layers[:k]:\n        x = layer.forward(x)\n    g = halving_chain(layers[k:], x, g)\n    return halving_chain(layers[:k], x, g)\n",
        "def halving_chain(layers, x, g):\n    if len(layers) == 1:\n        return layers[0].backward(x, g)\n    k = len(layers) // 2\n    m = x\n    for layer in layers[:len(layers) // 2]:\n        m = layer.forward(m)\n    return halving_chain(layers[k:], m, g)\n",
        "def halving_chain(layers, x, g):\n    if len(layers) == 1:\n        return layers[0].backward(x, g)\n    k = len(layers) // 2\n    m = x\n    for layer in layers[:len(layers) // 2]:\n        m = layer.forward(m)\n    return halving_chain(layers[:k], x, g)\n",
    ],
    "16.d": [
        "import numpy as np\ndef scaled_step(w, backward, scale, lr):\n    g = backward(np.float16(scale)).astype(np.float32)\n    if not np.isfinite(g).all():\n        return w, scale / 2\n    return w - lr * g, scale\n",
        "import numpy as np\ndef scaled_step(w, backward, scale, lr):\n    g = backward(np.float16(scale)) / np.float16(scale)\n    if not np.isfinite(g).all():\n        return w, scale / 2\n    return w - lr * g, scale\n",
        "import numpy as np\ndef scaled_step(w, backward, scale, lr):\n    g = backward(np.float16(1.0)).astype(np.float32) * scale\n    if not np.isfinite(g).all():\n        return w, scale / 2\n    return w - lr * g, scale\n",
        "import numpy as np\ndef scaled_step(w, backward, scale, lr):\n    g = backward(np.float16(1 / scale)).astype(np.float32) * scale\n    if not np.isfinite(g).all():\n        return w, scale / 2\n    return w - lr * g, scale\n",
        "import numpy as np\ndef scaled_step(w, backward, scale, lr):\n    g = backward(np.float16(scale)).astype(np.float32) / scale\n    return w - lr * g, scale\n",
        "import numpy as np\ndef scaled_step(w, backward, scale, lr):\n    g = backward(np.float16(scale)).astype(np.float32)\n    if np.isnan(g).any():\n        return w, scale / 2\n    return w - lr * g / scale, scale\n",
        "import numpy as np\ndef scaled_step(w, backward, scale, lr):\n    g = backward(np.float16(scale)).astype(np.float32)\n    if not np.isfinite(g).all():\n        scale = scale / 2\n    return w - lr * g / scale, scale\n",
        "import numpy as np\ndef scaled_step(w, backward, scale, lr):\n    g = backward(np.float16(scale)).astype(np.float32)\n    if not np.isfinite(g).all():\n        return w, scale\n    return w - lr * g / scale, scale\n",
        "import numpy as np\ndef scaled_step(w, backward, scale, lr):\n    g = backward(np.float16(scale)).astype(np.float32)\n    g[~np.isfinite(g)] = 0\n    return w - lr * g / scale, scale\n",
        "import numpy as np\ndef scaled_step(w, backward, scale, lr):\n    g = backward(np.float32(1.0))\n    if not np.isfinite(g).all():\n        return w, scale / 2\n    return w - lr * g, scale\n",
        "import numpy as np\ndef scaled_step(w, backward, scale, lr):\n    g = backward(np.float16(scale)).astype(np.float32)\n    if not np.isfinite(g).all():\n        return w, scale / 2\n    return w - lr * g / scale, scale * 2\n",
        "import numpy as np\ndef scaled_step(w, backward, scale, lr):\n    g = backward(np.float16(scale)).astype(np.float32)\n    if not np.isfinite(g).all():\n        return w, scale / 2\n    return w - lr * g / scale ** 2, scale\n",
    ],
    "17.b": [
        STEP
        + "    t = state['t'] = state.get('t', 0) + 1\n    norm = max(float((p.grad**2).sum()) ** 0.5 for p in params)\n"
        "    f = min(1, max_norm / (norm + 1e-6))\n" + REST,
        STEP + "    t = state['t'] = state.get('t', 0) + 1\n    norm = sum(float(p.grad.abs().sum()) for p in params)\n"
        "    f = min(1, max_norm / (norm + 1e-6))\n" + REST,
        STEP + "    t = state['t'] = state.get('t', 0) + 1\n    f = 1\n" + REST,
        STEP + NORM + REST.replace("            p.mul_(1 - lr * decay)\n", ""),
        STEP + NORM + REST.replace("1 - lr * decay", "1 - decay"),
        STEP + NORM + REST.replace("1 - lr * decay", "1 + lr * decay"),
        STEP + NORM + REST.replace("/ (1 - b1**t)", "").replace("/ (1 - b2**t)", ""),
        STEP + NORM + REST.replace("/ (1 - b2**t)", ""),
        STEP
        + NORM
        + REST.replace("p.grad * f", "p.grad * f + decay * p").replace("            p.mul_(1 - lr * decay)\n", ""),
        STEP + NORM + REST.replace("p.sub_", "p.add_"),
        STEP + NORM + REST.replace(".sqrt()", ""),
        STEP + NORM.replace("state['t'] = state.get('t', 0) + 1", "1") + REST,
        STEP + NORM + REST.replace("    with torch.no_grad():\n", "    if True:\n"),
    ],
    "17.c": [
        ATT + "    w = torch.softmax(q @ k.transpose(-2, -1), -1)\n    return w @ v\n",
        ATT + "    w = torch.softmax(q @ k.transpose(-2, -1) / q.shape[-1], -1)\n    return w @ v\n",
        ATT + "    w = torch.softmax(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5, -1)\n    return w @ v\n",
        ATT
        + "    s = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5\n    if causal:\n        s = s.tril()\n    return torch.softmax(s, -1) @ v\n",
        ATT
        + "    w = torch.softmax(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5, -1)\n    if causal:\n        w = w.tril()\n    return w @ v\n",
        ATT + MASKED.replace("triu(1)", "triu(2)"),
        ATT + MASKED.replace("triu(1)", "triu(0)"),
        ATT + MASKED.replace("s, -1)", "s, -2)"),
        ATT + MASKED.replace("if causal", "if not causal"),
        ATT + MASKED.replace("q @ k.transpose", "k @ q.transpose"),
        ATT + MASKED.replace("float('-inf')", "0.0"),
        ATT + "    return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)\n",
    ],
    "19.b": [rule + as_a_node("logsumexp") for rule in LOGSUMEXP] + [rule + as_a_node("gelu") for rule in GELU],
}

CHANGES = {  # a second list, of pieces of the solution and what stands in their place; written before the rules were raised for it
    "12.b": [
        [
            (
                "self.derivative * other.value + self.value * other.derivative",
                "self.derivative * self.value + other.value * other.derivative",
            )
        ],
        [
            (
                "self.derivative * other.value + self.value * other.derivative",
                "self.derivative * other.value + self.value * other.value",
            )
        ],
        [("top / other.value**2", "top / self.value**2")],
        [("n * self.value ** (n - 1) * self.derivative", "n * self.value ** (n - 1) + self.derivative")],
        [("n * self.value ** (n - 1) * self.derivative", "(n - 1) * self.value ** n * self.derivative")],
        [("n * self.value ** (n - 1) * self.derivative", "n * self.derivative ** (n - 1)")],
        [("sin(self.value), cos(self.value)", "sin(self.value), -sin(self.value)")],
        [("sin(self.value), cos(self.value) * self.derivative", "sin(self.value), cos(self.value * self.derivative)")],
        [("exp(self.value), exp(self.value) * self.derivative", "exp(self.value), self.derivative")],
        [("return self + other * -1", "return self * -1 + other")],
        [("return -self + other", "return other + self")],
        [("    def __gt__(self, other):\n        return self.value > lift(other).value\n", "")],
        [("return lift(other) / self", "return Dual(other / self.value, -other * self.derivative / self.value)")],
        [
            (
                "Dual(self.value / other.value, top",
                "Dual(self.value / other.value, self.derivative / other.derivative if other.derivative else top",
            )
        ],
        [
            (
                "return Dual(self.value + other.value, self.derivative + other.derivative)",
                "self.value += other.value\n        self.derivative += other.derivative\n        return self",
            )
        ],
    ],
    "12.c": [
        [("if m > n", "if m < n")],
        [
            (
                "torch.func.vmap(push)(torch.eye(n, dtype=x.dtype)).T",
                "torch.func.vmap(push)(torch.eye(n, dtype=x.dtype)).sum(0)",
            )
        ],
        [("torch.func.vmap(push)", "torch.func.vmap(push, in_dims=1)"), (".T\n", "\n")],
        [("torch.func.jvp(f, (x,), (u,))[1]", "torch.func.jvp(f, (x,), (u,))[1] * u")],
        [("torch.func.jvp(f, (x,), (u,))[1]", "torch.func.jvp(f, (u,), (x,))[1]")],
        [("    _, pull = torch.func.vjp(f, x)", "    pull, _ = torch.func.vjp(f, x)")],
        [("    return rows\n", "    return rows[0]\n")],
        [("    return rows\n", "")],
        [("torch.eye(m, dtype=x.dtype)", "torch.ones(m, m, dtype=x.dtype)")],
    ],
    "12.d": [
        [("(most / norms).clamp(max=1)", "(most / norms).clamp(min=1)")],
        [("(most / norms).clamp(max=1)", "(most / (norms + 1)).clamp(max=1)")],
        [("torch.tensordot(factors, g, dims=1)", "(factors[0] * g).sum(0)")],
        [("torch.tensordot(factors, g, dims=1)", "(factors.mean() * g).sum(0)")],
        [("torch.tensordot(factors, g, dims=1)", "torch.tensordot(factors, g, dims=1) / factors.sum()")],
        [(") - y) ** 2", ") - y)")],
        [("torch.func.grad(loss)", "loss")],
        [("(g.flatten(1) ** 2).sum(1)", "(g.flatten(1)).abs().sum(1)")],
        [("(g.flatten(1) ** 2).sum(1)", "(g ** 2).sum(1)")],
    ],
    "14.b": [
        [("exps[i] / total - (i == target)", "exps[i] / total - 1")],
        [("exps[i] / total - (i == target)", "exps[i] / total + (i == target)")],
        [("exps[i] / total - (i == target)", "exps[i] - total * (i == target)")],
        [("exps[i] / total - (i == target)", "(exps[i] / total - (i == target)) / len(scores)")],
        [("exps[i] / total - (i == target)", "exps[i] / total - (i == scores[target])")],
        [("* out.grad", "* out.data")],
        [("* out.grad", "+ out.grad")],
        [("exps = [math.exp(s.data - top) for s in scores]", "exps = [math.exp(top - s.data) for s in scores]")],
        [("total = sum(exps)", "total = max(exps)")],
        [("total = sum(exps)", "total = sum(exps) / len(exps)")],
        [("math.log(total) + top - scores[target].data", "math.log(total) + top")],
        [("math.log(total) + top - scores[target].data", "math.log(total) - top - scores[target].data")],
        [("max(s.data for s in scores)", "scores[0].data")],
        [("max(s.data for s in scores)", "min(s.data for s in scores)")],
        [("s.grad += (exps[i] / total - (i == target)) * out.grad", "s.grad += out.grad")],
        [
            (
                "        for i, s in enumerate(scores):\n            s.grad += (exps[i] / total - (i == target)) * out.grad\n",
                "        scores[target].grad += (exps[target] / total - 1) * out.grad\n",
            )
        ],
    ],
    "14.b2": [
        [("(np.exp(log_p) - y) / n", "(np.exp(log_p) - y) / classes")],
        [("(np.exp(log_p) - y) / n", "(np.exp(log_p) + y) / n")],
        [("(np.exp(log_p) - y) / n", "(np.exp(shifted) - y) / n")],
        [("(np.exp(log_p) - y) / n", "-(y / np.exp(log_p)) / n")],
        [("(np.exp(log_p) - y) / n", "((np.exp(log_p) - y) / n).T")],
        [("(np.exp(log_p) - y) / n", "(np.exp(log_p) - (y > 0.5)) / n")],
        [("-(y * log_p).sum() / n", "-(y * log_p).sum() / classes")],
        [("-(y * log_p).sum() / n", "-(y * np.exp(log_p)).sum() / n")],
        [("-(y * log_p).sum() / n", "-log_p.sum() / n")],
        [("-(y * log_p).sum() / n", "-(y * log_p).sum() / n + smoothing")],
        [("+= 1 - smoothing", "+= 1")],
        [("+= 1 - smoothing", "-= 1 - smoothing")],
        [("smoothing / classes", "smoothing")],
        [("smoothing / classes", "smoothing / n")],
        [("axis=1, keepdims=True)\n    log_p", "axis=0, keepdims=True)\n    log_p")],
        [("np.exp(shifted).sum(axis=1, keepdims=True)", "np.exp(shifted).mean(axis=1, keepdims=True)")],
        [("np.exp(shifted).sum(axis=1, keepdims=True)", "np.exp(shifted).sum(axis=1)")],
        [("np.arange(n), targets", "targets, np.arange(n)")],
    ],
    "14.c": [
        [("(g_hat * x_hat).mean(axis=1, keepdims=True)", "(g_hat * x_hat).mean()")],
        [("(g_hat * x_hat).mean(axis=1, keepdims=True)", "(g_hat * x_hat).mean(axis=1)")],
        [("(g_hat * x_hat).mean(axis=1, keepdims=True)", "(g * x_hat).mean(axis=1, keepdims=True)")],
        [("(g_hat * x_hat).mean(axis=1, keepdims=True)", "(g_hat * x).mean(axis=1, keepdims=True)")],
        [("(g_hat * x_hat).mean(axis=1, keepdims=True)", "x_hat.mean(axis=1, keepdims=True)")],
        [(") / rms\n    return", ") * rms\n    return")],
        [("g_hat - x_hat * ", "x_hat * ")],
        [("g_hat = gamma * g", "g_hat = g / gamma")],
        [("(g * x_hat).sum(axis=0)", "g.sum(axis=0)")],
        [("(g * x_hat).sum(axis=0)", "(g * x_hat * gamma).sum(axis=0)")],
        [("x_hat = x / rms", "x_hat = (x - x.mean(axis=1, keepdims=True)) / rms")],
        [("x_hat = x / rms", "x_hat = x * rms")],
        [("(x * x)", "np.abs(x)")],
        [("g_hat - x_hat *", "g_hat - 2 * x_hat *")],
    ],
    "14.d": [
        [("p[np.arange(n), targets] -= 1", "p[targets] -= 1")],
        [('grads["z"] = p / n', 'grads["z"] = p / p.size')],
        [('grads["z"].T @ a', 'grads["z"].T @ y')],
        [('grads["z"] @ W2', 'grads["z"].T @ W2.T')],
        [("(1 - a * a) * grads", "(1 + a * a) * grads")],
        [('(grads["y"] * h_hat).sum(axis=0)', '(grads["y"] * h_hat).mean(axis=0)')],
        [('(grads["y"] * h_hat).sum(axis=0)', 'grads["y"] * h_hat')],
        [("(up - up.mean(axis=0) - h_hat", "(up - h_hat")],
        [(" - h_hat * (up * h_hat).mean(axis=0)", "")],
        [('grads["h"].T @ e', 'grads["y"].T @ e')],
        [('grads["h"].T @ e', 'e.T @ grads["h"]')],
        [('grads["h"].sum(axis=0)', 'grads["h"].sum()')],
        [('gamma * grads["y"]', 'grads["y"] / gamma')],
    ],
    "15.b": [
        [("output - wanted[:, None]", "(output > 0.5).float() - wanted[:, None]")],
        [("output - wanted[:, None]", "wanted - output.squeeze()"), ("(error**2).mean()", "error.mean()")],
        [("wanted[:, None]", "wanted"), ("nn.Tanh()", "nn.ReLU()")],
        [("wanted[:, None]", "wanted"), ("torch.optim.Adam", "torch.optim.SGD")],
        [("wanted[:, None]", "wanted"), ("loss.backward()", "loss.backward(retain_graph=True)")],
        [("wanted[:, None]", "wanted[None, :]")],
    ],
    "15.c": [
        [(" / parts  # h", " / len(rows)  # h")],
        [(" / parts  # h", " / steps  # h")],
        [(" / parts  # h", "  # h"), ("lr=0.05", "lr=0.05 / 4")],
        [("            loss.backward()  ", "            (loss * parts).backward()  ")],
    ],
    "15.d": [
        [("p.grad = None ", "p.grad = torch.zeros_like(p) ")],
        [("p.grad = None ", "p.grad *= 0.001 ")],
        [("p.grad = None ", "p.data.zero_() ")],
        [("if step >= 15 else []", "if step >= 14 else []")],
        [("p.grad = None ", "optimizer.zero_grad() ")],
    ],
    "15.e": [
        [("        net.eval()\n", "        net.eval\n")],
        [
            (
                "{name: value.clone() for name, value in net.state_dict().items()}",
                "{name: value.detach() for name, value in net.state_dict().items()}",
            )
        ],
        [("if score < best", "if score <= best + 1")],
        [("        net.train()\n", "        net.eval()\n")],
    ],
    "18.b": [
        [
            (
                "for handle in self.handles:\n            handle.remove()",
                "for handle in self.handles[1:]:\n            handle.remove()",
            )
        ],
        [("flat(layer, y)))", "flat(layer, y) * 100))")],
        [("y.mean().item(), y.std().item()", "y.abs().mean().item(), y.std().item()")],
        [("y.mean().item(), y.std().item()", "y.mean().item(), y.std(unbiased=False).item()")],
        [("y.mean().item(), y.std().item()", "y.sum().item(), y.std().item()")],
        [("register_forward_hook", "register_forward_pre_hook"), ("def hook(layer, inputs, y)", "def hook(layer, y)")],
        [("def hook(layer, inputs, y)", "def hook(layer, y)")],
        [
            (
                "rows.append((y.mean().item(), y.std().item(), flat(layer, y)))",
                "rows.extend((y.mean().item(), y.std().item(), flat(layer, y)))",
            )
        ],
        [("        return self.seen\n", "        return self.handles\n")],
    ],
    "18.c": [
        [("before = {p: p.grad for p in v._prev}", "before = {v: v.grad}")],
        [("            return v\n        for p, g in before", "            return [v]\n        for p, g in before")],
        [("any(p.grad != p.grad for p in before)", "any(abs(p.grad) > 1e300 for p in before)")],
        [
            (
                "        for p, g in before.items():\n            p.grad += g\n",
                "        for p, g in before.items():\n            p.grad -= g\n",
            )
        ],
        [("reversed(order)", "reversed(order[:-1])")],
        [("        v._backward()\n        if any", "        if any")],
        [("            return v\n        for p, g", "            return v.grad\n        for p, g")],
    ],
    "07.e": [
        [("        if v._prev:\n            v.grad = 0.0\n", "        if v is not root:\n            v.grad = 0.0\n")],
        [("    root.grad = 1.0\n", "    root.grad = 2.0\n")],
        [("            v.grad = 0.0\n", "            v.grad = 1.0\n")],
        [("reversed(order)", "order")],
        [("        v._backward()\n", "        if v._prev: v.grad = 0.0\n        v._backward()\n")],
    ],
}

VALUES = {
    "10.a2": [108, 0, 9, 6, 27, 18, 36],
    "12.a": [4.6, 0.6333, 2.6, 3.0, 1.5, -2.9, 1.9, 0.2913],
    "18.a": ["c", "loss", "a"],
}

ENTRIES = {  # what differs from the right answers
    "11.a": [
        {f"the {n} derivative": value}
        for n, value in (("second", 6), ("first", 8), ("second", 24), ("first", 6), ("second", 3), ("first", 4))
    ],
    "14.a": [
        {"softmax": 5},
        {"layer norm": 5},
        {"tanh, entry by entry": 1},
        {"x[::-1], reversed": 25},
        {"softmax": 10},
        {"layer norm": 15},
    ],
    "16.a": [
        {"keep all 100": 1},
        {"keep only the batch": 1},
        {"keep every 10th": 10},
        {"keep every 10th": 20},
        {"keep every 10th": 11},
        {"keep only the batch": 99},
        {"keep every 10th": 50},
        {"keep all 100": 50},
    ],
    "17.a": [
        {"the weight has changed": 4},
        {".grad is filled": 5},
        {"a graph exists": 3},
        {"the weight has changed": 6},
        {".grad is filled": 1},
    ],
    "17.d": [
        {"A": "b"},
        {"A": "a"},
        {"B": "a"},
        {"C": "d"},
        {"D": "c"},
        {"C: change": "s"},
        {"D: change": "s"},
        {"B: change": "s"},
        {"A: change": "p"},
    ],
}
