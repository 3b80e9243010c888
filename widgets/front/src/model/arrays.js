// Arrays of a tensor graph: their numbers at a point, their texts, marks on cards. Pure functions.
// The static picture has the same in widgets/heat.py and widgets/static.py.

import { STATISTICS } from "../schema.js";
import { fmt, num, tail } from "./numbers.js";

/** @import { Node, Numbers, Trace } from "../types" */
/** @import { Point } from "./sweep.js" */

/** @type {WeakMap<object, number[]>} */
const offsets = new WeakMap();

/** Where each array begins in a row of a sweep's table, and at the end how long they are together. @param {Trace} trace */
export function arrayOffsets(trace) {
  let at = offsets.get(trace);
  if (!at) {
    at = [0];
    for (const a of trace.arrays ?? []) at.push(at[at.length - 1] + STATISTICS.length + a.cells.length);
    offsets.set(trace, at);
  }
  return at;
}

/** An array at a point: as recorded, or out of a sweep's table.
 * @param {Trace} trace @param {Point} point @param {number|null|undefined} i @returns {Numbers|null} */
export function arrayAt(trace, point, i) {
  if (i === null || i === undefined || i < 0 || !trace.arrays) return null;
  const a = trace.arrays[i];
  if (!point.arrays) return a;
  const from = arrayOffsets(trace)[i];
  const numbers = point.arrays;
  const cells = from + STATISTICS.length;
  const statistics = Object.fromEntries(STATISTICS.map((name, k) => [name, numbers[from + k]]));
  return { ...a, ...statistics, cells: a.cells.map((old, k) => (old === null ? null : numbers[cells + k])) };
}

/** How many entries? @param {{shape?: number[]}} a */
export const count = (a) => (a.shape ?? []).reduce((n, d) => n * d, 1);

/** Is this the array of a single number? @param {Numbers} a */
export const single = (a) => count(a) === 1;

/** Has this node a card with heat maps? @param {Node} node */
export const tall = (node) => !!node?.shape && count(node) !== 1;

/** A shape as Python prints it. @param {number[]} shape */
export const shapeText = (shape) => `(${shape.join(", ")}${shape.length === 1 ? "," : ""})`;

/** Has this array no finite entry? @param {Numbers} a */
const nothing = (a) => a.low === null || a.high === null || Number.isNaN(a.low);

/** An array in a few words: its number, its few entries, or their range. @param {Numbers|null} a @param {number} [digits] */
export function arrayText(a, digits = 6) {
  if (!a) return "?";
  if (single(a)) return fmt(num(a.cells[0]), digits);
  if (a.shape.length === 1 && count(a) > 1 && count(a) <= 4) return `[${a.cells.map((c) => fmt(num(c), digits)).join(", ")}]`;
  if (nothing(a)) return count(a) ? "nothing finite" : "empty";
  const [low, high] = [num(a.low), num(a.high)];
  const text = low === high ? fmt(low, digits) : `${fmt(low, digits)} … ${fmt(high, digits)}`;
  return text + (a.odd ? `, ${a.odd} not finite` : "");
}

/** @param {number} v @param {number} [digits] */
export const brief = (v, digits = 3) => fmt(v, digits, Math.abs(v) < 1e-3 && v !== 0);

/** The range of the entries in at most `room` characters, if three digits or fewer allow it. @param {Numbers} a @param {number} room */
export function between(a, room) {
  if (nothing(a)) return count(a) ? "not finite" : "empty";
  let text = "";
  if (a.shape.length === 1 && a.shape[0] <= 4 && !a.odd && a.low !== a.high) {
    for (const digits of [4, 3, 2]) {
      text = a.cells.map((c) => brief(num(c), digits)).join(" ");
      if (text.length <= room) return text;
    }
  }
  const [low, high] = [num(a.low), num(a.high)];
  for (let digits = 3; digits > 0; digits--) {
    text = low === high ? brief(low, digits) : `${brief(low, digits)}…${brief(high, digits)}`;
    if (text.length <= room) return text;
  }
  return text;
}

/** The largest magnitude: where the scale of the colours ends. @param {Numbers} a */
export const most = (a) => (nothing(a) ? 0 : Math.max(Math.abs(num(a.low)), Math.abs(num(a.high))));

/** The norm of the finite entries. @param {Numbers} a */
export const norm = (a) => (nothing(a) ? 0 : Math.sqrt((count(a) - a.odd) * (num(a.mean) ** 2 + num(a.std) ** 2)));

/** A short remark on a tensor: stale, a view, its version.
 * @param {Trace} trace @param {Node} node @param {number} [room] for its base's name @param {boolean} [versions] */
export function mark(trace, node, room = 9, versions = true) {
  if (node.saved?.some((k) => k.stale)) return "⚠ stale";
  const version = versions && node.view?.version ? `, version ${node.view.version}` : "";
  if (node.view) return `view of ${tail(trace.nodes[node.view.base].label, room)}${version}`;
  return node.version && node.kind === "operation" ? `version ${node.version}` : "";
}

/** Shape, dtype and mark, as much as fits on a card of this width.
 * @param {Trace} trace @param {Node} node @param {number} wide @returns {[string, string]} */
export function captions(trace, node, wide) {
  const room = Math.floor((wide - 34) / 5.9);
  const special = mark(trace, node);
  const shape = shapeText(node.shape ?? []);
  /** @type {[string, string][]} */
  const tried = [
    [`${shape} ${node.dtype}`, special],
    [shape, special],
    [shape, mark(trace, node, 9, false)],
    [shape, mark(trace, node, 4, false)],
    [shape, special.split(" of ")[0]],
  ];
  return tried.find(([left, right]) => left.length + right.length <= room) ?? [shape, special ? special[0] : ""];
}

/** The same in whole sentences. @param {Trace} trace @param {Node} node */
export function markWords(trace, node) {
  const words = [];
  const times = (/** @type {number} */ n) => `${n} ${n === 1 ? "time" : "times"}`;
  for (const k of node.saved ?? []) {
    if (!k.stale) continue;
    const was = `What it saved (${k.name}) was overwritten since: saved at version ${k.version}, now at version ${k.now}.`;
    words.push(`${was} The backward pass cannot go through it.`);
  }
  if (node.view) {
    const written = node.view.version ? `, which were written to ${times(node.view.version)}` : "";
    words.push(`A view: it shares the numbers of ${trace.nodes[node.view.base].label}${written}.`);
  }
  if (node.version && !node.view && node.kind === "operation") words.push(`Its numbers were written to in place ${times(node.version)}.`);
  if (node.stops) words.push(node.stops);
  return words.join(" ");
}
