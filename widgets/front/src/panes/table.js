// Tables of events and nodes: everything that the picture shows, as text. Long ones are made of parts that the browser lays out apart.

import { h } from "../dom.js";
import { tail } from "../model/numbers.js";

/** @import { View } from "../view.js" */

export const LONG = 80; // rows; in a longer table each row is laid out for itself, or a changed number would move thousands of cells
const PART = 40; // rows that the browser leaves alone together while they are out of sight
const ROW = 29; // pixels; the height of a row of a long table

/** @param {string[]} heads @param {HTMLTableRowElement[]} rows @param {string} caption */
export function table(heads, rows, caption) {
  const titles = heads.map((x) => h("th", { scope: "col" }, x));
  const whole = h("table", {}, h("caption", { class: "mg-hidden" }, caption), h("thead", {}, h("tr", {}, ...titles)));
  const part = rows.length <= LONG ? rows.length || 1 : PART;
  for (let i = 0; i < rows.length; i += part) {
    const some = rows.slice(i, i + part);
    whole.append(h("tbody", { style: `--rows:${some.length}` }, ...some));
  }
  // Where the style sheet displays its parts as blocks (long, or on a narrow page), they need ARIA roles.
  whole.className = `mg-columns-${heads.length}${rows.length > LONG ? " mg-long" : ""}`;
  whole.setAttribute("role", "table");
  const roles = { "thead, tbody": "rowgroup", tr: "row", th: "columnheader", td: "cell" };
  for (const [name, role] of Object.entries(roles)) for (const e of whole.querySelectorAll(name)) e.setAttribute("role", role);
  return whole;
}

/** A row for an event. @param {View} view @param {number} at @param {number} cells @param {string} words */
export function eventRow(view, at, cells, words) {
  const r = h("tr", { "data-step": at, tabindex: 0, title: `go to event ${at}` });
  for (let i = 0; i < cells; i++) r.append(h("td"));
  r.children[0].append(h("span", { title: words }, tail(words, 36)));
  r.onclick = () => view.jump(at);
  return r;
}

/** @param {HTMLTableRowElement} r @param {boolean} done @param {boolean} here */
export function setRow(r, done, here) {
  r.className = here ? "mg-now" : done ? "" : "mg-todo";
  if (here) r.setAttribute("aria-current", "step");
  else r.removeAttribute("aria-current");
}

/** @param {HTMLElement} pane @param {HTMLElement} r */
const topOf = (pane, r) => r.getBoundingClientRect().top - pane.getBoundingClientRect().top + pane.scrollTop;

/** Scroll to the current row. @param {HTMLElement} pane @param {string} what */
export function reveal(pane, what) {
  const here = /** @type {HTMLElement|null} */ (pane.querySelector(what));
  if (here && pane.scrollHeight > pane.clientHeight) pane.scrollTop = topOf(pane, here) - pane.clientHeight / 2;
}

/** Which rows a pane shows. Rows do not move in a drag, so their places are looked up once, before it. */
export class RowWindow {
  /** @type {number[]|null} */ #tops = null;
  /** @type {[number, number]|null} */ #seen = null;

  /** @param {HTMLElement} pane @param {() => HTMLTableRowElement[]} rows */
  constructor(pane, rows) {
    this.pane = pane;
    this.rows = rows;
  }

  /** The rows may have moved. */
  forget() {
    this.#tops = null;
    this.#seen = null;
  }

  /** The pane shows other rows. */
  scrolled() {
    this.#seen = null;
  }

  /** Does the pane show this row, or nearly? @param {number} index */
  near(index) {
    const { pane } = this;
    this.#seen ??= [pane.scrollTop, pane.scrollTop + pane.clientHeight];
    this.#tops ??= this.#measure();
    const top = this.#tops[index];
    return top > this.#seen[0] - 120 && top < this.#seen[1] + 80;
  }

  #measure() {
    const rows = this.rows();
    if (rows.length <= LONG) return rows.map((r) => topOf(this.pane, r));
    const first = topOf(this.pane, rows[0]);
    return rows.map((_, i) => first + ROW * i);
  }
}
