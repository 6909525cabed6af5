// The marks of the picture. Colors come from the root's variables, and from one blue and one orange.

import { s } from "../shared/dom.js";
import { note, rect, text, title } from "../shared/marks.js";
import { cividis } from "../shared/ramp.js";
import { abs, ceil, links, max, sqrt } from "./maths.js";
import { BLUE, frame, ORANGE } from "./overview.js";
import { clipped, number, steps, weight } from "./words.js";

const upright = (x, y, words, name = "soft") =>
  text(0, 0, words, { class: name, transform: `translate(${x + 4} ${y - 6})rotate(-90)` });
const before = (x, y, words, name) => text(x, y, words, { class: name, "text-anchor": "end" }); // of a place

const tint = (value, signed) => (signed && value > 0 ? ORANGE : BLUE);

/** A head's name, in as many letters as have room, labels and frame, and what is pinned. */
export const head = (place, d, ...names) => {
  const { x, y, width, height, left, top } = place;
  return [
    names.map((it, n) => it && title(x - left, y - top - (n || !names[1] ? 22 : 38), clipped(it, ~~((place.room + left) / 8)))),
    rect(x, y, width, height, { class: "pin", opacity: 0.2 }),
    cross(place, d, d.i, d.j)];
};

const named = (name, at) => `${name} ${at}`;
/** Whether a name at so many pixels from one that stands out would touch it. */
const touches = (at, pinned, each) => pinned >= 0 && abs(at - pinned) * each < 13;

/** The names of rows and columns, as many as have room, and a row and a column framed, no matter how small they are, whose
 *  names stand out. Of −1 nothing. `dashes` over what is there. */
export const cross = ({ x, y, width, height, left, top }, { names: [rows, columns], axes: [r, c] }, row, column, dashes) => {
  const [wide, tall] = [width / columns.length, height / rows.length];
  const middle = (row) => y + (row + 0.5) * tall, center = (column) => x + (column + 0.5) * wide;
  const around = (x, y, width, height) => frame(x - max(width, 7) / 2, y - max(height, 7) / 2, max(width, 7), max(height, 7), `stroke-dasharray:${dashes ?? 0}`);
  return [
    left && (row >= 0 || !dashes) && [dashes && rect(x - left, y - 9, left - 1, height + 18, { class: "paper" }),
      rows.map((it, at) => (at === row ? before(x - 7, middle(at) + 4, named(it, r[at]), "strong")
        : at % ceil(12 / tall) || touches(at, row, tall) || note(x - 7, middle(at) + 4, it, "end")))],
    (column >= 0 || !dashes) && [dashes && rect(x - 7, y - top - 6, width + 14, top + 4, { class: "paper" }),
      columns.map((it, at) => (at === column ? upright(center(at), y, named(it, c[at]), "strong")
        : at % ceil(12 / wide) || touches(at, column, wide) || upright(center(at), y, it)))],
    row >= 0 && around(x + width / 2, middle(row), width, tall),
    column >= 0 && around(center(column), y + height / 2, wide, height)];
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
    names.map((them, side) => {
      const pinned = [query, key][side], [from, look] = side ? [end + 94, {}] : [x - 7, { "text-anchor": "end" }];
      if (over && pinned < 0) return;
      return [over && rect(side ? end + 92 : x - left, y - 9, left, deep * them.length + 18, { class: "paper" }),
        them.map((it, at) => (at === pinned ? text(from, height(at) + 4, named(it, axes[side][at]), { ...look, class: "strong" })
          : at % ceil(13 / deep) || touches(at, pinned, deep) || text(from, height(at) + 4, it, { ...look, class: "soft" })))];
    }),
    over || [title(x - left, y - 74, `${names[0][i]}: q, each key’s k, and q ⊙ k`),
      strips.map((it, which) => it && note(it.x, it.y - 6, ["q", "k", "q ⊙ k; its sum is q · k"][which])),
      cells.map(({ p, dot }, at) => at % ceil(13 / deep) || [before(end + 54, height(at) + 4, number(dot)),
        rect(end + 59, height(at) - 5, 30 * p, 10, { fill: BLUE })])]];
};

/** A dimension of the query, of a key, and of their product. */
export const framed = ({ strips, deep }, { cells }, key, n) => strips.map((it, which) => {
  const wide = it?.width / cells[0].q.length;
  return it && frame(it.x + n * wide, which ? it.y + key * deep : it.y, wide, which ? deep : it.height);
});
