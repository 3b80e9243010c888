// Heat maps as elements.

import { h, s } from "../dom.js";
import { heat } from "../forms/canvas.js";
import { arrayText, most } from "../model/arrays.js";
import { fmt, num } from "../model/numbers.js";

/** @import { Numbers } from "../types" */

/** A heat map in a box: left, top, width, height. @param {Numbers} a @param {number[]} box @param {string} [kind] "value" or "gradient"
 * @param {number} [largest] side of a cell */
export function mapOf(a, [x, y, wide, high], kind = "value", largest = 15) {
  const { rows: r, cols: c } = a;
  const [w, h] = [Math.min(largest, wide / Math.max(1, c)), Math.min(largest, high / Math.max(1, r))];
  const [cw, ch] = [Math.min(w, 3 * h), Math.min(h, 3 * w)];
  const numbers = a.cells.map((cell) => (cell === null ? null : num(cell)));
  const at = { x: x + (wide - cw * c) / 2, y: y + (high - ch * r) / 2, cw, ch, r, c };
  return s("g", { class: "mg-heat" }, ...heat(at, numbers, (i, j) => i * c + j, kind, most(a)));
}

/** The scale of colours. @param {number} top @param {string} kind */
function legend(top, kind) {
  const steps = [-8, -6, -4, -2, 0, 2, 4, 6, 8];
  const words = `colours from ${fmt(-top, 3)}, marked with a minus, over 0 to ${fmt(top, 3)}`;
  const cells = heat({ x: 5, y: 2, cw: 20, ch: 12, r: 1, c: steps.length }, steps, (_, j) => j, kind, 8);
  const texts = [
    s("text", { x: 5, y: 27 }, fmt(-top, 3)),
    s("text", { x: 95, y: 27, "text-anchor": "middle" }, "0"),
    s("text", { x: 185, y: 27, "text-anchor": "end" }, fmt(top, 3)),
  ];
  return s("svg", { width: 190, height: 30, class: "mg-scale", role: "img", "aria-label": words }, ...cells, ...texts);
}

/** @param {number|null} v */
const short = (v) => (v === null ? "none" : fmt(num(v), 4));

/** A large heat map with its scale and statistics. @param {string} name "value" or "gradient" @param {Numbers} a */
export function bigMap(name, a) {
  const [down, across] = a.block;
  const wide = Math.min(250, Math.max(60, a.cols * 26));
  const high = Math.min(190, Math.max(24, a.rows * 26));
  const odd = a.odd ? `   not finite: ${a.odd}` : "";
  const facts = `min ${short(a.low)}   max ${short(a.high)}\nmean ${short(a.mean)}   std ${short(a.std)}${odd}`;
  const coarse = `each cell shows ${down} × ${across} entries: the largest in magnitude`;
  return h(
    "div",
    { class: "mg-big" },
    h("div", { class: "mg-soft" }, name),
    s("svg", { width: wide, height: high, role: "img", "aria-label": `${name}: ${arrayText(a)}` }, mapOf(a, [0, 0, wide, high], name, 26)),
    legend(most(a), name),
    h("div", { class: "mg-facts" }, facts),
    ...(down * across > 1 ? [h("div", { class: "mg-soft" }, coarse)] : []),
  );
}
