// The picture as one SVG, so that what is saved is what is seen. Colors come from the root's
// variables; the cells of a strip are one small image.

import { h, s, times } from "../shared/dom.js";
import { decades, power, short, steps } from "../shared/numbers.js";
import { cividis } from "../shared/ramp.js";
import { LANE } from "./layout.js";

/** As in lmcourse/style.py; a letter and a dash tell them apart without color. */
const LOOKS = {
  RNN: { stroke: "#0072B2" },
  LSTM: { stroke: "#D55E00", "stroke-dasharray": "9 4" },
  GRU: { stroke: "#009E73", "stroke-dasharray": "2 4" },
};
const LOW = -12; // the least exponent that has a color and a place of its own

const drawable = (value) => value > 0 && value < Infinity;
const round = (x) => x.toFixed(1);
const path = (d, look) => s("path", { d, fill: "none", ...look });
const axis = (d, dash) => path(d, { class: "axis", "stroke-dasharray": dash });

/** Words in the soft color; `anchor` is "end", "middle" or nothing. */
const note = (x, y, words, anchor) => s("text", { x, y, class: "soft", "text-anchor": anchor }, words);
const title = (x, y, words) => s("text", { x, y, class: "strong" }, words);

/** The exponent where a scale ends: 4, or what the values ask for. */
function highest(values) {
  let largest = 1e4;
  for (const x of values.flatMap((it) => [...it])) if (x > largest && x < Infinity) largest = x;
  return Math.ceil(Math.log10(largest) / 4) * 4;
}

/** @returns {SVGElement[]} everything that stands still while the pointer moves. */
export function picture(place, data, id) {
  data.high = highest(data.flows.map(({ full }) => full));
  const high = highest(data.flows.map(({ strip }) => strip));
  return [
    definitions(place.chart, id),
    ...data.flows.map((flow, i) => panel(place.panels[i], flow, data, high, id)),
    legend(place.legend, high, id),
    chart(place.chart, data, id),
  ];
}

function definitions({ x, y, width, height }, id) {
  const hatch = (name, paper, ink, angle) => s("pattern",
    { id: name + id, width: 5, height: 5, patternUnits: "userSpaceOnUse",
      patternTransform: `rotate(${angle})` },
    s("rect", { width: 5, height: 5, ...paper }), s("line", { y2: 5, ...ink }));
  return s("defs", null,
    hatch("zero", { class: "none" }, { class: "axis" }, 45),
    hatch("over", { fill: "#CC79A7" }, { stroke: "#1b1f24", "stroke-width": 2 }, -45),
    s("clipPath", { id: `plot${id}` }, s("rect", { x, y, width, height })));
}

function panel(box, { kind, strip, before, factor }, { time, T, clip }, high, id) {
  const { x, y, width, height } = box;
  const [wide, tall] = [width / time, height / time];
  const frame = (room, name) => s("rect", { class: name, x: x - room, y: y + (T - 1) * tall - room,
    width: T * wide + 2 * room, height: tall + 2 * room });
  const length = factor < 1 ? `${short(before)} → ${short(clip)}  (× ${short(factor)})`
    : short(before) + (factor === 1 && clip ? " ≤ θ, unchanged" : "");
  return s("g", null,
    path(`M${x} ${y - 32}h26`, { ...LOOKS[kind], "stroke-width": 3.5 }),
    title(x + 32, y - 28, kind),
    note(x, y - 9, `‖G‖ ${length}`),
    s("image", { x, y, width, height, href: heat(strip, time, high),
      preserveAspectRatio: "none", "image-rendering": "pixelated" }),
    cells(strip, time, box, 0, `url(#zero${id})`),
    cells(strip, time, box, Infinity, `url(#over${id})`),
    axis(`M${x} ${y}v${height}h${width}`),
    frame(3, "halo"), frame(2, "pin"),
    steps(time).map((t, i) => [
      box.labels && note(x - 6, y + (t - 0.5) * tall + 4, i ? t : "T = 1", "end"),
      note(x + ((i && Math.min(t, time - 1)) + 0.5) * wide, y + height + 15, i && Math.min(t, time - 1), "middle")]),
    box.title && note(x + width, y + height + 31, "steps back, T − t", "end"));
}

/** One pixel a cell; what is 0, overflowed or not there stays clear. */
function heat(strip, time, high) {
  const canvas = h("canvas", { width: time, height: time });
  const pen = canvas.getContext("2d");
  const image = pen.createImageData(time, time);
  strip.forEach((value, i) => {
    if (!drawable(value)) return;
    image.data.set([...cividis((Math.log10(value) - LOW) / (high - LOW)), 255], 4 * i);
  });
  pen.putImageData(image, 0, 0);
  return canvas.toDataURL();
}

/** The cells that hold a value for which there is no color, each run of them as one box. */
function cells(strip, time, { x, y, width, height }, value, fill) {
  let d = "";
  for (let row = 0; row < time; row++) {
    for (let from = 0, to; from < time; from = to + 1) {
      for (to = from; to < time && strip[row * time + to] === value; ) to++;
      if (to === from) continue;
      const run = round(((to - from) * width) / time);
      d += `M${round(x + (from * width) / time)} ${round(y + (row * height) / time)}` +
        `h${run}v${round(height / time)}h-${run}z`;
    }
  }
  return d && path(d, { fill });
}

