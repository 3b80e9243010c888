// What if: the same program from a step on, with the same points and another learning rate.

import { fmt } from "../model/numbers.js";

/** @import { Film } from "./film.js" */

const SLICE = 12; // milliseconds of training in a frame of the page

export class Branch {
  #frame = 0;
  /** @type {Float64Array[]} */ #weights;
  /** @type {Float64Array[]} */ #grads = [];
  /** @type {number[]} */ losses = [];

  /** @param {Film} film @param {number} from @param {number} factor */
  constructor(film, from, factor) {
    this.film = film;
    this.base = film.run;
    this.from = from;
    this.factor = factor;
    this.#weights = [Float64Array.from(film.run.weights(from))];
    const rate = film.run.rate(from) ?? 0;
    const same = film.run.frames.every((f) => f.rate === rate);
    const what = same ? `lr ${fmt(rate * factor, 3)}` : `lr × ${fmt(factor, 2)}`;
    this.label = `${what} from step ${film.run.step(from)}`;
    /** A sentence about its end. */
    this.note = "";
  }

  get length() {
    return this.losses.length;
  }

  /** @param {number} k */
  weights(k) {
    return this.#weights[Math.min(k - this.from, this.#weights.length - 1)];
  }

  /** @param {number} k */
  grads(k) {
    return this.#grads[k - this.from] ?? null;
  }

  /** @param {number} k */
  loss(k) {
    return this.losses[k - this.from] ?? Number.NaN;
  }

  /** The rate of a step; one that the recorded step did not have is that of the step before. @param {number} k */
  rate(k) {
    let rate = null;
    for (let i = Math.min(k, this.base.length - 1); i >= 0 && rate === null; i--) rate = this.base.rate(i);
    return (rate ?? 0) * this.factor;
  }

  stop() {
    cancelAnimationFrame(this.#frame);
  }

  run() {
    const { film } = this;
    const total = this.base.length - this.from;
    const tick = () => {
      if (film.branch !== this || !film.program) return;
      const end = performance.now() + (film.still ? 1e9 : SLICE);
      while (this.length < total && performance.now() < end) {
        const k = this.from + this.length;
        const rate = this.rate(k);
        let w = this.#weights[this.length];
        for (let j = 0; j < this.base.every; j++) {
          const { loss, grads } = film.program.run(w, this.base.rows(k));
          w = w.map((x, p) => x - rate * grads[p]);
          if (j) continue; // the steps between two frames of the film
          this.losses.push(loss);
          this.#grads.push(grads);
        }
        this.#weights.push(w);
      }
      const done = this.length >= total;
      film.k = this.from + this.length - (done ? 0 : 1);
      if (done) this.#end();
      film.strip.forget();
      film.refresh();
      if (!done) this.#frame = requestAnimationFrame(tick);
      else film.bar.draw();
    };
    tick();
  }

  #end() {
    const { film } = this;
    const { judge, program } = film;
    if (!program) return;
    let ends = `At the end the loss is ${fmt(this.losses[this.length - 1], 3)}; in the film it is ${fmt(this.base.loss(this.base.length - 1), 3)}.`;
    if (judge.decides) {
      const [right, judged] = judge.count(program, this.weights(this.base.length));
      const [of] = judge.count(program, this.base.last);
      ends = `At the end ${right} of ${judged} points are on the right side; the film ends with ${of}.`;
    }
    this.note = `**What if: ${this.label}?** ${ends} ${this.base.draws ? "The branch used the same points at each step. " : ""}Escape removes it.`;
  }
}
