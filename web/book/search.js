// The search over the words of all pages, behind the dialog that book.js opens. Loaded together with
// search-index.js, both by script tags, so that it works on a page that was opened from a disk.

import MiniSearch from "minisearch";

const MOST = 40; // results, over all pages
const AROUND = 70; // characters before and after a word that was found

/** @typedef {{id: number, url: string, page: string, title: string, text: string}} Section */

function make(tag, attributes = {}, text = "") {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.textContent = text;
  return element;
}

/** @param {Section[]} sections */
function prepare(sections) {
  const engine = new MiniSearch({
    fields: ["page", "title", "text"],
    storeFields: ["url", "page", "title", "text"],
    searchOptions: {
      boost: { page: 3, title: 4 },
      prefix: (term) => term.length > 1,
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
      combineWith: "AND",
    },
  });
  engine.addAll(sections);
  return engine;
}

/** @returns {Map<string, object[]>} results by page, pages in the order of their best result */
function find(engine, words) {
  const groups = new Map();
  for (const result of engine.search(words).slice(0, MOST)) {
    groups.set(result.page, [...(groups.get(result.page) ?? []), result]);
  }
  return groups;
}

/** The words around the first place that was found, as text and marks. */
function excerpt(text, terms) {
  const found = places(text, terms);
  const start = wordAt(text, (found[0]?.[0] ?? 0) - AROUND, "start");
  const end = wordAt(text, (found[0]?.[1] ?? 0) + 2 * AROUND, "end");
  const line = make("span");
  let at = start;
  if (start > 0) line.append("… ");
  for (const [from, to] of found) {
    if (from < at || to > end) continue;
    line.append(text.slice(at, from), make("mark", {}, text.slice(from, to)));
    at = to;
  }
  line.append(text.slice(at, end), end < text.length ? " …" : "");
  return line;
}

/** @returns {number} the nearest place, inwards, at which the text can be cut between two words */
function wordAt(text, index, side) {
  if (index <= 0) return 0;
  if (index >= text.length) return text.length;
  return side === "start" ? text.indexOf(" ", index) + 1 : text.lastIndexOf(" ", index);
}

/** @returns {[number, number][]} where the terms begin words of the text, in order */
function places(text, terms) {
  const quoted = terms.map((term) => term.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  if (!quoted.length) return [];
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(?:${quoted.join("|")})`, "giu");
  return [...text.matchAll(pattern)].map((match) => [match.index, match.index + match[0].length]);
}

class Search {
  constructor(sections, prefix, { dialog, input, status, results }) {
    Object.assign(this, { prefix, dialog, input, status, results });
    this.engine = prepare(sections);
    input.addEventListener("input", () => this.update());
    input.addEventListener("keydown", (event) => this.key(event));
    this.update();
  }

  update() {
    const words = this.input.value.trim();
    const groups = words ? find(this.engine, words) : new Map();
    this.results.replaceChildren(...[...groups].map(([page, found], number) => this.group(page, found, number)));
    this.options = [...this.results.querySelectorAll('[role="option"]')];
    this.input.setAttribute("aria-expanded", String(this.options.length > 0));
    this.status.textContent = describe(words, this.options.length, groups.size);
    this.choose(0);
  }

  group(page, found, number) {
    const group = make("div", { role: "group", "aria-labelledby": `search-page-${number}` });
    group.append(make("p", { class: "group-title", id: `search-page-${number}` }, page));
    for (const result of found) {
      const option = make("a", { role: "option", id: `search-${result.id}`, href: this.prefix + result.url, tabindex: "-1", "aria-selected": "false" });
      option.append(make("strong", {}, result.title || page), excerpt(result.text, result.terms));
      option.addEventListener("click", () => this.dialog.close());
      group.append(option);
    }
    return group;
  }

  choose(index) {
    this.options.forEach((option, number) => option.setAttribute("aria-selected", String(number === index)));
    this.chosen = index;
    const option = this.options[index];
    if (option) this.input.setAttribute("aria-activedescendant", option.id);
    else this.input.removeAttribute("aria-activedescendant");
    option?.scrollIntoView({ block: "nearest" });
  }

  key(event) {
    const count = this.options.length;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && count) this.choose((this.chosen + step + count) % count);
    else if (event.key === "Enter") this.options[this.chosen]?.click();
    else if (event.key === "Escape") this.dialog.close();
    else return;
    event.preventDefault();
  }
}

function describe(words, sections, pages) {
  if (!words) return "Type a word. Arrows choose, Enter opens.";
  if (!sections) return `Nothing found for “${words}”.`;
  const places = sections === 1 ? "1 section" : `${sections} sections`;
  return `${places} on ${pages === 1 ? "1 page" : `${pages} pages`}`;
}

window.lmcourseSearch = (sections, prefix, box) => new Search(sections, prefix, box);
