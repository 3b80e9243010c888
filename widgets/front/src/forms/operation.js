// One operation with its numbers, and the operations of a part as a list: figures that are laid out when they are opened. Pure functions.

import { indices } from "./data.js";
import { isProduct, received } from "./explain.js";

/** @import { Figure, Sheet } from "../types" */
/** @import { Said } from "./canvas.js" */
/** @import { Forms } from "./data.js" */

const [MONO, SANS] = [7.3, 6]; // pixels of a character
const PRODUCT = [38, 30, 24, 20, 16, 13, 11, 9, 7, 5, 4, 3];
const FEW = [38, 35, 30, 24, 20, 16, 13, 11, 9, 7, 5, 4, 3];
const MANY = [24, 20, 16, 13, 11, 9, 7, 5, 4, 3]; // of more than 12 rows
const HIGH = 20; // pixels of a cell that has its number in it
const LOOSE = /conv|pool|embedding|index|nll|norm|softmax|sum|mean|cat|stack/;
/** @type {Record<string, string>} */
const SIGNS = { add: "+", sub: "−", mul: "×", div: "÷", mm: "@", addmm: "@", linear: "@", bmm: "@", matmul: "@" };

/** @param {number[]} sizes @param {(c: number) => number} wide @param {number} room */
const largest = (sizes, wide, room) => sizes.find((c) => wide(c) <= room) ?? sizes[sizes.length - 1];

class Draw {
  /** @type {Sheet[]} */ sheets = [];
  /** @type {Said[]} */ words = [];
  h = 0;
  /** Of planes the one that is looked at. */ plane = 0;

  /** @param {Forms} forms @param {number} w */
  constructor(forms, w) {
    this.forms = forms;
    this.w = w;
  }

  /** Rows, columns, where they begin, and the step from one sample or head to the next. @param {number} n @param {number} [plane] */
  size(n, plane = this.plane) {
    const { shape } = this.forms.node(n);
    const [r, c] = [shape.length > 1 ? shape[shape.length - 2] : 1, shape.at(-1) ?? 1];
    const outer = shape.slice(0, -2);
    if (outer.length === 2 && this.forms.plan.heads === 1) {
      const off = Math.min(plane, outer[1] - 1) * r * c;
      return { r, c, off, lead: outer[0] > 1 ? [outer[1] * r * c, outer[0], 0, 1] : undefined };
    }
    const heads = outer.length > 1 ? outer[outer.length - 1] : 1;
    const samples = outer.slice(0, outer.length > 1 ? -1 : undefined).reduce((a, b) => a * b, 1);
    return { r, c, off: 0, lead: samples * heads > 1 ? [heads * r * c, samples, r * c, heads] : undefined };
  }

  /** @param {number} n @param {number} x @param {number} y @param {number} cw @param {number} ch @param {string} name @param {string} [sub] @param {number} [plane] */
  sheet(n, x, y, cw, ch, name, sub, plane) {
    const { r, c, off, lead } = this.size(n, plane);
    /** @type {Sheet} */ const sheet = { n, x, y, cw, ch, r, c, off };
    if (lead) sheet.lead = lead;
    const { log } = this.forms.node(n);
    if (log !== undefined) sheet.prob = [log, r];
    if (name) sheet.label = [x, y - 6, "start", name];
    this.sheets.push(sheet);
    this.h = Math.max(this.h, y + r * ch + 4);
    if (sub) this.text(x, y + r * ch + 14, sub, "s");
    return sheet;
  }

  /** @param {number} x @param {number} y @param {string} t @param {string} [c] @param {string} [a] @param {Said["back"]} [back] */
  text(x, y, t, c, a, back) {
    this.words.push({ x, y, t, ...(c ? { c } : {}), ...(a ? { a } : {}), ...(back ? { back } : {}) });
    this.h = Math.max(this.h, y + 4);
  }

  /** A sign of the equation that makes a tensor; once its gradient is there, another one: that is not made of its operands.
   * @param {number} x @param {number} y @param {string} t @param {number} n @param {string} back */
  sign(x, y, t, n, back) {
    this.text(x, y, t, "m", "middle", (step) => (this.forms.side(n, step).kind === "gradient" ? back : null));
  }

  /** @returns {Figure} */
  figure() {
    return { w: this.w, h: Math.ceil(this.h + 2), sheets: this.sheets, wires: [], words: this.words, signs: [] };
  }
}

/** The end of a name for which there is no room. @param {string} name @param {number} room */
function cut(name, room) {
  const most = Math.max(3, Math.floor(room / MONO));
  return name.length <= most ? name : `…${name.slice(1 - most)}`;
}

