// Numbers that travel along the wires when a step is taken.

import { put, s } from "./dom.js";
import { shapeText } from "./model/arrays.js";
import { fit } from "./model/numbers.js";

/** @import { Frame, View } from "./view.js" */
/** @import { WireView } from "./picture/wires.js" */

/** @typedef {{wire: WireView, g: SVGGElement, text: SVGTextElement, face: SVGRectElement, ends: string[]}} Packet */

const MOST = 12; // wires at once
const TIME = 620; // milliseconds
const STOPS = 24; // on its way

export class Packets {
  #half = 0;

  /** @param {View} view */
  constructor(view) {
    this.view = view;
  }

  /** @param {Frame} frame */
  fly({ now, point, current }) {
    const { view } = this;
    clearTimeout(this.#half);
    for (const old of view.scene.svg.querySelectorAll(".mg-packet")) old.remove();
    if (!current || view.flowing) return;
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
    return { wire, g, text, face, ends };
  }

  /** Animated by CSS, so that no script runs in a frame. @param {Packet[]} all @param {boolean} back */
  #run(all, back) {
    const duration = TIME / this.view.timeline.pace;
    for (const p of all) {
      write(p, 0);
      const long = p.wire.whole.getTotalLength();
      const stops = Array.from({ length: STOPS + 1 }, (_, k) => {
        const u = k / STOPS;
        const eased = u < 0.5 ? 2 * u * u : 1 - (2 - 2 * u) ** 2 / 2;
        const at = p.wire.whole.getPointAtLength(long * (back ? 1 - eased : eased));
        return { transform: `translate(${at.x.toFixed(1)}px,${at.y.toFixed(1)}px)`, opacity: Math.min(1, 6 * u, 6 * (1 - u)) };
      });
      p.g.animate(stops, { duration, fill: "forwards" }).onfinish = () => p.g.remove();
    }
    this.#half = window.setTimeout(() => {
      for (const p of all) write(p, 1);
    }, duration / 2);
  }

  destroy() {
    clearTimeout(this.#half);
  }
}

/** What a packet says: at its start 0, at its end 1. @param {Packet} packet @param {number} k */
function write({ text, face, ends }, k) {
  if (k && ends[0] === ends[1]) return;
  const wide = 16 + 7.4 * ends[k].length;
  put(text, ends[k]);
  face.setAttribute("width", String(wide));
  face.setAttribute("x", String(-wide / 2));
}
