// The chart: axes, error bars, marks, the front as a staircase, names where they fit, and a legend.

import { s } from "../shared/dom.js";
import { fitted, note, rect, text, title } from "../shared/marks.js";
import { amount, plain, score } from "./words.js";
import { scales, ticks } from "./maths.js";

/** A shape and a color for each family, as Map's groups: told apart without color, too. */
export const SHAPES = [
  ["M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0z", "var(--accent)"], ["M0-6l6 10h-12z", "#D55E00"], ["M-4.5-4.5h9v9h-9z", "#009E73"],
  ["M0-6.5l6 6.5-6 6.5-6-6.5z", "#CC79A7"], ["M0 6l6-10h-12z", "#E69F00"], ["M-2-6h4v4h4v4h-4v4h-4v-4h-4v-4h4z", "#8c959f"],
  ["M-6-3h12v6h-12z", "#56B4E9"], ["M-3-6h6v12h-6z", "#B8A800"],
];
export const mark = (x, y, family, filled, look) => s("path", {
  d: SHAPES[family][0], transform: `translate(${round(x)} ${round(y)})`, stroke: SHAPES[family][1], "stroke-width": 1.75,
  fill: filled ? SHAPES[family][1] : "var(--bg)", ...look,
});
/** Words that are not wider than so many pixels. */
const fit = (words, wide) => fitted(plain(words), wide, 12).replaceAll("␣", " ");
const round = (it) => Math.round(it * 10) / 10;
const path = (d, look) => s("path", { d, fill: "none", ...look });

/** Where everything lies, in pixels, and each shown point's place. */
export function layout(width, found, data) {
  const wide = width >= 600, size = { x: 46, y: 26, width: width - 46 - 12, height: wide ? 380 : 300 };
  const scale = scales(found), bottom = size.y + size.height;
  const x = (cost) => size.x + ((Math.log10(cost) - scale.left) / (scale.right - scale.left)) * size.width;
  const y = (mean) => bottom - ((mean - scale.bottom) / (scale.top - scale.bottom)) * size.height;
  const columns = wide ? 4 : 2, families = [...new Set(found.shown.map((it) => it.family))].sort((a, b) => a - b);
  const groups = [...new Set(found.shown.map((it) => it.group))].sort((a, b) => a - b);
  const count = families.length + (data.groups.length > 1 ? groups.length : 0);
  return {
    ...size, ...scale, bottom0: scale.bottom, wide, bottom, columns, families, groups, tick: wide ? 9 : 5, to: { x, y },
    places: found.shown.map((it) => ({ it, x: x(it.cost), y: y(it.mean) })),
    height: bottom + 48 + 20 * Math.ceil(count / columns),
  };
}

let pen;
/** How wide words are. */
function length(words) {
  pen ??= document.createElement("canvas").getContext("2d");
  pen.font = "12px system-ui, sans-serif";
  return pen.measureText(words).width;
}

/** The names of the points on the front, and of the picked one, where they meet nothing. */
function labels(size, found) {
  const taken = size.places.map(({ x, y }) => [x - 6, y - 6, x + 6, y + 6]), marks = [];
  const order = [...size.places.filter(({ it }) => it === found.picked), ...size.places.filter(({ it }) => it.best && it !== found.picked)];
  for (const { it, x, y } of order) {
    const words = fit(it.name, size.wide ? 190 : 130), wide = length(words);
    const middle = Math.max(size.x + 2, Math.min(x - wide / 2, size.x + size.width - wide - 2)) - x;
    const box = [[-wide - 8, -22], [middle, -24], [9, -20], [9, 6], [-wide - 9, 6], [middle, 9], [middle, -42], [middle, 26]]
      .map(([right, down]) => [x + right, y + down, x + right + wide, y + down + 15])
      .find(([a, b, c, d]) => a > size.x && c < size.x + size.width && b > size.y && d < size.bottom &&
        !taken.some(([p, q, r, t]) => p < c && r > a && q < d && t > b));
    if (!box) continue;
    taken.push(box);
    marks.push(text(box[0], box[1] + 12, words, { "paint-order": "stroke", stroke: "var(--bg)", "stroke-width": 3 }));
  }
  return marks;
}

export function picture(size, data, found) {
  const { x, y, width, bottom, to } = size, right = x + width;
  const marks = [title(0, 14, fit(found.score, width + 40))];
  for (let k = 0, value = size.bottom0; k <= 40 && value <= size.top + size.step / 9; k++, value = size.bottom0 + k * size.step) {
    const at = round(to.y(value));
    marks.push(path(`M${x} ${at}H${right}`, { class: "rule" }), note(x - 6, at + 4, String(+value.toFixed(6)).replace("-", "−"), "end"));
  }
  for (const cost of ticks(size.left, size.right, size.tick)) {
    const at = round(to.x(cost));
    marks.push(path(`M${at} ${bottom}v5`, { class: "axis" }), note(at, bottom + 18, amount(cost), "middle"));
  }
  marks.push(path(`M${x} ${bottom}H${right}`, { class: "axis" }), text(right, bottom + 36, fit(`${found.cost}, logarithmic`, width), { "text-anchor": "end" }));
  for (const { label, mean } of found.lines) {
    const at = round(to.y(mean));
    marks.push(path(`M${x} ${at}H${right}`, { class: "axis", "stroke-dasharray": "5 4" }), note(x + 6, at - 5, fit(label, width / 2)));
  }
  const stairs = found.best.map((it, k) => `${k ? `H${round(to.x(it.cost))}V` : `M${round(to.x(it.cost))} `}${round(to.y(it.mean))}`).join("");
  if (stairs) marks.push(path(`${stairs}H${right}`, { stroke: "var(--soft)", "stroke-width": 2 }));
  const drawn = [...size.places].sort((a, b) => !!a.it.best - !!b.it.best);
  for (const { it, x: at, y: up } of drawn) {
    const color = SHAPES[it.family][1], faint = it.best || it === found.picked ? 1 : 0.7;
    const bars = (it.spread > 0 ? `M${round(at)} ${round(to.y(it.mean - it.spread))}V${round(to.y(it.mean + it.spread))}` : "") +
      (it.low < it.high ? `M${round(to.x(it.low))} ${round(up)}H${round(to.x(it.high))}` : "");
    marks.push(bars && path(bars, { stroke: color, "stroke-width": 1.25, opacity: 0.75 * faint }),
      mark(at, up, it.family, it.group === 0, { opacity: faint }));
    if (it === found.picked) marks.push(s("circle", { cx: round(at), cy: round(up), r: 11, class: "pin" }));
  }
  const column = (width + 46) / size.columns;
  const legend = [
    ...size.families.map((family) => [family, true, data.families[family]]),
    ...(data.groups.length > 1 ? size.groups.map((group) => [0, group === 0, data.groups[group], true]) : []),
  ];
  legend.forEach(([family, filled, name, grey], k) => {
    const left = 8 + (k % size.columns) * column, up = bottom + 54 + 20 * Math.floor(k / size.columns);
    marks.push(mark(left, up, family, filled, grey && { stroke: "var(--soft)", fill: filled ? "var(--soft)" : "var(--bg)" }),
      note(left + 12, up + 4, fit(name, column - 26)));
  });
  marks.push(labels(size, found), rect(x, y, width, bottom - y, { fill: "none" }));
  return marks;
}
