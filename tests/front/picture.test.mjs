// The stored picture and the live view of one trace: the same texts at the same places, the same wires, colours and heat maps, at each step.
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
      for (const kind of "pnxm") same(cells(live, `.mg-heat-${kind}`), cells(still, `.h${kind}`), `cells of kind ${kind}`);
      const now = [...live.querySelectorAll(".mg-card.mg-now")].map((e) => place(e, live).map(round).join());
      same(Number(step) < view.state.total ? now : [], [...still.querySelectorAll(Number(step) > view.state.forward ? ".c.now" : ".c.f")].map((e) => place(e, still).map(round).join()), "the card of the event");
    }
    view.destroy();
  });
}
