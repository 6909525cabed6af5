// Gradients through time of an RNN, an LSTM and a GRU, as lmcourse/evaluation/gradient_flow.py
// defines them, in float64. The loss at step T is L_T = read_out · h_T.
//
// One backward pass for one T gives ∂L_T/∂h_t for every t, and δ_t = ∂L_T/∂a_t before the gates.
// The gradient of all parameters follows without ever being written down:
// ‖Σ_t δ_t x_tᵀ‖² = Σ_{s,t} (δ_s·δ_t)(x_s·x_t), for U; with h_{t-1} for W, with 1 for b.
//
// Gates are stacked as in PyTorch: i, f, g, o and r, z, n; matrices lie row by row.

import { times } from "../shared/dom.js";

const { abs, exp, hypot, max, min, sqrt, tanh } = Math;

export const KINDS = ["RNN", "LSTM", "GRU"];

/** φ, and its derivative as a function of φ's value. */
const ACTIVATIONS = {
  tanh: [tanh, (y) => 1 - y * y],
  relu: [(a) => max(a, 0), (y) => (y > 0 ? 1 : 0)],
  linear: [(a) => a, () => 1],
};

const zeros = (count) => new Float64Array(count);
const sigmoid = (a) => 1 / (1 + exp(-a));

/** Prepares what no setting changes: the inputs' share U x_t, and the products x_s·x_t. */
export function prepare(arrays) {
  const all = (name) => Float64Array.from(arrays[name].data);
  const [time, inputWidth] = arrays.inputs.shape;
  const inputs = parts(all("inputs"), inputWidth);
  const cells = Object.fromEntries(KINDS.map((kind) => {
    const [U, W] = [all(`U_${kind}`), all(`W_${kind}`)];
    const none = zeros(U.length / inputWidth);
    return [kind, { drive: inputs.map((x) => product(none, U, x)), W }];
  }));
  return { time, readOut: all("read_out"), cells, inputProducts: products(inputs) };
}

/** Reads the inputs once, and keeps each step's way back. */
export function forward(network, kind, { spectral_radius, activation, forget_bias }) {
  const { drive, W: given } = network.cells[kind];
  const W = given.map((w) => w * spectral_radius);
  let h = network.readOut.map(() => 0), c = h;
  const states = [];
  const backs = drive.map((u) => {
    let back;
    states.push(h);
    [back, h, c] = STEP[kind](u, W, h, c, ACTIVATIONS[activation], forget_bias);
    return back;
  });
  const largest = max(...states.map(largestOf));
  const scale = largest > 0 && largest < Infinity ? largest : 1; // or a square may overflow
  return { network, W, backs, scale, stateProducts: products(states.map((it) => it.map((x) => x / scale))) };
}

/**
 * One step: from U x_t, h_{t-1} and the LSTM's c_{t-1} to the way back, h_t and c_t.
 *
 * The way back takes ∂L/∂h_t and ∂L/∂c_t, leaves there what for h_{t-1} and c_{t-1} does not pass
 * through W, and gives δ_t, and δ_t as W sees it if that is another: in places of its own that each
 * walk back fills anew.
 */
const STEP = {
  RNN(u, W, h, c, [phi, slope]) {
    const y = product(u, W, h).map(phi), slopes = y.map(slope), delta = zeros(y.length);
    return [(dh) => {
      slopes.forEach((it, k) => { delta[k] = dh[k] * it; });
      dh.fill(0);
      return [delta];
    }, y, c];
  },
  LSTM(u, W, h, c, _, bias) {
    const width = h.length;
    const [i, f, g, o] = parts(product(u, W, h), width)
      .map((a, gate) => a.map(gate === 2 ? tanh : (x) => sigmoid(gate === 1 ? x + bias : x)));
    const next = c.map((x, k) => f[k] * x + i[k] * g[k]);
    const kept = next.map(tanh), delta = zeros(4 * width);
    return [(dh, dc) => {
      for (let k = 0; k < width; k++) {
        const x = dc[k] + dh[k] * o[k] * (1 - kept[k] * kept[k]);
        delta[k] = x * g[k] * i[k] * (1 - i[k]);
        delta[k + width] = x * c[k] * f[k] * (1 - f[k]);
        delta[k + 2 * width] = x * i[k] * (1 - g[k] * g[k]);
        delta[k + 3 * width] = dh[k] * kept[k] * o[k] * (1 - o[k]);
        dh[k] = 0;
        dc[k] = x * f[k];
      }
      return [delta];
    }, o.map((x, k) => x * kept[k]), next];
  },
  GRU(u, W, h, c) {
    const width = h.length;
    const [drive, pushed] = [u, product(zeros(3 * width), W, h)].map((it) => parts(it, width));
    const [r, z] = [0, 1].map((gate) => drive[gate].map((x, k) => sigmoid(x + pushed[gate][k])));
    const kept = pushed[2];
    const n = drive[2].map((x, k) => tanh(x + r[k] * kept[k]));
    const delta = zeros(3 * width), seen = zeros(3 * width);
    return [(dh) => {
      for (let k = 0; k < width; k++) {
        const dn = delta[k + 2 * width] = dh[k] * (1 - z[k]) * (1 - n[k] * n[k]);
        delta[k] = seen[k] = dn * kept[k] * r[k] * (1 - r[k]);
        delta[k + width] = seen[k + width] = dh[k] * (h[k] - n[k]) * z[k] * (1 - z[k]);
        seen[k + 2 * width] = dn * r[k];
        dh[k] *= z[k];
      }
      return [delta, seen];
    }, n.map((x, k) => (1 - z[k]) * x + z[k] * h[k]), c];
  },
};

