// For tests: a page and a model without a browser and without a kernel. jsdom lays nothing out, so every size is a constant.
import { createRequire } from "node:module";

const { JSDOM } = createRequire(new URL("../../widgets/front/package.json", import.meta.url))("jsdom");

/** Put a page's globals in place, and return its body. */
export function fakePage() {
  const { window } = new JSDOM("<!doctype html><body></body>");
  const { document } = window;
  const box = { left: 0, top: 0, right: 900, bottom: 400, width: 900, height: 400 };
  const sizes = { clientWidth: 900, clientHeight: 400, scrollHeight: 400, offsetHeight: 40, scrollLeft: 0, scrollTop: 0 };
  const proto = window.Element.prototype;
  for (const [name, value] of Object.entries(sizes)) Object.defineProperty(proto, name, { value, writable: true, configurable: true });
  proto.getBoundingClientRect = () => box;
  proto.scrollTo = () => {};
  class Observer {
    observe() {}
    disconnect() {}
  }
  const frames = { requestAnimationFrame: () => 0, cancelAnimationFrame: () => {} };
  const media = () => Object.assign(new EventTarget(), { matches: true });
  const style = () => ({ backgroundColor: "rgb(255, 255, 255)", getPropertyValue: () => "" });
  const { Text, Element, Event, EventTarget, NodeFilter, MouseEvent, AbortController, AbortSignal } = window;
  Object.assign(globalThis, frames, { window, document, Text, Element, Event, NodeFilter, MouseEvent, AbortController, AbortSignal });
  Object.assign(globalThis, { MutationObserver: Observer, ResizeObserver: Observer, matchMedia: media, getComputedStyle: style });
  return document.body;
}

/** A model as anywidget's, without a kernel. @param {Record<string, any>} state */
export function fakeModel(state) {
  const listeners = new Map();
  const told = [];
  const fire = (name, ...args) => [...(listeners.get(name) ?? [])].forEach((run) => run(...args));
  return {
    told, // what was sent to the kernel: messages, and the state at each save
    fire,
    get: (name) => state[name],
    set(name, value) {
      state[name] = value;
      fire(`change:${name}`);
    },
    on: (name, run) => listeners.set(name, [...(listeners.get(name) ?? []), run]),
    off: (name, run) => listeners.set(name, (listeners.get(name) ?? []).filter((x) => x !== run)),
    save_changes: () => told.push({ ...state }),
    send: (content) => told.push(content),
  };
}
