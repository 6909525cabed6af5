// The sentence tree if there is one, the matrix, and one query's softmax beside or under it.

import { MODEL } from "../shared/colors.js";
import { s, times } from "../shared/dom.js";
import { fitted, note, rect, text, tinted, title } from "../shared/marks.js";
import { ADDED, hider, lanesOf, MASKS } from "./masks.js";

const MOST = 24; // keys that are listed
const LINE = 24;
const HEAD = 86; // the keys' names above the matrix

/** With the sign of the other numbers, and without one before zero. */
const minus = (digits) => digits.replace(/^-(?=0.00$)/, "").replaceAll("-", "−");

/** @returns where the matrix lies, and the softmax; `box` is the matrix's, in pixels. */
export function place(n, width, top) {
  const beside = width >= 720;
  const names = Math.min(104, width * 0.26);
  const cell = Math.min(30, ((beside ? width * 0.52 : width) - names - 4) / n);
  const head = cell >= 14 ? HEAD : 44, letters = cell >= 14 && n <= 32;
  const box = { x: names, y: top + head, width: n * cell, height: n * cell };
  const row = beside ? { x: box.x + box.width + 40, y: top + 6 } : { x: 0, y: box.y + box.height + 50 };
  return { cell, box, letters, end: box.y + box.height + (letters ? 28 : 6), row: { ...row, width: Math.min(500, width - row.x) } };
}

/** The tree's boxes: soft positions count to the right, or down where it is narrow. */
export function treePlace({ soft, branch }, width) {
  const { lanes, count, last } = lanesOf(soft, branch);
  const flat = width / last >= 58;
  const [long, deep] = flat ? [Math.min(110, width / last), 62] : [54, Math.min(140, (width - 28) / count)];
  const boxes = soft.map((at, i) => {
    const [a, b] = [at * long, lanes[branch[i]] * deep];
    return flat ? { x: a + 4, y: 46 + b, width: long - 8, height: 42 } : { x: 30 + b, y: 26 + a, width: deep - 10, height: 42 };
  });
  return { flat, boxes, height: (flat ? 46 + count * deep : 26 + last * long) + 18 };
}

/** Trunk and branches; what the chosen query sees is filled. */
export function treeView({ data: { tokens, soft, branch, anchor }, hidden, row }, { flat, boxes }) {
  const trunk = (place) => anchor.findIndex((it, i) => it === place && !branch[i]);
  const center = ({ x, y, width, height }) => [x + width / 2, y + height / 2];
  return [
    title(0, 14, "The sentence tree"), note(142, 14, "soft positions; boxed: hard"),
    boxes.map((box, i) => {
      const first = branch[i] && branch[i - 1] !== branch[i];
      const from = first ? trunk(anchor[i]) : i - 1 >= 0 && branch[i] ? i - 1 : trunk(anchor[i] - 1);
      const [u, v] = center(box), [x, y] = center(boxes[Math.max(from, 0)]);
      return s("g", null,
        s("path", { d: `M${x} ${y}${first && flat ? "V" + v : first ? "H" + u : ""}L${u} ${v}`, fill: "none", class: "axis" }),
        !branch[i] && (flat ? note(u, 38, soft[i], "middle") : note(20, v + 4, soft[i], "end")));
    }),
    boxes.map(({ x, y, width, height }, i) => s("g", null,
      rect(x, y, width, height, { rx: 6, class: "paper" }),
      hidden[i] ? rect(x, y, width, height, { rx: 6, style: "fill:none", class: "rule", "stroke-dasharray": "3 3" })
        : tinted(x, y, width, height, MODEL),
      i === row && rect(x - 3, y - 3, width + 6, height + 6, { rx: 8, class: "pin" }),
      note(x + 7, y + 16, i),
      text(x + width / 2, y + 33, fitted(tokens[i], width - 8), { "text-anchor": "middle", class: hidden[i] ? "soft" : null })))];
}

