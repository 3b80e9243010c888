// A part of a bundle: what loader.js asks for by name. Its still picture is hidden while it is live.

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

/** A part that hides its still picture. @param {(context: import("./loader.js").PartContext) => () => void} render */
export const part = (render) => ({
  /** @param {import("./loader.js").PartContext} context */
  render(context) {
    hideStill(context.el);
    return render(context);
  },
});
