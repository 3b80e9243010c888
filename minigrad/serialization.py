"""torch.save and torch.load in a format that cannot run code.

What lives here: a zip file with one JSON document that describes the structure, and one .npy array per tensor. Nothing in it names a class
or a function to call, so loading a stranger's file gives data or an error, never behaviour. What does not: whole modules (save their
state_dict) and PyTorch's own .pt files, which are pickles.

    structure.json    {"minigrad": 2, "data": ...} where each value is {"kind": ..., ...}; plain JSON values are stored as they are
    arrays/0.npy ...  numpy's format, read with allow_pickle=False

A tensor names its array and, if it is not all of it, its place there, so tensors that share memory share it again after loading. Version
1 of the format had no places.
"""

import io
import json
import math
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .core import dtypes, errors
from .core.devices import device
from .core.storage import array_at, in_order, place_of
from .core.variable import Size
from .nn.module import Module
from .nn.parameter import Parameter
from .tensors.tensor import Tensor

VERSION = 2
_STAMP = (1980, 1, 1, 0, 0, 0)  # the same data gives the same bytes


def save(obj: Any, f: Any) -> None:
    """Write tensors, parameters, numbers, strings, None and lists, tuples and dicts of them to a path or a binary file.

    Tensors that share their storage share it again after loading. Raises TypeError for anything else, saying where it is.

    >>> import io, minigrad as torch
    >>> file = io.BytesIO()
    >>> torch.save({"w": torch.ones(2), "epoch": 3}, file)
    >>> _ = file.seek(0)
    >>> torch.load(file)
    {'w': tensor([1., 1.]), 'epoch': 3}
    """
    saved = _Saved([], {}, {})
    structure = {"minigrad": VERSION, "data": _encode(obj, saved, "obj")}
    with zipfile.ZipFile(f, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo("structure.json", _STAMP), json.dumps(structure, allow_nan=False))
        for i, array in enumerate(saved.arrays):
            data = io.BytesIO()
            np.save(data, array, allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"arrays/{i}.npy", _STAMP), data.getvalue())


class _Saved(NamedTuple):
    arrays: list[np.ndarray]  # keeps them alive, so that their ids stay their own
    numbers: dict[int, int]  # id of an array: its position
    tensors: dict[int, int]  # id of a tensor: the how manyth it was


def _encode(x: Any, saved: _Saved, where: str) -> Any:
    if x is None or type(x) in (bool, int, str):
        return x
    if type(x) is float:
        return x if math.isfinite(x) else {"kind": "float", "value": repr(x)}
    if isinstance(x, (Tensor, np.ndarray)):
        array = x.array if isinstance(x, Tensor) else x
        if array.dtype.kind not in "fiub":
            raise TypeError(f"save(): {where} is an array of {array.dtype}; only numbers and bools can be saved.")
        if id(x) in saved.tensors:
            return {"kind": "same", "tensor": saved.tensors[id(x)]}
        owner, offset, strides = place_of(array) if isinstance(x, Tensor) else (array, 0, None)
        if id(owner) not in saved.numbers:
            saved.numbers[id(owner)] = len(saved.arrays)
            saved.arrays.append(in_order(owner) if isinstance(x, Tensor) else owner)
        kind = "Parameter" if isinstance(x, Parameter) else "Tensor" if isinstance(x, Tensor) else "ndarray"
        record = {"kind": kind, "array": saved.numbers[id(owner)]}
        if owner is not array or not array.flags.c_contiguous:
            record["place"] = [offset, array.shape, strides]
        if isinstance(x, Tensor):
            saved.tensors[id(x)] = len(saved.tensors)
            record["requires_grad"] = x.requires_grad
        return record
    if isinstance(x, np.generic):
        return _encode(x.item(), saved, where)
    if isinstance(x, Size):
        return {"kind": "Size", "items": list(x)}
    if isinstance(x, dtypes.dtype):
        return {"kind": "dtype", "name": x.name}
    if type(x) in (list, tuple):
        items = [_encode(v, saved, f"{where}[{i}]") for i, v in enumerate(x)]
        return items if type(x) is list else {"kind": "tuple", "items": items}
    if isinstance(x, dict):
        items = []
        for key, value in x.items():
            if not isinstance(key, (str, int, float, bool, tuple, type(None))):
                raise TypeError(
                    f"save(): {where} has a key of type {type(key).__name__}; keys are strings, numbers or tuples of them."
                )
            items.append([_encode(key, saved, f"a key of {where}"), _encode(value, saved, f"{where}[{key!r}]")])
        return {"kind": "OrderedDict" if isinstance(x, OrderedDict) else "dict", "items": items}
    hint = (
        "x.state_dict()"
        if isinstance(x, Module) or hasattr(x, "state_dict")
        else "tensors, numbers, strings, lists and dicts"
    )
    raise errors.new(
        TypeError,
        f"save(): {where} is {errors.a_kind(x)}, which cannot be saved.",
        why="A file that could bring back any object could also run any code when it is loaded.",
        instead=f"save {hint}; build the object again in code and fill it with load_state_dict().",
    )


