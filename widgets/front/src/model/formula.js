// A small typesetter: the formulas of rules ("g × (1 − out²)", "−a / b²") as MathML trees [tag, attributes, ...children]. Pure functions;
// dom.js makes the elements. What cannot be read as a formula stays as the words it is.

import { fmt, plainNumber } from "./numbers.js";

/** @typedef {[string, Record<string, string>, ...any[]]} Tree a child is a Tree or a text */

const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻",
  FLAT = "0123456789−";
const TOKEN =
  /\s*(?:(\d+(?:\.\d+)?(?:e[−-]?\d+)?)|((?:(?!ᵀ)\p{L}|_|…|∂)(?:(?!ᵀ)[\p{L}\p{Nd}_₀-₉])*(?:\[[^\]\s]*\]|\.[\p{L}_](?:(?!ᵀ)[\p{L}\p{Nd}_])*)*)|([⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+|ᵀ)|(.))/uy;
const WORDS = new Set([
  "if",
  "else",
  "where",
  "or",
  "and",
  "spread",
  "over",
  "in",
  "put",
  "back",
  "into",
  "zeros",
  "of",
  "each",
  "its",
  "place",
  "from",
  "to",
  "the",
  "summed",
  "rows",
  "only",
  "entries",
  "that",
  "were",
  "taken",
  "times",
  "all",
  "other",
  "others",
  "along",
  "order",
  "reversed",
  "cut",
  "apart",
  "at",
  "places",
]);
const SIGNS = /** @type {Record<string, string>} */ ({ "@": "", "×": "×", "·": "·", "-": "−" });

/** @param {string} tag @param {...any} children @returns {Tree} */
const el = (tag, ...children) => [tag, {}, ...children];
/** @param {Tree[]} items */
const line = (items) => (items.length === 1 ? items[0] : el("mrow", ...items));
/** @param {Tree} t @param {string} open @param {string} close */
const fenced = (t, open = "(", close = ")") => el("mrow", el("mo", open), t, el("mo", close));

/** What a formula looks like. `under` gives the words to be set under a name: the shape of a tensor, for instance.
 * @param {string} text @param {Record<string, string>} [under] @returns {Tree} */
