// A program of Tensors as a figure: its plan and numbers by their meaning, and what is known of them after a step. Pure functions.

import { doubles } from "../model/sweep.js";

/** @import { Figure, FormNode, FormPlan, Sheet } from "../types" */

/** The numbers that a sheet shows now: nothing yet, values, or a gradient, of which `done` of `of` shares were added.
 * @typedef {{kind: ""|"value"|"gradient", numbers: ArrayLike<number>|null, done: number, of: number}} Side */

/** @param {any} raw @returns {Forms|null} */
export function readForms(raw) {
  if (!raw?.plan) return null;
  const forms = new Forms(JSON.parse(new TextDecoder().decode(raw.plan)), raw.numbers);
  const read = forms.plan.double ? doubles : singles;
  if (raw.moved) forms.moved = { number: raw.moved.number, xs: doubles(raw.moved.points), rows: read(raw.moved.rows) };
  return forms;
}

/** @param {any} raw @returns {Float32Array} */
function singles(raw) {
  const view = ArrayBuffer.isView(raw) ? raw : new Uint8Array(raw);
  return new Float32Array(new Uint8Array(view.buffer, view.byteOffset, view.byteLength).slice().buffer);
}

export class Forms {
  /** @param {FormPlan} plan @param {any} numbers */
  constructor(plan, numbers) {
    this.plan = plan;
    this.flat = plan.double ? doubles(numbers) : singles(numbers);
    /** How many stages there are: steps 1 to K go forward, K + 1 seeds, the K after it go back. */
    this.K = plan.stages.length;
    /** Who uses a node, and in which slot. @type {[number, number][][]} */
    this.users = plan.nodes.map(() => []);
    plan.nodes.forEach((node, i) => {
      node.parents.forEach((p, slot) => {
        this.users[p].push([i, slot]);
      });
    });
    /** All numbers as one of a leaf's moves: its place in `flat`, where it stands, and a row of numbers for each.
     * @type {{number: number, xs: Float64Array, rows: Float32Array|Float64Array}|null} */
    this.moved = null;
    /** Numbers of views, read through their places. @type {Map<number, Float64Array>} */ this.read = new Map();
  }

  /** The same with the number on the slider at one of its points. @param {number} p @returns {Forms} */
  movedTo(p) {
    const size = this.flat.length;
    const flat = this.moved?.rows.subarray(p * size, (p + 1) * size);
    return Object.assign(Object.create(Forms.prototype), this, { flat, read: new Map() });
  }

  /** The leaf whose number this is, and where in it. @param {number} number @returns {[number, number]} */
  owner(number) {
    const { nodes, starts } = this.plan;
    const i = nodes.findIndex((n) => n.kind !== "operation" && starts[n.array] <= number && number < starts[n.array + 1]);
    return [i, number - starts[nodes[i]?.array ?? 0]];
  }

  /** @param {number} i */
  node(i) {
    return this.plan.nodes[i];
  }

  /** @param {number} i @returns {ArrayLike<number>|null} */
  array(i) {
    return i < 0 ? null : this.flat.subarray(this.plan.starts[i], this.plan.starts[i + 1]);
  }

  /** The tensor whose numbers a view shows. @param {number} i */
  base(i) {
    return this.node(i).base?.[0] ?? i;
  }

  /** Where a number of a view is in its base. @param {number} i @param {number} k */
  place(i, k) {
    const at = this.node(i).base?.[1] ?? -1;
    return at < 0 ? k : this.flat[this.plan.starts[at] + k];
  }

  /** Where a number of the base is in a view of it, or -1. @param {number} i @param {number} k */
  placeIn(i, k) {
    const at = this.node(i).base?.[1] ?? -1;
    if (at < 0) return k;
    return /** @type {ArrayLike<number> & {indexOf: (x: number) => number}} */ (this.array(at)).indexOf(k);
  }

  /** The value of a tensor. @param {number} i @returns {ArrayLike<number>|null} */
  value(i) {
    const { base, array } = this.node(i);
    if (!base) return this.array(array);
    const below = this.value(base[0]);
    if (base[1] < 0 || !below) return below;
    const known = this.read.get(i);
    if (known) return known;
    const places = /** @type {ArrayLike<number>} */ (this.array(base[1]));
    const read = Float64Array.from({ length: places.length }, (_, k) => below[places[k]]);
    this.read.set(i, read);
    return read;
  }

  /** How many numbers a tensor has. @param {number} i */
  size(i) {
    return this.node(i).shape.reduce((a, b) => a * b, 1);
  }

  /** @param {number} step */
  back(step) {
    return step > this.K;
  }

