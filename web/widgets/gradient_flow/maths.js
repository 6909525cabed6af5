// Gradients through time of an RNN, an LSTM and a GRU, as lmcourse/evaluation/gradient_flow.py
// defines them, in float64. The loss at step T is L_T = read_out · h_T.
//
// One backward pass for one T gives ∂L_T/∂h_t for every t, and δ_t = ∂L_T/∂a_t before the gates.
// The gradient of all parameters follows without ever being written down:
// ‖Σ_t δ_t x_tᵀ‖² = Σ_{s,t} (δ_s·δ_t)(x_s·x_t), for U; with h_{t-1} for W, with 1 for b.

export const GATES = { RNN: 1, LSTM: 4, GRU: 3 };
export const KINDS = Object.keys(GATES);

/** φ, and its derivative as a function of φ's value. */
const ACTIVATIONS = {
  tanh: [Math.tanh, (y) => 1 - y * y],
  relu: [(a) => Math.max(a, 0), (y) => (y > 0 ? 1 : 0)],
  linear: [(a) => a, () => 1],
};

const sigmoid = (a) => 1 / (1 + Math.exp(-a));

/** Prepares what no setting changes: the inputs' share U x_t, and the products x_s·x_t. */
export function prepare(arrays) {
  const inputs = Float64Array.from(arrays.inputs.data);
  const [time, inputWidth] = arrays.inputs.shape;
  const width = arrays.read_out.shape[0];
  const cells = {};
  for (const kind of KINDS) {
    const rows = GATES[kind] * width;
    const U = Float64Array.from(arrays[`U_${kind}`].data);
    const drive = new Float64Array(time * rows);
    for (let t = 0; t < time; t++) {
      addProduct(drive, t * rows, U, rows, inputs, t * inputWidth, inputWidth);
    }
    cells[kind] = { drive, W: Float64Array.from(arrays[`W_${kind}`].data) };
  }
  const readOut = Float64Array.from(arrays.read_out.data);
  return { time, width, readOut, cells, inputProducts: products(inputs, time, inputWidth) };
}

/** Reads the inputs once, and keeps what the way back needs. */
export function forward(network, kind, settings) {
  const { time, width } = network;
  const rows = GATES[kind] * width;
  const W = network.cells[kind].W.map((w) => w * settings.spectral_radius);
  const tape = {
    network, kind, width, rows, W,
    activation: ACTIVATIONS[settings.activation],
    h: new Float64Array((time + 1) * width),
    c: new Float64Array((time + 1) * width), // the LSTM's cell
    y: network.cells[kind].drive.slice(), // the gates: first a_t, then their values
    kept: new Float64Array(time * width), // tanh c_t of the LSTM; W_n h_{t-1} of the GRU
  };
  for (let t = 0; t < time; t++) {
    addProduct(tape.y, t * rows, W, kind === "GRU" ? 2 * width : rows, tape.h, t * width, width);
    STEP[kind](tape, t, settings);
  }
  const largest = largestOf(tape.h);
  tape.scale = largest > 0 && largest < Infinity ? largest : 1; // or a square may overflow
  tape.stateProducts = products(tape.h.map((x) => x / tape.scale), time, width);
  return tape;
}

const STEP = {
  RNN({ width, y, h, activation: [phi] }, t) {
    for (let i = t * width; i < (t + 1) * width; i++) h[i + width] = y[i] = phi(y[i]);
  },
  LSTM({ width, rows, y, h, c, kept }, t, { forget_bias }) {
    for (let i = 0; i < width; i++) {
      const a = t * rows + i, now = t * width + i, next = now + width;
      y[a] = sigmoid(y[a]);
      y[a + width] = sigmoid(y[a + width] + forget_bias);
      y[a + 2 * width] = Math.tanh(y[a + 2 * width]);
      y[a + 3 * width] = sigmoid(y[a + 3 * width]);
      c[next] = y[a + width] * c[now] + y[a] * y[a + 2 * width];
      kept[now] = Math.tanh(c[next]);
      h[next] = y[a + 3 * width] * kept[now];
    }
  },
  GRU({ width, rows, W, y, h, kept }, t) {
    addProduct(kept, t * width, W.subarray(2 * width * width), width, h, t * width, width);
    for (let i = 0; i < width; i++) {
      const a = t * rows + i, now = t * width + i;
      y[a] = sigmoid(y[a]);
      y[a + width] = sigmoid(y[a + width]);
      y[a + 2 * width] = Math.tanh(y[a + 2 * width] + y[a] * kept[now]);
      h[now + width] = (1 - y[a + width]) * y[a + 2 * width] + y[a + width] * h[now];
    }
  },
};

/**
 * Walks back from step T, `steps` steps far.
 *
 * @returns {{norms: Float64Array, parameters: () => number}} norms[d] is ‖∂L_T/∂h_{T-d}‖, 0 where
 *   the gradient was cut; parameters() is ‖∂L_T/∂(U, W, b)‖. What overflows is Infinity.
 */
export function backward(tape, T, steps = T) {
  const { network: { readOut }, width, rows, W, kind } = tape;
  const count = Math.min(steps, T);
  const norms = new Float64Array(T);
  const delta = new Float64Array(count * rows);
  const weighed = kind === "GRU" ? new Float64Array(count * rows) : delta; // what W sees
  const state = new Float64Array(2 * width); // ∂L/∂h_t, and beside it the LSTM's ∂L/∂c_t
  state.set(readOut);
  for (let d = 0; d < count; d++) {
    norms[d] = norm(state);
    BACK[kind](tape, T - 1 - d, state, delta, weighed, d * rows);
    addTransposed(state, W, rows, width, weighed, d * rows);
  }
  return { norms, parameters: () => parameterNorm(tape, T, count, delta, weighed) };
}

