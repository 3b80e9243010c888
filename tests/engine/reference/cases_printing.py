"""What to print: numbers, dtype, facts and options, each with a name. The texts that PyTorch gives are in printing.json.

HAND is written out, RANDOM is seeded. An entry of HAND is (dtype, facts, options, expressions over numpy between semicolons or on
lines); `facts` is "" or "requires_grad" or "grad_fn" (the text of `x * 1` for an `x` that requires grad).
"""

from typing import Any

import numpy as np

HAND: list[tuple[str, str, dict[str, Any], str]] = [
    ("float32", "", {}, """
        [1, 2] ; 12 ; 0 ; -0.0 ; [-0.0, 1] ; [0, 0, 0] ; [-3, 20, 100] ; [1, nan] ; [1, inf, -inf] ; [nan] ; [-inf, nan]
        [[1, 2], [3, 4]] ; [[[1]]] ; 99999999 ; 1e8 ; 1.00001e8 ; [1, 1000] ; [1, 1001] ; [0, 5e8] ; [-1e8, 1e8] ; [1.5, -2.25] ; 0.1
        [0.1, 100.1] ; [0.1, 100.2] ; [1e-4] ; [1.0001e-4] ; [9.9999e-5] ; [1e-5, 1] ; [1e-5, nan, inf] ; 3.14159265
        [0.00012345, 0.01] ; [1e-40] ; [3e38, -3e38] ; [0.99999, 9.99996] ; [1234.5678] ; [1.5, nan, -inf, 0, -0.0]
        [[0.5, -100.25], [3, 4]] ; np.eye(3) * 0.5 ; [2.5, 3.5, 0.00005] ; 1e-38 * np.ones(2) ; [123456.789, 1000.5]
        [] ; np.empty((0, 3)) ; np.empty((2, 0)) ; np.empty((1, 0, 2))
        np.arange(20) ; np.arange(100) / 7 ; np.arange(60).reshape(2, 30) ; np.arange(24).reshape(2, 3, 4)
        np.arange(16).reshape(2, 2, 2, 2) / 3 ; np.arange(32).reshape(2, 2, 2, 2, 2) ; np.ones((3, 1)) ; np.ones((1, 3))
        np.ones((1, 1, 1, 1)) ; np.linspace(-1, 1, 33) ; np.logspace(-6, 6, 13) ; np.arange(1000) ; np.arange(1001)
        np.arange(2000) / 3 ; np.ones((40, 30)) ; np.arange(1200).reshape(40, 30) ; np.ones((6, 300)) ; np.ones((7, 300))
        np.ones((300, 6)) ; np.arange(3000).reshape(10, 3, 100) ; np.arange(1, 10001).reshape(10, 10, 10, 10) / 7
        np.r_[np.ones(500), 1e9, np.ones(500)] ; np.r_[np.ones(1000), 1e9] ; np.r_[0.5, np.ones(2000)]
        np.r_[np.ones(9), 0.5, np.ones(2000)]
    """),
    ("float64", "", {}, """
        [1, 2] ; 3.14159265358979 ; [1e-300, 1e300] ; [nan] ; 1e8 + 0.5 ; [[1.25, -1]] ; 0 ; [1e-310] ; 2.0**60
    """),
    ("float16", "", {}, """
        [1, 2] ; [0.1, 2] ; 65504 ; [6e-8, 1] ; [nan, inf] ; [[0.333, -0.666]] ; [2048, 0.5]
        []
    """),
    ("int64", "", {}, """
        [1, 2] ; 7 ; [-1, 100] ; [[1, -20], [300, 4]] ; 2**62 ; np.arange(40) ; np.arange(24).reshape(2, 3, 4) ; np.arange(-5, 6)
        [] ; np.empty((3, 0))
        np.arange(5000) ; np.arange(10000).reshape(100, 100)
    """),
    ("int32", "", {}, """
        [1, 2] ; -7 ; np.arange(30) * 1000
        np.arange(5000)
    """),
    ("int16", "", {}, """
        [1, -2]
    """),
    ("int8", "", {}, """
        [-128, 127] ; [[1], [-1]]
    """),
    ("uint8", "", {}, """
        [0, 255] ; 3 ; np.arange(30)
    """),
    ("bool", "", {}, """
        [True, False] ; True ; False ; np.eye(3) ; np.ones(30) ; np.zeros((2, 2, 2)) ; np.ones(1500)
        []
    """),
    ("float64", "requires_grad", {}, """
        [] ; np.empty((0, 3))
        [1, 2] ; np.arange(8) ; np.arange(9) / 8 ; np.arange(7) / 8 ; np.eye(3) ; np.arange(5) + 0.5 ; np.arange(6) + 0.5
    """),
    ("float32", "requires_grad", {}, """
        [1, 2] ; 3 ; [0.5] ; np.arange(12) ; np.arange(11) ; np.arange(10) ; np.arange(13) / 4 ; np.eye(2) ; np.arange(0, 300, 10)
        np.ones((50, 50)) ; np.arange(2000) / 8
    """),
    ("float32", "grad_fn", {}, """
        12 ; [1, 2] ; [0.5, 0.25] ; np.arange(12) ; np.arange(11) ; np.arange(10) ; np.arange(13) / 4 ; np.ones((2, 5))
        np.ones((2, 2, 2))
    """),
    ("float64", "grad_fn", {}, """
        2.5 ; np.arange(5) + 0.5 ; np.arange(6) + 0.5 ; np.arange(12) ; np.arange(13) ; np.eye(4)
        np.arange(2000) ; np.ones((50, 50))
    """),
    ("float32", "", {"profile": "full"}, """
        np.arange(1100)
    """),
    ("int64", "", {"threshold": 5, "edgeitems": 1}, """
        np.arange(10) ; np.arange(30).reshape(3, 2, 5)
    """),
    ("int64", "", {"edgeitems": 0, "threshold": 2}, """
        np.arange(10) ; np.arange(6).reshape(3, 2) ; [1] ; 5
    """),
    ("float64", "requires_grad", {"linewidth": 30}, """
        [1, 2] ; np.arange(5) / 2 ; 3
    """),
]  # fmt: skip
OPTIONS: list[dict[str, Any]] = [
    {"precision": 2}, {"precision": 0}, {"precision": 10}, {"sci_mode": True}, {"sci_mode": False}, {"linewidth": 40}, {"linewidth": 1},
    {"linewidth": 120}, {"threshold": 5}, {"threshold": 5, "edgeitems": 1}, {"threshold": 0}, {"edgeitems": 0, "threshold": 10},
    {"edgeitems": 2, "threshold": 10}, {"profile": "short"}, {"profile": "full"}, {"profile": "short", "precision": 5},
]  # fmt: skip
UNDER_OPTIONS = """
    [1, 2] ; [1.5, 22.25] ; np.arange(12) / 8 ; np.ones((3, 3)) / 3 ; 1.23456789 ; [1e-6, 1] ; np.arange(40).reshape(8, 5) ; np.arange(60)
"""
RANDOM = 60


