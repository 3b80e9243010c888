// Maps over the plane of two inputs: what each unit computes at every place of a grid, and lines of equal value.

/** @import { Run } from "./run.js" */

export const GW = 56;
export const GH = 44;

/** @typedef {{x0: number, x1: number, y0: number, y1: number}} Box */
/** @typedef {{x: number, y: number, w: number, h: number}} Place in pixels */

/** The part of the plane that is drawn: the points and a margin, in the shape of the grid where both columns have about one scale.
 * @param {number[][]} points @returns {Box} */
export function box(points) {
  const side = (/** @type {number} */ c) => {
    const values = points.map((p) => p[c]);
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const margin = 0.14 * (high - low) || 1;
    return [low - margin, high + margin];
  };
  let [[x0, x1], [y0, y1]] = [side(0), side(1)];
  const [w, h] = [x1 - x0, y1 - y0];
  if (w < 5 * h && h < 5 * w) {
    const more = (w * GH) / GW - h;
    if (more > 0) [y0, y1] = [y0 - more / 2, y1 + more / 2];
    else [x0, x1] = [x0 + (more * GW) / GH / 2, x1 - (more * GW) / GH / 2];
  }
  return { x0, x1, y0, y1 };
}

/** @type {Record<string, (z: number) => number>} */
const ACTIVATIONS = {
  relu: (z) => (z > 0 ? z : 0),
  tanh: Math.tanh,
  sigmoid: (z) => 1 / (1 + Math.exp(-z)),
  exp: Math.exp,
  sin: Math.sin,
  cos: Math.cos,
  abs: Math.abs,
  step: (z) => (z > 0 ? 1 : 0),
  sign: Math.sign,
  round: Math.round,
};

/** The plane of a run: its grid, and the maps of its units. */
export class Plane {
  /** @param {Run} run */
  constructor(run) {
    this.run = run;
    this.box = box(run.points);
    const { x0, x1, y0, y1 } = this.box;
    /** The two inputs at each place of the grid, from the top left. */
    this.inputs = [
      Float64Array.from({ length: GW * GH }, (_, i) => x0 + (((i % GW) + 0.5) / GW) * (x1 - x0)),
      Float64Array.from({ length: GW * GH }, (_, i) => y1 - ((Math.floor(i / GW) + 0.5) / GH) * (y1 - y0)),
    ];
  }

  /** What each unit computes over the plane, and before its activation. @param {Float64Array} w */
  maps(w) {
    /** @type {Float64Array[]} */ const out = [];
    /** @type {Float64Array[]} */ const sums = [];
    for (const u of this.run.units) {
      const z = new Float64Array(GW * GH).fill(u.bias < 0 ? 0 : w[u.bias]);
      for (const [column, unit, p] of u.inputs) {
        const from = unit >= 0 ? out[unit] : this.inputs[column];
        const k = w[p];
        for (let i = 0; i < z.length; i++) z[i] += k * from[i];
      }
      const f = ACTIVATIONS[u.act];
      sums.push(z);
      out.push(f ? z.map(f) : z);
    }
    return { out, sums };
  }

  /** Where a point is in a place on the screen. @param {number[]} p @param {Place} at */
  place([x, y], at) {
    const { x0, x1, y0, y1 } = this.box;
    return [at.x + ((x - x0) / (x1 - x0)) * at.w, at.y + ((y1 - y) / (y1 - y0)) * at.h];
  }
}

/** @param {Float64Array} z */
export function largest(z) {
  let most = 1e-9;
  for (const v of z) if (Math.abs(v) > most) most = Math.abs(v);
  return most;
}

/** A line of equal value, as polylines on the grid (marching squares). The pieces are joined, so that dashes do not begin anew in each.
 * @param {CanvasRenderingContext2D} c @param {ArrayLike<number>} z @param {number} level @param {Place} at */
