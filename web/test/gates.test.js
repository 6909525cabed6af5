// What Gates computes against torch and NumPy (tests/widgets/golden_gates.py).

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { prepare, reading } from "../widgets/gates/maths.js";
import { fixed, named, percent } from "../widgets/gates/words.js";
import { unpack } from "../widgets/shared/arrays.js";

const golden = JSON.parse(readFileSync(new URL("gates.golden.json", import.meta.url)));

const near = (found, wanted, what) =>
  assert.ok(Math.abs(found - wanted) <= 2e-6 * (1 + Math.abs(wanted)), `${what}: ${found} instead of ${wanted}`);

for (const { arrays, index, wanted, ...model } of golden.cases) {
  const data = prepare(unpack(arrays, index), { get: (name) => model[name] });
  for (const { direction, pin, orders, left, was, kept, now, follows, low, high } of wanted) {
    const run = reading(data, direction);
    const name = `${model.kind}, ${direction}, ${pin === null ? "no pin" : `pin ${pin}`}`;

    test(`orders of the units: ${name}`, () => {
      for (const [sort, order] of Object.entries(orders)) assert.deepEqual(run.order({ sort, pin }), order, sort);
    });

    test(`what is left, and what one step does: ${name}`, () => {
      for (let unit = 0; unit < data.units; unit++) {
        const shares = run.kept(unit, pin ?? (run.by > 0 ? 0 : data.time - 1));
        for (let t = 0; t < data.time; t++) {
          if (left[t] === null) assert.equal(shares[t], null);
          else near(shares[t], left[t][unit], `left at ${t}`);
          const it = run.update(t, unit);
          near(it.was, was[t][unit], "was");
          near(it.f * it.was, kept[t][unit], "kept");
          near(it.f * it.was + it.i * it.g, now[t][unit], "now");
          assert.equal(it.clipped, false);
          const [a, b, c] = it.sum.map(fixed).map((x) => Number(x.replace("−", "-")) * 1000);
          assert.equal(Math.round(a) + Math.round(b), Math.round(c), "the decimals add up");
          assert.ok(Math.abs(it.sum[1] - it.i * it.g) <= 0.00151, "what is written is near its own value");
        }
      }
    });

    test(`saturation, and what follows a series: ${name}`, () => {
      for (let unit = 0; unit < data.units; unit++) {
        near(run.follows(unit, 0), follows[unit], "correlation");
        for (const gate of data.gates) {
          near(run.saturation(gate, unit)[0], low[gate][unit], `${gate} below 0.1`);
          near(run.saturation(gate, unit)[1], high[gate][unit], `${gate} above 0.9`);
        }
      }
    });
  }
  test(`without a pin nothing is measured: ${model.kind}`, () =>
    assert.deepEqual(reading(data, "forward").kept(0, null), Array(data.time).fill(null)));
}

/** One unit of an LSTM that reads one token: f, i, o, g, c, h; where its cell ends, and where it is clipped. */
const one = (numbers, ends) => reading(prepare({
  forward: { shape: [6, 1, 1], data: Float32Array.from(numbers) },
  "forward before": { shape: [1], data: Float32Array.of(2.75) },
  "forward ends": { shape: [2], data: Float32Array.from(ends) },
}, { get: (name) => ({ kind: "LSTM", tokens: ["a"], series: [], orders: [] })[name] }), "forward").update(0, 0);

test("a clipped cell says so, and its decimals add up to what was clipped", () => {
  const { clipped, stored, sum, now } = one([1, 1, 1, 1, 3, Math.tanh(3)], [3, 3]);
  assert.deepEqual([clipped, stored, sum, now], [true, true, [2.75, 1, 3.75], 3]);
});

test("what a rounded state has lost is not among what is written", () => {
  const { clipped, stored, sum, now } = one([1, 0.5, 1, -0.5, 2.515625, Math.tanh(2.515625)], [3, 0]);
  assert.deepEqual([Boolean(clipped), stored, sum, now], [false, true, [2.75, -0.25, 2.5], 2.515625]);
  const near = one([1, 0.5, 1, -0.5, 2.5004, Math.tanh(2.5004)], [3, 0]); // no reader sees that
  assert.deepEqual([near.stored, near.sum], [false, [2.75, -0.25, 2.5]]);
});

test("numbers and names as a reader meets them", () => {
  assert.deepEqual([-0.0004, 0.5, -1.23456, 1234.5].map(fixed), ["0.000", "0.500", "−1.235", "1.2·10³"]);
  assert.deepEqual([1, 0.0488, 3.1e-8].map(percent), ["100%", "4.88%", "3.1·10⁻⁶%"]);
  assert.equal(named("in a \u200b quotation"), "in a ⟨200B⟩ quotation");
});
