// Attention in numbers: weights from their bytes, which of them get a line, and how one comes about.

import { times } from "../shared/dom.js";

export const { abs, ceil, floor, max, min, sqrt } = Math;

/** The weights that bytes stand for: Python sends round(255 · √p), and no 0 but for a weight of 0. */
export function decode(codes) {
  const out = new Float32Array(codes); // loops, as these are millions
  for (let i = 0; i < out.length; i++) out[i] *= out[i] / 65025;
  return out;
}

/** A head of which only some of each query's weights are known: at these keys. The others are NaN. */
export function scatter(keys, codes, rows, columns) {
  const out = new Float32Array(rows * columns).fill(NaN);
  decode(codes).forEach((p, i) => { out[floor((i * rows) / keys.length) * columns + keys[i]] = p; });
  return out;
}

/** The i-th of an array's parts, which are so long. */
export const part = (array, i, length) => array.subarray(i * length, (i + 1) * length);

/** Some rows and columns of a matrix that is so wide. */
export const cut = (p, width, rows, columns) => (rows.length * columns.length === p.length ? p
  : Float32Array.from(rows.flatMap((i) => columns.map((j) => p[i * width + j]))));

/** A matrix made smaller: of each block, what is farthest from 0. */
export function pool(p, rows, columns, high, wide) {
  const out = new Float32Array(high * wide), to = Uint16Array.from(times(columns, (j) => (j * wide) / columns));
  for (let i = 0, from = 0; i < rows; i++) {
    const start = ~~((i * high) / rows) * wide;
    for (let j = 0; j < columns; j++, from++) {
      const at = start + to[j];
      if (abs(p[from]) > abs(out[at])) out[at] = p[from];
    }
  }
  return out;
}

/** Of a row, without what is not known. */
export const total = (row) => row.reduce((sum, it) => sum + abs(it || 0), 0);

/**
 * The places in a row that get a line, the largest first, whatever their signs: so many, or as hold
 * "90%" of it; none that is 0 or not known. What is not known counts for the share.
 */
export function chosen(row, lines) {
  const order = [...row.keys()].filter((j) => row[j]).sort((a, b) => abs(row[b]) - abs(row[a]));
  if (!lines.endsWith("%")) return order.slice(0, lines);
  let left = (row.some(isNaN) ? 1 : total(row)) * parseFloat(lines) / 100 - 1e-6;
  return order.filter((j) => (left -= abs(row[j])) + abs(row[j]) > 0);
}

/** In bits, of a row that may sum to a little less or more than 1. */
export function entropy(row) {
  const all = total(row);
  return row.reduce((bits, p) => bits - (p && (p / all) * Math.log2(p / all)), 0);
}

/** One number of an array whose axes may be 1 where the weights' are not; 0 of no array. */
const broadcast = (array, ...at) => (array
  ? array.data[at.reduce((sum, place, axis) => sum * array.shape[axis] + (place % array.shape[axis]), 0)] : 0);

/**
 * What adds up to the score (dot · scale + bias) / T + mask of each key. `how` changes it: temperature,
 * scaling and masking.
 *
 * @returns {{dot, scale, bias, mask, score, power, sum, p}[]} with its softmax: p = power / sum; nothing
 *   but −∞ gives zeros.
 */
export function row({ q, k, scale, bias, mask }, layer, head, i, { temperature, scaling, masking }) {
  const width = q.shape[3];
  const [mine, theirs] = [q, k].map(({ shape, data }) =>
    data.subarray((layer * shape[1] + head) * shape[2] * width));
  let most = -Infinity, sum = 0;
  const cells = times(k.shape[2], (j) => {
    const it = { dot: 0, scale: scaling === "none" ? 1 : scale.data[0],
      bias: broadcast(bias, layer, head, i, j), mask: masking === "given" ? broadcast(mask, layer, head, i, j) : 0 };
    for (let d = 0; d < width; d++) it.dot += mine[i * width + d] * theirs[j * width + d];
    if (it.mask < -1e9 || (masking === "causal" && j > i)) it.mask = -Infinity;
    it.score = (it.dot * it.scale + it.bias) / temperature + it.mask;
    most = max(most, it.score);
    return it;
  });
  for (const it of cells) sum += it.power = Math.exp(it.score - most) || 0; // −∞ − −∞ is not a number
  for (const it of cells) [it.sum, it.p] = [sum, it.power / (sum || 1)];
  return cells;
}

/** A head computed anew. */
export const attention = (parts, layer, head, how) => Float32Array.from(
  times(parts.q.shape[2], (i) => row(parts, layer, head, i, how)).flat(), ({ p }) => p);
