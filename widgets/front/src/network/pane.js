// What stands around the picture of a network: the way back, the samples, and everything that it shows as a table.

import { drawCurve } from "../curve.js";
import { h, Memo, put, s } from "../dom.js";
import { fmt } from "../model/numbers.js";
import { nearest } from "../model/sweep.js";
import { button } from "../shell.js";
import { REST } from "../store.js";
import { biasesOf, sumOf, termsOf } from "./neuron.js";
import { movedTo, short } from "./numbers.js";
import { progressOf } from "./scene.js";

/** @import { Frame, View } from "../view.js" */
/** @import { Network } from "./numbers.js" */
/** @import { Opened } from "./neuron.js" */

const BARS = 200; // samples; of more only a number is shown
const ROWS = 12; // neurons of a layer in the table

export class NetworkPane {
  /** @type {HTMLButtonElement[]} */ #bars = [];
  /** @type {Network|null} as the kernel has sent it */ #home = null;
  /** Their heights, and that of the sample that is looked at. @type {string[]} */ #sizes = [];
  heights = s("path");
  height = s("path", { class: "mg-here" });
  #pressed = new Memo();
  #drawn = ""; // what the way back is written for
  /** @type {Frame|null} */ #frame = null;
  #offered = false; // are all weights in the list?
  #pause = 0;
  /** @type {{network: Network, reached: boolean}|null} what the curve is drawn for */ #curved = null;

  /** @param {View} view */
  constructor(view) {
    this.view = view;
    const { shell } = view;
    this.where = h("span", { class: "mg-crumbs" });
    this.choice = h("span", { class: "mg-choice" }, "wires show ");
    this.ways = /** @type {["sends"|"grads", string][]} */ ([
      ["sends", "what is passed back"],
      ["grads", "weight.grad"],
    ]).map(([way, text]) => {
      const b = button("small", text, way === "sends" ? "weight × slope × gradient of this sample" : "the sum over all samples");
      view.on(b, "click", () => view.store.set({ wires: way }));
      this.choice.append(b);
      return { way, b };
    });
    shell.path.append(this.where, h("span", { class: "mg-grow" }), this.choice);
    this.before = button("small", "◂", "sample before ([)");
    this.after = button("small", "▸", "next sample (])");
    this.bars = h("span", { class: "mg-samples", role: "group", "aria-label": "loss of each sample" });
    this.which = h("span", { class: "mg-soft" });
    view.on(this.bars, "click", (/** @type {Event} */ e) => {
      const s = this.#bars.indexOf(/** @type {HTMLButtonElement} */ (/** @type {Element} */ (e.target).closest("button")));
      if (s >= 0) view.showSample(s);
    });
    shell.batch.append(h("span", { class: "mg-soft" }, "samples"), this.before, this.bars, this.after, this.which);
    for (const [b, by] of /** @type {[HTMLElement, number][]} */ ([
      [this.before, -1],
      [this.after, 1],
    ])) {
      view.on(b, "click", () => {
        const all = view.state.network?.plan.samples ?? 1;
        view.showSample((view.state.sample + by + all) % all);
      });
    }
    this.table = h("div", { class: "mg-net-table" });
    this.inside = h("table");
    this.slide = h("div", { class: "mg-net-slide" });
    this.range = h("input", { type: "range", min: 0, step: 1, "aria-label": "the chosen weight" });
    this.range.oninput = () => this.#slid(Number(this.range.value));
    this.pick = h("select", { class: "mg-button mg-small mg-net-pick", "aria-label": "the weight on the slider" });
    for (const type of ["pointerdown", "focus", "keydown"]) view.on(this.pick, type, () => this.#offer());
    view.on(this.pick, "change", () => view.send({ type: "slide", parameter: Number(this.pick.value) }));
    this.out = h("code", { class: "mg-curve-slope" });
    this.curve = h("div");
    this.hint = h("span", { class: "mg-soft" }, "Or click a wire or a weight. Your own numbers stay as they are.");
    this.head = h("div", { class: "mg-net-chosen" }, this.pick, this.out);
    this.slide.append(this.curve, h("div", { class: "mg-net-control" }, this.head, this.range, this.hint));
    shell.details.append(this.slide, this.table);
  }

  /** Does a kernel answer? */
  get #live() {
    return this.view.state.alive && !this.view.model.get("standalone");
  }

