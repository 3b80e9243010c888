// Frames: a picture whose every moment is here already. What changes is said by attributes (widgets/lessons/frames.py).

/** @typedef {{body: string, says: string[]}} Take */
/** @typedef {{ground: string, takes: Take[], at: string, take: string}} Frames `at` and `take`: the names of the two controls */

/** The picture with everything that a take shows at some time. @param {Frames} film @param {Take} take */
export const whole = (film, take) => film.ground.replace('<g class="film"></g>', `<g class="film">${take.body}</g>`);

/** @param {Element} svg @param {number} k @param {string} says */
export function setMoment(svg, k, says) {
  /** @param {string} name @param {(e: Element, text: string) => void} run */
  const each = (name, run) => {
    for (const e of svg.querySelectorAll(`[data-${name}]`)) run(e, e.getAttribute(`data-${name}`) ?? "");
  };
  /** @param {string[]} items */
  const at = (items) => items[Math.min(k, items.length - 1)];
  const upTo = (/** @type {string} */ text) => text.split(" ", k + 1).join(" ");
  each("points", (e, text) => e.setAttribute("points", upTo(text)));
  each("move", (e, text) => e.setAttribute("transform", `translate(${at(text.split(" "))})`));
  each("text", (e, text) => {
    e.textContent = at(text.split("|"));
  });
  each("on", (e, text) => {
    const on = text.split(" ").some((span) => {
      const [a, b] = span.split("-").map(Number);
      return a <= k && k <= b;
    });
    e.setAttribute("visibility", on ? "visible" : "hidden");
  });
  svg.setAttribute("aria-label", says);
}
