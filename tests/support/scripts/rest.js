// Wait until the page has its styles, fonts, and formulas.
const [patience, done] = arguments;
const every = (selector, test) =>
  [...document.querySelectorAll(selector)].every(test);
const rests = () => document.fonts.status === "loaded"
  && document.getAnimations().length === 0
  && every("link[rel=stylesheet]", (it) => it.sheet);

const deadline = performance.now() + 1000 * patience;
let frames = 0;
requestAnimationFrame(function look(now) {
  frames = rests() ? frames + 1 : 0;
  frames > 3 || now > deadline ? done() : requestAnimationFrame(look);
});
