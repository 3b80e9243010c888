// The frame of the view: its head, the containers of all parts, and the controls outside of them.

import { h, put, s } from "./dom.js";
import { census } from "./model/graph.js";
import { plural } from "./model/numbers.js";

/** @import { Frame, View } from "./view.js" */

/** @type {Record<string, string>} */
const ICONS = { start: "M1 1h2v10H1zM11 1v10L4 6z", end: "M9 1h2v10H9zM1 1v10l7-5z" };

/** @param {string} name @param {string} text @param {string} label @returns {HTMLButtonElement} */
export function button(name, text, label) {
  const icon = ICONS[text];
  const face = icon ? s("svg", { viewBox: "0 0 12 12", width: 12, height: 12, "aria-hidden": "true" }, s("path", { d: icon })) : text;
  return h("button", { class: `mg-button mg-${name}`, type: "button", title: label, "aria-label": label }, face);
}

/** A part of the view with a role and a name. @param {string} name @param {string} role @param {string} label */
const group = (name, role, label) => h("div", { class: `mg-${name}`, role, "aria-label": label });

export class Shell {
  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.title = h("code", { class: "mg-title" });
    this.phase = h("span", { class: "mg-phase" });
    this.counts = h("span", { class: "mg-soft mg-counts" });
    this.badge = h("span", { class: "mg-badge", hidden: "" }, "replay only");
    /** What a search has found, or what became of a file. */
    this.status = h("span", { class: "mg-soft", role: "status" });
    this.tools = h("div", { class: "mg-tools" });
    /** Where one is in a network, and what its wires show. */
    this.path = h("div", { class: "mg-path", hidden: "" });
    this.stage = h("div", { class: "mg-stage" });
    /** The samples of a network. */
    this.batch = group("batch", "group", "samples");
    this.say = h("div", { class: "mg-say", "aria-live": "polite", "aria-atomic": "true" });
    this.note = h("div", { class: "mg-notice", role: "status", hidden: "" });
    this.bar = group("bar", "group", "time");
    this.inputs = group("inputs", "group", "inputs");
    this.details = h("div", { class: "mg-details" });
    this.source = group("source", "group", "source lines");
    this.foldBar = h("span", { class: "mg-zoom", hidden: "" });
    for (const [text, label, what] of [
      ["fold", "close all folds", "all"],
      ["open", "open all folds, as far as they can be drawn", "none"],
    ]) {
      const b = button("small", text, label);
      view.on(b, "click", () => view.fold(what));
      this.foldBar.append(b);
    }
    this.root = h(
      "div",
      { class: "mg-root mg-instrument", role: "group", tabindex: 0 },
      h("div", { class: "mg-head" }, h("div", { class: "mg-heading" }, this.title, this.phase), this.badge, this.counts, this.tools),
      h("div", { class: "mg-upper" }, this.path, this.stage, this.note, h("div", { class: "mg-player" }, this.say, this.bar)),
      this.batch,
      this.inputs,
      h("div", { class: "mg-side" }, this.details, this.source),
    );
    if (view.model.get("brief") === true) this.#brief();
  }

  /** Only what a first look needs, and a button for the rest. */
  #brief() {
    const more = button("small", "show more", "show search, zoom, files, the ledger and the program");
    const row = h("div", { class: "mg-more" }, more);
    this.root.classList.add("mg-brief");
    this.root.append(row);
    this.view.on(more, "click", () => {
      this.root.classList.remove("mg-brief");
      row.remove();
      this.root.focus();
    });
  }

  /** The head of a new trace. */
  draw() {
    const { trace } = this.view.state;
    const result = trace.nodes[trace.root];
    const named =
      !this.view.state.forms && trace.title === result.label && result.kind !== "fold" && result.expr && result.expr !== result.label;
    const title = named ? `${result.label} = ${result.expr}` : trace.title;
    put(this.title, title);
    this.title.title = title;
    const { nodes, cards, folds, inputs, constants, operations } = census(trace);
    const kinds = [plural(inputs, "input"), ...(constants ? [plural(constants, "constant")] : []), plural(operations, "operation")];
    const { network, forms } = this.view.state;
    const samples = network && network.plan.samples > 1 ? `, ${plural(network.plan.samples, "sample")}` : "";
    if (network) put(this.counts, `${network.plan.nodes.toLocaleString("en")} nodes${samples}`);
    else if (forms) put(this.counts, plural(forms.plan.nodes.length, "node"));
    else put(this.counts, folds ? `${plural(nodes, "node")} on ${plural(cards, "card")}` : kinds.join(", "));
    this.root.setAttribute("aria-label", `computation graph of ${trace.title}`);
    this.foldBar.hidden = !this.view.model.get("can_fold");
  }

  /** @param {Frame} frame */
  update({ step, back }) {
    this.root.dataset.step = String(step);
    this.root.dataset.phase = back ? "backward" : "forward";
    const { at, total, forward } = this.view.counted(step);
    const words = back ? `◂ backward, step ${at - forward} of ${total - forward}` : `forward ▸ step ${at} of ${forward}`;
    put(this.phase, step === 0 ? "not started" : words);
  }
}
