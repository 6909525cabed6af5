// Run in a page of the site: what a book on paper shows of it. Widgets are pictures, answers are
// unfolded, the code of cells that only draw is left out.

const PICTURE = "[data-lmcourse-widget], .output.html iframe";
const GRAPH = "[data-lmcourse-widget^=Graph-]";
const DROPPED = "script, .by-night, style, template, .permalink, .back, .copy, button, .offers, .turn, .hidden";
const ALTERNATIVE = "svg[role=img], [role=img]";

// A picture has no controls; nothing in it is hidden at an edge, or moves along with a window.
const STILL = `.topbar, .here, .lm-tip, .lm-stage :is(button, select) { display: none !important }
article *, article *::after { mask-image: none !important }
[data-continues]::after { content: none !important }
.lm-sheet { position: static !important; max-height: none !important }
.lm-stage, .lm-stage pre { overflow: visible !important; max-height: none !important }
.lm-stage pre { white-space: pre-wrap !important; overflow-wrap: anywhere !important }`;
const SHORT = 16; // lines of code or of output, rows of a table
const ROOM = 1.25; // MathML is set wider than KaTeX, by a fifth in long equations
const EDGE = 6; // pixels around a picture
const pause = (time) => new Promise((done) => setTimeout(done, time));

const made = (name, properties, ...children) => {
  const it = Object.assign(document.createElement(name), properties);
  it.append(...children);
  return it;
};

