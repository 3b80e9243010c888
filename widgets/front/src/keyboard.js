// Keys of the whole view; a field, a table's input or a track handles its own first.

/** @import { View } from "./view.js" */

/** @type {Record<string, string>} */
const KEYS = {
  ArrowRight: "next",
  ArrowUp: "next",
  ArrowLeft: "back",
  ArrowDown: "back",
  Home: "start",
  End: "end",
  " ": "play",
  Enter: "inspect",
  Escape: "close",
  "/": "find",
  u: "up",
  d: "down",
};

/** What a key means, or "". @param {string} key */
export const keyMove = (key) => KEYS[key] ?? "";

/** What Enter or Space does to the element in focus: true if something. @param {View} view @param {HTMLElement} target @param {string} what */
function press(view, target, what) {
  if (target.closest(".mg-code")) target.click();
  else if (what === "play") view.timeline.toggle();
  else if (what === "inspect") open(view, target);
}

/** Enter on a card, a frame, a row or a wire. @param {View} view @param {HTMLElement} target */
function open(view, target) {
  const frame = target.closest(".mg-frame");
  const card = target.closest(".mg-card");
  const row = target.closest("tr[data-step]");
  if (frame) view.fold(Number(frame.getAttribute("data-fold")));
  else if (row) view.jump(Number(row.getAttribute("data-step")));
  else if (target.closest(".mg-makes, g.mg-tag[tabindex]")) target.dispatchEvent(new MouseEvent("click"));
  else view.inspect(card ? Number(card.getAttribute("data-node")) : view.currentNode);
}

/** @param {View} view */
export function listenToKeys(view) {
  const { root } = view.shell;
  for (const type of ["pointerdown", "keydown", "change"]) view.on(root, type, () => view.source.take(), { capture: true });
  view.on(root, "keydown", (/** @type {KeyboardEvent} */ e) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.key === "Tab") view.offscreen.flush(); // the next card in order may be far away
    const target = /** @type {HTMLElement} */ (e.target);
    if (view.flowing?.key(e)) {
      e.preventDefault();
      e.stopPropagation();
      return;
    }
    const what = keyMove(e.key);
    if (!what || target.closest("input, select")) return;
    const confirms = what === "play" || what === "inspect";
    if (what === "find") view.find.focus();
    else if (what === "up" || what === "down") view.find.showFlow(what);
    else if (target.closest("[role=tab]") && (what === "next" || what === "back")) view.panes.next(what === "next" ? 1 : -1);
    else if (confirms && target.closest("button, summary")) return;
    else if (confirms) press(view, target, what);
    else if (what === "close" && view.trail.length && view.state.selected < 0 && !view.find.flowing)
      view.back(view.trail.at(-2)?.[0] ?? -1);
    else if (what === "close") view.clear();
    else view.move(what);
    e.preventDefault();
    e.stopPropagation();
  });
}
