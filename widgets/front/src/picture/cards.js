// The card of a node: its name, its formula, its value and gradient as numbers; of a tensor the heat map of one of them.

import { Memo, put, s } from "../dom.js";
import { arrayAt, arrayText, between, brief, captions, norm, tall } from "../model/arrays.js";
import { fit, fmt, plural } from "../model/numbers.js";
import { spokenCard } from "../words.js";
import { mapOf } from "./heat.js";
import { flag, markKin } from "./wires.js";

/** @import { Card, Node, Numbers } from "../types" */
/** @import { Frame, View } from "../view.js" */
/** @import { Around } from "./scene.js" */

const PAD = 12;
const SLIM = 9; // the same of a slim card
const CHAR = 8.2; // pixels of a number's character, 6.7 of a range's below a heat map
const SHEET = 46; // top of a heat map
const SLIM_SHEET = 29; // the same of a slim card
const LINE = 17; // pixels of a line about a difference between two views
const BECAME = 24; // height of the line about a compiled step
const STACK = 8; // pixels by which the cards below a folded one stick out

export class CardView {
  away = false;
  /** The box of the heat map, where there is one. @type {number[]|undefined} */ sheet;
  #memo = new Memo();
  /** @type {SVGGElement|null} */ #born = null;
  /** What the heat map shows. @type {Numbers|null|undefined} */ #mapped;
  #map = s("g");

  /** @param {View} view @param {Node} node @param {Card} card */
  constructor(view, node, card) {
    this.view = view;
    this.node = node;
    this.card = card;
    this.box = [card.x, card.y, card.x + card.w, card.y + card.h];
    const folded = node.kind === "fold";
    this.right = card.w - PAD - (folded ? STACK : 0);
    this.room = Math.floor((this.right - 50) / CHAR);
    this.title = s("title");
    const less = folded ? STACK : 0;
    this.g = s(
      "g",
      { class: `mg-card mg-${node.kind}${node.layer ? " mg-layer" : ""}`, transform: `translate(${card.x},${card.y})` },
      this.title,
      s("rect", { class: "mg-focus", x: -4, y: -4, width: card.w + 8, height: card.h + 8, rx: 12 }),
      ...this.#behind(),
      s("rect", { class: "mg-face", width: card.w - less, height: card.h - less, rx: 9 }),
      s("text", { x: card.slim ? SLIM : PAD, y: 21, class: "mg-name" }, card.name),
      s("text", { x: this.right, y: 21, class: "mg-expr" }, card.expr),
    );
    this.g.tabIndex = 0;
    this.g.setAttribute("data-lm-suppress-shortcuts", "true");
    this.g.setAttribute("role", "button");
    this.g.setAttribute("data-node", String(card.id));
    if (node.layer) this.g.append(s("path", { class: "mg-stripe", d: `M9 ${card.h - 1.5}H${card.w - 9}` }));
    const [value, grad] =
      card.sheet !== undefined ? this.#drawSheet() : card.slim ? this.#drawSlim() : card.flat ? this.#drawRow() : this.#drawNumbers();
    this.value = value;
    this.grad = grad;
    if (card.within) this.#drawWithin(card.within, card.h - less - 9 - (card.became ? BECAME : 0));
    if (card.became) this.#drawBecame(card.became, card.h - less);
    if (card.rows) this.#drawRows(card.rows);
    if (card.tags) this.#drawTags(card.tags);
    view.on(this.g, "click", () => {
      view.shell.root.focus({ preventScroll: true });
      view.inspect(card.id);
    });
  }

