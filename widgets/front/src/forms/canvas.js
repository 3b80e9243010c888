// One figure as SVG: drawn once, then only what a step changes. widgets/forms/figures.py says where everything stands.

import { Memo, put, s } from "../dom.js";
import { fmt } from "../model/numbers.js";
import { flatOf, most, nameOf, nodeOf, norm, shownOf } from "./data.js";

/** @import { Figure, Sheet, Sign, Wire, Words } from "../types" */
/** @import { Forms, Side } from "./data.js" */

/** What a figure is drawn for.
 * @typedef {{forms: Forms, step: number, sample: number, head: number, opened: number, part: string, moves: boolean}} Scene */

/** Words that say something else once gradients are there. @typedef {Words & {back?: (step: number) => string|null}} Said */

const LEVELS = 8; // of opacity
const NUMBERS = [33, 17]; // pixels of a cell that has its number in it
const MINUS = 9; // pixels of a cell that has a minus in it

/** The curves of activations over −3 to 3, as shares of half their height. @type {Record<string, (v: number) => number>} */
const CURVES = {
  tanh: Math.tanh,
  relu: (v) => Math.max(0, v) / 2.6,
  leaky_relu: (v) => (v > 0 ? v : 0.15 * v) / 2.6,
  gelu: (v) => (0.5 * v * (1 + Math.tanh(0.79788 * (v + 0.044715 * v ** 3)))) / 2.6,
  silu: (v) => v / (1 + Math.exp(-v)) / 2.6,
  elu: (v) => (v > 0 ? v : Math.exp(v) - 1) / 2.6,
  softplus: (v) => Math.log(1 + Math.exp(v)) / 2.6,
  sigmoid: (v) => 2 / (1 + Math.exp(-v)) - 1,
  exp: (v) => Math.min(1.1, Math.exp(v) / 8),
  neg: (v) => -v / 2.6,
};

/** How the numbers of a row are written: all with as many decimals. @param {number[]} row @returns {(v: number) => string} */
export function inOneWay(row) {
  const finite = row.filter(Number.isFinite);
  const top = Math.max(0, ...finite.map(Math.abs));
  if (top < 9999.5 && finite.every(Number.isInteger)) return fmt;
  const decimals = top >= 99.5 ? 0 : top >= 9.95 ? 1 : 2;
  const power = top >= 9999.5 || top < 0.005;
  return (v) => (power ? (v ? v.toExponential(0).replace("e+", "e") : "0") : v.toFixed(decimals)).replaceAll("-", "−");
}

/** The cells of a heat map, as one path for each strength and sign.
 * @param {Pick<Sheet, "x"|"y"|"cw"|"ch"|"r"|"c"|"wrap">} sheet @param {ArrayLike<number|null>} numbers null: no cell @param {(i: number, j: number) => number} at @param {string} kind "value", "gradient",
 * "prob", "truth", or "count": whole numbers @param {number} [top] the magnitude of the strongest colour
 * @returns {SVGElement[]} */
