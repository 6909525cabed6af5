// Anatomy's arithmetic against torch (tests/widgets/golden_anatomy.py): every number that is shown.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { compute, entry, view } from "../widgets/anatomy/maths.js";
import { unpack } from "../widgets/shared/arrays.js";

const golden = JSON.parse(readFileSync(new URL("anatomy.golden.json", import.meta.url)));
const arrays = unpack(golden.arrays, golden.index);
const seen = {};

golden.blocks.forEach((blocks, model) => {
  const values = arrays[`numbers ${model}`].data;
  for (const [name, repetitions] of blocks) {
    test(`as torch: model ${model}, ${name}`, () => {
      for (const numbers of repetitions) {
        const y = view(values, numbers.y), [heads, rows, columns] = y.shape;
        for (let head = 0; head < heads; head++) {
          for (let row = 0; row < rows; row++) {
            for (let column = 0; column < columns; column++) {
              const found = compute(values, numbers, head, row, column);
              if (!found) continue;
              seen[found.op] = (seen[found.op] ?? 0) + 1;
              const wanted = entry(y, head, row, column);
              assert.ok(Math.abs(found.result - wanted) <= 1e-5 * (1 + Math.abs(wanted)),
                `${found.op} at ${[head, row, column]}: ${found.result} instead of ${wanted}`);
            }
          }
        }
      }
    });
  }
});

test("all kinds of arithmetic were met", () => {
  const known = ["add", "gelu", "linear", "matmul", "mul", "norm", "relu", "sigmoid", "softmax", "sub", "tanh"];
  assert.deepEqual(Object.keys(seen).sort(), known);
});

test("a masked score has no weight, and no arithmetic of its own", () => {
  const [, numbers] = golden.blocks[2].find(([name]) => name.startsWith("mask "));
  const values = arrays["numbers 2"].data, y = view(values, numbers[0].y);
  assert.equal(entry(y, 0, 0, 2) < -1e29, true);
  assert.equal(compute(values, numbers[0], 0, 0, 2), undefined);
  const [, [softmax]] = golden.blocks[2].filter(([name]) => name.startsWith("softmax ")).find(([, [it]]) => entry(view(values, it.y), 0, 0, 2) === 0);
  assert.equal(compute(values, softmax, 0, 0, 2).result, 0);
});
