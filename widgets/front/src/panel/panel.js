// The panel: the exercises of the chapter in front, the next one with hint and solution, all chapters, and the glossary's entry of a word.
// The kernel of that notebook answers its questions (widgets/side_panel.py). Without one the panel says what to open.

import STYLE from "./panel.css";

/** @typedef {{id: string, title: string, passed: boolean, tried: boolean, graded: boolean}} Exercise */
/** @typedef {{number: number, title: string, notebook: string, minutes: number, passed: number, of: number}} Chapter */
/** @typedef {{chapter: string, exercises: Exercise[], next: string, chapters: Chapter[]}} State */
/** @typedef {Record<string, {word: string, text: string}>} Words */

const ICON = `data:image/svg+xml;utf8,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><g fill="none" stroke="dimgray" stroke-width="1.4"><circle cx="3.5" cy="4" r="1.8"/><circle cx="3.5" cy="12" r="1.8"/><circle cx="12.5" cy="8" r="1.8"/><path d="M5.2 4.8 10.8 7.2M5.2 11.2l5.6-2.4"/></g></svg>',
)}`;

/** @template {keyof HTMLElementTagNameMap} K
 * @param {K} name @param {Record<string, any>} properties @param {(Node|string)[]} children @returns {HTMLElementTagNameMap[K]} */
function element(name, properties = {}, ...children) {
  const el = Object.assign(document.createElement(name), properties);
  el.append(...children);
  return el;
}

/** The value of a Python expression in a kernel, or undefined where it has none. @param {any} kernel @param {string} expression */
async function evaluated(kernel, expression) {
  const asked = { code: "", silent: true, store_history: false, user_expressions: { answer: expression } };
  const { content } = await kernel.requestExecute(asked, true).done;
  return content.user_expressions?.answer?.data?.["application/json"];
}

const FROM = "__import__('widgets.side_panel', fromlist=['state'])";

/** @param {any} app @param {any} tracker the notebooks @param {any} Widget Lumino's */
export function activate(app, tracker, Widget) {
  document.head.append(element("style", { textContent: STYLE }));
  const widget = new Widget();
  widget.id = "minigrad-panel";
  widget.title.caption = "minigrad: this chapter";
  widget.title.iconClass = "mgp-icon";
  document.documentElement.style.setProperty("--mgp-icon", `url("${ICON}")`);
  widget.node.tabIndex = -1;
  widget.node.ariaLabel = "minigrad: this chapter";
  widget.node.setAttribute("role", "region");
  app.shell.add(widget, "left", { rank: 900 });
  const panel = new Panel(widget.node, app, tracker);
  tracker.currentChanged.connect(() => panel.watch());
  panel.watch();
}

class Panel {
  /** @type {any} */ #session;
  /** @type {ReturnType<typeof setTimeout>|undefined} */ #soon;
  /** @type {Words|undefined} */ #words;
  /** @type {string} the exercise whose hint is shown */ #asked = "";

  /** @param {HTMLElement} node @param {any} app @param {any} tracker */
  constructor(node, app, tracker) {
    this.app = app;
    this.tracker = tracker;
    this.list = element("section");
    this.note = element("div", { className: "mgp-note", ariaLive: "polite" });
    this.word = element("section", { className: "mgp-word", hidden: true });
    this.chapters = element("details");
    node.classList.add("mgp");
    node.append(this.list, this.note, this.word, this.chapters);
    this.#empty("Open a chapter, and its exercises appear here.");
    this.status = this.status.bind(this);
    document.addEventListener("selectionchange", () => this.#look());
  }

  /** Follow the notebook in front. */
  watch() {
    this.#session?.statusChanged.disconnect(this.status);
    this.#session = this.tracker.currentWidget?.sessionContext;
    this.#session?.statusChanged.connect(this.status);
    this.note.replaceChildren();
    this.#ask();
  }

  /** A cell has ended: the exercises may have changed. @param {any} _ @param {string} status */
  status(_, status) {
    if (status === "idle") this.#ask();
  }

  #ask() {
    clearTimeout(this.#soon);
    this.#soon = setTimeout(() => this.#update().catch(() => this.#empty("This kernel knows nothing of the course.")), 300);
  }

  get #kernel() {
    return this.#session?.session?.kernel;
  }

  async #update() {
    const kernel = this.#kernel;
    if (kernel?.status !== "idle") return;
    /** @type {State|undefined} */ const state = await evaluated(kernel, `${FROM}.state()`);
    if (kernel !== this.#kernel) return;
    if (!state) return this.#empty("This notebook's kernel does not have the course.");
    this.#words ??= (await evaluated(kernel, `${FROM}.glossary()`))?.words;
    this.#show(state);
  }

