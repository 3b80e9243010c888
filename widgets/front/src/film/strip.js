// The strip: small pictures of the network's life over the curve of its loss. It is the slider of the film.

import { h } from "../dom.js";
import { fmt } from "../model/numbers.js";
import { text } from "./colours.js";
import { GH, GW, largest } from "./maps.js";

/** @import { Film } from "./film.js" */
/** @typedef {CanvasRenderingContext2D} Context */
/** @typedef {{W: number, H: number, x0: number, x1: number, y0: number, y1: number, small: number, x: (k: number) => number,
 *   y: (v: number) => number, ticks: number[], top: number}} Scale small: the height of the small pictures */

const MOST = 150; // small pictures that are kept

export class Strip {
  /** @type {HTMLCanvasElement|null} what does not change from step to step */ #still = null;
  #key = "";
  /** @type {Map<string, HTMLCanvasElement>} */ #small = new Map();

  /** @param {Film} film */
  constructor(film) {
    this.film = film;
    this.canvas = h("canvas", { "aria-hidden": "true" });
    const about = { class: "mf-strip", tabindex: 0, role: "slider", "aria-label": "step of training", "aria-valuemin": 1 };
    this.el = h("div", { ...about, "aria-valuenow": 1, "aria-valuemax": 1 }, this.canvas);
    this.el.addEventListener("pointerdown", (e) => {
      this.el.setPointerCapture(e.pointerId);
      const at = (/** @type {PointerEvent} */ p) => {
        const scale = this.scale(this.canvas.clientWidth);
        const x = p.clientX - this.canvas.getBoundingClientRect().left;
        film.go(Math.round(((x - scale.x0) / (scale.x1 - scale.x0)) * film.span));
      };
      at(e);
      this.el.addEventListener("pointermove", at);
      this.el.addEventListener("pointerup", () => this.el.removeEventListener("pointermove", at), { once: true });
    });
  }

  /** Draw everything anew at the next step. */
  forget() {
    this.#key = "";
  }

