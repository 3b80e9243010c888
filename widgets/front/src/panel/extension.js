// JupyterLab's side panel as a prebuilt extension. A container of module federation is a `get` and an `init`, so no bundler of
// JupyterLab's is needed: the two shared modules are taken from the scope that JupyterLab hands over.

import { activate } from "./panel.js";

const NAME = "minigrad-course";
/** @type {Record<string, Record<string, {get: () => Promise<() => any>}>>} */ let shared;

/** A module that JupyterLab shares with its extensions. @param {string} name */
async function taken(name) {
  return (await Object.values(shared[name])[0].get())();
}

const lab = /** @type {any} */ (window);
lab._JUPYTERLAB ??= {};
lab._JUPYTERLAB[NAME] = {
  /** @param {typeof shared} scope */
  init(scope) {
    shared = scope;
  },
  /** @param {string} module */
  async get(module) {
    if (module !== "./extension") throw new Error(`${NAME} has no module ${module}`);
    const [{ INotebookTracker }, { Widget }] = await Promise.all([taken("@jupyterlab/notebook"), taken("@lumino/widgets")]);
    const plugin = {
      id: `${NAME}:panel`,
      autoStart: true,
      requires: [INotebookTracker],
      activate: (/** @type {any} */ app, /** @type {any} */ tracker) => activate(app, tracker, Widget),
    };
    return () => ({ __esModule: true, default: plugin });
  },
};
