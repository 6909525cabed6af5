// Softmax, in float64 and without overflow: no exponent is above 0.

/** log softmax(z / T). Where all of z is −∞, all is NaN. */
export function logSoftmax(z, T = 1) {
  let top = -Infinity, sum = 0;
  for (const x of z) if (x > top) top = x;
  for (const x of z) sum += Math.exp((x - top) / T);
  sum = Math.log(sum);
  return z.map((x) => (x - top) / T - sum);
}

export const softmax = (z, T) => logSoftmax(z, T).map(Math.exp);
