// Draws, against those of Python (tests/widgets/golden_masking.py): the same numbers, to the last bit.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { draw, numbers, unitsOf } from "../widgets/masking/draws.js";
import { split } from "../widgets/masking/text.js";

const golden = JSON.parse(readFileSync(new URL("masking.golden.json", import.meta.url)));

test("the generator gives Python's numbers", () => {
  for (const { seed, epoch, numbers: wanted } of golden.streams) {
    const next = numbers(seed, epoch);
    assert.deepEqual(wanted.map(() => next()), wanted, `seed ${seed}, epoch ${epoch}`);
  }
});

test("a draw is Python's draw", () => {
  for (const { given, settings, epoch, actions, substitutes } of golden.cases) {
    assert.deepEqual(draw(given, settings, epoch), { actions, substitutes }, JSON.stringify(settings));
  }
});

test("a typed text is split as in Python", () => {
  assert.ok(golden.texts.length > 200);
  for (const { text, tokens } of golden.texts) assert.deepEqual(split(text), tokens, JSON.stringify(text));
  assert.deepEqual(split("[CLS] it's “new”, isn't it?"), ["[CLS]", "it's", "“", "new", "”", ",", "isn't", "it", "?"]);
});

const text = (n) => ({ words: [...Array(n).keys()], special: Array(n).fill(0), pool: 9 });
const rules = { kind: "token", rate: 0.15, masked: 0.8, random: 0.1, seed: 3 };

test("a larger rate only adds, and shares only change actions", () => {
  const few = draw(text(300), rules, 0).actions, many = draw(text(300), { ...rules, rate: 0.4 }, 0).actions;
  few.forEach((action, i) => assert.ok(!action || action === many[i]));
  const other = draw(text(300), { ...rules, masked: 0 }, 0).actions;
  assert.deepEqual(other.map(Boolean), few.map(Boolean));
});

test("a span has one action, and its budget is kept", () => {
  const { actions } = draw(text(400), { ...rules, kind: "span" }, 2);
  assert.equal(actions.filter(Boolean).length, 60);
});

test("pieces of a word go together, special tokens never", () => {
  assert.deepEqual(unitsOf([1, 2, 2, 3, 3], [1, 0, 0, 0, 1]), [[1, 3], [3, 4]]);
  const { actions } = draw({ words: [1, 2, 2, 3], special: [1, 0, 0, 0], pool: 1 }, { ...rules, kind: "word", rate: 1 }, 0);
  assert.equal(actions[0], 0);
  assert.ok(actions.slice(1).every(Boolean));
});
