// The sliders. A drag shows points of the tables that the kernel has sent; the new position is sent when the slider rests.
// idle → (a slider moves) → dragging → (nothing moves, and nobody holds it) → idle; parts that are not visible are updated afterwards.

import { columnOf, drawCurve } from "./curve.js";
import { h, put } from "./dom.js";
import { fmt, tail } from "./model/numbers.js";
import { lookUp, moved, nearest, readSweeps, recorded } from "./model/sweep.js";
import { REST } from "./store.js";

/** @import { Frame, View } from "./view.js" */

const SHOWN = 6; // sliders at once; the others are found by name
const NAME = 16; // characters

/** @typedef {{node: number, range: HTMLInputElement, out: HTMLElement, row: HTMLElement}} Slider */

export class Inputs {
  /** @type {Slider[]} */ #sliders = [];
  #pause = 0;
  #turn = 0;
  #held = false;
  /** The mouse is over the sliders. */ pointed = false;
  /** The input that was moved last: the curve is about it. */ #last = -1;
  curve = h("div");
  /** The inputs whose gradient is complete at this step. @type {(node: number) => boolean} */ #reached = () => false;
  /** The inputs as a drag put them last. @type {Record<string, number>|null} */ #hand = null;

  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.box = view.shell.inputs;
    this.search = h("input", { class: "mg-search", type: "search", "aria-label": "find an input by name" });
    view.on(this.search, "input", () => {
      this.draw();
      this.search.focus();
    });
    this.reset = h("button", { class: "mg-button mg-small mg-reset", type: "button" }, "reset");
    this.reset.title = "put every input back to the values at which the graph was recorded";
    view.on(this.reset, "click", () => {
      view.model.set("inputs", { ...view.model.get("recorded") });
      view.save();
    });
    this.#lookAhead();
    const letGo = () => {
      if (!this.#held) return;
      this.#held = false;
      this.#still();
    };
    for (const type of ["pointerup", "pointercancel"]) view.on(document, type, letGo, { capture: true });
  }

