// The picture as one SVG, so that what is saved is what is seen.

import { EXACT, MODEL, TEACHER } from "../shared/colors.js";
import { s, times } from "../shared/dom.js";
import { fitted, note, rect, text, title } from "../shared/marks.js";
import { power, short } from "../shared/numbers.js";
import { LAST, TEMPERATURES } from "./maths.js";
import { coarse, signed } from "./words.js";

const STUDENT = [MODEL, 0.3], GRADIENT = ["#009E73", 1];
const teacher = ({ exact }) => [exact ? EXACT : TEACHER, 1];
/** A line's look and name; only the first two belong to both charts. */
const LINES = [
  [{ stroke: "#009E73" }, "with T²"],
  [{ stroke: "#CC79A7", "stroke-dasharray": "7 4" }, "without T²"],
  [{ class: "axis" }, "high-T approximation"],
  [{ class: "axis", "stroke-dasharray": "2 4" }, "of L_s"],
];

const middle = (x, y, words) => note(x, y, words, "middle");
const number = (x, y, words) => text(x, y, words, { "text-anchor": "end" });
const line = (d, name, look) => s("path", { d, class: name, fill: "none", ...look });
const bar = (x, y, width, height, [color, opacity]) =>
  rect(x, y, width, height, { fill: color, "fill-opacity": opacity, stroke: color });
/** A mark that stands out from a bar of its own color. */
const tick = (x, y, tall) => [
  line(`M${x - 1.5} ${y}v${tall}M${x + 1.5} ${y}v${tall}`, "halo"), line(`M${x} ${y}v${tall}`, "pin")];
const ring = (cx, cy) => s("circle", { cx, cy, r: 4, class: "pin" });

/** @returns {SVGElement[]} everything that stands still while the pointer moves. */
export const picture = (size, data) => [
  !size.few && cards(size, data),
  heads(size, data),
  axes(size, data),
  data.rows.map((row, i) => classRow(size, data, row, size.top + i * size.tall)),
  !size.few && [lengths(size.charts[0], data), progress(size.charts[1], data)],
].flat(9);

/** The numbers of the whole distribution. */
const cards = ({ width, wide }, { n, facts }) => facts.map(([name, value], i) => {
  const across = wide ? 6 : 3;
  const x = ((i % across) * width) / across, top = 12 + 54 * Math.floor(i / across);
  return [note(x, top + 12, name), s("text", { x, y: top + 36 },
    s("tspan", { style: "font-size:19px" }, short(value)), wide && i < 2 && s("tspan", null, ` of ${short(Math.log(n))}`))];
});

function heads({ wide, few, head, width, left, zero, half }, data) {
  const y = head + 20, x = wide ? left - 12 : 0, far = wide ? zero - half : 235;
  return [
    title(x, head, `Soft targets at T = ${data.at}`),
    bar(x, y - 9, 9, 9, teacher(data)), note(x + 14, y, "teacher t"),
    bar(x + 84, y - 9, 9, 9, STUDENT), note(x + 98, y, "student s"),
    line(`M${x + 168} ${y - 11}v14`, "pin"), note(x + 174, y, "at T = 1"),
    wide && note(0, y, "✓ label"),
    !few && [title(zero - half, head, "Gradient ∂L/∂z"), ring(far + 5, y - 4), note(far + 14, y, coarse(data)),
      wide && [note(width - 80, y, "now", "end"), note(width, y, coarse(data), "end")]]];
}

/** A class: its two bars, its gradient, its numbers. */
function classRow({ wide, few, width, left, long, end, zero, half, tall }, data, row, y) {
  const { whole, most, label, pinned } = data, { name, index, t, t1, s: own, s1, g, first } = row;
  const top = y + (wide ? few ? 3 : 6 : 24), under = wide ? y + 26 : y + 17, edge = wide ? 6 : 2;
  return [
    index === pinned && rect(-edge, y, width + 2 * edge, tall, { rx: 6, class: "pin" }),
    index === undefined ? note(0, under, name)
      : text(0, under, `${index === label ? "✓ " : ""}\u2068${fitted(name, wide ? 100 : width - 104)}\u2069`),
    [["t", t, t1, teacher(data)], ["s", own, s1, STUDENT]].map(([letter, p, once, look], i) => [
      note(left - 11, top + 12 + 16 * i, letter),
      bar(left, top + 2 + 16 * i, (p / whole) * long, 11, look),
      tick(left + (once / whole) * long, top + 16 * i, 15),
      number(end, top + 12 + 16 * i, short(p))]),
    line(`M${left} ${top}v31`, "axis"),
    !few && [line(`M${zero} ${top}v31`, "axis"), bar(zero + (Math.min(0, g) / most) * half, top + 9, (Math.abs(g) / most) * half, 13, GRADIENT),
    Math.abs(first) <= most && ring(zero + (first / most) * half, top + 15.5),
    number(wide ? width - 80 : width, wide ? top + 20 : under, signed(g)),
    wide && note(width, top + 20, signed(first), "end")]];
}

