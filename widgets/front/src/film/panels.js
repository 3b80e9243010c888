// Below the strip: this step by layers, the selected unit as an expression, the selected weight; and the loss along the step.

import { h } from "../dom.js";
import { fmt, plural } from "../model/numbers.js";
import { mark, text } from "./colours.js";
import { Curves } from "./curves.js";
import { GH, GW, largest } from "./maps.js";
import { button, onCanvas, prose, table } from "./ui.js";

/** @import { Film } from "./film.js" */
/** @import { Moment } from "./moment.js" */
/** @import { Run, Unit } from "./run.js" */

const norm = (/** @type {Iterable<number>} */ of) => Math.sqrt([...of].reduce((s, v) => s + v * v, 0));
const soft = (/** @type {string} */ words) => h("p", { class: "mf-soft" }, ...prose(words));

export class Panels {
  /** @param {Film} film */
  constructor(film) {
    this.film = film;
    this.left = h("div", {});
    this.right = h("div", {});
    this.el = h("div", { class: "mf-low" }, this.left, this.right);
    this.rows = h("div", { class: "mf-scroll", tabindex: 0, role: "region", "aria-label": "table of units" });
    this.details = h("details", { class: "mf-wide" }, h("summary", {}, "The same as a table"), this.rows);
    this.details.addEventListener("toggle", () => this.#table());
    this.curves = new Curves(film);
  }

  draw() {
    const { film } = this;
    const focused = film.root.contains(document.activeElement) ? document.activeElement : null;
    const key = focused?.closest(".mf-low") ? focused.getAttribute("data-key") : null;
    const m = film.now;
    if (film.run.length) {
      if (film.selected?.weight !== undefined) this.#weight(m, film.selected.weight);
      else if (film.selected?.unit !== undefined) this.#unit(m, film.selected.unit);
      else this.#step(m);
      this.#right(m);
    } else {
      this.left.replaceChildren();
      this.right.replaceChildren();
    }
    this.el.hidden = !film.run.length;
    this.details.hidden = !film.run.units.length;
    const again = key && (this.el.querySelector(`[data-key="${key}"]`) ?? this.el.querySelector('[data-key="close"]'));
    if (again) /** @type {HTMLElement} */ (again).focus({ preventScroll: true }); // else the keys of the film would reach nothing
    if (this.details.open) this.#table();
  }

  /** @param {(Node|string)[]} title @param {(Node|string)[]} tools */
  #head(title, tools = []) {
    return h("h3", {}, ...title, h("span", { class: "mf-grow" }), h("span", { class: "mf-group" }, ...tools));
  }