export function heat(
  { x, y, cw, ch, r, c, wrap },
  numbers,
  at,
  kind,
  top = kind === "prob" ? 1 : most(/** @type {ArrayLike<number>} */ (numbers)),
) {
  const inset = cw > 6 && ch > 6 ? 0.5 : 0;
  const written = cw >= NUMBERS[0] && ch >= NUMBERS[1];
  /** @type {Record<string, string>} */ const paths = {};
  let marks = "";
  /** @type {SVGElement[]} */ const words = [];
  for (let i = 0; i < r; i++) {
    const said = written ? inOneWay(Array.from({ length: c }, (_, j) => numbers[at(i, j)] ?? 0)) : fmt;
    for (let j = 0; j < c; j++) {
      const v = numbers[at(i, j)];
      if (v === null) continue;
      const odd = !Number.isFinite(v) || (kind === "truth" && !!v);
      const level = odd || !top || kind === "count" ? 0 : Math.min(LEVELS, Math.ceil((Math.abs(v) / top) * LEVELS));
      const again = wrap && (i >= wrap[0] || j >= wrap[1]) ? "a" : "";
      const key = (odd ? "x" : !level ? "0" : `${v < 0 ? "n" : "p"}${level}`) + again;
      const [left, up] = [x + j * cw, y + i * ch];
      const plain = `M${(left + inset).toFixed(1)} ${(up + inset).toFixed(1)}h${(cw - 2 * inset).toFixed(1)}v${(ch - 2 * inset).toFixed(1)}h${(2 * inset - cw).toFixed(1)}z`;
      const crossed = `M${(left + 1).toFixed(1)} ${(up + ch - 1).toFixed(1)}L${(left + cw - 1).toFixed(1)} ${(up + 1).toFixed(1)}`;
      paths[key] = (paths[key] ?? "") + (odd ? crossed : plain);
      if (written) {
        const dark = level > 5 && !again;
        const text = Number.isNaN(v) ? "nan" : v === -Infinity ? "−∞" : v === Infinity ? "∞" : said(v);
        words.push(s("text", { x: left + cw / 2, y: up + ch / 2 + 4, class: `mg-fm-cell${dark ? " mg-fm-dark" : ""}` }, text));
      } else if (v < 0 && level > 1 && cw >= MINUS && ch >= MINUS)
        marks += `M${(left + cw / 2 - 2.5).toFixed(1)} ${(up + ch / 2).toFixed(1)}h5`;
    }
  }
  const out = Object.entries(paths).map(([key, d]) => {
    const again = key.endsWith("a") ? 0.42 : 1;
    const level = Number.parseInt(key.slice(1), 10);
    if (key[0] === "x") return s("path", { d, class: "mg-fm-odd" });
    if (key[0] === "0") return s("path", { d, class: "mg-fm-zero" });
    const strength = (0.06 + 0.94 * (level / LEVELS) ** 1.15) * again;
    const colour = kind === "prob" ? "prob" : `${kind === "gradient" ? "g" : ""}${key[0] === "n" ? "neg" : "pos"}`;
    return s("path", { d, class: `mg-fm-${colour}`, "fill-opacity": strength.toFixed(2) });
  });
  if (marks) out.push(s("path", { d: marks, class: "mg-fm-minus" }));
  return [...out, ...words];
}

/** @typedef {{sheet: Sheet, g: SVGGElement, inner: SVGGElement, frame: SVGElement, ghosts: SVGElement[], label: SVGElement|null, memo: Memo, kind: string}} SheetView */

export class Canvas {
  /** @type {SheetView[]} */ sheets = [];
  #wires = /** @type {{wire: Wire, path: SVGElement, was: string|null}[]} */ ([]);
  #signs = /** @type {{sign: Sign, g: SVGGElement, memo: Memo}[]} */ ([]);
  #words = /** @type {{words: Said, text: SVGElement}[]} */ ([]);
  /** What is pointed at lies over everything. */ over = s("g", { "pointer-events": "none" });

  /** @param {Figure} figure @param {Scene} scene @param {string} label */
  constructor(figure, scene, label) {
    this.figure = figure;
    const layers = { back: s("g"), ground: s("g"), mid: s("g"), top: s("g"), drops: s("g") };
    this.drops = layers.drops;
    const { w, h } = figure;
    this.svg = s("svg", { class: "mg-svg mg-fm-svg", width: w, height: h, viewBox: `0 0 ${w} ${h}`, role: "group", "aria-label": label });
    this.svg.append(...Object.values(layers), this.over);
    for (const wire of figure.wires) {
      const path = s("path", { d: wire.d, class: "mg-fm-wire" });
      layers.back.append(path);
      this.#wires.push({ wire, path, was: null });
    }
    for (const sign of figure.signs) {
      const g = s("g");
      (sign.kind === "ground" || sign.kind === "span" || sign.kind === "branch" ? layers.ground : layers.mid).append(g);
      this.#signs.push({ sign, g, memo: new Memo() });
    }
    for (const sheet of figure.sheets) this.#sheet(sheet, layers.mid, layers.top);
    for (const words of /** @type {Said[]} */ (figure.words)) {
      const anchor = words.a || "start";
      const text = s("text", { x: words.x, y: words.y, class: words.c ? `mg-fm-${words.c}` : null, "text-anchor": anchor }, words.t);
      layers.top.append(text);
      if (words.added || words.back || words.skipped) this.#words.push({ words, text });
    }
    this.paint(scene);
  }

