// What happens to a text before the model: normalized, and cut into words. Each character remembers
// where it came from. The patterns come with the tokenizer: they are of its Unicode, not the browser's.

/** A character for each byte: itself if it prints, or one from U+0100 on, as in GPT-2. */
let moved = 256;
const BYTES = Array.from({ length: 256 }, (_, it) =>
  String.fromCharCode((it > 32 && it < 127) || (it > 160 && it !== 173) ? it : moved++));

const ACTIONS = {
  lower: (it) => it.toLowerCase(),
  apart: (it) => ` ${it} `,
  bytes: (it) => [...new TextEncoder().encode(it)].map((byte) => BYTES[byte]).join(""),
  NFD: (it) => it.normalize("NFD"),
  NFKD: (it) => it.normalize("NFKD"),
};

// A text is {s, at, from}: `at` says for each UTF-16 unit where it came from, `from` for the whole.
const STEPS = {
  swap({ s, at, from }, pattern, action) {
    const places = [];
    let done = 0;
    const keep = (to) => { while (done < to) places.push(at[done++]); };
    const changed = s.replace(pattern, (match, offset) => {
      keep(offset);
      const out = ACTIONS[action]?.(match) ?? action;
      places.push(...Array(out.length).fill(at[offset]));
      done += match.length;
      return out;
    });
    keep(s.length);
    return { s: changed, at: places, from };
  },
  find: ({ s, at }, pattern) => [...s.matchAll(pattern)].map(({ 0: part, index }) =>
    ({ s: part, at: at.slice(index, index + part.length), from: at[index] })),
  before: ({ s, at, from }, mark, scheme) => (s.startsWith(mark) || (scheme === "first" && from) ? { s, at, from }
    : { s: mark + s, at: [...Array(mark.length).fill(at[0]), ...at], from }),
};

/**
 * @param steps as `plain` in Python gives them.
 * @returns {(text: string) => {chars: string[], at: number[]}[]} the words that the model gets;
 *   `at` is each character's place in the text, in UTF-16 units.
 */
export function reader({ steps }) {
  const all = steps.map(([name, first, more]) => {
    const it = name === "before" ? first : new RegExp(first, "gsu");
    return (text) => (text.s ? STEPS[name](text, it, more) : []);
  });
  return (text) => all
    .reduce((parts, step) => parts.flatMap(step), [{ s: text, at: [...Array(text.length).keys()], from: 0 }])
    .filter(({ s }) => s)
    .map(({ s, at }) => {
      let unit = 0;
      return { chars: [...s], at: [...s].map((c) => at[(unit += c.length) - c.length]) };
    });
}
