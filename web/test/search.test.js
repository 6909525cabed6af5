// How the search ranks: definitions first, slips forgiven.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Ranking, distance, stem } from "../book/rank.js";

const term = (name, text, short = "") => ({ name, short, text, section: "Chapter 01: It", url: `#${name}` });
const section = (page, title, text, code = "", lead = undefined) => ({ page, title, text, code, lead, url: `#${title}` });
const ENTRIES = [
  term("Attention", "Attention is a mean of values."),
  term("self-attention", "In self-attention, all are from one text."),
  term("position encoding", "A position encoding is added."),
  term("Backpropagation through time", "It is the chain rule.", "BPTT"),
  term("Truncated BPTT", "It is cut."),
  term("Pre-norm", "Pre-norm normalizes before."),
  term("Post-norm", "Post-norm normalizes after."),
  term("BERT", "BERT is an encoder."),
  section("Chapter 08: Attention", "", "It begins.", "", "What does an LSTM lack?"),
  section("Chapter 08: Attention", "A mean", "Attention and positional encodings, quadratic in the length."),
  section("Chapter 10: BERT", "Why 80/10/10?", "Of the masked tokens, 80 % are hidden."),
  section("Chapter 10: BERT", "Code", "", "masked = torch.where(mask, 103, ids)"),
].map((entry, id) => ({ id, ...entry }));
const ranking = new Ranking(ENTRIES);
const names = (query) => ranking.find(query).definitions.map((it) => it.name);
const titles = (query) => ranking.find(query).sections.map((it) => it.title);

test("a word's forms meet", () => {
  for (const [one, two] of [["positional", "position"], ["masking", "masked"], ["heads", "head"], ["08", "8"]]) {
    assert.equal(stem(one), stem(two));
  }
  for (const word of ["loss", "bias", "string", "softmax", "corpus"]) assert.equal(stem(word), word);
});

test("the definition that a query names is first, whatever its form", () => {
  assert.deepEqual(names("attention"), ["Attention", "self-attention"]);
  assert.equal(names("Self attention")[0], "self-attention");
  assert.equal(names("selfattention")[0], "self-attention");
  assert.equal(names("positional encodings")[0], "position encoding");
  assert.equal(names("what is a position encoding")[0], "position encoding");
  assert.equal(names("atten")[0], "Attention"); // while it is typed
});

test("short forms are names", () => {
  assert.deepEqual(names("bptt"), ["Backpropagation through time", "Truncated BPTT"]);
  assert.deepEqual(names("truncated backprop"), ["Truncated BPTT"]);
});

test("a query of several terms finds each, and one with more words is no term's", () => {
  assert.deepEqual(names("pre-norm vs post-norm").sort(), ["Post-norm", "Pre-norm"]);
  assert.deepEqual(names("bert masking 80 10 10"), []);
  assert.equal(titles("bert masking 80 10 10")[0], "Why 80/10/10?");
});

test("a term's section may have the other words of a query", () => {
  assert.deepEqual(names("chapter 1 attention"), ["Attention"]);
  assert.deepEqual(names("chapter 10 attention"), []);
});

test("a slip is forgiven, and named", () => {
  for (const slip of ["attenton", "attentoin", "atention"]) {
    const { instead, definitions } = ranking.find(slip);
    assert.deepEqual([instead, definitions[0].name], ["attention", "Attention"]);
  }
  assert.equal(ranking.find("attention").instead, "");
  assert.equal(ranking.find("quadratic kxmplexity").instead, "quadratic"); // a word that is nowhere
  assert.deepEqual(ranking.find("zzzzzz"), { definitions: [], sections: [], instead: "" });
});

test("sections: the title first, then a page's question, text, and code", () => {
  assert.equal(titles("lstm")[0], "");
  assert.equal(titles("chapter 8")[0], "");
  assert.equal(titles("a mean")[0], "A mean");
  assert.deepEqual(titles("torch.where"), ["Code"]);
});

test("the distance of two words counts a swap as one slip", () => {
  assert.deepEqual([distance("abc", "abc"), distance("abc", "acb"), distance("", "ab"), distance("abcd", "acd")], [0, 1, 2, 1]);
});
