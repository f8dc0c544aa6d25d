// A session: the notebook of a page, and the Python that runs it.
//
// The page's own notebook says which cells there are, in which order, and
// what is in those that the page hides.

export async function open(page) {
  const { base, link, make, button, status, bar, stop } = page;
  const [notebook, settings] = await Promise.all(
    [link.href, new URL("settings.json", base)].map(async (url) => (await fetch(url)).json()));
  const options = { pictures: false, ...window.bookRunOptions };
  const program = pair(notebook, page);
  let worker, ready, busy = false, current, refuse;

  // Python

  function boot() {
    if (ready) return ready;
    const host = new URL(settings.runtime, base);
    status.textContent = `Loading Python and NumPy, ${settings.megabytes} MB once, from ${host.host || "this site"} …`;
    bar.hidden = false;
    worker = new Worker(new URL("worker.js", base), { type: "module" });
    ready = new Promise((resolve, reject) => {
      refuse = reject;
      worker.onmessage = ({ data }) => heard(data, resolve, reject);
      worker.onerror = (event) => reject(event.message || "the worker does not start");
    });
    worker.postMessage({ start: { ...settings, runtime: host.href, base: base.href } });
    const began = performance.now();
    ready = ready.then(() => {
      session.boot = performance.now() - began;
      status.textContent = "Python is ready.";
    }).finally(() => { bar.hidden = true; });
    ready.catch(() => { ready = null; });
    return ready;
  }

  function heard({ kind, text, done, ...rest }, resolve, reject) {
    if (kind === "loading") bar.value = Math.min(done, 1);
    else if (kind === "ready") resolve();
    else if (kind === "done") ended(current, rest);
    else if (kind === "lost") session.boot ? renew(`Python crashed: ${text}.`) : reject(text);
    else if (current && kind === "undrawn") current.undrawn = true;
    else if (current) show(current, kind, text);
  }

  // Running.  A cell runs after all above it that have not run as they are.

  async function runTo(last, afresh) {
    if (busy) return;
    busy = true;
    stop.disabled = false;
    try {
      await boot();
      if (afresh) {
        program.forEach((cell) => { cell.ran = null; });
        worker.postMessage({ fresh: true, pictures: options.pictures });
      }
      const first = program.findIndex((cell, i) => i === last || cell.stale || cell.ran !== cell.source);
      for (let i = first; i <= last; i++) if (!await runOne(program[i])) break;
    } catch (error) {
      status.textContent = `Python can't start here: ${error}`;
    }
    finish();
  }
  function finish() {
    busy = false;
    current = null;
    stop.disabled = true;
  }

  function runOne(cell) {
    const number = program.indexOf(cell);
    if (cell.ran && cell.ran !== cell.source)
      program.slice(number + 1).forEach((below) => below.ran && mark(below, true));
    begin(cell, `Running cell ${number + 1}.`);
    if (cell.tags.includes("not-in-browser")) {
      ended(cell, { error: "", ms: 0, note: "This cell needs something that a browser lacks, such as threads or a precise clock. The output is from the book." });
      return true;
    }
    worker.postMessage({ run: { source: cell.running, number } });
    return new Promise((resolve) => { cell.resolve = resolve; });
  }

  function begin(cell, said) {
    current = cell;
    cell.running = cell.source;
    cell.undrawn = false;
    cell.fresh = make("div", { className: "output", role: "group", ariaLabel: `Output of ${cell.name}` });
    if (cell.says) cell.says.textContent = "running …";
    status.textContent = said;
  }

  function ended(cell, { error, frames = [], ms, stopped, note, passed }) {
    if (error) show(cell, "error", error);
    for (const pre of cell.fresh.querySelectorAll("pre"))
      if (!(pre.textContent = pre.textContent.replace(/^\n+|\n+$/g, ""))) pre.remove();
    if (frames.length) locate(cell, frames);
    else if (cell.flat) cell.paint();
    if (note || cell.undrawn) keep(cell, note);
    if (cell.fresh.firstChild || cell.output || cell.printed) place(cell);
    cell.ran = stopped ? null : cell.running;
    cell.ms = ms;
    mark(cell, false);
    const took = stopped ? "stopped" : note ? "not run" : `${error ? "raised an error after" : "ran in"} ${(ms / 1000).toFixed(2)} s`;
    if (cell.says) cell.says.textContent = passed === undefined ? took : passed ? "Solved." : "Not solved yet.";
    if (passed) page.solved(cell);
    status.textContent = `${cell.name}: ${cell.says?.textContent || took}. ${error || ""}`;
    // The book's own errors are expected; after one of the reader's we stop.
    const edited = program.some((c) => c.box && c.source !== c.original);
    cell.resolve?.(!stopped && (!error || !edited || (cell.tags.includes("raises-exception") && cell.running === cell.original)));
  }

  function locate(cell, frames) {
    const number = program.indexOf(cell);
    const places = [frames[0], ...frames.slice(1).slice(-1)].map(([n, line]) => {
      const at = program[n] || cell;
      return `${n === number || !program[n] ? "" : `${at.name}, `}line ${line}: ${at.source.split("\n")[line - 1]?.trim() ?? ""}`;
    });
    cell.fresh.append(make("p", { className: "where", textContent: places.join(" → ") }));
    const [n, line] = frames.at(-1), at = program[n] || cell;
    if (at.box && !(cell.tags.includes("raises-exception") && cell.running === cell.original)) {
      at.flatten();
      at.paint(line);
    }
  }

  // What a cell can't do here, or not yet: the book's own output stays.
  function keep(cell, note) {
    const figure = cell.printed?.querySelector(".plot");
    if (note && cell.printed) cell.fresh.append(...cell.printed.cloneNode(true).childNodes);
    else if (figure) cell.fresh.append(figure.cloneNode(true));
    const said = make("p", { className: "where", textContent: note || (figure ? "This picture is from the book. " : "Nothing is drawn yet. ") });
    if (!note) said.append(button("Draw it here", cell.name, () => {
      options.pictures = true;
      runTo(program.indexOf(cell), true);
    }, "Loads matplotlib, 10 MB, and runs the page from the top"));
    cell.fresh.append(said);
  }

  function mark(cell, stale) {
    cell.stale = stale;
    cell.output?.classList.toggle("run-stale", stale);
    if (stale && cell.says) cell.says.textContent = "older than the code above";
  }

  function show(cell, kind, said) {
    const { fresh } = cell, last = fresh.lastChild;
    if (kind === "html") {
      const [tag, className] = said.startsWith("<svg") ? ["figure", "plot"] : ["div", "rich"];
      const box = make(tag, { className, innerHTML: said }), drawn = cell.printed?.querySelector(".plot svg");
      if (className === "plot") {
        box.firstChild.setAttribute("role", "img");
        box.firstChild.setAttribute("aria-label", drawn?.getAttribute("aria-label") ?? `Drawn by ${cell.name}`);
      }
      fresh.append(box);
    } else if (last?.className === kind && kind.startsWith("std")) last.textContent += said;
    else fresh.append(make("pre", { className: kind, tabIndex: 0, textContent: said }));
    place(cell);
  }

  function place(cell) {        // an id must not be on the page twice
    const old = cell.output || cell.printed, question = cell.box?.nextElementSibling;
    if (question?.matches(".question")) question.querySelector(".shows").open = true;
    if (old === cell.fresh || !(old || cell.box)) return;
    old ? old.replaceWith(cell.fresh) : cell.box.after(cell.fresh);
    cell.output = cell.fresh;
  }

  // Stopping: the worker goes, and a new one repeats what the next Run needs.

  function renew(why = "Stopped.") {
    worker?.terminate();
    ready = null;
    program.forEach((cell) => { cell.ran = null; });
    if (current) ended(current, { stopped: true, error: why, ms: 0 });
    boot().then(() => { status.textContent = `${why} Python has restarted, and Run repeats what it needs.`; }, () => {});
  }
  function halt() {
    if (current) renew();
    else if (busy) {            // it still loads
      worker.terminate();
      refuse("stopped");
    }
  }

  // Exercises: the reader's file, in a Python of its own, and its tests.

  async function tryExercise(cell) {
    if (busy) return;
    busy = true;
    stop.disabled = false;
    try {
      await boot();
      const url = new URL(`exercises/${cell.exercise}.json`, base);
      const { head, tests } = await (await fetch(url)).json();
      begin(cell, `Trying ${cell.name}.`);
      cell.tags = [];
      await new Promise((resolve) => {
        cell.resolve = resolve;
        worker.postMessage({ exercise: { name: cell.exercise, source: head + cell.running, lines: head.split("\n").length - 1, tests } });
      });
      program.forEach((other) => { other.ran = null; });     // its Python is new
    } catch (error) {
      status.textContent = `Python can't start here: ${error}`;
    }
    finish();
  }

  function download() {
    const copy = structuredClone(notebook);
    for (const cell of program) {
      if (!cell.box || cell.source === cell.original) continue;
      const { source, outputs } = copy.cells[cell.at];
      copy.cells[cell.at].source = [source].flat().join("").replace(cell.original, () => cell.source);
      outputs.length = 0;
    }
    const url = URL.createObjectURL(new Blob([JSON.stringify(copy, null, 1)], { type: "application/x-ipynb+json" }));
    make("a", { href: url, download: link.href.split("/").at(-1) }).click();
    URL.revokeObjectURL(url);
  }

  const session = {
    program, download, stop: halt, boot: 0,
    run: (cell) => (cell.exercise ? tryExercise(cell) : runTo(program.indexOf(cell))),
    runAll: () => runTo(program.length - 1),
    get busy() { return busy; },
  };
  return session;
}

