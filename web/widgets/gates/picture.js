// The picture as one SVG over the canvases of the maps.

import { s, times } from "../shared/dom.js";
import { short } from "../shared/numbers.js";
import { diverging } from "../shared/ramp.js";
import { LEFT } from "./layout.js";
import { fixed, follows, NAMES, often, token } from "./words.js";

/** Of gates and of values, a dash beside each color; the state, and what it passes through, are full lines. */
const COLORS = [["#0072B2", "#D55E00", "#009E73"], ["#CC79A7", "currentColor", "#777"]];
const DASHES = [[null, "7 4", "2 4"], ["7 4", null, "2 4"]];

const text = (x, y, words, name = "soft", anchor, transform) => s("text", { x, y, class: name, "text-anchor": anchor, transform }, words);
const end = (x, y, words, anchor = "end") => text(x, y, words, "soft", anchor);
const path = (d, more) => s("path", { d, fill: "none", class: "rule", ...more });
const axis = (d) => path(d, { class: "axis" });
const all = (...parts) => s("g", null, parts);
/** Maps are as light on a dark page: what lies on them is dark on both. */
const outlined = (x, y, width, height) =>
  s("rect", { x: x - 1, y: y - 1, width: width + 2, height: height + 2, fill: "none", stroke: "#111", "stroke-width": 2 });
const called = (x, y, name) => text(x, y, [s("tspan", { class: "strong" }, name), ` ${NAMES[name]}`]);
const letter = (x, y, i) => all(s("circle", { class: "paper", cx: x, cy: y, r: 9, stroke: "currentColor" }), text(x, y + 4, "AB"[i], "letter"));

/** @returns everything that stands still while the pointer moves. */
export function picture(size, data) {
  const { t0, t1, u0, u1, sums, labels, flat } = size, { time, units, now, series, shown } = data;
  return [
    text(LEFT, 12, `${t0 + 1}–${t1} of ${time} tokens, ${u0 + 1}–${u1} of ${units} units`),
    size.panels.map((box) => all(called(box.x, box.y - 8, box.name),
      (now.show === "maps" ? map : square)(box, size, data))),
    shown.map((_, i) => curves(size, data, i)),
    size.words.map((word, k) => {
      const x = size.x(t0 + k), name = t0 + k === now.step ? "strong" : "soft";
      return flat ? text(x, labels, word, name, "middle") : text(x + 4, labels, word, name, "end", `rotate(-90 ${x + 4} ${labels})`);
    }),
    size.strips.map((y, i) => strip(y, size, series[i].values, follows(data)[i])),
    text(4, sums[0][1] - 8, `One step, at ${token(data, now.step)}`, "strong"),
    sums.map(([x, y], i) => arithmetic(x, y, data, i)),
  ];
}

function map({ x, y, width, height, name }, { t0, t1, u0, u1, wide }, { gates, order, shown, now, run }) {
  const across = width / (t1 - t0), tall = height / (u1 - u0);
  const most = short(run.ends(name)), right = x + width - most.length * 6.6 - 4, top = wide ? y - 17 : y + height + 6;
  return [
    times(20, (i) => s("rect", { x: right - 60 + i * 3, y: top, width: 3.5, height: 10, fill: `rgb(${diverging(i / 19)})` })),
    end(right - 63, top + 9, gates.includes(name) ? 0 : `−${most}`), end(x + width, top + 9, most),
    outlined(x + (now.step - t0) * across, y, across, height),
    shown.map((unit, i) => {
      const row = order.indexOf(unit), down = y + (row - u0) * tall;
      return row >= u0 && row < u1 && all(outlined(x, down, width, tall), text(x - 10 - 9 * i, down + tall / 2 + 4, "AB"[i], "letter"));
    })];
}

/** As Karpathy et al. draw it: to the right what is nearly open, upward what is nearly shut. */
function square({ x, y, height, name }, _, { order, run, shown, pick }) {
  const said = order.map((unit) => often(run, name, unit));
  const spot = (unit) => {
    const [low, high] = run.saturation(name, unit);
    return [x + high * height, y + (1 - low) * height];
  };
  return [
    axis(`M${x} ${y}v${height}h${height}`), path(`M${x} ${y}l${height} ${height}`),
    [0, 1].flatMap((v) => [end(x - 5, y + (1 - v) * height + 4, v), end(x + v * height, y + height + 15, v, "middle")]),
    x === LEFT && text(x, y + height + 33, "→ share of tokens above 0.9, ↑ below 0.1"),
    order.map((unit, i) => {
      const [cx, cy] = spot(unit), same = order.filter((_, k) => said[k] === said[i]);
      return s("circle", { cx, cy, r: 5, fill: "#0072B2", opacity: 0.5, onclick: () => pick(unit) },
        s("title", null, `Unit ${same.join(", ")}: ${said[i]}`));
    }),
    s("g", { "pointer-events": "none" }, shown.map((unit, i) => letter(...spot(unit), i)))];
}

