// The stored picture and the live view of one trace: the same texts at the same places, the same wires, colours and heat maps, at each step.
import { choice } from "../../widgets/front/src/picture/viewport.js";
import { View } from "../../widgets/front/src/view.js";
import { assert, cases, fakeModel, real, test } from "./harness.mjs";

const sheet = document.createElement("style");
sheet.textContent = await (await fetch("/widgets/front/dist/views.css")).text();
document.head.append(sheet);

const round = (x) => Math.round(Number(x));
const numbers = (d) => (d.match(/-?[\d.]+/g) ?? []).map(round).join(" ");
const pieces = (d) => d.split(/(?=M)/).map(numbers).sort().join("; ");
/** checkVisibility() takes a text in an SVG group that is not displayed for visible. */
function seen(e) {
  for (let g = e; g instanceof SVGElement; g = g.parentElement) {
    const style = getComputedStyle(g);
    if (style.display === "none" || style.opacity === "0" || style.visibility === "hidden") return false;
  }
  return true;
}

/** Where the groups around an element have moved it, up to `top`. */
function place(e, top) {
  let [x, y] = [0, 0];
  for (let g = e; g !== top; g = g.parentElement) {
    const [dx, dy] = (g.getAttribute("transform") ?? "").match(/-?[\d.]+/g) ?? [0, 0];
    [x, y] = [x + Number(dx), y + Number(dy)];
  }
  return [x, y];
}

/** What is written, and where. */
function texts(top) {
  const all = [...top.querySelectorAll("text")].filter((e) => e.textContent && seen(e));
  return all
    .map((e) => {
      const [x, y] = place(e, top);
      return `${e.textContent} at ${round(x + Number(e.getAttribute("x")))},${round(y + Number(e.getAttribute("y")))}`;
    })
    .sort();
}

/** Cells of heat maps: where, how dark, and whether marked as negative. */
function cells(top, kinds) {
  return [...top.querySelectorAll(kinds)]
    .map((e) => `${place(e, top).map(round)}: ${pieces(e.getAttribute("d"))}, ${Number(e.getAttribute("fill-opacity") ?? 1).toFixed(2)}`)
    .sort();
}

/** Lines and their states: idle, forward or backward. */
function wires(top, states) {
  return [...top.querySelectorAll("path")]
    .flatMap((e) => {
      const state = Object.keys(states).find((css) => e.matches(css));
      return state && seen(e) ? [`${states[state]} ${numbers(e.getAttribute("d"))}`] : [];
    })
    .sort();
}
const CELLS = { zero: ".h0", pos: ".hp", neg: ".hn", gpos: ".hgp", gneg: ".hgn", odd: ".hx", minus: ".hm" };
const STORED = { ".w.b": "backward", ".w.f": "forward", ".w": "idle" };
const LIVE = { ".mg-is-b > .mg-line-b": "backward", ".mg-is-f > .mg-line:not(.mg-line-b)": "forward", ".mg-is-idle > .mg-line:not(.mg-line-b)": "idle" };

for (const { name, state, stored } of cases.pictures) {
  test(`${name}: the stored picture is what the view shows`, () => {
    const model = fakeModel({ ...real(state), standalone: false });
    const view = new View(model, document.body, (error) => { throw error; });
    view.viewport.zoom = 1;
    const page = document.createElement("div");
    document.body.append(page);
    for (const [step, svg] of Object.entries(stored)) {
      model.set("step", Number(step));
      page.innerHTML = svg;
      const still = page.querySelector("svg > g");
      const live = view.scene.svg;
      const where = `${name}, step ${step}`;
      const differ = (a, b) => JSON.stringify({ "only live": a.filter((x) => !b.includes(x)), "only stored": b.filter((x) => !a.includes(x)) });
      const same = (a, b, what) => assert.deepEqual(a, b, `${where}, ${what}: ${differ(a, b)}`);
      same(texts(live), texts(still), "texts");
      same(wires(live, LIVE), wires(still, STORED), "wires");
      const tags = (top) => [...top.querySelectorAll("path")].flatMap((e) => (/z$/.test(e.getAttribute("d")) && /v?h[\d.]+l7/.test(e.getAttribute("d")) ? [`${place(e, top).map(round)}: ${numbers(e.getAttribute("d"))}`] : [])).sort();
      same(tags(live), tags(still), "tags");
      for (const [kind, css] of Object.entries(CELLS)) same(cells(live, `.mg-fm-${kind}`), cells(still, css), `cells of kind ${kind}`);
      const now = [...live.querySelectorAll(".mg-card.mg-now")].map((e) => place(e, live).map(round).join());
      same(Number(step) < view.state.total ? now : [], [...still.querySelectorAll(Number(step) > view.state.forward ? ".c.now" : ".c.f")].map((e) => place(e, still).map(round).join()), "the card of the event");
    }
    view.destroy();
  });
}

// ---- networks: every shape and text in the order of painting, with the colours, lines and letters that the browser makes of both

const GROUNDS = { light: ["#fff", "#1f2328"], dark: ["#14181d", "#e6edf3"] };
const NIGHT = "@media (prefers-color-scheme:dark){";

