// A session: the notebook of a page, and the Python that runs it.
//
// The page's own notebook says which cells there are, in which order, and
// what is in those that the page hides.

export async function open(desk) {
  const { base, link, make, button, status, solved } = desk.page;
  const [notebook, settings] = await Promise.all(
    [link.href, new URL("settings.json", base)].map(async (url) => (await fetch(url)).json()));
  const options = { pictures: false, ...window.bookRunOptions };
  const program = desk.program = pair(notebook, desk);
  let worker, ready, current, asked, refuse, clock = 0;

  // Python.  While it loads, the button that was clicked shows it.

  const bar = make("progress", { max: 1, ariaLabel: "Loading Python" });
  function boot(cell) {
    if (ready) return ready;
    const host = new URL(settings.runtime, base), said = cell?.says ?? status;
    status.textContent = `Loading Python and NumPy, ${settings.megabytes} MB once, from ${host.host || "this site"} …`;
    if (cell) said.textContent = "Loading Python …";
    bar.value = 0;
    said.before(bar);
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
    }).finally(() => bar.remove());
    ready.catch(() => { ready = null; });
    return ready;
  }

  function heard({ kind, text, done, ...rest }, resolve, reject) {
    if (kind === "loading") bar.value = Math.min(done, 1);
    else if (kind === "ready") resolve();
    else if (kind === "done") ended(current, rest);
    else if (kind === "lost") session.boot ? renew(`Python crashed: ${sentence(text)}`) : reject(text);
    else if (current && kind === "undrawn") current.undrawn = true;
    else if (current) show(current, kind, text);
  }

  // Jobs run one after another.  `cell` has the button that was clicked.

  let last = Promise.resolve(), waiting = 0, rounds = 0;
  function queue(cell, job) {
    const round = rounds, run = cell?.run ?? desk.page.top.firstChild;
    if (waiting++ && cell) cell.say("waiting …");
    run.ariaBusy = "true";
    desk.working(1);
    return last = last.then(async () => {
      try {
        if (round === rounds) await boot(cell).then(job);
      } catch (error) {
        cell?.say("");
        status.textContent = error === "stopped" ? "Stopped." : `Python can't start here: ${error}`;
      }
      current = null;
      waiting--;
      run.ariaBusy = null;
      desk.working(-1);
    });
  }

  // A cell runs after all above it that have not run as they are.

  const runTo = (last, cell, afresh) => queue(cell, async () => {
    if (afresh) {
      program.forEach((cell) => { cell.ran = null; });
      worker.postMessage({ fresh: true, pictures: options.pictures });
    }
    const first = program.findIndex((cell, i) => i === last || cell.stale || cell.ran !== cell.source);
    cell?.say("running …");
    asked = cell;
    for (let i = first; i <= last; i++) {
      if (await runOne(program[i])) continue;
      if (cell && i < last) cell.say(`not run, because of ${program[i].name}`);
      break;
    }
  });

  function runOne(cell) {
    const number = program.indexOf(cell);
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
    cell.fresh = make("div", { className: cell.box ? "output" : "output unseen", role: "group", ariaLabel: `Output of ${cell.name}` });
    cell.say("running …");
    status.textContent = said;
  }

  function ended(cell, { error, frames = [], ms, stopped, note, passed }) {
    if (error) show(cell, "error", error);
    for (const pre of cell.fresh.querySelectorAll("pre"))
      if (!(pre.textContent = pre.textContent.replace(/^\n+|\n+$/g, ""))) pre.remove();
    if (frames.length) locate(cell, frames);
    else cell.editor?.mark(0);
    if (note || cell.undrawn) keep(cell, note);
    if (cell.fresh.firstChild || cell.output || cell.printed) place(cell);
    const now = ++clock;
    if ((cell.ran ?? cell.shown) !== cell.running) cell.changed = now;
    Object.assign(cell, { ms, when: now, shown: cell.running, ran: stopped ? null : cell.running });
    const took = stopped ? "stopped, and Python has restarted" : note ? "not run" : `${error ? "raised an error after" : "ran in"} ${(ms / 1000).toFixed(2)} s`;
    const told = passed === undefined ? took : passed ? "Solved" : "Not solved yet";
    cell.say(told);
    if (passed) {
      solved(cell.exercise);
      cell.box.closest(".exercise").classList.add("run-moment");
    }
    desk.refresh();
    status.textContent = `${cell.name}: ${sentence(told)} ${error || ""}`;
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
      at.mark(line);
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
      runTo(program.indexOf(cell), cell.box && cell, true);
    }, "Loads matplotlib, 10 MB, and runs the page from the top"));
    cell.fresh.append(said);
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
    if (cell === asked && !cell.going && question?.matches(".question")) question.querySelector(".shows").open = true;
    if (old === cell.fresh || !(old || cell.box)) return;
    old ? old.replaceWith(cell.fresh) : cell.box.after(cell.fresh);
    cell.output = cell.fresh;
  }

  // Stopping: the worker goes, and a new one repeats what the next Run needs.

  function renew(why = "Stopped.") {
    worker?.terminate();
    ready = null;
    rounds++;
    program.forEach((cell) => { cell.ran = null; });
    if (current) ended(current, { stopped: true, error: why, ms: 0 });
    boot().then(() => { status.textContent = `${why} Python has restarted, and Run repeats what it needs.`; }, () => {});
  }
  function halt() {
    if (current) renew();
    else if (worker && bar.isConnected) {
      rounds++;
      worker.terminate();
      refuse("stopped");
    }
  }

  // Exercises: the reader's file, in a Python of its own, and its tests.

  const tryExercise = (cell) => queue(cell, async () => {
    const url = new URL(`exercises/${cell.exercise}.json`, base);
    const { head, tests } = await (await fetch(url)).json();
    begin(cell, `Trying ${cell.name}.`);
    cell.tags = [];
    await new Promise((resolve) => {
      cell.resolve = resolve;
      worker.postMessage({ exercise: { name: cell.exercise, source: head + cell.running, lines: head.split("\n").length - 1, tests } });
    });
    program.forEach((other) => { other.ran = null; });     // its Python is new
  });

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
    run: (cell) => (cell.exercise ? tryExercise(cell) : runTo(program.indexOf(cell), cell)),
    runAll: () => runTo(program.length - 1),
    runStale: () => runTo(program.findLastIndex((cell) => cell.stale)),
    get busy() { return waiting > 0; },
  };
  return session;
}

// Returns the notebook's cells in order: those of the page, with their boxes,
// and those that it hides, with their outputs.
function pair(notebook, { cells, outputs, unseen: another }) {
  const left = [...cells], unseen = [...outputs], program = [];
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
      cell = made.length && !tags.includes("hide-output") ? unseen.shift() : another();
      Object.assign(cell, { original, source: original, shown: original });
    }
    program.push(Object.assign(cell, { tags, at }));
  });
  return program;
}

// Ends what was said with a period, unless it ends already.
const sentence = (text) => (/[.?!…]$/.test(text) ? text : `${text}.`);
