// The script of an exported page: the view with a few lines in place of a kernel's model.

import { View } from "./view.js";

const text = document.getElementById("state")?.textContent ?? "{}";
/** @type {Record<string, any>} */
const state = JSON.parse(text, (_, value) =>
  value?.$bytes === undefined ? value : Uint8Array.from(atob(value.$bytes), (c) => c.charCodeAt(0)).buffer,
);
/** @type {Map<string, Set<(...args: any[]) => void>>} */
const listeners = new Map();

new View(
  {
    get: (name) => state[name],
    set: (name, value) => {
      state[name] = value;
      for (const run of listeners.get(`change:${name}`) ?? []) run();
    },
    on: (name, run) => listeners.set(name, (listeners.get(name) ?? new Set()).add(run)),
    off: (name, run) => listeners.get(name)?.delete(run),
    save_changes() {},
    send() {},
  },
  /** @type {HTMLElement} */ (document.getElementById("view")),
  (error) => {
    throw error;
  },
);
