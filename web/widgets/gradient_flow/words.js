// What the picture says, in sentences.

import { short } from "../shared/numbers.js";

/** One number of the picture, with its place. */
export function at(kind, T, distance, value, truncation) {
  return `${kind}, loss at T = ${T}, t = ${T - distance}, ${back(distance)}: ${what(value, distance, truncation)}`;
}

/** All three at one time step. */
export function across({ T, flows, truncation }, t) {
  const each = flows.map(({ kind, norms }) => `${kind} ${what(norms[T - t], T - t, truncation)}`);
  return `t = ${t}, ${back(T - t)}: ${each.join(", ")}`;
}

const back = (distance) => `${distance} step${distance === 1 ? "" : "s"} back`;

export function what(value, distance, truncation) {
  if (truncation !== null && distance >= truncation) return "cut";
  return value === 0 ? "0, no unit passes it on" : short(value);
}

/** What cutting and clipping have done. */
export function effect({ T, flows, truncation, clip }) {
  const said = [];
  if (truncation !== null && truncation < T) {
    said.push(`Truncation cuts everything ${back(truncation)} and further: it changes the shape.`);
  }
  const shorter = flows.filter(({ factor }) => factor < 1);
  if (shorter.length) {
    const each = shorter.map(({ kind, factor }) => `the ${kind}’s gradient by ${short(factor)}`);
    said.push(`Clipping at θ = ${short(clip)} multiplies ${list(each)}, all steps alike: ` +
      "it changes the size and keeps the shape.");
  } else if (clip !== null && flows.every(({ factor }) => factor === 1)) {
    said.push(`No gradient is longer than θ = ${short(clip)}: clipping changes nothing.`);
  }
  for (const { kind, before } of flows) {
    if (before === Infinity) said.push(`The ${kind}’s gradient overflows: it has no length to scale.`);
  }
  return said.join(" ") || "Nothing is cut or clipped: this is the gradient as the chain rule gives it.";
}

/** The picture for those who do not see it. */
export function alternative(data) {
  const { T, flows, truncation } = data;
  const each = flows.map(({ kind, norms, before }) => {
    const far = Math.min(T, truncation ?? T) - 1;
    return `${kind}: ${short(norms[0])} at t = ${T}, ${short(norms[far])} at t = ${T - far}; ` +
      `length of its parameters’ gradient G ${short(before)}.`;
  });
  return `Norm of the gradient of the loss at T = ${T} with respect to the state at each step t, ` +
    `on a log scale. ${each.join(" ")} ${effect(data)}`;
}

const list = (parts) => parts.join(", ").replace(/, (?=[^,]*$)/, " and ");
