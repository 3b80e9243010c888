// The figure of a program of Tensors, and what opens below it: a part, an operation, one number as a sum of products.
// The kernel says where everything stands, for stages of many widths; a step changes what the sheets show, and nothing else.

import { h, put, s } from "../dom.js";
import { fmt } from "../model/numbers.js";
import { Canvas, heat } from "./canvas.js";
import { fitting, flatOf, nameOf, nodeOf, norm, shownOf } from "./data.js";
import { explain, gives } from "./explain.js";
import { listFigure, operationFigure } from "./operation.js";

/** @import { Frame, View } from "../view.js" */
/** @import { Forms } from "./data.js" */
/** @import { Scene } from "./canvas.js" */
/** @import { Explained, Term } from "./explain.js" */

const TERMS = 18; // of a longer sum only so many are written
const HINT = "Point at a number to see what makes it; click opens it.";

/** What is open: a part of the figure, or one operation. @typedef {{part?: string, node?: number}} Opening */
/** A number that is pointed at. @typedef {{node: number, flat: number}} Spot */

/** What the colours of the sheets say. @param {import("../types").FormPlan} plan */
function colours(plan) {
  const one = (/** @type {string} */ kind, /** @type {string} */ text) => {
    const cell = s(
      "svg",
      { width: 10, height: 10, "aria-hidden": "true" },
      s("rect", { width: 10, height: 10, rx: 2, class: `mg-fm-${kind}` }),
    );
    return h("span", {}, cell, ` ${text}`);
  };
  const signs = [one("pos", "positive"), one("neg", "negative"), one("gpos", "positive gradient"), one("gneg", "negative gradient")];
  if (plan.nodes.some((node) => node.log !== undefined)) signs.push(one("prob", "probability, up to 1"));
  const states = plan.kind === "recurrence" ? "; of a state, of all its steps" : "";
  return [...signs, h("span", {}, `the stronger, the nearer to the largest number of its sheet${states}`)];
}

