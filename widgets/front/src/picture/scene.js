// The picture of one trace at the level of operations: frames of open folds, wires, cards. Drawn once, then only updated.
// Another level of detail is another class with the same methods: draw, update, card, mark, refocus.

import { s } from "../dom.js";
import { trouble } from "../model/moment.js";
import { markedCard } from "../store.js";
import { CardView } from "./cards.js";
import { drawCut } from "./cuts.js";
import { drawFrame } from "./frames.js";
import { WireView } from "./wires.js";

/** @import { Frame, View } from "../view.js" */
/** @import { Card, CutWire } from "../types" */

/** What the parts of a picture need to know of an update, beyond the frame.
 * @typedef {{mostBack: number, apart: string, covered: boolean, partly: boolean, born: number}} Around
 * mostBack: the largest number sent back; apart: how the marked card differs, once that is to be seen; covered: the ledger hides factors;
 * born: the node whose value was the first that is not finite, or -1 */

export class Scene {
  svg = s("svg");
  /** @type {CardView[]} */ cards = [];
  /** @type {WireView[]} */ wires = [];
  /** @type {({cut: CutWire} & ReturnType<typeof drawCut>)[]} */ cuts = [];
  /** The card that differs from the one in the other view. @type {Card|null} */ marked = null;
  /** The fold that is being opened or closed, or -1. */ reopened = -1;

  /** @param {View} view */
  constructor(view) {
    this.view = view;
  }

  draw() {
    const { view } = this;
    const { picture, trace } = view.state;
    this.svg = s("svg", { viewBox: `0 0 ${picture.w} ${picture.h}`, class: "mg-svg", role: "group", "aria-label": "graph" });
    this.marked = markedCard(picture);
    this.wires = picture.wires.map((wire) => new WireView(view, trace.edges[wire.id], wire));
    this.cards = picture.cards.map((card) => new CardView(view, trace.nodes[card.id], card));
    const frames = (picture.frames ?? []).map((f, i, all) =>
      drawFrame(
        view,
        f,
        all.slice(0, i).some((other) => other.fold === f.fold),
      ),
    );
    this.cuts = (picture.cuts ?? []).map((cut) => ({ cut, ...drawCut(trace, cut) }));
    const lines = s("g", {}, ...frames, ...this.wires.map((w) => w.g), ...this.cuts.map((c) => c.g));
    const pills = s("g", {}, ...this.wires.flatMap((w) => (w.pill ? [w.pill] : [])));
    this.svg.append(lines, pills, s("g", {}, ...this.cards.map((c) => c.g)));
    view.shell.stage.replaceChildren(this.svg);
    view.offscreen.reset([...this.wires, ...this.cards]);
  }

  /** The card of a node. @param {number} node */
  card(node) {
    return this.cards.find((c) => c.card.id === node);
  }

  /** Where the card of an event stands. @param {number} node */
  box(node) {
    return this.card(node)?.card;
  }

  /** A sentence about how the marked card differs. */
  get difference() {
    return this.marked?.rows?.map((x) => x.join(" ")).join(", ") ?? "";
  }

  /** @param {Frame} frame */
  update(frame) {
    const { view } = this;
    const sends = frame.now.sent.map((x) => (x && Number.isFinite(x.sends) ? Math.abs(x.sends) : 0));
    const apart = this.marked && frame.step >= (this.marked.at ?? 0) && view.inputs.home ? this.difference : "";
    view.shell.root.classList.toggle("mg-apart", !!apart);
    const mostBack = sends.reduce((a, b) => Math.max(a, b), 0);
    const born = trouble(frame.trace, frame.point).node;
    /** @type {Around} */
    const around = { mostBack, apart, covered: view.state.covered, partly: view.offscreen.partly, born };
    for (const part of [...this.wires, ...this.cards]) {
      if (view.offscreen.later(() => !(view.viewport.far && view.offscreen.big) && view.viewport.near(part.box))) continue;
      if (part.update(frame, around)) view.offscreen.wrote();
    }
    for (const { cut, update } of this.cuts) update(frame.back, !!frame.now.known[cut.source]);
    if (frame.trace.arrays) this.#markLayer(frame);
  }

  /** Mark the nodes of the gradient's own graph that the present event makes. @param {Frame} frame */
  #markLayer({ trace, active }) {
    const makes = active >= 0 ? trace.edges[active].makes : undefined;
    for (const c of this.cards) if (c.node.layer) c.g.classList.toggle("mg-hit", !!makes?.includes(c.card.id));
  }

  /** Mark these cards, and let the others step back. @param {Set<number>|null} some @param {string} kind "mg-hit", "mg-flow" or "" */
  mark(some, kind) {
    this.view.shell.root.classList.toggle("mg-some", !!some);
    for (const c of this.cards) for (const k of ["mg-hit", "mg-flow"]) c.g.classList.toggle(k, k === kind && !!some?.has(c.card.id));
    for (const w of this.wires) w.setFlow(kind === "mg-flow" && !!some?.has(w.edge.source) && some.has(w.edge.target));
  }

  /** Mark cards without changing the others. @param {number[]} nodes */
  hit(nodes) {
    for (const c of this.cards) c.g.classList.toggle("mg-hit", nodes.includes(c.card.id));
  }

  /** After a fold was opened, move the focus to its frame; after it was closed, to its card.
   * Returns true if the focus was moved: the cards have other numbers then. @param {boolean} [_onCell] */
  refocus(_onCell) {
    if (this.reopened < 0) return false;
    const closed = this.cards.find((c) => c.node.fold === this.reopened);
    const to = /** @type {SVGElement|null} */ (closed?.g ?? this.svg.querySelector(`.mg-frame[data-fold="${this.reopened}"]`));
    to?.focus({ preventScroll: true });
    this.reopened = -1;
    return true;
  }
}
