// The tree and the scores, in SVG.

import { h, s, times } from "../shared/dom.js";
import { note, text } from "../shared/marks.js";
import { power } from "../shared/numbers.js";
import { lanes, ticks } from "./maths.js";
import { plain } from "./words.js";

const path = (d, look) => s("path", { d, fill: "none", ...look });
/** Marks of architectures, told apart by shape. */
const MARKS = [
  ["m-4-4h8v8h-8z", "#56B4E9"], ["m0-6l5.5 9.5h-11z", "#D55E00"], ["m-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0", "#0072B2"],
  ["m0-6l6 6-6 6-6-6z", "#009E73"], ["m-6-3h12v6h-12z", "#E69F00"], ["m-4-4l8 8m0-8l-8 8", "#999999"],
];
const markOf = (kind) => MARKS[kind % MARKS.length];
const drawn = (x, y, [d, color], look) => path(`M${x} ${y}${d}`, { fill: color, stroke: color, "stroke-width": 1.5, ...look });
const LEFT = 40, RIGHT = 10, LANE = 19;
/** Of words on top of lines. */
const HALO = { "paint-order": "stroke", stroke: "var(--bg)", "stroke-width": 3, "stroke-linejoin": "round" };

let pen;
const widths = new Map();
/** A name as it is drawn, and how wide that is. */
function measured(name) {
  if (!widths.has(name)) {
    pen ??= h("canvas").getContext("2d");
    pen.font = "650 13px system-ui, sans-serif";
    const words = plain(name, 24);
    widths.set(name, [words, Math.ceil(pen.measureText(words).width)]);
  }
  return widths.get(name);
}

const round = (it) => Math.round(it * 10) / 10;

/** Names beside points where they meet nothing; those that matter on any side. */
function labels(points, order, strong, box, more = []) {
  const taken = [...points.map(({ x, y }) => [x - 7, y - 7, x + 7, y + 7]), ...more], out = [];
  for (const it of order) {
    const { x, y } = it, [words, length] = measured(it.label), first = strong(it);
    const sides = [[9, 0], [-9 - length, 0], [-length / 2, -16], [-length / 2, 16], [8, -13], [8, 13], [-8 - length, -13], [-8 - length, 13],
      [-length / 2, -29], [-length / 2, 29], [10, -26], [10, 26]].slice(0, first ? 12 : 8)
      .map(([right, down]) => [x + right, y + down - 8, x + right + length, y + down + 8])
      .filter(([a, b, c, d]) => a >= box.x && c <= box.x + box.width && b >= box.y - 14 && d <= box.y + box.height);
    const own = points.indexOf(it);
    const free = sides.find(([a, b, c, d]) => !taken.some(([p, q, r, t], i) => i !== own && p < c && r > a && q < d && t > b));
    if (!free) continue;
    taken.push(free);
    out.push(text(round(free[0]), round(free[1] + 12.5), words, { class: first ? "strong" : "", ...HALO }));
  }
  return out;
}

/** From a parent to a child: an arc that leaves and arrives level. */
function edge(a, b, look, head) {
  const end = b.x - (head ? 9 : 6), bend = Math.max((end - a.x) / 2, 12);
  return [path(`M${a.x} ${a.y}C${round(a.x + bend)} ${a.y} ${round(end - bend)} ${b.y} ${end} ${b.y}`, look),
    head && path(`M${b.x - 6} ${b.y}l-7-4v8z`, { fill: look.stroke })];
}

function years(data, now, width, y, height) {
  const from = 12 * now.since, span = data.end - from, across = width - LEFT - RIGHT;
  const x = (month) => round(LEFT + ((month + 0.5 - from) / span) * across);
  const count = Math.ceil(span / 12), every = Math.ceil((count * 36) / across);
  return {
    x,
    marks: times(count, (i) => {
      const at = round(LEFT + ((12 * i) / span) * across), wide = at + 30 < width;
      return [path(`M${at} ${y}v${height}`, { class: "rule" }), i % every === 0 && wide && note(at + 2, y + height + 14, `${now.since + i}`)];
    }),
  };
}

