// What the picture says, in sentences.

import { short } from "../shared/numbers.js";

const back = (distance) => `${distance} step${distance === 1 ? "" : "s"} back`;
const list = (parts) => parts.join(", ").replace(/, (?=[^,]*$)/, " and ");

/** One number of the picture; `cut` is how many steps the gradient goes back, or Infinity. */
const what = (value, distance, cut) =>
  (distance >= cut ? "cut" : value ? short(value) : "0, no unit passes it on");

/** The same with its place. */
export const at = (kind, T, distance, value, cut) =>
  `${kind}, loss at T = ${T}, t = ${T - distance}, ${back(distance)}: ${what(value, distance, cut)}`;

/** One kind's number at time step t. */
export const value = ({ T, cut, flows }, i, t) => (t > T ? "–" : what(flows[i].norms[T - t], T - t, cut));

/** All three at one time step. */
export function across(data, t) {
  const { T, flows, earlier } = data;
  const each = flows.map(({ kind }, i) =>
    `${kind} ${value(data, i, t)}${earlier ? ` (before ${value(earlier, i, t)})` : ""}`);
  return `t = ${t}, ${back(T - t)}: ${each.join(", ")}`;
}

/** What cutting and clipping have done. */
function effect({ T, flows, cut, clip }) {
  const said = [];
  if (cut < T) {
    said.push(`Truncation cuts everything ${back(cut)} and further: it changes the shape.`);
  }
  const shorter = flows.filter(({ factor }) => factor < 1);
  if (shorter.length) {
    const each = shorter.map(({ kind, factor }) => `the ${kind}’s gradient by ${short(factor)}`);
    said.push(`Clipping at θ = ${short(clip)} multiplies ${list(each)}, all steps equally: ` +
      "it changes the size and keeps the shape.");
  } else if (clip && flows.every(({ factor }) => factor === 1)) {
    said.push(`No gradient norm exceeds θ = ${short(clip)}: clipping changes nothing.`);
  }
  for (const { kind, whole } of flows) {
    if (whole === Infinity) said.push(`The ${kind}’s gradient overflows: its norm is infinite.`);
  }
  return said.join(" ") || "No truncation, no clipping: this is the exact gradient.";
}

/** The curves that were kept: with which settings they were drawn. */
const kept = ({ T, spectral_radius, activation, forget_bias, truncation, clip }) =>
  `earlier curves: ρ = ${spectral_radius}, ${activation}, forget bias ${forget_bias}, ` +
  `${truncation ? `cut after ${truncation}` : "not cut"}, ${clip ? `θ = ${short(clip)}` : "not clipped"}, T = ${T}`;

export const caption = (data) => effect(data) + (data.earlier ? ` Pale: ${kept(data.earlier)}.` : "");

const lengths = ({ T, flows, cut }) => flows.map(({ kind, norms, whole }) => {
  const far = Math.min(T, cut) - 1;
  return `${kind}: ${short(norms[0])} at t = ${T}, ${short(norms[far])} at t = ${T - far}; ` +
    `norm of its parameter gradient G ${short(whole)}.`;
}).join(" ");

/** The picture for those who do not see it. */
export const alternative = (data) =>
  `Norm of the gradient of the loss at T = ${data.T} with respect to the state at each step t, ` +
  `on a log scale. ${lengths(data)} ${caption(data)}${data.earlier ? ` They were: ${lengths(data.earlier)}` : ""}`;
