// A recorded training run: what minigrad/film.py writes, read back, and what a kernel sends while it trains.

/** A unit: its affine sum and result as rows of the tape, its bias (a parameter, or -1) with how many products stand before it, and its
 * inputs as [column of the points or -1, unit or -1, parameter].
 * @typedef {{z: number, out: number, act: string, bias: number, after: number, layer: number, name: string,
 *   inputs: [number, number, number][]}} Unit */
/** @typedef {(string|number)[]} Row an operation of the tape, see minigrad/program/samples.py */
/** @typedef {{packed: string, columns: number}} Packed float16 numbers */
/** @typedef {{title: string, name: string, names: string[], note: string, engine: string, points?: number[][]|Packed, labels?: number[],
 *   tape?: Row[], coefficient?: number, rest?: Row[], units?: Unit[], whole?: boolean, boundary?: number, margins?: boolean,
 *   classes?: number[], inputs?: string[]}} About */
/** @typedef {About & {steps: number[], every: number, count: number, seen: number, losses: (number|null)[],
 *   rates: number|(number|null)[]|null, first: string, moves: string, grads: string, scales: [number, number][][],
 *   batches?: {sizes: number|number[], rows: string}}} Data */
/** @typedef {{step: number, w: Float64Array, g: Float64Array, loss: number, rate: number|null, rows: number[]|null}} Frame */

