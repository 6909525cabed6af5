// The script of a slide deck: reveal.js with the speaker's view, and what the course adds to it.
// The text is as large as a slide has room for, and no smaller than 20 of its 720 pixels; what does
// not fit then (an answer that was unfolded) scrolls. Keys and swipes on a widget are the widget's;
// T switches between light and dark.

import Reveal from "reveal.js";
import Notes from "reveal.js/plugin/notes/notes.esm.js";

const PRINTING = /print-pdf/i.test(location.search);
const SMALLEST = 0.72; // of the text's 28 pixels: smaller letters than 20 do not reach the last row
const LARGE = 1.25; // where there is room
const STEP = 0.03;
// Of a widget, whose words have 12 pixels and more; what does not fit then scrolls, but on paper.
const ZOOMS = [1.6, 1.5, 1.4, 1.3, 1.2, ...(PRINTING ? [1.1, 1, 0.91, 0.82, 0.74, 0.66] : [])];
const WIDGET = ".live, .lmcourse-widget, [data-lm-suppress-shortcuts]";
const OWN_KEYS = `${WIDGET}, input, select, textarea, [role="grid"], [role="slider"]`;
const PRESSED_BY = new Set(["Enter", " ", "Spacebar"]);
const SCROLLED_BY = new Set(["ArrowUp", "ArrowDown", "PageUp", "PageDown", "Home", "End", " "]);
const STORED = "lmcourse-deck-theme";

/** The themes that a key goes through; "auto" is what the system prefers. */
const prefersDark = matchMedia("(prefers-color-scheme: dark)");

function storage(action) {
  try {
    return action(localStorage);
  } catch {
    return null; // refused: the deck then follows the system at each start
  }
}

function showTheme(theme) {
  const dark = PRINTING ? false : theme ? theme === "dark" : prefersDark.matches;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
}

function switchTheme() {
  const theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  storage((it) => it.setItem(STORED, theme));
  showTheme(theme);
}

const sheetOf = (node) => node.closest(".sheet");

/** Whether a sheet's content is larger than its room. */
function overflows(body) {
  if (body.scrollHeight > body.clientHeight + 1) return true;
  const tall = body.matches(":not(.tall)") && body.querySelector(".live .lm-stage");
  if (tall && tall.scrollHeight > tall.clientHeight + 1) return true;
  const inside = body.querySelectorAll(".column, .equation > .scroll, pre, .table");
  const low = body.getBoundingClientRect().bottom + 1;
  if ([...body.querySelectorAll(".column")].some((it) => it.lastElementChild?.getBoundingClientRect().bottom > low)) return true;
  return [...inside].some((it) => it.scrollWidth > it.clientWidth + 1);
}

/** Shrink a sheet's text until it fits; if the smallest does not, let it scroll by key and touch. */
function fit(sheet) {
  const body = sheet.querySelector(":scope > .body");
  if (!body) return;
  if (body.querySelector(".live")) {
    fitWidget(sheet, body);
    return;
  }
  body.classList.remove("scrolls");
  let scale = sheet.querySelector(".figure, .live") ? 1 : LARGE;
  sheet.style.setProperty("--fit", scale);
  const least = PRINTING ? 0.4 : SMALLEST; // a page of paper is read closely and cannot scroll
  while (overflows(body) && scale > least) {
    scale = Math.max(scale - STEP, least);
    sheet.style.setProperty("--fit", scale.toFixed(2));
  }
  const scrolls = overflows(body);
  if (scrolls && !PRINTING) sheet.style.setProperty("--fit", 1); // what scrolls can be large
  sheet.dataset.fit = scale.toFixed(2);
  body.classList.toggle("scrolls", scrolls);
  if (scrolls) body.setAttribute("tabindex", "0");
  else body.removeAttribute("tabindex");
}

/** Shrink a widget until it fits; a larger zoom is not tried again, or it would flicker. */
function fitWidget(sheet, body) {
  const at = Number(sheet.dataset.fit ?? ZOOMS[0]);
  const smaller = sheet.dataset.fit && overflows(body) ? ZOOMS.find((it) => it < at) : at;
  sheet.dataset.fit = smaller ?? at;
  sheet.style.setProperty("--zoom", sheet.dataset.fit);
  if (smaller === undefined) body.classList.add("tall");
}

/** Fit all sheets: reveal.js does not lay out those that are far away, so they are shown for it. */
async function fitAll(deck) {
  deck.classList.add("measuring");
  deck.getBoundingClientRect(); // now the fonts that equations use are asked for
  await document.fonts.ready;
  deck.querySelectorAll(".sheet").forEach(fit);
  deck.classList.remove("measuring");
}

