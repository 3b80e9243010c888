// The places of all parts of a network for a stage of this width. Python's version is `geometry` in widgets/network_picture.py.

/** @import { Plan } from "../types" */

/** Columns that are drawn as one box, because there is no room for all. @typedef {{from: number, to: number, x: number}} Box */

/** x of the columns, then of error and loss; y of the cells; r: radius of a cell; tall: height of a cell of a strip, or 0; box: half the
 * width and the height of error and loss. mid: the height of error and loss.
 * @typedef {{w: number, h: number, x: number[], y: number[], r: number, gap: number, tall: number[], box: [number, number],
 *   mid: number, labels: boolean, panel: number, low: number, boxes: Box[], hidden: boolean[]}} Geometry hidden: of the columns that are in boxes; low: where an opened neuron begins that is drawn below the network, else 0; panel: the left edge of an opened neuron; labels: is there room for gradients below the circles? */

export const TOP = 44;
export const FOOT = 36;
const LAST = 0.72; // error and loss stand closer together than columns
const PITCH = [72, 92]; // pixels between cells at most, narrow and wide
const STACKED = 600; // narrower than this, an opened neuron is placed below the network
const SMALL = 150; // which is so high then
const LABELS = 60; // a pitch from which there is room for gradients below the circles
const COLUMNS = 10; // of more columns than these the middle ones are one box
const CLOSEST = [40, 48]; // pixels between columns at least, narrow and wide; of fewer pixels there are boxes as well
const BESIDE = 34; // the same beside an opened neuron
export const NAMED = 12; // inputs; of more no names are written
export const BOXED = 19; // half the width of such a box
export const STRIP = 14; // a pitch below this: the layer is a strip of cells

/** The columns from left to right, and boxes for runs of them from the first to the last one.
 * @param {number} n columns @param {number} most places @param {number} focus the column that is looked at, or -1 for both ends
 * @returns {[number, number][]} */
export function places(n, most, focus) {
  /** @type {[number, number][]} */
  const all = Array.from({ length: n }, (_, c) => [c, c]);
  if (n <= most) return all;
  if (focus < 0) return [...all.slice(0, most >> 1), [most >> 1, n - ((most + 1) >> 1)], ...all.slice(n - ((most - 1) >> 1))];
  const wide = Math.max(2, most - 4);
  const from = Math.max(1, Math.min(n - 1 - wide, focus - (wide >> 1)));
  const to = from + wide;
  const before = /** @type {[number, number][]} */ (from > 1 ? [[1, from - 1]] : []);
  const after = /** @type {[number, number][]} */ (to < n - 1 ? [[to, n - 2]] : []);
  return [all[0], ...before, ...all.slice(from, to), ...after, all[n - 1]];
}

/** @param {Plan} plan @param {number} w @param {number} [open] the column of a neuron that is open
 * @param {number} [focus] the column that is looked at, or -1 @returns {Geometry} */
export function geometry(plan, w, open = 0, focus = -1) {
  const wide = w >= 760;
  const sizes = plan.columns.map((c) => c.cells.length);
  const tails = [plan.error, plan.loss].filter((x) => x !== undefined).length;
  const big = Math.max(...sizes);
  if (open && w < STACKED) return stacked(plan, w, open);
  const h = Math.round(Math.max(wide ? 280 : 250, Math.min(wide ? 560 : 500, big * (big > 8 ? 30 : 84) + TOP + FOOT)));
  const left = wide ? 84 : namedLeft(plan);
  const right = wide ? 70 : 40;
  const taken = open ? Math.min(470, Math.max(330, w * 0.5)) : 0;
  const near = open ? BESIDE : CLOSEST[Number(wide)];
  const most = Math.max(4, Math.min(COLUMNS, 1 + Math.floor((w - left - right - taken) / near - tails * LAST)));
  const row = places(sizes.length, most, open || focus);
  const gap = (w - left - right - taken) / Math.max(1, row.length - 1 + tails * LAST);
  const at = row.map(([from], k) => left + k * gap + (open && from >= open ? taken : 0));
  const x = sizes.map((_, c) => at[row.findIndex(([from, to]) => from <= c && c <= to)]);
  const boxes = row.flatMap(([from, to], k) => (to > from ? [{ from, to, x: at[k] }] : []));
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
  const r = Math.max(5, Math.min(wide ? 25 : 20, least >= LABELS ? (least - 28) / 2 : least * 0.345, gap * (open ? 0.36 : 0.25)));
  const box = /** @type {[number, number]} */ ([Math.min(46, right - 6, Math.max(15, gap * 0.27)), r >= 16 ? 21 : 16]);
  return {
    w,
    h,
    x,
    y,
    r,
    gap,
    tall,
    box,
    mid: TOP + room / 2,
    labels: least >= 2 * r + 27,
    boxes,
    hidden: sizes.map((_, c) => boxes.some((b) => b.from <= c && c <= b.to)),
    panel: open ? x[open - 1] + Math.max(gap * 0.55, r + 18) : 0,
    low: 0,
  };
}

/** Room for the names of the inputs at the left of a narrow stage, where they are few and short. @param {Plan} plan */
function namedLeft({ cells, columns }) {
  const names = columns[0].cells.map((i) => cells[i].short.length);
  const long = Math.max(...names);
  return names.length <= NAMED && long <= 6 ? 40 + Math.max(4, 7.2 * long) : 44;
}

/** The network small, an opened neuron below it. @param {Plan} plan @param {number} w @param {number} open @returns {Geometry} */
function stacked(plan, w, open) {
  const at = geometry(plan, w, 0, open);
  const most = Math.max(...plan.columns.map((c) => c.cells.length));
  const inputs = plan.columns[open].cells[0] >= 0 ? plan.wires.filter((l) => l.target === plan.columns[open].cells[0]).length : 0;
  const k = SMALL / at.h;
  const pitch = (SMALL - 30) / most;
  const h = SMALL + Math.max(190, inputs * 44 + 150);
  const tall = at.tall.map((t) => (t ? t * k : 0));
  return {
    ...at,
    h,
    y: at.y.map((y) => y * k),
    r: Math.min(9, pitch * 0.4),
    tall,
    box: [18, 9],
    mid: at.mid * k,
    labels: false,
    panel: 14,
    low: SMALL,
  };
}

/** A wire from left to right. @param {number} x1 @param {number} y1 @param {number} x2 @param {number} y2 */
export function curve(x1, y1, x2, y2) {
  const m = (x2 - x1) / 2;
  return `M${x1.toFixed(1)} ${y1.toFixed(1)}C${(x1 + m).toFixed(1)} ${y1.toFixed(1)} ${(x2 - m).toFixed(1)} ${y2.toFixed(1)} ${x2.toFixed(1)} ${y2.toFixed(1)}`;
}

/** A column's name in `room` characters. Python's version is `shortest` in widgets/network_picture.py. @param {string} name @param {number} room */
export function shortest(name, room) {
  const plain = name.replace(/ of \d+$/, "");
  const number = /(\[\w+\]|\d+)$/.exec(plain)?.[0] ?? name;
  return [name, plain, number].find((text) => text.length <= room) ?? `${name.slice(0, Math.max(1, room - 1))}…`;
}
