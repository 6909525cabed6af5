// The picture as one SVG over the canvases of the maps.

import { s, times } from "../shared/dom.js";
import { note, rect, text, title } from "../shared/marks.js";
import { short } from "../shared/numbers.js";
import { diverging } from "../shared/ramp.js";
import { LEFT } from "./layout.js";
import { fixed, follows, NAMES, signed, token } from "./words.js";

/** Of gates and of values, a dash beside each color; the state, and what it passes through, are full lines. */
const LOOKS = [[["#0072B2"], ["#D55E00", "7 4"], ["#009E73", "2 4"]], [["#CC79A7", "7 4"], ["currentColor"], ["#777", "2 4"]]];
const ramp = (place) => `rgb(${diverging(place)})`;

const path = (d, look) => s("path", { d, fill: "none", class: "rule", ...look });
export const axis = (d) => path(d, { class: "axis" });
/** Maps are as light on a dark page: what lies on them is dark on both. */
const outlined = (x, y, width, height, stroke) =>
  rect(x - 1, y - 1, width + 2, height + 2, { fill: "none", stroke, "stroke-width": 2 });
const called = (x, y, name) => text(x, y, [s("tspan", { class: "strong" }, name), ` ${NAMES[name]}`], { class: "soft" });
/** Beside an axis; a long number on it. */
function mark(y, value) {
  const words = signed(value), long = words.length > 4;
  return note(long ? 0 : LEFT - 6, y + 4, words, long ? null : "end");
}

/** @returns everything that stands still while the pointer moves. */
export function picture(data) {
  const { now, given, shown, maps, labels, level } = data;
  const part = ([from, length, count]) => `${from + 1}–${from + length} of ${count} `;
  return [
    note(LEFT, 12, `${part(data.columns)}tokens, ${part(data.rows)}units`),
    data.panels.map((box) => [called(box.x, box.y - 8, box.name), (maps ? map : bars)(box, data), chosen(box, data)]),
    data.bars && legend(data.panels[0]),
    shown.map((_, i) => curves(data, i)),
    data.seen.map((t, k) => text(0, level ? 0 : 4, data.words[k], {
      class: t === now.step ? "strong" : "soft", "text-anchor": level ? "middle" : "end",
      transform: `translate(${data.x(t)} ${labels})rotate(${level ? 0 : -90})`,
    })),
    data.strips.map((y, i) => strip(y, data, given[i].numbers, follows(data)[i])),
    title(4, data.sums[0][1] - 8, `One step, at ${token(data, now.step)}`),
    data.sums.map(([x, y], i) => arithmetic(x, y, data, i)),
  ];
}

function map({ x, y, width, height, name }, { columns: [first, count], wide, gates, now, run }) {
  const across = width / count, most = short(run.ends(name));
  const right = x + width - most.length * 6.6 - 4, top = wide ? y - 17 : y + height + 6;
  return [
    times(20, (i) => rect(right - 60 + i * 3, top, 3.5, 10, { fill: ramp(i / 19) })),
    note(right - 63, top + 9, gates.includes(name) ? 0 : `−${most}`, "end"), note(x + width, top + 9, most, "end"),
    outlined(x + (now.step - first) * across, y, across, height, "#111")];
}

/** Which rows are the units whose curves are shown. */
const chosen = ({ x, y, width, height }, { rows: [first, count], order, shown, maps }) => shown.map((unit, i) => {
  const row = order.indexOf(unit) - first, tall = height / count, down = y + row * tall;
  return row >= 0 && row < count && [outlined(x, down, width, tall, maps ? "#111" : "currentColor"), title(x - 14 - 10 * i, down + tall / 2 + 5, "AB"[i])];
});

/** A unit's tokens as a bar: from the left those at which the gate is nearly shut, from the right nearly open. */
const bars = ({ x, y, width, height, name }, { rows: [first, count], order, run }) => [
  rect(x, y, width, height, { class: "none" }),
  times(count, (k) => run.saturation(name, order[first + k]).map((share, high) =>
    rect(x + high * (1 - share) * width, y + (k * height) / count, share * width, (height / count) * 0.85, { fill: ramp(high) }))),
  [0, 0.5, 1].map((v) => note(x + v * width, y + height + 15, v, "middle"))];

const legend = ({ y, height }) => ["below 0.1", "above 0.9: shares of the tokens"].map((words, i) =>
  note(LEFT + i * 90, y + height + 35, [s("tspan", { fill: ramp(i) }, "■ "), words]));

