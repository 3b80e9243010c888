// What a tensor adds to the graph view, as pure functions: arrays, heat maps as paths, marks on cards.
// What lives here: no DOM. What does not: drawing (graph.js), time (state.js). The twin of widgets/heat.py, which draws the static picture.
// @ts-check
import { fmt, num, tail } from "./state.js";

/** @typedef {import("./state.js").Trace} Trace */
/** @typedef {import("./state.js").Point} Point */
/** @typedef {{shape: number[], dtype: string, low: number|null, high: number|null, mean: number|null, std: number|null, odd: number, rows: number, cols: number, block: number[], cells: (number|string|null)[]}} Numbers */

const LEVELS = 8, MARKED = 7;
/** @type {WeakMap<object, number[]>} */
const offsets = new WeakMap();

/** Where each array begins in a row of a sweep's table, and at the end how long they are together. @param {Trace} trace */
export function arrayOffsets(trace) {
  let at = offsets.get(trace);
  if (!at) {
    at = [0];
    for (const a of trace.arrays ?? []) at.push(at[at.length - 1] + 5 + a.cells.length);
    offsets.set(trace, at);
  }
  return at;
}

/** An array at a point: as recorded, or out of a sweep's table. @param {Trace} trace @param {Point} point @param {number|null|undefined} i @returns {Numbers|null} */
export function arrayAt(trace, point, i) {
  if (i === null || i === undefined || i < 0 || !trace.arrays) return null;
  const a = trace.arrays[i];
  if (!point.arrays) return a;
  const from = arrayOffsets(trace)[i], [low, high, mean, std, odd] = point.arrays.subarray(from, from + 5);
  return { ...a, low, high, mean, std, odd, cells: Array.from(point.arrays.subarray(from + 5, from + 5 + a.cells.length), (v, k) => (a.cells[k] === null ? null : v)) };
}

/** How many entries? @param {{shape?: number[]}} a */
export const count = (a) => (a.shape ?? []).reduce((n, d) => n * d, 1);

/** Is this the array of a single number? @param {Numbers} a */
export const single = (a) => count(a) === 1;

/** A shape as Python prints it. @param {number[]} shape */
export const shapeText = (shape) => `(${shape.join(", ")}${shape.length === 1 ? "," : ""})`;

/** An array in a few words: its number, its few entries, or their range. @param {Numbers|null} a @param {number} [digits] */
export function arrayText(a, digits = 6) {
  if (!a) return "?";
  if (single(a)) return fmt(num(a.cells[0]), digits);
  if (a.shape.length === 1 && count(a) > 1 && count(a) <= 4) return `[${a.cells.map((c) => fmt(num(c), digits)).join(", ")}]`;
  if (a.low === null || a.high === null || Number.isNaN(a.low)) return count(a) ? "nothing finite" : "empty";
  const text = a.low === a.high ? fmt(a.low, digits) : `${fmt(a.low, digits)} … ${fmt(a.high, digits)}`;
  return text + (a.odd ? `, ${a.odd} not finite` : "");
}

/** The range of the entries in at most `room` characters, if three digits or fewer allow it. @param {Numbers} a @param {number} room */
export function between(a, room) {
  if (a.low === null || a.high === null || Number.isNaN(a.low)) return count(a) ? "not finite" : "empty";
  let text = "";
  if (a.shape.length === 1 && a.shape[0] <= 4 && !a.odd && a.low !== a.high) {
    for (const digits of [4, 3, 2]) {
      text = a.cells.map((c) => brief(num(c), digits)).join(" ");
      if (text.length <= room) return text;
    }
  }
  for (let digits = 3; digits > 0; digits--) {
    text = a.low === a.high ? brief(a.low, digits) : `${brief(a.low, digits)}…${brief(a.high, digits)}`;
    if (text.length <= room) return text;
  }
  return text;
}

/** @param {number} v @param {number} digits */
const brief = (v, digits) => fmt(v, digits, Math.abs(v) < 1e-3 && v !== 0);

/** The largest magnitude: where the scale of the colours ends. @param {Numbers} a */
export const most = (a) => (a.low === null || a.high === null || Number.isNaN(a.low) ? 0 : Math.max(Math.abs(a.low), Math.abs(a.high)));

