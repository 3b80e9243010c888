// Where everything of a network stands, for a stage of this width: the twin of `geometry` in widgets/network_picture.py.

/** @import { Plan } from "../types" */

/** x of the columns, then of error and loss; y of the cells; r: radius of a cell; tall: height of a cell of a strip, or 0; box: half the
 * width and the height of error and loss. mid: the height of error and loss.
 * @typedef {{w: number, h: number, x: number[], y: number[], r: number, gap: number, tall: number[], box: [number, number],
 *   mid: number, labels: boolean}} Geometry labels: is there room for gradients below the circles? */

export const TOP = 44;
export const FOOT = 36;
const LAST = 0.72; // error and loss stand closer together than columns
const PITCH = [72, 92]; // pixels between cells at most, narrow and wide
const LABELS = 60; // a pitch from which there is room for gradients below the circles
export const STRIP = 14; // a pitch below this: the layer is a strip of cells

/** @param {Plan} plan @param {number} w @returns {Geometry} */
export function geometry(plan, w) {
  const wide = w >= 760;
  const sizes = plan.columns.map((c) => c.cells.length);
  const tails = [plan.error, plan.loss].filter((x) => x !== undefined).length;
  const big = Math.max(...sizes);
  const h = Math.round(Math.max(wide ? 280 : 250, Math.min(wide ? 560 : 500, big * (big > 8 ? 30 : 84) + TOP + FOOT)));
  const left = wide ? 84 : 44;
  const right = wide ? 70 : 40;
  const gap = (w - left - right) / Math.max(1, sizes.length - 1 + tails * LAST);
  const x = sizes.map((_, c) => left + c * gap);
  for (let t = 0; t < tails; t++) x.push(x[x.length - 1] + gap * LAST);
  const room = h - TOP - FOOT;
  const y = /** @type {number[]} */ (Array(plan.cells.length).fill(0));
  const tall = sizes.map((n) => {
    const pitch = Math.min(room / n, PITCH[Number(wide)]);
    return pitch < STRIP ? pitch : 0;
  });
  plan.columns.forEach((column, c) => {
    const pitch = Math.min(room / sizes[c], PITCH[Number(wide)]);
    column.cells.forEach((i, j) => {
      y[i] = TOP + room / 2 + (j - (sizes[c] - 1) / 2) * pitch;
    });
  });
  const least = Math.min(...sizes.filter((_, c) => !tall[c]).map((n) => Math.min(room / n, PITCH[Number(wide)])), 92);
  const r = Math.max(5, Math.min(wide ? 25 : 20, least >= LABELS ? (least - 28) / 2 : least * 0.345, gap * 0.25));
  const box = /** @type {[number, number]} */ ([Math.min(46, right - 6, Math.max(15, gap * 0.27)), r >= 16 ? 21 : 16]);
  return { w, h, x, y, r, gap, tall, box, mid: TOP + room / 2, labels: least >= 2 * r + 27 };
}
