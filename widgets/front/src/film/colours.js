// The palette as a canvas needs it: colours resolved by the browser, and pictures of signed numbers in them.

/** @typedef {[number, number, number]} Rgb */

const NAMES = ["bg", "panel", "card", "ink", "soft", "faint", "line", "idle", "fwd", "fwd-soft", "bwd", "bwd-soft", "pos", "neg"];
const UI = 'system-ui, "Segoe UI", Helvetica, Arial, sans-serif';
const MONO = 'ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace';

/** A colour as red, green and blue, however a style sheet writes it. @param {CanvasRenderingContext2D} c @param {string} css @returns {Rgb} */
function resolved(c, css) {
  c.fillStyle = css;
  c.fillRect(0, 0, 1, 1);
  const [r, g, b] = c.getImageData(0, 0, 1, 1).data;
  return [r, g, b];
}

export class Colours {
  /** @type {Map<string, HTMLCanvasElement>} */ #pictures = new Map();

  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    /** @type {Record<string, string>} */ this.css = {};
    /** @type {Record<string, Rgb>} */ this.rgb = {};
    this.dark = false;
    /** A GIF has few colours, and is small where equal ones lie together. */
    this.flat = false;
    this.read();
  }

  /** Read the palette again: the theme has changed. */
  read() {
    const canvas = Object.assign(document.createElement("canvas"), { width: 1, height: 1 });
    const c = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { willReadFrequently: true }));
    const probe = document.createElement("span");
    this.root.append(probe);
    for (const name of NAMES) {
      probe.style.color = `var(--mg-${name})`;
      this.rgb[name] = resolved(c, getComputedStyle(probe).color);
      this.css[name] = `rgb(${this.rgb[name].join(", ")})`;
    }
    probe.remove();
    const [r, g, b] = this.rgb.bg;
    this.dark = 0.299 * r + 0.587 * g + 0.114 * b < 128;
    this.#pictures.clear();
  }

  /** A small picture of numbers between −1 and 1. @param {string} key one canvas is reused for each
   * @param {number} w @param {number} h @param {(i: number) => number} at @param {number} deep how strong the colour of 1 is
   * @param {string} pos @param {string} neg */
  picture(key, w, h, at, deep = 0.62, pos = "pos", neg = "neg") {
    return this.paint(key, w, h, (i) => {
      const t = Math.max(-1, Math.min(1, at(i)));
      return [t < 0 ? neg : pos, Math.abs(this.flat ? Math.round(t * 7) / 7 : t) * deep];
    });
  }

  /** The same with a colour and its strength for each place. @param {string} key @param {number} w @param {number} h
   * @param {(i: number) => [string, number]} at */
  paint(key, w, h, at) {
    const id = `${key} ${w} ${h}`;
    let canvas = this.#pictures.get(id);
    if (!canvas) {
      canvas = Object.assign(document.createElement("canvas"), { width: w, height: h });
      this.#pictures.set(id, canvas);
    }
    const c = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    const image = c.createImageData(w, h);
    const ground = this.rgb.card;
    for (let i = 0; i < w * h; i++) {
      const [name, strength] = at(i);
      const colour = this.rgb[name];
      for (let k = 0; k < 3; k++) image.data[4 * i + k] = ground[k] + (colour[k] - ground[k]) * strength;
      image.data[4 * i + 3] = 255;
    }
    c.putImageData(image, 0, 0);
    return canvas;
  }
}

/** @typedef {{px?: number, weight?: number, mono?: boolean, fill?: string, align?: CanvasTextAlign, halo?: string}} Style */

/** @param {CanvasRenderingContext2D} c @param {string} words @param {number} x @param {number} y @param {Style} style */
export function text(c, words, x, y, { px = 12, weight = 400, mono = false, fill = "", align = "center", halo = "" } = {}) {
  c.font = `${weight} ${px}px ${mono ? MONO : UI}`;
  c.textAlign = align;
  c.textBaseline = "middle";
  if (halo) {
    c.lineJoin = "round";
    c.strokeStyle = halo;
    c.lineWidth = 3;
    c.strokeText(words, x, y);
  }
  if (fill) c.fillStyle = fill;
  c.fillText(words, x, y);
}

/** The mark of a point: its kind is told by shape and by colour. @param {CanvasRenderingContext2D} c @param {Colours} colours
 * @param {number} x @param {number} y @param {number} kind 0, 1, 2, ... @param {number} size @param {number} ring thickness */
export function mark(c, colours, x, y, kind, size = 4.2, ring = 0) {
  c.beginPath();
  if (kind === 0) c.arc(x, y, size, 0, 7);
  else if (kind === 1) {
    c.moveTo(x, y - size * 1.2);
    c.lineTo(x + size * 1.12, y + size * 0.85);
    c.lineTo(x - size * 1.12, y + size * 0.85);
    c.closePath();
  } else c.rect(x - 0.88 * size, y - 0.88 * size, 1.76 * size, 1.76 * size);
  c.fillStyle = colours.css[KINDS[kind % KINDS.length]];
  c.strokeStyle = colours.css.bg;
  c.lineWidth = 1.2;
  c.fill();
  c.stroke();
  if (!ring) return;
  c.beginPath();
  c.arc(x, y, size + 2.5, 0, 7);
  c.strokeStyle = colours.css.bwd;
  c.lineWidth = ring;
  c.stroke();
}

/** The colours of the kinds of points. */
export const KINDS = ["pos", "neg", "fwd"];
export const SHAPES = ["●", "▲", "■"];
