// Small parts of the page: prose with names of code in it, tables, buttons, canvases.

import { h, rich } from "../dom.js";

/** @typedef {string|Node} Cell */

/** @param {string} text "**bold** plain `code`" @returns {Node[]} */
export const prose = (text) => text.split("`").flatMap((part, i) => (i % 2 ? [h("code", {}, part)] : rich(part)));

/** @param {string} label @param {() => void} run @param {import("../dom.js").Attributes} [attributes] */
export function button(label, run, attributes = {}) {
  const b = h("button", { class: "mg-button mg-small", type: "button", ...attributes }, label);
  b.addEventListener("click", run);
  return b;
}

/** @param {string[]} head @param {Cell[][]} rows @param {number[]} [back] columns of gradients */
export function table(head, rows, back = []) {
  const line = (/** @type {"th"|"td"} */ tag, /** @type {Cell[]} */ cells) =>
    h("tr", {}, ...cells.map((cell, i) => h(tag, tag === "th" ? { scope: "col" } : { class: back.includes(i) ? "mf-g" : null }, cell)));
  return h("table", {}, h("thead", {}, line("th", head)), h("tbody", {}, ...rows.map((row) => line("td", row))));
}

/** Draw on a canvas as wide as its place. @param {HTMLCanvasElement} canvas @param {number} high
 * @param {(c: CanvasRenderingContext2D, w: number, h: number) => void} run */
export function onCanvas(canvas, high, run) {
  const w = canvas.clientWidth;
  if (!w) return;
  const ratio = devicePixelRatio || 1;
  canvas.width = Math.round(w * ratio);
  canvas.height = Math.round(high * ratio);
  canvas.style.height = `${high}px`;
  const c = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  c.scale(ratio, ratio);
  run(c, w, high);
}
