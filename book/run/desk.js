// The reader's desk: the cells that are edited and run, and what is kept.
//
// run.js imports this file when a reader touches a cell or comes back to one
// that was edited.  The editor and Python are loaded when they are needed.

const CODE = "The output is older than the code.", ABOVE = "The output is older than the cells above.", NEW = "Edited, not run yet.";

export async function open(page) {
  const { base, items, top, status, make, button, store } = page;
  await styled(new URL("desk.css", base));
  const all = items.map((item) => new Cell(item, page));
  const cells = all.filter((cell) => !cell.exercise);
  const exercises = all.filter((cell) => cell.exercise);
  let session, busy = 0;

  // The page's own buttons.
  const runAll = top.firstChild;
  const stop = button("Stop", "the page", () => session.then((opened) => opened.stop()));
  const old = button("", "", () => window.bookRun.ask("runStale"), "Runs the cells whose output is older than the code");
  for (const needed of [stop, old]) needed.className = "run-needed";
  const again = button("", "", () => (edits().length ? edits() : resets()).forEach((cell) => cell.again.click()));
  runAll.after(stop, old, again);
  const edits = () => all.filter((cell) => cell.differs);
  const resets = () => all.filter((cell) => cell.removed !== undefined);

  // Until the notebook is there, the page shows only outputs of what it hides.
  const outputs = [...document.querySelectorAll("article .output.unseen")].map((box) => new Unseen(box));
  const place = ({ box, printed }) => box ?? printed;
  const program = [...cells, ...outputs].sort((a, b) =>
    (place(a).compareDocumentPosition(place(b)) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1));

  const desk = {
    cells, exercises, outputs, program, page,

    // Says which outputs are older than the code, in order.  All below an
    // edited cell are, until they run.
    refresh() {
      let dirty = false, changed = 0;
      for (const cell of desk.program) {
        const own = cell.source !== cell.shown;
        const told = cell.output || cell.printed;
        cell.stale = own || dirty || changed > cell.when;
        cell.marked(own ? (told ? CODE : NEW) : cell.stale && told ? ABOVE : "");
        dirty ||= (cell.ran ?? cell.shown) !== cell.source;
        changed = Math.max(changed, cell.changed);
      }
      for (const cell of exercises) {
        cell.stale = !!cell.output && cell.source !== cell.shown;
        cell.marked(cell.stale ? CODE : "");
      }
      const stale = desk.program.filter((cell) => cell.stale).length;
      label(old, stale && !busy ? `Update ${stale} ${stale > 1 ? "cells" : "cell"}` : "", "runs what is older than the code");
      const what = edits().length ? "Reset page" : resets().length ? "Undo reset" : "";
      label(again, what, what === "Reset page" ? "restores all cells from the book" : "brings your edits back");
      stop.hidden = !busy;
    },
    // While something runs, or waits to run, it can be stopped.
    working(more) {
      busy += more;
      if (!busy && stop.matches(":focus")) runAll.focus();
      desk.refresh();
    },

    get session() { return session; },
    unseen: () => new Unseen(),
    edit: (n) => all[n].edit(true),
    async download() { (await python()).download(); },
    async run(n) { await (await python()).run(all[n]); },
    async runAll() { await (await python()).runAll(); },
    async runStale() { await (await python()).runStale(); },
    neighbor(cell, step) {
      const shown = all.filter(({ code }) => code.checkVisibility());
      return shown[shown.indexOf(cell) + step];
    },
  };
  const python = () => session ??= import("./session.js").then(({ open }) => open(desk))
    .catch((error) => { session = null; throw error; });

  for (const cell of all) cell.begin(desk);
  // Another tab has edited this page: both show the same.
  window.addEventListener("storage", ({ key, newValue }) =>
    all.find((cell) => cell.key === key)?.fill(newValue ?? undefined, true));
  return window.bookRun = Object.assign(desk, window.bookRun);
}

function label(button, text, what) {
  button.hidden = !text;
  button.textContent = text;
  button.ariaLabel = `${text}: ${what}`;
}

function styled(href) {
  return new Promise((done) => {
    const sheet = Object.assign(document.createElement("link"), { rel: "stylesheet", href, onload: done, onerror: done });
    document.head.append(sheet);
  });
}

// Returns where the selection begins and ends in the text of a box.
function selected(box) {
  const { rangeCount, anchorNode, anchorOffset, focusNode, focusOffset } = getSelection();
  if (!rangeCount || !box.contains(anchorNode) || !box.contains(focusNode)) return [0, 0];
  return [[anchorNode, anchorOffset], [focusNode, focusOffset]].map(([node, offset]) => {
    const before = new Range();
    before.setStart(box, 0);
    before.setEnd(node, offset);
    return before.toString().length;
  });
}

// A cell that the page hides, of which it may show the output.
class Unseen {
  name = "a hidden cell"; source = ""; shown = ""; ran = null; when = 0; changed = 0; output = null;
  constructor(printed) { this.printed = printed; }
  say() {}
  marked() { (this.output || this.printed)?.classList.toggle("run-stale", this.stale); }
}

// A cell: a box with code on the page, and what it printed in the book.
// `shown` is the code whose output is shown, `ran` what Python knows; `when`
// and `changed` are the times when it ran last, and ran with new code.
class Cell {
  ran = null; when = 0; changed = 0; output = null; editor = null; place = [0, 0];