/** One step back: reads ∂L/∂h_t off `state`, leaves there what does not pass through W. */
const BACK = {
  RNN({ width, y, activation: [, slope] }, t, state, delta, _, at) {
    for (let i = 0; i < width; i++) {
      delta[at + i] = state[i] * slope(y[t * width + i]);
      state[i] = 0;
    }
  },
  LSTM({ width, rows, y, c, kept }, t, state, delta, _, at) {
    for (let i = 0; i < width; i++) {
      const a = t * rows + i, now = t * width + i;
      const [input, forget, new_, output] = [y[a], y[a + width], y[a + 2 * width], y[a + 3 * width]];
      const dh = state[i];
      const dc = state[width + i] + dh * output * (1 - kept[now] * kept[now]);
      delta[at + i] = dc * new_ * input * (1 - input);
      delta[at + width + i] = dc * c[now] * forget * (1 - forget);
      delta[at + 2 * width + i] = dc * input * (1 - new_ * new_);
      delta[at + 3 * width + i] = dh * kept[now] * output * (1 - output);
      state[i] = 0;
      state[width + i] = dc * forget;
    }
  },
  GRU({ width, rows, y, h, kept }, t, state, delta, weighed, at) {
    for (let i = 0; i < width; i++) {
      const a = t * rows + i, now = t * width + i;
      const [reset, update, new_] = [y[a], y[a + width], y[a + 2 * width]];
      const dh = state[i];
      const dn = dh * (1 - update) * (1 - new_ * new_);
      delta[at + i] = weighed[at + i] = dn * kept[now] * reset * (1 - reset);
      delta[at + width + i] = weighed[at + width + i] =
        dh * (h[now] - new_) * update * (1 - update);
      delta[at + 2 * width + i] = dn;
      weighed[at + 2 * width + i] = dn * reset;
      state[i] = dh * update;
    }
  },
};

function parameterNorm({ network, rows, scale, stateProducts }, T, count, delta, weighed) {
  const { time, inputProducts } = network;
  let fromInputs = 0, fromStates = 0; // the squares for U and b, and for W
  for (let d = 0; d < count; d++) {
    for (let e = d; e < count; e++) {
      const pair = (T - 1 - d) * time + T - 1 - e;
      const twice = d === e ? 1 : 2;
      const together = dot(delta, d * rows, e * rows, rows);
      fromInputs += twice * together * (inputProducts[pair] + 1);
      fromStates += twice * stateProducts[pair] *
        (weighed === delta ? together : dot(weighed, d * rows, e * rows, rows));
    }
  }
  const [inputs, states] = [fromInputs, fromStates].map((square) => Math.sqrt(Math.max(square, 0)));
  return finite(Math.hypot(inputs, scale * states));
}

/**
 * The gradient of one loss as it counts in an update.
 *
 * Clipping scales the gradient of all parameters, and so every step's share, by one factor.
 * Truncation drops the shares of the steps beyond it.
 */
export function flow(tape, T, { truncation, clip }) {
  const { norms, parameters } = backward(tape, T, truncation ?? T);
  const before = parameters();
  const factor = before <= clip || clip === null ? 1 : before < Infinity ? clip / before : NaN;
  return { norms: norms.map((x) => finite(x * factor)), before, factor };
}

/** Row by row, for the losses at T = 1, 2, …: values[(T-1)·time + d]; NaN before the first step. */
export function strip(tape, { truncation, clip }) {
  const { time } = tape.network;
  const values = new Float64Array(time * time).fill(NaN);
  for (let T = 1; T <= time; T++) {
    const row = clip === null ? backward(tape, T, truncation ?? T)
      : flow(tape, T, { truncation, clip });
    values.set(row.norms, (T - 1) * time);
  }
  return values;
}

/** NaN, which only an overflow brings about, is Infinity here. */
const finite = (x) => (x < Infinity ? x : Infinity);

function norm(vector) {
  const largest = largestOf(vector) || 1; // so that no small square becomes 0
  let sum = 0;
  for (const x of vector) sum += (x / largest) ** 2;
  return finite(largest * Math.sqrt(sum));
}

const largestOf = (vector) => vector.reduce((largest, x) => Math.max(largest, Math.abs(x)), 0);

function dot(vectors, a, b, length) {
  let sum = 0;
  for (let i = 0; i < length; i++) sum += vectors[a + i] * vectors[b + i];
  return sum;
}

/** All products v_s·v_t of the first `count` rows. */
function products(vectors, count, width) {
  const out = new Float64Array(count * count);
  for (let s = 0; s < count; s++) {
    for (let t = 0; t < count; t++) out[s * count + t] = dot(vectors, s * width, t * width, width);
  }
  return out;
}

function addProduct(out, at, matrix, rows, vector, from, width) {
  for (let i = 0; i < rows; i++) {
    let sum = 0;
    for (let j = 0; j < width; j++) sum += matrix[i * width + j] * vector[from + j];
    out[at + i] += sum;
  }
}

function addTransposed(out, matrix, rows, width, vector, from) {
  for (let i = 0; i < rows; i++) {
    const x = vector[from + i];
    if (x === 0) continue;
    for (let j = 0; j < width; j++) out[j] += matrix[i * width + j] * x;
  }
}
