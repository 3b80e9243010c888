"""PyTorch's own samples of its operations, with its stored answers: results, gradients, the gradients' own, forward mode."""

import json
import warnings

import numpy as np
import pytest

import minigrad

from .opinfo import STORED, TIES, Call, Side, compare, decoded, ours

SAMPLES = json.loads(STORED.read_text())


@pytest.mark.parametrize("key", SAMPLES)
def test_a_sample_of_pytorch(key):
    entry = SAMPLES[key]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        mine = Side(minigrad).answers(ours(entry["name"]), Call(*decoded(entry["call"])), key.endswith("float"))
    if entry["name"] in TIES and key.endswith("whole"):
        mine["out"] = mine["out"][:1]
    assert not compare(mine, decoded(entry["answers"]))