function legend(data, kinds, width, y) {
  const columns = width < 600 ? 2 : 3, column = width / columns;
  return [Math.ceil(kinds.length / columns) * 20, kinds.map((kind, i) => {
    const x = 8 + (i % columns) * column, at = y + 20 * Math.floor(i / columns);
    return [drawn(x, at, markOf(data.kinds.indexOf(kind))), note(x + 13, at + 4, plain(kind, (column / 8) | 0))];
  })];
}

/**
 * The tree.
 *
 * @param list the models to show; `at` is the selected one's, `up` and `down` its relatives'.
 * @returns {{height, marks, rows}} rows of places for the keyboard.
 */
export function tree(data, now, width, list, at, up, down) {
  const top = 12, order = list.map((it) => ({ ...it, label: it.name }));
  const kinds = data.kinds.filter((kind) => list.some((it) => it.architecture === kind));
  const selected = data.models[at], strong = new Set(selected && [at, ...selected.parents, ...selected.born]);
  let height, axis, rows, names;
  if (now.axis === "architecture") {
    const { x } = years(data, now, width, 0, 0);
    let y = top;
    axis = [];
    rows = kinds.map((kind) => {
      const own = order.filter((it) => it.architecture === kind);
      for (const it of own) {
        const [words, length] = measured(it.label);
        it.x = x(it.when);
        it.right = it.x + 10 + length <= width;
        it.words = words;
        it.box = it.right ? [it.x - 8, it.x + 14 + length] : [it.x - 14 - length, it.x + 8];
      }
      const at = lanes(own.map((it) => it.box), own.map((it) => it.parents.map((parent) => own.findIndex((other) => other.at === parent))));
      own.forEach((it, i) => { it.y = y + 34 + LANE * at[i]; });
      axis.push(path(`M0 ${y + 4}h${width}`, { class: "rule" }), note(0, y + 18, plain(kind, 40)));
      y += 34 + LANE * (1 + Math.max(...at));
      return own;
    });
    height = y - top;
    names = order.map((it) => text(it.right ? it.x + 9 : it.x - 9, it.y + 4.5, it.words, {
      class: strong.has(it.at) ? "strong" : "", "text-anchor": it.right ? "start" : "end", ...HALO,
    }));
  } else {
    const some = order.filter((it) => it.amount), none = some.length < order.length;
    const powers = some.map((it) => Math.log10(it.amount));
    const low = Math.floor(Math.min(...powers, 9)), high = Math.max(Math.ceil(Math.max(...powers, low)), low + 1);
    const plot = 390, y = (power) => round(top + plot - ((power - low) / (high - low)) * plot);
    height = plot + (none ? 34 : 0);
    const { x } = years(data, now, width, 0, 0);
    for (const it of order) Object.assign(it, { x: x(it.when), y: it.amount ? y(Math.log10(it.amount)) : top + plot + 22 });
    axis = [times(high - low + 1, (i) => [
      path(`M${LEFT} ${y(low + i)}H${width - RIGHT}`, { class: "rule" }), note(LEFT - 6, y(low + i) + 4, power(low + i), "end")]),
    none && note(LEFT - 6, top + plot + 26, "?", "end")];
    rows = [order];
  }
  const places = new Map(order.map((it) => [it.at, it]));
  const scale = years(data, now, width, top, height);
  const [tall, keys] = names ? [0] : legend(data, kinds, width, top + height + 36);
  const link = (child, parent, ...look) => places.has(child) && places.has(parent) && edge(places.get(parent), places.get(child), ...look);
  const links = (children, ...look) => children.flatMap((child) => data.models[child].parents.map((parent) => [child, parent, look]));
  const above = links(selected ? [at, ...up] : [], { stroke: "var(--ink)", "stroke-width": 2 }, true);
  const below = down.flatMap((child) => data.models[child].parents.filter((it) => it === at || down.includes(it))
    .map((parent) => [child, parent, [{ stroke: "var(--accent)", "stroke-width": parent === at ? 1.8 : 1 }, parent === at]]));
  const marks = order.map((it) => [
    drawn(it.x, it.y, markOf(data.kinds.indexOf(it.architecture)), { "fill-opacity": it.chapter ? 1 : 0.25 }),
    it.at === at && path(`M${it.x - 11} ${it.y}a11 11 0 1 0 22 0a11 11 0 1 0-22 0`, { stroke: "var(--ink)", "stroke-width": 2 })]);
  const important = [...order].sort((a, b) => strong.has(b.at) - strong.has(a.at) || !!b.chapter - !!a.chapter || b.born.length - a.born.length || b.when - a.when);
  return {
    height: top + height + 26 + (tall && tall + 18),
    rows: rows[0] ? rows : [[]],
    marks: [
      scale.marks,
      axis,
      order.flatMap((it) => it.parents.map((parent) => link(it.at, parent, { stroke: "var(--line)", "stroke-width": 1.2 }))),
      [...below, ...above].map(([child, parent, look]) => link(child, parent, ...look)),
      marks,
      names ?? labels(order, important, (it) => strong.has(it.at), { x: LEFT, y: top, width: width - LEFT, height }),
      keys,
    ],
  };
}