def random_numbers(seed: int) -> tuple[np.ndarray, str, str, dict[str, Any]]:
    rng = np.random.RandomState(seed)  # the stream that numpy has promised never to change
    shape = tuple(rng.randint(1, 7, rng.randint(0, 5)))
    numbers = rng.randn(*shape) * 10.0 ** rng.randint(-6, 9)
    if rng.rand() < 0.4:
        numbers = numbers * 10.0 ** rng.randint(-3, 4, shape)
    if rng.rand() < 0.4:
        numbers = np.round(numbers)
    for special in (0.0, -0.0, np.inf, -np.inf, np.nan):
        if rng.rand() < 0.2:
            numbers = np.where(rng.rand(*shape) < 0.3, special, numbers)
    dtype = ("float32", "float32", "float64")[rng.randint(3)]
    facts = ("", "requires_grad", "grad_fn")[rng.randint(3)]
    if rng.rand() < 0.7:
        return np.asarray(numbers), dtype, facts, {}
    precision, linewidth, edgeitems = (int(rng.randint(*between)) for between in ((0, 7), (20, 100), (1, 4)))
    return (
        np.asarray(numbers),
        dtype,
        facts,
        {"precision": precision, "linewidth": linewidth, "edgeitems": edgeitems, "threshold": 20},
    )


def cases() -> dict[str, tuple[np.ndarray, str, str, dict[str, Any]]]:
    """name: (array of that dtype, dtype, facts, options)"""
    named = {}
    for dtype, facts, options, lines in [*HAND, *(("float32", "", options, UNDER_OPTIONS) for options in OPTIONS)]:
        for numbers in lines.replace("\n", ";").split(";"):
            if numbers := numbers.strip():
                array = np.array(eval(numbers, {"np": np, "nan": np.nan, "inf": np.inf})).astype(dtype)
                named[" ".join([numbers, dtype, facts, *(f"{k}={v}" for k, v in options.items())])] = (
                    array,
                    dtype,
                    facts,
                    options,
                )
    for seed in range(RANDOM):
        array, dtype, facts, options = random_numbers(seed)
        named[f"random {seed}"] = array.astype(dtype), dtype, facts, options
    return named


def torch_text(torch: Any, array: np.ndarray, dtype: str, facts: str) -> str:
    """The text by real torch, or by minigrad under that name."""
    x = torch.tensor(array.tolist() if array.size else array, dtype=getattr(torch, dtype)).reshape(array.shape)
    if facts in ("requires_grad", "grad_fn"):
        x.requires_grad_()
    return repr(x * 1 if facts == "grad_fn" else x)
