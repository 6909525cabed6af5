// Attention in numbers: weights from their bytes, which of them get a line, and how one comes about.

import { times } from "../shared/dom.js";
import { short } from "../shared/numbers.js";

export const { abs, ceil, floor, max, min, sqrt } = Math;

/** The weights that bytes stand for: Python sends round(255 · √p), and no 0 but for a weight of 0. */
export const decode = (codes) => {
  const out = new Float32Array(codes); // loops, as these are millions
  for (let i = 0; i < out.length; i++) out[i] *= out[i] / 65025;
  return out;
};

/** A head of which only some of each query's weights are known: at these keys. The others are NaN. */
export const scatter = (keys, codes, rows, columns) => {
  const out = new Float32Array(rows * columns).fill(NaN);
  decode(codes).forEach((p, i) => { out[floor((i * rows) / keys.length) * columns + keys[i]] = p; });
  return out;
};

/** The i-th of an array's parts, which are so long. */
export const part = (array, i, length) => array.subarray(i * length, (i + 1) * length);

/** Some rows and columns of a matrix that is so wide. */
export const cut = (p, width, rows, columns) => (rows.length * columns.length === p.length ? p
  : Float32Array.from(rows.flatMap((i) => columns.map((j) => p[i * width + j]))));

/** A matrix made smaller: of each block, what is farthest from 0. */
export const pool = (p, rows, columns, high, wide) => {
  const out = new Float32Array(high * wide), to = Uint16Array.from(times(columns, (j) => (j * wide) / columns));
  for (let i = 0, from = 0; i < rows; i++) {
    const start = ~~((i * high) / rows) * wide;
    for (let j = 0; j < columns; j++, from++) {
      const at = start + to[j];
      if (abs(p[from]) > abs(out[at])) out[at] = p[from];
    }
  }
  return out;
};

/** Of a row, without what is not known. */
export const total = (row) => row.reduce((sum, it) => sum + abs(it || 0), 0);

/**
 * The places in a row that get a line, the largest first, whatever their signs: so many, or as hold
 * "90%" of it; none that is 0 or not known. What is not known counts for the share.
 */
export const chosen = (row, lines) => {
  const order = [...row.keys()].filter((j) => row[j]).sort((a, b) => abs(row[b]) - abs(row[a]));
  if (!lines.endsWith("%")) return order.slice(0, lines);
  let left = (row.some(isNaN) ? 1 : total(row)) * parseFloat(lines) / 100 - 1e-6;
  return order.filter((j) => (left -= abs(row[j])) + abs(row[j]) > 0);
};

/** The lines from a query, and to a key: [query, key, weight]. Of −1 there are none; of "all" queries, all. */
export const links = (p, columns, query, key, lines) => [
  ...times(p.length / columns, (i) => (i === query || query === "all" ? chosen(part(p, i, columns), lines).map((j) => [i, j]) : [])).flat(),
  ...(key < 0 ? [] : chosen(column(p, columns, key), lines).map((i) => [i, key]))].map(([i, j]) => [i, j, p[i * columns + j]]);

export const column = (p, columns, j) => p.filter((_, at) => at % columns === j);

/** In bits, of a row that may sum to a little less or more than 1. */
export const entropy = (row) => {
  const all = total(row);
  return row.reduce((bits, p) => bits - (p && (p / all) * Math.log2(p / all)), 0);
};

/** One number of an array whose axes may be 1 where the weights' are not; 0 of no array. */
const broadcast = (array, ...at) => (array
  ? array.data[at.reduce((sum, place, axis) => sum * array.shape[axis] + (place % array.shape[axis]), 0)] : 0);

/**
 * What adds up to the score (dot · scale + bias) / T + mask of each key. `how` changes it: temperature,
 * scaling and masking.
 *
 * @returns {{q, k, dot, scale, bias, mask, score, power, sum, p}[]} with its softmax: p = power / sum; nothing
 *   but −∞ gives zeros.
 */
export const row = ({ q, k, scale, bias, mask }, layer, head, i, { temperature, scaling, masking }) => {
  const vector = ({ shape: [, heads, count, width], data }, at) => part(data, (layer * heads + head) * count + at, width);
  const mine = vector(q, i);
  let most = -Infinity, sum = 0;
  const cells = times(k.shape[2], (j) => {
    const it = { q: mine, k: vector(k, j), dot: 0, scale: scaling === "none" ? 1 : scale.data[0],
      bias: broadcast(bias, layer, head, i, j), mask: masking === "given" ? broadcast(mask, layer, head, i, j) : 0 };
    for (let d = 0; d < mine.length; d++) it.dot += mine[d] * it.k[d];
    if (it.mask < -1e9 || (masking === "causal" && j > i)) it.mask = -Infinity;
    it.score = (it.dot * it.scale + it.bias) / temperature + it.mask;
    most = max(most, it.score);
    return it;
  });
  for (const it of cells) sum += it.power = Math.exp(it.score - most) || 0; // −∞ − −∞ is not a number
  for (const it of cells) [it.sum, it.p] = [sum, it.power / (sum || 1)];
  return cells;
};

/** A head computed anew. */
export const attention = (parts, layer, head, how) => Float32Array.from(
  times(parts.q.shape[2], (i) => row(parts, layer, head, i, how)).flat(), ({ p }) => p);

/** The mean of a layer's heads. @param one (layer, head) → its weights */
export const mean = (one, layer, heads) => {
  const out = one(layer, 0).slice();
  for (let head = 1; head < heads; head++) one(layer, head).forEach((p, at) => { out[at] += p; });
  return out.map((p) => p / heads);
};

/**
 * Attention rollout (Abnar and Zuidema 2020, section 3): the product over the layers of the mean of the heads plus
 * the identity, which is the residual connection; each row divided by its sum.
 */
export const rollout = (one, layer, heads) => {
  let all;
  for (let l = 0; l <= layer; l++) {
    const p = mean(one, l, heads), n = sqrt(p.length), next = new Float32Array(p.length);
    for (let i = 0; i < n; i++) {
      const mine = part(p, i, n), sum = total(mine) + 1;
      mine[i]++;
      mine.forEach((a, k) => { for (let j = 0; a && j < n; j++) next[i * n + j] += (a / sum) * (l ? all[k * n + j] : +(k === j)); });
    }
    all = next;
  }
  return all;
};

/** Each weight times the norm of its key's value: ‖α f(x)‖ of Kobayashi et al. 2020, as no weight is below 0. */
export const scaled = (p, norms) => p.map((it, at) => it * norms[at % norms.length]);

/** What adds up to q · k, dimension by dimension: q, k and q ⊙ k of one of a `row`'s cells. */
export const product = ({ q, k }) => [[...q], [...k], [...q].map((it, d) => it * k[d])];

/** What is shown in place of one head's weights. */
export const change = ({ place, source, name }, weights, { labels }, { measure }) => {
  const [layer] = place, [queries, { length: count }] = labels;
  if (measure === "weight") return;
  if (measure === "norm") return { all: scaled(weights(...place), source.part("norms", ...place)), name: `${name}, × norm` };
  const all = { mean, rollout }[measure](weights, layer, source.size[1]);
  const rows = times(queries.length, (i) => part(all, i, count)).filter(total);
  return { all, name: measure === "mean" ? `Layer ${layer}, mean of heads` : `Rollout to layer ${layer}`,
    says: `mean entropy ${short(rows.reduce((bits, it) => bits + entropy(it) / rows.length, 0))} bits` };
};