/** [red, green, blue, opacity], or null for none. @param {string} text */
function colour(text) {
  if (text === "none") return null;
  const [r, g, b, a = 1] = text.match(/-?[\d.]+(e-\d+)?/g).map(Number);
  return text.startsWith("color(") ? [255 * r, 255 * g, 255 * b, a] : [r, g, b, a];
}

const shown = (paint) => paint && paint[3] > 0;

/** Where a shape is and what is painted of it; null if nothing is. */
function shape(e, top) {
  const style = getComputedStyle(e);
  const [dx, dy] = place(e, top);
  const kind = e.tagName;
  const [fill, stroke] = [colour(style.fill), colour(style.stroke)];
  const value = (name) => Number(e.getAttribute(name) ?? 0);
  if (!seen(e) || !(shown(fill) || shown(stroke)) || (kind === "text" && !e.textContent)) return null;
  const at = { rect: ["x", "y", "width", "height", "rx"], circle: ["cx", "cy", "r"], text: ["x", "y"], path: [] }[kind].map(value);
  if (kind === "path") at.push(...e.getAttribute("d").match(/-?[\d.]+/g).map(Number));
  at[0] += dx;
  at[1] += dy;
  const out = { kind, text: kind === "text" ? e.textContent : "", at, look: {} };
  if (shown(fill) && kind !== "path") out.fill = [...fill.slice(0, 3), fill[3] * Number(style.fillOpacity)];
  const of = kind === "text" ? ["font-size", "font-weight", "text-anchor"] : [];
  if (shown(stroke)) {
    out.stroke = [...stroke.slice(0, 3), stroke[3]];
    of.push("stroke-width", "stroke-opacity", "stroke-dasharray", "paint-order");
    if (kind === "path") of.push("stroke-linecap");
  }
  for (const name of of) out.look[name] = style.getPropertyValue(name);
  if (kind === "text") out.look.mono = /mono/i.test(style.fontFamily);
  return out;
}

/** The shapes in the order in which they are painted. A tint over a face is one with it. @param {Element} top */
function shapes(top) {
  const out = [];
  for (const e of top.querySelectorAll("text, rect, circle, path")) {
    const one = shape(e, top);
    const last = out.at(-1);
    if (one?.fill && one.fill[3] < 1 && last) {
      const a = one.fill[3];
      if (String(one.at) === String(last.at)) last.fill = [...[0, 1, 2].map((k) => a * one.fill[k] + (1 - a) * last.fill[k]), 1];
    } else if (one) out.push(one);
  }
  return out;
}

const near = (a, b, by) => a.length === b.length && a.every((v, k) => Math.abs(v - b[k]) <= by);

/** What is not the same about two shapes. */
function differs(a, b) {
  if (!a || !b || a.kind !== b.kind || a.text !== b.text) return "another shape";
  if (!near(a.at, b.at, 0.11)) return "place";
  for (const name of ["fill", "stroke"]) if (!a[name] !== !b[name] || (a[name] && !near(a[name], b[name], 1.01))) return name;
  return Object.keys({ ...a.look, ...b.look }).find((k) => a.look[k] !== b.look[k] && !(Math.abs(Number.parseFloat(a.look[k]) - Number.parseFloat(b.look[k])) < 0.011)) ?? "";
}

for (const { name, state, drawn } of cases.networks) {
  test(`${name}: the stored network is the live one, shape by shape`, () => {
    const frame = document.createElement("div");
    document.body.append(frame);
    const model = fakeModel({ ...real(state), standalone: false });
    const view = new View(model, frame, (error) => { throw error; });
    const page = document.createElement("div").attachShadow({ mode: "open" }); // its style sheet is its own
    document.body.append(page.host);
    let count = 0;
    for (const theme of ["light", "dark"]) {
      const [ground, ink] = GROUNDS[theme];
      frame.style.cssText = `--jp-layout-color0: ${ground}; --jp-content-font-color0: ${ink}`;
      view.shell.root.dataset.mgTheme = theme;
      for (const [w, step, sample, svg] of drawn) {
        view.columns.flow(w);
        view.showSample(sample);
        model.set("step", step);
        page.innerHTML = theme === "dark" ? svg.replace(NIGHT, "").replace("}</style>", "</style>") : svg.replace(NIGHT, "@media not all{");
        const [live, still] = [shapes(view.scene.svg), shapes(page.querySelector("svg > g"))];
        const k = live.findIndex((one, i) => differs(one, still[i]));
        const where = `${w} pixels, step ${step}, sample ${sample}, ${theme}`;
        assert.ok(k < 0, `${where}: ${k < 0 || differs(live[k], still[k])}\nlive   ${JSON.stringify(live[k])}\nstored ${JSON.stringify(still[k])}`);
        assert.equal(live.length, still.length, `${where}: shapes`);
        count += live.length;
      }
    }
    assert.ok(count > 200, `only ${count} shapes were compared`);
    view.destroy();
  });
}

test("a page and a stage that shows words as large choose the same picture", () => {
  const chosen = new Set();
  for (const { pictures, stage, shown: k } of cases.choices) {
    const [wide, high] = stage;
    assert.equal(pictures.indexOf(choice(pictures, wide, () => high)), k, `${wide} pixels: ${JSON.stringify(pictures)}`);
    chosen.add(pictures[k].column ? "column" : k);
  }
  assert.ok(chosen.size > 3, [...chosen].join());
});
