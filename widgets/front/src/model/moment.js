// The numbers of a trace after some of its events, and sentences about them. Pure functions.

import { arrayAt, arrayText, single } from "./arrays.js";
import { arriving } from "./graph.js";
import { fmt, num } from "./numbers.js";

/** @import { Step, Trace } from "../types" */
/** @import { Point } from "./sweep.js" */

/** What went along an edge. Of a tensor also the numbers of the arrays (-1: none).
 * @typedef {{incoming: number, sends: number, before: number, after: number,
 *   arrays?: {incoming: number, sends: number, before: number, after: number}}} Sent */

/** The numbers after some events. `got` and `need` count the contributions to a node's gradient.
 * @typedef {{known: Uint8Array, sums: Float64Array, got: Uint16Array, need: Uint16Array, sent: (Sent|null)[], grads?: Int32Array,
 *   current: Step|null}} Moment */

/** The state before the first event, with the number of contributions that each node will receive. @param {Trace} trace */
function atStart(trace) {
  const n = trace.nodes.length;
  const known = new Uint8Array(n);
  const need = new Uint16Array(n);
  const sent = /** @type {(Sent|null)[]} */ (trace.edges.map(() => null));
  for (const node of trace.nodes) if (node.kind === "constant") known[node.id] = 1;
  for (const s of trace.steps) {
    if (s.kind === "seed") need[s.node]++;
    else if (s.kind === "send" && s.edge !== null) need[trace.edges[s.edge].source]++;
  }
  return { known, need, sent, sums: new Float64Array(n), got: new Uint16Array(n) };
}

/** The state after the first `step` events. @param {Trace} trace @param {Point} point @param {number} step @returns {Moment} */
export function moment(trace, point, step) {
  return trace.arrays ? tensorMoment(trace, point, step) : scalarMoment(trace, point, step);
}

/** @param {Trace} trace @param {Point} point @param {number} step @returns {Moment} */
function scalarMoment(trace, point, step) {
  const { known, sums, got, need, sent } = atStart(trace);
  for (const s of trace.steps.slice(0, step)) {
    if (s.phase === "forward") known[s.node] = 1;
    else if (s.kind === "seed") {
      sums[s.node] += s.start === undefined ? 1 : num(s.start);
      got[s.node]++;
    } else if (s.edge !== null) {
      const { source: to, shut, amount } = trace.edges[s.edge];
      const incoming = sums[s.node];
      const local = point.locals[s.edge];
      const sends = shut && local === 0 ? 0 : amount ? local : local * incoming;
      sent[s.edge] = { incoming, sends, before: sums[to], after: sums[to] + sends };
      sums[to] += sends;
      got[to]++;
    }
  }
  return { known, sums, got, need, sent, current: trace.steps[step - 1] ?? null };
}

/** The same for tensors: what travels are arrays, which the engine has computed.
 * @param {Trace} trace @param {Point} point @param {number} step @returns {Moment} */
function tensorMoment(trace, point, step) {
  const { known, sums, got, need, sent } = atStart(trace);
  const grads = new Int32Array(trace.nodes.length).fill(-1);
  /** @param {number} i the array's one number */
  const one = (i) => {
    const a = arrayAt(trace, point, i);
    return a && single(a) ? num(a.cells[0]) : NaN;
  };
  for (const s of trace.steps.slice(0, step)) {
    if (s.phase === "forward") known[s.node] = 1;
    else if (s.after !== undefined) {
      const to = s.edge === null ? s.node : trace.edges[s.edge].source;
      if (s.edge !== null) {
        const at = { incoming: grads[s.node], sends: s.sends ?? -1, before: grads[to], after: s.after };
        sent[s.edge] = { incoming: sums[s.node], sends: one(at.sends), before: got[to] ? sums[to] : 0, after: one(s.after), arrays: at };
      }
      if (s.kind !== "accumulate") got[to]++;
      grads[to] = s.after;
      sums[to] = one(s.after);
    }
  }
  for (const node of trace.nodes) {
    if (node.layer && (step === trace.steps.length || node.made_by?.some((e) => sent[e]))) known[node.id] = 1;
  }
  return { known, sums, got, need, sent, grads, current: trace.steps[step - 1] ?? null };
}

/** How many forward events there are. @param {Trace} trace */
export const forwardSteps = (trace) => trace.steps.reduce((k, s) => k + (s.phase === "forward" ? 1 : 0), 0);

/** A step after a move. @param {number} step @param {number} total @param {string} move */
export function move(step, total, move) {
  const to = { start: 0, back: step - 1, next: step + 1, end: total }[move] ?? step;
  return Math.min(total, Math.max(0, to));
}

