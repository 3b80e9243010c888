// Points of the computation: as recorded, or out of the tables that the kernel computed for the sliders. Pure functions.

import { num } from "./numbers.js";

/** @import { Sections, Trace } from "../types" */

/** One point of the computation: a value and a gradient for every node, a local derivative for every edge, the arrays of a tensor graph.
 * @typedef {{values: Float64Array, grads: Float64Array, locals: Float64Array, arrays?: Float64Array}} Point */

/** What moving one input does while the others stand still: its points, and what packs a row for each (see widgets/contract.py).
 * @typedef {{node: number, base: Record<string, number>, sections: Sections, still: Float64Array, columns: Int32Array, table: Float64Array,
 *   xs: Float64Array}} Sweep */

/** Doubles from a binary trait. anywidget hands over a DataView whose offset need not be a multiple of eight.
 * @param {DataView|ArrayBuffer|null|undefined} raw */
export function doubles(raw) {
  if (!raw?.byteLength) return new Float64Array(0);
  if (raw instanceof ArrayBuffer) return new Float64Array(raw);
  if (raw.byteOffset % 8 === 0) return new Float64Array(/** @type {ArrayBuffer} */ (raw.buffer), raw.byteOffset, raw.byteLength / 8);
  return new Float64Array(/** @type {ArrayBuffer} */ (raw.buffer.slice(raw.byteOffset, raw.byteOffset + raw.byteLength)));
}

/** A copy of the bytes of a binary trait. @param {DataView|ArrayBuffer} raw */
const bytes = (raw) => (raw instanceof ArrayBuffer ? raw.slice(0) : new Uint8Array(raw.buffer, raw.byteOffset, raw.byteLength));

/** The tables of a trait. @param {any[]|null|undefined} raw @returns {Sweep[]} */
export const readSweeps = (raw) =>
  (raw ?? []).map(({ node, base, sections, ...packed }) => {
    const [still, table] = [doubles(packed.still), doubles(packed.table)];
    const columns = new Int32Array(new Uint8Array(bytes(packed.columns)).buffer);
    const points = table.length / (columns.reduce((a, b) => Math.max(a, b), 0) + 1);
    return { node, base, sections, still, columns, table, xs: table.subarray(0, points) };
  });

/** The point at which the trace was recorded. @param {Trace} trace @returns {Point} */
export function recorded(trace) {
  return {
    values: Float64Array.from(trace.nodes, (n) => num(n.value)),
    grads: Float64Array.from(trace.nodes, (n) => num(n.grad)),
    locals: Float64Array.from(trace.edges, (e) => num(e.local)),
  };
}

/** The point at which the slider stands on its `p`-th place. @param {Sweep} sweep @param {number} p @returns {Point} */
export function row({ still, columns, table, xs, sections }, p) {
  const all = still.slice();
  for (const [k, column] of columns.entries()) if (column >= 0) all[k] = table[column * xs.length + p];
  let at = 0;
  const next = (/** @type {number} */ size) => all.subarray(at, (at += size));
  const point = { values: next(sections.values), grads: next(sections.grads), locals: next(sections.locals) };
  return sections.arrays ? { ...point, arrays: next(sections.arrays) } : point;
}

/** The inputs that have moved away from where this sweep was computed; it holds only if there are none.
 * @param {Sweep} sweep @param {Record<string, number>} inputs @returns {number[]} */
export function moved(sweep, inputs) {
  return Object.keys(inputs)
    .map(Number)
    .filter((id) => id !== sweep.node && inputs[id] !== sweep.base[id]);
}

/** Index of the entry of ascending `xs` nearest to x. @param {Float64Array} xs @param {number} x */
export function nearest(xs, x) {
  let low = 0;
  let high = xs.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (xs[middle] <= x) low = middle;
    else high = middle;
  }
  return Math.abs(xs[high] - x) < Math.abs(xs[low] - x) ? high : low;
}

/** The point for these inputs out of the tables, or null where no table holds it (then the kernel has to compute it).
 * @param {Sweep[]} sweeps @param {Record<string, number>} inputs */
export function lookUp(sweeps, inputs) {
  for (const sweep of sweeps) {
    if (moved(sweep, inputs).length) continue;
    const p = nearest(sweep.xs, inputs[sweep.node]);
    if (sweep.xs[p] === inputs[sweep.node]) return row(sweep, p);
  }
  return null;
}
