// Numbers as a reader meets them, and logarithmic scales.

import { times } from "./dom.js";

export const power = (exponent) =>
  `10${String(exponent).replace(/./g, (c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c]))}`;

/** Three digits: 0.0417, 12.3, 3.1·10⁻⁹. What overflowed says so. */
export function short(x) {
  if (!Number.isFinite(x)) return "overflow";
  const size = Math.abs(x);
  if (x === 0 || (size >= 0.01 && size < 999.5)) return String(Number(x.toPrecision(3)));
  const [digits, exponent] = x.toExponential(1).split("e");
  return `${digits}·${power(Number(exponent))}`;
}

/** The exponents that label a log axis from 10^low up to 10^high: six of them at most. */
export function decades(low, high) {
  const step = [1, 2, 3, 4, 6, 12, 24, 60].find((it) => (high - low) / it <= 5) ?? 100;
  return times(Math.floor((high - low) / step) + 1, (i) => low + i * step);
}

/** Whole numbers that label an axis from 1 to `last`. */
export function steps(last) {
  const step = [1, 2, 5, 10, 20, 50].find((it) => last / it <= 6.5) ?? 100;
  return [1, ...times(Math.floor(last / step), (i) => (i + 1) * step).filter((it) => it > 1)];
}