  /** @param {Sheet} sheet @param {Element} layer @param {Element} top */
  #sheet(sheet, layer, top) {
    const { x, y, cw, ch, r, c } = sheet;
    const [w, h] = [c * cw, r * ch];
    const lift = cw > 8 ? 4 : 3;
    const ghosts = Array.from({ length: sheet.ghosts ?? 0 }, (_, k) => {
      const by = ((sheet.ghosts ?? 0) - k) * lift;
      return s("rect", { x: x + by, y: y - by, width: w, height: h, rx: 2, class: "mg-fm-ghost" });
    });
    const inner = s("g");
    const frame = s("rect", { x: x - 1, y: y - 1, width: w + 2, height: h + 2, rx: 3 });
    const g = s("g", { class: "mg-fm-sheet", role: "button", tabindex: -1 }, s("g", { class: "mg-fm-turns" }, ...ghosts, inner, frame));
    layer.append(g);
    let label = null;
    if (sheet.label) {
      const [lx, ly, anchor, text] = sheet.label;
      label = s("text", { x: lx, y: ly, class: "mg-fm-m", "text-anchor": anchor }, text);
      top.append(label);
    }
    this.sheets.push({ sheet, g, inner, frame, ghosts, label, memo: new Memo(), kind: "" });
  }

  /** @param {Scene} scene */
  paint(scene) {
    for (const one of this.#wires) this.#paintWire(one, scene);
    for (const one of this.#signs) this.#paintSign(one.sign, one.g, one.memo, scene);
    for (const view of this.sheets) this.#paintSheet(view, scene);
    for (const { words, text } of this.#words) {
      const back = words.back?.(scene.step) ?? null;
      put(text, words.added ? added(scene.forms, words, scene.step) : (back ?? passing(scene.forms, words, scene.step)));
      text.classList.toggle("mg-fm-grad", back !== null);
    }
  }

  /** @param {{wire: Wire, path: SVGElement, was: string|null}} one @param {Scene} scene */
  #paintWire(one, { forms, step, moves }) {
    const { a, b, d, thick } = one.wire;
    const on = forms.known(a, step) && forms.known(b, step);
    const back = forms.back(step) && forms.sent(b, step) && forms.node(a).grads.length > 0;
    const now = back ? "back" : on ? "on" : "";
    if (now === one.was) return;
    one.path.setAttribute("class", `mg-fm-wire${thick ? " mg-fm-thick" : ""}${now ? ` mg-fm-${now}` : ""}`);
    if (moves && one.was !== null && now && !(now === "on" && one.was === "back")) this.#drop(d, now, !!thick);
    one.was = now;
  }

  /** Something runs along a wire. @param {string} d @param {string} way @param {boolean} thick */
  #drop(d, way, thick) {
    const dot = s("circle", { r: thick ? 5.5 : 4.2, class: `mg-fm-drop mg-fm-${way}`, style: `offset-path:path("${d}")` });
    this.drops.append(dot);
    const stops = [{ offsetDistance: "0%" }, { offsetDistance: "100%" }];
    dot.animate(way === "back" ? stops.reverse() : stops, { duration: 340, fill: "forwards" }).onfinish = () => dot.remove();
  }

  /** @param {SheetView} view @param {Scene} scene */
  #paintSheet(view, { forms, step, sample, head, opened, moves }) {
    const { sheet } = view;
    const n = nodeOf(sheet, head);
    const side = forms.side(n, step);
    const state = `${side.kind}${side.done}`;
    if (view.memo.same(forms, n, state, sample, sheet.lead?.[3] ? head : 0, opened === n)) return;
    const turned = view.kind && side.kind && (view.kind === "gradient") !== (side.kind === "gradient");
    const came = !view.kind && !!side.kind;
    view.kind = side.kind;
    const node = forms.node(n);
    const at = (/** @type {number} */ i, /** @type {number} */ j) => flatOf(sheet, i, j, sample, head);
    view.inner.replaceChildren(...this.#cells(sheet, side, forms, n, at, step));
    const partly = side.kind === "gradient" && side.done < side.of;
    const kind =
      side.kind === "gradient"
        ? partly
          ? "part"
          : "gradient"
        : side.kind
          ? forms.node(forms.base(n)).kind === "operation"
            ? "made"
            : "given"
          : "wait";
    view.frame.setAttribute("class", `mg-fm-frame mg-fm-is-${kind}${opened === n ? " mg-fm-opened" : ""}`);
    for (const ghost of view.ghosts) ghost.classList.toggle("mg-fm-is-gradient", side.kind === "gradient");
    if (view.label && sheet.label) {
      const back = side.kind === "gradient";
      put(view.label, `${back && !sheet.plain ? "∂ " : ""}${back && sheet.prob ? nameOf(node, back) : sheet.label[3]}`);
      view.label.classList.toggle("mg-fm-grad", back);
    }
    const what = side.kind === "gradient" ? `gradient, size ${fmt(norm(side.numbers), 3)}` : side.kind ? "value" : "not computed yet";
    view.g.setAttribute("aria-label", `${nameOf(node, side.kind === "gradient")}, ${sheet.r} by ${sheet.c}, ${what}; Enter opens`);
    if (moves && (turned || came)) view.g.firstElementChild?.animate(
      turned ? [{ transform: "scaleX(1)", opacity: 0.5 }, { transform: "scaleX(.04)", offset: 0.45 }, { transform: "scaleX(1)" }] : [{ opacity: 0 }, { opacity: 1 }],
      { duration: turned ? 360 : 300, easing: "ease-out" },
    ); // biome-ignore format: one call
  }

  /** @param {Sheet} sheet @param {Side} side @param {Forms} forms @param {number} n @param {(i: number, j: number) => number} at @param {number} step */
  #cells(sheet, side, forms, n, at, step) {
    const { x, y, cw, ch, r, c, prob } = sheet;
    const empty = s("rect", { x, y, width: c * cw, height: r * ch, rx: 2, class: side.numbers ? "mg-fm-ground" : "mg-fm-zero" });
    if (prob) {
      const value = forms.known(n, step) ? forms.value(n) : null;
      const [back, node] = [side.kind === "gradient" && side.numbers, forms.node(n)];
      const cells = back ? heat(sheet, back, at, "gradient") : value ? heat(sheet, shownOf(node, value), at, "prob") : [];
      const targets = forms.value(prob[0]);
      const rings = [];
      const upright = prob[1] < 0; // one row, drawn as a column
      for (let k = 0; targets && k < (upright ? 1 : r); k++) {
        const t = targets[Math.floor(at(k, 0) / (upright ? r : c))];
        if (!(t >= 0 && t < (upright ? r : c))) continue; // ignored
        const [i, j] = upright ? [t, 0] : [k, t];
        const thin = Math.min(cw, ch) < MINUS; // else there would be no room for the colour in it
        const inset = thin ? 0.6 : 1.5;
        const place = {
          x: x + j * cw + inset,
          y: y + i * ch + inset,
          width: Math.max(2, cw - 2 * inset),
          height: Math.max(2, ch - 2 * inset),
        };
        rings.push(s("rect", { ...place, rx: Math.min(cw, ch) / 3, class: `mg-fm-ring${thin ? " mg-fm-thin" : ""}` }));
      }
      return [empty, ...cells, ...rings];
    }
    if (!side.numbers) return [empty];
    return [empty, ...heat(sheet, side.numbers, at, forms.node(n).whole ?? side.kind, this.top(forms, n, side.kind))];
  }

  /** The magnitude of the strongest colour, of the same state at each step together; undefined: of its own numbers.
   * @param {Forms} forms @param {number} n @param {string} kind */
  top(forms, n, kind) {
    const group = this.figure.alike?.find((some) => some.includes(n));
    const numbers = (/** @type {number} */ i) => (kind === "value" ? forms.value(i) : forms.array(forms.node(i).grads.at(-1)?.[1] ?? -1));
    return group && Math.max(...group.map((i) => most(numbers(i) ?? [])));
  }

  /** @param {Sign} sign @param {SVGGElement} g @param {Memo} memo @param {Scene} scene */
  #paintSign(sign, g, memo, scene) {
    const { forms, step, sample, part } = scene;
    const { n } = sign;
    const on = n < 0 || forms.known(n, step);
    const back = n >= 0 && forms.back(step) && (sign.kind === "loss" || forms.sent(n, step));
    const moving = sign.kind === "norms" ? step : 0;
    if (
      memo.same(
        forms,
        on,
        back,
        sign.kind === "bars" || sign.kind === "row" ? sample : 0,
        moving,
        sign.part !== undefined && sign.part === part,
      )
    )
      return;
    const state = back ? "gradient" : on ? "made" : "wait";
    g.replaceChildren(...SIGNS[sign.kind](sign, state, scene));
    if (sign.kind === "branch" && sign.part !== undefined) {
      g.setAttribute("class", `mg-fm-branch${sign.part === part ? " mg-fm-opened" : ""}`);
      for (const [k, v] of Object.entries({ role: "button", "data-part": sign.part, "aria-label": `${sign.t}; Enter opens` }))
        g.setAttribute(k, String(v));
    } else if (sign.kind === "loss") {
      for (const [k, v] of Object.entries({ role: "button", "data-node": String(n), class: "mg-fm-branch" })) g.setAttribute(k, String(v));
      g.setAttribute("aria-label", `${sign.t}${on ? `, ${fmt(forms.value(n)?.[0] ?? NaN)}` : ", not computed yet"}; Enter opens`);
    }
  }
}

