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
