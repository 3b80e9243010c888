// The result as one number moves, with the tangent whose slope is that number's gradient.

import { h, s } from "./dom.js";
import { fmt } from "./model/numbers.js";

/** @import { Sweep } from "./model/sweep.js" */

const [WIDE, HIGH, LEFT, FOOT] = [300, 112, 10, 20];

/** A column of a sweep's table: one number at each of its points. @param {Sweep} sweep @param {number} k @returns {Float64Array} */
export function columnOf({ columns, table, still, xs }, k) {
  const at = columns[k];
  return at < 0 ? new Float64Array(xs.length).fill(still[k]) : table.subarray(at * xs.length, (at + 1) * xs.length);
}

/** @param {{name: string, result: string, xs: ArrayLike<number>, ys: ArrayLike<number>, x: number, y: number, slope: number|null, grad?: string}} o
 * slope: null until the backward pass has reached this input, so that nothing gives it away before.
 * @returns {HTMLElement|null} null: there is nothing to draw */
export function drawCurve({ name, result, xs, ys, x, y, slope, grad = `${name.split(".").pop()}.grad` }) {
  const points = Array.from(xs, (v, k) => [v, ys[k]]).filter((p) => Number.isFinite(p[1]));
  if (points.length < 2 || !Number.isFinite(y)) return null;
  const all = points.map((p) => p[1]);
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const span = high - low || Math.abs(high) || 1;
  const [first, last] = [xs[0], xs[xs.length - 1]];
  const px = (/** @type {number} */ v) => LEFT + ((v - first) / (last - first)) * (WIDE - 2 * LEFT);
  const py = (/** @type {number} */ v) => HIGH - FOOT - 6 - ((v - low) / span) * (HIGH - FOOT - 24);
  const line = points.map(([a, b]) => `${px(a).toFixed(1)} ${py(b).toFixed(1)}`).join("L");
  const words = `${result} as ${name} moves${slope === null ? "" : `; at ${name} = ${fmt(x)} its slope is ${fmt(slope)}`}`;
  const svg = s("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, width: WIDE, height: HIGH, role: "img", "aria-label": words });
  svg.append(
    s("path", {
      class: "mg-curve-axis",
      d: `M${LEFT} ${HIGH - FOOT}H${WIDE - LEFT}M${px(x).toFixed(1)} ${py(y).toFixed(1)}V${HIGH - FOOT}`,
    }),
    s("path", { class: "mg-curve-line", d: `M${line}` }),
  );
  if (slope !== null && Number.isFinite(slope)) {
    const [sx, sy] = [(WIDE - 2 * LEFT) / (last - first), (HIGH - FOOT - 24) / span];
    const dx = 34 / Math.hypot(sx, slope * sy);
    const [a, b] = [x - dx, x + dx].map((v) => `${px(v).toFixed(1)} ${py(y + (v - x) * slope).toFixed(1)}`);
    svg.append(s("path", { class: "mg-curve-tangent", d: `M${a}L${b}` }));
  }
  svg.append(
    s("circle", { class: "mg-curve-dot", cx: px(x).toFixed(1), cy: py(y).toFixed(1), r: 4 }),
    s("text", { x: LEFT, y: 12 }, result),
    s("text", { x: WIDE - LEFT, y: HIGH - 5, "text-anchor": "end" }, name),
  );
  return h("div", { class: "mg-curve" }, svg, ...sentence(grad, slope));
}

/** The text below the curve. @param {string} grad where the slope is found @param {number|null} slope */
function sentence(grad, slope) {
  if (slope === null) return [h("div", { class: "mg-soft" }, "the slope comes with the backward pass")];
  if (!Number.isFinite(slope)) return [];
  const value = h("b", { class: "mg-curve-slope" }, fmt(slope));
  return [h("div", { class: "mg-soft" }, "the tangent’s slope is ", value, `, what backward() adds to ${grad}`)];
}