  draw() {
    const { shell, state } = this.view;
    const { network } = state;
    shell.root.classList.toggle("mg-net", !!network);
    this.where.hidden = !!state.forms;
    shell.path.hidden = !network && !this.#there && !this.view.trail.length;
    this.view.timeline.sweep.hidden = !network;
    shell.batch.hidden = !network || network.plan.samples < 2;
    this.table.hidden = !network;
    this.slide.hidden = !network;
    this.#drawWay(network);
    this.choice.hidden = true; // until a network's backward pass
    if (!network) return;
    this.#drawBars(network);
    this.#drawTable(network);
    this.#home = network;
    this.slide.hidden = !network.moved && !this.#live;
    for (const e of [this.curve, this.out, this.range]) e.hidden = !network.moved;
    this.hint.hidden = !this.#live;
    this.pick.disabled = !this.#live;
    this.#offered = false;
    this.#choose(network.moved ? network.moved.parameter : -1, network);
    if (!network.moved) return;
    const { parameter, xs } = network.moved;
    this.range.max = String(xs.length - 1);
    this.range.value = String(nearest(xs, network.weights[parameter]));
    this.range.setAttribute("aria-label", network.plan.parameters[parameter].name);
    this.#curved = null;
  }

  /** Fill the list on first use; until then it has only the weight that is on the slider. @param {number} k @param {Network} network */
  #choose(k, { plan }) {
    const text = k < 0 ? "choose a weight …" : plan.parameters[k].name;
    this.pick.replaceChildren(h("option", { value: k, selected: "" }, text));
  }

  /** Fill the list with all weights, those of each layer together. */
  #offer() {
    const { network } = this.view.state;
    if (!network || this.#offered) return;
    this.#offered = true;
    const { plan, moved } = network;
    const of = new Map(plan.columns.flatMap((column, c) => column.cells.map((i) => /** @type {[number, number]} */ ([i, c]))));
    const groups = plan.columns.map((column) => h("optgroup", { label: column.name }));
    for (const [k, p] of plan.parameters.entries()) groups[of.get(p.cell) ?? 0].append(h("option", { value: k }, p.name));
    if (moved) this.pick.replaceChildren();
    this.pick.append(...groups.filter((g) => g.firstChild));
    this.pick.value = String(moved ? moved.parameter : -1);
  }

  /** The slider moves: everything that is shown is computed again by the kernel before, and only looked up. @param {number} p */
  #slid(p) {
    const { view } = this;
    const home = this.#home;
    if (!home?.moved) return;
    const back = home.moved.xs[p] === home.weights[home.moved.parameter];
    const network = back ? home : movedTo(home, p);
    view.store.prepare({ network, drag: "dragging" });
    this.#sizeBars(network, true);
    view.update();
    clearTimeout(this.#pause);
    this.#pause = window.setTimeout(() => this.#rest(), REST);
  }

  /** The slider rests: the words follow. */
  #rest() {
    const { view } = this;
    if (!view.state.network || view.gone.signal.aborted) return;
    view.store.prepare({ drag: "idle" });
    view.shell.say.style.minHeight = "";
    this.#sizeBars(view.state.network);
    view.update();
  }

  /** The result over the weight on the slider; its slope is there once the backward pass has reached that weight.
   * @param {Network} network @param {import("./scene.js").Progress} done */
  #drawCurve(network, done) {
    const { plan, moved, weights, weightGrads, loss } = network;
    if (!moved) return;
    const k = moved.parameter;
    const { name, cell } = plan.parameters[k];
    const reached = done.sent(String(plan.columns.findIndex((c) => c.cells.includes(cell))));
    if (this.#curved?.network === network && this.#curved.reached === reached) return;
    this.#curved = { network, reached };
    const size = moved.rows.length / moved.xs.length;
    const ys = Array.from(moved.xs, (_, p) => moved.rows[p * size]);
    const short = name.replace(`${plan.name}.`, "");
    const result = plan.loss ?? plan.columns[plan.columns.length - 1].name;
    const slope = reached ? weightGrads[k] : null;
    const drawn = drawCurve({ name: short, result, xs: moved.xs, ys, x: weights[k], y: loss, slope });
    this.curve.replaceChildren(...(drawn ? [drawn] : []));
    put(this.out, fmt(weights[k]));
    const said = `${name} = ${fmt(weights[k])}, ${result} = ${fmt(loss)}`;
    this.range.setAttribute("aria-valuetext", slope === null ? said : `${said}, slope ${fmt(slope)}`);
  }

  /** Where one is: the column and the neuron that are looked at. */
  get #place() {
    const { columns } = this.view;
    return [columns.focus, columns.open, columns.product].join();
  }

  /** Write the trail to where one is. */
  way() {
    this.#drawn = this.#place;
    this.#drawWay(this.view.state.network);
  }

  /** What there is a picture of, though its operations are shown: "network", "figure" or "". */
  get #there() {
    return ["network", "forms"].find((name) => this.view.model.get(name)?.level)?.replace("forms", "figure") ?? "";
  }

  /** Where one is, each part of it a way back. @param {Network|null} network */
  #drawWay(network) {
    const { view } = this;
    /** @type {[string, (() => void)|null][]} */
    const way = network ? this.#wayThrough(network) : [];
    if (!network) {
      const { trail } = view;
      const there = this.#there;
      if (there) way.push([there, () => view.fold(there)], ["operations", () => view.back(-1)]);
      else way.push(["whole graph", () => view.back(-1)]);
      trail.forEach(([key, name], k) => {
        const around = k ? trail[k - 1][1] : " ";
        const own = name.startsWith(around) && !name.includes(" … ") ? name.slice(around.length).replace(/^\./, "") : name;
        way.push([own, () => view.back(key)]);
      });
    }
    /** @type {(string|HTMLElement)[]} */
    const parts = way.flatMap(([text, run], k) => {
      if (k === way.length - 1) return /** @type {(string|HTMLElement)[]} */ ([h("b", { "aria-current": "location" }, text)]);
      if (!run) return [text, " › "];
      const label = `back to ${["network", "figure"].includes(text) ? `the ${text}` : text}`;
      const b = h("button", { class: "mg-crumb", type: "button", title: `${label} (Escape)`, "aria-label": label }, text);
      view.on(b, "click", run);
      return [b, " › "];
    });
    const more = button("small", "all operations", "every operation as a card");
    view.on(more, "click", () => view.fold("operations"));
    this.where.replaceChildren(...parts, ...(network && way.length === 1 && view.answered ? [" ", more] : []));
  }

  /** @param {Network} network @returns {[string, (() => void)|null][]} */
  #wayThrough({ plan }) {
    const { columns } = this.view;
    /** @type {[string, (() => void)|null][]} */
    const way = [[plan.name || "network", () => columns.home()]];
    const { open, focus, product } = columns;
    const at = open < 0 ? focus : plan.columns.findIndex((c) => c.cells.includes(open));
    if (at < 0) return way;
    way.push([plan.columns[at].name, null]); // what a neuron is in; it opens by its neurons
    const back = product < 0 ? null : () => columns.multiply(-1);
    if (open >= 0 && (back || plan.cells[open].short !== plan.columns[at].name)) way.push([plan.cells[open].short, back]);
    const term = plan.wires.find((l) => l.target === open && l.parameter === product);
    if (back && term) way.push([`${plan.parameters[product].short} × ${plan.cells[term.source].short}`, null]);
    return way;
  }

  /** @param {Network} network */
  #drawBars(network) {
    const { plan } = network;
    this.bars.hidden = plan.error === undefined || plan.samples > BARS;
    this.bars.classList.toggle("mg-many", plan.samples > 12);
    this.#bars = Array.from({ length: this.bars.hidden ? 0 : plan.samples }, () => h("button", { type: "button", tabindex: -1 }));
    const chart = s(
      "svg",
      { viewBox: `0 0 ${plan.samples} 32`, preserveAspectRatio: "none", "aria-hidden": "true" },
      this.heights,
      this.height,
    );
    this.bars.replaceChildren(chart, ...this.#bars);
    this.#sizeBars(network);
  }

  /** How large the loss of each sample is. One path has all bars, so that a drag changes one element; their words follow when the slider
   * rests. @param {Network} network @param {boolean} [dragging] */
  #sizeBars(network, dragging = false) {
    const all = this.#bars.map((_, s) => network.sample(s).error);
    const sizes = all.map((e) => (Number.isFinite(e) ? Math.abs(e) : 0));
    const most = Math.max(...sizes) || 1;
    this.#sizes = sizes.map((x, s) => `M${s + 0.06} 32v-${(4 + (26 * x) / most).toFixed(1)}h.88V32z`);
    this.heights.setAttribute("d", this.#sizes.join(""));
    this.height.setAttribute("d", this.#sizes[this.view.state.sample] ?? "");
    if (dragging) return;
    this.#bars.forEach((b, s) => {
      const label = `sample ${s + 1}, ${network.plan.error} = ${fmt(all[s])}`;
      b.title = label;
      b.setAttribute("aria-label", label);
    });
  }

  /** @param {Network} network */
  #drawTable({ plan }) {
    const heads = ["neuron", "output", "gradient"].map((x) => h("th", { scope: "col" }, x));
    this.rows = plan.columns.flatMap((column, c) => [
      ...column.cells.slice(0, ROWS).map((i) => ({ i, c, row: h("tr", {}, h("td", {}, plan.cells[i].name), h("td"), h("td")) })),
      ...(column.cells.length > ROWS
        ? [{ i: -1, c, row: h("tr", {}, h("td", { class: "mg-soft" }, `… ${column.cells.length - ROWS} more`), h("td"), h("td")) }]
        : []),
    ]);
    const body = h("tbody", {}, ...this.rows.map((r) => r.row));
    const table = h(
      "table",
      {},
      h("caption", { class: "mg-hidden" }, "the network as a table"),
      h("thead", {}, h("tr", {}, ...heads)),
      body,
    );
    const open = /** @type {HTMLDetailsElement|null} */ (this.table.querySelector("details"))?.open;
    const legend = [
      ["pos", "positive weight; thick is large"],
      ["neg", "negative weight: a rail"],
      ["bwd", "what flows back"],
      ["ring", "ring: the gradient of a neuron’s output; thick is large"],
    ].map(([kind, text]) => h("span", { class: `mg-net-key mg-net-key-${kind}` }, text));
    const fold = h("details", open ? { open: "" } : {}, h("summary", {}, "the same as a table"), table);
    fold.append(this.inside);
    this.view.on(fold, "toggle", () => this.update(this.#frame));
    this.table.replaceChildren(h("div", { class: "mg-net-legend mg-soft" }, ...legend), fold);
  }

  /** The open neuron as a table: its products and their sum. @param {Opened|null} o */
  #drawInside(o) {
    this.inside.hidden = !o;
    if (!o) return;
    const { plan } = o.network;
    const text = (/** @type {number|null} */ v) => (v === null ? "?" : fmt(v));
    const name = (/** @type {number} */ parameter) => plan.parameters[parameter].short;
    const { summed, deltaKnown } = sumOf(o);
    const rows = [
      ["input", "its value", "weight", "its value", "product", "gradient of the weight"],
      ...termsOf(o).map((t) => {
        const input = o.before ? fmt(t.input) : "?";
        return [plan.cells[t.source].name, input, name(t.parameter), fmt(t.weight), text(t.product), text(t.grad)];
      }),
      ...biasesOf(o).map((b) => ["", "", name(b.parameter), fmt(b.value), "", text(b.grad)]),
      ["sum", text(summed ? o.sample.sums[o.cell] : null), "", "", "", text(deltaKnown ? o.sample.deltas[o.cell] : null)],
      ["output", text(o.known ? o.sample.values[o.cell] : null), "", "", "", text(o.arrived ? o.sample.grads[o.cell] : null)],
    ];
    const [head, ...body] = rows.map((row, r) => h("tr", {}, ...row.map((cell) => h(r ? "td" : "th", r ? {} : { scope: "col" }, cell))));
    this.inside.replaceChildren(
      h("caption", {}, `${plan.cells[o.cell].name} in sample ${this.view.state.sample + 1}`),
      h("thead", {}, head),
      h("tbody", {}, ...body),
    );
  }

  /** @param {Frame|null} frame */
  update(frame) {
    const { network, sample, wires } = this.view.state;
    if (!network || !frame) return;
    this.#frame = frame;
    if (this.#drawn !== this.#place) this.way();
    const { plan } = network;
    this.choice.hidden = false;
    this.choice.classList.toggle("mg-later", !frame.back); // its room stays, so that the buttons below do not move
    for (const { way, b } of this.ways) b.setAttribute("aria-pressed", String(way === wires));
    const one = network.sample(sample);
    const inputs = plan.columns[0].cells.slice(0, 4).map((i) => short(one.values[i]));
    const more = plan.columns[0].cells.length > 4 ? ", …" : "";
    put(this.which, `sample ${sample + 1} of ${plan.samples}: (${inputs.join(", ")}${more})`);
    if (!this.#pressed.same(this.#bars, sample))
      this.#bars.forEach((b, s) => {
        b.setAttribute("aria-pressed", String(s === sample));
        b.tabIndex = s === sample ? 0 : -1;
        if (s === sample) this.height.setAttribute("d", this.#sizes[s]);
      });
    const done = progressOf(network, frame);
    this.#drawCurve(network, done);
    if (!this.table.querySelector("details[open]")) return; // the tables are closed
    this.#drawInside(this.view.columns.opened(done, frame));
    for (const { i, c, row } of this.rows ?? []) {
      if (i < 0) continue;
      put(row.children[1], done.known(String(c)) ? fmt(one.values[i]) : "?");
      const grad = one.grads[i];
      put(row.children[2], Number.isNaN(grad) ? "none" : done.arrived(String(c)) ? fmt(grad) : "?");
    }
  }
}
