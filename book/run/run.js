// Shows what a reader can do on a page, and has done before.
//
// This file asks for nothing.  The first click imports desk.js for the rest.
(() => {
  const base = new URL("run/", document.currentScript.src);
  const all = (selector) => [...document.querySelectorAll(selector)];
  const make = (tag, fields, ...inside) => {
    const node = Object.assign(document.createElement(tag), fields);
    node.append(...inside);
    return node;
  };
  const button = (label, what, onclick, title = "") => make("button", {
    type: "button", textContent: label, ariaLabel: `${label}: ${what}`, onclick, title });
  const hash = (text) => [...text].reduce((h, c) => (h * 31 + c.charCodeAt(0)) | 0, 7);
  // A browser can refuse to keep anything.
  const kept = (act) => { try { return act(localStorage); } catch { return undefined; } };
  const store = {
    get: (key) => kept((all) => all[key]),
    set: (key, text) => kept((all) => { all[key] = text; }),
    drop: (key) => kept((all) => delete all[key]),
    keys: () => kept(Object.keys) ?? [],
  };

  // The sidebar counts the solved exercises of each chapter that has one.
  function count(place, chapter) {
    const total = store.get(`exercises:${chapter}`);
    const done = store.keys().filter((key) => key.startsWith(`solved:e${chapter}_`)).length;
    place.querySelector(".run-count")?.remove();
    if (done && total) place.append(make("span", { className: "run-count", role: "img",
      ariaLabel: `${done} of ${total} exercises solved`, textContent: `${done}/${total} ✓` }));
  }
  function counted() {
    // A narrow menu has a label for this page.
    for (const place of all(".md-nav--primary .md-nav__link:is(a, [for=__toc])")) {
      const chapter = /chapters\/(\d\d)_[^#]*$/.exec(place.href ?? location.pathname)?.[1];
      if (chapter) count(place.querySelector(".md-ellipsis"), chapter);
    }
    if (heading && files.length) count(heading, chapter);
  }

  const link = document.querySelector("a.notebook");
  // Other boxes that can be folded hold solutions.
  const blocks = all("article .language-python.highlight")
    .filter((box) => !box.closest("details:not(.imports, .error)"));
  const files = all("article .yours");
  const heading = document.getElementById("exercises");
  const page = location.pathname.split("/").at(-1) || "index.html", chapter = page.slice(0, 2);
  if (files.length) store.set(`exercises:${chapter}`, files.length);
  counted();
  if (!link || !window.Worker || !(blocks.length + files.length)) return;

  const FOLDER = "A page opened from a folder can't start Python. Run `make serve`, or read it online.";
  const items = [], atHome = location.protocol === "file:";
  let opened;
  const open = () => opened ??= import(new URL("desk.js", base)).then((desk) => desk.open(given));
  const wake = () => { if (!atHome) open(), import(new URL("editor.js", base)); };
  // Asks the desk; until it's there, the reader sees that something happens.
  function ask(what, n) {
    const said = items[n]?.says ?? status;
    if (atHome) return said.textContent = FOLDER;
    if (!opened && /^run/.test(what)) said.textContent = "Loading Python …";
    return open().then((desk) => desk[what](n)).catch((error) => {
      opened = null;
      said.textContent = `This page can't be run: ${error}`;
    });
  }

  // The theme takes away the focus of a listing that doesn't scroll.
  const focusable = new MutationObserver((changes) => {
    for (const { target } of changes) if (target.tabIndex < 0) target.tabIndex = 0;
  });

  // A cell is a box with code on the page. Its name is what messages say.
  function add(box, name, exercise) {
    const n = items.length, code = box.querySelector("code"), html = code.innerHTML;
    const original = code.textContent.trimEnd(), says = make("span");
    const run = button(exercise ? "Try it" : "Run", name, () => ask("run", n), "Shift+Enter");
    const bar = make("div", { className: "run-bar", role: "group", ariaLabel: name }, run, says);
    const key = `run:${page}:${name}:${hash(original)}`, edit = store.get(key);
    Object.assign(code, { role: "group", tabIndex: 0, spellcheck: false, autocapitalize: "off", ariaLabel: `${name}, Python` })
      .setAttribute("aria-describedby", "run-keys");
    const hint = says.textContent = exercise && !store.get(`solved:${exercise}`) ? "Edit the code, then try it." : "";
    if (!exercise) box.dataset.cell = n + 1;
    if (edit !== undefined) code.textContent = edit + "\n";
    focusable.observe(code, { attributeFilter: ["tabindex"] });
    code.onfocus = wake;
    // A click on a name leads to its definition. Elsewhere it edits: a phone
    // shows its keyboard only for what is editable when it's touched.
    code.onpointerdown = ({ target }) => {
      if (target.closest("a, .cm-editor") || atHome) return;
      code.contentEditable = "plaintext-only";
      if (/iP|Mac/.test(navigator.platform) && navigator.maxTouchPoints > 1) still();
      wake();
    };
    code.onpointercancel = () => code.removeAttribute("contenteditable");     // it scrolled
    code.onclick = ({ target }) => target.closest("a, .cm-editor") || ask("edit", n);
    box.append(bar);
    items.push({ box, code, html, original, name, key, kept: edit, exercise, hint, run, says });
  }
  // iOS zooms into small text that is edited, but not with this.
  function still() {
    document.querySelector("meta[name=viewport]").content = "width=device-width, initial-scale=1, maximum-scale=1";
  }

  blocks.forEach((box, i) => add(box, `cell ${i + 1}`));
  for (const file of files) {
    const [, name, number] = /((e[\d_]+\d)_\w+)\.py/.exec(file.firstElementChild.textContent);
    add(file.querySelector(".highlight"), `exercise ${number}`, name);
    if (store.get(`solved:${name}`)) solved(name, file);
  }
  function solved(name, file = items.find(({ exercise }) => exercise === name).box.parentElement) {
    store.set(`solved:${name}`, 1);
    if (!file.parentElement.matches(".run-solved"))
      file.firstElementChild.append(make("span", { className: "run-tick", textContent: "✓ Solved" }));
    file.parentElement.classList.add("run-solved");
    file.parentElement.querySelector(".solution").open = true;
    counted();
  }

  // What the page says, also to a screen reader.
  const status = make("span", { role: "status", textContent: atHome ? FOLDER : "" });
  const top = make("div", { className: "run-bar run-top", role: "group", ariaLabel: "All cells" },
    button("Run all", "the page", () => ask("runAll")),
    button("Download", "the page, as a notebook with your edits", () => ask("download")),
    status,
    make("span", { id: "run-keys", hidden: true, textContent: "Enter edits, Shift+Enter runs, Escape leaves the code, arrows go on." }));
  link.parentElement.after(top);
  // The theme's button would cover this bar, so it's a part of it.
  top.append(...all(".md-top"));

  const given = { base, link, page, items, top, status, make, button, store, solved };
  window.bookRun = { open, ask };
  if (store.keys().some((key) => key.startsWith(`run:${page}:`))) open();
})();
