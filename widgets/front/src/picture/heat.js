// Heat maps as elements.

import { h, s } from "../dom.js";
import { arrayText, heat, most } from "../model/arrays.js";
import { fmt, num } from "../model/numbers.js";

/** @import { Numbers } from "../types" */

/** @param {Numbers} a @param {number} wide @param {number} high @param {number} [largest] side of a cell */
export function mapOf(a, wide, high, largest) {
  const map = heat(a, wide, high, largest);
  const paths = map.paths.map((p) =>
    s("path", { class: `mg-heat-${p.kind}`, d: p.d, "fill-opacity": p.opacity < 1 ? p.opacity.toFixed(2) : null }),
  );
  return s("g", { class: "mg-heat", transform: `translate(${map.x.toFixed(1)},${map.y.toFixed(1)})` }, ...paths);
}

/** The scale of colours. @param {number} top */
function legend(top) {
  const steps = [-8, -6, -4, -2, 0, 2, 4, 6, 8];
  const words = `colours from ${fmt(-top, 3)}, marked with a minus, over 0 to ${fmt(top, 3)}`;
  const cells = steps.map((v, i) => {
    const opacity = v ? (0.08 + (0.92 * Math.abs(v)) / 8).toFixed(2) : 1;
    return s("path", { class: `mg-heat-${v < 0 ? "n" : v > 0 ? "p" : "0"}`, d: `M${5 + i * 20} 2h20v12h-20z`, "fill-opacity": opacity });
  });
  const minus = steps.filter((v) => v < 0).map((_, i) => s("path", { class: "mg-heat-m", d: `M${11 + i * 20} 8h8` }));
  const texts = [
    s("text", { x: 5, y: 27 }, fmt(-top, 3)),
    s("text", { x: 95, y: 27, "text-anchor": "middle" }, "0"),
    s("text", { x: 185, y: 27, "text-anchor": "end" }, fmt(top, 3)),
  ];
  return s("svg", { width: 190, height: 30, class: "mg-scale", role: "img", "aria-label": words }, ...cells, ...minus, ...texts);
}

/** @param {number|null} v */
const short = (v) => (v === null ? "none" : fmt(num(v), 4));

/** A large heat map with its scale and statistics. @param {string} name @param {Numbers} a */
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
    s("svg", { width: wide, height: high, role: "img", "aria-label": `${name}: ${arrayText(a)}` }, mapOf(a, wide, high, 26)),
    legend(most(a)),
    h("div", { class: "mg-facts" }, facts),
    ...(down * across > 1 ? [h("div", { class: "mg-soft" }, coarse)] : []),
  );
}
