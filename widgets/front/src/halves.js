// A wide figure in a narrow place: its two halves one above the other, where nothing crosses the gap between them.

const INK = "line, rect:not(.bg), circle, ellipse, path, polyline, polygon, text";
const GAP = 8; // least width of the gap, in the figure's units
const EDGE = 4;

/** @typedef {{left: number, right: number, top: number, bottom: number}} Box */

/** Where the marks of a figure are, in its own units. @param {SVGElement} picture @param {number} width @returns {Box[]} */
function marks(picture, width) {
  const place = picture.getBoundingClientRect();
  const scale = width / (place.width || 1);
  return [...picture.querySelectorAll(INK)]
    .map((e) => e.getBoundingClientRect())
    .filter((r) => r.width || r.height)
    .map((r) => ({
      left: (r.left - place.left) * scale,
      right: (r.right - place.left) * scale,
      top: (r.top - place.top) * scale,
      bottom: (r.bottom - place.top) * scale,
    }));
}

/** @param {Box[]} boxes @returns {Box} */
const around = (boxes) => ({
  left: Math.min(...boxes.map((b) => b.left)) - EDGE,
  right: Math.max(...boxes.map((b) => b.right)) + EDGE,
  top: Math.min(...boxes.map((b) => b.top)) - EDGE,
  bottom: Math.max(...boxes.map((b) => b.bottom)) + EDGE,
});

/** The gap that leaves the narrowest halves, as the boxes on each side of it. @param {Box[]} boxes @returns {[Box, Box]|null} */
export function cut(boxes) {
  const sorted = [...boxes].sort((a, b) => a.left - b.left);
  /** @type {[Box, Box]|null} */ let best = null;
  let reach = Number.NEGATIVE_INFINITY;
  for (const [k, box] of sorted.entries()) {
    if (k && box.left - reach >= GAP) {
      const halves = /** @type {[Box, Box]} */ ([around(sorted.slice(0, k)), around(sorted.slice(k))]);
      if (!best || widest(halves) < widest(best)) best = halves;
    }
    reach = Math.max(reach, box.right);
  }
  return best;
}

/** @param {Box[]} boxes */
const widest = (boxes) => Math.max(...boxes.map((b) => b.right - b.left));

/** Show a figure as two, if that makes it larger. Returns whether it does. A half that would have to shrink below `least` is scrolled.
 * @param {SVGElement} picture @param {number} room in pixels @param {number} least */
export function stack(picture, room, least = 0) {
  const width = Number(picture.getAttribute("width"));
  const halves = cut(marks(picture, width));
  if (!halves || widest(halves) > 0.85 * width) return false;
  const fits = Math.min(1.1, room / widest(halves));
  const zoom = Math.max(fits, least);
  const below = /** @type {SVGElement} */ (picture.cloneNode(true));
  below.setAttribute("aria-hidden", "true");
  for (const [k, one] of [picture, below].entries()) {
    const { left, right, top, bottom } = halves[k];
    one.setAttribute("viewBox", `${left} ${top} ${right - left} ${bottom - top}`);
    Object.assign(one.style, {
      width: `${zoom * (right - left)}px`,
      minWidth: "",
      maxWidth: zoom > fits ? "none" : "100%",
      height: "auto",
    });
    one.removeAttribute("height");
  }
  picture.after(below);
  return true;
}
