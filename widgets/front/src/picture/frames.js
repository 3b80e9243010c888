// The outline of an open fold, with a lid that closes it.

import { s } from "../dom.js";

/** @import { Frame } from "../types" */
/** @import { View } from "../view.js" */

/** @param {View} view @param {Frame} f @param {boolean} more whether it continues a frame of the band above: then the keyboard skips it */
export function drawFrame(view, f, more) {
  const button = more ? { "aria-hidden": "true" } : { tabindex: 0, role: "button", "aria-label": `close the fold ${f.name}` };
  const g = s(
    "g",
    { class: "mg-frame", "data-fold": f.fold, ...button },
    s("title", {}, `close ${f.name}`),
    s("rect", { class: "mg-outline", x: f.x, y: f.y, width: f.w, height: f.h, rx: 12 }),
    s("rect", { class: "mg-lid", x: f.x, y: f.y, width: f.w, height: 23, rx: 11 }),
    s("path", { d: `M${f.x + 12} ${f.y + 10}h8l-4 6z` }),
    s("text", { x: f.x + 26, y: f.y + 16.5 }, f.name),
  );
  view.on(g, "click", () => view.fold(f.fold));
  return g;
}