  /** @returns {number[]} */
  #losses() {
    const { film } = this;
    const other = film.runs[film.other]?.frames ?? [];
    return [...film.run.frames, ...other].map((f) => f.loss).concat(film.branch?.losses ?? []);
  }

  /** @param {number} W @returns {Scale} */
  scale(W) {
    const { film } = this;
    const pictures = film.run.kind === "plane" || film.run.kind === "images";
    const small = !pictures ? 0 : W < 600 ? 34 : 46;
    const [x0, x1] = [W < 600 ? 44 : 58, W - 18];
    const high = W < 600 ? 128 : 150;
    const [y0, y1] = [small + 24, small + high - 6];
    const seen = this.#losses().filter(Number.isFinite);
    let top = Math.max(1e-12, ...seen);
    const low = Math.min(top, ...seen.filter((v) => v > 0));
    const first = seen[0] ?? 1;
    if (!film.log && top > 30 * first && first > 0) top = 30 * first; // a run that explodes: the rest of the curve stays legible
    const x = (/** @type {number} */ k) => x0 + (k / film.span) * (x1 - x0);
    if (film.log) {
      const [from, to] = [
        Math.floor(Math.log10(Math.max(low, 1e-12))),
        Math.max(Math.ceil(Math.log10(top)), Math.floor(Math.log10(low)) + 1),
      ];
      const y = (/** @type {number} */ v) => (v > 0 ? y0 + ((to - Math.max(from, Math.log10(v))) / (to - from)) * (y1 - y0) : y1);
      const every = Math.ceil((to - from) / 6);
      const ticks = Array.from({ length: Math.floor((to - from) / every) + 1 }, (_, i) => 10 ** (from + i * every));
      return { W, H: small + high + 22, x0, x1, y0, y1, small, x, y, ticks, top };
    }
    const base = 10 ** Math.floor(Math.log10(top));
    const by = [0.1, 0.2, 0.5, 1, 2, 5, 10].map((s) => s * base).find((s) => top / s <= 3.2) ?? top / 3;
    const ticks = Array.from({ length: Math.floor((top * 1.02) / by) + 1 }, (_, i) => i * by);
    const y = (/** @type {number} */ v) => y1 - (Math.min(Math.max(v, 0), top) / (top * 1.04)) * (y1 - y0);
    return { W, H: small + high + 22, x0, x1, y0, y1, small, x, y, ticks, top };
  }

  draw() {
    const { film, canvas } = this;
    const W = canvas.clientWidth;
    if (!W) return;
    const T = this.scale(W);
    const ratio = devicePixelRatio || 1;
    const [w, high] = [Math.round(W * ratio), Math.round(T.H * ratio)];
    if (canvas.width !== w || canvas.height !== high) {
      Object.assign(canvas, { width: w, height: high });
      canvas.style.height = `${T.H}px`;
      this.forget();
    }
    const key = [
      film.shown,
      W,
      film.log,
      film.run.length,
      film.live,
      film.selected?.unit,
      film.branched && film.branch?.length,
      film.branch?.length,
      film.other,
      ratio,
    ].join();
    if (key !== this.#key || !this.#still) {
      this.#still = Object.assign(document.createElement("canvas"), { width: w, height: high });
      const c = /** @type {Context} */ (this.#still.getContext("2d"));
      c.scale(ratio, ratio);
      this.curve(c, T);
      this.#key = key;
    }
    const c = /** @type {Context} */ (canvas.getContext("2d"));
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.drawImage(this.#still, 0, 0);
    c.scale(ratio, ratio);
    this.cursor(c, T);
    this.#tell();
  }

  #tell() {
    const { film } = this;
    const at = film.k >= film.run.length ? "after the last step" : `step ${film.run.step(film.k)}, loss ${fmt(film.loss(), 3)}`;
    this.el.setAttribute("aria-valuenow", String(film.k + 1));
    this.el.setAttribute("aria-valuemax", String(film.last + 1));
    this.el.setAttribute("aria-valuetext", at);
  }

  /** @param {Context} c @param {Scale} T */
  cursor(c, T) {
    const { film } = this;
    const { css } = film.colours;
    const colour = film.sweep ? css.bwd : css.fwd;
    const x = T.x(film.k);
    const v = film.k < film.run.length ? film.loss() : Number.NaN;
    c.strokeStyle = colour;
    c.lineWidth = 1.6;
    c.beginPath();
    c.moveTo(x, 6);
    c.lineTo(x, T.y1 + 4);
    c.stroke();
    if (Number.isFinite(v)) {
      c.beginPath();
      c.arc(x, T.y(v), 5.5, 0, 7);
      c.fillStyle = colour;
      c.fill();
      c.strokeStyle = css.bg;
      c.lineWidth = 2;
      c.stroke();
    }
    c.beginPath();
    c.roundRect(x - 7, 1, 14, 11, 4);
    c.fillStyle = colour;
    c.fill();
  }

  /** @param {Context} c @param {Scale} T */
  curve(c, T) {
    const { film } = this;
    const { css } = film.colours;
    c.fillStyle = css.bg;
    c.fillRect(0, 0, T.W, T.H);
    if (T.small) this.#pictures(c, T);
    for (const v of T.ticks) {
      c.strokeStyle = css.line;
      c.lineWidth = 1;
      c.beginPath();
      c.moveTo(T.x0, T.y(v));
      c.lineTo(T.x1, T.y(v));
      c.stroke();
      text(c, fmt(v, 2), T.x0 - 7, T.y(v), { px: 11, align: "right", fill: css.soft });
    }
    this.#steps(c, T);
    this.#lines(c, T);
    for (const { k } of film.run.spikes) {
      const [x, y] = [T.x(k), Number.isFinite(film.run.loss(k)) ? T.y(film.run.loss(k)) - 8 : T.y0];
      c.beginPath();
      c.moveTo(x, y + 3);
      c.lineTo(x - 4.5, y - 5);
      c.lineTo(x + 4.5, y - 5);
      c.closePath();
      c.fillStyle = css.bwd;
      c.fill();
    }
    text(c, "loss", T.x0 - 7, T.y0 - 12, { px: 11.5, align: "right", weight: 600, fill: css.ink });
  }

  /** The numbers of the steps. @param {Context} c @param {Scale} T */
  #steps(c, T) {
    const { film } = this;
    const { run } = film;
    for (let j = 0; j <= 4; j++) {
      const k = Math.round((film.span * j) / 4);
      const words = j === 0 ? "step 1" : String(k <= run.length - 1 ? run.step(k) : 1 + k * run.every - (film.live ? 0 : run.every));
      text(c, words, T.x(k), T.y1 + 15, { px: 11, fill: film.colours.css.soft, align: j === 0 ? "left" : j === 4 ? "right" : "center" });
    }
  }

  /** @param {Context} c @param {Scale} T */
  #lines(c, T) {
    const { film } = this;
    const { css } = film.colours;
    /** @param {number[]} losses @param {number} from @param {string} colour @param {number} width @param {number[]} dash */
    const line = (losses, from, colour, width, dash = []) => {
      c.strokeStyle = colour;
      c.lineWidth = width;
      c.setLineDash(dash);
      c.lineJoin = "round";
      c.beginPath();
      let pen = false; // the curve breaks where the loss is not a number
      losses.forEach((v, i) => {
        const ok = !Number.isNaN(v);
        const [x, y] = [T.x(i + from), T.y(v)];
        if (ok && pen) c.lineTo(x, y);
        else if (ok) c.moveTo(x, y);
        pen = ok;
      });
      c.stroke();
      c.setLineDash([]);
    };
    const other = film.runs[film.other];
    if (other?.length) {
      line(
        other.frames.map((f) => f.loss),
        0,
        css.soft,
        1.4,
        [5, 3],
      );
      const end = Math.min(other.length - 1, film.span);
      text(c, other.about.name, Math.min(T.x1 - 4, T.x(end)), T.y(other.loss(end)) - 9, {
        px: 11,
        align: "right",
        fill: css.soft,
        halo: css.bg,
        weight: 600,
      });
    }
    c.globalAlpha = film.branch ? 0.6 : 1;
    line(
      film.run.frames.map((f) => f.loss),
      0,
      css.fwd,
      1.7,
    );
    c.globalAlpha = 1;
    const { branch } = film;
    if (!branch) return;
    line(branch.losses, branch.from, css.ink, 1.8);
    const x = T.x(branch.from);
    c.beginPath();
    c.arc(x, T.y(film.run.loss(branch.from)), 4, 0, 7);
    c.fillStyle = css.ink;
    c.fill();
    text(c, `what if: ${branch.label}`, Math.min(x + 8, T.x1 - 170), T.y0 + 6, {
      px: 11.5,
      align: "left",
      halo: css.bg,
      weight: 600,
      fill: css.ink,
    });
  }

  /** The plane at some steps, or the map or the weights of the selected unit. @param {Context} c @param {Scale} T */
  #pictures(c, T) {
    const { film } = this;
    const { css } = film.colours;
    const { run, plane } = film;
    const wide = T.small * (plane ? GW / GH : 1);
    const n = Math.max(3, Math.floor((T.x1 - T.x0 + 6) / (wide + 6)));
    const by = (T.x1 - T.x0) / n;
    for (let j = 0; j < n; j++) {
      const k = j === 0 ? 0 : Math.round(((j + 0.5) / n) * film.span);
      const x = T.x0 + by * (j + 0.5) - wide / 2;
      if (k <= film.last && run.length) c.drawImage(this.#picture(k, wide, T.small), x - 1, 13, wide + 2, T.small + 2);
      else {
        c.lineWidth = 1;
        c.strokeStyle = css.line;
        c.setLineDash([3, 3]);
        c.strokeRect(x, 14, wide, T.small);
        c.setLineDash([]);
      }
    }
  }

  /** One of them, which is drawn once: while a loop runs the strip is drawn ten times a second. @param {number} k @param {number} w
   * @param {number} high */
  #picture(k, w, high) {
    const { film } = this;
    const { run, plane, judge, colours } = film;
    const unit = film.selected?.unit ?? -1;
    const ratio = devicePixelRatio || 1;
    const branch = film.branched && film.branch && k > film.branch.from ? film.branch : null;
    const step = k === run.length ? "end" : run.step(k);
    const key = [film.shown, branch?.label, step, unit, w, ratio, colours.css.bg, colours.flat].join();
    const known = this.#small.get(key);
    if (known) return known;
    if (this.#small.size > MOST) this.#small.clear();
    const canvas = Object.assign(document.createElement("canvas"), {
      width: Math.ceil((w + 2) * ratio),
      height: Math.ceil((high + 2) * ratio),
    });
    if (branch ? branch.from + branch.length >= k : k < run.length || !film.live) this.#small.set(key, canvas);
    const c = /** @type {Context} */ (canvas.getContext("2d"));
    c.scale(canvas.width / (w + 2), canvas.height / (high + 2));
    const at = { x: 1, y: 1, w, h: high };
    const weights = film.weights(k);
    if (plane && (unit < 0 || judge.units.includes(unit))) {
      film.stage.ground(c, at, plane.maps(weights));
      film.stage.frame(c, at);
      return canvas;
    }
    let picture = plane ? null : film.stage.weightsOf(run.units[unit]?.layer === 1 ? unit : 0, weights);
    if (!picture) {
      const z = /** @type {import("./maps.js").Plane} */ (plane).maps(weights).out[unit];
      const top = largest(z);
      picture = colours.picture("small", GW, GH, (i) => z[i] / top, 0.72);
    }
    c.imageSmoothingEnabled = Boolean(plane);
    c.drawImage(picture, at.x, at.y, at.w, at.h);
    c.lineWidth = 1;
    c.strokeStyle = unit >= 0 ? colours.css.fwd : colours.css.line;
    c.strokeRect(at.x, at.y, at.w, at.h);
    return canvas;
  }
}