/** The sentence of the last event, with the present numbers filled in. @param {Trace} trace @param {Point} point @param {Moment} now */
export function sentence(trace, point, now) {
  const s = now.current;
  if (!s) return "**Nothing has run yet.** Step to give the inputs their values.";
  const sent = s.edge === null ? null : now.sent[s.edge];
  /** @type {Record<string, number>} */
  const live = { value: point.values[s.node] };
  if (s.kind === "seed") Object.assign(live, { sends: 1, after: s.start === undefined ? 1 : num(s.start), before: 0, incoming: 1 });
  if (s.edge !== null) Object.assign(live, sent, { local: point.locals[s.edge] });
  if (!trace.arrays) return s.say.replace(/\{(\w+)\}/g, (whole, key) => (key in live ? fmt(live[key]) : whole));
  /** @type {Record<string, number|null|undefined>} */
  const at = { value: trace.nodes[s.node].array, after: s.after, sends: s.sends, ...sent?.arrays };
  return s.say.replace(/\{(\w+)\}/g, (whole, key) => {
    if (key === "local") return fmt(live.local);
    if (key === "value" && at.value == null) return "not kept";
    return key in at ? arrayText(arrayAt(trace, point, at[key])) : whole;
  });
}

/** Why an operation on numbers has no finite result. @param {string} op @param {number} x its first operand */
function why(op, x) {
  const power = x < 0 ? "a negative number to a fractional power is not real" : x === 0 ? "zero to a negative power divides by zero" : "";
  return (
    {
      log: x < 0 ? "the logarithm of a negative number does not exist" : "the logarithm falls without end towards 0",
      sqrt: "a negative number has no real square root",
      "/": "this divides by zero",
      exp: "the result is larger than a float64 can hold",
      "**": power || "the result is larger than a float64 can hold",
    }[op] ?? "the result is not a finite number"
  );
}

/** The node whose number is the first that is not finite, and a sentence about it; "" if all are finite. @typedef {{node: number, say: string}} Trouble */

/** Cache of the result for a point, valid for one trace. @type {WeakMap<Point, {trace: Trace, found: Trouble}>} */
const found = new WeakMap();
const NONE = { node: -1, say: "" };

/** The first node whose value or gradient is not a finite number although everything it is made of is; `node` is -1 unless it is its value.
 * @param {Trace} trace @param {Point} point @returns {Trouble} */
export function trouble(trace, point) {
  const before = found.get(point);
  if (before?.trace === trace) return before.found;
  const now = trace.arrays ? tensorTrouble(trace, point) : scalarTrouble(trace, point);
  found.set(point, { trace, found: now });
  return now;
}

/** @param {Trace["nodes"][number]} node */
const made = ({ source }) => (source ? ` It was made in ${source.cell}, line ${source.line}.` : "");

/** @param {Trace} trace @param {Point} point @returns {Trouble} */
function scalarTrouble(trace, point) {
  const into = arriving(trace);
  for (const node of trace.nodes) {
    const edges = into[node.id];
    if (edges.some((e) => !Number.isFinite(point.values[e.source]))) continue;
    const value = point.values[node.id];
    const bad = edges.find((e) => e.carries_grad && !Number.isFinite(point.locals[e.id]));
    if (Number.isFinite(value) && !bad) continue;
    const operands = edges.map((e) => `${trace.nodes[e.source].label} = ${fmt(point.values[e.source])}`);
    const from = operands.filter((t) => !/^(\S+) = \1$/.test(t)).join(" and ");
    if (edges.length && !Number.isFinite(value)) {
      const because = `${why(node.op ?? "", point.values[edges[0].source])}.${made(node)}`;
      const own = node.expr === node.label;
      const what = `**${node.label} is ${fmt(value)}${own ? "**" : `:** it is ${node.expr}`} at ${from}`;
      const say = `${what}${own ? ":" : ", and"} ${because}`;
      return { node: node.id, say };
    }
    if (!bad) continue;
    const local = `${bad.local_text || "its local derivative"} is ${fmt(point.locals[bad.id])}`;
    return { node: -1, say: `**${node.label} has no finite derivative here:** ${local} at ${from}.${made(node)}` };
  }
  return NONE;
}

/** @param {Trace} trace @param {Point} point @returns {Trouble} */
function tensorTrouble(trace, point) {
  const into = arriving(trace);
  const odd = (/** @type {number} */ id) => arrayAt(trace, point, trace.nodes[id].array)?.odd ?? 0;
  // −inf that goes into a softmax or a where is a mask: where the result and all gradients are finite, nothing is affected.
  const sent = trace.steps.some((x) => (arrayAt(trace, point, x.after)?.odd ?? 0) > 0);
  if (!odd(trace.root) && !sent) return NONE;
  const node = trace.nodes.find((n) => odd(n.id) && !into[n.id].some((e) => odd(e.source)));
  if (!node) return NONE;
  const all = (node.shape ?? []).reduce((k, d) => k * d, 1);
  const entries = all > 1 ? ` in ${odd(node.id)} of its ${all} entries` : "";
  const as = node.expr && node.expr !== node.label ? `, as ${node.expr}` : "";
  return { node: node.id, say: `**${node.label} is not finite${entries}**${as}: everything computed from it is affected.${made(node)}` };
}
