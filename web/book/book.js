// The pages' own script: color theme, drawer, copying, tabs, "On this page", previews of references, and
// the dialog of the search. A classic script, because a page opened from a disk may not load modules.
// Every page reads well without it.

import { previews } from "./previews.js";

const root = document.documentElement;

/** @returns {HTMLElement} an element with attributes and text */
function make(tag, attributes = {}, text = "") {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.textContent = text;
  return element;
}

/** One of two forms of a page: light or dark by the reader's system, or as the reader chose. */
function themes(button) {
  const order = ["auto", "light", "dark"];
  const names = { auto: "automatic", light: "light", dark: "dark" };
  const current = () => root.dataset.theme ?? "auto";
  const describe = () => button.setAttribute("aria-label", `Color theme: ${names[current()]}`);
  button.addEventListener("click", () => {
    const next = order[(order.indexOf(current()) + 1) % order.length];
    if (next === "auto") delete root.dataset.theme;
    else root.dataset.theme = next;
    describe();
    try {
      if (next === "auto") localStorage.removeItem("lmcourse-theme");
      else localStorage.setItem("lmcourse-theme", next);
    } catch {
      // Storage is denied: the choice holds for this page.
    }
  });
  describe();
}

/** The contents as a drawer, where the screen has no room for them beside the text. */
function drawer(button, contents) {
  const shade = make("div", { class: "shade" });
  const close = contents.querySelector(".close");
  const others = [...document.body.children].filter((each) => !each.contains(contents));
  const beside = [...contents.parentElement.children].filter((each) => each !== contents);

  function set(open) {
    contents.classList.toggle("open", open);
    document.body.classList.toggle("held", open);
    button.setAttribute("aria-expanded", String(open));
    for (const each of [...others, ...beside]) each.inert = open;
    if (open) document.body.append(shade);
    else shade.remove();
    (open ? close : button).focus();
  }

  const shut = () => contents.classList.contains("open") && set(false);
  button.addEventListener("click", () => set(true));
  close.addEventListener("click", shut);
  shade.addEventListener("click", shut);
  contents.addEventListener("keydown", (event) => event.key === "Escape" && shut());
  matchMedia("(min-width: 64rem)").addEventListener("change", shut);
}

/** A button on each piece of code that copies it. */
function copying() {
  for (const box of document.querySelectorAll(".code")) {
    const button = make("button", { type: "button", class: "copy" }, "Copy");
    const state = make("span", { class: "unseen", role: "status" });
    button.addEventListener("click", async () => {
      const done = await copied(box.querySelector("code").textContent);
      button.textContent = done ? "Copied" : "Press Ctrl-C";
      state.textContent = done ? "The code is copied." : "The code is selected: press Ctrl-C.";
      if (!done) getSelection().selectAllChildren(box.querySelector("code"));
      setTimeout(() => {
        button.textContent = "Copy";
        state.textContent = "";
      }, 2500);
    });
    box.append(button, state);
  }
}

async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false; // a page without HTTPS may not, in some browsers
  }
}

/** What scrolls can be reached by keyboard, and shows on which sides there is more. */
function scrolling() {
  const sides = (box) => {
    const [end, wide] = [box.scrollWidth - box.clientWidth, box.scrollWidth > box.clientWidth + 1];
    const more = [wide && box.scrollLeft > 1 && "left", wide && box.scrollLeft < end - 1 && "right"];
    box.dataset.more = more.filter(Boolean).join(" ");
    box.parentElement.toggleAttribute("data-continues", more.includes("right"));
  };
  const update = (box) => {
    sides(box);
    const scrolls = box.scrollWidth > box.clientWidth + 1 || box.scrollHeight > box.clientHeight + 1;
    if (scrolls) {
      box.tabIndex = 0;
      box.setAttribute("role", "group");
      box.setAttribute("aria-label", nameOf(box));
    } else {
      for (const name of ["tabindex", "role", "aria-label"]) box.removeAttribute(name);
    }
  };
  const watch = new ResizeObserver((entries) => entries.forEach((entry) => update(entry.target)));
  const boxes = document.querySelectorAll(".scroll, .output.html, .output.markdown, .lmcourse-check");
  for (const box of boxes) {
    watch.observe(box);
    box.addEventListener("scroll", () => sides(box), { passive: true });
  }
  // A font that comes late makes what is in a box wider, and not the box.
  document.fonts.addEventListener("loadingdone", () => boxes.forEach(update));
}

