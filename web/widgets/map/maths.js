// Cosines in the full width, analogies, and planes; everything with vectors of length one.

import { times } from "../shared/dom.js";

const dot = (a, b) => a.reduce((sum, it, j) => sum + it * b[j], 0);

/** Makes each vector's length one; one of zeros stays. */
function scaled(vector) {
  const length = Math.sqrt(dot(vector, vector)) || 1;
  return vector.map((it) => it / length);
}

/** What Python packed: `axes` are the plane's two directions, `middle` its origin along them, `share` that of the variance. */
export function prepare({ vectors, groups, axes, middle, share }, model) {
  const words = model.get("words"), [, width] = vectors.shape;
  if (!share.data.length) throw new RangeError("The arrays are cut short."); // it is the last of them
  const unit = words.map((_, i) =>
    scaled(Float64Array.from(vectors.data.subarray(i * width, (i + 1) * width), (it) => it - 128)));
  return {
    words, unit, width, title: model.get("title"), groups: groups.data, names: model.get("group_names"),
    ids: new Map(words.map((word, i) => [word, i])),
    plane: {
      points: unit.map((it) => [0, 1].map((k) => dot(it, axes.data.subarray(k * width, (k + 1) * width)) - middle.data[k])),
      share: share.data[0],
    },
  };
}

/** b − a + c. @param {number[]} ids of a, b and c. */
export const offset = (points, [a, b, c]) => points[b].map((it, k) => it - points[a][k] + points[c][k]);

export const cosines = ({ unit }, vector) => {
  const whole = scaled(vector);
  return unit.map((it) => dot(it, whole));
};

/** The places of the largest values, the largest first; of equal ones the first. */
export const largest = (values, without, most = Infinity) => [...values.keys()].filter((i) => !without.includes(i))
  .sort((i, j) => values[j] - values[i] || i - j).slice(0, most);

export const away = ([x, y], [u, v]) => Math.hypot(x - u, y - v);

/**
 * The plane of some words alone, by the eigenvectors of their inner products (Jacobi's rotations).
 *
 * @returns {{points: number[][], share: number}} the words' places, and the plane's share of their variance.
 */
export function planeOf({ unit, width }, ids) {
  const mean = times(width, (j) => ids.reduce((sum, i) => sum + unit[i][j], 0) / ids.length);
  const rows = ids.map((i) => unit[i].map((it, j) => it - mean[j]));
  const products = rows.map((a) => rows.map((b) => dot(a, b)));
  const turned = rows.map((_, i) => rows.map((_, j) => +(i === j)));
  const count = rows.length;
  /** Mixes two entries of a row. */
  const mix = (row, p, q, cos, sin) => { [row[p], row[q]] = [cos * row[p] - sin * row[q], sin * row[p] + cos * row[q]]; };
  for (let sweep = 0; sweep < 20; sweep++) for (let p = 0; p < count; p++) for (let q = p + 1; q < count; q++) {
    if (Math.abs(products[p][q]) < 1e-14) continue;
    const slope = (products[q][q] - products[p][p]) / 2 / products[p][q];
    const tan = (slope < 0 ? -1 : 1) / (Math.abs(slope) + Math.hypot(slope, 1));
    const cos = 1 / Math.hypot(tan, 1), sin = tan * cos;
    for (const row of [...products, ...turned]) mix(row, p, q, cos, sin);
    times(count, (j) => {
      const pair = [products[p][j], products[q][j]];
      mix(pair, 0, 1, cos, sin);
      [products[p][j], products[q][j]] = pair;
    });
  }
  const values = products.map((row, i) => Math.max(row[i], 0)), best = largest(values, [], 2);
  const axes = best.map((at) => {
    const axis = turned.map((row) => row[at] * Math.sqrt(values[at]));
    const top = axis[largest(axis.map(Math.abs), [], 1)[0]];
    return axis.map((it) => (top < 0 ? -it : it));
  });
  const whole = values.reduce((a, b) => a + b);
  return {
    points: rows.map((_, i) => [0, 1].map((k) => axes[k]?.[i] ?? 0)),
    share: whole > 1e-12 ? best.reduce((sum, at) => sum + values[at], 0) / whole : 1,
  };
}
