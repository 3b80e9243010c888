// The ledger as an exercise: the right numbers of a row, and what to say about a typed one. Pure functions.
// Chapter 4's ledger and the exercises judge in Python, in the kernel; this quiz must answer with the kernel busy or gone.

import { moment } from "./moment.js";

/** @import { Trace } from "../types" */
/** @import { Sent } from "./moment.js" */
/** @import { Point } from "./sweep.js" */

/** The right numbers of a row: local derivative, what arrives, what is sent, and the sum at the receiver.
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
  "That much has arrived.",
  "Local derivative times what arrives.",
  "Added to what was there.",
];
const WRONG = [
  "Not yet. Asked is how fast the result changes when only this input moves.",
  "Not yet. Add up what the rows above have sent to this node; the first one starts with 1.",
  "Not yet. Asked is the local derivative times what arrives.",
  "Not yet. Asked is what was there before plus what is sent.",
];

/** Numbers that look like a known mistake: [column, what it is, what to say].
 * @param {ReturnType<typeof answers>} key @returns {[number, number, string][]} */
const mistakes = (key) => [
  [0, key.value, "That is the value of the input itself. Asked is how fast the result changes when only this input moves."],
  [0, key.grown, "That is the value of the result. Asked is its slope in this input."],
  [0, key.sends, "That is already multiplied by the upstream gradient. Asked is the local derivative alone."],
  [1, key.local, "That is the local derivative. Asked is the sum that has arrived at the sender, from the rows above."],
  [2, key.local, "That is the local derivative alone: it still has to be multiplied by what arrives."],
  [2, key.incoming, "That is what arrives: it still has to be multiplied by the local derivative."],
  [2, key.local + key.incoming, "Those two are multiplied, not added."],
  [3, key.sends, "Something was there already: gradients that arrive at one node are added."],
  [3, key.before * key.sends, "Gradients that arrive at one node are added, not multiplied."],
];

/** Whether a typed number is right for a column (0 local, 1 arrives, 2 sent, 3 sum), and a sentence that never gives the number away.
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
