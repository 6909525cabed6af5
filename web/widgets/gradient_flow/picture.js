// The picture as one SVG, so that what is saved is what is seen. Colors come from the root's
// variables; the cells of a strip are one small image.

import { h, s, times } from "../shared/dom.js";
import { note, rect, text, title } from "../shared/marks.js";
import { decades, power, short, steps } from "../shared/numbers.js";
import { cividis } from "../shared/ramp.js";
import { LANE } from "./layout.js";

/** As in lmcourse/style.py; a letter and a dash tell them apart without color. */
const COLORS = { RNN: "#0072B2", LSTM: "#D55E00", GRU: "#009E73" };
const DASHES = { LSTM: "9 4", GRU: "2 4" };
const LOW = -12; // the least exponent that has a color and a place of its own

const drawable = (value) => value > 0 && value < Infinity;
const round = (x) => x.toFixed(1);
const path = (d, look) => s("path", { d, fill: "none", ...look });
const pen = (stroke, width, dash) => ({ stroke, "stroke-width": width, "stroke-dasharray": dash });
const line = (kind, width) =>
  ({ ...pen(COLORS[kind], width, DASHES[kind]), "stroke-linecap": kind === "GRU" ? "round" : null });
const axis = (d, dash) => path(d, { class: "axis", ...pen(null, null, dash) });
/** What was kept: a wide band, pale between edges as dark as the rest. */
const band = (d, stroke, width) =>
  [path(d, pen(stroke, width)), path(d, { ...pen("var(--bg)", width - 2), "stroke-opacity": 0.6 })];

/** The exponent where a scale ends: 4, or what the values ask for. */
function highest(values) {
  let largest = 1e4;
  for (const list of values) for (const x of list) if (x > largest && x < Infinity) largest = x;
  return Math.ceil(Math.log10(largest) / 4) * 4;
}

/** @returns {SVGElement[]} everything that stands still while the pointer moves. */
export function picture(place, data, id) {
  const { flows, earlier } = data;
  data.high = highest([...flows, ...(earlier ? earlier.flows : [])].map(({ full }) => full));
  const high = highest(flows.map(({ strip }) => strip));
  const { x, y, width, height } = place.chart;
  const hatch = (name, paper, ink, angle) => s("pattern",
    { id: name + id, width: 5, height: 5, patternUnits: "userSpaceOnUse",
      patternTransform: `rotate(${angle})` },
    rect(0, 0, 5, 5, paper), s("line", { y2: 5, ...ink }));
  return [
    s("defs", null,
      hatch("zero", { class: "none" }, { class: "axis" }, 45),
      hatch("over", { fill: "#CC79A7" }, pen("#1b1f24", 2), -45),
      s("clipPath", { id: `plot${id}` }, rect(x, y, width, height))),
    flows.map((flow, i) => panel(place.panels[i], flow, data, high, id)),
    legend(place.legend, high, id),
    chart(place.chart, data, id),
  ];
}

function panel({ x, y, width, height, few, labels, title: named }, { kind, strip, whole, factor }, { time, T, clip }, high, id) {
  const [wide, tall] = [width / time, height / time];
  const frame = (room, name) =>
    rect(x - room, y + (T - 1) * tall - room, T * wide + 2 * room, tall + 2 * room, { class: name });
  const length = factor < 1 ? `${short(whole)} → ${short(clip)}${few ? "" : `  (× ${short(factor)})`}`
    : short(whole) + (factor === 1 && clip ? few ? " ≤ θ" : " ≤ θ, unchanged" : "");

  /** The cells of a value for which there is no color, each run of them as one box. */
  function cells(value, fill) {
    let d = "";
    for (let row = 0; row < time; row++) {
      for (let from = 0, to; from < time; from = to + 1) {
        for (to = from; to < time && strip[row * time + to] === value; ) to++;
        const run = round((to - from) * wide);
        if (to > from) d += `M${round(x + from * wide)} ${round(y + row * tall)}h${run}v${round(tall)}h-${run}z`;
      }
    }
    return d && path(d, { fill: `url(#${fill}${id})` });
  }

  return [
    path(`M${x} ${y - 32}h26`, line(kind, 3.5)),
    title(x + 32, y - 28, kind),
    note(x, y - 9, `‖G‖ ${length}`),
    s("image", { x, y, width, height, href: heat(strip, time, high),
      preserveAspectRatio: "none", "image-rendering": "pixelated" }),
    cells(0, "zero"), cells(Infinity, "over"),
    axis(`M${x} ${y}v${height}h${width}`),
    frame(3, "halo"), frame(2, "pin"),
    steps(time).map((t, i) => {
      const back = i && Math.min(t, time - 1);
      return [
        labels && note(x - 6, y + (t - 0.5) * tall + 4, i ? t : "T = 1", "end"),
        (!few || !i || t === time) && note(x + (back + 0.5) * wide, y + height + 15, back, "middle")];
    }),
    named && note(x + width, y + height + 31, "steps back, T − t", "end")];
}

/** One pixel a cell; what is 0, overflowed or not there stays clear. */
function heat(strip, time, high) {
  const canvas = h("canvas", { width: time, height: time });
  const brush = canvas.getContext("2d");
  const image = brush.createImageData(time, time);
  strip.forEach((value, i) => {
    if (drawable(value)) image.data.set([...cividis((Math.log10(value) - LOW) / (high - LOW)), 255], 4 * i);
  });
  brush.putImageData(image, 0, 0);
  return canvas.toDataURL();
}

