// A lesson on the page: the figure that the kernel draws, its sentence, the numbers behind it, and its controls.
// What moves sends one message and waits for the answer; while it waits, only the newest position is kept.

import { h, put } from "./dom.js";
import { followTheme } from "./theme.js";

/** @import { Model } from "./view.js" */

/** @typedef {{kind: string, name: string, label: string, value: any, hint: string, min?: number, max?: number, step?: number, text?: string,
 *             texts?: string[]}} Control */
/** @typedef {{name: string, label: string, hint: string, enabled: boolean}} Button */
/** @typedef {{svg: string, say: string, mood: string, table: string|null, controls: Control[], buttons: Button[], presets: string[],
 *             answers: number}} Scene */

/** A position of a slider in percent, for the coloured part of its track. @param {Control} c */
const filled = (c) => `${(100 * (c.value - (c.min ?? 0))) / ((c.max ?? 1) - (c.min ?? 0) || 1)}%`;

class Lesson {
  /** @type {Map<string, {of: string, row: HTMLElement, update(c: Control): void}>} */ #rows = new Map();
  #sent = 0;
  #waiting = false;
  /** @type {object|null} */ #next = null;

  /** @param {Model} model @param {HTMLElement} el @param {(error: unknown) => void} fail */
  constructor(model, el, fail) {
    this.model = model;
    this.figure = h("div", { class: "mg-figure" });
    this.say = h("p", { class: "mg-words", role: "status", "aria-live": "polite" });
    this.numbers = h("details", { class: "mg-numbers" }, h("summary", {}, "Show the numbers"));
    this.cells = h("div", { class: "mg-note" });
    this.numbers.append(this.cells);
    this.controls = h("div", { class: "mg-controls" });
    this.buttons = h("div", { class: "mg-buttons" });
    this.root = h(
      "section",
      { class: "mg-lesson-root mg-instrument", "aria-label": "lesson" },
      this.figure,
      this.say,
      this.controls,
      this.buttons,
      this.numbers,
    );
    el.append(this.root);
    this.show = () => {
      try {
        if (model.get("scene")) this.draw(model.get("scene")); // a closed model has lost it
      } catch (error) {
        fail(error);
      }
    };
    this.draw(model.get("scene"));
    this.lost = () => this.#stop();
    model.on("comm_live_update", this.lost); // models are born alive, so the first change is the end
    if (model.get("layout")?.comm_live === false) this.#stop(); // a saved notebook brings models that never had a kernel
    this.unfollow = followTheme(this.root);
    model.on("change:scene", this.show);
  }

  destroy() {
    this.model.off("change:scene", this.show);
    this.model.off("comm_live_update", this.lost);
    this.unfollow();
    this.root.remove();
  }

