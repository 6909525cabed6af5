// Pairs and their bars, and the curve of a training.

import { s } from "../shared/dom.js";
import { note, rect, text } from "../shared/marks.js";
import { short } from "../shared/numbers.js";

/** A number as a reader meets it: 0.012, 3.45, −7.2, 12,345. */
export const minus = (x) => (x >= 1000 ? Math.round(x).toLocaleString("en") : short(Number(x)).replace("-", "−"));

/** Rows of a name, a bar and a number: {name, share, value, strong}. */
export const bars = (rows, top, width, color) => rows.map(({ name, share, value, strong }, i) => {
  const y = top + i * 26;
  return [
    text(0, y + 15, (strong ? "▶ " : "") + name, strong && { class: "strong" }),
    rect(140, y + 2, Math.max(2, (width - 210) * share), 18, { rx: 3, fill: color, "fill-opacity": strong ? 0.75 : 0.3 }),
    text(width, y + 15, value, { "text-anchor": "end" }),
  ];
});

/** A curve over the steps of the training, with a point where one is. */
export function curve(boxes, values, now, color) {
  const { x, y, height } = boxes[0], most = Math.max(...values);
  const right = boxes.at(-1).x + boxes.at(-1).width;
  const point = (i) => [boxes[i].x + boxes[i].width / 2, y + height * (1 - values[i] / most)];
  const [cx, cy] = point(now);
  return [
    s("path", { class: "axis", d: `M${x} ${y}v${height}H${right}`, fill: "none" }),
    note(x - 6, y + 4, minus(most), "end"), note(x - 6, y + height + 4, "0", "end"),
    [0, values.length - 1].map((i) => note(point(i)[0], y + height + 18, i, "middle")),
    s("polyline", { points: boxes.map((_, i) => point(i)).join(" "), fill: "none", stroke: color, "stroke-width": 2 }),
    s("circle", { cx, cy, r: 6, fill: color }),
    text(cx, cy - 12, minus(values[now]), { class: "strong", "text-anchor": "middle" }),
  ];
}
