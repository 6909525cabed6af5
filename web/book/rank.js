// How the search ranks: definitions first, then sections. No part of the page is touched here.

import MiniSearch from "minisearch";

const MOST = 40; // sections
const DEFINITIONS = 4; // of them, at most
const STOP = new Set(
  ("a an and are as at by can do does for from how i in is it its me of on or that the their this to versus " +
    "vs was what when where which who why with").split(" "),
);

/**
 * A section (page, title, text, code; `lead`, the page's question, on its first) or a definition (name,
 * short form, section, text).
 * @typedef {{id: number, url: string, page?: string, title?: string, text: string, code?: string,
 *   lead?: string, name?: string, short?: string, section?: string}} Entry
 */

/** Words by which texts are compared: "positional encodings" meets "position encoding". */
export function stem(word) {
  const low = word.toLowerCase().replace(/^0+(?=\d)/, ""); // chapter 08
  const bare = low.replace(/ional$/, "ion").replace(/(?:ings?|ed|(?<![sui])s)$/, "");
  return bare.length < 4 ? low : bare;
}

const SPACE_OR_PUNCTUATION = /[\n\r\p{Z}\p{P}]+/u; // as MiniSearch splits
const wordsOf = (text) => text.split(SPACE_OR_PUNCTUATION).filter(Boolean);
const HYPHENATED = /[\p{L}\p{N}]+(?:-[\p{L}\p{N}]+)+/gu;
/** The words of a text, and its hyphenated ones as one each: warm-up is warm, up and warmup. */
const indexed = (text) => [...wordsOf(text), ...(text.match(HYPHENATED) ?? []).map((it) => it.replaceAll("-", ""))];
const unique = (list) => [...new Set(list)];

export class Ranking {
  /** @param {Entry[]} entries */
  constructor(entries) {
    this.entries = new Map(entries.map((entry) => [entry.id, entry]));
    const full = new Map(entries.filter((it) => it.short).map((it) => [it.short.toLowerCase(), it.name]));
    /** A name with the words of the short forms in it: Truncated BPTT is truncated backpropagation … */
    this.names = new Map(entries.filter((it) => it.name).map((it) => [it.id, {
      name: wordsOf(it.name).map(stem),
      more: indexed([it.short, it.name.includes("-") && it.name, ...wordsOf(it.name).map((word) => full.get(word.toLowerCase()))].filter(Boolean).join(" ")).map(stem),
      short: it.short?.toLowerCase(),
      section: indexed(it.section).map(stem),
    }]));
    this.engine = new MiniSearch({
      fields: ["title", "lead", "page", "text", "code"],
      tokenize: indexed,
      processTerm: (term) => unique([term.toLowerCase(), stem(term)]),
      searchOptions: {
        tokenize: wordsOf,
        processTerm: stem,
        boost: { title: 5, lead: 4, page: 3, text: 1, code: 0.3 },
        prefix: (term) => term.length > 1,
        fuzzy: false,
        combineWith: "AND",
      },
    });
    this.engine.addAll(entries.filter((entry) => !entry.name));
  }

  /**
   * @param {string} query
   * @returns {{definitions: Entry[], sections: (Entry & {terms: string[]})[], instead: string}} `instead`
   *   is what was searched for in place of a word that is nowhere
   */
  find(query) {
    const typed = unique(wordsOf(query).map((word) => word.toLowerCase()));
    const telling = typed.filter((word) => !STOP.has(word));
    const asked = telling.length ? telling : typed;
    const spelled = asked.map((word) => this.spelled(word));
    const known = spelled.filter(Boolean);
    if (!known.length) return { definitions: [], sections: [], instead: "" };
    const instead = spelled.some((word, index) => word !== asked[index]) ? known.join(" ") : "";
    const wanted = unique(known.map(stem));
    return { definitions: this.definitions(wanted), sections: this.sections(known, wanted), instead };
  }

