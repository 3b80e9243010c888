// The stage: the network, its units with their maps, the wires, the plane, the points.

import { h } from "../dom.js";
import { fmt } from "../model/numbers.js";
import { KINDS, mark, text } from "./colours.js";
import { along, layout, wireAt, wires } from "./layout.js";
import { contour, fold, GH, GW, largest } from "./maps.js";

/** @import { Film } from "./film.js" */
/** @import { Moment } from "./moment.js" */
/** @import { Circle, Layout, Wire } from "./layout.js" */
/** @import { Place } from "./maps.js" */
/** @typedef {CanvasRenderingContext2D} Context */

const SIDE = (GW - GH) / 2; // of a map, left out in a circle
const HELP = "network; arrow keys step, space plays, up and down choose a unit, B sweeps back, Escape closes";

export class Stage {
  /** @type {number|null} the parameter of the wire under the pointer */ #hover = null;

  /** @param {Film} film */
  constructor(film) {
    this.film = film;
    this.canvas = h("canvas", { "aria-hidden": "true" });
    this.units = h("div", {});
    this.el = h("div", { class: "mf-stage", tabindex: 0, role: "group", "aria-label": HELP }, this.canvas, this.units);
    /** @type {Layout} */ this.layout = {
      W: 0,
      H: 0,
      top: 0,
      layers: [],
      units: [],
      inputs: [],
      plane: null,
      left: 0,
      gap: 0,
      net: 0,
      r: 0,
      image: null,
    };
    /** @type {Wire[]} */ this.wires = [];
    this.canvas.addEventListener("pointermove", (e) => {
      const p = wireAt(this.wires, ...this.#at(e))?.p ?? null;
      this.canvas.style.cursor = p === null ? "" : "pointer";
      if (p === this.#hover) return;
      this.#hover = p;
      this.draw();
    });
    this.canvas.addEventListener("pointerleave", () => {
      this.#hover = null;
      this.draw();
    });
    this.canvas.addEventListener("click", (e) => this.#click(...this.#at(e)));
  }

  /** @param {MouseEvent} e @returns {[number, number]} */
  #at(e) {
    const { left, top } = this.canvas.getBoundingClientRect();
    return [e.clientX - left, e.clientY - top];
  }

  /** @param {number} x @param {number} y */
  #click(x, y) {
    const { film } = this;
    const wire = wireAt(this.wires, x, y);
    if (wire) {
      film.select({ weight: wire.p });
      return;
    }
    const at = this.layout.plane;
    if (!at || !film.plane || x < at.x || x > at.x + at.w || y < at.y || y > at.y + at.h) return;
    let [best, near] = [-1, 14];
    for (const i of film.now.rows) {
      const [a, b] = film.plane.place(film.run.points[i], at);
      const d = Math.hypot(a - x, b - y);
      if (d < near) [best, near] = [i, d];
    }
    if (best < 0) return;
    film.point = best;
    film.selected ??= { unit: film.run.units.length - 1 };
    film.refresh();
  }

  /** Lay out for a width. @param {number} width */
  size(width) {
    const { film } = this;
    const L = layout(film.run, width);
    this.layout = L;
    this.wires = wires(film.run, L);
    const ratio = devicePixelRatio || 1;
    this.canvas.width = Math.round(L.W * ratio);
    this.canvas.height = Math.round(L.H * ratio);
    this.canvas.style.height = `${L.H}px`;
    this.context = /** @type {Context} */ (this.canvas.getContext("2d"));
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const focused = film.root.contains(document.activeElement) && document.activeElement?.getAttribute("data-unit");
    this.units.replaceChildren(
      ...film.run.units.map((u, i) => {
        const p = L.units[i];
        const size = 2 * p.r + 8;
        const place = `left:${p.x - size / 2}px;top:${p.y - size / 2}px;width:${size}px;height:${size}px`;
        const about = { class: "mf-unit", type: "button", "data-unit": i, style: place, "aria-label": `${u.name}, ${u.act}` };
        const b = h("button", { ...about, tabindex: (film.selected?.unit ?? 0) === i ? "0" : "-1" });
        b.addEventListener("click", () => film.select(film.selected?.unit === i ? null : { unit: i }));
        return b;
      }),
    );
    if (focused) this.focus(Number(focused));
  }

  /** @param {number} i */
  focus(i) {
    for (const b of this.units.querySelectorAll("button")) b.tabIndex = Number(b.dataset.unit) === i ? 0 : -1;
    /** @type {HTMLElement|null} */ (this.units.querySelector(`[data-unit="${i}"]`))?.focus({ preventScroll: true });
  }

  /** The step after the update that the last stage of the backward pass shows. @param {Moment} m */
  #updated(m) {
    const { film } = this;
    const w = film.sweep >= film.stages && m.g ? film.after() : null;
    return w ? { ...m, w, maps: film.plane?.maps(w) ?? null } : null;
  }

