// The marks of the picture. Colors come from the root's variables, and from one blue and one orange.

import { s, times } from "../shared/dom.js";
import { colors } from "../shared/heat.js";
import { note, rect, text, title } from "../shared/marks.js";
import { cividis } from "../shared/ramp.js";
import { abs, ceil, chosen, floor, max, min, part, pool, sqrt } from "./maths.js";
import { minus, steps, weight } from "./words.js";

const BLUE = "#2f86bd", ORANGE = "#d55e00"; // seen on light and on dark paper
const frame = (x, y, width, height, style) => [rect(x - 1, y - 1, width + 2, height + 2, { class: "halo" }),
  rect(x, y, width, height, { class: "pin", style })];
const upright = (x, y, words, name = "soft") =>
  text(0, 0, words, { class: name, transform: `translate(${x + 4} ${y - 6})rotate(-90)` });
const before = (x, y, words, name) => text(x, y, words, { class: name, "text-anchor": "end" }); // of a place

const RAMP = colors(cividis);
/** What a weight looks like: its root; 0 stays clear. A difference is blue or orange, clearer the nearer to 0. */
const painted = (value, signed) => (!value ? 0 : signed
  ? (255 * sqrt(abs(value))) << 24 | (value < 0 ? 0xbd862f : 0x5ed5) : RAMP[Math.round(255 * sqrt(value))]);
const tint = (value, signed) => (signed && value > 0 ? ORANGE : BLUE);

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
    for (let i = 0; i < side; i++) {
      for (let j = 0; j < side; j++) {
        pixels[(layer * tall + i) * width + head * pitch + j] =
          painted(found[floor((i * high) / side) * wide + floor((j * wide) / side)]);
      }
    }
  })));
}

export function overview({ x, y, side, pitch, tall, height }, { view, other, notes }) {
  const { layers, heads, part } = view.source;
  const around = ({ place: [layer, head] }, dashes) => frame(x + head * pitch - 2, y + layer * tall - 2, side + 4, side + 8,
    `stroke:${ORANGE};stroke-width:3;stroke-dasharray:${dashes}`);
  return [
    title(0, 12, "Layers ↓, heads →"),
    times(heads, (h) => h % ceil(20 / pitch) || note(x + h * pitch + side / 2, y - 6, h, "middle")),
    times(layers, (l) => [
      l % ceil(15 / tall) || note(x - 8, y + l * tall + side / 2 + 4, l, "end"),
      side > 7 && times(heads, (h) => rect(x + h * pitch, y + l * tall + side + 2,
        side * part("entropy", l, h)[0], 2, { fill: BLUE }))]),
    side > 7 && note(x, y + height + 14, notes[0]),
    other?.source === view.source && around(other, "3 2"),
    around(view, 0)];
}

/** A head's name, in as many letters as have room, labels and frame, and what is pinned. */
export function head(place, d, ...names) {
  const { x, y, width, height, left, top } = place, { names: [rows, columns], i, j } = d;
  const [wide, tall] = [width / columns.length, height / rows.length];
  return [
    names.map((it, n) => it && title(x - left, y - top - (names[1] && !n ? 38 : 22), clipped(it, ~~((place.room + left) / 8)))),
    rows.map((it, row) => row % ceil(12 / tall) || (left && note(x - 7, y + (row + 0.5) * tall + 4, it, "end"))),
    columns.map((it, column) => column % ceil(12 / wide) || upright(x + (column + 0.5) * wide, y, it)),
    rect(x, y, width, height, { class: "rule", fill: "none" }),
    cross(place, d, i, j)];
}

const clipped = (words, most) => (words[most] ? `${[...words].slice(0, most - 1).join("")}…` : words);
const named = (name, at) => `${clipped(name, 12 - `${at}`.length)} ${at}`;

/** The names of a row and a column over what is there, and both framed; small ones between two ticks. */
export function cross({ x, y, width, height, left, top }, { names: [rows, columns], rows: r, columns: c }, row, column, dashes = 0) {
  const [wide, tall] = [width / columns.length, height / rows.length];
  const [down, right] = [y + row * tall, x + column * wide];
  const [middle, center] = [down + tall / 2, right + wide / 2];
  return [
    left && [rect(x - left, middle - 9, left - 1, 18, { class: "paper" }),
      before(x - 7, middle + 4, named(rows[row], r[row]), "strong")],
    rect(center - 7, y - top - 6, 14, top + 4, { class: "paper" }), upright(center, y, named(columns[column], c[column]), "strong"),
    min(wide, tall) > 7 ? [frame(x, down, width, tall, `stroke-dasharray:${dashes}`), frame(right, down, wide, tall)]
      : s("path", { class: "pin", style: "stroke-width:3", d: `M${x - 6} ${middle}h6m${width} 0h6M${center} ${y - 6}v6m0 ${height}v6` })];
}

/** Lines from a query to its keys, whose names stand at their ends; `over` covers what is there. */
export function fan({ x, width, from, deep, high, right, own }, { names: [rows, columns], p, difference, signed }, query, lines, over) {
  const each = high / columns.length;
  const row = part(signed ? difference : p, query, columns.length);
  const links = chosen(row, lines);
  // Where not every name has room: the keys that are looked at, evenly.
  const named = each < 13 ? links.slice(0, floor(high / 14)).sort((a, b) => a - b) : [...row.keys()];
  const where = (j) => {
    const at = named.indexOf(j);
    return from + (at < 0 ? (j + 0.5) * each : ((at + 0.5) * high) / named.length);
  };
  const start = from + (query + 0.5) * deep, middle = x + width / 2, end = x + width;
  return [
    over && rect(own ? 0 : x + 8, from - 9, width + right + (own ?? -8), high + 18, { class: "paper" }),
    own && before(x - 4, start + 4, rows[query], "strong"),
    links.map((j) => s("path", { d: `M${x + 8} ${start}C${middle} ${start} ${middle} ${where(j)} ${end} ${where(j)}`,
      fill: "none", stroke: tint(row[j], signed), "stroke-width": 0.6 + 5 * abs(row[j]), opacity: 0.3 + 0.7 * sqrt(abs(row[j])) })),
    named.map((j) => {
      const soft = links.includes(j) ? "" : "soft";
      return [!soft && before(end + 42, where(j) + 4, weight(row[j])), text(end + 48, where(j) + 4, columns[j], { class: soft })];
    })];
}

export const legend = ({ x, y }, signed, partial) => [
  (signed ? [-1, -0.2, -0.02, 0.02, 0.2, 1] : [0.001, 0.01, 0.05, 0.2, 0.5, 1]).map((it, i) => [
    rect(x + 40 * i, y, 40, 9, signed ? { fill: tint(it, signed), opacity: sqrt(abs(it)) } : { fill: `rgb(${cividis(sqrt(it))})` }),
    note(x + 40 * i + 20, y + 23, minus(`${it}`), "middle")]), note(x, y - 7, `${signed ? "difference" : partial || "weight"}; blank: 0`)];

/** From q · k to the weight, step by step. */
export const sum = ({ y, width }, d) => [
  title(0, y, `${d.names[0][d.i]} → ${d.names[1][d.j]}`),
  steps(d).map(([words, value], n, all) => [note(0, y + 24 + 20 * n, words),
    before(width, y + 24 + 20 * n, value, all[n + 1] ? "" : "strong")])];
