"""The clinic: every fault shows in the instrument that is meant for it, and two of them do not show in the loss."""

import re

import pytest

from minigrad.course.checking import Check
from minigrad.course.clinic import FAULTS, INSTRUMENTS


@pytest.fixture(scope="module")
def patients(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("clinic"))
        check = Check()
        return {name: check.sicken(k) for k, name in enumerate(FAULTS)}


def numbers(note):
    return {name: float(x) for name, x in re.findall(r"(\w+):? ([\d.e+-]+)", note.body)}


def test_each_fault_is_seen_by_its_instrument_and_by_no_other(patients):
    fresh = {name: numbers(p.measure("fresh"))["b1"] for name, p in patients.items()}
    assert fresh["stale gradient"] > 1.3 and all(
        abs(v - 1) < 0.01 for name, v in fresh.items() if name != "stale gradient"
    )
    moved = {name: numbers(p.measure("moved"))["W1"] for name, p in patients.items()}
    assert moved["old list"] == 0 and all(v > 0 for name, v in moved.items() if name != "old list")
    nudged = {name: numbers(p.measure("nudged")) for name, p in patients.items()}
    assert abs(nudged["wrong rule"]["b1"] - 1) > 0.5
    assert all(abs(v - 1) < 0.02 for name, found in nudged.items() if name != "wrong rule" for v in found.values())
    fours = {name: numbers(p.measure("by class"))["4"] for name, p in patients.items()}
    assert fours["wrong labels"] < 20 and min(v for name, v in fours.items() if name != "wrong labels") > 60
    firing = {name: int(p.measure("firing").body.split()[0]) for name, p in patients.items()}
    assert firing["dead units"] >= 26 and max(v for name, v in firing.items() if name != "dead units") < 10


def test_the_loss_alone_does_not_tell_all_of_them(patients):
    ends = {name: sum(p.losses[-40:]) / 40 for name, p in patients.items()}
    assert (
        max(ends["stale gradient"], ends["wrong rule"])
        < 0.16
        < 0.3
        < min(ends["old list"], ends["wrong labels"], ends["dead units"])
    )


def test_measurements_are_counted_and_a_wrong_name_costs_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    patient = Check().sicken(2)
    assert all(name in repr(patient.measure()) for name in INSTRUMENTS) and patient.measured == 0
    assert all(name in repr(patient.diagnose()) for name in FAULTS)
    assert "measurement 1, nudged" in repr(patient.measure("nudged"))
    assert repr(patient.diagnose("dead units")).startswith("✗ It is not 'dead units'")
    assert repr(patient.diagnose("wrong rule")).startswith(
        "✓ ★★★ Yes, wrong rule: the backward rule of relu passes everything"
    )
    assert "You needed 2 measurements" in repr(patient.diagnose("wrong rule"))


def test_what_the_instruments_call_healthy_is_what_a_healthy_loop_gives(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(FAULTS, "none", lambda patient: None)
    patient = Check().sicken(list(FAULTS).index("none"))
    for name, near in (("loss", 0.02), ("held out", 15), ("firing", 3)):
        *came, healthy = map(float, re.findall(r"\d+\.?\d*", patient.measure(name).body))
        assert came[1 if name == "loss" else 0] == pytest.approx(healthy, abs=near), name
