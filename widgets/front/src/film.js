// The film's player: everything is here already, so that stepping, playing and scrubbing never ask the kernel.
// What lives here: sliders, buttons, keys, and setting each changing element to the moment. What does not: what is drawn (widgets/film.py).

import { followTheme } from "./theme.js";

/** @typedef {{label: string, body: string, says: string[]}} Take */
/** @typedef {{get: (name: string) => any, set: (name: string, value: any) => void, save_changes: () => void, on: (name: string, run: () => void) => void, off: (name: string, run: () => void) => void}} Model */

const FRAME = 110,
  CALM = 700; // milliseconds between two moments; the second where motion is to be reduced

/** @param {Element} svg @param {number} k */
function setMoment(svg, k) {
  /** @param {string} name @param {(e: Element, text: string) => void} run */
  const each = (name, run) => {
    for (const e of svg.querySelectorAll(`[data-${name}]`)) run(e, e.getAttribute(`data-${name}`) ?? "");
  };
  /** @param {string[]} items */
  const at = (items) => items[Math.min(k, items.length - 1)];
  each("points", (e, text) =>
    e.setAttribute(
      "points",
      text
        .split(" ")
        .slice(0, k + 1)
        .join(" "),
    ),
  );
  each("move", (e, text) => e.setAttribute("transform", `translate(${at(text.split(" "))})`));
  each("text", (e, text) => {
    e.textContent = at(text.split("|"));
  });
  each("on", (e, text) => {
    const on = text.split(" ").some((span) => {
      const [a, b] = span.split("-").map(Number);
      return a <= k && k <= b;
    });
    e.setAttribute("visibility", on ? "visible" : "hidden");
  });
}

/** @param {{model: Model, el: HTMLElement}} context */
export function render({ model, el }) {
  const root = document.createElement("div");
  root.className = "mg-film mg-instrument";
  root.tabIndex = 0;
  root.dataset.lmSuppressShortcuts = "true";
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", "A film: arrow keys step, Home and End jump, Space plays");
  root.innerHTML = `<div class="mg-film-stage"></div><div class="mgl say" role="status" aria-live="polite"></div>
    <div class="mg-film-row"><button type="button" class="mg-button" data-do="-1">◀ back</button><button type="button" class="mg-button" data-do="play">▶ play</button>
    <button type="button" class="mg-button" data-do="1">step ▶</button><label><span></span><input class="mg-slider" type="range" min="0" step="1"><output role="none"></output></label>
    <label class="mg-film-take"><span></span><input class="mg-slider" type="range" min="0" step="1"><output role="none"></output></label></div>`;
  /** @template {Element} T @param {string} css @returns {T} */
  const find = (css) => /** @type {T} */ (root.querySelector(css));
  const stage = find(".mg-film-stage"),
    say = find(".say"),
    play = find("[data-do=play]");
  const [step, pick] = /** @type {HTMLInputElement[]} */ ([...root.querySelectorAll("input")]);
  const [stepSays, pickSays] = [...root.querySelectorAll("output")];
  const [stepName, pickName] = [...root.querySelectorAll("label > span")];
  let timer = 0,
    drawn = "",
    k = 0,
    chosen = 0,
    alive = true;

  /** @returns {Take[]} */
  const takes = () => model.get("takes");
  const last = () => takes()[chosen].says.length - 1;

  function draw() {
    const take = takes()[chosen];
    if (!take) return;
    k = Math.min(Math.max(k, 0), last());
    const whole = model.get("ground").replace('<g class="film"></g>', `<g class="film">${take.body}</g>`);
    if (whole !== drawn) stage.innerHTML = drawn = whole;
    const svg = stage.querySelector("svg");
    if (svg) {
      setMoment(svg, k);
      svg.setAttribute("aria-label", take.says[k]);
    }
    say.textContent = take.says[k];
    [stepName.textContent, pickName.textContent] = model.get("names");
    step.max = String(last());
    step.value = String(k);
    stepSays.textContent = `${k} of ${last()}`;
    step.setAttribute("aria-valuetext", stepSays.textContent);
    pick.max = String(takes().length - 1);
    pick.value = String(chosen);
    pickSays.textContent = take.label;
    pick.setAttribute("aria-valuetext", take.label);
    find(".mg-film-take").toggleAttribute("hidden", takes().length < 2);
    for (const slider of [step, pick]) slider.style.setProperty("--at", `${(100 * Number(slider.value)) / (Number(slider.max) || 1)}%`);
    play.textContent = timer ? "❚❚ pause" : "▶ play";
    root.dataset.at = String(k);
  }

  /** Tell the kernel where we stand: when we rest, not for every frame. */
  function rest() {
    if (!alive) return;
    if (model.get("at") !== k) model.set("at", k);
    if (model.get("take") !== chosen) model.set("take", chosen);
    model.save_changes();
  }

  function pause() {
    clearInterval(timer);
    timer = 0;
    say.setAttribute("aria-live", "polite");
    draw();
    rest();
  }

  function start() {
    if (k >= last()) k = 0;
    say.setAttribute("aria-live", "off");
    timer = window.setInterval(
      () => {
        if (k >= last()) pause();
        else {
          k += 1;
          draw();
        }
      },
      matchMedia("(prefers-reduced-motion: reduce)").matches ? CALM : FRAME,
    );
    draw();
  }

  /** @param {number} to */
  function go(to) {
    k = to;
    if (timer) pause();
    else {
      draw();
      rest();
    }
  }

  root.addEventListener("click", (event) => {
    const what = /** @type {HTMLElement} */ (event.target).dataset.do;
    if (what === "play") {
      if (timer) pause();
      else start();
    } else if (what) go(k + Number(what));
  });
  step.addEventListener("input", () => go(Number(step.value)));
  pick.addEventListener("input", () => {
    chosen = Number(pick.value);
    go(k);
  });
  root.addEventListener("keydown", (event) => {
    if (/^(Arrow|Home|End)/.test(event.key)) event.stopPropagation(); // the notebook would take the arrows from the sliders
    if (event.target !== root) return;
    const to = { ArrowRight: k + 1, ArrowLeft: k - 1, Home: 0, End: last() }[event.key];
    if (to !== undefined) go(to);
    else if (event.key === " ") {
      if (timer) pause();
      else start();
    } else return;
    event.preventDefault();
  });

  function follow() {
    k = model.get("at");
    chosen = model.get("take");
    draw();
  }
  const lost = () => {
    alive = false;
  }; // the kernel is gone: everything here goes on
  model.on("comm_live_update", lost);
  const watched = ["change:takes", "change:ground", "change:take", "change:at", "change:names"];
  for (const name of watched) model.on(name, follow);
  el.append(root);
  follow();
  const unfollow = followTheme(root);
  return () => {
    unfollow();
    clearInterval(timer);
    for (const name of watched) model.off(name, follow);
    model.off("comm_live_update", lost);
  };
}
