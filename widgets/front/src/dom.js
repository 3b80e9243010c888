// Elements: made, filled, and changed only where they differ.

import { pieces } from "./model/numbers.js";

export const SVG = "http://www.w3.org/2000/svg";
const MATHML = "http://www.w3.org/1998/Math/MathML";

/** @typedef {Record<string, string|number|boolean|null|undefined>} Attributes false, null and undefined: left out */

/** An HTML element.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag @param {Attributes} [attributes] @param {...(Node|string)} children @returns {HTMLElementTagNameMap[K]} */
export function h(tag, attributes = {}, ...children) {
  return dress(document.createElement(tag), attributes, children);
}

/** An SVG element.
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag @param {Attributes} [attributes] @param {...(Node|string)} children @returns {SVGElementTagNameMap[K]} */
export function s(tag, attributes = {}, ...children) {
  return dress(/** @type {SVGElementTagNameMap[K]} */ (document.createElementNS(SVG, tag)), attributes, children);
}

/** Give an element attributes and children.
 * @template {Element} E
 * @param {E} e @param {Attributes} attributes @param {(Node|string)[]} [children] @returns {E} */
export function dress(e, attributes, children = []) {
  for (const [k, v] of Object.entries(attributes)) if (v !== false && v != null) e.setAttribute(k, String(v));
  // JupyterLab takes arrow keys and Space from whatever has the focus, unless that very element says no.
  if ("tabindex" in attributes || /^(button|input|select)$/i.test(e.tagName)) e.setAttribute("data-lm-suppress-shortcuts", "true");
  e.append(...children);
  return e;
}

/** A typeset formula as an element. @param {import("./model/formula.js").Tree|string} t @returns {Node|string} */
export function maths(t) {
  if (typeof t === "string") return t;
  const [tag, attributes, ...children] = t;
  return dress(document.createElementNS(MATHML, tag), attributes, children.map(maths));
}

/** @param {string} text "**bold** plain" */
export const rich = (text) => pieces(text).map((p) => (p.bold ? h("b", {}, p.text) : document.createTextNode(p.text)));

/** Write text only if it changed, which spares the browser a layout. @param {Element} e @param {string} text */
export function put(e, text) {
  const only = e.firstChild;
  if (only instanceof Text && only === e.lastChild && text) {
    if (only.data !== text) only.data = text;
  } else if (e.textContent !== text) e.textContent = text;
}

/** A memory of the last values: most of a picture stays as it is from step to step. */
export class Memo {
  /** @type {any[]|null} */ #last = null;

  /** Were these the values the last time? Remembers them. @param {...any} values */
  same(...values) {
    const last = this.#last;
    if (last && values.every((v, i) => Object.is(v, last[i]))) return true;
    this.#last = values;
    return false;
  }
}
