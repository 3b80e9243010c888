// A film on a page: its state, what changes it, and when its parts are drawn.

import { dress, h } from "../dom.js";
import { fmt } from "../model/numbers.js";
import { followTheme } from "../theme.js";
import { Bar } from "./bar.js";
import { Branch } from "./branch.js";
import { Colours } from "./colours.js";
import { Plane } from "./maps.js";
import { Judge, moment } from "./moment.js";
import { Panels } from "./panels.js";
import { gif, poster } from "./pictures.js";
import { Stage } from "./stage.js";
import { Strip } from "./strip.js";
import { Program } from "./tape.js";
import { prose } from "./ui.js";
import { sentence } from "./words.js";

/** @import { Run } from "./run.js" */
/** @import { Moment } from "./moment.js" */

/** @typedef {{unit?: number, weight?: number}} Selection */
/** What a page can do with a film besides drawing it: save it as one HTML file, hand out files, link to a step.
 * @typedef {{html?: () => void, file: (name: string, blob: Blob) => void, link?: boolean}} Host */

const SECOND = 24; // frames of a film in a second, at speed 1
const PACE = 1500; // milliseconds for a layer of the backward pass
const KEYS = "Keys: ← → step, Space plays, ↑ ↓ units, B sweeps back, S next spike, H halves the learning rate, L log, Esc closes";

export class Film {
  /** @type {(() => void)[]} */ #undo = [];
  #frame = 0;
  #drawn = 0;
  /** @type {{key: string, moment: Moment}|null} */ #memo = null;

  /** @param {HTMLElement} el @param {Run[]} runs the film, and others to compare it with @param {Host} host */
  constructor(el, runs, host) {
    this.runs = runs;
    this.host = host;
    this.still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.shown = 0;
    this.width = 0;
    this.run = runs[0];
    /** @type {Program|null} */ this.program = null;
    /** @type {Plane|null} */ this.plane = null;
    this.judge = new Judge(this.run);
    /** Can the page compute the loss, and so another run? */
    this.whole = false;
    this.k = 0;
    this.playing = false;
    this.speed = 1;
    /** @type {Selection|null} */ this.selected = null;
    /** How far the backward pass of this step is: 0 for not at all, then a layer for each 1. */
    this.sweep = 0;
    this.log = false;
    /** @type {Branch|null} */ this.branch = null;
    /** Is the branch shown, and not the film? */
    this.branched = false;
    this.other = -1;
    this.point = -1;
    this.live = false;
    this.follow = true;
    this.histograms = false;
    this.root = dress(el, { role: "group", "aria-label": "film of a training run" });
    this.root.classList.add("mf-root", "mg-instrument");
    this.colours = new Colours(this.root);
    this.title = h("code", { class: "mf-title" });
    this.phase = h("span", { class: "mf-phase" });
    this.count = h("span", { class: "mf-count" });
    this.say = h("div", { class: "mf-say", role: "status", "aria-live": "polite" });
    this.key = h("div", { class: "mf-key" });
    this.stage = new Stage(this);
    this.bar = new Bar(this);
    this.strip = new Strip(this);
    this.panels = new Panels(this);
    this.save = h("div", { class: "mf-bar mf-save" });
    this.root.replaceChildren(
      h("div", { class: "mf-head" }, this.title, this.phase, this.count),
      this.stage.el,
      this.say,
      this.bar.el,
      this.strip.el,
      this.panels.el,
      this.key,
      this.panels.details,
      this.save,
    );
    this.#choose(0);
    this.#listen();
  }

