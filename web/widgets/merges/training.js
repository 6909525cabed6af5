// The training again: the words of the corpus as they are after k merges, what could be merged next,
// and a tokenizer as it was then.

import { joined } from "./models.js";

/** A word with a token in the place of each such pair; the word itself if there is none. */
function merge(word, left, right, token) {
  let out = word;
  for (let i = 0; i < out.length; i++) {
    if (out[i] !== left || out[i + 1] !== right) continue;
    if (out === word) out = [...word];
    out.splice(i, 2, token);
  }
  return out;
}

/** @returns {{states: string[][][], values: number[]}} the words of the corpus as they are cut after
 *   0, 1, … merges, and how many tokens a word has then. */
export function replay({ training: { words, steps, counts }, prefix, suffix }) {
  const where = {}; // the words that hold a piece, or did
  const note = (piece, i) => (where[`_${piece}`] ??= new Set()).add(i);
  let now = words.map((word) => [...word].map((c, i, { length }) =>
    (i ? prefix : "") + c + (i + 1 === length ? suffix : "")));
  now.forEach((word, i) => word.forEach((piece) => note(piece, i)));
  const total = (number) => counts.reduce((sum, count, i) => sum + count * number(i), 0);
  const all = total(() => 1);
  let size = total((i) => now[i].length);
  const states = [now], values = [size / all];
  for (const [left, right] of steps) {
    const token = joined([left, right], prefix);
    now = now.slice();
    for (const i of where[`_${left}`] ?? []) {
      const word = merge(now[i], left, right, token);
      size -= (now[i].length - word.length) * counts[i];
      if (word.length < now[i].length) note(token, i);
      now[i] = word;
    }
    states.push(now);
    values.push(size / all);
  }
  return { states, values };
}

const lost = (count, taken) =>
  taken * Math.log(count) - (count > taken ? (count - taken) * Math.log1p(-taken / count) : 0);

const SCORES = {
  frequency: ({ count }) => count,
  pmi: ({ count }, a, b) => count / (a * b),
  likelihood: ({ merged: n, pair: [left, right] }, a, b, all) => n * Math.log(n) + lost(all, n) -
    (left === right ? lost(a, 2 * n) : lost(a, n) + lost(b, n)),
};

/** The pairs that could be merged, best first: {pair, count, score}. */
export function candidates(words, { score, counts }) {
  const pairs = new Map(), pieces = new Map();
  let all = 0;
  words.forEach((word, w) => {
    const n = counts[w];
    all += n * word.length;
    let again = false;
    word.forEach((left, i) => {
      pieces.set(left, (pieces.get(left) ?? 0) + n);
      const pair = word.slice(i, i + 2);
      if (!pair[1]) return;
      const key = JSON.stringify(pair);
      if (!pairs.has(key)) pairs.set(key, { pair, count: 0, merged: 0 });
      const it = pairs.get(key);
      again = left === pair[1] && !again; // of "aaa", one "aa" can be merged
      it.count += n;
      if (again || left !== pair[1]) it.merged += n;
    });
  });
  return [...pairs.values()]
    .map((it) => ({ ...it, score: SCORES[score](it, ...it.pair.map((piece) => pieces.get(piece)), all) }))
    .sort((p, q) => q.score - p.score || q.count - p.count);
}

/** The tokenizer's facts as they were after so many steps. */
export function early(facts, step) {
  const { first, steps, rounds, pieces, special } = facts.training;
  if (rounds) {
    const { kept, scores } = rounds[step];
    const there = [...kept].map((id, i) => [pieces[id], scores[i]]).filter(([it]) => !special.includes(it));
    const all = [...special.map((it) => [it, 0]), ...there];
    return { ...facts, tokens: all.map(([it]) => it), scores: all.map(([, score]) => score) };
  }
  const merges = steps.slice(0, step);
  const made = merges.map((it) => joined(it, facts.prefix));
  return { ...facts, tokens: [...new Set([...facts.tokens.slice(0, first), ...made])], merges };
}
