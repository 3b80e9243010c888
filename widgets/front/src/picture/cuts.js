// Where the history of a tensor was cut off: a dotted wire that ends, at its place in the picture.

import { put, s } from "../dom.js";

/** @import { CutWire, Trace } from "../types" */

/** @param {Trace} trace @param {CutWire} cut */
export function drawCut(trace, cut) {
  const { px, py, pw } = cut;
  const text = s("text", { x: px + 8, y: py + 4 }, cut.text[0]);
  const g = s(
    "g",
    { class: "mg-cut", role: "img", "aria-label": trace.nodes[cut.target].stops ?? cut.text[0] },
    s("title", {}, trace.nodes[cut.target].stops ?? ""),
    s("path", { class: "mg-cut-line", d: cut.d }),
    s("rect", { x: px - pw / 2, y: py - 10, width: pw, height: 20 }),
    s("path", { class: "mg-cut-strokes", d: `M${px - pw / 2 + 3} ${py + 7}l5-14M${px - pw / 2 + 11} ${py + 7}l5-14` }),
    text,
  );
  return {
    g,
    /** @param {boolean} back @param {boolean} known */
    update(back, known) {
      put(text, cut.text[Number(back)]);
      g.classList.toggle("mg-known", known);
    },
  };
}
