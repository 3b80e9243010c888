// The ledger: a row for each edge of the backward pass, in the order of the engine.

import { h, Memo, put } from "../dom.js";
import { arrayAt, arrayText } from "../model/arrays.js";
import { fit, fmt, plainNumber, tail } from "../model/numbers.js";
import { wayBack } from "../words.js";
import { Quiz } from "./quiz.js";
import { eventRow, LONG, RowWindow, setRow, table } from "./table.js";

/** @import { Edge } from "../types" */
/** @import { Sent } from "../model/moment.js" */
/** @import { Frame, View } from "../view.js" */

/** A row. `local` is the local derivative's text, null where it is no number; `blanks` are fields to be filled in.
 * @typedef {{r: HTMLTableRowElement, local: Text|null, edge: number, at: number, memo: Memo, blanks: HTMLInputElement[]|null}} Row */

const CAPTION = "Ledger of the backward pass: each edge adds its local derivative × the upstream gradient to the node it leads to";

/** @param {string} text @param {string} [kind] */
const formula = (text, kind = "") => h("span", { class: `mg-formula${kind}` }, text);

/** Is the local derivative nothing but its number? @param {Edge} e */
const bare = (e) => plainNumber(e.local_text) || !e.local_text;

export class LedgerPane {
  /** @type {Row[]} */ rows = [];

  /** @param {View} view @param {HTMLElement} pane */
  constructor(view, pane) {
    this.view = view;
    this.pane = pane;
    this.window = new RowWindow(pane, () => this.rows.map((x) => x.r));
    this.quiz = new Quiz(view, this);
  }

  draw() {
    const { trace } = this.view.state;
    const { marked, difference } = this.view.scene;
    this.rows = trace.steps.flatMap((x, i) => (x.edge === null ? [] : [this.#row(trace.edges[x.edge], i + 1)]));
    for (const x of this.rows) if (x.at === marked?.at) x.r.children[0].append(h("span", { class: "mg-differ" }, difference));
    this.quiz.draw();
    this.window.forget();
    const heads = trace.arrays ? ["edge", "rule", "downstream", "sum there"] : ["edge", "local", "× upstream", "= downstream", "sum there"];
    this.pane.replaceChildren(
      this.quiz.bar,
      table(
        heads,
        this.rows.map((x) => x.r),
        CAPTION,
      ),
    );
  }

  /** @param {Edge} e @param {number} at @returns {Row} */
  #row(e, at) {
    const { trace } = this.view.state;
    const [from, to] = [trace.nodes[e.target].label, trace.nodes[e.source].label];
    const r = eventRow(this.view, at, trace.arrays ? 4 : 5, wayBack(trace, e));
    r.children[0].children[0].replaceChildren(h("span", {}, `${tail(from, 16)} → `), h("wbr"), h("span", {}, tail(to, 16)));
    const [local, cell] = this.#localCell(e);
    r.children[1].append(cell);
    return { r, local, edge: e.id, at, memo: new Memo(), blanks: null };
  }

  /** The cell of the local derivative, and in it the text that changes. @param {Edge} e @returns {[Text|null, Node]} */
  #localCell(e) {
    const { trace } = this.view.state;
    if (e.amount) return [null, formula("folded")];
    if (trace.arrays && e.local === null) {
      const sum = e.broadcast ? `, Σ over ${e.broadcast.axes.join(", ")}` : "";
      const rule = e.words || e.local_text;
      return [null, h("span", { class: "mg-formula", title: rule + sum }, (rule || "its rule") + sum)];
    }
    const local = document.createTextNode("");
    if (bare(e)) return [local, h("span", { title: e.local_text }, h("span", {}, local))];
    const number = h("span", {}, h("span", { class: "mg-wordy" }, "= "), local);
    return [local, h("span", { title: e.local_text }, formula(e.local_text, " mg-wordy"), " ", number)];
  }

  /** @param {Frame} frame */
  update({ trace, point, now, step }) {
    const { offscreen } = this.view;
    // Columns of one width: a number that is cut off would be another.
    const number = this.rows.length > LONG ? (/** @type {number} */ v) => fit(v, 10) : (/** @type {number} */ v) => fmt(v);
    for (const [k, x] of this.rows.entries()) {
      if (offscreen.later(() => this.window.near(k))) continue;
      const sent = now.sent[x.edge];
      const local = point.locals[x.edge];
      if (x.memo.same(step === x.at, local, !!sent, sent?.incoming, sent?.sends, sent?.before, sent?.after, point)) continue;
      offscreen.wrote();
      if (x.blanks && !sent) {
        setRow(x.r, false, false);
        continue;
      }
      if (x.blanks) this.#filled(x);
      if (x.local) x.local.data = trace.arrays ? fmt(local) : number(local);
      if (trace.arrays) this.#arrays(x, sent);
      else this.#numbers(x, sent, number);
      setRow(x.r, !!sent, step === x.at);
    }
  }

  /** Update a row with the typed entries, or with those that a step has filled in. @param {Row} x */
  #filled(x) {
    x.blanks = null;
    const e = this.view.state.trace.edges[x.edge];
    x.r.children[1].replaceChildren(...(bare(e) ? [] : [formula(`${e.local_text} = `)]), ...(x.local ? [x.local] : []));
    x.r.onclick = () => this.view.jump(x.at);
  }

  /** @param {Row} x @param {Sent|null} sent */
  #arrays(x, sent) {
    const { trace, point } = this.view.state;
    const text = (/** @type {number|undefined} */ i) => (i === undefined || i < 0 ? "?" : arrayText(arrayAt(trace, point, i), 3));
    put(x.r.children[2], text(sent?.arrays?.sends));
    put(x.r.children[3], text(sent?.arrays?.after));
  }

  /** @param {Row} x @param {Sent|null} sent @param {(v: number) => string} number */
  #numbers(x, sent, number) {
    const [, , incoming, sends, sum] = x.r.children;
    put(incoming, !x.local ? "" : sent ? number(sent.incoming) : "?");
    put(sends, sent ? number(sent.sends) : "?");
    const plus = sent && sent.before !== 0 ? `${fmt(sent.before)} + ${fmt(sent.sends)} = ` : "";
    if (sum.children.length !== 2) sum.replaceChildren(h("span", { class: "mg-wordy" }), h("span"));
    put(sum.children[0], plus);
    put(sum.children[1], sent ? number(sent.after) : "?");
    if (this.view.state.drag === "idle") sum.setAttribute("title", sent ? plus + fmt(sent.after) : "?");
  }
}
