// What the picture says, in numbers and sentences.

import { short } from "../shared/numbers.js";
import { quoted, shortened } from "../shared/tokens.js";

export const NAMES = {
  f: "forget", i: "input", o: "output", g: "candidate", c: "cell", h: "hidden",
  r: "reset", z: "update", n: "candidate",
};

/** Three places behind the point. */
export const fixed = (x) => (Math.abs(x) < 1000
  ? (Math.round(x * 1000) / 1000 || 0).toFixed(3) : short(x)).replace("-", "−");

/** As short as it goes. */
export const signed = (x) => short(x).replace("-", "−");

/** What is kept over many steps is not 0 yet: 3.1·10⁻⁵ %. */
export const percent = (share) => `${short(share * 100)}%`;

/** The name of a series: words, whose spaces are no tokens. */
export const named = (name) => shortened(name, 30).replaceAll("␣", " ");

export const token = ({ tokens }, t) => quoted(tokens[t], 16);
export const place = (data, t) => `${token(data, t)} (${t + 1} of ${data.time})`;

/** What is left of the state at the pin, if there is anything to say. */
export function left(data, t, unit) {
  const { run, state, now: { pin } } = data, share = run.kept(unit, pin)[t];
  return share === null ? [] : [`${percent(share)} left of ${state} at ${token(data, pin)}`];
}

/** All numbers of one unit at one token, in lines. */
export const numbers = (data, t, unit) => [
  ...[data.gates, data.others].map((names) => names.map((it) => `${it} ${fixed(data.run.at(it, t, unit))}`).join(", ")),
  ...left(data, t, unit)];

/** How well the state of the first of the units that are shown follows each series. */
export const follows = ({ run, given, shown: [unit] }) => given.map(({ name }, i) =>
  `${named(name)}: r = ${fixed(run.follows(unit, i))}`);

/** What the step does to each unit that is shown. */
export const caption = (data) => data.shown.map((unit) => {
  const { state, run, now: { step } } = data;
  const { f, sum: [, written], now } = run.update(step, unit);
  return [`At ${token(data, step)} unit ${unit} keeps ${percent(f)} of ${state} and writes ${fixed(written)}: ` +
    `${state} is ${fixed(now)}`, ...left(data, step, unit)].join(", with ") + ". ";
}).join("");

/** How often a gate is nearly open or nearly shut. */
export function often(run, gate, unit) {
  const [low, high] = run.saturation(gate, unit).map(percent);
  return `${gate} is above 0.9 at ${high}, below 0.1 at ${low} of the tokens`;
}

/** The picture for those who do not see it. */
export function alternative(data) {
  const { kind, units, time, now, order, shown, gates, run, by } = data;
  return `${data.maps ? "Heat maps of all units, and c" : data.bars ? "Saturation of each unit’s gates, and c" : "C"}urves: ` +
    `${kind}, ${units} units, ${time} tokens, ${now.direction}. Order: ${by}; first ${order.slice(0, 3).join(", ")}. ` +
    [...shown.map((unit) => [`Unit ${unit} at ${place(data, now.step)}: ${numbers(data, now.step, unit).join(", ")}`,
      ...gates.map((gate) => often(run, gate, unit))].join("; ")), ...follows(data), caption(data)].join(". ");
}