  /** What a drag's frames need to know is looked up when the mouse or the keyboard comes to the sliders: reading it in a frame would force
   * the browser to lay out. */
  #lookAhead() {
    const { view } = this;
    view.on(this.box, "pointerenter", () => {
      this.pointed = true;
      if (!this.dragging && !view.offscreen.partly) this.#ahead();
    });
    view.on(this.box, "pointerleave", () => {
      this.pointed = false;
      if (!this.dragging) view.offscreen.settleSoon(600);
    });
    view.on(this.box, "focusin", () => {
      if (this.dragging || this.pointed || view.offscreen.partly) return;
      this.#ahead();
      view.offscreen.settleSoon(3000); // reached by keyboard, and not moved
    });
  }

  #ahead() {
    this.view.panes.forget();
    this.view.offscreen.hide();
  }

  get dragging() {
    return this.view.state.drag === "dragging";
  }

  /** @returns {Record<string, number>} */
  get #at() {
    return this.view.model.get("inputs") ?? {};
  }

  /** Are all inputs where they were recorded? */
  get home() {
    return Object.entries(this.view.model.get("recorded") ?? {}).every(([k, v]) => this.#at[k] === v);
  }

  /** @param {number} id */
  #sweep(id) {
    return this.view.state.sweeps.find((x) => x.node === id);
  }

  draw() {
    const { view } = this;
    const { trace, sweeps } = view.state;
    const leaves = /** @type {number[]} */ (view.model.get("leaves") ?? []);
    const many = leaves.length > SHOWN;
    const found = leaves.filter((id) => !many || trace.nodes[id].label.includes(this.search.value)).slice(0, SHOWN);
    this.#sliders = found.map((id) => this.#slider(id));
    this.search.placeholder = `find one of ${leaves.length} inputs`;
    const longest = Math.max(1, ...found.map((id) => trace.nodes[id].label.length));
    this.box.style.setProperty("--names", `${Math.min(NAME, longest) + 1}ch`);
    this.box.hidden = !leaves.length || (!sweeps.length && !many);
    const rows = h("div", { class: "mg-rows" }, ...this.#sliders.map((x) => x.row));
    if (!found.includes(this.#last)) this.#last = found[0] ?? -1;
    this.box.replaceChildren(...(many ? [this.search, this.reset, rows, this.curve] : [rows, this.curve, this.reset]));
    this.place();
  }

  /** @param {number} id @returns {Slider} */
  #slider(id) {
    const { view } = this;
    const { label } = view.state.trace.nodes[id];
    const range = h("input", { class: "mg-slider", type: "range", min: 0, step: 1, "aria-label": label });
    const out = h("output");
    const limits = h("span", { class: "mg-soft mg-limits" });
    const sweep = this.#sweep(id);
    if (sweep) {
      range.max = String(sweep.xs.length - 1);
      put(limits, `${fmt(sweep.xs[0], 4)} … ${fmt(sweep.xs[sweep.xs.length - 1], 4)}`);
    } else {
      range.disabled = true;
      if (view.state.alive) view.send({ type: "want", node: id });
    }
    range.oninput = () => this.#slide(id, Number(range.value));
    range.onpointerdown = () => {
      this.#held = true;
      this.#ahead();
    };
    range.onchange = () => {
      this.#held = false;
      this.#rest();
    };
    const name = h("span", { class: "mg-input-name", title: label }, tail(label, NAME));
    return { node: id, range, out, row: h("label", { class: "mg-input" }, name, range, out, limits) };
  }

  /** @param {number} id @param {number} index of a point */
  #slide(id, index) {
    const { view } = this;
    view.offscreen.stay();
    const sweep = this.#sweep(id);
    if (!sweep) return;
    const first = !this.dragging;
    this.#last = id;
    view.store.set({ drag: "dragging" });
    if (first) this.#ahead();
    this.#hand = { ...this.#at, [id]: sweep.xs[index] };
    view.model.set("inputs", this.#hand);
    this.#still();
  }

  /** Nothing has moved for a while: send the position, and end the drag unless the mouse button is still down. A slow frame is
   * not idle time, so pending events are handled first. */
  #still() {
    clearTimeout(this.#pause);
    const mine = ++this.#turn;
    this.#pause = window.setTimeout(() => {
      this.view.save();
      if (this.#held) return;
      if (!window.requestIdleCallback) return this.#rest();
      const idle = () => {
        if (mine === this.#turn) this.#rest();
      };
      requestIdleCallback(idle, { timeout: 1000 });
    }, REST);
  }

  /** End the drag: send the position, update the sentences, and a little later the parts that are not visible. */
  #rest() {
    const { view } = this;
    this.#turn++;
    clearTimeout(this.#pause);
    if (!this.dragging) return;
    view.store.set({ drag: "idle" });
    view.shell.say.style.minHeight = "";
    view.save();
    if (view.offscreen.big) view.offscreen.room = 0;
    view.update();
    view.offscreen.settleSoon(300);
  }

  /** The model's inputs have changed: by a drag, by the kernel, by another view. */
  changed() {
    const { view } = this;
    if (view.arriving) return;
    // After a short rest the kernel's answer may arrive when the slider has moved on: where the hand put it is newer.
    if (this.dragging && this.#hand && view.model.get("inputs") !== this.#hand) return view.model.set("inputs", this.#hand);
    const { trace, sweeps, point } = view.state;
    this.place();
    const found = lookUp(sweeps, this.#at) ?? (this.home ? recorded(trace) : point);
    if (found === point) view.update();
    else view.store.set({ point: found });
  }

  /** The kernel has computed tables again. */
  swept() {
    const { view } = this;
    if (view.arriving) return;
    view.store.prepare({ sweeps: readSweeps(view.model.get("sweeps")) });
    const waiting = this.#sliders.some((x) => x.range.disabled && view.state.alive);
    if (!this.dragging && waiting) this.draw();
    this.changed();
  }

  /** Put the sliders where the inputs are. */
  place() {
    const { alive, trace } = this.view.state;
    const at = this.#at;
    for (const x of this.#sliders) {
      const sweep = this.#sweep(x.node);
      const value = at[x.node];
      if (!sweep || value === undefined) continue;
      const index = nearest(sweep.xs, value);
      if (Number(x.range.value) !== index) x.range.value = String(index);
      x.range.style.setProperty("--at", `${(100 * index) / (sweep.xs.length - 1)}%`);
      x.range.setAttribute("aria-valuetext", `${trace.nodes[x.node].label} = ${fmt(value)}`);
      put(x.out, fmt(value));
      const others = moved(sweep, at);
      x.range.disabled = others.length > 0 && !alive;
      x.row.classList.toggle("mg-stale", others.length > 0);
    }
    this.#draw();
    this.#note();
  }

  /** The slope below the curve is there once the backward pass has reached the input. @param {Frame} frame */
  update({ now }) {
    const before = this.#reached(this.#last);
    this.#reached = (node) => now.got[node] > 0 && now.got[node] === now.need[node];
    if (this.#reached(this.#last) !== before) this.#draw();
  }

  /** The result over the input that was moved last. */
  #draw() {
    const { trace } = this.view.state;
    const sweep = this.#sweep(this.#last);
    const at = this.#at;
    const x = at[this.#last];
    if (!sweep || x === undefined || moved(sweep, at).length) return this.curve.replaceChildren();
    const [ys, grads] = [columnOf(sweep, trace.root), columnOf(sweep, sweep.sections.values + this.#last)];
    const k = nearest(sweep.xs, x);
    const [name, result] = [trace.nodes[this.#last].label, tail(trace.nodes[trace.root].label, 24)];
    const drawn = drawCurve({ name, result, xs: sweep.xs, ys, x, y: ys[k], slope: this.#reached(this.#last) ? grads[k] : null });
    this.curve.replaceChildren(...(drawn ? [drawn] : []));
  }

  /** The notices of the view, and one for a lost kernel. */
  #note() {
    const { model, shell, state } = this.view;
    const page = model.get("standalone") === true;
    const gone = state.alive ? "" : this.#gone(page);
    const text = [model.get("notice") ?? "", gone].filter(Boolean).join(" ");
    put(shell.note, text);
    shell.note.hidden = !text;
    shell.badge.hidden = state.alive || page;
  }

  /** What still works without a kernel. @param {boolean} page an exported page never had one */
  #gone(page) {
    const { trace } = this.view.state;
    const stuck = this.#sliders.some((x) => x.range.disabled);
    const free = this.#sliders.find((x) => !x.range.disabled);
    const name = free && trace.nodes[free.node].label;
    if (page) return stuck && name ? `This page has no kernel: put ${name} back to move the other inputs.` : "";
    const moves = name ? `, and ${name} can still be moved: its points were computed before` : "";
    const others = stuck ? ` The other inputs need a kernel, or ${name ?? "the moved input"} back at its old place.` : "";
    return (
      `The kernel that computed this is gone. Everything shown can still be replayed${moves}.${others}` +
      " Run the cell again to get everything back."
    );
  }

  destroy() {
    this.#turn++;
    clearTimeout(this.#pause);
  }
}