  constructor(item, { button, store }) {
    const { box, code, name } = Object.assign(this, item, { store, shown: item.original, took: item.hint });
    const after = box.nextElementSibling;
    this.printed = [after, after?.matches(".question") && after.nextElementSibling]
      .find((it) => it && it.matches(".output:not(.unseen)"));
    this.question = after?.matches(".question") ? after : null;
    this.removed = store.get(`${this.key}:reset`);
    this.again = button("Reset", name, () => (this.differs ? this.reset() : this.undo()));
    this.run.after(this.again);
    code.onkeydown = (event) => event.target === code && this.command(event);
    code.oninput = () => this.editor || (this.edited(), this.edit(true));
    code.onfocusout = () => setTimeout(() => this.left());
  }
  begin(desk) {         // with what was typed before the desk was there
    this.desk = desk;
    const { kept, key, original, source, store } = this, newest = store.get(key);
    if (source !== (kept ?? original)) this.edited();
    else if (newest !== kept) this.fill(newest);
    else if (kept !== undefined) this.edit();
    this.keep();
  }

  get source() { return this.editor ? this.editor.text : this.code.textContent.replace(/\n$/, ""); }
  get differs() { return this.source !== this.original; }

  // Puts text into the cell: by default the book's, with its links.  What
  // another tab has written is kept there, and may not be the newest.
  fill(text = this.original, elsewhere = false) {
    this.elsewhere = elsewhere;
    if (text === this.original) this.close();
    else if (this.editor) this.editor.text = text;
    else if (text !== this.source || this.code.innerHTML !== this.html) {
      this.code.textContent = text + "\n";
      this.edit();
    }
    this.keep();
    this.elsewhere = false;
  }
  keep() {
    const { again, differs, key, removed, store } = this;
    if (!this.elsewhere) differs ? store.set(key, this.source) : store.drop(key);
    this.box.classList.toggle("run-edited", differs);
    label(again, differs ? "Reset" : removed === undefined ? "" : "Undo", this.name);
    again.title = differs ? "Restore the cell from the book" : "Bring your edit back";
    this.desk.refresh();
  }
  edited() {            // by the reader
    this.forget();
    this.keep();
  }
  reset() {
    this.removed = this.source;
    this.store.set(`${this.key}:reset`, this.removed);
    this.output?.replaceWith(...[this.printed].filter(Boolean));
    Object.assign(this, { output: null, shown: this.original, when: 0, took: this.hint });
    this.fill();
  }
  undo() {
    const text = this.removed;
    this.forget();
    this.fill(text);
  }
  forget() {
    this.removed = undefined;
    this.store.drop(`${this.key}:reset`);
  }

  // The editor.
  async edit(entered) {
    const { open } = this.editor ? {} : await import("./editor.js");
    const { code } = this;
    if (!this.editor) {
      const text = this.source, left = code.scrollLeft;
      if (code.contains(getSelection().anchorNode)) this.place = selected(code);
      entered ||= code.isContentEditable && code.matches(":focus");
      code.removeAttribute("contenteditable");
      code.replaceChildren();
      this.editor = open(code, text, {
        label: code.getAttribute("aria-label"),
        changed: () => this.edited(),
        keys: { "Shift-Enter": () => this.go(true), "Ctrl-Enter": () => this.go(),
          "Meta-Enter": () => this.go(), "Alt-Enter": () => this.go(), Escape: () => code.focus() },
      });
      code.scrollLeft = left;
    }
    if (entered) this.editor.focus(this.place);
  }
  close() {
    const { code, editor } = this;
    if (editor) editor.close();
    this.editor = null;
    code.removeAttribute("contenteditable");
    if (code.innerHTML !== this.html) code.innerHTML = this.html;
  }
  left() {              // what isn't edited becomes the book's listing again
    const inside = this.code.matches(":focus-within") && document.activeElement !== this.code;
    if (!document.hasFocus() || inside) return;
    if (!this.differs) this.close();
    this.code.scrollLeft = 0;
  }
  async mark(line) {    // the line that is wrong
    await this.edit();
    this.editor.mark(line);
  }

  // Keys: those of a notebook.  The theme's must not hear them.
  command(event) {
    const { key } = event, held = event.shiftKey || event.ctrlKey || event.metaKey || event.altKey;
    if (this.code.isContentEditable) return event.stopPropagation();
    const step = { ArrowUp: -1, k: -1, ArrowDown: 1, j: 1 }[key];
    if (key === "Enter") held ? this.go(event.shiftKey) : this.edit(true);
    else if (step && !held) this.desk.neighbor(this, step)?.code.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
  // Runs the cell, and goes on to its question, or to the next cell.
  go(on) {
    const isAsked = this.question && !this.question.querySelector("details:is(.right, .shows)[open]");
    this.going = on && isAsked;
    this.run.click();
    if (this.going) this.question.querySelector("summary").focus();
    else if (on) (this.desk.neighbor(this, 1) ?? this).code.focus();
  }

  // What a cell says beside its buttons, and how its output looks.
  say(text) { this.says.textContent = this.took = text; }
  marked(text) {
    (this.output || this.printed)?.classList.toggle("run-stale", this.stale);
    const busy = this.run.ariaBusy === "true";
    if (!busy && this.says.textContent !== (text || this.took)) this.says.textContent = text || this.took;
    this.says.classList.toggle("run-old", !!text && !busy);
  }
}