  /** The cards below a folded one, or the one below a view of another tensor. */
  #behind() {
    const { card, node } = this;
    const sheet = (/** @type {number} */ d, /** @type {number} */ less) =>
      s("rect", { class: "mg-behind", x: d, y: d, width: card.w - less, height: card.h - less, rx: 9 });
    if (node.kind === "fold") return [sheet(STACK, STACK), sheet(STACK / 2, STACK)];
    return node.view ? [sheet(5, 0)] : [];
  }

  #drawNumbers() {
    const { node, right, g } = this;
    const constant = node.kind === "constant";
    const value = s("text", { x: right, y: constant ? 38 : 42, class: "mg-number mg-value" });
    const grad = s("text", { x: right, y: 60, class: "mg-number mg-grad" });
    const caption = (/** @type {string} */ text, y = 42) => s("text", { x: PAD, y, class: "mg-caption" }, text);
    if (node.kind === "fold" && node.outs !== 1) g.append(caption(`${node.outs} results`));
    else {
      g.append(caption("value", constant ? 38 : 42), value);
      if (!constant) g.append(caption("grad", 60), grad);
    }
    return [value, grad];
  }

  /** Value and gradient of a slim card. */
  #drawSlim() {
    const [value, grad] = ["mg-value", "mg-grad"].map((kind, k) =>
      s("text", { x: SLIM, y: 38 + 16 * k, class: `mg-number mg-first mg-tight ${kind}` }),
    );
    this.room = Math.floor((this.right + PAD - 2 * SLIM) / 6.7);
    this.#appendRow(value, grad, SLIM);
    return [value, grad];
  }

  /** The second line of a flat card. */
  #drawRow() {
    const value = s("text", { x: PAD, y: 38, class: "mg-number mg-value mg-first" });
    const grad = s("text", { x: this.right, y: 38, class: "mg-number mg-grad" });
    this.room = Math.floor((this.right - PAD - 10) / 2 / CHAR);
    this.#appendRow(value, grad, PAD);
    return [value, grad];
  }

  /** @param {SVGElement} value @param {SVGElement} grad @param {number} x */
  #appendRow(value, grad, x) {
    const { kind, outs } = this.node;
    if (kind === "fold" && outs !== 1) this.g.append(s("text", { x, y: 38, class: "mg-caption" }, `${outs} results`));
    else if (kind !== "constant") this.g.append(value, grad);
  }

  /** The heat map of a tensor with one text below it, of its value or of its gradient. */
  #drawSheet() {
    const { node, g, view, card } = this;
    const side = card.slim ? SLIM : PAD;
    const wide = this.right + PAD;
    if (!card.slim) {
      const [caption, special] = captions(view.state.trace, node, wide);
      const stale = special.startsWith("⚠") ? " mg-stale-mark" : "";
      g.append(s("text", { x: PAD, y: 38, class: "mg-caption" }, caption));
      g.append(s("text", { x: this.right, y: 38, class: `mg-caption mg-mark${stale}` }, special));
    }
    this.sheet = [side, card.slim ? SLIM_SHEET : SHEET, wide - 2 * side, card.sheet ?? 0];
    this.room = Math.floor(this.sheet[2] / 6.7);
    const y = this.sheet[1] + this.sheet[3] + (card.sheet ? 15 : 9);
    const texts = ["mg-value", "mg-grad"].map((kind) => s("text", { x: wide / 2, y, class: `mg-range ${kind}` }));
    g.append(this.#map, ...texts);
    return texts;
  }

  /** What happens in a fold that its card would hide. @param {string} text @param {number} y */
  #drawWithin(text, y) {
    const strokes = s("path", { class: "mg-cut-strokes", d: `M13 ${y + 2}l4-11M18 ${y + 2}l4-11` });
    this.g.append(s("g", { class: "mg-within" }, strokes, s("text", { x: 27, y }, text)));
  }

  /** The functions of a compiled step that contain it, forward and backward. @param {[string, string]} sides @param {number} low */
  #drawBecame([forward, backward], low) {
    const wide = this.right + PAD;
    const looped = /\bloop\d/.test(forward + backward) ? " mg-looped" : "";
    const band = s("path", { class: "mg-foot", d: `M1 ${low - BECAME}H${wide - 1}V${low - 9}q0 8-8 8H9q-8 0-8-8z` });
    const texts = [
      s("text", { x: PAD, y: low - 8, class: "mg-number mg-first mg-value" }, forward),
      s("text", { x: this.right, y: low - 8, class: "mg-number mg-grad" }, backward),
    ];
    this.g.append(s("g", { class: `mg-became${looped}` }, band, ...texts));
  }

  /** How many of its wires are drawn as tags. @param {number} count */
  #drawTags(count) {
    const text = plural(count, "tag");
    const wide = 14 + 6.9 * text.length;
    const x = this.right + 2 - wide;
    const parts = [s("path", { d: flag(x, -4, wide) }), s("text", { x: x + wide / 2 - 3, y: 0 }, text)];
    this.g.append(s("g", { class: "mg-tag", "data-from": this.card.id }, ...parts));
    markKin(this.view, this.g, this.card.id);
  }

  /** Lines at its foot about how it differs from the card in the other view. @param {[string, string][]} rows */
  #drawRows(rows) {
    const { card, right } = this;
    const band = s("path", { class: "mg-band", d: `M1.5 0H${card.w - 1.5}V${LINE * rows.length - 0.5}q0 7-7 7H8.5q-7 0-7-7z` });
    const texts = rows.flatMap(([caption, text], i) => [
      s("text", { x: PAD, y: 15 + LINE * i, class: "mg-caption" }, caption),
      s("text", { x: right, y: 15 + LINE * i, class: "mg-number" }, text),
    ]);
    this.g.append(s("g", { class: "mg-differ", transform: `translate(0,${card.h - LINE * rows.length - 8})` }, band, ...texts));
  }

  /** Leave it out of the drawing, or take it back. @param {boolean} far */
  leave(far) {
    this.away = far;
    this.g.style.display = far ? "none" : "";
  }

  /** @param {Frame} frame @param {Around} around @returns {boolean} has anything changed? */
  update(frame, around) {
    const { trace, point, now, current, active, dragging } = frame;
    const { node, view } = this;
    const id = this.card.id;
    const known = !!now.known[id];
    const acting = !!current && (current.node === id || (active >= 0 && trace.edges[active].source === id));
    const selected = view.state.selected === id;
    const apart = this.card === view.scene.marked ? around.apart : "";
    const [got, need, sum] = [now.got[id], now.need[id], now.sums[id]];
    const odd = known && (trace.arrays ? !!arrayAt(trace, point, node.array)?.odd : !Number.isFinite(point.values[id]));
    const born = odd && around.born === id;
    const kept = [odd && around.born, known, point.values[id], got, sum, acting, acting && current?.node, selected, dragging, apart];
    if (this.#memo.same(...kept, trace.arrays ? point : 0, now.grads?.[id])) return false;
    const arrays = trace.arrays ? [arrayAt(trace, point, known ? node.array : null), arrayAt(trace, point, now.grads?.[id])] : null;
    put(this.value, this.#valueText(known, point.values[id], arrays));
    put(this.grad, this.#gradText(got, need, sum, arrays));
    if (this.sheet) this.#paintSheet(known, arrays);
    const classes = this.g.classList;
    classes.toggle("mg-known", known);
    classes.toggle("mg-has-grad", got > 0);
    classes.toggle("mg-part", got > 0 && got !== need);
    classes.toggle("mg-now", acting && current?.node === id);
    classes.toggle("mg-gets", acting && current?.node !== id);
    classes.toggle("mg-selected", selected);
    classes.toggle("mg-odd", odd);
    this.#mark(born ? `${arrays ? "not finite" : fmt(point.values[id])} from here on` : "");
    if (dragging) return true; // the words follow when the slider rests
    const value = arrays ? (arrays[0] ? arrayText(arrays[0]) : "not kept") : fmt(point.values[id]);
    const gradient = arrays ? arrayText(arrays[1]) : fmt(sum);
    const tags = this.card.tags ? ` ${plural(this.card.tags, "wire")} of it ${this.card.tags === 1 ? "begins" : "begin"} at a tag.` : "";
    const spoken =
      spokenCard(trace, node, { value, gradient, known, got, need }) + (apart && ` ${apart}`) + tags + this.#since(odd, around.born);
    this.g.setAttribute("aria-label", spoken);
    put(this.title, spoken);
    return true;
  }

  /** Say on the card where numbers stop being finite. @param {string} text */
  #mark(text) {
    if (!text) {
      this.#born?.remove();
      this.#born = null;
      return;
    }
    this.#born ??= s("g", { class: "mg-born" }, s("rect", { x: PAD - 4, y: -14, height: 18, rx: 9 }), s("text", { x: PAD + 4, y: -0.5 }));
    const [face, words] = /** @type {any} */ (this.#born.children);
    put(words, `⚠ ${text}`);
    face.setAttribute("width", String(16 + 7 * (text.length + 2)));
    if (!this.#born.parentNode) this.g.append(this.#born);
  }

  /** The text alternative. @param {boolean} odd @param {number} born */
  #since(odd, born) {
    if (!odd || born < 0) return "";
    return born === this.card.id ? " Here it stops being finite." : ` Not finite since ${this.view.state.trace.nodes[born].label}.`;
  }

  /** Are ranges written of it, in place of a number? */
  get #spread() {
    return !!this.card.flat && tall(this.node);
  }

  /** Has a fold of a tensor graph no number of its own, only ranges? @param {(Numbers|null)[]|null} arrays @param {number} own */
  #ranges(arrays, own) {
    return this.node.kind === "fold" && !!arrays && !Number.isFinite(own);
  }

  /** @param {boolean} known @param {number} value @param {(Numbers|null)[]|null} arrays */
  #valueText(known, value, arrays) {
    const { node } = this;
    if (this.sheet && arrays?.[1]) return ""; // the gradient has its place
    if (!known) return "·";
    if (this.sheet || this.#spread) return arrays?.[0] ? between(arrays[0], this.room) : "not kept";
    if (node.array === null) return node.kind === "operation" && !node.shape ? "several" : "not kept";
    if (this.#ranges(arrays, value)) return arrays?.[0] ? between(arrays[0], this.room) : "";
    return fit(value, this.room);
  }

  /** @param {number} got @param {number} need @param {number} sum @param {(Numbers|null)[]|null} arrays */
  #gradText(got, need, sum, arrays) {
    const complete = got === need;
    const more = complete ? "" : " +…";
    const gradient = arrays?.[1];
    if (this.sheet) return gradient ? `norm ${brief(norm(gradient))}${more}` : "";
    if (this.#spread) {
      if (got && gradient) return between(gradient, this.room - (complete ? 0 : 2)) + more;
      return need ? "·" : "none";
    }
    if (this.#ranges(arrays, got ? sum : 0)) return got && gradient ? between(gradient, this.room) : "·";
    if (!got) return need || this.node.kind === "constant" ? "·" : "none";
    const low = this.card.flat || this.card.slim;
    const sign = low ? "" : sum > 0 ? "▴ " : sum < 0 ? "▾ " : "";
    return `${sign}${fit(sum, this.room - more.length - (low ? 0 : complete ? 2 : 1))}${more}`;
  }

  /** @param {boolean} known @param {(Numbers|null)[]|null} arrays */
  #paintSheet(known, arrays) {
    const [value, gradient] = arrays ?? [null, null];
    const a = gradient ?? (known ? value : null);
    if (this.#mapped === a || !this.card.sheet) return;
    this.#mapped = a;
    const [x, y, width, height] = this.sheet ?? [];
    const empty = () => s("rect", { class: "mg-empty", x, y, width, height, rx: 3 });
    this.#map.replaceChildren(a ? mapOf(a, [x, y, width, height], gradient ? "gradient" : "value") : empty());
  }
}