def load(f: Any, map_location: Any = None) -> Any:
    """What `save` wrote to a path or a binary file. `map_location` is the CPU; a dict or a function, which would move tensors of other
    devices, finds none.

    Raises ValueError for files of another format, among them PyTorch's .pt files, and RuntimeError for a device that is not there.
    """
    if not (map_location is None or callable(map_location) or isinstance(map_location, dict)):
        if str(map_location).startswith("cuda"):
            raise errors.new(
                RuntimeError,
                "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False.",
                instead="leave map_location out, or write map_location='cpu': minigrad computes on the CPU only.",
            )
        device(map_location)
    if isinstance(f, (str, Path)) and not Path(f).exists():
        raise FileNotFoundError(f"[Errno 2] No such file or directory: '{f}'")
    try:
        archive = zipfile.ZipFile(f)
    except zipfile.BadZipFile:
        raise _not_ours(f) from None
    with archive:
        if "structure.json" not in archive.namelist():
            raise _not_ours(f)
        structure = json.loads(archive.read("structure.json"))
        if not isinstance(structure, dict) or structure.get("minigrad") not in (1, VERSION):
            raise ValueError(
                f"{f} was written by another version of minigrad ({structure.get('minigrad')!r}; this one reads {VERSION})."
            )
        arrays: dict[int, np.ndarray] = {}

        def array(i: int) -> np.ndarray:
            if i not in arrays:
                arrays[i] = np.load(io.BytesIO(archive.read(f"arrays/{int(i)}.npy")), allow_pickle=False)
                if arrays[i].dtype.kind not in "fiub":
                    raise ValueError(f"{f} is damaged: array {i} holds {arrays[i].dtype}.")
            return arrays[i]

        return _decode(structure["data"], array, [])


def _not_ours(f: Any) -> ValueError:
    return errors.new(
        ValueError,
        f"{f} was not written by minigrad's save().",
        why="PyTorch's .pt files are pickles: loading one can run code, so minigrad does not read them.",
        instead='in PyTorch, numpy.savez("file.npz", **{k: v.numpy() for k, v in model.state_dict().items()}), and here '
        'model.load_state_dict({k: torch.from_numpy(v) for k, v in numpy.load("file.npz").items()}).',
    )


def _decode(x: Any, array: Any, tensors: list[Tensor]) -> Any:
    if isinstance(x, list):
        return [_decode(v, array, tensors) for v in x]
    if not isinstance(x, dict):
        return x
    match x["kind"]:
        case "Tensor" | "Parameter":
            numbers = array(x["array"])
            out = Tensor._wrap(array_at(numbers, *x["place"]) if "place" in x else numbers)
            out.version = [1]  # as PyTorch's
            if x["kind"] == "Parameter":
                out = Parameter(out, x["requires_grad"])
            elif x["requires_grad"]:
                out.requires_grad_()
            tensors.append(out)
            return out
        case "same":
            return tensors[x["tensor"]]
        case "ndarray":
            return array(x["array"])
        case "float":
            return float(x["value"])
        case "tuple":
            return tuple([_decode(v, array, tensors) for v in x["items"]])
        case "Size":
            return Size(x["items"])
        case "dtype":
            return next(d for d in dtypes.ALL if d.name == x["name"])
        case "dict" | "OrderedDict":
            pairs = [(_decode(k, array, tensors), _decode(v, array, tensors)) for k, v in x["items"]]
            return OrderedDict(pairs) if x["kind"] == "OrderedDict" else dict(pairs)
    raise ValueError(f"The file is damaged: there is no kind {x['kind']!r}.")
