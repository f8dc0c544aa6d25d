// The parts of CodeMirror that editor.js uses.
export { EditorState, StateEffect, StateField } from "@codemirror/state";
export { Decoration, EditorView, ViewPlugin, keymap } from "@codemirror/view";
export { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
export { ensureSyntaxTree, indentUnit, syntaxTree } from "@codemirror/language";
export { pythonLanguage } from "@codemirror/lang-python";
