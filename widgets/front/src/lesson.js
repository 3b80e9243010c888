// A lesson on the page: the figure that the kernel draws, its sentence, the numbers behind it, and its controls.
// What moves sends one message and waits for the answer; while it waits, only the newest position is kept.

import { h, put } from "./dom.js";
import { setMoment, whole } from "./frames.js";
import { stack } from "./halves.js";
import { followTheme } from "./theme.js";
import { Transport } from "./transport.js";

/** @import { Model } from "./view.js" */

/** @import { Frames } from "./frames.js" */

/** @typedef {{kind: string, name: string, label: string, value: any, hint: string, min?: number, max?: number, step?: number, text?: string,
 *             texts?: string[], rows?: number, narrow?: boolean, on?: string, head?: string[], cells?: Cell[][]}} Control */
/** @typedef {string|{key: number, value: string, mood: string, title: string}} Cell a text, or a field to type in */
/** @typedef {{row: HTMLElement, update(c: Control): void, again?(): void, stop?(): void}} Row */
/** @typedef {{name: string, label: string, hint: string, enabled: boolean}} Button */
/** @typedef {{label?: string, svg: string, say: string, code: string, busy: boolean, mood: string, table: string|null, controls: Control[],
 *             buttons: Button[], presets: string[], answers: number}} Scene */

const MANY = 8; // options: more are a list
const PACE = 900; // milliseconds between two moments that the kernel draws
const FRAME = 110; // and of a film
const CALM = 700; // the same where motion is to be reduced
const SHAKE = [0, -5, 5, -5, 5, 0].map((x) => ({ transform: `translateX(${x}px)` }));
const ROOM = [0.84, 1.2]; // how far a figure shrinks before it scrolls, and how far it grows: words of 12 px stay at 10

/** A position of a slider in percent, for the coloured part of its track. @param {Control} c */
const filled = (c) => `${(100 * (c.value - (c.min ?? 0))) / ((c.max ?? 1) - (c.min ?? 0) || 1)}%`;

/** What a message moves: a control, or a cell of a sheet; nothing if a button is pressed. @param {{set?: string, value?: any}} message */
const place = ({ set, value }) => set && `${set} ${Array.isArray(value) ? value[0] : ""}`;

class Lesson {
  /** @type {Map<string, {of: string} & Row>} */ #rows = new Map();
  #sent = 0;
  #waiting = false;
  /** @type {{set?: string, press?: string, value?: any}[]} */ #next = [];

  /** Which point of a row the mouse is at. */ pointed = -1;

