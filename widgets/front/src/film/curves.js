// Small curves: a weight over the run, the loss along a step, the loss over one weight.

import { fmt } from "../model/numbers.js";
import { text } from "./colours.js";
import { onCanvas } from "./ui.js";

/** @import { Film } from "./film.js" */
/** @import { Moment } from "./moment.js" */
/** @typedef {CanvasRenderingContext2D} Context */

const POINTS = 41; // of a curve
const WORK = 3_000_000; // operations for a curve: of more points every second, third, ... is computed

export class Curves {
  /** @param {Film} film */
  constructor(film) {
    this.film = film;
  }

  /** @param {Context} c @param {[number, number][]} points */
  #line(c, points) {
    c.beginPath();
    points.forEach(([x, y], i) => {
      if (i) c.lineTo(x, y);
      else c.moveTo(x, y);
    });
    c.stroke();
  }

  /** @param {Context} c @param {number} x @param {number} y @param {boolean} open */
  #dot(c, x, y, open) {
    const { css } = this.film.colours;
    c.beginPath();
    c.arc(x, y, 5, 0, 7);
    c.fillStyle = open ? css.bg : css.fwd;
    c.fill();
    if (!open) return;
    c.strokeStyle = css.fwd;
    c.lineWidth = 2.4;
    c.stroke();
  }

  /** A weight over all steps, its gradients as bars. @param {HTMLCanvasElement} canvas @param {Moment} m @param {number} p */
  history(canvas, m, p) {
    const { film } = this;
    const { css } = film.colours;
    const { run, branch } = film;
    const other = film.runs[film.other];
    const of = (/** @type {import("./run.js").Run} */ r) => Array.from({ length: r.length + 1 }, (_, k) => r.weights(k)[p]);
    const series = of(run);
    const second = branch ? Array.from({ length: branch.length + 1 }, (_, i) => branch.weights(branch.from + i)[p]) : [];
    const third = other ? of(other) : [];
    const all = [...series, ...second, ...third].filter(Number.isFinite);
    const [low, high] = [Math.min(...all), Math.max(...all)];
    onCanvas(canvas, 132, (c, W, H) => {
      const x = (/** @type {number} */ k) => 52 + (k / Math.max(1, run.length)) * (W - 64);
      const y = (/** @type {number} */ v) => 8 + ((high - v) / (high - low || 1)) * (H - 58);
      const label = (/** @type {string} */ words, /** @type {number} */ at) =>
        text(c, words, 46, at, { px: 11, align: "right", fill: css.soft });
      label(fmt(high, 3), y(high) + 3);
      label(fmt(low, 3), y(low));
      if (low < 0 && high > 0) {
        c.strokeStyle = css.line;
        this.#line(c, [
          [52, y(0)],
          [W - 12, y(0)],
        ]);
        if (y(0) - y(high) > 16 && y(low) - y(0) > 14) label("0", y(0));
      }
      const draw = (/** @type {number[]} */ values, /** @type {number} */ from, /** @type {string} */ colour, /** @type {number} */ w) => {
        c.strokeStyle = colour;
        c.lineWidth = w;
        this.#line(
          c,
          values.map((v, i) => [x(i + from), y(v)]),
        );
      };
      c.setLineDash([5, 3]);
      if (third.length) draw(third, 0, css.soft, 1.3);
      c.setLineDash([]);
      draw(series, 0, css.fwd, 1.8);
      if (branch) draw(second, branch.from, css.ink, 1.8);
      const top = Math.max(1e-300, ...run.frames.map((f) => Math.abs(f.g[p])).filter(Number.isFinite));
      const base = H - 20;
      c.fillStyle = css.bwd;
      c.globalAlpha = 0.75;
      run.frames.forEach((f, k) => {
        const v = (f.g[p] / top) * 16;
        c.fillRect(x(k), v > 0 ? base - v : base, Math.max(1, (W - 64) / run.length - 0.4), Math.abs(v));
      });
      c.globalAlpha = 1;
      text(c, "grad", 46, base, { px: 11, align: "right", fill: css.bwd });
      c.strokeStyle = css.fwd;
      c.lineWidth = 1.4;
      this.#line(c, [
        [x(film.k), 4],
        [x(film.k), H - 2],
      ]);
      this.#dot(c, x(film.k), y(m.w[p]), false);
    });
  }

  /** Which points a curve is computed from. @param {Moment} m */
  #rows(m) {
    const rows = Math.max(1, m.rows.length);
    const cost = rows * (this.film.program?.tape.v.length ?? 1) * POINTS;
    return Math.min(8, Math.max(1, Math.ceil(cost / WORK)));
  }

  /** The loss of this step's points at w − a × gradient, for a from 0 to a little over the learning rate. Returns it in words.
   * @param {HTMLCanvasElement} canvas @param {Moment} m */
  along(canvas, m) {
    const { film } = this;
    const { css } = film.colours;
    const { program } = film;
    const g = m.g;
    const rate = film.rate();
    if (!program || !g || rate === null) return "";
    const at = (/** @type {number} */ a) =>
      program.loss(
        m.w.map((x, p) => x - a * g[p]),
        m.rows,
      );
    const every = this.#rows(m);
    /** @type {[number, number][]} */ let points = [];
    let most = (rate || 1) * 1.6;
    for (let wider = 0; wider < 4; wider++, most *= 2) {
      points = [];
      for (let i = 0; i < POINTS; i += every) points.push([(i / (POINTS - 1)) * most, at((i / (POINTS - 1)) * most)]);
      const low = points.reduce((a, b) => (b[1] < a[1] ? b : a));
      if (wider === 3 || points.indexOf(low) < points.length * 0.8 || points[points.length - 1][1] < 0.25 * points[0][1]) break;
    }
    const now = points[0][1];
    const square = g.reduce((s, v) => s + v * v, 0);
    const land = at(rate);
    const low = points.reduce((a, b) => (b[1] < a[1] ? b : a));
    onCanvas(canvas, 150, (c, W, H) => {
      // what explodes may leave the picture, so that the valley stays visible
      const high = Math.min(Math.max(...points.map((p) => p[1]).filter(Number.isFinite)), 6 * Math.max(now, 1e-9)) * 1.05 || 1;
      const x = (/** @type {number} */ a) => 50 + (a / most) * (W - 68);
      const least = Math.min(...points.map((p) => p[1]), now, land);
      const base = least > 0.7 * (high / 1.05) ? least - 0.5 * (high / 1.05 - least) - 1e-9 : 0; // a flat curve has an axis of its own
      const y = (/** @type {number} */ v) => 10 + ((high - v) / (high - base)) * (H - 42);
      this.#axes(c, W, [base, high / 1.05], y);
      c.save();
      c.beginPath();
      c.rect(44, 0, W, H - 30);
      c.clip();
      c.strokeStyle = css.bwd;
      c.lineWidth = 1.6;
      c.setLineDash([6, 4]);
      const to = Math.min(most, now / (square || 1));
      this.#line(c, [
        [x(0), y(now)],
        [x(to), y(now - to * square)],
      ]);
      c.setLineDash([]);
      c.strokeStyle = css.fwd;
      c.lineWidth = 2.2;
      this.#line(
        c,
        points.map(([a, v]) => [x(a), y(v)]),
      );
      c.strokeStyle = css.soft;
      c.lineWidth = 1;
      c.setLineDash([2, 3]);
      this.#line(c, [
        [x(rate), 8],
        [x(rate), H - 28],
      ]);
      c.setLineDash([]);
      this.#dot(c, x(0), y(now), false);
      this.#dot(c, x(rate), Math.max(8, y(land)), true);
      c.restore();
      const near = x(rate) < x(0) + 44;
      if (!near) text(c, "now", x(0), H - 16, { px: 11, fill: css.soft });
      text(c, `lr ${fmt(rate, 3)}`, x(rate), H - 16, { px: 11, weight: 600, fill: css.ink, align: near ? "left" : "center" });
      if (x(rate) < W - 100) text(c, "step size", W - 12, H - 16, { px: 11, fill: css.soft, align: "right" });
    });
    if (square === 0) return "No point sends a gradient back, so every gradient is 0 and nothing moves.";
    const digits = fmt(now, 3) === fmt(land, 3) ? 5 : 3;
    const from = `from ${fmt(now, digits)} to ${fmt(land, digits)}`;
    if (land > now)
      return `On these points the step makes the loss larger, ${from}: it goes past the valley. The best step along this line is ${fmt(low[0], 2)}.`;
    if (low[0] < rate * 0.7)
      return `The step lowers the loss of these points ${from}, but ${fmt(low[0], 2)} would have been a better step than ${fmt(rate, 3)}.`;
    if (low[0] > 3 * rate)
      return `The step is short: it lowers the loss of these points ${from}, and it could have gone ${fmt(low[0] / rate, 2)} times as far in this direction.`;
    return `The step lowers the loss of these points ${from}. The dashed tangent has slope −${fmt(square, 3)}, the squared size of the gradient.`;
  }

  /** The loss of this step's points over one weight, the others as they are. Returns it in words.
   * @param {HTMLCanvasElement} canvas @param {Moment} m @param {number} p */
  over(canvas, m, p) {
    const { film } = this;
    const { css } = film.colours;
    const { program } = film;
    const g = m.g?.[p];
    const rate = film.rate();
    if (!program || g === undefined || rate === null) return "";
    const w = Float64Array.from(m.w);
    const here = m.w[p];
    const to = here - rate * g;
    const side = Math.max(2 * Math.abs(to - here), 0.6 * Math.abs(here), 0.5);
    const at = (/** @type {number} */ v) => {
      w[p] = v;
      return program.loss(w, m.rows);
    };
    const every = this.#rows(m);
    /** @type {[number, number][]} */ const points = [];
    for (let i = 0; i < POINTS; i += every) {
      const v = here - side + (2 * side * i) / (POINTS - 1);
      points.push([v, at(v)]);
    }
    const [now, land] = [at(here), at(to)];
    onCanvas(canvas, 150, (c, W, H) => {
      const values = points.map((q) => q[1]).filter(Number.isFinite);
      const [high, low] = [Math.max(...values) * 1.05 || 1, Math.min(...values) * 0.6];
      const x = (/** @type {number} */ v) => 50 + ((v - here + side) / (2 * side)) * (W - 68);
      const y = (/** @type {number} */ v) => 10 + ((high - v) / (high - low || 1)) * (H - 42);
      this.#axes(c, W, [low, high / 1.05], y);
      c.save();
      c.beginPath();
      c.rect(50, 4, W - 62, H - 32);
      c.clip();
      c.strokeStyle = css.bwd;
      c.lineWidth = 1.6;
      c.setLineDash([6, 4]);
      this.#line(
        c,
        [-0.7, 0.7].map((d) => [x(here + d * side), y(now + d * g * side)]),
      );
      c.setLineDash([]);
      c.strokeStyle = css.fwd;
      c.lineWidth = 2.2;
      this.#line(
        c,
        points.map(([v, l]) => [x(v), y(l)]),
      );
      c.restore();
      this.#dot(c, x(here), y(now), false);
      this.#dot(c, x(to), y(land), true);
      text(c, fmt(here - side, 2), 50, H - 16, { px: 11, align: "left", fill: css.soft });
      text(c, fmt(here + side, 2), W - 12, H - 16, { px: 11, align: "right", fill: css.soft });
      text(c, fmt(here, 3), x(here), H - 16, { px: 11, weight: 600, fill: css.ink });
    });
    if (g === 0) return "Its gradient is 0: a small change of this weight alone does not change the loss of these points.";
    return `Dashed: the tangent. Its slope is this weight's gradient, ${fmt(g, 3)}. The filled point is the weight now, the open one the weight after this step, if all others stayed as they are.`;
  }

  /** @param {Context} c @param {number} W @param {number[]} ticks @param {(v: number) => number} y */
  #axes(c, W, ticks, y) {
    const { css } = this.film.colours;
    c.strokeStyle = css.line;
    c.lineWidth = 1;
    for (const v of ticks) {
      this.#line(c, [
        [50, y(v)],
        [W - 12, y(v)],
      ]);
      text(c, fmt(v, ticks[0] > 0 ? 3 : 2), 44, y(v), { px: 11, align: "right", fill: css.soft });
    }
  }
}
