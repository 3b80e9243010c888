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


NUMPY = re.compile(
    r"/(tests|f2py|include|_pyinstaller)/|\.(pyi|h|a|pxd|pyx)$|/conftest\.py$|/mypy_plugin\.py$|^numpy/_core/lib/|/RECORD$"
    r"|_(rational|umath|flag|ufunc)_tests\.cpython|/lapack_lite\."
)


def numpy(place: str) -> None:
    """Put numpy among the other packages, without what pages never import: a wheel would have to be taken apart in the page."""
    with zipfile.ZipFile(place + "/numpy.whl") as wheel:
        wheel.extractall(place + "/libs", [name for name in wheel.namelist() if not NUMPY.search(name)])
    os.remove(place + "/numpy.whl")


# Of Python's library: what needs a network, a terminal, processes or old encodings, which a page does not have.
ABSENT = re.compile(
    r"(imaplib|mailbox|nntplib|smtplib|ftplib|telnetlib|cgi|cgitb|poplib|xmlrpc|wsgiref|pydoc_data|antigravity"
    r"|http/server|multiprocessing|aifc|chunk|sunau|wave|mailcap|nturl2path|ctypes/macholib|__phello__"
    r"|encodings/(cp(?!1252|437)|mac|iso|koi|ptcp|palmos|kz1048|tis_620|hp_roman8|big5|euc|gb|hz|johab|shift|uu|quopri))"
    r"\w*(/|\.py)"
)


def first(place: str) -> None:
    """Run the cells that a reader runs first, and write down which modules they import: these are shipped as byte code."""
    numpy(place)
    sys.path[:0] = [place + "/course", place + "/libs"]
    import page_kernel

    page_kernel.prepare()
    page_kernel.begin()
    page_kernel.post = lambda kind, content, _: sys.__stderr__.write(content) if kind == "error" else None
    for code in (
        "%load_ext minigrad",
        "from minigrad import Value\nx = Value(1.0)\ny = (3 * x + 2) ** 2\ny.backward()",
        "%graph y",
        "from widgets.lessons import fit_line\nfit_line()",
    ):
        if not page_kernel.run("first", "", code):
            raise RuntimeError(f"This did not run: {code}")
    found = (getattr(module, "__file__", None) or "" for module in [*sys.modules.values()])
    with open(place + "/loaded.json", "w") as file:
        json.dump([re.sub(rf"^({place}|/lib/python312\.zip)/", "", name) for name in found], file)


def loaded(place: str) -> set[str]:
    with open(place + "/loaded.json") as file:
        return set(json.load(file))


def library(archive: str, first: set[str]) -> None:
    """Python's library without those, and with byte code for what comes `first`: Pyodide's has sources, and a start compiles 150 of them.
    Not deflated: zipimport reads it as it is, and the whole is gzipped once more."""
    with zipfile.ZipFile(archive) as old:
        held = [(info.filename, old.read(info)) for info in old.infolist() if not ABSENT.match(info.filename)]
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as new:
        for name, data in held:
            if name in first:
                with open("/tmp/one.py", "wb") as file:
                    file.write(data)
                name, data = name + "c", compiled("/tmp/one.py", f"/lib/python312.zip/{name}")
            new.writestr(name, data)


def lean(place: str, bytecode: bool) -> None:
    """Other people's packages and Python's library; as byte code if they can be."""
    library(place + "/python_stdlib.zip", loaded(place) if bytecode else set())
    for full, inside in [*files(place)] if bytecode else ():
        if inside.startswith("libs/") and inside.endswith(".py"):
            # numpy's docstrings are half of it; this one module adds to its own when it is imported
            bare = inside.startswith("libs/numpy/") and not inside.endswith("/multiarray.py")
            data = compiled(full, "/" + inside, 2 if bare else 0)
            with open(full + "c", "wb") as file:
                file.write(data)


def pack(place: str, bytecode: bool) -> None:
    """Write the files of each room as one: an index and their bytes, which is faster to unpack than a zip. Of other people's packages the
    byte code is enough; the course reads its own sources, and only modules that its first pictures import have byte code as well."""
    worth = loaded(place) if bytecode else ()
    rooms: dict[str, tuple[list, list]] = {"libs": ([], []), "course": ([], [])}
    tag = sys.implementation.cache_tag
    for full, inside in files(place):
        if "/" not in inside or os.path.exists(full + "c"):
            continue
        with open(full, "rb") as file:
            held = [(inside, file.read())]
        if bytecode and inside.endswith(".py"):
            base, name = os.path.split(inside)
            if inside in worth:
                held.append((f"{base}/__pycache__/{name[:-3]}.{tag}.pyc", compiled(full, "/" + inside)))
        index, parts = rooms[inside.split("/")[0]]
        for name, data in held:
            index.append([name, len(data)])
            parts.append(data)
    for room, (index, parts) in rooms.items():
        head = json.dumps(index).encode()
        with open(f"{place}/{room}.bin", "wb") as file:
            file.write(len(head).to_bytes(4, "little") + head + b"".join(parts))


if __name__ == "__main__":
    numpy(sys.argv[1])
    lean(sys.argv[1], False)
    pack(sys.argv[1], False)