  #close() {
    return button("close", () => this.film.select(null), { "data-key": "close" });
  }

  // This step

  /** @param {Moment} m */
  #step(m) {
    const { film } = this;
    const behind = film.k >= film.run.length;
    const body = behind ? soft("There is no step after the last one.") : this.#layers(m);
    const hint = film.run.units.length ? soft("Click a unit to see its expression, or a wire to see how its weight moves.") : this.#names();
    this.left.replaceChildren(this.#head(["This step"]), body, ...this.#runs(), hint);
  }

  /** Weights to choose from, where there are no wires to click. */
  #names() {
    const { film } = this;
    const shown = film.run.names.slice(0, 12).map((name, p) => button(name, () => film.select({ weight: p }), { "data-key": `w${p}` }));
    return h("p", { class: "mf-soft mf-group mf-wrap" }, "Weights: ", ...shown, film.run.n > 12 ? ` and ${film.run.n - 12} more` : "");
  }

  /** @param {Moment} m */
  #layers(m) {
    const { film } = this;
    const { run } = film;
    /** @type {Map<string, number[]>} */ const groups = new Map();
    const add = (/** @type {string} */ name, /** @type {number[]} */ of) => groups.set(name, [...(groups.get(name) ?? []), ...of]);
    for (const u of run.units) {
      const name = u.layer === run.depth ? "output" : `layer ${u.layer}`;
      add(name, [...u.inputs.map((i) => i[2]), ...(u.bias < 0 ? [] : [u.bias])]);
    }
    if (!groups.size) add("all weights", Array.from(run.names.keys()));
    const after = film.after();
    const rows = [...groups].map(([name, all]) => {
      const of = [...new Set(all)];
      const size = norm(of.map((p) => m.w[p]));
      const moved = after ? norm(of.map((p) => after[p] - m.w[p])) : Number.NaN;
      const share = h("span", { class: "mf-source" }, ` (${fmt((100 * moved) / size, moved >= size ? 3 : 2)} %)`);
      const by = after ? h("span", {}, fmt(moved, 3), share) : "unknown";
      return [name, String(of.length), fmt(size, 3), m.g ? fmt(norm(of.map((p) => m.g?.[p] ?? 0)), 3) : "·", by];
    });
    return table(["layer", "weights", "size", "gradient", "moves by"], rows, [3]);
  }

  /** Two runs at this step. @returns {Node[]} */
  #runs() {
    const { film } = this;
    const { run, program, judge, branch } = film;
    const other = film.runs[film.other];
    if (!branch && !other) return [];
    const k = Math.min(film.k, run.length);
    const row = (/** @type {string} */ name, /** @type {Float64Array} */ w, /** @type {(k: number) => number} */ loss) => {
      const seen = Array.from({ length: Math.min(20, k) }, (_, i) => loss(k - 1 - i)).filter(Number.isFinite);
      const mean = seen.length ? seen.reduce((a, b) => a + b, 0) / seen.length : Number.NaN;
      const right = program && judge.decides ? String(judge.count(program, w)[0]) : "·";
      return [name, k < run.length ? fmt(loss(k), 3) : "·", Number.isNaN(mean) ? "·" : fmt(mean, 3), right, fmt(norm(w), 3)];
    };
    const rows = [row(run.about.name, run.weights(k), (i) => run.loss(i))];
    if (branch && k >= branch.from && branch.length)
      rows.push(row("the branch", branch.weights(k), (i) => (i < branch.from ? run.loss(i) : branch.loss(i))));
    if (other) rows.push(row(other.about.name, other.weights(Math.min(k, other.length)), (i) => other.loss(i)));
    const head = ["run", "loss", "mean of 20 steps", "points right", "size of weights"];
    return [h("h3", { class: "mf-second" }, "Two runs at this step"), table(head, rows)];
  }

  // One weight

  /** @param {Moment} m @param {number} p */
  #weight(m, p) {
    const { film } = this;
    const { run } = film;
    const g = m.g?.[p];
    const after = film.after()?.[p];
    const rate = film.rate();
    const cell = (/** @type {string} */ words, /** @type {string} */ name = "") => h("span", { class: name }, words);
    const small = (/** @type {string} */ words) => h("i", {}, words);
    const rule = h("div", { class: "mf-rule" });
    if (g === undefined || film.k >= run.length) rule.append(cell(film.w(m.w[p]), "mf-v"));
    else if (rate !== null && after !== undefined) {
      const gradient = g < 0 ? `(${fmt(g, 3)})` : fmt(g, 3);
      rule.append(cell(film.w(after), "mf-v"), cell("="), cell(film.w(m.w[p])), cell("−"));
      rule.append(h("span", {}, `${fmt(rate, 3)} · `, cell(gradient, "mf-g")));
      rule.append(small("new weight"), small(""), small("weight"), small(""), small("learning rate · gradient"));
    } else {
      rule.append(cell(after === undefined ? "unknown" : film.w(after), "mf-v"), cell("="), cell(film.w(m.w[p])));
      const by = after === undefined ? "" : fmt(Math.abs(after - m.w[p]), 3);
      rule.append(cell(after !== undefined && after < m.w[p] ? "−" : "+"), cell(by || "·"));
      rule.append(
        small("new weight"),
        small(""),
        small("weight"),
        small(""),
        h("i", {}, "the optimizer's step; gradient ", cell(fmt(g, 3), "mf-g")),
      );
    }
    const curve = h("canvas", { class: "mf-small", role: "img", "aria-label": `the weight ${run.names[p]} over the steps` });
    this.left.replaceChildren(this.#head([h("code", {}, run.names[p])], [this.#close()]), rule, curve);
    this.curves.history(curve, m, p);
  }

  // One unit

  /** @param {Moment} m @param {number} i */
  #unit(m, i) {
    const { film } = this;
    const { run } = film;
    const u = run.units[i];
    const at = film.stage.point(m);
    const of = m.of.get(at);
    const act = u.layer === run.depth && u.act === "linear" ? "the score" : u.act;
    if (!of) {
      this.left.replaceChildren(this.#head([h("code", {}, u.name), h("span", { class: "mf-soft" }, act)], [this.#close()]));
      return;
    }
    const j = m.rows.indexOf(at);
    const go = (/** @type {number} */ by) => {
      film.point = m.rows[(j + by + m.rows.length) % m.rows.length];
      film.refresh();
    };
    const x = run.points[at];
    const where = x.length <= 4 ? `: (${x.map((v) => fmt(v, 3)).join(", ")})` : "";
    const about = `${act} · point ${j + 1} of ${m.rows.length}${where}, label ${fmt(run.labels[at])}`;
    const tools = [
      button("‹", () => go(-1), { "aria-label": "previous point", "data-key": "before" }),
      button("›", () => go(1), { "aria-label": "next point", "data-key": "after" }),
      this.#close(),
    ];
    const picture = h("canvas", { class: "mf-small", "aria-hidden": "true" });
    const many =
      m.rows.length === 1
        ? ""
        : `Gradients here are this point's part; a weight's gradient is the sum over ${plural(m.rows.length, "point")}.`;
    this.left.replaceChildren(
      this.#head([h("code", {}, u.name), h("span", { class: "mf-soft" }, about)], tools),
      h("div", { class: "mf-parts" }, h("div", { class: "mf-scroll" }, this.#expression(m, i, at)), picture),
      soft(many),
    );
    this.#map(picture, m, i, at);
  }

  /** The unit in the order of the program: product, running sum, gradient. @param {Moment} m @param {number} i @param {number} at the point */
  #expression(m, i, at) {
    const { film } = this;
    const { run } = film;
    const u = run.units[i];
    const of = /** @type {import("./moment.js").OfPoint} */ (m.of.get(at));
    const d = of.d[i];
    const gradient = (/** @type {number} */ v) => (m.g && film.whole ? fmt(v, 3) : "·");
    const short = (/** @type {number} */ p) => {
      const name = run.names[p];
      const own = name.startsWith(u.name) ? name.slice(u.name.length) : name.slice(name.lastIndexOf(".") + 1);
      return own || name;
    };
    const weight = (/** @type {number} */ p) =>
      h(
        "span",
        {},
        button(short(p), () => film.select({ weight: p }), { "data-key": `w${p}`, class: "mf-link" }),
        ` ${film.w(m.w[p])}`,
      );
    let sum = 0;
    /** @type {(string|Node)[][]} */ const rows = [];
    const bias = () => {
      if (u.bias < 0) return;
      const first = rows.length === 0;
      sum += m.w[u.bias];
      rows.push([weight(u.bias), "bias", first ? "" : film.w(m.w[u.bias]), fmt(sum, 4), gradient(d)]);
    };
    const limit = 40;
    u.inputs.forEach(([column, unit, p], n) => {
      if (n === u.after) bias();
      const v = unit >= 0 ? of.out[unit] : run.points[at][column];
      sum += v * m.w[p];
      if (n >= limit) return;
      const name = unit >= 0 ? run.units[unit].name : `x${column + 1}`;
      const source = h("span", {}, "× ", h("span", { class: "mf-source" }, `${name} `), fmt(v, 4));
      rows.push([weight(p), source, fmt(v * m.w[p], 4), fmt(sum, 4), gradient(d * v)]);
    });
    if (u.inputs.length > limit) rows.push([`${u.inputs.length - limit} more`, "", "", fmt(sum, 4), ""]);
    if (u.after >= u.inputs.length) bias();
    rows.push([u.act === "linear" ? "result" : `${u.act}(sum)`, "", "", h("b", {}, fmt(of.out[i], 4)), gradient(d)]);
    return table(["weight", "× input", "product", "sum", "gradient"], rows, [4]);
  }

  /** @param {HTMLCanvasElement} canvas @param {Moment} m @param {number} i @param {number} at the point */
  #map(canvas, m, i, at) {
    const { film } = this;
    const { css } = film.colours;
    const { run, plane, judge } = film;
    onCanvas(canvas, 130, (c, full) => {
      const w = Math.min(full, 130);
      if (plane && m.maps) {
        const place = { x: 0, y: 0, w, h: (w * GH) / GW };
        const z = m.maps.out[i];
        const top = largest(z);
        c.drawImage(
          film.colours.picture("unit", GW, GH, (k) => z[k] / top, 0.72),
          0,
          0,
          place.w,
          place.h,
        );
        const [x, y] = plane.place(run.points[at], place);
        mark(c, film.colours, x, y, judge.kind(at), 4);
        c.strokeStyle = css.fwd;
        c.lineWidth = 2;
        c.beginPath();
        c.arc(x, y, 8, 0, 7);
        c.stroke();
        c.strokeStyle = css.line;
        c.lineWidth = 1;
        c.strokeRect(0.5, 0.5, place.w - 1, place.h - 1);
        const low = z.some((v) => v < 0) ? `−${fmt(top, 2)}` : "0";
        text(c, `output: ${low} to ${fmt(top, 2)}`, w / 2, place.h + 12, { px: 11, fill: css.soft });
      } else if (run.kind === "images" && run.units[i].layer === 1) {
        c.imageSmoothingEnabled = false;
        c.drawImage(film.stage.weightsOf(i, m.w), 0, 0, Math.min(w, 112), Math.min(w, 112));
        text(c, "its weights", Math.min(w, 112) / 2, Math.min(w, 112) + 11, { px: 11, fill: css.soft });
      }
    });
  }

  // The right side

  /** @param {Moment} m */
  #right(m) {
    const { film } = this;
    const behind = film.k >= film.run.length;
    if (behind) {
      this.right.replaceChildren(this.#head(["The whole run"]), this.#whole(m));
      return;
    }
    if (!film.whole || film.rate() === null || !m.g) {
      const why =
        film.live && film.k === film.last
          ? "The update of this step comes next. Then the loss along it is drawn here."
          : film.whole && film.program
            ? "This optimizer's step isn't a multiple of the gradient, so there is no line along which the loss could be drawn."
            : film.program
              ? "This is computed only where the page gets the recorded gradients, and here it does not: see below the film."
              : film.run.about.note;
      this.right.replaceChildren(...(film.run.kind === "images" ? this.#images() : [this.#head(["The loss along this step"]), soft(why)]));
      return;
    }
    const p = film.selected?.weight;
    const canvas = h("canvas", { class: "mf-small", role: "img" });
    const words = h("div", { class: "mf-soft" });
    this.right.replaceChildren(this.#head([p === undefined ? "The loss along this step" : "The loss over this weight"]), canvas, words);
    const told = p === undefined ? this.curves.along(canvas, m) : this.curves.over(canvas, m, p);
    words.textContent = told;
    canvas.setAttribute("aria-label", told);
  }

  /** Some images to choose from. */
  #images() {
    const { film } = this;
    const rows = film.now.rows.slice(0, 12);
    const buttons = rows.map((i) =>
      button(fmt(film.run.labels[i]), () => Object.assign(film, { point: i }).refresh(), {
        "aria-pressed": String(film.stage.point(film.now) === i),
        "data-key": `i${i}`,
      }),
    );
    return [
      this.#head(["Images of this step"]),
      h("div", { class: "mf-group mf-wrap" }, ...buttons),
      soft("Each button is an image by its label. The picture at the left is the one that goes in."),
    ];
  }

  /** @param {Moment} m */
  #whole(m) {
    const { film } = this;
    const { run, program } = film;
    const losses = run.frames.map((_, k) => film.loss(k)).map((v, k) => (Number.isNaN(v) ? run.loss(k) : v));
    const known = losses.filter(Number.isFinite);
    const low = losses.indexOf(Math.min(...known));
    const tail = known.slice(-20).reduce((a, b) => a + b, 0) / Math.min(20, known.length);
    const broken = losses.findIndex((v) => !Number.isFinite(v));
    const w0 = run.weights(0);
    let far = 0;
    for (let p = 1; p < run.n; p++) if (Math.abs(m.w[p] - w0[p]) > Math.abs(m.w[far] - w0[far])) far = p;
    const items = [
      `The loss starts at ${fmt(losses[0], 3)}. It is lowest at step ${run.step(low)}, ${fmt(losses[low], 3)}; the last ${plural(Math.min(20, known.length), "frame")} have ${fmt(tail, 3)} on average.`,
      `The weight that has moved farthest is \`${run.names[far]}\`, from ${film.w(w0[far], 3)} to ${film.w(m.w[far], 3)}.`,
    ];
    if (broken >= 0) items.push(`At step ${run.step(broken)} the loss is not a finite number.`);
    const relus = run.units.map((u, i) => ({ u, i })).filter(({ u }) => u.act === "relu");
    if (program && relus.length) {
      const alive = new Set();
      for (let i = 0; i < run.points.length && alive.size < relus.length; i++) {
        program.at(m.w, i);
        for (const { u, i: k } of relus) if (program.tape.v[u.out] > 0) alive.add(k);
      }
      const dead = relus.filter(({ i }) => !alive.has(i)).map(({ u }) => `\`${u.name}\``);
      const list = dead.slice(0, 4).join(", ") + (dead.length > 4 ? ", …" : "");
      items.push(
        dead.length
          ? `${plural(dead.length, "unit")} of ${relus.length} ${dead.length === 1 ? "gives" : "give"} 0 for every point (${list}). No gradient passes through ${dead.length === 1 ? "it" : "them"} any more.`
          : "Every ReLU is above 0 for some of the points.",
      );
    }
    return h("ul", {}, ...items.map((words) => h("li", {}, ...prose(words))));
  }

  #table() {
    const { film } = this;
    const { run } = film;
    if (!this.details.open || !run.length) return;
    const m = film.now;
    const some = (/** @type {Unit} */ u, /** @type {(p: number) => string} */ of) =>
      u.inputs
        .slice(0, 4)
        .map(([, , p]) => of(p))
        .join(", ") + (u.inputs.length > 4 ? ", …" : "");
    const rows = run.units.map((u, i) => [
      u.name,
      u.bias < 0 ? "none" : film.w(m.w[u.bias]),
      some(u, (p) => film.w(m.w[p])),
      m.g ? some(u, (p) => fmt(m.g?.[p] ?? 0, 3)) : "·",
      film.whole ? `${m.rows.filter((j) => m.of.get(j)?.d[i] !== 0).length} of ${m.rows.length}` : "unknown",
    ]);
    this.rows.replaceChildren(table(["unit", "bias", "weights", "gradients", "points that send it a gradient"], rows, [3]));
  }
}
