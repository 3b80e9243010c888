"""torch.distributions: Categorical, Normal, Bernoulli and Uniform.

What lives here: the four, and what they share. `sample` draws PyTorch's numbers from the same seed; gradients flow through `rsample`, where
there is one, and through `log_prob`.
"""

import math
from typing import Any

from .core import errors
from .core.grad_mode import no_grad
from .core.variable import Size
from .nn.functional import binary_cross_entropy_with_logits, log_softmax, softmax
from .ops.elementwise import log, sigmoid, where
from .ops.joins import broadcast_tensors
from .tensors import create
from .tensors.create import as_tensor, full_like
from .tensors.tensor import Tensor


def _broadcast(*parameters: Any) -> list:
    """Numbers and tensors as tensors of one shape."""
    kind = next((p.dtype for p in parameters if isinstance(p, Tensor)), None)
    tensors = [p if isinstance(p, Tensor) else as_tensor(float(p), dtype=kind) for p in parameters]
    return [*broadcast_tensors(*tensors)]


def _shown(parameter: Any) -> Any:
    """A parameter in the name of a constraint."""
    return parameter.item() if parameter.numel() == 1 else parameter.detach()


class Distribution:
    """One distribution for each element of its parameters, which have the shape `batch_shape`."""

    has_rsample = False

    def __init__(self, batch_shape: Any, validate_args: Any = None):
        self.validated = validate_args is not False
        self.batch_shape, self.event_shape = Size(batch_shape), Size()

    def sample(self, sample_shape: Any = ()):
        """Drawn numbers of the shape sample_shape + batch_shape, without a graph."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = ()):
        """Drawn numbers through which gradients reach the parameters. Raises NotImplementedError where that is not possible."""
        raise NotImplementedError

    def log_prob(self, value: Any):
        """The logarithm of the density (or probability) at `value`."""
        raise NotImplementedError

    def entropy(self):
        """The expected value of -log_prob."""
        raise NotImplementedError

    @property
    def stddev(self):
        """The square root of the variance."""
        return self.variance.sqrt()

    variance: Any
    mean: Any

    def _shape(self, sample_shape):
        return (*sample_shape, *self.batch_shape)

    def _check(self, name, value, allowed, constraint):
        if not bool(allowed.array.all()):
            raise errors.new(
                ValueError,
                f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of distribution "
                f"{self!r} to satisfy the constraint {constraint}, but found invalid values:\n{value}",
            )

    def _check_value(self, value, support, fits):
        """Raise PyTorch's error for the argument of log_prob if it is no tensor, or has values outside of the support."""
        if not isinstance(value, Tensor):
            raise errors.new(
                ValueError, "The value argument to log_prob must be a Tensor", instead="torch.tensor(value)."
            )
        if self.validated and not bool(fits(value).array.all()):
            raise errors.new(
                ValueError,
                f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) to be within the support ({support}) of "
                f"the distribution {self!r}, but found invalid values:\n{value}",
            )

    def __repr__(self):
        text = [(name, getattr(self, name)) for name in self.parameters]
        texts = [f"{name}: {p.item() if p.numel() == 1 else p.size()}" for name, p in text]
        return f"{type(self).__name__}({', '.join(texts)})"

    parameters: tuple = ()


class Normal(Distribution):
    """The normal distribution with mean `loc` and standard deviation `scale`.

    >>> import minigrad as torch
    >>> torch.distributions.Normal(0., 1.).log_prob(torch.tensor(0.))
    tensor(-0.9189)
    """

    has_rsample, parameters = True, ("loc", "scale")

    def __init__(self, loc: Any, scale: Any, validate_args: Any = None):
        self.loc, self.scale = _broadcast(loc, scale)
        super().__init__(self.loc.shape, validate_args)
        if self.validated:
            self._check("scale", self.scale, self.scale > 0, "GreaterThan(lower_bound=0.0)")

    mean = mode = property(lambda self: self.loc)
    stddev = property(lambda self: self.scale)
    variance = property(lambda self: self.scale**2)

    def sample(self, sample_shape: Any = ()):
        shape = self._shape(sample_shape)
        with no_grad():
            return create.normal(self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape: Any = ()):
        shape = self._shape(sample_shape)
        noise = create.normal(0.0, 1.0, shape, dtype=self.loc.dtype)
        return self.loc + noise * self.scale

    def log_prob(self, value: Any):
        self._check_value(value, "Real()", lambda v: v == v)
        return -((value - self.loc) ** 2) / (2 * self.variance) - log(self.scale) - math.log(math.sqrt(2 * math.pi))

    def entropy(self):
        return 0.5 + 0.5 * math.log(2 * math.pi) + log(self.scale)


