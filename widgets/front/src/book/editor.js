// A cell's editor: CodeMirror 6 with the page's own colours.
import { acceptCompletion, autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentLess, indentMore } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { bracketMatching, HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightSpecialChars, keymap } from "@codemirror/view";
import { tags as t } from "@lezer/highlight";

const c = (/** @type {string} */ name) => `var(--mgb-code-${name})`;
const colours = HighlightStyle.define([
  { tag: [t.keyword, t.operatorKeyword, t.controlKeyword, t.definitionKeyword, t.moduleKeyword], color: c("keyword"), fontWeight: "600" },
  { tag: [t.string, t.special(t.string)], color: c("string") },
  { tag: [t.number], color: c("number") },
  { tag: [t.bool, t.null], color: c("keyword"), fontWeight: "600" },
  { tag: t.comment, color: c("comment"), fontStyle: "italic" },
  { tag: [t.function(t.definition(t.variableName)), t.className, t.definition(t.className)], color: c("name"), fontWeight: "600" },
  { tag: t.operator, color: c("operator") },
  { tag: t.meta, color: c("operator") },
]);
const look = EditorView.theme({
  "&": { fontSize: "inherit", background: "transparent", color: "var(--color-code-foreground)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--font-stack--monospace)", lineHeight: "1.5", overflowX: "auto" },
  ".cm-content": { padding: ".625rem 0", caretColor: "var(--color-foreground-primary)" },
  ".cm-line": { padding: "0 .875rem" },
  ".cm-cursor": { borderLeftColor: "var(--color-foreground-primary)", borderLeftWidth: "2px" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": {
    background: "color-mix(in srgb, var(--color-brand-primary) 26%, transparent) !important",
  },
  ".cm-matchingBracket": { background: "color-mix(in srgb, var(--color-brand-primary) 22%, transparent) !important" },
  ".cm-tooltip": {
    background: "var(--color-background-primary)",
    color: "var(--color-foreground-primary)",
    border: "1px solid var(--color-background-border)",
    borderRadius: "6px",
    overflow: "hidden",
  },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { background: "var(--color-brand-primary)", color: "var(--color-background-primary)" },
});
/** @typedef {{parent: HTMLElement, doc: string, label: string, run: (next: boolean) => void, changed: (text: string) => void,
 *   complete: (text: string, at: number) => Promise<any>}} Given run: with Shift+Enter, the next cell is the next to be edited */
/** @param {Given} given */
export function editor({ parent, doc, label, run, changed, complete }) {
  const source = async (/** @type {import('@codemirror/autocomplete').CompletionContext} */ context) => {
    const word = context.matchBefore(/[\w.]+/);
    if (!word || (!context.explicit && !word.text.endsWith("."))) return null;
    const found = await complete(context.state.doc.toString(), context.pos);
    if (!found) return null;
    const [text, matches] = found;
    return matches.length
      ? { from: context.pos - text.length, options: matches.map((/** @type {string} */ m) => ({ label: m })), validFor: /^[\w.%]*$/ }
      : null;
  };
  let typing = false; // until then Tab goes on to the next thing of the page, as everywhere
  const pressed = (/** @type {boolean} */ next) => () => {
    run(next);
    return true;
  };
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc,
      extensions: [
        keymap.of([
          { key: "Shift-Enter", run: pressed(true) },
          { key: "Mod-Enter", run: pressed(false) },
          { key: "Tab", run: (v) => typing && (acceptCompletion(v) || indentMore(v)), shift: (v) => typing && indentLess(v) },
          {
            key: "Escape",
            run: (v) => {
              v.contentDOM.blur();
              /** @type {HTMLElement|null|undefined} */ (parent.closest(".cell")?.querySelector(".mgb-run"))?.focus();
              return true;
            },
          },
        ]),
        history(),
        drawSelection(),
        highlightSpecialChars(),
        indentOnInput(),
        bracketMatching(),
        closeBrackets(),
        indentUnit.of("    "),
        EditorState.tabSize.of(4),
        python(),
        syntaxHighlighting(colours),
        look,
        autocompletion({ override: [source], icons: false }),
        keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, ...completionKeymap]),
        EditorView.contentAttributes.of({ "aria-label": label, autocapitalize: "off", autocorrect: "off", spellcheck: "false" }),
        EditorView.updateListener.of((update) => {
          if (!update.docChanged) return;
          typing = view.hasFocus;
          changed(update.state.doc.toString());
        }),
        EditorView.domEventHandlers({
          mousedown: () => void (typing = true),
          blur: () => void (typing = false),
        }),
      ],
    }),
  });
  return {
    get text() {
      return view.state.doc.toString();
    },
    set text(text) {
      if (text !== view.state.doc.toString()) view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
    },
    view,
  };
}
