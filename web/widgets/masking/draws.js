// Which tokens are selected, and what replaces them: the same rules, numbers and order as in
// lmcourse/widgets/masking_draw.py, which documents them.

import { times } from "../shared/dom.js";

/** mulberry32: numbers in [0, 1) without end. */
export function numbers(seed, epoch) {
  let a = Math.imul(seed, 0x9e3779b1) + Math.imul(epoch, 0x85ebca77);
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), a | 1);
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Where each word begins and ends, special tokens left out. */
export function unitsOf(words, special) {
  const units = [];
  words.forEach((word, i) => {
    if (special[i]) return;
    const before = units.at(-1);
    if (before?.[1] === i && words[i - 1] === word) before[1]++;
    else units.push([i, i + 1]);
  });
  return units;
}

/**
 * @param {{words, special, pool: number}} text `pool` is how many random words there are.
 * @param {{kind, rate, masked, random, seed}} rules
 * @returns {{actions: number[], substitutes: number[]}} 0 not selected, 1 [MASK], 2 random, 3 kept; of a
 *   random word its number.
 */
export function draw({ words, special, pool }, { kind, rate, masked, random, seed }, epoch) {
  const next = numbers(seed, epoch);
  const own = times(words.length, () => [next(), next(), next()]);
  const units = unitsOf(words, special);
  const chosen = kind === "span" ? spans(rate, units, next) : new Map(units
    .flatMap(([start, end]) => times(end - start, (k) => [start + k, kind === "word" ? start : start + k]))
    .filter(([, lead]) => own[lead][0] < rate).map(([i]) => [i, i]));
  const actions = times(words.length, () => 0), substitutes = [...actions];
  for (const [i, lead] of chosen) {
    const share = own[lead][1];
    actions[i] = share < masked ? 1 : share < masked + random ? 2 : 3;
    if (actions[i] === 2) substitutes[i] = Math.floor(own[i][2] * pool);
  }
  return { actions, substitutes };
}

/** Each selected token with its span's first one. */
function spans(rate, units, next) {
  const budget = Math.floor(rate * units.reduce((sum, [start, end]) => sum + end - start, 0) + 0.5);
  const chosen = new Map();
  for (let tries = 40 * units.length; tries && chosen.size < budget; tries--) {
    const length = lengthOf(next());
    const first = Math.floor(next() * units.length);
    const lead = units[first][0];
    if (chosen.has(lead)) continue;
    for (let k = first; k < Math.min(first + length, units.length); k++) {
      if (k > first && units[k][0] !== units[k - 1][1]) break;
      for (let i = units[k][0]; i < units[k][1]; i++) {
        if (chosen.size < budget && !chosen.has(i)) chosen.set(i, lead);
      }
    }
  }
  return chosen;
}

/** A geometric length, p = 0.2, of at most 10. */
function lengthOf(u) {
  let share = 0.2, reached = 0;
  const sums = times(10, () => {
    reached += share;
    share *= 0.8;
    return reached;
  });
  return 1 + sums.slice(0, 9).filter((bound) => u * reached >= bound).length;
}
