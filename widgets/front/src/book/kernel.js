// The page's side of the kernel: one worker, the models of its widgets, what waits for an answer. Knows no cell and no page.

import { PageModel } from "../page_model.js";
import { CONTROLS } from "./controls.js";
import source from "./worker.js";

/** @typedef {"none"|"loading"|"starting"|"ready"|"busy"|"dead"} State */
/** @typedef {{kind: string, content: any}} Output */
/** @typedef {{ok: boolean, ms?: number, ended?: boolean, error?: string}} Ran */

/** The model of a widget that lives in the worker. */
export class LiveModel extends PageModel {
  /** @type {Record<string, any>} */ #dirty = {};

  /** @param {Kernel} kernel @param {string} id @param {Record<string, any>} state */
  constructor(kernel, id, state) {
    super(state);
    this.kernel = kernel;
    this.model_id = id;
    this.widget_manager = kernel.manager;
  }

  /** @param {string} name @param {any} value */
  set(name, value) {
    this.#dirty[name] = value;
    super.set(name, value);
    this.tell("change", this);
  }

  save_changes() {
    if (Object.keys(this.#dirty).length) this.kernel.comm(this.model_id, { method: "update", state: this.#dirty, buffer_paths: [] });
    this.#dirty = {};
  }

  /** @param {any} content @param {any} [_] @param {any[]} [buffers] */
  send(content, _, buffers) {
    this.kernel.comm(this.model_id, { method: "custom", content }, buffers);
  }

  /** @param {Record<string, any>} state from the worker */
  receive(state) {
    Object.assign(this.state, state);
    for (const name of Object.keys(state)) this.tell(`change:${name}`, this, state[name]);
    this.tell("change", this);
  }
}

/** Put buffers where they belong. @param {any} state @param {(string|number)[][]} paths @param {ArrayBuffer[]} buffers */
function filled(state, paths, buffers) {
  for (const [k, path] of (paths ?? []).entries()) {
    const place = path.slice(0, -1).reduce((inside, step) => inside[step], state);
    place[/** @type {string} */ (path.at(-1))] = new DataView(buffers[k]);
  }
  return state;
}

export class Kernel extends EventTarget {
  /** @type {State} */ state = "none";
  /** @type {Worker|null} */ #worker = null;
  /** @type {Promise<void>|null} */ #started = null;
  /** @type {Map<string, LiveModel>} */ #models = new Map();
  /** @type {Map<string, ((model: LiveModel) => void)[]>} */ #waiting = new Map();
  /** @type {Map<string, Promise<any>>} */ #modules = new Map();
  /** @type {Map<number, (answer: any) => void>} */ #answers = new Map();
  /** @type {((ran: Ran) => void)[]} */ #runs = [];
  #number = 0;
  #poll = "";
  /** @type {(error: Error) => void} */ #no = () => {};

  /** @param {() => Promise<any>} options what a start needs: manifest, base, files, given, snapshots */
  constructor(options) {
    super();
    this.options = options;
    this.manager = {
      /** @param {string} id */
      get_model: (id) => this.#model(String(id).replace("IPY_MODEL_", "")),
      /** @param {LiveModel} model */
      create_view: async (model) => {
        const el = document.createElement("div");
        const undo = await this.#render(model, el);
        const remove = () => {
          undo?.();
          el.remove();
        };
        return { el, remove, trigger() {} };
      },
    };
  }

  /** @param {string} id @returns {Promise<LiveModel>} */
  #model(id) {
    const model = this.#models.get(id);
    if (model) return Promise.resolve(model);
    return new Promise((yes) => this.#waiting.set(id, [...(this.#waiting.get(id) ?? []), yes]));
  }

  /** @param {string} type @param {any} [detail] */
  #tell(type, detail = {}) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }

  /** @param {State} state @param {any} [detail] */
  #set(state, detail = {}) {
    this.state = state;
    this.#tell("state", { state, ...detail });
  }

  /** @returns {Promise<void>} */
  start() {
    this.#started ??= this.#begin();
    this.#started.catch(() => {});
    return this.#started;
  }

  /** @returns {Promise<void>} */
  #begin() {
    return new Promise((yes, no) => {
      this.#no = no;
      this.#set("loading");
      this.options()
        .then((options) => {
          const address = URL.createObjectURL(new Blob([/** @type {any} */ (source)], { type: "text/javascript" }));
          const worker = new Worker(address);
          this.#worker = worker;
          worker.onmessage = ({ data }) => worker === this.#worker && this.#arrived(data, yes);
          worker.onerror = (event) => {
            event.preventDefault();
            if (worker === this.#worker) this.#died(event.message || "the worker ended");
          };
          worker.postMessage({ kind: "start", ...options });
        })
        .catch((error) => this.#failed(error));
    });
  }

  /** A start that came to nothing. @param {Error} error */
  #failed(error) {
    this.#worker?.terminate();
    this.#worker = this.#started = null;
    this.#set("none", { error });
    this.#no(error);
  }

  /** @param {any} message @param {() => void} ready */
  #arrived({ kind, content, buffers, ...more }, ready) {
    /** @type {Record<string, () => void>} */
    const on = {
      state: () => this.#progress(more, ready),
      comm_open: () => this.#opened(content, buffers),
      comm_close: () => this.#models.delete(content.comm_id),
      comm_msg: () => this.#told(content, buffers),
      answer: () => this.#answer(more.id, more.answer),
      file: () => this.#tell("file", { path: content.path, data: buffers[0] }),
      began: () => this.#set("busy", more),
      ran: () => this.#ran(more),
      failed: () => this.#wrong(more),
    };
    if (on[kind]) on[kind]();
    else this.#tell("output", { kind, content });
  }