function curves(data, i) {
  const { x, seen, pace, wide, gates, others, state, run, now: { pin, step } } = data;
  const unit = data.shown[i], boxes = data.lanes[i], [{ top }] = boxes, kept = run.kept(unit, pin);
  const most = Math.ceil(Math.max(1, ...seen.map((t) => Math.abs(run.at(state, t, unit)))));
  return [
    title(4, top, `${"AB"[i]}: unit ${unit}`),
    pin !== null && note(96, top, `shaded: rest of ${state} at ${token(data, pin)}`),
    [gates, others].map((names, lane) => {
      const { x: left, y, width, height } = boxes[lane], low = lane && -most, high = lane ? most : 1;
      const down = (v) => y + ((high - v) / (high - low)) * height;
      const line = (f) => seen.filter((t) => f(t) !== null).map((t) => `${x(t).toFixed(1)} ${down(f(t)).toFixed(1)}`).join("L");
      const area = lane ? "" : line((t) => kept[t]);
      let at = left, free = y; // a name at the end of each curve, none over another
      return [
        rect(x(step) - pace / 2, y, pace, height, { class: "none" }),
        [low, (low + high) / 2, high].map((v) => [path(`M${left} ${down(v)}h${width}`), mark(down(v), v)]),
        area && [path(`M${area}V${y + height}H${area.split(" ")[0]}`, { fill: "#777", opacity: 0.3 }), axis(`M${area}`)],
        names.map((name, k) => {
          const from = at, [stroke, dash] = LOOKS[lane][k];
          const look = { class: null, stroke, "stroke-dasharray": dash, "stroke-width": 2.5 };
          at += (wide ? 54 : 44) + NAMES[name].length * 6.6;
          return [path(`M${line((t) => run.at(name, t, unit))}`, look), path(`M${from} ${y - 13}h18`, look),
            called(from + 23, y - 9, name)];
        }),
        names.map((name) => [down(run.at(name, seen.at(-1), unit)), name]).sort(([a], [b]) => a - b).map(([y, name]) =>
          title(left + width + 4, (free = Math.max(free, y + 4) + 13) - 13, name)),
        !lane && wide && note(left + width, y - 9, "0 closed, 1 open", "end"),
        seen.includes(pin) && axis(`M${x(pin)} ${y}v${height}`)];
    })];
}

/** A series as bars up and down from 0, on the scale of the whole text. */
function strip(y, { seen, x, pace }, numbers, words) {
  const low = Math.min(0, ...numbers), high = Math.max(0, ...numbers) || (low ? 0 : 1);
  const down = (v) => y + (28 * (high - v)) / (high - low);
  return [note(LEFT, y - 7, words),
    seen.map((t) => {
      const v = numbers[t], top = down(Math.max(v, 0));
      return rect(x(t) - pace / 2 + 1, top, pace - 2, down(Math.min(v, 0)) - top, { fill: "#0072B2" });
    }),
    axis(`M${LEFT} ${down(0)}h${pace * seen.length}`), mark(down(low), low), mark(y, high)];
}

/** c_t = f · c_{t−1} + i · g and h_t = o · tanh c_t, in letters and in numbers. */
function arithmetic(x, y, { kind, run, shown, state, now: { step } }, k) {
  const lstm = kind === "LSTM", unit = shown[k], it = run.update(step, unit), [kept, written, sum] = it.sum.map(fixed);
  const bracketed = (words) => (words.startsWith("−") ? `(${words})` : words), number = (v) => bracketed(fixed(v));
  const product = (a, b) => `${number(a)} · ${number(b)}`, before = `${state}ₜ${run.by > 0 ? "₋" : "₊"}₁`;
  return [title(x, y + 16, "AB"[k]), [
    `${state}ₜ = ${lstm ? `f · ${before} + i · g` : `z · ${before} + (1 − z) · n`}`,
    `= ${product(it.f, it.was)} + ${product(it.i, it.g)}`,
    `= ${kept} + ${bracketed(written)} = ${sum}`,
    it.stored && `${it.clipped ? "clipped to" : "stored as"} ${fixed(it.now)}`,
    lstm && "hₜ = o · tanh cₜ",
    lstm && `= ${product(run.at("o", step, unit), Math.tanh(it.now))} = ${fixed(run.at("h", step, unit))}`,
  ].filter(Boolean).map((words, i) =>
    text(x + (words[1] === "ₜ" ? 20 : 38), y + 16 + i * 21, words, { style: "font-size:14px" }))];
}