/** What is added, with its whole name or with the end of it. @param {string} said @param {number} room */
const fitted = (said, room) => (said.length * MONO <= room ? said : `+ ${said.slice(2).split(".").pop()}`);

/** The beginning of an expression for which there is no room. @param {string} text @param {number} room */
function head(text, room) {
  const most = Math.max(3, Math.floor(room / SANS));
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

/** One operation: a product as a corner, else its operands and its result in one row.
 * @param {Forms} forms @param {number} n @param {number} w @param {{node: number, flat: number}|null} [pin] a number that is looked at
 * @returns {Figure} */
export function operationFigure(forms, n, w, pin = null) {
  const node = forms.node(n);
  const draw = new Draw(forms, w);
  const at = pin ? indices(forms.node(pin.node).shape, pin.flat) : [];
  draw.plane = at.length === 4 ? at[pin?.node === node.parents[1] ? 0 : 1] : 0; // of a kernel the plane that it makes
  if (node.function.startsWith("conv") && node.shape.length === 4) windows(draw, n, w);
  else if (isProduct(node.function) && node.shape.length > 1) corner(draw, n, w);
  else inRow(draw, n, w);
  return draw.figure();
}

/** The left factor to the left of the result, the right factor above it. @param {Draw} draw @param {number} n @param {number} w */
function corner(draw, n, w) {
  const { forms } = draw;
  const { parents } = forms.node(n);
  const [A, B] = parents.slice(-2);
  const bias = parents.length === 3 ? parents[0] : -1;
  const [a, b] = [draw.size(A), draw.size(B)];
  const wide = (/** @type {number} */ c) => (a.c + b.c) * c + 110;
  const tall = a.r + b.r;
  const cw = largest(PRODUCT, (c) => (c >= 33 && tall > 26 ? 1e9 : tall * Math.min(c, HIGH) > 640 && c > 3 ? 1e9 : wide(c)), w);
  const ch = Math.min(cw, HIGH);
  const top = 26;
  const y = top + b.r * ch + (bias >= 0 ? ch + 12 : 0) + 30;
  const x = 14;
  const right = x + a.c * cw + 34;
  draw.sheet(A, x, y, cw, ch, cut(forms.node(A).name, a.c * cw + 26), `${a.r} × ${a.c}`);
  draw.sheet(B, right, top, cw, ch, cut(forms.node(B).name, w - right));
  if (bias >= 0) {
    draw.sheet(bias, right, y - 26 - ch, cw, ch, "");
    draw.text(right + b.c * cw + 8, y - 26 - ch / 2 + 4, fitted(`+ ${forms.node(bias).name}`, w - right - b.c * cw - 8), "s");
  }
  draw.text(right + b.c * cw + 8, top + (b.r * ch) / 2 + 4, `${b.r} × ${b.c}`, "s");
  draw.sheet(n, right, y, cw, ch, cut(forms.node(n).name, w - right), `${a.r} × ${b.c}`);
}

/** A convolution: the planes that are read, each above its part of the kernel, and the plane that is made of them.
 * @param {Draw} draw @param {number} n @param {number} w */
function windows(draw, n, w) {
  const { forms, plane } = draw;
  const [x, kernel, bias] = forms.node(n).parents;
  const [, planes, rows, columns] = forms.node(x).shape;
  const [of, , kr, kc] = forms.node(kernel).shape;
  const { r, c } = draw.size(n);
  const across = Math.min(planes, 4);
  const gap = 16;
  const cell = largest(MANY, (q) => (Math.max(columns, kc) * q + gap) * across + c * q + 60, w);
  const pitch = Math.max(columns, kc) * cell + gap;
  const high = Math.max(rows, r) * cell;
  const down = Math.ceil(planes / across);
  for (let k = 0; k < planes; k++) {
    const [left, top] = [6 + (k % across) * pitch, 26 + Math.floor(k / across) * (high + kr * cell + 34)];
    const name = k % across ? "" : cut(forms.node(x).name, pitch * Math.min(across, planes) - gap);
    draw.sheet(x, left, top, cell, cell, k ? "" : name, "", k);
    draw.sheets.push({
      n: kernel,
      x: left,
      y: top + rows * cell + 12,
      cw: cell,
      ch: cell,
      r: kr,
      c: kc,
      off: (plane * planes + k) * kr * kc,
    });
    if (!k) draw.text(left + kc * cell + 6, top + rows * cell + 12 + (kr * cell) / 2 + 4, "kernel", "s");
    draw.h = Math.max(draw.h, top + rows * cell + kr * cell + 16);
  }
  const left = 6 + pitch * across + 26;
  const mid = 26 + ((down - 1) * (high + kr * cell + 34)) / 2;
  draw.sign(left - 24, mid + high / 2 + 4, "=", n, "←");
  draw.sheet(n, left, mid, cell, cell, cut(forms.node(n).name, w - left), `plane ${plane + 1} of ${of}`);
  if (bias === undefined) return;
  draw.sheets.push({ n: bias, x: left, y: mid + r * cell + 24, cw: cell, ch: cell, r: 1, c: 1, off: plane });
  draw.text(left + cell + 6, mid + r * cell + 24 + cell / 2 + 4, "bias", "s");
  draw.h = Math.max(draw.h, mid + (r + 1) * cell + 28);
}

/** Element by element, rows, windows: a stretched operand is drawn as often as it is used, the first time at full strength.
 * @param {Draw} draw @param {number} n @param {number} w */
function inRow(draw, n, w) {
  const { forms } = draw;
  const node = forms.node(n);
  const all = [...new Set(node.parents)]
    .filter((p) => forms.size(p) > 0 && (forms.value(p) || forms.node(p).kind === "operation"))
    .slice(0, 4);
  const loose = LOOSE.test(node.function);
  const own = [...all, n].map((q) => draw.size(q));
  const result = own[own.length - 1];
  const shown = own.map((size, k) => {
    const stretched = !loose && k < all.length && size.r * size.c > 1 && result.r % size.r === 0 && result.c % size.c === 0;
    return stretched ? { r: result.r, c: result.c } : size;
  });
  const total = shown.reduce((sum, { c }) => sum + c, 0);
  const rows = Math.max(...shown.map(({ r }) => r));
  const cw = largest(rows <= 12 ? FEW : MANY, (c) => total * c + shown.length * 38 + 6, w);
  const ch = cw >= 35 ? HIGH : cw;
  let x = 6;
  [...all, n].forEach((q, k) => {
    const { r, c } = shown[k];
    const sheet = draw.sheet(q, x, 26, cw, ch, cut(forms.node(q).name, c * cw + 30));
    const times = (r * c) / (own[k].r * own[k].c);
    if (times > 1) {
      if (!sheet.lead) sheet.wrap = [own[k].r, own[k].c];
      if (!sheet.lead) Object.assign(sheet, { r, c });
      draw.h = Math.max(draw.h, 26 + r * ch + 4);
    }
    draw.text(x, 26 + sheet.r * ch + 14, `${own[k].r} × ${own[k].c}${times > 1 ? `, used ${times} times` : ""}`, "s");
    x += c * cw;
    if (k === all.length) return;
    const sign = k < all.length - 1 ? (SIGNS[node.function] ?? ",") : all.length === 1 ? "→" : "=";
    draw.sign(x + 19, 26 + (Math.min(rows, 8) * ch) / 2 + 5, sign, n, k < all.length - 1 ? "," : "←");
    x += 38;
  });
}

/** The operations of a part, one in a line: its name, its numbers, and how it is computed.
 * @param {Forms} forms @param {number[]} ops @param {number} w @returns {Figure} */
export function listFigure(forms, ops, w) {
  const draw = new Draw(forms, w);
  const inside = new Set(ops);
  const outer = [...new Set(ops.flatMap((i) => forms.node(i).parents.map((p) => forms.base(p))))].filter(
    (p) => !inside.has(p) && forms.node(p).kind !== "parameter" && forms.node(p).kind !== "constant" && forms.value(p),
  );
  const lines = [...outer, ...ops];
  const left = Math.min(w * 0.3, 150);
  const wide = Math.max(...lines.map((i) => draw.size(i).c));
  const cw = largest(FEW, (c) => c * wide, (w - left) * 0.6);
  let y = 10;
  for (const i of lines) {
    const { r, c } = draw.size(i);
    const ch = cw >= 33 ? HIGH : Math.max(Math.min(cw, HIGH), r > 4 ? 4 : 12);
    const high = Math.max(r * ch, 16);
    const node = forms.node(i);
    const named = node.kind !== "operation" || node.expr !== node.name;
    draw.text(left - 10, y + high / 2 + 4, cut(named ? node.name : (SIGNS[node.function] ?? node.function), left - 12), "m", "end");
    draw.sheet(i, left, y, cw, ch, "");
    const after = left + c * cw + 14;
    if (node.kind === "operation" && w - after > 60) {
      const back = (/** @type {number} */ step) => {
        const from = received(forms, i, step);
        return from === null ? null : head(`← ${from}`, w - after);
      };
      draw.text(after, y + high / 2 + 4, head(`= ${node.expr}`, w - after), "s", "", back);
    }
    y += high + 9;
  }
  return draw.figure();
}
