// All nodes with their values and gradients, in the order in which they are computed.

import { h, Memo, put } from "../dom.js";
import { arrayAt, arrayText, mark, shapeText } from "../model/arrays.js";
import { fmt } from "../model/numbers.js";
import { compiledTo, inside } from "../words.js";
import { eventRow, RowWindow, setRow, table } from "./table.js";

/** @import { Node, Trace } from "../types" */
/** @import { Frame, View } from "../view.js" */

/** What a node is, in its row. @param {Trace} trace @param {Node} n */
function computes(trace, n) {
  const compiled = n.became ? ` · ${compiledTo(n)}` : "";
  if (n.stops) return `⊖ ${n.stops}`;
  if (n.kind === "fold") return `${n.expr}.${inside(n)}${compiled}`;
  if (n.kind !== "operation") return n.kind === "leaf" ? "input" : "constant";
  const special = trace.arrays ? mark(trace, n) : "";
  return n.expr + (special && ` · ${special}`) + compiled;
}

export class ValuesPane {
  /** @type {{r: HTMLTableRowElement, id: number, at: number, memo: Memo}[]} */ #rows = [];

  /** @param {View} view @param {HTMLElement} pane */
  constructor(view, pane) {
    this.view = view;
    this.pane = pane;
    this.window = new RowWindow(pane, () => this.#rows.map((x) => x.r));
  }

  draw() {
    const { trace } = this.view.state;
    const at = new Map(trace.steps.flatMap((x, i) => (x.phase === "forward" ? [[x.node, i + 1]] : [])));
    const { marked, difference } = this.view.scene;
    this.#rows = trace.nodes.map((n) => {
      const r = eventRow(this.view, at.get(n.id) ?? 0, 4, n.label);
      if (n.shape && trace.arrays) r.children[0].append(h("span", { class: "mg-soft" }, ` ${shapeText(n.shape)}`));
      if (marked?.id === n.id) r.children[0].append(h("span", { class: "mg-differ" }, difference));
      put(r.children[1], computes(trace, n));
      return { r, id: n.id, at: at.get(n.id) ?? 0, memo: new Memo() };
    });
    this.window.forget();
    const heads = ["node", "computes", "value", "gradient"];
    this.pane.replaceChildren(
      table(
        heads,
        this.#rows.map((x) => x.r),
        "Values of all nodes in the order in which they are computed",
      ),
    );
  }

  /** @param {Frame} frame */
  update({ trace, point, now, step }) {
    const { offscreen } = this.view;
    for (const [k, x] of this.#rows.entries()) {
      if (offscreen.later(() => this.window.near(k))) continue;
      const known = !!now.known[x.id];
      const here = step > 0 && step === x.at;
      const [got, sum, array] = [now.got[x.id], now.sums[x.id], now.grads?.[x.id]];
      if (x.memo.same(here, known, point.values[x.id], got, sum, array, point)) continue;
      offscreen.wrote();
      const node = trace.nodes[x.id];
      const kept = node.array == null ? "not kept" : arrayText(arrayAt(trace, point, node.array), 4);
      put(x.r.children[2], !known ? "?" : trace.arrays ? kept : fmt(point.values[x.id]));
      put(x.r.children[3], !got ? "" : trace.arrays ? arrayText(arrayAt(trace, point, array), 4) : fmt(sum));
      setRow(x.r, known, here);
    }
  }
}
