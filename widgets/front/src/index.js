// The bundle that views share: what loader.js asks for by name.

import { render as lesson } from "./lesson.js";
import { View } from "./view.js";

/** @param {import("./loader.js").PartContext} context */
function graph({ model, el, fail }) {
  const view = new View(model, el, fail);
  return () => view.destroy();
}

export default { graph: { render: graph }, lesson: { render: lesson } };
