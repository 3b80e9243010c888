// The bundle that views share. loader.js imports its parts by name.

import { render as film } from "./film/view.js";
import { render as lesson } from "./lesson.js";
import { View } from "./view.js";

/** The first ancestor with an earlier sibling: in most hosts that is the cell's output before this one. @param {HTMLElement} el */
function outputBefore(el) {
  /** @type {Element|null} */ let node = el;
  while (node && !node.previousElementSibling) node = node.parentElement;
  return node?.previousElementSibling;
}

/** Hide the stored picture before a live view (widgets/stored.py). In JupyterLab the picture's style sheet does so, and shows
 * it again when the live view goes. @param {HTMLElement} el */
function hideStill(el) {
  if (el.closest(".jp-OutputArea")) return;
  for (const still of outputBefore(el)?.querySelectorAll(".mg-stored") ?? []) still.setAttribute("hidden", "");
}

/** @param {import("./loader.js").PartContext} context */
function graph({ model, el, fail }) {
  const view = new View(model, el, fail);
  return () => view.destroy();
}

/** A part that hides its still picture. @param {(context: import("./loader.js").PartContext) => () => void} render */
const part = (render) => ({
  /** @param {import("./loader.js").PartContext} context */
  render(context) {
    hideStill(context.el);
    return render(context);
  },
});

export default { film: part(film), graph: part(graph), lesson: part(lesson) };
