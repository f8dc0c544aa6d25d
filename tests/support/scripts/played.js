// Step through the players of a page, and return a line for each fault.
// All steps of a player have one height, also while the reader guesses.
return (async () => {
const wrong = [];
for (const it of document.querySelectorAll(".shows")) it.open = true;
for (const player of document.querySelectorAll("trace-player")) {
  player.closest("details")?.setAttribute("open", "");
  const say = (words) => wrong.push(`${player.id} ${player.at}: ${words}`);
  let first, high;
  const height = () => player.getBoundingClientRect().height;
  for (const [i, frame] of player.frames.entries()) {
    player.go(i);
    const shown = (name) => [...player.querySelectorAll(name)];
    if (shown(".pl-caption")[0].textContent !== frame.caption)
      say("another caption");
    if (shown("input")[0].value != i + 1) say("another step");
    if (shown("pre .pl-here").length !== (frame.line === undefined ? 0 : 1))
      say("another line");
    const back = frame.kind === "back" && frame.written[0];
    if (!shown(".pl-stage")[0].textContent.includes(back || frame.op))
      say("the operation is missing");
    for (const part of shown(".pl, .pl-stage, .pl-known"))
      if (part.scrollWidth > part.clientWidth + 1) say("too wide");
    const top = shown(".pl-controls")[0].getBoundingClientRect().top
      - player.getBoundingClientRect().top;
    if (top !== (first ??= top)) say("the buttons move");
    if (Math.abs(height() - (high ??= height())) > 1) say("another height");
    if (i + 1 === player.frames.length) break;
    await player.ask();
    const choices = [...shown(".pl-guess button")].map((it) => it.textContent);
    if (new Set(choices).size !== 3) say(`choices: ${choices}`);
    if (choices.includes(frame.caption)) say("a choice is on the screen");
    if (Math.abs(height() - high) > 1) say("guessing needs room");
    const { bottom } = shown(".pl-caption")[0].getBoundingClientRect();
    if (shown(".pl-guess")[0].getBoundingClientRect().top < bottom)
      say("the choices hide the step");
    await player.ask();
  }
  const program = player.querySelector("pre");
  for (const line of innerWidth < 1280 ? [] : program.children)
    if (line.getClientRects()[0].height > 30)
      say(`a line is broken: ${line.textContent}`);
  if (program.scrollWidth > program.clientWidth && innerWidth >= 1280)
    say("the program scrolls");
  if (player.frames.length < 3) say("too short");
}
return wrong;
})();
