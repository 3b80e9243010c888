// A neuron opened in its place: inputs × weights = products, their sum with the bias, the activation as a curve with its point.

import { fmt } from "../model/numbers.js";
import { curve } from "./geometry.js";
import { gradText, short } from "./numbers.js";

/** @import { Attributes } from "../dom.js" */
/** @import { Inner } from "../types" */
/** @import { Geometry } from "./geometry.js" */
/** @import { Network, Sample } from "./numbers.js" */
/** @import { Moment } from "../model/moment.js" */

/** @typedef {(key: string, tag: keyof SVGElementTagNameMap, attributes: Attributes, text?: string) => SVGElement} Put */

/** Activations that can be drawn: the function, and its slope. @type {Record<string, [(z: number) => number, (z: number) => number]>} */
export const CURVES = {
  tanh: [Math.tanh, (z) => 1 - Math.tanh(z) ** 2],
  relu: [(z) => Math.max(0, z), (z) => Number(z > 0)],
  sigmoid: [(z) => 1 / (1 + Math.exp(-z)), (z) => Math.exp(-z) / (1 + Math.exp(-z)) ** 2],
  linear: [(z) => z, () => 1],
  exp: [Math.exp, Math.exp],
};
const SPAN = 2.6; // of z, to both sides
const MAPPED = 8; // samples from which on they are drawn as points
const SHADES = 4; // of a sign, by size

/** An opened neuron and its progress. `inner` exists once the kernel has sent the neuron's operations.
 * @typedef {{network: Network, sample: Sample, cell: number, column: number, inner: Inner|null, now: Moment, known: boolean, before: boolean,
 *   arrived: boolean, sent: boolean, active: number, product: number}} Opened product: the parameter of the multiplication that is open, or -1 */

/** Where the rows of the inputs stand. @param {Geometry} at @param {number} k @param {number} n */
export function rowOf(at, k, n) {
  const [top, bottom] = [at.low + 78, at.h - 66];
  const pitch = Math.min(62, (bottom - top) / n);
  return (top + bottom) / 2 + (k - (n - 1) / 2) * pitch;
}

/** One input of a neuron, as far as it is known: null is not yet.
 * @typedef {{source: number, parameter: number, input: number, weight: number, product: number|null, added: boolean, back: boolean,
 *   grad: number|null, fresh: boolean}} Term added: to the sum; back: the gradient has come to the product */

/** What a neuron weighs and adds up. @param {Opened} o @returns {Term[]} */
export function termsOf({ network, sample, cell, inner, now, known, sent, active }) {
  const { plan, weights } = network;
  return plan.wires
    .filter((l) => l.target === cell && l.parameter >= 0)
    .map(({ source, parameter }) => {
      const of = inner?.products.find((p) => p.parameter === parameter);
      const [input, weight] = [sample.values[source], weights[parameter]];
      const arrived = of ? now.got[of.weight] > 0 : sent;
      return {
        ...{ source, parameter, input, weight },
        product: (of ? !!now.known[of.product] : known) ? input * weight : null,
        added: of ? !!now.known[of.sum] : known,
        back: of ? now.got[of.product] > 0 : sent,
        grad: !arrived ? null : of ? now.sums[of.weight] : sample.deltas[cell] * input,
        fresh: !!of && (active === of.product || active === of.sum),
      };
    });
}

/** The parameters that meet no input, each with its gradient as far as it is known.
 * @param {Opened} o @returns {{parameter: number, value: number, grad: number|null}[]} */
export function biasesOf({ network, sample, cell, inner, now, sent }) {
  const { plan, weights } = network;
  const met = new Set(plan.wires.filter((l) => l.target === cell).map((l) => l.parameter));
  const own = plan.parameters.flatMap((p, k) => (p.cell === cell && !met.has(k) ? [/** @type {[number, number]} */ ([k, -1])] : []));
  return (inner ? inner.biases : own).map(([parameter, node]) => {
    const arrived = inner ? now.got[node] > 0 : sent;
    return { parameter, value: weights[parameter], grad: !arrived ? null : inner ? now.sums[node] : sample.deltas[cell] };
  });
}

