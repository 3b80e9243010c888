// Pure functions behind the graph view: no DOM, no model, no clock.
// What lives here: what is known after k events, the ledger, the sentence, the look-up in a sweep, the chain-rule expansion, keys.
// What does not: drawing (graph.js). The kernel joins this file and graph.js into the one module that anywidget wants.
// @ts-check
import { arrayAt, arrayOffsets, arrayText, single } from "./tensor.js";

/** @typedef {{id: number, kind: string, op: string, label: string, named: boolean, expr: string, value: number|string, grad: number|string|null,
 *   rule: string, rule_latex: string, saved: {name: string, bytes: number, shape?: number[], dtype?: string, version?: number, stale?: boolean, now?: number}[], source: Source|null, scope: string, folded?: number, fold?: number, members?: number, outs?: number,
 *   requires_grad?: boolean, shape?: number[], dtype?: string, function?: string, array?: number|null, grad_array?: number|null, view?: {base: number, version?: number}, version?: number, stops?: string, layer?: number, made_by?: number[]}} Node */
/** @typedef {{cell: string, line: number, text: string, span?: [number, number]}} Source */
/** @typedef {{id: number, source: number, target: number, slot: number, local: number|string|null, local_text: string, carries_grad: boolean, shut?: boolean, amount?: boolean, broadcast?: {shape: number[], to: number[], axes: number[]}, stops?: string, words?: string, makes?: number[]}} Edge */
/** @typedef {{phase: string, kind: string, node: number, edge: number|null, say: string, sends?: number, raw?: number, after?: number}} Step */
/** @typedef {{title: string, root: number, nodes: Node[], edges: Edge[], steps: Step[], engine?: string, arrays?: import("./tensor.js").Numbers[], notices?: string[], unused?: string[]}} Trace */
/** One point of the computation: a value and a gradient for every node, a local derivative for every edge.
 * @typedef {{values: Float64Array, grads: Float64Array, locals: Float64Array, arrays?: Float64Array}} Point */
/** @typedef {{node: number, base: Record<string, number>, xs: Float64Array, table: Float64Array}} Sweep */
/** Of a tensor also the arrays' numbers: what came in, what is sent, the sums before and after (-1: none).
 * @typedef {{incoming: number, sends: number, before: number, after: number, arrays?: {incoming: number, sends: number, before: number, after: number}}} Sent */
/** What is known after some events. `got` and `need` count the contributions to a node's gradient.
 * @typedef {{known: Uint8Array, sums: Float64Array, got: Uint16Array, need: Uint16Array, sent: (Sent|null)[], grads?: Int32Array, current: Step|null}} Moment */

/** A number of the trace; NaN where there is none. @param {number|string|null|undefined} v */
export function num(v) {
  if (typeof v === "number") return v;
  return v === "inf" ? Infinity : v === "-inf" ? -Infinity : NaN;
}

/** A number as people read it: six digits, a true minus sign; the same rule as minigrad.trace.fmt.
 * @param {number} v @param {number} [digits] @param {boolean} [power] always with a power of ten */
export function fmt(v, digits = 6, power = false) {
  if (Number.isNaN(v)) return "nan";
  if (!Number.isFinite(v)) return v > 0 ? "inf" : "−inf";
  if (v === 0) return "0";
  const size = Math.abs(v), [head, tail] = v.toExponential(digits - 1).split("e");
  const text = !power && size >= 1e-4 && size < 10 ** digits ? String(Number(v.toPrecision(digits))) : `${Number(head)}e${tail.replace("+", "")}`;
  return text.replaceAll("-", "−");
}

/** The same number in at most `room` characters, with as many digits as that allows, but never fewer than two: −1.5 is not −2.
 * @param {number} v @param {number} room */
export function fit(v, room) {
  for (let digits = 6; digits > 1; digits--) {
    for (const power of [false, true]) {
      const text = fmt(v, digits, power);
      if (text.length <= room) return text;
    }
  }
  const [plain, withPower] = [fmt(v, 2), fmt(v, 2, true)];
  return withPower.length < plain.length ? withPower : plain;
}

/** Doubles from a binary trait. anywidget hands over a DataView whose offset need not be a multiple of eight.
 * @param {DataView|ArrayBuffer|null|undefined} raw */
