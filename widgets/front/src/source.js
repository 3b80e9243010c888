// The lines of code that made the graph, below the tables: from a node to its line, and from a line to its nodes.

import { h } from "./dom.js";
import { caretLine, columns, marker } from "./editor.js";
import { plural } from "./model/numbers.js";
import { reveal } from "./panes/table.js";

/** @import { Source } from "./types" */
/** @import { View } from "./view.js" */

/** @param {{cell: string, line: number}} at */
const keyOf = ({ cell, line }) => `${cell}:${String(line).padStart(6, "0")}`;

export class SourceLines {
  /** @type {Map<string, {source: Source, nodes: number[], line: HTMLElement}>} */ #lines = new Map();
  #marked = ""; // the line whose nodes are marked

  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.box = view.shell.source;
    this.pen = marker(view.shell.root); // what made a node is marked in its cell, too
  }

  draw() {
    this.#lines = new Map();
    this.#marked = "";
    for (const { id, source } of this.view.state.trace.nodes) {
      if (!source) continue;
      const known = this.#lines.get(keyOf(source));
      if (known) known.nodes.push(id);
      else this.#lines.set(keyOf(source), { source, nodes: [id], line: h("div", { class: "mg-code", role: "button", tabindex: 0 }) });
    }
    const cells = [...new Set([...this.#lines.values()].map((l) => l.source.cell))];
    const place = (/** @type {{source: Source}} */ { source }) => cells.indexOf(source.cell) * 1e6 + source.line;
    const all = [...this.#lines].sort(([, a], [, b]) => place(a) - place(b)); // as they are written
    const cell = all[0]?.[1].source.cell;
    const one = all.every(([, l]) => l.source.cell === cell);
    for (const [key, { source, nodes, line }] of all) {
      line.setAttribute("aria-pressed", "false");
      line.title = `${source.cell}, line ${source.line}: mark what it made, ${plural(nodes.length, "card")}`;
      line.append(...(one ? [] : [h("span", { class: "mg-cell" }, `${source.cell} `)]), h("code", {}, source.text));
      this.view.on(line, "click", () => {
        this.markLine(this.#marked === key ? "" : key, true);
        this.pen.show(this.#marked ? { ...source, span: undefined } : null);
      });
    }
    this.box.replaceChildren(...(all.length && one ? [h("div", { class: "mg-cell" }, cell)] : []), ...all.map(([, l]) => l.line));
    this.box.hidden = !all.length;
  }

  /** From a line to its nodes. @param {string} key @param {boolean} [look] bring the first of them into the stage */
  markLine(key, look = false) {
    if (key === this.#marked) return;
    const { scene, viewport } = this.view;
    this.#marked = key;
    const nodes = this.#lines.get(key)?.nodes ?? [];
    scene.hit(nodes);
    for (const [k, { line }] of this.#lines) line.setAttribute("aria-pressed", String(k === key));
    const seen = nodes.some((id) => viewport.near(scene.card(id)?.box ?? [], -40));
    if (look && nodes.length && !seen) viewport.follow(nodes[0]);
  }

  /** Mark the nodes of the line that the caret is in. */
  onCaret() {
    const { root } = this.view.shell;
    if (root.contains(document.activeElement) || !this.#lines.size) return;
    const [cell, line, text] = caretLine(root) ?? ["", 0, ""];
    const key = keyOf({ cell, line });
    this.markLine(this.#lines.get(key)?.source.text === text ? key : "");
  }

  /** From a node to its line, here and in the notebook's cell. @param {number} node or -1 */
  mark(node) {
    const from = this.view.state.trace.nodes[node]?.source;
    for (const { source, nodes, line } of this.#lines.values()) {
      const here = node >= 0 && nodes.includes(node);
      line.classList.toggle("mg-now", here);
      const code = /** @type {Element} */ (line.lastChild);
      const { text } = source;
      if (here && from?.span && from.text === text) {
        const [first, last] = columns(from);
        code.replaceChildren(text.slice(0, first), h("mark", {}, text.slice(first, last)), text.slice(last));
      } else if (code.firstElementChild) code.textContent = text;
    }
    this.pen.show(from);
  }

  reveal() {
    reveal(this.box, ".mg-now");
  }

  /** This view is being used: the mark in the cell is its own now. */
  take() {
    this.pen.take();
  }

  drop() {
    this.pen.drop();
  }
}
