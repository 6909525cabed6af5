// The mathematics of AttentionHeads, against what torch and NumPy computed.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { unpack } from "../widgets/shared/arrays.js";
import { columns as columnsOf, strips } from "../widgets/attention_heads/columns.js";
import { layout } from "../widgets/attention_heads/layout.js";
import { attention, chosen, cut, decode, entropy, links, mean, part, pool, product, rollout, row, scaled, scatter, total } from "../widgets/attention_heads/maths.js";
import { dimension, weight } from "../widgets/attention_heads/words.js";

const golden = JSON.parse(readFileSync(new URL("attention_heads.golden.json", import.meta.url)));
const parts = unpack(golden.arrays, golden.index);
const keys = parts.k.shape[2];

const near = (found, wanted, error = 2e-6) => {
  assert.equal(found.length, wanted.length);
  wanted.forEach((it, i) => assert.ok(Math.abs(found[i] - it) <= error * Math.max(1, Math.abs(it)), `${i}: ${found[i]}, not ${it}`));
};

for (const { at: [layer, head], how, p, entropy: bits, dot } of golden.cases) {
  test(`layer ${layer}, head ${head}, ${JSON.stringify(how)}: softmax((q·k·scale + bias) / T + mask)`, () => {
    near(attention(parts, layer, head, how), p);
    bits.forEach((it, i) => {
      const cells = row(parts, layer, head, i, how);
      near([entropy(cells.map((cell) => cell.p))], [it]);
      near(cells.map((cell) => cell.dot), dot.slice(i * keys, (i + 1) * keys));
      for (const cell of cells) {
        near([cell.p], [cell.sum ? cell.power / cell.sum : 0]);
        if (cell.mask === -Infinity) assert.equal(cell.p, 0);
        else near([cell.score], [(cell.dot * cell.scale + cell.bias) / how.temperature + cell.mask]);
        const [q, k, both] = product(cell);
        both.forEach((it, d) => assert.equal(it, q[d] * k[d]));
        near([both.reduce((sum, it) => sum + it)], [cell.dot]); // q ⊙ k sums to q · k
      }
    });
  });
}

{
  const { size: [layers, heads, count], ...lists } = golden.stack;
  const [p, means, rollouts, norms, moved] = ["p", "means", "rollouts", "norms", "moved"].map((name) => Float64Array.from(lists[name]));
  const all = p.slice(), one = (layer, head) => part(all, layer * heads + head, count * count);

  test("the mean of a layer's heads, and the rollout of the layers as a product of matrices", () => {
    for (let layer = 0; layer < layers; layer++) {
      near(mean(one, layer, heads), part(means, layer, count * count));
      near(rollout(one, layer, heads), part(rollouts, layer, count * count));
    }
    near(all, p); // which stays as it was
    const found = rollout(one, layers - 1, heads);
    for (let i = 0; i < count; i++) near([total(part(found, i, count))], [1]);
    const none = () => new Float32Array(4); // a query that attends to nothing keeps its own token
    near(rollout(none, 2, 1), [1, 0, 0, 1]);
  });

  test("weights times the norms of values are the norms of what each weight moves", () => {
    for (let at = 0; at < layers * heads; at++) {
      near(scaled(part(all, at, count * count), part(norms, at, count)), part(moved, at, count * count));
    }
  });
}

test("a query's and a key's lines, or every query's", () => {
  const p = Float64Array.of(0.9, 0.1, 0, 0.2, 0.3, 0.5);
  assert.deepEqual(links(p, 3, 0, -1, "8"), [[0, 0, 0.9], [0, 1, 0.1]]);
  assert.deepEqual(links(p, 3, -1, 1, "1"), [[1, 1, 0.3]]);
  assert.deepEqual(links(p, 3, 1, 0, "1"), [[1, 2, 0.5], [0, 0, 0.9]]);
  assert.deepEqual(links(p, 3, "all", -1, "1"), [[0, 0, 0.9], [1, 2, 0.5]]);
  assert.deepEqual(links(p, 3, -1, -1, "8"), []);
});

test("a dimension in words", () => {
  const cell = { q: Float32Array.of(2, -1), k: Float32Array.of(0.5, 3) };
  assert.equal(dimension({ cells: [cell], quotes: [[], ["“a” (0)"]] }, 0, 1), "“a” (0); dimension 1: q −1; k 3; product −3");
});

test("bytes are weights, small ones too", () => {
  const found = decode(Uint8Array.from(golden.codes.flat()));
  near(found, golden.weights.flat(), golden.error);
  assert.equal(found[7], 1);
  golden.weights.flat().forEach((p, i) => assert.equal(found[i] === 0, p === 0, "nothing is 0 but what is 0"));
});

test("the largest weights stand at their keys, the others are not known", () => {
  const found = scatter(Uint16Array.from(golden.keys.flat()), Uint8Array.from(golden.top.flat()), 2, 5);
  const whole = decode(Uint8Array.from(golden.codes.flat()));
  golden.keys.forEach((those, i) => {
    for (let j = 0; j < 5; j++) assert.equal(found[i * 5 + j], those.includes(j) ? whole[i * 5 + j] : NaN);
  });
  assert.deepEqual([...pool(found, 2, 5, 1, 1)], [Math.max(...whole)]);
  assert.equal(total(Float32Array.of(0.5, NaN, 0.25)), 0.75);
});

