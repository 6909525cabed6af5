// Masks and softmax against our models and torch (tests/widgets/golden_masking.py).

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { unpack } from "../widgets/shared/arrays.js";
import { bit, hider, hiders, lanesOf, MASKS, weigh } from "../widgets/visibility/masks.js";
import { treeOf } from "../widgets/visibility/tree.js";

const golden = JSON.parse(readFileSync(new URL("visibility.golden.json", import.meta.url)));
const { tree, given, ...rest } = unpack(golden.arrays, golden.index);
const n = golden.tokens.length;
const data = { n, tree: bit(tree), given: bit(given), ...Object.fromEntries(Object.entries(rest).map(([name, it]) => [name, [...it.data]])) };

for (const { masks, added, after, weights, seen } of golden.cases) {
  test(`as torch: ${masks.join(" and ") || "none"}, ${added}${after ? ", after the softmax" : ""}`, () => {
    const codes = hiders(data, masks);
    assert.deepEqual([...codes].map((code) => Number(!code)), seen.flat());
    for (let i = 0; i < n; i++) {
      const row = [i * n, i * n + n];
      const found = weigh(data.scores.slice(...row), [...codes.subarray(...row)], { added, after });
      weights[i].forEach((wanted, j) => {
        if (wanted === null) assert.ok(Number.isNaN(found.weights[j]), `${i}, ${j}`);
        else assert.ok(Math.abs(found.weights[j] - wanted) < 1e-6, `${i}, ${j}: ${found.weights[j]} for ${wanted}`);
      });
    }
  });
}

test("the first mask that hides is named", () => {
  const codes = hiders(data, ["padding", "causal"]);
  assert.equal(hider(codes[n - 1]), "causal"); // the first row, the last key: both hide it
  assert.equal(hider(codes[n * n - 1]), "padding");
  assert.deepEqual(Object.keys(MASKS).length, 6);
});

test("no branch lies on another, or on the line to one", () => {
  const { lanes, count, last } = lanesOf(data.soft, data.branch);
  assert.deepEqual([lanes, count, last], [[0, 3, 1, 2], 4, 7]);
  // The second branch hangs two places behind the first one's end: they share a lane.
  assert.deepEqual(lanesOf([0, 1, 2, 3, 4, 1, 2, 5, 6], [0, 0, 0, 0, 0, 1, 1, 2, 2]).lanes, [0, 1, 1]);
  assert.deepEqual(lanesOf([0, 1, 2, 3, 4, 1, 2, 3, 5], [0, 0, 0, 0, 0, 1, 1, 1, 2]).lanes, [0, 1, 1]);
  assert.deepEqual(lanesOf([0, 1, 2, 3, 4, 1, 2, 3, 4, 5], [0, 0, 0, 0, 0, 1, 1, 1, 1, 2]).lanes, [0, 2, 1]);
});

test("a line of text is the tree that our K-BERT reads", () => {
  assert.ok(golden.trees.length > 100);
  for (const { text, visible, ...wanted } of golden.trees) {
    const { n, tokens, soft, branch, anchor, real, tree, wrong } = treeOf(text);
    assert.equal(wrong, undefined, text);
    assert.deepEqual({ tokens, soft, branch, anchor }, wanted, text);
    assert.deepEqual(visible, tokens.map((_, i) => tokens.map((_, j) => Number(tree(i, j))).join("")), text);
    assert.deepEqual(real, tokens.map((it) => !/^(\[PAD]|<pad>)$/.test(it)));
    assert.equal(n, tokens.length);
  }
});

test("a mistake in a line has Python's words", () => {
  const kinds = new Set();
  for (const { text, wrong } of golden.mistakes) {
    assert.equal(treeOf(text).wrong ?? "", wrong, JSON.stringify(text));
    kinds.add(wrong.replace(/“.*?”|\d+/g, ""));
  }
  assert.equal(kinds.size, 6, [...kinds].join("\n")); // five, and none
});
