// One node: its numbers, its local derivatives, the chain rule for its gradient, its saved values, its source line.

import { h, maths } from "../dom.js";
import { arrayAt, markWords, shapeText, single, tall } from "../model/arrays.js";
import { equation, inWords, partial, plain, typeset } from "../model/formula.js";
import { arriving, chain, reach } from "../model/graph.js";
import { fmt } from "../model/numbers.js";
import { bigMap } from "../picture/heat.js";
import { compiledTo, shapesOf, slope, slopeOf, summed } from "../words.js";

/** @import { Edge, Node as TraceNode } from "../types" */
/** @import { Frame, View } from "../view.js" */
/** @import { Way } from "../find.js" */

/** A name and its description. @typedef {[string, ...(Node|string)[]]} Fact */

const PATHS = 8; // terms of the chain rule that are written out

/** @type {[Way, string, string][]} */
const FLOWS = [
  ["up", "what it is made of", "upstream (u)"],
  ["down", "what it flows into", "downstream (d)"],
];

/** @param {string} text */
const div = (text, kind = "") => h("div", kind ? { class: kind } : {}, text);

/** Is any rule of the trace no factor, but an operation on arrays? @param {Frame} frame */
const hasArrayRules = ({ trace }) => !!trace.arrays && trace.edges.some((e) => e.carries_grad && e.local === null);

/** What only tensors have. @param {Frame} frame @param {TraceNode} node @returns {Fact[]} */
function tensorFacts({ trace }, node) {
  /** @type {Fact[]} */
  const facts = [];
  if (!trace.arrays) return facts;
  if (node.shape) facts.push(["shape", `${shapeText(node.shape)}  ${node.dtype}`]);
  if (node.op) facts.push(["operation", `${node.op}${node.scope ? ` in ${node.scope}` : ""}`]);
  const special = markWords(trace, node);
  if (special) facts.push([node.stops ? "stops" : "note", special]);
  if (node.layer) {
    const by = node.made_by?.map((e) => {
      const { source, target } = trace.edges[e];
      return `${trace.nodes[target].label} passed its gradient to ${trace.nodes[source].label}`;
    });
    facts.push(["layer", `of the gradient's own graph${by?.length ? `: made when ${by.join(", and ")}` : ""}`]);
  }
  return facts;
}

/** Value and gradient, as far as they are known. @param {Frame} frame @param {TraceNode} node @returns {Fact[]} */
function numberFacts({ trace, point, now }, node) {
  /** @type {Fact[]} */
  const facts = [];
  const [got, need] = [now.got[node.id], now.need[node.id]];
  const soFar = got < need ? `so far: ${got} of ${need} contributions` : "";
  const none = need ? "not computed yet" : "no gradient flows here";
  const maps = trace.arrays && tall(node);
  if (!maps) {
    const known = now.known[node.id] && node.array !== null;
    facts.push(["value", known ? h("span", { class: "mg-value" }, fmt(point.values[node.id])) : "not computed yet"]);
  }
  if (maps) {
    if (!got || soFar) facts.push(["gradient", got ? soFar : none]);
  } else if (node.kind !== "constant") {
    const g = h("span", { class: "mg-grad" }, fmt(now.sums[node.id]) + (soFar && ` ${soFar}`));
    facts.push([slope(trace.nodes[trace.root].label, node.label), got ? g : none]);
  }
  return facts;
}

/** The local rule of one edge, as a formula and with its numbers. @param {Frame} frame @param {Edge} e @param {TraceNode} node */
function localRule({ trace, point }, e, node) {
  const to = trace.nodes[e.source].label;
  const label = (/** @type {number} */ id) => trace.nodes[id].label;
  if (e.amount) return div(`to ${to}: ${fmt(point.locals[e.id])}`);
  if (trace.arrays && e.local === null) {
    const shapes = shapesOf([...arriving(trace)[node.id].map((x) => trace.nodes[x.source]), node]);
    const under = tall(node) ? { ...shapes, g: shapeText(node.shape ?? []) } : shapes;
    const tree = e.words || !e.slope ? inWords(e.words || e.local_text) : typeset(/** @type {any} */ (e.slope), { label, under });
    const rule = e.words || e.local_text ? maths(tree) : "see the row in minigrad/ops";
    return h("div", { class: "mg-rule" }, h("span", { class: "mg-soft" }, `to ${to} `), rule, e.broadcast ? div(summed(e), "mg-soft") : "");
  }
  const value = inWords(fmt(point.locals[e.id]));
  const numbers = (/** @type {number} */ id) => (trace.nodes[id].array === null ? undefined : point.values[id]);
  const slope = /** @type {any} */ (e.slope);
  const trees = slope ? [typeset(slope, { label }), typeset(slope, { label, value: numbers }), value] : [value];
  const parts = trees.filter((t, i) => i === trees.length - 1 || (plain(t) !== plain(trees[i - 1] ?? value) && plain(t) !== plain(value)));
  return h("div", { class: "mg-rule" }, ...equation([partial(node.label, to), ...parts]).map(maths));
}

