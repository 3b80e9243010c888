// The ledger as an exercise: rows that are still to come have fields, and each typed number is judged.

import { h, put } from "../dom.js";
import { answers, judge } from "../model/judge.js";

/** @import { View } from "../view.js" */
/** @import { LedgerPane, Row } from "./ledger.js" */

const COLUMNS = ["local derivative", "upstream gradient", "downstream gradient", "sum there"];
const HOW = "Go down the rows: those above give each upstream gradient. Enter checks a number, “step” fills in a row.";

export class Quiz {
  /** @param {View} view @param {LedgerPane} ledger */
  constructor(view, ledger) {
    this.view = view;
    this.ledger = ledger;
    this.verdict = h("div", { class: "mg-verdict", role: "status" });
    this.switch = h("button", { class: "mg-button mg-small", type: "button" });
    this.bar = h("div", { class: "mg-quiz" }, this.switch, this.verdict);
    view.on(this.switch, "click", () => this.#toggle());
  }

  #toggle() {
    const { state, store } = this.view;
    const covered = !state.covered;
    put(this.verdict, covered ? HOW : "");
    if (covered) this.view.go(Math.min(state.step, state.forward));
    store.prepare({ covered }); // the rows are made again before the picture follows
    this.ledger.draw();
    this.view.update();
  }

  draw() {
    const { covered, trace, step } = this.view.state;
    this.switch.setAttribute("aria-pressed", String(covered));
    put(this.switch, covered ? "show the ledger" : "fill it in yourself");
    this.bar.hidden = !trace.edges.some((e) => e.carries_grad && !e.amount && e.local !== null);
    if (!covered || trace.arrays) return;
    for (const x of this.ledger.rows) if (x.local && x.at > step) this.#empty(x);
  }

  /** @param {Row} x */
  #empty(x) {
    const { trace } = this.view.state;
    const e = trace.edges[x.edge];
    const words = `${trace.nodes[e.target].label} to ${trace.nodes[e.source].label}`;
    x.blanks = COLUMNS.map((name, k) => this.#blank(x, k, `${name}, ${words}`));
    for (const [k, b] of x.blanks.entries()) x.r.children[k + 1].replaceChildren(b);
    x.r.title = "";
    x.r.onclick = null;
  }

  /** One number that the learner types. @param {Row} x @param {number} column @param {string} words */
  #blank(x, column, words) {
    const input = h("input", { class: "mg-blank", size: 7, "aria-label": words, inputmode: "text", autocomplete: "off" });
    input.onkeydown = (e) => {
      e.stopPropagation();
      if (e.key !== "Enter") return;
      e.preventDefault();
      input.dispatchEvent(new Event("change"));
    };
    input.onchange = () => this.#check(input, x, column);
    return input;
  }

  /** @param {HTMLInputElement} input @param {Row} x @param {number} column */
  #check(input, x, column) {
    const { view } = this;
    if (!input.value.trim()) return;
    const { right, say } = judge(input.value, answers(view.state.trace, view.state.point, x.edge, x.at), column);
    input.classList.toggle("mg-right", right);
    input.classList.toggle("mg-wrong", !right);
    input.setAttribute("aria-invalid", String(!right));
    put(this.verdict, `${right ? "✓" : "✗"} ${say}`);
    if (!right) return;
    const todo = ".mg-blank:not(.mg-right)";
    const left = /** @type {HTMLElement|null} */ (x.r.querySelector(todo));
    if (left) return left.focus();
    if (view.state.step < x.at) view.go(x.at);
    const next = /** @type {HTMLElement|null} */ (this.ledger.pane.querySelector(`tr ${todo}`));
    if (next) next.focus();
    else put(this.verdict, "✓ That is the whole backward pass: every gradient, row by row.");
  }
}
