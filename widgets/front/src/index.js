// The module that anywidget and an exported page load.

import { View } from "./view.js";

/** @param {{model: import("./view.js").Model, el: HTMLElement}} context */
function render({ model, el }) {
  const view = new View(model, el);
  return () => view.destroy();
}

export default { render };
