// The player of recordings: see player.py. It loads nothing.
(() => {
  if (customElements.get("trace-player")) return;

  const style = `
trace-player { display: block; margin: 1.6em 0; --pl-line: #8888;
  --pl-accent: #9c3d14; }
trace-player .pl { border: 1px solid var(--pl-line); border-radius: 6px;
  padding: .6em .8em; font-size: .72rem; line-height: 1.45; }
.jp-OutputArea-output trace-player .pl { font-size: 13px; }
trace-player .pl-parts { display: flex; flex-wrap: wrap; gap: .6em 1em;
  align-items: start; }
trace-player .pl-stage { flex: 1 1 22em; min-width: 0; }
trace-player .pl-known { display: flex; flex-wrap: wrap; gap: .4em 2em;
  margin-top: .6em; }
trace-player .pl-mono, trace-player .pl pre { font-family: ui-monospace,
  SFMono-Regular, Menlo, monospace; font-size: .95em; }
trace-player .pl .pl-program { display: grid; max-width: 100%; margin: 0;
  padding: 0; overflow-x: auto; white-space: pre; }
trace-player .pl-program span { padding: 0 .3em; }
trace-player .pl .pl-here { background: #e8a33d55; border-radius: 3px; }
trace-player .pl-row { border: 1.5px solid var(--c, #888); padding: .2em .5em;
  border-radius: 5px; margin-bottom: .3em; min-height: 2.9em; }
trace-player .pl-row.pl-active { background: color-mix(in srgb, var(--c, #888)
  14%, transparent); }
trace-player .pl-role { color: var(--c, inherit); font-weight: 600;
  float: right; margin-left: .6em; }
trace-player .pl-stage .pl-mono .pl-mono { white-space: nowrap; }
trace-player .pl-box { display: inline-flex; gap: .35em; margin: .1em .15em;
  align-items: center; padding: 0 .3em; border: 1.5px solid var(--c, #888); border-radius: 4px; }
trace-player .pl-box > :nth-child(2):last-child { border-left: 1px dashed;
  padding-left: .3em; }
trace-player .pl .pl-head { margin: 0 0 .1em; font-weight: 600; }
trace-player .pl .pl-legend { margin: .4em 0 0; }
trace-player .pl-bar { display: inline-block; height: .8em; min-width: 1px;
  background: #8889; vertical-align: middle; margin-right: .4em; }
trace-player .pl-caption { margin: .4em 0; }
trace-player .pl-controls { display: flex; flex-wrap: wrap; gap: .35em;
  align-items: center; }
trace-player .pl-controls input { flex: 1 1 8em; min-width: 6em;
  accent-color: var(--pl-accent); }
trace-player .pl button { font: inherit; color: inherit; background: none;
  border: 1px solid var(--pl-line); border-radius: 4px; cursor: pointer;
  min-width: 2.4em; min-height: 2.2em; padding: 0 .5em; }
trace-player .pl :focus-visible { outline: 2px solid var(--pl-accent);
  outline-offset: 1px; }
trace-player .pl-guess { display: grid; gap: .3em; margin: .4em 0; }
trace-player .pl-guess button { text-align: left; padding: .3em .5em; }
trace-player .pl-c0 { --c: #595959; } trace-player .pl-c1 { --c: #1a5596; }
trace-player .pl-c2 { --c: #974708; } trace-player .pl-c3 { --c: #1f643b; }
trace-player .pl-c4 { --c: #95304f; } trace-player .pl-c5 { --c: #704090; }
trace-player .pl-c6 { --c: #155f64; }
:is([data-md-color-scheme="slate"], [data-jp-theme-light="false"]) {
  trace-player { --pl-accent: #e7996b; }
  trace-player .pl-c0 { --c: #a5a5a5; } trace-player .pl-c1 { --c: #7db3ee; }
  trace-player .pl-c2 { --c: #f0a267; } trace-player .pl-c3 { --c: #7cc79a; }
  trace-player .pl-c4 { --c: #e58aa8; } trace-player .pl-c5 { --c: #c39ae0; }
  trace-player .pl-c6 { --c: #6fc3c9; } }
@media screen { trace-player.pl-on .player-still { display: none; } }
@media print { trace-player .pl { display: none; } }`;

  const element = (tag, name, ...children) => {
    const node = document.createElement(tag);
    if (name) node.className = name;
    node.append(...children);
    return node;
  };

  class TracePlayer extends HTMLElement {
    connectedCallback() {
      if (this.at !== undefined) return;
      const data = this.querySelector("script[type='application/json']");
      if (!data) {        // the page is still being read
        addEventListener("DOMContentLoaded", () => this.connectedCallback(),
          { once: true });
        return;
      }
      if (!document.getElementById("trace-player-style")) {
        const sheet = element("style", "", style);
        sheet.id = "trace-player-style";
        document.head.append(sheet);
      }
      Object.assign(this, JSON.parse(data.textContent));
      this.build(data);
      this.classList.add("pl-on");
      addEventListener("hashchange", () => this.link());
      this.go(0);
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
      const button = (text, label, act) => {
        const node = element("button", "", text);
        node.type = "button";
        if (label !== text) node.setAttribute("aria-label", label);
        node.addEventListener("click", act);
        return node;
      };
      const last = this.frames.length - 1;
      this.program = element("pre", "pl-program", ...this.lines.map(
        (line) => element("span", "", line || " ")));
      this.program.tabIndex = 0;      // the keys scroll what is too wide
      this.stage = element("div", "pl-stage");
      this.known = element("div", "pl-known");
      this.caption = element("p", "pl-caption");
      this.caption.setAttribute("aria-live", "polite");
      this.guess = element("div", "pl-guess");
      this.slider = element("input");
      Object.assign(this.slider, { type: "range", min: 1, max: last + 1 });
      this.slider.setAttribute("aria-label", "Step");
      this.slider.addEventListener("input", () => {
        this.pause();
        this.go(this.slider.value - 1);
      });
      this.number = element("span", "pl-number");
      this.player = button("Play", "Play", () => this.play());
      this.asker = button("Guess", "Guess the next step", () => this.ask());
      const controls = element("div", "pl-controls",
        button("|◀", "First step", () => this.step(-Infinity)),
        button("◀", "Previous step", () => this.step(-1)),
        button("▶", "Next step", () => this.step(1)),
        button("▶|", "Last step", () => this.step(Infinity)),
        this.player, this.asker, this.slider, this.number);
      // What grows with a step stands below the buttons, which stay in place.
      const whole = element("div", "pl", controls, this.guess, this.caption,
        element("div", "pl-parts", this.program, this.stage),
        this.known, element("p", "pl-legend",
        "The color of a box says whose it is, and a value sits beside its "
        + "tangent. The shaded interpreter is running, and it asks the one "
        + "below it."));
      whole.setAttribute("role", "group");
      whole.setAttribute("aria-label",
        this.querySelector("p")?.textContent || "A recording, step by step");
      whole.addEventListener("keydown", (event) => {
        const steps = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity,
          End: Infinity };
        const { target, key } = event;
        const scrolls = target === this.program
          && target.scrollWidth > target.clientWidth;
        if (scrolls || !(key in steps)) return;
        event.preventDefault();
        this.step(steps[key]);
      });
      data.before(whole);
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

    // Which of three captions is that of the next step?
    ask() {
      this.pause();
      const next = this.frames[this.at + 1];
      if (!next) return;
      const others = this.frames.map((frame) => frame.caption)
        .filter((caption) => caption !== next.caption);
      const near = [...new Set(others.slice(this.at).concat(others))];
      const choices = [next.caption, ...near.slice(0, 2)].sort();
      const answer = element("p");
      answer.setAttribute("role", "status");
      this.guess.replaceChildren("What comes next?", ...choices.map((text) => {
        const node = element("button", "", text);
        node.type = "button";
        node.addEventListener("click", () => {
          if (text === next.caption) {
            this.go(this.at + 1);
            this.guess.replaceChildren("Yes.");
            this.asker.focus();
          } else answer.textContent = "No. Try another.";
        });
        return node;
      }), answer);
      this.guess.querySelector("button").focus();
    }

    go(at) {
      const last = this.frames.length - 1;
      this.at = Math.max(0, Math.min(last, at));
      const frame = this.frames[this.at];
      const before = this.frames.slice(0, this.at + 1);
      this.guess.replaceChildren();
      this.slider.value = this.at + 1;
      this.slider.setAttribute("aria-valuetext",
        `${this.at + 1} of ${last + 1}: ${frame.caption}`);
      this.number.textContent = `${this.at + 1} / ${last + 1}`;
      this.caption.textContent = frame.caption;
      [...this.program.children].forEach((line, i) =>
        line.classList.toggle("pl-here", i === frame.line));
      this.showStack(frame, before);
      this.showKnown(before);
    }

    // What has been asked and not answered, from above, and of whom; and
    // below it the traces that wait.
    showStack(frame, before) {
      const open = [];
      for (const each of before) {
        open.length = Math.min(open.length, each.depth);
        open[each.depth] = each;
      }
      const row = (trace, each) => {
        const [role, color] = trace === undefined
          ? [{ end: "result", back: "back" }[each.kind] || "", 0]
          : this.traces[trace];
        const node = element("div", `pl-row pl-c${color % 7}`,
          element("span", "pl-role", role));
        node.classList.toggle("pl-active", each === frame);
        if (each) {
          node.style.marginLeft = `${each.depth * 0.6}em`;
          node.append(each.kind === "back" && each.written.length
            ? element("span", "pl-mono", each.written[0])
            : each.op ? this.operation(each) : this.box(each.result));
        }
        return node;
      };
      const waiting = frame.stack.slice(0, -1).reverse();
      this.stage.replaceChildren(
        ...open.filter(Boolean).map((each) => row(each.stack.at(-1), each)),
        ...waiting.map((trace) => row(trace)));
    }

    operation(frame) {
      const boxes = frame.args.map((each) => this.box(each));
      const node = element("span", "pl-mono", ...(
        "+-*/".includes(frame.op) && boxes.length === 2
          ? [boxes[0], ` ${frame.op} `, boxes[1]]
          : [frame.op, ...boxes.flatMap((each) => [" ", each])]));
      if (frame.kind !== "ask" && frame.kind !== "back") {
        node.append(" → ", this.box(frame.result));
      }
      return node;
    }

    box(code) {
      if (!code) return "";
      const [kind, ...rest] = code;
      if (kind === "value") return element("span", "pl-mono", rest[0]);
      if (kind === "list") {
        return element("span", "", ...rest.map((each) => this.box(each)));
      }
      const [trace, ...inside] = rest;
      return element("span", `pl-box pl-c${this.traces[trace][1] % 7}`,
        ...inside.map((each) => this.box(each)));
    }

    // What has been found, written down, and sent back.
    showKnown(before) {
      const parts = [];
      const add = (title, ...nodes) =>
        nodes.length && parts.push(element("div", "",
          element("p", "pl-head", title), ...nodes));
      const line = (...nodes) => element("div", "pl-mono", ...nodes);
      add("results", ...before.filter((each) => each.depth === 0 &&
        ["answer", "compute", "write"].includes(each.kind)).slice(-6).map(
        (each) => line(`${each.op} `, this.box(each.result))));
      const last = before[before.length - 1];
      add("written down", ...before.filter((each) => each.kind === "write")
        .flatMap((each) => each.written).map((text) => {
          const node = line(text);
          node.classList.toggle("pl-here", last.written.includes(text));
          return node;
        }));
      const worth = {};
      for (const each of before) {
        for (const [name, value] of each.cotangents) worth[name] = value;
      }
      add("cotangents", ...Object.entries(worth).map(
        ([name, value]) => line(`${name}: `, this.box(value))));
      const most = Math.max(...this.frames.map((each) => each.living));
      if (this.memory) {
        const { living } = last;
        const bar = element("span", "pl-bar");
        bar.style.width = `${(7 * living) / most}em`;
        add("arrays in memory", line(bar, `${living}`));
      }
      this.known.replaceChildren(...parts);
    }
  }

  customElements.define("trace-player", TracePlayer);
})();