function nameOf(box) {
  if (box.closest(".equation")) return "Equation, scrolls";
  if (box.closest(".table")) return "Table, scrolls";
  return box.closest(".output") ? "Output, scrolls" : "Code, scrolls";
}

/** Titled parts become tabs; tabs with the same sync key turn together. */
function tabs(box, number) {
  const panels = [...box.querySelectorAll(":scope > .tab")];
  const buttons = panels.map((panel, index) => tab(panel, `tab-${number}-${index}`));
  const list = make("div", { class: "tab-list", role: "tablist" });
  list.append(...buttons);
  const show = (chosen) => panels.forEach((panel, index) => {
    panel.hidden = index !== chosen;
    buttons[index].setAttribute("aria-selected", String(index === chosen));
    buttons[index].tabIndex = index === chosen ? 0 : -1;
  });
  const turn = (index) => {
    show(index);
    const key = panels[index].dataset.sync;
    if (key) document.dispatchEvent(new CustomEvent("lmcourse-tab", { detail: key }));
  };
  buttons.forEach((button, index) => button.addEventListener("click", () => turn(index)));
  document.addEventListener("lmcourse-tab", ({ detail }) => {
    const index = panels.findIndex((panel) => panel.dataset.sync === detail);
    if (index >= 0) show(index);
  });
  list.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = (buttons.indexOf(document.activeElement) + step + buttons.length) % buttons.length;
    buttons[next].focus();
    turn(next);
    event.preventDefault();
  });
  box.prepend(list);
  show(Math.max(0, panels.findIndex((panel) => "selected" in panel.dataset)));
}

/** @returns {HTMLElement} the button of a panel, which takes the panel's title */
function tab(panel, id) {
  const title = panel.querySelector(":scope > .tab-title");
  panel.id ||= id;
  const button = make("button", { type: "button", role: "tab", id: `${panel.id}-title`, "aria-controls": panel.id }, title.textContent);
  panel.setAttribute("role", "tabpanel");
  panel.setAttribute("aria-labelledby", button.id);
  panel.tabIndex = 0;
  title.hidden = true;
  return button;
}

/** "On this page" is open beside the text, and folded above it where the screen is narrow or shows a widget. */
function folds(here) {
  const box = here.querySelector("details");
  const wide = matchMedia(document.body.matches(".gallery") ? "not all" : "(min-width: 78rem)");
  const adapt = () => {
    box.open = wide.matches;
    box.querySelector("summary").tabIndex = wide.matches ? -1 : 0;
  };
  const shut = () => { box.open = wide.matches && box.open; };
  wide.addEventListener("change", adapt);
  adapt();
  here.addEventListener("click", (event) => event.target.closest("a") && shut());
  here.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || wide.matches) return;
    shut();
    box.querySelector("summary").focus();
  });
  document.addEventListener("pointerdown", (event) => !here.contains(event.target) && shut());
}

/** Mark, in "On this page", the section that is being read. */
function spy(here) {
  const links = new Map([...here.querySelectorAll("a")].map((link) => [anchor(link.hash), link]));
  const headings = [...links.keys()].map((id) => document.getElementById(id));
  const mark = () => {
    const line = innerHeight * 0.3;
    const end = innerHeight + scrollY >= root.scrollHeight - 2;
    const above = headings.filter((each) => each.getBoundingClientRect().top < line);
    const current = end ? headings.at(-1) : above.at(-1);
    for (const [id, link] of links) {
      const chosen = current?.id === id;
      if (chosen === link.hasAttribute("aria-current")) continue;
      link.toggleAttribute("aria-current", chosen);
      if (chosen) link.setAttribute("aria-current", "true");
      if (chosen) reveal(link, here);
    }
  };
  let waiting = false;
  addEventListener("scroll", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      mark();
    });
  }, { passive: true });
  mark();
}