  /** Is the value of a tensor there? @param {number} i @param {number} step */
  known(i, step) {
    const { seen, stage } = this.node(i);
    return (seen ?? stage) < step;
  }

  /** Has a stage gone back? @param {number} stage @param {number} step */
  gone(stage, step) {
    return step > this.K && stage >= 2 * this.K + 1 - step;
  }

  /** Has the operation that made a tensor passed its gradient on? @param {number} i @param {number} step */
  sent(i, step) {
    const { stage } = this.node(i);
    return stage >= 0 && this.gone(stage, step);
  }

  /** @param {number} i @param {number} step @returns {Side} */
  side(i, step) {
    const { grads } = this.node(i);
    let done = 0;
    if (step > this.K) while (done < grads.length && this.gone(grads[done][0], step)) done++;
    if (done) return { kind: "gradient", numbers: this.array(grads[done - 1][1]), done, of: grads.length };
    if (!this.known(i, step)) return { kind: "", numbers: null, done: 0, of: 0 };
    return { kind: "value", numbers: this.value(i), done: 0, of: 0 };
  }

  /** The steps at which one can stop while only these parts are open. @param {Set<string>} open @returns {number[]} */
  stops(open) {
    const { stages } = this.plan;
    const { K } = this;
    /** Does the one stage belong to the same closed part as the other? @param {number} a @param {number} b */
    const together = (a, b) => !!stages[a]?.group && stages[a].group === stages[b]?.group && !open.has(stages[a].group);
    const all = [0];
    for (let s = 1; s <= K; s++) if (!together(s - 1, s)) all.push(s);
    all.push(K + 1);
    for (let j = 1; j <= K; j++) if (!together(K - j, K - j - 1)) all.push(K + 1 + j);
    return all;
  }
}

/** The figure for a stage of this width: the widest that fits. @param {Figure[]} figures @param {number} wide */
export function fitting(figures, wide) {
  return figures.findLast((f) => f.w <= wide) ?? figures[0];
}

/** Where a cell of a sheet is in its tensor. @param {Sheet} sheet @param {number} i @param {number} j @param {number} sample @param {number} head */
export function flatOf(sheet, i, j, sample, head) {
  const { lead, off, r, c, turn, wrap } = sheet;
  const start = off + (lead ? (sample % lead[1]) * lead[0] + (head % lead[3]) * lead[2] : 0);
  if (wrap) return start + (i % wrap[0]) * wrap[1] + (j % wrap[1]);
  return start + (turn ? j * r + i : i * c + j);
}

/** The tensor that a sheet shows. @param {Sheet} sheet @param {number} head */
export const nodeOf = (sheet, head) => (Array.isArray(sheet.n) ? sheet.n[head % sheet.n.length] : sheet.n);

/** The indices of a number. @param {number[]} shape @param {number} flat */
export function indices(shape, flat) {
  const out = Array(shape.length).fill(0);
  for (let d = shape.length - 1; d >= 0; d--) {
    out[d] = flat % shape[d];
    flat = Math.floor(flat / shape[d]);
  }
  return out;
}

/** Where indices lead in a tensor that is broadcast to theirs. @param {number[]} shape @param {number[]} ix */
export function flatAt(shape, ix) {
  const lead = ix.length - shape.length;
  return shape.reduce((k, n, d) => k * n + (n === 1 ? 0 : (ix[d + lead] ?? 0)), 0);
}

/** @param {ArrayLike<number>|null} a */
export function norm(a) {
  let sum = 0;
  for (let k = 0; k < (a?.length ?? 0); k++) sum += /** @type {ArrayLike<number>} */ (a)[k] ** 2;
  return Math.sqrt(sum);
}

/** The largest magnitude of the finite ones. @param {ArrayLike<number>} a */
export function most(a) {
  let top = 0;
  for (let k = 0; k < a.length; k++) if (Number.isFinite(a[k])) top = Math.max(top, Math.abs(a[k]));
  return top;
}

/** What the numbers of a tensor are called: where probabilities are shown, their logarithm has the gradient.
 * @param {FormNode} node @param {boolean} back */
export const nameOf = (node, back) => (back && node.log !== undefined ? "log p" : node.name);

/** The numbers that stand for a value: of recorded logarithms the probabilities. @param {FormNode} node @param {ArrayLike<number>} numbers */
export const shownOf = (node, numbers) => (node.log === undefined ? numbers : Float64Array.from(numbers, Math.exp));

/** Does a node only change the shape of what it is made of? @param {FormNode} node */
export const free = (node) => node.free === true;