  /** @param {string} sentence */
  #empty(sentence) {
    this.list.replaceChildren(element("h2", { textContent: "This chapter" }), element("p", { textContent: sentence }));
  }

  /** @param {State} state */
  #show({ chapter, exercises, next, chapters }) {
    const here = chapters.find(({ number }) => number === Number(chapter || -1));
    const done = exercises.filter(({ passed }) => passed).length;
    const rows = exercises.map((ex) => this.#row(ex, ex.id === next));
    this.list.replaceChildren(
      element("h2", { textContent: here ? `${here.number} · ${here.title}` : "This notebook" }),
      element("p", { textContent: rows.length ? `${done} of ${rows.length} exercises have passed.` : "It has no exercises." }),
      element("ol", {}, ...rows),
    );
    const open = this.chapters.open;
    this.chapters.replaceChildren(
      element("summary", { textContent: "All chapters" }),
      element("ol", {}, ...chapters.map((one) => this.#chapter(one))),
    );
    this.chapters.open = open;
  }

  /** @param {Exercise} ex @param {boolean} next */
  #row(ex, next) {
    const sign = ex.passed ? "✓" : ex.tried ? "✗" : "○";
    const state = ex.passed ? "passed" : ex.tried ? "not yet" : "open";
    const go = element("button", { className: "mgp-link", onclick: () => this.#go(ex) }, `${ex.id} ${ex.title}`);
    const row = element("li", { className: next ? "mgp-next" : "" }, element("span", { ariaLabel: state, role: "img" }, sign), go);
    if (!next) return row;
    const ask = (/** @type {string} */ what) =>
      element("button", { onclick: () => this.#help(what, ex.id) }, what === "hint" ? "Hint" : "Solution");
    row.append(element("div", { className: "mgp-buttons" }, ask("hint"), ask("reveal")));
    if (this.#asked !== ex.id) this.note.replaceChildren();
    return row;
  }

  /** @param {Chapter} one */
  #chapter({ number, title, notebook, minutes, passed, of }) {
    const folder = this.tracker.currentWidget?.context.path.replace(/[^/]*$/, "") ?? "";
    const open = () => this.app.commands.execute("docmanager:open", { path: folder + notebook });
    const state = of ? `${passed} of ${of}` : `${minutes} min`;
    return element(
      "li",
      {},
      element("button", { className: "mgp-link", onclick: open }, `${number} · ${title}`),
      element("span", {}, state),
    );
  }

  /** Scroll to an exercise. JupyterLab gives each heading its text as id. @param {Exercise} ex */
  #go({ id, title }) {
    this.tracker.currentWidget?.setFragment(`#${`Exercise ${id}: ${title}`.replace(/ /g, "-")}`);
  }

  /** @param {string} what "hint" or "reveal" @param {string} id */
  async #help(what, id) {
    const kernel = this.#kernel;
    this.#asked = id;
    if (kernel?.status !== "idle") {
      this.note.textContent = "The kernel is at work. Ask again when it has finished.";
      return;
    }
    const answer = await evaluated(kernel, `${FROM}.${what}(${JSON.stringify(id)})`).catch(() => undefined);
    this.note.innerHTML = answer?.html ?? "The kernel has not answered.";
  }

  /** The glossary's entry of the words that are selected, or of the word at the cursor. */
  #look() {
    const selection = document.getSelection();
    const at = selection?.anchorNode;
    const inside = at instanceof Element ? at : at?.parentElement;
    if (!this.#words || !selection || !at || !inside?.closest(".jp-Notebook")) return;
    const around = at.nodeType === Node.TEXT_NODE ? (at.textContent ?? "") : "";
    const before = around.slice(0, selection.anchorOffset).match(/([\w-]+\s+)?[\w-]*$/)?.[0] ?? "";
    const words = (before + (around.slice(selection.anchorOffset).match(/^[\w-]*(\s+[\w-]+)?/)?.[0] ?? "")).trim().split(/\s+/);
    const phrases = [selection.toString().trim(), ...words.map((_, k) => words.slice(k, k + 2).join(" ")), ...words];
    const keys = phrases.map((phrase) => phrase.toLowerCase()).flatMap((key) => [key, key.replace(/e?s$/, "")]);
    const entry = keys.map((key) => this.#words?.[key]).find(Boolean);
    if (!entry) return;
    this.word.replaceChildren(element("h2", { textContent: entry.word }), element("p", { textContent: entry.text }));
    this.word.hidden = false;
  }
}
