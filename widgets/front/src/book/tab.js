// What one tab has: the kernel, the reader's files, the chapter that is shown, the cell that runs; and the line in which it says things.

import { Kernel } from "./kernel.js";
import * as store from "./store.js";

/** @typedef {{output: (message: import("./kernel.js").Output) => void}} Shows a cell, or the place below an exercise */
/** @typedef {{undo?: () => void, bad?: boolean, to?: HTMLElement}} About */

export const PROGRESS = "/reader/progress.json";
export const ENGINE = "/reader/book/my_engine.py";
export const fromDisk = location.protocol === "file:";

/** @param {string} query @param {ParentNode} [from] */
export const $ = (query, from = document) => /** @type {HTMLElement|null} */ (from.querySelector(query));
/** @param {string} query @param {ParentNode} [from] */
export const $$ = (query, from = document) => /** @type {HTMLElement[]} */ ([...from.querySelectorAll(query)]);

/** @template {keyof HTMLElementTagNameMap} T @param {T} name @param {Record<string, any>} [about] @param {...(Node|string)} inside
 * @returns {HTMLElementTagNameMap[T]} */
export function h(name, about = {}, ...inside) {
  const el = Object.assign(document.createElement(name), about);
  el.append(...inside);
  return el;
}

/** The folder of the book. */
export const root = new URL("../", /** @type {HTMLScriptElement} */ ($('script[src*="bar.js"]')).src).href;

/** @type {Record<string, any>} */ const handed = { .../** @type {any} */ (globalThis).mgHanded };
/** @type {Record<string, (value: any) => void>} */ const waiting = {};
/** @type {any} */ (globalThis).mgHand = (/** @type {string} */ key, /** @type {any} */ value) => {
  handed[key] = value;
  waiting[key]?.(value);
};

/** What a script hands over: a page opened from a disk may load nothing else. @param {string} key @param {string} file @returns {Promise<any>} */
export function script(key, file) {
  if (key in handed) return Promise.resolve(handed[key]);
  return new Promise((yes, no) => {
    waiting[key] = yes;
    const onerror = () => no(new Error(fromDisk ? "disk" : `offline: ${key}`));
    document.head.append(h("script", { src: `${root}_static/python/${file}`, onerror }));
  });
}

/** @param {any} manifest @returns {Promise<Record<string, ArrayBuffer>>} */
async function handedOver(manifest) {
  const names = /** @type {string[]} */ ([...manifest.start, ...manifest.plots]);
  const texts = await Promise.all(names.map((name) => script(`file:${name}`, `${name}.gz.js`)));
  return Object.fromEntries(names.map((name, k) => [name, Uint8Array.from(atob(texts[k]), (c) => c.charCodeAt(0)).buffer]));
}

export const kernel = new Kernel(async () => {
  const manifest = await script("python", "manifest.js");
  const given = fromDisk ? await handedOver(manifest) : undefined;
  return { manifest, base: `${root}_static/python/`, given, files: tab.files, snapshots: !fromDisk };
});

export const tab = {
  /** @type {any} */ chapter: null,
  /** @type {Shows|null} */ running: null,
  /** @type {Record<string, ArrayBuffer>} of the kernel's disk */ files: {},
};

/** The exercises that have passed. @returns {string[]} */
export function passed() {
  try {
    const { exercises = {} } = JSON.parse(new TextDecoder().decode(tab.files[PROGRESS]));
    return Object.keys(exercises).filter((id) => exercises[id].passed);
  } catch {
    return [];
  }
}

function status() {
  const mine = $$("[data-exercise]").map((e) => e.dataset.exercise);
  const count = passed().filter((id) => mine.includes(id)).length;
  const about = mine.length ? ` ${count} of ${mine.length} exercises passed.` : "";
  if (kernel.state === "ready") return `Python runs in this tab.${about}`;
  return kernel.state === "none" ? `Your text is here; Python is not running.${about}` : "";
}

/** @param {string} text @param {() => void} onclick */
const link = (text, onclick) => h("button", { type: "button", className: "mgb-link", textContent: text, onclick });

/** Say a sentence in the bar; "" says how things are. @param {string} sentence @param {About} [about] */
export function say(sentence, { undo, bad, to } = {}) {
  const line = $(".mgb-bar-say");
  if (!line) return;
  line.classList.toggle("mgb-bad", !!bad);
  line.replaceChildren(sentence || status());
  const undone = () => {
    undo?.();
    say("Undone.");
  };
  if (undo) line.append(" ", link("Undo", undone));
  if (to)
    line.append(
      " ",
      link("Show it", () => to.scrollIntoView({ block: "center", behavior: "smooth" })),
    );
}

/** @param {string} sentence */
export const warn = (sentence) => say(sentence, { bad: true });

/** Let the browser save a file. @param {string} name @param {BlobPart} what */
export function save(name, what) {
  const href = URL.createObjectURL(new Blob([what]));
  h("a", { download: name, href }).click();
  setTimeout(() => URL.revokeObjectURL(href), 9000);
}

/** What bar.js shows before anything else is loaded: which exercises have passed, which chapters have the reader's text. */
export function marks() {
  const ids = passed();
  for (const el of $$("[data-exercise]")) el.classList.toggle("mgb-passed", ids.includes(el.dataset.exercise ?? ""));
  try {
    const known = JSON.parse(localStorage.getItem("minigrad:marks") ?? "{}");
    const edited = new Set(known.edited ?? []);
    tab.chapter?.touched ? edited.add(tab.chapter.name) : edited.delete(tab.chapter?.name);
    localStorage.setItem("minigrad:marks", JSON.stringify({ passed: ids, edited: [...edited] }));
  } catch {} // then nothing is marked until a cell runs
}

/** A file of the kernel's disk has changed. @param {string} path @param {ArrayBuffer} data */
export function keepFile(path, data) {
  tab.files[path] = data;
  store.put("files", path, data, warn);
  store.others?.postMessage({ file: path, data });
  marks();
}
