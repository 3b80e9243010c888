// The panel beside or below the picture: three tabs, of which one is seen.

import { h } from "../dom.js";
import { LedgerPane } from "./ledger.js";
import { NodePane } from "./node.js";
import { reveal } from "./table.js";
import { ValuesPane } from "./values.js";

/** @import { Frame, View } from "../view.js" */
/** @import { Tab } from "../store.js" */

/** @type {Tab[]} */
const TABS = ["ledger", "values", "node"];
const LABELS = { ledger: "Ledger", values: "Values", node: "Node" };

/** An empty pane. */
const pane = () => h("div", { class: "mg-pane", role: "tabpanel", tabindex: -1 });

export class Panes {
  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.ledger = new LedgerPane(view, pane());
    this.values = new ValuesPane(view, pane());
    this.node = new NodePane(view, pane());
    this.tabs = TABS.map((name) => {
      const t = h("button", { class: "mg-tab", type: "button", role: "tab", "data-tab": name }, LABELS[name]);
      view.on(t, "click", () => this.choose(name));
      return t;
    });
    const bar = h("div", { class: "mg-tabs", role: "tablist", "aria-label": "details" }, ...this.tabs);
    view.shell.details.append(bar, ...TABS.map((name) => this[name].pane));
    for (const name of TABS) view.on(this[name].pane, "scroll", () => view.offscreen.moved(), { passive: true });
  }

  get current() {
    return this[this.view.state.tab];
  }

  /** Open a tab. @param {Tab} name */
  choose(name) {
    this.view.store.set({ tab: name, chosen: true });
    this.show(name);
  }

  /** The tab to the right (1) or to the left (-1), for the keyboard. @param {number} by */
  next(by) {
    this.choose(TABS[(TABS.indexOf(this.view.state.tab) + by + TABS.length) % TABS.length]);
    this.tabs[TABS.indexOf(this.view.state.tab)].focus();
  }

  /** @param {Tab} shown */
  show(shown) {
    TABS.forEach((name, k) => {
      this.tabs[k].setAttribute("aria-selected", String(name === shown));
      this.tabs[k].tabIndex = name === shown ? 0 : -1;
      this[name].pane.hidden = name !== shown;
    });
  }

  draw() {
    this.ledger.draw();
    this.values.draw();
  }

  /** @param {Frame} frame */
  update(frame) {
    const { chosen, tab } = this.view.state;
    const best = frame.back || frame.step === frame.forward ? "ledger" : "values";
    if (!chosen && tab !== best) {
      this.view.store.set({ tab: best });
      this.show(best);
    }
    this.current.update(frame);
  }

  /** Scroll to the row of the event. */
  reveal() {
    reveal(this.current.pane, "tr.mg-now");
  }

  /** A drag begins: where rows stand is looked up now, and not in its frames. */
  forget() {
    for (const name of TABS) this[name].window?.forget();
  }

  moved() {
    for (const name of TABS) this[name].window?.scrolled();
  }
}
