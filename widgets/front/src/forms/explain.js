// What one number of a figure is made of: which cells light up, and the sum of products that it is. Pure functions.
// Every number is one that the engine computed; only products, running sums and shares of a softmax are worked out here.

import { fmt } from "../model/numbers.js";
import { flatAt, indices, shownOf } from "./data.js";

/** @import { Forms } from "./data.js" */

/** A part of a sum: a product, or one number: a bias, another use of the tensor, a share. `at`: the cells that it comes from.
 * @typedef {{kind: "product"|"bias"|"use"|"share"|"operand", numbers: number[], at: Lit[]}} Term */
/** Cells of a tensor that light up, and which of its sides shows them. @typedef {{base: number, cells: Set<number>, side: string}} Lit */
/** @typedef {{node: number, flat: number, ix: number[], value: number|null, back: boolean, lit: Lit[], terms: Term[], text: string,
 *   scale: number}} Explained `scale`: the whole sum is multiplied by it */

const PRODUCTS = new Set(["mm", "matmul", "bmm", "addmm", "linear", "baddbmm"]);
const ROWS = /softmax|norm/;
const LOOSE = /conv|pool|embedding|nll|index/;

/** @param {string} f */
export const isProduct = (f) => PRODUCTS.has(f);
/** @param {number} n @returns {number[]} */
const range = (n) => Array.from({ length: n }, (_, k) => k);

class Explainer {
  /** @type {Lit[]} */ lit = [];
  /** @type {Term[]} */ terms = [];
  text = "";
  scale = 1;

  /** @param {Forms} forms @param {number} step */
  constructor(forms, step) {
    this.forms = forms;
    this.step = step;
  }

  /** @param {number} n @param {number} k */
  at(n, k) {
    return this.forms.value(n)?.[k] ?? Number.NaN;
  }

  /** @param {number} n @param {number[]} flats @param {string} side @returns {Lit} */
  cells(n, flats, side) {
    const base = this.forms.base(n);
    return { base, cells: new Set(flats.map((k) => this.forms.place(n, k))), side };
  }

  /** @param {number} n @param {number[]} flats @param {string} side */
  light(n, flats, side) {
    this.lit.push(this.cells(n, flats, side));
  }

  /** @param {number} n @param {number} k */
  one(n, k) {
    return this.cells(n, [k], "value");
  }

  // ---- forward

  /** @param {number} n @param {number} flat */
  forward(n, flat) {
    const node = this.forms.node(n);
    if (node.kind !== "operation") return;
    const ix = indices(node.shape, flat);
    const { parents: ps, function: f } = node;
    if (node.block) this.text = `the largest of a block of ${node.block.join(" × ")}`;
    else if (isProduct(f)) this.product(ps, ix);
    else if (ROWS.test(f) && this.forms.node(ps[0]).shape.join() === node.shape.join()) this.row(n, flat, ix);
    else if (f.startsWith("conv")) this.window(ps, ix);
    else if (f.includes("pool")) this.pool(n, ps, ix);
    else if (f === "embedding" || f === "index") this.lookedUp(n, ps, ix, flat);
    else this.operands(n, ps, ix, flat);
  }

  /** @param {number[]} ps @param {number[]} ix */
  product(ps, ix) {
    const { forms } = this;
    const [A, B] = ps.slice(-2);
    const [a, b] = [forms.node(A).shape, forms.node(B).shape];
    const [left, right] = range(a.at(-1) ?? 1).reduce(
      (/** @type {number[][]} */ [l, r], t) => [
        [...l, flatAt(a, a.length === 1 ? [t] : [...ix.slice(0, b.length === 1 ? ix.length : -1), t])],
        [...r, flatAt(b, b.length === 1 ? [t] : a.length === 1 ? [t, ix[ix.length - 1]] : [...ix.slice(0, -2), t, ix[ix.length - 1]])],
      ],
      [[], []],
    );
    left.forEach((k, t) => {
      this.terms.push({ kind: "product", numbers: [this.at(A, k), this.at(B, right[t])], at: [this.one(A, k), this.one(B, right[t])] });
    });
    this.light(A, left, "value");
    this.light(B, right, "value");
    if (ps.length === 3) {
      const k = flatAt(forms.node(ps[0]).shape, ix);
      this.terms.push({ kind: "bias", numbers: [this.at(ps[0], k)], at: [this.one(ps[0], k)] });
      this.light(ps[0], [k], "value");
    }
    const row = ix.length > 1 ? `row ${ix.at(-2)} of ` : "";
    this.text = `${row}${forms.node(A).name} times column ${ix.at(-1) ?? 0} of ${forms.node(B).name}`;
  }

