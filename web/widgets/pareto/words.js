// The chart in words, and its numbers.

import { short } from "../shared/numbers.js";
import { quoted, visible } from "../shared/tokens.js";

/** A cost: 664 k, 1.06 M, 0.52. */
export function amount(x) {
  const [size, unit] = [[1e9, " G"], [1e6, " M"], [1e3, " k"]].find(([size]) => x >= 0.9995 * size) ?? [1, ""];
  return size > 1 ? `${+(x / size).toPrecision(3)}${unit}` : short(x);
}
/** The same with all digits, for a table. */
export const exact = (x) => (x >= 1000 ? Math.round(x).toLocaleString("en") : short(x));
export const score = (x) => x.toFixed(Math.abs(x) < 9.9995 ? 3 : 1).replace("-", "−");
export const plain = (words) => visible(words).replaceAll("␣", " ");

/** A name in quotes; its spaces are spaces. */
const named = (name, most) => quoted(name, most).replaceAll("␣", " ");
const spread = ({ seeds, spread: sd }) => (seeds > 1 ? ` ± ${score(sd)}` : "");

/** One point in a line. */
export const about = (data, found, it) => `${named(it.name, 60)}: ${plain(found.cost)} ${amount(it.cost)}, ` +
  `${plain(found.score)} ${score(it.mean)}${spread(it)}${it.best ? ", on the front" : ""}`;

/** The same below each other, for a tip. */
export const lines = (data, found, it) => [
  plain(it.name), `${plain(data.families[it.family])}, ${plain(data.groups[it.group])}`,
  `${plain(found.cost)}: ${amount(it.cost)}${it.low < it.high ? ` (${amount(it.low)} to ${amount(it.high)})` : ""}`,
  `${plain(found.score)}: ${score(it.mean)}${spread(it)}${it.seeds > 1 ? `, ${it.seeds} seeds` : ""}`,
  it.best ? "on the front" : "dominated"].join("\n");

const brief = (it) => `${named(it.name)} (${amount(it.cost)}, ${score(it.mean)})`;
const each = (all, most) => all.slice(0, most).map(brief).join(", ") + (all.length > most ? `, and ${all.length - most} more` : "");

/** What the chart shows, or what became of the picked point. */
export function effect(found) {
  const { shown, best, picked, better } = found;
  if (!shown.length) return "No model is shown: choose more families.";
  const one = better.length === 1;
  const where = !picked ? "" : better.length
    ? `${named(picked.name)} is dominated by ${each(better, 3)}, which ${one ? "costs" : "cost"} no more and ${one ? "scores" : "score"} no less. `
    : `${named(picked.name)} is on the front: no other model shown dominates it. `;
  const below = found.lines.map(({ label, mean }) =>
    ` Below ${named(label)} (${score(mean)}): ${shown.filter((it) => it.mean < mean).length} of ${shown.length}.`).join("");
  return `${where}${best.length} of ${shown.length} models ${best.length === 1 ? "is" : "are"} on the front, which is computed from means over seeds; bars show ± one standard deviation.${below}`;
}

export const alternative = (found) => `Pareto chart of ${found.shown.length} models: ${plain(found.score)} against ${plain(found.cost)}, ` +
  `logarithmic. On the front, from means: ${each(found.best, 12) || "none"}.` +
  (found.picked ? ` Picked: ${brief(found.picked)}, ${found.better.length ? "dominated" : "on the front"}.` : "");
