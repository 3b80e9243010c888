// The script of a page without a kernel: an exported view (state in the page), or the book (states in files, asked for when they are near).

import { render } from "./lesson.js";
import { Opened } from "./opened.js";
import { PageModel } from "./page_model.js";
import { View } from "./view.js";

/** @import { Answer, State } from "./page_model.js" */

/** A lesson as a table: `at` finds a scene by the places of its controls; moves that lead elsewhere are in `moves`, as [place, state].
 * @typedef {{scenes: any[], at: Record<string, number>, moves: Record<string, Record<string, [any, string][]>>, start: string, film: any,
 *            pieces: string[], pictures: (number[])[], children: Record<string, State>}} Table */

/** Decode bytes that the kernel has encoded as base64. @param {string} _ @param {any} value */
const revive = (_, value) => (value?.$bytes === undefined ? value : Uint8Array.from(atob(value.$bytes), (c) => c.charCodeAt(0)).buffer);

/** A model whose children are views of the page. @param {State} state @param {Answer} [answer] */
function modelOf(state, answer) {
  const model = new PageModel(state, answer);
  model.widget_manager = {
    /** @param {string} id */
    get_model: async (id) => state.parts[id],
    /** @param {State} part */
    create_view: async (part) => {
      const el = document.createElement("div");
      new View(modelOf({ ...part }), el, fail);
      return { el, remove: () => el.remove(), trigger() {} };
    },
  };
  return model;
}

/** The model of a graph; if its cards open, one that answers. @param {any} data @param {(file: string) => Promise<State>} load */
function graphModel({ state, opens }, load) {
  if (!opens) return modelOf(state);
  const opened = new Opened(opens, { ...state }, load);
  return modelOf({ ...state, opens: true }, (content, model) => opened.answer(content, model));
}

/** @param {unknown} error */
function fail(error) {
  throw error;
}

/** What a recording holds: deflated JSON in base64. @param {string} text */
async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text(), revive);
}

/** A recorded view that moves. @param {any} data @param {(key: string) => Promise<State>} load its further pictures */
function moving(data, load) {
  const el = document.createElement("div");
  if (data.part === "lesson") {
    el.className = `mg-lesson ${data.kind}`;
    play(data.table, el);
  } else if (data.part === "film") film(el, data.films);
  else new View(graphModel(data, load), el, fail);
  return el;
}

const address = /** @type {HTMLScriptElement|null} */ (document.currentScript)?.src ?? "";

/** A film: its script is beside this one, and is loaded when the first of them is near. @param {HTMLElement} el @param {any[]} films */
function film(el, films) {
  const page = /** @type {any} */ (window);
  page.mgFilmLoaded ??= new Promise((yes, no) => {
    document.head.append(Object.assign(document.createElement("script"), { src: new URL("film.js", address), onload: yes, onerror: no }));
  });
  page.mgFilmLoaded.then(() => page.mgFilm(el, films));
}