/** A heat map as paths in a box. The sign is the class and a mark, the magnitude the opacity. @param {Numbers} a @param {number} width @param {number} height @param {number} [largest] of a cell
 * @returns {{x: number, y: number, w: number, h: number, paths: {kind: string, d: string, opacity: number}[]}} */
export function heat(a, width, height, largest = 15) {
  const { rows, cols } = a, top = most(a);
  let w = Math.min(largest, width / Math.max(1, cols)), h = Math.min(largest, height / Math.max(1, rows));
  [w, h] = [Math.min(w, 3 * h), Math.min(h, 3 * w)];
  /** @type {Map<string, string>} */
  const by = new Map();
  let marks = "", ground = "";
  a.cells.forEach((cell, k) => {
    if (cell === null) return;
    const v = num(cell), x = f((k % cols) * w), y = f(Math.floor(k / cols) * h), d = `M${x} ${y}h${f(w)}v${f(h)}h${f(-w)}z`;
    ground += d;
    if (Number.isFinite(v) && (v === 0 || !top)) return;
    const key = !Number.isFinite(v) ? "x" : `${v < 0 ? "n" : "p"}${Math.min(LEVELS, Math.ceil((Math.abs(v) / top) * LEVELS))}`;
    by.set(key, (by.get(key) ?? "") + d);
    if (v < 0) marks += `M${f(((k % cols) + 0.32) * w)} ${f((Math.floor(k / cols) + 0.5) * h)}h${f(0.36 * w)}`;
  });
  const paths = [{ kind: "0", d: ground, opacity: 1 }];
  for (const key of [...by.keys()].sort()) paths.push({ kind: key[0], d: /** @type {string} */ (by.get(key)), opacity: key === "x" ? 1 : 0.08 + (0.92 * Number(key.slice(1))) / LEVELS });
  if (marks && Math.min(w, h) >= MARKED) paths.push({ kind: "m", d: marks, opacity: 1 });
  return { x: (width - w * cols) / 2, y: (height - h * rows) / 2, w: w * cols, h: h * rows, paths };
}

/** @param {number} v */
const f = (v) => String(Math.round(10 * v) / 10);

/** Has this node a card with heat maps? @param {import("./state.js").Node} node */
export const tall = (node) => !!node?.shape && count(/** @type {any} */ (node)) !== 1;

/** What is special about a tensor, in a few characters. @param {Trace} trace @param {import("./state.js").Node} node @param {number} [room] for its base's name */
export function mark(trace, node, room = 9) {
  if (node.saved?.some((k) => k.stale)) return "⚠ stale";
  if (node.view) return `view of ${tail(trace.nodes[node.view.base].label, room)}${node.view.version ? ` v${node.view.version}` : ""}`;
  return node.version && node.kind === "operation" ? `version ${node.version}` : "";
}

/** Shape, dtype and mark, as much as fits on a card of this width. @param {Trace} trace @param {import("./state.js").Node} node @param {number} wide @returns {[string, string]} */
export function captions(trace, node, wide) {
  const room = Math.floor((wide - 34) / 5.9), special = mark(trace, node), shape = shapeText(node.shape ?? []);
  for (const [left, right] of [[`${shape} ${node.dtype}`, special], [shape, special], [shape, mark(trace, node, 4)], [shape, special.split(" of ")[0]]]) if (left.length + right.length <= room) return [left, right];
  return [shape, special ? special[0] : ""];
}

/** The same in whole sentences. @param {Trace} trace @param {import("./state.js").Node} node */
export function markWords(trace, node) {
  const words = [];
  for (const k of node.saved ?? []) if (k.stale) words.push(`What it saved (${k.name}) was overwritten since: saved at version ${k.version}, now at version ${k.now}. The backward pass cannot go through it.`);
  if (node.view) words.push(`A view: it shares the numbers of ${trace.nodes[node.view.base].label}${node.view.version ? `, which were written to ${node.view.version} ${node.view.version === 1 ? "time" : "times"}` : ""}.`);
  if (node.version && !node.view && node.kind === "operation") words.push(`Its numbers were written to in place ${node.version} ${node.version === 1 ? "time" : "times"}.`);
  if (node.stops) words.push(node.stops);
  return words.join(" ");
}
