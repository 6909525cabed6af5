// Who descends from whom, when, and how large: without a page.

import { times } from "../shared/dom.js";

/** What Python packed: months since year 0, of the models and of the results. */
export function prepare({ months, result_months: dates }, model) {
  const given = model.get("models"), scores = model.get("results");
  if (months.data.length !== given.length || dates.data.length !== scores.length) throw new RangeError("The arrays are cut short.");
  const models = given.map((it, at) => ({ ...it, at, when: months.data[at], amount: it.counted ?? it.published, born: [] }));
  for (const { at, parents } of models) for (const parent of parents) models[parent].born.push(at);
  const results = scores.map((it, at) => ({ ...it, at, when: dates.data[at] }));
  const all = [...months.data];
  return {
    models, results,
    ids: new Map(models.map(({ name, at }) => [name, at])),
    kinds: [...new Set(models.map((it) => it.architecture))],
    benchmarks: [...new Set(results.map((it) => it.benchmark))],
    years: [Math.min(...all), Math.max(...all)].map((it) => Math.floor(it / 12)),
    end: Math.max(...all, ...results.filter((it) => it.kind !== "human").map((it) => it.when)) + 1,
  };
}

/** All that are reached from a model by "parents" or "born", nearest first, without it. */
export function reached(models, from, by) {
  const found = new Set(models[from]?.[by]);
  for (const at of found) for (const next of models[at][by]) found.add(next);
  return [...found];
}

/** The models that the settings show, the oldest first: also the selected one and its parents. */
export function shownModels({ models, ids }, { every, since, selected }) {
  const at = ids.get(selected), own = at === undefined ? [] : [at, ...models[at].parents];
  const some = models.some((it) => it.chapter);
  return models.filter((it) => it.when >= 12 * since && (every || !some || it.chapter || own.includes(it.at)))
    .sort((a, b) => a.when - b.when || a.at - b.at);
}

/** The results that the settings show, and the lines of people. */
export function shownResults({ results }, { benchmark, split, since }) {
  const own = results.filter((it) => it.benchmark === benchmark);
  return {
    people: own.filter((it) => it.kind === "human"),
    list: own.filter((it) => it.kind !== "human" && it.when >= 12 * since && (split === "all" || it.split === split))
      .sort((a, b) => a.when - b.when || a.at - b.at),
  };
}

/** The first test result above the highest line of people, if there is one. */
export const overtaken = ({ people, list }) => {
  const line = Math.max(...people.map((it) => it.value));
  return people.length ? list.find((it) => it.split === "test" && it.value > line) : undefined;
};

/**
 * Rows for intervals [from, to], in order: the first in which nothing is met, nor between it and one of
 * its `parents`, indices of earlier intervals: there is an edge. @returns {number[]}
 */
export function lanes(intervals, parents = []) {
  const rows = [], found = [];
  intervals.forEach(([from, to], i) => {
    const start = (all) => Math.min(from, ...(parents[i] ?? []).filter((it) => all.includes(it)).map((it) => intervals[it][1] + 1));
    let row = rows.findIndex((all) => all.every((it) => to < intervals[it][0] || start(all) > intervals[it][1]));
    if (row < 0) row = rows.push([]) - 1;
    rows[row].push(i);
    found.push(row);
  });
  return found;
}

/** Round values for an axis from `low` to `high`: at most `most` + 1. */
export function ticks(low, high, most = 6) {
  const step = [1, 2, 5, 10, 20, 50, 100].find((it) => (high - low) / it <= most) ?? 1000;
  const first = Math.ceil(low / step);
  return times(Math.max(Math.floor(high / step) - first + 1, 0), (i) => (first + i) * step);
}
