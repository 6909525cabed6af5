// The marks of the picture. Colors come from the root's variables, and from one blue and one orange.

import { s, times } from "../shared/dom.js";
import { colors } from "../shared/heat.js";
import { note, rect, text, title } from "../shared/marks.js";
import { cividis } from "../shared/ramp.js";
import { abs, ceil, floor, links, max, min, pool, sqrt } from "./maths.js";
import { clipped, number, steps, weight } from "./words.js";

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
export const paint = (canvas, place, p, rows, columns, signed) => {
  const [high, wide] = [min(rows, ceil(place.height)), min(columns, ceil(place.width))];
  const found = pool(p, rows, columns, high, wide);
  canvas.place(place);
  canvas.paint(high, wide, (pixels) => found.forEach((it, i) => { pixels[i] = painted(it, signed); }));
};

/** All heads on one canvas. @param thumb (layer, head) → its weights, so many rows and columns */
export const thumbnails = (canvas, place, [layers, heads], thumb, rows, columns) => {
  const { width, height, side, pitch, tall } = place;
  const [high, wide] = [min(side, rows), min(side, columns)];
  canvas.place(place);
  canvas.paint(height, width, (pixels) => times(layers * heads, (n) => {
    const layer = floor(n / heads), found = pool(thumb(layer, n % heads), rows, columns, high, wide);
    times(side * side, (at) => {
      const i = floor(at / side), j = at % side;
      pixels[(layer * tall + i) * width + (n % heads) * pitch + j] =
        painted(found[floor((i * high) / side) * wide + floor((j * wide) / side)]);
    });
  }));
};

export const overview = ({ x, y, side, pitch, tall, height }, { view, other, notes }) => {
  const { size: [layers, heads], part } = view.source;
  const around = ({ place: [layer, head] }, dashes) => frame(x + head * pitch - 2, y + layer * tall - 2, side + 4, side + 8,
    `stroke:${ORANGE};stroke-width:3;stroke-dasharray:${dashes}`);
  return [
    title(0, 12, notes[5]),
    times(heads, (h) => h % ceil(20 / pitch) || note(x + h * pitch + side / 2, y - 6, h, "middle")),
    times(layers, (l) => [
      l % ceil(15 / tall) || note(x - 8, y + l * tall + side / 2 + 4, l, "end"),
      times(heads, (h) => rect(x + h * pitch, y + l * tall + side + 2,
        side * part("entropy", l, h)[0], 2, { fill: BLUE }))]),
    note(x, y + height + 14, notes[0]),
    other?.source === view.source && around(other, "3 2"),
    around(view, 0)];
};

/** A head's name, in as many letters as have room, labels and frame, and what is pinned. */
export const head = (place, d, ...names) => {
  const { x, y, width, height, left, top } = place, { names: [rows, columns], i, j } = d;
  const [wide, tall] = [width / columns.length, height / rows.length];
  return [
    names.map((it, n) => it && title(x - left, y - top - (n || !names[1] ? 22 : 38), clipped(it, ~~((place.room + left) / 8)))),
    rows.map((it, row) => row % ceil(12 / tall) || (left && note(x - 7, y + (row + 0.5) * tall + 4, it, "end"))),
    columns.map((it, column) => column % ceil(12 / wide) || upright(x + (column + 0.5) * wide, y, it)),
    rect(x, y, width, height, { class: "pin", opacity: 0.2 }),
    cross(place, d, i, j)];
};

const named = (name, at) => `${name} ${at}`;

/** The names of a row and a column over what is there, and both framed, no matter how small they are. Of −1 nothing. */
export const cross = ({ x, y, width, height, left, top }, { names: [rows, columns], axes: [r, c] }, row, column, dashes = 0) => {
  const [wide, tall] = [width / columns.length, height / rows.length];
  const middle = y + (row + 0.5) * tall, center = x + (column + 0.5) * wide;
  const around = (x, y, width, height) => frame(x - max(width, 7) / 2, y - max(height, 7) / 2, max(width, 7), max(height, 7), `stroke-dasharray:${dashes}`);
  return [
    row >= 0 && [left && [rect(x - left, middle - 9, left - 1, 18, { class: "paper" }),
      before(x - 7, middle + 4, named(rows[row], r[row]), "strong")], around(x + width / 2, middle, width, tall)],
    column >= 0 && [rect(center - 7, y - top - 6, 14, top + 4, { class: "paper" }),
      upright(center, y, named(columns[column], c[column]), "strong"), around(center, y + height / 2, wide, height)]];
};

/** A line of a weight from a height to another, stronger the larger it is. */
const line = (from, start, to, end, p, color, least) => {
  const middle = (from + to) / 2;
  return s("path", { d: `M${from} ${start}C${middle} ${start} ${middle} ${end} ${to} ${end}`, fill: "none", stroke: color,
    "stroke-width": 0.6 + 5 * abs(p), opacity: least + 0.7 * sqrt(abs(p)) });
};

/** Lines from a query, and to a key, whose names stand at their ends; of −1 none. `over` covers what is there. */
export const fan = ({ x, width, from, deep, high, right, own }, { names: [rows, columns], signed, now }, p, query, key, over) => {
  const each = high / columns.length;
  const found = links(p, columns.length, query, key, now.lines), ends = found.map(([, j]) => j);
  // Where not every name has room: the keys that are looked at, evenly.
  const named = each < 13 ? [...new Set(ends)].slice(0, high / 14).sort((a, b) => a - b) : [...columns.keys()];
  const where = (j) => {
    const at = named.indexOf(j);
    return from + (at < 0 ? (j + 0.5) * each : ((at + 0.5) * high) / named.length);
  };
  const start = (i) => from + (i + 0.5) * deep, end = x + width;
  return [
    over && rect(own ? 0 : x + 8, from - 9, width + right + (own ?? -8), high + 18, { class: "paper" }),
    own && before(x - 4, start(query) + 4, rows[query], "strong"),
    found.map(([i, j, p]) => [line(x + 8, start(i), end, where(j), p, tint(p, signed), 0.3),
      i === query && before(end + 42, where(j) + 4, weight(p))]),
    named.map((j) => text(end + 48, where(j) + 4, columns[j], { class: ends.includes(j) ? "" : "soft" }))];
};

