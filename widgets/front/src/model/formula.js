// A small typesetter: the formulas of the engine, which travel as trees (minigrad/tracing/notation.py), as MathML [tag, attributes,
// ...children]. Pure functions; dom.js makes the elements.

import { fmt } from "./numbers.js";

/** @typedef {[string, Record<string, string>, ...any[]]} Tree MathML: a child is a Tree or a text */
/** @typedef {[string, ...any[]]} Formula [head, ...parts] */
/** How the leaves of a formula are written: a node's label, its number, and a text under a name, such as a tensor's shape.
 * @typedef {{label: (node: number) => string, value?: (node: number) => number|undefined, under?: Record<string, string>}} Leaves */

const [SUM, NEGATIVE, PRODUCT, TIGHT, ATOM] = [1, 1.5, 2, 3, 4]; // how tightly a formula holds together

/** Operators: their sign, how tightly they hold, and how tightly each part has to. @type {Record<string, [string, number, number[]]>} */
const OPERATORS = {
  "+": ["+", SUM, [0, PRODUCT]],
  "−": ["−", SUM, [0, PRODUCT]],
  "×": ["×", PRODUCT, [NEGATIVE, TIGHT]],
  "@": ["", PRODUCT, [NEGATIVE, TIGHT]],
  times: ["·", PRODUCT, [0, TIGHT]],
  ...Object.fromEntries([">", "<", "≥", "≤", "=", "≠"].map((sign) => [sign, [sign, SUM, [0, 0]]])),
};

/** Words around formulas, with the place of each part. @type {Record<string, (string|number)[]>} */
const PHRASES = {
  or: [0, " or ", 1],
  and: [0, " and ", 1],
  if: [0, " if ", 1, ", else ", 2],
  where: [0, " where ", 1, " > 0, else 0"],
  spread: [0, " spread over ", 1],
  in: [0, " in ", 1],
  zeros: [0, " put back into zeros"],
  view: ["view of ", 0],
  written: [0, " with ", 1, " written into it"],
};

/** @param {string} tag @param {...any} children @returns {Tree} */
const el = (tag, ...children) => [tag, {}, ...children];
/** @param {Tree[]} items */
const line = (items) => (items.length === 1 ? items[0] : el("mrow", ...items));
/** @param {Tree} t @param {string} open @param {string} close */
const fenced = (t, open = "(", close = ")") => el("mrow", el("mo", open), t, el("mo", close));
/** @param {Tree[]} items */
const listed = (items) => line(items.flatMap((x, k) => (k ? [el("mo", ","), x] : [x])));
/** A name of several letters stands upright. @param {string} text @returns {Tree} */
const name = (text) => ["mi", [...text].length > 1 ? { mathvariant: "normal" } : {}, text];

/** The precedence of a node's label inside a formula: u is an atom, 3x a product, a + b a sum. @param {string} text */
function levelOfLabel(text) {
  const bare = text.replace(/\[.*?\]|\(.*?\)/g, "");
  return / /.test(bare) ? SUM : text.startsWith("−") ? NEGATIVE : /^[\d.]+\p{L}/u.test(bare) ? PRODUCT : ATOM;
}

/** @param {Formula} formula @param {Leaves} leaves @returns {string|null} the text of a leaf */
function leafText([head, part], { label, value }) {
  if (head !== "node") return ["name", "number", "words"].includes(head) ? part : null;
  const number = value?.(part);
  return number === undefined ? label(part) : fmt(number);
}

/** @param {Formula} formula @param {Leaves} leaves */
function levelOf(formula, leaves) {
  if (!Array.isArray(formula)) return ATOM;
  const text = leafText(formula, leaves);
  if (text !== null) return levelOfLabel(text);
  const [head] = formula;
  return OPERATORS[head]?.[1] ?? (PHRASES[head] ? SUM : ({ "/": PRODUCT, neg: NEGATIVE, "^": TIGHT }[head] ?? ATOM));
}