/** The results by date. @returns {{height, marks, rows}} */
export function scores(data, now, width, { people, list }, at) {
  const top = 12, height = 380, order = list.map((it) => ({ ...it, label: it.model || it.system }));
  const values = [...list, ...people].map((it) => it.value), low = Math.floor(Math.min(...values, 95)) - 1, high = Math.min(Math.ceil(Math.max(...values, low + 2)) + 1, 100);
  const y = (value) => round(top + height - ((value - low) / (high - low)) * height);
  const { x, marks } = years(data, now, width, top, height), name = data.models[at]?.name;
  for (const it of order) Object.assign(it, { x: x(it.when), y: y(it.value), mine: it.model && it.model === name });
  const look = (it) => ({ stroke: it.mine ? "var(--ink)" : "var(--accent)", "stroke-width": 2, fill: it.split === "dev" ? "var(--bg)" : "var(--accent)" });
  const dot = "m-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0", box = "m-4.5-4.5h9v9h-9z", ring = "m-9 0a9 9 0 1 0 18 0a9 9 0 1 0-18 0";
  const mark = (it) => [path(`M${it.x} ${it.y}${it.split === "dev" ? box : dot}`, look(it)), it.kind === "ensemble" && path(`M${it.x} ${it.y}${ring}`, { stroke: look(it).stroke })];
  const important = [...order].sort((a, b) => b.mine - a.mine || b.value - a.value);
  const keys = [[dot, "test set", {}], [box, "development set", { fill: "var(--bg)" }], [ring, "ensemble", { fill: "none" }]];
  return {
    height: top + height + 52,
    rows: [order],
    marks: [
      marks,
      ticks(low, high).map((it) => [path(`M${LEFT} ${y(it)}H${width - RIGHT}`, { class: "rule" }), note(LEFT - 6, y(it) + 4, it, "end")]),
      people.map((it) => [
        path(`M${LEFT} ${y(it.value)}H${width - RIGHT}`, { stroke: "var(--ink)", "stroke-width": 1.5, "stroke-dasharray": "7 4" }),
        text(LEFT + 4, y(it.value) - 5, `human: ${it.value}`, HALO)]),
      order.map(mark),
      labels(order, important, (it) => it.mine, { x: LEFT, y: top, width: width - LEFT, height }, people.map((it) => [LEFT, y(it.value) - 18, LEFT + 84, y(it.value)])),
      keys.map(([d, words, more], i) => {
        const x = 12 + i * Math.min(width / 3, 160), at = top + height + 36;
        return [path(`M${x} ${at}${d}`, { stroke: "var(--accent)", "stroke-width": 2, fill: "var(--accent)", ...more }), note(x + 14, at + 4, width < 420 ? words.replace("development", "dev") : words)];
      }),
    ],
  };
}
