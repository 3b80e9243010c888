// Subscriptions to the model, the kernel's status, the theme and the page size, until the view is removed.

import { followCaret } from "./editor.js";
import { followTheme, paintTheme } from "./theme.js";

/** @import { View } from "./view.js" */

const WIDE = 1150; // pixels of the page from which the panel may be beside the picture
const PANEL = 440; // and its own width
const OVER = ["restarting", "autorestarting", "terminating", "dead"];

export class Lifecycle {
  /** @type {(() => void)[]} */ #undo = [];
  #width = 0;

  /** @param {View} view */
  constructor(view) {
    this.view = view;
    const { model } = view;
    /** @param {string} name @param {(...args: any[]) => void} run */
    const watch = (name, run) => {
      const safe = (/** @type {any[]} */ ...args) => view.attempt(() => run(...args));
      model.on(name, safe);
      this.#undo.push(() => model.off(name, safe));
    };
    watch("msg:custom", (content, buffers) => {
      if (content.type === "file") view.files.arrived(content, buffers[0]);
      else if (content.type === "found") view.find.found(content);
    });
    watch("change:revision", () => view.load());
    watch("change:step", () => {
      if (!view.arriving) view.heard(); // else it is a step of the new trace
    });
    watch("change:inputs", () => view.inputs.changed());
    watch("change:sweeps", () => view.inputs.swept());
    watch("change:notice", () => view.inputs.place());
    watch("comm_live_update", () => this.lost()); // models are born alive, so the first change is the end: a kernel restart
    this.#watchKernel();
    this.#watchSize();
  }

  /** The death of a kernel is reported only by the session. */
  #watchKernel() {
    const session = this.view.model.widget_manager?.context?.sessionContext;
    /** @param {unknown} _ @param {string} status */
    const onStatus = (_, status) => {
      if (OVER.includes(status)) this.lost();
    };
    session?.statusChanged?.connect(onStatus);
    this.#undo.push(() => session?.statusChanged?.disconnect(onStatus));
  }

  #watchSize() {
    const { shell } = this.view;
    const sized = new ResizeObserver(() => this.#sized());
    sized.observe(shell.root);
    sized.observe(shell.say);
    this.#undo.push(() => sized.disconnect());
  }

  begin() {
    const { view } = this;
    const { model } = view;
    // A saved notebook brings models that never had a kernel.
    if (model.get("standalone") || model.get("layout")?.comm_live === false) this.lost();
    this.#undo.push(followTheme(view.shell.root));
    this.#undo.push(followCaret(() => view.source.onCaret()));
  }

  /** The kernel is disconnected. This model is not revived: running the cell again creates a new one. */
  lost() {
    const { view } = this;
    if (!view.state.alive) return;
    view.store.set({ alive: false });
    view.shell.root.classList.add("mg-gone");
    view.inputs.place();
    view.network.way();
  }

  #sized() {
    const { view } = this;
    const { root, say } = view.shell;
    // A sentence of more lines changes the height in a drag: it may grow, but shrinks only when the slider rests, or the slider would move
    // away from the mouse.
    if (view.inputs.dragging) say.style.minHeight = `${say.offsetHeight}px`;
    if (root.clientWidth === this.#width) return;
    this.#width = root.clientWidth;
    paintTheme(root);
    this.place();
    if (!view.state.trace.nodes.length || !root.clientWidth) return;
    if (view.viewport.choose()) view.draw();
    else if (view.viewport.fitted || view.flowing) view.viewport.fit();
    view.viewport.follow(view.currentNode);
  }

  /** Place the panel beside the picture if that does not make the picture smaller, else below. */
  place() {
    const { shell, store, viewport } = this.view;
    const wide = shell.root.clientWidth;
    store.set({ wide: wide >= WIDE && viewport.spares(wide, PANEL) });
    shell.root.classList.toggle("mg-wide", this.view.state.wide);
  }

  destroy() {
    for (const undo of this.#undo) undo();
  }
}
