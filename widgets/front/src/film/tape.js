// The learner's program, run again in the page: one tape for each sample, as it was recorded.

/** @import { About, Row } from "./run.js" */

const OPS = ["w", "x", "y", "is", "c", "+", "-", "*", "/", "**", "max", "min", "power", "neg", "abs", "exp", "log", "sin", "cos", "tanh"];
OPS.push("sigmoid", "sqrt", "relu", "step", "sign", "round");
const [
  W,
  X,
  Y,
  IS,
  C,
  ADD,
  SUB,
  MUL,
  DIV,
  POW,
  MAX,
  MIN,
  POWER,
  NEG,
  ABS,
  EXP,
  LOG,
  SIN,
  COS,
  TANH,
  SIGMOID,
  SQRT,
  RELU,
  STEP,
  SIGN,
  ROUND,
] = OPS.keys();

/** A tape that runs forward and backward on one sample. */
export class Tape {
  #op;
  #a;
  #b;
  #n;
  #m;

  /** @param {Row[]} rows */
  constructor(rows) {
    const count = rows.length;
    this.#op = new Int8Array(count);
    this.#a = new Int32Array(count);
    this.#b = new Int32Array(count);
    this.#n = new Float64Array(count);
    this.#m = new Float64Array(count);
    /** The number of each row, and its gradient. */
    this.v = new Float64Array(count);
    this.g = new Float64Array(count);
    for (const [i, row] of rows.entries()) this.#add(row, i);
  }

