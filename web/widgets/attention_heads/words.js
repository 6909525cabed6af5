// What the picture says, in sentences.

import { short } from "../shared/numbers.js";
import { entropy } from "./maths.js";

/** A weight, or a difference, as it is read: a byte tells no more digits. */
export const weight = (p) => (p ? p.toFixed(Math.abs(p) < 0.00995 ? 3 : 2).replace("-", "−") : "0");

/** One weight with its place, and that of the other head. */
export function at({ quotes: [rows, columns], p, view, other }, i, j) {
  const place = i * columns.length + j;
  const start = i * columns.length;
  const empty = !p.subarray(start, start + columns.length).some(Boolean);
  return `${rows[i]} → ${columns[j]}: ` +
    `${!p[place] && view.partial ? "below the top 8" : weight(p[place])}` +
    (empty ? "; looks nowhere" : "") +
    (other ? `; ${other.name}: ${weight(other.p[place])}` : "");
}

/** The head and its pinned query. */
export function about(d, picked) {
  const { quotes: [rows, columns], view, other, i, row } = d;
  const some = picked.slice(0, 4).map((j) => `${columns[j]} ${weight(row[j])}`);
  const most = other && d.difference.reduce((best, it, at, all) => (Math.abs(it) > Math.abs(all[best]) ? at : best), 0);
  return [
    `${view.name}: ${view.says}.`,
    d.anew && "These are the model’s numbers; the picture is computed anew.",
    other && `Compared: ${other.name}: ${other.says}.`,
    other && `Largest difference: ${weight(d.difference[most])}, at ${rows[Math.floor(most / columns.length)]} → ${columns[most % columns.length]}.`,
    `${rows[i]}, token ${d.rows[i]}, looks at ${some.join(", ") || "nothing"}; entropy ${short(entropy(row))} bits.`,
  ].filter(Boolean).join(" ");
}
