// Marking some cards: those that a search finds, and those that a node is made of or flows into.

import { h, put } from "./dom.js";
import { matching, reach } from "./model/graph.js";

/** @import { View } from "./view.js" */

/** @typedef {"up"|"down"} Way towards the operands of a node, or towards its users */

export class Find {
  /** Found cards, which of them is looked at, and for each the found node inside it where it is a fold.
   * @type {{nodes: number[], at: number, hits: number[]}} */
  #finds = { nodes: [], at: -1, hits: [] };
  /** @type {Way|""} */ flowing = "";

  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.field = h("input", {
      class: "mg-search mg-find",
      type: "search",
      placeholder: "find /",
      "aria-label": "find a node by name or operation",
      title: "find a node by name or operation (/); Enter goes to the next",
    });
    view.shell.tools.append(view.shell.status, this.field, view.shell.foldBar, view.viewport.bar);
    view.on(this.field, "input", () => this.find());
    view.on(this.field, "keydown", (/** @type {KeyboardEvent} */ e) => {
      if (e.key === "Escape") this.#leave();
      else if (e.key === "Enter" && view.flowing) view.flowing.toFound();
      else if (e.key === "Enter" && this.#finds.nodes.length) this.#next(e.shiftKey ? -1 : 1);
      else return;
      e.preventDefault();
      e.stopPropagation();
    });
  }

  focus() {
    this.field.focus();
  }

  get #text() {
    return this.field.value.trim().toLowerCase();
  }

  #leave() {
    this.field.value = "";
    this.find();
    this.view.shell.root.focus();
  }

  find() {
    const { view } = this;
    if (view.flowing) {
      const count = view.flowing.search(this.#text);
      return put(view.shell.status, this.#text ? `${count} found` : "");
    }
    const here = matching(view.state.trace, this.#text);
    this.#show(here, here.length);
    const folded = view.state.trace.nodes.some((n) => n.kind === "fold");
    if (this.#text && view.answered && folded) view.send({ type: "find", text: this.#text });
  }

  /** What the kernel has found, in folds too. @param {{text: string, nodes: number[], total: number, hits: number[]}} content */
  found({ text, nodes, total, hits }) {
    if (text === this.#text) this.#show(nodes, total, hits);
  }

  /** @param {number[]} nodes @param {number} count @param {number[]} [hits] */
  #show(nodes, count, hits = []) {
    this.#finds = { nodes, at: -1, hits };
    const any = this.field.value !== "";
    put(this.view.shell.status, any ? `${count} found` : "");
    this.view.scene.mark(any ? new Set(nodes) : null, "mg-hit");
  }

  /** Look at the next found card. @param {number} by */
  #next(by) {
    const { view } = this;
    const finds = this.#finds;
    const all = finds.nodes.length;
    finds.at = by > 0 ? (finds.at + 1) % all : (finds.at + all - 1) % all;
    const node = finds.nodes[finds.at];
    put(view.shell.status, `${finds.at + 1} of ${all}`);
    if (view.state.trace.nodes[node].kind === "fold" && view.answered) {
      const inside = finds.hits[finds.at] ?? -1;
      if (inside >= 0) view.send({ type: "open", node: inside });
    } else {
      view.store.set({ selected: node, tab: "node", chosen: true });
      view.panes.show("node");
      view.scene.mark(new Set(finds.nodes), "mg-hit");
    }
    view.viewport.follow(node);
  }

  /** Mark what the selected node is made of or flows into; the second time, no more. @param {Way} way */
  showFlow(way) {
    const { view } = this;
    this.flowing = this.flowing === way ? "" : way;
    if (view.flowing) {
      put(view.shell.status, view.flowing.markFlow(this.flowing));
      return;
    }
    const node = view.state.selected >= 0 ? view.state.selected : view.currentNode;
    this.markFlow(node);
    view.panes.node.pressFlow(this.flowing);
  }

  /** @param {number} node */
  markFlow(node) {
    const some = this.flowing ? reach(this.view.state.trace, node, this.flowing === "up") : null;
    this.view.scene.mark(some, "mg-flow");
  }

  stopFlow() {
    this.flowing = "";
    this.view.scene.mark(null, "");
  }
}
