// What stands around the figure of a program of Tensors: the way back, samples and heads, and everything that it shows as a table.

import { h } from "../dom.js";
import { button } from "../shell.js";
import { indices } from "./data.js";

/** @import { Frame, View } from "../view.js" */

const CHOICES = 12; // samples; of more there are only two buttons

export class FormsPane {
  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.where = h("span", { class: "mg-fm-way" });
    this.choices = h("span", { class: "mg-fm-choices" });
    this.table = h("div", { class: "mg-net-table mg-fm-table", hidden: "" });
    view.shell.path.prepend(this.where, this.choices);
    view.shell.details.append(this.table);
  }

  draw() {
    const { shell, state } = this.view;
    const there = !!state.forms;
    shell.root.classList.toggle("mg-fm", there);
    this.table.hidden = this.where.hidden = this.choices.hidden = !there;
    if (!there) return;
    shell.path.hidden = false;
    this.view.timeline.sweep.hidden = false;
    const open = !!this.table.querySelector("details[open]");
    this.body = h("tbody");
    const heads = ["sheet", "shape", "numbers", "size of its gradient"].map((x) => h("th", { scope: "col" }, x));
    const table = h(
      "table",
      {},
      h("caption", { class: "mg-hidden" }, "the figure as a table"),
      h("thead", {}, h("tr", {}, ...heads)),
      this.body,
    );
    const details = h("details", open ? { open: "" } : {}, h("summary", {}, "the same as a table"), table);
    this.view.on(details, "toggle", () => this.update());
    this.table.replaceChildren(details);
    this.way();
  }

  /** Where one is, each part of it a way back; and which sample and head are looked at. */
  way() {
    const { view } = this;
    const { forms, sample } = view.state;
    if (!forms) return;
    const scene = view.figure;
    const { plan } = forms;
    /** @type {[string, number][]} */
    const way = [[plan.nodes[plan.root].name, 0], ...scene.open.map((o, d) => /** @type {[string, number]} */ ([scene.titleOf(o), d + 1]))];
    if (scene.pin && scene.open.length) way.push([`[${indices(forms.node(scene.pin.node).shape, scene.pin.flat).join(", ")}]`, -1]);
    const parts = way.flatMap(([text, depth], k) => {
      if (k === way.length - 1) return /** @type {(string|HTMLElement)[]} */ ([h("b", { "aria-current": "location" }, text)]);
      const b = h(
        "button",
        { class: "mg-crumb", type: "button", title: `back to ${text} (Escape)`, "aria-label": `back to ${text}` },
        text,
      );
      view.on(b, "click", () => scene.closeTo(depth));
      return [b, " › "];
    });
    const more = button("small", "all operations", "every operation as a card");
    view.on(more, "click", () => view.fold("operations"));
    const about = view.model.get("forms")?.about;
    const sign = about ? [" ", h("span", { class: "mg-fm-about", role: "img", tabindex: 0, title: about, "aria-label": about }, "i")] : [];
    this.where.replaceChildren(
      ...parts,
      ...sign,
      ...(way.length === 1 && view.answered && !view.model.get("standalone") ? [" ", more] : []),
    );
    const samples = this.#choice("sample", plan.samples, sample, (k) => view.showSample(k));
    const heads = this.#choice("head", plan.heads, scene.head, (k) => scene.showHead(k));
    this.choices.replaceChildren(...samples, ...heads);
  }

  /** @param {string} name @param {number} count @param {number} at @param {(k: number) => void} go @returns {(Node|string)[]} */
  #choice(name, count, at, go) {
    if (count < 2) return [];
    const one = (/** @type {number} */ k, /** @type {string} */ text, /** @type {string} */ label) => {
      const b = button("small", text, label);
      this.view.on(b, "click", () => go((k + count) % count));
      return b;
    };
    const buttons =
      count <= CHOICES
        ? Array.from({ length: count }, (_, k) => {
            const b = one(k, String(k + 1), `${name} ${k + 1} of ${count}`);
            b.setAttribute("aria-pressed", String(k === at));
            return b;
          })
        : [one(at - 1, "◂", `${name} before`), h("span", {}, `${at + 1} of ${count}`), one(at + 1, "▸", `next ${name}`)];
    return [h("span", { class: "mg-soft" }, name), ...buttons];
  }

  /** @param {Frame} [_frame] */
  update(_frame) {
    if (!this.view.state.forms || !this.table.querySelector("details[open]")) return;
    this.body?.replaceChildren(...this.view.figure.rows().map((row) => h("tr", {}, ...row.map((cell) => h("td", {}, cell)))));
  }
}
