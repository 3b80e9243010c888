// What stands around the picture of a network: the way back, the samples, and everything that it shows as a table.

import { drawCurve } from "../curve.js";
import { h, put } from "../dom.js";
import { fmt } from "../model/numbers.js";
import { nearest } from "../model/sweep.js";
import { button } from "../shell.js";
import { movedTo } from "./numbers.js";
import { progressOf, short } from "./scene.js";

/** @import { Frame, View } from "../view.js" */
/** @import { Network } from "./numbers.js" */

const BARS = 200; // samples; of more only a number is shown
const ROWS = 12; // neurons of a layer in the table

export class NetworkPane {
  /** @type {HTMLButtonElement[]} */ #bars = [];
  /** @type {Network|null} as the kernel has sent it */ #home = null;
  #drawn = -1; // the open neuron that the way back is written for

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
    this.slide = h("div", { class: "mg-net-slide" });
    this.range = h("input", { type: "range", min: 0, step: 1, "aria-label": "the chosen weight" });
    this.range.oninput = () => this.#slid(Number(this.range.value));
    this.name = h("code");
    this.out = h("code", { class: "mg-curve-slope" });
    this.curve = h("div");
    this.hint = h("span", { class: "mg-soft" }, "Click a wire or a weight to put it on the slider. Your own numbers stay as they are.");
    const head = h("div", { class: "mg-net-chosen" }, this.name, this.out);
    this.slide.append(this.curve, h("div", { class: "mg-net-control" }, head, this.range, this.hint));
    shell.details.append(this.slide, this.table);
  }

  /** Does a kernel answer? */
  get #live() {
    return this.view.state.alive && !this.view.model.get("standalone");
  }

  draw() {
    const { shell, state, model } = this.view;
    const { network } = state;
    const there = !!model.get("network")?.level;
    shell.root.classList.toggle("mg-net", !!network);
    shell.path.hidden = !network && !there;
    this.view.timeline.sweep.hidden = !network;
    shell.batch.hidden = !network || network.plan.samples < 2;
    this.table.hidden = !network;
    this.slide.hidden = !network;
    this.#drawWay(network);
    if (!network) return;
    this.#drawBars(network);
    this.#drawTable(network);
    this.#home = network;
    this.slide.hidden = !network.moved;
    if (!network.moved) return;
    const { parameter, xs } = network.moved;
    const { name } = network.plan.parameters[parameter];
    this.range.max = String(xs.length - 1);
    this.range.value = String(nearest(xs, network.weights[parameter]));
    this.range.setAttribute("aria-label", name);
    put(this.name, name);
    this.hint.hidden = !this.#live;
    this.#drawCurve(network);
  }

  /** The slider moves: everything that is shown is computed again by the kernel before, and only looked up. @param {number} p */
  #slid(p) {
    const { view } = this;
    const home = this.#home;
    if (!home?.moved) return;
    const back = home.moved.xs[p] === home.weights[home.moved.parameter];
    view.state.network = back ? home : movedTo(home, p);
    this.#drawBars(view.state.network);
    this.#drawCurve(view.state.network);
    view.update();
  }

  /** @param {Network} network */
  #drawCurve({ plan, moved, weights, weightGrads, loss }) {
    if (!moved) return;
    const size = moved.rows.length / moved.xs.length;
    const ys = Array.from(moved.xs, (_, p) => moved.rows[p * size]);
    const k = moved.parameter;
    const { name } = plan.parameters[k];
    const short = name.replace(`${plan.name}.`, "");
    const result = plan.loss ?? plan.columns[plan.columns.length - 1].name;
    const drawn = drawCurve({ name: short, result, xs: moved.xs, ys, x: weights[k], y: loss, slope: weightGrads[k] });
    this.curve.replaceChildren(...(drawn ? [drawn] : []));
    put(this.out, fmt(weights[k]));
    this.range.setAttribute("aria-valuetext", `${name} = ${fmt(weights[k])}, ${result} = ${fmt(loss)}, slope ${fmt(weightGrads[k])}`);
  }

  /** @param {Network|null} network */
  #drawWay(network) {
    const to = button("small", network ? "all operations" : "the network", network ? "every operation as a card" : "back to the network");
    this.view.on(to, "click", () => this.view.fold(network ? "operations" : "network"));
    const name = network ? network.plan.name || "network" : "operations";
    const { open } = this.view.columns;
    if (!network || open < 0) return this.where.replaceChildren(h("b", {}, name), ...(this.view.answered ? [" ", to] : []));
    const back = h("button", { class: "mg-crumb", type: "button", title: "close the neuron (Escape)" }, name);
    this.view.on(back, "click", () => this.view.columns.look(-1));
    const column = network.plan.columns.find((c) => c.cells.includes(open))?.name ?? "";
    const cell = network.plan.cells[open];
    this.where.replaceChildren(back, " › ", column, ...(cell.short === column ? [] : [" › ", h("b", {}, cell.short)]));
  }

  /** @param {Network} network */
  #drawBars(network) {
    const { plan } = network;
    const all = Array.from({ length: plan.samples }, (_, s) => network.sample(s).error);
    const sizes = all.map((e) => (Number.isFinite(e) ? Math.abs(e) : 0));
    const most = Math.max(...sizes) || 1;
    this.bars.hidden = plan.error === undefined || plan.samples > BARS;
    this.bars.classList.toggle("mg-many", plan.samples > 12);
    this.#bars = this.bars.hidden
      ? []
      : all.map((e, s) => {
          const label = `sample ${s + 1}, ${plan.error} = ${fmt(e)}`;
          const b = h("button", { type: "button", tabindex: -1, "aria-label": label, title: label });
          b.style.height = `${4 + (26 * sizes[s]) / most}px`;
          this.view.on(b, "click", () => this.view.showSample(s));
          return b;
        });
    this.bars.replaceChildren(...this.#bars);
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
    ].map(([kind, text]) => h("span", { class: `mg-net-key mg-net-key-${kind}` }, text));
    const fold = h("details", open ? { open: "" } : {}, h("summary", {}, "the same as a table"), table);
    this.table.replaceChildren(h("div", { class: "mg-net-legend mg-soft" }, ...legend), fold);
  }

  /** @param {Frame|null} frame */
  update(frame) {
    const { network, sample, wires } = this.view.state;
    if (!network || !frame) return;
    if (this.#drawn !== this.view.columns.open) {
      this.#drawn = this.view.columns.open;
      this.#drawWay(network);
    }
    const { plan } = network;
    this.choice.hidden = !frame.back;
    for (const { way, b } of this.ways) b.setAttribute("aria-pressed", String(way === wires));
    const one = network.sample(sample);
    const inputs = plan.columns[0].cells.slice(0, 4).map((i) => short(one.values[i]));
    const more = plan.columns[0].cells.length > 4 ? ", …" : "";
    put(this.which, `sample ${sample + 1} of ${plan.samples}: (${inputs.join(", ")}${more})`);
    this.#bars.forEach((b, s) => {
      b.setAttribute("aria-pressed", String(s === sample));
      b.tabIndex = s === sample ? 0 : -1;
    });
    const done = progressOf(network, frame);
    for (const { i, c, row } of this.rows ?? []) {
      if (i < 0) continue;
      put(row.children[1], done.known(String(c)) ? fmt(one.values[i]) : "?");
      const grad = one.grads[i];
      put(row.children[2], Number.isNaN(grad) ? "none" : done.arrived(String(c)) ? fmt(grad) : "?");
    }
  }
}
