// Maps recorded source lines to lines of the notebook's editors, and back. It reads the DOM of JupyterLab and Notebook 7 without changing
// it: a mark is a CSS highlight, which is no element, so it does not affect the editor, its focus or its scrolling. Without cells or
// highlights nothing happens.

/** @import { Source } from "./types" */

const MARK = "minigrad-source";
/** @type {any} */ const marks = globalThis.CSS && "highlights" in CSS ? CSS.highlights : null;

/** The lines that an editor has drawn, with the numbers that Python gave them: IPython drops empty lines at the beginning.
 * @param {Element} cell @returns {[number, HTMLElement][]} */
export function linesOf(cell) {
  const lines = /** @type {HTMLElement[]} */ ([...(cell.querySelector(".cm-content")?.children ?? [])]);
  let number = 0;
  return lines.flatMap((e) => {
    if (e.matches(".cm-gap")) number += Math.round(e.offsetHeight / (lines.find((x) => x.matches(".cm-line"))?.offsetHeight || 1)); // lines too far away to be drawn
    return e.matches(".cm-line") && (number || e.textContent?.trim()) ? [/** @type {[number, HTMLElement]} */ ([++number, e])] : [];
  });
}

/** A cell's name as a trace writes it: "In [4]". @param {Element} cell */
export const nameOf = (cell) => `In ${/\[\d+\]/.exec(cell.querySelector(".jp-InputPrompt")?.textContent ?? "")}`;

/** The columns of a source's expression in its text (all of it where they are unknown). Python counts characters, a browser halves of some.
 * @param {Source} source @returns {[number, number]} */
export function columns(source) {
  const all = [...source.text],
    [from, to] = source.span ?? [0, all.length];
  return [all.slice(0, from).join("").length, all.slice(0, to).join("").length];
}

/** These characters of a line, which is made of many elements; null where they are not there. @param {Element} line @param {number} from @param {number} to */
export function rangeOf(line, from, to) {
  const range = document.createRange(),
    walk = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
  let begun = false;
  for (let at = 0, node; (node = /** @type {Text|null} */ (walk.nextNode())); at += node.length) {
    if (!begun && from < at + node.length) {
      begun = true;
      range.setStart(node, from - at);
    }
    if (!begun || to > at + node.length) continue;
    range.setEnd(node, to - at);
    return range;
  }
  return null;
}

/** One view's hold on the one mark of a page. @param {Element} near the view */
export function marker(near) {
  const mine = marks && new Highlight();
  /** @type {Source|null|undefined} */ let wanted = null;
  const watch = new MutationObserver(() => paint());
  const ours = () => !!marks && marks.get(MARK) === mine;
  function paint() {
    watch.disconnect();
    mine?.clear();
    const own = near.closest(".jp-Cell"),
      book = near.closest(".jp-Notebook");
    if (!wanted || !book || !ours()) return;
    const source = wanted,
      cells = [...book.querySelectorAll(".jp-CodeCell")].filter((c) => nameOf(c) === source.cell);
    // Cells come and go, are edited, run again, and drawn when they are scrolled to: then it is decided again.
    if (own?.parentElement) watch.observe(own.parentElement, { childList: true });
    for (const c of cells)
      watch.observe(c.querySelector(".jp-Cell-inputWrapper") ?? c, { childList: true, characterData: true, subtree: true });
    for (const cell of cells.sort((a, b) => Number(b === own) - Number(a === own))) {
      const line = linesOf(cell).find(([number]) => number === source.line)?.[1],
        text = line?.textContent ?? "";
      if (!line || text.trim() !== source.text) continue;
      const indent = text.length - text.trimStart().length,
        [from, to] = columns(source),
        range = rangeOf(line, indent + from, indent + to);
      if (range) return mine.add(range);
    }
  }
  return {
    /** This view is being used: the mark is its own now. */
    take() {
      if (marks && !ours()) marks.set(MARK, mine);
    },
    /** Mark where this stands, if it is this view's turn. @param {Source|null} [source] */
    show(source) {
      if (source === wanted && ours() && mine.size) return;
      wanted = source;
      paint();
    },
    /** Take the mark away, if it is this view's. */
    drop() {
      wanted = null;
      paint();
      if (ours()) marks.delete(MARK);
    },
  };
}

/** The recorded line in which the caret stands, as [cell, line, text]; null where it stands elsewhere. @param {Element} near the view */
export function caretLine(near) {
  const at = document.getSelection()?.anchorNode,
    line = (at instanceof Element ? at : at?.parentElement)?.closest(".cm-line"),
    cell = line?.closest(".jp-CodeCell");
  if (!line || !cell || cell.closest(".jp-Notebook") !== near.closest(".jp-Notebook")) return null;
  const number = linesOf(cell).find(([, e]) => e === line)?.[0];
  return number ? /** @type {[string, number, string]} */ ([nameOf(cell), number, (line.textContent ?? "").trim()]) : null;
}

/** Those that want to know when the caret has moved: one listener for the page, however many views it has. @type {Set<() => void>} */
const followers = new Set();
const moved = () => {
  for (const run of followers) run();
};

/** Run this whenever the caret moves. Returns what ends it. @param {() => void} run */
export function followCaret(run) {
  if (!followers.size) document.addEventListener("selectionchange", moved);
  followers.add(run);
  return () => {
    followers.delete(run);
    if (!followers.size) document.removeEventListener("selectionchange", moved);
  };
}