/** Visible is filled; hidden is pale, with the first letter of the mask that hides it. */
export function matrixView({ data: { n, tokens }, masks, codes, row }, { cell, box, letters }) {
  const { x, y, width, height } = box;
  const step = cell >= 14 ? 1 : [2, 5, 10, 20, 50, 100].find((it) => it * cell >= 28);
  const middle = (k) => (k + 0.5) * cell;
  return [
    times(n, (i) => (i % step && i !== row ? null : [
      (step < 2 || i === row || Math.abs(i - row) * cell > 14) && text(x - 8, y + middle(i) + 4,
        step < 2 ? fitted(tokens[i], x - 10) : i, { class: i === row ? "strong" : "soft", "text-anchor": "end" }),
      i % step ? null : step > 1 ? note(x + middle(i), y - 8, i, "middle")
        : text(0, 4, fitted(tokens[i], HEAD - 22), { class: "soft", transform: `translate(${x + middle(i)} ${y - 8})rotate(-90)` })])),
    note(0, y - 26, "key →"), note(0, y - 8, "query ↓"),
    cell >= 6 && s("path", { class: "halo", d: times(n + 1, (k) => `M${x + k * cell} ${y}v${height}M${x} ${y + k * cell}h${width}`).join("") }),
    letters && note(0, y + height + 22, `Letters: ${masks.map((it) => `${it[0]} ${MASKS[it].toLowerCase()}`).join(", ") || "none"}.`),
    letters && [...codes].map((code, k) => code > 0 && note(
      x + middle(k % n), y + middle(Math.floor(k / n)) + 4, hider(code)[0], "middle")),
    rect(x - 2, y + row * cell - 2, width + 4, cell + 4, { class: "pin", rx: 3 })];
}

/** The keys of one query: score, what is added, softmax without the mask and with it. Its marks, and where it ends. */
export function rowView({ data: { n, tokens }, scores, hidden, weighed, row, now }, { x, y, width }) {
  const { added, before, weights, sum } = weighed;
  const share = (j) => before[j] + (weights[j] || 0);
  const kept = times(n, (j) => j).sort((a, b) => share(b) - share(a) || a - b).slice(0, MOST).sort((a, b) => a - b);
  const right = [0.42, 0.61, 0.81, 1].map((it) => x + it * width);
  const most = Math.max(...before, ...weights.filter((it) => it > 0));
  const cell = (k, words, at, name) => text(right[k], at, words, { "text-anchor": "end", class: name });
  const written = (p) => (Number.isNaN(p) ? "NaN" : p > 0 && p < 0.001 ? "< 0.001" : p.toFixed(3));
  const weight = (k, p, at, fill) => [cell(k, written(p), at), p > 0 &&
    rect(right[k] - (p / most) * 0.15 * width, at + 4, (p / most) * 0.15 * width, 4, { fill })];
  const mask = (j) => (now.after ? (hidden[j] ? "0" : "1") : hidden[j] ? ADDED[now.added].split(", ")[0] : "0");
  const end = y + 68 + kept.length * LINE;
  const rest = n - kept.length;
  return [[
    title(x, y + 8, `Query ${row}: ${fitted(tokens[row], width - 90, 14)}`),
    [["", "score"], now.after ? ["", "× mask"] : ["", "+ mask"], ["softmax,", "no mask"], ["softmax,", now.after ? "then mask" : "masked"]]
      .map((names, k) => names.map((name, line) => note(right[k], y + 34 + 15 * line, name, "end"))),
    kept.map((j, k) => {
      const at = y + 74 + k * LINE;
      return s("g", null, text(x, at, fitted(tokens[j], 0.42 * width - 50), { class: hidden[j] ? "soft" : null }),
        cell(0, minus(Math.abs(scores[j]) < 1e4 ? scores[j].toFixed(2) : scores[j].toExponential(0)), at, "soft"),
        cell(1, mask(j), at, hidden[j] ? null : "soft"),
        weight(2, before[j], at, "#777777"), weight(3, weights[j], at, hidden[j] ? "#D55E00" : MODEL));
    }),
    s("path", { d: `M${x} ${end - 6}h${width}`, class: "axis" }),
    text(x, end + 12, rest ? `sum, with ${rest} more` : "sum", { class: "strong" }),
    cell(2, "1.000", end + 12, "strong"), cell(3, written(sum), end + 12, "strong")], end + 22];
}
