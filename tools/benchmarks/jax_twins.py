"""The compiled workloads as one would write them in JAX, each one `jax.jit`: what minigrad's compiled steps are measured against.

Importing this file imports jax. Every function returns a step without arguments, which waits for its result.
"""

import jax
import jax.numpy as jnp
import numpy as np

_rng = np.random.RandomState(0)


def _normal(*shape):
    return jnp.asarray(_rng.randn(*shape), jnp.float32)


def _step(function, *args):
    fast = jax.jit(function)
    return lambda: jax.block_until_ready(fast(*args))


def small_elementwise():
    def loss(x, w):
        y = x
        for _ in range(4):
            y = jnp.tanh(y * w + x)
            y = y * 0.5 - w
        return y.sum()

    return _step(jax.grad(loss, (0, 1)), _normal(4), _normal(4))


def expression():
    def value(a, b):
        c = a + b
        d = a * b + b**3
        c = c + c + 1
        c = c + 1 + c - a
        d = d + d * 2 + jax.nn.relu(b + a)
        d = d + 3 * d + jax.nn.relu(b - a)
        f = (c - d) ** 2
        return f / 2.0 + 10.0 / f

    return _step(jax.value_and_grad(value, (0, 1)), jnp.float32(-4.0), jnp.float32(2.0))


def small_mlp():
    sizes = [64, 256, 128, 10]
    params = [(_normal(n, m) * n**-0.5, jnp.zeros(m, jnp.float32)) for n, m in zip(sizes, sizes[1:], strict=False)]
    x, y = _normal(32, 64), jnp.asarray(_rng.randint(0, 10, 32))

    def loss(params):
        h = x
        for w, b in params[:-1]:
            h = jax.nn.relu(h @ w + b)
        w, b = params[-1]
        return -jnp.take_along_axis(jax.nn.log_softmax(h @ w + b), y[:, None], 1).mean()

    def update(params, m, v, t):
        value, grads = jax.value_and_grad(loss)(params)
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, grads)
        v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, grads)
        params = jax.tree.map(
            lambda p, m, v: p - 1e-3 / (1 - 0.9**t) * m / (jnp.sqrt(v) / jnp.sqrt(1 - 0.999**t) + 1e-8), params, m, v
        )
        return value, params, m, v, t + 1

    fast = jax.jit(update, donate_argnums=(0, 1, 2))
    state = [params, jax.tree.map(jnp.zeros_like, params), jax.tree.map(jnp.zeros_like, params), jnp.float32(1)]

    def step():
        value, *state[:] = fast(*state)
        return jax.block_until_ready(value)

    return step


def index_small():
    w, index, g = _normal(27, 10), jnp.asarray(_rng.randint(0, 27, 96)), _normal(96, 10)
    return _step(lambda w, index, g: jax.vjp(lambda w: w[index], w)[1](g)[0], w, index, g)


def hessian_vector_product():
    ws = [_normal(n, m) * n**-0.5 for n, m in ((32, 64), (64, 64), (64, 1))]
    vs, x = [_normal(*w.shape) for w in ws], _normal(64, 32)

    def loss(ws):
        h = x
        for w in ws[:-1]:
            h = jnp.tanh(h @ w)
        return ((h @ ws[-1]) ** 2).mean()

    return _step(lambda ws, vs: jax.vjp(jax.grad(loss), ws)[1](vs)[0][0], ws, vs)
