// An edge of the graph: its forward line, its backward line, and the pill with the local derivative.

import { dress, Memo, put, s } from "../dom.js";
import { fit, fmt, plainNumber, plural, width } from "../model/numbers.js";
import { slopeOf, summed, wayBack } from "../words.js";

/** @import { Edge, Tag, Wire } from "../types" */
/** @import { Frame, View } from "../view.js" */
/** @import { Around } from "./scene.js" */

const DASHED = 1200; // pixels; a longer wire is not dashed: painting hundreds of them with thousands of dashes takes a browser seconds
const HEAD = 7; // pixels of a line that its arrow head covers
const CHAR = 6.9; // pixels of a pill's character

/** The numbers in a path. @param {string} d */
const numbers = (d) => (d.match(/-?[\d.]+/g) ?? []).map(Number);

/** Does a wire leave its card to the right (1) or, in a column, to the left (-1)? @param {number[]} n */
const leaves = (n) => (n[6] < n[0] ? -1 : 1);

/** Does it run down? @param {number[]} n */
const falls = (n) => n[2] === n[0] && n[3] > n[1];

/** An arrow head with its point here. @param {number[]} n @param {number} x @param {number} y @param {number} way 1: it begins right of it, or
 * below it where the wire runs down; -1: the other side */
const head = (n, x, y, way) => (falls(n) ? `M${x} ${y}l-5 ${10 * way}h10z` : `M${x} ${y}l${10 * way}-5v10z`);

/** A path with one end drawn back, so that the arrow head ends where the card begins. @param {number[]} n @param {boolean} atStart */
function shortened(n, atStart) {
  const m = [...n];
  if (falls(n)) m[atStart ? 1 : m.length - 1] += atStart ? HEAD : -HEAD;
  else if (atStart) m[0] += leaves(n) * HEAD;
  else m[m.length - 2] -= HEAD;
  return `M${m[0]} ${m[1]}C${m.slice(2).join(" ")}`;
}

/** The outline of a tag, from its left side and its middle. @param {number} x @param {number} y @param {number} w */
export const flag = (x, y, w) => `M${x} ${y - 9}h${w - 7}l7 9-7 9h${7 - w}z`;

/** While an element is pointed at or in focus, a node's card and all its tags are marked.
 * @param {View} view @param {SVGElement} element @param {number} node */
export function markKin(view, element, node) {
  const mark = (/** @type {boolean} */ on) => {
    for (const e of view.scene.svg.querySelectorAll(`.mg-tag[data-from="${node}"], .mg-card[data-node="${node}"]`))
      e.classList.toggle("mg-kin", on);
  };
  for (const type of ["pointerenter", "focus"]) view.on(element, type, () => mark(true));
  for (const type of ["pointerleave", "blur"]) view.on(element, type, () => mark(false));
}

/** What a wire's mouse-over says. @param {View} view @param {Edge} e @param {Wire} wire @param {number} local */
function tip(view, e, wire, local) {
  const { trace } = view.state;
  if ((wire.text && !Number.isFinite(local)) || e.local === null) {
    const sum = summed(e);
    return `to ${trace.nodes[e.source].label}: ${e.words || e.local_text || "its rule"}${sum && `, ${sum}`}`;
  }
  return `${slopeOf(trace, e)} = ${plainNumber(e.local_text) ? "" : `${e.local_text} = `}${fmt(local)}`;
}

export class WireView {
  away = false;
  #flow = false;
  #kind = "";
  #thick = "";
  #wide = 0;
  #memo = new Memo();
  /** @type {SVGGElement|null} */ pill = null;
  /** @type {SVGTextElement|null} */ #text = null;
  /** @type {SVGRectElement|null} */ #face = null;
  #title = s("title");

