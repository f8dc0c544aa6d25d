// The editor of a cell: CodeMirror in the box that the listing was in.
//
// The box keeps its font, its padding, and its scroll bar, so nothing on the
// page moves when a listing becomes an editor.  On a phone, its long lines
// are wrapped, because they'd be typed out of sight.

import { Decoration, EditorState, EditorView, StateEffect, StateField, ViewPlugin, defaultKeymap, ensureSyntaxTree, history, historyKeymap, indentUnit, indentWithTab, keymap, pythonLanguage, syntaxTree } from "../codemirror/codemirror.js";
import { paint } from "./colors.js";

const marks = {};
const marked = (kind) => (marks[kind] ??= Decoration.mark({ class: kind }));

const colors = ViewPlugin.define((view) => ({
  decorations: painted(view),
  update(update) {
    if (update.docChanged || update.viewportChanged
        || syntaxTree(update.startState) !== syntaxTree(update.state))
      this.decorations = painted(update.view);
  },
}), { decorations: (plugin) => plugin.decorations });

function painted({ state, visibleRanges }) {
  const found = [], read = (from, to) => state.sliceDoc(from, to);
  // A cell is short: its colors don't have to wait for an idle moment.
  const tree = ensureSyntaxTree(state, state.doc.length, 100) ?? syntaxTree(state);
  for (const { from, to } of visibleRanges)
    paint(tree, read, from, to, (start, end, kind) => {
      if (start < end) found.push(marked(kind).range(start, end));
    });
  return Decoration.set(found, true);
}

// The line that raised an error is marked until the next edit.
const wrong = StateEffect.define();
const wrongLine = StateField.define({
  create: () => Decoration.none,
  update(old, { docChanged, effects, state }) {
    const [line] = effects.filter((effect) => effect.is(wrong)).map(({ value }) => value);
    if (line === undefined) return docChanged ? Decoration.none : old;
    if (!line || line > state.doc.lines) return Decoration.none;
    return Decoration.set([Decoration.line({ class: "run-wrong" }).range(state.doc.line(line).from)]);
  },
  provide: (field) => EditorView.decorations.from(field),
});

const box = EditorView.theme({
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { font: "inherit", overflow: "visible" },
  ".cm-content": { padding: 0, caretColor: "currentColor" },
  ".cm-line": { padding: 0 },
  ".run-wrong": { background: "var(--accent-soft)", textDecoration: "underline wavy var(--red)" },
});

// Opens an editor in a box.
//
// `keys` are {key: function}, and `changed` hears of each edit.
export function open(parent, text, { label, keys, changed }) {
  const own = Object.entries(keys).map(([key, run]) =>
    ({ key, run: () => (run(), true), preventDefault: true }));
  const attributes = { "aria-label": label, "aria-describedby": "run-keys", tabindex: "-1" };
  const view = new EditorView({ parent, state: EditorState.create({
    doc: text,
    extensions: [
      history(), pythonLanguage, innerWidth < 600 ? EditorView.lineWrapping : [], colors, wrongLine, box, indentUnit.of("    "),
      keymap.of([...own, indentWithTab, ...historyKeymap, ...defaultKeymap]),
      EditorView.contentAttributes.of(attributes),
      EditorView.scrollMargins.of(() => ({ top: 110, bottom: 24 })),
      EditorView.domEventHandlers({ keydown: (event) => event.stopPropagation() }),
      EditorView.updateListener.of((update) => update.docChanged && changed()),
    ],
  }) });
  return {
    get text() { return view.state.doc.toString(); },
    set text(insert) { view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert } }); },
    mark(line) { view.dispatch({ effects: wrong.of(line) }); },
    focus([anchor, head] = [0, 0]) {
      const most = view.state.doc.length, within = (place) => Math.min(place, most);
      view.focus();
      view.dispatch({ selection: { anchor: within(anchor), head: within(head) } });
    },
    close: () => view.destroy(),
  };
}