/** Whether a key is the deck's. A widget's are its own, up to Escape, which leaves it. */
function isOurs(event) {
  const at = document.activeElement;
  if (!at || at === document.body) return true;
  if (at.closest(OWN_KEYS)) {
    if (event.key === "Escape") at.blur();
    return false;
  }
  if (at.closest("summary, button, a[href]") && PRESSED_BY.has(event.key)) return false;
  return !(at.closest(".scrolls, [tabindex='0']") && SCROLLED_BY.has(event.key));
}

/** Dropdowns are open on paper; on the screen their slide is fitted anew when one is opened. */
function watchDropdowns(deck) {
  for (const details of deck.querySelectorAll(".sheet details")) {
    if (PRINTING) details.open = true;
    details.addEventListener("toggle", () => {
      const sheet = details.closest(".sheet");
      if (sheet && !PRINTING) fit(sheet);
    });
  }
}

/** Wait until a widget has been drawn anew after a change of its size, however slow the machine is. */
async function drawn() {
  for (let frames = 0; frames < 4; frames += 1) await new Promise(requestAnimationFrame);
  await new Promise((done) => setTimeout(done, 50));
}

/**
 * Widgets come to life by and by, and some grow: what then does not fit is fitted anew. A sheet has
 * `data-fitting` meanwhile.
 */
function watchWidgets(deck) {
  const again = (sheet) => {
    const body = sheet.querySelector(":scope > .body");
    const before = sheet.dataset.fit;
    if (body.clientHeight && overflows(body)) fit(sheet);
    if (sheet.dataset.fit !== before) drawn().then(() => again(sheet));
    else delete sheet.dataset.fitting;
  };
  const watcher = new ResizeObserver((entries) => {
    for (const sheet of new Set(entries.map(({ target }) => target.closest(".sheet")))) {
      if (sheet.dataset.fitting) continue;
      sheet.dataset.fitting = "true";
      setTimeout(again, 120, sheet);
    }
  });
  for (const widget of deck.querySelectorAll(".sheet .live > *")) watcher.observe(widget);
}

/** On a phone all slides stand on one page; reveal.js still hides all but one from screen readers. */
function uncoverStack(root, deck) {
  const uncover = () => {
    if (!deck.isScrollView()) return;
    root.querySelectorAll("section[aria-hidden]").forEach((it) => it.removeAttribute("aria-hidden"));
  };
  new MutationObserver(uncover).observe(root, { subtree: true, attributeFilter: ["aria-hidden"] });
  uncover();
}

/** Wait for the pages and the widgets on them, and fit these, which only now have their height. */
async function printable(deck, laidOut) {
  await laidOut;
  for (const item of deck.querySelectorAll(".live")) {
    for (let tries = 0; tries < 50 && !item.querySelector(".lm svg, .lm canvas"); tries += 1) {
      await new Promise((done) => setTimeout(done, 50));
    }
    for (const _ of ZOOMS) {
      fit(item.closest(".sheet"));
      await new Promise((done) => setTimeout(done, 50));
    }
  }
}

async function start() {
  const root = document.querySelector(".reveal");
  showTheme(storage((it) => it.getItem(STORED)));
  prefersDark.addEventListener("change", () => showTheme(storage((it) => it.getItem(STORED))));
  watchDropdowns(root);
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const deck = new Reveal(root, {
    width: 1280,
    height: 720,
    margin: 0,
    center: false,
    hash: true,
    navigationMode: "linear", // a slide's continuations are steps, not a menu
    slideNumber: "c/t",
    scrollLayout: "compact", // on a phone the slides stand one under the other
    scrollSnap: false,
    transition: calm ? "none" : "fade",
    transitionSpeed: "fast",
    backgroundTransition: "none",
    pdfMaxPagesPerSlide: 1,
    pdfSeparateFragments: false,
    keyboardCondition: isOurs,
    plugins: [Notes],
  });
  const laidOut = PRINTING ? new Promise((done) => deck.on("pdf-ready", done)) : null;
  await fitAll(root);
  await deck.initialize();
  if (PRINTING) await printable(root, laidOut);
  deck.addKeyBinding({ keyCode: 84, key: "T", description: "Light or dark" }, switchTheme);
  deck.addKeyBinding({ keyCode: 69, key: "E", description: "Pages for printing (then Ctrl-P)" }, () =>
    open(`${location.pathname}?print-pdf`, "_blank"),
  );
  if (!PRINTING) watchWidgets(root);
  uncoverStack(root, deck);
  globalThis.Reveal = deck; // for the browser's console and for tests
  document.documentElement.dataset.ready = "true";
}

start();
