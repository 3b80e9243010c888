// Where everything of a film stands on a stage of this width: laid out for the width, not scaled to it.

/** @import { Run } from "./run.js" */
/** @import { Place } from "./maps.js" */
import { GH, GW } from "./maps.js";

/** @typedef {{x: number, y: number, r: number, square?: boolean}} Circle */
/** net: the height of the network above a plane that stands below it, or 0; edge: where wires begin at the left.
 * @typedef {{W: number, H: number, top: number, layers: number[][], units: Circle[], inputs: Circle[], plane: Place|null, left: number,
 *   gap: number, net: number, r: number, image: Place|null}} Layout */

const TOP = 40;
const FOOT = 34;

/** @param {Run} run @returns {number[][]} the units of each layer */
const layersOf = (run) =>
  Array.from({ length: run.depth }, (_, l) => run.units.map((u, i) => (u.layer === l + 1 ? i : -1)).filter((i) => i >= 0));

/** @param {Run} run @param {number} W @returns {Layout} */
export function layout(run, W) {
  const layers = layersOf(run);
  const most = Math.max(1, ...layers.map((l) => l.length));
  /** @type {Layout} */
  const L = { W, H: 0, top: TOP, layers, units: [], inputs: [], plane: null, left: 0, gap: 0, net: 0, r: 0, image: null };
  if (run.kind === "none") return { ...L, H: W >= 600 ? 260 : 220 };
  if (run.kind === "images") return ofImages(L);
  const wide = W >= 900;
  const medium = W >= 600;
  const dense = most > 10;
  let right = W - (medium ? 74 : 40);
  L.H = wide ? (dense ? 540 : 510) : dense ? 470 : 430;
  if (run.kind === "plane" && wide) {
    const w = Math.min(430, W * 0.345);
    const h = (w * GH) / GW;
    L.H = Math.max(L.H, h + 110);
    L.plane = { x: W - w - 26, y: TOP + (L.H - TOP - 30 - h) / 2, w, h };
    right = L.plane.x - 64;
  } else if (run.kind === "plane" && medium) {
    const w = Math.min(290, W * 0.39);
    const h = (w * GH) / GW;
    L.plane = { x: W - w - 14, y: TOP + (L.H - TOP - 30 - h) / 2, w, h };
    right = L.plane.x - 34;
  } else if (run.kind === "plane") {
    const w = W - 24;
    const h = Math.min(300, (w * GH) / GW);
    L.net = dense ? 380 : 330;
    L.H = L.net + h + 34;
    L.plane = { x: 12, y: L.net + 8, w, h };
    right = W - 34;
  }
  const room = (L.net || L.H) - TOP - FOOT;
  const mid = TOP + room / 2;
  L.left = wide ? 66 : 48;
  L.gap = (right - L.left) / layers.length;
  const columns = Math.max(1, ...run.units.flatMap((u) => u.inputs.map(([c]) => c + 1)));
  const pitch = (/** @type {number} */ n) => Math.min(room / n, medium ? 76 : 64);
  L.r = Math.max(9, Math.min(wide ? 27 : 22, pitch(most) * 0.455, L.gap * 0.34));
  const between = Math.min(96, room / Math.max(3, columns));
  L.inputs = Array.from({ length: columns }, (_, c) => ({
    x: L.left,
    y: mid + (c - (columns - 1) / 2) * between,
    r: Math.max(5, Math.min(L.r, 20, between * 0.42)),
  }));
  layers.forEach((of, l) => {
    const last = l === layers.length - 1 && of.length === 1;
    of.forEach((i, k) => {
      const y = mid + (k - (of.length - 1) / 2) * pitch(of.length);
      L.units[i] = { x: L.left + L.gap * (l + 1), y, r: last ? Math.max(13, Math.min(L.r, 18)) : L.r };
    });
  });
  return L;
}

/** Images: the picture that goes in, the first layer as pictures of its weights, the others as circles, the result as bars.
 * @param {Layout} L */
function ofImages(L) {
  const { W, layers } = L;
  const wide = W >= 900;
  const medium = W >= 600;
  L.H = wide ? 520 : medium ? 470 : 560;
  const room = L.H - TOP - 20;
  const side = Math.min(wide ? 150 : medium ? 110 : 86, W * 0.2);
  L.image = { x: medium ? 26 : 12, y: TOP + room / 2 - side / 2 - (medium ? 20 : 0), w: side, h: side };
  const [from, to] = [W * (medium ? 0.42 : 0.4), W * (wide ? 0.72 : medium ? 0.74 : 0.68)];
  layers.forEach((of, l) => {
    const pitch = room / of.length;
    const x = layers.length > 1 ? from + ((to - from) * l) / (layers.length - 1) : (from + to) / 2;
    const r = l === 0 ? Math.max(6, Math.min(32, pitch * 0.46)) : Math.max(5, Math.min(15, pitch * 0.4));
    for (const [k, i] of of.entries()) L.units[i] = { x, y: TOP + pitch * (k + 0.5), r, square: l === 0 };
  });
  L.left = from;
  L.gap = layers.length > 1 ? (to - from) / (layers.length - 1) : 0;
  L.r = L.units[0]?.r ?? 0;
  return L;
}

/** @typedef {{p: number, from: number, column: number, to: number, x1: number, y1: number, x2: number, y2: number, layer: number}} Wire
 * p: the parameter; from: a unit, or -1 and a column of the inputs */

/** @param {Run} run @param {Layout} L @returns {Wire[]} */
export function wires(run, L) {
  /** @type {Wire[]} */ const out = [];
  run.units.forEach((u, to) => {
    for (const [column, from, p] of u.inputs) {
      const a = from >= 0 ? L.units[from] : L.inputs[column];
      const b = L.units[to];
      if (a && b) out.push({ p, from, column, to, x1: a.x + a.r, y1: a.y, x2: b.x - b.r, y2: b.y, layer: u.layer });
    }
  });
  return out;
}

/** A place on a wire. @param {Wire} o @param {number} t from 0 to 1 */
export function along(o, t) {
  const m = (o.x1 + o.x2) / 2;
  const u = 1 - t;
  const [a, b, d, e] = [u * u * u, 3 * u * u * t, 3 * u * t * t, t * t * t];
  return [a * o.x1 + (b + d) * m + e * o.x2, (a + b) * o.y1 + (d + e) * o.y2];
}

/** The wire under a place, or null. @param {Wire[]} all @param {number} x @param {number} y */
export function wireAt(all, x, y) {
  let [best, near] = [/** @type {Wire|null} */ (null), 7];
  for (const o of all) {
    if (x < o.x1 - 4 || x > o.x2 + 4) continue;
    for (let t = 0; t <= 1; t += 0.04) {
      const [a, b] = along(o, t);
      const d = Math.hypot(a - x, b - y);
      if (d < near) [best, near] = [o, d];
    }
  }
  return best;
}