/** @param {string} text base64 of deflated bytes */
async function inflate(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Numbers whose low bytes come first, then all their next ones. @param {Uint8Array} bytes @param {number} size of a number */
function joined(bytes, size) {
  const n = bytes.length / size;
  const out = new Uint8Array(bytes.length);
  for (let i = 0; i < n; i++) for (let k = 0; k < size; k++) out[i * size + k] = bytes[k * n + i];
  return out.buffer;
}

/** @param {number} u the bits of a float16 */
function half(u) {
  const sign = u >> 15 ? -1 : 1;
  const exponent = (u >> 10) & 31;
  const fraction = u & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** @type {Float64Array|undefined} */
let table;
/** @param {string} text */
async function halves(text) {
  table ??= Float64Array.from({ length: 65536 }, (_, u) => half(u));
  const known = table;
  return Float64Array.from(new Uint16Array(joined(await inflate(text), 2)), (u) => known[u]);
}

/** @param {number|null|undefined} x a number that JSON had no word for is null */
const number = (x) => x ?? Number.NaN;

export class Run {
  /** @param {About} about @param {number[][]} points */
  constructor(about, points = []) {
    this.about = about;
    this.points = points;
    this.labels = about.labels ?? [];
    this.units = about.units ?? [];
    this.names = about.names;
    this.n = about.names.length;
    this.depth = Math.max(0, ...this.units.map((u) => u.layer));
    /** @type {Frame[]} */ this.frames = [];
    /** @type {Float64Array} the weights after the last step */
    this.last = new Float64Array(this.n);
    this.every = 1;
    this.seen = 0;
    /** Does a kernel still send frames? */
    this.growing = false;
    /** @type {number[]} */ this.everyPoint = points.map((_, i) => i);
    /** @type {{length: number, spikes: {k: number, mean: number}[]}|null} */ this.found = null;
    /** Digits of weights and of gradients: no more than are stored. */
    this.digits = [4, 3];
    /** Is every unit a circle, and its inputs two numbers? */
    this.kind = this.#kind();
  }

  #kind() {
    const columns = this.points[0]?.length ?? 0;
    if (!this.units.length) return "none";
    if (columns === 2) return "plane";
    return columns >= 16 && Math.sqrt(columns) % 1 === 0 ? "images" : "columns";
  }

  /** @param {Data} data */
  static async of(data) {
    const run = new Run(data, await pointsOf(data));
    await run.#read(data);
    return run;
  }

  /** @param {Data} data */
  async #read(data) {
    const { n } = this;
    const count = data.steps.length;
    this.every = data.every;
    this.seen = data.seen;
    if (!count) return;
    const [first, moves, grads] = [
      new Float32Array(joined(await inflate(data.first), 4)),
      await halves(data.moves),
      await halves(data.grads),
    ];
    const factors = data.scales.map((pairs) => {
      const of = new Float64Array(count).fill(1);
      for (const [k, s] of pairs) of[k] = s;
      return of;
    });
    const rows = data.batches ? new Uint16Array(joined(await inflate(data.batches.rows), 2)) : null;
    const sizes = data.batches?.sizes ?? 0;
    let at = 0;
    let w = Float64Array.from(first);
    for (let k = 0; k < count; k++) {
      const g = new Float64Array(n);
      const next = new Float64Array(n);
      for (let p = 0; p < n; p++) {
        g[p] = grads[p * count + k] * factors[1][k];
        next[p] = w[p] + moves[p * count + k] * factors[0][k];
      }
      const size = typeof sizes === "number" ? sizes : sizes[k];
      const rate = Array.isArray(data.rates) ? data.rates[k] : data.rates;
      const drawn = rows && size ? [...rows.subarray(at, at + size)] : null;
      at += size;
      this.frames.push({ step: data.steps[k], w, g, loss: number(data.losses[k]), rate, rows: drawn });
      w = next;
    }
    this.last = w;
  }

  get length() {
    return this.frames.length;
  }

  /** The weights before a frame's step; behind the last frame those after it. @param {number} k */
  weights(k) {
    return this.frames[k]?.w ?? this.last;
  }

  /** @param {number} k */
  grads(k) {
    return this.frames[k]?.g ?? null;
  }

  /** @param {number} k @returns {number} */
  loss(k) {
    return this.frames[k]?.loss ?? Number.NaN;
  }

  /** @param {number} k @returns {number|null} */
  rate(k) {
    return this.frames[Math.min(k, this.length - 1)]?.rate ?? null;
  }

  /** The points of a step. @param {number} k @returns {number[]} */
  rows(k) {
    return this.frames[Math.min(k, this.length - 1)]?.rows ?? this.everyPoint;
  }

  /** Is the loss of a step computed from only some of the points? */
  get draws() {
    return this.frames.some((f) => f.rows);
  }

  /** The weights after a frame's step: w − rate × gradient where that is known, else those of the next frame. @param {number} k */
  after(k) {
    const frame = this.frames[k];
    const next = this.frames[k + 1];
    if (!frame || (next ? next.step === frame.step + 1 : this.seen === frame.step && !this.growing)) return this.weights(k + 1);
    const { w, g, rate } = frame;
    return rate === null ? null : w.map((x, p) => x - rate * g[p]);
  }

  /** The number of a frame's step, from 1. @param {number} k */
  step(k) {
    return this.frames[k]?.step ?? this.seen + 1;
  }

  /** Steps at which the loss jumps: a third above the mean of the twelve before, a local maximum, above 4 % of the first losses.
   * @returns {{k: number, mean: number}[]} */
  get spikes() {
    if (this.found?.length === this.length) return this.found.spikes;
    const l = this.frames.map((f) => f.loss);
    const top = Math.max(...l.slice(0, 3));
    const out = [];
    for (let k = 1; k < l.length; k++) {
      const before = l.slice(Math.max(0, k - 12), k);
      const mean = before.reduce((s, v) => s + v, 0) / before.length;
      const peak = l[k] >= (l[k + 1] ?? 0) && l[k] >= l[k - 1];
      const broken = !Number.isFinite(l[k]) && Number.isFinite(l[k - 1]);
      if (broken || (l[k] > 1.35 * mean && l[k] > 0.04 * top && peak)) out.push({ k, mean, up: broken ? 1e300 : l[k] - mean });
    }
    const spikes = out
      .sort((a, b) => b.up - a.up)
      .slice(0, 7)
      .sort((a, b) => a.k - b.k);
    this.found = { length: this.length, spikes };
    return spikes;
  }

  /** Frames that a kernel has sent: weights and gradients as float32, frame by frame. The rate of the newest is not known yet, so it is
   * taken for the one before; `before` corrects that of the last message.
   * @param {{steps: number[], losses: (number|null)[], before: number|null, rates: (number|null)[], rows: (number[]|null)[]}} about
   * @param {Float32Array} weights @param {Float32Array} grads */
  append({ steps, losses, before, rates, rows }, weights, grads) {
    const { n } = this;
    this.digits = [6, 6];
    this.growing = true;
    const last = this.frames[this.length - 1];
    if (last) last.rate = before;
    steps.forEach((step, i) => {
      const [w, g] = [weights, grads].map((of) => Float64Array.from(of.subarray(i * n, (i + 1) * n)));
      const rate = i < steps.length - 1 ? rates[i] : (rates[i] ?? rates[i - 1] ?? before);
      this.frames.push({ step, w, g, loss: number(losses[i]), rate, rows: rows[i] });
    });
    this.last = this.frames[this.length - 1]?.w ?? this.last;
  }

  /** The loop has ended. @param {Run} whole the same film, as it is stored */
  end(whole) {
    this.growing = false;
    this.about.name = whole.about.name; // the variable has its value only now
    this.last = whole.last;
    this.seen = whole.seen;
    this.frames.forEach((frame, k) => {
      frame.rate = whole.frames[k].rate;
    });
  }

  /** Every second frame was dropped, so that the film stays small. @param {number} every */
  thin(every) {
    this.frames = this.frames.filter((f) => (f.step - 1) % every === 0);
    this.every = every;
  }

  /** Does this run belong to the same network? @param {Run} other */
  fits(other) {
    return this.n === other.n && this.units.length === other.units.length;
  }
}

/** @param {About} about @returns {Promise<number[][]>} */
export async function pointsOf({ points }) {
  if (!points || Array.isArray(points)) return points ?? [];
  const flat = await halves(points.packed);
  const count = flat.length / points.columns;
  return Array.from({ length: count }, (_, i) => Array.from({ length: points.columns }, (_, c) => flat[c * count + i]));
}