export function doubles(raw) {
  if (!raw || !raw.byteLength) return new Float64Array(0);
  if (raw instanceof ArrayBuffer) return new Float64Array(raw);
  if (raw.byteOffset % 8 === 0) return new Float64Array(raw.buffer, raw.byteOffset, raw.byteLength / 8);
  return new Float64Array(raw.buffer.slice(raw.byteOffset, raw.byteOffset + raw.byteLength));
}

/** The point at which the trace was recorded. @param {Trace} trace @returns {Point} */
export function recorded(trace) {
  return {
    values: Float64Array.from(trace.nodes, (n) => num(n.value)),
    grads: Float64Array.from(trace.nodes, (n) => num(n.grad)),
    locals: Float64Array.from(trace.edges, (e) => num(e.local)),
  };
}

/** Row `p` of a sweep's table, without copying. @param {Sweep} sweep @param {number} p @param {number} nodes @param {number} edges @param {number} [more] numbers of arrays @returns {Point} */
export function row(sweep, p, nodes, edges, more = 0) {
  const wide = 2 * nodes + edges + more, at = p * wide;
  return {
    ...(more ? { arrays: sweep.table.subarray(at + 2 * nodes + edges, at + wide) } : {}),
    values: sweep.table.subarray(at, at + nodes),
    grads: sweep.table.subarray(at + nodes, at + 2 * nodes),
    locals: sweep.table.subarray(at + 2 * nodes, at + 2 * nodes + edges),
  };
}

/** May this sweep be used while the inputs stand at `inputs`? Only if every other input stands where the sweep was computed.
 * @param {Sweep} sweep @param {Record<string, number>} inputs @returns {number[]} the inputs that have moved away (empty: yes) */
export function moved(sweep, inputs) {
  return Object.keys(inputs)
    .map(Number)
    .filter((id) => id !== sweep.node && inputs[id] !== sweep.base[id]);
}

/** Index of the entry of ascending `xs` nearest to x. @param {Float64Array} xs @param {number} x */
export function nearest(xs, x) {
  let low = 0, high = xs.length - 1;
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
    if (sweep.xs[p] === inputs[sweep.node]) return row(sweep, p, trace.nodes.length, trace.edges.length, trace.arrays ? arrayOffsets(trace)[trace.arrays.length] : 0);
  }
  return null;
}

/** What is known before the first event, and what is still to come. @param {Trace} trace */
function atStart(trace) {
  const n = trace.nodes.length, known = new Uint8Array(n), need = new Uint16Array(n);
  const sent = /** @type {(Sent|null)[]} */ (trace.edges.map(() => null));
  for (const node of trace.nodes) if (node.kind === "constant") known[node.id] = 1;
  for (const s of trace.steps) {
    if (s.kind === "seed") need[s.node]++;
    else if (s.kind === "send" && s.edge !== null) need[trace.edges[s.edge].source]++;
  }
  return { known, need, sent, sums: new Float64Array(n), got: new Uint16Array(n) };
}

/** What is known after the first `step` events. @param {Trace} trace @param {Point} point @param {number} step @returns {Moment} */
export function moment(trace, point, step) {
  if (trace.arrays) return tensorMoment(trace, point, step);
  const { known, sums, got, need, sent } = atStart(trace);
  for (const s of trace.steps.slice(0, step)) {
    if (s.phase === "forward") known[s.node] = 1;
    else if (s.kind === "seed") { sums[s.node] += 1; got[s.node]++; }
    else if (s.edge !== null) {
      const { source: to, shut, amount } = trace.edges[s.edge], incoming = sums[s.node], local = point.locals[s.edge];
      const sends = shut && local === 0 ? 0 : amount ? local : local * incoming;
      sent[s.edge] = { incoming, sends, before: sums[to], after: sums[to] + sends };
      sums[to] += sends;
      got[to]++;
    }
  }
  return { known, sums, got, need, sent, current: trace.steps[step - 1] ?? null };
}

/** The same for tensors: what travels are arrays, which the engine has computed. @param {Trace} trace @param {Point} point @param {number} step @returns {Moment} */
function tensorMoment(trace, point, step) {
  const { known, sums, got, need, sent } = atStart(trace), grads = new Int32Array(trace.nodes.length).fill(-1);
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
  for (const node of trace.nodes) if (node.layer && (step === trace.steps.length || node.made_by?.some((e) => sent[e]))) known[node.id] = 1;
  return { known, sums, got, need, sent, grads, current: trace.steps[step - 1] ?? null };
}

