// What part of the picture the stage shows, and how large: fit, zoom, pan, and following the event.

import { h } from "../dom.js";
import { LIMITS } from "../schema.js";
import { button } from "../shell.js";

/** @import { Picture } from "../types" */
/** @import { View } from "../view.js" */

/** A box of the picture: left, top, right, bottom. @typedef {number[]} Box */

const FAR = 0.34; // below this zoom numbers cannot be read: the names are drawn larger, and nothing else is written
const LEGIBLE = 0.6; // below this one they can only just be read
const CLOSE = 0.8; // the zoom at which a step is followed in a picture that is not legible as a whole
const CLOSEST = 3;
const FARTHEST = 0.01;
// Pixels of the stage at most, as in graph.css: of the first picture, and beside the panel
const HIGH = 480;
const BESIDE = 560;
const LARGEST = 1.25; // a small graph is not blown up
const { ENOUGH, MANY, PADDING, TALL } = LIMITS;
const AROUND = 230; // pixels of the window that the first picture leaves for the parts below the stage, as in graph.css
const LOW = 340; // a stage may always be so high
const EDGE = 60; // pixels that stay free beside a card that is followed

/** The zoom at which all of a picture is seen on a stage of this size. @param {Picture} p @param {number} wide @param {number} high */
const whole = (p, wide, high) => Math.min((wide - PADDING) / p.w, (high - PADDING) / p.h);

/** Does it run down, and is it no wider than the stage? It may be scrolled. @param {Picture} p @param {number} wide */
const runs = (p, wide) => !!p.column && wide - PADDING >= p.w * (ENOUGH - 1e-9);

/** The zoom at which it opens: whole, but what runs down is never smaller than can be read. @param {Picture} p @param {number} wide
 * @param {number} high */
const opens = (p, wide, high) => (p.column ? Math.max(whole(p, wide, high), ENOUGH) : whole(p, wide, high));

/** The first of those for which this is least. @param {Picture[]} some @param {(p: Picture) => number} by */
const least = (some, by) => some.reduce((best, p) => (by(p) < by(best) ? p : best));

/** The picture that a stage of this width shows: the first that is seen whole and legible, else of those that run down and are no wider than
 * the stage one that is no higher than it may be, else the lowest; else the narrowest of them, else the largest. The twin of `choice` in
 * widgets/page.py. @param {Picture[]} pictures @param {number} wide @param {(p: Picture) => number} high of the stage */
export function choice(pictures, wide, high) {
  const seen = pictures.find((p) => whole(p, wide, high(p)) >= ENOUGH - 1e-9);
  if (seen) return seen;
  const columns = pictures.filter((p) => p.column);
  const running = columns.filter((p) => runs(p, wide));
  if (running.length) return running.find((p) => p.h <= TALL) ?? least(running, (p) => p.h);
  return columns.length ? least(columns, (p) => p.w) : least(pictures, (p) => -whole(p, wide, high(p)));
}

export class Viewport {
  zoom = 1;
  fitted = true; // false once the reader has zoomed
  /** Was the kernel asked for the layouts of narrower stages? */ #asked = false;
  /** What the stage shows of the picture; null: it may have moved since. @type {Box|null} */ #window = null;

  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.stage = view.shell.stage;
    const bar = h("div", { class: "mg-zoom" });
    for (const [text, label, run] of /** @type {[string, string, () => void][]} */ ([
      ["−", "zoom out", () => this.#byHand(this.zoom / 1.25)],
      ["+", "zoom in", () => this.#byHand(this.zoom * 1.25)],
      ["fit", "fit the whole graph", () => this.#all()],
    ])) {
      const b = button("small", text, label);
      view.on(b, "click", run);
      bar.append(b);
    }
    this.bar = bar;
    view.on(this.stage, "scroll", () => this.#moved(), { passive: true });
    view.on(
      this.stage,
      "wheel",
      (/** @type {WheelEvent} */ e) => {
        if (!e.ctrlKey) return;
        e.preventDefault();
        this.#byHand(this.zoom * Math.exp(-e.deltaY / 300));
      },
      { passive: false },
    );
    this.#pan();
  }

  /** Drag the picture with the mouse. */
  #pan() {
    const { stage, view } = this;
    /** @type {{x: number, y: number, left: number, top: number}|null} */ let from = null;
    view.on(stage, "pointerdown", (/** @type {PointerEvent} */ e) => {
      // A network is as wide as its stage, and who is captured gets the click that opens a neuron.
      if (view.flowing || /** @type {Element} */ (e.target).closest(".mg-card, .mg-frame") || e.pointerType !== "mouse" || e.button) return;
      from = { x: e.clientX, y: e.clientY, left: stage.scrollLeft, top: stage.scrollTop };
      stage.setPointerCapture(e.pointerId);
    });
    view.on(stage, "pointermove", (/** @type {PointerEvent} */ e) => {
      if (from) stage.scrollTo(from.left - e.clientX + from.x, from.top - e.clientY + from.y);
    });
    for (const end of ["pointerup", "pointercancel"]) {
      view.on(stage, end, () => {
        from = null;
      });
    }
  }

  get #svg() {
    return this.view.scene.svg;
  }

  #moved() {
    this.#window = null;
    this.view.offscreen.moved();
  }

  /** @returns {Box} */
  get window() {
    if (!this.#window) {
      const out = this.stage.getBoundingClientRect();
      const at = this.#svg.getBoundingClientRect();
      this.#window = [out.left - at.left, out.top - at.top, out.right - at.left, out.bottom - at.top].map((v) => v / this.zoom);
    }
    return this.#window;
  }