  /** @param {number} n @param {number} flat @param {number[]} ix */
  row(n, flat, ix) {
    const { forms } = this;
    const { parents: ps, function: f, shape } = forms.node(n);
    const last = shape.at(-1) ?? 1;
    const first = flat - (ix.at(-1) ?? 0);
    const all = range(last).map((t) => first + t);
    if (f.includes("softmax")) {
      this.light(ps[0], all, "value");
      for (const k of all) this.terms.push({ kind: "share", numbers: [this.at(ps[0], k)], at: [this.one(ps[0], k)] });
      this.text =
        f === "softmax" || forms.node(n).log !== undefined
          ? "e to this score over the sum of e to all in its row"
          : "this number minus the log of the sum of e to all in its row";
      return;
    }
    if (f.includes("batch")) return this.column(n, flat, ix);
    this.light(ps[0], all, "value");
    for (const p of ps.slice(1)) this.light(p, [ix.at(-1) ?? 0], "value");
    const xs = all.map((k) => this.at(ps[0], k));
    const { mean, std } = statistics(xs);
    this.text = `(${fmt(xs[ix.at(-1) ?? 0], 3)} − mean ${fmt(mean, 3)} of its row) ÷ std ${fmt(std, 3)}${this.affine(ps, ix.at(-1) ?? 0)}`;
  }

  /** Batch norm: the statistics are those of a channel. @param {number} n @param {number} flat @param {number[]} ix */
  column(n, flat, ix) {
    const { forms } = this;
    const { parents: ps, shape } = forms.node(n);
    const inner = shape.slice(2).reduce((a, b) => a * b, 1);
    const all = range(forms.size(n)).filter((k) => Math.floor(k / inner) % shape[1] === ix[1]);
    this.light(ps[0], all, "value");
    for (const p of ps.slice(1)) if (forms.size(p) === shape[1]) this.light(p, [ix[1]], "value");
    const { mean, std } = statistics(all.map((k) => this.at(ps[0], k)));
    this.text = `(${fmt(this.at(ps[0], flat), 3)} − mean ${fmt(mean, 3)} of its column) ÷ std ${fmt(std, 3)}${this.affine(ps, ix[1])}`;
  }

  /** @param {number[]} ps @param {number} k */
  affine(ps, k) {
    const [w, b] = ps.slice(1).filter((p) => this.forms.node(p).kind === "parameter");
    return w === undefined ? "" : `, × ${fmt(this.at(w, k), 3)}${b === undefined ? "" : ` + ${fmt(this.at(b, k), 3)}`}`;
  }

  /** @param {number[]} ps @param {number[]} ix */
  window(ps, ix) {
    const { forms } = this;
    const [x, w, bias] = ps;
    const [size, kernel] = [forms.node(x).shape, forms.node(w).shape];
    const { stride, padding } = geometry(forms, this.node);
    const [b, o, i, j] = ix;
    /** @type {number[]} */ const fx = [];
    /** @type {number[]} */ const fw = [];
    for (let c = 0; c < kernel[1]; c++) {
      for (let u = 0; u < kernel[2]; u++) {
        for (let t = 0; t < kernel[3]; t++) {
          const [y, z] = [i * stride[0] + u - padding[0], j * stride[1] + t - padding[1]];
          if (y < 0 || z < 0 || y >= size[2] || z >= size[3]) continue;
          fx.push(flatAt(size, [b, c, y, z]));
          fw.push(flatAt(kernel, [o, c, u, t]));
        }
      }
    }
    fx.forEach((k, t) => {
      this.terms.push({ kind: "product", numbers: [this.at(x, k), this.at(w, fw[t])], at: [this.one(x, k), this.one(w, fw[t])] });
    });
    this.light(x, fx, "value");
    this.light(w, fw, "value");
    if (bias !== undefined) {
      this.terms.push({ kind: "bias", numbers: [this.at(bias, o)], at: [this.one(bias, o)] });
      this.light(bias, [o], "value");
    }
    this.text = "the window times the kernel";
  }

