// The checks of an open page. Each returns a list of what is wrong.
// Arguments are the names of some checks; without them, all are run.
const all = (selector) => [...document.querySelectorAll(selector)];
const checks = {
  "the wrong colors": () => {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const { colorScheme } = getComputedStyle(document.body);
    return colorScheme === (dark ? "dark" : "light") ? [] : [colorScheme];
  },

  "a formula is not set": () => all(".arithmatex")
    .filter((formula) => !formula.querySelector(".katex"))
    .map((formula) => formula.textContent),

  "the page scrolls sideways": () => {
    const { scrollWidth, clientWidth } = document.documentElement;
    return scrollWidth > clientWidth ? [`${scrollWidth} px wide`] : [];
  },

  // If there is room for 78 columns, no listing is wider.
  "a listing scrolls": () => innerWidth < 1280 ? []
    : all(".highlight pre > code")
      .filter((code) => code.scrollWidth > code.clientWidth)
      .map((code) => code.textContent.split("\n")
        .reduce((a, b) => a.length < b.length ? b : a)),

  // A phone shows no scroll bar until a finger moves the box.
  "nothing shows that it scrolls": () => innerWidth >= 960 ? []
    : all("article *")
      .filter((it) => it.clientWidth && it.scrollWidth > it.clientWidth + 1)
      .filter((it) => {
        const { overflowX, backgroundAttachment } = getComputedStyle(it);
        return /auto|scroll/.test(overflowX)
          && !backgroundAttachment.includes("local");
      })
      .map((it) => it.outerHTML.slice(0, 200)),

  // In a wide window axe finds it.
  "no key scrolls": () => innerWidth >= 960 ? [] : all("article *")
    .filter((it) => it.clientWidth && it.scrollWidth > it.clientWidth + 1)
    .filter((it) => /auto|scroll/.test(getComputedStyle(it).overflowX))
    .filter((it) => !it.hasAttribute("tabindex") && !it.isContentEditable)
    .map((it) => it.outerHTML.slice(0, 200)),

  // In a plot or a drawing; the files of figures have a test of their own.
  "a word is small": () => all("article svg[viewBox] text")
    .filter((it) => it.checkVisibility() && it.textContent.trim())
    .filter((it) => {
      const svg = it.ownerSVGElement;
      const shrunk = svg.clientWidth / svg.viewBox.baseVal.width;
      return parseFloat(getComputedStyle(it).fontSize) * shrunk < 10;
    })
    .map((it) => it.textContent),

  "on paper": () => !matchMedia("print").matches ? []
    : all("header, nav, footer, details:not(.error, .way, .yours)")
      .filter((part) => part.checkVisibility())
      .map((part) => part.outerHTML),
};

const chosen = arguments.length ? [...arguments] : Object.keys(checks);
return chosen.flatMap((name) => checks[name]().map((it) => `${name}: ${it}`));
