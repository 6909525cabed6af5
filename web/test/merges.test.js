import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { bpe, greedy, joined, longest, unigram } from "../widgets/merges/models.js";
import { reader } from "../widgets/merges/text.js";
import { candidates, early, replay } from "../widgets/merges/training.js";

const golden = JSON.parse(readFileSync(new URL("merges.golden.json", import.meta.url)));
const MODELS = { bpe, wordpiece: longest, unigram };
const close = (a, b) => assert.ok(Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(b)), `${a} is not ${b}`);

for (const [i, { facts, texts, words, training }] of golden.entries()) {
  const name = `${facts.kind} ${i}`;
  const cut = MODELS[facts.kind](facts);

  test(`${name} cuts texts as Python does`, () => {
    const read = reader(facts);
    for (const [text, wanted] of Object.entries(texts)) {
      const found = read(text).flatMap(({ chars }) => cut(chars).tokens.map(({ piece, id }) => [piece, id ?? null]));
      assert.deepEqual(found, wanted, JSON.stringify(text));
    }
  });

  test(`${name}: each character knows where it came from`, () => {
    for (const text of Object.keys(texts)) {
      for (const { chars, at } of reader(facts)(text)) {
        assert.equal(chars.length, at.length);
        assert.ok(at.every((it, i) => it >= 0 && it < text.length && (!i || it >= at[i - 1])), JSON.stringify(text));
      }
    }
  });

  test(`${name} takes the same steps`, () => {
    for (const [word, wanted] of Object.entries(words)) {
      const { steps, best } = cut([...word]);
      if (facts.kind === "bpe") {
        assert.deepEqual(steps.map(({ rank, place, symbols }) =>
          [rank ?? null, place ?? null, symbols.map(({ start, end }) => [start, end])]), wanted);
      } else if (facts.kind === "wordpiece") {
        assert.deepEqual(steps.map(({ piece, start, end, found }) => [piece, start, end, found]), wanted);
      } else {
        best.forEach(({ score }, i) => close(score, wanted[i][0]));
        assert.equal(best.length, wanted.length);
      }
    }
  });

  if (!training.length) continue;
  test(`${name}: the training again`, () => {
    const { states, values } = replay(facts);
    const count = facts.training.counts.reduce((a, b) => a + b);
    training.forEach(({ tokens, pairs, scores, next: [pair, times, score, tied] }, k) => {
      close(values[k], tokens / count);
      const found = candidates(states[k], facts.training);
      assert.equal(found.length, pairs);
      close(found.reduce((sum, it) => sum + it.score, 0), scores);
      const merged = found.find((it) => it.pair.join("\0") === pair.join("\0"));
      assert.equal(merged.count, times);
      close(merged.score, score);
      close(found[0].score, score);
      assert.equal(found.filter((it) => Math.abs(it.score - score) <= 1e-9 * score).length - 1, tied);
    });
    assert.equal(states.length, training.length + 1);
  });

  test(`${name}: all steps make the whole tokenizer, none the first tokens`, () => {
    const { steps, first } = facts.training;
    assert.deepEqual(early(facts, steps.length).tokens, facts.tokens);
    assert.equal(early(facts, 0).tokens.length, first);
    if (facts.merges) assert.deepEqual(early(facts, steps.length).merges.map((it) => it.slice(0, 2)), facts.merges);
  });
}

test("what comes after a character and its marks keeps its place", () => {
  const { facts } = golden.find((it) => it.facts.kind === "wordpiece");
  const [{ chars, at }, next] = reader(facts)("é\u0323z 中");
  assert.deepEqual([chars, at, next.at], [["e", "z"], [0, 2], [4]]);
});

test("a unigram's last round is its model", () => {
  const { facts } = golden.find((it) => it.facts.kind === "unigram");
  const last = early(facts, facts.training.rounds.length - 1);
  assert.deepEqual(last.tokens, facts.tokens);
  last.scores.forEach((score, i) => close(score, facts.scores[i]));
});

test("BPE is not longest match first", () => {
  const merges = [["b", "c"], ["a", "b"], ["ab", "c"]];
  const facts = { tokens: [..."abc", "ab", "bc", "abc"], merges, prefix: "", suffix: "", unknown: null };
  const pieces = (cut) => cut([..."abc"]).tokens.map(({ piece }) => piece);
  assert.deepEqual(pieces(bpe(facts)), ["a", "bc"]);
  assert.deepEqual(pieces(greedy(facts)), ["abc"]);
});

test("BPE's pieces, longest first: of what is unknown a character is lost, and special tokens are text", () => {
  const facts = { tokens: ["<unk>", ..."abc<>unk", "ab"], merges: [["a", "b"]], prefix: "", suffix: "", unknown: 0 };
  for (const text of ["xabx", "c😀", "<unk>c"]) {
    assert.deepEqual(greedy(facts)([...text]).tokens, bpe(facts)([...text]).tokens, text);
  }
  assert.deepEqual(greedy({ ...facts, unknown: null })([..."xab"]).tokens.map(({ piece, id }) => [piece, id]), [["x", undefined], ["ab", 9]]);
});

test("a character without a token has no id, and meets no merge", () => {
  const facts = { tokens: ["a", "b", "ab", "aa"], merges: [["a", "b"], ["a", "a"]], prefix: "", suffix: "", unknown: null };
  assert.deepEqual(bpe(facts)([..."axab"]).tokens.map(({ piece, id }) => [piece, id]),
    [["a", 0], ["x", undefined], ["ab", 2]]);
  assert.equal(unigram({ ...facts, scores: [-1, -1, -1, -1] })([..."ax"]).tokens[0].id, undefined);
});

test("a continuing piece loses its prefix where it is joined", () => {
  assert.equal(joined(["##e", "##s"], "##"), "##es");
  assert.equal(joined(["e", "s"], ""), "es");
});