  node = -1;

  /** @param {number} n @param {number[]} ps @param {number[]} ix */
  pool(n, ps, ix) {
    const { forms } = this;
    const size = forms.node(ps[0]).shape;
    const out = forms.node(n).shape;
    const by = [2, 3].map((d) => Math.max(1, Math.floor(size[d] / out[d])));
    const [b, o, i, j] = ix;
    const all = range(by[0]).flatMap((u) => range(by[1]).map((t) => flatAt(size, [b, o, i * by[0] + u, j * by[1] + t])));
    this.light(ps[0], all, "value");
    for (const k of all) this.terms.push({ kind: "operand", numbers: [this.at(ps[0], k)], at: [this.one(ps[0], k)] });
    this.text = forms.node(n).function.includes("max") ? "the largest of its window" : "the mean of its window";
  }

  /** @param {number} n @param {number[]} ps @param {number[]} ix @param {number} flat */
  lookedUp(n, ps, ix, flat) {
    const { forms } = this;
    const table = forms.node(ps[0]).shape;
    const wide = table.at(-1) ?? 1;
    const id = this.at(ps[1], Math.floor(flat / wide));
    if (ps.length !== 2 || table.length !== 2 || !Number.isInteger(id)) return this.operands(n, [], ix, flat);
    const row = id < 0 ? id + table[0] : id;
    this.light(
      ps[0],
      range(wide).map((t) => row * wide + t),
      "value",
    );
    this.terms.push({
      kind: "operand",
      numbers: [this.at(ps[0], row * wide + (ix.at(-1) ?? 0))],
      at: [this.one(ps[0], row * wide + (ix.at(-1) ?? 0))],
    });
    this.text = `row ${row} of ${forms.node(ps[0]).name}, looked up`;
  }

  /** @param {number} n @param {number[]} ps @param {number[]} ix @param {number} flat */
  operands(n, ps, ix, flat) {
    const { forms } = this;
    const node = forms.node(n);
    const [first, second] = ps;
    const scales =
      ps.length === 2 && /^(div|mul)$/.test(node.function) && forms.size(second) === 1 && isProduct(forms.node(first).function);
    if (scales) {
      this.product(forms.node(first).parents, ix);
      const by = this.at(second, 0);
      this.scale = node.function === "div" ? 1 / by : by;
      this.text += `, all of it ${node.function === "div" ? "÷" : "×"} ${fmt(by, 3)}`;
      return;
    }
    for (const p of ps) {
      const { shape } = forms.node(p);
      const same = forms.size(p) === forms.size(n) && shape.length !== node.shape.length;
      if (shape.length <= node.shape.length && fits(shape, node.shape)) {
        const k = same ? flat : flatAt(shape, ix);
        this.light(p, [k], "value");
        this.terms.push({ kind: "operand", numbers: [this.at(p, k)], at: [this.one(p, k)] });
      } else this.light(p, range(forms.size(p)), "value");
    }
    this.text = node.expr;
  }

  // ---- backward: which products of the users' gradients and the other factors are in a gradient

  /** @param {number} n @param {number} flat */
  backward(n, flat) {
    const { forms, step } = this;
    /** @type {Set<string>} */ const said = new Set();
    const uses = this.uses(n);
    const many = uses.length > 1;
    for (const [u, slot, q] of uses) {
      const { numbers, kind } = forms.side(u, step);
      const gone = forms.sent(u, step);
      if (!gone || !numbers || kind !== "gradient") continue;
      const k = q === n ? flat : forms.placeIn(q, flat);
      if (k < 0) continue;
      said.add(this.use(u, slot, q, k, numbers, many));
    }
    said.delete("");
    this.text = [...said].join("; ") || (n === forms.plan.root ? "where the backward pass starts" : "nothing has come back yet");
  }

