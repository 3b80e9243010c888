// A film in a notebook: what the kernel sends while the loop runs, and what it has when the loop has ended.

import { Film } from "./film.js";
import { pointsOf, Run } from "./run.js";

/** @import { About, Data } from "./run.js" */
/** @typedef {import("../loader.js").PartContext} PartContext */

/** @param {DataView|string} sent JSON as the kernel sends it */
const json = (sent) => JSON.parse(typeof sent === "string" ? sent : new TextDecoder().decode(sent));

/** @param {string} name @param {Blob} blob */
export function download(name, blob) {
  const a = document.createElement("a");
  a.href = URL.createObjectURL(blob);
  a.download = name;
  document.body.append(a);
  a.click();
  a.remove();
  setTimeout(() => URL.revokeObjectURL(a.href), 1000);
}

/** @param {PartContext} context */
export function render({ model, el, fail }) {
  /** @type {Film|null} */ let film = null;
  let gone = false;
  let queue = Promise.resolve();
  /** One after the other: decoding takes a moment. @param {() => Promise<void>|void} work */
  const then = (work) => {
    queue = queue.then(async () => {
      if (!gone) await work();
    });
    queue.catch(fail);
  };
  /** @param {Run[]} runs */
  const show = (runs) => {
    film?.destroy();
    const host = { file: download, html: () => model.send({ type: "html" }) };
    film = new Film(el, runs, host);
  };
  const all = async () => {
    /** @type {Data[]} */ const films = json(model.get("films"));
    if (film?.live && film.run.length === films[0].steps.length) {
      // the frames of the kernel have more digits than what is stored
      film.run.end(await Run.of(films[0]));
      film.setLive(false);
      return;
    }
    show(await Promise.all(films.map(Run.of)));
  };
  /** @param {any} content @param {DataView[]} buffers */
  const message = async (content, buffers) => {
    if (content.type === "file") {
      download(content.name, new Blob(/** @type {BlobPart[]} */ (buffers), { type: content.mime }));
      return;
    }
    if (content.type !== "frames" || !film) return;
    if (content.about && !film.run.length) {
      /** @type {About} */ const about = content.about;
      show([new Run(about, await pointsOf(about))]);
    }
    const { run } = film;
    if (content.every > run.every) run.thin(content.every);
    const known = run.length - content.from; // a message can begin anew, for a page that was opened later
    if (known < 0 || known >= content.steps.length) return;
    const [weights, grads] = buffers.map((b) =>
      new Float32Array(b.buffer.slice(b.byteOffset, b.byteOffset + b.byteLength)).subarray(known * run.n),
    );
    const rest = (/** @type {any[]} */ of) => of.slice(known);
    const before = known ? content.rates[known - 1] : content.before;
    const [steps, losses, rates, rows] = [content.steps, content.losses, content.rates, content.rows].map(rest);
    run.append({ steps, losses, before, rates, rows }, weights, grads);
    run.seen = content.seen;
    film.setLive(true);
    film.grew();
  };
  const onMessage = (/** @type {any} */ content, /** @type {DataView[]} */ buffers) => then(() => message(content, buffers));
  const onFilms = () => then(all);
  model.on("msg:custom", onMessage);
  model.on("change:films", onFilms);
  onFilms();
  return () => {
    gone = true;
    model.off("msg:custom", onMessage);
    model.off("change:films", onFilms);
    film?.destroy();
  };
}
