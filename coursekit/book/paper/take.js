// Run in a page of the site: what a book on paper shows of it. Widgets are pictures, answers are
// unfolded, the code of cells that only draw is left out.

const PICTURE = "[data-lmcourse-widget], .output.html iframe";
const DROPPED = "script, style, template, .permalink, .back, .copy, button, .offers, .turn, .hidden";
const ALTERNATIVE = "svg[role=img], [role=img]";

const page = {
  /** The pages in reading order, as the table of contents has them. */
  contents() {
    const words = (it) => it?.textContent.trim() ?? null;
    const pages = [...document.querySelectorAll("nav.contents a")].map((link) => {
      const label = words(link.querySelector(".label"));
      const part = words(link.closest("ul").closest("li")?.querySelector(":scope > .part"));
      const title = words(link).slice(label?.length ?? 0).trim();
      return { slug: link.getAttribute("href").replace(".html", ""), title, label, part };
    });
    pages[0].title = words(document.querySelector(".home"));
    return pages;
  },

  /** Wait until the widgets are drawn; where each picture is, and what it says. */
  async pictures() {
    document.documentElement.dataset.theme = "light";
    const found = [...document.querySelectorAll(`article :is(${PICTURE})`)];
    const drawn = (it) => it.matches("iframe") || it.querySelector("svg, canvas, table");
    for (let i = 0; i < 300 && !found.every(drawn); i += 1) {
      await new Promise((done) => setTimeout(done, 50));
    }
    await document.fonts.ready;
    await new Promise((done) => setTimeout(done, found.length ? 400 : 50));
    return found.map((it) => {
      const shown = it.querySelector(".lm-stage") ?? it;
      const { x, y, width, height } = shown.getBoundingClientRect();
      return {
        x: x + scrollX, y: y + scrollY, width, height,
        alternative: it.querySelector(ALTERNATIVE)?.getAttribute("aria-label") ?? it.title ?? "",
      };
    });
  },

  /** The article as XHTML: pictures have the names that are given, links lead to `page(slug)`. */
  article({ slug, pictures, slugs, math, paper }) {
    const copy = document.querySelector("main > article").cloneNode(true);
    if (!copy.querySelector("h1")) { // the first page's title is above its article
      copy.prepend(document.querySelector("h1").cloneNode(true));
    }
    [...copy.querySelectorAll(PICTURE)].forEach((it, i) => {
      const { name, alternative, width } = pictures[i];
      const image = Object.assign(document.createElement("img"), { alt: alternative, width });
      image.setAttribute("src", name);
      it.closest(".output").replaceChildren(image);
    });
    copy.querySelectorAll("details.folded").forEach((it) => it.remove());
    copy.querySelectorAll(DROPPED).forEach((it) => it.remove());
    for (const details of copy.querySelectorAll("details")) {
      const box = document.createElement("div");
      box.className = `${details.className} open`;
      const title = document.createElement("p");
      title.className = "box-title";
      title.append(...(details.querySelector(":scope > summary")?.childNodes ?? []));
      details.querySelector(":scope > summary")?.remove();
      box.append(title, ...details.childNodes);
      if (details.id) box.id = details.id;
      details.replaceWith(box);
    }
    for (const it of copy.querySelectorAll(".katex")) {
      const formula = it.querySelector("math");
      formula.querySelectorAll("annotation").forEach((each) => each.remove());
      // KaTeX writes an invisible operator after \\max, also in a subscript, where MathML has no room.
      formula.querySelectorAll(":is(msub, msup, msubsup) > mo").forEach((each) => each.textContent === "\u2061" && each.remove());
      if (math) it.closest(".katex-display") ? it.closest(".katex-display").replaceWith(formula) : it.replaceWith(formula);
      else formula.closest(".katex-mathml").remove();
    }
    const anchor = (name, id) => (paper ? `#${name}${id ? `--${id}` : ""}` : `${name}.xhtml${id ? `#${id}` : ""}`);
    for (const link of copy.querySelectorAll("a[href]")) {
      const href = link.getAttribute("href");
      const [, name, id] = href.match(/^([\w-]*)(?:\.html)?(?:#(.+))?$/) ?? [];
      if (href.startsWith("#")) link.setAttribute("href", paper ? anchor(slug, id) : `#${id}`);
      else if (href.includes(".html") && slugs.includes(name)) link.setAttribute("href", anchor(name, id));
      else if (!/^(https?|mailto):/.test(href)) link.replaceWith(...link.childNodes);
      else link.setAttribute("href", href.replaceAll("<", "%3C").replaceAll(">", "%3E"));
    }
    for (const it of copy.querySelectorAll("*")) {
      for (const name of ["loading", "decoding", "tabindex", "aria-describedby", "aria-labelledby", "data-passed"]) it.removeAttribute(name);
      if (paper && it.id && !it.closest("svg")) it.id = `${slug}--${it.id}`;
    }
    copy.id = paper ? slug : "top";
    return new XMLSerializer().serializeToString(copy);
  },
};
page;
