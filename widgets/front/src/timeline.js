// The buttons and the track of events: stepping, playing, scrubbing.

import { h } from "./dom.js";
import { button } from "./shell.js";
import { Transport } from "./transport.js";

/** @import { Frame, View } from "./view.js" */

const TICKS = 60; // a track of more events has no mark for each
const BEAT = 1100; // milliseconds between two events at normal speed
const SWEEP = 300; // and of a sweep
const LEAST = 90;
const LONGEST = 5000;

export class Timeline {
  #timer = 0;
  #sweeps = false; // is what plays a sweep?

  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.bar = new Transport(
      (what) => view.move(what),
      () => this.toggle(),
      (target, event, run) => view.on(target, event, run),
    );
    const { start, back, next, play, end, speed, clock } = this.bar;
    this.track = h("div", { class: "mg-track", role: "slider", tabindex: 0, "aria-label": "event", "aria-valuemin": 0 });
    this.rail = h("div", { class: "mg-rail" });
    this.carriage = h("div", { class: "mg-carriage" }, h("div", { class: "mg-knob" }));
    this.done = h("span", { class: "mg-done" });
    this.doneBack = h("span", { class: "mg-done mg-done-b" });
    this.track.append(this.rail, this.carriage);
    view.on(speed, "change", () => {
      if (!this.playing) return;
      this.stop();
      this.toggle();
    });
    this.sweep = button("sweep", "◂ sweep back", "the whole backward pass in one go");
    view.on(this.sweep, "click", () => this.sweepBack());
    view.shell.bar.append(start, back, next, play, this.sweep, end, speed, this.track, clock);
    view.on(this.track, "pointerdown", (/** @type {PointerEvent} */ e) => {
      this.stop();
      this.track.setPointerCapture(e.pointerId);
      this.track.focus();
      this.#scrub(e);
    });
    view.on(this.track, "pointermove", (/** @type {PointerEvent} */ e) => {
      if (this.track.hasPointerCapture(e.pointerId)) this.#scrub(e);
    });
  }

  get playing() {
    return this.#timer !== 0;
  }

  /** Speed factor of animations while playing. */
  get pace() {
    return this.playing ? Math.max(1, this.bar.pace) : 1;
  }

  /** The whole backward pass in one go; another press, or any other button, stops it; pressed while all is played, it sweeps at once. */
  sweepBack() {
    const { view } = this;
    const going = this.playing && this.#sweeps;
    this.stop();
    if (going) return;
    const { forward, total, step } = view.state;
    if (step < forward || step >= total) view.go(forward);
    if (view.calm.matches) return view.go(total);
    this.bar.playing(true);
    this.#sweeps = true;
    this.#timer = window.setInterval(() => {
      if (view.state.step >= view.state.total) this.stop();
      else view.go(view.after("next"));
    }, this.#pause);
  }

  /** Milliseconds between two events of a sweep, so that all of it takes LONGEST at most. */
  get #pause() {
    const { total, forward } = this.view.counted(0);
    return this.view.stops ? Math.max(LEAST, Math.min(SWEEP, LONGEST / Math.max(1, total - forward))) : SWEEP;
  }

  stop() {
    clearInterval(this.#timer);
    this.#timer = 0;
    this.#sweeps = false;
    this.bar.playing(false);
  }

  toggle() {
    if (this.playing) return this.stop();
    const { view } = this;
    if (view.state.step >= view.state.total) view.go(0);
    this.bar.playing(true);
    this.#timer = window.setInterval(() => {
      if (view.state.step >= view.state.total) this.stop();
      else view.go(view.after("next"));
    }, BEAT / this.bar.pace);
  }

  /** Where the forward half ends: the halves are as long as they have events, but neither is less than a quarter. */
  get #split() {
    const { total, forward } = this.view.counted(0);
    return total ? Math.min(0.75, Math.max(0.25, forward / total)) : 0.5;
  }

  /** Where an event stands on the track, 0 to 1: evenly within each half. @param {number} step */
  #place(step) {
    const { at: k, total, forward } = this.view.counted(step);
    if (k <= forward) return forward ? (k / forward) * this.#split : 0;
    return this.#split + ((k - forward) / (total - forward)) * (1 - this.#split);
  }

  /** @param {PointerEvent} e */
  #scrub(e) {
    const { step, total } = this.view.state;
    const box = this.track.getBoundingClientRect();
    const at = (e.clientX - box.left) / box.width;
    const far = (/** @type {number} */ k) => Math.abs(this.#place(k) - at);
    let best = 0;
    for (const k of this.view.stops ?? Array.from({ length: total + 1 }, (_, i) => i)) if (far(k) < far(best)) best = k;
    if (best !== step) this.view.go(best);
  }

  draw() {
    const { total } = this.view.state;
    const stops = this.view.stops ?? Array.from({ length: total + 1 }, (_, k) => k);
    const ticks = [];
    if (stops.length <= TICKS + 1)
      for (const k of stops.slice(1, -1)) ticks.push(h("i", { style: `left:${(100 * this.#place(k)).toFixed(2)}%` }));
    const split = 100 * this.#split;
    const halves = [
      h("span", { class: "mg-half", style: `width:${split}%` }),
      h("span", { class: "mg-half mg-half-b", style: `left:${split}%` }),
    ];
    this.done.style.width = `${split}%`;
    this.doneBack.style.left = `${split}%`;
    this.doneBack.style.width = `${100 - split}%`;
    this.rail.replaceChildren(...halves, this.done, this.doneBack, ...ticks);
    this.track.setAttribute("aria-valuemax", String(total));
  }

  /** @param {Frame} frame */
  update({ step }) {
    const at = this.#place(step);
    const split = this.#split;
    // Moved and clipped, not laid out: the browser does the rest without asking the page where anything is.
    this.carriage.style.transform = `translateX(${100 * at}%)`;
    const clip = (/** @type {number} */ share) => `inset(0 ${100 - 100 * Math.min(1, Math.max(0, share))}% 0 0 round 3px)`;
    this.done.style.clipPath = clip(at / split);
    this.doneBack.style.clipPath = clip((at - split) / (1 - split));
    const counted = this.view.counted(step);
    this.bar.tell(counted.at, counted.total);
    const { phase } = this.view.shell;
    this.track.setAttribute("aria-valuenow", String(step));
    this.track.setAttribute("aria-valuetext", `${phase.textContent}: ${this.view.live.text}`);
  }
}