export function contour(c, z, level, at) {
  const px = (/** @type {number} */ i) => at.x + ((i + 0.5) / GW) * at.w;
  const py = (/** @type {number} */ j) => at.y + ((j + 0.5) / GH) * at.h;
  /** @typedef {[number, number, number]} End the third number names the edge of the grid that it is on */
  /** @type {Map<number, End[]>} */ const ends = new Map();
  /** @type {End[][]} */ const lines = [];
  /** @param {End} p @param {End} q */
  const add = (p, q) => {
    const [a, b] = [p[2], q[2]];
    const l = ends.get(a);
    const k = ends.get(b);
    if (l) ends.delete(a);
    if (k) ends.delete(b);
    if (l && k && l !== k) {
      if (l[0][2] === a) l.reverse();
      if (k[k.length - 1][2] === b) k.reverse();
      l.push(...k);
      lines.splice(lines.indexOf(k), 1);
      ends.set(l[0][2], l);
      ends.set(l[l.length - 1][2], l);
    } else if (l && k) l.push(l[0]);
    else if (l) {
      if (l[0][2] === a) l.unshift(q);
      else l.push(q);
      ends.set(b, l);
    } else if (k) {
      if (k[0][2] === b) k.unshift(p);
      else k.push(p);
      ends.set(a, k);
    } else {
      const line = [p, q];
      lines.push(line);
      ends.set(a, line);
      ends.set(b, line);
    }
  };
  for (let j = 0; j < GH - 1; j++)
    for (let i = 0; i < GW - 1; i++) {
      const n = j * GW + i;
      const [a, b, d, e] = [z[n] - level, z[n + 1] - level, z[n + GW] - level, z[n + GW + 1] - level];
      const [A, B, D, E] = [a > 0, b > 0, d > 0, e > 0];
      if (A === B && B === D && D === E) continue;
      /** @type {End[]} */ const p = [];
      if (A !== B) p.push([px(i + a / (a - b)), py(j), 2 * n]);
      if (B !== E) p.push([px(i + 1), py(j + b / (b - e)), 2 * (n + 1) + 1]);
      if (D !== E) p.push([px(i + d / (d - e)), py(j + 1), 2 * (n + GW)]);
      if (A !== D) p.push([px(i), py(j + a / (a - d)), 2 * n + 1]);
      for (let k = 0; k + 1 < p.length; k += 2) add(p[k], p[k + 1]);
    }
  c.beginPath();
  for (const line of lines)
    for (const [i, p] of line.entries())
      if (i) c.lineTo(p[0], p[1]);
      else c.moveTo(p[0], p[1]);
  c.lineJoin = "round";
  c.stroke();
}

/** The fold of a ReLU in a small circle: every second place of the grid, nothing joined.
 * @param {CanvasRenderingContext2D} c @param {ArrayLike<number>} z @param {Place} at */
export function fold(c, z, at) {
  const px = (/** @type {number} */ i) => at.x + ((i + 0.5) / GW) * at.w;
  const py = (/** @type {number} */ j) => at.y + ((j + 0.5) / GH) * at.h;
  c.beginPath();
  for (let j = 0; j + 2 < GH; j += 2)
    for (let i = 4; i + 6 < GW; i += 2) {
      const n = j * GW + i;
      const [a, b, d, e] = [z[n], z[n + 2], z[n + 2 * GW], z[n + 2 * GW + 2]];
      const [A, B, D, E] = [a > 0, b > 0, d > 0, e > 0];
      if (A === B && B === D && D === E) continue;
      let ends = 0;
      const go = (/** @type {number} */ x, /** @type {number} */ y) => {
        if (ends++ % 2) c.lineTo(x, y);
        else c.moveTo(x, y);
      };
      if (A !== B) go(px(i + (2 * a) / (a - b)), py(j));
      if (B !== E) go(px(i + 2), py(j + (2 * b) / (b - e)));
      if (D !== E) go(px(i + (2 * d) / (d - e)), py(j + 2));
      if (A !== D) go(px(i), py(j + (2 * a) / (a - d)));
    }
  c.lineCap = "round";
  c.stroke();
  c.lineCap = "butt";
}
