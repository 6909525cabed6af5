// The widget's mathematics against torch (tests/widgets/golden.py), and at the ends of float64.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { backward, flow, forward, KINDS, prepare, strip } from "../widgets/gradient_flow/maths.js";
import { unpack } from "../widgets/shared/arrays.js";

const golden = JSON.parse(readFileSync(new URL("gradient_flow.golden.json", import.meta.url)));
const networks = golden.networks.map(({ arrays, index }) => prepare(unpack(arrays, index)));
const free = { spectral_radius: 1, activation: "tanh", forget_bias: 1, truncation: null, clip: null };

function near(found, wanted, what) {
  const error = wanted === 0 ? Math.abs(found) : Math.abs(found / wanted - 1);
  assert.ok(error <= 1e-6, `${what}: ${found} instead of ${wanted}`);
}

for (const { network, kind, settings, T, norms, before, factor } of golden.cases) {
  const name = `${kind} of network ${network} at T = ${T}, ${JSON.stringify(settings)}`;
  test(`as torch: ${name}`, () => {
    const tape = forward(networks[network], kind, settings);
    const found = flow(tape, T, settings);
    near(found.whole, before, "‖G‖");
    near(found.factor, factor, "factor");
    assert.equal(found.norms.length, norms.length);
    norms.forEach((wanted, d) => near(found.norms[d], wanted, `${d} steps back`));
    const { time } = networks[network];
    const row = strip(tape, settings).subarray((T - 1) * time, T * time);
    assert.deepEqual([...row.subarray(0, T)], [...found.norms]);
    assert.ok(row.subarray(T).every(Number.isNaN), "no step before the first");
  });
}

test("clipping scales every step alike, truncation does not", () => {
  for (const kind of KINDS) {
    const tape = forward(networks[0], kind, free);
    const whole = flow(tape, 9, free);
    const clipped = flow(tape, 9, { ...free, clip: whole.whole / 3 });
    clipped.norms.forEach((norm, d) => near(norm, whole.norms[d] / 3, kind));
    const cut = flow(tape, 9, { ...free, truncation: 4 });
    assert.deepEqual([...cut.norms], [...whole.norms.slice(0, 4), 0, 0, 0, 0, 0]);
    assert.ok(cut.whole < whole.whole);
  }
});

/** A network of one unit, linear: ∂L_T/∂h_{T-d} = ρ^d. */
function line(time) {
  const one = { shape: [1, 1], data: Float32Array.of(1) };
  const arrays = {
    inputs: { shape: [time, 1], data: new Float32Array(time).fill(1) },
    read_out: { shape: [1], data: Float32Array.of(1) },
  };
  for (const [kind, gates] of [["RNN", 1], ["LSTM", 4], ["GRU", 3]]) {
    const stacked = { shape: [gates, 1], data: new Float32Array(gates).fill(1) };
    Object.assign(arrays, { [`U_${kind}`]: stacked, [`W_${kind}`]: kind === "RNN" ? one : stacked });
  }
  return prepare(arrays);
}

test("what overflows is Infinity, and no clipping hides it", () => {
  const steps = 800; // 3^799 is beyond float64
  const tape = forward(line(steps), "RNN", { ...free, activation: "linear", spectral_radius: 3 });
  const { norms, parameters } = backward(tape, steps);
  assert.equal(norms[steps - 1], Infinity);
  near(norms[100] / 3 ** 100, 1, "what did not overflow");
  assert.equal(parameters(), Infinity);
  const clipped = flow(tape, steps, { ...free, clip: 1 });
  assert.ok(clipped.norms.every((norm) => norm === Infinity));
  assert.ok(Number.isNaN(clipped.factor));
  const early = backward(tape, 100); // before anything is too large
  assert.ok(early.parameters() > 3 ** 99 && early.parameters() < Infinity);
});

test("what is tiny is not 0, and what is 0 is", () => {
  const tape = forward(line(200), "RNN", { ...free, activation: "linear", spectral_radius: 0.1 });
  near(backward(tape, 200).norms[199] / 1e-199, 1, "0.1^199");
  const dead = line(3);
  for (const drive of dead.cells.RNN.drive) drive.fill(-1);
  const { norms, parameters } = backward(forward(dead, "RNN", { ...free, activation: "relu" }), 3);
  assert.deepEqual([...norms], [1, 0, 0]);
  assert.equal(parameters(), 0);
});
