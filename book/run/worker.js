// The reader's Python.  It hears {start}, {fresh}, {run} and {exercise}, and
// says what it loads, what a cell prints and raises, and "lost" if it broke.
let cells, pyodide, pictures, got = 0, whole = 1;
const say = (kind, text) => postMessage({ kind, text });
const quiet = { messageCallback() {} };

// Counts the bytes of each file once, for the progress bar.
const plain = self.fetch, met = new Set();
self.fetch = async (...request) => {
  const answer = await plain(...request);
  if (answer.body && !met.has(answer.url)) count(answer.clone().body.getReader());
  met.add(answer.url);
  return answer;
};
async function count(reader) {
  for (let part; !(part = await reader.read()).done;) {
    got += part.value.length;
    postMessage({ kind: "loading", done: got / whole });
  }
}

// Refuses a file that isn't the pinned one.  Python then takes it from the
// browser's cache.
async function check(url, wanted) {
  const data = await (await fetch(url)).arrayBuffer();
  const found = [...new Uint8Array(await crypto.subtle.digest("SHA-256", data))]
    .map((byte) => byte.toString(16).padStart(2, "0")).join("");
  if (found !== wanted) throw Error(`${url} is not the file that the book names`);
}

async function start({ runtime, base, limit, bytes, files: pinned }) {
  whole = bytes;
  // Where a policy forbids it, Pyodide would wait forever.
  await WebAssembly.compile(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0));
  const files = fetch(new URL("autodiff_mini.zip", base)).then((answer) => answer.arrayBuffer());
  if (self.crypto?.subtle)      // a page without https has no digests
    await Promise.all(Object.entries(pinned).map(([name, wanted]) =>
      check(new URL(name, runtime), wanted)));
  const { loadPyodide } = await import(new URL("pyodide.mjs", runtime));
  pyodide = await loadPyodide({ indexURL: runtime, packages: ["numpy"],
    env: { PYTHONHASHSEED: "0", MPLBACKEND: "agg" } });
  const run = (source) => pyodide.runPython(source);
  pyodide.unpackArchive(await files, "zip",
    { extractDir: run("__import__('site').getsitepackages()[0]") });
  run(`__import__("sys").setrecursionlimit(${limit})`);
  cells = pyodide.pyimport("cells");
  cells.say = say;
  cells.fresh();
  say("ready");
}

function told(began, result) {
  const [error, frames, passed] = result.toJs();
  postMessage({ kind: "done", error, frames, passed, ms: performance.now() - began });
}

onmessage = async ({ data }) => {
  try {
    const began = performance.now(), { run, exercise } = data;
    if (data.start) await start(data.start);
    if (data.fresh) cells.fresh(pictures = data.pictures);
    if (pictures && /matplotlib/.test(run?.source))
      await pyodide.loadPackage("matplotlib", quiet);
    if (run) told(began, cells.run(run.source, run.number));
    if (exercise) told(began, cells.attempt(exercise.name, exercise.source, exercise.lines, exercise.tests));
  } catch (error) {         // no cell's own, so Pyodide is of no use now
    say("lost", String(error).slice(0, 200));
  }
};
