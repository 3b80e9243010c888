// Runs pack.py in Pyodide, because byte code has to come from the Python that will run it: node pack.mjs PYODIDE PLACE pack.py
import fs from "node:fs";
import path from "node:path";
const [, , pyodide, place, script] = process.argv;
const { loadPyodide } = await import(path.join(pyodide, "pyodide.mjs"));
// Without the columns of each instruction, which only error messages of the course itself would show, byte code is a third smaller.
const py = await loadPyodide({ indexURL: `${pyodide}/`, env: { PYTHONNODEBUGRANGES: "1" } });
py.FS.mkdir("/place");
py.FS.mount(py.FS.filesystems.NODEFS, { root: place }, "/place");
py.globals.set("__name__", "pack");
py.runPython(fs.readFileSync(script, "utf8"));
py.runPython("pack('/place', True)");
process.exit(0);