export class FormsScene {
  /** @type {never[]} */ cards = [];
  /** @type {never[]} */ wires = [];
  marked = null;
  reopened = -1;
  difference = "";
  /** @type {Opening[]} outer ones first */ open = [];
  /** The number that stays. @type {Spot|null} */ pin = null;
  /** @type {Spot|null} */ #hover = null;
  /** A term of the sum that is looked at. @type {Term|null} */ #term = null;
  /** @type {Canvas[]} the figure, then what is open */ #canvases = [];
  #wide = 0;
  head = 0;
  /** @type {Frame|null} */ #frame = null;
  /** Which of the sheets takes the Tab key. */ #stop = 0;
  #stops = { key: "", all: [0] };

  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.svg = s("svg");
    this.figure = h("div", { class: "mg-fm-figure" });
    this.legend = h("div", { class: "mg-fm-key" });
    this.read = h("div", { class: "mg-fm-read" });
    this.drawers = h("div", { class: "mg-fm-drawers" });
    this.root = h("div", { class: "mg-fm-box" }, this.figure, this.legend, this.read, this.drawers);
    view.on(this.root, "pointermove", (/** @type {PointerEvent} */ e) => this.#point(e));
    view.on(this.root, "pointerleave", () => this.#hovered(null));
    view.on(this.root, "click", (/** @type {PointerEvent} */ e) => this.#click(e));
    view.on(this.root, "focusin", (/** @type {FocusEvent} */ e) => this.#focused(/** @type {Element} */ (e.target)));
  }

  /** @returns {Forms} */
  get forms() {
    return /** @type {Forms} */ (this.view.state.forms);
  }

  get step() {
    return this.#frame?.step ?? this.view.state.step;
  }

  /** The parts that are open. */
  get #parts() {
    return new Set(this.open.flatMap(({ part }) => (part ? [part] : [])));
  }

  /** The steps at which one can stop. */
  get stops() {
    const key = `${this.forms.plan.root}:${this.forms.K}:${[...this.#parts].join()}`;
    if (key !== this.#stops.key) this.#stops = { key, all: this.forms.stops(this.#parts) };
    return this.#stops.all;
  }

  draw() {
    const { plan } = this.forms;
    this.view.shell.stage.replaceChildren(this.root);
    this.legend.replaceChildren(...colours(plan));
    this.view.offscreen.reset([]);
    this.open = this.open.filter(({ part, node }) => (part ? part in plan.parts || part in plan.lists : (node ?? 0) < plan.nodes.length));
    this.pin = null;
    this.head = Math.min(this.head, plan.heads - 1);
    this.#wide = 0;
    this.#stops.key = "";
    put(this.read, HINT);
  }

  /** Lay it out for this width. @param {number} wide */
  flow(wide) {
    const style = getComputedStyle(this.root);
    const room = Math.floor(wide - Number.parseFloat(style.paddingLeft || "0") - Number.parseFloat(style.paddingRight || "0"));
    const { figures } = this.forms.plan;
    if (room !== this.#wide) {
      const before = this.#canvases[0]?.figure;
      const figure = fitting(figures, room);
      this.#wide = room;
      if (figure !== before || this.figure.firstChild !== this.#canvases[0]?.svg) {
        const canvas = new Canvas(figure, this.#scene(false), "figure of the program");
        this.#canvases = [canvas];
        this.svg = canvas.svg;
        this.figure.replaceChildren(canvas.svg);
      }
      this.#drawOpen();
    }
    return 1;
  }

  /** @param {boolean} moves */
  #scene(moves) {
    const last = this.open[this.open.length - 1];
    /** @type {Scene} */
    const scene = {
      ...{ forms: this.forms, step: this.step, sample: this.view.state.sample, head: this.head, moves },
      ...{ opened: last?.node ?? -1, part: this.open.find((o) => o.part)?.part ?? "" },
    };
    return scene;
  }

  /** @param {Frame} frame */
  update(frame) {
    const before = this.#frame;
    this.#frame = frame;
    const near = before && Math.abs(before.step - frame.step) > 0 && !this.view.calm.matches && document.visibilityState === "visible";
    for (const canvas of this.#canvases) canvas.paint(this.#scene(!!near));
    this.#light();
  }

  repaint() {
    for (const canvas of this.#canvases) canvas.paint(this.#scene(false));
    this.#light();
  }

  // ---- what is open

  #drawOpen() {
    const { plan } = this.forms;
    this.#canvases.length = 1;
    const drawers = this.open.map((o, depth) => {
      const list = o.part ? plan.lists[o.part] : undefined;
      const figure =
        o.node !== undefined
          ? operationFigure(this.forms, o.node, this.#wide, this.pin)
          : list
            ? listFigure(this.forms, list, this.#wide)
            : fitting(plan.parts[o.part ?? ""], this.#wide);
      const canvas = new Canvas(figure, this.#scene(false), this.titleOf(o));
      this.#canvases.push(canvas);
      const close = h(
        "button",
        { class: "mg-button mg-small mg-fm-close", type: "button", title: "close (Escape)", "aria-label": `close ${this.titleOf(o)}` },
        "✕",
      );
      this.view.on(close, "click", () => this.closeTo(depth));
      const head = h("div", { class: "mg-fm-head" }, h("b", {}, this.titleOf(o)), h("code", {}, this.#line(o)), close);
      const parts = [head, h("div", { class: "mg-fm-scroll" }, canvas.svg)];
      if (o.node !== undefined) parts.push(h("div", { class: "mg-fm-gives" }), h("div", { class: "mg-fm-terms" }));
      return h("div", { class: "mg-fm-drawer" }, ...parts);
    });
    this.drawers.replaceChildren(...drawers);
    this.#tabs();
    this.#light();
    this.view.formsPane.way();
  }

  /** @param {Opening} o */
  titleOf({ part, node }) {
    const { plan } = this.forms;
    return node !== undefined ? plan.nodes[node].name : (plan.names[part ?? ""] ?? "");
  }

  /** The line of the program that an operation comes from. @param {Opening} o */
  #line({ part, node }) {
    const { plan } = this.forms;
    const at = node ?? (part && plan.lists[part] ? plan.lists[part].at(-1) : undefined);
    const source = at === undefined ? null : this.view.state.trace.nodes[plan.nodes[at].stage]?.source;
    return source ? `line ${source.line}: ${source.text}` : "";
  }

  /** Open something, in the place of what is as deep; the step stays. @param {Opening[]} open @param {Spot|null} [pin] */
  #show(open, pin = null) {
    const { root } = this.view.shell;
    const had = root.contains(document.activeElement);
    this.view.timeline.stop();
    this.open = open;
    this.pin = pin;
    this.#drawOpen();
    if (had && !root.contains(document.activeElement)) root.focus({ preventScroll: true }); // what had the focus was drawn again
    this.view.restop();
    this.drawers.lastElementChild?.scrollIntoView?.({ block: "nearest", behavior: "auto" });
  }

  /** Close all that is deeper than this. @param {number} depth */
  closeTo(depth) {
    this.#show(this.open.slice(0, depth));
    this.view.shell.root.focus({ preventScroll: true });
  }

  /** @param {string} part */
  openPart(part) {
    const here = this.open[0]?.part === part && this.open.length === 1;
    this.#show(here ? [] : [{ part }]);
  }

  /** Open the operation behind a tensor, or of a parameter the one that uses it; inside the part that it is in.
   * @param {number} n @param {number} [flat] a number of it that stays lit */
  openNode(n, flat) {
    const { forms } = this;
    const { plan } = forms;
    let target = forms.base(n);
    for (let guard = 0; forms.node(target).kind !== "operation" && guard < 9; guard++) {
      const user = this.#user(target);
      if (user < 0) return;
      target = user;
    }
    const pin = flat === undefined ? null : { node: n, flat };
    const group = plan.stages[forms.node(target).stage]?.group ?? "";
    const state = plan.kind === "recurrence" && forms.node(n).stage >= 0 && plan.stages[forms.node(n).stage].role === "state";
    if (state && this.open[0]?.part !== group && group in plan.lists) return this.#show([{ part: group }]);
    const inside = group in plan.parts || group in plan.lists ? [{ part: group }] : [];
    this.#show([...inside, { node: target }], pin);
  }

  /** The first operation that uses a tensor, also through views. @param {number} n @returns {number} */
  #user(n) {
    for (const [u] of this.forms.users[n]) {
      if (!this.forms.node(u).free) return u;
      const further = this.#user(u);
      if (further >= 0) return further;
    }
    return -1;
  }

  // ---- what is pointed at

  /** The cell under the mouse. @param {PointerEvent} e @returns {Spot|null} */
  #spot(e) {
    const g = /** @type {Element} */ (e.target).closest?.(".mg-fm-sheet");
    for (const canvas of g ? this.#canvases : []) {
      const view = canvas.sheets.find((v) => v.g === g);
      if (!view) continue;
      const { sheet } = view;
      const box = canvas.svg.getBoundingClientRect();
      const scale = canvas.figure.w / box.width;
      const j = Math.floor(((e.clientX - box.left) * scale - sheet.x) / sheet.cw);
      const i = Math.floor(((e.clientY - box.top) * scale - sheet.y) / sheet.ch);
      if (i < 0 || j < 0 || i >= sheet.r || j >= sheet.c) return null;
      return { node: nodeOf(sheet, this.head), flat: flatOf(sheet, i, j, this.view.state.sample, this.head) };
    }
    return null;
  }

  /** @param {PointerEvent} e */
  #point(e) {
    const term = /** @type {Element} */ (e.target).closest?.("[data-term]");
    const chosen = term ? (this.#explained?.terms[Number(term.getAttribute("data-term"))] ?? null) : null;
    if (chosen !== this.#term) {
      this.#term = chosen;
      this.#light();
    }
    const spot = this.#spot(e);
    this.#hovered(spot && this.forms.side(spot.node, this.step).numbers ? spot : null);
  }

  /** @param {Spot|null} spot */
  #hovered(spot) {
    if (spot?.node === this.#hover?.node && spot?.flat === this.#hover?.flat) return;
    this.#hover = spot;
    this.#light();
  }

  /** @type {Explained|null} */ #explained = null;

  /** Light what makes the number that is pointed at, and write its sum. */
  #light() {
    const spot = this.#hover ?? this.pin;
    const opened = this.open.at(-1)?.node;
    const lines = opened === undefined ? [] : gives(this.forms, opened, this.step);
    this.drawers.querySelector(".mg-fm-gives")?.replaceChildren(...lines.map((line) => h("div", {}, line)));
    for (const canvas of this.#canvases) canvas.over.replaceChildren();
    const there = spot && this.forms.side(spot.node, this.step).numbers;
    this.#explained = there ? explain(this.forms, this.step, spot.node, spot.flat) : null;
    const e = this.#explained;
    if (!e) put(this.read, HINT);
    else this.read.replaceChildren(...this.#sentence(e));
    this.#writeTerms(e);
    if (!e) return;
    const lit = (this.#term ? [e.lit[0], ...this.#term.at] : e.lit).map((l) => ({ ...l, base: this.#shownFor(l.base) }));
    for (const canvas of this.#canvases) for (const view of canvas.sheets) this.#lightSheet(canvas, view, lit);
  }

  /** The tensor whose sheet stands for another one: itself, or what is made of it alone, number by number. @param {number} base */
  #shownFor(base) {
    const { forms } = this;
    const shown = new Set(this.#canvases.flatMap(({ sheets }) => sheets.map(({ sheet }) => forms.base(nodeOf(sheet, this.head)))));
    let at = base;
    for (let k = 0; k < 3 && !shown.has(at); k++) {
      const users = [...new Set(forms.users[at].map(([u]) => u))];
      if (users.length !== 1 || forms.node(users[0]).free || forms.node(users[0]).shape.join() !== forms.node(at).shape.join()) return base;
      at = users[0];
    }
    return shown.has(at) ? at : base;
  }

  /** @param {Canvas} canvas @param {import("./canvas.js").SheetView} view @param {import("./explain.js").Lit[]} lit */
  #lightSheet(canvas, { sheet, inner }, lit) {
    const { forms, head } = this;
    let written = inner.querySelectorAll(".mg-fm-cell");
    const { sample } = this.view.state;
    const n = nodeOf(sheet, head);
    const base = forms.base(n);
    const at = (/** @type {number} */ i, /** @type {number} */ j) => flatOf(sheet, i, j, sample, head);
    /** @type {number[][]} */ const cells = [];
    let side = "";
    for (const l of lit) {
      if (l.base !== base && l.base !== n) continue;
      for (let i = 0; i < sheet.r; i++)
        for (let j = 0; j < sheet.c; j++) {
          const k = at(i, j);
          if (!l.cells.has(l.base === n ? k : forms.place(n, k))) continue;
          cells.push([i, j]);
          side = l.side;
        }
    }
    if (!cells.length) return;
    const { x, y, cw, ch, r, c } = sheet;
    const value = forms.value(n);
    if (side === "value" && forms.side(n, this.step).kind === "gradient" && value) {
      const ground = s("rect", { x: x - 1, y: y - 1, width: c * cw + 2, height: r * ch + 2, class: "mg-fm-ground" });
      const turned = s(
        "g",
        {},
        ground,
        ...(sheet.prob
          ? heat(sheet, shownOf(forms.node(n), value), at, "prob")
          : heat(sheet, value, at, forms.node(n).whole ?? "value", canvas.top(forms, n, "value"))),
      );
      canvas.over.append(turned);
      written = turned.querySelectorAll(".mg-fm-cell");
      canvas.over.append(
        s("rect", { x: x - 1, y: y - 1, width: c * cw + 2, height: r * ch + 2, rx: 3, class: "mg-fm-frame mg-fm-is-made" }),
      );
    }
    const [is, js] = [cells.map(([i]) => i), cells.map(([, j]) => j)];
    const [i0, i1, j0, j1] = [Math.min(...is), Math.max(...is), Math.min(...js), Math.max(...js)];
    const one = (i1 - i0 + 1) * (j1 - j0 + 1) === new Set(cells.map(([i, j]) => i * c + j)).size;
    const rects = one ? [[i0, j0, i1 - i0 + 1, j1 - j0 + 1]] : cells.map(([i, j]) => [i, j, 1, 1]);
    const holes = rects
      .map(([i, j, rows, columns]) => `M${x + j * cw} ${y + i * ch}h${columns * cw}v${rows * ch}h${-columns * cw}z`)
      .join("");
    if (cells.length < r * c) {
      const lit = new Set(cells.map(([i, j]) => i * c + j));
      const dimmed = [...written].filter((_, k) => !lit.has(k)).map((text) => /** @type {Element} */ (text.cloneNode(true)));
      for (const text of dimmed) text.classList.remove("mg-fm-dark"); // the fill gets paler, the figures do not
      canvas.over.append(
        s("path", { d: `M${x} ${y}h${c * cw}v${r * ch}h${-c * cw}z${holes}`, "fill-rule": "evenodd", class: "mg-fm-veil" }),
        ...dimmed,
      );
    }
    canvas.over.append(
      s("path", { d: holes, class: `mg-fm-lit${side === "gradient" ? " mg-fm-lit-b" : ""}${Math.min(cw, ch) < 6 ? " mg-fm-thin" : ""}` }),
    );
  }

  /** The number that is pointed at, in words. @param {Explained} e */
  #sentence(e) {
    const { plan } = this.forms;
    const node = this.forms.node(e.node);
    const name = `${e.back ? `∂${plan.nodes[plan.root].name}/∂` : ""}${nameOf(node, e.back)}${e.ix.length ? `[${e.ix.join(", ")}]` : ""}`;
    const products = e.terms.filter((t) => t.kind === "product");
    const number = (/** @type {number} */ v) => fmt(v, 3);
    const sum = e.terms
      .slice(0, 6)
      .map((t) => t.numbers.map(number).join(" × "))
      .join(" + ");
    const more = e.terms.length > 6 ? ` + ${e.terms.length - 6} more` : "";
    const scaled = e.scale === 1 ? `${sum}${more}` : `${number(e.scale)} × (${sum}${more})`;
    return [
      h("b", {}, `${name} = ${e.value === null ? "?" : fmt(e.value, 4)}`),
      ...(products.length ? [h("span", { class: "mg-fm-mono" }, ` = ${scaled}`)] : []),
      ...(e.text ? [` · ${e.text}`] : []),
    ];
  }

  /** The sum of the number that is pointed at, in the drawer of its operation. @param {Explained|null} e */
  #writeTerms(e) {
    const box = /** @type {HTMLElement|null} */ (this.drawers.querySelector(".mg-fm-terms"));
    const key = e ? `${e.node} ${e.flat} ${this.step}` : "";
    if (!box || box.dataset.of === key) return; // a term that is pointed at stays where it is
    box.dataset.of = key;
    if (!e) return put(box, "Point at a number, or click it to keep it: its sum of products.");
    const parts = e.terms.some((t) => t.kind === "product") || (e.back && e.terms.length > 1);
    if (!e.terms.length) return put(box, e.text);
    if (!parts) return this.#writeOperands(box, e);
    let sum = 0;
    const shown = e.terms.length > TERMS + 2 ? e.terms.slice(0, TERMS) : e.terms;
    const chips = shown.flatMap((t, k) => {
      const product = t.numbers.reduce((a, b) => a * b, 1);
      sum += product;
      const what =
        t.kind === "product" ? `${fmt(product, 3)}, sum ${fmt(sum, 3)}` : `${t.kind === "bias" ? "bias" : "a use"}, sum ${fmt(sum, 3)}`;
      const chip = h(
        "span",
        { class: "mg-fm-term", "data-term": k, tabindex: 0 },
        t.numbers.map((v) => fmt(v, 3)).join(" × "),
        h("small", {}, what),
      );
      return [...(k ? ["+"] : []), chip];
    });
    const more = e.terms.length > shown.length ? [`+ ${e.terms.length - shown.length} more`] : [];
    const scale = e.scale === 1 ? [] : [`× ${fmt(e.scale, 3)}`];
    const total = this.#total(e);
    box.replaceChildren(...chips, [...more, ...scale, "="].join(" "), total);
  }

  /** The number itself. @param {Explained} e */
  #total(e) {
    return h("span", { class: `mg-fm-term mg-fm-sum${e.back ? " mg-fm-sum-b" : ""}` }, e.value === null ? "?" : fmt(e.value, 5));
  }

  /** @param {Element} box @param {Explained} e */
  #writeOperands(box, e) {
    const shares = e.terms[0].kind === "share";
    const top = Math.max(...e.terms.map((t) => t.numbers[0]).filter(Number.isFinite));
    const total = e.terms.reduce((sum, t) => sum + Math.exp(t.numbers[0] - top), 0);
    const chips = e.terms.slice(0, 24).map((t, k) => {
      const share = shares ? h("small", {}, `${((100 * Math.exp(t.numbers[0] - top)) / total).toFixed(1)} %`) : "";
      return h("span", { class: "mg-fm-term", "data-term": k, tabindex: 0 }, fmt(t.numbers[0], 4), share);
    });
    box.replaceChildren(
      ...chips,
      "→",
      h("span", { class: "mg-fm-term mg-fm-sum" }, e.value === null ? "?" : fmt(e.value, 5)),
      ` ${e.text}`,
    );
  }

  // ---- actions of the reader

  /** @param {PointerEvent} e */
  #click(e) {
    const target = /** @type {Element} */ (e.target);
    if (target.closest("button")) return;
    const part = target.closest("[data-part]");
    const sheet = target.closest(".mg-fm-sheet");
    const node = target.closest("[data-node]");
    if (sheet) {
      const spot = this.#spot(e);
      if (spot) this.openNode(spot.node, spot.flat);
    } else if (part) this.openPart(/** @type {string} */ (part.getAttribute("data-part")));
    else if (node) this.openNode(Number(node.getAttribute("data-node")));
  }

  /** Everything that can be opened, in reading order. @returns {SVGElement[]} */
  get #openable() {
    return this.#canvases.flatMap((c) => /** @type {SVGElement[]} */ ([...c.svg.querySelectorAll(".mg-fm-sheet, .mg-fm-branch")]));
  }

  /** One of them takes the Tab key. */
  #tabs() {
    const all = this.#openable;
    this.#stop = Math.min(this.#stop, all.length - 1);
    for (const [k, e] of all.entries()) {
      e.setAttribute("tabindex", k === this.#stop ? "0" : "-1");
      e.setAttribute("data-lm-suppress-shortcuts", "true");
    }
  }

  /** @param {Element} e */
  #focused(e) {
    const term = e.closest("[data-term]");
    if (term) {
      this.#term = this.#explained?.terms[Number(term.getAttribute("data-term"))] ?? null;
      return this.#light();
    }
    const k = this.#openable.indexOf(/** @type {SVGElement} */ (e));
    if (k < 0 || k === this.#stop) return;
    this.#stop = k;
    this.#tabs();
  }

  /** Keys of the figure: true if it was one. @param {KeyboardEvent} e */
  key(e) {
    const target = /** @type {HTMLElement} */ (e.target);
    if (target.closest("input, select, [role=slider], [role=tab]")) return false;
    const { plan } = this.forms;
    const focused = /** @type {Element|null} */ (target.closest(".mg-fm-sheet, .mg-fm-branch"));
    if (e.shiftKey && this.pin && e.key.startsWith("Arrow")) this.#movePin(e.key);
    else if (e.key === "[" || e.key === "]")
      this.view.showSample((this.view.state.sample + (e.key === "]" ? 1 : plan.samples - 1)) % plan.samples);
    else if (e.key === "Escape" && this.open.length) this.closeTo(this.open.length - 1);
    else if ((e.key === "Enter" || e.key === " ") && focused) this.#press(focused);
    else if (e.key === "ArrowUp" || e.key === "ArrowDown") this.#walk(e.key === "ArrowDown" ? 1 : -1, !!focused);
    else return false;
    return true;
  }

  /** @param {Element} focused */
  #press(focused) {
    const part = focused.getAttribute("data-part");
    const node = focused.getAttribute("data-node");
    if (part !== null) return this.openPart(part);
    if (node !== null) return this.openNode(Number(node));
    for (const canvas of this.#canvases) {
      const view = canvas.sheets.find((v) => v.g === focused);
      if (view) return this.openNode(nodeOf(view.sheet, this.head), flatOf(view.sheet, 0, 0, this.view.state.sample, this.head));
    }
  }

  /** The number that stays lit moves by one cell. @param {string} key */
  #movePin(key) {
    const pin = /** @type {Spot} */ (this.pin);
    const { shape } = this.forms.node(pin.node);
    const [r, c] = [shape.length > 1 ? shape[shape.length - 2] : 1, shape.at(-1) ?? 1];
    const plane = Math.floor(pin.flat / (r * c)) * r * c;
    let [i, j] = [Math.floor((pin.flat - plane) / c), (pin.flat - plane) % c];
    if (key === "ArrowUp") i = Math.max(0, i - 1);
    else if (key === "ArrowDown") i = Math.min(r - 1, i + 1);
    else if (key === "ArrowLeft") j = Math.max(0, j - 1);
    else j = Math.min(c - 1, j + 1);
    this.pin = { node: pin.node, flat: plane + i * c + j };
    this.#hover = null;
    this.#light();
    this.view.formsPane.way();
  }