/** How many forward events there are. @param {Trace} trace */
export const forwardSteps = (trace) => trace.steps.reduce((k, s) => k + (s.phase === "forward" ? 1 : 0), 0);

/** The sentence of the last event with the live numbers in it. @param {Trace} trace @param {Point} point @param {Moment} now */
export function sentence(trace, point, now) {
  const s = now.current;
  if (!s) return "**Nothing has run yet.** Step to give the inputs their values.";
  /** @type {Record<string, number>} */
  const live = { value: point.values[s.node] };
  if (s.kind === "seed") Object.assign(live, { sends: 1, after: 1, before: 0, incoming: 1 });
  if (s.edge !== null) Object.assign(live, now.sent[s.edge], { local: point.locals[s.edge] });
  if (trace.arrays) {
    const at = /** @type {Record<string, number|null|undefined>} */ ({ value: trace.nodes[s.node].array, after: s.after, sends: s.sends, ...(s.edge !== null ? now.sent[s.edge]?.arrays : {}) });
    return s.say.replace(/\{(\w+)\}/g, (whole, key) => (key === "local" ? fmt(live.local) : key === "value" && at.value == null ? "not kept" : key in at ? arrayText(arrayAt(trace, point, at[key])) : whole));
  }
  return s.say.replace(/\{(\w+)\}/g, (whole, key) => (key in live ? fmt(live[key]) : whole));
}

/** "**bold** plain" as pieces. @param {string} text @returns {{bold: boolean, text: string}[]} */
export const pieces = (text) => text.split("**").map((t, i) => ({ bold: i % 2 === 1, text: t })).filter((p) => p.text);

/** Is this text nothing but a number? @param {string} text */
export const plainNumber = (text) => /^[−-]?[\d.]+(e[−-]?\d+)?$|^(nan|[−-]?inf)$/.test(text.trim());

