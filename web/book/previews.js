// What a reference leads to, in a card beside it: a term's definition, an equation, a cited work, a
// footnote. A pointer or the keyboard's focus shows it, as does the first touch; a second one follows.
// Of other pages the targets come from previews.js in the book's folder, when the first is wanted.

const root = document.documentElement;
const KINDS = "main a:is(.reference, .citation), .footnote-reference a";
const PATIENCE = { open: 250, close: 200 }; // milliseconds of a pointer
const EDGE = 12; // pixels between the card and the window

let script;

/** @returns {Promise<Object<string, string>>} HTML by URL */
function remote() {
  script ??= new Promise((resolve) => {
    const element = document.createElement("script");
    element.src = root.dataset.previews;
    element.onload = () => resolve(window.lmcoursePreviews);
    element.onerror = () => {
      script = undefined; // the next attempt starts anew
      resolve({});
    };
    document.head.append(element);
  });
  return script;
}

/** @returns {Element | undefined} a copy of what is on this page, if it is what a card can show */
function local(id) {
  const target = document.getElementById(id);
  if (!target?.matches(".equation, dt, .footnote, .bibliography li, figure")) return undefined;
  const parts = [target];
  for (let next = target.nextElementSibling; target.matches("dt") && next?.matches("dd"); next = next.nextElementSibling) {
    parts.push(next);
  }
  const copy = document.createElement("div");
  copy.append(...parts.map((part) => part.cloneNode(true)));
  copy.querySelectorAll(".back, .permalink, .unseen").forEach((each) => each.remove());
  for (const each of copy.querySelectorAll("[id]")) each.removeAttribute("id");
  return copy;
}

/** @returns {Promise<Element | undefined>} what a link's card shows */
async function content(link) {
  const id = decodeURIComponent(link.hash.slice(1));
  if (link.pathname === location.pathname) return local(id);
  const html = (await remote())[decodeURIComponent(link.getAttribute("href"))];
  const box = document.createElement("div");
  if (html) box.innerHTML = html; // the book's own, as its pages are
  else if (link.dataset.meaning) box.textContent = link.dataset.meaning;
  else return undefined;
  if (box.querySelector(".katex")) typeset();
  return box;
}

/** A page without equations of its own has no style for them. */
function typeset() {
  const href = root.dataset.root + "assets/katex/katex.css";
  if (document.querySelector(`link[href="${href}"]`)) return;
  document.head.append(Object.assign(document.createElement("link"), { rel: "stylesheet", href }));
}

const follow = (link) => {
  if (link.matches(".term")) return "Open the glossary";
  if (link.matches(".citation")) return "Go to the works cited";
  if (link.closest(".footnote-reference")) return "Go to the note";
  return link.hash.startsWith("#eq-") ? "Go to the equation" : "Go there";
};

export function previews() {
  const card = document.createElement("div");
  Object.assign(card, { id: "preview", className: "preview", role: "tooltip", hidden: true });
  let shown; // the link whose card is open, or comes
  let timer;
  let touched = false;

  const later = (act, wait) => {
    clearTimeout(timer);
    timer = setTimeout(act, wait);
  };

  function hide() {
    clearTimeout(timer);
    shown?.removeAttribute("aria-describedby");
    shown = undefined;
    card.hidden = true;
  }

  async function show(link) {
    clearTimeout(timer);
    if (shown === link) return;
    hide();
    shown = link;
    const body = await content(link);
    if (shown !== link) return;
    if (!body) {
      shown = undefined;
      return;
    }
    const go = document.createElement("a");
    Object.assign(go, { className: "go", href: link.href, textContent: follow(link) });
    card.replaceChildren(body, go);
    for (const each of card.querySelectorAll("a, [tabindex]")) each.tabIndex = -1; // the link itself leads there
    if (!card.isConnected) document.body.append(card);
    card.hidden = false;
    place(link);
    link.setAttribute("aria-describedby", card.id);
  }

  /** Above the link's first line where there is room, else below its last. */
  function place(link) {
    const lines = [...link.getClientRects()];
    const { clientWidth: width } = root;
    const [first, last] = [lines[0], lines.at(-1)];
    const left = Math.min(Math.max(first.left, EDGE), Math.max(width - card.offsetWidth - EDGE, EDGE));
    const bar = document.querySelector(".topbar").getBoundingClientRect().bottom;
    const above = first.top - card.offsetHeight - 6;
    card.style.left = `${left + scrollX}px`;
    card.style.top = `${(above > bar ? above : last.bottom + 6) + scrollY}px`;
  }

  const linkOf = (event) => event.target.closest?.(KINDS);
  const over = (event) => event.target.closest?.(".preview");

  document.addEventListener("pointerdown", (event) => {
    touched = event.pointerType === "touch";
    if (!over(event) && !linkOf(event)) hide();
  });
  document.addEventListener("pointerover", (event) => {
    if (event.pointerType === "touch") return;
    const link = linkOf(event);
    if (link) later(() => show(link), PATIENCE.open);
    else if (over(event)) clearTimeout(timer);
    else if (shown) later(hide, PATIENCE.close);
    else clearTimeout(timer);
  });
  document.addEventListener("focusin", (event) => {
    const link = linkOf(event);
    if (link?.matches(":focus-visible") && !touched) show(link);
    else if (!link && !over(event)) hide();
  });
  document.addEventListener("focusout", (event) => linkOf(event) === shown && !touched && hide());
  document.addEventListener("click", (event) => {
    const link = linkOf(event);
    if (over(event) && event.target.closest("a")) hide();
    if (!link || !touched || link === shown) return;
    event.preventDefault();
    show(link).then(() => {
      if (shown !== link) location.assign(link.href); // nothing to show: it leads there at once
    });
  }, true);
  document.addEventListener("keydown", (event) => {
    touched = false;
    if (event.key === "Escape") hide();
  });
  addEventListener("resize", hide);
  for (const link of document.querySelectorAll("a.term[title]")) {
    link.dataset.meaning = link.title; // the browser's own tip would cover the card
    link.removeAttribute("title");
  }
}