  /** @param {View} view @param {Edge} edge @param {Wire} wire */
  constructor(view, edge, wire) {
    this.view = view;
    this.edge = edge;
    this.wire = wire;
    const n = numbers(wire.d);
    const [x0, y0] = n;
    const [x1, y1] = n.slice(-2);
    this.whole = s("path", { d: wire.d, class: "mg-ghost" });
    this.back = s("path", { d: shortened(n, true), class: "mg-line mg-line-b" });
    this.long = Math.abs(x1 - x0) + Math.abs(y1 - y0) > DASHED;
    if (this.long) this.back.style.strokeDasharray = "none";
    this.g = s(
      "g",
      { class: "mg-wire", "data-edge": wire.id },
      this.whole,
      s("path", { d: shortened(n, false), class: "mg-line" }),
      this.back,
      s("path", { d: head(n, x1, y1, -1), class: "mg-tip" }),
      s("path", { d: head(n, x0, y0, falls(n) ? 1 : leaves(n)), class: "mg-tip mg-tip-b" }),
    );
    if (wire.pw) this.#drawPill();
    if (wire.tag) this.#drawTag(wire.tag);
    const [right, low] = falls(n) ? [0, 14] : [leaves(n) > 0 ? 14 : -9, 0];
    if (view.state.trace.nodes[edge.source].stops) this.#drawStop(x0 + right, y0 + low);
    if (edge.makes?.length) this.#listen(edge.makes);
    const xs = n.filter((_, k) => k % 2 === 0);
    const ys = n.filter((_, k) => k % 2);
    const half = wire.pw / 2;
    const [left, top] = [Math.min(wire.tag?.x ?? Infinity, ...xs, wire.px - half), Math.min(...ys, wire.py - 10)];
    this.box = [left, top, Math.max(...xs, wire.px + half), Math.max(...ys, wire.py + 10)];
  }

  #drawPill() {
    const { wire } = this;
    this.#text = s("text", { x: wire.px, y: wire.py + 4 });
    this.#face = s("rect", { x: wire.px - wire.pw / 2, y: wire.py - 10, width: wire.pw, height: 20, rx: 10 });
    const inner = { class: "mg-wide-mark", x: wire.px - wire.pw / 2 + 3, y: wire.py - 7, width: wire.pw - 6, height: 14, rx: 7 };
    this.pill = s("g", {}, this.#face, ...(this.edge.broadcast ? [s("rect", inner)] : []), this.#text, this.#title);
  }

