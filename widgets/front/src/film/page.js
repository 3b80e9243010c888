// The script of a film without a kernel: one that was saved as one file, or those of the book's pages, which call `mgFilm`.

import { Film } from "./film.js";
import { Run } from "./run.js";
import { download } from "./view.js";

const source = `<!doctype html>\n${document.documentElement.outerHTML}`; // before anything is drawn: what "one HTML file" saves

/** @type {any} */ (window).mgFilm = async (/** @type {HTMLElement} */ el, /** @type {import("./run.js").Data[]} */ films) =>
  new Film(el, await Promise.all(films.map(Run.of)), { file: download });

async function open() {
  /** @type {import("./run.js").Data[]} */ const films = JSON.parse(document.getElementById("films")?.textContent ?? "[]");
  const runs = await Promise.all(films.map(Run.of));
  const el = /** @type {HTMLElement} */ (document.getElementById("film"));
  const html = () => download("film.html", new Blob([source], { type: "text/html" }));
  const film = new Film(el, runs, { file: download, html, link: true });
  const wanted = new URLSearchParams(location.hash.slice(1));
  const run = Number(wanted.get("run")) - 1;
  if (run > 0 && run < runs.length) film.choose(run);
  if (wanted.has("hero")) {
    el.classList.add("mf-hero");
    document.body.style.margin = "0";
    film.size();
    if (!film.still) setInterval(() => !film.playing && film.k >= film.last && film.play(), 2500);
  }
  if (wanted.get("step")) film.go(Number(wanted.get("step")) - 1);
  else if (!film.still) film.play();
  document.documentElement.dataset.ready = "yes";
}

if (document.getElementById("films")) open();
