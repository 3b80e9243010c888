// The chapter that a page shows: its cells in order, its exercises, its notebook.

import { Cell } from "./cell.js";
import { read, written } from "./notebook.js";
import { draw } from "./outputs.js";
import * as store from "./store.js";
import { $, $$, ENGINE, h, kernel, save, say, script, tab, warn } from "./tab.js";

export class Chapter {
  /** @type {Map<string, Cell>} */ cells = new Map();
  /** @type {any} */ base; // the course's notebook
  /** @type {any} */ opened; // the reader's, where it has cells that the page has not
  counted = 0;

  /** @param {() => void} restart */
  constructor(restart) {
    this.bar = /** @type {HTMLElement} */ ($(".mgb-bar"));
    this.name = /** @type {string} */ (this.bar.dataset.chapter);
    this.restart = restart;
    this.ready = this.#fill();
  }

  async #fill() {
    const [base, mine, opened] = await Promise.all([
      script(`nb:${this.name}`, `${this.name}.js`),
      store.all("cells", `${this.name}/`),
      store.all("notebooks", this.name),
    ]);
    this.base = base;
    this.opened = opened[this.name];
    const data = new Map(base.cells.map((/** @type {any} */ c) => [c.id, c]));
    for (const el of $$(".cell[data-cell]")) {
      const id = /** @type {string} */ (el.dataset.cell);
      this.cells.set(id, new Cell(this, el, data.get(id), mine[`${this.name}/${id}`]));
    }
    const near = new IntersectionObserver(
      (seen) => {
        for (const { target, isIntersecting } of seen) {
          if (!isIntersecting) continue;
          near.unobserve(target);
          this.cells.get(/** @type {HTMLElement} */ (target).dataset.cell ?? "")?.edit();
        }
      },
      { rootMargin: "500px" },
    );
    for (const cell of this.order) near.observe(cell.el);
    this.#menu();
  }

  get order() {
    return [...this.cells.values()];
  }

  get touched() {
    return this.order.some((cell) => cell.changed || cell.ran);
  }

  /** The cell below another one. @param {Cell} cell */
  after(cell) {
    return this.order[this.order.indexOf(cell) + 1];
  }

  #menu() {
    /** @param {string} text @param {() => void} run @param {string} [title] */
    const item = (text, run, title = "") => {
      const onclick = () => {
        more.open = false;
        run();
      };
      return h("button", { type: "button", role: "menuitem", textContent: text, title, onclick });
    };
    const engine = () =>
      tab.files[ENGINE] ? save("my_engine.py", tab.files[ENGINE]) : say("Nothing is kept yet: an exercise that has passed offers it.");
    const more = h(
      "details",
      { className: "mgb-more" },
      h("summary", { ariaLabel: "More", textContent: "⋯" }),
      h(
        "div",
        { role: "menu" },
        item("Download as notebook", () => this.download(), "An .ipynb for JupyterLab, with your text and what it shows"),
        item("Open a notebook…", () => this.choose()),
        item("Download my_engine.py", engine),
        item("Restart Python", this.restart, "Variables are gone, text and files stay"),
        item("Reset all cells", () => this.reset(), "As the course has them"),
      ),
    );
    this.bar.append(more);
    addEventListener("click", (event) => {
      if (more.open && !more.contains(/** @type {Node} */ (event.target))) more.open = false;
    });
  }

  reset() {
    const before = this.order.map((cell) => cell.text);
    const changed = this.order.filter((cell) => cell.changed);
    for (const cell of changed) cell.reset();
    const undo = () => this.order.forEach((cell, k) => void cell.put(before[k]));
    say(`${changed.length} ${changed.length === 1 ? "cell is" : "cells are"} as the course has them.`, { undo });
  }

  /** The chapter as a notebook file. */
  notebook() {
    const held = this.order.map(
      (c) => /** @type {const} */ ([c.id, { source: c.text, outputs: c.ran ? c.outputs.list : null, count: c.count }]),
    );
    return written(this.opened ?? this.base, new Map(held));
  }

  download() {
    save(/** @type {string} */ (this.bar.dataset.notebook), this.notebook());
  }

  choose() {
    const onchange = () => pick.files?.[0] && this.open(pick.files[0]);
    const pick = h("input", { type: "file", accept: ".ipynb", "aria-label": "a notebook file", onchange });
    pick.click();
  }

  /** @param {File} file */
  async open(file) {
    let held;
    try {
      held = read(await file.text(), this.base);
    } catch {
      return warn("This file is not a notebook.");
    }
    const { found, left, of, notebook } = held;
    if (!found.size) return warn("None of its cells belong to this chapter. Is it the notebook of another one?");
    const before = this.order.map((cell) => cell.text);
    const earlier = this.opened;
    for (const [id, cell] of found) this.cells.get(id)?.take(cell);
    if (left && notebook.cells.every((/** @type {any} */ c) => c.id)) this.#own(notebook);
    const own = left ? ` ${left} ${left === 1 ? "cell" : "cells"} of your own are not shown here; they are in what you download.` : "";
    const undo = () => {
      this.order.forEach((cell, k) => void cell.put(before[k]));
      this.#own(earlier);
    };
    say(`${found.size} of ${of} cells come from ${file.name}.${own}`, { undo });
  }

  /** @param {any} notebook */
  #own(notebook) {
    this.opened = notebook;
    store.put("notebooks", this.name, notebook, warn);
  }

  /** Run cells in order; stop at an error that the course does not expect. @param {Cell[]} list @param {number} [above] how many are needed only */
  async run(list, above = 0) {
    for (const cell of list) cell.queue(true);
    for (const [k, cell] of list.entries()) {
      if (list.length > 1) say(`Running cell ${k + 1} of ${list.length}.`);
      const ok = await cell.execute();
      this.counted += 1;
      if (ok || cell.expected || list.length === 1 || k === list.length - 1) continue;
      for (const rest of list.slice(k + 1)) rest.queue(false);
      const stopped = `Stopped after ${k} of ${list.length} cells.`;
      const failed = `Cell ${k + 1} of ${list.length} ended with an error; those below it did not run.`;
      if (kernel.state === "ready") say(cell.interrupted ? stopped : failed, { to: cell.el });
      return;
    }
    if (kernel.state === "ready" && !$(".mgb-bar-say.mgb-bad"))
      say(above ? `Ran ${above} ${above === 1 ? "cell" : "cells"} above, which this one needs.` : "");
  }

  /** Run all cells but those that take minutes, and those that need them. */
  async runAll() {
    await kernel.start();
    /** @type {Cell[]} */ const left = this.order.filter((cell) => cell.slow);
    /** @type {Cell[]} */ const others = [];
    for (const cell of this.order) {
      if (left.includes(cell)) continue;
      const need = left.length ? await this.#needed(cell, left[0]) : [];
      (need.some((one) => left.includes(one)) ? left : others).push(cell);
    }
    await this.run(others);
    const slow = left.filter((cell) => cell.slow);
    if (slow.length)
      say(`${left.length} cells are as they were recorded, because one of them takes minutes. Press ▶ there to run it.`, {
        to: slow[0].el,
      });
  }

  /** The cells that a cell needs, of those that have not run. @param {Cell} cell @param {Cell} [from] all before it count as run */
  async #needed(cell, from) {
    const first = from ? this.order.indexOf(from) : 0;
    const done = this.order.flatMap((c, k) => (c.fresh || k < first ? [k] : []));
    const sources = this.order.map((c) => c.text);
    /** @type {number[]} */ const need = (await kernel.ask("needed", { sources, done, at: this.order.indexOf(cell) })) ?? [];
    return need.map((k) => this.order[k]);
  }

  /** Run a cell, and before it the cells above that it needs and that have not run. @param {Cell} cell */
  async runWith(cell) {
    await kernel.start();
    const need = await this.#needed(cell);
    await this.run([...need, cell], need.length);
  }

  /** The cells of an exercise. @param {string} id */
  exercise(id) {
    const answer = this.order.find((cell) => cell.exercise === id);
    const below = answer ? this.order.slice(this.order.indexOf(answer) + 1) : [];
    return { answer, check: below.find((cell) => cell.course.startsWith(`check("${id}"`)) };
  }

  /** @param {string} id */
  async check(id) {
    const { answer, check } = this.exercise(id);
    for (const cell of [answer, check]) {
      if (!cell) continue;
      cell.fresh = false;
      await this.runWith(cell);
    }
    check?.el.scrollIntoView({ block: "nearest", behavior: "smooth" });
  }

  /** Hints, solutions and keeping: no cells of the notebook, shown below the exercise's buttons. @param {string} id @param {string} what */
  async aside(id, what) {
    const out = /** @type {HTMLElement} */ ($(`[data-exercise="${id}"]`)?.nextElementSibling);
    out.replaceChildren();
    tab.running = {
      output({ kind, content }) {
        const el = h("div", { className: "output" });
        out.append(el);
        draw(kind, content, el);
      },
    };
    await kernel.run(this.name, "aside", `__import__("minigrad.course").course.check.${what}("${id}")`);
    tab.running = null;
  }

  /** Write a prediction into its cell, and run it with what waits for it. @param {string} id @param {string[]} values */
  async guess(id, values) {
    const { answer } = this.exercise(id);
    if (!answer || values.some((value) => !value)) return;
    let k = 0;
    const filled = (/** @type {string} */ line) =>
      line.trimStart().startsWith("#") ? line : line.replace(/\bNone\b/g, () => literal(values[k++] ?? "None"));
    answer.put(answer.course.split("\n").map(filled).join("\n"));
    if (kernel.state !== "ready") return;
    const opens = this.order.find((cell) => cell.el.classList.contains(`tag_mg-for-${id.replace(".", "-")}`));
    for (const cell of [answer, opens]) if (cell) await this.runWith(cell);
  }
}

/** What was typed as Python: a number or another literal as it is, anything else as a text. @param {string} text */
function literal(text) {
  const python = /^-?(\d+\.?\d*|\.\d+)(e-?\d+)?$/i.test(text) || /^(None|True|False|\[.*\]|\(.*\)|".*"|'.*')$/.test(text);
  return python ? text : JSON.stringify(text);
}
