// The player of recordings: see player.py. It loads nothing but guess.js, on
// a click, and in a notebook that is here already.
(() => {
  if (customElements.get("trace-player")) return;
  const source = document.currentScript?.src;

  // The site's colors and fonts, where there are any.
  const style = `
trace-player { display: block; margin: 1.6em 0; --pl-line: #8888;
  --pl-here: #e8a33d55; --pl-paper: var(--paper, #fff);
  --pl-accent: var(--accent, #9c3d14); --pl-blue: var(--blue, #1d5687);
  --pl-green: var(--green, #3c6620); --pl-purple: var(--purple, #7a3d86);
  --pl-red: var(--red, #a3241b); --pl-faded: var(--faded, #686153);
.pl { position: relative; border: 1px solid var(--pl-line);
  border-radius: 6px; padding: .6em .8em; font-size: .72rem;
  line-height: 1.45; }
.jp-OutputArea-output & .pl { font-size: 13px; }
.pl p { margin: .5em 0; }
.pl-parts { display: flex; flex-wrap: wrap; gap: .6em 1em;
  align-items: start; }
.pl-stage { flex: 1 1 22em; min-width: 0; display: grid;
  gap: .3em; align-content: start; }
.pl-mono, .pl :is(pre, code) {
  font: .95em/1.45 var(--mono, ui-monospace, Menlo, Consolas, monospace); }
.pl code { background: none; padding: 0; }
.pl .pl-program { display: grid; max-width: 100%; margin: 0;
  padding: 0; overflow-x: auto; white-space: pre; }
.pl-program > span { padding: 0 .3em; }
.pl .pl-here { background: var(--pl-here); border-radius: 3px; }
.pl-word { color: var(--pl-accent); }
.pl-name { color: var(--pl-blue); font-weight: 600; }
.pl-text { color: var(--pl-green); }
.pl-digit { color: var(--pl-purple); }
.pl-note { color: var(--pl-faded); font-style: italic; }
.pl-row { border: 1.5px solid var(--c, #888); padding: .2em .5em;
  border-radius: 5px; min-height: 2.2em; }
.pl-row.pl-active { background: color-mix(in srgb, var(--c, #888)
  14%, transparent); }
.pl-role { color: var(--c, inherit); font-weight: 600;
  float: right; margin-left: .6em; }
.pl svg { width: 1em; height: 1em; vertical-align: -.12em;
  fill: none; stroke: currentColor; stroke-width: 2; stroke-linecap: round;
  stroke-linejoin: round; }
.pl-row > svg { color: var(--c, inherit); margin-right: .35em; }
.pl-mono .pl-mono { font-size: 1em; white-space: nowrap; }
.pl-box { display: inline-flex; gap: .35em; margin: .1em .15em;
  align-items: center; padding: 0 .3em; border: 1.5px solid var(--c, #888);
  border-radius: 4px; }
.pl-box > :nth-child(2):last-child { border-left: 1px dashed;
  padding-left: .3em; }
.pl-known { display: grid; gap: .3em 1em; margin-top: .5em;
  grid-template-columns: repeat(auto-fit, minmax(9em, 1fr)); }
.pl-known div { height: 1.9em; line-height: 1.9em;
  overflow: hidden; white-space: nowrap; text-overflow: ellipsis; }
.pl-known .pl-box { margin: 0; line-height: 1.45; }
.pl .pl-head { margin: 0; font-weight: 600; }
.pl .pl-legend { color: var(--pl-faded); }
.pl-bar { display: inline-block; height: .8em; min-width: 1px;
  background: #8889; vertical-align: middle; margin-right: .4em; }
:is(.pl-controls, .pl-guess) { font: 500 .65rem/1.6 var(--sans,
  system-ui, sans-serif); }
.jp-OutputArea-output & :is(.pl-controls, .pl-guess) {
  font-size: 12px; }
.pl-controls { display: flex; flex-wrap: wrap; gap: .5em;
  align-items: center; color: var(--pl-faded); }
.pl-controls input { flex: 1 1 8em; min-width: 6em;
  accent-color: var(--pl-accent); }
.pl-number { font-variant-numeric: tabular-nums;
  text-align: right; }
.pl button { font: inherit; color: var(--pl-accent);
  background: none; border: 1px solid; border-radius: 3px; cursor: pointer;
  min-width: 2.6em; min-height: 24px; padding: .1em .7em; }
.pl button:disabled { color: var(--pl-faded); cursor: default; }
.pl :focus-visible { outline: 2px solid var(--pl-accent);
  outline-offset: 2px; }
.pl-guess { position: absolute; left: 0; right: 0;
  padding: .7em 1em; background: var(--pl-paper);
  border-block: 1px solid var(--pl-line); display: flex; flex-wrap: wrap;
  gap: .5em; }
.pl-guess:empty { display: none; }
.pl .pl-guess p { flex: 1 0 100%; margin: 0; min-height: 1.6em; }
.pl .pl-guess button { text-align: left; }
.pl .pl-guess .pl-right { color: var(--pl-green); }
.pl .pl-guess .pl-wrong { color: var(--pl-red); }
.pl-measure { position: absolute; visibility: hidden; }
@media (max-width: 39rem) {
  .pl .pl-program { white-space: pre-wrap; overflow-wrap: anywhere; } }
@media (pointer: coarse) { .pl button { min-width: 44px; min-height: 40px; }
  .pl-controls input { height: 40px; } }
.pl-c0 { --c: #595959; } .pl-c1 { --c: #1a5596; }
.pl-c2 { --c: #974708; } .pl-c3 { --c: #1f643b; }
.pl-c4 { --c: #95304f; } .pl-c5 { --c: #704090; }
.pl-c6 { --c: #155f64; } }
[data-jp-theme-light="false"] trace-player { --accent: #e7996b;
  --blue: #8dbbe3; --green: #a8c47c; --purple: #d3a3dd; --red: #f08d80;
  --faded: #a39b8a; --paper: var(--jp-layout-color0, #111); }
:is([data-md-color-scheme="slate"], [data-jp-theme-light="false"]) {
  trace-player { --pl-here: #e8a33d2a; }
  trace-player .pl-c0 { --c: #a5a5a5; } trace-player .pl-c1 { --c: #7db3ee; }
  trace-player .pl-c2 { --c: #f0a267; } trace-player .pl-c3 { --c: #7cc79a; }
  trace-player .pl-c4 { --c: #e58aa8; } trace-player .pl-c5 { --c: #c39ae0; }
  trace-player .pl-c6 { --c: #6fc3c9; } }
@media screen { trace-player.pl-on .player-still { display: none; } }
@media print { trace-player .pl { display: none; } }`;

  const TOKENS = /(?<note>#.*)|(?<text>"""[^]*?"""|'''[^]*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|(?<=\b(?:def|class) )(?<name>\w+)|\b(?<word>and|as|assert|break|class|continue|def|del|elif|else|except|False|finally|for|from|global|if|import|in|is|lambda|None|nonlocal|not|or|pass|raise|return|True|try|while|with|yield)\b|(?<digit>\b\d[\w.]*)/g;
  const ICONS = { first: "M11 3 6 8l5 5M4 3v10", previous: "M10 3 5 8l5 5",
    next: "M6 3l5 5-5 5", last: "M5 3l5 5-5 5M12 3v10",
    asks: "M8 2v11M4 9l4 4 4-4", answers: "M8 14V3M4 7l4-4 4 4",
    both: "M4.5 2v11M1.5 10l3 3 3-3M11.5 14V3M8.5 6l3-3 3 3",
    right: "M2.5 8.5l4 4 7-9", wrong: "M3.5 3.5l9 9M12.5 3.5l-9 9" };
  const MOST = 9;      // lines of what is known

  const element = (tag, name, ...children) => {
    const node = document.createElement(tag);
    if (name) node.className = name;
    node.append(...children);
    return node;
  };
  const icon = (name) => {
    const node = element("span");
    node.innerHTML = `<svg viewBox="0 0 16 16" aria-hidden="true"><path d="${ICONS[name]}"/></svg>`;
    return node.firstChild;
  };
  const load = (name) => new Promise((loaded) => {
    const script = element("script");
    Object.assign(script, { src: new URL(name, source), onload: loaded });
    document.head.append(script);
  });

  // The lines of a program, with its words in color.
  const colored = (lines) => {
    const text = lines.join("\n"), rows = [element("span")];
    const put = (part, name) => part.split("\n").forEach((piece, i) => {
      if (i) rows.push(element("span"));
      if (piece) rows.at(-1).append(
        name ? element("span", `pl-${name}`, piece) : piece);
    });
    let at = 0;
    for (const { 0: found, index, groups } of text.matchAll(TOKENS)) {
      put(text.slice(at, index));
      put(found, Object.keys(groups).find((name) => groups[name]));
      at = index + found.length;
    }
    put(text.slice(at));
    for (const row of rows) if (!row.firstChild) row.append(" ");
    return rows;
  };

  class TracePlayer extends HTMLElement {
    static tools = { element, icon };

    connectedCallback() {
      if (this.at !== undefined) return;
      const box = this.closest(".ways");
      const isRead = (node) =>
        node && (node.nextSibling || isRead(node.parentNode));
      if (document.readyState === "loading" && !isRead(box || this)) {
        // The page is still being read. Go on before it is painted.
        const reader = new MutationObserver(() => {
          reader.disconnect();
          this.connectedCallback();
        });
        reader.observe(document, { childList: true, subtree: true });
        return;
      }
      if (!document.getElementById("trace-player-style")) {
        const sheet = element("style", "", style);
        sheet.id = "trace-player-style";
        document.head.append(sheet);
      }
      const data = this.querySelector("script[type='application/json']");
      const rows = this.querySelectorAll(".player-still tr");
      Object.assign(this, JSON.parse(data.textContent));
      // The captions are those of the list, and empty parts are left out.
      this.frames = this.frames.map((frame, i) => ({
        args: [], written: [], cotangents: [], depth: 0, op: "", living: 0,
        ...frame, caption: rows[i].lastChild.textContent,
        html: rows[i].lastChild.innerHTML }));
      this.guesses = new Map();     // by step: whether it was right at first
      this.build(data);
      this.classList.add("pl-on");
      addEventListener("hashchange", () => this.link());
      this.go(0);
      if (box) switched(box);
      // A step needs no more room than another.
      new ResizeObserver(() => this.fit()).observe(this.stage);
      this.fit();
      this.link();
    }

    // Goes to the step that the address names, as in #player-3.
    link() {
      const [, id, step] = location.hash.match(/^#(.+)-(\d+)$/) || [];
      if (id !== this.id) return;
      this.go(step - 1);
      this.scrollIntoView({ block: "nearest" });
    }

    build(data) {
      const button = (shown, label, act) => {
        const node = element("button", "", shown);
        node.type = "button";
        if (label !== shown) node.setAttribute("aria-label", label);
        node.addEventListener("click", act);
        return node;
      };
      const last = this.frames.length - 1;
      this.program = element("pre", "pl-program", ...colored(this.lines));
      this.program.tabIndex = 0;      // the keys scroll what is too wide
      this.stage = element("div", "pl-stage");
      this.known = element("div", "pl-known");
      this.caption = element("p", "pl-caption");
      this.caption.setAttribute("aria-live", "polite");
      this.guess = element("div", "pl-guess");
      this.slider = element("input");
      Object.assign(this.slider, { type: "range", min: 1, max: last + 1 });
      this.slider.setAttribute("aria-label", "Step");
      // A thumb that scrolls the page can begin on the slider.
      this.slider.addEventListener("pointerdown", () => {
        const { at } = this;
        this.slider.addEventListener("pointercancel", () => this.go(at),
          { once: true });
      });
      this.slider.addEventListener("input", () => {
        this.pause();
        this.go(this.slider.value - 1);
      });
      this.number = element("span", "pl-number");
      this.number.style.minWidth = `${2 * `${last + 1}`.length + 2}ch`;
      this.player = button("Play", "Play", () => this.play());
      this.player.style.minWidth = "4.6em";
      this.asker = button("Guess", "Guess the next step", () => this.ask());
      const controls = element("div", "pl-controls",
        button(icon("first"), "First step", () => this.step(-Infinity)),
        button(icon("previous"), "Previous step", () => this.step(-1)),
        button(icon("next"), "Next step", () => this.step(1)),
        button(icon("last"), "Last step", () => this.step(Infinity)),
        this.player, this.asker, this.slider, this.number);
      const whole = element("div", "pl", controls, this.caption,
        element("div", "pl-parts", this.program, this.stage),
        this.known, element("p", "pl-legend",
        "A box has the color of its interpreter, and a value sits beside its "
        + "tangent. An arrow down is a question, and an arrow up is an "
        + "answer."), this.guess);
      whole.setAttribute("role", "group");
      whole.setAttribute("aria-label",
        this.querySelector("p")?.textContent || "A recording, step by step");
      whole.addEventListener("keydown", (event) => {
        const steps = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity,
          End: Infinity };
        const { target, key } = event;
        const scrolls = target === this.program
          && target.scrollWidth > target.clientWidth;
        if (key === "Escape" && this.guess.firstChild) {
          this.guess.replaceChildren();
          this.asker.focus();
        }
        if (scrolls || !(key in steps)) return;
        event.preventDefault();
        this.step(steps[key]);
      });
      data.before(whole);
    }

    // Reserves the room of the largest step, at the width of now.
    fit() {
      const width = this.stage.clientWidth;
      if (!width || width === this.width) return;
      this.width = width;
      const boxes = (node, children, width) => {
        node.style.width = `${width}px`;
        node.append(...children);
        return node;
      };
      const texts = this.frames.map(({ html }) => this.worded(html));
      const rows = this.frames.map((frame) => this.row(frame.trace, frame));
      const captions = boxes(element("div", "pl-measure"), texts,
        this.caption.clientWidth);
      const stage = boxes(element("div", "pl-stage pl-measure"),
        [...rows, this.row(0)], width);
      this.guess.before(captions, stage);
      const height = (node) => node.getBoundingClientRect().height;
      const gap = parseFloat(getComputedStyle(stage).rowGap);
      const heights = rows.map(height), idle = height(stage.lastChild);
      this.caption.style.minHeight = `${Math.max(...texts.map(height))}px`;
      const open = [];
      const needs = this.frames.map((frame, i) => {
        open.length = Math.min(open.length, frame.depth);
        open[frame.depth] = heights[i] + gap;
        return this.waiting(frame).length * (idle + gap)
          + open.reduce((sum, each) => sum + each, -gap);
      });
      this.stage.style.minHeight = `${Math.max(...needs)}px`;
      captions.remove();
      stage.remove();
    }

    step(by) {
      this.pause();
      this.go(this.at + by);
    }

    pause() {
      clearInterval(this.timer);
      this.timer = null;
      this.player.textContent = "Play";
    }

    play() {
      if (this.timer) return this.pause();
      if (this.at === this.frames.length - 1) this.go(0);
      this.player.textContent = "Pause";
      this.timer = setInterval(() => {
        this.go(this.at + 1);
        if (this.at === this.frames.length - 1) this.pause();
      }, 1200);
    }

    // Asks which of three acts comes next: see guess.js.
    async ask() {
      this.pause();
      if (!this.offer) await load("guess.js");
      this.offer();
    }

    go(at) {
      const last = this.frames.length - 1;
      this.at = Math.max(0, Math.min(last, at));
      const frame = this.frames[this.at];
      const before = this.frames.slice(0, this.at + 1);
      this.guess.replaceChildren();
      this.asker.disabled = this.at === last;
      this.slider.value = this.at + 1;
      this.slider.setAttribute("aria-valuetext",
        `${this.at + 1} of ${last + 1}: ${frame.caption}`);
      this.number.textContent = `${this.at + 1} / ${last + 1}`;
      this.caption.replaceChildren(...this.worded(frame.html).childNodes);
      [...this.program.children].forEach((line, i) =>
        line.classList.toggle("pl-here", i === frame.line));
      this.showStack(frame, before);
      this.showKnown(before);
    }

    worded(html) {
      const node = element("div");
      node.innerHTML = html;
      return node;
    }

    // What has been asked and not answered, from above, and of whom; and
    // below it the traces that wait.
    showStack(frame, before) {
      const open = [];
      for (const each of before) {
        open.length = Math.min(open.length, each.depth);
        open[each.depth] = each;
      }
      this.stage.replaceChildren(
        ...open.filter(Boolean).map((each) =>
          this.row(each.trace, each, each === frame)),
        ...this.waiting(frame).map((trace) => this.row(trace)));
    }

    waiting({ trace }) {
      const chain = [];
      for (let each = this.traces[trace]?.[2] ?? null; each !== null;
        each = this.traces[each][2]) chain.push(each);
      return chain;
    }

    row(trace, each, isActive = false) {
      const [role, color] = trace === undefined
        ? [{ end: "result", back: "back" }[each.kind] || "", 0]
        : this.traces[trace];
      const node = element("div", `pl-row pl-c${color % 7}`,
        element("span", "pl-role", role));
      node.classList.toggle("pl-active", isActive);
      if (!each) return node;
      node.style.marginLeft = `${each.depth * 0.6}em`;
      const arrow = { ask: "asks", compute: "both", turn: "", end: "" };
      const name = arrow[each.kind] ?? "answers";
      if (name) node.append(icon(name));
      node.append(each.kind === "back" && each.written.length
        ? element("span", "pl-mono", each.written[0])
        : each.op ? this.operation(each) : this.box(each.result));
      return node;
    }

    operation(frame) {
      const boxes = frame.args.map((each) => this.box(each));
      const node = element("span", "pl-mono", ...(
        "+-*/".includes(frame.op) && boxes.length === 2
          ? [boxes[0], ` ${frame.op} `, boxes[1]]
          : [frame.op, ...boxes.flatMap((each) => [" ", each])]));
      if (frame.result) node.append(" → ", this.box(frame.result));
      return node;
    }

    box(code) {
      if (!code) return "";
      if (typeof code === "string") return element("span", "pl-mono", code);
      const [trace, ...inside] = code;
      const boxes = inside.map((each) => this.box(each));
      return trace === null ? element("span", "", ...boxes) : element(
        "span", `pl-box pl-c${this.traces[trace][1] % 7}`, ...boxes);
    }

    // What has been found, written down, and sent back.  Each part has the
    // lines of the last step from the start.
    showKnown(before) {
      const last = before.at(-1), parts = [];
      const line = (...nodes) => element("div", "pl-mono", ...nodes);
      const add = (title, most, lines) => {
        if (!most) return;
        const head = element("p", "pl-head", title);
        const part = element("section", "", head, ...lines);
        while (part.childElementCount <= most) part.append(line());
        parts.push(part);
      };
      const found = (frames) => frames.filter((each) => each.depth === 0 &&
        ["answer", "compute", "write"].includes(each.kind));
      add("results", Math.min(6, found(this.frames).length),
        found(before).slice(-6).map(
          (each) => line(`${each.op} `, this.box(each.result))));
      const written = (frames) => frames.filter((each) =>
        each.kind === "write").flatMap((each) => each.written);
      const texts = written(before), here = texts.indexOf(last.written[0]);
      const end = Math.max(MOST, here < 0 ? texts.length : here + 1);
      add("written down", Math.min(MOST, written(this.frames).length),
        texts.slice(end - MOST, end).map((text) => {
          const node = line(text);
          node.classList.toggle("pl-here", last.written.includes(text));
          return node;
        }));
      const worth = (frames) => Object.entries(Object.fromEntries(
        frames.flatMap((each) => each.cotangents)));
      add("cotangents", Math.min(MOST, worth(this.frames).length),
        worth(before).slice(-MOST).map(
          ([name, value]) => line(`${name}: `, this.box(value))));
      if (this.memory) {
        const most = Math.max(...this.frames.map((each) => each.living));
        const bar = element("span", "pl-bar");
        bar.style.width = `${(7 * last.living) / most}em`;
        add("arrays in memory", 1, [line(bar, `${last.living}`)]);
      }
      this.known.replaceChildren(...parts);
    }
  }

  // Two players in one box, each in its details: a switch shows one of them,
  // and both have the height of the higher one.
  function switched(box) {
    const ways = [...box.querySelectorAll(":scope > details")];
    const player = (way) => way.querySelector("trace-player");
    const isReady = ways.every((way) => player(way)?.at !== undefined);
    if (!isReady || box.matches(".switched")) return;
    const bar = element("fieldset", "way-bar", element("legend", "", "Which way?"));
    const inputs = ways.map((way, i) => {
      const input = element("input");
      Object.assign(input, { type: "radio", name: "way" });
      input.addEventListener("change", () => {
        const from = player(ways.find((other) => other !== way));
        choose(i);
        if (from) player(way)?.go(from.at);
      });
      bar.append(element("label", "", input,
        way.querySelector("summary").textContent));
      return input;
    });
    const choose = (i) => {
      inputs[i].checked = true;
      ways.forEach((way, j) => way.classList.toggle("other", j !== i));
    };
    const follow = () => choose(Math.max(0, ways.findIndex(
      (way) => location.hash.startsWith(`#${player(way)?.id}-`))));
    for (const way of ways) {
      way.removeAttribute("name");
      way.open = true;
    }
    box.classList.add("switched");
    box.prepend(bar);
    follow();
    addEventListener("hashchange", follow);
  }

  customElements.define("trace-player", TracePlayer);
})();
