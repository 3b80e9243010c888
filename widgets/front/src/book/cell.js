// A cell of a page: its editor, its button, running it, what is kept of it.

import { editor } from "./editor.js";
import { joined } from "./notebook.js";
import { Outputs } from "./outputs.js";
import * as store from "./store.js";
import { $, $$, h, kernel, marks, say, tab, warn } from "./tab.js";

const MOST = 400_000; // characters of outputs that are kept of a cell

export class Cell {
  /** @type {number|null} */ count = null;
  ran = false; // on this page or an earlier visit: there are outputs of the reader's own
  fresh = false; // this very text has run in the Python that runs now
  interrupted = false;
  busy = false;
  queued = false;
  /** @type {ReturnType<typeof editor>|undefined} */ editor;
  /** @type {ReturnType<typeof setTimeout>|undefined} */ #later;

  /** @param {import("./chapter.js").Chapter} chapter @param {HTMLElement} el @param {any} data of the notebook @param {any} mine what is kept */
  constructor(chapter, el, data, mine) {
    Object.assign(this, { chapter, el });
    this.chapter = chapter;
    this.el = el;
    this.id = /** @type {string} */ (el.dataset.cell);
    this.course = joined(data.source);
    this.exercise = data.metadata.minigrad?.exercise;
    this.slow = el.classList.contains("tag_mg-slow");
    this.expected = (data.metadata.tags ?? []).includes("raises-exception");
    this.source = mine?.source ?? this.course;
    this.button = /** @type {HTMLElement} */ ($(".mgb-run", el));
    this.note = h("span", { className: "mgb-note" });
    const reset = {
      type: "button",
      className: "mgb-reset",
      textContent: "Reset",
      title: "As the course has it",
      onclick: () => this.#reset(),
    };
    this.back = h("button", reset);
    this.button.before(this.note, this.back);
    this.outputs = new Outputs(this.#box());
    this.mark();
    if (mine?.outputs) this.#restore(mine.outputs, mine.count, "From your last visit");
    if (this.changed) this.edit();
  }

  #box() {
    const box = $(".cell_output", this.el) ?? h("div", { className: "cell_output docutils container" });
    if (!box.parentElement) this.el.append(box);
    return box;
  }

  get changed() {
    return this.text !== this.course;
  }

  get text() {
    return this.editor?.text ?? this.source;
  }

  set text(text) {
    this.source = text;
    if (this.editor) this.editor.text = text;
    else if (this.changed) this.edit();
    this.keep();
  }

  /** Make the cell an editor; with `focus`, put the cursor there. @param {true|{x: number, y: number}} [focus] */
  edit(focus) {
    this.editor ??= this.#editor();
    if (!focus) return;
    const at = focus === true ? null : this.editor.view.posAtCoords(focus);
    this.editor.view.focus();
    if (at !== null) this.editor.view.dispatch({ selection: { anchor: at } });
  }

  #editor() {
    const box = /** @type {HTMLElement} */ ($(".cell_input .highlight", this.el));
    const pre = /** @type {HTMLElement} */ ($("pre", box));
    const holder = h("div", { className: "mgb-editor" });
    holder.style.minHeight = `${pre.offsetHeight}px`; // so that nothing moves
    const made = editor({
      parent: holder,
      doc: this.source,
      label: `Python, cell ${[...this.chapter.cells.keys()].indexOf(this.id) + 1}`,
      run: (next) => {
        this.button.click();
        if (next) this.chapter.after(this)?.edit(true);
      },
      changed: (text) => {
        this.source = text;
        this.fresh = false;
        clearTimeout(this.#later);
        this.#later = setTimeout(() => this.keep(), 400);
        this.mark();
      },
      complete: (code, at) => kernel.ask("complete", { chapter: this.chapter.name, code, at }),
    });
    pre.hidden = true;
    box.append(holder);
    requestAnimationFrame(() => {
      holder.style.minHeight = "";
    });
    return made;
  }