/** Every path from the result to the node, as a product each. @param {Frame} frame @param {TraceNode} node @returns {(Node|string)[]} */
function chainRule({ trace, point, now }, node) {
  const { total, paths } = chain(trace, node.id, PATHS);
  const y = trace.nodes[trace.root].label;
  if (paths.length === 1 && !paths[0].length) return [div(`${node.label} is where the backward pass starts: ${slope(y, y)} = 1`)];
  const products = paths.map((p) => p.reduce((product, e) => product * point.locals[e], 1));
  const there = now.got[node.id] > 0 && now.got[node.id] === now.need[node.id]; // no number before the backward pass has brought it
  const rows = paths.map((p, i) => {
    const symbols = p.map((e) => slopeOf(trace, trace.edges[e])).join(" · ");
    const factors = p.map((e) => fmt(point.locals[e])).join(" · ");
    const numbers = there ? [h("br"), `= ${factors} = `, h("b", {}, fmt(products[i]))] : [];
    return h("div", { class: "mg-path" }, (i ? "+ " : "") + symbols, ...numbers);
  });
  if (total > paths.length) {
    return [
      ...rows,
      div(`and ${fmt(total - paths.length)} more paths; the backward pass adds them all with one product per edge`, "mg-soft"),
    ];
  }
  const sum = fmt(products.reduce((a, b) => a + b, 0));
  return there && paths.length > 1 ? [...rows, h("div", {}, "together ", h("b", {}, sum))] : rows;
}

/** Which array a rule saved. @param {Frame} frame @param {TraceNode} node @returns {Fact[]} */
function savedFacts({ trace }, node) {
  if (!node.saved?.length) return [];
  const rows = node.saved.map((x) => {
    const version = `version ${x.version}${x.stale ? `, now ${x.now}: ⚠ stale` : ""}`;
    return div(`${x.name} (${x.bytes} bytes)${x.shape && trace.arrays ? ` ${shapeText(x.shape)} ${version}` : ""}`);
  });
  return [["keeps", ...rows]];
}

export class NodePane {
  window = null; // no rows

  /** @param {View} view @param {HTMLElement} pane */
  constructor(view, pane) {
    this.view = view;
    this.pane = pane;
  }

  draw() {}

  /** @param {Frame} frame */
  update(frame) {
    const { trace, now } = frame;
    const { selected } = this.view.state;
    const node = trace.nodes[selected >= 0 ? selected : this.view.currentNode];
    const rules = arriving(trace)[node.id].filter((e) => e.carries_grad);
    const facts = [...tensorFacts(frame, node), ...numberFacts(frame, node)];
    if (rules.length) facts.push(["local rule", ...rules.map((e) => localRule(frame, e, node))]);
    if (node.kind !== "constant" && now.need[node.id] && !hasArrayRules(frame)) facts.push(["chain rule", ...chainRule(frame, node)]);
    if (node.became) {
      const text = node.became.lines.length ? [h("pre", { class: "mg-program" }, node.became.lines.join("\n"))] : [];
      facts.push(["compiled", div(compiledTo(node).slice(10)), ...text]);
    }
    const maps = trace.arrays ? this.#maps(frame, node) : [];
    if (maps.length) facts.push(["numbers", h("div", { class: "mg-maps" }, ...maps)]);
    facts.push(...savedFacts(frame, node));
    if (node.source) facts.push(["made by", `${node.source.cell}, line ${node.source.line}`]);
    if (node.scope) facts.push(["inside", node.scope]);
    facts.push(["flow", this.#flows(node)]);
    const list = facts.flatMap(([name, ...what]) => [h("dt", {}, name), h("dd", {}, ...what)]);
    const kind = node.kind === "leaf" ? " input" : node.kind === "constant" ? " constant" : ` = ${node.expr}`;
    const head = h("h4", {}, node.label, h("span", { class: "mg-soft" }, kind));
    this.pane.replaceChildren(h("div", {}, head, h("dl", {}, ...list)));
    if (this.view.find.flowing) this.view.find.markFlow(node.id);
  }

  /** @param {Frame} frame @param {TraceNode} node */
  #maps({ trace, point, now }, node) {
    const value = arrayAt(trace, point, now.known[node.id] ? node.array : null);
    const gradient = arrayAt(trace, point, now.grads?.[node.id]);
    return /** @type {[string, typeof value][]} */ ([
      ["value", value],
      ["gradient", gradient],
    ]).flatMap(([name, a]) => (a && !single(a) ? [bigMap(name, a)] : []));
  }

  /** @param {TraceNode} node */
  #flows(node) {
    const { view } = this;
    const buttons = FLOWS.map(([way, label, title]) => {
      const text = `${label} (${reach(view.state.trace, node.id, way === "up").size - 1})`;
      const pressed = String(view.find.flowing === way);
      const b = h("button", { class: "mg-button mg-small", type: "button", title, "data-flow": way, "aria-pressed": pressed }, text);
      b.onclick = () => {
        view.store.prepare({ selected: node.id });
        view.find.showFlow(way);
      };
      return b;
    });
    return h("div", { class: "mg-flows" }, ...buttons);
  }

  /** @param {string} way */
  pressFlow(way) {
    for (const b of this.pane.querySelectorAll("[data-flow]")) b.setAttribute("aria-pressed", String(b.getAttribute("data-flow") === way));
  }
}