/** Scroll a list, and nothing around it, until an entry is in view. */
function reveal(entry, list) {
  const inner = entry.getBoundingClientRect();
  const outer = list.getBoundingClientRect();
  if (inner.top < outer.top) list.scrollTop -= outer.top - inner.top + 40;
  else if (inner.bottom > outer.bottom) list.scrollTop += inner.bottom - outer.bottom + 40;
}

/** @returns {string} the anchor of a link's hash; a widget may keep other things there */
function anchor(hash) {
  try {
    return decodeURIComponent(hash.slice(1));
  } catch {
    return "";
  }
}

/** A place inside something folded opens it; paper shows everything. */
function folding() {
  const open = () => {
    const target = document.getElementById(anchor(location.hash));
    for (let box = target?.closest?.("details"); box; box = box.parentElement.closest("details")) box.open = true;
  };
  addEventListener("hashchange", open);
  open();
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("main details:not([open]):not(.folded):not(.lm details)")];
    for (const each of opened) each.open = true;
  });
  addEventListener("afterprint", () => {
    for (const each of opened) each.open = false;
  });
}

/** The search opens at once, and takes what is typed; what it searches comes meanwhile. */
function searching(buttons) {
  let box;
  let connected;
  function open() {
    box ??= searchBox();
    if (!box.dialog.open) box.dialog.showModal();
    box.input.focus();
    box.input.select();
    connected ??= connect(box).catch((error) => {
      connected = undefined; // the next attempt starts anew
      box.status.textContent = `The search cannot start: ${error.message}.`;
    });
  }
  for (const button of buttons) button.addEventListener("click", open);
  addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("input:not([type=checkbox], [type=range]), textarea, select, [contenteditable]");
    const slash = event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey;
    const k = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.shiftKey;
    if (!slash && !k) return;
    event.preventDefault();
    open();
  });
}

/** @returns the search's dialog and its parts */
function searchBox() {
  const dialog = make("dialog", { class: "search", "aria-label": "Search" });
  const input = make("input", {
    type: "search",
    role: "combobox",
    "aria-label": "Search the book",
    "aria-expanded": "false",
    "aria-controls": "search-results",
    "aria-autocomplete": "list",
    placeholder: "Search the book",
    autocomplete: "off",
    spellcheck: "false",
  });
  const status = make("p", { class: "status", role: "status" }, "Reading the book …");
  const results = make("div", { class: "results", id: "search-results", role: "listbox", "aria-label": "Results" });
  const close = make("button", { type: "button", class: "icon close", "aria-label": "Esc: close the search" }, "Esc");
  const form = make("form");
  form.append(input, close);
  dialog.append(form, status, results);
  document.body.append(dialog);
  form.addEventListener("submit", (event) => event.preventDefault());
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  return { dialog, input, status, results };
}

/** Load the search and the words of all pages, and join them to the dialog. */
async function connect(box) {
  const load = (url) => new Promise((resolve, reject) => {
    const script = make("script", { src: url });
    script.onload = resolve;
    script.onerror = () => reject(new Error(`${url} cannot be read`));
    document.head.append(script);
  });
  await Promise.all([load(root.dataset.index), load(root.dataset.search)]);
  window.lmcourseSearch(window.lmcourseIndex, root.dataset.root, box);
}

themes(document.querySelector("button.theme"));
drawer(document.querySelector("button.menu"), document.getElementById("contents"));
searching(document.querySelectorAll(".search-open, .search-start"));
copying();
scrolling();
document.querySelectorAll(".tabs").forEach(tabs);
folding();
const here = document.querySelector(".here");
if (here) {
  folds(here);
  spy(here);
}
previews();
// Where the 404 page has found the book, an address without a path is the book's first page.
const skip = document.querySelector(".skip");
if (document.querySelector("base")) skip.href = location.pathname + location.search + skip.hash;
// Not scrollIntoView: in Chromium the first Tab would then go to what follows this entry.
const current = document.querySelector(".contents [aria-current]");
if (current) reveal(current, current.closest(".contents"));