function curves({ lanes, t0, t1, x, pace, wide }, data, i) {
  const { gates, values, state, shown, run, now: { pin, step } } = data;
  const unit = shown[i], boxes = lanes[i], [{ title }] = boxes;
  const seen = times(t1 - t0, (k) => t0 + k), kept = run.left(unit, pin);
  const most = Math.max(1, ...seen.map((t) => Math.abs(run.at(state, t, unit))));
  return all(
    letter(12, title, i), text(28, title + 5, `Unit ${unit}`, "strong"),
    pin !== null && text(96, title + 5, `shaded: left of ${state} at ${token(data, pin)}`),
    [gates, values].map((names, lane) => {
      const { x: left, y, width, height } = boxes[lane], low = lane && -most, high = lane ? most : 1;
      const down = (v) => y + ((high - v) / (high - low)) * height;
      const line = (f) => seen.filter((t) => f(t) !== null).map((t) => `${x(t).toFixed(1)} ${down(f(t)).toFixed(1)}`).join("L");
      const area = lane ? "" : line((t) => kept[t]);
      let at = left;
      return all(
        s("rect", { class: "none", x: x(step) - pace / 2, y, width: pace, height }),
        [low, (low + high) / 2, high].map((v) => [path(`M${left} ${down(v)}h${width}`), end(left - 6, down(v) + 4, short(v).replace("-", "−"))]),
        area && [path(`M${area}V${y + height}H${area.split(" ")[0]}`, { fill: "#777", opacity: 0.3 }), axis(`M${area}`)],
        names.map((name, k) => {
          const from = at, look = { class: null, stroke: COLORS[lane][k], "stroke-dasharray": DASHES[lane][k], "stroke-width": 2.5 };
          at += (wide ? 54 : 44) + NAMES[name].length * 6.6;
          return [path(`M${line((t) => run.at(name, t, unit))}`, look), path(`M${from} ${y - 13}h18`, look),
            called(from + 23, y - 9, name)];
        }));
    }),
    seen.includes(pin) && boxes.map(({ y, height }) => axis(`M${x(pin)} ${y}v${height}`)));
}

/** A series as bars, from its least to its largest number. */
function strip(y, { t0, t1, x, pace }, values, words) {
  const low = Math.min(...values), range = Math.max(...values) - low || 1, left = x(t0) - pace / 2;
  return all(text(left, y - 5, words), axis(`M${left} ${y + 16}h${pace * (t1 - t0)}`),
    times(t1 - t0, (k) => {
      const height = (16 * (values[t0 + k] - low)) / range;
      return s("rect", { x: left + k * pace + 1, y: y + 16 - height, width: pace - 2, height, fill: "#0072B2" });
    }));
}

/** c_t = f · c_{t−1} + i · g and h_t = o · tanh c_t, in letters and in numbers. */
function arithmetic(x, y, { kind, run, shown, state, now: { step } }, k) {
  const lstm = kind === "LSTM", unit = shown[k], it = run.step(step, unit), [kept, written, sum] = it.sum;
  const number = (v) => (v < 0 ? `(${fixed(v)})` : fixed(v));
  const product = (a, b) => `${number(a)} · ${number(b)}`, before = `${state}ₜ${run.by > 0 ? "₋" : "₊"}₁`;
  return all(letter(x + 8, y + 12, k), [
    `${state}ₜ = ${lstm ? `f · ${before} + i · g` : `z · ${before} + (1 − z) · n`}`,
    `= ${product(it.f, it.was)} + ${product(it.i, it.g)}`,
    `= ${fixed(kept)} + ${number(written)} = ${fixed(sum)}${it.clipped ? `, clipped to ${fixed(it.now)}` : ""}`,
    lstm && `hₜ = o · tanh cₜ = ${product(run.at("o", step, unit), Math.tanh(it.now))} = ${fixed(run.at("h", step, unit))}`,
  ].map((words, i) => words && s("text", { x: x + (i % 3 ? 42 : 24), y: y + 16 + i * 21, style: "font-size:14px" }, words)));
}
