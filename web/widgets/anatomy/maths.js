// One number of a tensor, and what it is computed from.

/** @param {Float32Array} values all numbers. @param {number[]} ref where an array begins, then its shape. */
export const view = (values, [offset, ...shape]) => ({ shape, data: values.subarray(offset, offset + shape.reduce((a, b) => a * b, 1)) });

/** An entry of an array of three axes; an axis of size 1 is for all. */
export const entry = ({ shape: [heads, rows, columns], data }, head, row, column) =>
  data[(Math.min(head, heads - 1) * rows + Math.min(row, rows - 1)) * columns + Math.min(column, columns - 1)];

const rowOf = ({ shape, data }, ...at) => {
  const size = shape.at(-1), [head, row] = at.length > 1 ? at : [0, at[0]], rows = shape.at(-2);
  const begin = shape.length > 2 ? Math.min(head, shape[0] - 1) * rows + Math.min(row, rows - 1) : row;
  return data.subarray(begin * size, (begin + 1) * size);
};

const erf = (x) => { // Abramowitz and Stegun, 7.1.26
  const t = 1 / (1 + 0.3275911 * Math.abs(x));
  const y = 1 - ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t * Math.exp(-x * x);
  return x < 0 ? -y : y;
};
const POINTWISE = {
  tanh: Math.tanh, sigmoid: (x) => 1 / (1 + Math.exp(-x)), relu: (x) => Math.max(x, 0), gelu: (x) => (x * (1 + erf(x / Math.SQRT2))) / 2,
};
const PAIRS = { add: (a, b) => a + b, sub: (a, b) => a - b, mul: (a, b) => a * b, div: (a, b) => a / b };

/**
 * @param numbers the arrays of a block, by name, as `view` takes them; "op" says how y is computed.
 * @returns {{op: string, result: number, terms?: number[][], a?: number, b?: number, bias?: number}} of a sum
 *   the terms, as pairs of factors; of a softmax the scores; nothing where it is not known.
 */
export function compute(values, numbers, head, row, column) {
  const { op } = numbers, get = (name) => view(values, numbers[name]), at = (name) => entry(get(name), head, row, column);
  if (op === "linear" || op === "matmul") {
    const [left, right] = op === "linear" ? [rowOf(get("x"), head, row), rowOf(get("w"), column)] : [rowOf(get("a"), head, row), rowOf(get("b"), head, column)];
    const terms = [...left].map((x, i) => [x, right[i]]), bias = numbers["bias"] && get("bias").data[column];
    return { op, terms, bias, result: terms.reduce((sum, [x, y]) => sum + x * y, bias ?? 0) };
  }
  if (op === "softmax") {
    const scores = [...rowOf(get("a"), head, row)], top = Math.max(...scores);
    const powers = scores.map((x) => Math.exp(x - top)), sum = powers.reduce((a, b) => a + b);
    return { op, terms: scores.map((x, i) => [x, powers[i] / sum]), a: scores[column], b: top, bias: sum, result: powers[column] / sum };
  }
  if (op === "norm") {
    const [a, b] = [at("x"), at("mean")], sd = at("sd"), weight = get("w").data[column], bias = get("bias").data[column];
    return { op, a, b, terms: [[sd, weight]], bias, result: ((a - b) / sd) * weight + bias };
  }
  if (PAIRS[op] && numbers["b"]) return { op, a: at("a"), b: at("b"), result: PAIRS[op](at("a"), at("b")) };
  if (POINTWISE[op]) return { op, a: at("a"), result: POINTWISE[op](at("a")) };
}
