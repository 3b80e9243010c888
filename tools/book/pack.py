"""Leave out what a page never imports, compile the rest, put it into one file. Runs inside Pyodide (pack.mjs): imports nothing of ours."""

import json
import os
import py_compile
import re
import sys
import zipfile

LEAVE = re.compile(
    r"/(tests?|testing|terminal|sphinxext|extensions|nbextension|labextension|static|_vendor)/|/pygments/(styles|lexers|formatters)/"
    r"|/course/minigrad/(cuda|course/grading)/|/course/widgets/front/dist/(page|film)\.js$|/(conftest|qt)\.py$"
)
KEEP = re.compile(
    r"/pygments/(styles/(__init__|_mapping|default)|lexers/(__init__|_mapping|python|special)|formatters/(__init__|_mapping|terminal256"
    r"|terminal|html|other))\.py|/IPython/extensions/(__init__|storemagic)\.py|/IPython/testing/(__init__|skipdoctest)\.py"
)


def compiled(full: str, name: str, optimize: int = 0) -> bytes:
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    py_compile.compile(full, "/tmp/one.pyc", dfile=name, optimize=optimize, invalidation_mode=mode, doraise=True)
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


def numpy(wheel: str) -> None:
    """numpy's wheel without what pages never import, as byte code, and without docstrings where it can be."""
    leave = re.compile(
        r"/(tests|f2py|include|_pyinstaller)/|\.(pyi|h|a|pxd|pyx)$|/conftest\.py$|/mypy_plugin\.py$|^numpy/_core/lib/"
    )
    with zipfile.ZipFile(wheel) as old:
        held = [(info.filename, old.read(info)) for info in old.infolist() if not info.is_dir()]
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_STORED) as new:
        for name, data in held:
            if leave.search(name) or name.endswith("/RECORD"):
                continue
            if name.endswith(".py"):
                with open("/tmp/one.py", "wb") as file:
                    file.write(data)
                name, data = (
                    name + "c",
                    compiled("/tmp/one.py", "/" + name, 0 if name == "numpy/_core/multiarray.py" else 2),
                )
            new.writestr(name, data)


# Of Python's library: what needs a network, a terminal or processes, which a page does not have.
ABSENT = re.compile(
    r"(imaplib|mailbox|nntplib|smtplib|ftplib|telnetlib|cgi|cgitb|poplib|xmlrpc|wsgiref|pydoc_data|antigravity"
    r"|http/server|multiprocessing)(/|\.py)"
)


def library(archive: str) -> None:
    """Python's library without those, not deflated: zipimport reads it as it is, and the whole is gzipped once more."""
    with zipfile.ZipFile(archive) as old:
        held = [(info.filename, old.read(info)) for info in old.infolist() if not ABSENT.match(info.filename)]
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as new:
        for name, data in held:
            new.writestr(name, data)


def lean(place: str) -> None:
    """Other people's packages as byte code, beside their sources."""
    if os.path.exists(place + "/numpy.whl"):
        numpy(place + "/numpy.whl")
    for full, inside in [*files(place)]:
        if inside.startswith("libs/") and inside.endswith(".py"):
            data = compiled(full, "/" + inside)
            with open(full + "c", "wb") as file:
                file.write(data)


def pack(place: str, bytecode: bool) -> None:
    """Write the files as one: an index and their bytes, which is faster to unpack than a zip. Of other people's packages the byte code is
    enough; the course reads its own sources, and only modules that its first pictures import have byte code as well."""
    if os.path.exists(place + "/python_stdlib.zip"):
        library(place + "/python_stdlib.zip")
    with open(place + "/loaded.json") as file:
        loaded = set(json.load(file))
    index, parts = [], []
    tag = sys.implementation.cache_tag
    for full, inside in files(place):
        if "/" not in inside or os.path.exists(full + "c"):
            continue
        with open(full, "rb") as file:
            held = [(inside, file.read())]
        if bytecode and inside.endswith(".py"):
            base, name = os.path.split(inside)
            if inside in loaded:
                held.append((f"{base}/__pycache__/{name[:-3]}.{tag}.pyc", compiled(full, "/" + inside)))
        for name, data in held:
            index.append([name, len(data)])
            parts.append(data)
    head = json.dumps(index).encode()
    with open(place + "/course.bin", "wb") as file:
        file.write(len(head).to_bytes(4, "little") + head + b"".join(parts))


if __name__ == "__main__":
    pack(sys.argv[1], False)