/** Is its sum known, and has the gradient come to it? @param {Opened} o */
export const sumOf = ({ inner, now, known, sent }) => ({
  summed: inner ? !!now.known[inner.sums] : known,
  deltaKnown: inner ? now.got[inner.sums] > 0 : sent,
});

/** @param {Put} put @param {Geometry} at @param {Opened} o */
export function drawNeuron(put, at, o) {
  const { network, sample, cell, column } = o;
  const { plan } = network;
  const [x0, x1] = at.low ? [14, at.w - 14] : [at.panel, at.x[column] - at.r - 14];
  const w = x1 - x0;
  const terms = termsOf(o);
  const n = terms.length;
  const wide = w >= 400;
  const size = n > 8 ? 11 : 12;
  const pill = n > 8 ? 17 : 24;
  const [cx, cw, cp, cs, ct] = [wide ? 30 : 24, w * 0.262, w * 0.462, w * 0.635, w * 0.85].map((v) => x0 + v);
  const half = wide ? 46 : 28;
  const ys = rowOf(at, (n - 1) / 2, n);
  const text = (
    /** @type {string} */ key,
    /** @type {number} */ x,
    /** @type {number} */ y,
    /** @type {string} */ t,
    kind = "",
    font = size,
  ) => put(key, "text", { x: x.toFixed(1), y: y.toFixed(1), class: `mg-net-number ${kind}`, style: `font-size:${font}px` }, t);
  put("p", "rect", { x: x0, y: at.low || 30, width: w, height: at.h - (at.low || 30) - 28, rx: 12, class: "mg-net-panel" });
  if (!at.low) put("pt", "path", { d: `M${x1} ${at.y[cell] - 6}l7 6l-7 6z`, class: "mg-net-tip" });
  put(
    "pn",
    "text",
    { x: x0 + 12, y: (at.low || 30) + 20, class: "mg-net-name mg-net-left" },
    plan.cells[cell].name.replace(`${plan.name}.`, ""),
  );
  const z = sample.sums[cell];
  const { summed, deltaKnown } = sumOf(o);
  terms.forEach(({ source, parameter, input: a, weight: v, product, added, back, grad, fresh }, k) => {
    const y = rowOf(at, k, n);
    text(`px${k}`, cx, y + 4, short(a), o.before ? "mg-net-value" : "mg-net-soft");
    text(`pm${k}`, (cx + 18 + cw - half) / 2, y + 4, "×", "mg-net-soft");
    const name = plan.parameters[parameter].short;
    const chosen = { class: `mg-net-weight mg-net-${v < 0 ? "neg" : "pos"}`, "data-parameter": parameter };
    put(`pr${k}`, "rect", { x: cw - half, y: y - pill / 2, width: 2 * half, height: pill, rx: 6, ...chosen });
    const beside = wide && n <= 8 && name.length < 7;
    text(`pw${k}`, cw, y + 4, `${beside ? `${name} ` : ""}${short(v)}`);
    if (!beside && rowOf(at, 1, n) - rowOf(at, 0, n) >= 58 && name.length < 9)
      text(`pwn${k}`, cw, y - pill / 2 - 4, name, "mg-net-soft", 11);
    if (grad !== null && n <= 6) text(`pg${k}`, cw, y + pill / 2 + 13, gradText(grad), "mg-net-grad", 11);
    text(`pe${k}`, (cw + half + cp - 20) / 2, y + 4, "=", "mg-net-soft");
    const kindOf = product === null ? "mg-net-soft" : "mg-net-value";
    const opens = {
      x: cp - 26,
      y: y - pill / 2,
      width: 52,
      height: pill,
      rx: 6,
      class: `mg-net-product${o.product === parameter ? " mg-net-fresh" : ""}`,
    };
    const called = `${name} times ${plan.cells[source].short}; Enter opens the multiplication`;
    put(`po${k}`, "rect", { ...opens, "data-product": parameter, role: "button", tabindex: 0, "aria-label": called });
    text(`pp${k}`, cp, y + 4, product === null ? "·" : short(product), `${kindOf}${fresh ? " mg-net-fresh" : ""}`);
    const d = curve(cp + 24, y, cs - 21, ys + (k - (n - 1) / 2) * Math.min(7, 26 / n));
    const kind = back ? "mg-net-bwd" : `mg-net-${a * v < 0 ? "neg" : "pos"}`;
    put(`ps${k}`, "path", { d, class: `mg-net-wire ${kind}`, "stroke-width": 2, "stroke-opacity": added || back ? 0.9 : 0.25 });
  });
  const biases = biasesOf(o);
  if (biases.length === 1) {
    const [{ parameter, value: v, grad }] = biases;
    const yb = Math.min(at.h - 66, ys + 78);
    put("pb", "path", {
      d: `M${cs} ${yb - 13}L${cs} ${ys + 21}`,
      class: `mg-net-wire ${deltaKnown ? "mg-net-bwd" : "mg-net-fwd"}`,
      "stroke-width": 1.6,
    });
    put("pbr", "rect", {
      x: cs - 34,
      y: yb - 12,
      width: 68,
      height: 24,
      rx: 6,
      class: `mg-net-weight mg-net-${v < 0 ? "neg" : "pos"}`,
      "data-parameter": parameter,
    });
    text("pbt", cs, yb + 4, `${plan.parameters[parameter].short.slice(0, 3)} ${short(v)}`);
    if (grad !== null) text("pbg", cs, yb + 27, gradText(grad), "mg-net-grad", 11);
  }
  put("pc", "circle", { cx: cs, cy: ys, r: 21, class: `mg-net-box ${summed ? "mg-net-known" : "mg-net-wait"}` });
  put("pcs", "text", { x: cs, y: ys - 27, class: "mg-net-name", style: "font-size:15px" }, "Σ");
  text("pcz", cs, ys + 4, summed ? short(z) : "·", "mg-net-value", 11);
  if (deltaKnown) text("pcg", cs, ys - 46, gradText(sample.deltas[cell]), "mg-net-grad", 11);
  drawActivation(put, text, at, o, { cs, ct, ys, w, x1, z, summed, deltaKnown });
  const open = terms.find((t) => t.parameter === o.product);
  const beside = x1 - cp - 44 >= 260; // else it lies over the products
  const [left, top] = [beside ? cp + 34 : x0 + 8, (at.low || 30) + 32];
  if (open) drawProduct(put, o, open, { x: left, y: top, w: x1 - left - (beside ? 10 : 8), h: at.h - top - 38 });
  else if (o.known) drawMap(put, o, ct, { top: ys + Math.min(40, w * 0.09) + 30, bottom: at.h - 40, most: w * 0.18 + 12 });
}

