// Who may look at whom, and what a softmax makes of it.

import { times } from "../shared/dom.js";
import { softmax } from "../shared/softmax.js";

/** Every mask, in the order in which one is named that hides a key. */
export const MASKS = {
  causal: "Causal", padding: "Padding", segment: "Segment", boundary: "Span boundary",
  tree: "Visible matrix", given: "Given mask",
};
const ORDER = Object.keys(MASKS);
export const ADDED = { "-inf": "−∞", "-10000": "−10,000", lowest: "−3.4·10³⁸, float32’s lowest" };
const NUMBERS = { "-inf": -Infinity, "-10000": -1e4, lowest: -(2 - 2 ** -23) * 2 ** 127 };

/** A matrix that Python has packed to bits, row by row. */
export const bit = (it) => it && ((i, j) => (it.data[i * it.shape[1] + (j >> 3)] >> (7 - (j & 7))) & 1);

/** @returns {Uint8Array} n × n: 0 where the query may look at the key, else 1 + the place in MASKS of what hides it. */
export function hiders({ n, real, segment, selected, tree, given }, masks) {
  const left = [], right = [];
  for (let i = 0, last = -1; i < n; i++) left.push(selected?.[i] ? last : (last = i));
  for (let i = n - 1, last = n; i >= 0; i--) right[i] = selected?.[i] ? last : (last = i);
  const sees = {
    causal: (i, j) => j <= i,
    padding: (_, j) => real[j],
    segment: (i, j) => segment[i] === segment[j],
    boundary: (i, j) => !selected[i] || j === left[i] || j === right[i],
    tree, given,
  };
  const used = ORDER.map((name, k) => [sees[name], k + 1]).filter((_, k) => masks.includes(ORDER[k]));
  return Uint8Array.from({ length: n * n }, (_, k) =>
    used.find(([see]) => !see(Math.floor(k / n), k % n))?.[1] ?? 0);
}

/** Those of some masks that the data tell something about: of an edited sentence, not all. */
export function known({ real, segment, selected, tree, given }, masks) {
  const there = { causal: true, padding: real, segment, boundary: selected, tree, given };
  return masks.filter((name) => there[name]);
}

/** The mask that a number of `hiders` means. */
export const hider = (code) => ORDER[code - 1];

/**
 * One query's softmax. Scores and mask are added in float32, as a model does.
 * @returns {{added: number[], before: number[], weights: number[], sum: number}} without the mask, and with it; where
 *   all scores are −∞, NaN. `after`: the weights of hidden keys become 0 after the softmax.
 */
export function weigh(scores, hidden, { added, after }) {
  const mask = hidden.map((it) => (it ? NUMBERS[added] : 0));
  const before = softmax(scores);
  const weights = after ? before.map((p, j) => (hidden[j] ? 0 : p))
    : softmax(scores.map((score, j) => Math.fround(score + mask[j])));
  return { added: mask, before, weights, sum: total(weights) };
}

const total = (all) => all.reduce((a, b) => a + b, 0);

/**
 * Of each branch of a tree, 0 the trunk, the lane it is drawn in. From right to left, each goes below
 * those that hang where it lies: so no line to a branch crosses another.
 */
export function lanesOf(soft, branch) {
  const lanes = times(Math.max(...branch) + 1, () => 0), placed = [];
  const spans = lanes.map((_, b) => [b, soft.filter((_, i) => branch[i] === b)]).filter(([b, { length }]) => b && length);
  for (const [b, places] of spans.sort((p, q) => q[1][0] - p[1][0] || p[0] - q[0])) {
    lanes[b] = 1 + Math.max(0, ...placed.filter(({ first }) => first <= places.at(-1) + 1).map(({ lane }) => lane));
    placed.push({ first: places[0], lane: lanes[b] });
  }
  return { lanes, count: Math.max(...lanes) + 1, last: Math.max(...soft) + 1 };
}
