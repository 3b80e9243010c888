// The picture of a network: layers from left to right, neurons as circles, weights as wires, samples as a stack, the loss at the end.
// Laid out for the width of the stage, never scaled to it. Elements are kept by key, so focus survives a step.

import { Memo, s, put as write } from "../dom.js";
import { fmt } from "../model/numbers.js";
import { BOXED, curve, geometry, NAMED, shortest } from "./geometry.js";
import { drawNeuron, rowOf } from "./neuron.js";
import { gradText, partsOf, short } from "./numbers.js";
import { networkSentence, pointedSentence } from "./words.js";

/** @import { Frame, View } from "../view.js" */
/** @import { Network, Sample } from "./numbers.js" */
/** @import { Geometry } from "./geometry.js" */
/** @import { Attributes } from "../dom.js" */
/** @import { Opened } from "./neuron.js" */

const LEAST = 300; // pixels; on a narrower stage the picture is smaller
const SMALLEST = 0.82; // and smaller than this it scrolls
const WIRES = 600; // between two columns; of more only the strongest are drawn
const CLOSE = 31.5; // pixels of a box: narrower ones stand so close that their names are smaller
const ABOVE = 23; // pixels above such a box of the error that its name stands, so that it does not meet the name of the loss
const DENSE = 100; // wires between two columns from which thin ones step back, and from which those that look alike are one path
const LEVELS = 16; // of strength, of such paths

/** @param {number} v */
const sign = (v) => (v < 0 ? "neg" : "pos");

/** What a step has made known of a network.
 * @typedef {{known: (part: string) => boolean, arrived: (part: string) => boolean, sent: (part: string) => boolean, back: boolean}} Progress */

/** @param {Network} network @param {Frame} frame @returns {Progress} */
export function progressOf({ plan }, { trace, now, back, step, forward }) {
  const at = new Map(partsOf(plan).map((name, k) => [name, k]));
  const id = (/** @type {string} */ part) => at.get(part) ?? -1;
  return {
    known: (part) => !!now.known[id(part)],
    arrived: (part) => (id(part) === trace.root ? step > forward : trace.edges.some((e) => e.source === id(part) && !!now.sent[e.id])),
    sent: (part) => trace.edges.some((e) => e.target === id(part) && !!now.sent[e.id]),
    back,
  };
}

export class NetworkScene {
  svg = s("svg");
  /** @type {never[]} */ cards = [];
  /** @type {never[]} */ wires = [];
  marked = null;
  reopened = -1;
  difference = "";
  /** @type {Geometry|null} */ #at = null;
  #scrolls = false; // is the stage too narrow for it?
  /** The ways of the wires in this geometry. @type {string[]} */ #ways = [];
  /** @type {Map<string, SVGElement>} */ #pool = new Map();
  /** What each element was given last: asking the page for it takes longer. @type {WeakMap<Element, Attributes>} */ #given = new WeakMap();
  /** @type {Set<string>} */ #used = new Set();
  /** What each part was drawn for last, and its elements. @type {Map<string, {memo: Memo, keys: Set<string>}>} */ #parts = new Map();
  /** @type {Map<Element, Element>} */ #last = new Map();
  /** @type {Record<string, SVGGElement>} */ #layers = {};
  /** @type {Frame|null} */ #frame = null;
  /** The cell that the mouse or the keyboard is on, or -1. */ pointed = -1;
  /** What the mouse is on, and the step at which it came there: the sentence tells of it until the next one. */
  #over = { cell: -1, parameter: -1, step: -1 };
  /** @type {Set<number>|null} cells that a search has found */ #hits = null;
  /** The cell that takes the Tab key. */ stop = -1;
  /** The neuron that is open, or -1. */ open = -1;
  /** Of its multiplications the one that is open, by its parameter, or -1. */ product = -1;
  /** The column that is looked at in a network that has no room for all, or -1. */ focus = -1;

  /** @param {View} view */
  constructor(view) {
    this.view = view;
  }

  /** @returns {Network} */
  get network() {
    return /** @type {Network} */ (this.view.state.network);
  }

  /** @returns {Sample} */
  get sample() {
    return this.network.sample(this.view.state.sample);
  }

