// Keeps a big picture fast. A browser paints the complete SVG, so during a drag or a step only items near the window are drawn and
// updated. The others follow in idle time, in slices.

/** @import { View } from "../view.js" */
/** @import { Box } from "./viewport.js" */

/** An item of the picture that can be removed temporarily: a card or a wire. @typedef {{box: Box, away: boolean, leave: (far: boolean) => void}} Item */

const BIG = 120; // cards; a smaller picture is always drawn whole
const SLICE = 250; // cards, wires and rows out of sight that are written at once
const RETURN = 100; // and so many are drawn again at once
const NEAR = 700; // pixels around the window that stay drawn
const BEYOND = 600; // pixels that the window's sides may move before visibility is computed again

export class Offscreen {
  /** How many more items out of sight may be written now. */ room = Infinity;
  /** Something out of sight is not as it should be. */ behind = false;
  /** @type {Item[]} items that are not drawn, because they are far from the window */ #away = [];
  #timer = 0;
  /** @type {Box|null} the window when visibility was last computed */ #looked = null;

  /** @param {View} view */
  constructor(view) {
    this.view = view;
  }

  /** @param {Item[]} items of a new picture, all drawn */
  reset(items) {
    this.items = items;
    this.#away = [];
    this.room = Infinity;
  }

  get #dragging() {
    return this.view.state.drag === "dragging";
  }

  get big() {
    return this.view.scene.cards.length > BIG;
  }

  /** Is some of the picture not drawn now? */
  get partly() {
    return this.#away.length > 0;
  }

  /** Before everything is written again. */
  begin() {
    this.behind = false;
  }

  /** Should this update be deferred? @param {() => boolean} seen whether it is visible */
  later(seen) {
    if (!(this.#dragging || this.room <= 0) || seen()) return false;
    this.behind = true;
    return true;
  }

  wrote() {
    this.room--;
  }

  #wait(pause = 600) {
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => this.settle(), pause);
  }

  /** Remove items that are far from the window. @param {number} [pause] milliseconds after which they are drawn again */
  hide(pause = 0) {
    clearTimeout(this.#timer);
    if (!this.#dragging && (this.behind || pause)) this.#wait(pause || 600);
    if (!this.big) return;
    const { viewport, scene, inputs } = this.view;
    scene.svg.classList.toggle("mg-still", inputs.pointed || this.#dragging);
    if (this.#away.length && this.#beyond() < BEYOND) return;
    const all = this.items ?? [];
    const far = all.map((x) => !viewport.near(x.box, NEAR)); // first all looks, then all changes
    this.#away = all.filter((x, i) => {
      if (x.away !== far[i]) x.leave(far[i]);
      return far[i];
    });
    this.#looked = viewport.window;
  }

  /** How far the window's four sides have moved since visibility was computed. */
  #beyond() {
    const now = this.view.viewport.window;
    return this.#looked ? this.#looked.reduce((far, v, i) => far + Math.abs(v - now[i]), 0) : Infinity;
  }

  /** Draw removed items again. @param {number} [count] */
  #restore(count = Infinity) {
    clearTimeout(this.#timer);
    for (const x of this.#away.splice(0, count)) x.leave(false);
    if (!this.#away.length) this.view.scene.svg.classList.remove("mg-still");
    if (this.#away.length || (this.behind && !this.#dragging)) this.#wait(30);
  }

  /** After a drag: update and draw the parts that are not visible, in slices. @param {number} pause */
  settleSoon(pause) {
    this.#wait(pause);
  }

  stay() {
    clearTimeout(this.#timer);
  }

  settle() {
    clearTimeout(this.#timer);
    if (this.#dragging) return;
    if (this.behind) {
      this.room = SLICE;
      this.view.update();
      this.room = 0;
      this.#wait(30);
    } else {
      this.room = Infinity;
      if (!this.view.inputs.pointed) this.#restore(RETURN);
    }
  }

  /** All of the picture, drawn and true, at once. */
  flush() {
    this.room = Infinity;
    if (this.behind && !this.#dragging) this.view.update();
    this.#restore();
  }

  /** The stage or a table has scrolled: apply the deferred updates of parts that are visible now. */
  moved() {
    this.view.panes.moved();
    if (this.#away.length || this.behind) this.hide(1500);
    if (this.behind) this.view.update();
  }

  destroy() {
    clearTimeout(this.#timer);
  }
}