  /** @param {any} more @param {() => void} ready */
  #progress(more, ready) {
    if (more.what === "not cached") return this.#tell("full");
    if (more.plots) return this.#tell("plots", more);
    this.#set(more.what, more);
    if (more.what === "ready") ready();
  }

  /** @param {any} content @param {ArrayBuffer[]} buffers */
  #opened({ comm_id, data }, buffers) {
    const model = new LiveModel(this, comm_id, filled(data.state, data.buffer_paths, buffers));
    this.#models.set(comm_id, model);
    for (const give of this.#waiting.get(comm_id) ?? []) give(model);
    this.#waiting.delete(comm_id);
  }

  /** @param {any} content @param {ArrayBuffer[]} buffers */
  #told({ comm_id, data }, buffers) {
    const model = this.#models.get(comm_id);
    if (data.method === "update") model?.receive(filled(data.state, data.buffer_paths, buffers));
    else if (data.method === "custom") {
      const views = (buffers ?? []).map((b) => new DataView(b));
      model?.tell("msg:custom", data.content, views);
    }
  }

  /** @param {number} id @param {any} answer */
  #answer(id, answer) {
    this.#answers.get(id)?.(answer);
    this.#answers.delete(id);
  }

  /** @param {any} more */
  #ran(more) {
    this.#set("ready", more);
    this.#runs.shift()?.(more);
  }

  /** @param {any} more */
  #wrong({ during, id, fatal, message }) {
    if (during === "start") this.#failed(new Error(message));
    else if (fatal) this.#died(message);
    else {
      console.warn("kernel:", message);
      if (during === "run") this.#ran({ ok: false, error: message });
      else if (id) this.#answer(id, null);
    }
  }

  /** @param {string} message */
  #died(message) {
    this.end();
    this.#set("dead", { message });
  }

  /** End the worker, whatever it does. What ran is gone; text, files and outputs are the page's. */
  end() {
    this.#no(new Error("ended"));
    this.#worker?.terminate();
    this.#worker = this.#started = null;
    this.#models.clear();
    for (const ran of this.#runs.splice(0)) ran({ ok: false, ended: true });
    for (const answer of this.#answers.values()) answer(null);
    this.#answers.clear();
    this.#set("none");
  }

  /** @param {string} chapter @param {string} cell @param {string} code @returns {Promise<Ran>} */
  async run(chapter, cell, code) {
    await this.start();
    this.#poll = URL.createObjectURL(new Blob(["go on"], { type: "text/plain" }));
    /** @type {Promise<Ran>} */
    const ran = new Promise((yes) => this.#runs.push(yes));
    this.#worker?.postMessage({ kind: "run", chapter, cell, code, poll: this.#poll });
    return ran;
  }

  /** Ask a running cell to stop (worker.js: interrupt). */
  stop() {
    URL.revokeObjectURL(this.#poll);
  }

  /** @param {string} kind @param {any} about @returns {Promise<any>} null where there is no Python */
  ask(kind, about) {
    if (this.state !== "ready" && this.state !== "busy") return Promise.resolve(null);
    const id = ++this.#number;
    return new Promise((yes) => {
      this.#answers.set(id, yes);
      this.tell(kind, { id, ...about });
    });
  }

  /** @param {string} kind @param {any} about */
  tell(kind, about) {
    this.#worker?.postMessage({ kind, ...about });
  }

  /** @param {string} comm_id @param {any} data @param {any[]} [buffers] */
  comm(comm_id, data, buffers = []) {
    this.tell("comm_msg", { comm_id, data, buffers: buffers.map((b) => b.buffer ?? b) });
  }

  /** @param {LiveModel} model @param {HTMLElement} el @returns {Promise<(() => void)|undefined>} */
  async #render(model, el) {
    const control = CONTROLS[model.get("_model_name")];
    if (control) return control(model, el);
    const code = model.get("_esm");
    if (!code) throw new Error(`This page cannot show ${model.get("_model_name")}.`);
    if (!this.#modules.has(code)) {
      const address = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
      this.#modules.set(
        code,
        import(address).then((module) => module.default),
      );
    }
    const part = await this.#modules.get(code);
    return part.render({ model, el, experimental: {} });
  }

  /** Show a live view. @param {string} id @param {HTMLElement} el */
  async show(id, el) {
    return this.#render(await this.manager.get_model(id), el);
  }
}
