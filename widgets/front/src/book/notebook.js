// A chapter as a notebook file: what is downloaded, and what is opened.

/** @typedef {{source: string, outputs: any[]|null, count: number|null}} Held what a page has of a cell */

const VIEW = "application/vnd.jupyter.widget-view+json";
/** @param {string} text @returns {string[]} */
const lines = (text) => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
/** @param {any} text one, or its lines @returns {string} */
export const joined = (text) => (Array.isArray(text) ? text.join("") : (text ?? ""));

/** What the kernel has sent as nbformat keeps it: still pictures and texts, no live views. @param {{kind: string, content: any}} message
 * @param {number|null} count */
export function outputOf({ kind, content }, count) {
  if (kind === "stream") return { output_type: "stream", name: content.name, text: lines(content.text) };
  if (kind === "error") return { output_type: "error", ename: content.ename, evalue: content.evalue, traceback: content.traceback };
  const data = Object.entries(content.data).filter(([type]) => type !== VIEW);
  const split = data.map(([type, value]) => [type, typeof value === "string" && type !== "image/png" ? lines(value) : value]);
  const output = { output_type: kind, data: Object.fromEntries(split), metadata: content.metadata ?? {} };
  return kind === "execute_result" ? { ...output, execution_count: count } : output;
}

/** @param {any} base the chapter's own notebook, or one that was opened @param {Map<string, Held>} cells */
export function written(base, cells) {
  const notebook = structuredClone(base);
  for (const cell of notebook.cells) {
    const mine = cell.cell_type === "code" && cells.get(cell.id);
    if (!mine) continue;
    cell.source = lines(mine.source);
    if (!mine.outputs) continue;
    cell.outputs = mine.outputs.filter((output) => !output.data || Object.keys(output.data).length); // a live view leaves nothing
    cell.execution_count = mine.count;
  }
  return `${JSON.stringify(notebook, null, 1)}\n`;
}

/** What an opened notebook says of a chapter's cells: by their ids, else by their exercises, else by equal text.
 * @param {string} text @param {any} chapter @returns {{found: Map<string, Held>, left: number, of: number, notebook: any}} */
export function read(text, chapter) {
  const notebook = JSON.parse(text);
  if (!Array.isArray(notebook.cells)) throw new SyntaxError("no cells");
  const code = (/** @type {any} */ c) => c.cell_type === "code";
  const exercise = (/** @type {any} */ c) => c.metadata?.minigrad?.exercise;
  const mine = /** @type {any[]} */ (chapter.cells.filter(code));
  /** @type {Map<string, Held>} */ const found = new Map();
  let left = 0;
  for (const cell of notebook.cells.filter(code)) {
    const same =
      mine.find((c) => c.id === cell.id) ??
      mine.find((c) => exercise(c) && exercise(c) === exercise(cell)) ??
      mine.find((c) => joined(c.source) === joined(cell.source));
    if (same && !found.has(same.id))
      found.set(same.id, { source: joined(cell.source), outputs: cell.outputs, count: cell.execution_count });
    else if (joined(cell.source).trim()) left += 1;
  }
  return { found, left, of: mine.length, notebook };
}