  /** @param {Context} [onto] another canvas */
  draw(onto = this.context) {
    const { film, layout: L } = this;
    if (!onto || !L.W) return;
    const c = onto;
    const { css } = film.colours;
    c.fillStyle = css.bg;
    c.fillRect(0, 0, L.W, L.H);
    const now = film.now;
    const updated = this.#updated(now);
    const m = updated ?? now;
    const before = updated ? now : null;
    if (film.run.kind === "none") this.#weights(c, m);
    else {
      if (L.plane) this.#lens(c, L.plane);
      if (L.image) this.#images(c, m, L.image);
      this.#wires(c, m, before);
      if (!L.image) this.#network(c, m);
      else this.#classes(c, m);
      if (L.plane) this.#planeAndWords(c, m, before, L.plane);
    }
    this.#label(c, m);
  }

  // Wires

  /** The layer whose wires the backward pass has reached; 99 where there is none. */
  get #reached() {
    const { film } = this;
    return film.sweep >= 2 && film.sweep < film.stages ? film.stages - Math.floor(film.sweep) : 99;
  }

  /** @param {Context} c @param {Moment} m @param {Moment|null} before the update */
  #wires(c, m, before) {
    const { film } = this;
    const { css } = film.colours;
    const { selected: sel, sweep } = film;
    /** @type {Map<number, {w: number, g: number, n: number}>} */ const layers = new Map();
    for (const o of this.wires) {
      const of = layers.get(o.layer) ?? { w: 0, g: 0, n: 0 };
      layers.set(o.layer, { w: Math.max(of.w, Math.abs(m.w[o.p])), g: Math.max(of.g, Math.abs(m.g?.[o.p] ?? 0)), n: of.n + 1 });
    }
    const reached = this.#reached;
    const back = (/** @type {Wire} */ o) => m.g !== null && o.layer >= reached;
    const list = this.wires.map((o) => {
      const of = layers.get(o.layer) ?? { w: 1, g: 1, n: 1 };
      const v = back(o) && m.g ? m.g[o.p] : m.w[o.p];
      const most = back(o) ? of.g : Math.max(of.w, 0.5);
      return { o, v, back: back(o), t: Math.min(1, Math.abs(v) / (most || 1)) || 0, dense: of.n > 100 };
    });
    list.sort((a, b) => a.t - b.t);
    if (before) this.#moved(c, m, before);
    const updating = sweep >= film.stages;
    for (const { o, v, back, t, dense } of list) {
      const chosen = sel?.weight === o.p || this.#hover === o.p;
      const dim = (sel?.unit !== undefined && sel.unit !== o.to && sel.unit !== o.from) || (sel?.weight !== undefined && !chosen);
      let w = dense ? 0.4 + 3.4 * t * t : 0.8 + 5 * t;
      let strength = 0.25 + 0.65 * t;
      if (dense) strength *= back ? 0.35 + 0.65 * t : 0.2 + 0.8 * t * t;
      if (dim) strength *= 0.22;
      if (sweep && !back && !updating) strength *= 0.35;
      if (chosen) [w, strength] = [w + 1.5, 1];
      const rail = !back && v < 0 && w > 1.6; // two hairlines: the sign survives grey print
      c.globalAlpha = strength;
      c.setLineDash(back ? [7, 4] : []);
      c.strokeStyle = back ? css.bwd : v < 0 ? css.neg : css.pos;
      c.lineWidth = w + (rail ? 1.2 : 0);
      this.#way(c, o);
      c.setLineDash([]);
      c.globalAlpha = 1;
      if (!rail) continue;
      c.strokeStyle = css.bg;
      c.lineWidth = Math.max(0.8, w - 1.4);
      this.#way(c, o);
    }
    const part = sweep % 1;
    if (reached > film.stages || film.still || !part) return;
    for (const { o, t, back } of list) {
      if (!back || o.layer !== reached || t <= 0.12) continue;
      const [x, y] = along(o, 1 - part);
      c.fillStyle = css.bwd;
      c.beginPath();
      c.arc(x, y, 1.6 + 2.6 * t, 0, 7);
      c.fill();
    }
  }

  /** The six weights that the step moved farthest are underlaid. @param {Context} c @param {Moment} m @param {Moment} before */
  #moved(c, m, before) {
    const by = this.wires.map((o) => ({ o, d: Math.abs(m.w[o.p] - before.w[o.p]) })).sort((a, b) => b.d - a.d);
    c.strokeStyle = this.film.colours.css.bwd;
    c.globalAlpha = 0.3;
    for (const { o, d } of by.slice(0, 6)) {
      c.lineWidth = 4 + (9 * d) / (by[0].d || 1);
      this.#way(c, o);
    }
    c.globalAlpha = 1;
  }

  /** @param {Context} c @param {Wire} o */
  #way(c, o) {
    const m = (o.x1 + o.x2) / 2;
    c.beginPath();
    c.moveTo(o.x1, o.y1);
    c.bezierCurveTo(m, o.y1, m, o.y2, o.x2, o.y2);
    c.stroke();
  }

  /** Name and number of the wire under the pointer, or of the selected one. @param {Context} c @param {Moment} m */
  #label(c, m) {
    const { film, layout: L } = this;
    const p = this.#hover ?? film.selected?.weight;
    const wire = p === undefined ? undefined : this.wires.find((o) => o.p === p);
    if (!wire) return;
    const { css } = film.colours;
    const [x, y] = along(wire, 0.5);
    const words = `${film.run.names[wire.p]}  ${film.w(m.w[wire.p])}`;
    text(c, "", 0, 0, { px: 12, weight: 600, mono: true });
    const w = c.measureText(words).width + 14;
    const left = Math.max(4, Math.min(L.W - w - 4, x - w / 2));
    c.fillStyle = css.card;
    c.strokeStyle = css.line;
    c.lineWidth = 1;
    c.beginPath();
    c.roundRect(left, y - 25, w, 20, 5);
    c.fill();
    c.stroke();
    text(c, words, left + w / 2, y - 15, { px: 12, weight: 600, mono: true, fill: css.ink });
  }

  // Units

  /** @param {Context} c @param {Circle} p @param {HTMLCanvasElement|null} picture @param {boolean} map is it a map over the plane?
   * @param {string} ring @param {number} thick */
  #circle(c, p, picture, map, ring, thick) {
    const shape = () => {
      c.beginPath();
      if (p.square) c.roundRect(p.x - p.r, p.y - p.r, 2 * p.r, 2 * p.r, Math.min(5, p.r / 3));
      else c.arc(p.x, p.y, p.r, 0, 7);
    };
    c.save();
    shape();
    c.fillStyle = this.film.colours.css.card;
    c.fill();
    c.clip();
    c.imageSmoothingEnabled = map;
    if (picture && map) c.drawImage(picture, SIDE, 0, GH, GH, p.x - p.r, p.y - p.r, 2 * p.r, 2 * p.r);
    else if (picture) c.drawImage(picture, p.x - p.r, p.y - p.r, 2 * p.r, 2 * p.r);
    c.restore();
    shape();
    c.strokeStyle = ring;
    c.lineWidth = thick;
    c.stroke();
  }

  /** @param {Context} c @param {Moment} m */
  #network(c, m) {
    const { film, layout: L } = this;
    const { css } = film.colours;
    const { run, judge } = film;
    const outputs = new Set(judge.units);
    const hidden = m.delta.filter((_, i) => !outputs.has(i));
    const most = Math.max(...hidden, 1e-12);
    const tops = m.maps?.out.map(largest) ?? [];
    const layerTop = (/** @type {number} */ layer) => Math.max(1e-9, ...run.units.map((u, i) => (u.layer === layer ? tops[i] : 0)));
    this.#inputs(c);
    const reached = this.#reached + 1; // a unit's gradient is known when the wires behind it have theirs
    run.units.forEach((u, i) => {
      const p = L.units[i];
      const back = film.sweep >= 2 && film.sweep < film.stages && u.layer + 1 >= reached;
      const chosen = film.selected?.unit === i;
      const ring = chosen ? css.fwd : back ? css.bwd : css.soft;
      const thick = chosen ? 3 : back ? 1.2 + 3.6 * (outputs.has(i) ? 1 : m.delta[i] / most) : 1.2;
      const map = m.maps && (!film.histograms || outputs.has(i)) ? this.#map(m, i, tops[i] / layerTop(u.layer)) : null;
      this.#circle(c, p, map, true, ring, thick);
      if (!map) this.#histogram(c, p, m, i);
      else if (tops[i] < 1e-6 && !outputs.has(i)) text(c, "0", p.x, p.y, { px: 11, fill: css.soft });
      else if (u.act === "relu" && p.r >= 11 && m.maps) this.#fold(c, p, m.maps.sums[i]);
    });
    this.#heads(c);
  }

  /** The map of a unit; each is scaled by its own maximum, and faint if that is below a third of the layer's.
   * @param {Moment} m @param {number} i @param {number} share of the layer's largest */
  #map(m, i, share) {
    const { film } = this;
    const { judge } = film;
    const z = /** @type {{out: Float64Array[]}} */ (m.maps).out[i];
    if (judge.units.includes(i) && !judge.several) {
      const level = this.#level(i);
      const low = film.run.units[i].act === "linear" ? 0.9 : 2;
      return film.colours.picture(`u${i}`, GW, GH, (j) => Math.tanh((z[j] - level) * low), 0.72);
    }
    const top = largest(z);
    const faint = Math.min(1, 0.25 + (0.75 * share) / 0.35);
    return film.colours.picture(`u${i}`, GW, GH, (j) => (z[j] / top) * faint, 0.72);
  }

  /** The number at which the result of a unit decides. @param {number} i */
  #level(i) {
    const { act } = this.film.run.units[i];
    const { boundary } = this.film.judge;
    return act === "sigmoid" ? 1 / (1 + Math.exp(-boundary)) : act === "tanh" ? Math.tanh(boundary) : boundary;
  }

  /** @param {Context} c */
  #inputs(c) {
    const { film, layout: L } = this;
    const { css } = film.colours;
    const { plane } = film;
    L.inputs.forEach((p, k) => {
      const { x0, x1, y0, y1 } = plane?.box ?? { x0: 0, x1: 1, y0: 0, y1: 1 };
      const [mid, half] = k ? [(y0 + y1) / 2, (y1 - y0) / 2] : [(x0 + x1) / 2, (x1 - x0) / 2];
      const values = plane?.inputs[k];
      const picture = values ? film.colours.picture(`x${k}`, GW, GH, (j) => (values[j] - mid) / half, 0.5) : null;
      this.#circle(c, p, picture, true, css.line, 1.4);
      const name = `x${[...String(k + 1)].map((d) => "₀₁₂₃₄₅₆₇₈₉"[Number(d)]).join("")}`;
      const px = Math.min(13, p.r);
      if (picture) text(c, name, p.x - p.r - (L.W < 600 ? 13 : 17), p.y, { px: 13, weight: 600, fill: css.ink });
      else if (px >= 10) text(c, name, p.x, p.y, { px, weight: 600, fill: css.ink });
    });
  }

  /** @param {Context} c @param {Circle} p @param {Float64Array} z */
  #fold(c, p, z) {
    c.save();
    c.beginPath();
    c.arc(p.x, p.y, p.r - 0.6, 0, 7);
    c.clip();
    c.strokeStyle = this.film.colours.css.ink;
    c.globalAlpha = 0.75;
    c.lineWidth = 1.2;
    const w = (2 * p.r * GW) / GH;
    fold(c, z, { x: p.x - w / 2, y: p.y - p.r, w, h: 2 * p.r });
    c.restore();
  }

  /** How often a unit gives which output, from the smallest to the largest of its layer. @param {Context} c @param {Circle} p
   * @param {Moment} m @param {number} i */
  #histogram(c, p, m, i) {
    const { film } = this;
    const { css } = film.colours;
    const { units } = film.run;
    const of = (/** @type {number} */ k) => m.rows.map((r) => m.of.get(r)?.out[k] ?? 0);
    const most = Math.max(1e-9, ...units.flatMap((u, k) => (u.layer === units[i].layer ? of(k).map(Math.abs) : [])));
    const values = of(i);
    if (!values.length) return;
    const low = values.some((v) => v < 0) ? -most : 0;
    const bars = new Array(9).fill(0);
    for (const v of values) bars[Math.min(8, Math.floor(((v - low) / (most - low)) * 9)) || 0]++;
    c.save();
    c.beginPath();
    c.arc(p.x, p.y, p.r - 1, 0, 7);
    c.clip();
    const w = (1.44 * p.r) / 9;
    bars.forEach((v, k) => {
      const high = Math.sqrt(v / values.length) * 1.15 * p.r;
      const mid = low + ((k + 0.5) / 9) * (most - low);
      c.fillStyle = mid < 0 ? css.neg : k === 0 && low === 0 ? css.soft : css.pos;
      c.fillRect(p.x - 0.72 * p.r + k * w, p.y + 0.5 * p.r - high, w - 0.7, high);
    });
    c.fillStyle = css.line;
    c.fillRect(p.x - 0.8 * p.r, p.y + 0.5 * p.r, 1.6 * p.r, 1);
    c.restore();
  }

  /** @param {Context} c */
  #heads(c) {
    const { film, layout: L } = this;
    const { css } = film.colours;
    const foot = (L.net || L.H) - 14;
    text(c, "inputs", L.left, 18, { px: 12.5, weight: 600, fill: css.ink });
    L.layers.forEach((of, l) => {
      const x = L.left + L.gap * (l + 1);
      const end = l === L.layers.length - 1;
      const { act } = film.run.units[of[0]];
      const plain = L.gap < 76 ? String(of.length) : `${of.length} units`;
      text(c, end ? (of.length > 1 ? "scores" : "score") : plain, x, 18, { px: 12.5, weight: 600, fill: css.ink });
      if (!end) text(c, L.gap < 60 ? act : `${of.length} × ${act}`, x, foot, { px: 11, fill: css.soft });
    });
  }

  // The plane

  /** From the output's circle to the plane, like a lens. @param {Context} c @param {Place} at */
  #lens(c, at) {
    const { film, layout: L } = this;
    const { css } = film.colours;
    const ends = film.judge.units.map((i) => L.units[i]);
    const [o, p] = [ends[0], ends[ends.length - 1]];
    c.beginPath();
    if (L.net) {
      c.moveTo(at.x, at.y);
      c.lineTo(p.x - p.r * 0.7, p.y + p.r * 0.7);
      c.lineTo(p.x + p.r * 0.7, p.y + p.r * 0.7);
      c.lineTo(at.x + at.w, at.y);
    } else {
      c.moveTo(o.x + o.r * 0.5, o.y - o.r * 0.86);
      c.lineTo(at.x + 3, at.y + 3);
      c.lineTo(at.x + 3, at.y + at.h - 3);
      c.lineTo(p.x + p.r * 0.5, p.y + p.r * 0.86);
    }
    c.closePath();
    c.fillStyle = css.panel;
    c.fill();
    c.strokeStyle = css.line;
    c.lineWidth = 1;
    c.stroke();
  }

  /** Differences of scores whose zero line is a boundary. @param {Moment["maps"]} maps @returns {Float64Array[]} */
  #boundaries(maps) {
    const { judge } = this.film;
    if (!maps) return [];
    const scores = judge.units.map((i) => maps.sums[i]);
    if (!judge.several) return [scores[0].map((v) => v - judge.boundary)];
    return scores.map((of, k) => of.map((v, i) => v - Math.max(...scores.map((s, j) => (j === k ? Number.NEGATIVE_INFINITY : s[i])))));
  }

  /** @param {Moment["maps"]} maps */
  #ground(maps) {
    const { film } = this;
    const { colours, judge } = film;
    const deep = colours.dark ? 0.55 : 0.5;
    const lines = this.#boundaries(maps);
    if (!judge.several) {
      const scale = film.run.units[judge.units[0]].act === "linear" ? 0.9 : 0.6;
      return colours.picture("plane", GW, GH, (i) => Math.tanh(lines[0][i] * scale), deep);
    }
    return colours.paint("plane", GW, GH, (i) => {
      const k = lines.findIndex((of) => of[i] > 0);
      const t = k < 0 ? 0 : Math.tanh(lines[k][i] * 0.6);
      return [KINDS[Math.max(0, k) % KINDS.length], deep * (colours.flat ? Math.round(t * 7) / 7 : t)];
    });
  }

  /** The score over the plane, without points where it is small. @param {Context} c @param {Place} at @param {Moment["maps"]} maps
   * @param {Moment["maps"]} [other] whose boundary is dashed */
  ground(c, at, maps, other = null) {
    const { film } = this;
    const { css } = film.colours;
    const big = at.w > 150;
    c.save();
    c.beginPath();
    c.roundRect(at.x, at.y, at.w, at.h, big ? 8 : 3);
    c.clip();
    c.imageSmoothingEnabled = true;
    c.drawImage(this.#ground(maps), at.x, at.y, at.w, at.h);
    const lines = this.#boundaries(maps);
    if (big && film.run.about.margins && !film.judge.several) {
      c.strokeStyle = css.ink;
      c.globalAlpha = 0.35;
      c.lineWidth = 1;
      c.setLineDash([3, 4]);
      contour(c, lines[0], 1, at);
      contour(c, lines[0], -1, at);
      c.globalAlpha = 1;
    }
    c.setLineDash([6, 4]);
    c.strokeStyle = css.soft;
    c.lineWidth = 2;
    for (const of of this.#boundaries(other)) contour(c, of, 0, at);
    c.setLineDash([]);
    c.strokeStyle = css.ink;
    c.lineWidth = big ? 2.4 : 1.2;
    for (const of of lines) contour(c, of, 0, at);
  }

  /** @param {Context} c @param {Place} at */
  frame(c, at) {
    c.restore();
    c.beginPath();
    c.roundRect(at.x, at.y, at.w, at.h, at.w > 150 ? 8 : 3);
    c.strokeStyle = this.film.colours.css.line;
    c.lineWidth = 1.2;
    c.stroke();
  }

  /** @param {Context} c @param {Moment} m @param {Place} at */
  #points(c, m, at) {
    const { film } = this;
    const { plane, run, judge, colours } = film;
    if (!plane) return;
    const size = at.w < 320 ? 3.6 : 4.4;
    const drawn = new Set(m.rows);
    const pull = (/** @type {number} */ i) => Math.max(...judge.units.map((k) => Math.abs(m.of.get(i)?.d[k] ?? 0)));
    const most = Math.max(...m.rows.map(pull), 1e-12);
    const everything = film.k >= run.length;
    for (const pass of [false, true])
      for (const [i, p] of run.points.entries()) {
        if (drawn.has(i) !== pass) continue;
        const [x, y] = plane.place(p, at);
        c.globalAlpha = pass || everything ? 1 : 0.38;
        const ring = pass && film.sweep >= 1 ? pull(i) / most : 0;
        mark(c, colours, x, y, judge.kind(i), size, ring > 0 ? 1.4 + 1.2 * ring : 0);
      }
    c.globalAlpha = 1;
    if (film.selected?.unit === undefined) return;
    const [x, y] = plane.place(run.points[this.point(m)], at);
    c.beginPath();
    c.arc(x, y, size + 5, 0, 7);
    c.strokeStyle = colours.css.fwd;
    c.lineWidth = 2.4;
    c.stroke();
  }

  /** The point that is looked at: the chosen one; else the one that sends most to the selected unit, or makes it largest; else the one
   * with the largest loss. @param {Moment} m */
  point(m) {
    const { point, selected } = this.film;
    if (point >= 0 && m.of.has(point)) return point;
    const unit = selected?.unit;
    if (unit === undefined) return m.worst;
    const most = (/** @type {(of: import("./moment.js").OfPoint) => number} */ size) => {
      let [best, top] = [m.worst, 0];
      for (const [i, of] of m.of) if (size(of) > top) [best, top] = [i, size(of)];
      return top > 0 ? best : -1;
    };
    const sends = most((of) => Math.abs(of.d[unit]));
    const largest = sends >= 0 ? sends : most((of) => Math.abs(of.out[unit]));
    return largest >= 0 ? largest : m.worst;
  }

  /** Another boundary that is dashed, and what it is called. @returns {[Moment["maps"], string]} */
  #ghost() {
    const { film } = this;
    const { plane, branch, k, other } = film;
    if (!plane) return [null, ""];
    if (branch && k > branch.from) {
      if (film.branched) return [plane.maps(film.run.weights(k)), "the film"];
      if (k <= branch.from + branch.length) return [plane.maps(branch.weights(k)), "the branch"];
    }
    const run = film.runs[other];
    return run?.fits(film.run) && run.length ? [plane.maps(run.weights(Math.min(k, run.length))), run.about.name] : [null, ""];
  }

  /** @param {Context} c @param {Moment} m @param {Moment|null} before @param {Place} at */
  #planeAndWords(c, m, before, at) {
    const { film, layout: L } = this;
    const { css } = film.colours;
    const [ghost, name] = before ? [before.maps, ""] : this.#ghost();
    this.ground(c, at, m.maps, ghost);
    this.#points(c, m, at);
    this.frame(c, at);
    const mid = at.x + at.w / 2;
    if (film.judge.decides)
      text(c, `${m.right} of ${m.judged} points on the right side`, mid, at.y + at.h + (L.net ? 14 : 17), {
        px: 12.5,
        weight: 600,
        fill: css.ink,
      });
    if (L.net) return;
    const score = film.judge.several ? "the largest score over the plane" : "the score over the plane";
    const margins = L.W < 900 ? "score: 0 on the line, ±1 dotted" : `${score}: 0 on the line, ±1 on the dotted lines`;
    const head = film.run.about.margins ? margins : score;
    text(c, head, mid, at.y - 14, { px: 11.5, fill: css.soft });
    if (ghost)
      text(c, before ? "dashed: before this step" : `dashed: ${name} at this step`, mid, at.y + at.h + 36, { px: 11.5, fill: css.soft });
  }

  // Images

  /** @param {Context} c @param {Moment} m @param {Place} at */
  #images(c, m, at) {
    const { film, layout: L } = this;
    const { css, dark } = film.colours;
    const { run } = film;
    const first = L.layers[0];
    const x = run.points[this.point(m)] ?? run.points[0];
    first.forEach((i, k) => {
      const p = L.units[i];
      const y = at.y + (at.h * (k + 0.5)) / first.length;
      const mid = (at.x + at.w + p.x - p.r) / 2;
      const size = Math.sqrt(run.units[i].inputs.reduce((s, [, , w]) => s + m.w[w] ** 2, 0) / run.units[i].inputs.length);
      c.beginPath();
      c.moveTo(at.x + at.w, y);
      c.bezierCurveTo(mid, y, mid, p.y, p.x - p.r, p.y);
      c.strokeStyle = css.idle;
      c.lineWidth = Math.min(12, 2 + 8 * Math.sqrt(size));
      c.globalAlpha = 0.5 * (film.selected?.unit !== undefined && film.selected.unit !== i ? 0.3 : 1);
      c.stroke();
      c.globalAlpha = 1;
    });
    const side = Math.sqrt(x.length);
    const top = Math.max(1e-9, ...x.map(Math.abs));
    c.imageSmoothingEnabled = false;
    c.drawImage(
      film.colours.picture("image", side, side, (i) => x[i] / top, dark ? 0.9 : 0.85, "ink", "ink"),
      at.x,
      at.y,
      at.w,
      at.h,
    );
    c.strokeStyle = css.line;
    c.lineWidth = 1.2;
    c.strokeRect(at.x, at.y, at.w, at.h);
    const label = run.labels[this.point(m)];
    text(c, "input", at.x + at.w / 2, 18, { px: 12.5, weight: 600, fill: css.ink });
    if (label !== undefined) text(c, `label ${fmt(label)}`, at.x + at.w / 2, at.y + at.h + 16, { px: 12.5, fill: css.soft });
  }

  /** The first layer as pictures of weights or of their gradients, the others as circles, the scores as probabilities.
   * @param {Context} c @param {Moment} m */
  #classes(c, m) {
    const { film, layout: L } = this;
    const { css } = film.colours;
    const { run, judge } = film;
    const back = film.sweep >= 2 && film.sweep < film.stages && this.#reached <= 1 && m.g !== null;
    const of = m.of.get(this.point(m));
    const medium = L.W >= 600;
    for (const i of L.layers[0]) {
      const p = L.units[i];
      const picture = this.weightsOf(i, m.w, back ? m.g : null);
      const ring = film.selected?.unit === i ? css.fwd : back ? css.bwd : css.soft;
      this.#circle(c, p, picture, false, ring, film.selected?.unit === i ? 3 : 1.2);
      if (medium && of && p.r > 12)
        text(c, fmt(of.out[i], 2), p.x + p.r + 6, p.y - p.r + 6, { px: 11, mono: true, align: "left", fill: css.soft, halo: css.bg });
    }
    run.units.forEach((u, i) => {
      if (u.layer === 1 || u.layer === run.depth) return;
      this.#circle(c, L.units[i], null, false, film.selected?.unit === i ? css.fwd : css.soft, film.selected?.unit === i ? 3 : 1.2);
      this.#histogram(c, L.units[i], m, i);
    });
    if (run.depth > 1 && of) this.#probabilities(c, of.out);
    const n = L.layers[0].length;
    const what = back ? "gradients" : "weights";
    text(c, medium ? `${n} units: their ${what}` : what, L.units[L.layers[0][0]].x, 18, { px: 12.5, weight: 600, fill: css.ink });
    if (run.depth === 1) return;
    const right = (L.units[judge.units[0]].x + L.W - (medium ? 60 : 30)) / 2;
    text(c, medium ? "probability of each label" : "probability", right, 18, { px: 12.5, weight: 600, fill: css.ink });
  }

  /** @param {number} i a unit of the first layer @param {Float64Array} w @param {Float64Array|null} [g] */
  weightsOf(i, w, g = null) {
    const { run, colours } = this.film;
    const { inputs } = run.units[i];
    const values = new Float64Array(run.points[0].length);
    for (const [column, , p] of inputs) values[column] = (g ?? w)[p];
    const top = Math.max(largest(values), g ? 1e-9 : 0.2);
    const side = Math.sqrt(values.length);
    const pair = g ? /** @type {const} */ (["bwd", "fwd"]) : /** @type {const} */ (["pos", "neg"]);
    return colours.picture(`w${i}`, side, side, (k) => values[k] / top, 0.92, ...pair);
  }

  /** @param {Context} c @param {number[]} out */
  #probabilities(c, out) {
    const { film, layout: L } = this;
    const { css } = film.colours;
    const { judge } = film;
    const scores = judge.units.map((i) => out[i]);
    const most = Math.max(...scores);
    const e = scores.map((v) => Math.exp(v - most));
    const total = e.reduce((a, b) => a + b, 0);
    const best = scores.indexOf(most);
    judge.units.forEach((i, k) => {
      const p = L.units[i];
      const q = e[k] / total;
      const room = L.W - p.x - p.r - (L.W >= 600 ? 74 : 60);
      const chosen = film.selected?.unit === i;
      this.#circle(c, p, null, false, chosen || k === best ? css.fwd : css.soft, chosen ? 3 : k === best ? 2.2 : 1.2);
      text(c, fmt(judge.classes[k] ?? k), p.x, p.y, { px: Math.max(11, Math.min(13, p.r)), weight: 600, fill: css.ink });
      c.fillStyle = css["fwd-soft"];
      c.fillRect(p.x + p.r + 10, p.y - 6, room, 12);
      c.fillStyle = css.fwd;
      c.fillRect(p.x + p.r + 10, p.y - 6, Math.max(1, room * q), 12);
      text(c, q.toFixed(2), p.x + p.r + 18 + room, p.y, {
        px: 11.5,
        mono: true,
        align: "left",
        weight: k === best ? 600 : 400,
        fill: css.ink,
      });
    });
  }

  // No network

  /** All weights as cells, and how often which size occurs. @param {Context} c @param {Moment} m */
  #weights(c, m) {
    const { film, layout: L } = this;
    const { css } = film.colours;
    const pad = L.W < 600 ? 12 : 26;
    const n = m.w.length;
    const columns = Math.min(n, Math.max(1, Math.ceil(Math.sqrt(n * 4))));
    const lines = Math.ceil(n / columns);
    const w = L.W < 600 ? L.W - 2 * pad : (L.W - 3 * pad) * 0.55;
    const cell = Math.min(28, w / columns, 150 / lines);
    const top = largest(m.w);
    text(c, `${n} weights`, pad, 18, { px: 12.5, weight: 600, align: "left", fill: css.ink });
    c.imageSmoothingEnabled = false;
    const picture = film.colours.picture("all", columns, lines, (i) => (i < n ? m.w[i] / top : 0), 0.85);
    c.drawImage(picture, pad, 36, cell * columns, cell * lines);
    c.strokeStyle = css.line;
    c.strokeRect(pad, 36, cell * columns, cell * lines);
    const words = `green is positive, violet negative; the largest has size ${fmt(top, 3)}`;
    text(c, words, pad, 36 + cell * lines + 16, { px: 11.5, align: "left", fill: css.soft });
    if (L.W >= 600) this.#bars(c, m, { x: pad * 2 + w, y: 36, w: L.W - 3 * pad - w, h: L.H - 90 }, top);
  }

  /** @param {Context} c @param {Moment} m @param {Place} at @param {number} top */
  #bars(c, m, at, top) {
    const { css } = this.film.colours;
    const bars = new Array(31).fill(0);
    for (const v of m.w) bars[Math.min(30, Math.floor(((v / top + 1) / 2) * 31)) || 0]++;
    const most = Math.max(...bars);
    text(c, "how often which size occurs", at.x, 18, { px: 12.5, weight: 600, align: "left", fill: css.ink });
    bars.forEach((v, k) => {
      const h = (v / most) * at.h;
      c.fillStyle = k < 15 ? css.neg : k > 15 ? css.pos : css.soft;
      c.fillRect(at.x + (k * at.w) / 31, at.y + at.h - h, at.w / 31 - 1, h);
    });
    c.fillStyle = css.line;
    c.fillRect(at.x, at.y + at.h, at.w, 1);
    text(c, fmt(-top, 3), at.x, at.y + at.h + 14, { px: 11, align: "left", fill: css.soft });
    text(c, "0", at.x + at.w / 2, at.y + at.h + 14, { px: 11, fill: css.soft });
    text(c, fmt(top, 3), at.x + at.w, at.y + at.h + 14, { px: 11, align: "right", fill: css.soft });
  }
}