function legend({ x, y, width, beside }, high, id) {
  return s("g", null, note(x, y - 8, gradient()),
    times(48, (i) => s("rect", { x: x + (i * width) / 48, y, width: width / 48 + 0.6, height: 12,
      fill: `rgb(${cividis(i / 47)})` })),
    decades(LOW, high).map((it) =>
      note(x + ((it - LOW) / (high - LOW)) * width, y + 26, (it === LOW ? "≤ " : "") + power(it), "middle")),
    ["0 or cut", "overflow"].map((words, i) => {
      const left = x + (beside ? width + 46 : 0) + i * 96;
      const top = y + (beside ? 0 : 40);
      const fill = `url(#${i ? "over" : "zero"}${id})`;
      return [s("rect", { x: left, y: top - 1, width: 20, height: 14, fill }),
        note(left + 26, top + 11, words)];
    }));
}

/** ‖∂L_T/∂h_t‖ with its subscripts. */
const gradient = () => ["‖∂L", "T", "/∂h", "t", "‖"].map((words, i) =>
  s("tspan", i ? { dy: i % 2 ? 3 : -3, "font-size": i % 2 ? 9 : 12 } : null, words));

function chart(box, data, id) {
  const { time, T, flows, truncation, high } = data;
  const { x, y, width, height } = box;
  const scale = scales(box, data);
  const bottom = y + height + LANE;
  const changed = flows.some(({ factor }) => factor !== 1) || (truncation ?? T) < T;
  return s("g", null,
    title(x - 46, y - 34, `One loss, at T = ${T}`),
    note(x - 46, y - 14, gradient()),
    changed && note(x + width, y - 14, "thin: neither cut nor clipped", "end"),
    decades(LOW, high).map((it) => [
      path(`M${x} ${scale.y(10 ** it)}h${width}`, { class: "rule" }),
      note(x - 6, scale.y(10 ** it) + 4, power(it), "end")]),
    steps(time).map((t) => note(scale.x(t), bottom + 16, t, "middle")),
    axis(`M${x} ${y}V${bottom}h${width}`),
    axis(`M${scale.x(T)} ${y - 4}V${bottom}`, "3 3"),
    note(x - 6, bottom - 2, "0", "end"),
    note(x + width, bottom + 34, "time step t", "end"),
    s("g", { "clip-path": `url(#plot${id})` },
      changed && flows.map(({ kind, full }) => curve(kind, full, scale, T, 1)),
      flows.map(({ kind, norms }) => curve(kind, norms, scale, T, 3))),
    flows.map(({ kind, norms }, i) => [
      lane(kind, norms, scale, T, 0, y + height + 7 + 5 * i),
      lane(kind, norms, scale, T, Infinity, y + 3 + 5 * i),
      letter(kind, norms, scale, T, box, i)]));
}

const scales = ({ x, y, width, height }, { time, high }) => ({
  x: (t) => x + ((t - 0.5) / time) * width,
  y: (value) => y + ((high - Math.log10(value)) / (high - LOW)) * height,
});

function curve(kind, norms, scale, T, width) {
  let d = "", pen = "M";
  norms.forEach((value, distance) => {
    if (drawable(value)) d += `${pen}${round(scale.x(T - distance))} ${round(scale.y(value))}`;
    pen = drawable(value) ? "L" : "M";
  });
  const cap = kind === "GRU" ? "round" : null; // its dots
  return path(d, { ...LOOKS[kind], "stroke-width": width, "stroke-linecap": cap });
}

/** The steps whose value has no place on a log axis: 0, under it, or an overflow, at its top. */
function lane(kind, norms, scale, T, value, level) {
  const wide = (scale.x(2) - scale.x(1)) * 0.8;
  const marks = [...norms].map((it, distance) =>
    (it === value ? `M${round(scale.x(T - distance) - wide / 2)} ${level}h${round(wide)}` : ""));
  return path(marks.join(""), { stroke: LOOKS[kind].stroke, "stroke-width": 3 });
}

/** The kind's initial on its curve, at a step of its own so that no two meet. */
function letter(kind, norms, scale, T, { y, height }, i) {
  const wanted = (T - 1) * (0.72 - 0.24 * i);
  let at = -1;
  norms.forEach((value, d) => {
    const level = drawable(value) && scale.y(value) - y;
    if (level > 4 && level < height - 4 && (at < 0 || d <= wanted)) at = d;
  });
  if (at < 0) return null;
  const [cx, cy] = [scale.x(T - at), scale.y(norms[at])];
  return s("g", null,
    s("circle", { class: "paper", cx, cy, r: 9, stroke: LOOKS[kind].stroke, "stroke-width": 2 }),
    s("text", { class: "letter", x: cx, y: cy + 4 }, kind[0]));
}

/** A line through the curves at time step t, with a dot on each. */
export function crosshair(box, data, t) {
  const scale = scales(box, data);
  const line = axis(`M${scale.x(t)} ${box.y}v${box.height + LANE}`);
  return s("g", null, line, data.flows.map(({ kind, norms }) => {
    const cy = scale.y(norms[data.T - t]);
    const inside = cy >= box.y && cy <= box.y + box.height;
    return inside && s("circle", { cx: scale.x(t), cy, r: 5, fill: LOOKS[kind].stroke });
  }));
}