  /** The keyboard goes to the next sheet. @param {number} by @param {boolean} on */
  #walk(by, on) {
    const all = this.#openable;
    if (on) this.#stop = Math.min(all.length - 1, Math.max(0, this.#stop + by));
    this.#tabs();
    all[this.#stop]?.focus({ preventScroll: true });
  }

  /** @param {number} head */
  showHead(head) {
    this.head = head;
    this.repaint();
    this.view.formsPane.way();
  }

  /** Each sheet of the figure as a row of a table. @returns {string[][]} */
  rows() {
    const { forms, step, head } = this;
    const seen = new Set();
    return this.#canvases.flatMap(({ sheets }) =>
      sheets.flatMap(({ sheet }) => {
        const n = nodeOf(sheet, head);
        if (seen.has(n)) return [];
        seen.add(n);
        const node = forms.node(n);
        const side = forms.side(n, step);
        const known = forms.known(n, step) ? forms.value(n) : null;
        const some = known
          ? Array.from(shownOf(node, known))
              .slice(0, 6)
              .map((v) => fmt(v, 3))
              .join(", ") + (known.length > 6 ? ", …" : "")
          : "?";
        const grad = side.kind === "gradient" ? fmt(norm(side.numbers), 3) : node.grads.length ? "?" : "none";
        return [[node.name, (node.full ?? node.shape).join(" × ") || "one number", some, grad]];
      }),
    );
  }

  // ---- the interface of a scene

  /** The sentence about the last event. @param {Frame} frame */
  sentence({ step }) {
    const { K, plan } = this.forms;
    if (!step) return "**The inputs and the parameters are there.** Nothing is computed yet.";
    if (step === K + 1) return this.view.state.trace.steps[K].say;
    const k = step <= K ? step - 1 : 2 * K + 1 - step;
    const stage = plan.stages[k];
    const closed = stage.group && !this.#parts.has(stage.group);
    if (step > K) return (closed && stage.wholeback) || stage.back;
    const said = (closed && stage.whole) || stage.say;
    const one = this.forms.size(stage.main) === 1 ? fmt(this.forms.value(stage.main)?.[0] ?? Number.NaN) : ""; // a slider may have moved it
    return one ? said.replace(/(\*\*.* (?:is|becomes)(?:\*\*)? )[−\d][−\d.e]*/, `$1${one}`) : said;
  }

  /** Mark the sheets whose name has this text in it. Returns how many. @param {string} text */
  search(text) {
    let found = 0;
    for (const { sheets } of this.#canvases)
      for (const { g, sheet } of sheets) {
        const hit = !!text && this.forms.node(nodeOf(sheet, this.head)).name.toLowerCase().includes(text);
        g.classList.toggle("mg-fm-found", hit);
        if (hit) found++;
      }
    return found;
  }

  toFound() {
    const all = this.#openable;
    const k = all.findIndex((e) => e.classList.contains("mg-fm-found"));
    if (k < 0) return;
    this.#stop = k;
    this.#tabs();
    all[k].focus({ preventScroll: true });
  }

  markFlow() {
    return "";
  }

  card() {
    return undefined;
  }

  box() {
    return undefined;
  }

  mark() {}

  /** Mark what a line has made. @param {number[]} stages */
  hit(stages) {
    for (const { sheets } of this.#canvases)
      for (const { g, sheet } of sheets)
        g.classList.toggle("mg-fm-found", stages.includes(this.forms.node(nodeOf(sheet, this.head)).stage));
  }

  /** @param {boolean} onSheet */
  refocus(onSheet) {
    if (onSheet) this.#openable[this.#stop]?.focus({ preventScroll: true });
    return onSheet;
  }
}
