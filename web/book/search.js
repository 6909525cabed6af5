// The search over the words of all pages, behind the dialog that book.js opens. Loaded together with
// search-index.js, both by script tags, so that it works on a page that was opened from a disk.

import { Ranking, stem } from "./rank.js";

const AROUND = 70; // characters before and after a word that was found

function make(tag, attributes = {}, text = "") {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.textContent = text;
  return element;
}

/** @returns {Map<string, object[]>} sections by page, pages in the order of their best section */
function byPage(sections) {
  const groups = new Map();
  for (const section of sections) groups.set(section.page, [...(groups.get(section.page) ?? []), section]);
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

/** @returns {[number, number][]} the words of the text that begin with the terms, in order */
function places(text, terms) {
  const quoted = terms.map((term) => term.replace(/[.*+?^${}()|[\]\\]/g, "\\$&") + (term.length > 3 ? "[\\p{L}\\p{N}]*" : ""));
  if (!quoted.length) return [];
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(?:${quoted.join("|")})`, "giu");
  return [...text.matchAll(pattern)].map((match) => [match.index, match.index + match[0].length]);
}

class Search {
  constructor(entries, prefix, { dialog, input, status, results }) {
    Object.assign(this, { prefix, dialog, input, status, results });
    this.ranking = new Ranking(entries);
    input.addEventListener("input", () => this.update());
    input.addEventListener("keydown", (event) => this.key(event));
    this.update();
  }

  update() {
    const words = this.input.value.trim();
    const { definitions, sections, instead } = this.ranking.find(words);
    const pages = byPage(sections);
    const terms = (instead || words).split(/\s+/).map(stem);
    this.results.replaceChildren(
      ...(definitions.length ? [this.group("Definitions", definitions.map((it) => this.definition(it, terms)), "terms")] : []),
      ...[...pages].map(([page, found], number) => this.group(page, found.map((it) => this.section(it)), number)),
    );
    this.options = [...this.results.querySelectorAll('[role="option"]')];
    this.input.setAttribute("aria-expanded", String(this.options.length > 0));
    this.status.textContent = describe(words, instead, definitions.length, sections.length, pages.size);
    this.choose(0);
  }

  group(title, options, name) {
    const group = make("div", { role: "group", "aria-labelledby": `search-page-${name}` });
    group.append(make("p", { class: "group-title", id: `search-page-${name}` }, title), ...options);
    return group;
  }

  option(entry, title, ...lines) {
    const option = make("a", { role: "option", id: `search-${entry.id}`, href: this.prefix + entry.url, tabindex: "-1", "aria-selected": "false" });
    option.append(make("strong", {}, title), ...lines);
    option.addEventListener("click", () => this.dialog.close());
    return option;
  }

  definition(entry, terms) {
    const name = entry.name[0].toUpperCase() + entry.name.slice(1);
    return this.option(entry, name, excerpt(entry.text, terms), make("small", {}, entry.section));
  }

  section(entry) {
    const { text, code = "", lead = "", terms } = entry;
    const held = (it) => new Set(places(it, terms).map(([from, to]) => it.slice(from, to).toLowerCase())).size;
    const [shown] = [text, lead, code].filter(Boolean).sort((one, two) => held(two) - held(one));
    return this.option(entry, entry.title || entry.page, excerpt(shown ?? "", terms));
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

function describe(words, instead, definitions, sections, pages) {
  if (!words) return "Type a word. Arrows choose, Enter opens.";
  if (!definitions && !sections) return `Nothing found for “${words}”.`;
  const count = (number, name) => `${number} ${name}${number === 1 ? "" : "s"}`;
  const found = [definitions && count(definitions, "definition"), sections && `${count(sections, "section")} on ${count(pages, "page")}`];
  const instance = instead ? `Nothing for “${words}”. For “${instead}”: ` : "";
  return instance + found.filter(Boolean).join(", ");
}

window.lmcourseSearch = (entries, prefix, box) => new Search(entries, prefix, box);