/** One multiplication as an area: a side for each factor, which is also the local derivative with respect to the other one; and once the
 * gradient has come, what each of the two gets.
 * @param {Put} put @param {Opened} o @param {Term} term @param {{x: number, y: number, w: number, h: number}} room */
function drawProduct(put, { network, sample, cell, sent }, { source, parameter, input, weight, back }, room) {
  const { plan } = network;
  const [wn, xn] = [plan.parameters[parameter].short, plan.cells[source].short];
  const text = (
    /** @type {string} */ key,
    /** @type {number} */ x,
    /** @type {number} */ y,
    /** @type {string} */ t,
    kind = "",
    left = true,
  ) => put(key, "text", { x, y, class: `mg-net-number ${left ? "mg-net-left " : ""}${kind}`, style: "font-size:11.5px" }, t);
  const { x, y, w, h } = room;
  put("qb", "rect", { x, y, width: w, height: h, rx: 10, class: "mg-net-multiplication", "data-product": parameter });
  put("qt", "text", { x: x + 12, y: y + 20, class: "mg-net-name mg-net-left" }, `${wn} × ${xn}`);
  const [lines, level] = [3 + (back || sent ? 3 : 0), w >= 420]; // level: the words stand beside the area
  const side = Math.max(20, level ? Math.min(w - 300, h - 70, 150) : Math.min(w - 130, h - 62 - lines * 17, 150));
  const most = Math.max(Math.abs(weight), Math.abs(input)) || 1;
  const [a, b] = [weight, input].map((v) => Math.max(6, (Math.abs(v) / most) * side));
  const [left, top] = [x + 64, y + 50];
  const kind = weight * input < 0 ? "neg" : "pos";
  put("qa", "rect", { x: left, y: top, width: a, height: b, rx: 3, class: `mg-net-area mg-net-${kind}` });
  put("qe", "path", { d: `M${left} ${top - 5}h${a}`, class: `mg-net-edge mg-net-${weight < 0 ? "neg" : "pos"}` });
  put("qf", "path", { d: `M${left - 5} ${top}v${b}`, class: `mg-net-edge mg-net-${input < 0 ? "neg" : "pos"}` });
  text("qw", left, top - 11, `${wn} ${short(weight)}`);
  text("qx", left - 10, top + b / 2 + 4, short(input), "mg-net-end", false);
  if (b > 16 && a > 40) text("qp", left + a / 2, top + b / 2 + 4, short(weight * input), "mg-net-value", false);
  let at = level ? y + 44 : top + b + 22;
  const begins = level ? x + Math.max(150, 84 + side) : x + 12;
  const say = (/** @type {string} */ key, /** @type {string} */ t, kind = "") => {
    text(key, begins, at, t, kind);
    at += 17;
  };
  say("q1", `${short(weight)} × ${short(input)} = ${short(weight * input)}`, "mg-net-value");
  say("q2", `∂/∂${wn} = ${xn} = ${short(input)}`);
  say("q3", `∂/∂${xn} = ${wn} = ${short(weight)}`);
  if (!back && !sent) return;
  const g = sample.deltas[cell];
  say("q4", `gradient ${fmt(g, 3)} comes back:`, "mg-net-grad");
  say("q5", `${fmt(g, 3)} × ${short(input)} = ${fmt(g * input, 3)} to ${wn}`, "mg-net-grad");
  say("q6", `${fmt(g, 3)} × ${short(weight)} = ${fmt(g * weight, 3)} to ${xn}`, "mg-net-grad");
}