function legend({ x, y, width, beside }, high, id) {
  return [
    note(x, y - 8, gradient()),
    times(48, (i) => rect(x + (i * width) / 48, y, width / 48 + 0.6, 12, { fill: `rgb(${cividis(i / 47)})` })),
    decades(LOW, high).map((it) =>
      note(x + ((it - LOW) / (high - LOW)) * width, y + 26, (it === LOW ? "≤ " : "") + power(it), "middle")),
    ["0 or cut", "overflow"].map((words, i) => {
      const left = x + (beside ? width + 46 : 0) + i * 96;
      const top = y + (beside ? 0 : 40);
      return [rect(left, top - 1, 20, 14, { fill: `url(#${i ? "over" : "zero"}${id})` }),
        note(left + 26, top + 11, words)];
    })];
}

/** ‖∂L_T/∂h_t‖ with its subscripts. */
const gradient = () => ["‖∂L", "T", "/∂h", "t", "‖, LSTM: (h, c)"].map((words, i) =>
  s("tspan", i ? { dy: i % 2 ? 3 : -3, "font-size": i % 2 ? 9 : 12 } : null, words));

const scales = ({ x, y, width, height }, { time, high }) => [
  (t) => x + ((t - 0.5) / time) * width,
  (value) => y + ((high - Math.log10(value)) / (high - LOW)) * height,
];

function chart(box, data, id) {
  const { time, T, flows, cut, high, earlier } = data;
  const { x, y, width, height } = box;
  const [across, up] = scales(box, data);
  const bottom = y + height + LANE;
  const changed = cut < T || flows.some(({ factor }) => factor !== 1);

  const curve = (norms, last) => {
    let d = "", to = "M";
    norms.forEach((value, back) => {
      if (drawable(value)) d += `${to}${round(across(last - back))} ${round(up(value))}`;
      to = drawable(value) ? "L" : "M";
    });
    return d;
  };

  /** The steps whose value has no place on a log axis: 0, under it, or an overflow, at its top. */
  const lanes = ({ T, flows }, draw) => flows.map(({ kind, norms }, i) =>
    [[0, y + height + 5], [Infinity, y + 4]].map(([value, level]) => {
      const wide = round((width / time) * 0.8);
      const marks = [...norms].map((it, back) =>
        (it === value ? `M${round(across(T - back) - wide / 2)} ${level + 6 * i}h${wide}` : ""));
      return draw(marks.join(""), COLORS[kind]);
    }));

  /** The kinds' initials on their curves, each at a step of its own so that no two meet. */
  const letters = ({ T, flows }, share, mark = "") => flows.map(({ kind, norms }, i) => {
    let at = -1;
    norms.forEach((value, back) => {
      const level = drawable(value) && up(value) - y;
      if (level > 4 && level < height - 4 && (at < 0 || back <= (T - 1) * (share - 0.24 * i))) at = back;
    });
    const [cx, cy] = [across(T - at), up(norms[at])];
    return at >= 0 && [s("circle", { class: "paper", cx, cy, r: 9, ...pen(COLORS[kind], 2) }),
      text(cx, cy + 4, kind[0] + mark, { class: "letter" })];
  });

  return [
    title(x - 46, y - 34, `One loss, at T = ${T}`),
    note(x - 46, y - 14, gradient()),
    earlier && [band(`M${x + width - 80} ${y - 38}h30`, COLORS.RNN, 9), note(x + width, y - 34, "before", "end")],
    changed && note(x + width, y - 14, "thin: uncut, unclipped", "end"),
    decades(LOW, high).map((it) => [
      path(`M${x} ${up(10 ** it)}h${width}`, { class: "rule" }),
      note(x - 6, up(10 ** it) + 4, power(it), "end")]),
    steps(time).map((t) => note(across(t), bottom + 16, t, "middle")),
    axis(`M${x} ${y}V${bottom}h${width}`),
    axis(`M${across(T)} ${y - 4}V${bottom}`, "3 3"),
    note(x - 6, bottom - 2, "0", "end"),
    note(x + width, bottom + 34, "time step t", "end"),
    s("g", { "clip-path": `url(#plot${id})` },
      earlier && earlier.flows.map(({ kind, norms }) => band(curve(norms, earlier.T), COLORS[kind], 9)),
      [1, 3].map((wide) => (wide > 1 || changed) && flows.map(({ kind, norms, full }) =>
        path(curve(wide > 1 ? norms : full, T), line(kind, wide))))),
    earlier && lanes(earlier, (d, stroke) => band(d, stroke, 5)),
    lanes(data, (d, stroke) => path(d, pen(stroke, 3))),
    earlier && letters(earlier, 0.8, "′"), letters(data, 0.72)];
}

/** A line through the curves at time step t, with a dot on each. */
export function crosshair(box, data, t) {
  const [across, up] = scales(box, data);
  const line = axis(`M${across(t)} ${box.y}v${box.height + LANE}`);
  return s("g", null, line, data.flows.map(({ kind, norms }) => {
    const cy = up(norms[data.T - t]);
    return cy >= box.y && cy <= box.y + box.height &&
      s("circle", { cx: across(t), cy, r: 5, fill: COLORS[kind] });
  }));
}