class Uniform(Distribution):
    """The uniform distribution on [low, high)."""

    has_rsample, parameters = True, ("low", "high")

    def __init__(self, low: Any, high: Any, validate_args: Any = None):
        self.low, self.high = _broadcast(low, high)
        super().__init__(self.low.shape, validate_args)
        if self.validated:
            self._check("low", self.low, self.low < self.high, f"LessThan(upper_bound={_shown(self.high)})")

    mean = property(lambda self: (self.high + self.low) / 2)
    stddev = property(lambda self: (self.high - self.low) / 12**0.5)
    variance = property(lambda self: (self.high - self.low) ** 2 / 12)

    def rsample(self, sample_shape: Any = ()):
        drawn = create.rand(self._shape(sample_shape), dtype=self.low.dtype)
        return self.low + drawn * (self.high - self.low)

    def log_prob(self, value: Any):
        low, high = _shown(self.low), _shown(self.high)
        self._check_value(
            value, f"Interval(lower_bound={low}, upper_bound={high})", lambda v: (v >= self.low) & (v <= self.high)
        )
        inside = ((self.low <= value) & (self.high > value)).to(self.low.dtype)
        return log(inside) - log(self.high - self.low)

    def entropy(self):
        return log(self.high - self.low)


class Bernoulli(Distribution):
    """1 with the probability `probs` (or sigmoid(`logits`)), else 0. Raises ValueError unless one of them is given."""

    parameters = ("probs",)

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: Any = None):
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        if probs is not None:
            (self.probs,) = _broadcast(probs)
            eps = 2.0**-52 if self.probs.itemsize == 8 else 2.0**-23
            super().__init__(self.probs.shape, validate_args)
            if self.validated:
                self._check(
                    "probs",
                    self.probs,
                    (self.probs >= 0) & (self.probs <= 1),
                    "Interval(lower_bound=0.0, upper_bound=1.0)",
                )
            clamped = self.probs.clamp(eps, 1 - eps)
            self.logits = log(clamped) - (-clamped).log1p()
        else:
            (self.logits,) = _broadcast(logits)
            self.probs, self.parameters = sigmoid(self.logits), ("logits",)
        super().__init__(self.probs.shape, validate_args)

    mean = property(lambda self: self.probs)
    variance = property(lambda self: self.probs * (1 - self.probs))

    def sample(self, sample_shape: Any = ()):
        with no_grad():
            return create.bernoulli(self.probs.detach().expand(self._shape(sample_shape)))

    def log_prob(self, value: Any):
        self._check_value(value, "Boolean()", lambda v: (v == 0) | (v == 1))
        shape = (self.logits + value).shape
        return -binary_cross_entropy_with_logits(
            self.logits.expand(shape), value.to(self.logits.dtype).expand(shape), reduction="none"
        )

    def entropy(self):
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")


class Categorical(Distribution):
    """The numbers 0 to K - 1 with the probabilities in the last dimension of `probs` (scaled to sum 1), or softmax(`logits`).
    Raises ValueError unless one of them is given.

    >>> import minigrad as torch
    >>> torch.distributions.Categorical(logits=torch.zeros(4)).entropy()  # log(4)
    tensor(1.3863)
    """

    parameters = ("probs",)

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: Any = None):
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        argument, name = (probs, "probs") if logits is None else (logits, "logits")
        if argument.ndim < 1:
            raise ValueError(f"`{name}` parameter must be at least one-dimensional.")
        if probs is not None:
            self.probs = probs
            super().__init__(probs.shape[:-1], validate_args)
            if self.validated:
                self._check("probs", probs, (probs >= 0).all(-1) & (probs.sum(-1) > 0), "Simplex()")
            self.probs = probs / probs.sum(-1, keepdim=True)
            eps = 2.0**-52 if probs.itemsize == 8 else 2.0**-23
            self.logits = log(self.probs.clamp(eps, 1 - eps))
        else:
            self.logits, self.parameters = log_softmax(logits, -1), ("logits",)
            self.probs = softmax(self.logits, -1)
        super().__init__(self.probs.shape[:-1], validate_args)

    mean = property(lambda self: full_like(self.probs[..., 0].detach(), math.nan))
    variance = mean
    mode = property(lambda self: self.probs.argmax(-1))

    def sample(self, sample_shape: Any = ()):
        rows = self.probs.detach().reshape(-1, self.probs.shape[-1])
        count = math.prod(sample_shape)
        return create.multinomial(rows, count, True).T.reshape(self._shape(sample_shape))

    def log_prob(self, value: Any):
        last = self.probs.shape[-1] - 1
        support = f"IntegerInterval(lower_bound=0, upper_bound={last})"
        self._check_value(value, support, lambda v: (v >= 0) & (v <= last) & (v == v.long()))
        value = value.long().unsqueeze(-1)
        shape = (value + self.logits[..., :1] * 0).shape[:-1]
        index = value.expand(*shape, 1)
        return self.logits.expand(*shape, self.logits.shape[-1]).gather(-1, index).squeeze(-1)

    def entropy(self):
        lowest = where(self.logits < -3.4028234663852886e38, -3.4028234663852886e38, self.logits)
        return -(lowest * self.probs).sum(-1)


__all__ = ["Bernoulli", "Categorical", "Distribution", "Normal", "Uniform"]
__getattr__ = errors.unknown_in("minigrad.distributions", lambda: __all__)
