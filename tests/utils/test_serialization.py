"""save and load: everything comes back as it was, and nothing in a file can run code."""

import io
import json
import math
import pickle
import zipfile
from collections import OrderedDict

import numpy as np
import pytest

import minigrad as torch
from minigrad import nn, optim


def there_and_back(x):
    file = io.BytesIO()
    torch.save(x, file)
    file.seek(0)
    return torch.load(file)


def test_plain_data():
    data = {
        "a": [1, 2.5, True, None, "ü"],
        3: (1, (2, [])),
        (1, "k"): {},
        "x": math.inf,
        "y": -math.inf,
        "o": OrderedDict(b=1, a=2),
    }
    back = there_and_back(data)
    assert (
        back == data and type(back["o"]) is OrderedDict and list(back["o"]) == ["b", "a"] and type(back[3][1]) is tuple
    )
    assert math.isnan(there_and_back(math.nan))
    assert there_and_back(torch.Size([2, 3])) == torch.Size([2, 3]) and there_and_back(torch.int8) is torch.int8
    assert there_and_back(np.float32(0.5)) == 0.5


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint8", "bool"])
def test_tensors(dtype):
    for shape in ((), (0, 2), (2, 3)):
        x = torch.tensor(np.arange(math.prod(shape)).reshape(shape)).to(getattr(torch, dtype))
        y = there_and_back(x)
        assert y.dtype == x.dtype and y.shape == x.shape and torch.equal(x, y) and not y.requires_grad
    a = there_and_back(np.arange(3))
    assert type(a) is np.ndarray and a.tolist() == [0, 1, 2]


def test_views_gradients_and_sharing():
    x = torch.arange(6.0).reshape(2, 3).t()
    assert torch.equal(there_and_back(x), x)
    leaf = torch.ones(2, requires_grad=True)
    a, b, c = there_and_back([leaf, leaf * 2, nn.Parameter(torch.ones(1))])
    assert a.requires_grad and b.requires_grad and b.is_leaf and isinstance(c, nn.Parameter) and c.requires_grad
    one, two = there_and_back([leaf, leaf.detach()])
    two.fill_(7)
    assert one.tolist() == [7, 7]
    (loaded,) = there_and_back([leaf])
    assert (loaded * 2).sum().requires_grad


def test_a_damaged_place_is_refused():
    file = io.BytesIO()
    torch.save(torch.arange(4.0)[1:3], file)
    with zipfile.ZipFile(file) as archive:
        structure = json.loads(archive.read("structure.json"))
        array = archive.read("arrays/0.npy")
    assert structure["data"]["place"] == [1, [2], [1]]
    structure["data"]["place"] = [3, [2], [1]]
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("structure.json", json.dumps(structure))
        archive.writestr("arrays/0.npy", array)
    with pytest.raises((ValueError, TypeError)):
        torch.load(file)


def test_a_model_and_its_optimizer(tmp_path):
    def build():
        model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 1))
        return model, optim.Adam(model.parameters(), lr=0.01)

    def step(model, optimizer):
        optimizer.zero_grad()
        (model(torch.arange(8.0).reshape(4, 2)) ** 2).mean().backward()
        optimizer.step()

    (model, optimizer), (twin, twin_optimizer) = build(), build()
    step(model, optimizer)
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 1}, tmp_path / "checkpoint")
    found = torch.load(str(tmp_path / "checkpoint"), map_location="cpu", weights_only=True)
    twin.load_state_dict(found["model"])
    twin_optimizer.load_state_dict(found["optimizer"])
    for _ in range(2):
        step(model, optimizer)
        step(twin, twin_optimizer)
    assert all(torch.equal(p, q) for p, q in zip(model.parameters(), twin.parameters(), strict=True))


def test_equal_data_gives_equal_bytes():
    def written():
        file = io.BytesIO()
        torch.save({"x": torch.ones(2)}, file)
        return file.getvalue()

    assert written() == written()


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (nn.Linear(1, 1), r"save\(\): obj is a Linear, which cannot be saved[\s\S]*state_dict\(\)"),
        ({"a": [1, object()]}, r"save\(\): obj\['a'\]\[1\] is an object, which cannot be saved"),
        ({1, 2}, r"obj is a set"),
        (lambda: 0, r"obj is a function"),
        (np.array(["a"]), "only numbers and bools can be saved"),
        ({torch.ones(1): 1}, "keys are strings, numbers or tuples of them"),
    ],
)
def test_what_cannot_be_saved_is_named(x, message):
    with pytest.raises(TypeError, match=message):
        torch.save(x, io.BytesIO())


class Bomb:
    def __reduce__(self):
        return (pytest.fail, ("code ran",))


def test_nothing_is_unpickled(tmp_path):
    (tmp_path / "pickle").write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(ValueError, match=r"was not written by minigrad's save\(\)"):
        torch.load(tmp_path / "pickle")
    with zipfile.ZipFile(tmp_path / "torch", "w") as archive:  # as PyTorch lays out a .pt file
        archive.writestr("archive/data.pkl", pickle.dumps(Bomb()))
    with pytest.raises(ValueError, match="PyTorch's .pt files are pickles"):
        torch.load(tmp_path / "torch")
    array = io.BytesIO()
    np.save(array, np.array([Bomb()], dtype=object), allow_pickle=True)
    structure = {"minigrad": 1, "data": {"kind": "Tensor", "array": 0, "requires_grad": False}}
    with zipfile.ZipFile(tmp_path / "array", "w") as archive:
        archive.writestr("structure.json", json.dumps(structure))
        archive.writestr("arrays/0.npy", array.getvalue())
    with pytest.raises(ValueError, match="allow_pickle=False"):
        torch.load(tmp_path / "array")


def test_damaged_files(tmp_path):
    def with_structure(structure):
        with zipfile.ZipFile(tmp_path / "f", "w") as archive:
            archive.writestr("structure.json", json.dumps(structure))
        return torch.load(tmp_path / "f")

    with pytest.raises(ValueError, match="another version"):
        with_structure({"minigrad": 99, "data": None})
    with pytest.raises(ValueError, match="there is no kind 'exec'"):
        with_structure({"minigrad": 1, "data": {"kind": "exec", "value": "1"}})
    with pytest.raises(FileNotFoundError):
        torch.load(tmp_path / "nosuch")
