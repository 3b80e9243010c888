// Phrases that several parts of the view say.

import { count, markWords, shapeText } from "./model/arrays.js";
import { plural } from "./model/numbers.js";

/** @import { Edge, Node, Trace } from "./types" */

/** ∂ of one name by another; u × u is put in parentheses. @param {...string} labels */
export const slope = (...labels) => labels.map((l) => `∂${/[ +−×÷/*]/.test(l.replace(/\[.*?\]|\(.*?\)/g, "")) ? `(${l})` : l}`).join("/");

/** What undoes a broadcast. @param {Edge} e */
export function summed({ broadcast: b }) {
  if (!b) return "";
  const axes = `${b.axes.length === 1 ? "dimension" : "dimensions"} ${b.axes.join(", ")}`;
  return `summed over ${axes}, because ${shapeText(b.shape)} was broadcast to ${shapeText(b.to)}`;
}

/** What happens in a fold, in a sentence. @param {Node} node */
export const inside = (node) => (node.within ? ` Inside: ${node.within.join(", ")}.` : "");

/** What an operation is in the program of a compiled step. @param {Node} node */
export function compiledTo({ became }) {
  if (!became) return "";
  const ways = [
    ["forward", became.forward],
    ["going back", became.backward],
  ];
  return `compiled: ${ways.flatMap(([way, names]) => (names.length ? [`${way} ${/** @type {string[]} */ (names).join(", ")}`] : [])).join("; ")}`;
}

/** What a card says to a screen reader, and to a mouse that rests on it.
 * @param {Trace} trace @param {Node} node @param {{value: string, gradient: string, known: boolean, got: number, need: number}} now */
export function spokenCard(trace, node, now) {
  const compiled = node.became ? ` In the program, ${compiledTo(node).slice(10)}.` : "";
  if (node.kind === "fold")
    return `${node.label}, folded: ${node.expr}, ${plural(node.members ?? 1, "node")}.${inside(node)}${compiled} Open it with Enter.`;
  const tensor = !!trace.arrays;
  const shape = node.shape ? `, shape ${shapeText(node.shape)}` : "";
  const made =
    node.kind === "operation" ? ` = ${node.expr}${tensor ? `, ${node.op}` : ""}` : `, ${node.kind === "leaf" ? "input" : "constant"}`;
  const value = now.known ? `value ${now.value}` : "not computed yet";
  const part = now.got === now.need ? "" : ` so far (${now.got} of ${now.need})`;
  const gradient = now.got ? `, gradient ${now.gradient}${part}` : "";
  const special = tensor ? markWords(trace, node) : "";
  return `${node.label}${shape}${made}: ${value}${gradient}${tensor ? "." : ""}${special && ` ${special}`}${compiled}`;
}

/** Shapes to be set under the names in a rule: those that are no single number. @param {Node[]} nodes */
export const shapesOf = (nodes) =>
  Object.fromEntries(nodes.filter((n) => n.shape && count(n) !== 1).map((n) => [n.label, shapeText(n.shape ?? [])]));

/** An edge as the gradient goes: "y → x". @param {Trace} trace @param {Edge} edge */
export const wayBack = (trace, edge) => `${trace.nodes[edge.target].label} → ${trace.nodes[edge.source].label}`;

/** The derivative of an edge. @param {Trace} trace @param {Edge} edge */
export const slopeOf = (trace, edge) => slope(trace.nodes[edge.target].label, trace.nodes[edge.source].label);
