// Puts the pages of the site into one document, for a print.
//
// Arguments: [[part, [[page, title], ...]], ...], the HTML of a cover, and
// styles. A name stands for one place in the whole document, so those of a
// page get the page's own before them.
const [parts, cover, styles, done] = arguments;
const site = new URL(".", location.href).href;
const name = (page, id = "") => page.replace(/\W/g, "_") + (id && `--${id}`);
const pages = parts.flatMap(([, pages]) => pages.map(([page]) => page));

const made = (tag, properties = {}, ...children) => {
  const it = Object.assign(document.createElement(tag), properties);
  it.append(...children);
  return it;
};

// What is folded away on the site is left out, except for an error, and for
// one of the ways that the site shows in turn.
function unfolded(it) {
  const [, heading, ...rest] = it.children;
  if (it.matches(".way")) return [heading, ...rest];
  return it.matches(".error")
    ? [made("p", {}, made("strong", {}, ...heading.childNodes)), ...rest] : [];
}

// A question lists its answers, and its reasons come after the output.
function answered(question) {
  const answers = [...question.querySelectorAll("details:not(.shows)")];
  const [says, whys] = ["summary", "p"].map((part) => made(
    "ol", { type: "a" }, ...answers.map((it) => made(
      "li", {}, ...it.querySelector(part).childNodes))));
  question.nextElementSibling.after(made("div", { className: "question" }, whys));
  question.append(says);
}

async function sheet(page, level) {
  const url = new URL(page, site).href;
  const answer = await fetch(url);
  const html = new DOMParser().parseFromString(await answer.text(),
                                               "text/html");
  const article = document.adoptNode(html.querySelector("article"));
  for (const it of article.querySelectorAll(
      "script:not([type='application/json']), .notebook, .headerlink, "
      + ".md-button"))
    it.remove();
  article.querySelectorAll(".question").forEach(answered);
  for (const it of article.querySelectorAll("details"))
    it.replaceWith(...unfolded(it));
  for (const it of article.querySelectorAll("*"))
    for (const { name: kind, value } of [...it.attributes])
      if (kind === "id" || kind === "for")
        it.setAttribute(kind, name(page, value));
      else if (kind === "src")
        it.setAttribute(kind, new URL(value, url).href);
      else if (it.tagName !== "A" && value.startsWith("#")
               && kind.endsWith("href"))
        it.setAttribute(kind, "#" + name(page, value.slice(1)));
      else if (value.includes("url(#"))
        it.setAttribute(kind, value.replaceAll(
          "url(#", `url(#${name(page)}--`));
  for (const it of article.querySelectorAll("a[href]")) {
    const to = new URL(it.getAttribute("href"), url);
    const path = to.href.startsWith(site)
      && to.href.slice(site.length).split("#")[0];
    if (pages.includes(path))
      it.setAttribute("href", "#" + name(
        path, decodeURIComponent(to.hash.slice(1))));
    else if (to.href.startsWith(site))
      it.removeAttribute("href");
  }
  for (const it of article.querySelectorAll("h1, h2, h3, h4, h5, h6"))
    it.setAttribute("aria-level", +it.tagName[1] + level);
  article.id = name(page);
  return article;
}

(async () => {
  const contents = made("ol");
  const book = made("main", { className: "md-typeset print" });
  const rules = [];
  for (const [part, itsPages] of parts) {
    if (part) {
      const heading = made("div", { className: "part", textContent: part });
      heading.role = "heading";
      heading.ariaLevel = 1;
      book.append(heading);
      contents.append(made("li", { className: "part", textContent: part }));
    }
    for (const [page, title] of itsPages) {
      const article = await sheet(page, part ? 1 : 0);
      const head = title || article.querySelector("h1").textContent.trim();
      article.style.page = name(page);
      rules.push(`@page ${name(page)} { @top-center { content: ${
        JSON.stringify(head)} } }`);
      book.append(article);
      contents.append(made("li", {}, made(
        "a", { href: `#${name(page)}` }, made("span", { textContent: head }),
        made("b", { textContent: "000" }))));
    }
  }
  // A link to what is not here leads to its page.
  for (const it of book.querySelectorAll("a[href^='#']")) {
    const id = it.getAttribute("href").slice(1);
    if (!book.querySelector("#" + CSS.escape(id)))
      it.setAttribute("href", "#" + id.split("--")[0]);
  }
  const start = made("div", { className: "cover" });
  start.innerHTML = cover;
  book.prepend(start, made("nav", { className: "contents" },
    made("div", { className: "title", textContent: "Contents" }), contents));
  document.head.append(made("style", { textContent: styles + rules.join("\n") }));
  document.body.replaceChildren(book);
  for (const it of document.images) {
    it.loading = "eager";
    await it.decode().catch(() => {});
  }
  await document.fonts.ready;
  done([...document.images].filter(it => !it.naturalWidth)
    .map(it => it.src));
})().catch(error => done([String(error)]));