test("a smaller picture shows what is farthest from 0, as Python's thumbnails do", () => {
  assert.deepEqual([...pool(golden.codes.flat(), 2, 5, 2, 2)], golden.pooled.flat());
  assert.deepEqual([...pool([1, -3, 2, 0], 2, 2, 1, 1)], [-3]);
  assert.deepEqual([...pool([1, 2, 3, 4], 2, 2, 2, 2)], [1, 2, 3, 4]);
  for (const [size, smaller] of [[7, 3], [128, 20], [512, 32], [5, 4]]) {
    const diagonal = Float32Array.from({ length: size * size }, (_, i) => +(i % (size + 1) === 0));
    const found = pool(diagonal, size, size, smaller, smaller);
    for (let i = 0; i < smaller; i++) assert.equal(found[i * (smaller + 1)], 1, "a diagonal stays whole");
  }
});

test("some rows and columns", () => {
  assert.deepEqual([...cut([1, 2, 3, 4, 5, 6], 3, [1], [0, 2])], [4, 6]);
  const all = [1, 2, 3, 4];
  assert.equal(cut(all, 2, [0, 1], [0, 1]), all);
});

test("lines: so many, or as hold a share of the weight; never one of weight 0", () => {
  const weights = [0.1, 0, 0.5, 0.3, 0.1];
  const wanted = { 1: [2], 3: [2, 3, 0], 8: [2, 3, 0, 4], "50%": [2], "90%": [2, 3, 0], "100%": [2, 3, 0, 4] };
  for (const [lines, places] of Object.entries(wanted)) assert.deepEqual(chosen(weights, lines), places, lines);
  for (const lines of Object.keys(wanted)) assert.deepEqual(chosen([0, 0], lines), []);
  assert.deepEqual(chosen([0.1, -0.5, 0, 0.2], "3"), [1, 3, 0], "differences go by their size");
  assert.deepEqual(chosen([0.1, -0.5, 0, 0.2], "50%"), [1]);
  assert.deepEqual(chosen([0.4, NaN, 0.2], "50%"), [0, 2], "what is not known counts for the share");
});

test("bytes that do not sum to 1 are no other entropy", () => {
  for (const scale of [0.9, 1, 1.1]) near([entropy([0.5, 0.25, 0.25, 0].map((p) => scale * p))], [1.5]);
  assert.equal(entropy([0, 0]), 0);
  assert.deepEqual(part(Uint8Array.of(1, 2, 3, 4), 1, 2), Uint8Array.of(3, 4));
});

test("weights are written with the digits that a byte has", () => {
  const wanted = [[0, "0"], [1, "1.00"], [0.123, "0.12"], [0.0049, "0.005"], [0.0099, "0.010"], [0.05, "0.05"], [1e-5, "≈ 0"], [-1e-5, "≈ 0"], [-0.25, "−0.25"], [NaN, "not among the 8 largest"]];
  for (const [p, text] of wanted) assert.equal(weight(p), text);
});

test("everything has a place inside the width, one thing not over another", () => {
  for (const width of [300, 358, 539, 668, 819, 926]) {
    for (const [rows, columns] of [[1, 1], [24, 24], [128, 128], [3, 60], [60, 3], [2000, 1]]) {
      for (const [layers, heads] of [[1, 1], [2, 4], [12, 12], [24, 64]]) {
        for (const two of [false, true]) {
          const size = { many: layers * heads > 1, layers, heads, rows, columns, left: 92, top: 92, two, lines: 6 };
          const { overview, maps: [heat, second], fan, legend, sum, tokens, height } = layout(width, size);
          const what = JSON.stringify({ width, ...size });
          for (const it of [overview, heat, second].filter(Boolean)) {
            assert.ok(it.x >= 0 && it.x + it.width <= width + 1 && it.y + it.height <= height, what);
            assert.ok(it.width > 0 && it.height > 0, what);
          }
          assert.ok(fan.x + fan.width + 48 <= width && fan.width > 40 && fan.from + fan.high <= height, what);
          if (overview) {
            assert.ok(overview.side >= 1, what);
            assert.ok(overview.x + overview.width <= heat.x - heat.left || overview.y - 36 >= Math.max(legend.y + 28, fan.from + fan.high), what);
          }
          if (second) assert.ok(second.x >= heat.x + heat.width || second.y - 92 >= heat.y + heat.height, what);
          assert.ok(legend.y >= heat.y + heat.height && legend.x >= 0 && legend.x + 240 <= width, what);
          assert.ok(sum.width >= 176 && sum.width <= width && sum.y + sum.height <= height, what);
          const wide = width > (overview ? 639 : 819);
          const above = Math.max(wide ? 0 : Math.max(legend.y, fan.from + fan.high), overview ? overview.y + overview.height + 14 : 0);
          assert.ok(sum.y > above && (!wide || sum.width <= heat.x - heat.left), what);
          for (const it of tokens) assert.ok(it.x >= 0 && it.y >= 0 && it.width > 0 && it.height > 0, what);
          for (const lanes of [1, 2, heads]) {
            const flat = columnsOf(width, { ...size, lanes });
            assert.ok(flat.width > 40 && flat.x - flat.left >= 0 && flat.x + flat.width + flat.right <= width, what);
            assert.ok(flat.y + flat.high <= (width < 640 && overview ? flat.overview.y - 36 : flat.height), what);
            if (overview) assert.ok(flat.overview.y + flat.overview.height + 14 <= flat.height, what);
          }
          const found = strips(width, size);
          assert.ok(found.strips.filter(Boolean).every((it) => it.x >= found.x && it.x + it.width <= found.end && it.y + it.height <= found.height), what);
          assert.ok(found.strips[2].width > 20 && found.sum.y + found.sum.height <= found.height, what);
        }
      }
    }
  }
});
