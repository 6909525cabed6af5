// The map and the list of nearest words, in SVG.

import { h, s } from "../shared/dom.js";
import { fitted, note, rect, text, title } from "../shared/marks.js";

const path = (d, look) => s("path", { d, fill: "none", "stroke-linecap": "round", ...look });

/** Eight marks of groups, each with its color: told apart by shape. */
const GROUPS = [
  ["m0-5l5 9h-10z", "#D55E00"], ["m-4-4h8v8h-8z", "#009E73"], ["m0-6l6 6-6 6-6-6z", "#CC79A7"],
  ["m0 5l5-9h-10z", "#E69F00"], ["m-5 0h10m-5-5v10", "#56B4E9"], ["m-4-4l8 8m0-8l-8 8", "#0072B2"],
  ["m-5 0h10", "#999999"], ["m0-5v10", "#F0E442"],
];
const mark = (d, color) => path(d, { stroke: color, fill: color, "stroke-width": 2 });

/** Where everything lies, in pixels: the list is beside the map, or under it on a phone. */
export function layout(width, { rows }, { names }) {
  const wide = width >= 600, map = { x: 0, y: 24, width: wide ? width - 250 : width, height: wide ? 400 : 300 };
  const columns = Math.min(wide ? 4 : 2, names.length), below = map.y + map.height + 20 * Math.ceil(names.length / columns || 0);
  const list = { x: wide ? width - 234 : 0, y: wide ? 48 : below + 54, width: wide ? 234 : width };
  return { map, list, wide, columns, height: Math.max(below, list.y + 27 * rows.length) + 8 };
}

/** Pixels of a point of the plane, and back. */
export function scales({ map: { x, y, width, height } }, points, { center, zoom }) {
  const ends = [0, 1].map((k) => points.reduce(([low, high], it) => [Math.min(low, it[k]), Math.max(high, it[k])], [Infinity, -Infinity]));
  const [u, v] = center ?? ends.map(([low, high]) => (low + high) / 2);
  const [across, up] = ends.map(([low, high]) => high - low || 1e-9);
  const k = zoom * Math.min((width - 70) / across, (height - 50) / up);
  return {
    center: [u, v],
    to: ([a, b]) => [x + width / 2 + (a - u) * k, y + height / 2 - (b - v) * k],
    back: (px, py) => [u + (px - x - width / 2) / k, v - (py - y - height / 2) / k],
  };
}

let pen;
const known = new Map();

/** A word as it is drawn, and how wide that is. */
function measured(word) {
  if (!known.has(word)) {
    pen ??= h("canvas").getContext("2d");
    pen.font = "650 13px system-ui, sans-serif";
    const words = fitted(word, 100);
    known.set(word, [words, pen.measureText(words).width]);
  }
  return known.get(word);
}

/** Words beside their points, where they meet no other; of the first few, on any side. @returns {{i, x, y, node}[]} */
function labels({ map, wide }, order, strong, asked, words, places) {
  const taken = strong.filter((i) => places[i]).map((i) => around(places[i])), found = [];
  order.some((i) => {
    const [x, y] = places[i] ?? [], [word, length] = measured(words[i]), first = strong.includes(i);
    const left = -9 - length, middle = -length / 2;
    const sides = [[9, 0], [left, 0], [middle, -17], [middle, 17], [9, -14], [9, 14], [left, -14], [left, 14]]
      .map(([right, down]) => [x + right, y + down - 9, x + right + length, y + down + 9])
      .filter(([a, b, c, d]) => a > map.x && c < map.x + map.width && b > map.y && d < map.y + map.height);
    const box = sides.slice(0, first ? 8 : 2).find(([a, b, c, d]) => !taken.some(([p, q, r, s]) => p < c && r > a && q < d && s > b)) ??
      (asked.includes(i) && sides[0]);
    if (box) {
      taken.push(box, around([x, y]));
      found.push({ i, x, y, node: text(box[0], box[1] + 13, word, {
        class: first ? "strong" : "soft", "paint-order": "stroke", stroke: "var(--bg)", "stroke-width": 3,
      }) });
    }
    return found.length >= (wide ? 70 : 34);
  });
  return found;
}
const around = ([x, y]) => [x - 5, y - 5, x + 5, y + 5];

