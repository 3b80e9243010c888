// A page that runs: loaded by bar.js when somebody presses a button or touches code. What lives here: what a press does, what the kernel's
// states are called, stopping, the next chapter in the same tab.

import { Chapter } from "./chapter.js";
import look from "./live.css";
import * as store from "./store.js";
import { $, $$, fromDisk, h, keepFile, kernel, marks, say, tab, warn } from "./tab.js";

/** @typedef {{do: string, cell?: string, exercise?: string, values?: string[], x?: number, y?: number}} Press */

const PATIENCE = 3000; // ms in which Python must answer that it stops
const page = /** @type {any} */ (globalThis);
document.head.append(h("style", { textContent: /** @type {any} */ (look) }));
// iOS zooms into small text when one types; it obeys this for that only, and pinching still works.
if (/iP(hone|ad|od)/.test(navigator.userAgent))
  for (const meta of $$('meta[name="viewport"]')) /** @type {HTMLMetaElement} */ (meta).content += ", maximum-scale=1";

// ---- what goes wrong, in a sentence

const SENTENCES = {
  disk: "Opened from a disk, this book has no Python beside it. Build it with PYODIDE=folder DISK=yes, or serve the folder: python -m http.server.",
  offline: "Python could not be fetched: there is no network. The pictures still move; press again when you are online.",
  missing: "Python's files are not where this book expects them. Its publisher has to build it again.",
  changed: "A file of Python did not arrive as it was published, so it was not started. Press again to fetch it once more.",
  old: "This browser is too old to run Python (it needs Chrome 95, Firefox 113, Safari 16.4 or newer). The pictures move all the same.",
  memory: "Python ran out of memory and has ended. Your text, your files and the pictures are still here; run again to start it anew.",
  silent: "Python did not answer, so it was ended. Variables are gone; your text, files and pictures are here. Run again to go on.",
  full: "The browser had no room to keep Python: the next visit fetches it again.",
  tabs: "This chapter is open in another tab, too: of each cell the last edit counts.",
};
const old = typeof DecompressionStream === "undefined" || typeof WebAssembly !== "object" || !("Exception" in WebAssembly);
const MB = (/** @type {number} */ bytes) => (bytes / 1e6).toFixed(1);
const LABELS = {
  none: "▶ Run this page",
  dead: "▶ Run this page",
  loading: "Starting…",
  starting: "Starting…",
  ready: "▶ Run all",
  busy: "■ Stop",
};

/** @type {Record<string, (detail: any) => void>} */
const on = {
  loading({ got = 0, expected = 0 }) {
    $(".mgb-bar")?.style.setProperty("--done", String(expected ? got / expected : 0));
    say(
      expected ? `Fetching Python: ${MB(got)} of ${MB(expected)} MB${got < expected ? ", kept for next time" : ""}.` : "Fetching Python.",
    );
  },
  starting({ restored }) {
    $(".mgb-bar")?.style.setProperty("--done", "1");
    say(restored ? "Waking Python up." : "Starting Python; from the next time on this takes a second or two.");
  },
  none({ error }) {
    if (!error || error.message === "ended") return;
    const [word] = error.message.split(":");
    const known = Object.entries(SENTENCES).find(([name]) => name === word);
    warn(known?.[1] ?? `Python did not start: ${error.message.trim().split("\n").pop().slice(0, 160)}`);
  },
  dead() {
    lost();
    warn(SENTENCES.memory);
  },
  ready({ at }) {
    if (at) page.mgTimes = { at };
    if (at) say("");
  },
  busy() {},
};

function show(/** @type {any} */ detail) {
  const bar = /** @type {HTMLElement} */ ($(".mgb-bar"));
  const button = /** @type {HTMLButtonElement} */ ($(".mgb-start", bar));
  bar.dataset.state = kernel.state;
  page.mgFloat();
  on[kernel.state](detail);
  button.textContent = LABELS[kernel.state];
  button.disabled = kernel.state === "loading" || kernel.state === "starting";
}
kernel.addEventListener("state", (event) => show(/** @type {CustomEvent} */ (event).detail));
kernel.addEventListener("plots", (event) => {
  const { got, expected } = /** @type {CustomEvent} */ (event).detail;
  if (got < expected) say(`Fetching what draws plots: ${MB(got)} of ${MB(expected)} MB.`);
});
kernel.addEventListener("full", () => warn(SENTENCES.full));
kernel.addEventListener("output", (event) => tab.running?.output(/** @type {CustomEvent} */ (event).detail));
kernel.addEventListener("file", (event) => {
  const { path, data } = /** @type {CustomEvent} */ (event).detail;
  keepFile(path, data);
});

/** What another tab has kept. @param {MessageEvent} event */
function heard({ data }) {
  if (data.file) {
    tab.files[data.file] = data.data;
    kernel.tell("file", { path: data.file, data: data.data });
    marks();
  }
  const [chapter, id] = (data.cell ?? "").split("/");
  const cell = chapter === tab.chapter?.name && tab.chapter.cells.get(id);
  if (!cell || cell.text === data.source) return;
  if (document.visibilityState === "visible") return say(SENTENCES.tabs);
  cell.source = data.source;
  if (cell.editor) cell.editor.text = data.source;
  cell.mark();
}
store.others?.addEventListener("message", heard);