  /** @param {Model} model @param {HTMLElement} el @param {(error: unknown) => void} fail */
  constructor(model, el, fail) {
    this.model = model;
    this.figure = h("div", { class: "mg-figure" });
    this.code = h("pre", { class: "mg-code-line" });
    this.below = h("div", { class: "mg-below" });
    /** @type {{id: string, view: any}[]} */ this.inside = [];
    /** @type {string} */ this.drawn = "";
    this.width = 0;
    this.at = 0; // a film's moment
    this.take = 0;
    this.playing = false;
    this.alive = true;
    this.say = h("p", { class: "mg-words", role: "status", "aria-live": "polite" });
    this.numbers = h("details", { class: "mg-numbers" }, h("summary", {}, "Show the numbers"));
    this.cells = h("div", { class: "mg-note" });
    this.numbers.append(this.cells);
    this.controls = h("div", { class: "mg-controls" });
    this.buttons = h("div", { class: "mg-buttons" });
    this.root = h(
      "div",
      { class: "mg-lesson-root mg-instrument", role: "group", "aria-label": "lesson" },
      this.figure,
      this.say,
      this.code,
      this.controls,
      this.buttons,
      this.below,
      this.numbers,
    );
    el.append(this.root);
    this.figure.addEventListener("pointerdown", (event) => this.#pen(event));
    for (const type of ["pointerdown", "pointermove"])
      this.figure.addEventListener(type, (event) => this.#point(/** @type {PointerEvent} */ (event)));
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
    this.sized = new ResizeObserver(() => this.#resized());
    this.sized.observe(this.figure);
    model.on("change:scene", this.show);
    this.fill = () => this.#fill().catch((error) => this.alive && fail(error));
    this.fill();
    model.on("change:children", this.fill);
  }

  destroy() {
    this.model.off("change:scene", this.show);
    this.model.off("change:children", this.fill);
    this.model.off("comm_live_update", this.lost);
    for (const { stop } of this.#rows.values()) stop?.();
    for (const { view } of this.inside) view.remove();
    this.unfollow();
    this.sized.disconnect();
    this.root.remove();
  }

  /** The kernel is gone: keep the picture and disable the controls. A film continues, because the page has all of it. */
  #stop() {
    if (!this.alive) return;
    this.alive = false;
    this.root.classList.add("mg-gone");
    const free = this.film ? [this.film.at, this.film.take] : [];
    const rows = [...this.#rows].filter(([name]) => !free.includes(name)).map(([, { row }]) => row);
    const dead = [...rows, this.buttons].flatMap((row) => [...row.querySelectorAll("button, input, select, textarea")]);
    for (const e of dead) e.setAttribute("disabled", "");
    if (dead.length)
      this.buttons.after(
        h("p", { class: "mg-lost", role: "status" }, "This is not connected to Python any more. Run the cell again to move it."),
      );
  }

  /** Send a change. Until the kernel has answered the last one, queue presses and each control's newest position.
   * @param {{set?: string, press?: string, value?: any}} content */
  tell(content) {
    if (!this.alive) return;
    if (this.#waiting) {
      const waits = this.#next.findLastIndex((other) => !place(other) || place(other) === place(content)); // not before a press
      if (place(this.#next[waits] ?? {}))
        this.#next[waits] = content; // in its place in the queue: a moment refers to the computation before it
      else this.#next.push(content);
      return;
    }
    this.#waiting = true;
    this.model.send({ ...content, number: ++this.#sent });
  }

  /** @param {Scene} scene */
  draw(scene) {
    const answered = scene.answers >= this.#sent;
    const film = this.film;
    if (!film || scene.busy || scene.mood === "bad") this.#speak(scene.say);
    if (!film) this.#paint(scene.svg);
    else if (answered && !this.#next.length) {
      if (!this.playing) this.at = scene.controls.find((c) => c.name === film.at)?.value ?? 0; // it is told where a film rests
      this.take = scene.controls.find((c) => c.name === film.take)?.value ?? 0;
      this.#roll(!scene.busy && scene.mood !== "bad");
    }
    this.say.setAttribute("aria-live", scene.busy ? "off" : "polite"); // a screen reader would never stop speaking
    if (scene.label) this.root.setAttribute("aria-label", `lesson: ${scene.label}`);
    put(this.code, scene.code);
    this.code.hidden = !scene.code;
    this.root.dataset.mood = scene.mood;
    this.numbers.hidden = !scene.table;
    if (scene.table) this.cells.innerHTML = scene.table;
    this.#place(scene.controls, answered);
    this.#press(scene.buttons, scene.presets);
    if (answered && this.#waiting) {
      this.#waiting = false;
      const next = this.#next.shift();
      if (next) this.tell(film && next.set === film.at ? { ...next, value: this.at } : next); // another take may have fewer moments
    }
  }

  /** Draw on a picture that has a board: every place of the pointer sets the control of the nearest column, and of those between.
   * @param {PointerEvent} event */
  #pen(event) {
    const board = () => /** @type {SVGElement|null} */ (this.figure.querySelector("[data-draw]"));
    if (!this.alive || event.button || event.target !== board()) return;
    event.preventDefault();
    let last = -1;
    let before = 0;
    /** @param {PointerEvent} at */
    const draw = (at) => {
      const plot = board();
      if (!plot) return;
      const { names, low, high, step } = JSON.parse(plot.dataset.draw ?? "{}");
      const box = plot.getBoundingClientRect();
      const edge = (box.width * Number(plot.dataset.edge)) / Number(plot.getAttribute("width"));
      const across = (at.clientX - box.left - edge) / (box.width - 2 * edge);
      const column = Math.round(Math.min(Math.max(across, 0), 1) * (names.length - 1));
      const up = Math.min(Math.max((box.bottom - at.clientY) / box.height, 0), 1);
      const value = low + step * Math.round((up * (high - low)) / step);
      const between = last < 0 ? 1 : Math.max(Math.abs(column - last), 1); // a fast stroke leaves out no column
      for (let k = 1; k <= between; k++) {
        const height = last < 0 ? value : before + ((value - before) * k) / between;
        this.tell({ set: names[last < 0 ? column : last + Math.sign(column - last) * k], value: height });
      }
      before = value;
      last = column;
    };
    const until = new AbortController();
    addEventListener("pointermove", draw, { signal: until.signal });
    for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => until.abort(), { signal: until.signal });
    draw(event);
  }

  /** The pointer over a picture with a row of places sets their control to the one below it. @param {PointerEvent} event */
  #point(event) {
    const row = /** @type {SVGElement} */ (event.target).dataset?.point;
    if (!row) return;
    const { name, count } = JSON.parse(row);
    const box = /** @type {SVGElement} */ (event.target).getBoundingClientRect();
    const place = Math.min(Math.floor(((event.clientX - box.left) / box.width) * count), count - 1);
    if (place === this.pointed && event.type !== "pointerdown") return;
    this.pointed = place;
    this.tell({ set: name, value: Math.max(place, 0) });
  }

  #resized() {
    if (this.figure.clientWidth === this.width) return;
    const { drawn } = this;
    this.drawn = "";
    if (drawn) this.#paint(drawn);
  }

  /** The kernel's picture. The functions that make it escape text of learners. @param {string} svg */
  #paint(svg) {
    if (svg === this.drawn) return;
    this.figure.innerHTML = this.drawn = svg;
    const picture = /** @type {SVGElement|null} */ (this.figure.firstElementChild);
    const width = Number(picture?.getAttribute("width"));
    this.width = this.figure.clientWidth;
    const room = this.width - 2 * parseFloat(getComputedStyle(this.figure).paddingLeft);
    if (picture && width && !(width * ROOM[0] > room && room > 0 && !this.film && stack(picture, room, ROOM[0])))
      Object.assign(picture.style, { width: "100%", minWidth: `${ROOM[0] * width}px`, maxWidth: `${ROOM[1] * width}px` });
    this.#reach();
  }

  /** A picture that is wider than its place can be scrolled with the keyboard. */
  #reach() {
    if (this.figure.scrollWidth > this.figure.clientWidth) this.figure.setAttribute("tabindex", "0");
    else this.figure.removeAttribute("tabindex");
  }

  /** @param {string} text */
  #speak(text) {
    put(this.say, text);
    this.say.hidden = !text;
  }

  /** All moments, if they are here already. @returns {Frames|null} */
  get film() {
    const film = this.model.get("film");
    return film?.takes?.length ? film : null;
  }

  /** Show the film's moment. @param {boolean} [speak] */
  #roll(speak = true) {
    const film = this.film;
    const take = film?.takes[this.take] ?? film?.takes[0];
    if (!film || !take) return;
    this.at = Math.min(Math.max(this.at, 0), take.says.length - 1);
    this.#paint(whole(film, take));
    const picture = this.figure.firstElementChild;
    if (picture) setMoment(picture, this.at, take.says[this.at]);
    if (speak) this.#speak(take.says[this.at]);
  }

