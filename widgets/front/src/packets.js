// Numbers that travel along the wires when a step is taken.

import { put, s } from "./dom.js";
import { shapeText } from "./model/arrays.js";
import { fit } from "./model/numbers.js";

/** @import { Frame, View } from "./view.js" */
/** @import { WireView } from "./picture/wires.js" */

/** @typedef {{wire: WireView, g: SVGGElement, text: SVGTextElement, face: SVGRectElement, ends: string[], long: number}} Packet */

const MOST = 12; // wires at once
const TIME = 620; // milliseconds

export class Packets {
  #flight = 0;

  /** @param {View} view */
  constructor(view) {
    this.view = view;
  }

  /** @param {Frame} frame */
  fly({ now, point, current }) {
    const { view } = this;
    cancelAnimationFrame(this.#flight);
    for (const old of view.scene.svg.querySelectorAll(".mg-packet")) old.remove();
    if (!current || view.state.network) return;
    const back = current.kind === "send";
    const takesPart = (/** @type {WireView} */ w) =>
      back ? w.edge.id === current.edge : current.kind === "compute" && w.edge.target === current.node;
    const all = view.scene.wires
      .filter((w) => !w.long && takesPart(w))
      .slice(0, MOST)
      .map((w) => {
        const sent = now.sent[w.edge.id];
        const value = point.values[w.edge.source];
        const ends = w.wire.text
          ? this.#shapes(w, back)
          : back && sent
            ? [fit(sent.incoming, 8), fit(sent.sends, 8)]
            : Array(2).fill(fit(value, 8));
        return this.#packet(w, back, ends);
      });
    if (all.length) this.#run(all, back);
  }

  /** What a tensor's packet says at its start and at its end. @param {WireView} w @param {boolean} back */
  #shapes({ edge }, back) {
    const shape = this.view.state.trace.nodes[edge.source].shape ?? [];
    const wide = edge.broadcast?.to ?? shape;
    return (back ? [wide, shape] : [shape, wide]).map(shapeText);
  }

  /** @param {WireView} wire @param {boolean} back @param {string[]} ends @returns {Packet} */
  #packet(wire, back, ends) {
    const text = s("text", { y: 4 });
    const face = s("rect", { height: 20, y: -10, rx: 10 });
    const g = s("g", { class: `mg-packet${back ? " mg-packet-b" : ""}`, "aria-hidden": "true" }, face, text);
    this.view.scene.svg.append(g);
    return { wire, g, text, face, ends, long: wire.whole.getTotalLength() };
  }

  /** @param {Packet[]} all @param {boolean} back */
  #run(all, back) {
    const time = TIME / this.view.timeline.pace;
    const begun = performance.now();
    const frame = (/** @type {number} */ t) => {
      const u = Math.min(1, (t - begun) / time);
      const eased = u < 0.5 ? 2 * u * u : 1 - (2 - 2 * u) ** 2 / 2;
      for (const p of all) {
        const at = p.wire.whole.getPointAtLength(p.long * (back ? 1 - eased : eased));
        const label = p.ends[eased < 0.5 ? 0 : 1];
        const wide = 16 + 7.4 * label.length;
        put(p.text, label);
        p.face.setAttribute("width", String(wide));
        p.face.setAttribute("x", String(-wide / 2));
        p.g.setAttribute("transform", `translate(${at.x.toFixed(1)},${at.y.toFixed(1)})`);
        p.g.style.opacity = String(Math.min(1, 6 * u, 6 * (1 - u)));
      }
      if (u < 1) this.#flight = requestAnimationFrame(frame);
      else for (const p of all) p.g.remove();
    };
    this.#flight = requestAnimationFrame(frame);
  }

  destroy() {
    cancelAnimationFrame(this.#flight);
  }
}
