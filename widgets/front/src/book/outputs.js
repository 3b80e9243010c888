// What a cell shows: the kernel's messages as elements, the live view first, then HTML, pictures, text.

import { outputOf } from "./notebook.js";
import { h, kernel } from "./tab.js";

const VIEW = "application/vnd.jupyter.widget-view+json";
const ANSI = new RegExp(`${String.fromCharCode(27)}\\[[\\d;]*m`, "g");

/** @param {string} text @param {string} [className] */
const block = (text, className = "") => h("div", { className: "highlight" }, h("pre", { className, textContent: text }));

/** @param {any} data @param {HTMLElement} el */
async function drawData(data, el) {
  if (data[VIEW]) {
    try {
      await kernel.show(data[VIEW].model_id, el);
      el.classList.add("mgb-view");
      return;
    } catch (error) {
      console.error(error);
      el.replaceChildren();
    }
  }
  const alt = data["text/plain"] ?? "";
  if (data["text/html"]) {
    el.innerHTML = data["text/html"];
    el.classList.add("text_html");
  } else if (data["image/svg+xml"]) {
    const src = URL.createObjectURL(new Blob([data["image/svg+xml"]], { type: "image/svg+xml" }));
    const image = h("img", { src, alt });
    el.append(h("figure", { className: "mg-live" }, image));
    await image.decode().catch(() => {});
  } else if (data["image/png"]) el.append(h("img", { src: `data:image/png;base64,${data["image/png"]}`, alt }));
  else if (alt) el.append(block(alt));
}

/** Draw one output into an element. @param {string} kind @param {any} content @param {HTMLElement} el */
export async function draw(kind, content, el) {
  if (kind === "stream") el.append(block(content.text));
  else if (kind === "error") el.append(block(content.traceback.join("\n").replace(ANSI, ""), "mgb-error"));
  else await drawData(content.data, el);
}

/** The outputs of a cell, as nbformat has them (`list`) and on the page. What was there stays until the first new one arrives. */
export class Outputs {
  /** @type {any[]} */ list = [];
  #old = true;
  /** @type {Promise<void>[]} */ #pending = [];
  /** @type {Map<string, {el: HTMLElement, at: number}>} */ #ids = new Map();

  /** @param {HTMLElement} box */
  constructor(box) {
    this.box = box;
  }

  begin() {
    this.list = [];
    this.#ids.clear();
    this.#old = true;
    this.box.style.minHeight = `${this.box.offsetHeight}px`;
  }

  async end() {
    this.#clear();
    await Promise.allSettled(this.#pending.splice(0));
    for (const still of this.box.querySelectorAll(".mgb-still")) {
      const live = still.nextElementSibling?.classList.contains("mgb-view"); // then the stored picture is not needed (widgets/stored.py)
      live ? still.remove() : still.classList.remove("mgb-still");
    }
    setTimeout(() => {
      this.box.style.minHeight = "";
    }, 300);
  }

  #clear() {
    if (!this.#old) return;
    this.#old = false;
    this.box.replaceChildren();
    this.box.classList.remove("mgb-old");
  }

  /** @param {import("./kernel.js").Output} message @param {number} count */
  add(message, count) {
    const { kind, content } = message;
    if (kind === "clear_output") {
      this.list = [];
      this.#old = true;
      if (!content.wait) this.#clear();
      return;
    }
    this.#clear();
    const id = content.transient?.display_id;
    if (kind === "update_display_data") return this.#update(this.#ids.get(id), content);
    const last = this.list.at(-1);
    if (kind === "stream" && last?.output_type === "stream" && last.name === content.name) {
      last.text = [last.text.join("") + content.text];
      this.box.lastElementChild?.querySelector("pre")?.append(content.text);
      return;
    }
    this.list.push(outputOf(message, count));
    const still = String(content.data?.["text/html"] ?? "").includes("mg-stored");
    const el = h("div", {
      className: `output ${kind === "stream" ? content.name : kind === "error" ? "traceback" : still ? "mgb-still" : ""}`,
    });
    this.box.append(el);
    if (id) this.#ids.set(id, { el, at: this.list.length - 1 });
    this.#pending.push(draw(kind, content, el));
  }

  /** @param {{el: HTMLElement, at: number}|undefined} found @param {any} content */
  #update(found, content) {
    if (!found) return;
    this.list[found.at] = outputOf({ kind: "display_data", content }, null);
    found.el.replaceChildren();
    this.#pending.push(draw("display_data", content, found.el));
  }

  /** Show what is kept of an earlier run. @param {any[]} list @param {string} from */
  restore(list, from) {
    this.list = list;
    this.box.replaceChildren(h("p", { className: "mgb-from", textContent: `${from}; run the cell to make it live` }));
    this.box.classList.add("mgb-old");
    const join = (/** @type {any} */ text) => (Array.isArray(text) ? text.join("") : text);
    for (const output of list) {
      const el = h("div", { className: "output" });
      this.box.append(el);
      const data = Object.fromEntries(Object.entries(output.data ?? {}).map(([type, value]) => [type, join(value)]));
      draw(output.output_type, { ...output, data, text: join(output.text) }, el);
    }
  }
}