  /** @param {Row} row @param {number} i */
  #add(row, i) {
    const [name, a = 0, b = 0] = row;
    this.#op[i] = OPS.indexOf(String(name));
    if (this.#op[i] < 0) throw Error(`the page cannot compute ${name}`);
    if (name === "c") this.#n[i] = Number(a);
    else if (name === "y") [this.#m[i], this.#n[i]] = [Number(a), Number(b)];
    else {
      this.#a[i] = Number(a);
      if (name === "power") this.#n[i] = Number(b);
      else this.#b[i] = Number(b);
    }
  }

  /** @param {ArrayLike<number>} w @param {ArrayLike<number>} x @param {number} y */
  forward(w, x, y) {
    const v = this.v;
    const [op, a, b, n] = [this.#op, this.#a, this.#b, this.#n];
    for (let i = 0; i < op.length; i++) {
      const p = v[a[i]];
      const q = v[b[i]];
      switch (op[i]) {
        case W:
          v[i] = w[a[i]];
          break;
        case X:
          v[i] = x[a[i]];
          break;
        case Y:
          v[i] = this.#m[i] * y + n[i];
          break;
        case IS:
          v[i] = y === a[i] ? 1 : 0;
          break;
        case C:
          v[i] = n[i];
          break;
        case ADD:
          v[i] = p + q;
          break;
        case SUB:
          v[i] = p - q;
          break;
        case MUL:
          v[i] = p * q;
          break;
        case DIV:
          v[i] = p / q;
          break;
        case POW:
          v[i] = p ** q;
          break;
        case POWER:
          v[i] = p ** n[i];
          break;
        case MAX:
          v[i] = Math.max(p, q);
          break;
        case MIN:
          v[i] = Math.min(p, q);
          break;
        default:
          v[i] = one(op[i], p);
      }
    }
    return v[op.length - 1];
  }

  /** The gradients of the last row, times `seed`, are added to `out`, a number for each parameter. @param {number} seed @param {Float64Array} out */
  backward(seed, out) {
    const { v, g } = this;
    const [op, a, b, n] = [this.#op, this.#a, this.#b, this.#n];
    g.fill(0);
    g[op.length - 1] = seed;
    for (let i = op.length - 1; i >= 0; i--) {
      const d = g[i];
      if (d === 0) continue;
      const A = a[i];
      const B = b[i];
      switch (op[i]) {
        case W:
          out[A] += d;
          break;
        case X:
        case Y:
        case IS:
        case C:
          break;
        case ADD:
          g[A] += d;
          g[B] += d;
          break;
        case SUB:
          g[A] += d;
          g[B] -= d;
          break;
        case MUL:
          g[A] += d * v[B];
          g[B] += d * v[A];
          break;
        case DIV:
          g[A] += d / v[B];
          g[B] -= (d * v[A]) / v[B] ** 2;
          break;
        case POW:
          g[A] += d * v[B] * v[A] ** (v[B] - 1);
          g[B] += d * v[i] * Math.log(v[A]);
          break;
        case POWER:
          g[A] += d * n[i] * v[A] ** (n[i] - 1);
          break;
        case MAX:
          g[v[A] > v[B] ? A : B] += d;
          break;
        case MIN:
          g[v[A] < v[B] ? A : B] += d;
          break;
        default:
          g[A] += d * slope(op[i], v[A], v[i]);
      }
    }
  }
}

/** A function of one number. @param {number} op @param {number} p */
function one(op, p) {
  switch (op) {
    case NEG:
      return -p;
    case ABS:
      return Math.abs(p);
    case EXP:
      return Math.exp(p);
    case LOG:
      return Math.log(p);
    case SIN:
      return Math.sin(p);
    case COS:
      return Math.cos(p);
    case TANH:
      return Math.tanh(p);
    case SIGMOID:
      return 1 / (1 + Math.exp(-p));
    case SQRT:
      return Math.sqrt(p);
    case RELU:
      return p > 0 ? p : 0;
    case STEP:
      return p > 0 ? 1 : 0;
    case SIGN:
      return Math.sign(p);
    case ROUND:
      return Math.round(p);
  }
  return Number.NaN;
}

/** Its derivative. @param {number} op @param {number} p @param {number} out */
function slope(op, p, out) {
  switch (op) {
    case NEG:
      return -1;
    case ABS:
      return Math.sign(p);
    case EXP:
      return out;
    case LOG:
      return 1 / p;
    case SIN:
      return Math.cos(p);
    case COS:
      return -Math.sin(p);
    case TANH:
      return 1 - out * out;
    case SIGMOID:
      return out * (1 - out);
    case SQRT:
      return 0.5 / out;
    case RELU:
      return p > 0 ? 1 : 0;
    case STEP:
    case SIGN:
    case ROUND:
      return 0; // flat wherever there is a derivative
  }
  return Number.NaN;
}

/** The loss of a step: a tape for each sample, and one of the parameters alone. */
export class Program {
  /** @param {About} about @param {number[][]} points */
  constructor(about, points) {
    this.tape = new Tape(about.tape ?? []);
    this.rest = about.rest?.length ? new Tape(about.rest) : null;
    this.coefficient = about.coefficient ?? 1;
    this.points = points;
    this.labels = about.labels ?? [];
  }

  /** The numbers of one point, in `tape.v`. @param {ArrayLike<number>} w @param {number} i */
  at(w, i) {
    return this.tape.forward(w, this.points[i], this.labels[i]);
  }

  /** @param {ArrayLike<number>} w @param {number[]} rows */
  loss(w, rows) {
    let sum = 0;
    for (const i of rows) sum += this.at(w, i);
    return sum * this.coefficient + (this.rest?.forward(w, [], 0) ?? 0);
  }

  /** Loss and gradients. @param {ArrayLike<number>} w @param {number[]} rows @param {(i: number, loss: number) => void} [each] */
  run(w, rows, each) {
    const grads = new Float64Array(w.length);
    let sum = 0;
    for (const i of rows) {
      const loss = this.at(w, i);
      sum += loss;
      this.tape.backward(this.coefficient, grads);
      each?.(i, loss);
    }
    let loss = sum * this.coefficient;
    if (this.rest) {
      loss += this.rest.forward(w, [], 0);
      this.rest.backward(1, grads);
    }
    return { loss, grads };
  }
}