const axes = ({ few, width, left, long, zero, half, bottom }, { whole, most }) => [
  [0, 1, 2].map((i) => [middle(left + (i * long) / 2, bottom + 17, short((i * whole) / 2)),
    !few && middle(zero + (i - 1) * half, bottom + 17, signed((i - 1) * most))]),
  !few && middle(Math.min(zero, width - 70), bottom + 37, "◂ raises z · lowers z ▸")];

/**
 * A chart whose columns are evenly apart. @param {{name: string, bottom: string, at: number, lines: number,
 *   label: (i: number) => any, ticks: number, reads: (i: number) => string, up: (value: number) => number,
 *   curves: [number, number[]][]}} it `label` is for each tenth column, `reads` for each of the `ticks`;
 *   a curve is the number of its line and its values, and `up` puts them between 0 and 1.
 */
function chart({ x, y, width, height }, scaled, { name, bottom, at, lines, label, ticks, reads, up, curves }) {
  const last = curves[0][1].length - 1;
  const across = (i) => x + (i / last) * width, down = (part) => y + (1 - part) * height;
  return [
    title(x - 44, y - 58, name),
    LINES.slice(0, lines).map(([look, words], i) => {
      const left = x - 44 + (i % 2) * 172, top = y - 36 + 18 * (i >> 1);
      return [line(`M${left} ${top - 4}h22`, null, { "stroke-width": 2, ...look }), note(left + 28, top, words)];
    }),
    times(ticks, (i) => [line(`M${x} ${down(i / (ticks - 1))}h${width}`, "rule"),
      note(x - 6, down(i / (ticks - 1)) + 4, reads(i), "end")]),
    times(last / 10 + 1, (i) => middle(across(10 * i), y + height + 16, label(i))),
    line(`M${x} ${y}v${height}h${width}`, "axis"),
    line(`M${across(at)} ${y}v${height}`, "axis", { "stroke-dasharray": "3 3" }),
    curves.map(([look, values]) => s("polyline", {
      points: values.flatMap((it, i) => (up(it) >= 0 && up(it) <= 1 ? [across(i), down(up(it))] : [])),
      fill: "none", "stroke-width": look === +!scaled ? 3.5 : 1.5, ...LINES[look][0],
    })),
    note(x + width, y + height + 34, bottom, "end")];
}

/** How long the gradient of L_d is at each temperature, on log axes; it is 10³ at most, but for a hair. */
function lengths(box, { T, scaled, sizes, far, labelSize }) {
  const squared = (values) => values.map((it, i) => it * TEMPERATURES[i] ** 2);
  const firsts = TEMPERATURES.map((it) => far / it ** 2);
  return chart(box, scaled, {
    name: "Norm of the gradient of L_d", bottom: "temperature T", at: 10 * Math.log10(T) + 10, lines: 4,
    label: (i) => 10 ** (i - 1),
    ticks: 6, reads: (i) => power(2 * i - 7),
    up: (value) => (Math.log10(value) + 7) / 10,
    curves: [[3, sizes.map(() => labelSize)], [2, firsts], [2, squared(firsts)], [1, sizes], [0, squared(sizes)]],
  });
}

/** KL(t ‖ s) after each step of gradient descent. */
const progress = (box, { scaled, step, paths, highest }) => chart(box, scaled, {
  name: "KL(t ‖ s) as the student learns", bottom: "gradient steps", at: step, lines: 2,
  label: (i) => 10 * i,
  ticks: 3, reads: (i) => short((i * highest) / 2),
  up: (value) => value / highest,
  curves: [[1, paths[1]], [0, paths[0]]],
});
