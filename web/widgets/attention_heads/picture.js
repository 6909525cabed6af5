// The marks of the picture. Colors come from the root's variables, and from one blue and one orange.

import { s, times } from "../shared/dom.js";
import { colors } from "../shared/heat.js";
import { short } from "../shared/numbers.js";
import { cividis } from "../shared/ramp.js";
import { chosen, pool } from "./maths.js";
import { weight } from "./words.js";

const { abs, ceil, floor, max, min, sign, sqrt } = Math;
const BLUE = "#2f86bd", ORANGE = "#d55e00"; // seen on light and on dark paper
const note = (x, y, words, anchor, look) => s("text", { x, y, class: "soft", "text-anchor": anchor, ...look }, words);
const STRONG = { class: "strong" }, INK = { class: "" };
const box = (name, x, y, width, height, look) => s("rect", { class: name, x, y, width, height, ...look });
const frame = (x, y, width, height, look) =>
  [box("halo", x - 1, y - 1, width + 2, height + 2), box("pin", x, y, width, height, look)];
const upright = (x, y, words, look) =>
  note(0, 0, words, null, { transform: `translate(${x + 4} ${y - 6})rotate(-90)`, ...look });

const RAMP = colors(cividis);
/** −1 … 1: blue and orange, the clearer the nearer to 0. */
const SIGNED = new Uint32Array(new Uint8Array(times(256, (i) =>
  [...(i < 128 ? [47, 134, 189] : [213, 94, 0]), min(255, 2 * abs(i - 128))]).flat()).buffer);

/** What a weight, or a difference, looks like: its root; 0 stays clear. */
const painted = (value, signed) => (!value ? 0 : signed
  ? SIGNED[Math.round(128 + 127 * sign(value) * sqrt(abs(value)))] : RAMP[Math.round(255 * sqrt(value))]);

/** One head on its canvas, no larger than it is seen. */
export function paint(canvas, place, p, rows, columns, signed) {
  const [high, wide] = [min(rows, ceil(place.height)), min(columns, ceil(place.width))];
  const found = pool(p, rows, columns, high, wide);
  canvas.place(place);
  canvas.paint(high, wide, (pixels) => found.forEach((it, i) => { pixels[i] = painted(it, signed); }));
}

/** All heads on one canvas. @param thumb (layer, head) → its weights, so many rows and columns */
export function thumbnails(canvas, place, { layers, heads }, thumb, rows, columns) {
  const { width, height, side, pitch, tall } = place;
  const [high, wide] = [min(side, rows), min(side, columns)];
  canvas.place(place);
  canvas.paint(height, width, (pixels) => times(layers, (layer) => times(heads, (head) => {
    const found = pool(thumb(layer, head), rows, columns, high, wide);
    times(side, (i) => times(side, (j) => {
      pixels[(layer * tall + i) * width + head * pitch + j] =
        painted(found[floor((i * high) / side) * wide + floor((j * wide) / side)]);
    }));
  })));
}

export function overview({ x, y, side, pitch, tall, width }, { view, other }) {
  const { layers, heads, part } = view.source;
  const around = ({ layer, head }, look) => frame(x + head * pitch - 1, y + layer * tall - 1, side + 2, side + 2, look);
  return s("g", null,
    note(0, 12, "All heads", null, STRONG), note(0, y - 18, "layer ↓"), note(x + width, 12, "head →", "end"),
    times(heads, (h) => h % ceil(20 / pitch) || note(x + h * pitch + side / 2, y - 6, h, "middle")),
    times(layers, (l) => [
      l % ceil(15 / tall) || note(x - 8, y + l * tall + side / 2 + 4, l, "end"),
      side > 7 && times(heads, (h) => box("", x + h * pitch, y + l * tall + side + 2,
        side * part("entropy", l, h)[0], 2, { fill: BLUE }))]),
    other?.source === view.source && around(other, { "stroke-dasharray": "3 2" }),
    around(view));
}

/** A head's name, labels and frame, and what is pinned. */
export function head({ x, y, width, height, left, top }, { names: [rows, columns], i, j }, title) {
  const [wide, tall] = [width / columns.length, height / rows.length];
  return s("g", null,
    note(x - left, y - top - 22, title, null, STRONG),
    rows.map((it, row) => row % ceil(13 / tall) || (left && note(x - 7, y + (row + 0.5) * tall + 4, it, "end"))),
    columns.map((it, column) => column % ceil(13 / wide) || upright(x + (column + 0.5) * wide, y, it)),
    box("rule", x, y, width, height, { fill: "none" }),
    frame(x, y + i * tall, width, tall), frame(x + j * wide, y + i * tall, wide, tall, { "stroke-width": 2.5 }));
}