/** Of states that are not drawn the one that a step has come to. @param {Forms} forms @param {Words} words @param {number} step */
function passing(forms, { t, skipped = [] }, step) {
  const back = forms.back(step);
  const there = skipped.filter((i) => (back ? forms.side(i, step).kind === "gradient" : forms.known(i, step)));
  return there.length && there.length < skipped.length ? `at ${forms.node(there[back ? 0 : there.length - 1]).name}` : t;
}

/** How many of the uses of shared weights their gradients have already. @param {Forms} forms @param {Words} words @param {number} step */
function added(forms, words, step) {
  const sides = (words.added ?? []).map((i) => forms.side(i, step)).filter((x) => x.kind === "gradient");
  if (!sides.length) return "";
  const { done, of } = sides.reduce((a, b) => (b.of > a.of ? b : a));
  return words.room ? `gradient: ${done} of ${of} steps added` : `${done} of ${of} added`;
}

/** @type {Record<string, (sign: Sign, state: string, scene: Scene) => SVGElement[]>} */
const SIGNS = {
  ground: ({ x, y, w, h }) => [s("rect", { x, y, width: w, height: h, rx: 4, class: "mg-fm-ground" })],
  span: ({ x, y, w = 0 }) => [s("path", { d: `M${x} ${y}v4h${w}v-4`, class: "mg-fm-axis" })],
  row: ({ x, y, h = 0, rows: [count] = [1] }, _, { sample }) => [
    s("text", { x, y: y + ((sample % count) + 0.5) * h + 4, class: "mg-fm-m" }, "▸"),
  ],
  plus: ({ x, y }, state) => [
    s("circle", { cx: x, cy: y, r: 7.5, class: `mg-fm-card mg-fm-is-${state}` }),
    s("path", { d: `M${x - 3.5} ${y}h7M${x} ${y - 3.5}v7`, class: `mg-fm-frame mg-fm-is-${state}` }),
  ],
  branch: ({ x, y, w = 0, h, t = "" }, state) => [
    s("rect", { x, y, width: w, height: h, rx: 9, class: `mg-fm-card mg-fm-is-${state}` }),
    s("text", { x: x + w / 2, y: y + 17, class: "mg-fm-m", "text-anchor": "middle" }, t),
  ],
  loss: ({ x, y, w = 0, h, t = "", n }, state, { forms }) => [
    s("rect", { x, y, width: w, height: h, rx: 8, class: `mg-fm-card mg-fm-is-${state}` }),
    s("text", { x: x + 10, y: y + 19, class: "mg-fm-m mg-fm-bold" }, t.length > (w - 46) / 7.3 ? `${t.slice(0, (w - 54) / 7.3)}…` : t),
    s("text", { x: x + 10, y: y + 39, class: "mg-fm-m mg-fm-value" }, state === "wait" ? "·" : lossText(forms, n)),
    ...(state === "gradient" ? [s("text", { x: x + w - 8, y: y + 19, class: "mg-fm-m mg-fm-grad", "text-anchor": "end" }, "∂ 1")] : []),
  ],
  curve: ({ x, y, t = "" }, state) => {
    const f = CURVES[t];
    if (!f) return [s("text", { x, y: y + 4, class: "mg-fm-s", "text-anchor": "middle" }, t)];
    const points = Array.from({ length: 41 }, (_, i) => {
      const v = Math.max(-1.1, Math.min(1.1, f(((i - 20) / 20) * 3)));
      return `${(x + i - 20).toFixed(1)} ${(y - v * 14).toFixed(1)}`;
    });
    return [
      s("rect", { x: x - 24, y: y - 20, width: 48, height: 40, rx: 6, class: "mg-fm-plain" }),
      s("path", { d: `M${x - 20} ${y}h40M${x} ${y - 16}v32`, class: "mg-fm-axis" }),
      s("path", { d: `M${points.join("L")}`, class: `mg-fm-curve mg-fm-is-${state}` }),
    ];
  },
  bars: ({ x, y, w = 0, h: c = 0, rows = [], n }, state, { forms, sample }) => {
    const [target, count, classes, total] = rows;
    const [logp, targets] = [forms.value(n), forms.value(target)];
    if (state === "wait" || !logp || !targets) return [];
    const start = (sample % Math.max(1, total / count)) * count;
    const miss = (/** @type {number} */ i) => (targets[i] >= 0 && targets[i] < classes ? -logp[i * classes + targets[i]] : 0);
    const all = Array.from({ length: count }, (_, i) => miss(start + i));
    const top = Math.max(...all, 1e-9);
    return all.map((v, i) =>
      s("rect", { x, y: y + i * c + c * 0.2, width: ((v / top) * w).toFixed(1), height: c * 0.6, rx: 2, class: "mg-fm-bar" }),
    );
  },
  norms: (sign, _, { forms, step }) => drawNorms(sign, forms, step),
};

