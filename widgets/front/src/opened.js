// Opening cards of a graph without a kernel: what the kernel would have sent is in files, one for each picture.

import { forwardSteps } from "./model/moment.js";
import { partsOf, readNetwork } from "./network/numbers.js";

/** `states`: a file, where each request leads, and the card on which each node is; the first state is the page's own. `alone`: for each
 * fold the state in which nothing else is open, and the one in which it is closed again. `names` and `homes`: what a search looks at in
 * each node, and the fold in which it is. See tools/book/opened.py.
 * @typedef {{states: {file: string, moves: Record<string, number>, cards: number[]}[], alone: Record<string, (number|null)[]>, names: string[],
 *   homes: number[]}} Opens */
/** @typedef {Record<string, any>} State */
/** @typedef {import("./page_model.js").PageModel} PageModel */

const OTHERS = "This page holds only some combinations of open cards. In JupyterLab all stay open.";
const ABSENT = "This page does not hold that picture: the card opens in JupyterLab.";

export class Opened {
  #here = 0;
  #asked = 0; // the newest request: a slow file must not undo it

  /** @param {Opens} opens @param {State} first @param {(file: string) => Promise<State>} load */
  constructor(opens, first, load) {
    this.opens = opens;
    this.first = first;
    this.load = load;
  }

  /** Handle the request of a view. @param {any} content @param {PageModel} model */
  answer(content, model) {
    if (content.type === "find") model.tell("msg:custom", this.#find(content.text), []);
    else if (["fold", "look", "open"].includes(content.type)) this.#go(content, model);
  }

  /** @param {any} content @param {PageModel} model */
  async #go(content, model) {
    const turn = ++this.#asked;
    const [to, said] = this.#target(content, model);
    const { file } = this.opens.states[to];
    /** @type {State} */ let state = {};
    try {
      state = file ? await this.load(file) : {};
    } catch {
      return model.set("notice", ABSENT);
    }
    if (turn !== this.#asked) return;
    this.#here = to;
    /** @type {State} */ const next = { ...this.first, ...state };
    if (!next.network.level) next.network = { ...this.first.network, ...next.network };
    const step = stepIn(next, model.state, content.type);
    Object.assign(model.state, next, { step, notice: [next.notice, said].filter(Boolean).join(" ") });
    model.set("revision", (model.get("revision") ?? 1) + 1);
  }

  /** The state after a request, and a sentence about it. @param {any} content @param {PageModel} model @returns {[number, string]} */
  #target({ type, what, cell, sample, node }, model) {
    const fold = type === "open" ? this.opens.homes[node] : what;
    const word = type === "look" ? (cell < 0 ? "look" : `look ${cell} ${sample}`) : `fold ${fold}`;
    const exact = this.opens.states[this.#here].moves[word];
    if (exact !== undefined) return [exact, ""];
    const open = model.get("picture").frames?.some((/** @type {{fold: number}} */ f) => f.fold === fold);
    const alone = this.opens.alone[fold]?.[open ? 1 : 0];
    return alone == null ? [this.#here, ABSENT] : [alone, OTHERS];
  }

  /** As GraphView.find. @param {string} text */
  #find(text) {
    const { cards } = this.opens.states[this.#here];
    const all = this.opens.names.flatMap((name, i) => (text && cards.length && name.includes(text) ? [i] : []));
    /** @type {Map<number, number>} */ const first = new Map();
    for (const i of all) if (!first.has(cards[i])) first.set(cards[i], i);
    return { type: "found", text, total: all.length, nodes: [...first.keys()], hits: [...first.values()] };
  }
}

/** At which step the next picture is shown: as GraphView's _same_event and _keeping_place. @param {State} next @param {State} now @param {string} type */
function stepIn(next, now, type) {
  const [old, steps] = [now.trace.steps, next.trace.steps];
  const forward = forwardSteps(next.trace);
  if (type === "look") {
    const event = old[now.step - 1];
    if (!event) return 0;
    const same = steps.findIndex((/** @type {any} */ s) => ["phase", "kind", "node", "edge"].every((k) => s[k] === event[k]));
    const network = readNetwork(next.network);
    return same >= 0 && network && event.node < partsOf(network.plan).length ? same + 1 : forward;
  }
  return now.step === forwardSteps(now.trace) ? forward : Math.round((now.step / Math.max(1, old.length)) * steps.length);
}
