// The ledger as an exercise: the right numbers of a row, and what to say about a typed one. Pure functions.
// Chapter 4's ledger and the exercises judge in Python, in the kernel; this quiz must answer with the kernel busy or gone.

import { moment } from "./moment.js";

/** @import { Trace } from "../types" */
/** @import { Sent } from "./moment.js" */
/** @import { Point } from "./sweep.js" */

/** The right numbers of a row: local derivative, upstream gradient, downstream gradient, and the sum there.
 * @param {Trace} trace @param {Point} point @param {number} edge @param {number} at the row's event */
export function answers(trace, point, edge, at) {
  const sent = /** @type {Sent} */ (moment(trace, point, at).sent[edge]);
  const { source, target } = trace.edges[edge];
  return { ...sent, local: point.locals[edge], value: point.values[source], grown: point.values[target] };
}

/** A number as learners type it: 0.5, −2, 1/3, 2e-4; NaN if it is none. @param {string} text */
export function typed(text) {
  const plain = text
    .trim()
    .replaceAll("−", "-")
    .replace(/(\d),(\d)/g, "$1.$2");
  const [top, bottom, ...more] = plain.split("/");
  const number = (/** @type {string} */ t) => (/^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(t.trim()) ? Number(t) : NaN);
  return more.length ? NaN : bottom === undefined ? number(top) : number(top) / number(bottom);
}

/** Is it the same number, to three digits where there are more than six? @param {number} got @param {number} want */
export function agrees(got, want) {
  const short = Math.abs(want - Number(want.toPrecision(6))) <= 1e-12 * Math.abs(want);
  return Math.abs(got - want) <= 1e-12 + (short ? 1e-9 : 5e-3) * Math.abs(want);
}

const RIGHT = [
  "That is the local derivative.",
  "That is the upstream gradient.",
  "That is the local derivative times the upstream gradient.",
  "That is the downstream gradient added to what was there.",
];
const WRONG = [
  "Not yet. How fast does the result change when only this input moves?",
  "Not yet. Add up what the rows above passed to this node; the first row starts with 1.",
  "Not yet. This column asks for the local derivative times the upstream gradient.",
  "Not yet. It is what was there before plus the downstream gradient.",
];

/** Numbers of known mistakes: [column, number, sentence].
 * @param {ReturnType<typeof answers>} key @returns {[number, number, string][]} */
const mistakes = (key) => [
  [0, key.value, "That is the input’s value. How fast does the result change when only this input moves?"],
  [0, key.grown, "That is the result’s value. What is its derivative with respect to this input?"],
  [0, key.sends, "That is the downstream gradient. What is the local derivative alone?"],
  [1, key.local, "That is the local derivative. Add up what the rows above passed to this node."],
  [2, key.local, "That is the local derivative: multiply it by the upstream gradient."],
  [2, key.incoming, "That is the upstream gradient: multiply it by the local derivative."],
  [2, key.local + key.incoming, "Those two are multiplied, not added."],
  [3, key.sends, "Something was there already: all contributions to one node are added."],
  [3, key.before * key.sends, "Contributions to one node are added, not multiplied."],
];

/** Whether a typed number is right for a column (0 local, 1 upstream, 2 downstream, 3 sum), and a sentence that never gives the number away.
 * @param {string} text @param {ReturnType<typeof answers>} key @param {number} column */
export function judge(text, key, column) {
  const got = typed(text);
  const want = [key.local, key.incoming, key.sends, key.after][column];
  if (Number.isNaN(got)) return { right: false, say: `“${text.trim().slice(0, 20)}” is not a number: write 0.5, −2 or 1/3.` };
  if (agrees(got, want)) return { right: true, say: RIGHT[column] };
  const is = (/** @type {number} */ x) => agrees(got, x) && !agrees(x, want);
  if (is(-want)) return { right: false, say: "The size is right, the sign is not." };
  const known = mistakes(key).find(([where, x]) => where === column && is(x));
  return { right: false, say: known ? known[2] : WRONG[column] };
}
