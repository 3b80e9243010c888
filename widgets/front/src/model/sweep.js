// Points of the computation: as recorded, or out of the tables that the kernel computed for the sliders. Pure functions.

import { arrayOffsets } from "./arrays.js";
import { num } from "./numbers.js";

/** @import { Trace } from "../types" */

/** One point of the computation: a value and a gradient for every node, a local derivative for every edge, the arrays of a tensor graph.
 * @typedef {{values: Float64Array, grads: Float64Array, locals: Float64Array, arrays?: Float64Array}} Point */

/** What moving one input does while the others stand still: its points, and a row of the table for each.
 * @typedef {{node: number, base: Record<string, number>, xs: Float64Array, table: Float64Array}} Sweep */

/** Doubles from a binary trait. anywidget hands over a DataView whose offset need not be a multiple of eight.
 * @param {DataView|ArrayBuffer|null|undefined} raw */
export function doubles(raw) {
  if (!raw?.byteLength) return new Float64Array(0);
  if (raw instanceof ArrayBuffer) return new Float64Array(raw);
  if (raw.byteOffset % 8 === 0) return new Float64Array(/** @type {ArrayBuffer} */ (raw.buffer), raw.byteOffset, raw.byteLength / 8);
  return new Float64Array(/** @type {ArrayBuffer} */ (raw.buffer.slice(raw.byteOffset, raw.byteOffset + raw.byteLength)));
}

/** The tables of a trait. @param {any[]|null|undefined} raw @returns {Sweep[]} */
export const readSweeps = (raw) => (raw ?? []).map((s) => ({ node: s.node, base: s.base, xs: doubles(s.xs), table: doubles(s.table) }));

/** The point at which the trace was recorded. @param {Trace} trace @returns {Point} */
export function recorded(trace) {
  return {
    values: Float64Array.from(trace.nodes, (n) => num(n.value)),
    grads: Float64Array.from(trace.nodes, (n) => num(n.grad)),
    locals: Float64Array.from(trace.edges, (e) => num(e.local)),
  };
}

/** Row `p` of a sweep's table, without copying.
 * @param {Sweep} sweep @param {number} p @param {number} nodes @param {number} edges @param {number} [more] numbers of arrays @returns {Point} */
export function row(sweep, p, nodes, edges, more = 0) {
  const wide = 2 * nodes + edges + more;
  const at = p * wide;
  const part = (/** @type {number} */ from, /** @type {number} */ to) => sweep.table.subarray(at + from, at + to);
  const point = { values: part(0, nodes), grads: part(nodes, 2 * nodes), locals: part(2 * nodes, 2 * nodes + edges) };
  return more ? { ...point, arrays: part(2 * nodes + edges, wide) } : point;
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
 * @param {Trace} trace @param {Sweep[]} sweeps @param {Record<string, number>} inputs */
export function lookUp(trace, sweeps, inputs) {
  for (const sweep of sweeps) {
    if (moved(sweep, inputs).length) continue;
    const p = nearest(sweep.xs, inputs[sweep.node]);
    if (sweep.xs[p] !== inputs[sweep.node]) continue;
    return row(sweep, p, trace.nodes.length, trace.edges.length, trace.arrays ? arrayOffsets(trace)[trace.arrays.length] : 0);
  }
  return null;
}
