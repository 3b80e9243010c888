// Questions about a trace's nodes and edges. Pure functions.

/** @import { Edge, Node, Trace } from "../types" */

/** The edges by the node at this end of theirs, sorted once for each trace. @param {"source" | "target"} end */
function edgesBy(end) {
  /** @type {WeakMap<Trace, Edge[][]>} */
  const known = new WeakMap();
  return (/** @type {Trace} */ trace) => {
    let by = known.get(trace);
    if (!by) {
      by = trace.nodes.map(() => /** @type {Edge[]} */ ([]));
      for (const e of trace.edges) by[e[end]].push(e);
      known.set(trace, by);
    }
    return by;
  };
}

/** The edges that arrive at each node. */
export const arriving = edgesBy("target");
/** The edges that leave each node. */
export const leaving = edgesBy("source");

/** A node and all that it is made of, or all that it flows into. @param {Trace} trace @param {number} node @param {boolean} up */
export function reach(trace, node, up) {
  const found = new Set([node]);
  const edges = up ? arriving(trace) : leaving(trace);
  for (const n of found) for (const e of edges[n]) found.add(up ? e.source : e.target); // iterating over a Set includes elements that are added during the iteration
  return found;
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
  for (let top = stack.pop(); top && paths.length < limit; top = stack.pop()) {
    const { at, path } = top;
    if (at === trace.root) paths.push(path);
    for (const e of [...out[at]].reverse()) {
      const next = trace.edges[e].target;
      if (count[next]) stack.push({ at: next, path: [e, ...path] });
    }
  }
  return { total: count[node], paths };
}

/** How many nodes of which kind, for the head of the view. @param {Trace} trace */
export function census(trace) {
  const of = (/** @type {string} */ kind) => trace.nodes.filter((n) => n.kind === kind);
  const folds = of("fold");
  const hidden = folds.reduce((k, n) => k + (n.members ?? 1) - 1, 0);
  return {
    nodes: trace.nodes.length + hidden,
    cards: trace.nodes.length,
    folds: folds.length,
    inputs: of("leaf").length,
    constants: of("constant").length,
    operations: of("operation").length,
  };
}

/** Nodes whose name, operation, formula or module has `text` in it. @param {Trace} trace @param {string} text in lower case */
export function matching(trace, text) {
  const has = (/** @type {Node} */ n) => [n.label, n.op, n.function, n.expr, n.scope].some((t) => t?.toLowerCase().includes(text));
  return text ? trace.nodes.filter((n) => n.kind !== "constant" && has(n)).map((n) => n.id) : [];
}
