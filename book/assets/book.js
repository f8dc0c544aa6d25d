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

let asked;       // once for all details that are unfolded together
function letKeysScrollSoon() {
  cancelAnimationFrame(asked);
  asked = requestAnimationFrame(letKeysScroll);
}

letKeysScroll();
addEventListener("resize", letKeysScrollSoon);
addEventListener("toggle", letKeysScrollSoon, true);
new MutationObserver(letKeysScrollSoon).observe(
  document.body, { subtree: true, attributeFilter: ["tabindex"] });

// Names what Material leaves without one, for those who hear the page.
document.querySelector(".md-search")?.setAttribute("aria-label", "Search");

// Material listens to keys, and a thumb can write or paste without them.
document.querySelector(".md-search__input")?.addEventListener("input",
  ({ target }) => target.dispatchEvent(new KeyboardEvent("keyup")));

// A cell that a reader runs can show the first player of a page.
const { src } = document.currentScript;
function loadPlayer() {
  if (!document.querySelector("trace-player:not(:defined)")) return;
  if (document.querySelector("script[src$='player.js']")) return;
  const script = document.createElement("script");
  script.src = new URL("player.js", src);
  document.head.append(script);
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