  /** @returns {string | undefined} a word, or for one that is nowhere the one nearest to it */
  spelled(word) {
    if (this.isKnown(stem(word))) return word;
    if (word.length < 4) return undefined;
    const most = word.length < 8 ? 1 : 2;
    const near = new Map(); // words like it, by how well and how often they fit
    for (const result of this.engine.search(word, { processTerm: (term) => term, prefix: false, fuzzy: most + 1, boost: {} })) {
      for (const term of result.terms) near.set(term, (near.get(term) ?? 0) + result.score);
    }
    const off = new Map([...near.keys()].map((term) => [term, distance(term, word)]));
    // Few miss a word's first letter.
    const likely = [...off.keys()].filter((term) => off.get(term) <= (term[0] === word[0] ? most : 1));
    return likely.sort((one, two) => off.get(one) - off.get(two) || near.get(two) - near.get(one))[0];
  }

  isKnown(word) {
    const inNames = [...this.names.values()].some(({ name, more }) => [...name, ...more].some((it) => it.startsWith(word)));
    return inNames || this.engine.search(word, { processTerm: (term) => term }).length > 0;
  }

  /** The terms that the words name: exactly, then by a part of the name, then several together. */
  definitions(wanted) {
    const has = (words, word) => words.some((it) => it === word || (word.length > 1 && it.startsWith(word)));
    const found = [];
    for (const [id, { name, more, short }] of this.names) {
      if (!wanted.every((word) => has([...name, ...more], word))) continue;
      const exact = short && wanted.length === 1 && short === wanted[0];
      const whole = wanted.every((word) => name.includes(word));
      found.push([id, exact ? 0 : name.length === wanted.length ? (whole ? 1 : 2) : whole ? 3 : 4, name.length]);
    }
    if (!found.length) { // pre-norm vs post-norm: each word is in a term that is named in full
      const named = [...this.names].filter(([, { name }]) => name.every((it) => wanted.includes(it)));
      const covered = new Set(named.flatMap(([, { name }]) => name));
      // squad exact match: the heading above the definition has the other words
      const above = named.filter(([, { name, section }]) => wanted.every((it) => name.includes(it) || section.includes(it)));
      const meant = wanted.every((word) => covered.has(word)) ? named : above;
      found.push(...meant.map(([id, { name }]) => [id, 5, -name.length]));
    }
    found.sort((one, two) => one[1] - two[1] || one[2] - two[2] || one[0] - two[0]);
    return found.slice(0, DEFINITIONS).map(([id]) => this.entries.get(id));
  }

  sections(known, wanted) {
    const words = known.join(" ");
    let results = this.engine.search(words);
    if (!results.length) { // the most of the words
      results = this.engine.search(words, { combineWith: "OR" });
      const most = Math.max(...results.map((it) => it.queryTerms.length));
      results = results.filter((it) => it.queryTerms.length === most);
    }
    const titled = (result) => {
      const { title: own, page } = this.entries.get(result.id);
      const title = indexed(own || page).map(stem);
      return wanted.every((word) => title.some((it) => it.startsWith(word)));
    };
    const placed = results.map((result) => [result, titled(result)]);
    placed.sort((one, two) => two[1] - one[1] || two[0].score - one[0].score);
    return placed.slice(0, MOST).map(([{ id, terms }]) => ({ ...this.entries.get(id), terms }));
  }
}

/** How many letters to add, drop, change or swap with the next one (Damerau–Levenshtein). */
export function distance(one, two) {
  const rows = [Array.from({ length: two.length + 1 }, (_, index) => index)];
  for (let i = 1; i <= one.length; i++) {
    rows.push([i]);
    for (let j = 1; j <= two.length; j++) {
      const change = Number(one[i - 1] !== two[j - 1]);
      rows[i][j] = Math.min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + change);
      const swapped = i > 1 && j > 1 && one[i - 1] === two[j - 2] && one[i - 2] === two[j - 1];
      if (swapped) rows[i][j] = Math.min(rows[i][j], rows[i - 2][j - 2] + 1);
    }
  }
  return rows[one.length][two.length];
}
