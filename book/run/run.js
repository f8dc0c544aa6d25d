// Lets a reader edit and run the cells of a page.
//
// This file adds the buttons, keeps what the reader edits, and asks for
// nothing.  On the first click it imports session.js, which runs Python.
(() => {
  const base = new URL("run/", document.currentScript.src);
  const link = document.querySelector("a.notebook");
  // An exercise's file, and its solution, are in boxes that can be folded.
  const blocks = [...document.querySelectorAll("article .language-python.highlight")]
    .filter((box) => !box.closest("details:not(.imports, .error)"));
  const files = [...document.querySelectorAll("article details > summary")]
    .filter(({ textContent }) => /^exercises\/e\d/.test(textContent))
    .map((summary) => summary.parentElement.querySelector(".highlight"));
  if (!link || !window.Worker || !(blocks.length + files.length)) return;

  // Python's words, to paint what is edited.
  const WORDS = "and|as|assert|break|class|continue|def|del|elif|else|except|False|finally|for|from|global|if|import|in|is|lambda|None|nonlocal|not|or|pass|raise|return|True|try|while|with|yield";
  const TOKEN = RegExp(String.raw`(?<note>#.*)|(?<text>"""[^]*?"""|'''[^]*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|(?<word>\b(?:${WORDS})\b)|(?<number>\b\d[\d.e]*)`, "g");

  const make = (tag, fields, ...inside) => {
    const node = Object.assign(document.createElement(tag), fields);
    node.append(...inside);
    return node;
  };
  const button = (label, what, onclick, title = "") => make("button", {
    type: "button", textContent: label, ariaLabel: `${label}: ${what}`, onclick, title });
  const hash = (text) => [...text].reduce((h, c) => (h * 31 + c.charCodeAt(0)) | 0, 7);
  const store = {       // a browser can refuse to keep anything
    get(key) { try { return localStorage[key]; } catch { return undefined; } },
    set(key, text) { try { localStorage[key] = text; } catch { /* not kept */ } },
    drop(key) { try { delete localStorage[key]; } catch { /* not kept */ } },
  };

  // What the page says, also to a screen reader.
  const status = make("span", { role: "status" }), counts = make("span");
  const bar = make("progress", { max: 1, value: 0, hidden: true, ariaLabel: "Loading Python" });
  const stop = button("Stop", "the page", () => session.then((opened) => opened.stop()));
  stop.disabled = true;

  // A cell: a box with code on the page, and what it printed in the book.
  class Cell {
    constructor(box, name) {
      this.box = box;
      this.code = box.querySelector("code");
      this.html = this.code.innerHTML;
      this.original = this.code.textContent.trimEnd();
      this.name = name;
      this.key = `run:${location.pathname.split("/").at(-1)}:${name}:${hash(this.original)}`;
      const after = box.nextElementSibling;
      this.printed = [after, after?.matches(".question") && after.nextElementSibling]
        .find((it) => it && it.matches(".output"));
      for (const [key, value] of Object.entries({
        contenteditable: "plaintext-only", spellcheck: false, autocapitalize: "off",
        role: "textbox", "aria-multiline": true, tabindex: 0,
        "aria-describedby": "run-keys", "aria-label": `${name}, Python` }))
        this.code.setAttribute(key, value);
      // A click on a name leads to its definition; elsewhere it edits.
      this.code.onpointerdown = this.code.onfocus = ({ target }) => target.closest("a") ?? this.flatten();
      this.code.oninput = () => this.edited();
      this.code.onkeydown = (event) => typed(event, this);
      this.says = make("span");
      this.run = button("Run", name, () => start("run", this), "Shift+Enter; first runs the cells that it needs");
      this.again = button("Reset", name, () => this.reset(), "Restore the cell from the book");
      this.again.hidden = true;
      this.bar = make("div", { className: "run-bar", role: "group", ariaLabel: name }, this.run, this.again, this.says);
      box.append(this.bar);
      const kept = store.get(this.key);
      if (kept !== undefined) this.fill(kept);
    }
    get source() { return this.code.textContent.replace(/\n$/, ""); }
    fill(source) {
      this.code.textContent = source + "\n";
      this.flat = true;
      this.edited();
    }
    flatten() {         // one text node is easy to edit, and to paint
      if (!this.flat) this.fill(this.source);
    }
    edited() {
      const differs = this.source !== this.original;
      this.box.classList.toggle("run-edited", differs);
      this.again.hidden = !differs;
      differs ? store.set(this.key, this.source) : store.drop(this.key);
      this.paint();
    }
    reset() {
      this.code.innerHTML = this.html;
      this.flat = false;
      this.edited();
      this.output?.replaceWith(...[this.printed].filter(Boolean));
      this.output = this.ran = null;
      this.says.textContent = "";
    }
    paint(line) {
      if (!window.Highlight || !this.flat) return;
      this.painted?.forEach((undo) => undo());
      this.painted = [];
      this.code.normalize();
      const node = this.code.firstChild;
      if (node?.nodeType !== Node.TEXT_NODE || this.code.childNodes.length > 1) return;
      const mark = (kind, from, to) => {
        const range = new Range(), name = `run-${kind}`;
        range.setStart(node, from), range.setEnd(node, to);
        const all = (CSS.highlights.get(name) || new Highlight()).add(range);
        CSS.highlights.set(name, all);
        this.painted.push(() => all.delete(range));
      };
      for (const { groups, index, 0: text } of this.source.matchAll(TOKEN))
        mark(Object.keys(groups).find((kind) => groups[kind]), index, index + text.length);
      const lines = this.source.split("\n");
      if (line <= lines.length) {
        const from = lines.slice(0, line - 1).join("\n").length + (line > 1);
        mark("wrong", from, from + lines[line - 1].length);
      }
    }
  }

  // As in a notebook: Shift+Enter runs, and Escape leaves the code.
  function typed(event, cell) {
    const { key, shiftKey } = event;
    const insert = (text) => (event.preventDefault(), document.execCommand("insertText", false, text));
    const { focusNode: node, focusOffset } = getSelection();
    const line = node.nodeType === Node.TEXT_NODE ? node.data.slice(0, focusOffset).split("\n").at(-1) : "";
    event.stopPropagation();        // the theme has keys of its own
    if (key === "Enter" && (shiftKey || event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      start("run", cell);
      if (shiftKey) cells[cells.indexOf(cell) + 1]?.code.focus();
    } else if (key === "Enter") insert(`\n${line.match(/^ */)[0]}${/[:([{]\s*$/.test(line) ? "    " : ""}`);
    else if (key === "Tab" && !shiftKey && line.trim() === "") insert("    ");
    else if (key === "Escape") cell.run.focus();
  }

  const cells = blocks.map((box, i) => new Cell(box, `cell ${i + 1}`));
  const exercises = files.map((box) => {
    const [, file, number] = box.closest("details").querySelector("summary").textContent.match(/((e[\d_]+\d)_\w+)\.py/);
    const cell = Object.assign(new Cell(box, `exercise ${number}`), { exercise: file });
    cell.run.textContent = "Try it";
    if (store.get(`solved:${file}`)) solved(cell);
    return cell;
  });
  function solved(cell) {
    store.set(`solved:${cell.exercise}`, "1");
    cell.box.closest("details").classList.add("run-solved");
    const done = files.filter((box) => box.closest(".run-solved")).length;
    counts.textContent = `${done} of ${files.length} exercises solved`;
  }

  link.parentElement.after(make("div", { className: "run-bar run-top", role: "group", ariaLabel: "All cells" },
    button("Run all", "the page", () => start("runAll")), stop,
    button("Reset page", "the page", () => [...cells, ...exercises].forEach((cell) => cell.reset())),
    button("Download", "the page, as a notebook with your edits", () => start("download")),
    bar, status, counts,
    make("span", { id: "run-keys", hidden: true, textContent: "Shift+Enter runs, Escape leaves the code." })));

  let session;
  function start(what, cell) {
    if (location.protocol === "file:") {
      status.textContent = "A page opened from a folder can't start Python. Run `make serve`, or read the book online.";
      (cell || { says: status }).says.textContent = status.textContent;
      return;
    }
    const page = { base, link, cells, make, button, status, bar, stop, solved };
    session ??= import(new URL("session.js", base)).then(({ open }) => open(page));
    session.then((opened) => opened[what](cell)).catch((error) => {
      session = null;
      status.textContent = `Python can't start here: ${error}`;
    });
  }
  window.bookRun = { cells, exercises, start, get session() { return session; } };
})();
