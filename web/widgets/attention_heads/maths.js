// Attention in numbers: weights from their bytes, which of them get a line, and how one comes about.

/** The weights that bytes stand for: Python sends round(255 · √p). */
export function decode(codes) {
  const out = new Float32Array(codes); // loops, as these are millions
  for (let i = 0; i < out.length; i++) out[i] *= out[i] / 65025;
  return out;
}

/** A head of which only some of each query's weights are known: at these keys. The others are 0. */
export function scatter(keys, codes, rows, columns) {
  const out = new Float32Array(rows * columns);
  keys.forEach((key, i) => { out[Math.floor((i * rows) / keys.length) * columns + key] = (codes[i] / 255) ** 2; });
  return out;
}

/** Some rows and columns of a matrix that is so wide. */
export const cut = (p, width, rows, columns) => (rows.length * columns.length === p.length ? p
  : Float32Array.from({ length: rows.length * columns.length }, (_, at) =>
    p[rows[Math.floor(at / columns.length)] * width + columns[at % columns.length]]));

/** A matrix made smaller: of each block, what is farthest from 0. */
export function pool(p, rows, columns, high, wide) {
  const out = new Float32Array(high * wide);
  for (let i = 0, from = 0; i < rows; i++) {
    const start = ~~((i * high) / rows) * wide;
    for (let j = 0; j < columns; j++, from++) {
      const at = start + ~~((j * wide) / columns);
      if (Math.abs(p[from]) > Math.abs(out[at])) out[at] = p[from];
    }
  }
  return out;
}

/** The places in a row that get a line, the largest first: so many, or as hold "90%" of it; none that is 0. */
export function chosen(row, lines) {
  const order = [...row.keys()].filter((j) => row[j]).sort((a, b) => row[b] - row[a]);
  if (!lines.endsWith("%")) return order.slice(0, lines);
  let left = row.reduce((a, b) => a + b) * parseFloat(lines) / 100 - 1e-6;
  return order.filter((j) => (left -= row[j]) + row[j] > 0);
}

/** In bits. */
export const entropy = (row) => row.reduce((sum, p) => sum - (p > 0 ? p * Math.log2(p) : 0), 0);

/** One number of an array whose axes may be 1 where the weights' are not; 0 of no array. */
const broadcast = (array, ...at) => (array
  ? array.data[at.reduce((sum, place, axis) => sum * array.shape[axis] + (place % array.shape[axis]), 0)] : 0);

/**
 * What adds up to the score (dot · scale + bias) / T + mask of each key. `how` changes it: temperature,
 * scaling and masking.
 *
 * @returns {{products: number[], dot, scale, bias, mask, score, power, sum, p}[]} with its softmax:
 *   p = power / sum; nothing but −∞ gives zeros.
 */
export function row({ q, k, scale, bias, mask }, layer, head, i, { temperature, scaling, masking }) {
  const width = q.shape[3];
  const [mine, theirs] = [q, k].map(({ shape, data }) =>
    data.subarray((layer * shape[1] + head) * shape[2] * width));
  const cells = Array.from({ length: k.shape[2] }, (_, j) => {
    const products = Array.from({ length: width }, (_, d) => mine[i * width + d] * theirs[j * width + d]);
    const it = { products, dot: products.reduce((a, b) => a + b), scale: scaling === "none" ? 1 : scale.data[0],
      bias: broadcast(bias, layer, head, i, j), mask: masking === "given" ? broadcast(mask, layer, head, i, j) : 0 };
    if (it.mask < -1e9 || (masking === "causal" && j > i)) it.mask = -Infinity;
    it.score = (it.dot * it.scale + it.bias) / temperature + it.mask;
    return it;
  });
  const most = Math.max(...cells.map((it) => it.score));
  for (const it of cells) it.power = it.score === -Infinity ? 0 : Math.exp(it.score - most);
  const sum = cells.reduce((a, { power }) => a + power, 0);
  for (const it of cells) Object.assign(it, { sum, p: it.power / (sum || 1) });
  return cells;
}

/** A head computed anew. */
export const attention = (parts, layer, head, how) => Float32Array.from(
  Array.from({ length: parts.q.shape[2] }, (_, i) => row(parts, layer, head, i, how)).flat(), ({ p }) => p);