  mark() {
    this.back.hidden = !this.changed;
    this.el.classList.toggle("mgb-changed", this.changed);
    this.el.classList.toggle("mgb-fresh", this.fresh);
  }

  #reset() {
    const was = this.text;
    this.reset();
    say("The cell is as the course has it.", { undo: () => this.put(was) });
  }

  reset() {
    this.put(this.course);
  }

  /** Another text. @param {string} text */
  put(text) {
    this.text = text;
    this.fresh = false;
    this.mark();
  }

  /** What an opened notebook has for the cell. @param {import("./notebook.js").Held} held */
  take({ source, outputs, count }) {
    this.put(source);
    if (outputs?.length) this.#restore(outputs, count, "From the notebook that you opened");
    this.keep();
  }

  /** @param {any[]} outputs @param {number|null} count @param {string} from */
  #restore(outputs, count, from) {
    this.count = count;
    this.ran = true;
    this.outputs.restore(outputs, from);
    this.el.classList.add("mg-open");
  }

  keep() {
    clearTimeout(this.#later);
    const key = `${this.chapter.name}/${this.id}`;
    const outputs = this.ran && JSON.stringify(this.outputs.list).length < MOST ? this.outputs.list : null;
    store.put("cells", key, this.changed || this.ran ? { source: this.text, outputs, count: this.count } : undefined, warn);
    store.others?.postMessage({ cell: key, source: this.text });
    marks();
  }

  /** @param {boolean} waits */
  queue(waits) {
    this.queued = waits; // to be run after others; pressed again, all are stopped
    this.el.classList.toggle("mgb-queued", waits);
  }

  /** Run the cell. Returns whether it came to its end. */
  async execute() {
    this.edit();
    for (const waits of $$("[data-waits]")) if (this.el.classList.contains(`tag_mg-for-${waits.dataset.waits}`)) waits.remove();
    this.queue(false);
    this.#working(true);
    this.interrupted = false;
    this.outputs.begin();
    const began = performance.now();
    const clock = setInterval(() => {
      this.note.textContent = `${((performance.now() - began) / 1000).toFixed(0)} s`;
    }, 1000);
    const ran = await kernel.run(this.chapter.name, this.id, this.text).catch(() => ({ ok: false, ended: true }));
    clearInterval(clock);
    await this.outputs.end();
    this.#working(false);
    this.#after(ran);
    return ran.ok;
  }

  /** @param {boolean} works */
  #working(works) {
    this.busy = works;
    tab.running = works ? this : null;
    this.el.classList.toggle("mgb-busy", works);
    this.el.classList.add("mg-open");
    this.button.setAttribute("aria-label", works ? "Stop this cell" : "Run this cell");
  }

  /** @param {import("./kernel.js").Ran} ran */
  #after({ ok, ms = 0, ended, error }) {
    if (ended) this.note.textContent = "ended";
    else {
      this.ran = true;
      this.fresh = ok || this.expected;
      this.count = this.chapter.counted;
      this.note.textContent = ms < 50 ? "ran" : `${(ms / 1000).toFixed(ms < 9950 ? 1 : 0)} s`;
    }
    if (error?.startsWith("offline"))
      warn("What draws plots could not be fetched: there is no network. Run the cell again when you are online.");
    this.mark();
    this.keep();
  }

  /** @param {import("./kernel.js").Output} message */
  output(message) {
    if (message.kind === "error" && message.content.ename === "KeyboardInterrupt") this.interrupted = true;
    this.outputs.add(message, this.chapter.counted + 1);
  }

  /** Python has ended: nothing on the page is live any longer. */
  lost() {
    this.fresh = false;
    this.busy = false;
    this.queue(false);
    this.mark();
    this.el.classList.remove("mgb-busy");
    for (const view of $$(".mgb-view", this.el)) view.classList.add("mgb-gone");
  }
}
