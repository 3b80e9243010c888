// What happens in a network, in sentences with the numbers of the sample that is looked at. Pure functions.

import { fmt } from "../model/numbers.js";
import { partsOf, short } from "./numbers.js";

/** @import { Frame } from "../view.js" */
/** @import { Network } from "./numbers.js" */

/** @param {number[]} numbers */
const list = (numbers) =>
  numbers.length === 1 ? short(numbers[0]) : `[${numbers.slice(0, 4).map(short).join(", ")}${numbers.length > 4 ? ", …" : ""}]`;

/** The sentence; null if the event is one inside a neuron. @param {Network} network @param {Frame} frame @param {number} s the sample */
export function networkSentence(network, { trace, current }, s) {
  if (!current) return "**Nothing has run yet.** Step to give the inputs their values.";
  const { plan } = network;
  if (current.node >= partsOf(plan).length) return null;
  const { values, grads, error, errorGrad } = network.sample(s);
  const parts = partsOf(plan);
  const name = (/** @type {number} */ node) => trace.nodes[node].label;
  const of = (/** @type {ArrayLike<number>} */ from, /** @type {number} */ node) => plan.columns[node].cells.map((i) => from[i]);
  const each = plan.samples > 1 ? ` The same happens for each of the ${plan.samples} samples.` : "";
  const part = parts[current.node];
  const seen = plan.samples > 1 ? `sample ${s + 1}` : "the sample";
  if (current.kind === "input") return `**${list(of(values, current.node))} comes in**, the numbers of ${seen}.${each}`;
  if (current.kind === "compute") {
    if (part === "loss")
      return `**${plan.loss} becomes ${fmt(network.loss)}**${plan.samples > 1 ? `, out of all ${plan.samples} samples` : ""}.`;
    if (part === "rest") return `**${plan.rest} becomes ${fmt(network.rest)}**, from the parameters alone.`;
    if (part === "error") return `**${plan.error} = ${fmt(error)}** for ${seen}.${each}`;
    const column = plan.columns[current.node];
    const what = column.cells.length === 1 ? "its neuron" : `each of its ${column.cells.length} neurons`;
    return `**${column.name} computes ${list(of(values, current.node))}:** ${what} weighs what comes in.${each}`;
  }
  if (current.kind === "seed") return `**The gradient of ${name(current.node)} starts at 1:** how fast it changes with itself.`;
  const to = current.edge === null ? 0 : trace.edges[current.edge].source;
  if (to === 0)
    return `**${name(current.node)} has its gradients:** each weight gets the gradient of its neuron × the neuron’s slope × the input it was multiplied by.`;
  if (parts[to] === "error") return `**${name(current.node)} passes ${fmt(errorGrad)} back to ${plan.error}** of ${seen}.${each}`;
  const sent = list(of(grads, to));
  if (part === "error" || part === "loss") return `**${name(current.node)} passes ${sent} back to ${name(to)}.**${each}`;
  const many = plan.columns[current.node].cells.length;
  const sum = many === 1 ? "weight × slope × gradient" : `the sum of weight × slope × gradient over the ${many} neurons that used it`;
  return `**${name(current.node)} passes ${sent} back:** each neuron of ${name(to)} gets ${sum}.`;
}

/** What the mouse is on, with its numbers as far as they are there: a cell, or the weight of a wire.
 * @param {Network} network @param {import("./scene.js").Progress} done @param {number} s the sample
 * @param {{cell: number, parameter: number}} on -1: not on such a one */
export function pointedSentence(network, done, s, { cell, parameter }) {
  return parameter >= 0 ? wireWords(network, done, s, parameter) : cellWords(network, done, s, cell);
}

/** @param {Network["plan"]} plan @param {number} cell */
const partOf = (plan, cell) => String(plan.columns.findIndex((c) => c.cells.includes(cell)));

/** @param {Network} network @param {import("./scene.js").Progress} done @param {number} s @param {number} cell */
function cellWords(network, done, s, cell) {
  const { plan } = network;
  const { values, grads, deltas, sums } = network.sample(s);
  const { name } = plan.cells[cell];
  const part = partOf(plan, cell);
  if (!done.known(part)) return `**${name}** is not computed yet.`;
  const [value, sum, grad, delta] = [values, sums, grads, deltas].map((of) => of[cell]);
  const is = Number.isNaN(sum) ? `**${name} = ${fmt(value)}.**` : `**${name} = ${fmt(value)}**, made of its sum ${fmt(sum)}.`;
  if (part === "0" && Number.isNaN(grad)) return done.back ? `${is} It is a plain number, so it gets no gradient.` : is;
  if (!done.arrived(part)) return is;
  const got = ` The gradient of its output is ${fmt(grad)}`;
  if (!done.sent(part) || Number.isNaN(delta)) return `${is}${got}.`;
  if (delta === 0 && grad !== 0) return `${is}${got}, but its slope is 0 here: it passes nothing on.`;
  return `${is}${got}, that of its sum ${fmt(delta)}.`;
}

/** @param {Network} network @param {import("./scene.js").Progress} done @param {number} s @param {number} k */
function wireWords({ plan, weights, weightGrads, sample }, done, s, k) {
  const { name, cell } = plan.parameters[k];
  const link = plan.wires.find((l) => l.parameter === k);
  const { values, grads, deltas } = sample(s);
  const is = `**${name} = ${fmt(weights[k])}**`;
  if (!link || !done.known(partOf(plan, link.source))) return `${is}.`;
  const { source } = link;
  const from = `${plan.cells[source].name} = ${fmt(values[source])}`;
  const product = `${is} × ${from} is ${fmt(weights[k] * values[source])}.`;
  if (!done.sent(partOf(plan, cell))) return product;
  const passed = Number.isNaN(grads[source]) ? "" : `; ${fmt(weights[k] * deltas[cell])} is passed back`;
  return `${product} The weight’s gradient is ${fmt(weightGrads[k])}${plan.samples > 1 ? ", of all samples" : ""}${passed}.`;
}

/** A sentence about numbers that are not finite; "" if there are none. @param {Network} network */
export function networkTrouble(network) {
  const { plan } = network;
  for (let s = 0; s < plan.samples; s++) {
    const { values } = network.sample(s);
    const bad = plan.cells.findIndex((_, i) => !Number.isFinite(values[i]));
    if (bad >= 0) return `**${plan.cells[bad].name} is ${fmt(values[bad])}** in sample ${s + 1}: what is computed from it is affected.`;
  }
  return plan.loss !== undefined && !Number.isFinite(network.loss) ? `**${plan.loss} is ${fmt(network.loss)}.**` : "";
}
