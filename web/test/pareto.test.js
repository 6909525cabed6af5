// Pareto's front against a comparison of all pairs (tests/widgets/golden_pareto.py), and its scales.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { unpack } from "../widgets/shared/arrays.js";
import { dominates, front, measure, nice, prepare, scales, ticks } from "../widgets/pareto/maths.js";
import { amount, exact, score } from "../widgets/pareto/words.js";

const golden = JSON.parse(readFileSync(new URL("pareto.golden.json", import.meta.url)));
const data = prepare(unpack(golden.arrays, golden.index), { get: (name) => golden.model[name] });
const settings = { axis: "bytes", score: "a", families: data.families, groups: data.groups, pinned: null };

test("fronts of random points, with ties, are those of all pairs", () => {
  for (const { costs, scores, front: wanted } of golden.clouds) assert.deepEqual(front(costs, scores), wanted);
});

for (const { settings: some, shown, best } of golden.views) {
  test(`the front of what is shown: ${JSON.stringify(some)}`, () => {
    const found = measure(data, { ...settings, ...some });
    assert.deepEqual(found.shown.map((it) => it.i).sort((a, b) => a - b), shown);
    assert.deepEqual(found.best.map((it) => it.i), best);
    assert.deepEqual(found.shown.filter((it) => it.best).map((it) => it.i).sort(), [...best].sort());
  });
}

test("means and spreads are those of Python", () => {
  data.points.forEach(({ mean, spread, seeds }, i) => {
    const [a, b, c] = golden.means[i];
    assert.ok(Math.abs(mean - a) < 1e-6 && Math.abs(spread - b) < 1e-6 && seeds === c);
  });
});

test("what dominates the pinned point is on the front, and a point of the front has nobody", () => {
  for (const { i } of data.points) for (const axis of ["bytes", "time"]) {
    const { picked, better, shown } = measure(data, { ...settings, axis, score: i % 2 ? "b" : "a", pinned: i });
    assert.equal(better.length === 0, picked.best === true);
    assert.ok(better.every((it) => it.best && dominates(it, picked)));
    assert.equal(shown.some((it) => dominates(it, picked)), better.length > 0);
  }
});

test("filters: nobody is shown without a family; a hidden point is not picked", () => {
  const none = measure(data, { ...settings, families: [], pinned: 0 });
  assert.deepEqual([none.shown, none.best, none.picked], [[], [], undefined]);
  assert.ok(Object.values(scales(none)).every(Number.isFinite));
});

test("scales hold all bars, whatever their size", () => {
  for (const shown of [[[1, 1, 1, 0, 0]], [[1e-30, 1, 1e30, -5, 2]], [[3, 4, 5, 0.5, 0.1], [7, 8, 9, 0.9, 0]], [[1e6, 1e6, 1e6, 1e30, 0]]]) {
    const points = shown.map(([low, cost, high, mean, spread]) => ({ low, cost, high, mean, spread }));
    const { left, right, bottom, top, step } = scales({ shown: points, lines: [{ mean: -7 }] });
    for (const { low, high, mean, spread } of points) {
      assert.ok(left < Math.log10(low) && Math.log10(high) < right);
      const slack = 1e-12 * (1 + Math.abs(mean));
      assert.ok(bottom <= mean - spread + slack && mean + spread <= top + slack, JSON.stringify([bottom, top, mean, spread]));
    }
    assert.ok(top > bottom && bottom <= -7 + 1e-9 && step > 0 && left < right);
    for (const most of [5, 9]) {
      const found = ticks(left, right, most);
      assert.ok(found.length <= most && found.every((it) => Math.log10(it) >= left && Math.log10(it) <= right));
    }
  }
  assert.deepEqual(ticks(Math.log10(90e3), Math.log10(1.1e6), 5), [1e5, 2e5, 5e5, 1e6]);
  assert.deepEqual(ticks(Math.log10(5e3), Math.log10(5e6), 5), [1e4, 1e5, 1e6]);
  assert.deepEqual([0.07, 0.2, 3, 10].map(nice), [0.1, 0.2, 5, 10]);
});

test("numbers as a reader meets them", () => {
  assert.deepEqual([614744, 4245984, 999.6, 0.523, 12].map(amount), ["615 k", "4.25 M", "1 k", "0.523", "12"]);
  assert.deepEqual([614744, 1059458, 0.523].map(exact), ["614,744", "1,059,458", "0.523"]);
  assert.deepEqual([0.9324, -0.5, 87.25].map(score), ["0.932", "−0.500", "87.3"]);
});
