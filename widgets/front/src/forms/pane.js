// What stands around the figure of a program of Tensors: the way back, samples and heads, and everything that it shows as a table.

import { drawCurve } from "../curve.js";
import { h, put } from "../dom.js";
import { fmt } from "../model/numbers.js";
import { nearest } from "../model/sweep.js";
import { button } from "../shell.js";
import { REST } from "../store.js";
import { indices } from "./data.js";

/** @import { Frame, View } from "../view.js" */
/** @import { Forms } from "./data.js" */

const CHOICES = 12; // samples; of more there are only two buttons

/** Which number it is: an index into the operation that is open, or else with the name of its own tensor.
 * @param {Forms} forms @param {{node: number, flat: number}} pin @param {number} [opened] */
function numbered(forms, { node, flat }, opened) {
  const own = forms.base(node) === opened;
  const n = own ? forms.base(node) : node;
  return `${own ? "" : forms.node(n).name}[${indices(forms.node(n).shape, own ? forms.place(node, flat) : flat).join(", ")}]`;
}

export class FormsPane {
  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.where = h("span", { class: "mg-fm-way" });
    this.choices = h("span", { class: "mg-fm-choices" });
    this.table = h("div", { class: "mg-net-table mg-fm-table", hidden: "" });
    view.shell.path.prepend(this.where, this.choices);
    this.range = h("input", { type: "range", min: 0, step: 1, "aria-label": "the chosen number" });
    this.range.oninput = () => this.#slid(Number(this.range.value));
    this.curve = h("div");
    this.chosen = h("code");
    this.offer = h("span");
    this.slide = h("div", { class: "mg-net-slide mg-fm-slide" }, this.curve);
    this.slide.append(h("div", { class: "mg-net-control" }, h("div", { class: "mg-net-chosen" }, this.chosen), this.range, this.offer));
    view.shell.details.append(this.slide, this.table);
  }

  /** As the kernel has sent it. @type {Forms|null} */ #home = null;
  #pause = 0;
  /** What the curve is drawn for. @type {{forms: Forms, slope: number|null}|null} */ #curved = null;

  /** One number on the slider: all others are there for each of its points. @param {number} p */
  #slid(p) {
    const { view } = this;
    const { moved } = this.#home ?? {};
    if (!this.#home || !moved) return;
    const forms = moved.xs[p] === this.#home.flat[moved.number] ? this.#home : this.#home.movedTo(p);
    view.store.prepare({ forms, drag: "dragging" });
    view.update();
    clearTimeout(this.#pause);
    this.#pause = window.setTimeout(() => {
      if (view.gone.signal.aborted) return;
      view.store.prepare({ drag: "idle" });
      view.update();
    }, REST);
  }

  /** The result over the number on the slider, with its slope once the gradient is complete. @param {number} step */
  #drawCurve(step) {
    const { forms } = this.view.state;
    if (!forms?.moved) return;
    const { plan, moved, flat } = forms;
    const [node, at] = forms.owner(moved.number);
    const { name, shape } = forms.node(node);
    const side = forms.side(node, step);
    const slope = side.kind === "gradient" && side.done === side.of ? (side.numbers?.[at] ?? null) : null;
    if (this.#curved?.forms === forms && this.#curved.slope === slope) return;
    this.#curved = { forms, slope };
    const root = plan.starts[plan.nodes[plan.root].array];
    const ys = Array.from(moved.xs, (_, p) => moved.rows[p * flat.length + root]);
    const ix = shape.length ? `[${indices(shape, at).join(", ")}]` : "";
    const result = plan.nodes[plan.root].name;
    const [x, y] = [flat[moved.number], flat[root]];
    const drawn = drawCurve({ name: name + ix, result, xs: moved.xs, ys, x, y, slope, grad: `${name.split(".").pop()}.grad${ix}` });
    this.curve.replaceChildren(...(drawn ? [drawn] : []));
    put(this.chosen, `${name}${ix} = ${fmt(x)}`);
    this.range.setAttribute("aria-label", name + ix);
    this.range.setAttribute("aria-valuetext", `${name}${ix} = ${fmt(x)}, ${result} = ${fmt(y)}`);
  }

  /** The number that stays lit can go on the slider, if it is a leaf's and a kernel answers. */
  #offerSlider() {
    const { view } = this;
    const { forms } = view.state;
    const { pin } = view.figure;
    const base = pin && forms ? forms.base(pin.node) : -1;
    const free = forms && base >= 0 && ["parameter", "input"].includes(forms.node(base).kind) && !forms.node(base).whole;
    if (!free || !pin || !view.answered || view.model.get("standalone")) return this.offer.replaceChildren();
    const number = forms.plan.starts[forms.node(base).array] + forms.place(pin.node, pin.flat);
    const b = button("small", "slide the number that you clicked", "put it on the slider");
    view.on(b, "click", () => view.send({ type: "slide", parameter: number }));
    this.offer.replaceChildren(b);
  }

  draw() {
    const { shell, state } = this.view;
    const there = !!state.forms;
    shell.root.classList.toggle("mg-fm", there);
    this.table.hidden = this.where.hidden = this.choices.hidden = !there;
    const forms = (this.#home = state.forms);
    this.slide.hidden = !forms?.moved;
    this.#curved = null;
    if (!forms) return;
    if (forms.moved) {
      this.range.max = String(forms.moved.xs.length - 1);
      this.range.value = String(nearest(forms.moved.xs, forms.flat[forms.moved.number]));
    }
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
    if (scene.pin && scene.open.length) way.push([numbered(forms, scene.pin, scene.open.at(-1)?.node), -1]);
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
    this.#offerSlider();
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

  /** @param {Frame} [frame] */
  update(frame) {
    this.#drawCurve(frame?.step ?? this.view.state.step);
    if (!this.view.state.forms || !this.table.querySelector("details[open]")) return;
    this.body?.replaceChildren(...this.view.figure.rows().map((row) => h("tr", {}, ...row.map((cell) => h("td", {}, cell)))));
  }
}
