// Everything about one step of a run: what its program computes for each point, and what its gradients are.

/** @import { Run } from "./run.js" */
/** @import { Plane } from "./maps.js" */
/** @import { Program } from "./tape.js" */

/** What one point computes: its loss; results, sums and the gradients of the sums, unit by unit.
 * @typedef {{loss: number, out: number[], z: number[], d: number[]}} OfPoint */
/** @typedef {{w: Float64Array, g: Float64Array|null, rows: number[], maps: {out: Float64Array[], sums: Float64Array[]}|null,
 *   of: Map<number, OfPoint>, delta: number[], active: number, right: number, judged: number, rightDrawn: number, worst: number,
 *   loss: number}} Moment delta: for each unit the sum of |gradient| over the points; active: points that pass a gradient on */

const MOST = 600_000; // operations for counting the points on the right side

/** How the result of a network is read as a decision. */
export class Judge {
  /** @param {Run} run */
  constructor(run) {
    const { classes } = run.about;
    this.units = run.units.map((u, i) => (u.layer === run.depth ? i : -1)).filter((i) => i >= 0);
    this.labels = run.labels;
    this.classes = classes ?? [];
    this.several = this.units.length > 1;
    this.boundary = run.about.boundary ?? 0;
    /** The row of the tape that is compared with the boundary: before a sigmoid or tanh, whose sum is 0 there. */
    this.rows = this.units.map((i) => run.units[i].z);
    this.decides = this.several ? this.classes.length > 0 : this.classes.length === 2;
  }

  /** Which mark a point has: the label that a positive score is right for comes first. @param {number} i */
  kind(i) {
    const k = this.classes.indexOf(this.labels[i]);
    return this.several ? Math.max(0, k) : this.classes.length === 2 ? 1 - k : 0;
  }

  /** @param {ArrayLike<number>} v the numbers of the tape @param {number} i the point */
  right(v, i) {
    if (!this.several) return v[this.rows[0]] > this.boundary === (this.kind(i) === 0);
    const scores = this.rows.map((r) => v[r]);
    return this.classes[scores.indexOf(Math.max(...scores))] === this.labels[i];
  }

  /** Points on the right side, and of how many. @param {Program} program @param {Float64Array} w @returns {[number, number]} */
  count(program, w) {
    const { points } = program;
    const stride = Math.max(1, Math.ceil((points.length * program.tape.v.length) / MOST));
    let [right, judged] = [0, 0];
    for (let i = 0; i < points.length; i += stride) {
      program.at(w, i);
      judged++;
      if (this.right(program.tape.v, i)) right++;
    }
    return [right, judged];
  }
}

/** @param {Run} run @param {Program|null} program @param {Plane|null} plane @param {Judge} judge
 * @param {Float64Array} w @param {Float64Array|null} g @param {number[]} rows @returns {Moment} */
export function moment(run, program, plane, judge, w, g, rows) {
  const { units } = run;
  const maps = plane ? plane.maps(w) : null;
  const delta = units.map(() => 0);
  /** @type {Map<number, OfPoint>} */ const of = new Map();
  const found = { w, g, rows, maps, of, delta, active: 0, right: 0, judged: 0, rightDrawn: 0, worst: rows[0] ?? 0, loss: Number.NaN };
  if (!program) return found;
  const { v, g: grads } = program.tape;
  let most = Number.NEGATIVE_INFINITY;
  found.loss = program.run(w, rows, (i, loss) => {
    const d = units.map((u) => grads[u.z]);
    of.set(i, { loss, out: units.map((u) => v[u.out]), z: units.map((u) => v[u.z]), d });
    d.forEach((x, k) => {
      delta[k] += Math.abs(x);
    });
    if (judge.units.some((k) => d[k] !== 0)) found.active++;
    if (judge.decides && judge.right(v, i)) found.rightDrawn++;
    if (loss > most) [most, found.worst] = [loss, i];
  }).loss;
  if (judge.decides) [found.right, found.judged] = judge.count(program, w);
  return found;
}