  /** Widgets below the figure. */
  async #fill() {
    const ids = (this.model.get("children") ?? []).map((/** @type {string} */ id) => id.replace("IPY_MODEL_", ""));
    for (const { id, view } of this.inside) if (!ids.includes(id)) view.remove();
    this.inside = this.inside.filter(({ id }) => ids.includes(id));
    for (const id of ids) {
      if (this.inside.some((one) => one.id === id)) continue;
      const manager = this.model.widget_manager;
      const view = await manager.create_view(await manager.get_model(id));
      this.inside.push({ id, view });
      this.below.append(view.el);
      view.trigger?.("displayed"); // formulas wait for it before they are typeset
    }
  }

  /** Controls stay where they are, with the focus in them; only what changed is written. @param {Control[]} controls @param {boolean} answered */
  #place(controls, answered) {
    const wanted = new Set(controls.map((c) => c.name));
    for (const [name, { row }] of this.#rows)
      if (!wanted.has(name)) {
        this.#rows.get(name)?.stop?.();
        row.remove();
        this.#rows.delete(name);
      }
    for (const c of controls) {
      const of = `${c.kind} ${c.kind === "choice" ? c.texts?.join() : ""} ${c.label}`;
      let made = this.#rows.get(c.name);
      if (made && made.of !== of) {
        made.stop?.();
        made.row.remove();
        made = undefined;
      }
      if (!made) {
        made = { of, ...this.#make(c) };
        this.#rows.set(c.name, made);
      }
      this.controls.append(...(made.row.parentNode ? [] : [made.row]));
      if (answered && !this.#next.length) made.update(c);
    }
  }

  /** The graph view's buttons, and a slider. @param {Control} c @param {HTMLElement} name @returns {Row} */
  #moments(c, name) {
    const range = /** @type {HTMLInputElement} */ (h("input", { class: "mg-slider", type: "range", id: name.getAttribute("for"), min: 0 }));
    let timer = 0;
    const bar = new Transport(
      (what) => jump({ start: 0, back: c.value - 1, next: c.value + 1, end: c.max ?? 0 }[what] ?? 0),
      () => (timer ? pause() : start()),
      (target, event, run) => target.addEventListener(event, run),
      c.on,
    );
    /** @param {Control} now */
    const update = (now) => {
      const film = this.film;
      if (timer && now !== c && !film) now = { ...now, value: c.value };
      c = { ...now, ...(film && { value: this.at, max: (film.takes[this.take] ?? film.takes[0]).says.length - 1 }) };
      Object.assign(range, { max: c.max, value: c.value });
      range.style.setProperty("--at", filled(c));
      bar.tell(c.value, c.max ?? 0);
      range.setAttribute("aria-valuetext", `${c.value} of ${c.max}`);
      bar.playing(timer !== 0);
    };
    /** @param {number} k */
    const go = (k) => {
      c = { ...c, value: Math.min(Math.max(k, 0), c.max ?? 0) };
      if (this.film) {
        this.at = c.value;
        this.#roll();
      }
      update(c);
      if (!timer || !this.film) this.tell({ set: c.name, value: c.value });
    };
    const stop = () => {
      clearInterval(timer);
      this.playing = false;
    };
    const pause = () => {
      stop();
      timer = 0;
      this.say.setAttribute("aria-live", "polite");
      go(c.value);
    };
    const start = () => {
      const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
      this.say.setAttribute("aria-live", "off");
      this.playing = true;
      timer = window.setInterval(
        () => {
          if (c.value >= (c.max ?? 0)) pause();
          else if (this.film || !this.#waiting) go(c.value + 1);
        },
        (this.film ? (calm ? CALM : FRAME) : PACE) / bar.pace,
      );
      go(c.value >= (c.max ?? 0) ? 0 : c.value);
    };
    /** @param {number} k */
    const jump = (k) => {
      if (timer) pause();
      go(k);
    };
    range.addEventListener("input", () => jump(Number(range.value)));
    bar.speed.addEventListener("change", () => {
      if (!timer) return;
      stop();
      start();
    });
    const { start: first, back, next, play, end, speed, clock } = bar;
    const row = h("div", { class: "mg-bar" }, first, back, next, play, end, speed, name, range, clock);
    row.addEventListener("keydown", (event) => bar.key(/** @type {KeyboardEvent} */ (event)));
    return { row, update, again: () => update(c), stop };
  }

  /** A table with cells to type in; the one that was just wrong shakes. @param {(value: any) => void} set @returns {Row} */
  #sheet(set) {
    const row = h("div", { class: "mg-control mg-sheet" });
    /** @type {HTMLInputElement[]} */ let fields = [];
    /** @type {string[]} */ const known = []; // what the kernel has, and was told
    let form = "";
    let tries = 0;
    let last = -1;
    /** @param {Cell} cell */
    const made = (cell) => {
      if (typeof cell === "string") return h("td", {}, cell);
      const field = h("input", { type: "text", class: "mg-field", "aria-label": cell.title, title: cell.title, autocomplete: "off" });
      const take = () => {
        if (field.value !== known[cell.key]) set([(last = cell.key), (known[cell.key] = field.value)]);
      };
      field.addEventListener("change", take);
      field.addEventListener("keydown", (event) => {
        if (event.key === "Enter") take();
      });
      fields[cell.key] = field;
      return h("td", {}, field);
    };
    /** @param {Control} now */
    const update = (now) => {
      const rows = now.cells ?? [];
      const shape = JSON.stringify(rows.map((cells) => cells.map((cell) => (typeof cell === "string" ? cell : cell.title))));
      if (shape !== form) {
        form = shape;
        fields = [];
        const head = h("tr", {}, ...(now.head ?? []).map((text) => (text ? h("th", { scope: "col" }, text) : h("td"))));
        const body = rows.map((cells) => h("tr", {}, ...cells.map(made)));
        row.replaceChildren(h("table", { "aria-label": now.label }, h("thead", {}, head), h("tbody", {}, ...body)));
      }
      for (const cell of rows.flat()) {
        if (typeof cell === "string") continue;
        const field = fields[cell.key];
        if (document.activeElement !== field || field.value === known[cell.key]) field.value = cell.value; // else it is being written
        known[cell.key] = cell.value;
        field.dataset.mood = cell.mood;
        field.setAttribute("aria-invalid", String(cell.mood === "wrong"));
        const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
        if (cell.key === last && now.value > tries && !still) field.animate(SHAKE, 350);
      }
      tries = now.value;
    };
    return { row, update };
  }

  /** @param {Control} c @returns {Row} */
  #make(c) {
    const id = `mg-${Math.random().toString(36).slice(2)}`;
    const name = h("label", { class: "mg-name-of", for: id, title: c.hint }, c.label);
    const set = (/** @type {any} */ value) => {
      const film = this.film;
      if (film && c.name === film.take) {
        this.take = value;
        this.#roll();
        for (const { again } of this.#rows.values()) again?.();
      }
      this.tell({ set: c.name, value });
    };
    if (c.kind === "moments") return this.#moments(c, name);
    if (c.kind === "sheet") return this.#sheet(set);
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
    if (c.kind === "choice" && (c.texts?.length ?? 0) > MANY) {
      const options = (c.texts ?? []).map((text, k) => h("option", { value: k }, text));
      const list = /** @type {HTMLSelectElement} */ (h("select", { id, class: "mg-button" }, ...options));
      list.addEventListener("change", () => set(Number(list.value)));
      return { row: h("div", { class: "mg-control mg-control-text" }, name, list), update: (now) => (list.value = String(now.value)) };
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
    const several = (c.rows ?? 1) > 1;
    const looks = { id, class: "mg-field", spellcheck: "false", autocomplete: "off", title: c.hint };
    const field = several ? h("textarea", { ...looks, rows: c.rows }) : h("input", { ...looks, type: "text" });
    let known = ""; // what the kernel has, and was told
    const take = () => {
      if (field.value !== known) set((known = field.value));
    };
    field.addEventListener("change", take);
    field.addEventListener("keydown", (event) => {
      const { key, shiftKey, ctrlKey, metaKey } = /** @type {KeyboardEvent} */ (event);
      if (key !== "Enter") return; // JupyterLab takes the key from the browser, which then reports no change
      const run = !several || shiftKey || ctrlKey || metaKey;
      if (run) take();
      if (several) event.stopPropagation();
      if (several && run) event.preventDefault();
    });
    return {
      row: h("div", { class: `mg-control mg-control-text${c.narrow ? " mg-control-narrow" : ""}` }, name, field),
      update: (now) => {
        if (now.value === known && document.activeElement === field) return; // it is being written
        if (this.root.dataset.mood === "bad" && field.value === known) return; // it was refused: there is something to correct
        field.value = known = now.value;
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
