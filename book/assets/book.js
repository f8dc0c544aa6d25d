// What is too wide for the page can be reached, and moved, with the keys.
// Material sees to it for code, but not where there is no mouse.
function letKeysScroll() {
  const boxes = ".arithmatex, pre > code, .output .rich";
  for (const box of document.querySelectorAll(boxes)) {
    if (box.scrollWidth > box.clientWidth && !box.hasAttribute("tabindex")) {
      box.tabIndex = 0;
    }
  }
}

letKeysScroll();
addEventListener("resize", letKeysScroll);
addEventListener("toggle", letKeysScroll, true);    // details are unfolded
new MutationObserver(letKeysScroll).observe(
  document.body, { subtree: true, attributeFilter: ["tabindex"] });

// Names what Material leaves without one, for those who hear the page.
document.querySelector(".md-search")?.setAttribute("aria-label", "Search");

// A cell that a reader runs can show the first player of a page.
const { src } = document.currentScript;
function loadPlayer() {
  if (!document.querySelector("trace-player:not(:defined)")) return;
  if (document.querySelector("script[src$='player.js']")) return;
  const script = document.createElement("script");
  script.src = new URL("player.js", src);
  document.head.append(script);
}

// Two players in one box: a switch shows one, at the step of the other.
for (const box of document.querySelectorAll(".ways")) {
  const ways = [...box.querySelectorAll(":scope > details")];
  const bar = document.createElement("fieldset");
  bar.className = "way-bar";
  bar.innerHTML = `<legend>Which way?</legend>${ways.map((way, i) =>
    `<label><input type="radio" name="way" value="${i}"> ${
      way.querySelector("summary").innerHTML}</label>`).join("")}`;
  const player = (way) => way.querySelector("trace-player");
  const choose = (i) => {
    bar.querySelectorAll("input")[i].checked = true;
    ways.forEach((way, j) => way.classList.toggle("other", j !== i));
  };
  bar.addEventListener("change", ({ target }) => {
    const before = ways.find((way) => !way.matches(".other"));
    choose(+target.value);
    player(ways[target.value])?.go(player(before)?.at);
  });
  const follow = () => {
    const [, name] = location.hash.match(/^#(.+)-\d+$/) || [];
    const i = ways.findIndex((way) => player(way)?.id === name);
    if (i >= 0) choose(i);
  };
  for (const way of ways) {
    way.removeAttribute("name");    // both are open, so both have a height
    way.open = true;
  }
  box.classList.add("switched");
  box.prepend(bar);
  choose(0);
  follow();
  addEventListener("hashchange", follow);
}

new MutationObserver(() => {
  loadPlayer();
  for (const bar of document.querySelectorAll("nav.md-code__nav")) {
    bar.role = "none";   // a landmark in every listing is too many
  }
  for (const box of document.querySelectorAll(".md-typeset__scrollwrap")) {
    box.tabIndex = 0;   // a table may be too wide when the window is narrow
  }
}).observe(document.body, { childList: true, subtree: true });