  /** Nobody answers any more: the picture stays, and the controls say so. */
  #stop() {
    if (this.root.classList.contains("mg-gone")) return;
    this.root.classList.add("mg-gone");
    for (const e of this.root.querySelectorAll("button, input")) e.setAttribute("disabled", "");
    this.buttons.after(h("p", { class: "mg-lost", role: "status" }, "Run the cell again to move this: no kernel stands behind it."));
  }

  /** Tell the kernel, or keep it until the kernel has answered what it was told last. @param {object} content */
  tell(content) {
    if (this.#waiting) {
      this.#next = content;
      return;
    }
    this.#waiting = true;
    this.model.send({ ...content, number: ++this.#sent });
  }

  /** @param {Scene} scene */
  draw(scene) {
    this.figure.innerHTML = scene.svg; // made by the kernel's own functions, which escape what learners wrote
    put(this.say, scene.say);
    this.root.dataset.mood = scene.mood;
    this.numbers.hidden = !scene.table;
    if (scene.table) this.cells.innerHTML = scene.table;
    const answered = scene.answers >= this.#sent;
    this.#place(scene.controls, answered);
    this.#press(scene.buttons, scene.presets);
    if (answered && this.#waiting) {
      this.#waiting = false;
      const next = this.#next;
      this.#next = null;
      if (next) this.tell(next);
    }
  }

  /** Controls stay where they are, with the focus in them; only what changed is written. @param {Control[]} controls @param {boolean} answered */
  #place(controls, answered) {
    const wanted = new Set(controls.map((c) => c.name));
    for (const [name, { row }] of this.#rows)
      if (!wanted.has(name)) {
        row.remove();
        this.#rows.delete(name);
      }
    for (const c of controls) {
      const of = `${c.kind} ${c.texts?.length}`;
      let made = this.#rows.get(c.name);
      if (made && made.of !== of) {
        made.row.remove();
        made = undefined;
      }
      if (!made) {
        made = { of, ...this.#make(c) };
        this.#rows.set(c.name, made);
      }
      this.controls.append(...(made.row.parentNode ? [] : [made.row]));
      if (answered && !this.#next) made.update(c);
    }
  }

  /** @param {Control} c @returns {{row: HTMLElement, update(c: Control): void}} */
  #make(c) {
    const id = `mg-${Math.random().toString(36).slice(2)}`;
    const name = h("label", { class: "mg-name-of", for: id, title: c.hint }, c.label);
    const set = (/** @type {any} */ value) => this.tell({ set: c.name, value });
    if (c.kind === "slider") {
      const range = /** @type {HTMLInputElement} */ (
        h("input", { class: "mg-slider", type: "range", id, min: c.min, max: c.max, step: c.step })
      );
      const out = h("span", { class: "mg-value", "aria-hidden": "true" }); // the slider itself says its value
      /** @param {Control} now */
      const update = (now) => {
        Object.assign(range, { min: now.min, max: now.max, step: now.step, value: now.value });
        range.style.setProperty("--at", filled(now));
        range.setAttribute("aria-valuetext", now.text ?? "");
        out.textContent = now.text ?? "";
        c = now;
      };
      range.addEventListener("input", () => {
        const value = Number(range.value);
        range.style.setProperty("--at", filled({ ...c, value }));
        if (c.texts) out.textContent = c.texts[value];
        set(value);
      });
      return { row: h("div", { class: "mg-control" }, name, range, out), update };
    }
    if (c.kind === "choice") {
      const group = h("div", { class: "mg-choice", role: "radiogroup", "aria-label": c.label });
      const options = (c.texts ?? []).map((text, k) => {
        const b = h("button", { type: "button", class: "mg-button", role: "radio" }, text);
        b.addEventListener("click", () => set(k));
        b.addEventListener("keydown", (event) => {
          const to = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[/** @type {KeyboardEvent} */ (event).key];
          if (!to) return;
          event.preventDefault();
          const other = options[(k + to + options.length) % options.length];
          other.focus();
          other.click();
        });
        return b;
      });
      group.append(...options);
      return {
        row: h("div", { class: "mg-control mg-control-choice" }, h("span", { class: "mg-name-of", title: c.hint }, c.label), group),
        update: (now) =>
          options.forEach((b, k) => {
            b.setAttribute("aria-checked", String(k === now.value));
            b.setAttribute("tabindex", k === now.value ? "0" : "-1");
          }),
      };
    }
    if (c.kind === "toggle") {
      const box = /** @type {HTMLInputElement} */ (h("input", { type: "checkbox", id }));
      box.addEventListener("change", () => set(box.checked));
      return { row: h("div", { class: "mg-control mg-control-toggle" }, box, name), update: (now) => (box.checked = now.value) };
    }
    const field = /** @type {HTMLInputElement} */ (
      h("input", { type: "text", id, spellcheck: "false", autocomplete: "off", title: c.hint })
    );
    let taken = c.value;
    const take = () => {
      if (field.value !== taken) set((taken = field.value));
    };
    field.addEventListener("change", take);
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter") take(); // JupyterLab takes the key from the browser, which then reports no change
    });
    return {
      row: h("div", { class: "mg-control mg-control-text" }, name, field),
      update: (now) => {
        if (document.activeElement !== field || !field.value) field.value = now.value;
      },
    };
  }

  /** @param {Button[]} buttons @param {string[]} presets */
  #press(buttons, presets) {
    const all = [...buttons, ...presets.map((name) => ({ name, label: name, hint: "", enabled: true }))];
    const key = all.map((b) => b.name).join("\0");
    if (this.buttons.dataset.key !== key) {
      this.buttons.dataset.key = key;
      this.buttons.replaceChildren(
        ...all.map((b) => {
          const e = h("button", { type: "button", class: "mg-button", title: b.hint });
          e.addEventListener("click", () => this.tell({ press: b.name }));
          return e;
        }),
      );
    }
    all.forEach((b, k) => {
      const e = /** @type {HTMLButtonElement} */ (this.buttons.children[k]);
      if (e.textContent !== b.label) e.textContent = b.label;
      e.disabled = !b.enabled;
    });
    this.buttons.hidden = !all.length;
  }
}

/** @param {import("./loader.js").PartContext} context */
export function render({ model, el, fail }) {
  const lesson = new Lesson(model, el, fail);
  return () => lesson.destroy();
}
