// Temperature's mathematics against torch (tests/widgets/golden_temperature.py), and at its ends.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { unpack } from "../widgets/shared/arrays.js";
import { ceiling, chosen, farPull, logSoftmax, measure, norm, prepare, pull, softmax, TEMPERATURES }
  from "../widgets/temperature/maths.js";

const golden = JSON.parse(readFileSync(new URL("temperature.golden.json", import.meta.url)));
const model = { get: (name) => ({ classes: [..."abcdef"], examples: [] })[name] };
const held = prepare(unpack(golden.arrays, golden.index), model);

function near(found, wanted, what, relative = 1e-7, absolute = 1e-12) {
  const error = Math.abs(found - wanted);
  assert.ok(error <= relative * Math.abs(wanted) + absolute, `${what}: ${found} instead of ${wanted}`);
}

const given = { labels: held.best, examples: [], pinned: null };

for (const { settings, label, t, s, entropies, loss, gradient, length, path } of golden.cases) {
  test(`as torch: ${JSON.stringify(settings)}`, () => {
    const found = measure(held, { ...given, ...settings });
    assert.equal(found.label, label);
    const rows = [...found.rows].sort((a, b) => a.index - b.index);
    assert.equal(rows.length, 6);
    rows.forEach((row, i) => {
      near(row.t, t[i], "t");
      near(row.s, s[i], "s");
      near(row.g, gradient[i], "gradient");
    });
    const facts = found.facts.map(([, value]) => value);
    entropies.forEach((wanted, i) => near(facts[i], wanted, "entropy"));
    near(facts[5], loss, "loss", 1e-7, 1e-15 * settings.temperature ** 2 + 1e-14); // what T² makes of rounding
    near(found.size, length, "length");
    path.forEach((wanted, i) => near(found.paths[settings.scaled ? 0 : 1][i], wanted, `KL after ${i} steps`));
  });
}

const Z = (...numbers) => Float64Array.from(numbers);

test("the gradient comes to its limit as T grows, and T² keeps it level", () => {
  const [teacher, z] = [Z(6, 4, 3, -1), Z(1, 2, -1, 0)];
  const limit = farPull(teacher, z);
  near(limit.reduce((a, b) => a + b), 0, "sum");
  const away = (T) => Math.abs((norm(pull(softmax(teacher, T), z, T)) * T * T) / norm(limit) - 1);
  assert.ok(away(1000) < 0.003 && away(100) < 0.03 && away(1) > 0.1, `${away(1000)}, ${away(100)}`);
  pull(softmax(teacher, 1e5), z, 1e5).forEach((it, i) => near(it * 1e10, limit[i], "limit", 1e-4));
});

test("extreme logits give numbers", () => {
  for (const [teacher, z] of [[Z(1e30, -1e30, 0), Z(-1e30, 1e30, 0)], [Z(3e38, -3e38, 3e38), Z(0, 0, 0)],
    [Z(0, 0, 0), Z(0, 0, 0)], [Z(5), Z(-2)], [Z(1e-30, 0), Z(-1e-30, 1e-38)]]) {
    const one = { count: 1, n: z.length, teachers: [teacher], students: [z], classes: [..."abc"], best: [0], names: [] };
    for (const temperature of [0.1, 1, 1000]) for (const scaled of [true, false]) for (const alpha of [0, 0.5, 1]) {
      const found = measure(one, { ...given, labels: [0], example: 0, temperature, scaled, alpha,
        learning_rate: 20, moves: [[0, 0, 20]], step: 50 });
      const all = [found.rows.map(({ t, s, g, first }) => [t, s, g, first]), found.facts.map((it) => it[1]),
        found.paths, found.sizes, found.far, found.most, found.whole, found.highest].flat(3);
      assert.ok(all.every(Number.isFinite), JSON.stringify(all));
      assert.ok(found.most > 0 && found.highest > 0);
    }
  }
  assert.deepEqual([...softmax(Z(1e30, 1e30, -1e30), 0.1)], [0.5, 0.5, 0]);
  assert.deepEqual([...logSoftmax(Z(7), 3)], [0]);
});

test("of many classes the teacher's best have a row, and the label, the picked one, the student's best", () => {
  const teacher = Float64Array.from({ length: 1000 }, (_, i) => -i), student = teacher.map((it) => -it);
  assert.deepEqual(chosen(teacher, student, 500, 700), [0, 1, 2, 3, 4, 5, 6, 500, 700, 999]);
  assert.deepEqual(chosen(teacher, student, 0, 0), [0, 1, 2, 3, 4, 5, 6, 997, 998, 999]);
  assert.equal(chosen(teacher.slice(0, 11), student.slice(0, 11), 0, 0).length, 11);
  const many = { count: 1, n: 1000, teachers: [teacher], students: [student], classes: Array(1000).fill("x"), best: [0], names: [] };
  const { rows } = measure(many, { ...given, labels: [3], example: 0, temperature: 100, scaled: true, alpha: 0.5,
    learning_rate: 1, moves: [], step: 0 });
  assert.equal(rows.at(-1).name, "the other 990");
  for (const [key, whole] of [["t", 1], ["s", 1], ["t1", 1], ["s1", 1], ["g", 0], ["first", 0]]) {
    near(rows.reduce((sum, row) => sum + row[key], 0), whole, key, 1e-9);
  }
});

test("axes end at 1, 2 or 5, and temperatures are ten a decade", () => {
  const wanted = [[[0, 0], 1], [[0.3, -0.6], 1], [[0.11], 0.2], [[-3], 5], [[1e30], 1e30], [[0.5], 0.5]];
  for (const [numbers, end] of wanted) near(ceiling(numbers), end, String(numbers));
  assert.equal(TEMPERATURES.length, 41);
  assert.deepEqual([0, 10, 13, 40].map((i) => TEMPERATURES[i]), [0.1, 1, 2, 1000]);
});