export function typeset(text, under = {}) {
  /** @type {{kind: string, text: string, tight: boolean}[]} */
  const tokens = [];
  TOKEN.lastIndex = 0;
  for (let at = 0; at < text.length; at = TOKEN.lastIndex) {
    const m = TOKEN.exec(text);
    if (!m) break;
    const kind = m[1] ? "number" : m[2] ? (WORDS.has(m[2]) ? "word" : "name") : m[3] ? "raised" : "sign";
    tokens.push({ kind, text: m[1] ?? m[2] ?? m[3] ?? m[4], tight: text[at] !== " " });
  }
  let i = 0;
  const peek = () => tokens[i]?.text;
  /** @param {...string} texts */
  const take = (...texts) => (tokens[i] && tokens[i].kind !== "word" && texts.includes(tokens[i].text) ? tokens[i++] : null);

  /** A phrase: formulas, comparisons and words in a row. @param {string} end @returns {Tree} */
  function phrase(end) {
    const items = [];
    while (i < tokens.length && !(end !== "" && end.includes(peek()))) {
      const t = tokens[i];
      if (t.kind === "word") {
        const words = [];
        while (tokens[i]?.kind === "word") words.push(tokens[i++].text);
        items.push(el("mtext", ` ${words.join(" ")} `));
      } else if (t.kind === "sign" && "<>≤≥=≠,:→".includes(t.text)) items.push(el("mo", tokens[i++].text));
      else items.push(sum());
    }
    return line(items);
  }
  /** @returns {Tree} */
  function sum() {
    const items = [term()];
    for (let t; (t = take("+", "−", "-")); ) items.push(el("mo", t.text === "-" ? "−" : t.text), term());
    return line(items);
  }
  /** @returns {Tree} */
  function term() {
    const minus = take("−", "-");
    let left = minus ? line([el("mo", "−"), power()]) : power();
    for (;;) {
      const t = take("×", "·", "@", "/");
      if (t?.text === "/") left = el("mfrac", bare(left), bare(power()));
      else if (t)
        left = line([
          left,
          ...(SIGNS[t.text] ? [el("mo", SIGNS[t.text])] : [/** @type {Tree} */ (["mspace", { width: "0.25em" }])]),
          power(),
        ]);
      else if (tokens[i]?.tight && tokens[i].kind === "name" && tokens[i - 1]?.kind === "number")
        left = line([left, power()]); // 2u
      else return left;
    }
  }
  /** Without the brackets that a fraction bar makes needless. @param {Tree} t @returns {Tree} */
  const bare = (t) => (t[0] === "mrow" && t.length === 5 && t[2][2] === "(" && t[4][2] === ")" ? t[3] : t);
  /** @returns {Tree} */
  function power() {
    let base = atom();
    for (;;) {
      if (tokens[i]?.kind === "raised") {
        const r = tokens[i++].text;
        base = el("msup", base, r === "ᵀ" ? el("mi", "T") : el("mn", [...r].map((c) => FLAT[RAISED.indexOf(c)]).join("")));
      } else if (take("^")) base = el("msup", base, bare(take("−", "-") ? line([el("mo", "−"), atom()]) : atom()));
      else return base;
    }
  }
  /** @returns {Tree} */
  function atom() {
    const t = tokens[i++];
    if (!t) throw new SyntaxError(text);
    if (t.kind === "number") return el("mn", t.text.replace("-", "−"));
    if (t.kind === "sign" && t.text === "(") {
      const inner = phrase(")");
      i++;
      return fenced(inner);
    }
    if (t.kind === "sign" && t.text === "|") {
      const inner = phrase("|");
      i++;
      return fenced(inner, "|", "|");
    }
    if (t.kind !== "name") return el("mtext", t.text);
    if (peek() === "(" && tokens[i].tight) {
      i++;
      const args = [];
      while (i < tokens.length && peek() !== ")") {
        args.push(phrase(",)"));
        take(",");
      }
      i++;
      return call(t.text, args);
    }
    if (peek() === "[" && tokens[i].tight) {
      // g[…]
      i++;
      const inner = phrase("]");
      i++;
      return el("msub", name(t.text), inner);
    }
    return name(t.text);
  }
  /** @param {string} f @param {Tree[]} args @returns {Tree} */
  function call(f, args) {
    const [a, b, c] = args;
    if (f === "sqrt" && args.length === 1) return el("msqrt", a);
    if (f === "rsqrt" && args.length === 1) return el("mfrac", el("mn", "1"), el("msqrt", a));
    if (f === "exp" && args.length === 1) return el("msup", el("mi", "e"), a);
    if (f === "sum" && args.length === 2) return line([el("munder", el("mo", "∑"), b), fenced(a)]);
    if (f === "where" && args.length === 3) return line([b, el("mtext", " where "), a, el("mtext", ", else "), c]);
    const list = args.flatMap((x, k) => (k ? [el("mo", ","), x] : [x]));
    return line([
      ["mi", { mathvariant: "normal" }, f.replaceAll("_", " ")],
      el("mo", "⁡"),
      fenced(list.length ? line(list) : el("mtext", "")),
    ]);
  }
  /** @param {string} text @returns {Tree} */
  function name(text) {
    const mi = /** @type {Tree} */ (["mi", [...text].length > 1 ? { mathvariant: "normal" } : {}, text]);
    return under[text] ? el("munder", mi, ["mtext", { class: "mg-under" }, under[text]]) : mi;
  }
  try {
    const all = phrase("");
    if (i < tokens.length) throw new SyntaxError(text);
    return el("math", all);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return el("math", el("mtext", text));
  }
}

/** ∂y/∂x as a tree. @param {string} y @param {string} x @returns {Tree} */
export const partial = (y, x) => {
  const [top, bottom] = [y, x].map((t) =>
    line([el("mo", "∂"), /^[\p{L}_][\p{L}\p{N}_.[\]…]*$/u.test(t) ? typeset(t)[2] : fenced(typeset(t)[2])]),
  );
  return el("mfrac", top, bottom);
};

/** Several trees, from the second on with an equality sign: a formula each, so that a long equation can go on in the next line. @param {Tree[]} parts @returns {Tree[]} */
export const equation = (parts) => parts.map((p, k) => el("math", ...(k ? [el("mo", "=")] : []), ...(p[0] === "math" ? p.slice(2) : [p])));

/** The formula as plain text again, for tests and for screen readers without MathML. @param {any} t @returns {string} */
export const plain = (t) =>
  typeof t === "string"
    ? t
    : t[0] === "mfrac"
      ? `(${plain(t[2])})/(${plain(t[3])})`
      : t[0] === "msup"
        ? `${plain(t[2])}^${plain(t[3])}`
        : t.slice(2).map(plain).join("");

/** A formula with its labels replaced by their numbers: "2u" at u = 5 is "2·5".
 * @param {string} text @param {{label: string, value: number}[]} names */
export function withNumbers(text, names) {
  const known = names.filter((n) => n.label && !plainNumber(n.label)).sort((a, b) => b.label.length - a.label.length);
  if (!known.length) return text;
  const any = known.map((n) => n.label.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|");
  return text.replace(new RegExp(`(?<![\\p{L}_])(?:${any})(?![\\p{L}\\p{N}_])`, "gu"), (label, at) => {
    const value = known.find((n) => n.label === label)?.value ?? NaN;
    const number = value < 0 ? `(${fmt(value)})` : fmt(value);
    return (at > 0 && /[\d)]/.test(text[at - 1]) ? "·" : "") + number;
  });
}
