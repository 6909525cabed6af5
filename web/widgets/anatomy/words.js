// What is said about a model, a block and a number.

import { short } from "../shared/numbers.js";
import { quoted } from "../shared/tokens.js";
import { compute, entry } from "./maths.js";

const num = (x) => (x < -1e29 ? "−∞" : short(x).replace("-", "−"));
const signed = (x) => (x < 0 ? `(${num(x)})` : num(x));

/** The whole picture in words. */
export function alternative({ models, model, now, root, block, inside }) {
  const marked = inside.filter((it) => it.mark).map((it) => `${it.label} (${it.mark})`);
  return [
    `Anatomy of ${models.map((it) => it.title).join(" and ")}.`,
    `Shown is ${root ? `the inside of ${root.named}` : "the whole model"}, in the order of the pass: ${inside.map((it) => it.listed).join(", ")}.`,
    marked[0] && `Marked: ${marked.join(", ")}.`,
    block && `Selected: ${block.named}${now.row === null ? "" : `, number ${now.row}, ${now.column}`}.`,
  ].filter(Boolean).join(" ");
}

/** A block, as the keyboard meets it. */
export const spoken = (it, inside) => `${it.listed}${it.mark ? `, ${it.mark}` : ""}${inside ? ", opens" : ""}`;

/** The name of a row or a column. */
export function place(i, length, tokens, what) {
  return length === tokens.length ? `${quoted(tokens[i])} (${i})` : `${what} ${i}`;
}

/** How a number is computed, with its numbers. */
export function arithmetic(values, numbers, y, head, row, column) {
  const value = num(entry(y, head, row, column)), it = compute(values, numbers, head, row, column);
  if (!it) return `y = ${value}`;
  const { op, terms, a, b, bias } = it;
  if (op === "softmax") {
    const e = (x) => (x < -1e29 ? "0" : `exp(${num(x)})`), shown = terms.slice(0, 8).map(([x]) => e(x));
    return `y = ${e(a)} / (${shown.join(" + ")}${terms.length > 8 ? ` + … (${terms.length} terms)` : ""}) = ${num(it.result)}`;
  }
  if (op === "norm") return `y = (${num(a)} − ${signed(b)}) / ${num(terms[0][0])} · ${signed(terms[0][1])} + ${signed(bias)} = ${num(it.result)}`;
  if (terms) {
    const shown = terms.slice(0, 5).map(([x, w]) => `${signed(x)}·${signed(w)}`).join(" + ");
    const sum = terms.reduce((total, [x, w]) => total + x * w, 0);
    return `y = ${shown}${terms.length > 5 ? ` + … (${terms.length} products)` : ""}${bias === undefined ? "" : ` + b\n  = ${num(sum)} + ${signed(bias)}`} = ${num(it.result)}`;
  }
  const sign = { add: "+", sub: "−", mul: "·", div: "/" }[op];
  return `y = ${sign ? `${num(a)} ${sign} ${signed(b)}` : `${op}(${num(a)})`} = ${num(it.result)}`;
}