/** The lesson that a table holds, moved by looking up where a move leads. @param {Table} table @param {HTMLElement} el */
function play(table, el) {
  /** @type {number[][]} */ const whole = [];
  /** A picture is the list of its pieces, or what differs from one before it. @param {number} n @returns {number[]} */
  const picture = (n) => {
    const row = table.pictures[n];
    if (!whole[n] && row[0] < 0) {
      whole[n] = [...picture(n + row[0])];
      for (let k = 1; k < row.length; k += 2) whole[n][row[k]] = row[k + 1];
    }
    whole[n] ??= row;
    return whole[n];
  };
  let here = table.start;
  /** @type {number|undefined} */ let moment; // of a film, which has all of them in each state
  /** @param {string} key */
  const recorded = (key) => table.scenes[table.at[key]].controls.find((/** @type {any} */ c) => c.name === table.film.at)?.value;
  /** @param {string} key @param {number} answers @param {string} [say] */
  const scene = (key, answers, say) => {
    const found = table.scenes[table.at[key]];
    const svg = picture(found.svg).map((k) => table.pieces[k]);
    const controls = found.controls.map((/** @type {any} */ c) =>
      moment !== undefined && c.name === table.film.at ? { ...c, value: moment } : c,
    );
    return { ...found, controls, svg: svg.join(""), answers, ...(say && { say, mood: "bad" }) };
  };
  const states = Object.keys(table.at).map((key) => ({ key, places: /** @type {any[]} */ (JSON.parse(key.split("\n")[0])) }));
  /** Where a move leads: to the nearest place that was recorded. @param {any} content @returns {string|undefined} */
  const target = ({ set, value, press }) => {
    const known = table.moves[here]?.[press ?? set] ?? [];
    if (press) return known[0]?.[1];
    const { places = [] } = states.find(({ key }) => key === here) ?? {};
    const i = table.scenes[table.at[here]].controls.findIndex((/** @type {any} */ c) => c.name === set);
    const plain = states.filter(
      (to) => !to.key.includes("\n") && to.places.length === places.length && to.places.every((p, k) => k === i || p === places[k]),
    );
    const all = [...known, ...plain.map((to) => /** @type {[any, string]} */ ([to.places[i], to.key]))];
    const far = (/** @type {[any, string]} */ [place]) => Math.abs(Number(place) - Number(value));
    return Number.isNaN(Number(value)) ? undefined : all.sort((a, b) => far(a) - far(b))[0]?.[1];
  };
  const parts = table.children;
  const model = modelOf({ ...table, parts, scene: scene(here, 0), children: table.scenes[table.at[here]].below }, (content) => {
    const rolls = table.film?.at && content.set === table.film.at;
    const to = rolls ? here : target(content);
    if (rolls) moment = content.value;
    else if (to && table.film?.at && recorded(to) !== recorded(here)) moment = undefined;
    here = to ?? here;
    const say = to ? "" : "That is not recorded. Run the cell, and Python answers.";
    const below = table.scenes[table.at[here]].below;
    if (`${below}` !== `${model.get("children")}`) model.set("children", below);
    model.set("scene", scene(here, content.number ?? 0, say));
  });
  render({ model: /** @type {any} */ (model), el, fail });
}

const own = document.getElementById("state");
if (own) {
  const model = modelOf(JSON.parse(own.textContent ?? "{}", revive));
  new View(model, /** @type {HTMLElement} */ (document.getElementById("view")), fail);
}

// The book. Its data are scripts that call `mgBook`: a page opened from a disk may load neither modules nor JSON.
const live = [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-live]"))];
if (live.length) {
  /** @type {Record<string, (text: string) => void>} */ const waiting = {};
  /** @type {any} */ (window).mgBook = (/** @type {string} */ key, /** @type {string} */ text) => waiting[key]?.(text);
  /** What a file holds. @param {string} from a folder @param {string} key */
  const fetched = async (from, key) => {
    /** @type {Promise<string>} */
    const arrived = new Promise((yes, no) => {
      waiting[key] = yes;
      document.head.append(Object.assign(document.createElement("script"), { src: `${from}/${key}.js`, onerror: no }));
    });
    return unpacked(await arrived);
  };
  /** @param {HTMLElement} figure */
  const open = async (figure) => {
    const { live = "", from = "" } = figure.dataset;
    const el = moving(await fetched(from, live), (key) => fetched(from, key));
    figure.append(el); // the stored picture stays behind it, for paper
    figure.dataset.open = "yes";
  };
  const near = new IntersectionObserver(
    (seen) => {
      for (const { target, isIntersecting } of seen) {
        if (!isIntersecting) continue;
        near.unobserve(target);
        const figure = /** @type {HTMLElement} */ (target);
        open(figure).catch((error) => {
          figure.dataset.open = "no";
          console.warn("The picture stays still:", error);
        });
      }
    },
    { rootMargin: "600px" },
  );
  for (const figure of live) near.observe(figure);
}

// A stored output of a notebook (tools/alive.py): the recording is in the page, behind the still picture, and this script beside it.
/** @type {any} */ (window).mgAlive = async (/** @type {HTMLElement} */ stored, /** @type {string} */ text) => {
  const el = moving(await unpacked(text), () => Promise.reject(new Error("only the first picture is stored")));
  for (const still of stored.querySelectorAll("img, p")) still.setAttribute("hidden", "");
  stored.append(el);
};