/** How wide a formula is, in its font's size; 0: it is hidden. */
function wide(display) {
  const parts = [...display.querySelectorAll(".base")].map((it) => it.getBoundingClientRect());
  const size = parseFloat(getComputedStyle(display.querySelector(".katex")).fontSize);
  const right = Math.max(...parts.map((it) => it.right)), left = Math.min(...parts.map((it) => it.left));
  return +(((right - left) / size) * ROOM).toFixed(1);
}

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

  /** Wait until everything is drawn, and let nothing move from here on; return how many pictures there are. */
  async still() {
    document.documentElement.dataset.theme = "light";
    document.head.append(Object.assign(document.createElement("style"), { textContent: STILL }));
    const found = [...document.querySelectorAll(`article :is(${PICTURE})`)];
    const drawn = (it) => it.matches("iframe") || it.querySelector(".lm svg[viewBox], :not(.lm) > svg, canvas, table");
    for (let i = 0; i < 300 && !found.every(drawn); i += 1) await pause(50);
    const missing = found.find((it) => !drawn(it));
    if (missing) throw new Error(`a widget was not drawn: ${missing.dataset.lmcourseWidget ?? missing.title}`);
    for (const it of document.querySelectorAll("article details:not(.folded)")) it.open = true;
    const images = [...document.querySelectorAll("article img")];
    for (const it of [...images, ...found]) it.loading = "eager";
    await Promise.all([document.fonts.ready, ...images.map((it) => it.decode().catch(() => {}))]);
    for (const it of document.querySelectorAll(GRAPH)) { // before its passes, a graph has no numbers
      const [back, on] = ["◀", "▶"].map((sign) => [...it.querySelectorAll("button")].find((each) => each.textContent.includes(sign)));
      const ended = (each) => each.getAttribute("aria-disabled") === "true";
      if (!ended(back)) continue;
      for (let i = 0; i < 200 && !ended(on); i += 1) {
        on.click();
        await pause(20);
      }
    }
    return found.length;
  },

  /** Draw a widget at a width; where what it shows is, whether it has room, and what it says. */
  async spot(number, width) {
    const it = document.querySelectorAll(`article :is(${PICTURE})`)[number];
    const stage = it.querySelector(".lm-stage");
    if (stage) it.querySelector(".lm").style.cssText = `width: ${width}px; max-width: none; margin: 0`;
    if (!stage) it.scrollIntoView(); // a frame out of sight does not draw
    await pause(stage ? 100 : 600);
    const whole = (stage ?? it).getBoundingClientRect();
    const marks = [...(stage?.querySelectorAll("*") ?? [])].filter((each) => !each.children.length && !each.closest("style, defs, .lm-grid, .lm-tip"));
    const seen = [...marks.map((each) => each.getBoundingClientRect()).filter((each) => each.width + each.height), ...(marks.length ? [] : [whole])];
    const [left, top] = ["left", "top"].map((side) => Math.min(...seen.map((each) => each[side])) - EDGE);
    const [right, bottom] = ["right", "bottom"].map((side) => Math.max(...seen.map((each) => each[side])) + EDGE);
    return {
      x: left + scrollX, y: top + scrollY, width: right - left, height: bottom - top, fits: right <= whole.right + 2 * EDGE,
      alternative: it.querySelector(ALTERNATIVE)?.getAttribute("aria-label") ?? it.title ?? "",
    };
  },

  /** The article as XHTML: pictures have the names that are given, links lead to `page(slug)`. */
  article({ slug, pictures, slugs, math, paper, address }) {
    const copy = document.querySelector("main > article").cloneNode(true);
    if (!copy.querySelector("h1")) { // the first page's title is above its article
      copy.prepend(document.querySelector("h1").cloneNode(true));
    }
    const shown = document.querySelectorAll("main > article .katex-display");
    copy.querySelectorAll(".katex-display").forEach((it, i) => { it.dataset.wide = wide(shown[i]); });
    [...copy.querySelectorAll(PICTURE)].forEach((it, i) => {
      const { name, alternative, width } = pictures[i];
      const image = made("img", { alt: alternative, width: Math.round(width) });
      image.setAttribute("src", name);
      const book = address ? made("a", { href: `${address}/${slug}.html` }, "in the HTML book") : "in the HTML book";
      const caption = made("figcaption", {}, "A still picture; the figure is interactive in the notebook and ", book, ".");
      it.closest(".output").replaceChildren(made("figure", { className: "widget" }, image, caption));
    });
    copy.querySelectorAll("details.folded").forEach((it) => it.remove());
    for (const it of copy.querySelectorAll("pre")) { // it stays on one page
      if (it.textContent.trimEnd().split("\n").length <= SHORT) (it.closest(".code") ?? it).classList.add("short");
    }
    for (const it of copy.querySelectorAll(".table table")) {
      if (it.rows.length <= SHORT) it.closest(".table").classList.add("short");
    }
    copy.querySelectorAll(DROPPED).forEach((it) => it.remove());
    for (const details of copy.querySelectorAll("details")) {
      const title = made("p", { className: "box-title" }, ...(details.querySelector(":scope > summary")?.childNodes ?? []));
      details.querySelector(":scope > summary")?.remove();
      const box = made("div", { className: `${details.className} open` }, title, ...details.childNodes);
      if (details.id) box.id = details.id;
      details.replaceWith(box);
    }
    for (const it of copy.querySelectorAll(".katex")) {
      const formula = it.querySelector("math");
      // KaTeX writes an invisible operator after \\max, also in a subscript, where MathML has no room.
      formula.querySelectorAll(":is(msub, msup, msubsup) > mo").forEach((each) => each.textContent === "\u2061" && each.remove());
      for (const each of formula.querySelectorAll("mo")) { // after log, no space of its own
        if (each.textContent === "\u2061" && !/^[([{\u2061]/.test(each.nextElementSibling?.textContent ?? "(")) each.setAttribute("rspace", ".17em");
      }
      formula.querySelectorAll("mpadded[width^='+']").forEach((each) => each.replaceWith(...each.childNodes)); // a relative width
      const display = it.closest(".katex-display");
      // A reader does not break an equation: it gets smaller where the page is narrower than it is.
      if (math && display?.dataset.wide > 0) formula.setAttribute("style", `font-size: max(.45em, min(1em, ${Math.floor(900 / display.dataset.wide) / 10}vw))`);
      if (math) (display ?? it).replaceWith(formula);
      else formula.closest(".katex-mathml").remove();
    }
    if (math) {
      for (const it of copy.querySelectorAll(".math-inline")) { // no line begins with the comma after it
        const next = it.nextSibling, mark = next?.nodeType === Node.TEXT_NODE && next.data.match(/^[.,;:!?)”’]+/);
        if (!mark) continue;
        next.data = next.data.slice(mark[0].length);
        it.style.whiteSpace = "nowrap";
        it.append(mark[0]);
      }
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
    if (paper) {
      for (const link of copy.querySelectorAll(".glossary dd > p:last-child > .reference")) { // where a term is defined
        const number = link.appendChild(document.createElement("span"));
        Object.assign(number.dataset, { before: ", page ", page: link.getAttribute("href").slice(1) });
      }
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
