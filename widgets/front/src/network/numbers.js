// A network's plan and its numbers by their meaning. Pure functions; Python's version is widgets/network_steps.py.

import { fmt } from "../model/numbers.js";
import { doubles } from "../model/sweep.js";

/** @import { Inner, Plan } from "../types" */

/** What a network picture is drawn from.
 * @typedef {{plan: Plan, row: Float64Array, loss: number, rest: number, weights: Float64Array, weightGrads: Float64Array,
 *   sample: (s: number) => Sample, inner: Inner|null, moved: Moved|null, mark: Mark|null}} Network */

/** Lines beside one cell, or beside the error or the loss (cell -1), of one sample, from an event on: how it differs from another network.
 * @typedef {{part: string, cell: number, sample: number, rows: [string, string][], at: number}} Mark */

/** All numbers as one parameter moves: the places of its slider, and a row for each.
 * @typedef {{parameter: number, xs: Float64Array, rows: Float64Array}} Moved */

/** One sample: of each cell its value, its gradient, the gradient at its sum and the sum itself; the error.
 * @typedef {{values: Float64Array, grads: Float64Array, deltas: Float64Array, sums: Float64Array, error: number, errorGrad: number}} Sample */

/** @param {Plan} plan @param {Float64Array} row @returns {Network} */
export function numbersOf(plan, row) {
  const [cells, weights] = [plan.cells.length, plan.parameters.length];
  const start = 3 + 2 * weights;
  const size = 4 * cells + 2;
  return {
    plan,
    row,
    inner: null,
    moved: null,
    mark: null,
    loss: row[0],
    rest: row[2],
    weights: row.subarray(3, 3 + weights),
    weightGrads: row.subarray(3 + weights, start),
    sample(s) {
      let at = start + s * size;
      const next = () => row.subarray(at, (at += cells));
      const [values, grads, deltas, sums] = [next(), next(), next(), next()];
      return { values, grads, deltas, sums, error: row[at], errorGrad: row[at + 1] };
    },
  };
}

/** The network of a trait, or null. @param {any} raw @returns {Network|null} */
export function readNetwork(raw) {
  if (!raw?.plan) return null;
  /** @type {Plan} */
  const plan = JSON.parse(new TextDecoder().decode(raw.plan));
  const inner = raw.inner ? JSON.parse(new TextDecoder().decode(raw.inner)) : null;
  const moved = raw.moved ? { parameter: raw.moved.parameter, xs: doubles(raw.moved.points), rows: doubles(raw.moved.rows) } : null;
  return { ...numbersOf(plan, doubles(raw.numbers)), inner, moved, mark: raw.mark ?? null };
}

/** The network with its slider on its `p`-th place. @param {Network} network @param {number} p @returns {Network} */
export function movedTo({ plan, moved }, p) {
  const size = moved ? moved.rows.length / moved.xs.length : 0;
  const row = moved ? moved.rows.subarray(p * size, (p + 1) * size) : new Float64Array();
  return { ...numbersOf(plan, row), moved };
}

/** The parts of the picture from left to right; the index of each is its node in the trace. @param {Plan} plan @returns {string[]} */
export const partsOf = (plan) => [
  ...plan.columns.map((_, k) => String(k)),
  ...(plan.error === undefined ? [] : ["error"]),
  ...(plan.rest === undefined ? [] : ["rest"]),
  ...(plan.loss === undefined ? [] : ["loss"]),
];

/** A number in a circle. @param {number} v */
export function short(v) {
  if (!Number.isFinite(v)) return fmt(v);
  const size = Math.abs(v);
  if (Number.isInteger(v) && size < 9999.5) return fmt(v);
  if (size >= 9999.5 || (size !== 0 && size < 0.005)) return fmt(v, 1);
  const text = size >= 99.5 ? v.toFixed(0) : size >= 9.95 ? v.toFixed(1) : v.toFixed(2);
  return text.replace("-", "−");
}

/** A gradient, as on a card. @param {number} g */
export const gradText = (g) => `${g < 0 ? "▾" : "▴"} ${short(g)}`;