/**
 * Walks back from step T, to the first or as far as the truncation lets it.
 *
 * @returns {{norms: Float64Array, parameters: () => number}} norms[d] is ‖∂L_T/∂h_{T-d}‖, 0 where
 *   the gradient was cut; parameters() is ‖∂L_T/∂(U, W, b)‖, until the next walk. What overflows is Infinity.
 */
export function backward(tape, T, { truncation } = {}) {
  const norms = zeros(T);
  const deltas = [], weighed = []; // δ_t, and what W sees of it
  const dh = tape.network.readOut.slice(), dc = zeros(dh.length);
  for (let d = 0; d < min(truncation ?? T, T); d++) {
    norms[d] = norm(dh, dc);
    const [delta, seen = delta] = tape.backs[T - 1 - d](dh, dc);
    addTransposed(dh, tape.W, seen);
    deltas.push(delta);
    weighed.push(seen);
  }
  return { norms, parameters: () => parameterNorm(tape, T, deltas, weighed) };
}

function parameterNorm({ network: { inputProducts }, scale, stateProducts }, T, deltas, weighed) {
  let fromInputs = 0, fromStates = 0; // the squares for U and b, and for W
  deltas.forEach((delta, d) => {
    for (let e = d; e < deltas.length; e++) {
      const twice = d === e ? 1 : 2;
      const together = dot(delta, 0, deltas[e]);
      const [s, t] = [T - 1 - d, T - 1 - e];
      fromInputs += twice * together * (inputProducts[s][t] + 1);
      fromStates += twice * stateProducts[s][t] *
        (weighed[d] === delta ? together : dot(weighed[d], 0, weighed[e]));
    }
  });
  const root = (square) => sqrt(max(square, 0));
  return finite(hypot(root(fromInputs), scale * root(fromStates)));
}

/**
 * The gradient of one loss as it counts in an update.
 *
 * Clipping scales the gradient of all parameters, and so every step's share, by one factor.
 * Truncation drops the shares of the steps beyond it.
 *
 * @returns {{norms: Float64Array, whole: number, factor: number}} `whole` is the length of the
 *   gradient of all parameters before clipping, `factor` what clipping multiplies.
 */
export function flow(tape, T, { truncation, clip }) {
  const { norms, parameters } = backward(tape, T, { truncation });
  const whole = parameters();
  const factor = whole <= clip || clip === null ? 1 : whole < Infinity ? clip / whole : NaN;
  return { norms: norms.map((x) => finite(x * factor)), whole, factor };
}

/** Row by row, for the losses at T = 1, 2, …: values[(T-1)·time + d]; NaN before the first step. */
export function strip(tape, settings) {
  const { time } = tape.network;
  const values = zeros(time * time).fill(NaN);
  for (let T = 1; T <= time; T++) {
    const { norms } = (settings.clip === null ? backward : flow)(tape, T, settings);
    values.set(norms, (T - 1) * time);
  }
  return values;
}

/** NaN, which only an overflow brings about, is Infinity here. */
const finite = (x) => (x < Infinity ? x : Infinity);

/** Of both vectors side by side; where a square is small or large, hypot lets none vanish or overflow. */
function norm(dh, dc) {
  const square = dot(dh, 0, dh) + dot(dc, 0, dc);
  return square > 1e-99 && square < 1e99 ? sqrt(square) : finite(hypot(...dh, ...dc));
}

const largestOf = (vector) => max(...vector.map(abs));

/** u·v, from a place in u on, over the length of v. */
function dot(u, from, v) {
  let sum = 0;
  for (let i = 0; i < v.length; i++) sum += u[from + i] * v[i];
  return sum;
}

/** The vector in pieces of that length. */
const parts = (vector, length) =>
  times(vector.length / length, (i) => vector.subarray(i * length, (i + 1) * length));

/** All products v_s·v_t. */
const products = (vectors) => vectors.map((u) => vectors.map((v) => dot(u, 0, v)));

/** base + matrix · vector */
const product = (base, matrix, vector) =>
  base.map((x, i) => x + dot(matrix, i * vector.length, vector));

/** out + matrixᵀ · vector, into out. */
function addTransposed(out, matrix, vector) {
  const width = out.length;
  for (let i = 0; i < vector.length; i++) {
    const x = vector[i];
    if (x !== 0) for (let j = 0; j < width; j++) out[j] += matrix[i * width + j] * x;
  }
}