/** What the lines of `lanes` belong to: a name for each. */
export const pair = ({ x, left, y, width }, { heads, several, view, other, signed }) => [
  title(x - left, y - 42, several ? `Layer ${view.place[0]}, all heads` : view.name),
  other && title(x - left, y - 26, `${signed ? "minus" : "beside"} ${other.name}`),
  heads[1] && heads.map(({ place }, n) => note(x + ((n + 0.5) * width) / heads.length, y - 8, several ? place[1] : `${place}`, "middle"))];

/** All lines of some heads, side by side between two columns of tokens; those of a query and to a key in another color, or,
 *  `over` what is there, alone. */
export const lanes = ({ x, y, width, high, right, left }, { names, axes, unit, signed, now, heads }, query, key, over) => {
  const wide = width / heads.length, most = 4e3 / heads.length;
  const [start, end] = names.map(({ length }) => (it) => y + ((it + 0.5) * high) / length);
  const drawn = (strong, ...at) => heads.map(({ p }, n) => links(p, names[1].length, ...at, now.lines).sort((a, b) => abs(b[2]) - abs(a[2])).slice(0, most).map(([i, j, p]) =>
    line(x + n * wide + 8, start(i), x + (n + 1) * wide, end(j), p / unit, tint(p, signed || strong), strong ? 0.3 : 0)));
  const found = heads.flatMap(({ p }) => links(p, names[1].length, query, key, now.lines)).sort((a, b) => abs(b[2]) - abs(a[2]));
  return [
    over && rect(x - left, y - 9, left + width + right, high + 18, { class: "paper" }),
    over || drawn(false, "all", -1), drawn(true, query, key),
    names.map((them, side) => {
      const at = [start, end][side], pinned = [query, key][side];
      const linked = new Map(found.filter((it) => it[1 - side] === [query, key][1 - side]).reverse().map((it) => [it[side], it[2]]));
      // Where not every name has room: the pinned one, then those at the widest lines.
      const shown = [];
      for (const n of [pinned, ...[...linked.keys()].reverse(), ...them.keys()]) {
        if (n >= 0 && shown.every((other) => abs(at(n) - at(other)) > 12)) shown.push(n);
      }
      return shown.map((n) => {
        const words = n === pinned ? named(them[n], axes[side][n]) : them[n];
        const look = { class: n === pinned ? "strong" : linked.has(n) ? "" : "soft" };
        return [side ? text(x + width + (heads[1] ? 8 : 48), at(n) + 4, words, look)
          : text(x - 7, at(n) + 4, words, { ...look, "text-anchor": "end" }),
        side && !heads[1] && linked.has(n) && before(x + width + 42, at(n) + 4, weight(linked.get(n)))];
      });
    })];
};

export const legend = ({ x, y }, { signed, partial, notes }) => [
  [0.001, 0.01, 0.05, 0.2, 0.5, 1].map((it, i) => [
    rect(x + 40 * i, y, 40, 9, signed ? { fill: ORANGE, opacity: sqrt(it) } : { fill: `rgb(${cividis(sqrt(it))})` }),
    note(x + 40 * i + 20, y + 23, it, "middle")]),
  note(x, y - 7, notes[signed ? 4 : partial ? 3 : 2])];

/** From q · k to the weight, step by step. */
export const sum = ({ y, width }, d) => [
  title(0, y, `${d.names[0][d.i]} → ${d.names[1][d.j]}`),
  steps(d).map(([words, value], n, all) => [note(0, y + 24 + 20 * n, words),
    before(width, y + 24 + 20 * n, value, all[n + 1] ? "" : "strong")])];

/** A query's vector over every key's, their products, scores and weights; `over` what is there, only a token as query and as key. */
export const scores = ({ x, y, left, strips, end, deep }, { names, axes, cells, i }, query, key, over) => {
  const height = (at) => y + (at + 0.5) * deep;
  return [
    names.map((them, side) => them.map((it, at) => {
      const pinned = at === [query, key][side];
      if (!pinned && (over || at % ceil(13 / deep))) return;
      const name = pinned ? named(it, axes[side][at]) : it, look = { class: pinned ? "strong" : "soft" };
      return [over && rect(side ? end + 88 : x - left, height(at) - 9, left, 18, { class: "paper" }),
        side ? text(end + 90, height(at) + 4, name, look) : text(x - 7, height(at) + 4, name, { ...look, "text-anchor": "end" })];
    })),
    over || [title(x - left, y - 74, `${names[0][i]}: q, each key’s k, and q ⊙ k`),
      strips.map((it, which) => it && note(it.x, it.y - 6, ["q", "k", "q ⊙ k; its sum is q · k"][which])),
      cells.map(({ p, dot }, at) => at % ceil(13 / deep) || [before(end + 44, height(at) + 4, number(dot)),
        rect(end + 52, height(at) - 5, 34 * p, 10, { fill: BLUE })])]];
};

/** A dimension of the query, of a key, and of their product. */
export const framed = ({ strips, deep }, { cells }, key, n) => strips.map((it, which) => {
  const wide = it?.width / cells[0].q.length;
  return it && frame(it.x + n * wide, which ? it.y + key * deep : it.y, wide, which ? deep : it.height);
});