  /** Who uses a tensor, also through views. @param {number} n @returns {[number, number, number][]} */
  uses(n) {
    const { forms } = this;
    return forms.users[n].flatMap(([u, slot]) => {
      const node = forms.node(u);
      if (node.kind === "operation" && node.free) return node.base ? this.uses(u) : [];
      return /** @type {[number, number, number][]} */ ([[u, slot, n]]);
    });
  }

  /** One use. @param {number} u @param {number} slot @param {number} q what is used: the tensor or a view of it @param {number} k
   * @param {ArrayLike<number>} g @param {boolean} many */
  use(u, slot, q, k, g, many) {
    const { forms } = this;
    const node = forms.node(u);
    const shape = forms.node(q).shape;
    const ix = indices(shape, k);
    const { function: f, parents: ps } = node;
    if (node.block) return "";
    if (isProduct(f)) return this.backProduct(u, slot, ix, g);
    if (f.startsWith("conv") && slot < 2) return slot ? this.backKernel(u, ix, g) : this.backWindow(u, ix, g);
    const rule = given(forms, u, slot);
    if (ROWS.test(f) && node.shape.length === shape.length && slot === 0) {
      const last = node.shape.at(-1) ?? 1;
      const first = k - (ix.at(-1) ?? 0);
      if (!f.includes("batch"))
        this.light(
          u,
          range(last).map((t) => first + t),
          "gradient",
        );
      return rule;
    }
    if (!LOOSE.test(f) && fits(shape, node.shape) && shape.length <= node.shape.length) {
      const all = range(forms.size(u)).filter((x) => flatAt(shape, indices(node.shape, x)) === k);
      this.light(u, all, "gradient");
      if (all.length > 1) for (const x of all) this.terms.push({ kind: "use", numbers: [g[x]], at: [this.cells(u, [x], "gradient")] });
      else if (many && f === "add") this.terms.push({ kind: "use", numbers: [g[all[0]]], at: [this.cells(u, all, "gradient")] });
      return rule || "the gradient as it is";
    }
    if (forms.size(u) === 1 || !ps.length) this.light(u, [0], "gradient");
    return rule;
  }

  /** @param {number} u @param {number} slot @param {number[]} ix @param {ArrayLike<number>} g */
  backProduct(u, slot, ix, g) {
    const { forms } = this;
    const { parents: ps, shape } = forms.node(u);
    const [A, B] = ps.slice(-2);
    const [a, b] = [forms.node(A).shape, forms.node(B).shape];
    /** @type {number[]} */ const fg = [];
    /** @type {number[]} */ const fo = [];
    if (a.length < 2 || b.length < 2) return "";
    let other = B;
    let text = "";
    if (slot === ps.length - 2) {
      for (const j of range(shape.at(-1) ?? 1)) {
        fg.push(flatAt(shape, [...ix.slice(0, -1), j]));
        fo.push(flatAt(b, [...ix.slice(0, -2), ix.at(-1) ?? 0, j]));
      }
      text = `a gradient row of ${forms.node(u).name} times a row of ${forms.node(B).name}`;
    } else if (slot === ps.length - 1) {
      other = A;
      const rows = shape.at(-2) ?? 1;
      const leads = b.length < shape.length ? shape.slice(0, -2).reduce((x, y) => x * y, 1) : 1;
      for (const r of range(rows * leads)) {
        const before = leads > 1 ? [...indices(shape.slice(0, -2), Math.floor(r / rows)), r % rows] : [...ix.slice(0, -2), r];
        fg.push(flatAt(shape, [...before, ix.at(-1) ?? 0]));
        fo.push(flatAt(a, [...before, ix.at(-2) ?? 0]));
      }
      text = `a column of ${forms.node(A).name} times a gradient column of ${forms.node(u).name}`;
    } else {
      const last = shape.at(-1) ?? 1;
      const all = range(forms.size(u) / last).map((r) => r * last + (ix.at(-1) ?? 0));
      this.light(u, all, "gradient");
      for (const k of all) this.terms.push({ kind: "use", numbers: [g[k]], at: [this.cells(u, [k], "gradient")] });
      return `a gradient column of ${forms.node(u).name}, added up: the bias was used in every row`;
    }
    fg.forEach((k, t) => {
      this.terms.push({
        kind: "product",
        numbers: [g[k], this.at(other, fo[t])],
        at: [this.cells(u, [k], "gradient"), this.one(other, fo[t])],
      });
    });
    this.light(u, fg, "gradient");
    this.light(other, fo, "value");
    return text;
  }