/** What the neuron computed of each sample that the program ran, over the first two inputs of the network: green where it is positive,
 * violet rings where it is negative, stronger where it is larger. The sample that is looked at has a ring around it.
 * @param {Put} put @param {Opened} o @param {number} x the middle @param {{top: number, bottom: number, most: number}} room */
function drawMap(put, { network, sample, cell }, x, { top, bottom, most: wide }) {
  const { plan } = network;
  const [a, b] = plan.columns[0].cells;
  const size = Math.min(wide, 100, bottom - top - 28);
  if (plan.samples < MAPPED || b === undefined || size < 60) return;
  const all = Array.from({ length: plan.samples }, (_, k) => network.sample(k).values).map((v) => [v[a], v[b], v[cell]]);
  const range = [0, 1].map((k) => [Math.min(...all.map((p) => p[k])), Math.max(...all.map((p) => p[k]))]);
  const most = Math.max(...all.map((p) => Math.abs(p[2]))) || 1;
  if (![...range.flat(), most].every(Number.isFinite)) return;
  const along = (/** @type {number} */ v, /** @type {number} */ k) => (v - range[k][0]) / (range[k][1] - range[k][0] || 1) - 0.5;
  const inner = size - 14;
  const place = (/** @type {number[]} */ p) =>
    [x + along(p[0], 0) * inner, top + size / 2 - along(p[1], 1) * inner].map((v) => v.toFixed(1));
  put("pm", "rect", { x: x - size / 2, y: top, width: size, height: size, rx: 8, class: "mg-net-behind" });
  for (const kind of ["pos", "neg"]) {
    for (let k = 0; k < SHADES; k++) {
      const part = all.filter(
        (p) => p[2] < 0 === (kind === "neg") && Math.min(SHADES - 1, Math.floor((Math.abs(p[2]) / most) * SHADES)) === k,
      );
      const d = part.map((p) => `M${place(p).join(" ")}m-2.2 0a2.2 2.2 0 1 0 4.4 0a2.2 2.2 0 1 0 -4.4 0`).join("");
      put(`pm${kind}${k}`, "path", { d, class: `mg-net-spot mg-net-${kind}`, opacity: (0.25 + (0.75 * (k + 1)) / SHADES).toFixed(2) });
    }
  }
  const [cx, cy] = place([sample.values[a], sample.values[b]]);
  put("pmn", "circle", { cx, cy, r: 5, class: "mg-net-here-spot" });
  const names = [a, b].map((i) => plan.cells[i].short);
  put("pmt", "text", { x, y: top + size + 13, class: "mg-net-small" }, `${names[0]} →, ${names[1]} ↑`);
  put("pmu", "text", { x, y: top + size + 27, class: "mg-net-small" }, `output, ${plan.samples} samples`);
}

