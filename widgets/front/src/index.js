// The bundle that views share. loader.js imports its parts by name.

import { render as lesson } from "./lesson.js";
import { part } from "./part.js";
import { View } from "./view.js";

/** @param {import("./loader.js").PartContext} context */
function graph({ model, el, fail }) {
  const view = new View(model, el, fail);
  return () => view.destroy();
}

export default { graph: part(graph), lesson: part(lesson) };
