// Numbers as people read them. Pure functions; the same rules as minigrad/words.py.

/** A number of the trace; NaN where there is none. @param {number|string|null|undefined} v */
export function num(v) {
  if (typeof v === "number") return v;
  return v === "inf" ? Infinity : v === "-inf" ? -Infinity : NaN;
}

/** Six digits and a true minus sign.
 * @param {number} v @param {number} [digits] @param {boolean} [power] always with a power of ten */
export function fmt(v, digits = 6, power = false) {
  if (Number.isNaN(v)) return "nan";
  if (!Number.isFinite(v)) return v > 0 ? "inf" : "−inf";
  if (v === 0) return "0";
  const size = Math.abs(v);
  const [head, tail] = v.toExponential(digits - 1).split("e");
  const plain = !power && size >= 1e-4 && size < 10 ** digits;
  const text = plain ? String(Number(v.toPrecision(digits))) : `${Number(head)}e${tail.replace("+", "")}`;
  return text.replaceAll("-", "−");
}

/** The number in at most `room` characters, with as many digits as that allows, but never fewer than two: −1.5 is not −2.
 * @param {number} v @param {number} room */
export function fit(v, room) {
  for (let digits = 6; digits > 1; digits--) {
    for (const power of [false, true]) {
      const text = fmt(v, digits, power);
      if (text.length <= room) return text;
    }
  }
  const plain = fmt(v, 2);
  const withPower = fmt(v, 2, true);
  return withPower.length < plain.length ? withPower : plain;
}

/** Is this text nothing but a number? @param {string} text */
export const plainNumber = (text) => /^[−-]?[\d.]+(e[−-]?\d+)?$|^(nan|[−-]?inf)$/.test(text.trim());

/** Cut a long name to `room` characters. A path such as model.layers[0].w[1] keeps its end, which tells it apart.
 * @param {string} name @param {number} room */
export function tail(name, room) {
  if (name.length <= room) return name;
  return /[.[]/.test(name) ? `…${name.slice(1 - room)}` : `${name.slice(0, room - 1)}…`;
}

/** "1 node", "2 nodes". @param {number} n @param {string} noun */
export const plural = (n, noun) => `${n} ${noun}${n === 1 ? "" : "s"}`;

/** "**bold** plain" as pieces. @param {string} text @returns {{bold: boolean, text: string}[]} */
export const pieces = (text) =>
  text
    .split("**")
    .map((t, i) => ({ bold: i % 2 === 1, text: t }))
    .filter((p) => p.text);

/** Stroke width of an edge: the logarithm of how much it carries, relative to the most that any edge carries.
 * @param {number} amount @param {number} most */
export function width(amount, most) {
  const a = Math.abs(amount);
  if (!Number.isFinite(a) || !(most > 0) || !Number.isFinite(most)) return 2;
  return 1.5 + 2.5 * (Math.log1p((9 * a) / most) / Math.log(10));
}