  /** The label with the source's name that a long wire begins at. @param {Tag} tag */
  #drawTag({ name, x, y, w }) {
    const { view, edge } = this;
    const { label } = view.state.trace.nodes[edge.source];
    const words = `from ${label} to ${view.state.trace.nodes[edge.target].label}; leads to the card of ${label}`;
    const parts = [s("title", {}, words), s("path", { d: flag(x, y, w) }), s("text", { x: x + w / 2 - 3, y: y + 4 }, name)];
    const button = { tabindex: 0, role: "button", "aria-label": words, "data-from": edge.source, "data-lm-suppress-shortcuts": "true" };
    const tag = s("g", { class: "mg-tag", ...button }, ...parts);
    markKin(view, tag, edge.source);
    view.on(tag, "click", (/** @type {Event} */ e) => {
      e.stopPropagation();
      const found = view.scene.card(edge.source)?.g;
      found?.focus({ preventScroll: true });
      view.viewport.follow(edge.source, true);
    });
    this.g.append(tag);
  }

  /** The sign that no gradient goes this way. @param {number} x @param {number} y */
  #drawStop(x, y) {
    const words = `No gradient goes this way. ${this.edge.stops ?? ""}`;
    const sign = [s("title", {}, words), s("circle", { r: 7 }), s("path", { d: "M-4 0h8" })];
    this.g.append(s("g", { class: "mg-stop", transform: `translate(${x},${y})` }, ...sign));
  }

  /** Of a gradient that is differentiated again: a click shows which nodes this edge's rule made. @param {number[]} made */
  #listen(made) {
    const { view, edge, g, pill } = this;
    const words = `${wayBack(view.state.trace, edge)}: its rule made ${plural(made.length, "node")} of the gradient's own graph`;
    this.whole.append(s("title", {}, `${words}; click to see which`));
    dress(g, { tabindex: 0, role: "button", "aria-label": words });
    for (const e of [g, pill]) {
      if (!e) continue;
      view.on(e, "click", () => {
        view.scene.hit(made);
        for (const w of view.scene.wires) for (const part of [w.g, w.pill]) part?.classList.toggle("mg-hit", w === this);
        put(view.shell.status, words);
      });
    }
  }

  /** Leave it out of the drawing, or take it back. @param {boolean} far */
  leave(far) {
    this.away = far;
    for (const e of [this.g, this.pill]) if (e) e.style.display = far ? "none" : "";
  }

  /** Is it part of a marked flow? @param {boolean} on */
  setFlow(on) {
    this.#flow = on;
    for (const e of [this.g, this.pill]) e?.classList.toggle("mg-flow", on);
  }

  /** @param {Frame} frame @param {Around} around @returns {boolean} has anything changed? */
  update({ point, now, current, active, dragging }, { mostBack, covered, partly }) {
    const e = this.edge;
    const sent = now.sent[e.id];
    const ready = !!now.known[e.source] && !!now.known[e.target];
    const acting = e.id === active || (current?.kind === "compute" && e.target === current.node);
    const state = sent ? "b" : ready ? "f" : "idle";
    // A long wire's thickness stands still while half of the picture is left out: it would be painted whole.
    const still = dragging && this.long && partly;
    const thick = still ? this.#thick : sent ? (Math.round(4 * width(sent.sends, mostBack)) / 4).toFixed(2) : "1.80";
    const local = point.locals[e.id];
    if (this.#memo.same(state, acting, thick, ready, local, covered, dragging)) return false;
    const constant = e.carries_grad ? "" : " mg-const";
    const kind = `mg-is-${state}${acting ? " mg-now" : ""}${constant}${e.makes?.length ? " mg-makes" : ""}${this.#flow ? " mg-flow" : ""}`;
    if (this.#kind !== kind) {
      this.#kind = kind;
      this.g.setAttribute("class", `mg-wire ${kind}`);
      this.pill?.setAttribute("class", `mg-pill ${kind}`);
    }
    // Set on this line alone: a variable of the group would restyle everything in it.
    if (this.#thick !== thick) this.back.style.strokeWidth = this.#thick = thick;
    if (this.#text) this.#write(this.#text, local, { ready, sent: !!sent, hidden: covered && !sent, dragging });
    return true;
  }

  /** @param {SVGTextElement} text @param {number} local @param {{ready: boolean, sent: boolean, hidden: boolean, dragging: boolean}} now */
  #write(text, local, { ready, sent, hidden, dragging }) {
    const { edge: e, wire, view } = this;
    const room = Math.max(5, Math.floor((wire.pw - 18) / CHAR) - 2);
    const number = e.local === null || (hidden && !plainNumber(e.local_text)) ? "× ?" : `× ${fit(local, room)}`;
    if (!wire.text) this.#widen(Math.max(wire.pw, 15 + CHAR * number.length)); // a number may need more room than its formula
    put(text, !ready ? "" : wire.text ? wire.text[sent ? 1 : 0] : number);
    // Read from left to right, "× 3" on an arrow says multiply: a slope is shown once the gradient has gone over it.
    this.pill?.classList.toggle("mg-unasked", !wire.text && !sent);
    if (!dragging) put(this.#title, tip(view, e, wire, local));
  }

  /** @param {number} wide */
  #widen(wide) {
    if (this.#wide === wide || !this.#face) return;
    this.#wide = wide;
    this.#face.setAttribute("width", String(wide));
    this.#face.setAttribute("x", String(this.wire.px - wide / 2));
  }
}