  /** @param {number} u @param {number[]} ix @param {ArrayLike<number>} g */
  backWindow(u, ix, g) {
    const { forms } = this;
    const { parents: ps, shape } = forms.node(u);
    const kernel = forms.node(ps[1]).shape;
    const { stride, padding } = geometry(forms, u);
    for (const o of range(shape[1])) {
      for (const a of range(kernel[2])) {
        for (const b of range(kernel[3])) {
          const [y, z] = [(ix[2] + padding[0] - a) / stride[0], (ix[3] + padding[1] - b) / stride[1]];
          if (y < 0 || z < 0 || y >= shape[2] || z >= shape[3] || y % 1 || z % 1) continue;
          this.both(u, flatAt(shape, [ix[0], o, y, z]), ps[1], flatAt(kernel, [o, ix[1], a, b]), g);
        }
      }
    }
    this.gather(u, ps[1]);
    return "every window that it is in, times the kernel";
  }

  /** @param {number} u @param {number[]} ix @param {ArrayLike<number>} g */
  backKernel(u, ix, g) {
    const { forms } = this;
    const { parents: ps, shape } = forms.node(u);
    const size = forms.node(ps[0]).shape;
    const { stride, padding } = geometry(forms, u);
    const [o, c, a, b] = ix;
    for (const s of range(shape[0])) {
      for (const i of range(shape[2])) {
        for (const j of range(shape[3])) {
          const [y, z] = [i * stride[0] + a - padding[0], j * stride[1] + b - padding[1]];
          if (y < 0 || z < 0 || y >= size[2] || z >= size[3]) continue;
          this.both(u, flatAt(shape, [s, o, i, j]), ps[0], flatAt(size, [s, c, y, z]), g);
        }
      }
    }
    this.gather(u, ps[0]);
    return "the gradient of every window, times the number of it that this weight met";
  }

  /** A product of a gradient and a value. @param {number} u @param {number} k @param {number} other @param {number} o @param {ArrayLike<number>} g */
  both(u, k, other, o, g) {
    this.terms.push({ kind: "product", numbers: [g[k], this.at(other, o)], at: [this.cells(u, [k], "gradient"), this.one(other, o)] });
  }

  /** Light what the products are of. @param {number} u @param {number} other */
  gather(u, other) {
    const of = (/** @type {number} */ base, /** @type {string} */ side) =>
      this.terms.flatMap((t) => t.at.filter((l) => l.base === base && l.side === side).flatMap((l) => [...l.cells]));
    for (const [n, side] of /** @type {[number, string][]} */ ([
      [this.forms.base(u), "gradient"],
      [this.forms.base(other), "value"],
    ]))
      this.lit.push({ base: n, cells: new Set(of(n, side)), side });
  }
}

/** The recorded rule by which an operation sends its gradient to an operand, with this in the place of g.
 * @param {Forms} forms @param {number} n @param {number} slot @param {string} gradient */
function spoken(forms, n, slot, gradient) {
  const { rules, parents } = forms.node(n);
  const named = parents.some((p) => /\bg\b/.test(`${forms.node(p).name} ${forms.node(p).expr ?? ""}`)); // a tensor of that name, too
  return (rules?.[slot] ?? "").replace(named ? /\bg\b/ : /\bg\b/g, gradient);
}

/** @param {string} name */
const whole = (name) => (name.includes(" ") ? `(${name})` : name);
/** @param {string} name */
const transposed = (name) => (name.endsWith("ᵀ") && !name.includes(" ") ? name.slice(0, -1) : `${whole(name)}ᵀ`);