// ---- stopping

/** @type {ReturnType<typeof setTimeout>|undefined} */ let ending;

function lost() {
  tab.running = null;
  for (const cell of tab.chapter?.order ?? []) cell.lost();
}

/** Ask Python to stop; where it does not answer (one long call in C), end it and say so. */
function stop() {
  const cell = tab.running;
  kernel.stop();
  say("Stopping.");
  clearTimeout(ending);
  ending = setTimeout(() => {
    if (!cell || tab.running !== cell) return;
    kernel.end();
    lost();
    warn(SENTENCES.silent);
  }, PATIENCE);
}

function restart() {
  kernel.end();
  lost();
  kernel.start();
}

// ---- what a press does

/** @type {Record<string, (press: Press) => Promise<void>|void>} */
const presses = {
  restore: () => say(""),
  edit: ({ cell, x = 0, y = 0 }) => tab.chapter.cells.get(cell).edit({ x, y }),
  guess: ({ exercise = "", values = [] }) => tab.chapter.guess(exercise.replace("-", "."), values),
  page: () => (kernel.state === "busy" ? stop() : tab.chapter.runAll()),
  cell({ cell: id }) {
    const cell = tab.chapter.cells.get(id);
    return cell.busy || cell.queued ? stop() : tab.chapter.runWith(cell);
  },
  check: ({ exercise }) => tab.chapter.check(exercise),
  hint: ({ exercise }) => tab.chapter.aside(exercise, "hint"),
  reveal: ({ exercise }) => tab.chapter.aside(exercise, "reveal"),
  keep: ({ exercise }) => tab.chapter.aside(exercise, "keep"),
};
const WITHOUT_PYTHON = new Set(["restore", "edit", "guess"]);
page.mgActing = 0;

/** @param {Press} press */
async function act(press) {
  page.mgActing += 1;
  try {
    await tab.chapter.ready;
    if (!WITHOUT_PYTHON.has(press.do)) {
      if (old) return warn(SENTENCES.old);
      await kernel.start();
    }
    await presses[press.do](press);
  } catch (error) {
    console.warn(error); // the bar has said it
  } finally {
    page.mgActing -= 1;
  }
}

// ---- the next chapter in the same tab: Python stays

function begin() {
  tab.chapter = new Chapter(restart);
  page.mgPage = tab.chapter;
}

/** @param {string} url @param {boolean} [push] */
async function turn(url, push = true) {
  const answer = await fetch(url).catch(() => null);
  const next = answer?.ok && new DOMParser().parseFromString(await answer.text(), "text/html");
  const [from, to] = [$(".page"), next && $(".page", next)];
  if (!next || !from || !to || !$("[data-chapter]", next)) {
    location.href = url;
    return;
  }
  if (push) history.pushState({}, "", url);
  document.title = next.title;
  from.replaceWith(to);
  for (const name of ["page.js", "book.js"]) {
    const script = /** @type {HTMLScriptElement} */ ($(`script[src*="_static/${name}"]`));
    script.replaceWith(h("script", { src: script.src }));
  }
  scrollTo(0, 0);
  if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
  begin();
  page.mgDress();
  show({});
}

addEventListener(
  "click",
  (event) => {
    // What Python shows links to notebooks, as in JupyterLab; here they are pages.
    const link = /** @type {HTMLAnchorElement|null} */ (/** @type {Element} */ (event.target).closest?.('a[href*=".ipynb"]'));
    if (link && /\/\w+\.ipynb(#.*)?$/.test(link.href) && link.origin === location.origin) link.href = link.href.replace(".ipynb", ".html");
  },
  true,
);
if (!fromDisk) {
  addEventListener("click", (event) => {
    const link = /** @type {HTMLAnchorElement|null} */ (/** @type {Element} */ (event.target).closest?.("a[href]"));
    const plain = !event.defaultPrevented && !event.button && !event.metaKey && !event.ctrlKey && !event.shiftKey;
    if (!link || !plain || kernel.state === "none" || link.origin !== location.origin || link.pathname === location.pathname) return;
    if (!/\/\d\d_\w+\.html$/.test(link.pathname)) return;
    event.preventDefault();
    turn(link.href);
  });
  addEventListener("popstate", () => void turn(location.href, false));
}
addEventListener("pagehide", () => {
  for (const cell of tab.chapter?.order ?? []) if (cell.changed) cell.keep();
});

const opened = store.open(warn).then(async () => {
  tab.files = await store.all("files");
});
page.mgKernel = kernel;
page.mgLive = async (/** @type {Press[]} */ asked) => {
  await opened;
  if (!tab.chapter) begin();
  if (store.lost()) warn(store.lost());
  for (const press of asked) await act(press);
  marks();
};
