"""torch.random: the generator, its seed, and the raw numbers that the random factories are made of.

What lives here: PyTorch's own algorithms on the Mersenne twister (the twister itself is numpy's), so that `manual_seed(0)` gives the
numbers that PyTorch gives on a CPU. What does not: `rand`, `randn` and the others (create.py).
"""

from typing import Any

import numpy as np

from .core.devices import device as make_device
from .core.variable import wrap


class Generator:
    """A source of random numbers with a seed and a state of its own.

    >>> import minigrad as torch
    >>> torch.rand(2, generator=torch.Generator().manual_seed(0))
    tensor([0.4963, 0.7682])
    """

    def __init__(self, device="cpu"):
        self.device = make_device(device)
        bits = np.random.MT19937()
        self.twister = np.random.RandomState(bits)  # whose seed() is the one that PyTorch has
        self.numpy = np.random.Generator(bits)  # for draws that PyTorch makes in another way
        self.manual_seed(67280421310721)  # PyTorch's own default

    def manual_seed(self, seed):
        """Start again from `seed`. Returns the generator."""
        self._seed = int(seed) % 2**64
        self.twister.seed(self._seed % 2**32)
        self.spare = None  # normal numbers are drawn in pairs
        return self

    def initial_seed(self):
        return self._seed

    def seed(self):
        """Start from a seed that cannot be foreseen, and return it."""
        entropy: Any = np.random.SeedSequence().entropy  # an int, as none was passed in
        return self.manual_seed(entropy % 2**63)._seed

    def get_state(self):
        """The state as a tensor of bytes; set_state() takes it back."""
        _, key, position, _, _ = self.twister.get_state()
        spare = np.array([np.nan if self.spare is None else self.spare])
        head = np.array([self._seed, position], np.uint64)
        return wrap(
            np.concatenate([head.view(np.uint8), np.asarray(key, np.uint32).view(np.uint8), spare.view(np.uint8)])
        )

    def set_state(self, new_state):
        """Go back to a state that get_state() returned. Raises RuntimeError for anything else."""
        data = np.ascontiguousarray(new_state.array)
        if data.dtype != np.uint8 or data.size != 16 + 4 * 624 + 8:
            raise RuntimeError("RNG state must be a torch.ByteTensor that get_state() returned")
        seed, position = data[:16].view(np.uint64)
        spare = data[-8:].view(np.float64)[0]
        self._seed, self.spare = int(seed), None if np.isnan(spare) else float(spare)
        self.twister.set_state(("MT19937", data[16:-8].view(np.uint32), int(position), 0, 0.0))
        return self

    # The numbers ------------------------------------------------------------------------------------------------------

    def words(self, n):
        """n random 32-bit words."""
        return self.twister.randint(0, 2**32, n, dtype=np.uint32)

    def long_words(self, n):
        """n random 64-bit words, each from two."""
        pairs = self.words(2 * n).astype(np.uint64)
        return (pairs[::2] << np.uint64(32)) | pairs[1::2]

    def uniform(self, n, dtype):
        """n numbers in [0, 1): as many random bits as the dtype has digits."""
        if dtype == np.float64:
            return (self.long_words(n) & np.uint64(2**53 - 1)) * 2.0**-53
        digits = 24 if dtype == np.float32 else 11
        return ((self.words(n) & np.uint32(2**digits - 1)) * 2.0**-digits).astype(dtype)

    def normal(self, n, dtype):
        """n normal numbers: Box and Muller's pairs, for 16 and more in blocks of 16, as PyTorch makes them."""
        if n < 16:
            return np.array([self._one_normal() for _ in range(n)]).astype(dtype)
        kind = np.float64 if dtype == np.float64 else np.float32
        out = self.uniform(n, kind)
        blocks = out[: n - n % 16].reshape(-1, 2, 8)
        blocks[...] = _box_muller(blocks)
        if n % 16:  # the last 16 are drawn again
            out[-16:] = _box_muller(self.uniform(16, kind).reshape(1, 2, 8)).reshape(16)
        return out.astype(dtype)

    def _one_normal(self):
        if self.spare is not None:
            value, self.spare = self.spare, None
            return value
        u1, u2 = self.uniform(2, np.float64)
        radius, angle = np.sqrt(-2 * np.log1p(-u2)), 2 * np.pi * u1
        self.spare = float(radius * np.sin(angle))
        return radius * np.cos(angle)

    def integers(self, low, high, n):
        """n whole numbers from low to high - 1."""
        span = high - low
        words = self.long_words(n) if span >= 2**28 else self.words(n).astype(np.uint64)
        return (words % np.uint64(span)).astype(np.int64) + low

    def permutation(self, n):
        """0 to n - 1 in random order: each place in turn changes with a random later one."""
        out = np.arange(n)
        words = self.words(max(n - 1, 0))
        for i in range(n - 1):
            j = i + int(words[i]) % (n - i)
            out[i], out[j] = out[j], out[i]
        return out


def _box_muller(uniform):
    radius = np.sqrt(-2 * np.log(1 - uniform[:, 0]))
    angle = uniform.dtype.type(2 * np.pi) * uniform[:, 1]
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1)


default_generator = Generator()
default_generator.seed()


def manual_seed(seed):
    """Start the default generator from `seed`: the same seed gives the same numbers, PyTorch's."""
    return default_generator.manual_seed(seed)


def seed():
    """Start the default generator from a seed that cannot be foreseen, and return it."""
    return default_generator.seed()


def initial_seed():
    """The seed that the process's random generator started from, an int."""
    return default_generator.initial_seed()


def get_rng_state():
    """The state of the process's random generator as a tensor of bytes (uint8), for `set_rng_state`."""
    return default_generator.get_state()


def set_rng_state(new_state):
    """Continue the process's random numbers from a state that `get_rng_state` returned. Raises an error for anything else."""
    default_generator.set_state(new_state)


class fork_rng:
    """Context manager: what happens inside does not move the default generator. Raises the device's error for other devices."""

    def __init__(self, devices=None, enabled=True, device_type="cuda"):
        for device in devices or () if enabled else ():
            make_device(f"{device_type}:{device}" if isinstance(device, int) else device)
        self.enabled = enabled

    def __enter__(self):
        self.state = get_rng_state()

    def __exit__(self, *exc):
        if self.enabled:
            set_rng_state(self.state)
