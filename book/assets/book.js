// What is too wide for the page can be reached, and moved, with the keys.
function letKeysScroll(box) {
  if (box.scrollWidth > box.clientWidth) {
    box.tabIndex = 0;
  }
}

document.querySelectorAll(".arithmatex").forEach(letKeysScroll);

// Names what Material leaves without one, for those who hear the page.
document.querySelector(".md-search")?.setAttribute("aria-label", "Search");

new MutationObserver(() => {
  for (const bar of document.querySelectorAll("nav.md-code__nav")) {
    bar.role = "none";   // a landmark in every listing is too many
  }
  for (const box of document.querySelectorAll(".md-typeset__scrollwrap")) {
    box.tabIndex = 0;   // a table may be too wide when the window is narrow
  }
}).observe(document.body, { childList: true, subtree: true });