/** @param {Formula} formula @param {Leaves} leaves @returns {Tree} */
function lay(formula, leaves) {
  if (!Array.isArray(formula)) return el("mtext", String(formula)); // a shape, a dimension
  const [head, ...parts] = formula;
  const text = leafText(formula, leaves);
  if (text !== null) return leaf(head, text, leaves);
  /** @param {number} k @param {number} needs */
  const part = (k, needs = 0) => {
    const t = lay(parts[k], leaves);
    const minus = k > 0 && (head === "+" || head === "−") && (parts[k][0] === "neg" || leafText(parts[k], leaves)?.startsWith("−"));
    return levelOf(parts[k], leaves) < needs || minus ? fenced(t) : t;
  };
  if (head === "/") return el("mfrac", part(0), part(1));
  if (head === "^") return el("msup", part(0, ATOM), part(1));
  if (head === "T") return el("msup", part(0, ATOM), el("mi", "T"));
  if (head === "neg") return line([el("mo", "−"), part(0, TIGHT)]);
  if (head === "abs") return fenced(part(0), "|", "|");
  if (head === "tuple") return fenced(listed(parts.map((p) => lay(p, leaves))));
  if (head === "call") return call(parts[0], parts.slice(1), leaves);
  if (head === "method") return line([part(0, ATOM), el("mo", "."), call(parts[1], parts.slice(2), leaves)]);
  if (head === ".") return line([part(0, ATOM), el("mo", "."), name(parts[1])]);
  if (head === "[]") return el("msub", part(0, ATOM), name(parts[1]));
  const operator = OPERATORS[head];
  if (operator) {
    const [sign, , needs] = operator;
    const between = head === "times" && isName(parts[1], leaves) ? [] : [sign ? el("mo", sign) : space()];
    return line([part(0, needs[0]), ...between, part(1, needs[1])]);
  }
  const phrase = PHRASES[head];
  if (!phrase) throw new Error(`no formula is called ${head}`);
  return line(phrase.map((x) => (typeof x === "number" ? part(x) : el("mtext", x))));
}

/** @returns {Tree} */
const space = () => ["mspace", { width: "0.25em" }];

/** Does 2u need no sign between 2 and u? @param {Formula} formula @param {Leaves} leaves */
const isName = (formula, leaves) => /^\p{L}/u.test(leafText(formula, leaves) ?? "(") || levelOf(formula, leaves) < TIGHT;

/** @param {string} head @param {string} text @param {Leaves} leaves @returns {Tree} */
function leaf(head, text, { under }) {
  if (head === "words") return el("mtext", text);
  if (head === "number" || /^[−\d]/.test(text)) return el("mn", text);
  return under?.[text] ? el("munder", name(text), ["mtext", { class: "mg-under" }, under[text]]) : name(text);
}

/** @param {string} f @param {Formula[]} parts @param {Leaves} leaves @returns {Tree} */
function call(f, parts, leaves) {
  const args = parts.map((p) => (Array.isArray(p) ? lay(p, leaves) : el("mtext", String(p))));
  const [a, b, c] = args;
  if (f === "sqrt" && args.length === 1) return el("msqrt", a);
  if (f === "rsqrt" && args.length === 1) return el("mfrac", el("mn", "1"), el("msqrt", a));
  if (f === "exp" && args.length === 1) return el("msup", el("mi", "e"), a);
  if (f === "sum" && args.length === 2) return line([el("munder", el("mo", "∑"), b), fenced(a)]);
  if (f === "where" && args.length === 3) return line([b, el("mtext", " where "), a, el("mtext", ", else "), c]);
  return line([
    ["mi", { mathvariant: "normal" }, f.replaceAll("_", " ")],
    el("mo", "⁡"),
    fenced(args.length ? listed(args) : el("mtext", "")),
  ]);
}

/** A formula. @param {Formula} formula @param {Leaves} leaves @returns {Tree} */
export const typeset = (formula, leaves) => el("math", lay(formula, leaves));

/** Words in the place of a formula. @param {string} text @returns {Tree} */
export const inWords = (text) => el("math", el("mtext", text));

/** ∂y/∂x, of two labels. @param {string} y @param {string} x @returns {Tree} */
export const partial = (y, x) => {
  const [top, bottom] = [y, x].map((t) => line([el("mo", "∂"), levelOfLabel(t) === ATOM ? name(t) : fenced(name(t))]));
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