  /** Is this box of the picture in the window, or at most `margin` of its pixels away? @param {Box} box @param {number} [margin] */
  near(box, margin = 8) {
    const [left, top, right, bottom] = this.window;
    return box[0] <= right + margin && box[2] >= left - margin && box[1] <= bottom + margin && box[3] >= top - margin;
  }

  /** Is the picture so small that no numbers are written? */
  get far() {
    return this.zoom < FAR;
  }

  /** @param {number} to */
  scale(to) {
    const { width, height } = this.#svg.viewBox.baseVal;
    this.zoom = Math.min(CLOSEST, Math.max(FARTHEST, to));
    this.#svg.classList.toggle("mg-far", this.far);
    for (const [name, long] of /** @type {[string, number][]} */ ([
      ["width", width],
      ["height", height],
    ])) {
      const size = String(Math.round(long * this.zoom));
      if (this.#svg.getAttribute(name) !== size) this.#svg.setAttribute(name, size);
    }
    this.#moved();
  }

  /** Not of a network, which is laid out for its stage. @param {number} to */
  #byHand(to) {
    if (this.view.flowing) return;
    this.fitted = false;
    this.scale(to);
  }

  /** The zoom at which all of the picture is seen in a stage of this width. @param {number} wide @param {Picture} picture */
  #whole(wide, picture) {
    return whole(picture, wide, this.#high(picture));
  }

  /** Is it another one than the first, and may it be higher?
   * @param {Picture|null} picture */
  #banded(picture) {
    return picture !== this.view.state.pictures[0] && !(picture && picture.cards.length > MANY);
  }

  get #wide() {
    return this.stage.clientWidth || 700;
  }

  /** How high the stage may be: what runs down is as high as it has to be, up to a limit; any other is seen whole in the window.
   * @param {Picture|null} picture */
  #high(picture) {
    if (this.#banded(picture)) return TALL + PADDING;
    return Math.min(this.view.state.wide ? BESIDE : HIGH, Math.max(LOW, window.innerHeight - AROUND));
  }

  /** The picture that a stage of this width shows. @param {number} wide */
  #fitting(wide) {
    const { pictures } = this.view.state;
    return choice(pictures, wide, (p) => this.#high(p));
  }

  /** Take the picture for this width. Is it another one? */
  choose() {
    const { state, shell } = this.view;
    const wide = this.#wide;
    const chosen = this.fitted ? this.#fitting(wide) : state.picture;
    const small = chosen.cards.length > 1 && this.#whole(wide, chosen) < ENOUGH && !runs(chosen, wide);
    if (state.alive && small && !state.pictures[1] && !this.#asked) {
      this.#asked = true;
      this.view.send({ type: "narrow" });
    }
    shell.root.classList.toggle("mg-banded", this.#banded(chosen));
    if (chosen === state.picture) return false;
    this.view.store.prepare({ picture: chosen });
    return true;
  }

  /** Would the picture lose nothing if the panel took `panel` pixels of this width? @param {number} wide @param {number} panel */
  spares(wide, panel) {
    const { pictures } = this.view.state;
    if (this.view.flowing) return false;
    const picture = pictures[0];
    return !picture.w || this.#whole(wide - panel, picture) >= Math.min(ENOUGH, this.#whole(wide, this.#fitting(wide)));
  }

  /** The whole picture, however small its words get: somebody asked for it. */
  #all() {
    this.fit();
    const { picture } = this.view.state;
    if (!this.view.flowing) this.scale(Math.min(this.zoom, this.#whole(this.#wide, picture)));
  }

  /** The picture as it opens. */
  fit() {
    this.fitted = true;
    const { flowing } = this.view;
    this.bar.hidden = !!flowing;
    if (flowing) {
      this.zoom = flowing.flow(this.#wide - 2);
      return this.#moved();
    }
    const { picture, pictures } = this.view.state;
    const zoom = opens(picture, this.#wide, this.#high(picture));
    this.scale(Math.min(picture === pictures[0] ? LARGEST : 1, zoom));
  }

  /** After a new picture or another width: fit, unless the reader has zoomed. */
  fitOrKeep() {
    if (this.fitted || this.view.flowing) this.fit();
    else this.scale(this.zoom);
  }

  /** Bring the card of an event into the stage (never scrolls the notebook).
   * @param {number} node @param {boolean} [closer] so that it can be read, where the whole picture cannot */
  follow(node, closer = false) {
    const card = this.view.scene.box(node);
    if (!card) return;
    if (closer && this.fitted && this.zoom < LEGIBLE) this.#byHand(CLOSE);
    const { stage, zoom } = this;
    const [x, y, w, high] = [card.x, card.y, card.w, card.h].map((v) => v * zoom);
    const left = within(stage.scrollLeft, stage.clientWidth, x, w, EDGE);
    const top = within(stage.scrollTop, stage.clientHeight, y, high, EDGE / 3);
    const behavior = this.view.calm.matches ? "auto" : "smooth";
    if (left !== stage.scrollLeft || top !== stage.scrollTop) stage.scrollTo({ left, top, behavior });
  }
}

/** Where to scroll so that [at, at + long] is seen with `edge` pixels around it.
 * @param {number} scrolled @param {number} room @param {number} at @param {number} long @param {number} edge */
function within(scrolled, room, at, long, edge) {
  if (at - edge < scrolled) return at - edge;
  return at + long + edge > scrolled + room ? at + long + edge - room : scrolled;
}
