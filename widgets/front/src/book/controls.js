// The few widgets of ipywidgets that our views stand in: boxes, words, sliders. JupyterLab has its own front end for them.

/** @import { LiveModel } from "./kernel.js" */
/** @typedef {(model: LiveModel, el: HTMLElement) => any} Control */

/** @param {string} direction @returns {Control} */
const box = (direction) => (model, el) => {
  el.style.cssText = `display:flex;flex-direction:${direction};flex-wrap:wrap;gap:4px 16px;min-width:0`;
  const draw = async () => {
    const views = await Promise.all(
      model
        .get("children")
        .map(async (/** @type {string} */ id) => model.widget_manager.create_view(await model.widget_manager.get_model(id))),
    );
    for (const { el: child } of views) Object.assign(child.style, { flex: direction === "row" ? "1 1 300px" : "", minWidth: 0 });
    el.replaceChildren(...views.map((view) => view.el));
  };
  model.on("change:children", draw);
  return draw();
};

/** @type {Control} */
const words = (model, el) => {
  const draw = () => {
    el.innerHTML = model.get("value");
  };
  model.on("change:value", draw);
  draw();
};

/** @type {Control} */
const slider = (model, el) => {
  const label = document.createElement("label");
  const input = Object.assign(document.createElement("input"), { type: "range" });
  const shown = document.createElement("output");
  label.className = "mgb-slider";
  label.append(`${model.get("description")} `, input, shown);
  const draw = () => {
    for (const name of /** @type {const} */ (["min", "max", "step", "value"])) input[name] = String(model.get(name));
    const step = model.get("step");
    shown.textContent = Number(model.get("value")).toFixed(Math.max(0, Math.min(4, -Math.floor(Math.log10(step || 1)))));
  };
  input.oninput = () => {
    model.set("value", Number(input.value));
    model.save_changes();
  };
  model.on("change:value", draw);
  draw();
  el.append(label);
};

/** @type {Record<string, Control>} */
export const CONTROLS = {
  VBoxModel: box("column"),
  HBoxModel: box("row"),
  HTMLModel: words,
  IntSliderModel: slider,
  FloatSliderModel: slider,
};
