// What the picture says, in sentences.

import { short } from "../shared/numbers.js";
import { quoted } from "../shared/tokens.js";
import { ADDED, hider, MASKS } from "./masks.js";

/** A number, or what is none. */
export const number = (x) => (Number.isNaN(x) ? "not a number" : short(x));

/** One pair of the matrix. */
export function pair({ data: { n, tokens }, codes }, i, j) {
  const code = codes[i * n + j];
  return `Query ${i} ${quoted(tokens[i])}, key ${j} ${quoted(tokens[j])}: ${code ? `hidden, ${MASKS[hider(code)].toLowerCase()}` : "visible"}`;
}

const UNSEEN = {
  "-inf": "Every score is −∞, and the softmax is 0/0: NaN, which spreads through all later layers. (Our models give zeros.)",
  lowest: "The lowest number absorbs every score: all hidden keys get the same weight.",
  "-10000": "−10,000 on every score cancels in the softmax: it attends as if there were no mask.",
};

/** What the masks do to the chosen query. */
export function effect({ data, now, masks, hidden, weighed: { before, weights, sum }, row, pairs }) {
  const { n, tokens, tree } = data;
  const count = hidden.filter((code) => !code).length;
  const names = masks.map((name) => MASKS[name].toLowerCase()).join(" and ");
  const seen = before.reduce((sum, p, j) => sum + (hidden[j] ? 0 : p), 0);
  return [
    names ? `With ${names}, ${pairs} of ${n * n} pairs are visible.` : "No mask: every token attends to every other.",
    tree && !masks.includes("tree") && "Facts about one entity reach every token: knowledge noise.",
    `Query ${row}, ${quoted(tokens[row])}, attends to ${count} of ${n} keys.`,
    count === n ? "" : now.after ? (count ? `Its weights sum to ${short(sum)}: the rest went to hidden keys, whose scores are in the divisor. ` +
      `If these rise by 1, the sum is ${short(seen / (seen + Math.E * (1 - seen)))}: hidden scores leak.`
      : "All its weights become 0, and so does its output, without an error.")
      : count ? `The weights of visible keys sum to ${short(weights.reduce((sum, p, j) => sum + (hidden[j] ? 0 : p), 0))}.` : UNSEEN[now.added],
  ].filter(Boolean).join(" ");
}

/** The picture for those who do not see it. */
export function alternative(it) {
  const { data: { n, tokens, tree, soft }, now, hidden, weighed: { weights, sum } } = it;
  const likely = weights.map((p, j) => [p, j]).filter(([p]) => p > 0).sort((a, b) => b[0] - a[0]).slice(0, 6);
  return `Matrix of ${n} queries and ${n} keys${tree ? `, beside a sentence tree of ${Math.max(...soft) + 1} soft positions` : ""}. ${effect(it).replace("NaN", "not a number")} ` +
    `${now.after ? "Hidden weights are set to 0 after the softmax" : `${ADDED[now.added]} is added to hidden scores`}. Weights: ` +
    `${likely.map(([p, j]) => `${quoted(tokens[j])} ${short(p)}${hidden[j] ? " (hidden)" : ""}`).join(", ") || "none"}; sum ${number(sum)}.`;
}