/** What an operation gives to one of its operands on the way back, made of its own gradient; "": nothing.
 * @param {Forms} forms @param {number} n @param {number} slot @returns {string} */
export function given(forms, n, slot) {
  const { function: f, parents: ps, name, rules } = forms.node(n);
  if (!rules?.[slot]) return "";
  const gradient = `∂ ${whole(name)}`;
  const [a, b] = ps.slice(-2).map((p) => forms.node(p));
  const ranks = isProduct(f) && a.shape.length > 1 && b.shape.length > 1;
  if (ranks && slot === ps.length - 2) return `${gradient} @ ${transposed(b.name)}`;
  if (ranks && slot === ps.length - 1) return `${transposed(a.name)} @ ${gradient}`;
  const summed = /^[−-]?g$/.test(rules[slot]) && forms.size(ps[slot]) < forms.size(n);
  return `${spoken(forms, n, slot, gradient)}${summed ? ", added up" : ""}`;
}

/** The same for all of its operands, once its gradient is there. @param {Forms} forms @param {number} n @param {number} step */
export function gives(forms, n, step) {
  if (forms.side(n, step).kind !== "gradient") return [];
  const lines = forms.node(n).parents.map((p, slot) => [`∂ ${forms.node(p).name}`, given(forms, n, slot)]);
  return [...new Set(lines.filter(([, text]) => text).map(([to, text]) => `${to} ← ${text}`))];
}

/** What the gradient of a tensor is made of after a step: what each operation that uses it has given; null: it is not there.
 * @param {Forms} forms @param {number} n @param {number} step @returns {string|null} */
export function received(forms, n, step) {
  if (forms.side(n, step).kind !== "gradient") return null;
  /** @param {number} i @returns {string[]} */
  const from = (i) =>
    forms.users[i].flatMap(([u, slot]) => {
      const { free, base } = forms.node(u);
      if (free && base) return from(u);
      const text = forms.sent(u, step) ? given(forms, u, slot) : "";
      return text ? [text] : [];
    });
  return from(n).join(" + ");
}

/** @param {number[]} xs */
function statistics(xs) {
  const mean = xs.reduce((a, b) => a + b, 0) / xs.length;
  return { mean, std: Math.sqrt(xs.reduce((a, b) => a + (b - mean) ** 2, 0) / xs.length) };
}

/** May a tensor of the one shape be broadcast to the other? @param {number[]} shape @param {number[]} to */
const fits = (shape, to) => shape.every((n, d) => n === 1 || n === to[d + to.length - shape.length]);

/** Stride and padding of a convolution, from its sizes: the recorded expression says them where they are not 1 and 0.
 * @param {Forms} forms @param {number} u */
function geometry(forms, u) {
  const pair = (/** @type {string} */ name, /** @type {number} */ usual) => {
    const found = new RegExp(`${name}=\\(?(\\d+)(?:, ?(\\d+))?`).exec(forms.node(u)?.expr ?? "");
    return found ? [Number(found[1]), Number(found[2] ?? found[1])] : [usual, usual];
  };
  const [stride, padding] = [pair("stride", 1), pair("padding", 0)];
  return { stride, padding };
}

/** What a number of a tensor is made of after a step. @param {Forms} forms @param {number} step @param {number} node @param {number} flat
 * @returns {Explained} */
export function explain(forms, step, node, flat) {
  const n = forms.base(node);
  const k = forms.place(node, flat);
  const shown = forms.side(node, step).kind === "gradient" ? node : n;
  const side = forms.side(shown, step);
  const back = side.kind === "gradient";
  const e = new Explainer(forms, step);
  e.node = n;
  const at = shown === n ? k : flat;
  e.light(shown, [at], back ? "gradient" : "value");
  if (back) e.backward(shown, at);
  else e.forward(n, k);
  const { shape } = forms.node(node);
  const number = side.numbers ? side.numbers[at] : null;
  const value = number === null || back ? number : shownOf(forms.node(shown), [number])[0];
  return { node, flat, ix: indices(shape, flat), value, back, lit: e.lit, terms: e.terms, text: e.text, scale: e.scale };
}
