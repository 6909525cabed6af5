// What the picture says, in sentences; as in lmcourse/widgets/attention_text.py.

import { short } from "../shared/numbers.js";
import { abs, chosen, column, entropy, floor, part, product } from "./maths.js";

/** The first characters of some words. */
export const clipped = (words, most) => ([...words][most] ? `${[...words].slice(0, most - 1).join("")}…` : words);

export const minus = (digits) => digits.replace("-", "−");

/** A weight, or a difference, with the digits that a byte tells; the last may be off by one. */
export const weight = (p) => (p !== p ? "not among the 8 largest" : !p ? "0" : abs(p) < 5e-4 ? "≈ 0"
  : minus(p.toFixed(abs(p) < 0.00995 ? 3 : 2)));

export const number = (x) => (x < -1e9 ? "−∞" : minus(short(x)));

/** One weight with its place; that of the other head, and how much larger it is. */
export const at = ({ quotes: [rows, columns], p, view, other, difference }, i, j) => {
  const place = i * columns.length + j;
  return `${rows[i]} → ${columns[j]}: ${weight(p[place])}` +
    (part(p, i, columns.length).some(Boolean) ? "" : "; attends to none of these") +
    (other ? `; ${other.name}: ${weight(other.p[place])}; difference: ${weight(difference[place])}` : "");
};

const most = (row, quotes, { lines }) =>
  chosen(row, lines).slice(0, 4).map((j) => `${quotes[j]} ${weight(row[j])}`).join(", ") || "none of these";

const real = (them) => them.filter(Boolean);

/** What a query attends to, and what attends to a key; of −1 nothing. */
export const token = ({ quotes: [rows, columns], p, now }, i, j) => real([
  i >= 0 && `${rows[i]} attends to ${most(part(p, i, columns.length), columns, now)}`,
  j >= 0 && `${columns[j]} is attended to by ${most(column(p, columns.length, j), rows, now)}`]).join("; ");

/** The head and its pinned query. */
export const about = (d) => {
  const { quotes: [, columns], view, other, i, row, share, difference } = d;
  const far = other && difference.reduce((best, it, at, all) => (abs(it) > abs(all[best]) ? at : best), 0);
  return real([
    `${view.name}: ${view.says}.`,
    other && `Compared: ${other.name}: ${other.says}.`,
    !d.partial && difference?.[far] && `Largest difference: ${at(d, floor(far / columns.length), far % columns.length)}.`,
    token(d, i, -1) +
      (share < 0.999 ? `; ${floor(100 * share)}% of its weight is shown.` : share ? `; entropy ${short(entropy(row))} bits.` : "."),
  ]).join(" ");
};

/** From q · k to the weight, step by step: [words, number]. */
export const steps = ({ cells, j, now, parts }) => {
  const cell = cells[j], scaled = cell.dot * cell.scale;
  return real([["q · k", cell.dot], [`× scale ${number(cell.scale)}`, scaled],
    parts.bias && [`+ bias ${number(cell.bias)}`, scaled + cell.bias],
    [`÷ T = ${number(now.temperature)}`, (scaled + cell.bias) / now.temperature],
    [`+ mask ${number(cell.mask)}`, cell.score], ["exp(score − highest)", cell.power],
    [`÷ sum ${number(cell.sum)}`, cell.p]]).map(([words, it]) => [words, number(it)]);
};

/** One dimension of the pinned query's product with a key. */
export const dimension = ({ cells, quotes }, j, n) => {
  const [q, k, both] = product(cells[j]).map((them) => number(them[n]));
  return `${quotes[1][j]}; dimension ${n}: q ${q}; k ${k}; product ${both}`;
};

/** All of it. */
export const alternative = (d) =>
  `${d.view.source.size.join(" × ")} heads; ${d.counts[0]} queries, ${d.counts[1]} keys. ${about(d)} Pinned: ${
    [at(d, d.i, d.j), ...(d.cells ? steps(d).map((it) => it.join(": ")) : [])].join("; ")
  }. Lines: ${d.now.lines}; segments: ${d.now.between}. ${token(d, -1, d.j)}.`;

/** The pinned query's row as a table. */
export const values = ({ view, other, difference, quotes, counts, i, row, cells }) => {
  const of = (p) => [...part(p, i, counts[1])].map(weight);
  const table = [["Key", quotes[1]], ["Weight", row.map(weight)],
    ...(other ? [[other.name, of(other.p)], ["Difference", of(difference)]] : []),
    ...(cells ? [["Score", cells.map((it) => number(it.score))]] : [])];
  return { caption: `${view.name}: ${quotes[0][i]}`, head: table.map(([name]) => name),
    rows: row.map((_, j) => table.map(([, them]) => them[j])) };
};
