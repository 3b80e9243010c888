// Runs pack.py in Pyodide, because byte code has to come from the Python that will run it: node pack.mjs PYODIDE PLACE pack.py
import fs from "node:fs";
import path from "node:path";
const [, , pyodide, place, script] = process.argv;
const { loadPyodide } = await import(path.join(pyodide, "pyodide.mjs"));

/** @param {string} code @param {Record<string, string>} env */
async function run(code, env) {
  const py = await loadPyodide({ indexURL: `${pyodide}/`, env });
  py.FS.mkdir("/place");
  py.FS.mount(py.FS.filesystems.NODEFS, { root: place }, "/place");
  py.globals.set("__name__", "pack");
  py.runPython(fs.readFileSync(script, "utf8"));
  py.runPython(code);
}
try {
  await run("first('/place')", {});
  // Without the columns of each instruction byte code is a third smaller. The course's own needs them: it shows expressions of its rules.
  await run("lean('/place', True)", { PYTHONNODEBUGRANGES: "1" });
  await run("pack('/place', True)", {});
} catch (error) {
  console.error(error.message); // else node prints a line of Pyodide's own first, which is a megabyte long
  process.exit(1);
}
process.exit(0);
