"""Leave out what a page never imports, compile the rest, put it into one file. Runs inside Pyodide (pack.mjs): imports nothing of ours."""

import json
import os
import py_compile
import re
import sys

LEAVE = re.compile(
    r"/(tests?|testing|terminal|sphinxext|extensions|nbextension|labextension|static|_vendor)/|/pygments/(styles|lexers|formatters)/"
    r"|/course/minigrad/cuda/|/(conftest|qt)\.py$"
)
KEEP = re.compile(
    r"/pygments/(styles/(__init__|_mapping|default)|lexers/(__init__|_mapping|python|special)|formatters/(__init__|_mapping|terminal256"
    r"|terminal|html|other))\.py|/IPython/extensions/(__init__|storemagic)\.py|/IPython/testing/(__init__|skipdoctest)\.py"
)


def compiled(full: str, name: str) -> bytes:
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    py_compile.compile(full, "/tmp/one.pyc", dfile=name, optimize=0, invalidation_mode=mode, doraise=True)
    with open("/tmp/one.pyc", "rb") as file:
        return file.read()


def files(folder: str):
    """(path, name inside the folder) of what pages need."""
    for base, dirs, names in os.walk(folder):
        dirs[:] = sorted(d for d in dirs if d != "__pycache__")
        for name in sorted(names):
            full = os.path.join(base, name)
            if not LEAVE.search(full) or KEEP.search(full):
                yield full, full[len(folder) + 1 :]


def pack(place: str, bytecode: bool) -> None:
    """Write the files as one: an index and their bytes, which is faster to unpack than a zip. Of other people's packages the byte code is
    enough; the course reads its own sources."""
    index, parts = [], []
    tag = sys.implementation.cache_tag
    for full, inside in files(place):
        with open(full, "rb") as file:
            held = [(inside, file.read())]
        if bytecode and inside.endswith(".py"):
            base, name = os.path.split(inside)
            if inside.startswith("libs/"):
                held = [(inside + "c", compiled(full, "/" + inside))]
            else:
                held.append((f"{base}/__pycache__/{name[:-3]}.{tag}.pyc", compiled(full, "/" + inside)))
        for name, data in held:
            index.append([name, len(data)])
            parts.append(data)
    head = json.dumps(index).encode()
    with open(place + "/course.bin", "wb") as file:
        file.write(len(head).to_bytes(4, "little") + head + b"".join(parts))


if __name__ == "__main__":
    pack(sys.argv[1], False)