/** A line from point to point with a head at its end. */
function arrow([x, y], [u, v], look) {
  const length = Math.hypot(u - x, v - y);
  if (length < 8) return null;
  const [a, b] = [(u - x) / length, (v - y) / length], [p, q] = [u - 9 * a, v - 9 * b];
  return [path(`M${x} ${y}L${p} ${q}`, look),
    path(`M${u} ${v}L${p - 5 * b} ${q + 5 * a}L${p + 5 * b} ${q - 5 * a}z`, { fill: look.stroke })];
}

/**
 * @param found what `measure` returns.
 * @returns {{marks, labels}} of labels, the words' places for the keyboard.
 */
export function picture(size, data, found, scale, id) {
  const { map, list } = size, places = {};
  const { points, rows, asked, shown, target, others } = found;
  const dots = data.names.map(() => ""), round = (it) => Math.round(it * 10) / 10;
  let plain = "";
  shown.forEach((i, at) => {
    const [x, y] = scale.to(points[at]).map(round);
    if (x < map.x || y < map.y || x > map.x + map.width || y > map.y + map.height) return;
    places[i] = [x, y];
    const group = data.groups[i];
    if (group) dots[group - 1] += `M${x} ${y}${GROUPS[group - 1][0]}`;
    else plain += `M${x} ${y}h0`;
  });
  const near = rows.map(({ i }) => i), strong = [...asked, ...near, ...others.slice(0, 1)];
  const all = labels(size, [...new Set([...strong, ...shown])], strong, asked, data.words, places);
  const at = (i) => scale.to(points[shown.indexOf(i)]), [a, b, c] = asked;
  const blue = { stroke: "var(--accent)", "stroke-width": 9 }, aim = target && scale.to(target);
  const column = map.width / size.columns;
  return {
    labels: all, places,
    marks: [
      note(map.x, 14, found.about),
      rect(map.x + 0.5, map.y, map.width - 1, map.height, { class: "rule", fill: "none", rx: 8 }),
      s("clipPath", { id }, rect(map.x, map.y, map.width, map.height)),
      s("g", { "clip-path": `url(#${id})` },
        path(plain, { class: "axis", "stroke-width": shown.length > 500 ? 3 : 4, "stroke-opacity": 0.45 }),
        dots.map((d, i) => mark(d, GROUPS[i][1])),
        path(near.map((i) => places[i] && `M${places[i].join(" ")}h0`).join(""), blue),
        path(asked.map((i) => places[i] && `M${places[i].join(" ")}h0`).join(""), { stroke: "var(--ink)", "stroke-width": 11 }),
        aim && [
          arrow(at(a), at(b), { stroke: "var(--ink)", "stroke-width": 2 }),
          arrow(at(c), aim, { stroke: "var(--ink)", "stroke-width": 2, "stroke-dasharray": "6 4" }),
          path(`M${aim.map(round).join(" ")}m-6-6l12 12m0-12l-12 12`, { stroke: "var(--ink)", "stroke-width": 2 }),
          rows[0] && places[rows[0].i] && path(`M${aim.join(" ")}L${places[rows[0].i].join(" ")}`, { stroke: "var(--accent)", "stroke-width": 1.5 }),
        ]),
      data.names.map((name, i) => {
        const x = map.x + 8 + (i % size.columns) * column, y = map.y + map.height + 14 + 20 * Math.floor(i / size.columns);
        return [mark(`M${x} ${y}${GROUPS[i][0]}`, GROUPS[i][1]), note(x + 12, y + 4, fitted(name, column - 26).replaceAll("␣", " "))];
      }),
      all.map(({ node }) => node),
      title(list.x, list.y - 30, found.head),
      note(list.x + list.width - 62, list.y - 10, "cosine", "end"), note(list.x + list.width, list.y - 10, "map rank", "end"),
      rows.map(({ i, cosine, rank, own }, row) => {
        const y = list.y + 27 * row, wide = list.width - 190;
        return [
          text(list.x, y + 17, fitted(data.words[i], 86), own && { class: "strong" }),
          rect(list.x + 90, y + 7, Math.max(cosine, 0) * wide, 13, { fill: "var(--accent)" }),
          text(list.x + list.width - 62, y + 17, cosine.toFixed(2), { "text-anchor": "end" }),
          note(list.x + list.width, y + 17, rank || "–", "end")];
      })],
  };
}
