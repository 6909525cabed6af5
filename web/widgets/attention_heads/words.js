// What the picture says, in sentences; as in lmcourse/widgets/attention_text.py.

import { short } from "../shared/numbers.js";
import { abs, entropy, floor, part } from "./maths.js";

export const minus = (digits) => digits.replace("-", "−");

/** A weight, or a difference, with the digits that a byte tells; the last may be off by one. */
export const weight = (p) => (p !== p ? "not among the 8 largest" : !p ? "0" : abs(p) < 5e-4 ? "≈ 0"
  : minus(p.toFixed(abs(p) < 0.00995 ? 3 : 2)));

const number = (x) => (x < -1e9 ? "−∞" : minus(short(x)));

/** One weight with its place; that of the other head, and how much larger it is. */
export function at({ quotes: [rows, columns], p, view, other, difference }, i, j) {
  const place = i * columns.length + j;
  return `${rows[i]} → ${columns[j]}: ${weight(p[place])}` +
    (part(p, i, columns.length).some(Boolean) ? "" : "; attends to none of these") +
    (other ? `; ${other.name}: ${weight(other.p[place])}; difference: ${weight(difference[place])}` : "");
}

/** The head and its pinned query. */
export function about(d, picked) {
  const { quotes: [rows, columns], view, other, i, row, share, difference } = d;
  const some = picked.slice(0, 4).map((j) => `${columns[j]} ${weight(row[j])}`);
  const most = other && difference.reduce((best, it, at, all) => (abs(it) > abs(all[best]) ? at : best), 0);
  return [
    `${view.name}: ${view.says}.`,
    other && `Compared: ${other.name}: ${other.says}.`,
    !d.partial && difference?.[most] && `Largest difference: ${at(d, floor(most / columns.length), most % columns.length)}.`,
    `${rows[i]} attends to ${some.join(", ") || "none of these"}` +
      (share < 0.999 ? `; ${floor(100 * share)} % of its weight is shown.` : share ? `; entropy ${short(entropy(row))} bits.` : "."),
  ].filter(Boolean).join(" ");
}

/** From q · k to the weight, step by step: [words, number]. */
export function steps({ cells, j, now, parts }) {
  const cell = cells[j], scaled = cell.dot * cell.scale;
  return [["q · k", cell.dot], [`× scale ${number(cell.scale)}`, scaled],
    parts.bias && [`+ bias ${number(cell.bias)}`, scaled + cell.bias],
    [`÷ T = ${number(now.temperature)}`, (scaled + cell.bias) / now.temperature],
    [`+ mask ${number(cell.mask)}`, cell.score], ["exp(score − highest)", cell.power],
    [`÷ sum ${number(cell.sum)}`, cell.p]].filter(Boolean).map(([words, it]) => [words, number(it)]);
}

/** All of it. */
export const alternative = (d, caption) =>
  `${d.view.source.layers} × ${d.view.source.heads} heads; ${d.counts[0]} queries, ${d.counts[1]} keys. ${caption} Pinned: ${
    [at(d, d.i, d.j), ...(d.cells ? steps(d).map((it) => it.join(": ")) : [])].join("; ")}. Lines: ${d.now.lines}; segments: ${d.now.between}.`;

/** The pinned query's row as a table. */
export function values({ view, other, difference, quotes, counts, i, row, cells }) {
  const of = (p) => [...part(p, i, counts[1])].map(weight);
  const table = [["Key", quotes[1]], ["Weight", row.map(weight)],
    ...(other ? [[other.name, of(other.p)], ["Difference", of(difference)]] : []),
    ...(cells ? [["Score", cells.map((it) => number(it.score))]] : [])];
  return { caption: `${view.name}: ${quotes[0][i]}`, head: table.map(([name]) => name),
    rows: row.map((_, j) => table.map(([, them]) => them[j])) };
}