/** The names of a row and a column over what is there, and both framed. */
export function cross({ x, y, width, height, left, top }, { names: [rows, columns] }, row, column) {
  const [wide, tall] = [width / columns.length, height / rows.length];
  const [down, right] = [y + row * tall, x + column * wide];
  return [
    left && [box("paper", x - left, down + tall / 2 - 9, left - 1, 18),
      note(x - 7, down + tall / 2 + 4, rows[row], "end", STRONG)],
    box("paper", right + wide / 2 - 9, y - top - 6, 18, top + 4), upright(right + wide / 2, y, columns[column], STRONG),
    frame(x, down, width, tall, { "stroke-dasharray": "4 3" }), frame(right, down, wide, tall)];
}

/** Lines from a query to its keys, whose names stand at their ends; `over` covers what is there. */
export function fan({ x, width, from, deep, high, right, own }, { names: [rows, columns], p }, query, lines, over) {
  const each = high / columns.length;
  const row = p.subarray(query * columns.length, (query + 1) * columns.length);
  const links = chosen(row, lines);
  // Where not every name has room: the keys that are looked at, evenly.
  const few = each < 13 && links.slice(0, floor(high / 14)).sort((a, b) => a - b);
  const where = (j) => from + (few?.includes?.(j) ? ((few.indexOf(j) + 0.5) * high) / few.length : (j + 0.5) * each);
  const start = from + (query + 0.5) * deep, middle = x + width / 2, end = x + width;
  return s("g", null,
    over && box("paper", own ? 0 : x + 3, from - 9, width + right + (own ?? -3), high + 18),
    own && note(x - 4, start + 4, rows[query], "end", STRONG),
    links.map((j) => s("path", { d: `M${x + 4} ${start}C${middle} ${start} ${middle} ${where(j)} ${end} ${where(j)}`,
      fill: "none", stroke: BLUE, "stroke-width": 0.6 + 5 * row[j], opacity: 0.3 + 0.7 * sqrt(row[j]) })),
    (few || columns.map((_, j) => j)).map((j) => {
      const met = links.includes(j);
      return [met && note(end + 34, where(j) + 4, weight(row[j]), "end", INK),
        note(end + 40, where(j) + 4, columns[j], null, met && INK)];
    }));
}

export const legend = ({ x, y }, signed) => s("g", null,
  (signed ? [-1, -0.2, -0.02, 0.02, 0.2, 1] : [0.001, 0.01, 0.05, 0.2, 0.5, 1]).map((it, i) => {
    const color = painted(it, signed); // red in its lowest byte
    return [box("", x + 40 * i, y, 40, 9,
      { fill: `rgb(${[0, 8, 16].map((bits) => (color >> bits) & 255)})`, opacity: (color >>> 24) / 255 }),
      note(x + 40 * i + 20, y + 23, weight(it), "middle")];
  }), note(x, y - 7, `${signed ? "difference" : "weight"}; blank: 0`));

/** From q · k to the weight, step by step. */
export function sum({ x, y, width, bars }, { quotes: [rows, columns], i, j, cell, now, parts }) {
  const scaled = cell.dot * cell.scale;
  const finite = (it) => (it < -1e9 ? "−∞" : short(it));
  const lines = [["q · k", short(cell.dot)], [`× scale ${short(cell.scale)}`, short(scaled)],
    parts.bias && [`+ bias ${short(cell.bias)}`, short(scaled + cell.bias)],
    [`÷ T = ${short(now.temperature)}`, short((scaled + cell.bias) / now.temperature)],
    [`+ mask ${finite(cell.mask)}`, finite(cell.score)],
    ["exp(score − highest)", short(cell.power)],
    [`÷ sum ${short(cell.sum)}`, cell.p.toFixed(4)]].filter(Boolean);
  const largest = max(...cell.products.map(abs)) || 1;
  const wide = width / cell.products.length;
  return s("g", null,
    note(0, y, `One weight: ${rows[i]} → ${columns[j]}`, null, STRONG),
    lines.map(([words, value], n) => [note(0, y + 26 + 22 * n, words), note(290, y + 26 + 22 * n, value, "end", lines[n + 1] ? INK : STRONG)]),
    note(x, bars + 16, "q · k, term by term"),
    cell.products.map((it, n) => box("", x + n * wide, bars + 54 - (max(it, 0) / largest) * 30, max(wide - 1, 0.5),
      (abs(it) / largest) * 30, { fill: it < 0 ? ORANGE : BLUE })),
    s("path", { class: "axis", d: `M${x} ${bars + 54}h${width}` }));
}
