// What every widget brings to the page. Browsers keep every imported module for the life of a page, and anywidget imports one for each
// widget: so this one is small, and gets the real one from a hidden model of the kernel (widgets/front_end.py), once for each page.

/** @import { Model } from "./view.js" */

/** @typedef {{model: Model, el: HTMLElement}} Context */
/** @typedef {Context & {fail: (error: unknown) => void}} PartContext */
/** @typedef {Record<string, {render: (context: PartContext) => () => void}>} Parts */

const page = /** @type {{minigradParts?: Map<string, Promise<Parts>>}} */ (globalThis);
const loaded = (page.minigradParts ??= new Map());

/** JupyterLab leaks closed models. So empty the large traits, twice, because Backbone also keeps the previous attributes. */
const HEAVY = ["trace", "picture", "sweeps", "ground", "takes", "scene"];

/** @param {{model: Model}} context */
function initialize({ model }) {
  return () =>
    setTimeout(() => {
      for (const name of [...HEAVY, HEAVY[0]]) model.set(name, null);
    });
}

/** The hidden model. On a restored page it may arrive after the views. @param {Model} model @returns {Promise<Model>} */
async function frontEnd(model) {
  const id = model.get("front").replace("IPY_MODEL_", "");
  for (let tries = 50; ; tries--) {
    try {
      return await model.widget_manager.get_model(id);
    } catch (error) {
      if (!tries) throw error;
      await new Promise((done) => setTimeout(done, 100));
    }
  }
}

/** @param {BlobPart} packed */
const unpack = (packed) => new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).text();

/** @param {Model} front @returns {Promise<Parts>} */
async function load(front) {
  const [code, css] = await Promise.all([unpack(front.get("code")), unpack(front.get("css"))]);
  const sheet = document.createElement("style");
  sheet.textContent = css;
  document.head.append(sheet);
  const address = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
  try {
    return (await import(address)).default;
  } finally {
    URL.revokeObjectURL(address);
  }
}

/** @param {Model} front */
function parts(front) {
  const key = front.get("key");
  const known = loaded.get(key);
  if (known) return known;
  const coming = load(front);
  loaded.set(key, coming);
  coming.catch(() => loaded.delete(key)); // the next view tries again
  return coming;
}

/** Report that the view cannot be drawn, and show the stored picture. @param {Context} context @param {unknown} error */
function sorry({ model, el }, error) {
  console.error(error);
  el.textContent = `The live view cannot be drawn here (${error}). Run the cell again; if that does not help, reload the page.`;
  /** @param {any} content @param {any[]} buffers */
  const arrived = ({ mime: type }, buffers) => {
    if (type !== "image/svg+xml" || el.children.length) return;
    const src = URL.createObjectURL(new Blob(buffers, { type }));
    el.append(Object.assign(new Image(), { src, alt: "a still picture", style: "display:block;max-width:100%" }));
  };
  model.on("msg:custom", arrived);
  model.send({ type: "save", kind: "svg" });
}

/** @param {Context} context */
async function render(context) {
  const { model, el } = context;
  const nothing = () => {};
  let undo = nothing;
  let gone = false;
  /** @type {Model|undefined} */ let front;
  /** @param {unknown} error */
  const fail = (error) => {
    undo();
    undo = nothing;
    sorry(context, error);
  };
  const draw = async () => {
    try {
      front ??= await frontEnd(model);
      const part = (await parts(front))[model.get("part")];
      if (gone) return;
      undo();
      el.replaceChildren();
      undo = part.render({ ...context, fail });
    } catch (error) {
      fail(error);
    }
  };
  await draw();
  front?.on("change:key", draw); // hot reload: see CONTRIBUTING
  return () => {
    gone = true;
    front?.off("change:key", draw);
    undo();
  };
}

export default { initialize, render };
