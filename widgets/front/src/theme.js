// Light or dark, by the ground that the host really paints. One set of watchers for the page, however many views it has.

/** @type {Set<HTMLElement>} */
const roots = new Set();
/** @type {(() => void)[]} */
let undo = [];

/** Is this colour dark? @param {string} colour "rgb(r, g, b)" */
export function isDark(colour) {
  const [r, g, b] = (colour.match(/[\d.]+/g) ?? ["255", "255", "255"]).map(Number);
  return 0.299 * r + 0.587 * g + 0.114 * b < 128;
}

/** @param {HTMLElement} root */
export function paintTheme(root) {
  root.dataset.mgTheme = isDark(getComputedStyle(root).backgroundColor) ? "dark" : "light";
}

function watch() {
  const all = () => {
    for (const root of roots) paintTheme(root);
  };
  let waiting = false;
  const soon = () => {
    if (waiting) return;
    waiting = true;
    // Once the frame is painted: asked before, the browser would compute all styles for the answer. JupyterLab writes to the body whenever
    // its kernel is busy or idle.
    requestAnimationFrame(() =>
      setTimeout(() => {
        waiting = false;
        all();
      }),
    );
  };
  const attributes = new MutationObserver(soon);
  attributes.observe(document.body, { attributes: true });
  attributes.observe(document.documentElement, { attributes: true });
  const sheets = new MutationObserver(() => requestAnimationFrame(all)); // JupyterLab swaps a style sheet when the theme changes
  sheets.observe(document.head, { childList: true });
  const system = matchMedia("(prefers-color-scheme: dark)");
  document.head.addEventListener("load", all, { capture: true });
  system.addEventListener("change", all);
  undo = [
    () => attributes.disconnect(),
    () => sheets.disconnect(),
    () => document.head.removeEventListener("load", all, { capture: true }),
    () => system.removeEventListener("change", all),
  ];
}

/** Mark an instrument as light or dark, now and whenever the host's theme changes. Returns what ends it. @param {HTMLElement} root */
export function followTheme(root) {
  if (!roots.size) watch();
  roots.add(root);
  paintTheme(root);
  return () => {
    roots.delete(root);
    if (!roots.size) for (const run of undo) run();
  };
}
