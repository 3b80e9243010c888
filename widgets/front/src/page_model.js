// A widget's model where there is no Jupyter: what a view reads and writes, and whom it asks.

/** @typedef {Record<string, any>} State what a view reads from its model */
/** @typedef {(content: any, model: PageModel, buffers?: any[]) => void} Answer */

export class PageModel {
  /** @type {Map<string, Set<(...args: any[]) => void>>} */ #listeners = new Map();
  /** @type {any} */ widget_manager;

  /** @param {State} state @param {Answer} [answer] */
  constructor(state, answer) {
    this.state = state;
    this.answer = answer;
  }

  /** @param {string} name */
  get(name) {
    return this.state[name];
  }

  /** @param {string} name @param {any} value */
  set(name, value) {
    this.state[name] = value;
    this.tell(`change:${name}`);
  }

  /** @param {string} name @param {...any} about */
  tell(name, ...about) {
    for (const run of [...(this.#listeners.get(name) ?? [])]) run(...about);
  }

  /** @param {string} names @param {(...args: any[]) => void} run */
  on(names, run) {
    for (const name of names.split(" ")) this.#listeners.set(name, (this.#listeners.get(name) ?? new Set()).add(run));
  }

  /** @param {string} [names] @param {(...args: any[]) => void} [run] */
  off(names, run) {
    if (!names) this.#listeners.clear();
    for (const name of names?.split(" ") ?? []) run ? this.#listeners.get(name)?.delete(run) : this.#listeners.delete(name);
  }

  save_changes() {}

  /** @param {any} content @param {any} [_] @param {any[]} [buffers] */
  send(content, _, buffers) {
    this.answer?.(content, this, buffers);
  }
}
