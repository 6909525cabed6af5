// What the picture says, in sentences.

import { short } from "../shared/numbers.js";
import { quoted, shortened } from "../shared/tokens.js";
import { TEMPERATURES } from "./maths.js";

/** With a minus sign instead of a hyphen. */
export const signed = (x) => short(x).replace(/^-/, "−");

/** A text of several words, with its spaces. */
export const plain = (text) => shortened(text, 80).replaceAll("␣", " ");

const named = ({ name, index }) => (index === undefined ? name : quoted(name));

/** What a ring marks: with T² a limit, without it an approximation, which changes with T. */
export const coarse = ({ scaled }) => (scaled ? "T → ∞" : "for high T");

/** A class, for whoever points at it. */
export function about({ label, pinned, scaled, show }, row) {
  const { index, zT, zS, t, s, t1, s1, g, first } = row;
  const side = (name, z, p, once) => `${name}: ` +
    `${index === undefined ? "" : `logit ${signed(z)}, `}${short(p)}, at T = 1 ${short(once)}`;
  return [
    named(row) + (index === label ? ", the label" : "") + (index === pinned ? ", picked" : ""),
    side("teacher", zT, t, t1),
    side("student", zS, s, s1),
    ...(show === "all" ? [`gradient ${signed(g)}, ${scaled ? "limit" : "high-T approximation"} ${signed(first)}`] : []),
  ];
}

/** The gradient's length at a temperature. */
export const lengthsAt = ({ sizes, far, labelSize }, i, T = TEMPERATURES[i]) => [
  `T = ${T}`,
  `with T² ${short(sizes[i] * T * T)}, limit ${short(far)}`,
  `without ${short(sizes[i])}, high-T approximation ${short(far / T / T)}`,
  `of L_s ${short(labelSize)}`,
];

/** KL after a number of steps. */
export const progressAt = ({ paths: [scaled, plain] }, i) =>
  [`Step ${i}`, `KL with T² ${short(scaled[i])}`, `without ${short(plain[i])}`];

/** What the temperature has done. */
export function effect({ show, T, at, step, scaled, rows: [top, ...others], size, far, paths }) {
  const [own, other] = scaled ? paths : [paths[1], paths[0]];
  return `At T = ${at} the teacher gives ${short(1 - top.t)} to the classes other than ${named(top)} ` +
    `(${short(1 - top.t1)} at T = 1)` +
    `${others.slice(0, 2).map((row, i) => `${i ? " and" : "; then"} ${named(row)} ${short(row.t)}`).join("")}.` + (show !== "all" ? "" :
    ` ‖s − t‖/T is ${short(size)}, its high-T approximation at this T ${short(far / T / T)}; ` +
    `times T² it is ${short(size * T * T)}, with the limit ${short(far)} for T → ∞.` +
    (step ? ` In ${step} steps KL(t ‖ s) went from ${short(own[0])} to ${short(own[step])}; ` +
      `${scaled ? "without" : "with"} T² to ${short(other[step])}.` : ""));
}

/** The picture for those who do not see it. */
export const alternative = (data) => [
  `Soft targets at T = ${data.at}${data.name && ` of “${plain(data.name)}”`}`,
  ...data.rows.map((row) => about(data, row).join("; ")),
  ...(data.show === "all" ? [data.facts.map(([name, value]) => `${name}: ${short(value)}`).join("; "),
  `${data.scaled ? "With" : "Without"} T²; α = ${data.alpha}; learning rate ${data.learning_rate}; step ${data.step}`] : []),
  effect(data),
].join(". ");