/** @param {Forms} forms @param {number} n */
const lossText = (forms, n) => (forms.size(n) === 1 ? fmt(forms.value(n)?.[0] ?? NaN, 4) : forms.node(n).shape.join(" × "));

/** Sizes of the gradients at each step in time, on a logarithmic scale. @param {Sign} sign @param {Forms} forms @param {number} step */
function drawNorms({ x, y, w = 0, h = 0, t = "", xs = [], nodes = [], rows = [] }, forms, step) {
  const ends = nodes.flat().map((i) => norm(forms.array(forms.node(i).grads.at(-1)?.[1] ?? -1)));
  const some = ends.filter((v) => v > 0 && Number.isFinite(v));
  if (!some.length) return [];
  const [cw, written] = rows;
  /** @type {SVGElement[]} */ const out = [s("text", { x, y: y - 18, class: "mg-fm-s" }, t)];
  const none = (/** @type {number} */ k) => s("path", { d: `M${xs[k] - cw / 2} ${y + h}h${cw}`, class: "mg-fm-none" });
  if (!forms.back(step)) {
    out.push(s("text", { x: x + w / 2, y: y + h / 2 + 4, class: "mg-fm-s", "text-anchor": "middle" }, "comes with the backward pass"));
    return [...out, s("path", { d: `M${x} ${y + h}h${w}`, class: "mg-fm-axis" }), ...xs.map((_, k) => none(k))];
  }
  let high = Math.ceil(Math.log10(Math.max(...some)) + 1e-9);
  const low = Math.floor(Math.log10(Math.min(...some)) - 0.2); // the smallest one is a bar, too
  if (high === low) high++;
  const place = (/** @type {number} */ v) => y + ((high - Math.max(low, Math.log10(v))) / (high - low)) * h;
  const stride = Math.ceil((high - low) / 4);
  for (let e = low; e <= high; e += stride) {
    const at = y + ((high - e) / (high - low)) * h;
    out.push(s("path", { d: `M${x} ${at}h${w}`, class: `mg-fm-axis${e > low ? " mg-fm-dots" : ""}` }));
    out.push(s("text", { x: x - 8, y: at + 4, class: "mg-fm-s", "text-anchor": "end" }, e === 0 ? "1" : `10${raised(e)}`));
  }
  const now = (/** @type {number} */ i) => {
    const side = forms.side(i, step);
    return side.kind === "gradient" ? norm(side.numbers) : NaN;
  };
  for (const [k, i] of nodes[0].entries()) {
    const v = now(i);
    if (Number.isNaN(v)) {
      out.push(none(k));
      continue;
    }
    const at = v > 0 ? place(v) : y + h;
    const bar = { x: xs[k] - cw / 2, y: at.toFixed(1), width: cw, height: Math.max(1, y + h - at).toFixed(1), rx: 2 };
    out.push(s("rect", { ...bar, class: "mg-fm-norm" }));
    if (written) out.push(s("text", { x: xs[k], y: at - 4, class: "mg-fm-s mg-fm-mono", "text-anchor": "middle" }, fmt(v, 2, v < 0.01)));
  }
  for (const row of nodes.slice(1)) {
    const points = row.map((i, k) => [xs[k], now(i)]).filter(([, v]) => v > 0);
    if (points.length)
      out.push(s("path", { d: `M${points.map(([px, v]) => `${px} ${place(v).toFixed(1)}`).join("L")}`, class: "mg-fm-line" }));
    for (const [px, v] of points) out.push(s("circle", { cx: px, cy: place(v).toFixed(1), r: 4, class: "mg-fm-dot" }));
  }
  return out;
}

/** @param {number} e */
const raised = (e) =>
  String(e)
    .replace("-", "⁻")
    .replace(/\d/g, (d) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(d)]);
