// Sets the mathematics of a page, if it has any, with the KaTeX beside us.
const formulas = document.querySelectorAll(".arithmatex");

if (formulas.length) {
  const katex = new URL("katex/", document.currentScript.src);

  const style = document.createElement("link");
  style.rel = "stylesheet";
  style.href = katex + "katex.min.css";
  document.head.append(style);

  const script = document.createElement("script");
  script.src = katex + "katex.min.js";
  document.head.append(script);

  const loaded = (node) => new Promise((done) => { node.onload = done; });
  Promise.all([loaded(style), loaded(script)]).then(
    () => formulas.forEach(typeset));
}

// The text is \(…\) in a line and \[…\] on its own.
function typeset(formula) {
  window.katex.render(formula.textContent.trim().slice(2, -2), formula, {
    displayMode: formula.tagName === "DIV",
    throwOnError: false,
  });
  letKeysScroll(formula);
}

// What is too wide for the page can be reached, and moved, with the keys.
function letKeysScroll(box) {
  if (box.scrollWidth > box.clientWidth) {
    box.tabIndex = 0;
  }
}

// Names what Material leaves without one, for those who hear the page.
document.querySelector(".md-search")?.setAttribute("aria-label", "Search");

new MutationObserver(() => {
  for (const bar of document.querySelectorAll("nav.md-code__nav")) {
    bar.role = "none";   // a landmark in every listing is too many
  }
  document.querySelectorAll(".md-typeset__scrollwrap").forEach(letKeysScroll);
}).observe(document.body, { childList: true, subtree: true });
