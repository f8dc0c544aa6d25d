// The guesses of the player: three acts, one of which comes next.
(() => {
  const player = customElements.get("trace-player");
  if (player.prototype.offer) return;
  const { element, icon } = player.tools;
  const STAY = { preventScroll: true };     // the page doesn't jump
  const capital = (text) => text[0].toUpperCase() + text.slice(1);

  // What happens in a step, without its details: the start of its caption.
  function act({ kind, html }) {
    if (kind === "end") return "The program is done";
    if (kind === "turn") return "The reverse pass begins";
    const end = " (?:with|to|and|so) |[,.:](?: |$)";
    return html.match(RegExp(`^(?:<code>.*?</code>|(?!${end}).)*`))[0];
  }

  // Who does what. Two acts with the same sense are not both offered.
  function sense(act) {
    const verbs = { passes: "asks", leaves: "asks", knows: "asks",
      opens: "runs", calls: "runs" };
    const [, who, verb] = act.match(
      /^(.*?) (asks|passes|leaves|knows|answers|opens|finds|records|doesn't|runs|calls|raises|is asked)/) || ["", act];
    return `${who} ${verbs[verb] || verb}`.toLowerCase();
  }

  Object.assign(player.prototype, {
    // Which of three acts is the next?
    offer() {
      if (this.guess.querySelector("button:enabled:not(.pl-more)")) {
        return this.guess.replaceChildren();
      }
      const at = this.at, right = act(this.frames[at + 1]);
      const choices = [right, ...this.wrong(at, right)].sort();
      const said = element("p");
      said.setAttribute("role", "status");
      const buttons = choices.map((choice) => {
        const node = element("button");
        node.type = "button";
        node.innerHTML = choice;
        node.addEventListener("click", () => {
          const isRight = choice === right;
          if (!this.guesses.has(at)) this.guesses.set(at, isRight);
          node.className = isRight ? "pl-right" : "pl-wrong";
          node.prepend(icon(isRight ? "right" : "wrong"), " ");
          node.disabled = true;
          if (!isRight) {
            said.textContent = this.why(at, choice);
            buttons.find((each) => !each.disabled).focus(STAY);
            return;
          }
          const panel = [...this.guess.childNodes];
          for (const each of buttons) each.disabled = true;
          this.go(at + 1);
          this.guess.replaceChildren(...panel);
          said.textContent = this.counted();
          if (this.asker.disabled) return this.slider.focus(STAY);
          const more = element("button", "pl-more", "Guess on");
          more.type = "button";
          more.addEventListener("click", () => {
            this.guess.replaceChildren();
            this.offer();
          });
          this.guess.append(more);
          more.focus(STAY);
        });
        return node;
      });
      this.guess.replaceChildren(
        element("p", "", "What comes next?"), ...buttons, said);
      // Below the caption, if it fits there, and not over the stack.
      const { caption, guess } = this, whole = guess.parentElement;
      const below = caption.offsetTop + caption.offsetHeight + 4;
      const most = whole.clientHeight - guess.offsetHeight;
      guess.style.top = `${Math.max(0, Math.min(below, most))}px`;
      buttons[0].focus(STAY);
    },

    counted() {
      const right = [...this.guesses.values()].filter(Boolean).length;
      const count = `${right} of ${this.guesses.size} right`;
      return this.at === this.frames.length - 1
        ? `That was the last step: ${count}.` : `Yes, ${count}.`;
    },

    // Two acts that could come next, but do not.
    wrong(at, right) {
      const frame = this.frames[at], { trace } = frame;
      const role = (number) => capital(this.traces[number][0]);
      const chain = trace === undefined ? [] : [trace, ...this.waiting(frame)];
      const below = chain[1], made = [];
      if (frame.kind === "ask") {     // the trace has to do something
        if (below !== undefined) made.push(`${role(trace)} asks ${this.traces[below][0]}`);
        const forward = chain.find((each) => /^forward/.test(this.traces[each][0]));
        if (forward !== undefined) made.push(`${role(forward)} finds the rule`);
        if (frame.op.length > 1) made.push(`${role(trace)} opens <code>${frame.op}</code>`);
        made.push(`${role(trace)} answers`);
      } else {
        const asker = this.frames.slice(0, at).findLast((each) =>
          each.depth === frame.depth - 1)?.trace;
        if (asker !== undefined) made.push(`${role(asker)} answers`);
      }
      const seen = [sense(right), sense(act(frame))];
      const pool = [...made, ...this.frames.slice(at + 2).map(act),
        ...this.frames.slice(0, at).map(act), "The reverse pass begins",
        "The program is done", "An error is raised"].filter((each) => {
        const isNew = !seen.includes(sense(each));
        if (isNew) seen.push(sense(each));
        return isNew;
      }).slice(0, 4);
      return [0, 1].map((i) => pool[(at + i) % pool.length]);
    },

    // Why an act is not the next.
    why(at, choice) {
      const steps = this.frames.map((frame, i) => [sense(act(frame)), i + 1])
        .filter(([is]) => is === sense(choice)).map(([, step]) => step);
      const later = steps.find((step) => step > at + 1);
      if (later) return `Not yet: that is step ${later}. Try another.`;
      return steps.length ? `No, that was step ${steps.at(-1)}. Try another.`
        : "No, that does not happen here. Try another.";
    },
  });
})();