  draw() {
    this.#pool.clear();
    this.#parts.clear();
    this.#layers = Object.fromEntries(["wires", "hits", "cells", "panel", "top"].map((name) => [name, s("g")]));
    this.svg = s("svg", { class: "mg-svg mg-net-svg", role: "group", "aria-label": "network" }, ...Object.values(this.#layers));
    this.view.shell.stage.replaceChildren(this.svg);
    this.view.offscreen.reset([]);
    this.#at = null;
    this.#hits = null;
    this.#over = { cell: -1, parameter: -1, step: -1 };
    const { plan, inner } = this.network;
    if (inner) this.open = inner.cell;
    else if (this.view.answered || this.open >= plan.cells.length) this.open = -1;
    if (this.focus >= plan.columns.length) this.focus = -1;
    if (this.open >= 0) this.stop = this.open;
    else if (this.stop < 0 || this.stop >= plan.cells.length) this.stop = plan.columns[1]?.cells[0] ?? 0;
    this.svg.addEventListener("pointerover", (e) => this.#point(e.target));
    this.svg.addEventListener("pointerleave", () => this.#point(null));
    this.svg.addEventListener("click", (e) => this.#click(/** @type {Element} */ (e.target)));
  }

  /** Lay it out for this width; how large it is drawn: on a very narrow stage it has to scroll. @param {number} wide */
  flow(wide) {
    this.#at = geometry(this.network.plan, Math.max(LEAST, wide), this.#openColumn, this.focus);
    this.#ways = [];
    const { w, h } = this.#at;
    const scale = Math.max(SMALLEST, Math.min(1, wide / w));
    this.#scrolls = w * scale > wide + 1;
    for (const [k, v] of Object.entries({ viewBox: `0 0 ${w} ${h}`, width: w * scale, height: h * scale }))
      this.svg.setAttribute(k, String(v));
    if (this.#frame) this.paint();
    return scale;
  }

  /** The column of the neuron that is open, or 0. */
  get #openColumn() {
    return this.open < 0 ? 0 : this.#columnOf(this.open);
  }

  /** @param {number} cell */
  #columnOf(cell) {
    return this.network.plan.columns.findIndex((c) => c.cells.includes(cell));
  }

  /** @param {Frame} frame */
  update(frame) {
    this.#frame = frame;
    if (this.#at) this.paint();
  }

  // ---- elements by key

  /** @param {Element} parent @param {string} key @param {keyof SVGElementTagNameMap} tag @param {Attributes} attributes @param {string} [text] */
  #put(parent, key, tag, attributes, text) {
    let e = this.#pool.get(key);
    if (!e) {
      e = /** @type {SVGElement} */ (s(tag));
      this.#pool.set(key, e);
      this.#given.set(e, {});
    }
    const before = this.#last.get(parent);
    const next = before ? before.nextSibling : parent.firstChild;
    if (next !== e) parent.insertBefore(e, next);
    this.#used.add(key);
    this.#last.set(parent, e);
    const given = /** @type {Attributes} */ (this.#given.get(e));
    for (const k in attributes) {
      const v = attributes[k];
      if (given[k] === v) continue;
      given[k] = v;
      if (v == null || v === false) e.removeAttribute(k);
      else e.setAttribute(k, String(v));
    }
    if (text !== undefined) write(e, text);
    return e;
  }

  /** Draw a part of the picture again only if one of these is another than the last time: most of it stays as it is from step to step.
   * @param {string} key @param {any[]} values @param {() => void} run */
  #part(key, values, run) {
    const part = this.#parts.get(key) ?? { memo: new Memo(), keys: new Set() };
    this.#parts.set(key, part);
    const used = this.#used;
    if (!part.memo.same(...values)) {
      part.keys = this.#used = new Set();
      run();
      this.#used = used;
    }
    for (const k of part.keys) used.add(k);
  }

  // ---- drawing

  paint() {
    const { view } = this;
    const at = this.#at;
    const frame = this.#frame;
    if (!at || !frame || !view.state.network) return;
    this.#used = new Set();
    this.#last = new Map();
    const done = progressOf(this.network, frame);
    this.#drawWires(at, done);
    this.#drawTail(at, done);
    this.#drawCells(at, done);
    this.#drawNames(at);
    this.#drawBoxes(at, done, frame);
    this.#drawOpen(at, this.opened(done, frame));
    this.#drawMark(at);
    for (const [key, e] of this.#pool) {
      if (this.#used.has(key)) continue;
      e.remove();
      this.#pool.delete(key);
    }
  }

  /** A wire: green and solid for positive, a violet rail for negative, dashed and orange going back; thick is large.
   * @param {Element} g @param {string} key @param {string} d @param {number} v @param {number} most
   * @param {{back?: boolean, idle?: boolean, dense?: boolean, dim?: boolean, plain?: boolean, moving?: boolean}} o */
  #wire(g, key, d, v, most, { back = false, idle = false, dense = false, dim = false, plain = false, moving = false }) {
    const t = most > 0 && Number.isFinite(v) ? Math.min(1, Math.abs(v) / most) : 0;
    const w = plain ? 1.6 : dense ? 0.5 + 3.2 * t * t : 0.8 + 4.2 * t;
    const strong = (plain ? 0.9 : 0.28 + 0.62 * t) * (dense ? 0.2 + 0.8 * t * t : 1);
    const rail = v < 0 && w > 1.6;
    const opacity = strong * (idle ? 0.4 : 1) * (dim ? 0.18 : 1);
    const kind = back ? "bwd" : plain ? "fwd" : sign(v);
    this.#put(g, key, "path", {
      d,
      class: `mg-net-wire mg-net-${kind}${moving ? " mg-net-moving" : ""}`,
      "stroke-width": (w + (rail ? 1.2 : 0)).toFixed(2),
      "stroke-opacity": opacity.toFixed(2),
    });
    if (rail) this.#put(g, `${key}~`, "path", { d, class: "mg-net-rail", "stroke-width": Math.max(0.8, w - 1.4).toFixed(2) });
  }

  /** @param {Geometry} at @param {Progress} done */
  #drawWires(at, done) {
    const { plan, weights, weightGrads } = this.network;
    const { deltas, grads } = this.sample;
    const columnOf = new Map(plan.columns.flatMap((column, c) => column.cells.map((i) => /** @type {[number, number]} */ ([i, c]))));
    const { sample, wires } = this.view.state;
    const sends = wires === "sends";
    /** @type {number[][]} */
    const by = plan.columns.map(() => []);
    for (const [i, { target }] of plan.wires.entries()) by[columnOf.get(target) ?? 0].push(i);
    const opened = this.open < 0 || at.low ? [] : plan.wires.filter((l) => l.target === this.open && l.parameter >= 0);
    for (const [c, all] of by.entries()) {
      const dense = all.length > DENSE;
      const back = done.sent(String(c));
      const idle = done.back ? !back : !done.known(String(c));
      const moving = dense && back && !!this.#frame?.dragging; // dashes take most of the time of a frame
      const g = this.#put(this.#layers.wires, `wires${c}`, "g", {});
      const over = this.#put(this.#layers.hits, `hits${c}`, "g", {});
      const of = [at, this.network, back, idle, moving, back && wires, back && sample, this.pointed, this.open];
      this.#part(`wires${c}`, of, () => {
        const found = all.map((i) => {
          const { parameter, source, target } = plan.wires[i];
          const weight = parameter < 0 ? NaN : weights[parameter];
          const passes = back && !(sends && Number.isNaN(grads[source])); // a plain number is passed nothing
          const v = !passes ? weight : sends ? weight * deltas[target] : parameter < 0 ? NaN : weightGrads[parameter];
          return { i, v, size: Number.isFinite(v) ? Math.abs(v) : 0, passes };
        });
        const mosts = [false, true].map((way) => found.reduce((m, x) => (x.passes === way ? Math.max(m, x.size) : m), 0));
        const shown = found.sort((a, b) => a.size - b.size).slice(-WIRES);
        /** @type {[number, Attributes][]} */
        const hits = []; // in the order of the plan, so that none moves when the order of the strengths changes
        /** Wires that look alike, in the order of their strength. @type {Map<string, {ways: string[], v: number, dim: boolean, plain: boolean, back: boolean}>} */
        const bundles = new Map();
        for (const { i, v, size, passes } of shown) {
          const most = mosts[Number(passes)];
          const { source, target, parameter } = plan.wires[i];
          if (at.hidden[c] && at.hidden[columnOf.get(source) ?? 0]) continue;
          const way = () => {
            const x1 = at.x[columnOf.get(source) ?? 0] + this.#half(at, columnOf.get(source) ?? 0);
            const row = opened.indexOf(plan.wires[i]);
            const [x2, y2] = row >= 0 ? [at.panel, rowOf(at, row, opened.length)] : [at.x[c] - this.#half(at, c), at.y[target]];
            return curve(x1, at.y[source], x2, y2);
          };
          this.#ways[i] ??= way();
          const d = this.#ways[i];
          const behind = this.open >= 0 && c === this.#openColumn && target !== this.open;
          const dim = behind || (this.pointed >= 0 && this.pointed !== source && this.pointed !== target);
          const plain = parameter < 0 && !passes;
          if (dense) {
            const level = most > 0 ? Math.round((LEVELS * Math.min(size, most)) / most) : 0;
            const key = `d${c}.${v < 0 ? -level : level}${plain ? "p" : ""}${dim ? "d" : ""}${passes ? "b" : ""}`;
            const alike = bundles.get(key) ?? { ways: [], v: (v < 0 ? -level : level) / LEVELS, dim, plain, back: passes };
            bundles.set(key, alike);
            alike.ways.push(d);
          } else this.#wire(g, `w${i}`, d, v, most, { back: passes, idle: idle || passes !== back, dim, plain });
          if (!dense && parameter >= 0) hits.push([i, { d, class: "mg-net-hit", "data-parameter": parameter }]);
        }
        for (const [key, { ways, v, dim, plain, back: passes }] of bundles)
          this.#wire(g, key, ways.join(""), v, 1, {
            back: passes,
            idle: idle || passes !== back,
            dense,
            dim,
            plain,
            moving: moving && passes,
          });
        for (const [i, hit] of hits.sort((a, b) => a[0] - b[0])) this.#put(over, `w${i}h`, "path", hit);
      });
      if (all.length > WIRES) {
        const words = `the ${WIRES} strongest of ${all.length} wires`;
        this.#put(this.#layers.top, `wn${c}`, "text", { x: at.x[c] - at.gap / 2, y: at.h - 4, class: "mg-net-small" }, words);
      }
    }
  }

  /** Half the width of a column's cells. @param {Geometry} at @param {number} c */
  #half(at, c) {
    return at.hidden[c] ? BOXED : at.tall[c] ? 8 : at.r;
  }

  /** @param {Geometry} at @param {Progress} done */
  #drawTail(at, done) {
    const { plan, loss, rest } = this.network;
    const { error, errorGrad } = this.sample;
    const n = plan.columns.length;
    const [bw, bh] = at.box;
    let from = at.x[n - 1] + this.#half(at, n - 1);
    let ys = plan.columns[n - 1].cells.map((i) => at.y[i]);
    let k = n;
    for (const part of ["error", "loss"]) {
      const name = part === "error" ? plan.error : plan.loss;
      if (name === undefined) continue;
      const x = at.x[k++];
      const back = done.sent(part);
      const idle = !done.known(part);
      for (const [j, y] of ys.entries())
        this.#wire(this.#layers.wires, `t${part}${j}`, curve(from, y, x - bw, at.mid), 1, 1, { back, idle, plain: true });
      if (part === "loss" && plan.rest !== undefined) {
        const y = Math.min(at.h - 34, at.mid + bh + 74);
        const to = at.x[k - 2];
        this.#wire(this.#layers.wires, "trest", curve(to + bw, y, x - bw, at.mid + 8), 1, 1, { back, idle, plain: true });
        this.#box("rest", to, y, at.box, plan.rest, done.known("rest") ? short(rest) : "·", "", {
          known: done.known("rest"),
          back: false,
          stack: 0,
        });
      }
      const arrived = done.arrived(part);
      const grad = part === "loss" ? 1 : errorGrad;
      const value = idle ? "·" : short(part === "loss" ? loss : error);
      const stack = part === "error" ? Math.min(2, plan.samples - 1) : 0;
      this.#box(part, x, at.mid, at.box, name, value, arrived ? gradText(grad) : "", { known: !idle, back: arrived, stack });
      from = x + bw;
      ys = [at.mid];
    }
  }

  /** @param {string} key @param {number} x @param {number} y @param {[number, number]} half @param {string} name @param {string} value
   * @param {string} grad @param {{known: boolean, back: boolean, stack: number}} o */
  #box(key, x, y, [bw, bh], name, value, grad, { known, back, stack }) {
    const g = this.#layers.cells;
    for (let k = stack; k; k--) {
      this.#put(g, `${key}s${k}`, "rect", {
        x: x - bw + 4 * k,
        y: y - bh - 4 * k,
        width: 2 * bw,
        height: 2 * bh,
        rx: 8,
        class: "mg-net-behind",
      });
    }
    const kind = back ? "mg-net-back" : known ? "mg-net-known" : "mg-net-wait";
    this.#put(g, key, "rect", { x: x - bw, y: y - bh, width: 2 * bw, height: 2 * bh, rx: 8, class: `mg-net-box ${kind}` });
    this.#put(
      g,
      `${key}v`,
      "text",
      { x, y: y + 4.5, class: "mg-net-number mg-net-value", style: `font-size:${bw > 26 ? 13 : 11}px` },
      value,
    );
    const room = Math.floor((2 * bw + 30) / 7);
    const shown = name.length <= room ? name : key === "error" ? "error" : key === "rest" ? "weights" : `${name.slice(0, room - 1)}…`;
    const close = 2 * bw < CLOSE;
    const up = close && key === "error" ? ABOVE : 9 + 4 * stack;
    this.#put(g, `${key}n`, "text", { x, y: y - bh - up, class: "mg-net-name", style: close ? "font-size:11px" : null }, shown);
    if (grad) this.#put(g, `${key}g`, "text", { x, y: y + bh + 16, class: "mg-net-number mg-net-grad" }, grad);
  }

  /** @param {Geometry} at @param {Progress} done */
  #drawCells(at, done) {
    const { plan } = this.network;
    const { values, grads } = this.sample;
    const dragging = !!this.#frame?.dragging;
    plan.columns.forEach((column, c) => {
      if (at.hidden[c]) return;
      const known = done.known(String(c));
      const arrived = done.arrived(String(c));
      const g = this.#put(this.#layers.cells, `cells${c}`, "g", {});
      const of = [at, this.network, this.view.state.sample, known, arrived, dragging, this.#hits, this.stop, this.open, this.#mark];
      this.#part(`cells${c}`, of, () => {
        const most = column.cells.reduce((m, i) => (Number.isFinite(values[i]) ? Math.max(m, Math.abs(values[i])) : m), 1);
        const mostGrad = column.cells.reduce((m, i) => (Number.isFinite(grads[i]) ? Math.max(m, Math.abs(grads[i])) : m), 0);
        for (const i of column.cells) this.#cell(g, at, i, c, { known, arrived: arrived && !Number.isNaN(grads[i]), most, mostGrad });
      });
    });
  }

  /** @param {Element} layer @param {Geometry} at @param {number} i @param {number} c
   * @param {{known: boolean, arrived: boolean, most: number, mostGrad: number}} o */
  #cell(layer, at, i, c, { known, arrived, most, mostGrad }) {
    const { plan } = this.network;
    const { values, grads } = this.sample;
    const [x, y, v, g] = [at.x[c], at.y[i], values[i], grads[i]];
    const strip = at.tall[c];
    const many = plan.columns[c].cells.length;
    const key = `c${i}`;
    const what = c ? "neuron" : "input";
    const opens = c ? (i === this.open ? "; open, Escape closes it" : "; Enter opens it") : "";
    const spoken = () => {
      const words = `${plan.cells[i].name}, ${known ? `${what === "input" ? "value" : "output"} ${fmt(v)}` : "not computed yet"}`;
      const apart = this.#mark?.cell === i ? `, ${this.#mark.rows.map((row) => row.join(" ")).join(", ")}` : "";
      return { "aria-label": `${words}${arrived ? `, gradient ${fmt(g)}` : ""}${apart}${opens}` };
    };
    const box = this.#put(layer, key, "g", {
      role: "button",
      tabindex: i === this.stop ? 0 : -1,
      class: `mg-net-cell${this.#hits?.has(i) ? " mg-net-found" : ""}`,
      "data-cell": i,
      ...(this.#frame?.dragging ? {} : spoken()), // the words follow when the slider rests
      "data-lm-suppress-shortcuts": "true",
    });
    const share = known && Number.isFinite(v) ? Math.round(Math.min(1, Math.abs(v) / most) * 50) : 0;
    const fill = known ? `color-mix(in srgb, var(--mg-${sign(v)}) ${share}%, var(--mg-card))` : null;
    const t = arrived && mostGrad > 0 ? Math.min(1, Math.abs(g) / mostGrad) : 0;
    const state = known ? `mg-net-${sign(v)}` : "mg-net-wait";
    if (strip) {
      const size = { x: x - 8, y: y - strip / 2, width: 16, height: Math.max(1, strip - 0.6) };
      this.#put(box, `${key}f`, "rect", {
        ...size,
        class: `mg-net-face ${state}`,
        style: `stroke-width:.4px${fill ? `;fill:${fill}` : ""}`,
      });
      if (arrived)
        this.#put(box, `${key}g`, "rect", { x: x + 9, y: size.y, width: (1 + 7 * t).toFixed(1), height: size.height, class: "mg-net-bar" });
      return;
    }
    const { r } = at;
    const stack = Math.min(2, plan.samples - 1);
    if (many <= 10)
      for (let k = stack; k; k--) this.#put(box, `${key}s${k}`, "circle", { cx: x + 2.6 * k, cy: y - 2.6 * k, r, class: "mg-net-behind" });
    this.#put(box, `${key}h`, "circle", { cx: x, cy: y, r: r + 6, class: "mg-net-halo" });
    if (arrived)
      this.#put(box, `${key}r`, "circle", {
        cx: x,
        cy: y,
        r: r + 3 + 1.2 * t,
        class: "mg-net-ring",
        "stroke-width": (1 + 4 * t).toFixed(2),
      });
    this.#put(box, `${key}f`, "circle", {
      cx: x,
      cy: y,
      r,
      class: `mg-net-face ${state}${i === this.open ? " mg-net-open" : ""}`,
      style: fill && `fill:${fill}`,
    });
    const full = r >= 16;
    const text = !known ? "" : full ? short(v) : v < 0 ? "−" : v > 0 ? "+" : "0";
    const size = full ? Math.min(12.5, Math.max(11, (r * 2.9) / Math.max(4, text.length))) : 11;
    if (r >= 7) this.#put(box, `${key}t`, "text", { x, y: y + 4, class: "mg-net-number", style: `font-size:${size.toFixed(1)}px` }, text);
    if (arrived && full && at.labels)
      this.#put(box, `${key}d`, "text", { x, y: y + r + 18, class: "mg-net-number mg-net-grad" }, gradText(g));
    const room = (x - r - 12) / 7.2;
    const name = plan.cells[i].short;
    if (c === 0 && many <= NAMED && name.length <= room)
      this.#put(box, `${key}l`, "text", { x: x - r - 8, y: y + 4, class: "mg-net-input" }, name);
  }

  /** The open neuron and its progress; null if none is open. @param {Progress} done @param {Frame} frame @returns {Opened|null} */
  opened(done, { now, current }) {
    const { network, sample, open } = this;
    if (open < 0) return null;
    const column = this.#openColumn;
    const part = String(column);
    const fits = network.inner?.cell === open && network.inner.sample === this.view.state.sample;
    return {
      ...{
        network,
        sample,
        cell: open,
        column,
        inner: fits ? network.inner : null,
        now,
        active: current?.node ?? -1,
        product: this.product,
      },
      ...{ known: done.known(part), before: done.known(String(column - 1)), arrived: done.arrived(part), sent: done.sent(part) },
    };
  }

  /** @param {Geometry} at @param {Opened|null} o */
  #drawOpen(at, o) {
    if (o) drawNeuron((key, tag, attributes, text) => this.#put(this.#layers.panel, key, tag, attributes, text), at, o);
  }

  /** The mark on a cell or a box, once it is to be seen. */
  get #mark() {
    const { mark } = this.network;
    return mark && (this.#frame?.step ?? 0) >= mark.at && this.view.state.sample === mark.sample ? mark : null;
  }

  /** Lines beside a cell about its difference from the other view of a duel. @param {Geometry} at */
  #drawMark(at) {
    const mark = this.#mark;
    if (!mark) return;
    const { plan } = this.network;
    const tail = plan.columns.length + (mark.part === "loss" && plan.error !== undefined ? 1 : 0);
    const c = mark.cell < 0 ? tail : this.#columnOf(mark.cell);
    const [x, y] = [at.x[c], mark.cell < 0 || at.hidden[c] ? at.mid : at.y[mark.cell]];
    const far = mark.cell < 0 ? at.box[1] : this.#half(at, c);
    const size = (/** @type {string[]} */ texts) => [16 + 6.8 * Math.max(...texts.map((text) => text.length)), 10 + 16 * texts.length];
    const beside = c < plan.columns.length - 1 && size(mark.rows.flat())[0] + 2 * far + 8 <= at.gap; // over wires, where it hides no number
    const lines = beside ? mark.rows.flat() : mark.rows.map((row) => row.join(" "));
    const [w, h] = size(lines);
    const left = beside ? x + far + 4 : Math.max(4, Math.min(at.w - w - 4, x - w / 2));
    const [above, below] = [y - far - 8 - h, y + far + 8];
    const first = c < plan.columns.length && mark.cell === plan.columns[c].cells[0] && !at.hidden[c]; // above it there is no number
    const top = beside ? Math.max(30, y - h / 2) : (first && above >= 24) || below + h >= at.h - 18 ? above : below;
    const g = this.#layers.top;
    if (mark.cell >= 0) this.#put(g, "mr", "circle", { cx: x, cy: y, r: far + 4, class: "mg-net-apart" });
    this.#put(g, "mb", "rect", { x: left, y: top, width: w, height: h, rx: 7, class: "mg-net-differ" });
    for (const [k, line] of lines.entries())
      this.#put(g, `mt${k}`, "text", { x: left + 8, y: top + 17 + 16 * k, class: "mg-net-number mg-net-left" }, line);
  }

  /** @param {Geometry} at */
  #drawNames(at) {
    if (at.low) return;
    const g = this.#layers.top;
    const room = Math.floor(at.gap / 7.4);
    this.network.plan.columns.forEach((column, c) => {
      if (at.hidden[c]) return;
      const x = Math.max(at.x[c], c === 0 ? 30 : 0);
      const name = shortest(column.name, room);
      const about = 6.4 * column.about.length < at.gap ? column.about : String(column.cells.length);
      this.#put(g, `n${c}`, "text", { x, y: 20, class: "mg-net-name" }, name);
      this.#put(g, `a${c}`, "text", { x, y: at.h - 8, class: "mg-net-small" }, about);
    });
  }

  /** A box for each run of layers without room, with the progress of the event in it.
   * @param {Geometry} at @param {Progress} done @param {Frame} frame */
  #drawBoxes(at, done, { current, trace }) {
    const { columns } = this.network.plan;
    const active = current ? (current.edge === null ? current.node : trace.edges[current.edge].source) : -1;
    for (const { from, to, x } of at.boxes) {
      const all = columns.slice(from, to + 1);
      const here = active >= from && active <= to;
      const [known, back] = [done.known(String(here ? active : to)), done.arrived(String(here ? active : to))];
      const cells = all.flatMap((c) => c.cells.map((i) => at.y[i]));
      const [top, bottom] = [Math.min(...cells) - at.r - 6, Math.max(...cells) + at.r + 6];
      const names = `${columns[from].name} to ${columns[to].name}`;
      const said = here ? `, at ${columns[active].name}` : known ? "" : ", not computed yet";
      const box = this.#put(this.#layers.cells, `b${from}`, "g", {
        role: "button",
        tabindex: 0,
        class: "mg-net-cell mg-net-boxed",
        "data-columns": (from + to + 1) >> 1,
        "aria-label": `${names}: ${all.length} layers${said}; Enter shows them`,
        "data-lm-suppress-shortcuts": "true",
      });
      const kind = back ? "mg-net-back" : known ? "mg-net-known" : "mg-net-wait";
      const size = { x: x - BOXED, y: top, width: 2 * BOXED, height: bottom - top, rx: 9 };
      for (const k of [2, 1])
        this.#put(box, `b${from}s${k}`, "rect", { ...size, x: size.x + 3 * k, y: top - 3 * k, class: "mg-net-behind" });
      this.#put(box, `b${from}f`, "rect", { ...size, class: `mg-net-box ${kind}` });
      this.#put(box, `b${from}n`, "text", { x, y: at.mid - 2, class: "mg-net-name" }, String(all.length));
      this.#put(box, `b${from}l`, "text", { x, y: at.mid + 12, class: "mg-net-small" }, "layers");
      const [first, last, now] = [from, to, Math.max(active, 0)].map((c) => shortest(columns[c]?.name ?? "", 4));
      const range = here ? now : `${first}…${last}`;
      this.#put(this.#layers.top, `b${from}t`, "text", { x, y: 20, class: "mg-net-name" }, range);
    }
  }

  // ---- actions of the reader

  /** Show the columns around this one, where there is no room for all; -1: both ends again. @param {number} column */
  showColumn(column) {
    this.focus = column;
    this.view.network.way();
    this.view.viewport.fit();
  }

  /** All of the network again. */
  home() {
    this.focus = -1;
    if (this.open >= 0) this.look(-1);
    else this.showColumn(-1);
  }

  /** @param {EventTarget|null} target */
  #point(target) {
    const found = /** @type {Element|null} */ (target)?.closest?.("[data-cell], [data-parameter]");
    if (found?.matches(".mg-net-hit")) this.#entitle(found);
    const on = Number(found?.getAttribute("data-cell") ?? -1);
    this.#tell(on, Number(found?.getAttribute("data-parameter") ?? -1));
    if (on === this.pointed) return;
    this.pointed = on;
    this.paint();
  }

  /** Tell of what the mouse is on. @param {number} cell @param {number} parameter */
  #tell(cell, parameter) {
    const frame = this.#frame;
    if (!frame || frame.dragging || (cell === this.#over.cell && parameter === this.#over.parameter)) return;
    this.#over = { cell, parameter, step: frame.step };
    this.view.live.update(frame);
  }

  /** Write a wire's title when the mouse enters it, so that a step does not write all titles. @param {Element} wire */
  #entitle(wire) {
    const { plan, weights, weightGrads } = this.network;
    const k = Number(wire.getAttribute("data-parameter"));
    const column = this.#columnOf(plan.parameters[k].cell);
    const back = this.#frame && progressOf(this.network, this.#frame).sent(String(column));
    const title = `${plan.parameters[k].name} = ${fmt(weights[k])}`;
    if (!wire.firstChild) wire.append(s("title"));
    write(/** @type {Element} */ (wire.firstChild), back ? `${title}, gradient ${fmt(weightGrads[k])}` : title);
  }

  /** @param {Element} target */
  #click(target) {
    const product = target.closest("[data-product]");
    if (product) return this.multiply(Number(product.getAttribute("data-product")));
    const weight = target.closest("[data-parameter]");
    if (weight && this.view.state.alive) return this.view.send({ type: "slide", parameter: Number(weight.getAttribute("data-parameter")) });
    const box = target.closest("[data-columns]");
    if (box) return this.#unbox(box);
    const cell = target.closest("[data-cell]");
    if (!cell) return;
    this.look(Number(cell.getAttribute("data-cell")));
  }

  /** Open a box, and move the focus there. @param {Element} box */
  #unbox(box) {
    const column = Number(box.getAttribute("data-columns"));
    [this.stop] = this.network.plan.columns[column].cells;
    this.showColumn(column);
    this.#pool.get(`c${this.stop}`)?.focus({ preventScroll: true });
  }

  /** Open one multiplication of the open neuron; the one that is open, or -1, closes. @param {number} parameter */
  multiply(parameter) {
    this.product = parameter === this.product ? -1 : parameter;
    this.paint();
    this.view.network.way();
  }

  /** Open a neuron in its place; the one that is open, or -1, closes. @param {number} cell */
  look(cell) {
    const { view } = this;
    const inputs = this.network.plan.columns[0].cells.length;
    const to = cell === this.open || cell < inputs ? -1 : cell;
    if (cell >= 0) this.stop = cell;
    if (cell >= 0 && this.#at?.hidden[this.#columnOf(cell)]) this.focus = this.#columnOf(cell);
    if (to === this.open) {
      this.paint();
      return this.#pool.get(`c${this.stop}`)?.focus({ preventScroll: true });
    }
    this.open = to;
    this.product = -1;
    view.timeline.stop();
    view.network.update(this.#frame);
    view.viewport.fit();
    this.#pool.get(`c${this.stop}`)?.focus({ preventScroll: true });
    if (view.answered) view.send({ type: "look", cell: to, sample: view.state.sample });
  }

  /** Keys of the network: true if it was one. @param {KeyboardEvent} e */
  key(e) {
    const { view } = this;
    const { samples } = this.network.plan;
    const target = /** @type {HTMLElement} */ (e.target);
    if (target.closest("input, select, [role=slider], [role=tab]")) return false;
    if (e.key === "[" || e.key === "]") view.showSample((view.state.sample + (e.key === "]" ? 1 : samples - 1)) % samples);
    else if (e.key === "Escape" && this.product >= 0) this.multiply(-1);
    else if (e.key === "Escape" && this.open >= 0) this.look(-1);
    else if ((e.key === "Enter" || e.key === " ") && target.closest("[data-product]"))
      this.multiply(Number(target.closest("[data-product]")?.getAttribute("data-product")));
    else if (e.key === "Escape" && this.focus >= 0) this.showColumn(-1);
    else if ((e.key === "Enter" || e.key === " ") && target.closest("[data-columns]"))
      this.#unbox(/** @type {Element} */ (target.closest("[data-columns]")));
    else if ((e.key === "Enter" || e.key === " ") && target.closest("[data-cell]"))
      this.look(Number(target.closest("[data-cell]")?.getAttribute("data-cell")));
    else if (e.key === "ArrowUp" || e.key === "ArrowDown") this.#walk(e.key === "ArrowDown" ? 1 : -1, !!target.closest("[data-cell]"));
    else return false;
    return true;
  }

  /** The column of the neuron that takes the Tab key must be drawn. */
  #reveal() {
    const column = this.#columnOf(this.stop);
    if (this.#at?.hidden[column]) this.showColumn(column);
    else this.paint();
  }

  /** The keyboard goes to the next neuron, or to the last one visited. @param {number} by @param {boolean} on */
  #walk(by, on) {
    const { cells } = this.network.plan;
    if (on) this.stop = Math.min(cells.length - 1, Math.max(0, this.stop + by));
    this.#reveal();
    this.#pool.get(`c${this.stop}`)?.focus({ preventScroll: true });
  }

  /** Mark the neurons and inputs whose name, or one of whose weights' names, has this text in it. Returns how many. @param {string} text */
  search(text) {
    const { cells, parameters } = this.network.plan;
    const found = cells.flatMap((c, i) => (c.name.toLowerCase().includes(text) ? [i] : []));
    const weights = parameters.filter((p) => p.name.toLowerCase().includes(text)).map((p) => p.cell);
    this.#hits = text ? new Set([...found, ...weights]) : null;
    this.paint();
    return this.#hits?.size ?? 0;
  }

  /** Mark what the neuron last visited is made of ("up") or flows into ("down"); "": nothing. In words. @param {"up"|"down"|""} way */
  markFlow(way) {
    const { cells, wires } = this.network.plan;
    const found = new Set([this.stop]);
    for (const i of found) {
      for (const { source, target } of wires) if ((way === "up" ? target : source) === i) found.add(way === "up" ? source : target);
    }
    this.#hits = way ? found : null;
    this.paint();
    return way ? `${found.size - 1} ${way === "up" ? "upstream" : "downstream"} of ${cells[this.stop].name}` : "";
  }

  /** Go to the first that was found. */
  toFound() {
    const [first] = this.#hits ?? [];
    if (first === undefined) return;
    this.stop = first;
    this.#reveal();
    this.#pool.get(`c${first}`)?.focus({ preventScroll: true });
  }

  // ---- the interface of a scene

  card() {
    return undefined;
  }

  /** Where the part of an event stands, if it may be out of sight. @param {number} node */
  box(node) {
    const at = this.#at;
    const parts = partsOf(this.network.plan);
    if (!at || !this.#scrolls || node >= parts.length) return undefined;
    const last = this.network.plan.columns.length;
    const c = node < last ? node : parts[node] === "loss" ? at.x.length - 1 : last;
    return { x: at.x[c] - at.r, y: 0, w: 2 * at.r, h: at.h };
  }

  /** @param {Set<number>|null} some */
  mark(some) {
    if (!some) this.#hits = null;
  }

  hit() {}

  /** Move the focus to a neuron that was opened or closed.
   * @param {boolean} onCell it was on a cell before all was drawn */
  refocus(onCell) {
    if (onCell) this.#pool.get(`c${this.stop}`)?.focus({ preventScroll: true });
    return onCell;
  }

  /** A sentence about the last event. @param {Frame} frame */
  sentence(frame) {
    const { cell, parameter, step } = this.#over;
    const { sample } = this.view.state;
    if (frame.step === step && Math.max(cell, parameter) >= 0)
      return pointedSentence(this.network, progressOf(this.network, frame), sample, { cell, parameter });
    return networkSentence(this.network, frame, sample);
  }
}
