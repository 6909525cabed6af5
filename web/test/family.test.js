// Family's lineages against networkx (tests/widgets/golden_family.py), and its axes at their ends.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { unpack } from "../widgets/shared/arrays.js";
import { lanes, overtaken, prepare, reached, shownModels, shownResults, ticks } from "../widgets/family/maths.js";
import { about, dated, known, lineage, listed, rough, scored } from "../widgets/family/words.js";

const golden = JSON.parse(readFileSync(new URL("family.golden.json", import.meta.url)));
const held = (it) => prepare(unpack(it.arrays, it.index), { get: (name) => it[name] });
const course = held(golden.course);
const named = (name) => course.models[course.ids.get(name)];
const sorted = (all) => [...all].sort((a, b) => a - b);

for (const [name, it] of [["the course's models", golden.course], ...golden.drawn.map((it, i) => [`drawn family ${i}`, it])]) {
  test(`ancestors and descendants of ${name}`, () => {
    const { models } = held(it);
    models.forEach(({ at }) => {
      assert.deepEqual(sorted(reached(models, at, "parents")), it.ancestors[at]);
      assert.deepEqual(sorted(reached(models, at, "born")), it.descendants[at]);
    });
  });
}

test("of nothing, nothing is reached", () => {
  assert.deepEqual(reached(course.models, undefined, "parents"), []);
  assert.match(lineage(course, undefined), /No model/);
});

test("models outside the course are shown if asked for, or selected", () => {
  const now = { every: false, since: 2010, selected: "" };
  const some = shownModels(course, now).map((it) => it.name);
  assert.ok(some.includes("BERT") && !some.includes("GPT-3"));
  const more = shownModels(course, { ...now, selected: "XLM" }).map((it) => it.name);
  assert.deepEqual(more.filter((it) => !some.includes(it)), ["XLM"]);
  assert.equal(shownModels(course, { ...now, every: true }).length, course.models.length);
  const late = shownModels(course, { ...now, every: true, since: 2020 });
  assert.ok(late.length > 3 && late.every((it) => it.when >= 12 * 2020));
  const whens = shownModels(course, { ...now, every: true }).map((it) => it.when);
  assert.deepEqual(whens, sorted(whens));
});

test("without any chapter, all models are shown", () => {
  const drawn = held({ ...golden.drawn[0], models: golden.drawn[0].models.map((it) => ({ ...it, chapter: "" })) });
  assert.equal(shownModels(drawn, { every: false, since: 2010, selected: "" }).length, 12);
});

test("results are those of the benchmark, the set and the years", () => {
  const now = { benchmark: "SQuAD 2.0", split: "test", since: 2019 };
  const { people, list } = shownResults(course, now);
  assert.deepEqual(people.map((it) => it.value), [89.5]);
  assert.ok(list.length > 4 && list.every((it) => it.split === "test" && it.benchmark === "SQuAD 2.0" && it.when >= 12 * 2019));
  assert.ok(shownResults(course, { ...now, split: "all" }).list.some((it) => it.split === "dev"));
});

for (const [benchmark, [date, value]] of Object.entries(golden.course.firsts)) {
  test(`the first test result above human performance on ${benchmark}`, () => {
    const first = overtaken(shownResults(course, { benchmark, split: "all", since: 2010 }));
    assert.equal(first.value, value);
    const [year, month] = date.split("-").map(Number);
    assert.equal(first.when, 12 * year + month - 1);
  });
}

test("without a line, nothing is above it", () => {
  assert.equal(overtaken({ people: [], list: [{ split: "test", value: 99 }] }), undefined);
  assert.equal(overtaken({ people: [{ value: 90 }], list: [{ split: "dev", value: 99 }] }), undefined);
});

test("what meets is in different lanes, the first that is free", () => {
  assert.deepEqual(lanes([[0, 10], [5, 15], [11, 20], [16, 30], [0, 3]]), [0, 1, 0, 1, 1]);
  assert.deepEqual(lanes([]), []);
  const inRow = [[0, 10], [20, 30], [40, 50]];
  assert.deepEqual(lanes(inRow), [0, 0, 0]);
  assert.deepEqual(lanes(inRow, [[], [0], [0]]), [0, 0, 1]); // from 0 to 2, the edge would cross 1
  assert.deepEqual(lanes(inRow, [[], [0], [1]]), [0, 0, 0]);
  assert.deepEqual(lanes(inRow, [[], [-1], [-1]]), [0, 0, 0]); // a parent that is not shown
});

test("ticks are round, inside, and not many", () => {
  assert.deepEqual(ticks(61, 94), [70, 80, 90]);
  assert.deepEqual(ticks(85.5, 91), [86, 87, 88, 89, 90, 91]);
  assert.deepEqual(ticks(0, 100), [0, 20, 40, 60, 80, 100]);
});

test("dates, sizes and lists in words", () => {
  assert.equal(dated(12 * 2018 + 9), "October 2018");
  assert.deepEqual([93.6e6, 340e6, 1.542e9, 175e9, 6e11].map(rough), ["93.6 million", "340 million", "1.542 billion", "175 billion", "600 billion"]);
  assert.equal(listed(["a"]), "a");
  assert.equal(listed(["a", "b", "c"]), "a, b and c");
  assert.equal(listed(["a", "b", "c", "d"], 2), "a, b and 2 more");
  assert.equal(listed([]), "");
});

test("a model and a result in words", () => {
  assert.equal(about(named("BERT")), "BERT, October 2018, encoder, 335,141,888 parameters, counted");
  assert.match(about(named("GPT-3")), /174,6\d\d,\d{3},\d{3} parameters, counted/);
  assert.match(about(named("GShard")), /600 billion parameters, as published/);
  assert.match(about(named("XLM")), /not stated/);
  assert.match(lineage(course, named("BERT").at), /^BERT, from Transformer, GPT and ELMo: encoder that sees/);
  assert.match(lineage(course, named("word2vec").at), /without a parent here/);
  const facts = Object.fromEntries(known(course, named("DeBERTa")));
  assert.equal(facts["Parameters, published"], "1.5 billion");
  assert.ok(!("Parameters, counted" in facts) && !("Children" in facts));
  const one = course.results.find((it) => it.model === "ALBERT" && it.kind === "ensemble" && it.benchmark === "GLUE");
  assert.equal(scored(one), "ALBERT, xxlarge, several, September 2019, 89.4, test set, ensemble");
});

test("arrays that are cut short are refused", () => {
  const cut = { ...golden.course, arrays: golden.course.arrays.slice(0, 8) };
  assert.throws(() => held(cut), RangeError);
});