/** The activation with its point, and in the backward pass the tangent there.
 * @param {Put} put @param {(key: string, x: number, y: number, t: string, kind?: string, font?: number) => void} text @param {Geometry} at
 * @param {Opened} o @param {{cs: number, ct: number, ys: number, w: number, x1: number, z: number, summed: boolean, deltaKnown: boolean}} p */
function drawActivation(put, text, at, o, { cs, ct, ys, w, x1, z, summed, deltaKnown }) {
  const name = o.network.plan.columns[o.column].about.split(" × ").pop() ?? "";
  const [f, df] = CURVES[name] ?? [];
  const [tw, th] = [w * 0.09, Math.min(40, w * 0.09)];
  const top = name === "tanh" || name === "sigmoid" ? 1 : SPAN;
  const tx = (/** @type {number} */ v) => ct + (Math.max(-SPAN, Math.min(SPAN, v)) / SPAN) * tw;
  const ty = (/** @type {number} */ v) => ys - (Math.max(-top, Math.min(top, v)) / top) * th * 0.85;
  const line = deltaKnown ? "mg-net-bwd" : "mg-net-fwd";
  put("pl", "path", { d: `M${cs + 21} ${ys}L${ct - tw - 6} ${ys}`, class: `mg-net-wire ${line}`, "stroke-width": 1.8 });
  put("pf", "rect", { x: ct - tw - 6, y: ys - th - 6, width: 2 * tw + 12, height: 2 * th + 12, rx: 8, class: "mg-net-behind" });
  put("pa", "path", { d: `M${ct - tw} ${ys}H${ct + tw}M${ct} ${ys - th}V${ys + th}`, class: "mg-net-axis" });
  put("pfn", "text", { x: ct, y: ys - th - 13, class: "mg-net-name" }, name);
  if (f) {
    const points = Array.from({ length: 53 }, (_, q) => (q - 26) / 10);
    put("pk", "path", { d: `M${points.map((q) => `${tx(q).toFixed(1)} ${ty(f(q)).toFixed(1)}`).join("L")}`, class: "mg-net-curve" });
    const slope = df(z);
    const [dx, at0] = [Math.min(0.9, 0.9 / Math.max(0.4, Math.abs(slope))), Math.max(-SPAN, Math.min(SPAN, z))];
    if (deltaKnown && summed) {
      const [a, b] = [at0 - dx, at0 + dx].map((q) => `${tx(q).toFixed(1)} ${ty(f(at0) + (q - at0) * slope).toFixed(1)}`);
      put("pkt", "path", { d: `M${a}L${b}`, class: "mg-net-tangent" });
      text("pks", ct, ys + th + 22, `slope ${fmt(slope, 2)}`, "mg-net-grad", 11);
    }
    if (summed) put("pkp", "circle", { cx: tx(z), cy: ty(f(z)), r: 4, class: deltaKnown ? "mg-net-dot-b" : "mg-net-dot" });
  } else text("pkq", ct, ys + 4, "f", "mg-net-soft", 15);
  const out = o.arrived ? "mg-net-bwd" : "mg-net-fwd";
  put("po", "path", {
    d: curve(ct + tw + 6, ys, x1, at.low ? ys : at.y[o.cell]),
    class: `mg-net-wire ${out}`,
    "stroke-width": 1.8,
    "stroke-opacity": o.known ? 1 : 0.3,
  });
}