// Returns the notebook's cells in order: those of the page, with their boxes,
// and those that it hides.
function pair(notebook, { cells }) {
  const left = [...cells], outputs = [...document.querySelectorAll("article .output")];
  const taken = new Set(cells.map((cell) => cell.printed));
  const program = [];
  notebook.cells.forEach(({ cell_type, id, metadata, source, outputs: made }, at) => {
    if (cell_type !== "code" || id === "needs") return;
    const tags = metadata.tags || [];
    const lines = [source].flat().join("").trimEnd().split("\n");
    const given = /^# (This cell runs in|\S+\.py$)/.test(lines[0]) ? 1 : 0;
    const original = lines.slice(metadata.title || given ? 1 : 0).join("\n");
    const shown = tags.includes("hide-input") ? -1 : left.findIndex((cell) => cell.original === original);
    let cell;
    if (shown >= 0) [cell] = left.splice(0, shown + 1).slice(-1);
    else {
      const last = program.findLast((c) => c.printed || c.box), mark = last?.printed || last?.box;
      const printed = made.length && !tags.includes("hide-output") ? outputs.find((it) => !taken.has(it)
        && (!mark || mark.compareDocumentPosition(it) & Node.DOCUMENT_POSITION_FOLLOWING)) : undefined;
      taken.add(printed);
      cell = { original, source: original, printed, name: "a hidden cell", paint() {} };
    }
    program.push(Object.assign(cell, { tags, at }));
  });
  return program;
}