  #listen() {
    const key = (/** @type {KeyboardEvent} */ e) => this.#key(e);
    this.root.addEventListener("keydown", key);
    const sized = new ResizeObserver(() => {
      if (Math.round(this.root.clientWidth) !== this.width && this.root.clientWidth) this.size();
    });
    sized.observe(this.root);
    this.#undo.push(() => sized.disconnect(), followTheme(this.root));
    const themed = new MutationObserver(() => {
      this.colours.read();
      this.size();
    });
    themed.observe(this.root, { attributes: true, attributeFilter: ["data-mg-theme"] });
    this.#undo.push(() => themed.disconnect());
  }

  destroy() {
    cancelAnimationFrame(this.#frame);
    this.branch?.stop();
    for (const undo of this.#undo) undo();
  }

  // The run that is shown

  /** Show another run of this film. @param {number} i */
  #choose(i) {
    this.stop();
    this.shown = i;
    this.run = this.runs[i];
    this.begin();
  }

  /** The program of the run is known. */
  begin() {
    const { run } = this;
    this.program = run.about.tape && run.units.length ? new Program(run.about, run.points) : null;
    this.whole = this.program !== null && run.about.whole !== false;
    this.plane = run.kind === "plane" ? new Plane(run) : null;
    this.judge = new Judge(run);
    this.#memo = null;
    this.title.textContent = run.about.name;
    const many = run.n === 1 ? "1 weight" : `${run.n} weights`;
    this.count.textContent = [run.units.length ? run.about.title : "", many, run.about.engine].filter(Boolean).join(" · ");
    this.#legend();
    this.#saves();
    this.size();
  }

  /** @param {number} i */
  choose(i) {
    const { k } = this;
    this.dropBranch();
    Object.assign(this, { selected: null, sweep: 0, other: this.other === i ? this.shown : this.other, point: -1 });
    this.#choose(i);
    this.go(Math.min(k, this.last));
  }

  /** What the network learns from. */
  get thing() {
    return this.run.kind === "images" ? "image" : "point";
  }

  /** The last place: behind the last step, or at the newest step while it trains. */
  get last() {
    return Math.max(0, this.live ? this.run.length - 1 : this.run.length);
  }

  /** How many frames the strip has room for. */
  get span() {
    return this.live ? Math.max(60, Math.ceil((this.run.length * 1.15) / 20) * 20) : Math.max(1, this.run.length);
  }

  /** The branch, where it is what a step shows. @param {number} k */
  #here(k) {
    return this.branched && this.branch && k >= this.branch.from ? this.branch : null;
  }

  /** @param {number} k */
  weights(k = this.k) {
    return this.#here(k)?.weights(k) ?? this.run.weights(k);
  }

  /** @param {number} k */
  grads(k = this.k) {
    const here = this.#here(k);
    return here ? here.grads(k) : this.run.grads(k);
  }

  /** @param {number} k @returns {number} */
  loss(k = this.k) {
    const here = this.#here(k);
    return here ? here.loss(k) : this.run.loss(k);
  }

  /** @param {number} k */
  rate(k = this.k) {
    return this.#here(k)?.rate(k) ?? this.run.rate(k);
  }

  /** The weights after a step, or null where they are not known. @param {number} k */
  after(k = this.k) {
    return this.#here(k)?.weights(k + 1) ?? this.run.after(k);
  }

  /** Everything about the step that is shown. @returns {Moment} */
  get now() {
    const key = [this.shown, this.k, this.branched, this.branch?.length ?? "", this.run.length, this.live].join();
    if (this.#memo?.key === key) return this.#memo.moment;
    const rows = this.run.length ? this.run.rows(this.k) : [];
    const found = moment(this.run, this.program, this.plane, this.judge, this.weights(), this.grads(), rows);
    this.#memo = { key, moment: found };
    return found;
  }

  /** A number of weights, with no digit that is not stored. @param {number} v @param {number} most digits */
  w(v, most = 4) {
    return fmt(v, Math.min(most, this.run.digits[0]));
  }

  // Moving

  stop() {
    this.playing = false;
    cancelAnimationFrame(this.#frame);
  }

  /** @param {number} k */
  go(k) {
    this.stop();
    this.sweep = 0;
    this.k = Math.max(0, Math.min(this.last, k));
    if (this.live && this.k < this.last && this.follow) {
      this.follow = false;
      this.bar.draw();
    }
    this.refresh();
  }

  play() {
    if (this.playing) {
      this.stop();
      this.refresh();
      return;
    }
    this.sweep = 0;
    if (this.k >= this.last) this.k = 0;
    this.playing = true;
    let [before, carry] = [performance.now(), 0];
    const tick = (/** @type {number} */ t) => {
      if (!this.playing) return;
      carry += ((t - before) / 1000) * SECOND * this.speed * (this.run.length < 150 ? 0.5 : 1);
      before = t;
      const by = Math.floor(carry);
      if (by) {
        carry -= by;
        this.k = Math.min(this.last, this.k + by);
        if (this.k >= this.last) this.stop();
        this.refresh();
      }
      if (this.playing) this.#frame = requestAnimationFrame(tick);
    };
    this.#frame = requestAnimationFrame(tick);
    this.refresh();
  }

  spike() {
    const { spikes } = this.run;
    const next = spikes.find((s) => s.k > this.k) ?? spikes[0];
    if (next) this.go(next.k);
  }

  /** The backward pass of this step: the loss, each layer from the last to the first, then the update. */
  back() {
    this.stop();
    if (!this.run.length) return;
    if (this.live) this.follow = false;
    if (this.k >= this.run.length) this.k = this.run.length - 1;
    this.point = -1;
    this.sweep = this.sweep ? 0 : 1;
    this.bar.draw();
    this.refresh();
    if (!this.sweep || this.still) return;
    const begin = performance.now();
    const tick = (/** @type {number} */ t) => {
      if (!this.sweep || this.playing) return;
      const was = Math.floor(this.sweep);
      this.sweep = Math.min(this.stages, 1 + Math.max(0, t - begin) / PACE);
      if (Math.floor(this.sweep) !== was || this.sweep === this.stages) this.refresh();
      else this.stage.draw();
      if (this.sweep < this.stages) this.#frame = requestAnimationFrame(tick);
    };
    this.#frame = requestAnimationFrame(tick);
  }

  /** Stages of the backward pass: the loss, the layers, the update. */
  get stages() {
    return this.run.depth + 2;
  }

  /** @param {Selection|null} to */
  select(to) {
    this.selected = to;
    this.strip.forget();
    this.refresh();
    if (to?.unit !== undefined) this.stage.focus(to.unit);
    else if (!to) this.stage.el.focus({ preventScroll: true });
  }

  /** Train again from here with another learning rate. @param {number} factor */
  whatIf(factor) {
    if (!this.whole || this.rate() === null || this.live) return;
    this.stop();
    this.branch?.stop();
    const from = Math.min(this.k, this.run.length - 1);
    this.sweep = 0;
    this.branched = false;
    this.branch = new Branch(this, from, factor);
    this.branched = true;
    this.bar.draw();
    this.branch.run();
  }

  /** Remove the branch, and go back to where it began. */
  dropBranch() {
    if (this.branched && this.branch) this.k = this.branch.from;
    this.branch?.stop();
    this.branch = null;
    this.branched = false;
    this.bar.draw();
    this.refresh();
  }

  /** @param {boolean} branched */
  showBranch(branched) {
    this.branched = branched;
    if (branched && this.branch) this.k = Math.max(this.k, this.branch.from);
    this.bar.draw();
    this.refresh();
  }

  // While it trains

  /** The run has grown. */
  grew() {
    if (this.follow && !this.sweep) this.k = this.last;
    this.refresh();
  }

  /** The loop has ended, or goes on. @param {boolean} live */
  setLive(live) {
    if (this.live === live) return;
    const newest = this.follow && !this.sweep;
    this.live = live;
    if (live) {
      this.dropBranch();
      this.follow = true;
    } else {
      if (newest) this.k = this.last;
      this.title.textContent = this.run.about.name;
      this.#legend(); // now there are gradients to compare with
    }
    this.bar.draw();
    this.refresh();
  }

  // Drawing

  size() {
    this.width = Math.round(this.root.clientWidth);
    if (!this.width) return;
    this.stage.size(this.width);
    this.strip.forget();
    this.bar.draw();
    this.refresh();
  }

  refresh() {
    if (!this.width) return;
    this.bar.update();
    this.root.classList.toggle("mf-back", this.sweep > 0);
    this.phase.textContent = this.#phase();
    this.stage.draw();
    this.strip.draw();
    const t = performance.now();
    if (!this.playing || t - this.#drawn > 180) {
      this.panels.draw();
      this.#drawn = t;
    }
    const moving = this.playing || (this.live && this.follow);
    this.say.setAttribute("aria-live", moving ? "off" : "polite"); // a sentence for each frame is no help to a listener
    this.say.replaceChildren(...prose(sentence(this)));
  }

  #phase() {
    const { run, k } = this;
    if (!run.length) return "before the first step";
    if (this.live && this.follow && !this.sweep) return `training · step ${run.step(k)} · loss ${fmt(this.loss(), 3)}`;
    if (this.sweep) return `◂ backward pass of step ${run.step(k)}`;
    if (k >= run.length) return "after the last step";
    return `step ${run.step(k)} of ${run.seen} · loss ${fmt(this.loss(), 3)}`;
  }

  #legend() {
    const { run, judge } = this;
    const line = (/** @type {string} */ name, /** @type {string} */ words) => h("span", {}, h("b", { class: name }), words);
    const parts = [
      line("mf-pos", "positive weight"),
      line("mf-neg", "negative weight"),
      line("mf-grad", "gradient of a weight, in the backward pass"),
    ];
    if (run.kind === "none") parts.splice(0);
    if (run.kind === "plane" && judge.classes.length) {
      const shapes = judge.several
        ? judge.classes.map((c, k) => `${"●▲■"[k % 3]} label ${fmt(c)}`)
        : judge.classes.toReversed().map((c, k) => `${"●▲"[k]} label ${fmt(c)}`);
      parts.push(h("span", {}, shapes.slice(0, 6).join(", ") + (run.draws ? "; faint: not drawn in this step" : "")));
    }
    const checked = this.#checked();
    if (checked) parts.push(h("span", { class: checked.bad ? "mf-bad" : "" }, checked.words));
    parts.push(h("span", {}, KEYS));
    this.key.replaceChildren(...parts);
  }

  /** Does the tape give the recorded gradients? Compared at up to seven steps. At a few of them a value may stand at the corner of a relu,
   * where the last digit of a recorded weight decides about the derivative. */
  #checked() {
    const { run, program } = this;
    if (!program || !this.whole || !run.length) return null;
    const norm = (/** @type {ArrayLike<number>} */ g) => Math.sqrt(Array.from(g).reduce((s, v) => s + v * v, 0));
    const largest = Math.max(...run.frames.map(({ g }) => norm(g)).filter(Number.isFinite));
    let worst = 0;
    let compared = 0;
    let agree = 0;
    for (const k of new Set([0, 1, 2, 3, 4, 5, 6].map((part) => Math.round((part * (run.length - 1)) / 6)))) {
      const { grads } = program.run(run.weights(k), run.rows(k));
      const g = run.frames[k].g;
      const size = norm(g);
      if (!Number.isFinite(size) || size <= 1e-6 * largest) continue; // nothing but rounding: all units are dead, say
      let off = 0;
      for (let p = 0; p < run.n; p++) off = Math.max(off, Math.abs(grads[p] - g[p]) / size);
      compared++;
      if (off < 0.01) agree++;
      worst = Math.max(worst, off);
    }
    this.whole = agree >= 0.7 * compared;
    if (this.whole && agree < compared)
      return {
        bad: false,
        words: `This page runs the program again and gets the recorded gradients at ${agree} of ${compared} steps. At the others some value probably stands at the corner of a relu, where its last digit decides about the derivative.`,
      };
    if (this.whole)
      return {
        bad: false,
        words: `This page runs the program again and gets the recorded gradients (largest difference ${fmt(worst, 1)} of their size).`,
      };
    return {
      bad: true,
      words: `The recorded gradients are not those of this program (they differ by up to ${fmt(worst, 2)} of their size). The film shows the recorded ones. Are they set to zero before each backward pass? If they are, a rule is wrong: in the notebook, %audit loss names its operation.`,
    };
  }

  #saves() {
    const { host } = this;
    const name = this.run.about.name.replace(/\W+/g, "_") || "film";
    /** @param {string} label @param {(b: HTMLButtonElement) => void|Promise<void>} run */
    const button = (label, run) => {
      const b = h("button", { class: "mg-button mg-small", type: "button" }, label);
      b.addEventListener("click", async () => {
        b.disabled = true;
        b.textContent = "drawing…";
        await new Promise((done) => setTimeout(done, 30));
        await run(b);
        b.disabled = false;
        b.textContent = label;
        this.refresh();
      });
      return b;
    };
    const html = host.html;
    const parts = [h("span", { class: "mg-soft" }, "Save this film:")];
    if (html) parts.push(button("one HTML file", () => html()));
    parts.push(
      button("GIF", async () => host.file(`${name}.gif`, await gif(this))),
      button("poster (PNG)", async () => host.file(`${name}.png`, await poster(this))),
    );
    if (host.link) parts.push(button("link to this step", () => this.#link()));
    this.save.replaceChildren(...parts);
  }

  async #link() {
    const address = `${location.href.split("#")[0]}#run=${this.shown + 1}&step=${this.k + 1}`;
    try {
      await navigator.clipboard.writeText(address);
    } catch {
      location.hash = address.split("#")[1]; // a page from a disk may not write to the clipboard: the link is in the address bar
    }
  }

  // Keys

  /** @param {number} by */
  #unit(by) {
    const count = this.run.units.length;
    if (!count) return;
    const at = this.selected?.unit ?? (by > 0 ? -1 : count);
    this.select({ unit: (at + by + count) % count });
  }

  #close() {
    if (this.sweep) {
      cancelAnimationFrame(this.#frame);
      this.sweep = 0;
      this.refresh();
    } else if (this.selected) this.select(null);
    else if (this.branch) this.dropBranch();
  }

  /** @param {KeyboardEvent} e */
  #key(e) {
    const target = /** @type {HTMLElement} */ (e.target);
    if (e.ctrlKey || e.metaKey || e.altKey || target.closest("summary")) return;
    const by = e.shiftKey ? 10 : 1;
    const stepwise = this.sweep > 0 && this.still; // without motion the arrows lead through the stages of the backward pass
    /** @type {Record<string, () => void>} */
    const keys = {
      ArrowRight: () => (stepwise ? this.#stage(1) : this.go(this.k + by)),
      ArrowLeft: () => (stepwise ? this.#stage(-1) : this.go(this.k - by)),
      Home: () => this.go(0),
      End: () => this.go(this.last),
      PageDown: () => this.go(this.k + 10),
      PageUp: () => this.go(this.k - 10),
      ArrowDown: () => this.#unit(1),
      ArrowUp: () => this.#unit(-1),
      b: () => this.back(),
      s: () => this.spike(),
      l: () => this.setLog(!this.log),
      h: () => this.whatIf(0.5),
      Escape: () => this.#close(),
    };
    if (target.tagName !== "BUTTON" || target.dataset.unit !== undefined) keys[" "] = () => this.play();
    const run = keys[e.key.length === 1 ? e.key.toLowerCase() : e.key];
    if (!run) return;
    e.preventDefault();
    e.stopPropagation();
    run();
  }

  /** @param {number} by */
  #stage(by) {
    this.sweep = Math.max(1, Math.min(this.stages, this.sweep + by));
    this.refresh();
  }

  /** @param {boolean} log */
  setLog(log) {
    this.log = log;
    this.strip.forget();
    this.bar.draw();
    this.refresh();
  }

  /** @param {number} i the run to compare with, or -1 */
  compare(i) {
    this.other = i;
    this.strip.forget();
    this.bar.draw();
    this.refresh();
  }

  /** @param {boolean} histograms */
  fill(histograms) {
    this.histograms = histograms;
    this.bar.draw();
    this.refresh();
  }
}