/** A long name cut to `room` characters: a path such as model.layers[0].w[1] keeps its end, which tells it apart. @param {string} name @param {number} room */
export const tail = (name, room) => (name.length <= room ? name : /[.[]/.test(name) ? `…${name.slice(1 - room)}` : `${name.slice(0, room - 1)}…`);

/** The event (1-based) at which a node got its value, or sends or receives its gradient. @param {Trace} trace @param {number} node @param {string} phase */
export function eventOf(trace, node, phase) {
  let last = 0;
  trace.steps.forEach((s, i) => {
    const here = s.phase === "forward" ? s.node === node : s.edge === null ? s.node === node : trace.edges[s.edge ?? 0].source === node;
    if (s.phase === phase && here) last = i + 1;
  });
  return last;
}

/** Every way from the root down to a node: the terms of the chain rule. At most `limit` are listed; `total` counts them all.
 * @param {Trace} trace @param {number} node @param {number} limit @returns {{total: number, paths: number[][]}} edges, root side first */
export function chain(trace, node, limit) {
  /** @type {number[][]} */
  const out = trace.nodes.map(() => []);
  for (const e of trace.edges) if (e.carries_grad) out[e.source].push(e.id);
  const count = new Float64Array(trace.nodes.length);
  count[trace.root] = 1;
  for (let i = trace.nodes.length - 1; i >= 0; i--) for (const e of out[i]) count[i] += count[trace.edges[e].target];
  /** @type {number[][]} */
  const paths = [];
  /** @type {{at: number, path: number[]}[]} */
  const stack = [{ at: node, path: [] }];
  while (stack.length && paths.length < limit) {
    const { at, path } = /** @type {{at: number, path: number[]}} */ (stack.pop());
    if (at === trace.root) paths.push(path);
    for (const e of [...out[at]].reverse()) {
      const next = trace.edges[e].target;
      if (count[next]) stack.push({ at: next, path: [e, ...path] });
    }
  }
  return { total: count[node], paths };
}

/** A formula with its labels replaced by their numbers: "2u" at u = 5 is "2·5".
 * @param {string} text @param {{label: string, value: number}[]} names */
export function withNumbers(text, names) {
  const known = names.filter((n) => n.label && !plainNumber(n.label)).sort((a, b) => b.label.length - a.label.length);
  if (!known.length) return text;
  const any = known.map((n) => n.label.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|");
  return text.replace(new RegExp(`(?<![\\p{L}_])(?:${any})(?![\\p{L}\\p{N}_])`, "gu"), (label, at) => {
    const value = /** @type {{value: number}} */ (known.find((n) => n.label === label)).value;
    const number = value < 0 ? `(${fmt(value)})` : fmt(value);
    return (at > 0 && /[\d)]/.test(text[at - 1]) ? "·" : "") + number;
  });
}

/** The edges by the node at this end of theirs, sorted once for each trace. @param {"source" | "target"} end */
function edgesBy(end) {
  /** @type {WeakMap<Trace, Edge[][]>} */ const known = new WeakMap();
  return (/** @type {Trace} */ trace) => {
    let by = known.get(trace);
    if (!by) {
      known.set(trace, (by = trace.nodes.map(() => /** @type {Edge[]} */ ([]))));
      for (const e of trace.edges) by[e[end]].push(e);
    }
    return by;
  };
}
/** The edges that arrive at each node. */
export const arriving = edgesBy("target");
/** The edges that leave each node. */
export const leaving = edgesBy("source");

/** The first node whose value or gradient is not a finite number although everything it is made of is, said in words; "" if none.
 * @param {Trace} trace @param {Point} point */
export function trouble(trace, point) {
  if (trace.arrays) return tensorTrouble(trace, point);
  const into = arriving(trace);
  for (const node of trace.nodes) {
    const edges = into[node.id];
    if (edges.some((e) => !Number.isFinite(point.values[e.source]))) continue;
    const value = point.values[node.id];
    if (Number.isFinite(value) && !edges.some((e) => e.carries_grad && !Number.isFinite(point.locals[e.id]))) continue;
    const from = edges.map((e) => `${trace.nodes[e.source].label} = ${fmt(point.values[e.source])}`).filter((t) => !/^(\S+) = \1$/.test(t)).join(" and ");
    const x = edges.length ? point.values[edges[0].source] : 0;
    if (edges.length && !Number.isFinite(value)) {
      const why = { log: x < 0 ? "the logarithm of a negative number does not exist" : "the logarithm falls without end towards 0", sqrt: "a negative number has no real square root",
        "/": "this divides by zero", exp: "the result is larger than a float64 can hold", "**": x < 0 ? "a negative number to a fractional power is not real" : x === 0 ? "zero to a negative power divides by zero" : "the result is larger than a float64 can hold",
      }[node.op] ?? "the result is not a finite number";
      return `**${node.label} is ${fmt(value)}**${node.expr === node.label ? "" : `, as ${node.expr},`} at ${from}: ${why}.`;
    }
    const bad = edges.find((e) => e.carries_grad && !Number.isFinite(point.locals[e.id]));
    if (bad) return `**${node.label} has no finite derivative here:** ${bad.local_text || "its local derivative"} is ${fmt(point.locals[bad.id])} at ${from}.`;
  }
  return "";
}

/** @param {Trace} trace @param {Point} point */
function tensorTrouble(trace, point) {
  const into = arriving(trace);
  /** @param {number} id */
  const odd = (id) => arrayAt(trace, point, trace.nodes[id].array)?.odd ?? 0;
  const node = trace.nodes.find((n) => odd(n.id) && !into[n.id].some((e) => odd(e.source)));
  if (!node) return "";
  const all = (node.shape ?? []).reduce((k, d) => k * d, 1);
  return `**${node.label} is not finite${all > 1 ? ` in ${odd(node.id)} of its ${all} entries` : ""}**${node.expr && node.expr !== node.label ? `, as ${node.expr}` : ""}: everything computed from it is affected.`;
}

/** Stroke width of an edge: the logarithm of how much it carries, against the most that any edge carries.
 * @param {number} amount @param {number} most */
export function width(amount, most) {
  const a = Math.abs(amount);
  if (!Number.isFinite(a) || !(most > 0) || !Number.isFinite(most)) return 2;
  return 1.5 + 2.5 * (Math.log1p((9 * a) / most) / Math.log(10));
}

/** A step after a move. @param {number} step @param {number} total @param {string} move */
export function move(step, total, move) {
  const to = { start: 0, back: step - 1, next: step + 1, end: total }[move] ?? step;
  return Math.min(total, Math.max(0, to));
}

/** What a key means, or "". @param {string} key */
export const keyMove = (key) => ({ ArrowRight: "next", ArrowUp: "next", ArrowLeft: "back", ArrowDown: "back", Home: "start", End: "end", " ": "play", Enter: "inspect", Escape: "close", "/": "find", u: "up", d: "down" }[key] ?? "");

/** The right numbers of a row of the ledger: local derivative, what arrives, what is sent, and the sum at the receiver.
 * @param {Trace} trace @param {Point} point @param {number} edge @param {number} at the row's event */
export function answers(trace, point, edge, at) {
  const sent = /** @type {Sent} */ (moment(trace, point, at).sent[edge]);
  return { local: point.locals[edge], incoming: sent.incoming, sends: sent.sends, before: sent.before, after: sent.after, value: point.values[trace.edges[edge].source], grown: point.values[trace.edges[edge].target] };
}

/** A number as learners type it: 0.5, −2, 1/3, 2e-4; NaN if it is none. @param {string} text */
export function typed(text) {
  const plain = text.trim().replaceAll("−", "-").replace(/(\d),(\d)/g, "$1.$2"), [top, bottom, ...more] = plain.split("/");
  const number = (/** @type {string} */ t) => (/^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(t.trim()) ? Number(t) : NaN);
  return more.length ? NaN : bottom === undefined ? number(top) : number(top) / number(bottom);
}

/** Is it the same number, to three digits where there are more than six? @param {number} got @param {number} want */
export const agrees = (got, want) => Math.abs(got - want) <= 1e-12 + (Math.abs(want - Number(want.toPrecision(6))) <= 1e-12 * Math.abs(want) ? 1e-9 : 5e-3) * Math.abs(want);

/** Whether a typed number is right for a column (0 local, 1 arrives, 2 sent, 3 sum), and a sentence that never gives the number away.
 * Chapter 4's ledger and the exercises judge in Python, in the kernel; this quiz must answer with the kernel busy or gone, so it has a judge of its own.
 * @param {string} text @param {ReturnType<typeof answers>} key @param {number} column */
export function judge(text, key, column) {
  const got = typed(text), want = [key.local, key.incoming, key.sends, key.after][column], is = (/** @type {number} */ x) => agrees(got, x) && !agrees(x, want);
  if (Number.isNaN(got)) return { right: false, say: `“${text.trim().slice(0, 20)}” is not a number: write 0.5, −2 or 1/3.` };
  if (agrees(got, want)) return { right: true, say: ["That is the local derivative.", "That much has arrived.", "Local derivative times what arrives.", "Added to what was there."][column] };
  if (is(-want)) return { right: false, say: "The size is right, the sign is not." };
  if (column === 0 && is(key.value)) return { right: false, say: "That is the value of the input itself. Asked is how fast the result changes when only this input moves." };
  if (column === 0 && is(key.grown)) return { right: false, say: "That is the value of the result. Asked is its slope in this input." };
  if (column === 0 && is(key.sends)) return { right: false, say: "That is already multiplied by what arrives. Asked is the local derivative alone." };
  if (column === 1 && is(key.local)) return { right: false, say: "That is the local derivative. Asked is the sum that has arrived at the sender, from the rows above." };
  if (column === 2 && is(key.local)) return { right: false, say: "That is the local derivative alone: it still has to be multiplied by what arrives." };
  if (column === 2 && is(key.incoming)) return { right: false, say: "That is what arrives: it still has to be multiplied by the local derivative." };
  if (column === 2 && is(key.local + key.incoming)) return { right: false, say: "Those two are multiplied, not added." };
  if (column === 3 && is(key.sends)) return { right: false, say: "Something was there already: gradients that arrive at one node are added." };
  if (column === 3 && is(key.before * key.sends)) return { right: false, say: "Gradients that arrive at one node are added, not multiplied." };
  return { right: false, say: ["Not yet. Asked is how fast the result changes when only this input moves.", "Not yet. Add up what the rows above have sent to this node; the first one starts with 1.", "Not yet. Asked is the local derivative times what arrives.", "Not yet. Asked is what was there before plus what is sent."][column] };
}
