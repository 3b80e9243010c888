// Files of a film: a GIF of the run, and a poster of the step that is shown.

import { text } from "./colours.js";
import { encode } from "./gif.js";

/** @import { Film } from "./film.js" */

const GIF = { width: 640, frames: 44, delay: 9, last: 220 }; // delays in hundredths of a second
const POSTER = { width: 1200, scale: 2 };

/** The stage and the strip at a step, on a canvas from its corner. Returns its height. @param {Film} film @param {CanvasRenderingContext2D} c
 * @param {number} width @param {number} k @param {string} title */
function drawn(film, c, width, k, title) {
  const { k: at, sweep, selected } = film;
  Object.assign(film, { k, sweep: 0, selected: null });
  film.stage.size(width);
  film.stage.draw(c);
  const high = film.stage.layout.H;
  const scale = film.strip.scale(width);
  c.save();
  c.translate(0, high);
  film.strip.curve(c, scale);
  film.strip.cursor(c, scale);
  c.restore();
  if (title) text(c, title, width - 16, 18, { px: 13, weight: 600, align: "right", fill: film.colours.css.fwd });
  Object.assign(film, { k: at, sweep, selected });
  return high + scale.H;
}

/** The page as it was. @param {Film} film */
function restore(film) {
  film.colours.flat = false;
  film.size();
}

/** @param {number} width @param {number} height */
function canvasOf(width, height) {
  const canvas = Object.assign(document.createElement("canvas"), { width, height });
  return { canvas, c: /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { willReadFrequently: true })) };
}

/** @param {Film} film @param {number} [width] */
function heightOf(film, width = GIF.width) {
  film.stage.size(width);
  return film.stage.layout.H + film.strip.scale(width).H;
}

/** More frames at the beginning, where most is learnt. @param {number} length */
export function moments(length) {
  const all = Array.from({ length: GIF.frames + 1 }, (_, i) => Math.round(length * (i / GIF.frames) ** 1.5));
  return [...new Set(all)];
}

/** @param {Film} film @returns {Promise<Blob>} */
export async function gif(film) {
  film.stop();
  film.colours.flat = true;
  const { width } = GIF;
  const height = Math.ceil(heightOf(film));
  const { c } = canvasOf(width, height);
  const images = [];
  for (const k of moments(film.run.length)) {
    drawn(film, c, width, k, `step ${film.run.step(Math.min(k, film.run.length - 1))}`);
    images.push(c.getImageData(0, 0, width, height).data);
    if (images.length % 6 === 0) await new Promise((done) => setTimeout(done));
  }
  restore(film);
  return new Blob([/** @type {BlobPart} */ (encode(images, width, height, GIF.delay, GIF.last))], { type: "image/gif" });
}

/** @param {Film} film @returns {Promise<Blob>} */
export async function poster(film) {
  film.stop();
  const { width, scale } = POSTER;
  const height = Math.ceil(heightOf(film, width)) + 92;
  const { canvas, c } = canvasOf(width * scale, height * scale);
  const { css } = film.colours;
  c.scale(scale, scale);
  c.fillStyle = css.bg;
  c.fillRect(0, 0, width, height);
  text(c, "The film of a training run", 26, 34, { px: 24, weight: 650, align: "left", fill: css.ink });
  const { about, seen } = film.run;
  text(c, `${about.title}, ${film.run.n} weights, ${seen} steps · ${about.engine}`, 26, 62, { px: 14, align: "left", fill: css.soft });
  c.translate(0, 80);
  drawn(film, c, width, film.k, "");
  restore(film);
  return new Promise((yes, no) => canvas.toBlob((blob) => (blob ? yes(blob) : no(Error("no picture"))), "image/png"));
}
